//! Checkpoints: a run that is killed and goes on, however often, ends in the same bytes as one that was never stopped;
//! and every file that is no checkpoint of the run is refused.

use super::scratch::{Ran, Scratch, without_host};
use super::signals::interrupted;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::process::{Command, Stdio};
use std::time::Duration;
use wave_testing::environment;

/// Each thread adds to a sum for r2 rounds, with a load, an atomic and a barrier in each.
const SUMS: &str = "\
.kernel sums
.registers 12
.workgroup_size 64, 1, 1
    mov_sr  r3, sr_thread_id_x
    mov_sr  r4, sr_workgroup_id_x
    mov_imm r5, 64
    imul    r4, r4, r5
    iadd    r3, r3, r4
    mov_imm r5, 2
    shl     r3, r3, r5
    mov_imm r6, 0
    mov_imm r7, 0
    mov_imm r8, 1
    loop
    iadd    r9, r0, r3
    device_load_u32 r10, r9
    iadd    r6, r6, r10
    iadd    r9, r1, r3
    device_store_u32 r9, r6
    atomic_add r11, r0, r8, .device
    barrier
    iadd    r7, r7, r8
    ucmp_ge p1, r7, r2
    break   p1
    endloop
    halt
.end
";

const LAUNCHES: &str = r#"(
    source: "sums.wave",
    buffers: (a: (type: u32, length: 1024), b: (type: u32, length: 1024)),
    steps: [
        run(grid: 16, arguments: ["a", "b", 12]),
        run(grid: 3, arguments: ["b", "a", 24]),
        run(grid: 16, arguments: ["a", "b", 2]),
        run(grid: 9, arguments: ["b", "a", 16]),
    ],
)"#;

/// Waits for a value that nobody writes.
const SPINS: &str = "\
.kernel spins
.registers 6
.workgroup_size 32, 1, 1
    mov_imm r1, 0
    mov_imm r2, 0
    loop
    device_load_u32 r3, r1
    ucmp_ne p1, r3, r2
    break   p1
    endloop
    halt
.end
";

fn scratch() -> Scratch {
    Scratch::with(&[("sums.wave", SUMS), ("four.ron", LAUNCHES), ("spins.wave", SPINS)])
}

/// The files that runs write, beside checkpoints.
const FILES: [&str; 3] = ["memory", "t.wvfi", "t.txt"];

/// What a run leaves for its user.
#[derive(PartialEq)]
struct Left {
    code: i32,
    out: String,
    err: String,
    files: [Option<Vec<u8>>; FILES.len()],
}

impl std::fmt::Debug for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Left { code, out, err, files } = self;
        let lengths = files.each_ref().map(|file| file.as_ref().map(Vec::len));
        write!(f, "exit code {code}, files of {lengths:?} bytes\n{out}{err}")
    }
}

fn left(scratch: &Scratch, ran: Ran) -> Left {
    let files = FILES.map(|file| std::fs::read(scratch.path(file)).ok());
    Left { code: ran.code, out: ran.out, err: without_host(&ran.err), files }
}

/// Removes all files but those of [`scratch`].
fn tidy(scratch: &Scratch) {
    let names = all_files(scratch).into_iter().map(|(name, _)| name);
    let made = names.filter(|name| !name.ends_with(".wave") && !name.ends_with(".ron"));
    made.for_each(|name| std::fs::remove_file(scratch.path(&name)).unwrap());
}

/// Starts a run and kills it after a while. `None` if it was faster.
fn killed(scratch: &Scratch, run: &str, after: Duration) -> Option<Ran> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(run.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    let ended = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = ended.status.code()?;
    Some(Ran { code, out: text(ended.stdout), err: text(ended.stderr) })
}

