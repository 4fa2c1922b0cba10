//! Which registers must not be the same.

use super::super::code::{Register, RegisterSet, Selected};
use super::super::liveness::{self, Set};

/// The interference graph. Groups are registers that copies made one; each has the number of one of them.
pub(super) struct Graph {
    /// Registers that interfere with each, some of them more than once.
    rows: Vec<Vec<u32>>,
    /// What a register was made one with.
    parents: Vec<u32>,
    /// Machine registers that each must not be.
    pub(super) forbidden: Vec<RegisterSet>,
    /// Registers wanted at the start.
    first: Set,
}

impl Graph {
    /// The graph of a function.
    pub(super) fn of(selected: &Selected) -> Graph {
        let count = selected.registers.len();
        let mut reserved = RegisterSet::default();
        selected.base_register.into_iter().for_each(|register| reserved.insert(register));
        let mut graph = Graph {
            rows: vec![Vec::new(); count],
            parents: (0..count as u32).collect(),
            forbidden: vec![reserved; count],
            first: Set::new(count),
        };
        let mut first = Set::new(count);
        liveness::walk(&selected.code, count, |place, behind| {
            let code = &selected.code[place];
            if place == 0 {
                first = behind.clone();
                liveness::step(code, &mut first);
            }
            if let Some(transfer) = &code.transfer {
                for other in behind.iter() {
                    if !transfer.written.iter().any(|to| to.number == other) {
                        graph.forbidden[other as usize].extend(transfer.clobbered);
                        transfer.written.iter().for_each(|to| graph.connect(to.number, other));
                    }
                }
            }
            let Some(to) = code.written() else { return };
            // The two may be one only where their rows would lie over each other.
            let is_single = |from: &Register| selected.registers[from.number as usize].rows == 1;
            let copied =
                if code.is_copy() && to.row == 0 { code.read().next().filter(is_single) } else { None };
            for other in behind.iter() {
                let is_copied = copied.is_some_and(|from| from.number == other);
                if other != to.number && !is_copied {
                    graph.connect(to.number, other);
                }
            }
        });
        // At the start all that is wanted is there at once, and so are the arguments of a kernel, wanted or not.
        let is_there = |number: &u32| {
            let is_argument =
                selected.is_kernel && selected.parameters.iter().any(|one| one.number == *number);
            first.contains(*number) || is_argument
        };
        let there: Vec<u32> = (0..count as u32).filter(is_there).collect();
        for number in first.iter() {
            for &other in there.iter().filter(|&&other| other != number) {
                graph.connect(number, other);
            }
        }
        graph.first = first;
        graph
    }

    fn connect(&mut self, a: u32, b: u32) {
        for (of, other) in [(a, b), (b, a)] {
            let row = &mut self.rows[of as usize];
            if row.len() == row.capacity() {
                // What is there twice makes room.
                row.sort_unstable();
                row.dedup();
                row.reserve(row.len() + 4);
            }
            row.push(other);
        }
    }

    fn interfere(&self, a: u32, b: u32) -> bool {
        let [of, other] =
            if self.rows[a as usize].len() < self.rows[b as usize].len() { [a, b] } else { [b, a] };
        self.rows[of as usize].contains(&other)
    }

    /// The number of the group of a register.
    pub(super) fn root(&self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            number = self.parents[number as usize];
        }
        number
    }

    /// Registers that interfere with a group, some of them more than once.
    pub(super) fn neighbours(&self, root: u32) -> impl Iterator<Item = u32> + '_ {
        self.rows[root as usize].iter().copied()
    }

    /// About how many registers interfere with a group.
    pub(super) fn degree(&self, root: u32) -> usize {
        self.rows[root as usize].len()
    }

    /// True if the value that a register has at the start is taken.
    pub(super) fn wanted_first(&self, number: u32) -> bool {
        self.first.contains(number)
    }

    /// Makes the registers of copies one, where they do not interfere.
    pub(super) fn coalesce(&mut self, selected: &mut Selected) {
        for code in selected.code.iter().filter(|code| code.is_copy() && !code.guard.is_some()) {
            let (Some(to), Some(from)) = (code.written(), code.read().next()) else { continue };
            let [a, b] = [to, from].map(|register| self.root(register.number));
            let [first, second] = [a, b].map(|number| selected.registers[number as usize]);
            let fits = to.row == 0
                && from.row == 0
                && (first.rows, second.rows) == (1, 1)
                && (first.fixed.is_none() || second.fixed.is_none())
                && !(first.not_zero && second.fixed == Some(0))
                && !(second.not_zero && first.fixed == Some(0));
            if a == b || !fits || self.interfere(a, b) {
                continue;
            }
            // One that has its register already must not meet another one of that register.
            let fixed = first.fixed.or(second.fixed);
            let (kept, gone) = if second.fixed.is_some() { (b, a) } else { (a, b) };
            if let Some(fixed) = fixed {
                let takes = |other: u32| {
                    let other = selected.registers[other as usize];
                    let distance = |of: u8| (of..of.saturating_add(other.rows)).contains(&fixed);
                    other.fixed.is_some_and(distance)
                };
                let met = self.rows[gone as usize].iter().any(|&other| takes(other));
                if met || self.forbidden[gone as usize].contains(fixed.into()) {
                    continue;
                }
            }
            let mut row = self.rows[gone as usize].clone();
            row.sort_unstable();
            row.dedup();
            row.into_iter().for_each(|other| self.connect(kept, other));
            self.parents[gone as usize] = kept;
            let forbidden = self.forbidden[gone as usize];
            self.forbidden[kept as usize].extend(forbidden);
            selected.registers[kept as usize].not_zero |= selected.registers[gone as usize].not_zero;
        }
    }
}
