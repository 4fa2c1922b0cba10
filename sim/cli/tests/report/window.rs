//! Reports on a part of a run.

use super::against_trace::traced;
use super::figures::{USES, profiles};
use super::page::text;
use super::run::{Reported, report, report_in};
use super::scratch::{ADD, Scratch};
use std::collections::BTreeMap;

/// Statistics of a page, for its part of the run.
fn statistics(reported: &Reported) -> BTreeMap<String, u64> {
    let table = reported.page.table("table.statistics");
    let counters = table.rows.iter().filter(|row| !row[0].starts_with("figure."));
    counters.map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
}

/// Additive counters of each instruction, by kernel and pc.
fn counters(reported: &Reported) -> BTreeMap<(usize, String), Vec<u64>> {
    let mut found = BTreeMap::new();
    for (kernel, table) in profiles(reported).iter().enumerate() {
        let longest = table.heads.iter().position(|head| head == "longest").unwrap();
        for row in &table.rows {
            let numbers = row[2..longest].iter().map(|n| n.parse().unwrap_or(0)).collect();
            found.insert((kernel, row[0].clone()), numbers);
        }
    }
    found
}

fn add<K: Ord + Clone>(sum: &mut BTreeMap<K, Vec<u64>>, part: &BTreeMap<K, Vec<u64>>) {
    for (key, values) in part {
        let all = sum.entry(key.clone()).or_insert_with(|| vec![0; values.len()]);
        all.iter_mut().zip(values).for_each(|(all, n)| *all += n);
    }
}

/// The counters of all slices and channels add up to the statistics of the window.
fn parts_did_what_the_statistics_say(part: &Reported) {
    let (drawn, values) = (part.page.table("section#machine .data table"), statistics(part));
    let sum = |part: &str| -> u64 {
        let rows = drawn.rows.iter().filter(|row| row[0].starts_with(part));
        rows.map(|row| row[1].split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap()).sum()
    };
    let counted = |names: &[&str]| names.iter().map(|name| values[*name]).sum::<u64>();
    assert_eq!(sum("L2 slice"), counted(&["l2.reads", "l2.writes", "l2.atomics"]));
    assert_eq!(sum("memory channel"), counted(&["dram.read_bytes", "dram.written_bytes"]));
}

/// Consecutive parts of a run add up to the whole: every statistic, every counter of every instruction, the
/// counters of each core, slice, channel and link, and the windows of the charts.
#[test]
fn parts_of_a_run_add_up_to_all_of_it() {
    for (run, cuts) in [
        // One launch; two launches of a kernel; several kernels and launches with releases in between; links
        // between routers.
        ("reduction --size small --config tiny", vec![1, 2000, 2001]),
        ("bitonic_sort --size small --config tiny", vec![5000]),
        ("mlp_layer --size small --config t4", vec![1700]),
        ("histogram --size small --config mi300x", vec![1500]),
    ] {
        let whole = report(run);
        let mut ends = vec![0];
        ends.extend(cuts);
        let (mut sums, mut profile, mut slots) = (BTreeMap::new(), BTreeMap::new(), 0);
        let mut links = 0.0;
        for (place, from) in ends.iter().enumerate() {
            let to = ends.get(place + 1).map_or(String::new(), |to| format!("--to-cycle {to}"));
            let part = report(&format!("{run} --from-cycle {from} {to}"));
            let of = format!("{run}, from {from}");
            let values = statistics(&part);
            add(&mut sums, &values.iter().map(|(name, n)| (name.clone(), vec![*n])).collect());
            add(&mut profile, &counters(&part));
            let table = part.page.table("figure#issue-slots table");
            assert_eq!(table.numbers("from")[0], *from.max(&0), "{of}");
            let cycles: u64 =
                table.numbers("to").iter().sum::<u64>() - table.numbers("from").iter().sum::<u64>();
            assert_eq!(cycles, values["kernel.cycles"], "{of}");
            for name in USES {
                assert_eq!(table.sum(name), values[&format!("issue.{name}")], "{of}: {name}");
                slots += table.sum(name);
            }
            parts_did_what_the_statistics_say(&part);
            links += values.get("interconnect.link_busy_cycles").copied().unwrap_or(0) as f64;
            // Each figure has the value of the whole run next to it.
            let table = part.page.table("table.statistics");
            for row in &table.rows {
                assert_eq!(table.of(row, "whole run"), whole.page.statistic(&row[0]), "{of}: {}", row[0]);
            }
            let head = text(part.page.one("header"));
            assert!(head.contains(&format!("This report is about cycles {}", thousands(*from))), "{head}");
        }
        let expected: BTreeMap<String, Vec<u64>> =
            statistics(&whole).into_iter().map(|(name, n)| (name, vec![n])).collect();
        assert_eq!(sums, expected, "{run}");
        assert_eq!(profile, counters(&whole), "{run}");
        assert!(slots > 0 && links == expected["interconnect.link_busy_cycles"][0] as f64);
    }
}

fn thousands(n: u64) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
}

