//! Compiled kernels on the machine against the interpreter.

mod doubles;
mod machine;
mod private;
mod random;
mod written;
