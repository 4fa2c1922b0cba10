//! An entry point as a kernel: its buffers are arguments, its workgroup variables lie in local memory.

use super::hoist::hoist;
use super::places::{Location, Pointer, To, Variable, zeros};
use super::uniform::{Parted, parted_barrier};
use super::{Decoded, Evaluated, Memories, ShaderKernel, Table, Translator, Wrong, exported};
use crate::ir::{
    Access, Binary, Block, Compare, Constant, Data, Exported, Function, Memory, Operation, Place, Signature,
    Space, Target, Terminator, Type, Value,
};
use naga::valid::ModuleInfo;
use naga::{AddressSpace, ArraySize, BuiltIn, GlobalVariable, Handle, StorageAccess, TypeInner};
use wave_isa::program::Binding;

/// Arrays of constants begin at multiples of these bytes.
const TABLE_ALIGNMENT: u32 = 16;

/// Bytes of a store that clears local memory: the widest one.
const CLEARED_BYTES: u32 = 8;

/// Most bytes of workgroup memory, and most threads of a workgroup: far more than a machine has.
const MOST_LOCAL: u32 = 1 << 30;
const MOST_THREADS: u64 = 1 << 20;

/// A kernel that has been made.
pub(super) struct Made {
    name: String,
    function: Function,
    bindings: Vec<Binding>,
    parameters: Vec<String>,
    size: [u32; 3],
    local_bytes: u32,
    pub(super) private_bytes: u32,
    tables: Vec<Table>,
}

/// The variables that an entry point accesses and that launches bring, in the order of their arguments.
fn resources(
    module: &naga::Module,
    info: &ModuleInfo,
    number: usize,
) -> Vec<(Handle<GlobalVariable>, Binding, Vec<String>)> {
    let used = info.get_entry_point(number);
    let mut found: Vec<_> = module
        .global_variables
        .iter()
        .filter(|(handle, variable)| {
            !used[*handle].is_empty()
                && matches!(variable.space, AddressSpace::Storage { .. } | AddressSpace::Uniform)
        })
        .filter_map(|(handle, variable)| Some((handle, variable, variable.binding?)))
        .collect();
    found.sort_by_key(|(_, _, binding)| (binding.group, binding.binding));
    let mut next = 0;
    found
        .into_iter()
        .map(|(handle, variable, place)| {
            let name = variable.name.clone();
            let (fixed, element_bytes) = sizes(module, variable.ty);
            let address = next;
            let length = element_bytes.map(|_| next + 1);
            next += 1 + u8::from(length.is_some());
            let is_written = match variable.space {
                AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
                _ => false,
            };
            let shown = name.clone().unwrap_or_else(|| format!("binding {}.{}", place.group, place.binding));
            let length_name = length.map(|_| format!("bytes of {shown}"));
            let parameters = [shown].into_iter().chain(length_name).collect();
            let binding = Binding {
                group: place.group,
                number: place.binding,
                name,
                is_written,
                least_bytes: u64::from(fixed) + element_bytes.map_or(0, u64::from),
                element_bytes,
                address,
                length,
            };
            (handle, binding, parameters)
        })
        .collect()
}

/// Bytes of a variable without an array whose length the buffer says, and of an element of that array.
fn sizes(module: &naga::Module, ty: Handle<naga::Type>) -> (u32, Option<u32>) {
    let dynamic = |ty: Handle<naga::Type>| match module.types[ty].inner {
        TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => Some(stride),
        _ => None,
    };
    match &module.types[ty].inner {
        TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => (0, Some(*stride)),
        TypeInner::Struct { members, span } => match members.last() {
            Some(last) if dynamic(last.ty).is_some() => (last.offset, dynamic(last.ty)),
            _ => (*span, None),
        },
        inner => (inner.size(module.to_ctx()), None),
    }
}

/// A function with the parameters of an entry point.
pub(super) fn function(module: &naga::Module, info: &ModuleInfo, number: usize) -> Function {
    let entry = &module.entry_points[number];
    let count: usize = resources(module, info, number).iter().map(|(.., parameters)| parameters.len()).sum();
    let signature = Signature { parameters: vec![Type::I32; count], results: Vec::new() };
    let first = entry.function.body.span_iter().next().and_then(|(_, span)| span.to_range());
    let at = Place(first.map_or(0, |range| range.start as u32 + 1));
    Function::new(Some(entry.name.clone()), signature, at)
}

