//! A run that is stopped, saved and put back into a machine of another process ends as a run that was not stopped.
//!
//! The parent stops each program of a random machine in random cycles and writes the states to files. A child, this
//! executable again, makes the machine and the programs anew from the seed, puts each state back, and goes on to the
//! end.

use super::{Left, Machine, Way, Work, difference, machine, run, ways, works};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_capture::{Capture, Reader, Writer};
use wave_isa::program::{Launch, assemble};
use wave_machine::core::probe::{Event, EventKind, Observer, Wants};
use wave_machine::gpu::{self, KernelReport, RunError, RunOptions, Snapshot, Stop};
use wave_testing::environment;

/// Number of machines, and of stops of each program on them.
const MACHINES: u64 = 8;
const STOPS: usize = 6;
/// Variables of the child: the folder with the states, and the seed of their machine.
const FOLDER: &str = "WAVE_SIM_SNAPSHOTS";
const SEED: &str = "WAVE_SIM_SNAPSHOT_SEED";

/// How the programs of this machine run: those of every third are watched, with registers as of a cycle.
fn options(seed: u64) -> (RunOptions, Option<Told>) {
    let watched = seed.is_multiple_of(3);
    let options = RunOptions { max_cycles: Some(3_000_000), inspect: watched, ..RunOptions::UNBOUNDED };
    (options, watched.then(Told::default))
}

/// A sum of the hashes of all events since the last stop: the events of different cores have no order.
#[derive(Default)]
struct Told(u64);

impl Observer for Told {
    fn wants(&self) -> Wants {
        Wants::of(&[
            EventKind::Stage,
            EventKind::Issued,
            EventKind::Going,
            EventKind::Results,
            EventKind::Waits,
            EventKind::Access,
        ])
    }

    fn event(&mut self, event: &Event<'_>) {
        let mut hasher = DefaultHasher::new();
        format!("{event:?}").hash(&mut hasher);
        self.0 = self.0.wrapping_add(hasher.finish());
    }
}

/// Goes on with a program in launch `first`, which may be running, and stops in these cycles, which are in order.
fn go_on(
    gpu: &mut gpu::Machine,
    work: &Work,
    first: usize,
    stops: &[u64],
    options: &RunOptions,
    mut told: Option<&mut Told>,
    stopped: &mut dyn FnMut(usize, &mut gpu::Machine, Option<&mut Told>),
) -> Left {
    let mut stops = stops.iter().copied().peekable();
    let mut ended = Vec::new();
    'launches: for (number, launch) in work.launches.iter().enumerate().skip(first) {
        if !gpu.is_running()
            && let Err(error) = gpu.begin(launch, options)
        {
            ended.push(Err(error));
            break;
        }
        loop {
            let until = stops.peek().copied().unwrap_or(u64::MAX);
            match gpu.advance(until, told.as_deref_mut().map(|told| told as &mut dyn Observer)) {
                Ok(Stop::Ended(report)) => {
                    ended.push(Ok(*report));
                    break;
                }
                Ok(stop) => {
                    assert_eq!((stop, gpu.now()), (Stop::Cycle, stops.next().unwrap().max(gpu.now())));
                    stopped(number, gpu, told.as_deref_mut());
                }
                Err(error) => {
                    ended.push(Err(error));
                    break 'launches;
                }
            }
        }
    }
    Left { ended, now: gpu.now(), memory: std::mem::replace(gpu, fresh_like(gpu)).into_memory() }
}

/// A machine with nothing in it, to leave behind.
fn fresh_like(gpu: &gpu::Machine) -> gpu::Machine {
    gpu::Machine::new(gpu.config().clone(), gpu.program().clone(), Vec::new())
}

fn fresh(machine: &Machine, work: &Work) -> gpu::Machine {
    gpu::Machine::new(machine.config.clone(), work.program.clone(), work.memory.clone())
}

/// A hash of how launches from `first` on ended, and of what was told since a stop.
fn hash(left: &Left, first: usize, told: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    told.hash(&mut hasher);
    format!("{:?}", &left.ended[first..]).hash(&mut hasher);
    (&left.memory, left.now).hash(&mut hasher);
    hasher.finish()
}

