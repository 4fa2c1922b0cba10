//! Kernels written to stress one part of the core.

mod arithmetic;
mod breadth;
mod control;
mod corners;
mod faults;
mod illegal;
mod memory;
mod mixed;
mod operands;
mod overtaking;

use crate::bench::Case;
pub(crate) use arithmetic::every_register;
pub(crate) use breadth::cases as broad;
pub(crate) use control::{FAULTS, calls_across_the_instruction_cache};
pub(crate) use corners::cases as corners;
pub(crate) use illegal::cases as illegal;
pub(crate) use operands::cases as operands;

/// A kernel around these lines.
pub(crate) fn kernel(lines: &str) -> String {
    format!(".kernel k\n.registers 32\n.local_memory 2048\n{lines}\nhalt\n.end\n")
}

/// Asserts agreement in both modes for one wave, an odd number of threads, and a full core; then for several
/// workgroups.
fn agrees(lines: &str) {
    let text = kernel(lines);
    for threads in [8, 61, 256] {
        Case::of(&text, threads).agrees();
    }
    Case::of(&text, 24).grid([3, 2, 2]).agrees();
}

/// The kernels that do not fault, by name.
pub(crate) fn kernels() -> impl Iterator<Item = (&'static str, &'static str)> {
    [arithmetic::KERNELS, control::KERNELS, memory::KERNELS].into_iter().flatten().copied()
}
