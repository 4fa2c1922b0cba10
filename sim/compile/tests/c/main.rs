//! Kernels in C: the driver of clang, what it makes, the suite in C; examples in other languages; the suites
//! in C and WGSL beside the one in assembly.

mod accuracy;
mod driver;
mod examples;
mod library;
mod lines;
mod quality;
mod suite;

use wave_testing::clang::clang;
