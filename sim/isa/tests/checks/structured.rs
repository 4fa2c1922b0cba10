//! Small structured programs with barriers, divergent conditions and unset registers. They may be correct or
//! faulty, but always terminate and access only valid addresses.

use crate::environment;
use proptest::prelude::*;
use wave_isa::program::{Kernel, Launch, Program};
use wave_isa::{Guard, Inst, Op, Special};
use wave_verify::reference::{self, Machine, Options, Order, Stop};

/// Registers that random instructions use. The first two are launch arguments.
pub(crate) const POOL: u8 = 8;
/// Values of r0 and r1.
pub(crate) const ARGUMENTS: [(u8, u32); 2] = [(0, 3), (1, 12)];
const ADDRESS: u8 = 8;
const MASK: u8 = 9;
const ONE: u8 = 10;
const BASE: u8 = 11;
const COUNTERS: u8 = 12;
/// Declared registers.
pub(crate) const REGISTERS: u32 = 32;
const WAVE_WIDTH: u32 = 8;
/// Bytes of device memory: the input, and the area in which the threads of the largest workgroup store.
const DEVICE_BYTES: usize = 64 + 64 * 32;

/// A node of a program.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// An instruction of some kind with random operands and guard.
    Inst {
        kind: u8,
        d: u8,
        a: u8,
        b: u8,
        guard: u8,
    },
    /// Stores a pool register to one of the thread's own words.
    Store {
        value: u8,
        word: u8,
        guard: u8,
    },
    Barrier,
    /// `halt` with a guard.
    Halt {
        guard: u8,
    },
    /// `break` or `continue`. Nothing outside of loops.
    Leave {
        breaks: bool,
        predicate: u8,
        guard: u8,
    },
    If {
        predicate: u8,
        then: Vec<Node>,
        otherwise: Option<Vec<Node>>,
    },
    /// A loop whose iteration count is the value of a register, at most 3. Each lane has its own counter.
    Loop {
        limit: u8,
        body: Vec<Node>,
    },
    /// A call of one of the later functions.
    Call(u8),
}

/// Kinds of nodes allowed in a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinds {
    /// Instructions that read registers of non-participating lanes.
    pub exchange: bool,
    /// Barriers.
    pub barriers: bool,
    /// Lanes that end early.
    pub halts: bool,
}

fn nodes(kinds: Kinds) -> impl Strategy<Value = Vec<Node>> {
    let inst = (0u8..29, 0..POOL, 0..POOL, 0..POOL, 0u8..20)
        .prop_map(|(kind, d, a, b, guard)| Node::Inst { kind, d, a, b, guard })
        .prop_filter("reads other lanes", move |node| {
            kinds.exchange || !matches!(node, Node::Inst { kind: 25.., .. })
        });
    let store =
        (0..POOL, 0u8..8, 0u8..20).prop_map(|(value, word, guard)| Node::Store { value, word, guard });
    let leave = (any::<bool>(), 0u8..8, 0u8..20).prop_map(|(breaks, predicate, guard)| Node::Leave {
        breaks,
        predicate,
        guard,
    });
    let leaf = prop_oneof![
        12 => inst,
        2 => store,
        if kinds.barriers { 2 } else { 0 } => Just(Node::Barrier),
        if kinds.halts { 1 } else { 0 } => (0u8..8).prop_map(|guard| Node::Halt { guard }),
        2 => leave,
        1 => (0u8..3).prop_map(Node::Call),
    ];
    let node = leaf.prop_recursive(3, 24, 6, |node| {
        let list = || prop::collection::vec(node.clone(), 0..6);
        prop_oneof![
            3 => (0u8..8, list(), prop::option::of(list()))
                .prop_map(|(predicate, then, otherwise)| Node::If { predicate, then, otherwise }),
            2 => (0..POOL, list()).prop_map(|(limit, body)| Node::Loop { limit, body }),
        ]
    });
    prop::collection::vec(node, 1..12)
}

/// Bodies of the kernel and of two functions, and the workgroup size.
pub(crate) fn programs(kinds: Kinds) -> impl Strategy<Value = (Vec<Vec<Node>>, [u32; 3])> {
    let function = || prop::collection::vec(nodes(kinds), 0..2).prop_map(|lists| lists.concat());
    let sizes =
        prop::sample::select(vec![[8, 1, 1], [16, 1, 1], [12, 1, 1], [3, 2, 2], [4, 4, 1], [1, 1, 1]]);
    ((nodes(kinds), function(), function()).prop_map(|(a, b, c)| vec![a, b, c]), sizes)
}

struct Lower {
    code: Vec<u32>,
    /// Words to patch with the address of a function.
    calls: Vec<(usize, usize)>,
    function: usize,
    functions: usize,
}

