//! Requests in the L2 and in memory, for traces of Perfetto: the boxes that show them, and the flows from the
//! instructions that caused them.
//!
//! The instruction of a request is found by core, line and cycle. A load gets the reads that arrived and were
//! answered during its execution; if there is none, the last one answered in that time. A store gets the
//! first write that arrived after its execution and that belongs to no earlier store. An atomic gets those
//! that arrived after its execution; if it returns a value, only those answered before it retired.

use crate::clock::Cycle;
use crate::core::probe::{Hop, HopKind};
use crate::memory::RequestKind;
use crate::trace::record::{DestinationKind, MemoryKind, Record, StageField};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rows of each slice or channel are numbered from a multiple of this.
const ROWS: u32 = 1000;
/// Requests kept for instructions that have not retired. Beyond that the older ones are dropped.
const KEPT: usize = 1 << 18;

/// An event of the trace: phase, process, thread, cycle, remaining fields.
pub type Drawn = (char, u32, u32, Cycle, String);

/// A place in the trace: process, thread, cycle.
type Place = (u32, u32, Cycle);

/// A request in a slice.
#[derive(Debug, Clone)]
struct Visit {
    arrive: Cycle,
    reply: Option<Cycle>,
    kind: RequestKind,
    slice: u16,
    drawn: Option<u32>,
    linked: bool,
}

/// A fetch of sectors from memory.
#[derive(Debug, Clone)]
struct Fetch {
    from: Cycle,
    to: Option<Cycle>,
    slice: u16,
    drawn: Option<u32>,
}

/// Events of requests that may still be needed.
#[derive(Debug)]
pub struct Requests {
    line_bytes: u32,
    channels: u32,
    /// Process of the L2; memory is the next process.
    pid: u32,
    visits: BTreeMap<(u32, u64), VecDeque<Visit>>,
    kept: usize,
    fetches: BTreeMap<u64, VecDeque<Fetch>>,
    /// Stores and atomics that have retired before their requests were performed, and where they are shown.
    posted: BTreeMap<(u32, u64), VecDeque<(MemoryKind, Place)>>,
    /// Per slice and channel: the first cycle in which each row is free.
    rows: BTreeMap<(u32, u32), Vec<Cycle>>,
    flows: u64,
}

impl Requests {
    /// For a machine with `cores` cores, `channels` memory channels and lines of `line_bytes` bytes.
    pub fn new(cores: u32, channels: u32, line_bytes: u32) -> Requests {
        Requests {
            line_bytes,
            channels,
            pid: cores,
            visits: BTreeMap::new(),
            kept: 0,
            fetches: BTreeMap::new(),
            posted: BTreeMap::new(),
            rows: BTreeMap::new(),
            flows: 0,
        }
    }

    /// Takes an event. Returns what can be shown now.
    pub fn hop(&mut self, hop: &Hop) -> Vec<Drawn> {
        let Hop { cycle, slice, line, what } = *hop;
        match what {
            HopKind::Arrive(core, kind) => {
                let visit = Visit { arrive: cycle, reply: None, kind, slice, drawn: None, linked: false };
                self.visits.entry((core.into(), line)).or_default().push_back(visit);
                self.kept += 1;
                if self.kept > KEPT {
                    self.forget(cycle);
                }
            }
            HopKind::Reply(core, kind) => {
                let key = (u32::from(core), line);
                let open = |v: &Visit| v.reply.is_none() && v.kind == kind;
                let mut drawn = Vec::new();
                let Some(visits) = self.visits.get_mut(&key) else { return drawn };
                let Some(index) = visits.iter().position(open) else { return drawn };
                visits[index].reply = Some(cycle);
                let arrive = visits[index].arrive;
                let posted = self.posted.entry(key).or_default();
                let place = match kind {
                    RequestKind::Write => {
                        let first = posted.iter().position(|(memory, _)| *memory == MemoryKind::Store);
                        first.and_then(|n| posted.remove(n)).map(|(_, place)| place)
                    }
                    // An atomic may have several requests on a line; those of the next atomic come after
                    // them.
                    RequestKind::Atomic(_) => {
                        let earlier = |(memory, place): &&(MemoryKind, Place)| {
                            *memory == MemoryKind::Atomic && place.2 < arrive
                        };
                        posted.iter().rfind(earlier).map(|(_, place)| *place)
                    }
                    RequestKind::Read | RequestKind::Release => None,
                };
                if let Some(place) = place {
                    self.link(key, index, place, &mut drawn);
                }
                return drawn;
            }
            HopKind::Fetch => {
                let fetch = Fetch { from: cycle, to: None, slice, drawn: None };
                self.fetches.entry(line).or_default().push_back(fetch);
            }
            HopKind::Fill => {
                let open = |f: &&mut Fetch| f.to.is_none();
                if let Some(fetch) = self.fetches.get_mut(&line).and_then(|all| all.iter_mut().find(open)) {
                    fetch.to = Some(cycle);
                }
            }
        }
        Vec::new()
    }

