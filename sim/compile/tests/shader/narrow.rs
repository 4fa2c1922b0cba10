//! Integers of 16 bits: every operation and conversion on the values at the ends of the types, against Rust's own.

use crate::machine::{Bound, config, launch, program, rendered};
use wave_compile::shader::ShaderOptions;

/// An expression of `x` and `y`, and its value.
type Case = (&'static str, fn(i64, i64) -> i64);

/// What WGSL says of a quotient by 0 and of one that overflows.
fn quotient(x: i64, y: i64) -> i64 {
    if y == 0 { x } else { x / y }
}

fn remainder(x: i64, y: i64) -> i64 {
    if y == 0 { 0 } else { x % y }
}

/// For both types. The value is taken modulo 2^16.
const BOTH: [Case; 24] = [
    ("x", |x, _| x),
    ("x + y", |x, y| x + y),
    ("x - y", |x, y| x - y),
    ("x * y", |x, y| x * y),
    ("x / y", quotient),
    ("x % y", remainder),
    ("x & y", |x, y| x & y),
    ("x | y", |x, y| x | y),
    ("x ^ y", |x, y| x ^ y),
    ("~x", |x, _| !x),
    ("x << (u32(y) & 15u)", |x, y| x << (y & 15)),
    ("x >> (u32(y) & 15u)", |x, y| x >> (y & 15)),
    ("min(x, y)", |x, y| x.min(y)),
    ("max(x, y)", |x, y| x.max(y)),
    ("clamp(x, min(y, T(100)), max(y, T(100)))", |x, y| x.clamp(y.min(100), y.max(100))),
    ("select(x, y, x < y)", |x, y| if x < y { y } else { x }),
    ("T(x == y) + T(x < y) * T(2) + T(x >= y) * T(4)", |x, y| {
        i64::from(x == y) + 2 * i64::from(x < y) + 4 * i64::from(x >= y)
    }),
    ("T(i32(x) * 3 + i32(y))", |x, y| x * 3 + y),
    ("T(u32(x) + u32(y) * 7u)", |x, y| x + y * 7),
    ("T(f32(x) * 0.25)", |x, _| x / 4),
    ("T(bool(x))", |x, _| i64::from(x != 0)),
    ("(vec2<T>(x, y) * vec2<T>(y, T(3))).y + vec2<T>(x, y).x", |x, y| x + y * 3),
    ("chosen(array<T, 3>(y, x, y), u32(y) & 1u)", |x, y| if y & 1 == 1 { x } else { y }),
    ("T(bitcast<vec2<T>>(bitcast<u32>(vec2<T>(y, x))).y)", |x, _| x),
];

const SIGNED: [Case; 3] = [
    ("-x", |x, _| -x),
    ("abs(x)", |x, _| x.abs()),
    // A float outside the type becomes the end of it.
    ("T(f32(x) * 1.5)", |x, _| (x * 3 / 2).clamp(-32768, 32767)),
];

const UNSIGNED: [Case; 1] = [("T(f32(x) * 1.5 - 1000.0)", |x, _| ((x * 3 - 2000) / 2).clamp(0, 65535))];

const ENDS: [i64; 19] =
    [0, 1, -1, 2, -2, 3, 7, 100, 127, 128, -128, 255, 256, 12_345, -12_345, 32_766, 32_767, -32_768, -32_767];

/// A value of the type with these low bits.
fn of_bits(is_signed: bool, value: i64) -> i64 {
    if is_signed { i64::from(value as i16) } else { i64::from(value as u16) }
}

/// A row of two numbers, and how the shader reads it: number by number, or as a word that it takes apart.
const ROWS: [(&str, &str); 2] = [
    ("struct Row { first: T, second: T }", "let x = rows[id.x].first; let y = rows[id.x].second;"),
    ("alias Row = vec2<T>;", "let row = rows[id.x]; let x = row.x; let y = row.y;"),
];

fn check(ty: &str, is_signed: bool, case: Case) {
    for (row, read) in ROWS {
        check_row(ty, is_signed, case, [row, read].map(|text| text.replace('T', ty)));
    }
}

fn check_row(ty: &str, is_signed: bool, (expression, value): Case, [row, read]: [String; 2]) {
    let wide = if is_signed { "i32" } else { "u32" };
    let expression = expression.replace('T', ty);
    let shader = format!(
        "enable wgpu_int16;
        {row}
        @group(0) @binding(0) var<storage, read> rows: array<Row>;
        @group(0) @binding(1) var<storage, read_write> narrow: array<{ty}>;
        @group(0) @binding(2) var<storage, read_write> wide: array<{wide}>;
        @group(0) @binding(3) var<storage, read_write> real: array<f32>;
        fn chosen(all: array<{ty}, 3>, at: u32) -> {ty} {{
            var own = all;
            return own[at];
        }}
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x >= arrayLength(&rows) {{ return; }}
            {read}
            let r: {ty} = {expression};
            narrow[id.x] = r;
            wide[id.x] = {wide}(r);
            real[id.x] = f32(r);
        }}"
    );
    let pairs: Vec<(i64, i64)> = ENDS
        .iter()
        .flat_map(|&x| ENDS.iter().map(move |&y| (of_bits(is_signed, x), of_bits(is_signed, y))))
        .collect();
    let rows: Vec<u8> =
        pairs.iter().flat_map(|&(x, y)| [x as u16, y as u16]).flat_map(u16::to_le_bytes).collect();
    let [two, four] = [2, 4].map(|bytes| vec![0; bytes * pairs.len()]);
    let bound = [&rows, &two, &four, &four];
    let buffers: Vec<Bound<'_>> =
        (0..).zip(bound).map(|(number, contents)| Bound { group: 0, number, contents }).collect();
    let program = program(&shader, ShaderOptions::default())
        .unwrap_or_else(|errors| panic!("{ty}: {expression}: {}", rendered(&errors)));
    let groups = pairs.len().div_ceil(32) as u32;
    let after = launch(&program, "main", [groups, 1, 1], &buffers, &config(None)).unwrap();
    for (i, &(x, y)) in pairs.iter().enumerate() {
        let expected = of_bits(is_signed, value(x, y));
        let narrow = u16::from_le_bytes(after[1][2 * i..][..2].try_into().unwrap());
        let [wide, real] = [2, 3].map(|at| u32::from_le_bytes(after[at][4 * i..][..4].try_into().unwrap()));
        let found = (narrow, wide, f32::from_bits(real));
        assert_eq!(
            found,
            (expected as u16, expected as u32, expected as f32),
            "{ty}: {expression} of {x}, {y}, {row}"
        );
    }
}

#[test]
fn integers_of_16_bits_are_those_of_their_types() {
    BOTH.iter().chain(&SIGNED).for_each(|&case| check("i16", true, case));
    BOTH.iter().chain(&UNSIGNED).for_each(|&case| check("u16", false, case));
}
