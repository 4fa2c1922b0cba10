//! Random control flow.

use super::super::{
    Binary, Block, Compare, Constant, Function, GlobalId, Instruction, Module, Operation, Place, Signature,
    Target, Terminator, Trap, Type, Value,
};
use super::{Shape, constant, types};
use cranelift_entity::EntityRef;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// Deepest nesting of choices and loops.
const MOST_NESTING: u32 = 4;
/// Most rounds of a loop.
const MOST_ROUNDS: u32 = 4;

/// A function that is being made.
pub(super) struct Builder<'a> {
    pub(super) random: &'a mut Pcg64Mcg,
    pub(super) shape: &'a Shape,
    pub(super) module: &'a Module,
    pub(super) signatures: &'a [Signature],
    /// Its number.
    pub(super) number: usize,
    pub(super) function: Function,
    /// The block that is being filled.
    block: Block,
    /// Values whose definitions come before here whatever the way.
    available: Vec<Value>,
    /// Pieces that may still be made.
    budget: u32,
    /// Calls that may still be made.
    pub(super) calls: u32,
    /// Choices and loops around here.
    pub(super) nesting: u32,
    /// Loops around here.
    pub(super) loops: Vec<(Block, Vec<Type>)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        random: &'a mut Pcg64Mcg,
        shape: &'a Shape,
        module: &'a Module,
        signatures: &'a [Signature],
        number: usize,
    ) -> Builder<'a> {
        let name = random.random_bool(0.5).then(|| format!("function \"{number}\" \u{e9}"));
        let function = Function::new(name, signatures[number].clone(), Place(random.random_range(0..1000)));
        let block = function.entry();
        let available = function.blocks[block].parameters.clone();
        let budget = shape.size;
        Builder {
            random,
            shape,
            module,
            signatures,
            number,
            function,
            block,
            available,
            budget,
            calls: 2,
            nesting: 0,
            loops: Vec::new(),
        }
    }

    /// Makes the function.
    pub(super) fn function(mut self) -> Function {
        if self.shape.recursion && self.number > 0 {
            self.count_call();
        }
        if self.shape.recursion {
            // One call where it is made for certain, and others somewhere.
            self.calls += 2;
            self.call();
        }
        self.pieces(self.budget);
        self.give_back();
        self.function
    }

    /// Returns at once where no call is left.
    fn count_call(&mut self) {
        let left = GlobalId::new(self.module.globals.len() - 1);
        let value = self.emit(Operation::GlobalGet(left), Type::I32);
        let (zero, one) = (self.integer(0), self.integer(1));
        let none = self.emit(Operation::Compare(Compare::LeS, [value, zero]), Type::Bool);
        let [out, on] = [self.function.block(&[]), self.function.block(&[])];
        let targets = [out, on].map(|block| Target { block, arguments: vec![] });
        self.end(Terminator::Branch(none, targets));
        let available = self.available.len();
        self.block = out;
        self.give_back();
        self.available.truncate(available);
        self.block = on;
        let less = self.binary(Binary::Sub, value, one);
        self.instruction(Operation::GlobalSet(left, less), &[]);
    }

    /// Ends the block with a return.
    fn give_back(&mut self) {
        let results = self.function.signature.results.clone();
        let values = self.picks(&results);
        self.end(Terminator::Return(values));
    }

    /// True so often, in a hundred cases.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    pub(super) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.random_range(0..of.len())]
    }

    pub(super) fn ty(&mut self) -> Type {
        let types = types(self.shape);
        self.one_of(types)
    }

    /// Adds an instruction with results of these types.
    pub(super) fn instruction(&mut self, operation: Operation, results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|&ty| self.function.value(ty)).collect();
        let at = Place(self.random.random_range(0..3) * self.function.values.len() as u32);
        let instruction = Instruction { operation, results: results.clone(), at };
        self.function.blocks[self.block].instructions.push(instruction);
        self.available.extend(&results);
        results
    }

    /// Adds an instruction with one result.
    pub(super) fn emit(&mut self, operation: Operation, result: Type) -> Value {
        self.instruction(operation, &[result])[0]
    }

    pub(super) fn integer(&mut self, number: u32) -> Value {
        self.emit(Operation::Constant(Constant::I32(number)), Type::I32)
    }

    pub(super) fn binary(&mut self, operation: Binary, a: Value, b: Value) -> Value {
        let ty = self.function.values[a];
        self.emit(Operation::Binary(operation, [a, b]), ty)
    }

    /// A value of a type: one that there is, or a constant.
    pub(super) fn pick(&mut self, ty: Type) -> Value {
        let count = self.available.len();
        if count > 0 && !self.chance(10) {
            // Recent ones more often.
            let window = if self.chance(60) { count.min(16) } else { count };
            let start = self.random.random_range(0..window);
            let values = &self.function.values;
            let recent = self.available.iter().rev().cycle().skip(start).take(count);
            if let Some(&value) = { recent }.find(|&&value| values[value] == ty) {
                return value;
            }
        }
        let constant = constant(self.random, ty);
        self.emit(Operation::Constant(constant), ty)
    }

    pub(super) fn picks(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.pick(ty)).collect()
    }

    /// Ends the block.
    fn end(&mut self, terminator: Terminator) {
        let at = Place(self.random.random_range(0..50));
        let body = &mut self.function.blocks[self.block];
        (body.terminator, body.at) = (terminator, at);
    }

    /// Goes on in a block, whose parameters are there from now on.
    fn enter(&mut self, block: Block) {
        self.block = block;
        self.available.extend(&self.function.blocks[block].parameters);
    }

    /// A jump with any values for the parameters.
    fn target(&mut self, block: Block, types: &[Type]) -> Target {
        Target { block, arguments: self.picks(types) }
    }

    fn some_types(&mut self) -> Vec<Type> {
        (0..self.random.random_range(0..4)).map(|_| self.ty()).collect()
    }

    /// Makes up to so many pieces.
    fn pieces(&mut self, count: u32) {
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            let may_nest = self.nesting < MOST_NESTING;
            match self.random.random_range(0..100) {
                0..6 if may_nest => self.choice(),
                6..12 if may_nest => self.counted_loop(),
                12..15 if may_nest => self.switch(),
                15..20 if may_nest && self.shape.irreducible => self.two_entries(),
                20..23 => self.leave(),
                _ => self.operation(),
            }
        }
    }

    /// Makes the pieces of a block inside, from which nothing is available outside.
    fn inside(&mut self, block: Block, count: u32) {
        self.nesting += 1;
        self.enter(block);
        self.pieces(count);
        self.nesting -= 1;
    }

    fn inner_size(&mut self) -> u32 {
        self.random.random_range(0..=self.budget.div_ceil(2).min(12))
    }

    /// `if` and `else`, or `if` alone.
    fn choice(&mut self) {
        let condition = self.pick(Type::Bool);
        let joined = self.some_types();
        let [yes, no] = [self.function.block(&[]), self.function.block(&[])];
        let join = self.function.block(&joined);
        let outside = self.available.len();
        let no_target = if self.chance(30) {
            self.target(join, &joined)
        } else {
            Target { block: no, arguments: vec![] }
        };
        self.end(Terminator::Branch(condition, [Target { block: yes, arguments: vec![] }, no_target]));
        self.arms(&[yes, no], outside, (join, &joined));
    }

    fn switch(&mut self) {
        let number = if self.chance(50) {
            let (value, mask) = (self.pick(Type::I32), self.integer(3));
            self.binary(Binary::And, value, mask)
        } else {
            self.pick(Type::I32)
        };
        let joined = self.some_types();
        let outside = self.available.len();
        let join = self.function.block(&joined);
        let cases: Vec<Block> =
            (0..self.random.random_range(1..4)).map(|_| self.function.block(&[])).collect();
        let mut targets = Vec::new();
        for _ in 0..self.random.random_range(1..6) {
            let target = if self.chance(20) {
                self.target(join, &joined)
            } else {
                Target { block: self.one_of(&cases), arguments: vec![] }
            };
            targets.push(target);
        }
        self.end(Terminator::Switch(number, targets));
        self.arms(&cases, outside, (join, &joined));
    }

    /// Fills blocks that all jump to `join`, which has parameters of these types, and goes on there. The first `outside`
    /// of the available values are known in each.
    fn arms(&mut self, blocks: &[Block], outside: usize, (join, joined): (Block, &[Type])) {
        for &block in blocks {
            self.available.truncate(outside);
            let size = self.inner_size();
            self.inside(block, size);
            let target = self.target(join, joined);
            self.end(Terminator::Jump(target));
        }
        self.available.truncate(outside);
        self.enter(join);
    }

    /// A counter for a few rounds.
    fn rounds(&mut self) -> Value {
        let rounds = self.random.random_range(0..=MOST_ROUNDS);
        self.integer(rounds)
    }

    /// Whether rounds are left, and the counter of the next one.
    fn count(&mut self, counter: Value) -> (Value, Value) {
        let (zero, one) = (self.integer(0), self.integer(1));
        let more = self.emit(Operation::Compare(Compare::Ne, [counter, zero]), Type::Bool);
        (more, self.binary(Binary::Sub, counter, one))
    }

    /// A loop with a counter and other values that go round, tested at its start or at its end.
    fn counted_loop(&mut self) {
        let carried = self.some_types();
        let with_counter: Vec<Type> = [Type::I32].into_iter().chain(carried.iter().copied()).collect();
        let head = self.function.block(&with_counter);
        let exit = self.function.block(&carried);
        let mut arguments = vec![self.rounds()];
        arguments.extend(self.picks(&carried));
        let outside = self.available.len();
        self.end(Terminator::Jump(Target { block: head, arguments }));
        self.nesting += 1;
        self.loops.push((exit, carried.clone()));
        self.enter(head);
        let parameters = self.function.blocks[head].parameters.clone();
        let (more, counter) = self.count(parameters[0]);
        let test_first = self.chance(50);
        if test_first {
            let body = self.function.block(&[]);
            let out = Target { block: exit, arguments: parameters[1..].to_vec() };
            self.end(Terminator::Branch(more, [Target { block: body, arguments: vec![] }, out]));
            self.enter(body);
        }
        let size = self.inner_size();
        self.pieces(size);
        let mut arguments = vec![counter];
        arguments.extend(self.picks(&carried));
        let back = Target { block: head, arguments };
        let end = if test_first {
            Terminator::Jump(back)
        } else {
            let out = self.target(exit, &carried);
            Terminator::Branch(more, [back, out])
        };
        self.end(end);
        self.loops.pop();
        self.nesting -= 1;
        self.available.truncate(outside);
        self.enter(exit);
    }

    /// A loop of two blocks that jump to each other, and into each of which control comes from outside.
    fn two_entries(&mut self) {
        let carried = self.some_types();
        let with_counter: Vec<Type> = [Type::I32].into_iter().chain(carried.iter().copied()).collect();
        let parts = [self.function.block(&with_counter), self.function.block(&with_counter)];
        let exit = self.function.block(&carried);
        let condition = self.pick(Type::Bool);
        let targets = parts.map(|block| {
            let mut arguments = vec![self.rounds()];
            arguments.extend(self.picks(&carried));
            Target { block, arguments }
        });
        let outside = self.available.len();
        self.end(Terminator::Branch(condition, targets));
        self.loops.push((exit, carried.clone()));
        for (block, other) in [(parts[0], parts[1]), (parts[1], parts[0])] {
            self.available.truncate(outside);
            let parameters = self.function.blocks[block].parameters.clone();
            let size = self.inner_size();
            self.inside(block, size);
            let (more, counter) = self.count(parameters[0]);
            let mut arguments = vec![counter];
            arguments.extend(self.picks(&carried));
            let out = self.target(exit, &carried);
            self.end(Terminator::Branch(more, [Target { block: other, arguments }, out]));
        }
        self.loops.pop();
        self.available.truncate(outside);
        self.enter(exit);
    }

    /// Leaves from here on some condition: a loop around, the function, or with a trap.
    fn leave(&mut self) {
        let condition = self.pick(Type::Bool);
        let on = self.function.block(&[]);
        // What the others of its wave would get from a thread that has ended is undefined.
        let may_end = !self.shape.workgroup || self.number > 0;
        let out = if !self.loops.is_empty() && self.chance(60) {
            let number = self.random.random_range(0..self.loops.len());
            let (exit, carried) = self.loops[number].clone();
            self.target(exit, &carried)
        } else if may_end && (self.nesting > 0 || self.shape.traps && self.chance(20)) {
            let block = self.function.block(&[]);
            let here = self.block;
            let available = self.available.len();
            self.block = block;
            if self.shape.traps && self.chance(30) {
                self.end(Terminator::Trap(Trap::Unreachable));
            } else {
                self.give_back();
            }
            self.available.truncate(available);
            self.block = here;
            Target { block, arguments: vec![] }
        } else {
            Target { block: on, arguments: vec![] }
        };
        self.end(Terminator::Branch(condition, [Target { block: on, arguments: vec![] }, out]));
        self.block = on;
    }
}
