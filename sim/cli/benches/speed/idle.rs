//! Idle cycles: a chain of dependent loads, with idle cycles skipped and visited.

use crate::run::{fastest, launch_of, simulate};
use wave_machine::config;
use wave_machine::gpu::RunOptions;

/// One lane follows a chain of r3 hops from address 0.
const CHASE: &str = "\
.kernel chase
.registers 8
.workgroup_size 1, 1, 1
    mov_imm r0, 0
    mov_imm r1, 1
    mov_imm r4, 0
    loop
        device_load_u32 r0, r0
        iadd    r4, r4, r1
        ucmp_ge p0, r4, r3
        break   p0
    endloop
    halt
.end
";
const HOPS: u32 = 20_000;
/// Distance in bytes between elements of the chain: another line, row and slice each time. Coprime to the
/// size of the chain.
const STRIDE: u32 = 36_868;
const BYTES: u32 = 8 << 20;

pub(crate) fn part() {
    let config = config::load("gpu.ron").expect("a preset");
    let mut memory = vec![0; BYTES as usize];
    let mut at = 0;
    for _ in 0..HOPS {
        let next = (at + STRIDE) % BYTES;
        memory[at as usize..][..4].copy_from_slice(&next.to_le_bytes());
        at = next;
    }
    let (program, launch) = launch_of(CHASE, 1, &[(3, HOPS)]);
    let run = |every_cycle| {
        let options = RunOptions { every_cycle, ..RunOptions::UNBOUNDED };
        simulate(&config, &program, std::slice::from_ref(&launch), memory.clone(), &options)
    };
    let (skipped, visited) = (run(false), run(true));
    assert_eq!((skipped.0.cycles, skipped.1), (visited.0.cycles, visited.1), "skipping changes nothing");
    let (fast, slow) = (fastest(3, || run(false).0), fastest(2, || run(true).0));
    println!(
        "{HOPS} dependent loads on gpu.ron, {} cycles: {:.3} s with idle cycles skipped, {:.3} s without: {:.0} times as fast",
        fast.cycles,
        fast.seconds,
        slow.seconds,
        slow.seconds / fast.seconds
    );
}
