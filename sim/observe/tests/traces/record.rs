//! Runs that write a trace.

use wave_isa::program::{Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunError, RunOptions};
use wave_observe::trace::recorder::header;
use wave_observe::trace::{Form, Header, How, Item, Launched, Reader, Record, Recorder, Window, Writer};

/// Launches of a program on this device memory, and how they are traced.
#[derive(Clone, Copy)]
pub(crate) struct Traced<'a> {
    pub config: &'a Config,
    pub program: &'a Program,
    pub steps: &'a [Launch],
    pub memory: &'a [u8],
    pub form: Form,
    /// Visit every cycle instead of skipping idle ones.
    pub every_cycle: bool,
}

impl<'a> Traced<'a> {
    /// A trace in binary form, with idle cycles skipped.
    pub(crate) fn new(
        config: &'a Config,
        program: &'a Program,
        steps: &'a [Launch],
        memory: &'a [u8],
    ) -> Traced<'a> {
        Traced { config, program, steps, memory, form: Form::Binary, every_cycle: false }
    }

    /// Runs the launches. Returns the bytes of the trace.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.window(Window::ALL)
    }

    /// As `bytes`, for a window.
    pub(crate) fn window(&self, window: Window) -> Vec<u8> {
        let Traced { config, program, every_cycle, .. } = *self;
        let mut bytes = Vec::new();
        let writer = Writer::new(&mut bytes, self.form, &header(config)).unwrap();
        let sinks = vec![("--wvfi".to_owned(), Box::new(writer) as _)];
        let mut recorder = Recorder::new(config, sinks, window);
        let mut gpu = Machine::new(config.clone(), program.clone(), self.memory.to_vec());
        let options = RunOptions { every_cycle, max_cycles: Some(1_000_000), ..RunOptions::UNBOUNDED };
        let mut ended: (How, Cycle) = (How::Complete, 0);
        for launch in self.steps {
            let start = gpu.now();
            recorder.start(program, launch, start);
            match gpu.run(launch, &options, Some(&mut recorder), &mut |_| {}) {
                Ok(report) => ended.1 = start + report.running_cycles(),
                Err(RunError::Fault(fault)) => {
                    ended = (How::Fault, fault.cycle.unwrap());
                    break;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        recorder.finish(ended.0, ended.1, "").unwrap();
        bytes
    }
}

/// A trace in memory: its header, and the records of each launch.
pub(crate) fn read(bytes: &[u8]) -> (Header, Vec<(Launched, Vec<Record>)>) {
    let mut reader = Reader::new(bytes, "memory".to_owned()).unwrap();
    let mut launches: Vec<(Launched, Vec<Record>)> = Vec::new();
    let mut record = Record::default();
    while let Some(item) = reader.next(&mut record).unwrap() {
        match item {
            Item::Launch(launch) => launches.push((*launch, Vec::new())),
            Item::Record => launches.last_mut().unwrap().1.push(record.clone()),
            Item::End(_) => {}
        }
    }
    (reader.header().clone(), launches)
}
