//! Parameters of a kernel that are addresses of device memory for certain.
//!
//! An encoding has no pointers: they are 32-bit integers. A parameter is one if an access adds to it nothing but numbers
//! that cannot be an address themselves: multiples, special registers, small constants. A number that may be either, such
//! as the index of an array of bytes, is none. So a message about a pointer is never one about a count.

use crate::ir::{
    Binary, Block, Convert, Function, FunctionId, MemoryId, Module, Operation, Space, Terminator, Value,
};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;
use std::ops::Range;
use wave_isa::program::Pointer;

/// The parameters that are addresses, by their number. `data` are addresses that the code may know by itself.
pub(crate) fn pointers(module: &Module, kernel: FunctionId, data: &[Range<u64>]) -> Vec<Option<Pointer>> {
    let mut search = Search { module, data, known: HashMap::new() };
    search.function(kernel).pointers
}

struct Search<'a> {
    module: &'a Module,
    data: &'a [Range<u64>],
    /// Functions that have been looked at, or are: those of a recursion say nothing of themselves.
    known: HashMap<FunctionId, Known>,
}

/// What is known of a function.
#[derive(Debug, Clone)]
struct Known {
    /// Its parameters that are addresses.
    pointers: Vec<Option<Pointer>>,
    /// The parts of its results, as its own parameters.
    results: Vec<Parts>,
}

/// Parts of a sum that may be addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Parts {
    /// Parameters, a bit for each of the first 64.
    parameters: u64,
    /// Something else, such as a number from memory.
    others: bool,
}

impl Parts {
    const OTHERS: Parts = Parts { parameters: 0, others: true };

    fn with(self, other: Parts) -> Parts {
        Parts { parameters: self.parameters | other.parameters, others: self.others | other.others }
    }

    /// The parameter that is the only part.
    fn one(self) -> Option<usize> {
        let is_one = !self.others && self.parameters.count_ones() == 1;
        is_one.then_some(self.parameters.trailing_zeros() as usize)
    }
}

/// Constants from here on may be addresses.
const LEAST_ADDRESS: u32 = 4096;

