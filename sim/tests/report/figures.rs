//! The figures of a report against those that the same run prints, and against its retirement trace.

use super::page::Table;
use super::run::{Reported, report, report_in};
use super::scratch::Scratch;
use std::collections::BTreeMap;
use wave_sim::config::Config;
use wave_sim::gpu::{Gpu, RunOptions};
use wave_sim::isa::Inst;
use wave_sim::launch::Job;
use wave_sim::program::{Launch, Program};
use wave_sim::report::{Collector, Gathered};
use wave_sim::stats::SlotUse;

const USES: [&str; 13] = [
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
];

/// Kernels that between them use every level of memory, barriers, atomics, matrices, several launches and kernels.
const RUNS: [&str; 6] = [
    "sgemm --size small --config tiny",
    "histogram --size small --config gpu",
    "bfs --size small --config tiny",
    "mma_gemm --size small --config gpu",
    "mlp_layer --size small --config t4",
    "transpose_naive --size small --config mi300x",
];

fn bytes_in_caption(reported: &Reported) -> u64 {
    let caption = super::page::text(reported.page.one("figure#bandwidth figcaption p"));
    let words: Vec<&str> = caption.split(' ').collect();
    let place = words.iter().position(|&w| w == "more").expect("more bytes after the kernels");
    words[place - 1].replace(',', "").parse().unwrap()
}

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
    // What is dirty goes to memory after the kernel, outside the windows.
    let moved = sum("bandwidth", "bytes read") + sum("bandwidth", "bytes written");
    let all = reported.statistic("dram.read_bytes") + reported.statistic("dram.written_bytes");
    assert_eq!(moved + bytes_in_caption(reported), all, "{of}");
    assert!(moved > 0, "{of}");
}

/// The tables with all counters, one a kernel.
fn profiles(reported: &Reported) -> Vec<Table> {
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
            let somebody = USES.iter().filter(|&&slot_use| !["wave_limit", "empty"].contains(&slot_use));
            assert!(row[0] != "–" || somebody.clone().all(|slot_use| number(slot_use) == 0), "{of}: {row:?}");
        }
    }
    // The end of the code issues too, and is no wave instruction.
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

/// What a retirement trace says of the instructions at one pc.
#[derive(Default, Debug, PartialEq)]
struct Traced {
    issued: u64,
    lanes: u64,
    results: u64,
    cycles: u64,
    longest: u64,
    operand_cycles: u64,
}

/// Reads the text form of a trace, by pc.
fn traced(trace: &str) -> BTreeMap<String, Traced> {
    let mut found: BTreeMap<String, Traced> = BTreeMap::new();
    for line in trace.lines().filter(|line| line.starts_with('@')) {
        let mut words = line.split_whitespace();
        let cycle: u64 = words.next().unwrap()[1..].parse().unwrap();
        let fields: BTreeMap<&str, &str> = words.filter_map(|word| word.split_once('=')).collect();
        let number = |name: &str| fields.get(name).and_then(|n| n.parse::<u64>().ok());
        let mask = u64::from_str_radix(fields["effective"].trim_start_matches("0x"), 16).unwrap();
        let pc = u32::from_str_radix(fields["pc"].trim_start_matches("0x"), 16).unwrap();
        // A control instruction takes effect if a lane is active, whatever its guard.
        let control = ["halt", "break", "continue"].iter().any(|op| line.contains(op));
        let active = fields["active"].trim_start_matches(['0', 'x']);
        if mask == 0 && (active.is_empty() || !control) {
            continue;
        }
        let row = found.entry(format!("{pc:04x}")).or_default();
        row.issued += 1;
        row.lanes += u64::from(mask.count_ones());
        let issue = number("issue").unwrap();
        if let Some(operands) = number("operands") {
            row.operand_cycles += operands - issue;
            row.results += 1;
            row.cycles += cycle - issue;
            row.longest = row.longest.max(cycle - issue);
        }
    }
    found
}

#[test]
fn the_profile_agrees_with_the_retirement_trace() {
    for arguments in ["bitonic_sort --size small --config tiny", "hgemm --size small --config tiny"] {
        let scratch = Scratch::new();
        scratch.out(&format!("{arguments} --wvfi t.txt"));
        let trace = String::from_utf8(scratch.read("t.txt")).unwrap();
        let expected = traced(&trace);
        let reported = report_in(scratch, arguments);
        if reported.json["runs"][0]["launches"].as_array().unwrap().len() == 1 {
            windows_agree_with(&trace, &reported);
        }
        let mut rows = 0;
        for table in profiles(&reported) {
            for row in table.rows.iter().filter(|row| row[0] != "–" && row[1] != "end of the code") {
                let number = |head: &str| table.cell(&row[0], head).parse::<u64>().unwrap();
                let Some(expected) = expected.get(&row[0]) else { continue };
                let got = Traced {
                    issued: number("issued"),
                    lanes: number("lanes"),
                    results: number("results"),
                    cycles: number("cycles to results"),
                    longest: number("longest"),
                    operand_cycles: number("operand cycles"),
                };
                assert_eq!(&got, expected, "{arguments}: {row:?}");
                rows += 1;
            }
        }
        assert!(rows > 30, "{arguments}: {rows}");
    }
}

