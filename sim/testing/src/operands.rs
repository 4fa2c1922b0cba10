//! Operands of the execution units: special values, and random ones that are likely to matter.

use rand::{Rng, RngExt};
use rand_pcg::Pcg64Mcg;
use wave_isa::{ExecClass, Op};

const INTEGERS: &[u32] = &[
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    31,
    32,
    33,
    0x7F,
    0xFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x5555_5555,
    0x7FFF_FFFE,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xAAAA_AAAA,
    0xFFFF_FFE1,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

const SINGLES: &[u32] = &[
    0x0000_0000,
    0x8000_0000, // zeros
    0x0000_0001,
    0x8000_0001,
    0x0000_0002,
    0x0040_0000,
    0x007F_FFFF, // subnormal
    0x0080_0000,
    0x8080_0000,
    0x0080_0001, // least normal
    0x2000_0000,
    0x3380_0000,
    0x3300_0001, // 2^-63, 2^-24, above 2^-25
    0x3EFF_FFFF,
    0x3F00_0000,
    0xBF00_0000,
    0x3F00_0001, // about 1/2
    0x3F7F_FFFF,
    0x3F80_0000,
    0xBF80_0000,
    0x3F80_0001, // about 1
    0x3FC0_0000,
    0xC020_0000,
    0x3FC9_0FDB, // 1.5, -2.5, pi/2
    0x4AFF_FFFF,
    0x4B00_0000,
    0xCB7F_FFFF, // integers from 2^23 on
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0x4F7F_FFFF,
    0x4F80_0000, // limits of i32 and u32
    0x477F_F000,
    0x387F_E000,
    0x3300_0000, // limits of f16
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000, // greatest, infinities
    0x7F80_0001,
    0x7FC0_0000,
    0xFFC1_2345, // NaN
];

const HALVES: &[u32] = &[
    0x0000, 0x8000, 0x0001, 0x8001, 0x0200, 0x03FF, 0x0400, 0x8400, 0x0401, 0x1400, 0x37FF, 0x3800, 0x3BFF,
    0x3C00, 0xBC00, 0x3C01, 0x3E00, 0xC100, 0x63FF, 0x6400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00,
    0xFE12,
];

const BFLOATS: &[u32] = &[
    0x0000, 0x8000, 0x0001, 0x8001, 0x0040, 0x007F, 0x0080, 0x8080, 0x0081, 0x2000, 0x3380, 0x3F00, 0x3F7F,
    0x3F80, 0xBF80, 0x3F81, 0x3FC0, 0xC020, 0x437F, 0x4380, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7F81, 0x7FC0,
    0xFFC1,
];

/// Format in which the operands of an operation are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 32 bits.
    Integer,
    /// f32.
    Single,
    /// f16, two in a register.
    Half,
    /// bf16, two in a register.
    Bfloat,
}

/// The format of an operation's operands.
pub fn kind(op: Op) -> Kind {
    let mnemonic = op.info().mnemonic;
    match op.info().class {
        ExecClass::Fp32 | ExecClass::Fp32Div | ExecClass::Sfu => Kind::Single,
        ExecClass::Fp16 if mnemonic.starts_with('h') => Kind::Half,
        ExecClass::Fp16 => Kind::Bfloat,
        ExecClass::Convert if mnemonic.ends_with("_f32") => Kind::Single,
        ExecClass::Convert if mnemonic.ends_with("_f16") => Kind::Half,
        ExecClass::Convert if mnemonic.ends_with("_bf16") => Kind::Bfloat,
        _ => Kind::Integer,
    }
}

