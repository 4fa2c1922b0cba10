//! Trace files as a user writes, damages and compares them.

use super::pftrace::Trace;
use super::scratch::Scratch;

const KERNEL: &str = "\
.kernel k
.registers 8
.workgroup_size 16, 1, 1
    mov_sr r1, sr_thread_id_x
    mov_imm r2, 2
    shl r3, r1, r2
    device_load_u32 r4, r3
    iadd r4, r4, r1
    device_store_u32 r3, r4
    halt
.end
";

const FAULTY: &str = "\
.kernel f
.registers 8
.workgroup_size 8, 1, 1
    mov_imm r2, 0x7fffffff
    mov_imm r3, 5
    device_load_u32 r4, r2
    iadd r3, r3, r2
    halt
.end
";

const ENDLESS: &str = "\
.kernel e
.registers 4
.workgroup_size 8, 1, 1
    loop
    nop
    endloop
.end
";

fn scratch() -> Scratch {
    let slower = "(base: \"tiny.ron\", core: (fetch: (icache_latency_cycles: 4)))";
    Scratch::with(&[("k.wave", KERNEL), ("f.wave", FAULTY), ("e.wave", ENDLESS), ("slower.ron", slower)])
}

const RUN: &str = "k.wave --config tiny --grid 2";

fn records(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('@')).collect()
}

