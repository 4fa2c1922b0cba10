//! Which registers are still wanted where.
//!
//! A lane writes only its own copies of registers, so what counts is the way of one lane: at an `if` it takes one side
//! or the other, although the wave walks through both.

use super::code::Code;
use wave_isa::Op;

/// A set of register numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub(super) fn new(count: usize) -> Set {
        Set(vec![0; count.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.0[number as usize / 64] &= !(1 << (number % 64));
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 != 0
    }

    /// Adds those of another set. True if any is new.
    pub(super) fn extend(&mut self, other: &Set) -> bool {
        let mut any = false;
        for (word, &other) in self.0.iter_mut().zip(&other.0) {
            any |= other & !*word != 0;
            *word |= other;
        }
        any
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(place, &word)| {
            std::iter::successors((word != 0).then_some(word), |&word| {
                let rest = word & (word - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |word| place as u32 * 64 + word.trailing_zeros())
        })
    }
}

/// Instructions in a row, and what a lane executes after them.
struct Run {
    start: usize,
    end: usize,
    next: Vec<usize>,
}

/// Calls `each` for every instruction, from the last to the first of a run, with the registers that are wanted behind
/// it.
pub(super) fn walk(code: &[Code], registers: usize, mut each: impl FnMut(usize, &Set)) {
    let runs = runs(code);
    let mut wanted: Vec<Set> = vec![Set::new(registers); runs.len()];
    let behind = |wanted: &[Set], run: &Run| {
        let mut set = Set::new(registers);
        run.next.iter().for_each(|&next| {
            set.extend(&wanted[next]);
        });
        set
    };
    let mut changed = true;
    while changed {
        changed = false;
        for (number, run) in runs.iter().enumerate().rev() {
            let mut set = behind(&wanted, run);
            code[run.start..run.end].iter().rev().for_each(|code| step(code, &mut set));
            changed |= wanted[number].extend(&set);
        }
    }
    for run in runs.iter().rev() {
        let mut set = behind(&wanted, run);
        for place in (run.start..run.end).rev() {
            each(place, &set);
            step(&code[place], &mut set);
        }
    }
}

/// From what is wanted behind an instruction to what is wanted in front of it.
pub(super) fn step(code: &Code, set: &mut Set) {
    if let Some(to) = code.written()
        && !code.keeps
    {
        set.remove(to.number);
    }
    if let Some(transfer) = &code.transfer {
        transfer.written.iter().for_each(|to| set.remove(to.number));
        transfer.read.iter().for_each(|from| set.insert(from.number));
    }
    for from in code.read() {
        set.insert(from.number);
    }
}

fn runs(code: &[Code]) -> Vec<Run> {
    let ends_run = |op: Op| {
        use Op::*;
        matches!(op, If | Else | EndIf | Loop | Break | Continue | EndLoop | Halt | Return)
    };
    let mut runs: Vec<Run> = Vec::new();
    let mut run_of = vec![0; code.len() + 1];
    let mut start = 0;
    for (place, one) in code.iter().enumerate() {
        run_of[place] = runs.len();
        if ends_run(one.op) || place + 1 == code.len() {
            runs.push(Run { start, end: place + 1, next: Vec::new() });
            start = place + 1;
        }
    }
    // Behind the code is nothing.
    run_of[code.len()] = runs.len();
    let partners = partners(code);
    let count = runs.len();
    for run in &mut runs {
        let last = run.end - 1;
        let one = &code[last];
        let after = run.end;
        let next = match (one.op, partners[last]) {
            (Op::If, Some((other, _))) => vec![after, other + 1],
            (Op::Else, Some((end, _))) => vec![end + 1],
            (Op::EndLoop, Some((start, _))) => vec![start + 1],
            (Op::Break, Some((_, end))) if one.leaves() => vec![end + 1],
            (Op::Break, Some((_, end))) => vec![after, end + 1],
            (Op::Continue, Some((start, _))) if one.leaves() => vec![start + 1],
            (Op::Continue, Some((start, _))) => vec![after, start + 1],
            (Op::Halt, _) if one.leaves() => Vec::new(),
            (Op::Return, _) => Vec::new(),
            _ => vec![after],
        };
        run.next = next.into_iter().map(|place| run_of[place]).filter(|&run| run < count).collect();
    }
    runs
}

/// Places of the instructions that belong to one: of an `if` its `else` or `endif`, of an `else` its `endif`, of an
/// `endloop` its `loop`, of `break` and `continue` both ends of their loop.
fn partners(code: &[Code]) -> Vec<Option<(usize, usize)>> {
    let mut partners = vec![None; code.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut loops: Vec<(usize, Vec<usize>)> = Vec::new();
    for (place, one) in code.iter().enumerate() {
        match one.op {
            Op::If => open.push(place),
            Op::Else => {
                let start = open.pop().expect("an if is open");
                partners[start] = Some((place, place));
                open.push(place);
            }
            Op::EndIf => {
                let start = open.pop().expect("an if is open");
                partners[start] = Some((place, place));
            }
            Op::Loop => loops.push((place, Vec::new())),
            Op::Break | Op::Continue => loops.last_mut().expect("a loop is open").1.push(place),
            Op::EndLoop => {
                let (start, leaving) = loops.pop().expect("a loop is open");
                partners[place] = Some((start, place));
                leaving.into_iter().for_each(|leaving| partners[leaving] = Some((start, place)));
            }
            _ => {}
        }
    }
    partners
}
