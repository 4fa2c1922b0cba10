//! Structured control flow of one wave: active mask, divergence stack, call stack (isa section 5).
//!
//! Pure state: what an instruction does to the masks and where the wave continues. The issue stage adds the
//! timing.

use wave_capture::{Capture, Misfit};
use wave_isa::Op;
use wave_isa::program::fault::FaultKind;

/// One open construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub enum Frame {
    /// `if` without its `endif` yet.
    If {
        /// Lanes that take the else side.
        otherwise: u64,
        /// Lanes that have finished the then side.
        joined: u64,
    },
    /// `loop` without its `endloop` yet.
    Loop {
        /// First word of the body.
        head: u32,
        /// Lanes that left the loop.
        broken: u64,
        /// Lanes that wait for the next iteration.
        continued: u64,
    },
}

/// A return address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
struct Call {
    return_to: u32,
    depth: usize,
}

/// Control state of one wave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Capture)]
#[sound]
pub struct Divergence {
    /// Lanes that exist and have not halted.
    pub live: u64,
    /// Lanes that execute.
    pub active: u64,
    frames: Vec<Frame>,
    calls: Vec<Call>,
    /// Constructs opened and not closed since the active mask became empty.
    pub(crate) skipped: u32,
    #[spec]
    max_frames: usize,
    #[spec]
    max_calls: usize,
}

/// Where a wave continues after a control instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At the next word.
    Fall,
    /// At another word of the kernel.
    Jump(u32),
    /// Nowhere: every lane has halted.
    Ended,
}

/// A control instruction with the values of its operands.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The operation: structured control flow only.
    pub op: Op,
    /// Lanes that pass its guard, active or not.
    pub guard: u64,
    /// Lanes in which its predicate operand, after its optional negation, is true.
    pub condition: u64,
    /// Target word of a call.
    pub target: u32,
    /// The word behind the instruction.
    pub next: u32,
    /// Word at which the wave continues if no lane is active any more.
    pub(crate) skip_to: u32,
}

impl Divergence {
    /// Empty stacks with room for `max_frames` constructs and `max_calls` calls.
    pub fn new(max_frames: usize, max_calls: usize) -> Divergence {
        Divergence {
            frames: Vec::with_capacity(max_frames),
            calls: Vec::with_capacity(max_calls),
            max_frames,
            max_calls,
            ..Divergence::default()
        }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.frames.len() <= self.max_frames, "frames")?;
        Misfit::in_range(self.calls.len() <= self.max_calls, "calls")?;
        Misfit::in_range(self.skipped <= u32::MAX / 2, "skipped")
    }

    /// True if it has no other lanes than these, and goes on at no word from `end` on.
    pub(super) fn is_within(&self, lanes: u64, end: u32) -> bool {
        let frame = |frame: &Frame| match *frame {
            Frame::If { otherwise, joined } => (otherwise | joined) & !lanes == 0,
            Frame::Loop { head, broken, continued } => head <= end && (broken | continued) & !lanes == 0,
        };
        self.live & !lanes == 0
            && self.active & !self.live == 0
            && self.frames.iter().all(frame)
            && self.calls.iter().all(|call| call.return_to <= end)
    }

    /// Starts a wave with these live lanes.
    pub fn start(&mut self, lanes: u64) {
        self.live = lanes;
        self.active = lanes;
        self.frames.clear();
        self.calls.clear();
        self.skipped = 0;
    }

    /// Halts every lane.
    pub fn end(&mut self) {
        self.live = 0;
        self.active = 0;
    }

    /// Executes a control instruction.
    ///
    /// # Errors
    /// The stack faults of isa section 5.
    pub fn step(&mut self, step: &Step) -> Result<Next, FaultKind> {
        if self.active == 0 && self.skips(step.op) {
            return Ok(Next::Fall);
        }
        let taken = match step.op {
            Op::If => {
                let then = self.active & step.condition;
                self.push(Frame::If { otherwise: self.active & !then, joined: 0 })?;
                self.active = then;
                Next::Fall
            }
            Op::Else => {
                let Some(Frame::If { otherwise, joined }) = self.frames.last_mut() else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                *joined |= self.active;
                self.active = std::mem::take(otherwise);
                Next::Fall
            }
            Op::EndIf => {
                let Some(Frame::If { otherwise, joined }) = self.frames.last().copied() else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                self.frames.pop();
                self.active |= joined | otherwise;
                Next::Fall
            }
            Op::Loop => {
                self.push(Frame::Loop { head: step.next, broken: 0, continued: 0 })?;
                Next::Fall
            }
            // Squashed even where there is no loop to leave: no fault.
            Op::Break | Op::Continue if self.active & step.guard == 0 => Next::Fall,
            Op::Break | Op::Continue => {
                let lanes = self.active & step.guard & step.condition;
                let innermost = self.frames.iter_mut().rev().find_map(|frame| match frame {
                    Frame::Loop { broken, continued, .. } => Some((broken, continued)),
                    Frame::If { .. } => None,
                });
                let Some((broken, continued)) = innermost else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                *(if step.op == Op::Break { broken } else { continued }) |= lanes;
                self.active &= !lanes;
                Next::Fall
            }
            Op::EndLoop => {
                let Some(Frame::Loop { head, broken, continued }) = self.frames.last_mut() else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                self.active |= std::mem::take(continued);
                if self.active != 0 {
                    Next::Jump(*head)
                } else {
                    self.active = *broken;
                    self.frames.pop();
                    Next::Fall
                }
            }
            Op::Call => {
                if self.calls.len() == self.max_calls {
                    return Err(FaultKind::CallOverflow { depth: self.max_calls as u32 });
                }
                self.calls.push(Call { return_to: step.next, depth: self.frames.len() });
                Next::Jump(step.target)
            }
            Op::Return => match self.calls.last().copied() {
                None => self.halt(self.active),
                Some(call) if call.depth != self.frames.len() => return Err(FaultKind::ReturnDepth),
                Some(call) => {
                    self.calls.pop();
                    Next::Jump(call.return_to)
                }
            },
            Op::Halt => self.halt(self.active & step.guard),
            other => unreachable!("`{}` is not structured control flow", other.info().mnemonic),
        };
        Ok(match taken {
            Next::Fall if self.active == 0 && step.skip_to != step.next => Next::Jump(step.skip_to),
            other => other,
        })
    }

    /// Counts nested constructs while no lane is active. Returns true if the instruction has no effect. The
    /// first else, endif or endloop at the level where the last lane went out has one: it reactivates lanes
    /// (B3).
    fn skips(&mut self, op: Op) -> bool {
        match op {
            Op::If | Op::Loop => {
                self.skipped += 1;
                true
            }
            Op::EndIf | Op::EndLoop if self.skipped > 0 => {
                self.skipped -= 1;
                true
            }
            Op::Else => self.skipped > 0,
            Op::EndIf | Op::EndLoop => false,
            _ => true,
        }
    }

    fn halt(&mut self, lanes: u64) -> Next {
        self.active &= !lanes;
        self.live &= !lanes;
        if self.live == 0 { Next::Ended } else { Next::Fall }
    }

    fn push(&mut self, frame: Frame) -> Result<(), FaultKind> {
        if self.frames.len() == self.max_frames {
            return Err(FaultKind::DivergenceOverflow { depth: self.max_frames as u32 });
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Open constructs, outermost first.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }
}
