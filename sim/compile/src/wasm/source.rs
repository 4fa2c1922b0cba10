//! Where code comes from: lines of the source, from DWARF.
//!
//! The line of a place is that of the innermost function, which may be in a header. If that function was inlined, the
//! place also has the line of the call, and of the call of the caller, and so on: [`SourceMap::lines`]. A reader of one
//! file wants the first of these that is in the file: [`SourceMap::line_in`]. Code that the compiler made up has no line
//! of its own (DWARF says line 0): it gets the line of the call that it was inlined for, if there is one.

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

/// A row of a line table that is no DWARF. Lines are numbers of a file, of a line and of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceRow {
    /// The place that it holds from.
    pub(crate) start: Place,
    /// Its line.
    pub(crate) line: Option<(u32, u32, u32)>,
    /// Calls that the code was inlined for, the innermost first.
    pub(crate) calls: Vec<(u32, u32, u32)>,
}

/// A row of the line table: it holds up to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    /// Byte of the file.
    offset: u64,
    /// Number of the file, line and column; `None` where code ends.
    line: Option<(u32, u32, u32)>,
}

/// Code of a function that was inlined. One that lies inside another is that of a function that the other calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Inlined {
    /// First byte of the file, and the byte behind the last.
    start: u64,
    end: u64,
    /// File, line and column of the call.
    call: (u32, u32, u32),
    /// The one around it.
    outer: Option<u32>,
}

/// Lines of the code of a module. What the debugging information has wrong is passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: Vec<String>,
    rows: Vec<Row>,
    /// In the order of their first bytes, outer ones before inner ones.
    inlined: Vec<Inlined>,
}

impl SourceMap {
    /// Reads the custom sections of a module. Addresses in them count from the content of the code section, which
    /// begins at byte `code`.
    pub(super) fn new(sections: &HashMap<&str, &[u8]>, code: u64) -> SourceMap {
        let mut map = SourceMap::default();
        if sections.contains_key(".debug_line") {
            // What was read before an error stays.
            let mut numbers = HashMap::new();
            let _ = map.read(sections, code, &mut numbers);
            map.rows.sort_by_key(|row| (row.offset, row.line.is_some()));
            map.nest();
        }
        map
    }

    /// A map of rows in the order of their places: the place that each holds from, its line, and the calls that it was
    /// inlined for, the innermost first. A row without a line ends the code before it.
    pub(crate) fn of_rows(files: Vec<String>, rows: &[SourceRow]) -> SourceMap {
        let mut map = SourceMap { files, ..SourceMap::default() };
        for (number, row) in rows.iter().enumerate() {
            let end = rows.get(number + 1).map_or(u64::MAX, |next| u64::from(next.start.0));
            let start = u64::from(row.start.0);
            map.rows.push(Row { offset: start, line: row.line });
            let calls = row.calls.iter().rev();
            map.inlined.extend(calls.map(|&call| Inlined { start, end, call, outer: None }));
        }
        map.nest();
        map
    }

    fn read(
        &mut self,
        sections: &HashMap<&str, &[u8]>,
        code: u64,
        numbers: &mut HashMap<String, u32>,
    ) -> gimli::Result<()> {
        let dwarf = Dwarf::load(|id| {
            let bytes = sections.get(id.name()).copied().unwrap_or_default();
            Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
        })?;
        let mut units = dwarf.units();
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
                        let path = path(&dwarf, &unit, header, row.file(header))?;
                        let file = self.file(path, numbers);
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
            self.read_inlined(&dwarf, &unit, code, numbers)?;
        }
        Ok(())
    }

    /// The number of a file.
    fn file(&mut self, path: String, numbers: &mut HashMap<String, u32>) -> u32 {
        let next = self.files.len() as u32;
        let file = *numbers.entry(path.clone()).or_insert(next);
        if file == next {
            self.files.push(path);
        }
        file
    }

    /// Reads which functions of a unit were inlined where.
    fn read_inlined<R: Reader>(
        &mut self,
        dwarf: &Dwarf<R>,
        unit: &gimli::Unit<R>,
        code: u64,
        numbers: &mut HashMap<String, u32>,
    ) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() != gimli::DW_TAG_inlined_subroutine {
                continue;
            }
            let number = |name| entry.attr_value(name).and_then(|value| value.udata_value()).unwrap_or(0);
            let file = match entry.attr_value(gimli::DW_AT_call_file) {
                Some(gimli::AttributeValue::FileIndex(file)) => file,
                _ => number(gimli::DW_AT_call_file),
            };
            let line = number(gimli::DW_AT_call_line) as u32;
            if line == 0 {
                continue;
            }
            let path = path(dwarf, unit, program.header(), program.header().file(file))?;
            let call = (self.file(path, numbers), line, number(gimli::DW_AT_call_column) as u32);
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                let [start, end] = [range.begin, range.end].map(|address| code.saturating_add(address));
                if start < end {
                    self.inlined.push(Inlined { start, end, call, outer: None });
                }
            }
        }
        Ok(())
    }

    /// Finds out which inlined function lies in which.
    fn nest(&mut self) {
        // The sort is stable: of two of the same bytes the outer one was read first.
        self.inlined.sort_by_key(|inlined| (inlined.start, std::cmp::Reverse(inlined.end)));
        let mut open: Vec<u32> = Vec::new();
        for index in 0..self.inlined.len() {
            let start = self.inlined[index].start;
            while open.last().is_some_and(|&outer| self.inlined[outer as usize].end <= start) {
                open.pop();
            }
            self.inlined[index].outer = open.last().copied();
            open.push(index as u32);
        }
    }

    /// True if no line is known.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The files that have lines.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The line that a place of the module comes from: that of the innermost function.
    pub fn line(&self, place: Place) -> Option<Line<'_>> {
        self.lines(place).next()
    }

    /// The first of [`lines`](SourceMap::lines) that is in a file: for code of a function of another file, such as a
    /// header, the call that it was inlined for.
    pub fn line_in(&self, place: Place, file: &str) -> Option<Line<'_>> {
        self.lines(place).find(|line| line.file == file)
    }

    /// The lines that a place of the module comes from: that of the innermost function, then of its call if it was
    /// inlined, then of the call of the caller, and so on.
    pub fn lines(&self, place: Place) -> impl Iterator<Item = Line<'_>> {
        let place = u64::from(place.0);
        let row = self.rows[..self.rows.partition_point(|row| row.offset <= place)].last();
        let own = row.and_then(|row| row.line);
        let around = |inlined: Option<u32>| {
            std::iter::successors(inlined, |&inner| self.inlined[inner as usize].outer)
                .map(|index| &self.inlined[index as usize])
        };
        let before = self.inlined.partition_point(|inlined| inlined.start <= place);
        let calls = around(before.checked_sub(1).map(|last| last as u32))
            .filter(move |inlined| inlined.end > place)
            .map(|inlined| inlined.call);
        own.into_iter().chain(calls).map(|(file, line, column)| Line {
            file: &self.files[file as usize],
            line,
            column,
        })
    }
}

/// Path of a file: as the compiler was given it, with the directory if that is not the one of the unit.
fn path<R: Reader>(
    dwarf: &Dwarf<R>,
    unit: &gimli::Unit<R>,
    header: &gimli::LineProgramHeader<R>,
    file: Option<&gimli::FileEntry<R>>,
) -> gimli::Result<String> {
    let Some(file) = file else { return Ok("unknown".to_owned()) };
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
