//! A run that is stopped, saved and put back into a machine of another process ends as a run that was not stopped.
//!
//! The parent stops each program of a random machine in random cycles and writes the states to files. A child, this
//! executable again, makes the machine and the programs anew from the seed, puts each state back, and goes on to the
//! end.

use super::{Left, Machine, Work, difference, machine, run, ways, works};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use wave_capture::{Capture, Reader, Writer};
use wave_machine::gpu::{self, RunOptions, Snapshot, Stop};
use wave_testing::environment;

/// Number of machines, and of stops of each program on them.
const MACHINES: u64 = 25;
const STOPS: usize = 6;
/// Variables of the child: the folder with the states, and the seed of their machine.
const FOLDER: &str = "WAVE_SIM_SNAPSHOTS";
const SEED: &str = "WAVE_SIM_SNAPSHOT_SEED";
const OPTIONS: RunOptions = RunOptions { max_cycles: Some(3_000_000), ..RunOptions::UNBOUNDED };

/// Goes on with a program in launch `first`, which may be running, and stops in these cycles, which are in order.
fn go_on(
    gpu: &mut gpu::Machine,
    work: &Work,
    first: usize,
    stops: &[u64],
    stopped: &mut dyn FnMut(usize, &mut gpu::Machine),
) -> Left {
    let mut stops = stops.iter().copied().peekable();
    let mut ended = Vec::new();
    'launches: for (number, launch) in work.launches.iter().enumerate().skip(first) {
        if !gpu.is_running()
            && let Err(error) = gpu.begin(launch, &OPTIONS)
        {
            ended.push(Err(error));
            break;
        }
        loop {
            let until = stops.peek().copied().unwrap_or(u64::MAX);
            match gpu.advance(until, None) {
                Ok(Stop::Ended(report)) => {
                    ended.push(Ok(*report));
                    break;
                }
                Ok(stop) => {
                    assert_eq!((stop, gpu.now()), (Stop::Cycle, stops.next().unwrap().max(gpu.now())));
                    stopped(number, gpu);
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

/// A hash of how launches from `first` on ended.
fn hash(left: &Left, first: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
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
        let left = go_on(&mut fresh(&machine, work), work, 0, &stops, &mut |number, gpu| {
            let mut to = Writer::default();
            gpu.snapshot().save(&mut to);
            let name = format!("{place} {number} {} {:x}", gpu.now(), hash(&expected, number));
            fs::write(folder.join(name), to.bytes()).expect("the folder is writable");
            saved += 1;
        });
        if let Some(difference) = difference(&expected, &left) {
            panic!("seed {seed}: {} stopped in {stops:?}: {difference}\n{}", work.name, machine.arguments());
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

/// The child.
#[test]
#[ignore = "a_saved_run_goes_on_in_another_process starts it"]
fn finish_saved_runs() {
    let folder = std::env::var_os(FOLDER).expect("the folder of the states");
    let mut random = Pcg32::seed_from_u64(environment::number(SEED, 0));
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
        gpu.restore_with(&snapshot, &OPTIONS).unwrap_or_else(|misfit| panic!("{name}: {misfit}"));
        assert_eq!(gpu.now(), cycle.parse::<u64>().unwrap());
        assert_eq!(gpu.snapshot(), snapshot, "{}: it is not the state that was saved", work.name);
        let left = go_on(&mut gpu, work, number, &[], &mut |_, _| {});
        let found = format!("{:x}", hash(&left, 0));
        assert_eq!(found, expected, "{} from cycle {cycle} on: {:?}", work.name, left.ended);
        finished += 1;
    }
    println!("finished {finished}");
}
