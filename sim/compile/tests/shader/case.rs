//! The stored cases: `cases/README.md` describes their format.

use serde_json::Value;

/// A shader with its buffers.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) wgsl: String,
    pub(crate) entry: String,
    pub(crate) grid: [u32; 3],
    pub(crate) wave_width: Option<u32>,
    pub(crate) overrides: Vec<(String, f64)>,
    pub(crate) bindings: Vec<Buffer>,
}

/// A buffer, before and afterwards.
pub(crate) struct Buffer {
    pub(crate) group: u32,
    pub(crate) number: u32,
    pub(crate) contents: Vec<u8>,
    expected: Expected,
}

enum Expected {
    Anything,
    Bytes(Vec<u8>),
    /// Numbers of so many bytes, each between two.
    Between {
        bytes: usize,
        low: Vec<u8>,
        high: Vec<u8>,
    },
}

/// All cases of a file of `cases/`.
pub(crate) fn cases(file: &str) -> Vec<Case> {
    let path = format!("{}/tests/shader/cases/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a file of cases");
    let cases: Vec<Case> =
        text.lines().map(|line| case(&serde_json::from_str(line).expect("a JSON object"))).collect();
    assert!(cases.len() > 5, "{path} has {} cases", cases.len());
    cases
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number")
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = value.as_str().expect("hexadecimal digits").as_bytes();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    };
    digits.chunks(2).map(byte).collect()
}

fn case(value: &Value) -> Case {
    let grid = value["grid"].as_array().expect("three numbers");
    let overrides = value.get("overrides").and_then(Value::as_object).into_iter().flatten();
    Case {
        name: text(&value["name"]),
        wgsl: text(&value["wgsl"]),
        entry: text(&value["entry"]),
        grid: [0, 1, 2].map(|axis| number(&grid[axis])),
        wave_width: value.get("wave_width").map(number),
        overrides: overrides.map(|(name, value)| (name.clone(), value.as_f64().expect("a number"))).collect(),
        bindings: value["bindings"].as_array().expect("a list").iter().map(buffer).collect(),
    }
}

fn buffer(value: &Value) -> Buffer {
    let contents = match value.get("input_hex") {
        Some(digits) => bytes(digits),
        None => vec![0; number(&value["bytes"]) as usize],
    };
    let expected = match (value.get("output_hex"), value.get("low_hex")) {
        (Some(digits), _) => Expected::Bytes(bytes(digits)),
        (None, Some(low)) => {
            let element = match value["element"].as_str() {
                Some("f16") => 2,
                Some("f32") => 4,
                Some("f64") => 8,
                other => panic!("{other:?} is no type of numbers"),
            };
            Expected::Between { bytes: element, low: bytes(low), high: bytes(&value["high_hex"]) }
        }
        (None, None) => Expected::Anything,
    };
    Buffer { group: number(&value["group"]), number: number(&value["binding"]), contents, expected }
}

impl Buffer {
    /// True if something is expected of it.
    pub(crate) fn is_compared(&self) -> bool {
        !matches!(self.expected, Expected::Anything)
    }

    /// What is wrong with its contents afterwards.
    pub(crate) fn differs(&self, after: &[u8]) -> Option<String> {
        let place = format!("buffer {}.{}", self.group, self.number);
        match &self.expected {
            Expected::Anything => None,
            Expected::Bytes(expected) => {
                assert_eq!(expected.len(), after.len());
                let at = expected.iter().zip(after).position(|(a, b)| a != b)? / 4 * 4;
                let word = |bytes: &[u8]| {
                    bytes[at..].iter().take(4).rev().map(|b| format!("{b:02x}")).collect::<String>()
                };
                Some(format!("{place}, byte {at}: expected {}, got {}", word(expected), word(after)))
            }
            Expected::Between { bytes, low, high } => {
                assert_eq!((low.len(), high.len()), (after.len(), after.len()));
                let rows = low.chunks(*bytes).zip(high.chunks(*bytes)).zip(after.chunks(*bytes)).enumerate();
                rows.map(|(at, ((low, high), got))| (at, float(low), float(high), float(got)))
                    .find(|&(_, low, high, got)| !(low.is_nan() || low <= got && got <= high))
                    .map(|(at, low, high, got)| {
                        format!("{place}, element {at}: {got:e} is not in {low:e} to {high:e}")
                    })
            }
        }
    }
}

fn float(bytes: &[u8]) -> f64 {
    match bytes.len() {
        2 => half::f16::from_le_bytes(bytes.try_into().expect("two bytes")).into(),
        4 => f32::from_le_bytes(bytes.try_into().expect("four bytes")).into(),
        _ => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
    }
}
