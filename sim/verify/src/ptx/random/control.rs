//! Statements with branches, and those that threads do with one another.

use super::{Class, Maker, Part};
use std::fmt::Write as _;

/// Parts inside one another, at most.
const DEEPEST: u32 = 3;

/// Atomic accesses that commute with themselves: operation and type, each with a word of its own that all threads share.
const COMMUTING: [(&str, &str); 8] = [
    ("add", "u32"),
    ("max", "u32"),
    ("or", "b32"),
    ("xor", "b32"),
    ("max", "s32"),
    ("min", "s32"),
    ("add", "s32"),
    ("min", "u32"),
];

fn lines<const N: usize>(all: [String; N]) -> Part {
    Part::Lines(all.into())
}

impl Maker {
    /// A part. `together` says that all threads come here, and at the same time those of a warp.
    pub(super) fn part(&mut self, together: bool) -> Part {
        let is_deep = self.depth >= DEEPEST;
        match self.below(20) {
            0 | 1 if !is_deep => self.branch(),
            2 if !is_deep => self.counted_loop(together),
            3 if !is_deep => self.divergent_loop(),
            4 if !is_deep => self.jumps(),
            5 if !is_deep => self.table(),
            6 => self.call(),
            7 => self.own_atomic(),
            8 => self.common_atomic(),
            9 => self.generic(),
            10 | 11 if together => self.exchange(),
            12 | 13 if together => self.of_warp("0xffffffff", true),
            14 if together => self.of_some(),
            15 if together => self.barrier_reduction(),
            16 if together => self.of_matrices(),
            _ => self.plain(),
        }
    }

    /// Parts inside a part, in a block that begins in the middle.
    fn parts(&mut self, most: u32, together: bool) -> Vec<Part> {
        self.depth += 1;
        let count = self.below(most) + 1;
        let parts = (0..count).map(|_| self.part(together)).collect();
        self.depth -= 1;
        parts
    }

    fn guard(&mut self) -> String {
        let not = self.of(&["", "!"]);
        format!("@{not}{}", self.register(Class::Truth))
    }

    fn branch(&mut self) -> Part {
        let (other, end, guard) = (self.label(), self.label(), self.guard());
        let yes = self.parts(4, false);
        if self.chance(0.5) {
            return Part::Around(vec![format!("{guard} bra {end};")], yes, vec![format!("{end}:")]);
        }
        let no = self.parts(4, false);
        let yes = Part::Around(vec![format!("{guard} bra {other};")], yes, vec![format!("bra {end};")]);
        let no = Part::Around(vec![format!("{other}:")], no, vec![format!("{end}:")]);
        Part::Around(Vec::new(), vec![yes, no], Vec::new())
    }

    /// A loop that every thread goes through as often.
    fn counted_loop(&mut self, together: bool) -> Part {
        let (label, counter) = (self.label(), format!("%n{}", self.depth));
        let times = self.below(4) + 1;
        let body = self.parts(3, together);
        Part::Around(
            vec![format!("mov.u32 {counter}, 0;"), format!("{label}:")],
            body,
            vec![
                format!("add.u32 {counter}, {counter}, 1;"),
                format!("setp.lt.u32 %q1, {counter}, {times};"),
                format!("@%q1 bra {label};"),
            ],
        )
    }

    /// A loop whose threads leave it one after another, in its middle too.
    fn divergent_loop(&mut self) -> Part {
        let (head, next, end) = (self.label(), self.label(), self.label());
        let (counter, bound) = (format!("%n{}", self.depth), format!("%n{}", self.depth + 4));
        let word = self.register(Class::Word);
        let mut body = self.parts(2, false);
        for target in [&end, &next] {
            if self.chance(0.5) {
                body.push(lines([format!("{} bra {target};", self.guard())]));
                body.extend(self.parts(2, false));
            }
        }
        Part::Around(
            vec![
                format!("and.b32 {bound}, {word}, 3;"),
                format!("mov.u32 {counter}, 0;"),
                format!("{head}:"),
                format!("setp.ge.u32 %q1, {counter}, {bound};"),
                format!("@%q1 bra {end};"),
            ],
            body,
            vec![
                format!("{next}:"),
                format!("add.u32 {counter}, {counter}, 1;"),
                format!("bra {head};"),
                format!("{end}:"),
            ],
        )
    }

