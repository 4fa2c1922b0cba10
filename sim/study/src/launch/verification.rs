//! Compares device memory with the expectations of a launch file.

use super::element::{Element, ElementType};
use std::fmt;

/// Most mismatches listed. All are counted.
const LISTED: usize = 8;

/// Allowed deviation from an expected value. All bounds are inclusive; NaN agrees with NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Equal to the expected value rounded to the element type.
    Exact,
    /// At most `absolute + relative * |expected|` away.
    Close {
        /// In the unit of the values.
        absolute: f64,
        /// A fraction of the expected value.
        relative: f64,
    },
    /// At most this many units in the last place of the expected value, in the element type.
    Ulp(f64),
}

impl Tolerance {
    /// True if the element `got` agrees with `expected`, which may be more precise than an element.
    pub fn accepts(self, element: ElementType, expected: f64, got: f64) -> bool {
        if expected.is_nan() || got.is_nan() {
            return expected.is_nan() && got.is_nan();
        }
        if element.round(expected) == got {
            return true;
        }
        let bound = match self {
            Tolerance::Exact => return false,
            Tolerance::Close { absolute, relative } => absolute + relative * expected.abs(),
            Tolerance::Ulp(units) => units * ulp(element, expected),
        };
        (got - expected).abs() <= bound
    }
}

/// Distance between neighbouring elements at `value`; 1 for integers.
fn ulp(element: ElementType, value: f64) -> f64 {
    let Some((precision, least_exponent)) = element.precision() else { return 1.0 };
    let exponent = if value == 0.0 || !value.is_finite() {
        least_exponent
    } else {
        // The exponent field of an f64 is exact, while a logarithm would round. A subnormal f64 has field 0,
        // which is below every least exponent.
        ((value.to_bits() >> 52 & 0x7FF) as i32 - 1023).max(least_exponent)
    };
    2f64.powi(exponent - (precision - 1))
}

/// A buffer and its expected contents.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Name of the buffer.
    pub buffer: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Address of its first byte in device memory.
    pub address: u32,
    /// Expected values in full precision, one per element.
    pub expected: Vec<f64>,
    /// Allowed deviation.
    pub tolerance: Tolerance,
    /// The values may be in any order.
    pub any_order: bool,
}

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub enum Verification {
    /// The launch file expects nothing.
    Nothing,
    /// Everything agrees.
    Passed {
        /// Elements compared.
        compared: u64,
    },
    /// Something disagrees.
    Failed {
        /// Elements compared.
        compared: u64,
        /// Elements that disagree, and stray bytes written.
        wrong: u64,
        /// The first mismatches of each buffer, in memory order.
        first: Vec<Mismatch>,
    },
}

impl Verification {
    /// False if something disagrees.
    pub fn is_ok(&self) -> bool {
        !matches!(self, Verification::Failed { .. })
    }
}

/// A value that differs from the expected one.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Mismatch {
    /// Name of the buffer; `None` for a changed byte outside of every buffer.
    pub buffer: Option<String>,
    /// Index of the element (with `any_order`: in ascending order of values), or address of a byte.
    pub index: u64,
    /// The expected value.
    pub expected: f64,
    /// The value found.
    pub got: f64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.buffer {
            Some(buffer) => {
                write!(f, "{buffer}[{}]: expected {}, got {}", self.index, self.expected, self.got)
            }
            None => write!(f, "byte 0x{:x}, outside every buffer, was written: {}", self.index, self.got),
        }
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verification::Nothing => f.write_str("nothing to verify"),
            Verification::Passed { compared } => write!(f, "verified: {compared} values"),
            Verification::Failed { compared, wrong, first } => {
                write!(f, "wrong: {wrong} of {compared} values")?;
                for mismatch in first {
                    write!(f, "\n  {mismatch}")?;
                }
                if *wrong > first.len() as u64 {
                    write!(f, "\n  … and {} more", wrong - first.len() as u64)?;
                }
                Ok(())
            }
        }
    }
}

/// Compares `memory` with the checks. `gaps` are bytes that belong to no buffer and must be 0. Memory that
/// ends too early is an error.
pub(super) fn verify(checks: &[Check], gaps: &[std::ops::Range<usize>], memory: &[u8]) -> Verification {
    if checks.is_empty() {
        return Verification::Nothing;
    }
    let (mut compared, mut wrong, mut first) = (0, 0, Vec::new());
    for check in checks {
        compared += check.expected.len() as u64;
        let mut listed = 0;
        compare(check, memory, |mismatch| {
            wrong += 1;
            if listed < LISTED {
                listed += 1;
                first.push(mismatch);
            }
        });
    }
    let mut listed = 0;
    for address in gaps.iter().cloned().flatten().take_while(|&a| a < memory.len()) {
        if memory[address] != 0 {
            wrong += 1;
            if listed < LISTED {
                listed += 1;
                let got = f64::from(memory[address]);
                first.push(Mismatch { buffer: None, index: address as u64, expected: 0.0, got });
            }
        }
    }
    match wrong {
        0 => Verification::Passed { compared },
        _ => Verification::Failed { compared, wrong, first },
    }
}

