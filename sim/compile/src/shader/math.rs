//! Built-in functions: those that combine components, and the way of a function of scalars over components.

use super::operators::{is_half, scalar_of};
use super::pairs::Pairwise;
use super::{Translator, Wrong};
use crate::ir::{Binary, Compare, Half, Type, Unary, Value};
use naga::{BinaryOperator, MathFunction, Scalar, ScalarKind, TypeInner};

impl Translator<'_> {
    /// A built-in function of one to four arguments.
    pub(super) fn math(
        &mut self,
        fun: MathFunction,
        types: &[TypeInner],
        values: &[Vec<Value>],
    ) -> Result<Vec<Value>, Wrong> {
        use MathFunction as M;
        let scalar = scalar_of(&types[0]);
        if scalar.kind == ScalarKind::Float && scalar.width == 8 && !has_f64(fun) {
            return Err(self.refused(format!("`{fun:?}` of f64")));
        }
        let first = &values[0];
        Ok(match fun {
            M::Dot => vec![self.dot(scalar, first, &values[1])],
            M::Cross => self.cross(scalar, first, &values[1]),
            M::Outer => {
                let columns = &values[1];
                let product = |this: &mut Self, a, b| this.arithmetic(BinaryOperator::Multiply, scalar, a, b);
                columns
                    .iter()
                    .flat_map(|&b| first.iter().map(move |&a| (a, b)))
                    .map(|(a, b)| product(self, a, b))
                    .collect()
            }
            M::Transpose => {
                let TypeInner::Matrix { rows, .. } = types[0] else { unreachable!("it is a matrix") };
                let rows = rows as usize;
                (0..rows).flat_map(|row| first.iter().copied().skip(row).step_by(rows)).collect()
            }
            M::Determinant => vec![self.determinant(scalar, first)],
            M::Inverse => self.inverse(scalar, first),
            M::Modf | M::Frexp => {
                let parts: Vec<[Value; 2]> =
                    first.iter().map(|&value| self.two_parts(fun, scalar, value)).collect();
                parts.iter().map(|part| part[0]).chain(parts.iter().map(|part| part[1])).collect()
            }
            M::Distance | M::Length | M::Normalize | M::FaceForward | M::Reflect | M::Refract => {
                self.geometry(fun, scalar, values)
            }
            M::Dot4I8Packed | M::Dot4U8Packed => vec![self.dot_packed(fun, first[0], values[1][0])],
            M::Pack4x8snorm
            | M::Pack4x8unorm
            | M::Pack2x16snorm
            | M::Pack2x16unorm
            | M::Pack2x16float
            | M::Pack4xI8
            | M::Pack4xU8
            | M::Pack4xI8Clamp
            | M::Pack4xU8Clamp => vec![self.packed(fun, first)],
            M::Unpack4x8snorm
            | M::Unpack4x8unorm
            | M::Unpack2x16snorm
            | M::Unpack2x16unorm
            | M::Unpack2x16float
            | M::Unpack4xI8
            | M::Unpack4xU8 => self.unpacked(fun, first[0]),
            _ => {
                let pair: Option<Pairwise> = match fun {
                    M::Fma => Some(|e, words| e.half(Half::Fma2, words)),
                    M::Abs => Some(|e, words| e.with(Binary::And, words[0], 0x7FFF_7FFF)),
                    _ => None,
                };
                let values: Vec<&[Value]> = values.iter().map(Vec::as_slice).collect();
                self.componentwise(&values, pair.filter(|_| is_half(scalar)), |this, arguments| {
                    Ok(this.of_scalars(fun, scalar, arguments))
                })?
            }
        })
    }

    /// A function of scalars. Those of binary16 are computed as `f32` where there is no instruction.
    fn of_scalars(&mut self, fun: MathFunction, scalar: Scalar, arguments: &[Value]) -> Value {
        use MathFunction as M;
        if !is_half(scalar) {
            return self.scalar_function(fun, scalar, arguments);
        }
        match (fun, arguments) {
            (M::Fma, &[a, b, c]) => self.e.half(Half::Fma, &[a, b, c]),
            (M::Abs, &[a]) => self.e.with(Binary::And, a, 0x7FFF),
            (M::Ldexp, &[a, exponent]) => {
                let wide = self.e.half(Half::Widen, &[a]);
                let result = self.scalar_function(fun, Scalar::F32, &[wide, exponent]);
                self.e.half(Half::Narrow, &[result])
            }
            _ => self.in_f32(arguments, |this, wide| this.scalar_function(fun, Scalar::F32, wide)),
        }
    }

    fn product(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.arithmetic(BinaryOperator::Multiply, scalar, a, b)
    }

    /// `a b - c d`.
    fn difference_of_products(&mut self, scalar: Scalar, [a, b, c, d]: [Value; 4]) -> Value {
        let (first, second) = (self.product(scalar, a, b), self.product(scalar, c, d));
        self.arithmetic(BinaryOperator::Subtract, scalar, first, second)
    }

    fn cross(&mut self, scalar: Scalar, a: &[Value], b: &[Value]) -> Vec<Value> {
        [(1, 2), (2, 0), (0, 1)]
            .map(|(i, j)| self.difference_of_products(scalar, [a[i], b[j], a[j], b[i]]))
            .to_vec()
    }

    /// The determinant of a square matrix: along its first column.
    fn determinant(&mut self, scalar: Scalar, matrix: &[Value]) -> Value {
        let size = matrix.len().isqrt();
        if size == 1 {
            return matrix[0];
        }
        if let &[a, b, c, d] = matrix {
            return self.difference_of_products(scalar, [a, d, b, c]);
        }
        let mut sum = None;
        for row in 0..size {
            let minor = self.minor(scalar, matrix, 0, row);
            let term = self.product(scalar, matrix[row], minor);
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let op = if row % 2 == 0 { BinaryOperator::Add } else { BinaryOperator::Subtract };
                    self.arithmetic(op, scalar, sum, term)
                }
            });
        }
        sum.expect("a matrix has rows")
    }

    /// The determinant of a matrix without one column and one row.
    fn minor(&mut self, scalar: Scalar, matrix: &[Value], column: usize, row: usize) -> Value {
        let size = matrix.len().isqrt();
        let rest: Vec<Value> = (0..size * size)
            .filter(|place| place / size != column && place % size != row)
            .map(|place| matrix[place])
            .collect();
        self.determinant(scalar, &rest)
    }

    fn inverse(&mut self, scalar: Scalar, matrix: &[Value]) -> Vec<Value> {
        let size = matrix.len().isqrt();
        let determinant = self.determinant(scalar, matrix);
        (0..size * size)
            .map(|place| {
                // The cofactor of the transposed place, by the determinant.
                let (column, row) = (place / size, place % size);
                let minor = self.minor(scalar, matrix, row, column);
                let is_negative = (row + column) % 2 == 1;
                let cofactor = if is_negative { self.negated(scalar, minor) } else { minor };
                self.arithmetic(BinaryOperator::Divide, scalar, cofactor, determinant)
            })
            .collect()
    }

    fn negated(&mut self, scalar: Scalar, value: Value) -> Value {
        if is_half(scalar) {
            self.e.with(Binary::Xor, value, 0x8000)
        } else {
            self.e.unary(Unary::FNeg, value)
        }
    }

    fn geometry(&mut self, fun: MathFunction, scalar: Scalar, values: &[Vec<Value>]) -> Vec<Value> {
        use BinaryOperator::{Add, Multiply, Subtract};
        use MathFunction as M;
        let a = &values[0];
        match fun {
            M::Length => vec![self.length_of(scalar, a)],
            M::Distance => {
                let sides = a.iter().zip(&values[1]);
                let difference: Vec<Value> =
                    sides.map(|(&a, &b)| self.arithmetic(Subtract, scalar, a, b)).collect();
                vec![self.length_of(scalar, &difference)]
            }
            M::Normalize => {
                let length = self.length_of(scalar, a);
                a.iter().map(|&a| self.arithmetic(BinaryOperator::Divide, scalar, a, length)).collect()
            }
            M::FaceForward => {
                // e1 where e2 . e3 < 0, else -e1.
                let product = self.dot(scalar, &values[1], &values[2]);
                let product = if is_half(scalar) { self.e.half(Half::Widen, &[product]) } else { product };
                let faces = self.e.compare_with(Compare::FLt, product, 0);
                a.iter()
                    .map(|&a| {
                        let other = self.negated(scalar, a);
                        self.e.select(faces, a, other)
                    })
                    .collect()
            }
            M::Reflect => {
                // e1 - 2 (e2 . e1) e2
                let normal = &values[1];
                let product = self.dot(scalar, normal, a);
                let twice = self.arithmetic(Add, scalar, product, product);
                let sides = a.iter().zip(normal);
                sides
                    .map(|(&a, &n)| {
                        let along = self.arithmetic(Multiply, scalar, twice, n);
                        self.arithmetic(Subtract, scalar, a, along)
                    })
                    .collect()
            }
            _ => self.refract(scalar, a, &values[1], values[2][0]),
        }
    }

    fn length_of(&mut self, scalar: Scalar, values: &[Value]) -> Value {
        if let &[value] = values {
            return self.of_scalars(MathFunction::Abs, scalar, &[value]);
        }
        let square = self.dot(scalar, values, values);
        self.of_scalars(MathFunction::Sqrt, scalar, &[square])
    }

    /// `k = 1 - r r (1 - (n . i)^2)`; 0 where that is negative, else `r i - (r (n . i) + sqrt k) n`.
    fn refract(&mut self, scalar: Scalar, incident: &[Value], normal: &[Value], ratio: Value) -> Vec<Value> {
        use BinaryOperator::{Add, Multiply, Subtract};
        let one = self.one(scalar);
        let product = self.dot(scalar, normal, incident);
        let square = self.arithmetic(Multiply, scalar, product, product);
        let rest = self.arithmetic(Subtract, scalar, one, square);
        let ratios = self.arithmetic(Multiply, scalar, ratio, ratio);
        let part = self.arithmetic(Multiply, scalar, ratios, rest);
        let k = self.arithmetic(Subtract, scalar, one, part);
        let root = self.of_scalars(MathFunction::Sqrt, scalar, &[k]);
        let along = self.arithmetic(Multiply, scalar, ratio, product);
        let factor = self.arithmetic(Add, scalar, along, root);
        let wide = if is_half(scalar) { self.e.half(Half::Widen, &[k]) } else { k };
        let is_total = self.e.compare_with(Compare::FLt, wide, 0);
        let ty = self.e.ty(k);
        let zero = self.e.zero(ty);
        let sides = incident.iter().zip(normal);
        sides
            .map(|(&i, &n)| {
                let first = self.arithmetic(Multiply, scalar, ratio, i);
                let second = self.arithmetic(Multiply, scalar, factor, n);
                let out = self.arithmetic(Subtract, scalar, first, second);
                self.e.select(is_total, zero, out)
            })
            .collect()
    }

    /// The number 1.
    pub(super) fn one(&mut self, scalar: Scalar) -> Value {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => self.e.i32(0x3C00),
            (ScalarKind::Float, 4) => self.e.f32(1.0),
            (ScalarKind::Float, _) => self.e.constant(crate::ir::Constant::F64(1f64.to_bits())),
            (_, 8) => self.e.constant(crate::ir::Constant::I64(1)),
            _ => self.e.i32(1),
        }
    }

    /// `modf`: fraction and whole number. `frexp`: fraction and exponent.
    fn two_parts(&mut self, fun: MathFunction, scalar: Scalar, value: Value) -> [Value; 2] {
        if is_half(scalar) {
            let wide = self.e.half(Half::Widen, &[value]);
            let [fraction, other] = self.two_parts(fun, Scalar::F32, wide);
            let fraction = self.e.half(Half::Narrow, &[fraction]);
            return match self.e.ty(other) {
                Type::F32 => [fraction, self.e.half(Half::Narrow, &[other])],
                _ => [fraction, other],
            };
        }
        if fun == MathFunction::Modf {
            let whole = self.e.unary(Unary::FTrunc, value);
            return [self.e.binary(Binary::FSub, value, whole), whole];
        }
        self.frexp(value)
    }

    /// The bytes of two words as numbers, multiplied and added.
    fn dot_packed(&mut self, fun: MathFunction, a: Value, b: Value) -> Value {
        let mut sum = self.e.i32(0);
        for byte in 0..4 {
            let [x, y] = [a, b].map(|word| self.byte_of(word, byte, fun == MathFunction::Dot4I8Packed));
            let product = self.e.binary(Binary::Mul, x, y);
            sum = self.e.binary(Binary::Add, sum, product);
        }
        sum
    }

    /// A byte of a word, with or without a sign.
    pub(super) fn byte_of(&mut self, word: Value, byte: u64, is_signed: bool) -> Value {
        let low = self.e.with(Binary::ShrU, word, 8 * byte);
        match is_signed {
            true => self.e.unary(Unary::Extend8, low),
            false => self.e.with(Binary::And, low, 0xFF),
        }
    }
}

/// True for functions that there are for f64.
fn has_f64(fun: MathFunction) -> bool {
    use MathFunction as M;
    matches!(
        fun,
        M::Abs
            | M::Min
            | M::Max
            | M::Clamp
            | M::Saturate
            | M::Ceil
            | M::Floor
            | M::Round
            | M::Fract
            | M::Trunc
            | M::Dot
            | M::Cross
            | M::Outer
            | M::Distance
            | M::Length
            | M::Normalize
            | M::FaceForward
            | M::Reflect
            | M::Sign
            | M::Fma
            | M::Mix
            | M::Step
            | M::Sqrt
            | M::InverseSqrt
            | M::Inverse
            | M::Transpose
            | M::Determinant
            | M::Modf
    )
}
