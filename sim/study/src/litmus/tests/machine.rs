//! The kernels of tests on the simulated machine.

use super::{SUITE, parsed, test, variant};
use crate::litmus::lower::{Arguments, Lowered, RUN_BYTES};
use crate::litmus::run::run;
use crate::litmus::variant::{Scenario, variants};
use crate::litmus::{Campaign, report};
use std::collections::BTreeSet;
use wave_isa::table::AccessKind;
use wave_machine::config::{self, Config, WritePolicy};
use wave_machine::core::probe::{Event, EventKind, Issued, Observer, Wants};
use wave_machine::core::uop::Kind;
use wave_machine::gpu::{KernelReport, Machine, RunOptions};
use wave_machine::memory::Jitter;

fn machine(name: &str) -> Config {
    Config { device_memory_bytes: u64::from(RUN_BYTES), ..config::load(name).unwrap() }
}

/// Records on which core each wave of each workgroup meets the others: only waves with threads do.
#[derive(Default)]
struct Places(BTreeSet<(u32, u32, u32)>);

impl Observer for Places {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued])
    }

    fn event(&mut self, event: &Event<'_>) {
        let Event::Issued(issued) = event else { return };
        let &Issued { event, workgroup, wave, op, mask, .. } = issued;
        if mask != 0
            && matches!(op.kind, Kind::Memory(memory) if matches!(memory.kind, AccessKind::Atomic(_)))
        {
            self.0.insert((event.core, workgroup[0], wave));
        }
    }
}

fn arguments(locations: usize, threads: usize) -> Arguments {
    Arguments {
        base: 0,
        addresses: (0..locations as u32).map(|i| 128 * i).collect(),
        delays: vec![0; threads],
        looks: vec![0; threads],
    }
}

/// One run: its report, and where its threads were.
fn once(words: &str, options: &RunOptions) -> (KernelReport, BTreeSet<(u32, u32, u32)>, Vec<u8>) {
    let test = test("ISA2");
    let scenario = Scenario::new(&test, &variant(&test, words));
    let config = machine("gpu");
    let lowered = Lowered::new(&scenario, &config).unwrap();
    let mut gpu = Machine::new(config.clone(), lowered.program.clone(), vec![0; RUN_BYTES as usize]);
    let mut places = Places::default();
    let launch = lowered.launch(&arguments(3, 3));
    let report = gpu.run(&launch, options, Some(&mut places), &mut |_| {}).unwrap();
    (report, places.0, gpu.into_memory())
}

#[test]
fn threads_are_where_the_variant_says() {
    let cores = config::load("gpu").unwrap().cores;
    for (words, places) in [
        ("one_wave plain unfenced", vec![(0, 0, 0)]),
        ("one_workgroup plain unfenced", vec![(0, 0, 0), (0, 0, 1), (0, 0, 2)]),
        ("one_core plain unfenced", vec![(0, 0, 0), (0, cores, 0), (0, 2 * cores, 0)]),
        ("apart plain unfenced", vec![(0, 0, 0), (1, 1, 0), (2, 2, 0)]),
        ("A+B|C plain unfenced", vec![(0, 0, 0), (0, 0, 1), (1, 1, 0)]),
        ("A|B~C plain unfenced", vec![(0, 0, 0), (1, 1, 0), (1, cores + 1, 0)]),
    ] {
        let (_, found, _) = once(words, &RunOptions::UNBOUNDED);
        assert_eq!(found, places.into_iter().collect(), "{words}");
    }
}

#[test]
fn jitter_changes_time_the_same_way_however_cycles_are_visited() {
    let words = "apart atomic fenced device";
    let plain = once(words, &RunOptions::UNBOUNDED);
    let mut times = BTreeSet::new();
    for seed in 0..4 {
        let jitter = Some(Jitter { seed, cycles: 200 });
        let skipping = once(words, &RunOptions { jitter, ..RunOptions::UNBOUNDED });
        let visiting = once(words, &RunOptions { jitter, every_cycle: true, ..RunOptions::UNBOUNDED });
        assert_eq!(skipping, visiting);
        assert!(skipping.0.cycles > plain.0.cycles);
        times.insert(skipping.0.cycles);
    }
    assert!(times.len() > 1, "every seed takes {times:?} cycles");
}

#[test]
fn the_same_seed_gives_the_same_counts_and_another_one_others() {
    let test = test("MP");
    let scenario = Scenario::new(&test, &variant(&test, "apart plain unfenced"));
    let config = machine("tiny");
    let counts = |seed| run(&scenario, &config, 200, seed, None).unwrap().unwrap();
    assert_eq!(counts(5), counts(5));
    assert_ne!(counts(5), counts(6));
    assert_eq!(counts(5).values().sum::<u64>(), 200);
}

#[test]
fn nothing_forbidden_is_seen_where_the_l1_writes_back() {
    let mut config = machine("tiny");
    config.core.l1.write_policy = WritePolicy::WriteBack;
    let campaign = Campaign { config: &config, runs: 8, seed: 7, only: &[], stop: None };
    for name in ["MP", "MP-chain", "CoWR", "CoRW2", "CAS-fails", "ISA2", "BARRIER-release"] {
        let report = campaign.run(test(name), &mut |_, _| {}).unwrap();
        assert_eq!(report::complaints(&report), Vec::<String>::new());
    }
}

#[test]
fn what_a_machine_has_no_room_for_is_left_out() {
    let test = test("IRIW");
    let tiny = machine("tiny");
    let apart = Scenario::new(&test, &variant(&test, "apart unfenced"));
    assert!(Lowered::new(&apart, &tiny).is_none(), "four cores of two");
    let one = Config {
        core: wave_machine::config::CoreParameters { max_workgroups: 1, ..tiny.core.clone() },
        ..tiny
    };
    let core = Scenario::new(&test, &variant(&test, "one_core unfenced"));
    assert!(Lowered::new(&core, &one).is_none(), "four workgroups on a core with room for one");
}

/// Every variant of the suite becomes a kernel, on a small machine and on one with another wave width.
#[test]
fn every_variant_becomes_a_kernel() {
    for name in ["tiny", "gpu", "mi300x"] {
        let config = machine(name);
        for builtin in SUITE {
            let test = parsed(builtin.text);
            for variant in variants(&test) {
                let scenario = Scenario::new(&test, &variant);
                let needed = 1 + variant.placement.places.iter().map(|p| p.core).max().unwrap();
                let lowered = Lowered::new(&scenario, &config);
                assert!(
                    lowered.is_some() || needed > config.cores as usize,
                    "{name}: {} {variant}",
                    test.name
                );
            }
        }
    }
}
