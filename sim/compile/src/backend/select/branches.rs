//! Branches, and guards in their place.

use super::conditions::Condition;
use super::{Code, Constants, Selector, Slot};
use crate::error::Reason;
use crate::ir::{Place, Value};
use crate::structure::Node;
use wave_isa::{Guard, Op};

/// Most instructions of a side that gets guards. A branch takes two or three instructions of its own, and a side that
/// no lane takes costs its instructions with guards as well.
const MOST_GUARDED: usize = 4;

impl Selector<'_> {
    /// A branch on a truth value.
    pub(super) fn branch(&mut self, condition: Value, sides: &[Vec<Node>; 2]) -> Result<(), (Place, Reason)> {
        let [yes, no] = sides;
        if yes.is_empty() && no.is_empty() {
            return Ok(());
        }
        let (predicate, negated) = self.condition(condition);
        self.choose(predicate, negated, [yes, no])
    }

    /// The first nodes where the predicate is true (or false, if it is negated), else the second.
    pub(super) fn choose(
        &mut self,
        predicate: u8,
        negated: bool,
        [yes, no]: [&[Node]; 2],
    ) -> Result<(), (Place, Reason)> {
        if yes.is_empty() {
            return if no.is_empty() { Ok(()) } else { self.choose(predicate, !negated, [no, yes]) };
        }
        let at = self.at;
        let before = self.predicates;
        let first = self.side(yes)?;
        let after_first = std::mem::replace(&mut self.predicates, before);
        self.at = at;
        let second = self.side(no)?;
        // A lane's predicates are those of the side that it took. Lanes that have left do not come together with the
        // others.
        let has_left = |codes: &[Code]| codes.last().is_some_and(Code::leaves);
        if has_left(&second) {
            self.predicates = after_first;
        } else if !has_left(&first) {
            self.predicates.join(&after_first);
        }
        if may_be_guarded(&first, predicate) && may_be_guarded(&second, predicate) {
            self.guarded(first, second, (predicate, negated));
            return Ok(());
        }
        let operand = Slot::Number(predicate | u8::from(negated) << 2);
        self.code.push(Code::with(Op::If, &[operand], at));
        self.code.extend(first);
        if !second.is_empty() {
            self.code.push(Code::new(Op::Else, at));
            self.code.extend(second);
        }
        self.code.push(Code::new(Op::EndIf, at));
        Ok(())
    }

    /// Instructions of one side.
    fn side(&mut self, nodes: &[Node]) -> Result<Vec<Code>, (Place, Reason)> {
        let before = std::mem::take(&mut self.code);
        self.constants.push(Constants::default());
        self.nodes(nodes)?;
        self.constants.pop();
        Ok(std::mem::replace(&mut self.code, before))
    }

    /// Both sides one after the other, under guards.
    fn guarded(&mut self, first: Vec<Code>, second: Vec<Code>, (predicate, negated): Condition) {
        let writes = |codes: &[Code], register| codes.iter().any(|code| code.written() == Some(register));
        let reads =
            |codes: &[Code], register| codes.iter().any(|code| code.read().any(|other| other == register));
        let is_variable = |selector: &Self, code: &Code| {
            let is_variable = |number: u32| selector.registers[number as usize].is_variable;
            code.written().is_some_and(|to| selector.is_flat || is_variable(to.number))
        };
        // Where both sides write a register, and the second does not read it before, nobody wants its old value.
        let keeps_first: Vec<bool> = first
            .iter()
            .map(|code| {
                is_variable(self, code)
                    && code.written().is_some_and(|to| !writes(&second, to) || reads(&second, to))
            })
            .collect();
        let keeps_second: Vec<bool> = second.iter().map(|code| is_variable(self, code)).collect();
        for (side, keeps, negated) in [(first, keeps_first, negated), (second, keeps_second, !negated)] {
            for (mut code, keeps) in side.into_iter().zip(keeps) {
                if matches!(code.op, Op::Break | Op::Continue) {
                    code.fields[1] = Slot::Number(predicate | u8::from(negated) << 2);
                } else {
                    code.guard = Guard { predicate, negated };
                    code.keeps |= keeps;
                }
                self.code.push(code);
            }
        }
    }
}

/// True if instructions may be guarded by a predicate: few, without guards and structure of their own, and they do not
/// write it. The last may leave.
fn may_be_guarded(codes: &[Code], predicate: u8) -> bool {
    let is_plain = |code: &Code| {
        let is_jump = matches!(code.op, Op::Break | Op::Continue);
        let is_wave = (Op::WaveShuffle as u8..=Op::WaveReduceXor as u8).contains(&(code.op as u8));
        !code.guard.is_some()
            && !code.is_structure()
            && !is_wave
            && (!is_jump || code.leaves())
            && code.written_predicate() != Some(predicate)
    };
    let leaves_early = codes.iter().rev().skip(1).any(Code::leaves);
    codes.len() <= MOST_GUARDED && codes.iter().all(is_plain) && !leaves_early
}
