//! Pipeline logs for Konata, in the format Kanata 0004.
//!
//! An instruction is a row; a wave is a thread. Lane 0 shows the stages: F fetch, D decoded and in the
//! instruction buffer, I issued and reading operands, O operands read, X executing, W writing its rows. Lane
//! 1 shows the stalls. Arrows come from the last writer of each register and predicate that an instruction
//! reads.

use super::timeline::Timeline;
use crate::trace::Sink;
use crate::trace::record::{DestinationKind, How, Launched, Record, STAGES, Stage, Wait};
use crate::trace::text::instruction;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use wave_isa::Inst;
use wave_machine::clock::Cycle;

/// Most records by which an arrow's origin may precede the newest.
const REMEMBERED: usize = 1 << 16;
/// Writers remembered per register. One is not enough, because a later writer may retire before an earlier
/// reader.
const WRITERS: usize = 4;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin { label: String, hover: String, thread: u64 },
    Stage(&'static str),
    Stall(Wait),
    EndStall(Wait),
    Needs(u64),
    End { flushed: bool },
}

/// A register, or a predicate (numbered from [`PREDICATE`] on), that an instruction reads or writes.
type Place = u16;
const PREDICATE: Place = 256;

/// Writes a log.
#[derive(Debug)]
pub struct Kanata<W> {
    out: W,
    timeline: Timeline<(u64, Event)>,
    /// Current cycle of the log.
    now: Option<Cycle>,
    /// Number of the next record, in the order of retirement.
    next: u64,
    /// Ids in the log of the records from number `first` on; `None` until a record begins.
    ids: VecDeque<Option<u64>>,
    first: u64,
    begun: u64,
    ended: u64,
    threads: HashMap<([u32; 3], u32), u64>,
    /// The latest writers by core, slot and place: sequence number and record number.
    writers: HashMap<(u32, u32, Place), Vec<(u64, u64)>>,
}

impl<W: Write> Kanata<W> {
    /// Begins a log.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn new(mut out: W) -> io::Result<Kanata<W>> {
        writeln!(out, "Kanata\t0004")?;
        Ok(Kanata {
            out,
            timeline: Timeline::default(),
            now: None,
            next: 0,
            ids: VecDeque::new(),
            first: 0,
            begun: 0,
            ended: 0,
            threads: HashMap::new(),
            writers: HashMap::new(),
        })
    }

    /// Writes the events before a cycle.
    fn flush_to(&mut self, before: Cycle) -> io::Result<()> {
        while let Some((cycle, (number, event))) = self.timeline.next(before) {
            match self.now {
                None => writeln!(self.out, "C=\t{cycle}")?,
                Some(now) if now < cycle => writeln!(self.out, "C\t{}", cycle - now)?,
                Some(_) => {}
            }
            self.now = Some(cycle);
            self.event(number, event)?;
        }
        while self.ids.len() > REMEMBERED && self.first < self.ended {
            self.ids.pop_front();
            self.first += 1;
        }
        Ok(())
    }

    fn id(&self, number: u64) -> Option<u64> {
        let place = number.checked_sub(self.first)?;
        *self.ids.get(place as usize)?
    }

    fn event(&mut self, number: u64, event: Event) -> io::Result<()> {
        if let Event::Begin { label, hover, thread } = event {
            let id = self.begun;
            self.begun += 1;
            self.ids[(number - self.first) as usize] = Some(id);
            writeln!(self.out, "I\t{id}\t{id}\t{thread}")?;
            writeln!(self.out, "L\t{id}\t0\t{label}")?;
            return writeln!(self.out, "L\t{id}\t1\t{hover}");
        }
        let Some(id) = self.id(number) else { return Ok(()) };
        match event {
            Event::Begin { .. } => Ok(()),
            Event::Stage(name) => writeln!(self.out, "S\t{id}\t0\t{name}"),
            Event::Stall(reason) => writeln!(self.out, "S\t{id}\t1\t{}", reason.name()),
            Event::EndStall(reason) => writeln!(self.out, "E\t{id}\t1\t{}", reason.name()),
            Event::Needs(producer) => match self.id(producer) {
                Some(producer) => writeln!(self.out, "W\t{id}\t{producer}\t0"),
                None => Ok(()),
            },
            Event::End { flushed } => {
                let order = self.ended;
                self.ended += 1;
                writeln!(self.out, "R\t{id}\t{order}\t{}", u8::from(flushed))
            }
        }
    }

    /// The records whose results this one reads. Registers this one as the writer of its destinations.
    fn producers(&mut self, record: &Record, number: u64) -> Vec<u64> {
        let Ok(inst) = Inst::decode(&record.words[..usize::from(record.word_count)]) else {
            return Vec::new();
        };
        let registers = inst
            .sources()
            .flat_map(|(first, rows)| (0..rows).map(move |row| Place::from(first) + Place::from(row)));
        let guard = inst.guard.is_some().then_some(inst.guard.predicate);
        let operand = inst.predicate_source().map(|(predicate, _)| predicate);
        let predicates = guard.into_iter().chain(operand).map(|p| PREDICATE + Place::from(p));
        let mut found = Vec::new();
        for place in registers.chain(predicates) {
            let writers = self.writers.get(&(record.core, record.slot, place));
            let earlier = writers.into_iter().flatten().filter(|(sequence, _)| *sequence < record.sequence);
            if let Some((_, producer)) = earlier.max_by_key(|(sequence, _)| *sequence)
                && !found.contains(producer)
            {
                found.push(*producer);
            }
        }
        let rows = inst.destination(64).map_or(0, |(_, rows)| rows);
        let written = match record.destination {
            DestinationKind::Registers => 0..Place::from(rows),
            DestinationKind::Predicate => PREDICATE..PREDICATE + 1,
            _ => 0..0,
        };
        for place in written.map(|place| place + Place::from(record.index)) {
            let writers = self.writers.entry((record.core, record.slot, place)).or_default();
            writers.push((record.sequence, number));
            if writers.len() > WRITERS {
                writers.remove(0);
            }
        }
        found
    }
}

