//! Code that no lane can reach, and loops that no lane can leave.

use super::code::{Code, Finding};
use super::graph::Graph;
use crate::Op;
use petgraph::graph::NodeIndex;
use petgraph::visit::{Dfs, Reversed};

/// One warning for each run of instructions that no lane reaches, and for each loop without an exit.
///
/// Markers (`else`, `endif`, `endloop`) of a reachable construct belong to it and are not counted. Nor are
/// `halt`, `return` and `nop` alone, which only end the text.
pub(super) fn unreachable(code: &Code, graph: &Graph, reachable: &[bool]) -> Vec<Finding> {
    let dead = |slot: usize| {
        let of_reached =
            code.structure.construct_of[slot].is_some_and(|c| reachable[code.structure.constructs[c].open]);
        let marker = matches!(code.op(slot), Some(Op::Else | Op::EndIf | Op::EndLoop));
        !(reachable[slot] || marker && of_reached)
    };
    let endless = endless(code, graph, reachable);
    let mut findings = Vec::new();
    let mut slot = 0;
    while slot < reachable.len() {
        if !dead(slot) {
            slot += 1;
            continue;
        }
        let first = slot;
        // Markers in the middle of a run are part of it.
        let end = (first..reachable.len()).find(|&s| reachable[s]).unwrap_or(reachable.len());
        slot = end;
        let last = (first..end).rfind(|&s| dead(s)).unwrap_or(first);
        let closes = |s| matches!(code.op(s), Some(Op::Halt | Op::Return | Op::Nop));
        if (first..end).all(closes) {
            continue;
        }
        // Code after an endless loop is covered by the warning about the loop.
        if first > 0 && endless.iter().any(|c| code.structure.constructs[*c].close == Some(first - 1)) {
            continue;
        }
        let message = match last - first {
            0 => "this instruction is never reached".to_owned(),
            n => format!("these {} instructions, to {}, are never reached", n + 1, code.at(last)),
        };
        let finding = Finding::warning(first, message);
        findings.push(match why(code, graph, first) {
            Some(why) => finding.hint(why),
            None => finding,
        });
    }
    for c in endless {
        let construct = &code.structure.constructs[c];
        let message = "this loop never ends: no `break`, `halt` or `return` leaves it";
        let finding = Finding::warning(construct.open, message);
        let next = construct.close.map(|close| close + 1).filter(|&next| next < reachable.len());
        findings.push(match next {
            Some(next) if dead(next) => finding.hint(format!("so {} is never reached", code.at(next))),
            _ => finding.hint("add `break pN` where a lane is done"),
        });
    }
    findings
}

/// Loops that a lane can enter but not leave; of nested ones the innermost.
fn endless(code: &Code, graph: &Graph, reachable: &[bool]) -> Vec<usize> {
    // Where lanes end: at a halt, at a return of the kernel itself, past the last instruction.
    let ends = |block: NodeIndex| {
        let slot = graph.last_slot(block);
        match code.op(slot) {
            Some(Op::Halt) | None => true,
            Some(Op::Return) => graph.functions[0].blocks.binary_search(&block).is_ok(),
            Some(op) => graph.after(block).is_none() && op != Op::EndLoop,
        }
    };
    let reversed = Reversed(&graph.blocks);
    let mut ending: Vec<bool> = graph.blocks.node_indices().map(ends).collect();
    let mut dfs = Dfs::empty(reversed);
    for block in graph.blocks.node_indices().filter(|&block| ends(block)) {
        dfs.move_to(block);
        while let Some(block) = dfs.next(reversed) {
            ending[block.index()] = true;
        }
    }
    let left = |c: usize| {
        let breaks = |s: usize| code.op(s) == Some(Op::Break) && code.structure.construct_of[s] == Some(c);
        (0..code.insts.len()).any(|s| reachable[s] && breaks(s))
    };
    let loops = code.structure.constructs.iter().enumerate().filter(|(_, c)| c.is_loop && reachable[c.open]);
    let endless = loops.filter(|&(_, c)| !ending[graph.block_of[c.open + 1].index()]);
    endless.map(|(index, _)| index).filter(|&c| !left(c)).collect()
}

/// Why the code in front of a run makes it unreachable.
fn why(code: &Code, graph: &Graph, first: usize) -> Option<String> {
    let before = first.checked_sub(1)?;
    let at = code.at(before);
    let inst = match code.inst(before) {
        Some(inst) => inst,
        None => return Some(format!("the instruction of {at} is illegal")),
    };
    match inst.op {
        Op::Call => {
            let callee = code.callee(before)?;
            let known = graph.functions.iter().any(|f| f.entry == callee && !f.returns);
            known.then(|| format!("the function at {} never returns", code.at(callee)))
        }
        Op::Halt | Op::Return => {
            let name = inst.op.info().mnemonic;
            Some(format!(
                "the `{name}` of {at} ends all lanes that get there, and nothing calls what follows"
            ))
        }
        Op::Else | Op::EndIf => Some(format!("no lane gets to the `{}` of {at}", inst.op.info().mnemonic)),
        _ => None,
    }
}