fn cycle_of(record: &str) -> u64 {
    record[1..].split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn both_forms_convert_into_one_another() {
    let scratch = scratch();
    scratch.out(&format!("{RUN} --wvfi a.wvfi"));
    scratch.out(&format!("{RUN} --wvfi a.txt"));
    scratch.out("trace convert a.wvfi b.txt");
    scratch.out("trace convert a.txt b.wvfi");
    assert!(scratch.read("a.txt") == scratch.read("b.txt"));
    assert!(scratch.read("a.wvfi") == scratch.read("b.wvfi"));
    assert!(scratch.read("a.wvfi").len() * 2 < scratch.read("a.txt").len());
    let same = scratch.out("trace diff a.txt a.wvfi");
    assert_eq!(same, "the same: 28 records\n");
}

#[test]
fn a_trace_is_shown_and_summed_up() {
    let scratch = scratch();
    scratch.out(&format!("{RUN} --wvfi a.wvfi"));
    let shown = scratch.out("trace show a.wvfi --waves 1:0");
    assert_eq!(shown.lines().count(), 1 + 7);
    assert!(shown.lines().skip(1).all(|line| line.contains("wg(1,0,0) wave 0")), "{shown}");
    assert!(shown.contains("ff: shl r3, r1, r2 = 0+4\n"), "{shown}");
    let stats = scratch.out("trace stats a.wvfi");
    for part in
        ["launch `k`", "28 of 4 waves, 0 squashed", "memory", "device_load_u32 r4, r3", "issue to operands"]
    {
        assert!(stats.contains(part), "{part}: {stats}");
    }
}

#[test]
fn a_window_is_a_part_of_the_whole() {
    let scratch = scratch();
    scratch.out(&format!("{RUN} --wvfi a.txt"));
    let all = String::from_utf8(scratch.read("a.txt")).unwrap();
    let (from, to) = (60, 100);
    scratch.out(&format!("{RUN} --wvfi b.txt --from-cycle {from} --to-cycle {to} --waves 0"));
    let part = String::from_utf8(scratch.read("b.txt")).unwrap();
    let wanted = |line: &&str| (from..to).contains(&cycle_of(line)) && line.contains("workgroup=0,0,0");
    let expected: Vec<&str> = records(&all).into_iter().filter(wanted).collect();
    assert!(!expected.is_empty() && expected.len() < records(&all).len());
    assert_eq!(records(&part), expected);
}

#[test]
fn two_machines_differ_where_the_stage_moved_first() {
    let scratch = scratch();
    scratch.out("k.wave --config tiny --wvfi a.wvfi");
    scratch.out("k.wave --config slower.ron --wvfi b.wvfi");
    let slower = scratch.run("trace diff a.wvfi b.wvfi");
    assert_eq!(slower.code, 1, "{}", slower.out);
    assert!(slower.out.starts_with("note: different machines, tiny ("), "{}", slower.out);
    assert!(slower.out.contains("\n  decode moved first, in cycle "), "{}", slower.out);
    assert_eq!(scratch.out("trace diff a.wvfi b.wvfi --mode arch"), "the same: 14 records\n");
    scratch.write("l.wave", KERNEL.replace("iadd r4, r4", "isub r4, r4").as_bytes());
    scratch.out("l.wave --config tiny --wvfi c.wvfi");
    let other = scratch.run("trace diff a.wvfi c.wvfi --mode arch");
    assert_eq!(other.code, 1);
    assert!(other.out.contains("launch 1 differs in its code"), "{}", other.out);
    // The same code on other data: what a load returns differs, in the lanes that read it.
    scratch.out("k.wave --config tiny --fill-iota 8:u32:3:4 --wvfi d.wvfi");
    let data = scratch.run("trace diff a.wvfi d.wvfi");
    assert_eq!(data.code, 1);
    for part in [
        "instruction 3 at pc 0x0014: device_load_u32 r4, r3",
        "values       lanes 3, 4 differ",
        "    A 0*",
        "    B [0 0 0 4 8 0 0 0]",
        "A a.wvfi\n",
        "> ",
    ] {
        assert!(data.out.contains(part), "{part}: {}", data.out);
    }
}

#[test]
fn what_is_wrong_with_a_trace_is_one_error() {
    let scratch = scratch();
    scratch.out(&format!("{RUN} --wvfi a.wvfi"));
    let whole = scratch.read("a.wvfi");
    scratch.write("cut.wvfi", &whole[..whole.len() / 2]);
    let mut old = whole.clone();
    old[4] = 7;
    scratch.write("old.wvfi", &old);
    scratch.write("empty.wvfi", b"");
    scratch.out("k.wave --config gpu.ron --wvfi wide.wvfi");
    for (command, message) in [
        ("trace stats cut.wvfi", "`cut.wvfi`: is truncated"),
        ("trace show old.wvfi", "`old.wvfi`: is a trace of version 7, and this program reads version 1"),
        ("trace convert k.wave x.txt", "`k.wave`: is no WVFI trace"),
        ("trace stats empty.wvfi", "`empty.wvfi`: is empty"),
        ("trace diff a.wvfi none.wvfi", "`none.wvfi`: cannot be read: no such file"),
        ("trace diff a.wvfi cut.wvfi", "`cut.wvfi`: is truncated"),
        ("trace diff a.wvfi wide.wvfi", "they cannot be compared"),
        ("trace stats .", "`.`: cannot be read: it is a directory"),
        ("trace convert a.wvfi nodir/x.txt", "OUTPUT: cannot write `nodir/x.txt`"),
        ("trace show a.wvfi --from-cycle 100000", "`a.wvfi` has no record in this window"),
        ("k.wave --config tiny --wvfi nodir/x", "--wvfi: cannot write `nodir/x`"),
        ("k.wave --config tiny --kanata .", "--kanata: cannot write `.`: it is a directory"),
        ("k.wave --config tiny --wvfi x --from-cycle 100000", "--from-cycle: 100000 is past the run"),
        ("k.wave --config tiny --wvfi x --waves 9", "--waves: none of these waves"),
        ("k.wave --config tiny --wvfi x --from-cycle 9 --to-cycle 9", "--to-cycle: 9 is not after"),
        ("k.wave --config tiny --waves 0", "--waves is the window of a trace file, and none is written"),
        ("k.wave --config tiny --vcd x --fst x", "--vcd and --fst both write to `x`"),
        ("--config tiny --wvfi x", "--wvfi: one file of this name, and 25 kernels are to run"),
        ("k.wave --config tiny --wvfi x --waves 3-1", "3-1 ends before it begins"),
        (
            "k.wave --config tiny --trigger fault",
            "--trigger is the window of a trace file, and none is written",
        ),
        ("k.wave --config tiny --wvfi x --trigger pc=0x2", "no instruction begins at pc 2"),
        ("k.wave --config tiny --wvfi x --trigger never", "it is pc=P, fault or stall>N"),
        ("k.wave --config tiny --wvfi x --trigger stall>", "invalid value"),
        ("k.wave --config tiny --wvfi x --trigger-after 3", "--trigger-after counts cycles around a trigger"),
        ("k.wave --config tiny --wvfi x --trigger pc=0x400", "--trigger: pc=0x0400 has not happened"),
        ("k.wave --config tiny --wvfi x --trigger fault", "--trigger: fault has not happened"),
        ("k.wave --config tiny --wvfi x --trigger stall>100000", "--trigger: stall>100000 has not happened"),
        (
            "k.wave --config tiny --wvfi x --kanata x.txt --local-memory 0x100000",
            "cannot run on this machine",
        ),
    ] {
        let ran = scratch.run(command);
        assert_eq!(ran.code, 2, "{command}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(message), "{command}: {}", ran.err);
        assert_eq!(ran.err.matches("error: ").count(), 1, "{command}: {}", ran.err);
    }
    assert!(!scratch.path("x").exists() && !scratch.path("x.txt").exists());
    let left = std::fs::read_dir(scratch.path(".")).unwrap();
    assert!(left.map(|f| f.unwrap().file_name()).all(|name| !name.to_string_lossy().starts_with(".tmp")));
}

#[test]
fn a_fault_ends_its_trace_with_what_was_in_flight() {
    let scratch = scratch();
    let ran = scratch.run("f.wave --config tiny --wvfi f.txt --kanata f.kanata");
    assert_eq!(ran.code, 3);
    let text = String::from_utf8(scratch.read("f.txt")).unwrap();
    let open: Vec<&str> = records(&text).into_iter().filter(|line| line.contains(" open ")).collect();
    // In Konata it is flushed and not retired.
    let kanata = String::from_utf8(scratch.read("f.kanata")).unwrap();
    let ended =
        |how: &str| kanata.lines().filter(|line| line.starts_with("R\t") && line.ends_with(how)).count();
    assert_eq!((ended("\t1"), ended("\t0")), (open.len(), records(&text).len() - open.len()));
    assert!(open[0].contains("device_load_u32 r4, r2") && open[0].contains("r4= "), "{text}");
    let end = text.lines().last().unwrap();
    assert!(end.starts_with("end fault cycle=") && end.contains("message=\""), "{end}");
    scratch.out("trace convert f.txt f.wvfi");
    scratch.out("trace diff f.txt f.wvfi");
}

/// Records of a run without a trigger, and the part of them that one with it keeps.
fn around(
    scratch: &Scratch,
    run: &str,
    fires: impl Fn(&str) -> bool,
    before: u64,
    after: u64,
) -> Vec<String> {
    scratch.run(&format!("{run} --wvfi whole.txt"));
    let whole = String::from_utf8(scratch.read("whole.txt")).unwrap();
    let all = records(&whole);
    let fired = cycle_of(all.iter().find(|line| fires(line)).expect("it fires"));
    let wanted = |line: &&str| (fired.saturating_sub(before)..=fired + after).contains(&cycle_of(line));
    let part: Vec<String> = all.iter().copied().filter(wanted).map(str::to_owned).collect();
    assert!(part.len() < all.len(), "the window leaves something out");
    part
}

#[test]
fn a_trigger_opens_the_window_of_every_file() {
    let scratch = scratch();
    let run = "k.wave --config tiny --grid 6";
    let is_shift = |line: &str| line.contains(" pc=0xc ");
    let kept = around(&scratch, run, is_shift, 3, 40);
    let flags = "--trigger pc=0xc --trigger-before 3 --trigger-after 40";
    scratch.out(&format!(
        "{run} {flags} --wvfi t.txt --kanata t.kanata --perfetto t.pftrace --vcd t.vcd --fst t.fst"
    ));
    let text = String::from_utf8(scratch.read("t.txt")).unwrap();
    assert_eq!(records(&text), kept);
    // The other files have as many instructions, each read by its own rules.
    let kanata = String::from_utf8(scratch.read("t.kanata")).unwrap();
    assert_eq!(kanata.lines().filter(|line| line.starts_with("I\t")).count(), kept.len());
    assert_eq!(Trace::read(&scratch.path("t.pftrace")).of("issue").count(), kept.len());
    for file in ["t.vcd", "t.fst"] {
        assert_eq!(retired(&scratch.path(file)), kept.len() as u64, "{file}");
    }
}

#[test]
fn a_report_beside_it_leaves_the_trace_for_perfetto_as_it_is() {
    let scratch = scratch();
    scratch.out(&format!("{RUN} --perfetto alone.pftrace"));
    scratch.out(&format!("{RUN} --perfetto beside.pftrace --report r.html"));
    assert!(Trace::read(&scratch.path("alone.pftrace")).of("request").count() > 0);
    assert!(scratch.read("alone.pftrace") == scratch.read("beside.pftrace"));
}

#[test]
fn a_trace_for_perfetto_is_not_json() {
    let scratch = scratch();
    let ran = scratch.run(&format!("{RUN} --perfetto t.json"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--perfetto: `t.json` would not be JSON"), "{}", ran.err);
    assert!(ran.err.contains("t.pftrace") && !scratch.path("t.json").exists(), "{}", ran.err);
}

#[test]
fn the_number_of_threads_does_not_show() {
    let scratch = scratch();
    let run = "k.wave --config gpu --grid 64 --stats --format json";
    let of = |threads: u32| {
        let said = scratch.out(&format!("{run} --threads {threads} --wvfi t{threads}.wvfi"));
        let untraced = scratch.out(&format!("{run} --threads {threads}"));
        (scratch.read(&format!("t{threads}.wvfi")), said, untraced)
    };
    let alone = of(1);
    for threads in 2..=4 {
        assert!(of(threads) == alone, "{threads} threads");
    }
}

/// Instructions that a waveform shows as they retire.
fn retired(path: &std::path::Path) -> u64 {
    let mut wave = wellen::simple::read(path).unwrap();
    let hierarchy = wave.hierarchy();
    let named = |v: &wellen::VarRef| hierarchy[*v].full_name(hierarchy).ends_with(".retiring");
    let signals: Vec<_> = hierarchy.all_vars().filter(named).map(|v| hierarchy[v].signal_ref()).collect();
    wave.load_signals(&signals);
    let times = wave.time_table();
    let mut sum = 0;
    for signal in signals {
        let changes: Vec<(u64, u64)> = wave
            .get_signal(signal)
            .unwrap()
            .iter_changes()
            .map(|(at, value)| {
                (times[at as usize], u64::from_str_radix(&value.to_bit_string().unwrap(), 2).unwrap())
            })
            .collect();
        sum += changes.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0)).sum::<u64>();
    }
    sum
}

/// Cycles of the longest stall of a record.
fn longest(line: &str) -> u64 {
    let stalls = line.split(" stalls=").nth(1).unwrap_or("").split(' ').next().unwrap_or("");
    let one = |stall: &str| {
        let (_, cycles) = stall.split_once(':')?;
        let (from, to) = cycles.split_once('-')?;
        Some(to.parse::<u64>().ok()? - from.parse::<u64>().ok()?)
    };
    stalls.split(',').filter_map(one).max().unwrap_or(0)
}

/// The window opens late in a long run, when viewers' files would long have been under way.
#[test]
fn a_late_trigger_leaves_logs_in_the_order_of_time() {
    let scratch = scratch();
    let run = "reduction --config tiny --size small";
    scratch.out(&format!("{run} --wvfi whole.txt"));
    let whole = String::from_utf8(scratch.read("whole.txt")).unwrap();
    let all = records(&whole);
    let most = all.iter().map(|line| longest(line)).max().unwrap();
    let ran = scratch.run(&format!("{run} --trigger stall>{most} --wvfi t.txt"));
    assert!(ran.code == 2 && ran.err.contains("has not happened"), "none is longer: {}", ran.err);
    let kept = around(&scratch, run, |line| longest(line) >= most, 300, 300);
    assert!(cycle_of(&kept[0]) > 1000, "it fires late: {}", kept[0]);
    let least = most - 1;
    let flags = format!("--trigger stall>{least} --trigger-before 300 --trigger-after 300");
    scratch.out(&format!("{run} {flags} --wvfi t.txt --kanata t.kanata --fst t.fst"));
    assert_eq!(records(&String::from_utf8(scratch.read("t.txt")).unwrap()), kept);
    let issue =
        |line: &String| line.split(" issue=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let mut expected: Vec<u64> = kept.iter().map(issue).collect();
    expected.sort_unstable();
    let (mut cycle, mut issues) = (0, Vec::new());
    for line in String::from_utf8(scratch.read("t.kanata")).unwrap().lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match words.as_slice() {
            ["C=", at] => cycle = at.parse::<u64>().unwrap(),
            ["C", cycles] => cycle += cycles.parse::<u64>().unwrap(),
            ["S", _, "0", "I"] => issues.push(cycle),
            _ => {}
        }
    }
    assert_eq!(issues, expected);
    assert_eq!(retired(&scratch.path("t.fst")), kept.len() as u64);
}

#[test]
fn a_trigger_fires_at_a_long_stall_and_at_a_fault() {
    let scratch = scratch();
    let run = "k.wave --config tiny --grid 2";
    let kept = around(&scratch, run, |line| longest(line) > 20, 5, 5);
    scratch.out(&format!("{run} --trigger stall>20 --trigger-before 5 --trigger-after 5 --wvfi s.txt"));
    assert_eq!(records(&String::from_utf8(scratch.read("s.txt")).unwrap()), kept);

    let faulty = "f.wave --config tiny";
    assert_eq!(scratch.run(&format!("{faulty} --wvfi whole.txt")).code, 3);
    let whole = String::from_utf8(scratch.read("whole.txt")).unwrap();
    let end = whole.lines().last().unwrap();
    let fault: u64 = end.split("cycle=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let ran = scratch.run(&format!("{faulty} --trigger fault --trigger-before 1 --wvfi f.txt"));
    assert_eq!(ran.code, 3);
    let text = String::from_utf8(scratch.read("f.txt")).unwrap();
    let kept: Vec<&str> = records(&whole).into_iter().filter(|line| cycle_of(line) + 1 >= fault).collect();
    assert!(!kept.is_empty() && kept.len() < records(&whole).len());
    assert_eq!(records(&text), kept);
}

#[test]
fn a_bound_ends_its_files_validly() {
    let scratch = scratch();
    let ran = scratch
        .run("e.wave --config tiny --max-cycles 500 --wvfi e.txt --kanata e.kanata --perfetto e.pftrace");
    assert_eq!(ran.code, 3);
    let text = String::from_utf8(scratch.read("e.txt")).unwrap();
    assert!(text.lines().last().unwrap().starts_with("end stopped cycle=500 "), "{text}");
    assert_eq!(Trace::read(&scratch.path("e.pftrace")).of("issue").count(), records(&text).len());
}

/// What a run says that Ctrl-C ends when it has been under way for a while.
#[cfg(unix)]
fn interrupted(scratch: &Scratch, run: &str) -> String {
    let ran = super::signals::interrupted(scratch, run, "INT");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("was interrupted in cycle "), "{}", ran.err);
    ran.err
}

#[cfg(unix)]
#[test]
fn ctrl_c_completes_the_files_and_says_when() {
    let scratch = scratch();
    let files =
        "--wvfi e.wvfi --kanata e.kanata --perfetto e.pftrace --vcd e.vcd --fst e.fst --report e.html";
    interrupted(&scratch, &format!("e.wave --config tiny --to-cycle 1000 {files}"));
    assert!(String::from_utf8(scratch.read("e.html")).unwrap().contains("was interrupted in cycle "));
    scratch.out("trace convert e.wvfi e.txt");
    let text = String::from_utf8(scratch.read("e.txt")).unwrap();
    assert!(text.lines().last().unwrap().starts_with("end interrupted cycle="), "{text}");
    // Every file is whole, and has what retired in the window.
    let kept = records(&text).len();
    assert!(kept > 100, "{kept}");
    let kanata = String::from_utf8(scratch.read("e.kanata")).unwrap();
    assert_eq!(kanata.lines().filter(|line| line.starts_with("R\t")).count(), kept);
    assert_eq!(Trace::read(&scratch.path("e.pftrace")).of("issue").count(), kept);
    for file in ["e.vcd", "e.fst"] {
        assert_eq!(retired(&scratch.path(file)), kept as u64, "{file}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_kernels_that_would_follow_too() {
    let scratch = scratch();
    let said = interrupted(&scratch, "e.wave k.wave --config tiny --to-cycle 1000 --wvfi {kernel}.wvfi");
    assert!(said.contains("warning: 1 kernel did not run any more"), "{said}");
    assert!(scratch.path("e.wvfi").is_file() && !scratch.path("k.wvfi").exists());
}

/// A report around a trigger is looked for in a run of its own: the first. Ctrl-C ends both.
#[cfg(unix)]
#[test]
fn ctrl_c_before_the_trigger_of_a_report_says_when_and_leaves_nothing() {
    let scratch = scratch();
    let run = "e.wave --config tiny --trigger pc=0x400 --report e.html --wvfi e.wvfi";
    let said = interrupted(&scratch, run);
    let after = |words: &str| {
        let digits = said.split(words).nth(1).unwrap_or_else(|| panic!("{words}: {said}"));
        digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap()
    };
    let cycle = after("was interrupted in cycle ");
    assert!(cycle > 100, "{said}");
    let missed = "warning: `e`: --trigger: pc=0x0400 has not happened, and the run ended in cycle ";
    assert_eq!(after(missed), cycle, "{said}");
    for file in ["e.html", "e.wvfi"] {
        assert!(!scratch.path(file).exists(), "{file}");
    }
}

/// A trigger that does not fire in a run that does not end: both are said, and the run decides the exit code.
#[test]
fn a_fault_is_told_beside_a_trigger_that_has_not_fired() {
    let scratch = scratch();
    for files in ["--wvfi f.wvfi", "--report f.html"] {
        let ran = scratch.run(&format!("f.wave --config tiny --trigger pc=0x400 {files}"));
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("error: kernel `f`: an access of 4 bytes"), "{}", ran.err);
        assert!(ran.err.contains("warning: `f`: --trigger: pc=0x0400 has not happened"), "{}", ran.err);
    }
    assert!(!scratch.path("f.wvfi").exists() && !scratch.path("f.html").exists());
}

/// A disk without room says so at the end, whoever writes, and the run is not blamed.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_the_file() {
    let scratch = scratch();
    for flag in ["--wvfi", "--kanata", "--perfetto", "--vcd"] {
        let ran = scratch.run(&format!("{RUN} {flag} /dev/full"));
        assert_eq!(ran.code, 2, "{flag}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("{flag}: cannot write `/dev/full`: ")), "{}", ran.err);
        assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
    }
}
