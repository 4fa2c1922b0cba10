//! The files for viewers, read by independent parsers and compared with the records.

use super::konata::kanata;
use super::pftrace::{Event, Trace};
use super::record::read;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufWriter;
use tempfile::TempDir;
use wave_machine::config::{self, Config};
use wave_machine::gpu::{KernelReport, Machine, RunOptions};
use wave_observe::trace::record::{MemoryKind, Stage, Wait};
use wave_observe::trace::recorder::header;
use wave_observe::trace::view::kanata::Kanata;
use wave_observe::trace::view::perfetto::Perfetto;
use wave_observe::trace::view::signals::{Signals, tree};
use wave_observe::trace::view::waves::{Fst, Vcd};
use wave_observe::trace::{Form, How, Record, Recorder, Sink, Window, Writer};
use wave_study::launch::{self, Size};

/// A run with the records and the files of all viewers.
pub(crate) struct Seen {
    pub records: Vec<Record>,
    pub folder: TempDir,
    report: KernelReport,
    config: Config,
    code_words: u32,
}

pub(crate) fn seen(name: &str) -> Seen {
    let mut config = config::load("tiny").unwrap();
    config.device_memory_bytes = 1 << 20;
    let job = launch::load(name, Size::Small).unwrap();
    let mut memory = vec![0; config.device_memory_bytes as usize];
    memory[..job.memory.len()].copy_from_slice(&job.memory);
    let folder = TempDir::new().unwrap();
    let file = |name| BufWriter::new(File::create(folder.path().join(name)).unwrap());
    let signals = tree(&config);
    let mut bytes = Vec::new();
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![
        ("a".into(), Box::new(Writer::new(&mut bytes, Form::Binary, &header(&config)).unwrap())),
        ("b".into(), Box::new(Kanata::new(file("k")).unwrap())),
        ("c".into(), Box::new(Perfetto::new(file("p"), &config).unwrap())),
        ("d".into(), Box::new(Signals::new(Vcd::new(file("vcd"), &signals).unwrap(), &config))),
        (
            "e".into(),
            Box::new(Signals::new(Fst::new(&folder.path().join("fst"), &signals).unwrap(), &config)),
        ),
    ];
    let mut recorder = Recorder::new(&config, sinks, Window::ALL);
    let mut gpu = Machine::new(config.clone(), job.program.clone(), memory);
    recorder.start(&job.program, &job.steps[0], 0);
    let report = gpu.run(&job.steps[0], &RunOptions::UNBOUNDED, Some(&mut recorder), &mut |_| {}).unwrap();
    recorder.finish(How::Complete, report.running_cycles(), "").unwrap();
    let code_words = job.program.code.len() as u32;
    Seen { records: read(&bytes).1.remove(0).1, folder, report, config, code_words }
}

#[test]
fn a_trace_for_perfetto_has_what_the_records_say() {
    let seen = seen("reduction");
    let trace = Trace::read(&seen.folder.path().join("p"));
    assert_eq!(trace.launches, [("launch reduction".to_owned(), 0)]);
    overlap_nowhere(&trace);
    let at_issue = |r: &Record| {
        let issue = r.stage(Stage::Issue);
        r.stalls.iter().filter(|s| s.to <= issue).map(|s| s.to - s.from).sum::<u64>()
    };
    assert_eq!(trace.of("issue").count(), seen.records.len());
    let stalls: u64 = trace.of("stall").map(|stall| stall.cycles.unwrap()).sum();
    assert_eq!(stalls, seen.records.iter().map(at_issue).sum::<u64>());
    // A counter says what happens in 64 cycles, or what is so at their end, and keeps its value until it has another.
    let last = seen.records.iter().map(|r| r.cycle).max().unwrap();
    let mut counted = 0;
    for core in 0..seen.config.cores {
        for counter in ["instructions per cycle", "waves", "device bytes asked for per cycle"] {
            let process = format!("core {core}");
            let values: Vec<_> =
                trace.values.iter().filter(|v| v.process == process && v.counter == counter).collect();
            assert!(values.is_sorted_by(|a, b| a.at < b.at && a.value != b.value), "{process} {counter}");
            for at in (0..=last).step_by(64) {
                let value = values.iter().rfind(|v| v.at <= at).unwrap().value;
                let of_core = || seen.records.iter().filter(|r| r.core == core && r.cycle < at + 64);
                let within = || of_core().filter(|r| r.cycle >= at);
                let expected = match counter {
                    "instructions per cycle" => within().count() as f64 / 64.0,
                    "waves" => of_core()
                        .map(|r| f64::from(u8::from(r.sequence == 0)) - f64::from(u8::from(r.ends)))
                        .sum(),
                    _ => {
                        let bytes = |r: &Record| f64::from(r.effective.count_ones()) * f64::from(r.bytes);
                        within().filter(|r| r.device).map(bytes).sum::<f64>() / 64.0
                    }
                };
                assert!((value - expected).abs() < 1e-9, "{process} {counter} at {at}: {value}, {expected}");
                counted += usize::from(value > 0.0);
            }
        }
    }
    assert!(counted > 50, "{counted}");
    // A flow leads from each issue of a memory instruction to where it is executed.
    let memory = seen.records.iter().filter(|r| r.memory != MemoryKind::None).count();
    let accesses: Vec<_> = trace.flows().into_values().filter(|way| way[0].category == "issue").collect();
    assert_eq!(accesses.len(), memory);
    for way in &accesses {
        let [issue, access] = way[..] else { panic!("{way:?}") };
        assert_eq!((access.category.as_str(), &issue.process), ("memory", &access.process));
        assert_eq!(issue.thread, format!("slot {}", access.arguments["slot"]));
        assert!(issue.at < access.at && access.last_of.len() == 1);
    }
}

