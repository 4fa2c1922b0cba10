//! An instance as the host keeps it between calls.

use crate::ir::{
    Constant, DataId, Elements, ElementsId, FunctionId, GlobalId, MemoryId, Module, TableId, Trap,
};
use cranelift_entity::PrimaryMap;
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableState {
    /// Its places.
    pub places: u64,
    /// The places that are filled.
    pub filled: BTreeMap<u64, FunctionId>,
}

/// What an instance holds: what its module declares, and what calls made of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Bytes of the memories.
    pub memories: PrimaryMap<MemoryId, Vec<u8>>,
    /// Tables.
    pub tables: PrimaryMap<TableId, TableState>,
    /// Global variables.
    pub globals: PrimaryMap<GlobalId, Constant>,
    /// Data segments of which nothing is left.
    pub dropped_data: SecondaryMap<DataId, bool>,
    /// Element segments of which nothing is left.
    pub dropped_elements: SecondaryMap<ElementsId, bool>,
}

impl State {
    /// The state of a module before its start, with its segments copied.
    ///
    /// # Errors
    /// A segment that does not fit.
    pub fn new(module: &Module) -> Result<State, Trap> {
        let mut state = State::default();
        state.extend(module);
        let (elements, data) =
            (module.elements.keys().collect::<Vec<_>>(), module.data.keys().collect::<Vec<_>>());
        state.copy_segments(module, &elements, &data)?;
        Ok(state)
    }

    /// Adds what the module has beyond what is here, with its values at the start.
    pub fn extend(&mut self, module: &Module) {
        for memory in module.memories.values().skip(self.memories.len()) {
            self.memories.push(vec![0; memory.bytes() as usize]);
        }
        for table in module.tables.values().skip(self.tables.len()) {
            self.tables.push(TableState { places: table.places, filled: BTreeMap::new() });
        }
        for global in module.globals.values().skip(self.globals.len()) {
            self.globals.push(global.initial);
        }
    }

    /// Copies segments that are copied at the start, and drops them. What was copied before an error stays.
    ///
    /// # Errors
    /// A segment that does not fit.
    pub fn copy_segments(
        &mut self,
        module: &Module,
        elements: &[ElementsId],
        data: &[DataId],
    ) -> Result<(), Trap> {
        for &id in elements {
            let Elements { functions, at_start } = &module.elements[id];
            let Some((table, place)) = *at_start else { continue };
            self.dropped_elements[id] = true;
            let table = &mut self.tables[table];
            let place = u64::from(place);
            if place + functions.len() as u64 > table.places {
                return Err(Trap::TableOutOfBounds);
            }
            for (at, function) in (place..).zip(functions) {
                match function {
                    Some(function) => _ = table.filled.insert(at, *function),
                    None => _ = table.filled.remove(&at),
                }
            }
        }
        for &id in data {
            let segment = &module.data[id];
            let Some((memory, address)) = segment.at_start else { continue };
            self.dropped_data[id] = true;
            let start = address as usize;
            let to = self.memories[memory].get_mut(start..start + segment.bytes.len());
            to.ok_or(Trap::MemoryOutOfBounds)?.copy_from_slice(&segment.bytes);
        }
        Ok(())
    }
}
