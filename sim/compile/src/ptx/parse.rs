//! From text to the tree: directives, variables, functions.

use super::Wrong;
use super::lexer::{Number, Span, Token, number, tokens};
use super::scope::Scopes;
use super::tree::{
    Body, Formal, Function, Initial, LocRow, Pointee, RegisterId, SourcePlace, StateSpace, Tree, Variable,
};
use super::types::{Kind, PtxType, is_other_type};
use wave_isa::suggest::did_you_mean;

/// Most registers that a function declares.
const MOST_REGISTERS: usize = 1 << 18;
/// Most bytes of a parameter.
const MOST_PARAMETER: u64 = 4096;
/// Most bytes of a variable.
const MOST_BYTES: u64 = 1 << 31;

/// A result of the parser.
pub(super) type Parsed<T = ()> = Result<T, Wrong>;

/// Reads a module.
pub(super) fn parse(text: &str) -> Parsed<Tree> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, tree: Tree::default(), lines: Vec::new() };
    parser.lines = text.match_indices('\n').map(|(newline, _)| newline).collect();
    parser.module()?;
    Ok(parser.tree)
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    pub(super) tree: Tree,
    /// Bytes of the line ends.
    lines: Vec<usize>,
}

/// A function under way.
pub(super) struct Making {
    pub(super) function: Function,
    pub(super) scopes: Scopes,
}

impl Making {
    /// A new register.
    pub(super) fn register(&mut self, name: &str, ty: PtxType, at: &Span) -> Parsed<RegisterId> {
        let registers = &mut self.function.registers;
        if registers.len() >= MOST_REGISTERS {
            return Err(Wrong::new(at.clone(), format!("a function has at most {MOST_REGISTERS} registers")));
        }
        registers.push((name.to_owned(), ty));
        Ok(RegisterId(registers.len() as u32 - 1))
    }
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> Option<(Token, &'a str)> {
        let (token, span) = self.tokens.get(self.at)?;
        Some((*token, &self.text[span.clone()]))
    }

