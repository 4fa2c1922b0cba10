//! Statements without branches.

use super::{COUNTS, Class, Maker, Part};
use std::fmt::Write as _;

/// Registers from the input of the thread.
pub(super) fn beginning() -> String {
    let mut text = String::new();
    let mut word = 0;
    for (class, count) in COUNTS {
        let (prefix, _) = class.names();
        for number in 0..count {
            let register = format!("{prefix}{number}");
            let at = |words: u32| 4 * (word % (super::INPUT_WORDS - words + 1));
            _ = match class {
                Class::Half | Class::Short => writeln!(text, "ld.global.u16 {register}, [%a1+{}];", at(1)),
                Class::Word => writeln!(text, "ld.global.u32 {register}, [%a1+{}];", at(1)),
                Class::Single => writeln!(text, "ld.global.f32 {register}, [%a1+{}];", at(1)),
                // Words at an even place, since an access is aligned.
                Class::Wide => writeln!(text, "ld.global.u64 {register}, [%a1+{}];", at(2) & !7),
                Class::Double => {
                    writeln!(text, "ld.global.f32 %ft0, [%a1+{}];\ncvt.f64.f32 {register}, %ft0;", at(1))
                }
                Class::Truth => writeln!(
                    text,
                    "ld.global.u32 %t2, [%a1+{}];\nsetp.gt.u32 {register}, %t2, {};",
                    at(1),
                    number * 7
                ),
            };
            word += 1;
        }
    }
    text
}

/// All registers to the output of the thread; each NaN with the same bits.
pub(super) fn ending() -> String {
    let mut text = String::new();
    let mut place: u32 = 0;
    for (class, count) in COUNTS {
        let (prefix, _) = class.names();
        for number in 0..count {
            let register = format!("{prefix}{number}");
            let bytes = if matches!(class, Class::Wide | Class::Double) { 8 } else { 4 };
            place = place.next_multiple_of(bytes);
            let lines = match class {
                Class::Half => vec![format!("st.global.u16 [%a4+{place}], {register};")],
                Class::Word => vec![format!("st.global.u32 [%a4+{place}], {register};")],
                Class::Wide => vec![format!("st.global.u64 [%a4+{place}], {register};")],
                Class::Truth => vec![
                    format!("selp.b32 %t2, 1, 0, {register};"),
                    format!("st.global.u32 [%a4+{place}], %t2;"),
                ],
                _ => {
                    let (mut lines, bits) = bits_of(class, &register);
                    let ty = class.names().1.trim_start_matches(['b', 'f']);
                    lines.push(format!("st.global.b{ty} [%a4+{place}], {bits};"));
                    lines
                }
            };
            lines.iter().for_each(|line| _ = writeln!(text, "{line}"));
            place += bytes;
        }
    }
    assert!(place <= super::OUTPUT_BYTES);
    text
}

/// The bits of a float, with one NaN: the lines that compute them, and their register.
pub(super) fn bits_of(class: Class, register: &str) -> (Vec<String>, &'static str) {
    match class {
        Class::Single => (
            vec![
                format!("mov.b32 %t2, {register};"),
                format!("setp.nan.f32 %q0, {register}, {register};"),
                "selp.b32 %t2, 0x7fc00000, %t2, %q0;".to_owned(),
            ],
            "%t2",
        ),
        Class::Double => (
            vec![
                format!("mov.b64 %a5, {register};"),
                format!("setp.nan.f64 %q0, {register}, {register};"),
                "selp.b64 %a5, 0x7ff8000000000000, %a5, %q0;".to_owned(),
            ],
            "%a5",
        ),
        _ => (
            vec![
                format!("and.b16 %s0, {register}, 0x7fff;"),
                "setp.gt.u16 %q0, %s0, 0x7c00;".to_owned(),
                format!("selp.b16 %s0, 0x7e00, {register}, %q0;"),
            ],
            "%s0",
        ),
    }
}

impl Maker {
    /// A statement that every thread may do for itself.
    pub(super) fn plain(&mut self) -> Part {
        let lines = match self.below(22) {
            0..=4 => self.integer(),
            5..=7 => self.bits(),
            8..=10 => self.float(),
            11 => self.short(),
            12..=13 => self.comparison(),
            14..=15 => self.conversion(),
            16 => self.choice(),
            17 => self.carry(),
            18 => self.vector(),
            19 => self.load(),
            _ => self.integer(),
        };
        let guard = self.chance(0.12).then(|| {
            let not = self.of(&["", "!"]);
            format!("@{not}{} ", self.register(Class::Truth))
        });
        Part::Lines(match guard {
            // A guard on one line: those before compute into registers that nobody else reads.
            Some(guard) if lines.len() == 1 => vec![format!("{guard}{}", lines[0])],
            _ => lines,
        })
    }

