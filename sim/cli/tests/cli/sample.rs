//! `--sample`: parts of a launch in detail.

use super::scratch::{ADD, Scratch};
use serde_json::Value;

/// [`ADD`] over so many workgroups on a machine that holds few of them.
fn add(workgroups: u32, flags: &str) -> String {
    let words = workgroups * 16;
    format!(
        "add.wave --config tiny --grid {workgroups} --set-reg 0:0 --set-reg 1:{} --set-reg 2:5 --fill-iota 0:u32:{words} {flags}",
        words * 4
    )
}

/// [`ADD`], but each workgroup has 16 words of its own.
fn source() -> String {
    let own =
        "    mov_sr r6, sr_workgroup_id_x\n    mov_imm r7, 6\n    shl r6, r6, r7\n    iadd r3, r3, r6\n";
    let source = ADD.replace("    iadd    r4, r0, r3\n", &format!("{own}    iadd    r4, r0, r3\n"));
    assert_ne!(source, ADD);
    source
}

fn scratch() -> Scratch {
    Scratch::with(&[("add.wave", &source())])
}

fn document(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    document["runs"][0].clone()
}

#[test]
fn the_result_is_exact_and_the_true_cycles_lie_in_the_interval() {
    let scratch = scratch();
    let whole = scratch.run(&add(4000, "--format json --save 256000:256000:whole"));
    let sampled = scratch.run(&add(4000, "--format json --sample --save 256000:256000:sampled"));
    assert_eq!((whole.code, sampled.code), (0, 0), "{}{}", whole.err, sampled.err);
    let dumped = |name| std::fs::read(scratch.path(name)).unwrap();
    assert!(!dumped("whole").is_empty() && dumped("whole") == dumped("sampled"));
    let (whole, sampled) = (document(&whole.out), document(&sampled.out));
    let statistic = |run: &Value, name: &str| run["total"]["statistics"][name].as_f64().unwrap();
    for name in ["core.wave_instructions", "core.lane_instructions", "core.device_loads", "core.workgroups"] {
        assert_eq!(statistic(&whole, name), statistic(&sampled, name), "{name}");
    }
    let how = &sampled["sampled"];
    let simulated = how["simulated_workgroups"].as_u64().unwrap();
    assert!((100..3000).contains(&simulated), "{simulated} of 4000");
    let (low, high) = (how["interval"][0].as_f64().unwrap(), how["interval"][1].as_f64().unwrap());
    let (cycles, estimated) = (statistic(&whole, "kernel.cycles"), statistic(&sampled, "kernel.cycles"));
    assert!(low < cycles && cycles < high, "{low} to {high}, and it takes {cycles}");
    assert!((estimated / cycles - 1.0).abs() < 0.05, "{estimated} for {cycles}");
    assert!(high - low < 0.3 * cycles, "{low} to {high}");
    // Issue slots and memory are estimated with the cycles.
    for name in ["issue.memory", "dram.read_bytes", "l1.misses"] {
        let (whole, sampled) = (statistic(&whole, name), statistic(&sampled, name));
        assert!((sampled / whole - 1.0).abs() < 0.25, "{name}: {sampled} for {whole}");
    }
    assert!(whole.get("sampled").is_none() && whole["launches"][0].get("sampled").is_none());
}

/// Thirty launches of a kernel, each on what the one before has left.
const MANY: &str = r#"(
    description: "additions",
    source: "add.wave",
    parameters: (n: (full: 2048, small: 1024)),
    buffers: (a: (type: u32, length: "n", contents: each("i"))),
    steps: [
        repeat(variable: "k", from: 1, to: 30, steps: [
            run(kernel: "add", grid: "n / 16", workgroup: 16, arguments: ["a", "a", "k"]),
        ]),
    ],
    expect: (a: (equals: each("a[i] + 465"))),
)"#;

