//! The runtime library: functions for what the machine has no instructions for, in the text form of the
//! representation. A pass adds those that a module needs to it, and calls them.

use crate::ir::{Function, FunctionId, MemoryId, Module, Operation, text};
use cranelift_entity::EntityRef;
use std::collections::HashMap;
use std::sync::OnceLock;
use wave_isa::Scope;

/// The files of the library: name and text.
const FILES: [(&str, &str); 4] = [
    ("f64.ir", include_str!("f64.ir")),
    ("integer.ir", include_str!("integer.ir")),
    ("memory.ir", include_str!("memory.ir")),
    ("atomic.ir", include_str!("atomic.ir")),
];

/// The modules of the files, read once.
fn modules() -> &'static [Module] {
    static MODULES: OnceLock<Vec<Module>> = OnceLock::new();
    MODULES.get_or_init(|| {
        let read = |(name, text): &(&str, &str)| {
            text::parse(text, name).unwrap_or_else(|error| panic!("{}", error.render(false)))
        };
        FILES.iter().map(read).collect()
    })
}

/// A function of the library, and what it is made for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Routine {
    /// Its name.
    pub(super) name: &'static str,
    /// Memories of the module in the place of those of the library, in the order of their numbers.
    pub(super) memories: Vec<MemoryId>,
    /// The scope of its atomic accesses.
    pub(super) scope: Scope,
}

impl Routine {
    /// A function that accesses no memory.
    pub(super) fn named(name: &'static str) -> Routine {
        Routine { name, memories: Vec::new(), scope: Scope::Wave }
    }
}

/// Functions of the library that a module has got.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// Number that the next one has.
    pub(super) next: usize,
    /// The functions, in the order of their numbers.
    pub(super) functions: Vec<Function>,
    ids: HashMap<Routine, FunctionId>,
}

impl Imports {
    /// None, for a module with so many functions.
    pub(super) fn new(functions: usize) -> Imports {
        Imports { next: functions, ..Imports::default() }
    }

    /// The number of a function in the module. It is added, with those that it calls, if it is not there.
    pub(super) fn function(&mut self, routine: &Routine) -> FunctionId {
        if let Some(&id) = self.ids.get(routine) {
            return id;
        }
        let (library, of_library) = find(routine.name);
        let mut function = library.functions[of_library].clone();
        for instruction in function.blocks.values_mut().flat_map(|body| &mut body.instructions) {
            match &mut instruction.operation {
                Operation::Call(callee, _) => {
                    let name = name(&library.functions[*callee]);
                    *callee = self.function(&Routine { name, ..routine.clone() });
                }
                Operation::Load(access, _) | Operation::Store(access, _) => {
                    access.memory = routine.memories[access.memory.index()];
                }
                Operation::CompareExchange(access, scope, _) => {
                    access.memory = routine.memories[access.memory.index()];
                    *scope = routine.scope;
                }
                _ => {}
            }
        }
        let id = FunctionId::new(self.next);
        self.next += 1;
        self.functions.push(function);
        self.ids.insert(routine.clone(), id);
        id
    }

    /// Types of the results of a function of the library.
    pub(super) fn results(name: &'static str) -> &'static [crate::ir::Type] {
        let (library, id) = find(name);
        &library.functions[id].signature.results
    }
}

/// A function of the library by its name, and the file that it is in.
fn find(wanted: &str) -> (&'static Module, FunctionId) {
    let all = modules().iter().flat_map(|module| module.functions.keys().map(move |id| (module, id)));
    let found = all.into_iter().find(|&(module, id)| name(&module.functions[id]) == wanted);
    found.unwrap_or_else(|| panic!("the library has no {wanted}"))
}

fn name(function: &'static Function) -> &'static str {
    function.name.as_deref().expect("functions of the library have names")
}

#[cfg(test)]
mod tests;
