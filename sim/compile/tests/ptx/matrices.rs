//! Products of matrices by `mma.sync`, and `ldmatrix`, against the host: which thread has which element is written out here, as
//! the pictures of the PTX manual have it. The elements are small integers, whose sums are exact in any order.

use crate::machine::{BUFFERS, Run, rendered, run};

/// C and D of the shapes m16n8: thread and element, row by row.
const C_M16N8: &[&str] = &[
    "0:0 0:1 1:0 1:1 2:0 2:1 3:0 3:1",
    "4:0 4:1 5:0 5:1 6:0 6:1 7:0 7:1",
    "8:0 8:1 9:0 9:1 10:0 10:1 11:0 11:1",
    "12:0 12:1 13:0 13:1 14:0 14:1 15:0 15:1",
    "16:0 16:1 17:0 17:1 18:0 18:1 19:0 19:1",
    "20:0 20:1 21:0 21:1 22:0 22:1 23:0 23:1",
    "24:0 24:1 25:0 25:1 26:0 26:1 27:0 27:1",
    "28:0 28:1 29:0 29:1 30:0 30:1 31:0 31:1",
    "0:2 0:3 1:2 1:3 2:2 2:3 3:2 3:3",
    "4:2 4:3 5:2 5:3 6:2 6:3 7:2 7:3",
    "8:2 8:3 9:2 9:3 10:2 10:3 11:2 11:3",
    "12:2 12:3 13:2 13:3 14:2 14:3 15:2 15:3",
    "16:2 16:3 17:2 17:3 18:2 18:3 19:2 19:3",
    "20:2 20:3 21:2 21:3 22:2 22:3 23:2 23:3",
    "24:2 24:3 25:2 25:3 26:2 26:3 27:2 27:3",
    "28:2 28:3 29:2 29:3 30:2 30:3 31:2 31:3",
];

/// C and D of the shapes m8n8.
const C_M8N8: &[&str] = &[
    "0:0 0:1 1:0 1:1 2:0 2:1 3:0 3:1",
    "4:0 4:1 5:0 5:1 6:0 6:1 7:0 7:1",
    "8:0 8:1 9:0 9:1 10:0 10:1 11:0 11:1",
    "12:0 12:1 13:0 13:1 14:0 14:1 15:0 15:1",
    "16:0 16:1 17:0 17:1 18:0 18:1 19:0 19:1",
    "20:0 20:1 21:0 21:1 22:0 22:1 23:0 23:1",
    "24:0 24:1 25:0 25:1 26:0 26:1 27:0 27:1",
    "28:0 28:1 29:0 29:1 30:0 30:1 31:0 31:1",
];

/// A of m16n8k16, 16 bits.
const A_M16K16_OF_16_BITS: &[&str] = &[
    "0:0 0:1 1:0 1:1 2:0 2:1 3:0 3:1 0:4 0:5 1:4 1:5 2:4 2:5 3:4 3:5",
    "4:0 4:1 5:0 5:1 6:0 6:1 7:0 7:1 4:4 4:5 5:4 5:5 6:4 6:5 7:4 7:5",
    "8:0 8:1 9:0 9:1 10:0 10:1 11:0 11:1 8:4 8:5 9:4 9:5 10:4 10:5 11:4 11:5",
    "12:0 12:1 13:0 13:1 14:0 14:1 15:0 15:1 12:4 12:5 13:4 13:5 14:4 14:5 15:4 15:5",
    "16:0 16:1 17:0 17:1 18:0 18:1 19:0 19:1 16:4 16:5 17:4 17:5 18:4 18:5 19:4 19:5",
    "20:0 20:1 21:0 21:1 22:0 22:1 23:0 23:1 20:4 20:5 21:4 21:5 22:4 22:5 23:4 23:5",
    "24:0 24:1 25:0 25:1 26:0 26:1 27:0 27:1 24:4 24:5 25:4 25:5 26:4 26:5 27:4 27:5",
    "28:0 28:1 29:0 29:1 30:0 30:1 31:0 31:1 28:4 28:5 29:4 29:5 30:4 30:5 31:4 31:5",
    "0:2 0:3 1:2 1:3 2:2 2:3 3:2 3:3 0:6 0:7 1:6 1:7 2:6 2:7 3:6 3:7",
    "4:2 4:3 5:2 5:3 6:2 6:3 7:2 7:3 4:6 4:7 5:6 5:7 6:6 6:7 7:6 7:7",
    "8:2 8:3 9:2 9:3 10:2 10:3 11:2 11:3 8:6 8:7 9:6 9:7 10:6 10:7 11:6 11:7",
    "12:2 12:3 13:2 13:3 14:2 14:3 15:2 15:3 12:6 12:7 13:6 13:7 14:6 14:7 15:6 15:7",
    "16:2 16:3 17:2 17:3 18:2 18:3 19:2 19:3 16:6 16:7 17:6 17:7 18:6 18:7 19:6 19:7",
    "20:2 20:3 21:2 21:3 22:2 22:3 23:2 23:3 20:6 20:7 21:6 21:7 22:6 22:7 23:6 23:7",
    "24:2 24:3 25:2 25:3 26:2 26:3 27:2 27:3 24:6 24:7 25:6 25:7 26:6 26:7 27:6 27:7",
    "28:2 28:3 29:2 29:3 30:2 30:3 31:2 31:3 28:6 28:7 29:6 29:7 30:6 30:7 31:6 31:7",
];

