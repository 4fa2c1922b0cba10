//! Lowers a tree to code words.

use super::layout::{COUNTERS, Layout, OWN_BYTES, RESERVED, Reserved};
use super::{Access, Checksum, Ending, Node, Region, Test, Tree, Trips};
use wave_isa::program::{Kernel, Program};
use wave_isa::{Inst, Op, Special};

/// The tree's program: one kernel `random`.
pub(super) fn program(tree: &Tree, layout: &Layout) -> Program {
    let mut lower = Lower { tree, layout, code: Vec::new(), calls: Vec::new(), used: [false; 6] };
    let mut starts = Vec::new();
    for (index, body) in tree.functions.iter().enumerate() {
        starts.push(lower.code.len());
        lower.block(body);
        if index == 0 {
            lower.epilogue();
        } else {
            lower.emit(Inst::new(Op::Return));
        }
    }
    let (mut body, calls) = (std::mem::take(&mut lower.code), std::mem::take(&mut lower.calls));
    lower.prologue();
    let mut code = lower.code;
    // A call of function 0 calls the body. Only programs that must fault contain it.
    for (word, function) in calls {
        body[word] = 4 * (code.len() + starts[function]) as u32;
    }
    code.append(&mut body);
    let kernel = Kernel {
        name: "random".into(),
        registers: tree.registers,
        local_memory_bytes: layout.local_bytes,
        workgroup_size: tree.workgroup,
        code: 0..code.len() as u32,
        parameters: None,
        private: None,
        bindings: Vec::new(),
    };
    Program { code, kernels: vec![kernel], source: None, module: None }
}

struct Lower<'a> {
    tree: &'a Tree,
    layout: &'a Layout,
    code: Vec<u32>,
    /// (word of the target, function)
    calls: Vec<(usize, usize)>,
    /// The reserved registers that some instruction reads.
    used: [bool; 6],
}

