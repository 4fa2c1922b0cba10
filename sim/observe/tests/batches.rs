//! Batches of events against an observer that is told the events one by one.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use wave_isa::WORD_BYTES;
use wave_isa::program::Program;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Observer, Stage, Wants};
use wave_machine::gpu::{Machine, RunOptions, Stop};
use wave_machine::memory::RequestKind;
use wave_observe::batches::{Batch, Batches, Column, LaunchStart, Receiver, Stream, code_of};
use wave_study::launch::{self, Job, Size};

/// What a receiver was given.
#[derive(Debug, Default, PartialEq, Clone)]
struct Given {
    launches: Vec<LaunchStart>,
    batches: Vec<Batch>,
}

/// Keeps what it is given, and ends the run after so many batches.
struct Keeps {
    given: Arc<Mutex<Given>>,
    most: usize,
}

impl Receiver for Keeps {
    fn launch(&mut self, _: &Program, launch: &LaunchStart) -> ControlFlow<()> {
        self.given.lock().unwrap().launches.push(launch.clone());
        ControlFlow::Continue(())
    }

    fn batch(&mut self, batch: Batch) -> ControlFlow<()> {
        let mut given = self.given.lock().unwrap();
        given.batches.push(batch);
        if given.batches.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn keeps(config: &Config, rows: usize, most: usize) -> (Batches, Arc<Mutex<Given>>) {
    let given = Arc::new(Mutex::new(Given::default()));
    let keeps = Keeps { given: given.clone(), most };
    (Batches::new(config, &Stream::ALL, rows, Box::new(keeps)), given)
}

fn config() -> Config {
    let words = ["cores=3", "device_memory_bytes=8388608", "core.l1.bytes=4096"].map(str::to_owned);
    Config::example().with(&words).unwrap()
}

fn job(name: &str) -> Job {
    launch::load(name, Size::Small).unwrap()
}

fn machine(config: &Config, job: &Job) -> Machine {
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    Machine::new(config.clone(), job.program.clone(), memory)
}

/// Runs a job, stopped after every so many cycles.
fn given(job: &Job, options: &RunOptions, rows: usize, part: u64) -> Given {
    let config = config();
    let (mut batches, given) = keeps(&config, rows, usize::MAX);
    let mut gpu = machine(&config, job);
    for (number, step) in job.steps.iter().enumerate() {
        batches.start(&job.program, step, number + 1, gpu.now(), &[]);
        gpu.begin(step, options).unwrap();
        let report = loop {
            match gpu.advance(gpu.now().saturating_add(part), Some(&mut batches)).unwrap() {
                Stop::Ended(report) => break report,
                Stop::Cycle | Stop::Observer => {}
            }
        };
        batches.end(Ok(&report));
    }
    std::mem::take(&mut given.lock().unwrap())
}

/// The values of a column in all batches of a stream, as numbers.
fn column(given: &Given, stream: Stream, name: &str) -> Vec<u64> {
    let of_stream = given.batches.iter().filter(|batch| batch.stream == stream);
    let columns = of_stream.flat_map(|batch| batch.columns.iter().filter(|(known, _)| *known == name));
    let values = |column: &Column| -> Vec<u64> {
        match column {
            Column::Bool(values) => values.iter().map(|&value| u64::from(value)).collect(),
            Column::U8(values) => values.iter().map(|&value| u64::from(value)).collect(),
            Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
            Column::U64(values) => values.clone(),
        }
    };
    columns.flat_map(|(_, column)| values(column)).collect()
}

/// Rows as an observer of all cores is told them: by stream, the columns that it names.
#[derive(Default)]
struct OneByOne {
    rows: BTreeMap<&'static str, Vec<Vec<u64>>>,
    /// Workgroup and wave by core and slot.
    waves: BTreeMap<(u32, usize), (u64, u64)>,
    width: u64,
    height: u64,
    base: u32,
    instructions: u64,
}

const ISSUE: [&str; 9] = ["cycle", "core", "slot", "workgroup", "wave", "sequence", "pc", "active", "mask"];
const RETIRE: [&str; 7] = ["cycle", "core", "slot", "workgroup", "wave", "sequence", "pc"];
const MEMORY: [&str; 8] = ["cycle", "core", "workgroup", "wave", "pc", "instruction", "lane", "address"];
const L2: [&str; 4] = ["cycle", "slice", "core", "sectors"];
const LINE: [&str; 6] = ["cycle", "core", "workgroup", "wave", "pc", "line"];

impl Observer for OneByOne {
    fn wants(&self) -> Wants {
        Wants::of(&[
            EventKind::Issued,
            EventKind::Stage,
            EventKind::Access,
            EventKind::LineAccess,
            EventKind::SliceAccess,
        ])
    }

    fn event(&mut self, event: &Event<'_>) {
        let base = self.base;
        let pc = |word: u32| u64::from(base + word * WORD_BYTES);
        match event {
            Event::Issued(issued) => {
                let at = &issued.event;
                let [x, y, z] = issued.workgroup.map(u64::from);
                let workgroup = x + self.width * (y + self.height * z);
                let wave = u64::from(issued.wave);
                self.waves.insert((at.core, at.slot), (workgroup, wave));
                let row = vec![
                    at.cycle,
                    at.core.into(),
                    at.slot as u64,
                    workgroup,
                    wave,
                    at.sequence,
                    pc(at.word),
                    issued.active,
                    issued.mask,
                ];
                self.rows.entry("issue").or_default().push(row);
            }
            Event::Stage(at) if at.stage == Stage::Retire => {
                let (workgroup, wave) = self.waves[&(at.core, at.slot)];
                let row =
                    vec![at.cycle, at.core.into(), at.slot as u64, workgroup, wave, at.sequence, pc(at.word)];
                self.rows.entry("retire").or_default().push(row);
            }
            Event::Access(access) => {
                let (workgroup, wave) = self.waves[&(access.core, access.slot)];
                for lane in (0..access.addresses.len()).filter(|lane| access.mask >> lane & 1 == 1) {
                    assert_eq!(access.rows, 1, "these kernels have no tiles");
                    let row = vec![
                        access.cycle,
                        access.core.into(),
                        workgroup,
                        wave,
                        pc(access.word),
                        self.instructions,
                        lane as u64,
                        access.addresses[lane].into(),
                    ];
                    self.rows.entry("memory").or_default().push(row);
                }
                self.instructions += 1;
            }
            Event::LineAccess(tried) => {
                let counted = tried.counted;
                if counted.loads + counted.stores + counted.atomics + counted.remote_atomics == 0 {
                    return;
                }
                let (workgroup, wave) = self.waves[&(tried.core, tried.slot().unwrap())];
                let row =
                    vec![tried.cycle, tried.core.into(), workgroup, wave, pc(tried.word), tried.access.line];
                self.rows.entry("line").or_default().push(row);
            }
            Event::SliceAccess(access) if access.kind != RequestKind::Release => {
                let row = vec![access.cycle, access.slice.into(), access.core.into(), access.sectors.into()];
                self.rows.entry("l2").or_default().push(row);
            }
            _ => {}
        }
    }
}

const KERNELS: [&str; 4] = ["saxpy", "bfs", "histogram", "transpose_naive"];

#[test]
fn the_rows_are_the_events_in_order() {
    for name in KERNELS {
        let (config, job) = (config(), job(name));
        let mut told = OneByOne::default();
        let mut gpu = machine(&config, &job);
        for step in &job.steps {
            [told.width, told.height, _] = step.grid.map(u64::from);
            told.base = job.program.kernels[step.kernel].code.start * WORD_BYTES;
            gpu.run(step, &RunOptions::UNBOUNDED, Some(&mut told), &mut |_| {}).unwrap();
        }
        let threads = RunOptions { threads: 2, ..RunOptions::UNBOUNDED };
        let given = given(&job, &threads, 1000, u64::MAX);
        for (stream, names) in [
            (Stream::Issue, &ISSUE[..]),
            (Stream::Retire, &RETIRE),
            (Stream::Memory, &MEMORY),
            (Stream::Line, &LINE),
            (Stream::L2, &L2),
        ] {
            let mut rows = told.rows[stream.name()].clone();
            if stream == Stream::L2 {
                // They are told slice by slice.
                rows.sort_by_key(|row| (row[0], row[1]));
            }
            assert!(rows.len() > 100, "{name}: {stream:?} has {} rows", rows.len());
            for (place, column_name) in names.iter().enumerate() {
                let wanted: Vec<u64> = rows.iter().map(|row| row[place]).collect();
                assert!(column(&given, stream, column_name) == wanted, "{name}: {stream:?} {column_name}");
            }
        }
    }
}

#[test]
fn batches_are_the_same_however_the_run_is_made() {
    for name in KERNELS {
        let job = job(name);
        let plain = RunOptions::UNBOUNDED;
        let once = given(&job, &plain, 500, u64::MAX);
        assert!(once.batches.len() > 8, "{name}: {} batches", once.batches.len());
        let of = |options: RunOptions, part| given(&job, &options, 500, part);
        assert!(of(RunOptions { threads: 2, ..plain }, u64::MAX) == once, "{name}: two threads");
        assert!(of(RunOptions { every_cycle: true, ..plain }, u64::MAX) == once, "{name}: every cycle");
        assert!(of(plain, 97) == once, "{name}: in parts");
    }
}

#[test]
fn a_batch_has_as_many_rows_as_are_asked_for_and_ends_with_its_launch() {
    let job = job("bfs");
    let given = given(&job, &RunOptions::UNBOUNDED, 64, u64::MAX);
    let numbers: Vec<usize> = given.launches.iter().map(|launch| launch.number).collect();
    assert_eq!(numbers, (1..=job.steps.len()).collect::<Vec<_>>());
    assert!(given.launches.windows(2).all(|pair| pair[0].cycle < pair[1].cycle));
    for stream in Stream::ALL {
        let of_stream: Vec<&Batch> = given.batches.iter().filter(|batch| batch.stream == stream).collect();
        assert!(of_stream.windows(2).all(|pair| pair[0].launch <= pair[1].launch));
        for (place, batch) in of_stream.iter().enumerate() {
            let rows = batch.columns[0].1.len();
            assert!(batch.columns.iter().all(|(_, column)| column.len() == rows));
            let is_last = of_stream.get(place + 1).is_none_or(|next| next.launch != batch.launch);
            // A memory instruction is not divided.
            let most = if stream == Stream::Memory { 64 + 63 } else { 64 };
            assert!(rows <= most && (rows >= 64 || is_last), "{stream:?}: {rows} rows");
        }
    }
}

#[test]
fn a_receiver_ends_the_run() {
    let (config, job) = (config(), job("saxpy"));
    let (mut batches, given) = keeps(&config, 10, 3);
    let mut gpu = machine(&config, &job);
    batches.start(&job.program, &job.steps[0], 1, 0, &[]);
    gpu.begin(&job.steps[0], &RunOptions::UNBOUNDED).unwrap();
    assert!(matches!(gpu.advance(u64::MAX, Some(&mut batches)), Ok(Stop::Observer)));
    batches.give_rest();
    assert!(batches.is_over() && given.lock().unwrap().batches.len() == 3);
    // The machine can go on without it.
    assert!(matches!(gpu.advance(u64::MAX, None), Ok(Stop::Ended(_))));
    assert!(job.verify(gpu.memory()).is_ok());
}

#[test]
fn an_observer_that_comes_late_knows_the_waves() {
    let (config, job) = (config(), job("transpose_naive"));
    let whole = given(&job, &RunOptions::UNBOUNDED, usize::MAX, u64::MAX);
    let (mut batches, late) = keeps(&config, usize::MAX, usize::MAX);
    let mut gpu = machine(&config, &job);
    gpu.begin(&job.steps[0], &RunOptions::UNBOUNDED).unwrap();
    gpu.advance(700, None).unwrap();
    let waves = gpu.waves();
    batches.start(&job.program, &job.steps[0], 1, 0, &waves);
    assert!(matches!(gpu.advance(u64::MAX, Some(&mut batches)), Ok(Stop::Ended(_))));
    batches.give_rest();
    let late = late.lock().unwrap().clone();
    for (stream, name) in [(Stream::Retire, "workgroup"), (Stream::Memory, "wave"), (Stream::Issue, "pc")] {
        let (cycles, values) = (column(&whole, stream, "cycle"), column(&whole, stream, name));
        let rest: Vec<u64> =
            cycles.iter().zip(values).filter(|(cycle, _)| **cycle >= 700).map(|(_, v)| v).collect();
        assert!(rest.len() > 100 && rest.len() < cycles.len());
        assert_eq!(column(&late, stream, name), rest, "{stream:?} {name}");
    }
}

#[test]
fn the_code_has_every_instruction_of_a_kernel() {
    let job = job("saxpy");
    let code = code_of(&job.program, 0);
    let given = given(&job, &RunOptions::UNBOUNDED, 1000, u64::MAX);
    let issued: std::collections::BTreeSet<u64> = column(&given, Stream::Issue, "pc").into_iter().collect();
    let listed: std::collections::BTreeSet<u64> = code.iter().map(|line| line.pc.into()).collect();
    assert!(issued.is_subset(&listed) && issued.len() > 10);
    assert!(code.iter().any(|line| line.text.contains("device_load")));
    assert!(code.iter().all(|line| line.line.is_some()), "the suite is assembled from a text");
}