/// B of m16n8k16, 16 bits.
const B_K16_OF_16_BITS: &[&str] = &[
    "0:0 4:0 8:0 12:0 16:0 20:0 24:0 28:0",
    "0:1 4:1 8:1 12:1 16:1 20:1 24:1 28:1",
    "1:0 5:0 9:0 13:0 17:0 21:0 25:0 29:0",
    "1:1 5:1 9:1 13:1 17:1 21:1 25:1 29:1",
    "2:0 6:0 10:0 14:0 18:0 22:0 26:0 30:0",
    "2:1 6:1 10:1 14:1 18:1 22:1 26:1 30:1",
    "3:0 7:0 11:0 15:0 19:0 23:0 27:0 31:0",
    "3:1 7:1 11:1 15:1 19:1 23:1 27:1 31:1",
    "0:2 4:2 8:2 12:2 16:2 20:2 24:2 28:2",
    "0:3 4:3 8:3 12:3 16:3 20:3 24:3 28:3",
    "1:2 5:2 9:2 13:2 17:2 21:2 25:2 29:2",
    "1:3 5:3 9:3 13:3 17:3 21:3 25:3 29:3",
    "2:2 6:2 10:2 14:2 18:2 22:2 26:2 30:2",
    "2:3 6:3 10:3 14:3 18:3 22:3 26:3 30:3",
    "3:2 7:2 11:2 15:2 19:2 23:2 27:2 31:2",
    "3:3 7:3 11:3 15:3 19:3 23:3 27:3 31:3",
];

/// A of m16n8k8, tf32.
const A_M16K8_OF_32_BITS: &[&str] = &[
    "0:0 1:0 2:0 3:0 0:2 1:2 2:2 3:2",
    "4:0 5:0 6:0 7:0 4:2 5:2 6:2 7:2",
    "8:0 9:0 10:0 11:0 8:2 9:2 10:2 11:2",
    "12:0 13:0 14:0 15:0 12:2 13:2 14:2 15:2",
    "16:0 17:0 18:0 19:0 16:2 17:2 18:2 19:2",
    "20:0 21:0 22:0 23:0 20:2 21:2 22:2 23:2",
    "24:0 25:0 26:0 27:0 24:2 25:2 26:2 27:2",
    "28:0 29:0 30:0 31:0 28:2 29:2 30:2 31:2",
    "0:1 1:1 2:1 3:1 0:3 1:3 2:3 3:3",
    "4:1 5:1 6:1 7:1 4:3 5:3 6:3 7:3",
    "8:1 9:1 10:1 11:1 8:3 9:3 10:3 11:3",
    "12:1 13:1 14:1 15:1 12:3 13:3 14:3 15:3",
    "16:1 17:1 18:1 19:1 16:3 17:3 18:3 19:3",
    "20:1 21:1 22:1 23:1 20:3 21:3 22:3 23:3",
    "24:1 25:1 26:1 27:1 24:3 25:3 26:3 27:3",
    "28:1 29:1 30:1 31:1 28:3 29:3 30:3 31:3",
];

