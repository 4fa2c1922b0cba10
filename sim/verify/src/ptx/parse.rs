//! PTX as text to instructions.

use super::code::{
    Address, CARRY, Clock, Code, Inst, LaneOrder, Module, SHARED, Shuffle, Space, TABLES, Together, Value,
};
use super::matrix::{Matrix, Product, Whole};
use super::operations::{Apply, apply, atomic, bytes_of, compare};
use super::scope::{Scope, constant, split, vector};
use super::typed::operation;
use std::collections::HashMap;

struct Reader<'a> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
    module: Module,
    tables: HashMap<String, u64>,
}

/// Reads a text.
///
/// # Errors
/// The line and what is wrong with it.
pub fn parse(text: &str) -> Result<Module, String> {
    let module = Module { functions: Vec::new(), by_name: HashMap::new(), tables: Vec::new() };
    let mut reader = Reader { lines: text.lines().enumerate().peekable(), module, tables: HashMap::new() };
    while let Some((number, line)) = reader.next() {
        reader.top(number, line).map_err(|error| format!("line {}: {error}", number + 1))?;
    }
    Ok(reader.module)
}

impl<'a> Reader<'a> {
    /// The next line that is not empty, without its comment.
    fn next(&mut self) -> Option<(usize, &'a str)> {
        self.lines
            .by_ref()
            .map(|(number, line)| (number, line.split("//").next().unwrap_or("").trim()))
            .find(|(_, line)| !line.is_empty())
    }

