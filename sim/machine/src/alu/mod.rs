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
mod registers;
pub mod sfu;
mod wave;

#[cfg(test)]
mod tests;

use lanes::{Apart, Rows};
use pulp::{Simd, WithSimd};
use wave_isa::Op;

pub use lanes::merge;
pub(crate) use lanes::zero_lanes;
pub(crate) use mma::FRAGMENT_ROWS;
pub use mma::mma_compute;
/// Vector instructions of the host that the loops over lanes may use. Results do not depend on them.
pub use pulp::Arch as HostVectors;
pub use registers::RowOp;
pub(crate) use registers::{LANES, MAX_SOURCE_ROWS, update, update_rows};

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
// Not inlined: every copy of it has all operations.
#[inline(never)]
pub fn execute(host: HostVectors, op: Op, rows: &[&[u32]], context: LaneContext, out: &mut [u32]) -> u64 {
    host.dispatch(Execution { op, rows: Apart { rows, out }, context })
}

/// One instruction to run. Everything that it calls is inlined, so it is compiled once per kind of host.
struct Execution<'a> {
    op: Op,
    rows: Apart<'a>,
    context: LaneContext,
}

impl WithSimd for Execution<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        execute_on(simd, self.op, self.rows, self.context)
    }
}

/// [`execute`] with the instructions of a kind of host.
#[inline(always)]
fn execute_on<S: Simd>(_: S, op: Op, rows: impl Rows, context: LaneContext) -> u64 {
    // Every host with vectors beyond the baseline has a fused multiply-add.
    if S::IS_SCALAR { table::<false>(op, rows, context) } else { table::<true>(op, rows, context) }
}

