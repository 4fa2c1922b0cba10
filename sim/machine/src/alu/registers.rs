//! One instruction on the registers of a wave, in place.

use super::lanes::{Apart, Rows, merge_row};
use super::{HostVectors, LaneContext, execute, execute_on, f64, merge};
use pulp::{Simd, WithSimd};
use wave_isa::Op;

/// Most source rows of an instruction (`dma`: three pairs).
pub(crate) const MAX_SOURCE_ROWS: usize = 6;

/// Lanes of nearly every machine; instructions of such waves are compiled for this constant.
pub(crate) const LANES: usize = 32;

/// A row of as many lanes.
type Row = [u32; LANES];

/// Lane arithmetic with the rows that it reads and writes, numbers of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowOp {
    /// The operation.
    pub op: Op,
    /// Source rows in operand order; behind `source_rows` any row that exists, which may be read in vain.
    pub sources: [u8; MAX_SOURCE_ROWS],
    /// Number of source rows.
    pub source_rows: u8,
    /// The first row of the result.
    pub destination: u8,
    /// Rows of the result.
    pub destination_rows: u8,
    /// The literal of `mov_imm`.
    pub imm: u32,
}

/// Runs an instruction on `registers`, the registers of a wave: rows of `width` lanes, concatenated. The result replaces
/// the destination in the lanes `mask`; `pred` is that of [`LaneContext`]. `result` is scratch space for two rows. Returns
/// the lanes whose predicate result is true, as [`execute`] does.
///
/// # Panics
/// As [`execute`], and if a row is not among the registers or `result` is too short.
// Not inlined: every copy of it has all operations, and one is as fast.
#[inline(never)]
pub(crate) fn update(
    host: HostVectors,
    op: &RowOp,
    registers: &mut [u32],
    width: usize,
    (mask, pred): (u64, u64),
    result: &mut [u32],
) -> u64 {
    match width {
        LANES => host.dispatch(Update { op, registers, lanes: (mask, pred) }),
        _ => update_apart(host, op, registers, width, (mask, pred), result),
    }
}

/// [`update`] for any number of lanes: through rows that lie apart.
fn update_apart(
    host: HostVectors,
    op: &RowOp,
    registers: &mut [u32],
    width: usize,
    (mask, pred): (u64, u64),
    result: &mut [u32],
) -> u64 {
    let mut operands: [&[u32]; MAX_SOURCE_ROWS] = [&[]; MAX_SOURCE_ROWS];
    let operands = &mut operands[..usize::from(op.source_rows)];
    for (operand, &row) in operands.iter_mut().zip(&op.sources) {
        *operand = &registers[usize::from(row) * width..][..width];
    }
    let out = &mut result[..usize::from(op.destination_rows) * width];
    let predicate = execute(host, op.op, operands, LaneContext { mask, pred, imm: op.imm }, out);
    let first = usize::from(op.destination) * width;
    for (from, into) in out.chunks_exact(width).zip(registers[first..].chunks_exact_mut(width)) {
        merge(host, mask, from, into);
    }
    predicate
}

/// [`update`] for rows of [`LANES`] lanes.
struct Update<'a> {
    op: &'a RowOp,
    registers: &'a mut [u32],
    lanes: (u64, u64),
}

impl WithSimd for Update<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        let Update { op, registers, lanes } = self;
        if S::IS_SCALAR {
            // Few hosts have no vectors. All operations are not compiled once more for them.
            let mut result = [0; 2 * LANES];
            return update_apart(HostVectors::Scalar, op, registers, LANES, lanes, &mut result);
        }
        update_rows(simd, op, registers, lanes)
    }
}

/// [`update`] for rows of [`LANES`] lanes, with the instructions of a kind of host.
#[inline(always)]
pub(crate) fn update_rows<S: Simd>(
    simd: S,
    op: &RowOp,
    registers: &mut [u32],
    (mask, pred): (u64, u64),
) -> u64 {
    let context = LaneContext { mask, pred, imm: op.imm };
    execute_on(simd, op.op, InPlace { op, rows: registers.as_chunks_mut().0, mask }, context)
}

