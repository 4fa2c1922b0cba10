//! A thread: a stack of frames, and the machine that makes its steps.

use super::super::evaluate::{binary, compare, convert, double, fma, half, unary};
use super::super::{
    Access, Block, Constant, Function, FunctionId, Instruction, Operation, Place, Target, Terminator, Trap,
    Type, Value, Wave,
};
use super::instance::Parts;
use super::{Limits, MOST_VALUES, Trapped};
use cranelift_entity::EntityRef;
use std::rc::Rc;
use wave_isa::table::AtomicOp;
use wave_isa::{MMA_DIM, Special};

/// The special registers of a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Registers(pub(super) [u32; Special::ALL.len()]);

impl Registers {
    /// Those of a thread that is alone: everything there is one of.
    pub(super) fn alone() -> Registers {
        let mut registers = Registers([0; Special::ALL.len()]);
        for special in [
            Special::WorkgroupSizeX,
            Special::WorkgroupSizeY,
            Special::WorkgroupSizeZ,
            Special::GridSizeX,
            Special::GridSizeY,
            Special::GridSizeZ,
            Special::WaveWidth,
            Special::NumWaves,
        ] {
            registers.set(special, 1);
        }
        for special in [Special::MmaM, Special::MmaN, Special::MmaK] {
            registers.set(special, MMA_DIM as u32);
        }
        registers
    }

    pub(super) fn set(&mut self, special: Special, value: u32) {
        self.0[special as usize] = value;
    }
}

/// Why a thread makes no step for now.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// It has made as many as it should.
    Paused,
    /// It is at a barrier.
    Barrier,
    /// It is at a wave operation, with these operands; the second is 0 where there is one only.
    Wave(Wave, [u64; 2]),
    /// Its function has returned these; none if it has ended by an exit.
    Finished(Vec<Constant>),
}

/// A function under way.
struct Frame {
    parts: Rc<Parts>,
    function: FunctionId,
    block: Block,
    /// The next instruction, or the one that it waits at: a call, a barrier, a wave operation.
    next: usize,
    /// Where its values begin among those of the thread.
    base: usize,
}

/// Where a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Position {
    pub(super) function: FunctionId,
    pub(super) block: Block,
    pub(super) instruction: usize,
}

/// What ends the steps in a frame.
enum Leave {
    Stop(Stop),
    Call(Rc<Parts>, FunctionId, Vec<u64>),
    Return(Vec<u64>),
}

/// A thread of a function that the verifier accepts.
pub(super) struct Thread {
    frames: Vec<Frame>,
    values: Vec<u64>,
    /// Arguments on their way to the parameters of a block.
    moved: Vec<u64>,
    limits: Limits,
    registers: Registers,
    results: Vec<Type>,
}

impl Thread {
    pub(super) fn new(
        parts: &Rc<Parts>,
        function: FunctionId,
        arguments: &[Constant],
        limits: Limits,
        registers: Registers,
    ) -> Result<Thread, Trapped> {
        let signature = &parts.module.functions[function].signature;
        let types: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        assert_eq!(types, signature.parameters, "arguments of {function}");
        let results = signature.results.clone();
        let mut thread =
            Thread { frames: Vec::new(), values: Vec::new(), moved: Vec::new(), limits, registers, results };
        let arguments: Vec<u64> = arguments.iter().map(|argument| argument.bits()).collect();
        let (parts, id) = parts.function(function);
        let at = parts.module.functions[id].at;
        thread.enter(parts, id, &arguments).map_err(|trap| Trapped {
            trap,
            function: Some(id),
            place: at,
        })?;
        Ok(thread)
    }

    /// Pushes a frame.
    fn enter(&mut self, parts: Rc<Parts>, function: FunctionId, arguments: &[u64]) -> Result<(), Trap> {
        let base = self.values.len();
        let callee = &parts.module.functions[function];
        if self.frames.len() >= self.limits.depth || base + callee.values.len() > MOST_VALUES {
            return Err(Trap::StackExhausted);
        }
        self.values.resize(base + callee.values.len(), 0);
        let block = callee.entry();
        for (parameter, &argument) in callee.blocks[block].parameters.iter().zip(arguments) {
            self.values[base + parameter.index()] = argument;
        }
        self.frames.push(Frame { parts, function, block, next: 0, base });
        Ok(())
    }

