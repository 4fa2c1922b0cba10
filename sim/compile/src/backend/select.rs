//! From the structured function to instructions on virtual registers.

mod branches;
mod calls;
mod conditions;
mod joined;
mod operations;

use super::code::{ALWAYS, Code, Conventions, Register, Selected, Slot, Virtual};
use super::moves::{self, Source};
use super::nesting::Nesting;
use super::{flow, private};
use crate::error::Reason;
use crate::ir::{Binary, Block, Function, Module, Operation, Place, Terminator, Trap, Type, Value};
use crate::structure::{Node, StructureError, flat, structure};
use conditions::Predicates;
use cranelift_entity::{EntitySet, SecondaryMap};
use joined::Joined;
use std::collections::HashMap;
use wave_isa::Op;

/// Where a constant is at hand: in the nodes of one list.
#[derive(Default)]
struct Constants {
    known: HashMap<u32, Register>,
    /// The list is the body of a loop.
    is_loop: bool,
    /// Constants that have to be made in front of the loop.
    in_front: Vec<(u32, Register)>,
}

/// What is known of a program when a function is selected.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// The module.
    pub(super) module: &'a Module,
    /// Of the functions that are compiled.
    pub(super) conventions: &'a Conventions,
    /// The machine register that has the private base, if the program has one.
    pub(super) base_register: Option<u8>,
    /// Lanes of a wave whose words of private memory lie side by side.
    pub(super) lanes: u32,
}

/// Selects the instructions of a function. The functions that it calls are compiled. Where the structured form is
/// nested deeper than `most_nesting`, the functions called left out, or has the return inside of something, it becomes one
/// loop that chooses blocks.
///
/// # Errors
/// What has no instructions, and where.
pub(super) fn select(
    program: Known,
    function: &Function,
    is_kernel: bool,
    most_nesting: u32,
) -> Result<Selected, (Place, Reason)> {
    let structured = match structure(function) {
        Ok(nodes) => {
            let selected = select_nodes(program, function, is_kernel, (nodes, false))?;
            let fits = Nesting::of(&selected.code).own() <= most_nesting;
            (fits && !flow::returns_inside(&selected.code)).then_some(selected)
        }
        Err(StructureError::TooDeep) => None,
        Err(error) => return Err((function.at, Reason::Structure(error))),
    };
    structured.map_or_else(
        || {
            let nodes = flat(function, !is_kernel, most_nesting)
                .map_err(|error| (function.at, Reason::Structure(error)))?;
            select_nodes(program, function, is_kernel, (nodes, true))
        },
        Ok,
    )
}

fn select_nodes(
    program: Known,
    function: &Function,
    is_kernel: bool,
    (nodes, is_flat): (Vec<Node>, bool),
) -> Result<Selected, (Place, Reason)> {
    let nodes = flow::flatten(nodes, &|block| !is_kernel && returns(function, block));
    let mut selector = Selector::new(program, function, is_kernel);
    selector.is_flat = is_flat;
    selector.parameters();
    selector.nodes(&nodes)?;
    let leaves = |last: &Code| last.op == Op::Return || last.op == Op::Halt && last.leaves();
    if !selector.code.last().is_some_and(leaves) {
        // Nobody comes here.
        selector.code.push(Code::new(if is_kernel { Op::Halt } else { Op::Return }, Place::default()));
    }
    let mut selected = Selected {
        nesting: flow::nesting(&selector.code, program.conventions),
        code: selector.code,
        registers: selector.registers,
        is_kernel,
        parameters: selector.parameters,
        results: selector.results,
        base_register: selector.base_register,
        private_base: selector.private_base,
        spill_words: selector.spill_words,
        lanes: program.lanes,
    };
    private::prologue(&mut selected);
    Ok(selected)
}

/// True for a block that gives control back.
fn returns(function: &Function, block: Block) -> bool {
    matches!(function.blocks[block].terminator, Terminator::Return(_))
}

