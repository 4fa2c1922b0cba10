//! A small machine, and runs on it that record every pipeline step.

use std::collections::HashMap;
use wave_isa::ExecClass;
use wave_isa::program::structure::instruction_words;
use wave_isa::program::{Fault, Launch, Program, assemble};
use wave_machine::config::{ClassTiming, Config, IssuePolicy};
use wave_machine::core::probe::{Event, EventKind, Observer, Stage, StageEvent, Wants};
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions};
use wave_machine::memory::{CODE_SPACE, RequestKind};
use wave_machine::stats::SlotUse;

pub(crate) use wave_machine::core::probe::Stage::{
    Access, Decode, Execute, Fetch, Issue, Operands, Retire, WriteBack,
};

/// Lanes per wave.
pub(crate) const WIDTH: u32 = 8;

/// One core with one scheduler and eight wave slots of eight lanes. All queues and ports are wide enough that
/// nothing waits unless a test narrows them. A fetch brings up to sixteen words, so that a wave waits for
/// code only at the first miss of each 32 words.
pub(crate) fn machine() -> Config {
    let mut config = Config::example();
    config.cores = 1;
    config.core_clock_mhz = 1000;
    config.dram.clock_mhz = 1000;
    config.device_memory_bytes = 1 << 16;
    config.dispatcher.latency_cycles = 3;
    config.interconnect.latency_cycles = 3;
    let core = &mut config.core;
    core.wave_width = WIDTH;
    core.max_waves = 8;
    core.max_workgroups = 8;
    core.schedulers = 1;
    core.issue.policy = IssuePolicy::Lrr;
    core.fetch.words = 16;
    core.fetch.buffer_entries = 64;
    core.fetch.icache_line_bytes = 128;
    core.registers.write_ports = 4;
    core.registers.collectors = 8;
    core.local.banks = 8;
    core.local.latency_cycles = 5;
    for unit in &mut core.units {
        unit.lanes = WIDTH;
    }
    config
}

/// Sets the timing of an execution class.
pub(crate) fn set_class(config: &mut Config, class: ExecClass, latency_cycles: u32, passes: u32) {
    let classes = config.core.units.iter_mut().flat_map(|unit| &mut unit.classes);
    let timing = classes.filter(|c| c.class == class).last().expect("a unit serves every class");
    *timing = ClassTiming { class, latency_cycles, passes };
}

/// The machine with this latency of simple integer instructions.
pub(crate) fn with_int_latency(latency: u32) -> Config {
    let mut config = machine();
    set_class(&mut config, ExecClass::Int, latency, 1);
    config
}

#[derive(Default)]
struct Recorder {
    events: Vec<StageEvent>,
    /// Workgroup, wave and event of each issue.
    issues: Vec<([u32; 3], u32, StageEvent)>,
    /// Retirement of each instruction with a fragment, and the fragment's rows.
    fragments: Vec<(StageEvent, Vec<u32>)>,
    /// Cycle, kind and line of each packet that enters the port.
    packets: Vec<(u64, RequestKind, u64)>,
    /// Cycles in which the L1 is invalidated.
    invalidations: Vec<u64>,
}

impl Observer for Recorder {
    fn wants(&self) -> Wants {
        Wants::of(&[
            EventKind::Stage,
            EventKind::Issued,
            EventKind::Access,
            EventKind::Results,
            EventKind::Packet,
            EventKind::Invalidated,
        ])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.events.push(*event),
            Event::Issued(issued) => {
                self.events.push(issued.event);
                self.issues.push((issued.workgroup, issued.wave, issued.event));
            }
            Event::Access(access) => self.events.push(StageEvent {
                cycle: access.cycle,
                core: access.core,
                slot: access.slot,
                sequence: access.sequence,
                word: access.word,
                stage: Access,
            }),
            Event::Packet(packet) => {
                self.packets.push((packet.cycle, packet.request.kind, packet.request.line));
            }
            Event::Invalidated(invalidated) => self.invalidations.push(invalidated.cycle),
            Event::Results(results) if !results.fragment.is_empty() => {
                self.fragments.push((results.event, results.fragment.to_vec()));
            }
            _ => {}
        }
    }
}

/// A kernel to run. Labels name instructions: `a: iadd r1, r2, r3`.
pub(crate) struct Bench<'a> {
    config: &'a Config,
    /// Words of code before the kernel.
    base: u32,
    threads: u32,
    groups: u32,
    registers: Vec<(u8, u32)>,
}

/// All steps of a run, with its results.
pub(crate) struct Trace {
    pub events: Vec<StageEvent>,
    pub issues: Vec<([u32; 3], u32, StageEvent)>,
    pub fragments: Vec<(StageEvent, Vec<u32>)>,
    pub packets: Vec<(u64, RequestKind, u64)>,
    pub invalidations: Vec<u64>,
    pub report: KernelReport,
    pub memory: Vec<u8>,
    words: HashMap<String, u32>,
    /// The word after the kernel.
    pub end: u32,
}

