//! The container and bare code: what is taken, and what is wrong.

use crate::text::contents;
use wave_compile::encoding::{Error, Fault};
use wave_compile::ir::Place;
use wave_compile::pica::{PicaOptions, assemble, decode, decode_code, is_shbin};

fn sample() -> Vec<u8> {
    let text = "\
.fvec matrix[4]
.in position
.out - position o0
.out - color o1
.constf half(0.5, 1, 2, 3)
.consti turns(1, 2, 3, 0)
.constb on(true)
.proc main
    dp4 o0.x, half, v0
    mov o1, c0
    ifu b3
        nop
    .end
    end
.end
";
    assemble(text, "test.pica").expect("it is right")
}

fn error(bytes: &[u8]) -> Error {
    decode(bytes, &PicaOptions::default()).expect_err("it is wrong")
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}

/// The file with other bytes at a place.
fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = sample();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

#[test]
fn every_cut_of_a_file_is_an_error_with_a_byte() {
    let file = sample();
    assert!(decode(&file, &PicaOptions::default()).is_ok());
    for length in 0..file.len() {
        // Behind the last symbol are bytes that nobody reads.
        if let Err(error) = decode(&file[..length], &PicaOptions::default()) {
            assert!(error.offset.is_some_and(|offset| offset <= file.len() as u64), "{length}: {error}");
            assert_eq!(error.fault, Fault::Invalid, "{error}");
        } else {
            panic!("{length} of {} bytes are taken", file.len());
        }
    }
    assert!(is_shbin(&file) && !is_shbin(b"DVL") && !is_shbin(b"\0asm"));
}

#[test]
fn what_is_wrong_is_said_with_its_byte() {
    let file = sample();
    let (program, section) = (12, word(&file, 8));
    let (constants, outputs) = (section + word(&file, section + 24), section + word(&file, section + 40));
    let names = section + word(&file, section + 48);
    let code = program + word(&file, program + 8);
    for (bytes, offset, message) in [
        (with(0, b"DVLX"), 0, "does not begin with DVLB"),
        (with(4, &[65, 0, 0, 0]), 4, "the number of shaders is 65"),
        (with(4, &[0, 0, 0, 0]), 8, "does not begin with DVLP"),
        (with(program, b"DVLQ"), program, "does not begin with DVLP"),
        (with(program + 8, &[0, 0, 1, 0]), program + 0x10000, "the code begins at byte"),
        (with(program + 12, &[1, 16, 0, 0]), program + 12, "the number of words is 4097"),
        (with(program + 20, &[129, 0, 0, 0]), program + 20, "the number of descriptors is 129"),
        (with(section, b"DVLF"), section, "does not begin with DVLE"),
        (with(section + 8, &[5, 0, 0, 0]), section + 8, "the entry is word 5, and there are 5"),
        (with(section + 28, &[1, 16, 0, 0]), section + 28, "the table of constants is 4097"),
        (with(constants, &[3]), constants, "a constant of kind 3"),
        (with(constants + 2, &[16]), constants, "a constant for register 16"),
        (with(constants + 22, &[4]), constants + 20, "a constant for register 4"),
        (with(constants + 42, &[96]), constants + 40, "a constant for register 96"),
        (with(outputs + 2, &[16]), outputs, "output register 16"),
        (with(names, &[0, 1]), names, "no name begins at symbol 0x100"),
        (with(code, &[0, 0, 0, 0x40]), code, "opcode 0x10 is none"),
        (with(code + 4, &[9, 0, 0, 0]), code + 4, "descriptor 9 is named, and there are 2"),
        (with(code, &[0, 0, 0, 0xBE]), code, "relation 6 of `cmp` is none"),
        (with(code + 16, &[0, 0, 0, 0x84]), code + 16, "the shader goes on to word 5, and has 5"),
        (with(code + 16, &[0, 0, 0, 0x80]), code + 16, "a break stands in no loop of its procedure"),
    ] {
        let error = error(&bytes);
        assert!(error.message.contains(message), "{message}: {error}");
        assert_eq!(error.offset, Some(offset as u64), "{error}");
        assert_eq!(error.fault, Fault::Invalid);
    }
    for (bytes, offset, message) in [
        (with(section + 6, &[1]), section, "a geometry shader"),
        (with(section + 6, &[7]), section, "a shader of kind 7"),
        (with(code + 8, &[0, 0, 0, 0xA8]), code + 8, "`emit` of geometry shaders"),
        (with(code + 8, &[0, 0, 0, 0xAC]), code + 8, "`setemit` of geometry shaders"),
        // A procedure that calls itself.
        (with(code, &[2, 0, 0, 0x90]), code, "the procedure at word 0 is called by itself"),
    ] {
        let error = error(&bytes);
        assert!(error.message.contains(message), "{message}: {error}");
        assert_eq!((error.offset, error.fault), (Some(offset as u64), Fault::Refused));
    }
}