/// B of m16n8k8, tf32.
const B_K8_OF_32_BITS: &[&str] = &[
    "0:0 4:0 8:0 12:0 16:0 20:0 24:0 28:0",
    "1:0 5:0 9:0 13:0 17:0 21:0 25:0 29:0",
    "2:0 6:0 10:0 14:0 18:0 22:0 26:0 30:0",
    "3:0 7:0 11:0 15:0 19:0 23:0 27:0 31:0",
    "0:1 4:1 8:1 12:1 16:1 20:1 24:1 28:1",
    "1:1 5:1 9:1 13:1 17:1 21:1 25:1 29:1",
    "2:1 6:1 10:1 14:1 18:1 22:1 26:1 30:1",
    "3:1 7:1 11:1 15:1 19:1 23:1 27:1 31:1",
];

/// A of m16n8k32, 8 bits.
const A_M16K32_OF_8_BITS: &[&str] = &[
    "0:0 0:1 0:2 0:3 1:0 1:1 1:2 1:3 2:0 2:1 2:2 2:3 3:0 3:1 3:2 3:3 0:8 0:9 0:10 0:11 1:8 1:9 1:10 1:11 2:8 2:9 2:10 2:11 3:8 3:9 3:10 3:11",
    "4:0 4:1 4:2 4:3 5:0 5:1 5:2 5:3 6:0 6:1 6:2 6:3 7:0 7:1 7:2 7:3 4:8 4:9 4:10 4:11 5:8 5:9 5:10 5:11 6:8 6:9 6:10 6:11 7:8 7:9 7:10 7:11",
    "8:0 8:1 8:2 8:3 9:0 9:1 9:2 9:3 10:0 10:1 10:2 10:3 11:0 11:1 11:2 11:3 8:8 8:9 8:10 8:11 9:8 9:9 9:10 9:11 10:8 10:9 10:10 10:11 11:8 11:9 11:10 11:11",
    "12:0 12:1 12:2 12:3 13:0 13:1 13:2 13:3 14:0 14:1 14:2 14:3 15:0 15:1 15:2 15:3 12:8 12:9 12:10 12:11 13:8 13:9 13:10 13:11 14:8 14:9 14:10 14:11 15:8 15:9 15:10 15:11",
    "16:0 16:1 16:2 16:3 17:0 17:1 17:2 17:3 18:0 18:1 18:2 18:3 19:0 19:1 19:2 19:3 16:8 16:9 16:10 16:11 17:8 17:9 17:10 17:11 18:8 18:9 18:10 18:11 19:8 19:9 19:10 19:11",
    "20:0 20:1 20:2 20:3 21:0 21:1 21:2 21:3 22:0 22:1 22:2 22:3 23:0 23:1 23:2 23:3 20:8 20:9 20:10 20:11 21:8 21:9 21:10 21:11 22:8 22:9 22:10 22:11 23:8 23:9 23:10 23:11",
    "24:0 24:1 24:2 24:3 25:0 25:1 25:2 25:3 26:0 26:1 26:2 26:3 27:0 27:1 27:2 27:3 24:8 24:9 24:10 24:11 25:8 25:9 25:10 25:11 26:8 26:9 26:10 26:11 27:8 27:9 27:10 27:11",
    "28:0 28:1 28:2 28:3 29:0 29:1 29:2 29:3 30:0 30:1 30:2 30:3 31:0 31:1 31:2 31:3 28:8 28:9 28:10 28:11 29:8 29:9 29:10 29:11 30:8 30:9 30:10 30:11 31:8 31:9 31:10 31:11",
    "0:4 0:5 0:6 0:7 1:4 1:5 1:6 1:7 2:4 2:5 2:6 2:7 3:4 3:5 3:6 3:7 0:12 0:13 0:14 0:15 1:12 1:13 1:14 1:15 2:12 2:13 2:14 2:15 3:12 3:13 3:14 3:15",
    "4:4 4:5 4:6 4:7 5:4 5:5 5:6 5:7 6:4 6:5 6:6 6:7 7:4 7:5 7:6 7:7 4:12 4:13 4:14 4:15 5:12 5:13 5:14 5:15 6:12 6:13 6:14 6:15 7:12 7:13 7:14 7:15",
    "8:4 8:5 8:6 8:7 9:4 9:5 9:6 9:7 10:4 10:5 10:6 10:7 11:4 11:5 11:6 11:7 8:12 8:13 8:14 8:15 9:12 9:13 9:14 9:15 10:12 10:13 10:14 10:15 11:12 11:13 11:14 11:15",
    "12:4 12:5 12:6 12:7 13:4 13:5 13:6 13:7 14:4 14:5 14:6 14:7 15:4 15:5 15:6 15:7 12:12 12:13 12:14 12:15 13:12 13:13 13:14 13:15 14:12 14:13 14:14 14:15 15:12 15:13 15:14 15:15",
    "16:4 16:5 16:6 16:7 17:4 17:5 17:6 17:7 18:4 18:5 18:6 18:7 19:4 19:5 19:6 19:7 16:12 16:13 16:14 16:15 17:12 17:13 17:14 17:15 18:12 18:13 18:14 18:15 19:12 19:13 19:14 19:15",
    "20:4 20:5 20:6 20:7 21:4 21:5 21:6 21:7 22:4 22:5 22:6 22:7 23:4 23:5 23:6 23:7 20:12 20:13 20:14 20:15 21:12 21:13 21:14 21:15 22:12 22:13 22:14 22:15 23:12 23:13 23:14 23:15",
    "24:4 24:5 24:6 24:7 25:4 25:5 25:6 25:7 26:4 26:5 26:6 26:7 27:4 27:5 27:6 27:7 24:12 24:13 24:14 24:15 25:12 25:13 25:14 25:15 26:12 26:13 26:14 26:15 27:12 27:13 27:14 27:15",
    "28:4 28:5 28:6 28:7 29:4 29:5 29:6 29:7 30:4 30:5 30:6 30:7 31:4 31:5 31:6 31:7 28:12 28:13 28:14 28:15 29:12 29:13 29:14 29:15 30:12 30:13 30:14 30:15 31:12 31:13 31:14 31:15",
];

