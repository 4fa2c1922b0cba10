//! Random graphs of jumps, mostly irreducible, against an interpreter of instruction words that was written from the
//! format alone.

use super::simulated::{NoLaunch, Simulator};
use super::words::{Module, Word, branch, drop_keep, wide, word};
use super::{opcodes::NAMES, suite::is_irreducible};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::sync::Arc;
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, FunctionId, verify};
use wave_compile::lower::instance::Ended;
use wave_compile::rwasm::{RwasmOptions, decode};

/// Cells of a function that are always there: two parameters, a result, and the number of nodes still to be visited.
const FIXED: u32 = 4;
const PARAMETERS: u32 = 2;
/// The cell with the number of nodes still to be visited.
const LEFT: u32 = 3;
/// Nodes that are visited at most.
const TURNS: u32 = 40;

/// A node of the graph while it is written.
struct Node {
    /// Cells on the stack where it begins.
    height: u32,
    at: usize,
}

struct Writer<'a> {
    random: &'a mut Pcg64,
    words: Vec<Word>,
    height: u32,
    nodes: Vec<Node>,
    /// Branches, and the nodes to which they go; the last node is the end.
    branches: Vec<(usize, usize)>,
}

impl Writer<'_> {
    fn push(&mut self, word: Word, change: i32) {
        self.words.push(word);
        self.height = self.height.checked_add_signed(change).expect("the writer counts cells");
    }

    fn below(&mut self, count: u32) -> u32 {
        self.random.random_range(0..count)
    }

    /// Puts any cell on top, or a constant.
    fn operand(&mut self) {
        if self.below(3) == 0 {
            let bits = if self.below(2) == 0 { self.below(5).into() } else { self.random.random() };
            return self.push(wide("I64Const", bits), 1);
        }
        // Not the number of turns.
        let cell = loop {
            let cell = self.below(self.height);
            if cell != LEFT {
                break cell;
            }
        };
        self.push(word("LocalGet", self.height - cell), 1);
    }

    /// Computes something, and puts it into a cell.
    fn compute(&mut self) {
        const BINARY: [&str; 12] = [
            "I64Add", "I64Sub", "I64Mul", "I64Xor", "I64And", "I64ShrU", "I32Add", "I32Xor", "I32Mul",
            "I64LtS", "I32LtU", "I64Eq",
        ];
        self.operand();
        self.operand();
        match self.below(8) {
            0 => {
                self.operand();
                self.push(word("Select", 0), -2);
            }
            1 => {
                self.push(word("I32Eqz", 0), 0);
                self.push(word("I32And", 0), -1);
            }
            _ => {
                let name = BINARY[self.below(12) as usize];
                self.push(word(name, 0), -1);
            }
        }
        let cell = loop {
            let cell = self.below(self.height - 1);
            if cell != LEFT {
                break cell;
            }
        };
        if self.below(4) == 0 {
            self.push(word("LocalTee", self.height - cell), 0);
            self.push(word("Drop", 0), -1);
        } else {
            self.push(word("LocalSet", self.height - 1 - cell), -1);
        }
    }

    fn branch(&mut self, name: &str, node: usize, change: i32) {
        self.branches.push((self.words.len(), node));
        self.push(branch(name, 0), change);
    }

    /// Pushes cells until there are as many as a node wants.
    fn raise(&mut self, node: usize) {
        while self.height < self.nodes[node].height {
            self.operand();
        }
    }

    /// Jumps to a node: directly, or with a change of the stack.
    fn go(&mut self, node: usize) {
        self.raise(node);
        let drop = self.height - self.nodes[node].height;
        if drop == 0 {
            return self.branch("Br", node, 0);
        }
        let keep = self.below(self.height - FIXED - drop + 1);
        self.branch("BrAdjust", node, 0);
        self.push(drop_keep("Return", drop, keep), 0);
    }

    fn leave(&self) -> (u32, u32) {
        (self.height - 1, 1)
    }

    fn end_of_node(&mut self, nodes: u32) {
        let node = self.below(nodes) as usize;
        match self.below(6) {
            0 => {
                // A branch that changes the stack if a condition holds.
                self.raise(node);
                self.operand();
                let drop = self.height - 1 - self.nodes[node].height;
                self.branch("BrAdjustIfNez", node, -1);
                self.push(drop_keep("Return", drop, 0), 0);
            }
            1 => {
                self.operand();
                let (drop, keep) = (self.height - 2, 1);
                self.push(drop_keep("ReturnIfNez", drop, keep), -1);
            }
            2 => {
                let targets: Vec<usize> =
                    (0..1 + self.below(4)).map(|_| self.below(nodes) as usize).collect();
                let most = targets.iter().map(|&node| self.nodes[node].height).max().unwrap_or(0);
                while self.height < most {
                    self.operand();
                }
                self.operand();
                self.push(wide("I64Const", 3), 1);
                self.push(word("I64And", 0), -1);
                self.push(word("BrTable", targets.len() as u32), -1);
                for node in targets {
                    let drop = self.height - self.nodes[node].height;
                    if drop == 0 {
                        self.branch("Br", node, 0);
                        self.push(drop_keep("Return", 0, 0), 0);
                    } else {
                        self.branch("BrAdjust", node, 0);
                        self.push(drop_keep("Return", drop, 0), 0);
                    }
                }
                return;
            }
            _ if self.height <= self.nodes[node].height => {
                self.raise(node);
                self.operand();
                let name = ["BrIfEqz", "BrIfNez"][self.below(2) as usize];
                self.branch(name, node, -1);
            }
            _ => {}
        }
        let node = self.below(nodes) as usize;
        self.go(node);
    }
}

