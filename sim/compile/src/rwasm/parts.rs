//! The control-flow graph of a function.

use super::code::Code;
use super::heights::Shapes;
use super::opcode::Opcode;
use std::collections::BTreeMap;

/// A part of a function: control comes in at its beginning only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Start {
    /// The beginning of the function, where something jumps back to its first instruction.
    Beginning,
    /// An instruction.
    At(usize),
    /// What a branch or a return does that is taken on a condition, and changes the stack before.
    Taken(usize),
}

/// Where a part ends, and what comes behind.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) start: Start,
    /// Where it goes on, in the order of the targets of its end.
    pub(super) next: Vec<usize>,
    /// The parts before it, each as often as it goes there.
    pub(super) before: Vec<usize>,
}

/// How an instruction ends a part.
pub(super) enum Exit {
    /// It does not.
    On(usize),
    /// It goes on in one of these.
    To(Vec<Start>),
}

/// What comes behind an instruction.
pub(super) fn exit(code: &Code<'_>, shapes: &Shapes, at: usize) -> Exit {
    let word = &code.words[at];
    let next = code.next(at);
    let returns = |returns: bool| if returns { Exit::On(next) } else { Exit::To(Vec::new()) };
    match word.opcode {
        Opcode::Br | Opcode::BrAdjust => Exit::To(vec![Start::At(code.target(at))]),
        // The target that is taken on a true condition comes first.
        Opcode::BrIfNez => Exit::To(vec![Start::At(code.target(at)), Start::At(next)]),
        Opcode::BrIfEqz => Exit::To(vec![Start::At(next), Start::At(code.target(at))]),
        Opcode::BrAdjustIfNez | Opcode::ReturnIfNez => Exit::To(vec![Start::Taken(at), Start::At(next)]),
        Opcode::BrTable => Exit::To(code.table(at).map(Start::At).collect()),
        Opcode::Unreachable
        | Opcode::Call
        | Opcode::Return
        | Opcode::ReturnCall
        | Opcode::ReturnCallInternal
        | Opcode::ReturnCallIndirect => Exit::To(Vec::new()),
        Opcode::CallInternal => returns(shapes.of_function(word.word() as usize).1),
        Opcode::CallIndirect => returns(shapes.of_signature(word.word()).is_some_and(|(_, returns)| returns)),
        _ => Exit::On(next),
    }
}

/// The parts of a function that control reaches, each behind all those that dominate it. The first is the beginning.
pub(super) fn parts(code: &Code<'_>, shapes: &Shapes) -> Vec<Part> {
    let is_reached = |at: usize| shapes.heights[code.number][at].is_some();
    let mut is_start = vec![false; code.words.len()];
    let mut is_looped = false;
    for at in (0..code.words.len()).filter(|&at| is_reached(at)) {
        if let Exit::To(targets) = exit(code, shapes, at) {
            for target in targets {
                let to = match target {
                    Start::At(to) => to,
                    Start::Taken(_) if code.words[at].opcode == Opcode::BrAdjustIfNez => code.target(at),
                    _ => continue,
                };
                is_start[to] = true;
                is_looped |= to == 0;
            }
        }
    }
    // Parts in postorder: each comes when all behind it have come.
    let mut numbers: BTreeMap<Start, Option<usize>> = BTreeMap::new();
    let mut found: Vec<(Start, Vec<Start>)> = Vec::new();
    let first = if is_looped { Start::Beginning } else { Start::At(0) };
    numbers.insert(first, None);
    let mut path = vec![(first, targets(code, shapes, &is_start, first), 0)];
    while let Some((start, targets_of, done)) = path.last_mut() {
        if let Some(&target) = targets_of.get(*done) {
            *done += 1;
            if let std::collections::btree_map::Entry::Vacant(entry) = numbers.entry(target) {
                entry.insert(None);
                path.push((target, targets(code, shapes, &is_start, target), 0));
            }
            continue;
        }
        numbers.insert(*start, Some(found.len()));
        found.push((*start, std::mem::take(targets_of)));
        path.pop();
    }
    let last = found.len() - 1;
    let number = |start: &Start| last - numbers[start].expect("every part has been left");
    let mut parts: Vec<Part> = found
        .iter()
        .rev()
        .map(|(start, next)| Part {
            start: *start,
            next: next.iter().map(number).collect(),
            before: Vec::new(),
        })
        .collect();
    for part in 0..parts.len() {
        for next in parts[part].next.clone() {
            parts[next].before.push(part);
        }
    }
    parts
}

/// Where a part goes on.
fn targets(code: &Code<'_>, shapes: &Shapes, is_start: &[bool], start: Start) -> Vec<Start> {
    let mut at = match start {
        Start::Beginning => return vec![Start::At(0)],
        Start::Taken(at) if code.words[at].opcode == Opcode::BrAdjustIfNez => {
            return vec![Start::At(code.target(at))];
        }
        Start::Taken(_) => return Vec::new(),
        Start::At(at) => at,
    };
    loop {
        match exit(code, shapes, at) {
            Exit::To(targets) => return targets,
            Exit::On(next) if is_start[next] => return vec![Start::At(next)],
            Exit::On(next) => at = next,
        }
    }
}
