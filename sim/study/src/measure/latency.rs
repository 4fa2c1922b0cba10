//! Load-to-use latency by footprint: a pointer chase over a random cycle of lines.

use super::channel::{Channels, RowState};
use super::expected::{self, Ways};
use super::kernel::{Accesses, Kernel};
use super::plot::{Plot, Series};
use super::{Figure, Listener, Rule, Section, Topic};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use wave_machine::clock::Cycle;
use wave_machine::config::{Config, ReplacementPolicy};
use wave_observe::numbers::size;

/// Laps of the chase; the last one is measured. The two laps before it evict the kernel's own code from the
/// sets of the L2.
const LAPS: usize = 3;

/// The first footprint, if the L1 is at least as large.
const SMALLEST: u64 = 256;

/// The level that serves every load of a footprint under least-recently-used replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    L1,
    L2,
    L3,
    Memory,
}

impl Level {
    const ALL: [Level; 4] = [Level::L1, Level::L2, Level::L3, Level::Memory];

    fn name(self) -> &'static str {
        match self {
            Level::L1 => "L1",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::Memory => "memory",
        }
    }
}

/// Bytes of a cache, and the bytes at which every set has one line more than it has ways.
fn capacity(bytes: u64, line: u64, ways: u32) -> (u64, u64) {
    let sets = bytes / line / u64::from(ways);
    (sets * u64::from(ways) * line, sets * (u64::from(ways) + 1) * line)
}

fn l1(config: &Config) -> (u64, u64) {
    let l1 = &config.core.l1;
    capacity(u64::from(l1.bytes), u64::from(l1.line_bytes), l1.ways)
}

fn l2(config: &Config) -> (u64, u64) {
    let l2 = &config.l2;
    let (fits, over) = capacity(u64::from(l2.slice_bytes), u64::from(config.core.l1.line_bytes), l2.ways);
    (fits * u64::from(l2.slices), over * u64::from(l2.slices))
}

/// Those of an L3, which without one are those of the L2.
fn l3(config: &Config) -> (u64, u64) {
    let (l3, banks) = (&config.l3, u64::from(config.l3.banks(&config.dram)));
    if banks == 0 {
        return l2(config);
    }
    let (fits, over) = capacity(u64::from(l3.bank_bytes), u64::from(config.core.l1.line_bytes), l3.ways);
    (fits * banks, over * banks)
}

/// The level that serves every load if lines fill the sets evenly. `None` if levels mix, which also happens
/// beyond the size of a cache that does not replace the least recently used line.
fn level(config: &Config, footprint: u64) -> Option<Level> {
    let ((l1, l1_over), (l2, l2_over), (l3, l3_over)) = (l1(config), l2(config), l3(config));
    let lru = |replacement| replacement == ReplacementPolicy::Lru;
    match footprint {
        f if f <= l1 => Some(Level::L1),
        f if f < l1_over || !lru(config.core.l1.replacement) => None,
        f if f <= l2 => Some(Level::L2),
        f if f < l2_over || !lru(config.l2.replacement) => None,
        f if f <= l3 => Some(Level::L3),
        f if f < l3_over || config.l3.is_there() && !lru(config.l3.replacement) => None,
        _ => Some(Level::Memory),
    }
}

