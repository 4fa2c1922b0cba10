//! Expected results, computed on the host: straightforward code in f64 or exact integers over the initial
//! contents of the buffers, with nothing of the simulator in it.

mod dense;
mod irregular;

use super::buffer::Buffers;
use super::element::ElementType;
use super::expression::{Expression, Failure, Value};
use serde::Deserialize;

/// What a buffer holds at the end, as a launch file states it. Buffers are named and stand for their
/// contents before the first step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reference {
    /// Listed.
    Values(Vec<Expression>),
    /// The bytes of a file, relative to the launch file.
    File(String),
    /// An expression of the element index `i` and of elements of buffers, `x[i]`.
    Each(Expression),
    /// One value: the sum of an expression of `i` from 0 up to `count`. Floats are summed with compensation.
    Sum {
        /// What is summed.
        of: Expression,
        /// How many.
        count: Expression,
    },
    /// The values of an expression for those `i` from 0 up to `count` that fulfil another one, then zeros.
    Filter {
        /// What is kept.
        of: Expression,
        /// For which `i`: where this is not 0.
        when: Expression,
        /// How many are looked at.
        count: Expression,
    },
    /// Element i is the sum of an expression over all indices below i.
    PrefixSum {
        /// What is summed.
        of: Expression,
    },
    /// Element i is how often the value i occurs.
    Histogram {
        /// Buffer of integers.
        values: String,
    },
    /// All values, ascending.
    Sorted {
        /// Buffer.
        values: String,
    },
    /// Product of two row-major matrices.
    Matmul {
        /// Buffer of the left one.
        a: String,
        /// Buffer of the right one.
        b: String,
        /// Columns of the left and rows of the right one.
        inner: Expression,
    },
    /// Softmax of each row of a row-major matrix.
    Softmax {
        /// Buffer of the matrix.
        matrix: String,
        /// Its columns.
        columns: Expression,
    },
    /// max(input * weights + bias, 0), all row-major.
    DenseRelu {
        /// Buffer of batch x inputs values.
        input: String,
        /// Buffer of inputs x outputs values.
        weights: String,
        /// Buffer of outputs values.
        bias: String,
    },
    /// Steps of Jacobi's method on a row-major grid with a fixed border.
    Jacobi {
        /// Buffer of the grid.
        grid: String,
        /// Its columns.
        width: Expression,
        /// Number of steps.
        steps: Expression,
    },
    /// Sum over all bodies j of q_j * (p_j - p_i) / (|p_j - p_i|^2 + softening)^1.5, as x, y, z, 0.
    Forces {
        /// Buffer of x, y, z, q for each body.
        bodies: String,
        /// Softening, in squared units of length.
        softening: Expression,
    },
    /// Steps of z = z^2 + c until |z| > 2, in f32 without fused operations.
    Mandelbrot {
        /// Pixels of a row.
        width: Expression,
        /// c of the first pixel.
        origin: (Expression, Expression),
        /// From pixel to pixel.
        step: (Expression, Expression),
        /// Most steps.
        limit: Expression,
    },
    /// Distance of each vertex from a source along the edges of a graph, 0xFFFFFFFF where there is no path.
    BfsDepths {
        /// Buffer of row offsets.
        offsets: String,
        /// Buffer of columns.
        columns: String,
        /// Vertex to start from.
        source: Expression,
    },
    /// Product of a matrix in compressed rows with a vector.
    SparseMatvec {
        /// Buffer of row offsets.
        offsets: String,
        /// Buffer of columns.
        columns: String,
        /// Buffer of values.
        values: String,
        /// Buffer of the vector.
        vector: String,
    },
    /// CRC-32 (IEEE 802.3) of each record.
    Crc32 {
        /// Buffer of bytes.
        records: String,
        /// Bytes of a record.
        record_bytes: Expression,
    },
    /// Where a walk along `next` ends that starts at an expression of `i`.
    Chase {
        /// Buffer of indices.
        next: String,
        /// Start of walk `i`.
        start: Expression,
        /// Length of the walk.
        hops: Expression,
    },
    /// Points of xorshift32 generators that lie in the quarter circle, over all lanes.
    PiHits {
        /// Generators.
        lanes: Expression,
        /// Points of each.
        points: Expression,
        /// Seed.
        seed: Expression,
    },
}

/// The buffer whose expected contents are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Type of its elements.
    pub element: ElementType,
    /// Elements.
    pub length: usize,
}

impl Reference {
    /// The expected contents of `target`, in f64, not rounded to its element type; integers are as they are
    /// after wrapping to it. `file` reads a file's bytes.
    ///
    /// # Errors
    /// Names that stand for nothing, sizes that do not fit together, and expressions without a value.
    pub fn expected(
        &self,
        target: Target,
        buffers: &Buffers<'_>,
        file: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let values = self.compute(target, buffers, file)?;
        if values.len() != target.length {
            return Err(Failure::new(format!(
                "{} values are expected, but the buffer has {}",
                values.len(),
                target.length
            )));
        }
        Ok(values)
    }

