//! Compiled kernels on the machine against the interpreter.

mod calls;
mod doubles;
mod joined;
mod machine;
mod memory;
mod private;
mod random;
mod written;
