//! Generated programs, which are correct unless a fault is requested, and arbitrary words.

use proptest::prelude::*;
use wave_isa::DecodeError;
use wave_isa::diagnostic::Severity;
use wave_isa::program::check::{CheckOptions, check};
use wave_isa::program::{FaultKind, Kernel, Program};
use wave_verify::generate::{Options, grow};
use wave_verify::reference::{self, Machine, Stop};

fn machine(wave_width: u32) -> Machine {
    Machine { wave_width, f64: true, mma: true, divergence_depth: 32, call_depth: 8, local_poison: 0xA5 }
}

#[test]
fn right_programs_have_no_errors_and_no_doubtful_barriers() {
    for seed in 0..300 {
        let case = grow(seed, &Options::default()).case();
        for wave_width in [8, 64] {
            let options = CheckOptions { wave_width, ..CheckOptions::default() }.for_launch(&case.launch);
            for message in check(&case.program, 0, &options).diagnostics {
                assert_eq!(message.severity, Severity::Warning, "seed {seed}: {message}");
                assert!(!message.message.contains("barrier"), "seed {seed}: {message}");
            }
        }
    }
}

#[test]
fn faults_of_the_structure_are_foreseen() {
    let mut seen = 0;
    for seed in 0..400 {
        let case = grow(seed, &Options { fault: true, ..Options::default() }).case();
        let mut memory = case.memory.clone();
        let run = reference::run(&case.program, &case.launch, &machine(8), &Default::default(), &mut memory);
        let Err(Stop::Fault(fault)) = run else { continue };
        // The analysis does not follow addresses.
        if matches!(fault.kind, FaultKind::OutOfBounds { .. } | FaultKind::MisalignedAtomic { .. }) {
            continue;
        }
        let options = CheckOptions { wave_width: 8, ..CheckOptions::default() }.for_launch(&case.launch);
        let report = check(&case.program, 0, &options);
        let foreseen = match fault.kind {
            // The depth of a recursion and the direction of a branch are not always known.
            FaultKind::CallOverflow { .. } => report.diagnostics.iter().any(|d| d.message.contains("call")),
            FaultKind::BarrierInDivergence => {
                report.diagnostics.iter().any(|d| d.message.contains("barrier"))
            }
            _ => report.has_errors(),
        };
        assert!(foreseen, "seed {seed}: {fault}\n{:#?}", report.diagnostics);
        if matches!(fault.kind, FaultKind::IllegalInstruction(kind) if kind != DecodeError::Truncated) {
            let at = format!("pc {:#06x}", fault.pc);
            let here = report.diagnostics.iter().any(|d| d.message.contains(&at));
            assert!(here, "seed {seed}: {fault}\n{:#?}", report.diagnostics);
        }
        seen += 1;
    }
    assert!(seen > 100, "only {seen} faults");
}

/// Words that are mostly control instructions and calls, some with random field bits.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        8 => (0u32..16, 0u32..8).prop_map(|(m, rs1)| 0x3F00_0000 | m << 4 | rs1 << 8),
        2 => (0u32..16, any::<u32>()).prop_map(|(m, noise)| 0x3F00_0000 | m << 4 | noise & 0xFF0F),
        2 => (0u32..80).prop_map(|offset| offset),
        3 => any::<u32>(),
        3 => (0u32..0x42, 0u32..16, any::<u32>())
            .prop_map(|(op, m, noise)| op << 24 | m << 4 | noise & 0x0F_0F07),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn arbitrary_words_are_checked(
        code in prop::collection::vec(word(), 0..80),
        start in 0u32..8,
        registers in 0u32..300,
        wave_width in 0u32..70,
        size in prop::array::uniform3(0u32..20),
    ) {
        let range = start.min(code.len() as u32)..code.len() as u32;
        let kernel = Kernel {
            name: "k\"\\\n".into(),
            registers,
            local_memory_bytes: 0,
            workgroup_size: size,
            code: range,
            parameters: None,
            private: None,
            bindings: Vec::new(),
        };
        let program = Program { code, kernels: vec![kernel], source: None, module: None };
        let options = CheckOptions { wave_width, divergence_depth: 3, call_depth: 2, ..CheckOptions::default() };
        let report = check(&program, 0, &options);
        let dot = report.graph.to_dot(&program, &program.kernels[0]);
        prop_assert!(dot.starts_with("digraph"), "{}", dot);
    }
}