/// B of m16n8k32, 8 bits.
const B_K32_OF_8_BITS: &[&str] = &[
    "0:0 4:0 8:0 12:0 16:0 20:0 24:0 28:0",
    "0:1 4:1 8:1 12:1 16:1 20:1 24:1 28:1",
    "0:2 4:2 8:2 12:2 16:2 20:2 24:2 28:2",
    "0:3 4:3 8:3 12:3 16:3 20:3 24:3 28:3",
    "1:0 5:0 9:0 13:0 17:0 21:0 25:0 29:0",
    "1:1 5:1 9:1 13:1 17:1 21:1 25:1 29:1",
    "1:2 5:2 9:2 13:2 17:2 21:2 25:2 29:2",
    "1:3 5:3 9:3 13:3 17:3 21:3 25:3 29:3",
    "2:0 6:0 10:0 14:0 18:0 22:0 26:0 30:0",
    "2:1 6:1 10:1 14:1 18:1 22:1 26:1 30:1",
    "2:2 6:2 10:2 14:2 18:2 22:2 26:2 30:2",
    "2:3 6:3 10:3 14:3 18:3 22:3 26:3 30:3",
    "3:0 7:0 11:0 15:0 19:0 23:0 27:0 31:0",
    "3:1 7:1 11:1 15:1 19:1 23:1 27:1 31:1",
    "3:2 7:2 11:2 15:2 19:2 23:2 27:2 31:2",
    "3:3 7:3 11:3 15:3 19:3 23:3 27:3 31:3",
    "0:4 4:4 8:4 12:4 16:4 20:4 24:4 28:4",
    "0:5 4:5 8:5 12:5 16:5 20:5 24:5 28:5",
    "0:6 4:6 8:6 12:6 16:6 20:6 24:6 28:6",
    "0:7 4:7 8:7 12:7 16:7 20:7 24:7 28:7",
    "1:4 5:4 9:4 13:4 17:4 21:4 25:4 29:4",
    "1:5 5:5 9:5 13:5 17:5 21:5 25:5 29:5",
    "1:6 5:6 9:6 13:6 17:6 21:6 25:6 29:6",
    "1:7 5:7 9:7 13:7 17:7 21:7 25:7 29:7",
    "2:4 6:4 10:4 14:4 18:4 22:4 26:4 30:4",
    "2:5 6:5 10:5 14:5 18:5 22:5 26:5 30:5",
    "2:6 6:6 10:6 14:6 18:6 22:6 26:6 30:6",
    "2:7 6:7 10:7 14:7 18:7 22:7 26:7 30:7",
    "3:4 7:4 11:4 15:4 19:4 23:4 27:4 31:4",
    "3:5 7:5 11:5 15:5 19:5 23:5 27:5 31:5",
    "3:6 7:6 11:6 15:6 19:6 23:6 27:6 31:6",
    "3:7 7:7 11:7 15:7 19:7 23:7 27:7 31:7",
];

