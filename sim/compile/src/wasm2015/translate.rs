//! The second walk over a function: operators become operations.
//!
//! Trees in pre-order become a stack of operands as that of WebAssembly. A construct becomes constructs of WebAssembly:
//! a `loop` a loop in a block, a `tableswitch` a block for its end and one for each case. What an expression gives and
//! nobody takes is dropped.

use super::check::Checked;
use super::operators::Form;
use super::sections::GlobalType;
use super::tree::{Code, Immediate, Node, SwitchTarget, Visitor, walk};
use crate::encoding::Error;
use crate::ir::{Binary, Constant, Function, GlobalId, Operation, Place, TableId, Type, Unary, Value};
use crate::wasm::{Index, Simple, Translator};
use std::collections::HashMap;
use wasmparser::{BlockType, Operator, ValType};

/// What the operators of all functions name.
pub(super) struct Named {
    pub(super) index: Index,
    /// The table in which an indirect call of a signature looks.
    pub(super) tables: HashMap<u32, TableId>,
}

/// A label: its construct of the translator, and whether a branch brings a value.
#[derive(Debug, Clone, Copy)]
struct Label {
    construct: usize,
    takes_value: bool,
}

/// A node that has begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Operands below it.
    height: usize,
    /// Its construct gives a value.
    has_value: bool,
}

struct Translate<'a> {
    code: &'a Code<'a>,
    named: &'a Named,
    checked: &'a Checked,
    translator: Translator<'a>,
    labels: Vec<Label>,
    open: Vec<Open>,
    /// The next construct.
    construct: usize,
    /// There was an expression before.
    has_expression: bool,
}

/// Translates a function that is right.
pub(super) fn translate(
    code: &Code<'_>,
    named: &Named,
    checked: &Checked,
    name: Option<String>,
    at: Place,
) -> Result<Function, Error> {
    let function = Function::new(name, code.signature.clone(), at);
    let mut translator = Translator::new(&named.index, function, &checked.scan, &code.locals, code.signature);
    translator.at = at;
    let mut translate = Translate {
        code,
        named,
        checked,
        translator,
        labels: Vec::new(),
        open: Vec::new(),
        construct: 0,
        has_expression: false,
    };
    walk(code, &mut translate)?;
    if code.signature.results.is_empty() {
        translate.drop_above(0)?;
    }
    translate.emit(&Operator::End)?;
    Ok(translate.translator.finish())
}

/// The type of a construct with or without a value.
fn block_type(result: Option<Type>) -> BlockType {
    match result {
        None | Some(Type::Bool) => BlockType::Empty,
        Some(Type::I32) => BlockType::Type(ValType::I32),
        Some(Type::I64) => BlockType::Type(ValType::I64),
        Some(Type::F32) => BlockType::Type(ValType::F32),
        Some(Type::F64) => BlockType::Type(ValType::F64),
    }
}

