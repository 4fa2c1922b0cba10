//! Machine registers for virtual ones: greedy colouring of the interference graph.
//!
//! Two registers interfere if one is written where the other is wanted behind; but not the two of a copy, which have
//! the same value then. Copies whose registers do not interfere get one register, and go. The others get the lowest
//! free one in the order of their first place in the code. What is wanted behind a call gets none that the called
//! function writes: that one is compiled before. Where no register is free, the values that are cheapest to keep in
//! memory go there, and all begins anew.

mod graph;
mod spill;

use super::code::{Convention, Register, RegisterSet, Selected, Slot};
use graph::Graph;

/// Most rounds of spilling. Few are needed; each one leaves less to spill.
const MOST_ROUNDS: u32 = 40;

/// Assigns registers, and drops the copies that are not needed. Gives the number of registers, and how the function is
/// called.
///
/// # Errors
/// See [`Failed`].
pub(super) fn assign(selected: &mut Selected, limit: u32) -> Result<(u32, Convention), Failed> {
    for _ in 0..MOST_ROUNDS {
        let mut graph = Graph::of(selected);
        graph.coalesce(selected);
        let costs = spill::costs(selected, &graph);
        let Coloured { colours, needed, spilled } = colour(selected, &graph, &costs, limit);
        if needed <= limit && spilled.is_empty() {
            return Ok((needed, finish(selected, &graph, &colours)));
        }
        if spilled.is_empty() {
            return Err(Failed::Registers(needed));
        }
        if !spill::spill(selected, &graph, &spilled) {
            return Err(Failed::PrivateBase);
        }
    }
    Err(Failed::Registers(limit + 1))
}

/// Why a function has no registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// It needs so many at one place, and nothing is left that could go to memory.
    Registers(u32),
    /// Values have to go to memory, and the program has no private base.
    PrivateBase,
}

/// What a round of colouring came to.
struct Coloured {
    /// The register of each group that has one.
    colours: Vec<Option<u32>>,
    /// Registers needed.
    needed: u32,
    /// Groups that have to go to memory.
    spilled: Vec<u32>,
}

fn colour(selected: &Selected, graph: &Graph, costs: &[f32], limit: u32) -> Coloured {
    let count = selected.registers.len();
    // Interference counts between groups.
    let mut colours: Vec<Option<u32>> = vec![None; count];
    for (number, virtual_) in selected.registers.iter().enumerate() {
        if let Some(fixed) = virtual_.fixed {
            colours[number] = Some(fixed.into());
        }
    }
    let mut result = Coloured { colours, needed: 1, spilled: Vec::new() };
    let mut is_spilled = vec![false; count];
    let mut seen = vec![false; count];
    for code in &selected.code {
        let transferred =
            code.transfer.iter().flat_map(|transfer| transfer.read.iter().chain(&transfer.written));
        for register in code.read().chain(code.written()).chain(transferred.copied()) {
            let root = graph.root(register.number);
            if std::mem::replace(&mut seen[root as usize], true) {
                continue;
            }
            let rows = u32::from(selected.registers[root as usize].rows);
            if result.colours[root as usize].is_none() {
                result.colours[root as usize] = Some(free(selected, graph, &result.colours, root));
            }
            // Cheaper values leave their registers to this one.
            while result.colours[root as usize].is_some_and(|colour| colour + rows > limit) {
                let is_candidate = |&other: &u32| {
                    let colour = result.colours[other as usize];
                    let fits = colour.is_some_and(|colour| {
                        colour + rows <= limit && !graph.forbidden[root as usize].contains(colour)
                    });
                    other == root || fits && !is_spilled[other as usize]
                };
                let neighbours = graph.neighbours(root).map(|other| graph.root(other));
                let candidates = neighbours.chain([root]).filter(is_candidate);
                let weight = |other: u32| costs[other as usize] / (graph.degree(other) as f32 + 1.0);
                let victim = candidates
                    .filter(|&other| costs[other as usize].is_finite())
                    .min_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(a.cmp(&b)));
                let Some(victim) = victim else { break };
                result.colours[victim as usize] = None;
                is_spilled[victim as usize] = true;
                result.spilled.push(victim);
                if victim == root {
                    break;
                }
                result.colours[root as usize] = Some(free(selected, graph, &result.colours, root));
            }
            if let Some(colour) = result.colours[root as usize] {
                result.needed = result.needed.max(colour + rows);
            }
        }
    }
    result
}

/// The lowest register that a group may have.
fn free(selected: &Selected, graph: &Graph, colours: &[Option<u32>], root: u32) -> u32 {
    let virtual_ = selected.registers[root as usize];
    let rows = u32::from(virtual_.rows);
    let mut taken = vec![false; 64];
    for other in graph.neighbours(root) {
        let other = graph.root(other);
        if let Some(colour) = colours[other as usize] {
            let last = colour + u32::from(selected.registers[other as usize].rows);
            if taken.len() < last as usize {
                taken.resize(last as usize, false);
            }
            taken[colour as usize..last as usize].iter_mut().for_each(|taken| *taken = true);
        }
    }
    let forbidden = graph.forbidden[root as usize];
    let is_free = |colour: &u32| {
        let mut rows = *colour..*colour + rows;
        rows.all(|row| !taken.get(row as usize).is_some_and(|&taken| taken) && !forbidden.contains(row))
    };
    let start = u32::from(virtual_.not_zero);
    (start..).find(is_free).expect("numbers have no end")
}

/// Puts machine registers in the place of virtual ones.
fn finish(selected: &mut Selected, graph: &Graph, colours: &[Option<u32>]) -> Convention {
    let colour = |register: Register| {
        let colour = colours[graph.root(register.number) as usize];
        colour.map(|colour| (colour + u32::from(register.row)) as u8)
    };
    let mut written = RegisterSet::default();
    selected.code.retain_mut(|code| {
        let is_copy = code.is_copy();
        let destination = code.written().and_then(colour);
        let rows = code.rows_written();
        for slot in &mut code.fields {
            if let Slot::Register(register) = *slot {
                *slot = Slot::Number(colour(register).expect("all that are used have one"));
            }
        }
        let stays = !(is_copy && code.fields[0] == code.fields[1]);
        if let Some(first) = destination
            && stays
        {
            (0..rows).for_each(|row| written.insert(first.saturating_add(row)));
        }
        if let Some(transfer) = &code.transfer {
            written.extend(transfer.clobbered);
        }
        stays
    });
    let wanted = |register: Register| graph.wanted_first(register.number).then(|| colour(register)).flatten();
    Convention {
        parameters: selected.parameters.iter().map(|&register| wanted(register)).collect(),
        results: selected.results.iter().map(|&register| colour(register).unwrap_or(0)).collect(),
        written,
        nesting: selected.nesting,
        spill_words: selected.spill_words,
    }
}