    /// Blocks, each of which jumps to any later one: no structure of ifs.
    fn jumps(&mut self) -> Part {
        let count = self.below(4) + 2;
        let labels: Vec<String> = (0..=count).map(|_| self.label()).collect();
        let mut blocks = Vec::new();
        for number in 0..count {
            let body = self.parts(2, false);
            let later = &labels[number as usize + 1..];
            let mut ends = Vec::new();
            for _ in 0..self.below(3) {
                let target = &later[self.below(later.len() as u32) as usize];
                ends.push(format!("{} bra {target};", self.guard()));
            }
            blocks.push(Part::Around(vec![format!("{}:", labels[number as usize])], body, ends));
        }
        Part::Around(Vec::new(), blocks, vec![format!("{}:", labels[count as usize])])
    }

    fn table(&mut self) -> Part {
        let (word, end, name) = (self.register(Class::Word), self.label(), self.label());
        let labels: Vec<String> = (0..4).map(|_| self.label()).collect();
        let before = vec![
            format!("and.b32 %t2, {word}, 3;"),
            format!("$x{name}:"),
            format!(".branchtargets {};", labels.join(", ")),
            format!("brx.idx %t2, $x{name};"),
        ];
        let mut sides = Vec::new();
        for label in &labels {
            let body = self.parts(2, false);
            // Some go on in the next one.
            let after = if self.chance(0.7) { vec![format!("bra {end};")] } else { Vec::new() };
            sides.push(Part::Around(vec![format!("{label}:")], body, after));
        }
        Part::Around(before, sides, vec![format!("{end}:")])
    }

    /// A call of a function of two numbers.
    fn call(&mut self) -> Part {
        let (d, a) = (self.register(Class::Word), self.source(Class::Word));
        let b = self.register(Class::Single);
        if self.functions.is_empty() || self.chance(0.3) {
            self.function();
        }
        let number = self.below(self.functions.len() as u32);
        lines([format!("call.uni ({d}), f{number}, ({a}, {b});")])
    }

    fn function(&mut self) {
        let mut text =
            format!(".func (.reg .b32 %z) f{}(.reg .b32 %x, .reg .f32 %y)\n{{\n", self.functions.len());
        for (class, count) in super::COUNTS {
            let (prefix, ty) = class.names();
            _ = writeln!(text, ".reg .{ty} {prefix}<{count}>;");
        }
        text += ".reg .b32 %t<8>;\n.reg .b64 %a<8>;\n.reg .b16 %s<4>;\n.reg .pred %q<4>;\n.reg .f32 %ft<4>;\n\
                 .reg .f64 %fu<4>;\n";
        for (class, count) in super::COUNTS {
            let prefix = class.names().0;
            for number in 0..count {
                let register = format!("{prefix}{number}");
                _ = match class {
                    Class::Half | Class::Short => writeln!(text, "cvt.u16.u32 {register}, %x;"),
                    Class::Word => writeln!(text, "add.u32 {register}, %x, {number};"),
                    Class::Wide => writeln!(text, "mul.wide.u32 {register}, %x, {};", number + 3),
                    Class::Single => writeln!(text, "add.rn.f32 {register}, %y, 0f3F800000;"),
                    Class::Double => writeln!(text, "cvt.f64.f32 {register}, %y;"),
                    Class::Truth => writeln!(text, "setp.gt.u32 {register}, %x, {number};"),
                };
            }
        }
        let count = self.below(6) + 1;
        for _ in 0..count {
            let part = self.plain();
            let is_inside = |line: &String| !line.contains("%a1");
            if let Part::Lines(all) = &part
                && all.iter().all(is_inside)
            {
                all.iter().for_each(|line| _ = writeln!(text, "{line}"));
            }
        }
        let (mut bits, place) = super::operations::bits_of(Class::Single, "%f0");
        bits.push(format!("xor.b32 %z, {}, {place};", self.register(Class::Word)));
        bits.iter().for_each(|line| _ = writeln!(text, "{line}"));
        text += "ret;\n}\n";
        self.functions.push(text);
    }

