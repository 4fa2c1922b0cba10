//! Text in drawings: its width, and placement of labels without overlaps.

/// Width of a text at this font size, in the widest font of the page (DejaVu Sans).
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | ' ' | ',' | '.' | ':' | '·' => 0.32,
        'f' | 'r' | 't' | '-' | '(' | ')' => 0.42,
        'm' | 'w' | 'M' | 'W' => 0.98,
        'A'..='Z' => 0.72,
        _ => 0.64,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// Wraps a text into lines no wider than `width`, unless a word is wider.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("one at least");
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || width(&longer, size) <= room {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Which end of a label is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// Its name in SVG.
    pub(super) fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A position for a label: its anchor on the base line.
pub(crate) type Spot = (f64, f64, Anchor);

#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_crossed_by(&self, ((x, y), (to_x, to_y)): Line) -> bool {
        const STEPS: u32 = 200;
        (0..=STEPS).any(|i| {
            let part = f64::from(i) / f64::from(STEPS);
            let (x, y) = (x + part * (to_x - x), y + part * (to_y - y));
            self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
        })
    }
}

type Line = ((f64, f64), (f64, f64));

/// Places labels.
#[derive(Debug)]
pub(super) struct Labels {
    size: f64,
    within: Area,
    taken: Vec<Area>,
    lines: Vec<Line>,
}

impl Labels {
    /// Placement of labels of this font size between two corners, top left and bottom right.
    pub(super) fn new(size: f64, (left, top): (f64, f64), (right, bottom): (f64, f64)) -> Labels {
        Labels { size, within: Area { left, right, top, bottom }, taken: Vec::new(), lines: Vec::new() }
    }

    /// Keeps labels off this mark.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), radius: f64) {
        self.taken.push(Area { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
    }

    /// Prefers to keep labels off this line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.lines.push((from, to));
    }

    /// The best of some positions for a label: the first one without overlaps that crosses the fewest lines.
    pub(super) fn place(&mut self, text: &str, spots: &[Spot]) -> Spot {
        let width = width(text, self.size);
        let area = |&(x, y, anchor): &Spot| {
            let left = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            Area { left, right: left + width, top: y - self.size, bottom: y + 0.3 * self.size }
        };
        let price = |spot: &&Spot| {
            let area = area(spot);
            let Area { left, right, top, bottom } = self.within;
            let outside = area.left < left || area.right > right || area.top < top || area.bottom > bottom;
            let over = self.taken.iter().filter(|other| area.overlaps(other)).count();
            let lines = self.lines.iter().filter(|line| area.is_crossed_by(**line)).count();
            (over + usize::from(outside), lines)
        };
        let best = *spots.iter().min_by_key(price).expect("a place to choose");
        self.taken.push(area(&best));
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_find_places_beside_one_another() {
        let mut labels = Labels::new(10.0, (0.0, 0.0), (200.0, 100.0));
        let spots = [(10.0, 50.0, Anchor::Start), (10.0, 70.0, Anchor::Start), (-5.0, 20.0, Anchor::Start)];
        assert_eq!(labels.place("first", &spots), spots[0]);
        assert_eq!(labels.place("second", &spots), spots[1], "the first place is taken");
        // One occupied, one on a line, one free, one outside.
        labels.line((0.0, 25.0), (200.0, 25.0));
        let spots = [spots[0], (100.0, 30.0, Anchor::End), (100.0, 95.0, Anchor::Middle), spots[2]];
        assert_eq!(labels.place("third", &spots), spots[2]);
        labels.mark((100.0, 90.0), 5.0);
        assert_eq!(labels.place("x", &[spots[2], (150.0, 30.0, Anchor::Start)]).0, 150.0);
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        assert_eq!(wrapped("for each scheduler one wave", 13.0, 1000.0), ["for each scheduler one wave"]);
        assert_eq!(wrapped("for each scheduler one wave", 13.0, 150.0), ["for each scheduler", "one wave"]);
        assert_eq!(wrapped("unbreakable", 13.0, 10.0), ["unbreakable"]);
        assert_eq!(wrapped("", 13.0, 10.0), [""]);
    }
}