/// A kernel with one wave on this machine.
pub(crate) fn bench(config: &Config) -> Bench<'_> {
    Bench { config, base: 0, threads: WIDTH, groups: 1, registers: Vec::new() }
}

/// Runs a kernel with one wave.
pub(crate) fn run(config: &Config, body: &str) -> Trace {
    bench(config).run(body)
}

impl Bench<'_> {
    /// Sets the waves of each workgroup.
    pub(crate) fn waves(mut self, waves: u32) -> Self {
        self.threads = waves * WIDTH;
        self
    }

    /// Sets the number of workgroups.
    pub(crate) fn groups(mut self, groups: u32) -> Self {
        self.groups = groups;
        self
    }

    /// Sets the words of code before the kernel.
    pub(crate) fn base(mut self, words: u32) -> Self {
        self.base = words;
        self
    }

    /// Sets the initial value of a register.
    pub(crate) fn with(mut self, register: u8, value: u32) -> Self {
        self.registers.push((register, value));
        self
    }

    /// The program with the kernel.
    fn program(&self, body: &str) -> Program {
        let pad: String = "nop\n".repeat(self.base as usize);
        let pad = if pad.is_empty() { pad } else { format!(".kernel pad\n{pad}.end\n") };
        let text = format!(
            "{pad}.kernel k\n.registers 32\n.local_memory 4096\n.workgroup_size 8, 1, 1\n{body}\n.end\n"
        );
        let (program, _) = assemble(&text, "k.wave").unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
        program
    }

    /// Runs the kernel twice, with idle cycles skipped and cycle by cycle. Both runs must agree.
    pub(crate) fn run(self, body: &str) -> Trace {
        let program = self.program(body);
        let ended = |(recorder, report, memory): (Recorder, Result<KernelReport, RunError>, Vec<u8>)| {
            (recorder, report.unwrap_or_else(|error| panic!("the kernel ends: {error:?}")), memory)
        };
        let skipping = ended(self.simulate(&program, false));
        let stepping = ended(self.simulate(&program, true));
        assert_eq!(skipping.0.events, stepping.0.events, "skipping idle cycles shows");
        assert_eq!(skipping.0.packets, stepping.0.packets, "skipping idle cycles shows at the port");
        assert_eq!(skipping.1, stepping.1, "skipping idle cycles shows in the report");
        let code = program.kernels.last().expect("the kernel").code.clone();
        let code = &program.code[code.start as usize..code.end as usize];
        Trace {
            events: skipping.0.events,
            issues: skipping.0.issues,
            fragments: skipping.0.fragments,
            packets: skipping.0.packets,
            invalidations: skipping.0.invalidations,
            report: skipping.1,
            memory: skipping.2,
            words: labels(body, code),
            end: code.len() as u32,
        }
    }

    /// Runs a kernel that faults. Returns the cycles from the last step of this stage to the fault.
    pub(crate) fn fault(self, body: &str, stage: Stage) -> u64 {
        let (events, fault) = self.faults(body);
        let last = events.iter().rfind(|e| e.stage == stage).expect("it comes so far");
        fault.cycle.expect("a machine with cycles") - last.cycle
    }

    /// Runs a kernel that faults. Returns its steps and the fault.
    pub(crate) fn faults(self, body: &str) -> (Vec<StageEvent>, Fault) {
        let program = self.program(body);
        let [skipping, stepping] = [false, true].map(|every_cycle| {
            let (recorder, report, _) = self.simulate(&program, every_cycle);
            let Err(RunError::Fault(fault)) = report else { panic!("the kernel faults: {report:?}") };
            (recorder.events, *fault)
        });
        assert_eq!(skipping, stepping);
        skipping
    }

    fn simulate(
        &self,
        program: &Program,
        every_cycle: bool,
    ) -> (Recorder, Result<KernelReport, RunError>, Vec<u8>) {
        let launch = Launch {
            kernel: program.kernels.len() - 1,
            grid: [self.groups, 1, 1],
            workgroup: [self.threads, 1, 1],
            registers: 32,
            local_memory_bytes: 4096,
            initial_registers: self.registers.clone(),
        };
        let options = RunOptions { max_cycles: Some(1_000_000), every_cycle, ..RunOptions::UNBOUNDED };
        let mut gpu = Machine::new(
            self.config.clone(),
            program.clone(),
            vec![0xEE; self.config.device_memory_bytes as usize],
        );
        let mut recorder = Recorder::default();
        let report = gpu.run(&launch, &options, Some(&mut recorder), &mut |_| {});
        // The simulator runs cores in turn, several cycles each.
        recorder.events.sort_by_key(|e| (e.cycle, e.core));
        recorder.issues.sort_by_key(|(_, _, e)| (e.cycle, e.core));
        recorder.packets.sort_by_key(|&(cycle, ..)| cycle);
        (recorder, report, gpu.into_memory())
    }
}

