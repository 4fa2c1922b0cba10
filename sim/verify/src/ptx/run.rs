//! Launches of an entry.

use super::code::{
    Address, Clock, Code, Function, Inst, LaneOrder, Module, SHARED, SHARED_WINDOW, Space, TABLES, Value,
};
use super::operations::Apply;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use wave_isa::program::Launch;

/// Threads of a warp.
pub(super) const WARP: usize = 32;
/// Address of device memory.
const MEMORY: u64 = 0x7_0000_0000;
/// Address of the fault record, and its bytes.
const RECORD: u64 = 0x20_0000;
const RECORD_BYTES: usize = 64;
/// Instructions of a thread after which a launch is given up.
const MOST_STEPS: u64 = 4_000_000_000;

/// How a launch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every thread has ended.
    Finished,
    /// The kernel stopped itself: the words of its fault record.
    Trapped([u32; 9]),
}

/// Runs an entry for a launch of WAVE, on this device memory. The seed decides which threads go on when.
///
/// # Errors
/// What PTX does not define, or a GPU refuses: threads that do not come together, addresses that belong to nothing.
pub fn run(
    module: &Module,
    entry: &str,
    launch: &Launch,
    memory: &mut [u8],
    seed: u64,
) -> Result<Outcome, String> {
    let function = *module.by_name.get(entry).ok_or_else(|| format!("no entry {entry}"))?;
    let parameters = parameters(&module.functions[function], launch, memory.len())?;
    let mut record = vec![0; RECORD_BYTES];
    let mut regions = [Region { start: RECORD, bytes: &mut record }, Region { start: MEMORY, bytes: memory }];
    let what = Call {
        entry,
        grid: launch.grid,
        threads: (launch.threads() as u32).next_multiple_of(WARP as u32),
        shared_bytes: launch.local_memory_bytes,
        parameters: &parameters,
    };
    if !call(module, &what, &mut regions, seed, &|_, _, _| 0)? {
        return Ok(Outcome::Finished);
    }
    let word = |place: usize| u32::from_le_bytes(record[4 * place..][..4].try_into().expect("4 bytes"));
    Ok(Outcome::Trapped(std::array::from_fn(word)))
}

/// What a driver states for a launch.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Name of the entry.
    pub entry: &'a str,
    /// CTAs, x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA, in one dimension: a multiple of 32.
    pub threads: u32,
    /// Dynamic shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// The parameters, one behind the other with the alignment of their types.
    pub parameters: &'a [u8],
}

/// Global memory that something has.
#[derive(Debug)]
pub struct Region<'a> {
    /// Address of its first byte.
    pub start: u64,
    /// Its contents.
    pub bytes: &'a mut [u8],
}

/// What a clock says to a thread of a CTA. The thread is given by its number, the CTA by its position in the grid.
pub type Clocks<'a> = dyn Fn(Clock, [u32; 3], u64) -> u64 + 'a;

