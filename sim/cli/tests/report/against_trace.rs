//! The figures of a report compared with the retirement trace of the same run.

use super::figures::profiles;
use super::run::{Reported, report_in};
use super::scratch::Scratch;
use std::collections::BTreeMap;

/// Sums of a retirement trace over the instructions at one pc.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Traced {
    pub issued: u64,
    pub lanes: u64,
    results: u64,
    cycles: u64,
    longest: u64,
    operand_cycles: u64,
}

/// Reads the text form of a trace. Sums by pc.
pub(crate) fn traced(trace: &str) -> BTreeMap<String, Traced> {
    let mut found: BTreeMap<String, Traced> = BTreeMap::new();
    for line in trace.lines().filter(|line| line.starts_with('@')) {
        let mut words = line.split_whitespace();
        let cycle: u64 = words.next().unwrap()[1..].parse().unwrap();
        let fields: BTreeMap<&str, &str> = words.filter_map(|word| word.split_once('=')).collect();
        let number = |name: &str| fields.get(name).and_then(|n| n.parse::<u64>().ok());
        let mask = u64::from_str_radix(fields["effective"].trim_start_matches("0x"), 16).unwrap();
        let pc = u32::from_str_radix(fields["pc"].trim_start_matches("0x"), 16).unwrap();
        // A control instruction takes effect if a lane is active, even if its guard is false.
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

/// Compares the instructions that issue in each window of a single-launch run. Sums alone would not
/// distinguish the windows.
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

pub(crate) const CHASE: &str = "\
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

/// One wave alone on the machine, so its waits are known.
#[test]
fn a_wait_is_charged_to_who_waits_and_names_whom_it_waits_for() {
    let scratch = Scratch::with(&[("chase.wave", CHASE)]);
    let reported = report_in(scratch, "chase.wave --config tiny");
    let table = reported.page.table("table.counters");
    // The wave is alone: the cycles from the issue of the load to its result are lost, except one for the
    // instruction in between.
    let waited: u64 = table.cell("0020", "memory").parse().unwrap();
    let latency: u64 = table.cell("0014", "cycles to results").parse().unwrap();
    assert_eq!(table.cell("0020", "instruction"), "iadd r6, r4, r5");
    // Some of them come before the waiting instruction is fetched.
    let fetched: u64 = table.cell("0020", "fetch").parse().unwrap();
    assert!(waited > 20 && latency - waited - fetched <= 2, "{waited} and {fetched} of {latency}");
    assert_eq!(table.sum("memory"), waited, "nobody else waits for memory");
    // One wave from arrival to end, in every window.
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
    // Lanes are 128 bytes apart, so each touches its own line.
    assert_eq!(table.cell("0014", "line accesses"), "8");
    let finding = super::page::text(reported.page.one("ol.findings > li.lsu"));
    assert!(finding.contains("device_load_u32 r4, r3 (line 7): 100 % of it"), "{finding}");
    assert!(finding.contains("8.00 lines each where 1.00 would do"), "{finding}");
}