    fn compute(
        &self,
        target: Target,
        buffers: &Buffers<'_>,
        file: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let element = target.element;
        let wrap = |value| element.wrap(value).map(Value::as_f64).map_err(Failure::new);
        let wrap_all = |values: Vec<Value>| values.into_iter().map(wrap).collect::<Result<Vec<_>, _>>();
        match self {
            Reference::Values(list) => {
                let mut bytes = Vec::new();
                for value in list {
                    element.write(buffers.scope.number(value)?, &mut bytes).map_err(Failure::new)?;
                }
                // Not what was written: a listed value may be more precise than an element.
                list.iter().map(|value| Ok(buffers.scope.number(value)?.as_f64())).collect()
            }
            Reference::File(path) => {
                let bytes = file(path)?;
                if bytes.len() != target.length * element.bytes() {
                    return Err(Failure::new(format!(
                        "`{path}` has {} bytes, but the buffer {}",
                        bytes.len(),
                        target.length * element.bytes()
                    )));
                }
                Ok(bytes.chunks_exact(element.bytes()).map(|e| element.read(e)).collect())
            }
            Reference::Each(of) => wrap_all(buffers.each(of, target.length)?),
            Reference::Sum { of, count } => {
                let values = buffers.each(of, buffers.scope.size(count, "count")?)?;
                Ok(vec![wrap(dense::sum(&values))?])
            }
            Reference::Filter { of, when, count } => {
                let count = buffers.scope.size(count, "count")?;
                let values = buffers.each(of, count)?;
                let kept = buffers.each(when, count)?;
                let mut values: Vec<Value> =
                    values.into_iter().zip(kept).filter(|(_, k)| k.as_f64() != 0.0).map(|(v, _)| v).collect();
                values.resize(values.len().max(target.length), Value::Int(0));
                wrap_all(values)
            }
            Reference::PrefixSum { of } => wrap_all(dense::prefix_sum(&buffers.each(of, target.length)?)),
            Reference::Histogram { values } => irregular::histogram(&buffers.read(values)?, target.length),
            Reference::Sorted { values } => {
                let mut values = buffers.read(values)?;
                values.sort_by(f64::total_cmp);
                Ok(values)
            }
            Reference::Matmul { a, b, inner } => {
                let (a, b) = (buffers.read(a)?, buffers.read(b)?);
                let inner = buffers.scope.divisor(inner, "inner", &[("a", a.len()), ("b", b.len())])?;
                Ok(dense::matmul(&a, &b, inner))
            }
            Reference::Softmax { matrix, columns } => {
                let matrix = buffers.read(matrix)?;
                let columns = buffers.scope.divisor(columns, "columns", &[("matrix", matrix.len())])?;
                Ok(dense::softmax(&matrix, columns))
            }
            Reference::DenseRelu { input, weights, bias } => {
                let (input, weights, bias) =
                    (buffers.read(input)?, buffers.read(weights)?, buffers.read(bias)?);
                let inputs = weights.len().checked_div(bias.len()).unwrap_or(0);
                if inputs == 0 || inputs * bias.len() != weights.len() || input.len() % inputs != 0 {
                    return Err(Failure::new("the sizes of input, weights and bias do not fit together"));
                }
                Ok(dense::relu_layer(&input, &weights, &bias))
            }
            Reference::Jacobi { grid, width, steps } => {
                let grid = buffers.read(grid)?;
                let width = buffers.scope.divisor(width, "width", &[("grid", grid.len())])?;
                Ok(dense::jacobi(grid, width, buffers.scope.size(steps, "steps")?))
            }
            Reference::Forces { bodies, softening } => {
                let bodies = buffers.read(bodies)?;
                Ok(dense::forces(&bodies, buffers.scope.number(softening)?.as_f64()))
            }
            Reference::Mandelbrot { width, origin, step, limit } => {
                let scope = buffers.scope;
                let width = scope.divisor(width, "width", &[("the buffer", target.length)])?;
                let limit = scope.size(limit, "limit")?;
                let f32_of = |e: &Expression| Ok(scope.number(e)?.as_f64() as f32);
                let origin = (f32_of(&origin.0)?, f32_of(&origin.1)?);
                let step = (f32_of(&step.0)?, f32_of(&step.1)?);
                Ok(irregular::mandelbrot(target.length, width, origin, step, limit))
            }
            Reference::BfsDepths { offsets, columns, source } => irregular::bfs_depths(
                &buffers.read(offsets)?,
                &buffers.read(columns)?,
                buffers.scope.size(source, "source")?,
            ),
            Reference::SparseMatvec { offsets, columns, values, vector } => irregular::sparse_matvec(
                &buffers.read(offsets)?,
                &buffers.read(columns)?,
                &buffers.read(values)?,
                &buffers.read(vector)?,
            ),
            Reference::Crc32 { records, record_bytes } => {
                let bytes: Vec<u8> = buffers.bytes(records)?.to_vec();
                let length =
                    buffers.scope.divisor(record_bytes, "record_bytes", &[("records", bytes.len())])?;
                Ok(bytes.chunks_exact(length).map(|record| f64::from(irregular::crc32(record))).collect())
            }
            Reference::Chase { next, start, hops } => irregular::chase(
                &buffers.read(next)?,
                &buffers.each(start, target.length)?,
                buffers.scope.size(hops, "hops")?,
            ),
            Reference::PiHits { lanes, points, seed } => {
                let scope = buffers.scope;
                let (lanes, points) = (scope.size(lanes, "lanes")?, scope.size(points, "points")?);
                let seed = scope.size(seed, "seed")? as u32;
                Ok(vec![f64::from(irregular::pi_hits(lanes, points, seed))])
            }
        }
    }
}
