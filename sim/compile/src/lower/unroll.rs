//! Loops with several rounds at once.
//!
//! The test of the end goes from all of these rounds but one, and each round is in one piece with the next: its loads can be
//! under way while the round before computes, and its addresses are folded. A loop qualifies if it has no other loop inside,
//! one jump backwards and one way out, on which a comparison of an induction variable decides.
//!
//! **The number of rounds is a constant**: evaluating the comparison counts the rounds. With T of them before the loop is
//! left, and U at once, the test stays in round T mod U of these: in the others it cannot leave. So any T and U go together.
//! The original blocks are the round that keeps the test, so that values that are used after the loop are defined on the
//! way out. A small loop goes entirely.
//!
//! **The program computes the number of rounds** before the loop begins: the comparison is with a value from there. Another
//! loop comes in front of this one. It makes U rounds at once as long as the distance to the limit says that no round of
//! these leaves. A machine whose waves walk through code that no lane executes pays for these rounds each time that the
//! loop begins, also if there are few. So only loops that no other loop is around are unrolled, and only if they load from
//! device memory: there a round waits for longest.

mod induction;

use super::edit::{Editor, Replaced};
use crate::ir::{
    Binary, Block, Compare, Function, MemoryId, Module, Operation, Space, Target, Terminator, Type, Value,
};
use crate::structure::Graph;
use cranelift_entity::packed_option::ReservedValue;
use cranelift_entity::{EntitySet, SecondaryMap};
use induction::{Bound, Definitions, Limit};
use std::cmp::Ordering;

/// Which loops are unrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unroll {
    /// Loops with a constant number of rounds: for sources whose compiler has unrolled the others.
    Counted,
    /// Also loops whose number of rounds is computed before they begin.
    #[default]
    Bounded,
}

/// Instructions of a loop that goes entirely, all rounds together.
const MOST_FOR_ALL: u32 = 160;
/// Instructions of the rounds at once of a loop that stays.
const MOST_FOR_SOME: u32 = 96;
/// Rounds at once of a loop that stays.
const AT_ONCE: [u32; 3] = [8, 4, 2];
/// The same where the number of rounds is computed: up to one less are left over, which make rounds of their own.
const AT_ONCE_BOUNDED: [u32; 2] = [4, 2];
/// Instructions that a function may gain.
const MOST_MORE: u32 = 4096;

/// Unrolls the loops of a function that qualify, inner ones first. True if there was one.
pub(super) fn unroll(module: &Module, function: &mut Function, which: Unroll) -> bool {
    let device = |memory: MemoryId| module.memories[memory].space == Space::Device;
    let mut done: EntitySet<Block> = EntitySet::new();
    let mut room = MOST_MORE;
    let mut any = false;
    loop {
        let graph = Graph::new(function);
        let definitions = Definitions::of(function);
        let headers = graph.order.iter().copied().filter(|&block| graph.is_header(block));
        // A loop around another one is looked at when that one has gone.
        let mut around: EntitySet<Block> = EntitySet::new();
        headers.clone().for_each(|header| around.extend(graph.loops(header).nth(1)));
        let innermost: Vec<Block> =
            headers.filter(|&header| !done.contains(header) && !around.contains(header)).collect();
        let found = innermost.into_iter().find_map(|header| {
            done.insert(header);
            let one = Simple::find(function, &graph, header)?;
            let size = one.size(function);
            let fits = |at_once: u32, most: u32| size.saturating_mul(at_once) <= most.min(room);
            let test = definitions.test(&one)?;
            if let Some(rounds) = definitions.rounds(&graph, &one, &test) {
                let all = rounds + 1;
                let some = AT_ONCE.into_iter().find(|&at_once| at_once < all && fits(at_once, MOST_FOR_SOME));
                let at_once = if fits(all, MOST_FOR_ALL) { all } else { some? };
                return (at_once > 1).then_some((one, at_once, Rounds::Counted(rounds)));
            }
            let waits = which == Unroll::Bounded && one.begins_once(&graph) && one.loads(function, device);
            let bound = definitions.bound(&one, &test).filter(|_| waits)?;
            let at_once = AT_ONCE_BOUNDED.into_iter().find(|&at_once| fits(at_once, MOST_FOR_SOME))?;
            Some((one, at_once, Rounds::Bounded(bound)))
        });
        let Some((one, at_once, rounds)) = found else { return any };
        room -= one.size(function) * at_once;
        done.insert(match rounds {
            Rounds::Counted(rounds) => one.unroll(function, at_once, rounds),
            Rounds::Bounded(bound) => one.unroll_before(function, at_once, &bound),
        });
        any = true;
    }
}

