//! Lines of C in a module that clang has made, with functions of a header that were inlined.

use std::fmt::Write as _;
use wave_compile::ir::Place;
use wave_compile::source::{Source, SourceOptions};
use wave_compile::wasm::{Decoded, Line, decode};

const FOLDER: &str = "sim/compile/tests/wasm/lines";

fn smooth() -> Decoded {
    let path = wave_testing::golden::root().join(FOLDER).join("smooth.wasm");
    decode(&std::fs::read(path).expect("it is checked in")).unwrap_or_else(|error| panic!("{error}"))
}

/// The text of a line of C, without the blanks around it.
fn text(line: &Line<'_>) -> String {
    let path = wave_testing::golden::root().join(FOLDER).join(line.file);
    let text = std::fs::read_to_string(path).expect("it is checked in");
    text.lines().nth(line.line as usize - 1).expect("the file has the line").trim().to_owned()
}

/// Every instruction of every function, with the lines that it comes from, innermost first.
#[test]
fn instructions_have_the_lines_of_c_that_they_come_from() {
    let decoded = smooth();
    let mut report = String::new();
    for function in decoded.module.functions.values() {
        _ = writeln!(report, "{}:", function.name.as_deref().unwrap_or("?"));
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                let lines: Vec<String> = decoded
                    .source
                    .lines(instruction.at)
                    .map(|line| format!("{}:{}:{}", line.file, line.line, line.column))
                    .collect();
                let name = format!("{:?}", instruction.operation);
                let name = name.split(['(', ' ']).next().unwrap_or_default();
                _ = writeln!(report, "  {:#05x} {name:<14} {}", instruction.at.0, lines.join(" < "));
            }
        }
    }
    wave_testing::golden::check(&format!("{FOLDER}/smooth.txt"), &report);
}

/// The first place whose innermost line has this text.
fn place(decoded: &Decoded, wanted: &str) -> Place {
    let instructions = decoded
        .module
        .functions
        .values()
        .flat_map(|function| function.blocks.values())
        .flat_map(|block| &block.instructions);
    let is_there =
        |place: &Place| decoded.source.line(*place).is_some_and(|line| text(&line).contains(wanted));
    let mut places = instructions.map(|instruction| instruction.at);
    places.find(is_there).unwrap_or_else(|| panic!("no instruction comes from `{wanted}`"))
}

#[test]
fn a_line_of_a_header_has_the_calls_that_it_was_inlined_for() {
    let decoded = smooth();
    let lines = |wanted: &str| {
        let lines: Vec<String> =
            decoded.source.lines(place(&decoded, wanted)).map(|line| text(&line)).collect();
        lines
    };
    // A function of the header in one of the header in the kernel.
    let chain = [
        "if (value < bound)",
        "float raised = least(value, low);",
        "float value = clamped(*place, low, high);",
    ];
    assert_eq!(lines("value < bound"), chain);
    let last =
        decoded.source.line_in(place(&decoded, "value < bound"), "smooth.c").expect("a line of the file");
    assert_eq!(text(&last), chain[2]);
    // A function of the same file: the line is that in the function.
    assert_eq!(lines("TWICE(index)"), ["return values + TWICE(index);", "float *place = at(values, index);"]);
    let own =
        decoded.source.line_in(place(&decoded, "TWICE(index)"), "smooth.c").expect("a line of the file");
    assert_eq!(text(&own), "return values + TWICE(index);");
    // A function of the header that was not inlined has no line of the other file.
    let slope = place(&decoded, "to - from");
    assert_eq!(lines("to - from"), ["float step = to - from;"]);
    assert_eq!(decoded.source.line_in(slope, "smooth.c"), None);
}

/// A function that the linker has dropped leaves no lines at the begin of the code.
#[test]
fn a_function_that_was_dropped_has_no_lines() {
    let decoded = smooth();
    for byte in 0..4096 {
        for line in decoded.source.lines(Place(byte)) {
            assert!(!text(&line).contains("17.0f"), "byte {byte}");
        }
    }
    assert_eq!(decoded.source.line(Place(0)), None);
}

/// What a report shows: the lines of one file, the kernel's.
#[test]
fn the_lines_of_a_kernel_are_those_of_its_own_file() {
    let decoded = smooth();
    let path = wave_testing::golden::root().join(FOLDER).join("smooth.wasm");
    let bytes = std::fs::read(&path).expect("it is checked in");
    let source =
        Source::read(&path, &bytes, &SourceOptions::default()).expect("it is valid").expect("it is a module");
    let functions = decoded.module.functions.values().flat_map(|function| function.blocks.values());
    let places: Vec<Place> = functions.flat_map(|block| &block.instructions).map(|one| one.at).collect();
    let shown = source.lines(&places).expect("its file is beside it");
    assert!(shown.file.ends_with("smooth.c"), "{}", shown.file);
    let line = |wanted: &str| {
        let number = places.iter().position(|&at| at == place(&decoded, wanted)).expect("it is one of them");
        shown.text.lines().nth((shown.lines[number] as usize).wrapping_sub(1)).map(str::trim)
    };
    assert_eq!(line("value < bound"), Some("float value = clamped(*place, low, high);"));
    assert_eq!(line("TWICE(index)"), Some("return values + TWICE(index);"));
    assert_eq!(line("to - from"), None);
}
