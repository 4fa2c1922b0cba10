//! A wave: its lanes, masks and stacks, and one step of it.

use super::decode::{self, Decoded, decode};
use super::scalar::{self, Value};
use super::{Context, memory, wave_ops};
use std::collections::BTreeMap;
use wave_isa::program::{Fault, FaultKind};
use wave_isa::table::Space;

/// A 4×4 f32 tile as bits, row by row.
pub(super) type Fragment = [[u32; 4]; 4];

/// The state of one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// General registers.
    pub registers: Vec<u32>,
    /// Predicates.
    pub predicates: [bool; 4],
    /// A fragments.
    pub a: [Fragment; 8],
    /// B fragments.
    pub b: [Fragment; 8],
    /// C fragments.
    pub c: [Fragment; 8],
}

/// State of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Ready,
    Barrier,
    Ended,
}

/// A frame of the divergence stack.
enum Frame {
    If { otherwise: u64, joined: u64 },
    Loop { head: u32, broken: u64, continued: u64 },
}

/// One wave.
pub(super) struct Wave {
    pub index: u32,
    pub turn: Turn,
    pub lanes: Vec<Lane>,
    /// Instructions executed, by (opcode, modifier).
    pub executed: BTreeMap<(u8, u8), u64>,
    /// Current word in the code section.
    pc: u32,
    active: u64,
    live: u64,
    stack: Vec<Frame>,
    /// (word to return to, number of frames of the divergence stack at the call)
    calls: Vec<(u32, usize)>,
    /// Number of ifs and loops opened since the active mask became empty.
    skipped: u32,
}

impl Wave {
    pub(super) fn new(context: &Context, index: u32) -> Wave {
        let launch = context.launch;
        let width = context.machine.wave_width;
        let mut lane = Lane {
            registers: vec![0; launch.registers as usize],
            predicates: [false; 4],
            a: Default::default(),
            b: Default::default(),
            c: Default::default(),
        };
        for &(register, value) in &launch.initial_registers {
            lane.registers[usize::from(register)] = value;
        }
        let exists = |l: &u32| u64::from(index) * u64::from(width) + u64::from(*l) < launch.threads();
        let live = (0..width).filter(exists).map(|l| 1 << l).sum();
        Wave {
            index,
            turn: Turn::Ready,
            lanes: vec![lane; width as usize],
            executed: BTreeMap::new(),
            pc: context.program.kernels[launch.kernel].code.start,
            active: live,
            live,
            stack: Vec::new(),
            calls: Vec::new(),
            skipped: 0,
        }
    }

    /// Executes, squashes or walks over the instruction at the pc.
    pub(super) fn step(
        &mut self,
        context: &Context,
        local: &mut [u8],
        device: &mut [u8],
    ) -> Result<(), Fault> {
        let code = &context.program.kernels[context.launch.kernel].code;
        if self.live == 0 || self.pc >= code.end {
            self.live = 0;
            self.active = 0;
            self.turn = Turn::Ended;
            return Ok(());
        }
        let pc = self.pc;
        self.try_step(context, local, device).map_err(|(lanes, kind)| Fault {
            kind,
            kernel: context.launch.kernel,
            workgroup: context.workgroup,
            wave: self.index,
            lanes,
            pc: pc * 4,
            cycle: None,
        })
    }

    /// A step with a watcher.
    pub(crate) fn watched_step(
        &mut self,
        context: &Context,
        local: &mut [u8],
        device: &mut [u8],
        watch: super::Watch<'_>,
    ) -> Result<(), Fault> {
        let (pc, active, before) = (self.pc * 4, self.active, self.lanes.clone());
        self.step(context, local, device)?;
        let step = super::Step {
            workgroup: context.workgroup,
            wave: self.index,
            pc,
            active,
            before: &before,
            next_pc: (self.turn != Turn::Ended).then_some(self.pc * 4),
            active_after: self.active,
        };
        watch(&step, &mut self.lanes);
        Ok(())
    }

