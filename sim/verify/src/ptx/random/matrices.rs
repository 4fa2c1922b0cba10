//! Statements of a warp on matrices in its registers.

use super::{COUNTS, Class, Maker, Part};

/// A product: shape, types, registers of A and of B.
type Product = (&'static str, &'static str, u32, u32);

const OF_FLOATS: [Product; 6] = [
    ("m16n8k8", "f32.f16.f16.f32", 2, 1),
    ("m16n8k16", "f32.f16.f16.f32", 4, 2),
    ("m16n8k8", "f32.bf16.bf16.f32", 2, 1),
    ("m16n8k16", "f32.bf16.bf16.f32", 4, 2),
    ("m16n8k4", "f32.tf32.tf32.f32", 2, 1),
    ("m16n8k8", "f32.tf32.tf32.f32", 4, 2),
];

const OF_BYTES: [(&str, u32, u32); 3] = [("m8n8k16", 1, 1), ("m16n8k16", 2, 1), ("m16n8k32", 4, 2)];

impl Maker {
    /// So many different registers.
    fn different(&mut self, class: Class, count: u32) -> Vec<String> {
        let of_class = COUNTS.iter().find(|(of, _)| *of == class).map_or(1, |(_, count)| *count);
        let first = self.below(of_class);
        (0..count).map(|number| format!("{}{}", class.names().0, (first + number) % of_class)).collect()
    }

    /// So many registers, some of them several times.
    fn any(&mut self, class: Class, count: u32) -> Vec<String> {
        (0..count).map(|_| self.register(class)).collect()
    }

    /// An operation that all lanes of every warp come to.
    pub(super) fn of_matrices(&mut self) -> Part {
        Part::Lines(match self.below(11) {
            0 | 1 => self.product_of_floats(),
            2 => self.product_to_halves(),
            3 => self.product_of_bytes(),
            4 => self.product_of_doubles(),
            5 => self.load_of_matrices(),
            8..=10 => self.product_of_whole(),
            6 => self.store_of_matrices(),
            _ => {
                let (d, a) = (self.register(Class::Word), self.register(Class::Word));
                vec![format!("movmatrix.sync.aligned.m8n8.trans.b16 {d}, {a};")]
            }
        })
    }

    /// Words for A and B in `%m0` and on. Most of them have elements below 2, whose sums are numbers.
    fn fragments(&mut self, a: u32, b: u32, masks: &[&str]) -> (Vec<String>, [String; 2]) {
        let mut lines = Vec::new();
        for number in 0..a + b {
            let (word, mask) = (self.register(Class::Word), self.of(masks));
            lines.push(format!("and.b32 %m{number}, {word}, {mask};"));
        }
        let names = |from: u32, end: u32| (from..end).map(|number| format!("%m{number}")).collect::<Vec<_>>();
        (lines, [names(0, a), names(a, a + b)].map(|names| names.join(", ")))
    }

    fn product_of_floats(&mut self) -> Vec<String> {
        let (shape, types, a, b) = self.of(&OF_FLOATS);
        let masks: &[&str] =
            if types.contains(".tf32") { &["0xbfffffff", "-1"] } else { &["0xbfffbfff", "0xbfff3fff", "-1"] };
        let few = if self.chance(0.7) { &masks[..1] } else { masks };
        let (mut lines, [a, b]) = self.fragments(a, b, few);
        let (d, c) = (self.different(Class::Single, 4).join(", "), self.any(Class::Single, 4).join(", "));
        lines.push(format!("mma.sync.aligned.{shape}.row.col.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};"));
        lines
    }

    /// Halves of D that are no numbers are not seen as such: they go to registers whose NaN has one form.
    fn product_to_halves(&mut self) -> Vec<String> {
        let (shape, a, b) = self.of(&[("m16n8k8", 2, 1), ("m16n8k16", 4, 2)]);
        let masks = if self.chance(0.7) { ["0xbfffbfff"] } else { ["-1"] };
        let (mut lines, [a, b]) = self.fragments(a, b, &masks);
        let c = self.any(Class::Word, 2).join(", ");
        lines.push(format!(
            "mma.sync.aligned.{shape}.row.col.f16.f16.f16.f16 {{%m6, %m7}}, {{{a}}}, {{{b}}}, {{{c}}};"
        ));
        let h = self.different(Class::Short, 2);
        lines.push(format!("mov.b32 {{{}, %s1}}, %m6;", h[0]));
        lines.push(format!("mov.b32 {{%s1, {}}}, %m7;", h[1]));
        lines
    }