/// A function of two cells that gives one: nodes that jump to any others, so many times.
fn function(random: &mut Pcg64) -> Vec<Word> {
    let count = random.random_range(5..14u32);
    let mut nodes: Vec<Node> =
        (0..count).map(|_| Node { height: FIXED + random.random_range(0..3), at: 0 }).collect();
    nodes.push(Node { height: FIXED, at: 0 });
    let mut writer = Writer { random, words: Vec::new(), height: PARAMETERS, nodes, branches: Vec::new() };
    writer.push(word("SignatureCheck", 0), 0);
    writer.push(word("I64Const", 1), 1);
    writer.push(word("I32Const", TURNS), 1);
    let first = writer.below(count) as usize;
    writer.go(first);
    let end = count as usize;
    for number in 0..end {
        writer.nodes[number].at = writer.words.len();
        writer.height = writer.nodes[number].height;
        writer.push(word("LocalGet", writer.height - LEFT), 1);
        writer.push(word("I32Const", 1), 1);
        writer.push(word("I32Sub", 0), -1);
        let to_left = writer.height - LEFT;
        writer.push(word("LocalTee", to_left), 0);
        // Where none is left it returns.
        writer.push(word("I32Eqz", 0), 0);
        let (drop, keep) = (writer.height - 2, 1);
        writer.push(drop_keep("ReturnIfNez", drop, keep), -1);
        for _ in 0..writer.below(4) {
            writer.compute();
        }
        writer.end_of_node(count);
    }
    writer.nodes[end].at = writer.words.len();
    writer.height = FIXED;
    let (drop, keep) = writer.leave();
    writer.push(drop_keep("Return", drop, keep), 0);
    for (at, node) in std::mem::take(&mut writer.branches) {
        let distance = (writer.nodes[node].at as i64 - at as i64) as i32;
        writer.words[at][1..5].copy_from_slice(&distance.to_le_bytes());
    }
    writer.words
}

/// Runs the words of a function.
fn run(words: &[Word], arguments: [u64; 2]) -> u64 {
    let mut stack = arguments.to_vec();
    let mut at = 0usize;
    loop {
        let word = &words[at];
        let operand = u32::from_le_bytes(word[1..5].try_into().expect("4 bytes"));
        let upper = u32::from_le_bytes(word[5..].try_into().expect("4 bytes")) as usize;
        let wide = u64::from_le_bytes(word[1..].try_into().expect("8 bytes"));
        let target = (at as i64 + i64::from(operand as i32)) as usize;
        let depth = operand as usize;
        let adjust = |stack: &mut Vec<u64>, drop: usize, keep: usize| {
            let end = stack.len() - keep;
            stack.drain(end - drop..end);
        };
        let behind = |at: usize| {
            let next = &words[at + 1];
            let number = |from: usize| u32::from_le_bytes(next[from..from + 4].try_into().expect("4 bytes"));
            (number(1) as usize, number(5) as usize)
        };
        let mut pop = || stack.pop().expect("the writer counts cells");
        let low = |value: u64| value as u32;
        let mut next = at + 1;
        match NAMES[usize::from(word[0])] {
            "SignatureCheck" => {}
            "I64Const" | "I32Const" => stack.push(wide),
            "LocalGet" => stack.push(stack[stack.len() - depth]),
            "LocalSet" => {
                let value = pop();
                let cell = stack.len() - depth;
                stack[cell] = value;
            }
            "LocalTee" => {
                let cell = stack.len() - depth;
                stack[cell] = stack[stack.len() - 1];
            }
            "Drop" => _ = pop(),
            "Select" => {
                let (condition, second, first) = (pop(), pop(), pop());
                stack.push(if condition != 0 { first } else { second });
            }
            "I32Eqz" => {
                let value = pop();
                stack.push((low(value) == 0).into());
            }
            "Br" => next = target,
            "BrIfEqz" | "BrIfNez" => {
                if (pop() != 0) == (NAMES[usize::from(word[0])] == "BrIfNez") {
                    next = target;
                }
            }
            "BrAdjust" => {
                let (drop, keep) = behind(at);
                adjust(&mut stack, drop, keep);
                next = target;
            }
            "BrAdjustIfNez" => {
                next = at + 2;
                if pop() != 0 {
                    let (drop, keep) = behind(at);
                    adjust(&mut stack, drop, keep);
                    next = target;
                }
            }
            "BrTable" => next = at + 1 + 2 * (pop() as u32 as usize).min(depth - 1),
            "Return" => {
                adjust(&mut stack, depth, upper);
                assert_eq!(stack.len(), 1);
                return stack[0];
            }
            "ReturnIfNez" => {
                if pop() != 0 {
                    adjust(&mut stack, depth, upper);
                    assert_eq!(stack.len(), 1);
                    return stack[0];
                }
            }
            name => {
                let (second, first) = (pop(), pop());
                stack.push(match name {
                    "I64Add" => first.wrapping_add(second),
                    "I64Sub" => first.wrapping_sub(second),
                    "I64Mul" => first.wrapping_mul(second),
                    "I64Xor" => first ^ second,
                    "I64And" => first & second,
                    "I64ShrU" => first >> (second % 64),
                    "I32Add" => low(first).wrapping_add(low(second)).into(),
                    "I32Sub" => low(first).wrapping_sub(low(second)).into(),
                    "I32Mul" => low(first).wrapping_mul(low(second)).into(),
                    "I32Xor" => (low(first) ^ low(second)).into(),
                    "I32And" => (low(first) & low(second)).into(),
                    "I32LtU" => (low(first) < low(second)).into(),
                    "I64LtS" => ((first as i64) < second as i64).into(),
                    "I64Eq" => (first == second).into(),
                    name => panic!("the writer makes no {name}"),
                });
            }
        }
        at = next;
    }
}

