//! The kernel suite on the reference interpreter, compared with the host's results.

use wave_isa::program::check::{CheckOptions, check};
use wave_study::launch::{self, Job, Size, Verification};
use wave_verify::reference::{self, Machine, Options, Order};

fn machine(wave_width: u32) -> Machine {
    // The poison makes any read of unwritten local memory visible.
    Machine { wave_width, f64: true, mma: true, divergence_depth: 32, call_depth: 8, local_poison: 0xA5 }
}

fn load(name: &str, size: Size) -> Job {
    launch::load(name, size).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]))
}

/// Device memory after the job, and the number of wave instructions.
fn run(job: &Job, wave_width: u32, order: Order) -> (Vec<u8>, u64) {
    let mut memory = job.memory.clone();
    let options = Options { order, ..Options::default() };
    let mut instructions = 0;
    for step in &job.steps {
        let outcome = reference::run(&job.program, step, &machine(wave_width), &options, &mut memory)
            .unwrap_or_else(|stop| panic!("{}, waves of {wave_width} lanes: {stop}", job.name));
        instructions += outcome.instructions;
    }
    (memory, instructions)
}

#[track_caller]
fn assert_verified(job: &Job, memory: &[u8], how: &str) {
    let verification = job.verify(memory);
    assert!(matches!(verification, Verification::Passed { .. }), "{}, {how}: {verification}", job.name);
}

#[test]
fn every_kernel_is_right_for_every_wave_width() {
    for name in launch::suite() {
        let job = load(name, Size::Small);
        for wave_width in [8, 32, 64] {
            let (memory, instructions) = run(&job, wave_width, Order::RoundRobin(u32::MAX));
            assert_verified(&job, &memory, &format!("waves of {wave_width} lanes"));
            assert!(wave_width != 32 || (500..25_000).contains(&instructions), "{name}: {instructions}");
        }
    }
}

#[test]
fn no_kernel_depends_on_the_order_of_waves_and_workgroups() {
    for name in launch::suite() {
        let job = load(name, Size::Small);
        for (wave_width, order) in
            [(8, Order::Random(1)), (8, Order::RoundRobin(1)), (32, Order::Random(2)), (16, Order::Random(3))]
        {
            let (memory, _) = run(&job, wave_width, order);
            assert_verified(&job, &memory, &format!("waves of {wave_width} lanes, {order:?}"));
        }
    }
}

/// The full sizes take minutes in a debug build: `cargo test --release -- --ignored`.
#[test]
#[ignore = "slow without optimisation"]
fn every_kernel_is_right_in_its_full_size() {
    for name in launch::suite() {
        let job = load(name, Size::Full);
        let (memory, instructions) = run(&job, 32, Order::RoundRobin(u32::MAX));
        assert_verified(&job, &memory, "full size");
        println!("{name}: {instructions} wave instructions");
        assert!((100_000..2_000_000).contains(&instructions), "{name}: {instructions}");
    }
}

#[test]
fn a_kernel_that_does_nothing_is_never_verified() {
    for name in launch::suite() {
        let job = load(name, Size::Small);
        assert!(!job.verify(&job.memory).is_ok(), "{name}");
    }
}

#[test]
fn a_changed_result_and_a_stray_write_fail_verification() {
    for name in launch::suite() {
        let job = load(name, Size::Small);
        let (memory, _) = run(&job, 32, Order::RoundRobin(u32::MAX));
        for check in &job.checks {
            let bytes = check.element.bytes();
            // Changes the most significant bits, which no tolerance covers, in the middle of the buffer.
            let at = check.address as usize + check.expected.len() / 2 * bytes + bytes - 1;
            let mut wrong = memory.clone();
            wrong[at] ^= 0x40;
            assert!(!job.verify(&wrong).is_ok(), "{name}: {}", check.buffer);
        }
        let mut stray = memory;
        let behind = job.buffers.iter().map(|b| b.range().end).max().unwrap();
        stray[behind] = 1;
        assert!(!job.verify(&stray).is_ok(), "{name}");
    }
}

/// A mistake in the kernel, not in its result.
#[test]
fn a_wrong_instruction_fails_verification() {
    for (name, right, wrong) in [
        ("vector_add", "fadd    r5, r5, r6", "fsub    r5, r5, r6"),
        ("transpose_padded", "imad    r10, r4, r9, r10", "imad    r10, r5, r9, r10"),
        ("sgemm", "fma     r31, r11, r15, r31", "fma     r31, r11, r14, r31"),
        ("bitonic_sort", "isub    r16, r15, r6", "mov     r16, r15"),
        ("scan", "wave_prefix_sum r15, r14", "mov     r15, r14"),
        ("dot_f64", "ucmp_ne p1, r19, r18", "ucmp_ne p1, r19, r10"),
        ("stencil2d", "imin    r19, r6, r10", "mov     r19, r11"),
        ("bfs", "ucmp_ge p0, r15, r16", "ucmp_gt p0, r15, r16"),
        ("mlp_layer", "imul    r31, r31, r36", "mov     r31, r30"),
    ] {
        let mut job = load(name, Size::Small);
        let source = job.program.source.take().unwrap();
        assert!(source.text.contains(right), "{name}");
        let (program, _) = wave_isa::program::assemble(&source.text.replace(right, wrong), name).unwrap();
        job.program = program;
        // A wrong kernel may also fault, which counts as detected.
        let mut memory = job.memory.clone();
        let fine = job.steps.iter().all(|step| {
            reference::run(&job.program, step, &machine(32), &Options::default(), &mut memory).is_ok()
        });
        assert!(!fine || !job.verify(&memory).is_ok(), "{name}");
    }
}

#[test]
fn the_static_checks_have_nothing_to_say() {
    for name in launch::suite() {
        let job = load(name, Size::Small);
        assert!(job.warnings.is_empty(), "{name}: {}", job.warnings[0]);
        for wave_width in [8, 32, 64] {
            for step in &job.steps {
                let options = CheckOptions { wave_width, ..CheckOptions::default() }.for_launch(step);
                let report = check(&job.program, step.kernel, &options);
                assert!(report.diagnostics.is_empty(), "{name}: {}", report.diagnostics[0]);
                let summary = &report.summary;
                assert_eq!(summary.registers_used, summary.registers_declared, "{name}");
                assert_eq!(job.requires.mma, summary.uses_mma, "{name}");
                assert!(job.requires.f64 || !summary.uses_f64, "{name}");
            }
        }
    }
}

/// The limits that every machine has (instruction set, section 8), and the memory of the smallest preset.
#[test]
fn every_kernel_fits_the_smallest_machine() {
    for name in launch::suite() {
        for (size, most_bytes) in [(Size::Full, 16 << 20), (Size::Small, 1 << 20)] {
            let job = load(name, size);
            assert!(job.memory.len() <= most_bytes, "{name}: {} bytes", job.memory.len());
            for step in &job.steps {
                assert!(step.registers <= 64 && step.local_memory_bytes <= 16384, "{name}");
                assert!(step.threads() <= 256 && step.threads().is_multiple_of(64), "{name}");
            }
        }
    }
}
