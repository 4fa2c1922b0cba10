//! Lane arithmetic: every operation that computes registers or predicates from registers.
//!
//! [`execute`] runs one instruction over the lanes of a wave. It is a pure function of rows: a row is one
//! register of the W lanes, `&[u32]` with lane i at index i. Results are the same bits on every host: integer
//! arithmetic, IEEE 754 operations that round exactly, canonical NaN, and special functions in fixed point.

mod compare;
mod convert;
pub(crate) mod f32;
pub(crate) mod f64;
pub(crate) mod half;
mod int;
mod lanes;
mod mma;
pub mod sfu;
mod wave;

#[cfg(test)]
mod tests;

use lanes::{lanes_where, map1, map2, map3, map4};
use pulp::{Simd, WithSimd};
use wave_isa::Op;

pub use lanes::merge;
pub(crate) use lanes::zero_lanes;
pub(crate) use mma::FRAGMENT_ROWS;
pub use mma::mma_compute;
/// Vector instructions of the host that the loops over lanes may use. Results do not depend on them.
pub use pulp::Arch as HostVectors;

/// What an instruction reads in addition to its rows. Bit i of a mask is lane i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneContext {
    /// Participating lanes; only wave operations use them.
    pub mask: u64,
    /// Lanes whose source predicate is true (`select`, `wave_ballot`, `wave_any`, `wave_all`).
    pub pred: u64,
    /// The literal of `mov_imm`.
    pub imm: u32,
}

/// Runs `op` over the lanes of a wave with the vector instructions of `host`.
///
/// `rows` are the source rows in operand order (a, b, c, e; a pair is its low row, then its high row), W lanes
/// each, and `out` the destination rows that the instruction writes, W lanes each, concatenated: empty for
/// compares, `wave_any` and `wave_all`, two rows for f64 results and for a ballot of 64 lanes. Returns the
/// lanes whose predicate result is true, 0 for an operation that writes no predicate.
///
/// Lanes outside the mask get values too, in `out` and in the returned mask: the caller merges (see [`merge`]).
///
/// # Panics
/// If a row is missing or short, or if `op` is not lane arithmetic (memory, control, `mov_sr`,
/// `mma_compute`, which is [`mma_compute()`]).
#[inline]
pub fn execute(host: HostVectors, op: Op, rows: &[&[u32]], context: LaneContext, out: &mut [u32]) -> u64 {
    host.dispatch(Execution { op, rows, context, out })
}

/// One instruction to run. Everything that it calls is inlined, so it is compiled once per kind of host.
struct Execution<'a> {
    op: Op,
    rows: &'a [&'a [u32]],
    context: LaneContext,
    out: &'a mut [u32],
}

impl WithSimd for Execution<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        // Every host with vectors beyond the baseline has a fused multiply-add.
        if S::IS_SCALAR {
            execute_on::<false>(self.op, self.rows, self.context, self.out)
        } else {
            execute_on::<true>(self.op, self.rows, self.context, self.out)
        }
    }
}

/// Lanes of nearly every machine; [`update`] is compiled for this constant.
const LANES: usize = 32;

/// Where an instruction finds its operands among the registers of its wave, and where its result goes.
#[derive(Debug)]
pub struct Registers<'a> {
    /// All registers of the wave: rows of `width` lanes, concatenated.
    pub rows: &'a mut [u32],
    /// Lanes of a row.
    pub width: usize,
    /// Source rows in operand order; entries from `source_rows` on are ignored.
    pub sources: &'a [u8],
    /// Number of source rows.
    pub(crate) source_rows: u8,
    /// The first row of the result.
    pub destination: u8,
    /// Rows of the result.
    pub destination_rows: u8,
}

/// [`execute`] on registers: the result replaces the destination in the lanes of `context.mask`. `result` is
/// scratch space for it.
///
/// # Panics
/// As [`execute`], and if a row is not among the registers or `result` is too short.
#[inline]
pub(crate) fn update(
    host: HostVectors,
    op: Op,
    registers: Registers,
    context: LaneContext,
    result: &mut [u32],
) -> u64 {
    if let (LANES, &[a, b, c, ..], 0..=3, 0..=1, Some(result)) = (
        registers.width,
        registers.sources,
        registers.source_rows,
        registers.destination_rows,
        result.first_chunk_mut(),
    ) {
        let Registers { rows, destination, destination_rows, .. } = registers;
        let (sources, writes) = ([a, b, c], destination_rows > 0);
        return host.dispatch(Update { op, rows, sources, destination, writes, context, result });
    }
    let Registers { rows, width, sources, source_rows, destination, destination_rows } = registers;
    let mut operands: [&[u32]; 6] = [&[]; 6];
    for (operand, &row) in operands.iter_mut().zip(&sources[..usize::from(source_rows)]) {
        *operand = &rows[usize::from(row) * width..][..width];
    }
    let out = &mut result[..usize::from(destination_rows) * width];
    let predicate = execute(host, op, &operands[..usize::from(source_rows)], context, out);
    let first = usize::from(destination) * width;
    for (from, into) in out.chunks_exact(width).zip(rows[first..].chunks_exact_mut(width)) {
        merge(host, context.mask, from, into);
    }
    predicate
}

