//! Requests in the L2 and in memory, for traces of Perfetto: the boxes that show them, and the flows from the
//! instructions that caused them.
//!
//! The instruction of a request is found by core, line and cycle. A load gets the reads that arrived and were
//! answered during its execution; if there is none, the last one answered in that time. A store gets the
//! first write that arrived after its execution and that belongs to no earlier store. An atomic gets those
//! that arrived after its execution; if it returns a value, only those answered before it retired.

use super::file::{Category, Event, Flow, TraceFile, Track, Value};
use super::places::{Place, Places};
use crate::trace::record::{DestinationKind, MemoryKind, Record, Stage};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::{Hop, HopKind};
use wave_machine::memory::RequestKind;

/// Requests kept for instructions that have not retired. Beyond that the older ones are dropped.
const KEPT: usize = 1 << 18;

/// A store or atomic that has retired before its requests were answered.
#[derive(Debug, Clone, Copy)]
struct Posted {
    memory: MemoryKind,
    /// Its track, and the cycle of its execution.
    track: Track,
    execute: Cycle,
    /// The flow from it, until a request takes it.
    flow: Option<Flow>,
}

/// A request in a slice.
#[derive(Debug, Clone)]
struct Visit {
    arrive: Cycle,
    reply: Option<Cycle>,
    kind: RequestKind,
    slice: u16,
    drawn: Option<Track>,
    linked: bool,
}

/// A fetch of sectors from memory.
#[derive(Debug, Clone)]
struct Fetch {
    from: Cycle,
    to: Option<Cycle>,
    slice: u16,
    drawn: Option<Track>,
}

/// Events of requests that may still be needed.
#[derive(Debug)]
pub(super) struct Requests {
    line_bytes: u32,
    channels: u32,
    visits: BTreeMap<(u32, u64), VecDeque<Visit>>,
    kept: usize,
    fetches: BTreeMap<u64, VecDeque<Fetch>>,
    posted: BTreeMap<(u32, u64), VecDeque<Posted>>,
    /// Per slice and channel: the first cycle in which each row is free.
    slice_rows: Rows,
    channel_rows: Rows,
}

/// A flow from an instruction, executed in cycle `execute`, to a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// Core and line of the request, and which of these it is.
    key: (u32, u64),
    index: usize,
    execute: Cycle,
    flow: Flow,
}

type Rows = BTreeMap<u32, Vec<Cycle>>;

/// Takes a row that is free from cycle `from` until cycle `to`.
fn free_row(rows: &mut Rows, which: u32, from: Cycle, to: Cycle) -> usize {
    let rows = rows.entry(which).or_default();
    let row = rows.iter().position(|&free| free <= from).unwrap_or_else(|| {
        rows.push(0);
        rows.len() - 1
    });
    rows[row] = to;
    row
}

impl Requests {
    /// For a machine with `channels` memory channels and lines of `line_bytes` bytes.
    pub(super) fn new(channels: u32, line_bytes: u32) -> Requests {
        Requests {
            line_bytes,
            channels,
            visits: BTreeMap::new(),
            kept: 0,
            fetches: BTreeMap::new(),
            posted: BTreeMap::new(),
            slice_rows: Rows::new(),
            channel_rows: Rows::new(),
        }
    }

    /// Takes an event, and shows what can be shown now.
    pub(super) fn hop<W: Write>(
        &mut self,
        hop: &Hop,
        places: &mut Places,
        file: &mut TraceFile<W>,
    ) -> io::Result<()> {
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
                let Some(visits) = self.visits.get_mut(&key) else { return Ok(()) };
                let Some(index) = visits.iter().position(open) else { return Ok(()) };
                visits[index].reply = Some(cycle);
                let arrive = visits[index].arrive;
                if let Some(posted) = self.posted_of(key, kind, arrive) {
                    let flow = match posted.flow {
                        Some(flow) => flow,
                        None => {
                            let flow = file.flow();
                            event(file, posted.track, "request", (posted.execute, None), &[], &[flow], &[])?;
                            flow
                        }
                    };
                    self.link(Link { key, index, execute: posted.execute, flow }, places, file)?;
                }
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
        Ok(())
    }

