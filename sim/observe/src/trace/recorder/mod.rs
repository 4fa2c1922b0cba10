//! The observer that makes records from the events of a run.
//!
//! Each core writes its events to a log of its own (`log`). From time to time the logs go to the maker of
//! records (`maker`), which may run on a thread of its own (`apart`). The record of an instruction is
//! opened when it issues and complete when it retires (`core`). Records that retired before the cycle that
//! all logs have reached go to the sinks, in the order of [`Record::order`](super::Record::order). So a trace
//! is the same however the cycles were visited.

mod apart;
mod core;
mod log;
mod maker;
mod slot;
mod states;

use self::core::{Common, CoreRecorder};
use super::record::{Header, How, Launched, Reports, kernel_hash};
use super::sink::{Sink, Window};
use super::trigger::{Gate, Trigger};
use crate::per_core::{lock, most};
use apart::Apart;
use log::Log;
pub(crate) use maker::Recorded;
use maker::{Batch, Maker};
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use wave_capture::{Capture, Misfit, Reader, Writer};
use wave_isa::WORD_BYTES;
use wave_isa::program::{Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::{Config, config_hash};
use wave_machine::core::probe::{Event, EventKind, Observer, OfCore, Wants};

/// Makes records and hands them to sinks.
pub struct Recorder<'s> {
    maker: Place<'s>,
    logs: Vec<Arc<Mutex<Log>>>,
    batch: Batch,
    wants: Wants,
    /// Records are made at the end of every quantum, because a trigger or the state of the machine must refer
    /// to the records of its cycle.
    prompt: bool,
    /// Set when a log has reached its size.
    full: Arc<AtomicBool>,
    /// Set to end the run: the trigger has fired, or a sink cannot be written to.
    over: Arc<AtomicBool>,
}

/// Where records are made: on this thread or on another.
enum Place<'s> {
    Here(Box<Maker<'s>>),
    Apart(Apart),
}

/// The header of a trace of a machine.
pub fn header(config: &Config) -> Header {
    Header {
        wave_width: config.core.wave_width,
        config: config.name.clone(),
        config_hash: u64::from_str_radix(&config_hash(config), 16).unwrap_or_default(),
        producer: "wave-sim".to_owned(),
        reports: Reports::ALL,
    }
}