/// The issues in a window are those that the trace has there, instruction by instruction.
#[test]
fn a_window_has_what_the_retirement_trace_has_in_it() {
    for (run, from, to) in [
        ("hgemm --size small --config tiny", 800, 1200),
        ("spmv --size small --config tiny", 1001, 1300),
        ("transpose_padded --size small --config tiny", 0, 777),
    ] {
        let scratch = Scratch::new();
        scratch.out(&format!("{run} --wvfi t.txt"));
        let trace = String::from_utf8(scratch.read("t.txt")).unwrap();
        let within = |line: &&str| {
            let issue = line.split_whitespace().find_map(|word| word.strip_prefix("issue="));
            issue.is_some_and(|issue| (from..to).contains(&issue.parse::<u64>().unwrap()))
        };
        let part: Vec<&str> = trace.lines().filter(within).collect();
        let expected = traced(&part.join("\n"));
        let reported = report_in(scratch, &format!("{run} --from-cycle {from} --to-cycle {to}"));
        let (mut issued, mut rows) = (0, 0);
        for table in profiles(&reported) {
            for row in table.rows.iter().filter(|row| row[0] != "–" && row[1] != "end of the code") {
                let number = |head: &str| table.cell(&row[0], head).parse::<u64>().unwrap();
                let traced = expected.get(&row[0]).map_or((0, 0), |traced| (traced.issued, traced.lanes));
                assert_eq!((number("issued"), number("lanes")), traced, "{run}: {row:?}");
                issued += number("issued");
                rows += usize::from(traced.0 > 0);
            }
        }
        assert!(issued > 0 && rows > 2, "{run}: {issued} of {rows} instructions");
        let slots = reported.page.table("figure#issue-slots table");
        assert_eq!((slots.numbers("from")[0], *slots.numbers("to").last().unwrap()), (from, to), "{run}");
    }
}

/// The cycles around a trigger are known only when it fires. The report covers these cycles.
#[test]
fn a_trigger_makes_a_report_of_the_cycles_around_it() {
    let run = "spmv --size small --config tiny";
    let scratch = Scratch::new();
    scratch.out(&format!("{run} --trigger stall>200 --trigger-before 0 --trigger-after 0 --wvfi t.txt"));
    let trace = String::from_utf8(scratch.read("t.txt")).unwrap();
    let record = trace.lines().find(|line| line.starts_with('@')).unwrap();
    let fired: u64 = record[1..].split(' ').next().unwrap().parse().unwrap();
    assert!(fired > 300);
    let around =
        report_in(scratch, &format!("{run} --trigger stall>200 --trigger-before 150 --trigger-after 99"));
    let named = report(&format!("{run} --from-cycle {} --to-cycle {}", fired - 150, fired + 100));
    for table in ["figure#issue-slots table", "table.counters", "table.statistics", "figure#bandwidth table"]
    {
        assert_eq!(around.page.table(table).rows, named.page.table(table).rows, "{table}");
    }
    // A window given by the user restricts it.
    let within = report(&format!(
        "{run} --trigger stall>200 --trigger-before 150 --trigger-after 99 --from-cycle {} --to-cycle {}",
        fired - 60,
        fired + 40
    ));
    let slots = within.page.table("figure#issue-slots table");
    assert_eq!((slots.numbers("from")[0], *slots.numbers("to").last().unwrap()), (fired - 60, fired + 40));
    // Events before the window do not fire the trigger.
    let scratch = Scratch::new();
    let later =
        format!("{run} --trigger stall>200 --from-cycle {} --trigger-before 0 --trigger-after 9", fired + 1);
    scratch.out(&format!("{later} --wvfi t.txt"));
    let trace = String::from_utf8(scratch.read("t.txt")).unwrap();
    let record = trace.lines().find(|line| line.starts_with('@')).unwrap();
    let second: u64 = record[1..].split(' ').next().unwrap().parse().unwrap();
    let says = format!("around cycle {}, in which", thousands(second));
    let head = text(report_in(scratch, &later).page.one("header"));
    assert!(second > fired && head.contains(&says), "{head}");
    let head = text(around.page.one("header"));
    let says = format!("around cycle {}, in which stall>200 happened for the first time", thousands(fired));
    assert!(head.contains(&says), "{head}");
}

/// A kernel for workgroups of `threads` threads.
fn adds(threads: u32) -> String {
    let sized = ADD.replace("_size 16,", &format!("_size {threads},"));
    sized.replace("kernel add", &format!("kernel add{threads}"))
}

