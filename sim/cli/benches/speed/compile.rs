//! Compiling a module of one megabyte: decoding (with validation), verification, and code for all its kernels.

use super::host;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::time::Instant;
use wave_compile::ir::{Exported, verify::verify};
use wave_compile::{Options, compile, wasm};

/// Bytes of the module.
const BYTES: usize = 1_000_000;
/// Functions that a kernel calls, and bytes of a function, about.
const CALLED: u32 = 15;
const FUNCTION_BYTES: usize = 700;
/// The fastest of so many times.
const TURNS: usize = 3;

pub(crate) fn part() {
    let module = Generator::module();
    let mut best = [f64::INFINITY; 3];
    let mut figures = String::new();
    for _ in 0..TURNS {
        let (decoded, decoding) = timed(|| wasm::decode(&module).unwrap_or_else(|error| panic!("{error}")));
        let (_, verifying) = timed(|| verify(&decoded.module).unwrap_or_else(|error| panic!("{error}")));
        let kernels = decoded.module.exports.iter().filter_map(|(_, exported)| match exported {
            Exported::Function(function) => Some(*function),
            _ => None,
        });
        let kernels: Vec<_> = kernels.collect();
        let (instructions, compiling) = timed(|| {
            let made = kernels.iter().map(|&kernel| {
                let made = compile(&decoded.module, kernel, &Options::default());
                u64::from(made.unwrap_or_else(|error| panic!("{error}")).statistics.instructions)
            });
            made.sum::<u64>()
        });
        figures = format!(
            "{} functions, {} kernels that call {CALLED} each; {instructions} instructions for WAVE",
            decoded.module.functions.len(),
            kernels.len()
        );
        for (best, time) in best.iter_mut().zip([decoding, verifying, compiling]) {
            *best = best.min(time);
        }
    }
    let [decoding, verifying, compiling] = best;
    println!("a module of {:.2} MB: {figures}", module.len() as f64 / 1e6);
    println!("  decode {decoding:8.1} ms");
    println!("  verify {verifying:8.1} ms");
    println!("  compile {compiling:7.1} ms");
    println!("  all    {:8.1} ms of one processor (the fastest of {TURNS} each)", best.iter().sum::<f64>());
}

/// Result and time in milliseconds: that of the processor where the system says it, since others may use the host too.
fn timed<T>(act: impl FnOnce() -> T) -> (T, f64) {
    let (start, used) = (Instant::now(), host::thread_nanoseconds());
    let result = act();
    let time = match (used, host::thread_nanoseconds()) {
        (Some(before), Some(after)) => (after - before) as f64 / 1e6,
        _ => start.elapsed().as_secs_f64() * 1e3,
    };
    (result, time)
}

/// Writes functions `(i32, i32, f32) -> f32` of arithmetic, memory accesses, branches and loops.
struct Generator {
    random: Pcg64,
    code: Vec<u8>,
}

/// Opcodes.
const IF: u8 = 0x04;
const ELSE: u8 = 0x05;
const LOOP: u8 = 0x03;
const END: u8 = 0x0B;
const BR_IF: u8 = 0x0D;
const CALL: u8 = 0x10;
const LOCAL_GET: u8 = 0x20;
const LOCAL_SET: u8 = 0x21;
const LOCAL_TEE: u8 = 0x22;
const I32_CONST: u8 = 0x41;
const I32_LT_U: u8 = 0x49;
const I32_ADD: u8 = 0x6A;
const EMPTY: u8 = 0x40;

/// Variables: parameters 0 (address), 1, 2 (`f32`); `i32` from 3 to 6, of which the last two count loops; `f32` from 7.
const INTEGERS: [u8; 3] = [1, 3, 4];
const COUNTERS: [u8; 2] = [5, 6];
const FLOATS: [u8; 3] = [2, 7, 8];

