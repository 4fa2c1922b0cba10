//! Memory nodes, and faulting instructions.

use super::grow::{Focus, Grower};
use super::layout::{ATOMIC_WORDS, INPUT_BYTES, Layout, OWN_BYTES, Reserved};
use super::{Access, Node, Region, Test};
use wave_isa::{Guard, Inst, Op, Scope, table::TABLE};

/// (local, device) operations of each atomic that commutes with itself, in the order of their words.
/// Subtraction shares the words of addition.
const COMMUTATIVE: [(Op, Op); 6] = [
    (Op::LocalAtomicAdd, Op::AtomicAdd),
    (Op::LocalAtomicMin, Op::AtomicMin),
    (Op::LocalAtomicMax, Op::AtomicMax),
    (Op::LocalAtomicAnd, Op::AtomicAnd),
    (Op::LocalAtomicOr, Op::AtomicOr),
    (Op::LocalAtomicXor, Op::AtomicXor),
];

/// All operations of an opcode.
fn operations(opcode: u8) -> Vec<Op> {
    TABLE.iter().filter(|i| i.opcode == opcode).map(|i| i.op).collect()
}

/// Bytes that a lane accesses.
fn bytes(op: Op) -> u32 {
    op.memory().map_or(4, |m| u32::from(m.bytes))
}

impl Grower {
    /// An access at a random place of a region in which no other lane's writes are observable.
    pub(super) fn access(&mut self, inst: Inst, region: Region) -> Access {
        let (size, masks): (u32, &[u32]) = match region {
            Region::Input => (INPUT_BYTES, &[0x3FC, 0x3FC, 0x3FF, 0x7C0, 0x1F, 0]),
            _ if self.focus == Focus::Memory => (OWN_BYTES, &[0, 0, 4, 0x3F]),
            _ => (OWN_BYTES, &[0x3C, 0x3F, 0x30, 0]),
        };
        let mask = self.choose(masks);
        let most = size - mask - bytes(inst.op);
        let offset = match self.below(4) {
            0 => self.below(most + 1),
            1 => self.below(most / 4 + 1) * 4,
            2 => most,
            _ => 0,
        };
        let slot = self.tree.reserved + Reserved::Slot as u8;
        let index = if self.one_in(3) { slot } else { self.register(1) };
        Access { inst, region, offset, index, mask, temps: self.temps(), stride: 0 }
    }

    fn temps(&mut self) -> [u8; 2] {
        let first = self.register(1);
        loop {
            let second = self.register(1);
            if second != first {
                return [first, second];
            }
        }
    }

    fn memory_inst(&mut self, op: Op) -> Inst {
        let mut inst = Inst { guard: self.maybe_guard(), ..Inst::new(op) };
        self.fill(&mut inst);
        inst
    }

    /// A load or store of the lane's own bytes, or a load from the input.
    pub(crate) fn own_access(&mut self) -> Node {
        let (opcode, region) = self.choose(&[
            (0x38, Region::Input),
            (0x38, Region::OwnDevice),
            (0x39, Region::OwnDevice),
            (0x30, Region::OwnLocal),
            (0x31, Region::OwnLocal),
        ]);
        let op = self.choose(&operations(opcode));
        let inst = self.memory_inst(op);
        Node::Access(self.access(inst, region))
    }

    /// An atomic on one of the lane's own words: any kind, any scope, with or without a result.
    pub(crate) fn lane_atomic(&mut self) -> Node {
        let (opcode, region) = self.choose(&[(0x3C, Region::OwnLocal), (0x3D, Region::OwnDevice)]);
        let op = self.choose(&operations(opcode));
        let inst = self.memory_inst(op);
        let access = self.access(inst, region);
        Node::Access(Access { mask: access.mask & !3, offset: access.offset & !3, ..access })
    }

    /// An atomic on a word shared with other lanes.
    pub(crate) fn shared_atomic(&mut self) -> Node {
        let kind = self.below(COMMUTATIVE.len() as u32);
        let region = self.choose(&[Region::AtomicsDevice, Region::AtomicsWorkgroup, Region::AtomicsLocal]);
        let (local, device) = match (kind, self.one_in(2)) {
            (0, true) => (Op::LocalAtomicSub, Op::AtomicSub),
            _ => COMMUTATIVE[kind as usize],
        };
        let mut inst = self.memory_inst(if region == Region::AtomicsLocal { local } else { device });
        // No result: the old value depends on the order of the lanes.
        inst.rd = 0;
        inst.scope = match region {
            Region::AtomicsDevice => self.choose(&[Scope::Device, Scope::System]),
            Region::AtomicsWorkgroup => Scope::Workgroup,
            _ => Scope::Wave,
        };
        let mask = self.choose(&[0x3C, 0x3C, 0x0C, 0]);
        let access = self.access(inst, region);
        Node::Access(Access { offset: kind * ATOMIC_WORDS * 4, mask, ..access })
    }

