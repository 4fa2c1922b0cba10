//! What the report advises is true where it says so.

use super::page::text;
use super::run::{report, report_in};
use super::scratch::Scratch;

/// Each load needs the one before, and finds its line in the L1: nothing is busy, and waves wait.
const CHAIN: &str = "\
.kernel chain
.registers 16
.local_memory LOCAL
.workgroup_size 256, 1, 1
    mov_imm r1, 0
    mov_imm r2, 20
    mov_imm r3, 1
    loop
    device_load_u32 r1, r1
    isub r2, r2, r3
    ucmp_eq p0, r2, r4
    break p0
    endloop
    halt
.end
";

/// What the report says of the limits of the chain, with so much local memory and so many workgroups.
fn says(local: u32, grid: u32) -> String {
    let scratch = Scratch::with(&[("chain.wave", &CHAIN.replace("LOCAL", &local.to_string()))]);
    let flags = format!("chain.wave --config gpu --set core.l1.hit_latency_cycles=400 --grid {grid}");
    let limits = text(report_in(scratch, &flags).page.one("#limits"));
    assert!(limits.contains("there is room"), "{limits}");
    limits
}

#[test]
fn more_waves_are_advised_only_where_there_can_be_more() {
    let taken = "more waves do not fit, as all 32 wave slots of a core are taken";
    let grid = "so do more waves: launch more workgroups";
    let local = "so do more waves: use less local memory";
    for (bytes, workgroups, holds) in [(0, 256, taken), (0, 16, grid), (32_768, 256, local)] {
        let says = says(bytes, workgroups);
        for sentence in [taken, grid, local] {
            assert_eq!(says.contains(sentence), sentence == holds, "{bytes} {workgroups}: {says}");
        }
    }
}

/// Launches that are alike share a row, and what limits each is said where a reader begins.
#[test]
fn launches_stand_at_the_top_with_what_limits_them() {
    let reported = report("bfs --size small --config gpu");
    let page = &reported.page;
    let sections: Vec<_> = page.all("main > section").iter().map(|s| s.attribute("id").unwrap()).collect();
    assert_eq!(sections[..2], ["limits", "launches"]);
    let table = page.table("table.launches");
    let launches = reported.json["runs"][0]["launches"].as_array().unwrap().len();
    assert!(table.rows.len() > 1 && table.rows.len() < launches, "{} rows", table.rows.len());
    assert_eq!(table.sum("cycles"), reported.statistic("kernel.cycles"));
    assert_eq!(table.sum("of which release"), reported.statistic("kernel.release_cycles"));
    let explained = reported.scratch.out("explain bfs --size small --config gpu --no-check --format json");
    let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
    let first = &explained["explanations"][0]["launches"][0]["limiters"][0]["name"];
    let row = &table.rows[0];
    assert!(table.of(row, "limited by").starts_with(first.as_str().unwrap()), "{row:?}, {first}");
}
