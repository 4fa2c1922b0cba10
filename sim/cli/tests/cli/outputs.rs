//! Output files: what an earlier run has left, links, killed processes, full disks.

use super::scratch::{ADD, Ran, Scratch};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Adds up numbers for r2 rounds.
const SUMS: &str = "\
.kernel sums
.registers 8
.workgroup_size 32, 1, 1
    mov_sr  r3, sr_thread_id_x
    mov_imm r4, 2
    shl     r3, r3, r4
    mov_imm r5, 0
    mov_imm r6, 1
    loop
    device_load_u32 r7, r3
    iadd    r7, r7, r6
    device_store_u32 r3, r7
    iadd    r5, r5, r6
    ucmp_ge p1, r5, r2
    break   p1
    endloop
    halt
.end
";

const ENDLESS: &str = "\
.kernel e
.registers 4
.workgroup_size 8, 1, 1
    mov_imm r1, 1
    loop
    iadd r0, r0, r1
    endloop
    halt
.end
";

fn scratch() -> Scratch {
    Scratch::with(&[("sums.wave", SUMS), ("e.wave", ENDLESS), ("add.wave", ADD)])
}

/// The files of a folder with their contents, in order; of links, what they name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_symlink() {
            let to = std::fs::read_link(&path).unwrap();
            files.push((format!("{name} -> {}", to.display()), Vec::new()));
        } else if path.is_file() {
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn names(scratch: &Scratch) -> Vec<String> {
    files(&scratch.path(".")).into_iter().map(|(name, _)| name).collect()
}

fn temporaries(scratch: &Scratch) -> Vec<String> {
    names(scratch).into_iter().filter(|name| name.starts_with(".wave-sim-")).collect()
}

fn start(scratch: &Scratch, run: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(run.split_whitespace());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until something is so, while a process runs.
fn wait_until(child: &mut Child, what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended before");
        assert!(begun.elapsed() < Duration::from_secs(120), "it takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The message of a command that is refused, and that changes no file.
fn refused(scratch: &Scratch, run: &str) -> String {
    // A process that was killed may have left a temporary file, which others remove.
    let lasting = || -> Vec<(String, Vec<u8>)> {
        let files = files(&scratch.path(".")).into_iter();
        files.filter(|(name, _)| !name.starts_with(".wave-sim-")).collect()
    };
    let before = lasting();
    let ran = scratch.run(run);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{run}: {}", ran.err);
    assert_eq!(ran.err.matches("error: ").count(), 1, "{run}: {}", ran.err);
    assert!(lasting() == before, "{run} has changed {:?}", names(scratch));
    ran.err
}

#[test]
fn the_same_command_again_does_not_destroy_what_a_killed_run_has_left() {
    let scratch = scratch();
    let run = "sums.wave --config tiny --device-memory 64KiB --set-reg 2:9000";
    let whole = scratch.out(&format!("{run} --wvfi t.wvfi"));
    let trace = scratch.read("t.wvfi");
    std::fs::remove_file(scratch.path("t.wvfi")).unwrap();
    let run = format!("{run} --wvfi t.wvfi --checkpoint c --checkpoint-every 20000");
    let mut child = start(&scratch, &run);
    wait_until(&mut child, || scratch.path("c").exists());
    kill(child);
    let left = ["c", "t.wvfi.partial"].map(|file| (file, scratch.read(file)));
    let err = refused(&scratch, &run);
    assert!(err.contains("--checkpoint: `c` is the checkpoint of an earlier run"), "{err}");
    assert!(err.contains("--resume c goes on from it; --overwrite begins anew"), "{err}");
    // Under another name of the checkpoint, too.
    let err = refused(&scratch, &run.replace("--checkpoint c ", "--checkpoint d "));
    assert!(err.contains("--wvfi: `t.wvfi.partial` is of a run that was stopped"), "{err}");
    for more in [" --overwrite --resume c", " --resume nothing"] {
        refused(&scratch, &format!("{run}{more}"));
    }
    refused(&scratch, "sums.wave --config tiny --overwrite");
    for more in [" --resume c", " --overwrite"] {
        left.iter().for_each(|(file, bytes)| scratch.write(file, bytes));
        assert_eq!(scratch.out(&format!("{run}{more}")), whole, "{more}");
        assert!(scratch.read("t.wvfi") == trace, "{more}");
        assert_eq!(names(&scratch), ["add.wave", "c", "e.wave", "sums.wave", "t.wvfi"], "{more}");
    }
}

#[test]
fn a_trace_that_is_being_written_is_not_gone_on_with() {
    let scratch = scratch();
    let run = "e.wave --config tiny --to-cycle 500 --wvfi t.wvfi --checkpoint c --checkpoint-every 1000";
    let mut child = start(&scratch, run);
    wait_until(&mut child, || scratch.path("c").exists());
    let again = format!("{run} --resume c").replace("--checkpoint c", "--checkpoint d");
    let ran = scratch.run(&again);
    kill(child);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--wvfi: another run is writing `t.wvfi.partial`"), "{}", ran.err);
    let mut child = start(&scratch, &again);
    wait_until(&mut child, || scratch.path("d").exists());
    kill(child);
}

#[test]
fn a_killed_process_leaves_nothing_for_long_and_a_living_one_keeps_its_files() {
    let scratch = scratch();
    let run = "e.wave --config tiny --to-cycle 500 --wvfi t.wvfi --fst t.fst --report r.html";
    let mut child = start(&scratch, run);
    wait_until(&mut child, || temporaries(&scratch).len() == 3);
    let living = temporaries(&scratch);
    scratch.out("asm add.wave");
    assert_eq!(temporaries(&scratch), living);
    kill(child);
    assert_eq!(temporaries(&scratch), living);
    scratch.write("note.partial", b"of the user");
    scratch.out("asm add.wave");
    assert_eq!(names(&scratch), ["add.wave", "add.wbin", "e.wave", "note.partial", "sums.wave"]);
}

/// Commands, each with a file that it writes: every kind of output.
const OUTPUTS: &[(&str, &str)] = &[
    ("sums.wave --config tiny --set-reg 2:3 --save 0:4096:out", "out"),
    ("sums.wave --config tiny --set-reg 2:30 --wvfi out.wvfi", "out.wvfi"),
    ("sums.wave --config tiny --set-reg 2:30 --wvfi out.txt", "out.txt"),
    ("sums.wave --config tiny --set-reg 2:30 --kanata out.kanata", "out.kanata"),
    ("sums.wave --config tiny --set-reg 2:99 --perfetto out.pftrace", "out.pftrace"),
    ("sums.wave --config tiny --set-reg 2:30 --vcd out.vcd", "out.vcd"),
    ("sums.wave --config tiny --set-reg 2:99 --fst out.fst", "out.fst"),
    ("sums.wave --config tiny --set-reg 2:30 --report out.html", "out.html"),
    ("asm long.wave -o out.wbin", "out.wbin"),
    ("dis long.wave -o out.wave", "out.wave"),
    ("dis k.wat --ir -o out.ir", "out.ir"),
    ("ptx sums.wave -o out.ptx", "out.ptx"),
    ("wasm annotate k.wat -o out.wasm", "out.wasm"),
    ("trace convert given.wvfi out.txt", "out.txt"),
    ("silicon sums.wave --rehearse gpu --set-reg 2:3 --save out.json", "out.json"),
    ("s.wgsl --config tiny --bind 0.0=bytes:4096 --save-binding 0.0:out", "out"),
    ("sweep --config tiny --size small --set cores=1,2 --out out --store results scan", "out.csv"),
    ("sweep --config tiny --size small --set cores=1,2 --out out --store results scan", "out.parquet"),
    ("sweep --config tiny --size small --set cores=1,2 --out out --store results scan", "out.html"),
    (
        "sums.wave --config tiny --device-memory 64KiB --set-reg 2:30 --checkpoint out --checkpoint-every 900",
        "out",
    ),
    (
        "sums.wave --config tiny --device-memory 64KiB --set-reg 2:30 --checkpoint c --checkpoint-every 900 --overwrite --wvfi out.wvfi",
        "out.wvfi",
    ),
];

const SHADER: &str = "\
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = id.x; }
";

/// A folder in which all of [`OUTPUTS`] run.
fn with_inputs() -> Scratch {
    let scratch = scratch();
    let long = ADD.replace("    mov_imm r4, 2\n", &"    mov_imm r4, 2\n".repeat(400));
    scratch.write("long.wave", long.as_bytes());
    scratch.write("s.wgsl", SHADER.as_bytes());
    let body = "(i32.store (i32.const 0) (i32.add (i32.load (i32.const 4)) (i32.const 5)))".repeat(120);
    scratch.write("k.wat", format!("(module (memory 1) (func (export \"f\") {body}))").as_bytes());
    scratch.out("sums.wave --config tiny --set-reg 2:30 --wvfi given.wvfi");
    scratch
}

#[test]
fn an_output_goes_through_a_link_and_leaves_it() {
    let scratch = with_inputs();
    std::fs::create_dir(scratch.path("far")).unwrap();
    for (run, out) in OUTPUTS {
        scratch.out(run);
        let expected = scratch.read(out);
        assert!(!expected.is_empty(), "{run}");
        let before = files(&scratch.path("."));
        for there in [Some(&b"old"[..]), None] {
            std::fs::remove_file(scratch.path(out)).unwrap();
            symlink(format!("far/{out}"), scratch.path(out)).unwrap();
            if let Some(old) = there {
                scratch.write(&format!("far/{out}"), old);
            }
            scratch.out(run);
            assert!(scratch.path(out).is_symlink(), "{run}: the link is gone");
            assert!(scratch.read(&format!("far/{out}")) == expected, "{run}");
            assert_eq!(files(&scratch.path("far")).len(), 1, "{run}");
            std::fs::remove_file(scratch.path(out)).unwrap();
            std::fs::rename(scratch.path(&format!("far/{out}")), scratch.path(out)).unwrap();
            assert!(files(&scratch.path(".")) == before, "{run}: {:?}", names(&scratch));
        }
        std::fs::remove_file(scratch.path(out)).unwrap();
    }
}

/// Names that somebody else can know beforehand lead to his file.
#[test]
fn planted_links_lead_nowhere() {
    let scratch = scratch();
    scratch.write("victim", b"precious");
    for name in ["c.partial", "t.wvfi.partial", "out.partial"] {
        symlink("victim", scratch.path(name)).unwrap();
    }
    let run = "sums.wave --config tiny --device-memory 64KiB --set-reg 2:30 --save 0:64:out";
    scratch.out(&format!("{run} --checkpoint c --checkpoint-every 900"));
    let err = refused(&scratch, &format!("{run} --checkpoint d --checkpoint-every 900 --wvfi t.wvfi"));
    assert!(err.contains("`t.wvfi.partial` is of a run that was stopped"), "{err}");
    scratch.out(&format!("{run} --checkpoint c --checkpoint-every 900 --wvfi t.wvfi --overwrite"));
    assert_eq!(scratch.read("victim"), b"precious");
    assert!(scratch.path("c.partial").is_symlink() && scratch.path("out.partial").is_symlink());
    // A run does not go on with a file that a link names, even if its bytes are right.
    let copy = scratch.read("t.wvfi");
    std::fs::rename(scratch.path("t.wvfi"), scratch.path("victim")).unwrap();
    symlink("victim", scratch.path("t.wvfi.partial")).unwrap();
    refused(&scratch, &format!("{run} --resume c --wvfi t.wvfi"));
    assert!(scratch.read("victim") == copy);
}

/// Runs a command with files of 512 or 1024 bytes at most, as the shell counts.
fn with_small_files(scratch: &Scratch, run: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wave-sim")]);
    let output = command.current_dir(scratch.path(".")).args(run.split_whitespace()).output().unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("{run}: {}", output.status));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

/// The limit of the shell stands for a full disk: the write fails half-way, wherever the tests run.
#[test]
fn a_failed_write_is_one_error_and_leaves_the_old_file() {
    let scratch = with_inputs();
    for (run, out) in OUTPUTS {
        scratch.write(out, b"old");
        let before = files(&scratch.path("."));
        let ran = with_small_files(&scratch, run);
        assert!(ran.err.contains("file too large"), "{run}: {}", ran.err);
        if *out == "out" && run.contains("--checkpoint") {
            // The run is more than its checkpoint.
            assert_eq!(ran.code, 0, "{run}: {}", ran.err);
            assert!(ran.err.contains("warning: --checkpoint: cannot write `out`"), "{run}: {}", ran.err);
        } else {
            assert_eq!(ran.code, 2, "{run}: {}", ran.err);
            assert_eq!(ran.err.matches("error: ").count(), 1, "{run}: {}", ran.err);
        }
        assert!(files(&scratch.path(".")) == before, "{run}: {:?}", names(&scratch));
        std::fs::remove_file(scratch.path(out)).unwrap();
    }
    // A run that goes on may continue a trace up to its last checkpoint. So that part stays, and only that.
    let run = "sums.wave --config tiny --device-memory 64KiB --set-reg 2:2000 --wvfi t.wvfi --checkpoint c --checkpoint-every 900";
    let ran = with_small_files(&scratch, run);
    assert!(ran.err.contains("file too large"), "{}", ran.err);
    assert_eq!(temporaries(&scratch), Vec::<String>::new());
    // The manifest fits, and the results do not.
    let results = files(&scratch.path("results"));
    assert_eq!(results.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["sweep-store.json"]);
}

/// A device is written directly.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let scratch = with_inputs();
    assert!(Path::new("/dev/full").exists(), "this system has no /dev/full, and the test cannot run");
    let mut tried = 0;
    for (run, out) in OUTPUTS {
        if run.contains("sweep") || run.contains("--checkpoint") || run.contains("--fst") {
            continue;
        }
        let (head, tail) = run.rsplit_once(out).expect("the output");
        let ran = scratch.run(&format!("{head}/dev/full{tail}"));
        assert_eq!(ran.code, 2, "{run}: {}", ran.err);
        assert!(ran.err.contains("`/dev/full`: no space left on device"), "{run}: {}", ran.err);
        assert_eq!(ran.err.matches("error: ").count(), 1, "{run}: {}", ran.err);
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
    let ran = scratch.run("sums.wave --config tiny --checkpoint /dev/full --checkpoint-every 900");
    assert!(ran.code == 2 && ran.err.contains("it is no regular file"), "{}", ran.err);
}

/// Standard output can be a file. It is not replaced.
#[test]
fn standard_output_is_written_directly() {
    let scratch = scratch();
    let file = std::fs::File::create(scratch.path("log")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(["dis", "add.wave", "-o", "/dev/stdout"]);
    assert!(command.stdout(file.try_clone().unwrap()).status().unwrap().success());
    let text = scratch.out("dis add.wave");
    assert_eq!(String::from_utf8(scratch.read("log")).unwrap(), text);
    use std::os::unix::fs::MetadataExt;
    assert_eq!(file.metadata().unwrap().ino(), std::fs::metadata(scratch.path("log")).unwrap().ino());
}
