//! The report of races, as text and as JSON.

use super::clock::WaveId;
use super::detector::{Detector, MAX_PAIRS, MAX_TOUCHES, Pair};
use super::shadow::{Kind, Touch};
use serde::Serialize;
use std::fmt::Write;
use wave_isa::program::{Kernel, Program};
use wave_isa::{Scope, WORD_BYTES};

/// Pairs shown in the text.
const SHOWN: usize = 10;

/// One of the two accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Party {
    /// Address of the instruction in the code section.
    pub pc: u32,
    /// Source file, if there is one.
    pub file: Option<String>,
    /// Line of it, from 1.
    pub line: Option<u32>,
    /// Text of the line, if there is a source.
    pub text: Option<String>,
    /// What it does.
    pub kind: Kind,
    /// Scope of an atomic.
    pub scope: Option<&'static str>,
    /// Position of the workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Wave of the workgroup.
    pub wave: u32,
    /// Lane of the wave; the first of several that touch the same bytes.
    pub lane: u32,
}

/// Two instructions that raced, and their first race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Kernel.
    pub kernel: String,
    /// Number of the launch in the run, from 0.
    pub launch: usize,
    /// `device` or `local`.
    pub memory: &'static str,
    /// First byte touched by both.
    pub address: u32,
    /// Bytes touched by both, from the first to the last.
    pub bytes: u32,
    /// The access that was found first, and the other. Neither happens before the other.
    pub accesses: [Party; 2],
    /// What would order them, and where.
    pub remedy: String,
    /// Number of races between these two instructions.
    pub count: u64,
}

/// The findings in the launches of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RaceReport {
    /// Different pairs of instructions of each launch, in the order in which they were found.
    pub pairs: Vec<Found>,
    /// Number of races.
    pub races: u64,
    /// Accesses that later ones were not compared with, for lack of memory.
    pub unchecked_accesses: u64,
    /// Number of launches.
    pub launches: usize,
}

impl RaceReport {
    /// Adds the findings of a launch.
    pub(super) fn add(
        &mut self,
        found: &Detector,
        program: &Program,
        kernel: &Kernel,
        grid: [u32; 3],
        waves_per_workgroup: u32,
    ) {
        let names = Names { program, kernel, grid, waves_per_workgroup };
        let room = MAX_PAIRS.saturating_sub(self.pairs.len());
        self.pairs.extend(found.pairs().take(room).map(|pair| names.found(pair, self.launches)));
        self.races += found.races;
        self.unchecked_accesses += found.left_out();
        self.launches += 1;
    }

    /// True if there was no race.
    pub fn is_clean(&self) -> bool {
        self.races == 0
    }

    /// The report as text; ends with a line break.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for found in self.pairs.iter().take(SHOWN) {
            text += &found.text();
        }
        // Writing into a string does not fail.
        if self.pairs.len() > SHOWN {
            _ = writeln!(
                text,
                "and {} more pairs of instructions; --format json has them",
                self.pairs.len() - SHOWN
            );
        }
        _ = match self.races {
            0 => writeln!(text, "races: none"),
            races => writeln!(text, "races: {races}, of {} pairs of instructions", self.pairs.len()),
        };
        if self.unchecked_accesses > 0 {
            _ = writeln!(
                text,
                "warning: {} accesses beyond the {MAX_TOUCHES} that are kept: later ones were not held against them",
                self.unchecked_accesses
            );
        }
        text
    }
}

impl Found {
    fn text(&self) -> String {
        let [first, second] = &self.accesses;
        let mut text = format!(
            "race in kernel `{}`, launch {}: {} bytes of {} memory at 0x{:x}, {} times\n",
            self.kernel, self.launch, self.bytes, self.memory, self.address, self.count
        );
        for party in [first, second] {
            let [x, y, z] = party.workgroup;
            let what = match (party.kind, party.scope) {
                (Kind::Load, _) => "load".to_owned(),
                (Kind::Store, _) => "store".to_owned(),
                (Kind::Atomic, scope) => format!("atomic of scope {}", scope.unwrap_or("workgroup")),
            };
            let source = party.text.as_deref().unwrap_or("").trim();
            _ = writeln!(
                text,
                "  {}: {source}\n      {what} by workgroup ({x},{y},{z}), wave {}, lane {}",
                party.place(),
                party.wave,
                party.lane
            );
        }
        _ = writeln!(text, "  to order them: {}", self.remedy);
        text
    }
}

