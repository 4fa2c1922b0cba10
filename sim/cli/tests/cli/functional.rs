//! Runs without timing, and runs whose first launches have none.

use super::scratch::{ADD, Scratch};

/// Everything that only timing gives.
const OF_TIMING: &[&str] = &[
    "cycles",
    "IPC",
    "occupancy",
    "issue slots",
    "L1",
    "L2",
    "DRAM",
    "stall",
    "release",
    "bank",
    "interconnect",
];

fn scratch() -> Scratch {
    Scratch::with(&[("add.wave", ADD)])
}

const FLAGS: &str = "add.wave --config tiny --set-reg 1:0x100 --set-reg 2:5 --fill-iota 0:u32:16:10 --grid 1";

#[test]
fn results_are_those_with_timing_and_the_report_has_only_what_needs_none() {
    let scratch = scratch();
    let dump = "--dump-u32 256:16 --save 256:64";
    let timed = scratch.run(&format!("{FLAGS} {dump}:timed"));
    let untimed = scratch.run(&format!("{FLAGS} {dump}:untimed --functional"));
    assert_eq!((untimed.out, untimed.code), (timed.out, 0));
    assert_eq!(scratch.read("untimed"), scratch.read("timed"));
    let report = scratch.run(&format!("{FLAGS} --functional --stats"));
    assert_eq!(report.code, 0, "{}", report.err);
    for part in OF_TIMING {
        assert!(!report.out.contains(part), "{part} in\n{}", report.out);
        assert!(!report.err.contains(part), "{part} in\n{}", report.err);
    }
    assert!(report.out.starts_with("add on tiny (config "), "{}", report.out);
    for part in [
        ", without timing\n",
        "  launch       add grid 1,1,1  workgroup 16,1,1  registers 8",
        "  instructions 16 wave instructions, 0 squashed; 128 lane instructions",
        "  lanes        100.0 % of 8 take part",
        "  device memory 2 loads, 2 stores, 0 atomics",
        "  result       nothing to verify",
        "core.device_loads ",
        "  Loads:  2 wave instructions",
    ] {
        assert!(report.out.contains(part), "no {part} in\n{}", report.out);
    }
    assert!(report.out.ends_with("PERF: kernels=1 wave_instructions=16\n"), "{}", report.out);
}

#[test]
fn the_suite_is_verified() {
    let ran = scratch().run("--functional --size small");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.ends_with("  verified")).count(), 25, "{}", ran.out);
    assert!(ran.out.lines().nth(1).unwrap().starts_with("kernel "), "{}", ran.out);
    let header: Vec<&str> = ran.out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(header, ["kernel", "wave", "instructions", "lanes", "result"]);
    assert!(ran.out.lines().last().unwrap().starts_with("PERF: kernels=25 wave_instructions="));
}

#[test]
fn json_has_no_key_that_only_timing_gives() {
    let scratch = scratch();
    let document = |flags: &str| -> serde_json::Value {
        serde_json::from_str(&scratch.out(&format!("bfs --size small --format json {flags}"))).unwrap()
    };
    let untimed = document("--functional");
    let (run, launches) = (&untimed["runs"][0], untimed["runs"][0]["launches"].as_array().unwrap());
    assert_eq!((run["outcome"].as_str(), launches.len()), (Some("verified"), 12));
    for numbers in launches.iter().chain([&run["total"]]) {
        assert_eq!(
            numbers["figures"].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["figure.simd_efficiency"]
        );
        let statistics = numbers["statistics"].as_object().unwrap();
        assert!(statistics["core.wave_instructions"].as_u64().unwrap() > 0);
        assert!(statistics.keys().all(|key| key.starts_with("core.")), "{statistics:?}");
        assert!(!statistics.contains_key("core.cycles") && !statistics.contains_key("core.fetches"));
    }
    assert!(launches.iter().all(|launch| launch["timed"] == false && launch.get("occupancy").is_none()));

    // Launches in front of the fourth have no timing; the total is that of those with timing.
    let both = document("--detail-from 4");
    let launches = both["runs"][0]["launches"].as_array().unwrap();
    let timed: Vec<bool> = launches.iter().map(|launch| launch.get("timed").is_none()).collect();
    assert_eq!(timed, [vec![false; 3], vec![true; 9]].concat());
    let cycles = |of: &serde_json::Value| of["statistics"]["kernel.cycles"].as_u64();
    let sum: u64 = launches[3..].iter().map(|launch| cycles(launch).unwrap()).sum();
    assert_eq!(cycles(&both["runs"][0]["total"]), Some(sum));
    assert!(launches[..3].iter().all(|launch| cycles(launch).is_none()));
    assert_eq!(launches[..3], untimed["runs"][0]["launches"].as_array().unwrap()[..3]);
}

