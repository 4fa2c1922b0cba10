//! Comparison of two traces. Records are paired by launch, wave and sequence number, whatever their order in
//! the files.

use super::record::{Header, Record, STAGES, Stage};
use super::rows::lanes;
use super::text::Rows;
use super::{Item, Launched, Reader, TraceError, binary};
use std::collections::HashMap;
use std::io::BufRead;
use wave_machine::clock::Cycle;

/// What a comparison covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The effects of each instruction: pc, words, masks, results, accesses.
    Architectural,
    /// These, and place and time: core, slot, stages, stalls.
    Cycle,
}

/// Most bytes of records that wait for their counterpart.
const MAX_PENDING_BYTES: usize = 64 << 20;
/// After the first difference, an earlier one is looked for in this many records and cycles: an instruction
/// that began earlier may retire later.
const LOOK_RECORDS: u64 = 100_000;
const LOOK_CYCLES: Cycle = 20_000;

/// A field in which two records differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value in the first file, in the text form.
    pub a: String,
    /// Its value in the second file.
    pub b: String,
    /// For rows: the lanes that differ.
    pub lanes: u64,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// Number of the launch, from 1.
    pub launch: u64,
    /// The record of the first file; `None` if only the second file has it.
    pub a: Option<Record>,
    /// The record of the second file, likewise.
    pub b: Option<Record>,
    /// The fields that differ; empty if one of the records is missing.
    pub fields: Vec<Field>,
    /// The stage that differs first, and the earlier of its two cycles.
    pub moved: Option<(&'static str, Cycle)>,
}

impl Divergence {
    /// One of the records.
    pub fn either(&self) -> &Record {
        self.a.as_ref().or(self.b.as_ref()).expect("a difference is about a record")
    }

    fn order(&self) -> Cycle {
        self.moved.map_or_else(|| self.either().stage(Stage::Issue), |(_, cycle)| cycle)
    }
}

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// This many records agree.
    Same(u64),
    /// The launches or the ends differ; described in words.
    Launches(String),
    /// A record differs.
    Differ(Box<Divergence>),
}

/// Why two files cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// One of them is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// They do not fit together.
    #[error("{0}")]
    Unlike(String),
}

/// Identity of a wave's instruction: workgroup, wave, sequence number.
type Key = ([u32; 3], u32, u64);

fn key(record: &Record) -> Key {
    (record.workgroup, record.wave, record.sequence)
}

/// One of the two files.
struct Side<R> {
    reader: Reader<R>,
    /// The cycle that it has reached.
    at: Cycle,
    /// The launch or the end in front of which it stands.
    stop: Option<Item>,
    /// Records without a counterpart so far, in the binary form.
    pending: HashMap<Key, (Cycle, Vec<u8>)>,
    bytes: usize,
}

impl<R: BufRead> Side<R> {
    fn new(reader: Reader<R>) -> Side<R> {
        Side { reader, at: 0, stop: None, pending: HashMap::new(), bytes: 0 }
    }

    fn take(&mut self, key: &Key, all: u64) -> Option<Record> {
        let (cycle, bytes) = self.pending.remove(key)?;
        self.bytes -= bytes.len();
        let mut record = Record { cycle, ..Record::default() };
        binary::fields(&bytes, all, &mut record).expect("it was a record");
        Some(record)
    }

    fn keep(&mut self, record: &Record, all: u64) {
        let mut bytes = Vec::new();
        binary::put_fields(&mut bytes, record, all);
        self.bytes += bytes.len();
        self.pending.insert(key(record), (record.cycle, bytes));
    }

    /// Takes the waiting record that issued first.
    fn first_pending(&mut self, all: u64) -> Option<Record> {
        let keys: Vec<Key> = self.pending.keys().copied().collect();
        let records = keys.iter().filter_map(|key| self.take(key, all));
        records.min_by_key(|record| (record.stage(Stage::Issue), record.order()))
    }
}

/// Compares two traces.
///
/// # Errors
/// If one is damaged, if they are of different machines or if they are too far out of step.
pub fn diff<R: BufRead, S: BufRead>(a: Reader<R>, b: Reader<S>, mode: Mode) -> Result<Outcome, DiffError> {
    let (first, second) = (a.header().clone(), b.header().clone());
    if first.wave_width != second.wave_width {
        let message = format!(
            "`{}` has waves of {} lanes and `{}` of {}: they cannot be compared",
            a.name(),
            first.wave_width,
            b.name(),
            second.wave_width
        );
        return Err(DiffError::Unlike(message));
    }
    let mut comparison = Comparison {
        all: first.all_lanes(),
        mode,
        headers: [first, second],
        launch: 0,
        same: 0,
        found: None,
        until: (u64::MAX, Cycle::MAX),
    };
    let (mut a, mut b) = (Side::new(a), Side::new(b));
    loop {
        // Advance the side that is behind, so that few records wait.
        let a_goes = b.stop.is_some() || a.stop.is_none() && a.at <= b.at;
        let done = match a_goes {
            true => comparison.advance(&mut a, &mut b, false)?,
            false => comparison.advance(&mut b, &mut a, true)?,
        };
        if done {
            break;
        }
        if let (Some(_), Some(_)) = (&a.stop, &b.stop)
            && let Some(outcome) = comparison.boundary(&mut a, &mut b)
        {
            return Ok(outcome);
        }
        if a.bytes + b.bytes > MAX_PENDING_BYTES {
            let message = format!(
                "the traces are too far out of step: {} instructions of one have no counterpart yet in the other",
                a.pending.len() + b.pending.len()
            );
            return Err(DiffError::Unlike(message));
        }
    }
    Ok(comparison.outcome())
}