impl Party {
    /// `file:line`, or the pc.
    fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("pc 0x{:04x}", self.pc),
        }
    }
}

/// Source of the names that a user knows.
struct Names<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    grid: [u32; 3],
    waves_per_workgroup: u32,
}

impl Names<'_> {
    fn found(&self, pair: &Pair, launch: usize) -> Found {
        let (first, second) = (self.party(&pair.first), self.party(&pair.second));
        let low = pair.bytes.trailing_zeros();
        Found {
            kernel: self.kernel.name.clone(),
            launch,
            memory: if pair.word.local.is_some() { "local" } else { "device" },
            address: 4 * pair.word.index + low,
            bytes: 8 - pair.bytes.leading_zeros() - low,
            remedy: self.remedy(pair, &first, &second),
            accesses: [first, second],
            count: pair.count,
        }
    }

    fn workgroup(&self, wave: WaveId) -> u32 {
        wave / self.waves_per_workgroup
    }

    fn party(&self, touch: &Touch) -> Party {
        let word = self.kernel.code.start + touch.pc;
        let source = self.program.source.as_ref();
        let line = source.and_then(|s| s.line_of_word(word));
        let workgroup = self.workgroup(touch.wave);
        let [x, y, _] = self.grid;
        Party {
            pc: word * WORD_BYTES,
            file: line.and_then(|_| source.map(|s| s.file.clone())),
            line: line.map(|(number, _)| number),
            text: line.map(|(_, text)| text.to_owned()),
            kind: touch.kind,
            scope: (touch.kind == Kind::Atomic).then(|| touch.scope.name()),
            workgroup: [workgroup % x, workgroup / x % y, workgroup / x / y],
            wave: touch.wave % self.waves_per_workgroup,
            lane: u32::from(touch.lane),
        }
    }

    /// What would order the two accesses, as far as fences and barriers go.
    fn remedy(&self, pair: &Pair, first: &Party, second: &Party) -> String {
        if pair.first.instruction == pair.second.instruction {
            return "nothing orders the lanes of one store: let one lane store, or each to a place of its own".to_owned();
        }
        let same_workgroup = self.workgroup(pair.first.wave) == self.workgroup(pair.second.wave);
        let scope = if same_workgroup { Scope::Workgroup } else { Scope::Device }.name();
        let (a, b) = (first.place(), second.place());
        let acquire = format!("`fence_acquire .{scope}` before {b}");
        let fences = match (pair.released, pair.seen) {
            (true, true) => format!("{acquire}, after the atomic that has read what the other wave released"),
            (true, false) => format!(
                "{a} is released, and what {b} does depends on no atomic that read a word written after that: read one, \
                 then {acquire}"
            ),
            (false, _) => format!(
                "`fence_release .{scope}` after {a} and before an atomic that tells of it, and {acquire}, after an atomic \
                 that reads what that one wrote"
            ),
        };
        let barrier = match same_workgroup {
            true => format!("a `barrier` after {a} and before {b}; or "),
            false => String::new(),
        };
        let atomics = match (pair.first.kind, pair.second.kind) {
            (Kind::Atomic, Kind::Atomic) => format!("; or scope .{scope} in both atomics"),
            (Kind::Atomic, _) => format!("; or an atomic at {b} too"),
            (_, Kind::Atomic) => format!("; or an atomic at {a} too"),
            _ => String::new(),
        };
        let kernels = if same_workgroup { "" } else { "; or a launch of its own for what comes after" };
        format!("{barrier}{fences}{atomics}{kernels}")
    }
}
