//! Faults of several stages and of several waves. The load/store unit works before issue, so its fault comes first in a
//! cycle; a fault at issue waits for the older accesses of its wave (rule I8).

use super::kernel;
use crate::bench::{Case, config, core};
use crate::environment::{count, number};
use std::collections::HashMap;
use wave_isa::program::{Fault, FaultKind};
use wave_verify::generate::{self, words};
use wave_verify::rtl::{Beginning, Disagreement, End, Mode};

/// Programs of random words.
const PROGRAMS: u64 = 160;

/// Instructions that fault at issue, behind `loop`.
const AT_ISSUE: [&str; 4] = [".word 0xffffffff", "endif", "else", ".word 0x00000008"];

/// Wave 0 loads at an address. Wave 1 comes to a `break` without a loop, which faults, after so many instructions; no lane
/// of wave 0 executes it.
fn case(address: &str, between: usize) -> Case {
    let mut lines = vec!["nop"; between.max(4)];
    lines[3] = "@p1 device_load_u32 r5, r4";
    lines.insert(between, "@!p1 break p1");
    let start = format!("mov_sr r2, sr_wave_id\nmov_imm r4, {address}\nicmp_eq p1, r2, r3\nnop");
    Case::of(&kernel(&format!("{start}\n{}", lines.join("\n"))), 16)
}

fn fault(case: &Case) -> Box<Fault> {
    match case.cosim(&[]).simulate(None) {
        Ok(End::Fault(fault)) => fault,
        other => panic!("a fault expected, and not {other:?}"),
    }
}

#[test]
fn of_two_faults_in_one_cycle_that_of_the_load_store_unit_comes_first() {
    let accesses = fault(&case("0x7fffffff", 40)).cycle;
    let mut met = Vec::new();
    for between in 0..12 {
        // Where the load is right, the fault of issue comes in its own cycle.
        let issues = fault(&case("0", between)).cycle;
        let both = case("0x7fffffff", between);
        let found = fault(&both);
        assert_eq!(found.cycle, accesses.min(issues), "{between}");
        let is_access = matches!(found.kind, FaultKind::OutOfBounds { .. });
        assert_eq!(is_access, accesses <= issues, "{between}");
        met.push(accesses.cmp(&issues));
        assert!(both.agrees().fault || wave_verify::rtl::skipped(), "{between}");
    }
    for order in [std::cmp::Ordering::Less, std::cmp::Ordering::Equal, std::cmp::Ordering::Greater] {
        assert!(met.contains(&order), "{order:?} is not among {met:?}");
    }
}

/// Accesses, and whether they fault.
const ACCESSES: [(&str, bool); 8] = [
    ("device_load_u32 r5, r6", false),
    ("device_store_u32 r6, r6", false),
    ("mov_sr r7, sr_lane_id\nimul r7, r7, r6\nlocal_load_u32 r5, r7\nlocal_store_u64 r7, r6", false),
    ("atomic_add r5, r6, r6, .device\nlocal_store_u32 r6, r6", false),
    ("device_load_u32 r5, r4", true),
    ("device_load_u32 r5, r6\nlocal_store_u32 r4, r4", true),
    ("idiv r7, r0, r1\nimul r8, r7, r4\natomic_add r5, r8, r6, .workgroup", true),
    ("device_store_u32 r6, r6\ndevice_load_u128 r12, r6\nlocal_load_u32 r5, r4", true),
];

#[test]
fn a_fault_at_issue_waits_for_the_accesses_of_its_wave() {
    for (accesses, fails) in ACCESSES {
        for at_issue in AT_ISSUE {
            for nops in ["", "nop\nnop\n"] {
                let lines =
                    format!("mov_imm r4, 0x7fffffff\nmov_imm r6, 64\nloop\n{accesses}\n{nops}{at_issue}");
                let case = Case::of(&kernel(&lines), 24);
                let found = fault(&case);
                let is_access =
                    matches!(found.kind, FaultKind::OutOfBounds { .. } | FaultKind::MisalignedAtomic { .. });
                assert_eq!(is_access, fails, "{lines}: {found:?}");
                assert!(case.agrees().fault || wave_verify::rtl::skipped(), "{lines}");
            }
        }
    }
}

/// The lowest lane decides, on both sides.
#[test]
fn lanes_may_fault_in_two_ways() {
    for [first, second] in
        [["0x7ffffffc", "2"], ["2", "0x7ffffffc"], ["0x7fffffff", "0x7ffffffc"], ["4", "0x7ffffffd"]]
    {
        let lines = format!(
            "mov_sr r2, sr_lane_id\nmov_imm r4, {first}\nmov_imm r5, {second}\nicmp_eq p1, r2, r1\nselect r6, p1, r5, r4\n\
             atomic_add r7, r6, r2, .device"
        );
        let case = Case::of(&kernel(&lines), 8);
        assert!(case.agrees().fault || wave_verify::rtl::skipped(), "{lines}");
    }
}

/// A program of random words on both sides.
fn of_words(seed: u64) -> Case {
    let config = config();
    let generate::Case { program, launch, memory } = words(seed, config.core.wave_width);
    let script = crate::bench::script(seed as u32, 1, 1 + (seed as u32 % 5) * 30);
    Case { program, launch, memory, script, beginning: Beginning::default(), config, max_cycles: 4000 }
}

#[test]
fn programs_of_random_words_fault_alike() {
    let Some(core) = core() else { return };
    let (mut met, mut endless) = (HashMap::new(), 0);
    let first = number("WAVE_SIM_SEED", 0);
    for seed in first..first + PROGRAMS * count("WAVE_SIM_PROGRAMS", 1) {
        let mut case = of_words(seed);
        if seed % 3 == 2 {
            (case.launch.grid, case.launch.workgroup) = ([3, 1, 1], [2 * case.config.core.wave_width, 1, 1]);
        }
        match case.run_on(core, Mode::Cycle) {
            Ok(agreement) if agreement.fault => {
                *met.entry(std::mem::discriminant(&fault(&case).kind)).or_insert(0) += 1;
            }
            Ok(_) => {}
            Err(Disagreement::Limit(_)) => endless += 1,
            Err(difference) => {
                panic!("seed {seed}: {difference}\n{}", wave_isa::program::disassemble(&case.program));
            }
        }
    }
    println!("{met:?}, {endless} endless");
    assert!(met.len() >= 5 && met.values().sum::<u64>() > PROGRAMS / 2, "{met:?}, {endless} endless");
}

/// Both sides give up in the same cycle, of which the other side may have told.
#[test]
fn a_kernel_without_an_end_is_no_difference() {
    let Some(core) = core() else { return };
    let mut case = Case::of(&kernel("loop\niadd r2, r2, r1\nendloop"), 24);
    for limit in 400..404 {
        case.max_cycles = limit;
        for mode in [Mode::Cycle, Mode::Architectural] {
            let ended = case.run_on(core, mode);
            assert!(matches!(ended, Err(Disagreement::Limit(_))), "{limit}, {mode:?}: {ended:?}");
        }
    }
}
