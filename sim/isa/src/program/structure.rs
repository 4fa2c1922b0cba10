//! The structure of one kernel's code: where instructions start, which `if`, `else`, `endif`, `loop` and
//! `endloop` belong together, and where a wave without active lanes continues.

use crate::{DecodeError, Inst, Op};

/// Words of the instruction that starts with `word0`, legal or not: (opcode, modifier) alone decide (isa
/// section 2). A word with an unassigned key counts as one word.
pub fn instruction_words(word0: u32) -> u32 {
    Op::from_key((word0 >> 24) as u8, (word0 >> 4) as u8 & 15).map_or(1, |op| op.info().words())
}

/// The operation of a legal instruction at the start of `code`.
fn operation(code: &[u32]) -> Option<Op> {
    Inst::decode(code).ok().map(|inst| inst.op)
}

/// For each word offset of `code` (one kernel's words), the offset at which a wave with an empty active mask
/// next has an effect: the first `else`, `endif` or `endloop` at nesting level 0 on a walk from there,
/// including an instruction right there. It is `code.len()` if the code ends first, which ends the wave.
/// There are `code.len() + 1` entries, so the offset after the last word has one too.
///
/// The walk counts `if` and `loop` up and `endif` and `endloop` down, without checking which closes which,
/// like the hardware's skip counter. Illegal words are stepped over, also an `endif` that is illegal because
/// of its guard. Offsets inside of a two-word instruction have an entry of their own, since a call may lead
/// there. The time is linear in the length of the code.
pub fn skip_targets(code: &[u32]) -> Vec<u32> {
    let end = code.len() as u32;
    // `close` is the same search for `endif` and `endloop` only: it leaves an inner level.
    let mut target = vec![end; code.len() + 1];
    let mut close = vec![end; code.len() + 1];
    for offset in (0..code.len()).rev() {
        let here = offset as u32;
        let next = (here + instruction_words(code[offset])).min(end) as usize;
        (target[offset], close[offset]) = match operation(&code[offset..]) {
            Some(Op::Else) => (here, close[next]),
            Some(Op::EndIf | Op::EndLoop) => (here, here),
            Some(Op::If | Op::Loop) => {
                // Continue behind the inner level. If that never ends, neither does the search.
                let after = (close[next] + 1).min(end) as usize;
                (target[after], close[after])
            }
            _ => (target[next], close[next]),
        };
    }
    target
}

/// One instruction of a kernel's code, in the order of the linear scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Offset of its first word from the kernel's start.
    pub word: u32,
    /// What the word decodes to.
    pub inst: Result<Inst, DecodeError>,
}

impl Slot {
    /// The operation, if the encoding is legal.
    pub fn op(&self) -> Option<Op> {
        self.inst.ok().map(|inst| inst.op)
    }
}

/// An `if` or a `loop` and the instructions that belong to it, as indices into [`Structure::slots`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Construct {
    /// The `if` or `loop`.
    pub open: usize,
    /// Its `else`.
    pub alternative: Option<usize>,
    /// Its `endif` or `endloop`; `None` if it is never closed.
    pub close: Option<usize>,
    /// The innermost construct around it, an index into [`Structure::constructs`].
    pub parent: Option<usize>,
    /// Number of constructs that are open inside of it, itself included: 1 for an outermost one.
    pub depth: u32,
    /// True for a `loop`.
    pub is_loop: bool,
}

/// Why the control instructions of a kernel do not nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestingError {
    /// An `if` or `loop` that is not closed, or closed only after the construct around it. The second field
    /// is the instruction that closes the one around it.
    Unclosed(usize, Option<usize>),
    /// An `else`, `endif` or `endloop` without its opener. The second field is the construct of the other
    /// kind that is open there.
    Unopened(usize, Option<usize>),
    /// A second `else` (first field) of one `if`, whose first is the second field.
    SecondElse(usize, usize),
    /// A `break` or `continue` outside any loop.
    OutsideLoop(usize),
}

