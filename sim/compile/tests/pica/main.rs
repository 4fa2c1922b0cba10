//! Vertex shaders of PICA200, beside an interpreter that was written from their documentation.

mod container;
mod example;
mod generate;
mod machine;
mod mutations;
mod random;
mod text;
