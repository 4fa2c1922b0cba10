//! Instances of modules.

use super::super::{
    Constant, Data, Elements, FunctionId, GlobalId, MemoryId, Module, NULL_REFERENCE, Place, Space, TableId,
    Trap,
};
use super::storage::{Entry, GlobalCell, LinearMemory, Linked, TableCell, range};
use super::thread::{Registers, Stop, Thread};
use super::{Limits, Trapped, wave};
use cranelift_entity::EntityRef;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// What the functions of an instance see.
pub(super) struct Parts {
    pub(super) module: Arc<Module>,
    pub(super) memories: Vec<Rc<LinearMemory>>,
    pub(super) tables: Vec<Rc<TableCell>>,
    pub(super) globals: Vec<Rc<GlobalCell>>,
    /// Functions that are those of other instances.
    pub(super) functions: Vec<Option<(Rc<Parts>, FunctionId)>>,
    /// Data segments that are empty by now.
    pub(super) dropped_data: Rc<[Cell<bool>]>,
    /// Element segments that are empty by now.
    pub(super) dropped_elements: Rc<[Cell<bool>]>,
    /// The functions that references name; see [`Module::referenced`].
    pub(super) referenced: Rc<OnceCell<BTreeSet<FunctionId>>>,
    /// For the view of one thread of a workgroup: the instance. Functions of the instance in tables are its own.
    pub(super) of: Option<Weak<Parts>>,
}

impl Parts {
    /// The function with this number, and what it sees.
    pub(super) fn function(self: &Rc<Parts>, id: FunctionId) -> (Rc<Parts>, FunctionId) {
        self.functions[id.index()].clone().unwrap_or_else(|| (Rc::clone(self), id))
    }

    /// The function at a place of a table.
    pub(super) fn entry(
        self: &Rc<Parts>,
        table: TableId,
        place: u64,
    ) -> Result<(Rc<Parts>, FunctionId), Trap> {
        let entry = self.tables[table.index()].get(place)?.ok_or(Trap::UninitialisedElement)?;
        if self.of.as_ref().is_some_and(|of| of.ptr_eq(&entry.instance)) {
            return Ok((Rc::clone(self), entry.function));
        }
        Ok((entry.instance.upgrade().ok_or(Trap::UninitialisedElement)?, entry.function))
    }

    /// Copies from a data segment, of which nothing is left once it is dropped.
    pub(super) fn copy_data(
        &self,
        memory: MemoryId,
        data: &Data,
        copied: [u64; 3],
        dropped: bool,
    ) -> Result<(), Trap> {
        let [to, from, length] = copied;
        let bytes: &[u8] = if dropped { &[] } else { &data.bytes };
        let range = range(from, length, bytes.len(), Trap::MemoryOutOfBounds)?;
        self.memories[memory.index()].write(to, &bytes[range])
    }

    /// Copies from an element segment, of which nothing is left once it is dropped.
    pub(super) fn copy_elements(
        self: &Rc<Parts>,
        table: TableId,
        elements: &Elements,
        copied: [u64; 3],
        dropped: bool,
    ) -> Result<(), Trap> {
        let [to, from, length] = copied;
        let functions: &[Option<FunctionId>] = if dropped { &[] } else { &elements.functions };
        let range = range(from, length, functions.len(), Trap::TableOutOfBounds)?;
        let entries = (0..).zip(&functions[range]);
        let entries = entries
            .filter_map(|(distance, function)| Some((distance, self.entry_of((*function)?))))
            .collect();
        self.tables[table.index()].write(to, length, entries)
    }

    /// What a table holds for a function: it names the instance whose function it is, not the one that puts it there.
    fn entry_of(self: &Rc<Parts>, id: FunctionId) -> Entry {
        match &self.functions[id.index()] {
            Some((parts, function)) => Entry { instance: Rc::downgrade(parts), function: *function },
            None => {
                let instance = self.of.clone().unwrap_or_else(|| Rc::downgrade(self));
                Entry { instance, function: id }
            }
        }
    }

