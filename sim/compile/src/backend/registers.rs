//! Machine registers for virtual ones: greedy colouring of the interference graph.
//!
//! Two registers interfere if one is written where the other is wanted behind; but not the two of a copy, which have
//! the same value then. Copies whose registers do not interfere get one register, and go. The others get the lowest
//! free one in the order of their first place in the code.

use super::code::{Register, Selected, Slot};
use super::liveness::{self, Set};

/// Most virtual registers: their graph is a matrix of bits.
pub(super) const MOST_VIRTUAL: usize = 30_000;

/// Assigns registers, and drops the copies that are not needed. Gives the number of registers.
///
/// # Errors
/// The number of registers that would be needed, if it is more than the limit.
pub(super) fn assign(selected: &mut Selected, limit: u32) -> Result<u32, u32> {
    let count = selected.registers.len();
    let mut graph = Graph { rows: vec![Set::new(count); count], parents: (0..count as u32).collect() };
    let mut first = Set::new(count);
    liveness::walk(&selected.code, count, |place, behind| {
        let code = &selected.code[place];
        if place == 0 {
            first = behind.clone();
            for register in code.read() {
                first.insert(register.number);
            }
            if let Some(to) = code.written()
                && !code.keeps
                && !code.read().any(|from| from.number == to.number)
            {
                first.remove(to.number);
            }
        }
        let Some(to) = code.written() else { return };
        let copied = if code.is_copy() { code.read().next() } else { None };
        for other in behind.iter() {
            let is_copied = copied.is_some_and(|from| from.number == other && from.row == 0);
            if other != to.number && !is_copied {
                graph.connect(to.number, other);
            }
        }
    });
    // At the start all that is wanted is there at once, and so are the arguments, wanted or not.
    let is_fixed = |number: u32| selected.registers[number as usize].fixed.is_some();
    let there: Vec<u32> =
        (0..count as u32).filter(|&number| first.contains(number) || is_fixed(number)).collect();
    for number in first.iter().filter(|&number| !is_fixed(number)) {
        for &other in there.iter().filter(|&&other| other != number) {
            graph.connect(number, other);
        }
    }
    coalesce(selected, &mut graph);
    colour(selected, &mut graph, limit)
}

struct Graph {
    rows: Vec<Set>,
    /// What a register was made one with.
    parents: Vec<u32>,
}

impl Graph {
    fn connect(&mut self, a: u32, b: u32) {
        self.rows[a as usize].insert(b);
        self.rows[b as usize].insert(a);
    }

    fn root(&self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            number = self.parents[number as usize];
        }
        number
    }
}

/// Makes the registers of copies one, where they do not interfere.
fn coalesce(selected: &mut Selected, graph: &mut Graph) {
    for code in selected.code.iter().filter(|code| code.is_copy()) {
        let (Some(to), Some(from)) = (code.written(), code.read().next()) else { continue };
        let [a, b] = [to, from].map(|register| graph.root(register.number));
        let [first, second] = [a, b].map(|number| selected.registers[number as usize]);
        let fits = to.row == 0
            && from.row == 0
            && (first.rows, second.rows) == (1, 1)
            && (first.fixed.is_none() || second.fixed.is_none())
            && !(first.not_zero && second.fixed == Some(0))
            && !(second.not_zero && first.fixed == Some(0));
        if a == b || !fits || graph.rows[a as usize].contains(b) {
            continue;
        }
        // One that has its register already must not meet another one of that register.
        let fixed = first.fixed.or(second.fixed);
        let (kept, gone) = if second.fixed.is_some() { (b, a) } else { (a, b) };
        let is_same = |&other: &u32| selected.registers[other as usize].fixed == fixed;
        if fixed.is_some() && graph.rows[gone as usize].iter().any(|other| is_same(&other)) {
            continue;
        }
        let row = graph.rows[gone as usize].clone();
        for other in row.iter() {
            graph.connect(kept, other);
        }
        graph.parents[gone as usize] = kept;
        selected.registers[kept as usize].not_zero |= selected.registers[gone as usize].not_zero;
    }
}

fn colour(selected: &mut Selected, graph: &mut Graph, limit: u32) -> Result<u32, u32> {
    let count = selected.registers.len();
    // Interference counts between roots.
    let mut colours: Vec<Option<u32>> = vec![None; count];
    for (number, virtual_) in selected.registers.iter().enumerate() {
        if let Some(fixed) = virtual_.fixed {
            colours[number] = Some(fixed.into());
        }
    }
    let mut needed = 1;
    let mut order: Vec<u32> = Vec::new();
    let mut seen = Set::new(count);
    for code in &selected.code {
        for register in code.read().chain(code.written()) {
            let root = graph.root(register.number);
            if !seen.contains(root) {
                seen.insert(root);
                order.push(root);
            }
        }
    }
    for &root in &order {
        let virtual_ = selected.registers[root as usize];
        let rows = u32::from(virtual_.rows);
        if colours[root as usize].is_none() {
            let mut taken = vec![false; 64];
            for other in graph.rows[root as usize].iter() {
                let other = graph.root(other);
                if let Some(colour) = colours[other as usize] {
                    let last = colour + u32::from(selected.registers[other as usize].rows);
                    if taken.len() < last as usize {
                        taken.resize(last as usize, false);
                    }
                    taken[colour as usize..last as usize].iter_mut().for_each(|taken| *taken = true);
                }
            }
            let is_free = |colour: &u32| {
                (*colour..*colour + rows).all(|row| !taken.get(row as usize).is_some_and(|&taken| taken))
            };
            let start = u32::from(virtual_.not_zero);
            let colour = (start..).find(is_free).expect("numbers have no end");
            colours[root as usize] = Some(colour);
        }
        needed = needed.max(colours[root as usize].unwrap_or(0) + rows);
    }
    if needed > limit {
        return Err(needed);
    }
    let place = |register: Register| {
        let colour = colours[graph.root(register.number) as usize].expect("all that are used have one");
        Slot::Number((colour + u32::from(register.row)) as u8)
    };
    selected.code.retain_mut(|code| {
        let is_copy = code.is_copy();
        for slot in &mut code.fields {
            if let Slot::Register(register) = *slot {
                *slot = place(register);
            }
        }
        !(is_copy && code.fields[0] == code.fields[1])
    });
    Ok(needed)
}
