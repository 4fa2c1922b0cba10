//! Caches and memory over time: hit rates, MSHRs, bandwidths, rows.

use super::chart::{Chart, Column, Series, Style, bar, scroll};
use super::facts::Facts;
use super::windows::{Counts, Window};
use maud::{Markup, html};
use wave_machine::core::probe::Level;
use wave_observe::figures::ratio;
use wave_observe::numbers::{integer, percent, short};

/// A table column with one count per window.
fn column(name: &str, windows: &[Window], value: impl Fn(&Counts) -> u64) -> Column {
    Column { name: name.to_owned(), values: windows.iter().map(|w| value(&w.counts).to_string()).collect() }
}

/// `a / b` per window; none where `b` is 0.
fn share(windows: &[Window], a: impl Fn(&Counts) -> u64, b: impl Fn(&Counts) -> u64) -> Vec<Option<f64>> {
    windows.iter().map(|w| (b(&w.counts) > 0).then(|| ratio(a(&w.counts), b(&w.counts)))).collect()
}

fn l1_lookups(c: &Counts) -> u64 {
    c.l1.hits + c.l1.mshr_hits + c.l1.sector_misses + c.l1.misses
}

fn l2_lookups(c: &Counts) -> u64 {
    let l2 = &c.memory.l2;
    l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses
}

fn dram_requests(c: &Counts) -> u64 {
    let dram = &c.memory.dram;
    dram.row_hits + dram.row_empties + dram.row_conflicts
}

fn line(name: &'static str, class: &'static str, values: Vec<Option<f64>>) -> Series {
    Series { name, class, style: Style::Line, values }
}

fn area(name: &'static str, class: &'static str, values: Vec<Option<f64>>) -> Series {
    Series { name, class, style: Style::Area, values }
}

/// The section: outcomes of accesses at each level, then the charts.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    html! {
        (outcomes(facts))
        (hit_rates(facts))
        (mshrs(facts))
        (bandwidth(facts))
        (rows(facts))
        (network(facts))
    }
}

/// Outcomes of accesses at each level, as bars.
fn outcomes(facts: &Facts<'_>) -> Markup {
    let (l1, memory) = (&facts.report.l1, &facts.report.memory);
    let (l2, l3, dram) = (&memory.l2, &memory.l3, &memory.dram);
    // Outcome, CSS class, count.
    type Part = (&'static str, &'static str, u64);
    let cache = |hits, mshr_hits, sector_misses, misses| -> Vec<Part> {
        vec![
            ("hit", "good", hits),
            ("already on its way (MSHR hit)", "fair", mshr_hits),
            ("sectors missing", "poor", sector_misses),
            ("miss", "bad", misses),
        ]
    };
    let in_l1 = cache(l1.hits, l1.mshr_hits, l1.sector_misses, l1.misses);
    let in_l2 = cache(l2.hits, l2.mshr_hits, l2.sector_misses, l2.misses);
    let rows = vec![
        ("row open", "good", dram.row_hits),
        ("bank closed", "poor", dram.row_empties),
        ("other row open", "bad", dram.row_conflicts),
    ];
    let mut levels = vec![("L1", "loads and atomics that it looked up", in_l1), ("L2", "requests", in_l2)];
    if facts.config.l3.is_there() {
        let in_l3 = cache(l3.hits, l3.mshr_hits, l3.sector_misses, l3.misses);
        levels.push(("L3", "lines of the L2", in_l3));
    }
    levels.push(("DRAM rows", "requests of the memory channels", rows));
    html! {
        (scroll("Outcomes of accesses", html! { table.outcomes {
            caption { "What accesses met at each level, in " (facts.period()) }
            thead { tr {
                th scope="col" { "level" } th scope="col" { "outcome" } th scope="col" { "times" }
                th scope="col" { "share" }
            } }
            @for (level, of, outcomes) in &levels {
                @let all: u64 = outcomes.iter().map(|(_, _, n)| n).sum();
                tbody { @for (i, (name, class, n)) in outcomes.iter().enumerate() {
                    tr {
                        @if i == 0 {
                            th scope="rowgroup" rowspan=(outcomes.len()) {
                                (level) small { (integer(all)) " " (of) }
                            }
                        }
                        td { (name) }
                        td.number { (integer(*n)) }
                        td.number { (percent(ratio(*n, all))) (bar(ratio(*n, all), class)) }
                    }
                } }
            }
        } }))
    }
}

fn hit_rates(facts: &Facts<'_>) -> Markup {
    let w = &facts.windows;
    let has_l3 = facts.config.l3.is_there();
    let l3_lookups = |c: &Counts| c.memory.l3.reads + c.memory.l3.writes;
    let caption =
        "Of the accesses that a cache looked up, those that found everything there. Where there is no line, \
         nothing was looked up."
            .into();
    Chart {
        series: vec![
            line("L1", "l1", share(w, |c| c.l1.hits, l1_lookups)),
            line("L2", "l2", share(w, |c| c.memory.l2.hits, l2_lookups)),
        ]
        .into_iter()
        .chain(has_l3.then(|| line("L3", "dram", share(w, |c| c.memory.l3.hits, l3_lookups))))
        .collect(),
        columns: vec![
            column("L1 hits", w, |c| c.l1.hits),
            column("L1 lookups", w, l1_lookups),
            column("L2 hits", w, |c| c.memory.l2.hits),
            column("L2 lookups", w, l2_lookups),
        ]
        .into_iter()
        .chain(has_l3.then(|| column("L3 hits", w, |c| c.memory.l3.hits)))
        .chain(has_l3.then(|| column("L3 lookups", w, l3_lookups)))
        .collect(),
        ..Chart::of_parts(facts, "hit-rates", "Hit rates", caption)
    }
    .draw()
}

