//! Reference results whose work depends on the data.

use super::super::expression::{Failure, Value};
use std::collections::VecDeque;

/// Number of occurrences of each of 0 .. bins.
pub(super) fn histogram(values: &[f64], bins: usize) -> Result<Vec<f64>, Failure> {
    let mut counts = vec![0.0; bins];
    for &value in values {
        counts[position("bins", bins, value)?] += 1.0;
    }
    Ok(counts)
}

/// Steps until |z| > 2 for each pixel, in f32. The operations and their order are part of the definition,
/// because the edge of the set amplifies every rounding.
pub(super) fn mandelbrot(
    pixels: usize,
    width: usize,
    origin: (f32, f32),
    step: (f32, f32),
    limit: usize,
) -> Vec<f64> {
    let steps = |pixel: usize| {
        let c = ((pixel % width) as f32 * step.0 + origin.0, (pixel / width) as f32 * step.1 + origin.1);
        let mut z = (0f32, 0f32);
        let mut steps = 0;
        while steps < limit {
            let square = (z.0 * z.0, z.1 * z.1);
            if square.0 + square.1 > 4.0 {
                break;
            }
            let product = z.0 * z.1;
            z = (square.0 - square.1 + c.0, product + product + c.1);
            steps += 1;
        }
        steps as f64
    };
    (0..pixels).map(steps).collect()
}

/// The entries of each row, as a range.
fn rows(offsets: &[f64], entries: usize) -> Result<Vec<std::ops::Range<usize>>, Failure> {
    let row = |pair: &[f64]| {
        let (start, end) = (pair[0] as usize, pair[1] as usize);
        if start <= end && end <= entries {
            Ok(start..end)
        } else {
            Err(Failure::new(format!("offsets {start} to {end} are no row of {entries} entries")))
        }
    };
    offsets.windows(2).map(row).collect()
}

/// A value as an index into something with `length` elements.
fn position(what: &str, length: usize, value: f64) -> Result<usize, Failure> {
    if value >= 0.0 && value < length as f64 && value.fract() == 0.0 {
        Ok(value as usize)
    } else {
        Err(Failure::new(format!("there are {length} {what}, none with index {value}")))
    }
}

/// Distances from `source`; 0xFFFFFFFF if there is no path.
pub(super) fn bfs_depths(offsets: &[f64], columns: &[f64], source: usize) -> Result<Vec<f64>, Failure> {
    let rows = rows(offsets, columns.len())?;
    let vertices = rows.len();
    let mut depths = vec![f64::from(u32::MAX); vertices];
    depths[position("vertices", vertices, source as f64)?] = 0.0;
    let mut queue = VecDeque::from([source]);
    while let Some(vertex) = queue.pop_front() {
        for &neighbour in &columns[rows[vertex].clone()] {
            let neighbour = position("vertices", vertices, neighbour)?;
            let next = depths[vertex] + 1.0;
            if depths[neighbour] > next {
                depths[neighbour] = next;
                queue.push_back(neighbour);
            }
        }
    }
    Ok(depths)
}

/// Product of a matrix in compressed rows with a vector.
pub(super) fn sparse_matvec(
    offsets: &[f64],
    columns: &[f64],
    values: &[f64],
    vector: &[f64],
) -> Result<Vec<f64>, Failure> {
    let rows = rows(offsets, columns.len().min(values.len()))?;
    let product = |row: std::ops::Range<usize>| {
        columns[row.clone()].iter().zip(&values[row]).try_fold(0.0, |sum, (&column, value)| {
            Ok(sum + value * vector[position("columns", vector.len(), column)?])
        })
    };
    rows.into_iter().map(product).collect()
}

/// CRC-32 of IEEE 802.3, bit by bit.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Ends of walks of `hops` hops along `next`.
pub(super) fn chase(
    next: &[f64],
    starts: impl Iterator<Item = Result<Value, Failure>>,
    hops: usize,
) -> Result<Vec<f64>, Failure> {
    let walk = |start: Result<Value, Failure>| {
        let mut at = start?.as_f64();
        for _ in 0..hops {
            at = next[position("places", next.len(), at)?];
        }
        Ok(at)
    };
    starts.map(walk).collect()
}

/// Number of points with x^2 + y^2 < 2^30, where x and y are bits 0 to 14 and 15 to 29 of xorshift32 states.
pub(super) fn pi_hits(lanes: usize, points: usize, seed: u32) -> u32 {
    let mut hits = 0;
    for lane in 1..=lanes as u32 {
        let mut state = (lane.wrapping_mul(0x9E37_79B9) ^ seed).max(1);
        for _ in 0..points {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let (x, y) = (u64::from(state & 0x7FFF), u64::from(state >> 15 & 0x7FFF));
            hits += u32::from(x * x + y * y < 1 << 30);
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn depths_of_a_small_graph() {
        // 0 → 1, 2; 1 → 3; 2 → 3; 3 → 0; 4 → 0.
        let depths = bfs_depths(&[0.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 2.0, 3.0, 3.0, 0.0, 0.0], 0);
        assert_eq!(depths, Ok(vec![0.0, 1.0, 1.0, 2.0, f64::from(u32::MAX)]));
        assert!(bfs_depths(&[0.0, 1.0], &[7.0], 0).is_err());
        assert!(bfs_depths(&[0.0, 2.0], &[0.0], 0).is_err());
        assert!(bfs_depths(&[], &[], 0).is_err());
    }

    #[test]
    fn a_sparse_product_by_hand() {
        let product =
            sparse_matvec(&[0.0, 2.0, 2.0, 3.0], &[0.0, 2.0, 1.0], &[2.0, 3.0, 4.0], &[1.0, 10.0, 100.0]);
        assert_eq!(product, Ok(vec![302.0, 0.0, 40.0]));
    }

    #[test]
    fn walks_and_bins() {
        let starts = |starts: [i64; 2]| starts.into_iter().map(|i| Ok(Value::Int(i)));
        assert_eq!(chase(&[1.0, 2.0, 0.0], starts([0, 2]), 2), Ok(vec![2.0, 1.0]));
        assert!(chase(&[5.0], starts([0, 0]), 2).is_err());
        assert_eq!(histogram(&[1.0, 3.0, 1.0], 4), Ok(vec![0.0, 2.0, 0.0, 1.0]));
        assert!(histogram(&[4.0], 4).is_err() && histogram(&[-1.0], 4).is_err());
    }

    #[test]
    fn known_points_of_the_mandelbrot_set() {
        // c = 0 stays for ever; c = 1: 0, 1, 2, 5; c = 2: 0, 2, 6.
        assert_eq!(mandelbrot(3, 3, (0.0, 0.0), (1.0, 1.0), 50), [50.0, 3.0, 2.0]);
    }

    #[test]
    fn the_share_of_hits_is_near_pi_quarters() {
        let hits = pi_hits(1000, 1000, 1);
        assert!((f64::from(hits) / 250_000.0 - std::f64::consts::PI).abs() < 0.01, "{hits}");
    }
}
