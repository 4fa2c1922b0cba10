//! Messages about wrong launch files: every case with its whole message, in `golden/launch_messages.txt`.
//! `UPDATE=1 cargo test --test launch_messages` rewrites the file; read the difference before you commit it.

use wave_testing::golden;

use proptest::prelude::*;
use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_study::launch::{Job, Size, Verification, from_text, load};

const RIGHT: &str = include_str!("launch/clamp.ron");

/// The launch file with one part replaced, named after the mistake.
const REPLACED: &[(&str, &str, &str)] = &[
    ("missing comma", "length: \"n\", contents", "length: \"n\" contents"),
    ("missing parenthesis", "x: (type: f32, length: \"n\", contents: uniform(-1, 1)),", "x: (type: f32,"),
    ("typo in a section", "buffers:", "bufers:"),
    ("typo in a key", "length: \"n\"),", "lenght: \"n\"),"),
    ("typo in a key of a step", "arguments:", "args:"),
    ("unknown type", "y: (type: f32", "y: (type: float"),
    ("unknown contents", "uniform(-1, 1)", "random(-1, 1)"),
    ("contents with too few values", "uniform(-1, 1)", "uniform(-1)"),
    ("unknown kind of step", "run(grid", "launch(grid"),
    (
        "section missing",
        "    steps: [\n        run(grid: \"ceil_div(n, 64)\", arguments: [\"x\", \"y\", \"n\", \"low\", \"high\"]),\n    ],\n",
        "",
    ),
    ("buffer without a type", "(type: f32, length: \"n\"),", "(length: \"n\"),"),
    ("buffer without a length", "(type: f32, length: \"n\"),", "(type: f32),"),
    ("one size of two", "(full: 100000, small: 1000)", "(full: 100000)"),
    ("a third size", "small: 1000", "tiny: 1000"),
    ("formula without quotes", "grid: \"ceil_div(n, 64)\"", "grid: n / 64"),
    ("name without quotes", "length: \"n\"),", "length: n),"),
    ("formula that is none", "ceil_div(n, 64)", "ceil_div(n 64)"),
    ("formula with an unknown function", "ceil_div(n, 64)", "ceildiv(n, 64)"),
    ("formula with an unknown name", "ceil_div(n, 64)", "ceil_div(m, 64)"),
    ("typo in an argument", "\"low\", \"high\"", "\"lo\", \"high\""),
    ("division by zero", "ceil_div(n, 64)", "n / (n - n)"),
    ("grid of 0", "ceil_div(n, 64)", "n / 1000000"),
    ("grid with four sizes", "\"ceil_div(n, 64)\"", "(1, 2, 3, 4)"),
    ("length below 0", "y: (type: f32, length: \"n\")", "y: (type: f32, length: \"1 - n\")"),
    ("length that no memory has", "y: (type: f32, length: \"n\")", "y: (type: f32, length: \"1 << 31\")"),
    ("length that is no integer", "y: (type: f32, length: \"n\")", "y: (type: f32, length: \"n / 2.0\")"),
    ("value that the type does not have", "uniform(-1, 1)", "values([1, \"2 *\"])"),
    ("length that differs from the contents", "uniform(-1, 1)", "values([1, 2, 3])"),
    ("range the wrong way round", "uniform(-1, 1)", "uniform(1, -1)"),
    ("missing data file", "uniform(-1, 1)", "file(\"data.bin\")"),
    ("missing source", "clamp.wave", "clmp.wave"),
    ("unknown kernel", "run(grid", "run(kernel: \"clmp\", grid"),
    ("more arguments than registers", "\"low\", \"high\"", "1, 2, 3, 4, 5, 6, 7"),
    ("argument that does not fit", "\"low\", \"high\"", "\"1 << 40\", \"high\""),
    ("name that stands for two things", "y: (type", "n: (type"),
    ("name of a function", "low: -0.5", "min: -0.5"),
    ("name of the index", "low: -0.5", "i: -0.5"),
    ("expectation of an unknown buffer", "y: (equals", "z: (equals"),
    ("unknown reference", "each(", "every("),
    ("reference with an unknown buffer", "x[i]", "xs[i]"),
    ("reference past the end", "x[i]", "x[i + 1]"),
    ("reference with an unknown key", "each(\"min(max(x[i], low), high)\")", "matmul(a: \"x\", c: \"x\")"),
    (
        "reference with sizes that do not fit",
        "each(\"min(max(x[i], low), high)\")",
        "matmul(a: \"x\", b: \"x\", inner: 7)",
    ),
    ("too few expected values", "each(\"min(max(x[i], low), high)\")", "values([1, 2])"),
    ("tolerance below 0", "high)\"))", "high)\"), tolerance: ulp(-1))"),
    ("unknown tolerance", "high)\"))", "high)\"), tolerance: about(1))"),
    ("buffers that overlap", "y: (type: f32,", "y: (type: f32, address: 256,"),
    (
        "repeat that does not end",
        "run(grid: \"ceil_div(n, 64)\", arguments: [\"x\", \"y\", \"n\", \"low\", \"high\"])",
        "repeat(variable: \"j\", from: 0, to: 10, by: 0, steps: [])",
    ),
    (
        "repeat with a name that is taken",
        "run(grid: \"ceil_div(n, 64)\", arguments: [\"x\", \"y\", \"n\", \"low\", \"high\"])",
        "repeat(variable: \"n\", from: 0, to: 10, steps: [])",
    ),
    (
        "repeat without end in sight",
        "run(grid: \"ceil_div(n, 64)\", arguments: [\"x\", \"y\", \"n\", \"low\", \"high\"])",
        "repeat(variable: \"j\", from: 0, to: \"1 << 40\", steps: [])",
    ),
];

