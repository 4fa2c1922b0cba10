//! Grows a tree from a seed.

use super::layout::{COUNTERS, Layout, RESERVED, Reserved};
use super::shrink::list;
use super::{Checksum, Ending, Node, Options, Region, Test, Tree, Trips, values};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::ops::Range;
use wave_isa::{ExecClass, Field, Guard, Inst, MMA_FRAGMENTS, Op, Role, Scope, Special, table::TABLE};

/// Deepest nesting of ifs and loops in one function.
const MAX_DEPTH: u32 = 5;
/// Functions besides the kernel's body.
const MAX_FUNCTIONS: usize = 3;
/// Most nested loops in the kernel's body and in each function. Each loop needs its own counter.
const MAX_LOOPS: [u8; MAX_FUNCTIONS + 1] = [3, 1, 1, 1];

/// One node in this many is an instruction with operands that are special for it.
const SPECIAL: u32 = 8;

/// Weights of the execution classes among plain instructions.
const CLASSES: &[(ExecClass, u32)] = &[
    (ExecClass::Int, 26),
    (ExecClass::IntMul, 8),
    (ExecClass::IntDiv, 3),
    (ExecClass::Fp32, 20),
    (ExecClass::Fp32Div, 5),
    (ExecClass::Fp16, 12),
    (ExecClass::Fp64, 7),
    (ExecClass::Fp64Div, 2),
    (ExecClass::Convert, 8),
    (ExecClass::Sfu, 4),
    (ExecClass::Wave, 8),
    (ExecClass::Mma, 3),
];

/// The tree of a seed, for machines that offer `options`. It is the same on every host.
pub fn grow(seed: u64, options: &Options) -> Tree {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut tree = frame(&mut rng, options);
    tree.first = options.end.saturating_sub(Layout::of(&tree).device_bytes) & !255;
    let mut grower = Grower::resume(rng, options, tree);
    grower.functions();
    grower.tree
}

/// A tree without nodes: registers, pool and launch.
fn frame(rng: &mut Pcg64Mcg, options: &Options) -> Tree {
    let registers = rng.random_range(48..=options.max_registers.clamp(48, 256));
    let reserved = rng.random_range(0..=registers - u32::from(RESERVED)) as u8;
    let width = options.wave_width.max(1);
    let waves = options.register_bytes / (4 * registers * width) * options.schedulers;
    let limit = (waves.min(options.max_waves) * width).min(options.max_threads).max(1);
    let threads = match rng.random_range(0..6) {
        0 => limit,
        1 => limit.min(width + 1),
        2 => limit.min(width),
        3 => limit.min(rng.random_range(1..=8)),
        _ => rng.random_range(1..=limit),
    };
    let factor = |n: u32| (2..=4).find(|d| n.is_multiple_of(*d)).unwrap_or(1);
    let workgroup = match rng.random_range(0..3) {
        0 => [threads, 1, 1],
        1 => [factor(threads), threads / factor(threads), 1],
        _ => [1, factor(threads), threads / factor(threads)],
    };
    Tree {
        registers,
        reserved,
        pool: pool(rng, registers, reserved),
        own_bytes: [84, 96, 128][rng.random_range(0..3u32) as usize],
        grid: [rng.random_range(1..=3), rng.random_range(1..=2), rng.random_range(1..=2)],
        workgroup,
        first: 0,
        memory_seed: rng.random_range(0..u64::MAX),
        checksum: Some(Checksum {
            predicates: (0..4).collect(),
            local: true,
            fragments: if options.mma { vec![0, 1] } else { Vec::new() },
        }),
        ending: [Ending::Halt, Ending::Return, Ending::RunOff][rng.random_range(0..3u32) as usize],
        functions: Vec::new(),
    }
}