    /// An atomic access to a place of the thread, whose result counts.
    fn own_atomic(&mut self) -> Part {
        let word = self.of(&["u32", "s32", "b32"]);
        let [d, a, b] = [self.register(Class::Word), self.source(Class::Word), self.source(Class::Word)];
        let [e, g, h] = [self.register(Class::Wide), self.source(Class::Wide), self.source(Class::Wide)];
        let f = self.register(Class::Single);
        let order = self.of(&["", "", ".relaxed.gpu", ".acq_rel.gpu"]);
        let at = self.of(&[0, 4]);
        lines([match self.below(7) {
            0 | 1 if word == "b32" => {
                format!(
                    "atom{order}.global.{}.b32 {d}, [%a2+{at}], {a};",
                    self.of(&["and", "or", "xor", "exch"])
                )
            }
            0 | 1 => {
                format!("atom{order}.global.{}.{word} {d}, [%a2+{at}], {a};", self.of(&["add", "min", "max"]))
            }
            2 => format!("atom.global.{}.u32 {d}, [%a2+{at}], {a};", self.of(&["inc", "dec"])),
            3 => format!("atom{order}.global.cas.b32 {d}, [%a2+{at}], {a}, {b};"),
            4 => format!("atom.global.{}.u64 {e}, [%a2+8], {g};", self.of(&["add", "min", "max"])),
            5 => match self.below(3) {
                0 => format!("atom.global.cas.b64 {e}, [%a2+8], {g}, {h};"),
                1 => format!("atom.global.{}.s64 {e}, [%a2+8], {g};", self.of(&["min", "max"])),
                _ => format!("atom.global.{}.b64 {e}, [%a2+8], {g};", self.of(&["and", "or", "xor", "exch"])),
            },
            _ => format!("atom.global.add.f32 {f}, [%a2+24], {};", self.of(&["0f3F800000", "0fC0200000"])),
        }])
    }

    /// An atomic access to a place of all threads, whose result nobody takes.
    fn common_atomic(&mut self) -> Part {
        let number = self.below(COMMUTING.len() as u32);
        let (operation, ty) = COMMUTING[number as usize];
        let (a, wide) = (self.source(Class::Word), self.register(Class::Wide));
        let at = 8 * number;
        lines([match self.below(4) {
            0 => format!("atom.global.{operation}.{ty} %t3, [%a3+{at}], {a};"),
            1 => format!("red.global.add.u64 [%a3+64], {wide};"),
            2 => "red.global.inc.u32 [%a3+72], 1000;".to_owned(),
            _ => format!("red.global.{operation}.{ty} [%a3+{at}], {a};"),
        }])
    }

    /// The address of the place of the thread in shared memory, in `%a6`: in one of two parts of it.
    pub(super) fn own_shared(&mut self, part: u32) -> Vec<String> {
        vec![
            "mov.u32 %t5, %ntid.x;".to_owned(),
            format!("mad.lo.u32 %t2, %t5, {part}, %t4;"),
            "mul.wide.u32 %a6, %t2, 8;".to_owned(),
            "mov.u64 %a5, wave_local;".to_owned(),
            "add.u64 %a6, %a6, %a5;".to_owned(),
        ]
    }

    /// Accesses to an address of which only the thread knows whether it is shared or global.
    fn generic(&mut self) -> Part {
        let (p, wide) = (self.register(Class::Truth), self.register(Class::Wide));
        let word = self.register(Class::Word);
        let mut all = self.own_shared(1);
        match self.below(3) {
            0 => {
                all.push("cvta.shared.u64 %a6, %a6;".to_owned());
                all.push("add.u64 %a7, %a2, 16;".to_owned());
                all.push(format!("selp.b64 %a6, %a6, %a7, {p};"));
                all.push(format!("st.u64 [%a6], {wide};"));
                all.push(format!("ld.u32 {word}, [%a6+4];"));
            }
            1 => {
                let d = self.register(Class::Word);
                all.push(format!("st.shared.v2.u32 [%a6], {{{word}, {d}}};"));
                all.push(format!(
                    "atom.shared.{} {d}, [%a6+4], {word};",
                    self.of(&["add.u32", "min.s32", "exch.b32", "xor.b32"])
                ));
                all.push(format!("ld.shared.u64 {wide}, [%a6];"));
            }
            _ => {
                let half = self.register(Class::Half);
                all.push(format!("st.shared.u64 [%a6], {wide};"));
                all.push(format!("st.shared.u8 [%a6+1], {word};"));
                all.push(format!("st.shared.u16 [%a6+6], {half};"));
                let ty = self.of(&["s8", "u8"]);
                all.push(format!("ld.shared.{ty} {word}, [%a6+1];"));
                all.push(format!("ld.shared.u64 {wide}, [%a6];"));
            }
        }
        Part::Lines(all)
    }

