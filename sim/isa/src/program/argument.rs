//! Arguments of kernels, as users write them: `5`, `-1.5`, `f32:2`, `i64:0x1_0000_0000`.

use super::{Kernel, Parameter, ParameterType};
use crate::diagnostic::Diagnostic;
use crate::number::{self, Number};
use std::fmt;
use std::str::FromStr;

/// The value of an argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Argument {
    /// Its type, where the user states it.
    stated: Option<ParameterType>,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Integer(i128),
    /// A number rounded to both widths: rounding to one through the other would round twice.
    Float(f32, f64),
}

impl Argument {
    /// An integer.
    pub fn integer(value: i64) -> Argument {
        Argument { stated: None, value: Value::Integer(value.into()) }
    }

    /// A floating-point number.
    pub fn float(value: f64) -> Argument {
        Argument { stated: None, value: Value::Float(value as f32, value) }
    }

    /// Its type where no kernel says one: what the user states, else `i32` for an integer and `f32` for a float.
    pub fn ty(&self) -> ParameterType {
        self.stated.unwrap_or(match self.value {
            Value::Integer(_) => ParameterType::I32,
            Value::Float(..) => ParameterType::F32,
        })
    }

    /// Its bits as a value of a type, in the low end.
    ///
    /// # Errors
    /// If the user states another type, or the type has no such value.
    pub fn bits(&self, ty: ParameterType) -> Result<u64, String> {
        if let Some(stated) = self.stated.filter(|&stated| stated != ty) {
            return Err(format!("`{self}` is stated as {stated}, and the parameter is {ty}"));
        }
        match (ty, self.value) {
            (ParameterType::I32, Value::Integer(value)) => match (u32::try_from(value), i32::try_from(value))
            {
                (Ok(bits), _) => Ok(bits.into()),
                (_, Ok(signed)) => Ok(u64::from(signed.cast_unsigned())),
                _ => Err(format!("{value} does not fit {ty}")),
            },
            (ParameterType::I64, Value::Integer(value)) => match (u64::try_from(value), i64::try_from(value))
            {
                (Ok(bits), _) => Ok(bits),
                (_, Ok(signed)) => Ok(signed.cast_unsigned()),
                _ => Err(format!("{value} does not fit {ty}")),
            },
            (ParameterType::I32 | ParameterType::I64, Value::Float(_, value)) => {
                Err(format!("{value:?} is no integer, and the parameter is {ty}"))
            }
            (ParameterType::F32, Value::Integer(value)) => Ok((value as f32).to_bits().into()),
            (ParameterType::F64, Value::Integer(value)) => Ok((value as f64).to_bits()),
            (ParameterType::F32, Value::Float(value, _)) if value.is_nan() => Ok(0x7FC0_0000),
            (ParameterType::F32, Value::Float(value, _)) => Ok(value.to_bits().into()),
            (ParameterType::F64, Value::Float(_, value)) if value.is_nan() => Ok(0x7FF8_0000_0000_0000),
            (ParameterType::F64, Value::Float(_, value)) => Ok(value.to_bits()),
        }
    }
}

impl FromStr for Argument {
    type Err = String;

    /// Reads `[TYPE:]VALUE`.
    fn from_str(text: &str) -> Result<Argument, String> {
        let (stated, value) = match text.split_once(':') {
            Some((ty, value)) => {
                let found = ParameterType::ALL.into_iter().find(|known| known.to_string() == ty);
                let found = found.ok_or_else(|| format!("`{ty}` is no type; types: i32, i64, f32, f64"))?;
                (Some(found), value)
            }
            None => (None, text),
        };
        let value = match number::parse(value)? {
            Number::Integer(value) => Value::Integer(value),
            Number::Float(single) => {
                let plain: String = value.chars().filter(|&c| c != '_').collect();
                Value::Float(single, plain.parse().map_err(|_| format!("`{value}` is not a number"))?)
            }
        };
        Ok(Argument { stated, value })
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stated) = self.stated {
            write!(f, "{stated}:")?;
        }
        match self.value {
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(_, value) => write!(f, "{value:?}"),
        }
    }
}

