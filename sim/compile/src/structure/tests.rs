//! Random graphs: the structured form goes through the same blocks as the graph, whatever the branches do.

use super::{Node, StructureError, flat, structure};
use crate::ir::{Block, Function, Place, Signature, Target, Terminator, Type, Value};
use cranelift_entity::EntityRef;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::{BTreeMap, BTreeSet};

/// A function of `count` blocks with random ends. Each jump brings an argument, so that it can be told from others.
fn random_function(random: &mut Pcg32, count: usize) -> Function {
    let signature = Signature { parameters: vec![Type::I32, Type::Bool], results: Vec::new() };
    let mut function = Function::new(None, signature, Place::default());
    let [argument, condition] = [0, 1].map(Value::new);
    let blocks: Vec<Block> = (1..count).map(|_| function.block(&[Type::I32])).collect();
    let entry = function.entry();
    for (at, block) in std::iter::once(entry).chain(blocks.iter().copied()).enumerate() {
        let mut target = || {
            // Mostly near and forward, as programs are.
            let to = match random.random_range(0..10) {
                0..7 => at + random.random_range(0..3),
                7..9 => at.saturating_sub(random.random_range(0..6)),
                _ => random.random_range(0..count),
            };
            Target { block: blocks[to.min(blocks.len() - 1)], arguments: vec![argument] }
        };
        let targets = [target(), target()];
        function.blocks[block].terminator = match random.random_range(0..12) {
            0 => Terminator::Return(Vec::new()),
            1..5 => Terminator::Jump(targets[0].clone()),
            _ => Terminator::Branch(condition, targets),
        };
    }
    function
}

/// What is seen on the way: blocks, and the jumps between them.
type Step = (Block, Option<usize>);

/// Whether the branch at the end of a block is taken when it comes for the n-th time: any function will do.
fn takes(seed: u64, block: Block, turn: u64) -> bool {
    let mix = (seed ^ (block.as_u32() as u64) << 32 ^ turn).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mix ^ mix >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40 & 1 != 0
}

fn walk_graph(function: &Function, seed: u64, steps: usize) -> Vec<Step> {
    let mut seen = Vec::new();
    let mut turns: BTreeMap<Block, u64> = BTreeMap::new();
    let mut block = function.entry();
    while seen.len() < steps {
        seen.push((block, None));
        let turn = turns.entry(block).or_default();
        *turn += 1;
        let number = match &function.blocks[block].terminator {
            Terminator::Jump(_) => 0,
            Terminator::Branch(..) => usize::from(!takes(seed, block, *turn)),
            _ => break,
        };
        seen.push((block, Some(number)));
        block = function.blocks[block].terminator.targets()[number].block;
    }
    seen
}

/// How a list of nodes was left.
#[derive(PartialEq)]
enum Left {
    Through,
    Break,
    Continue,
    Ended,
}

struct Walk {
    seed: u64,
    steps: usize,
    turns: BTreeMap<Block, u64>,
    last: Block,
    exit: u32,
    seen: Vec<Step>,
}

impl Walk {
    fn nodes(&mut self, nodes: &[Node]) -> Left {
        for node in nodes {
            if self.seen.len() >= self.steps {
                return Left::Ended;
            }
            let left = match node {
                Node::Code(block) => {
                    self.seen.push((*block, None));
                    self.last = *block;
                    *self.turns.entry(*block).or_default() += 1;
                    Left::Through
                }
                Node::End(block) => {
                    assert_eq!(*block, self.last);
                    Left::Ended
                }
                Node::Pass(block, number) => {
                    self.seen.push((*block, Some(*number)));
                    Left::Through
                }
                Node::If(_, sides) => {
                    let taken = takes(self.seed, self.last, self.turns[&self.last]);
                    self.nodes(&sides[usize::from(!taken)])
                }
                Node::Loop(body) => loop {
                    match self.nodes(body) {
                        Left::Through | Left::Continue => {
                            assert!(!body.is_empty(), "an empty loop never ends")
                        }
                        Left::Break => break Left::Through,
                        Left::Ended => return Left::Ended,
                    }
                },
                Node::Break => Left::Break,
                Node::Continue => Left::Continue,
                Node::SetExit(value) => {
                    self.exit = *value;
                    Left::Through
                }
                Node::IfExit(value, nodes) if *value == self.exit => self.nodes(nodes),
                Node::IfExit(..) => Left::Through,
                Node::IfExitBelow(value, sides) => self.nodes(&sides[usize::from(self.exit >= *value)]),
            };
            if left != Left::Through {
                return left;
            }
        }
        Left::Through
    }
}

