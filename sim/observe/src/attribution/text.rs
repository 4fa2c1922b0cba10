//! The tables of `--by-buffer`.

use super::{Attributed, Class, Split, Tally};
use crate::numbers::{integer, percent};
use std::fmt::Write;

/// Most launches that are listed one by one.
const LISTED: usize = 12;

impl Attributed {
    /// Tables of the accesses and of the misses by buffer, and if there are several launches, by launch.
    pub fn text(&self) -> String {
        let mut text = String::from("by buffer\n");
        if self.sum().is_empty() {
            return text + "  no access of device memory\n";
        }
        let sum = self.sum();
        let with_sum: Vec<(String, Tally)> = self
            .rows()
            .map(|(name, tally)| (name.to_owned(), *tally))
            .chain([("all".to_owned(), sum)])
            .collect();
        table(&mut text, "buffer", &ACCESSES, &with_sum);
        text += "misses by buffer\n";
        let missed: Vec<_> = with_sum.iter().filter(|(_, tally)| misses(tally) > 0).cloned().collect();
        table(&mut text, "buffer", &MISSES, &missed);
        if self.launches.len() > 1 {
            let launches: Vec<(String, Tally)> = (0..self.launches.len().min(LISTED))
                .map(|number| ((number + 1).to_string(), self.sum_of(number)))
                .collect();
            text += "by launch\n";
            table(&mut text, "launch", &ACCESSES, &launches);
            text += "misses by launch\n";
            table(&mut text, "launch", &MISSES, &launches);
            if self.launches.len() > LISTED {
                // Writing into a string does not fail.
                _ = writeln!(
                    text,
                    "  and {} more launches; --format json has them",
                    self.launches.len() - LISTED
                );
            }
        }
        text
    }
}

fn misses(tally: &Tally) -> u64 {
    tally.l1_misses() + tally.l2.all_misses()
}

/// A column: its head in two lines, and its cell.
type Column = (&'static str, &'static str, fn(&Tally) -> String);

const ACCESSES: [Column; 10] = [
    ("", "loads", |t| integer(t.loads)),
    ("", "stores", |t| integer(t.stores)),
    ("", "atomics", |t| integer(t.atomics)),
    ("lanes'", "bytes", |t| integer(t.requested_bytes())),
    ("L1", "accesses", |t| integer(t.l1_accesses())),
    ("", "hits", |t| share(t.l1.hits, t.l1_lookups())),
    ("L2", "requests", |t| integer(t.l2.requests())),
    ("", "hits", |t| share(t.l2.hits, t.l2.requests())),
    ("DRAM bytes", "read", |t| integer(t.dram_read_bytes)),
    ("", "written", |t| integer(t.dram_written_bytes)),
];

const MISSES: [Column; 9] = [
    ("L1", "misses", |t| integer(t.l1_misses())),
    ("", "compulsory", |t| of(&t.l1_split, Class::Compulsory)),
    ("", "capacity", |t| of(&t.l1_split, Class::Capacity)),
    ("", "conflict", |t| of(&t.l1_split, Class::Conflict)),
    ("", "coherence", |t| of(&t.l1_split, Class::Coherence)),
    ("L2", "misses", |t| integer(t.l2.all_misses())),
    ("", "compulsory", |t| of(&t.l2_split, Class::Compulsory)),
    ("", "capacity", |t| of(&t.l2_split, Class::Capacity)),
    ("", "conflict", |t| of(&t.l2_split, Class::Conflict)),
];

fn of(split: &Split, class: Class) -> String {
    integer(split.of(class))
}

/// A share of a number that may be 0.
fn share(part: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { percent(part as f64 / of as f64) }
}

/// Rows below two lines of heads, numbers to the right.
fn table(text: &mut String, first: &str, columns: &[Column], rows: &[(String, Tally)]) {
    let cells: Vec<Vec<String>> =
        rows.iter().map(|(_, tally)| columns.iter().map(|(.., cell)| cell(tally)).collect()).collect();
    let name = rows.iter().map(|(name, _)| name.len()).chain([first.len()]).max().unwrap_or(0);
    let width = |i: usize| {
        let (upper, lower, _) = columns[i];
        cells.iter().map(|row| row[i].len()).chain([upper.len(), lower.len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut line = |head: &str, cells: &mut dyn Iterator<Item = &str>| {
        let mut line = format!("  {head:<name$}");
        for (cell, &width) in cells.zip(&widths) {
            // Writing into a string does not fail.
            _ = write!(line, "  {cell:>width$}");
        }
        *text += line.trim_end();
        text.push('\n');
    };
    line("", &mut columns.iter().map(|(upper, ..)| *upper));
    line(first, &mut columns.iter().map(|(_, lower, _)| *lower));
    for ((name, _), row) in rows.iter().zip(&cells) {
        line(name, &mut row.iter().map(String::as_str));
    }
}