/// A of m8n8k4, f64.
const A_M8K4_OF_64_BITS: &[&str] = &[
    "0:0 1:0 2:0 3:0",
    "4:0 5:0 6:0 7:0",
    "8:0 9:0 10:0 11:0",
    "12:0 13:0 14:0 15:0",
    "16:0 17:0 18:0 19:0",
    "20:0 21:0 22:0 23:0",
    "24:0 25:0 26:0 27:0",
    "28:0 29:0 30:0 31:0",
];

/// B of m8n8k4, f64.
const B_K4_OF_64_BITS: &[&str] = &[
    "0:0 4:0 8:0 12:0 16:0 20:0 24:0 28:0",
    "1:0 5:0 9:0 13:0 17:0 21:0 25:0 29:0",
    "2:0 6:0 10:0 14:0 18:0 22:0 26:0 30:0",
    "3:0 7:0 11:0 15:0 19:0 23:0 27:0 31:0",
];

/// How an element lies in a register.
#[derive(Debug, Clone, Copy)]
struct Element {
    bits: usize,
    /// Bits of a small integer.
    of: fn(i64) -> u64,
}

const F16: Element = Element { bits: 16, of: |value| half::f16::from_f32(value as f32).to_bits().into() };
const BF16: Element = Element { bits: 16, of: |value| half::bf16::from_f32(value as f32).to_bits().into() };
// The last bits of a tf32 do not count.
const TF32: Element = Element { bits: 32, of: |value| u64::from((value as f32).to_bits() | 0x1ABC) };
const F32: Element = Element { bits: 32, of: |value| (value as f32).to_bits().into() };
const F64: Element = Element { bits: 64, of: |value| (value as f64).to_bits() };
const S32: Element = Element { bits: 32, of: |value| u64::from((value as i32).cast_unsigned()) };
const S8: Element = Element { bits: 8, of: |value| u64::from((value as i8).cast_unsigned()) };
const U8: Element = Element { bits: 8, of: |value| u64::from(value as u8) };

/// A matrix: where its elements are, what they are, and their values row by row.
struct Matrix {
    table: &'static [&'static str],
    element: Element,
    values: Vec<i64>,
}

impl Matrix {
    fn new(table: &'static [&'static str], element: Element, at: impl Fn(usize, usize) -> i64) -> Matrix {
        let columns = table[0].split(' ').count();
        let values = (0..table.len() * columns).map(|i| at(i / columns, i % columns)).collect();
        Matrix { table, element, values }
    }

    fn columns(&self) -> usize {
        self.values.len() / self.table.len()
    }

    /// Bytes of the registers of each thread.
    fn registers(&self) -> Vec<Vec<u8>> {
        let bytes = self.element.bits / 8;
        let mut registers = vec![vec![0; self.values.len() / 32 * bytes]; 32];
        for (cell, &value) in self.table.iter().flat_map(|row| row.split(' ')).zip(&self.values) {
            let (thread, number) = cell.split_once(':').expect("thread:element");
            let (thread, number): (usize, usize) = (thread.parse().unwrap(), number.parse().unwrap());
            let place = &mut registers[thread][number * bytes..][..bytes];
            place.copy_from_slice(&(self.element.of)(value).to_le_bytes()[..bytes]);
        }
        registers
    }
}

/// The text of a kernel that loads the registers of a thread, 128 bytes of input, does something and stores what follows.
fn kernel(name: &str, [d, a, b, c]: [&str; 4]) -> String {
    let (mut loads, mut place) = (String::new(), 0);
    let mut registers = |kind: &str, bytes: usize, count: usize, loads: &mut String| {
        let prefix = |number: usize| format!("%{kind}{bytes}_{number}");
        (0..count)
            .map(|number| {
                let register = prefix(number);
                loads.push_str(&format!(".reg .b{} {register};\n", 8 * bytes));
                if kind != "d" {
                    loads.push_str(&format!("ld.global.b{} {register}, [%rd1+{place}];\n", 8 * bytes));
                    place += bytes;
                }
                register
            })
            .collect::<Vec<_>>()
    };
    let mut of = |kind: &str, text: &str| {
        let (bytes, count) = text.split_once('x').expect("bytes x count");
        registers(kind, bytes.parse().unwrap(), count.parse().unwrap(), &mut loads)
    };
    let [a, b, c, d] = [("a", a), ("b", b), ("c", c), ("d", d)].map(|(kind, text)| of(kind, text));
    let mut stores = String::new();
    let mut at = 128;
    for register in &d {
        let bytes = if register.contains("d8") { 8 } else { 4 };
        stores.push_str(&format!("st.global.b{} [%rd1+{at}], {register};\n", 8 * bytes));
        at += bytes;
    }
    let [a, b, c, d] = [a, b, c, d].map(|all| all.join(", "));
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd<4>;\n\
         .reg .b32 %r<4>;\nld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 256;\n\
         add.s64 %rd1, %rd1, %rd0;\n{loads}{name} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};\n{stores}ret;\n}}\n"
    )
}

