//! Places any instruction directly behind one that it may have to wait for. Ordinary code rarely has such
//! pairs.

use super::grow::{Grower, Place};
use super::layout::Reserved;
use super::{Node, Test};
use wave_isa::table::{AccessKind, Space, TABLE};
use wave_isa::{ExecClass, Field, Guard, Inst, Op, Role};

/// Instructions that occupy their unit for long.
const SLOW: [Op; 5] = [Op::IDiv, Op::FDiv, Op::FSqrt, Op::FSin, Op::FExp2];
/// Instructions of different latencies.
const UNLIKE: [Op; 6] = [Op::IAdd, Op::IMul, Op::CvtF32I32, Op::FAdd, Op::HAdd, Op::WaveReduceAdd];

impl Grower {
    /// A few nodes. The last is any instruction; the ones before it are what it meets.
    pub(super) fn pair(&mut self, place: Place) -> Vec<Node> {
        let mut follower = self.follower(place);
        let mut nodes = Vec::new();
        match self.below(8) {
            0 if place.uniform => nodes.push(Node::Barrier),
            // A shadow.
            0 | 1 => {
                let test = Test::Predicate { predicate: self.below(4) as u8, negated: self.one_in(2) };
                nodes.push(Node::If { test, then: Vec::new(), otherwise: None });
            }
            2 => {
                let predicate = 1 + self.below(3) as u8;
                nodes.push(self.simple(Op::ICmpLt, Some(predicate)));
                self.read_predicate(&mut follower, predicate);
            }
            3 => {
                let rd = self.register(1);
                let rs1 = self.tree.reserved + Reserved::Zero as u8;
                nodes.push(Node::Inst(Inst { rd, rs1, ..Inst::new(Op::DeviceLoadU32) }));
                let written = self.one_in(3);
                set(&mut follower, rd, written);
            }
            // The second one waits in its collector with its operands read.
            4 => {
                let (op, register) = (self.choose(&SLOW), self.register(1));
                for _ in 0..2 {
                    let mut node = self.simple(op, None);
                    set(&mut node, register, false);
                    nodes.push(node);
                }
                set(&mut follower, register, true);
            }
            // Three rows of one bank.
            5 => {
                let rs1 = self.register(1);
                let (rd, rs2, rs3) =
                    (self.register(1), self.register_in_bank(1, rs1), self.register_in_bank(1, rs1));
                nodes.push(Node::Inst(Inst { rd, rs1, rs2, rs3, ..Inst::new(Op::IMad) }));
            }
            6 => {
                for _ in 0..2 {
                    let op = self.choose(&UNLIKE);
                    nodes.push(self.simple(op, None));
                }
            }
            _ => nodes.extend([follower.clone(), follower.clone()]),
        }
        nodes.push(follower);
        nodes
    }

    /// An unguarded instruction on registers of the pool.
    fn simple(&mut self, op: Op, rd: Option<u8>) -> Node {
        let mut inst = Inst::new(op);
        self.fill(&mut inst);
        inst.rd = rd.unwrap_or(inst.rd);
        Node::Inst(inst)
    }

    /// Any instruction allowed here. Memory instructions have their address in a register that is ready.
    fn follower(&mut self, place: Place) -> Node {
        if self.one_in(8) {
            return match self.below(4) {
                0 if place.uniform => Node::Barrier,
                0 | 1 => {
                    let test = Test::Predicate { predicate: self.below(4) as u8, negated: self.one_in(2) };
                    let otherwise = self.one_in(2).then(Vec::new);
                    Node::If { test, then: Vec::new(), otherwise }
                }
                2 if place.breakable => Node::Inst(self.leave()),
                2 if place.function + 1 < self.tree.functions.len() => Node::Call(place.function + 1),
                _ => Node::Inst(self.synchronisation()),
            };
        }
        loop {
            let info = &TABLE[self.below(TABLE.len() as u32) as usize];
            let op = info.op;
            let sync = matches!(info.class, ExecClass::Control | ExecClass::Sync);
            if sync || op.needs_mma() || (op.needs_f64() && !self.options.f64) {
                continue;
            }
            let mut inst = Inst { guard: self.maybe_guard(), ..Inst::new(op) };
            self.fill(&mut inst);
            if let Some(memory) = op.memory() {
                let loads = memory.kind == AccessKind::Load;
                let register = match memory.space {
                    Space::Local => Reserved::OwnLocal,
                    Space::Device if loads && self.one_in(2) => Reserved::Zero,
                    Space::Device => Reserved::OwnDevice,
                };
                inst.rs1 = self.tree.reserved + register as u8;
            }
            return Node::Inst(inst);
        }
    }

    /// Makes a node depend on a predicate, as an operand if possible, otherwise as guard.
    fn read_predicate(&mut self, node: &mut Node, predicate: u8) {
        let negated = self.one_in(2);
        match node {
            Node::If { test, .. } => *test = Test::Predicate { predicate, negated },
            Node::Inst(inst) if inst.predicate_source().is_some() && self.one_in(2) => {
                let takes_not = inst.op.info().operands.iter().any(|o| o.role == Role::PredSrcNeg);
                inst.rs1 = predicate | u8::from(negated && takes_not) << 2;
            }
            Node::Inst(inst) if !inst.op.rejects_guard() => inst.guard = Guard { predicate, negated },
            _ => {}
        }
    }
}

/// Makes a node write a register, or read it, in an operand that is no address.
fn set(node: &mut Node, register: u8, written: bool) {
    let Node::Inst(inst) = node else { return };
    let memory = inst.op.memory().is_some();
    for operand in inst.op.info().operands {
        let address = memory && operand.field == Field::Rs1;
        let fits = match operand.role {
            Role::Dst(1) | Role::DstOptional => written,
            Role::Src(1) => !written && !address,
            _ => false,
        };
        if fits {
            inst.set_field(operand.field, register);
        }
    }
}