    pub(super) fn class_of(bits: u32) -> Class {
        match bits {
            16 => Class::Half,
            32 => Class::Word,
            _ => Class::Wide,
        }
    }

    fn integer(&mut self) -> Vec<String> {
        let bits = self.of(&[16, 32, 32, 32, 64]);
        let sign = self.of(&["u", "s"]);
        let class = Maker::class_of(bits);
        let [d, a, b, c] = [self.register(class), self.source(class), self.source(class), self.source(class)];
        let ty = format!("{sign}{bits}");
        match self.below(12) {
            0 | 1 => vec![format!("{}.{ty} {d}, {a}, {b};", self.of(&["add", "sub", "min", "max"]))],
            2 => vec![format!("mul.{}.{ty} {d}, {a}, {b};", self.of(&["lo", "hi"]))],
            3 => vec![format!("mad.{}.{ty} {d}, {a}, {b}, {c};", self.of(&["lo", "hi"]))],
            4 if bits < 64 => {
                let wide = self.register(Maker::class_of(2 * bits));
                vec![format!("mul.wide.{ty} {wide}, {a}, {b};")]
            }
            5 if bits < 64 => {
                let class = Maker::class_of(2 * bits);
                let (wide, c) = (self.register(class), self.source(class));
                vec![format!("mad.wide.{ty} {wide}, {a}, {b}, {c};")]
            }
            6 => {
                // No division by zero, and none whose quotient does not fit.
                let (short, temporary) = match bits {
                    16 => ("b16", "%s0"),
                    32 => ("b32", "%t2"),
                    _ => ("b64", "%a5"),
                };
                let b = self.register(class);
                let mask = self.of(&["0xff", "0x7fff", "7"]);
                vec![
                    format!("and.{short} {temporary}, {b}, {mask};"),
                    format!("or.{short} {temporary}, {temporary}, 1;"),
                    format!("{}.{ty} {d}, {a}, {temporary};", self.of(&["div", "rem"])),
                ]
            }
            7 => vec![format!("{}.s{bits} {d}, {a};", self.of(&["abs", "neg"]))],
            8 => vec![format!("sad.{ty} {d}, {a}, {b}, {c};")],
            9 => {
                let [d, a, b, c] = self.words();
                match self.below(4) {
                    0 => vec![format!("mul24.{}.{sign}32 {d}, {a}, {b};", self.of(&["lo", "hi"]))],
                    1 => vec![format!("mad24.{}.{sign}32 {d}, {a}, {b}, {c};", self.of(&["lo", "hi"]))],
                    2 => {
                        let other = self.of(&["u32", "s32"]);
                        vec![format!("dp4a.{sign}32.{other} {d}, {a}, {b}, {c};")]
                    }
                    _ => {
                        let (part, other) = (self.of(&["lo", "hi"]), self.of(&["u32", "s32"]));
                        vec![format!("dp2a.{part}.{sign}32.{other} {d}, {a}, {b}, {c};")]
                    }
                }
            }
            10 => {
                let [d, a, b, c] = self.words();
                match self.below(3) {
                    0 => vec![format!("mad.hi.sat.s32 {d}, {a}, {b}, {c};")],
                    _ => vec![format!("{}.sat.s32 {d}, {a}, {b};", self.of(&["add", "sub"]))],
                }
            }
            _ => vec![format!("{}.{ty} {d}, {a}, {b};", self.of(&["add", "sub"]))],
        }
    }

    fn words(&mut self) -> [String; 4] {
        let class = Class::Word;
        [self.register(class), self.source(class), self.source(class), self.source(class)]
    }

    /// The amount of a shift, or a place of bits.
    fn amount(&mut self) -> String {
        if self.chance(0.4) { self.register(Class::Word) } else { self.below(70).to_string() }
    }