/// Result of the linear scan of one kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Structure {
    /// Every instruction, from the first word on.
    pub slots: Vec<Slot>,
    /// The slot that starts at each word; `None` for the second words.
    pub slot_of_word: Vec<Option<usize>>,
    /// Every `if` and `loop`, in the order of their openers.
    pub constructs: Vec<Construct>,
    /// Per slot, the innermost construct around it. An opener, an `else` and a closer are in the construct
    /// around their own.
    pub inside: Vec<Option<usize>>,
    /// Per slot: for an opener, an `else` or a closer, its construct; for a `break` or `continue`, the
    /// innermost loop.
    pub construct_of: Vec<Option<usize>>,
    /// Nesting errors, in the order of the code.
    pub errors: Vec<NestingError>,
}

impl Structure {
    /// Scans one kernel's words.
    pub fn scan(code: &[u32]) -> Structure {
        let mut found = Structure { slot_of_word: vec![None; code.len()], ..Structure::default() };
        let mut word = 0;
        while word < code.len() {
            found.slot_of_word[word] = Some(found.slots.len());
            found.slots.push(Slot { word: word as u32, inst: Inst::decode(&code[word..]) });
            word += instruction_words(code[word]) as usize;
        }
        found.match_constructs();
        found
    }

    /// The constructs around a slot, innermost first.
    pub fn around(&self, slot: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.inside[slot], |&c| self.constructs[c].parent)
    }

    /// Constructs open at a slot.
    pub fn depth(&self, slot: usize) -> u32 {
        self.inside[slot].map_or(0, |c| self.constructs[c].depth)
    }

    fn match_constructs(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        // An `else` without `if` is followed by its `endif`, which is not a second error.
        let mut orphans = 0;
        self.construct_of = vec![None; self.slots.len()];
        self.inside = vec![None; self.slots.len()];
        for slot in 0..self.slots.len() {
            let op = self.slots[slot].op();
            match op {
                Some(Op::If | Op::Loop) => {
                    self.inside[slot] = open.last().copied();
                    self.construct_of[slot] = Some(self.constructs.len());
                    self.constructs.push(Construct {
                        open: slot,
                        alternative: None,
                        close: None,
                        parent: open.last().copied(),
                        depth: open.len() as u32 + 1,
                        is_loop: op == Some(Op::Loop),
                    });
                    open.push(self.constructs.len() - 1);
                    continue;
                }
                Some(Op::Else | Op::EndIf | Op::EndLoop) => {
                    self.construct_of[slot] = self.opener(slot, op == Some(Op::EndLoop), &mut open);
                    if self.construct_of[slot].is_none() {
                        match op {
                            Some(Op::EndIf) if orphans > 0 => orphans -= 1,
                            _ => self.unopened(slot, open.last().copied()),
                        }
                        orphans += usize::from(op == Some(Op::Else));
                    }
                    if let Some(construct) = self.construct_of[slot] {
                        if op == Some(Op::Else) {
                            match self.constructs[construct].alternative {
                                Some(first) => self.errors.push(NestingError::SecondElse(slot, first)),
                                None => self.constructs[construct].alternative = Some(slot),
                            }
                        } else {
                            self.constructs[construct].close = Some(slot);
                            open.pop();
                        }
                        self.inside[slot] = self.constructs[construct].parent;
                        continue;
                    }
                }
                Some(Op::Break | Op::Continue) => {
                    self.construct_of[slot] = open.iter().copied().rfind(|&c| self.constructs[c].is_loop);
                    if self.construct_of[slot].is_none() {
                        self.errors.push(NestingError::OutsideLoop(slot));
                    }
                }
                _ => {}
            }
            self.inside[slot] = open.last().copied();
        }
        for construct in open {
            self.errors.push(NestingError::Unclosed(self.constructs[construct].open, None));
        }
        self.errors.sort_by_key(NestingError::slot);
    }

    fn unopened(&mut self, slot: usize, other: Option<usize>) {
        self.errors.push(NestingError::Unopened(slot, other.map(|c| self.constructs[c].open)));
    }

    /// The construct that an `else`, `endif` or `endloop` belongs to; it becomes the innermost open one. Open
    /// constructs of the other kind inside of it are reported as unclosed.
    fn opener(&mut self, slot: usize, wants_loop: bool, open: &mut Vec<usize>) -> Option<usize> {
        let at = open.iter().rposition(|&c| self.constructs[c].is_loop == wants_loop)?;
        for construct in open.drain(at + 1..) {
            self.errors.push(NestingError::Unclosed(self.constructs[construct].open, Some(slot)));
        }
        Some(open[at])
    }
}

