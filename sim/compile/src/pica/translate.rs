//! A shader as a function.

use super::Float;
use super::container::Constants;
use super::emit::Emitter;
use super::graph::{self, Action, Node};
use super::instruction::{Destination, Instruction, Join, Register, Source, Test};
use super::opcode::Op;
use crate::encoding::simplify;
use crate::encoding::{Error, Fault};
use crate::ir::{
    Access, Binary, Block, Compare, Constant, Function, Instruction as IrInstruction, MemoryId, Operation,
    Place, Signature, Target, Terminator, Type, Unary, Value,
};
use crate::wasm::locals::{Locals, Origin};
use crate::wasm::scan::Scan;
use cranelift_entity::EntityRef;
use fnv::FnvHashMap;
use std::collections::BTreeSet;
use wave_isa::Special;

/// Most instructions of a function.
const MOST_INSTRUCTIONS: usize = 1 << 19;
/// Most uniforms that are loaded at the start. With more, each is loaded where it is used: registers are few.
const MOST_AT_START: usize = 24;
/// Bytes of a register in memory.
pub(super) const REGISTER_BYTES: u32 = 16;
/// Where the integers begin among the uniforms, and the booleans, in bytes.
const INTEGERS: u32 = 96 * REGISTER_BYTES;
const BOOLEANS: u32 = INTEGERS + 4 * REGISTER_BYTES;
// Variables: temporaries, outputs, then these, then three of each loop by its depth.
pub(super) const OUTPUTS: u32 = 64;
pub(super) const ADDRESS: u32 = 128;
pub(super) const LOOP_ADDRESS: u32 = 130;
pub(super) const FLAGS: u32 = 131;
const LOOPS: u32 = 133;
const COUNT: u32 = 0;
const STEP: u32 = 1;
const SAVED: u32 = 2;
const MOST_LOOPS: u32 = 32;

/// A shader.
pub(super) struct Shader<'a> {
    pub(super) code: &'a [Instruction],
    pub(super) entry: u16,
    pub(super) constants: &'a Constants,
    /// Byte of the file of the first word.
    pub(super) start: u64,
    /// Whether `rcp` and `rsq` take each component, as the early text has it.
    pub(super) early: bool,
}

/// The place of an instruction: the byte of its word that has the opcode, which is never byte 0.
pub(super) fn place(start: u64, word: usize) -> Place {
    Place((start + 4 * word as u64 + 3) as u32)
}

/// The function of a shader, and the names of its parameters.
pub(super) fn translate(
    shader: &Shader<'_>,
    name: &str,
    float: Float,
) -> Result<(Function, Vec<String>), Error> {
    let offset = |word: u16| shader.start + 4 * u64::from(word.min(shader.code.len() as u16 - 1));
    let nodes = graph::build(shader.code, shader.entry, shader.constants.booleans, offset)?;
    let used = Used::of(shader, &nodes);
    let mut names = vec!["count".to_owned(), "uniforms".to_owned()];
    names.extend(used.inputs.iter().map(|number| format!("v{number}")));
    names.extend(used.outputs.iter().map(|number| format!("o{number}")));
    let signature = Signature { parameters: vec![Type::I32; names.len()], results: Vec::new() };
    let function = Function::new(Some(name.to_owned()), signature, place(shader.start, shader.entry.into()));
    let types: Vec<Type> = (0..LOOPS + 3 * MOST_LOOPS)
        .map(|variable| match variable {
            0..ADDRESS => Type::F32,
            FLAGS..LOOPS => Type::Bool,
            _ => Type::I32,
        })
        .collect();
    let scan = Scan::default();
    let mut translator = Translator {
        shader,
        nodes: &nodes,
        emitter: Emitter::new(function, float),
        locals: Locals::new(&scan, &types),
        parameters: Vec::new(),
        address: Value::from_u32(0),
        inputs: FnvHashMap::default(),
        uniforms: FnvHashMap::default(),
        loaded: FnvHashMap::default(),
        booleans: None,
    };
    translator.start(&used);
    translator.body(&used)?;
    Ok((translator.finish(), names))
}

/// What the instructions name that a shader reaches.
#[derive(Debug, Default)]
struct Used {
    inputs: BTreeSet<u8>,
    outputs: BTreeSet<u8>,
    /// Uniforms that are named by their number.
    uniforms: BTreeSet<u8>,
    booleans: bool,
}