/// Runs a product, and compares D with that of the host.
fn check(name: &str, registers: [&str; 4], [a, b, c]: [Matrix; 3], d: Element) {
    let all = [&a, &b, &c].map(Matrix::registers);
    let mut contents = vec![0; 32 * 256];
    for (thread, place) in contents.chunks_exact_mut(256).enumerate() {
        let bytes = all.iter().flat_map(|registers| registers[thread].clone()).collect::<Vec<u8>>();
        place[..bytes.len()].copy_from_slice(&bytes);
    }
    let launch = Run { kernel: "k", grid: 1, threads: 32, dynamic: 0, arguments: vec![BUFFERS, 0] };
    let after =
        run(&kernel(name, registers), &launch, &contents).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (inner, columns) = (a.columns(), b.columns());
    let product = |row: usize, column: usize| -> i64 {
        let terms = (0..inner).map(|k| a.values[row * inner + k] * b.values[k * columns + column]);
        c.values[row * columns + column] + terms.sum::<i64>()
    };
    let expected = Matrix::new(c.table, d, product).registers();
    for (thread, place) in after.chunks_exact(256).enumerate() {
        assert_eq!(place[128..][..expected[thread].len()], expected[thread][..], "{name}: thread {thread}");
    }
}

/// Small integers that differ from place to place.
fn small(row: usize, column: usize) -> i64 {
    (row * 7 + column * 3 + row * column) as i64 % 11 - 5
}

fn other(row: usize, column: usize) -> i64 {
    (row * 5 + column * 11 + row * column * 3) as i64 % 13 - 6
}

fn third(row: usize, column: usize) -> i64 {
    (row * 8 + column) as i64
}

#[test]
fn products_of_16_bits() {
    for (a, ty) in [(F16, "f16"), (BF16, "bf16")] {
        let name = format!("mma.sync.aligned.m16n8k16.row.col.f32.{ty}.{ty}.f32");
        let matrices = [
            Matrix::new(A_M16K16_OF_16_BITS, a, small),
            Matrix::new(B_K16_OF_16_BITS, a, other),
            Matrix::new(C_M16N8, F32, third),
        ];
        check(&name, ["4x4", "4x4", "4x2", "4x4"], matrices, F32);
    }
    let matrices = [
        Matrix::new(A_M16K16_OF_16_BITS, F16, small),
        Matrix::new(B_K16_OF_16_BITS, F16, other),
        Matrix::new(C_M16N8, F16, third),
    ];
    check("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", ["4x2", "4x4", "4x2", "4x2"], matrices, F16);
}

