//! The instructions that compute.

use super::{Format, Machine, Special, Stop, bits, f24, wrong};
use std::cmp::Ordering;

/// Arithmetic in a format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) format: Format,
    pub(super) special: Special,
}

const ONE: u32 = 0x3F80_0000;
/// 127.99609375.
const BOUND: u32 = 0x42FF_FE00;

/// The bits of a result of the host: every NaN is the canonical one.
fn canonical(value: f32) -> u32 {
    if value.is_nan() { f24::NAN } else { value.to_bits() }
}

impl Numbers {
    /// A number of a buffer.
    pub(super) fn read(&self, a: u32) -> u32 {
        self.choose(a, f24::of_f32, |value| value)
    }

    fn choose(&self, a: u32, f24: fn(u32) -> u32, f32: fn(u32) -> u32) -> u32 {
        match self.format {
            Format::F24 => f24(a),
            Format::F32 => f32(a),
        }
    }

    fn negate(&self, a: u32) -> u32 {
        self.choose(a, f24::negate, |a| a ^ 0x8000_0000)
    }

    fn add(&self, a: u32, b: u32) -> u32 {
        match self.format {
            Format::F24 => f24::add(a, b),
            Format::F32 => canonical(f32::from_bits(a) + f32::from_bits(b)),
        }
    }

    fn mul(&self, a: u32, b: u32) -> u32 {
        if self.format == Format::F24 {
            return f24::mul(a, b);
        }
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        if a == 0.0 && b.is_infinite() || a.is_infinite() && b == 0.0 { 0 } else { canonical(a * b) }
    }

    fn reciprocal(&self, a: u32) -> u32 {
        self.choose(a, f24::reciprocal, |a| canonical(1.0 / f32::from_bits(a)))
    }

    fn reciprocal_root(&self, a: u32) -> u32 {
        let root = self.choose(a, f24::root, |a| canonical(f32::from_bits(a).sqrt()));
        self.reciprocal(root)
    }

    fn floor(&self, a: u32) -> u32 {
        self.choose(a, f24::floor, |a| canonical(f32::from_bits(a).floor()))
    }

    /// An integer, modulo 2^32.
    fn integer(&self, a: u32) -> u32 {
        // Both formats have the same numbers here.
        f24::truncate(a) as u32
    }

    fn exp2(&self, a: u32) -> u32 {
        self.read((self.special.exp2)(a))
    }

    fn log2(&self, a: u32) -> u32 {
        self.read((self.special.log2)(a))
    }

    fn order(&self, a: u32, b: u32) -> Option<Ordering> {
        match self.format {
            Format::F24 => f24::compare(a, b),
            Format::F32 => f32::from_bits(a).partial_cmp(&f32::from_bits(b)),
        }
    }

    fn is_less(&self, a: u32, b: u32) -> bool {
        self.order(a, b) == Some(Ordering::Less)
    }

    fn is_at_least(&self, a: u32, b: u32) -> bool {
        matches!(self.order(a, b), Some(Ordering::Greater | Ordering::Equal))
    }

    fn max(&self, a: u32, b: u32) -> u32 {
        if self.order(a, b) == Some(Ordering::Greater) { a } else { b }
    }

    fn min(&self, a: u32, b: u32) -> u32 {
        if self.is_less(a, b) { a } else { b }
    }

    fn truth(&self, truth: bool) -> u32 {
        if truth { ONE } else { 0 }
    }
}

