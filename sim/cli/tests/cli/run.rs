//! Running one kernel: launch flags, dumps, reports, exit codes.

use super::scratch::{ADD, Scratch, add_of_any_size, without_host};

/// Each lane writes its register r0 at 4 × its index in the grid.
const INDEX: &str = "\
.kernel index
.registers 8
    mov_sr  r1, sr_workgroup_id_x
    mov_sr  r2, sr_workgroup_size_x
    mov_sr  r3, sr_thread_id_x
    imad    r1, r1, r2, r3
    mov_imm r2, 2
    shl     r2, r1, r2
    device_store_u32 r2, r0
.end
";

const ENDLESS: &str = ".kernel endless\n.registers 4\nloop\n nop\nendloop\n.end\n";

const OUTSIDE: &str = "\
.kernel outside
.registers 4
    mov_imm r0, 0x7ffffff0
    device_load_u32 r1, r0
.end
";

fn scratch() -> Scratch {
    Scratch::with(&[
        ("add.wave", ADD),
        ("index.wave", INDEX),
        ("endless.wave", ENDLESS),
        ("outside.wave", OUTSIDE),
    ])
}

#[test]
fn flags_fill_memory_and_a_dump_has_standard_output_to_itself() {
    let scratch = scratch();
    let ran = scratch.run(
        "add.wave --config tiny.ron --set-reg 1:0x100 --set-reg r2:-3 --fill-iota 0:u32:16:10 --dump-i32 256:16",
    );
    let expected: String = (0..16).map(|i| format!("{}\n", i * 10 - 3)).collect();
    assert_eq!(ran.out, expected);
    assert!(ran.err.contains("add on tiny"), "{}", ran.err);
    assert!(ran.err.contains("PERF: kernels=1"), "{}", ran.err);
    assert_eq!(ran.code, 0);
}

#[test]
fn a_summary_is_on_standard_output_and_host_speed_is_not() {
    let scratch = scratch();
    let flags = "--config tiny.ron --set-reg 0:0 --set-reg 1:0 --set-reg 2:0";
    let first = scratch.run(&format!("add.wave {flags}"));
    assert!(first.out.starts_with("add on tiny (config "), "{}", first.out);
    for part in ["cycles", "IPC", "issue slots", "occupancy", "limited by", "DRAM", "nothing to verify"] {
        assert!(first.out.contains(part), "no {part} in\n{}", first.out);
    }
    assert!(first.out.lines().last().unwrap().starts_with("PERF: kernels=1 cycles="));
    assert!(first.err.starts_with("host: seconds="), "{}", first.err);
    assert_eq!(first.out, scratch.out(&format!("add.wave {flags}")), "two runs give the same bytes");
}

#[test]
fn several_dumps_come_in_order_and_memory_as_a_hex_dump() {
    let scratch = scratch();
    let out = scratch.out(
        "add.wave --config tiny --set-reg 1:64 --fill-iota 0:u32:16:1 --dump-u32 64:2 --dump-memory 0:8 --dump-u8 4:2",
    );
    let hex = "00000000: 00 00 00 00 01 00 00 00                           |........|\n";
    assert_eq!(out, format!("0\n1\nDevice memory 0x00000000-0x00000008:\n{hex}1\n0\n"));
}

#[test]
fn every_type_dumps() {
    let scratch = scratch();
    scratch.write("bytes", &[0x00, 0x3C, 0x80, 0x3F]);
    let out = scratch.out(
        "index.wave --config tiny --arg 256:bytes --dump-f16 256:1 --dump-bf16 258:1 --dump-u16 256:1 --dump-u32 256:1",
    );
    assert_eq!(out, "1.0\n1.0\n15360\n1065368576\n");
    let out = scratch.out("index.wave --config tiny --arg 256:bytes --dump-f32 256:1");
    assert_eq!(out, format!("{:?}\n", f32::from_bits(1_065_368_576)));
}

#[test]
fn zeros_then_iotas_then_files() {
    let scratch = scratch();
    scratch.write("one", &[9]);
    let flags = "--arg 1025:one --fill-iota 1024:u8:4:1 --fill-zero 1024:u8:64";
    let out = scratch.out(&format!("index.wave --config tiny {flags} --dump-u8 1024:5"));
    assert_eq!(out, "0\n9\n2\n3\n0\n");
}