struct Selector<'a> {
    module: &'a Module,
    function: &'a Function,
    is_kernel: bool,
    /// Blocks follow one another in any order, so that every register may be wanted again.
    is_flat: bool,
    conventions: &'a Conventions,
    /// Where each value is defined, and how often it is taken.
    definitions: SecondaryMap<Value, Option<(Block, usize)>>,
    uses: SecondaryMap<Value, u32>,
    /// Block of the last use that was found; only of meaning for one use.
    used_in: SecondaryMap<Value, Option<Block>>,
    registers: Vec<Virtual>,
    values: SecondaryMap<Value, Option<Register>>,
    /// How many values have this register as their own.
    named: Vec<u32>,
    /// Accesses that become wide ones.
    joined: Joined,
    /// Products that are part of a sum.
    fused: EntitySet<Value>,
    code: Vec<Code>,
    constants: Vec<Constants>,
    predicates: Predicates,
    zero: Option<Register>,
    exit: Option<Register>,
    parameters: Vec<Register>,
    results: Vec<Register>,
    base_register: Option<u8>,
    private_base: Option<Register>,
    spill_words: u32,
    at: Place,
}

impl<'a> Selector<'a> {
    fn new(program: Known<'a>, function: &'a Function, is_kernel: bool) -> Selector<'a> {
        let mut selector = Selector {
            module: program.module,
            function,
            is_kernel,
            is_flat: false,
            conventions: program.conventions,
            definitions: SecondaryMap::new(),
            uses: SecondaryMap::new(),
            used_in: SecondaryMap::new(),
            registers: Vec::new(),
            values: SecondaryMap::new(),
            named: Vec::new(),
            joined: Joined::default(),
            fused: EntitySet::new(),
            code: Vec::new(),
            constants: vec![Constants::default()],
            predicates: Predicates::default(),
            zero: None,
            exit: None,
            parameters: Vec::new(),
            results: Vec::new(),
            base_register: program.base_register,
            private_base: None,
            spill_words: 0,
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
        let mut uses = std::mem::take(&mut selector.uses);
        selector.joined =
            Joined::new(selector.module, function, &mut uses, |value| selector.operation(value));
        selector.uses = uses;
        selector.find_fused();
        selector
    }

    /// Parameters come in registers of their own: those of a kernel in the first ones. Where they stay is another one.
    fn parameters(&mut self) {
        let parameters = &self.function.blocks[self.function.entry()].parameters;
        for (number, &value) in parameters.iter().enumerate() {
            let given = self.register();
            let virtual_ = &mut self.registers[given.number as usize];
            virtual_.stays = true;
            virtual_.fixed = self.is_kernel.then_some(number as u8);
            self.parameters.push(given);
            if self.uses[value] > 0 {
                let kept = self.emit(Op::Mov, &[given]);
                self.values[value] = Some(kept);
            }
        }
        if !self.is_kernel {
            for _ in 0..self.function.signature.results.len() {
                let register = self.variable();
                self.registers[register.number as usize].stays = true;
                self.results.push(register);
            }
        }
    }

    fn register(&mut self) -> Register {
        self.rows(1)
    }

    fn rows(&mut self, rows: u8) -> Register {
        self.registers.push(Virtual { rows, ..Virtual::default() });
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

    /// A register with these bits. One that nobody writes is 0 from the start of a kernel.
    fn constant(&mut self, bits: u32) -> Register {
        if bits == 0 && self.is_kernel {
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
            Some(outermost) => {
                self.constants[outermost].in_front.push((bits, register));
                self.constants[outermost - 1].known.insert(bits, register);
            }
            None => {
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
                        Terminator::Return(values) if !self.is_kernel => self.give_back(values),
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
                Node::IfExitBelow(number, [yes, no]) => {
                    let (exit, wanted) = (self.exit(), self.constant(*number));
                    let predicate = self.predicates.free();
                    self.compare_into(predicate, Op::UCmpLt, exit, wanted);
                    self.choose(predicate, false, [yes, no])?;
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
        let to = parameters.iter().map(|&parameter| self.parameter(parameter)).collect::<Vec<_>>();
        self.moves(to, &target.arguments);
    }

    /// The registers get the values, all at once.
    fn moves(&mut self, to: Vec<Register>, values: &[Value]) {
        let mut wanted = Vec::new();
        for (to, &value) in to.into_iter().zip(values) {
            let from = match self.operation(value) {
                Some(Operation::Constant(constant)) => Source::Constant(constant.bits() as u32),
                _ => Source::Register(self.value(value)),
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