/// Instructions that issue in each window of a run of one launch. Sums alone would not tell one window from the next.
fn windows_agree_with(trace: &str, reported: &Reported) {
    let slots = reported.page.table("figure#issue-slots table");
    let records = trace.lines().filter(|line| line.starts_with('@'));
    let issues: Vec<u64> = records
        .map(|line| {
            line.split_whitespace().find_map(|word| word.strip_prefix("issue=")).unwrap().parse().unwrap()
        })
        .collect();
    let (issued, squashed) = (slots.numbers("issued"), slots.numbers("squashed"));
    let windows = slots.numbers("from").into_iter().zip(slots.numbers("to"));
    for (place, (from, to)) in windows.enumerate() {
        let here = issues.iter().filter(|issue| (from..to).contains(issue)).count() as u64;
        assert_eq!(issued[place] + squashed[place], here, "cycles {from} to {to}");
    }
}

const CHASE: &str = "\
.kernel chase
.registers 16
.workgroup_size 8, 1, 1
    mov_sr r1, sr_thread_id_x
    mov_imm r2, 7
    shl r3, r1, r2
    device_load_u32 r4, r3
    iadd r5, r1, r1
    iadd r6, r4, r5
    fdiv r7, r6, r6
    fadd r8, r7, r7
    device_store_u32 r3, r8
    halt
.end
";

/// One wave on an otherwise empty machine: what it waits for is known.
#[test]
fn a_wait_is_charged_to_who_waits_and_names_whom_it_waits_for() {
    let scratch = Scratch::with(&[("chase.wave", CHASE)]);
    let reported = report_in(scratch, "chase.wave --config tiny");
    let table = reported.page.table("table.counters");
    // The wave is alone: the cycles from the load's issue to its result are lost but for the one instruction between.
    let waited: u64 = table.cell("0020", "memory").parse().unwrap();
    let latency: u64 = table.cell("0014", "cycles to results").parse().unwrap();
    assert_eq!(table.cell("0020", "instruction"), "iadd r6, r4, r5");
    // Some of them before the instruction that waits has been fetched.
    let fetched: u64 = table.cell("0020", "fetch").parse().unwrap();
    assert!(waited > 20 && latency - waited - fetched <= 2, "{waited} and {fetched} of {latency}");
    assert_eq!(table.sum("memory"), waited, "nobody else waits for memory");
    // From its arrival to its end there is one wave, in every window.
    let waves = reported.page.table("figure#waves table");
    let cycles: Vec<u64> =
        waves.numbers("to").iter().zip(waves.numbers("from")).map(|(to, from)| to - from).collect();
    let resident = waves.numbers("wave cycles");
    let first = resident.iter().position(|&n| n > 0).unwrap();
    let last = resident.iter().rposition(|&n| n > 0).unwrap();
    assert!(last > first + 20 && resident[first + 1..last] == cycles[first + 1..last], "{resident:?}");
    let profile = reported.page.table("table.profile");
    assert_eq!(profile.cell("9", "waits for"), "line 7");
    assert_eq!(profile.cell("11", "waits for"), "line 10", "the addition waits for the division");
    // Lanes are 128 bytes apart: a line each.
    assert_eq!(table.cell("0014", "line accesses"), "8");
    let finding = super::page::text(reported.page.one("ol.findings > li.lsu"));
    assert!(finding.contains("device_load_u32 r4, r3 (line 7): 100 % of it"), "{finding}");
    assert!(finding.contains("8.00 lines each where 1.00 would do"), "{finding}");
}

/// The report and `explain` name the same causes with the same cycles, places and changes.
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
            let shown: f64 = shown.split(' ').next().unwrap().parse().unwrap();
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
            let cycles: f64 = cycles.parse().unwrap();
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
                let should = text.split("should take ").nth(1).unwrap();
                let should: f64 = should.split(' ').next().unwrap().parse().unwrap();
                assert!((should - predicted).abs() <= 0.56, "{arguments}: {text}, {limiter}");
                assert!(text.contains(&format!("({})", change["formula"].as_str().unwrap())), "{text}");
            }
        }
    }
}

