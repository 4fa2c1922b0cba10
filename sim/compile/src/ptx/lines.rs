//! Lines of the source, as `.file` and `.loc` state them.

use super::tree::{LocRow, SourcePlace, Tree};
use crate::ir::Place;
use crate::wasm::{SourceMap, SourceRow};
use std::collections::HashMap;

/// Most calls inside one another that a row names.
const DEEPEST: usize = 64;

/// The lines of a module.
pub(super) fn source_map(tree: &Tree) -> SourceMap {
    let mut files = Vec::new();
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    for (number, path) in &tree.files {
        numbers.insert(*number, files.len() as u32);
        files.push(path.clone());
    }
    // Line 0 is code that the compiler made up.
    let numbered = |(file, line, column): SourcePlace| {
        numbers.get(&file).filter(|_| line > 0).map(|&file| (file, line, column))
    };
    let bodies = tree.functions.iter().filter(|one| !one.is_library).filter_map(|one| one.body.as_ref());
    let mut rows = Vec::new();
    for body in bodies.filter(|body| !body.lines.is_empty()) {
        // The place of a call may be that of code that was inlined itself, by an earlier row.
        let mut calls: HashMap<SourcePlace, SourcePlace> = HashMap::new();
        for LocRow { at, place, call } in &body.lines {
            calls.extend(call.map(|call| (*place, call)));
            let around = std::iter::successors(*call, |place| calls.get(place).copied()).take(DEEPEST);
            rows.push(SourceRow {
                start: Place(*at as u32 + 1),
                line: numbered(*place),
                calls: around.filter_map(numbered).collect(),
            });
        }
        rows.push(SourceRow { start: Place(body.end as u32 + 1), line: None, calls: Vec::new() });
    }
    rows.sort_by_key(|row| row.start);
    SourceMap::of_rows(files, &rows)
}
