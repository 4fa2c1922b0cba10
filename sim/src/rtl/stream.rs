//! The other side of a comparison: a process that runs a core from a stimulus file, and the records that it writes to its
//! standard output.

use super::step::{ISSUE_FIELDS, Record, Stage, masked, sent_rows};
use crate::clock::Cycle;
use crate::isa::Inst;
use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the process reports of one cycle, or how it ended.
#[derive(Debug)]
pub enum Report {
    /// Records of a cycle, sorted; at least one.
    Cycle(Vec<Record>),
    /// A kernel did what it may not do: cycle, kind by its number in `fault_e`, slot, word.
    Fault(Cycle, u32, u32, u32),
    /// The grid is done: the last cycle, and device memory.
    Over(Cycle, Vec<u8>),
    /// It gave up in this cycle.
    CycleLimit(Cycle),
    /// Its output makes no sense.
    Garbage(String),
}

/// Lanes of a row in the stream.
const LANES: usize = 8;

/// A running process.
pub struct Stream {
    child: Child,
    reports: Receiver<Report>,
    reader: Option<JoinHandle<()>>,
    patience: Duration,
}

impl Stream {
    /// Starts `executable` on a stimulus file. It has to say something at least every `patience`.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(executable: &Path, arguments: &[&str], patience: Duration) -> std::io::Result<Stream> {
        let mut child =
            Command::new(executable).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or_else(|| std::io::Error::other("no standard output"))?;
        let (sender, reports) = sync_channel(256);
        let reader = std::thread::spawn(move || {
            let mut reader = Reader::new(BufReader::with_capacity(1 << 16, output));
            if let Err(what) = reader.run(&sender)
                && what != CLOSED
            {
                // The other end has gone away if this fails, and wants nothing more.
                _ = sender.send(Report::Garbage(what.to_owned()));
            }
        });
        Ok(Stream { child, reports, reader: Some(reader), patience })
    }

    /// The next report.
    ///
    /// # Errors
    /// Why there is none: the process said nothing for too long, or ended without an end.
    pub fn next(&mut self) -> Result<Report, String> {
        match self.reports.recv_timeout(self.patience) {
            Ok(report) => Ok(report),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("the process has said nothing for {} s", self.patience.as_secs_f32()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                let mut said = String::new();
                if let Some(errors) = &mut self.child.stderr {
                    _ = errors.read_to_string(&mut said);
                }
                Err(format!("the process ended without an end of its trace ({status}) {}", said.trim()))
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
        // The reader may wait for room in the channel.
        while self.reports.try_recv().is_ok() {}
        drop(std::mem::replace(&mut self.reports, sync_channel(1).1));
        if let Some(reader) = self.reader.take() {
            _ = reader.join();
        }
    }
}

/// The listener has gone away.
const CLOSED: &str = "";

/// An instruction of a wave that went to a collector and has not retired.
struct InFlight {
    sequence: u32,
    word: u32,
    lanes: u64,
    /// First register written, and rows.
    destination: Option<(u8, u8)>,
    predicate: Option<u8>,
    sent: usize,
    /// Rows written so far, by place.
    rows: [Option<[u32; LANES]>; 4],
}

struct Reader<R> {
    input: R,
    batch: Vec<Record>,
    /// By slot.
    in_flight: HashMap<u32, Vec<InFlight>>,
}

impl<R: Read> Reader<R> {
    fn new(input: R) -> Reader<R> {
        Reader { input, batch: Vec::new(), in_flight: HashMap::new() }
    }

    fn words(&mut self, count: usize) -> Result<Option<Vec<u32>>, &'static str> {
        let mut bytes = vec![0; 4 * count];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(_) => return Err("its output cannot be read"),
        }
        let (words, _) = bytes.as_chunks();
        Ok(Some(words.iter().map(|&word| u32::from_le_bytes(word)).collect()))
    }

    fn flush(&mut self, sender: &SyncSender<Report>) -> Result<(), &'static str> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.batch.sort_unstable();
        sender.send(Report::Cycle(std::mem::take(&mut self.batch))).map_err(|_| CLOSED)
    }

    fn run(&mut self, sender: &SyncSender<Report>) -> Result<(), &'static str> {
        while let Some(head) = self.words(2)? {
            let (kind, slot, count) = (head[0] & 0xFF, head[0] >> 8 & 0xFF, (head[0] >> 16) as usize);
            let cycle = Cycle::from(head[1]);
            let Some(fields) = self.words(count)? else { return Err("a record is cut off") };
            match self.batch.first() {
                Some(first) if first.cycle > cycle => return Err("its cycles go back"),
                Some(first) if first.cycle < cycle => self.flush(sender)?,
                _ => {}
            }
            match (kind, fields.as_slice()) {
                (0 | 1 | 3 | 4, &[sequence, word]) => {
                    let stage = match kind {
                        0 => Stage::Fetch,
                        1 => Stage::Decode,
                        3 => Stage::Operands,
                        _ => Stage::Execute,
                    };
                    self.batch.push(Record { cycle, stage, slot, sequence, word, fields: Vec::new() });
                }
                (2, &[sequence, word, ..]) if fields.len() == ISSUE_FIELDS + 2 => {
                    self.issue(cycle, slot, sequence, word, &fields[2..]);
                }
                (5, &[sequence, word, is_predicate, index, value]) => {
                    let value = (is_predicate != 0).then_some((index, value));
                    self.retire(cycle, slot, sequence, word, value)?;
                }
                (6, &[sequence, ref rows @ ..]) if rows.len() == 5 * LANES => {
                    let Some(access) =
                        self.in_flight.get(&slot).and_then(|f| f.iter().find(|i| i.sequence == sequence))
                    else {
                        return Err("an access of an instruction that was never issued");
                    };
                    let fields = masked(&rows[..(1 + access.sent) * LANES], LANES, access.lanes).collect();
                    let word = access.word;
                    self.batch.push(Record { cycle, stage: Stage::Access, slot, sequence, word, fields });
                }
                (7, &[register, ref row @ ..]) if row.len() == LANES => {
                    let row = std::array::from_fn(|lane| row[lane]);
                    self.write(cycle, slot, register, row)?;
                }
                (8, &[kind, word]) => {
                    // The records of the cycle are not complete on the other side.
                    self.batch.clear();
                    return sender.send(Report::Fault(cycle, kind, slot, word)).map_err(|_| CLOSED);
                }
                (9, &[bytes]) => {
                    self.flush(sender)?;
                    let mut memory = vec![0; bytes as usize];
                    self.input.read_exact(&mut memory).map_err(|_| "its memory is cut off")?;
                    return sender.send(Report::Over(cycle, memory)).map_err(|_| CLOSED);
                }
                (10, []) => {
                    self.flush(sender)?;
                    return sender.send(Report::CycleLimit(cycle)).map_err(|_| CLOSED);
                }
                _ => return Err("a record of no known kind"),
            }
        }
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
        self.batch.push(Record { cycle, stage: Stage::Issue, slot, sequence, word, fields });
    }

    fn write(
        &mut self,
        cycle: Cycle,
        slot: u32,
        register: u32,
        row: [u32; LANES],
    ) -> Result<(), &'static str> {
        // The scoreboard has one writer of a register on its way at a time.
        let writer = self.in_flight.get_mut(&slot).and_then(|waiting| {
            waiting.iter_mut().find_map(|i| {
                let (first, rows) = i.destination?;
                let place = register.checked_sub(u32::from(first))?;
                (place < u32::from(rows)).then_some((place as usize, i))
            })
        });
        let Some((place, writer)) = writer else { return Err("a register was written that nobody writes") };
        if writer.rows.iter().all(Option::is_none) {
            let (sequence, word) = (writer.sequence, writer.word);
            let (stage, fields) = (Stage::WriteBack, Vec::new());
            self.batch.push(Record { cycle, stage, slot, sequence, word, fields });
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
    ) -> Result<(), &'static str> {
        let waiting = self.in_flight.entry(slot).or_default();
        let Some(place) = waiting.iter().position(|i| i.sequence == sequence) else {
            return Err("an instruction retired that was never issued");
        };
        let retired = waiting.remove(place);
        let mut fields = Vec::new();
        if let Some((_, rows)) = retired.destination {
            for row in &retired.rows[..usize::from(rows)] {
                let Some(row) = row else {
                    return Err("an instruction retired before its result was written");
                };
                fields.extend(masked(row, LANES, retired.lanes));
            }
        }
        if let Some(expected) = retired.predicate {
            match predicate {
                Some((index, lanes)) if index == u32::from(expected) => {
                    fields.push(lanes & retired.lanes as u32);
                }
                _ => return Err("an instruction retired without the predicate that it writes"),
            }
        }
        self.batch.push(Record { cycle, stage: Stage::Retire, slot, sequence, word, fields });
        Ok(())
    }
}
