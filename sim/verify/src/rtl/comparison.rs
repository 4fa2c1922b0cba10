//! Compares the records of both sides as they arrive.

use super::cosim::{Agreement, Disagreement, Mode};
use super::process::Process;
use super::step::{ISSUE_FIELDS, Record, Stage};
use super::stream::Report;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::ops::ControlFlow;
use wave_isa::program::{FaultKind, Program};
use wave_machine::clock::Cycle;

/// Records in front of a difference that a report shows.
const HISTORY: usize = 12;
/// Cycles in which a report looks for a missing record.
const LOOK_AHEAD: usize = 200;

/// Identity of an instruction for [`Mode::Architectural`]: workgroup, wave, position in the wave.
type Key = ([u32; 3], u32, u64);

/// Incomplete instructions of one side, and the number of issues of each wave.
#[derive(Debug, Default)]
struct Assembly {
    open: HashMap<(u32, u32), (Key, Vec<u32>)>,
    issued: HashMap<([u32; 3], u32), u64>,
}

impl Assembly {
    /// Adds a record. Returns the instruction that it completes, if any.
    fn add(&mut self, record: &Record) -> Option<(Key, Vec<u32>)> {
        let place = (record.slot, record.sequence);
        match record.stage {
            Stage::Issue => {
                let fields = &record.fields;
                let wave = ([fields[7], fields[8], fields[9]], fields[6]);
                let count = self.issued.entry(wave).or_default();
                let key = (wave.0, wave.1, *count);
                *count += 1;
                let mut what = vec![record.word];
                what.extend(fields);
                if fields[0] != 0 {
                    return Some((key, what));
                }
                self.open.insert(place, (key, what));
                None
            }
            Stage::Access => {
                if let Some((_, what)) = self.open.get_mut(&place) {
                    what.extend(&record.fields);
                }
                None
            }
            Stage::Retire => {
                let (key, mut what) = self.open.remove(&place)?;
                what.extend(&record.fields);
                Some((key, what))
            }
            _ => None,
        }
    }
}

/// A comparison in progress.
pub(super) struct Comparison<'a> {
    process: Process,
    mode: Mode,
    program: &'a Program,
    base: u32,
    history: VecDeque<Record>,
    /// The agreement so far.
    pub agreement: Agreement,
    ours: Assembly,
    theirs: Assembly,
    /// Instructions that only one side has completed: what they did, and whether it was the simulator's.
    single: HashMap<Key, (Vec<u32>, bool)>,
    /// Reason for an early end.
    pub end: Option<Disagreement>,
    /// The other side's end, once it has come.
    over: Option<Report>,
}

impl<'a> Comparison<'a> {
    /// A comparison between the simulator, which runs the kernel with first word `base`, and a process.
    pub(super) fn new(process: Process, mode: Mode, program: &'a Program, base: u32) -> Comparison<'a> {
        Comparison {
            process,
            mode,
            program,
            base,
            history: VecDeque::new(),
            agreement: Agreement::default(),
            ours: Assembly::default(),
            theirs: Assembly::default(),
            single: HashMap::new(),
            end: None,
            over: None,
        }
    }

    fn line(&self, record: &Record) -> String {
        record.describe(self.program, self.base)
    }

    /// Takes the simulator's records of a cycle.
    pub(super) fn take(&mut self, ours: Vec<Record>) -> ControlFlow<()> {
        self.agreement.records += ours.len() as u64;
        self.agreement.instructions += ours.iter().filter(|r| r.stage == Stage::Issue).count() as u64;
        match self.mode {
            Mode::Cycle => self.take_cycle(ours),
            Mode::Architectural => self.take_architectural(&ours),
        }
    }

    fn take_cycle(&mut self, ours: Vec<Record>) -> ControlFlow<()> {
        let theirs = match self.process.next() {
            Ok(Report::Cycle(theirs)) => theirs,
            Ok(report) => {
                self.over = Some(report);
                Vec::new()
            }
            Err(what) => return self.broken(&what),
        };
        if ours == theirs {
            self.history.extend(ours);
            let surplus = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..surplus);
            return ControlFlow::Continue(());
        }
        self.differ(&ours, &theirs)
    }

    fn broken(&mut self, what: &str) -> ControlFlow<()> {
        self.end = Some(self.broken_off(what));
        ControlFlow::Break(())
    }

    fn broken_off(&self, what: &str) -> Disagreement {
        let mut report = format!("the other side: {what}\n");
        report.push_str(match (self.history.is_empty(), self.mode) {
            (true, _) => "nothing agreed before that\n",
            (false, Mode::Cycle) => "its last records that agreed:\n",
            (false, Mode::Architectural) => "the simulator's last records:\n",
        });
        for record in &self.history {
            _ = writeln!(report, "  {}", self.line(record));
        }
        Disagreement::Broken(report)
    }