fn walk_nodes(nodes: &[Node], seed: u64, steps: usize) -> Vec<Step> {
    let (turns, last, exit, seen) = (BTreeMap::new(), Block::new(0), 0, Vec::new());
    let mut walk = Walk { seed, steps, turns, last, exit, seen };
    assert!(walk.nodes(nodes) == Left::Ended, "lanes came to the end of the code");
    walk.seen
}

/// Whether a graph is reducible, by its definition: removing loops of a block to itself, and blocks with one
/// predecessor into it, leaves only the entry.
fn is_reducible(function: &Function) -> bool {
    let mut next: BTreeMap<Block, BTreeSet<Block>> = BTreeMap::new();
    let mut work = vec![function.entry()];
    while let Some(block) = work.pop() {
        let targets: BTreeSet<Block> =
            function.blocks[block].terminator.targets().iter().map(|target| target.block).collect();
        if next.insert(block, targets.clone()).is_none() {
            work.extend(targets);
        }
    }
    loop {
        for (block, targets) in &mut next {
            targets.remove(block);
        }
        let before = |block: Block| {
            next.iter().filter(move |(_, targets)| targets.contains(&block)).map(|(at, _)| *at)
        };
        let single =
            next.keys().copied().find(|&block| block != function.entry() && before(block).count() == 1);
        let Some(single) = single else { return next.len() == 1 };
        let into = before(single).next().expect("there is one");
        let targets = next.remove(&single).expect("it is there");
        let into = next.get_mut(&into).expect("it is there");
        into.remove(&single);
        into.extend(targets);
    }
}

#[test]
fn the_flat_form_goes_the_same_ways() {
    let mut random = Pcg32::seed_from_u64(8);
    let mut with_return = 0;
    for _ in 0..2000 {
        let count = random.random_range(2..24);
        let function = random_function(&mut random, count);
        let nodes = flat(&function, true, 32).expect("it has no switches");
        let inside = |nodes: &[Node]| matches!(nodes.last(), Some(Node::End(_)));
        with_return += u32::from(inside(&nodes));
        for seed in 0..4 {
            let (expected, found) = (walk_graph(&function, seed, 300), walk_nodes(&nodes, seed, 300));
            let shown = expected.len().min(found.len()).min(299);
            assert_eq!(expected[..shown], found[..shown], "{function:?}\n{nodes:#?}");
            assert!(expected.len().abs_diff(found.len()) <= 1, "{function:?}\n{nodes:#?}");
        }
    }
    assert!(with_return > 100, "{with_return} have the return behind the loop");
}

