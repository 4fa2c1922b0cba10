//! Elements of buffers: the types of numbers that all share, and what expressions do with them.

use super::expression::Value;

/// Type of a buffer's elements; little-endian in memory.
pub use wave_isa::scalar::ScalarType as ElementType;

/// Values of expressions as elements.
pub(super) trait Element {
    /// The first element as a value of expressions: integers stay integers.
    ///
    /// # Errors
    /// An integer that expressions do not have.
    fn read_value(self, bytes: &[u8]) -> Result<Value, String>;

    /// Appends `value`, rounded to nearest even for a float type.
    ///
    /// # Errors
    /// If an integer type cannot represent the value.
    fn write(self, value: Value, to: &mut Vec<u8>) -> Result<(), String>;

    /// The value of an element after `value` is stored in it: integers wrap, floats are not rounded.
    ///
    /// # Errors
    /// A float for an integer type.
    fn wrap(self, value: Value) -> Result<Value, String>;

    /// `value` rounded to the nearest element.
    fn round(self, value: f64) -> f64;
}

impl Element for ElementType {
    fn read_value(self, bytes: &[u8]) -> Result<Value, String> {
        match self.integer(self.load(bytes)) {
            Some(value) => {
                let fits = i64::try_from(value).map(Value::Int);
                fits.map_err(|_| format!("{value} does not fit 64 bits with a sign"))
            }
            None => Ok(Value::Float(self.read(bytes))),
        }
    }

    fn write(self, value: Value, to: &mut Vec<u8>) -> Result<(), String> {
        let bits = match value {
            _ if self.is_float() => self.float_bits(value.as_f64()),
            Value::Int(v) => self
                .integer_bits(v.into())
                .ok_or_else(|| format!("{v} does not fit {self}: {}", self.range()))?,
            Value::Float(v) => return Err(format!("{v:?} is no integer, and the elements are {self}")),
        };
        to.extend(&bits.to_le_bytes()[..self.bytes()]);
        Ok(())
    }

    fn wrap(self, value: Value) -> Result<Value, String> {
        match value {
            _ if self.is_float() => Ok(Value::Float(value.as_f64())),
            Value::Int(v) => self.read_value(&v.to_le_bytes()),
            Value::Float(v) => {
                Err(format!("{v:?} is no integer, and the elements are {self}; `floor` makes one"))
            }
        }
    }

    fn round(self, value: f64) -> f64 {
        if self.is_float() { self.to_f64(self.float_bits(value)) } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::*;

    #[test]
    fn every_type_reads_back_what_it_wrote() {
        for (element, value, bytes) in [
            (U8, Value::Int(200), vec![200]),
            (U16, Value::Int(0x1234), vec![0x34, 0x12]),
            (U32, Value::Int(0xFFFF_FFFF), vec![0xFF; 4]),
            (I32, Value::Int(-2), vec![0xFE, 0xFF, 0xFF, 0xFF]),
            (I8, Value::Int(-2), vec![0xFE]),
            (I16, Value::Int(-2), vec![0xFE, 0xFF]),
            (I64, Value::Int(-2), vec![0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (U64, Value::Int(1 << 40), vec![0, 0, 0, 0, 0, 1, 0, 0]),
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
        assert!(U64.write(Value::Int(-1), &mut Vec::new()).is_err());
        assert!(U64.read_value(&[0xFF; 8]).is_err());
        assert_eq!(I64.read_value(&[0xFF; 8]), Ok(Value::Int(-1)));
        assert_eq!(I8.wrap(Value::Int(200)), Ok(Value::Int(-56)));
        assert_eq!(I16.wrap(Value::Int(-32769)), Ok(Value::Int(32767)));
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
