//! The instructions of a function, checked one by one: operands, owned words, targets of branches.

use super::opcode::{Opcode, Operand, Word, invalid};
use crate::encoding::Error;

/// Most global variables and tables of a module; the machine of rWasm has 1024 tables.
const MOST_GLOBALS: usize = 1 << 16;
const MOST_TABLES: usize = 1 << 10;
/// Most cells that one function has on the stack: the machine of rWasm has 4096 for all of them.
pub(super) const MOST_CELLS: u32 = 1 << 12;

/// A function.
#[derive(Debug)]
pub(super) struct Code<'a> {
    /// Its number.
    pub(super) number: usize,
    /// Its instructions.
    pub(super) words: &'a [Word],
    /// The signature that it checks, and where it does.
    pub(super) check: Option<(u32, &'a Word)>,
}

impl<'a> Code<'a> {
    /// Checks the instructions of a function of a module with so many functions. Calls of host functions are taken if they
    /// trap.
    pub(super) fn new(
        number: usize,
        words: &'a [Word],
        functions: usize,
        host_calls_trap: bool,
    ) -> Result<Code<'a>, Error> {
        let mut code = Code { number, words, check: None };
        code.read(functions, host_calls_trap).map_err(|error| code.located(error))?;
        Ok(code)
    }

    /// The error with the number of the function.
    pub(super) fn located(&self, error: Error) -> Error {
        Error { function: Some(self.number.to_string()), ..error }
    }

    fn read(&mut self, functions: usize, host_calls_trap: bool) -> Result<(), Error> {
        let mut is_owned = vec![false; self.words.len()];
        let mut at = 0;
        let mut is_head = true;
        while let Some(word) = self.words.get(at) {
            let count = self.owned(at)?;
            is_owned[at + 1..at + 1 + count].fill(true);
            match word.opcode {
                Opcode::SignatureCheck if is_head && self.check.is_none() => {
                    self.check = Some((word.word(), word));
                }
                Opcode::SignatureCheck => {
                    let message = "a check of the signature comes first in its function, and once";
                    return Err(invalid(message, word.offset));
                }
                Opcode::ConsumeFuel => {}
                _ => is_head = false,
            }
            if !(host_calls_trap && matches!(word.opcode, Opcode::Call | Opcode::ReturnCall)) {
                self.operand(at, functions)?;
            }
            at += 1 + count;
        }
        for (at, word) in self.words.iter().enumerate() {
            let is_branch = word.opcode.operand() == Operand::Branch;
            if is_branch && self.branch_target(at).is_none_or(|target| is_owned[target]) {
                let message = format!(
                    "a branch by {} from instruction {at} leads to no instruction of the function",
                    word.branch()
                );
                return Err(invalid(message, word.offset));
            }
        }
        Ok(())
    }

    /// The number of words behind an instruction that belong to it.
    fn owned(&self, at: usize) -> Result<usize, Error> {
        let word = &self.words[at];
        let expect = |place: usize, wanted: &[Opcode]| match self.words.get(place) {
            Some(found) if wanted.contains(&found.opcode) => Ok(()),
            found => {
                let names: Vec<String> = wanted.iter().map(|opcode| opcode.name()).collect();
                let what = found.map_or("the end of the function".to_owned(), |found| found.opcode.name());
                let message =
                    format!("{} needs {} behind it, not {what}", word.opcode.name(), names.join(" or "));
                Err(invalid(message, found.map_or(word.offset, |found| found.offset)))
            }
        };
        let owned = word.opcode.owned();
        for (place, &wanted) in (at + 1..).zip(owned) {
            expect(place, &[wanted])?;
        }
        if word.opcode != Opcode::BrTable {
            return Ok(owned.len());
        }
        let targets = word.word() as usize;
        if targets == 0 || targets > self.words.len() {
            let message = format!(
                "a branch table of {targets} targets in a function of {} instructions",
                self.words.len()
            );
            return Err(invalid(message, word.offset));
        }
        for place in (at + 1..).step_by(2).take(targets) {
            expect(place, &[Opcode::Br, Opcode::BrAdjust, Opcode::Return])?;
            expect(place + 1, &[Opcode::Return])?;
        }
        Ok(2 * targets)
    }

    /// Checks the operands of an instruction and of the words that it owns.
    fn operand(&self, at: usize, functions: usize) -> Result<(), Error> {
        let word = &self.words[at];
        let below = |number: u32, count: usize, what: &str| match (number as usize).checked_sub(count) {
            None => Ok(()),
            Some(_) => {
                let name = word.opcode.name();
                let message = format!("{name}: there is no {what} {number}: there may be {count}");
                Err(invalid(message, word.offset))
            }
        };
        match word.opcode {
            Opcode::LocalGet | Opcode::LocalSet | Opcode::LocalTee if word.word() == 0 => {
                let message = format!("{}: cells are counted from 1, the one on top", word.opcode.name());
                Err(invalid(message, word.offset))
            }
            Opcode::GlobalGet | Opcode::GlobalSet => below(word.word(), MOST_GLOBALS, "global variable"),
            Opcode::TableSize
            | Opcode::TableGrow
            | Opcode::TableFill
            | Opcode::TableGet
            | Opcode::TableSet => below(word.word(), MOST_TABLES, "table"),
            Opcode::TableCopy => {
                below(word.word(), MOST_TABLES, "table")?;
                below(self.words[at + 1].word(), MOST_TABLES, "table")
            }
            Opcode::TableInit | Opcode::CallIndirect => {
                below(self.words[at + 1].word(), MOST_TABLES, "table")
            }
            Opcode::ReturnCallIndirect => below(self.words[at + 2].word(), MOST_TABLES, "table"),
            Opcode::RefFunc | Opcode::CallInternal | Opcode::ReturnCallInternal => {
                below(word.word(), functions, "function")
            }
            Opcode::Call | Opcode::ReturnCall => {
                let what = format!("the host function {} ({})", word.word(), word.opcode.name());
                Err(Error::refused(what).at(word.offset as u64).hint(
                    "the file does not say what that function is; --imports trap makes a trap of its calls",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Where a branch leads.
    fn branch_target(&self, at: usize) -> Option<usize> {
        let target = at as i64 + i64::from(self.words[at].branch());
        usize::try_from(target).ok().filter(|&target| target < self.words.len())
    }

    /// Where a branch leads that has been checked.
    pub(super) fn target(&self, at: usize) -> usize {
        self.branch_target(at).expect("targets of branches are checked")
    }

    /// The instruction behind this one.
    pub(super) fn next(&self, at: usize) -> usize {
        at + 1 + self.words[at].opcode.owned().len()
    }

    /// The first instructions of the targets of a branch table.
    pub(super) fn table(&self, at: usize) -> impl Iterator<Item = usize> {
        (at + 1..).step_by(2).take(self.words[at].word() as usize)
    }

    /// The signature and the table of an indirect call.
    pub(super) fn indirect(&self, at: usize) -> (u32, u32) {
        let last = self.next(at) - 1;
        (self.words[at].word(), self.words[last].word())
    }
}
