//! References over dense vectors and matrices.

use super::super::expression::Value;

/// Sum: of integers modulo 2^64, else in f64 with Neumaier's compensation.
pub(super) fn sum(values: &[Value]) -> Value {
    let integers: Option<i64> = values.iter().try_fold(0i64, |sum, value| match value {
        Value::Int(v) => Some(sum.wrapping_add(*v)),
        Value::Float(_) => None,
    });
    if let Some(sum) = integers {
        return Value::Int(sum);
    }
    let (mut sum, mut lost) = (0.0, 0.0);
    for v in values.iter().map(|v| v.as_f64()) {
        let next: f64 = sum + v;
        lost += if f64::abs(sum) >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    Value::Float(sum + lost)
}

/// Element i is the sum of the values before it; integers modulo 2^64.
pub(super) fn prefix_sum(values: &[Value]) -> Vec<Value> {
    let mut before = Value::Int(0);
    let mut sums = Vec::with_capacity(values.len());
    for &value in values {
        sums.push(before);
        before = match (before, value) {
            (Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_add(b)),
            (a, b) => Value::Float(a.as_f64() + b.as_f64()),
        };
    }
    sums
}

/// Row-major (a.len() / inner) x (b.len() / inner).
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

/// Of each row.
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
    let product = matmul(input, weights, weights.len() / bias.len());
    product.iter().zip(bias.iter().cycle()).map(|(x, b)| (x + b).max(0.0)).collect()
}

/// The grid after some steps.
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
        let floats = [1.0, 1e100, 1.0, -1e100].map(Value::Float);
        assert_eq!(sum(&floats), Value::Float(2.0));
        let integers = [3, -1, 5].map(Value::Int);
        assert_eq!(sum(&integers), Value::Int(7));
        assert_eq!(prefix_sum(&integers), [0, 3, 2].map(Value::Int));
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
