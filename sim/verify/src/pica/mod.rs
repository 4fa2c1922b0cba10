//! A second implementation of PICA200 vertex shaders, written from their documentation (`docs/pica200.md`) alone.
//!
//! One vertex at a time, word by word. Numbers are bits of `f32`; in the 24-bit format arithmetic is done on exact
//! numbers, without any operation on floats.

mod f24;
mod operate;

use operate::Numbers;

/// A shader.
#[derive(Debug, Clone, Copy)]
pub struct Shader<'a> {
    /// Words of code.
    pub code: &'a [u32],
    /// Words of descriptors.
    pub descriptors: &'a [u32],
    /// The first word.
    pub entry: u32,
    /// The opcodes and meanings of the early text.
    pub early: bool,
}

/// The format of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 1 bit of sign, 7 of exponent, 16 of fraction.
    F24,
    /// binary32.
    F32,
}

/// The functions of the machine that runs the shader: from bits of `f32` to bits of `f32`.
#[derive(Debug, Clone, Copy)]
pub struct Special {
    /// 2 to this power.
    pub exp2: fn(u32) -> u32,
    /// Logarithm to base 2.
    pub log2: fn(u32) -> u32,
}

/// What all vertices share.
#[derive(Debug, Clone)]
pub struct Uniforms {
    /// Bits of `f32`: `c0` to `c95`.
    pub floats: [[u32; 4]; 96],
    /// x, y, z of `i0` to `i3`. Of each, 8 bits count.
    pub integers: [[u32; 3]; 4],
    /// Bit n is `bn`.
    pub booleans: u32,
}

/// Why a shader did not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It made as many steps as it was given.
    Steps,
    /// It did what has no meaning.
    Wrong(String),
}

/// What is active, with the words at its beginning and end.
#[derive(Debug, Clone, Copy)]
struct Active {
    first: u32,
    end: u32,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    If { continues_at: u32 },
    Call { continues_at: u32 },
    Loop { left: u32, step: u32, address_before: u32 },
}

struct Machine<'a> {
    shader: Shader<'a>,
    numbers: Numbers,
    inputs: [[u32; 4]; 16],
    floats: [[u32; 4]; 96],
    uniforms: &'a Uniforms,
    temporaries: [[u32; 4]; 16],
    outputs: [[u32; 4]; 16],
    /// `a0.x`, `a0.y`, `aL`.
    addresses: [u32; 3],
    flags: [bool; 2],
    active: Vec<Active>,
    next: u32,
}

/// Runs a shader for one vertex, in at most so many steps. Inputs and outputs are bits of `f32`.
///
/// # Errors
/// A shader that does not end, or does what has no meaning.
pub fn run(
    shader: Shader<'_>,
    format: Format,
    special: Special,
    uniforms: &Uniforms,
    inputs: &[[u32; 4]; 16],
    steps: u64,
) -> Result<[[u32; 4]; 16], Stop> {
    let numbers = Numbers { format, special };
    let mut machine = Machine {
        shader,
        numbers,
        inputs: inputs.map(|register| register.map(|bits| numbers.read(bits))),
        floats: uniforms.floats.map(|register| register.map(|bits| numbers.read(bits))),
        uniforms,
        temporaries: [[0; 4]; 16],
        outputs: [[0; 4]; 16],
        addresses: [0; 3],
        flags: [false; 2],
        active: Vec::new(),
        next: shader.entry,
    };
    for _ in 0..steps {
        if machine.step()? {
            return Ok(machine.outputs);
        }
    }
    Err(Stop::Steps)
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Wrong(what.into()))
}

/// `count` bits of a word from bit `first` on.
fn bits(word: u32, first: u32, count: u32) -> u32 {
    (word >> first) % (1 << count)
}

