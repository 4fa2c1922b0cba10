//! Binary floating-point formats: rounding to nearest even, from an exact significand.

/// A binary format as IEEE 754 lays them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of the significand, with the leading one.
    pub precision: u32,
    /// Bits of the exponent.
    pub exponent_bits: u32,
}

impl Format {
    /// Exponent of the smallest normal number.
    pub(super) const fn least_exponent(self) -> i64 {
        2 - (1 << (self.exponent_bits - 1))
    }

    /// Infinity. The bits below are those of the largest number.
    pub(super) const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.precision - 1)
    }

    /// The quiet NaN without a payload.
    pub(super) const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.precision - 2)
    }

    /// Bits with a sign.
    pub(super) const fn signed(self, negative: bool, bits: u64) -> u64 {
        if negative { bits | 1 << (self.precision - 1 + self.exponent_bits) } else { bits }
    }

    /// `significand * 2^exponent`, rounded; `None` if it is too large. With `sticky` the number is a little larger, by
    /// less than one unit of the significand, which then has to have more bits than the format. A significand has at most
    /// 126 bits.
    pub(super) fn round(self, negative: bool, significand: u128, sticky: bool, exponent: i64) -> Option<u64> {
        if significand == 0 {
            return Some(self.signed(negative, 0));
        }
        let length = i64::from(128 - significand.leading_zeros());
        let precision = i64::from(self.precision);
        // The exponent of the leading bit, or of that of the smallest normal number.
        let top = (exponent + length - 1).max(self.least_exponent());
        if top > 1 << self.exponent_bits {
            return None;
        }
        let shift = top - (precision - 1) - exponent;
        let quotient = match shift {
            // A finite format holds at most `precision` bits, so none is lost on the left.
            ..=0 => (significand << -shift) as u64,
            1..=127 => {
                let rest = significand & ((1 << shift) - 1);
                let half = 1 << (shift - 1);
                let quotient = (significand >> shift) as u64;
                let up = rest > half || rest == half && (sticky || quotient % 2 == 1);
                quotient + u64::from(up)
            }
            // Less than half of the smallest number.
            _ => 0,
        };
        // The leading bit of a normal number adds one to the exponent field; a subnormal one has none.
        let field = (top - self.least_exponent()) as u64;
        let bits = (field << (self.precision - 1)) + quotient;
        (bits < self.infinity()).then(|| self.signed(negative, bits))
    }

    /// The value of some bits, for a format that f64 contains.
    pub(super) fn value(self, bits: u64) -> f64 {
        let fraction_bits = self.precision - 1;
        let fraction = bits & ((1 << fraction_bits) - 1);
        let field = bits >> fraction_bits & ((1 << self.exponent_bits) - 1);
        let negative = bits >> (fraction_bits + self.exponent_bits) & 1 == 1;
        let unit = (self.least_exponent() - i64::from(fraction_bits)) as i32;
        let value = match field {
            0 => fraction as f64 * 2f64.powi(unit),
            field if field == (1 << self.exponent_bits) - 1 => {
                if fraction == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            field => (fraction | 1 << fraction_bits) as f64 * 2f64.powi(unit + field as i32 - 1),
        };
        if negative { -value } else { value }
    }
}

/// Significand and exponent of the magnitude of a finite number.
pub(super) fn parts(value: f64) -> (u128, i64) {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7FF) as i64, bits & ((1 << 52) - 1));
    match field {
        0 => (fraction.into(), -1074),
        field => ((fraction | 1 << 52).into(), field - 1075),
    }
}
