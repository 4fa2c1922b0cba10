//! The observer that makes records from the events of a run.
//!
//! An instruction's record is opened when it issues and complete when it retires. The cores report one after the other,
//! some cycles each; what has retired is kept until all of them have come so far, and then goes to the sinks in the
//! order of [`Record::order`]. So a trace is the same however the cycles were visited.

mod slot;
mod states;

use super::record::{
    DestinationKind, Header, How, Launched, MemoryKind, Record, Reports, StageField, Stall, StallReason,
    kernel_hash,
};
use super::rows::{lanes, push_masked};
use super::sink::{Sink, Window, write};
use super::trigger::{Gate, Trigger};
use crate::clock::Cycle;
use crate::config::{Config, config_hash};
use crate::core::collector::Waiting;
use crate::core::probe::{Event, Going, Hop, IssueStall, Issued, MemoryEvent, Probe, Results, Stage};
use crate::core::wave::SlotMask;
use crate::isa::WORD_BYTES;
use crate::isa::table::{AccessKind, Space};
use crate::program::{Launch, Program};
use slot::{SlotState, began, destination, still_open};
use states::States;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often sinks that write in the order of time hear how far they may go: after so many flushes.
const FLUSHES: u64 = 32;

/// One core.
#[derive(Debug, Default)]
struct CoreState {
    slots: Vec<SlotState>,
    /// Waves by what keeps them, as last reported.
    stalled: [SlotMask; IssueStall::COUNT],
}

/// Makes records and hands them to sinks.
pub struct Recorder<'s> {
    sinks: Vec<(String, Box<dyn Sink + 's>)>,
    window: Window,
    /// Holds records back until a trigger fires.
    gate: Option<Gate>,
    /// The run ends when it has.
    until_triggered: bool,
    interrupt: Arc<AtomicBool>,
    width: usize,
    launch: Launched,
    cores: Vec<CoreState>,
    /// Retired, not yet in the order of time.
    #[allow(clippy::vec_box)]
    retired: Vec<Box<Record>>,
    #[allow(clippy::vec_box)]
    free: Vec<Box<Record>>,
    /// Hops of requests, not yet in the order of time.
    hops: Vec<Hop>,
    states: States,
    kept: u64,
    flushes: u64,
    /// The sink that could not be written to.
    failed: Option<(String, io::Error)>,
}

/// How much a recorder has handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Records.
    pub records: u64,
    /// The cycle in which the trigger has fired, if there was one and it has.
    pub triggered: Option<Cycle>,
}

/// The header of what a machine writes.
pub fn header(config: &Config) -> Header {
    Header {
        wave_width: config.core.wave_width,
        config: config.name.clone(),
        config_hash: u64::from_str_radix(&config_hash(config), 16).unwrap_or_default(),
        producer: "wave-sim".to_owned(),
        reports: Reports::ALL,
    }
}

/// A launch that begins in cycle `start`, as traces have it.
pub fn launched(program: &Program, launch: &Launch, start: Cycle) -> Launched {
    let kernel = &program.kernels[launch.kernel];
    let code = program.code[kernel.code.start as usize..kernel.code.end as usize].to_vec();
    Launched {
        kernel: kernel.name.clone(),
        kernel_hash: kernel_hash(&code),
        grid: launch.grid,
        workgroup: launch.workgroup,
        registers: launch.registers,
        local_memory: launch.local_memory_bytes,
        start,
        base: kernel.code.start * WORD_BYTES,
        arguments: launch.initial_registers.clone(),
        code,
    }
}

impl<'s> Recorder<'s> {
    /// A recorder for this machine. `sinks` have a name each for messages; once `interrupt` is true the run stops.
    pub fn new(
        config: &Config,
        sinks: Vec<(String, Box<dyn Sink + 's>)>,
        window: Window,
        interrupt: Arc<AtomicBool>,
    ) -> Recorder<'s> {
        let slots = config.core.max_waves as usize;
        let core = || CoreState {
            slots: (0..slots).map(|_| SlotState::new()).collect(),
            stalled: [0; IssueStall::COUNT],
        };
        Recorder {
            sinks,
            window,
            gate: None,
            until_triggered: false,
            interrupt,
            width: config.core.wave_width as usize,
            launch: Launched {
                kernel: String::new(),
                kernel_hash: 0,
                grid: [1; 3],
                workgroup: [1; 3],
                registers: 0,
                local_memory: 0,
                start: 0,
                base: 0,
                arguments: Vec::new(),
                code: Vec::new(),
            },
            cores: (0..config.cores).map(|_| core()).collect(),
            retired: Vec::new(),
            free: Vec::new(),
            hops: Vec::new(),
            states: States::default(),
            kept: 0,
            flushes: 0,
            failed: None,
        }
    }

