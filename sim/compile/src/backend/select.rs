//! From the structured function to instructions on virtual registers.

mod branches;
mod conditions;
mod operations;

use super::code::{ALWAYS, Code, Register, Selected, Slot, Virtual};
use super::flow;
use super::moves::{self, Source};
use crate::error::Reason;
use crate::ir::{Binary, Block, Function, Module, Operation, Place, Terminator, Trap, Type, Value};
use crate::structure::{Node, structure};
use conditions::Predicates;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::HashMap;
use wave_isa::Op;

/// What selection needs to know of the machine and the wish.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// Lanes of a wave.
    pub(super) wave_width: u32,
    /// Constants of loops are made in front of them.
    pub(super) hoist: bool,
}

/// Where a constant is at hand: in the nodes of one list.
#[derive(Default)]
struct Constants {
    known: HashMap<u32, Register>,
    /// The list is the body of a loop.
    is_loop: bool,
    /// Constants that have to be made in front of the loop.
    in_front: Vec<(u32, Register)>,
}

/// Selects the instructions of a function.
///
/// # Errors
/// What has no instructions, and where.
pub(super) fn select(module: &Module, function: &Function, wish: Wish) -> Result<Selected, (Place, Reason)> {
    let nodes = structure(function).map_err(|error| (function.at, Reason::Structure(error)))?;
    let nodes = flow::flatten(nodes);
    let mut selector = Selector::new(module, function, wish);
    selector.parameters();
    selector.nodes(&nodes)?;
    if !selector.code.last().is_some_and(|last| last.op == Op::Halt && last.leaves()) {
        selector.code.push(Code::new(Op::Halt, Place::default()));
    }
    let nesting = flow::nesting(&selector.code);
    Ok(Selected { code: selector.code, registers: selector.registers, nesting })
}

struct Selector<'a> {
    module: &'a Module,
    function: &'a Function,
    wish: Wish,
    /// Where each value is defined, and how often it is taken.
    definitions: SecondaryMap<Value, Option<(Block, usize)>>,
    uses: SecondaryMap<Value, u32>,
    /// Block of the last use that was found; only of meaning for one use.
    used_in: SecondaryMap<Value, Option<Block>>,
    registers: Vec<Virtual>,
    values: SecondaryMap<Value, Option<Register>>,
    /// Products that are part of a sum.
    fused: EntitySet<Value>,
    code: Vec<Code>,
    constants: Vec<Constants>,
    predicates: Predicates,
    zero: Option<Register>,
    exit: Option<Register>,
    at: Place,
}