/// Slices of a thread lie beside one another, and instants in them.
fn overlap_nowhere(trace: &Trace) {
    let mut threads = BTreeMap::<u64, Vec<(u64, u64)>>::new();
    for slice in trace.slices() {
        assert!(slice.cycles > Some(0), "{slice:?}");
        threads.entry(slice.tid).or_default().push((slice.at, slice.end()));
    }
    for (thread, slices) in &mut threads {
        slices.sort_unstable();
        assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "slices of thread {thread} overlap");
    }
    for instant in trace.events.iter().filter(|event| event.cycles.is_none()) {
        let slices = &threads[&instant.tid];
        let before = slices.partition_point(|(from, _)| *from <= instant.at);
        assert!(before > 0 && instant.at < slices[before - 1].1, "{instant:?} is in no slice");
    }
}

/// Every request of the run is drawn in the right place, with a flow from its instruction.
#[test]
fn requests_flow_from_instructions_through_the_l2_to_memory() {
    let mut merged = 0;
    for kernel in ["reduction", "histogram", "transpose_naive", "spmv"] {
        let seen = seen(kernel);
        let trace = Trace::read(&seen.folder.path().join("p"));
        overlap_nowhere(&trace);
        let requests = |process: &str, name: &str| {
            trace.of("request").filter(|r| r.process == process && r.name == name).count() as u64
        };
        // As many as the L2 has counted, but for the lines of the code, which each core has asked for once.
        let (l2, l1) = (&seen.report.memory.l2, seen.config.core.fetch.icache_line_bytes);
        let code = u64::from((seen.code_words * 4).div_ceil(l1)) * u64::from(seen.config.cores);
        assert_eq!(requests("L2", "read") + code, l2.reads, "{kernel}");
        assert_eq!(requests("L2", "write"), l2.writes, "{kernel}");
        assert_eq!(requests("L2", "atomic"), l2.atomics, "{kernel}");
        assert!(requests("memory", "fetch") > 0, "{kernel}");
        let shortest = trace.of("request").filter(|r| r.process == "L2").map(|r| r.cycles.unwrap()).min();
        let hit = u64::from(seen.config.l2.hit_latency_cycles);
        assert_eq!(shortest, Some(hit), "{kernel}: a hit takes the hit latency");
        // A flow goes from a core to the L2, and perhaps on to memory, forward in time, and ends there.
        let flows = trace.flows();
        // Of several atomics on a line, one may have all the requests; the flow of another leads nowhere.
        let is_way = |way: &[&Event]| way.len() > 1 && way[0].category != "issue";
        let ways: Vec<_> = flows.iter().filter(|(_, way)| is_way(way)).collect();
        assert!(ways.len() as u64 >= l2.reads - code + l2.writes, "{kernel}: {}", ways.len());
        let mut to_memory = 0;
        for (flow, way) in ways {
            let places: Vec<&str> = way.iter().map(|event| event.process.as_str()).collect();
            assert!(places[0].starts_with("core "), "{places:?}");
            match &places[1..] {
                ["L2"] => {}
                ["L2", "memory"] => to_memory += 1,
                other => panic!("{kernel}: {other:?}"),
            }
            let ends: Vec<bool> = way.iter().map(|event| event.last_of.contains(flow)).collect();
            assert!(ends.iter().rev().eq([true, false, false][..ends.len()].iter()), "{way:?}");
            merged += way[1..].iter().filter(|event| event.name == "merge").count();
        }
        assert!(to_memory > 0, "{kernel}");
    }
    assert!(merged > 20, "{merged} instructions wait for what another one has asked for");
}