/// The guards other than "none": p1 to p3, and all four negated.
fn guard(choice: u8) -> Guard {
    match choice {
        0..3 => Guard { predicate: choice + 1, negated: false },
        3..7 => Guard { predicate: choice - 3, negated: true },
        _ => Guard::NONE,
    }
}

impl Lower {
    fn emit(&mut self, inst: Inst) {
        self.code.extend_from_slice(&inst.encode()[..inst.words() as usize]);
    }

    fn op(&mut self, op: Op, fields: [u8; 3], guard: Guard) {
        let [rd, rs1, rs2] = fields;
        self.emit(Inst { rd, rs1, rs2, guard, ..Inst::new(op) });
    }

    fn nodes(&mut self, nodes: &[Node], loops: u8) {
        nodes.iter().for_each(|node| self.node(node, loops));
    }

    fn node(&mut self, node: &Node, loops: u8) {
        match *node {
            Node::Inst { kind, d, a, b, guard: g } => self.inst(kind, [d, a, b], guard(g)),
            Node::Store { value, word, guard: g } => {
                self.emit(Inst { rd: ADDRESS, imm: 4 * u32::from(word), ..Inst::new(Op::MovImm) });
                self.op(Op::IAdd, [ADDRESS, ADDRESS, BASE], Guard::NONE);
                self.op(Op::DeviceStoreU32, [0, ADDRESS, value], guard(g));
            }
            Node::Barrier => self.op(Op::Barrier, [0; 3], Guard::NONE),
            Node::Halt { guard: g } => self.op(Op::Halt, [0; 3], guard(g % 7)),
            Node::Leave { breaks, predicate, guard: g } => {
                let op = if breaks { Op::Break } else { Op::Continue };
                if loops > 0 {
                    self.op(op, [0, predicate, 0], guard(g));
                }
            }
            Node::If { predicate, ref then, ref otherwise } => {
                self.op(Op::If, [0, predicate, 0], Guard::NONE);
                self.nodes(then, loops);
                if let Some(otherwise) = otherwise {
                    self.op(Op::Else, [0; 3], Guard::NONE);
                    self.nodes(otherwise, loops);
                }
                self.op(Op::EndIf, [0; 3], Guard::NONE);
            }
            Node::Loop { limit, ref body } => {
                // Each function and nesting level has its own counters, so that loops terminate.
                let counter = COUNTERS + 6 * self.function as u8 + 2 * loops;
                self.emit(Inst { rd: counter, imm: 0, ..Inst::new(Op::MovImm) });
                self.emit(Inst { rd: counter + 1, imm: 3, ..Inst::new(Op::MovImm) });
                self.op(Op::And, [counter + 1, counter + 1, limit], Guard::NONE);
                self.op(Op::Loop, [0; 3], Guard::NONE);
                self.op(Op::ICmpGe, [3, counter, counter + 1], Guard::NONE);
                self.op(Op::Break, [0, 3, 0], Guard::NONE);
                self.op(Op::IAdd, [counter, counter, ONE], Guard::NONE);
                self.nodes(body, loops + 1);
                self.op(Op::EndLoop, [0; 3], Guard::NONE);
            }
            Node::Call(callee) => {
                let callee = self.function + 1 + usize::from(callee);
                if callee < self.functions {
                    self.emit(Inst::new(Op::Call));
                    self.calls.push((self.code.len() - 1, callee));
                }
            }
        }
    }

    fn inst(&mut self, kind: u8, [d, a, b]: [u8; 3], guard: Guard) {
        use Op::*;
        let [pd, ps] = [d % 3, a % 4];
        let through_memory = |op: Op, lower: &mut Lower| {
            lower.op(And, [ADDRESS, a, MASK], Guard::NONE);
            lower.op(op, [d, ADDRESS, b], guard);
        };
        match kind {
            0 => self.emit(Inst { rd: d, imm: u32::from(b), guard, ..Inst::new(MovImm) }),
            1..=3 => {
                use Special::*;
                let specials =
                    [ThreadIdX, LaneId, ThreadIdX, LaneId, ThreadIdY, WaveId, WorkgroupIdX, NumWaves];
                self.emit(Inst { rd: d, rs1: specials[usize::from(a)] as u8, guard, ..Inst::new(MovSr) });
            }
            4 => self.op(IAdd, [d, a, b], guard),
            5 => self.op(And, [d, a, b], guard),
            6 => self.op(ISub, [d, a, b], guard),
            7 => self.op(Shr, [d, a, b], guard),
            8 => self.op(Mov, [d, a, 0], guard),
            9 | 10 => self.op(ICmpLt, [pd, a, b], guard),
            11 => self.op(ICmpEq, [pd, a, b], guard),
            12 => self.op(UCmpGe, [pd, a, b], guard),
            13 => self.emit(Inst { rd: d, rs1: ps, rs2: a, rs3: b, guard, ..Inst::new(Select) }),
            14 => self.op(WaveAny, [pd, ps, 0], guard),
            15 => self.op(WaveAll, [pd, ps, 0], guard),
            16 => self.op(WaveReduceAdd, [d, a, 0], guard),
            17 => self.op(WaveReduceMin, [d, a, 0], guard),
            18 => self.op(WaveBallot, [d, ps, 0], guard),
            19 => through_memory(DeviceLoadU32, self),
            20 => through_memory(LocalLoadU32, self),
            21 => through_memory(LocalStoreU32, self),
            22 => through_memory(LocalAtomicAdd, self),
            23 => self.op(IMul, [d, a, b], guard),
            24 => self.op(WavePrefixSum, [d, a, 0], guard),
            25 => self.op(WaveShuffle, [d, a, b], guard),
            26 => self.op(WaveBroadcast, [d, a, b], guard),
            27 => self.op(WaveShuffleXor, [d, a, b], guard),
            _ => self.op(WaveShuffleUp, [d, a, b], guard),
        }
    }
}