/// Word of each labelled instruction.
fn labels(body: &str, code: &[u32]) -> HashMap<String, u32> {
    let mut words = HashMap::new();
    let mut word = 0;
    for line in body.lines() {
        let mut line = line.trim();
        if let Some((label, rest)) = line.split_once(':') {
            words.insert(label.trim().to_owned(), word);
            line = rest.trim();
        }
        if !line.is_empty() {
            word += instruction_words(code[word as usize]);
        }
    }
    assert_eq!(word as usize, code.len(), "one instruction a line");
    words
}

impl Trace {
    /// Word of a labelled instruction.
    pub(crate) fn word(&self, label: &str) -> u32 {
        *self.words.get(label).unwrap_or_else(|| panic!("no label {label}"))
    }

    /// All cycles in which the labelled instruction of the wave in `slot` entered this stage. A fetch is
    /// found only if the instruction is the first of its group.
    pub(crate) fn all(&self, slot: usize, label: &str, stage: Stage) -> Vec<u64> {
        let word = self.word(label);
        let here = self.events.iter().filter(|e| e.slot == slot && e.word == word && e.stage == stage);
        here.map(|e| e.cycle).collect()
    }

    /// The only cycle in which the labelled instruction of the wave in `slot` entered this stage.
    #[track_caller]
    pub(crate) fn of(&self, slot: usize, label: &str, stage: Stage) -> u64 {
        let all = self.all(slot, label, stage);
        assert_eq!(all.len(), 1, "{label} of slot {slot}, {stage:?}: {all:?}");
        all[0]
    }

    /// [`Trace::of`] for slot 0.
    #[track_caller]
    pub(crate) fn at(&self, label: &str, stage: Stage) -> u64 {
        self.of(0, label, stage)
    }

    /// The only cycle in which the end mark of the wave in slot 0 issues (F5).
    #[track_caller]
    pub(crate) fn end_mark(&self) -> u64 {
        let ends: Vec<u64> = self
            .issues
            .iter()
            .filter(|(_, _, e)| e.slot == 0 && e.word == self.end)
            .map(|(_, _, e)| e.cycle)
            .collect();
        assert_eq!(ends.len(), 1, "{ends:?}");
        ends[0]
    }

    /// Cycles from the issue of `from` until `to` enters `stage`, both in slot 0.
    #[track_caller]
    pub(crate) fn after(&self, from: &str, to: &str, stage: Stage) -> u64 {
        self.at(to, stage).checked_sub(self.at(from, Issue)).expect("it comes later")
    }

    /// Cycles from the issue of `from` to issue, last operand read, execution and retirement of `label`.
    #[track_caller]
    pub(crate) fn steps(&self, from: &str, label: &str) -> [u64; 4] {
        [Issue, Operands, Execute, Retire].map(|stage| self.after(from, label, stage))
    }

    /// Cycle and first word of each fetch of a slot that hit. The first fetch is cycle 0.
    pub(crate) fn fetches(&self, slot: usize) -> Vec<(u64, u32)> {
        let here: Vec<_> = self.events.iter().filter(|e| e.slot == slot && e.stage == Fetch).collect();
        here.iter().map(|e| (e.cycle - here[0].cycle, e.word)).collect()
    }

    /// Cycles in which packets of this kind enter the port. Those of the instruction cache are not among them.
    pub(crate) fn packets(&self, kind: RequestKind) -> Vec<u64> {
        let those = self.packets.iter().filter(|&&(_, k, line)| k == kind && line < CODE_SPACE);
        those.map(|&(cycle, ..)| cycle).collect()
    }

    /// Cycle and address, in the code section, of each request of the instruction cache.
    pub(crate) fn code_requests(&self) -> Vec<(u64, u64)> {
        let those = self.packets.iter().filter(|&&(.., line)| line >= CODE_SPACE);
        those.map(|&(cycle, _, line)| (cycle, line - CODE_SPACE)).collect()
    }

    /// Cycle and slot of each issue, in order, from the first issue of this instruction on.
    pub(crate) fn issue_order(&self, from: &str) -> Vec<(u64, usize)> {
        let word = self.word(from);
        let first = self.issues.iter().position(|(_, _, e)| e.word == word).expect("it issues");
        let start = self.issues[first].2.cycle;
        self.issues[first..].iter().map(|(_, _, e)| (e.cycle - start, e.slot)).collect()
    }

    /// Issue slots with this use.
    pub(crate) fn slots(&self, slot_use: SlotUse) -> u64 {
        self.report.slots[slot_use as usize]
    }
}
