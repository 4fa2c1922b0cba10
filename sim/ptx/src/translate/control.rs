//! Control flow, barriers and fences.
//!
//! `%on` says whether the thread's lane is active, `%live` whether it has not halted. Each `if` has the predicates
//! `%else` and `%joined`, each `loop` `%broken` and `%continued`: the frames of the divergence stack, lane by lane. All
//! branches are taken by all threads of a warp or by none. Where no lane may be left, the warp goes on where WAVE does.

use super::entry::FaultKind;
use super::{Pending, Translation, label};
use crate::body::line;
use crate::plan::Next;
use wave_isa::{Inst, Op, Scope};

/// Value of `%link` outside of any call.
const NO_CALL: u32 = u32::MAX;

impl Translation<'_> {
    /// `if`, `loop` and what belongs to them, calls and ends.
    pub(crate) fn control(&mut self, inst: &Inst, guard: &str) {
        let slot = self.slot;
        match inst.op {
            Op::If => {
                let c = self.plan.construct_of(slot);
                let (chosen, other) = self.predicate_operand(inst);
                line!(self.body, "and.pred %else{c}, %on, {other};");
                line!(self.body, "and.pred %on, %on, {chosen};");
                if self.plan.structure.constructs[c].alternative.is_some() {
                    line!(self.body, "mov.pred %joined{c}, 0;");
                }
                self.skip_if_empty();
            }
            Op::Else => {
                let c = self.plan.construct_of(slot);
                line!(self.body, "or.pred %joined{c}, %joined{c}, %on;");
                line!(self.body, "mov.pred %on, %else{c};");
                line!(self.body, "mov.pred %else{c}, 0;");
                self.skip_if_empty();
            }
            Op::EndIf => {
                let c = self.plan.construct_of(slot);
                line!(self.body, "or.pred %on, %on, %else{c};");
                if self.plan.structure.constructs[c].alternative.is_some() {
                    line!(self.body, "or.pred %on, %on, %joined{c};");
                }
                if self.plan.is_left(c) {
                    self.skip_if_empty();
                }
            }
            Op::Loop => {
                let c = self.plan.construct_of(slot);
                line!(self.body, "mov.pred %broken{c}, 0;");
                line!(self.body, "mov.pred %continued{c}, 0;");
            }
            Op::Break | Op::Continue => {
                let c = self.plan.construct_of(slot);
                let kind = if inst.op == Op::Break { "broken" } else { "continued" };
                let (chosen, _) = self.predicate_operand(inst);
                let leaves = self.body.predicate();
                line!(self.body, "and.pred {leaves}, {guard}, {chosen};");
                line!(self.body, "or.pred %{kind}{c}, %{kind}{c}, {leaves};");
                self.switch_off(&leaves);
                self.skip_if_empty();
            }
            Op::EndLoop => {
                let c = self.plan.construct_of(slot);
                let any = self.body.predicate();
                line!(self.body, "or.pred %on, %on, %continued{c};");
                line!(self.body, "mov.pred %continued{c}, 0;");
                line!(self.body, "vote.sync.any.pred {any}, %on, 0xffffffff;");
                let head = self.plan.structure.constructs[c].open;
                line!(self.body, "@{any} bra.uni {};", place(self.plan.after(head)));
                line!(self.body, "mov.pred %on, %broken{c};");
                if self.plan.is_left(c) {
                    self.skip_if_empty();
                }
            }
            Op::Call => {
                let number = self.plan.calls.binary_search(&slot).expect("every call has a number");
                let callee = self.plan.callee(inst).expect("calls were looked at");
                line!(self.body, "mov.b32 %save{number}, %link;");
                line!(self.body, "mov.b32 %link, {number};");
                line!(self.body, "bra.uni {};", label(callee));
                self.body.label(&format!("$back{number}"));
                line!(self.body, "mov.b32 %link, %save{number};");
                self.join();
            }
            Op::Return => {
                let calls = self.plan.calls.len();
                if calls > 0 {
                    let (outside, table) = (self.body.predicate(), self.body.fresh_label());
                    line!(self.body, "setp.eq.u32 {outside}, %link, {NO_CALL};");
                    let past = self.body.fresh_label();
                    line!(self.body, "@{outside} bra.uni {past};");
                    let places: Vec<String> = (0..calls).map(|number| format!("$back{number}")).collect();
                    self.body.label(&table);
                    line!(self.body, ".branchtargets {};", places.join(", "));
                    line!(self.body, "brx.idx.uni %link, {table};");
                    self.body.label(&past);
                }
                self.end_lanes("%on");
            }
            Op::Halt => self.end_lanes(guard),
            _ => unreachable!("the other classes have their own functions"),
        }
    }

    /// Barriers, fences, `wait`.
    pub(crate) fn synchronise(&mut self, inst: &Inst, guard: &str) {
        match inst.op {
            Op::Barrier => {
                let past = self.body.fresh_label();
                if inst.guard.is_some() {
                    let any = self.body.predicate();
                    line!(self.body, "vote.sync.any.pred {any}, {guard}, 0xffffffff;");
                    line!(self.body, "@!{any} bra.uni {past};");
                }
                if self.options.check_bounds {
                    let (waits, any, lanes) =
                        (self.body.predicate(), self.body.predicate(), self.body.word());
                    line!(self.body, "xor.pred {waits}, %on, %live;");
                    line!(self.body, "vote.sync.any.pred {any}, {waits}, 0xffffffff;");
                    line!(self.body, "vote.sync.ballot.b32 {lanes}, %on, 0xffffffff;");
                    self.fault(&any, &lanes, FaultKind::BarrierInDivergence, "0");
                }
                line!(self.body, "barrier.sync 0;");
                match inst.guard.is_some() {
                    true => self.body.label(&past),
                    false => self.pending = [Pending::default(); 2],
                }
            }
            Op::FenceAcquire | Op::FenceRelease | Op::FenceAcqRel => {
                // Lanes that take no part may fence too: it orders more than is asked for.
                line!(self.body, "bar.warp.sync 0xffffffff;");
                if inst.scope != Scope::Wave {
                    line!(self.body, "fence.acq_rel.{};", scope(inst.scope));
                    line!(self.body, "bar.warp.sync 0xffffffff;");
                }
                self.pending = [Pending::default(); 2];
            }
            // Loads of PTX are waited for where their value is used.
            _ => {}
        }
    }

    /// Predicates that hold where the operand chooses a lane, and where it does not.
    fn predicate_operand(&mut self, inst: &Inst) -> (String, String) {
        let (p, negated) = inst.predicate_source().expect("it has a predicate operand");
        let other = self.body.predicate();
        line!(self.body, "not.pred {other}, %p{p};");
        let operand = format!("%p{p}");
        if negated { (other, operand) } else { (operand, other) }
    }

    fn switch_off(&mut self, lanes: &str) {
        let stays = self.body.predicate();
        line!(self.body, "not.pred {stays}, {lanes};");
        line!(self.body, "and.pred %on, %on, {stays};");
    }

    fn end_lanes(&mut self, lanes: &str) {
        let skip = place(self.plan.skips[self.slot]);
        let stays = self.body.predicate();
        line!(self.body, "not.pred {stays}, {lanes};");
        line!(self.body, "and.pred %live, %live, {stays};");
        if lanes == "%on" {
            line!(self.body, "mov.pred %on, 0;");
            line!(self.body, "bra.uni {skip};");
        } else {
            line!(self.body, "and.pred %on, %on, {stays};");
            self.skip_if_empty();
        }
    }

    /// Goes on where a wave without active lanes does, if there is none.
    fn skip_if_empty(&mut self) {
        let any = self.body.predicate();
        line!(self.body, "vote.sync.any.pred {any}, %on, 0xffffffff;");
        line!(self.body, "@!{any} bra.uni {};", place(self.plan.skips[self.slot]));
    }
}

/// The label of a place.
fn place(next: Next) -> String {
    match next {
        Next::Slot(slot) => label(slot),
        Next::End => "$end".to_owned(),
    }
}

/// A scope as PTX has it. That of a wave is within that of its workgroup.
pub(crate) fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Wave | Scope::Workgroup => "cta",
        Scope::Device => "gpu",
        Scope::System => "sys",
    }
}
