//! What of a kernel's code runs, and what of it cannot be translated.

use std::collections::{BTreeMap, BTreeSet};
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::program::dis::instruction_text;
use wave_isa::program::structure::{NestingError, Structure, skip_targets};
use wave_isa::program::{Kernel, Program};
use wave_isa::{DecodeError, Inst, Op, WORD_BYTES};

/// Where a wave goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// At an instruction.
    Slot(usize),
    /// Nowhere: the code ends, and with it the wave.
    End,
}

/// A kernel's code as the translation needs it.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub program: &'a Program,
    pub kernel: &'a Kernel,
    pub structure: Structure,
    /// Per slot, the instruction; `None` if it is illegal in this kernel.
    pub insts: Vec<Option<Inst>>,
    /// Per slot, where a wave without active lanes goes on behind it.
    pub skips: Vec<Next>,
    /// Per slot, true if a wave can reach it.
    pub reached: Vec<bool>,
    /// Slots to which something branches.
    pub targets: BTreeSet<usize>,
    /// Calls, in the order of the code.
    pub calls: Vec<usize>,
}

impl<'a> Plan<'a> {
    /// Looks at a kernel.
    ///
    /// # Errors
    /// What has no equivalent, each with its place.
    pub(crate) fn of(program: &'a Program, kernel: &'a Kernel) -> Result<Plan<'a>, Vec<Diagnostic>> {
        let code = &program.code[kernel.code.start as usize..kernel.code.end as usize];
        let structure = Structure::scan(code);
        let skip_words = skip_targets(code);
        let insts = structure.slots.iter().map(|slot| legal(slot.inst, kernel)).collect();
        let mut plan = Plan {
            program,
            kernel,
            insts,
            skips: Vec::new(),
            reached: vec![false; structure.slots.len()],
            targets: BTreeSet::new(),
            calls: Vec::new(),
            structure,
        };
        let errors: Vec<Diagnostic> =
            plan.structure.errors.iter().map(|error| plan.does_not_nest(error)).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        for slot in 0..plan.structure.slots.len() {
            let next = plan.structure.slots.get(slot + 1).map_or(code.len(), |slot| slot.word as usize);
            let word = skip_words[next] as usize;
            let skip = plan.structure.slot_of_word.get(word).copied().flatten();
            plan.skips.push(skip.map_or(Next::End, Next::Slot));
        }
        plan.follow_functions()?;
        for slot in 0..plan.insts.len() {
            if plan.reached[slot] {
                plan.branches_of(slot);
            }
        }
        Ok(plan)
    }

    /// What a wave executes behind a slot.
    pub(crate) fn after(&self, slot: usize) -> Next {
        if slot + 1 < self.insts.len() { Next::Slot(slot + 1) } else { Next::End }
    }

    /// The slot that a call leads to, if it is the first word of an instruction.
    pub(crate) fn callee(&self, call: &Inst) -> Option<usize> {
        let word = (call.imm / WORD_BYTES).checked_sub(self.kernel.code.start)?;
        self.structure.slot_of_word.get(word as usize).copied().flatten()
    }

    /// Byte offset of a slot in the code section.
    pub(crate) fn pc(&self, slot: usize) -> u32 {
        (self.kernel.code.start + self.structure.slots[slot].word) * WORD_BYTES
    }

    /// Source line of a slot, if it has one.
    pub(crate) fn line(&self, slot: usize) -> Option<u32> {
        let word = self.kernel.code.start + self.structure.slots[slot].word;
        self.program.source.as_ref()?.line_of_word(word).map(|(line, _)| line)
    }

    /// The instruction of a slot as assembly.
    pub(crate) fn text(&self, slot: usize) -> String {
        let word = self.kernel.code.start + self.structure.slots[slot].word;
        instruction_text(self.program, word).expect("a slot is in the code")
    }

    /// True if lanes can leave the construct otherwise than by its end, so that none may be left there.
    pub(crate) fn is_left(&self, construct: usize) -> bool {
        let outer = &self.structure.constructs[construct];
        let end = outer.close.expect("every construct is closed");
        (outer.open + 1..end).filter(|&slot| self.reached[slot]).any(|slot| {
            match self.insts[slot].map(|inst| inst.op) {
                Some(Op::Halt | Op::Return | Op::Call) => true,
                Some(Op::Break | Op::Continue) => {
                    self.structure.constructs[self.construct_of(slot)].open < outer.open
                }
                _ => false,
            }
        })
    }

    /// The construct that an `if`, `else`, `endif`, `loop` or `endloop` belongs to; of a `break` or `continue`, the
    /// loop.
    pub(crate) fn construct_of(&self, slot: usize) -> usize {
        self.structure.construct_of[slot].expect("the code nests")
    }

    /// Slots behind one, for a wave that stays in its function; a call returns.
    fn successors(&self, slot: usize, in_kernel: bool) -> Vec<Next> {
        let (next, skip) = (self.after(slot), self.skips[slot]);
        let Some(inst) = self.insts[slot] else { return Vec::new() };
        match inst.op {
            Op::Halt if !inst.guard.is_some() => vec![skip],
            Op::Return if in_kernel => vec![skip],
            Op::Return => Vec::new(),
            Op::EndLoop => {
                let head = self.structure.constructs[self.construct_of(slot)].open;
                vec![self.after(head), next, skip]
            }
            Op::If | Op::Else | Op::EndIf | Op::Break | Op::Continue | Op::Halt => vec![next, skip],
            _ => vec![next],
        }
    }

    fn branches_of(&mut self, slot: usize) {
        let Some(inst) = self.insts[slot] else { return };
        let mut to = Vec::new();
        match inst.op {
            Op::If | Op::Else | Op::EndIf | Op::Break | Op::Continue | Op::Halt | Op::Return => {
                to.push(self.skips[slot]);
            }
            Op::EndLoop => {
                let head = self.structure.constructs[self.construct_of(slot)].open;
                to.extend([self.skips[slot], self.after(head)]);
            }
            Op::Call => {
                to.push(Next::Slot(self.callee(&inst).expect("calls were looked at")));
                self.calls.push(slot);
            }
            _ => {}
        }
        self.targets.extend(to.into_iter().filter_map(|next| match next {
            Next::Slot(slot) => Some(slot),
            Next::End => None,
        }));
    }

    /// Finds what the kernel and each function that it calls can reach.
    fn follow_functions(&mut self) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        // The entry of each function, and the entries of those that it calls, with a call.
        let mut functions: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
        let mut entries = if self.insts.is_empty() { Vec::new() } else { vec![(0, true)] };
        while let Some((entry, is_kernel)) = entries.pop() {
            if !is_kernel && functions.contains_key(&entry) {
                continue;
            }
            let around: Vec<usize> = self.structure.around(entry).collect();
            let mut seen = vec![false; self.insts.len()];
            let mut work = vec![entry];
            let mut calls = BTreeMap::new();
            while let Some(slot) = work.pop() {
                if std::mem::replace(&mut seen[slot], true) {
                    continue;
                }
                self.reached[slot] = true;
                if let Some(inst) = self.insts[slot] {
                    match inst.op {
                        Op::Call => match self.callee(&inst) {
                            Some(callee) => {
                                calls.entry(callee).or_insert(slot);
                                entries.push((callee, false));
                            }
                            None => {
                                errors.push(self.error(slot, "a call into the second word of an instruction"))
                            }
                        },
                        Op::Return
                            if self.structure.inside[slot] != self.structure.inside[entry] && !is_kernel =>
                        {
                            errors.push(self.error(slot, "`return` inside an `if` or `loop` of a function"));
                        }
                        Op::Else | Op::EndIf | Op::EndLoop if around.contains(&self.construct_of(slot)) => {
                            let message = format!(
                                "`{}` acts on an `if` or `loop` outside of the function that runs into it",
                                inst.op.info().mnemonic
                            );
                            errors.push(self.error(slot, &message));
                        }
                        Op::Break | Op::Continue if around.contains(&self.construct_of(slot)) => {
                            let message = format!(
                                "`{}` leaves a loop outside of its function",
                                inst.op.info().mnemonic
                            );
                            errors.push(self.error(slot, &message));
                        }
                        _ => {}
                    }
                }
                work.extend(self.successors(slot, is_kernel).into_iter().filter_map(|next| match next {
                    Next::Slot(slot) => Some(slot),
                    Next::End => None,
                }));
            }
            if !is_kernel {
                functions.insert(entry, calls);
            }
        }
        errors.extend(self.recursion(&functions));
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Calls of a function that is under way.
    fn recursion(&self, functions: &BTreeMap<usize, BTreeMap<usize, usize>>) -> Vec<Diagnostic> {
        let reaches = |from: usize, to: usize| {
            let (mut seen, mut work) = (BTreeSet::new(), vec![from]);
            while let Some(function) = work.pop() {
                if function == to {
                    return true;
                }
                if seen.insert(function) {
                    work.extend(functions[&function].keys());
                }
            }
            false
        };
        let calls =
            functions.iter().flat_map(|(&from, calls)| calls.iter().map(move |(&to, &at)| (from, to, at)));
        let recursive = calls.filter(|&(from, to, _)| reaches(to, from));
        recursive
            .map(|(_, _, at)| {
                self.error(
                    at,
                    "a recursive call has no equivalent in PTX: it would need a stack of every register",
                )
            })
            .collect()
    }

    fn does_not_nest(&self, error: &NestingError) -> Diagnostic {
        let slot = error.slot();
        let name = self.insts[slot].map_or("", |inst| inst.op.info().mnemonic);
        let message = match error {
            NestingError::Unclosed(..) => {
                format!("this `{name}` is never closed, or only behind what is around it")
            }
            NestingError::Unopened(..) => format!("`{name}` without its `if` or `loop`"),
            NestingError::SecondElse(..) => "a second `else` of one `if`".to_owned(),
            NestingError::OutsideLoop(..) => format!("`{name}` outside a loop"),
        };
        self.error(slot, &message).hint("PTX is made of kernels that nest; `wave-sim check` says more")
    }

    /// An error about a slot.
    pub(crate) fn error(&self, slot: usize, message: &str) -> Diagnostic {
        let source = self.program.source.as_ref();
        let place = source.zip(self.line(slot)).and_then(|(source, line)| {
            let text = source.text.lines().nth(line as usize - 1)?.to_owned();
            let column = text.chars().take_while(|c| c.is_whitespace()).count() as u32 + 1;
            let length = text.trim().chars().count().max(1) as u32;
            Some(Place { file: source.file.clone(), line, column, length, text })
        });
        match place {
            Some(place) => Diagnostic::error(message).at(place),
            None => Diagnostic::error(format!(
                "kernel `{}`, pc {:#06x}, `{}`: {message}",
                self.kernel.name,
                self.pc(slot),
                self.text(slot)
            )),
        }
    }
}

/// The instruction, if it is legal in this kernel.
fn legal(inst: Result<Inst, DecodeError>, kernel: &Kernel) -> Option<Inst> {
    let inst = inst.ok()?;
    inst.check_registers(kernel.registers as u16, crate::WAVE_WIDTH as usize).ok()?;
    let target = inst.imm / WORD_BYTES;
    let is_call = inst.op == Op::Call;
    let is_inside = inst.imm.is_multiple_of(WORD_BYTES) && kernel.code.contains(&target);
    (!is_call || is_inside).then_some(inst)
}
