//! Accesses by buffer and by launch: they add up to the statistics, threads do not change them, and misses whose class is
//! known by construction have it.

use std::collections::BTreeMap;
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::{self, Config};
use wave_machine::gpu::{KernelReport, Machine, RunOptions};
use wave_machine::memory::L1Counters;
use wave_observe::attribution::{Attributed, Attribution, Class, Region, Regions, Split, Tally};
use wave_study::launch::{self, Job, Size};

/// Counters of the L1 that accesses do not cause themselves: replies, invalidations and evictions are no one's.
const NOT_OF_ACCESSES: [&str; 5] =
    ["l1.installed_lines", "l1.write_backs", "l1.evictions", "l1.invalidations", "l1.invalidated_lines"];

fn regions(job: &Job) -> Regions {
    let buffers = job.buffers.iter().map(|buffer| {
        let range = buffer.range();
        Region { name: buffer.name.clone(), start: range.start as u64, end: range.end as u64 }
    });
    Regions::new(buffers.collect())
}

/// The launches of a job, watched, with their reports.
fn attribute(
    (config, program, memory): (&Config, &Program, &[u8]),
    steps: &[Launch],
    regions: Regions,
    options: &RunOptions,
) -> (Attributed, Vec<KernelReport>) {
    let mut machine = Machine::new(config.clone(), program.clone(), memory.to_vec());
    let mut attribution = Attribution::new(config, regions);
    let reports = steps.iter().map(|launch| {
        attribution.start(launch);
        let ended = machine.run(launch, options, Some(&mut attribution), &mut |_| {});
        attribution.end(ended.as_ref());
        ended.expect("the launch ends")
    });
    let reports = reports.collect();
    (attribution.finish(), reports)
}

fn attribute_job(config: &Config, job: &Job, options: &RunOptions) -> (Attributed, Vec<KernelReport>) {
    attribute((config, &job.program, &job.memory), &job.steps, regions(job), options)
}

/// What a launch counted and what the rows add up to, by name: pairs that have to be equal.
fn pairs(sum: &Tally, report: &KernelReport) -> Vec<(&'static str, u64, u64)> {
    let (core, l2, dram) = (&report.core, &report.memory.l2, &report.memory.dram);
    let l1 = L1Counters::DECLARED.iter().zip(sum.l1.values()).zip(report.l1.values());
    let l1 = l1.map(|((declared, ours), theirs)| (declared.name, ours, theirs));
    let mut pairs: Vec<_> = l1.filter(|(name, ..)| !NOT_OF_ACCESSES.contains(name)).collect();
    pairs.extend([
        (
            "core.device_loads, core.device_stores",
            sum.loads + sum.stores,
            core.device_loads + core.device_stores,
        ),
        ("core.device_atomics", sum.atomics, core.device_atomics),
        ("core.line_accesses", sum.l1_accesses(), core.line_accesses),
        ("misses of the L1 by class", sum.l1_split.total(), report.l1.misses + report.l1.sector_misses),
        ("l2.hits", sum.l2.hits, l2.hits),
        ("l2.mshr_hits", sum.l2.mshr_hits, l2.mshr_hits),
        ("l2.sector_misses", sum.l2.sector_misses, l2.sector_misses),
        ("l2.misses", sum.l2.misses, l2.misses),
        ("misses of the L2 by class", sum.l2_split.total(), l2.misses + l2.sector_misses),
        ("dram.read_bytes", sum.dram_read_bytes, dram.read_bytes),
        ("dram.written_bytes", sum.dram_written_bytes, dram.written_bytes),
    ]);
    pairs
}

/// Holds a whole suite against the statistics on a machine. Returns the sums, and the number of launches.
fn adds_up(preset: &str, change: impl Fn(&mut Config)) -> (Tally, usize) {
    let mut config = config::load(preset).expect("a preset");
    change(&mut config);
    let (mut all, mut launches) = (Tally::default(), 0);
    for name in launch::suite() {
        let job = launch::load(name, Size::Small).expect("a kernel of the suite");
        if !job.missing(&config.capabilities).is_empty() {
            continue;
        }
        let (attributed, reports) = attribute_job(&config, &job, &RunOptions::UNBOUNDED);
        assert_eq!(attributed.launches.len(), reports.len(), "{name}");
        for (number, report) in reports.iter().enumerate() {
            for (what, ours, theirs) in pairs(&attributed.sum_of(number), report) {
                assert_eq!(ours, theirs, "{what} of launch {number} of {name} on {preset}");
            }
        }
        let named: Vec<&str> =
            attributed.rows().map(|(row, _)| row).filter(|row| !row.starts_with('(')).collect();
        assert!(!named.is_empty(), "{name} uses no buffer");
        let mut sum = Tally::default();
        (0..reports.len()).for_each(|number| sum += &attributed.sum_of(number));
        assert_eq!(sum, attributed.sum(), "{name}: the launches add up to the run");
        all += &sum;
        launches += reports.len();
    }
    (all, launches)
}

