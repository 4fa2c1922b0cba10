//! Matrices in the registers of a warp. The description of PTX says, for each shape, which element each register of each
//! thread holds: these formulas, a gathering of whole matrices by them, and products of rows and columns.

use super::code::{Address, Space, Value};
use super::numbers::{self, Number};
use super::run::{Run, WARP};

/// An operation of a warp on matrices.
#[derive(Debug, Clone)]
pub(super) enum Matrix {
    Load { is_transposed: bool, space: Space, d: Vec<usize>, at: Address },
    Store { is_transposed: bool, space: Space, values: Vec<Value>, at: Address },
    Transpose { d: usize, a: Value },
    Product { product: Product, d: Vec<usize>, a: Vec<Value>, b: Vec<Value>, c: Vec<Value> },
    LoadWhole { whole: Whole, d: Vec<usize>, at: Address, stride: Option<Value> },
    StoreWhole { whole: Whole, values: Vec<Value>, at: Address, stride: Option<Value> },
}

/// A product of matrices.
#[derive(Debug, Clone)]
pub(super) struct Product {
    /// m, n, k.
    shape: [usize; 3],
    /// Types of D, A, B, C.
    types: [String; 4],
    saturates: bool,
    /// The product is one of `wmma`.
    is_whole: bool,
}

/// A matrix of `wmma` and how it lies in memory. PTX leaves open which thread has which element: here each thread has as many
/// as the others, one row after another.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    rows: usize,
    columns: usize,
    ty: String,
    is_by_rows: bool,
    space: Space,
}

impl Whole {
    /// The matrix that an instruction names.
    pub(super) fn named(name: &str, space: Space) -> Result<Whole, String> {
        let words: Vec<&str> = name.split('.').collect();
        let shape = words.iter().find_map(|word| shape(word)).ok_or("a matrix without a shape")?;
        let [m, n, k] = shape;
        let (rows, columns) = match words[2] {
            "a" => (m, k),
            "b" => (k, n),
            _ => (m, n),
        };
        let ty = words[words.len() - 1].to_owned();
        Ok(Whole { rows, columns, ty, is_by_rows: words.contains(&"row"), space })
    }

    /// Elements of a register, and of a thread.
    fn counts(&self) -> (usize, usize) {
        (32 / bits_of(&self.ty).min(32), self.rows * self.columns / WARP)
    }

    /// How many elements lie in front of one in memory.
    fn before(&self, element: usize, stride: Option<u64>) -> u64 {
        let (row, column) = ((element / self.columns) as u64, (element % self.columns) as u64);
        if self.is_by_rows {
            row * stride.unwrap_or(self.columns as u64) + column
        } else {
            column * stride.unwrap_or(self.rows as u64) + row
        }
    }
}

fn bits_of(ty: &str) -> usize {
    if ty == "tf32" { 32 } else { Number::named(ty).map_or(32, |ty| ty.bits as usize) }
}