#[test]
fn launches_from_the_named_one_on_are_in_detail() {
    let scratch = scratch();
    let ran = scratch.run("bfs --size small --detail-from 11 --check-races --config tiny");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "  no timing    launches 1 to 10 of 12: ",
        "  launches     2, one after the other",
        "  cycles  ",
        "  result       verified",
    ] {
        assert!(ran.out.contains(part), "no {part} in\n{}", ran.out);
    }
    // From the first on, it is a run like any other.
    let all = scratch.run("bfs --size small --detail-from 1");
    assert_eq!(all.out, scratch.out("bfs --size small"));
    // A trace has the launches in detail.
    let traced = scratch.run("bfs --size small --detail-from 12 --wvfi bfs.txt");
    assert_eq!(traced.code, 0, "{}", traced.err);
    let trace = String::from_utf8(scratch.read("bfs.txt")).unwrap();
    assert_eq!(trace.lines().filter(|line| line.starts_with("launch ")).count(), 1);
}

#[test]
fn flags_that_need_timing_are_refused_and_write_nothing() {
    let scratch = scratch();
    for flag in [
        "--trace",
        "--check-races",
        "--report x",
        "--wvfi x",
        "--kanata x",
        "--perfetto x",
        "--vcd x",
        "--fst x",
        "--max-cycles 10",
        "--detail-from 1",
    ] {
        let ran = scratch.run(&format!("{FLAGS} --functional {flag}"));
        let name = flag.split(' ').next().unwrap();
        assert_eq!(ran.code, 2, "{flag}: {}", ran.err);
        let message = format!("error: --functional has no timing, and {name} needs it");
        assert!(ran.err.starts_with(&message), "{flag}: {}", ran.err);
        assert_eq!(ran.err.matches("error").count(), 1, "{flag}: {}", ran.err);
        assert!(!scratch.path("x").exists() && ran.out.is_empty());
    }
    // Those without an effect are not.
    for flag in ["--threads 3", "--max-cycles 0", "--max-instructions 1000"] {
        assert_eq!(scratch.run(&format!("{FLAGS} --functional {flag}")).code, 0, "{flag}");
    }
}

#[test]
fn a_launch_that_does_not_exist_is_refused() {
    let scratch = scratch();
    for (flags, parts) in [
        (
            "add.wave --detail-from 2",
            &["`add` has one launch, and --detail-from names launch 2", "--functional"][..],
        ),
        ("bfs --size small --detail-from 13", &["`bfs` has 12 launches, and --detail-from names launch 13"]),
        ("bfs --detail-from 0", &["the first launch is number 1"]),
        ("bfs --detail-from pc=4", &["--detail-from <PLACE>", "expected launch:2, cycle:10000, pc:0x48"]),
    ] {
        let ran = scratch.run(flags);
        assert_eq!(ran.code, 2, "{flags}: {}", ran.err);
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{flags}: {}", ran.err);
    }
    // Of several, the others run.
    let ran = scratch.run("saxpy bfs --size small --detail-from 2");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.out.lines().any(|line| line.starts_with("bfs ") && line.ends_with("verified")),
        "{}",
        ran.out
    );
    assert!(
        ran.out.lines().any(|line| line.starts_with("saxpy ") && line.ends_with("refused")),
        "{}",
        ran.out
    );
}

#[test]
fn what_does_not_end_says_who_waits_for_whom() {
    let endless = ".kernel k\n.registers 4\n.workgroup_size 16, 1, 1\nmov_sr r0, sr_wave_id\nmov_imm r1, 1\n\
        ucmp_eq p1, r0, r1\nif p1\nloop\nnop\nendloop\nendif\nbarrier\nhalt\n.end\n";
    let counts = ".kernel k\n.registers 4\nloop\niadd r1, r1, r2\nendloop\n.end\n";
    let outside = ".kernel k\n.registers 4\nmov_imm r0, 0x7ffffff0\ndevice_load_u32 r1, r0\n.end\n";
    let scratch =
        Scratch::with(&[("endless.wave", endless), ("counts.wave", counts), ("outside.wave", outside)]);
    for (flags, parts) in [
        (
            "endless.wave",
            &[
                "kernel `k` stands still: every wave repeats what it does, or waits for one that does",
                "0 of 1 workgroup done; on the machine: 2 waves",
                "which has not been reached by wave 1 of workgroup 0,0,0",
                "its loop reads no memory, so nothing that others do can end it",
            ][..],
        ),
        (
            "counts.wave --max-instructions 5000 --set-reg 2:1",
            &[
                "has not ended after 5000 wave instructions, the bound of --max-instructions",
                "its turn to issue",
            ],
        ),
        (
            "outside.wave",
            &["kernel `k`: an access of 4 bytes at device address 0x7ffffff0", "pc 0x8)", "outside.wave:4"],
        ),
    ] {
        let ran = scratch.run(&format!("{flags} --functional --config tiny"));
        assert_eq!(ran.code, 3, "{flags}: {}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{flags}: no {part} in\n{}", ran.err);
        }
        assert!(!ran.err.contains("cycle "), "{flags}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_it() {
    let counts = ".kernel k\n.registers 4\nloop\niadd r1, r1, r2\nendloop\n.end\n";
    let scratch = Scratch::with(&[("counts.wave", counts)]);
    let run = "counts.wave --functional --config tiny --set-reg 2:1 --workgroup 8";
    let ran = super::signals::interrupted(&scratch, run, "INT");
    assert_eq!(ran.code, 3, "{}", ran.err);
    for part in ["kernel `k` was interrupted after ", "on the machine: 1 wave", "its turn to issue", "(line "]
    {
        assert!(ran.err.contains(part), "no {part} in {}", ran.err);
    }
}
