//! Types of numbers in memory and in arguments, and the bits of a number that a user writes.
//!
//! The command line, launch files and the Python package share this table. A literal becomes the bits of a type in one
//! rounding, to nearest even, whatever its form.

mod decimal;
mod literal;
mod rounding;

pub use literal::Literal;

use rounding::Format;

/// A type of numbers; little-endian in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ScalarType {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

use ScalarType::*;

impl ScalarType {
    /// Every type.
    pub const ALL: [ScalarType; 12] = [U8, U16, U32, U64, I8, I16, I32, I64, F16, Bf16, F32, F64];

    /// Its name on the command line and in launch files.
    pub const fn name(self) -> &'static str {
        match self {
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            F16 => "f16",
            Bf16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    /// The type of a name.
    ///
    /// # Errors
    /// A sentence with all names, if there is no such type.
    pub fn of_name(name: &str) -> Result<ScalarType, String> {
        // PTX has `s` where others have `i`.
        let plain = match name {
            "s8" => "i8",
            "s16" => "i16",
            "s32" => "i32",
            "s64" => "i64",
            other => other,
        };
        ScalarType::ALL.into_iter().find(|ty| ty.name() == plain).ok_or_else(|| {
            let names = ScalarType::ALL.map(ScalarType::name).join(", ");
            format!("`{name}` is no type; types: {names}")
        })
    }

    /// Bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            U8 | I8 => 1,
            U16 | I16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 => 8,
        }
    }

    /// True for the floating-point types.
    pub const fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// Smallest and largest value of an integer type.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes();
        match self {
            U8 | U16 | U32 | U64 => Some((0, (1 << bits) - 1)),
            I8 | I16 | I32 | I64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            F16 | Bf16 | F32 | F64 => None,
        }
    }

    /// Bits of the significand, with the leading one, and the exponent of the smallest normal number.
    pub fn precision(self) -> Option<(i32, i32)> {
        self.format().map(|format| (format.precision as i32, format.least_exponent() as i32))
    }

    /// Range of the values, for messages.
    pub fn range(self) -> String {
        match (self.integer_range(), self.format()) {
            (Some((least, most)), _) => format!("{least} to {most}"),
            (None, Some(format)) => {
                let largest = self.to_f64(format.infinity() - 1);
                let largest =
                    if self == F64 { format!("{largest:e}") } else { format!("{:e}", largest as f32) };
                format!("at most {largest}, or inf")
            }
            (None, None) => unreachable!("a type is one of integers or of floats"),
        }
    }

    /// An integer as bits, if the type has it.
    pub fn integer_bits(self, value: i128) -> Option<u64> {
        let (least, most) = self.integer_range()?;
        let mask = u64::MAX >> (64 - 8 * self.bytes());
        (least..=most).contains(&value).then_some(value as u64 & mask)
    }

    /// The integer of some bits, for an integer type.
    pub fn integer(self, bits: u64) -> Option<i128> {
        let (least, _) = self.integer_range()?;
        let above = 64 - 8 * self.bytes();
        let unsigned = bits << above >> above;
        Some(if least < 0 {
            i128::from((bits << above).cast_signed() >> above)
        } else {
            i128::from(unsigned)
        })
    }

    /// A number rounded to a floating-point type, to nearest even, as bits; too large ones become infinite. Zero for an
    /// integer type.
    pub fn float_bits(self, value: f64) -> u64 {
        let Some(format) = self.format() else { return 0 };
        if value.is_nan() {
            return format.nan();
        }
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return format.signed(negative, format.infinity());
        }
        let (significand, exponent) = rounding::parts(value);
        let rounded = format.round(negative, significand, false, exponent);
        rounded.unwrap_or_else(|| format.signed(negative, format.infinity()))
    }

    /// The value of some bits. Exact but for integers above 2^53.
    pub fn to_f64(self, bits: u64) -> f64 {
        match (self, self.format()) {
            (F64, _) => f64::from_bits(bits),
            (F32, _) => f64::from(f32::from_bits(bits as u32)),
            (_, Some(format)) => format.value(bits),
            (_, None) => self.integer(bits).unwrap_or_default() as f64,
        }
    }

    /// The bits of the first number of `bytes`.
    ///
    /// # Panics
    /// If `bytes` is shorter than a number.
    pub fn load(self, bytes: &[u8]) -> u64 {
        let mut all = [0; 8];
        all[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        u64::from_le_bytes(all)
    }

    /// The value of the first number of `bytes`, as [`to_f64`](ScalarType::to_f64).
    ///
    /// # Panics
    /// If `bytes` is shorter than a number.
    pub fn read(self, bytes: &[u8]) -> f64 {
        self.to_f64(self.load(bytes))
    }

    const fn format(self) -> Option<Format> {
        match self {
            F16 => Some(Format { precision: 11, exponent_bits: 5 }),
            Bf16 => Some(Format { precision: 8, exponent_bits: 8 }),
            F32 => Some(Format { precision: 24, exponent_bits: 8 }),
            F64 => Some(Format { precision: 53, exponent_bits: 11 }),
            _ => None,
        }
    }
}

impl std::fmt::Display for ScalarType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