    fn top(&mut self, number: usize, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            ".version" | ".target" | ".address_size" | ".file" | ".extern" => Ok(()),
            ".global" => {
                let name = words[4].split('[').next().unwrap_or("").to_owned();
                self.tables.insert(name, TABLES + self.module.tables.len() as u64);
                while let Some((_, line)) = self.next() {
                    if line.starts_with('}') {
                        return Ok(());
                    }
                    for word in line.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                        self.module.tables.extend((constant(word)? as u32).to_le_bytes());
                    }
                }
                Err("a table without end".to_owned())
            }
            ".func" => {
                let mut function = Scope::default();
                let header = line.trim_start_matches(".func").trim();
                let (gives, rest) = match header.strip_prefix('(') {
                    Some(rest) => rest.split_once(')').ok_or("no `)`")?,
                    None => ("", header),
                };
                let (name, takes) = rest.trim().split_once('(').ok_or("no parameters")?;
                let mut declare = |text: &str| -> Vec<usize> {
                    let names =
                        text.trim_end_matches(')').split(',').filter_map(|one| one.split_whitespace().nth(2));
                    names.map(|name| function.declare(name, 64)).collect()
                };
                let gives = declare(gives).first().copied();
                let takes = declare(takes);
                function.function.gives = gives;
                function.function.takes = takes;
                self.body(name.trim(), function)
            }
            ".visible" => {
                let mut function = Scope::default();
                let name = words[2].trim_end_matches('(').to_owned();
                let mut place = 0;
                for (_, line) in std::iter::from_fn(|| self.next()) {
                    if line == "{" {
                        // The body reads the brace.
                        return self.lines_of(&name, function);
                    }
                    if !line.starts_with(".param") {
                        continue;
                    }
                    let line = line.trim_end_matches(',');
                    let name = line.split_whitespace().next_back().ok_or("no name")?;
                    let (name, count) = name.split_once('[').unwrap_or((name, "1]"));
                    let count: usize = count.trim_end_matches(']').parse().map_err(|_| "no size")?;
                    let bytes = count
                        * bytes_of(
                            line.rsplit('.')
                                .next()
                                .and_then(|ty| ty.split_whitespace().next())
                                .ok_or("no type")?,
                        )?;
                    place = usize::next_multiple_of(place, bytes.min(8));
                    function.function.parameters.push((name.to_owned(), place, bytes));
                    place += bytes;
                }
                Err("an entry without a body".to_owned())
            }
            other => Err(format!("`{other}` in line {} is not known", number + 1)),
        }
    }

    fn body(&mut self, name: &str, scope: Scope) -> Result<(), String> {
        match self.next() {
            Some((_, "{")) => self.lines_of(name, scope),
            _ => Err("no body".to_owned()),
        }
    }

    fn lines_of(&mut self, name: &str, mut scope: Scope) -> Result<(), String> {
        scope.declare(CARRY, 32);
        let mut statements = Vec::new();
        while let Some((number, line)) = self.next() {
            if line == "}" {
                for (number, line) in statements {
                    let inst = self
                        .instruction(&scope, line)
                        .map_err(|error| format!("{}: {error}: {line}", number + 1))?;
                    scope.function.code.push(Inst { line: number + 1, ..inst });
                }
                self.module.by_name.insert(name.to_owned(), self.module.functions.len());
                self.module.functions.push(scope.function);
                return Ok(());
            }
            if let Some(label) = line.strip_suffix(':') {
                scope.labels.insert(label.to_owned(), statements.len());
            } else if let Some(list) = line.strip_prefix(".branchtargets") {
                let labels =
                    list.trim_end_matches(';').split(',').map(|label| label.trim().to_owned()).collect();
                // Its name is the label in front of it, which stands where the next statement does.
                let here = statements.len();
                let name =
                    scope.labels.iter().find(|(name, place)| **place == here && name.starts_with("$x"));
                let name = name.ok_or("a list of targets without a name")?.0.clone();
                scope.lists.insert(name, labels);
            } else if let Some(list) = line.strip_prefix(".reg") {
                let (ty, names) = list.trim().split_once(' ').ok_or("no registers")?;
                let bits = 8 * bytes_of(ty.trim_start_matches('.'))? as u32;
                for name in names.trim_end_matches(';').split(',').map(str::trim) {
                    match name.split_once('<') {
                        Some((name, count)) => {
                            let count: usize = count.trim_end_matches('>').parse().map_err(|_| "no count")?;
                            (0..count).for_each(|number| _ = scope.declare(&format!("{name}{number}"), bits));
                        }
                        None => _ = scope.declare(name, bits),
                    }
                }
            } else if !line.starts_with(".loc") {
                statements.push((number, line));
            }
        }
        Err("a body without end".to_owned())
    }

    fn instruction(&self, scope: &Scope, line: &str) -> Result<Inst, String> {
        let line = line.strip_suffix(';').ok_or("no `;`")?;
        let (guard, line) = match line.strip_prefix('@') {
            Some(rest) => {
                let (name, rest) = rest.split_once(' ').ok_or("a guard alone")?;
                let (name, wanted) = name.strip_prefix('!').map_or((name, true), |name| (name, false));
                (Some((scope.register(name)?, wanted)), rest)
            }
            None => (None, line),
        };
        let (operation, rest) = line.split_once(' ').unwrap_or((line, ""));
        let operands = split(rest);
        let code = self.code(scope, operation, &operands)?;
        Ok(Inst { line: 0, guard, code })
    }

    fn code(&self, scope: &Scope, operation_name: &str, operands: &[&str]) -> Result<Code, String> {
        let parts: Vec<&str> = operation_name.split('.').collect();
        let last = parts[parts.len() - 1];
        let value = |at: usize| self.value(scope, operands.get(at).ok_or("an operand is missing")?);
        let register = |at: usize| scope.register(operands.get(at).ok_or("an operand is missing")?);
        let address = |at: usize| -> Result<Address, String> {
            let text = operands.get(at).and_then(|text| text.strip_prefix('[')?.strip_suffix(']'));
            let text = text.ok_or("no address")?;
            let (base, offset) = text.split_once('+').unwrap_or((text, "0"));
            let base = match scope.function.parameters.iter().find(|(name, ..)| name == base) {
                Some(&(_, place, _)) => Value::Constant(place as u64),
                None => self.value(scope, base)?,
            };
            Ok((base, constant(offset)?))
        };
        let space = || {
            let of = |name: &&str| match *name {
                "global" => Some(Space::Global),
                "shared" => Some(Space::Shared),
                "param" => Some(Space::Parameter),
                _ => None,
            };
            parts.iter().find_map(of).unwrap_or(Space::Generic)
        };
        Ok(match parts[0] {
            "mov" => match (operands[0], operands[1]) {
                (d, parts) if parts.starts_with('{') => {
                    let parts: Vec<usize> = scope.list(parts)?;
                    Code::Pack {
                        d: scope.register(d)?,
                        bits: 8 * bytes_of(last)? as u32 / parts.len() as u32,
                        parts,
                    }
                }
                (parts, _) if parts.starts_with('{') => {
                    let parts: Vec<usize> = scope.list(parts)?;
                    Code::Unpack {
                        bits: 8 * bytes_of(last)? as u32 / parts.len() as u32,
                        parts,
                        a: value(1)?,
                    }
                }
                _ => {
                    Code::Apply(Apply::One(super::operations::identity(last)), register(0)?, vec![value(1)?])
                }
            },
            "ld" => {
                let d =
                    if operands[0].starts_with('{') { scope.list(operands[0])? } else { vec![register(0)?] };
                vector(&parts, d.len())?;
                let extends = last.starts_with('s').then(|| scope.widths[d[0]]);
                Code::Load { space: space(), bytes: bytes_of(last)?, d, at: address(1)?, extends }
            }
            "st" => {
                let values = match operands[1].starts_with('{') {
                    true => scope.list(operands[1])?.into_iter().map(Value::Register).collect(),
                    false => vec![value(1)?],
                };
                vector(&parts, values.len())?;
                Code::Store { space: space(), bytes: bytes_of(last)?, values, at: address(0)? }
            }
            "atom" | "red" => {
                let returns = parts[0] == "atom";
                let at = usize::from(returns);
                let d = if returns && operands[0] != "_" { Some(register(0)?) } else { None };
                let (b, f) = (value(at + 1)?, atomic(parts[parts.len() - 2], last)?);
                let c = if operands.len() > at + 2 { value(at + 2)? } else { Value::Constant(0) };
                Code::Atomic { space: space(), bytes: bytes_of(last)?, f, d, at: address(at)?, b, c }
            }
            "setp" if parts.len() == 3 && !operands[0].contains('|') && compare(parts[1], last).is_ok() => {
                Code::Compare(compare(parts[1], last)?, register(0)?, value(1)?, value(2)?)
            }
            "selp" => Code::Select(register(0)?, value(1)?, value(2)?, value(3)?),
            "bra" => Code::Branch(scope.label(operands[0])?),
            "brx" => {
                let list = scope.lists.get(operands[1]).ok_or("no list of targets")?;
                Code::Table(value(0)?, list.iter().map(|label| scope.label(label)).collect::<Result<_, _>>()?)
            }
            "call" => {
                let (d, rest) = match operands[0].strip_prefix('(') {
                    Some(d) => (Some(scope.register(d.trim_end_matches(')'))?), &operands[1..]),
                    None => (None, operands),
                };
                let function = *self.module.by_name.get(rest[0]).ok_or("no such function")?;
                let arguments = rest[1].trim_start_matches('(').trim_end_matches(')');
                let arguments: Result<Vec<Value>, String> =
                    split(arguments).into_iter().map(|one| self.value(scope, one)).collect();
                Code::Call { function, d, arguments: arguments? }
            }
            "ret" => Code::Return,
            "trap" => Code::Trap,
            "fence" => Code::Fence,
            "barrier" => Code::Barrier,
            "bar" if parts[1] == "sync" => Code::Barrier,
            "bar" if parts[1] == "red" => {
                let f: fn(u64, u64) -> u64 = match parts[2] {
                    "popc" => |count, _| count,
                    "and" => |count, threads| u64::from(count == threads),
                    _ => |count, _| u64::from(count > 0),
                };
                Code::BarrierReduction(register(0)?, value(operands.len() - 1)?, f)
            }
            "bar" => Code::Together(Together::Nothing, value(0)?),
            "vote" => {
                let (d, a) = (register(0)?, value(1)?);
                let what = match parts[2] {
                    "any" => Together::Any(d, a),
                    "all" => Together::All(d, a),
                    "uni" => Together::Uniform(d, a),
                    "ballot" => Together::Ballot(d, a),
                    other => return Err(format!("vote {other}")),
                };
                Code::Together(what, value(2)?)
            }
            "shfl" => {
                let (d, p) = operands[0].split_once('|').map_or((operands[0], None), |(d, p)| (d, Some(p)));
                let p = p.map(|p| scope.register(p)).transpose()?;
                let how = match parts[2] {
                    "up" => Shuffle::Up,
                    "down" => Shuffle::Down,
                    "bfly" => Shuffle::Butterfly,
                    "idx" => Shuffle::Index,
                    other => return Err(format!("shfl {other}")),
                };
                let d = scope.register(d)?;
                let what = Together::Shuffle { how, d, p, a: value(1)?, b: value(2)?, c: value(3)? };
                Code::Together(what, value(4)?)
            }
            "match" => {
                let (d, p) = operands[0].split_once('|').map_or((operands[0], None), |(d, p)| (d, Some(p)));
                let (d, p) = (scope.register(d)?, p.map(|p| scope.register(p)).transpose()?);
                let what = match parts[1] {
                    "any" => Together::MatchAny(d, value(1)?),
                    _ => Together::MatchAll(d, p, value(1)?),
                };
                Code::Together(what, value(2)?)
            }
            "redux" => {
                let Apply::Two(f) = apply(&parts[2..].join("."))? else {
                    return Err("no reduction".to_owned());
                };
                Code::Together(Together::Reduce(f, register(0)?, value(1)?), value(2)?)
            }
            "ldmatrix" | "stmatrix" | "movmatrix" | "mma" | "wmma" => {
                let whole = Value::Constant(u32::MAX.into());
                Code::Together(Together::Matrix(self.matrix(scope, &parts, operands, &address)?), whole)
            }
            _ => {
                let mut values = (1..operands.len()).map(&value).collect::<Result<Vec<Value>, String>>()?;
                if let Ok(f) = apply(operation_name) {
                    let wanted = match f {
                        Apply::One(_) => 1,
                        Apply::Two(_) => 2,
                        Apply::Three(_) => 3,
                    };
                    if wanted != values.len() {
                        return Err(format!("{wanted} operands are wanted"));
                    }
                    return Ok(Code::Apply(f, register(0)?, values));
                }
                let (d, second) =
                    operands[0].split_once('|').map_or((operands[0], None), |(d, p)| (d, Some(p)));
                let (d, second) = (scope.register(d)?, second.map(|p| scope.register(p)).transpose()?);
                let f = operation(operation_name, scope.widths[d])?;
                let carry = scope.register(CARRY)?;
                if f.takes_carry {
                    values.push(Value::Register(carry));
                }
                if values.len() < f.operands {
                    return Err(format!("{} operands are wanted", f.operands));
                }
                let second = if f.gives_carry { Some(carry) } else { second };
                Code::Operation { f, d, second, values }
            }
        })
    }

    /// An operation of a warp on matrices.
    fn matrix(
        &self,
        scope: &Scope,
        parts: &[&str],
        operands: &[&str],
        address: &dyn Fn(usize) -> Result<Address, String>,
    ) -> Result<Matrix, String> {
        let list = |at: usize| scope.list(operands.get(at).ok_or("an operand is missing")?);
        let values =
            |at: usize| Ok::<_, String>(list(at)?.into_iter().map(Value::Register).collect::<Vec<_>>());
        let is_transposed = parts.contains(&"trans");
        let space = match (parts.contains(&"shared"), parts.contains(&"global")) {
            (true, _) => Space::Shared,
            (_, true) => Space::Global,
            _ => Space::Generic,
        };
        let whole = || Whole::named(&parts.join("."), space);
        let stride = || operands.get(2).map(|text| self.value(scope, text)).transpose();
        let count = |registers: usize| {
            if parts.contains(&format!("x{registers}").as_str()) {
                Ok(())
            } else {
                Err("another number of registers")
            }
        };
        Ok(match parts[0] {
            "wmma" if parts[1] == "load" => {
                Matrix::LoadWhole { whole: whole()?, d: list(0)?, at: address(1)?, stride: stride()? }
            }
            "wmma" if parts[1] == "store" => {
                Matrix::StoreWhole { whole: whole()?, values: values(1)?, at: address(0)?, stride: stride()? }
            }
            "ldmatrix" => {
                let d = list(0)?;
                count(d.len())?;
                Matrix::Load { is_transposed, space, d, at: address(1)? }
            }
            "stmatrix" => {
                let values = values(1)?;
                count(values.len())?;
                Matrix::Store { is_transposed, space, values, at: address(0)? }
            }
            "movmatrix" => Matrix::Transpose { d: list(0)?[0], a: self.value(scope, operands[1])? },
            _ => Matrix::Product {
                product: Product::named(&parts.join("."))?,
                d: list(0)?,
                a: values(1)?,
                b: values(2)?,
                c: values(3)?,
            },
        })
    }

    fn value(&self, scope: &Scope, text: &str) -> Result<Value, String> {
        let axis = |text: &str| ["x", "y", "z"].iter().position(|axis| *axis == text);
        if let Some((name, Some(axis))) = text.split_once('.').map(|(name, rest)| (name, axis(rest))) {
            return match name {
                "%tid" => Ok(Value::Tid(axis)),
                "%ctaid" => Ok(Value::Ctaid(axis)),
                "%nctaid" => Ok(Value::Nctaid(axis)),
                "%ntid" => Ok(Value::Ntid(axis)),
                other => Err(format!("no register {other}")),
            };
        }
        match text {
            "%clock64" => return Ok(Value::Clock(Clock::Cycles)),
            "%globaltimer" => return Ok(Value::Clock(Clock::Nanoseconds)),
            "%smid" => return Ok(Value::Clock(Clock::Multiprocessor)),
            "%laneid" => return Ok(Value::Lane),
            "%warpid" => return Ok(Value::Warp),
            "%nwarpid" => return Ok(Value::Warps),
            "%lanemask_eq" => return Ok(Value::LaneMask(LaneOrder::Equal)),
            "%lanemask_lt" => return Ok(Value::LaneMask(LaneOrder::Less)),
            "%lanemask_le" => return Ok(Value::LaneMask(LaneOrder::LessOrEqual)),
            "%lanemask_gt" => return Ok(Value::LaneMask(LaneOrder::Greater)),
            "%lanemask_ge" => return Ok(Value::LaneMask(LaneOrder::GreaterOrEqual)),
            _ => {}
        }
        if text.starts_with('%') {
            return scope.register(text).map(Value::Register);
        }
        if let Some(predicate) = text.strip_prefix('!') {
            return scope.register(predicate).map(Value::Contrary);
        }
        if text == "wave_local" {
            return Ok(Value::Constant(SHARED));
        }
        match self.tables.get(text) {
            Some(&place) => Ok(Value::Constant(place)),
            None => constant(text).map(Value::Constant),
        }
    }
}