#[test]
fn flags_say_what_the_kernel_leaves_open() {
    let scratch = scratch();
    let written = |flags: &str| {
        let out = scratch.out(&format!("index.wave --config tiny --set-reg 0:7 --dump-u32 0:100 {flags}"));
        out.lines().filter(|&line| line == "7").count()
    };
    assert_eq!(written(""), 32, "32 threads where nobody says");
    assert_eq!(written("--grid 2 --workgroup 8"), 16);
    assert_eq!(written("--grid 1,2,1 --workgroup 3,2,1"), 3, "only x counts in this kernel");
    let report = scratch.out("add.wave --config tiny --registers 20 --local-memory 0x400");
    assert!(report.contains("workgroup 16,1,1  registers 20  local memory 1024 bytes"), "{report}");
    let report = scratch.out("add.wave --config tiny");
    assert!(report.contains("workgroup 16,1,1  registers 8  local memory 0 bytes"), "{report}");
}

#[test]
fn wave_width_and_device_memory_change_the_machine_and_its_hash() {
    let scratch = scratch();
    let hash = |flags: &str| {
        let out = scratch.out(&format!("add.wave --config tiny {flags}"));
        out.split("(config ").nth(1).unwrap()[..16].to_owned()
    };
    let plain = hash("");
    assert_ne!(plain, hash("--device-memory 0x100000"));
    let out = scratch.out("add.wave --config tiny --wave-width 16");
    assert!(out.contains("of 16 take part"), "{out}");
    assert_eq!(plain, hash("--wave-width 8"), "the width that it has");
}

#[test]
fn save_writes_bytes_and_leaves_no_other_file() {
    let scratch = scratch();
    scratch.write("saved", b"old");
    scratch.out("add.wave --config tiny --set-reg 1:64 --set-reg 2:1 --save 64:8:saved");
    assert_eq!(scratch.read("saved"), [1, 0, 0, 0, 1, 0, 0, 0]);
    let files = std::fs::read_dir(scratch.path("")).unwrap().count();
    assert_eq!(files, 5, "the four kernels and the saved file");
}

#[test]
fn trace_goes_to_standard_error_in_the_order_of_cycles() {
    let scratch = scratch();
    let ran = scratch.run("add.wave --config tiny --grid 3 --trace");
    let lines: Vec<&str> = ran.err.lines().filter(|l| l.contains(" wg(")).collect();
    // Two waves of 8 lanes in each of three workgroups, eight instructions each.
    assert_eq!(lines.len(), 48);
    let cycle = |line: &str| line.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    assert!(lines.is_sorted_by_key(|line| cycle(line)), "{}", ran.err);
    assert!(lines[0].ends_with(": mov_sr r3, sr_thread_id_x"), "{}", lines[0]);
    assert!(lines[0].contains("core[0] wg(0,0,0) wave["), "{}", lines[0]);
    assert!(lines[0].contains("pc=0x0000 mask=ff:"), "{}", lines[0]);
    assert_eq!(ran.out, scratch.out("add.wave --config tiny --grid 3"), "tracing changes nothing");
}

#[test]
fn stats_prints_every_declared_statistic() {
    let scratch = scratch();
    let out = scratch.out("add.wave --config tiny --stats");
    let declared = scratch.out("stats --format json");
    let declared: serde_json::Value = serde_json::from_str(&declared).unwrap();
    let declared = declared.as_array().unwrap();
    assert!(declared.len() > 40);
    for statistic in declared {
        let (name, unit) = (statistic["name"].as_str().unwrap(), statistic["unit"].as_str().unwrap());
        let line = out.lines().find(|l| l.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("no {name} in\n{out}"));
        assert!(line.ends_with(unit), "{line}");
    }
}

#[test]
fn json_has_the_launch_and_every_number() {
    let scratch = scratch();
    let out = scratch.out("add.wave --config tiny --grid 2 --set-reg 2:5 --format json");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["config"]["name"], "tiny");
    assert_eq!(json["config"]["hash"].as_str().unwrap().len(), 16);
    let run = &json["runs"][0];
    assert_eq!((run["name"].as_str(), run["outcome"].as_str()), (Some("add"), Some("ended")));
    let launch = &run["launches"][0];
    assert_eq!(launch["kernel"], "add");
    assert_eq!(launch["grid"], serde_json::json!([2, 1, 1]));
    assert_eq!(launch["workgroup"], serde_json::json!([16, 1, 1]));
    assert_eq!(launch["arguments"], serde_json::json!([[2, 5]]));
    let statistics = launch["statistics"].as_object().unwrap();
    // Eight instructions in each of two waves of each of two workgroups.
    assert_eq!(statistics["core.wave_instructions"], 32);
    assert_eq!(statistics["core.lane_instructions"], 256);
    assert_eq!(statistics["core.workgroups"], 2);
    let slots = |name: &str| statistics[name].as_u64().unwrap();
    let charged: u64 = statistics.keys().filter(|k| k.starts_with("issue.")).map(|k| slots(k)).sum();
    assert_eq!(charged, 2 * slots("kernel.cycles"), "two cores of one slot a cycle");
    assert_eq!(run["total"]["statistics"], launch["statistics"]);
    assert_eq!(out, scratch.out("add.wave --config tiny --grid 2 --set-reg 2:5 --format json"));
}