impl Translator<'_> {
    /// Translates an entry point.
    pub(super) fn kernel(mut self, number: usize) -> Result<Made, Wrong> {
        let entry = &self.module.entry_points[number];
        let info = self.info.get_entry_point(number);
        let size = entry.workgroup_size;
        if size.iter().map(|&size| u64::from(size)).product::<u64>() > MOST_THREADS {
            return Err(self.refused(format!("a workgroup of more than {MOST_THREADS} threads")));
        }
        let mut bindings = Vec::new();
        let mut names = Vec::new();
        for (handle, binding, parameters) in resources(self.module, self.info, number) {
            self.buffer(handle, &binding);
            names.extend(parameters);
            bindings.push(binding);
        }
        let mut local_bytes = 0;
        for (handle, variable) in self.module.global_variables.iter() {
            if info[handle].is_empty() {
                continue;
            }
            match variable.space {
                AddressSpace::Private => {
                    self.check_size(self.layout.inner(variable.ty))?;
                    let values = match variable.init {
                        Some(init) => self.global(init),
                        None => zeros(&mut self.e, self.layout, self.layout.inner(variable.ty)),
                    };
                    let pointer = self.variable(Variable::Private(handle.index()), variable.ty, values)?;
                    self.globals.insert(handle, pointer);
                }
                AddressSpace::WorkGroup => {
                    let (bytes, alignment) = self.layout.size_of(variable.ty);
                    let offset = u32::next_multiple_of(local_bytes, alignment.max(4));
                    local_bytes = offset + bytes.next_multiple_of(4);
                    if local_bytes > MOST_LOCAL {
                        return Err(self.refused(format!("more than {MOST_LOCAL} bytes of workgroup memory")));
                    }
                    let base = self.e.i32(0);
                    let location = Location {
                        memory: self.ids.local,
                        base,
                        offset,
                        global: None,
                        is_constant: false,
                        is_stable: false,
                    };
                    let ty = self.layout.inner(variable.ty).clone();
                    self.globals.insert(handle, Pointer { ty, to: To::Memory(location) });
                }
                _ => {}
            }
        }
        let local_bytes = local_bytes.next_multiple_of(CLEARED_BYTES);
        self.clear_local(local_bytes, size);
        let arguments = self.inputs(&entry.function, size)?;
        self.call(None, &entry.function, info, arguments)?;
        if self.is_reached {
            self.e.end(Terminator::Return(Vec::new()));
        }
        if let Some(Parted { barrier, branch }) = parted_barrier(&self.e.function, &self.e.stable) {
            return Err(Wrong::Parted { barrier, branch });
        }
        hoist(&mut self.e.function);
        Ok(Made {
            name: entry.name.clone(),
            function: self.e.finish(),
            bindings,
            parameters: names,
            size,
            local_bytes,
            private_bytes: self.private_bytes,
            tables: self.tables,
        })
    }

    /// A buffer: its arguments, and the pointer that the variable is.
    fn buffer(&mut self, handle: Handle<GlobalVariable>, binding: &Binding) {
        let variable = &self.module.global_variables[handle];
        let entry = self.e.function.entry();
        let parameters = &self.e.function.blocks[entry].parameters;
        let base = parameters[usize::from(binding.address)];
        if let Some(length) = binding.length {
            self.buffer_bytes.insert(handle.index(), parameters[usize::from(length)]);
        }
        let location = Location {
            memory: self.ids.device,
            base,
            offset: 0,
            global: Some(handle.index()),
            is_constant: variable.space == AddressSpace::Uniform,
            is_stable: !binding.is_written,
        };
        let ty = self.layout.inner(variable.ty).clone();
        self.globals.insert(handle, Pointer { ty, to: To::Memory(location) });
    }

    /// What the arguments of an entry point are: built-in values, alone or in structures.
    fn inputs(&mut self, function: &naga::Function, size: [u32; 3]) -> Result<Vec<Evaluated>, Wrong> {
        let mut inputs = Vec::new();
        for argument in &function.arguments {
            let mut values = Vec::new();
            let of = |binding: &Option<naga::Binding>| match binding {
                Some(naga::Binding::BuiltIn(built_in)) => Some(*built_in),
                _ => None,
            };
            let members: Vec<Option<BuiltIn>> = match self.layout.inner(argument.ty) {
                TypeInner::Struct { members, .. } if argument.binding.is_none() => {
                    members.iter().map(|member| of(&member.binding)).collect()
                }
                _ => vec![of(&argument.binding)],
            };
            for member in members {
                let found = member.and_then(|built_in| self.built_in(built_in, size));
                let Some(found) = found else {
                    let name = argument.name.as_deref().unwrap_or("an argument");
                    return Err(self.refused(format!("the input `{name}` of its entry point")));
                };
                values.extend(found);
            }
            inputs.push(Evaluated::Values(values));
        }
        Ok(inputs)
    }

    /// Workgroup variables are zero at the start: all threads clear them together.
    fn clear_local(&mut self, bytes: u32, size: [u32; 3]) {
        if bytes == 0 || self.options.undefined_workgroup {
            return;
        }
        /// Most stores of a thread that come one after the other; more are done in a loop.
        const MOST_IN_A_ROW: u32 = 8;
        let index = self.built_in(BuiltIn::LocalInvocationIndex, size).expect("every stage has it")[0];
        let threads = size.iter().product::<u32>();
        let start = self.e.with(Binary::Mul, index, CLEARED_BYTES.into());
        let zero = self.e.constant(Constant::I64(0));
        let access =
            Access { memory: self.ids.local, ty: Type::I64, bytes: CLEARED_BYTES, signed: false, offset: 0 };
        let units = bytes.div_ceil(CLEARED_BYTES);
        if units.div_ceil(threads) <= MOST_IN_A_ROW {
            for turn in 0..units.div_ceil(threads) {
                let offset = turn * threads * CLEARED_BYTES;
                let clear = |this: &mut Self| {
                    this.e.store(Access { offset, ..access }, start, zero);
                };
                // In the last turn some threads may have nothing left.
                let left = units - turn * threads;
                if left >= threads {
                    clear(self);
                    continue;
                }
                let has_one = self.e.compare_with(Compare::LtU, index, left.into());
                self.when(has_one, clear);
            }
        } else {
            let header = self.e.function.block(&[Type::I32]);
            let at = self.e.function.blocks[header].parameters[0];
            let to_header = |at: Value| Target { block: header, arguments: vec![at] };
            self.e.end(Terminator::Jump(to_header(start)));
            self.e.block = header;
            let goes_on = self.e.compare_with(Compare::LtU, at, u64::from(units * CLEARED_BYTES));
            let [body, out]: [Block; 2] = [self.e.new_block(&[]), self.e.new_block(&[])];
            self.e.end(Terminator::Branch(goes_on, [body, out].map(crate::emit::to)));
            self.e.block = body;
            self.e.store(access, at, zero);
            let next = self.e.with(Binary::Add, at, u64::from(threads * CLEARED_BYTES));
            self.e.end(Terminator::Jump(to_header(next)));
            self.e.block = out;
        }
        self.e.effect(Operation::Barrier);
    }

    /// Does something where a truth value is true.
    fn when(&mut self, condition: Value, make: impl FnOnce(&mut Self)) {
        let [side, join]: [Block; 2] = [self.e.new_block(&[]), self.e.new_block(&[])];
        self.e.end(Terminator::Branch(condition, [side, join].map(crate::emit::to)));
        self.e.block = side;
        make(self);
        self.e.end(Terminator::Jump(crate::emit::to(join)));
        self.e.block = join;
    }
}

