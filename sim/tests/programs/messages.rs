//! Golden messages about wrong input: `messages/NAME.wave` yields `messages/NAME.txt`.

use crate::golden;
use wave_sim::diagnostic::Diagnostic;
use wave_sim::program::{Program, assemble, from_bytes, load, wbin};

const FOLDER: &str = "sim/tests/programs/messages";

fn render(messages: &[Diagnostic]) -> String {
    messages.iter().map(|m| format!("{}\n\n", m.render(false))).collect()
}

#[test]
fn messages_of_the_assembler() {
    for name in golden::cases(FOLDER, &["container", "files"]) {
        let text = std::fs::read_to_string(golden::root().join(FOLDER).join(format!("{name}.wave")))
            .expect("a case");
        let messages = match assemble(&text, &format!("{name}.wave")) {
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
        ("version 2", word(4, 2)),
        ("flags", word(4, 0x10001)),
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
        ("no registers", word(73, 0)),
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
