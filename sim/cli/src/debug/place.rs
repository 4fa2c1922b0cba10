//! Where something is, in words: instructions, source lines, waves.

use std::collections::BTreeMap;
use std::path::Path;
use wave_isa::program::dis::{Labels, disassemble_inst};
use wave_isa::program::structure::instruction_words;
use wave_isa::program::{Program, SourceMap};
use wave_isa::{Inst, WORD_BYTES};
use wave_machine::core::report::WaveReport;
use wave_study::timeline::WaveSlot;

/// The instruction at a byte offset of the code section.
pub(super) fn instruction(program: &Program, pc: u32) -> String {
    let word = (pc / WORD_BYTES) as usize;
    let code = program.code.get(word..).unwrap_or_default();
    match (Inst::decode(code), code.first()) {
        (Ok(inst), _) => disassemble_inst(&inst, &Labels::new()),
        (Err(_), Some(word)) => format!(".word 0x{word:08x}"),
        (Err(_), None) => "the end of the code".to_owned(),
    }
}

/// The file name of a source, without its folders.
pub(crate) fn file_name(source: &SourceMap) -> &str {
    Path::new(&source.file).file_name().and_then(|name| name.to_str()).unwrap_or(&source.file)
}

/// File and line of an instruction; `None` without a source.
pub(super) fn line(program: &Program, pc: u32) -> Option<String> {
    let source = program.source.as_ref()?;
    let (line, _) = source.line_of_word(pc / WORD_BYTES)?;
    Some(format!("{}:{line}", file_name(source)))
}

/// An instruction with its place: `k.wave:12 pc 0x28: iadd r1, r2, r3`.
pub(crate) fn at(program: &Program, pc: u32) -> String {
    let text = instruction(program, pc);
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
pub(super) fn slot((core, slot): WaveSlot) -> String {
    format!("{core}:{slot}")
}

/// A resident wave: `wave 0:3 (workgroup 0,0,0 wave 3)`.
pub(super) fn wave(report: &WaveReport) -> String {
    let [x, y, z] = report.workgroup;
    format!("wave {} (workgroup {x},{y},{z} wave {})", slot((report.core, report.slot)), report.wave)
}

/// Lanes of a mask: `0-3,7`.
pub(super) fn lanes(mask: u64) -> String {
    let mut runs = Vec::new();
    let mut rest = mask;
    while rest != 0 {
        let first = rest.trailing_zeros();
        let length = (rest >> first).trailing_ones();
        let last = first + length - 1;
        runs.push(if length == 1 { first.to_string() } else { format!("{first}-{last}") });
        rest &= !(u64::MAX >> (64 - length) << first);
    }
    if runs.is_empty() { "none".to_owned() } else { runs.join(",") }
}
