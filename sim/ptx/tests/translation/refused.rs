//! What has no equivalent is refused, with its place.

use wave_isa::program::assemble;
use wave_ptx::{Options, entry_name, translate};

/// What is said of a kernel with this code.
fn said(code: &str) -> Vec<String> {
    let (program, _) = assemble(&format!(".kernel k\n{code}\n.end\n"), "k.wave").expect("it assembles");
    match translate(&program, &[0], &Options::default()) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .iter()
            .map(|error| format!("{}: {}", error.place.as_ref().map_or(0, |place| place.line), error.message))
            .collect(),
    }
}

#[test]
fn what_has_no_equivalent_is_refused_by_name() {
    for (code, message) in [
        (
            "call f\nhalt\nf:\nif p1\ncall f\nendif\nreturn",
            "6: a recursive call has no equivalent in PTX: it would need a stack of every register",
        ),
        (
            "call f\nhalt\nf:\nif p1\nreturn\nendif\nreturn",
            "6: `return` inside an `if` or `loop` of a function",
        ),
        ("if p1\nendif\nendif\nhalt", "4: `endif` without its `if` or `loop`"),
        ("break p1\nhalt", "2: `break` outside a loop"),
        ("if p1\nelse\nelse\nendif\nhalt", "4: a second `else` of one `if`"),
        ("call 0x4\nmov_imm r1, 0x3F0000A0\nhalt", "2: a call into the second word of an instruction"),
        (
            "loop\ncall f\nbreak p0\nif p1\nf:\nbreak p1\nreturn\nendif\nendloop\nhalt",
            "7: `break` leaves a loop outside of its function",
        ),
    ] {
        let said = said(code);
        assert!(said.iter().any(|said| said == message), "{code:?}: {said:?}");
    }
    assert_eq!(said("halt\n.word 0xFFFFFFFF"), Vec::<String>::new(), "what is not reached may be anything");
}

#[test]
fn names_become_names_of_ptx() {
    for (name, entry) in [
        ("saxpy", "saxpy"),
        ("add", "add_kernel"),
        ("", "kernel"),
        ("9 lives", "kernel9_lives"),
        ("größe", "gr__e"),
        ("wave_round", "wave_round_kernel"),
    ] {
        assert_eq!(entry_name(name), entry);
    }
}
