//! Loads, stores, atomics, matrix tiles.
//!
//! A wave of WAVE executes an instruction for all its lanes before the next, so what one lane stores another one loads
//! with a later instruction. Threads of a warp promise that only behind `bar.warp.sync`: one stands before each access
//! that an earlier access of another lane could conflict with.

use super::control;
use super::entry::FaultKind;
use super::{Pending, Translation};
use crate::body::line;
use crate::helpers::Helper;
use wave_isa::table::{AccessKind, AtomicOp, CacheHint, MemoryOp, Space};
use wave_isa::{Inst, MMA_DIM, Op};

/// True if an access of this kind reads memory. A tile is taken for a load and a store.
pub(crate) fn reads(kind: AccessKind) -> bool {
    kind != AccessKind::Store
}

/// True if an access of this kind writes memory.
pub(crate) fn writes(kind: AccessKind) -> bool {
    kind != AccessKind::Load
}

impl Translation<'_> {
    /// An instruction with an access to memory.
    pub(crate) fn access(&mut self, inst: &Inst, g: &str) {
        let access = inst.op.memory().expect("it is of a class of memory instructions");
        self.uses_local |= access.space == Space::Local;
        let (is_read, is_written) = match inst.op {
            Op::MmaLoadA | Op::MmaLoadB => (true, false),
            Op::MmaStoreC => (false, true),
            _ => (reads(access.kind), writes(access.kind)),
        };
        self.meet(access.space, is_read, is_written);
        match access.kind {
            AccessKind::Load => self.in_bounds(inst.rs1, access, g, |t| t.load(inst, access, g)),
            AccessKind::Store => self.in_bounds(inst.rs1, access, g, |t| {
                t.lane_by_lane(g, |t, lanes| t.store(inst, access, lanes));
            }),
            AccessKind::Atomic(operation) => self.in_bounds(inst.rs1, access, g, |t| {
                t.lane_by_lane(g, |t, lanes| t.atomic(inst, access, operation, lanes));
            }),
            AccessKind::Tile => self.tile(inst, access, g),
        }
        // What is stored lane by lane is behind a meeting of the lanes.
        let pending = &mut self.pending[usize::from(access.space == Space::Device)];
        pending.loads |= is_read;
        pending.stores |= is_written;
    }

    /// Lets the lanes meet, if an access of another lane before this one could conflict with it.
    fn meet(&mut self, space: Space, is_read: bool, is_written: bool) {
        let before = self.pending[usize::from(space == Space::Device)];
        if (is_read && before.stores) || (is_written && (before.loads || before.stores)) {
            line!(self.body, "bar.warp.sync 0xffffffff;");
            self.pending = [Pending::default(); 2];
        }
    }

    /// The instructions that `then` writes, behind a check of the address if faults are checked.
    fn in_bounds(&mut self, register: u8, access: MemoryOp, g: &str, then: impl FnOnce(&mut Self)) {
        if self.options.check_bounds {
            let address = format!("%r{register}");
            if matches!(access.kind, AccessKind::Atomic(_)) {
                let (t, wrong) = (self.body.word(), self.body.predicate());
                line!(self.body, "and.b32 {t}, {address}, 3;");
                line!(self.body, "setp.ne.u32 {wrong}, {t}, 0;");
                self.check(&wrong, g, FaultKind::MisalignedAtomic, &address);
            }
            self.check_bounds(&address, access, g);
        }
        then(self);
    }

    fn check_bounds(&mut self, address: &str, access: MemoryOp, g: &str) {
        let wrong = self.body.predicate();
        let bytes = access.bytes;
        let end = self.body.wide();
        let (limit, kind) = match access.space {
            Space::Device => ("%memory_bytes", FaultKind::DeviceOutOfBounds),
            Space::Local => ("%local_bytes", FaultKind::LocalOutOfBounds),
        };
        line!(self.body, "cvt.u64.u32 {end}, {address};");
        line!(self.body, "add.u64 {end}, {end}, {bytes};");
        line!(self.body, "setp.gt.u64 {wrong}, {end}, {limit};");
        self.check(&wrong, g, kind, address);
    }

    fn check(&mut self, wrong: &str, g: &str, kind: FaultKind, address: &str) {
        let (lanes, any) = (self.body.word(), self.body.predicate());
        line!(self.body, "and.pred {wrong}, {wrong}, {g};");
        line!(self.body, "vote.sync.ballot.b32 {lanes}, {wrong}, 0xffffffff;");
        line!(self.body, "setp.ne.b32 {any}, {lanes}, 0;");
        self.fault(&any, &lanes, kind, address);
    }

    /// What `of_lanes` writes for the lanes of a predicate, all at once or one after another.
    fn lane_by_lane(&mut self, g: &str, of_lanes: impl FnOnce(&mut Self, &str)) {
        if !self.options.lane_order {
            return of_lanes(self, g);
        }
        let (turn, round, mine, more) =
            (self.body.word(), self.body.fresh_label(), self.body.predicate(), self.body.predicate());
        line!(self.body, "mov.b32 {turn}, 0;");
        self.body.label(&round);
        line!(self.body, "setp.eq.u32 {mine}, {turn}, %lane;");
        line!(self.body, "and.pred {mine}, {mine}, {g};");
        of_lanes(self, &mine);
        line!(self.body, "bar.warp.sync 0xffffffff;");
        line!(self.body, "add.u32 {turn}, {turn}, 1;");
        line!(self.body, "setp.lt.u32 {more}, {turn}, 32;");
        line!(self.body, "@{more} bra.uni {round};");
    }

    /// The address of an access for PTX: 64 bits of device memory, 32 of local memory.
    fn address(&mut self, register: &str, space: Space) -> String {
        match space {
            Space::Device => {
                let d = self.body.wide();
                line!(self.body, "cvt.u64.u32 {d}, {register};");
                line!(self.body, "add.u64 {d}, {d}, %memory;");
                d
            }
            Space::Local => {
                let t = self.body.word();
                line!(self.body, "add.u32 {t}, {register}, %local;");
                t
            }
        }
    }

    /// Predicates of the lanes whose address is a multiple of the size, and of the others; the latter are `None` if
    /// there cannot be any.
    fn by_alignment(&mut self, register: &str, bytes: u8, g: &str) -> (String, Option<String>) {
        if bytes == 1 || self.options.aligned {
            return (g.to_owned(), None);
        }
        let (t, odd, even) = (self.body.word(), self.body.predicate(), self.body.predicate());
        line!(self.body, "and.b32 {t}, {register}, {};", bytes - 1);
        line!(self.body, "setp.ne.u32 {odd}, {t}, 0;");
        line!(self.body, "not.pred {even}, {odd};");
        line!(self.body, "and.pred {even}, {even}, {g};");
        line!(self.body, "and.pred {odd}, {odd}, {g};");
        (even, Some(odd))
    }

    /// What `of_odd` writes, passed over if `odd` holds in no lane.
    fn if_any(&mut self, odd: &str, of_odd: impl FnOnce(&mut Self)) {
        let (any, past) = (self.body.predicate(), self.body.fresh_label());
        line!(self.body, "vote.sync.any.pred {any}, {odd}, 0xffffffff;");
        line!(self.body, "@!{any} bra.uni {past};");
        of_odd(self);
        self.body.label(&past);
    }

    /// `ld` or `st` with its order, space and cache operator.
    fn instruction_of(&self, access: MemoryOp) -> String {
        let name = if access.kind == AccessKind::Load { "ld" } else { "st" };
        let hint = match access.hint {
            CacheHint::Cached => "",
            CacheHint::Uncached => ".cg",
            CacheHint::Streaming => ".cs",
        };
        match access.space {
            Space::Local => format!("{name}.shared"),
            Space::Device if self.options.relaxed => format!("{name}.relaxed.gpu.global"),
            Space::Device => format!("{name}.global{hint}"),
        }
    }

    fn load(&mut self, inst: &Inst, access: MemoryOp, g: &str) {
        let (register, first) = (format!("%r{}", inst.rs1), inst.rd);
        let address = self.address(&register, access.space);
        let (even, odd) = self.by_alignment(&register, access.bytes, g);
        let ld = self.instruction_of(access);
        let (ty, words) = (vector(access.bytes), words(first, access.bytes));
        line!(self.body, "@{even} {ld}.{ty} {words}, [{address}];");
        let Some(odd) = odd else { return };
        self.if_any(&odd, |t| match access.bytes {
            2 => t.call(Helper::Load(access.space, 2), &odd, &format!("%r{first}"), &address),
            bytes => {
                for word in 0..bytes / 4 {
                    let at = t.displaced(&address, access.space, word * 4);
                    t.call(Helper::Load(access.space, 4), &odd, &format!("%r{}", first + word), &at);
                }
            }
        });
    }

    fn store(&mut self, inst: &Inst, access: MemoryOp, g: &str) {
        let (register, first) = (format!("%r{}", inst.rs1), inst.rs2);
        let address = self.address(&register, access.space);
        let (even, odd) = self.by_alignment(&register, access.bytes, g);
        let st = self.instruction_of(access);
        let (ty, words) = (vector(access.bytes), words(first, access.bytes));
        line!(self.body, "@{even} {st}.{ty} [{address}], {words};");
        let Some(odd) = odd else { return };
        self.if_any(&odd, |t| match access.bytes {
            2 => t.call(Helper::Store(access.space, 2), &odd, &format!("%r{first}"), &address),
            bytes => {
                for word in 0..bytes / 4 {
                    let at = t.displaced(&address, access.space, word * 4);
                    t.call(Helper::Store(access.space, 4), &odd, &format!("%r{}", first + word), &at);
                }
            }
        });
    }

    /// An address so many bytes behind another.
    fn displaced(&mut self, address: &str, space: Space, bytes: u8) -> String {
        if bytes == 0 {
            return address.to_owned();
        }
        let (at, ty) = match space {
            Space::Device => (self.body.wide(), "u64"),
            Space::Local => (self.body.word(), "u32"),
        };
        line!(self.body, "add.{ty} {at}, {address}, {bytes};");
        at
    }

    fn call(&mut self, helper: Helper, g: &str, value: &str, address: &str) {
        self.helpers.insert(helper);
        match helper {
            Helper::Store(..) => line!(self.body, "@{g} call {}, ({address}, {value});", helper.name()),
            _ => line!(self.body, "@{g} call ({value}), {}, ({address});", helper.name()),
        }
    }

    fn atomic(&mut self, inst: &Inst, access: MemoryOp, operation: AtomicOp, g: &str) {
        let address = self.address(&format!("%r{}", inst.rs1), access.space);
        let b = format!("%r{}", inst.rs2);
        let place = match access.space {
            Space::Local => "relaxed.cta.shared".to_owned(),
            Space::Device => format!("relaxed.{}.global", control::scope(inst.scope)),
        };
        let returned = (inst.rd != 0).then(|| format!("%r{}", inst.rd));
        let (name, ty) = match operation {
            AtomicOp::Add | AtomicOp::Sub => ("add", "u32"),
            AtomicOp::Min => ("min", "u32"),
            AtomicOp::Max => ("max", "u32"),
            AtomicOp::And => ("and", "b32"),
            AtomicOp::Or => ("or", "b32"),
            AtomicOp::Xor => ("xor", "b32"),
            AtomicOp::Exchange => ("exch", "b32"),
            AtomicOp::Cas => ("cas", "b32"),
        };
        let operand = match operation {
            AtomicOp::Sub => {
                let minus = self.body.word();
                line!(self.body, "sub.u32 {minus}, 0, {b};");
                minus
            }
            AtomicOp::Cas => format!("{b}, %r{}", inst.rs3),
            _ => b,
        };
        let reduces = !matches!(operation, AtomicOp::Exchange | AtomicOp::Cas);
        match returned {
            None if reduces => line!(self.body, "@{g} red.{place}.{name}.{ty} [{address}], {operand};"),
            None => line!(self.body, "@{g} atom.{place}.{name}.{ty} _, [{address}], {operand};"),
            Some(d) => line!(self.body, "@{g} atom.{place}.{name}.{ty} {d}, [{address}], {operand};"),
        }
    }

    /// A tile of four rows, each of four words that lie in memory one behind another.
    fn tile(&mut self, inst: &Inst, access: MemoryOp, g: &str) {
        let (kind, fragment, start, stride) = match inst.op {
            Op::MmaLoadA => ('a', inst.rd, inst.rs1, inst.rs2),
            Op::MmaLoadB => ('b', inst.rd, inst.rs1, inst.rs2),
            _ => ('c', inst.rs2, inst.rd, inst.rs1),
        };
        self.fragments.insert((kind, fragment));
        let is_store = inst.op == Op::MmaStoreC;
        let row = |t: &mut Self, i: usize| {
            let at = t.body.word();
            line!(t.body, "mad.lo.u32 {at}, %r{stride}, {i}, %r{start};");
            at
        };
        if self.options.check_bounds {
            for i in 0..MMA_DIM {
                let at = row(self, i);
                self.check_bounds(&at, access, g);
            }
        }
        let rows = |t: &mut Self, g: &str| {
            for i in 0..MMA_DIM {
                let at = row(t, i);
                let address = t.address(&at, Space::Local);
                let (even, odd) = t.by_alignment(&at, 4, g);
                let value = |j: usize| format!("%m{kind}{fragment}_{}", i * MMA_DIM + j);
                for j in 0..MMA_DIM {
                    match is_store {
                        true => line!(t.body, "@{even} st.shared.b32 [{address}+{}], {};", 4 * j, value(j)),
                        false => line!(t.body, "@{even} ld.shared.b32 {}, [{address}+{}];", value(j), 4 * j),
                    }
                }
                let Some(odd) = odd else { continue };
                t.if_any(&odd, |t| {
                    for j in 0..MMA_DIM {
                        let at = t.displaced(&address, Space::Local, 4 * j as u8);
                        let helper = if is_store {
                            Helper::Store(Space::Local, 4)
                        } else {
                            Helper::Load(Space::Local, 4)
                        };
                        t.call(helper, &odd, &value(j), &at);
                    }
                });
            }
        };
        match is_store {
            true => self.lane_by_lane(g, rows),
            false => rows(self, g),
        }
    }
}

/// The type of an access of so many bytes.
fn vector(bytes: u8) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "b32",
        8 => "v2.b32",
        _ => "v4.b32",
    }
}

/// The registers of an access of so many bytes.
fn words(first: u8, bytes: u8) -> String {
    match bytes {
        8 | 16 => {
            let names: Vec<String> = (0..bytes / 4).map(|word| format!("%r{}", first + word)).collect();
            format!("{{{}}}", names.join(", "))
        }
        _ => format!("%r{first}"),
    }
}