impl Used {
    fn of(shader: &Shader<'_>, nodes: &[Node]) -> Used {
        let mut used = Used::default();
        for node in nodes {
            let word = match node.action {
                Action::Compute(word) => word,
                Action::Choose(_, Test::Boolean(..)) => {
                    used.booleans = true;
                    continue;
                }
                _ => continue,
            };
            let sources: &[Source] = match &shader.code[usize::from(word)] {
                Instruction::Vector(vector) => {
                    if let Destination::Output(number) = vector.destination
                        && vector.op != Op::Mova
                        && vector.mask != [false; 4]
                    {
                        used.outputs.insert(number);
                    }
                    &vector.sources
                }
                Instruction::Compare(_, sources) => sources,
                _ => &[],
            };
            for source in sources {
                _ = match source.register {
                    Register::Input(number) => used.inputs.insert(number),
                    Register::Uniform(number) if source.address.is_none() => used.uniforms.insert(number),
                    _ => false,
                };
            }
        }
        used
    }
}

pub(super) struct Translator<'a> {
    pub(super) shader: &'a Shader<'a>,
    nodes: &'a [Node],
    pub(super) emitter: Emitter,
    locals: Locals<'a>,
    /// Those of the function.
    pub(super) parameters: Vec<Value>,
    /// Where the register of this vertex lies in its buffer.
    address: Value,
    pub(super) inputs: FnvHashMap<u8, [Value; 4]>,
    /// Uniforms that are loaded at the start, and those that this block has loaded.
    pub(super) uniforms: FnvHashMap<u8, [Value; 4]>,
    pub(super) loaded: FnvHashMap<u8, [Value; 4]>,
    /// The word of the booleans.
    booleans: Option<Value>,
}

