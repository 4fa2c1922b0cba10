//! An entry as a function of the representation: registers become values, statements instructions.
//!
//! A register is a variable that each block may set. A block that several others lead to gets a parameter for each variable
//! that it reads, and the jumps bring its values; parameters with one value go later, with those that nobody takes.

use super::Wrong;
use super::emit::Emitter;
use super::graph::{End, Frame, Item, SourceGraph, parts_of_call};
use super::layout::{DeviceLayout, Places};
use super::lexer::Span;
use super::matrix::Gathered;
use super::spaces::Spaces;
use super::table::Meaning;
use super::tree::{Formal, Function, Operand, OperandKind, RegisterId, Statement, Tree, VariableId};
use super::types::{Kind, PtxType};
use crate::emit::to;
use crate::ir::{
    self, Access, Binary, Block, Constant, Convert, MemoryId, Operation, Place, Signature, Target,
    Terminator, Trap, Type, Unary, Value,
};
use std::collections::HashMap;

/// The memories of a module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memories {
    pub(super) device: MemoryId,
    pub(super) local: MemoryId,
    pub(super) private: MemoryId,
}

/// An entry that has been translated.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) function: ir::Function,
    pub(super) parameters: Vec<String>,
    pub(super) shared_bytes: u32,
    pub(super) private_bytes: u32,
    /// It is right with waves of 32 lanes only.
    pub(super) needs_warps: bool,
    /// It multiplies matrices.
    pub(super) multiplies_matrices: bool,
}

/// A result of the translator.
pub(super) type Done<T = ()> = Result<T, Wrong>;

pub(super) struct Translator<'a> {
    pub(super) tree: &'a Tree,
    pub(super) device: &'a DeviceLayout,
    pub(super) graph: &'a SourceGraph,
    pub(super) places: &'a Places,
    pub(super) spaces: &'a Spaces,
    pub(super) ids: Memories,
    pub(super) e: Emitter,
    pub(super) needs_warps: bool,
    pub(super) multiplies_matrices: bool,
    pub(super) gathered: Gathered,
    /// The block of the source, and the frame of the statement.
    source: usize,
    pub(super) frame: usize,
    /// Values of variables at the end of each block of the source, as far as they are known.
    values: Vec<HashMap<u32, Value>>,
    /// For each block of the source those that lead to it, and its first and last block here.
    before: Vec<Vec<usize>>,
    heads: Vec<Block>,
    ends: Vec<Block>,
    /// Parameters of blocks that jumps do not bring yet.
    open: Vec<(usize, u32, Value)>,
    /// The predicate of an instruction without effects: its results are chosen by it.
    guard: Option<Value>,
    /// Results of an instruction that only some threads do.
    held: Option<Vec<(u32, Value)>>,
}

/// Translates an entry.
pub(super) fn entry(tree: &Tree, number: usize, device: &DeviceLayout, ids: Memories) -> Done<Made> {
    let graph = SourceGraph::new(tree, number)?;
    let places = Places::new(tree, &graph, device)?;
    let spaces = Spaces::new(tree, &graph);
    let function = &tree.functions[number];
    let (types, parameters) = signature(function);
    let signature = Signature { parameters: types, results: Vec::new() };
    let at = Place(function.at.start as u32 + 1);
    let made = ir::Function::new(Some(function.name.clone()), signature, at);
    let order = graph.order();
    let mut before = vec![Vec::new(); graph.blocks.len()];
    for &block in &order {
        for target in graph.targets(block) {
            if !before[target].contains(&block) {
                before[target].push(block);
            }
        }
    }
    let mut translator = Translator {
        tree,
        device,
        graph: &graph,
        places: &places,
        spaces: &spaces,
        ids,
        e: Emitter::new(made),
        needs_warps: false,
        multiplies_matrices: false,
        gathered: Gathered::default(),
        source: 0,
        frame: 0,
        values: vec![HashMap::new(); graph.blocks.len()],
        before,
        heads: Vec::new(),
        ends: Vec::new(),
        open: Vec::new(),
        guard: None,
        held: None,
    };
    translator.run(&order)?;
    Ok(Made {
        function: translator.e.finish(),
        parameters,
        shared_bytes: places.shared_bytes,
        private_bytes: places.private_bytes,
        needs_warps: translator.needs_warps,
        multiplies_matrices: translator.multiplies_matrices,
    })
}