#[test]
fn figures_follow_from_the_counters() {
    let scratch = scratch();
    let out = scratch.out("index.wave --config tiny --workgroup 10 --format json");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let total = &json["runs"][0]["total"];
    let figure = |name: &str| total["figures"][name].as_f64().unwrap();
    let count = |name: &str| total["statistics"][name].as_f64().unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    near(figure("figure.ipc"), count("core.wave_instructions") / count("kernel.cycles"));
    near(figure("figure.ipc_per_core"), figure("figure.ipc") / 2.0);
    // One wave of 8 lanes and one of 2.
    near(figure("figure.simd_efficiency"), 100.0 * 10.0 / 16.0);
    near(
        figure("figure.occupancy"),
        100.0 * count("core.resident_wave_cycles") / (64.0 * count("kernel.cycles")),
    );
}

#[test]
fn a_fault_ends_with_3_and_says_where() {
    let scratch = scratch();
    let ran = scratch.run("outside.wave --config tiny");
    assert_eq!(ran.code, 3);
    for part in [
        "kernel `outside`",
        "0x7ffffff0",
        "workgroup 0,0,0, wave ",
        "lanes 0-7",
        "cycle ",
        "outside.wave:4:5",
        "device_load_u32 r1, r0",
    ] {
        assert!(ran.err.contains(part), "no {part} in\n{}", ran.err);
    }
    assert!(ran.out.contains("result       fault"), "{}", ran.out);
    let ran = scratch.run("outside.wave --config tiny --dump-u32 0:1 --save 0:4:saved");
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "no dump of half a run");
    assert!(!scratch.path("saved").exists());
}

#[test]
fn bounds_end_with_3_and_a_table_of_waves() {
    let scratch = scratch();
    for (flags, bound) in
        [("--max-cycles 500", "500 cycles"), ("--max-instructions 50", "50 wave instructions")]
    {
        let ran = scratch.run(&format!("endless.wave --config tiny --workgroup 16 {flags}"));
        assert_eq!(ran.code, 3);
        for part in [bound, "0 of 1 workgroup done", "on the machine: 2 waves", "waits for", "0xff", "(line "]
        {
            assert!(ran.err.contains(part), "no {part} in\n{}", ran.err);
        }
    }
    // Behind the loop there is a `halt` that no wave comes to.
    scratch.write("loop.wave", ENDLESS.replace("endloop", "endloop\nhalt").as_bytes());
    for cycles in 490..510 {
        let ran = scratch.run(&format!("loop.wave --config tiny --workgroup 8 --max-cycles {cycles}"));
        assert!(ran.err.contains("(line ") && !ran.err.contains("halt"), "{}", ran.err);
    }
    let json = scratch.run("endless.wave --config tiny --max-cycles 500 --format json");
    let document: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(document["runs"][0]["outcome"], "stopped");
    let ran = scratch.run("endless.wave --config tiny --grid 4 --workgroup 256 --max-cycles 300");
    let rows = ran.err.lines().filter(|l| l.contains(" 0xff ")).count();
    assert_eq!(rows, 20, "{}", ran.err);
    assert!(ran.err.contains(" … and 44 more"), "{}", ran.err);
}

#[test]
fn a_bound_of_zero_or_one_that_is_not_passed_changes_nothing() {
    let scratch = scratch();
    // Two waves, nine instructions each.
    scratch.write("add.wave", ADD.replace(".end", "halt\n.end").as_bytes());
    let plain = scratch.out("add.wave --config tiny");
    assert!(plain.contains("instructions 18 wave instructions"), "{plain}");
    assert_eq!(plain, scratch.out("add.wave --config tiny --max-cycles 0 --max-instructions 0"));
    assert_eq!(plain, scratch.out("add.wave --config tiny --max-cycles 100000 --max-instructions 18"));
    assert_eq!(scratch.run("add.wave --config tiny --max-instructions 9").code, 3);
}

