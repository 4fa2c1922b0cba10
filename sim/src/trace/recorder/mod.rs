//! The observer that makes records from the events of a run.
//!
//! An instruction's record is opened when it issues and complete when it retires. The cores report one after the other,
//! some cycles each; what has retired is kept until all of them have come so far, and then goes to the sinks in the
//! order of [`Record::order`]. So a trace is the same however the cycles were visited.

mod core;
mod slot;
mod states;

use self::core::{Common, CoreRecorder, Form};
use super::record::{Header, How, Launched, Record, Reports, StageField, kernel_hash};
use super::sink::{Sink, Window, write};
use super::trigger::{Gate, Trigger};
use crate::clock::Cycle;
use crate::config::{Config, config_hash};
use crate::core::collector::Waiting;
use crate::core::probe::{Event, Going, Hop, IssueStall, Issued, MemoryEvent, Observer, OfCore, Results};
use crate::core::wave::SlotMask;
use crate::isa::WORD_BYTES;
use crate::program::{Launch, Program};
use slot::still_open;
use states::States;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often sinks that write in the order of time hear how far they may go: after so many flushes.
const FLUSHES: u64 = 32;

/// The thread that panicked, if one did, ends the run.
fn lock(core: &Arc<Mutex<CoreRecorder>>) -> MutexGuard<'_, CoreRecorder> {
    core.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes records and hands them to sinks.
pub struct Recorder<'s> {
    sinks: Vec<(String, Box<dyn Sink + 's>)>,
    common: Arc<Common>,
    /// Holds records back until a trigger fires.
    gate: Option<Gate>,
    /// The run ends when it has.
    until_triggered: bool,
    interrupt: Arc<AtomicBool>,
    cores: Vec<Arc<Mutex<CoreRecorder>>>,
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
        // One file in the binary form: no other sink wants to see the records.
        let encodes = matches!(&sinks[..], [(_, sink)] if sink.wants_encoded());
        let common = Arc::new(Common {
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
            width: config.core.wave_width as usize,
            window,
            encodes,
        });
        let slots = config.core.max_waves as usize;
        Recorder {
            sinks,
            gate: None,
            until_triggered: false,
            interrupt,
            cores: (0..config.cores)
                .map(|_| Arc::new(Mutex::new(CoreRecorder::new(common.clone(), slots))))
                .collect(),
            common,
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
        // A trigger looks at the records.
        let encodes = self.common.encodes && self.gate.is_none();
        self.share(|common| common.encodes = encodes);
        self
    }

    /// The same, which ends the run when the trigger has fired.
    pub fn until_triggered(mut self) -> Recorder<'s> {
        self.until_triggered = true;
        self
    }

    /// Changes what all cores know.
    fn share(&mut self, change: impl FnOnce(&mut Common)) {
        let mut common = (*self.common).clone();
        change(&mut common);
        self.common = Arc::new(common);
        self.cores.iter().for_each(|core| lock(core).common = self.common.clone());
    }

    /// A launch begins in cycle `start`.
    pub fn start(&mut self, program: &Program, launch: &Launch, start: Cycle) {
        if let Some(gate) = &mut self.gate {
            gate.forget();
            self.states.forget();
        }
        self.share(|common| common.launch = launched(program, launch, start));
        let launched = &self.common.launch;
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
        self.flush(cycle);
        for mut core in self.cores.iter().map(lock) {
            // Other cores may have gone on for some cycles after one has faulted.
            let (done, late): (Vec<_>, Vec<_>) =
                core.take_all().into_iter().partition(|record| record.cycle <= cycle);
            let late = late.into_iter().map(|record| (None, record));
            let flights = core.slots.iter_mut().flat_map(|state| state.flight.drain(..));
            let flights = flights.map(|flight| (flight.waits, flight.land()));
            let begun = flights.chain(late).filter(|(_, record)| record.stage(StageField::Issue) <= cycle);
            let open: Vec<_> = begun.map(|(waits, record)| still_open(record, waits, cycle)).collect();
            done.into_iter().chain(open).for_each(|record| core.add(record));
        }
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
        // Stable: those of a slice in a cycle stay in the order of its work.
        self.hops.sort_by_key(|hop| (hop.cycle, hop.slice));
        let hops_ready = self.hops.partition_point(|hop| hop.cycle < to);
        let mut hops = self.hops.drain(..hops_ready).peekable();
        let (sinks, failed) = (&mut self.sinks, &mut self.failed);
        let mut cores: Vec<_> = self.cores.iter().map(lock).collect();
        cores.retain(|core| core.next_retired().is_some_and(|at| at < to));
        while let Some(cycle) =
            cores.iter().filter_map(|core| core.next_retired()).min().filter(|&at| at < to)
        {
            while let Some(hop) = hops.next_if(|hop| hop.cycle <= cycle) {
                write(sinks, failed, |sink| sink.hop(&hop));
            }
            let in_window = cycle < self.common.window.cycles.end;
            for core in &mut cores {
                while let Some(form) = core.take_retired(cycle) {
                    let kept = &mut self.kept;
                    let mut keep = |record: &Record| {
                        *kept += 1;
                        write(sinks, failed, |sink| sink.record(record));
                    };
                    match (form, &mut self.gate) {
                        (Form::Record(record), _) if !in_window => core.give_back(record),
                        (Form::Record(record), Some(gate)) => {
                            gate.pass(record, |record| core.give_back(record), keep);
                        }
                        (Form::Record(record), None) => {
                            keep(&record);
                            core.give_back(record);
                        }
                        (Form::Encoded(range), _) if in_window => {
                            self.kept += 1;
                            write(sinks, failed, |sink| sink.encoded(cycle, &core.bytes[range.clone()]));
                        }
                        (Form::Encoded(_), _) => {}
                    }
                }
            }
        }
        cores.iter_mut().for_each(|core| core.forget_taken());
        for hop in hops {
            write(sinks, failed, |sink| sink.hop(&hop));
        }
    }

    fn core(&self, core: u32) -> MutexGuard<'_, CoreRecorder> {
        lock(&self.cores[core as usize])
    }

    /// Hands on what the machine held before the trigger fired.
    fn release_states(&mut self) {
        let (sinks, failed) = (&mut self.sinks, &mut self.failed);
        self.states.release(self.gate.as_ref(), |(cycle, signal, value)| {
            write(sinks, failed, |sink| sink.state(cycle, signal, value));
        });
    }
}

