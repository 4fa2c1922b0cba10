//! Floating point of section 4: the canonical NaN, minimum and maximum with signed zeros, and the two 16-bit
//! formats, which are rounded here with integer arithmetic.

/// The f32 result of an operation: its bits, or those of the canonical NaN.
pub(crate) fn f32_result(value: f32) -> u32 {
    if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() }
}

/// The f64 result of an operation: its bits, or those of the canonical NaN.
pub(crate) fn f64_result(value: f64) -> u64 {
    if value.is_nan() { 0x7FF8_0000_0000_0000 } else { value.to_bits() }
}

/// minimumNumber: a number beats a NaN, -0 is below +0.
pub(super) fn minimum_number(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else if a == 0.0 && b == 0.0 {
        if a.is_sign_negative() { a } else { b }
    } else if a < b {
        a
    } else {
        b
    }
}

/// maximumNumber: a number beats a NaN, +0 is above -0.
pub(crate) fn maximum_number(a: f32, b: f32) -> f32 {
    -minimum_number(-a, -b)
}

/// min(a - floor(a), the largest f32 below 1); NaN for a NaN and for an infinity.
pub(super) fn fraction(a: f32) -> f32 {
    let below_one = f32::from_bits(0x3F7F_FFFF);
    let fraction = a - a.floor();
    if fraction > below_one { below_one } else { fraction }
}

/// Clamp to [0, 1]; 0 for a NaN and for -0.
pub(super) fn saturate(a: f32) -> f32 {
    if a > 0.0 { if a < 1.0 { a } else { 1.0 } } else { 0.0 }
}

/// The value of f16 bits: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits.
pub(crate) fn f16_value(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 0x3FF);
    match exponent {
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        0 => sign * fraction * 2f32.powi(-24),
        _ => sign * (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

/// Rounds to f16, to nearest even, with the canonical NaN.
pub(crate) fn f16_bits(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7E00;
    }
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xFF) as i32 - 127;
    if exponent > 15 {
        return sign | 0x7C00;
    }
    if exponent < -25 {
        // Below half of the smallest subnormal, 2^-24.
        return sign;
    }
    // value = significand × 2^(exponent - 23), as a normal f32. An f16 counts in steps of
    // 2^(exponent - 10), but never finer than 2^-24.
    let significand = bits & 0x7F_FFFF | 0x80_0000;
    let drop = (exponent.max(-14) - 10 - (exponent - 23)) as u32;
    let mut steps = significand >> drop;
    let rest = significand & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    if rest > half || (rest == half && steps & 1 == 1) {
        steps += 1;
    }
    // For a normal result, `steps` contains the hidden bit 1024. Adding it to the exponent field minus one
    // carries a round-up into the exponent, and into infinity.
    let base = if exponent < -14 { 0 } else { (exponent + 14) as u32 * 1024 };
    sign | (base + steps) as u16
}

/// The value of bf16 bits: the high half of an f32.
pub(crate) fn bf16_value(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to bf16, to nearest even, with the canonical NaN.
pub(crate) fn bf16_bits(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7FC0;
    }
    let bits = value.to_bits();
    let (kept, rest) = ((bits >> 16) as u16, bits & 0xFFFF);
    let up = rest > 0x8000 || (rest == 0x8000 && kept & 1 == 1);
    // A carry out of the fraction increments the exponent, and turns the largest number into infinity.
    kept + u16::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_rounding_agrees_with_the_distance_to_its_neighbours() {
        // Values of all finite f16 in order; a float must go to the nearest, ties to the even one.
        let values: Vec<f32> = (0..0x7C00).map(f16_value).collect();
        assert!(values.windows(2).all(|w| w[0] < w[1]));
        for (n, pair) in values.windows(2).enumerate() {
            let (low, high) = (f64::from(pair[0]), f64::from(pair[1]));
            let middle = ((low + high) / 2.0) as f32;
            let even = if n % 2 == 0 { n } else { n + 1 } as u16;
            assert_eq!(f16_bits(pair[0]), n as u16);
            assert_eq!(f16_bits(middle), even, "{middle}");
            assert_eq!(f16_bits(middle.next_down()), n as u16);
            assert_eq!(f16_bits(middle.next_up()), n as u16 + 1);
            assert_eq!(f16_bits(-middle.next_up()), 0x8000 | (n as u16 + 1));
        }
        assert_eq!(f16_bits(65519.99), 0x7BFF);
        assert_eq!(f16_bits(65520.0), 0x7C00);
        assert_eq!(f16_bits(f32::MAX), 0x7C00);
        assert_eq!(f16_bits(f32::NEG_INFINITY), 0xFC00);
        assert_eq!(f16_bits(-f32::from_bits(1)), 0x8000);
        assert_eq!(f16_bits(f32::from_bits(0xFF80_0001)), 0x7E00);
        assert!(f16_value(0x7C01).is_nan() && f16_value(0xFFFF).is_nan());
        assert_eq!(f16_value(0xFC00), f32::NEG_INFINITY);
        assert_eq!(f16_value(0x8000).to_bits(), 0x8000_0000);
    }

    #[test]
    fn f16_agrees_with_the_half_crate() {
        for bits in 0..=u16::MAX {
            let other = half::f16::from_bits(bits).to_f32();
            assert!(f16_value(bits) == other || other.is_nan() && f16_value(bits).is_nan());
        }
        let mut word = 1u32;
        for _ in 0..200_000 {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Most f32 are outside of the f16 range: fold half of the exponents into it.
            let bits = if word & 1 == 0 { word } else { word & 0x8FFF_FFFF | 0x3000_0000 };
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(f16_bits(value), half::f16::from_f32(value).to_bits(), "{bits:08x}");
                assert_eq!(bf16_bits(value), half::bf16::from_f32(value).to_bits(), "{bits:08x}");
            }
        }
    }

    #[test]
    fn bf16_rounds_to_nearest_even() {
        assert_eq!(bf16_bits(f32::from_bits(0x3F80_8000)), 0x3F80);
        assert_eq!(bf16_bits(f32::from_bits(0x3F81_8000)), 0x3F82);
        assert_eq!(bf16_bits(f32::from_bits(0x3F80_8001)), 0x3F81);
        assert_eq!(bf16_bits(f32::MAX), 0x7F80);
        assert_eq!(bf16_bits(-0.0), 0x8000);
        assert_eq!(bf16_bits(f32::from_bits(0xFFFF_FFFF)), 0x7FC0);
    }

    #[test]
    fn minimum_and_maximum_know_signed_zero_and_nan() {
        assert_eq!(minimum_number(0.0, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(minimum_number(-0.0, 0.0).to_bits(), 0x8000_0000);
        assert_eq!(maximum_number(-0.0, 0.0).to_bits(), 0);
        assert_eq!(maximum_number(0.0, -0.0).to_bits(), 0);
        assert_eq!(maximum_number(f32::NAN, -3.0), -3.0);
        assert_eq!(minimum_number(2.0, f32::NAN), 2.0);
        assert!(minimum_number(f32::NAN, f32::NAN).is_nan());
        assert_eq!((minimum_number(1.0, 2.0), maximum_number(1.0, 2.0)), (1.0, 2.0));
    }
}