impl Translator<'_> {
    /// Ends threads that have no vertex, and loads what the others start with.
    fn start(&mut self, used: &Used) {
        let emitter = &mut self.emitter;
        let entry = emitter.block;
        self.parameters = emitter.function.blocks[entry].parameters.clone();
        let [group, size, thread] = [Special::WorkgroupIdX, Special::WorkgroupSizeX, Special::ThreadIdX]
            .map(|special| emitter.emit(Operation::Special(special), Type::I32));
        let first = emitter.binary(Binary::Mul, group, size);
        let vertex = emitter.binary(Binary::Add, first, thread);
        let there = emitter.compare(Compare::LtS, vertex, self.parameters[0]);
        let (start, end) = (emitter.function.block(&[]), emitter.function.block(&[]));
        let targets = [start, end].map(|block| Target { block, arguments: Vec::new() });
        self.terminate(Terminator::Branch(there, targets));
        self.emitter.switch_to(end);
        self.terminate(Terminator::Return(Vec::new()));
        self.locals.set_origin(start, Origin::Single(entry));
        self.locals.set_origin(end, Origin::Single(entry));
        let emitter = &mut self.emitter;
        emitter.switch_to(start);
        let four = emitter.integer(4);
        self.address = emitter.binary(Binary::Shl, vertex, four);
        let mut registers = Vec::new();
        for (&number, parameter) in used.inputs.iter().zip(2..) {
            let emitter = &mut self.emitter;
            let address = emitter.binary(Binary::Add, self.parameters[parameter], self.address);
            registers.push((Register::Input(number), self.load(address, 0)));
        }
        let constants = self.shader.constants;
        let loaded = || used.uniforms.iter().filter(|number| !constants.floats.contains_key(number));
        if loaded().count() <= MOST_AT_START {
            for &number in loaded() {
                let values = self.load(self.parameters[1], u32::from(number) * REGISTER_BYTES);
                registers.push((Register::Uniform(number), values));
            }
        }
        if used.booleans {
            self.booleans = Some(self.load_integer(BOOLEANS));
        }
        for (register, values) in registers {
            let values = values.map(|value| self.emitter.read(value));
            match register {
                Register::Uniform(number) => self.uniforms.insert(number, values),
                Register::Input(number) | Register::Temporary(number) => self.inputs.insert(number, values),
            };
        }
    }

    /// Four numbers in a row, as they are in memory.
    pub(super) fn load(&mut self, address: Value, offset: u32) -> [Value; 4] {
        [0, 4, 8, 12].map(|component| {
            let access = access(Type::F32, offset + component);
            self.emitter.emit(Operation::Load(access, address), Type::F32)
        })
    }

    /// A word of the uniforms.
    fn load_integer(&mut self, offset: u32) -> Value {
        self.emitter.emit(Operation::Load(access(Type::I32, offset), self.parameters[1]), Type::I32)
    }

    fn terminate(&mut self, terminator: Terminator) {
        let body = &mut self.emitter.function.blocks[self.emitter.block];
        (body.terminator, body.at) = (terminator, self.emitter.at);
    }

    pub(super) fn get(&mut self, variable: u32) -> Value {
        self.locals.read(&mut self.emitter.function, self.emitter.block, variable)
    }

    pub(super) fn set(&mut self, variable: u32, value: Value) {
        self.locals.write(self.emitter.block, variable, value);
    }

    /// The blocks of all nodes. A node that one other leads to, and nothing else, is in its block.
    fn body(&mut self, used: &Used) -> Result<(), Error> {
        let mut before = vec![0; self.nodes.len()];
        before[0] = 1;
        let mut heads = vec![false; self.nodes.len()];
        for node in self.nodes {
            for &next in &node.next {
                before[next] += 1;
                heads[next] |= node.next.len() > 1;
            }
        }
        for (head, &before) in heads.iter_mut().zip(&before) {
            *head |= before > 1;
        }
        let mut blocks: Vec<Option<Block>> = vec![None; self.nodes.len()];
        let mut work = Vec::new();
        // The node that goes on in the block of now, if there is one.
        let mut here = Some(0).filter(|_| !heads[0]);
        if here.is_none() {
            let block = self.target(0, &before, &mut blocks, &mut work);
            self.terminate(Terminator::Jump(block));
        }
        loop {
            let number = match here.take().or_else(|| work.pop()) {
                Some(number) => number,
                None => return Ok(()),
            };
            if let Some(block) = blocks[number] {
                self.emitter.switch_to(block);
                self.loaded.clear();
            }
            let node = &self.nodes[number];
            let condition = self.action(node.action, used);
            if self.emitter.count > MOST_INSTRUCTIONS {
                let message = format!("the shader becomes more than {MOST_INSTRUCTIONS} instructions");
                return Err(Error::new(Fault::Refused, message));
            }
            match (&node.next[..], condition) {
                (&[yes, no], Some(condition)) => {
                    let targets = [yes, no].map(|next| self.target(next, &before, &mut blocks, &mut work));
                    self.terminate(Terminator::Branch(condition, targets));
                }
                (&[next], _) if heads[next] => {
                    let target = self.target(next, &before, &mut blocks, &mut work);
                    self.terminate(Terminator::Jump(target));
                }
                (&[next], _) => here = Some(next),
                _ => self.terminate(Terminator::Return(Vec::new())),
            }
        }
    }

    /// A jump from this block to the one of a node.
    fn target(
        &mut self,
        node: usize,
        before: &[u32],
        blocks: &mut [Option<Block>],
        work: &mut Vec<usize>,
    ) -> Target {
        let block = blocks[node].unwrap_or_else(|| {
            let block = self.emitter.function.block(&[]);
            let single = before[node] == 1;
            let origin = if single { Origin::Single(self.emitter.block) } else { Origin::Merge };
            self.locals.set_origin(block, origin);
            work.push(node);
            block
        });
        blocks[node] = Some(block);
        Target { block, arguments: Vec::new() }
    }

    /// Does what a node does; the condition if it has two next ones.
    fn action(&mut self, action: Action, used: &Used) -> Option<Value> {
        let shader = self.shader;
        let word = match action {
            Action::Compute(word)
            | Action::Choose(word, _)
            | Action::Begin(word, ..)
            | Action::Again(word, _)
            | Action::Leave(word, _) => word,
            Action::Finish => {
                self.store_outputs(used);
                return None;
            }
        };
        self.emitter.at = place(shader.start, word.into());
        match action {
            Action::Choose(_, test) => return Some(self.test(test)),
            Action::Begin(_, depth, uniform) => self.begin_loop(depth, uniform),
            Action::Again(_, depth) => {
                let [count, step] = [COUNT, STEP].map(|which| self.get(LOOPS + 3 * depth + which));
                let address = self.get(LOOP_ADDRESS);
                let address = self.emitter.binary(Binary::Add, address, step);
                self.set(LOOP_ADDRESS, address);
                let (zero, one) = (self.emitter.integer(0), self.emitter.integer(1));
                let less = self.emitter.binary(Binary::Sub, count, one);
                self.set(LOOPS + 3 * depth + COUNT, less);
                return Some(self.emitter.compare(Compare::Ne, count, zero));
            }
            Action::Leave(_, depth) => {
                let saved = self.get(LOOPS + 3 * depth + SAVED);
                self.set(LOOP_ADDRESS, saved);
            }
            _ => match &shader.code[usize::from(word)] {
                Instruction::Vector(vector) => self.vector(vector),
                Instruction::Compare(relations, sources) => self.cmp(*relations, sources),
                _ => {}
            },
        }
        None
    }

    fn begin_loop(&mut self, depth: u32, uniform: u8) {
        let saved = self.get(LOOP_ADDRESS);
        self.set(LOOPS + 3 * depth + SAVED, saved);
        let values = match self.shader.constants.integers[usize::from(uniform)] {
            Some(known) => known.map(|byte| self.emitter.integer(byte.into())),
            None => [0, 4, 8].map(|component| {
                let offset = INTEGERS + u32::from(uniform) * REGISTER_BYTES + component;
                let word = self.load_integer(offset);
                let byte = self.emitter.integer(0xFF);
                self.emitter.binary(Binary::And, word, byte)
            }),
        };
        self.set(LOOPS + 3 * depth + COUNT, values[0]);
        self.set(LOOP_ADDRESS, values[1]);
        self.set(LOOPS + 3 * depth + STEP, values[2]);
    }

    fn store_outputs(&mut self, used: &Used) {
        let first = 2 + used.inputs.len();
        for (&number, parameter) in used.outputs.iter().zip(first..) {
            let values = [0, 1, 2, 3].map(|component| self.get(OUTPUTS + 4 * u32::from(number) + component));
            let address = self.emitter.binary(Binary::Add, self.parameters[parameter], self.address);
            for (value, component) in values.into_iter().zip([0, 4, 8, 12]) {
                self.emitter.effect(Operation::Store(access(Type::F32, component), [address, value]));
            }
        }
    }

    fn test(&mut self, test: Test) -> Value {
        match test {
            Test::Boolean(number, wanted) => {
                let word = self.booleans.expect("it is loaded where a boolean is tested");
                let (bit, zero) = (self.emitter.integer(1 << number), self.emitter.integer(0));
                let masked = self.emitter.binary(Binary::And, word, bit);
                self.emitter.compare(if wanted { Compare::Ne } else { Compare::Eq }, masked, zero)
            }
            Test::Flags(join, wanted) => {
                let mut is_wanted = |component: usize| {
                    let flag = self.get(FLAGS + component as u32);
                    if wanted[component] { flag } else { self.emitter.unary(Unary::Not, flag) }
                };
                let binary = match join {
                    Join::X => return is_wanted(0),
                    Join::Y => return is_wanted(1),
                    Join::Or => Binary::Or,
                    Join::And => Binary::And,
                };
                let (x, y) = (is_wanted(0), is_wanted(1));
                self.emitter.binary(binary, x, y)
            }
        }
    }

    /// The function, with its variables as values.
    fn finish(mut self) -> Function {
        let mut function = self.emitter.function;
        self.locals.finish(&mut function);
        let entry = function.entry();
        let zeros = self.locals.zeros.iter().map(|&value| {
            let operation = Operation::Constant(Constant::zero(function.values[value]));
            IrInstruction { operation, results: vec![value], at: function.at }
        });
        let zeros: Vec<IrInstruction> = zeros.collect();
        function.blocks[entry].instructions.splice(0..0, zeros);
        simplify(&mut function);
        function
    }
}

/// A word of device memory.
fn access(ty: Type, offset: u32) -> Access {
    Access { memory: MemoryId::new(0), ty, bytes: 4, signed: false, offset }
}
