//! Scripts in the interpreter.

use super::script::{Executor, Stopped};
use std::rc::Rc;
use std::sync::Arc;
use wave_compile::ir::interpret::{self, GlobalCell, Instance, Limits, LinearMemory, TableCell};
use wave_compile::ir::{Constant, FunctionId, GlobalId, Module};
use wave_compile::wasm::{Linked, Linker};

/// The interpreter, and what instances share: everything by its number in the linker.
#[derive(Default)]
pub(crate) struct Interpreter {
    memories: Vec<Rc<LinearMemory>>,
    tables: Vec<Rc<TableCell>>,
    globals: Vec<Rc<GlobalCell>>,
    /// Instance of each function.
    owners: Vec<Instance>,
}

impl Executor for Interpreter {
    fn prepare(&self, linker: &mut Linker) {
        let ids: Vec<_> = linker.module().memories.keys().collect();
        for (id, memory) in ids.into_iter().zip(&self.memories) {
            linker.set_pages(id, memory.pages());
        }
    }

    fn instantiate(&mut self, _all: &Module, _linked: &Linked, module: Module) -> Result<(), Stopped> {
        let owners = module.functions.keys().zip(&self.owners);
        let before = interpret::Linked {
            memories: module.memories.keys().zip(self.memories.iter().cloned()).collect(),
            tables: module.tables.keys().zip(self.tables.iter().cloned()).collect(),
            globals: module.globals.keys().zip(self.globals.iter().cloned()).collect(),
            functions: owners.map(|(id, owner)| (id, owner.clone(), id)).collect(),
        };
        let instance = Instance::unstarted(Arc::new(module), before);
        let module = instance.module();
        let own = module.memories.keys().skip(self.memories.len());
        self.memories.extend(own.map(|id| Rc::clone(instance.memory(id))).collect::<Vec<_>>());
        let own = module.tables.keys().skip(self.tables.len());
        self.tables.extend(own.map(|id| Rc::clone(instance.table(id))).collect::<Vec<_>>());
        let own = module.globals.keys().skip(self.globals.len());
        self.globals.extend(own.map(|id| Rc::clone(instance.global(id))).collect::<Vec<_>>());
        self.owners.resize(module.functions.len(), instance.clone());
        instance.start(&Limits::default()).map_err(Stopped::Trapped)
    }

    fn call(
        &mut self,
        _all: &Module,
        function: FunctionId,
        arguments: &[Constant],
    ) -> Result<Vec<Constant>, Stopped> {
        let owner = &self.owners[function.as_u32() as usize];
        owner.call(function, arguments, &Limits::default()).map_err(Stopped::Trapped)
    }

    fn global(&self, global: GlobalId) -> Constant {
        self.globals[global.as_u32() as usize].get()
    }
}