    /// The same, which keeps only what happens around a trigger.
    pub fn with_trigger(mut self, trigger: Option<Trigger>) -> Recorder<'s> {
        self.gate = trigger.map(Gate::new);
        self
    }

    /// The same, which ends the run when the trigger has fired.
    pub fn until_triggered(mut self) -> Recorder<'s> {
        self.until_triggered = true;
        self
    }

    /// A launch begins in cycle `start`.
    pub fn start(&mut self, program: &Program, launch: &Launch, start: Cycle) {
        if let Some(gate) = &mut self.gate {
            gate.forget();
            self.states.forget();
        }
        self.launch = launched(program, launch, start);
        let launched = &self.launch;
        write(&mut self.sinks, &mut self.failed, |sink| sink.launch(launched));
    }

    /// The run has ended in this cycle. Gives how much was recorded.
    ///
    /// # Errors
    /// The sink that could not be written to, by name, and why.
    pub fn finish(mut self, how: How, cycle: Cycle, message: &str) -> Result<Recorded, (String, io::Error)> {
        if let (How::Fault, Some(gate)) = (how, &mut self.gate) {
            gate.fault(cycle);
        }
        self.flush(cycle + 1);
        let late = self.retired.drain(..).map(|record| (record, None));
        let flights = self.cores.iter_mut().flat_map(|core| &mut core.slots);
        let flights = flights.flat_map(|state| state.flight.drain(..));
        // Other cores may have gone on for some cycles after one has faulted.
        let begun = flights.chain(late).filter(|(record, _)| record.stage(StageField::Issue) <= cycle);
        let open: Vec<_> = begun.map(|(record, waits)| still_open(record, waits, cycle)).collect();
        self.retired.extend(open);
        self.flush(Cycle::MAX);
        if let Some(gate) = &mut self.gate {
            gate.drain(|record| {
                self.kept += 1;
                write(&mut self.sinks, &mut self.failed, |sink| sink.record(record));
            });
        }
        self.release_states();
        write(&mut self.sinks, &mut self.failed, |sink| sink.end(how, cycle, message));
        let triggered = self.gate.as_ref().and_then(Gate::fired);
        self.failed.map_or(Ok(Recorded { records: self.kept, triggered }), Err)
    }

    /// Hands on what retires and what happens to requests before `to`, in order.
    fn flush(&mut self, to: Cycle) {
        self.retired.sort_unstable_by_key(|record| record.order());
        let ready = self.retired.partition_point(|record| record.cycle < to);
        // Stable: those of a slice in a cycle stay in the order of its work.
        self.hops.sort_by_key(|hop| (hop.cycle, hop.slice));
        let hops_ready = self.hops.partition_point(|hop| hop.cycle < to);
        let mut hops = self.hops.drain(..hops_ready).peekable();
        for mut record in self.retired.drain(..ready) {
            while let Some(hop) = hops.next_if(|hop| hop.cycle <= record.cycle) {
                write(&mut self.sinks, &mut self.failed, |sink| sink.hop(&hop));
            }
            if self.window.has(self.launch.grid, &record) {
                if let Some(gate) = &mut self.gate {
                    let (sinks, failed, kept) = (&mut self.sinks, &mut self.failed, &mut self.kept);
                    gate.pass(record, &mut self.free, |record| {
                        *kept += 1;
                        write(sinks, failed, |sink| sink.record(record));
                    });
                    continue;
                }
                self.kept += 1;
                if let ([(name, sink)], None) = (&mut self.sinks[..], &self.failed) {
                    match sink.take(record) {
                        Ok(back) => self.free.extend(back),
                        Err(error) => self.failed = Some((name.clone(), error)),
                    }
                    continue;
                }
                write(&mut self.sinks, &mut self.failed, |sink| sink.record(&record));
            }
            record.clear();
            self.free.push(record);
        }
        for hop in hops {
            write(&mut self.sinks, &mut self.failed, |sink| sink.hop(&hop));
        }
    }

    /// Hands on what the machine held before the trigger fired.
    fn release_states(&mut self) {
        let (sinks, failed) = (&mut self.sinks, &mut self.failed);
        self.states.release(self.gate.as_ref(), |(cycle, signal, value)| {
            write(sinks, failed, |sink| sink.state(cycle, signal, value));
        });
    }

    fn slot(&mut self, event: Event) -> &mut SlotState {
        &mut self.cores[event.core as usize].slots[event.slot]
    }

    /// Opens a record.
    fn open(&mut self, issued: &Issued<'_>) -> Box<Record> {
        let Event { cycle, core, slot, sequence, word, .. } = issued.event;
        let mut record = self.free.pop().unwrap_or_default();
        record.core = core;
        record.slot = slot as u32;
        record.workgroup = issued.workgroup;
        record.wave = issued.wave;
        record.sequence = sequence;
        record.pc = self.launch.base + word * WORD_BYTES;
        let words = self.launch.code.get(word as usize..).unwrap_or(&[]);
        let count = words.len().min(issued.op.words as usize);
        record.words[..count].copy_from_slice(&words[..count]);
        record.word_count = count as u8;
        (record.active, record.effective) = (issued.active, issued.mask);
        record.stages[StageField::Issue as usize] = cycle;
        if issued.mask != 0 {
            (record.destination, record.index) = destination(issued);
        }
        record
    }

    /// A record is complete.
    fn retire(&mut self, mut record: Box<Record>, cycle: Cycle) {
        record.cycle = cycle;
        self.retired.push(record);
    }
}