impl Made {
    /// Adds the kernel to a module.
    pub(super) fn add(mut self, decoded: &mut Decoded, memories: Memories) {
        let module = &mut decoded.module;
        for table in &self.tables {
            let known = module.data.values().find(|data| data.bytes == table.bytes);
            let place = known.and_then(|data| data.at_start).map(|(_, address)| address);
            let address = place.unwrap_or_else(|| {
                let ends =
                    module.data.values().filter_map(|data| Some(data.at_start?.1 + data.bytes.len() as u32));
                let address = ends.max().unwrap_or(0).next_multiple_of(TABLE_ALIGNMENT);
                module
                    .data
                    .push(Data { bytes: table.bytes.clone(), at_start: Some((memories.device, address)) });
                address
            });
            let entry = self.function.entry();
            let defined = self.function.blocks[entry].instructions.iter_mut();
            for instruction in defined.filter(|instruction| instruction.results == [table.address]) {
                instruction.operation = Operation::Constant(Constant::I32(address));
            }
        }
        let local = &mut module.memories[memories.local];
        let pages = u64::from(self.local_bytes).div_ceil(Space::Local.page_bytes()).max(local.pages);
        *local = Memory::new(Space::Local, pages, Some(pages));
        let function = module.functions.push(self.function);
        module.exports.push((self.name.clone(), Exported::Function(function)));
        decoded.kernels.push(ShaderKernel {
            kernel: exported(&self.name, function, self.size, self.local_bytes),
            bindings: self.bindings,
            parameters: self.parameters,
        });
    }
}
