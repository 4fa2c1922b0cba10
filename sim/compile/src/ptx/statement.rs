//! From text to the tree: the statements of a function.

use super::Wrong;
use super::lexer::{Number, Span, Token, number};
use super::parse::{Making, Parsed, Parser, near};
use super::scope::Named;
use super::table::{self, Row, Typed};
use super::tree::{Body, Operand, OperandKind, RegisterId, Statement, VariableId};
use super::types::{PtxType, is_other_type};

/// Most statements of a function.
const MOST_STATEMENTS: usize = 1 << 21;

/// A label or a table that an operand names, and the block that the operand is in.
struct Pending {
    statement: usize,
    operand: usize,
    block: usize,
}

impl Parser<'_> {
    /// The statements up to the brace that ends the function.
    pub(super) fn body(&mut self, making: &mut Making) -> Parsed<Body> {
        let mut body = Body::default();
        let mut pending = Vec::new();
        let mut tables: Vec<(usize, Vec<(String, Span)>)> = Vec::new();
        making.scopes.open();
        let outermost = making.scopes.current();
        loop {
            let Some((token, text)) = self.peek() else { return self.wrong("`}` after the statements") };
            match (token, text) {
                (_, "}") => {
                    self.next();
                    let is_last = making.scopes.current() == outermost;
                    making.scopes.close();
                    if is_last {
                        body.end = self.last().start;
                        break;
                    }
                }
                (_, "{") => {
                    self.next();
                    making.scopes.open();
                }
                (_, ";") => drop(self.next()),
                (_, ".reg") => {
                    self.next();
                    self.registers(making)?;
                }
                (_, ".loc") => {
                    self.next();
                    self.line(&mut body)?;
                }
                (_, ".pragma") => self.skip_to_semicolon()?,
                (_, ".file") => {
                    self.next();
                    self.integer("the number of a file")?;
                    self.next();
                }
                (
                    Token::Dotted,
                    ".shared" | ".local" | ".param" | ".global" | ".const" | ".extern" | ".visible" | ".weak",
                ) => {
                    let is_extern = self.is(".extern");
                    while matches!(self.peek(), Some((_, ".extern" | ".visible" | ".weak"))) {
                        self.next();
                    }
                    for variable in self.variables(is_extern)? {
                        making.scopes.variable(&variable.name, making.function.variables.len());
                        making.function.variables.push(variable);
                    }
                }
                (Token::Word, name) if self.peek_second() == Some(":") => {
                    let at = self.span();
                    self.next();
                    self.next();
                    match self.peek() {
                        Some((_, ".branchtargets")) => {
                            self.next();
                            let mut labels = Vec::new();
                            loop {
                                let at = self.span();
                                labels.push((self.word("a label")?.to_owned(), at));
                                if !self.take(",") {
                                    break;
                                }
                            }
                            self.expect(";", "after the labels")?;
                            making.scopes.table(name, tables.len());
                            tables.push((making.scopes.current(), labels));
                        }
                        Some((_, ".callprototype" | ".calltargets")) => self.skip_to_semicolon()?,
                        _ => {
                            if !making.scopes.label(name, body.labels.len()) {
                                return Err(Wrong::new(at, format!("the label `{name}` is there twice")));
                            }
                            body.labels.push(body.statements.len());
                        }
                    }
                }
                (Token::Word, _) | (_, "@") => self.statement(making, &mut body, &mut pending)?,
                _ => return self.wrong("an instruction, a label or a declaration"),
            }
            if body.statements.len() > MOST_STATEMENTS {
                return self.wrong(&format!("at most {MOST_STATEMENTS} instructions in a function"));
            }
        }
        self.resolve(making, &mut body, pending, tables)?;
        Ok(body)
    }

    /// Puts the numbers of labels into the operands that name them.
    fn resolve(
        &self,
        making: &Making,
        body: &mut Body,
        pending: Vec<Pending>,
        tables: Vec<(usize, Vec<(String, Span)>)>,
    ) -> Parsed {
        let unknown = |name: &str, at: Span| Wrong::new(at, format!("there is no label `{name}`"));
        for (block, labels) in tables {
            let label = |(name, at): (String, Span)| {
                making.scopes.find_label(block, &name).ok_or_else(|| unknown(&name, at))
            };
            body.tables.push(labels.into_iter().map(label).collect::<Parsed<_>>()?);
        }
        for Pending { statement, operand, block } in pending {
            let operand = &mut body.statements[statement].operands[operand];
            let OperandKind::Name(name) = &operand.kind else { continue };
            if let Some(label) = making.scopes.find_label(block, name) {
                operand.kind = OperandKind::Label(label);
            } else if let Some(table) = making.scopes.find_table(block, name) {
                operand.kind = OperandKind::Table(table);
            } else {
                return Err(unknown(name, operand.at.clone()));
            }
        }
        Ok(())
    }

    fn statement(&mut self, making: &mut Making, body: &mut Body, pending: &mut Vec<Pending>) -> Parsed {
        let guard = self.guard(making)?;
        let at = self.span();
        let name = self.word("the name of an instruction")?;
        let mut dotted = Vec::new();
        while let Some((Token::Dotted, text)) = self.peek() {
            self.next();
            dotted.push((&text[1..], self.last()));
        }
        let at = at.start..self.last().end;
        let refuse = |making: &mut Making, wrong: Wrong| {
            making.function.wrong.get_or_insert(wrong);
        };
        let names: Vec<&str> = dotted.iter().map(|(name, _)| *name).collect();
        let row = match table::find(name, &names) {
            Ok(row) => row,
            Err(Some(refused)) => {
                let message = format!("`{}` is not taken: {}", refused.name, refused.what);
                refuse(making, Wrong::new(at, message).hint(refused.hint));
                return self.skip_to_semicolon();
            }
            Err(None) => {
                let wrong = Wrong::new(at, format!("there is no instruction `{name}`"));
                refuse(making, wrong.maybe_hint(near(name, table::names())));
                return self.skip_to_semicolon();
            }
        };
        let (modifiers, types) = match modifiers(row, &dotted, &at) {
            Ok(found) => found,
            Err(wrong) => {
                refuse(making, wrong);
                return self.skip_to_semicolon();
            }
        };
        let mut operands = Vec::new();
        if !self.is(";") {
            loop {
                // Clang puts labels of debugging information between the operands of a call.
                if row.meaning == table::Meaning::Call {
                    while self.peek_second() == Some(":") {
                        self.next();
                        self.next();
                    }
                }
                operands.push(self.operand(making, 0)?);
                if !self.take(",") {
                    break;
                }
            }
        }
        self.expect(";", "after an instruction")?;
        if let Err(wrong) = count(row, &operands, &at) {
            refuse(making, wrong);
            return Ok(());
        }
        let takes_labels = row.operands.contains(['l', 't']);
        if takes_labels {
            let block = making.scopes.current();
            let names =
                operands.iter().enumerate().filter(|(_, one)| matches!(one.kind, OperandKind::Name(_)));
            let statement = body.statements.len();
            pending.extend(names.map(|(operand, _)| Pending { statement, operand, block }));
        } else if row.meaning != table::Meaning::Call
            && let Some(unknown) = operands.iter().find_map(unknown_name)
        {
            let OperandKind::Name(name) = &unknown.kind else { return Ok(()) };
            let is_function = self.tree.functions.iter().any(|function| function.name == *name);
            let wrong = if is_function {
                Wrong::new(unknown.at.clone(), format!("the address of the function `{name}` is not taken"))
                    .hint("call the function by its name: calls through addresses are not taken")
            } else {
                let known =
                    making.scopes.names().chain(self.tree.variables.iter().map(|one| one.name.as_str()));
                Wrong::new(unknown.at.clone(), format!("nothing is declared with the name `{name}`"))
                    .maybe_hint(near(name, known))
            };
            refuse(making, wrong);
        }
        body.statements.push(Statement { guard, row, modifiers, types, operands, at });
        Ok(())
    }

    fn guard(&mut self, making: &Making) -> Parsed<Option<(RegisterId, bool)>> {
        if !self.take("@") {
            return Ok(None);
        }
        let is_negated = self.take("!");
        let at = self.span();
        let name = self.word("a predicate")?;
        match making.scopes.find(name) {
            Some(Named::Register(id)) if making.function.registers[id.0 as usize].1 == PtxType::PRED => {
                Ok(Some((id, is_negated)))
            }
            _ => Err(Wrong::new(at, format!("`{name}` is no register of type .pred"))),
        }
    }

    fn operand(&mut self, making: &Making, depth: u32) -> Parsed<Operand> {
        if depth > 4 {
            return self.wrong("fewer brackets inside one another");
        }
        let start = self.span();
        let kind = match self.peek() {
            Some((_, "[")) => {
                self.next();
                let base = self.operand(making, depth + 1)?;
                let offset = self.offset()?;
                self.expect("]", "after an address")?;
                match base.kind {
                    OperandKind::Variable(id, before) => {
                        let kind = OperandKind::Variable(id, 0);
                        OperandKind::Address(
                            Box::new(Operand { kind, at: base.at }),
                            before.wrapping_add(offset),
                        )
                    }
                    _ => OperandKind::Address(Box::new(base), offset),
                }
            }
            Some((_, mark @ ("{" | "("))) => {
                self.next();
                let end = if mark == "{" { "}" } else { ")" };
                let mut all = Vec::new();
                while !self.take(end) {
                    all.push(self.operand(making, depth + 1)?);
                    if !self.take(",") {
                        self.expect(end, "after a list")?;
                        break;
                    }
                }
                if mark == "{" { OperandKind::Vector(all) } else { OperandKind::List(all) }
            }
            Some((_, "!")) => {
                self.next();
                OperandKind::Not(Box::new(self.operand(making, depth + 1)?))
            }
            Some((_, "-")) => {
                self.next();
                match self.next() {
                    Some((Token::Number, text)) => match number(text) {
                        Some(Number::Integer(value)) => OperandKind::Integer(value.wrapping_neg()),
                        Some(Number::Single(bits)) => OperandKind::Single(bits ^ 1 << 31),
                        Some(Number::Double(value)) => OperandKind::Double(-value),
                        None => return Err(Wrong::new(self.last(), format!("`{text}` is no number"))),
                    },
                    _ => return Err(Wrong::new(start, "expected a number after `-`")),
                }
            }
            Some((Token::Number, text)) => {
                self.next();
                match number(text) {
                    Some(Number::Integer(value)) => OperandKind::Integer(value),
                    Some(Number::Single(bits)) => OperandKind::Single(bits),
                    Some(Number::Double(value)) => OperandKind::Double(value),
                    None => return Err(Wrong::new(self.last(), format!("`{text}` is no number"))),
                }
            }
            Some((Token::Word, text)) => {
                self.next();
                self.named(making, text)?
            }
            _ => return self.wrong("an operand"),
        };
        let first = Operand { kind, at: start.start..self.last().end };
        if self.take("|") {
            let second = self.operand(making, depth + 1)?;
            let at = first.at.start..second.at.end;
            return Ok(Operand { kind: OperandKind::Both(Box::new(first), Box::new(second)), at });
        }
        Ok(first)
    }

    fn named(&mut self, making: &Making, text: &str) -> Parsed<OperandKind> {
        let at = self.last();
        if text == "_" {
            return Ok(OperandKind::Sink);
        }
        if text == "WARP_SZ" {
            return Ok(OperandKind::Integer(32));
        }
        match making.scopes.find(text) {
            Some(Named::Register(id)) => return Ok(OperandKind::Register(id)),
            Some(Named::Variable(number)) => {
                return Ok(OperandKind::Variable(VariableId::Own(number), self.offset()?));
            }
            None => {}
        }
        if let Some(number) = self.tree.variables.iter().position(|variable| variable.name == text) {
            return Ok(OperandKind::Variable(VariableId::Module(number), self.offset()?));
        }
        if let Some(special) = text.strip_prefix('%') {
            let mut name = special.to_owned();
            // A component follows without a blank.
            if let Some((Token::Dotted, component)) = self.peek()
                && self.span().start == at.end
            {
                self.next();
                name.push_str(component);
            }
            return Ok(OperandKind::Special(name));
        }
        Ok(OperandKind::Name(text.to_owned()))
    }
}

