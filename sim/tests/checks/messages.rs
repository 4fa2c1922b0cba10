//! A newcomer's mistakes with golden messages: `messages/NAME.wave` yields `messages/NAME.txt`.

use crate::golden;
use wave_sim::program::check::{CheckOptions, Report, check};
use wave_sim::program::{Program, assemble};

const FOLDER: &str = "sim/tests/checks/messages";

fn program(name: &str) -> Program {
    let path = golden::root().join(FOLDER).join(format!("{name}.wave"));
    let text = std::fs::read_to_string(path).expect("a case");
    assemble(&text, &format!("{name}.wave")).expect("assembles").0
}

fn render(report: &Report) -> String {
    report.diagnostics.iter().map(|m| format!("{}\n\n", m.render(false))).collect()
}

#[test]
fn messages_of_mistakes() {
    for name in golden::cases(FOLDER, &["without_source"]) {
        // The assembler does not let registers past the declared count through; a launch can ask for fewer.
        let registers = (name == "a_register_past_the_count").then_some(8);
        let report = check(&program(&name), 0, &CheckOptions { registers, ..CheckOptions::default() });
        assert!(!report.diagnostics.is_empty(), "{name} is accepted");
        golden::check(&format!("{FOLDER}/{name}.txt"), &render(&report));
    }
}

#[test]
fn messages_without_source() {
    let mut text = String::new();
    for name in ["a_barrier_in_a_divergent_if", "else_without_if", "a_register_that_nothing_wrote"] {
        let program = Program { source: None, ..program(name) };
        text.push_str(&render(&check(&program, 0, &CheckOptions::default())));
    }
    golden::check(&format!("{FOLDER}/without_source.txt"), &text);
}

#[test]
fn picture_of_a_graph() {
    let folder = "sim/tests/checks/graph";
    let text = std::fs::read_to_string(golden::root().join(folder).join("graph.wave")).expect("a kernel");
    let program = assemble(&text, "graph.wave").expect("assembles").0;
    let report = check(&program, 0, &CheckOptions::default());
    golden::check(&format!("{folder}/graph.dot"), &report.graph.to_dot(&program, &program.kernels[0]));
}