/// Types and names of the arguments of an entry. A structure is its words.
fn signature(function: &Function) -> (Vec<Type>, Vec<String>) {
    let (mut types, mut names) = (Vec::new(), Vec::new());
    for formal in &function.parameters {
        match formal {
            Formal::Register(id) => {
                let (name, ty) = &function.registers[id.0 as usize];
                types.push(ty.ir());
                names.push(name.clone());
            }
            Formal::Memory(own) => {
                let variable = &function.variables[*own];
                if variable.size() == u64::from(variable.ty.bytes()) {
                    types.push(variable.ty.ir());
                    names.push(variable.name.clone());
                    continue;
                }
                for word in 0..variable.size().div_ceil(4) {
                    types.push(Type::I32);
                    names.push(format!("{}+{}", variable.name, 4 * word));
                }
            }
        }
    }
    (types, names)
}

impl<'a> Translator<'a> {
    fn run(&mut self, order: &[usize]) -> Done {
        let entry = self.e.function.entry();
        self.heads = (0..self.graph.blocks.len())
            .map(|block| if block == 0 { entry } else { self.e.new_block(&[]) })
            .collect();
        self.ends = self.heads.clone();
        self.arguments()?;
        for &block in order {
            self.source = block;
            self.e.block = self.heads[block];
            for item in &self.graph.blocks[block].items {
                match *item {
                    Item::Statement(frame, number) => {
                        self.frame = frame;
                        self.statement(self.graph.statement(self.tree, frame, number))?;
                    }
                    Item::Enter(frame) => self.enter(frame)?,
                    Item::Leave(frame) => self.leave(frame)?,
                }
            }
            self.end_block(block)?;
        }
        self.fill();
        Ok(())
    }

    /// The arguments of the entry become the words of its parameters.
    fn arguments(&mut self) -> Done {
        let function = self.graph.function(self.tree, 0);
        let entry = self.e.function.entry();
        let mut given = self.e.function.blocks[entry].parameters.clone().into_iter();
        for formal in &function.parameters {
            match formal {
                Formal::Register(id) => {
                    let value = given.next().expect("an argument for each parameter");
                    self.values[0].insert(id.0, value);
                }
                Formal::Memory(own) => {
                    let variable = &function.variables[*own];
                    let first = self.graph.frames[0].words[own];
                    if variable.size() == u64::from(variable.ty.bytes()) {
                        let value = given.next().expect("an argument for each parameter");
                        self.set_words(first, 0, value, variable.ty);
                    } else {
                        for word in 0..variable.size().div_ceil(4) as u32 {
                            let value = given.next().expect("an argument for each word");
                            self.set(first + word, value);
                        }
                    }
                    self.copy_parameter(0, *own);
                }
            }
        }
        Ok(())
    }

    /// Stores the words of a parameter whose address is taken in the memory of the thread.
    fn copy_parameter(&mut self, frame: usize, own: usize) {
        let of = self.graph.frames[frame].function;
        if !self.places.copied.contains(&(of, own)) {
            return;
        }
        let Some(address) = self.places.address(of, VariableId::Own(own)) else { return };
        let first = self.graph.frames[frame].words[&own];
        let words = self.tree.functions[of].variables[own].size().div_ceil(4) as u32;
        for word in 0..words {
            let value = self.get(first + word);
            let access = self.access(self.ids.private, Type::I32, 4, false, address + 4 * word);
            let base = self.e.i32(0);
            self.e.effect(Operation::Store(access, [base, value]));
        }
    }

    pub(super) fn access(&self, memory: MemoryId, ty: Type, bytes: u32, signed: bool, offset: u32) -> Access {
        Access { memory, ty, bytes, signed, offset }
    }