    /// Drops the older half of the requests kept.
    fn forget(&mut self, now: Cycle) {
        let oldest = self.visits.values().filter_map(|v| v.front()).map(|v| v.arrive).min().unwrap_or(now);
        let middle = oldest + (now - oldest) / 2;
        self.visits.retain(|_, all| {
            all.retain(|visit| visit.arrive >= middle);
            !all.is_empty()
        });
        self.fetches.retain(|_, all| {
            all.retain(|fetch| fetch.from >= middle);
            !all.is_empty()
        });
        self.posted.retain(|_, all| {
            all.retain(|(_, place)| place.2 >= middle);
            !all.is_empty()
        });
        self.kept = self.visits.values().map(VecDeque::len).sum();
    }

    /// A memory instruction is shown at `tid` of its core from its execution on. Returns the flows to its
    /// requests.
    pub fn record(&mut self, record: &Record, tid: u32) -> Vec<Drawn> {
        let mut drawn = Vec::new();
        if !record.device {
            return drawn;
        }
        let execute = record.stage(StageField::Execute);
        let lanes = record.addresses.iter().enumerate().filter(|(lane, _)| record.effective >> lane & 1 != 0);
        let line = u64::from(self.line_bytes);
        let mut lines = BTreeSet::new();
        for (_, &address) in lanes {
            let (first, last) = (u64::from(address), u64::from(address) + u64::from(record.bytes).max(1) - 1);
            lines.extend((first / line..=last / line).map(|n| n * line));
        }
        for line in lines {
            let (key, place) = ((record.core, line), (record.core, tid, execute));
            let returns = record.destination != DestinationKind::None;
            let found = self.requests_of(key, record.memory, execute, returns.then_some(record.cycle));
            found.iter().for_each(|&index| self.link(key, index, place, &mut drawn));
            let posted = match record.memory {
                MemoryKind::Store => found.is_empty(),
                MemoryKind::Atomic => !returns,
                _ => false,
            };
            if posted {
                self.posted.entry(key).or_default().push_back((record.memory, place));
            }
        }
        drawn
    }

    /// Requests of an instruction that was executed in cycle `execute`. `retire` is the cycle of its retirement if
    /// it returns a value.
    fn requests_of(
        &self,
        key: (u32, u64),
        memory: MemoryKind,
        execute: Cycle,
        retire: Option<Cycle>,
    ) -> Vec<usize> {
        let Some(visits) = self.visits.get(&key) else { return Vec::new() };
        let until = retire.unwrap_or(Cycle::MAX);
        let answered = |v: &Visit| v.reply.is_some_and(|reply| execute < reply && reply <= until);
        let own = |v: &Visit| answered(v) && v.arrive > execute && !v.linked;
        let all = |fits: &dyn Fn(&Visit) -> bool| -> Vec<usize> {
            visits.iter().enumerate().filter(|(_, v)| fits(v)).map(|(n, _)| n).collect()
        };
        match memory {
            MemoryKind::Load => {
                let reads = all(&|v| v.kind == RequestKind::Read && own(v));
                match reads.is_empty() {
                    false => reads,
                    true => all(&|v| v.kind == RequestKind::Read && answered(v)).pop().into_iter().collect(),
                }
            }
            MemoryKind::Atomic => all(&|v| matches!(v.kind, RequestKind::Atomic(_)) && own(v)),
            _ => {
                let mut writes = all(&|v| v.kind == RequestKind::Write && own(v));
                writes.truncate(1);
                writes
            }
        }
    }