impl Machine<'_> {
    /// One instruction, or the end of something active. True at the end of the shader.
    fn step(&mut self) -> Result<bool, Stop> {
        if let Some(top) = self.active.last_mut()
            && top.end == self.next
        {
            match &mut top.what {
                What::If { continues_at } | What::Call { continues_at } => {
                    self.next = *continues_at;
                    self.active.pop();
                }
                What::Loop { left, step, address_before } => {
                    self.addresses[2] = self.addresses[2].wrapping_add(*step);
                    if *left > 0 {
                        *left -= 1;
                        self.next = top.first;
                    } else {
                        self.addresses[2] = *address_before;
                        self.active.pop();
                    }
                }
            }
            return Ok(false);
        }
        let Some(&word) = self.shader.code.get(self.next as usize) else {
            return wrong(format!("word {} is past the end", self.next));
        };
        let here = self.next;
        self.next += 1;
        let opcode = bits(word, 26, 6);
        let early = self.shader.early;
        if early
            && !matches!(opcode, 0..=2 | 8 | 0xC..=0xF | 0x13 | 0x21 | 0x22 | 0x24 | 0x26..=0x28 | 0x2E | 0x2F)
        {
            return wrong(format!("opcode {opcode:#x} is not in the early text"));
        }
        let (target, count) = (bits(word, 10, 12), bits(word, 0, 8));
        match opcode {
            0x20 => self.leave_loop()?,
            0x21 if early => return Ok(true),
            0x21 => {}
            0x22 => return Ok(true),
            0x23 if self.flags_hold(word) => self.leave_loop()?,
            0x23 => {}
            0x24..=0x26 => {
                let holds = match opcode {
                    0x24 => true,
                    0x25 => self.flags_hold(word),
                    _ => self.boolean(word),
                };
                if holds {
                    let what = What::Call { continues_at: self.next };
                    self.active.push(Active { first: target, end: target + count, what });
                    self.next = target;
                }
            }
            0x27 | 0x28 => {
                let holds = if opcode == 0x27 { self.boolean(word) } else { self.flags_hold(word) };
                if holds {
                    let what = What::If { continues_at: target + count };
                    self.active.push(Active { first: self.next, end: target, what });
                } else {
                    self.next = target;
                }
            }
            0x29 => {
                let [times, start, step] =
                    self.uniforms.integers[bits(word, 22, 2) as usize].map(|word| word & 0xFF);
                let what = What::Loop { left: times, step, address_before: self.addresses[2] };
                self.active.push(Active { first: here + 1, end: target + 1, what });
                self.addresses[2] = start;
            }
            0x2C if self.flags_hold(word) => self.jump(target),
            0x2D if self.boolean(word) != (count & 1 == 1) => self.jump(target),
            0x2C | 0x2D => {}
            _ => self.compute(word)?,
        }
        Ok(false)
    }

    fn boolean(&self, word: u32) -> bool {
        self.uniforms.booleans >> bits(word, 22, 4) & 1 == 1
    }

    fn flags_hold(&self, word: u32) -> bool {
        let x = self.flags[0] == (bits(word, 25, 1) == 1);
        let y = self.flags[1] == (bits(word, 24, 1) == 1);
        match bits(word, 22, 2) {
            0 => x || y,
            1 => x && y,
            2 => x,
            _ => y,
        }
    }

    /// Goes behind the innermost loop of the procedure under way.
    fn leave_loop(&mut self) -> Result<(), Stop> {
        while let Some(top) = self.active.pop() {
            match top.what {
                What::If { .. } => {}
                What::Call { .. } => break,
                What::Loop { address_before, .. } => {
                    self.addresses[2] = address_before;
                    self.next = top.end;
                    return Ok(());
                }
            }
        }
        wrong("a break outside of loops")
    }

    /// Goes to a word. Of the procedure under way, the ifs and loops end in which it is not.
    fn jump(&mut self, target: u32) {
        while let Some(top) = self.active.last() {
            let contains = top.first <= target && target <= top.end;
            match top.what {
                What::If { .. } if !contains => {}
                What::Loop { address_before, .. } if !contains => self.addresses[2] = address_before,
                _ => break,
            }
            self.active.pop();
        }
        self.next = target;
    }
}
