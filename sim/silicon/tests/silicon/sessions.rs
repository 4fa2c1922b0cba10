//! Launches of the suites through the interface of a driver: parameters, memory, times, results.

use crate::small;
use std::cell::Cell;
use std::time::Duration;
use wave_driver::{Call, Error, Properties};
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config;
use wave_machine::functional::{self, Limits};
use wave_ptx::Options;
use wave_silicon::device::{Device, arch, diagnostic};
use wave_silicon::job::{Job, Repeats, UNALIGNED, measure};
use wave_silicon::rehearsal::Rehearsal;
use wave_silicon::session::{Failure, Session, Settings};
use wave_study::launch::{self, Size, Verification};
use wave_testing::environment::count;

/// Kernels whose atomics return what was there, in an order that is not fixed.
const ANY_ORDER: &[&str] = &["compact", "bfs", "c/bfs", "wgsl/compact", "wgsl/bfs"];

fn never() -> bool {
    false
}

const ONCE: Repeats = Repeats { warm_up: 0, measured: 1 };

#[test]
fn suites_run_aligned_with_every_byte_and_with_times() {
    let config = config::load("gpu").unwrap();
    let mut device = Rehearsal::new(&config).unwrap();
    let mut failed = Vec::new();
    // Every kernel is tried with `WAVE_SIM_SILICON_KERNELS=1`: one of so many.
    let every = count("WAVE_SIM_SILICON_KERNELS", 6) as usize;
    let names = launch::suite().chain(launch::c_suite()).chain(launch::wgsl_suite());
    for name in names
        .enumerate()
        .filter(|(number, name)| number % every == 0 || UNALIGNED.contains(name))
        .map(|(_, name)| name)
    {
        let job = launch::load(name, Size::Small).unwrap_or_else(|_| panic!("{name}"));
        let mut memory = job.memory.clone();
        memory.resize(job.memory.len() + (16 << 20), 0);
        let mut steps = job.steps.clone();
        for launch in &mut steps {
            launch.place_private(&job.program, 32, memory.len() as u64, job.memory.len() as u64).unwrap();
        }
        let mut expected = memory.clone();
        for launch in &steps {
            functional::run(&config, &job.program, launch, &mut expected, &Limits::default(), &mut |_| {})
                .unwrap();
        }
        let settings = Settings::default();
        let options = Options { aligned: !UNALIGNED.contains(&name), ..settings.options };
        let mut session = Session::new(&mut device, &Settings { options, ..settings }, &never).unwrap();
        let what = Job { program: &job.program, memory: &memory, steps: &steps };
        let mut looks = 0;
        let times = measure(&mut session, &what, ONCE, &mut |after| {
            looks += 1;
            if !matches!(job.verify(&after[..job.memory.len()]), Verification::Passed { .. }) {
                failed.push(format!("{name}: a wrong result"));
            }
            if !ANY_ORDER.contains(&name) && after != expected {
                failed.push(format!("{name}: other bytes"));
            }
        });
        match times {
            Ok(times) => {
                assert_eq!(looks, 1);
                assert_eq!(times.launches, steps.len() as u64);
                assert!(times.cycles.median > 0.0 && times.multiprocessors > 0, "{name}: {times:?}");
            }
            Err(failure) => failed.push(format!("{name}: {failure:?}")),
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Each thread stores a word; `{}` is what else there is.
fn kernel(more: &str) -> Program {
    let text = format!(
        ".kernel k\n.registers 8\n.workgroup_size 64, 1, 1\nmov_sr r1, sr_thread_id_x\nmov_imm r2, 2\nshl r2, r1, r2\n\
         {more}device_store_u32 r2, r1\nhalt\n.end\n"
    );
    assemble(&text, "k.wave").unwrap().0
}

fn run_on(
    device: &mut dyn Device,
    program: &Program,
    launch: Launch,
    settings: &Settings,
) -> Result<Vec<u8>, Failure> {
    let mut session = Session::new(device, settings, &never)?;
    let memory = vec![0; 4096];
    let steps = [launch];
    let mut after = Vec::new();
    measure(&mut session, &Job { program, memory: &memory, steps: &steps }, ONCE, &mut |memory| {
        after = memory.to_vec();
    })?;
    Ok(after)
}

#[test]
fn the_times_are_those_of_the_machine_and_what_is_slower_is_seen() {
    let program = kernel("");
    let launch = Launch::of(&program, 0, [6, 1, 1]);
    let mut device = Rehearsal::new(&small(&[])).unwrap();
    let cycles = |device: &mut Rehearsal| {
        let mut session = Session::new(device, &Settings::default(), &never).unwrap();
        let steps = [launch.clone()];
        let job = Job { program: &program, memory: &[0; 4096], steps: &steps };
        measure(&mut session, &job, Repeats { warm_up: 1, measured: 3 }, &mut |_| {}).unwrap()
    };
    let times = cycles(&mut device);
    assert_eq!(times.cycles.count, 3);
    assert_eq!(times.cycles.least, times.cycles.most, "a rehearsal repeats exactly");
    assert_eq!(times.multiprocessors, 2);
    device.slower = 1000;
    assert_eq!(cycles(&mut device).cycles.median, times.cycles.median + 1000.0);
}

#[test]
fn a_fault_says_where_it_is() {
    let program = kernel("mov_imm r3, 0x70000000\niadd r2, r2, r3\n");
    let launch = Launch::of(&program, 0, [1, 1, 1]);
    let mut device = Rehearsal::new(&small(&[])).unwrap();
    let settings = Settings::default();
    let checked = Settings { options: Options { check_bounds: true, ..settings.options }, ..settings };
    match run_on(&mut device, &program, launch.clone(), &checked) {
        Err(Failure::Fault(why)) => {
            assert!(why.message.contains("an access at device address 0x700000"), "{}", why.message);
            assert!(why.message.contains("workgroup 0,0,0"), "{}", why.message);
        }
        other => panic!("{other:?}"),
    }
    match run_on(&mut device, &program, launch, &settings) {
        Err(Failure::Fault(why)) => assert!(why.message.contains("faulted on the GPU"), "{}", why.message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_gpu_takes_is_refused_with_a_hint() {
    let program = kernel("");
    let mut device = Rehearsal::new(&small(&[])).unwrap();
    let mut refused = |launch: Launch, settings: &Settings| -> String {
        match run_on(&mut device, &program, launch, settings) {
            Err(Failure::Input(wrong)) => {
                assert!(wrong[0].hint.is_some(), "{wrong:?}");
                wrong[0].message.clone()
            }
            other => panic!("{other:?}"),
        }
    };
    let launch = Launch::of(&program, 0, [1, 1, 1]);
    let settings = Settings::default();
    let big = Launch { local_memory_bytes: 1 << 20, ..launch.clone() };
    assert!(refused(big, &settings).contains("local memory, and a CTA"));
    let deep = Launch { grid: [1, 70_000, 1], ..launch.clone() };
    assert!(refused(deep, &settings).contains("at most 65535 in y and in z"));
    let wide = Launch { workgroup: [1025, 1, 1], ..launch };
    assert!(refused(wide, &settings).contains("a CTA has at most 1024"));
}

#[test]
fn memory_is_bounded_and_given_back() {
    let mut device = Rehearsal::new(&small(&[])).unwrap();
    assert_eq!(device.allocate(1 << 40), Err(Error::OutOfMemory { bytes: 1 << 40 }));
    let program = kernel("");
    for _ in 0..3 {
        run_on(&mut device, &program, Launch::of(&program, 0, [1, 1, 1]), &Settings::default()).unwrap();
    }
    // What sessions had is free again.
    assert!(device.allocate(4 << 30).is_ok());
}

/// A device whose copies back are wrong in a byte, or that does not end.
struct Broken {
    inner: Rehearsal,
    flips: bool,
    hangs: bool,
    reads: Cell<u32>,
}

impl Device for Broken {
    fn properties(&self) -> &Properties {
        self.inner.properties()
    }

    fn load(&mut self, text: &str, program: &Program) -> Result<(), Error> {
        self.inner.load(text, program)
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, Error> {
        self.inner.allocate(bytes)
    }

    fn free(&mut self, address: u64) {
        self.inner.free(address);
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.inner.write(address, bytes)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.inner.read(address, bytes)?;
        self.reads.set(self.reads.get() + 1);
        // The records of times come first, then memory.
        if self.flips && bytes.len() == 4096 {
            bytes[40] ^= 1;
        }
        Ok(())
    }

    fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Error> {
        self.inner.fill(address, byte, bytes)
    }

    fn evict(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        self.inner.evict(address, bytes)
    }

    fn mailbox(&mut self, words: usize) -> Result<u64, Error> {
        self.inner.mailbox(words)
    }

    fn mail(&self) -> Vec<u32> {
        self.inner.mail()
    }

    fn launch(&mut self, call: &Call<'_>, launch: &Launch, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
        match self.hangs {
            true => Err(Error::TimedOut { seconds: call.limit.as_secs_f64() }),
            false => self.inner.launch(call, launch, stop),
        }
    }
}

#[test]
fn a_wrong_byte_and_a_kernel_without_end_are_seen() {
    let inner = Rehearsal::new(&small(&[])).unwrap();
    let mut device = Broken { inner, flips: false, hangs: false, reads: Cell::new(0) };
    let program = kernel("");
    let launch = Launch::of(&program, 0, [1, 1, 1]);
    let right = run_on(&mut device, &program, launch.clone(), &Settings::default()).unwrap();
    assert_eq!(right[40], 10);
    device.flips = true;
    assert_ne!(run_on(&mut device, &program, launch.clone(), &Settings::default()).unwrap(), right);
    device.hangs = true;
    let settings = Settings { limit: Duration::from_millis(500), ..Settings::default() };
    match run_on(&mut device, &program, launch, &settings) {
        Err(Failure::Input(wrong)) => {
            assert_eq!(wrong[0].message, "the kernel has not ended on the GPU after 0.5 seconds");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_target_is_the_newest_that_the_gpu_has() {
    let device = Rehearsal::new(&small(&[])).unwrap();
    let of = |capability| arch(&Properties { capability, ..device.properties().clone() });
    for (capability, name) in
        [((8, 0), "sm_80"), ((8, 6), "sm_86"), ((9, 0), "sm_90"), ((10, 3), "sm_100"), ((12, 1), "sm_120")]
    {
        assert_eq!(of(capability).unwrap().name, name);
    }
    let wrong = of((7, 5)).unwrap_err();
    assert!(
        wrong.message.contains("compute capability 7.5, and the translation needs 8.0"),
        "{}",
        wrong.message
    );
}

#[test]
fn errors_of_the_driver_have_hints() {
    let limit = Duration::from_secs(10);
    let name = "CUDA_ERROR_MISALIGNED_ADDRESS".to_owned();
    for (error, hint) in [
        (Error::NoGpu, "--rehearse"),
        (Error::NoSuchGpu { number: 3, count: 1 }, "--gpu"),
        (Error::OutOfMemory { bytes: 7 }, "--size small"),
        (Error::TimedOut { seconds: 10.0 }, "--timeout 10"),
        (Error::Fault { name }, "--unaligned"),
        (Error::Fault { name: "CUDA_ERROR_LAUNCH_FAILED".to_owned() }, "--check-bounds"),
    ] {
        let text = diagnostic(&error, limit).render(false);
        assert!(text.contains(hint), "{text}");
    }
}
