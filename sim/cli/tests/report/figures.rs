//! The figures of a report compared with those printed by the same run.

use super::against_trace::CHASE;
use super::page::Table;
use super::run::{Reported, report, report_in};
use super::scratch::Scratch;

pub(crate) const USES: [&str; 14] = [
    "issued",
    "squashed",
    "operand",
    "unit",
    "lsu",
    "scoreboard",
    "memory",
    "fence",
    "branch",
    "fetch",
    "barrier",
    "wave_limit",
    "empty",
    "release",
];

/// Kernels that together use every level of memory, barriers, atomics, matrices, and several launches and
/// kernels.
const RUNS: [&str; 6] = [
    "sgemm --size small --config tiny",
    "histogram --size small --config gpu",
    "bfs --size small --config tiny",
    "mma_gemm --size small --config gpu",
    "mlp_layer --size small --config t4",
    "transpose_naive --size small --config mi300x",
];

fn windows_agree(reported: &Reported, of: &str) {
    let page = &reported.page;
    let slots = page.table("figure#issue-slots table");
    let (from, to) = (slots.numbers("from"), slots.numbers("to"));
    assert_eq!(from[0], 0, "{of}");
    assert_eq!(from[1..], to[..to.len() - 1], "{of}: windows without gaps");
    assert_eq!(*to.last().unwrap(), reported.statistic("kernel.cycles"), "{of}");
    let total: u64 = USES.iter().map(|name| reported.statistic(&format!("issue.{name}"))).sum();
    let per_cycle = total / reported.statistic("kernel.cycles");
    for name in USES {
        assert_eq!(slots.sum(name), reported.statistic(&format!("issue.{name}")), "{of}: {name}");
    }
    let columns: Vec<Vec<u64>> = USES.iter().map(|name| slots.numbers(name)).collect();
    for (place, (from, to)) in from.iter().zip(&to).enumerate() {
        let sum: u64 = columns.iter().map(|column| column[place]).sum();
        assert_eq!(sum, (to - from) * per_cycle, "{of}: window {from} to {to}");
    }
    let sum = |chart: &str, column: &str| page.table(&format!("figure#{chart} table")).sum(column);
    for (chart, column, names) in [
        ("waves", "wave cycles", &["core.resident_wave_cycles"] as &[_]),
        ("hit-rates", "L1 hits", &["l1.hits"]),
        ("hit-rates", "L1 lookups", &["l1.hits", "l1.mshr_hits", "l1.sector_misses", "l1.misses"]),
        ("hit-rates", "L2 hits", &["l2.hits"]),
        ("hit-rates", "L2 lookups", &["l2.hits", "l2.mshr_hits", "l2.sector_misses", "l2.misses"]),
        ("network", "bytes of requests", &["interconnect.request_bytes"]),
        ("network", "bytes of replies", &["interconnect.reply_bytes"]),
    ] {
        let expected: u64 = names.iter().map(|name| reported.statistic(name)).sum();
        assert_eq!(sum(chart, column), expected, "{of}: {chart}, {column}");
    }
    let moved = sum("bandwidth", "bytes read") + sum("bandwidth", "bytes written");
    let all = reported.statistic("dram.read_bytes") + reported.statistic("dram.written_bytes");
    assert_eq!(moved, all, "{of}");
    assert!(moved > 0, "{of}");
}

/// The tables of all counters, one per kernel.
pub(crate) fn profiles(reported: &Reported) -> Vec<Table> {
    reported.page.all("table.counters").into_iter().map(super::page::table).collect()
}

fn profile_agrees(reported: &Reported, of: &str) {
    let tables = profiles(reported);
    let sum = |column: &str| tables.iter().map(|table| table.sum(column)).sum::<u64>();
    for name in USES {
        assert_eq!(sum(name), reported.statistic(&format!("issue.{name}")), "{of}: {name}");
    }
    for (column, name) in [
        ("lanes", "core.lane_instructions"),
        ("line accesses", "core.line_accesses"),
        ("L1 hits", "l1.hits"),
        ("L1 MSHR hits", "l1.mshr_hits"),
        ("L1 sector misses", "l1.sector_misses"),
        ("L1 misses", "l1.misses"),
        ("L1 rejections", "l1.reservation_fails"),
        ("cycles rejected", "l1.reservation_fail_cycles"),
        ("local accesses", "core.local_accesses"),
        ("local passes", "core.local_passes"),
    ] {
        assert_eq!(sum(column), reported.statistic(name), "{of}: {column}");
    }
    for table in &tables {
        for row in &table.rows {
            let number = |head: &str| table.of(row, head).parse::<u64>().unwrap();
            let name = row[1]
                .trim_start_matches("@!")
                .trim_start_matches("@p")
                .trim_start_matches(['0', '1', '2', '3', ' ', 'p']);
            let holds_up = [
                "if", "else", "endif", "loop", "endloop", "break", "continue", "call", "return", "halt",
                "wait", "barrier",
            ];
            let holds_up = holds_up.contains(&name.split(' ').next().unwrap()) || name.starts_with("fence");
            assert!(holds_up || number("branch") == 0, "{of}: in the shadow of {row:?}");
            assert!(name == "barrier" || number("barrier") == 0, "{of}: at {row:?}");
            let somebody =
                USES.iter().filter(|&&slot_use| !["wave_limit", "empty", "release"].contains(&slot_use));
            assert!(row[0] != "–" || somebody.clone().all(|slot_use| number(slot_use) == 0), "{of}: {row:?}");
        }
    }
    // The end of the code issues, but is not a wave instruction.
    let ends: u64 = tables
        .iter()
        .flat_map(|table| table.rows.iter().filter(|row| row[1] == "end of the code"))
        .map(|row| row[2].parse::<u64>().unwrap())
        .sum();
    assert_eq!(sum("issued") - ends, reported.statistic("core.wave_instructions"), "{of}");
}

