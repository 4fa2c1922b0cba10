//! Lines with an instruction.

use super::lexer::{Kind, Line, Problem};
use super::operands::{Any, boolean, destination, flags, indexed, mask, source};
use super::write::RELATIONS;
use super::{Assembler, Open, Where};
use crate::pica::instruction::{Destination, Instruction, Region, Register, Relation, Source, Test, Vector};
use crate::pica::opcode::{Op, ROWS, Row, Shape};
use std::ops::Range;
use wave_isa::suggest::did_you_mean;

impl Assembler {
    pub(super) fn instruction(&mut self, line: &mut Line<'_>, span: Range<usize>) -> Result<(), Problem> {
        let (name, at) = line.expect(Kind::Word, "an instruction")?;
        let row = ROWS.iter().copied().find(|row| row.name == name).ok_or_else(|| {
            let near = did_you_mean(name, ROWS.iter().map(|row| row.name));
            Problem::new(at.clone(), format!("there is no instruction `{}`", name.escape_debug())).hint(near)
        })?;
        let instruction = match row.shape {
            Shape::Two | Shape::TwoInverted | Shape::One | Shape::Three | Shape::ThreeInverted => {
                Instruction::Vector(self.vector(row, line)?)
            }
            Shape::Compare => self.compare(line)?,
            Shape::Plain => match row.op {
                Op::Nop => Instruction::Nop,
                Op::End => Instruction::End,
                Op::Break => Instruction::Break(None),
                _ => {
                    let message = format!("`{name}` is of geometry shaders, which are not taken");
                    return Err(Problem::new(at, message));
                }
            },
            Shape::Flags => Instruction::Break(Some(flags(line)?)),
            Shape::Region => return self.flow(line, &span, |region| Instruction::Call(None, region)),
            Shape::RegionFlags | Shape::RegionBoolean => {
                let start = line.span();
                let test =
                    if row.shape == Shape::RegionFlags { flags(line)? } else { boolean(line, &self.names)? };
                if row.op == Op::Jump {
                    line.expect(Kind::Comma, "`,`")?;
                    let (place, at) = place(line)?;
                    let number = self.push(Instruction::Jump(test, 0), &span)?;
                    match place {
                        Where::Word(word) => self.instructions[number] = Instruction::Jump(test, word),
                        Where::Name(name) => self.targets.push((number, name, at)),
                    }
                    return Ok(());
                }
                if matches!(test, Test::Boolean(_, false)) {
                    let message = format!("`{name}` cannot test that a boolean is false");
                    return Err(Problem::new(start, message).hint("`jmpu` can".to_owned()));
                }
                if row.op == Op::Call {
                    line.expect(Kind::Comma, "`,`")?;
                    return self.flow(line, &span, |region| Instruction::Call(Some(test), region));
                }
                if line.take(Kind::Comma).is_some() {
                    return self.flow(line, &span, |region| Instruction::If(test, region));
                }
                let at = self.push(Instruction::If(test, Region { start: 0, count: 0 }), &span)?;
                self.open.push((Open::If { at, other: None }, span));
                return Ok(());
            }
            Shape::Loop => {
                let start = line.span();
                let Any::Integer(uniform) = indexed(line, &self.names)?.0.register else {
                    return Err(Problem::new(start, "this is no integer uniform")
                        .hint("they are i0 to i3".to_owned()));
                };
                if line.take(Kind::Comma).is_none() {
                    let at = self.push(Instruction::Loop(uniform, 0), &span)?;
                    self.open.push((Open::Loop { at }, span));
                    return Ok(());
                }
                line.expect(Kind::At, "`@` and the last word of the loop")?;
                Instruction::Loop(uniform, line.number("the last word of the loop", 4095)? as u16)
            }
        };
        self.push(instruction, &span).map(drop)
    }

