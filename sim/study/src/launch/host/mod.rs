//! Expected results, computed on the host: straightforward code in f64 or exact integers over the initial
//! contents of the buffers, without any code of the simulator.

mod dense;
mod general;
mod irregular;
mod picture;
mod programs;

use super::buffer::Buffers;
use super::element::{Element, ElementType};
use super::expression::{Expression, Failure, Value};
use serde::Deserialize;

/// Integers from here on are not all f64.
const MOST_EXACT: f64 = (1u64 << 53) as f64;

/// Expected contents of a buffer, as a launch file states them. Names of buffers stand for their contents
/// before the first step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Reference {
    /// A list of values.
    Values(Vec<Expression>),
    /// The bytes of a file, relative to the launch file.
    File(String),
    /// An expression of the element index `i` and of elements of buffers, `x[i]`.
    Each(Expression),
    /// One value: the sum of an expression over `i` from 0 to `count` - 1. Floats are summed with
    /// compensation.
    Sum {
        /// The summand.
        of: Expression,
        /// Number of summands.
        count: Expression,
    },
    /// The values of an expression for those `i` below `count` that fulfil a condition, then zeros.
    Filter {
        /// The values kept.
        of: Expression,
        /// The condition on `i`: not 0.
        when: Expression,
        /// Number of indices examined.
        count: Expression,
    },
    /// Element i is the sum of an expression over all indices below i.
    PrefixSum {
        /// The summand.
        of: Expression,
    },
    /// Element i is the sum of an expression of `i` and `j` over `j` from 0 to `count` - 1.
    Sums {
        /// The summand.
        of: Expression,
        /// Number of summands.
        count: Expression,
    },
    /// The last elements of a sequence, each of which is an expression of `i` and of those before it, `result[i - 1]`.
    Recurrence {
        /// Element i.
        of: Expression,
        /// Length of the sequence.
        count: Expression,
    },
    /// Element i is the number of occurrences of the value i.
    Histogram {
        /// Buffer of integers.
        values: String,
    },
    /// All values in ascending order.
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
    /// softmax(Q K^T / sqrt(width)) V of each head.
    Attention {
        /// Buffer of the queries, a row for each token of each head.
        queries: String,
        /// Buffer of the keys, likewise.
        keys: String,
        /// Buffer of the values, likewise.
        values: String,
        /// Numbers of a row.
        width: Expression,
        /// Rows of a head.
        tokens: Expression,
    },
    /// Each pixel becomes the sum of those around it, times weights. Past the border the nearest pixel counts.
    Convolution {
        /// Buffer of the image.
        image: String,
        /// Its columns.
        width: Expression,
        /// Buffer of the weights, of which the first `size` * `size` count, row by row.
        weights: String,
        /// Weights of a row: an odd number.
        size: Expression,
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
        /// Difference of c between neighbouring pixels.
        step: (Expression, Expression),
        /// Largest number of steps.
        limit: Expression,
    },
    /// Distance of each vertex from a source along the edges of a graph; 0xFFFFFFFF if there is no path.
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
    /// SHA-256 of each record: eight words, the first one first.
    Sha256 {
        /// Buffer of bytes.
        records: String,
        /// Bytes of a record.
        record_bytes: Expression,
    },
    /// Discrete Fourier transform of each row of complex numbers, real and imaginary part in turn.
    Fourier {
        /// Buffer of the rows.
        rows: String,
        /// Complex numbers of a row.
        points: Expression,
    },
    /// Each list of a buffer in ascending order.
    SortedLists {
        /// Buffer of the lists, one behind the other.
        values: String,
        /// Values of a list.
        length: Expression,
    },
    /// Least number of insertions, deletions and replacements of letters that turn one string into another.
    EditDistances {
        /// Buffer of strings.
        a: String,
        /// Buffer of as many strings.
        b: String,
        /// Letters of a string.
        length: Expression,
    },
    /// A neural network of two layers, ReLU between them, for each row of the input.
    Network {
        /// Buffer of the samples, row by row.
        input: String,
        /// Buffers of weights and bias of the hidden layer.
        hidden: (String, String),
        /// Buffers of weights and bias of the outputs.
        output: (String, String),
    },
    /// Spheres over a chequered floor, in f32 without fused operations: red, green, blue and 255 from the lowest byte on.
    Raytrace {
        /// Buffer of spheres: centre, radius, colour and reflection, eight numbers each.
        spheres: String,
        /// Pixels of a row.
        width: Expression,
    },
    /// End of each walk along `next`, which starts at an expression of `i`.
    Chase {
        /// Buffer of indices.
        next: String,
        /// Start of walk `i`.
        start: Expression,
        /// Length of the walk.
        hops: Expression,
    },
    /// Number of points of xorshift32 generators in the quarter circle, over all lanes.
    PiHits {
        /// Number of generators.
        lanes: Expression,
        /// Points of each generator.
        points: Expression,
        /// Seed.
        seed: Expression,
    },
}