/// The footprints to measure: powers of two, the size of each cache, and the smallest size at which a cyclic
/// walk no longer hits in it; as far as device memory goes.
pub(super) fn footprints(config: &Config) -> Vec<u64> {
    let (l1, l1_over) = l1(config);
    let (l2, l2_over) = l2(config);
    let (l3, l3_over) = l3(config);
    let largest = l3_over.max(l2_over).max(l1_over);
    let mut sizes: Vec<u64> = (0..33).map(|bits| 1 << bits).filter(|&size| size < 4 * largest).collect();
    sizes.retain(|&size| size <= 2 * largest);
    sizes.extend([l1, l1_over, l2, l2_over, l3, l3_over]);
    let line = u64::from(config.core.l1.line_bytes);
    sizes.retain(|&size| {
        size >= SMALLEST.max(2 * line) && size <= config.device_memory_bytes && level(config, size).is_some()
    });
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Loads of the last lap.
struct Lap {
    footprint: u64,
    level: Level,
    measured: Vec<Cycle>,
    /// Expected cycles of each load, and the state of its row.
    expected: Vec<(Cycle, Option<RowState>)>,
}

impl Lap {
    fn figure(&self, what: String, note: String, of: impl Fn(Option<RowState>) -> bool) -> Option<Figure> {
        let pairs: Vec<(Cycle, Cycle)> = self
            .measured
            .iter()
            .zip(&self.expected)
            .filter(|(_, (_, state))| of(*state))
            .map(|(&m, &(e, _))| (m, e))
            .collect();
        if pairs.is_empty() {
            return None;
        }
        let mean = |sum: Cycle| sum as f64 / pairs.len() as f64;
        let least = pairs.iter().map(|p| p.0).min().unwrap_or_default();
        let most = pairs.iter().map(|p| p.0).max().unwrap_or_default();
        let range = if least == most { format!("all {least}") } else { format!("{least} to {most}") };
        Some(Figure {
            what,
            measured: mean(pairs.iter().map(|p| p.0).sum()),
            expected: Some(mean(pairs.iter().map(|p| p.1).sum())),
            unit: "cycles",
            rule: Rule::Exact,
            off: pairs.iter().filter(|(m, e)| m != e).count() as u64,
            note: format!("{} loads, {range}{note}", pairs.len()),
        })
    }

    fn mean(&self) -> f64 {
        self.measured.iter().sum::<Cycle>() as f64 / self.measured.len().max(1) as f64
    }

    /// True if its level serves the footprint as expected.
    fn is_plateau(&self) -> bool {
        self.measured.iter().zip(&self.expected).all(|(m, (e, _))| m == e)
    }
}

/// A cyclic order of lines, drawn with Sattolo's algorithm: the successor of each line.
pub(crate) fn successors(lines: u32) -> Vec<u32> {
    let mut random = Pcg32::seed_from_u64(u64::from(lines));
    let mut next: Vec<u32> = (0..lines).collect();
    for i in (1..lines).rev() {
        next.swap(i as usize, random.random_range(0..i) as usize);
    }
    next
}

/// Runs the chase over a footprint. `formulas` is the machine whose cycles are expected.
fn chase(
    config: &Config,
    formulas: &Config,
    footprint: u64,
    level: Level,
    progress: &mut dyn Listener,
) -> Result<Lap, String> {
    let line = u64::from(config.core.l1.line_bytes);
    let lines = (footprint / line) as u32;
    let next = successors(lines);
    let mut memory = vec![0; config.device_memory_bytes as usize];
    for (i, &to) in next.iter().enumerate() {
        let at = i * line as usize;
        memory[at..at + 4].copy_from_slice(&(to * line as u32).to_le_bytes());
    }
    // r0: address; r1: iterations left; r2: one; r3: zero. The counter waits for the last load, because
    // otherwise its results would take the write port.
    let body = "loop\n\
                device_load_u32 r0, r0\n\
                device_load_u32 r0, r0\n\
                device_load_u32 r0, r0\n\
                or r4, r0, r3\n\
                isub r1, r1, r2\n\
                ucmp_eq p1, r1, r3\n\
                break p1\n\
                endloop";
    let mut accesses = Accesses::default();
    Kernel::new(body, 1, 1, &[0, lines, 1, 0])?.run(config, memory, &mut accesses, progress)?;
    let times = accesses.times;
    if times.len() != LAPS * lines as usize {
        return Err(format!("the chase made {} loads and not {}", times.len(), LAPS * lines as usize));
    }
    let mut channels = Channels::new(formulas);
    let ways = Ways::new(formulas, 0);
    let mut at = 0u32;
    let mut expected = Vec::with_capacity(times.len());
    for &(issue, _) in &times {
        let (slice, _) = expected::slice(formulas, u64::from(at));
        expected.push(match level {
            Level::L1 => (expected::l1_hit(formulas), None),
            Level::L2 => (ways.l2_hit(formulas, slice), None),
            Level::L3 => (ways.l2_hit(formulas, slice) + 1 + expected::in_l3(formulas), None),
            Level::Memory => {
                let miss = issue + expected::ISSUE_TO_ACCESS + ways.to_slice(formulas, slice);
                // The bank in front of the channel sees the transfer first, and hands the sectors on.
                let (later, in_bank) = match formulas.l3.is_there() {
                    false => (0, 0),
                    true => (1, expected::in_l3(formulas)),
                };
                let (fill, state) = channels.read(miss + later, expected::place(formulas, u64::from(at)));
                (
                    fill + in_bank
                        + ways.back_from_slice(formulas, slice, formulas.core.l1.sector_bytes)
                        + expected::RESPONSE_TO_USE
                        - issue,
                    Some(state),
                )
            }
        });
        at = next[at as usize];
    }
    let first = times.len() - lines as usize;
    Ok(Lap {
        footprint,
        level,
        measured: times[first..].iter().map(|(issue, retire)| retire - issue).collect(),
        expected: expected.split_off(first),
    })
}

/// The largest footprint of a level, measured and configured.
fn step(laps: &[Lap], level: Level, configured: u64) -> Option<Figure> {
    let mut of_level = laps.iter().filter(|lap| lap.level == level);
    // Device memory may end before the cache does.
    if !laps.iter().any(|lap| lap.footprint > configured) {
        return None;
    }
    let measured = of_level.by_ref().take_while(|lap| lap.is_plateau()).last().map_or(0, |lap| lap.footprint);
    let next = laps.iter().map(|lap| lap.footprint).find(|&f| f > configured).unwrap_or_default();
    Some(Figure {
        what: format!("largest footprint that hits in the {}", level.name()),
        measured: measured as f64,
        expected: Some(configured as f64),
        unit: "bytes",
        rule: Rule::Exact,
        off: 0,
        note: format!("{}; at {} nothing hits", size(configured), size(next)),
    })
}

/// Measures every footprint.
///
/// # Errors
/// Why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Listener) -> Result<Section, String> {
    measure_against(config, config, progress)
}