fn mshrs(facts: &Facts<'_>) -> Markup {
    let (w, config) = (&facts.windows, facts.config);
    let levels = [
        ("L1 MSHRs", "l1", Level::L1Mshrs, config.core.l1.mshrs * config.cores),
        ("L2 MSHRs", "l2", Level::L2Mshrs, config.l2.mshrs * config.l2.slices),
        ("load/store queues", "waves", Level::LsuQueue, config.core.lsu.queue_entries * config.cores),
        ("memory queues", "dram", Level::DramQueue, config.dram.queue_entries * config.dram.channels),
    ];
    let caption = "Entries in use, of all that the machine has, as an average of looks at regular times. A full one turns \
         away what comes next."
            .into();
    Chart {
        series: levels
            .iter()
            .map(|&(name, class, level, all)| {
                line(name, class, w.iter().map(|w| Some(w.counts.level(level) / f64::from(all))).collect())
            })
            .collect(),
        columns: levels
            .iter()
            .map(|&(name, _, level, all)| Column {
                name: format!("{name}, of {all}"),
                values: w.iter().map(|w| short(w.counts.level(level))).collect(),
            })
            .collect(),
        ..Chart::of_parts(facts, "queues", "Queues and MSHRs in use", caption)
    }
    .draw()
}

fn bandwidth(facts: &Facts<'_>) -> Markup {
    let w = &facts.windows;
    let peak = facts.dram_peak();
    let gigabytes = peak * f64::from(facts.config.core_clock_mhz) / 1000.0;
    let a_cycle = |value: fn(&Counts) -> u64| -> Vec<Option<f64>> {
        w.iter().map(|w| Some(ratio(value(&w.counts), w.to - w.from) / peak)).collect()
    };
    let caption = format!(
        "Bytes that the memory channels moved, of the {} that they can move in a core cycle ({} GB/s).",
        short(peak),
        short(gigabytes)
    );
    Chart {
        series: vec![
            area("read", "reads", a_cycle(|c| c.memory.dram.read_bytes)),
            area("written", "writes", a_cycle(|c| c.memory.dram.written_bytes)),
        ],
        columns: vec![
            column("bytes read", w, |c| c.memory.dram.read_bytes),
            column("bytes written", w, |c| c.memory.dram.written_bytes),
            column("memory clocks of the buses", w, |c| c.memory.dram.data_bus_busy_clocks),
        ],
        ..Chart::of_parts(facts, "bandwidth", "DRAM bandwidth", caption)
    }
    .draw()
}

fn rows(facts: &Facts<'_>) -> Markup {
    let w = &facts.windows;
    let caption = "Of the requests that a memory channel began to serve, those whose row was open, whose bank was closed, and \
         whose bank had another row open, which has to be closed first."
            .into();
    Chart {
        series: vec![
            area("row open", "good", share(w, |c| c.memory.dram.row_hits, dram_requests)),
            area("bank closed", "poor", share(w, |c| c.memory.dram.row_empties, dram_requests)),
            area("other row open", "bad", share(w, |c| c.memory.dram.row_conflicts, dram_requests)),
        ],
        columns: vec![
            column("row open", w, |c| c.memory.dram.row_hits),
            column("bank closed", w, |c| c.memory.dram.row_empties),
            column("other row open", w, |c| c.memory.dram.row_conflicts),
        ],
        ..Chart::of_parts(facts, "rows", "DRAM rows", caption)
    }
    .draw()
}

fn network(facts: &Facts<'_>) -> Markup {
    let w = &facts.windows;
    let peak = facts.l2_peak();
    let a_cycle = |value: fn(&Counts) -> u64| -> Vec<Option<f64>> {
        w.iter().map(|w| Some(ratio(value(&w.counts), w.to - w.from) / peak)).collect()
    };
    let caption = format!(
        "Bytes of packets, headers included, of the {} a cycle that the ports pass on in one direction.",
        short(peak)
    );
    Chart {
        series: vec![
            line("requests", "writes", a_cycle(|c| c.memory.interconnect.request_bytes)),
            line("replies", "reads", a_cycle(|c| c.memory.interconnect.reply_bytes)),
        ],
        columns: vec![
            column("bytes of requests", w, |c| c.memory.interconnect.request_bytes),
            column("bytes of replies", w, |c| c.memory.interconnect.reply_bytes),
        ],
        ..Chart::of_parts(facts, "network", "Between cores and L2", caption)
    }
    .draw()
}
