//! Copies of rectangles in memory: rows of bytes.

use super::error::ClError;
use super::{Done, check};
use crate::ffi::In;

/// Where the rows of one side lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    /// Where the first row begins, within its plane and row: bytes, rows, planes.
    origin: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
}

/// Rows of equal length in planes, on two sides of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// Bytes of a row, rows of a plane, planes.
    region: [usize; 3],
    first: Side,
    second: Side,
}

/// An origin, or a size, as programs give it.
pub(super) fn three(values: In<usize>) -> Done<[usize; 3]> {
    let value = |number| values.nth(number).ok_or(ClError::InvalidValue);
    Ok([value(0)?, value(1)?, value(2)?])
}

impl Side {
    /// A side; a pitch of 0 means that rows, or planes, lie close together.
    pub(super) fn new(
        origin: [usize; 3],
        region: [usize; 3],
        row_pitch: usize,
        slice_pitch: usize,
    ) -> Done<Side> {
        check(!region.contains(&0), ClError::InvalidValue)?;
        let row_pitch = if row_pitch == 0 { region[0] } else { row_pitch };
        check(row_pitch >= region[0], ClError::InvalidValue)?;
        let least = region[1].checked_mul(row_pitch).ok_or(ClError::InvalidValue)?;
        let slice_pitch = if slice_pitch == 0 { least } else { slice_pitch };
        check(slice_pitch >= least && slice_pitch.is_multiple_of(row_pitch), ClError::InvalidValue)?;
        let side = Side { origin, row_pitch, slice_pitch };
        // So later sums fit a usize.
        check(side.wide_end(region) <= usize::MAX as u128, ClError::InvalidValue)?;
        Ok(side)
    }

    /// The end of the last row.
    fn wide_end(&self, [bytes, rows, planes]: [usize; 3]) -> u128 {
        let last = [
            self.origin[0],
            self.origin[1].saturating_add(rows - 1),
            self.origin[2].saturating_add(planes - 1),
        ];
        let pitches = [1, self.row_pitch, self.slice_pitch];
        let start: u128 = last.iter().zip(pitches).map(|(&count, pitch)| count as u128 * pitch as u128).sum();
        start + bytes as u128
    }

    fn start(&self) -> usize {
        self.origin[0] + self.origin[1] * self.row_pitch + self.origin[2] * self.slice_pitch
    }

    /// An error if it does not lie within so many bytes.
    pub(super) fn fits(&self, region: [usize; 3], bytes: usize) -> Done {
        check(self.wide_end(region) <= bytes as u128, ClError::InvalidValue)
    }
}

impl Rows {
    pub(super) fn new(region: [usize; 3], first: Side, second: Side) -> Rows {
        Rows { region, first, second }
    }

    /// Bytes without gaps.
    pub(super) fn line(first: usize, second: usize, bytes: usize) -> Rows {
        let side = |start| Side { origin: [start, 0, 0], row_pitch: bytes, slice_pitch: bytes };
        Rows { region: [bytes, 1, 1], first: side(first), second: side(second) }
    }