/// Every operation, for a host with (`FMA`) or without an instruction for a fused multiply-add.
#[inline(always)]
fn table<const FMA: bool>(op: Op, rows: impl Rows, context: LaneContext) -> u64 {
    // A function or closure that is given by its name alone, or that is not inlined whatever its size, would be called for
    // each lane, compiled without the host's vector instructions. `scripts/bench.sh operations` shows such ones.

    /// A function of so many operands in every lane.
    macro_rules! map {
        (1, $function:expr) => {
            each!(|a| $function(a))
        };
        (2, $function:expr) => {
            each!(|a, b| $function(a, b))
        };
        (3, $function:expr) => {
            each!(|a, b, c| $function(a, b, c))
        };
        (4, $function:expr) => {
            each!(|a, b, c, e| $function(a, b, c, e))
        };
    }
    /// What each lane makes of its operands.
    macro_rules! each {
        (|$a:ident| $value:expr) => {
            rows.map1(
                #[inline(always)]
                |$a| $value,
            )
        };
        (|$a:ident, $b:ident| $value:expr) => {
            rows.map2(
                #[inline(always)]
                |$a, $b| $value,
            )
        };
        (|$a:ident, $b:ident, $c:ident| $value:expr) => {
            rows.map3(
                #[inline(always)]
                |$a, $b, $c| $value,
            )
        };
        (|$a:ident, $b:ident, $c:ident, $e:ident| $value:expr) => {
            rows.map4(
                #[inline(always)]
                |$a, $b, $c, $e| $value,
            )
        };
    }
    /// The lanes in which a condition holds.
    macro_rules! lanes {
        (|$a:ident, $b:ident| $holds:expr) => {
            rows.lanes_where(
                #[inline(always)]
                |$a, $b| $holds,
            )
        };
    }
    /// An operation on whole rows with a result of so many.
    macro_rules! whole {
        ($rows:literal, |$sources:pat_param, $out:ident| $body:expr) => {
            rows.whole::<$rows>(
                #[inline(always)]
                |$sources, $out| $body,
            )
        };
    }
    /// What each lane makes of its f64 operands.
    macro_rules! pairs {
        (|$($operand:ident),+| $value:expr) => {
            rows.pairs(
                #[inline(always)]
                |[$($operand),+]| $value,
            )
        };
    }
    /// The lane that each lane reads, as a function of its number and its operand.
    macro_rules! shuffle {
        (|$lane:pat_param, $b:ident| $source:expr) => {
            whole!(1, |rows, out| wave::shuffle(
                rows,
                out,
                #[inline(always)]
                |$lane: u32, $b: u32| $source
            ))
        };
    }
    /// The fold of an associative and commutative function with this neutral element.
    macro_rules! reduce {
        ($identity:expr, |$a:ident, $b:ident| $both:expr) => {
            whole!(1, |rows, out| {
                wave::reduce(
                    rows,
                    context,
                    out,
                    $identity,
                    #[inline(always)]
                    |$a: u32, $b: u32| $both,
                )
            })
        };
    }
    match op {
        Op::IAdd => map!(2, u32::wrapping_add),
        Op::ISub => map!(2, u32::wrapping_sub),
        Op::IMul => map!(2, u32::wrapping_mul),
        Op::IMulHi => map!(2, int::imul_hi),
        Op::IMad => map!(3, int::imad),
        Op::IDiv => map!(2, int::idiv),
        Op::IMod => map!(2, int::imod),
        Op::INeg => map!(1, u32::wrapping_neg),
        Op::IAbs => map!(1, int::iabs),
        Op::IMin => map!(2, int::imin),
        Op::IMax => map!(2, int::imax),
        Op::IClamp => map!(3, int::iclamp),
        Op::UMin => each!(|a, b| a.min(b)),
        Op::UMax => each!(|a, b| a.max(b)),
        Op::And => each!(|a, b| a & b),
        Op::Or => each!(|a, b| a | b),
        Op::Xor => each!(|a, b| a ^ b),
        Op::Not => each!(|a| !a),
        Op::Shl => map!(2, u32::wrapping_shl),
        Op::Shr => map!(2, u32::wrapping_shr),
        Op::Sar => map!(2, int::sar),
        Op::BitCount => map!(1, u32::count_ones),
        Op::BitFind => map!(1, int::bitfind),
        Op::BitRev => map!(1, u32::reverse_bits),
        Op::Bfe => map!(3, int::bfe),
        Op::Bfi => map!(4, int::bfi),

        Op::FAdd => map!(2, f32::fadd),
        Op::FSub => map!(2, f32::fsub),
        Op::FMul => map!(2, f32::fmul),
        Op::Fma => map!(3, f32::fma::<FMA>),
        Op::FDiv => map!(2, f32::fdiv),
        Op::FNeg => map!(1, f32::fneg),
        Op::FAbs => map!(1, f32::fabs),
        Op::FMin => map!(2, f32::fmin),
        Op::FMax => map!(2, f32::fmax),
        Op::FClamp => map!(3, f32::fclamp),
        Op::FSqrt => map!(1, f32::fsqrt),
        Op::FRsqrt => map!(1, f32::frsqrt),
        Op::FRcp => map!(1, f32::frcp),
        Op::FFloor => map!(1, f32::ffloor),
        Op::FCeil => map!(1, f32::fceil),
        Op::FRound => map!(1, f32::fround),
        Op::FTrunc => map!(1, f32::ftrunc),
        Op::FFract => map!(1, f32::ffract),
        Op::FSat => map!(1, f32::fsat),
        Op::FSin => map!(1, sfu::fsin),
        Op::FCos => map!(1, sfu::fcos),
        Op::FExp2 => map!(1, sfu::fexp2),
        Op::FLog2 => map!(1, sfu::flog2),

        Op::HAdd => map!(2, half::hadd),
        Op::HSub => map!(2, half::hsub),
        Op::HMul => map!(2, half::hmul),
        Op::HMa => map!(3, half::hma),
        Op::HAdd2 => map!(2, half::hadd2),
        Op::HMul2 => map!(2, half::hmul2),
        Op::HMa2 => map!(3, half::hma2),
        Op::BAdd => map!(2, half::badd),
        Op::BSub => map!(2, half::bsub),
        Op::BMul => map!(2, half::bmul),
        Op::BMa => map!(3, half::bma::<FMA>),
        Op::BAdd2 => map!(2, half::badd2),
        Op::BMul2 => map!(2, half::bmul2),
        Op::BMa2 => map!(3, half::bma2::<FMA>),

        Op::DAdd => pairs!(|a, b| a + b),
        Op::DSub => pairs!(|a, b| a - b),
        Op::DMul => pairs!(|a, b| a * b),
        Op::DMa => pairs!(|a, b, c| a.mul_add(b, c)),
        Op::DDiv => pairs!(|a, b| a / b),
        Op::DSqrt => pairs!(|a| a.sqrt()),

        Op::CvtF32I32 => map!(1, convert::f32_from_i32),
        Op::CvtF32U32 => map!(1, convert::f32_from_u32),
        Op::CvtI32F32 => map!(1, convert::i32_from_f32),
        Op::CvtU32F32 => map!(1, convert::u32_from_f32),
        Op::CvtF32F16 => map!(1, convert::f32_from_f16),
        Op::CvtF16F32 => map!(1, convert::f16_from_f32),
        Op::CvtF32F64 => whole!(1, |rows, out| f64::to_f32(rows, out)),
        Op::CvtF64F32 => whole!(2, |rows, out| f64::from_f32(rows, out)),
        Op::CvtF32Bf16 => map!(1, convert::f32_from_bf16),
        Op::CvtBf16F32 => map!(1, convert::bf16_from_f32),

        Op::ICmpEq | Op::UCmpEq => return lanes!(|a, b| a == b),
        Op::ICmpNe | Op::UCmpNe => return lanes!(|a, b| a != b),
        Op::ICmpLt => return lanes!(|a, b| compare::ilt(a, b)),
        Op::ICmpLe => return lanes!(|a, b| compare::ile(a, b)),
        Op::ICmpGt => return lanes!(|a, b| compare::ilt(b, a)),
        Op::ICmpGe => return lanes!(|a, b| compare::ile(b, a)),
        Op::UCmpLt => return lanes!(|a, b| a < b),
        Op::UCmpLe => return lanes!(|a, b| a <= b),
        Op::UCmpGt => return lanes!(|a, b| a > b),
        Op::UCmpGe => return lanes!(|a, b| a >= b),
        Op::FCmpEq => return lanes!(|a, b| compare::feq(a, b)),
        Op::FCmpNe => return lanes!(|a, b| !compare::feq(a, b)),
        Op::FCmpLt => return lanes!(|a, b| compare::flt(a, b)),
        Op::FCmpLe => return lanes!(|a, b| compare::fle(a, b)),
        Op::FCmpGt => return lanes!(|a, b| compare::flt(b, a)),
        Op::FCmpGe => return lanes!(|a, b| compare::fle(b, a)),
        Op::FCmpOrd => return lanes!(|a, b| !compare::unordered(a, b)),
        Op::FCmpUnord => return lanes!(|a, b| compare::unordered(a, b)),

        Op::Select => rows.select(context.pred),
        Op::Mov => each!(|a| a),
        Op::MovImm => rows.fill(context.imm),

        Op::WaveShuffle => shuffle!(|_, b| b),
        Op::WaveShuffleUp => shuffle!(|lane, b| lane.wrapping_sub(b)),
        Op::WaveShuffleDown => shuffle!(|lane, b| lane.wrapping_add(b)),
        Op::WaveShuffleXor => shuffle!(|lane, b| lane ^ b),
        Op::WaveBroadcast => whole!(1, |rows, out| wave::broadcast(rows, context, out)),
        Op::WaveBallot => whole!(1, |_, out| wave::ballot(context, out)),
        Op::WaveAny => return if context.pred & context.mask != 0 { context.mask } else { 0 },
        Op::WaveAll => return if !context.pred & context.mask == 0 { context.mask } else { 0 },
        Op::WavePrefixSum => whole!(1, |rows, out| wave::prefix_sum(rows, context, out)),
        Op::WaveReduceAdd => reduce!(0, |a, b| a.wrapping_add(b)),
        Op::WaveReduceMin => reduce!(u32::MAX, |a, b| a.min(b)),
        Op::WaveReduceMax => reduce!(0, |a, b| a.max(b)),
        Op::WaveReduceAnd => reduce!(u32::MAX, |a, b| a & b),
        Op::WaveReduceOr => reduce!(0, |a, b| a | b),
        Op::WaveReduceXor => reduce!(0, |a, b| a ^ b),

        _ => panic!("`{}` is not lane arithmetic", op.info().mnemonic),
    }
    0
}