impl Lower<'_> {
    fn emit(&mut self, inst: Inst) {
        for (first, rows) in inst.sources() {
            for register in usize::from(first)..usize::from(first) + usize::from(rows) {
                let index = register.wrapping_sub(usize::from(self.tree.reserved));
                if let Some(used) = self.used.get_mut(index) {
                    *used = true;
                }
            }
        }
        let words = inst.encode();
        self.code.extend(&words[..inst.words() as usize]);
    }

    /// An unguarded instruction with operands in the fields rd, rs1, rs2, rs3.
    fn op(&mut self, op: Op, [rd, rs1, rs2, rs3]: [u8; 4]) {
        self.emit(Inst { rd, rs1, rs2, rs3, ..Inst::new(op) });
    }

    fn imm(&mut self, rd: u8, imm: u32) {
        self.emit(Inst { rd, imm, ..Inst::new(Op::MovImm) });
    }

    fn special(&mut self, rd: u8, special: Special) {
        self.op(Op::MovSr, [rd, special as u8, 0, 0]);
    }

    fn reserved(&self, register: Reserved) -> u8 {
        self.tree.reserved + register as u8
    }

    /// Initialises those reserved registers that are read. Uses the loop counters as temporaries.
    fn prologue(&mut self) {
        use Reserved::*;
        let [zero, one, slot, own_device, own_local, workgroup] =
            [Zero, One, Slot, OwnDevice, OwnLocal, Workgroup].map(|r| self.reserved(r));
        let [needs_zero, needs_one, needs_slot, needs_device, needs_local, needs_workgroup] = self.used;
        let (thread, group, temp) = (workgroup + 1, workgroup + 2, workgroup + 3);
        if needs_zero {
            self.imm(zero, 0);
        }
        if needs_one {
            self.imm(one, 1);
        }
        if needs_slot || needs_device || needs_local {
            // thread = wave_id * wave_width + lane_id
            self.special(thread, Special::WaveId);
            self.special(temp, Special::WaveWidth);
            self.op(Op::IMul, [thread, thread, temp, 0]);
            self.special(temp, Special::LaneId);
            self.op(Op::IAdd, [thread, thread, temp, 0]);
        }
        if needs_slot {
            self.op(Op::IAdd, [slot, thread, thread, 0]);
            self.op(Op::IAdd, [slot, slot, slot, 0]);
        }
        if (needs_workgroup || needs_device) && self.tree.grid == [1, 1, 1] {
            self.imm(group, 0);
        } else if needs_workgroup || needs_device {
            // group = x + size_x * (y + size_y * z)
            self.special(group, Special::WorkgroupIdZ);
            for (size, id) in
                [(Special::GridSizeY, Special::WorkgroupIdY), (Special::GridSizeX, Special::WorkgroupIdX)]
            {
                self.special(temp, size);
                self.op(Op::IMul, [group, group, temp, 0]);
                self.special(temp, id);
                self.op(Op::IAdd, [group, group, temp, 0]);
            }
        }
        let [own, groups, local] = self.layout.strides(self.tree);
        if needs_local {
            self.linear(own_local, thread, local, temp);
        }
        if needs_workgroup {
            self.linear(workgroup, group, groups, temp);
        }
        if needs_device {
            // From the workgroup's index to the thread's index in the grid.
            self.imm(temp, self.tree.threads());
            self.op(Op::IMad, [group, group, temp, thread]);
            self.linear(own_device, group, own, temp);
        }
    }

    /// rd = first + stride * index
    fn linear(&mut self, rd: u8, index: u8, (first, stride): (u32, u32), temp: u8) {
        self.imm(rd, stride);
        self.imm(temp, first);
        self.op(Op::IMad, [rd, index, rd, temp]);
    }

    fn epilogue(&mut self) {
        if let Some(covers) = &self.tree.checksum {
            self.checksum(covers);
        }
        match self.tree.ending {
            Ending::Halt => self.emit(Inst::new(Op::Halt)),
            Ending::Return => self.emit(Inst::new(Op::Return)),
            Ending::RunOff => {}
        }
    }

    /// Combines the registers, and whatever else is requested, into a checksum word behind the lane's own
    /// bytes. Uses the loop counters as temporaries.
    fn checksum(&mut self, covers: &Checksum) {
        let [zero, one, own] = [Reserved::Zero, Reserved::One, Reserved::OwnDevice].map(|r| self.reserved(r));
        let sum = self.tree.reserved + (RESERVED - COUNTERS);
        let (factor, bit) = (sum + 1, sum + 2);
        self.imm(sum, 0);
        for &predicate in &covers.predicates {
            self.op(Op::IAdd, [sum, sum, sum, 0]);
            self.op(Op::Select, [bit, predicate, one, zero]);
            self.op(Op::Or, [sum, sum, bit, 0]);
        }
        self.imm(factor, 0x0100_0193);
        for register in self.tree.pool.iter().cloned().flatten() {
            self.op(Op::IMad, [sum, sum, factor, register as u8]);
        }
        if covers.local {
            self.fold_local(sum, OWN_BYTES / 4);
        }
        for &fragment in &covers.fragments {
            self.imm(bit, 16);
            let tile = self.reserved(Reserved::OwnLocal);
            self.op(Op::MmaStoreC, [tile, bit, fragment, 0]);
            self.fold_local(sum, 16);
        }
        self.imm(factor, OWN_BYTES);
        self.op(Op::IAdd, [factor, factor, own, 0]);
        self.op(Op::DeviceStoreU32, [0, factor, sum, 0]);
    }

    /// Combines the first words of the lane's own local memory into `sum`. The next register holds the
    /// factor; the three after it are temporaries.
    fn fold_local(&mut self, sum: u8, words: u32) {
        let [factor, word, address, step] = [1, 2, 3, 4].map(|n| sum + n);
        self.imm(step, 4);
        self.op(Op::Mov, [address, self.reserved(Reserved::OwnLocal), 0, 0]);
        for _ in 0..words {
            self.op(Op::LocalLoadU32, [word, address, 0, 0]);
            self.op(Op::IMad, [sum, sum, factor, word]);
            self.op(Op::IAdd, [address, address, step, 0]);
        }
    }

    fn block(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Inst(inst) => self.emit(*inst),
            Node::Access(access) => self.access(access),
            Node::Barrier => self.emit(Inst::new(Op::Barrier)),
            Node::Exchange(before, after) => {
                if let Some(before) = before {
                    self.access(before);
                }
                self.emit(Inst::new(Op::Barrier));
                self.access(after);
                self.emit(Inst::new(Op::Barrier));
            }
            Node::Call(function) => {
                self.emit(Inst::new(Op::Call));
                self.calls.push((self.code.len() - 1, *function));
            }
            Node::Words(words) => self.code.extend(words),
            Node::If { test, then, otherwise } => {
                let operand = match *test {
                    Test::Predicate { predicate, negated } => predicate | u8::from(negated) << 2,
                    Test::Uniform { special, temp, predicate } => {
                        let [zero, one] = [Reserved::Zero, Reserved::One].map(|r| self.reserved(r));
                        self.special(temp, special);
                        self.op(Op::And, [temp, temp, one, 0]);
                        self.op(Op::ICmpNe, [predicate, temp, zero, 0]);
                        predicate
                    }
                };
                self.op(Op::If, [0, operand, 0, 0]);
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.emit(Inst::new(Op::Else));
                    self.block(otherwise);
                }
                self.emit(Inst::new(Op::EndIf));
            }
            Node::Loop { trips, counter, predicate, body } => {
                let [zero, one] = [Reserved::Zero, Reserved::One].map(|r| self.reserved(r));
                match *trips {
                    Trips::Fixed(trips) => self.imm(*counter, trips),
                    Trips::Data { register, mask } => {
                        self.imm(*counter, mask);
                        self.op(Op::And, [*counter, *counter, register, 0]);
                    }
                }
                self.emit(Inst::new(Op::Loop));
                self.op(Op::UCmpEq, [*predicate, *counter, zero, 0]);
                self.op(Op::Break, [0, *predicate, 0, 0]);
                // Before the body, so that a continue does not skip it.
                self.op(Op::ISub, [*counter, *counter, one, 0]);
                self.block(body);
                self.emit(Inst::new(Op::EndLoop));
            }
        }
    }

    fn access(&mut self, access: &Access) {
        let [address, second] = access.temps;
        let (constant, registers) = self.layout.base(access.region);
        let mut mask = access.mask;
        if matches!(access.region, Region::ExchangeDevice | Region::ExchangeLocal) {
            // Inside for any size of the workgroup, which shrinking changes: both are powers of two.
            let bytes = access.inst.op.memory().map_or(4, |m| u32::from(m.bytes));
            mask &= self.layout.exchange_bytes - bytes;
        }
        if mask == 0 {
            self.imm(address, constant.wrapping_add(access.offset));
        } else {
            self.imm(address, mask);
            self.op(Op::And, [address, address, access.index, 0]);
            if constant + access.offset != 0 {
                self.imm(second, constant + access.offset);
                self.op(Op::IAdd, [address, second, address, 0]);
            }
        }
        for &register in registers {
            let register = self.reserved(register);
            self.op(Op::IAdd, [address, address, register, 0]);
        }
        let mut inst = access.inst;
        match inst.op {
            Op::MmaLoadA | Op::MmaLoadB => {
                self.imm(second, access.stride);
                (inst.rs1, inst.rs2) = (address, second);
            }
            Op::MmaStoreC => {
                self.imm(second, access.stride);
                (inst.rd, inst.rs1) = (address, second);
            }
            _ => inst.rs1 = address,
        }
        self.emit(inst);
    }
}
