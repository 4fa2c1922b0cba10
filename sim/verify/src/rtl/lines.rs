//! Line coverage of the SystemVerilog, from the files written by a core built with `--coverage-line`.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Count of each point of the sources: (file, line, Verilator's name for it).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineCoverage {
    points: BTreeMap<(String, u32, String), u64>,
}

impl LineCoverage {
    /// Adds the counts of a run. A line of the file is `C '`, pairs of a key and a value
    /// (`\x01`KEY`\x02`VALUE), `' ` and a count.
    pub fn read(&mut self, text: &str) {
        for line in text.lines() {
            let Some((keys, count)) = line.strip_prefix("C '").and_then(|rest| rest.rsplit_once("' ")) else {
                continue;
            };
            let value = |wanted: &str| {
                let pairs = keys.split('\x01').filter_map(|pair| pair.split_once('\x02'));
                pairs.filter(|(key, _)| *key == wanted).map(|(_, value)| value).next().unwrap_or("")
            };
            // Assertions are not lines.
            if !value("page").starts_with("v_line") && !value("page").starts_with("v_branch") {
                continue;
            }
            let file = value("f").rsplit('/').next().unwrap_or("").to_owned();
            // The same place in several instances of a module counts once.
            let place = (file, value("l").parse().unwrap_or(0), value("o").to_owned());
            *self.points.entry(place).or_default() += count.parse().unwrap_or(0);
        }
    }

    /// Adds the counts of another coverage.
    pub fn add(&mut self, other: &LineCoverage) {
        for (place, count) in &other.points {
            *self.points.entry(place.clone()).or_default() += count;
        }
    }

    /// Number of points hit, and of all points.
    pub fn hit(&self) -> (usize, usize) {
        (self.points.values().filter(|count| **count > 0).count(), self.points.len())
    }

    /// A line per file, then the lines that were not hit.
    pub fn text(&self) -> String {
        let mut files: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut missed = String::new();
        for ((file, line, what), count) in &self.points {
            let (hit, of) = files.entry(file).or_default();
            *hit += usize::from(*count > 0);
            *of += 1;
            if *count == 0 {
                _ = writeln!(missed, "  {file}:{line} {what}");
            }
        }
        let percent = |hit: usize, of: usize| 100.0 * hit as f64 / of.max(1) as f64;
        let mut text = "line coverage of the SystemVerilog\n\n".to_owned();
        for (file, (hit, of)) in &files {
            _ = writeln!(text, "{file:<24} {hit:>5} of {of:>5}  {:.1} %", percent(*hit, *of));
        }
        let (hit, of) = self.hit();
        _ = writeln!(text, "{:<24} {hit:>5} of {of:>5}  {:.1} %", "all", percent(hit, of));
        text += "\nnot passed\n";
        text += if missed.is_empty() { "  nothing\n" } else { &missed };
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# SystemC::Coverage-3\n\
        C '\u{1}t\u{2}line\u{1}page\u{2}v_line/issue\u{1}f\u{2}/a/issue.sv\u{1}l\u{2}12\u{1}n\u{2}3\u{1}o\u{2}block\u{1}h\u{2}TOP.a' 7\n\
        C '\u{1}t\u{2}line\u{1}page\u{2}v_line/issue\u{1}f\u{2}/a/issue.sv\u{1}l\u{2}14\u{1}n\u{2}3\u{1}o\u{2}else\u{1}h\u{2}TOP.a' 0\n\
        C '\u{1}t\u{2}user\u{1}page\u{2}v_user/issue\u{1}f\u{2}/a/issue.sv\u{1}l\u{2}20\u{1}o\u{2}cover\u{1}h\u{2}TOP.a' 0\n";

    #[test]
    fn counts_add_up_and_what_was_missed_is_listed() {
        let mut lines = LineCoverage::default();
        lines.read(FILE);
        lines.read(FILE);
        assert_eq!(lines.hit(), (1, 2));
        let text = lines.text();
        assert!(text.contains("issue.sv                     1 of     2  50.0 %"), "{text}");
        assert!(text.contains("not passed\n  issue.sv:14 else\n"), "{text}");
        assert_eq!(lines.points.values().max(), Some(&14));
    }
}
