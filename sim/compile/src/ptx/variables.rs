//! From text to the tree: variables and their values at the start.

use super::Wrong;
use super::lexer::{Token, number};
use super::parse::{Parsed, Parser, constant};
use super::tree::{Initial, StateSpace, Variable};
use super::types::{PtxType, is_other_type};

/// Most bytes of a parameter.
const MOST_PARAMETER: u64 = 4096;
/// Most bytes of a variable.
const MOST_BYTES: u64 = 1 << 31;

impl Parser<'_> {
    /// Variables of one declaration, up to its semicolon.
    pub(super) fn variables(&mut self, is_extern: bool) -> Parsed<Vec<Variable>> {
        let at = self.span();
        let space = self.dotted().and_then(StateSpace::from_name);
        let Some(space) = space else {
            return Err(Wrong::new(at, "expected a state space: .global, .const, .shared, .local or .param"));
        };
        let mut variables = Vec::new();
        let (mut ty, mut alignment, mut width) = (None, None, 1);
        while let Some((Token::Dotted, text)) = self.peek() {
            self.at += 1;
            match &text[1..] {
                "align" => alignment = Some(self.alignment()?),
                "v2" => width = 2,
                "v4" => width = 4,
                "v8" => width = 8,
                // What a parameter points to is a hint only.
                "ptr" => {}
                "attribute" => {
                    while !self.take(")") {
                        if self.next().is_none() {
                            return self.wrong("`)`");
                        }
                    }
                }
                name => ty = self.type_or_space(name, ty)?,
            }
        }
        let Some(ty) = ty else { return self.wrong("a type, such as .b8 or .f32") };
        loop {
            variables.push(self.variable(space, ty, width, alignment, is_extern)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "after a variable")?;
        Ok(variables)
    }

    /// A type; a state space may stand there in front of a name, where it says what a parameter points to.
    pub(super) fn type_or_space(&self, name: &str, before: Option<PtxType>) -> Parsed<Option<PtxType>> {
        if before.is_some() && StateSpace::from_name(name).is_some() {
            return Ok(before);
        }
        let at = self.last();
        match PtxType::from_name(name) {
            Some(ty) if ty.bits == 128 => Err(Wrong::new(at, "numbers of 128 bits are not taken")),
            Some(ty) => Ok(Some(ty)),
            None if matches!(name, "texref" | "samplerref" | "surfref") => {
                Err(Wrong::new(at, format!("`.{name}`: textures and surfaces are not taken"))
                    .hint("read the data from global memory: the simulator has no texture units"))
            }
            None if is_other_type(name) => Err(Wrong::new(at, format!("the type `.{name}` is not taken"))),
            None => Err(Wrong::new(at, format!("`.{name}` is no type"))),
        }
    }

    pub(super) fn alignment(&mut self) -> Parsed<u32> {
        let at = self.span();
        let value = self.integer("an alignment")?;
        u32::try_from(value)
            .ok()
            .filter(|value| value.is_power_of_two() && *value <= 1 << 16)
            .ok_or_else(|| Wrong::new(at, format!("an alignment is a power of 2 up to 65536, not {value}")))
    }

    /// The name of a variable, its dimensions and what it holds at the start.
    pub(super) fn variable(
        &mut self,
        space: StateSpace,
        ty: PtxType,
        width: u64,
        alignment: Option<u32>,
        is_extern: bool,
    ) -> Parsed<Variable> {
        let at = self.span();
        let name = self.word("the name of a variable")?.to_owned();
        let mut count = Some(1u64);
        while self.take("[") {
            if self.take("]") {
                count = None;
                continue;
            }
            let of = self.integer("a number of elements")?;
            count = count.map(|count| count.saturating_mul(of));
            self.expect("]", "after the number of elements")?;
        }
        let element = u64::from(ty.bytes()) * width;
        let mut initial = Vec::new();
        if self.take("=") {
            if !matches!(space, StateSpace::Global | StateSpace::Const) {
                return self.wrong("no value: only variables in .global and .const have one at the start");
            }
            self.initial(ty, &mut initial, 0)?;
            if count.is_none() {
                count = Some((initial.len() as u64).div_ceil(width));
            }
        }
        let bytes = count.map(|count| count.saturating_mul(element));
        if bytes.is_some_and(|bytes| bytes > MOST_BYTES) {
            return Err(Wrong::new(at, format!("`{name}` has more than {MOST_BYTES} bytes")));
        }
        if space == StateSpace::Param && bytes.is_some_and(|bytes| bytes > MOST_PARAMETER) {
            return Err(Wrong::new(at, format!("a parameter has at most {MOST_PARAMETER} bytes")));
        }
        let room = bytes.unwrap_or(0) / u64::from(ty.bytes());
        if initial.len() as u64 > room {
            return Err(Wrong::new(
                at,
                format!("`{name}` has {room} elements, and {} values", initial.len()),
            ));
        }
        if bytes.is_none() && !is_extern {
            return Err(Wrong::new(at, format!("nothing says how many elements `{name}` has")));
        }
        let natural = u32::try_from(element).unwrap_or(16);
        Ok(Variable {
            space,
            name,
            ty,
            bytes,
            alignment: alignment.unwrap_or(natural),
            initial,
            pointee: None,
            is_extern,
            at,
        })
    }

    /// A value at the start, or several in braces.
    pub(super) fn initial(&mut self, ty: PtxType, values: &mut Vec<Initial>, depth: u32) -> Parsed {
        if depth > 8 {
            return self.wrong("fewer braces inside one another");
        }
        if self.take("{") {
            while !self.take("}") {
                self.initial(ty, values, depth + 1)?;
                if !self.take(",") {
                    self.expect("}", "after the values")?;
                    break;
                }
            }
            return Ok(());
        }
        let at = self.span();
        let is_negative = self.take("-");
        match self.peek() {
            Some((Token::Number, text)) => {
                self.at += 1;
                let Some(value) = number(text) else {
                    return Err(Wrong::new(at, format!("`{text}` is no number")));
                };
                if self.is("(") {
                    return Err(Wrong::new(
                        at,
                        "a part of an address as the value of a variable is not taken",
                    ));
                }
                values.push(Initial::Bits(constant(value, is_negative, ty)));
            }
            Some((Token::Word, _)) if !is_negative => {
                let is_generic = self.take("generic");
                if is_generic {
                    self.expect("(", "after `generic`")?;
                }
                let name = self.word("the name of a variable")?.to_owned();
                let mut offset = self.offset()?;
                if is_generic {
                    self.expect(")", "after the variable")?;
                    offset = offset.wrapping_add(self.offset()?);
                }
                values.push(Initial::Address { name, offset, is_generic, at });
            }
            _ => return self.wrong("a value"),
        }
        Ok(())
    }

    /// `+1`, `-1` or nothing.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        let mut sum = 0i64;
        loop {
            let is_negative = match self.peek() {
                Some((_, "+")) => false,
                Some((_, "-")) => true,
                _ => return Ok(sum),
            };
            self.at += 1;
            let is_negative = is_negative ^ self.take("-");
            let value = self.integer("a number of bytes")? as i64;
            sum = if is_negative { sum.wrapping_sub(value) } else { sum.wrapping_add(value) };
        }
    }
}