impl Translate<'_> {
    fn emit(&mut self, operator: &Operator<'_>) -> Result<(), Error> {
        self.translator.operator(operator)
    }

    /// Drops what an expression has left above so many operands.
    fn drop_above(&mut self, height: usize) -> Result<(), Error> {
        if self.translator.is_reached() && self.translator.height() > height {
            self.emit(&Operator::Drop)?;
        }
        Ok(())
    }

    fn top(&self) -> Open {
        *self.open.last().expect("the node has begun")
    }

    /// Opens the next construct; `make` says of which type.
    fn begin(&mut self, make: impl FnOnce(BlockType) -> Operator<'static>) -> Result<bool, Error> {
        let result = self.checked.results[self.construct];
        self.construct += 1;
        self.emit(&make(block_type(result)))?;
        Ok(result.is_some())
    }

    /// Opens the next construct, to whose end a label leads.
    fn begin_block(&mut self) -> Result<bool, Error> {
        let has_value = self.begin(|blockty| Operator::Block { blockty })?;
        self.labels.push(Label { construct: self.translator.constructs(), takes_value: has_value });
        Ok(has_value)
    }

    /// How far outside a label is, in constructs of WebAssembly. Where control does not come, nobody asks.
    fn depth(&self, depth: u32) -> u32 {
        let label = self.labels[self.labels.len() - 1 - depth as usize];
        self.translator.constructs().saturating_sub(label.construct) as u32
    }

    /// The key of a `tableswitch` is there: opens its constructs and goes on in its first case.
    fn switch(&mut self, node: &Node) -> Result<(), Error> {
        let Immediate::Targets(targets, cases) = &node.immediate else { return Ok(()) };
        let key = self.translator.is_reached().then(|| self.translator.pop_operand());
        let has_value = self.begin_block()?;
        self.open.last_mut().expect("the node has begun").has_value = has_value;
        for _ in 0..*cases {
            self.begin(|blockty| Operator::Block { blockty })?;
        }
        if let Some(key) = key {
            self.translator.push_operand(key);
            let depths: Vec<u32> = targets
                .iter()
                .map(|&target| match SwitchTarget::of(target) {
                    SwitchTarget::Case(case) => case,
                    SwitchTarget::Branch(depth) => self.depth(depth),
                })
                .collect();
            self.translator.switch(&depths);
        }
        if *cases > 0 { self.emit(&Operator::End) } else { Ok(()) }
    }

    /// Where control comes, does something with the translator.
    fn reached(&mut self, action: impl FnOnce(&mut Self)) {
        if self.translator.is_reached() {
            action(self);
        }
    }

    fn global(&self, node: &Node) -> (GlobalId, GlobalType) {
        let (id, _) = self.named.index.globals[node.number() as usize].expect("all are numbers");
        (id, self.code.sections.globals[node.number() as usize].ty)
    }

    /// Sets a global variable to as much of a value as it holds. The value stays.
    fn store_global(&mut self, node: &Node) {
        let (id, ty) = self.global(node);
        let translator = &mut self.translator;
        let value = translator.pop();
        translator.push(value);
        let held = held(translator, ty, value);
        translator.emit(Operation::GlobalSet(id, held), &[]);
    }

    fn call_indirect(&mut self, node: &Node) {
        let (signature, id) =
            self.named.index.types[node.number() as usize].as_ref().expect("all are numbers");
        let table = self.named.tables[&node.number()];
        let arguments = self.translator.pop_many(signature.parameters.len());
        let place = self.translator.pop();
        let call = Operation::CallIndirect(table, *id, place, arguments);
        for value in self.translator.emit(call, &signature.results) {
            self.translator.push(value);
        }
    }

    /// An operator that is one operation. The value of a store is what it stores.
    fn simple(&mut self, node: &Node, simple: Simple) {
        let translator = &mut self.translator;
        match simple {
            Simple::Load(width, mut memarg) => {
                memarg.offset = node.number().into();
                translator.simple(Simple::Load(width, memarg));
            }
            Simple::Store(width, mut memarg) => {
                memarg.offset = node.number().into();
                let [address, value] = translator.pop_array();
                translator.push(address);
                translator.push(value);
                translator.simple(Simple::Store(width, memarg));
                translator.push(value);
            }
            _ => translator.simple(simple),
        }
    }
}

/// As much of a value as a global variable of a type holds, extended.
fn held(translator: &mut Translator<'_>, ty: GlobalType, value: Value) -> Value {
    if ty.bytes == ty.ty.bytes() {
        return value;
    }
    let operation = match (ty.bytes, ty.signed) {
        (1, true) => Operation::Unary(Unary::Extend8, value),
        (_, true) => Operation::Unary(Unary::Extend16, value),
        (bytes, false) => {
            let mask = translator.constant(Constant::I32(u32::MAX >> (32 - 8 * bytes)));
            Operation::Binary(Binary::And, [value, mask])
        }
    };
    translator.emit_one(operation, Type::I32)
}

