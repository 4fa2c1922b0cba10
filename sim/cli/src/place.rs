//! Where something is, in words: instructions, source lines, waves.

use std::collections::BTreeMap;
use std::path::Path;
use wave_isa::WORD_BYTES;
use wave_isa::number::ranges;
use wave_isa::program::dis::instruction_text;
use wave_isa::program::structure::instruction_words;
use wave_isa::program::{Program, SourceMap};
use wave_machine::core::report::WaveReport;
use wave_study::timeline::WaveSlot;

/// The file name of a source, without its folders.
pub(crate) fn file_name(source: &SourceMap) -> &str {
    Path::new(&source.file).file_name().and_then(|name| name.to_str()).unwrap_or(&source.file)
}

/// The line of the instruction at a byte offset of the code section; 0 if there is none.
pub(crate) fn line_number(source: &SourceMap, pc: u32) -> u32 {
    source.lines.get((pc / WORD_BYTES) as usize).copied().unwrap_or(0)
}

/// True if the user can mean this source by `file`.
pub(crate) fn is_named(source: &SourceMap, file: &str) -> bool {
    file == file_name(source) || file == source.file
}

/// File and line of an instruction; `None` without a source.
pub(crate) fn line(program: &Program, pc: u32) -> Option<String> {
    let source = program.source.as_ref()?;
    let (line, _) = source.line_of_word(pc / WORD_BYTES)?;
    Some(format!("{}:{line}", file_name(source)))
}

/// An instruction with its place: `k.wave:12 pc 0x28: iadd r1, r2, r3`.
pub(crate) fn at(program: &Program, pc: u32) -> String {
    let text = instruction_text(program, pc / WORD_BYTES);
    let text = text.as_deref().unwrap_or("the end of the code");
    match line(program, pc) {
        Some(line) => format!("{line} pc 0x{pc:x}: {text}"),
        None => format!("pc 0x{pc:x}: {text}"),
    }
}

/// The byte offset of every instruction, with the index of its kernel.
pub(crate) fn instruction_starts(program: &Program) -> BTreeMap<u32, usize> {
    let mut starts = BTreeMap::new();
    for (index, kernel) in program.kernels.iter().enumerate() {
        let mut word = kernel.code.start;
        while word < kernel.code.end {
            starts.insert(word * WORD_BYTES, index);
            word += instruction_words(program.code[word as usize]);
        }
    }
    starts
}

/// A wave slot as users write it.
pub(crate) fn slot((core, slot): WaveSlot) -> String {
    format!("{core}:{slot}")
}

/// A resident wave: `wave 0:3 (workgroup 0,0,0 wave 3)`.
pub(crate) fn wave(report: &WaveReport) -> String {
    let [x, y, z] = report.workgroup;
    format!("wave {} (workgroup {x},{y},{z} wave {})", slot((report.core, report.slot)), report.wave)
}

/// Lanes of a mask: `0-3,7`.
pub(crate) fn lanes(mask: u64) -> String {
    match mask {
        0 => "none".to_owned(),
        mask => ranges(mask).join(","),
    }
}
