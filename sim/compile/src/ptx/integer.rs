//! Arithmetic on integers; the sums and products of floating point are handed on.

use super::Wrong;
use super::translate::{Done, Translator};
use super::tree::Statement;
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};

impl<'a> Translator<'a> {
    pub(super) fn sum(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_integer() {
            return self.float_sum(s);
        }
        let [a, b] = [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?];
        let is_sum = s.row.name == "add";
        let binary = if is_sum { Binary::Add } else { Binary::Sub };
        let mut value = self.e.binary(binary, a, b);
        if s.has("sat") {
            if ty.bits != 32 || !ty.is_signed() {
                return Err(Wrong::new(
                    s.at.clone(),
                    format!("`.sat` goes with .s32, not with .{}", ty.name()),
                ));
            }
            value = self.saturated(a, b, value, is_sum);
        }
        self.write(&s.operands[0], value, ty)
    }

    /// A sum or difference of signed words, or the nearest number if it does not fit.
    pub(super) fn saturated(&mut self, a: Value, b: Value, sum: Value, is_sum: bool) -> Value {
        // It overflows where the signs of the operands are alike (of a sum) or not (of a difference), and that of the result
        // is another one.
        let with_a = self.e.binary(Binary::Xor, a, sum);
        let other =
            if is_sum { self.e.binary(Binary::Xor, b, sum) } else { self.e.binary(Binary::Xor, a, b) };
        let both = self.e.binary(Binary::And, with_a, other);
        let overflows = self.e.compare_with(Compare::LtS, both, 0);
        let sign = self.e.with(Binary::ShrS, a, 31);
        let limit = self.e.with(Binary::Xor, sign, 0x7FFF_FFFF);
        self.e.select(overflows, limit, sum)
    }

    /// Two operands of a product, with 24 bits each for the short forms.
    fn factors(&mut self, s: &Statement, ty: PtxType) -> Done<[Value; 2]> {
        let mut factors = [self.read_integer(&s.operands[1], ty)?, self.read_integer(&s.operands[2], ty)?];
        if s.row.name.ends_with("24") {
            for factor in &mut factors {
                let up = self.e.with(Binary::Shl, *factor, 8);
                let down = if ty.is_signed() { Binary::ShrS } else { Binary::ShrU };
                *factor = self.e.with(down, up, 8);
            }
        }
        Ok(factors)
    }

    /// The part of a product that the modifiers name, and its type.
    fn product_of(&mut self, s: &Statement, ty: PtxType) -> Done<(Value, PtxType)> {
        let [a, b] = self.factors(s, ty)?;
        let is_short = s.row.name.ends_with("24");
        match s.one_of(&["lo", "hi", "wide"]) {
            Some("lo") => Ok((self.e.binary(Binary::Mul, a, b), ty)),
            Some("hi") if is_short => {
                let wide = self.wide_product(a, b, ty.is_signed());
                let high = self.e.with(Binary::ShrU, wide, 16);
                Ok((self.e.convert(Convert::Wrap, high), ty))
            }
            Some("hi") => Ok((self.high_product(a, b, ty), ty)),
            Some("wide") => match ty.bits {
                16 => {
                    let product = self.e.binary(Binary::Mul, a, b);
                    Ok((product, PtxType { bits: 32, ..ty }))
                }
                32 => Ok((self.wide_product(a, b, ty.is_signed()), PtxType { bits: 64, ..ty })),
                _ => Err(Wrong::new(s.at.clone(), "`.wide` goes with types of 16 and 32 bits")),
            },
            _ => {
                Err(Wrong::new(s.at.clone(), format!("`{}` of integers needs .lo, .hi or .wide", s.row.name)))
            }
        }
    }

    pub(super) fn product(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_integer() {
            return self.float_product(s);
        }
        let (value, ty) = self.product_of(s, ty)?;
        self.write(&s.operands[0], value, ty)
    }

    pub(super) fn product_and_sum(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_integer() {
            return self.float_fma(s);
        }
        let (product, ty) = self.product_of(s, ty)?;
        let c = self.read(&s.operands[3], ty)?;
        let mut value = self.e.binary(Binary::Add, product, c);
        if s.has("sat") {
            value = self.saturated(product, c, value, true);
        }
        self.write(&s.operands[0], value, ty)
    }

    /// The whole product of two words.
    pub(super) fn wide_product(&mut self, a: Value, b: Value, is_signed: bool) -> Value {
        let convert = if is_signed { Convert::ExtendS } else { Convert::ExtendU };
        let [a, b] = [a, b].map(|value| self.e.convert(convert, value));
        self.e.binary(Binary::Mul, a, b)
    }

