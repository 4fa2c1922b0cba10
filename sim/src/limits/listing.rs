//! The instructions of the kernels that ran: how they read, where they stand in the source, and what was counted of them.

use super::profile::{Line, Profile};
use crate::config::Config;
use crate::isa::table::{AccessKind, Op, Space};
use crate::isa::{MMA_DIM, WORD_BYTES};
use crate::observe::figures::ratio;
use crate::observe::numbers::short;
use crate::program::dis::Labels;
use crate::program::structure::Structure;
use crate::program::{Program, disassemble_inst};

/// So many times as many accesses as neighbouring addresses would need are told.
pub const MANY: f64 = 1.5;

/// An instruction of a kernel, and what was counted of it.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Index of the kernel in the program.
    pub kernel: usize,
    /// Word of the kernel.
    pub word: u32,
    /// Byte offset in the code section.
    pub pc: u32,
    /// As assembly.
    pub text: String,
    /// Line of the source, and its text.
    pub source: Option<(u32, String)>,
    /// What it does; none for what is no instruction.
    pub op: Option<Op>,
    /// Constructs around it.
    pub depth: u32,
    /// What was counted.
    pub line: Line,
}

impl Instruction {
    /// True if it accesses this memory.
    pub fn accesses(&self, space: Space) -> bool {
        self.op.and_then(Op::memory).is_some_and(|memory| memory.space == space)
    }

    /// True for a device load or atomic, which L1 and L2 answer.
    pub fn is_load(&self) -> bool {
        self.op.and_then(Op::memory).is_some_and(|memory| memory.kind != AccessKind::Store)
    }

    /// What its source line says beside the instruction: a comment, or all of it if it is something else.
    pub fn remark(&self) -> Option<&str> {
        let (_, source) = self.source.as_ref()?;
        let (code, comment) = source.split_at(source.find([';', '#']).unwrap_or(source.len()));
        let squeeze =
            |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect::<String>();
        let remark = if squeeze(code) == squeeze(&self.text) { comment } else { source };
        let remark = remark.trim_start_matches([';', '#', ' ']).trim_end();
        (!remark.is_empty()).then_some(remark)
    }

    /// Lines that its accesses of device memory, or passes over the banks that those of local memory, take if lanes that
    /// follow one another access bytes that do.
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

    /// Lines or passes that it took each time; none if it accessed nothing.
    pub fn lines_each(&self) -> Option<f64> {
        match (self.line.line_accesses(), self.line.local_accesses) {
            (0, 0) => None,
            (0, n) => Some(ratio(self.line.local_passes, n)),
            (n, _) => Some(ratio(n, self.line.issues())),
        }
    }

    /// How many lines or passes it takes and how many would do, in words, if these are many more than that.
    pub fn scattered(&self, config: &Config) -> Option<String> {
        let (each, least) = self.lines_each().zip(self.least_lines(config))?;
        let what = if self.line.local_accesses > 0 { "passes over the banks" } else { "lines" };
        (each > MANY * least).then(|| format!("{} {what} each where {} would do", short(each), short(least)))
    }

    /// Bytes that it uses of each line of device memory, in words; none for local memory, and for tiles.
    pub fn bytes_of_line(&self, config: &Config) -> Option<String> {
        let memory = self.op.and_then(Op::memory).filter(|memory| memory.kind != AccessKind::Tile)?;
        if memory.space != Space::Device {
            return None;
        }
        let lanes = ratio(self.line.lanes, self.line.line_accesses());
        let bytes = short(lanes * f64::from(memory.bytes));
        Some(format!("{bytes} bytes of each line of {}", config.core.l1.line_bytes))
    }

    /// "line 12", or its pc where there is no source.
    pub fn place(&self) -> String {
        match &self.source {
            Some((line, _)) => format!("line {line}"),
            None => format!("pc 0x{:04x}", self.pc),
        }
    }

    /// What its row in the profile is called in links.
    pub fn anchor(&self) -> String {
        format!("i-{}-{:x}", self.kernel, self.pc)
    }
}

/// The instructions of every kernel that ran.
pub fn listing(program: &Program, profiles: &[Profile]) -> Vec<Instruction> {
    let ran = profiles.iter().enumerate().filter(|(_, profile)| profile.launches > 0);
    ran.flat_map(|(kernel, profile)| of_kernel(program, profile, kernel)).collect()
}

/// The instructions of a kernel. Words in the middle of one have a row of their own if something was counted there: a
/// call may lead to them.
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
        let inst = crate::isa::Inst::decode(&words[word.min(words.len())..]).ok();
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
