//! Static checks of one kernel: its structure, what it reads and writes, and where lanes diverge.
//!
//! Errors are instructions that fault when they are reached, and obvious slips such as an `if` that is never
//! closed. Warnings are instructions that may fault or are probably unintended. The machine checks nothing in
//! advance, so a program with errors may still run to its end.

mod barrier;
mod cells;
mod code;
mod divergence;
mod encoding;
mod flow;
mod graph;
mod nesting;
mod pressure;
mod reach;
mod summary;
mod threads;
mod written;

#[cfg(test)]
mod tests;

use super::asm::MOST_DIAGNOSTICS;
use super::{Launch, Program};
use crate::diagnostic::{Diagnostic, Severity};
use code::{Code, Finding};
use divergence::Divergence;
use std::cmp::Reverse;

pub use graph::{Block, Edge, Function, Graph};
pub use summary::Summary;

/// What is known of the machine and the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// Lanes of a wave.
    pub wave_width: u32,
    /// Frames of the divergence stack.
    pub divergence_depth: u32,
    /// Frames of the call stack.
    pub call_depth: u32,
    /// The machine has CAP_F64.
    pub f64: bool,
    /// The machine has CAP_MMA.
    pub mma: bool,
    /// Registers of a lane, if the launch overrides the kernel's number.
    pub registers: Option<u32>,
    /// Threads of a workgroup (x, y, z), if the launch overrides the kernel's size.
    pub workgroup: Option<[u32; 3]>,
    /// The registers that the launch sets, with their values; `None` if the launch is not known.
    pub initial_registers: Option<Vec<(u8, u32)>>,
}

impl Default for CheckOptions {
    /// The smallest stacks that the instruction set allows, 32 lanes, all capabilities, no launch.
    fn default() -> CheckOptions {
        CheckOptions {
            wave_width: 32,
            divergence_depth: 32,
            call_depth: 8,
            f64: true,
            mma: true,
            registers: None,
            workgroup: None,
            initial_registers: None,
        }
    }
}

impl CheckOptions {
    /// These options with the values of a launch.
    pub fn for_launch(self, launch: &Launch) -> CheckOptions {
        CheckOptions {
            registers: Some(launch.registers),
            workgroup: Some(launch.workgroup),
            initial_registers: Some(launch.initial_registers.clone()),
            ..self
        }
    }
}

/// Result of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Errors and warnings in the order of the code. At most [`MOST_DIAGNOSTICS`], errors before warnings; a
    /// last one counts the rest.
    pub diagnostics: Vec<Diagnostic>,
    /// Figures for the user.
    pub summary: Summary,
    /// The control-flow graph; empty if the program has no such kernel.
    pub graph: Graph,
}

impl Report {
    /// True if there is at least one error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Checks kernel `kernel` of a program.
///
/// Analyses that would only repeat an error are skipped. If control instructions do not nest, only the
/// encodings are checked. If calls do not match their functions, analyses of the flow of values are skipped.
pub fn check(program: &Program, kernel: usize, options: &CheckOptions) -> Report {
    let Some(kernel) = program.kernels.get(kernel) else {
        let message = format!("the program has no kernel {kernel}");
        return Report { diagnostics: vec![Diagnostic::error(message)], ..Report::default() };
    };
    if kernel.code.start > kernel.code.end || kernel.code.end as usize > program.code.len() {
        let message = format!("the code of kernel `{}` is not inside the program's code", kernel.name);
        return Report { diagnostics: vec![Diagnostic::error(message)], ..Report::default() };
    }
    let code = Code::new(program, kernel, options);
    let mut summary = Summary::of(&code);
    let mut findings = nesting::nesting(&code);
    let graph = Graph::build(&code);
    match &graph {
        Some(graph) if findings.is_empty() => {
            let reachable = graph.reachable();
            findings.extend(encoding::encoding(&code, &reachable));
            findings.extend(reach::unreachable(&code, graph, &reachable));
            flow(&code, graph, &reachable, &mut findings, &mut summary);
        }
        _ => findings.extend(encoding::encoding(&code, &vec![true; code.insts.len()])),
    }
    let mut diagnostics = diagnostics(&code, findings);
    if graph.is_none() {
        let name = &kernel.name;
        let message = format!(
            "kernel `{name}` has too many branches or call targets to follow; \
             only encodings and nesting were checked"
        );
        diagnostics.push(Diagnostic::warning(message));
    }
    Report { diagnostics, summary, graph: graph.unwrap_or_default() }
}

/// Errors about each `if` and `loop` of an assembled program that is never closed. Those that are written as `.word` are
/// left out.
pub fn unclosed(program: &Program) -> Vec<Diagnostic> {
    let options = CheckOptions::default();
    let codes = program.kernels.iter().map(|kernel| Code::new(program, kernel, &options));
    let errors = codes.flat_map(|code| {
        let written = |diagnostic: &Diagnostic| {
            let place = diagnostic.place.as_ref();
            place.is_some_and(|place| place.text.chars().nth(place.column as usize - 1) != Some('.'))
        };
        let found = nesting::unclosed(&code).into_iter().map(|finding| code.diagnostic(finding));
        found.filter(written).collect::<Vec<_>>()
    });
    errors.collect()
}

/// The findings in the order of the code. If there are more than can be listed, errors go first.
fn diagnostics(code: &Code, mut findings: Vec<Finding>) -> Vec<Diagnostic> {
    findings.sort_by_key(|f| (Reverse(f.severity), f.slot));
    let surplus = findings.split_off(findings.len().min(MOST_DIAGNOSTICS));
    findings.sort_by_key(|f| f.slot);
    let mut diagnostics: Vec<Diagnostic> = findings.into_iter().map(|f| code.diagnostic(f)).collect();
    if let Some(first) = surplus.first() {
        let message =
            format!("{} more messages about kernel `{}` are not shown", surplus.len(), code.kernel.name);
        diagnostics.push(Diagnostic { severity: first.severity, ..Diagnostic::error(message) });
    }
    diagnostics
}

/// The checks that follow control flow and values.
fn flow(code: &Code, graph: &Graph, reachable: &[bool], findings: &mut Vec<Finding>, summary: &mut Summary) {
    let (overflows, depths) = nesting::stacks(code, graph);
    findings.extend(overflows);
    summary.count_flow(graph, depths);
    let calls = nesting::calls(code, graph);
    let matched = calls.iter().all(|f| f.severity != Severity::Error);
    findings.extend(calls);
    if !matched {
        return;
    }
    let effects = written::effects(code, graph);
    let unwritten = written::unwritten(code, graph, &effects);
    // The writes of an illegal instruction are unknown. A compiler takes zeros from registers that nothing has written.
    let is_compiled = code.kernel.parameters.is_some();
    if !is_compiled && (0..code.insts.len()).all(|slot| code.inst(slot).is_some() || !reachable[slot]) {
        findings.extend(unwritten.findings);
        summary.unset_registers = unwritten.unset_registers;
    }
    summary.assumed_arguments = unwritten.assumed_arguments;
    let divergence = Divergence::find(code, graph, &effects);
    findings.extend(barrier::barriers(code, graph, &divergence, reachable));
    summary.count_divergence(code, &divergence, reachable);
    let (registers, at) = pressure::pressure(code, graph, &effects, &divergence);
    summary.max_live_registers = registers;
    summary.max_live_at = at.map(|slot| code.at(slot));
}