#[test]
fn rows_add_up_to_the_statistics_of_the_suite() {
    let (all, launches) = adds_up("gpu", |_| {});
    assert!(launches >= 30, "{launches} launches");
    // None of the sums above was one of nothing. The caches of this machine hold the small data.
    for class in [Class::Compulsory, Class::Coherence] {
        assert!(all.l1_split.of(class) > 0, "{}", class.name());
    }
    assert!(all.l2_split.compulsory > 0 && all.atomics > 0 && all.dram_read_bytes > 0 && all.stores > 0);
    assert_eq!(all.l2_split.coherence, 0, "nothing takes a line from the L2");
}

#[test]
fn rows_add_up_on_small_caches_that_write_back() {
    let (all, launches) = adds_up("tiny", |config| {
        config.core.l1.write_policy = config::WritePolicy::WriteBack;
        config.dispatcher.release_scope = config::ReleaseScope::System;
    });
    assert!(launches >= 20, "{launches} launches");
    for class in Class::ALL {
        assert!(all.l1_split.of(class) > 0, "{} in the L1", class.name());
    }
    assert!(all.l2_split.capacity > 0 && all.l2_split.conflict > 0 && all.dram_written_bytes > 0);
}

#[test]
fn rows_add_up_with_other_lines_and_clocks() {
    for preset in ["t4", "m-series"] {
        let (all, launches) = adds_up(preset, |_| {});
        assert!(launches >= 20 && all.l1_split.compulsory > 0, "{preset}: {launches} launches");
    }
}

