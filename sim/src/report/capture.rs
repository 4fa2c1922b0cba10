//! Some instructions of some waves, stage by stage, for the pipeline view.
//!
//! How long a run will be is not known before its end. So captures begin at cycles that double, and the last one that
//! is worth looking at stays: it lies in the later part of the run, whatever its length. The one from the beginning
//! is kept beside it. Where the user names a window, the first waves in it are shown and nothing else.

use crate::clock::Cycle;
use crate::trace::Sink;
use crate::trace::record::{How, Launched, Record, StageField, Stall};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Waves that a capture follows, all of one scheduler.
const WAVES: usize = 4;
/// Most instructions of a capture.
const ROWS: usize = 64;
/// Instructions that are looked at for one: those that retire late leave gaps, and what is behind a gap is left out.
const CANDIDATES: usize = 2 * ROWS;
/// Of a capture that is kept in place of an earlier one.
const WORTHWHILE: usize = ROWS / 3;
/// The first capture after the beginning starts here.
const FIRST: Cycle = 128;

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Launch of the run, from 0.
    pub launch: usize,
    /// Core.
    pub core: u32,
    /// Wave slot of the core.
    pub slot: u32,
    /// The workgroup's position in the grid.
    pub workgroup: [u32; 3],
    /// The wave's index in its workgroup.
    pub wave: u32,
    /// Position in the wave's issue order.
    pub sequence: u64,
    /// Byte offset in the code section.
    pub pc: u32,
    /// Lanes that took part.
    pub lanes: u32,
    /// Cycle of each stage, indexed by [`StageField`]; 0 where there is none.
    pub stages: [Cycle; StageField::COUNT],
    /// When it retired, or the run ended before it did.
    pub end: Cycle,
    /// It had not retired at the end of the run.
    pub open: bool,
    /// When and why it waited.
    pub stalls: Vec<Stall>,
}

impl Row {
    fn new(record: &Record, launch: usize) -> Row {
        Row {
            launch,
            core: record.core,
            slot: record.slot,
            workgroup: record.workgroup,
            wave: record.wave,
            sequence: record.sequence,
            pc: record.pc,
            lanes: record.effective.count_ones(),
            stages: record.stages,
            end: record.cycle,
            open: record.open,
            stalls: record.stalls.clone(),
        }
    }

    /// When it issued.
    pub fn issue(&self) -> Cycle {
        self.stages[StageField::Issue as usize]
    }

    /// The first cycle that is known of it.
    pub fn begin(&self) -> Cycle {
        let stages = self.stages.iter().copied().filter(|&at| at != 0);
        stages.chain(self.stalls.first().map(|stall| stall.from)).min().unwrap_or(self.end)
    }
}

/// What is captured of a run.
#[derive(Debug, Default)]
pub struct Captured {
    /// The beginning of the run, or the user's window.
    pub first: Vec<Row>,
    /// A later part.
    pub later: Vec<Row>,
}

/// The sink that captures.
#[derive(Debug)]
pub struct Capture {
    kept: Arc<Mutex<Captured>>,
    schedulers: u32,
    /// The user has named what to show.
    windowed: bool,
    /// The rows of the capture that is under way, and where the next one begins.
    rows: Vec<Row>,
    next: Cycle,
    /// The first capture is complete.
    begun: bool,
    launches: usize,
}

impl Capture {
    /// A capture on a machine with so many schedulers a core. With `windowed`, what comes is what the user wants to see.
    pub fn new(schedulers: u32, windowed: bool) -> (Capture, Arc<Mutex<Captured>>) {
        let kept = Arc::new(Mutex::new(Captured::default()));
        let capture = Capture {
            kept: kept.clone(),
            schedulers,
            windowed,
            rows: Vec::new(),
            next: FIRST,
            begun: false,
            launches: 0,
        };
        (capture, kept)
    }

    /// True if a row belongs to one of the waves that the capture follows, or can be one of them.
    fn follows(&self, row: &Row) -> bool {
        let Some(first) = self.rows.first() else { return true };
        let near = row.launch == first.launch
            && row.core == first.core
            && row.slot % self.schedulers == first.slot % self.schedulers;
        let mut others: Vec<u32> = self.rows.iter().map(|other| other.slot).collect();
        others.sort_unstable();
        others.dedup();
        near && (others.contains(&row.slot) || others.len() < WAVES)
    }

    /// Ends the capture that is under way.
    fn close(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_by_key(|row| (row.slot, row.issue(), row.sequence));
        without_gaps(&mut rows);
        rows.sort_by_key(Row::issue);
        rows.truncate(ROWS);
        rows.sort_by_key(|row| (row.slot, row.issue(), row.sequence));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.begun {
            kept.first = rows;
            self.begun = true;
        } else if rows.len() >= WORTHWHILE || rows.len() > kept.later.len() {
            kept.later = rows;
        }
    }
}

/// Keeps of each slot the instructions up to the first that is missing.
fn without_gaps(rows: &mut Vec<Row>) {
    let mut before: Option<Row> = None;
    let mut gap = None;
    rows.retain(|row| {
        let follows = before.as_ref().is_none_or(|before| {
            let same = (before.workgroup, before.wave) == (row.workgroup, row.wave);
            before.slot != row.slot || row.sequence == if same { before.sequence + 1 } else { 0 }
        });
        if !follows {
            gap = Some(row.slot);
        }
        let kept = gap != Some(row.slot);
        if kept {
            before = Some(row.clone());
        }
        kept
    });
}

impl Sink for Capture {
    fn launch(&mut self, _: &Launched) -> io::Result<()> {
        self.launches += 1;
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        if self.windowed && self.begun {
            return Ok(());
        }
        let issue = record.stage(StageField::Issue);
        if !self.windowed && self.begun && issue < self.next && self.rows.is_empty() {
            return Ok(());
        }
        if self.rows.len() < CANDIDATES {
            let row = Row::new(record, self.launches.saturating_sub(1));
            if self.follows(&row) {
                self.rows.push(row);
            }
        }
        let over = !self.windowed && self.begun && issue >= 2 * self.next;
        if self.rows.len() >= CANDIDATES || over {
            self.close();
            while self.begun && self.next <= issue {
                self.next *= 2;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: How, _: Cycle, _: &str) -> io::Result<()> {
        self.close();
        Ok(())
    }
}
