//! Element types of buffers: conversion of numbers to and from bytes.

use super::expression::Value;
use half::{bf16, f16};
use serde::Deserialize;

/// Type of a buffer's elements; little-endian in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ElementType {
    U8,
    U16,
    U32,
    I32,
    F16,
    Bf16,
    F32,
    F64,
}

use ElementType::*;

impl ElementType {
    /// Every type.
    pub const ALL: [ElementType; 8] = [U8, U16, U32, I32, F16, Bf16, F32, F64];

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            U8 => 1,
            U16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            F64 => 8,
        }
    }

    /// The name in launch files.
    pub fn name(self) -> &'static str {
        match self {
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            I32 => "i32",
            F16 => "f16",
            Bf16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    /// True for the floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | F32 | F64)
    }

    /// Smallest and largest value of an integer type.
    pub fn integer_range(self) -> Option<(i64, i64)> {
        match self {
            U8 => Some((0, i64::from(u8::MAX))),
            U16 => Some((0, i64::from(u16::MAX))),
            U32 => Some((0, i64::from(u32::MAX))),
            I32 => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
            F16 | Bf16 | F32 | F64 => None,
        }
    }

    /// Bits of the significand, with the leading one, and the exponent of the smallest normal number.
    pub(super) fn precision(self) -> Option<(i32, i32)> {
        match self {
            F16 => Some((11, -14)),
            Bf16 => Some((8, -126)),
            F32 => Some((24, -126)),
            F64 => Some((53, -1022)),
            _ => None,
        }
    }

    /// The first element of `bytes`. Exact in f64 for every type.
    ///
    /// # Panics
    /// If `bytes` is shorter than an element.
    pub fn read(self, bytes: &[u8]) -> f64 {
        match self {
            U8 => f64::from(bytes[0]),
            U16 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            U32 => f64::from(u32::from_le_bytes(first(bytes))),
            I32 => f64::from(i32::from_le_bytes(first(bytes))),
            F16 => f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
            Bf16 => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
            F32 => f64::from(f32::from_le_bytes(first(bytes))),
            F64 => f64::from_le_bytes(first(bytes)),
        }
    }

    /// The first element as a value of expressions: integers stay integers.
    pub(super) fn read_value(self, bytes: &[u8]) -> Value {
        let value = self.read(bytes);
        if self.is_float() { Value::Float(value) } else { Value::Int(value as i64) }
    }

    /// Appends `value`, rounded to nearest even for a float type.
    ///
    /// # Errors
    /// If an integer type cannot represent the value.
    pub(super) fn write(self, value: Value, to: &mut Vec<u8>) -> Result<(), String> {
        match (self, value) {
            (F16, v) => to.extend(f16::from_f64(v.as_f64()).to_le_bytes()),
            (Bf16, v) => to.extend(bf16::from_f64(v.as_f64()).to_le_bytes()),
            (F32, v) => to.extend((v.as_f64() as f32).to_le_bytes()),
            (F64, v) => to.extend(v.as_f64().to_le_bytes()),
            (_, Value::Int(v)) => {
                let (low, high) = self.integer_range().unwrap_or((0, 0));
                if !(low..=high).contains(&v) {
                    return Err(format!("{v} is no {}: it has {low} to {high}", self.name()));
                }
                to.extend(&v.to_le_bytes()[..self.bytes()]);
            }
            (_, Value::Float(v)) => {
                return Err(format!("{v:?} is no integer, and the elements are {}", self.name()));
            }
        }
        Ok(())
    }

    /// The value of an element after `value` is stored in it: integers wrap, floats are not rounded.
    ///
    /// # Errors
    /// A float for an integer type.
    pub(super) fn wrap(self, value: Value) -> Result<Value, String> {
        match (self, value) {
            (U8, Value::Int(v)) => Ok(Value::Int(v & 0xFF)),
            (U16, Value::Int(v)) => Ok(Value::Int(v & 0xFFFF)),
            (U32, Value::Int(v)) => Ok(Value::Int(v & 0xFFFF_FFFF)),
            (I32, Value::Int(v)) => Ok(Value::Int(i64::from(v as i32))),
            (F16 | Bf16 | F32 | F64, v) => Ok(Value::Float(v.as_f64())),
            (_, Value::Float(v)) => {
                Err(format!("{v:?} is no integer, and the elements are {}; `floor` makes one", self.name()))
            }
        }
    }

    /// `value` rounded to the nearest element.
    pub(super) fn round(self, value: f64) -> f64 {
        match self {
            F16 => f16::from_f64(value).to_f64(),
            Bf16 => bf16::from_f64(value).to_f64(),
            F32 => f64::from(value as f32),
            _ => value,
        }
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_back_what_it_wrote() {
        for (element, value, bytes) in [
            (U8, Value::Int(200), vec![200]),
            (U16, Value::Int(0x1234), vec![0x34, 0x12]),
            (U32, Value::Int(0xFFFF_FFFF), vec![0xFF; 4]),
            (I32, Value::Int(-2), vec![0xFE, 0xFF, 0xFF, 0xFF]),
            (F16, Value::Float(1.5), vec![0x00, 0x3E]),
            (Bf16, Value::Int(-2), vec![0x00, 0xC0]),
            (F32, Value::Float(1.0), vec![0, 0, 0x80, 0x3F]),
            (F64, Value::Float(2.0), vec![0, 0, 0, 0, 0, 0, 0, 0x40]),
        ] {
            let mut written = Vec::new();
            element.write(value, &mut written).unwrap();
            assert_eq!(written, bytes, "{}", element.name());
            assert_eq!(written.len(), element.bytes());
            assert_eq!(element.read(&written), value.as_f64());
        }
    }

    #[test]
    fn integers_that_do_not_fit_are_refused_or_wrap() {
        assert!(U8.write(Value::Int(256), &mut Vec::new()).is_err());
        assert!(I32.write(Value::Int(1 << 31), &mut Vec::new()).is_err());
        assert!(U16.write(Value::Float(1.0), &mut Vec::new()).is_err());
        assert_eq!(U8.wrap(Value::Int(257)), Ok(Value::Int(1)));
        assert_eq!(U32.wrap(Value::Int(-1)), Ok(Value::Int(0xFFFF_FFFF)));
        assert_eq!(I32.wrap(Value::Int(0xFFFF_FFFF)), Ok(Value::Int(-1)));
        assert!(U32.wrap(Value::Float(1.0)).is_err());
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        assert_eq!(Bf16.round(257.0), 256.0);
        assert_eq!(Bf16.round(259.0), 260.0);
        assert_eq!(F16.round(2049.0), 2048.0);
        assert_eq!(F32.round(16_777_219.0), 16_777_220.0);
    }
}
