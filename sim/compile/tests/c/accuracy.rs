//! How exact the functions of `math.h` are, on the machine, against those of the host.
//!
//! `cargo test --workspace --test c accuracy -- --nocapture` prints the table of docs/c.md, and writes it with
//! `UPDATE=1`.

use crate::clang;
use crate::library::Kernel;
use std::fmt::Write;
use wave_isa::program::Argument;
use wave_testing::golden::root;

/// A function: its name, its least and greatest argument beside all floats or doubles, the greatest errors that are
/// promised of `float` and `double`, in ULP.
struct Row(&'static str, Host, [f64; 2], [f64; 2]);

/// The function of the host.
enum Host {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

use Host::{One, Two};

const ROWS: [Row; 20] = [
    Row("sin", One(f64::sin), [-10.0, 10.0], [0.6, 1.0]),
    Row("cos", One(f64::cos), [-10.0, 10.0], [0.6, 1.0]),
    Row("tan", One(f64::tan), [-10.0, 10.0], [2.3, 2.0]),
    Row("asin", One(f64::asin), [-1.0, 1.0], [2.0, 1.0]),
    Row("acos", One(f64::acos), [-1.0, 1.0], [1.5, 1.0]),
    Row("atan", One(f64::atan), [-4.0, 4.0], [1.3, 1.0]),
    Row("atan2", Two(f64::atan2), [-4.0, 4.0], [1.3, 2.0]),
    Row("exp", One(f64::exp), [-87.0, 88.0], [1.2, 1.0]),
    Row("exp2", One(f64::exp2), [-126.0, 127.0], [0.6, 1.0]),
    Row("expm1", One(f64::exp_m1), [-3.0, 3.0], [1.5, 1.0]),
    Row("log", One(f64::ln), [0.0, 3.0], [1.7, 1.0]),
    Row("log2", One(f64::log2), [0.0, 3.0], [0.6, 1.0]),
    Row("log10", One(f64::log10), [0.0, 3.0], [2.2, 2.0]),
    Row("log1p", One(f64::ln_1p), [-0.9, 2.0], [1.0, 1.0]),
    Row("pow", Two(f64::powf), [0.0, 40.0], [1.2, 1.0]),
    Row("sinh", One(f64::sinh), [-4.0, 4.0], [2.5, 2.0]),
    Row("cosh", One(f64::cosh), [-4.0, 4.0], [2.0, 2.0]),
    Row("tanh", One(f64::tanh), [-4.0, 4.0], [2.0, 2.0]),
    Row("cbrt", One(f64::cbrt), [-4.0, 4.0], [0.7, 1.0]),
    Row("hypot", Two(f64::hypot), [-4.0, 4.0], [0.7, 1.0]),
];

/// Arguments where functions are special: each with each.
const SPECIAL: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Arguments of a function.
const COUNT: u32 = 1 << 14;

/// The source with a kernel for each function and type.
fn source() -> String {
    let mut text = "#include <math.h>\n#include <wave.h>\n".to_owned();
    for Row(name, host, ..) in &ROWS {
        for (ty, end) in [("float", "f"), ("double", "")] {
            let call = match host {
                One(_) => format!("{name}{end}(x[i])"),
                Two(_) => format!("{name}{end}(x[i], y[i])"),
            };
            _ = writeln!(
                text,
                "KERNEL void of_{name}{end}(const {ty} *x, const {ty} *y, {ty} *z)\n\
                 {{ unsigned i = global_id_x(); z[i] = {call}; }}"
            );
        }
    }
    text
}

/// A sequence of 64 bits each, as splitmix64 has them.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A third is any number, a third from the range, a third near 1.
    fn number(&mut self, number: u32, [least, most]: [f64; 2], is_float: bool) -> f64 {
        let bits = self.next();
        let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
        let value = match number % 3 {
            0 if is_float => return f32::from_bits(bits as u32).into(),
            0 => f64::from_bits(bits),
            1 => least + (most - least) * unit,
            _ => 0.75 + 0.5 * unit,
        };
        if is_float { f64::from(value as f32) } else { value }
    }
}

/// The distance of a result from the exact one, in units of the last place of a type with so many bits of precision.
fn ulps(got: f64, exact: f64, (precision, least_exponent): (i32, i32), largest: f64) -> f64 {
    if got.is_nan() || exact.is_nan() || exact.abs() > largest || got.is_infinite() {
        let same =
            got.is_nan() && exact.is_nan() || got == exact || got.is_infinite() && exact.abs() > largest;
        // Where the result is nearly too large, both are right.
        let near = got.abs() > largest * 0.999_999 && exact.abs() > largest * 0.999_999;
        return if same || near && got.signum() == exact.signum() { 0.0 } else { f64::INFINITY };
    }
    if got == 0.0 && exact == 0.0 {
        return if got.signum() == exact.signum() { 0.0 } else { f64::INFINITY };
    }
    let exponent = (exact.abs().log2().floor() as i32).max(least_exponent);
    // Two factors, since the unit of the smallest numbers is no normal one.
    (got - exact).abs()
        * 2f64.powi((precision - 1 - exponent) / 2)
        * 2f64.powi((precision - 1 - exponent) - (precision - 1 - exponent) / 2)
}

/// The greatest error of a function, and where it is.
fn greatest(kernel: &Kernel, row: &Row, is_float: bool) -> (f64, [f64; 2]) {
    let Row(name, host, range, _) = row;
    let mut sequence = Sequence(u64::from(name.as_bytes()[0]) << 8 | name.len() as u64);
    let special = SPECIAL.iter().flat_map(|&x| SPECIAL.map(|y| [x, y]));
    let random = (0..COUNT).map(|number| [(); 2].map(|()| sequence.number(number, *range, is_float)));
    let numbers: Vec<[f64; 2]> = special.chain(random).take(COUNT as usize).collect();
    let bytes = if is_float { 4 } else { 8 };
    let (mut memory, first) = (kernel.memory(), kernel.free());
    let at = |buffer: u32, number: usize| (first + buffer * COUNT * 8) as usize + number * bytes;
    for (number, pair) in numbers.iter().enumerate() {
        for (buffer, &value) in (0..).zip(pair) {
            let place = &mut memory[at(buffer, number)..][..bytes];
            match is_float {
                true => place.copy_from_slice(&(value as f32).to_le_bytes()),
                false => place.copy_from_slice(&value.to_le_bytes()),
            }
        }
    }
    let arguments: Vec<Argument> =
        (0..3).map(|buffer| at(buffer, 0).to_string().parse().expect("a number")).collect();
    let end = if is_float { "f" } else { "" };
    kernel.run(&format!("of_{name}{end}"), (COUNT / 64, 64), &arguments, &mut memory);
    let mut greatest = (0.0, [0.0; 2]);
    for (number, &[x, y]) in numbers.iter().enumerate() {
        let place = &memory[at(2, number)..];
        let exact = match host {
            One(host) => host(x),
            Two(host) => host(x, y),
        };
        let error = match is_float {
            true => {
                let got = f32::from_le_bytes(*place.first_chunk().expect("it is inside"));
                ulps(got.into(), exact, (24, -126), f32::MAX.into())
            }
            false => {
                let got = f64::from_le_bytes(*place.first_chunk().expect("it is inside"));
                ulps(got, exact, (53, -1022), f64::MAX)
            }
        };
        if error > greatest.0 {
            greatest = (error, [x, y]);
        }
    }
    greatest
}

#[test]
fn accuracy_of_math_h() {
    if !clang() {
        return;
    }
    let kernel = Kernel::of_text(&source(), &[], [1024, 0], true);
    let mut table =
        "| function | `float` | at most | `double`, from the host's | at most |\n|---|---|---|---|---|\n"
            .to_owned();
    let mut wrong = Vec::new();
    for row in &ROWS {
        let Row(name, _, _, bounds) = row;
        let errors = [true, false].map(|is_float| greatest(&kernel, row, is_float));
        for ((error, at), bound) in errors.iter().zip(bounds) {
            if error > bound {
                wrong.push(format!("{name}: {error} at {at:?}"));
            }
        }
        let [float, double] = errors.map(|(error, _)| error);
        _ = writeln!(table, "| `{name}` | {float:.2} | {} | {double:.0} | {:.0} |", bounds[0], bounds[1]);
    }
    eprintln!("{table}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let path = root().join("docs/c.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once("<!-- accuracy: begin -->\n").expect("the table has a begin");
    let (there, after) = rest.split_once("<!-- accuracy: end -->").expect("the table has an end");
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        let text = format!("{before}<!-- accuracy: begin -->\n{table}<!-- accuracy: end -->{after}");
        std::fs::write(&path, text).expect("it can be written");
        return;
    }
    // What was measured may differ with the host; what is promised does not.
    let promises = |text: &str| -> Vec<String> {
        let cell =
            |line: &str, number: usize| line.split('|').nth(number).unwrap_or_default().trim().to_owned();
        text.lines().map(|line| [1, 3, 5].map(|number| cell(line, number)).join(" ")).collect()
    };
    assert_eq!(promises(there), promises(&table), "UPDATE=1 writes the table of docs/c.md");
}
