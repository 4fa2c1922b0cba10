//! Coefficients of the special functions, computed at compile time in integer arithmetic.
//!
//! Each table covers its interval with [`SEGMENTS`] quadratics. The quadratic of a segment passes through the
//! function at t = 1/16, 1/2 and 15/16 of the segment. These points are near the Chebyshev nodes, so the
//! error is about the same everywhere in the segment.

/// Segments of a table: the index is 7 bits.
pub const SEGMENTS: usize = 128;

/// c0 + c1 t + c2 t², 30 fraction bits each, t in \[0, 1) across the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Value at the start; 31 bits, unsigned.
    pub c0: u32,
    /// Slope at the start; 25 bits, signed.
    pub c1: i32,
    /// Curvature; 17 bits, signed.
    pub c2: i32,
}

/// Fraction bits while tables are computed.
const BITS: u32 = 60;
const UNIT: i128 = 1 << BITS;
/// ln 2 with 60 fraction bits.
const LN_2: i128 = 0x0B17_217F_7D1C_F79B;
/// π/2 with 60 fraction bits.
const HALF_PI: i128 = 0x1921_FB54_442D_1847;

/// 2^x for x in \[0, 1); segment i starts at x = i/128.
pub static EXP2: [Segment; SEGMENTS] = table(Function::Exp2);
/// log2(1 + x) / x. Segment i covers the significand m from 1 + i/128; x = m - 1 for i < 64, else x = m/2 - 1.
pub static LOG2: [Segment; SEGMENTS] = table(Function::Log2);
/// sin(π/2 u) / u for u in \[0, 1); segment i starts at u = i/128.
pub static SINE: [Segment; SEGMENTS] = table(Function::Sine);

/// 64 zeros and the first 224 fraction bits of 2/π, most significant first: bit k (from 0) weighs 2^(63 - k).
pub static TWO_OVER_PI: [u32; 9] =
    [0, 0, 0xA2F9_836E, 0x4E44_1529, 0xFC27_57D1, 0xF534_DDC0, 0xDB62_9599, 0x3C43_9041, 0xFE51_63AB];

#[derive(Clone, Copy)]
enum Function {
    Exp2,
    Log2,
    Sine,
}

const fn table(function: Function) -> [Segment; SEGMENTS] {
    let mut table = [Segment { c0: 0, c1: 0, c2: 0 }; SEGMENTS];
    let mut i = 0;
    while i < SEGMENTS {
        let start = 16 * i as i128;
        table[i] =
            quadratic([node(function, start + 1), node(function, start + 8), node(function, start + 15)]);
        i += 1;
    }
    table
}

/// The function at k/2048 of its table's interval.
const fn node(function: Function, k: i128) -> i128 {
    match function {
        Function::Exp2 => exp2(k),
        Function::Log2 => log2_quotient(k),
        Function::Sine => sine_quotient(k),
    }
}

/// Newton's form through t = 1/16, 1/2, 15/16, multiplied out. With d = (16 t - 8) / 7 the nodes are at
/// -1, 0 and 1, and the quadratic is y1 + first/2 d + second/2 d².
const fn quadratic([y0, y1, y2]: [i128; 3]) -> Segment {
    let (first, second) = (y2 - y0, y2 - 2 * y1 + y0);
    Segment {
        c0: to_30_bits(98 * y1 - 56 * first + 64 * second) as u32,
        c1: to_30_bits(112 * first - 256 * second) as i32,
        c2: to_30_bits(256 * second) as i32,
    }
}

/// x/98 with 30 fraction bits, to nearest.
const fn to_30_bits(x: i128) -> i128 {
    (x.div_euclid(98) + (1 << (BITS - 31))) >> (BITS - 30)
}

/// 2^(k/2048), the power series of e^x.
const fn exp2(k: i128) -> i128 {
    let x = k * LN_2 / 2048;
    let (mut sum, mut term, mut n) = (UNIT, UNIT, 1);
    while n <= 20 {
        term = ((term * x) >> BITS) / n;
        sum += term;
        n += 1;
    }
    sum
}

/// log2(1 + x) / x, where k/2048 is the fraction of the significand: bit by bit, by repeated squaring.
const fn log2_quotient(k: i128) -> i128 {
    let mut square = (2048 + k) << (BITS - 11);
    let (mut log2, mut bit) = (0, BITS);
    while bit > 0 {
        bit -= 1;
        square = (square * square) >> BITS;
        if square >= 2 * UNIT {
            square >>= 1;
            log2 |= 1 << bit;
        }
    }
    if k < 1024 { log2 * 2048 / k } else { (UNIT - log2) * 4096 / (2048 - k) }
}

/// sin(π/2 u) / u at u = k/2048, the power series of the sine.
const fn sine_quotient(k: i128) -> i128 {
    let angle = HALF_PI * k / 2048;
    let square = (angle * angle) >> BITS;
    let (mut sum, mut term, mut n) = (HALF_PI, HALF_PI, 1);
    while n <= 12 {
        term = -((term * square) >> BITS) / (2 * n * (2 * n + 1));
        sum += term;
        n += 1;
    }
    sum
}
