//! Runs that leave a trace.

use std::sync::Arc;
use wave_sim::clock::Cycle;
use wave_sim::config::Config;
use wave_sim::gpu::{Gpu, RunError, RunOptions};
use wave_sim::program::{Launch, Program};
use wave_sim::trace::recorder::header;
use wave_sim::trace::{Form, Header, How, Item, Launched, Reader, Record, Recorder, Window, Writer};

/// Runs launches over this device memory; gives the bytes of the trace.
pub fn trace(
    config: &Config,
    program: &Program,
    steps: &[Launch],
    memory: Vec<u8>,
    form: Form,
    every_cycle: bool,
) -> Vec<u8> {
    trace_window(config, program, steps, memory, form, every_cycle, Window::ALL)
}

/// The same, of a window.
pub fn trace_window(
    config: &Config,
    program: &Program,
    steps: &[Launch],
    memory: Vec<u8>,
    form: Form,
    every_cycle: bool,
    window: Window,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let writer = Writer::new(&mut bytes, form, &header(config)).unwrap();
    let sinks = vec![("--wvfi".to_owned(), Box::new(writer) as _)];
    let mut recorder = Recorder::new(config, sinks, window, Arc::default());
    let mut gpu = Gpu::new(config, program, memory);
    let options = RunOptions { every_cycle, max_cycles: Some(1_000_000), ..RunOptions::UNBOUNDED };
    let mut ended: (How, Cycle) = (How::Complete, 0);
    for launch in steps {
        let start = gpu.now();
        recorder.start(program, launch, start);
        match gpu.run(launch, &options, Some(&mut recorder), &mut |_| {}) {
            Ok(report) => ended.1 = start + report.cycles,
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

/// A trace in memory: its header, and the records of each launch.
pub fn read(bytes: &[u8]) -> (Header, Vec<(Launched, Vec<Record>)>) {
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
