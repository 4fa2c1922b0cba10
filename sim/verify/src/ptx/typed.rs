//! Operations of PTX by their types and modifiers: those that compilers write.
//!
//! A value is the low bits of a register. Integers are computed in 128 bits, where nothing overflows, and cut to the type.

use super::numbers::{self as n, Number};
use half::{bf16, f16};
use std::fmt;

/// What an operation makes of its operands: a result, and a second one where there is one (a carry, a predicate).
type Apply = Box<dyn Fn(&[u64]) -> [u64; 2] + Send + Sync>;

/// An operation.
pub(super) struct Operation {
    name: String,
    /// How many operands it takes; one more than is written if it takes a carry.
    pub operands: usize,
    /// It takes the carry, as its last operand.
    pub takes_carry: bool,
    /// Its second result is the carry.
    pub gives_carry: bool,
    apply: Apply,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Operation {
    /// Its results.
    pub(super) fn apply(&self, values: &[u64]) -> [u64; 2] {
        (self.apply)(values)
    }
}

/// The words of an instruction's name, without the types.
struct Words<'a> {
    all: Vec<&'a str>,
}

impl Words<'_> {
    fn has(&self, word: &str) -> bool {
        self.all.contains(&word)
    }

    fn first<'w>(&self, words: &[&'w str]) -> Option<&'w str> {
        words.iter().copied().find(|word| self.has(word))
    }
}

/// A float with 10 bits of its fraction left: to nearest, to the even one or away from zero between two.
fn tensor_number(name: &str) -> Operation {
    let to_even = !name.contains(".rna.");
    let apply = move |v: &[u64]| {
        let bits = v[0] as u32;
        let (magnitude, sign) = (bits & 0x7FFF_FFFF, bits & 0x8000_0000);
        if magnitude > 0x7F80_0000 {
            return [0x7FFF_FFFF, 0];
        }
        let (below, lost) = (magnitude >> 13, magnitude & 0x1FFF);
        let is_up = match lost.cmp(&0x1000) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => !to_even || below % 2 == 1,
            std::cmp::Ordering::Greater => true,
        };
        [u64::from((below + u32::from(is_up)) << 13 | sign), 0]
    };
    let (takes_carry, gives_carry) = (false, false);
    Operation { name: name.to_owned(), operands: 1, takes_carry, gives_carry, apply: Box::new(apply) }
}

/// The operation with this name, whose result goes to a register of so many bits.
pub(super) fn operation(name: &str, register_bits: u32) -> Result<Operation, String> {
    if name.ends_with(".tf32.f32") {
        return Ok(tensor_number(name));
    }
    let mut words = Words { all: Vec::new() };
    let mut types = Vec::new();
    for word in name.split('.') {
        match Number::named(word) {
            Some(ty) if !words.all.is_empty() => types.push(ty),
            _ => words.all.push(word),
        }
    }
    let no = || format!("no operation {name}");
    let ty = types.first().copied().unwrap_or(Number::named("b32").ok_or_else(no)?);
    let from = types.get(1).copied().unwrap_or(ty);
    let takes_carry = matches!(words.all[0], "addc" | "subc" | "madc");
    let gives_carry = words.has("cc");
    let (operands, apply) = if ty.is_float && !matches!(words.all[0], "cvt" | "setp" | "set" | "slct") {
        float(&words, ty).ok_or_else(no)?
    } else {
        match words.all[0] {
            "cvt" => (1, convert(&words, ty, from, register_bits)),
            "setp" => (2, comparison(&words, ty).ok_or_else(no)?),
            "set" => (2, set(&words, ty, from).ok_or_else(no)?),
            "slct" => (3, select_by_sign(&words, from)),
            _ => integer(&words, ty, from).ok_or_else(no)?,
        }
    };
    Ok(Operation { name: name.to_owned(), operands, takes_carry, gives_carry, apply })
}

