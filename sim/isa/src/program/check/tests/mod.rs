//! Kernels with the findings that the checks must report.

mod barriers;
mod registers;
mod structure;

use super::{CheckOptions, Report, check};
use crate::diagnostic::Severity;
use crate::program::assemble;

/// Assembles the instructions as one kernel with 32 registers and a workgroup of 64 threads, the first
/// instruction in line 4, and checks it.
fn check_text(instructions: &str, options: &CheckOptions) -> Report {
    let text = format!(
        ".kernel k\n.registers 32\n.workgroup_size 64, 1, 1\n{}\n.end\n",
        instructions.trim_matches('\n')
    );
    let (program, warnings) = assemble(&text, "k.wave").unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(false)).collect::<Vec<_>>().join("\n"))
    });
    assert_eq!(warnings, []);
    check(&program, 0, options)
}

/// Checks that exactly those diagnostics are reported that the text announces: `;E message` or `;W message`
/// after the instruction that they are placed at.
fn expect(instructions: &str, options: &CheckOptions) -> Report {
    let mut expected = Vec::new();
    for (number, line) in instructions.trim_matches('\n').lines().enumerate() {
        for part in line.split(';').skip(1) {
            let severity = match part.as_bytes().first() {
                Some(b'E') => Severity::Error,
                Some(b'W') => Severity::Warning,
                _ => continue,
            };
            expected.push((number as u32 + 4, severity, part[1..].trim().to_owned()));
        }
    }
    let report = check_text(instructions, options);
    let place = |d: &crate::diagnostic::Diagnostic| d.place.as_ref().map_or(0, |p| p.line);
    let found: Vec<_> =
        report.diagnostics.iter().map(|d| (place(d), d.severity, d.message.clone())).collect();
    assert_eq!(found, expected, "{instructions}");
    report
}

/// [`expect`] on a machine with the usual sizes and without a launch.
fn default(instructions: &str) {
    expect(instructions, &CheckOptions::default());
}
