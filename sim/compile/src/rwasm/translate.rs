//! Functions: from instructions to values.

use super::code::Code;
use super::heights::{Arity, Shapes};
use super::module::{Names, memory};
use super::opcode::{Opcode, Word};
use super::parts::{Exit, Part, Start, exit, parts};
use super::values::{Forms, Operand};
use crate::encoding::{Builder, Cells, Error, jump};
use crate::ir::{
    Access, Binary, Compare, Constant, Convert, Function, FunctionId, GlobalId, Operation, Signature,
    TableId, Terminator, Trap, Type, Unary, Value,
};
use crate::wasm::operators::{Simple, Width};
use fnv::FnvHashMap;
use wasmparser::MemArg;

/// Translates a function.
pub(super) fn translate(code: &Code<'_>, shapes: &Shapes, names: &Names) -> Result<Function, Error> {
    let (Arity { parameters, results }, _) = shapes.of_function(code.number);
    let cells = |count: u32| vec![Type::I64; count as usize];
    let signature = Signature { parameters: cells(parameters), results: cells(results) };
    let at = code.words[0].place();
    let mut builder = Builder::new(Function::new(Some(format!("function {}", code.number)), signature, at));
    let parts = parts(code, shapes);
    let mut cells = Cells::default();
    for (number, part) in parts.iter().enumerate() {
        let block = if number == 0 { builder.function.entry() } else { builder.function.block(&[]) };
        cells.part(part.before.clone(), block);
    }
    let entry = builder.function.entry();
    for (cell, &value) in (0..).zip(&builder.function.blocks[entry].parameters) {
        cells.begin(0, cell, value);
    }
    let mut translator = Translator {
        code,
        shapes,
        names,
        parts: &parts,
        builder,
        forms: Forms::default(),
        cells,
        part: 0,
        parameters,
        height: 0,
        stack: FnvHashMap::default(),
    };
    for (number, part) in parts.iter().enumerate() {
        translator.part(number, part);
    }
    let Translator { mut builder, cells, .. } = translator;
    if !cells.finish(&mut builder.function) {
        let error = Error::refused("a function in which too many cells meet where control flow joins");
        return Err(code.located(error.at(code.words[0].offset as u64)));
    }
    Ok(builder.function)
}

pub(super) struct Translator<'a> {
    pub(super) code: &'a Code<'a>,
    shapes: &'a Shapes,
    pub(super) names: &'a Names,
    parts: &'a [Part],
    pub(super) builder: Builder,
    forms: Forms,
    cells: Cells,
    /// The part that is translated.
    part: usize,
    /// Cells that are there when the function begins. Cells are counted from the first of them.
    parameters: u32,
    /// Cells on the stack.
    height: u32,
    /// Cells that this part has read or written.
    stack: FnvHashMap<u32, Operand>,
}