impl NestingError {
    /// The slot that the error is about.
    pub fn slot(&self) -> usize {
        match *self {
            NestingError::Unclosed(slot, _)
            | NestingError::Unopened(slot, _)
            | NestingError::SecondElse(slot, _)
            | NestingError::OutsideLoop(slot) => slot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(ops: &[Op]) -> Vec<u32> {
        ops.iter()
            .flat_map(|&op| {
                let inst = Inst::new(op);
                inst.encode().into_iter().take(inst.words() as usize)
            })
            .collect()
    }

    /// The walk as the rule states it, one search per start.
    fn walk(code: &[u32], start: usize) -> u32 {
        let (mut offset, mut depth) = (start, 0u32);
        while offset < code.len() {
            match operation(&code[offset..]) {
                Some(Op::If | Op::Loop) => depth += 1,
                Some(Op::Else | Op::EndIf | Op::EndLoop) if depth == 0 => return offset as u32,
                Some(Op::EndIf | Op::EndLoop) => depth -= 1,
                _ => {}
            }
            offset += instruction_words(code[offset]) as usize;
        }
        code.len() as u32
    }

    #[test]
    fn skips_reach_the_first_marker_of_the_level() {
        use Op::*;
        // The second word of iadd (offset 2) is 0. From there it decodes as an iadd that swallows the loop.
        let code = words(&[If, IAdd, Loop, Break, Else, EndLoop, Else, EndIf, Halt]);
        assert_eq!(skip_targets(&code), [10, 7, 5, 7, 5, 5, 6, 7, 8, 10, 10]);
    }

    #[test]
    fn markers_in_a_second_word_count_only_when_entered_there() {
        let endif = words(&[Op::EndIf])[0];
        let [literal, _] = Inst::new(Op::MovImm).encode();
        assert_eq!(skip_targets(&[literal, endif]), [2, 1, 2]);
    }

    #[test]
    fn crossing_constructs_are_told_apart() {
        use NestingError::*;
        use Op::*;
        let errors = |ops: &[Op]| Structure::scan(&words(ops)).errors;
        assert_eq!(errors(&[Loop, If, Break, EndIf, EndLoop, If, Else, EndIf]), []);
        assert_eq!(errors(&[If, Nop]), [Unclosed(0, None)]);
        assert_eq!(errors(&[Loop, If, EndLoop]), [Unclosed(1, Some(2))]);
        assert_eq!(errors(&[If, Loop, Else, EndIf]), [Unclosed(1, Some(2))]);
        assert_eq!(errors(&[Loop, EndIf, EndLoop]), [Unopened(1, Some(0))]);
        assert_eq!(errors(&[Else]), [Unopened(0, None)]);
        assert_eq!(errors(&[Else, If, EndIf, EndIf, EndIf]), [Unopened(0, None), Unopened(4, None)]);
        assert_eq!(errors(&[If, Else, Else, EndIf]), [SecondElse(2, 1)]);
        assert_eq!(errors(&[If, Continue, EndIf]), [OutsideLoop(1)]);
    }

    #[test]
    fn a_slot_knows_what_is_around_it() {
        use Op::*;
        let found = Structure::scan(&words(&[If, Loop, Break, EndLoop, Else, Nop, EndIf]));
        assert_eq!(found.inside, [None, Some(0), Some(1), Some(0), None, Some(0), None]);
        assert_eq!(found.construct_of, [Some(0), Some(1), Some(1), Some(1), Some(0), None, Some(0)]);
        assert_eq!(found.around(2).collect::<Vec<_>>(), [1, 0]);
        assert_eq!((found.depth(2), found.depth(5), found.depth(6)), (2, 1, 0));
        assert_eq!(found.constructs[0].alternative, Some(4));
    }

    proptest! {
        #[test]
        fn skip_targets_equal_the_walk(picks in prop::collection::vec((0u32..16, any::<u32>()), 0..60)) {
            // Mostly control instructions, for deep nesting, with arbitrary words between them.
            let code: Vec<u32> =
                picks.iter().map(|&(m, word)| if m < 12 { 0x3F00_0000 | m << 4 | word & word >> 9 & 15 } else { word }).collect();
            let walked: Vec<u32> = (0..=code.len()).map(|start| walk(&code, start)).collect();
            prop_assert_eq!(skip_targets(&code), walked);
            let _ = Structure::scan(&code);
        }
    }
}