/// Writes the states of one machine to the folder. Returns their number.
fn save(seed: u64, folder: &Path) -> usize {
    let mut random = Pcg32::seed_from_u64(seed);
    let machine = machine(&mut random);
    let mut saved = 0;
    for (place, work) in works(&machine, &mut random).iter().enumerate() {
        let expected = run(&machine, work, &mut ways(&mut random)[0]);
        let mut stops: Vec<u64> = (0..STOPS).map(|_| random.random_range(1..=expected.now)).collect();
        stops.sort_unstable();
        stops.dedup();
        let (options, mut told) = options(seed);
        // Launch, cycle and state of each stop, and the sum of what was told between it and the one before.
        let mut states: Vec<(usize, u64, Writer, u64)> = Vec::new();
        let left = go_on(
            &mut fresh(&machine, work),
            work,
            0,
            &stops,
            &options,
            told.as_mut(),
            &mut |number, gpu, told| {
                let mut to = Writer::default();
                gpu.snapshot().save(&mut to);
                let before = told.map_or(0, |told| std::mem::take(&mut told.0));
                states.push((number, gpu.now(), to, before));
            },
        );
        if let Some(difference) = difference(&expected, &left) {
            panic!("seed {seed}: {} stopped in {stops:?}: {difference}\n{}", work.name, machine.arguments());
        }
        saved += states.len();
        let mut since = told.map_or(0, |told| told.0);
        for (number, now, state, before) in states.into_iter().rev() {
            let name = format!("{place} {number} {now} {:x}", hash(&expected, number, since));
            fs::write(folder.join(name), state.bytes()).expect("the folder is writable");
            since = since.wrapping_add(before);
        }
    }
    saved
}

#[test]
fn a_saved_run_goes_on_in_another_process() {
    let first = environment::number("WAVE_SIM_SEED", 0);
    let mut saved = 0;
    for seed in first..first + environment::count("WAVE_SIM_MACHINES", MACHINES) {
        let folder = tempfile::tempdir().expect("a folder");
        let here = save(seed, folder.path());
        let child = Command::new(std::env::current_exe().expect("this executable"))
            .args(["--exact", "snapshots::finish_saved_runs", "--ignored", "--nocapture"])
            .env(FOLDER, folder.path())
            .env(SEED, seed.to_string())
            .output()
            .expect("the child runs");
        let said = String::from_utf8_lossy(&child.stdout);
        let finished = said.lines().find_map(|line| line.split("finished ").nth(1));
        assert!(
            child.status.success() && finished == Some(&here.to_string()),
            "seed {seed}: {said}{}\nagain: WAVE_SIM_SEED={seed} WAVE_SIM_MACHINES=1 cargo test --test timing snapshots",
            String::from_utf8_lossy(&child.stderr)
        );
        saved += here;
    }
    println!("{saved} runs saved, put back in another process and finished");
    assert!(
        saved > 30 * MACHINES as usize || environment::number("WAVE_SIM_MACHINES", 0) > 0,
        "only {saved}"
    );
}

/// Set while an interruption is asked for.
static STOP: AtomicBool = AtomicBool::new(false);

/// Most interruptions of a launch: each is followed by a look at what the waves do.
const INTERRUPTIONS: usize = 40;

