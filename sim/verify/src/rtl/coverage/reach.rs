//! Bins that no machine that follows the rules can reach, and why.

use super::{Bin, Form, Hazard, Lanes, Wait};
use wave_isa::operand::Role;
use wave_isa::{ExecClass, Op};

/// A reason, and the bins that it excludes.
pub(crate) struct Rule {
    /// Why the bins cannot be reached.
    pub reason: &'static str,
    /// True for excluded bins.
    pub excludes: fn(&Bin) -> bool,
}

/// Properties of an operation.
struct Traits {
    class: Option<ExecClass>,
    reads: bool,
    reads_predicate: bool,
    guarded: bool,
    writes: bool,
    writes_predicate: bool,
}

impl Traits {
    fn of(op: Option<Op>) -> Traits {
        let has =
            |test: fn(Role) -> bool| op.is_some_and(|op| op.info().operands.iter().any(|o| test(o.role)));
        Traits {
            class: op.map(|op| op.info().class),
            reads: has(|role| matches!(role, Role::Src(_))),
            reads_predicate: has(|role| matches!(role, Role::PredSrc | Role::PredSrcNeg)),
            guarded: op.is_some_and(|op| !op.rejects_guard()),
            writes: has(|role| matches!(role, Role::Dst(_) | Role::DstBallot | Role::DstOptional)),
            writes_predicate: has(|role| role == Role::PredDst),
        }
    }

    fn in_collector(&self) -> bool {
        !matches!(self.class, None | Some(ExecClass::Control | ExecClass::Sync))
    }

    fn accesses(&self) -> bool {
        matches!(self.class, Some(ExecClass::LocalMemory | ExecClass::DeviceMemory))
    }
}

/// The rules. The first rule that excludes a bin counts.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        reason: "the number of words is that of the opcode",
        excludes: |bin| match bin.op {
            None => bin.form != Form::End,
            Some(op) => match op.info().words() {
                1 => bin.form != Form::One,
                _ => !matches!(bin.form, Form::Two | Form::Straddling),
            },
        },
    },
    Rule {
        reason: "an instruction that passes through no collector never waits for or in one",
        excludes: |bin| {
            let waits = matches!(bin.wait, Wait::Collector | Wait::Unit | Wait::WritePort | Wait::Lsu);
            waits && !Traits::of(bin.op).in_collector()
        },
    },
    Rule {
        reason: "a squashed instruction ends at issue",
        excludes: |bin| {
            let waits = matches!(bin.wait, Wait::Unit | Wait::WritePort | Wait::Lsu);
            bin.lanes == Lanes::None && (waits || bin.hazard == Hazard::Overtake)
        },
    },
    Rule {
        reason: "memory instructions wait for the load/store unit, others for their unit",
        excludes: |bin| match bin.wait {
            Wait::Lsu => !Traits::of(bin.op).accesses(),
            Wait::Unit | Wait::WritePort => Traits::of(bin.op).accesses(),
            _ => false,
        },
    },
    Rule {
        reason: "only a result in registers needs a write port",
        excludes: |bin| bin.wait == Wait::WritePort && !Traits::of(bin.op).writes,
    },
    Rule {
        reason: "only fences, wait and barrier wait for accesses",
        excludes: |bin| {
            bin.wait == Wait::Fence
                && (bin.op == Some(Op::Nop) || Traits::of(bin.op).class != Some(ExecClass::Sync))
        },
    },
    Rule {
        reason: "a hazard needs an operand that can have it",
        excludes: |bin| {
            let has = Traits::of(bin.op);
            match bin.hazard {
                Hazard::None => false,
                Hazard::Read => !has.reads,
                Hazard::Predicate => !has.reads_predicate && !has.guarded,
                Hazard::Write => !has.writes && !has.writes_predicate,
                Hazard::Overtake => !has.writes,
            }
        },
    },
    Rule {
        reason: "the scoreboard keeps only what has an operand that a unit or a load can owe",
        excludes: |bin| {
            let has = Traits::of(bin.op);
            let registers = has.reads || has.writes;
            match bin.wait {
                // Loads write registers only.
                Wait::Memory => !registers,
                Wait::Scoreboard => {
                    !registers && !has.reads_predicate && !has.guarded && !has.writes_predicate
                }
                _ => false,
            }
        },
    },
    Rule {
        reason: "an outstanding write makes the instruction wait",
        excludes: |bin| {
            bin.wait == Wait::None && matches!(bin.hazard, Hazard::Read | Hazard::Predicate | Hazard::Write)
        },
    },
];

/// The rule that excludes a bin, as an index into [`RULES`]; `None` if the bin can be reached.
pub(crate) fn excluded(bin: &Bin) -> Option<usize> {
    RULES.iter().position(|rule| (rule.excludes)(bin))
}
