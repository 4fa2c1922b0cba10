//! Results do not depend on the width of a wave: each lane gets what it would get in a wave of one lane.

use super::{HostVectors, LaneContext, execute};
use crate::alu::{RowOp, update};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::{ExecClass, MAX_WAVE_WIDTH, Op, Role, table::TABLE};

/// Operations that work on each lane separately.
fn elementwise() -> impl Iterator<Item = Op> {
    use ExecClass::*;
    let foreign = [LocalMemory, DeviceMemory, Control, Sync, Mma, Wave];
    TABLE
        .iter()
        .filter(move |info| !foreign.contains(&info.class))
        .map(|info| info.op)
        .filter(|op| !matches!(op, Op::Nop | Op::MovSr))
}

fn source_rows(op: Op) -> usize {
    op.info().operands.iter().map(|o| if let Role::Src(n) = o.role { usize::from(n) } else { 0 }).sum()
}

fn destination_rows(op: Op) -> usize {
    op.info().operands.iter().map(|o| if let Role::Dst(n) = o.role { usize::from(n) } else { 0 }).sum()
}

#[test]
fn a_wave_computes_what_its_lanes_compute_one_by_one() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for op in elementwise() {
        for lanes in [4, 8, 16, 32, MAX_WAVE_WIDTH] {
            let rows: Vec<Vec<u32>> = (0..source_rows(op))
                .map(|_| (0..lanes).map(|_| rng.next_u32() >> if rng.random() { 0 } else { 16 }).collect())
                .collect();
            let context = LaneContext { mask: u64::MAX, pred: rng.next_u64(), imm: rng.next_u32() };
            let refs: Vec<&[u32]> = rows.iter().map(|row| &row[..]).collect();
            let mut out = vec![0; destination_rows(op) * lanes];
            let mask = execute(op, &refs, context, &mut out);
            for lane in 0..lanes {
                let one: Vec<&[u32]> = rows.iter().map(|row| &row[lane..=lane]).collect();
                let mut one_out = vec![0; destination_rows(op)];
                let one_context = LaneContext { pred: context.pred >> lane, ..context };
                let one_mask = execute(op, &one, one_context, &mut one_out);
                assert_eq!(mask >> lane & 1, one_mask & 1, "{op:?}, lane {lane} of {lanes}");
                for (index, &value) in one_out.iter().enumerate() {
                    assert_eq!(out[index * lanes + lane], value, "{op:?}, lane {lane} of {lanes}");
                }
            }
            assert_eq!(mask.checked_shr(lanes as u32).unwrap_or(0), 0, "{op:?}: lanes past the wave");
        }
    }
}

#[test]
fn registers_are_updated_in_the_lanes_that_take_part_from_what_they_held_before() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    for op in elementwise() {
        for (width, full) in [(8, false), (32, true), (32, false), (MAX_WAVE_WIDTH, false)] {
            let all = u64::MAX >> (64 - width);
            let context = LaneContext {
                mask: if full { all } else { rng.next_u64() & all },
                pred: rng.next_u64(),
                imm: rng.next_u32(),
            };
            // Rows may be named twice, and the result may replace an operand.
            let sources: [u8; 6] = std::array::from_fn(|_| rng.random_range(0..6));
            let destination = rng.random_range(0..6);
            let before: Vec<u32> = (0..8 * width).map(|_| rng.next_u32()).collect();
            let row = |row: u8| &before[usize::from(row) * width..][..width];
            let operands: Vec<&[u32]> = sources[..source_rows(op)].iter().map(|&r| row(r)).collect();
            let mut result = vec![0; destination_rows(op) * width];
            let lanes = execute(op, &operands, context, &mut result);
            let mut expected = before.clone();
            for (i, &value) in result.iter().enumerate() {
                if context.mask >> (i % width) & 1 == 1 {
                    expected[usize::from(destination) * width + i] = value;
                }
            }
            for host in [HostVectors::Scalar, HostVectors::new()] {
                let mut rows = before.clone();
                let row_op = RowOp {
                    op,
                    sources,
                    source_rows: source_rows(op) as u8,
                    destination,
                    destination_rows: destination_rows(op) as u8,
                    imm: context.imm,
                };
                let mut scratch = vec![0; 2 * width];
                let of_lanes = (context.mask, context.pred);
                let found = update(host, &row_op, &mut rows, width, of_lanes, &mut scratch);
                assert_eq!(found, lanes, "{op:?}");
                assert_eq!(rows, expected, "{op:?} of {width} lanes on {host:?}");
            }
        }
    }
}