    /// Reports the first difference between two cycles.
    fn differ(&mut self, ours: &[Record], theirs: &[Record]) -> ControlFlow<()> {
        let first = ours.iter().chain(theirs).map(|r| r.cycle).min().unwrap_or(0);
        let only = |a: &[Record], b: &[Record]| -> Vec<Record> {
            let mut others: Vec<&Record> = b.iter().collect();
            let mut only: Vec<Record> = a.iter().filter(|r| r.cycle == first).cloned().collect();
            // Each record of the other side cancels one of this side.
            only.retain(|record| match others.iter().position(|other| *other == record) {
                Some(place) => {
                    others.swap_remove(place);
                    false
                }
                None => true,
            });
            only.sort_by_key(|record| record.stage.turn());
            only
        };
        let (only_ours, only_theirs) = (only(ours, theirs), only(theirs, ours));
        let moved = only_ours.iter().chain(&only_theirs).min_by_key(|r| r.stage.turn());
        let stage = moved.map_or("end", |r| r.stage.name());
        let mut report = format!("first difference in cycle {first}, stage {stage}\n");
        for (name, records) in [("simulator", &only_ours), ("other side", &only_theirs)] {
            for record in records {
                _ = writeln!(report, "  only the {name}: {}", self.line(record));
            }
        }
        self.look_ahead(&only_ours, theirs, &mut report);
        if let Some(over) = &self.over {
            _ = writeln!(report, "  the other side has ended: {}", describe_end(over));
        }
        report.push_str("before it, on both sides:\n");
        for record in &self.history {
            _ = writeln!(report, "  {}", self.line(record));
        }
        self.end = Some(Disagreement::Differs { cycle: first, stage, report });
        ControlFlow::Break(())
    }

    /// Looks in the other side's next cycles for the records that only the simulator has.
    fn look_ahead(&mut self, missing: &[Record], theirs: &[Record], report: &mut String) {
        let mut later = theirs.to_vec();
        for _ in 0..LOOK_AHEAD {
            match self.process.next() {
                Ok(Report::Cycle(batch)) => later.extend(batch),
                _ => break,
            }
        }
        for record in missing {
            let same = |r: &&Record| {
                (r.stage, r.slot, r.sequence, r.word)
                    == (record.stage, record.slot, record.sequence, record.word)
            };
            _ = match later.iter().find(same) {
                Some(found) => writeln!(report, "  the other side has it so:  {}", self.line(found)),
                None => writeln!(report, "  the other side has no {} of it soon", record.stage.name()),
            };
        }
    }