impl Generator {
    /// The module: in turn as many functions as a kernel calls, and the kernel.
    fn module() -> Vec<u8> {
        let mut generator = Generator { random: Pcg64::seed_from_u64(1), code: Vec::new() };
        let (mut types, mut exports, mut bodies, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        while bytes < BYTES {
            let body = match types.len() as u32 % (CALLED + 1) {
                CALLED => {
                    exports.push(types.len() as u32);
                    types.push(1);
                    generator.kernel(types.len() as u32 - 1)
                }
                _ => {
                    types.push(0);
                    generator.function()
                }
            };
            bytes += body.len() + 3;
            bodies.push(body);
        }
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        section(&mut module, 1, 2, &[0x60, 3, 0x7F, 0x7F, 0x7D, 1, 0x7D, 0x60, 3, 0x7F, 0x7F, 0x7D, 0]);
        section(&mut module, 3, types.len(), &types);
        section(&mut module, 5, 1, &[0, 64]);
        let mut named = Vec::new();
        for &kernel in &exports {
            let name = format!("k{kernel}");
            named.push(name.len() as u8);
            named.extend(name.as_bytes());
            named.push(0);
            number(&mut named, kernel);
        }
        section(&mut module, 7, exports.len(), &named);
        let mut code = Vec::new();
        for body in &bodies {
            number(&mut code, body.len() as u32);
            code.extend(body);
        }
        section(&mut module, 10, bodies.len(), &code);
        module
    }

    fn function(&mut self) -> Vec<u8> {
        self.code = vec![2, 4, 0x7F, 2, 0x7D];
        while self.code.len() < FUNCTION_BYTES {
            self.statement(0);
        }
        self.float(2);
        self.code.push(END);
        std::mem::take(&mut self.code)
    }

    /// A kernel calls the functions before it, and stores what they return.
    fn kernel(&mut self, index: u32) -> Vec<u8> {
        self.code = vec![0];
        for function in index - CALLED..index {
            self.code.extend([LOCAL_GET, 0, LOCAL_GET, 0, LOCAL_GET, 1, LOCAL_GET, 2, CALL]);
            number(&mut self.code, function);
            self.code.extend([0x38, 2]);
            number(&mut self.code, 4 * function);
        }
        self.code.push(END);
        std::mem::take(&mut self.code)
    }

    fn one_of(&mut self, variables: &[u8]) -> u8 {
        variables[self.random.random_range(0..variables.len())]
    }

    fn statement(&mut self, depth: usize) {
        match self.random.random_range(0..if depth < 2 { 10 } else { 7 }) {
            0..3 => {
                self.integer(3);
                let variable = self.one_of(&INTEGERS);
                self.code.extend([LOCAL_SET, variable]);
            }
            3..5 => {
                self.float(3);
                let variable = self.one_of(&FLOATS);
                self.code.extend([LOCAL_SET, variable]);
            }
            5 => {
                self.address();
                self.integer(2);
                self.code.extend([0x36, 2, 16]);
            }
            6 => {
                self.address();
                self.float(2);
                self.code.extend([0x38, 2, 32]);
            }
            7..9 => {
                self.condition();
                self.code.extend([IF, EMPTY]);
                (0..2).for_each(|_| self.statement(depth + 1));
                if self.random.random() {
                    self.code.push(ELSE);
                    self.statement(depth + 1);
                }
                self.code.push(END);
            }
            _ => {
                let counter = COUNTERS[depth];
                self.code.extend([I32_CONST, 0, LOCAL_SET, counter, LOOP, EMPTY]);
                (0..3).for_each(|_| self.statement(depth + 1));
                let next = [LOCAL_GET, counter, I32_CONST, 1, I32_ADD, LOCAL_TEE, counter];
                self.code.extend(next);
                self.code.extend([LOCAL_GET, 1, I32_LT_U, BR_IF, 0, END]);
            }
        }
    }

    /// An address in the first quarter of a page behind parameter 0.
    fn address(&mut self) {
        self.code.extend([LOCAL_GET, 0]);
        self.integer(1);
        // and with 0x3FFC
        self.code.extend([I32_CONST, 0xFC, 0xFF, 0x00, 0x71, I32_ADD]);
    }

    fn condition(&mut self) {
        self.integer(1);
        self.integer(1);
        let comparison = self.random.random_range(0x46..0x50);
        self.code.push(comparison);
    }

    fn integer(&mut self, depth: usize) {
        match self.random.random_range(0..if depth > 0 { 8 } else { 2 }) {
            0 => {
                let variable = self.one_of(&INTEGERS);
                self.code.extend([LOCAL_GET, variable]);
            }
            1 => {
                let value = self.random.random_range(0..64);
                self.code.extend([I32_CONST, value]);
            }
            2 => {
                self.address();
                self.code.extend([0x28, 2, 8]);
            }
            _ => {
                self.integer(depth - 1);
                self.integer(depth - 1);
                let operations = [0x6A, 0x6B, 0x6C, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76];
                let operation = self.one_of(&operations);
                self.code.push(operation);
            }
        }
    }

    fn float(&mut self, depth: usize) {
        match self.random.random_range(0..if depth > 0 { 8 } else { 2 }) {
            0 => {
                let variable = self.one_of(&FLOATS);
                self.code.extend([LOCAL_GET, variable]);
            }
            1 => {
                let value: f32 = self.random.random();
                self.code.push(0x43);
                self.code.extend(value.to_le_bytes());
            }
            2 => {
                self.address();
                self.code.extend([0x2A, 2, 24]);
            }
            3 => {
                self.integer(depth - 1);
                self.code.push(0xB2);
            }
            _ => {
                self.float(depth - 1);
                self.float(depth - 1);
                let operation = self.one_of(&[0x92, 0x93, 0x94]);
                self.code.push(operation);
            }
        }
    }
}

/// Appends a section of so many entries.
fn section(module: &mut Vec<u8>, id: u8, count: usize, entries: &[u8]) {
    let mut content = Vec::new();
    number(&mut content, count as u32);
    content.extend(entries);
    module.push(id);
    number(module, content.len() as u32);
    module.extend(content);
}

/// Appends a number in LEB128.
fn number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
