//! What a report says, worked out from the counters once: totals, instructions, peaks of the machine, and how busy each
//! of its parts was.

use super::Gathered;
use super::profile::Line;
use super::text::ratio;
use super::windows::{Counts, Window};
use crate::config::Config;
use crate::core::execute::UnitTiming;
use crate::gpu::KernelReport;
use crate::gpu::occupancy::Occupancy;
use crate::isa::table::{AccessKind, Op, Space};
use crate::isa::{ExecClass, MMA_DIM, WORD_BYTES};
use crate::observe::Run;
use crate::observe::figures::Total;
use crate::program::dis::Labels;
use crate::program::structure::Structure;
use crate::program::{Launch, Program, disassemble_inst};
use crate::stats::SlotUse;

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

/// How busy a part of the machine was.
#[derive(Debug, Clone)]
pub struct Busy {
    /// What it is.
    pub name: String,
    /// Part of the time, 0 to 1.
    pub share: f64,
    /// What was counted, in words.
    pub how: String,
}

/// Everything that a report is made from.
pub struct Facts<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The kernels.
    pub program: &'a Program,
    /// What became of the run.
    pub run: &'a Run,
    /// What was gathered.
    pub gathered: &'a Gathered,
    /// The statistics: of all launches together, or as far as the last one came.
    pub report: KernelReport,
    /// The windows.
    pub windows: Vec<Window>,
    /// Every instruction of the kernels that ran.
    pub instructions: Vec<Instruction>,
    /// The launch to speak of: the longest.
    pub launch: Option<&'a Launch>,
}