    /// The store or atomic that caused a request of this kind, which arrived in cycle `arrive` and is answered now.
    fn posted_of(&mut self, key: (u32, u64), kind: RequestKind, arrive: Cycle) -> Option<Posted> {
        let posted = self.posted.get_mut(&key)?;
        match kind {
            RequestKind::Write => {
                let first = posted.iter().position(|posted| posted.memory == MemoryKind::Store)?;
                posted.remove(first)
            }
            // An atomic may have several requests on a line; those of the next atomic come after them.
            RequestKind::Atomic(_) => {
                let earlier = |p: &&mut Posted| p.memory == MemoryKind::Atomic && p.execute < arrive;
                let found = posted.iter_mut().rev().find(earlier)?;
                Some(Posted { flow: found.flow.take(), ..*found })
            }
            RequestKind::Read | RequestKind::Release => None,
        }
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
            all.retain(|posted| posted.execute >= middle);
            !all.is_empty()
        });
        self.kept = self.visits.values().map(VecDeque::len).sum();
    }

    /// Flows from a memory instruction on a track to its requests. Once the instruction is written, [`Requests::link`]
    /// shows each request.
    pub(super) fn record<W: Write>(
        &mut self,
        record: &Record,
        track: Track,
        file: &mut TraceFile<W>,
    ) -> (Vec<Flow>, Vec<Link>) {
        let (mut flows, mut links) = (Vec::new(), Vec::new());
        if !record.device {
            return (flows, links);
        }
        let execute = record.stage(Stage::Execute);
        let lanes = record.addresses.iter().enumerate().filter(|(lane, _)| record.effective >> lane & 1 != 0);
        let line = u64::from(self.line_bytes);
        let mut lines = BTreeSet::new();
        for (_, &address) in lanes {
            let (first, last) = (u64::from(address), u64::from(address) + u64::from(record.bytes).max(1) - 1);
            lines.extend((first / line..=last / line).map(|n| n * line));
        }
        for line in lines {
            let key = (record.core, line);
            let returns = record.destination != DestinationKind::None;
            let found = self.requests_of(key, record.memory, execute, returns.then_some(record.cycle));
            for &index in &found {
                let flow = file.flow();
                flows.push(flow);
                links.push(Link { key, index, execute, flow });
            }
            let is_posted = match record.memory {
                MemoryKind::Store => found.is_empty(),
                MemoryKind::Atomic => !returns,
                _ => false,
            };
            if is_posted {
                let flow = file.flow();
                flows.push(flow);
                let posted = Posted { memory: record.memory, track, execute, flow: Some(flow) };
                self.posted.entry(key).or_default().push_back(posted);
            }
        }
        (flows, links)
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

    /// Shows a request, if it is not shown yet, and the flow to it and on to its fetch from memory.
    ///
    /// A flow must not go back in time. If the slice of the request is already written, or began before the
    /// instruction was executed, the flow ends at an instant in the slice. Perfetto orders events of one cycle as
    /// the file does: write the instruction first.
    pub(super) fn link<W: Write>(
        &mut self,
        Link { key, index, execute, flow }: Link,
        places: &mut Places,
        file: &mut TraceFile<W>,
    ) -> io::Result<()> {
        let Some(visit) = self.visits.get_mut(&key).and_then(|all| all.get_mut(index)) else {
            return Ok(());
        };
        visit.linked = true;
        let Visit { arrive, reply, kind, slice, drawn, .. } = *visit;
        let reply = reply.unwrap_or(arrive);
        let at = arrive.max(execute);
        let fetch = self.fetches.get_mut(&key.1).and_then(|all| {
            all.iter_mut().rfind(|f| f.to.is_some_and(|to| arrive < to && to <= reply) && f.from < reply)
        });
        let outcome = if fetch.is_some() { "miss" } else { "hit" };
        let fetch = fetch.filter(|fetch| fetch.to.is_some_and(|to| at < to));
        let name = match kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Atomic(_) => "atomic",
            RequestKind::Release => "release",
        };
        let (flows, last_of): (&[Flow], &[Flow]) = match fetch {
            Some(_) => (&[flow], &[]),
            None => (&[], &[flow]),
        };
        let to = reply.max(arrive + 1);
        let mut drawing = Drawing { drawn, begins: arrive, to, at, name };
        visit.drawn = Some(drawing.draw(
            file,
            |file| {
                let row = free_row(&mut self.slice_rows, slice.into(), arrive, to);
                places.thread(Place::slice_row(slice.into(), row), file)
            },
            &[
                ("core", Value::Number(key.0.into())),
                ("line", Value::Hexadecimal(key.1)),
                ("outcome", Value::Text(outcome)),
            ],
            flows,
            last_of,
        )?);
        let Some(fetch) = fetch else { return Ok(()) };
        let (from, channel) = (fetch.from, u32::from(fetch.slice) % self.channels);
        let to = fetch.to.unwrap_or(from).max(from + 1);
        drawing = Drawing { drawn: fetch.drawn, begins: from, to, at: from.max(at), name: "fetch" };
        fetch.drawn = Some(drawing.draw(
            file,
            |file| {
                let row = free_row(&mut self.channel_rows, channel, from, to);
                places.thread(Place::channel_row(channel, row), file)
            },
            &[("line", Value::Hexadecimal(key.1)), ("slice", Value::Number(fetch.slice.into()))],
            &[],
            &[flow],
        )?);
        Ok(())
    }
}

/// A slice at the end of a flow.
struct Drawing {
    /// Its track, if it is written.
    drawn: Option<Track>,
    begins: Cycle,
    to: Cycle,
    /// Cycle in which the flow reaches it.
    at: Cycle,
    name: &'static str,
}

impl Drawing {
    /// Writes it on the track from `place`, if it is not written yet, and the end of the flow. Returns the track.
    fn draw<W: Write>(
        &self,
        file: &mut TraceFile<W>,
        place: impl FnOnce(&mut TraceFile<W>) -> io::Result<Track>,
        arguments: &[(&'static str, Value<'_>)],
        flows: &[Flow],
        last_of: &[Flow],
    ) -> io::Result<Track> {
        let Drawing { drawn, begins, to, at, name } = *self;
        let is_begin = drawn.is_none() && at == begins;
        let track = match drawn {
            Some(track) => track,
            None => {
                let track = place(file)?;
                let (flows, last_of) = if is_begin { (flows, last_of) } else { (&[][..], &[][..]) };
                event(file, track, name, (begins, Some(to - begins)), arguments, flows, last_of)?;
                track
            }
        };
        if !is_begin {
            event(file, track, "merge", (at, None), &[], flows, last_of)?;
        }
        Ok(track)
    }
}

/// Writes an event about a request.
fn event<W: Write>(
    file: &mut TraceFile<W>,
    track: Track,
    name: &str,
    (at, cycles): (Cycle, Option<Cycle>),
    arguments: &[(&'static str, Value<'_>)],
    flows: &[Flow],
    last_of: &[Flow],
) -> io::Result<()> {
    let name = file.name(name);
    file.event(&Event { track, name, category: Category::Request, at, cycles, arguments, flows, last_of })
}