    /// Puts the results of what the innermost frame waits at into their values, and goes past it.
    fn go_on(&mut self, results: &[u64]) {
        let Some(frame) = self.frames.last_mut() else { return };
        let function = &frame.parts.module.functions[frame.function];
        let instruction = &function.blocks[frame.block].instructions[frame.next];
        for (value, &result) in instruction.results.iter().zip(results) {
            self.values[frame.base + value.index()] = result;
        }
        frame.next += 1;
    }

    /// Goes on past the barrier or the wave operation, with its result.
    pub(super) fn resume(&mut self, result: Option<u64>) {
        self.go_on(result.as_slice());
    }

    /// Where its frames are, the outermost first.
    pub(super) fn positions(&self) -> Vec<Position> {
        let position = |frame: &Frame| Position {
            function: frame.function,
            block: frame.block,
            instruction: frame.next,
        };
        self.frames.iter().map(position).collect()
    }

    /// The function of a frame; 0 is the outermost.
    pub(super) fn function_at(&self, depth: usize) -> &Function {
        let frame = &self.frames[depth];
        &frame.parts.module.functions[frame.function]
    }

    /// Where the innermost frame is in the source.
    pub(super) fn place(&self) -> (Option<FunctionId>, Place) {
        let Some(frame) = self.frames.last() else { return (None, Place::default()) };
        let body = &frame.parts.module.functions[frame.function].blocks[frame.block];
        let place = body.instructions.get(frame.next).map_or(body.at, |instruction| instruction.at);
        (Some(frame.function), place)
    }

    /// Runs until it stops, for about so many steps.
    pub(super) fn run(&mut self, mut steps: u64) -> Result<Stop, Trapped> {
        loop {
            let frame = self.frames.last_mut().expect("the thread has not finished");
            let parts = Rc::clone(&frame.parts);
            let (mut block, mut next, base) = (frame.block, frame.next, frame.base);
            let function = &parts.module.functions[frame.function];
            let left = self.in_frame(&parts, function, base, (&mut block, &mut next), &mut steps);
            let frame = self.frames.last_mut().expect("it is still there");
            (frame.block, frame.next) = (block, next);
            let entered = match left {
                Ok(Leave::Stop(stop)) => return Ok(stop),
                Ok(Leave::Call(parts, function, arguments)) => self.enter(parts, function, &arguments),
                Ok(Leave::Return(results)) => {
                    self.values.truncate(base);
                    self.frames.pop();
                    if self.frames.is_empty() {
                        let results = self.results.iter().zip(results);
                        let results = results.map(|(&ty, bits)| Constant::from_bits(ty, bits));
                        return Ok(Stop::Finished(results.collect()));
                    }
                    self.go_on(&results);
                    Ok(())
                }
                Err(trap) => Err(trap),
            };
            if let Err(trap) = entered {
                let (function, place) = self.place();
                return Err(Trapped { trap, function, place });
            }
        }
    }

    /// Runs the innermost frame until something ends its steps.
    fn in_frame(
        &mut self,
        parts: &Rc<Parts>,
        function: &Function,
        base: usize,
        (block, next): (&mut Block, &mut usize),
        steps: &mut u64,
    ) -> Result<Leave, Trap> {
        loop {
            let body = &function.blocks[*block];
            loop {
                if *steps == 0 {
                    return Ok(Leave::Stop(Stop::Paused));
                }
                self.limits.fuel = self.limits.fuel.checked_sub(1).ok_or(Trap::OutOfFuel)?;
                *steps -= 1;
                let Some(instruction) = body.instructions.get(*next) else { break };
                if let Some(leave) = self.step(parts, function, base, instruction)? {
                    return Ok(leave);
                }
                *next += 1;
            }
            let values = &self.values[base..];
            let target = match &body.terminator {
                Terminator::Jump(target) => target,
                Terminator::Branch(value, targets) => &targets[usize::from(values[value.index()] == 0)],
                Terminator::Switch(value, targets) => {
                    let number = usize::try_from(values[value.index()]).unwrap_or(usize::MAX);
                    &targets[number.min(targets.len() - 1)]
                }
                Terminator::Return(returned) => {
                    return Ok(Leave::Return(returned.iter().map(|value| values[value.index()]).collect()));
                }
                Terminator::Exit => return Ok(Leave::Stop(Stop::Finished(Vec::new()))),
                Terminator::Trap(trap) => return Err(*trap),
            };
            self.jump(function, base, target);
            (*block, *next) = (target.block, 0);
        }
    }

