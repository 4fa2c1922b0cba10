//! From WebAssembly to rWasm: the bodies of functions.

use super::encode::Context;
use super::words::{Word, branch, drop_keep, i32_constant, wide, word};
use wasmparser::{
    BlockType, FrameKind, FuncToValidate, FunctionBody, MemArg, Operator, ValType, ValidatorResources,
};

/// A block, loop or choice that is open.
struct Frame {
    /// Labels of its head, for a loop, and of its end.
    head: usize,
    end: usize,
    /// Of the part behind `else`, while that may come.
    other: Option<usize>,
}

/// A function that is translated.
pub(crate) struct Function<'a> {
    context: &'a Context,
    validator: wasmparser::FuncValidator<ValidatorResources>,
    words: Vec<Word>,
    frames: Vec<Frame>,
    /// Where each label is.
    labels: Vec<Option<usize>>,
    /// Branches, and the labels to which they go.
    branches: Vec<(usize, usize)>,
    /// Parameters and local variables; results.
    locals: u32,
    results: u32,
}

impl<'a> Function<'a> {
    pub(crate) fn new(
        context: &'a Context,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
    ) -> Function<'a> {
        let number = context.functions[function.index as usize];
        let ty = &context.types[number as usize];
        let mut validator = function.into_validator(Default::default());
        validator.read_locals(&mut body.get_binary_reader()).expect("valid");
        // Types that are the same have one number.
        let signature = context.types.iter().position(|other| other == ty).expect("it is there") as u32;
        let mut words = vec![word("SignatureCheck", signature)];
        words.extend(context.fuel.map(|fuel| word("ConsumeFuel", fuel)));
        let mut locals = ty.params().len() as u32;
        for local in body.get_locals_reader().expect("valid") {
            let (count, ty) = local.expect("valid");
            locals += count;
            let zero = match ty {
                ValType::I32 => "I32Const",
                ValType::I64 => "I64Const",
                ValType::F32 => "F32Const",
                _ => "F64Const",
            };
            words.extend((0..count).map(|_| word(zero, 0)));
        }
        let frame = Frame { head: 0, end: 0, other: None };
        Function {
            context,
            validator,
            words,
            frames: vec![frame],
            labels: vec![None],
            branches: Vec::new(),
            locals,
            results: ty.results().len() as u32,
        }
    }

    pub(crate) fn translate(mut self, body: &FunctionBody<'_>) -> Vec<Word> {
        for item in body.get_operators_reader().expect("valid").into_iter_with_offsets() {
            let (operator, offset) = item.expect("valid");
            let is_dead = self.frame(0).unreachable;
            self.operator(&operator, is_dead);
            self.validator.op(offset, &operator).expect("valid");
        }
        for (at, label) in std::mem::take(&mut self.branches) {
            let target = self.labels[label].expect("every label has its place");
            let distance = (target as i64 - at as i64) as i32;
            self.words[at][1..5].copy_from_slice(&distance.to_le_bytes());
        }
        self.words
    }

    fn frame(&self, depth: u32) -> wasmparser::Frame {
        *self.validator.get_control_frame(depth as usize).expect("it is open")
    }

    fn height(&self) -> u32 {
        self.validator.operand_stack_height()
    }

    fn label(&mut self) -> usize {
        self.labels.push(None);
        self.labels.len() - 1
    }

    fn bind(&mut self, label: usize) {
        self.labels[label] = Some(self.words.len());
    }

    fn push(&mut self, name: &str, operand: u32) {
        self.words.push(word(name, operand));
    }

    /// A branch to a label, whose distance is filled in at the end.
    fn branch(&mut self, name: &str, label: usize) {
        self.branches.push((self.words.len(), label));
        self.words.push(branch(name, 0));
    }

    fn arity(&self, ty: BlockType) -> (u32, u32) {
        match ty {
            BlockType::Empty => (0, 0),
            BlockType::Type(_) => (0, 1),
            BlockType::FuncType(number) => {
                let ty = &self.context.types[number as usize];
                (ty.params().len() as u32, ty.results().len() as u32)
            }
        }
    }

    /// Where a branch of this depth goes: a label, or out of the function; and what it drops and keeps at a height.
    fn target(&self, depth: u32, height: u32) -> (Option<usize>, u32, u32) {
        let frame = self.frame(depth);
        if depth as usize + 1 == self.frames.len() {
            return (None, self.locals + height - self.results, self.results);
        }
        let (parameters, results) = self.arity(frame.block_type);
        let own = &self.frames[self.frames.len() - 1 - depth as usize];
        let (label, keep) =
            if frame.kind == FrameKind::Loop { (own.head, parameters) } else { (own.end, results) };
        (Some(label), height - keep - frame.height as u32, keep)
    }

    fn operator(&mut self, operator: &Operator<'_>, is_dead: bool) {
        use Operator as O;
        let height = self.height();
        match *operator {
            O::Block { .. } | O::Loop { .. } | O::If { .. } => {
                let [head, end] = [self.label(), self.label()];
                let mut other = None;
                if matches!(operator, O::If { .. }) {
                    let label = self.label();
                    other = Some(label);
                    if !is_dead {
                        self.branch("BrIfEqz", label);
                    }
                }
                self.bind(head);
                if let (O::Loop { .. }, Some(fuel), false) = (operator, self.context.fuel, is_dead) {
                    self.push("ConsumeFuel", fuel);
                }
                return self.frames.push(Frame { head, end, other });
            }
            O::Else => {
                let frame = self.frames.last_mut().expect("it is open");
                let (end, other) = (frame.end, frame.other.take().expect("an if"));
                if !is_dead {
                    self.branch("Br", end);
                }
                return self.bind(other);
            }
            O::End => {
                let frame = self.frames.pop().expect("it is open");
                if let Some(other) = frame.other {
                    self.bind(other);
                }
                self.bind(frame.end);
                if self.frames.is_empty() {
                    // Also where nobody comes here.
                    self.words.push(drop_keep("Return", self.locals, self.results));
                }
                return;
            }
            _ if is_dead => return,
            _ => {}
        }
        match *operator {
            O::Nop => {}
            O::Br { relative_depth } => match self.target(relative_depth, height) {
                (None, drop, keep) => self.words.push(drop_keep("Return", drop, keep)),
                (Some(label), 0, _) => self.branch("Br", label),
                (Some(label), drop, keep) => self.adjusting("BrAdjust", label, drop, keep),
            },
            O::BrIf { relative_depth } => match self.target(relative_depth, height - 1) {
                (None, drop, keep) => self.words.push(drop_keep("ReturnIfNez", drop, keep)),
                (Some(label), 0, _) => self.branch("BrIfNez", label),
                (Some(label), drop, keep) => self.adjusting("BrAdjustIfNez", label, drop, keep),
            },
            O::BrTable { ref targets } => {
                self.push("BrTable", targets.len() + 1);
                let depths: Vec<u32> = targets.targets().map(|depth| depth.expect("valid")).collect();
                for depth in depths.into_iter().chain([targets.default()]) {
                    match self.target(depth, height - 1) {
                        (None, drop, keep) => self.words.extend([drop_keep("Return", drop, keep); 2]),
                        (Some(label), 0, _) => {
                            self.branch("Br", label);
                            self.words.push(drop_keep("Return", 0, 0));
                        }
                        (Some(label), drop, keep) => self.adjusting("BrAdjust", label, drop, keep),
                    }
                }
            }
            O::Return => {
                let (_, drop, keep) = self.target(self.frames.len() as u32 - 1, height);
                self.words.push(drop_keep("Return", drop, keep));
            }
            O::Call { function_index } => self.push("CallInternal", function_index),
            O::CallIndirect { type_index, table_index } => {
                let types = &self.context.types;
                let same = types.iter().position(|other| *other == types[type_index as usize]);
                self.push("CallIndirect", same.expect("it is there") as u32);
                self.push("TableGet", table_index);
            }
            O::LocalGet { local_index } => self.push("LocalGet", self.locals + height - local_index),
            O::LocalSet { local_index } => self.push("LocalSet", self.locals + height - 1 - local_index),
            O::LocalTee { local_index } => self.push("LocalTee", self.locals + height - local_index),
            O::TypedSelect { .. } => self.push("Select", 0),
            O::GlobalGet { global_index } => self.push("GlobalGet", global_index),
            O::GlobalSet { global_index } => self.push("GlobalSet", global_index),
            O::I32Const { value } => self.words.push(i32_constant(value)),
            O::F32Const { value } => self.push("F32Const", value.bits()),
            O::I64Const { value } => self.words.push(wide("I64Const", value as u64)),
            O::F64Const { value } => self.words.push(wide("F64Const", value.bits())),
            O::MemoryGrow { .. } => self.memory_grow(),
            O::MemoryInit { data_index, .. } => {
                self.place_in_section(self.context.data[data_index as usize]);
                self.push("MemoryInit", data_index + 1);
            }
            O::DataDrop { data_index } => self.push("DataDrop", data_index + 1),
            O::TableInit { elem_index, table } => {
                self.place_in_section(self.context.elements[elem_index as usize]);
                self.push("TableInit", elem_index + 1);
                self.push("TableGet", table);
            }
            O::ElemDrop { elem_index } => self.push("ElemDrop", elem_index + 1),
            O::TableCopy { dst_table, src_table } => {
                self.push("TableCopy", dst_table);
                self.push("TableGet", src_table);
            }
            O::I32ReinterpretF32 | O::I64ReinterpretF64 | O::F32ReinterpretI32 | O::F64ReinterpretI64 => {}
            _ => {
                let name = format!("{operator:?}");
                let name = name.split([' ', '{']).next().unwrap_or_default();
                self.push(name, offset(operator).unwrap_or(0));
            }
        }
    }

    /// A branch that changes the stack, with its second word.
    fn adjusting(&mut self, name: &str, label: usize, drop: u32, keep: u32) {
        self.branch(name, label);
        self.words.push(drop_keep("Return", drop, keep));
    }

    /// Memory does not grow past the declared maximum: code in front of the instruction sees to that.
    fn memory_grow(&mut self) {
        self.push("LocalGet", 1);
        self.push("MemorySize", 0);
        // In 64 bits, so that the sum is not cut off.
        self.push("I64Add", 0);
        self.words.push(wide("I64Const", self.context.most_pages));
        self.push("I64GtU", 0);
        self.words.push(branch("BrIfEqz", 4));
        self.push("Drop", 0);
        self.push("I32Const", u32::MAX);
        self.words.push(branch("Br", 2));
        self.push("MemoryGrow", 0);
    }

    /// Makes an offset in a segment one in the section: (to, offset, count) is on the stack. Where the range does not
    /// lie in the segment, the count becomes one that traps. A range of nothing at 0 stays as it is, which is right
    /// also when the segment was dropped.
    fn place_in_section(&mut self, (start, length): (u32, u32)) {
        self.push("LocalGet", 1);
        self.push("LocalGet", 3);
        self.push("I64Add", 0);
        self.words.push(wide("I64Const", length.into()));
        self.push("I64GtU", 0);
        self.words.push(branch("BrIfEqz", 3));
        self.push("I32Const", u32::MAX);
        self.push("LocalSet", 1);
        self.push("LocalGet", 1);
        self.push("LocalGet", 3);
        self.push("I32Or", 0);
        self.words.push(branch("BrIfEqz", 5));
        self.push("I32Const", start);
        self.push("LocalGet", 3);
        self.push("I32Add", 0);
        self.push("LocalSet", 2);
    }
}

/// The offset of an access to memory.
#[rustfmt::skip]
fn offset(operator: &Operator<'_>) -> Option<u32> {
    use Operator as O;
    match *operator {
        O::I32Load { memarg } | O::I64Load { memarg } | O::F32Load { memarg } | O::F64Load { memarg }
        | O::I32Load8S { memarg } | O::I32Load8U { memarg } | O::I32Load16S { memarg } | O::I32Load16U { memarg }
        | O::I64Load8S { memarg } | O::I64Load8U { memarg } | O::I64Load16S { memarg } | O::I64Load16U { memarg }
        | O::I64Load32S { memarg } | O::I64Load32U { memarg } | O::I32Store { memarg } | O::I64Store { memarg }
        | O::F32Store { memarg } | O::F64Store { memarg } | O::I32Store8 { memarg } | O::I32Store16 { memarg }
        | O::I64Store8 { memarg } | O::I64Store16 { memarg } | O::I64Store32 { memarg } => offset_of(memarg),
        _ => None,
    }
}

fn offset_of(memarg: MemArg) -> Option<u32> {
    u32::try_from(memarg.offset).ok()
}
