//! What parameters do to cycles over a sweep: main effects, interactions, and the points that nothing beats.
//!
//! Cycles are compared as ratios, so means are geometric. Of a parameter, the share is what part of the variance of
//! log(cycles) the means of its values explain; of two parameters, what part the means of their pairs explain beyond that.

use super::table::{Row, Table};
use std::collections::BTreeMap;

/// Most levels of a parameter; more values are put together in groups of neighbours.
const MOST_LEVELS: usize = 8;

/// A parameter of a sweep as levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factor {
    /// Its place among the axes.
    pub axis: usize,
    /// Names of the levels, in order.
    pub levels: Vec<String>,
    /// The level of each row.
    of_row: Vec<usize>,
}

/// What a parameter does to the cycles of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Main {
    pub factor: Factor,
    /// Geometric mean of the cycles at each level.
    pub means: Vec<f64>,
    /// Part of the variance that it explains.
    pub share: f64,
}

/// What two parameters do together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interaction {
    /// Places of the two among the main effects.
    pub factors: [usize; 2],
    /// Geometric mean of the cycles at each pair of levels, by the first; `None` where no row has it.
    pub means: Vec<Vec<Option<f64>>>,
    /// Part of the variance that the pair explains beyond the two.
    pub share: f64,
}

/// Effects on the cycles of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effects {
    /// Of each parameter with several levels, those with the greatest share first.
    pub mains: Vec<Main>,
    /// Of each pair, likewise.
    pub interactions: Vec<Interaction>,
}

impl Effects {
    /// Effects over rows, those of one kernel, that ended.
    pub(super) fn of(table: &Table, rows: &[&Row]) -> Effects {
        let logs: Vec<f64> = rows.iter().map(|row| (row.cycles().unwrap_or(1).max(1) as f64).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let total: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let share = |part: f64| if total > 0.0 { (part / total).clamp(0.0, 1.0) } else { 0.0 };
        let factors = (0..table.axes.len()).map(|axis| Factor::of(axis, rows));
        let mut mains: Vec<Main> = factors
            .filter(|factor| factor.levels.len() > 1)
            .map(|factor| {
                let cells = cells(&logs, |row| factor.of_row[row], factor.levels.len());
                let share = share(between(&cells, mean));
                Main { means: cells.iter().filter_map(Cell::mean).map(f64::exp).collect(), share, factor }
            })
            .collect();
        mains.sort_by(|a, b| b.share.total_cmp(&a.share));
        let mut interactions = Vec::new();
        for (i, a) in mains.iter().enumerate() {
            for (j, b) in mains.iter().enumerate().skip(i + 1) {
                let width = b.factor.levels.len();
                let place = |row: usize| a.factor.of_row[row] * width + b.factor.of_row[row];
                let cells = cells(&logs, place, a.factor.levels.len() * width);
                let beyond = share(between(&cells, mean)) - a.share - b.share;
                let means =
                    cells.chunks(width).map(|row| row.iter().map(|c| c.mean().map(f64::exp)).collect());
                interactions.push(Interaction {
                    factors: [i, j],
                    means: means.collect(),
                    share: beyond.clamp(0.0, 1.0),
                });
            }
        }
        interactions.sort_by(|a, b| b.share.total_cmp(&a.share));
        Effects { mains, interactions }
    }
}

impl Factor {
    fn of(axis: usize, rows: &[&Row]) -> Factor {
        let mut values: Vec<&str> = Vec::new();
        for row in rows {
            if !values.contains(&row.values[axis].as_str()) {
                values.push(&row.values[axis]);
            }
        }
        let numbers: Option<BTreeMap<u64, &str>> =
            values.iter().map(|&value| Some((value.parse().ok()?, value))).collect();
        let is_number = numbers.is_some();
        if let Some(numbers) = numbers {
            values = numbers.into_values().collect();
        }
        let groups: Vec<&[&str]> = match is_number && values.len() > MOST_LEVELS {
            true => (0..MOST_LEVELS)
                .map(|i| &values[i * values.len() / MOST_LEVELS..(i + 1) * values.len() / MOST_LEVELS])
                .collect(),
            false => values.chunks(1).collect(),
        };
        let name = |group: &&[&str]| match group {
            [first, .., last] => format!("{first}–{last}"),
            [one] => (*one).to_owned(),
            [] => String::new(),
        };
        let level = |row: &&Row| {
            groups.iter().position(|group| group.contains(&row.values[axis].as_str())).unwrap_or_default()
        };
        Factor { axis, levels: groups.iter().map(name).collect(), of_row: rows.iter().map(level).collect() }
    }
}

/// Logarithms of the rows in a cell.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    sum: f64,
    rows: u32,
}

