//! Rule I8 of docs/pipeline.md: faults at issue.

use crate::machine::*;
use wave_isa::program::FaultKind;
use wave_machine::config::{Config, DivergenceMode};
use wave_machine::core::probe::{Stage, StageEvent};

fn branching(latency: u32) -> Config {
    let mut config = machine();
    config.core.branch_latency_cycles = latency;
    config
}

/// Instructions that fault at issue.
const FAULTS_AT_ISSUE: [&str; 3] = [".word 0xFFFFFFFF", "endif", "break p1"];

/// Cycle of the last step of this kind of a slot, and its word.
fn last(events: &[StageEvent], slot: usize, stage: Stage) -> (u64, u32) {
    let of_slot = events.iter().rfind(|e| e.slot == slot && e.stage == stage);
    of_slot.map(|e| (e.cycle, e.word)).expect("it comes so far")
}

#[test]
fn i8_a_fault_at_issue_waits_for_the_accesses_of_its_wave() {
    for fault in FAULTS_AT_ISSUE {
        let config = branching(1);
        // Without an access it happens at issue. An access is performed when it retires, and seen a cycle later.
        assert_eq!(bench(&config).fault(&format!("nop\n{fault}\nnop\nhalt"), Issue), 0, "{fault}");
        for access in [
            "device_load_u32 r4, r2",
            "device_store_u32 r2, r2",
            "local_load_u32 r4, r2",
            "local_store_u32 r2, r2",
        ] {
            let body = format!("{access}\n{fault}\nnop\nnop\nhalt");
            let (events, met) = bench(&config).faults(&body);
            let ((issued, word), (performed, of)) = (last(&events, 0, Issue), last(&events, 0, Retire));
            let its = met.pc / 4;
            // It issues as if it did not fault, and nothing behind it issues. It does not retire.
            assert_eq!((word, of < its), (its, true), "{access}, {fault}");
            assert!(issued < performed, "{access}, {fault}: the access is performed too early for this test");
            assert_eq!(met.cycle, Some(performed + 1), "{access}, {fault}");
        }
    }
}

#[test]
fn i8_an_access_that_faults_is_the_fault_of_its_wave() {
    for fault in FAULTS_AT_ISSUE {
        for access in ["device_load_u32 r4, r2", "device_store_u32 r2, r2", "local_store_u32 r2, r4"] {
            let config = machine();
            let far = bench(&config).with(2, 1 << 20);
            let (events, met) = far.faults(&format!("{access}\n{fault}\nhalt"));
            assert!(matches!(met.kind, FaultKind::OutOfBounds { .. }), "{access}, {fault}: {met:?}");
            assert_eq!(met.pc, 0);
            // When it starts (L1). What is behind it has issued before.
            assert_eq!(met.cycle, Some(last(&events, 0, Execute).0 + 1));
            assert!(last(&events, 0, Issue).0 < last(&events, 0, Execute).0 + 1);
        }
    }
}

#[test]
fn i8_other_waves_go_on_and_the_wave_neither_issues_nor_fetches() {
    for fault in [".word 0xFFFFFFFF", "break p1"] {
        let mut config = branching(2);
        (config.core.fetch.words, config.core.fetch.buffer_entries) = (4, 8);
        let nops = "nop\n".repeat(60);
        let body = format!(
            "mov_sr r1, sr_wave_id\nicmp_eq p2, r1, r3\nif p2\ndevice_load_u32 r4, r3\n{fault}\nendif\n{nops}halt"
        );
        // `break` and the like would fault in the other wave too, if it walked over them.
        config.core.divergence = DivergenceMode::Jump;
        let (events, met) = bench(&config).waves(2).faults(&body);
        assert_eq!(met.wave, 0, "{fault}");
        let happens = met.cycle.expect("a machine with cycles");
        let (issued, word) = last(&events, 0, Issue);
        assert_eq!(word, met.pc / 4, "{fault}");
        assert!(last(&events, 0, Fetch).0 <= issued, "{fault}");
        assert!(last(&events, 1, Issue).0 > issued + 5 && issued + 5 < happens, "{fault}");
    }
}

#[test]
fn i8_an_illegal_word_that_no_lane_reaches_waits_for_nothing() {
    let t = run(
        &machine(),
        "if p1\na: device_load_u32 r4, r2\nendif\nloop\nbreak !p1\nx: nop\nb: .word 0xFFFFFFFF\nendloop\nhalt",
    );
    assert_eq!(t.after("x", "b", Issue), 1);
    let t =
        run(&machine(), "device_load_u32 r4, r2\nif p1\nx: nop\nb: .word 0xFFFFFFFF\nc: nop\nendif\nhalt");
    assert_eq!((t.after("x", "b", Issue), t.after("b", "c", Issue)), (1, 1));
}
