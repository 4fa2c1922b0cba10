//! Golden messages about wrong input: `messages/NAME.wave` yields `messages/NAME.txt`.

use crate::golden;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Program, assemble, from_bytes, load, wbin};

const FOLDER: &str = "sim/isa/tests/programs/messages";

fn render(messages: &[Diagnostic]) -> String {
    messages.iter().map(|m| format!("{}\n\n", m.render(false))).collect()
}

#[test]
fn messages_of_the_assembler() {
    for name in golden::cases(FOLDER, &["container", "files"]) {
        let text = std::fs::read_to_string(golden::root().join(FOLDER).join(format!("{name}.wave")))
            .expect("a case");
        let messages = match from_bytes(text.as_bytes(), &format!("{name}.wave")) {
            Ok((_, warnings)) => warnings,
            Err(errors) => errors,
        };
        assert!(!messages.is_empty(), "{name} is accepted");
        golden::check(&format!("{FOLDER}/{name}.txt"), &render(&messages));
    }
}

/// A container with two kernels, altered by `change`.
fn damaged(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let text = ".kernel first\nnop\nhalt\n.end\n.kernel second\niadd r1, r2, r3\nhalt\n.end\n";
    let (program, _) = assemble(text, "x").expect("assembles");
    let mut bytes = wbin::write(&program);
    change(&mut bytes);
    bytes
}

#[test]
fn messages_of_the_container() {
    let word = |at: usize, value: u32| damaged(|b| b.splice(at..at + 4, value.to_le_bytes()).for_each(drop));
    let cases = [
        ("cut to 10 bytes", damaged(|b| b.truncate(10))),
        ("cut in the code", damaged(|b| b.truncate(40))),
        ("the last byte is missing", damaged(|b| b.truncate(b.len() - 1))),
        ("another magic", word(0, 0x464C_457F)),
        ("code inside the header", word(8, 16)),
        ("code at an odd byte", damaged(|b| b[8..16].copy_from_slice(&[33, 0, 0, 0, 4, 0, 0, 0]))),
        ("code of 19 bytes", word(12, 19)),
        ("symbols on top of the code", word(16, 40)),
        ("symbols past the file", word(16, 0xFFFF_FFF0)),
        ("no metadata", word(28, 0)),
        ("a million kernels", word(65, 1_000_000)),
        ("a name in the code", word(69, 34)),
        ("a name that is not UTF-8", damaged(|b| b[53] = 0xFF)),
        ("a name without an end", damaged(|b| b[64] = b'x')),
        ("257 registers", word(73, 257)),
        ("a kernel at an odd byte", word(93, 2)),
        ("a kernel past the code", word(97, 400)),
        ("a kernel one word past the code", word(129, 16)),
        ("kernels that overlap", word(97, 12)),
    ];
    let mut text = String::new();
    for (what, bytes) in cases {
        let error = wbin::read(&bytes, "k.wbin").err().unwrap_or_else(|| panic!("{what}: accepted"));
        text.push_str(&format!("--- {what}\n{}\n\n", error.render(false)));
    }
    golden::check(&format!("{FOLDER}/container.txt"), &text);
    assert!(wbin::read(&damaged(|_| ()), "k.wbin").is_ok());
}

/// What a newer version of the container may have, and what the reference assembler leaves out: read, with a warning
/// where something is passed over.
#[test]
fn containers_of_other_versions_are_read() {
    let plain = wbin::read(&damaged(|_| ()), "k.wbin").expect("a container");
    let word = |at: usize, value: u32| damaged(|b| b.splice(at..at + 4, value.to_le_bytes()).for_each(drop));
    let longer = |bytes: &mut Vec<u8>, sizes: bool| {
        bytes.extend([1, 2, 3, 4, 5]);
        if sizes {
            bytes[28] += 5;
        }
    };
    for (what, bytes, warning) in [
        ("version 2", word(4, 2), Some("version 2 of the container is not known: it is read as version 1")),
        ("flags", word(4, 0x10001), Some("flags are 0x0001")),
        (
            "longer metadata",
            damaged(|b| longer(b, true)),
            Some("5 bytes of metadata past the kernels' are ignored"),
        ),
        ("trailing data", damaged(|b| longer(b, false)), None),
    ] {
        let (program, warnings) =
            wbin::read_with_warnings(&bytes, "k.wbin").unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(program, plain, "{what}");
        assert_eq!(warnings.len(), usize::from(warning.is_some()), "{what}: {warnings:?}");
        assert!(warning.is_none_or(|text| warnings[0].message.contains(text)), "{what}: {warnings:?}");
    }
    let program = wbin::read(&word(73, 0), "k.wbin").expect("no registers stated");
    assert_eq!(program.kernels[0].registers, 32);
    // Without names, the reference assembler's metadata is said to begin at byte 0.
    let nameless = damaged(|bytes| {
        bytes[69..73].fill(0);
        bytes[101..105].fill(0);
        bytes.drain(52..65);
        bytes[16..28].fill(0);
    });
    let program = wbin::read(&nameless, "k.wbin").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((program.code, program.kernels.len()), (plain.code, 2));
}