/// Disjoint runs of registers that avoid the reserved ones. The first has 8.
fn pool(rng: &mut Pcg64Mcg, registers: u32, reserved: u8) -> Vec<Range<u16>> {
    let mut taken = vec![false; registers as usize];
    taken[usize::from(reserved)..][..usize::from(RESERVED)].fill(true);
    let mut pool = Vec::new();
    while pool.is_empty() || (pool.len() < 4 && rng.random_range(0..8) != 0) {
        let length = if pool.is_empty() { 8 } else { rng.random_range(2..=6) };
        // The first and the last register are the edge cases of checks.
        let start = match rng.random_range(0..4) {
            0 => 0,
            1 => registers - length,
            _ => rng.random_range(0..=registers - length),
        };
        let run = start as usize..(start + length) as usize;
        if !taken[run.clone()].contains(&true) {
            taken[run].fill(true);
            pool.push(start as u16..(start + length) as u16);
        }
    }
    pool
}

/// The kind of instruction that a program has more of, so that such instructions interact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Nothing,
    /// Accesses to a few of the lane's own words.
    Memory,
    /// Tiles and matrix products.
    Matrix,
    /// Reads of what other waves wrote.
    Exchange,
}

/// The place of a node, which determines what the node may be.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub function: usize,
    /// All live lanes of the workgroup reach it equally often.
    pub uniform: bool,
    /// `break` and `continue` are allowed here.
    pub breakable: bool,
    depth: u32,
    loops: u8,
}

pub(super) struct Grower {
    pub rng: Pcg64Mcg,
    pub options: Options,
    pub tree: Tree,
    /// Registers written last, newest at the end.
    recent: Vec<u8>,
    last_words: u32,
    /// Prefer an instruction of the other length than the last.
    alternate: bool,
    pub focus: Focus,
    /// Functions may halt lanes, after which a wave may have none left to return.
    wild: bool,
    /// Nodes that may still be added.
    budget: i32,
}

impl Place {
    /// A place of which nothing is known: behind every function, in a branch.
    pub(super) fn anywhere(function: usize) -> Place {
        Place { function, uniform: false, breakable: false, depth: MAX_DEPTH, loops: u8::MAX }
    }
}

impl Grower {
    /// One that goes on with a tree.
    pub(super) fn resume(rng: Pcg64Mcg, options: &Options, tree: Tree) -> Grower {
        Grower {
            rng,
            options: *options,
            tree,
            recent: Vec::new(),
            last_words: 1,
            alternate: false,
            focus: Focus::Nothing,
            wild: false,
            budget: 0,
        }
    }