/// Assembles the program of these bodies and its launch.
pub(crate) fn lower(bodies: &[Vec<Node>], workgroup: [u32; 3]) -> (Program, Launch) {
    let mut lower = Lower { code: Vec::new(), calls: Vec::new(), function: 0, functions: bodies.len() };
    for (register, imm) in [(MASK, 60), (ONE, 1), (BASE, WAVE_WIDTH)] {
        lower.emit(Inst { rd: register, imm, ..Inst::new(Op::MovImm) });
    }
    // Input in the first 64 bytes. Then 32 bytes per thread, by wave and lane.
    let special = |rd, special| Inst { rd, rs1: special as u8, ..Inst::new(Op::MovSr) };
    lower.emit(special(ADDRESS, Special::WaveId));
    lower.op(Op::IMul, [BASE, BASE, ADDRESS], Guard::NONE);
    lower.emit(special(ADDRESS, Special::LaneId));
    lower.op(Op::IAdd, [BASE, BASE, ADDRESS], Guard::NONE);
    lower.emit(Inst { rd: ADDRESS, imm: 5, ..Inst::new(Op::MovImm) });
    lower.op(Op::Shl, [BASE, BASE, ADDRESS], Guard::NONE);
    lower.emit(Inst { rd: ADDRESS, imm: 64, ..Inst::new(Op::MovImm) });
    lower.op(Op::IAdd, [BASE, BASE, ADDRESS], Guard::NONE);
    // p1 differs between lanes; p2 does not.
    lower.emit(special(ADDRESS, Special::LaneId));
    lower.op(Op::ICmpLt, [1, ADDRESS, 0], Guard::NONE);
    lower.op(Op::ICmpLt, [2, 0, 1], Guard::NONE);

    let mut starts = Vec::new();
    for (function, body) in bodies.iter().enumerate() {
        starts.push(lower.code.len() as u32 * 4);
        lower.function = function;
        lower.nodes(body, 0);
        lower.emit(Inst::new(if function == 0 { Op::Halt } else { Op::Return }));
    }
    for &(word, callee) in &lower.calls {
        lower.code[word] = starts[callee];
    }
    let kernel = Kernel {
        name: "k".into(),
        registers: REGISTERS,
        local_memory_bytes: 64,
        workgroup_size: [0; 3],
        code: 0..lower.code.len() as u32,
        parameters: None,
        private: None,
        bindings: Vec::new(),
    };
    let launch = Launch {
        kernel: 0,
        grid: [2, 1, 1],
        workgroup,
        registers: REGISTERS,
        local_memory_bytes: 64,
        initial_registers: ARGUMENTS.to_vec(),
    };
    (Program { code: lower.code, kernels: vec![kernel], source: None, module: None }, launch)
}

/// Number of programs that a test tries: the environment variable `CASES`, or `few`.
pub(crate) fn cases(few: u32) -> u32 {
    environment::count("CASES", few.into()).try_into().expect("32 bits")
}

/// Runs a program. Returns the final memory, or why it stopped.
pub(crate) fn run(program: &Program, launch: &Launch, order: Order) -> Result<Vec<u8>, Stop> {
    let machine = Machine {
        wave_width: WAVE_WIDTH,
        f64: true,
        mma: true,
        divergence_depth: 32,
        call_depth: 8,
        local_poison: 0xA5,
    };
    let mut memory: Vec<u8> = (0..DEVICE_BYTES).map(|i| if i % 4 == 0 { (i / 4) as u8 } else { 0 }).collect();
    let options = Options { order, max_instructions: 20_000, ..Options::default() };
    reference::run(program, launch, &machine, &options, &mut memory)?;
    Ok(memory)
}
