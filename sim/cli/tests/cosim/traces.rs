//! Retirement traces of both sides.

use crate::bench::{Case, config, core, script};
use crate::directed::{kernel, kernels};
use std::io;
use std::sync::Mutex;
use wave_machine::clock::Cycle;
use wave_observe::trace::{How, Launched, Record, Sink, Window};
use wave_verify::rtl::Trial;

/// Stores records.
struct Kept<'a>(&'a Mutex<Vec<Record>>);

impl Sink for Kept<'_> {
    fn launch(&mut self, _: &Launched) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.0.lock().unwrap().push(record.clone());
        Ok(())
    }

    fn end(&mut self, _: How, _: Cycle, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Records of both sides, without stalls, which only the simulator reports.
fn records(case: &Case) -> Option<[Vec<Record>; 2]> {
    let core = core()?;
    let kept = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];
    let sinks =
        |place: usize| vec![("records".to_owned(), Box::new(Kept(&kept[place])) as Box<dyn Sink + '_>)];
    let cosim = case.cosim(&[]);
    let stimulus = tempfile::NamedTempFile::new().expect("a temporary file");
    cosim.trace_simulator(Window::ALL, sinks(0)).expect("the simulator runs it");
    cosim.trace_other(core, stimulus.path(), Window::ALL, sinks(1)).expect("so does the core");
    let mut sides = kept.map(|kept| kept.into_inner().unwrap());
    sides[0].iter_mut().for_each(|record| record.stalls.clear());
    Some(sides)
}

/// Records before the cycle of a fault. A core need not report all steps of that cycle.
fn before_the_end(records: &[Record]) -> Vec<&Record> {
    let faulted = records.iter().any(|record| record.open);
    let last = records.iter().map(|record| record.cycle).max().unwrap_or(0);
    records.iter().filter(|record| !faulted || record.cycle < last).collect()
}

fn same(name: &str, case: &Case) {
    let Some([ours, theirs]) = records(case) else { return };
    let (ours, theirs) = (before_the_end(&ours), before_the_end(&theirs));
    assert!(!ours.is_empty());
    for (a, b) in ours.iter().zip(&theirs) {
        assert_eq!(a, b, "{name}");
    }
    assert_eq!(ours.len(), theirs.len(), "{name}");
}

/// Two programs write one format: the simulator makes records from its events, the co-simulation from the
/// steps that the core reports.
#[test]
fn the_records_of_the_core_are_those_of_the_simulator() {
    for (name, text) in kernels() {
        same(name, &Case::of(&kernel(text), 61));
        same(name, &Case::of(&kernel(text), 24).grid([3, 2, 2]));
    }
    for seed in 0..2 {
        let config = config();
        let case = Case::of_trial(&Trial::of(&config, seed, false, None), &config);
        same(&format!("random program {seed}"), &case);
    }
}

/// An aborted run leaves open records for instructions in flight, the same on both sides except for the cycle
/// in which it stopped.
#[test]
fn a_run_that_is_broken_off_has_open_records() {
    let mut case = Case::of(&kernel("mov_imm r2, 64\ndevice_load_u32 r3, r2\niadd r4, r3, r3"), 8);
    case.script = script(1, 2000, 2000);
    case.max_cycles = 1000;
    let Some([ours, theirs]) = records(&case) else { return };
    let open = |records: &[Record]| -> Vec<(u32, bool)> {
        records.iter().filter(|r| r.open).map(|r| (r.pc, r.values.is_empty())).collect()
    };
    assert_eq!(open(&ours), open(&theirs));
}
