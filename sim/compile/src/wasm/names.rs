//! Names of functions and globals, from the custom section `name`.

use std::collections::HashMap;
use wasmparser::{BinaryReader, Name, NameMap, NameSectionReader, Parser, Payload};

/// Names by index. What a name section has wrong is passed over: it is no part of the program.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) functions: HashMap<u32, String>,
    pub(super) globals: HashMap<u32, String>,
}

impl Names {
    /// The names of a module, which may be wrong elsewhere.
    pub(super) fn of(bytes: &[u8]) -> Names {
        let mut names = Names::default();
        for payload in Parser::new(0).parse_all(bytes) {
            match payload {
                Ok(Payload::CustomSection(section)) if section.name() == "name" => {
                    names.read(BinaryReader::new(section.data(), section.data_offset()));
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        names
    }

    fn read(&mut self, reader: BinaryReader<'_>) {
        for subsection in NameSectionReader::new(reader).map_while(Result::ok) {
            match subsection {
                Name::Function(map) => fill(&mut self.functions, map),
                Name::Global(map) => fill(&mut self.globals, map),
                _ => {}
            }
        }
    }

    /// A function for messages.
    pub(super) fn function(&self, index: u32) -> String {
        match self.functions.get(&index) {
            Some(name) => format!("{index} (`{name}`)"),
            None => index.to_string(),
        }
    }
}

fn fill(names: &mut HashMap<u32, String>, map: NameMap<'_>) {
    for naming in map.names.map_while(Result::ok) {
        names.insert(naming.index, naming.name.to_owned());
    }
}
