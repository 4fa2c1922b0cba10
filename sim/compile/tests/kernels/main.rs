//! Compiled kernels on the machine against the interpreter.

mod machine;
mod random;
mod written;
