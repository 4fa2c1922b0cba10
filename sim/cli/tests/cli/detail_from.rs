//! `--detail-from`: runs that begin without timing and go on in detail from a nominal cycle or an instruction.

use super::scratch::{Scratch, without_host};
use serde_json::Value;

/// Waves of a workgroup come to the barrier one after the other, write local memory in front of it and read what another
/// wave has written behind it.
const MEETS: &str = "\
.kernel meets
.registers 16
.local_memory 256
.workgroup_size 32, 1, 1
    mov_sr  r1, sr_wave_id
    mov_sr  r2, sr_thread_id_x
    mov_imm r3, 2
    mov_imm r4, 1
    mov_imm r5, 0
    shl     r2, r2, r3
    loop
        icmp_eq p1, r1, r5
        break   p1
        isub    r1, r1, r4
    endloop
    local_store_u32 r2, r2
    barrier
    mov_imm r6, 124
    isub    r6, r6, r2
    local_load_u32 r7, r6

    mov_sr  r8, sr_workgroup_id_x
    mov_imm r9, 128
    imad    r8, r8, r9, r2
    device_store_u32 r8, r7
    halt
.end
.kernel other
.registers 4
    mov_imm r0, 1
    halt
.end
";

const RUN: &str = "meets.wave --kernel meets --config tiny --grid 12";

fn scratch() -> Scratch {
    Scratch::with(&[("meets.wave", MEETS)])
}

