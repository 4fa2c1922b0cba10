//! `wave-sim explain` on kernels made for a known limit, and on the suite.

use super::golden;
use super::scratch::Scratch;
use serde_json::Value;

/// A kernel of one loop around `body`, for workgroups of 256 threads: the fewest waves that keep a core of gpu.ron busy.
fn looped(body: &str) -> String {
    format!(
        ".kernel k\n.registers 24\n.local_memory 16384\n.workgroup_size 256, 1, 1\n    mov_sr r0, sr_thread_id_x\n    \
         mov_imm r1, 7\n    imul r2, r0, r1\n    shl r3, r0, r1\n    mov_imm r4, 60\n    mov_imm r5, 1\n    \
         mov_imm r6, 0\n    loop\n{body}\n    isub r4, r4, r5\n    ucmp_eq p0, r4, r6\n    break p0\n    endloop\n    \
         halt\n.end\n"
    )
}

/// Each instruction needs the result of the one before.
const CHAIN: &str = "    fdiv r8, r8, r1\n    fdiv r8, r8, r1\n    fdiv r8, r8, r1\n    fdiv r8, r8, r1";

/// 64 special functions a wave in a row, which do not need one another: the unit takes a wave in four cycles.
const UNIT: &str = "    fexp2 r8, r0\n    fexp2 r9, r0\n    fexp2 r10, r0\n    fexp2 r11, r0\n    fexp2 r12, r0\n    \
                    fexp2 r13, r0\n    fexp2 r14, r0\n    fexp2 r15, r0";

/// All lanes of a wave hit one bank: 128 bytes apart.
const BANKS: &str = "    local_load_u32 r8, r3\n    local_load_u32 r9, r3\n    local_load_u32 r10, r3\n    \
                     local_load_u32 r11, r3";

/// Waves that only stream through device memory, with an access of local memory now and then.
const STREAM: &str = "\
.kernel k
.registers 24
.local_memory 4096
.workgroup_size 256, 1, 1
    mov_sr  r0, sr_thread_id_x
    mov_imm r2, 2
    shl     r6, r0, r2
    mov_sr  r1, sr_workgroup_id_x
    mov_imm r2, 10
    shl     r1, r1, r2
    iadd    r0, r6, r1
    mov_imm r3, 65536
    mov_imm r4, 4
    mov_imm r5, 1
    mov_imm r7, 0
    loop
    device_load_u32 r8, r0
    iadd r0, r0, r3
    device_load_u32 r9, r0
    iadd r0, r0, r3
    device_load_u32 r10, r0
    iadd r0, r0, r3
    device_load_u32 r11, r0
    iadd r0, r0, r3
    local_load_u32 r12, r6
    iadd r13, r12, r5
    isub r4, r4, r5
    ucmp_eq p0, r4, r7
    break p0
    endloop
    halt
.end
";

fn scratch() -> Scratch {
    Scratch::with(&[
        ("stream.wave", STREAM),
        (
            "column.wave",
            &STREAM
                .replace(".local_memory 4096", ".local_memory 32768")
                .replace("mov_imm r2, 2\n", "mov_imm r2, 7\n")
                .replace("mov_imm r2, 10\n", "mov_imm r2, 2\n"),
        ),
        ("chain.wave", &looped(CHAIN)),
        ("unit.wave", &looped(UNIT)),
        (
            "banks.wave",
            &looped(BANKS)
                .replace("shl r3, r0, r1", "mov_imm r7, 127\n    and r3, r0, r7\n    shl r3, r3, r1"),
        ),
    ])
}

fn explained(scratch: &Scratch, command: &str) -> Value {
    serde_json::from_str(&scratch.out(&format!("{command} --format json"))).unwrap()
}

fn cycles(scratch: &Scratch, command: &str) -> i64 {
    let out = scratch.out(command);
    let perf = out.lines().last().unwrap();
    perf.split("cycles=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_limit_that_was_built_in_is_found_and_its_change_saves_what_is_said() {
    let scratch = scratch();
    for (kernel, cause, key) in [
        ("chain", "latency of fp32_div", "core.units[fp32].classes[fp32_div].latency_cycles"),
        ("unit", "unit sfu", "core.units[sfu].lanes"),
        ("banks", "local memory", "core.local.banks"),
    ] {
        let run = format!("{kernel}.wave --grid 16");
        let document = explained(&scratch, &format!("explain {run}"));
        let explanation = &document["explanations"][0];
        let first = &explanation["limiters"][0];
        assert_eq!(first["name"], cause, "{document:#}");
        let change = &first["change"];
        let setting = change["set"][0].as_str().unwrap();
        assert!(setting.starts_with(&format!("{key}=")), "{setting}");
        // The measurement is what a user gets who pastes the flag.
        let before = cycles(&scratch, &run);
        assert_eq!(explanation["cycles"], before);
        let saved = before - cycles(&scratch, &format!("{run} --set {setting}"));
        assert_eq!(change["measured_cycles"], saved, "{kernel}");
        let (saved, predicted) = (saved as f64, change["predicted_cycles"].as_f64().unwrap());
        assert!(saved > 0.1 * before as f64, "{kernel}: {saved} of {before}");
        assert!(predicted / saved < 2.0 && saved / predicted < 2.0, "{kernel}: {predicted} and {saved}");
    }
}

/// Nearly all of the time waves stand before the load/store unit, as it is the end of the queue before memory; local
/// accesses stand there too.
#[test]
fn a_stream_is_limited_by_memory_and_not_by_the_unit_before_it() {
    let scratch = scratch();
    let document = explained(&scratch, "explain stream.wave --grid 64");
    let explanation = &document["explanations"][0];
    let cycles = explanation["cycles"].as_f64().unwrap();
    let limiters = explanation["limiters"].as_array().unwrap();
    assert_eq!(limiters[0]["name"], "DRAM", "{document:#}");
    assert!(limiters[0]["cycles"].as_f64().unwrap() > 0.8 * cycles, "{document:#}");
    let change = &limiters[0]["change"];
    assert_eq!(change["set"][0], "dram.channels=8");
    let saved = change["measured_cycles"].as_f64().unwrap();
    let predicted = change["predicted_cycles"].as_f64().unwrap();
    assert!(saved > 0.4 * cycles && (predicted / saved - 1.0).abs() < 0.3, "{predicted} and {saved}");
    for other in &limiters[1..] {
        assert!(other["cycles"].as_f64().unwrap() < 0.05 * cycles, "{document:#}");
    }
    assert_eq!(explanation["stands_out"].as_array().unwrap().len(), 0);
}

/// Lanes that access a column: which instruction it is, what it takes and how little of it is used.
#[test]
fn scattered_accesses_are_named() {
    let scratch = scratch();
    let text = scratch.out("explain column.wave --grid 16 --no-check");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "What stands out: Device memory instructions touch 32.0 times as many lines as they would",
        "- device_load_u32 r8, r0 (line 17): 32.0 lines each of 512 times, where 1.00 would do; 4.00 bytes of each line of 128 are used",
        "% of it, 32.0 lines each where 1.00 would do",
    ] {
        assert!(words.contains(part), "{part}: {text}");
    }
    assert!(!scratch.out("explain stream.wave --grid 1 --no-check").contains("stands out"));
}

