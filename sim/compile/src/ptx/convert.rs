//! Conversions between types.

use super::Wrong;
use super::translate::{Done, Translator};
use super::tree::Statement;
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Compare, Constant, Convert, Half, Type, Unary, Value};

impl Translator<'_> {
    pub(super) fn conversion(&mut self, s: &Statement) -> Done {
        let [into, from] = [s.types[0], s.types[1]];
        if into.kind == Kind::Tensor || from.kind == Kind::Tensor {
            return self.tensor_number(s, into, from);
        }
        if let Some(other) = s.one_of(&["rna", "relu", "satfinite"]) {
            return Err(Wrong::new(s.at.clone(), format!("`.{other}` of `cvt` is not taken")));
        }
        if matches!(into.kind, Kind::Pair | Kind::BrainPair) {
            return self.narrow_pair(s, into, from);
        }
        if s.operands.len() != 2 || matches!(from.kind, Kind::Pair | Kind::BrainPair) {
            let message = format!("`cvt.{}.{}` takes one source", into.name(), from.name());
            return Err(Wrong::new(s.at.clone(), message));
        }
        let value = match (into.is_integer(), from.is_integer()) {
            (true, true) => self.integer_to_integer(s, into, from)?,
            (false, true) => self.integer_to_float(s, into, from)?,
            (true, false) => self.float_to_integer(s, into, from)?,
            (false, false) => self.float_to_float(s, into, from)?,
        };
        self.write_extended(&s.operands[0], value, into)
    }

    fn integer_to_integer(&mut self, s: &Statement, into: PtxType, from: PtxType) -> Done<Value> {
        let value = self.read_low(&s.operands[1], from)?;
        let value = self.extended(value, from);
        if s.has("sat") {
            return Ok(self.clamped(value, into, from));
        }
        let value = match (self.e.ty(value), into.ir()) {
            (Type::I32, Type::I64) => {
                self.e.convert(if from.is_signed() { Convert::ExtendS } else { Convert::ExtendU }, value)
            }
            (Type::I64, Type::I32) => self.e.convert(Convert::Wrap, value),
            _ => value,
        };
        Ok(self.extended(value, into))
    }

    /// The nearest number that the type has.
    fn clamped(&mut self, value: Value, into: PtxType, from: PtxType) -> Value {
        let wide = match (self.e.ty(value), from.is_signed()) {
            (Type::I64, _) => value,
            (_, true) => self.e.convert(Convert::ExtendS, value),
            (_, false) => self.e.convert(Convert::ExtendU, value),
        };
        let (least, most) = if into.is_signed() {
            ((1u64 << (into.bits - 1)).wrapping_neg(), (1u64 << (into.bits - 1)) - 1)
        } else {
            (0, u64::MAX >> (64 - into.bits))
        };
        // The least number is not positive, the greatest not negative.
        let value = if from.is_signed() {
            let raised = self.e.with(Binary::MaxS, wide, least);
            if most <= i64::MAX as u64 { self.e.with(Binary::MinS, raised, most) } else { raised }
        } else {
            self.e.with(Binary::MinU, wide, most)
        };
        if into.bits == 64 { value } else { self.e.convert(Convert::Wrap, value) }
    }

    fn integer_to_float(&mut self, s: &Statement, into: PtxType, from: PtxType) -> Done<Value> {
        let value = self.read_low(&s.operands[1], from)?;
        let value = self.extended(value, from);
        let is_exact = match (into.kind, into.bits) {
            (Kind::Float, 64) => from.bits <= 32,
            (Kind::Float, 32) => from.bits <= 16,
            _ => from.bits <= 8,
        };
        if let Some(other) = s.one_of(&["rz", "rm", "rp"]).filter(|_| !is_exact) {
            return self.refused(
                &s.at,
                format!("the rounding .{other} of `cvt` is not taken: results are rounded to nearest"),
                "use .rn, the rounding of C",
            );
        }
        let convert = match (into.bits == 64, from.is_signed()) {
            (true, true) => Convert::F64S,
            (true, false) => Convert::F64U,
            (false, true) => Convert::F32S,
            (false, false) => Convert::F32U,
        };
        if into.kind == Kind::Brain {
            return Err(Wrong::new(s.at.clone(), format!("`cvt.bf16.{}` is not taken", from.name()))
                .hint("convert to .f32 first"));
        }
        let mut value = self.e.convert(convert, value);
        if s.has("sat") {
            value = self.saturate(value);
        }
        // Integers that a binary32 has not are too great for a binary16.
        Ok(if into.bits == 16 { self.e.half(Half::Narrow, &[value]) } else { value })
    }

    /// A number of 16 bits as a binary32; others as they are.
    fn widened(&mut self, value: Value, from: PtxType) -> Value {
        match (from.kind, from.bits) {
            (Kind::Float, 16) => self.e.half(Half::Widen, &[value]),
            (Kind::Brain, _) => {
                let up = self.e.with(Binary::Shl, value, 16);
                self.e.reinterpret(up)
            }
            _ => value,
        }
    }

    fn float_to_integer(&mut self, s: &Statement, into: PtxType, from: PtxType) -> Done<Value> {
        let value = self.read(&s.operands[1], from)?;
        let mut value = self.widened(value, from);
        if s.has("ftz") {
            value = self.flush(value);
        }
        match s.one_of(&["rni", "rzi", "rmi", "rpi"]) {
            Some("rzi") => {}
            Some(rounding) => value = self.rounded(value, rounding),
            None => {
                return Err(Wrong::new(
                    s.at.clone(),
                    "a conversion to an integer needs .rni, .rzi, .rmi or .rpi",
                ));
            }
        }
        let convert = match (into.bits == 64, into.is_signed()) {
            (true, true) => Convert::TruncSatI64S,
            (true, false) => Convert::TruncSatI64U,
            (false, true) => Convert::TruncSatI32S,
            (false, false) => Convert::TruncSatI32U,
        };
        let value = self.e.convert(convert, value);
        if into.bits >= 32 {
            return Ok(value);
        }
        Ok(if into.is_signed() {
            let value = self.e.with(Binary::MaxS, value, u64::from((1u32 << (into.bits - 1)).wrapping_neg()));
            self.e.with(Binary::MinS, value, (1 << (into.bits - 1)) - 1)
        } else {
            self.e.with(Binary::MinU, value, (1 << into.bits) - 1)
        })
    }

    /// An integral number of the same type.
    fn rounded(&mut self, value: Value, rounding: &str) -> Value {
        let unary = match rounding {
            "rni" => Unary::FNearest,
            "rzi" => Unary::FTrunc,
            "rmi" => Unary::FFloor,
            _ => Unary::FCeil,
        };
        self.e.unary(unary, value)
    }

    fn float_to_float(&mut self, s: &Statement, into: PtxType, from: PtxType) -> Done<Value> {
        let narrows = into.bits < from.bits || into.kind != from.kind && into.bits == 16;
        if let Some(other) = s.one_of(&["rz", "rm", "rp"]).filter(|_| narrows) {
            return self.refused(
                &s.at,
                format!("the rounding .{other} of `cvt` is not taken: results are rounded to nearest"),
                "use .rn, the rounding of C",
            );
        }
        let value = self.read(&s.operands[1], from)?;
        let mut value = self.widened(value, from);
        if s.has("ftz") {
            value = self.flush(value);
        }
        if let Some(rounding) = s.one_of(&["rni", "rzi", "rmi", "rpi"]) {
            value = self.rounded(value, rounding);
        }
        value = match (self.e.ty(value), into.ir()) {
            (Type::F32, Type::F64) => self.e.convert(Convert::Promote, value),
            (Type::F64, Type::F32) => self.e.convert(Convert::Demote, value),
            (Type::F64, into_ty) if into_ty != Type::F64 => {
                return Err(Wrong::new(s.at.clone(), format!("`cvt.{}.f64` is not taken", into.name()))
                    .hint("convert to .f32 first, if two roundings will do"));
            }
            _ => value,
        };
        if s.has("ftz") && into.bits == 32 {
            value = self.flush(value);
        }
        if s.has("sat") {
            value = self.saturate(value);
        }
        Ok(match (into.kind, into.bits) {
            (Kind::Float, 16) => self.e.half(Half::Narrow, &[value]),
            (Kind::Brain, _) => self.brain(value),
            _ => value,
        })
    }

    /// A binary32 rounded to its upper 16 bits, to nearest even.
    fn brain(&mut self, value: Value) -> Value {
        let bits = self.e.reinterpret(value);
        let upper = self.e.with(Binary::ShrU, bits, 16);
        let odd = self.e.with(Binary::And, upper, 1);
        let half = self.e.with(Binary::Add, odd, 0x7FFF);
        let sum = self.e.binary(Binary::Add, bits, half);
        let rounded = self.e.with(Binary::ShrU, sum, 16);
        let is_number = self.e.compare(Compare::FEq, value, value);
        let nan = self.e.constant(Constant::I32(0x7FFF));
        self.e.select(is_number, rounded, nan)
    }

    /// A binary32 rounded to 10 bits of its fraction, to nearest: even (`.rn`) or away from zero (`.rna`) between two.
    fn tensor_number(&mut self, s: &Statement, into: PtxType, from: PtxType) -> Done {
        let rounding = s.one_of(&["rn", "rna", "rz"]);
        let (Some(rounding), true, None) = (
            rounding,
            from == PtxType::F32 && s.operands.len() == 2,
            s.one_of(&["relu", "satfinite", "sat", "ftz"]),
        ) else {
            return Err(Wrong::new(
                s.at.clone(),
                "a conversion to .tf32 is taken as `cvt.rna.tf32.f32 d, a`",
            ));
        };
        let value = self.read(&s.operands[1], from)?;
        let bits = self.e.reinterpret(value);
        let sum = match rounding {
            "rn" => {
                let last = self.e.with(Binary::ShrU, bits, 13);
                let odd = self.e.with(Binary::And, last, 1);
                let half = self.e.with(Binary::Add, odd, 0xFFF);
                self.e.binary(Binary::Add, bits, half)
            }
            "rna" => self.e.with(Binary::Add, bits, 0x1000),
            _ => bits,
        };
        let rounded = self.e.with(Binary::And, sum, 0xFFFF_E000);
        let is_number = self.e.compare(Compare::FEq, value, value);
        let nan = self.e.constant(Constant::I32(0x7FFF_FFFF));
        let value = self.e.select(is_number, rounded, nan);
        self.write(&s.operands[0], value, into)
    }

    /// Two numbers as the halves of a word: the first source is the upper one.
    fn narrow_pair(&mut self, s: &Statement, into: PtxType, from: PtxType) -> Done {
        if from != PtxType::F32 || s.operands.len() != 3 || !s.has("rn") {
            let message = format!(
                "`cvt.{}.{}` is taken as `cvt.rn.{}.f32 d, a, b`",
                into.name(),
                from.name(),
                into.name()
            );
            return Err(Wrong::new(s.at.clone(), message));
        }
        let mut halves = [self.read(&s.operands[1], from)?, self.read(&s.operands[2], from)?];
        for half in &mut halves {
            *half =
                if into.kind == Kind::Pair { self.e.half(Half::Narrow, &[*half]) } else { self.brain(*half) };
        }
        let [high, low] = halves;
        let high = self.e.with(Binary::Shl, high, 16);
        let value = self.e.binary(Binary::Or, high, low);
        self.write(&s.operands[0], value, into)
    }
}