/// Kills a run again and again until it has ended, and compares it with one that was never stopped. Returns how often
/// it went on from a checkpoint.
fn kill_until_it_ends(scratch: &Scratch, run: &str, every: u64, random: &mut Pcg32) -> usize {
    let expected = left(scratch, scratch.run(run));
    tidy(scratch);
    let mut went_on = 0;
    // Longer after each kill, so that it ends on any host.
    let mut longest = 60.0;
    let ended = loop {
        // As the batch script of docs/checkpoints.md does.
        let resume = if scratch.path("c").exists() { " --resume c" } else { " --overwrite" };
        let run = format!("{run} --checkpoint c --checkpoint-every {every}{resume}");
        let after = Duration::from_micros(random.random_range(0..(longest * 1000.0) as u64));
        longest *= 1.3;
        if let Some(ran) = killed(scratch, &run, after) {
            break ran;
        }
        went_on += usize::from(resume.contains("resume"));
    };
    let ended = left(scratch, ended);
    assert!(ended == expected, "{run} every {every}: {ended:?}\n{expected:?}");
    // The last checkpoint is still there, and the rest of the run gives the same once more.
    if scratch.path("c").exists() {
        let again = left(scratch, scratch.run(&format!("{run} --resume c")));
        assert!(again == expected, "{run} --resume c: {again:?}\n{expected:?}");
    }
    // The last run has collected what the others have left.
    let left = all_files(scratch).into_iter().filter(|(name, _)| name.ends_with(".partial"));
    assert_eq!(left.map(|(name, _)| name).collect::<Vec<_>>(), Vec::<String>::new(), "{run}");
    tidy(scratch);
    went_on
}

#[test]
fn a_run_that_is_killed_goes_on_and_ends_in_the_same_bytes() {
    let scratch = scratch();
    let seed = environment::number("WAVE_SIM_SEED", 0);
    let mut random = Pcg32::seed_from_u64(seed);
    let runs = [
        ("four.ron --config tiny --stats --device-memory 64KiB --save 0:8192:memory", 1600),
        ("four.ron --config gpu --format json --device-memory 64KiB --save 0:8192:memory", 1200),
        ("four.ron --config large --stats --device-memory 64KiB --threads 2 --save 0:4096:memory", 711),
        ("sums.wave --config tiny --grid 7 --set-reg 2:20 --fill-iota 0:u32:64:3 --dump-u32 0:64", 200),
        ("four.ron --config tiny --device-memory 64KiB --max-instructions 20000 --stats", 2000),
        ("spins.wave --config tiny --device-memory 64KiB --stats", 70_000),
        ("scan --config gpu --device-memory 4MiB --size small --stats", 400),
        ("four.ron --config tiny --device-memory 64KiB --wvfi t.wvfi", 8000),
        (
            "sums.wave --config tiny --device-memory 64KiB --grid 7 --set-reg 2:20 --max-cycles 20000 --wvfi t.wvfi",
            2800,
        ),
        ("four.ron --config tiny --device-memory 64KiB --wvfi t.wvfi --trigger stall>700", 8000),
    ];
    let mut went_on = 0;
    for (run, every) in runs {
        went_on += kill_until_it_ends(&scratch, run, every, &mut random);
    }
    println!("{went_on} runs went on, seed {seed}");
    assert!(went_on > 0, "seed {seed}: no run was killed after its first checkpoint");
}