/// Name of each stage in the log. Arrows lead to X.
const NAMES: [(Stage, &str); STAGES.len()] = [
    (Stage::Fetch, "F"),
    (Stage::Decode, "D"),
    (Stage::Issue, "I"),
    (Stage::Operands, "O"),
    (Stage::Execute, "X"),
    (Stage::WriteBack, "W"),
];

impl<W: Write + Send> Sink for Kanata<W> {
    fn launch(&mut self, _: &Launched) -> io::Result<()> {
        self.threads.clear();
        self.writers.clear();
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        self.ids.push_back(None);
        let threads = self.threads.len() as u64;
        let thread = *self.threads.entry((record.workgroup, record.wave)).or_insert(threads);
        if record.sequence == 0 {
            // A new wave in the slot has no producers in the previous one.
            self.writers.retain(|&(core, slot, _), _| (core, slot) != (record.core, record.slot));
        }
        let producers = self.producers(record, number);
        let [x, y, z] = record.workgroup;
        let label = format!("{:04x}: {}", record.pc, instruction(record));
        let hover = format!(
            "workgroup {x},{y},{z} wave {} instruction {} core {} slot {} lanes {:x}",
            record.wave, record.sequence, record.core, record.slot, record.effective
        );
        let stages: Vec<_> = NAMES.iter().filter(|(stage, _)| record.stage(*stage) != 0).collect();
        let begin = stages.first().map_or(record.cycle, |(stage, _)| record.stage(*stage));
        self.timeline.add(begin, (number, Event::Begin { label, hover, thread }));
        for (stage, name) in stages {
            self.timeline.add(record.stage(*stage), (number, Event::Stage(name)));
        }
        let execute = record.stage(Stage::Execute);
        if execute != 0 {
            for producer in producers {
                self.timeline.add(execute, (number, Event::Needs(producer)));
            }
        }
        for stall in &record.stalls {
            // An instruction has no row before its fetch.
            let from = stall.from.max(begin);
            if from < stall.to {
                self.timeline.add(from, (number, Event::Stall(stall.reason)));
                self.timeline.add(stall.to, (number, Event::EndStall(stall.reason)));
            }
        }
        self.timeline.add(record.cycle + 1, (number, Event::End { flushed: record.open }));
        Ok(())
    }

    fn is_in_order_of_time(&self) -> bool {
        true
    }

    fn advanced(&mut self, oldest: Cycle) -> io::Result<()> {
        self.flush_to(oldest)
    }

    fn end(&mut self, _: How, _: Cycle, _: &str) -> io::Result<()> {
        self.flush_to(Cycle::MAX)?;
        self.out.flush()
    }
}
