//! Lines with a directive.

use super::encode::to_f24;
use super::lexer::{Kind, Line, Problem, Word};
use super::operands::{Any, Named, mask, named, plain, register, swizzle};
use super::{Assembler, Open, ShaderText, instructions};
use crate::pica::container::SEMANTICS;
use std::ops::Range;
use wave_isa::suggest::did_you_mean;

const DIRECTIVES: &[&str] = &[
    "proc", "end", "else", "fvec", "ivec", "bool", "constf", "consti", "constb", "constfa", "setf", "seti",
    "setb", "in", "out", "alias", "entry", "nodvle", "dvle",
];
/// Short names of outputs beside those of [`SEMANTICS`].
const SHORT: &[(&str, u16)] =
    &[("pos", 0), ("nquat", 1), ("clr", 2), ("tcoord0", 3), ("tcoord0w", 4), ("tcoord1", 5), ("tcoord2", 6)];
/// Registers in the table of names: floats, integers, booleans.
const FLOATS: u16 = 0x10;
const INTEGERS: u16 = 0x70;
const BOOLEANS: u16 = 0x78;

impl Assembler {
    pub(super) fn directive(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        let word = line.expect(Kind::Word, "a directive")?;
        let (name, span) = word.clone();
        match name {
            "proc" => {
                let (name, at) = line.expect(Kind::Word, "the name of a procedure")?;
                if !self.open.is_empty() {
                    return Err(Problem::new(span, "a procedure begins where nothing else is open"));
                }
                if self.procedures.contains_key(name) {
                    return Err(Problem::new(at, format!("procedure `{name}` is there already")));
                }
                let start = self.instructions.len();
                self.open.push((Open::Procedure { name: name.to_owned(), start }, at));
            }
            "end" => self.end(&span)?,
            "else" => {
                // The instruction that comes between two ends belongs to the part before.
                if matches!(self.open.last(), Some((Open::If { other: None, .. }, _)))
                    && self.ended == Some(self.instructions.len())
                {
                    self.push(crate::pica::instruction::Instruction::Nop, &span)?;
                }
                let here = self.instructions.len();
                match self.open.last_mut() {
                    Some((Open::If { other: other @ None, .. }, _)) => *other = Some(here),
                    _ => return Err(Problem::new(span, "no `if` is open here that has no `.else` yet")),
                }
            }
            "fvec" | "ivec" | "bool" => self.uniforms(name, line)?,
            "constf" | "consti" | "constb" => {
                let (name, at) = line.expect(Kind::Word, "a name")?;
                let kind = match word.0 {
                    "constf" => 2,
                    "consti" => 1,
                    _ => 0,
                };
                let values = values(kind, line)?;
                let register = self.constant(kind, values, &at)?;
                self.name(name, at, plain(register))?;
            }
            "constfa" => self.array(line, span)?,
            "setf" | "seti" | "setb" => {
                let at = line.span();
                let found = named(&line.expect(Kind::Word, "a uniform")?, &self.names)?;
                let (kind, number) = match (name, found.register) {
                    ("setf", Any::Uniform(number)) => (2, number),
                    ("seti", Any::Integer(number)) => (1, number),
                    ("setb", Any::Boolean(number)) => (0, number),
                    _ => {
                        return Err(Problem::new(
                            at,
                            "this is no uniform of the kind that the directive sets",
                        ));
                    }
                };
                let values = values(kind, line)?;
                self.shader().constants.insert((kind, number.into()), values);
            }
            "in" => self.input(line)?,
            "out" => self.output(line)?,
            "alias" => {
                let (name, at) = line.expect(Kind::Word, "a name")?;
                let (mut found, _) = super::operands::indexed(line, &self.names)?;
                let selected = swizzle(line)?;
                found.swizzle = selected.map(|place| found.swizzle[usize::from(place)]);
                self.name(name, at, found)?;
            }
            "entry" => {
                let place = instructions::place(line)?;
                self.shader().entry = Some(place);
            }
            "nodvle" => self.no_shader = true,
            "dvle" => {
                let (name, at) = line.expect(Kind::Word, "the name of a shader")?;
                if self.shaders.len() == 64 {
                    return Err(Problem::new(at, "a file has at most 64 shaders"));
                }
                self.shaders.push(ShaderText { name: name.to_owned(), ..ShaderText::default() });
            }
            _ => {
                let message = format!("there is no directive `.{}`", name.escape_debug());
                return Err(Problem::new(span, message).hint(did_you_mean(name, DIRECTIVES.iter().copied())));
            }
        }
        Ok(())
    }

