//! Every operation against an oracle that shares no code with it: Berkeley SoftFloat for floating point, host
//! arithmetic in wider types for integers, the host's f64 functions for the special functions.
//!
//! Each suite runs twice: a quick pass, and one of a million cases an operation,
//! `cargo test --release -p wave-machine --lib alu:: -- --ignored`.

mod convert;
mod definition;
mod double;
mod half;
mod integer;
mod lanes;
mod single;
mod special;
mod wave;

use super::{HostVectors, LaneContext};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::Op;

/// Random cases per operation, in the quick pass and in the long one.
const QUICK: usize = 20_000;
const LONG: usize = 1_000_000;

/// All lanes participate, and no predicate is set.
const ALL: LaneContext = LaneContext { mask: u64::MAX, pred: 0, imm: 0 };

/// [`super::execute`] with the baseline's instructions and with all those of this host: the bits must be the
/// same.
fn execute(op: Op, rows: &[&[u32]], context: LaneContext, out: &mut [u32]) -> u64 {
    let mut plain = out.to_vec();
    let plain_lanes = super::execute(HostVectors::Scalar, op, rows, context, &mut plain);
    let lanes = super::execute(HostVectors::new(), op, rows, context, out);
    assert_eq!((lanes, &*out), (plain_lanes, &*plain), "{op:?} on {:?}", HostVectors::new());
    lanes
}

/// How to draw the operands of one operation.
struct Operands {
    /// Every tuple of these is a case.
    special: &'static [u64],
    /// Draws a random tuple; operands that depend on one another are drawn together.
    random: fn(&mut Pcg64Mcg) -> [u64; 4],
}

impl Operands {
    /// All tuples of special values, then `random` random tuples. Operands past `arity` are 0.
    fn cases(&self, arity: usize, random: usize, seed: u64) -> Vec<[u64; 4]> {
        let count = self.special.len();
        let mut cases: Vec<[u64; 4]> = (0..count.pow(arity as u32))
            .map(|mut index| {
                let mut case = [0; 4];
                for operand in &mut case[..arity] {
                    *operand = self.special[index % count];
                    index /= count;
                }
                case
            })
            .collect();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        cases.extend((0..random).map(|_| {
            let mut case = (self.random)(&mut rng);
            case[arity..].fill(0);
            case
        }));
        cases
    }
}

/// Runs `op` on the cases, 64 lanes at a time, and compares each lane with the oracle. Operands and results of
/// `wide` operations are register pairs.
fn check_lanes(op: Op, cases: &[[u64; 4]], wide: bool, oracle: impl Fn([u64; 4]) -> u64) {
    for cases in cases.chunks(64) {
        let mut rows = Vec::new();
        for operand in 0..4 {
            rows.push(lane_row(cases, |case| case[operand] as u32));
            if wide {
                rows.push(lane_row(cases, |case| (case[operand] >> 32) as u32));
            }
        }
        let rows: Vec<&[u32]> = rows.iter().map(|row| &row[..]).collect();
        let mut out = vec![0xDEAD_BEEF; if wide { 128 } else { 64 }];
        execute(op, &rows, ALL, &mut out);
        for (lane, &case) in cases.iter().enumerate() {
            let high = if wide { u64::from(out[64 + lane]) << 32 } else { 0 };
            let (got, expected) = (u64::from(out[lane]) | high, oracle(case));
            assert_eq!(got, expected, "{op:?} of {case:x?} gave {got:x}, expected {expected:x}");
        }
    }
}

/// Runs a compare on the cases and checks each lane of the mask.
fn check_predicate(op: Op, cases: &[[u64; 4]], oracle: impl Fn(u64, u64) -> bool) {
    for cases in cases.chunks(64) {
        let rows = [0, 1].map(|operand| lane_row(cases, |case| case[operand] as u32));
        let mask = execute(op, &[&rows[0], &rows[1]], ALL, &mut []);
        for (lane, &[a, b, ..]) in cases.iter().enumerate() {
            assert_eq!(mask >> lane & 1 != 0, oracle(a, b), "{op:?} of {a:x}, {b:x}");
        }
    }
}

fn lane_row(cases: &[[u64; 4]], value: impl Fn(&[u64; 4]) -> u32) -> [u32; 64] {
    let mut row = [0; 64];
    for (to, case) in row.iter_mut().zip(cases) {
        *to = value(case);
    }
    row
}

/// A significand of `bits` bits: uniform, or with a run of equal bits that makes ties and carries likely.
fn significand(rng: &mut Pcg64Mcg, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let run = mask >> rng.random_range(0..=bits);
    match rng.random_range(0..4) {
        0 => rng.next_u64() & mask & !run,
        1 => (rng.next_u64() | run) & mask,
        2 => (1 << rng.random_range(0..bits)) ^ (run & mask),
        _ => rng.next_u64() & mask,
    }
}

/// Four numbers of a format with `exponent_bits` and `fraction_bits`: any bits in one case of four, else
/// exponents such that a + b, a × b and a × b + c mostly stay in range and c overlaps the product.
fn related_floats(rng: &mut Pcg64Mcg, exponent_bits: u32, fraction_bits: u32) -> [u64; 4] {
    let (top, bias) = ((1i64 << exponent_bits) - 1, (1i64 << (exponent_bits - 1)) - 1);
    if rng.random_range(0..4) == 0 {
        let mask = u64::MAX >> (64 - 1 - exponent_bits - fraction_bits);
        return [(); 4].map(|()| rng.next_u64() & mask);
    }
    let spread = i64::from(fraction_bits) + 4;
    let a = rng.random_range(0..=top);
    let near = |exponent: i64, rng: &mut Pcg64Mcg| exponent + rng.random_range(-spread..=spread);
    let b = if rng.random() { near(a, rng) } else { rng.random_range(0..=top) };
    let centre = if rng.random() { a + b - bias } else { a };
    let c = near(centre, rng);
    [a, b, c, a].map(|exponent| {
        let sign = u64::from(rng.random::<bool>());
        (sign << exponent_bits | exponent.clamp(0, top) as u64) << fraction_bits
            | significand(rng, fraction_bits)
    })
}
