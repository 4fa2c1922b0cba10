//! Reads a module through its sections of NanoWasm.

use super::Section;
use super::layout::Layout;
use super::tables::Tables;
use super::verify::check_those_there;
use crate::wasm::Error;
use crate::wasm::module::{Sections, function_types};
use wasmparser::{BinaryReader, FunctionBody};

/// Takes types, types of functions, imports, bodies and ends of constructs of a valid module from where its sections
/// of NanoWasm say that they are.
///
/// # Errors
/// A section that is wrong.
pub(in crate::wasm) fn read<'a>(sections: &mut Sections<'a>, bytes: &'a [u8]) -> Result<(), Error> {
    let tables = std::mem::take(&mut sections.nanowasm);
    if tables.is_empty() {
        return Ok(());
    }
    let layout = Layout::of(bytes)?;
    check_those_there(&tables, &layout)?;
    replace(sections, bytes, &tables, &layout)
}

/// Replaces what was read in the order of the bytes. Of the layout only the places are used from which offsets count.
fn replace<'a>(
    sections: &mut Sections<'a>,
    bytes: &'a [u8],
    tables: &Tables<'a>,
    layout: &Layout,
) -> Result<(), Error> {
    let reader = |first: u64, offset: u32| {
        let place = first + u64::from(offset);
        BinaryReader::new(bytes.get(place as usize..).unwrap_or_default(), place)
    };
    if let Some(table) = tables.get(Section::Types) {
        sections.types.clear();
        for offset in table.numbers() {
            sections.types.extend(function_types(reader(layout.types.first, offset).read()?));
        }
    }
    if let Some(table) = tables.get(Section::FunctionTypes) {
        sections.functions = table.numbers().collect();
    }
    if let Some(table) = tables.get(Section::Imports) {
        for ((_, import), offset) in sections.imports.iter_mut().zip(table.numbers()) {
            import.ty = reader(layout.imports.first, offset).read()?;
        }
    }
    if let Some(table) = tables.get(Section::Bodies) {
        for ((body, _), offset) in sections.bodies.iter_mut().zip(table.numbers()) {
            *body = FunctionBody::new(reader(layout.bodies.first, offset).read_reader()?);
        }
    }
    for (function, (_, scan)) in sections.bodies.iter_mut().enumerate() {
        if let Some(labels) = tables.labels(function) {
            let start = (layout.bodies.first as u32).wrapping_add(layout.bodies.offsets[function]);
            scan.ends = labels.map(|[_, end]| start.wrapping_add(end)).collect();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wasm::{Features, encode};

    /// The sections of a module are wrong here, so that one sees that they are what is read.
    #[test]
    fn what_the_sections_say_is_what_is_read() {
        let text = "(module
            (type (func (param i32))) (type (func (param i64)))
            (import \"a\" \"f\" (func (type 0))) (import \"a\" \"g\" (func (type 1)))
            (func (type 0) block end) (func (type 1) loop end))";
        let module = encode("test.wat", text).expect("it is text");
        let module = super::super::annotate(&module).expect("it is valid");
        let layout = Layout::of(&module).expect("it is valid");
        let plain = Sections::valid(&module, Features::Taken).expect("it is valid");
        let mut tables = Tables::default();
        let swapped =
            |numbers: &[u32]| numbers.iter().rev().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let contents = [Section::Types, Section::FunctionTypes, Section::Imports, Section::Bodies]
            .map(|section| (section, swapped(layout.numbers(section))));
        for (section, content) in &contents {
            tables.add(section.name(), content, 0);
        }
        let [first, second] = [0, 1].map(|function| layout.labels[function][0]);
        let labels = [8, 20, 1, first[0], first[1] + 1, 1, second[0], second[1] + 2];
        let labels: Vec<u8> = labels.iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        tables.add("nw_lo", &labels, 0);
        let mut read = Sections::valid(&module, Features::Taken).expect("it is valid");
        replace(&mut read, &module, &tables, &layout).expect("the places are right");
        assert_eq!(read.types, [plain.types[1].clone(), plain.types[0].clone()]);
        assert_eq!(read.functions, [plain.functions[1], plain.functions[0]]);
        assert_eq!(read.imports[0].1.ty, plain.imports[1].1.ty);
        assert_eq!(read.imports[1].1.ty, plain.imports[0].1.ty);
        assert_eq!(read.bodies[0].0.range(), plain.bodies[1].0.range());
        assert_eq!(read.bodies[0].1.ends, [plain.bodies[0].1.ends[0] + 1]);
        assert_eq!(read.bodies[1].1.ends, [plain.bodies[1].1.ends[0] + 2]);
    }
}
