//! Kernels in C: the driver of clang, what it makes, the suite in C; examples in other languages; the suites
//! in C and WGSL beside the one in assembly.

mod accuracy;
mod driver;
mod examples;
mod library;
mod lines;
mod quality;
mod suite;

/// True if clang is there. Without it a test fails, unless the variable says that tests may go without.
fn clang() -> bool {
    use wave_compile::c;
    if c::skipped() {
        eprintln!("skipped: {} is set", c::SKIP_VARIABLE);
        return false;
    }
    match c::version(&c::CompileOptions::default()) {
        Ok(_) => true,
        Err(error) => panic!("{}\n(set {}=1 to go without clang)", error.render(false), c::SKIP_VARIABLE),
    }
}