/// The reference assembler encodes compare and swap as an atomic add with a third source.
#[test]
fn an_atomic_add_with_a_third_source_gets_a_warning() {
    let text = ".kernel k\natomic_add r1, r2, r3, .device\nlocal_atomic_add r1, r2, r3\nhalt\n.end\n";
    let (mut program, _) = assemble(text, "k").expect("assembles");
    let warnings =
        |program: &Program| wbin::read_with_warnings(&wbin::write(program), "k.wbin").expect("read").1;
    assert_eq!(warnings(&program), []);
    program.code[1] |= 4 << 16;
    let found = warnings(&program);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.contains("kernel `k`, pc 0x0000: this atomic add names a third source"),
        "{found:?}"
    );
    program.code[3] |= 5 << 16;
    let found = warnings(&program);
    assert_eq!(found.len(), 1, "one for the file");
    assert!(found[0].message.contains("as 1 more of the file do"), "{found:?}");
}

/// A message about a line of a million characters is short, and is there at once.
#[test]
fn long_lines_are_cut_around_the_mistake() {
    let long = "x".repeat(1_000_000);
    for line in [
        format!("{long} r0, 1"),
        format!("mov_im r0, 1 ; {long}"),
        format!(".word {long}"),
        format!("call {long}"),
    ] {
        let text = format!(".kernel k\n.registers 4\n{line}\n  halt\n.end\n");
        let errors = assemble(&text, "k.wave").expect_err("a mistake");
        let shown = render(&errors);
        assert!(shown.len() < 2000, "{} bytes", shown.len());
        assert!(shown.contains("k.wave:3:"), "{shown}");
    }
}

#[test]
fn messages_of_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("saxpy.wave"), ".kernel k\nhalt\n.end\n").expect("written");
    std::fs::write(path("latin1.wave"), b".kernel k ; gr\xF6\xDFe\nhalt\n.end\n").expect("written");
    std::fs::write(path("wide.wave"), b"\xFF\xFE.\0k\0").expect("written");
    std::fs::write(path("empty.wave"), "").expect("written");
    std::fs::write(path("text.wbin"), ".kernel k\nhalt\n.end\n").expect("written");
    let mut text = String::new();
    for name in
        ["saxpi.wave", "nothing/like/this.wave", "", "latin1.wave", "wide.wave", "empty.wave", "text.wbin"]
    {
        let errors = load(&path(name)).err().unwrap_or_else(|| panic!("{name}: accepted"));
        let shown = render(&errors).replace(&folder.path().display().to_string(), "FOLDER");
        text.push_str(&format!("--- {name}\n{shown}"));
    }
    golden::check(&format!("{FOLDER}/files.txt"), &text);
}

/// The content of a file decides its format, not its name.
#[test]
fn containers_and_text_are_told_apart() {
    let loaded = |bytes: &[u8], name: &str| from_bytes(bytes, name).map(|(program, _)| program);
    let bytes = damaged(|_| ());
    let container = loaded(&bytes, "kernel.bin");
    assert_eq!(container.as_ref().map(|p| p.kernels.len()), Ok(2));
    assert_eq!(container, loaded(&bytes, "kernel.wave"));
    let text = loaded(b".kernel k\nhalt\n.end\n", "kernel.txt").map(|p| Program { source: None, ..p });
    assert_eq!(text.map(|p| p.code), Ok(vec![0x3F00_0090]));
}
