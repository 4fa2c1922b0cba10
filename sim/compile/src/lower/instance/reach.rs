//! What a function reaches.

use crate::ir::{
    DataId, ElementsId, FunctionId, GlobalId, MemoryId, Module, Operation, Signature, Space, TableId,
};
use cranelift_entity::EntitySet;
use std::collections::BTreeSet;

/// What functions reach, themselves and through others.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Functions, each once.
    pub(super) functions: Vec<FunctionId>,
    /// Device memories.
    pub(super) memories: BTreeSet<MemoryId>,
    /// Those of them that may grow.
    pub(super) grown: BTreeSet<MemoryId>,
    pub(super) tables: BTreeSet<TableId>,
    /// Those of them that may grow.
    pub(super) grown_tables: BTreeSet<TableId>,
    /// Whether references are read or written.
    pub(super) references: bool,
    pub(super) globals: EntitySet<GlobalId>,
    /// Data segments that are copied from.
    pub(super) data: BTreeSet<DataId>,
    /// Element segments that are copied from.
    pub(super) elements: BTreeSet<ElementsId>,
    /// Functions that a table may hold: those of one signature side by side.
    pub(super) in_tables: Vec<FunctionId>,
}

pub(super) fn reach(module: &Module, roots: &[Option<FunctionId>]) -> Reached {
    let mut reached = Reached::default();
    let mut seen: EntitySet<FunctionId> = EntitySet::new();
    let mut work: Vec<FunctionId> = roots.iter().flatten().copied().collect();
    let mut called: BTreeSet<usize> = BTreeSet::new();
    let mut candidates = in_tables(module);
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        reached.functions.push(id);
        let blocks = module.functions[id].blocks.values();
        for instruction in blocks.flat_map(|body| &body.instructions) {
            match &instruction.operation {
                Operation::Call(callee, _) => work.push(*callee),
                Operation::CallIndirect(table, signature, ..) => {
                    reached.tables.insert(*table);
                    let signature = &module.signatures[*signature];
                    for (number, &id) in candidates.iter().enumerate() {
                        if module.functions[id].signature == *signature && called.insert(number) {
                            work.push(id);
                        }
                    }
                }
                operation => reached.note(module, operation),
            }
        }
    }
    if reached.tables.is_empty() {
        candidates.clear();
    }
    reached.in_tables = candidates;
    reached
}

impl Reached {
    fn note(&mut self, module: &Module, operation: &Operation) {
        if let Operation::MemoryGrow(id, _) = operation {
            self.grown.insert(*id);
        }
        let mut memory = |id: MemoryId| {
            if module.memories[id].space == Space::Device {
                self.memories.insert(id);
            }
        };
        match operation {
            Operation::Load(access, _)
            | Operation::Store(access, _)
            | Operation::Atomic(_, access, ..)
            | Operation::CompareExchange(access, ..) => memory(access.memory),
            Operation::MemorySize(id) | Operation::MemoryGrow(id, _) | Operation::MemoryFill(id, _) => {
                memory(*id)
            }
            Operation::MemoryCopy(ids, _) => ids.iter().for_each(|&id| memory(id)),
            Operation::MemoryInit(id, data, _) => {
                memory(*id);
                self.data.insert(*data);
            }
            Operation::DataDrop(data) => _ = self.data.insert(*data),
            Operation::TableCopy(tables, _) => self.tables.extend(tables),
            Operation::TableInit(table, elements, _) => {
                self.tables.insert(*table);
                self.elements.insert(*elements);
            }
            Operation::ElementsDrop(elements) => _ = self.elements.insert(*elements),
            Operation::TableGet(table, _)
            | Operation::TableSet(table, _)
            | Operation::TableFill(table, _) => {
                self.tables.insert(*table);
                self.references = true;
            }
            Operation::TableGrow(table, _) => {
                self.tables.insert(*table);
                self.grown_tables.insert(*table);
                self.references = true;
            }
            Operation::TableSize(table) => _ = self.tables.insert(*table),
            Operation::GlobalGet(global) | Operation::GlobalSet(global, _) => {
                _ = self.globals.insert(*global)
            }
            _ => {}
        }
    }
}

/// The functions that tables may hold, those of one signature side by side.
fn in_tables(module: &Module) -> Vec<FunctionId> {
    let mut signatures: Vec<&Signature> = Vec::new();
    let mut sorted: Vec<(usize, FunctionId)> = Vec::new();
    for id in module.referenced() {
        let signature = &module.functions[id].signature;
        let place = signatures.iter().position(|&other| other == signature).unwrap_or_else(|| {
            signatures.push(signature);
            signatures.len() - 1
        });
        sorted.push((place, id));
    }
    sorted.sort();
    sorted.into_iter().map(|(_, id)| id).collect()
}