impl Cell {
    fn mean(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.sum / f64::from(self.rows))
    }
}

fn cells(logs: &[f64], place: impl Fn(usize) -> usize, count: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::default(); count];
    for (row, log) in logs.iter().enumerate() {
        let cell = &mut cells[place(row)];
        (cell.sum, cell.rows) = (cell.sum + log, cell.rows + 1);
    }
    cells
}

/// Sum of squares between cells.
fn between(cells: &[Cell], mean: f64) -> f64 {
    cells.iter().filter_map(|cell| Some(f64::from(cell.rows) * (cell.mean()? - mean).powi(2))).sum()
}

/// Which of some points no other is better than: as good in both, and better in one. Less is better.
pub(super) fn front(points: &[(f64, f64)]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].0.total_cmp(&points[b].0).then(points[a].1.total_cmp(&points[b].1)));
    let mut best = f64::INFINITY;
    let mut last = None;
    let mut on = vec![false; points.len()];
    for point in order {
        if points[point].1 < best || last == Some(points[point]) {
            best = points[point].1;
            last = Some(points[point]);
            on[point] = true;
        }
    }
    on
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::row;
    use super::super::table::{Heading, Table};
    use super::*;

    fn effects(cycles: impl Fn(u64, u64) -> u64) -> Effects {
        let heading = |key: &str| Heading { key: key.to_owned(), unit: "" };
        let mut rows = Vec::new();
        for a in [1, 2, 4] {
            for b in [10, 20] {
                rows.push(row(1, &[&a.to_string(), &b.to_string(), "x"], "k", cycles(a, b)));
            }
        }
        let table = Table { axes: ["a", "b", "c"].map(heading).to_vec(), rows };
        let rows: Vec<&Row> = table.rows.iter().collect();
        Effects::of(&table, &rows)
    }

    #[test]
    fn effects_without_interaction_are_the_main_ones() {
        let effects = effects(|a, b| 1000 * a * b);
        let shares: Vec<(usize, f64)> = effects.mains.iter().map(|m| (m.factor.axis, m.share)).collect();
        // What does not change is no effect; `a` goes over a factor of 4, `b` over one of 2.
        assert_eq!(shares.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 1]);
        assert!((shares[0].1 + shares[1].1 - 1.0).abs() < 1e-9, "{shares:?}");
        assert!(effects.interactions[0].share < 1e-9);
        let of_a: Vec<f64> = effects.mains[0].means.iter().map(|mean| mean.round()).collect();
        assert_eq!(of_a, [14142.0, 28284.0, 56569.0]);
        assert_eq!(effects.mains[0].factor.levels, ["1", "2", "4"]);
        assert_eq!(effects.interactions[0].means[2][1].map(f64::round), Some(80000.0));
    }

    #[test]
    fn an_interaction_is_what_is_left() {
        // `b` helps only where `a` is 4, and harms as much where it is 1.
        let effects = effects(|a, b| match (a, b) {
            (4, 20) | (1, 10) => 500,
            (4, 10) | (1, 20) => 2000,
            _ => 1000,
        });
        assert!(effects.interactions[0].share > 0.99, "{effects:?}");
        let flat = self::effects(|_, _| 7);
        assert!(flat.mains.iter().all(|main| main.share == 0.0) && flat.interactions[0].share == 0.0);
    }

    #[test]
    fn many_values_are_grouped() {
        let heading = Heading { key: "a".to_owned(), unit: "" };
        let rows = (1..=20).rev().map(|a| row(1, &[&a.to_string()], "k", a)).collect();
        let table = Table { axes: vec![heading], rows };
        let rows: Vec<&Row> = table.rows.iter().collect();
        let mains = Effects::of(&table, &rows).mains;
        assert_eq!(mains[0].factor.levels.len(), 8);
        assert_eq!(
            (mains[0].factor.levels[0].as_str(), mains[0].factor.levels[7].as_str()),
            ("1–2", "18–20")
        );
        assert!(mains[0].means.is_sorted());
    }

    #[test]
    fn the_front_has_what_nothing_beats() {
        let points = [(1.0, 9.0), (2.0, 5.0), (2.0, 6.0), (3.0, 5.0), (4.0, 1.0), (4.0, 1.0), (9.0, 9.0)];
        assert_eq!(front(&points), [true, true, false, false, true, true, false]);
        // By definition, against every other.
        for (i, a) in points.iter().enumerate() {
            let beaten = points.iter().any(|b| b.0 <= a.0 && b.1 <= a.1 && b != a);
            assert_eq!(front(&points)[i], !beaten, "{a:?}");
        }
    }
}
