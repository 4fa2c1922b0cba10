//! Berkeley SoftFloat for binary32, which shares no code with the simulator's arithmetic.

use softfloat_wrapper::{F32, Float, RoundingMode};
use wave_isa::Op;

const EVEN: RoundingMode = RoundingMode::TiesToEven;

/// The result of an operation on f32 by IEEE 754, `None` for one that SoftFloat does not have.
pub(crate) fn binary32(op: Op, [a, b, c, _]: [u32; 4]) -> Option<u32> {
    let [a, b, c] = [a, b, c].map(F32::from_bits);
    let one = F32::from_bits(0x3F80_0000);
    let value = match op {
        Op::FAdd => a.add(b, EVEN),
        Op::FSub => a.sub(b, EVEN),
        Op::FMul => a.mul(b, EVEN),
        Op::Fma => a.fused_mul_add(b, c, EVEN),
        Op::FDiv => a.div(b, EVEN),
        Op::FSqrt => a.sqrt(EVEN),
        Op::FRsqrt => one.div(a.sqrt(EVEN), EVEN),
        Op::FRcp => one.div(a, EVEN),
        Op::FFloor => a.round_to_integral(RoundingMode::TowardNegative),
        Op::FCeil => a.round_to_integral(RoundingMode::TowardPositive),
        Op::FRound => a.round_to_integral(EVEN),
        Op::FTrunc => a.round_to_integral(RoundingMode::TowardZero),
        _ => return None,
    };
    Some(if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() })
}