impl Search<'_> {
    fn function(&mut self, id: FunctionId) -> Known {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let module = self.module;
        let function = &module.functions[id];
        let signature = &function.signature;
        let mut found = Known {
            pointers: vec![None; signature.parameters.len()],
            results: vec![Parts::OTHERS; signature.results.len()],
        };
        self.known.insert(id, found.clone());
        let operations =
            || function.blocks.values().flat_map(|body| &body.instructions).map(|one| &one.operation);
        for operation in operations() {
            if let Operation::Call(callee, _) = operation {
                self.function(*callee);
            }
        }
        let parts = self.parts(function);
        for operation in operations() {
            self.accesses(operation, &mut |sum, offset, pointer| {
                if let Some(parameter) = parts[sum].with(offset).one()
                    && let Some(found) = found.pointers.get_mut(parameter)
                {
                    *found = (*found).max(Some(pointer));
                }
            });
        }
        let returned = |number: usize| {
            let ends = function.blocks.values().filter_map(|body| match &body.terminator {
                Terminator::Return(values) => values.get(number),
                _ => None,
            });
            ends.fold(Parts::default(), |all, &value| all.with(parts[value]))
        };
        found.results = (0..signature.results.len()).map(returned).collect();
        self.known.insert(id, found.clone());
        found
    }

    /// The parts of every value of a function, as it ends up when all jumps are followed.
    fn parts(&self, function: &Function) -> SecondaryMap<Value, Parts> {
        let mut parts: SecondaryMap<Value, Parts> = SecondaryMap::new();
        for (number, &parameter) in function.blocks[function.entry()].parameters.iter().enumerate() {
            parts[parameter] = match number {
                0..64 => Parts { parameters: 1 << number, others: false },
                _ => Parts::OTHERS,
            };
        }
        let blocks: Vec<Block> = function.blocks.keys().collect();
        let mut changes = true;
        while changes {
            changes = false;
            let mut join = |parts: &mut SecondaryMap<Value, Parts>, value: Value, more: Parts| {
                let joined = parts[value].with(more);
                changes |= joined != parts[value];
                parts[value] = joined;
            };
            for &block in &blocks {
                let body = &function.blocks[block];
                for instruction in &body.instructions {
                    for (number, &result) in instruction.results.iter().enumerate() {
                        let of = self.result(&instruction.operation, number, &parts);
                        join(&mut parts, result, of);
                    }
                }
                for target in body.terminator.targets() {
                    for (&parameter, &argument) in
                        function.blocks[target.block].parameters.iter().zip(&target.arguments)
                    {
                        let of = parts[argument];
                        join(&mut parts, parameter, of);
                    }
                }
            }
        }
        parts
    }

    /// The parts of the value of this number that an operation gives.
    fn result(&self, operation: &Operation, number: usize, parts: &SecondaryMap<Value, Parts>) -> Parts {
        match operation {
            Operation::Call(callee, arguments) => {
                let known = self.known.get(callee).and_then(|known| known.results.get(number));
                let result = known.copied().unwrap_or(Parts::OTHERS);
                let own = Parts { parameters: 0, others: result.others };
                let given = arguments.iter().take(64).enumerate();
                let used = given.filter(|(at, _)| result.parameters >> at & 1 == 1);
                used.fold(own, |all, (_, &argument)| all.with(parts[argument]))
            }
            Operation::Constant(constant) => self.constant(constant.bits() as u32),
            Operation::Binary(Binary::Add | Binary::And | Binary::Or | Binary::Xor, [a, b])
            | Operation::Select([_, a, b]) => parts[*a].with(parts[*b]),
            // What is subtracted is a distance, or leaves one.
            Operation::Binary(Binary::Sub, [a, b]) => {
                parts[*a].with(Parts { parameters: 0, others: parts[*b].others })
            }
            Operation::Convert(Convert::Wrap | Convert::ExtendS | Convert::ExtendU, a) => parts[*a],
            Operation::Binary(..)
            | Operation::Unary(..)
            | Operation::Compare(..)
            | Operation::Convert(..)
            | Operation::Special(_)
            | Operation::MemorySize(_) => Parts::default(),
            _ => Parts::OTHERS,
        }
    }

    fn constant(&self, value: u32) -> Parts {
        let is_far = value >= LEAST_ADDRESS && value.wrapping_neg() >= LEAST_ADDRESS;
        let others = is_far || self.data.iter().any(|range| range.contains(&value.into()));
        Parts { parameters: 0, others }
    }

    /// Tells the addresses in device memory of an operation, with the parts of what is added to them.
    fn accesses(&self, operation: &Operation, tell: &mut dyn FnMut(Value, Parts, Pointer)) {
        let is_device = |memory: MemoryId| self.module.memories[memory].space == Space::Device;
        let nothing = Parts::default();
        match operation {
            Operation::Load(access, address) if is_device(access.memory) => {
                tell(*address, self.constant(access.offset), Pointer::Read);
            }
            Operation::Store(access, [address, _])
            | Operation::Atomic(_, access, _, [address, _])
            | Operation::CompareExchange(access, _, [address, ..])
                if is_device(access.memory) =>
            {
                tell(*address, self.constant(access.offset), Pointer::Written);
            }
            Operation::MemoryFill(memory, [address, ..])
            | Operation::MemoryInit(memory, _, [address, ..])
                if is_device(*memory) =>
            {
                tell(*address, nothing, Pointer::Written);
            }
            Operation::MemoryCopy([to, from], [target, source, _]) => {
                if is_device(*to) {
                    tell(*target, nothing, Pointer::Written);
                }
                if is_device(*from) {
                    tell(*source, nothing, Pointer::Read);
                }
            }
            Operation::Call(callee, arguments) => {
                let pointers = self.known.get(callee).map_or(&[][..], |known| known.pointers.as_slice());
                for (&argument, pointer) in arguments.iter().zip(pointers) {
                    if let Some(pointer) = *pointer {
                        tell(argument, nothing, pointer);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, SourceOptions};
    use std::path::Path;
    use wave_isa::program::Pointer::{Read, Written};

    /// The pointers of the first exported function of a module in text.
    fn of(body: &str) -> Vec<Option<Pointer>> {
        let text = format!(
            "(module (memory 1) (func $store (param i32 i32) local.get 0 local.get 1 i32.store)\n\
             (func $at (param i32 i32) (result i32) local.get 0 local.get 1 i32.const 2 i32.shl i32.add)\n\
             (func (export \"k\") (param i32 i32 i32) {body}))"
        );
        let source = Source::read(Path::new("k.wat"), text.as_bytes(), &SourceOptions::default());
        let source = source.unwrap().expect("it is a module");
        let kernel = source.kernels()[0].function;
        pointers(&source.module, kernel, std::slice::from_ref(&(1024..2048)))
    }

    #[test]
    fn a_pointer_is_what_only_distances_are_added_to() {
        let index = "local.get 2 i32.const 2 i32.shl i32.add";
        for (body, expected) in [
            (format!("local.get 0 {index} i32.load drop"), [Some(Read), None, None]),
            (format!("local.get 0 {index} local.get 1 i32.store"), [Some(Written), None, None]),
            (
                format!("local.get 1 {index} local.get 0 {index} i32.load i32.store"),
                [Some(Read), Some(Written), None],
            ),
            // An array of bytes: either may be its address.
            ("local.get 0 local.get 1 i32.add i32.load8_u drop".into(), [None; 3]),
            // An array of the module, and one whose address is in memory.
            ("local.get 0 i32.load offset=1024 drop".into(), [None; 3]),
            ("local.get 0 i32.const 65536 i32.add i32.load drop".into(), [None; 3]),
            ("local.get 0 i32.const 8 i32.load i32.add i32.load8_u drop".into(), [None; 3]),
            ("local.get 0 i32.load offset=8 drop".into(), [Some(Read), None, None]),
            // Through a call, and round a loop.
            ("local.get 1 local.get 2 call $store".into(), [None, Some(Written), None]),
            ("local.get 1 local.get 2 call $at i32.load drop".into(), [None, Some(Read), None]),
            ("local.get 1 local.get 2 call $at local.get 0 call $store".into(), [None, Some(Written), None]),
            (
                "(loop local.get 0 i32.const 1 i32.store local.get 0 i32.const 4 i32.add local.tee 0 \
                 local.get 1 i32.lt_u br_if 0)"
                    .into(),
                [Some(Written), None, None],
            ),
        ] {
            assert_eq!(of(&body), expected, "{body}");
        }
    }
}