#[test]
fn products_of_tf32_and_f64() {
    let matrices = [
        Matrix::new(A_M16K8_OF_32_BITS, TF32, small),
        Matrix::new(B_K8_OF_32_BITS, TF32, other),
        Matrix::new(C_M16N8, F32, third),
    ];
    check("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ["4x4", "4x4", "4x2", "4x4"], matrices, F32);
    let matrices = [
        Matrix::new(A_M8K4_OF_64_BITS, F64, small),
        Matrix::new(B_K4_OF_64_BITS, F64, other),
        Matrix::new(C_M8N8, F64, third),
    ];
    check("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", ["8x2", "8x1", "8x1", "8x2"], matrices, F64);
}

#[test]
fn products_of_bytes() {
    let large = |row: usize, column: usize| (row * 37 + column * 91 + row * column) as i64 % 256;
    let signed = move |row: usize, column: usize| large(row, column) - 128;
    for (types, is_signed) in [("s32.s8.u8.s32", [true, false]), ("s32.u8.s8.s32", [false, true])] {
        let of = |is_signed: bool, table| match is_signed {
            true => Matrix::new(table, S8, signed),
            false => Matrix::new(table, U8, large),
        };
        let matrices = [
            of(is_signed[0], A_M16K32_OF_8_BITS),
            of(is_signed[1], B_K32_OF_8_BITS),
            Matrix::new(C_M16N8, S32, third),
        ];
        let name = format!("mma.sync.aligned.m16n8k32.row.col.{types}");
        check(&name, ["4x4", "4x4", "4x2", "4x4"], matrices, S32);
    }
}

/// Each thread gives the address of a row of the matrix of its eight; rows lie 48 bytes apart, and hold their own numbers.
#[test]
fn loads_and_stores_of_matrices() {
    let text = |load: &str, store: &str| {
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd<4>;\n\
             .reg .b32 %r<16>;\n.shared .align 16 .b8 rows[1536];\n.shared .align 16 .b8 copy[512];\n\
             ld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 32;\nadd.s64 %rd1, %rd1, %rd0;\n\
             mov.u32 %r1, rows;\nmad.lo.u32 %r2, %r0, 48, %r1;\n\
             ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd1];\nst.shared.v4.u32 [%r2], {{%r4, %r5, %r6, %r7}};\n\
             bar.sync 0;\n{load} {{%r8, %r9, %r10, %r11}}, [%r2];\n\
             mov.u32 %r3, copy;\nmad.lo.u32 %r3, %r0, 16, %r3;\n{store} [%r3], {{%r8, %r9, %r10, %r11}};\nbar.sync 0;\n\
             ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r3];\nst.global.v4.u32 [%rd1], {{%r8, %r9, %r10, %r11}};\n\
             st.global.v4.u32 [%rd1+16], {{%r4, %r5, %r6, %r7}};\nret;\n}}\n"
        )
    };
    // Element (row, column) of matrix i is 256 i + 16 row + column.
    let element = |matrix: usize, row: usize, column: usize| (256 * matrix + 16 * row + column) as u16;
    let mut contents = Vec::new();
    for thread in 0..32 {
        contents.extend((0..8).flat_map(|column| element(thread / 8, thread % 8, column).to_le_bytes()));
        contents.extend([0; 16]);
    }
    for (trans, store_trans) in [("", ""), (".trans", ""), ("", ".trans"), (".trans", ".trans")] {
        let [load, store] = [("ldmatrix", trans), ("stmatrix", store_trans)]
            .map(|(name, trans)| format!("{name}.sync.aligned.m8n8.x4{trans}.shared.b16"));
        let launch = Run { kernel: "k", grid: 1, threads: 32, dynamic: 0, arguments: vec![BUFFERS, 0] };
        let after = run(&text(&load, &store), &launch, &contents).expect("it runs");
        for thread in 0..32 {
            let of = |at: usize| {
                u16::from_le_bytes([after[32 * thread + 2 * at], after[32 * thread + 2 * at + 1]])
            };
            for matrix in 0..4 {
                for half in 0..2 {
                    // A thread has two elements of row T/4, in the columns 2 (T%4) and the next.
                    let (row, column) = (thread / 4, 2 * (thread % 4) + half);
                    let (row, column) = if trans.is_empty() { (row, column) } else { (column, row) };
                    assert_eq!(
                        of(2 * matrix + half),
                        element(matrix, row, column),
                        "{load}: thread {thread}"
                    );
                }
            }
            for column in 0..8 {
                let (row, column_of) = (thread % 8, column);
                let (row, column_of) = if trans == store_trans { (row, column_of) } else { (column_of, row) };
                assert_eq!(of(8 + column), element(thread / 8, row, column_of), "{store} of {load}");
            }
        }
    }
}

/// The bytes of a matrix in memory.
fn in_memory(values: &[i64], columns: usize, is_by_rows: bool, element: Element) -> Vec<u8> {
    let rows = values.len() / columns;
    let order = |i: usize| match is_by_rows {
        true => i,
        false => i % rows * columns + i / rows,
    };
    let bits = (0..values.len()).map(|i| (element.of)(values[order(i)]));
    bits.flat_map(|bits| bits.to_le_bytes()[..element.bits / 8].to_vec()).collect()
}

