//! Operands for the units: every tuple of special values, then random operands that are likely to matter.

use crate::bench::{LANES, Request};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::table::TABLE;
use wave_isa::{ExecClass, Field, Op, Role};
use wave_testing::operands::{Kind, kind};

/// All operations of these classes that the units execute. `mov_sr` reads no register: the core passes the
/// row to the unit.
pub(crate) fn operations(classes: &[ExecClass]) -> Vec<Op> {
    let has_unit = |op: &Op| classes.contains(&op.info().class) && !matches!(op, Op::MovSr | Op::Nop);
    TABLE.iter().map(|info| info.op).filter(has_unit).collect()
}

/// All tuples of special values, then `random` lanes of random values, determined by the seed.
fn requests(op: Op, random: usize, seed: u64) -> impl Iterator<Item = Request> + Send {
    let mut rng = Pcg64Mcg::seed_from_u64(seed ^ (op as u64) << 32);
    let sources = op.info().operands.iter().filter(|operand| matches!(operand.role, Role::Src(_)));
    let fields: Vec<usize> = sources
        .map(|operand| match operand.field {
            Field::Rs1 => 0,
            Field::Rs2 => 1,
            Field::Rs3 => 2,
            _ => 3,
        })
        .collect();
    let values = kind(op).special();
    // Bit-field operations have four operands, which would give too many tuples.
    let tuples = if fields.len() == 4 { 0 } else { values.len().pow(fields.len() as u32) };
    let lanes = tuples + random;
    (0..lanes.div_ceil(LANES)).map(move |group| {
        let mut request = Request {
            op,
            mask: lanes_of(&mut rng),
            select: lanes_of(&mut rng),
            imm: rng.next_u32(),
            rows: [[0; LANES]; 4],
        };
        if op.info().class == ExecClass::Wave {
            wave_rows(&mut rng, &mut request);
            return request;
        }
        for lane in 0..LANES {
            let index = group * LANES + lane;
            let tuple = if index < tuples {
                let pick = |place: usize| values[index / values.len().pow(place as u32) % values.len()];
                // The high halves hold a different pair of operands.
                let high = kind(op).high_half();
                [0, 1, 2, 3]
                    .map(|place| if place < fields.len() { pick(place) | pick(place) << high } else { 0 })
            } else if op.info().class == ExecClass::Sfu && rng.random_range(0..8) == 0 {
                // Near multiples of pi/2, most of the argument cancels.
                let quadrants = f64::from(rng.random_range(1..700u32));
                [(quadrants * std::f64::consts::FRAC_PI_2) as f32; 4].map(f32::to_bits)
            } else {
                kind(op).random_tuple(&mut rng)
            };
            for (&field, value) in fields.iter().zip(tuple) {
                request.rows[field][lane] = value;
            }
        }
        request
    })
}

/// Interleaves [`requests`] of several operations, so that a unit has different operations in its stages and
/// all units of a group are busy at the same time.
pub(crate) fn mixture(ops: &[Op], random: usize, seed: u64) -> impl Iterator<Item = Request> + Send + use<> {
    let mut streams: Vec<_> = ops.iter().map(|&op| requests(op, random, seed)).collect();
    let mut turn = 0;
    std::iter::from_fn(move || {
        while !streams.is_empty() {
            turn = (turn + 1) % streams.len();
            match streams[turn].next() {
                Some(request) => return Some(request),
                None => drop(streams.swap_remove(turn)),
            }
        }
        None
    })
}

/// A random non-empty lane mask with any, few or many lanes. Instructions without a lane never reach a unit.
fn lanes_of(rng: &mut Pcg64Mcg) -> u32 {
    let one = 1 << rng.random_range(0..8);
    let any = rng.next_u32() & 0xFF | one;
    match rng.random_range(0..8) {
        0 => 0xFF,
        1 => one,
        2 => 0xFF ^ one,
        3 => any & rng.next_u32() | one,
        _ => any,
    }
}

/// Values, and lane numbers inside and outside the wave.
fn wave_rows(rng: &mut Pcg64Mcg, request: &mut Request) {
    for lane in 0..LANES {
        request.rows[0][lane] = Kind::Integer.random_tuple(rng)[0];
        request.rows[1][lane] = match rng.random_range(0..4) {
            0 => rng.random_range(0..2 * LANES as u32),
            1 => rng.random_range(0..LANES as u32).wrapping_neg(),
            2 => Kind::Integer.random_tuple(rng)[0],
            _ => rng.random_range(0..LANES as u32),
        };
    }
}