    /// Gives a register a name.
    fn name(&mut self, name: &str, at: Range<usize>, named: Named) -> Result<(), Problem> {
        if register(name).is_some() || matches!(name, "a0" | "aL" | "cmp") {
            return Err(Problem::new(at, format!("`{name}` is the name of a register")));
        }
        match self.names.insert(name.to_owned(), named) {
            None => Ok(()),
            Some(_) => Err(Problem::new(at, format!("the name `{name}` is there already"))),
        }
    }

    /// Uniforms with names: registers from the first on.
    fn uniforms(&mut self, directive: &str, line: &mut Line<'_>) -> Result<(), Problem> {
        loop {
            let (name, at) = line.expect(Kind::Word, "a name")?;
            let mut count = 1;
            if line.take(Kind::OpenIndex).is_some() {
                count = line.number("the number of registers", 96)? as u8;
                line.expect(Kind::CloseIndex, "`]`")?;
            }
            let (next, end, first) = match directive {
                "fvec" => (&mut self.uniforms, 96 - self.constants, FLOATS),
                "ivec" => (&mut self.integers, 4 - self.constant_integers, INTEGERS),
                _ => (&mut self.booleans, 16 - self.constant_booleans, BOOLEANS),
            };
            if count == 0 || *next + count > end {
                return Err(Problem::new(at, format!("no {count} registers are free for `{name}`")));
            }
            let number = *next;
            *next += count;
            let register = match directive {
                "fvec" => Any::Uniform(number),
                "ivec" => Any::Integer(number),
                _ => Any::Boolean(number),
            };
            let start = first + u16::from(number);
            self.name(name, at, Named { count, ..plain(register) })?;
            self.shader().names.push((name.to_owned(), start, start + u16::from(count) - 1));
            if line.take(Kind::Comma).is_none() {
                return Ok(());
            }
        }
    }

    /// A register for a constant: from the last on.
    fn constant(&mut self, kind: u16, values: [u32; 4], at: &Range<usize>) -> Result<Any, Problem> {
        let (used, below, count) = match kind {
            2 => (&mut self.constants, self.uniforms, 96),
            1 => (&mut self.constant_integers, self.integers, 4),
            _ => (&mut self.constant_booleans, self.booleans, 16),
        };
        if *used + below >= count {
            return Err(Problem::new(at.clone(), "no register is free for this constant"));
        }
        *used += 1;
        let number = count - *used;
        self.shader().constants.insert((kind, number.into()), values);
        Ok(match kind {
            2 => Any::Uniform(number),
            1 => Any::Integer(number),
            _ => Any::Boolean(number),
        })
    }

    /// `.constfa NAME[]` begins an array, `.constfa (x, y, z, w)` is one of its constants.
    fn array(&mut self, line: &mut Line<'_>, span: Range<usize>) -> Result<(), Problem> {
        if line.kind(0) == Some(Kind::Open) {
            let values = values(2, line)?;
            return match self.open.last_mut() {
                Some((Open::Array { values: all, .. }, _)) if all.len() < 96 => {
                    all.push(values);
                    Ok(())
                }
                Some((Open::Array { .. }, _)) => Err(Problem::new(span, "an array has at most 96 constants")),
                _ => Err(Problem::new(span, "no array is open here")
                    .hint("it begins with `.constfa NAME[]`".to_owned())),
            };
        }
        let (name, _) = line.expect(Kind::Word, "a name")?;
        line.expect(Kind::OpenIndex, "`[`")?;
        if line.kind(0) == Some(Kind::Word) {
            line.number("the number of constants", 96)?;
        }
        line.expect(Kind::CloseIndex, "`]`")?;
        self.open.push((Open::Array { name: name.to_owned(), values: Vec::new() }, span));
        Ok(())
    }