    fn bits(&mut self) -> Vec<String> {
        let bits = self.of(&[16, 32, 32, 64]);
        let class = Maker::class_of(bits);
        let [d, a, b] = [self.register(class), self.source(class), self.source(class)];
        let (sign, amount, length) = (self.of(&["u", "s"]), self.amount(), self.amount());
        let wide = if bits == 16 { 32 } else { bits };
        let of_wide = Maker::class_of(wide);
        let line = match self.below(12) {
            0 => format!("{}.b{bits} {d}, {a}, {b};", self.of(&["and", "or", "xor"])),
            1 => format!("{}.b{bits} {d}, {a};", self.of(&["not", "cnot"])),
            2 => format!("shl.b{bits} {d}, {a}, {amount};"),
            3 => format!("shr.{sign}{bits} {d}, {a}, {amount};"),
            4 => {
                let [d, a, b, c] = self.words();
                let (way, mode) = (self.of(&["l", "r"]), self.of(&["wrap", "clamp"]));
                format!("shf.{way}.{mode}.b32 {d}, {a}, {b}, {c};")
            }
            5 => {
                let [d, a, b, c] = self.words();
                format!("lop3.b32 {d}, {a}, {b}, {c}, {};", self.below(256))
            }
            6 => {
                let [d, a, b, c] = self.words();
                let mode = self.of(&["", "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"]);
                let selector = if self.chance(0.5) { format!("0x{:x}", self.below(65536)) } else { c };
                format!("prmt.b32{mode} {d}, {a}, {b}, {selector};")
            }
            7 => {
                let [d, a] = [self.register(of_wide), self.source(of_wide)];
                format!("bfe.{sign}{wide} {d}, {a}, {amount}, {length};")
            }
            8 => {
                let [d, a, b] = [self.register(of_wide), self.source(of_wide), self.source(of_wide)];
                format!("bfi.b{wide} {d}, {a}, {b}, {amount}, {length};")
            }
            9 => {
                let (d, a, shift) =
                    (self.register(Class::Word), self.source(of_wide), self.of(&["", ".shiftamt"]));
                format!("bfind{shift}.{sign}{wide} {d}, {a};")
            }
            10 => {
                let (d, a) = (self.register(Class::Word), self.source(of_wide));
                match self.below(3) {
                    0 => format!("clz.b{wide} {d}, {a};"),
                    1 => format!("popc.b{wide} {d}, {a};"),
                    _ => {
                        let d = self.register(of_wide);
                        format!("brev.b{wide} {d}, {a};")
                    }
                }
            }
            _ => {
                let [d, a, ..] = self.words();
                let mode = self.of(&["wrap", "clamp"]);
                match self.below(2) {
                    0 => format!("bmsk.{mode}.b32 {d}, {amount}, {length};"),
                    _ => format!("szext.{mode}.{sign}32 {d}, {a}, {amount};"),
                }
            }
        };
        vec![line]
    }

