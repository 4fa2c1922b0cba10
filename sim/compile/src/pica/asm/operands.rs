//! Operands of instructions.

use super::lexer::{Kind, Line, Problem, Word};
use crate::pica::instruction::{Address, Destination, Join, Register, Source, Test};
use std::collections::HashMap;
use std::ops::Range;
use wave_isa::suggest::did_you_mean;

/// A register of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Any {
    Input(u8),
    Output(u8),
    Temporary(u8),
    Uniform(u8),
    Integer(u8),
    Boolean(u8),
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) register: Any,
    /// Registers of an array.
    pub(super) count: u8,
    pub(super) swizzle: [u8; 4],
}

/// A register by itself.
pub(super) fn plain(register: Any) -> Named {
    Named { register, count: 1, swizzle: [0, 1, 2, 3] }
}

/// The names of a file.
pub(super) type Names = HashMap<String, Named>;

/// The register that is called so in every file.
pub(super) fn register(word: &str) -> Option<Any> {
    let letter = word.chars().next().filter(char::is_ascii)?;
    let digits = &word[1..];
    if digits.len() > 1 && digits.starts_with('0') || digits.starts_with('+') {
        return None;
    }
    let number: u8 = digits.parse().ok()?;
    match (letter, number) {
        ('v', 0..16) => Some(Any::Input(number)),
        ('o', 0..16) => Some(Any::Output(number)),
        ('r', 0..16) => Some(Any::Temporary(number)),
        ('c', 0..96) => Some(Any::Uniform(number)),
        ('i', 0..4) => Some(Any::Integer(number)),
        ('b', 0..16) => Some(Any::Boolean(number)),
        _ => None,
    }
}

/// What a word stands for.
pub(super) fn named((word, span): &Word<'_>, names: &Names) -> Result<Named, Problem> {
    if let Some(register) = register(word) {
        return Ok(plain(register));
    }
    names.get(*word).copied().ok_or_else(|| {
        let near = did_you_mean(word, names.keys().map(String::as_str));
        let forms = "registers are v0 to v15, r0 to r15, c0 to c95, o0 to o15, i0 to i3, b0 to b15";
        Problem::new(span.clone(), format!("there is no register `{}`", word.escape_debug()))
            .hint(near.unwrap_or_else(|| forms.to_owned()))
    })
}

/// Numbers of components, and where they stand.
type Components = (Vec<u8>, Range<usize>);

/// Components behind a dot: at most four of x, y, z, w.
fn components(line: &mut Line<'_>) -> Result<Option<Components>, Problem> {
    if line.take(Kind::Dot).is_none() {
        return Ok(None);
    }
    let (word, span) = line.expect(Kind::Word, "components")?;
    let places = word.chars().map(|c| match c {
        'x' | 'r' => Some(0),
        'y' | 'g' => Some(1),
        'z' | 'b' => Some(2),
        'w' | 'a' => Some(3),
        _ => None,
    });
    match places.collect::<Option<Vec<u8>>>() {
        Some(places) if places.len() <= 4 => Ok(Some((places, span))),
        _ => Err(Problem::new(span, format!("`{}` is not up to four of x, y, z, w", word.escape_debug()))),
    }
}

/// Components to read, the last one again in the place of those that are not named.
pub(super) fn swizzle(line: &mut Line<'_>) -> Result<[u8; 4], Problem> {
    let Some((places, _)) = components(line)? else { return Ok([0, 1, 2, 3]) };
    let last = places.last().copied().unwrap_or(0);
    Ok([0, 1, 2, 3].map(|place: usize| places.get(place).copied().unwrap_or(last)))
}

/// Components to write.
pub(super) fn mask(line: &mut Line<'_>) -> Result<[bool; 4], Problem> {
    if line.kind(0) == Some(Kind::Dot) && line.peek_word(1) == Some("none") {
        line.take(Kind::Dot);
        line.take(Kind::Word);
        return Ok([false; 4]);
    }
    let Some((places, span)) = components(line)? else { return Ok([true; 4]) };
    if !places.windows(2).all(|pair| pair[0] < pair[1]) {
        return Err(Problem::new(span, "components to write are in the order x, y, z, w, each once"));
    }
    Ok([0, 1, 2, 3].map(|place: u8| places.contains(&place)))
}

/// What stands in brackets: a number that is added, and an address register.
pub(super) fn index(line: &mut Line<'_>) -> Result<(u8, Option<Address>), Problem> {
    let (mut number, mut address) = (0, None);
    if line.take(Kind::OpenIndex).is_none() {
        return Ok((0, None));
    }
    loop {
        let span = line.span();
        let found = match line.peek_word(0) {
            Some("aL") => Some(Address::Loop),
            Some("a0") => Some(Address::X),
            _ => None,
        };
        match found {
            None => number += line.number("a number or an address register", 95)?,
            Some(_) if address.is_some() => return Err(Problem::new(span, "there is one address register")),
            Some(Address::Loop) => {
                line.take(Kind::Word);
                address = found;
            }
            Some(_) => {
                line.take(Kind::Word);
                line.expect(Kind::Dot, "`.x` or `.y`")?;
                address = match line.peek_word(0) {
                    Some("x") => Some(Address::X),
                    Some("y") => Some(Address::Y),
                    _ => return Err(line.expected("`x` or `y`")),
                };
                line.take(Kind::Word);
            }
        }
        if line.take(Kind::Plus).is_none() {
            break;
        }
    }
    let span = line.span();
    line.expect(Kind::CloseIndex, "`]`")?;
    let number =
        u8::try_from(number).map_err(|_| Problem::new(span, "the index is past the last register"))?;
    Ok((number, address))
}