/// What the report works out from counters, worked out again from the configuration and the tables.
#[test]
fn rates_follow_from_the_counters() {
    let machine = wave_sim::config::load("tiny.ron").unwrap();
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
    // The unit of the division also does the addition behind it; each holds it for its passes times the groups of lanes.
    let unit = |class: &str| {
        let of_class = |unit: &&wave_sim::config::Unit| unit.classes.iter().any(|c| c.class.name() == class);
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
    // The roofline: bytes of the windows, and the roof that they are under.
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

/// Gathers the report of some launches, with idle cycles skipped or every cycle visited.
fn gather<'a>(
    config: &'a Config,
    program: &'a Program,
    steps: &[Launch],
    memory: &[u8],
    every_cycle: bool,
) -> Gathered<'a> {
    let mut memory = memory.to_vec();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = Gpu::new(config, program, memory);
    let mut collector = Collector::new(config, program);
    let (_, captured) = collector.capture(false);
    for launch in steps {
        collector.start(launch, gpu.now());
        let options = RunOptions { every_cycle, ..RunOptions::UNBOUNDED };
        let ended = gpu.run(launch, &options, Some(&mut collector), &mut |_| {});
        collector.end(ended.as_ref());
    }
    collector.finish(&mut gpu, &captured)
}

fn of_the_suite(name: &str) -> Job {
    wave_sim::launch::load(name, wave_sim::launch::Size::Small).unwrap()
}

/// An addition needs what a division and a load that began after it bring.
const BOTH: &str = "\
.kernel both
.registers 16
.workgroup_size 8, 1, 1
    fdiv r9, r1, r1
    device_load_u32 r4, r3
    iadd r6, r9, r4
    halt
.end
";

/// Who waits for memory waits for an instruction that accesses it, and who waits for a unit for one that does not.
#[test]
fn every_wait_for_a_result_names_whose() {
    let launch = |kernel: usize, program: &Program| Launch {
        kernel,
        grid: [1; 3],
        workgroup: program.kernels[kernel].workgroup_size,
        registers: 16,
        local_memory_bytes: 0,
        initial_registers: Vec::new(),
    };
    let config = wave_sim::config::load("tiny.ron").unwrap();
    let both = wave_sim::program::assemble(BOTH, "both.wave").unwrap().0;
    let mut runs = vec![("both", both.clone(), vec![launch(0, &both)], Vec::new())];
    for name in ["spmv", "hgemm", "compact"] {
        let Job { program, steps, memory, .. } = of_the_suite(name);
        runs.push((name, program, steps, memory));
    }
    for (name, program, steps, memory) in runs {
        let gathered = gather(&config, &program, &steps, &memory, false);
        for (profile, kernel) in gathered.profiles().iter().zip(&program.kernels) {
            let accesses = |word: u32| {
                let inst = Inst::decode(&program.code[(kernel.code.start + word) as usize..]);
                inst.unwrap().op.memory().is_some()
            };
            let waits = |memory: bool| -> u64 {
                profile
                    .waits
                    .iter()
                    .filter(|((_, whose), _)| accesses(*whose) == memory)
                    .map(|(_, n)| n)
                    .sum()
            };
            let charged = |slot_use: SlotUse| -> u64 {
                profile.lines.iter().map(|line| line.slots[slot_use as usize]).sum()
            };
            assert!(charged(SlotUse::Memory) > 0, "{name}");
            assert_eq!(waits(true), charged(SlotUse::Memory), "{name}");
            assert_eq!(waits(false), charged(SlotUse::Scoreboard), "{name}");
        }
    }
}

#[test]
fn what_is_gathered_is_the_same_with_every_cycle_visited() {
    let config = wave_sim::config::load("tiny.ron").unwrap();
    for name in ["scan", "bfs"] {
        let Job { program, steps, memory, .. } = of_the_suite(name);
        let [skipping, visiting] =
            [false, true].map(|every| gather(&config, &program, &steps, &memory, every));
        assert_eq!(skipping.profiles(), visiting.profiles(), "{name}");
        assert_eq!(skipping.cores(), visiting.cores(), "{name}");
        let (a, b) = (skipping.windows.windows(), visiting.windows.windows());
        assert!((129..=257).contains(&a.len()), "{name}: {} windows", a.len());
        // In the cycles after a launch in which the cores take notice of its end, memory may go on.
        let whole = |w: &wave_sim::report::windows::Window| {
            (w.from, w.to, w.counts.core, w.counts.slots, w.counts.l1)
        };
        assert!(a.iter().map(whole).eq(b.iter().map(whole)), "{name}");
        assert_eq!(skipping.windows.total(), visiting.windows.total(), "{name}");
    }
}