/// Measures one machine against the formulas for another, which differs in delays only. Only tests use two.
pub(super) fn measure_against(
    config: &Config,
    formulas: &Config,
    progress: &mut dyn Listener,
) -> Result<Section, String> {
    let mut laps = Vec::new();
    for footprint in footprints(config) {
        let Some(level) = level(config, footprint) else { continue };
        progress.starts(&format!("latency over {}", size(footprint)));
        laps.push(chase(config, formulas, footprint, level, progress)?);
    }
    let mut figures: Vec<Figure> = laps
        .iter()
        .filter_map(|lap| {
            let what = format!("load to use over {}", size(lap.footprint));
            lap.figure(what, format!(", in {}", lap.level.name()), |_| true)
        })
        .collect();
    if let Some(lap) = laps.last().filter(|lap| lap.level == Level::Memory) {
        let states = [
            (RowState::Hit, "its row open"),
            (RowState::Closed, "its bank closed"),
            (RowState::Conflict, "another row open"),
            (RowState::Refresh, "a refresh in between"),
        ];
        figures.extend(states.iter().filter_map(|&(wanted, name)| {
            lap.figure(format!("load from memory, {name}"), String::new(), |state| state == Some(wanted))
        }));
    }
    let has_l3 = config.l3.is_there();
    figures.extend(step(&laps, Level::L1, l1(config).0));
    figures.extend(step(&laps, Level::L2, l2(config).0));
    if has_l3 {
        figures.extend(step(&laps, Level::L3, l3(config).0));
    }
    let points = |level: Level| {
        let of = laps.iter().filter(move |lap| lap.level == level);
        of.map(|lap| (lap.footprint as f64, lap.mean())).collect()
    };
    let ways = Ways::new(formulas, 0);
    let hits = (0..formulas.l2.slices).map(|slice| ways.l2_hit(formulas, slice) as f64);
    let l2_hit = hits.sum::<f64>() / f64::from(formulas.l2.slices);
    let plot = Plot {
        name: Topic::Latency.name(),
        title: format!("Load to use on {}", config.name),
        x: "footprint, bytes",
        y: "cycles",
        series: Level::ALL
            .iter()
            .map(|&level| Series { name: level.name().to_owned(), points: points(level) })
            .filter(|series| !series.points.is_empty())
            .collect(),
        names: Vec::new(),
        marks: [("L1", l1(config).0), ("L2", l2(config).0)]
            .into_iter()
            .chain(has_l3.then(|| ("L3", l3(config).0)))
            .map(|(name, bytes)| (name.to_owned(), bytes as f64))
            .collect(),
        levels: [("L1 hit", expected::l1_hit(formulas) as f64), ("L2 hit", l2_hit)]
            .into_iter()
            .chain(has_l3.then(|| ("L3 hit", l2_hit + 1.0 + expected::in_l3(formulas) as f64)))
            .map(|(name, cycles)| (name.to_owned(), cycles))
            .collect(),
    };
    Ok(Section { topic: Topic::Latency, figures, plots: vec![plot] })
}
