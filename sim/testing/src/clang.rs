//! clang, which compiles kernels in C, CUDA C++ and OpenCL C.

use wave_compile::c;

/// True if there is clang; false if tests may go without it.
///
/// # Panics
/// If there is none and nothing says that tests may go without.
pub fn clang() -> bool {
    if c::skipped() {
        eprintln!("skipped: {} is set", c::SKIP_VARIABLE);
        return false;
    }
    match c::version(&c::CompileOptions::default()) {
        Ok(_) => true,
        Err(error) => panic!("{}\n(set {}=1 to go without clang)", error.render(false), c::SKIP_VARIABLE),
    }
}