impl Kernel {
    /// The registers in which a launch brings these arguments, with their values. If nothing says what the kernel takes,
    /// each argument has its own type.
    ///
    /// # Errors
    /// Another number of arguments than the kernel takes, with those that it takes; one that does not fit its
    /// parameter, with its number; more than the kernel has registers.
    pub fn argument_registers(&self, arguments: &[Argument]) -> Result<Vec<(u8, u32)>, ArgumentError> {
        let types: Vec<ParameterType> = match &self.parameters {
            Some(parameters) => parameters.iter().map(|parameter| parameter.ty).collect(),
            None => arguments.iter().map(Argument::ty).collect(),
        };
        if types.len() != arguments.len() {
            return Err(ArgumentError { number: None, message: self.wrong_number(arguments.len()) });
        }
        let mut words = Vec::new();
        for (number, (argument, &ty)) in arguments.iter().zip(&types).enumerate() {
            let bits =
                argument.bits(ty).map_err(|message| ArgumentError { number: Some(number), message })?;
            words.extend([bits as u32, (bits >> 32) as u32].into_iter().take(ty.registers()));
        }
        if words.len() > self.registers as usize {
            let message = format!(
                "the arguments take {} registers, and kernel `{}` has {}",
                words.len(),
                self.name,
                self.registers
            );
            return Err(ArgumentError { number: None, message });
        }
        Ok((0..=u8::MAX).zip(words).collect())
    }

    fn wrong_number(&self, given: usize) -> String {
        let parameters = self.parameters.as_deref().unwrap_or_default();
        let list: Vec<String> = parameters.iter().map(Parameter::to_string).collect();
        let takes = match list.as_slice() {
            [] => "no argument".to_owned(),
            [one] => format!("one argument ({one})"),
            some => format!("{} arguments ({})", some.len(), some.join(", ")),
        };
        let given = match given {
            0 => "none is given".to_owned(),
            1 => "one is given".to_owned(),
            some => format!("{some} are given"),
        };
        format!("kernel `{}` takes {takes}, and {given}", self.name)
    }
}

/// Arguments that a kernel does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentError {
    /// Which argument, from 0; `None` if it is their number.
    pub number: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl ArgumentError {
    /// The error as a message about the flag that gives arguments in order.
    pub fn of_flag(&self, flag: &str) -> Diagnostic {
        match self.number {
            Some(number) => Diagnostic::error(format!("argument {} of {flag}: {}", number + 1, self.message)),
            None => Diagnostic::error(self.message.clone())
                .hint(format!("{flag} VALUE gives an argument; in order")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str, ty: ParameterType) -> Result<u64, String> {
        text.parse::<Argument>()?.bits(ty)
    }

    #[test]
    fn values_as_types() {
        use ParameterType::*;
        for (text, ty, expected) in [
            ("5", I32, 5),
            ("-1", I32, 0xFFFF_FFFF),
            ("0xFFFFFFFF", I32, 0xFFFF_FFFF),
            ("i64:-1", I64, u64::MAX),
            ("0x1_0000_0000", I64, 1 << 32),
            ("5", F32, 0x40A0_0000),
            ("f32:1.5", F32, 0x3FC0_0000),
            ("1.00000005960464477540", F32, 0x3F80_0001),
            ("0.1", F64, 0x3FB9_9999_9999_999A),
            ("nan", F64, 0x7FF8_0000_0000_0000),
            ("-inf", F32, 0xFF80_0000),
        ] {
            assert_eq!(bits(text, ty), Ok(expected), "{text} as {ty}");
        }
        for (text, ty) in [
            ("1.5", I32),
            ("4294967296", I32),
            ("f32:1", F64),
            ("i32:1", I64),
            ("u8:1", I32),
            ("x", I32),
            ("", I32),
        ] {
            assert!(bits(text, ty).is_err(), "{text} as {ty}");
        }
    }

    #[test]
    fn arguments_are_those_that_the_kernel_takes() {
        let parameter = |ty| Parameter { name: None, ty };
        let mut kernel = Kernel {
            name: "k".into(),
            registers: 4,
            local_memory_bytes: 0,
            workgroup_size: [0; 3],
            code: 0..0,
            parameters: Some(vec![parameter(ParameterType::I32), parameter(ParameterType::F64)]),
            private: None,
            bindings: Vec::new(),
        };
        let arguments =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Argument>>();
        assert_eq!(
            kernel.argument_registers(&arguments(&["7", "1"])),
            Ok(vec![(0, 7), (1, 0), (2, 0x3FF0_0000)])
        );
        let error = kernel.argument_registers(&arguments(&["7"])).unwrap_err();
        assert_eq!(error.message, "kernel `k` takes 2 arguments (i32, f64), and one is given");
        assert_eq!(kernel.argument_registers(&arguments(&["1.5", "1"])).unwrap_err().number, Some(0));
        kernel.parameters = None;
        assert_eq!(kernel.argument_registers(&arguments(&["7", "1.5"])), Ok(vec![(0, 7), (1, 0x3FC0_0000)]));
        let many = kernel.argument_registers(&arguments(&["1", "2", "3", "i64:4"])).unwrap_err();
        assert_eq!(many.message, "the arguments take 5 registers, and kernel `k` has 4");
    }
}
