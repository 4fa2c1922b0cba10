//! The files for viewers, read by independent parsers and compared with the records.

use super::konata::kanata;
use super::record::read;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufWriter;
use tempfile::TempDir;
use wave_sim::config::{self, Config};
use wave_sim::gpu::{Gpu, KernelReport, RunOptions};
use wave_sim::launch::{self, Size};
use wave_sim::trace::record::{MemoryKind, StageField, StallReason};
use wave_sim::trace::recorder::header;
use wave_sim::trace::view::kanata::Kanata;
use wave_sim::trace::view::perfetto::Perfetto;
use wave_sim::trace::view::signals::{Signals, tree};
use wave_sim::trace::view::waves::{Fst, Vcd};
use wave_sim::trace::{Form, How, Record, Recorder, Sink, Window, Writer};

/// A run with the records and the files of all viewers.
pub struct Seen {
    pub records: Vec<Record>,
    pub folder: TempDir,
    report: KernelReport,
    config: Config,
    code_words: u32,
}

pub fn seen(name: &str) -> Seen {
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
    let mut gpu = Gpu::new(&config, &job.program, memory);
    recorder.start(&job.program, &job.steps[0], 0);
    let report = gpu.run(&job.steps[0], &RunOptions::UNBOUNDED, Some(&mut recorder), &mut |_| {}).unwrap();
    recorder.finish(How::Complete, report.running_cycles(), "").unwrap();
    let code_words = job.program.code.len() as u32;
    Seen { records: read(&bytes).1.remove(0).1, folder, report, config, code_words }
}

#[test]
fn a_perfetto_trace_has_the_structure_of_trace_events() {
    let seen = seen("reduction");
    let text = std::fs::read_to_string(seen.folder.path().join("p")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let number = |event: &Value, key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{key} of {event}"));
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let (mut issues, mut stalls, mut flows) = (0, 0, HashMap::<u64, Vec<(String, u64, u64, u64)>>::new());
    let (mut retired, mut counted) = (0.0, 0);
    let (mut threads, mut named) = (HashMap::new(), HashMap::new());
    for event in events {
        let place = (number(event, "pid"), number(event, "tid"));
        // Perfetto identifies a thread by its number alone, takes the process number for that of its first
        // thread, and treats 0 specially.
        assert_eq!(*threads.entry(place.1).or_insert(place.0), place.0, "{event}");
        assert!(place.0 > 0 && place.1 > u64::from(seen.config.cores) + 2, "{event}");
        if event["name"] == "thread_name" {
            assert_eq!(named.insert(place, event["args"]["name"].clone()), None, "{event}");
        }
        match event["ph"].as_str().unwrap() {
            "X" => {
                let (at, long) = (number(event, "ts"), number(event, "dur"));
                assert!(event["name"].is_string() && long > 0, "{event}");
                slices.entry(place).or_default().push((at, at + long));
                issues += usize::from(event["cat"] == "issue");
                stalls += if event["cat"] == "stall" { long } else { 0 };
            }
            // Requests have their own test.
            "s" | "t" | "f" if event["cat"] == "request" => {}
            phase @ ("s" | "f") => {
                assert!(phase == "s" || event["bp"] == "e");
                let end = (phase.to_owned(), place.0, place.1, number(event, "ts"));
                flows.entry(number(event, "id")).or_default().push(end);
            }
            "C" => {
                let value = event["args"]["value"].as_f64().unwrap();
                assert!(value >= 0.0, "{event}");
                let (at, core) = (number(event, "ts"), place.0 - 1);
                // Events in its 64 cycles, or before their end.
                let of_core =
                    || seen.records.iter().filter(|r| u64::from(r.core) == core && r.cycle < at + 64);
                let within = || of_core().filter(|r| r.cycle >= at);
                let expected = match event["name"].as_str().unwrap() {
                    "instructions per cycle" => {
                        retired += value * 64.0;
                        within().count() as f64 / 64.0
                    }
                    "waves" => of_core()
                        .map(|r| f64::from(u8::from(r.sequence == 0)) - f64::from(u8::from(r.ends)))
                        .sum(),
                    "device bytes asked for per cycle" => {
                        let bytes = |r: &Record| f64::from(r.effective.count_ones()) * f64::from(r.bytes);
                        within().filter(|r| r.device).map(bytes).sum::<f64>() / 64.0
                    }
                    other => panic!("{other}"),
                };
                assert!((value - expected).abs() < 1e-9, "{event}: {expected}");
                counted += usize::from(value > 0.0);
            }
            "M" => assert!(event["args"]["name"].is_string()),
            "i" => assert_eq!(event["s"], "g"),
            other => panic!("phase {other}"),
        }
    }
    assert_eq!(issues, seen.records.len());
    assert_eq!(retired.round() as usize, seen.records.len());
    assert!(counted > 50, "{counted}");
    let at_issue = |r: &Record| {
        let issue = r.stage(StageField::Issue);
        r.stalls.iter().filter(|s| s.to <= issue).map(|s| s.to - s.from).sum::<u64>()
    };
    assert_eq!(stalls, seen.records.iter().map(at_issue).sum::<u64>());
    for (place, slices) in &mut slices {
        slices.sort_unstable();
        assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "slices of {place:?} overlap");
    }
    let memory = seen.records.iter().filter(|r| r.memory != MemoryKind::None).count();
    assert_eq!(flows.len(), memory);
    for ends in flows.values() {
        let [(start, core, slot, issue), (finish, same_core, row, execute)] = ends.as_slice() else {
            panic!("{ends:?}")
        };
        assert_eq!((start.as_str(), finish.as_str(), core), ("s", "f", same_core));
        assert!(issue < execute);
        let inside =
            |tid: u64, at: u64| slices[&(*core, tid)].iter().any(|&(from, to)| from <= at && at < to);
        assert!(inside(*slot, *issue) && inside(*row, *execute), "a flow begins and ends in a slice");
    }
}