    fn end_block(&mut self, block: usize) -> Done {
        let graph = self.graph;
        let source = &graph.blocks[block];
        self.e.at = Place(source.at.start as u32 + 1);
        let terminator = match &source.end {
            End::Jump(target) => Terminator::Jump(to(self.heads[*target])),
            End::Branch(frame, register, is_negated, targets) => {
                let condition = self.get(graph.frames[*frame].first + register.0);
                let [yes, no] = targets.map(|target| to(self.heads[target]));
                let targets = if *is_negated { [no, yes] } else { [yes, no] };
                Terminator::Branch(condition, targets)
            }
            End::Table(frame, number, targets) => {
                self.frame = *frame;
                let statement = graph.statement(self.tree, *frame, *number);
                let index = self.read(&statement.operands[0], PtxType::U32)?;
                let mut targets: Vec<Target> = targets.iter().map(|&target| to(self.heads[target])).collect();
                // An index past the end has no meaning; the last label is as good as any.
                if targets.len() == 1 {
                    Terminator::Jump(targets.remove(0))
                } else {
                    Terminator::Switch(index, targets)
                }
            }
            End::Exit => Terminator::Return(Vec::new()),
            End::Trap => Terminator::Trap(Trap::Unreachable),
        };
        self.e.end(terminator);
        self.ends[block] = self.e.block;
        Ok(())
    }

    /// Brings the values of all parameters of blocks with the jumps, in the order of the parameters.
    fn fill(&mut self) {
        let mut next = 0;
        while let Some(&(block, variable, _)) = self.open.get(next) {
            next += 1;
            for at in 0..self.before[block].len() {
                let before = self.before[block][at];
                let value = self.at_end(before, variable);
                let (head, end) = (self.heads[block], self.ends[before]);
                for target in self.e.function.blocks[end].terminator.targets_mut() {
                    if target.block == head {
                        target.arguments.push(value);
                    }
                }
            }
        }
    }

    /// The value of a variable at the end of a block.
    fn at_end(&mut self, mut block: usize, variable: u32) -> Value {
        loop {
            if let Some(&value) = self.values[block].get(&variable) {
                return value;
            }
            match self.before[block][..] {
                // Nobody has set it.
                [] => {
                    let value = self.e.zero(self.graph.variables[variable as usize].ir());
                    self.values[block].insert(variable, value);
                    return value;
                }
                [one] => block = one,
                _ => {
                    let ty = self.graph.variables[variable as usize].ir();
                    let value = self.e.new_parameter(self.heads[block], ty);
                    self.values[block].insert(variable, value);
                    self.open.push((block, variable, value));
                    return value;
                }
            }
        }
    }

    /// The value of a variable now.
    pub(super) fn get(&mut self, variable: u32) -> Value {
        let value = self.at_end(self.source, variable);
        self.values[self.source].entry(variable).or_insert(value);
        value
    }

    /// Sets a variable, where the guard of the instruction is true.
    pub(super) fn set(&mut self, variable: u32, value: Value) {
        if let Some(held) = &mut self.held {
            held.push((variable, value));
            return;
        }
        let value = match self.guard {
            Some(guard) => {
                let before = self.get(variable);
                self.e.select(guard, value, before)
            }
            None => value,
        };
        self.values[self.source].insert(variable, value);
    }