fn statistic(of: &Value, name: &str) -> u64 {
    of["statistics"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {of}"))
}

#[test]
fn every_place_gives_the_results_of_the_whole_run() {
    let scratch = scratch();
    let dump = "--dump-u32 0:384";
    let whole = scratch.out(&format!("{RUN} {dump}"));
    let all: Value = serde_json::from_str(&scratch.out(&format!("{RUN} --format json"))).unwrap();
    let all = &all["runs"][0]["launches"][0];
    for place in [
        "cycle:1",
        "cycle:20",
        "cycle:30",
        "cycle:60",
        "pc:0x0",
        "pc:0x38",
        "line:13",
        "line:17",
        "line:20",
        "meets.wave:24",
        "launch:1,cycle:33",
        "launch:1,line:12",
    ] {
        assert_eq!(scratch.out(&format!("{RUN} {dump} --detail-from {place}")), whole, "{place}");
        let json = scratch.out(&format!("{RUN} --format json --detail-from {place}"));
        let json: Value = serde_json::from_str(&json).unwrap();
        let launch = &json["runs"][0]["launches"][0];
        let part = &launch["without_timing"];
        if place == "pc:0x0" {
            // Nothing of it has run.
            assert_eq!((launch, part), (all, &Value::Null));
            continue;
        }
        for name in
            ["core.wave_instructions", "core.squashed_instructions", "core.barriers", "core.workgroups"]
        {
            let sum = statistic(launch, name) + statistic(part, name);
            assert_eq!(sum, statistic(all, name), "{name} from {place}");
        }
        assert!(part["nominal_cycles"].as_u64().unwrap() > 0);
        // All places become free in nominal cycle 33.
        let resident = if place == "launch:1,cycle:33" { 0 } else { 1 };
        assert!(part["resident_workgroups"].as_u64().unwrap() >= resident, "{place}");
        assert!(
            place == "cycle:1" || statistic(launch, "kernel.cycles") < statistic(all, "kernel.cycles"),
            "{place}"
        );
        assert_eq!(json["runs"][0]["total"]["statistics"], launch["statistics"]);
    }
}

#[test]
fn from_the_beginning_it_is_a_run_like_any_other() {
    let scratch = scratch();
    let whole = scratch.out(RUN);
    for place in ["1", "launch:1", "cycle:0", "line:5", "launch:1,cycle:0"] {
        assert_eq!(scratch.out(&format!("{RUN} --detail-from {place}")), whole, "{place}");
    }
}

#[test]
fn the_report_says_what_is_left_out() {
    let scratch = scratch();
    let ran = scratch.run(&format!("{RUN} --detail-from line:16 --report page.html --stats"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let line = ran.out.lines().find(|line| line.starts_with("  no timing ")).unwrap_or_default();
    // The first wave comes to the store behind 8 instructions and a round of `icmp_eq`, `break` and the rest of the loop.
    assert!(line.starts_with("  no timing    launch 1 up to nominal cycle "), "{}", ran.out);
    assert!(
        line.ends_with(" wave instructions, 0 of 12 workgroups ended, 8 under way, in no figure below"),
        "{line}"
    );
    let page = String::from_utf8(scratch.read("page.html")).unwrap();
    assert!(page.contains("Without timing, and in no figure on this page: launch 1 up to nominal cycle "));
    // Launches in front are told too.
    let ran = scratch.run("bfs --size small --config tiny --detail-from launch:3,cycle:9 --report page.html");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "  no timing    launches 1 to 2 of 12: ",
        "  no timing    launch 3 up to nominal cycle 9: ",
        "verified",
    ] {
        assert!(ran.out.contains(part), "no {part} in\n{}", ran.out);
    }
    let page = String::from_utf8(scratch.read("page.html")).unwrap();
    assert!(page.contains("in no figure on this page: launches 1 to 2 of 12: "));
}

/// A cycle without a launch counts from the beginning of the run; a pc is looked for in every launch.
#[test]
fn places_are_found_behind_the_first_launch() {
    let scratch = scratch();
    let json = |flags: &str| -> Value {
        let out = scratch.out(&format!("bfs --size small --config tiny --format json {flags}"));
        serde_json::from_str(&out).unwrap()
    };
    let timed = |json: &Value| {
        let launches = json["runs"][0]["launches"].as_array().unwrap();
        launches.iter().take_while(|launch| launch["timed"] == false).count()
    };
    let first = json("--detail-from launch:1,cycle:1");
    assert_eq!(timed(&first), 0);
    // As far behind the first launch as the second is long enough for.
    let late = json("--detail-from cycle:400");
    assert!(timed(&late) > 0, "{late}");
    assert_eq!(late["runs"][0]["outcome"], "verified");
    let part = &late["runs"][0]["launches"][timed(&late)]["without_timing"];
    assert!(part["nominal_cycles"].as_u64().unwrap() < 400, "{part}");
}

#[test]
fn a_trace_begins_where_the_detail_does_and_races_are_still_right() {
    let scratch = scratch();
    let traced = scratch.run(&format!("{RUN} --detail-from line:16 --wvfi trace.txt"));
    assert_eq!(traced.code, 0, "{}", traced.err);
    let trace = String::from_utf8(scratch.read("trace.txt")).unwrap();
    let first = trace.lines().nth(2).unwrap_or_default();
    assert!(first.contains(" seq=0 pc=0x44 "), "{first}");
    // Waves that wait at the barrier have written before; those that come read it behind.
    for cycle in (8..60).step_by(3) {
        let ran = scratch.run(&format!("{RUN} --detail-from cycle:{cycle} --check-races"));
        assert_eq!(ran.code, 0, "cycle {cycle}: {}", ran.out);
    }
    // And a race behind the place is found.
    let races = MEETS.replace("    barrier\n", "");
    scratch.write("races.wave", races.as_bytes());
    let ran =
        scratch.run("races.wave --kernel meets --config tiny --grid 2 --detail-from cycle:5 --check-races");
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn a_fault_behind_the_place_has_its_cycle() {
    let scratch = scratch();
    scratch.write("faults.wave", MEETS.replace("mov_imm r9, 128", "mov_imm r9, 0x7ffffff0").as_bytes());
    let run = "faults.wave --kernel meets --config tiny --grid 2";
    let ran = scratch.run(&format!("{run} --detail-from line:19"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("faults.wave:25") && ran.err.contains("cycle "), "{}", ran.err);
    // In front of the place it ends the run as without timing.
    let ran = scratch.run(&format!("{run} --detail-from line:26"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("faults.wave:25") && !ran.err.contains("cycle "), "{}", ran.err);
}

#[test]
fn a_checkpoint_goes_on_from_the_same_place_only() {
    let scratch = scratch();
    let run = format!("{RUN} --detail-from cycle:25");
    let whole = scratch.run(&format!("{run} --stats"));
    let saved = scratch.run(&format!("{run} --checkpoint file --checkpoint-every 50"));
    assert_eq!(saved.code, 0, "{}", saved.err);
    let resumed = scratch.run(&format!("{run} --stats --resume file"));
    assert_eq!((resumed.out, without_host(&resumed.err)), (whole.out, without_host(&whole.err)));
    for other in ["--detail-from cycle:26", ""] {
        let refused = scratch.run(&format!("{RUN} {other} --resume file"));
        assert_eq!(refused.code, 2, "{other}: {}", refused.err);
        assert!(refused.err.contains("is a checkpoint of other"), "{}", refused.err);
    }
}

#[test]
fn a_place_that_does_not_exist_is_refused_and_nothing_is_written() {
    let scratch = scratch();
    for (flags, parts) in [
        (
            "cycle:100000",
            &["`meets` ends after ", " nominal cycles, and --detail-from names cycle 100000"][..],
        ),
        ("launch:1,cycle:100000", &["launch 1 of `meets` ends after ", " names cycle 100000"]),
        ("launch:2,cycle:1", &["`meets` has one launch, and --detail-from names launch 2"]),
        ("pc:0x2", &["no instruction begins at pc 0x2", "meets.wave:5 pc 0x0: mov_sr"]),
        ("pc:0x4000", &["no instruction begins at pc 0x4000", "the code ends at pc 0x"]),
        ("line:21", &["there is no instruction at line 21 of `meets.wave`", "the next one is at line 22"]),
        ("line:99", &["there is no instruction at line 99", "the last one is at line 31"]),
        ("other.wave:12", &["no code comes from `other.wave`", "the source is `meets.wave`"]),
        ("line:30", &["is of kernel `other`, which no launch runs"]),
        ("insts:100", &["`insts` is no kind of place; expected launch:2, cycle:10000"]),
    ] {
        let ran = scratch.run(&format!("{RUN} --detail-from {flags} --wvfi trace --save 0:4:saved"));
        assert_eq!(ran.code, 2, "{flags}: {}", ran.err);
        assert!(ran.out.is_empty(), "{flags}: {}", ran.out);
        assert_eq!(ran.err.matches("error").count(), 1, "{flags}: {}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{flags}: no {part} in\n{}", ran.err);
        }
        assert!(!scratch.path("trace").exists() && !scratch.path("saved").exists(), "{flags}");
    }
    // No wave comes there, and a container has no lines.
    let skips = MEETS.replace("    halt\n.end\n.kernel other", "    halt\n    nop\n.end\n.kernel other");
    scratch.write("skips.wave", skips.as_bytes());
    let ran = scratch.run("skips.wave --kernel meets --config tiny --detail-from line:27");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("no wave of `skips` comes to skips.wave:27 pc 0x"), "{}", ran.err);
    scratch.out("asm skips.wave -o skips.wbin");
    let ran = scratch.run("skips.wbin --kernel meets --config tiny --detail-from line:27");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("the kernel has no source lines"), "{}", ran.err);
}

#[test]
fn the_debugger_begins_there_and_goes_back_to_there() {
    let scratch = scratch();
    scratch.write("commands", b"info waves\nprint r2\nstep\nstep\nreverse-continue\nprint r2\n");
    let ran = scratch.run(
        "debug meets.wave --kernel meets --config tiny --grid 2 --detail-from line:16 --commands commands",
    );
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for part in [
        "  0:0   0,0,0      wave 0  0xff    meets.wave:16 pc 0x44: ",
        "  0:1   0,0,0      wave 1  0xff    meets.wave:12 pc 0x2c: ",
        "(wave) reverse-continue\nthe beginning of the run\ncycle 0, wave 0:0 (workgroup 0,0,0 wave 0) at\n  meets.wave:16",
    ] {
        assert!(ran.out.contains(part), "no {part} in\n{}", ran.out);
    }
    assert_eq!(ran.out.matches("r2    00000000 + 4 × lane").count(), 2, "{}", ran.out);
    let whole = scratch.run("debug meets.wave --kernel meets --config tiny --grid 2 --commands commands");
    assert_ne!(ran.out, whole.out);
    let ran = scratch.run("debug meets.wave --kernel meets --config tiny --detail-from cycle:1000 -x step");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("nominal cycles, and --detail-from names cycle 1000"), "{}", ran.err);
}
