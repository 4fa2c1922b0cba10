//! Barriers that only some of a wave's live lanes may reach.

use super::code::{Code, Finding};
use super::divergence::{Divergence, Masked, Split};
use super::graph::Graph;
use crate::Op;
use std::ops::RangeInclusive;

/// Barriers and halts that may execute where divergence masks lanes off.
pub(super) fn barriers(
    code: &Code,
    graph: &Graph,
    divergence: &Divergence,
    reachable: &[bool],
) -> Vec<Finding> {
    let reached = |op: Op| move |&slot: &usize| reachable[slot] && code.op(slot) == Some(op);
    let all = 0..code.insts.len();
    let lanes_end = all.clone().any(|slot| reachable[slot] && ends_lanes(code, graph, divergence, slot));
    let mut findings = Vec::new();
    for slot in all.clone().filter(reached(Op::Barrier)) {
        if let Some(masked) = divergence.masked(code, graph, slot) {
            findings.push(barrier(code, graph, divergence, lanes_end, slot, masked));
        }
    }
    for slot in all.filter(reached(Op::Halt)) {
        let site = graph.functions_at(slot).find_map(|f| divergence.masked_call[f]);
        if let Some(site) = site {
            let message = format!("`halt` in a function that {} calls where lanes may wait", code.at(site));
            findings.push(Finding::warning(slot, message).hint(
                "if it ends every active lane, the wave goes on behind the function's `return` instead of \
                 with the waiting lanes: end lanes outside of functions",
            ));
        }
    }
    findings
}

fn barrier(
    code: &Code,
    graph: &Graph,
    divergence: &Divergence,
    lanes_end: bool,
    slot: usize,
    masked: Masked,
) -> Finding {
    let because = |split: Split| {
        let predicate = code.inst(split.at).and_then(|inst| inst.predicate_source());
        let predicate = predicate.map_or(String::new(), |(p, _)| format!("p{p}"));
        let (at, text) = (code.at(split.origin), code.text(split.origin));
        match code.op(split.at) {
            Some(Op::If) => format!("{predicate} can differ between lanes because of `{text}` in {at}"),
            _ => format!("which lanes take it depends on `{text}` in {at}"),
        }
    };
    match masked {
        Masked::If(split) => {
            let advice = "put the barrier behind the `endif`, where all lanes of a wave come by";
            let at = code.at(split.at);
            if let Some((wave, lanes)) = certain(code, graph, divergence, slot).filter(|_| !lanes_end) {
                let (some, others) = (ranges(&lanes, true), ranges(&lanes, false));
                let message = format!("this barrier is reached by {some} of wave {wave} without {others}");
                let hint = format!("the `if` of {at} parts them: {}; {advice}", because(split));
                return Finding::error(slot, message).hint(hint);
            }
            let message = format!("this barrier is in the `if` of {at}, which may part the lanes of a wave");
            Finding::warning(slot, message).hint(format!("{}; {advice}", because(split)))
        }
        Masked::Break(split) => {
            let message = format!(
                "this barrier is in a loop that lanes of a wave may leave at different times, by the `break` of {}",
                code.at(split.at)
            );
            Finding::warning(slot, message).hint(format!(
                "{}; let all lanes run equally often, and guard what only some should do",
                because(split)
            ))
        }
        Masked::Continue(split) => {
            let message =
                format!("lanes may miss this barrier, with the `continue` of {}", code.at(split.at));
            Finding::warning(slot, message).hint(because(split))
        }
        Masked::Call(site) => {
            let message = format!(
                "this barrier is in a function that {} calls where lanes of a wave may be masked off",
                code.at(site)
            );
            let hint = match divergence.masked(code, graph, site) {
                Some(Masked::If(s) | Masked::Break(s) | Masked::Continue(s)) => because(s),
                _ => "call it where all lanes of a wave come by".to_owned(),
            };
            Finding::warning(slot, message).hint(hint)
        }
    }
}

/// True if an instruction may end some lanes of a wave and not others. A barrier does not wait for ended
/// lanes.
fn ends_lanes(code: &Code, graph: &Graph, divergence: &Divergence, slot: usize) -> bool {
    let inst = code.inst(slot).filter(|inst| matches!(inst.op, Op::Halt | Op::Return));
    inst.is_some_and(|inst| inst.guard.is_some() || divergence.masked(code, graph, slot).is_some())
}

/// The first wave of which some lanes reach the slot and others do not, and for each of its lanes whether it
/// does. `None` unless the threads' positions in the workgroup decide it and no lane ends early.
fn certain(code: &Code, graph: &Graph, divergence: &Divergence, slot: usize) -> Option<(usize, Vec<bool>)> {
    // Masks of the callers are not tracked.
    if graph.functions_at(slot).any(|f| f > 0) {
        return None;
    }
    let mut inside = divergence.threads.all();
    for c in code.structure.around(slot) {
        let construct = &code.structure.constructs[c];
        if construct.is_loop {
            if divergence.split[c].or(divergence.resumed[c]).is_some() {
                return None;
            }
            continue;
        }
        let Some(condition) = &divergence.condition[c] else {
            // All lanes go the same way.
            if divergence.split[c].is_none() {
                continue;
            }
            return None;
        };
        let negated = code.inst(construct.open)?.predicate_source()?.1;
        let otherwise = construct.alternative.is_some_and(|alternative| slot > alternative);
        for (inside, value) in inside.iter_mut().zip(condition.values.iter()) {
            *inside &= (*value != 0) != (negated != otherwise);
        }
    }
    let (wave, lanes) = divergence.threads.split_wave(&inside)?;
    Some((wave, lanes.to_vec()))
}

/// Lanes in (`member`) or outside of a wave's set, as "lanes 0 to 15".
fn ranges(lanes: &[bool], member: bool) -> String {
    let mut runs: Vec<RangeInclusive<usize>> = Vec::new();
    for lane in (0..lanes.len()).filter(|&lane| lanes[lane] == member) {
        match runs.last_mut() {
            Some(run) if *run.end() + 1 == lane => *run = *run.start()..=lane,
            _ => runs.push(lane..=lane),
        }
    }
    let shown = runs.iter().take(3).map(|run| match run.end() - run.start() {
        0 => run.start().to_string(),
        n => format!("{}{}{}", run.start(), if n == 1 { " and " } else { " to " }, run.end()),
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if runs.len() > 3 {
        text.push_str(", …");
    }
    let plural = if runs.len() == 1 && runs[0].start() == runs[0].end() { "lane" } else { "lanes" };
    format!("{plural} {text}")
}
