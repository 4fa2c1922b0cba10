//! Copies of values that leave a loop.
//!
//! A conditional `break` has the copies of the values that leave the loop in front of it, under its condition, and every
//! round has them. Where a copy is wanted on the way out only, all lanes may make it: those that stay do not want what they
//! overwrite. Without a guard the copy and its source can share a register, and then the copy goes.

use super::code::{Register, Selected, Slot};
use super::liveness::{step, walk};
use wave_isa::{Guard, Op};

/// Takes the guards from such copies.
pub(super) fn free_copies(selected: &mut Selected) {
    // Copies, and the break that each belongs to.
    let mut copies: Vec<(usize, usize)> = Vec::new();
    for (place, one) in selected.code.iter().enumerate() {
        if let (Op::Break, Slot::Number(condition)) = (one.op, one.fields[1]) {
            let guard = Guard { predicate: condition & 3, negated: condition & 4 != 0 };
            copies.extend(before(selected, place, guard).map(|copy| (copy, place)));
        }
    }
    while !copies.is_empty() {
        let mut freed = selected.code.clone();
        for &(copy, _) in &copies {
            (freed[copy].guard, freed[copy].keeps) = (Guard::NONE, false);
        }
        // For each copy, in the order of their breaks: the lanes that stay do not want its destination.
        let mut is_free = vec![false; copies.len()];
        walk(&freed, selected.registers.len(), |place, wanted| {
            let first = copies.partition_point(|&(_, leaving)| leaving + 1 < place);
            let of_break = first..copies.partition_point(|&(_, leaving)| leaving < place);
            if of_break.is_empty() {
                return;
            }
            let mut wanted = wanted.clone();
            step(&freed[place], &mut wanted);
            for number in of_break {
                let to = freed[copies[number].0].written().expect("a copy writes");
                is_free[number] = !wanted.contains(to.number);
            }
        });
        let count = copies.len();
        let mut is_free = is_free.into_iter();
        copies.retain(|_| is_free.next().expect("one for each copy"));
        if copies.len() == count {
            selected.code = freed;
            return;
        }
    }
}

/// The guarded copies directly in front of a place, whose destinations nothing reads in between.
fn before(selected: &Selected, place: usize, guard: Guard) -> impl Iterator<Item = usize> + '_ {
    let code = &selected.code;
    let is_whole = |to: Register| selected.registers[to.number as usize].rows == 1;
    let guarded = (0..place).rev().take_while(move |&copy| code[copy].guard == guard && guard.is_some());
    guarded.filter(move |&copy| {
        let to = code[copy].written();
        let is_read = code[copy + 1..place].iter().any(|one| one.read().any(|from| Some(from) == to));
        code[copy].is_copy() && code[copy].keeps && to.is_some_and(is_whole) && !is_read
    })
}
