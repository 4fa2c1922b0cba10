//! Operators and conversions, scalar by scalar.

use super::pairs::Pairwise;
use super::{Translator, Wrong};
use crate::ir::{Binary, Compare, Convert, Half, Type, Unary, Value};
use naga::{BinaryOperator, RelationalFunction, Scalar, ScalarKind, TypeInner, UnaryOperator};

/// The scalar type of a value that has one.
pub(super) fn scalar_of(ty: &TypeInner) -> Scalar {
    ty.scalar().expect("the validator has seen a scalar, a vector or a matrix")
}

/// True for binary16.
pub(super) fn is_half(scalar: Scalar) -> bool {
    scalar.kind == ScalarKind::Float && scalar.width == 2
}

impl Translator<'_> {
    pub(super) fn unary(
        &mut self,
        op: UnaryOperator,
        ty: &TypeInner,
        values: &[Value],
    ) -> Result<Vec<Value>, Wrong> {
        let scalar = scalar_of(ty);
        let pair: Option<Pairwise> = match op {
            UnaryOperator::Negate => Some(|e, words| e.with(Binary::Xor, words[0], 0x8000_8000)),
            _ => None,
        };
        let pair = pair.filter(|_| is_half(scalar));
        self.componentwise(&[values], pair, |this, scalars| Ok(this.unary_scalar(op, scalar, scalars[0])))
    }

    fn unary_scalar(&mut self, op: UnaryOperator, scalar: Scalar, a: Value) -> Value {
        match op {
            UnaryOperator::LogicalNot => self.e.not(a),
            UnaryOperator::BitwiseNot => {
                let not = self.e.with(Binary::Xor, a, u64::MAX);
                self.wrapped(scalar, not)
            }
            UnaryOperator::Negate if is_half(scalar) => self.e.with(Binary::Xor, a, 0x8000),
            UnaryOperator::Negate if scalar.kind == ScalarKind::Float => self.e.unary(Unary::FNeg, a),
            UnaryOperator::Negate => {
                let negated = self.e.negate(a);
                self.wrapped(scalar, negated)
            }
        }
    }

    /// An integer with as many bits as its type has.
    pub(super) fn wrapped(&mut self, scalar: Scalar, value: Value) -> Value {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Sint, 2) => self.e.unary(Unary::Extend16, value),
            (ScalarKind::Uint, 2) => self.e.with(Binary::And, value, 0xFFFF),
            _ => value,
        }
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOperator,
        types: [&TypeInner; 2],
        values: [&[Value]; 2],
    ) -> Result<Vec<Value>, Wrong> {
        use TypeInner::{Matrix, Vector};
        let scalar = scalar_of(types[0]);
        let [left, right] = values;
        if op == BinaryOperator::Multiply {
            match types {
                [&Matrix { columns: inner, rows, .. }, &Matrix { .. }] => {
                    let (inner, rows) = (inner as usize, rows as usize);
                    let columns = right.chunks(inner);
                    let columns: Result<Vec<_>, Wrong> =
                        columns.map(|column| self.transformed(scalar, left, rows, column)).collect();
                    return Ok(columns?.concat());
                }
                [&Matrix { rows, .. }, &Vector { .. }] => {
                    return self.transformed(scalar, left, rows as usize, right);
                }
                [&Vector { .. }, &Matrix { rows, .. }] => {
                    let columns = right.chunks(rows as usize);
                    return Ok(columns.map(|column| self.dot(scalar, left, column)).collect());
                }
                _ => {}
            }
        }
        self.vectors(op, scalar, values)
    }

    /// An operator on the components of vectors, or of a vector and a scalar.
    fn vectors(
        &mut self,
        op: BinaryOperator,
        scalar: Scalar,
        values: [&[Value]; 2],
    ) -> Result<Vec<Value>, Wrong> {
        let pair: Option<Pairwise> = match op {
            BinaryOperator::Add => Some(|e, words| e.half(Half::Add2, words)),
            BinaryOperator::Multiply => Some(|e, words| e.half(Half::Mul2, words)),
            // There is no difference in pairs; `b * -1 + a` is the same to the bit.
            BinaryOperator::Subtract => Some(|e, words| {
                let minus_one = e.i32(0xBC00_BC00);
                e.half(Half::Fma2, &[words[1], minus_one, words[0]])
            }),
            _ => None,
        };
        let pair = pair.filter(|_| is_half(scalar));
        self.componentwise(&values, pair, |this, scalars| {
            this.binary_scalar(op, scalar, scalars[0], scalars[1])
        })
    }

    /// The product of a matrix, in columns of so many rows, and a vector: the sum of its columns, each times a component.
    fn transformed(
        &mut self,
        scalar: Scalar,
        matrix: &[Value],
        rows: usize,
        vector: &[Value],
    ) -> Result<Vec<Value>, Wrong> {
        let mut sum = Vec::new();
        for (column, &factor) in matrix.chunks(rows).zip(vector) {
            let product = self.vectors(BinaryOperator::Multiply, scalar, [column, &[factor]])?;
            sum = match sum.is_empty() {
                true => product,
                false => self.vectors(BinaryOperator::Add, scalar, [&sum, &product])?,
            };
        }
        Ok(sum)
    }

    /// The sum of products, from the first to the last.
    pub(super) fn dot(&mut self, scalar: Scalar, left: &[Value], right: &[Value]) -> Value {
        let mut sum = None;
        for (&a, &b) in left.iter().zip(right) {
            let product = self.arithmetic(BinaryOperator::Multiply, scalar, a, b);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.arithmetic(BinaryOperator::Add, scalar, sum, product),
            });
        }
        sum.expect("a vector has components")
    }

    fn binary_scalar(
        &mut self,
        op: BinaryOperator,
        scalar: Scalar,
        a: Value,
        b: Value,
    ) -> Result<Value, Wrong> {
        use BinaryOperator as O;
        Ok(match op {
            O::Equal | O::NotEqual | O::Less | O::LessEqual | O::Greater | O::GreaterEqual => {
                self.comparison(op, scalar, a, b)
            }
            O::And | O::LogicalAnd => self.e.binary(Binary::And, a, b),
            O::InclusiveOr | O::LogicalOr => self.e.binary(Binary::Or, a, b),
            O::ExclusiveOr => self.e.binary(Binary::Xor, a, b),
            O::ShiftLeft | O::ShiftRight => self.shift(op, scalar, a, b),
            O::Add | O::Subtract | O::Multiply | O::Divide | O::Modulo => self.arithmetic(op, scalar, a, b),
        })
    }

    /// Sums, differences, products, quotients, remainders.
    pub(super) fn arithmetic(&mut self, op: BinaryOperator, scalar: Scalar, a: Value, b: Value) -> Value {
        use BinaryOperator as O;
        if is_half(scalar) {
            return match op {
                O::Add => self.e.half(Half::Add, &[a, b]),
                O::Subtract => self.e.half(Half::Sub, &[a, b]),
                O::Multiply => self.e.half(Half::Mul, &[a, b]),
                _ => self
                    .in_f32(&[a, b], |this, values| this.arithmetic(op, Scalar::F32, values[0], values[1])),
            };
        }
        if scalar.kind == ScalarKind::Float {
            let binary = match op {
                O::Add => Binary::FAdd,
                O::Subtract => Binary::FSub,
                O::Multiply => Binary::FMul,
                O::Divide => Binary::FDiv,
                _ => {
                    // a - b * trunc(a / b)
                    let quotient = self.e.binary(Binary::FDiv, a, b);
                    let whole = self.e.unary(Unary::FTrunc, quotient);
                    let negated = self.e.unary(Unary::FNeg, whole);
                    return self.e.fma([negated, b, a]);
                }
            };
            return self.e.binary(binary, a, b);
        }
        let is_signed = scalar.kind == ScalarKind::Sint;
        let binary = match op {
            O::Add => Binary::Add,
            O::Subtract => Binary::Sub,
            O::Multiply => Binary::Mul,
            _ if scalar.width == 8 => return self.wide_quotient(op, is_signed, a, b),
            O::Divide if is_signed => Binary::TotalDivS,
            O::Divide => Binary::TotalDivU,
            _ if is_signed => Binary::TotalRemS,
            _ => Binary::TotalRemU,
        };
        // Of numbers without a sign the divisions of those without are the same and cost less by a constant.
        let is_small = self.e.ty(a) == Type::I32 && self.e.most(a).max(self.e.most(b)) < 1 << 31;
        let binary = match binary {
            Binary::TotalDivS if is_small => Binary::TotalDivU,
            Binary::TotalRemS if is_small => Binary::TotalRemU,
            other => other,
        };
        let value = self.e.binary(binary, a, b);
        self.wrapped(scalar, value)
    }

    /// A quotient or remainder of 64 bits: by 1 where it would trap.
    fn wide_quotient(&mut self, op: BinaryOperator, is_signed: bool, a: Value, b: Value) -> Value {
        let zero = self.e.compare_with(Compare::Eq, b, 0);
        let bad = match is_signed {
            false => zero,
            true => {
                let minus_one = self.e.compare_with(Compare::Eq, b, u64::MAX);
                let least = self.e.compare_with(Compare::Eq, a, 1 << 63);
                let overflows = self.e.binary(Binary::And, minus_one, least);
                self.e.binary(Binary::Or, zero, overflows)
            }
        };
        let one = self.e.constant(crate::ir::Constant::I64(1));
        let divisor = self.e.select(bad, one, b);
        let binary = match (op == BinaryOperator::Divide, is_signed) {
            (true, true) => Binary::DivS,
            (true, false) => Binary::DivU,
            (false, true) => Binary::RemS,
            (false, false) => Binary::RemU,
        };
        self.e.binary(binary, a, divisor)
    }

    fn shift(&mut self, op: BinaryOperator, scalar: Scalar, a: Value, amount: Value) -> Value {
        let binary = match op {
            BinaryOperator::ShiftLeft => Binary::Shl,
            _ if scalar.kind == ScalarKind::Sint => Binary::ShrS,
            _ => Binary::ShrU,
        };
        // The amount is an `u32`, whatever is shifted.
        let amount = match scalar.width {
            8 => self.e.convert(Convert::ExtendU, amount),
            2 => self.e.with(Binary::And, amount, 15),
            _ => amount,
        };
        let value = self.e.binary(binary, a, amount);
        self.wrapped(scalar, value)
    }

    fn comparison(&mut self, op: BinaryOperator, scalar: Scalar, a: Value, b: Value) -> Value {
        use BinaryOperator as O;
        if scalar.kind == ScalarKind::Bool {
            let differs = self.e.binary(Binary::Xor, a, b);
            return if op == O::Equal { self.e.not(differs) } else { differs };
        }
        let (a, b) = match is_half(scalar) {
            true => (self.e.half(Half::Widen, &[a]), self.e.half(Half::Widen, &[b])),
            false => (a, b),
        };
        let of = |float, signed, unsigned| match scalar.kind {
            ScalarKind::Float => float,
            ScalarKind::Sint => signed,
            _ => unsigned,
        };
        let compare = match op {
            O::Equal => of(Compare::FEq, Compare::Eq, Compare::Eq),
            O::NotEqual => of(Compare::FNe, Compare::Ne, Compare::Ne),
            O::Less => of(Compare::FLt, Compare::LtS, Compare::LtU),
            O::LessEqual => of(Compare::FLe, Compare::LeS, Compare::LeU),
            O::Greater => of(Compare::FGt, Compare::GtS, Compare::GtU),
            _ => of(Compare::FGe, Compare::GeS, Compare::GeU),
        };
        self.e.compare(compare, a, b)
    }

    /// Computes with binary16 numbers as `f32`, and rounds the result.
    pub(super) fn in_f32(
        &mut self,
        values: &[Value],
        compute: impl FnOnce(&mut Self, &[Value]) -> Value,
    ) -> Value {
        let wide: Vec<Value> = values.iter().map(|&value| self.e.half(Half::Widen, &[value])).collect();
        let result = compute(self, &wide);
        self.e.half(Half::Narrow, &[result])
    }

    pub(super) fn relational(
        &mut self,
        fun: RelationalFunction,
        ty: &TypeInner,
        values: &[Value],
    ) -> Vec<Value> {
        let fold = |this: &mut Self, binary| {
            let all = values.iter().copied();
            vec![all.reduce(|a, b| this.e.binary(binary, a, b)).expect("a vector has components")]
        };
        let of_number = |this: &mut Self, compare: fn(&mut Self, Value) -> Value| {
            let is_half = is_half(scalar_of(ty));
            values
                .iter()
                .map(|&value| {
                    let value = if is_half { this.e.half(Half::Widen, &[value]) } else { value };
                    compare(this, value)
                })
                .collect()
        };
        match fun {
            RelationalFunction::All => fold(self, Binary::And),
            RelationalFunction::Any => fold(self, Binary::Or),
            RelationalFunction::IsNan => {
                of_number(self, |this, value| this.e.compare(Compare::FNe, value, value))
            }
            RelationalFunction::IsInf => of_number(self, |this, value| {
                let magnitude = this.e.unary(Unary::FAbs, value);
                let infinity = match this.e.ty(value) {
                    Type::F64 => f64::INFINITY.to_bits(),
                    _ => f32::INFINITY.to_bits().into(),
                };
                this.e.compare_with(Compare::FEq, magnitude, infinity)
            }),
        }
    }

    /// A conversion of each scalar, or the same bits as another type. `count` scalars come out of it.
    pub(super) fn converted(
        &mut self,
        ty: &TypeInner,
        values: &[Value],
        kind: ScalarKind,
        width: Option<u8>,
        count: usize,
    ) -> Result<Vec<Value>, Wrong> {
        let from = scalar_of(ty);
        if let Some(width) = width {
            let to = Scalar { kind, width };
            return Ok(values.iter().map(|&value| self.number(from, to, value)).collect());
        }
        let bits: Vec<Value> = match from.kind {
            ScalarKind::Float if from.width > 2 => {
                values.iter().map(|&value| self.e.reinterpret(value)).collect()
            }
            _ => values.to_vec(),
        };
        let bits = self.regrouped(from.width, &bits, count);
        // Scalars of one width in all, which the number of them says.
        let to = Scalar { kind, width: (usize::from(from.width) * values.len() / count) as u8 };
        Ok(bits
            .into_iter()
            .map(|value| match to.kind {
                ScalarKind::Float if to.width > 2 => self.e.reinterpret(value),
                ScalarKind::Sint if to.width == 2 => self.e.unary(Unary::Extend16, value),
                _ => value,
            })
            .collect())
    }

    /// Integers of a width as `count` ones of another that have as many bits together.
    fn regrouped(&mut self, width: u8, values: &[Value], count: usize) -> Vec<Value> {
        if values.len() == count {
            return values.to_vec();
        }
        if values.len() > count {
            let pairs = values.chunks(2);
            return pairs
                .map(|pair| match width {
                    2 => {
                        let low = self.e.with(Binary::And, pair[0], 0xFFFF);
                        self.e.pack([low, pair[1]])
                    }
                    _ => {
                        let [low, high] =
                            [pair[0], pair[1]].map(|half| self.e.convert(Convert::ExtendU, half));
                        let high = self.e.with(Binary::Shl, high, 32);
                        self.e.binary(Binary::Or, high, low)
                    }
                })
                .collect();
        }
        let halves = values.iter().flat_map(|&value| match width {
            4 => self.e.unpack(value),
            _ => {
                let low = self.e.convert(Convert::Wrap, value);
                let high = self.e.with(Binary::ShrU, value, 32);
                [low, self.e.convert(Convert::Wrap, high)]
            }
        });
        halves.collect()
    }

    /// A number as one of another type.
    pub(super) fn number(&mut self, from: Scalar, to: Scalar, value: Value) -> Value {
        use ScalarKind::{Bool, Float, Sint};
        if from == to {
            return value;
        }
        // Numbers of 16 bits are computed as wider ones.
        if is_half(from) {
            let wide = self.e.half(Half::Widen, &[value]);
            return self.number(Scalar::F32, to, wide);
        }
        if is_half(to) {
            let wide = self.number(from, Scalar::F32, value);
            return self.e.half(Half::Narrow, &[wide]);
        }
        let is_signed = from.kind == Sint;
        match (from.kind, to.kind) {
            (Bool, Float) => {
                let number = self.e.convert(Convert::BoolToI32, value);
                self.number(Scalar::U32, to, number)
            }
            (Bool, _) => {
                let number = self.e.convert(Convert::BoolToI32, value);
                if to.width == 8 { self.e.convert(Convert::ExtendU, number) } else { number }
            }
            (Float, Bool) => self.e.compare_with(Compare::FNe, value, 0),
            (_, Bool) => self.e.compare_with(Compare::Ne, value, 0),
            (Float, Float) if to.width == 8 => self.e.convert(Convert::Promote, value),
            (Float, Float) => self.e.convert(Convert::Demote, value),
            (Float, kind) => {
                let convert = match (kind == Sint, to.width == 8) {
                    (true, false) => Convert::TruncSatI32S,
                    (false, false) => Convert::TruncSatI32U,
                    (true, true) => Convert::TruncSatI64S,
                    (false, true) => Convert::TruncSatI64U,
                };
                // The result is also a number of the type converted from, which 2^31 - 1 and 2^32 - 1 are not.
                let most = match convert {
                    Convert::TruncSatI32S => Some(2_147_483_520.0),
                    Convert::TruncSatI32U => Some(4_294_967_040.0),
                    _ => None,
                };
                let value = match most.filter(|_| from.width == 4) {
                    Some(most) => {
                        let most = self.e.f32(most);
                        self.e.binary(Binary::FMinNumber, value, most)
                    }
                    None => value,
                };
                let whole = self.e.convert(convert, value);
                // What is outside a narrower type becomes its end.
                match (kind == Sint, to.width) {
                    (true, 2) => {
                        let least = self.e.with(Binary::MaxS, whole, i16::MIN as u32 as u64);
                        self.e.with(Binary::MinS, least, i16::MAX as u64)
                    }
                    (false, 2) => self.e.with(Binary::MinU, whole, u16::MAX.into()),
                    _ => whole,
                }
            }
            (_, Float) => {
                let convert = match (is_signed, to.width == 8) {
                    (true, false) => Convert::F32S,
                    (false, false) => Convert::F32U,
                    (true, true) => Convert::F64S,
                    (false, true) => Convert::F64U,
                };
                self.e.convert(convert, value)
            }
            _ => match (from.width == 8, to.width == 8) {
                (false, true) if is_signed => self.e.convert(Convert::ExtendS, value),
                (false, true) => self.e.convert(Convert::ExtendU, value),
                (true, false) => {
                    let low = self.e.convert(Convert::Wrap, value);
                    self.wrapped(to, low)
                }
                _ => self.wrapped(to, value),
            },
        }
    }
}