/// Whole matrices from memory, as a product, and back, for all layouts.
#[test]
fn whole_matrices() {
    let cases = [
        ("m16n16k16", [16, 16, 16], "f16", F16, "f32", F32),
        ("m32n8k16", [32, 8, 16], "f16", F16, "f16", F16),
        ("m8n32k16", [8, 32, 16], "bf16", BF16, "f32", F32),
        ("m16n16k16", [16, 16, 16], "s8", S8, "s32", S32),
        ("m32n8k16", [32, 8, 16], "s8", S8, "s32", S32),
        ("m16n16k8", [16, 16, 8], "tf32", TF32, "f32", F32),
        ("m8n8k4", [8, 8, 4], "f64", F64, "f64", F64),
    ];
    for (shape, [m, n, k], ty, element, sum, of_sum) in cases {
        for layouts in 0..16 {
            let is_by_rows = [0, 1, 2, 3].map(|bit| layouts >> bit & 1 == 0);
            let names = is_by_rows.map(|is_by_rows| if is_by_rows { "row" } else { "col" });
            let registers = |prefix: &str, count: usize| {
                (0..count).map(|number| format!("%{prefix}{number}")).collect::<Vec<_>>().join(", ")
            };
            let count = |elements: usize, element: Element| elements / 32 * element.bits.min(32) / 32;
            let (a, b, c) = match ty {
                "f16" => (registers("a", 8), registers("b", 8), registers("c", count(m * n, of_sum))),
                "f64" => ("%x0".to_owned(), "%x1".to_owned(), "%x2, %x3".to_owned()),
                _ => (
                    registers("a", count(m * k, element)),
                    registers("b", count(k * n, element)),
                    registers("c", count(m * n, of_sum)),
                ),
            };
            let types = if ty == "f16" { format!("{sum}.{sum}") } else { format!("{sum}.{ty}.{ty}.{sum}") };
            let (of_b, of_c, of_d) = (2048, 4096, 6144);
            let text = format!(
                ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd<4>;\n\
                 .reg .b32 %a<8>;\n.reg .b32 %b<8>;\n.reg .b32 %c<8>;\n.reg .f64 %x<4>;\nld.param.u64 %rd0, [p];\n\
                 wmma.load.a.sync.aligned.{}.{shape}.global.{ty} {{{a}}}, [%rd0];\n\
                 wmma.load.b.sync.aligned.{}.{shape}.global.{ty} {{{b}}}, [%rd0+{of_b}];\n\
                 wmma.load.c.sync.aligned.{}.{shape}.global.{sum} {{{c}}}, [%rd0+{of_c}];\n\
                 wmma.mma.sync.aligned.row.col.{shape}.{types} {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};\n\
                 wmma.store.d.sync.aligned.{}.{shape}.global.{sum} [%rd0+{of_d}], {{{c}}};\nret;\n}}\n",
                names[0], names[1], names[2], names[3]
            );
            let values = |rows: usize, columns: usize, at: fn(usize, usize) -> i64| -> Vec<i64> {
                (0..rows * columns).map(|i| at(i / columns, i % columns)).collect()
            };
            let (left, right, start) = (values(m, k, small), values(k, n, other), values(m, n, third));
            let mut contents = vec![0; 8192];
            let mut put = |at: usize, bytes: Vec<u8>| contents[at..][..bytes.len()].copy_from_slice(&bytes);
            put(0, in_memory(&left, k, is_by_rows[0], element));
            put(of_b, in_memory(&right, n, is_by_rows[1], element));
            put(of_c, in_memory(&start, n, is_by_rows[2], of_sum));
            let product: Vec<i64> = (0..m * n)
                .map(|i| {
                    start[i] + (0..k).map(|at| left[i / n * k + at] * right[at * n + i % n]).sum::<i64>()
                })
                .collect();
            let launch = Run { kernel: "k", grid: 1, threads: 32, dynamic: 0, arguments: vec![BUFFERS, 0] };
            let after =
                run(&text, &launch, &contents).unwrap_or_else(|error| panic!("{shape} {ty}: {error}"));
            let expected = in_memory(&product, n, is_by_rows[3], of_sum);
            assert_eq!(after[of_d..][..expected.len()], expected, "{shape} of {ty}: {names:?}");
        }
    }
}

/// The first product is reported to have other cycles than those of a tensor unit.
#[test]
fn a_product_has_a_remark() {
    let text = kernel("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ["4x4", "4x4", "4x2", "4x4"]);
    let (_, warnings) = crate::machine::program(&text).expect("it compiles");
    assert!(rendered(&warnings).contains("not those of a tensor unit"), "{warnings:?}");
}