impl<'a> Selector<'a> {
    fn new(module: &'a Module, function: &'a Function, wish: Wish) -> Selector<'a> {
        let mut selector = Selector {
            module,
            function,
            wish,
            definitions: SecondaryMap::new(),
            uses: SecondaryMap::new(),
            used_in: SecondaryMap::new(),
            registers: Vec::new(),
            values: SecondaryMap::new(),
            fused: EntitySet::new(),
            code: Vec::new(),
            constants: vec![Constants::default()],
            predicates: Predicates::default(),
            zero: None,
            exit: None,
            at: function.at,
        };
        for (block, body) in &function.blocks {
            for (number, instruction) in body.instructions.iter().enumerate() {
                for &result in &instruction.results {
                    selector.definitions[result] = Some((block, number));
                }
                for value in instruction.operation.operands() {
                    selector.uses[value] += 1;
                    selector.used_in[value] = Some(block);
                }
            }
            let end = &body.terminator;
            let arguments = end.targets().iter().flat_map(|target| &target.arguments);
            for &value in end.operands().iter().chain(arguments) {
                selector.uses[value] += 1;
                selector.used_in[value] = Some(block);
            }
        }
        selector.find_fused();
        selector
    }

    /// Launch arguments are in the first registers.
    fn parameters(&mut self) {
        let parameters = &self.function.blocks[self.function.entry()].parameters;
        for (number, &value) in parameters.iter().enumerate() {
            let register = self.register();
            self.registers[register.number as usize].fixed = Some(number as u8);
            self.values[value] = Some(register);
        }
    }

    fn register(&mut self) -> Register {
        self.rows(1)
    }

    fn rows(&mut self, rows: u8) -> Register {
        self.registers.push(Virtual { rows, fixed: None, not_zero: false, is_variable: false });
        Register { number: self.registers.len() as u32 - 1, row: 0 }
    }

    /// A register that is written in several places.
    fn variable(&mut self) -> Register {
        let register = self.register();
        self.registers[register.number as usize].is_variable = true;
        register
    }

    fn operation(&self, value: Value) -> Option<&'a Operation> {
        let (block, number) = self.definitions[value]?;
        Some(&self.function.blocks[block].instructions[number].operation)
    }

    /// The register of a value, which is defined by now.
    fn value(&mut self, value: Value) -> Register {
        if let Some(register) = self.values[value] {
            return register;
        }
        let register = match self.operation(value) {
            Some(Operation::Constant(constant)) => return self.constant(constant.bits() as u32),
            // A truth value that is made where it is taken.
            Some(_) if self.function.values[value] == Type::Bool => return self.as_number(value),
            // A parameter of a block that comes later, or a value of a block that is not reached.
            _ => self.variable(),
        };
        self.values[value] = Some(register);
        register
    }

    /// Register of a parameter of a block.
    fn parameter(&mut self, value: Value) -> Register {
        if let Some(register) = self.values[value] {
            return register;
        }
        let register = self.variable();
        self.values[value] = Some(register);
        register
    }

    /// A register with these bits. One that nobody writes is 0 from the start.
    fn constant(&mut self, bits: u32) -> Register {
        if bits == 0 {
            if self.zero.is_none() {
                self.zero = Some(self.register());
            }
            return self.zero.expect("it was made just now");
        }
        if let Some(&register) = self.constants.iter().rev().find_map(|scope| scope.known.get(&bits)) {
            return register;
        }
        let register = self.register();
        match self.constants.iter().position(|scope| scope.is_loop) {
            Some(outermost) if self.wish.hoist => {
                self.constants[outermost].in_front.push((bits, register));
                self.constants[outermost - 1].known.insert(bits, register);
            }
            _ => {
                self.constants.last_mut().expect("the list of nodes").known.insert(bits, register);
                self.load_constant(register, bits);
            }
        }
        register
    }

    fn load_constant(&mut self, register: Register, bits: u32) {
        let mut code = Code::with(Op::MovImm, &[Slot::Register(register)], self.at);
        code.imm = bits;
        self.code.push(code);
    }

    /// Appends an instruction that writes a register.
    fn emit_to(&mut self, to: Register, op: Op, operands: &[Register]) {
        let mut slots = vec![Slot::Register(to)];
        slots.extend(operands.iter().map(|&register| Slot::Register(register)));
        self.code.push(Code::with(op, &slots, self.at));
    }

    /// Appends an instruction that writes a new register.
    fn emit(&mut self, op: Op, operands: &[Register]) -> Register {
        let to = self.register();
        self.emit_to(to, op, operands);
        to
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), (Place, Reason)> {
        for node in nodes {
            match node {
                Node::Code(block) => {
                    for number in 0..self.function.blocks[*block].instructions.len() {
                        self.instruction(*block, number)?;
                    }
                    self.at = self.function.blocks[*block].at;
                }
                Node::End(block) => {
                    self.at = self.function.blocks[*block].at;
                    match &self.function.blocks[*block].terminator {
                        Terminator::Trap(trap) => self.trap(*trap),
                        _ => self.code.push(Code::new(Op::Halt, self.at)),
                    }
                }
                Node::Pass(block, number) => self.pass(*block, *number),
                Node::If(condition, sides) => self.branch(*condition, sides)?,
                Node::Loop(body) => self.repeat(body)?,
                Node::Break => self.code.push(Code::with(Op::Break, &[ALWAYS], self.at)),
                Node::Continue => self.code.push(Code::with(Op::Continue, &[ALWAYS], self.at)),
                Node::SetExit(number) => {
                    let exit = self.exit();
                    self.load_constant(exit, *number);
                }
                Node::IfExit(number, body) => {
                    let (exit, wanted) = (self.exit(), self.constant(*number));
                    let predicate = self.predicates.free();
                    self.compare_into(predicate, Op::ICmpEq, exit, wanted);
                    self.choose(predicate, false, [body, &[]])?;
                }
            }
        }
        Ok(())
    }

    fn exit(&mut self) -> Register {
        if self.exit.is_none() {
            self.exit = Some(self.variable());
        }
        self.exit.expect("it was made just now")
    }

    /// An access that no memory has. The machine stops there, and the table of traps says why.
    fn trap(&mut self, trap: Trap) {
        let address = self.register();
        self.load_constant(address, u32::MAX);
        let operands = [Slot::Register(address); 2];
        let mut code = Code::with(Op::DeviceStoreU32, &operands, self.at);
        code.trap = Some(trap);
        self.code.push(code);
    }

    /// The parameters of a block get their arguments.
    fn pass(&mut self, block: Block, number: usize) {
        let target = &self.function.blocks[block].terminator.targets()[number];
        let parameters = &self.function.blocks[target.block].parameters;
        let mut wanted = Vec::new();
        for (&parameter, &argument) in parameters.iter().zip(&target.arguments) {
            let to = self.parameter(parameter);
            let from = match self.operation(argument) {
                Some(Operation::Constant(constant)) => Source::Constant(constant.bits() as u32),
                _ => Source::Register(self.value(argument)),
            };
            wanted.push((to, from));
        }
        let temporary = |selector: &mut Selector| selector.register();
        for (to, from) in moves::in_sequence(wanted, self, temporary) {
            match from {
                Source::Constant(bits) => self.load_constant(to, bits),
                Source::Register(from) => self.emit_to(to, Op::Mov, &[from]),
            }
        }
    }

    fn repeat(&mut self, body: &[Node]) -> Result<(), (Place, Reason)> {
        let before = std::mem::take(&mut self.code);
        self.predicates = Predicates::default();
        self.constants.push(Constants { is_loop: true, ..Constants::default() });
        self.nodes(body)?;
        let scope = self.constants.pop().expect("it was pushed");
        let body = std::mem::replace(&mut self.code, before);
        for (bits, register) in scope.in_front {
            self.load_constant(register, bits);
        }
        self.code.push(Code::new(Op::Loop, self.at));
        self.code.extend(body);
        self.code.push(Code::new(Op::EndLoop, self.at));
        self.predicates = Predicates::default();
        Ok(())
    }

    /// Finds products that become part of a sum: those that only it takes, in its block.
    fn find_fused(&mut self) {
        for (block, body) in &self.function.blocks {
            for instruction in &body.instructions {
                let Operation::Binary(Binary::Add, operands) = &instruction.operation else { continue };
                let product = operands.iter().find(|&&value| {
                    let defined_here = self.definitions[value].is_some_and(|(other, _)| other == block);
                    let is_product = matches!(self.operation(value), Some(Operation::Binary(Binary::Mul, _)));
                    defined_here && is_product && self.uses[value] == 1
                });
                if let Some(&product) = product {
                    self.fused.insert(product);
                }
            }
        }
    }
}