/// Runs an entry with parameters and global memory as a driver knows them. True if it trapped.
///
/// # Errors
/// What PTX does not define, or a GPU refuses.
pub fn call(
    module: &Module,
    call: &Call<'_>,
    memory: &mut [Region<'_>],
    seed: u64,
    clocks: &Clocks<'_>,
) -> Result<bool, String> {
    let function = *module.by_name.get(call.entry).ok_or_else(|| format!("no entry {}", call.entry))?;
    let stated = module.functions[function].parameters.last().map_or(0, |(_, place, size)| place + size);
    if call.parameters.len() != stated {
        return Err(format!("{} bytes of parameters, and the entry has {stated}", call.parameters.len()));
    }
    let mut run = Run {
        module,
        memory,
        scratch: Vec::new(),
        parameters: call.parameters.to_vec(),
        random: Pcg32::seed_from_u64(seed),
        shared: Vec::new(),
        threads: Vec::new(),
        grid: call.grid,
        group: [0; 3],
        steps: 0,
        clocks,
    };
    for z in 0..call.grid[2] {
        for y in 0..call.grid[1] {
            for x in 0..call.grid[0] {
                run.group = [x, y, z];
                run.shared = vec![0; call.shared_bytes as usize];
                run.threads =
                    (0..call.threads).map(|number| Thread::new(module, function, number.into())).collect();
                if run.group()? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The bytes of the parameters.
fn parameters(entry: &Function, launch: &Launch, memory_bytes: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for (name, place, size) in &entry.parameters {
        let value: Vec<u8> = match name.as_str() {
            "p_memory" => MEMORY.to_le_bytes().into(),
            "p_memory_bytes" => (memory_bytes as u64).to_le_bytes().into(),
            "p_fault" => RECORD.to_le_bytes().into(),
            "p_size_x" => launch.workgroup[0].to_le_bytes().into(),
            "p_size_y" => launch.workgroup[1].to_le_bytes().into(),
            "p_size_z" => launch.workgroup[2].to_le_bytes().into(),
            "p_local_bytes" => launch.local_memory_bytes.to_le_bytes().into(),
            "p_registers" => {
                let mut words = vec![0u32; launch.registers as usize];
                for &(register, value) in &launch.initial_registers {
                    words[usize::from(register)] = value;
                }
                words.into_iter().flat_map(u32::to_le_bytes).collect()
            }
            other => return Err(format!("no value for parameter {other}")),
        };
        if value.len() != *size {
            return Err(format!("parameter {name} has {size} bytes, and its value {}", value.len()));
        }
        bytes.resize(*place, 0);
        bytes.extend(value);
    }
    Ok(bytes)
}

pub(super) struct Thread {
    pub frames: Vec<Frame>,
    pub state: State,
    number: u64,
}

pub(super) struct Frame {
    pub function: usize,
    pub pc: usize,
    registers: Vec<u64>,
    /// The register of the caller that takes the result.
    result: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// At an instruction that the warp executes together.
    Meets,
    /// At the barrier of the CTA.
    Waits,
    Done,
}

impl Thread {
    fn new(module: &Module, function: usize, number: u64) -> Thread {
        Thread { frames: vec![Frame::new(module, function)], state: State::Ready, number }
    }
}

impl Frame {
    /// Registers hold something at first; 1 is a value of a predicate too.
    fn new(module: &Module, function: usize) -> Frame {
        Frame { function, pc: 0, registers: vec![1; module.functions[function].registers], result: None }
    }
}

pub(super) struct Run<'a, 'm> {
    module: &'a Module,
    memory: &'a mut [Region<'m>],
    /// What was read of a table last.
    scratch: Vec<u8>,
    parameters: Vec<u8>,
    random: Pcg32,
    shared: Vec<u8>,
    pub threads: Vec<Thread>,
    grid: [u32; 3],
    group: [u32; 3],
    steps: u64,
    clocks: &'a Clocks<'a>,
}

/// What became of a thread's turn.
enum Turn {
    Goes,
    Stops,
    Traps,
}

impl Run<'_, '_> {
    /// Runs a CTA to its end. True if it trapped.
    fn group(&mut self) -> Result<bool, String> {
        loop {
            let first = self.random.random_range(0..self.threads.len());
            let count = self.threads.len();
            let ready =
                (0..count).map(|i| (first + i) % count).find(|&i| self.threads[i].state == State::Ready);
            let Some(thread) = ready else {
                if self.threads.iter().all(|thread| thread.state == State::Done) {
                    return Ok(false);
                }
                return Err(format!("no thread can go on: {}", self.places()));
            };
            let turns = if self.random.random_bool(0.5) { 4096 } else { self.random.random_range(1..8) };
            for _ in 0..turns {
                self.steps += 1;
                match self
                    .step(thread)
                    .map_err(|error| format!("{}: thread {thread}: {error}", self.place(thread)))?
                {
                    Turn::Goes => {}
                    Turn::Stops => break,
                    Turn::Traps => return Ok(true),
                }
            }
            if self.steps > MOST_STEPS {
                return Err("too many instructions".to_owned());
            }
            match self.threads[thread].state {
                State::Meets => self.meet(thread)?,
                State::Waits | State::Done => self.pass_barrier(),
                State::Ready => {}
            }
        }
    }

    pub(super) fn place(&self, thread: usize) -> String {
        let place = self.threads[thread].frames.last().map(|frame| {
            let code = &self.module.functions[frame.function].code;
            code.get(frame.pc).map_or(0, |inst| inst.line)
        });
        format!("line {}", place.unwrap_or(0))
    }

    fn places(&self) -> String {
        let mut text = String::new();
        for (number, thread) in self.threads.iter().enumerate() {
            text += &format!("{number} {:?} at {}; ", thread.state, self.place(number));
        }
        text
    }

    pub(super) fn inst(&self, thread: usize) -> &Inst {
        let frame = self.threads[thread].frames.last().expect("it runs");
        &self.module.functions[frame.function].code[frame.pc]
    }

    pub(super) fn value(&self, thread: usize, value: Value) -> u64 {
        match value {
            Value::Register(register) => {
                self.threads[thread].frames.last().expect("it runs").registers[register]
            }
            Value::Contrary(register) => {
                self.threads[thread].frames.last().expect("it runs").registers[register] & 1 ^ 1
            }
            Value::Constant(value) => value,
            Value::Tid(0) => self.threads[thread].number,
            Value::Tid(_) => 0,
            Value::Ntid(0) => self.threads.len() as u64,
            Value::Ntid(_) => 1,
            Value::Ctaid(axis) => self.group[axis].into(),
            Value::Nctaid(axis) => self.grid[axis].into(),
            Value::Lane => self.threads[thread].number % WARP as u64,
            Value::Warp => self.threads[thread].number / WARP as u64,
            Value::Warps => self.threads.len().div_ceil(WARP) as u64,
            Value::LaneMask(order) => {
                let own = 1u64 << (self.threads[thread].number % WARP as u64);
                let all = u64::from(u32::MAX);
                match order {
                    LaneOrder::Equal => own,
                    LaneOrder::Less => own - 1,
                    LaneOrder::LessOrEqual => own | (own - 1),
                    LaneOrder::Greater => !(own | (own - 1)) & all,
                    LaneOrder::GreaterOrEqual => !(own - 1) & all,
                }
            }
            Value::Clock(clock) => (self.clocks)(clock, self.group, self.threads[thread].number),
        }
    }

    pub(super) fn set(&mut self, thread: usize, register: usize, value: u64) {
        self.frame(thread).registers[register] = value;
    }

    pub(super) fn frame(&mut self, thread: usize) -> &mut Frame {
        self.threads[thread].frames.last_mut().expect("it runs")
    }

    fn step(&mut self, thread: usize) -> Result<Turn, String> {
        let module = self.module;
        let frame = self.threads[thread].frames.last().expect("it runs");
        let code = &module.functions[frame.function].code;
        let inst = code.get(frame.pc).ok_or("past the end of the code")?;
        if let Some((register, wanted)) = inst.guard
            && (frame.registers[register] != 0) != wanted
        {
            self.frame(thread).pc += 1;
            return Ok(Turn::Goes);
        }
        let get = |value: Value| self.value(thread, value);
        match &inst.code {
            Code::Apply(f, d, values) => {
                let result = match f {
                    Apply::One(f) => f(get(values[0])),
                    Apply::Two(f) => f(get(values[0]), get(values[1])),
                    Apply::Three(f) => f(get(values[0]), get(values[1]), get(values[2])),
                };
                self.set(thread, *d, result);
            }
            Code::Compare(f, d, a, b) => {
                let result = f(get(*a), get(*b));
                self.set(thread, *d, result.into());
            }
            Code::Select(d, a, b, p) => {
                let result = if get(*p) != 0 { get(*a) } else { get(*b) };
                self.set(thread, *d, result);
            }
            Code::Pack { d, parts, bits } => {
                let values = parts.iter().enumerate();
                let mask = u64::MAX >> (64 - bits);
                let packed =
                    values.map(|(i, &part)| (get(Value::Register(part)) & mask) << (bits * i as u32));
                let packed = packed.fold(0, |all, part| all | part);
                self.set(thread, *d, packed);
            }
            Code::Unpack { parts, a, bits } => {
                let all = get(*a);
                for (i, &part) in parts.iter().enumerate() {
                    self.set(thread, part, all >> (bits * i as u32) & (u64::MAX >> (64 - bits)));
                }
            }
            Code::Load { space, bytes, d, at, extends } => {
                let start = self.aligned(thread, *at, bytes * d.len())?;
                for (i, &d) in d.iter().enumerate() {
                    let place = self.bytes(*space, start + (i * bytes) as u64, *bytes, false)?;
                    let value = place.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                    let value = match extends {
                        Some(register) => extended(value, 8 * *bytes as u32, *register),
                        None => value,
                    };
                    self.set(thread, d, value);
                }
            }
            Code::Store { space, bytes, values, at } => {
                let start = self.aligned(thread, *at, bytes * values.len())?;
                for (i, &value) in values.iter().enumerate() {
                    let value = self.value(thread, value).to_le_bytes();
                    let place = self.bytes(*space, start + (i * bytes) as u64, *bytes, true)?;
                    place.copy_from_slice(&value[..*bytes]);
                }
            }
            Code::Atomic { space, bytes, f, d, at, b, c } => {
                let mask = u64::MAX >> (64 - 8 * bytes);
                let (b, c) = (get(*b) & mask, get(*c) & mask);
                let start = self.aligned(thread, *at, *bytes)?;
                let place = self.bytes(*space, start, *bytes, true)?;
                let old = place.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                place.copy_from_slice(&f(old, b, c).to_le_bytes()[..*bytes]);
                if let Some(d) = d {
                    self.set(thread, *d, old);
                }
            }
            Code::Branch(to) => {
                self.frame(thread).pc = *to;
                return Ok(Turn::Goes);
            }
            Code::Table(index, to) => {
                let index = get(*index) as usize;
                self.frame(thread).pc = *to.get(index).ok_or("an index past the targets")?;
                return Ok(Turn::Goes);
            }
            Code::Call { function, d, arguments } => {
                let values: Vec<u64> = arguments.iter().map(|&value| get(value)).collect();
                let mut frame = Frame::new(module, *function);
                let takes = &module.functions[*function].takes;
                if takes.len() != values.len() || module.functions[*function].gives.is_some() != d.is_some() {
                    return Err("a call with other arguments".to_owned());
                }
                for (&register, value) in takes.iter().zip(values) {
                    frame.registers[register] = value;
                }
                frame.result = *d;
                self.frame(thread).pc += 1;
                self.threads[thread].frames.push(frame);
                return Ok(Turn::Goes);
            }
            Code::Return => {
                let frame = self.threads[thread].frames.pop().expect("it runs");
                if self.threads[thread].frames.is_empty() {
                    self.threads[thread].state = State::Done;
                    return Ok(Turn::Stops);
                }
                if let Some(d) = frame.result {
                    let gives =
                        module.functions[frame.function].gives.ok_or("a function without a result")?;
                    self.set(thread, d, frame.registers[gives]);
                }
                return Ok(Turn::Goes);
            }
            Code::Trap => return Ok(Turn::Traps),
            Code::Fence => {}
            Code::Barrier => {
                self.threads[thread].state = State::Waits;
                return Ok(Turn::Stops);
            }
            Code::BarrierReduction(..) => {
                self.threads[thread].state = State::Waits;
                return Ok(Turn::Stops);
            }
            Code::Together(..) => {
                self.threads[thread].state = State::Meets;
                return Ok(Turn::Stops);
            }
            Code::Operation { f, d, second, values } => {
                let values: Vec<u64> = values.iter().map(|&value| get(value)).collect();
                let [first, other] = f.apply(&values);
                self.set(thread, *d, first);
                if let Some(second) = second {
                    self.set(thread, *second, other);
                }
            }
        }
        self.frame(thread).pc += 1;
        Ok(Turn::Goes)
    }

    /// The address of an access, which has to be a multiple of its size.
    pub(super) fn aligned(
        &self,
        thread: usize,
        (base, offset): Address,
        bytes: usize,
    ) -> Result<u64, String> {
        let address = self.value(thread, base).wrapping_add(offset);
        let is_even = address.is_multiple_of(bytes as u64);
        if is_even { Ok(address) } else { Err(format!("misaligned address {address:#x} of {bytes} bytes")) }
    }

    pub(super) fn bytes(
        &mut self,
        space: Space,
        address: u64,
        bytes: usize,
        writes: bool,
    ) -> Result<&mut [u8], String> {
        let (space, address) = match (space, address.checked_sub(SHARED_WINDOW)) {
            (Space::Generic, Some(inside)) => (Space::Shared, inside),
            (Space::Generic, None) => (Space::Global, address),
            _ => (space, address),
        };
        let tables = self.module.tables.len() as u64;
        let (memory, start): (&mut [u8], u64) = match space {
            Space::Parameter if !writes => (&mut self.parameters, 0),
            Space::Shared => (&mut self.shared, SHARED),
            Space::Global if (TABLES..TABLES + tables).contains(&address) && !writes => {
                // Tables are only read: what a caller gets is a copy.
                let at = (address - TABLES) as usize;
                let copy = self.module.tables.get(at..at + bytes).ok_or("past a table")?;
                self.scratch = copy.to_vec();
                return Ok(&mut self.scratch);
            }
            Space::Global | Space::Parameter | Space::Generic => {
                let holds = |region: &Region<'_>| {
                    address.checked_sub(region.start).is_some_and(|at| at < region.bytes.len() as u64)
                };
                match self.memory.iter().position(holds) {
                    Some(region) => {
                        let region = &mut self.memory[region];
                        (region.bytes, region.start)
                    }
                    None => return Err(format!("illegal address {address:#x} ({space:?})")),
                }
            }
        };
        let at = address.checked_sub(start).and_then(|at| usize::try_from(at).ok());
        let place = at.and_then(|at| memory.get_mut(at..at.checked_add(bytes)?));
        place.ok_or_else(|| format!("illegal address {address:#x} ({space:?})"))
    }

    /// Opens the barrier once every thread that has not ended waits there.
    fn pass_barrier(&mut self) {
        let is_open = |thread: &Thread| matches!(thread.state, State::Waits | State::Done);
        if !self.threads.iter().all(is_open) {
            return;
        }
        self.reduce_at_barrier();
        for thread in self.threads.iter_mut().filter(|thread| thread.state == State::Waits) {
            thread.state = State::Ready;
            thread.frames.last_mut().expect("it runs").pc += 1;
        }
    }
}

/// A signed number of so many bits in a register of others.
fn extended(value: u64, bits: u32, register: u32) -> u64 {
    let wide = (value << (64 - bits)).cast_signed() >> (64 - bits);
    wide.cast_unsigned() & (u64::MAX >> (64 - register.max(bits)))
}