    /// A number for another thread, between barriers.
    fn exchange(&mut self) -> Part {
        let (from, into) = (self.register(Class::Wide), self.register(Class::Wide));
        let mut all = self.own_shared(0);
        let (by, is_cyclic) = (self.below(31) + 1, self.chance(0.5));
        all.push(format!("st.shared.u64 [%a6], {from};"));
        all.push("bar.sync 0;".to_owned());
        if is_cyclic {
            all.push(format!("add.u32 %t3, %t4, {by};"));
            all.push("rem.u32 %t3, %t3, %t5;".to_owned());
        } else {
            all.push(format!("xor.b32 %t3, %t4, {by};"));
        }
        all.push("mul.wide.u32 %a6, %t3, 8;".to_owned());
        all.push("add.u64 %a6, %a6, %a5;".to_owned());
        all.push(format!("ld.shared.u64 {into}, [%a6];"));
        all.push("bar.sync 0;".to_owned());
        Part::Lines(all)
    }

    fn barrier_reduction(&mut self) -> Part {
        let (p, q, d) =
            (self.register(Class::Truth), self.register(Class::Truth), self.register(Class::Word));
        let not = self.of(&["", "!"]);
        lines([match self.below(3) {
            0 => format!("bar.red.popc.u32 {d}, 0, {p};"),
            1 => format!("bar.red.and.pred {q}, 0, {not}{p};"),
            _ => format!("bar.red.or.pred {q}, 0, {not}{p};"),
        }])
    }

    /// An operation of the lanes of a mask. Only all lanes take values of any other.
    fn of_warp(&mut self, mask: &str, is_whole: bool) -> Part {
        let [d, a, b] = [0; 3].map(|_| self.register(Class::Word));
        let [p, q] = [0; 2].map(|_| self.register(Class::Truth));
        let wide = self.register(Class::Wide);
        let kind = self.below(if is_whole { 9 } else { 6 });
        lines([match kind {
            0 => format!("vote.sync.{}.pred {p}, {q}, {mask};", self.of(&["any", "all", "uni"])),
            1 => format!("vote.sync.ballot.b32 {d}, {q}, {mask};"),
            2 => format!(
                "redux.sync.{}.{} {d}, {a}, {mask};",
                self.of(&["add", "min", "max"]),
                self.of(&["u32", "s32"])
            ),
            3 => format!("redux.sync.{}.b32 {d}, {a}, {mask};", self.of(&["and", "or", "xor"])),
            4 if self.chance(0.5) => format!("match.any.sync.b64 {d}, {wide}, {mask};"),
            4 => format!("match.any.sync.b32 {d}, {a}, {mask};"),
            5 if is_whole && self.chance(0.5) => format!("match.all.sync.b32 {d}|{p}, {a}, {mask};"),
            5 => format!("bar.warp.sync {mask};"),
            _ => {
                let how = self.of(&["up", "down", "bfly", "idx"]);
                let by = if self.chance(0.6) { self.below(32).to_string() } else { b };
                let clamp = if how == "up" { 0 } else { 31 };
                let segment = self.of(&[0, 0, 0, 16, 24, 28, 30, 31]);
                let control = if self.chance(0.15) {
                    self.register(Class::Word)
                } else {
                    (segment << 8 | clamp).to_string()
                };
                let second = self.of(&["", "|"]);
                let second = if second.is_empty() { String::new() } else { format!("|{p}") };
                format!("shfl.sync.{how}.b32 {d}{second}, {a}, {by}, {control}, {mask};")
            }
        }])
    }

    /// An operation of those lanes of which a predicate is true.
    fn of_some(&mut self) -> Part {
        let end = self.label();
        if self.chance(0.4) {
            let lanes = self.of(&[8, 16]);
            let mask = (1u32 << lanes) - 1;
            let inside: Vec<Part> = (0..2).map(|_| self.of_warp(&mask.to_string(), false)).collect();
            let before = vec![
                "mov.u32 %t6, %laneid;".to_owned(),
                format!("setp.ge.u32 %q2, %t6, {lanes};"),
                format!("@%q2 bra {end};"),
            ];
            return Part::Around(before, inside, vec![format!("{end}:")]);
        }
        let p = self.register(Class::Truth);
        let inside: Vec<Part> = (0..2).map(|_| self.of_warp("%t7", false)).collect();
        let before = vec![
            format!("mov.pred %q2, {p};"),
            "vote.sync.ballot.b32 %t7, %q2, 0xffffffff;".to_owned(),
            format!("@!%q2 bra {end};"),
        ];
        Part::Around(before, inside, vec![format!("{end}:")])
    }
}
