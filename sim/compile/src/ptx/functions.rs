//! From text to the tree: functions, their parameters and their registers.

use super::Wrong;
use super::lexer::Token;
use super::parse::{Making, Parsed, Parser};
use super::scope::Scopes;
use super::tree::{Body, Formal, Function, LocRow, Pointee, SourcePlace, StateSpace, Variable};

impl Parser<'_> {
    pub(super) fn function(&mut self, is_entry: bool) -> Parsed {
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
    pub(super) fn sizes(&mut self) -> Parsed<[u32; 3]> {
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
    pub(super) fn formals(&mut self, making: &mut Making) -> Parsed<Vec<Formal>> {
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
    pub(super) fn formal(&mut self) -> Parsed<Variable> {
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

    pub(super) fn source_place(&mut self) -> Parsed<SourcePlace> {
        let numbers =
            [self.integer("the number of a file")?, self.integer("a line")?, self.integer("a column")?];
        let [file, line, column] = numbers.map(|value| u32::try_from(value).unwrap_or(0));
        Ok((file, line, column))
    }
}
