//! Changes a tree a little, by the same rules: the program ends and has no race.

use super::grow::{Grower, Place};
use super::shrink::list;
use super::{Node, Options, Region, Test, Tree, Trips};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use wave_isa::{Guard, Inst};

/// Most changes at a time.
const CHANGES: u32 = 4;
/// Nodes of a tree that only gets smaller. Programs stay short, and so their runs.
const MOST_NODES: usize = 160;

/// A tree that differs from another one in a few places. `mate` is where it takes nodes from, if the two have the same
/// registers.
pub fn mutate(tree: &Tree, mate: &Tree, seed: u64, options: &Options) -> Tree {
    let mut grower = Grower::resume(Pcg64Mcg::seed_from_u64(seed), options, tree.clone());
    for _ in 0..=grower.below(CHANGES) {
        grower.change(mate);
    }
    grower.tree
}

/// Nodes of a list, with those inside.
fn count(nodes: &[Node]) -> usize {
    nodes
        .iter()
        .map(|node| {
            1 + match node {
                Node::If { then, otherwise, .. } => count(then) + otherwise.as_deref().map_or(0, count),
                Node::Loop { body, .. } => count(body),
                _ => 0,
            }
        })
        .sum()
}

/// Bodies of loops without a barrier, the outer ones.
fn without_barriers<'a>(nodes: &'a mut [Node], loops: &mut Vec<&'a mut Vec<Node>>) {
    for node in nodes {
        if matches!(node, Node::Loop { .. }) && !has_barrier(node) {
            if let Node::Loop { body, .. } = node {
                loops.push(body);
            }
        } else {
            node.children().into_iter().for_each(|inner| without_barriers(inner, loops));
        }
    }
}

fn has_barrier(node: &Node) -> bool {
    match node {
        Node::Barrier | Node::Exchange(..) => true,
        Node::If { then, otherwise, .. } => then.iter().chain(otherwise.iter().flatten()).any(has_barrier),
        Node::Loop { body, .. } => body.iter().any(has_barrier),
        _ => false,
    }
}

impl Grower {
    /// One change.
    fn change(&mut self, mate: &Tree) {
        let nodes: usize = self.tree.functions.iter().map(|body| count(body)).sum();
        match self.below(16) {
            _ if nodes > MOST_NODES => self.leave_out(),
            0..5 => self.insert(),
            5 => self.leave_a_loop(),
            6 | 7 => self.leave_out(),
            8 => self.again(),
            9 => self.exchange_places(),
            10..13 => self.alter(),
            13 => self.cross(mate),
            14 => self.threads(),
            _ => self.tree.memory_seed = u64::from(self.below(u32::MAX)),
        }
    }

    /// The number of a list of nodes, in one of two cases that of the kernel's body.
    fn some_list(&mut self) -> usize {
        if self.one_in(2) {
            return 0;
        }
        let lists = (0..).take_while(|n| list(&mut self.tree, *n).is_some()).count();
        self.below(lists as u32) as usize
    }

    /// A list with something in it, and a range in it.
    fn some_range(&mut self, most: usize) -> Option<(usize, std::ops::Range<usize>)> {
        let chosen = self.some_list();
        let length = list(&mut self.tree, chosen)?.len();
        if length == 0 {
            return None;
        }
        let start = self.below(length as u32) as usize;
        let count = 1 + self.below(most.min(length - start) as u32) as usize;
        Some((chosen, start..start + count))
    }

    /// Grows nodes somewhere. In the kernel's body they may be anything; elsewhere what needs no particular place.
    fn insert(&mut self) {
        let chosen = self.some_list();
        let new = if chosen == 0 && self.one_in(2) { self.of_the_body() } else { self.of_any_place() };
        let Some(length) = list(&mut self.tree, chosen).map(|nodes| nodes.len()) else { return };
        let at = self.below(length as u32 + 1) as usize;
        if let Some(nodes) = list(&mut self.tree, chosen) {
            nodes.splice(at..at, new);
        }
    }

    fn of_any_place(&mut self) -> Vec<Node> {
        // No function is behind this one, so that there is no call.
        let place = Place::anywhere(self.tree.functions.len());
        match self.below(8) {
            0 => vec![self.own_access()],
            1 => vec![self.lane_atomic()],
            2 => vec![self.shared_atomic()],
            3 => vec![Node::Inst(self.synchronisation())],
            4 => self.special(),
            5 => vec![Node::Inst(self.plain())],
            _ => self.pair(place),
        }
    }

