//! Translation of the operators of a function.
//!
//! The operand stack of WebAssembly is a stack of values here; operators become instructions at once. A comparison
//! stays a truth value as long as nobody wants the integer. A block of the graph is made for a label when the first
//! branch goes there, so that blocks to which nobody branches leave no trace.

mod control;

use super::Error;
use super::locals::{Locals, Origin};
use super::module::{Callee, Index};
use super::operators::{Simple, Width, simple};
use super::scan::Scan;
use crate::encoding::simplify;
use crate::ir::{
    Access, Binary, Block, Compare, Constant, Convert, Function, Instruction, Operation, Order, Place,
    Signature, Terminator, Trap, Type, Unary, Value,
};
use crate::wasm::features::refused;
use control::{Frame, Kind};
use fnv::FnvHashMap;
use wasmparser::{FunctionBody, MemArg, MemArgTarget, Operator, OperatorsReader};
use wave_isa::Scope;
use wave_isa::table::AtomicOp;

/// An operand: a value, or a truth value that stands for the integers 0 and 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    value: Value,
    is_condition: bool,
}

/// Translates a function.
pub(crate) struct Translator<'a> {
    pub(super) index: &'a Index,
    pub(crate) function: Function,
    locals: Locals<'a>,
    scan: &'a Scan,
    operands: Vec<Operand>,
    frames: Vec<Frame>,
    /// The block that is being filled; `None` in code that nobody reaches.
    block: Option<Block>,
    /// Constructs that were opened in such code.
    skipped: u32,
    /// Truth values of which integers were made.
    conditions: FnvHashMap<Value, Value>,
    /// Number of the next construct, and place of the operator.
    construct: usize,
    pub(crate) at: Place,
}

/// Translates a function that is valid.
pub(super) fn translate(
    index: &Index,
    name: Option<String>,
    signature: &Signature,
    scan: &Scan,
    body: &FunctionBody<'_>,
) -> Result<Function, Error> {
    let mut types = signature.parameters.clone();
    for local in body.get_locals_reader()? {
        let (count, ty) = local?;
        let ty = super::module::value_type(ty)?;
        types.extend(std::iter::repeat_n(ty, count as usize));
    }
    let at = Place(body.range().start as u32);
    let function = Function::new(name, signature.clone(), at);
    let mut translator = Translator::new(index, function, scan, &types, signature);
    let operators: OperatorsReader<'_> = body.get_operators_reader()?;
    for item in operators.into_iter_with_offsets() {
        let (operator, offset) = item?;
        translator.at = Place(offset as u32);
        translator.operator(&operator).map_err(|error| error.at(offset))?;
    }
    Ok(translator.finish())
}

/// A function that does what a function of the module `wave` does, for tables and exports.
pub(crate) fn wrap(
    index: &Index,
    name: String,
    callee: &Callee,
    signature: &Signature,
) -> Result<Function, Error> {
    let scan = Scan::default();
    let function = Function::new(Some(name), signature.clone(), Place::default());
    let mut translator = Translator::new(index, function, &scan, &signature.parameters, signature);
    for parameter in 0..signature.parameters.len() {
        translator.local_get(parameter as u32);
    }
    translator.call(callee, signature);
    translator.end();
    Ok(translator.finish())
}