#[test]
fn launches_like_others_are_left_out_as_a_whole() {
    let scratch = scratch();
    scratch.write("many.ron", MANY.as_bytes());
    let command = "many.ron --config tiny --size small";
    let whole = scratch.run(&format!("{command} --format json"));
    let sampled = scratch.run(&format!("{command} --format json --sample"));
    assert_eq!((whole.code, sampled.code), (0, 0), "{}{}", whole.err, sampled.err);
    let (whole, sampled) = (document(&whole.out), document(&sampled.out));
    assert_eq!(sampled["outcome"], "verified");
    let simulated = &sampled["sampled"]["simulated_launches"];
    // The first one takes longer, so that the mean is known well enough only behind nine.
    assert_eq!(*simulated, 12);
    let of_launch = |run: &Value, n: usize, name: &str| run["launches"][n]["statistics"][name].clone();
    let left_out = |n: usize| sampled["launches"][n]["sampled"]["simulated_launches"] == 0;
    assert_eq!((0..30).filter(|&n| left_out(n)).count(), 18);
    for n in 0..30 {
        for name in ["core.wave_instructions", "core.device_stores", "core.workgroups"] {
            assert_eq!(of_launch(&whole, n, name), of_launch(&sampled, n, name), "{name} of launch {n}");
        }
    }
    let cycles = |run: &Value| run["total"]["statistics"]["kernel.cycles"].as_f64().unwrap();
    let interval = &sampled["sampled"]["interval"];
    let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
    assert!(
        low < cycles(&whole) && cycles(&whole) < high,
        "{low} to {high}, and it takes {}",
        cycles(&whole)
    );
    let text = scratch.run(&format!("{command} --sample"));
    assert!(
        text.out.contains("  sampled      12 of 30 launches and 768 of 1,920 workgroups in detail, "),
        "{}",
        text.out
    );
}

/// Sums up a word of its own again and again, and stores the sum.
const SUMS: &str = "
.kernel sums
.registers 8
.workgroup_size 64, 1, 1
    mov_sr  r0, sr_workgroup_id_x
    mov_imm r1, 6
    shl     r0, r0, r1
    mov_sr  r2, sr_thread_id_x
    iadd    r0, r0, r2
    mov_imm r1, 2
    shl     r0, r0, r1
    mov_imm r3, 0
    mov_imm r4, 8000
    mov_imm r6, 1
    mov_imm r7, 0
loop
    device_load_u32 r5, r0
    iadd    r3, r3, r5
    imad    r3, r3, r6, r4
    isub    r4, r4, r6
    icmp_eq p1, r4, r7
    break   p1
endloop
    mov_imm r4, 4096
    iadd    r0, r0, r4
    device_store_u32 r0, r3
.end
";

#[test]
fn all_waves_leap_in_a_launch_of_few_workgroups() {
    let scratch = Scratch::with(&[("sums.wave", SUMS)]);
    let command = "sums.wave --config tiny --grid 8 --fill-iota 0:u32:512";
    let whole = scratch.run(&format!("{command} --format json --save 4096:2048:whole"));
    let sampled = scratch.run(&format!("{command} --format json --sample --save 4096:2048:sampled"));
    assert_eq!((whole.code, sampled.code), (0, 0), "{}{}", whole.err, sampled.err);
    let dumped = |name| std::fs::read(scratch.path(name)).unwrap();
    assert!(dumped("whole").iter().any(|&byte| byte != 0) && dumped("whole") == dumped("sampled"));
    let (whole, sampled) = (document(&whole.out), document(&sampled.out));
    let statistic = |run: &Value, name: &str| run["total"]["statistics"][name].as_f64().unwrap();
    for name in ["core.wave_instructions", "core.device_loads", "core.taken_redirects", "core.workgroups"] {
        assert_eq!(statistic(&whole, name), statistic(&sampled, name), "{name}");
    }
    let how = &sampled["sampled"];
    let percent = how["percent_simulated"].as_f64().unwrap();
    assert!((10.0..80.0).contains(&percent), "{percent} %");
    let (low, high) = (how["interval"][0].as_f64().unwrap(), how["interval"][1].as_f64().unwrap());
    let (cycles, estimated) = (statistic(&whole, "kernel.cycles"), statistic(&sampled, "kernel.cycles"));
    assert!(low < cycles && cycles < high, "{low} to {high}, and it takes {cycles}");
    assert!((estimated / cycles - 1.0).abs() < 0.05, "{estimated} for {cycles}");
    let text = scratch.run(&format!("{command} --sample --threads 2"));
    assert!(text.out.contains("  sampled      parts of 8 workgroups in detail, "), "{}", text.out);
}

#[test]
fn all_waves_leap_in_a_launch_of_long_workgroups() {
    let long = ".kernel long\n.registers 8\n.workgroup_size 8, 1, 1\nmov_imm r1, 0\nmov_imm r2, 1\nmov_imm r3, 100000\n\
                loop\nucmp_ge p0, r1, r3\nbreak p0\niadd r1, r1, r2\nendloop\nhalt\n.end\n";
    let scratch = Scratch::with(&[("long.wave", long)]);
    let machine = "--config tiny --set cores=1 --set core.max_workgroups=1 --format json";
    let cycles = |run: &Value| run["total"]["statistics"]["kernel.cycles"].as_f64().unwrap();
    let one = scratch.run(&format!("long.wave {machine} --grid 1"));
    let one = document(&one.out);
    assert!(cycles(&one) > f64::from(1 << 20), "the workgroup is too short for this test");
    let sampled = scratch.run(&format!("long.wave {machine} --grid 12 --sample"));
    assert_eq!(sampled.code, 0, "{}", sampled.err);
    let sampled = document(&sampled.out);
    let instructions = |run: &Value| run["total"]["statistics"]["core.wave_instructions"].as_u64().unwrap();
    assert_eq!(instructions(&sampled), 12 * instructions(&one));
    let error = cycles(&sampled) / (12.0 * cycles(&one)) - 1.0;
    assert!(error.abs() < 0.02, "{error}");
    // If workgroups are left out as a whole, five of the twelve run before the first that is.
    let percent = sampled["sampled"]["percent_simulated"].as_f64().unwrap();
    assert!((5.0..40.0).contains(&percent), "{percent} %");
}

