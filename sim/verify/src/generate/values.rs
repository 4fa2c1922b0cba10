//! Values that cause errors more often than others.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Words to load as immediates or from memory: specials of every format, small numbers, anything.
const SPECIAL: &[u32] = &[
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
    // f32: 1, -1, 0.5, 2, pi, the least normal, greatest subnormal, least subnormal, greatest, infinities
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x4000_0000,
    0x4049_0FDB,
    0x0080_0000,
    0x007F_FFFF,
    0x8000_0001,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    // quiet and signalling NaNs with a payload
    0x7FC0_0000,
    0xFFC1_2345,
    0x7F80_0001,
    0xFFBF_FFFF,
    // just below and at the limits of the integer conversions, 2^23 + 0.5 and ties
    0x4EFF_FFFF,
    0x4F00_0000,
    0x4F7F_FFFF,
    0x4F80_0000,
    0xCF00_0000,
    0x4B00_0001,
    0x4020_0000,
    0x3F7F_FFFF,
    // pairs of f16: 1 and -2, subnormals, infinity and NaN, greatest and least
    0x3C00_C000,
    0x0001_03FF,
    0x7C00_7E01,
    0x7BFF_0400,
    0xFC00_8000,
    // pairs of bf16: 1 and -1, NaN and infinity, subnormal and greatest
    0x3F80_BF80,
    0x7FC1_7F80,
    0x0001_7F7F,
    // f32 that round to f16 and bf16 half way
    0x477F_F000,
    0x3380_0000,
    0x3F80_8000,
    0x3F81_8000,
    // high words of f64: 1, infinity, NaN, subnormal, greatest
    0x3FF0_0000,
    0x7FF0_0000,
    0xFFF8_0001,
    0x000F_FFFF,
    0x7FEF_FFFF,
];

/// A word that is special in most cases.
pub(super) fn word(rng: &mut impl rand::Rng) -> u32 {
    match rng.random_range(0..10) {
        0..5 => SPECIAL[rng.random_range(0..SPECIAL.len() as u32) as usize],
        5 => rng.random_range(0..64),
        6 => 1u32.rotate_left(rng.random_range(0..32)).wrapping_sub(rng.random_range(0..2)),
        // A float of an ordinary magnitude.
        7 | 8 => (rng.random_range(-4096i32..4096) as f32 / 16.0).to_bits(),
        _ => rng.random_range(0..=u32::MAX),
    }
}

/// The contents of device memory.
pub(super) fn memory(seed: u64, bytes: u32) -> Vec<u8> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    (0..bytes / 4).flat_map(|_| word(&mut rng).to_le_bytes()).collect()
}
