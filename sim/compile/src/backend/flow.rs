//! The structured tree, with as little nesting as it can have.

use crate::structure::Node;

/// Takes what follows a branch out of it where one side never comes to its end, and drops a `continue` that is the
/// end of its loop anyway.
pub(super) fn flatten(nodes: Vec<Node>) -> Vec<Node> {
    let mut flat = Vec::new();
    for node in nodes {
        match node {
            Node::If(condition, [yes, no]) => {
                let [yes, no] = [flatten(yes), flatten(no)];
                let (yes_leaves, no_leaves) = (leaves(&yes), leaves(&no));
                // Of two sides that leave, the shorter one stays inside.
                if yes_leaves && (!no_leaves || yes.len() <= no.len()) {
                    flat.push(Node::If(condition, [yes, Vec::new()]));
                    flat.extend(no);
                } else if no_leaves {
                    flat.push(Node::If(condition, [Vec::new(), no]));
                    flat.extend(yes);
                } else {
                    flat.push(Node::If(condition, [yes, no]));
                }
            }
            Node::Loop(body) => {
                let mut body = flatten(body);
                if body.len() > 1 && body.last() == Some(&Node::Continue) {
                    body.pop();
                }
                flat.push(Node::Loop(body));
            }
            Node::IfExit(number, body) => flat.push(Node::IfExit(number, flatten(body))),
            node => flat.push(node),
        }
        if leaves(&flat) {
            break;
        }
    }
    flat
}

/// True if no lane comes to the end of the nodes.
pub(super) fn leaves(nodes: &[Node]) -> bool {
    match nodes.last() {
        Some(Node::End(_) | Node::Break | Node::Continue) => true,
        Some(Node::If(_, [yes, no])) => leaves(yes) && leaves(no),
        _ => false,
    }
}

/// Deepest nesting of branches and loops.
pub(super) fn nesting(code: &[super::code::Code]) -> u32 {
    use wave_isa::Op::*;
    let (mut now, mut most) = (0, 0);
    for code in code {
        match code.op {
            If | Loop => now += 1,
            EndIf | EndLoop => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}
