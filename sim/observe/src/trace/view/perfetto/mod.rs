//! Traces for Perfetto in its protobuf form. A cycle is shown as a microsecond.
//!
//! A core is a process. Each of its wave slots is a thread with issues and stalls. Memory instructions are on
//! threads of their own, with a flow from their issue and flows to their requests in the L2 and in memory. L2
//! and memory are processes too; each slice or channel is a group of threads. Counters show instructions per
//! cycle, waves, and the bytes of device memory that instructions request.

mod file;
mod message;
mod places;
mod requests;

use crate::trace::Sink;
use crate::trace::record::{How, Launched, MemoryKind, Record, Stage};
use crate::trace::text::instruction;
use file::{Category, Event, Name, TraceFile, Track, Value};
use places::{Place, Places};
use requests::Requests;
use std::collections::HashMap;
use std::io::{self, Write};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::Hop;

/// Cycles per value of a counter.
const BUCKET: Cycle = 64;

/// A counter of a core, and its last value in the file.
#[derive(Debug)]
struct Counter {
    track: Track,
    shown: Option<f64>,
}

/// Counters of a core.
#[derive(Debug, Default)]
struct Core {
    instructions: u64,
    bytes: u64,
    waves: i64,
    counters: Vec<Counter>,
    /// Per row of memory instructions: the first cycle in which it is free.
    rows: Vec<Cycle>,
}

/// Writes a trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    file: TraceFile<W>,
    places: Places,
    cores: Vec<Core>,
    launches: Track,
    /// Names of instructions, by their words.
    names: HashMap<(u8, [u32; 2]), Name>,
    bucket: Cycle,
    requests: Requests,
}

impl<W: Write> Perfetto<W> {
    /// Begins a trace of this machine.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn new(out: W, config: &Config) -> io::Result<Perfetto<W>> {
        let mut file = TraceFile::new(out);
        let launches = file.root("launches")?;
        let mut places = Places::new(config.cores);
        let mut cores = Vec::new();
        for core in 0..config.cores {
            let process = places.process(Place::core(core), &mut file)?;
            let mut counters = Vec::new();
            for name in ["instructions per cycle", "waves", "device bytes asked for per cycle"] {
                counters.push(Counter { track: file.counter(process, name)?, shown: None });
            }
            cores.push(Core { counters, ..Core::default() });
        }
        let requests = Requests::new(config.dram.channels, config.core.l1.line_bytes);
        let names = HashMap::new();
        Ok(Perfetto { file, places, cores, launches, names, bucket: 0, requests })
    }

    /// Writes the counters of the buckets before a cycle.
    fn count_to(&mut self, cycle: Cycle) -> io::Result<()> {
        while self.bucket + BUCKET <= cycle {
            let idle = self.cores.iter().all(|c| (c.instructions, c.bytes) == (0, 0));
            for core in &mut self.cores {
                let per_cycle = |n: &mut u64| std::mem::take(n) as f64 / BUCKET as f64;
                let (ipc, bytes) = (per_cycle(&mut core.instructions), per_cycle(&mut core.bytes));
                for (counter, value) in core.counters.iter_mut().zip([ipc, core.waves as f64, bytes]) {
                    // A counter keeps its value until it has another one.
                    if counter.shown != Some(value) {
                        counter.shown = Some(value);
                        self.file.value(counter.track, self.bucket, value)?;
                    }
                }
            }
            // An idle period is covered by its first bucket.
            let next = if idle { cycle / BUCKET * BUCKET } else { self.bucket + BUCKET };
            self.bucket = next.max(self.bucket + BUCKET);
        }
        Ok(())
    }

    fn instruction(&mut self, record: &Record) -> Name {
        let key = (record.word_count, record.words);
        *self.names.entry(key).or_insert_with(|| self.file.name(&instruction(record)))
    }

    /// Shows a memory instruction from its execution on, and its requests. Returns the flow to it.
    fn memory(&mut self, record: &Record, from: Cycle) -> io::Result<file::Flow> {
        let to = record.cycle.max(from + 1);
        let rows = &mut self.cores[record.core as usize].rows;
        let row = rows.iter().position(|&free| free <= from).unwrap_or_else(|| {
            rows.push(0);
            rows.len() - 1
        });
        rows[row] = to;
        let track = self.places.thread(Place::memory_row(record.core, row), &mut self.file)?;
        let access = self.file.flow();
        let (flows, links) = self.requests.record(record, track, &mut self.file);
        let space = if record.device { "device" } else { "local" };
        let name = self.file.name(&format!("{space} {}", record.memory.name()));
        self.file.event(&Event {
            track,
            name,
            category: Category::Memory,
            at: from,
            cycles: Some(to - from),
            arguments: &[
                ("bytes", Value::Number(record.bytes.into())),
                ("lanes", Value::Number(record.effective.count_ones().into())),
                ("slot", Value::Number(record.slot.into())),
            ],
            flows: &flows,
            last_of: &[access],
        })?;
        for link in links {
            self.requests.link(link, &mut self.places, &mut self.file)?;
        }
        Ok(access)
    }
}

impl<W: Write + Send> Sink for Perfetto<W> {
    fn launch(&mut self, launch: &Launched) -> io::Result<()> {
        self.file.instant(self.launches, launch.start, &format!("launch {}", launch.kernel))
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.count_to(record.cycle)?;
        let track = self.places.thread(Place::slot(record.core, record.slot), &mut self.file)?;
        let issue = record.stage(Stage::Issue);
        let execute = record.stage(Stage::Execute);
        let access = match record.memory != MemoryKind::None && execute != 0 {
            true => Some(self.memory(record, execute)?),
            false => None,
        };
        let [x, y, z] = record.workgroup;
        let workgroup = format!("{x},{y},{z}");
        let name = self.instruction(record);
        self.file.event(&Event {
            track,
            name,
            category: Category::Issue,
            at: issue,
            cycles: Some(1),
            arguments: &[
                ("pc", Value::Hexadecimal(record.pc.into())),
                ("workgroup", Value::Text(&workgroup)),
                ("wave", Value::Number(record.wave.into())),
                ("sequence", Value::Number(record.sequence)),
                ("lanes", Value::Hexadecimal(record.effective)),
            ],
            flows: access.as_slice(),
            last_of: &[],
        })?;
        // Stalls after issue would overlap the next instructions.
        for stall in record.stalls.iter().filter(|stall| stall.to <= issue) {
            let (name, category) = (self.file.name(stall.reason.name()), Category::Stall);
            let cycles = Some(stall.to - stall.from);
            let (arguments, flows, last_of) = (&[][..], &[][..], &[][..]);
            self.file.event(&Event {
                track,
                name,
                category,
                at: stall.from,
                cycles,
                arguments,
                flows,
                last_of,
            })?;
        }
        let core = &mut self.cores[record.core as usize];
        core.instructions += 1;
        core.waves += i64::from(record.sequence == 0) - i64::from(record.ends);
        if record.device {
            core.bytes += u64::from(record.effective.count_ones()) * u64::from(record.bytes);
        }
        Ok(())
    }

    fn wants_hops(&self) -> bool {
        true
    }

    fn hop(&mut self, hop: &Hop) -> io::Result<()> {
        self.requests.hop(hop, &mut self.places, &mut self.file)
    }

    fn end(&mut self, _: How, cycle: Cycle, _: &str) -> io::Result<()> {
        self.count_to(cycle + BUCKET)?;
        self.file.finish()
    }
}