    /// Shows a request, if it is not shown yet, and the flow to it from its instruction.
    fn link(&mut self, key: (u32, u64), index: usize, place: Place, drawn: &mut Vec<Drawn>) {
        let Some(visit) = self.visits.get_mut(&key).and_then(|all| all.get_mut(index)) else { return };
        visit.linked = true;
        let Visit { arrive, reply, kind, slice, drawn: before, .. } = visit.clone();
        let reply = reply.unwrap_or(arrive);
        let fetch = self.fetches.get(&key.1).and_then(|all| {
            all.iter().rposition(|f| f.to.is_some_and(|to| arrive < to && to <= reply) && f.from < reply)
        });
        let name = match kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Atomic(_) => "atomic",
            RequestKind::Release => "release",
        };
        let outcome = if fetch.is_some() { "miss" } else { "hit" };
        let tid = before.unwrap_or_else(|| {
            let args = format!("\"core\":{},\"line\":\"0x{:x}\",\"outcome\":\"{outcome}\"", key.0, key.1);
            self.draw(0, slice.into(), (arrive, reply), name, &args, drawn)
        });
        if let Some(visit) = self.visits.get_mut(&key).and_then(|all| all.get_mut(index)) {
            visit.drawn = Some(tid);
        }
        let flow = format!(",\"cat\":\"request\",\"name\":\"request\",\"id\":{}", self.flows);
        self.flows += 1;
        drawn.push(('s', place.0, place.1, place.2, flow.clone()));
        let end = format!("{flow},\"bp\":\"e\"");
        // A load may wait for a request that arrived before its execution, but a flow must not go back in
        // time.
        let at = arrive.max(place.2);
        let found = fetch.and_then(|fetch| Some((fetch, self.fetches.get(&key.1)?.get(fetch)?.clone())));
        let found = found.filter(|(_, found)| found.to.is_some_and(|to| at < to));
        let Some((fetch, found)) = found else {
            drawn.push(('f', self.pid, tid, at, end));
            return;
        };
        drawn.push(('t', self.pid, tid, at, flow));
        let (from, to) = (found.from, found.to.unwrap_or(found.from));
        let row = found.drawn.unwrap_or_else(|| {
            let args = format!("\"line\":\"0x{:x}\",\"slice\":{}", key.1, found.slice);
            self.draw(1, u32::from(found.slice) % self.channels, (from, to), "fetch", &args, drawn)
        });
        if let Some(fetch) = self.fetches.get_mut(&key.1).and_then(|all| all.get_mut(fetch)) {
            fetch.drawn = Some(row);
        }
        drawn.push(('f', self.pid + 1, row, from.max(at), end));
    }

    /// Shows a period on a free row of an L2 slice (`level` 0) or memory channel (1). Returns its thread.
    fn draw(
        &mut self,
        level: u32,
        which: u32,
        cycles: (Cycle, Cycle),
        name: &str,
        args: &str,
        drawn: &mut Vec<Drawn>,
    ) -> u32 {
        let (from, to) = (cycles.0, cycles.1.max(cycles.0 + 1));
        let pid = self.pid + level;
        if !self.rows.keys().any(|&(l, _)| l == level) {
            let process = ["L2", "memory"][level as usize];
            drawn.push((
                'M',
                pid,
                0,
                0,
                format!(",\"name\":\"process_name\",\"args\":{{\"name\":\"{process}\"}}"),
            ));
        }
        let rows = self.rows.entry((level, which)).or_default();
        let row = rows.iter().position(|&free| free <= from).unwrap_or_else(|| {
            rows.push(0);
            let row = rows.len() - 1;
            let what = ["slice", "channel"][level as usize];
            let name =
                format!(",\"name\":\"thread_name\",\"args\":{{\"name\":\"{what} {which} row {row}\"}}");
            drawn.push(('M', pid, which * ROWS + row as u32, 0, name));
            row
        });
        rows[row] = to;
        let tid = which * ROWS + row as u32;
        let rest =
            format!(",\"dur\":{},\"name\":\"{name}\",\"cat\":\"request\",\"args\":{{{args}}}", to - from);
        drawn.push(('X', pid, tid, from, rest));
        tid
    }
}
