//! Traces for Perfetto and Chrome's tracing page as JSON trace events. A cycle is shown as a microsecond.
//!
//! A core is a process. Each of its wave slots is a thread with issues and stalls. Memory instructions are on
//! threads of their own, with a flow from their issue and flows to their requests in the L2 and in memory. L2
//! and memory are processes too; each slice or channel is a group of threads. Counters show instructions per
//! cycle, waves, and the bytes of device memory that instructions request.

use super::requests::{Drawn, Requests};
use crate::clock::Cycle;
use crate::config::Config;
use crate::core::probe::Hop;
use crate::trace::Sink;
use crate::trace::record::{How, Launched, MemoryKind, Record, StageField};
use crate::trace::text::instruction;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Cycles per value of a counter.
const BUCKET: Cycle = 64;
/// First thread of a core's memory instructions.
const MEMORY: u32 = 1000;
/// Most threads of a core, and of the L2; each slice has a thousand.
const CORE_THREADS: u32 = 10_000;
const L2_THREADS: u32 = 10_000_000;

/// Counters of a core.
#[derive(Debug, Default)]
struct Core {
    instructions: u64,
    bytes: u64,
    waves: i64,
    /// Per row of memory instructions: the first cycle in which it is free.
    rows: Vec<Cycle>,
}

/// Writes a trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    out: W,
    first: bool,
    cores: Vec<Core>,
    named: BTreeSet<(u32, u32)>,
    bucket: Cycle,
    flows: u64,
    requests: Requests,
}