/// The three files of a run agree: each instruction of the Konata log is in the Perfetto trace and in the
/// waveform, with the same pc, stalls and end. The records are not used here.
#[test]
fn konata_perfetto_and_waveforms_tell_one_story() {
    for kernel in ["spmv", "histogram"] {
        let seen = seen(kernel);
        let rows = kanata(&std::fs::read_to_string(seen.folder.path().join("k")).unwrap());
        let trace = Trace::read(&seen.folder.path().join("p"));
        let wave = waveform(&seen.folder.path().join("fst"));
        let value_at = |name: &str, at: u64| {
            let changes = &wave[name];
            let bits = &changes[changes.partition_point(|(time, _)| *time <= at) - 1].1;
            u64::from_str_radix(bits, 2).unwrap()
        };
        // In Perfetto: slices by process, thread and beginning.
        let slices: HashMap<(&str, &str, u64), &Event> = trace
            .slices()
            .map(|slice| ((slice.process.as_str(), slice.thread.as_str(), slice.at), slice))
            .collect();
        let memory: Vec<(&str, &str, u64, u64)> = trace
            .of("memory")
            .map(|slice| (slice.process.as_str(), slice.arguments["slot"].as_str(), slice.at, slice.end()))
            .collect();
        let (mut issued, mut accesses, mut stalls, mut cut) = (0, 0, 0, 0);
        for row in rows.values() {
            let words: Vec<&str> = row.hover.split(' ').collect();
            let after = |name: &str| words[words.iter().position(|w| *w == name).unwrap() + 1];
            let (core, slot): (u64, u64) = (after("core").parse().unwrap(), after("slot").parse().unwrap());
            let (pc, text) = row.label.split_once(": ").unwrap();
            let stage = |wanted: &str| {
                row.starts
                    .iter()
                    .find(|(lane, name, _)| (*lane, name.as_str()) == (0, wanted))
                    .map(|(.., at)| *at)
            };
            let issue = stage("I").unwrap();
            let (process, thread) = (format!("core {core}"), format!("slot {slot}"));
            let slice = slices[&(process.as_str(), thread.as_str(), issue)];
            assert_eq!(
                (slice.category.as_str(), slice.name.as_str()),
                ("issue", text),
                "{kernel}: {}",
                row.label
            );
            let shown = u64::from_str_radix(pc, 16).unwrap();
            assert_eq!(slice.arguments["pc"], format!("0x{shown:x}"), "{kernel}");
            let lanes = format!("0x{}", after("lanes"));
            assert_eq!(slice.arguments["lanes"], lanes, "{kernel}: {}", row.label);
            let signal = |name: &str, at: u64| value_at(&format!("core{core}.slot{slot}.{name}"), at);
            assert_eq!(signal("issue", issue), 1, "{kernel}: {}", row.label);
            assert_eq!(signal("pc", issue), u64::from_str_radix(pc, 16).unwrap(), "{kernel}");
            assert_eq!(signal("mask", issue), u64::from_str_radix(after("lanes"), 16).unwrap(), "{kernel}");
            issued += 1;
            // A row ends with the cycle in which the instruction retires, and the core's `retiring` signal is
            // set in that cycle.
            let retired = row.end.unwrap().0 - 1;
            assert!(value_at(&format!("core{core}.retiring"), retired) > 0, "{kernel}: {}", row.label);
            let accesses_memory = ["_load_", "_store_", "atomic_"].iter().any(|part| text.contains(part));
            if let Some(execute) = stage("X").filter(|_| accesses_memory) {
                let slot = slot.to_string();
                let whole = (process.as_str(), slot.as_str(), execute, retired.max(execute + 1));
                assert!(memory.contains(&whole), "{kernel}: {} {whole:?}", row.label);
                assert!(value_at(&format!("core{core}.in_lsu"), execute) > 0 || retired == execute);
                accesses += 1;
            }
            for (_, reason, from) in row.starts.iter().filter(|(lane, _, from)| *lane == 1 && *from < issue) {
                let Some(slice) = slices.get(&(process.as_str(), thread.as_str(), *from)) else {
                    // What a wave waited for before the instruction was fetched is not in the row.
                    assert_eq!(Some(*from), stage("F"), "{kernel}: {} waits from {from}", row.label);
                    cut += 1;
                    continue;
                };
                let until = row.stall_ends[&(reason.clone(), *from)];
                assert_eq!(slice.cycles, Some(until - from), "{kernel}: {}", row.label);
                assert_eq!((slice.category.as_str(), &slice.name), ("stall", reason));
                let code = Wait::ALL.iter().find(|r| r.name() == reason).unwrap();
                assert_eq!(signal("stall", *from), *code as u64, "{kernel}: {} from {from}", row.label);
                stalls += 1;
            }
        }
        let slices = trace.of("issue").count();
        assert!(issued == slices && accesses == memory.len(), "{kernel}: {issued}, {accesses}");
        assert!(accesses > 50 && stalls > 500 && cut * 2 < stalls, "{kernel}: {accesses}, {stalls}, {cut}");
    }
}

