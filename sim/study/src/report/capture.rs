//! Records some instructions of some waves, stage by stage, for the pipeline view.
//!
//! The length of a run is not known before its end. Captures therefore start at cycles that double, and the
//! last capture with enough rows is kept: it lies in the later part of any run. The capture from the
//! beginning is kept as well. If the user names a window, only the first waves in that window are captured.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use wave_machine::clock::Cycle;
use wave_observe::trace::Sink;
use wave_observe::trace::record::{How, Launched, PerStage, Record, Stage, Stall};

/// Most waves in a capture, all of one scheduler.
const WAVES: usize = 4;
/// Most instructions in a capture.
const ROWS: usize = 64;
/// Instructions collected per capture. Late retirement leaves gaps, and a wave's rows after a gap are
/// dropped.
const CANDIDATES: usize = 2 * ROWS;
/// A capture with at least this many rows replaces the previous one even if that has more.
const WORTHWHILE: usize = ROWS / 3;
/// Start cycle of the second capture. The first starts with the run.
const FIRST: Cycle = 128;

/// An instruction in the pipeline view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Index of the launch in the run.
    pub launch: usize,
    /// Core.
    pub core: u32,
    /// Wave slot of the core.
    pub slot: u32,
    /// Position of the workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Index of the wave in the workgroup.
    pub wave: u32,
    /// Position in the issue order of the wave.
    pub sequence: u64,
    /// Byte offset in the code section.
    pub pc: u32,
    /// Number of lanes that executed it.
    pub lanes: u32,
    /// Cycle of each stage; 0 if it did not pass the stage.
    pub stages: PerStage<Cycle>,
    /// Cycle of retirement, or end of the run if that came first.
    pub end: Cycle,
    /// True if it had not retired at the end of the run.
    pub open: bool,
    /// When and why it stalled.
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

    /// Cycle of issue.
    pub fn issue(&self) -> Cycle {
        self.stages[Stage::Issue]
    }

    /// First cycle known of it, a stage or a stall.
    pub fn begin(&self) -> Cycle {
        let stages = self.stages.0.iter().copied().filter(|&at| at != 0);
        stages.chain(self.stalls.first().map(|stall| stall.from)).min().unwrap_or(self.end)
    }
}

/// The captures of a run.
#[derive(Debug, Default)]
pub struct Captured {
    /// From the beginning of the run, or from the user's window.
    pub first: Vec<Row>,
    /// From a later part of the run.
    pub later: Vec<Row>,
}

/// The trace sink that makes the captures.
#[derive(Debug)]
pub struct Capture {
    kept: Arc<Mutex<Captured>>,
    schedulers: u32,
    /// True if the user has named a window.
    windowed: bool,
    /// Rows of the current capture, and the cycle at which the next one begins.
    rows: Vec<Row>,
    next: Cycle,
    /// True once the first capture is complete.
    begun: bool,
    launches: usize,
}

impl Capture {
    /// A sink for a machine with `schedulers` schedulers per core. `windowed`: the records are those of the
    /// user's window.
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

    /// True if the row belongs to a wave that the capture follows, or to one that it can still add.
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

    /// Ends the current capture and keeps it if it has enough rows.
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

/// Keeps the rows of each slot up to the first missing instruction.
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
        let issue = record.stage(Stage::Issue);
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