/// Every request of the run is drawn in the right place, with a flow from its instruction.
#[test]
fn requests_flow_from_instructions_through_the_l2_to_memory() {
    for kernel in ["reduction", "histogram", "transpose_naive", "spmv"] {
        let seen = seen(kernel);
        let text = std::fs::read_to_string(seen.folder.path().join("p")).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let number = |event: &Value, key: &str| event[key].as_u64().unwrap();
        let cores = u64::from(seen.config.cores);
        // Processes 1 and up are cores. The L2 and memory follow.
        let l2_process = cores + 1;
        let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
        let mut shortest = u64::MAX;
        let (mut drawn, mut flows) = (BTreeMap::<&str, u64>::new(), BTreeMap::<u64, Vec<&Value>>::new());
        for event in events {
            let place = (number(event, "pid"), number(event, "tid"));
            match event["ph"].as_str().unwrap() {
                "X" => {
                    let (at, long) = (number(event, "ts"), number(event, "dur"));
                    slices.entry(place).or_default().push((at, at + long));
                    if place.0 == l2_process {
                        shortest = shortest.min(long);
                    }
                    if place.0 >= l2_process {
                        *drawn.entry(event["name"].as_str().unwrap()).or_default() += 1;
                    }
                }
                "s" | "t" | "f" if event["cat"] == "request" => {
                    flows.entry(number(event, "id")).or_default().push(event);
                }
                _ => {}
            }
        }
        for (place, slices) in &mut slices {
            slices.sort_unstable();
            assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "slices of {place:?} overlap");
        }
        // As many as the L2 counted, except for instruction lines, which each core requested once.
        let (l2, l1) = (&seen.report.memory.l2, seen.config.core.fetch.icache_line_bytes);
        let code = u64::from((seen.code_words * 4).div_ceil(l1)) * cores;
        let count = |name: &str| drawn.get(name).copied().unwrap_or(0);
        assert_eq!(count("read") + code, l2.reads, "{kernel}: {drawn:?}");
        assert_eq!(count("write"), l2.writes, "{kernel}");
        assert_eq!(count("atomic"), l2.atomics, "{kernel}");
        assert!(count("fetch") > 0, "{kernel}");
        assert_eq!(
            shortest,
            u64::from(seen.config.l2.hit_latency_cycles),
            "{kernel}: a hit takes the hit latency"
        );
        // A flow leads from a core to the L2, possibly on to memory, forward in time and between slices.
        assert!(flows.len() as u64 >= l2.reads - code + l2.writes, "{kernel}: {}", flows.len());
        let mut to_memory = 0;
        for (id, steps) in &flows {
            let phases: String = steps.iter().map(|s| s["ph"].as_str().unwrap()).collect();
            let pids: Vec<u64> = steps.iter().map(|s| number(s, "pid")).collect();
            match phases.as_str() {
                "sf" => assert!(pids[0] < l2_process && pids[1] == l2_process, "{id}: {pids:?}"),
                "stf" => {
                    assert!(pids[0] < l2_process, "{id}: {pids:?}");
                    assert_eq!(pids[1..], [l2_process, l2_process + 1], "{id}");
                    to_memory += 1;
                }
                other => panic!("{other}"),
            }
            let times: Vec<u64> = steps.iter().map(|s| number(s, "ts")).collect();
            assert!(times.is_sorted(), "{id}: {times:?}");
            for step in steps {
                let at = number(step, "ts");
                let there = &slices[&(number(step, "pid"), number(step, "tid"))];
                assert!(there.iter().any(|&(from, to)| from <= at && at < to), "{step} is in no slice");
            }
        }
        assert!(to_memory > 0, "{kernel}");
    }
}

