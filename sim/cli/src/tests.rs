//! Tests of the flags' values.

use super::address::{self, Address, Span};
use super::args::Cli;
use super::dumps::Dump;
use super::values::{self, Fill, element_text};
use clap::{CommandFactory, Parser};
use proptest::prelude::*;
use wave_study::launch::ElementType;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn dimensions_take_one_to_three_sizes() {
    let read = |text| values::dimensions(text).map(|d| d.0);
    assert_eq!(read("4"), Ok([4, 1, 1]));
    assert_eq!(read("4,2"), Ok([4, 2, 1]));
    assert_eq!(read("4, 0x10, 1_0"), Ok([4, 16, 10]));
    assert_eq!(read("4294967295"), Ok([u32::MAX, 1, 1]));
    for wrong in ["", "0", "1,2,3,4", "1,,1", "-1", "1.5", "4294967296", "65536,65536", "x"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn registers_take_integers_and_floats() {
    let read = |text: &str| values::register_value(text).map(|r| (r.register, r.value));
    assert_eq!(read("0:4096"), Ok((0, 4096)));
    assert_eq!(read("r255:0xffffffff"), Ok((255, u32::MAX)));
    assert_eq!(read("3:-1"), Ok((3, u32::MAX)));
    assert_eq!(read("3:1.0"), Ok((3, 0x3F80_0000)));
    assert_eq!(read("3:-2.5e0"), Ok((3, 0xC020_0000)));
    assert_eq!(read("3:f32:-0"), Ok((3, 0x8000_0000)));
    assert_eq!(read("3:hex:7fc00001"), Ok((3, 0x7FC0_0001)));
    assert_eq!(read("3:i8:-1"), Ok((3, u32::MAX)));
    for wrong in [
        "",
        "3",
        "256:0",
        "r:0",
        "3:",
        "3:4294967296",
        "3:-2147483649",
        "x:0",
        "3:1e39",
        "3:u8:256",
        "3:f64:1",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn files_may_have_colons_in_their_names() {
    let arg = values::memory_file("0x10:a:b.bin").unwrap();
    assert_eq!((arg.offset, arg.file.to_str()), (16, Some("a:b.bin")));
    let save = |text| address::save(text).map(|save| (save.span, save.file.to_str().unwrap().to_owned()));
    let of = |text: &str| Address::read(text).unwrap();
    assert_eq!(save("1:2:c:d"), Ok((Span::Elements(Address::Byte(1), 2, 1), "c:d".to_owned())));
    assert_eq!(save("out:2KiB:c"), Ok((Span::Elements(of("out"), 2048, 1), "c".to_owned())));
    assert_eq!(save("out+8:c:d"), Ok((Span::Rest(of("out+8")), "c:d".to_owned())));
    assert_eq!(save("0.1:c"), Ok((Span::Rest(of("0.1")), "c".to_owned())));
    for wrong in ["", "5", "5:", "-5:x", "5.0:x", "out:x"] {
        assert!(values::memory_file(wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "5", "5:", "-5:x", "5.0.0:x", "5:x", "out:", "out"] {
        assert!(address::save(wrong).is_err(), "{wrong}");
    }
}

fn written(fill: &Fill) -> Vec<u8> {
    let mut memory = vec![0xAA; fill.bytes() as usize];
    fill.write(&mut memory);
    memory
}

#[test]
fn iotas_are_multiples_of_the_scale() {
    let bytes = |text: &str| written(&values::fill_iota(text).unwrap());
    assert_eq!(bytes("0:u8:4:2"), [0, 2, 4, 6]);
    assert_eq!(bytes("0:u16:3:0x100"), [0, 0, 0, 1, 0, 2]);
    assert_eq!(bytes("0:i32:2:-1"), [0, 0, 0, 0, 255, 255, 255, 255]);
    assert_eq!(bytes("0:u32:2"), [0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(bytes("0:f32:2:0.5"), [0f32.to_le_bytes(), 0.5f32.to_le_bytes()].concat());
    assert_eq!(bytes("0:f32:2:-2"), [(-0f32).to_le_bytes(), (-2f32).to_le_bytes()].concat());
    // 1.0 is 0x3C00 in f16 and 0x3F80 in bf16.
    assert_eq!(bytes("0:f16:2:1"), [0, 0, 0x00, 0x3C]);
    assert_eq!(bytes("0:bf16:2:1"), [0, 0, 0x80, 0x3F]);
    assert_eq!(bytes("0:f64:2:0.1"), [0f64.to_le_bytes(), 0.1f64.to_le_bytes()].concat());
    assert_eq!(written(&values::fill_zero("8:bf16:2").unwrap()), [0; 4]);
    assert_eq!(bytes("0:i8:3:-64"), [0, 0xC0, 0x80]);
    assert_eq!(bytes("0:i16:2:-32768"), [0, 0, 0, 0x80]);
    assert_eq!(bytes("0:i64:2:-2"), [[0; 8], (-2i64).to_le_bytes()].concat());
    assert_eq!(bytes("0:u64:2:0xFFFFFFFFFFFFFFFF"), [[0; 8], [0xFF; 8]].concat());
    assert_eq!(bytes("0:f64:2:1e300"), [0f64.to_le_bytes(), 1e300f64.to_le_bytes()].concat());
    assert_eq!(bytes("0:f32:2:0x1p-149"), [0, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn elements_that_a_type_does_not_have_are_refused() {
    assert!(values::fill_iota("0:u8:256:1").is_ok());
    assert!(values::fill_iota("0:u8:257:1").is_err());
    assert!(values::fill_iota("0:u8:2:-1").is_err());
    assert!(values::fill_iota("0:i32:2:-2147483648").is_ok());
    assert!(values::fill_iota("0:i32:2:-2147483649").is_err());
    assert!(values::fill_iota("0:u32:2:1.5").is_err());
    assert!(values::fill_iota("0:f16:2:65504").is_ok());
    assert!(values::fill_iota("0:f16:2:65520").is_err());
    assert!(values::fill_iota("0:f80:2:1").is_err());
    assert!(values::fill_iota("0:i8:3:64").is_err());
    assert!(values::fill_iota("0:u64:2:0x10000000000000000").is_err());
    assert!(values::fill_iota("0:i64:3:0x4000000000000000").is_err());
    assert!(values::fill_iota("0:f64:3:1e308").is_err());
    // A single element is 0 whatever the scale.
    assert!(values::fill_iota("0:u8:1:1000").is_ok());
    assert!(values::fill_iota("0:u8:0:1000").is_ok());
}

#[test]
fn dumps_keep_the_order_of_the_command_line() {
    let line = "wave-sim k.wave --dump-f32 0:1 --dump-memory 0:2 --dump-u8 4:1 --dump-f32 8:1";
    let cli = Cli::try_parse_from(line.split(' ')).unwrap();
    let flags: Vec<String> = cli.run.output.dumps.0.iter().map(Dump::flag).collect();
    assert_eq!(flags, ["--dump-f32", "--dump-memory", "--dump-u8", "--dump-f32"]);
    let starts: Vec<u64> = cli.run.output.dumps.0.iter().map(|d| d.span().known().unwrap().start).collect();
    assert_eq!(starts, [0, 0, 4, 8]);
}

#[test]
fn a_hex_dump_has_the_columns_of_the_reference_emulator() {
    let dump = Dump::Bytes(address::bytes("0x10:0x23").unwrap());
    let memory: Vec<u8> = (0..0x40).map(|i| i + 0x30).collect();
    let expected = "\
Device memory 0x00000010-0x00000023:
00000010: 40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  |@ABCDEFGHIJKLMNO|
00000020: 50 51 52                                          |PQR|
";
    assert_eq!(dump.text(&(0x10..0x23), &memory), expected);
}

#[test]
fn values_read_back_from_their_text() {
    let text = element_text;
    assert_eq!(text(ElementType::F32, &f32::MIN_POSITIVE.to_le_bytes()), "1.1754944e-38");
    assert_eq!(text(ElementType::F32, &3f32.to_le_bytes()), "3.0");
    assert_eq!(text(ElementType::F32, &f32::NAN.to_le_bytes()), "NaN");
    assert_eq!(text(ElementType::F16, &[0x00, 0x7C]), "inf");
    assert_eq!(text(ElementType::Bf16, &[0x80, 0xBF]), "-1.0");
    assert_eq!(text(ElementType::F64, &0.1f64.to_le_bytes()), "0.1");
    assert_eq!(text(ElementType::I32, &[0xFF; 4]), "-1");
    assert_eq!(text(ElementType::U32, &[0xFF; 4]), "4294967295");
    assert_eq!(text(ElementType::U16, &[0x01, 0x02]), "513");
    assert_eq!(text(ElementType::U64, &[0xFF; 8]), "18446744073709551615");
    assert_eq!(text(ElementType::I64, &[0xFF; 8]), "-1");
    assert_eq!(text(ElementType::I8, &[0x80]), "-128");
}

proptest! {
    /// Every text yields a value or an error message.
    #[test]
    fn no_text_makes_a_parser_panic(
        text in prop_oneof![".{0,40}", "[-+0-9a-fx_.,:r]{0,30}", "(0x[0-9a-f]{1,34}|-?[0-9]{0,40}|u8|i32|f16)(:(-?[0-9]{0,40}|u8|i32|f16|[0-9]e[0-9]{1,5})){0,5}"]
    ) {
        let answers = [
            values::dimensions(&text).err(),
            values::integer(&text).err(),
            values::memory_file(&text).err(),
            address::save(&text).err(),
            values::register_value(&text).err(),
            values::fill_zero(&text).err(),
            address::bytes(&text).err(),
            address::elements(&text, ElementType::F32).err(),
            values::argument(&text).err(),
        ];
        for why in answers.into_iter().flatten() {
            prop_assert!(!why.is_empty());
        }
        if let Ok(fill) = values::fill_iota(&text)
            && fill.bytes() < 10_000
        {
            prop_assert_eq!(written(&fill).len() as u64, fill.bytes());
        }
    }

    /// Integers mean the same in every notation.
    #[test]
    fn integers_in_every_notation(n: u64) {
        prop_assert_eq!(values::integer(&format!("{n}")), Ok(n));
        prop_assert_eq!(values::integer(&format!("{n:#x}")), Ok(n));
        prop_assert_eq!(values::integer(&format!("{n:#b}")), Ok(n));
    }

    /// What is accepted is in range, element by element.
    #[test]
    fn accepted_iotas_hold_their_elements(count in 1u64..40, scale in -70_000i64..70_000) {
        for (element, least, most) in
            [("u8", 0, 255), ("u16", 0, 65_535), ("u32", 0, i64::from(u32::MAX)), ("i32", i64::from(i32::MIN), i64::from(i32::MAX))]
        {
            let fits = (0..count as i64).all(|i| (least..=most).contains(&(i * scale)));
            let fill = values::fill_iota(&format!("0:{element}:{count}:{scale}"));
            prop_assert_eq!(fill.is_ok(), fits);
            if let Ok(fill) = fill {
                let bytes = written(&fill);
                for (i, value) in bytes.chunks(fill.element.bytes()).enumerate() {
                    prop_assert_eq!(element_text(fill.element, value), (i as i64 * scale).to_string());
                }
            }
        }
    }
}
