//! Built-in functions that pack numbers into a word, and back.

use super::Translator;
use crate::ir::{Binary, Convert, Half, Unary, Value};
use naga::MathFunction;

/// A number of so many bits as a part of a range: with a sign from -1, without from 0, to 1.
struct Normal {
    is_signed: bool,
    bits: u64,
}

impl Normal {
    fn of(fun: MathFunction) -> Option<Normal> {
        use MathFunction as M;
        let (is_signed, bits) = match fun {
            M::Pack4x8snorm | M::Unpack4x8snorm => (true, 8),
            M::Pack4x8unorm | M::Unpack4x8unorm => (false, 8),
            M::Pack2x16snorm | M::Unpack2x16snorm => (true, 16),
            M::Pack2x16unorm | M::Unpack2x16unorm => (false, 16),
            _ => return None,
        };
        Some(Normal { is_signed, bits })
    }

    /// The number that stands for 1.
    fn scale(&self) -> f32 {
        ((1u32 << (self.bits - u64::from(self.is_signed))) - 1) as f32
    }
}

impl Translator<'_> {
    /// The word that holds these numbers, the first in its low bits.
    pub(super) fn packed(&mut self, fun: MathFunction, values: &[Value]) -> Value {
        let bits = 32 / values.len() as u64;
        let parts: Vec<Value> = values.iter().map(|&value| self.packed_one(fun, value, bits)).collect();
        let mut word = parts[0];
        for (place, &part) in (1..).zip(&parts[1..]) {
            let up = self.e.with(Binary::Shl, part, place * bits);
            word = self.e.binary(Binary::Or, up, word);
        }
        word
    }

    fn packed_one(&mut self, fun: MathFunction, value: Value, bits: u64) -> Value {
        use MathFunction as M;
        let mask = (1 << bits) - 1;
        if let Some(normal) = Normal::of(fun) {
            // floor(0.5 + scale e), with e in its range.
            let [low, high] =
                [if normal.is_signed { -1.0 } else { 0.0 }, 1.0].map(|number| self.e.f32(number));
            let value = self.e.binary(Binary::FMaxNumber, value, low);
            let value = self.e.binary(Binary::FMinNumber, value, high);
            let [scale, half] = [normal.scale(), 0.5].map(|number| self.e.f32(number));
            let scaled = self.e.fma([value, scale, half]);
            let whole = self.e.unary(Unary::FFloor, scaled);
            let number = self.e.convert(Convert::TruncSatI32S, whole);
            return if normal.is_signed { self.e.with(Binary::And, number, mask) } else { number };
        }
        let value = match fun {
            M::Pack2x16float => return self.e.half(Half::Narrow, &[value]),
            M::Pack4xI8Clamp => {
                let lower = self.e.with(Binary::MaxS, value, -128i64 as u64);
                self.e.with(Binary::MinS, lower, 127)
            }
            M::Pack4xU8Clamp => return self.e.with(Binary::MinU, value, 255),
            _ => value,
        };
        self.e.with(Binary::And, value, mask)
    }

    /// The numbers that a word holds.
    pub(super) fn unpacked(&mut self, fun: MathFunction, word: Value) -> Vec<Value> {
        use MathFunction as M;
        if fun == M::Unpack2x16float {
            return self.e.unpack(word).map(|half| self.e.half(Half::Widen, &[half])).to_vec();
        }
        let normal = Normal::of(fun);
        let is_signed = normal.as_ref().map_or(fun == M::Unpack4xI8, |normal| normal.is_signed);
        let bits = normal.as_ref().map_or(8, |normal| normal.bits);
        let number = |this: &mut Self, place: u64| match (bits, is_signed) {
            (8, _) => this.byte_of(word, place, is_signed),
            (_, true) => {
                let low = this.e.with(Binary::ShrU, word, 16 * place);
                this.e.unary(Unary::Extend16, low)
            }
            (_, false) => this.e.unpack(word)[place as usize],
        };
        (0..32 / bits)
            .map(|place| {
                let number = number(self, place);
                let Some(normal) = &normal else { return number };
                let convert = if is_signed { Convert::F32S } else { Convert::F32U };
                let number = self.e.convert(convert, number);
                let scale = self.e.f32(normal.scale());
                let part = self.e.binary(Binary::FDiv, number, scale);
                let least = self.e.f32(-1.0);
                // The least number is beside the range.
                if is_signed { self.e.binary(Binary::FMaxNumber, part, least) } else { part }
            })
            .collect()
    }
}
