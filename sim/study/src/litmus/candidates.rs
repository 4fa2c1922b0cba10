//! The candidate executions of a scenario, and the outcomes of those that the axioms of docs/memory-model.md
//! allow.

use super::axioms::{Execution, Node};
use super::test::Observable;
use super::trace::{Event, EventKind, Trace, traces};
use super::variant::Scenario;
use std::collections::BTreeSet;

/// The allowed outcomes, each with its values in the order of the test's observables.
pub(crate) fn allowed_outcomes(scenario: &Scenario<'_>) -> BTreeSet<Vec<u32>> {
    let traces = traces(scenario);
    let mut outcomes = BTreeSet::new();
    let mut choice = vec![0; traces.len()];
    loop {
        let chosen: Vec<&Trace> = traces.iter().zip(&choice).map(|(all, &i)| &all[i]).collect();
        outcomes_of(scenario, &chosen, &mut outcomes);
        // The next combination of traces, counted like an odometer.
        let Some(thread) = (0..choice.len()).find(|&t| choice[t] + 1 < traces[t].len()) else {
            return outcomes;
        };
        choice[..thread].fill(0);
        choice[thread] += 1;
    }
}

/// Adds the outcomes of all executions with these traces.
fn outcomes_of(scenario: &Scenario<'_>, traces: &[&Trace], outcomes: &mut BTreeSet<Vec<u32>>) {
    let (mut execution, registers) = start(scenario, traces);
    let observed = &scenario.test.observed;
    if observed.is_empty() && outcomes.contains(&registers) {
        return;
    }
    // Each location alone first: the orders of its writes and the sources of its reads that are coherent with
    // respect to program order. Few remain.
    let mut locals = Vec::new();
    for location in 0..scenario.test.locations.len() {
        let found = execution.coherent_choices(location);
        if found.is_empty() {
            return;
        }
        locals.push(found);
    }
    // Happens-before depends on reads-from only. Given it, the locations are independent again.
    let sources: Vec<Vec<_>> = locals.iter().map(|found| found.keys().collect()).collect();
    let mut choice = vec![0; sources.len()];
    loop {
        for (location, &i) in choice.iter().enumerate() {
            execution.set_sources(sources[location][i]);
        }
        if let Some(order) = execution.happens_before() {
            let mut ends: Vec<BTreeSet<u32>> = Vec::new();
            for (location, &i) in choice.iter().enumerate() {
                let orders = &locals[location][sources[location][i]];
                let coherent = orders.iter().filter(|writes| execution.is_coherent(location, writes, &order));
                ends.push(coherent.filter_map(|writes| execution.last_value(writes)).collect());
            }
            if ends.iter().all(|values| !values.is_empty()) {
                let mut found = vec![registers.clone()];
                for &location in observed {
                    found = found
                        .iter()
                        .flat_map(|values| {
                            ends[location].iter().map(move |&end| [values.as_slice(), &[end]].concat())
                        })
                        .collect();
                }
                outcomes.extend(found);
            }
        }
        let Some(location) = (0..choice.len()).find(|&l| choice[l] + 1 < sources[l].len()) else { return };
        choice[..location].fill(0);
        choice[location] += 1;
    }
}

/// The initial writes and the events of all traces, and the final register values.
fn start(scenario: &Scenario<'_>, traces: &[&Trace]) -> (Execution, Vec<u32>) {
    let test = scenario.test;
    let mut nodes: Vec<Node> = Vec::new();
    for (location, l) in test.locations.iter().enumerate() {
        let kind = EventKind::Write { location, value: l.initial };
        let event = Event { kind, step: 0, atomic: None, depends: 0 };
        nodes.push(Node { event, place: None });
    }
    for (trace, placed) in traces.iter().zip(&scenario.threads) {
        let first = nodes.len();
        for event in &trace.events {
            let event = Event { depends: event.depends << first, ..*event };
            nodes.push(Node { event, place: Some(placed.place) });
        }
    }
    let registers = test.observables().into_iter().filter_map(|observable| match observable {
        Observable::Register { thread, register } => Some(traces[thread].registers[register]),
        Observable::Location(_) => None,
    });
    (Execution::new(nodes), registers.collect())
}