/// A register with an index behind it, if there is one.
pub(super) fn indexed(line: &mut Line<'_>, names: &Names) -> Result<(Named, Option<Address>), Problem> {
    let word = line.expect(Kind::Word, "a register")?;
    let mut named = named(&word, names)?;
    let (added, address) = index(line)?;
    if added == 0 && address.is_none() {
        return Ok((named, None));
    }
    let past = || Problem::new(word.1.clone(), format!("index {added} is past the last register"));
    if named.count > 1 && added >= named.count {
        let message = format!("index {added} is past the end of `{}`, which has {}", word.0, named.count);
        return Err(Problem::new(word.1, message));
    }
    let (number, end) = match &mut named.register {
        Any::Uniform(number) => (number, 96),
        Any::Input(number) | Any::Output(number) | Any::Temporary(number) | Any::Boolean(number) => {
            (number, 16)
        }
        Any::Integer(number) => (number, 4),
    };
    let sum = number.checked_add(added).filter(|&sum| sum < end).ok_or_else(past)?;
    *number = sum;
    if address.is_some() && !matches!(named.register, Any::Uniform(_)) {
        let message = "an address register is added to uniforms only";
        return Err(Problem::new(word.1, message));
    }
    Ok((named, address))
}

/// A source.
pub(super) fn source(line: &mut Line<'_>, names: &Names) -> Result<(Source, Range<usize>), Problem> {
    let negated = line.take(Kind::Minus).is_some();
    let span = line.span();
    let (named, address) = indexed(line, names)?;
    let selected = swizzle(line)?;
    let register = match named.register {
        Any::Input(number) => Register::Input(number),
        Any::Temporary(number) => Register::Temporary(number),
        Any::Uniform(number) => Register::Uniform(number),
        _ => return Err(Problem::new(span, "an instruction reads v, r and c registers only")),
    };
    let swizzle = selected.map(|place| named.swizzle[usize::from(place)]);
    Ok((Source { register, address, negated, swizzle }, span))
}

/// A destination, and which components are written.
pub(super) fn destination(line: &mut Line<'_>, names: &Names) -> Result<(Destination, [bool; 4]), Problem> {
    let span = line.span();
    let (named, _) = indexed(line, names)?;
    let destination = match named.register {
        Any::Output(number) => Destination::Output(number),
        Any::Temporary(number) => Destination::Temporary(number),
        _ => return Err(Problem::new(span, "an instruction writes o and r registers only")),
    };
    Ok((destination, mask(line)?))
}

/// A boolean uniform, and the value that is wanted.
pub(super) fn boolean(line: &mut Line<'_>, names: &Names) -> Result<Test, Problem> {
    let wanted = line.take(Kind::Not).is_none();
    let span = line.span();
    match indexed(line, names)?.0.register {
        Any::Boolean(number) => Ok(Test::Boolean(number, wanted)),
        _ => Err(Problem::new(span, "this is no boolean uniform").hint("they are b0 to b15".to_owned())),
    }
}

/// A test of the flags.
pub(super) fn flags(line: &mut Line<'_>) -> Result<Test, Problem> {
    let flag = |line: &mut Line<'_>| -> Result<(usize, bool), Problem> {
        let wanted = line.take(Kind::Not).is_none();
        if line.peek_word(0) != Some("cmp") {
            return Err(line.expected("`cmp.x` or `cmp.y`"));
        }
        line.take(Kind::Word);
        line.expect(Kind::Dot, "`.x` or `.y`")?;
        let place = match line.peek_word(0) {
            Some("x") => 0,
            Some("y") => 1,
            _ => return Err(line.expected("`x` or `y`")),
        };
        line.take(Kind::Word);
        Ok((place, wanted))
    };
    let first = flag(line)?;
    let join = match line.kind(0) {
        Some(Kind::Or) => Join::Or,
        Some(Kind::And) => Join::And,
        _ if first.0 == 0 => return Ok(Test::Flags(Join::X, [first.1, false])),
        _ => return Ok(Test::Flags(Join::Y, [false, first.1])),
    };
    line.take(Kind::Or).or_else(|| line.take(Kind::And));
    let span = line.span();
    let second = flag(line)?;
    if second.0 == first.0 {
        return Err(Problem::new(span, "the two flags are `cmp.x` and `cmp.y`"));
    }
    let mut wanted = [false; 2];
    (wanted[first.0], wanted[second.0]) = (first.1, second.1);
    Ok(Test::Flags(join, wanted))
}
