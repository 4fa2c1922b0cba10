//! A newcomer's mistakes with golden messages: `messages/NAME.wave` yields `messages/NAME.txt`.

use crate::golden;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::check::{CheckOptions, check};
use wave_isa::program::{Program, assemble};

const FOLDER: &str = "sim/isa/tests/checks/messages";

/// The messages of the assembler, if it accepts no such text.
fn assembled(name: &str) -> Result<Program, Vec<Diagnostic>> {
    let path = golden::root().join(FOLDER).join(format!("{name}.wave"));
    let text = std::fs::read_to_string(path).expect("a case");
    assemble(&text, &format!("{name}.wave")).map(|(program, _)| program)
}

fn program(name: &str) -> Program {
    assembled(name).expect("assembles")
}

fn render(messages: &[Diagnostic]) -> String {
    messages.iter().map(|m| format!("{}\n\n", m.render(false))).collect()
}

#[test]
fn messages_of_mistakes() {
    for name in golden::cases(FOLDER, &["without_source"]) {
        // The assembler does not let registers past the declared count through; a launch can ask for fewer.
        let registers = (name == "a_register_past_the_count").then_some(8);
        let options = CheckOptions { registers, ..CheckOptions::default() };
        let found = assembled(&name).map_or_else(|errors| errors, |p| check(&p, 0, &options).diagnostics);
        assert!(!found.is_empty(), "{name} is accepted");
        golden::check(&format!("{FOLDER}/{name}.txt"), &render(&found));
    }
}

#[test]
fn messages_without_source() {
    let mut text = String::new();
    for name in ["a_barrier_in_a_divergent_if", "else_without_if", "a_register_that_nothing_wrote"] {
        let program = Program { source: None, ..program(name) };
        text.push_str(&render(&check(&program, 0, &CheckOptions::default()).diagnostics));
    }
    golden::check(&format!("{FOLDER}/without_source.txt"), &text);
}

#[test]
fn picture_of_a_graph() {
    let folder = "sim/isa/tests/checks/graph";
    let text = std::fs::read_to_string(golden::root().join(folder).join("graph.wave")).expect("a kernel");
    let program = assemble(&text, "graph.wave").expect("assembles").0;
    let report = check(&program, 0, &CheckOptions::default());
    golden::check(&format!("{folder}/graph.dot"), &report.graph.to_dot(&program, &program.kernels[0]));
}