/// Rows among the registers of a wave.
struct InPlace<'a> {
    op: &'a RowOp,
    rows: &'a mut [Row],
    mask: u64,
}

impl InPlace<'_> {
    /// Replaces the destination in the lanes of the mask by what `f` makes of the first source rows.
    #[inline(always)]
    fn replace<const N: usize>(self, f: impl FnOnce(Apart)) {
        let mut result = [0; LANES];
        f(Apart { rows: &self.sources::<N>(), out: &mut result });
        self.write([result]);
    }

    #[inline(always)]
    fn sources<const N: usize>(&self) -> [&[u32]; N] {
        let mut sources = [&[][..]; N];
        for (source, &row) in sources.iter_mut().zip(&self.op.sources) {
            *source = &self.rows[usize::from(row)];
        }
        sources
    }

    /// Writes the destination rows in the lanes of the mask.
    #[inline(always)]
    fn write<const R: usize>(self, result: [Row; R]) {
        let first = usize::from(self.op.destination);
        for (into, from) in self.rows[first..first + R].iter_mut().zip(result) {
            if self.mask == u64::MAX >> (64 - LANES) {
                *into = from;
            } else {
                merge_row(self.mask, &from, into);
            }
        }
    }
}

// The closures are inlined whatever their size: as functions of their own they would lack the host's vector instructions.
impl Rows for InPlace<'_> {
    #[inline(always)]
    fn map1(self, f: impl Fn(u32) -> u32) {
        self.replace::<1>(
            #[inline(always)]
            |rows| rows.map1(f),
        );
    }

    #[inline(always)]
    fn map2(self, f: impl Fn(u32, u32) -> u32) {
        self.replace::<2>(
            #[inline(always)]
            |rows| rows.map2(f),
        );
    }

    #[inline(always)]
    fn map3(self, f: impl Fn(u32, u32, u32) -> u32) {
        self.replace::<3>(
            #[inline(always)]
            |rows| rows.map3(f),
        );
    }

    #[inline(always)]
    fn map4(self, f: impl Fn(u32, u32, u32, u32) -> u32) {
        self.replace::<4>(
            #[inline(always)]
            |rows| rows.map4(f),
        );
    }

    #[inline(always)]
    fn fill(self, value: u32) {
        self.replace::<0>(
            #[inline(always)]
            |rows| rows.fill(value),
        );
    }

    #[inline(always)]
    fn select(self, mask: u64) {
        self.replace::<2>(
            #[inline(always)]
            |rows| rows.select(mask),
        );
    }

    #[inline(always)]
    fn pairs<const N: usize>(self, f: impl Fn([f64; N]) -> f64) {
        let mut pairs = [[&self.rows[0]; 2]; N];
        for (pair, [low, high]) in pairs.iter_mut().zip(self.op.sources.as_chunks().0) {
            *pair = [&self.rows[usize::from(*low)], &self.rows[usize::from(*high)]];
        }
        let (mut low, mut high) = ([0; LANES], [0; LANES]);
        f64::map(LANES, pairs, [&mut low, &mut high], f);
        self.write([low, high]);
    }

    #[inline(always)]
    fn lanes_where(self, f: impl Fn(u32, u32) -> bool) -> u64 {
        Apart { rows: &self.sources::<2>(), out: &mut [] }.lanes_where(f)
    }

    #[inline(always)]
    fn whole<const R: usize>(self, f: impl FnOnce(&[&[u32]], &mut [u32])) {
        let sources: [_; MAX_SOURCE_ROWS] = self.sources();
        let mut result = [[0; LANES]; R];
        f(&sources[..usize::from(self.op.source_rows)], result.as_flattened_mut());
        self.write(result);
    }
}
