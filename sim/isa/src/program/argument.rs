//! Arguments of kernels, as users write them: `5`, `-1.5`, `f32:2`, `u64:0xFFFF_FFFF_0000_0000`, `hex:7fc00001`.

use super::{Kernel, Parameter, ParameterType};
use crate::diagnostic::Diagnostic;
use crate::scalar::{Literal, ScalarType};
use std::fmt;
use std::str::FromStr;

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its type, where the user states it.
    stated: Option<ScalarType>,
    value: Literal,
    /// The bytes after `hex:`, as they are written: those of a structure in memory.
    structure: Option<Vec<u8>>,
}

/// Digits after `hex:` that are a number of 64 bits at most.
const MOST_DIGITS: usize = 16;

/// The bytes that hexadecimal digits are, in their order.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        digits.chars().filter(|&c| c != '_').map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}

/// The type of a parameter that takes a number of this type.
fn taken_by(ty: ScalarType) -> ParameterType {
    match ty {
        ScalarType::U64 | ScalarType::I64 => ParameterType::I64,
        ScalarType::F32 => ParameterType::F32,
        ScalarType::F64 => ParameterType::F64,
        _ => ParameterType::I32,
    }
}

impl Argument {
    /// An integer.
    pub fn integer(value: i64) -> Argument {
        Argument { stated: None, value: Literal::integer(value.into()), structure: None }
    }

    /// An integer without a sign.
    pub fn unsigned(value: u64) -> Argument {
        Argument { stated: None, value: Literal::integer(value.into()), structure: None }
    }

    /// A floating-point number.
    pub fn float(value: f64) -> Argument {
        Argument { stated: None, value: Literal::float(value), structure: None }
    }

    /// Its type where no kernel says one: what the user states, else `i32` for an integer, `f32` for a float, and for
    /// bits an integer of so many.
    pub fn ty(&self) -> ParameterType {
        match (self.stated, self.value.wide_bits()) {
            (Some(stated), _) => taken_by(stated),
            (None, Some(true)) => ParameterType::I64,
            (None, Some(false)) => ParameterType::I32,
            (None, None) if self.value.is_integer() => ParameterType::I32,
            (None, None) => ParameterType::F32,
        }
    }

    /// Its bits as an element of memory.
    ///
    /// # Errors
    /// If the user states another type, or the type has no such value.
    pub fn element_bits(&self, ty: ScalarType) -> Result<u64, String> {
        match self.stated {
            Some(stated) if stated != ty => {
                Err(format!("`{self}` is stated as {stated}, and the elements are {ty}"))
            }
            _ => self.value.bits(ty),
        }
    }

    /// Its bits as the words of a value of a type, the low one first.
    fn words(&self, ty: ParameterType) -> Result<Vec<u32>, String> {
        if self.structure.as_ref().is_some_and(|bytes| 2 * bytes.len() > MOST_DIGITS) {
            return Err(format!("`{self}` has the bytes of a structure, and the parameter is {ty}"));
        }
        let bits = self.bits(ty)?;
        Ok([bits as u32, (bits >> 32) as u32].into_iter().take(ty.registers()).collect())
    }

    /// Its bits as a value of a type, in the low end. Integers of 8 and 16 bits are extended to 32, with their sign if they
    /// have one.
    ///
    /// # Errors
    /// If the user states another type, or the type has no such value.
    pub fn bits(&self, ty: ParameterType) -> Result<u64, String> {
        if let Some(stated) = self.stated {
            if taken_by(stated) != ty {
                return Err(format!("`{self}` is stated as {stated}, and the parameter is {ty}"));
            }
            let bits = self.value.bits(stated)?;
            let is_short = matches!(stated, ScalarType::I8 | ScalarType::I16);
            let extended = stated.integer(bits).filter(|_| is_short).map(|value| u64::from(value as u32));
            return Ok(extended.unwrap_or(bits));
        }
        let (signed, unsigned) = match ty {
            ParameterType::I32 => (ScalarType::I32, ScalarType::U32),
            ParameterType::I64 => (ScalarType::I64, ScalarType::U64),
            ParameterType::F32 => return self.value.bits(ScalarType::F32),
            ParameterType::F64 => return self.value.bits(ScalarType::F64),
        };
        if !self.value.is_integer() && self.value.wide_bits().is_none() {
            return Err(format!("`{self}` is no integer, and the parameter is {ty}"));
        }
        let bits = self.value.bits(unsigned).or_else(|_| self.value.bits(signed));
        let (least, most) = (signed.integer_range(), unsigned.integer_range());
        let (least, most) = (least.map_or(0, |range| range.0), most.map_or(0, |range| range.1));
        bits.map_err(|_| format!("`{self}` does not fit {ty}: {least} to {most}"))
    }
}

impl FromStr for Argument {
    type Err = String;

