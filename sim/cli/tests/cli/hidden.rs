//! Names and lines out of files that others wrote, with what a terminal obeys: escape sequences, controls of C1,
//! controls of the writing direction. Whatever prints them prints escapes.

use super::scratch::Scratch;
use serde_json::Value;
use wave_isa::visible::is_hidden;

/// It clears the screen, moves the cursor, and turns the writing direction.
const NAME: &str = "\u{1b}[2J\u{9b}H\u{202e}";
/// As it is shown.
const SHOWN: &str = "\\u001b[2J\\u009bH\\u202e";

const KERNEL: &str = "\
.kernel tenletters
.registers 8
    mov_sr r0, sr_thread_id_x
    mov_imm r1, 2
    shl r2, r0, r1
    device_store_u32 r2, r0
.end
";

const LITMUS: &str = "\
test NAME
location x
thread A
    store x, 1
thread B
    r0 = load x
weak B.r0 = 2
";

/// Commands that print a name of that kind.
const COMMANDS: &[&str] = &[
    // A kernel.
    "h.wbin --config tiny",
    "h.wbin --config tiny --format json",
    "h.wbin --config tiny --functional",
    "h.wbin --config tiny --kernel k",
    "h.wbin --config tiny --set-reg 9:1",
    "h.wbin --config tiny --workgroup 4000",
    "h.wbin --config tiny --max-cycles 3",
    "two.ron --config tiny --trace",
    "dis h.wbin",
    "dis h.wbin --offsets --raw",
    "check fault.wbin --config tiny",
    "ptx h.wbin",
    "debug fault.wbin --config tiny -x run",
    // A configuration.
    "h.wbin --config named.ron --max-cycles 3",
    "config show named.ron",
    "config dot named.ron",
    "config area named.ron",
    "explain h.wbin --config named.ron",
    "sweep --config named.ron h.wbin",
    "litmus --config named.ron MP --runs 3 --format json",
    // Lines.
    "wrong.wave",
    "wrong.ron",
    "--config wrong_config.ron",
    "litmus NAME.litmus --runs 3",
    "litmus wrong.litmus",
    // Files that are there and that are not, and words.
    "NAME.wave --config tiny",
    "NAME.wave.wave",
    "--config NAME.ron",
    "check NAME.wave --kernel k",
    "debug NAME.wave --config tiny -x NAME",
    "compare h.wbin NAME.wave --config tiny",
    "stats NAME",
    "h.wbin --config tiny --set NAME=1",
    "trace show NAME.wvfi",
];

fn scratch() -> Scratch {
    let scratch = Scratch::with(&[
        ("k.wave", KERNEL),
        ("fault.wave", &KERNEL.replace("mov_imm r1, 2", "mov_imm r1, 31")),
        ("named.ron", &format!("(base: \"tiny.ron\", name: \"{NAME}\")")),
        ("two.ron", "(source: \"h.wbin\", steps: [run(grid: 1, workgroup: 4), run(grid: 2, workgroup: 4)])"),
        ("wrong.wave", &KERNEL.replace("mov_imm r1, 2", &format!("mov_im r1, 2 ; {NAME}"))),
        ("wrong.ron", &format!("(source: \"{NAME}\", steps: [run(grid: 1, grd: 1)])")),
        ("wrong_config.ron", &format!("(base: \"tiny.ron\", nam: \"{NAME}\")")),
        ("wrong.litmus", &LITMUS.replace("r0 = load x", &format!("r0 = lod x # {NAME}"))),
        (&format!("{NAME}.litmus"), &LITMUS.replace("NAME", NAME)),
        (&format!("{NAME}.wave"), KERNEL),
    ]);
    for name in ["h", "fault"] {
        let source = if name == "h" { "k" } else { name };
        scratch.out(&format!("asm {source}.wave"));
        let mut bytes = scratch.read(&format!("{source}.wbin"));
        let at = bytes.windows(10).position(|bytes| bytes == b"tenletters").unwrap();
        bytes[at..at + NAME.len()].copy_from_slice(NAME.as_bytes());
        scratch.write(&format!("{name}.wbin"), &bytes);
    }
    scratch
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let scratch = scratch();
    let mut silent = Vec::new();
    for command in COMMANDS {
        let ran = scratch.run(&command.replace("NAME", NAME));
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains(is_hidden), "wave-sim {command}: {text:?}");
        }
        if !(ran.out + &ran.err).contains("[2J") {
            silent.push(format!("{command}: {} {}", ran.code, ran.err));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// The values of JSON are those of the file, and so are those of files that are written.
#[test]
fn json_and_files_keep_a_name_as_it_is() {
    let scratch = scratch();
    let text = scratch.out("h.wbin --config named.ron --format json --report r.html");
    assert!(text.contains(SHOWN), "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["config"]["name"], NAME);
    assert!(text.contains(&format!("\"kernel\": \"{SHOWN}\"")), "{text}");
    let page = String::from_utf8(scratch.read("r.html")).unwrap();
    assert!(page.contains(NAME), "the page has the name");
}

/// What a file that is not ours to show holds.
const SECRET: &str = "root:x:0:0:hunter2:/root\n";

/// Files out of a foreign folder name files of the user, and each message names such a file without quoting it.
#[test]
fn a_file_that_another_one_names_is_quoted_only_if_its_name_says_what_it_is() {
    let kernel = "#include <wave.h>\nKERNEL void k(unsigned *out) { out[global_id_x()] = global_id_x(); }\n";
    let scratch = Scratch::with(&[
        ("passwd", SECRET),
        ("k.wave", KERNEL),
        ("source.ron", "(source: \"passwd\", steps: [run(grid: 1, workgroup: 4)])"),
        ("base.ron", "(base: \"passwd\")"),
        ("part.ron", "(base: \"tiny.ron\", dram: (part: \"passwd\"))"),
        ("plan.ron", "(config: \"passwd\", axes: {\"cores\": [\"1\"]}, kernels: [\"k.wave\"])"),
        (
            "kernels.ron",
            "(config: \"tiny.ron\", axes: {\"cores\": [\"1\"]}, kernels: [\"k.wave\", \"passwd\"])",
        ),
        ("include.c", "#include \"passwd\"\n"),
        ("line.c", &kernel.replacen('\n', "\n#line 1 \"passwd\"\n", 1)),
    ]);
    for command in [
        "source.ron --config tiny",
        "--config base.ron",
        "--config part.ron",
        "sweep --plan plan.ron",
        "sweep --plan kernels.ron",
        "check include.c",
    ] {
        let ran = scratch.run(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        assert!(ran.err.contains("passwd"), "{command}: {}", ran.err);
        for word in ["root", "hunter2"] {
            assert!(!(ran.err.contains(word) || ran.out.contains(word)), "{command}: {}{}", ran.out, ran.err);
        }
    }
    // Lines of the source of a module are shown, and the module says which file that is.
    let text = scratch.out("dis line.c");
    assert!(text.contains("device_store_u32"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    scratch.write("line.h", b"int shown;\n");
    scratch.write(
        "line.c",
        std::str::from_utf8(&scratch.read("line.c")).unwrap().replace("passwd", "line.h").as_bytes(),
    );
    assert!(scratch.out("dis line.c").contains("int shown;"));
}