    /// The high half of a product.
    fn high_product(&mut self, a: Value, b: Value, ty: PtxType) -> Value {
        match ty.bits {
            16 => {
                let product = self.e.binary(Binary::Mul, a, b);
                self.e.with(Binary::ShrU, product, 16)
            }
            32 => {
                let high = self.e.binary(Binary::MulHigh, a, b);
                if ty.is_signed() { self.signed_high(high, a, b, 31) } else { high }
            }
            _ => {
                let [[al, ah], [bl, bh]] = [self.e.halves(a), self.e.halves(b)];
                let products = [(al, bl), (al, bh), (ah, bl), (ah, bh)];
                let [p0, p1, p2, p3] = products.map(|(x, y)| self.wide_product(x, y, false));
                let low = |this: &mut Self, value| this.e.with(Binary::And, value, 0xFFFF_FFFF);
                let carry = self.e.with(Binary::ShrU, p0, 32);
                let [low1, low2] = [low(self, p1), low(self, p2)];
                let middle = self.e.binary(Binary::Add, carry, low1);
                let middle = self.e.binary(Binary::Add, middle, low2);
                let mut high = p3;
                for part in [p1, p2, middle] {
                    let part = self.e.with(Binary::ShrU, part, 32);
                    high = self.e.binary(Binary::Add, high, part);
                }
                if ty.is_signed() { self.signed_high(high, a, b, 63) } else { high }
            }
        }
    }

    /// The high half of a signed product, from that of the unsigned one.
    fn signed_high(&mut self, high: Value, a: Value, b: Value, sign: u64) -> Value {
        let mut high = high;
        for (x, y) in [(a, b), (b, a)] {
            let is_negative = self.e.with(Binary::ShrS, x, sign);
            let less = self.e.binary(Binary::And, is_negative, y);
            high = self.e.binary(Binary::Sub, high, less);
        }
        high
    }

    pub(super) fn quotient(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_integer() {
            return self.float_quotient(s);
        }
        let [a, b] = [self.read_integer(&s.operands[1], ty)?, self.read_integer(&s.operands[2], ty)?];
        let is_quotient = s.row.name == "div";
        let value = if ty.bits == 64 {
            self.wide_quotient(a, b, ty.is_signed(), is_quotient)
        } else {
            let binary = match (ty.is_signed(), is_quotient) {
                (true, true) => Binary::TotalDivS,
                (true, false) => Binary::TotalRemS,
                (false, true) => Binary::TotalDivU,
                (false, false) => Binary::TotalRemU,
            };
            self.e.binary(binary, a, b)
        };
        self.write(&s.operands[0], value, ty)
    }

    /// A quotient or remainder of 64 bits. By 0 the quotient is the dividend, as PTX leaves it open.
    fn wide_quotient(&mut self, a: Value, b: Value, is_signed: bool, is_quotient: bool) -> Value {
        let zero = self.e.i64(0);
        let magnitude = |this: &mut Self, value: Value| {
            let is_negative = this.e.compare(Compare::LtS, value, zero);
            let minus = this.e.negate(value);
            (is_negative, this.e.select(is_negative, minus, value))
        };
        let (mut negative, mut dividend, mut divisor) = (None, a, b);
        if is_signed {
            let ((a_negative, a), (b_negative, b)) = (magnitude(self, a), magnitude(self, b));
            (dividend, divisor) = (a, b);
            negative = Some(if is_quotient {
                self.e.binary(Binary::Xor, a_negative, b_negative)
            } else {
                a_negative
            });
        }
        let is_zero = self.e.compare(Compare::Eq, divisor, zero);
        let one = self.e.i64(1);
        let divisor = self.e.select(is_zero, one, divisor);
        let binary = if is_quotient { Binary::DivU } else { Binary::RemU };
        let value = self.e.binary(binary, dividend, divisor);
        match negative {
            Some(negative) => {
                let minus = self.e.negate(value);
                self.e.select(negative, minus, value)
            }
            None => value,
        }
    }

    pub(super) fn sign(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_integer() {
            return self.float_sign(s);
        }
        let a = self.read_integer(&s.operands[1], ty)?;
        let minus = self.e.negate(a);
        // Of the least number the magnitude is that number: so is its negation, and the greater of both.
        let value = if s.row.name == "abs" { self.e.binary(Binary::MaxS, a, minus) } else { minus };
        self.write(&s.operands[0], value, ty)
    }

    pub(super) fn extreme(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if !ty.is_integer() {
            return self.float_extreme(s);
        }
        if s.operands.len() > 3 {
            return Err(Wrong::new(
                s.at.clone(),
                format!("`{}` of integers takes three operands", s.row.name),
            ));
        }
        let [a, b] = [self.read_integer(&s.operands[1], ty)?, self.read_integer(&s.operands[2], ty)?];
        let binary = match (s.row.name == "min", ty.is_signed()) {
            (true, true) => Binary::MinS,
            (true, false) => Binary::MinU,
            (false, true) => Binary::MaxS,
            (false, false) => Binary::MaxU,
        };
        let value = self.e.binary(binary, a, b);
        self.write(&s.operands[0], value, ty)
    }