    /// Reads `[TYPE:]VALUE`, or `hex:BITS`. More than 64 bits are the bytes of a structure.
    fn from_str(text: &str) -> Result<Argument, String> {
        let structure = text.strip_prefix("hex:").and_then(bytes_of);
        if let Some(bytes) = structure.as_ref().filter(|bytes| 2 * bytes.len() > MOST_DIGITS) {
            return Ok(Argument { stated: None, value: Literal::integer(0), structure: Some(bytes.clone()) });
        }
        let (stated, value) = match text.split_once(':') {
            Some(("hex", _)) | None => (None, text),
            Some((ty, value)) => (Some(ScalarType::of_name(ty).map_err(|why| format!("{why}, hex"))?), value),
        };
        Ok(Argument { stated, value: value.parse()?, structure })
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bytes) = self.structure.as_ref().filter(|bytes| 2 * bytes.len() > MOST_DIGITS) {
            f.write_str("hex:")?;
            return bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        if let Some(stated) = self.stated {
            write!(f, "{stated}:")?;
        }
        self.value.fmt(f)
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
        let mut rest = self.parameters.as_deref();
        let mut words = Vec::new();
        for (number, argument) in arguments.iter().enumerate() {
            let of_argument = |message| ArgumentError { number: Some(number), message };
            let Some(parameters) = rest else {
                let ty = argument.ty();
                words.extend(argument.words(ty).map_err(of_argument)?);
                continue;
            };
            let Some((first, others)) = parameters.split_first() else {
                return Err(ArgumentError { number: None, message: self.wrong_number(arguments.len()) });
            };
            let count = structure_words(parameters);
            if let Some(bytes) = argument.structure.as_ref().filter(|bytes| count > 0 && bytes.len() > 4) {
                words.extend(structure(first, count, bytes).map_err(of_argument)?);
                rest = Some(&parameters[count..]);
                continue;
            }
            let taken = argument.words(first.ty).map_err(of_argument)?;
            if first.pointer.is_some() && taken.get(1).is_some_and(|high| *high != 0) {
                let message =
                    format!("`{argument}` is no address: device memory ends at 4 GiB at the latest");
                return Err(of_argument(message));
            }
            words.extend(taken);
            rest = Some(others);
        }
        if rest.is_some_and(|rest| !rest.is_empty()) {
            return Err(ArgumentError { number: None, message: self.wrong_number(arguments.len()) });
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

/// How many of the first parameters are the words of one structure; 0 if the first is none.
fn structure_words(parameters: &[Parameter]) -> usize {
    let first = parameters.first().and_then(|first| first.name.as_deref());
    let Some(stem) = first.and_then(|name| name.strip_suffix("+0")) else { return 0 };
    let is_next = |(number, parameter): &(usize, &Parameter)| {
        parameter.name.as_deref() == Some(&format!("{stem}+{}", 4 * number))
    };
    parameters.iter().enumerate().take_while(is_next).count()
}

/// The words of a structure whose bytes are given.
fn structure(first: &Parameter, count: usize, bytes: &[u8]) -> Result<Vec<u32>, String> {
    if bytes.len().div_ceil(4) != count {
        let name = first.name.as_deref().unwrap_or_default().trim_end_matches("+0");
        return Err(format!("the structure `{name}` has {} bytes, and {} are given", 4 * count, bytes.len()));
    }
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    Ok(bytes.chunks(4).map(word).collect())
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
            ("f64:1e300", F64, 0x7E37_E43C_8800_759C),
            ("f32:-0", F32, 0x8000_0000),
            ("-0", F64, 1 << 63),
            ("f32:0x1.8p1", F32, 0x4040_0000),
            ("f32:1e-45", F32, 1),
            ("u8:255", I32, 0xFF),
            ("i8:-1", I32, 0xFFFF_FFFF),
            ("i16:-2", I32, 0xFFFF_FFFE),
            ("f16:-1", I32, 0xBC00),
            ("bf16:1", I32, 0x3F80),
            ("u32:0xFFFFFFFF", I32, 0xFFFF_FFFF),
            ("u64:18446744073709551615", I64, u64::MAX),
            ("18446744073709551615", I64, u64::MAX),
            ("hex:7fc00001", F32, 0x7FC0_0001),
            ("hex:7ff0000000000001", F64, 0x7FF0_0000_0000_0001),
            ("hex:ffffffff", I32, 0xFFFF_FFFF),
            ("i64:hex:8000000000000000", I64, 1 << 63),
        ] {
            assert_eq!(bits(text, ty), Ok(expected), "{text} as {ty}");
        }
        for (text, ty) in [
            ("1.5", I32),
            ("4294967296", I32),
            ("f32:1", F64),
            ("i32:1", I64),
            ("u8:256", I32),
            ("i8:128", I32),
            ("u64:1", I32),
            ("u32:1", I64),
            ("i64:18446744073709551615", I64),
            ("18446744073709551616", I64),
            ("1e39", F32),
            ("hex:100000000", I32),
            ("hex:100000000", F32),
            ("u7:1", I32),
            ("x", I32),
            ("", I32),
        ] {
            assert!(bits(text, ty).is_err(), "{text} as {ty}");
        }
    }

    #[test]
    fn arguments_are_those_that_the_kernel_takes() {
        let parameter = |ty| Parameter { name: None, ty, pointer: None };
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
        assert_eq!(
            kernel.argument_registers(&arguments(&["hex:1", "hex:100000002"])),
            Ok(vec![(0, 1), (1, 2), (2, 1)])
        );
        let many = kernel.argument_registers(&arguments(&["1", "2", "3", "i64:4"])).unwrap_err();
        assert_eq!(many.message, "the arguments take 5 registers, and kernel `k` has 4");
    }
}