/// Knowledge of the number of rounds.
enum Rounds {
    /// Jumps backwards until the loop is left.
    Counted(u32),
    Bounded(Bound),
}

/// A loop with one jump backwards, and one way out by a branch.
struct Simple {
    header: Block,
    /// Its blocks.
    blocks: Vec<Block>,
    /// The block that jumps back.
    latch: Block,
    /// The block that leaves it, and which of its two targets stays inside.
    exit: Block,
    inside: usize,
    /// The condition on which it stays inside, if the second is true, else that on which it leaves.
    condition: (Value, bool),
}

impl Simple {
    fn find(function: &Function, graph: &Graph, header: Block) -> Option<Simple> {
        let is_inside = |block: Block| graph.is_inside(block, header);
        let blocks: Vec<Block> = graph.order.iter().copied().filter(|&block| is_inside(block)).collect();
        let (mut latches, mut exits) = (Vec::new(), Vec::new());
        for &block in &blocks {
            for (number, target) in function.blocks[block].terminator.targets().iter().enumerate() {
                if target.block == header {
                    latches.push(block);
                } else if !is_inside(target.block) {
                    exits.push((block, 1 - number.min(1)));
                }
            }
        }
        let (&[latch], &[(exit, inside)]) = (&latches[..], &exits[..]) else { return None };
        let Terminator::Branch(condition, _) = function.blocks[exit].terminator else { return None };
        Some(Simple { header, blocks, latch, exit, inside, condition: (condition, inside == 0) })
    }

    /// True if no other loop is around this one.
    fn begins_once(&self, graph: &Graph) -> bool {
        graph.loops(self.header).count() == 1
    }

    /// True if a round is one piece of code, and loads from such a memory.
    fn loads(&self, function: &Function, memory: impl Fn(MemoryId) -> bool) -> bool {
        let code = || self.blocks.iter().flat_map(|&block| &function.blocks[block].instructions);
        let mut operations = code().map(|one| &one.operation);
        self.blocks.len() <= 2
            && operations.any(|one| matches!(one, Operation::Load(access, _) if memory(access.memory)))
    }

    /// Instructions of a round.
    fn size(&self, function: &Function) -> u32 {
        self.blocks.iter().map(|&block| function.blocks[block].instructions.len() as u32 + 1).sum()
    }

    /// Leads the ways into the loop to another block, those from the first `count` blocks. The others are copies of it.
    fn enter_at(&self, function: &mut Function, first: Block, count: usize) {
        for (block, body) in function.blocks.iter_mut().take(count) {
            if self.blocks.contains(&block) {
                continue;
            }
            for target in body.terminator.targets_mut() {
                if target.block == self.header {
                    target.block = first;
                }
            }
        }
    }

    /// The test of a round goes, and its jump backwards leads on to the next.
    fn go_on(&self, function: &mut Function, copied: &Copied, next: Block) {
        let exit = &mut function.blocks[copied.blocks[self.exit]].terminator;
        if let Terminator::Branch(_, targets) = exit {
            *exit = Terminator::Jump(targets[self.inside].clone());
        }
        let (latch, own) = (copied.blocks[self.latch], copied.blocks[self.header]);
        for target in function.blocks[latch].terminator.targets_mut() {
            if target.block == own {
                target.block = next;
            }
        }
    }

