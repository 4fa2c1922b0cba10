//! Control instructions that do not nest, calls that do not match their function, stacks that overflow.

use super::code::{Code, Finding};
use super::graph::{Edge, Graph};
use crate::Op;
use crate::program::structure::NestingError;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Findings about the nesting of control instructions.
pub(super) fn nesting(code: &Code) -> Vec<Finding> {
    code.structure.errors.iter().map(|error| finding(code, error)).collect()
}

/// Of that, each `if` and `loop` whose end is missing.
pub(super) fn unclosed(code: &Code) -> Vec<Finding> {
    let errors = code.structure.errors.iter();
    errors
        .filter(|error| matches!(error, NestingError::Unclosed(..)))
        .map(|error| finding(code, error))
        .collect()
}

fn finding(code: &Code, error: &NestingError) -> Finding {
    let name = |slot| code.op(slot).map_or("", |op| op.info().mnemonic);
    let end_of =
        |slot: usize| if code.structure.slots[slot].op() == Some(Op::Loop) { "endloop" } else { "endif" };
    let opened_by = |slot| if name(slot) == "endloop" { "loop" } else { "if" };
    match *error {
        NestingError::Unclosed(slot, None) => {
            Finding::error(slot, format!("this `{}` is never closed", name(slot)))
                .hint(format!("add `{}` where it ends", end_of(slot)))
        }
        NestingError::Unclosed(slot, Some(closer)) => {
            let (end, closer_name) = (end_of(slot), name(closer));
            let at = code.at(closer);
            let message = format!("this `{}` is still open at the `{closer_name}` of {at}", name(slot));
            Finding::error(slot, message).hint(format!("add `{end}` before that `{closer_name}`"))
        }
        NestingError::Unopened(slot, other) => {
            let (this, opener) = (name(slot), opened_by(slot));
            let finding = Finding::error(slot, format!("`{this}` without `{opener}`"));
            match other {
                Some(other) => {
                    let (open, end) = (name(other), end_of(other));
                    finding.hint(format!(
                        "the `{open}` of {} is open here; it ends with `{end}`",
                        code.at(other)
                    ))
                }
                None => finding.hint(match closed_before(code, slot, opener == "loop") {
                    Some((open, close)) => format!(
                        "the `{opener}` of {} is closed already, by the `{}` of {}",
                        code.at(open),
                        name(close),
                        code.at(close)
                    ),
                    None => format!("no `{opener}` is open here: remove it, or add the `{opener}`"),
                }),
            }
        }
        NestingError::SecondElse(slot, first) => Finding::error(slot, "a second `else` of one `if`")
            .hint(format!("the first is in {}; nest another `if` for a third case", code.at(first))),
        NestingError::OutsideLoop(slot) => {
            let finding = Finding::error(slot, format!("`{}` outside a loop", name(slot)));
            let predicate = code.inst(slot).and_then(|inst| inst.predicate_source());
            finding.hint(match predicate {
                Some((p, negated)) if p > 0 || negated => {
                    let not = if negated { "!" } else { "" };
                    format!("it needs a `loop` around it; to end lanes write `@{not}p{p} halt`")
                }
                _ => "it needs a `loop` around it; to end lanes use `halt`".to_owned(),
            })
        }
    }
}

/// The last `if` or `loop` closed before a slot, and its end.
fn closed_before(code: &Code, slot: usize, is_loop: bool) -> Option<(usize, usize)> {
    let constructs = code.structure.constructs.iter().filter(|c| c.is_loop == is_loop);
    let closed = constructs.filter_map(|c| c.close.map(|close| (c.open, close)));
    closed.filter(|&(_, close)| close < slot).max_by_key(|&(_, close)| close)
}

/// Markers and returns of called functions that act on a construct of the caller; and code that runs from the
/// kernel into a function, or from a function past the kernel's end.
pub(super) fn calls(code: &Code, graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for function in graph.functions.iter().skip(1) {
        let entry = function.entry;
        let around: Vec<usize> = code.structure.around(entry).collect();
        let caller = graph.last_slot(function.sites[0].1);
        let called = format!("the function at {}, which {} calls", code.at(entry), code.at(caller));
        for block in &function.blocks {
            for slot in graph.blocks[*block].slots.clone() {
                let ours = code.structure.construct_of[slot].is_none_or(|c| !around.contains(&c));
                match code.op(slot) {
                    Some(op) if !ours => {
                        let message =
                            format!("`{}` acts on an `if` or `loop` outside {called}", op.info().mnemonic);
                        findings.push(
                            Finding::error(slot, message)
                                .hint("close in a function what it opens, and enter it outside of both"),
                        );
                    }
                    Some(Op::Return) if code.structure.inside[slot] != code.structure.inside[entry] => {
                        let open = code.structure.inside[slot].map(|c| code.structure.constructs[c].open);
                        let open = open.map_or(String::new(), |slot| format!(" of {}", code.at(slot)));
                        let message = format!("`return` inside an `if` or `loop`{open}, in {called}");
                        findings.push(Finding::error(slot, message).hint(
                            "a call and its return have to be at the same nesting: return after the end of it",
                        ));
                    }
                    _ => {}
                }
            }
        }
        if function.ends {
            let message = format!("{called}, runs past the end of the kernel, which ends the whole wave");
            findings.push(
                Finding::warning(code.insts.len() - 1, message).hint("add `return` after this instruction"),
            );
        }
    }
    findings.extend(falls_into_a_function(code, graph));
    findings
}

