//! An entry as a function of the representation: registers become values, statements instructions.
//!
//! A register is a variable that each block may set. A block that several others lead to gets a parameter for each variable
//! that it reads, and the jumps bring its values; parameters with one value go later, with those that nobody takes.

use super::Wrong;
use super::emit::Emitter;
use super::graph::{End, Frame, Item, SourceGraph};
use super::layout::{DeviceLayout, Places};
use super::lexer::Span;
use super::matrix::Gathered;
use super::spaces::Spaces;
use super::table::Meaning;
use super::tree::{Formal, Function, RegisterId, Statement, Tree, VariableId};
use super::types::PtxType;
use crate::emit::to;
use crate::ir::{
    self, Access, Block, MemoryId, Operation, Place, Signature, Target, Terminator, Trap, Type, Value,
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
    /// The entry multiplies matrices.
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
    pub(super) fn copy_parameter(&mut self, frame: usize, own: usize) {
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
    pub(super) fn place(&self, at: &Span) -> Place {
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
