//! Reference results over dense vectors and matrices.

use super::super::expression::Value;

/// A running sum: exact modulo 2^64 while all values are integers, otherwise in f64 with Neumaier's
/// compensation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    integers: i64,
    floats: Option<Compensated>,
}

#[derive(Debug, Clone, Copy)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Sum {
    /// The sum with one more value.
    pub(super) fn plus(self, value: Value) -> Sum {
        match (value, self.floats) {
            (Value::Int(v), None) => Sum { integers: self.integers.wrapping_add(v), floats: None },
            (value, floats) => {
                let Compensated { sum, lost } =
                    floats.unwrap_or(Compensated { sum: self.integers as f64, lost: 0.0 });
                let v = value.as_f64();
                let next = sum + v;
                let error = if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
                Sum { integers: 0, floats: Some(Compensated { sum: next, lost: lost + error }) }
            }
        }
    }

    /// The sum.
    pub(super) fn value(self) -> Value {
        match self.floats {
            None => Value::Int(self.integers),
            Some(Compensated { sum, lost }) => Value::Float(sum + lost),
        }
    }
}

/// Product of row-major matrices: (a.len() / inner) x (b.len() / inner).
pub(super) fn matmul(a: &[f64], b: &[f64], inner: usize) -> Vec<f64> {
    let columns = b.len() / inner;
    let mut c = vec![0.0; a.len() / inner * columns];
    for (a_row, c_row) in a.chunks_exact(inner).zip(c.chunks_exact_mut(columns)) {
        for (&a, b_row) in a_row.iter().zip(b.chunks_exact(columns)) {
            for (c, &b) in c_row.iter_mut().zip(b_row) {
                *c += a * b;
            }
        }
    }
    c
}

/// Softmax of each row.
pub(super) fn softmax(matrix: &[f64], columns: usize) -> Vec<f64> {
    let mut result = Vec::with_capacity(matrix.len());
    for row in matrix.chunks_exact(columns) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
        result.extend(row.iter().map(|x| (x - largest).exp() / sum));
    }
    result
}

/// max(input * weights + bias, 0); weights have bias.len() columns.
pub(super) fn relu_layer(input: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
    layer(input, weights, bias).into_iter().map(|x| x.max(0.0)).collect()
}

/// input * weights + bias; weights have bias.len() columns.
pub(super) fn layer(input: &[f64], weights: &[f64], bias: &[f64]) -> Vec<f64> {
    let product = matmul(input, weights, weights.len() / bias.len());
    product.iter().zip(bias.iter().cycle()).map(|(x, b)| x + b).collect()
}

/// softmax(Q K^T / sqrt(width)) V of each head: `head` numbers in rows of `width`.
pub(super) fn attention(
    queries: &[f64],
    keys: &[f64],
    values: &[f64],
    width: usize,
    head: usize,
) -> Vec<f64> {
    let mut result = Vec::with_capacity(queries.len());
    let heads = queries.chunks_exact(head).zip(keys.chunks_exact(head)).zip(values.chunks_exact(head));
    for ((queries, keys), values) in heads {
        for query in queries.chunks_exact(width) {
            let score = |key: &[f64]| {
                let product: f64 = query.iter().zip(key).map(|(q, k)| q * k).sum();
                product / (width as f64).sqrt()
            };
            let scores: Vec<f64> = keys.chunks_exact(width).map(score).collect();
            result.extend(matmul(&softmax(&scores, scores.len()), values, scores.len()));
        }
    }
    result
}

/// Sums of the pixels around each pixel, times `size` rows of `size` weights. Past the border the nearest pixel counts.
pub(super) fn convolution(image: &[f64], width: usize, weights: &[f64], size: usize) -> Vec<f64> {
    let (last_x, last_y) = (width - 1, image.len() / width - 1);
    let pixel = |i: usize| {
        let product = |(w, weight): (usize, &f64)| {
            let x = (i % width + w % size).saturating_sub(size / 2).min(last_x);
            let y = (i / width + w / size).saturating_sub(size / 2).min(last_y);
            weight * image[y * width + x]
        };
        weights.iter().enumerate().map(product).sum::<f64>()
    };
    (0..image.len()).map(pixel).collect()
}