    /// What a table holds for a reference.
    pub(super) fn entry_of_reference(self: &Rc<Parts>, reference: u64) -> Result<Option<Entry>, Trap> {
        let reference = reference as u32;
        if reference == NULL_REFERENCE {
            return Ok(None);
        }
        let id = FunctionId::from_u32(reference);
        let referenced = self.referenced.get_or_init(|| self.module.referenced());
        if !referenced.contains(&id) {
            return Err(Trap::UndefinedElement);
        }
        Ok(Some(self.entry_of(id)))
    }

    /// The reference at a place of a table.
    pub(super) fn reference(self: &Rc<Parts>, table: TableId, place: u64) -> Result<u32, Trap> {
        let found = self.tables[table.index()].get(place).map_err(|_| Trap::TableOutOfBounds)?;
        let Some(entry) = found else { return Ok(NULL_REFERENCE) };
        let is_it = |id: &FunctionId| {
            let own = self.entry_of(*id);
            own.function == entry.function && own.instance.ptr_eq(&entry.instance)
        };
        let referenced = self.referenced.get_or_init(|| self.module.referenced());
        // Most often the number is the same.
        let own = referenced.get(&entry.function).filter(|id| is_it(id));
        let id = own.or_else(|| referenced.iter().find(|id| is_it(id))).ok_or(Trap::UndefinedElement)?;
        Ok(id.as_u32())
    }
}

/// A module with its memories, tables and global variables. A clone is the same instance.
///
/// The functions of an instance in a table are there as long as the instance.
#[derive(Clone)]
pub struct Instance {
    pub(super) parts: Rc<Parts>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("functions", &self.parts.module.functions.len())
            .finish_non_exhaustive()
    }
}

impl Instance {
    /// Makes an instance of a module that the verifier accepts: copies its segments and runs its start.
    ///
    /// # Errors
    /// A segment that does not fit, or a trap of the start.
    pub fn new(module: Arc<Module>) -> Result<Instance, Trapped> {
        Instance::linked(module, Linked::default(), &Limits::default())
    }

    /// As [`new`](Instance::new), with parts of other instances in place of its own, and bounds on its start. What was
    /// copied to a shared memory or table before an error stays there.
    ///
    /// # Errors
    /// A segment that does not fit, or a trap of the start.
    ///
    /// # Panics
    /// If something is linked to a number that the module has not.
    pub fn linked(module: Arc<Module>, linked: Linked, limits: &Limits) -> Result<Instance, Trapped> {
        let instance = Instance::unstarted(module, linked);
        instance.start(limits)?;
        Ok(instance)
    }

    /// An instance of which no segment is copied and no start has run. Who keeps it keeps its functions in the tables
    /// of others, also where [`start`](Instance::start) traps after it has put them there.
    ///
    /// # Panics
    /// If something is linked to a number that the module has not.
    pub fn unstarted(module: Arc<Module>, linked: Linked) -> Instance {
        let mut memories: Vec<_> = module.memories.values().map(LinearMemory::new).collect();
        for (id, memory) in linked.memories {
            memories[id.index()] = memory;
        }
        let mut tables: Vec<_> = module.tables.values().map(TableCell::new).collect();
        for (id, table) in linked.tables {
            tables[id.index()] = table;
        }
        let mut globals: Vec<_> =
            module.globals.values().map(|global| GlobalCell::new(global.initial)).collect();
        for (id, global) in linked.globals {
            globals[id.index()] = global;
        }
        let mut functions = vec![None; module.functions.len()];
        for (id, instance, function) in linked.functions {
            functions[id.index()] = Some(instance.parts.function(function));
        }
        let dropped_data = module.data.values().map(|data| Cell::new(data.at_start.is_some())).collect();
        let dropped_elements =
            module.elements.values().map(|elements| Cell::new(elements.at_start.is_some())).collect();
        let parts = Rc::new(Parts {
            module: Arc::clone(&module),
            memories,
            tables,
            globals,
            functions,
            dropped_data,
            dropped_elements,
            referenced: Rc::default(),
            of: None,
        });
        Instance { parts }
    }

