//! Lines of the source in the program.

use super::{of_eight, run};
use crate::machine::{program, program_of, rendered};
use crate::spirv::{bytes, parsed, written};
use naga::Statement;
use std::collections::BTreeSet;
use wave_compile::shader::ShaderOptions;
use wave_compile::source::Format;
use wave_isa::program::Program;

/// The texts of the lines that have instructions.
fn lines(program: &Program) -> BTreeSet<&str> {
    let source = program.source.as_ref().expect("a source");
    (0..program.code.len() as u32)
        .filter_map(|word| source.line_of_word(word))
        .map(|(_, text)| text.trim())
        .collect()
}

fn of_spirv(words: &[u32]) -> Program {
    let program = program_of(&bytes(words), Format::Spv, ShaderOptions::default());
    program.unwrap_or_else(|errors| panic!("{}", rendered(&errors)))
}

const BODY: &str = "let x = given[i];\nvar y = x * 3u;\nif x > 4u {\nfound[i] = y;\nreturn; }\ny = subgroupAdd(y);\nfound[i] = y + 1u;";

#[test]
fn instructions_of_wgsl_have_their_lines() {
    let wgsl = of_eight("", BODY);
    let program = program(&wgsl, ShaderOptions::default()).expect("it is right");
    let lines = lines(&program);
    for line in
        ["let x = given[i];", "if x > 4u {", "found[i] = y;", "y = subgroupAdd(y);", "found[i] = y + 1u;"]
    {
        assert!(lines.contains(line), "{line}: {lines:?}");
    }
    assert!(!lines.contains("return; }"), "{lines:?}");
}

#[test]
fn instructions_of_spirv_have_the_lines_that_it_states() {
    let wgsl = of_eight("", BODY);
    let words = written(&parsed(&wgsl), Some(&wgsl)).expect("it is right");
    let program = of_spirv(&words);
    assert_eq!(program.source.as_ref().map(|source| source.text.as_str()), Some(wgsl.as_str()));
    let lines = lines(&program);
    // naga states no line of a condition.
    for line in ["let x = given[i];", "var y = x * 3u;", "found[i] = y;", "found[i] = y + 1u;"] {
        assert!(lines.contains(line), "{line}: {lines:?}");
    }
    let given: Vec<u32> = (0..8).collect();
    // 3 (0 + 1 + 2 + 3 + 4) + 1.
    assert_eq!(run(&program, "main", &[&[0; 8], &given]), Ok(vec![31, 31, 31, 31, 31, 15, 18, 21]));
}

/// Instructions of a file that was included have no line of the main one.
#[test]
fn lines_of_other_files_are_left_out() {
    const STRING: u32 = 7;
    const LINE: u32 = 8;
    let wgsl = of_eight("", "found[i] = given[i] * 3u;\nfound[i] += 5u;");
    let words = written(&parsed(&wgsl), Some(&wgsl)).expect("it is right");
    let second = wgsl.lines().position(|line| line.starts_with("found[i] +=")).expect("a line") as u32 + 1;
    // Another name, and the second line becomes one of that file.
    let (header, mut rest) = words.split_at(5);
    let mut changed = header.to_vec();
    let other = header[3];
    changed[3] += 1;
    while let [first, ..] = rest {
        let (instruction, behind) = rest.split_at((first >> 16) as usize);
        let opcode = first & 0xFFFF;
        if opcode == STRING && !changed.contains(&u32::from_le_bytes(*b"b.h\0")) {
            changed.extend([3 << 16 | STRING, other, u32::from_le_bytes(*b"b.h\0")]);
        }
        let at = changed.len();
        changed.extend(instruction);
        if opcode == LINE && instruction[2] == second {
            changed[at + 1] = other;
        }
        rest = behind;
    }
    let program = of_spirv(&changed);
    let there = |line: &str| lines(&program).iter().any(|text| text.starts_with(line));
    assert!(there("found[i] = given"), "{:?}", lines(&program));
    assert!(!there("found[i] +="), "{:?}", lines(&program));
}

/// A shader with this switch as SPIR-V, where these cases go on in the next one, which no text of WGSL says.
fn falling(cases: &str, falling: &[usize]) -> Vec<u32> {
    let body = format!("var x = 0u;\nswitch given[i] {{ {cases} }}\nfound[i] = x;");
    let mut module = parsed(&of_eight("", &body));
    for statement in module.entry_points[0].function.body.iter_mut() {
        if let Statement::Switch { cases, .. } = statement {
            falling.iter().for_each(|&number| cases[number].fall_through = true);
        }
    }
    written(&module, None).expect("it is right")
}

