//! An order of the blocks of a function in which lanes that are behind come first.

use super::super::Function;
use super::super::dominance::control_flow;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The place of each block in a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with
/// widenings", 1993): a loop lies in one piece, its head first, before what comes behind it; within a loop, without
/// the jumps to its head, the same holds again. Any graph has one, also an irreducible one.
pub(super) fn weak_topological_order(function: &Function) -> Vec<u32> {
    let graph = control_flow(function);
    let mut places = vec![0; function.blocks.len()];
    let mut next = 0;
    // What is still to be ordered, the first of it last.
    let mut left = vec![(graph.node_indices().collect::<Vec<_>>(), false)];
    while let Some((nodes, is_loop)) = left.pop() {
        if let [node] = nodes[..] {
            places[node.index()] = next;
            next += 1;
            continue;
        }
        let is_inside = membership(&graph, &nodes);
        let head = is_loop.then(|| head(&graph, &nodes, &is_inside));
        let part = graph.filter_map(
            |node, ()| (is_inside[node.index()] && Some(node) != head).then_some(node),
            |_, ()| Some(()),
        );
        // Components come in reverse order, and are taken from the end: the first is that taken last.
        let components = kosaraju_scc(&part).into_iter();
        left.extend(components.map(|component| {
            let nodes: Vec<_> = component.into_iter().map(|node| part[node]).collect();
            (nodes, true)
        }));
        left.extend(head.map(|head| (vec![head], false)));
    }
    places
}

fn membership(graph: &DiGraph<(), ()>, nodes: &[NodeIndex]) -> Vec<bool> {
    let mut is_inside = vec![false; graph.node_count()];
    nodes.iter().for_each(|node| is_inside[node.index()] = true);
    is_inside
}

/// The block through which control comes into a loop: the first of them, if there are several.
fn head(graph: &DiGraph<(), ()>, nodes: &[NodeIndex], is_inside: &[bool]) -> NodeIndex {
    let is_entered = |node: &NodeIndex| {
        graph.neighbors_directed(*node, petgraph::Incoming).any(|from| !is_inside[from.index()])
    };
    let entered = nodes.iter().copied().filter(is_entered).min();
    entered.or(nodes.iter().copied().min()).expect("a component has nodes")
}
