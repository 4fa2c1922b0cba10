//! The core's output with one record changed: what is compared of packets and faults, and what a difference says.

use crate::bench::{Case, core};
use crate::directed::kernel;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use wave_verify::rtl::{Agreement, Disagreement, Mode};

/// Stores, atomics of every kind of packet, loads of every hint, a release of system scope.
const PACKETS: &str = "mov_sr r2, sr_lane_id\nmov_imm r3, 4\nimul r4, r2, r3\ndevice_store_u16 r4, r2\n\
                       device_load_u32.streaming r5, r4\natomic_cas r6, r4, r2, r3, .device\natomic_add r7, r4, r3, .device\n\
                       fence_release .system";
/// A load outside of memory.
const FAULT: &str = "mov_imm r2, 0x7fffffff\nnop\ndevice_load_u32 r3, r2";

/// Kinds of records, and of packets.
const FAULTED: u32 = 8;
const OVER: u32 = 9;
const PACKET: u32 = 11;
const READ: u32 = 0;
const WRITE: u32 = 1;
const ATOMIC: u32 = 2;
/// Operation of a compare-and-swap.
const CAS: u32 = 8;
/// Places in a record: its head, its cycle, and the fields of a packet or a fault.
const CYCLE: usize = 1;
const KIND: usize = 2;
const PLACE: usize = 3;
const LINE: usize = 4;
const MASK: usize = 5;
const OPERATION: usize = 6;
const SWAP: usize = 7;
const HINT: usize = 8;
const DATA: usize = 9;

/// The core's records of a case, and the bytes behind the last one.
struct Output {
    records: Vec<Vec<u32>>,
    rest: Vec<u8>,
}

impl Output {
    /// `None` if the user skips the RTL tests.
    fn of(case: &Case) -> Option<Output> {
        let core = core()?;
        let stimulus = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(stimulus.path(), case.cosim(&[]).stimulus().expect("it fits")).expect("a file");
        let output = Command::new(core).arg(stimulus.path()).output().expect("the core runs");
        let (words, _) = output.stdout.as_chunks();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (mut records, mut at) = (Vec::<Vec<u32>>::new(), 0);
        while records.last().is_none_or(|record| kind(record) != OVER) && at < words.len() {
            let next = at + 2 + (words[at] >> 16) as usize;
            records.push(words[at..next].to_vec());
            at = next;
        }
        Some(Output { records, rest: output.stdout[4 * at..].to_vec() })
    }

    /// The first record with this property.
    fn first(&mut self, is: impl Fn(&[u32]) -> bool) -> &mut Vec<u32> {
        self.records.iter_mut().find(|record| is(record)).expect("there is such a record")
    }

    /// Compares the simulator with a core that has this output.
    fn compare(&self, case: &Case, mode: Mode) -> Result<Agreement, Disagreement> {
        let directory = tempfile::tempdir().expect("a folder");
        let mut bytes: Vec<u8> = self.records.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(&self.rest);
        std::fs::write(directory.path().join("output"), bytes).expect("a file");
        let script = directory.path().join("core.sh");
        let text = format!("#!/bin/sh\nexec cat '{}'\n", directory.path().join("output").display());
        std::fs::write(&script, text).expect("a file");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        case.run_on(&script, mode)
    }
}

fn kind(record: &[u32]) -> u32 {
    record[0] & 0xFF
}

fn is_packet(record: &[u32], kind_of_packet: u32) -> bool {
    kind(record) == PACKET && record[KIND] == kind_of_packet
}

fn is_cas(record: &[u32]) -> bool {
    is_packet(record, ATOMIC) && record[OPERATION] == CAS
}

fn packets() -> Case {
    Case::of(&kernel(PACKETS), 8)
}

/// The report of a difference at a packet.
fn report(difference: Result<Agreement, Disagreement>) -> String {
    match difference {
        Err(Disagreement::Differs { stage: "packet", report, .. }) => report,
        other => panic!("a difference at a packet expected, and not {other:?}"),
    }
}

