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

#[cfg(test)]
mod tests {
    use super::super::super::Module;
    use super::weak_topological_order;

    fn places(text: &str) -> Vec<u32> {
        let module: Module = text.parse().unwrap();
        weak_topological_order(module.functions.values().next().unwrap())
    }

    /// A loop of b1 and b2 in one of b4, b1, b2 and b3; b5 is behind both, b6 is not reached.
    #[test]
    fn loops_lie_in_one_piece_with_their_heads_first() {
        let order = places(
            "function f0 (bool) -> () { b0(v0: bool): jump b4 b1: jump b2 b2: branch v0, b3, b1
             b3: branch v0, b5, b4 b4: jump b1 b5: return b6: jump b5 }",
        );
        let mut reached: Vec<usize> = (0..6).collect();
        reached.sort_by_key(|&block| order[block]);
        assert_eq!(reached, [0, 4, 1, 2, 3, 5]);
        assert!(order[6] < order[5]);
        let mut all = order;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
    }

    /// Of two entries of a loop the first is its head.
    #[test]
    fn a_loop_with_two_entries_has_a_head() {
        let order = places(
            "function f0 (bool) -> () { b0(v0: bool): branch v0, b2, b1 b1: jump b2 b2: branch v0, b1, b3 b3: return }",
        );
        assert_eq!(order, [0, 1, 2, 3]);
    }

    /// A block that jumps to itself is a loop of one.
    #[test]
    fn a_block_may_be_a_loop() {
        let order =
            places("function f0 (bool) -> () { b0(v0: bool): jump b2 b1: return b2: branch v0, b2, b1 }");
        assert_eq!(order, [0, 2, 1]);
    }
}