impl Translator<'_> {
    /// Translates a part of the function.
    fn part(&mut self, number: usize, part: &Part) {
        self.part = number;
        self.stack.clear();
        self.builder.begin(self.cells.block(number));
        self.forms.converted.clear();
        let end = match part.start {
            Start::Beginning => {
                self.height = self.parameters;
                Some(self.goes_on(part))
            }
            Start::Taken(at) => {
                self.begin_at(at);
                self.height -= 1;
                self.taken(at, part)
            }
            Start::At(at) => {
                self.begin_at(at);
                self.instructions(at, part)
            }
        };
        if let Some(end) = end {
            self.leave_cells();
            self.builder.end(end);
        }
        for block in std::mem::take(&mut self.builder.blocks) {
            self.cells.own(number, block);
        }
    }

    fn begin_at(&mut self, at: usize) {
        let height = self.shapes.heights[self.code.number][at].expect("it is reached");
        self.height = (i64::from(self.parameters) + i64::from(height)) as u32;
        self.builder.at = self.code.words[at].place();
    }

    /// Makes the cells of the stack wide that this part has written.
    fn leave_cells(&mut self) {
        let mut written: Vec<(u32, Operand)> =
            self.stack.drain().filter(|&(cell, _)| cell < self.height).collect();
        written.sort_unstable_by_key(|&(cell, _)| cell);
        for (cell, operand) in written {
            let wide = self.forms.widen(&mut self.builder, operand);
            self.cells.leave(self.part, cell, wide);
        }
    }

    /// The end of a part that goes on in another.
    fn goes_on(&self, part: &Part) -> Terminator {
        Terminator::Jump(jump(self.cells.block(part.next[0])))
    }

    /// What a branch or a return does that is taken; its condition is gone.
    fn taken(&mut self, at: usize, part: &Part) -> Option<Terminator> {
        let word = &self.code.words[at];
        if word.opcode == Opcode::ReturnIfNez {
            self.adjust(word.drop_keep());
            return self.returns();
        }
        self.adjust(self.code.words[at + 1].drop_keep());
        Some(self.goes_on(part))
    }

    /// Translates the instructions of a part; its end, if it is not made yet.
    fn instructions(&mut self, mut at: usize, part: &Part) -> Option<Terminator> {
        loop {
            self.builder.at = self.code.words[at].place();
            match exit(self.code, self.shapes, at) {
                Exit::To(_) => return self.last(at, part),
                Exit::On(next) => {
                    self.instruction(at);
                    if let [then] = part.next[..]
                        && self.parts[then].start == Start::At(next)
                    {
                        return Some(self.goes_on(part));
                    }
                    at = next;
                }
            }
        }
    }

    /// Translates the instruction that ends a part; its end, if it is not made yet.
    fn last(&mut self, at: usize, part: &Part) -> Option<Terminator> {
        let code = self.code;
        let word = &code.words[at];
        let targets: Vec<_> = part.next.iter().map(|&part| jump(self.cells.block(part))).collect();
        match word.opcode {
            Opcode::Unreachable => Some(Terminator::Trap(Trap::Unreachable)),
            Opcode::Call | Opcode::ReturnCall => Some(Terminator::Trap(Trap::UnknownImport)),
            Opcode::Br => Some(self.goes_on(part)),
            Opcode::BrAdjust => {
                self.adjust(code.words[at + 1].drop_keep());
                Some(self.goes_on(part))
            }
            Opcode::BrTable => {
                let index = self.pop_as(Type::I32);
                Some(Terminator::Switch(index, targets))
            }
            Opcode::Return => {
                self.adjust(word.drop_keep());
                self.returns()
            }
            Opcode::ReturnCallInternal | Opcode::ReturnCallIndirect => {
                let place = (word.opcode == Opcode::ReturnCallIndirect).then(|| self.pop_as(Type::I32));
                self.adjust(code.words[at + 1].drop_keep());
                if self.call(at, place) { self.returns() } else { Some(Terminator::Trap(Trap::Unreachable)) }
            }
            Opcode::CallInternal | Opcode::CallIndirect => {
                self.instruction(at);
                // It does not come back.
                Some(Terminator::Trap(Trap::Unreachable))
            }
            _ => {
                let operand = self.pop();
                let condition = self.forms.condition(&mut self.builder, operand);
                let targets = targets.try_into().expect("a conditional branch has two targets");
                Some(Terminator::Branch(condition, targets))
            }
        }
    }

    /// Returns the results, which are all that is on the stack but where the entry point leaves more.
    fn returns(&mut self) -> Option<Terminator> {
        let results = self.builder.function.signature.results.len() as u32;
        let values: Vec<Value> = (0..results).map(|cell| self.read_as(cell, Type::I64)).collect();
        self.stack.clear();
        Some(Terminator::Return(values))
    }

    fn read(&mut self, cell: u32) -> Operand {
        if let Some(&operand) = self.stack.get(&cell) {
            return operand;
        }
        let value = self.cells.read(&mut self.builder.function, self.part, cell);
        let operand = self.forms.operand(value);
        self.stack.insert(cell, operand);
        operand
    }

    fn read_as(&mut self, cell: u32, ty: Type) -> Value {
        let operand = self.read(cell);
        self.forms.value(&mut self.builder, operand, ty)
    }

    fn push(&mut self, operand: Operand) {
        self.stack.insert(self.height, operand);
        self.height += 1;
    }

    pub(super) fn push_value(&mut self, ty: Type, value: Value) {
        self.push(Operand { ty, value });
    }

    fn pop(&mut self) -> Operand {
        let operand = self.read(self.height - 1);
        self.height -= 1;
        operand
    }

    pub(super) fn pop_as(&mut self, ty: Type) -> Value {
        let operand = self.pop();
        self.forms.value(&mut self.builder, operand, ty)
    }

    /// Pops several values of one type, the last from the top.
    pub(super) fn pop_all<const N: usize>(&mut self, ty: Type) -> [Value; N] {
        let mut values = [Value::from_u32(0); N];
        for value in values.iter_mut().rev() {
            *value = self.pop_as(ty);
        }
        values
    }

    /// Keeps cells on top, and removes some under them.
    fn adjust(&mut self, (drop, keep): (u32, u32)) {
        if drop > 0 {
            for cell in self.height - keep..self.height {
                let operand = self.read(cell);
                self.stack.insert(cell - drop, operand);
            }
        }
        self.height -= drop;
    }

    /// Translates an instruction.
    fn instruction(&mut self, at: usize) {
        let code = self.code;
        let word = &code.words[at];
        let operand = word.word();
        match word.opcode {
            Opcode::SignatureCheck => {}
            Opcode::ConsumeFuel => self.consume(operand),
            Opcode::LocalGet => {
                let cell = self.read(self.height - operand);
                self.push(cell);
            }
            Opcode::LocalSet => {
                let cell = self.pop();
                self.stack.insert(self.height - operand, cell);
            }
            Opcode::LocalTee => {
                let cell = self.read(self.height - 1);
                self.stack.insert(self.height - operand, cell);
            }
            Opcode::Drop => self.height -= 1,
            Opcode::Select => self.select(),
            Opcode::CallInternal => _ = self.call(at, None),
            Opcode::CallIndirect => {
                let place = self.pop_as(Type::I32);
                self.call(at, Some(place));
            }
            Opcode::GlobalGet => {
                let value = self.builder.one(Operation::GlobalGet(GlobalId::from_u32(operand)), Type::I64);
                self.push_value(Type::I64, value);
            }
            Opcode::GlobalSet => {
                let value = self.pop_as(Type::I64);
                self.builder.emit(Operation::GlobalSet(GlobalId::from_u32(operand), value), &[]);
            }
            Opcode::I32Const => self.push_constant(Constant::I32(operand)),
            Opcode::F32Const => self.push_constant(Constant::F32(operand)),
            Opcode::I64Const => self.push_constant(Constant::I64(word.wide())),
            Opcode::F64Const => self.push_constant(Constant::F64(word.wide())),
            _ => match word.simple() {
                Some(simple) => self.simple(simple, word),
                None => self.storage(at),
            },
        }
    }

    /// Whether an `i32` is not 0.
    pub(super) fn is_set(&mut self, value: Value) -> Value {
        self.forms.condition(&mut self.builder, Operand { ty: Type::I32, value })
    }

    fn push_constant(&mut self, constant: Constant) {
        let value = self.builder.constant(constant);
        self.push_value(constant.ty(), value);
    }

    /// Takes fuel, if it is counted. What is left stays where it is not enough.
    fn consume(&mut self, amount: u32) {
        let Some(fuel) = self.names.fuel else { return };
        let builder = &mut self.builder;
        let left = builder.one(Operation::GlobalGet(fuel), Type::I64);
        let amount = builder.constant(Constant::I64(amount.into()));
        let short = builder.one(Operation::Compare(Compare::LtU, [left, amount]), Type::Bool);
        builder.trap_if(short, Trap::OutOfFuel);
        let left = builder.one(Operation::Binary(Binary::Sub, [left, amount]), Type::I64);
        builder.emit(Operation::GlobalSet(fuel, left), &[]);
    }

    fn select(&mut self) {
        let operand = self.pop();
        let condition = self.forms.condition(&mut self.builder, operand);
        let (second, first) = (self.pop(), self.pop());
        let ty = if first.ty == second.ty { first.ty } else { Type::I64 };
        let values = [first, second].map(|operand| self.forms.value(&mut self.builder, operand, ty));
        let value = self.builder.one(Operation::Select([condition, values[0], values[1]]), ty);
        self.push_value(ty, value);
    }

    /// Calls a function, or what is at a place of a table; false if the call does not return.
    fn call(&mut self, at: usize, place: Option<Value>) -> bool {
        let number = self.code.words[at].word();
        let known = match place {
            None => Some(self.shapes.of_function(number as usize)),
            Some(_) => self.shapes.of_signature(number),
        };
        let (arity, returns) = known.unwrap_or((Arity { parameters: 0, results: 0 }, false));
        let first = self.height - arity.parameters;
        let mut arguments: Vec<Value> =
            (first..self.height).map(|cell| self.read_as(cell, Type::I64)).collect();
        self.height = first;
        let operation = match place {
            None => Operation::Call(FunctionId::from_u32(number), arguments),
            Some(place) => {
                let (_, table) = self.code.indirect(at);
                let (signature, tag) = self.names.signature(number);
                arguments.extend(tag.into_iter().map(|ty| self.builder.constant(Constant::zero(ty))));
                Operation::CallIndirect(TableId::from_u32(table), signature, place, arguments)
            }
        };
        for value in self.builder.emit(operation, &vec![Type::I64; arity.results as usize]) {
            self.push_value(Type::I64, value);
        }
        returns
    }

    fn access(&self, Width(ty, bytes, signed): Width, memarg: &MemArg) -> Access {
        Access { memory: memory(), ty, bytes, signed, offset: memarg.offset as u32 }
    }

    /// Translates an instruction that is one operation on operands of the stack.
    fn simple(&mut self, simple: Simple, word: &Word) {
        let ty = word.opcode.operand_type();
        let (operation, result) = match simple {
            Simple::Unary(unary) => (Operation::Unary(unary, self.pop_as(ty)), ty),
            Simple::Binary(binary) => {
                let (second, first) = (self.pop(), self.pop());
                // Truth values stay what they are where they are put together.
                let is_logical = matches!(binary, Binary::And | Binary::Or | Binary::Xor);
                let are_truths = first.ty == Type::Bool && second.ty == Type::Bool && ty == Type::I32;
                let ty = if is_logical && are_truths { Type::Bool } else { ty };
                let values = [first, second].map(|operand| self.forms.value(&mut self.builder, operand, ty));
                (Operation::Binary(binary, values), ty)
            }
            Simple::Compare(compare) => (Operation::Compare(compare, self.pop_all(ty)), Type::Bool),
            Simple::IsZero => match self.pop() {
                Operand { ty: Type::Bool, value } => (Operation::Unary(Unary::Not, value), Type::Bool),
                operand => {
                    let value = self.forms.value(&mut self.builder, operand, ty);
                    let zero = self.builder.constant(Constant::zero(ty));
                    (Operation::Compare(Compare::Eq, [value, zero]), Type::Bool)
                }
            },
            Simple::Convert(convert) => {
                let value = self.pop_as(ty);
                let result = convert.result(ty).expect("the name of an instruction says what it takes");
                let operation = Operation::Convert(convert, value);
                if convert == Convert::ExtendU {
                    let wide = self.builder.one(operation, result);
                    self.forms.is_made_of(wide, Operand { ty, value });
                    return self.push_value(result, wide);
                }
                (operation, result)
            }
            Simple::Load(width, memarg) => {
                let address = self.pop_as(Type::I32);
                (Operation::Load(self.access(width, &memarg), address), width.0)
            }
            Simple::Store(width, memarg) => {
                let value = self.pop_as(width.0);
                let address = self.pop_as(Type::I32);
                self.builder.emit(Operation::Store(self.access(width, &memarg), [address, value]), &[]);
                return;
            }
            _ => unreachable!("there are no atomic instructions"),
        };
        let value = self.builder.one(operation, result);
        self.push_value(result, value);
    }
}
