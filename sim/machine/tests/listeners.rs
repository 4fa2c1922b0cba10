//! Several observers of one run: each is told what it wants, in its order, whatever the others want.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use wave_isa::program::assemble;
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::{self, Config};
use wave_machine::core::probe::{Event, EventKind, Listeners, Observer, OfCore, Wants};
use wave_machine::gpu::{Machine, RunError, RunOptions};
use wave_study::launch::{self, Job, Size};

/// What was told, in brief: kind, core and cycle of an event.
type Told = Vec<(EventKind, Option<u32>, Cycle)>;

fn brief(event: &Event<'_>) -> (EventKind, Option<u32>, Cycle) {
    let cycle = match event {
        Event::Stage(event) => event.cycle,
        Event::Issued(issued) => issued.event.cycle,
        Event::Access(access) => access.cycle,
        Event::Atomic(atomic) => atomic.cycle,
        Event::Charge(charge) => charge.cycle,
        Event::Sample(sample, _) => sample.cycle,
        Event::Release(cycle) | Event::State(cycle, _) => *cycle,
        _ => 0,
    };
    (event.kind(), event.core(), cycle)
}

/// Notes what it is told.
#[derive(Default)]
struct Notes {
    wants: Wants,
    told: Told,
    /// Distance of the samples that it asks for; 0 for none.
    every: Cycle,
    next: Cycle,
    /// Ends the run in this cycle or later.
    until: Option<Cycle>,
    /// The last cycle up to which everything was told.
    advanced: Cycle,
}

impl Notes {
    fn wanting(kinds: &[EventKind]) -> Notes {
        Notes { wants: Wants::of(kinds), ..Notes::default() }
    }

    fn sampling(every: Cycle) -> Notes {
        Notes { every, next: every, ..Notes::wanting(&[EventKind::Sample]) }
    }
}