impl<'a> Facts<'a> {
    /// Works them out.
    pub fn new(config: &'a Config, program: &'a Program, run: &'a Run, gathered: &'a Gathered) -> Facts<'a> {
        let longest = run.steps.iter().max_by_key(|step| step.report.cycles).map(|step| &step.launch);
        let launch = longest.or(gathered.broken_off.as_ref());
        let windows = gathered.windows.windows();
        let Counts { core, slots, l1, memory, .. } = gathered.windows.total();
        let occupancy = launch.and_then(|launch| Occupancy::of(config, launch).ok());
        let none = Occupancy {
            workgroups: 0,
            waves_per_workgroup: 0,
            slots_per_scheduler: 0,
            limiter: crate::gpu::occupancy::Limiter::Waves,
        };
        let report = KernelReport {
            cycles: gathered.windows.cycles(),
            release_cycles: run.steps.iter().map(|step| step.report.release_cycles).sum(),
            core,
            slots,
            l1,
            memory,
            links: run.total().map_or_else(Vec::new, |total| total.links),
            occupancy: occupancy.unwrap_or(none),
            wave_slots: u64::from(config.cores) * u64::from(config.core.max_waves),
        };
        let ran = gathered.profiles.iter().enumerate().filter(|(_, profile)| profile.launches > 0);
        let instructions = ran.flat_map(|(kernel, _)| instructions(program, gathered, kernel)).collect();
        Facts { config, program, run, gathered, report, windows, instructions, launch }
    }

    /// For the figures of [`crate::observe::figures`].
    pub fn total(&self) -> Total<'_> {
        Total { config: self.config, report: &self.report }
    }

    /// Issue slots of the run.
    pub fn slots(&self) -> u64 {
        self.report.slots.iter().sum()
    }

    /// Part of the issue slots that a use has.
    pub fn share(&self, slot_use: SlotUse) -> f64 {
        ratio(self.report.slots[slot_use as usize], self.slots())
    }

    /// The instruction at a word of a kernel.
    pub fn instruction(&self, kernel: usize, word: u32) -> Option<&Instruction> {
        self.instructions.iter().find(|i| i.kernel == kernel && i.word == word)
    }

    /// Microseconds that so many core cycles take.
    pub fn microseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / f64::from(self.config.core_clock_mhz)
    }

    /// Bytes a core cycle that the memory channels move at most.
    pub fn dram_peak(&self) -> f64 {
        let dram = &self.config.dram;
        let a_clock = f64::from(dram.channels * dram.bus_bits * dram.transfers_per_clock) / 8.0;
        a_clock * f64::from(dram.clock_mhz) / f64::from(self.config.core_clock_mhz)
    }

    /// Bytes a cycle that pass between cores and L2 one way at most: all ports of the side that has fewer.
    pub fn l2_peak(&self) -> f64 {
        let ports = self.config.cores.min(self.config.l2.slices);
        f64::from(ports * self.config.interconnect.port_bytes_per_cycle)
    }

    /// Bytes of lines a cycle that the L1s serve at most: one access each.
    pub fn l1_peak(&self) -> f64 {
        f64::from(self.config.cores * self.config.core.l1.line_bytes)
    }

    /// Wave instructions a cycle that the schedulers issue at most.
    pub fn issue_peak(&self) -> f64 {
        f64::from(self.config.cores * self.config.core.schedulers * self.config.core.issue.width)
    }

    /// How busy the parts of the machine were, in the order in which an instruction meets them.
    pub fn busy(&self) -> Vec<Busy> {
        let (config, report) = (self.config, &self.report);
        let cycles = report.cycles.max(1) as f64;
        let cores = f64::from(config.cores);
        let mut parts = vec![Busy {
            name: "issue slots".into(),
            share: self.share(SlotUse::Issued),
            how: "slots in which an instruction issued and took effect".into(),
        }];
        let timing = UnitTiming::table(config);
        let of_all = cycles * cores * f64::from(config.core.schedulers);
        for (index, unit) in config.core.units.iter().enumerate() {
            let held: u64 = self
                .instructions
                .iter()
                .filter_map(|i| Some((i, i.op?.info().class)))
                .filter(|(_, class)| unit.classes.iter().any(|c| c.class == *class))
                .filter(|(_, class)| timing[*class as usize].unit == index)
                .map(|(i, class)| i.line.issues() * timing[class as usize].interval)
                .sum();
            let classes: Vec<&str> = unit.classes.iter().map(|c| c.class.name()).collect();
            parts.push(Busy {
                name: format!("{} units", unit.name),
                share: held as f64 / of_all,
                how: format!("cycles that instructions held their entries; {}", classes.join(", ")),
            });
        }
        let mut add = |name: &str, share: f64, how: &str| {
            parts.push(Busy { name: name.into(), share, how: how.into() });
        };
        let core = &report.core;
        if core.local_accesses > 0 {
            let share = core.local_passes as f64 / (cycles * cores);
            add("local memory", share, "cycles of passes over the banks");
        }
        add(
            "L1 ports",
            core.line_accesses as f64 / (cycles * cores),
            "cycles in which the L1 accepted an access of a line",
        );
        let net = &report.memory.interconnect;
        let slices = f64::from(config.l2.slices);
        let requests = net.request_port_busy_cycles as f64 / (cycles * slices);
        add("L2 request ports", requests, "cycles that packets to slices held the slices' ports");
        let replies = net.reply_port_busy_cycles as f64 / (cycles * cores);
        add("L2 reply ports", replies, "cycles that packets to cores held the cores' ports");
        if net.hops > 0 {
            let links = self.report.links.len().max(1) as f64;
            let share = net.link_busy_cycles as f64 / (cycles * links);
            add("interconnect links", share, "cycles that links between routers were held");
        }
        add("memory channels", self.dram_busy(), "memory clocks that bursts held the data buses");
        parts
    }

    /// Part of the time in which the data buses of the memory channels moved data, without the releases at the ends.
    pub fn dram_busy(&self) -> f64 {
        let dram = &self.config.dram;
        let clocks = self.report.memory.dram.data_bus_busy_clocks
            - self.gathered.windows.released().memory.dram.data_bus_busy_clocks;
        let a_cycle = f64::from(dram.clock_mhz) / f64::from(self.config.core_clock_mhz);
        clocks as f64 / (self.report.cycles.max(1) as f64 * a_cycle * f64::from(dram.channels))
    }

    /// The unit of a class, as it is called.
    pub fn unit_of(&self, class: ExecClass) -> Option<&str> {
        let units = &self.config.core.units;
        let unit = units.iter().find(|unit| unit.classes.iter().any(|c| c.class == class));
        unit.map(|unit| unit.name.as_str())
    }

    /// Instructions to which most slots of a use are charged, the most first.
    pub fn hottest(&self, slot_use: SlotUse, count: usize) -> Vec<&Instruction> {
        let slots = |i: &&Instruction| i.line.slots[slot_use as usize];
        let mut found: Vec<_> = self.instructions.iter().filter(|i| slots(i) > 0).collect();
        found.sort_by_key(|i| std::cmp::Reverse(slots(i)));
        found.truncate(count);
        found
    }

    /// Instructions whose results others waited for, with the slots that this cost, the most first.
    pub fn awaited(&self, memory: bool) -> Vec<(&Instruction, u64)> {
        let mut sums: Vec<(&Instruction, u64)> = Vec::new();
        for (kernel, profile) in self.gathered.profiles.iter().enumerate() {
            for (&(_, producer), &slots) in &profile.waits {
                let Some(instruction) = self.instruction(kernel, producer) else { continue };
                if instruction.op.and_then(Op::memory).is_some() != memory {
                    continue;
                }
                match sums.iter_mut().find(|(i, _)| std::ptr::eq(*i, instruction)) {
                    Some((_, sum)) => *sum += slots,
                    None => sums.push((instruction, slots)),
                }
            }
        }
        sums.sort_by_key(|&(_, slots)| std::cmp::Reverse(slots));
        sums
    }
}

/// The instructions of a kernel. Words in the middle of one have a row of their own if something was counted there: a
/// call may lead to them.
fn instructions(program: &Program, gathered: &Gathered, kernel: usize) -> Vec<Instruction> {
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
    gathered.profiles[kernel].lines.iter().enumerate().filter_map(row).collect()
}