    fn float(&mut self) -> Vec<String> {
        let (class, ty) = self.of(&[(Class::Single, "f32"), (Class::Single, "f32"), (Class::Double, "f64")]);
        let [d, a, b, c] = [self.register(class), self.source(class), self.source(class), self.source(class)];
        let is_single = class == Class::Single;
        let flush = if is_single { self.of(&["", "", ".ftz"]) } else { "" };
        let sat = if is_single { self.of(&["", "", "", ".sat"]) } else { "" };
        let line = match self.below(9) {
            0 | 1 => format!("{}.rn{flush}{sat}.{ty} {d}, {a}, {b};", self.of(&["add", "sub", "mul"])),
            2 => format!("fma.rn{flush}{sat}.{ty} {d}, {a}, {b}, {c};"),
            3 => format!("div.rn{flush}.{ty} {d}, {a}, {b};"),
            4 => format!("{}.rn{flush}.{ty} {d}, {a};", self.of(&["rcp", "sqrt"])),
            5 => {
                let nan = if is_single { self.of(&["", "", ".NaN"]) } else { "" };
                format!("{}{flush}{nan}.{ty} {d}, {a}, {b};", self.of(&["min", "max"]))
            }
            6 => format!("{}{flush}.{ty} {d}, {a};", self.of(&["abs", "neg"])),
            7 => {
                // The sign of a NaN is not said.
                let (sign, one) =
                    if is_single { ("%ft1", "0f3F800000") } else { ("%fu1", "0d3FF0000000000000") };
                return vec![
                    format!("setp.nan.{ty} %q0, {a}, {a};"),
                    format!("selp.{ty} {sign}, {one}, {a}, %q0;"),
                    format!("copysign.{ty} {d}, {sign}, {b};"),
                ];
            }
            _ => {
                let p = self.register(Class::Truth);
                let what = self.of(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"]);
                format!("testp.{what}.{ty} {p}, {a};")
            }
        };
        vec![line]
    }

    /// Arithmetic of 16 bits.
    fn short(&mut self) -> Vec<String> {
        let class = Class::Short;
        let [d, a, b, c] =
            [self.register(class), self.register(class), self.register(class), self.register(class)];
        match self.below(4) {
            0 => vec![format!("{}.rn.f16 {d}, {a}, {b};", self.of(&["add", "sub", "mul"]))],
            1 => vec![format!("fma.rn.f16 {d}, {a}, {b}, {c};")],
            2 => vec![format!("{}.f16 {d}, {a};", self.of(&["abs", "neg"]))],
            _ => {
                let operation = self.of(&["add", "sub", "mul"]);
                vec![
                    format!("mov.b32 %t2, {{{a}, {b}}};"),
                    format!("mov.b32 %t3, {{{c}, {a}}};"),
                    format!("{operation}.rn.f16x2 %t2, %t2, %t3;"),
                    format!("mov.b32 {{{d}, %s1}}, %t2;"),
                ]
            }
        }
    }

    /// A chain of sums with carries.
    fn carry(&mut self) -> Vec<String> {
        let ty = self.of(&["u32", "s32", "u64"]);
        let class = if ty == "u64" { Class::Wide } else { Class::Word };
        let [d, a, b, e, g, c] = [0; 6].map(|_| self.register(class));
        match self.below(3) {
            0 => vec![format!("add.cc.{ty} {d}, {a}, {b};"), format!("addc.{ty} {e}, {g}, {c};")],
            1 => vec![
                format!("sub.cc.{ty} {d}, {a}, {b};"),
                format!("subc.cc.{ty} {e}, {g}, {c};"),
                format!("subc.{ty} {g}, {a}, {c};"),
            ],
            _ => vec![
                format!("mad.lo.cc.{ty} {d}, {a}, {b}, {c};"),
                format!("madc.hi.cc.{ty} {e}, {a}, {b}, {g};"),
                format!("addc.{ty} {g}, {e}, 0;"),
            ],
        }
    }

    /// Words as parts of others.
    fn vector(&mut self) -> Vec<String> {
        let [r, other] = [0; 2].map(|_| self.register(Class::Word));
        let [s, t] = [0; 2].map(|_| self.register(Class::Half));
        let [rd, f, fd] = [Class::Wide, Class::Single, Class::Double].map(|class| self.register(class));
        match self.below(6) {
            0 => vec![format!("mov.b32 {r}, {{{s}, {t}}};")],
            1 => vec![format!("mov.b32 {{%s1, {t}}}, {r};")],
            2 => vec![format!("mov.b64 {rd}, {{{r}, {other}}};")],
            3 => vec![format!("mov.b64 {{{r}, %t3}}, {rd};")],
            4 => {
                let (class, register) = self.of(&[(Class::Single, &f), (Class::Double, &fd)]);
                let (mut lines, bits) = bits_of(class, register);
                lines.push(match class {
                    Class::Single => format!("mov.b32 {r}, {bits};"),
                    _ => format!("mov.b64 {rd}, {bits};"),
                });
                lines
            }
            _ => vec![if self.chance(0.5) {
                format!("mov.b32 {f}, {r};")
            } else {
                format!("mov.b64 {fd}, {rd};")
            }],
        }
    }

    /// Loads of all widths from the input, whose place may be computed.
    fn load(&mut self) -> Vec<String> {
        let (ty, class) = self.of(&[
            ("u8", Class::Word),
            ("s8", Class::Word),
            ("u16", Class::Word),
            ("s16", Class::Wide),
            ("u8", Class::Half),
            ("s8", Class::Half),
            ("s32", Class::Wide),
            ("u32", Class::Word),
            ("f32", Class::Single),
            ("b64", Class::Wide),
        ]);
        let bytes = match &ty[1..] {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            _ => 8,
        };
        let words = super::INPUT_WORDS * 4;
        let d = self.register(class);
        if self.chance(0.5) {
            return vec![format!(
                "ld.global{}.{ty} {d}, [%a1+{}];",
                self.of(&["", ".nc"]),
                self.below(words / bytes) * bytes
            )];
        }
        let space = self.of(&[".global", ""]);
        vec![
            format!("and.b32 %t2, {}, {};", self.register(Class::Word), words - bytes),
            format!("and.b32 %t2, %t2, {};", u32::MAX - (bytes - 1)),
            "cvt.u64.u32 %a5, %t2;".to_owned(),
            "add.s64 %a5, %a5, %a1;".to_owned(),
            format!("ld{space}.{ty} {d}, [%a5];"),
        ]
    }
}
