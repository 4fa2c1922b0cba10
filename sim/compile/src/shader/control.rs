//! Statements and control flow: blocks, branches, loops, calls. Calls are inlined: shaders have no recursion.

use super::counted::{counters_inside, takes_only};
use super::places::{Pointer, To, Variable, zeros};
use super::ways::{Around, Way};
use super::{Evaluated, Fact, Frame, Translator, Wrong};
use crate::emit::to;
use crate::ir::{Block, Place, Target, Terminator, Value};
use naga::{AddressSpace, Expression, Handle, Span, Statement, SwitchValue};
use std::collections::BTreeSet;
use std::ops::Range;

/// Most turns of a loop that is unrolled.
const MOST_TURNS: u32 = 64;
/// Most expressions of all its turns together: of one whose turn is part of an index of a variable of the function, and of
/// others. Without numbers for indices these variables would lie in memory.
const MOST_UNROLLED: [usize; 2] = [4096, 640];
/// Most statements and values of an entry point, with all that it calls.
const MOST_STATEMENTS: u32 = 1 << 17;
const MOST_VALUES: usize = 1 << 21;

impl<'a> Translator<'a> {
    /// The statements of a block, in order.
    pub(super) fn block(&mut self, frame: &mut Frame<'a>, block: &'a naga::Block) -> Result<(), Wrong> {
        let known = self.facts.len();
        for (statement, span) in block.span_iter() {
            if !self.is_reached {
                break;
            }
            self.place(*span);
            self.count_statement()?;
            self.statement(frame, statement, *span)?;
        }
        self.forget(known);
        Ok(())
    }

    /// Counts statements: those of a function again for each of its calls.
    fn count_statement(&mut self) -> Result<(), Wrong> {
        self.statements += 1;
        if self.statements > MOST_STATEMENTS || self.e.function.values.len() > MOST_VALUES {
            let hint = "a function that calls another twice doubles it: call it in a loop";
            return Err(self.refused("too much code, because calls are inlined").with_hint(hint));
        }
        Ok(())
    }

