//! A kernel in Rust: the sum of the numbers of each workgroup, by a tree in local memory.
#![no_std]
#![crate_type = "cdylib"]

#[path = "wave.rs"]
mod wave;

use wave::{LocalFloats, barrier, global_id, thread_id, workgroup_id};

const THREADS: u32 = 64;

kernel_needs!(sum: 4 * THREADS, THREADS);

/// `values` has a number for each thread of the grid, `sums` room for one of each workgroup.
///
/// # Safety
/// The launch gives addresses of such buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sum(values: *const f32, sums: *mut f32) {
    let tree = LocalFloats(0);
    // SAFETY: there is a number for each thread.
    tree.store(thread_id(), unsafe { *values.add(global_id() as usize) });
    let mut half = THREADS / 2;
    while half > 0 {
        barrier();
        // Asked anew in each round: the compiler does not know that threads meet at a barrier. From what it knows of
        // `thread` in one round it could give threads of the next round barriers of their own, in different places.
        let thread = thread_id();
        if thread < half {
            tree.store(thread, tree.load(thread) + tree.load(thread + half));
        }
        half /= 2;
    }
    if thread_id() == 0 {
        // SAFETY: there is room for each workgroup.
        unsafe { *sums.add(workgroup_id() as usize) = tree.load(0) };
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
