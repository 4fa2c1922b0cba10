//! Reads the records that another core writes, groups them by cycle and checks them for consistency.

use super::packet;
use super::step::{ISSUE_FIELDS, Record, Stage, Step, masked, sent_rows};
use std::collections::HashMap;
use std::io::Read;
use std::sync::mpsc::SyncSender;
use wave_isa::Inst;
use wave_machine::clock::Cycle;

/// A report about one cycle, or about the end.
#[derive(Debug)]
pub(super) enum Report {
    /// Records of a cycle, sorted; at least one.
    Cycle(Vec<Record>),
    /// The kernel faulted.
    Fault(FaultReport),
    /// The grid is done: last cycle, and device memory.
    Over(Cycle, Vec<u8>),
    /// The process gave up in this cycle.
    CycleLimit(Cycle),
    /// The output is inconsistent.
    Garbage(String),
}

/// A fault, with which a run ends.
#[derive(Debug)]
pub(super) struct FaultReport {
    /// When.
    pub cycle: Cycle,
    /// Its kind, as the number of [`super::fault`].
    pub kind: u32,
    /// Wave slot; `None` if it is not known.
    pub slot: Option<u32>,
    /// Word of the kernel.
    pub word: u32,
    /// The records of its cycle, sorted. Those of stages that work after the one that found it may be missing.
    pub beside: Vec<Record>,
}

/// Lanes of a row in the stream.
pub(super) const LANES: usize = 8;
/// Most records of a cycle: far more than a core has stages and slots.
const RECORDS_OF_A_CYCLE: usize = 4096;

/// Limits of a consistent stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes of device memory.
    pub memory: usize,
    /// The last possible cycle of a record.
    pub cycles: Cycle,
}

/// Why the reader stops.
enum Stop {
    /// The receiver is gone.
    Closed,
    /// The output is inconsistent.
    Garbage(String),
}

impl From<&str> for Stop {
    fn from(what: &str) -> Stop {
        Stop::Garbage(what.to_owned())
    }
}

/// Reads all records of `input` and sends them cycle by cycle. If the output is inconsistent, that is the
/// last report.
pub(super) fn read(input: impl Read, bounds: Bounds, sender: &SyncSender<Report>) {
    let mut reader = Reader { input, bounds, batch: Vec::new(), in_flight: HashMap::new() };
    if let Err(Stop::Garbage(what)) = reader.run(sender) {
        // The receiver may be gone.
        _ = sender.send(Report::Garbage(what));
    }
}

/// An instruction of a wave that went to a collector and has not retired.
struct InFlight {
    sequence: u32,
    word: u32,
    lanes: u64,
    /// First register written, and number of rows.
    destination: Option<(u8, u8)>,
    predicate: Option<u8>,
    sent: usize,
    /// Rows written so far, by index.
    rows: [Option<[u32; LANES]>; 4],
}

struct Reader<R> {
    input: R,
    bounds: Bounds,
    batch: Vec<Record>,
    /// By slot.
    in_flight: HashMap<u32, Vec<InFlight>>,
}