    fn try_step(
        &mut self,
        context: &Context,
        local: &mut [u8],
        device: &mut [u8],
    ) -> Result<(), (u64, FaultKind)> {
        let code = &context.program.kernels[context.launch.kernel].code;
        let words = &context.program.code[self.pc as usize..code.end as usize];
        let kernel = code.start * 4..code.end * 4;
        let decoded = decode(words, kernel, context.launch.registers, context.machine);

        if self.active == 0 {
            let key = decoded.as_ref().map_or((0, 0), Decoded::key);
            let acts = match key {
                (0x3F, 0 | 3) => {
                    self.skipped += 1;
                    false
                }
                (0x3F, 1) => self.skipped == 0,
                (0x3F, 2 | 6) if self.skipped > 0 => {
                    self.skipped -= 1;
                    false
                }
                (0x3F, 2 | 6) => true,
                _ => false,
            };
            if !acts {
                self.pc += decode::length(words[0]);
                return Ok(());
            }
        }

        let i = decoded.map_err(|why| (self.active, FaultKind::IllegalInstruction(why)))?;
        let guarded = (i.predicate, i.negated) != (0, false);
        let flag = |lane: usize, predicate: u8| self.lanes[lane].predicates[usize::from(predicate)];
        let all: Vec<usize> = (0..self.lanes.len()).filter(|&l| self.active >> l & 1 == 1).collect();
        let taking_part: Vec<usize> =
            all.iter().copied().filter(|&l| !guarded || flag(l, i.predicate) != i.negated).collect();
        self.pc += i.words;
        let control = i.opcode == 0x3F && i.modifier <= 9;
        if !taking_part.is_empty() || (control && self.active != 0) {
            *self.executed.entry(i.key()).or_default() += 1;
        }
        if guarded && taking_part.is_empty() {
            return Ok(());
        }

        match i.opcode {
            0x30 | 0x31 => memory::load_or_store(&i, &mut self.lanes, &taking_part, Space::Local, local),
            0x38 | 0x39 => memory::load_or_store(&i, &mut self.lanes, &taking_part, Space::Device, device),
            0x3C => memory::atomic(&i, &mut self.lanes, &taking_part, Space::Local, local),
            0x3D => memory::atomic(&i, &mut self.lanes, &taking_part, Space::Device, device),
            0x40 => memory::matrix(&i, &mut self.lanes, &taking_part, local),
            0x3E => {
                wave_ops::execute(&i, &mut self.lanes, &taking_part);
                Ok(())
            }
            0x3F => {
                let mask = taking_part.iter().map(|&l| 1u64 << l).sum();
                self.control(&i, mask, context).map_err(|kind| (self.active, kind))
            }
            _ => {
                self.compute(&i, &taking_part, context);
                Ok(())
            }
        }
    }

    fn compute(&mut self, i: &Decoded, taking_part: &[usize], context: &Context) {
        for &l in taking_part {
            let special = |code| special_register(code, l as u32, self.index, context);
            let lane = &mut self.lanes[l];
            let rd = usize::from(i.rd);
            match scalar::compute(i, lane, special) {
                Some(Value::Word(word)) => lane.registers[rd] = word,
                Some(Value::Pair(pair)) => {
                    lane.registers[rd] = pair as u32;
                    lane.registers[rd + 1] = (pair >> 32) as u32;
                }
                Some(Value::Predicate(flag)) => lane.predicates[rd] = flag,
                None => {}
            }
        }
    }