impl Kind {
    /// Values that are special in this format.
    pub fn special(self) -> &'static [u32] {
        match self {
            Kind::Integer => INTEGERS,
            Kind::Single => SINGLES,
            Kind::Half => HALVES,
            Kind::Bfloat => BFLOATS,
        }
    }

    /// Distance of the two values in a register, or 0 if there is one.
    pub fn high_half(self) -> u32 {
        if matches!(self, Kind::Half | Kind::Bfloat) { 16 } else { 0 }
    }

    /// Operands that are likely to matter.
    pub fn random_tuple(self, rng: &mut Pcg64Mcg) -> [u32; 4] {
        match self {
            Kind::Integer => [(); 4].map(|()| random_integer(rng)),
            Kind::Single => random_floats(rng, 8, 23),
            Kind::Half | Kind::Bfloat => {
                let (exponent, fraction) = if self == Kind::Half { (5, 10) } else { (8, 7) };
                let (low, high) =
                    (random_floats(rng, exponent, fraction), random_floats(rng, exponent, fraction));
                [0, 1, 2, 3].map(|i| low[i] | high[i] << 16)
            }
        }
    }
}

/// A random number, a small one, or one near a power of two, with either sign.
fn random_integer(rng: &mut Pcg64Mcg) -> u32 {
    let any = rng.next_u32();
    let power = 1u32 << rng.random_range(0..32);
    let magnitude = match rng.random_range(0..4) {
        0 => any >> rng.random_range(0..32),
        1 => power.wrapping_add(any % 5).wrapping_sub(2),
        2 => any % 40,
        _ => any,
    };
    if rng.random() { magnitude } else { magnitude.wrapping_neg() }
}

/// Floating-point operands that interact: exponents of the second operand near the first, of the third near
/// the product, and fractions with runs of equal bits, which are close to ties. One tuple in four is random
/// bits. Some are single bits or exact ties.
fn random_floats(rng: &mut Pcg64Mcg, exponent_bits: u32, fraction_bits: u32) -> [u32; 4] {
    let (top, bias) = ((1i64 << exponent_bits) - 1, (1i64 << (exponent_bits - 1)) - 1);
    let all = (1u64 << (1 + exponent_bits + fraction_bits)) - 1;
    let signed = |rng: &mut Pcg64Mcg, magnitude: u32| {
        magnitude | u32::from(rng.random::<bool>()) << (exponent_bits + fraction_bits)
    };
    match rng.random_range(0..16) {
        0..=3 => return [(); 4].map(|()| (rng.next_u64() & all) as u32),
        // At most one bit set.
        4 => {
            let bits = exponent_bits + fraction_bits;
            return [(); 4].map(|()| {
                let bit = u32::from(rng.random::<bool>()) << rng.random_range(0..bits);
                signed(rng, bit)
            });
        }
        // A product exactly between two representable numbers, and an addend far below it.
        5 => {
            let mut factor = |bits: u32| {
                let odd = rng.random_range(0..1u32 << (bits - 2)) | 1;
                (bias as u32) << fraction_bits | odd << (fraction_bits - bits)
            };
            let half = fraction_bits.div_ceil(2);
            let [a, b] = [factor(half), factor(fraction_bits + 1 - half)];
            let tiny = rng.random_range(0..(bias as u32 / 2) << fraction_bits);
            return [signed(rng, a), signed(rng, b), signed(rng, tiny), 0];
        }
        _ => {}
    }
    let reach = i64::from(fraction_bits) + 4;
    let a = rng.random_range(0..=top);
    let mut about =
        |this: i64, that: i64| (if rng.random() { this } else { that }) + rng.random_range(-reach..=reach);
    let b = about(a, bias);
    let c = about(a + b - bias, a);
    [a, b, c, a].map(|exponent| {
        let mask = (1u32 << fraction_bits) - 1;
        let run = mask >> rng.random_range(0..=fraction_bits);
        let fraction = match rng.random_range(0..4) {
            0 => rng.next_u32() & mask & !run,
            1 => (rng.next_u32() | run) & mask,
            2 => (1 << rng.random_range(0..fraction_bits)) ^ run,
            _ => rng.next_u32() & mask,
        };
        let sign = u32::from(rng.random::<bool>());
        (sign << exponent_bits | exponent.clamp(0, top) as u32) << fraction_bits | fraction
    })
}
