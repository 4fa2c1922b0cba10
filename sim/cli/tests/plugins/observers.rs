//! The observer of `sim/plugins/`, against an observer that keeps every access.

use super::machine;
use wave_machine::core::probe::{Event, EventKind, Observer, RegisteredObservers, Wants};
use wave_machine::gpu::{Machine, RunOptions};
use wave_sim::plugin::statistics;
use wave_study::launch::{self, Size};

/// The lines that each core accesses, in order.
#[derive(Default)]
struct Accesses(Vec<(u32, u64)>);

impl Observer for Accesses {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::LineAccess])
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::LineAccess(tried) = event {
            let counted = tried.counted;
            if counted.loads + counted.stores + counted.atomics + counted.remote_atomics > 0 {
                self.0.push((tried.core, tried.access.line));
            }
        }
    }
}

/// The number of other lines between an access and the one before to its line; `None` for the first.
fn distance(accesses: &[(u32, u64)], place: usize) -> Option<usize> {
    let (core, line) = accesses[place];
    let before = accesses[..place].iter().rposition(|&access| access == (core, line))?;
    let mut between: Vec<u64> =
        accesses[before + 1..place].iter().filter(|access| access.0 == core).map(|access| access.1).collect();
    between.sort_unstable();
    between.dedup();
    Some(between.len())
}

/// Position of a counter among those of a report.
fn place(name: &str) -> usize {
    statistics().iter().position(|declared| declared.name == name).expect("it is declared")
}

#[test]
fn distances_are_those_of_the_accesses() {
    for (name, lines) in [("spmv", 40_usize), ("transpose_naive", 100), ("bfs", 7)] {
        let set = format!("reuse.lines={lines}");
        let config = machine(&["reuse.enabled=1", &set, "core.l1.bytes=4096"]);
        let job = launch::load(name, Size::Small).expect("a kernel of the suite");
        let run = |observer: &mut dyn FnMut(&mut Machine)| {
            let mut memory = job.memory.clone();
            memory.resize(config.device_memory_bytes as usize, 0);
            observer(&mut Machine::new(config.clone(), job.program.clone(), memory));
        };
        let options = RunOptions { threads: 2, ..RunOptions::UNBOUNDED };
        let mut kept = Accesses::default();
        run(&mut |gpu| {
            for step in &job.steps {
                gpu.run(step, &RunOptions::UNBOUNDED, Some(&mut kept), &mut |_| {}).expect("it ends");
            }
        });
        let mut registered = RegisteredObservers::of(&config);
        let (mut counted, mut launches) = ([0; 2], 0);
        run(&mut |gpu| {
            for step in &job.steps {
                registered.begin(step);
                let observer = registered.observers().next();
                let mut report = gpu.run(step, &options, observer, &mut |_| {}).expect("it ends");
                registered.count(&mut report.plug_ins);
                counted[0] += report.plug_ins[place("reuse.accesses")];
                counted[1] += report.plug_ins[place("reuse.near")];
                launches += 1;
            }
        });
        assert_eq!(launches, job.steps.len());
        let distances: Vec<Option<usize>> = (0..kept.0.len()).map(|place| distance(&kept.0, place)).collect();
        let near = |from: usize, to: usize| {
            distances.iter().flatten().filter(|&&distance| from <= distance && distance <= to).count()
        };
        assert!(near(0, lines - 1) > 100 && near(0, lines - 1) < distances.len(), "{name}");
        assert_eq!(counted, [distances.len() as u64, near(0, lines - 1) as u64], "{name}");
        // The text is a table of classes that add up to the same.
        let texts = registered.texts();
        let [("reuse", text)] = &texts[..] else { panic!("{texts:?}") };
        let mut rows = 0;
        for row in text.lines().skip(1) {
            let fields: Vec<&str> = row.split(',').collect();
            let from: usize = fields[0].parse().expect("a number");
            let wanted = match fields[1].parse() {
                Ok(to) => near(from, to),
                Err(_) => distances.len() - near(0, from - 1),
            };
            assert_eq!(fields[2].parse(), Ok(wanted), "{name}: {row}");
            rows += 1;
        }
        assert!(rows > 3, "{text}");
    }
}

#[test]
fn only_a_configuration_that_enables_it_has_it() {
    assert!(RegisteredObservers::of(&machine(&[])).is_empty());
    let enabled = RegisteredObservers::of(&machine(&["plugins.reuse.enabled=1"]));
    assert_eq!(enabled.names().collect::<Vec<_>>(), ["reuse"]);
}

#[test]
fn a_state_of_another_observer_is_refused() {
    let (few, many) =
        (machine(&["reuse.enabled=1", "reuse.lines=1"]), machine(&["reuse.enabled=1", "reuse.lines=9000"]));
    let states = RegisteredObservers::of(&few).save();
    let mut other = RegisteredObservers::of(&many);
    let of = |name: &str| states.iter().find(|(known, _)| known == name).map(|(_, state)| &state[..]);
    // Its histogram has another length.
    assert!(other.restore(of).is_err());
    assert!(RegisteredObservers::of(&few).restore(of).is_ok());
    assert!(RegisteredObservers::of(&few).restore(|_| None).is_err());
    let cut = |name: &str| of(name).map(|state| &state[..state.len() - 1]);
    assert!(RegisteredObservers::of(&few).restore(cut).is_err());
}