/// The three files of a run agree: each instruction of the Konata log is in the Perfetto trace and in the
/// waveform, with the same pc, stalls and end. The records are not used here.
#[test]
fn konata_perfetto_and_waveforms_tell_one_story() {
    for kernel in ["spmv", "histogram"] {
        let seen = seen(kernel);
        let rows = kanata(&std::fs::read_to_string(seen.folder.path().join("k")).unwrap());
        let trace: Value =
            serde_json::from_str(&std::fs::read_to_string(seen.folder.path().join("p")).unwrap()).unwrap();
        let wave = waveform(&seen.folder.path().join("fst"));
        let value_at = |name: &str, at: u64| {
            let changes = &wave[name];
            let bits = &changes[changes.partition_point(|(time, _)| *time <= at) - 1].1;
            u64::from_str_radix(bits, 2).unwrap()
        };
        // From the Perfetto file: slices by core, thread and start, and thread names.
        let (mut threads, mut slices) = (HashMap::new(), HashMap::<(u64, u64, u64), &Value>::new());
        for event in trace["traceEvents"].as_array().unwrap() {
            let number = |key: &str| event[key].as_u64().unwrap();
            let (core, thread) = (number("pid") - 1, number("tid"));
            if event["name"] == "thread_name" {
                threads.insert((core, event["args"]["name"].as_str().unwrap()), thread);
            } else if event["ph"] == "X" {
                slices.insert((core, thread, number("ts")), event);
            }
        }
        let memory: Vec<(u64, u64, u64, u64)> = slices
            .iter()
            .filter(|(_, slice)| slice["cat"] == "memory")
            .map(|((core, _, at), slice)| {
                (*core, slice["args"]["slot"].as_u64().unwrap(), *at, at + slice["dur"].as_u64().unwrap())
            })
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
            let thread = threads[&(core, format!("slot {slot}").as_str())];
            let slice = slices[&(core, thread, issue)];
            assert_eq!(
                (&slice["cat"], &slice["name"]),
                (&"issue".into(), &text.into()),
                "{kernel}: {}",
                row.label
            );
            assert_eq!(slice["args"]["pc"], format!("0x{pc}"), "{kernel}");
            assert_eq!(slice["args"]["lanes"], after("lanes"), "{kernel}: {}", row.label);
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
                let whole = (core, slot, execute, retired.max(execute + 1));
                assert!(memory.contains(&whole), "{kernel}: {} {whole:?}", row.label);
                assert!(value_at(&format!("core{core}.in_lsu"), execute) > 0 || retired == execute);
                accesses += 1;
            }
            for (_, reason, from) in row.starts.iter().filter(|(lane, _, from)| *lane == 1 && *from < issue) {
                let Some(slice) = slices.get(&(core, thread, *from)) else {
                    // The row omits waits before the fetch of the instruction.
                    assert_eq!(Some(*from), stage("F"), "{kernel}: {} waits from {from}", row.label);
                    cut += 1;
                    continue;
                };
                let until = row.stall_ends[&(reason.clone(), *from)];
                assert_eq!(slice["dur"].as_u64(), Some(until - from), "{kernel}: {}", row.label);
                assert_eq!((&slice["cat"], slice["name"].as_str()), (&"stall".into(), Some(reason.as_str())));
                let code = StallReason::ALL.iter().find(|r| r.name() == reason).unwrap();
                assert_eq!(signal("stall", *from), *code as u64, "{kernel}: {} from {from}", row.label);
                stalls += 1;
            }
        }
        let slices = slices.values().filter(|slice| slice["cat"] == "issue").count();
        assert!(issued == slices && accesses == memory.len(), "{kernel}: {issued}, {accesses}");
        assert!(accesses > 50 && stalls > 500 && cut * 2 < stalls, "{kernel}: {accesses}, {stalls}, {cut}");
    }
}

/// Changes of each waveform signal, as (time, bits).
pub fn waveform(path: &std::path::Path) -> BTreeMap<String, Vec<(u64, String)>> {
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
        let issue = record.stage(StageField::Issue);
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
        let [fetch, decode, issue, _, execute, _] = [0, 1, 2, 3, 4, 5];
        assert_eq!(of("fetching"), count(&|r| between(r.stages[fetch], r.stages[decode])), "cycle {cycle}");
        assert_eq!(of("buffered"), count(&|r| between(r.stages[decode], r.stages[issue])), "cycle {cycle}");
        assert_eq!(
            of("collecting"),
            count(&|r| between(r.stages[issue], r.stages[execute])),
            "cycle {cycle}"
        );
        let executing = count(&|r| between(r.stages[execute], r.cycle));
        assert_eq!(of("in_units") + of("in_lsu"), executing, "cycle {cycle}");
        assert_eq!(of("retiring"), count(&|r| r.cycle == cycle), "cycle {cycle}");
    }
}