    /// Reads what other lanes of the workgroup have written, between barriers.
    pub(super) fn exchange(&mut self) -> Node {
        let local = self.one_in(2);
        let op = self.choose(&operations(if local { 0x30 } else { 0x38 }));
        let load = self.memory_inst(op);
        if self.one_in(3) {
            let region = if local { Region::AtomicsLocal } else { Region::AtomicsWorkgroup };
            let access = self.access(load, region);
            let (offset, mask) = (self.below(6) * ATOMIC_WORDS * 4, ATOMIC_WORDS * 4 - 16);
            return Node::Exchange(None, Access { offset, mask, ..access });
        }
        let (all, slot) = match local {
            true => (Region::ExchangeLocal, Region::SlotLocal),
            false => (Region::ExchangeDevice, Region::SlotDevice),
        };
        let mut stores = operations(if local { 0x31 } else { 0x39 });
        stores.retain(|op| bytes(*op) <= 4);
        let op = self.choose(&stores);
        let store = self.memory_inst(op);
        let store = Access { offset: 0, mask: 0, ..self.access(store, slot) };
        Node::Exchange(Some(store), Access { offset: 0, mask: u32::MAX, ..self.access(load, all) })
    }

    /// A matrix tile in the lane's own local memory.
    pub(super) fn tile(&mut self) -> Node {
        let op = self.choose(&[Op::MmaLoadA, Op::MmaLoadB, Op::MmaStoreC]);
        let inst = self.memory_inst(op);
        let access = self.access(inst, Region::OwnLocal);
        let (mask, stride) = (self.choose(&[0xF, 0xC, 0]), self.choose(&[16, 16, 12, 5, 4, 0]));
        Node::Access(Access { offset: 0, mask, stride, ..access })
    }

    /// A node that faults when it is reached, in most places and launches. The flag says that it may only be
    /// outside of all ifs and loops.
    pub(super) fn faulting(&mut self) -> (Node, bool) {
        let plain = |op| Inst::new(op);
        let node = match self.below(13) {
            // Unassigned opcode or modifier, reserved bits, a guard where none is allowed.
            0 => Node::Words(vec![0xFF00_0000]),
            1 => Node::Words(vec![0x2C00_00F0]),
            2 => Node::Words(vec![0x3F00_00F8]),
            3 => Node::Words(vec![0x0001_0200, 0x0300_0004]),
            4 => Node::Words(vec![0x3F00_0001]),
            // One register past the last, in the last row of a quad.
            5 if self.tree.registers < 256 => {
                let rd = (self.tree.registers - 3) as u8;
                Node::Inst(Inst { rd, ..plain(Op::DeviceLoadU128) })
            }
            6 => {
                let op =
                    self.choose(&[Op::DeviceLoadU64, Op::DeviceStoreU8, Op::LocalLoadU16, Op::AtomicAdd]);
                let inst = Inst { guard: Guard::NONE, ..self.memory_inst(op) };
                let access = self.access(inst, Region::Anywhere);
                let layout = Layout::of(&self.tree);
                let (offset, mask) = match self.below(3) {
                    // Some or all bytes behind the last one.
                    0 => (self.tree.first + layout.device_bytes - self.below(8), 0),
                    // Misaligned and outside at once.
                    1 => (0xFFFF_FF00 + self.below(4), 0x7C),
                    _ => (0xFFFF_FF00, 0x7C),
                };
                Node::Access(Access { offset, mask, ..access })
            }
            7 => {
                let inst = self.memory_inst(Op::AtomicXor);
                let access = self.access(inst, Region::OwnDevice);
                Node::Access(Access { offset: 1 + self.below(3), mask: 0x3C, ..access })
            }
            8 => {
                // Too many nested ifs; all lanes pass each.
                let [open, _] = Inst { rs1: 4, ..plain(Op::If) }.encode();
                Node::Words(vec![open; 70])
            }
            9 => Node::Call(0),
            10 => {
                let op = self.choose(&[Op::Else, Op::EndIf, Op::EndLoop, Op::Break, Op::Continue]);
                // A guard that no lane passes would hide a break outside of a loop.
                let guard = if op.rejects_guard() { Guard::NONE } else { self.maybe_guard() };
                return (Node::Inst(Inst { guard, ..plain(op) }), true);
            }
            n => {
                let mut branch = |inside| Node::If {
                    test: Test::Predicate { predicate: self.below(4) as u8, negated: self.one_in(2) },
                    then: vec![inside],
                    otherwise: None,
                };
                if n == 11 {
                    branch(Node::Barrier)
                } else {
                    // A return inside of an if. In the kernel's body it would be a halt.
                    let body = vec![branch(Node::Inst(plain(Op::Return)))];
                    self.tree.functions.push(body);
                    Node::Call(self.tree.functions.len() - 1)
                }
            }
        };
        (node, false)
    }
}
