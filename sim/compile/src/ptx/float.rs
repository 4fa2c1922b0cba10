//! Arithmetic on floating point. Products and sums are fused where the source says so only.

use super::Wrong;
use super::translate::{Done, Translator};
use super::tree::Statement;
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Compare, Half, Type, Unary, Value};

/// A rounding in a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directed {
    Down,
    Up,
    ToZero,
}

impl Directed {
    /// The direction of an instruction; `None` for the nearest number.
    fn of(s: &Statement) -> Option<Directed> {
        match s.one_of(&["rz", "rm", "rp"])? {
            "rz" => Some(Directed::ToZero),
            "rm" => Some(Directed::Down),
            _ => Some(Directed::Up),
        }
    }
}

impl Translator<'_> {
    /// A sum, and what it differs from the exact one by: a float too (Knuth's TwoSum).
    fn two_sum(&mut self, a: Value, b: Value) -> [Value; 2] {
        let sum = self.e.binary(Binary::FAdd, a, b);
        let of_b = self.e.binary(Binary::FSub, sum, a);
        let of_a = self.e.binary(Binary::FSub, sum, of_b);
        let [of_a, of_b] = [(a, of_a), (b, of_b)].map(|(of, part)| self.e.binary(Binary::FSub, of, part));
        [sum, self.e.binary(Binary::FAdd, of_a, of_b)]
    }

    /// The exact product less the rounded one. Below 2^-100 the difference may be no float, and is lost.
    fn product_error(&mut self, a: Value, b: Value, product: Value) -> Value {
        let minus = self.e.unary(Unary::FNeg, product);
        self.e.fma([a, b, minus])
    }

    /// A number that is rounded to nearest, rounded in a direction instead. `error` has the sign of the exact result less
    /// the rounded one. Results past the largest number stay infinite.
    fn directed(&mut self, mode: Directed, nearest: Value, error: Value) -> Value {
        let ty = self.e.ty(nearest);
        let zero = self.e.zero(ty);
        let bits = self.e.reinterpret(nearest);
        let sign = if ty == Type::F64 { 1 << 63 } else { 1 << 31 };
        let [less, more] = [u64::MAX, 1].map(|by| self.e.with(Binary::Add, bits, by));
        let is_positive = self.e.compare(Compare::FGt, nearest, zero);
        let is_negative = self.e.compare(Compare::FLt, nearest, zero);
        let wide = if ty == Type::F64 { Type::I64 } else { Type::I32 };
        // The neighbours of zero are the least numbers with either sign.
        let step = |this: &mut Self, down: bool| {
            let (grows, least) = if down { (is_negative, sign | 1) } else { (is_positive, 1) };
            let least = if wide == Type::I64 { this.e.i64(least) } else { this.e.i32(least as u32) };
            let other = if down { is_positive } else { is_negative };
            let small = this.e.select(other, less, least);
            this.e.select(grows, more, small)
        };
        let is_above = self.e.compare(Compare::FLt, error, zero);
        let is_below = self.e.compare(Compare::FGt, error, zero);
        let stepped = match mode {
            Directed::Down => {
                let down = step(self, true);
                self.e.select(is_above, down, bits)
            }
            Directed::Up => {
                let up = step(self, false);
                self.e.select(is_below, up, bits)
            }
            Directed::ToZero => {
                let above = self.e.binary(Binary::And, is_above, is_positive);
                let below = self.e.binary(Binary::And, is_below, is_negative);
                let is_far = self.e.binary(Binary::Or, above, below);
                self.e.select(is_far, less, bits)
            }
        };
        self.e.reinterpret(stepped)
    }

    /// Checks that results are rounded to nearest.
    fn rounding(&self, s: &Statement) -> Done {
        match s.one_of(&["rz", "rm", "rp"]) {
            Some(other) => self.refused(
                &s.at,
                format!(
                    "the rounding .{other} of `{}` is not taken: results are rounded to nearest",
                    s.row.name
                ),
                "use .rn, the rounding of C",
            ),
            None => Ok(()),
        }
    }

    /// A subnormal binary32 as a zero with its sign.
    pub(super) fn flush(&mut self, value: Value) -> Value {
        if self.e.ty(value) != Type::F32 || self.e.flushed.contains(&value) {
            return value;
        }
        if let Some(bits) = self.e.known(value) {
            let number = f32::from_bits(bits as u32);
            return if number.is_subnormal() { self.e.f32(0f32.copysign(number)) } else { value };
        }
        let magnitude = self.e.unary(Unary::FAbs, value);
        let least = self.e.f32(f32::MIN_POSITIVE);
        let is_small = self.e.compare(Compare::FLt, magnitude, least);
        let zero = self.e.f32(0.0);
        let zero = self.e.binary(Binary::FCopysign, zero, value);
        let flushed = self.e.select(is_small, zero, value);
        self.e.flushed.insert(flushed);
        flushed
    }

    /// An operand; with .ftz a subnormal one is zero.
    fn float(&mut self, s: &Statement, number: usize, ty: PtxType) -> Done<Value> {
        let value = self.read(&s.operands[number], ty)?;
        Ok(if s.has("ftz") { self.flush(value) } else { value })
    }

    fn floats<const N: usize>(&mut self, s: &Statement, ty: PtxType) -> Done<[Value; N]> {
        let mut values = [self.e.zero(ty.ir()); N];
        for (number, value) in values.iter_mut().enumerate() {
            *value = self.float(s, number + 1, ty)?;
        }
        Ok(values)
    }

    /// A result, with what .ftz and .sat do to it.
    fn float_result(&mut self, s: &Statement, mut value: Value, ty: PtxType) -> Done {
        if s.has("ftz") {
            value = self.flush(value);
        }
        if s.has("sat") {
            value = self.saturate(value);
        }
        self.write(&s.operands[0], value, ty)
    }

    /// A number from 0 to 1; a NaN gives 0.
    pub(super) fn saturate(&mut self, value: Value) -> Value {
        let (zero, one) = if self.e.ty(value) == Type::F64 {
            let number = |number: f64| crate::ir::Constant::F64(number.to_bits());
            (self.e.constant(number(0.0)), self.e.constant(number(1.0)))
        } else {
            (self.e.f32(0.0), self.e.f32(1.0))
        };
        let value = self.e.binary(Binary::FMaxNumber, value, zero);
        self.e.binary(Binary::FMinNumber, value, one)
    }

    /// An operation on binary16 numbers, one or two in a word.
    fn half_operation(&mut self, s: &Statement, one: Half, two: Option<Half>, count: usize) -> Done {
        let ty = s.types[0];
        self.rounding(s)?;
        if s.has("sat") || s.has("ftz") {
            let message = format!("`.sat` and `.ftz` of `{}.{}` are not taken", s.row.name, ty.name());
            return Err(Wrong::new(s.at.clone(), message));
        }
        let half = match (ty.kind, two) {
            (Kind::Float, _) => one,
            (Kind::Pair, Some(two)) => two,
            _ => {
                return Err(Wrong::new(s.at.clone(), format!("`{}.{}` is not taken", s.row.name, ty.name())));
            }
        };
        let mut operands = Vec::new();
        for number in 0..count {
            operands.push(
                self.read_integer(&s.operands[number + 1], PtxType { kind: Kind::Bits, bits: ty.bits })?,
            );
        }
        let value = self.e.half(half, &operands);
        self.write(&s.operands[0], value, ty)
    }

    pub(super) fn float_sum(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let is_sum = s.row.name == "add";
        if !ty.is_float() {
            if !is_sum && ty.kind == Kind::Pair {
                return self.half_difference(s);
            }
            return match is_sum {
                true => self.half_operation(s, Half::Add, Some(Half::Add2), 2),
                false => self.half_operation(s, Half::Sub, None, 2),
            };
        }
        let [a, b] = self.floats(s, ty)?;
        let value = match Directed::of(s) {
            None => self.e.binary(if is_sum { Binary::FAdd } else { Binary::FSub }, a, b),
            Some(mode) => {
                let b = if is_sum { b } else { self.e.unary(Unary::FNeg, b) };
                let [sum, error] = self.two_sum(a, b);
                self.directed(mode, sum, error)
            }
        };
        self.float_result(s, value, ty)
    }

    /// Differences of pairs: the sum with the other signs.
    fn half_difference(&mut self, s: &Statement) -> Done {
        self.rounding(s)?;
        let [a, b] = [self.read(&s.operands[1], PtxType::B32)?, self.read(&s.operands[2], PtxType::B32)?];
        let minus = self.e.with(Binary::Xor, b, 0x8000_8000);
        let value = self.e.half(Half::Add2, &[a, minus]);
        self.write(&s.operands[0], value, s.types[0])
    }

    pub(super) fn float_product(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_float() {
            return self.half_operation(s, Half::Mul, Some(Half::Mul2), 2);
        }
        let [a, b] = self.floats(s, ty)?;
        let mut value = self.e.binary(Binary::FMul, a, b);
        if let Some(mode) = Directed::of(s) {
            let error = self.product_error(a, b, value);
            value = self.directed(mode, value, error);
        }
        self.float_result(s, value, ty)
    }

    pub(super) fn float_fma(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_float() {
            return self.half_operation(s, Half::Fma, Some(Half::Fma2), 3);
        }
        let [a, b, c] = self.floats(s, ty)?;
        let mut value = self.e.fma([a, b, c]);
        if let Some(mode) = Directed::of(s) {
            // The exact result is the sum of three floats; what is left of it without the rounded one has the sign.
            let product = self.e.binary(Binary::FMul, a, b);
            let of_product = self.product_error(a, b, product);
            let [sum, of_sum] = self.two_sum(product, c);
            let first = self.e.binary(Binary::FSub, sum, value);
            let [left, small] = self.two_sum(first, of_sum);
            let [left, smaller] = self.two_sum(left, of_product);
            let small = self.e.binary(Binary::FAdd, small, smaller);
            let error = self.e.binary(Binary::FAdd, left, small);
            value = self.directed(mode, value, error);
        }
        self.float_result(s, value, ty)
    }

    pub(super) fn float_quotient(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        self.rounding(s)?;
        let [a, b] = self.floats(s, ty)?;
        let value = self.e.binary(Binary::FDiv, a, b);
        self.float_result(s, value, ty)
    }

    pub(super) fn float_sign(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let is_abs = s.row.name == "abs";
        if !ty.is_float() {
            let a = self.read(&s.operands[1], PtxType { kind: Kind::Bits, bits: 16 })?;
            let value = if is_abs {
                self.e.with(Binary::And, a, 0x7FFF)
            } else {
                self.e.with(Binary::Xor, a, 0x8000)
            };
            return self.write(&s.operands[0], value, ty);
        }
        let a = self.float(s, 1, ty)?;
        let value = self.e.unary(if is_abs { Unary::FAbs } else { Unary::FNeg }, a);
        self.write(&s.operands[0], value, ty)
    }

    pub(super) fn float_extreme(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let binary = match (s.row.name == "min", s.has("NaN")) {
            (true, true) => Binary::FMin,
            (true, false) => Binary::FMinNumber,
            (false, true) => Binary::FMax,
            (false, false) => Binary::FMaxNumber,
        };
        let mut value = self.float(s, 1, ty)?;
        for number in 2..s.operands.len() {
            let other = self.float(s, number, ty)?;
            value = self.e.binary(binary, value, other);
        }
        self.write(&s.operands[0], value, ty)
    }

    pub(super) fn copy_sign(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let [a, b] = self.floats(s, ty)?;
        // The first operand has the sign.
        let value = self.e.binary(Binary::FCopysign, b, a);
        self.write(&s.operands[0], value, ty)
    }

    /// Functions of one number.
    pub(super) fn function(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        self.rounding(s)?;
        let a = self.float(s, 1, ty)?;
        let is_double = ty.bits == 64;
        let value = match (s.row.name, is_double) {
            ("rcp", false) => self.e.unary(Unary::FRcp, a),
            ("rcp", true) => {
                let one = self.e.constant(crate::ir::Constant::F64(1f64.to_bits()));
                self.e.binary(Binary::FDiv, one, a)
            }
            ("sqrt", _) => self.e.unary(Unary::FSqrt, a),
            ("rsqrt", false) => self.e.unary(Unary::FRsqrt, a),
            ("rsqrt", true) => {
                let root = self.e.unary(Unary::FSqrt, a);
                let one = self.e.constant(crate::ir::Constant::F64(1f64.to_bits()));
                self.e.binary(Binary::FDiv, one, root)
            }
            ("sin", _) => self.e.unary(Unary::FSin, a),
            ("cos", _) => self.e.unary(Unary::FCos, a),
            ("ex2", _) => self.e.unary(Unary::FExp2, a),
            ("lg2", _) => self.e.unary(Unary::FLog2, a),
            _ => self.tanh(a),
        };
        self.float_result(s, value, ty)
    }

    /// `1 - 2 / (e^2|x| + 1)` with the sign of x; near 0, where that cancels, the first terms of the series.
    fn tanh(&mut self, x: Value) -> Value {
        let magnitude = self.e.unary(Unary::FAbs, x);
        let scale = self.e.f32(2.0 * std::f32::consts::LOG2_E);
        let exponent = self.e.binary(Binary::FMul, magnitude, scale);
        let power = self.e.unary(Unary::FExp2, exponent);
        let [one, two] = [1.0, 2.0].map(|number| self.e.f32(number));
        let divisor = self.e.binary(Binary::FAdd, power, one);
        let part = self.e.binary(Binary::FDiv, two, divisor);
        let far = self.e.binary(Binary::FSub, one, part);
        let square = self.e.binary(Binary::FMul, magnitude, magnitude);
        let mut series = self.e.f32(-17.0 / 315.0);
        for coefficient in [2.0 / 15.0, -1.0 / 3.0, 1.0] {
            let coefficient = self.e.f32(coefficient);
            series = self.e.fma([series, square, coefficient]);
        }
        let near = self.e.binary(Binary::FMul, series, magnitude);
        let quarter = self.e.f32(0.25);
        let is_near = self.e.compare(Compare::FLt, magnitude, quarter);
        let value = self.e.select(is_near, near, far);
        self.e.binary(Binary::FCopysign, value, x)
    }

    pub(super) fn property(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let a = self.read(&s.operands[1], ty)?;
        let bits = self.e.reinterpret(a);
        let (infinity, least, ones) = match ty.bits {
            32 => (u64::from(f32::INFINITY.to_bits()), u64::from(f32::MIN_POSITIVE.to_bits()), 0x7FFF_FFFF),
            _ => (f64::INFINITY.to_bits(), f64::MIN_POSITIVE.to_bits(), i64::MAX as u64),
        };
        let magnitude = self.e.with(Binary::And, bits, ones);
        let compare = |this: &mut Self, compare, with| this.e.compare_with(compare, magnitude, with);
        let value = match s.one_of(&["finite", "infinite", "notanumber", "number", "normal", "subnormal"]) {
            Some("finite") => compare(self, Compare::LtU, infinity),
            Some("infinite") => compare(self, Compare::Eq, infinity),
            Some("number") => compare(self, Compare::LeU, infinity),
            Some("notanumber") => compare(self, Compare::GtU, infinity),
            Some("normal") => {
                let [above, below] =
                    [compare(self, Compare::GeU, least), compare(self, Compare::LtU, infinity)];
                self.e.binary(Binary::And, above, below)
            }
            Some(_) => {
                let [above, below] = [compare(self, Compare::Ne, 0), compare(self, Compare::LtU, least)];
                self.e.binary(Binary::And, above, below)
            }
            None => return Err(Wrong::new(s.at.clone(), "`testp` needs a property, such as .finite")),
        };
        self.write(&s.operands[0], value, PtxType::PRED)
    }
}