/// A name in an operand, or in a vector, that nothing is declared with.
fn unknown_name(operand: &Operand) -> Option<&Operand> {
    match &operand.kind {
        OperandKind::Name(_) => Some(operand),
        OperandKind::Vector(all) => all.iter().find_map(unknown_name),
        OperandKind::Address(base, _) | OperandKind::Not(base) => unknown_name(base),
        OperandKind::Both(a, b) => unknown_name(a).or_else(|| unknown_name(b)),
        _ => None,
    }
}

/// The modifiers and the types of an instruction.
fn modifiers(row: &Row, dotted: &[(&str, Span)], at: &Span) -> Parsed<(Vec<String>, Vec<PtxType>)> {
    let (mut modifiers, mut types) = (Vec::new(), Vec::new());
    for (name, at) in dotted {
        if let Some(ty) = PtxType::from_name(name) {
            if !row.types.split_whitespace().any(|other| other == *name) {
                let message = match row.types {
                    "" => format!("`{}` has no type, and `.{name}` is one", row.name),
                    types => {
                        format!("`{}` does not take the type `.{name}`: it takes {}", row.name, listed(types))
                    }
                };
                return Err(Wrong::new(at.clone(), message));
            }
            types.push(ty);
        } else if row.modifiers.split_whitespace().any(|other| other == *name) {
            modifiers.push((*name).to_owned());
        } else if is_other_type(name) {
            let message = format!("`{}` on numbers of type `.{name}` is not taken", row.name);
            let hint = matches!(row.name, "mma" | "wmma").then_some(table::TENSOR);
            return Err(Wrong::new(at.clone(), message).maybe_hint(hint.map(str::to_owned)));
        } else {
            let message = match row.modifiers {
                "" => format!("`{}` takes no modifier `.{name}`", row.name),
                known => format!("`{}` takes no modifier `.{name}`: it takes {}", row.name, listed(known)),
            };
            let near = near(name, row.modifiers.split_whitespace().chain(row.types.split_whitespace()));
            return Err(Wrong::new(at.clone(), message).maybe_hint(near));
        }
    }
    let (counts, expected): (&[usize], _) = match row.typed {
        Typed::Never => (&[0], "no type"),
        Typed::Once => (&[1], "one type"),
        Typed::Twice => (&[2], "two types"),
        Typed::FourTimes => (&[4], "four types"),
        Typed::TwiceOrFourTimes => (&[2, 4], "two or four types"),
    };
    if !counts.contains(&types.len()) {
        let message = format!("`{}` takes {expected}, and {} are written", row.name, types.len());
        let hint = format!("its types: {}", listed(row.types));
        return Err(Wrong::new(at.clone(), message).maybe_hint((counts != [0]).then_some(hint)));
    }
    Ok((modifiers, types))
}