    /// An instruction with a region: a procedure, or a word and a number of words.
    fn flow(
        &mut self,
        line: &mut Line<'_>,
        span: &Range<usize>,
        make: impl Fn(Region) -> Instruction,
    ) -> Result<(), Problem> {
        let (place, at) = place(line)?;
        match place {
            Where::Word(start) => {
                line.expect(Kind::Comma, "`,` and the number of words")?;
                let count = line.number("the number of words", 255)? as u8;
                self.push(make(Region { start, count }), span)?;
            }
            Where::Name(name) => {
                let instruction = make(Region { start: 0, count: 0 });
                if !matches!(instruction, Instruction::Call(..)) {
                    return Err(Problem::new(at, "a word is expected here: `@` and its number"));
                }
                let number = self.push(instruction, span)?;
                self.targets.push((number, name, at));
            }
        }
        Ok(())
    }

    fn compare(&self, line: &mut Line<'_>) -> Result<Instruction, Problem> {
        let (first, _) = source(line, &self.names)?;
        let relation = |line: &mut Line<'_>| {
            line.expect(Kind::Comma, "`,`")?;
            let (name, at) = line.expect(Kind::Word, "a relation")?;
            let found = RELATIONS.iter().position(|one| *one == name);
            found.map(|code| Relation::ALL[code]).ok_or_else(|| {
                Problem::new(at, format!("there is no relation `{}`", name.escape_debug()))
                    .hint("there are eq, ne, lt, le, gt and ge".to_owned())
            })
        };
        let (x, y) = (relation(line)?, relation(line)?);
        line.expect(Kind::Comma, "`,`")?;
        let (second, at) = source(line, &self.names)?;
        narrow(&second, &at, "change the sources and turn the relation round")?;
        Ok(Instruction::Compare([x, y], [first, second]))
    }

    fn vector(&self, row: Row, line: &mut Line<'_>) -> Result<Vector, Problem> {
        let (destination, mask) = if row.op == Op::Mova {
            if line.peek_word(0) != Some("a0") {
                return Err(line.expected("`a0`"));
            }
            line.take(Kind::Word);
            (Destination::Output(0), mask(line)?)
        } else {
            destination(line, &self.names)?
        };
        let count = match row.shape {
            Shape::One => 1,
            Shape::Two | Shape::TwoInverted => 2,
            _ => 3,
        };
        let mut sources = Vec::new();
        let mut spans = Vec::new();
        for _ in 0..count {
            line.expect(Kind::Comma, "`,`")?;
            let (source, at) = source(line, &self.names)?;
            sources.push(source);
            spans.push(at);
        }
        // The form with `i` is taken where only it can hold the sources.
        let is_uniform = |place: usize| matches!(sources[place].register, Register::Uniform(_));
        let has_form = ROWS.iter().any(|other| {
            other.op == row.op && matches!(other.shape, Shape::TwoInverted | Shape::ThreeInverted)
        });
        let is_named = matches!(row.shape, Shape::TwoInverted | Shape::ThreeInverted);
        let (wide, other) = if count == 3 { (1, 2) } else { (0, 1) };
        let inverted = is_named || has_form && count > 1 && is_uniform(other) && !is_uniform(wide);
        let wide = if inverted { other } else { wide };
        let hint = "only one source may be a uniform, and not any one: `mov` it to a temporary before";
        for (place, (source, at)) in sources.iter().zip(&spans).enumerate() {
            if place != wide {
                narrow(source, at, hint)?;
            }
        }
        Ok(Vector { op: row.op, inverted, destination, mask, sources })
    }
}

/// A source that has 5 bits.
fn narrow(source: &Source, at: &Range<usize>, hint: &str) -> Result<(), Problem> {
    match source.register {
        Register::Uniform(_) => {
            Err(Problem::new(at.clone(), "this source cannot be a uniform").hint(hint.to_owned()))
        }
        _ => Ok(()),
    }
}

/// A word of the code, by its number or its name.
pub(super) fn place(line: &mut Line<'_>) -> Result<(Where, Range<usize>), Problem> {
    let span = line.span();
    if line.take(Kind::At).is_some() {
        return Ok((Where::Word(line.number("the number of a word", 4095)? as u16), span));
    }
    let (name, span) = line.expect(Kind::Word, "a name, or `@` and the number of a word")?;
    Ok((Where::Name(name.to_owned()), span))
}