impl Machine<'_> {
    /// The register that a source names; `address` is what is added to it.
    fn register(&self, number: u32, address: u32) -> [u32; 4] {
        match number {
            0..=15 => self.inputs[number as usize],
            16..=31 => self.temporaries[number as usize - 16],
            _ => {
                let added = if address == 0 { 0 } else { self.addresses[address as usize - 1] };
                let number = (number - 32).wrapping_add(added) % 128;
                self.floats.get(number as usize).copied().unwrap_or([ONE; 4])
            }
        }
    }

    /// A source with what its part of the descriptor asks for.
    fn source(&self, number: u32, address: u32, part: u32) -> [u32; 4] {
        let register = self.register(number, address);
        // Below the selectors is the negation; the selector of x is at the top.
        [7, 5, 3, 1].map(|up| {
            let value = register[bits(part, up, 2) as usize];
            if part & 1 == 1 { self.numbers.negate(value) } else { value }
        })
    }

    /// Does an instruction that computes.
    pub(super) fn compute(&mut self, word: u32) -> Result<(), Stop> {
        let opcode = bits(word, 26, 6);
        let is_mad = opcode >= 0x30;
        let number = bits(word, 0, if is_mad { 5 } else { 7 });
        let Some(&descriptor) = self.shader.descriptors.get(number as usize) else {
            return wrong(format!("there is no descriptor {number}"));
        };
        let parts = [descriptor >> 4, descriptor >> 13, descriptor >> 22];
        let address = bits(word, if is_mad { 22 } else { 19 }, 2);
        let (first, second, third) = match opcode {
            0x18..=0x1B => ((bits(word, 14, 5), 0), (bits(word, 7, 7), address), (0, 0)),
            0x30..=0x37 => ((bits(word, 17, 5), 0), (bits(word, 12, 5), 0), (bits(word, 5, 7), address)),
            0x38.. => ((bits(word, 17, 5), 0), (bits(word, 10, 7), address), (bits(word, 5, 5), 0)),
            _ => ((bits(word, 12, 7), address), (bits(word, 7, 5), 0), (0, 0)),
        };
        let a = self.source(first.0, first.1, parts[0]);
        let b = self.source(second.0, second.1, parts[1]);
        let c = self.source(third.0, third.1, parts[2]);
        let n = self.numbers;
        let each = |f: &dyn Fn(usize) -> u32| [0, 1, 2, 3].map(f);
        let dot = |count: usize| (0..count).fold(0, |sum, i| n.add(sum, n.mul(a[i], b[i])));
        let result = match opcode {
            0x00 => each(&|i| n.add(a[i], b[i])),
            0x01 => [dot(3); 4],
            0x02 => [dot(4); 4],
            0x03 | 0x18 => [n.add(dot(3), b[3]); 4],
            0x04 | 0x19 => [ONE, n.mul(a[1], b[1]), a[2], b[3]],
            0x05 => [n.exp2(a[0]); 4],
            0x06 => [n.log2(a[0]); 4],
            0x07 => {
                self.flags = [n.is_at_least(a[0], 0), n.is_at_least(a[3], 0)];
                let minus = BOUND | 0x8000_0000;
                [n.max(a[0], 0), n.max(n.min(a[1], BOUND), minus), 0, n.max(a[3], 0)]
            }
            0x08 => each(&|i| n.mul(a[i], b[i])),
            0x09 | 0x1A => each(&|i| n.truth(n.is_at_least(a[i], b[i]))),
            0x0A | 0x1B => each(&|i| n.truth(n.is_less(a[i], b[i]))),
            0x0B => each(&|i| n.floor(a[i])),
            0x0C => each(&|i| n.max(a[i], b[i])),
            0x0D => each(&|i| n.min(a[i], b[i])),
            0x0E if self.shader.early => each(&|i| n.reciprocal(a[i])),
            0x0F if self.shader.early => each(&|i| n.reciprocal_root(a[i])),
            0x0E => [n.reciprocal(a[0]); 4],
            0x0F => [n.reciprocal_root(a[0]); 4],
            0x12 => {
                for (i, value) in a.into_iter().take(2).enumerate() {
                    if bits(descriptor, 3 - i as u32, 1) == 1 {
                        self.addresses[i] = n.integer(value);
                    }
                }
                return Ok(());
            }
            0x13 => a,
            0x2E | 0x2F => {
                let relations = [bits(word, 24, 3), bits(word, 21, 3)];
                for (i, relation) in relations.into_iter().enumerate() {
                    let order = n.order(a[i], b[i]);
                    self.flags[i] = match relation {
                        0 => order == Some(Ordering::Equal),
                        1 => order != Some(Ordering::Equal),
                        2 => order == Some(Ordering::Less),
                        3 => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                        4 => order == Some(Ordering::Greater),
                        5 => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                        other => return wrong(format!("relation {other}")),
                    };
                }
                return Ok(());
            }
            0x30.. => each(&|i| n.add(n.mul(a[i], b[i]), c[i])),
            _ => return wrong(format!("opcode {opcode:#x}")),
        };
        let destination = bits(word, if is_mad { 24 } else { 21 }, 5) as usize;
        let register = match destination {
            0..=15 => &mut self.outputs[destination],
            _ => &mut self.temporaries[destination - 16],
        };
        for (i, value) in result.into_iter().enumerate() {
            if bits(descriptor, 3 - i as u32, 1) == 1 {
                register[i] = value;
            }
        }
        Ok(())
    }
}
