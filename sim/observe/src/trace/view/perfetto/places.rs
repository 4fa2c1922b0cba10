//! Processes and threads of a trace for Perfetto: their numbers, names and tracks.

use super::file::{TraceFile, Track};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// First thread of a core's memory instructions.
const MEMORY: u32 = 1000;
/// Rows of each slice or channel are numbered from a multiple of this.
const ROWS: u32 = 1000;
/// Most threads of a core, and of the L2; each slice has a thousand.
const CORE_THREADS: u32 = 10_000;
const L2_THREADS: u32 = 10_000_000;

/// A part of the machine that is shown as a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Process {
    Core(u32),
    L2,
    Memory,
}

/// The process and the thread of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    process: Process,
    thread: u32,
}

impl Place {
    /// A core, for its process.
    pub(super) fn core(core: u32) -> Place {
        Place::slot(core, 0)
    }

    pub(super) fn slot(core: u32, slot: u32) -> Place {
        Place { process: Process::Core(core), thread: slot }
    }

    pub(crate) fn memory_row(core: u32, row: usize) -> Place {
        Place { process: Process::Core(core), thread: MEMORY + row as u32 }
    }

    pub(crate) fn slice_row(slice: u32, row: usize) -> Place {
        Place { process: Process::L2, thread: slice * ROWS + row as u32 }
    }

    pub(crate) fn channel_row(channel: u32, row: usize) -> Place {
        Place { process: Process::Memory, thread: channel * ROWS + row as u32 }
    }

    fn thread_name(self) -> String {
        let Place { process, thread } = self;
        let (which, row) = (thread / ROWS, thread % ROWS);
        match process {
            Process::Core(_) if thread < MEMORY => format!("slot {thread}"),
            Process::Core(_) => format!("memory {}", thread - MEMORY),
            Process::L2 => format!("slice {which} row {row}"),
            Process::Memory => format!("channel {which} row {row}"),
        }
    }
}

/// Tracks of the processes and threads in the file so far.
#[derive(Debug)]
pub(super) struct Places {
    cores: u32,
    processes: BTreeMap<Process, Track>,
    threads: BTreeMap<Place, Track>,
}

impl Places {
    /// For a machine with `cores` cores.
    pub(super) fn new(cores: u32) -> Places {
        Places { cores, processes: BTreeMap::new(), threads: BTreeMap::new() }
    }

    /// Process and thread numbers in the file. Perfetto identifies a thread by its number in the whole trace,
    /// uses a process's number for its first thread, and reserves 0 for the idle thread. So no number is 0 or
    /// used twice.
    fn numbers(&self, place: Place) -> (u32, u32) {
        let (process, before) = match place.process {
            Process::Core(core) => (core, core * CORE_THREADS),
            Process::L2 => (self.cores, self.cores * CORE_THREADS),
            Process::Memory => (self.cores + 1, self.cores * CORE_THREADS + L2_THREADS),
        };
        (process + 1, 1 + self.cores + 2 + before + place.thread)
    }

    /// The track of the process of a place. The first request for it writes it.
    pub(super) fn process<W: Write>(&mut self, place: Place, file: &mut TraceFile<W>) -> io::Result<Track> {
        if let Some(&track) = self.processes.get(&place.process) {
            return Ok(track);
        }
        let name = match place.process {
            Process::Core(core) => format!("core {core}"),
            Process::L2 => "L2".to_owned(),
            Process::Memory => "memory".to_owned(),
        };
        let track = file.process(self.numbers(place).0, &name)?;
        self.processes.insert(place.process, track);
        Ok(track)
    }

    /// The track of a thread. The first request for it writes it.
    pub(super) fn thread<W: Write>(&mut self, place: Place, file: &mut TraceFile<W>) -> io::Result<Track> {
        if let Some(&track) = self.threads.get(&place) {
            return Ok(track);
        }
        self.process(place, file)?;
        let (pid, tid) = self.numbers(place);
        let track = file.thread(pid, tid, &place.thread_name())?;
        self.threads.insert(place, track);
        Ok(track)
    }
}