impl Observer for Notes {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Sample(sample, _) = event
            && sample.cycle >= self.next
        {
            self.next = sample.cycle + self.every;
        }
        self.told.push(brief(event));
    }

    fn sample_at(&self) -> Cycle {
        if self.every == 0 { NEVER } else { self.next }
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        self.advanced = cycle;
        if self.until.is_some_and(|until| cycle >= until) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Notes what each core tells by itself, and what the run loop tells.
struct Apart {
    cores: Vec<Arc<Mutex<Notes>>>,
    rest: Notes,
}

impl Apart {
    fn new(config: &Config) -> Apart {
        let of_core = |_| Arc::new(Mutex::new(Notes::wanting(&[EventKind::Issued, EventKind::Access])));
        let cores = (0..config.cores).map(of_core).collect();
        Apart { cores, rest: Notes::wanting(&[EventKind::Release]) }
    }

    fn told(&self) -> Vec<Told> {
        let cores = self.cores.iter().map(|core| core.lock().unwrap().told.clone());
        cores.chain([self.rest.told.clone()]).collect()
    }
}

impl Observer for Apart {
    fn wants(&self) -> Wants {
        self.rest.wants
    }

    fn event(&mut self, event: &Event<'_>) {
        self.rest.event(event);
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        vec![self.cores.iter().map(|core| core.clone() as OfCore).collect()]
    }
}

/// Workgroups on every core add to one word, and go on when they know what it was.
const ADDS: &str = "\
.kernel vector_add
.registers 8
.workgroup_size 256, 1, 1
    mov_sr r1, sr_workgroup_id_x
    mov_imm r2, 0x100
    atomic_add r3, r2, r1, .device
    iadd r3, r3, r1
    device_store_u32 r2, r3
    halt
.end
";

fn job() -> Job {
    let mut job = launch::load("vector_add", Size::Small).expect("a kernel of the suite");
    job.program = assemble(ADDS, "adds.wave").expect("it assembles").0;
    job
}

fn run(config: &Config, job: &Job, threads: usize, observer: &mut dyn Observer) -> Result<(), RunError> {
    let mut machine = Machine::new(config.clone(), job.program.clone(), job.memory.clone());
    let options = RunOptions { threads, ..RunOptions::UNBOUNDED };
    machine.run(&job.steps[0], &options, Some(observer), &mut |_| {}).map(|_| ())
}

fn machine() -> Config {
    config::load("gpu").expect("a preset")
}

#[test]
fn an_observer_is_told_what_it_wants_in_the_order_of_cycles_and_cores() {
    let (config, job) = (machine(), job());
    let wants = [EventKind::Issued, EventKind::Access, EventKind::Charge];
    let mut notes = Notes::wanting(&wants);
    run(&config, &job, 4, &mut notes).unwrap();
    for kind in wants {
        assert!(notes.told.iter().any(|told| told.0 == kind), "{kind:?}");
    }
    assert!(notes.told.iter().all(|told| wants.contains(&told.0)));
    let order: Vec<_> = notes.told.iter().map(|&(_, core, cycle)| (cycle, core)).collect();
    assert!(order.is_sorted());
    let cores: BTreeSet<_> = order.iter().map(|(_, core)| core).collect();
    assert!(cores.len() > 4, "{cores:?}");
}

#[test]
fn observers_of_one_run_are_told_the_same_as_each_alone() {
    let (config, job) = (machine(), job());
    let ordered = || Notes::wanting(&[EventKind::Stage, EventKind::Atomic]);
    let (mut alone, mut apart) = (ordered(), Apart::new(&config));
    run(&config, &job, 1, &mut alone).unwrap();
    run(&config, &job, 1, &mut apart).unwrap();
    let apart = apart.told();
    assert!(apart.iter().filter(|told| !told.is_empty()).count() > 4);
    for threads in [1, 4] {
        // Without one that needs an order between cores, and with one.
        let (mut one, mut other) = (Apart::new(&config), Apart::new(&config));
        let both: [&mut dyn Observer; 2] = [&mut one, &mut other];
        let mut listeners = Listeners::new(both);
        assert_eq!(listeners.of_cores().len(), 2);
        run(&config, &job, threads, &mut listeners).unwrap();
        assert!(one.told() == apart && other.told() == apart, "{threads} threads");

        let (mut one, mut other) = (Apart::new(&config), ordered());
        let both: [&mut dyn Observer; 2] = [&mut one, &mut other];
        let mut listeners = Listeners::new(both);
        assert_eq!(listeners.of_cores().len(), 0);
        run(&config, &job, threads, &mut listeners).unwrap();
        assert!(one.told() == apart && other.told == alone.told, "{threads} threads, one in order");
    }
}

#[test]
fn samples_go_to_those_who_asked_for_them() {
    let (config, job) = (machine(), job());
    let alone: Vec<Told> = [97, 250]
        .map(|every| {
            let mut notes = Notes::sampling(every);
            run(&config, &job, 1, &mut notes).unwrap();
            notes.told
        })
        .into();
    assert!(alone.iter().all(|told| told.len() > 3));
    let (mut a, mut b, mut end) = (Notes::sampling(97), Notes::sampling(250), Notes::sampling(0));
    let all: [&mut dyn Observer; 3] = [&mut a, &mut b, &mut end];
    run(&config, &job, 1, &mut Listeners::new(all)).unwrap();
    assert_eq!([a.told, b.told], alone[..]);
    // The end of a launch is for all.
    assert_eq!(end.told.len(), 1);
}

#[test]
fn each_observer_can_end_the_run_and_all_hear_of_it() {
    let (config, job) = (machine(), job());
    for first in [true, false] {
        let mut ends = Notes { until: Some(100), ..Notes::wanting(&[EventKind::Issued]) };
        let mut other = Notes::wanting(&[EventKind::Issued]);
        let mut all: Vec<&mut dyn Observer> = vec![&mut ends, &mut other];
        if !first {
            all.reverse();
        }
        let ended = run(&config, &job, 1, &mut Listeners::new(all));
        assert!(matches!(ended, Err(RunError::Interrupted(_))), "{ended:?}");
        assert_eq!(ends.advanced, other.advanced);
        assert!((100..200).contains(&ends.advanced), "{}", ends.advanced);
    }
}

#[test]
fn no_listeners_are_an_observer_of_nothing() {
    let mut none = Listeners::new([]);
    assert_eq!(none.wants(), Wants::NONE);
    run(&machine(), &job(), 4, &mut none).unwrap();
}
