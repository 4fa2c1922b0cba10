//! The commands that run nothing: asm, dis, check, config, stats, completions, help.

use super::golden;
use super::scratch::Scratch;

const KERNEL: &str = "\
.kernel k
.registers 8
    mov_sr r1, sr_thread_id_x
    ucmp_lt p1, r1, r0
    if p1
    iadd r2, r1, r0
    endif
    halt
.end
";

#[test]
fn a_program_goes_through_asm_and_dis_and_back() {
    let scratch = Scratch::with(&[("k.wave", KERNEL)]);
    assert_eq!(scratch.out("asm k.wave"), "");
    assert!(scratch.read("k.wbin").starts_with(b"WAVE"));
    let text = scratch.out("dis k.wbin");
    assert!(text.starts_with(".kernel k\n.registers 8\n"), "{text}");
    scratch.write("again.wave", text.as_bytes());
    scratch.out("asm again.wave -o other.bin");
    assert_eq!(scratch.read("k.wbin"), scratch.read("other.bin"));
    scratch.out("dis other.bin --output text");
    assert_eq!(scratch.read("text"), text.into_bytes());
}

#[test]
fn dis_lists_places_and_words_and_leaves_directives_out() {
    let scratch = Scratch::with(&[("k.wave", KERNEL)]);
    scratch.out("asm k.wave");
    let head = ".kernel k\n.registers 8\n";
    let text = scratch.out("dis k.wbin --offsets");
    assert!(
        text.starts_with(&format!(
            "{head}0x0000: mov_sr r1, sr_thread_id_x\n0x0004: ucmp_lt p1, r1, r0\n0x000C: if p1\n"
        )),
        "{text}"
    );
    assert!(text.ends_with("0x001C: halt\n.end\n"), "{text}");
    let text = scratch.out("dis k.wbin --raw");
    assert!(text.contains("\n3F000100  if p1\n00020100  iadd r2, r1, r0\n00000000\n"), "{text}");
    let text = scratch.out("dis k.wbin --offsets --raw --no-directives");
    assert!(
        text.contains("\n0x0010: 00020100  iadd r2, r1, r0\n        00000000\n0x0018: 3F000020  endif\n"),
        "{text}"
    );
    assert_eq!(text.lines().next().map(|line| &line[..8]), Some("0x0000: "));
    assert!(!text.contains('.'), "{text}");
    let plain = scratch.out("dis k.wbin --no-directives");
    assert_eq!(plain.lines().count(), 6, "{plain}");
    assert!(scratch.out("dis k.wbin").contains(&plain), "{plain}");
}

#[test]
fn asm_shows_warnings_and_goes_on() {
    let scratch = Scratch::with(&[("w.wave", "before:\n.kernel w\n.registers 4\n halt\n.end\n")]);
    let ran = scratch.run("asm w.wave");
    assert_eq!(ran.code, 0);
    assert!(ran.err.starts_with("warning: "), "{}", ran.err);
    assert!(scratch.path("w.wbin").exists());
}

#[test]
fn check_prints_figures_and_ends_with_2_on_errors() {
    let scratch = Scratch::with(&[("k.wave", KERNEL)]);
    let ran = scratch.run("check k.wave");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "kernel k: nothing to remark",
        "6 instructions",
        "1 if, 0 loops; 1 of them may part lanes",
        "arguments  r0",
    ] {
        assert!(ran.out.contains(part), "no {part} in\n{}", ran.out);
    }
    // The assembler refuses an `if` that is never closed; as a word it is code.
    let open = KERNEL.replace("    endif\n", "").replace("if p1", ".word 0x3f000100");
    scratch.write("open.wave", open.as_bytes());
    let ran = scratch.run("check k.wave open.wave");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error: this `if` is never closed"), "{}", ran.err);
    assert!(ran.out.contains("kernel k: 1 error, 0 warnings"), "{}", ran.out);
    let dot = scratch.out("check k.wave --dot");
    assert!(dot.starts_with("digraph \"k\" {"), "{dot}");
    assert_eq!(dot.matches(" -> ").count(), 3);
}

#[test]
fn check_knows_the_machine() {
    let scratch = Scratch::with(&[
        ("f64.wave", ".kernel f\n.registers 8\n dadd r0, r2, r4\n halt\n.end\n"),
        ("no_f64.ron", "(capabilities: (f64: false))"),
    ]);
    assert_eq!(scratch.run("check f64.wave --config gpu").code, 0);
    assert_eq!(scratch.run("check f64.wave --config no_f64.ron").code, 2);
}

#[test]
fn config_commands_print_what_the_library_knows() {
    let scratch = Scratch::new();
    let list = scratch.out("config list");
    for preset in wave_machine::config::PRESETS {
        assert!(list.contains(preset.file), "{list}");
    }
    assert_eq!(scratch.out("config show tiny"), wave_machine::config::show("tiny").unwrap());
    assert_eq!(scratch.out("config show"), scratch.out("config show gpu.ron"));
    assert!(scratch.out("config explain core.issue.width").starts_with("core.issue.width\n"));
    assert!(scratch.out("config explain").contains("core_clock_mhz"));
    let diff = scratch.out("config diff gpu.ron tiny.ron");
    assert!(diff.lines().any(|l| l.split_whitespace().eq(["cores", "16", "2"])), "{diff}");
    assert_eq!(scratch.out("config schema"), wave_machine::config::schema());
}

#[test]
fn stats_lists_each_statistic_with_unit_and_meaning() {
    let scratch = Scratch::new();
    let text = scratch.out("stats");
    assert!(text.contains("kernel.cycles (cycles)\n    Cycles of the launch: from"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&scratch.out("stats --format json")).unwrap();
    let rows = json.as_array().unwrap();
    let mut names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(text.lines().filter(|l| !l.starts_with(' ')).count(), rows.len());
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name is declared twice");
    for row in rows {
        assert!(
            !row["unit"].as_str().unwrap().is_empty() && row["doc"].as_str().unwrap().ends_with('.'),
            "{row}"
        );
    }
}

#[test]
fn completions_know_the_flags_of_every_shell() {
    let scratch = Scratch::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(scratch.out(&format!("completions {shell}")).contains("fill-iota"), "{shell}");
    }
}

#[test]
fn help_is_on_standard_output_and_asking_nothing_is_a_mistake() {
    let scratch = Scratch::new();
    assert!(scratch.out("--help").contains("--fill-iota <OFFSET:TYPE:COUNT:SCALE>"));
    assert!(scratch.out("--version").starts_with("wave-sim "));
    let ran = scratch.run("");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("wave-sim --config gpu.ron"), "{}", ran.err);
}

#[test]
#[cfg(target_os = "linux")]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() {
    use std::process::{Command, Stdio};
    let wave_sim = || Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    let mut child = wave_sim().args(["config", "schema"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ran = wave_sim().args(["config", "schema"]).stdout(full).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("no space left"));
}

#[test]
fn the_manual_of_statistics_is_current_and_has_them_all() {
    let manual = wave_study::summary::statistics::manual();
    golden::check("docs/statistics.md", &manual);
    let rows = manual.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, wave_study::summary::statistics::declared().len());
}
