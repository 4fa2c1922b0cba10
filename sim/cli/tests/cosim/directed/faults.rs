//! Faults of two stages in one cycle: the load/store unit works before issue, so its fault comes first.

use super::kernel;
use crate::bench::Case;
use wave_isa::program::{Fault, FaultKind};
use wave_verify::rtl::End;

/// A load at an address, so many instructions behind it, then an `endif` without its `if`.
fn case(address: &str, between: usize) -> Case {
    let nops = "nop\n".repeat(between);
    Case::of(&kernel(&format!("mov_imm r4, {address}\nnop\nnop\ndevice_load_u32 r5, r4\n{nops}endif")), 8)
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