/// In random cycles, so that it is certain that each run goes on, and with other threads; the run that goes on writes
/// checkpoints too.
#[test]
fn a_run_goes_on_from_any_cycle() {
    let scratch = scratch();
    let seed = environment::number("WAVE_SIM_SEED", 0);
    let mut random = Pcg32::seed_from_u64(seed);
    for (run, cycles) in [
        ("four.ron --config tiny --stats --device-memory 64KiB --save 0:8192:memory", 92_000),
        ("four.ron --config large --format json --device-memory 64KiB --save 0:8192:memory", 34_000),
        ("four.ron --config tiny --device-memory 64KiB --max-cycles 24000", 24_000),
        ("four.ron --config tiny --device-memory 64KiB --max-instructions 4000 --stats", 9000),
        ("spins.wave --config tiny --device-memory 64KiB", 330_000),
        ("scan --config large --device-memory 4MiB --size small --format json", 2900),
        ("scan --config large --device-memory 4MiB --size small --wvfi t.wvfi", 2900),
        ("scan --config gpu --device-memory 4MiB --size small --wvfi t.txt --stats", 2900),
        ("four.ron --config gpu --device-memory 64KiB --wvfi t.wvfi --trigger pc=0x40", 56_000),
    ] {
        let expected = left(&scratch, scratch.run(run));
        let mut went_on = 0;
        for _ in 0..environment::count("WAVE_SIM_STOPS", 2) {
            let [every, later] = [(); 2].map(|()| random.random_range(cycles / 3..cycles));
            let threads = random.random_range(1..4);
            let check = |flags: String| {
                let run = format!("{run}{flags}");
                let found = left(&scratch, scratch.run(&run));
                assert!(found == expected, "seed {seed}: {run}: {found:?}\n{expected:?}");
            };
            check(format!(" --checkpoint c --checkpoint-every {every}"));
            if scratch.path("c").exists() {
                went_on += 1;
                check(format!(" --resume c --threads {threads} --checkpoint d --checkpoint-every {later}"));
            }
            if scratch.path("d").exists() {
                check(" --resume d".to_owned());
            }
            tidy(&scratch);
        }
        assert!(went_on > 0, "seed {seed}: {run} never wrote a checkpoint");
    }
}

/// A launch of many cycles that is checked for whether it can end while the signal comes.
#[test]
fn a_signal_saves_the_run_if_asked() {
    let scratch = scratch();
    let run = "sums.wave --config tiny --device-memory 64KiB --grid 7 --set-reg 2:2500 --stats";
    for (signal, flags) in [("TERM", ""), ("INT", " --to-cycle 1200000 --wvfi t.wvfi")] {
        let run = format!("{run}{flags}");
        let expected = left(&scratch, scratch.run(&run));
        tidy(&scratch);
        let ran = interrupted(&scratch, &format!("{run} --checkpoint c --checkpoint-on-signal"), signal);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("was interrupted in cycle "), "{}", ran.err);
        let cycle = ran.err.split("--resume c goes on from cycle ").nth(1).expect(&ran.err);
        let cycle: u64 = cycle.lines().next().unwrap().parse().unwrap();
        assert!(cycle > 0, "{}", ran.err);
        // The trace of the interrupted run is complete too.
        assert_eq!(scratch.path("t.wvfi").exists(), !flags.is_empty());
        let again = left(&scratch, scratch.run(&format!("{run} --resume c")));
        assert!(again == expected, "{again:?}\n{expected:?}");
        tidy(&scratch);
    }
    // Without the flag there is none.
    let ran =
        interrupted(&scratch, &format!("{run} --checkpoint c --checkpoint-every 0x7fffffffffff"), "TERM");
    assert_eq!((ran.code, scratch.path("c").exists()), (3, false), "{}", ran.err);
}

