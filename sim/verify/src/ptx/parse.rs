//! PTX as text to instructions.

use super::operations::{Apply, apply, atomic, bytes_of, compare};
use std::collections::HashMap;

/// Functions and tables of a text.
#[derive(Debug)]
pub struct Module {
    pub(super) functions: Vec<Function>,
    pub(super) by_name: HashMap<String, usize>,
    /// Tables in global memory, one after another.
    pub(super) tables: Vec<u8>,
}

/// A function or an entry.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub code: Vec<Inst>,
    pub registers: usize,
    /// The registers of the values that it takes and gives.
    pub takes: Vec<usize>,
    pub gives: Option<usize>,
    /// Parameters of an entry: name, place, bytes.
    pub parameters: Vec<(String, usize, usize)>,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Inst {
    pub line: usize,
    /// The predicate that has to hold, or not to hold.
    pub guard: Option<(usize, bool)>,
    pub code: Code,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Register(usize),
    Constant(u64),
    /// A position of the thread, its CTA, or the size of one; with the axis.
    Tid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Ntid(usize),
    /// What a clock says.
    Clock(Clock),
}

/// What differs from reading to reading, and from GPU to GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Cycles of the multiprocessor: `%clock64`.
    Cycles,
    /// Nanoseconds of the GPU: `%globaltimer`.
    Nanoseconds,
    /// Number of the multiprocessor: `%smid`.
    Multiprocessor,
}

/// A memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Shared,
    Parameter,
}

/// An address: a value and a number of bytes behind it.
pub(super) type Address = (Value, u64);

/// What an instruction does.
#[derive(Debug)]
pub(super) enum Code {
    Apply(Apply, usize, Vec<Value>),
    Compare(fn(u64, u64) -> bool, usize, Value, Value),
    Select(usize, Value, Value, Value),
    Pack {
        d: usize,
        parts: Vec<usize>,
        bits: u32,
    },
    Unpack {
        parts: Vec<usize>,
        a: Value,
        bits: u32,
    },
    Load {
        space: Space,
        bytes: usize,
        d: Vec<usize>,
        at: Address,
    },
    Store {
        space: Space,
        bytes: usize,
        values: Vec<Value>,
        at: Address,
    },
    Atomic {
        space: Space,
        bytes: usize,
        f: fn(u64, u64, u64) -> u64,
        d: Option<usize>,
        at: Address,
        b: Value,
        c: Value,
    },
    Branch(usize),
    Table(Value, Vec<usize>),
    Call {
        function: usize,
        d: Option<usize>,
        arguments: Vec<Value>,
    },
    Return,
    Trap,
    Fence,
    Barrier,
    WarpSync,
    Any(usize, Value),
    All(usize, Value),
    Ballot(usize, Value),
    /// A shuffle: up or by index; the value, the lane or distance, the clamp.
    Shuffle {
        up: bool,
        d: usize,
        p: Option<usize>,
        a: Value,
        b: Value,
        clamp: u64,
    },
    Reduce(fn(u64, u64) -> u64, usize, Value),
}

struct Reader<'a> {
    lines: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
    module: Module,
    tables: HashMap<String, u64>,
}