/// The buffer whose contents are computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// Type of its elements.
    pub element: ElementType,
    /// Number of elements.
    pub length: usize,
}

impl Reference {
    /// The expected contents of `target`, in f64 and not rounded to its element type. Integers are as they
    /// are after wrapping to it. `file` reads the bytes of a file.
    ///
    /// # Errors
    /// Unknown names, sizes that do not fit together, and expressions without a value.
    pub(super) fn expected(
        &self,
        target: Target,
        buffers: &Buffers<'_>,
        file: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let values = self.compute(target, buffers, file)?;
        let is_long = matches!(target.element, ElementType::I64 | ElementType::U64);
        if let Some(value) = values.iter().find(|value| is_long && value.abs() >= MOST_EXACT) {
            return Err(Failure {
                message: format!("{value} is expected, and integers are compared below 2^53"),
                hint: Some(
                    "as u32, low word first, a buffer of such integers is compared exactly".to_owned(),
                ),
            });
        }
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
        let wrap = |value: Value| element.wrap(value).map(Value::as_f64).map_err(Failure::new);
        match self {
            Reference::Values(list) => {
                let mut bytes = Vec::new();
                for value in list {
                    element.write(buffers.scope.number(value)?, &mut bytes).map_err(Failure::new)?;
                }
                // Listed values are not rounded: they may be more precise than an element.
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
            Reference::Each(of) => buffers.each(of, target.length)?.map(|value| wrap(value?)).collect(),
            Reference::Sum { of, count } => {
                let mut values = buffers.each(of, buffers.scope.size(count, "count")?)?;
                let sum = values.try_fold(dense::Sum::default(), |sum, value| Ok(sum.plus(value?)))?;
                Ok(vec![wrap(sum.value())?])
            }
            Reference::Filter { of, when, count } => {
                let count = buffers.scope.size(count, "count")?;
                let mut kept = Vec::new();
                for (value, keep) in buffers.each(of, count)?.zip(buffers.each(when, count)?) {
                    if keep?.as_f64() != 0.0 {
                        kept.push(wrap(value?)?);
                    }
                }
                kept.resize(kept.len().max(target.length), 0.0);
                Ok(kept)
            }
            Reference::PrefixSum { of } => {
                let mut before = dense::Sum::default();
                let mut next = |value: Result<Value, Failure>| {
                    let sum = wrap(before.value())?;
                    before = before.plus(value?);
                    Ok(sum)
                };
                buffers.each(of, target.length)?.map(&mut next).collect()
            }
            Reference::Sums { of, count } => {
                let count = buffers.scope.size(count, "count")?;
                general::sums(of, count, target.length, buffers)?.into_iter().map(wrap).collect()
            }
            Reference::Recurrence { of, count } => {
                let count = buffers.scope.size(count, "count")?;
                general::recurrence(of, count, target.length, buffers)?.into_iter().map(wrap).collect()
            }
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
            Reference::Attention { queries, keys, values, width, tokens } => {
                let (queries, keys, values) =
                    (buffers.read(queries)?, buffers.read(keys)?, buffers.read(values)?);
                let width = buffers.scope.size(width, "width")?;
                let tokens = buffers.scope.size(tokens, "tokens")?;
                let head = width * tokens;
                let fits = head > 0 && queries.len() % head == 0;
                if !fits || keys.len() != queries.len() || values.len() != queries.len() {
                    let message = format!("the buffers are not heads of {tokens} rows of {width} numbers");
                    return Err(Failure::new(message));
                }
                Ok(dense::attention(&queries, &keys, &values, width, head))
            }
            Reference::Convolution { image, width, weights, size } => {
                let (image, weights) = (buffers.read(image)?, buffers.read(weights)?);
                let width = buffers.scope.divisor(width, "width", &[("image", image.len())])?;
                let size = buffers.scope.size(size, "size")?;
                match weights.get(..size * size) {
                    Some(weights) if size % 2 == 1 => Ok(dense::convolution(&image, width, weights, size)),
                    _ => Err(Failure::new(format!(
                        "{} weights are not {size} rows of {size}, an odd number",
                        weights.len()
                    ))),
                }
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
            Reference::Sha256 { records, record_bytes } => {
                let bytes: Vec<u8> = buffers.bytes(records)?.to_vec();
                let length =
                    buffers.scope.divisor(record_bytes, "record_bytes", &[("records", bytes.len())])?;
                Ok(bytes.chunks_exact(length).flat_map(programs::sha256).map(f64::from).collect())
            }
            Reference::Fourier { rows, points } => {
                let rows = buffers.read(rows)?;
                let points = buffers.scope.size(points, "points")?;
                if points == 0 || rows.len() % (2 * points) != 0 {
                    return Err(Failure::new(format!("the rows are not of {points} complex numbers")));
                }
                Ok(programs::fourier(&rows, points))
            }
            Reference::SortedLists { values, length } => {
                let mut values = buffers.read(values)?;
                let length = buffers.scope.divisor(length, "length", &[("values", values.len())])?;
                values.chunks_exact_mut(length).for_each(|list| list.sort_by(f64::total_cmp));
                Ok(values)
            }
            Reference::EditDistances { a, b, length } => {
                let (a, b) = (buffers.bytes(a)?.to_vec(), buffers.bytes(b)?.to_vec());
                let length = buffers.scope.divisor(length, "length", &[("a", a.len()), ("b", b.len())])?;
                let pairs = a.chunks_exact(length).zip(b.chunks_exact(length));
                Ok(pairs.map(|(a, b)| programs::edit_distance(a, b) as f64).collect())
            }
            Reference::Network { input, hidden, output } => {
                let weights = |names: &(String, String)| {
                    Ok::<_, Failure>((buffers.read(&names.0)?, buffers.read(&names.1)?))
                };
                let (input, hidden, output) = (buffers.read(input)?, weights(hidden)?, weights(output)?);
                let inputs = |(weights, bias): &(Vec<f64>, Vec<f64>)| {
                    weights
                        .len()
                        .checked_div(bias.len())
                        .filter(|inputs| *inputs > 0 && inputs * bias.len() == weights.len())
                };
                let fits = inputs(&hidden).is_some_and(|inputs| input.len() % inputs == 0)
                    && inputs(&output) == Some(hidden.1.len());
                if !fits {
                    return Err(Failure::new("the sizes of input, weights and biases do not fit together"));
                }
                let between = dense::relu_layer(&input, &hidden.0, &hidden.1);
                Ok(dense::layer(&between, &output.0, &output.1))
            }
            Reference::Raytrace { spheres, width } => {
                let spheres = buffers.read(spheres)?;
                let width = buffers.scope.divisor(width, "width", &[("the buffer", target.length)])?;
                Ok(picture::raytrace(&spheres, width, target.length / width))
            }
            Reference::Chase { next, start, hops } => irregular::chase(
                &buffers.read(next)?,
                buffers.each(start, target.length)?,
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
