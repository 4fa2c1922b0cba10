//! A module as text of its own assembly.

use crate::ir::Place;

/// A module as text of its own assembly: what users read where there is no source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    text: String,
    /// Lines with a place, in the order of the lines.
    lines: Vec<(Place, u32)>,
    /// Lines so far.
    count: u32,
}

impl Listing {
    /// A text that users wrote. Each place comes with the byte of the text where its instruction is; places ascend.
    pub(crate) fn of_text(text: &str, places: impl Iterator<Item = (Place, usize)>) -> Listing {
        let starts: Vec<usize> = text.match_indices('\n').map(|(newline, _)| newline + 1).collect();
        let line = |byte: usize| starts.partition_point(|&start| start <= byte) as u32 + 1;
        let lines = places.map(|(place, byte)| (place, line(byte))).collect();
        Listing { text: text.to_owned(), lines, count: starts.len() as u32 + 1 }
    }

    /// Adds a line that is not an instruction.
    pub(crate) fn note(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.count += 1;
    }

    /// Adds the line of an instruction. `place` is the place that the instructions of the module have that it becomes.
    pub(crate) fn instruction(&mut self, place: Place, line: &str) {
        self.note(line);
        self.lines.push((place, self.count));
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The 1-based line of a place: of the instruction there, else of the last one before it.
    pub fn line(&self, place: Place) -> Option<u32> {
        if place == Place::default() {
            return None;
        }
        let before = self.lines.partition_point(|&(start, _)| start <= place);
        self.lines[..before].last().map(|&(_, line)| line)
    }
}