/// The names of all files with their contents.
fn all_files(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(scratch.path(".")).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> = files
        .filter(|file| file.path().is_file())
        .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// What a run says when it is refused; it writes nothing.
fn refused(scratch: &Scratch, run: &str) -> String {
    let before = all_files(scratch);
    let ran = scratch.run(run);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{run}: {}", ran.err);
    assert!(all_files(scratch) == before, "{run} has written something");
    ran.err
}

#[test]
fn what_is_no_checkpoint_of_the_run_is_refused_and_nothing_is_overwritten() {
    let scratch = scratch();
    let run = "four.ron --config tiny --device-memory 64KiB --save 0:64:saved";
    scratch.out(&format!("{run} --checkpoint c --checkpoint-every 40000"));
    scratch.write("saved", b"of the user");
    let good = scratch.read("c");
    let other = SUMS.replace("mov_imm r6, 0", "mov_imm r6, 1");
    scratch.write("other.wave", other.as_bytes());
    scratch.write("other.ron", LAUNCHES.replace("sums.wave", "other.wave").as_bytes());
    scratch.write("fewer.ron", LAUNCHES.replace("grid: 3", "grid: 2").as_bytes());
    let instead = |file: &str| run.replace("four.ron", file);
    let also = " --resume c --checkpoint c --checkpoint-every 90000";
    let says = |run: &str, part: &str| {
        let said = refused(&scratch, &format!("{run}{also}"));
        assert!(said.contains(part), "{run}: {said}");
    };
    says(&format!("{run} --set core.l1.mshrs=3"), "`c` is a checkpoint of another machine");
    says(&run.replace("64KiB", "32KiB"), "`c` is a checkpoint of another machine");
    says(&instead("other.ron"), "`c` is a checkpoint of another kernel");
    says(&instead("fewer.ron"), "`c` is a checkpoint of other launches");
    says("four.ron sums.wave --config tiny", "--checkpoint is for one kernel");
    for (file, part) in [
        (&b"no checkpoint at all"[..], "is no checkpoint of wave-sim"),
        (b"", "is no checkpoint of wave-sim"),
        (&good[..good.len() - 1], "is cut short"),
        (&good[..20], "is cut short"),
        (&[&good[..7], &[9], &good[8..]].concat(), "is a checkpoint of version 9"),
        (&[&good[..], &[0]].concat(), "is damaged"),
    ] {
        scratch.write("c", file);
        says(run, part);
    }
    scratch.write("c", &good);
    says(&format!("{run} --wvfi t.wvfi"), "`c` is of a run that writes no trace");
    // Any bit of the head, and bits throughout the body.
    let (mut random, head) = (Pcg32::seed_from_u64(0), 64);
    for number in 0..60 {
        let place =
            if number < 20 { random.random_range(0..head) } else { random.random_range(head..good.len()) };
        let mut wrong = good.clone();
        wrong[place] ^= 1 << random.random_range(0..8);
        scratch.write("c", &wrong);
        let part = match place {
            0..7 => "is no checkpoint of wave-sim",
            7 => "is a checkpoint of version",
            8..16 => "`c` is ",
            _ => "is damaged",
        };
        says(run, part);
    }
    scratch.write("c", &good);
    scratch.out(&format!("{run} --resume c"));
    assert_eq!(scratch.read("saved").len(), 64);
    assert_ne!(scratch.read("saved"), b"of the user");
}

#[test]
fn a_trace_that_is_not_that_of_the_checkpoint_is_refused() {
    let scratch = scratch();
    let run = "sums.wave --config tiny --device-memory 64KiB --grid 7 --set-reg 2:50";
    scratch.out(&format!("{run} --wvfi t.wvfi --checkpoint c --checkpoint-every 50000"));
    let (complete, saves) = (scratch.read("t.wvfi"), "--checkpoint c --checkpoint-every 9000 --resume c");
    let says = |flags: &str, part: &str| {
        let said = refused(&scratch, &format!("{run} {flags} {saves}"));
        assert!(said.contains(part), "{flags}: {said}");
    };
    says("", "`c` is of a run that writes a trace");
    says("--wvfi t.txt", "another form or window");
    says("--wvfi t.wvfi --from-cycle 9", "another form or window");
    says(
        "--wvfi other.wvfi",
        "neither `other.wvfi.partial` nor `other.wvfi` begins with what the run had written",
    );
    says("--wvfi t.wvfi --kanata t.kanata", "--kanata watches the run");
    for wrong in [&complete[..100], &[&complete[..3000], &[0; 90_000]].concat(), b""] {
        scratch.write("t.wvfi", wrong);
        scratch.write("t.wvfi.partial", wrong);
        says("--wvfi t.wvfi", "neither `t.wvfi.partial` nor `t.wvfi` begins with");
    }
    // What is left under either name will do, whatever came after.
    scratch.write("t.wvfi.partial", &[&complete[..], b"more"].concat());
    scratch.out(&format!("{run} --wvfi t.wvfi --resume c"));
    assert!(scratch.read("t.wvfi") == complete);
}