/// [`update`] for rows of [`LANES`] lanes, with at most one destination row and at most three source rows.
struct Update<'a> {
    op: Op,
    rows: &'a mut [u32],
    /// An instruction with fewer operands ignores the rest.
    sources: [u8; 3],
    destination: u8,
    writes: bool,
    context: LaneContext,
    result: &'a mut [u32; LANES],
}

impl WithSimd for Update<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let (rows, _) = self.rows.as_chunks_mut::<LANES>();
        let operands = self.sources.map(|row| &rows[usize::from(row)][..]);
        let predicate = if S::IS_SCALAR {
            execute_on::<false>(self.op, &operands, self.context, self.result)
        } else {
            execute_on::<true>(self.op, &operands, self.context, self.result)
        };
        if self.writes {
            let into = &mut rows[usize::from(self.destination)];
            if self.context.mask == u64::MAX >> (64 - LANES) {
                *into = *self.result;
            } else {
                lanes::merge_row(self.context.mask, self.result, into);
            }
        }
        predicate
    }
}

/// [`execute`] for a host with (`FMA`) or without an instruction for a fused multiply-add.
#[inline(always)]
fn execute_on<const FMA: bool>(op: Op, rows: &[&[u32]], context: LaneContext, out: &mut [u32]) -> u64 {
    match op {
        Op::IAdd => map2(rows, out, u32::wrapping_add),
        Op::ISub => map2(rows, out, u32::wrapping_sub),
        Op::IMul => map2(rows, out, u32::wrapping_mul),
        Op::IMulHi => map2(rows, out, int::imul_hi),
        Op::IMad => map3(rows, out, int::imad),
        Op::IDiv => map2(rows, out, int::idiv),
        Op::IMod => map2(rows, out, int::imod),
        Op::INeg => map1(rows, out, u32::wrapping_neg),
        Op::IAbs => map1(rows, out, int::iabs),
        Op::IMin => map2(rows, out, int::imin),
        Op::IMax => map2(rows, out, int::imax),
        Op::IClamp => map3(rows, out, int::iclamp),
        Op::UMin => map2(rows, out, |a, b| a.min(b)),
        Op::UMax => map2(rows, out, |a, b| a.max(b)),
        Op::And => map2(rows, out, |a, b| a & b),
        Op::Or => map2(rows, out, |a, b| a | b),
        Op::Xor => map2(rows, out, |a, b| a ^ b),
        Op::Not => map1(rows, out, |a| !a),
        Op::Shl => map2(rows, out, u32::wrapping_shl),
        Op::Shr => map2(rows, out, u32::wrapping_shr),
        Op::Sar => map2(rows, out, int::sar),
        Op::BitCount => map1(rows, out, u32::count_ones),
        Op::BitFind => map1(rows, out, int::bitfind),
        Op::BitRev => map1(rows, out, u32::reverse_bits),
        Op::Bfe => map3(rows, out, int::bfe),
        Op::Bfi => map4(rows, out, int::bfi),

        Op::FAdd => map2(rows, out, f32::fadd),
        Op::FSub => map2(rows, out, f32::fsub),
        Op::FMul => map2(rows, out, f32::fmul),
        Op::Fma => map3(rows, out, f32::fma::<FMA>),
        Op::FDiv => map2(rows, out, f32::fdiv),
        Op::FNeg => map1(rows, out, f32::fneg),
        Op::FAbs => map1(rows, out, f32::fabs),
        Op::FMin => map2(rows, out, f32::fmin),
        Op::FMax => map2(rows, out, f32::fmax),
        Op::FClamp => map3(rows, out, f32::fclamp),
        Op::FSqrt => map1(rows, out, f32::fsqrt),
        Op::FRsqrt => map1(rows, out, f32::frsqrt),
        Op::FRcp => map1(rows, out, f32::frcp),
        Op::FFloor => map1(rows, out, f32::ffloor),
        Op::FCeil => map1(rows, out, f32::fceil),
        Op::FRound => map1(rows, out, f32::fround),
        Op::FTrunc => map1(rows, out, f32::ftrunc),
        Op::FFract => map1(rows, out, f32::ffract),
        Op::FSat => map1(rows, out, f32::fsat),
        Op::FSin => map1(rows, out, sfu::fsin),
        Op::FCos => map1(rows, out, sfu::fcos),
        Op::FExp2 => map1(rows, out, sfu::fexp2),
        Op::FLog2 => map1(rows, out, sfu::flog2),

        Op::HAdd => map2(rows, out, half::hadd),
        Op::HSub => map2(rows, out, half::hsub),
        Op::HMul => map2(rows, out, half::hmul),
        Op::HMa => map3(rows, out, half::hma),
        Op::HAdd2 => map2(rows, out, half::hadd2),
        Op::HMul2 => map2(rows, out, half::hmul2),
        Op::HMa2 => map3(rows, out, half::hma2),
        Op::BAdd => map2(rows, out, half::badd),
        Op::BSub => map2(rows, out, half::bsub),
        Op::BMul => map2(rows, out, half::bmul),
        Op::BMa => map3(rows, out, half::bma::<FMA>),
        Op::BAdd2 => map2(rows, out, half::badd2),
        Op::BMul2 => map2(rows, out, half::bmul2),
        Op::BMa2 => map3(rows, out, half::bma2::<FMA>),

        Op::DAdd => f64::map(rows, out, |[a, b]| a + b),
        Op::DSub => f64::map(rows, out, |[a, b]| a - b),
        Op::DMul => f64::map(rows, out, |[a, b]| a * b),
        Op::DMa => f64::map(rows, out, |[a, b, c]| a.mul_add(b, c)),
        Op::DDiv => f64::map(rows, out, |[a, b]| a / b),
        Op::DSqrt => f64::map(rows, out, |[a]| a.sqrt()),

        Op::CvtF32I32 => map1(rows, out, convert::f32_from_i32),
        Op::CvtF32U32 => map1(rows, out, convert::f32_from_u32),
        Op::CvtI32F32 => map1(rows, out, convert::i32_from_f32),
        Op::CvtU32F32 => map1(rows, out, convert::u32_from_f32),
        Op::CvtF32F16 => map1(rows, out, convert::f32_from_f16),
        Op::CvtF16F32 => map1(rows, out, convert::f16_from_f32),
        Op::CvtF32F64 => f64::to_f32(rows, out),
        Op::CvtF64F32 => f64::from_f32(rows, out),
        Op::CvtF32Bf16 => map1(rows, out, convert::f32_from_bf16),
        Op::CvtBf16F32 => map1(rows, out, convert::bf16_from_f32),

        Op::ICmpEq | Op::UCmpEq => return lanes_where(rows, |a, b| a == b),
        Op::ICmpNe | Op::UCmpNe => return lanes_where(rows, |a, b| a != b),
        Op::ICmpLt => return lanes_where(rows, compare::ilt),
        Op::ICmpLe => return lanes_where(rows, compare::ile),
        Op::ICmpGt => return lanes_where(rows, |a, b| compare::ilt(b, a)),
        Op::ICmpGe => return lanes_where(rows, |a, b| compare::ile(b, a)),
        Op::UCmpLt => return lanes_where(rows, |a, b| a < b),
        Op::UCmpLe => return lanes_where(rows, |a, b| a <= b),
        Op::UCmpGt => return lanes_where(rows, |a, b| a > b),
        Op::UCmpGe => return lanes_where(rows, |a, b| a >= b),
        Op::FCmpEq => return lanes_where(rows, compare::feq),
        Op::FCmpNe => return lanes_where(rows, |a, b| !compare::feq(a, b)),
        Op::FCmpLt => return lanes_where(rows, compare::flt),
        Op::FCmpLe => return lanes_where(rows, compare::fle),
        Op::FCmpGt => return lanes_where(rows, |a, b| compare::flt(b, a)),
        Op::FCmpGe => return lanes_where(rows, |a, b| compare::fle(b, a)),
        Op::FCmpOrd => return lanes_where(rows, |a, b| !compare::unordered(a, b)),
        Op::FCmpUnord => return lanes_where(rows, compare::unordered),

        Op::Select => lanes::select(context.pred, rows, out),
        Op::Mov => map1(rows, out, |a| a),
        Op::MovImm => out.fill(context.imm),

        Op::WaveShuffle => wave::shuffle(rows, out, |_, b| b),
        Op::WaveShuffleUp => wave::shuffle(rows, out, u32::wrapping_sub),
        Op::WaveShuffleDown => wave::shuffle(rows, out, u32::wrapping_add),
        Op::WaveShuffleXor => wave::shuffle(rows, out, |lane, b| lane ^ b),
        Op::WaveBroadcast => wave::broadcast(rows, context, out),
        Op::WaveBallot => wave::ballot(context, out),
        Op::WaveAny => return if context.pred & context.mask != 0 { context.mask } else { 0 },
        Op::WaveAll => return if !context.pred & context.mask == 0 { context.mask } else { 0 },
        Op::WavePrefixSum => wave::prefix_sum(rows, context, out),
        Op::WaveReduceAdd => wave::reduce(rows, context, out, 0, u32::wrapping_add),
        Op::WaveReduceMin => wave::reduce(rows, context, out, u32::MAX, |a, b| a.min(b)),
        Op::WaveReduceMax => wave::reduce(rows, context, out, 0, |a, b| a.max(b)),
        Op::WaveReduceAnd => wave::reduce(rows, context, out, u32::MAX, |a, b| a & b),
        Op::WaveReduceOr => wave::reduce(rows, context, out, 0, |a, b| a | b),
        Op::WaveReduceXor => wave::reduce(rows, context, out, 0, |a, b| a ^ b),

        _ => panic!("`{}` is not lane arithmetic", op.info().mnemonic),
    }
    0
}
