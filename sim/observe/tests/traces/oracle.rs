//! The reference interpreter checks traces: those of the suite, those of random programs, and those with
//! planted bugs, which it must find.

use super::record::{Traced, read};
use wave_machine::config::{self, Config, DivergenceMode};
use wave_observe::trace::record::{DestinationKind, MemoryKind};
use wave_observe::trace::{Header, Launched, Record};
use wave_study::launch::{self, Size};
use wave_verify::generate::{Options, grow};
use wave_verify::reference::Machine;
use wave_verify::replay::{Loads, replay};

#[test]
fn every_record_of_the_suite_is_what_the_interpreter_does() {
    let config = config::load("tiny").unwrap();
    let (mut checked, mut in_order) = (0, 0);
    for name in launch::suite() {
        let job = launch::load(name, Size::Small).unwrap();
        let mut memory = vec![0; config.device_memory_bytes as usize];
        memory[..job.memory.len()].copy_from_slice(&job.memory);
        let bytes = Traced::new(&config, &job.program, &job.steps, &memory).bytes();
        let (header, launches) = read(&bytes);
        assert_eq!(launches.len(), job.steps.len(), "{name}");
        // Values returned by loads and atomics may depend on the order of waves. Nothing else may.
        let mut fixed = true;
        for (launched, records) in &launches {
            let machine = Machine::of(&config);
            let taken = replay(&header, launched, records, &machine, Loads::Taken, &mut memory.clone());
            checked += taken.unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            fixed &= replay(&header, launched, records, &machine, Loads::Checked, &mut memory).is_ok();
        }
        in_order += usize::from(fixed);
    }
    assert!(checked > 50_000, "{checked} records");
    assert!(in_order >= launch::suite().count() * 3 / 4, "only {in_order} kernels agree in every load");
}

#[test]
fn random_programs_leave_the_traces_that_the_interpreter_expects() {
    let mut records = 0;
    for seed in 0..12 {
        let mut config = config::load(if seed % 2 == 0 { "tiny" } else { "rtl" }).unwrap();
        if seed % 4 >= 2 {
            config.core.divergence = DivergenceMode::Jump;
        }
        let case = grow(seed, &Options { fault: false, ..Options::of(&config) }).case();
        let steps = [case.launch.clone()];
        let bytes = Traced {
            every_cycle: seed % 3 == 0,
            ..Traced::new(&config, &case.program, &steps, &case.memory)
        }
        .bytes();
        let (header, launches) = read(&bytes);
        let (launched, trace) = &launches[0];
        let machine = Machine::of(&config);
        for loads in [Loads::Taken, Loads::Checked] {
            let mut memory = case.memory.clone();
            let result = replay(&header, launched, trace, &machine, loads, &mut memory);
            // Atomics of several waves may return any value.
            records += match result {
                Err(wrong) if loads == Loads::Taken => panic!("seed {seed}: {wrong}"),
                result => result.unwrap_or(0),
            };
        }
    }
    assert!(records > 4_000, "{records} records");
}

/// A trace with all kinds of records.
fn sample() -> (Config, Header, Launched, Vec<Record>, Vec<u8>) {
    let config = config::load("tiny").unwrap();
    let job = launch::load("mma_gemm", Size::Small).unwrap();
    let mut memory = vec![0; config.device_memory_bytes as usize];
    memory[..job.memory.len()].copy_from_slice(&job.memory);
    let bytes = Traced::new(&config, &job.program, &job.steps[..1], &memory).bytes();
    let (header, mut launches) = read(&bytes);
    let (launched, records) = launches.remove(0);
    (config, header, launched, records, memory)
}

/// The record to corrupt, a part of the expected message, and the change.
type Bug = (usize, &'static str, fn(&mut Record));

#[test]
fn a_wrong_field_of_one_record_is_seen() {
    let (config, header, launched, records, memory) = sample();
    let judge = |records: &[Record]| {
        replay(&header, &launched, records, &Machine::of(&config), Loads::Checked, &mut memory.clone())
    };
    judge(&records).unwrap();
    let of_kind = |wanted: &dyn Fn(&Record) -> bool| records.iter().rposition(wanted).unwrap();
    let registers = of_kind(&|r| r.destination == DestinationKind::Registers);
    let fragment = of_kind(&|r| r.destination == DestinationKind::FragmentC);
    let predicate = of_kind(&|r| r.destination == DestinationKind::Predicate);
    let store = of_kind(&|r| r.memory == MemoryKind::Store);
    let tile = of_kind(&|r| r.memory == MemoryKind::TileStore);
    let spoil: [Bug; 17] = [
        (registers, "pc is", |r| r.pc += 4),
        (registers, "words is", |r| r.words[0] ^= 1 << 16),
        (registers, "word count is", |r| r.word_count = 3 - r.word_count),
        (registers, "active is", |r| r.active ^= 4),
        (registers, "effective is", |r| r.effective ^= 1),
        (registers, "next_pc is", |r| r.next_pc += 4),
        (registers, "ends is", |r| r.ends = !r.ends),
        (registers, "destination is", |r| r.index += 1),
        (registers, "values is", |r| r.values[3] ^= 1),
        (fragment, "values is", |r| r.values[9] ^= 1),
        (fragment, "destination is", |r| r.destination = DestinationKind::FragmentB),
        (predicate, "values is", |r| r.values[0] ^= 1),
        (store, "memory is", |r| r.bytes *= 2),
        (store, "addresses is", |r| r.addresses[1] += 4),
        (store, "sent is", |r| r.sent[2] ^= 0x100),
        (tile, "strides is", |r| r.strides[0] += 1),
        (tile, "sent is", |r| r.sent[20] ^= 1),
    ];
    for (at, expected, change) in spoil {
        let mut wrong = records.clone();
        change(&mut wrong[at]);
        let found = judge(&wrong).expect_err(expected).to_string();
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let mut missing = records.clone();
    missing.remove(registers);
    assert!(judge(&missing).is_err());
    let mut twice = records.clone();
    twice.push(Record { sequence: 1 << 40, ..records[registers].clone() });
    assert!(judge(&twice).unwrap_err().to_string().contains("has ended"));
}