const LAUNCHES: &str = "(source: \"add.wave\",
  buffers: (x: (type: u32, length: 32), y: (type: u32, length: 32)),
  steps: [
    run(kernel: \"add16\", grid: 3, arguments: [\"x\", \"y\", 5]),
    run(kernel: \"add32\", grid: 3, arguments: [\"x\", \"y\", 5]),
    run(kernel: \"add24\", grid: 3, arguments: [\"x\", \"y\", 5]),
  ],
)";

/// The text about a launch refers to one in the window, and cycles between launches belong to none.
#[test]
fn a_window_is_about_the_launches_in_it() {
    let kernels = [16, 32, 24].map(adds).concat();
    let scratch = || Scratch::with(&[("add.wave", &kernels), ("three.ron", LAUNCHES)]);
    let of = |window: &str| {
        report_in(
            scratch(),
            &format!("three.ron --config tiny --set dispatcher.release_scope=system {window}"),
        )
    };
    let whole = of("");
    let launches = whole.page.table("table.launches");
    let cycles = launches.numbers("cycles");
    assert_eq!(cycles.len(), 3);
    let traced = scratch();
    traced.out("three.ron --config tiny --set dispatcher.release_scope=system --wvfi t.txt");
    let trace = String::from_utf8(traced.read("t.txt")).unwrap();
    let starts: Vec<u64> = trace
        .lines()
        .filter(|line| line.starts_with("launch "))
        .map(|line| line.split(" start=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(
        starts,
        [0, cycles[0], cycles[0] + cycles[1]],
        "a launch starts when the one before it is over"
    );
    let release = launches.numbers("of which release")[0];
    assert!(release > 4, "{release}");
    for (window, threads, launches) in [
        (format!("--to-cycle {}", cycles[0] - release - 2), 16, 0..1),
        (format!("--to-cycle {}", cycles[0] - release / 2), 16, 0..1),
        (format!("--to-cycle {}", cycles[0]), 16, 0..1),
        (format!("--from-cycle {} --to-cycle {}", starts[1] + 1, starts[2] - 1), 32, 1..2),
        (format!("--from-cycle {}", starts[2]), 24, 2..3),
        (format!("--from-cycle {} --to-cycle {}", starts[1], starts[2]), 32, 1..2),
    ] {
        let part = of(&window);
        let says = text(part.page.one("section#occupancy"));
        assert!(says.contains(&format!("A workgroup of {threads} threads")), "{window}: {says}");
        parts_did_what_the_statistics_say(&part);
        let whole: u64 = cycles[launches].iter().sum();
        assert!(statistics(&part)["kernel.cycles"] <= whole, "{window}");
    }
    // A part of a release belongs to the launch that it ends.
    for into in [0, 1, release - 1] {
        let from = starts[1] - into;
        let second = of(&format!("--from-cycle {from} --to-cycle {}", starts[2]));
        assert_eq!(second.page.table("figure#issue-slots table").numbers("from")[0], from, "{into}");
        let of_second = launches.numbers("of which release")[1];
        let statistics = statistics(&second);
        assert_eq!(statistics["kernel.cycles"], cycles[1] + into, "{into}");
        assert_eq!(statistics["kernel.release_cycles"], of_second + into, "{into}");
    }
}

#[test]
fn a_window_chooses_what_the_pipeline_shows() {
    let window =
        report("reduction --size small --config tiny --from-cycle 2000 --to-cycle 7000 --waves 0-100:1");
    let shown = window.page.table("figure#pipeline-first .data table");
    assert!(shown.numbers("end").iter().all(|end| (2000..7000).contains(end)), "{:?}", shown.numbers("end"));
    assert!(shown.rows.len() > 10 && shown.rows.iter().all(|row| row[0].ends_with("wave 1")));
    let wide = report("reduction --size small --config tiny --from-cycle 2000 --to-cycle 7000");
    for page in [&window.page, &wide.page] {
        assert!(page.all("figure#pipeline-later").is_empty());
    }
    // Figures count all waves, and the page says so.
    for table in ["figure#issue-slots table", "table.counters", "table.statistics"] {
        assert_eq!(wide.page.table(table).rows, window.page.table(table).rows, "{table}");
    }
    assert!(text(window.page.one("header")).contains("All figures are those of all waves"));
    assert!(!text(wide.page.one("header")).contains("all waves"));
}

/// A part in which all waves wait has a report although no instruction retires in it. Cycles after the end
/// have none.
#[test]
fn cycles_in_which_nothing_retires_have_a_report() {
    let run = "pointer_chase --size small --config tiny";
    let scratch = Scratch::new();
    scratch.out(&format!("{run} --wvfi t.txt"));
    let trace = String::from_utf8(scratch.read("t.txt")).unwrap();
    let retired: Vec<u64> = trace
        .lines()
        .filter(|line| line.starts_with('@'))
        .map(|line| line[1..].split(' ').next().unwrap().parse().unwrap())
        .collect();
    let quiet = retired.windows(2).find(|pair| pair[1] - pair[0] > 20).expect("a quiet stretch");
    let (from, to) = (quiet[0] + 1, quiet[1]);
    let reported = report_in(scratch, &format!("{run} --from-cycle {from} --to-cycle {to}"));
    assert_eq!(statistics(&reported)["kernel.cycles"], to - from);
    // A trace of these cycles would be empty.
    let ran = reported
        .scratch
        .run(&format!("{run} --from-cycle {from} --to-cycle {to} --report q.html --wvfi q.wvfi"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(!reported.scratch.path("q.html").exists());
}