const SHADER: &str = include_str!("launch/scaled.ron");

/// The launch file of a shader with one part replaced.
const REPLACED_OF_SHADER: &[(&str, &str, &str)] = &[
    ("key that is no binding", "\"0.1\": \"y\"", "\"y\": \"y\""),
    ("binding with a number that is none", "\"0.1\": \"y\"", "\"0.-1\": \"y\""),
    ("binding that the kernel has not", "\"0.1\": \"y\"", "\"1.1\": \"y\""),
    ("binding with two buffers", "\"0.1\": \"y\"", "\"0.1\": \"y\", \"0.01\": \"x\""),
    ("binding without a buffer", ", \"1.0\": \"limits\"", ""),
    (
        "step of a shader without bindings",
        ", bindings: {\"0.0\": \"x\", \"0.1\": \"y\", \"1.0\": \"limits\"}",
        "",
    ),
    ("binding with an unknown buffer", "\"1.0\": \"limits\"", "\"1.0\": \"limit\""),
    ("binding with a parameter", "\"1.0\": \"limits\"", "\"1.0\": \"n\""),
    ("binding with a number", "\"1.0\": \"limits\"", "\"1.0\": 5"),
    ("binding with a formula that has no value", "\"1.0\": \"limits\"", "\"1.0\": \"limits + m\""),
    ("binding with a float", "\"1.0\": \"limits\"", "\"1.0\": \"limits * 1.0\""),
    ("binding behind the end of a buffer", "\"0.1\": \"y\"", "\"0.1\": \"y + 4 * n\""),
    ("binding in the middle of a vector", "\"0.1\": \"y\"", "\"0.1\": \"y + 8\""),
    ("binding with a buffer that is too small", "values([-0.1, 0.05])", "values([-0.1])"),
    (
        "bindings in a list",
        "{\"0.0\": \"x\", \"0.1\": \"y\", \"1.0\": \"limits\"}",
        "[\"x\", \"y\", \"limits\"]",
    ),
    (
        "bindings in parentheses",
        "{\"0.0\": \"x\", \"0.1\": \"y\", \"1.0\": \"limits\"}",
        "(x: \"x\", y: \"y\")",
    ),
    ("arguments beside bindings", "bindings:", "arguments: [\"x\"], bindings:"),
    ("workgroup that the shader does not state", "bindings:", "workgroup: (8, 4), bindings:"),
    ("unknown pipeline constant", "\"threads\": \"group\"", "\"thread\": \"group\""),
    ("pipeline constant without a value", "\"scale\": \"1.0 / divisor\", ", ""),
    ("pipeline constant with two values", "\"threads\": \"group\"", "\"scale\": 2"),
    ("pipeline constant with an unknown name", "1.0 / divisor", "1.0 / n_divisor"),
    ("pipeline constant with the address of a buffer", "1.0 / divisor", "x"),
    ("pipeline constant that its type has not", "\"group\"", "-1"),
    ("unknown bounds", "overrides:", "bounds: wrap, overrides:"),
    ("contraction that is no truth value", "overrides:", "contract: off, overrides:"),
];

/// What only shaders have, in the launch file of a kernel in assembly.
const OF_SHADERS_ONLY: &[(&str, &str, &str)] = &[
    (
        "pipeline constants of assembly",
        "parameters:",
        "overrides: {\"n\": 5}, bounds: clamp, contract: true, parameters:",
    ),
    (
        "bindings of assembly",
        "arguments: [\"x\", \"y\", \"n\", \"low\", \"high\"]",
        "bindings: {\"0.0\": \"x\"}",
    ),
];

