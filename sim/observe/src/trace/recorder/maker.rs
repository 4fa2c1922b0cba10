//! Makes records from the logs of the cores and hands them to the sinks in order.

use super::core::{Common, CoreRecorder, Form};
use super::log::Written;
use super::slot::still_open;
use super::states::States;
use crate::trace::record::{How, Launched, Record, Stage};
use crate::trace::sink::{Sink, write};
use crate::trace::trigger::Gate;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_capture::{Capture, Misfit, Reader, Writer};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::Hop;

/// Cycles between two calls of [`Sink::advanced`] for sinks that write in the order of time.
const OFTEN: Cycle = 256;

/// The events of some cycles.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// All events before this cycle, since the last batch.
    pub(super) to: Cycle,
    /// The log of each core.
    pub(super) written: Vec<Written>,
    /// Events of requests, not yet in the order of time.
    pub(super) hops: Vec<Hop>,
}

impl Batch {
    /// An empty batch for `cores` cores.
    pub(super) fn new(cores: usize) -> Batch {
        Batch { written: (0..cores).map(|_| Written::default()).collect(), ..Batch::default() }
    }
}

/// What a recorder has handed to its sinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Records.
    pub records: u64,
    /// The cycle in which the trigger fired, if it has.
    pub triggered: Option<Cycle>,
}

/// What was recorded, or the name of the sink that could not be written to and the error.
pub(super) type Outcome = Result<Recorded, (String, io::Error)>;

/// What was saved, or the name of the sink that could not be written to and the error.
pub(super) type Saved = Result<Vec<u8>, (String, io::Error)>;

/// Makes records and hands them to sinks.
#[derive(Capture)]
pub(super) struct Maker<'s> {
    #[spec]
    pub(super) sinks: Vec<(String, Box<dyn Sink + 's>)>,
    pub(super) common: Common,
    /// Holds records back until a trigger fires.
    pub(super) gate: Option<Gate>,
    /// End the run when the trigger has fired.
    #[spec]
    pub(super) until_triggered: bool,
    /// Set when the run is to end.
    #[spec]
    pub(super) over: Arc<AtomicBool>,
    pub(super) cores: Vec<CoreRecorder>,
    // Only sinks that cannot be continued have these.
    #[scratch]
    pub(super) hops: Vec<Hop>,
    #[scratch]
    pub(super) states: States,
    kept: u64,
    /// The cycle of the last call of [`Sink::advanced`].
    #[scratch]
    told: Cycle,
    /// The sink that could not be written to, and the error.
    #[scratch]
    failed: Option<(String, io::Error)>,
}

impl<'s> Maker<'s> {
    pub(super) fn new(
        sinks: Vec<(String, Box<dyn Sink + 's>)>,
        common: Common,
        cores: Vec<CoreRecorder>,
        over: Arc<AtomicBool>,
    ) -> Maker<'s> {
        Maker {
            sinks,
            common,
            gate: None,
            until_triggered: false,
            over,
            cores,
            hops: Vec::new(),
            states: States::default(),
            kept: 0,
            told: 0,
            failed: None,
        }
    }

    /// Begins a launch.
    pub(super) fn start(&mut self, launch: Launched) {
        if let Some(gate) = &mut self.gate {
            gate.forget();
            self.states.forget();
        }
        write(&mut self.sinks, &mut self.failed, |sink| sink.launch(&launch));
        self.common.launch = launch;
    }

    /// The state, with everything so far in the files. All batches have come.
    pub(super) fn save_state(&mut self) -> Saved {
        let mut to = Writer::default();
        write(&mut self.sinks, &mut self.failed, |sink| sink.save(&mut to));
        match self.failed.take() {
            Some(failed) => {
                let (name, error) = &failed;
                let again = (name.clone(), io::Error::new(error.kind(), error.to_string()));
                self.failed = Some(failed);
                self.over.store(true, Ordering::Relaxed);
                Err(again)
            }
            None => {
                self.save(&mut to);
                Ok(to.into_bytes())
            }
        }
    }

    /// Puts a state back. The files hold what they held then.
    pub(super) fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        for (name, sink) in &mut self.sinks {
            sink.restore(from).map_err(|misfit| misfit.within(name))?;
        }
        self.restore(from)
    }

    /// Reads a batch and empties it.
    pub(super) fn take(&mut self, batch: &mut Batch) {
        for (core, written) in self.cores.iter_mut().zip(&mut batch.written) {
            core.read(written, &self.common);
            written.clear();
        }
        self.hops.append(&mut batch.hops);
        self.flush(batch.to);
        self.release_states();
        // While a trigger holds records back, sinks have nothing to write.
        let held = self.gate.as_ref().is_some_and(|gate| gate.fired().is_none());
        if !held
            && batch.to >= self.told.saturating_add(OFTEN)
            && self.sinks.iter().any(|(_, sink)| sink.is_in_order_of_time())
        {
            self.told = batch.to;
            let oldest = self.cores.iter().map(CoreRecorder::oldest).fold(batch.to, Cycle::min);
            write(&mut self.sinks, &mut self.failed, |sink| sink.advanced(oldest));
        }
        let fired = self.until_triggered && self.gate.as_ref().is_some_and(|gate| gate.fired().is_some());
        if fired || self.failed.is_some() {
            self.over.store(true, Ordering::Relaxed);
        }
    }

    /// Takes what the machine holds at the end of a cycle.
    pub(super) fn see(&mut self, cycle: Cycle, values: &[u64]) {
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

    /// Hands on the held-back states of the machine, once the trigger has fired.
    fn release_states(&mut self) {
        let (sinks, failed) = (&mut self.sinks, &mut self.failed);
        self.states.release(self.gate.as_ref(), |(cycle, signal, value)| {
            write(sinks, failed, |sink| sink.state(cycle, signal, value));
        });
    }

    /// Ends the recording; the run has ended in cycle `cycle` and all batches have come.
    pub(super) fn finish(mut self, how: How, cycle: Cycle, message: &str) -> Outcome {
        if let (How::Fault, Some(gate)) = (how, &mut self.gate) {
            gate.fault(cycle);
        }
        self.flush(cycle);
        if how == How::Fault {
            // The memory side has run on too.
            self.hops.retain(|hop| hop.cycle <= cycle);
        }
        for core in &mut self.cores {
            // Other cores may have run on for some cycles after the fault of one.
            let all = core.take_all(self.common.width);
            let (done, late): (Vec<_>, Vec<_>) = all.into_iter().partition(|record| record.cycle <= cycle);
            let late = late.into_iter().map(|record| (None, record));
            let flights = core.slots.iter_mut().flat_map(|state| state.flight.drain(..));
            let flights = flights.map(|flight| (flight.waits, flight.land()));
            let begun = flights.chain(late).filter(|(_, record)| record.stage(Stage::Issue) <= cycle);
            let open: Vec<_> = begun.map(|(waits, record)| still_open(record, waits, cycle)).collect();
            done.into_iter().chain(open).for_each(|record| core.add(record, &self.common));
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

    /// Hands on, in order, records that retire and events of requests before `to`.
    fn flush(&mut self, to: Cycle) {
        // The sort is stable: the events of a slice in one cycle stay in the order of its work.
        self.hops.sort_by_key(|hop| (hop.cycle, hop.slice));
        let hops_ready = self.hops.partition_point(|hop| hop.cycle < to);
        let mut hops = self.hops.drain(..hops_ready).peekable();
        let (sinks, failed) = (&mut self.sinks, &mut self.failed);
        let mut cores: Vec<_> = self.cores.iter_mut().collect();
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
}