    fn product_of_bytes(&mut self) -> Vec<String> {
        let (shape, a, b) = self.of(&OF_BYTES);
        let [ta, tb] = [self.of(&["s8", "u8"]), self.of(&["s8", "u8"])];
        let saturates = self.of(&["", ".satfinite"]);
        let count = if shape == "m8n8k16" { 2 } else { 4 };
        let [a, b, c] = [a, b, count].map(|count| self.any(Class::Word, count).join(", "));
        let d = self.different(Class::Word, count).join(", ");
        vec![format!(
            "mma.sync.aligned.{shape}.row.col{saturates}.s32.{ta}.{tb}.s32 {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};"
        )]
    }

    fn product_of_doubles(&mut self) -> Vec<String> {
        let (shape, a, b, count) = self.of(&[
            ("m8n8k4", 1, 1, 2),
            ("m16n8k4", 2, 1, 4),
            ("m16n8k8", 4, 2, 4),
            ("m16n8k16", 8, 4, 4),
        ]);
        let [a, b, c] = [a, b, count].map(|count| self.any(Class::Double, count).join(", "));
        let d = (0..count).map(|number| format!("%fu{number}")).collect::<Vec<_>>().join(", ");
        let into = self.different(Class::Double, 2);
        vec![
            format!("mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};"),
            format!("mov.f64 {}, %fu{};", into[0], self.below(count)),
            format!("mov.f64 {}, %fu{};", into[1], count - 1),
        ]
    }