fn one(f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Option<(usize, Apply)> {
    Some((1, Box::new(move |v| [f(v[0]), 0])))
}

fn two(f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<(usize, Apply)> {
    Some((2, Box::new(move |v| [f(v[0], v[1]), 0])))
}

fn three(f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Option<(usize, Apply)> {
    Some((3, Box::new(move |v| [f(v[0], v[1], v[2]), 0])))
}

/// Operations on integers and bits.
fn integer(words: &Words<'_>, ty: Number, second: Number) -> Option<(usize, Apply)> {
    let bits = ty.bits;
    // Sums and products of all operands as exact numbers.
    let exact2 = move |f: fn(i128, i128) -> i128| two(move |a, b| ty.cut(f(ty.read(a), ty.read(b))));
    let part = words.first(&["lo", "hi", "wide"]);
    let is_saturated = words.has("sat");
    match words.all[0] {
        "add" if words.has("cc") => Some((2, carried(ty, false, false))),
        "sub" if words.has("cc") => Some((2, carried(ty, true, false))),
        "addc" => Some((3, carried(ty, false, true))),
        "subc" => Some((3, carried(ty, true, true))),
        "mad" | "madc" if words.has("cc") || words.all[0] == "madc" => {
            let is_high = part == Some("hi");
            let takes = words.all[0] == "madc";
            Some((
                if takes { 4 } else { 3 },
                Box::new(move |v| {
                    let product = ty.read(v[0]).wrapping_mul(ty.read(v[1]));
                    let term = ty.cut(if is_high { product >> bits } else { product });
                    let carry = if takes { i128::from(v[3] & 1) } else { 0 };
                    let sum = i128::from(term) + i128::from(ty.cut(ty.read(v[2]))) + carry;
                    [ty.cut(sum), (sum >> bits & 1) as u64]
                }),
            ))
        }
        "add" if is_saturated => two(move |a, b| ty.cut(ty.clamp(ty.read(a) + ty.read(b)))),
        "sub" if is_saturated => two(move |a, b| ty.cut(ty.clamp(ty.read(a) - ty.read(b)))),
        "add" => exact2(|a, b| a + b),
        "sub" => exact2(|a, b| a - b),
        "mul" | "mul24" | "mad" | "mad24" => {
            let is_short = words.all[0].ends_with("24");
            let has_sum = words.all[0].starts_with("mad");
            let part = part?;
            let wide = Number { bits: 2 * bits, ..ty };
            let result = if part == "wide" { wide } else { ty };
            let product = move |a: u64, b: u64| {
                let short = Number { bits: 24, ..ty };
                let of = if is_short { short } else { ty };
                let product = of.read(a).wrapping_mul(of.read(b));
                match part {
                    "hi" if is_short => product >> 16,
                    "hi" => product >> bits,
                    _ => product,
                }
            };
            if !has_sum {
                return two(move |a, b| result.cut(product(a, b)));
            }
            three(move |a, b, c| {
                let sum = result.read(result.cut(product(a, b))) + result.read(c);
                result.cut(if is_saturated { result.clamp(sum) } else { sum })
            })
        }
        "div" => two(move |a, b| match ty.read(b) {
            0 => ty.cut(0x5A5A_5A5A),
            b => ty.cut(ty.read(a) / b),
        }),
        "rem" => two(move |a, b| match ty.read(b) {
            0 => ty.cut(0x5A5A_5A5A),
            b => ty.cut(ty.read(a) % b),
        }),
        "abs" => one(move |a| ty.cut(ty.read(a).abs())),
        "neg" => one(move |a| ty.cut(-ty.read(a))),
        "min" => exact2(|a, b| a.min(b)),
        "max" => exact2(|a, b| a.max(b)),
        "sad" => three(move |a, b, c| ty.cut(ty.read(c) + (ty.read(a) - ty.read(b)).abs())),
        "dp4a" => three(move |a, b, c| n::dot(a, b, c, ty, second, None)),
        "dp2a" => {
            let is_high = words.has("hi");
            three(move |a, b, c| n::dot(a, b, c, ty, second, Some(is_high)))
        }
        "and" => two(move |a, b| ty.mask(a & b)),
        "or" => two(move |a, b| ty.mask(a | b)),
        "xor" => two(move |a, b| ty.mask(a ^ b)),
        "not" => one(move |a| ty.mask(!a)),
        "cnot" => one(move |a| u64::from(ty.mask(a) == 0)),
        "shl" => two(move |a, b| ty.mask(ty.mask(a).checked_shl(n::amount(b)).unwrap_or(0))),
        "shr" => two(move |a, b| ty.cut(ty.read(a) >> n::amount(b).min(64))),
        "shf" => {
            let (is_left, clamps) = (words.has("l"), words.has("clamp"));
            three(move |low, high, by| {
                let by = if clamps { n::amount(by).min(32) } else { n::amount(by) & 31 };
                let both = u128::from(high & n::WORD) << 32 | u128::from(low & n::WORD);
                let moved = if is_left { both << by >> 32 } else { both >> by };
                moved as u64 & n::WORD
            })
        }
        "lop3" => Some((4, Box::new(|v| [n::lookup(v[0], v[1], v[2], v[3]), 0]))),
        "prmt" => {
            let mode = words.first(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
            three(move |a, b, c| n::permute(a, b, c, mode))
        }
        "bfe" => three(move |a, start, length| n::extract(ty, a, start, length)),
        "bfi" => Some((4, Box::new(move |v| [n::insert(ty, v[0], v[1], v[2], v[3]), 0]))),
        "bfind" => {
            let gives_shift = words.has("shiftamt");
            one(move |a| n::find(ty, a, gives_shift))
        }
        "bmsk" => {
            let clamps = words.has("clamp");
            two(move |start, length| {
                let of = |v: u64| if clamps { (v & n::WORD).min(32) } else { v & 31 };
                let (start, length) = (of(start), of(length));
                (((1u128 << length) - 1) << start) as u64 & n::WORD
            })
        }
        "szext" => {
            let clamps = words.has("clamp");
            two(move |a, b| {
                let count = if clamps { (b & n::WORD).min(32) } else { b & 31 };
                if count == 0 { 0 } else { ty.cut(Number { bits: count as u32, ..ty }.read(a)) }
            })
        }
        "brev" => one(move |a| a.reverse_bits() >> (64 - bits)),
        "clz" => one(move |a| u64::from((ty.mask(a) << (64 - bits)).leading_zeros().min(bits))),
        "popc" => one(move |a| u64::from(ty.mask(a).count_ones())),
        _ => None,
    }
}

/// A sum or difference with the carry that it gives, and that it takes.
fn carried(ty: Number, is_difference: bool, takes: bool) -> Apply {
    Box::new(move |v| {
        let [a, b] = [v[0], v[1]].map(|value| i128::from(ty.mask(value)));
        let carry = if takes { i128::from(v[2] & 1) } else { 0 };
        let exact = if is_difference { a - b - carry } else { a + b + carry };
        [ty.cut(exact), (exact >> ty.bits & 1) as u64]
    })
}

/// Operations on floats.
fn float(words: &Words<'_>, ty: Number) -> Option<(usize, Apply)> {
    let name = words.all[0];
    let (flushes, is_saturated) = (words.has("ftz"), words.has("sat"));
    let finish = move |x: f64| n::finish(ty, x, flushes, is_saturated);
    let take = move |v: u64| n::take(ty, v, flushes);
    if ty.name == "f16x2" {
        let (count, apply) = float(words, Number::named("f16")?)?;
        return Some((
            count,
            Box::new(move |v| {
                let [low, high] = [0, 16].map(|shift| {
                    let halves: Vec<u64> = v.iter().map(|value| value >> shift & 0xFFFF).collect();
                    apply(&halves)[0]
                });
                [high << 16 | low, 0]
            }),
        ));
    }
    // Results of narrow types are those of f64, rounded: it has more than twice their bits.
    match name {
        "add" => two(move |a, b| finish(n::narrow(ty, take(a) + take(b)))),
        "sub" => two(move |a, b| finish(n::narrow(ty, take(a) - take(b)))),
        "mul" => two(move |a, b| finish(n::narrow(ty, take(a) * take(b)))),
        "div" => two(move |a, b| finish(n::narrow(ty, take(a) / take(b)))),
        "rcp" => one(move |a| finish(n::narrow(ty, 1.0 / take(a)))),
        "sqrt" => one(move |a| finish(n::narrow(ty, take(a).sqrt()))),
        "fma" | "mad" => three(move |a, b, c| finish(n::fused(ty, take(a), take(b), take(c)))),
        "min" | "max" => {
            let (is_max, keeps_nan) = (name == "max", words.has("NaN"));
            two(move |a, b| finish(n::extreme(take(a), take(b), is_max, keeps_nan)))
        }
        "abs" => one(move |a| n::flushed(ty, a, flushes) & !ty.sign()),
        "neg" => one(move |a| n::flushed(ty, a, flushes) ^ ty.sign()),
        "copysign" => two(move |a, b| ty.mask(b & !ty.sign() | a & ty.sign())),
        "testp" => {
            let property =
                words.first(&["finite", "infinite", "notanumber", "number", "normal", "subnormal"])?;
            one(move |a| u64::from(n::has(ty, a, property)))
        }
        _ => None,
    }
}

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
    "num", "nan",
];

/// The truth of a comparison.
fn truth(words: &Words<'_>, ty: Number) -> Option<impl Fn(u64, u64) -> bool + Send + Sync + use<>> {
    let how = words.first(&COMPARISONS)?;
    let flushes = words.has("ftz");
    Some(move |a: u64, b: u64| {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = if ty.is_float {
            n::take(ty, a, flushes).partial_cmp(&n::take(ty, b, flushes))
        } else {
            Some(ty.read(a).cmp(&ty.read(b)))
        };
        match (how, order) {
            ("num", order) => order.is_some(),
            ("nan", order) => order.is_none(),
            ("equ" | "neu" | "ltu" | "leu" | "gtu" | "geu", None) => true,
            (_, None) => false,
            ("eq" | "equ", Some(order)) => order == Equal,
            ("ne" | "neu", Some(order)) => order != Equal,
            ("lt" | "lo" | "ltu", Some(order)) => order == Less,
            ("le" | "ls" | "leu", Some(order)) => order != Greater,
            ("gt" | "hi" | "gtu", Some(order)) => order == Greater,
            (_, Some(order)) => order != Less,
        }
    })
}

/// How a comparison goes together with another predicate, which is the third operand.
fn combined(words: &Words<'_>) -> impl Fn(bool, &[u64]) -> bool + Send + Sync + use<> {
    let how = words.first(&["and", "or", "xor"]);
    move |truth, v| match how {
        None => truth,
        Some("and") => truth && v[2] & 1 == 1,
        Some("or") => truth || v[2] & 1 == 1,
        Some(_) => truth != (v[2] & 1 == 1),
    }
}

fn comparison(words: &Words<'_>, ty: Number) -> Option<Apply> {
    let (truth, combined) = (truth(words, ty)?, combined(words));
    Some(Box::new(move |v| {
        let is_true = truth(v[0], v[1]);
        [combined(is_true, v).into(), combined(!is_true, v).into()]
    }))
}

fn set(words: &Words<'_>, ty: Number, from: Number) -> Option<Apply> {
    let (truth, combined) = (truth(words, from)?, combined(words));
    let yes = if ty.is_float { u64::from(1f32.to_bits()) } else { ty.mask(u64::MAX) };
    Some(Box::new(move |v| [if combined(truth(v[0], v[1]), v) { yes } else { 0 }, 0]))
}

fn select_by_sign(words: &Words<'_>, of: Number) -> Apply {
    let flushes = words.has("ftz");
    Box::new(move |v| {
        let is_first = if of.is_float { n::take(of, v[2], flushes) >= 0.0 } else { of.read(v[2]) >= 0 };
        [if is_first { v[0] } else { v[1] }, 0]
    })
}

/// A conversion. A result that is narrower than its register is extended.
fn convert(words: &Words<'_>, ty: Number, from: Number, register_bits: u32) -> Apply {
    let rounding = words.first(&["rni", "rzi", "rmi", "rpi"]);
    let (flushes, is_saturated) = (words.has("ftz"), words.has("sat"));
    let register = Number { bits: register_bits.max(ty.bits), ..ty };
    Box::new(move |v| {
        let a = v[0];
        let result = match (from.is_float, ty.is_float) {
            (false, false) => {
                let value = from.read(a);
                let value = if is_saturated { ty.clamp(value) } else { value };
                register.cut(ty.read(ty.cut(value)))
            }
            (false, true) => {
                let value = from.read(a);
                let rounded = match ty.name {
                    "f64" => value as f64,
                    _ => f64::from(value as f32),
                };
                n::finish(ty, n::narrow(ty, rounded), false, is_saturated)
            }
            (true, false) => {
                let value = n::rounded(n::take(from, a, flushes && from.bits == 32), rounding);
                let value = if value.is_nan() { 0 } else { ty.clamp(value as i128) };
                register.cut(ty.read(ty.cut(value)))
            }
            (true, true) => {
                let value = n::rounded(n::take(from, a, flushes && from.bits == 32), rounding);
                let value = match ty.name {
                    "bf16" => bf16::from_f64(value).to_f64(),
                    "f16" => f16::from_f64(value).to_f64(),
                    _ => n::narrow(ty, value),
                };
                n::finish(ty, value, flushes && ty.bits == 32, is_saturated)
            }
        };
        [result, 0]
    })
}