/// m, n, k of a shape such as `m16n8k4`.
fn shape(word: &str) -> Option<[usize; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The row and the column of an element.
type Place = (usize, usize);

impl Product {
    /// The product that an instruction names.
    pub(super) fn named(name: &str) -> Result<Product, String> {
        let words: Vec<&str> = name.split('.').collect();
        let shape = words.iter().find_map(|word| shape(word)).ok_or("a product without a shape")?;
        let is_type = |word: &&&str| **word == "tf32" || Number::named(word).is_some();
        let types = words[1..].iter().filter(is_type).map(|ty| (*ty).to_owned()).collect::<Vec<_>>();
        let types = match types.as_slice() {
            [d, c] => vec![d.clone(), "f16".to_owned(), "f16".to_owned(), c.clone()],
            _ => types,
        };
        Ok(Product {
            shape,
            types: types.try_into().map_err(|_| "four types")?,
            saturates: words.contains(&"satfinite"),
            is_whole: words[0] == "wmma",
        })
    }

    /// Bits of an element of A and B.
    fn bits(&self) -> usize {
        match self.types[1].as_str() {
            "f64" => 64,
            "tf32" => 32,
            "f16" | "bf16" => 16,
            _ => 8,
        }
    }

    /// Where element i of A of a thread is.
    fn place_a(&self, lane: usize, i: usize) -> Place {
        let (group, thread) = (lane >> 2, lane % 4);
        let or_8_more = |is_first: bool| if is_first { group } else { group + 8 };
        match (self.shape, self.bits()) {
            ([8, 8, 4], 64) => (group, thread),
            ([8, 8, 16], 8) => (group, thread * 4 + i),
            ([16, 8, 4], 32 | 64) => (or_8_more(i == 0), thread),
            ([16, 8, 8], 32 | 64) => (or_8_more(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 }),
            ([16, 8, 16], 64) if i & 1 == 0 => (group, i * 2 + thread),
            ([16, 8, 16], 64) => (group + 8, i * 2 - 2 + thread),
            ([16, 8, 8], 16) => (or_8_more(i < 2), thread * 2 + (i & 1)),
            ([16, 8, 16], 16) => {
                let column = thread * 2 + (i & 1);
                (or_8_more(i < 2 || (4..6).contains(&i)), if i < 4 { column } else { column + 8 })
            }
            ([16, 8, 16], 8) => (or_8_more(i < 4), thread * 4 + (i & 3)),
            _ => {
                let column = thread * 4 + (i & 3);
                (or_8_more(i < 4 || (8..12).contains(&i)), if i < 8 { column } else { column + 16 })
            }
        }
    }

    /// Where element i of B of a thread is.
    fn place_b(&self, lane: usize, i: usize) -> Place {
        let (group, thread) = (lane >> 2, lane % 4);
        let row = match (self.shape[2], self.bits()) {
            (4, _) => thread,
            (8 | 16, 64) | (8, 32) => thread + 4 * i,
            (8, 16) => thread * 2 + i,
            (16, 16) if i < 2 => thread * 2 + (i & 1),
            (16, 16) => thread * 2 + (i & 1) + 8,
            (16, _) => thread * 4 + i,
            _ if i < 4 => thread * 4 + (i & 3),
            _ => thread * 4 + (i & 3) + 16,
        };
        (row, group)
    }

    /// Where element i of C or D of a thread is.
    fn place_c(&self, lane: usize, i: usize) -> Place {
        let (group, thread) = (lane >> 2, lane % 4);
        (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
    }

    /// D from the registers of all threads: for each thread, then for each register.
    fn compute(&self, a: &[Vec<u64>], b: &[Vec<u64>], c: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, String> {
        let [m, n, k] = self.shape;
        let in_order = |columns: usize, all: usize| {
            move |lane: usize, i: usize| {
                let element = lane * (all / WARP) + i;
                // The registers past the last element have none.
                if i < all / WARP { (element / columns, element % columns) } else { (usize::MAX, 0) }
            }
        };
        let (in_a, in_b, in_c) = (in_order(k, m * k), in_order(n, k * n), in_order(n, m * n));
        let place_a = |lane, i| if self.is_whole { in_a(lane, i) } else { self.place_a(lane, i) };
        let place_b = |lane, i| if self.is_whole { in_b(lane, i) } else { self.place_b(lane, i) };
        let place_c = |lane, i| if self.is_whole { in_c(lane, i) } else { self.place_c(lane, i) };
        let a = gather(a, &self.types[1], [m, k], &place_a)?;
        let b = gather(b, &self.types[2], [k, n], &place_b)?;
        let c = gather(c, &self.types[3], [m, n], &place_c)?;
        let element = |row: usize, column: usize| -> u64 {
            let terms = (0..k).map(|at| (a[row * k + at], b[at * n + column]));
            let start = c[row * n + column];
            match self.types[1].as_str() {
                "s8" | "u8" => {
                    let read = |ty: &str, bits: u64| Number::named(ty).map_or(0, |ty| ty.read(bits));
                    let sum = terms.fold(read("s32", start), |sum, (a, b)| {
                        sum + read(&self.types[1], a) * read(&self.types[2], b)
                    });
                    let word = if self.saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
                    word as u64 & 0xFFFF_FFFF
                }
                "f64" => {
                    let sum = terms.fold(f64::from_bits(start), |sum, (a, b)| {
                        f64::from_bits(a).mul_add(f64::from_bits(b), sum)
                    });
                    float(&self.types[0], sum)
                }
                _ => {
                    let sum = terms.fold(single(&self.types[3], start), |sum, (a, b)| {
                        single(&self.types[1], a).mul_add(single(&self.types[2], b), sum)
                    });
                    float(&self.types[0], sum.into())
                }
            }
        };
        let halves = if self.types[0] == "f16" { 2 } else { 1 };
        let registers = m * n / WARP / halves;
        Ok((0..WARP)
            .map(|lane| {
                let of_register = |register: usize| {
                    (0..halves).fold(0, |word, half| {
                        let (row, column) = place_c(lane, register * halves + half);
                        word | element(row, column) << (16 * half)
                    })
                };
                (0..registers).map(of_register).collect()
            })
            .collect())
    }
}

/// A float of one of the narrow types. Of a tf32 the last 13 bits do not count.
fn single(ty: &str, bits: u64) -> f32 {
    match ty {
        "f16" => half::f16::from_bits(bits as u16).to_f32(),
        "bf16" => half::bf16::from_bits(bits as u16).to_f32(),
        "tf32" => f32::from_bits(bits as u32 & !0x1FFF),
        _ => f32::from_bits(bits as u32),
    }
}

fn float(ty: &str, value: f64) -> u64 {
    Number::named(ty).map_or(0, |ty| numbers::finish(ty, value, false, false))
}

/// A matrix, row by row, from the registers of all threads.
fn gather(
    registers: &[Vec<u64>],
    ty: &str,
    [rows, columns]: [usize; 2],
    place: &dyn Fn(usize, usize) -> Place,
) -> Result<Vec<u64>, String> {
    let bits = bits_of(ty);
    let of_register = 32 / bits.min(32);
    let mut matrix = vec![None; rows * columns];
    for (lane, registers) in registers.iter().enumerate() {
        for (number, &word) in registers.iter().enumerate() {
            for part in 0..of_register {
                let (row, column) = place(lane, number * of_register + part);
                if row == usize::MAX {
                    continue;
                }
                let cell = matrix.get_mut(row * columns + column).ok_or("too many registers")?;
                *cell = Some(word >> (bits * part) & (u64::MAX >> (64 - bits)));
            }
        }
    }
    matrix.into_iter().collect::<Option<Vec<u64>>>().ok_or_else(|| "too few registers".to_owned())
}

impl Run<'_, '_> {
    /// The results of an operation of all threads of a warp on matrices: registers, with the value of each thread.
    pub(super) fn matrix(
        &mut self,
        threads: &[usize],
        matrix: &Matrix,
    ) -> Result<Vec<(usize, Vec<u64>)>, String> {
        if threads.len() != WARP {
            return Err("a matrix operation of a part of a warp".to_owned());
        }
        let get = |run: &Self, values: &[Value]| -> Vec<Vec<u64>> {
            let of = |&thread: &usize| values.iter().map(|&value| run.value(thread, value)).collect();
            threads.iter().map(of).collect()
        };
        let element = |lane: usize, half: usize, is_transposed: bool| {
            let (row, column) = (lane / 4, 2 * (lane % 4) + half);
            if is_transposed { (column, row) } else { (row, column) }
        };
        let mut results = Vec::new();
        match matrix {
            Matrix::Load { is_transposed, space, d, at } => {
                for (number, &d) in d.iter().enumerate() {
                    let mut rows = Vec::new();
                    for row in 0..8 {
                        let start = self.aligned(threads[8 * number + row], *at, 16)?;
                        rows.push(self.bytes(*space, start, 16, false)?.to_vec());
                    }
                    let half = |lane, half| {
                        let (row, column) = element(lane, half, *is_transposed);
                        u64::from(u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]]))
                    };
                    let words = (0..WARP).map(|lane| half(lane, 0) | half(lane, 1) << 16).collect::<Vec<_>>();
                    results.push((d, words));
                }
            }
            Matrix::Store { is_transposed, space, values, at } => {
                let values = get(self, values);
                for number in 0..values[0].len() {
                    for (lane, words) in values.iter().enumerate() {
                        for half in 0..2 {
                            let (row, column) = element(lane, half, *is_transposed);
                            let start = self.aligned(threads[8 * number + row], *at, 16)?;
                            let place = self.bytes(*space, start + 2 * column as u64, 2, true)?;
                            place.copy_from_slice(&((words[number] >> (16 * half)) as u16).to_le_bytes());
                        }
                    }
                }
            }
            Matrix::Transpose { d, a } => {
                let mut cells = [[0; 8]; 8];
                for (lane, words) in get(self, &[*a]).iter().enumerate() {
                    for half in 0..2 {
                        let (row, column) = element(lane, half, true);
                        cells[row][column] = words[0] >> (16 * half) & 0xFFFF;
                    }
                }
                let word = |lane: usize| {
                    let [low, high] = [0, 1].map(|half| element(lane, half, false));
                    cells[low.0][low.1] | cells[high.0][high.1] << 16
                };
                results.push((*d, (0..WARP).map(word).collect()));
            }
            Matrix::LoadWhole { whole, d, at, stride } => {
                let ((of_register, count), bytes) = (whole.counts(), bits_of(&whole.ty) / 8);
                for (number, &d) in d.iter().enumerate() {
                    let mut words = Vec::new();
                    for (lane, &thread) in threads.iter().enumerate() {
                        let stride = stride.map(|stride| self.value(thread, stride) & numbers::WORD);
                        let start = self.aligned(thread, *at, bytes)?;
                        let mut word = 0;
                        for part in (0..of_register).filter(|part| number * of_register + part < count) {
                            let element = lane * count + number * of_register + part;
                            let place = start + whole.before(element, stride) * bytes as u64;
                            let read = self.bytes(whole.space, place, bytes, false)?;
                            let bits = read.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                            word |= bits << (8 * bytes * part);
                        }
                        words.push(word);
                    }
                    results.push((d, words));
                }
            }
            Matrix::StoreWhole { whole, values, at, stride } => {
                let ((of_register, count), bytes) = (whole.counts(), bits_of(&whole.ty) / 8);
                for (lane, words) in get(self, values).iter().enumerate() {
                    let thread = threads[lane];
                    let stride = stride.map(|stride| self.value(thread, stride) & numbers::WORD);
                    let start = self.aligned(thread, *at, bytes)?;
                    for i in 0..count {
                        let place = start + whole.before(lane * count + i, stride) * bytes as u64;
                        let word = words[i / of_register] >> (8 * bytes * (i % of_register));
                        let into = self.bytes(whole.space, place, bytes, true)?;
                        into.copy_from_slice(&word.to_le_bytes()[..bytes]);
                    }
                }
            }
            Matrix::Product { product, d, a, b, c } => {
                let [a, b, c] = [a, b, c].map(|values| get(self, values));
                let words = product.compute(&a, &b, &c)?;
                if words[0].len() != d.len() {
                    return Err(format!("{} registers for D", d.len()));
                }
                for (number, &d) in d.iter().enumerate() {
                    results.push((d, words.iter().map(|registers| registers[number]).collect()));
                }
            }
        }
        Ok(results)
    }
}