#[test]
fn what_the_checks_find_is_said_before_the_run() {
    let scratch = scratch();
    let open = ".kernel open\n.registers 4\n  ucmp_eq p1, r0, r0\n  .word 0x3f000100 ; if p1\n  halt\n.end\n";
    scratch.write("open.wave", open.as_bytes());
    let ran = scratch.run("open.wave --config tiny");
    assert!(
        without_host(&ran.err).starts_with("warning: this `if` is never closed\n --> open.wave:4:3"),
        "{}",
        ran.err
    );
    assert_eq!(ran.code, 0);
    // In a container too.
    scratch.out("asm open.wave");
    let ran = scratch.run("open.wbin --config tiny");
    assert!(ran.err.contains("`if p1`: this `if` is never closed"), "{}", ran.err);
    assert_eq!(ran.code, 0);
}

#[test]
fn a_container_runs_as_its_source_does() {
    let scratch = scratch();
    scratch.out("asm add.wave");
    let flags = "--config tiny --set-reg 1:64 --set-reg 2:1";
    assert_eq!(scratch.out(&format!("add.wbin {flags}")), scratch.out(&format!("add.wave {flags}")));
}

#[test]
fn one_kernel_of_several_is_chosen_by_name() {
    let scratch = scratch();
    scratch.write("both.wave", format!("{ADD}{INDEX}").as_bytes());
    let out = scratch.out("both.wave --config tiny --kernel index --set-reg 0:3 --dump-u32 0:2");
    assert_eq!(out, "3\n3\n");
}

/// What a command line changes of the machine stands in every form of its results.
#[test]
fn reports_name_what_was_set() {
    let scratch = scratch();
    let flags = "--set l1.mshrs=3 --set l1.bytes=2KiB --set cores=1 --wave-width 16 --device-memory 64KiB --set l1.mshrs=2";
    let set = "core.l1.bytes=2048 cores=1 core.l1.mshrs=2 core.wave_width=16 device_memory_bytes=65536";
    let out = scratch.out(&format!("add.wave --config tiny {flags}"));
    let line = format!("\n  set          {set}\n");
    assert!(out.contains(&line), "{out}");
    assert!(!scratch.out("add.wave --config tiny").contains("\n  set "));
    let several = scratch.out(&format!("add.wave index.wave --config tiny {flags}"));
    assert!(several.contains(&line), "{several}");
    let explained = scratch.out(&format!("explain add.wave --no-check --config tiny {flags}"));
    assert!(explained.contains(&line), "{explained}");
    let measured = scratch.out("measure atomics --config tiny --set cores=1");
    assert!(measured.contains("\n  set          cores=1\n"), "{measured}");
    let list: Vec<String> = set.split(' ').map(|setting| format!("{setting:?}")).collect();
    for command in ["add.wave", "explain add.wave --no-check"] {
        let json = scratch.out(&format!("{command} --config tiny --format json {flags}"));
        let json: String = json.split_whitespace().collect();
        assert!(json.contains(&format!("\"set\":[{}]", list.join(","))), "{command}: {json}");
    }
    scratch.out(&format!("add.wave --config tiny --report page.html {flags}"));
    let page = String::from_utf8(scratch.read("page.html")).unwrap();
    assert!(page.contains("Set on the command line: <code>core.l1.bytes=2048</code>, <code>cores=1</code>"));
}

/// A machine too small for its largest workgroup runs the others.
#[test]
fn only_a_launch_that_does_not_fit_is_refused() {
    let scratch = Scratch::with(&[("add.wave", &add_of_any_size())]);
    for flags in ["--wave-width 16", "--set core.max_waves=16"] {
        let ran = scratch.run(&format!("add.wave --workgroup 512 --set-reg 1:4096 --set-reg 2:5 {flags}"));
        assert_eq!(ran.code, 0, "{flags}: {}", ran.err);
        assert!(
            ran.err.contains("the largest that can run has max_waves × wave_width threads"),
            "{}",
            ran.err
        );
        let ran = scratch.run(&format!("add.wave --workgroup 513 --set-reg 1:4096 --set-reg 2:5 {flags}"));
        assert_eq!(ran.code, 2, "{flags}: {}", ran.err);
        assert!(ran.err.contains("waves, and a core has"), "{}", ran.err);
    }
    let few = "--set core.register_file_bytes=64KiB --set-reg 1:4096";
    assert_eq!(scratch.run(&format!("add.wave {few}")).code, 0);
    let ran = scratch.run(&format!("add.wave --registers 200 {few}"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the register file of 65536 bytes has room for 0"), "{}", ran.err);
}
