//! Compiled kernels on the machine against the interpreter.

mod machine;
mod private;
mod random;
mod written;