/// Code of the kernel that runs into a function.
fn falls_into_a_function(code: &Code, graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(kernel) = graph.functions.first() else { return findings };
    for function in graph.functions.iter().skip(1) {
        let entered = graph.block_of[function.entry];
        let Some(before) = function.entry.checked_sub(1) else { continue };
        let from = graph.block_of[before];
        let falls = graph
            .leads(from)
            .any(|(edge, to)| to == entered && matches!(edge, Edge::Next | Edge::Then | Edge::Resume));
        let only_called = graph.functions_at(before).all(|f| f == 0);
        if falls && only_called && kernel.blocks.binary_search(&from).is_ok() {
            let caller = code.at(graph.last_slot(function.sites[0].1));
            let message = format!("the kernel runs on into the function that {caller} calls");
            findings.push(
                Finding::warning(before, message).hint("add `halt` after this instruction, where it ends"),
            );
        }
    }
    findings
}

/// Greatest depths of the stacks, calls included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Depths {
    /// Frames of the divergence stack.
    pub nesting: u32,
    /// Frames of the call stack.
    pub calls: u32,
}

/// Stacks that overflow, and their greatest depths. Recursive calls count once.
pub(super) fn stacks(code: &Code, graph: &Graph) -> (Vec<Finding>, Depths) {
    let mut findings = Vec::new();
    let mut calls: DiGraph<(), ()> = DiGraph::new();
    graph.functions.iter().for_each(|_| _ = calls.add_node(()));
    for (callee, function) in graph.functions.iter().enumerate() {
        for &(caller, _) in &function.sites {
            calls.update_edge(NodeIndex::new(caller), NodeIndex::new(callee), ());
        }
    }
    // Strongly connected components are in callees-first order.
    let groups = tarjan_scc(&calls);
    let mut group_of = vec![0; graph.functions.len()];
    for (index, group) in groups.iter().enumerate() {
        group.iter().for_each(|function| group_of[function.index()] = index);
    }
    let limits = Depths { nesting: code.options.divergence_depth, calls: code.options.call_depth };
    let mut base = vec![Depths::default(); graph.functions.len()];
    let mut deepest = Depths::default();
    for group in groups.iter().rev() {
        for callee in group.iter().map(|node| node.index()) {
            let function = &graph.functions[callee];
            for &(caller, block) in &function.sites {
                let slot = graph.last_slot(block);
                if group_of[caller] == group_of[callee] {
                    findings.push(recursion(code, slot, function.returns, limits.calls));
                    continue;
                }
                let entry = graph.functions[caller].entry;
                let opened = code.structure.depth(slot).saturating_sub(code.structure.depth(entry));
                base[callee].nesting = base[callee].nesting.max(base[caller].nesting + opened);
                base[callee].calls = base[callee].calls.max(base[caller].calls + 1);
                if base[caller].calls == limits.calls {
                    let message = format!("calls nest {} deep here", limits.calls + 1);
                    findings.push(Finding::error(slot, message).hint(room("call", limits.calls)));
                }
            }
        }
        for function in group.iter().map(|node| node.index()) {
            deepest.calls = deepest.calls.max(base[function].calls);
            let entry = code.structure.depth(graph.functions[function].entry);
            for &block in &graph.functions[function].blocks {
                let slot = graph.last_slot(block);
                if !matches!(code.op(slot), Some(Op::If | Op::Loop)) {
                    continue;
                }
                let opened = (code.structure.depth(slot) + 1).saturating_sub(entry);
                let depth = base[function].nesting + opened;
                deepest.nesting = deepest.nesting.max(depth);
                if depth == limits.nesting + 1 {
                    let counted = if function == 0 { "" } else { ", counting what its callers have open" };
                    let message = format!("`if` and `loop` nest {depth} deep here{counted}");
                    findings.push(Finding::error(slot, message).hint(room("divergence", limits.nesting)));
                }
            }
        }
    }
    findings.sort_by_key(|finding| finding.slot);
    findings.dedup_by_key(|finding| finding.slot);
    (findings, deepest)
}

fn room(stack: &str, frames: u32) -> String {
    format!("this machine's {stack} stack holds {frames} frames")
}

fn recursion(code: &Code, slot: usize, returns: bool, limit: u32) -> Finding {
    let target = code.callee(slot).map_or(String::new(), |callee| code.at(callee));
    if returns {
        Finding::warning(slot, format!("a recursive call of the function at {target}"))
            .hint(format!("{}; going deeper is a fault", room("call", limit)))
    } else {
        Finding::error(slot, format!("a recursive call of the function at {target} that never returns"))
            .hint("put the call into an `if`, so that the recursion ends")
    }
}