/// `.a, .b`.
fn listed(names: &str) -> String {
    names.split_whitespace().map(|name| format!(".{name}")).collect::<Vec<_>>().join(", ")
}

/// Checks how many operands there are, and that addresses are where they belong.
fn count(row: &Row, operands: &[Operand], at: &Span) -> Parsed {
    let (needed, optional) = row.operands.split_once('?').unwrap_or((row.operands, ""));
    let [needed, optional] = [needed, optional].map(|part| part.split_whitespace().collect::<Vec<_>>());
    let most = needed.len() + optional.len();
    if !(needed.len()..=most).contains(&operands.len()) {
        let takes = match (needed.len(), most) {
            (0, 0) => "no operand".to_owned(),
            (1, 1) => "one operand".to_owned(),
            (least, most) if least == most => format!("{most} operands"),
            (least, most) => format!("{least} to {most} operands"),
        };
        let given = match operands.len() {
            0 => "there is none".to_owned(),
            1 => "there is one".to_owned(),
            some => format!("there are {some}"),
        };
        return Err(Wrong::new(at.clone(), format!("`{}` takes {takes}, and {given}", row.name)));
    }
    for (operand, letter) in operands.iter().zip(needed.into_iter().chain(optional)) {
        let is_address = matches!(operand.kind, OperandKind::Address(..));
        let is_vector = matches!(operand.kind, OperandKind::Vector(_));
        let expected = match letter {
            "a" if !is_address => "an address in brackets",
            "d" | "p" | "s" if is_address || is_vector => {
                "a register or a number, without brackets or braces"
            }
            "v" if is_address => "a register, a number or a vector in braces",
            "d" | "p"
                if matches!(
                    operand.kind,
                    OperandKind::Integer(_) | OperandKind::Single(_) | OperandKind::Double(_)
                ) =>
            {
                "a register for the result"
            }
            _ => continue,
        };
        return Err(Wrong::new(operand.at.clone(), format!("`{}` takes {expected} here", row.name)));
    }
    Ok(())
}
