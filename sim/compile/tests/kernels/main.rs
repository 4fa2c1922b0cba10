//! Compiled kernels on the machine against the interpreter.

mod doubles;
mod joined;
mod machine;
mod private;
mod random;
mod written;