/// The grid after `steps` steps.
pub(super) fn jacobi(mut grid: Vec<f64>, width: usize, steps: usize) -> Vec<f64> {
    let height = grid.len() / width;
    for _ in 0..steps {
        let old = grid.clone();
        for y in 1..height.saturating_sub(1) {
            for x in 1..width - 1 {
                let i = y * width + x;
                grid[i] = (old[i - width] + old[i - 1] + old[i + 1] + old[i + width]) / 4.0;
            }
        }
    }
    grid
}

/// x, y, z, 0 for each body of x, y, z, q.
pub(super) fn forces(bodies: &[f64], softening: f64) -> Vec<f64> {
    let mut result = Vec::with_capacity(bodies.len());
    for at in bodies.chunks_exact(4) {
        let mut force = [0.0; 4];
        for body in bodies.chunks_exact(4) {
            let d = [body[0] - at[0], body[1] - at[1], body[2] - at[2]];
            let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening;
            let scale = body[3] / (square * square.sqrt());
            for (force, d) in force.iter_mut().zip(d) {
                *force += scale * d;
            }
        }
        result.extend(force);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_for_integers_and_compensated_for_floats() {
        let sum = |values: &[Value]| values.iter().fold(Sum::default(), |sum, &v| sum.plus(v)).value();
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100].map(Value::Float)), Value::Float(2.0));
        assert_eq!(sum(&[3, -1, i64::MAX].map(Value::Int)), Value::Int(i64::MIN + 1));
        assert_eq!(sum(&[Value::Int(3), Value::Float(0.5), Value::Int(1)]), Value::Float(4.5));
        assert_eq!(sum(&[]), Value::Int(0));
    }

    #[test]
    fn matrices_by_hand() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        assert_eq!(matmul(&a, &b, 3), [4.0, 5.0, 10.0, 11.0]);
        assert_eq!(relu_layer(&a, &b, &[-5.0, 0.5]), [0.0, 5.5, 5.0, 11.5]);
        let rows = softmax(&[0.0, 0.0, 1000.0, 1000.0 + 3f64.ln()], 2);
        assert_eq!(rows[..2], [0.5, 0.5]);
        assert!((rows[2] - 0.25).abs() < 1e-12 && (rows[3] - 0.75).abs() < 1e-12);
    }

    #[test]
    fn attention_is_a_mean_of_values() {
        // Width 1: scores are products. The first query weighs both values alike, the second 1 to 3.
        let found = attention(&[0.0, 3f64.ln()], &[1.0, 2.0], &[4.0, 8.0], 1, 2);
        assert!((found[0] - 6.0).abs() < 1e-12 && (found[1] - 7.0).abs() < 1e-12, "{found:?}");
        assert_eq!(attention(&[5.0, 6.0], &[7.0, 8.0], &[1.0, 2.0], 1, 1), [1.0, 2.0]);
    }

    #[test]
    fn a_convolution_by_hand() {
        let image = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let right = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        assert_eq!(convolution(&image, 3, &right, 3), [2.0, 3.0, 3.0, 5.0, 6.0, 6.0]);
        let above_left = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(convolution(&image, 3, &above_left, 3), [2.0, 2.0, 4.0, 2.0, 2.0, 4.0]);
        assert_eq!(convolution(&image, 3, &[3.0], 1), [3.0, 6.0, 9.0, 12.0, 15.0, 18.0]);
    }

    #[test]
    fn a_border_stays_and_the_inside_is_averaged() {
        let grid = vec![1.0, 2.0, 3.0, 4.0, 9.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!(jacobi(grid.clone(), 3, 1), [1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(jacobi(grid.clone(), 3, 0), grid);
        assert_eq!(jacobi(vec![1.0, 2.0], 2, 3), [1.0, 2.0]);
    }

    #[test]
    fn two_bodies_pull_at_each_other() {
        let bodies = [0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 9.0];
        assert_eq!(forces(&bodies, 0.0)[..3].iter().map(|x| x.is_nan()).collect::<Vec<_>>(), [true; 3]);
        // With softening 7 the square is 16.
        assert_eq!(forces(&bodies, 7.0), [27.0 / 64.0, 0.0, 0.0, 0.0, -6.0 / 64.0, 0.0, 0.0, 0.0]);
    }
}