#[test]
fn each_field_of_a_packet_is_compared_and_named() {
    let case = packets();
    type Which<'a> = &'a dyn Fn(&[u32]) -> bool;
    type Change = fn(&mut Vec<u32>);
    let write = |record: &[u32]| is_packet(record, WRITE);
    let read = |record: &[u32]| is_packet(record, READ) && record[PLACE] == 0;
    let add = |record: &[u32]| is_packet(record, ATOMIC) && record[OPERATION] != CAS;
    let changes: [(Which<'_>, Change, &str); 9] = [
        (&write, |r| r[KIND] = READ, "packet, kind: simulator write, other side read"),
        (&read, |r| r[PLACE] = 1, "packet, space: simulator device memory, other side code"),
        (&read, |r| r[LINE] = 0x60, "packet, line: simulator 0x00000000, other side 0x00000060"),
        (&write, |r| r[MASK] ^= 1 << 31, "packet, byte mask: simulator 33333333, other side b3333333"),
        (&write, |r| r[DATA + 3] = 0xFF09, "packet, word at +12: simulator ----0003, other side ----ff09"),
        (&is_cas, |r| r[OPERATION] = 0, "packet, operation: simulator compare-and-swap, other side add"),
        (&is_cas, |r| r[SWAP] += 1, "packet, swap value: simulator 00000004, other side 00000005"),
        (&read, |r| r[HINT] = 0, "packet, cache hint: simulator streaming, other side cached"),
        (&add, |r| r[DATA + 1] = 5, "packet, word at +4: simulator 00000004, other side 00000005"),
    ];
    for (which, change, told) in changes {
        let Some(mut output) = Output::of(&case) else { return };
        change(output.first(which));
        let report = report(output.compare(&case, Mode::Cycle));
        assert!(report.contains(told), "{told}: {report}");
        output.compare(&case, Mode::Architectural).expect("packets are not compared");
    }
}

#[test]
fn what_means_nothing_in_a_packet_is_not_compared() {
    let case = packets();
    let Some(mut output) = Output::of(&case) else { return };
    output.first(|record| is_packet(record, WRITE))[DATA] |= 0xFFFF_0000;
    output.first(|record| is_packet(record, READ))[DATA] = 7;
    output.first(|record| is_packet(record, WRITE))[SWAP] = 7;
    output.compare(&case, Mode::Cycle).expect("nothing that is compared has changed");
}

#[test]
fn a_packet_too_few_too_many_or_too_late_differs() {
    let case = packets();
    let place = |output: &Output| output.records.iter().position(|r| is_packet(r, WRITE)).expect("a write");
    let Some(mut output) = Output::of(&case) else { return };
    let at = place(&output);
    let packet = output.records.remove(at);
    let missing = report(output.compare(&case, Mode::Cycle));
    let told = "packet       write of line 0x00000000, cached, bytes 33333333: +0 ----0000 +4 ----0001";
    assert!(missing.contains("only the simulator: ") && missing.contains(told), "{missing}");
    assert!(missing.contains("the other side sends no such packet soon"), "{missing}");
    // In the next cycle.
    let cycle = packet[CYCLE] + 1;
    let later = output.records.iter().position(|r| r[CYCLE] >= cycle).expect("a later record");
    let mut late = packet.clone();
    late[CYCLE] = cycle;
    output.records.insert(later, late);
    let report_of_late = report(output.compare(&case, Mode::Cycle));
    assert!(report_of_late.contains("the other side has it so:  "), "{report_of_late}");
    // Twice.
    let Some(mut output) = Output::of(&case) else { return };
    output.records.insert(at, packet);
    let twice = report(output.compare(&case, Mode::Cycle));
    assert!(twice.contains("only the other side: "), "{twice}");
}

#[test]
fn a_packet_of_no_kind_makes_no_sense() {
    let case = packets();
    for (place, value) in [(KIND, 4), (LINE, 0x61)] {
        let Some(mut output) = Output::of(&case) else { return };
        output.first(|record| is_packet(record, WRITE))[place] = value;
        match output.compare(&case, Mode::Cycle) {
            Err(Disagreement::Broken(report)) => assert!(report.contains("a record of kind 11"), "{report}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn each_part_of_a_fault_is_compared_and_told_in_words() {
    let case = Case::of(&kernel(FAULT), 16);
    type Change = fn(&mut Vec<u32>);
    let changes: [(Change, &str, &str); 4] = [
        (|r| r[KIND] = 7, "the faults differ: kind", "an atomic at an address that is no multiple of 4"),
        (|r| r[PLACE] = 0, "the faults differ: place", "0x0000  mov_imm r2, 0x7fffffff: an access outside"),
        (
            |r| r[CYCLE] += 1,
            "the faults differ: cycle",
            "device_load_u32 r3, r2: an access outside its memory",
        ),
        (
            |r| r[0] ^= 1 << 8,
            "the faults differ: slot",
            "device_load_u32 r3, r2: an access outside its memory",
        ),
    ];
    for (change, what, told) in changes {
        let Some(mut output) = Output::of(&case) else { return };
        let cycle = output.first(|record| kind(record) == FAULTED)[CYCLE];
        // Nothing else of its cycle, which may change.
        output.records.retain(|record| kind(record) == FAULTED || record[CYCLE] < cycle);
        change(output.first(|record| kind(record) == FAULTED));
        match output.compare(&case, Mode::Cycle) {
            Err(Disagreement::Differs { stage: "end", report, .. }) => {
                let its = report.lines().find(|line| line.contains("other side: ")).unwrap_or_default();
                assert!(report.starts_with(what) && its.contains(told), "{report}");
                assert!(report.contains("  simulator:  cycle "), "{report}");
            }
            other => panic!("{what}: {other:?}"),
        }
        // Slot and cycle are a core's own.
        let architectural = output.compare(&case, Mode::Architectural);
        assert_eq!(
            architectural.is_ok(),
            what.ends_with("cycle") || what.ends_with("slot"),
            "{architectural:?}"
        );
    }
}

/// What stages before the one that faults have done in its cycle is compared, too.
#[test]
fn the_cycle_of_a_fault_is_compared_up_to_it() {
    // The addition is written back in the cycle in which `endif` faults, for one of these numbers.
    for nops in 0..6 {
        let text = format!("iadd r4, r1, r1\n{}endif", "nop\n".repeat(nops));
        let case = Case::of(&kernel(&text), 8);
        let Some(mut output) = Output::of(&case) else { return };
        output.compare(&case, Mode::Cycle).expect("it is what the core does");
        let cycle = output.first(|record| kind(record) == FAULTED)[CYCLE];
        // A row that is written, and the retirement behind it.
        let Some(at) = output.records.iter().position(|r| r[CYCLE] == cycle && kind(r) == 7) else {
            continue;
        };
        output.records.drain(at..at + 2);
        match output.compare(&case, Mode::Cycle) {
            Err(Disagreement::Differs { stage: "write-back", report, .. }) => {
                assert!(report.contains("that of the fault, stage write-back"), "{report}");
                assert!(report.contains("on both sides: cycle"), "{report}");
            }
            other => panic!("{other:?}"),
        }
        return;
    }
    panic!("no number of instructions gives a write-back in the cycle of the fault");
}

/// A result and an access that differ: the lane and the row are named.
#[test]
fn the_lane_and_the_row_that_differ_are_named() {
    let case = packets();
    let Some(mut output) = Output::of(&case) else { return };
    // The row that is written for `imul r4, r2, r3`: register, then its lanes.
    output.first(|record| kind(record) == 7 && record[2] == 4)[3 + 5] = 0x77;
    for (mode, told) in [
        (Mode::Cycle, "lane 5 of r4: simulator 0x14, other side 0x77"),
        (Mode::Architectural, "  lane 5 of r4: simulator 0x14, other side 0x77"),
    ] {
        match output.compare(&case, mode) {
            Err(Disagreement::Differs { stage: "retire", report, .. }) => {
                assert!(report.contains(told) && report.contains("imul r4, r2, r3"), "{report}");
            }
            other => panic!("{other:?}"),
        }
    }
    // The addresses of the store.
    let Some(mut output) = Output::of(&case) else { return };
    output.first(|record| kind(record) == 6)[3 + 2] = 0x40;
    match output.compare(&case, Mode::Cycle) {
        Err(Disagreement::Differs { stage: "access", report, .. }) => {
            assert!(report.contains("address of lane 2: simulator 0x8, other side 0x40"), "{report}");
        }
        other => panic!("{other:?}"),
    }
}