/// A launch that begins in cycle `start`, in the form of a trace.
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
    /// A recorder for this machine. Each sink comes with a name for messages.
    pub fn new(config: &Config, sinks: Vec<(String, Box<dyn Sink + 's>)>, window: Window) -> Recorder<'s> {
        // Only for a single file in the binary form: no other sink needs the records.
        let encodes = matches!(&sinks[..], [(_, sink)] if sink.wants_encoded());
        let (slots, width) = (config.core.max_waves as usize, config.core.wave_width as usize);
        let (full, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let size = most(config.cores);
        let log = || Arc::new(Mutex::new(Log::new(slots, width, size, full.clone())));
        let wants_state = sinks.iter().any(|(_, sink)| sink.wants_state());
        let wants_hops = sinks.iter().any(|(_, sink)| sink.wants_hops());
        let asks = [(wants_hops, EventKind::Hop), (wants_state, EventKind::State)];
        let wants = asks
            .iter()
            .filter(|(asked, _)| *asked)
            .fold(Wants::NONE, |wants, &(_, kind)| wants.and(Wants::of(&[kind])));
        Recorder {
            logs: (0..config.cores).map(|_| log()).collect(),
            batch: Batch::new(config.cores as usize),
            wants,
            prompt: wants_state,
            maker: Place::Here(Box::new(Maker::new(
                sinks,
                Common { launch: Launched::default(), width, window, encodes },
                (0..config.cores).map(|core| CoreRecorder::new(core, slots)).collect(),
                over.clone(),
            ))),
            full,
            over,
        }
    }

    /// Keeps only what happens around a trigger. Call it before [`Recorder::apart`].
    pub fn with_trigger(mut self, trigger: Option<Trigger>) -> Recorder<'s> {
        if let (Some(trigger), Place::Here(maker)) = (trigger, &mut self.maker) {
            maker.gate = Some(Gate::new(trigger));
            // The trigger examines records.
            maker.common.encodes = false;
            self.prompt = true;
        }
        self
    }

    /// Ends the run when the trigger has fired. Call it before [`Recorder::apart`].
    pub fn until_triggered(mut self) -> Recorder<'s> {
        if let Place::Here(maker) = &mut self.maker {
            maker.until_triggered = true;
        }
        self
    }

    /// Begins a launch in cycle `start`.
    pub fn start(&mut self, program: &Program, launch: &Launch, start: Cycle) {
        self.hand_over(start);
        let launched = launched(program, launch, start);
        match &mut self.maker {
            Place::Here(maker) => maker.start(launched),
            Place::Apart(maker) => maker.start(launched),
        }
    }

    /// The state after all events before cycle `to`, in which the run has stopped. All records before it that are
    /// complete are in the files, and what else the recorder knows is in the bytes.
    ///
    /// # Errors
    /// The name of the sink that could not be written to or cannot be continued, and the error.
    pub fn save(&mut self, to: Cycle) -> Result<Vec<u8>, (String, io::Error)> {
        self.hand_over(to);
        let mut state = Writer::default();
        for log in &self.logs {
            lock(log).save(&mut state);
        }
        let made = match &mut self.maker {
            Place::Here(maker) => maker.save_state(),
            Place::Apart(maker) => maker.save_state(),
        }?;
        state.put(&made);
        Ok(state.into_bytes())
    }

    /// Describes what a saved state holds, field by field. Another program can put it back if this is the same there.
    pub fn layout() -> String {
        let mut to = String::new();
        Log::describe(&mut to);
        Maker::describe(&mut to);
        to
    }

    /// Puts a state back, in a recorder with the same sinks, window and trigger, whose files hold what they held then.
    /// Call it before [`Recorder::apart`]; no launch that was running then is started again.
    ///
    /// # Errors
    /// The state does not fit.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), Misfit> {
        let mut from = Reader::new(state);
        for log in &self.logs {
            lock(log).restore(&mut from)?;
        }
        match &mut self.maker {
            Place::Here(maker) => maker.restore_state(&mut from),
            Place::Apart(_) => Err(Misfit::new("comes too late")),
        }?;
        if from.is_empty() { Ok(()) } else { Err(Misfit::new("has more than this recorder")) }
    }

    /// Ends the recording; the run has ended in cycle `cycle`. Returns how much was recorded.
    ///
    /// # Errors
    /// The name of the sink that could not be written to, and the error.
    pub fn finish(mut self, how: How, cycle: Cycle, message: &str) -> Result<Recorded, (String, io::Error)> {
        self.hand_over(0);
        match self.maker {
            Place::Here(maker) => maker.finish(how, cycle, message),
            Place::Apart(maker) => maker.finish(how, cycle, message),
        }
    }

    /// Has the logs of all cores read: everything that happens before `to`.
    fn hand_over(&mut self, to: Cycle) {
        self.full.store(false, Ordering::Relaxed);
        self.batch.to = to;
        for (log, written) in self.logs.iter().zip(&mut self.batch.written) {
            std::mem::swap(&mut lock(log).written, written);
        }
        match &mut self.maker {
            Place::Here(maker) => maker.take(&mut self.batch),
            Place::Apart(maker) => maker.take(&mut self.batch),
        }
    }
}

impl Recorder<'static> {
    /// Makes and writes the records on a thread of its own, unless every cycle has to wait for them anyway.
    pub fn apart(mut self) -> Recorder<'static> {
        self.maker = match self.maker {
            Place::Here(maker) if !self.prompt => Place::Apart(Apart::new(*maker)),
            maker => maker,
        };
        self
    }
}

impl Observer for Recorder<'_> {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        vec![self.logs.iter().map(|log| log.clone() as OfCore).collect()]
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Hop(hop) => self.batch.hops.push(*hop),
            // A recorder on another thread has no sink that wants states.
            Event::State(cycle, values) => {
                if let Place::Here(maker) = &mut self.maker {
                    maker.see(*cycle, values);
                }
            }
            _ => {}
        }
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        if self.prompt || self.full.load(Ordering::Relaxed) {
            self.hand_over(cycle);
        }
        if self.over.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