/// Formulas that are a part of the cost, by the numbers of gpu.ron. These kernels have no barrier, which would hand savings
/// on, and are far from every bound. E5 without the hold, planted, fails here and in the table of the page.
#[test]
fn a_saving_is_the_part_of_the_cost_that_its_formula_says() {
    let scratch = scratch();
    let machine = wave_sim::config::load("gpu.ron").unwrap();
    let unit = |name: &str| machine.core.units.iter().find(|unit| unit.name == name).unwrap();
    let divide = unit("fp32").classes.iter().find(|c| c.class.name() == "fp32_div").unwrap();
    let hold = divide.passes * machine.core.wave_width.div_ceil(unit("fp32").lanes);
    let (now, then) = (divide.latency_cycles, divide.latency_cycles / 2);
    let shorter = f64::from(now - then) / f64::from(hold + now);
    assert!(shorter < 0.4, "{shorter}: a saving of all of the cost can be told from one of a part");
    for (kernel, formula, part) in [("chain", "E5", shorter), ("unit", "E3", 0.5)] {
        let document = explained(&scratch, &format!("explain {kernel}.wave --grid 16 --no-check"));
        let first = &document["explanations"][0]["limiters"][0];
        assert_eq!(first["change"]["formula"], formula, "{first:#}");
        let predicted = first["change"]["predicted_cycles"].as_f64().unwrap();
        let expected = part * first["cycles"].as_f64().unwrap();
        assert!((predicted - expected).abs() < 0.2, "{kernel}: {predicted}, {expected}");
    }
}

#[test]
fn without_the_check_nothing_is_measured_and_all_else_is_the_same() {
    let scratch = scratch();
    let mut checked = explained(&scratch, "explain chain.wave --grid 16");
    let quick = explained(&scratch, "explain chain.wave --grid 16 --no-check");
    for limiter in checked["explanations"][0]["limiters"].as_array_mut().unwrap() {
        if let Some(change) = limiter["change"].as_object_mut() {
            assert!(change.remove("measured_cycles").is_some());
        }
    }
    assert_eq!(checked["explanations"], quick["explanations"]);
    assert_eq!(quick["quality"]["tried"], 0);
    let text = scratch.out("explain chain.wave --grid 16 --no-check");
    assert!(text.contains("1. latency of fp32_div: ") && !text.contains("when it was tried"), "{text}");
    assert!(text.contains("--set 'core.units[fp32].classes[fp32_div].latency_cycles=8'"), "{text}");
}

#[test]
fn what_the_user_has_set_is_where_changes_start() {
    let scratch = scratch();
    let document =
        explained(&scratch, "explain unit.wave --grid 16 --no-check --set core.units[sfu].lanes=2");
    assert_eq!(document["explanations"][0]["limiters"][0]["change"]["set"][0], "core.units[sfu].lanes=4");
    for (command, code, message) in [
        ("explain nothing.wave", 2, "there is no file `nothing.wave`"),
        ("explain sgemm --grid 4", 2, "--grid is for a kernel file"),
        ("explain chain.wave --workgroup 4096", 2, "cannot run on this machine"),
        ("explain chain.wave --max-cycles 100", 3, "has not ended after 100 cycles"),
        ("explain chain.wave --set core.l1.mshr=3", 2, "did you mean `core.l1.mshrs`?"),
    ] {
        let ran = scratch.run(command);
        assert_eq!(ran.code, code, "{command}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(message) && ran.out.is_empty(), "{command}: {}{}", ran.out, ran.err);
    }
}

/// The part of the page that the command writes.
const MARKS: (&str, &str) = ("<!-- the table -->\n", "<!-- its end -->\n");

#[test]
fn the_page_has_the_table_of_the_suite() {
    let path = "docs/explain.md";
    let page = std::fs::read_to_string(golden::root().join(path)).unwrap();
    let (before, rest) = page.split_once(MARKS.0).expect("where the table begins");
    let (_, after) = rest.split_once(MARKS.1).expect("where it ends");
    let table = Scratch::new().out("explain --size small --format markdown");
    let rows = table.lines().filter(|line| line.starts_with("| ")).count();
    assert!(rows > 60, "{table}");
    golden::check(path, &format!("{before}{}{table}{}{after}", MARKS.0, MARKS.1));
}