    /// Gives the parameters of a block their values, all at once.
    fn jump(&mut self, function: &Function, base: usize, target: &Target) {
        let values = &mut self.values[base..];
        self.moved.clear();
        self.moved.extend(target.arguments.iter().map(|value| values[value.index()]));
        for (parameter, &value) in function.blocks[target.block].parameters.iter().zip(&self.moved) {
            values[parameter.index()] = value;
        }
    }

    /// Makes the step of an instruction; `Some` if the frame waits at it.
    fn step(
        &mut self,
        parts: &Rc<Parts>,
        function: &Function,
        base: usize,
        instruction: &Instruction,
    ) -> Result<Option<Leave>, Trap> {
        let values = &mut self.values[base..];
        let get = |value: Value| values[value.index()];
        let all = |of: &[Value]| of.iter().map(|&value| get(value)).collect::<Vec<u64>>();
        let ty = |value: Value| function.values[value];
        let three = |of: &[Value; 3]| of.map(get);
        let result = match &instruction.operation {
            Operation::Constant(constant) => constant.bits(),
            &Operation::Unary(operation, a) => unary(operation, ty(a), get(a), self.limits.special_functions),
            &Operation::Binary(operation, [a, b]) => binary(operation, ty(a), get(a), get(b))?,
            &Operation::Compare(operation, [a, b]) => compare(operation, ty(a), get(a), get(b)).into(),
            &Operation::Convert(operation, a) => convert(operation, ty(a), get(a))?,
            &Operation::Fma([a, b, c]) => fma(ty(a), get(a), get(b), get(c)),
            &Operation::Select([condition, a, b]) => get(if get(condition) != 0 { a } else { b }),
            Operation::Double(operation, operands) => {
                let bits = double(*operation, &all(operands));
                // The one result of some is an `f32`, whose high half is 0.
                for (place, &result) in instruction.results.iter().enumerate() {
                    values[result.index()] = bits >> (32 * place) & u64::from(u32::MAX);
                }
                return Ok(None);
            }
            Operation::Half(operation, operands) => half(*operation, &all(operands)),
            Operation::Load(access, address) => load(parts, access, get(*address))?,
            Operation::Store(access, [address, value]) => {
                let memory = &parts.memories[access.memory.index()];
                memory.store(place_of(access, get(*address)), access.bytes, get(*value))?;
                return Ok(None);
            }
            Operation::Atomic(operation, access, _, [address, operand]) => {
                let operand = get(*operand);
                exchange(parts, access, get(*address), |old| {
                    modified(*operation, old, truncated(access, operand))
                })?
            }
            Operation::CompareExchange(access, _, [address, expected, replacement]) => {
                let (expected, replacement) = (get(*expected), get(*replacement));
                // WebAssembly compares the whole expected value with the one in memory, extended.
                exchange(parts, access, get(*address), |old| if old == expected { replacement } else { old })?
            }
            Operation::MemorySize(memory) => parts.memories[memory.index()].pages(),
            Operation::MemoryGrow(memory, pages) => {
                // In a workgroup memory has the size that it has.
                let may_grow = parts.of.is_none();
                let before = may_grow.then(|| parts.memories[memory.index()].grow(get(*pages))).flatten();
                before.unwrap_or(u32::MAX.into())
            }
            Operation::MemoryFill(memory, operands) => {
                let [address, byte, length] = three(operands);
                parts.memories[memory.index()].fill(address, byte as u8, length)?;
                return Ok(None);
            }
            Operation::MemoryCopy([to, from], operands) => {
                let [address, source, length] = three(operands);
                let copied = parts.memories[from.index()].read(source, length)?;
                parts.memories[to.index()].write(address, &copied)?;
                return Ok(None);
            }
            Operation::MemoryInit(memory, data, operands) => {
                let dropped = parts.dropped_data[data.index()].get();
                parts.copy_data(*memory, &parts.module.data[*data], three(operands), dropped)?;
                return Ok(None);
            }
            Operation::DataDrop(data) => {
                parts.dropped_data[data.index()].set(true);
                return Ok(None);
            }
            Operation::TableCopy([to, from], operands) => {
                let [place, source, length] = three(operands);
                let copied = parts.tables[from.index()].read(source, length)?;
                parts.tables[to.index()].write(place, length, copied)?;
                return Ok(None);
            }
            Operation::TableInit(table, elements, operands) => {
                let dropped = parts.dropped_elements[elements.index()].get();
                parts.copy_elements(*table, &parts.module.elements[*elements], three(operands), dropped)?;
                return Ok(None);
            }
            Operation::ElementsDrop(elements) => {
                parts.dropped_elements[elements.index()].set(true);
                return Ok(None);
            }
            Operation::FunctionReference(function) => function.as_u32().into(),
            Operation::TableGet(table, place) => parts.reference(*table, get(*place))?.into(),
            Operation::TableSet(table, [place, reference]) => {
                let entry = parts.entry_of_reference(get(*reference))?;
                parts.tables[table.index()].fill(get(*place), 1, entry)?;
                return Ok(None);
            }
            Operation::TableSize(table) => parts.tables[table.index()].places(),
            Operation::TableGrow(table, [reference, places]) => {
                let entry = parts.entry_of_reference(get(*reference))?;
                let may_grow = parts.of.is_none();
                let grow = || parts.tables[table.index()].grow(get(*places), entry);
                may_grow.then(grow).flatten().unwrap_or(u32::MAX.into())
            }
            Operation::TableFill(table, operands) => {
                let [place, reference, count] = three(operands);
                let entry = parts.entry_of_reference(reference)?;
                parts.tables[table.index()].fill(place, count, entry)?;
                return Ok(None);
            }
            Operation::GlobalGet(global) => parts.globals[global.index()].get().bits(),
            Operation::GlobalSet(global, value) => {
                parts.globals[global.index()].set(Constant::from_bits(ty(*value), get(*value)));
                return Ok(None);
            }
            Operation::Call(id, arguments) => {
                let (parts, id) = parts.function(*id);
                return Ok(Some(Leave::Call(parts, id, all(arguments))));
            }
            Operation::CallIndirect(table, signature, place, arguments) => {
                let (callee, id) = parts.entry(*table, get(*place))?;
                if callee.module.functions[id].signature != parts.module.signatures[*signature] {
                    return Err(Trap::SignatureMismatch);
                }
                return Ok(Some(Leave::Call(callee, id, all(arguments))));
            }
            Operation::Special(special) => self.registers.0[*special as usize].into(),
            // The private memory of a thread lies in no other memory here.
            Operation::PrivateBase => 0,
            Operation::Wave(operation, operands) => {
                let second = operands.get(1).map_or(0, |&value| get(value));
                return Ok(Some(Leave::Stop(Stop::Wave(*operation, [get(operands[0]), second]))));
            }
            Operation::Barrier => return Ok(Some(Leave::Stop(Stop::Barrier))),
            // Threads take their steps one after the other, so every store is visible at once.
            Operation::Fence(..) => return Ok(None),
        };
        values[instruction.results[0].index()] = result;
        Ok(None)
    }
}