    /// Control flow and synchronisation (opcode 3F). `mask`: participating lanes.
    fn control(&mut self, i: &Decoded, mask: u64, context: &Context) -> Result<(), FaultKind> {
        // Participating lanes in which the predicate operand holds.
        let chosen = || -> u64 {
            let holds = |l: &usize| {
                self.lanes[*l].predicates[usize::from(i.rs1 & 3)] != (i.rs1 & 4 != 0) && mask >> l & 1 == 1
            };
            (0..self.lanes.len()).filter(holds).map(|l| 1 << l).sum()
        };
        match i.modifier {
            0 => {
                let chosen = chosen();
                self.push(Frame::If { otherwise: self.active & !chosen, joined: 0 }, context)?;
                self.active = chosen;
            }
            1 => {
                let Some(Frame::If { otherwise, joined }) = self.stack.last_mut() else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                *joined |= self.active;
                self.active = *otherwise;
                *otherwise = 0;
            }
            2 => {
                let Some(&Frame::If { otherwise, joined }) = self.stack.last() else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                self.active |= joined | otherwise;
                self.stack.pop();
            }
            3 => self.push(Frame::Loop { head: self.pc, broken: 0, continued: 0 }, context)?,
            4 | 5 => {
                let leaving = chosen();
                let innermost = self.stack.iter_mut().rev().find_map(|frame| match frame {
                    Frame::Loop { broken, continued, .. } => Some((broken, continued)),
                    Frame::If { .. } => None,
                });
                let Some((broken, continued)) = innermost else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                if i.modifier == 4 {
                    *broken |= leaving;
                } else {
                    *continued |= leaving;
                }
                self.active &= !leaving;
            }
            6 => {
                let Some(Frame::Loop { head, broken, continued }) = self.stack.last_mut() else {
                    return Err(FaultKind::DivergenceUnderflow);
                };
                self.active |= *continued;
                *continued = 0;
                if self.active != 0 {
                    self.pc = *head;
                } else {
                    self.active = *broken;
                    self.stack.pop();
                }
            }
            7 => {
                if self.calls.len() >= context.machine.call_depth as usize {
                    return Err(FaultKind::CallOverflow { depth: context.machine.call_depth });
                }
                self.calls.push((self.pc, self.stack.len()));
                self.pc = i.word1 / 4;
            }
            8 => match self.calls.last() {
                None => self.halt(mask),
                Some(&(_, depth)) if depth != self.stack.len() => return Err(FaultKind::ReturnDepth),
                Some(&(pc, _)) => {
                    self.pc = pc;
                    self.calls.pop();
                }
            },
            9 => self.halt(mask),
            10 => {
                if self.active != self.live {
                    return Err(FaultKind::BarrierInDivergence);
                }
                self.turn = Turn::Barrier;
            }
            // Fences and wait order memory, which is always in order here; nop does nothing.
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, frame: Frame, context: &Context) -> Result<(), FaultKind> {
        let depth = context.machine.divergence_depth;
        if self.stack.len() >= depth as usize {
            return Err(FaultKind::DivergenceOverflow { depth });
        }
        self.stack.push(frame);
        Ok(())
    }

    fn halt(&mut self, lanes: u64) {
        self.active &= !lanes;
        self.live &= !lanes;
        if self.live == 0 {
            self.turn = Turn::Ended;
        }
    }
}

/// The special registers of section 1.
fn special_register(code: u8, lane: u32, wave: u32, context: &Context) -> u32 {
    let (launch, machine) = (context.launch, context.machine);
    let index = u64::from(wave) * u64::from(machine.wave_width) + u64::from(lane);
    let [size_x, size_y, _] = launch.workgroup.map(u64::from);
    let direction = |first: u8| usize::from(code - first);
    match code {
        0 => (index % size_x) as u32,
        1 => (index / size_x % size_y) as u32,
        2 => (index / size_x / size_y) as u32,
        3 => wave,
        4 => lane,
        5..=7 => context.workgroup[direction(5)],
        8..=10 => launch.workgroup[direction(8)],
        11..=13 => launch.grid[direction(11)],
        14 => machine.wave_width,
        15 => launch.waves_per_workgroup(machine.wave_width) as u32,
        16 => u32::from(machine.mma),
        // The matrix sizes are 0 on a machine without matrix instructions.
        _ => 4 * u32::from(machine.mma),
    }
}