/// Changes of each waveform signal, as (time, bits).
pub(crate) fn waveform(path: &std::path::Path) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut wave = wellen::simple::read(path).unwrap();
    let vars: Vec<_> = wave.hierarchy().all_vars().collect();
    let hierarchy = wave.hierarchy();
    let named: Vec<_> =
        vars.iter().map(|&v| (hierarchy[v].full_name(hierarchy), hierarchy[v].signal_ref())).collect();
    wave.load_signals(&named.iter().map(|(_, signal)| *signal).collect::<Vec<_>>());
    let times = wave.time_table();
    let changes = |signal| {
        let signal = wave.get_signal(signal).unwrap();
        let all =
            signal.iter_changes().map(|(at, value)| (times[at as usize], value.to_bit_string().unwrap()));
        all.collect()
    };
    named.into_iter().map(|(name, signal)| (name, changes(signal))).collect()
}

#[test]
fn both_waveforms_hold_the_same_and_it_is_what_the_records_say() {
    let seen = seen("reduction");
    let (vcd, fst) = (waveform(&seen.folder.path().join("vcd")), waveform(&seen.folder.path().join("fst")));
    assert!(vcd.len() > 2 * (6 + 32 * 5) && vcd.len() == fst.len());
    for (name, changes) in &vcd {
        assert_eq!(Some(changes), fst.get(name), "{name}");
    }
    let value_at = |name: &str, at: u64| {
        let changes = &vcd[name];
        let bits = &changes[changes.partition_point(|(time, _)| *time <= at) - 1].1;
        u64::from_str_radix(bits, 2).unwrap()
    };
    let mut issues = 0;
    for record in &seen.records {
        let slot = format!("core{}.slot{}", record.core, record.slot);
        let issue = record.stage(Stage::Issue);
        assert_eq!(value_at(&format!("{slot}.pc"), issue), u64::from(record.pc));
        assert_eq!(value_at(&format!("{slot}.mask"), issue), record.effective);
        assert_eq!(value_at(&format!("{slot}.issue"), issue), 1);
        issues += 1;
        for stall in record.stalls.iter().filter(|s| s.to <= issue) {
            assert_eq!(value_at(&format!("{slot}.stall"), stall.to - 1), stall.reason as u64);
        }
    }
    assert!(issues > 500);
    // In every cycle, the stages of a core hold as many instructions as the records imply.
    let last = seen.records.iter().map(|r| r.cycle).max().unwrap();
    for cycle in (1..last + 2).step_by(7) {
        let of = |signal: &str| value_at(&format!("core0.{signal}"), cycle);
        let count = |inside: &dyn Fn(&Record) -> bool| {
            seen.records.iter().filter(|r| r.core == 0 && inside(r)).count() as u64
        };
        let between = |from: u64, to: u64| from != 0 && from <= cycle && cycle < to;
        assert_eq!(
            of("fetching"),
            count(&|r| between(r.stages[Stage::Fetch], r.stages[Stage::Decode])),
            "cycle {cycle}"
        );
        assert_eq!(
            of("buffered"),
            count(&|r| between(r.stages[Stage::Decode], r.stages[Stage::Issue])),
            "cycle {cycle}"
        );
        assert_eq!(
            of("collecting"),
            count(&|r| between(r.stages[Stage::Issue], r.stages[Stage::Execute])),
            "cycle {cycle}"
        );
        let executing = count(&|r| between(r.stages[Stage::Execute], r.cycle));
        assert_eq!(of("in_units") + of("in_lsu"), executing, "cycle {cycle}");
        assert_eq!(of("retiring"), count(&|r| r.cycle == cycle), "cycle {cycle}");
    }
}
