//! Where code comes from: lines of the source, from DWARF.

use crate::ir::Place;
use gimli::{Dwarf, EndianSlice, LittleEndian, Reader};
use std::collections::HashMap;

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Path of the file, as the compiler was given it.
    pub file: &'a str,
    /// 1-based line.
    pub line: u32,
    /// 1-based column; 0 if the compiler said none.
    pub column: u32,
}

/// A row of the line table: it holds up to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    /// Byte of the file.
    offset: u64,
    /// Number of the file, line and column; `None` where code ends.
    line: Option<(u32, u32, u32)>,
}

/// Lines of the code of a module. What the debugging information has wrong is passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: Vec<String>,
    rows: Vec<Row>,
}

impl SourceMap {
    /// Reads the custom sections of a module. Addresses in them count from the content of the code section, which
    /// begins at byte `code`.
    pub(super) fn new(sections: &HashMap<&str, &[u8]>, code: u64) -> SourceMap {
        let mut map = SourceMap::default();
        if sections.contains_key(".debug_line") {
            // The rows that were read before an error stay.
            let _ = map.read(sections, code);
            map.rows.sort_by_key(|row| (row.offset, row.line.is_some()));
        }
        map
    }

    fn read(&mut self, sections: &HashMap<&str, &[u8]>, code: u64) -> gimli::Result<()> {
        let dwarf = Dwarf::load(|id| {
            let bytes = sections.get(id.name()).copied().unwrap_or_default();
            Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
        })?;
        let mut units = dwarf.units();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            let Some(program) = unit.line_program.clone() else { continue };
            let mut files: HashMap<u64, u32> = HashMap::new();
            let mut rows = program.rows();
            while let Some((header, row)) = rows.next_row()? {
                let offset = code.saturating_add(row.address());
                if row.end_sequence() {
                    self.rows.push(Row { offset, line: None });
                    continue;
                }
                let file = match files.get(&row.file_index()) {
                    Some(&file) => file,
                    None => {
                        let path = path(&dwarf, &unit, header, row)?;
                        let next = self.files.len() as u32;
                        let file = *numbers.entry(path.clone()).or_insert(next);
                        if file == next {
                            self.files.push(path);
                        }
                        files.insert(row.file_index(), file);
                        file
                    }
                };
                let column = match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => column.get() as u32,
                };
                // Line 0 is code that the compiler made up.
                let line = row.line().map(|line| (file, line.get() as u32, column));
                self.rows.push(Row { offset, line });
            }
        }
        Ok(())
    }

    /// True if no line is known.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The files that have lines.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The line that a place of the module comes from.
    pub fn line(&self, place: Place) -> Option<Line<'_>> {
        let after = self.rows.partition_point(|row| row.offset <= u64::from(place.0));
        let (file, line, column) = self.rows[..after].last()?.line?;
        Some(Line { file: &self.files[file as usize], line, column })
    }
}

/// Path of the file of a row: as the compiler was given it, with the directory if that is not the one of the unit.
fn path<R: Reader>(
    dwarf: &Dwarf<R>,
    unit: &gimli::Unit<R>,
    header: &gimli::LineProgramHeader<R>,
    row: &gimli::LineRow,
) -> gimli::Result<String> {
    let Some(file) = row.file(header) else { return Ok("unknown".to_owned()) };
    let name = dwarf.attr_string(unit, file.path_name())?.to_string_lossy()?.into_owned();
    let is_own = file.directory_index() == 0;
    match file.directory(header) {
        Some(directory) if !is_own && !name.starts_with('/') => {
            let directory = dwarf.attr_string(unit, directory)?.to_string_lossy()?.into_owned();
            Ok(format!("{directory}/{name}"))
        }
        _ => Ok(name),
    }
}
