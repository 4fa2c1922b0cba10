//! `trace diff` on planted differences.

use super::forms::{file, header};
use super::record::{Traced, read};
use wave_machine::config;
use wave_observe::trace::diff::{Divergence, Mode, Outcome, diff};
use wave_observe::trace::record::{DestinationKind, MemoryKind, Stage, Stall, Wait};
use wave_observe::trace::{Form, Header, Reader, Record};
use wave_study::launch::{self, Size};

fn compare(header: &Header, a: &[Record], b: &[Record], mode: Mode) -> Outcome {
    let in_order = |records: &[Record]| {
        let mut records = records.to_vec();
        records.sort_by_key(Record::order);
        file(Form::Binary, header, &records)
    };
    let (a, b) = (in_order(a), in_order(b));
    let open = |bytes| Reader::new(bytes, "t".to_owned()).unwrap();
    diff(open(a.as_slice()), open(b.as_slice()), mode).unwrap()
}

fn differs(outcome: Outcome) -> Divergence {
    match outcome {
        Outcome::Differ(divergence) => *divergence,
        other => panic!("{other:?}"),
    }
}

/// Records of a run with several waves and all kinds of accesses.
fn sample() -> Vec<Record> {
    let config = config::load("tiny").unwrap();
    let job = launch::load("mma_gemm", Size::Small).unwrap();
    let mut memory = vec![0; config.device_memory_bytes as usize];
    memory[..job.memory.len()].copy_from_slice(&job.memory);
    let bytes = Traced::new(&config, &job.program, &job.steps[..1], &memory).bytes();
    read(&bytes).1.remove(0).1
}

#[test]
fn equal_traces_are_the_same() {
    let records = sample();
    for mode in [Mode::Architectural, Mode::Cycle] {
        assert_eq!(compare(&header(8), &records, &records, mode), Outcome::Same(records.len() as u64));
    }
}

/// The record to change, the field that must be reported, whether it is architectural, and the change.
type Change = (usize, &'static str, bool, fn(&mut Record));

#[test]
fn each_field_is_compared() {
    let records = sample();
    let find = |wanted: &dyn Fn(&Record) -> bool| records.iter().rposition(wanted).unwrap();
    let load = find(&|r| r.memory == MemoryKind::Load && r.destination == DestinationKind::Registers);
    let tile = find(&|r| r.memory == MemoryKind::TileStore);
    let changes: [Change; 22] = [
        (load, "pc", true, |r| r.pc += 4),
        (load, "words", true, |r| r.words[0] ^= 1),
        (load, "active", true, |r| r.active ^= 1),
        (load, "effective", true, |r| r.effective ^= 1),
        (load, "next_pc", true, |r| r.next_pc += 4),
        (load, "ends", true, |r| (r.ends, r.next_pc) = (true, 0)),
        (load, "open", true, |r| r.open = true),
        (load, "destination", true, |r| r.index += 1),
        (load, "values", true, |r| r.values[2] ^= 1),
        (load, "memory", true, |r| r.device = !r.device),
        (load, "addresses", true, |r| r.addresses[2] += 1),
        (tile, "strides", true, |r| r.strides[2] += 1),
        (tile, "sent", true, |r| r.sent[2] += 1),
        (load, "core", false, |r| r.core += 9),
        (load, "slot", false, |r| r.slot += 32),
        (load, "fetch", false, |r| r.stages[Stage::Fetch] += 1),
        (load, "decode", false, |r| r.stages[Stage::Decode] += 1),
        (load, "issue", false, |r| r.stages[Stage::Issue] += 1),
        (load, "operands", false, |r| r.stages[Stage::Operands] += 1),
        (load, "execute", false, |r| r.stages[Stage::Execute] += 1),
        (load, "write_back", false, |r| r.stages[Stage::WriteBack] -= 1),
        (load, "stalls", false, |r| r.stalls.push(Stall { reason: Wait::Lsu, from: 9, to: 10 })),
    ];
    for (at, name, architectural, change) in changes {
        let mut other = records.clone();
        change(&mut other[at]);
        let found = differs(compare(&header(8), &records, &other, Mode::Cycle));
        assert!(found.fields.iter().any(|field| field.name == name), "{name}: {:?}", found.fields);
        assert_eq!(found.either().sequence, records[at].sequence, "{name}");
        let outcome = compare(&header(8), &records, &other, Mode::Architectural);
        assert_eq!(matches!(outcome, Outcome::Differ(_)), architectural, "{name}: {outcome:?}");
        let lanes = found.fields.iter().find(|field| field.name == name).unwrap().lanes;
        let of_rows = ["values", "addresses", "strides", "sent"].contains(&name);
        assert_eq!(lanes, if of_rows { 4 } else { 0 }, "{name}");
    }
}

#[test]
fn the_difference_that_began_first_is_told_though_it_retires_later() {
    let records = sample();
    let late = records.iter().rposition(|r| r.cycle > r.stage(Stage::Execute) + 20).unwrap();
    let issue = records[late].stage(Stage::Issue);
    let early = records[..late].iter().rposition(|r| r.stage(Stage::Issue) > issue + 4).unwrap();
    let mut other = records.clone();
    other[early].stages[Stage::Issue] -= 1;
    other[late].stages[Stage::Operands] += 1;
    let found = differs(compare(&header(8), &records, &other, Mode::Cycle));
    let key = |r: &Record| (r.workgroup, r.wave, r.sequence);
    assert_eq!(key(found.either()), key(&records[late]));
    assert_eq!(found.moved, Some(("operands", records[late].stage(Stage::Operands))));
}

#[test]
fn an_instruction_that_one_of_them_lacks_is_told() {
    let records = sample();
    let mut fewer = records.clone();
    let missing = fewer.remove(100);
    let found = differs(compare(&header(8), &records, &fewer, Mode::Architectural));
    assert_eq!((found.a.as_ref(), found.b), (Some(&missing), None));
    let found = differs(compare(&header(8), &fewer, &records, Mode::Cycle));
    assert_eq!((found.a, found.b.as_ref()), (None, Some(&missing)));
}

#[test]
fn another_order_shows_in_cycles_only() {
    let records = sample();
    let mut slower = records.clone();
    for record in slower.iter_mut().filter(|r| r.wave == 1) {
        record.cycle += 1000;
        record.stages.0.iter_mut().filter(|at| **at > 0).for_each(|at| *at += 1000);
        record.stalls.clear();
    }
    let outcome = compare(&header(8), &records, &slower, Mode::Architectural);
    assert_eq!(outcome, Outcome::Same(records.len() as u64));
    let found = differs(compare(&header(8), &records, &slower, Mode::Cycle));
    assert_eq!(found.moved.map(|(stage, _)| stage), Some("fetch"));
}

#[test]
fn what_a_producer_does_not_report_is_not_compared() {
    let records = sample();
    let mut other = records.clone();
    other.iter_mut().for_each(|r| (r.stages[Stage::Operands], r.stalls) = (0, Vec::new()));
    let mut without = header(8);
    without.reports.stages[Stage::Operands] = false;
    without.reports.stalls = false;
    assert!(matches!(compare(&without, &records, &other, Mode::Cycle), Outcome::Same(_)));
    assert!(matches!(compare(&header(8), &records, &other, Mode::Cycle), Outcome::Differ(_)));
}