/// Runs that are interrupted in random cycles and then go on, also while they are checked for a standstill.
#[test]
fn a_run_that_is_interrupted_goes_on_as_if_it_were_not() {
    let first = environment::number("WAVE_SIM_SEED", 0);
    let mut interrupted = 0;
    for seed in first..first + environment::count("WAVE_SIM_MACHINES", 5) {
        let mut random = Pcg32::seed_from_u64(seed);
        let machine = machine(&mut random);
        let mut works = works(&machine, &mut random);
        works.push(spinning());
        for work in &works {
            let max_instructions = random.random_bool(0.3).then(|| random.random_range(1..3000));
            let looks_after = Some(random.random_range(1..6000));
            let options = RunOptions {
                max_instructions,
                looks_after,
                max_cycles: Some(200_000),
                ..RunOptions::UNBOUNDED
            };
            let mut way = Way { name: "never interrupted", watched: None, options };
            let expected = run(&machine, work, &mut way);
            let options = RunOptions { stop: Some(&STOP), ..options };
            let mut gpu = fresh(&machine, work);
            let mut ended: Vec<Result<KernelReport, RunError>> = Vec::new();
            for launch in &work.launches {
                if ended.last().is_some_and(Result::is_err) {
                    break;
                }
                if let Err(error) = gpu.begin(launch, &options) {
                    ended.push(Err(error));
                    break;
                }
                let mut left = INTERRUPTIONS;
                let end = loop {
                    let until = gpu.now() + random.random_range(1..700);
                    STOP.store(false, Ordering::Relaxed);
                    match gpu.advance(if left > 0 { until } else { u64::MAX }, None) {
                        Ok(Stop::Ended(report)) => break Ok(*report),
                        Ok(_) => {}
                        Err(error) => break Err(error),
                    }
                    // Progress is told, and so this set, at the begin.
                    let ask = &mut |_| STOP.store(true, Ordering::Relaxed);
                    match gpu.advance_reporting(u64::MAX, None, ask) {
                        Ok(Stop::Ended(report)) => break Ok(*report),
                        Ok(_) => {}
                        Err(RunError::Interrupted(_)) => left -= 1,
                        Err(error) => break Err(error),
                    }
                };
                interrupted += INTERRUPTIONS - left;
                ended.push(end);
            }
            STOP.store(false, Ordering::Relaxed);
            let left = Left { ended, now: gpu.now(), memory: gpu.into_memory() };
            if let Some(difference) = difference(&expected, &left) {
                panic!("seed {seed}: {} interrupted: {difference}\n{}", work.name, machine.arguments());
            }
        }
    }
    assert!(interrupted > 500, "only {interrupted}");
}

/// Waves that wait for a value that nobody writes: this is proved in a check of several parts.
fn spinning() -> Work {
    let source = ".kernel spins\n.registers 4\n.workgroup_size 8, 1, 1\nmov_imm r1, 0\nloop\n\
        device_load_u32 r2, r1\nucmp_ne p1, r2, r1\nbreak p1\nendloop\nhalt\n.end\n";
    let (program, _) = assemble(source, "spins.wave").expect("it assembles");
    let launches = vec![Launch::of(&program, 0, [2, 1, 1])];
    Work { name: "spins".to_owned(), program, launches, memory: vec![0; 8192] }
}

/// The child.
#[test]
#[ignore = "a_saved_run_goes_on_in_another_process starts it"]
fn finish_saved_runs() {
    let folder = std::env::var_os(FOLDER).expect("the folder of the states");
    let seed = environment::number(SEED, 0);
    let mut random = Pcg32::seed_from_u64(seed);
    let machine = machine(&mut random);
    let works = works(&machine, &mut random);
    let mut finished = 0;
    for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let words: Vec<&str> = name.split(' ').collect();
        let [place, number, cycle, expected] = words[..] else { panic!("{name}") };
        let (work, number) = (&works[place.parse::<usize>().unwrap()], number.parse().unwrap());
        let mut snapshot = Snapshot::blank().expect("a snapshot has no specification");
        snapshot.restore(&mut Reader::new(&fs::read(&file).unwrap())).unwrap();
        let mut gpu = fresh(&machine, work);
        let (options, mut told) = options(seed);
        gpu.restore_with(&snapshot, &options).unwrap_or_else(|misfit| panic!("{name}: {misfit}"));
        assert_eq!(gpu.now(), cycle.parse::<u64>().unwrap());
        assert_eq!(gpu.snapshot(), snapshot, "{}: it is not the state that was saved", work.name);
        let left = go_on(&mut gpu, work, number, &[], &options, told.as_mut(), &mut |_, _, _| {});
        let found = format!("{:x}", hash(&left, 0, told.map_or(0, |told| told.0)));
        assert_eq!(found, expected, "{} from cycle {cycle} on: {:?}", work.name, left.ended);
        finished += 1;
    }
    println!("finished {finished}");
}
