//! What runs have met in the RTL: events, pairs of them in one cycle, classes of operands. A core that is built with
//! [`Variant::events`](super::Variant) writes a file of them (`rtl-tests/bench/events.cpp`).

use fnv::FnvHasher;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::Hasher;

/// How often each was met, by its line of the file without the count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    counts: BTreeMap<String, u64>,
}

/// The greatest power of two of cycles of an event that has a number of its own.
const MOST_POWERS: u32 = 3;

/// Kinds of lines in the file, and what the table calls them.
const KINDS: [(&str, &str); 5] = [
    ("event", "events"),
    ("pair", "pairs of events in one cycle"),
    ("operands", "operation × classes of the first two operands"),
    ("relation", "operation × relation of the first two operands"),
    ("third", "operation × class of the third operand"),
];

impl Events {
    /// Reads the file of a run.
    ///
    /// # Errors
    /// The first line that makes no sense.
    pub fn read(text: &str) -> Result<Events, String> {
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            let read = line.rsplit_once(' ').and_then(|(what, count)| Some((what, count.parse().ok()?)));
            let (what, count) = read.ok_or_else(|| format!("`{line}` is no count of an event"))?;
            counts.insert(what.to_owned(), count);
        }
        Ok(Events { counts })
    }

    /// Adds what another run has met.
    pub fn add(&mut self, other: &Events) {
        for (what, count) in &other.counts {
            match self.counts.get_mut(what) {
                Some(mine) => *mine += count,
                None => _ = self.counts.insert(what.clone(), *count),
            }
        }
    }

    /// Numbers of what was met: one for each line, and of an event for each power of two up to its cycles. The powers end
    /// soon, because else the longest program would always meet more.
    pub fn bins(&self) -> impl Iterator<Item = u64> + '_ {
        let number = |what: &str, power: u32| {
            let mut hasher = FnvHasher::default();
            hasher.write(what.as_bytes());
            hasher.write_u32(power);
            hasher.finish()
        };
        self.counts.iter().filter(|(_, count)| **count > 0).flat_map(move |(what, count)| {
            let powers = if what.starts_with("event ") { count.ilog2().min(MOST_POWERS) } else { 0 };
            (0..=powers).map(move |power| number(what, power))
        })
    }

    /// Lines of a kind that were met, and that the file has.
    pub fn met(&self, kind: &str) -> (usize, usize) {
        let lines = self.counts.iter().filter(|(what, _)| what.split(' ').next() == Some(kind));
        lines.fold((0, 0), |(met, of), (_, count)| (met + usize::from(*count > 0), of + 1))
    }

    /// Events that were not met.
    pub fn missed(&self) -> impl Iterator<Item = &str> {
        self.counts
            .iter()
            .filter(|(_, count)| **count == 0)
            .filter_map(|(what, _)| what.strip_prefix("event "))
    }

    /// A table, and the events that were not met. How many pairs and operands there can be is not known.
    pub fn text(&self) -> String {
        let mut text = "what the RTL met\n\n".to_owned();
        for (kind, name) in KINDS {
            let (met, of) = self.met(kind);
            let of = if kind == "event" { format!(" of {of}") } else { String::new() };
            _ = writeln!(text, "{met:>7}{of} {name}");
        }
        text += "\nevents that were not met\n";
        self.missed().for_each(|event| _ = writeln!(text, "  {event}"));
        if self.missed().next().is_none() {
            text += "  none\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_an_event_that_lasts_has_more_bins() {
        let mut events = Events::read("event a 1\nevent b 0\npair a b 9\n").unwrap();
        assert_eq!(events.bins().count(), 2);
        assert_eq!(events.missed().collect::<Vec<_>>(), ["b"]);
        events.add(&Events::read("event a 3\nevent b 1\nthird 4 5 1\n").unwrap());
        assert_eq!(events.bins().count(), 3 + 1 + 1 + 1);
        assert_eq!((events.met("event"), events.met("pair"), events.met("third")), ((2, 2), (1, 1), (1, 1)));
        assert!(events.text().contains("2 of 2 events\n"), "{}", events.text());
        assert!(Events::read("event a\n").is_err());
    }
}