    /// What comes next is from here.
    fn place(&mut self, span: Span) {
        if let Some(range) = span.to_range() {
            self.e.at = Place(range.start as u32 + 1);
        }
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &'a Statement,
        span: Span,
    ) -> Result<(), Wrong> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    self.place(frame.function.expressions.get_span(handle));
                    let evaluated = self.expression(frame, handle)?;
                    frame.values.insert(handle, evaluated);
                }
            }
            Statement::Block(block) => self.block(frame, block)?,
            Statement::If { condition, accept, reject } => {
                let condition = self.scalar(frame, *condition)?;
                self.branch(frame, condition, [accept, reject])?;
            }
            Statement::Switch { selector, cases } => self.switch(frame, *selector, cases)?,
            Statement::Loop { body, continuing, break_if } => {
                self.repeat(frame, body, continuing, *break_if)?;
            }
            Statement::Break => {
                let way = self.way(Vec::new());
                frame.around.last_mut().expect("the validator has seen a loop").breaks.push(way);
                self.is_reached = false;
            }
            Statement::Continue => {
                let way = self.way(Vec::new());
                let around = frame.around.iter_mut().rev().find_map(|around| around.continues.as_mut());
                around.expect("the validator has seen a loop").push(way);
                self.is_reached = false;
            }
            Statement::Return { value } => {
                let values = match value {
                    Some(value) => self.values(frame, *value)?,
                    None => Vec::new(),
                };
                let way = self.way(values);
                frame.returns.push(way);
                self.is_left |= self.depth > 0;
                self.is_reached = false;
            }
            Statement::Store { pointer, value } => {
                let pointer = self.pointer(frame, *pointer)?;
                let values = self.values(frame, *value)?;
                self.store(&pointer, &values)?;
            }
            Statement::Call { function, arguments, result } => {
                let callee = &self.module.functions[*function];
                let arguments: Result<Vec<Evaluated>, Wrong> =
                    arguments.iter().map(|&argument| self.evaluated(frame, argument)).collect();
                let values = self.call(Some(*function), callee, &self.info[*function], arguments?)?;
                if let Some(result) = result {
                    frame.values.insert(*result, Evaluated::Values(values));
                }
            }
            Statement::ControlBarrier(barrier) => self.barrier(*barrier),
            Statement::MemoryBarrier(barrier) => self.memory_barrier(*barrier),
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let mut pointer = self.pointer(frame, *pointer)?;
                if let To::Memory(location) = &mut pointer.to {
                    // All threads get the same.
                    location.is_stable = true;
                }
                self.barrier(naga::Barrier::WORK_GROUP);
                let values = self.load(&pointer)?;
                self.barrier(naga::Barrier::WORK_GROUP);
                frame.values.insert(*result, Evaluated::Values(values));
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let pointer = self.pointer(frame, *pointer)?;
                let values = self.atomic(frame, &pointer, fun, *value)?;
                if let Some(result) = result {
                    frame.values.insert(*result, Evaluated::Values(values));
                }
            }
            Statement::SubgroupBallot { result, predicate } => {
                let predicate = match predicate {
                    Some(predicate) => self.scalar(frame, *predicate)?,
                    None => self.e.bool(true),
                };
                let values = self.ballot(predicate);
                frame.values.insert(*result, Evaluated::Values(values));
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let values = self.gather(frame, mode, *argument)?;
                frame.values.insert(*result, Evaluated::Values(values));
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                let values = self.collective(frame, *op, *collective_op, *argument)?;
                frame.values.insert(*result, Evaluated::Values(values));
            }
            other => return Err(self.refused_at(span, format!("`{}`", name(other)))),
        }
        Ok(())
    }

    /// Two ways on, of which a truth value chooses.
    fn branch(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Value,
        sides: [&'a naga::Block; 2],
    ) -> Result<(), Wrong> {
        let counter = self.counter.take();
        if let Some(bits) = self.e.known(condition) {
            return self.block(frame, sides[usize::from(bits == 0)]);
        }
        let blocks = sides.map(|_| self.e.new_block(&[]));
        self.e.end(Terminator::Branch(condition, blocks.map(to)));
        let before = self.slots.clone();
        let mut ways = Vec::new();
        let mut ends = [false; 2];
        self.depth += 1;
        for (number, (block, side)) in blocks.into_iter().zip(sides).enumerate() {
            (self.e.block, self.is_reached) = (block, true);
            self.slots.clone_from(&before);
            let known = self.facts.len();
            self.learn(condition, number == 0);
            self.block(frame, side)?;
            self.forget(known);
            ends[number] = !self.is_reached;
            ways.extend(self.is_reached.then(|| self.way(Vec::new())));
        }
        self.depth -= 1;
        self.meet(ways);
        // Only one side comes here: what follows is on that side too.
        match ends {
            [true, false] => self.learn(condition, false),
            [false, true] => self.learn(condition, true),
            _ => {}
        }
        if let Some((value, most)) = counter {
            self.e.set_most(value, Some(most));
        }
        Ok(())
    }

    /// Takes in what a condition says if it is true, or false.
    fn learn(&mut self, condition: Value, is_true: bool) {
        use crate::ir::Compare as C;
        let Some((compare, [a, b])) = self.e.comparison(condition) else { return };
        // Which of the two is below, and whether they may be equal.
        let (index, limit, with_limit) = match (compare, is_true) {
            (C::LtU, true) | (C::GeU, false) => (a, b, false),
            (C::LeU, true) | (C::GtU, false) => (a, b, true),
            (C::GtU, true) | (C::LeU, false) => (b, a, false),
            (C::GeU, true) | (C::LtU, false) => (b, a, true),
            _ => return,
        };
        if !with_limit {
            self.facts.push(Fact::Below(index, limit));
        }
        let most = self.e.most(limit);
        let most = if with_limit { most } else { most.saturating_sub(1) };
        let before = self.e.most(index);
        if most < before && self.e.known_i32(index).is_none() {
            self.facts.push(Fact::AtMost(index, before));
            self.e.set_most(index, Some(most));
        }
    }

    /// Forgets all but the first facts.
    fn forget(&mut self, count: usize) {
        for fact in self.facts.drain(count..).rev() {
            if let Fact::AtMost(index, before) = fact {
                self.e.set_most(index, (before < u32::MAX).then_some(before));
            }
        }
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Handle<Expression>,
        cases: &'a [naga::SwitchCase],
    ) -> Result<(), Wrong> {
        let selector = self.scalar(frame, selector)?;
        let number = |value: SwitchValue| match value {
            SwitchValue::I32(number) => Some(number as u32),
            SwitchValue::U32(number) => Some(number),
            SwitchValue::Default => None,
        };
        let default = cases.iter().position(|case| number(case.value).is_none());
        let default = default.expect("the validator has seen a default");
        // Where each case is entered: by a comparison after the other.
        let blocks: Vec<Block> = cases.iter().map(|_| self.e.new_block(&[])).collect();
        let before = self.slots.clone();
        let known = self.e.known_i32(selector);
        let chosen = known
            .map(|bits| cases.iter().position(|case| number(case.value) == Some(bits)).unwrap_or(default));
        match chosen {
            Some(chosen) => self.e.end(Terminator::Jump(to(blocks[chosen]))),
            None => {
                for (case, &block) in cases.iter().zip(&blocks) {
                    let Some(bits) = number(case.value) else { continue };
                    let is_it = self.e.compare_with(crate::ir::Compare::Eq, selector, bits.into());
                    let next = self.e.new_block(&[]);
                    self.e.end(Terminator::Branch(is_it, [to(block), to(next)]));
                    self.e.block = next;
                }
                self.e.end(Terminator::Jump(to(blocks[default])));
            }
        }
        frame.around.push(Around::default());
        self.depth += 1;
        let mut falls: Option<Way> = None;
        for (number, case) in cases.iter().enumerate() {
            let enters = chosen.is_none_or(|chosen| chosen == number);
            let entry = Way { block: blocks[number], slots: before.clone(), values: Vec::new() };
            self.meet(enters.then_some(entry).into_iter().chain(falls.take()).collect());
            self.block(frame, &case.body)?;
            if !self.is_reached {
                continue;
            }
            let way = self.way(Vec::new());
            match case.fall_through {
                true => falls = Some(way),
                false => frame.around.last_mut().expect("it was pushed").breaks.push(way),
            }
        }
        self.depth -= 1;
        let around = frame.around.pop().expect("it was pushed");
        self.meet(around.breaks.into_iter().chain(falls).collect());
        Ok(())
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'a>,
        body: &'a naga::Block,
        continuing: &'a naga::Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<(), Wrong> {
        let counted = if break_if.is_none() { self.counted(frame, body, continuing) } else { None };
        if let Some(turns) = counted.as_ref().and_then(|counted| counted.turns)
            && turns <= MOST_TURNS
            && (turns as usize).saturating_mul(self.weight(frame, body)) <= self.most_unrolled(frame, body)
        {
            return self.unroll(frame, body, continuing);
        }
        let assigned = self.assigned(frame, [body, continuing]);
        let assigned = self.units(assigned);
        let header = self.e.new_block(&[]);
        let jump_to_header = |translator: &mut Self| {
            let mut value = |unit: &Range<usize>| {
                let parts = translator.slots[unit.clone()].to_vec();
                translator.joined(&parts)
            };
            Target { block: header, arguments: assigned.iter().map(&mut value).collect() }
        };
        let target = jump_to_header(self);
        self.e.end(Terminator::Jump(target));
        self.e.block = header;
        for unit in &assigned {
            let ty = self.e.ty(self.slots[unit.start]);
            let parameter = self.e.new_parameter(header, ty);
            let parts = self.parted(parameter, unit.len());
            self.slots[unit.clone()].copy_from_slice(&parts);
        }
        // Behind the `if` at the beginning the counter is below its limit.
        let counter = counted.and_then(|counted| Some((self.slots[counted.slot], counted.most?)));
        self.counter = counter;
        frame.around.push(Around { breaks: Vec::new(), continues: Some(Vec::new()) });
        self.depth += 1;
        self.block(frame, body)?;
        let around = frame.around.last_mut().expect("it was pushed");
        let mut continues = std::mem::take(around.continues.as_mut().expect("it is a loop"));
        continues.extend(self.is_reached.then(|| self.way(Vec::new())));
        self.meet(continues);
        if self.is_reached {
            self.block(frame, continuing)?;
        }
        if self.is_reached {
            let stops = match break_if {
                Some(condition) => Some(self.scalar(frame, condition)?),
                None => None,
            };
            let target = jump_to_header(self);
            match stops {
                None => self.e.end(Terminator::Jump(target)),
                Some(condition) => {
                    let out = self.e.new_block(&[]);
                    self.e.end(Terminator::Branch(condition, [to(out), target]));
                    let way = Way { block: out, ..self.way(Vec::new()) };
                    frame.around.last_mut().expect("it was pushed").breaks.push(way);
                }
            }
        }
        if let Some((value, _)) = counter {
            self.e.set_most(value, None);
        }
        self.depth -= 1;
        let around = frame.around.pop().expect("it was pushed");
        self.meet(around.breaks);
        Ok(())
    }

    /// A loop turn by turn. It ends, because its conditions are known.
    fn unroll(
        &mut self,
        frame: &mut Frame<'a>,
        body: &'a naga::Block,
        continuing: &'a naga::Block,
    ) -> Result<(), Wrong> {
        let mut breaks = Vec::new();
        for _ in 0..=MOST_TURNS {
            frame.around.push(Around { breaks: Vec::new(), continues: Some(Vec::new()) });
            self.block(frame, body)?;
            let around = frame.around.pop().expect("it was pushed");
            breaks.extend(around.breaks);
            let mut continues = around.continues.expect("it is a loop");
            continues.extend(self.is_reached.then(|| self.way(Vec::new())));
            self.meet(continues);
            if !self.is_reached {
                break;
            }
            self.block(frame, continuing)?;
        }
        self.meet(breaks);
        Ok(())
    }

    /// Calls a function: its statements come here. Gives its result.
    pub(super) fn call(
        &mut self,
        id: Option<Handle<naga::Function>>,
        function: &'a naga::Function,
        info: &'a naga::valid::FunctionInfo,
        arguments: Vec<Evaluated>,
    ) -> Result<Vec<Value>, Wrong> {
        let number = id.map(Handle::index);
        let own = self.slots.len();
        let mut frame = Frame::new(function, info, arguments);
        for (handle, local) in function.local_variables.iter() {
            let ty = self.layout.inner(local.ty).clone();
            let variable = Variable::Local(number, handle.index());
            self.check_size(&ty)?;
            let values = match local.init {
                Some(init) => self.values(&frame, init)?,
                None => zeros(&mut self.e, self.layout, &ty),
            };
            let pointer = self.variable(variable, local.ty, values)?;
            frame.locals.insert(handle, pointer);
        }
        let at = self.e.at;
        self.block(&mut frame, &function.body)?;
        let mut ways = std::mem::take(&mut frame.returns);
        if self.is_reached {
            // A function with a result does not come to its end, if it is right.
            let ty = function.result.as_ref().map(|result| self.layout.inner(result.ty));
            let values = ty.map_or_else(Vec::new, |ty| zeros(&mut self.e, self.layout, ty));
            ways.push(self.way(values));
        }
        let result = self.meet(ways);
        self.slots.truncate(own);
        self.begins_pair.truncate(own);
        self.e.at = at;
        Ok(result)
    }

    /// The slots that may be assigned to in these blocks.
    fn assigned(&self, frame: &Frame<'a>, blocks: [&'a naga::Block; 2]) -> BTreeSet<usize> {
        let mut slots = BTreeSet::new();
        for block in blocks {
            self.add_assigned(frame, block, &mut slots);
        }
        slots
    }

    fn add_assigned(&self, frame: &Frame<'a>, block: &'a naga::Block, slots: &mut BTreeSet<usize>) {
        let add = |slots: &mut BTreeSet<usize>, pointer: Handle<Expression>| {
            if let Some(Pointer { ty, to: To::Slots { first, .. } }) = self.root(frame, pointer) {
                slots.extend(first..first + self.layout.count(&ty));
            }
        };
        for statement in block.iter() {
            match statement {
                Statement::Store { pointer, .. } => add(slots, *pointer),
                Statement::Call { arguments, .. } => {
                    arguments.iter().for_each(|&argument| add(slots, argument));
                    for pointer in self.globals.values() {
                        if let Pointer { ty, to: To::Slots { first, .. } } = pointer {
                            slots.extend(*first..*first + self.layout.count(ty));
                        }
                    }
                }
                _ => {}
            }
            for inner in inner(statement) {
                self.add_assigned(frame, inner, slots);
            }
        }
    }

    /// The variable that a pointer leads into.
    fn root(&self, frame: &Frame<'a>, pointer: Handle<Expression>) -> Option<Pointer> {
        match frame.function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => self.root(frame, base),
            Expression::LocalVariable(local) => frame.locals.get(&local).cloned(),
            Expression::GlobalVariable(global)
                if self.module.global_variables[global].space == AddressSpace::Private =>
            {
                self.globals.get(&global).cloned()
            }
            Expression::FunctionArgument(number) => match &frame.arguments[number as usize] {
                Evaluated::Pointer(pointer) => Some(pointer.clone()),
                Evaluated::Values(_) => None,
            },
            _ => None,
        }
    }

    /// Most expressions that a loop with this body is unrolled to.
    fn most_unrolled(&self, frame: &Frame<'a>, body: &'a naga::Block) -> usize {
        // Loops inside are unrolled whether this one is or not, and their counters are numbers then.
        let inside = counters_inside(frame, body);
        let indexes = |handle: Handle<Expression>| match frame.function.expressions[handle] {
            Expression::Access { base, index } => {
                matches!(self.root(frame, base), Some(Pointer { to: To::Slots { .. }, .. }))
                    && !takes_only(frame, index, &inside)
            }
            _ => false,
        };
        let here = |statement: &Statement| match statement {
            Statement::Emit(range) => range.clone().any(indexes),
            _ => false,
        };
        MOST_UNROLLED[usize::from(!anywhere(body, &here))]
    }

    /// Expressions in a block, to judge how much code it becomes. Where it is too much for any loop it is not exact.
    fn weight(&self, frame: &Frame<'a>, block: &'a naga::Block) -> usize {
        let mut sum = 0usize;
        for statement in block.iter() {
            let own = match statement {
                Statement::Emit(range) => range.clone().count(),
                Statement::Call { function, .. } => {
                    let callee = &self.module.functions[*function];
                    let frame = Frame::new(callee, &self.info[*function], Vec::new());
                    self.weight(&frame, &callee.body).saturating_add(1)
                }
                Statement::Loop { body, continuing, .. } => {
                    let turns = self.counted(frame, body, continuing).and_then(|counted| counted.turns);
                    (turns.unwrap_or(1).max(1) as usize).saturating_mul(self.weight(frame, body))
                }
                other => inner(other).fold(1, |sum, block| self.weight(frame, block).saturating_add(sum)),
            };
            sum = sum.saturating_add(own);
            if sum > MOST_UNROLLED[0] {
                break;
            }
        }
        sum
    }
}

