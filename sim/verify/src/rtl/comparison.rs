//! Compares the records of both sides as they arrive.

use super::cosim::{Agreement, Disagreement, Mode};
use super::difference::{Code, is_counterpart};
use super::fault;
use super::packet;
use super::process::Process;
use super::step::{Record, Stage, Step, place};
use super::stream::{FaultReport, Report};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::ops::ControlFlow;
use wave_machine::clock::Cycle;

/// Records in front of a difference that a report shows.
const HISTORY: usize = 12;
/// The step that counts instructions.
const ISSUE: Step = Step::Stage(Stage::Issue);
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
        let Step::Stage(stage) = record.step else { return None };
        match stage {
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
    code: Code<'a>,
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
    /// A comparison between the simulator, which runs this code, and a process.
    pub(super) fn new(process: Process, mode: Mode, code: Code<'a>) -> Comparison<'a> {
        Comparison {
            process,
            mode,
            code,
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
        self.code.line(record)
    }

    /// Takes the simulator's records of a cycle.
    pub(super) fn take(&mut self, ours: Vec<Record>) -> ControlFlow<()> {
        self.agreement.records += ours.len() as u64;
        self.agreement.instructions += ours.iter().filter(|r| r.step == ISSUE).count() as u64;
        match self.mode {
            Mode::Cycle => self.take_cycle(ours),
            Mode::Architectural => self.take_architectural(&ours),
        }
    }

    fn take_cycle(&mut self, ours: Vec<Record>) -> ControlFlow<()> {
        let mut theirs = Vec::new();
        if self.over.is_none() {
            match self.process.next() {
                Ok(Report::Cycle(batch)) => theirs = batch,
                Ok(report) => self.over = Some(report),
                Err(what) => return self.broken(&what),
            }
        }
        if theirs.is_empty() && self.is_after_the_end(&ours) {
            return ControlFlow::Continue(());
        }
        if ours == theirs {
            self.history.extend(ours);
            let surplus = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..surplus);
            return ControlFlow::Continue(());
        }
        self.differ(&ours, &theirs)
    }

    /// True if these are packets that the core sends after the cycle in which the other side has ended. A core without a
    /// wave may still ask for code while the simulator completes its last cycles.
    fn is_after_the_end(&self, ours: &[Record]) -> bool {
        let Some(Report::Over(end, _)) = &self.over else { return false };
        ours.iter().all(|record| record.step == Step::Packet && record.cycle > *end)
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
            only.sort_by_key(|record| record.step.turn());
            only
        };
        let (only_ours, only_theirs) = (only(ours, theirs), only(theirs, ours));
        let moved = only_ours.iter().chain(&only_theirs).min_by_key(|r| r.step.turn());
        let stage = moved.map_or("end", |r| r.step.name());
        let mut report = format!("first difference in cycle {first}, stage {stage}\n");
        report += &self.only(&only_ours, &only_theirs);
        self.look_ahead(&only_ours, &only_theirs, theirs, &mut report);
        if let Some(over) = &self.over {
            _ = writeln!(report, "  the other side has ended: {}", self.describe_end(over));
        }
        report += &self.history();
        self.end = Some(Disagreement::Differs { cycle: first, stage, report });
        ControlFlow::Break(())
    }

    /// Looks in the other side's next cycles for the records that only the simulator has, unless they have a counterpart
    /// in this cycle.
    fn look_ahead(
        &mut self,
        missing: &[Record],
        counterparts: &[Record],
        theirs: &[Record],
        report: &mut String,
    ) {
        let mut later = theirs.to_vec();
        for _ in 0..LOOK_AHEAD {
            match self.process.next() {
                Ok(Report::Cycle(batch)) => later.extend(batch),
                _ => break,
            }
        }
        let has_none = |record: &&Record| !counterparts.iter().any(|its| is_counterpart(record, its));
        for record in missing.iter().filter(has_none) {
            let same = |r: &&Record| {
                (r.step, r.slot, r.sequence, r.word)
                    == (record.step, record.slot, record.sequence, record.word)
                    && (record.step != Step::Packet || packet::same_line(&r.fields, &record.fields))
            };
            _ = match (later.iter().find(same), record.step) {
                (Some(found), _) => writeln!(report, "  the other side has it so:  {}", self.line(found)),
                (None, Step::Packet) => writeln!(report, "  the other side sends no such packet soon"),
                (None, step) => writeln!(report, "  the other side has no {} of it soon", step.name()),
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
        let (group, wave, sequence) = key;
        // In front of the effects is the instruction's word.
        let (Some((&word, mine)), Some((&its_word, its))) = (mine.split_first(), its.split_first()) else {
            return ControlFlow::Continue(());
        };
        let effect = place.saturating_sub(1);
        let stage = self.code.stage_of_effect(word, if word == its_word { effect } else { 0 }).name();
        let mut report =
            format!("instruction {sequence} of wave {wave} of workgroup {group:?} differs, at {stage}\n");
        let at = |word| place_of(&self.code, word);
        if word == its_word {
            _ = writeln!(report, "  {}", at(word));
            report += &self.code.effects(word, mine, its);
        } else {
            _ = writeln!(report, "  simulator:  {}\n  other side: {}", at(word), at(its_word));
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
        let mut theirs = self.over.take();
        // A side that gives up may tell of the cycle in which it does.
        let is_behind = |theirs: &Report| match (&ours, theirs) {
            (Report::CycleLimit(limit), Report::Cycle(records)) => records.iter().all(|r| r.cycle >= *limit),
            _ => false,
        };
        let theirs = loop {
            match theirs.take().map_or_else(|| self.process.next(), Ok) {
                Ok(report) if is_behind(&report) => {}
                Ok(report) => break report,
                Err(what) => return Err(self.broken_off(&what)),
            }
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
            (Report::Fault(mine), Report::Fault(its)) => self.faults_agree(mine, its),
            (Report::CycleLimit(cycle), Report::CycleLimit(_)) => Err(Disagreement::Limit(*cycle as u32)),
            (_, Report::Cycle(records)) => {
                let mine = self.describe_end(ours);
                let mut report = format!("the simulator has ended ({mine}); the other side goes on:\n");
                for record in records {
                    _ = writeln!(report, "  {}", self.line(record));
                }
                Err(differs(records.first().map_or(0, |r| r.cycle), report))
            }
            _ => {
                let ends = |report: &Report| match report {
                    Report::Over(cycle, _) | Report::Fault(FaultReport { cycle, .. }) => *cycle,
                    _ => Cycle::MAX,
                };
                let (mine, its) = (self.describe_end(ours), self.describe_end(theirs));
                let report =
                    format!("the sides end differently\n  simulator:  {mine}\n  other side: {its}\n");
                Err(differs(ends(ours).min(ends(theirs)), report + &self.history()))
            }
        }
    }

    /// Both sides have ended with a fault: it must be the same, and in [`Mode::Cycle`] what stages before the one that
    /// found it have done in its cycle, too.
    fn faults_agree(&self, ours: &FaultReport, theirs: &FaultReport) -> Result<(), Disagreement> {
        let mut differ = Vec::new();
        let mut compare = |what, same: bool| {
            if !same {
                differ.push(what);
            }
        };
        compare("kind", ours.kind == theirs.kind);
        compare("place", ours.word == theirs.word);
        if self.mode == Mode::Cycle {
            compare("cycle", ours.cycle == theirs.cycle);
            compare("slot", ours.slot.is_none() || theirs.slot.is_none() || ours.slot == theirs.slot);
        }
        let cycle = ours.cycle.min(theirs.cycle);
        if !differ.is_empty() {
            let report = format!(
                "the faults differ: {}\n  simulator:  {}\n  other side: {}\n{}",
                differ.join(", "),
                self.describe_fault(ours),
                self.describe_fault(theirs),
                self.history()
            );
            return Err(Disagreement::Differs { cycle, stage: "end", report });
        }
        if self.mode == Mode::Architectural {
            return Ok(());
        }
        let turn = if fault::is_of_access(ours.kind) { Stage::Access.turn() } else { Stage::Issue.turn() };
        let only = |a: &[Record], b: &[Record]| -> Vec<Record> {
            let before = |record: &&Record| record.step.turn() < turn;
            a.iter().filter(before).filter(|record| !b.contains(record)).cloned().collect()
        };
        let (mine, its) = (only(&ours.beside, &theirs.beside), only(&theirs.beside, &ours.beside));
        let Some(first) = mine.iter().chain(&its).min_by_key(|record| record.step.turn()) else {
            return Ok(());
        };
        let stage = first.step.name();
        let mut report = format!("first difference in cycle {cycle}, that of the fault, stage {stage}\n");
        report += &self.only(&mine, &its);
        _ = writeln!(report, "  on both sides: {}", self.describe_fault(ours));
        Err(Disagreement::Differs { cycle, stage, report: report + &self.history() })
    }

    fn describe_fault(&self, fault: &FaultReport) -> String {
        let slot = fault.slot.map_or_else(String::new, |slot| format!("slot {slot:<2} "));
        let at = place_of(&self.code, fault.word);
        format!("cycle {:<6} {slot}{at}: {}", fault.cycle, fault::name(fault.kind))
    }

    fn describe_end(&self, report: &Report) -> String {
        match report {
            Report::Over(cycle, _) => format!("it ends in cycle {cycle}"),
            Report::Fault(fault) => format!("a fault: {}", self.describe_fault(fault)),
            Report::CycleLimit(cycle) => format!("it gives up in cycle {cycle} (`--max-cycles`)"),
            Report::Garbage(what) => what.clone(),
            Report::Cycle(_) => "it goes on".to_owned(),
        }
    }

    /// What came before a difference.
    fn history(&self) -> String {
        let mut text = match self.mode {
            Mode::Cycle => "before it, on both sides:\n",
            Mode::Architectural => "before it, on the simulator:\n",
        }
        .to_owned();
        for record in &self.history {
            _ = writeln!(text, "  {}", self.line(record));
        }
        text
    }

    /// The records that only one side has, and in which fields those differ that belong together.
    fn only(&self, ours: &[Record], theirs: &[Record]) -> String {
        let mut text = String::new();
        for (name, records) in [("simulator", ours), ("other side", theirs)] {
            for record in records {
                _ = writeln!(text, "  only the {name}: {}", self.line(record));
            }
        }
        text + &self.code.pairs(ours, theirs)
    }
}

fn place_of(code: &Code<'_>, word: u32) -> String {
    place(code.program, code.base, word)
}