    /// A break or continue in a loop, by itself or in an if. Lanes may leave a loop at different times only if they meet at
    /// no barrier in it.
    fn leave_a_loop(&mut self) {
        let (leave, in_an_if) = (Node::Inst(self.leave()), self.one_in(2));
        let test = Test::Predicate { predicate: self.below(4) as u8, negated: self.one_in(2) };
        let new = if in_an_if { Node::If { test, then: vec![leave], otherwise: None } } else { leave };
        let (skipped, place) = (self.below(3), self.below(8) as usize);
        let mut loops = Vec::new();
        self.tree.functions.iter_mut().for_each(|body| without_barriers(body, &mut loops));
        if let Some(count) = (loops.len() as u32).checked_sub(1)
            && let Some(body) = loops.into_iter().nth(skipped.min(count) as usize)
        {
            body.insert(place.min(body.len()), new);
        }
    }

    fn leave_out(&mut self) {
        if let Some((chosen, range)) = self.some_range(6)
            && let Some(nodes) = list(&mut self.tree, chosen)
        {
            nodes.drain(range);
        }
    }

    /// The same nodes once more, behind themselves.
    fn again(&mut self) {
        if let Some((chosen, range)) = self.some_range(3)
            && let Some(nodes) = list(&mut self.tree, chosen)
        {
            let (end, copy) = (range.end, nodes[range].to_vec());
            nodes.splice(end..end, copy);
        }
    }

    fn exchange_places(&mut self) {
        let Some((chosen, range)) = self.some_range(8) else { return };
        if let Some(nodes) = list(&mut self.tree, chosen) {
            nodes.swap(range.start, range.end - 1);
        }
    }

    /// Nodes of another tree's body, in place of some of this one's. Trees of one origin have the same registers.
    fn cross(&mut self, mate: &Tree) {
        let frame = |tree: &Tree| (tree.registers, tree.reserved, tree.pool.clone());
        let (from, length) = (&mate.functions[0], mate.functions[0].len() as u32);
        // A call, and the functions that are there, belong to a tree.
        if frame(mate) != frame(&self.tree) || length == 0 || mate.functions.len() > 1 {
            return self.insert();
        }
        let start = self.below(length) as usize;
        let end = (start + 1 + self.below(12) as usize).min(from.len());
        let new = from[start..end].to_vec();
        let body = self.tree.functions[0].len();
        let at = self.below(body as u32 + 1) as usize;
        self.tree.functions[0].splice(at..at, new);
    }

    /// Other threads: those of a row, or a smaller workgroup or grid.
    fn threads(&mut self) {
        let axis = self.below(3) as usize;
        if self.one_in(2) {
            self.tree.grid[axis] = 1 + self.below(3);
        } else {
            let [x, y, z] = self.tree.workgroup;
            let threads = match self.below(4) {
                0 => x * y * z,
                1 => self.options.wave_width.min(x * y * z),
                _ => 1 + self.below(x * y * z),
            };
            self.tree.workgroup = [threads, 1, 1];
        }
    }

    /// Other operands, another guard, condition or count.
    fn alter(&mut self) {
        let Some((chosen, range)) = self.some_range(1) else { return };
        let Some(mut node) = list(&mut self.tree, chosen).map(|nodes| nodes[range.start].clone()) else {
            return;
        };
        match &mut node {
            Node::Inst(inst) => self.alter_inst(inst),
            Node::Access(access) => {
                let own = matches!(access.region, Region::Input | Region::OwnDevice | Region::OwnLocal);
                match self.below(4) {
                    0 => access.inst.guard = self.maybe_guard(),
                    1 => access.index = self.register(1),
                    // Every part of a mask stays in the region, and what is shared in the words of its kind.
                    2 => access.mask &= self.below(64),
                    _ if own => access.offset -= access.offset.min(4 * self.below(8)),
                    _ => {}
                }
            }
            Node::If { test: Test::Predicate { predicate, negated }, otherwise, .. } => match self.below(3) {
                0 => *negated = !*negated,
                1 => *predicate = self.below(4) as u8,
                _ => *otherwise = if otherwise.is_some() { None } else { Some(self.of_any_place()) },
            },
            Node::Loop { trips, .. } => {
                *trips = match *trips {
                    Trips::Fixed(_) => Trips::Fixed(self.below(4)),
                    Trips::Data { .. } => {
                        Trips::Data { register: self.register(1), mask: self.choose(&[1, 3, 5]) }
                    }
                }
            }
            _ => {}
        }
        if let Some(nodes) = list(&mut self.tree, chosen) {
            nodes[range.start] = node;
        }
    }

    fn alter_inst(&mut self, inst: &mut Inst) {
        // Addresses of the lane's own memory are in reserved registers, which operands never name.
        let is_plain = inst.op.memory().is_none() && !inst.op.needs_mma();
        match self.below(3) {
            0 if !inst.op.rejects_guard() => inst.guard = self.maybe_guard(),
            1 if is_plain => self.fill(inst),
            _ if is_plain && inst.guard == Guard::NONE => {
                if let [other] = &self.special()[..]
                    && let Node::Inst(other) = other
                {
                    *inst = *other;
                }
            }
            _ => {}
        }
    }
}