/// True if a statement of a block, or of one in it, is such a one.
fn anywhere(block: &naga::Block, is_such: &impl Fn(&Statement) -> bool) -> bool {
    block.iter().any(|statement| is_such(statement) || inner(statement).any(|block| anywhere(block, is_such)))
}

/// The blocks inside a statement.
pub(super) fn inner(statement: &Statement) -> impl Iterator<Item = &naga::Block> {
    let (pair, cases): (Vec<&naga::Block>, &[naga::SwitchCase]) = match statement {
        Statement::Block(block) => (vec![block], &[]),
        Statement::If { accept, reject, .. } => (vec![accept, reject], &[]),
        Statement::Loop { body, continuing, .. } => (vec![body, continuing], &[]),
        Statement::Switch { cases, .. } => (Vec::new(), cases),
        _ => (Vec::new(), &[]),
    };
    pair.into_iter().chain(cases.iter().map(|case| &case.body))
}

/// What users call a statement that is not taken.
fn name(statement: &Statement) -> &'static str {
    match statement {
        Statement::Kill => "discard",
        Statement::ImageStore { .. } | Statement::ImageAtomic { .. } => "a texture",
        Statement::RayQuery { .. } | Statement::RayPipelineFunction(_) => "ray queries",
        Statement::CooperativeStore { .. } => "cooperative matrices",
        _ => "this statement",
    }
}