#[test]
fn cases_of_spirv_fall_through() {
    let of = |cases: &str, numbers: &[usize]| {
        run(&of_spirv(&falling(cases, numbers)), "main", &[&[0; 5], &[0, 1, 2, 3, 4, 5, 6, 7]])
            .expect("it runs")
    };
    let cases = "case 1u: { x += 1u; } case 2u: { if i > 6u { break; } x += 10u; } case 3u: { x += 100u; } default: { x += 1000u; }";
    assert_eq!(of(cases, &[]), [1000, 1, 10, 100, 1000]);
    assert_eq!(of(cases, &[0]), [1000, 11, 10, 100, 1000]);
    assert_eq!(of(cases, &[0, 1]), [1000, 111, 110, 100, 1000]);
    assert_eq!(of(cases, &[0, 1, 2]), [1000, 1111, 1110, 1100, 1000]);
    let shared = "case 1u: { x += 1u; } case 2u, default, 4u: { x += 1000u; } case 3u: { x += 100u; }";
    assert_eq!(of(shared, &[]), [1000, 1, 1000, 100, 1000]);
    // In a loop each case comes to each other.
    let turns = "default: { for (var k = 0u; k < given[7]; k++) { switch (i + k) % 3u { case 0u: { continue; } default: { x += 1u; } case 2u: { x += 10u; } } } }";
    // (i + k) % 3 for k from 0 to 6: 1 gives 1, 2 gives 10.
    assert_eq!(of(turns, &[]), [22, 23, 32, 22, 23]);
}

/// naga would take the default for the last case.
#[test]
fn defaults_of_spirv_that_fall_are_errors() {
    let cases =
        "case 1u: { x += 1u; } default: { x += 10u; } case 2u: { x += 100u; } case 3u: { x += 1000u; }";
    for numbers in [&[0][..], &[1], &[0, 1]] {
        let errors = program_of(&bytes(&falling(cases, numbers)), Format::Spv, ShaderOptions::default());
        let text = rendered(&errors.expect_err("naga misunderstands it"));
        assert!(text.contains("there is a switch whose default goes on in another case"), "{text}");
        assert!(text.contains(", at byte 0x"), "{text}");
    }
    assert!(program_of(&bytes(&falling(cases, &[2])), Format::Spv, ShaderOptions::default()).is_ok());
}

/// Without lines the instructions of the module are what users read.
#[test]
fn modules_without_lines_are_listed() {
    let product = "fn product(a: u32, b: u32, c: u32) -> u32 { return a * b * c; }";
    let wgsl = of_eight(product, "let x = given[i];\nif x > 4u { found[i] = product(x, 3u, i); }");
    let program = of_spirv(&written(&parsed(&wgsl), None).expect("it is right"));
    let lines = lines(&program);
    let has = |opcode: &str| lines.iter().any(|line| line.contains(opcode));
    for opcode in ["= OpLoad  %", "OpStore %", "= OpUGreaterThan  %", "= OpIMul  %"] {
        assert!(has(opcode), "{opcode}: {lines:?}");
    }
    assert!(!has("OpTypeInt") && !has("OpCapability"), "{lines:?}");
    let text = &program.source.as_ref().expect("a listing").text;
    assert!(text.starts_with("; SPIR-V"), "{text}");
    assert!(text.lines().any(|line| line == "OpCapability Shader"), "{text}");
    // Each instruction that stores is that of the program.
    let source = program.source.as_ref().expect("a listing");
    let stores = |word: u32| {
        wave_isa::program::dis::instruction_text(&program, word)
            .is_some_and(|text| text.contains("device_store"))
    };
    let words: Vec<u32> = (0..program.code.len() as u32).filter(|&word| stores(word)).collect();
    assert_eq!(words.len(), 1);
    assert!(source.line_of_word(words[0]).is_some_and(|(_, text)| text.starts_with("OpStore")), "{text}");
}

/// Functions of an extended set are listed by name.
#[test]
fn functions_of_spirv_have_names() {
    let wgsl = of_eight("", "found[i] = u32(sqrt(f32(given[i])));");
    let program = of_spirv(&written(&parsed(&wgsl), None).expect("it is right"));
    assert!(lines(&program).iter().any(|line| line.contains("OpExtInst") && line.contains(" Sqrt ")));
}