/// FNV-1a of the text and of every tally.
fn hash(attributed: &Attributed) -> u64 {
    let text = format!("{}{:?}{:?}", attributed.text(), attributed.total, attributed.launches);
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_table_is_the_same_whatever_the_threads_and_the_quantum() {
    let config = config::load("gpu").expect("a preset");
    let mut hashes = BTreeMap::new();
    for name in ["sgemm", "histogram", "reduction"] {
        let job = launch::load(name, Size::Small).expect("a kernel of the suite");
        let of = |threads, every_cycle| {
            let options = RunOptions { threads, every_cycle, ..RunOptions::UNBOUNDED };
            hash(&attribute_job(&config, &job, &options).0)
        };
        let alone = of(1, false);
        assert_eq!([of(2, false), of(3, false), of(1, true)], [alone; 3], "{name}");
        hashes.insert(alone, name);
    }
    assert_eq!(hashes.len(), 3, "{hashes:?}");
}

/// One lane loads from these addresses, each after the one before has come, `laps` times. Memory is all zeros. `between`
/// comes after each load.
fn chain(config: &Config, addresses: &[u32], laps: u32, between: &str) -> (Attributed, KernelReport) {
    let loads: String = addresses
        .iter()
        .map(|address| {
            format!(
                "mov_imm r4, {address}\niadd r4, r4, r7\ndevice_load_u32 r7, r4\nand r7, r7, r9\n{between}"
            )
        })
        .collect();
    let text = format!(
        ".kernel chain\n.registers 16\n.workgroup_size 1, 1, 1\nmov_imm r7, 0\nmov_imm r8, 1\nmov_imm r9, 0\n\
         mov_imm r12, {laps}\nloop\n{loads}isub r12, r12, r8\nucmp_eq p1, r12, r9\nbreak p1\nendloop\nhalt\n.end\n"
    );
    let program = assemble(&text, "chain.wave").expect("it assembles").0;
    let launch =
        Launch { workgroup: [1, 1, 1], ..launch::load("vector_add", Size::Small).unwrap().steps[0].clone() };
    let launch = Launch { grid: [1, 1, 1], registers: 16, initial_registers: Vec::new(), ..launch };
    let regions = Regions::new(vec![
        Region { name: "low".into(), start: 0, end: 1 << 16 },
        Region { name: "high".into(), start: 1 << 16, end: 1 << 20 },
    ]);
    let memory = vec![0; 1 << 20];
    let (attributed, reports) =
        attribute((config, &program, &memory), &[launch], regions, &RunOptions::UNBOUNDED);
    (attributed, reports[0].clone())
}

/// A machine with one core, an L1 of so many lines and ways, and an L2 with one slice of so many. Lines have 128 bytes and
/// one sector.
fn machine(l1: (u32, u32), l2: (u32, u32)) -> Config {
    let mut config = config::load("gpu").expect("a preset");
    config.cores = 1;
    (config.core.l1.line_bytes, config.core.l1.sector_bytes) = (128, 128);
    (config.core.l1.bytes, config.core.l1.ways) = (l1.0 * 128, l1.1);
    (config.l2.slices, config.l2.slice_bytes, config.l2.ways) = (1, l2.0 * 128, l2.1);
    (config.core.l1.replacement, config.l2.replacement) =
        (config::ReplacementPolicy::Lru, config::ReplacementPolicy::Lru);
    config.dram.channels = 1;
    config
}

fn split(compulsory: u64, capacity: u64, conflict: u64, coherence: u64) -> Split {
    Split { compulsory, capacity, conflict, coherence }
}

/// Splits of the L1 and of the data in the L2.
fn splits(attributed: &Attributed) -> (Split, Split) {
    let data: Vec<_> = attributed.rows().filter(|(name, _)| !name.starts_with('(')).collect();
    assert_eq!(data.len(), 1, "one buffer is used: {data:?}");
    (data[0].1.l1_split, data[0].1.l2_split)
}

fn lines(count: u32, apart: u32) -> Vec<u32> {
    (0..count).map(|i| i * apart * 128).collect()
}

#[test]
fn what_is_streamed_once_is_compulsory() {
    let (attributed, _) = chain(&machine((8, 2), (64, 4)), &lines(40, 1), 1, "");
    assert_eq!(splits(&attributed), (split(40, 0, 0, 0), split(40, 0, 0, 0)));
    let low = attributed.rows().next().expect("a row");
    assert_eq!((low.0, low.1.loads, low.1.loaded_bytes, low.1.dram_read_bytes), ("low", 40, 160, 40 * 128));
}

#[test]
fn a_cycle_over_one_line_more_than_the_cache_is_capacity() {
    let fully = machine((8, 8), (64, 4));
    assert_eq!(splits(&chain(&fully, &lines(9, 1), 3, "").0).0, split(9, 18, 0, 0));
    assert_eq!(splits(&chain(&fully, &lines(8, 1), 3, "").0).0, split(8, 0, 0, 0));
    // The L2 is smaller than the cycle, and the L1 too.
    let both = machine((8, 8), (16, 16));
    let (l1, l2) = splits(&chain(&both, &lines(40, 1), 3, "").0);
    assert_eq!((l1, l2), (split(40, 80, 0, 0), split(40, 80, 0, 0)));
}

#[test]
fn two_lines_of_one_set_of_a_direct_mapped_cache_conflict() {
    let direct = machine((8, 1), (64, 64));
    assert_eq!(splits(&chain(&direct, &lines(2, 8), 10, "").0).0, split(2, 0, 18, 0));
    assert_eq!(splits(&chain(&direct, &lines(2, 7), 10, "").0).0, split(2, 0, 0, 0));
    // The same in the L2, with an L1 that does not hide it.
    let second = machine((2, 1), (64, 1));
    assert_eq!(splits(&chain(&second, &lines(2, 64), 10, "").0), (split(2, 0, 18, 0), split(2, 0, 18, 0)));
}

#[test]
fn what_fences_and_remote_atomics_take_away_is_coherence() {
    let config = machine((8, 8), (64, 64));
    let (attributed, report) = chain(&config, &lines(3, 1), 4, "fence_acquire .device\n");
    assert_eq!(splits(&attributed).0, split(3, 0, 0, 9));
    assert_eq!(report.l1.invalidations, 13, "one of the launch");
    assert_eq!(splits(&chain(&config, &lines(3, 1), 4, "").0).0, split(3, 0, 0, 0));
    let atomic = "atomic_add r5, r4, r9, .device\nand r5, r5, r9\niadd r7, r7, r5\n";
    let (attributed, report) = chain(&config, &lines(2, 1), 3, atomic);
    assert_eq!((report.l1.remote_atomics, splits(&attributed).0), (6, split(2, 0, 0, 4)));
}

#[test]
fn rows_are_those_of_the_addresses() {
    let addresses = [0, 0xFF80, 0x1_0000, 0x1_0080, 0x1_0100];
    let (attributed, _) = chain(&machine((64, 8), (64, 8)), &addresses, 2, "");
    let loads: Vec<_> = attributed.rows().map(|(name, tally)| (name, tally.loads, tally.l1.misses)).collect();
    assert_eq!(loads, [("low", 4, 2), ("high", 6, 3), ("(code)", 0, 0)]);
}