#[test]
fn every_sum_is_the_statistic() {
    for arguments in RUNS {
        let reported = report(arguments);
        windows_agree(&reported, arguments);
        profile_agrees(&reported, arguments);
        let total = &reported.json["runs"][0]["total"];
        for (name, value) in total["statistics"].as_object().unwrap() {
            assert_eq!(reported.page.statistic(name), value.to_string(), "{arguments}: {name}");
        }
        for (name, value) in total["figures"].as_object().unwrap() {
            let shown: f64 = reported.page.statistic(name).parse().unwrap();
            assert!((shown - value.as_f64().unwrap()).abs() < 0.06, "{arguments}: {name}");
        }
    }
}

#[test]
fn a_report_changes_nothing_and_is_the_same_every_time() {
    for arguments in [RUNS[0], RUNS[2]] {
        let scratch = Scratch::new();
        let plain = scratch.out(&format!("{arguments} --stats"));
        let reported = scratch.out(&format!("{arguments} --stats --report a.html --wvfi a.wvfi"));
        assert_eq!(plain, reported, "{arguments}");
        scratch.out(&format!("{arguments} --report b.html"));
        scratch.out(&format!("{arguments} --wvfi b.wvfi"));
        assert!(scratch.read("a.html") == scratch.read("b.html"), "{arguments}");
        assert!(scratch.read("a.wvfi") == scratch.read("b.wvfi"), "{arguments}: the trace beside it");
    }
}

/// The report and `explain` give the same causes with the same cycles, places and changes.
#[test]
fn it_says_what_limits_the_kernel_as_explain_does() {
    for arguments in RUNS.into_iter().chain(["crc32 --size small --config gpu --set core.l1.mshrs=2"]) {
        let reported = report(arguments);
        let explained = reported.scratch.out(&format!("explain {arguments} --no-check --format json"));
        let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
        let explanation = &explained["explanations"][0];
        let limiters = explanation["limiters"].as_array().unwrap();
        let findings = reported.page.all("ol.findings > li");
        assert_eq!((limiters.len(), findings.len()), (3, 3), "{arguments}");
        let section = super::page::text(reported.page.one("#limits"));
        let sum: f64 = explanation["device_memory"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["cycles"].as_f64().unwrap())
            .sum();
        if let Some(shown) = section.split("Device memory in all: ").nth(1) {
            let shown: f64 = shown.split(' ').next().unwrap().replace(',', "").parse().unwrap();
            assert!((shown - sum).abs() < 1.0, "{arguments}: {shown}, {sum}");
        } else {
            assert!(20.0 * sum < explanation["cycles"].as_f64().unwrap() + 20.0, "{arguments}: {sum}");
        }
        for (limiter, finding) in limiters.iter().zip(findings) {
            let number = |value: &serde_json::Value| value.as_f64().unwrap();
            let share = 100.0 * number(&limiter["cycles"]) / number(&explanation["cycles"]);
            let title = super::page::text(super::page::all(finding, "h3")[0]);
            let (name, costs) = title.split_once(": ").unwrap();
            let (cycles, percent) = costs.split_once(" cycles, ").unwrap();
            assert_eq!(name, limiter["name"], "{arguments}");
            let percent: f64 = percent.strip_suffix(" %").unwrap().parse().unwrap();
            let cycles: f64 = cycles.replace(',', "").parse().unwrap();
            assert!((cycles - number(&limiter["cycles"])).abs() <= 0.56, "{arguments}: {title}, {limiter}");
            assert!((percent - share).abs() <= 0.51, "{arguments}: {title}, {limiter}");
            let text = super::page::text(finding);
            for place in limiter["at"].as_array().unwrap() {
                assert!(
                    text.contains(place["instruction"].as_str().unwrap()),
                    "{arguments}: {text}, {limiter}"
                );
            }
            let advice = limiter["kernel"].as_str().unwrap();
            assert!(text.contains(advice), "{arguments}: {text}, {limiter}");
            let flags: Vec<String> = text
                .split("--set ")
                .skip(1)
                .map(|rest| rest.split(' ').next().unwrap().trim_matches('\'').to_owned())
                .collect();
            let change = &limiter["change"];
            let set = change["set"].as_array().map(|set| set.iter().map(|s| s.as_str().unwrap()).collect());
            assert_eq!(flags, set.unwrap_or_else(Vec::new), "{arguments}: {text}");
            if let Some(predicted) = change["predicted_cycles"].as_f64() {
                let should = text.split("should save ").nth(1).unwrap();
                let should: f64 = should.split(' ').next().unwrap().replace(',', "").parse().unwrap();
                assert!((should - predicted).abs() <= 0.56, "{arguments}: {text}, {limiter}");
                assert!(text.contains(&format!("({})", change["formula"].as_str().unwrap())), "{text}");
            }
        }
    }
}