    /// Offsets on both sides and length of each row. Rows that lie close together on both sides are one.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let Rows { mut region, first, second } = *self;
        let (mut steps_of_first, mut steps_of_second) =
            ([first.row_pitch, first.slice_pitch], [second.row_pitch, second.slice_pitch]);
        let is_close = |bytes: usize, rows: usize, pitches: [usize; 2]| rows == 1 || pitches == [bytes; 2];
        if is_close(region[0], region[1], [first.row_pitch, second.row_pitch]) {
            region = [region[0] * region[1], region[2], 1];
            (steps_of_first, steps_of_second) = ([first.slice_pitch, 0], [second.slice_pitch, 0]);
            if is_close(region[0], region[1], [first.slice_pitch, second.slice_pitch]) {
                region = [region[0] * region[1], 1, 1];
            }
        }
        let [bytes, rows, planes] = region;
        let places = (0..planes).flat_map(move |plane| (0..rows).map(move |row| [row, plane]));
        places.map(move |[row, plane]| {
            let at = |start: usize, steps: [usize; 2]| start + row * steps[0] + plane * steps[1];
            (at(first.start(), steps_of_first), at(second.start(), steps_of_second), bytes)
        })
    }

    /// True if the two sides, in one buffer with the same pitches, may share a byte: `check_copy_overlap` of the standard.
    pub(super) fn overlaps(&self) -> bool {
        let Rows { region: [bytes, rows, planes], first, second } = *self;
        let (row_pitch, slice_pitch) = (first.row_pitch, first.slice_pitch);
        let slice = (rows - 1) * row_pitch + bytes;
        let block = (planes - 1) * slice_pitch + slice;
        let (from, to) = (first.start(), second.start());
        let is_beside = |one: usize, other: usize, size: usize, pitch: usize| {
            let is_after = |one: usize, other: usize| {
                other >= one.saturating_add(size) && other.saturating_add(size) <= one.saturating_add(pitch)
            };
            is_after(one, other) || is_after(other, one)
        };
        let in_row = |side: Side| side.origin[0] % row_pitch;
        let in_slice = |side: Side| (side.origin[1] * row_pitch + side.origin[0]) % slice_pitch;
        from < to + block
            && to < from + block
            && !is_beside(in_row(first), in_row(second), bytes, row_pitch)
            && !is_beside(in_slice(first), in_slice(second), slice, slice_pitch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(origin: [usize; 3], region: [usize; 3], row_pitch: usize, slice_pitch: usize) -> Side {
        Side::new(origin, region, row_pitch, slice_pitch).expect("a side")
    }

    #[test]
    fn rows_lie_where_origins_and_pitches_say() {
        let region = [4, 2, 2];
        let rows = Rows::new(region, side([1, 2, 1], region, 10, 50), side([0; 3], region, 0, 0));
        assert_eq!(rows.iter().collect::<Vec<_>>(), [(71, 0, 4), (81, 4, 4), (121, 8, 4), (131, 12, 4)]);
        let close = Rows::new(region, side([0; 3], region, 0, 16), side([8, 0, 0], region, 4, 0));
        assert_eq!(close.iter().collect::<Vec<_>>(), [(0, 8, 8), (16, 16, 8)]);
        let all = Rows::new(region, side([0; 3], region, 0, 0), side([0; 3], region, 0, 0));
        assert_eq!(all.iter().collect::<Vec<_>>(), [(0, 0, 16)]);
        assert_eq!(Rows::line(3, 5, 7).iter().collect::<Vec<_>>(), [(3, 5, 7)]);
    }

    #[test]
    fn rectangles_that_make_no_sense_are_errors() {
        let wrong = [
            ([0, 1, 1], 0, 0),
            ([4, 1, 1], 3, 0),
            ([4, 2, 1], 4, 7),
            ([4, 2, 1], 8, 20),
            ([4, usize::MAX, 1], 4, 0),
        ];
        for (region, row_pitch, slice_pitch) in wrong {
            assert_eq!(
                Side::new([0; 3], region, row_pitch, slice_pitch),
                Err(ClError::InvalidValue),
                "{region:?}"
            );
        }
        assert_eq!(Side::new([usize::MAX, 1, 1], [1; 3], 1, 1), Err(ClError::InvalidValue));
        let region = [4, 2, 2];
        let found = side([1, 2, 1], region, 10, 50);
        assert_eq!((found.fits(region, 135), found.fits(region, 134)), (Ok(()), Err(ClError::InvalidValue)));
    }

    #[test]
    fn overlaps_are_found_where_bytes_are_shared() {
        let region = [4, 2, 1];
        let overlaps = |from: [usize; 3], to: [usize; 3]| {
            Rows::new(region, side(from, region, 10, 50), side(to, region, 10, 50)).overlaps()
        };
        assert!(overlaps([0, 0, 0], [3, 0, 0]) && overlaps([0, 1, 0], [2, 0, 0]) && overlaps([0; 3], [0; 3]));
        assert!(
            !overlaps([0, 0, 0], [4, 0, 0])
                && !overlaps([0, 0, 0], [0, 2, 0])
                && !overlaps([0; 3], [0, 0, 1])
        );
    }
}
