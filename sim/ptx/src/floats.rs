//! Registers that hold nothing but f32 values of the kernel's own, whose NaN may stay that of PTX until somebody looks.
//!
//! An operation on f32 does not care which NaN it gets. So a register that is only ever written by such operations, or
//! with a literal that is no NaN, needs the NaN of WAVE no sooner than something else reads it. The value from before
//! the first write must not be read: a launch may bring any bits.

use crate::plan::{Next, Plan};
use wave_isa::{ExecClass, Inst, MAX_REGISTERS, Op};

/// A set of registers.
type Registers = [u64; MAX_REGISTERS / 64];

/// True if the operation reads its sources as f32, so that all NaNs are one to it.
pub(crate) fn reads_f32(op: Op) -> bool {
    let converts =
        matches!(op, Op::CvtI32F32 | Op::CvtU32F32 | Op::CvtF16F32 | Op::CvtBf16F32 | Op::CvtF64F32);
    converts || op.info().class == ExecClass::Sfu || computes_f32(op) || is_comparison(op)
}

/// True if the operation gives an f32, and no NaN but the canonical one.
fn computes_f32(op: Op) -> bool {
    use Op::*;
    match op {
        FNeg | FAbs => false,
        CvtF32I32 | CvtF32U32 | CvtF32F16 | CvtF32Bf16 | CvtF32F64 => true,
        _ => {
            matches!(op.info().class, ExecClass::Fp32 | ExecClass::Fp32Div | ExecClass::Sfu)
                && !is_comparison(op)
        }
    }
}

/// True if the operation copies its sources.
pub(crate) fn copies(op: Op) -> bool {
    matches!(op, Op::Mov | Op::Select)
}

fn is_comparison(op: Op) -> bool {
    use Op::*;
    matches!(op, FCmpEq | FCmpNe | FCmpLt | FCmpLe | FCmpGt | FCmpGe | FCmpOrd | FCmpUnord)
}

/// Per register, true if it holds f32 values only.
pub(crate) fn float_registers(plan: &Plan) -> [bool; MAX_REGISTERS] {
    let mut is_float = [true; MAX_REGISTERS];
    let insts =
        || plan.insts.iter().zip(&plan.reached).filter_map(|(inst, reached)| inst.filter(|_| *reached));
    for inst in insts() {
        let number = inst.op == Op::MovImm && !f32::from_bits(inst.imm).is_nan();
        if let Some((first, rows)) = inst.destination(crate::WAVE_WIDTH as usize)
            && !number
            && !computes_f32(inst.op)
            && !copies(inst.op)
        {
            (0..rows).for_each(|row| is_float[usize::from(first + row)] = false);
        }
        // A shuffle reads registers of lanes that may not have written them.
        if inst.op.info().class == ExecClass::Wave {
            inst.sources().for_each(|(register, _)| is_float[usize::from(register)] = false);
        }
    }
    let live = live_at_start(plan);
    for (register, is_float) in is_float.iter_mut().enumerate() {
        *is_float &= live[register / 64] >> (register % 64) & 1 == 0;
    }
    // A copy of anything else may be anything.
    loop {
        let mut changed = false;
        for inst in insts().filter(|inst| copies(inst.op)) {
            let is_copy = inst.sources().all(|(register, _)| is_float[usize::from(register)]);
            changed |= is_float[usize::from(inst.rd)] && !is_copy;
            is_float[usize::from(inst.rd)] &= is_copy;
        }
        if !changed {
            break;
        }
    }
    // What no operation on f32 writes has no NaN to replace.
    let mut computed = [false; MAX_REGISTERS];
    loop {
        let mut changed = false;
        for inst in insts().filter(|inst| is_float[usize::from(inst.rd)]) {
            let copied =
                copies(inst.op) && inst.sources().any(|(register, _)| computed[usize::from(register)]);
            let register = usize::from(inst.rd);
            if (computes_f32(inst.op) || copied) && !computed[register] {
                (computed[register], changed) = (true, true);
            }
        }
        if !changed {
            break;
        }
    }
    std::array::from_fn(|register| is_float[register] && computed[register])
}

/// Registers whose value from the launch a lane may read.
fn live_at_start(plan: &Plan) -> Registers {
    let mut live = vec![Registers::default(); plan.insts.len()];
    let successors: Vec<Vec<usize>> = (0..plan.insts.len()).map(|slot| lane_successors(plan, slot)).collect();
    loop {
        let mut changed = false;
        for slot in (0..plan.insts.len()).rev().filter(|&slot| plan.reached[slot]) {
            let mut now = Registers::default();
            for &next in &successors[slot] {
                now.iter_mut().zip(live[next]).for_each(|(now, next)| *now |= next);
            }
            if let Some(inst) = plan.insts[slot] {
                transfer(&inst, &mut now);
            }
            changed |= now != live[slot];
            live[slot] = now;
        }
        if !changed {
            return live.first().copied().unwrap_or_default();
        }
    }
}

fn transfer(inst: &Inst, live: &mut Registers) {
    if let Some((first, rows)) = inst.destination(crate::WAVE_WIDTH as usize)
        && !inst.guard.is_some()
    {
        (first..first + rows).for_each(|r| live[usize::from(r / 64)] &= !(1 << (r % 64)));
    }
    for (first, rows) in inst.sources() {
        (0..rows).map(|row| first + row).for_each(|r| live[usize::from(r / 64)] |= 1 << (r % 64));
    }
}

/// Where a lane may go on behind a slot: where the wave does, or where the lane is active again.
fn lane_successors(plan: &Plan, slot: usize) -> Vec<usize> {
    let mut next = vec![plan.after(slot), plan.skips[slot]];
    let of = |slot: usize| &plan.structure.constructs[plan.construct_of(slot)];
    let close = |slot: usize| of(slot).close.expect("every construct is closed");
    match plan.insts[slot].map(|inst| inst.op) {
        Some(Op::If) => next.extend([of(slot).alternative.unwrap_or(close(slot))].map(|to| plan.after(to))),
        Some(Op::Else) => next.push(Next::Slot(close(slot))),
        Some(Op::Break) => next.push(plan.after(close(slot))),
        Some(Op::Continue) => next.push(Next::Slot(close(slot))),
        Some(Op::EndLoop) => next.push(plan.after(of(slot).open)),
        Some(Op::Call) => {
            let inst = plan.insts[slot].expect("it is a call");
            next.extend(plan.callee(&inst).map(Next::Slot));
        }
        Some(Op::Return) => next.extend(plan.calls.iter().map(|&call| plan.after(call))),
        _ => {}
    }
    next.into_iter()
        .filter_map(|next| match next {
            Next::Slot(slot) => Some(slot),
            Next::End => None,
        })
        .collect()
}