fn compare(check: &Check, memory: &[u8], mut report: impl FnMut(Mismatch)) {
    let bytes = check.element.bytes();
    let start = (check.address as usize).min(memory.len());
    let mut got: Vec<f64> = memory[start..]
        .chunks_exact(bytes)
        .take(check.expected.len())
        .map(|element| check.element.read(element))
        .collect();
    // Missing memory agrees with nothing.
    let missing = check.expected.len() - got.len();
    let mut sorted;
    let expected = if check.any_order {
        sorted = check.expected.clone();
        sorted.sort_by(f64::total_cmp);
        got.sort_by(f64::total_cmp);
        &sorted
    } else {
        &check.expected
    };
    got.extend(std::iter::repeat_n(f64::NAN, missing));
    for (index, (&expected, &got)) in expected.iter().zip(&got).enumerate() {
        let absent = index + missing >= check.expected.len();
        if absent || !check.tolerance.accepts(check.element, expected, got) {
            report(Mismatch { buffer: Some(check.buffer.clone()), index: index as u64, expected, got });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::*;

    fn check(expected: &[f64], tolerance: Tolerance) -> Check {
        Check {
            buffer: "x".into(),
            element: F32,
            address: 4,
            expected: expected.to_vec(),
            tolerance,
            any_order: false,
        }
    }

    fn memory(values: &[f32]) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        bytes
    }

    #[test]
    fn an_ulp_is_that_of_the_element_type() {
        assert_eq!(ulp(F32, 1.0), f64::from(f32::EPSILON));
        assert_eq!(ulp(F32, 1.999), f64::from(f32::EPSILON));
        assert_eq!(ulp(F32, -2.0), 2.0 * f64::from(f32::EPSILON));
        assert_eq!(ulp(F32, 0.0), f64::from(f32::from_bits(1)));
        assert_eq!(ulp(F16, 1.0), 2f64.powi(-10));
        assert_eq!(ulp(F16, 1e-7), 2f64.powi(-24));
        assert_eq!(ulp(Bf16, 1.0), 2f64.powi(-7));
        assert_eq!(ulp(F64, 1.0), f64::EPSILON);
        assert_eq!(ulp(U32, 1e9), 1.0);
    }

    #[test]
    fn tolerances_accept_up_to_their_bound_and_not_past_it() {
        let next = |x: f32, n: u32| f64::from(f32::from_bits(x.to_bits() + n));
        assert!(Tolerance::Exact.accepts(F32, 0.1, f64::from(0.1f32)));
        assert!(!Tolerance::Exact.accepts(F32, 0.1, next(0.1, 1)));
        assert!(Tolerance::Ulp(2.0).accepts(F32, 1.0, next(1.0, 2)));
        assert!(!Tolerance::Ulp(2.0).accepts(F32, 1.0, next(1.0, 3)));
        let close = Tolerance::Close { absolute: 0.5, relative: 0.25 };
        assert!(close.accepts(F32, 8.0, 10.5));
        assert!(!close.accepts(F32, 8.0, 10.75));
        for tolerance in [Tolerance::Exact, close, Tolerance::Ulp(4.0)] {
            assert!(tolerance.accepts(F32, f64::NAN, f64::NAN));
            assert!(!tolerance.accepts(F32, 1.0, f64::NAN));
            assert!(!tolerance.accepts(F32, f64::NAN, 1.0));
            assert!(tolerance.accepts(F32, f64::INFINITY, f64::INFINITY));
            assert!(!tolerance.accepts(F32, 1.0, f64::INFINITY));
        }
    }

    #[test]
    fn a_wrong_value_a_stray_byte_and_short_memory_are_found() {
        let checks = [check(&[1.0, 2.0, 3.0], Tolerance::Exact)];
        let gap = 0..4;
        let gaps = std::slice::from_ref(&gap);
        assert_eq!(verify(&checks, gaps, &memory(&[1.0, 2.0, 3.0])), Verification::Passed { compared: 3 });
        assert_eq!(verify(&[], gaps, &[9]), Verification::Nothing);

        let wrong = verify(&checks, gaps, &memory(&[1.0, 2.5, 3.0]));
        let mismatch = Mismatch { buffer: Some("x".into()), index: 1, expected: 2.0, got: 2.5 };
        assert_eq!(wrong, Verification::Failed { compared: 3, wrong: 1, first: vec![mismatch] });

        let mut stray = memory(&[1.0, 2.0, 3.0]);
        stray[2] = 7;
        let Verification::Failed { wrong: 1, first, .. } = verify(&checks, gaps, &stray) else { panic!() };
        assert_eq!(first, [Mismatch { buffer: None, index: 2, expected: 0.0, got: 7.0 }]);

        let short = verify(&checks, gaps, &memory(&[1.0, 2.0]));
        assert!(matches!(short, Verification::Failed { wrong: 1, .. }), "{short}");
        assert!(matches!(verify(&checks, gaps, &[]), Verification::Failed { wrong: 3, .. }));
    }

    #[test]
    fn any_order_compares_what_is_there_not_where() {
        let mut check = check(&[0.0, 5.0, 7.0, 5.0], Tolerance::Exact);
        assert!(!verify(&[check.clone()], &[], &memory(&[5.0, 7.0, 0.0, 5.0])).is_ok());
        check.any_order = true;
        assert!(verify(&[check.clone()], &[], &memory(&[5.0, 7.0, 0.0, 5.0])).is_ok());
        assert!(!verify(&[check], &[], &memory(&[5.0, 7.0, 0.0, 7.0])).is_ok());
    }

    #[test]
    fn the_list_of_mismatches_is_short_and_the_count_is_not() {
        let expected: Vec<f64> = (0..100).map(f64::from).collect();
        let Verification::Failed { wrong, first, .. } =
            verify(&[check(&expected, Tolerance::Exact)], &[], &memory(&[-1.0; 100]))
        else {
            panic!()
        };
        assert_eq!((wrong, first.len()), (100, LISTED));
    }
}