/// A module with the function and an entry point that does nothing.
fn module(words: Vec<Word>) -> Vec<u8> {
    let functions = vec![words, vec![drop_keep("Return", 0, 0)]];
    Module { functions, ..Module::default() }.bytes()
}

fn arguments(random: &mut Pcg64) -> [u64; 2] {
    std::array::from_fn(|_| if random.random() { random.random_range(0..9) } else { random.random() })
}

/// Compares so many functions in the interpreter, and each `every`-th of them on the simulator.
fn campaign(functions: u64, every: u64) {
    let (mut irreducible, mut simulated, mut left_out) = (0, 0, 0);
    for seed in 0..functions {
        let mut random = Pcg64::seed_from_u64(seed);
        let words = function(&mut random);
        let decoded = decode(&module(words.clone()), &RwasmOptions::default());
        let decoded = decoded.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        verify::verify(&decoded.module).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let id = FunctionId::from_u32(0);
        irreducible += usize::from(is_irreducible(&decoded.module.functions[id]));
        let all: [[u64; 2]; 4] = std::array::from_fn(|_| arguments(&mut random));
        let cells = all.map(|arguments| arguments.map(Constant::I64));
        let wanted = all.map(|arguments| vec![Constant::I64(run(&words, arguments))]);
        let instance = Instance::new(Arc::new(decoded.module.clone())).expect("the entry point does nothing");
        for (cells, wanted) in cells.iter().zip(&wanted) {
            let has = instance.call(id, cells, &Limits { fuel: 1_000_000, ..Limits::default() });
            assert_eq!(has.as_ref(), Ok(wanted), "seed {seed}, {cells:x?}\n{}", decoded.listing.text());
        }
        if seed % every == 0 {
            let mut simulator = Simulator::of(&decoded.module).expect("no segments");
            match simulator.launch(&decoded.module, id, [&cells[0], &cells[1]]) {
                Ok([first, second]) => {
                    let calls = [0, 1].map(|number: usize| (Ended::Returned, wanted[number].clone()));
                    assert_eq!([first, second], calls, "seed {seed} on the simulator");
                    simulated += 1;
                }
                Err(NoLaunch::Compile(_)) => left_out += 1,
                Err(NoLaunch::Wrong(what)) => panic!("seed {seed}: {what}"),
            }
        }
    }
    println!(
        "{functions} graphs, {irreducible} irreducible, {simulated} on the simulator, {left_out} not compiled"
    );
    assert!(irreducible > functions as usize / 5 && simulated > 0 && left_out * 10 <= simulated);
}

#[test]
fn random_graphs_do_what_their_words_say() {
    campaign(600, 50);
}

/// `cargo test -p wave-compile --test rwasm -- --ignored random_graphs_at_length --nocapture`
#[test]
#[ignore = "takes minutes"]
fn random_graphs_at_length() {
    campaign(20_000, 50);
}
