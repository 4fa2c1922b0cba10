//! Comparisons, conversions and choices.

use super::{Class, Maker};

const ORDERED: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const UNORDERED: [&str; 8] = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

impl Maker {
    pub(super) fn comparison(&mut self) -> Vec<String> {
        let p = self.register(Class::Truth);
        let combine = if self.chance(0.25) {
            let (how, not) = (self.of(&["and", "or", "xor"]), self.of(&["", "!"]));
            Some((how, format!(", {not}{}", self.register(Class::Truth))))
        } else {
            None
        };
        let (how, other) =
            combine.map_or((String::new(), String::new()), |(how, other)| (format!(".{how}"), other));
        let (compare, ty, a, b) = match self.below(4) {
            0 => {
                let (class, ty) =
                    self.of(&[(Class::Single, "f32"), (Class::Double, "f64"), (Class::Short, "f16")]);
                let compare = if self.chance(0.5) { self.of(&ORDERED) } else { self.of(&UNORDERED) };
                (compare, ty.to_owned(), self.register(class), self.source(class))
            }
            1 => {
                let bits = self.of(&[16, 32, 64]);
                let class = Maker::class_of(bits);
                (self.of(&["eq", "ne"]), format!("b{bits}"), self.register(class), self.source(class))
            }
            _ => {
                let (bits, sign) = (self.of(&[16, 32, 32, 64]), self.of(&["u", "s"]));
                let class = Maker::class_of(bits);
                let compare = if sign == "u" && self.chance(0.3) {
                    self.of(&["lo", "ls", "hi", "hs"])
                } else {
                    self.of(&ORDERED)
                };
                (compare, format!("{sign}{bits}"), self.register(class), self.source(class))
            }
        };
        let second =
            if self.chance(0.2) { format!("|{}", self.register(Class::Truth)) } else { String::new() };
        // Two results in one register would leave open which one it is.
        let second = if second == format!("|{p}") { String::new() } else { second };
        if second.is_empty() && ty != "f16" && self.chance(0.15) {
            let (d, into) = match self.below(3) {
                0 => (self.register(Class::Single), "f32"),
                1 => (self.register(Class::Word), "s32"),
                _ => (self.register(Class::Word), "u32"),
            };
            return vec![format!("set.{compare}{how}.{into}.{ty} {d}, {a}, {b}{other};")];
        }
        vec![format!("setp.{compare}{how}.{ty} {p}{second}, {a}, {b}{other};")]
    }

    pub(super) fn conversion(&mut self) -> Vec<String> {
        let integers = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
        let class_of = |ty: &str| match &ty[1..] {
            "64" => Class::Wide,
            "32" => Class::Word,
            // A number of 8 bits lies in a wider register.
            "8" => Class::Word,
            _ => Class::Half,
        };
        match self.below(6) {
            0 | 1 => {
                let (into, from) = (self.of(&integers), self.of(&integers));
                let sat = self.of(&["", "", ".sat"]);
                let (d, a) = (self.register(class_of(into)), self.register(class_of(from)));
                vec![format!("cvt{sat}.{into}.{from} {d}, {a};")]
            }
            2 => {
                let (into, (class, from)) = (
                    self.of(&integers),
                    self.of(&[(Class::Single, "f32"), (Class::Double, "f64"), (Class::Short, "f16")]),
                );
                let flush = if from == "f32" { self.of(&["", ".ftz"]) } else { "" };
                let (d, a) = (self.register(class_of(into)), self.register(class));
                vec![format!("cvt.{}{flush}.{into}.{from} {d}, {a};", self.of(&["rni", "rzi", "rmi", "rpi"]))]
            }
            3 => {
                let ((class, into), from) = (
                    self.of(&[(Class::Single, "f32"), (Class::Double, "f64"), (Class::Short, "f16")]),
                    self.of(&integers),
                );
                let (d, a) = (self.register(class), self.register(class_of(from)));
                vec![format!("cvt.rn.{into}.{from} {d}, {a};")]
            }
            4 => {
                let (class, ty) = self.of(&[(Class::Single, "f32"), (Class::Double, "f64")]);
                let (d, a) = (self.register(class), self.register(class));
                let flush = if ty == "f32" { self.of(&["", ".ftz"]) } else { "" };
                let sat = if ty == "f32" { self.of(&["", "", ".sat"]) } else { "" };
                vec![format!(
                    "cvt.{}{flush}{sat}.{ty}.{ty} {d}, {a};",
                    self.of(&["rni", "rzi", "rmi", "rpi"])
                )]
            }
            _ => {
                let [f, fd, h] =
                    [Class::Single, Class::Double, Class::Short].map(|class| self.register(class));
                vec![match self.below(6) {
                    0 => format!("cvt.rn{}.f32.f64 {f}, {fd};", self.of(&["", ".ftz"])),
                    1 => format!("cvt{}.f64.f32 {fd}, {f};", self.of(&["", ".ftz"])),
                    2 => format!("cvt.rn.f16.f32 {h}, {f};"),
                    3 => format!("cvt.f32.f16 {f}, {h};"),
                    4 => format!("cvt.f64.f16 {fd}, {h};"),
                    _ => {
                        let d = self.register(Class::Word);
                        let rounding = self.of(&["rna", "rn"]);
                        return vec![
                            format!("mov.f32 %ft0, {f};"),
                            "setp.nan.f32 %q0, %ft0, %ft0;".to_owned(),
                            "selp.f32 %ft0, 0f00000000, %ft0, %q0;".to_owned(),
                            format!("cvt.{rounding}.tf32.f32 {d}, %ft0;"),
                        ];
                    }
                }]
            }
        }
    }

    pub(super) fn choice(&mut self) -> Vec<String> {
        let (class, ty) = self.of(&[
            (Class::Half, "b16"),
            (Class::Word, "b32"),
            (Class::Wide, "s64"),
            (Class::Single, "f32"),
            (Class::Double, "f64"),
        ]);
        let [d, a, b] = [self.register(class), self.source(class), self.source(class)];
        if self.chance(0.3) {
            let (of, by) = self.of(&[(Class::Word, "s32"), (Class::Single, "f32"), (Class::Single, "f32")]);
            let flush = if by == "f32" { self.of(&["", ".ftz"]) } else { "" };
            return vec![format!("slct{flush}.{ty}.{by} {d}, {a}, {b}, {};", self.register(of))];
        }
        match self.below(4) {
            0 => {
                let [p, q, other] = [0; 3].map(|_| self.register(Class::Truth));
                match self.below(3) {
                    0 => vec![format!("not.pred {p}, {q};")],
                    1 => vec![format!("mov.pred {p}, {q};")],
                    _ => vec![format!("{}.pred {p}, {q}, {other};", self.of(&["and", "or", "xor"]))],
                }
            }
            1 => vec![format!("mov.{ty} {d}, {a};")],
            _ => vec![format!("selp.{ty} {d}, {a}, {b}, {};", self.register(Class::Truth))],
        }
    }
}