/// Words that do not count in any way change nothing.
#[test]
fn places_are_those_of_the_words() {
    let file = sample();
    let decoded = decode(&file, &PicaOptions::default()).expect("it is right");
    let code = 12 + word(&file, 20);
    let listing = &decoded.listing;
    let lines: Vec<&str> = listing.text().lines().collect();
    for (number, expected) in
        ["dp4 o0.x, c95, v0", "mov o1, c0", "ifu b3", "nop", "end"].into_iter().enumerate()
    {
        let place = Place((code + 4 * number + 3) as u32);
        let line = lines[listing.line(place).expect("a line") as usize - 1];
        assert!(line.trim_start().starts_with(expected), "{line}");
        assert!(line.ends_with(&format!("@{number}")), "{line}");
    }
    let function = &decoded.module.functions[decoded.kernels[0].function];
    let places =
        function.blocks.values().flat_map(|body| &body.instructions).map(|instruction| instruction.at);
    let mut found: Vec<u32> = places.map(|place| place.0).collect();
    found.dedup();
    assert!(
        found.iter().all(|&place| place >= code as u32 + 3 && (place as usize - code) % 4 == 3),
        "{found:?}"
    );
    // Each uniform that is used and no constant is loaded, once, and no other.
    let text = decoded.module.to_string();
    assert_eq!(text.matches("load").count(), 4 + 4 + 1, "{text}");
}

#[test]
fn bare_code_has_bounds() {
    let options = PicaOptions::default();
    let (code, descriptors, _) = contents(&sample());
    let decoded = decode_code(&code, &descriptors, 0, &options).expect("it is right");
    assert_eq!(decoded.kernels[0].name, "main");
    // Without the file there are no constants: all uniforms are loaded.
    assert_eq!(decoded.module.to_string().matches("load").count(), 4 + 8 + 1);
    for (code, descriptors, entry, message) in [
        (&code[..], &descriptors[..], 5, "the entry is word 5"),
        (&[], &[], 0, "the entry is word 0"),
        (&[0; 4097], &[], 0, "4097 words of code"),
        (&code[..], &[0; 129], 0, "129 descriptors"),
    ] {
        let error = decode_code(code, descriptors, entry, &options).expect_err("it is wrong");
        assert!(error.message.contains(message), "{error}");
    }
}

/// The early text has fewer opcodes, and another `nop`.
#[test]
fn the_early_text_has_its_opcodes() {
    let options = PicaOptions { early: true, ..PicaOptions::default() };
    let early = [0, 1, 2, 8, 0xC, 0xD, 0xE, 0xF, 0x13, 0x21, 0x22, 0x24, 0x26, 0x27, 0x28, 0x2E, 0x2F];
    for code in 0..64 {
        let words = [code << 26 | 1 << 10, 0x22 << 26];
        let today = decode_code(&words, &[15], 0, &PicaOptions::default());
        let then = decode_code(&words, &[15], 0, &options);
        let is_known = |result: Result<_, Error>| {
            result.map_or_else(
                |error| !error.message.contains("is none"),
                |_: wave_compile::pica::Decoded| true,
            )
        };
        assert_eq!(is_known(then), early.contains(&code), "{code:#x}");
        assert_eq!(is_known(today), !matches!(code, 0x10 | 0x11 | 0x14..=0x17 | 0x1C..=0x1F), "{code:#x}");
    }
    // 0x21 is `nop` today, and there is no end behind it.
    let words = [0x21 << 26];
    assert!(decode_code(&words, &[], 0, &options).is_ok());
    assert!(decode_code(&words, &[], 0, &PicaOptions::default()).is_err());
}

/// Calls inside one another double the shader each time; this ends.
#[test]
fn shaders_have_a_size() {
    let mut text = ".proc p0\nnop\n.end\n".to_owned();
    for number in 1..30 {
        text += &format!(".proc p{number}\ncall p{}\ncall p{}\nnop\n.end\n", number - 1, number - 1);
    }
    text += ".proc main\ncall p29\nend\n.end\n";
    let error = error(&assemble(&text, "test.pica").expect("it is right"));
    assert_eq!(error.fault, Fault::Refused);
    assert!(error.message.contains("more than 16384 instructions"), "{error}");
    let deep = |count: usize| {
        format!(".proc main\n{}nop\n{}end\n.end\n", "ifu b0\n".repeat(count), ".end\n".repeat(count))
    };
    let file = |count| assemble(&deep(count), "test.pica").expect("it is right");
    assert!(decode(&file(32), &PicaOptions::default()).is_ok());
    assert!(error_of(&file(33)).contains("more than 32 calls, ifs and loops"));
    // Sixteen sources by an address each, with 96 constants: many instructions, and a bound.
    let constants: String = (0..96).map(|number| format!(".setf c{number}(1, 2, 3, 4)\n")).collect();
    let body = "mad r0, r1, c0[a0.x], r2\n".repeat(4000);
    let file =
        assemble(&format!("{constants}.proc main\n{body}end\n.end\n"), "test.pica").expect("it is right");
    assert!(error_of(&file).contains("the shader becomes more than 524288 instructions"));
}

fn error_of(bytes: &[u8]) -> String {
    error(bytes).message
}