/// Complete texts.
const TEXTS: &[(&str, &str)] = &[
    ("empty file", ""),
    ("assembly", ".kernel clamp\n    halt\n.end\n"),
    ("no parentheses", "source: \"clamp.wave\",\nsteps: [],\n"),
];

fn read(text: &str) -> Result<Job, Vec<Diagnostic>> {
    from_text("tests/launch/mine.ron", text, Size::Small)
}

#[test]
fn messages_are_as_they_were_read_over() {
    let mut all = String::new();
    let mut case = |name: &str, errors: Result<Job, Vec<Diagnostic>>| {
        let errors = errors.err().unwrap_or_else(|| panic!("{name}: nothing is wrong"));
        writeln!(all, "=== {name}").unwrap();
        for error in errors {
            writeln!(all, "{}\n", error.render(false)).unwrap();
        }
    };
    for (name, text) in TEXTS {
        case(name, read(text));
    }
    for (text, replaced) in [(RIGHT, REPLACED), (SHADER, REPLACED_OF_SHADER), (RIGHT, OF_SHADERS_ONLY)] {
        for (name, right, wrong) in replaced {
            assert!(text.contains(right), "{name}");
            case(name, read(&text.replacen(right, wrong, 1)));
        }
    }
    case("no such file", load("tests/launch/clmp.ron", Size::Small));
    case("a typo in a name of the suite", load("vector_ad", Size::Small));
    case("a name of the suite with a path", load("kernels/missing/sgemm.ron", Size::Small));
    case("a directory", load("tests", Size::Small));

    golden::check("sim/study/tests/golden/launch_messages.txt", &all);
}

#[test]
fn launch_files_of_ones_own_load_and_verify() {
    use wave_verify::reference::{Machine, Options, run};
    for (name, size, values) in [
        ("clamp", Size::Small, 1000),
        ("shortest", Size::Small, 4),
        ("scaled", Size::Small, 1000),
        ("scaled", Size::Full, 100_000),
    ] {
        let job = load(&format!("tests/launch/{name}.ron"), size).unwrap_or_else(|e| panic!("{}", e[0]));
        assert_eq!(job.name, name);
        let machine = Machine {
            wave_width: 8,
            f64: false,
            mma: false,
            divergence_depth: 32,
            call_depth: 8,
            local_poison: 0,
        };
        let mut memory = job.memory.clone();
        run(&job.program, &job.steps[0], &machine, &Options::default(), &mut memory).unwrap();
        assert_eq!(job.verify(&memory), Verification::Passed { compared: values });
    }
    let without = RIGHT.replace("y: (equals: each(\"min(max(x[i], low), high)\")),", "");
    let job = read(&without).unwrap();
    assert_eq!(job.verify(&job.memory), Verification::Nothing);
}

#[test]
fn the_page_on_kernels_shows_these_files() {
    let page = std::fs::read_to_string(golden::root().join("docs/kernels.md")).unwrap();
    for text in [RIGHT, include_str!("launch/clamp.wave"), include_str!("launch/shortest.ron")] {
        assert!(page.contains(text), "docs/kernels.md does not show\n{text}");
    }
    for name in wave_study::launch::suite() {
        assert!(page.contains(&format!("| `{name}` |")), "docs/kernels.md has no row for {name}");
    }
    for (name, _, meaning) in wave_study::launch::FUNCTIONS {
        assert!(page.contains(&format!("`{name}`")) && page.contains(meaning), "{name}: {meaning}");
    }
}

proptest! {
    /// Changing, removing or inserting a few bytes gives a job or messages, never a panic.
    #[test]
    fn damaged_launch_files_never_panic(
        at in 0..RIGHT.len(),
        removed in 0..40usize,
        put in "[ -~\n]{0,12}|[(){}\\[\\],:\"]{0,4}|[0-9]{1,12}",
    ) {
        // Numbers with many digits would rightly ask for much memory.
        let end = (at + removed).min(RIGHT.len());
        let text = format!("{}{put}{}", &RIGHT[..at], &RIGHT[end..]);
        let text = text.replace("100000", "100");
        if let Err(errors) = read(&text) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.render(false).starts_with("error: "));
            }
        }
    }

    /// Arbitrary text.
    #[test]
    fn arbitrary_texts_never_panic(text in "\\PC{0,200}") {
        let _ = read(&text);
    }
}