    /// A few nodes for the kernel's body, outside of every construct.
    pub(super) fn of_the_body(&mut self) -> Vec<Node> {
        self.budget = 4;
        let mut nodes = Vec::new();
        let place = Place { function: 0, uniform: true, breakable: false, depth: 0, loops: 0 };
        self.nodes(place, &mut nodes);
        nodes
    }

    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.rng.random_range(0..n)
    }

    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub(super) fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    fn functions(&mut self) {
        self.wild = self.one_in(8);
        self.focus = self.choose(&[Focus::Nothing, Focus::Memory, Focus::Matrix, Focus::Exchange]);
        let functions = self.below(MAX_FUNCTIONS as u32 + 1) as usize;
        self.tree.functions = vec![Vec::new(); functions + 1];
        let total = self.options.nodes as i32;
        for function in 0..=functions {
            self.budget = if function == 0 { total } else { total / 6 };
            let place = Place { function, uniform: function == 0, breakable: false, depth: 0, loops: 0 };
            let mut body = if function == 0 { self.start() } else { Vec::new() };
            while self.budget > 0 {
                self.nodes(place, &mut body);
            }
            self.tree.functions[function] = body;
        }
        if let Some(deepest) = self.options.deepest {
            let node = self.deep(deepest);
            let body = &mut self.tree.functions[0];
            body.insert(self.rng.random_range(0..=body.len() as u32) as usize, node);
        }
        if self.options.fault {
            // This may add a function.
            let (node, outermost) = self.faulting();
            let lists = (0..).take_while(|n| list(&mut self.tree, *n).is_some()).count();
            // Half of them in a place that is certainly reached.
            let chosen = if outermost || self.one_in(2) { 0 } else { self.below(lists as u32) as usize };
            if let Some(nodes) = list(&mut self.tree, chosen) {
                nodes.insert(self.rng.random_range(0..=nodes.len() as u32) as usize, node);
            }
        }
        if self.tree.functions.len() > 1 && self.tree.ending == Ending::RunOff {
            self.tree.ending = Ending::Halt;
        }
    }

    /// Ifs inside one another, or a chain of calls: as many as the machine has room for, or one or two more or less.
    fn deep(&mut self, (ifs, calls): (u32, u32)) -> Node {
        let mut node = self.own_access();
        if self.one_in(2) {
            for _ in 0..(ifs + self.below(4)).saturating_sub(2) {
                let test = Test::Predicate { predicate: self.below(4) as u8, negated: self.one_in(2) };
                node = Node::If { test, then: vec![node], otherwise: None };
            }
            return node;
        }
        let first = self.tree.functions.len();
        let more = (calls + self.below(3)).saturating_sub(1).max(1) as usize;
        self.tree.functions.extend((1..more).map(|further| vec![Node::Call(first + further)]));
        self.tree.functions.push(vec![node]);
        Node::Call(first)
    }

    /// Initialises the pool from memory, immediates and special registers.
    fn start(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        for run in self.tree.pool.clone() {
            let (mut register, end) = (run.start, run.end);
            while register < end {
                let rd = register as u8;
                let slot = self.tree.reserved + Reserved::Slot as u8;
                let wide = end - register >= 4 && self.one_in(2);
                let node = if wide || self.below(4) < 3 {
                    let op = if wide { Op::DeviceLoadU128 } else { Op::DeviceLoadU32 };
                    let mut load = self.access(Inst { rd, ..Inst::new(op) }, Region::Input);
                    if !self.one_in(4) {
                        (load.index, load.mask, load.offset) = (slot, 0x1FC, self.below(1500));
                    }
                    Node::Access(load)
                } else if self.one_in(2) {
                    let imm = values::word(&mut self.rng);
                    Node::Inst(Inst { rd, imm, ..Inst::new(Op::MovImm) })
                } else {
                    let rs1 = self.below(Special::ALL.len() as u32) as u8;
                    Node::Inst(Inst { rd, rs1, ..Inst::new(Op::MovSr) })
                };
                nodes.push(node);
                register += if wide { 4 } else { 1 };
            }
        }
        for rd in 0..4 {
            let op = self.choose(&[Op::ICmpLt, Op::UCmpLt, Op::FCmpLt, Op::ICmpNe]);
            let (rs1, rs2) = (self.register(1), self.register(1));
            nodes.push(Node::Inst(Inst { rd, rs1, rs2, ..Inst::new(op) }));
        }
        nodes
    }

    fn block(&mut self, place: Place) -> Vec<Node> {
        let length = self.rng.random_range(1..=7);
        let mut block = Vec::new();
        (0..length).for_each(|_| self.nodes(place, &mut block));
        block
    }

    /// Appends a node, or the nodes of a pair.
    fn nodes(&mut self, place: Place, to: &mut Vec<Node>) {
        if self.options.pairs && self.one_in(3) {
            self.budget -= 1;
            let pair = self.pair(place);
            to.extend(pair);
        } else if self.one_in(SPECIAL) {
            self.budget -= 1;
            let special = self.special();
            to.extend(special);
        } else {
            let node = self.node(place);
            to.push(node);
        }
    }

    fn node(&mut self, place: Place) -> Node {
        self.budget -= 1;
        if self.one_in(16) {
            self.alternate = !self.alternate;
        }
        match (self.focus, self.below(4)) {
            (Focus::Memory, 0) => return self.own_access(),
            (Focus::Memory, 1) => return self.lane_atomic(),
            (Focus::Matrix, 0) if self.options.mma => return self.tile(),
            (Focus::Matrix, 1) if self.options.mma => return Node::Inst(self.product()),
            (Focus::Exchange, 0) if place.uniform => return self.exchange(),
            _ => {}
        }
        loop {
            // Drawn again if the place does not allow it.
            match self.below(100) {
                0..44 => return Node::Inst(self.plain()),
                44..52 if place.uniform => return self.exchange(),
                52..56 => return Node::Inst(self.all_or_none()),
                56..68 => return self.own_access(),
                68..72 => return self.lane_atomic(),
                72..76 => return self.shared_atomic(),
                76..79 if self.options.mma => return self.tile(),
                79..82 => return Node::Inst(self.synchronisation()),
                82..85 if place.uniform => return Node::Barrier,
                85..91 if place.depth < MAX_DEPTH && self.budget > 0 => return self.branch(place),
                91..94 if self.may_loop(place) => return self.repeat(place),
                94 | 95 if place.function + 1 < self.tree.functions.len() => {
                    let callees = (self.tree.functions.len() - place.function - 1) as u32;
                    return Node::Call(place.function + 1 + self.below(callees) as usize);
                }
                96..99 if place.breakable => return Node::Inst(self.leave()),
                99 if (place.function == 0 || self.wild) && self.one_in(3) => {
                    if place.function == 0 && place.depth > 0 && !place.uniform && self.one_in(2) {
                        return Node::Inst(Inst::new(Op::Return));
                    }
                    let guard = Guard { predicate: self.below(4) as u8, negated: true };
                    return Node::Inst(Inst { guard, ..Inst::new(Op::Halt) });
                }
                _ => {}
            }
        }
    }

    fn branch(&mut self, place: Place) -> Node {
        let uniform = place.uniform && self.one_in(3);
        let predicate = self.below(4) as u8;
        let test = if uniform {
            let specials = [Special::WorkgroupIdX, Special::WorkgroupIdY, Special::NumWaves];
            Test::Uniform { special: self.choose(&specials), temp: self.register(1), predicate }
        } else {
            Test::Predicate { predicate, negated: self.one_in(2) }
        };
        let inside = Place { uniform, depth: place.depth + 1, ..place };
        let then = self.block(inside);
        let otherwise = if self.one_in(2) { Some(self.block(inside)) } else { None };
        Node::If { test, then, otherwise }
    }

    fn may_loop(&mut self, place: Place) -> bool {
        place.loops < MAX_LOOPS[place.function] && place.depth < MAX_DEPTH && self.budget > 0
    }

    fn repeat(&mut self, place: Place) -> Node {
        let uniform = place.uniform && self.one_in(2);
        let first: u8 = MAX_LOOPS[..place.function].iter().sum();
        let counter = self.tree.reserved + (RESERVED - COUNTERS) + first + place.loops;
        let trips = if uniform || self.one_in(2) {
            Trips::Fixed(self.rng.random_range(0..=3))
        } else {
            Trips::Data { register: self.register(1), mask: self.choose(&[1, 3, 5]) }
        };
        let inside =
            Place { uniform, breakable: !uniform, depth: place.depth + 1, loops: place.loops + 1, ..place };
        Node::Loop { trips, counter, predicate: self.below(4) as u8, body: self.block(inside) }
    }

    pub(super) fn leave(&mut self) -> Inst {
        let op = self.choose(&[Op::Break, Op::Continue]);
        let guard = if self.one_in(3) { self.guard() } else { Guard::NONE };
        Inst { guard, rs1: self.below(8) as u8, ..Inst::new(op) }
    }

    /// A valid guard: not `@p0`.
    pub(super) fn guard(&mut self) -> Guard {
        let code = self.rng.random_range(1..8);
        Guard { predicate: code & 3, negated: code & 4 != 0 }
    }

    pub(crate) fn maybe_guard(&mut self) -> Guard {
        if self.one_in(4) { self.guard() } else { Guard::NONE }
    }

    /// A compare that is true in every lane or in none.
    fn all_or_none(&mut self) -> Inst {
        let register = self.register(1);
        let op = self.choose(&[Op::ICmpEq, Op::UCmpNe, Op::ICmpGe, Op::UCmpLt]);
        Inst { rd: self.below(4) as u8, rs1: register, rs2: register, ..Inst::new(op) }
    }

    pub(super) fn synchronisation(&mut self) -> Inst {
        let ops = [Op::FenceAcquire, Op::FenceRelease, Op::FenceAcqRel, Op::FenceAcqRel, Op::Wait, Op::Nop];
        let op = self.choose(&ops);
        let uses_scope = op.info().operand_in(Field::Scope).is_some();
        let scope = if uses_scope { self.choose(Scope::ALL) } else { Scope::Wave };
        Inst { guard: self.maybe_guard(), scope, ..Inst::new(op) }
    }

    fn product(&mut self) -> Inst {
        let mut inst = Inst { guard: self.maybe_guard(), ..Inst::new(Op::MmaCompute) };
        self.fill(&mut inst);
        inst
    }

    /// An instruction on registers, predicates and fragments only.
    pub(super) fn plain(&mut self) -> Inst {
        let mut op = self.plain_op();
        for _ in 0..4 {
            if self.alternate && op.info().words() == self.last_words {
                op = self.plain_op();
            }
        }
        self.last_words = op.info().words();
        let mut inst = Inst { guard: self.maybe_guard(), ..Inst::new(op) };
        self.fill(&mut inst);
        inst
    }

    fn plain_op(&mut self) -> Op {
        let total: u32 = CLASSES.iter().map(|(_, weight)| weight).sum();
        loop {
            let mut draw = self.below(total);
            let class = CLASSES.iter().find(|(_, weight)| {
                let here = draw < *weight;
                draw = draw.wrapping_sub(*weight);
                here
            });
            let ops: Vec<Op> =
                TABLE.iter().filter(|i| Some(i.class) == class.map(|c| c.0)).map(|i| i.op).collect();
            let op = self.choose(&ops);
            if (self.options.f64 || !op.needs_f64()) && (self.options.mma || !op.needs_mma()) {
                return op;
            }
        }
    }

    /// Sets the operands of `inst`, except addresses.
    pub(super) fn fill(&mut self, inst: &mut Inst) {
        let alias = self.one_in(12).then(|| self.register(4));
        let mut first = None;
        let mut written = None;
        for operand in inst.op.info().operands {
            let mut rows = |rows: u8, grower: &mut Grower| match (alias, first) {
                (Some(register), _) => register,
                // A register in the bank of the first operand.
                (None, Some(first)) if grower.one_in(4) => grower.register_in_bank(rows, first),
                _ => {
                    let register = grower.register(rows);
                    first = first.or(Some(register));
                    register
                }
            };
            let value = match operand.role {
                Role::Dst(n) => *written.insert(rows(n, self)),
                Role::DstBallot => *written.insert(rows(2, self)),
                Role::DstOptional if self.one_in(3) => 0,
                Role::DstOptional => *written.insert(rows(1, self)),
                Role::Src(n) => rows(n, self),
                Role::PredDst | Role::PredSrc => self.below(4) as u8,
                Role::PredSrcNeg => self.below(8) as u8,
                Role::Special => self.below(Special::ALL.len() as u32) as u8,
                // Mostly the same two fragments, so that they interact.
                Role::FragA | Role::FragB | Role::FragC if !self.one_in(4) => self.below(2) as u8,
                Role::FragA | Role::FragB | Role::FragC => self.below(MMA_FRAGMENTS as u32) as u8,
                Role::Imm => {
                    inst.imm = values::word(&mut self.rng);
                    continue;
                }
                Role::Scope => {
                    inst.scope = self.choose(Scope::ALL);
                    continue;
                }
                Role::Label => continue,
            };
            inst.set_field(operand.field, value);
        }
        self.recent.extend(written);
    }

    /// The first of `rows` registers of one run of the pool, often a register written recently.
    pub(super) fn register(&mut self, rows: u8) -> u8 {
        let rows = u16::from(rows);
        let runs: Vec<Range<u16>> =
            self.tree.pool.iter().filter(|run| run.len() >= rows.into()).cloned().collect();
        // Accesses that wait for one another never overtake one another, so use recent registers less often.
        let recent = if self.focus == Focus::Memory { 8 } else { 2 };
        if self.one_in(recent) && !self.recent.is_empty() {
            let distance = self.rng.random_range(1..=3.min(self.recent.len() as u32));
            let register = self.recent[self.recent.len() - distance as usize];
            let last = u16::from(register) + rows - 1;
            if runs.iter().any(|run| run.contains(&u16::from(register)) && run.contains(&last)) {
                return register;
            }
        }
        let run = &runs[self.rng.random_range(0..runs.len() as u32) as usize];
        self.rng.random_range(run.start..=run.end - rows) as u8
    }

    pub(crate) fn register_in_bank(&mut self, rows: u8, other: u8) -> u8 {
        let draws: Vec<u8> = (0..8).map(|_| self.register(rows)).collect();
        draws.iter().copied().find(|r| r % 4 == other % 4).unwrap_or(draws[0])
    }
}