impl Visitor for Translate<'_> {
    fn enter(&mut self, node: &Node) -> Result<(), Error> {
        if self.open.is_empty() && std::mem::replace(&mut self.has_expression, true) {
            self.drop_above(0)?;
        }
        self.translator.at = Place(node.at as u32);
        let height = self.translator.height();
        let has_value = match node.row.form {
            Form::Block => self.begin_block()?,
            Form::Loop => {
                let has_value = self.begin_block()?;
                self.begin(|blockty| Operator::Loop { blockty })?;
                self.labels.push(Label { construct: self.translator.constructs(), takes_value: false });
                has_value
            }
            _ => false,
        };
        self.open.push(Open { height, has_value });
        Ok(())
    }

    fn child(&mut self, node: &Node, index: u32, _at: usize) -> Result<(), Error> {
        self.translator.at = Place(node.at as u32);
        let is_last = index + 1 == node.children;
        let Open { height, has_value } = self.top();
        match node.row.form {
            Form::Block | Form::Loop if !is_last || !has_value => self.drop_above(height)?,
            Form::If | Form::IfElse if index == 0 => {
                let has_value = self.begin(|blockty| Operator::If { blockty })?;
                self.open.last_mut().expect("the node has begun").has_value = has_value;
            }
            Form::If | Form::IfElse => {
                if !has_value {
                    self.drop_above(height)?;
                }
                if !is_last {
                    self.emit(&Operator::Else)?;
                }
            }
            Form::TableSwitch if index == 0 => self.switch(node)?,
            Form::TableSwitch => {
                if !is_last || !has_value {
                    self.drop_above(height)?;
                }
                if !is_last {
                    self.emit(&Operator::End)?;
                }
            }
            Form::Br | Form::BrIf if index == 0 => {
                let label = self.labels[self.labels.len() - 1 - node.number() as usize];
                if !label.takes_value {
                    self.drop_above(height)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn leave(&mut self, node: &Node, _end: usize) -> Result<(), Error> {
        self.translator.at = Place(node.at as u32);
        let Open { height, .. } = self.open.pop().expect("the node has begun");
        match node.row.form {
            Form::Nop => {}
            Form::Block => {
                self.labels.pop();
                self.emit(&Operator::End)?;
            }
            Form::Loop => {
                self.labels.truncate(self.labels.len() - 2);
                self.emit(&Operator::End)?;
                self.emit(&Operator::End)?;
            }
            Form::If | Form::IfElse => self.emit(&Operator::End)?,
            Form::TableSwitch => {
                self.labels.pop();
                self.emit(&Operator::End)?;
            }
            Form::Select => self.emit(&Operator::Select)?,
            Form::Br => self.emit(&Operator::Br { relative_depth: self.depth(node.number()) })?,
            Form::BrIf => {
                self.emit(&Operator::BrIf { relative_depth: self.depth(node.number()) })?;
                self.drop_above(height)?;
            }
            Form::Return => self.emit(&Operator::Return)?,
            Form::Unreachable => self.emit(&Operator::Unreachable)?,
            Form::ShortConstant | Form::Constant(_) => {
                if let Immediate::Constant(constant) = node.immediate {
                    self.reached(|this| {
                        let value = this.translator.constant(constant);
                        this.translator.push(value);
                    });
                }
            }
            Form::GetLocal => self.emit(&Operator::LocalGet { local_index: node.number() })?,
            Form::SetLocal => self.emit(&Operator::LocalTee { local_index: node.number() })?,
            Form::LoadGlobal => self.emit(&Operator::GlobalGet { global_index: node.number() })?,
            Form::StoreGlobal => self.reached(|this| this.store_global(node)),
            Form::CallFunction => self.emit(&Operator::Call { function_index: node.number() })?,
            Form::CallIndirect => self.reached(|this| this.call_indirect(node)),
            Form::MemorySize => self.emit(&Operator::MemorySize { mem: 0 })?,
            Form::GrowMemory => self.emit(&Operator::MemoryGrow { mem: 0 })?,
            Form::Simple(simple, ..) => self.reached(|this| this.simple(node, simple)),
        }
        Ok(())
    }
}