impl<'a> Translator<'a> {
    pub(crate) fn new(
        index: &'a Index,
        function: Function,
        scan: &'a Scan,
        types: &'a [Type],
        signature: &Signature,
    ) -> Translator<'a> {
        let mut locals = Locals::new(scan, types);
        let entry = function.entry();
        for (local, &value) in function.blocks[entry].parameters.iter().enumerate() {
            locals.write(entry, local as u32, value);
        }
        let origin = Origin::Entry;
        let (parameters, results) = (Vec::new(), signature.results.clone());
        let frame = Frame { kind: Kind::Function, label: None, origin, parameters, results, height: 0 };
        Translator {
            index,
            function,
            locals,
            scan,
            operands: Vec::new(),
            frames: vec![frame],
            block: Some(entry),
            skipped: 0,
            conditions: FnvHashMap::default(),
            construct: 0,
            at: Place::default(),
        }
    }

    /// Adds an instruction.
    pub(crate) fn emit(&mut self, operation: Operation, results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|&ty| self.function.value(ty)).collect();
        if let Some(block) = self.block {
            let instruction = Instruction { operation, results: results.clone(), at: self.at };
            self.function.blocks[block].instructions.push(instruction);
        }
        results
    }

    /// Adds an instruction with one result.
    pub(crate) fn emit_one(&mut self, operation: Operation, result: Type) -> Value {
        let value = self.function.value(result);
        if let Some(block) = self.block {
            let instruction = Instruction { operation, results: vec![value], at: self.at };
            self.function.blocks[block].instructions.push(instruction);
        }
        value
    }

    /// A constant.
    pub(crate) fn constant(&mut self, constant: Constant) -> Value {
        self.emit_one(Operation::Constant(constant), constant.ty())
    }

    /// Type of a value.
    fn ty(&self, value: Value) -> Type {
        self.function.values[value]
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.operands.push(Operand { value, is_condition: false });
    }

    /// Pushes a truth value that stands for an integer.
    pub(super) fn push_condition(&mut self, value: Value) {
        self.operands.push(Operand { value, is_condition: true });
    }

    pub(crate) fn pop_operand(&mut self) -> Operand {
        self.operands.pop().expect("validation counts operands")
    }

    /// The operand as a value.
    fn value_of(&mut self, operand: Operand) -> Value {
        if !operand.is_condition {
            return operand.value;
        }
        let value = self.emit_one(Operation::Convert(Convert::BoolToI32, operand.value), Type::I32);
        self.conditions.insert(value, operand.value);
        value
    }

    pub(crate) fn pop(&mut self) -> Value {
        let operand = self.pop_operand();
        self.value_of(operand)
    }

    /// Pops several, the last from the top.
    pub(crate) fn pop_array<const N: usize>(&mut self) -> [Value; N] {
        let mut values = [Value::from_u32(0); N];
        for value in values.iter_mut().rev() {
            *value = self.pop();
        }
        values
    }

    pub(crate) fn pop_many(&mut self, count: usize) -> Vec<Value> {
        let mut values: Vec<Value> = (0..count).map(|_| self.pop()).collect();
        values.reverse();
        values
    }

    /// Pops an integer as a truth value: whether it is not 0.
    pub(super) fn pop_condition(&mut self) -> Value {
        let operand = self.pop_operand();
        if operand.is_condition {
            return operand.value;
        }
        if let Some(&condition) = self.conditions.get(&operand.value) {
            return condition;
        }
        let zero = self.constant(Constant::zero(self.ty(operand.value)));
        self.emit_one(Operation::Compare(Compare::Ne, [operand.value, zero]), Type::Bool)
    }

    /// Makes values of the operands on top, which other blocks take.
    fn settle(&mut self, count: usize) -> Vec<Value> {
        let first = self.operands.len() - count;
        let mut values = Vec::with_capacity(count);
        for index in first..self.operands.len() {
            let value = self.value_of(self.operands[index]);
            self.operands[index] = Operand { value, is_condition: false };
            values.push(value);
        }
        values
    }

    fn local_get(&mut self, local: u32) {
        if let Some(block) = self.block {
            let value = self.locals.read(&mut self.function, block, local);
            self.push(value);
        }
    }

    fn local_set(&mut self, local: u32) {
        let value = self.pop();
        if let Some(block) = self.block {
            self.locals.write(block, local, value);
        }
    }

    /// Translates an operator, or passes it over where nobody reaches it.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>) -> Result<(), Error> {
        use Operator as O;
        if self.block.is_none() {
            match operator {
                O::Block { .. } | O::Loop { .. } | O::If { .. } => {
                    self.construct += 1;
                    self.skipped += 1;
                }
                O::End if self.skipped > 0 => self.skipped -= 1,
                O::End => self.end(),
                O::Else if self.skipped == 0 => self.begin_else(),
                _ => super::refusal::check(operator)?,
            }
            return Ok(());
        }
        match *operator {
            O::Nop => {}
            O::Unreachable => self.terminate(Terminator::Trap(Trap::Unreachable)),
            O::Block { blockty } => _ = self.open(blockty, || Kind::Block)?,
            O::Loop { blockty } => self.open_loop(blockty)?,
            O::If { blockty } => self.open_if(blockty)?,
            O::Else => self.begin_else(),
            O::End => self.end(),
            O::Br { relative_depth } => self.branch(relative_depth),
            O::BrIf { relative_depth } => self.branch_if(relative_depth),
            O::BrTable { ref targets } => {
                let mut depths = targets.targets().collect::<Result<Vec<u32>, _>>()?;
                depths.push(targets.default());
                self.switch(&depths);
            }
            O::Return => self.leave(),
            O::Call { function_index } => {
                let (callee, signature) = self.index.callee(function_index)?;
                self.call(callee, signature);
            }
            O::CallIndirect { type_index, table_index } => {
                let place = self.pop();
                let signature = self.index.signature(type_index)?;
                let arguments = self.pop_many(signature.parameters.len());
                let id = self.index.signature_id(type_index)?;
                let table = self.index.tables[table_index as usize];
                let call = Operation::CallIndirect(table, id, place, arguments);
                for value in self.emit(call, &signature.results) {
                    self.push(value);
                }
            }
            O::Drop => _ = self.pop_operand(),
            O::Select => self.select(),
            O::TypedSelect { ty } => {
                super::module::value_type(ty)?;
                self.select();
            }
            O::LocalGet { local_index } => self.local_get(local_index),
            O::LocalSet { local_index } => self.local_set(local_index),
            O::LocalTee { local_index } => {
                let [value] = self.pop_array();
                self.push(value);
                self.local_set(local_index);
                self.push(value);
            }
            O::GlobalGet { global_index } => {
                let (global, ty) = self.index.global(global_index)?;
                let value = self.emit_one(Operation::GlobalGet(global), ty);
                self.push(value);
            }
            O::GlobalSet { global_index } => {
                let (global, _) = self.index.global(global_index)?;
                let value = self.pop();
                self.emit(Operation::GlobalSet(global, value), &[]);
            }
            O::I32Const { value } => self.push_constant(Constant::I32(value as u32)),
            O::I64Const { value } => self.push_constant(Constant::I64(value as u64)),
            O::F32Const { value } => self.push_constant(Constant::F32(value.bits())),
            O::F64Const { value } => self.push_constant(Constant::F64(value.bits())),
            O::AtomicFence { .. } => {
                self.emit(Operation::Fence(Order::AcquireRelease, Scope::Device), &[]);
            }
            _ => match simple(operator) {
                Some(simple) => self.simple(simple),
                None => self.bulk(operator)?,
            },
        }
        Ok(())
    }

    fn push_constant(&mut self, constant: Constant) {
        let value = self.constant(constant);
        self.push(value);
    }

    fn select(&mut self) {
        let condition = self.pop_condition();
        let [first, second] = self.pop_array();
        let value = self.emit_one(Operation::Select([condition, first, second]), self.ty(first));
        self.push(value);
    }

    /// Operations on memories and tables as a whole.
    fn bulk(&mut self, operator: &Operator<'_>) -> Result<(), Error> {
        use Operator as O;
        let index = self.index;
        let operation = match *operator {
            O::MemorySize { mem } => {
                let size = self.emit_one(Operation::MemorySize(index.memories[mem as usize]), Type::I32);
                self.push(size);
                return Ok(());
            }
            O::MemoryGrow { mem } => {
                let pages = self.pop();
                let grow = Operation::MemoryGrow(index.memories[mem as usize], pages);
                let size = self.emit_one(grow, Type::I32);
                self.push(size);
                return Ok(());
            }
            O::MemoryFill { mem } => Operation::MemoryFill(index.memories[mem as usize], self.pop_array()),
            O::MemoryCopy { dst_mem, src_mem } => {
                let memories = [index.memories[dst_mem as usize], index.memories[src_mem as usize]];
                Operation::MemoryCopy(memories, self.pop_array())
            }
            O::MemoryInit { data_index, mem } => {
                let (memory, data) = (index.memories[mem as usize], index.data(data_index));
                Operation::MemoryInit(memory, data, self.pop_array())
            }
            O::DataDrop { data_index } => Operation::DataDrop(index.data(data_index)),
            O::TableCopy { dst_table, src_table } => {
                let tables = [index.tables[dst_table as usize], index.tables[src_table as usize]];
                Operation::TableCopy(tables, self.pop_array())
            }
            O::TableInit { elem_index, table } => {
                let (table, elements) = (index.tables[table as usize], index.elements(elem_index));
                Operation::TableInit(table, elements, self.pop_array())
            }
            O::ElemDrop { elem_index } => Operation::ElementsDrop(index.elements(elem_index)),
            _ => {
                super::refusal::check(operator)?;
                return Err(refused(format!("the instruction {operator:?}")));
            }
        };
        self.emit(operation, &[]);
        Ok(())
    }

    fn access(&self, Width(ty, bytes, signed): Width, memarg: MemArg) -> Access {
        let memory = match memarg.target {
            MemArgTarget::Memory(memory) => self.index.memories[memory as usize],
            MemArgTarget::Array(_) => unreachable!("validation refuses arrays"),
        };
        Access { memory, ty, bytes, signed, offset: memarg.offset as u32 }
    }

    pub(crate) fn simple(&mut self, simple: Simple) {
        match simple {
            Simple::Unary(unary) => {
                let value = self.pop();
                let result = self.emit_one(Operation::Unary(unary, value), self.ty(value));
                self.push(result);
            }
            Simple::Binary(binary) => self.binary(binary),
            Simple::Compare(compare) => {
                let values: [Value; 2] = self.pop_array();
                let result = self.emit_one(Operation::Compare(compare, values), Type::Bool);
                self.push_condition(result);
            }
            Simple::IsZero => {
                let operand = self.operands.last().copied();
                let result = match operand {
                    Some(operand) if operand.is_condition || self.conditions.contains_key(&operand.value) => {
                        let condition = self.pop_condition();
                        self.emit_one(Operation::Unary(Unary::Not, condition), Type::Bool)
                    }
                    _ => {
                        let value = self.pop();
                        let zero = self.constant(Constant::zero(self.ty(value)));
                        self.emit_one(Operation::Compare(Compare::Eq, [value, zero]), Type::Bool)
                    }
                };
                self.push_condition(result);
            }
            Simple::Convert(convert) => {
                let value = self.pop();
                let ty = convert.result(self.ty(value)).expect("validation checks types");
                let result = self.emit_one(Operation::Convert(convert, value), ty);
                self.push(result);
            }
            Simple::Load(width, memarg) => {
                let access = self.access(width, memarg);
                let address = self.pop();
                let value = self.emit_one(Operation::Load(access, address), width.0);
                self.push(value);
            }
            Simple::Store(width, memarg) => {
                let access = self.access(width, memarg);
                let values = self.pop_array();
                self.emit(Operation::Store(access, values), &[]);
            }
            // Where caches are not coherent, only an atomic sees what others have written: a load is an or with 0, a
            // store an exchange.
            Simple::AtomicLoad(width, memarg) => {
                let access = self.access(width, memarg);
                let address = self.pop();
                let zero = self.constant(Constant::zero(width.0));
                let atomic = Operation::Atomic(AtomicOp::Or, access, Scope::Device, [address, zero]);
                let value = self.emit_one(atomic, width.0);
                self.push(value);
            }
            Simple::AtomicStore(width, memarg) => {
                let access = self.access(width, memarg);
                let values = self.pop_array();
                let atomic = Operation::Atomic(AtomicOp::Exchange, access, Scope::Device, values);
                self.emit_one(atomic, width.0);
            }
            Simple::Atomic(op, width, memarg) => {
                let access = self.access(width, memarg);
                let values = self.pop_array();
                let value = self.emit_one(Operation::Atomic(op, access, Scope::Device, values), width.0);
                self.push(value);
            }
            Simple::CompareExchange(width, memarg) => {
                let access = self.access(width, memarg);
                let values = self.pop_array();
                let exchange = Operation::CompareExchange(access, Scope::Device, values);
                let value = self.emit_one(exchange, width.0);
                self.push(value);
            }
        }
    }

    /// A binary operation; one of truth values where it can be.
    fn binary(&mut self, binary: Binary) {
        let [first, second] = match self.operands.as_slice() {
            [.., first, second] => [*first, *second],
            _ => unreachable!("validation counts operands"),
        };
        let is_logical = matches!(binary, Binary::And | Binary::Or | Binary::Xor);
        if is_logical && first.is_condition && second.is_condition {
            self.operands.truncate(self.operands.len() - 2);
            let values = [first.value, second.value];
            let result = self.emit_one(Operation::Binary(binary, values), Type::Bool);
            return self.push_condition(result);
        }
        let values: [Value; 2] = self.pop_array();
        let result = self.emit_one(Operation::Binary(binary, values), self.ty(values[0]));
        self.push(result);
    }

    /// Calls a function, or does what a function of the module `wave` does.
    fn call(&mut self, callee: &Callee, signature: &Signature) {
        match *callee {
            Callee::Function(function) => {
                let arguments = self.pop_many(signature.parameters.len());
                for value in self.emit(Operation::Call(function, arguments), &signature.results) {
                    self.push(value);
                }
            }
            Callee::Intrinsic(action) => self.intrinsic(action),
        }
    }

    /// The function, with its variables as values.
    pub(crate) fn finish(mut self) -> Function {
        self.locals.finish(&mut self.function);
        let entry = self.function.entry();
        let zeros = self.locals.zeros.iter().map(|&value| {
            let constant = Constant::zero(self.function.values[value]);
            let at = self.function.at;
            Instruction { operation: Operation::Constant(constant), results: vec![value], at }
        });
        let zeros: Vec<Instruction> = zeros.collect();
        self.function.blocks[entry].instructions.splice(0..0, zeros);
        simplify(&mut self.function);
        self.function
    }
}
