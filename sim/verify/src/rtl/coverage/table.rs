//! Coverage as text: totals, a table of opcodes, and the bins not hit.

use super::reach::{RULES, excluded};
use super::{Bin, Coverage, Form, Hazard, Lanes, Wait};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use wave_isa::table::TABLE;

/// Names of the dimensions, in the order of [`Bin::coordinates`].
const DIMENSIONS: [&str; 5] = ["opcode", "lanes", "hazard", "wait", "form"];
/// Most bins of a pair that are listed. The rest is counted.
const LISTED: usize = 400;

/// State of a bin of one or two dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Excluded,
    Missed,
    Hit,
}

fn name(dimension: usize, value: usize) -> &'static str {
    match dimension {
        0 => TABLE.get(value).map_or("(end of the code)", |info| info.mnemonic),
        1 => Lanes::ALL[value].name(),
        2 => Hazard::ALL[value].name(),
        3 => Wait::ALL[value].name(),
        _ => Form::ALL[value].name(),
    }
}

impl Coverage {
    /// State of every pair of values of two dimensions: hit if some bin with both was.
    fn pairs(&self, a: usize, b: usize) -> BTreeMap<(usize, usize), Standing> {
        let mut pairs = BTreeMap::new();
        for bin in Bin::all(self.f64, self.mma) {
            let at = bin.coordinates();
            let standing = pairs.entry((at[a], at[b])).or_insert(Standing::Excluded);
            *standing = match *standing {
                Standing::Hit => Standing::Hit,
                _ if self.count(&bin) > 0 => Standing::Hit,
                Standing::Excluded if excluded(&bin).is_none() => Standing::Missed,
                before => before,
            };
        }
        pairs
    }

    /// Bins that were hit although a rule excludes them: the rule is wrong.
    pub fn contradictions(&self) -> Vec<(Bin, &'static str)> {
        let excluded = self.counts.keys().filter_map(|bin| Some((*bin, RULES[excluded(bin)?].reason)));
        excluded.collect()
    }

    /// Over the pairs of all dimensions: how many are hit, and how many can be.
    pub fn pairs_hit(&self) -> (usize, usize) {
        pairs_of_dimensions().fold((0, 0), |(hit, of), (a, b)| {
            let (more, pairs) = tally(&self.pairs(a, b));
            (hit + more, of + pairs)
        })
    }

    /// The whole report: totals, a line per opcode, bins not hit, and bins excluded.
    pub fn text(&self) -> String {
        let mut text = format!("coverage of {} instructions\n\n", self.instructions);
        let mut missed = String::new();
        for (a, b) in pairs_of_dimensions() {
            let pairs = self.pairs(a, b);
            let (hit, of) = tally(&pairs);
            let title = format!("{} × {}", DIMENSIONS[a], DIMENSIONS[b]);
            _ = writeln!(text, "{title:<20} {hit:>6} of {of:>6}  {}", percent(hit, of));
            let missing = pairs.iter().filter(|(_, standing)| **standing == Standing::Missed);
            for (&(x, y), _) in missing.clone().take(LISTED) {
                _ = writeln!(missed, "  {}, {}", name(a, x), name(b, y));
            }
            let more = missing.count().saturating_sub(LISTED);
            if more > 0 {
                _ = writeln!(missed, "  {title}: {more} more");
            }
        }
        let mut reasons = [0usize; RULES.len()];
        let (mut hit, mut of) = (0, 0);
        for bin in Bin::all(self.f64, self.mma) {
            match excluded(&bin) {
                Some(rule) => reasons[rule] += 1,
                None => {
                    of += 1;
                    hit += usize::from(self.count(&bin) > 0);
                }
            }
        }
        _ = writeln!(text, "{:<20} {hit:>6} of {of:>6}  {}\n", "all five", percent(hit, of));
        text += &self.opcodes();
        text += "\npairs that were not hit\n";
        text += if missed.is_empty() { "  none\n" } else { &missed };
        text += "\nbins that cannot be reached, and are not counted above\n";
        for (rule, bins) in RULES.iter().zip(reasons) {
            _ = writeln!(text, "  {bins:>6}  {}", rule.reason);
        }
        for (bin, reason) in self.contradictions() {
            _ = writeln!(text, "WRONG: {bin:?} was hit, though {reason}");
        }
        text
    }

    /// A line per opcode: `#` hit, `.` not hit, blank if it cannot be.
    fn opcodes(&self) -> String {
        let letters = [
            Lanes::ALL.iter().map(|v| v.letter()).collect::<String>(),
            Hazard::ALL.iter().map(|v| v.letter()).collect(),
            Wait::ALL.iter().map(|v| v.letter()).collect(),
            Form::ALL.iter().map(|v| v.letter()).collect(),
        ];
        let key = |what: &str, values: Vec<(char, &str)>| {
            let values: Vec<String> = values.into_iter().map(|(c, n)| format!("{c} {n}")).collect();
            format!("{what:<7} {}\n", values.join(", "))
        };
        let mut text = key("lanes", Lanes::ALL.iter().map(|v| (v.letter(), v.name())).collect());
        text += &key("hazard", Hazard::ALL.iter().map(|v| (v.letter(), v.name())).collect());
        text += &key("wait", Wait::ALL.iter().map(|v| (v.letter(), v.name())).collect());
        text += &key("form", Form::ALL.iter().map(|v| (v.letter(), v.name())).collect());
        _ = writeln!(text, "\n{:<28} {}", "", letters.join("  "));
        let columns: Vec<_> = (1..5).map(|dimension| self.pairs(0, dimension)).collect();
        let ops: BTreeSet<usize> = columns.iter().flat_map(|pairs| pairs.keys().map(|(op, _)| *op)).collect();
        for op in ops {
            let mut line = format!("{:<28}", name(0, op));
            for (pairs, letters) in columns.iter().zip(&letters) {
                line.push_str(if line.len() == 28 { " " } else { "  " });
                for value in 0..letters.chars().count() {
                    line.push(match pairs.get(&(op, value)) {
                        Some(Standing::Hit) => '#',
                        Some(Standing::Missed) => '.',
                        _ => ' ',
                    });
                }
            }
            _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

fn tally(pairs: &BTreeMap<(usize, usize), Standing>) -> (usize, usize) {
    let count = |wanted| pairs.values().filter(|standing| **standing == wanted).count();
    let hit = count(Standing::Hit);
    (hit, hit + count(Standing::Missed))
}

fn percent(hit: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * hit as f64 / of.max(1) as f64)
}

/// All pairs of dimensions.
fn pairs_of_dimensions() -> impl Iterator<Item = (usize, usize)> {
    let count = DIMENSIONS.len();
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}