impl<R: Read> Reader<R> {
    /// The next words. `None` at the end of the output, which must not lie within them.
    fn words(&mut self, count: usize) -> Result<Option<Vec<u32>>, Stop> {
        let mut bytes = vec![0; 4 * count];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err("a record is cut off".into()),
                Ok(more) => filled += more,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err("its output cannot be read".into()),
            }
        }
        let (words, _) = bytes.as_chunks();
        Ok(Some(words.iter().map(|&word| u32::from_le_bytes(word)).collect()))
    }

    /// Checks that nothing follows the end.
    fn ended(&mut self) -> Result<(), Stop> {
        match self.words(1)? {
            None => Ok(()),
            Some(_) => Err("it goes on behind its end".into()),
        }
    }

    fn flush(&mut self, sender: &SyncSender<Report>) -> Result<(), Stop> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.batch.sort_unstable();
        sender.send(Report::Cycle(std::mem::take(&mut self.batch))).map_err(|_| Stop::Closed)
    }

    fn run(&mut self, sender: &SyncSender<Report>) -> Result<(), Stop> {
        while let Some(head) = self.words(2)? {
            let (kind, slot, count) = (head[0] & 0xFF, head[0] >> 8 & 0xFF, (head[0] >> 16) as usize);
            let cycle = Cycle::from(head[1]);
            let cut = || Stop::from("a record is cut off");
            let fields = if count == 0 { Vec::new() } else { self.words(count)?.ok_or_else(cut)? };
            if cycle > self.bounds.cycles {
                let limit = self.bounds.cycles;
                return Err(Stop::Garbage(format!("a record of cycle {cycle}, past the limit of {limit}")));
            }
            match self.batch.first() {
                Some(first) if first.cycle > cycle => {
                    let before = first.cycle;
                    return Err(Stop::Garbage(format!("its cycles go back, from {before} to {cycle}")));
                }
                Some(first) if first.cycle < cycle => self.flush(sender)?,
                _ => {}
            }
            if self.batch.len() == RECORDS_OF_A_CYCLE {
                let what = format!("more than {RECORDS_OF_A_CYCLE} records in cycle {cycle}");
                return Err(Stop::Garbage(what));
            }
            match (kind, fields.as_slice()) {
                (0 | 1 | 3 | 4, &[sequence, word]) => {
                    let stage = match kind {
                        0 => Stage::Fetch,
                        1 => Stage::Decode,
                        3 => Stage::Operands,
                        _ => Stage::Execute,
                    };
                    let (step, fields) = (Step::Stage(stage), Vec::new());
                    self.batch.push(Record { cycle, step, slot, sequence, word, fields });
                }
                (2, &[sequence, word, ..]) if fields.len() == ISSUE_FIELDS + 2 => {
                    self.issue(cycle, slot, sequence, word, &fields[2..]);
                }
                (5, &[sequence, word, is_predicate, index, value]) => {
                    let value = (is_predicate != 0).then_some((index, value));
                    self.retire(cycle, slot, sequence, word, value)?;
                }
                (6, &[sequence, ref rows @ ..]) if rows.len() == 5 * LANES => {
                    self.access(cycle, slot, sequence, rows)?;
                }
                (7, &[register, ref row @ ..]) if row.len() == LANES => {
                    let row = std::array::from_fn(|lane| row[lane]);
                    self.write(cycle, slot, register, row)?;
                }
                (8, &[kind, word]) => {
                    // The other side does not complete the records of this cycle.
                    self.batch.sort_unstable();
                    let beside = std::mem::take(&mut self.batch);
                    let fault = FaultReport { cycle, kind, slot: Some(slot), word, beside };
                    sender.send(Report::Fault(fault)).map_err(|_| Stop::Closed)?;
                    return self.ended();
                }
                (11, fields) if packet::makes_sense(fields) => {
                    let (step, fields) = (Step::Packet, packet::meaningful(fields.to_vec()));
                    self.batch.push(Record { cycle, step, slot: 0, sequence: 0, word: 0, fields });
                }
                (9, &[bytes]) if bytes as usize == self.bounds.memory => {
                    self.flush(sender)?;
                    let mut memory = vec![0; bytes as usize];
                    self.input.read_exact(&mut memory).map_err(|_| "its memory is cut off")?;
                    sender.send(Report::Over(cycle, memory)).map_err(|_| Stop::Closed)?;
                    return self.ended();
                }
                (9, &[bytes]) => {
                    let expected = self.bounds.memory;
                    let what = format!("{bytes} bytes of device memory at its end, and not {expected}");
                    return Err(Stop::Garbage(what));
                }
                (10, []) => {
                    self.flush(sender)?;
                    sender.send(Report::CycleLimit(cycle)).map_err(|_| Stop::Closed)?;
                    return self.ended();
                }
                _ => {
                    let what = format!("a record of kind {kind} with {count} words in cycle {cycle}");
                    return Err(Stop::Garbage(what));
                }
            }
        }
        Ok(())
    }

    /// The rows that an instruction sends when it becomes the head of the load/store unit.
    fn access(&mut self, cycle: Cycle, slot: u32, sequence: u32, rows: &[u32]) -> Result<(), Stop> {
        let waiting = self.in_flight.get(&slot).and_then(|f| f.iter().find(|i| i.sequence == sequence));
        let Some(access) = waiting else {
            return Err("an access of an instruction that was never issued".into());
        };
        let fields = masked(&rows[..(1 + access.sent) * LANES], LANES, access.lanes).collect();
        let word = access.word;
        let step = Step::Stage(Stage::Access);
        self.batch.push(Record { cycle, step, slot, sequence, word, fields });
        Ok(())
    }

    fn issue(&mut self, cycle: Cycle, slot: u32, sequence: u32, word: u32, fields: &[u32]) {
        let mut fields = fields.to_vec();
        let (done, words) = (fields[0] != 0, fields[1] as usize);
        if fields[ISSUE_FIELDS - 1] != 0 {
            fields[ISSUE_FIELDS - 2] = 0;
        }
        if !done {
            let inst = Inst::decode(&fields[2..2 + words.min(2)]).ok();
            let destination = inst.and_then(|inst| inst.destination(LANES));
            self.in_flight.entry(slot).or_default().push(InFlight {
                sequence,
                word,
                lanes: u64::from(fields[5]),
                destination,
                predicate: inst.and_then(|inst| inst.predicate_destination()),
                sent: inst.map_or(0, |inst| sent_rows(inst.op)),
                rows: [None; 4],
            });
        }
        let step = Step::Stage(Stage::Issue);
        self.batch.push(Record { cycle, step, slot, sequence, word, fields });
    }

    fn write(&mut self, cycle: Cycle, slot: u32, register: u32, row: [u32; LANES]) -> Result<(), Stop> {
        // The scoreboard allows one outstanding writer per register.
        let writer = self.in_flight.get_mut(&slot).and_then(|waiting| {
            waiting.iter_mut().find_map(|i| {
                let (first, rows) = i.destination?;
                let place = register.checked_sub(u32::from(first))?;
                (place < u32::from(rows)).then_some((place as usize, i))
            })
        });
        let Some((place, writer)) = writer else {
            return Err("a register was written that nobody writes".into());
        };
        if writer.rows.iter().all(Option::is_none) {
            let (sequence, word) = (writer.sequence, writer.word);
            let (step, fields) = (Step::Stage(Stage::WriteBack), Vec::new());
            self.batch.push(Record { cycle, step, slot, sequence, word, fields });
        }
        writer.rows[place] = Some(row);
        Ok(())
    }

    fn retire(
        &mut self,
        cycle: Cycle,
        slot: u32,
        sequence: u32,
        word: u32,
        predicate: Option<(u32, u32)>,
    ) -> Result<(), Stop> {
        let waiting = self.in_flight.entry(slot).or_default();
        let Some(place) = waiting.iter().position(|i| i.sequence == sequence) else {
            return Err("an instruction retired that was never issued".into());
        };
        let retired = waiting.remove(place);
        let mut fields = Vec::new();
        if let Some((_, rows)) = retired.destination {
            for row in &retired.rows[..usize::from(rows)] {
                let Some(row) = row else {
                    return Err("an instruction retired before its result was written".into());
                };
                fields.extend(masked(row, LANES, retired.lanes));
            }
        }
        if let Some(expected) = retired.predicate {
            match predicate {
                Some((index, lanes)) if index == u32::from(expected) => {
                    fields.push(lanes & retired.lanes as u32);
                }
                _ => return Err("an instruction retired without the predicate that it writes".into()),
            }
        }
        let step = Step::Stage(Stage::Retire);
        self.batch.push(Record { cycle, step, slot, sequence, word, fields });
        Ok(())
    }
}