    /// `|a - b| + c`.
    pub(super) fn sum_of_differences(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let [a, b] = [self.read_integer(&s.operands[1], ty)?, self.read_integer(&s.operands[2], ty)?];
        let c = self.read(&s.operands[3], ty)?;
        let (most, least) =
            if ty.is_signed() { (Binary::MaxS, Binary::MinS) } else { (Binary::MaxU, Binary::MinU) };
        let [most, least] = [most, least].map(|binary| self.e.binary(binary, a, b));
        let difference = self.e.binary(Binary::Sub, most, least);
        let value = self.e.binary(Binary::Add, difference, c);
        self.write(&s.operands[0], value, ty)
    }

    /// A sum of products of the four bytes of words, or of two bytes with halves.
    pub(super) fn dot_product(&mut self, s: &Statement) -> Done {
        let [a_type, b_type] = [s.types[0], s.types[1]];
        let [a, b] = [self.read(&s.operands[1], PtxType::B32)?, self.read(&s.operands[2], PtxType::B32)?];
        let mut sum = self.read(&s.operands[3], PtxType::B32)?;
        let part = |this: &mut Self, word: Value, at: u32, bits: u32, ty: PtxType| {
            let up = this.e.with(Binary::Shl, word, u64::from(32 - bits - at));
            let down = if ty.is_signed() { Binary::ShrS } else { Binary::ShrU };
            this.e.with(down, up, u64::from(32 - bits))
        };
        let is_four = s.row.name == "dp4a";
        if !is_four && s.one_of(&["lo", "hi"]).is_none() {
            return Err(Wrong::new(s.at.clone(), "`dp2a` needs .lo or .hi"));
        }
        let first = if s.has("hi") { 16 } else { 0 };
        for number in 0..if is_four { 4 } else { 2 } {
            let (x, y) = if is_four {
                (part(self, a, 8 * number, 8, a_type), part(self, b, 8 * number, 8, b_type))
            } else {
                (part(self, a, 16 * number, 16, a_type), part(self, b, first + 8 * number, 8, b_type))
            };
            let product = self.e.binary(Binary::Mul, x, y);
            sum = self.e.binary(Binary::Add, sum, product);
        }
        self.write(&s.operands[0], sum, PtxType { kind: Kind::Bits, bits: 32 })
    }

    /// Sums and differences that take or give a carry.
    pub(super) fn carried(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let takes = s.row.name.ends_with('c');
        let is_product = s.row.name.starts_with("mad");
        let is_difference = s.row.name.starts_with("sub");
        let [a, b] = if is_product {
            let (product, _) = match s.one_of(&["lo", "hi"]) {
                Some(_) => self.product_of(s, ty)?,
                None => return Err(Wrong::new(s.at.clone(), "this product needs .lo or .hi")),
            };
            [product, self.read(&s.operands[3], ty)?]
        } else {
            [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?]
        };
        let carry = self.of_frame().carry;
        let binary = if is_difference { Binary::Sub } else { Binary::Add };
        let mut value = self.e.binary(binary, a, b);
        let mut out = if is_difference {
            self.e.compare(Compare::LtU, a, b)
        } else {
            self.e.compare(Compare::LtU, value, a)
        };
        if takes {
            let word = self.get(carry);
            let word = if ty.bits == 64 { self.e.convert(Convert::ExtendU, word) } else { word };
            let before = value;
            value = self.e.binary(binary, before, word);
            let more = if is_difference {
                self.e.compare(Compare::LtU, before, word)
            } else {
                self.e.compare(Compare::LtU, value, before)
            };
            out = self.e.binary(Binary::Or, out, more);
        }
        self.write(&s.operands[0], value, ty)?;
        if s.has("cc") {
            let word = self.truth(out);
            self.set(carry, word);
        }
        Ok(())
    }

    /// The bits that are set, the leading zeros, or the bits in reverse order.
    pub(super) fn count(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let a = self.read(&s.operands[1], ty)?;
        let is_reverse = s.row.name == "brev";
        let value = match (s.row.name, self.e.ty(a)) {
            ("brev", Type::I64) => {
                let [low, high] = self.e.halves(a);
                let [low, high] = [low, high].map(|half| self.e.unary(Unary::Reverse, half));
                self.e.whole([high, low])
            }
            ("brev", _) => self.e.unary(Unary::Reverse, a),
            ("clz", _) => self.e.unary(Unary::Clz, a),
            _ => self.e.unary(Unary::Popcnt, a),
        };
        if is_reverse {
            return self.write(&s.operands[0], value, ty);
        }
        let value = if self.e.ty(value) == Type::I64 { self.e.convert(Convert::Wrap, value) } else { value };
        self.write(&s.operands[0], value, PtxType::U32)
    }
}