struct Comparison {
    all: u64,
    mode: Mode,
    headers: [Header; 2],
    launch: u64,
    same: u64,
    found: Option<Divergence>,
    /// Number of records and cycle at which the search for an earlier difference ends.
    until: (u64, Cycle),
}

impl Comparison {
    fn outcome(&mut self) -> Outcome {
        match self.found.take() {
            Some(found) => Outcome::Differ(Box::new(found)),
            None => Outcome::Same(self.same),
        }
    }

    /// Reads one item of `side`. True if the comparison is decided. `swapped`: `side` is the second file.
    fn advance<R: BufRead, S: BufRead>(
        &mut self,
        side: &mut Side<R>,
        other: &mut Side<S>,
        swapped: bool,
    ) -> Result<bool, TraceError> {
        let mut record = Record::default();
        match side.reader.next(&mut record)? {
            Some(Item::Record) => {}
            stop => {
                side.stop = stop;
                return Ok(false);
            }
        }
        side.at = record.cycle;
        match other.take(&key(&record), self.all) {
            None => side.keep(&record, self.all),
            Some(counterpart) => {
                self.same += 1;
                let (a, b) = if swapped { (counterpart, record) } else { (record, counterpart) };
                self.judge(a, b);
            }
        }
        let (records, cycle) = self.until;
        Ok(self.same > records || side.at.min(other.at) > cycle)
    }

    fn judge(&mut self, a: Record, b: Record) {
        let fields = self.fields(&a, &b);
        if fields.is_empty() {
            return;
        }
        let moved = if self.mode == Mode::Cycle { self.moved(&a, &b) } else { None };
        let found = Divergence { launch: self.launch, a: Some(a), b: Some(b), fields, moved };
        if self.found.is_none() {
            let cycle = found.a.iter().chain(&found.b).map(|r| r.cycle).max().unwrap_or(0);
            self.until = (self.same + LOOK_RECORDS, cycle + LOOK_CYCLES);
        }
        if self.found.as_ref().is_none_or(|before| found.order() < before.order()) {
            self.found = Some(found);
        }
    }

    /// Compares the launches or ends in front of which both sides stand.
    fn boundary<R: BufRead, S: BufRead>(&mut self, a: &mut Side<R>, b: &mut Side<S>) -> Option<Outcome> {
        if self.found.is_some() {
            return Some(self.outcome());
        }
        let (left, right) = (a.first_pending(self.all), b.first_pending(self.all));
        if left.is_some() || right.is_some() {
            let issue = |record: &Option<Record>| record.as_ref().map(|r| r.stage(Stage::Issue));
            let of_a = match (issue(&left), issue(&right)) {
                (Some(a), Some(b)) => a <= b,
                (a, _) => a.is_some(),
            };
            let (a, b) = if of_a { (left, None) } else { (None, right) };
            let found = Divergence { launch: self.launch, a, b, fields: Vec::new(), moved: None };
            return Some(Outcome::Differ(Box::new(found)));
        }
        match (a.stop.take()?, b.stop.take()?) {
            (Item::Launch(a), Item::Launch(b)) => {
                self.launch += 1;
                let what = self.launches(&a, &b)?;
                Some(Outcome::Launches(format!("launch {} differs in {what}", self.launch)))
            }
            (Item::End(a), Item::End(b)) => {
                let (a_how, b_how) = (a.how.name(), b.how.name());
                Some(match (a.how == b.how, self.mode == Mode::Architectural || a.cycle == b.cycle) {
                    (true, true) => Outcome::Same(self.same),
                    (false, _) => {
                        Outcome::Launches(format!("the first ends with {a_how}, the second with {b_how}"))
                    }
                    (true, false) => Outcome::Launches(format!(
                        "the first ends in cycle {}, the second in cycle {}",
                        a.cycle, b.cycle
                    )),
                })
            }
            (Item::Launch(_), _) => Some(Outcome::Launches("the first has one launch more".to_owned())),
            _ => Some(Outcome::Launches("the second has one launch more".to_owned())),
        }
    }

