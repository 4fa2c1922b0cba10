//! Rows: a word for each lane of a wave, and the three forms that a row has in a file.

/// Form of a row in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Word by word.
    Words,
    /// One value in every participating lane.
    Uniform(u32),
    /// Values that differ by the same step from one participating lane to the next.
    Steps {
        /// Value of the lowest lane.
        first: u32,
        /// Difference to the next lane's value, modulo 2³².
        step: u32,
    },
}

impl Row {
    /// The shortest form of a row for the lanes of a mask. A row without participating lanes is uniform.
    pub fn of(row: &[u32], mask: u64) -> Row {
        if mask == all(row.len()) {
            return Row::of_words(row.iter().copied());
        }
        Row::of_words(lanes(mask).map(|lane| row[lane]))
    }

    #[inline]
    fn of_words(mut words: impl Iterator<Item = u32>) -> Row {
        let first = words.next().unwrap_or(0);
        let Some(second) = words.next() else { return Row::Uniform(first) };
        let step = second.wrapping_sub(first);
        let mut expected = second;
        let steady = words.all(|word| {
            expected = expected.wrapping_add(step);
            word == expected
        });
        match (steady, step) {
            (false, _) => Row::Words,
            (true, 0) => Row::Uniform(first),
            (true, step) => Row::Steps { first, step },
        }
    }
}

/// The mask of the lowest `width` lanes, 1 to 64.
pub fn all(width: usize) -> u64 {
    u64::MAX >> (64 - width)
}

/// The lanes of a mask, lowest first.
pub fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(lane)
    })
}

/// Appends a row of `width` words: the words of `source` in the lanes of the mask, 0 in the others.
pub(crate) fn push_masked(rows: &mut Vec<u32>, source: &[u32], mask: u64) {
    let at = rows.len();
    rows.extend_from_slice(source);
    if mask != all(source.len()) {
        for (lane, word) in rows[at..].iter_mut().enumerate() {
            *word &= 0u32.wrapping_sub((mask >> lane & 1) as u32);
        }
    }
}

/// Appends rows of `width` words, each as [`push_masked`] does.
pub(crate) fn push_rows(rows: &mut Vec<u32>, source: &[u32], width: usize, mask: u64) {
    source.chunks_exact(width).for_each(|row| push_masked(rows, row, mask));
}

/// Appends a row of `width` words with these values in the lanes of the mask, from the lowest up. `None` if there are
/// fewer values than lanes.
pub(crate) fn push_values(
    rows: &mut Vec<u32>,
    width: usize,
    mask: u64,
    mut values: impl Iterator<Item = u32>,
) -> Option<()> {
    let at = rows.len();
    rows.resize(at + width, 0);
    for lane in lanes(mask) {
        rows[at + lane] = values.next()?;
    }
    Some(())
}

/// Appends a row of the form *uniform* or *steps*.
pub(crate) fn push_form(rows: &mut Vec<u32>, width: usize, mask: u64, first: u32, step: u32) {
    let mut value = first;
    let values = std::iter::from_fn(|| {
        let this = value;
        value = value.wrapping_add(step);
        Some(this)
    });
    push_values(rows, width, mask, values).expect("the values do not end");
}