    pub(super) fn of_frame(&self) -> &'a Frame {
        &self.graph.frames[self.frame]
    }

    pub(super) fn variable(&self, id: RegisterId) -> u32 {
        self.of_frame().first + id.0
    }

    /// Name and type of a register of the frame.
    pub(super) fn register(&self, id: RegisterId) -> (&'a str, PtxType) {
        let (name, ty) = &self.graph.function(self.tree, self.frame).registers[id.0 as usize];
        (name, *ty)
    }

    /// The place that a statement of the frame shows.
    fn place(&self, at: &Span) -> Place {
        Place(self.graph.shown(self.tree, self.frame, at).start as u32 + 1)
    }

    fn statement(&mut self, statement: &'a Statement) -> Done {
        self.e.at = self.place(&statement.at);
        let Some((register, is_negated)) = statement.guard else { return self.instruction(statement) };
        let guard = self.get(self.variable(register));
        let guard = if is_negated { self.e.not(guard) } else { guard };
        match self.e.known(guard) {
            Some(0) => return Ok(()),
            Some(_) => return self.instruction(statement),
            None => {}
        }
        if !has_effect(statement.row.meaning) {
            self.guard = Some(guard);
            let done = self.instruction(statement);
            self.guard = None;
            return done;
        }
        // Only the threads of the guard do it.
        let before = self.e.block;
        let side = self.e.new_block(&[]);
        self.e.block = side;
        self.held = Some(Vec::new());
        let done = self.instruction(statement);
        let held = self.held.take().unwrap_or_default();
        done?;
        let join = self.e.new_block(&[]);
        let (mut new, mut old, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (variable, value) in held {
            new.push(value);
            old.push(self.get(variable));
            let ty = self.e.ty(value);
            results.push((variable, self.e.new_parameter(join, ty)));
        }
        self.e.jump(join, new);
        self.e.block = before;
        self.e.end(Terminator::Branch(guard, [to(side), Target { block: join, arguments: old }]));
        self.e.block = join;
        for (variable, value) in results {
            self.set(variable, value);
        }
        Ok(())
    }

    /// The arguments of a call become parameters.
    fn enter(&mut self, frame: usize) -> Done {
        let Some((caller, number)) = self.graph.frames[frame].caller else { return Ok(()) };
        let statement = self.graph.statement(self.tree, caller, number);
        self.frame = caller;
        self.e.at = self.place(&statement.at);
        let function = self.graph.function(self.tree, frame);
        let (_, _, arguments) = parts_of_call(statement);
        if arguments.len() != function.parameters.len() {
            let (takes, given) = (function.parameters.len(), arguments.len());
            let message = format!("`{}` takes {takes} arguments, and the call gives {given}", function.name);
            return Err(Wrong::new(statement.at.clone(), message));
        }
        for (argument, formal) in arguments.iter().zip(&function.parameters) {
            match formal {
                Formal::Register(id) => {
                    self.frame = caller;
                    let ty = function.registers[id.0 as usize].1;
                    let value = self.read(argument, ty)?;
                    self.set(self.graph.frames[frame].first + id.0, value);
                }
                Formal::Memory(own) => {
                    let from = self.words_of(caller, argument)?;
                    let into = self.graph.frames[frame].words[own];
                    let words = function.variables[*own].size().div_ceil(4) as u32;
                    match from {
                        Some((from, size)) if size == words => {
                            for word in 0..words {
                                let value = self.get(from + word);
                                self.set(into + word, value);
                            }
                        }
                        Some((_, size)) => {
                            let message = format!(
                                "`{}` takes an argument of {} bytes here, and the call gives {}",
                                function.name,
                                4 * words,
                                4 * size
                            );
                            return Err(Wrong::new(argument.at.clone(), message));
                        }
                        None => {
                            self.frame = caller;
                            let ty = function.variables[*own].ty;
                            let value = self.read(argument, ty)?;
                            self.set_words(into, 0, value, ty);
                        }
                    }
                    self.copy_parameter(frame, *own);
                }
            }
        }
        Ok(())
    }

    /// The results of a call become those that the caller names.
    fn leave(&mut self, frame: usize) -> Done {
        let Some((caller, number)) = self.graph.frames[frame].caller else { return Ok(()) };
        let statement = self.graph.statement(self.tree, caller, number);
        self.frame = caller;
        self.e.at = self.place(&statement.at);
        let function = self.graph.function(self.tree, frame);
        let (results, _, _) = parts_of_call(statement);
        if results.len() > function.results.len() {
            let message = format!("`{}` gives {} results", function.name, function.results.len());
            return Err(Wrong::new(statement.at.clone(), message));
        }
        for (result, formal) in results.iter().zip(&function.results) {
            match formal {
                Formal::Register(id) => {
                    let ty = function.registers[id.0 as usize].1;
                    let value = self.get(self.graph.frames[frame].first + id.0);
                    self.frame = caller;
                    self.write(result, value, ty)?;
                }
                Formal::Memory(own) => {
                    let from = self.graph.frames[frame].words[own];
                    let variable = &function.variables[*own];
                    match self.words_of(caller, result)? {
                        Some((into, size)) => {
                            for word in 0..size.min(variable.size().div_ceil(4) as u32) {
                                let value = self.get(from + word);
                                self.set(into + word, value);
                            }
                        }
                        None => {
                            self.frame = frame;
                            let value = self.get_words(from, 0, variable.ty);
                            self.frame = caller;
                            self.write(result, value, variable.ty)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The first word of a parameter variable that a call names, and how many it has; `None` for a register or a number.
    fn words_of(&self, frame: usize, operand: &Operand) -> Done<Option<(u32, u32)>> {
        match operand.kind {
            OperandKind::Variable(VariableId::Own(own), 0) => {
                let Some(&first) = self.graph.frames[frame].words.get(&own) else {
                    return Err(Wrong::new(
                        operand.at.clone(),
                        "a call passes variables in .param and registers",
                    ));
                };
                let variable = &self.graph.function(self.tree, frame).variables[own];
                Ok(Some((first, variable.size().div_ceil(4) as u32)))
            }
            _ => Ok(None),
        }
    }

    /// Sets a number of a parameter, at a byte that is a multiple of its size.
    pub(super) fn set_words(&mut self, first: u32, byte: u32, value: Value, ty: PtxType) {
        let word = first + byte / 4;
        match ty.bits {
            64 => {
                let bits = if self.e.ty(value) == Type::F64 { self.e.reinterpret(value) } else { value };
                let [low, high] = self.e.halves(bits);
                self.set(word, low);
                self.set(word + 1, high);
            }
            32 => {
                let bits = if self.e.ty(value) == Type::F32 { self.e.reinterpret(value) } else { value };
                self.set(word, bits);
            }
            bits => {
                let shift = 8 * (byte % 4);
                let mask = (1u32 << bits) - 1;
                let before = self.get(word);
                let kept = self.e.with(Binary::And, before, u64::from(!(mask << shift)));
                let new = self.e.with(Binary::And, value, u64::from(mask));
                let new = self.e.with(Binary::Shl, new, u64::from(shift));
                let all = self.e.binary(Binary::Or, kept, new);
                self.set(word, all);
            }
        }
    }

    /// A number of a parameter, at a byte that is a multiple of its size.
    pub(super) fn get_words(&mut self, first: u32, byte: u32, ty: PtxType) -> Value {
        let word = first + byte / 4;
        let low = self.get(word);
        match ty.bits {
            64 => {
                let high = self.get(word + 1);
                let whole = self.e.whole([low, high]);
                if ty.ir() == Type::F64 { self.e.reinterpret(whole) } else { whole }
            }
            32 if ty.ir() == Type::F32 => self.e.reinterpret(low),
            32 => low,
            bits => {
                let moved = self.e.with(Binary::ShrU, low, u64::from(8 * (byte % 4)));
                self.e.with(Binary::And, moved, (1 << bits) - 1)
            }
        }
    }

    /// The value of an operand as a number of a type.
    pub(super) fn read(&mut self, operand: &Operand, ty: PtxType) -> Done<Value> {
        let constant = |bits: u64| Constant::from_bits(ty.ir(), bits);
        match &operand.kind {
            OperandKind::Register(id) => {
                let (name, of) = self.register(*id);
                let value = self.get(self.variable(*id));
                self.fit(value, of, ty).ok_or_else(|| mismatch(operand.at.clone(), name, of, ty))
            }
            OperandKind::Special(name) => {
                let value = self.special(name, &operand.at)?;
                match (self.e.ty(value), ty.ir()) {
                    (from, into) if from == into => Ok(value),
                    (Type::I32, Type::I64) => Ok(self.e.convert(Convert::ExtendU, value)),
                    (Type::I64, Type::I32) => Ok(self.e.convert(Convert::Wrap, value)),
                    _ => Err(Wrong::new(operand.at.clone(), format!("`%{name}` is an integer"))),
                }
            }
            OperandKind::Integer(value) if ty.is_float() => {
                let bits = super::parse::constant(super::lexer::Number::Integer(*value), false, ty);
                Ok(self.e.constant(constant(bits)))
            }
            OperandKind::Integer(value) if ty.kind == Kind::Predicate => Ok(self.e.bool(*value != 0)),
            OperandKind::Integer(value) => Ok(self.e.constant(constant(*value))),
            OperandKind::Single(bits) => {
                let bits = super::parse::constant(super::lexer::Number::Single(*bits), false, ty);
                Ok(self.e.constant(constant(bits)))
            }
            OperandKind::Double(value) => {
                let bits = super::parse::constant(super::lexer::Number::Double(*value), false, ty);
                Ok(self.e.constant(constant(bits)))
            }
            OperandKind::Variable(id, offset) => {
                let of = self.of_frame().function;
                let address = self.places.address(of, *id).ok_or_else(|| {
                    Wrong::new(operand.at.clone(), "the address of this variable is not taken")
                        .hint("access it by its name in brackets")
                })?;
                if !ty.is_integer() || ty.bits < 32 {
                    return Err(Wrong::new(operand.at.clone(), "an address is an integer of 32 or 64 bits"));
                }
                let address = u64::from(address).wrapping_add(*offset as u64);
                Ok(self.e.constant(constant(address)))
            }
            OperandKind::Not(inner) => {
                if ty.kind != Kind::Predicate {
                    return Err(Wrong::new(operand.at.clone(), "`!` negates a predicate"));
                }
                let value = self.read(inner, ty)?;
                Ok(self.e.not(value))
            }
            OperandKind::Name(name) => {
                Err(Wrong::new(operand.at.clone(), format!("nothing is declared with the name `{name}`")))
            }
            _ => Err(Wrong::new(
                operand.at.clone(),
                format!("expected a register or a number of type .{}", ty.name()),
            )),
        }
    }

    /// A value of a register of one type as a number of another of the same size.
    fn fit(&mut self, value: Value, from: PtxType, into: PtxType) -> Option<Value> {
        if (from.kind == Kind::Predicate) != (into.kind == Kind::Predicate) || from.bits < into.bits {
            return None;
        }
        match (from.ir(), into.ir()) {
            (a, b) if a == b => Some(value),
            (Type::I32, Type::F32)
            | (Type::F32, Type::I32)
            | (Type::I64, Type::F64)
            | (Type::F64, Type::I64)
                if from.bits == into.bits =>
            {
                Some(self.e.reinterpret(value))
            }
            _ => None,
        }
    }

    /// As [`read`](Self::read), where a register may be wider than the type: its low bits count.
    pub(super) fn read_low(&mut self, operand: &Operand, ty: PtxType) -> Done<Value> {
        if let OperandKind::Register(id) = operand.kind
            && self.register(id).1.bits == 64
            && ty.bits < 64
            && ty.kind != Kind::Predicate
        {
            let value = self.read(operand, PtxType::B64)?;
            let low = self.e.convert(Convert::Wrap, value);
            return Ok(if ty.ir() == Type::F32 { self.e.reinterpret(low) } else { low });
        }
        if let OperandKind::Register(id) = operand.kind
            && self.register(id).1.ir() == Type::F32
            && ty.bits < 32
        {
            return self.read(operand, PtxType::B32);
        }
        self.read(operand, ty)
    }

    /// A result of a type goes to a register of its size.
    pub(super) fn write(&mut self, operand: &Operand, value: Value, ty: PtxType) -> Done {
        let id = match &operand.kind {
            OperandKind::Register(id) => *id,
            OperandKind::Sink => return Ok(()),
            _ => return Err(Wrong::new(operand.at.clone(), "expected a register for the result")),
        };
        let (name, of) = self.register(id);
        let wrong = || mismatch(operand.at.clone(), name, of, ty);
        if (of.kind == Kind::Predicate) != (ty.kind == Kind::Predicate) || of.bits < ty.bits {
            return Err(wrong());
        }
        let value = match (self.e.ty(value), of.ir()) {
            (a, b) if a == b => value,
            (Type::I32, Type::F32)
            | (Type::F32, Type::I32)
            | (Type::I64, Type::F64)
            | (Type::F64, Type::I64) => self.e.reinterpret(value),
            _ => return Err(wrong()),
        };
        self.set(self.variable(id), value);
        Ok(())
    }

    /// As [`write`](Self::write), where a register may be wider than the type: an integer is extended, with its sign if it
    /// has one.
    pub(super) fn write_extended(&mut self, operand: &Operand, value: Value, ty: PtxType) -> Done {
        let OperandKind::Register(id) = operand.kind else { return self.write(operand, value, ty) };
        let of = self.register(id).1;
        if of.bits <= ty.bits || of.kind == Kind::Predicate || ty.kind == Kind::Predicate {
            return self.write(operand, value, ty);
        }
        let bits = match self.e.ty(value) {
            Type::F32 | Type::F64 => self.e.reinterpret(value),
            _ => value,
        };
        let extended = self.extended(bits, ty);
        if of.bits == 64 {
            let convert = if ty.is_signed() { Convert::ExtendS } else { Convert::ExtendU };
            let wide = self.e.convert(convert, extended);
            return self.write(operand, wide, PtxType::B64);
        }
        self.write(operand, extended, PtxType { kind: Kind::Bits, bits: of.bits })
    }

    /// An integer of 8 or 16 bits with its upper bits as its type says; others are as they are.
    pub(super) fn extended(&mut self, value: Value, ty: PtxType) -> Value {
        match (ty.bits, ty.is_signed()) {
            (8, true) => self.e.unary(Unary::Extend8, value),
            (16, true) => self.e.unary(Unary::Extend16, value),
            (8, false) => self.e.with(Binary::And, value, 0xFF),
            (16, false) => self.e.with(Binary::And, value, 0xFFFF),
            _ => value,
        }
    }

    /// An operand as an integer of 32 or 64 bits: a shorter one is extended as its type says.
    pub(super) fn read_integer(&mut self, operand: &Operand, ty: PtxType) -> Done<Value> {
        let value = self.read(operand, ty)?;
        Ok(self.extended(value, ty))
    }

    pub(super) fn refused<T>(&self, at: &Span, message: impl Into<String>, hint: &str) -> Done<T> {
        Err(Wrong::new(at.clone(), message).hint(hint))
    }
}

/// The message about a register of another type.
fn mismatch(at: Span, name: &str, of: PtxType, ty: PtxType) -> Wrong {
    Wrong::new(
        at,
        format!("`{name}` has the type .{}, and a value of type .{} is meant here", of.name(), ty.name()),
    )
    .hint("mov and cvt make a value of another type")
}

/// True for what threads do that are guarded out of it must not do, beside setting registers.
fn has_effect(meaning: Meaning) -> bool {
    use Meaning::{
        ActiveMask, AsyncCopy, Atomic, Barrier, BarrierReduction, Fence, FragmentProduct, LaneMatch, Load,
        LoadFragment, LoadMatrix, MatrixProduct, MoveMatrix, Reduction, Shuffle, Store, StoreFragment,
        StoreMatrix, Vote, WarpBarrier,
    };
    matches!(
        meaning,
        Load | Store
            | Atomic
            | AsyncCopy
            | Barrier
            | BarrierReduction
            | WarpBarrier
            | Fence
            | Shuffle
            | Vote
            | LaneMatch
            | ActiveMask
            | Reduction
            | LoadMatrix
            | StoreMatrix
            | MoveMatrix
            | MatrixProduct
            | LoadFragment
            | StoreFragment
            | FragmentProduct
    )
}
