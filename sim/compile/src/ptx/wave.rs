//! Operations of a warp, which is a wave of 32 lanes.
//!
//! They are done by the lanes that come to them together. A mask that is a number names these. Another one is followed: of the
//! lanes that are there, those with one mask do the operation, group after group.

use super::Wrong;
use super::translate::{Done, Translator};
use super::tree::{Operand, OperandKind, Statement};
use super::types::PtxType;
use crate::emit::to;
use crate::ir::{Binary, Compare, Convert, Operation, Target, Terminator, Type, Unary, Value, Wave};
use wave_isa::Special;

impl Translator<'_> {
    fn lane(&mut self) -> Value {
        self.needs_warps = true;
        self.e.special(Special::LaneId, Some(31))
    }

    /// The lanes that are here, as bits.
    fn here(&mut self) -> Value {
        self.needs_warps = true;
        let yes = self.e.bool(true);
        let ballot = self.e.wave(Wave::Ballot, &[yes]);
        self.e.convert(Convert::Wrap, ballot)
    }

    /// The lanes that are here and have a truth value, as bits.
    fn ballot(&mut self, truth: Value) -> Value {
        self.needs_warps = true;
        let ballot = self.e.wave(Wave::Ballot, &[truth]);
        self.e.convert(Convert::Wrap, ballot)
    }

    /// The value of the lowest lane that is here.
    fn of_first(&mut self, value: Value) -> Value {
        let here = self.here();
        let first = self.e.unary(Unary::Ctz, here);
        self.e.wave(Wave::Shuffle, &[value, first])
    }

    pub(super) fn active_mask(&mut self, s: &Statement) -> Done {
        let here = self.here();
        self.write(&s.operands[0], here, PtxType::B32)
    }

    /// The value of another lane; the predicate says whether that is one of the segment.
    pub(super) fn shuffle(&mut self, s: &Statement) -> Done {
        let lane = self.lane();
        let (into, inside) = match &s.operands[0].kind {
            OperandKind::Both(into, inside) => (&**into, Some(&**inside)),
            _ => (&s.operands[0], None),
        };
        let a = self.read(&s.operands[1], PtxType::B32)?;
        let b = self.read(&s.operands[2], PtxType::U32)?;
        let c = self.read(&s.operands[3], PtxType::U32)?;
        let by = self.e.with(Binary::And, b, 31);
        let clamp = self.e.with(Binary::And, c, 31);
        let segment = self.e.with(Binary::ShrU, c, 8);
        let segment = self.e.with(Binary::And, segment, 31);
        let outside = self.e.complement(segment);
        let least = self.e.binary(Binary::And, lane, segment);
        let within = self.e.binary(Binary::And, clamp, outside);
        let most = self.e.binary(Binary::Or, least, within);
        let (source, compare) = match s.one_of(&["up", "down", "bfly", "idx"]) {
            Some("up") => (self.e.binary(Binary::Sub, lane, by), Compare::GeS),
            Some("down") => (self.e.binary(Binary::Add, lane, by), Compare::LeS),
            Some("bfly") => {
                let source = self.e.binary(Binary::Xor, lane, by);
                (self.e.bounded(source, Some(31)), Compare::LeS)
            }
            Some(_) => {
                let offset = self.e.binary(Binary::And, by, outside);
                (self.e.binary(Binary::Or, least, offset), Compare::LeS)
            }
            None => return Err(Wrong::new(s.at.clone(), "`shfl` needs .up, .down, .bfly or .idx")),
        };
        // The whole wave is one segment, and the source one of its lanes: nothing to test.
        let is_whole = compare == Compare::LeS && self.e.known(most) == Some(31) && self.e.most(source) <= 31;
        let (source, truth) = if is_whole {
            (source, self.e.bool(true))
        } else {
            let truth = self.e.compare(compare, source, most);
            (self.e.select(truth, source, lane), truth)
        };
        let mut value = self.e.wave(Wave::Shuffle, &[a, source]);
        if s.has("sync")
            && let Some(mask) = s.operands.get(4)
        {
            value = self.within(mask, source, value)?;
        }
        self.write(into, value, PtxType::B32)?;
        match inside {
            Some(inside) => self.write(inside, truth, PtxType::PRED),
            None => Ok(()),
        }
    }

    /// The value of a lane, which is 0 if the mask does not name the lane. PTX leaves it open; GPUs give 0, and reductions
    /// in workgroups that do not fill a warp rely on it.
    fn within(&mut self, mask: &Operand, source: Value, value: Value) -> Done<Value> {
        let mask = self.read(mask, PtxType::U32)?;
        if self.e.known_i32(mask) == Some(u32::MAX) {
            return Ok(value);
        }
        let bit = self.e.binary(Binary::ShrU, mask, source);
        let bit = self.e.with(Binary::And, bit, 1);
        let is_named = self.e.compare_with(Compare::Ne, bit, 0);
        let zero = self.e.i32(0);
        Ok(self.e.select(is_named, value, zero))
    }

    /// A mask as a value, if it is no number.
    fn mask(&mut self, operand: Option<&Operand>) -> Done<Option<Value>> {
        let Some(operand) = operand else { return Ok(None) };
        let value = self.read(operand, PtxType::U32)?;
        Ok(if self.e.known(value).is_some() { None } else { Some(value) })
    }

    pub(super) fn vote(&mut self, s: &Statement) -> Done {
        self.needs_warps = true;
        let truth = self.read(&s.operands[1], PtxType::PRED)?;
        let mask = if s.has("sync") { self.mask(s.operands.get(2))? } else { None };
        let mode = s.one_of(&["all", "any", "uni", "ballot"]);
        let expected = if mode == Some("ballot") { PtxType::B32 } else { PtxType::PRED };
        if s.types[0] != expected {
            return Err(Wrong::new(s.at.clone(), format!("this `vote` has the type .{}", expected.name())));
        }
        let masked = |this: &mut Self, truth: Value| {
            let bits = this.ballot(truth);
            match mask {
                Some(mask) => this.e.binary(Binary::And, bits, mask),
                None => bits,
            }
        };
        let value = match (mode, mask) {
            (Some("ballot"), _) => masked(self, truth),
            (Some("any"), None) => self.e.wave(Wave::Any, &[truth]),
            (Some("all"), None) => self.e.wave(Wave::All, &[truth]),
            (Some("any"), Some(_)) => {
                let bits = masked(self, truth);
                self.e.compare_with(Compare::Ne, bits, 0)
            }
            (Some("all"), Some(_)) => {
                let not = self.e.not(truth);
                let bits = masked(self, not);
                self.e.compare_with(Compare::Eq, bits, 0)
            }
            (Some(_), _) => {
                let not = self.e.not(truth);
                let [with, without] = [masked(self, truth), masked(self, not)];
                let [all, none] = [without, with].map(|bits| self.e.compare_with(Compare::Eq, bits, 0));
                self.e.binary(Binary::Or, all, none)
            }
            (None, _) => return Err(Wrong::new(s.at.clone(), "`vote` needs .all, .any, .uni or .ballot")),
        };
        self.write(&s.operands[0], value, expected)
    }

    /// Does something for each group of lanes with one value, group after group; what is done gives a word.
    fn by_group(&mut self, key: Value, each: &mut dyn FnMut(&mut Self) -> Value) -> Value {
        let header = self.e.new_block(&[]);
        let [group, join] = [self.e.new_block(&[]), self.e.new_block(&[Type::Bool, Type::I32])];
        let out = self.e.new_block(&[]);
        self.e.jump(header, Vec::new());
        self.e.block = header;
        let is_mine = if self.e.ty(key) == Type::I64 {
            let halves = self.e.halves(key);
            let [low, high] = halves.map(|half| {
                let first = self.of_first(half);
                self.e.compare(Compare::Eq, half, first)
            });
            self.e.binary(Binary::And, low, high)
        } else {
            let first = self.of_first(key);
            self.e.compare(Compare::Eq, key, first)
        };
        let (no, nothing) = (self.e.bool(false), self.e.i32(0));
        self.e.branch(is_mine, to(group), Target { block: join, arguments: vec![no, nothing] });
        let value = each(self);
        let yes = self.e.bool(true);
        self.e.jump(join, vec![yes, value]);
        self.e.block = join;
        let [is_done, result] = [0, 1].map(|number| self.e.parameter(join, number));
        self.e.end(Terminator::Branch(is_done, [to(out), to(header)]));
        self.e.block = out;
        result
    }

    /// The lanes that have the same value.
    pub(super) fn lane_match(&mut self, s: &Statement) -> Done {
        self.needs_warps = true;
        let ty = s.types[0];
        let (into, truth) = match &s.operands[0].kind {
            OperandKind::Both(into, truth) => (&**into, Some(&**truth)),
            _ => (&s.operands[0], None),
        };
        let value = self.read(&s.operands[1], ty)?;
        let mask = self.mask(s.operands.get(2))?;
        if s.has("any") {
            let lanes = self.by_group(value, &mut |this| this.here());
            let lanes = match mask {
                Some(mask) => self.e.binary(Binary::And, lanes, mask),
                None => lanes,
            };
            return self.write(into, lanes, PtxType::B32);
        }
        if mask.is_some() {
            return self.refused(
                &s.at,
                "`match.all` with a mask that is no number is not taken",
                "use a number, such as 0xffffffff",
            );
        }
        let words = if ty.bits == 64 { self.e.halves(value).to_vec() } else { vec![value] };
        let mut same = self.e.bool(true);
        for word in words {
            let first = self.of_first(word);
            let is_same = self.e.compare(Compare::Eq, word, first);
            same = self.e.binary(Binary::And, same, is_same);
        }
        let all = self.e.wave(Wave::All, &[same]);
        let (here, none) = (self.here(), self.e.i32(0));
        let lanes = self.e.select(all, here, none);
        self.write(into, lanes, PtxType::B32)?;
        match truth {
            Some(truth) => self.write(truth, all, PtxType::PRED),
            None => Ok(()),
        }
    }

    /// A barrier that counts the threads of the workgroup with a predicate, or says whether all or any have it: each wave
    /// leaves its number in a word of its own, and adds those of all waves up after the barrier.
    pub(super) fn barrier_reduction(&mut self, s: &Statement) -> Done {
        let [_, _, .., predicate] = s.operands.as_slice() else {
            return Err(Wrong::new(s.at.clone(), "a barrier that reduces takes a predicate"));
        };
        if s.operands.len() > 3 {
            self.names_whole_workgroup(&s.operands[2])?;
        }
        let Some(mode) = s.one_of(&["popc", "and", "or"]) else {
            return Err(Wrong::new(s.at.clone(), format!("`{}.red` needs .popc, .and or .or", s.row.name)));
        };
        let expected = if mode == "popc" { PtxType::U32 } else { PtxType::PRED };
        if s.types[0] != expected {
            return Err(Wrong::new(s.at.clone(), format!("this barrier has the type .{}", expected.name())));
        }
        let words = self.places.reduction.expect("the layout has words where a barrier reduces");
        let truth = self.read(predicate, PtxType::PRED)?;
        let counted = if mode == "and" { self.e.not(truth) } else { truth };
        let bits = self.ballot(counted);
        let count = self.e.unary(Unary::Popcnt, bits);
        let access = self.access(self.ids.local, Type::I32, 4, false, words);
        let (lane, here) = (self.lane(), self.here());
        let first = self.e.unary(Unary::Ctz, here);
        let is_first = self.e.compare(Compare::Eq, lane, first);
        let [store, after] = [self.e.new_block(&[]), self.e.new_block(&[])];
        self.e.branch(is_first, to(store), to(after));
        self.e.block = store;
        let wave = self.e.special(Special::WaveId, None);
        let at = self.e.with(Binary::Shl, wave, 2);
        self.e.effect(Operation::Store(access, [at, count]));
        self.e.jump(after, Vec::new());
        self.e.block = after;
        self.e.effect(Operation::Barrier);
        let (waves, zero) = (self.e.special(Special::NumWaves, None), self.e.i32(0));
        let [header, out] = [self.e.new_block(&[Type::I32, Type::I32]), self.e.new_block(&[])];
        self.e.jump(header, vec![zero, zero]);
        self.e.block = header;
        let [number, sum] = [0, 1].map(|which| self.e.parameter(header, which));
        let at = self.e.with(Binary::Shl, number, 2);
        let count = self.e.load(access, at);
        let sum = self.e.binary(Binary::Add, sum, count);
        let next = self.e.with(Binary::Add, number, 1);
        let goes_on = self.e.compare(Compare::LtU, next, waves);
        self.e.branch(goes_on, Target { block: header, arguments: vec![next, sum] }, to(out));
        self.e.block = out;
        // The words are free again once all have read them.
        self.e.effect(Operation::Barrier);
        let value = match mode {
            "popc" => sum,
            "and" => self.e.compare_with(Compare::Eq, sum, 0),
            _ => self.e.compare_with(Compare::Ne, sum, 0),
        };
        self.write(&s.operands[0], value, expected)
    }

    pub(super) fn reduction(&mut self, s: &Statement) -> Done {
        self.needs_warps = true;
        let ty = s.types[0];
        let value = self.read(&s.operands[1], ty)?;
        let mask = self.mask(s.operands.get(2))?;
        // Signed numbers have the order of numbers without a sign if their first bit is flipped.
        let flip = if ty.is_signed() { 0x8000_0000 } else { 0 };
        let wave = match s.one_of(&["add", "min", "max", "and", "or", "xor"]) {
            Some("add") => Wave::ReduceAdd,
            Some("min") => Wave::ReduceMin,
            Some("max") => Wave::ReduceMax,
            Some("and") => Wave::ReduceAnd,
            Some("or") => Wave::ReduceOr,
            Some(_) => Wave::ReduceXor,
            None => return Err(Wrong::new(s.at.clone(), "`redux` needs an operation, such as .add")),
        };
        let flips = flip != 0 && matches!(wave, Wave::ReduceMin | Wave::ReduceMax);
        let taken = if flips { self.e.with(Binary::Xor, value, flip) } else { value };
        let result = match mask {
            Some(mask) => self.by_group(mask, &mut |this| this.e.wave(wave, &[taken])),
            None => self.e.wave(wave, &[taken]),
        };
        let result = if flips { self.e.with(Binary::Xor, result, flip) } else { result };
        self.write(&s.operands[0], result, ty)
    }
}
