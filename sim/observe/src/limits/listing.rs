//! Instructions of the kernels that ran: assembly text, source line, and counts from the profile.

use super::profile::{Line, Profile};
use crate::figures::ratio;
use crate::numbers::short;
use wave_isa::program::dis::Labels;
use wave_isa::program::structure::Structure;
use wave_isa::program::{Program, disassemble_inst};
use wave_isa::table::{AccessKind, Op, Space};
use wave_isa::{MMA_DIM, WORD_BYTES};
use wave_machine::config::Config;

/// An instruction counts as scattered if it makes more than this many times the accesses needed.
pub const MANY: f64 = 1.5;

/// An instruction of a kernel with its counts.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Index of the kernel in the program.
    pub kernel: usize,
    /// Index of its first word in the kernel.
    pub word: u32,
    /// Byte offset in the code section.
    pub pc: u32,
    /// Assembly text.
    pub text: String,
    /// Number and text of its source line.
    pub source: Option<(u32, String)>,
    /// Operation; none if the word is not an instruction.
    pub op: Option<Op>,
    /// Number of control constructs around it.
    pub depth: u32,
    /// Counts of the profile.
    pub line: Line,
}

impl Instruction {
    /// True if it accesses `space`.
    pub fn accesses(&self, space: Space) -> bool {
        self.op.and_then(Op::memory).is_some_and(|memory| memory.space == space)
    }

    /// True for a device load or atomic: L1 and L2 respond to it.
    pub fn is_load(&self) -> bool {
        self.op.and_then(Op::memory).is_some_and(|memory| memory.kind != AccessKind::Store)
    }

    /// Remark of its source line: the comment, or the whole line if its code differs from the assembly text.
    pub fn remark(&self) -> Option<&str> {
        let (_, source) = self.source.as_ref()?;
        let (code, comment) = source.split_at(source.find([';', '#']).unwrap_or(source.len()));
        let squeeze =
            |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect::<String>();
        let remark = if squeeze(code) == squeeze(&self.text) { comment } else { source };
        let remark = remark.trim_start_matches([';', '#', ' ']).trim_end();
        (!remark.is_empty()).then_some(remark)
    }

    /// Accesses needed if consecutive lanes accessed consecutive bytes: lines for device memory, passes over
    /// the banks for local memory.
    pub fn least_lines(&self, config: &Config) -> Option<f64> {
        let memory = self.op.and_then(Op::memory)?;
        let bytes = ratio(self.line.lanes, self.line.issues()) * f64::from(memory.bytes);
        let at_once = match memory.space {
            Space::Device => config.core.l1.line_bytes,
            Space::Local => config.core.local.banks * config.core.local.bank_bytes,
        };
        let rows = if memory.kind == AccessKind::Tile { MMA_DIM as f64 } else { 1.0 };
        Some(rows * (bytes / f64::from(at_once)).ceil().max(1.0))
    }

    /// Mean number of lines or passes per issue. None if it accessed nothing.
    pub fn lines_each(&self) -> Option<f64> {
        match (self.line.line_accesses(), self.line.local_accesses) {
            (0, 0) => None,
            (0, n) => Some(ratio(self.line.local_passes, n)),
            (n, _) => Some(ratio(n, self.line.issues())),
        }
    }

    /// Lines or passes made and needed, in words, if it is scattered.
    pub fn scattered(&self, config: &Config) -> Option<String> {
        let (each, least) = self.lines_each().zip(self.least_lines(config))?;
        let what = if self.line.local_accesses > 0 { "passes over the banks" } else { "lines" };
        (each > MANY * least).then(|| format!("{} {what} each where {} would do", short(each), short(least)))
    }

    /// Mean number of bytes used of each device memory line, in words. None for local memory and for tiles.
    pub(crate) fn bytes_of_line(&self, config: &Config) -> Option<String> {
        let memory = self.op.and_then(Op::memory).filter(|memory| memory.kind != AccessKind::Tile)?;
        if memory.space != Space::Device {
            return None;
        }
        let lanes = ratio(self.line.lanes, self.line.line_accesses());
        let bytes = short(lanes * f64::from(memory.bytes));
        Some(format!("{bytes} bytes of each line of {}", config.core.l1.line_bytes))
    }

    /// "line 12", or its pc if there is no source.
    pub fn place(&self) -> String {
        match &self.source {
            Some((line, _)) => format!("line {line}"),
            None => format!("pc 0x{:04x}", self.pc),
        }
    }

    /// Name of its row in the profile for links.
    pub fn anchor(&self) -> String {
        format!("i-{}-{:x}", self.kernel, self.pc)
    }
}

/// The instructions of all kernels that ran.
pub fn listing(program: &Program, profiles: &[Profile]) -> Vec<Instruction> {
    let ran = profiles.iter().enumerate().filter(|(_, profile)| profile.launches > 0);
    ran.flat_map(|(kernel, profile)| of_kernel(program, profile, kernel)).collect()
}

/// The instructions of a kernel. A word inside an instruction gets a row of its own if it has counts, because
/// a call can lead there.
fn of_kernel(program: &Program, profile: &Profile, kernel: usize) -> Vec<Instruction> {
    let code = &program.kernels[kernel].code;
    let words = &program.code[code.start as usize..code.end as usize];
    let structure = Structure::scan(words);
    let labels = Labels::new();
    let row = |(word, line): (usize, &Line)| {
        let slot = structure.slot_of_word.get(word).copied().flatten();
        if slot.is_none() && line.slots.iter().all(|&n| n == 0) {
            return None;
        }
        let at = code.start + word as u32;
        let inst = wave_isa::Inst::decode(&words[word.min(words.len())..]).ok();
        let text = match (inst, words.get(word)) {
            (Some(inst), _) => disassemble_inst(&inst, &labels),
            (None, Some(bits)) => format!(".word 0x{bits:08x}"),
            (None, None) => "end of the code".to_owned(),
        };
        let source = program.source.as_ref().and_then(|source| source.line_of_word(at));
        Some(Instruction {
            kernel,
            word: word as u32,
            pc: at * WORD_BYTES,
            text,
            source: source.filter(|_| word < words.len()).map(|(n, text)| (n, text.trim().to_owned())),
            op: inst.map(|inst| inst.op),
            depth: slot.map_or(0, |slot| structure.depth(slot)),
            line: line.clone(),
        })
    };
    profile.lines.iter().enumerate().filter_map(row).collect()
}