#[test]
fn it_is_the_same_in_every_run_and_with_any_number_of_threads() {
    let scratch = scratch();
    let run = |threads| {
        let ran = scratch.run(&add(8000, &format!("--sample --stats --set cores=8 --threads {threads}")));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains(" ± ") && ran.out.contains(" workgroups in detail, "), "{}", ran.out);
        ran.out
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_eq!(first, run(2));
}

#[test]
fn a_launch_that_is_simulated_in_full_says_why() {
    let in_order = ".kernel k\n.registers 8\n.workgroup_size 1, 1, 1\nmov_sr r0, sr_workgroup_id_x\nmov_imm r1, 0\n\
        mov_imm r2, 1\nloop\natomic_add r3, r1, r1, .device\nicmp_eq p1, r3, r0\nbreak p1\nendloop\n\
        atomic_add r3, r1, r2, .device\n.end\n";
    let scratch = scratch();
    scratch.write("in_order.wave", in_order.as_bytes());
    for (flags, why) in [
        (add(20, ""), "nothing left out: too short for how much its windows differ"),
        ("in_order.wave --config tiny --grid 600".to_owned(), "nothing left out: workgroups wait for others"),
    ] {
        let whole = scratch.run(&flags);
        let sampled = scratch.run(&format!("{flags} --sample"));
        assert_eq!((whole.code, sampled.code), (0, 0), "{}{}", whole.err, sampled.err);
        assert!(sampled.out.contains(why), "{}", sampled.out);
        let rest: String = sampled
            .out
            .lines()
            .filter(|line| !line.starts_with("  sampled "))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(rest, whole.out, "the cycles are exact");
    }
}

#[test]
fn the_table_of_several_marks_estimates() {
    let scratch = Scratch::new();
    let ran = scratch.run("lcm vector_add --config tiny --sample");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let row = |name: &str| {
        ran.out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{}", ran.out))
    };
    assert!(row("lcm").contains(" ~") && row("vector_add").contains(" ~"), "{}", ran.out);
}

#[test]
fn a_fault_of_a_workgroup_that_is_left_out_has_no_cycle() {
    // Workgroup 500 loads from past the end.
    let fails = source().replace(
        "    device_load_u32",
        "    mov_sr r6, sr_workgroup_id_x\n    mov_imm r7, 500\n    icmp_eq p1, r6, r7\n    \
         @p1 mov_imm r4, 0x7ffffff0\n    device_load_u32",
    );
    let scratch = Scratch::with(&[("add.wave", &fails)]);
    let ran = scratch.run(&add(2000, "--sample"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    for part in ["workgroup 500,0,0", "at device address 0x7ffffff0", "add.wave:"] {
        assert!(ran.err.contains(part), "no {part} in {}", ran.err);
    }
    assert!(!ran.err.contains(", cycle "), "{}", ran.err);
}

#[test]
fn flags_about_every_cycle_are_refused() {
    let scratch = scratch();
    for flag in [
        "--trace",
        "--check-races",
        "--by-buffer",
        "--report x",
        "--wvfi x",
        "--max-cycles 10",
        "--max-instructions 10",
        "--detail-from 1",
        "--checkpoint x --checkpoint-every 100",
    ] {
        let ran = scratch.run(&add(100, &format!("--sample {flag}")));
        let name = flag.split(' ').next().unwrap();
        assert_eq!(ran.code, 2, "{flag}: {}", ran.err);
        let message = format!("error: --sample simulates a part of the run, and {name} is about all of it");
        assert!(ran.err.starts_with(&message), "{flag}: {}", ran.err);
        assert!(!scratch.path("x").exists() && ran.out.is_empty());
    }
    let ran = scratch.run(&add(100, "--sample --functional"));
    assert!(
        ran.code == 2 && ran.err.starts_with("error: --functional has no timing, and --sample needs it"),
        "{}",
        ran.err
    );
}