    /// Matrices of `wmma`: from the input of all threads, as a product to shared memory, and some of its elements from there.
    fn product_of_whole(&mut self) -> Vec<String> {
        let (shape, [m, n, k]) =
            self.of(&[("m16n16k16", [16, 16, 16]), ("m32n8k16", [32, 8, 16]), ("m8n32k16", [8, 32, 16])]);
        let (ty, sum) = self.of(&[
            ("f16", "f32"),
            ("f16", "f16"),
            ("bf16", "f32"),
            ("s8", "s32"),
            ("u8", "s32"),
            ("tf32", "f32"),
            ("f64", "f64"),
        ]);
        let (shape, [m, n, k]) = match ty {
            "tf32" => ("m16n16k8", [16, 16, 8]),
            "f64" => ("m8n8k4", [8, 8, 4]),
            _ => (shape, [m, n, k]),
        };
        let bits = |ty: &str| ty.trim_start_matches(['b', 'f', 's', 't', 'u']).parse::<u32>().unwrap_or(32);
        // As PTX has them: those of f16 hold every element twice.
        let registers = |rows: u32, columns: u32, ty: &str| rows * columns / 32 * bits(ty).min(32) / 32;
        let named = |prefix: &str, count: u32| {
            (0..count).map(|number| format!("%{prefix}{number}")).collect::<Vec<_>>().join(", ")
        };
        let is_wide = ty == "f64";
        let of = |prefix: &'static str, rows, columns, ty: &str| match (prefix, is_wide) {
            ("ma", true) => "%md0".to_owned(),
            ("mb", true) => "%md1".to_owned(),
            (_, true) => "%md2, %md3".to_owned(),
            ("ma" | "mb", _) if ty == "f16" => named(prefix, 8),
            _ => named(prefix, registers(rows, columns, ty)),
        };
        let (a, b, c) = (of("ma", m, k, ty), of("mb", k, n, ty), of("mc", m, n, sum));
        let layouts = [0; 5].map(|_| self.of(&["row", "col"]));
        let mut all = Vec::new();
        for (name, registers, (rows, columns), ty, layout) in [
            ("a", &a, (m, k), ty, layouts[0]),
            ("b", &b, (k, n), ty, layouts[1]),
            ("c", &c, (m, n), sum, layouts[2]),
        ] {
            let least = if layout == "row" { columns } else { rows };
            let step = 128 / bits(ty);
            let stride = match self.below(3) {
                0 => String::new(),
                1 => format!(", {least}"),
                _ => format!(", {}", least.next_multiple_of(step) + step),
            };
            let space = self.of(&[".global", ""]);
            all.push(format!(
                "wmma.load.{name}.sync.aligned.{layout}.{shape}{space}.{ty} {{{registers}}}, [%a0]{stride};"
            ));
        }
        let types = if ty == "f16" { format!("{sum}.{sum}") } else { format!("{sum}.{ty}.{ty}.{sum}") };
        let saturates = if sum == "s32" { self.of(&["", ".satfinite"]) } else { "" };
        all.push(format!(
            "wmma.mma.sync.aligned.{}.{}.{shape}.{types}{saturates} {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};",
            layouts[3], layouts[4]
        ));
        // The part of the warp in shared memory, after the places of threads.
        all.push("mov.u32 %t5, %ntid.x;".to_owned());
        all.push("shl.b32 %t5, %t5, 4;".to_owned());
        all.push("shr.u32 %t2, %t4, 5;".to_owned());
        all.push(format!("mad.lo.u32 %t2, %t2, {}, %t5;", super::MATRIX_BYTES));
        all.push("cvt.u64.u32 %a6, %t2;".to_owned());
        all.push("mov.u64 %a5, wave_local;".to_owned());
        all.push("add.u64 %a6, %a6, %a5;".to_owned());
        let layout = self.of(&["row", "col"]);
        let stride = match self.below(2) {
            0 => String::new(),
            _ => format!(", {}", if layout == "row" { n } else { m }),
        };
        all.push("bar.sync 0;".to_owned());
        all.push(format!("wmma.store.d.sync.aligned.{layout}.{shape}.shared.{sum} [%a6], {{{c}}}{stride};"));
        all.push("bar.sync 0;".to_owned());
        all.push("and.b32 %t2, %t4, 31;".to_owned());
        all.push(format!("mul.wide.u32 %a5, %t2, {};", bits(sum) / 8));
        all.push("add.u64 %a6, %a6, %a5;".to_owned());
        let elements = m * n / 32;
        for _ in 0..2 {
            let offset = self.below(elements) * 32 * bits(sum) / 8;
            let (class, load) = match sum {
                "f16" => (Class::Short, "u16"),
                "s32" => (Class::Word, "u32"),
                "f64" => (Class::Double, "f64"),
                _ => (Class::Single, "f32"),
            };
            let register = self.register(class);
            all.push(format!("ld.shared.{load} {register}, [%a6+{offset}];"));
        }
        all
    }

    /// Rows of what all threads have stored, in any order.
    fn load_of_matrices(&mut self) -> Vec<String> {
        let (from, row) = (self.register(Class::Wide), self.register(Class::Word));
        let mut all = self.own_shared(0);
        all.push(format!("st.shared.u64 [%a6], {from};"));
        all.push("bar.sync 0;".to_owned());
        all.push(format!("and.b32 %t3, {row}, 15;"));
        all.push("mul.wide.u32 %a6, %t3, 16;".to_owned());
        all.push("add.u64 %a6, %a6, %a5;".to_owned());
        let count = self.of(&[1, 2, 4]);
        let (trans, space) = (self.of(&["", ".trans"]), self.of(&[".shared", ".shared", ""]));
        if space.is_empty() {
            all.push("cvta.shared.u64 %a6, %a6;".to_owned());
        }
        let into = self.different(Class::Word, count).join(", ");
        all.push(format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {{{into}}}, [%a6];"));
        all.push("bar.sync 0;".to_owned());
        all
    }

    /// Rows of a part of shared memory that the warp has for itself.
    fn store_of_matrices(&mut self) -> Vec<String> {
        let wide = self.register(Class::Wide);
        let mut all = self.own_shared(0);
        all.push(format!("st.shared.u64 [%a6], {wide};"));
        all.push("bar.sync 0;".to_owned());
        all.push("and.b32 %t3, %t4, 15;".to_owned());
        all.push(format!("xor.b32 %t3, %t3, {};", self.below(16)));
        all.push("shr.u32 %t2, %t4, 5;".to_owned());
        all.push("mad.lo.u32 %t3, %t2, 16, %t3;".to_owned());
        all.push("mul.wide.u32 %a7, %t3, 16;".to_owned());
        all.push("add.u64 %a7, %a7, %a5;".to_owned());
        let count = self.of(&[1, 2]);
        let (trans, from) = (self.of(&["", ".trans"]), self.any(Class::Word, count).join(", "));
        all.push(format!("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%a7], {{{from}}};"));
        all.push("bar.sync 0;".to_owned());
        all.push(format!("ld.shared.u64 {wide}, [%a6];"));
        all.push("bar.sync 0;".to_owned());
        all
    }
}