/// Recomputes figures of the report from the configuration and the tables.
#[test]
fn rates_follow_from_the_counters() {
    let machine = wave_machine::config::load("tiny.ron").unwrap();
    let scratch = Scratch::with(&[("chase.wave", CHASE)]);
    let reported = report_in(scratch, "chase.wave --config tiny --workgroup 64");
    let page = &reported.page;
    let cycles = reported.statistic("kernel.cycles") as f64;
    let cores = f64::from(machine.cores);
    let share = |part: &str| -> f64 {
        let cell = page.table("table.busy").cell(part, "in use").to_owned();
        cell.trim_start_matches("< ").trim_end_matches(" %").parse().unwrap()
    };
    let counters = page.table("table.counters");
    let issued = |pc: &str| counters.cell(pc, "issued").parse::<f64>().unwrap();
    // The division's unit also executes the addition after it. Each instruction occupies it for passes times
    // lane groups.
    let unit = |class: &str| {
        let of_class =
            |unit: &&wave_machine::config::Unit| unit.classes.iter().any(|c| c.class.name() == class);
        let unit = machine.core.units.iter().find(of_class).unwrap();
        let passes = unit.classes.iter().find(|c| c.class.name() == class).unwrap().passes;
        (unit.name.clone(), f64::from(passes * machine.core.wave_width.div_ceil(unit.lanes)))
    };
    let ((name, divide), (same, add)) = (unit("fp32_div"), unit("fp32"));
    assert_eq!(name, same);
    let held = issued("0028") * divide + issued("0030") * add;
    let schedulers = f64::from(machine.core.schedulers);
    let expected = 100.0 * held / (cycles * cores * schedulers);
    assert!(expected > 1.0 && (share(&format!("{name} units")) - expected).abs() < 0.06, "{expected}");
    let lines = reported.statistic("core.line_accesses") as f64;
    assert!((share("L1 ports") - 100.0 * lines / (cycles * cores)).abs() < 0.06);
    let busy = page.table("figure#bandwidth table").sum("memory clocks of the buses") as f64;
    let clocks = cycles * f64::from(machine.dram.clock_mhz) / f64::from(machine.core_clock_mhz);
    let channels = f64::from(machine.dram.channels);
    assert!((share("memory channels") - 100.0 * busy / (clocks * channels)).abs() < 0.06);
    // The roofline: bytes of the windows, and the roof that applies.
    let windows = page.table("figure#bandwidth table");
    let roof = page.table("#roofline table");
    let bytes = windows.sum("bytes read") + windows.sum("bytes written");
    assert_eq!(roof.rows[0][1].replace(',', ""), bytes.to_string());
    let peak = channels * f64::from(machine.dram.bus_bits * machine.dram.transfers_per_clock) / 8.0
        * f64::from(machine.dram.clock_mhz)
        / f64::from(machine.core_clock_mhz);
    let shown: f64 = roof.rows[0][3].parse().unwrap();
    assert!((shown - peak).abs() < 0.06, "{shown}, {peak}");
    let instructions = reported.statistic("core.wave_instructions") as f64;
    let slots = cores * schedulers * f64::from(machine.core.issue.width);
    let lowest = (instructions / bytes as f64 * peak).min(slots);
    let reached: f64 = roof.rows[0][6].trim_end_matches(" %").parse().unwrap();
    assert!((reached - 100.0 * instructions / cycles / lowest).abs() < 0.06, "{reached}");
}