/// The address of an access in its memory, without wrapping.
fn place_of(access: &Access, address: u64) -> u64 {
    address + u64::from(access.offset)
}

fn load(parts: &Parts, access: &Access, address: u64) -> Result<u64, Trap> {
    let loaded = parts.memories[access.memory.index()].load(place_of(access, address), access.bytes)?;
    if !access.signed {
        return Ok(loaded);
    }
    let above = 64 - access.bytes * 8;
    let extended = (loaded << above) as i64 >> above;
    Ok(if access.ty == Type::I64 { extended as u64 } else { u64::from(extended as u32) })
}

/// The low bytes of a value, as many as memory holds.
fn truncated(access: &Access, value: u64) -> u64 {
    value & u64::MAX >> (64 - access.bytes * 8)
}

/// Replaces what memory holds, and gives the old value.
fn exchange(parts: &Parts, access: &Access, address: u64, new: impl Fn(u64) -> u64) -> Result<u64, Trap> {
    let memory = &parts.memories[access.memory.index()];
    let address = place_of(access, address);
    if !address.is_multiple_of(access.bytes.into()) {
        return Err(Trap::Misaligned);
    }
    let old = memory.load(address, access.bytes)?;
    memory.store(address, access.bytes, new(old))?;
    Ok(old)
}

/// What an atomic makes of the value in memory; minimum and maximum are unsigned.
fn modified(operation: AtomicOp, old: u64, operand: u64) -> u64 {
    match operation {
        AtomicOp::Add => old.wrapping_add(operand),
        AtomicOp::Sub => old.wrapping_sub(operand),
        AtomicOp::Min => old.min(operand),
        AtomicOp::Max => old.max(operand),
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::Exchange => operand,
        AtomicOp::Cas => unreachable!("the verifier refuses it"),
    }
}