    fn take_architectural(&mut self, ours: &[Record]) -> ControlFlow<()> {
        for record in ours {
            if let Some(done) = self.ours.add(record) {
                self.pair(record.cycle, done, true)?;
            }
            self.history.push_back(record.clone());
        }
        let surplus = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..surplus);
        // Reads about as much of the other side, so that neither side piles up.
        if self.over.is_none() { self.take_theirs() } else { ControlFlow::Continue(()) }
    }

    fn take_theirs(&mut self) -> ControlFlow<()> {
        match self.process.next() {
            Ok(Report::Cycle(theirs)) => {
                for record in &theirs {
                    if let Some(done) = self.theirs.add(record) {
                        self.pair(record.cycle, done, false)?;
                    }
                }
                ControlFlow::Continue(())
            }
            Ok(report) => {
                self.over = Some(report);
                ControlFlow::Continue(())
            }
            Err(what) => self.broken(&what),
        }
    }

    /// One side has completed an instruction: compares it with the other side's, if that is complete.
    fn pair(&mut self, cycle: Cycle, (key, what): (Key, Vec<u32>), ours: bool) -> ControlFlow<()> {
        let Some((other, other_is_ours)) = self.single.remove(&key) else {
            self.single.insert(key, (what, ours));
            return ControlFlow::Continue(());
        };
        if other == what && other_is_ours != ours {
            return ControlFlow::Continue(());
        }
        let (mine, its) = if ours { (what, other) } else { (other, what) };
        let place = mine.iter().zip(&its).take_while(|(a, b)| a == b).count();
        let stage = if place <= ISSUE_FIELDS { Stage::Issue.name() } else { Stage::Retire.name() };
        let (group, wave, sequence) = key;
        let hex = |words: &[u32]| words.iter().map(|w| format!("{w:x}")).collect::<Vec<_>>().join(" ");
        let mut report = format!(
            "instruction {sequence} of wave {wave} of workgroup {group:?} differs, at {stage}\n  \
             simulator:  {}\n  other side: {}\n",
            hex(&mine),
            hex(&its)
        );
        if let Some(&word) = mine.first() {
            let fields = mine.get(1..=ISSUE_FIELDS).unwrap_or_default().to_vec();
            let record =
                Record { cycle, stage: Stage::Issue, slot: 0, sequence: sequence as u32, word, fields };
            _ = writeln!(report, "  {}", self.line(&record));
        }
        self.end = Some(Disagreement::Differs { cycle, stage, report });
        ControlFlow::Break(())
    }

    /// The simulator has ended as `ours` says. The other side must end alike.
    pub(super) fn finish(&mut self, ours: Report) -> Result<(), Disagreement> {
        if self.mode == Mode::Architectural {
            while self.over.is_none() && self.end.is_none() {
                if self.take_theirs().is_break() {
                    break;
                }
            }
            if let Some(end) = self.end.take() {
                return Err(end);
            }
        }
        let theirs = match self.over.take() {
            Some(report) => report,
            None => match self.process.next() {
                Ok(report) => report,
                Err(what) => return Err(self.broken_off(&what)),
            },
        };
        let differs = |cycle: Cycle, report: String| Disagreement::Differs { cycle, stage: "end", report };
        if self.mode == Mode::Architectural
            && matches!((&ours, &theirs), (Report::Over(..), Report::Over(..)))
            && let Some((key, (_, by_simulator))) = self.single.iter().next()
        {
            let who = if *by_simulator { "the simulator" } else { "the other side" };
            return Err(differs(0, format!("only {who} has instruction {key:?} (workgroup, wave, number)")));
        }
        self.ends_agree(&ours, &theirs)?;
        self.process.finish().map_err(|what| self.broken_off(&what))
    }

    fn ends_agree(&self, ours: &Report, theirs: &Report) -> Result<(), Disagreement> {
        let differs = |cycle: Cycle, report: String| Disagreement::Differs { cycle, stage: "end", report };
        match (ours, theirs) {
            (Report::Over(cycle, memory), Report::Over(its_cycle, its_memory)) => {
                if self.mode == Mode::Cycle && cycle != its_cycle {
                    return Err(differs(
                        *cycle.min(its_cycle),
                        format!("the simulator ends in cycle {cycle}, the other side in {its_cycle}"),
                    ));
                }
                let place = memory.iter().zip(its_memory).position(|(a, b)| a != b);
                match place {
                    None if memory.len() == its_memory.len() => Ok(()),
                    _ => {
                        let at = place.unwrap_or(0);
                        Err(differs(*cycle, format!("device memory differs from byte 0x{at:x} on")))
                    }
                }
            }
            (Report::Fault(cycle, kind, _, word), Report::Fault(its_cycle, its_kind, _, its_word)) => {
                let same = (kind, word) == (its_kind, its_word)
                    && (cycle == its_cycle || self.mode == Mode::Architectural);
                if same {
                    return Ok(());
                }
                let (mine, its) = (describe_end(ours), describe_end(theirs));
                Err(differs(*cycle.min(its_cycle), format!("simulator: {mine}; other side: {its}")))
            }
            (Report::CycleLimit(cycle), Report::CycleLimit(_)) => Err(Disagreement::Limit(*cycle as u32)),
            (_, Report::Cycle(records)) => {
                let mut report = "the simulator has ended; the other side goes on:\n".to_owned();
                for record in records {
                    _ = writeln!(report, "  {}", self.line(record));
                }
                Err(differs(records.first().map_or(0, |r| r.cycle), report))
            }
            _ => {
                let (mine, its) = (describe_end(ours), describe_end(theirs));
                Err(differs(0, format!("simulator: {mine}; other side: {its}")))
            }
        }
    }
}

/// Number of a fault in the RTL's `fault_e`.
pub(super) fn fault_number(kind: &FaultKind) -> u32 {
    match kind {
        FaultKind::IllegalInstruction(_) => 0,
        FaultKind::DivergenceUnderflow => 1,
        FaultKind::DivergenceOverflow { .. } => 2,
        FaultKind::CallOverflow { .. } => 3,
        FaultKind::ReturnDepth => 4,
        FaultKind::BarrierInDivergence => 5,
        FaultKind::OutOfBounds { .. } => 6,
        FaultKind::MisalignedAtomic { .. } => 7,
    }
}

fn describe_end(report: &Report) -> String {
    match report {
        Report::Over(cycle, _) => format!("it ends in cycle {cycle}"),
        Report::Fault(cycle, kind, slot, word) => {
            format!("a fault of kind {kind} in cycle {cycle}, slot {slot}, word {word}")
        }
        Report::CycleLimit(cycle) => format!("it gives up in cycle {cycle} (`--max-cycles`)"),
        Report::Garbage(what) => what.clone(),
        Report::Cycle(_) => "it goes on".to_owned(),
    }
}
