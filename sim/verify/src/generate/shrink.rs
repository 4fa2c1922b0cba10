//! Shrinks a failing tree: whole blocks first, then single instructions, operands and lanes.

use super::{Case, Checksum, Node, Region, Test, Tree, Trips};
use std::ops::Range;
use wave_isa::{Field, Guard, Inst, Op, Role};

/// A smaller tree for which `fails` still holds, or `tree` itself if there is none. Every step keeps the
/// rules that make programs end and free of races. Calls `fails` some hundred times.
pub fn shrink(tree: &Tree, fails: &mut dyn FnMut(&Case) -> bool) -> Tree {
    let mut best = tree.clone();
    loop {
        let before = best.clone();
        lanes(&mut best, fails);
        frame(&mut best, fails);
        blocks(&mut best, fails);
        nesting(&mut best, fails);
        operands(&mut best, fails);
        if best == before {
            return best;
        }
    }
}

/// Accepts `candidate` if it differs and still fails.
fn take(best: &mut Tree, candidate: Tree, fails: &mut dyn FnMut(&Case) -> bool) -> bool {
    let better = candidate != *best && fails(&candidate.case());
    if better {
        *best = candidate;
    }
    better
}

/// A checksum over fewer registers or none, and no uncalled functions.
fn frame(best: &mut Tree, fails: &mut dyn FnMut(&Case) -> bool) {
    take(best, Tree { checksum: None, ..best.clone() }, fails);
    let mut less = |change: &dyn Fn(&mut Checksum)| {
        let mut candidate = best.clone();
        candidate.checksum.iter_mut().for_each(change);
        take(best, candidate, fails);
    };
    less(&|covers| covers.local = false);
    for n in 0..8 {
        less(&|covers| covers.predicates.retain(|&p| p != n));
        less(&|covers| covers.fragments.retain(|&f| f != n));
    }
    let middle = |run: &Range<u16>| run.start.midpoint(run.end);
    for n in 0..best.pool.len() {
        loop {
            let run = best.pool[n].clone();
            let parts = [run.start..run.start, run.start..middle(&run), middle(&run)..run.end];
            let smaller = parts.into_iter().any(|part| {
                let mut candidate = best.clone();
                candidate.pool[n] = part;
                take(best, candidate, fails)
            });
            if !smaller {
                break;
            }
        }
    }
    while let last @ 1.. = best.functions.len() - 1 {
        let mut candidate = best.clone();
        candidate.functions.pop();
        let mut lists = 0;
        while let Some(nodes) = list(&mut candidate, lists) {
            if nodes.contains(&Node::Call(last)) {
                return;
            }
            lists += 1;
        }
        if !take(best, candidate, fails) {
            return;
        }
    }
}

/// Smaller grids and workgroups.
fn lanes(best: &mut Tree, fails: &mut dyn FnMut(&Case) -> bool) {
    for axis in [2, 1, 0] {
        let mut grid = best.grid;
        grid[axis] = 1;
        take(best, Tree { grid, ..best.clone() }, fails);
    }
    let threads = best.threads();
    take(best, Tree { workgroup: [threads, 1, 1], ..best.clone() }, fails);
    let mut step = best.workgroup[0];
    while step > 0 {
        let [x, y, z] = best.workgroup;
        if x <= step || !take(best, Tree { workgroup: [x - step, y, z], ..best.clone() }, fails) {
            step /= 2;
        }
    }
}

/// Delta debugging over every list of nodes: halves, quarters, … single nodes.
fn blocks(best: &mut Tree, fails: &mut dyn FnMut(&Case) -> bool) {
    let mut index = 0;
    while let Some(length) = list(best, index).map(|l| l.len()) {
        let mut size = length;
        while size > 0 {
            let mut start = 0;
            while let Some(length) = list(best, index).map(|l| l.len())
                && start < length
            {
                let mut candidate = best.clone();
                if let Some(nodes) = list(&mut candidate, index) {
                    nodes.drain(start..length.min(start + size));
                }
                if !take(best, candidate, fails) {
                    start += size;
                }
            }
            size /= 2;
        }
        index += 1;
    }
}