impl<W: Write> Perfetto<W> {
    /// Begins a trace of this machine.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn new(mut out: W, config: &Config) -> io::Result<Perfetto<W>> {
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let cores = (0..config.cores).map(|_| Core::default()).collect();
        let requests = Requests::new(config.cores, config.dram.channels, config.core.l1.line_bytes);
        Ok(Perfetto { out, first: true, cores, named: BTreeSet::new(), bucket: 0, flows: 0, requests })
    }

    /// Process and thread numbers in the file. Perfetto identifies a thread by its number in the whole trace,
    /// uses a process's number for its first thread, and reserves 0 for the idle thread. So no number is 0 or
    /// used twice.
    fn numbers(&self, pid: u32, tid: u32) -> (u32, u32) {
        let cores = self.cores.len() as u32;
        let l2 = if pid > cores { L2_THREADS } else { 0 };
        (pid + 1, 1 + cores + 2 + pid.min(cores) * CORE_THREADS + l2 + tid)
    }

    /// Writes an event: its phase, process, thread and cycle, and the rest of its fields.
    fn event(&mut self, phase: char, pid: u32, tid: u32, at: Cycle, rest: &str) -> io::Result<()> {
        let (pid, tid) = self.numbers(pid, tid);
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        write!(self.out, "{comma}\n{{\"ph\":\"{phase}\",\"pid\":{pid},\"tid\":{tid},\"ts\":{at}{rest}}}")
    }

    fn slice(&mut self, place: (u32, u32), cycles: (Cycle, Cycle), name: &str, args: &str) -> io::Result<()> {
        let (from, to) = cycles;
        let rest = format!(",\"dur\":{},\"name\":{}{args}", to - from, quoted(name));
        self.event('X', place.0, place.1, from, &rest)
    }

    /// Names a thread when it is first used.
    fn name(&mut self, pid: u32, tid: u32, what: &str) -> io::Result<()> {
        if !self.named.insert((pid, tid)) {
            return Ok(());
        }
        if !self.named.iter().any(|&(core, thread)| core == pid && thread != tid) {
            let rest = format!(",\"name\":\"process_name\",\"args\":{{\"name\":\"core {pid}\"}}");
            self.event('M', pid, tid, 0, &rest)?;
        }
        let rest = format!(",\"name\":\"thread_name\",\"args\":{{\"name\":\"{what}\"}}");
        self.event('M', pid, tid, 0, &rest)
    }

    /// Writes the counters of the buckets before a cycle.
    fn count_to(&mut self, cycle: Cycle) -> io::Result<()> {
        while self.bucket + BUCKET <= cycle {
            let idle = self.cores.iter().all(|c| (c.instructions, c.bytes) == (0, 0));
            let at = self.bucket;
            for pid in 0..self.cores.len() {
                let core = &mut self.cores[pid];
                let per_cycle = |n: &mut u64| std::mem::take(n) as f64 / BUCKET as f64;
                let (ipc, bytes) = (per_cycle(&mut core.instructions), per_cycle(&mut core.bytes));
                let waves = core.waves;
                for (name, value) in [
                    ("instructions per cycle", ipc),
                    ("waves", waves as f64),
                    ("device bytes asked for per cycle", bytes),
                ] {
                    let rest = format!(",\"name\":\"{name}\",\"args\":{{\"value\":{value}}}");
                    self.event('C', pid as u32, 0, at, &rest)?;
                }
            }
            // An idle period is covered by its first bucket.
            let next = if idle { cycle / BUCKET * BUCKET } else { self.bucket + BUCKET };
            self.bucket = next.max(self.bucket + BUCKET);
        }
        Ok(())
    }

    fn memory(&mut self, record: &Record, from: Cycle) -> io::Result<()> {
        let to = record.cycle.max(from + 1);
        let rows = &mut self.cores[record.core as usize].rows;
        let row = rows.iter().position(|&free| free <= from).unwrap_or_else(|| {
            rows.push(0);
            rows.len() - 1
        });
        rows[row] = to;
        let tid = MEMORY + row as u32;
        self.name(record.core, tid, &format!("memory {row}"))?;
        let space = if record.device { "device" } else { "local" };
        let args = format!(
            ",\"cat\":\"memory\",\"args\":{{\"bytes\":{},\"lanes\":{},\"slot\":{}}}",
            record.bytes,
            record.effective.count_ones(),
            record.slot
        );
        let name = format!("{space} {}", record.memory.name());
        self.slice((record.core, tid), (from, to), &name, &args)?;
        let flow = format!(",\"cat\":\"memory\",\"name\":\"access\",\"id\":{}", self.flows);
        self.flows += 1;
        self.event('s', record.core, record.slot, record.stage(StageField::Issue), &flow)?;
        self.event('f', record.core, tid, from, &format!("{flow},\"bp\":\"e\""))?;
        let drawn = self.requests.record(record, tid);
        self.draw(&drawn)
    }

    fn draw(&mut self, drawn: &[Drawn]) -> io::Result<()> {
        drawn.iter().try_for_each(|(phase, pid, tid, at, rest)| self.event(*phase, *pid, *tid, *at, rest))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<W: Write + Send> Sink for Perfetto<W> {
    fn launch(&mut self, launch: &Launched) -> io::Result<()> {
        let name = quoted(&format!("launch {}", launch.kernel));
        self.event('i', 0, 0, launch.start, &format!(",\"s\":\"g\",\"name\":{name}"))
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.count_to(record.cycle)?;
        let place = (record.core, record.slot);
        self.name(record.core, record.slot, &format!("slot {}", record.slot))?;
        let issue = record.stage(StageField::Issue);
        let [x, y, z] = record.workgroup;
        let args = format!(
            ",\"cat\":\"issue\",\"args\":{{\"pc\":\"0x{:04x}\",\"workgroup\":\"{x},{y},{z}\",\"wave\":{},\
             \"sequence\":{},\"lanes\":\"{:x}\"}}",
            record.pc, record.wave, record.sequence, record.effective
        );
        self.slice(place, (issue, issue + 1), &instruction(record), &args)?;
        // Stalls after issue would overlap the next instructions.
        for stall in record.stalls.iter().filter(|stall| stall.to <= issue) {
            self.slice(place, (stall.from, stall.to), stall.reason.name(), ",\"cat\":\"stall\"")?;
        }
        let execute = record.stage(StageField::Execute);
        if record.memory != MemoryKind::None && execute != 0 {
            self.memory(record, execute)?;
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
        let drawn = self.requests.hop(hop);
        self.draw(&drawn)
    }

    fn end(&mut self, _: How, cycle: Cycle, _: &str) -> io::Result<()> {
        self.count_to(cycle + BUCKET)?;
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}