/// Reasons of the issue stage, in the order of [`IssueStall`].
const ISSUE_REASONS: [StallReason; IssueStall::COUNT] = [
    StallReason::Barrier,
    StallReason::Branch,
    StallReason::Fetch,
    StallReason::Operand,
    StallReason::Memory,
    StallReason::Scoreboard,
    StallReason::Fence,
    StallReason::Collector,
    StallReason::Turn,
];

impl Probe for Recorder<'_> {
    const ON: bool = true;
    const STALLS: bool = true;

    fn step(&mut self, event: Event) {
        let Event { cycle, word, sequence, .. } = event;
        let state = self.slot(event);
        let stage = match event.stage {
            Stage::Fetch => {
                state.requests = [(word, cycle), state.requests[0]];
                return;
            }
            Stage::Decode => {
                // An instruction whose first word was the last of its group came with the request before.
                let [(first, latest), (_, before)] = state.requests;
                state.decoded.push_back((word, if word < first { before } else { latest }, cycle));
                return;
            }
            Stage::Operands => StageField::Operands,
            Stage::Execute => StageField::Execute,
            Stage::WriteBack => StageField::WriteBack,
            // The results come with an event of their own.
            Stage::Issue | Stage::Retire => return,
        };
        if let Some((record, waits)) = state.in_flight(sequence) {
            record.stages[stage as usize] = cycle;
            if stage == StageField::Execute
                && let Some((reason, from)) = waits.take()
            {
                record.stalls.push(Stall { reason, from, to: cycle });
            }
        }
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let Event { cycle, word, .. } = issued.event;
        let mut record = self.open(issued);
        let state = self.slot(issued.event);
        let decoded = state.decoded.pop_front();
        debug_assert_eq!(decoded.map(|(at, ..)| at), Some(word), "an instruction issues as it was decoded");
        if let Some((_, fetch, decode)) = decoded {
            record.stages[StageField::Fetch as usize] = fetch;
            record.stages[StageField::Decode as usize] = decode;
        }
        if let Some((reason, from)) = state.stalled.take()
            && from < cycle
        {
            state.stalls.push(Stall { reason, from, to: cycle });
        }
        std::mem::swap(&mut record.stalls, &mut state.stalls);
        state.flight.push((record, None));
    }

    fn goes_on(&mut self, going: &Going) {
        let base = self.launch.base;
        let state = self.slot(going.event);
        if going.redirected || going.next.is_none() {
            state.decoded.clear();
        }
        if going.next.is_none() {
            state.requests = [(0, Cycle::MAX); 2];
        }
        let Some((record, _)) = state.flight.last_mut() else { return };
        match going.next {
            Some(word) => record.next_pc = base + word * WORD_BYTES,
            None => record.ends = true,
        }
        if going.done
            && let Some((record, _)) = state.flight.pop()
        {
            self.retire(record, going.event.cycle);
        }
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let width = self.width;
        let state = &mut self.cores[event.core as usize].slots[event.slot];
        let Some((record, _)) = state.in_flight(event.sequence) else { return };
        let memory = event.memory;
        record.memory = match memory.kind {
            AccessKind::Load => MemoryKind::Load,
            AccessKind::Store => MemoryKind::Store,
            AccessKind::Atomic(_) => MemoryKind::Atomic,
            AccessKind::Tile if event.writes => MemoryKind::TileStore,
            AccessKind::Tile => MemoryKind::TileLoad,
        };
        record.device = memory.space == Space::Device;
        record.bytes = memory.bytes;
        push_masked(&mut record.addresses, event.addresses, event.mask);
        if memory.kind == AccessKind::Tile {
            push_masked(&mut record.strides, event.strides, event.mask);
        }
        for row in event.sent.chunks_exact(width) {
            push_masked(&mut record.sent, row, event.mask);
        }
        if memory.kind == AccessKind::Store && memory.bytes < 4 {
            let kept = u32::MAX >> (32 - 8 * u32::from(memory.bytes));
            record.sent.iter_mut().for_each(|word| *word &= kept);
        }
    }

    fn results(&mut self, results: &Results<'_>) {
        let (event, width) = (results.event, self.width);
        let state = self.slot(event);
        let place = state.flight.iter().rposition(|(record, _)| record.sequence == event.sequence);
        let Some(place) = place else { return };
        let (mut record, _) = state.flight.remove(place);
        let mask = record.effective;
        match record.destination {
            DestinationKind::None if record.memory == MemoryKind::TileStore => {
                let rows = results.fragment.chunks_exact(width);
                rows.for_each(|row| push_masked(&mut record.sent, row, mask));
            }
            DestinationKind::None => {}
            DestinationKind::Registers => {
                let rows = results.registers.chunks_exact(width);
                rows.for_each(|row| push_masked(&mut record.values, row, mask));
            }
            DestinationKind::Predicate => {
                record.values.resize(width, 0);
                lanes(results.predicate & mask).for_each(|lane| record.values[lane] = 1);
            }
            DestinationKind::FragmentA | DestinationKind::FragmentB | DestinationKind::FragmentC => {
                let rows = results.fragment.chunks_exact(width);
                rows.for_each(|row| push_masked(&mut record.values, row, mask));
            }
        }
        let write_back = &mut record.stages[StageField::WriteBack as usize];
        *write_back = match record.destination {
            DestinationKind::None => 0,
            DestinationKind::Registers => *write_back,
            _ => event.cycle,
        };
        self.retire(record, event.cycle);
    }

    fn stalls(&mut self, core: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        let CoreState { slots, stalled } = &mut self.cores[core as usize];
        if stalled == waves {
            return;
        }
        let changed = |(before, now): (&SlotMask, &SlotMask)| before ^ now;
        // All that end, before any that begin: a wave has one reason at a time.
        for (n, gone) in stalled.iter().zip(waves).map(changed).enumerate().filter(|&(_, waves)| waves != 0) {
            for slot in lanes(gone & stalled[n]) {
                let state = &mut slots[slot];
                // The stall of one that has issued is closed already.
                if let Some((reason, from)) = state.stalled.take() {
                    state.stalls.push(Stall { reason, from, to: cycle });
                }
            }
        }
        for (n, come) in stalled.iter().zip(waves).map(changed).enumerate().filter(|&(_, waves)| waves != 0) {
            for slot in lanes(come & waves[n]) {
                slots[slot].stalled = Some((ISSUE_REASONS[n], cycle));
            }
        }
        *stalled = *waves;
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        let Event { cycle, sequence, .. } = event;
        let reason = match why {
            Waiting::Unit(_) => StallReason::Unit,
            Waiting::WritePort => StallReason::WritePort,
            Waiting::Lsu => StallReason::Lsu,
            Waiting::Banks => return,
        };
        let Some((record, waits)) = self.slot(event).in_flight(sequence) else { return };
        match *waits {
            Some((now, _)) if now == reason => {}
            before => {
                if let Some((reason, from)) = before {
                    record.stalls.push(Stall { reason, from, to: cycle });
                }
                *waits = Some((reason, cycle));
            }
        }
    }

    fn wants_hops(&self) -> bool {
        self.sinks.iter().any(|(_, sink)| sink.wants_hops())
    }

    fn hop(&mut self, hop: &Hop) {
        self.hops.push(*hop);
    }

    fn wants_state(&self) -> bool {
        self.sinks.iter().any(|(_, sink)| sink.wants_state())
    }

    fn state(&mut self, cycle: Cycle, values: &[u64]) {
        let (sinks, failed) = (&mut self.sinks, &mut self.failed);
        self.states.see(cycle, values, &self.window.cycles, self.gate.as_ref(), |(cycle, signal, value)| {
            write(sinks, failed, |sink| sink.state(cycle, signal, value));
        });
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        if !(self.retired.is_empty() && self.hops.is_empty()) {
            self.flush(cycle);
            self.release_states();
            self.flushes += 1;
            // While a trigger holds records back, sinks have nothing that they could write.
            let held = self.gate.as_ref().is_some_and(|gate| gate.fired().is_none());
            if !held
                && self.flushes.is_multiple_of(FLUSHES)
                && self.sinks.iter().any(|(_, sink)| sink.is_in_order_of_time())
            {
                let slots = self.cores.iter().flat_map(|core| &core.slots).map(SlotState::oldest);
                let retired = self.retired.iter().map(|record| began(record));
                let oldest = slots.chain(retired).fold(cycle, Cycle::min);
                write(&mut self.sinks, &mut self.failed, |sink| sink.advanced(oldest));
            }
        }
        let fired = self.until_triggered && self.gate.as_ref().is_some_and(|gate| gate.fired().is_some());
        if fired || self.failed.is_some() || self.interrupt.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