    /// The piece after the next one.
    pub(super) fn peek_second(&self) -> Option<&'a str> {
        self.tokens.get(self.at + 1).map(|(_, span)| &self.text[span.clone()])
    }

    /// Where the next piece is.
    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, span)| span.clone())
    }

    /// Where the last piece was.
    pub(super) fn last(&self) -> Span {
        self.at.checked_sub(1).map_or(0..0, |before| self.tokens[before].1.clone())
    }

    pub(super) fn next(&mut self) -> Option<(Token, &'a str)> {
        let piece = self.peek()?;
        self.at += 1;
        Some(piece)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|(_, piece)| piece == text)
    }

    /// Takes the next piece if it is this text.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is = self.is(text);
        self.at += usize::from(is);
        is
    }

    pub(super) fn wrong<T>(&self, expected: &str) -> Parsed<T> {
        let found = match self.peek() {
            Some((_, text)) => format!("`{text}`"),
            None => "the end of the file".to_owned(),
        };
        Err(Wrong::new(self.span(), format!("expected {expected}, found {found}")))
    }

    pub(super) fn expect(&mut self, text: &str, what: &str) -> Parsed {
        if self.take(text) { Ok(()) } else { self.wrong(&format!("`{text}` {what}")) }
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Some((Token::Word, text)) => {
                self.at += 1;
                Ok(text)
            }
            _ => self.wrong(what),
        }
    }

    /// The next dotted name, without its dot.
    pub(super) fn dotted(&mut self) -> Option<&'a str> {
        match self.peek() {
            Some((Token::Dotted, text)) => {
                self.at += 1;
                Some(&text[1..])
            }
            _ => None,
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Parsed<u64> {
        if let Some((Token::Number, text)) = self.peek()
            && let Some(Number::Integer(value)) = number(text)
        {
            self.at += 1;
            return Ok(value);
        }
        self.wrong(what)
    }

    /// The byte that ends the line of the last piece.
    fn end_of_line(&self) -> usize {
        let from = self.last().end;
        let end = self.lines.partition_point(|&newline| newline < from);
        self.lines.get(end).copied().unwrap_or(self.text.len())
    }

    /// Skips the pieces that begin on the line of the last one.
    fn skip_line(&mut self) {
        let end = self.end_of_line();
        while self.tokens.get(self.at).is_some_and(|(_, span)| span.start < end) {
            // A line may have its own end, as those of a translator do.
            if self.take(";") {
                return;
            }
            self.at += 1;
        }
    }

    /// Skips a block in braces, whose first brace is next.
    fn skip_block(&mut self) -> Parsed {
        let mut depth = 0u32;
        loop {
            match self.next() {
                Some((_, "{")) => depth += 1,
                Some((_, "}")) if depth <= 1 => return Ok(()),
                Some((_, "}")) => depth -= 1,
                Some(_) => {}
                None => return self.wrong("`}` after the block"),
            }
        }
    }

    pub(super) fn skip_to_semicolon(&mut self) -> Parsed {
        while let Some((_, text)) = self.next() {
            if text == ";" {
                return Ok(());
            }
        }
        self.wrong("`;`")
    }

    fn module(&mut self) -> Parsed {
        if !self.take(".version") {
            return self.wrong("`.version`, which every PTX file begins with");
        }
        let at = self.span();
        let version = match self.next() {
            Some((Token::Number, text)) => text,
            _ => return Err(Wrong::new(at, "expected the version, such as 7.8")),
        };
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        match major {
            Some(6..=9) => {}
            Some(1..=5) => {
                let message = format!("PTX {version} is too old: versions 6.0 to 9.x are read");
                return Err(Wrong::new(at, message).hint("compile for sm_60 or newer"));
            }
            _ => {
                return Err(Wrong::new(
                    at,
                    format!("`{version}` is no version of PTX that is read: 6.0 to 9.x are"),
                ));
            }
        }
        while let Some((token, text)) = self.peek() {
            let is_linkage = |text: &str| matches!(text, ".visible" | ".extern" | ".weak" | ".common");
            match text {
                ".target" => {
                    self.at += 1;
                    self.target()?;
                }
                ".address_size" => {
                    self.at += 1;
                    let at = self.span();
                    if self.integer("the size of an address")? != 64 {
                        return Err(Wrong::new(
                            at,
                            "addresses of 32 bits are not taken: `.address_size 64` is",
                        )
                        .hint("compile for 64 bits (nvptx64)"));
                    }
                }
                ".file" => {
                    self.at += 1;
                    self.file()?;
                }
                ".loc" | ".alias" => {
                    self.at += 1;
                    self.skip_line();
                }
                ".pragma" => self.skip_to_semicolon()?,
                ".section" => {
                    self.at += 1;
                    while self.peek().is_some() && !self.is("{") {
                        self.at += 1;
                    }
                    self.skip_block()?;
                }
                ";" => self.at += 1,
                _ if is_linkage(text)
                    || matches!(text, ".entry" | ".func" | ".global" | ".const" | ".shared" | ".local") =>
                {
                    self.item()?;
                }
                _ if token == Token::Dotted && is_linkage(text) => self.item()?,
                _ => {
                    return self
                        .wrong("a directive of a module, such as `.entry`, `.func`, `.global` or `.const`");
                }
            }
        }
        Ok(())
    }

    fn target(&mut self) -> Parsed {
        loop {
            self.word("a target, such as sm_75")?;
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    fn file(&mut self) -> Parsed {
        let number = self.integer("the number of a file")?;
        match self.next() {
            Some((Token::String, text)) => {
                let mut path = text.trim_matches('"').to_owned();
                // A folder may stand before the name.
                if let Some((Token::String, name)) = self.peek() {
                    self.at += 1;
                    path = format!("{path}/{}", name.trim_matches('"'));
                }
                let path = path.strip_prefix("./").map(str::to_owned).unwrap_or(path);
                self.tree.files.push((u32::try_from(number).unwrap_or(u32::MAX), path));
            }
            _ => return self.wrong("the path of a file in quotation marks"),
        }
        // A size and a time may follow.
        while self.take(",") {
            self.integer("a number")?;
        }
        self.take(";");
        Ok(())
    }

    /// A variable or a function, with its linkage.
    fn item(&mut self) -> Parsed {
        let mut is_extern = false;
        loop {
            match self.peek() {
                Some((_, ".extern")) => is_extern = true,
                Some((_, ".visible" | ".weak" | ".common" | ".attribute")) => {}
                _ => break,
            }
            self.at += 1;
            if self.is("(") {
                while !self.take(")") {
                    if self.next().is_none() {
                        return self.wrong("`)`");
                    }
                }
            }
        }
        match self.peek() {
            Some((_, ".entry")) => self.function(true),
            Some((_, ".func")) => self.function(false),
            _ => {
                let variables = self.variables(is_extern)?;
                for variable in variables {
                    if self.tree.variables.iter().any(|other| other.name == variable.name && !other.is_extern)
                    {
                        if variable.is_extern {
                            continue;
                        }
                        return Err(Wrong::new(
                            variable.at,
                            format!("`{}` is declared twice", variable.name),
                        ));
                    }
                    self.tree.variables.push(variable);
                }
                Ok(())
            }
        }
    }

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
    fn type_or_space(&self, name: &str, before: Option<PtxType>) -> Parsed<Option<PtxType>> {
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

    fn alignment(&mut self) -> Parsed<u32> {
        let at = self.span();
        let value = self.integer("an alignment")?;
        u32::try_from(value)
            .ok()
            .filter(|value| value.is_power_of_two() && *value <= 1 << 16)
            .ok_or_else(|| Wrong::new(at, format!("an alignment is a power of 2 up to 65536, not {value}")))
    }

    /// The name of a variable, its dimensions and what it holds at the start.
    fn variable(
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
    fn initial(&mut self, ty: PtxType, values: &mut Vec<Initial>, depth: u32) -> Parsed {
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

    fn function(&mut self, is_entry: bool) -> Parsed {
        self.at += 1;
        while self.take(".noreturn") {}
        let mut making = Making {
            function: Function {
                name: String::new(),
                is_entry,
                results: Vec::new(),
                parameters: Vec::new(),
                required_threads: None,
                body: None,
                wrong: None,
                at: self.span(),
                registers: Vec::new(),
                variables: Vec::new(),
                is_library: false,
            },
            scopes: Scopes::default(),
        };
        making.scopes.open();
        if self.is("(") {
            making.function.results = self.formals(&mut making)?;
        }
        making.function.at = self.span();
        making.function.name = self.word("the name of a function")?.to_owned();
        if self.is("(") {
            making.function.parameters = self.formals(&mut making)?;
        }
        loop {
            match self.peek() {
                Some((_, directive @ (".reqntid" | ".reqnctapercluster"))) => {
                    self.at += 1;
                    let at = self.span();
                    let sizes = self.sizes()?;
                    if directive == ".reqntid" {
                        making.function.required_threads = Some(sizes);
                    } else if sizes != [1; 3] && making.function.wrong.is_none() {
                        let wrong = Wrong::new(at, "clusters of workgroups are not taken")
                            .hint("compile for sm_80 or older, whose code has no clusters");
                        making.function.wrong = Some(wrong);
                    }
                }
                Some((
                    _,
                    ".maxntid" | ".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".maxclusterrank",
                )) => {
                    self.at += 1;
                    self.sizes()?;
                }
                Some((
                    _,
                    ".noreturn" | ".explicitcluster" | ".unique" | ".abi_preserve" | ".abi_preserve_control",
                )) => {
                    self.at += 1;
                    if let Some((Token::Number, _)) = self.peek() {
                        self.at += 1;
                    }
                }
                Some((_, ".pragma")) => self.skip_to_semicolon()?,
                _ => break,
            }
        }
        if self.take(";") {
            // A declaration: its definition may follow.
            if self.tree.functions.iter().all(|other| other.name != making.function.name) {
                self.tree.functions.push(making.function);
            }
            return Ok(());
        }
        self.expect("{", "before the statements of a function")?;
        let body = self.body(&mut making)?;
        making.function.body = Some(body);
        let function = making.function;
        match self.tree.functions.iter().position(|other| other.name == function.name) {
            Some(place) if self.tree.functions[place].body.is_some() => {
                Err(Wrong::new(function.at, format!("`{}` is defined twice", function.name)))
            }
            Some(place) => {
                self.tree.functions[place] = function;
                Ok(())
            }
            None => {
                self.tree.functions.push(function);
                Ok(())
            }
        }
    }

    /// Up to three numbers with commas between.
    fn sizes(&mut self) -> Parsed<[u32; 3]> {
        let mut sizes = [1; 3];
        for size in &mut sizes {
            let at = self.span();
            let value = self.integer("a number")?;
            *size = u32::try_from(value).map_err(|_| Wrong::new(at, format!("{value} is too many")))?;
            if !self.take(",") {
                break;
            }
        }
        Ok(sizes)
    }

    /// Parameters or results in parentheses.
    fn formals(&mut self, making: &mut Making) -> Parsed<Vec<Formal>> {
        self.expect("(", "before parameters")?;
        let mut formals = Vec::new();
        if self.take(")") {
            return Ok(formals);
        }
        loop {
            let at = self.span();
            if self.take(".reg") {
                let (mut ty, place) = (None, self.span());
                while let Some(name) = self.dotted() {
                    ty = self.type_or_space(name, ty)?;
                }
                let ty = ty.ok_or_else(|| Wrong::new(place, "expected the type of a register"))?;
                let name = self.word("the name of a register")?;
                let id = making.register(name, ty, &at)?;
                making.scopes.register(name, id);
                formals.push(Formal::Register(id));
            } else {
                let variable = self.formal()?;
                making.scopes.variable(&variable.name, making.function.variables.len());
                formals.push(Formal::Memory(making.function.variables.len()));
                making.function.variables.push(variable);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "after parameters")?;
        Ok(formals)
    }

    /// A parameter in memory.
    fn formal(&mut self) -> Parsed<Variable> {
        let at = self.span();
        if self.dotted().and_then(StateSpace::from_name) != Some(StateSpace::Param) {
            return Err(Wrong::new(at, "expected a parameter: `.param` or `.reg`"));
        }
        let (mut ty, mut alignment, mut pointee) = (None, None, None::<Pointee>);
        while let Some(name) = self.dotted() {
            match (name, &mut pointee) {
                // That of what a pointer points to says nothing of the pointer.
                ("align", Some(pointee)) => pointee.alignment = self.alignment()?,
                ("align", None) => alignment = Some(self.alignment()?),
                ("ptr", _) => pointee = Some(Pointee::default()),
                (name, Some(pointee)) if StateSpace::from_name(name).is_some() => {
                    pointee.space = StateSpace::from_name(name);
                }
                (name, _) => ty = self.type_or_space(name, ty)?,
            }
        }
        let Some(ty) = ty else { return self.wrong("the type of a parameter") };
        Ok(Variable { pointee, ..self.variable(StateSpace::Param, ty, 1, alignment, false)? })
    }

    /// Registers of one declaration, up to its semicolon.
    pub(super) fn registers(&mut self, making: &mut Making) -> Parsed {
        let mut ty = None;
        while let Some(name) = self.dotted() {
            if matches!(name, "v2" | "v4") {
                return Err(Wrong::new(self.last(), "registers that are vectors are not taken")
                    .hint("use a register for each element, in braces where a vector is meant"));
            }
            ty = self.type_or_space(name, ty)?;
        }
        let Some(ty) = ty else { return self.wrong("the type of registers, such as .b32") };
        loop {
            let at = self.span();
            let name = self.word("the name of a register")?;
            if self.take("<") {
                let count = self.integer("a number of registers")?;
                self.expect(">", "after the number of registers")?;
                let first = making.function.registers.len() as u32;
                for number in 0..count {
                    making.register(&format!("{name}{number}"), ty, &at)?;
                }
                making.scopes.range(name, first, count as u32);
            } else {
                let id = making.register(name, ty, &at)?;
                making.scopes.register(name, id);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "after registers")
    }

    /// A row of the line table, after `.loc`.
    pub(super) fn line(&mut self, body: &mut Body) -> Parsed {
        let at = self.last().start;
        let place = self.source_place()?;
        let end = self.end_of_line();
        let mut call = None;
        while self.tokens.get(self.at).is_some_and(|(_, span)| span.start < end) {
            if self.take(";") {
                break;
            }
            if self.take("inlined_at") {
                call = Some(self.source_place()?);
            } else {
                self.at += 1;
            }
        }
        body.lines.push(LocRow { at, place, call });
        Ok(())
    }

    fn source_place(&mut self) -> Parsed<SourcePlace> {
        let numbers =
            [self.integer("the number of a file")?, self.integer("a line")?, self.integer("a column")?];
        let [file, line, column] = numbers.map(|value| u32::try_from(value).unwrap_or(0));
        Ok((file, line, column))
    }
}

/// A constant as bits of a type.
pub(super) fn constant(value: Number, is_negative: bool, ty: PtxType) -> u64 {
    let is_single = ty.kind == Kind::Float && ty.bits == 32;
    match value {
        Number::Integer(value) if ty.is_float() => {
            let value = if is_negative { -(value as f64) } else { value as f64 };
            if is_single { u64::from((value as f32).to_bits()) } else { value.to_bits() }
        }
        Number::Integer(value) => {
            if is_negative {
                value.wrapping_neg()
            } else {
                value
            }
        }
        Number::Single(bits) => {
            let bits = if is_negative { bits ^ 1 << 31 } else { bits };
            if ty.is_float() && !is_single {
                f64::from(f32::from_bits(bits)).to_bits()
            } else {
                u64::from(bits)
            }
        }
        Number::Double(value) => {
            let value = if is_negative { -value } else { value };
            if is_single { u64::from((value as f32).to_bits()) } else { value.to_bits() }
        }
    }
}

/// The hint for a name that is not known.
pub(super) fn near<'b>(name: &str, known: impl Iterator<Item = &'b str>) -> Option<String> {
    did_you_mean(name, known)
}