    /// Copies the segments and runs the start.
    ///
    /// # Errors
    /// A segment that does not fit, or a trap of the start.
    pub fn start(&self, limits: &Limits) -> Result<(), Trapped> {
        self.copy_segments().map_err(|trap| Trapped { trap, function: None, place: Place::default() })?;
        if let Some(start) = self.parts.module.start {
            self.call(start, &[], limits)?;
        }
        Ok(())
    }

    fn copy_segments(&self) -> Result<(), Trap> {
        let parts = &self.parts;
        for elements in parts.module.elements.values() {
            if let Some((table, place)) = elements.at_start {
                let copied = [place.into(), 0, elements.functions.len() as u64];
                parts.copy_elements(table, elements, copied, false)?;
            }
        }
        for data in parts.module.data.values() {
            if let Some((memory, address)) = data.at_start {
                parts.copy_data(memory, data, [address.into(), 0, data.bytes.len() as u64], false)?;
            }
        }
        Ok(())
    }

    /// Calls a function in one thread: a workgroup of one thread, in a wave of one lane. Its private memory is that of
    /// the instance, so it stays from call to call. A thread that ends by an exit has no results.
    ///
    /// # Errors
    /// The trap that stops it.
    ///
    /// # Panics
    /// If the arguments are not those of its signature.
    pub fn call(
        &self,
        function: FunctionId,
        arguments: &[Constant],
        limits: &Limits,
    ) -> Result<Vec<Constant>, Trapped> {
        let mut thread = Thread::new(&self.parts, function, arguments, *limits, Registers::alone())?;
        loop {
            match thread.run(u64::MAX)? {
                Stop::Paused => {}
                Stop::Barrier => thread.resume(None),
                Stop::Wave(operation, operands) => {
                    let results = wave::apply(operation, &[Some(operands)]);
                    thread.resume(Some(results[0]));
                }
                Stop::Finished(results) => return Ok(results),
            }
        }
    }

    /// The module.
    pub fn module(&self) -> &Arc<Module> {
        &self.parts.module
    }

    /// A memory.
    pub fn memory(&self, memory: MemoryId) -> &Rc<LinearMemory> {
        &self.parts.memories[memory.index()]
    }

    /// A table.
    pub fn table(&self, table: TableId) -> &Rc<TableCell> {
        &self.parts.tables[table.index()]
    }

    /// A global variable.
    pub fn global(&self, global: GlobalId) -> &Rc<GlobalCell> {
        &self.parts.globals[global.index()]
    }

    /// What a thread of a workgroup sees of it: the same but for global variables, local memories and private ones,
    /// which are new. Memories do not grow.
    pub(super) fn view(&self, local: &[Rc<LinearMemory>]) -> Rc<Parts> {
        let parts = &self.parts;
        let mut memories = parts.memories.clone();
        let of_workgroup =
            parts.module.memories.iter().filter(|(_, memory)| memory.space == Space::Local).map(|(id, _)| id);
        for (id, memory) in of_workgroup.zip(local) {
            memories[id.index()] = Rc::clone(memory);
        }
        for (id, memory) in parts.module.memories.iter().filter(|(_, memory)| memory.space == Space::Private)
        {
            memories[id.index()] = LinearMemory::new(memory);
        }
        Rc::new(Parts {
            module: Arc::clone(&parts.module),
            memories,
            tables: parts.tables.clone(),
            globals: parts.globals.iter().map(|global| GlobalCell::new(global.get())).collect(),
            functions: parts.functions.clone(),
            dropped_data: Rc::clone(&parts.dropped_data),
            dropped_elements: Rc::clone(&parts.dropped_elements),
            referenced: Rc::clone(&parts.referenced),
            of: Some(Rc::downgrade(parts)),
        })
    }
}