impl Observer for Recorder<'_> {
    fn wants_stalls(&self) -> bool {
        true
    }

    fn of_core(&self, core: u32) -> Option<OfCore> {
        Some(self.cores[core as usize].clone())
    }

    // Where another observer watches beside this one:

    fn step(&mut self, event: Event) {
        self.core(event.core).step(event);
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        self.core(issued.event.core).issued(issued);
    }

    fn goes_on(&mut self, going: &Going) {
        self.core(going.event.core).goes_on(going);
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        self.core(event.core).accesses(event);
    }

    fn results(&mut self, results: &Results<'_>) {
        self.core(results.event.core).results(results);
    }

    fn stalls(&mut self, core: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        self.core(core).stalls(core, cycle, waves);
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        self.core(event.core).waits(event, why);
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
        self.states.see(
            cycle,
            values,
            &self.common.window.cycles,
            self.gate.as_ref(),
            |(cycle, signal, value)| {
                write(sinks, failed, |sink| sink.state(cycle, signal, value));
            },
        );
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        if self.cores.iter().any(|core| lock(core).next_retired().is_some()) || !self.hops.is_empty() {
            self.flush(cycle);
            self.release_states();
            self.flushes += 1;
            // While a trigger holds records back, sinks have nothing that they could write.
            let held = self.gate.as_ref().is_some_and(|gate| gate.fired().is_none());
            if !held
                && self.flushes.is_multiple_of(FLUSHES)
                && self.sinks.iter().any(|(_, sink)| sink.is_in_order_of_time())
            {
                let oldest = self.cores.iter().map(|core| lock(core).oldest()).fold(cycle, Cycle::min);
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