    pub(super) fn end_array(
        &mut self,
        name: String,
        values: Vec<[u32; 4]>,
        span: &Range<usize>,
    ) -> Result<(), Problem> {
        let count = values.len() as u8;
        let mut first = None;
        for values in values.into_iter().rev() {
            first = Some(self.constant(2, values, span)?);
        }
        let register = first.ok_or_else(|| Problem::new(span.clone(), "the array has no constant"))?;
        self.name(&name, span.clone(), Named { count, ..plain(register) })
    }

    fn input(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        let (name, at) = line.expect(Kind::Word, "a name")?;
        let number = match line.kind(0) {
            Some(Kind::Word) => {
                let (word, at) = line.expect(Kind::Word, "an input register")?;
                match register(word) {
                    Some(Any::Input(number)) => number,
                    _ => {
                        return Err(Problem::new(at, "this is no input register")
                            .hint("they are v0 to v15".to_owned()));
                    }
                }
            }
            _ => self.inputs,
        };
        if number > 15 {
            return Err(Problem::new(at, "all 16 input registers have names"));
        }
        self.inputs = self.inputs.max(number + 1);
        self.name(name, at, plain(Any::Input(number)))?;
        self.shader().names.push((name.to_owned(), number.into(), number.into()));
        Ok(())
    }

    fn output(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        let word = match line.take(Kind::Minus) {
            Some(_) => None,
            None => Some(line.expect(Kind::Word, "a name or `-`")?),
        };
        let kind = semantic(&line.expect(Kind::Word, "what the output is")?)?;
        let mut enabled = mask(line)?;
        let mut number = self.outputs;
        if line.kind(0) == Some(Kind::Word) {
            let (word, at) = line.expect(Kind::Word, "an output register")?;
            number = match register(word) {
                Some(Any::Output(number)) => number,
                _ => {
                    return Err(
                        Problem::new(at, "this is no output register").hint("they are o0 to o15".to_owned())
                    );
                }
            };
            if line.kind(0) == Some(Kind::Dot) {
                enabled = mask(line)?;
            }
        }
        if number > 15 {
            return Err(Problem::new(line.span(), "all 16 output registers have a meaning"));
        }
        self.outputs = self.outputs.max(number + 1);
        let bits = enabled.iter().zip(0..).fold(0, |all, (&enabled, bit)| all | u16::from(enabled) << bit);
        if self.shader().outputs.len() < 64 {
            self.shader().outputs.push((kind, number.into(), bits));
        }
        match word {
            Some((name, at)) => self.name(name, at, plain(Any::Output(number))),
            None => Ok(()),
        }
    }
}

/// The code of what an output is.
fn semantic((name, at): &Word<'_>) -> Result<u16, Problem> {
    let place = SEMANTICS.iter().position(|one| one == name).map(|place| place as u16);
    let short = || SHORT.iter().find(|(short, _)| short == name).map(|&(_, code)| code);
    place.or_else(short).or_else(|| name.parse().ok()).ok_or_else(|| {
        let message = format!("an output is no `{}`", name.escape_debug());
        let all = SEMANTICS.iter().copied().filter(|name| name.len() > 1);
        let hint = did_you_mean(name, all.clone());
        Problem::new(at.clone(), message)
            .hint(hint.unwrap_or_else(|| format!("it is one of {}", all.collect::<Vec<_>>().join(", "))))
    })
}

/// The words of a constant in parentheses: of floats those of the 24-bit format.
fn values(kind: u16, line: &mut Line<'_>) -> Result<[u32; 4], Problem> {
    line.expect(Kind::Open, "`(`")?;
    let mut words = [0; 4];
    if kind == 0 {
        let (word, at) = line.expect(Kind::Word, "`true` or `false`")?;
        words[0] = match word {
            "true" | "on" | "1" => 1,
            "false" | "off" | "0" => 0,
            _ => return Err(Problem::new(at, "a boolean is `true` or `false`")),
        };
    }
    for place in 0..if kind == 0 { 0 } else { 4 } {
        if place > 0 {
            line.expect(Kind::Comma, "`,`: there are four numbers")?;
        }
        match kind {
            2 => words[place] = to_f24(line.float()?),
            _ => words[0] |= line.number("a component of an integer", 255)? << (8 * place),
        }
    }
    line.expect(Kind::Close, "`)`")?;
    Ok(words)
}
