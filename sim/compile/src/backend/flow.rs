//! The structured tree, with as little nesting as it can have.

use super::code::{Code, Conventions};
use crate::ir::Block;
use crate::structure::Node;

/// Takes what follows a branch out of it where one side never comes to its end, and drops a `continue` that is the
/// end of its loop anyway. A side with the end of a block that `goes_out` says is the one that comes out.
pub(super) fn flatten(nodes: Vec<Node>, goes_out: &impl Fn(Block) -> bool) -> Vec<Node> {
    let mut flat = Vec::new();
    for node in nodes {
        match node {
            Node::If(condition, [yes, no]) => {
                let [yes, no] = [flatten(yes, goes_out), flatten(no, goes_out)];
                let ends_out =
                    |nodes: &[Node]| matches!(nodes.last(), Some(Node::End(block)) if goes_out(*block));
                let (yes_leaves, no_leaves) = (leaves(&yes), leaves(&no));
                // Of two sides that leave, the shorter one stays inside.
                if ends_out(&yes) {
                    flat.push(Node::If(condition, [Vec::new(), no]));
                    flat.extend(yes);
                } else if ends_out(&no) || yes_leaves && (!no_leaves || yes.len() <= no.len()) {
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
                let mut body = flatten(body, goes_out);
                if body.len() > 1 && body.last() == Some(&Node::Continue) {
                    body.pop();
                }
                flat.push(Node::Loop(body));
            }
            Node::IfExit(number, body) => flat.push(Node::IfExit(number, flatten(body, goes_out))),
            Node::IfExitBelow(number, sides) => {
                let [low, high] = sides.map(|side| flatten(side, goes_out));
                if leaves(&low) {
                    flat.push(Node::IfExitBelow(number, [low, Vec::new()]));
                    flat.extend(high);
                } else {
                    flat.push(Node::IfExitBelow(number, [low, high]));
                }
            }
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
        Some(Node::If(_, [yes, no]) | Node::IfExitBelow(_, [yes, no])) => leaves(yes) && leaves(no),
        _ => false,
    }
}

/// Deepest nesting of branches and loops, in called functions too.
pub(super) fn nesting(code: &[Code], conventions: &Conventions) -> u32 {
    use wave_isa::Op::*;
    let (mut now, mut most) = (0, 0);
    for code in code {
        match code.op {
            If | Loop => now += 1,
            EndIf | EndLoop => now -= 1,
            _ => {}
        }
        let callee = code.transfer.as_ref().and_then(|transfer| transfer.callee);
        let below = callee.and_then(|callee| conventions[callee].as_ref()).map_or(0, |called| called.nesting);
        most = most.max(now + below);
    }
    most
}

/// True if a return stands inside a branch or loop, where it must not be.
pub(super) fn returns_inside(code: &[Code]) -> bool {
    use wave_isa::Op::*;
    let mut now = 0;
    code.iter().any(|code| {
        match code.op {
            If | Loop => now += 1,
            EndIf | EndLoop => now -= 1,
            _ => {}
        }
        code.op == Return && now > 0
    })
}
