//! The release at the end of a kernel (M32): its time, where what was written is then, and what the host reads.

use super::machine::machine;
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::{Config, ReleaseScope, WritePolicy};
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions};
use wave_machine::memory::Jitter;
use wave_machine::stats::SlotUse;

const THREADS: u32 = 64;
const BYTES: usize = 4 * THREADS as usize;

/// Each thread stores its number; then reads its neighbour's and stores it behind that; then stores outside of memory.
const KERNELS: &str = "
.kernel write
.registers 16
mov_sr r1, sr_thread_id_x
mov_imm r2, 4
imul r3, r1, r2
device_store_u32 r3, r1
halt
.end
.kernel read
.registers 16
mov_sr r1, sr_thread_id_x
mov_imm r2, 4
imul r3, r1, r2
xor r5, r3, r2
device_load_u32 r4, r5
mov_imm r5, 256
iadd r3, r3, r5
device_store_u32 r3, r4
halt
.end
.kernel fault
.registers 16
mov_imm r1, -4
device_store_u32 r1, r1
halt
.end
";

fn program() -> Program {
    assemble(KERNELS, "kernels.wave").unwrap_or_else(|errors| panic!("{}", errors[0])).0
}

fn launch(kernel: usize) -> Launch {
    Launch {
        kernel,
        grid: [1, 1, 1],
        workgroup: [THREADS, 1, 1],
        registers: 16,
        local_memory_bytes: 0,
        initial_registers: Vec::new(),
    }
}

fn of(scope: ReleaseScope, policy: WritePolicy) -> Config {
    let mut config = machine(&[&[("device_memory_bytes", "65536"), ("dispatcher.latency_cycles", "5")]]);
    (config.dispatcher.release_scope, config.core.l1.write_policy) = (scope, policy);
    config
}

const ALL: [(ReleaseScope, WritePolicy); 4] = [
    (ReleaseScope::Device, WritePolicy::WriteThrough),
    (ReleaseScope::Device, WritePolicy::WriteBack),
    (ReleaseScope::System, WritePolicy::WriteThrough),
    (ReleaseScope::System, WritePolicy::WriteBack),
];

fn run(gpu: &mut Machine, kernel: usize, options: &RunOptions) -> KernelReport {
    gpu.run(&launch(kernel), options, None, &mut |_| {}).unwrap_or_else(|error| panic!("{error:?}"))
}

fn words(memory: &[u8]) -> Vec<u32> {
    memory.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn written() -> Vec<u32> {
    (0..THREADS).collect()
}

fn neighbours() -> Vec<u32> {
    (0..THREADS).map(|thread| thread ^ 1).collect()
}

#[test]
fn a_launch_takes_until_the_next_can_start() {
    let program = program();
    for (scope, policy) in ALL {
        let config = of(scope, policy);
        let mut gpu = Machine::new(config.clone(), program.clone(), vec![0; 65536]);
        let mut start = 0;
        for kernel in [0, 1, 0] {
            let report = run(&mut gpu, kernel, &RunOptions::UNBOUNDED);
            start += report.cycles;
            assert_eq!(gpu.now(), start, "{scope:?} {policy:?}");
            assert_eq!(report.core.cycles, report.cycles * u64::from(config.cores));
            let slots = u64::from(config.cores * config.core.schedulers * config.core.issue.width);
            assert_eq!(report.slots[SlotUse::Release as usize], report.release_cycles * slots);
            assert_eq!(report.running_cycles() + report.release_cycles, report.cycles);
        }
    }
}

#[test]
fn at_device_scope_the_l2_keeps_what_is_dirty_and_at_system_scope_it_goes_to_memory() {
    let program = program();
    let of = |scope, policy| {
        let config = of(scope, policy);
        let mut gpu = Machine::new(config.clone(), program.clone(), vec![0; 65536]);
        let write = run(&mut gpu, 0, &RunOptions::UNBOUNDED);
        (write, run(&mut gpu, 1, &RunOptions::UNBOUNDED))
    };
    let way = 5;
    let [device, back, system, both] = ALL.map(|(scope, policy)| of(scope, policy));
    // Nothing to write back: the dispatcher's word has to reach the cores.
    assert_eq!(device.0.release_cycles, way);
    // The L1s write back and the cores answer.
    assert!(back.0.release_cycles > 2 * way + 4, "{}", back.0.release_cycles);
    assert!(back.0.l1.write_backs > 0);
    for (write, read) in [&device, &back] {
        assert_eq!((write.memory.l2.released_sectors, write.memory.dram.writes), (0, 0));
        // The second launch finds the lines in the L2, and fetches code only.
        let lines = read.memory.dram.read_bytes;
        assert_eq!(lines, read.memory.l2.fetched_sectors * 32, "{lines}");
        assert!(read.memory.l2.hits > 0);
        assert_eq!(read.memory.dram.writes, 0);
    }
    for ((write, read), less) in [(system, device.0.release_cycles), (both, back.0.release_cycles)] {
        assert_eq!(write.memory.l2.released_sectors, BYTES as u64 / 32);
        assert_eq!(write.memory.dram.written_bytes, BYTES as u64);
        assert!(write.release_cycles > less + 20, "{}", write.release_cycles);
        assert_eq!(read.memory.l2.released_sectors, BYTES as u64 / 32);
    }
}

#[test]
fn the_host_reads_what_kernels_wrote_after_one_launch_between_two_and_after_a_fault() {
    let program = program();
    for (scope, policy) in ALL {
        let config = of(scope, policy);
        let mut gpu = Machine::new(config.clone(), program.clone(), vec![0; 65536]);
        run(&mut gpu, 0, &RunOptions::UNBOUNDED);
        assert_eq!(words(&gpu.memory()[..BYTES]), written(), "{scope:?} {policy:?}");
        run(&mut gpu, 1, &RunOptions::UNBOUNDED);
        assert_eq!(words(&gpu.memory()[..2 * BYTES]), [written(), neighbours()].concat());
        let error = gpu.run(&launch(2), &RunOptions::UNBOUNDED, None, &mut |_| {}).unwrap_err();
        assert!(matches!(error, RunError::Fault(_)), "{error:?}");
        assert_eq!(words(&gpu.into_memory()[..2 * BYTES]), [written(), neighbours()].concat());
    }
}

/// The host's look does not change what follows.
#[test]
fn looking_threads_and_visited_cycles_change_nothing() {
    let program = program();
    for (scope, policy) in ALL {
        let config = of(scope, policy);
        let of = |options: RunOptions, looks: bool| {
            let mut gpu = Machine::new(config.clone(), program.clone(), vec![0; 65536]);
            let report = |kernel| {
                let report = run(&mut gpu, kernel, &options);
                if looks {
                    assert_eq!(words(&gpu.memory()[..BYTES]), written());
                }
                report
            };
            let reports: Vec<KernelReport> = [0, 1, 1, 0].map(report).into();
            (reports, gpu.into_memory())
        };
        let expected = of(RunOptions::UNBOUNDED, false);
        assert_eq!(of(RunOptions::UNBOUNDED, true), expected, "{scope:?} {policy:?}");
        assert_eq!(of(RunOptions { threads: 2, ..RunOptions::UNBOUNDED }, false), expected);
        assert_eq!(of(RunOptions { every_cycle: true, ..RunOptions::UNBOUNDED }, false), expected);
        // Delays in the L2 change the time and not the bytes.
        let jitter = Some(Jitter { seed: 1, cycles: 200 });
        assert_eq!(of(RunOptions { jitter, ..RunOptions::UNBOUNDED }, true).1, expected.1);
    }
}