/// Replaces ifs and loops by their contents, and simplifies those that remain.
fn nesting(best: &mut Tree, fails: &mut dyn FnMut(&Case) -> bool) {
    each_node(best, fails, |node| {
        let mut simpler: Vec<Vec<Node>> = Vec::new();
        match node {
            Node::If { test, then, otherwise } => {
                simpler.push(then.clone());
                if let Some(otherwise) = otherwise {
                    simpler.push(otherwise.clone());
                    simpler.push(vec![Node::If { test: *test, then: then.clone(), otherwise: None }]);
                }
                if let Test::Predicate { predicate, negated: true } = *test {
                    let test = Test::Predicate { predicate, negated: false };
                    simpler.push(vec![Node::If { test, then: then.clone(), otherwise: otherwise.clone() }]);
                }
            }
            Node::Loop { counter, predicate, body, .. } => {
                let mut once = body.clone();
                without_leaves(&mut once);
                simpler.push(once);
                for trips in 1..=2 {
                    simpler.push(vec![Node::Loop {
                        trips: Trips::Fixed(trips),
                        counter: *counter,
                        predicate: *predicate,
                        body: body.clone(),
                    }]);
                }
            }
            Node::Exchange(Some(_), after) => {
                simpler.push(vec![Node::Exchange(None, *after)]);
                simpler.push(vec![Node::Barrier]);
            }
            _ => {}
        }
        simpler
    });
}

/// Removes the breaks and continues of the loop whose body this was.
fn without_leaves(nodes: &mut Vec<Node>) {
    nodes.retain(|node| !node.leaves_loop());
    for node in nodes {
        if !matches!(node, Node::Loop { .. }) {
            node.children().into_iter().for_each(without_leaves);
        }
    }
}

/// Tries no guards, a single register, literals of 0, and addresses that do not vary.
fn operands(best: &mut Tree, fails: &mut dyn FnMut(&Case) -> bool) {
    let register = best.pool[0].start as u8;
    each_node(best, fails, |node| match node {
        Node::Inst(inst) => simpler_insts(*inst, register).map(|i| vec![Node::Inst(i)]).collect(),
        Node::Access(access) => {
            let unguarded = Inst { guard: Guard::NONE, ..access.inst };
            let mut simpler = vec![
                super::Access { inst: unguarded, ..*access },
                super::Access { index: register, ..*access },
                super::Access { mask: 0, ..*access },
            ];
            if matches!(access.region, Region::Input | Region::OwnDevice | Region::OwnLocal) {
                simpler.push(super::Access { offset: 0, ..*access });
            }
            simpler.into_iter().map(|a| vec![Node::Access(a)]).collect()
        }
        _ => Vec::new(),
    });
}

fn simpler_insts(inst: Inst, register: u8) -> impl Iterator<Item = Inst> {
    let mut simpler = vec![Inst { guard: Guard::NONE, ..inst }];
    // The address of an access is kept.
    let operands =
        inst.op.info().operands.iter().filter(|o| inst.op.memory().is_none() || o.field != Field::Rs1);
    for operand in operands {
        match operand.role {
            // A halt or a break keeps its predicate: with all lanes it would be a different program.
            Role::Src(1) | Role::Dst(1) => {
                let mut other = inst;
                other.set_field(operand.field, register);
                simpler.push(other);
            }
            Role::Imm if operand.field == Field::Imm && inst.op == Op::MovImm => {
                simpler.push(Inst { imm: 0, ..inst });
                simpler.push(Inst { imm: 1, ..inst });
            }
            _ => {}
        }
    }
    simpler.into_iter()
}

/// Replaces single nodes by what `simpler` proposes, in order of preference.
fn each_node(
    best: &mut Tree,
    fails: &mut dyn FnMut(&Case) -> bool,
    simpler: impl Fn(&Node) -> Vec<Vec<Node>>,
) {
    let mut index = 0;
    while list(best, index).is_some() {
        let mut at = 0;
        while let Some(node) = list(best, index).and_then(|nodes| nodes.get(at)) {
            for replacement in simpler(node) {
                let mut candidate = best.clone();
                if let Some(nodes) = list(&mut candidate, index) {
                    nodes.splice(at..=at, replacement);
                }
                if take(best, candidate, fails) {
                    break;
                }
            }
            at += 1;
        }
        index += 1;
    }
}

/// The tree's list of nodes number `index`, outer lists before inner ones.
pub(super) fn list(tree: &mut Tree, index: usize) -> Option<&mut Vec<Node>> {
    let mut left = index;
    tree.functions.iter_mut().find_map(|body| find(body, &mut left))
}

fn find<'a>(nodes: &'a mut Vec<Node>, left: &mut usize) -> Option<&'a mut Vec<Node>> {
    if *left == 0 {
        return Some(nodes);
    }
    *left -= 1;
    nodes.iter_mut().flat_map(Node::children).find_map(|inner| find(inner, left))
}