/// Address of the tables of a module in global memory.
pub(super) const TABLES: u64 = 0x10_0000;
/// Address of dynamic shared memory.
pub(super) const SHARED: u64 = 0x400;

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
                    names.map(|name| function.declare(name)).collect()
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
                let (_, names) = list.trim().split_once(' ').ok_or("no registers")?;
                for name in names.trim_end_matches(';').split(',').map(str::trim) {
                    match name.split_once('<') {
                        Some((name, count)) => {
                            let count: usize = count.trim_end_matches('>').parse().map_err(|_| "no count")?;
                            (0..count).for_each(|number| _ = scope.declare(&format!("{name}{number}")));
                        }
                        None => _ = scope.declare(name),
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

    fn code(&self, scope: &Scope, operation: &str, operands: &[&str]) -> Result<Code, String> {
        let parts: Vec<&str> = operation.split('.').collect();
        let last = parts[parts.len() - 1];
        let value = |at: usize| self.value(scope, operands.get(at).ok_or("an operand is missing")?);
        let register = |at: usize| scope.register(operands.get(at).ok_or("an operand is missing")?);
        let members = |at: usize| match operands.get(at) {
            Some(&"0xffffffff") => Ok(()),
            other => Err(format!("the members are {other:?}")),
        };
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
            parts.iter().find_map(of).ok_or("no state space")
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
                Code::Load { space: space()?, bytes: bytes_of(last)?, d, at: address(1)? }
            }
            "st" => {
                let values = match operands[1].starts_with('{') {
                    true => scope.list(operands[1])?.into_iter().map(Value::Register).collect(),
                    false => vec![value(1)?],
                };
                vector(&parts, values.len())?;
                Code::Store { space: space()?, bytes: bytes_of(last)?, values, at: address(0)? }
            }
            "atom" | "red" => {
                let returns = parts[0] == "atom";
                let at = usize::from(returns);
                let d = if returns && operands[0] != "_" { Some(register(0)?) } else { None };
                let (b, f) = (value(at + 1)?, atomic(parts[parts.len() - 2], last)?);
                let c = if operands.len() > at + 2 { value(at + 2)? } else { Value::Constant(0) };
                Code::Atomic { space: space()?, bytes: bytes_of(last)?, f, d, at: address(at)?, b, c }
            }
            "setp" => Code::Compare(compare(parts[1], last)?, register(0)?, value(1)?, value(2)?),
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
            "bar" => {
                members(0)?;
                Code::WarpSync
            }
            "vote" => {
                members(2)?;
                match parts[2] {
                    "any" => Code::Any(register(0)?, value(1)?),
                    "all" => Code::All(register(0)?, value(1)?),
                    "ballot" => Code::Ballot(register(0)?, value(1)?),
                    other => return Err(format!("vote {other}")),
                }
            }
            "shfl" => {
                members(4)?;
                let (d, p) = operands[0].split_once('|').map_or((operands[0], None), |(d, p)| (d, Some(p)));
                let p = p.map(|p| scope.register(p)).transpose()?;
                let up = match parts[2] {
                    "up" => true,
                    "idx" => false,
                    other => return Err(format!("shfl {other}")),
                };
                Code::Shuffle {
                    up,
                    d: scope.register(d)?,
                    p,
                    a: value(1)?,
                    b: value(2)?,
                    clamp: constant(operands[3])?,
                }
            }
            "redux" => {
                members(2)?;
                let Apply::Two(f) = apply(&parts[2..].join("."))? else {
                    return Err("no reduction".to_owned());
                };
                Code::Reduce(f, register(0)?, value(1)?)
            }
            _ => {
                let values: Result<Vec<Value>, String> = (1..operands.len()).map(&value).collect();
                let (f, values) = (apply(operation)?, values?);
                let wanted = match f {
                    Apply::One(_) => 1,
                    Apply::Two(_) => 2,
                    Apply::Three(_) => 3,
                };
                if wanted != values.len() {
                    return Err(format!("{wanted} operands are wanted"));
                }
                Code::Apply(f, register(0)?, values)
            }
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
            _ => {}
        }
        if text.starts_with('%') {
            return scope.register(text).map(Value::Register);
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

/// Names of a function.
#[derive(Default)]
struct Scope {
    function: Function,
    registers: HashMap<String, usize>,
    labels: HashMap<String, usize>,
    lists: HashMap<String, Vec<String>>,
}

impl Scope {
    fn declare(&mut self, name: &str) -> usize {
        let number = self.function.registers;
        self.function.registers += 1;
        self.registers.insert(name.to_owned(), number);
        number
    }

    fn register(&self, name: &str) -> Result<usize, String> {
        self.registers.get(name).copied().ok_or_else(|| format!("no register {name}"))
    }

    fn label(&self, name: &str) -> Result<usize, String> {
        self.labels.get(name).copied().ok_or_else(|| format!("no label {name}"))
    }

    fn list(&self, text: &str) -> Result<Vec<usize>, String> {
        let names = text.trim_start_matches('{').trim_end_matches('}').split(',');
        names.map(|name| self.register(name.trim())).collect()
    }
}

/// Holds the number of registers against the `.v2` or `.v4` of an access.
fn vector(parts: &[&str], registers: usize) -> Result<(), String> {
    let stated = parts.iter().find_map(|part| part.strip_prefix('v')?.parse::<usize>().ok()).unwrap_or(1);
    if stated == registers { Ok(()) } else { Err(format!("{registers} registers for {stated}")) }
}

/// Operands between commas that no bracket encloses.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        found.push(text[start..].trim());
    }
    found
}

/// A literal: an integer, or the bits of an f32.
fn constant(text: &str) -> Result<u64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0f"));
    let parsed = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let number = parsed.map_err(|_| format!("`{text}` is no operand"))?;
    Ok(if negative { number.wrapping_neg() } else { number })
}