    /// Makes so many rounds at once, of a loop that jumps back so often. Gives the header that the loop has then.
    fn unroll(&self, function: &mut Function, at_once: u32, rounds: u32) -> Block {
        let kept = (rounds % at_once) as usize;
        let count = function.blocks.len();
        let copies: Vec<Copied> = (1..at_once).map(|_| Copied::new(function, &self.blocks)).collect();
        // The original is round `kept`.
        let copy = |round: usize| match round.cmp(&kept) {
            Ordering::Less => Some(&copies[round]),
            Ordering::Equal => None,
            Ordering::Greater => Some(&copies[round - 1]),
        };
        let header_of = |round: usize| {
            let copy = copy(round % at_once as usize);
            copy.map_or(self.header, |copied| copied.blocks[self.header])
        };
        let first = header_of(0);
        self.enter_at(function, first, count);
        for round in 0..at_once as usize {
            let next = header_of(round + 1);
            if let Some(copied) = copy(round) {
                self.go_on(function, copied, next);
                continue;
            }
            for target in function.blocks[self.latch].terminator.targets_mut() {
                if target.block == self.header {
                    target.block = next;
                }
            }
            // All rounds are there: the test always leaves.
            if at_once > rounds
                && let Terminator::Branch(_, targets) = &function.blocks[self.exit].terminator
            {
                function.blocks[self.exit].terminator = Terminator::Jump(targets[1 - self.inside].clone());
            }
        }
        first
    }

    /// Puts rounds at once in front of the loop, as long as its test leaves in none of them. Gives their header.
    fn unroll_before(&self, function: &mut Function, at_once: u32, bound: &Bound) -> Block {
        let count = function.blocks.len();
        let rounds: Vec<Copied> = (0..at_once).map(|_| Copied::new(function, &self.blocks)).collect();
        let types: Vec<Type> =
            function.blocks[self.header].parameters.iter().map(|&value| function.values[value]).collect();
        let first = function.block(&types);
        self.enter_at(function, first, count);
        for (round, copied) in rounds.iter().enumerate() {
            let next = rounds.get(round + 1).map_or(first, |next| next.blocks[self.header]);
            self.go_on(function, copied, next);
        }
        let at = function.blocks[self.header].at;
        let parameters = function.blocks[first].parameters.clone();
        let variable = parameters[bound.variable];
        let mut editor = Editor::at_end(function, first, at);
        let compared = match bound.more {
            0 => variable,
            more => editor.with(Binary::Add, variable, more),
        };
        let limit = match bound.limit {
            Limit::Constant(bits) => editor.constant(editor.ty(variable), bits),
            Limit::Value(value) => value,
        };
        let ends = if bound.is_upwards { [limit, compared] } else { [compared, limit] };
        let distance = editor.binary(Binary::Sub, ends[0], ends[1]);
        let last = u64::from(at_once - 1) * bound.step;
        let mut all_stay = editor.compare_with(Compare::GtU, distance, last);
        // The distance of a variable past its limit is a great number, too.
        if bound.compare != Compare::Ne {
            let stays = editor.compare(bound.compare, compared, limit);
            all_stay = editor.binary(Binary::And, stays, all_stay);
        }
        let targets = [rounds[0].blocks[self.header], self.header];
        let targets = targets.map(|block| Target { block, arguments: parameters.clone() });
        let body = &mut function.blocks[first];
        (body.terminator, body.at) = (Terminator::Branch(all_stay, targets), at);
        first
    }
}

/// A copy of blocks.
struct Copied {
    /// The copy of each.
    blocks: SecondaryMap<Block, Block>,
}

impl Copied {
    /// Values of the blocks are copied too. Jumps out of them stay.
    fn new(function: &mut Function, of: &[Block]) -> Copied {
        let mut blocks = SecondaryMap::with_default(Block::reserved_value());
        let mut values = Replaced::default();
        for &block in of {
            blocks[block] = function.block(&[]);
            let body = &function.blocks[block];
            let results = body.instructions.iter().flat_map(|one| &one.results);
            let defined: Vec<Value> = body.parameters.iter().chain(results).copied().collect();
            for value in defined {
                let copy = function.value(function.values[value]);
                values.set(value, copy);
            }
        }
        let copy_of = |block: Block| if blocks[block].is_reserved_value() { block } else { blocks[block] };
        for &block in of {
            function.blocks[blocks[block]] =
                function.blocks[block].copied(|value| values.get(value), copy_of);
        }
        Copied { blocks }
    }
}
