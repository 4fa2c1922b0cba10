//! The translation to PTX: what ptxas accepts, what the PTX does, what it looks like.

mod golden;
mod meaning;
mod mutants;
mod operations;
mod ptxas;
mod refused;
mod suites;