    fn launches(&self, a: &Launched, b: &Launched) -> Option<String> {
        let fields = [
            ("its code", format!("{:016x}", a.kernel_hash), format!("{:016x}", b.kernel_hash)),
            ("its grid", format!("{:?}", a.grid), format!("{:?}", b.grid)),
            ("its workgroup", format!("{:?}", a.workgroup), format!("{:?}", b.workgroup)),
            ("its arguments", format!("{:x?}", a.arguments), format!("{:x?}", b.arguments)),
            ("its first cycle", self.start(a), self.start(b)),
        ];
        let (name, a, b) = fields.into_iter().find(|(_, a, b)| a != b)?;
        Some(format!("{name}: {a} in the first, {b} in the second"))
    }

    fn start(&self, launch: &Launched) -> String {
        if self.mode == Mode::Cycle { launch.start.to_string() } else { String::new() }
    }

    /// Stages that both files report, and retirement: name and both cycles.
    fn stages(&self, a: &Record, b: &Record) -> Vec<(&'static str, Cycle, Cycle)> {
        let reported = |stage: Stage| self.headers.iter().all(|h| h.reports.stages[stage]);
        let stages = STAGES.iter().filter(|&&stage| reported(stage));
        let mut found: Vec<_> = stages.map(|&s| (s.key(), a.stage(s), b.stage(s))).collect();
        found.push(("retire", a.cycle, b.cycle));
        found
    }

    /// The earliest stage that differs, and its earlier cycle.
    fn moved(&self, a: &Record, b: &Record) -> Option<(&'static str, Cycle)> {
        let moved = self.stages(a, b).into_iter().filter(|(_, a, b)| a != b);
        let earlier = |a: Cycle, b: Cycle| if a == 0 || b == 0 { a.max(b) } else { a.min(b) };
        moved.map(|(name, a, b)| (name, earlier(a, b))).min_by_key(|(_, cycle)| *cycle)
    }

    fn fields(&self, a: &Record, b: &Record) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut compare = |name: &str, a: String, b: String| {
            if a != b {
                fields.push(Field { name: name.to_owned(), a, b, lanes: 0 });
            }
        };
        let hex = |value: u64| format!("{value:x}");
        let words = |r: &Record| format!("{:08x?}", &r.words[..usize::from(r.word_count)]);
        let destination = |r: &Record| format!("{}{}", r.destination.name(), r.index);
        let memory = |r: &Record| {
            format!("{}.{}.{}", if r.device { "device" } else { "local" }, r.memory.name(), r.bytes)
        };
        compare("pc", hex(a.pc.into()), hex(b.pc.into()));
        compare("words", words(a), words(b));
        compare("active", hex(a.active), hex(b.active));
        compare("effective", hex(a.effective), hex(b.effective));
        compare("next_pc", hex(a.next_pc.into()), hex(b.next_pc.into()));
        compare("ends", a.ends.to_string(), b.ends.to_string());
        compare("open", a.open.to_string(), b.open.to_string());
        compare("destination", destination(a), destination(b));
        compare("memory", memory(a), memory(b));
        if self.mode == Mode::Cycle {
            compare("core", a.core.to_string(), b.core.to_string());
            compare("slot", a.slot.to_string(), b.slot.to_string());
            for (name, a, b) in self.stages(a, b) {
                compare(name, a.to_string(), b.to_string());
            }
            if self.headers.iter().all(|header| header.reports.stalls) {
                compare("stalls", stalls(a), stalls(b));
            }
        }
        for (name, x, y) in [
            ("values", &a.values, &b.values),
            ("addresses", &a.addresses, &b.addresses),
            ("strides", &a.strides, &b.strides),
            ("sent", &a.sent, &b.sent),
        ] {
            if x != y {
                fields.push(self.rows(name, (x, a.effective), (y, b.effective)));
            }
        }
        fields
    }

    fn rows(&self, name: &str, a: (&[u32], u64), b: (&[u32], u64)) -> Field {
        let width = self.all.count_ones() as usize;
        let text = |(rows, mask)| Rows { rows, width, mask }.to_string();
        let differs = |lane: usize| {
            let of = |rows: &[u32]| rows.chunks_exact(width).map(|row| row[lane]).collect::<Vec<_>>();
            of(a.0) != of(b.0)
        };
        let differing = lanes(self.all).filter(|&lane| differs(lane)).fold(0, |mask, lane| mask | 1 << lane);
        Field { name: name.to_owned(), a: text(a), b: text(b), lanes: differing }
    }
}

/// The stalls of a record in the text form.
pub fn stalls(record: &Record) -> String {
    let shown = record.stalls.iter().map(|s| format!("{}:{}-{}", s.reason.name(), s.from, s.to));
    shown.collect::<Vec<_>>().join(",")
}