#[test]
fn the_structured_form_goes_the_same_ways() {
    let mut random = Pcg32::seed_from_u64(7);
    let (mut structured, mut irreducible, mut with_exits) = (0, 0, 0);
    for _ in 0..4000 {
        let count = random.random_range(2..24);
        let function = random_function(&mut random, count);
        match structure(&function) {
            Ok(nodes) => {
                assert!(is_reducible(&function), "{function:?}");
                structured += 1;
                with_exits += u32::from(format!("{nodes:?}").contains("IfExit"));
                for seed in 0..8 {
                    let (expected, found) = (walk_graph(&function, seed, 300), walk_nodes(&nodes, seed, 300));
                    let shown = expected.len().min(found.len()).min(299);
                    assert_eq!(expected[..shown], found[..shown], "{function:?}\n{nodes:#?}");
                    assert!(expected.len().abs_diff(found.len()) <= 1, "{function:?}\n{nodes:#?}");
                }
            }
            Err(StructureError::Irreducible { .. }) => {
                assert!(!is_reducible(&function), "{function:?}");
                irreducible += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        structured > 1000 && irreducible > 300 && with_exits > 100,
        "{structured} {irreducible} {with_exits}"
    );
}

/// A function from the targets of its blocks: none returns, one jumps, two branch.
fn function(targets: &[&[usize]]) -> Function {
    let signature = Signature { parameters: vec![Type::Bool], results: Vec::new() };
    let mut function = Function::new(None, signature, Place::default());
    for _ in 1..targets.len() {
        function.block(&[]);
    }
    for (block, targets) in targets.iter().enumerate() {
        let target = |at: usize| Target { block: Block::new(targets[at]), arguments: Vec::new() };
        function.blocks[Block::new(block)].terminator = match targets.len() {
            0 => Terminator::Return(Vec::new()),
            1 => Terminator::Jump(target(0)),
            _ => Terminator::Branch(Value::new(0), [target(0), target(1)]),
        };
    }
    function
}

/// Lists of nodes as text: the number of a block, `{}` a loop, `?(a:b)` an if, `<` break, `^` continue, `=n` and
/// `n?()` the exit variable, `.` an end.
fn text(nodes: &[Node]) -> String {
    nodes
        .iter()
        .map(|node| match node {
            Node::Code(block) => block.as_u32().to_string(),
            Node::End(_) => ".".to_owned(),
            Node::Pass(..) => String::new(),
            Node::If(_, [yes, no]) => format!("?({}:{})", text(yes), text(no)),
            Node::Loop(body) => format!("{{{}}}", text(body)),
            Node::Break => "<".to_owned(),
            Node::Continue => "^".to_owned(),
            Node::SetExit(value) => format!("={value}"),
            Node::IfExit(value, nodes) => format!("{value}?({})", text(nodes)),
            Node::IfExitBelow(value, [low, high]) => format!("<{value}?({}:{})", text(low), text(high)),
        })
        .collect()
}

#[test]
fn known_forms() {
    let cases: [(&str, &[&[usize]], &str); 7] = [
        ("if and else", &[&[1, 2], &[3], &[3], &[]], "0?(1:2)3."),
        ("if without else", &[&[1, 2], &[2], &[]], "0?(1:)2."),
        ("while: the exit is behind the loop", &[&[1], &[2, 3], &[1], &[]], "0{1?(2:<)}3."),
        ("do while", &[&[1], &[1, 2], &[]], "0{1?(:<)}2."),
        ("and: the else is shared", &[&[1, 3], &[2, 3], &[4], &[4], &[]], "{0?(1?(2<:):)3<}4."),
        (
            "a loop in a loop, left at once",
            &[&[1], &[2, 5], &[3, 5], &[2, 4], &[1], &[]],
            "0{1?(=0{2?(3?(:<):=11<)}11?(<)4:<)}5.",
        ),
        ("continue of the outer loop", &[&[1], &[2, 4], &[1, 3], &[2], &[]], "0{1?({2?(<:3)}:<)}4."),
    ];
    for (name, targets, expected) in cases {
        assert_eq!(text(&structure(&function(targets)).unwrap()), expected, "{name}");
    }
}

#[test]
fn a_deep_nest_is_refused() {
    let depth = 2000;
    let targets: Vec<Vec<usize>> = (0..depth).map(|at| vec![at + 1, depth]).chain([vec![]]).collect();
    let targets: Vec<&[usize]> = targets.iter().map(Vec::as_slice).collect();
    assert_eq!(structure(&function(&targets)), Err(StructureError::TooDeep));
}
