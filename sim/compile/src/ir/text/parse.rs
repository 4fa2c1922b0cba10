//! Reads modules.

use super::super::{
    Constant, Data, DataId, Elements, ElementsId, Exported, FunctionId, Global, GlobalId, Memory, MemoryId,
    Module, Place, Signature, SignatureId, Space, Table, TableId, Type, Value,
};
use super::lexer::{Token, tokens, unquoted};
use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use wave_isa::diagnostic::{self, Diagnostic};
use wave_isa::suggest::nearest;

/// Words that begin an item.
const ITEMS: [&str; 8] = ["signature", "memory", "table", "global", "data", "elements", "export", "function"];
/// Reads the text form of a module. It is what the text says, whether or not the verifier accepts it.
///
/// # Errors
/// The first thing that is wrong, with its place in `file`.
pub fn parse(text: &str, file: &str) -> Result<Module, Diagnostic> {
    let tokens = tokens(text, file)?;
    Parser { text, file, tokens, at: 0, names: HashMap::new(), numbers_values: false }.module()
}

impl FromStr for Module {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Module, Diagnostic> {
        parse(text, "text")
    }
}

/// The number behind the letters of an entity.
fn entity_number(text: &str, letters: &str) -> Option<u32> {
    let digits = text.strip_prefix(letters)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_plain = digits == "0" || !digits.starts_with('0');
    // The largest number means that there is none.
    digits.parse().ok().filter(|&number: &u32| is_number && is_plain && number < u32::MAX)
}

/// True if a value may have this name: no letter and a number, which may be those of an entity.
fn may_name_value(text: &str) -> bool {
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    digits.is_empty() || digits.bytes().any(|byte| !byte.is_ascii_digit())
}

/// Result of reading a part.
pub(super) type Read<T> = Result<T, Diagnostic>;

/// Reads a text piece by piece.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    file: &'a str,
    pub(super) tokens: Vec<(Token, Range<usize>)>,
    pub(super) at: usize,
    /// Names of values of the function that is read, each with its number and the bytes where it was met first.
    pub(super) names: HashMap<&'a str, (u32, Range<usize>)>,
    /// The function that is read has numbers for its values.
    pub(super) numbers_values: bool,
}

impl<'a> Parser<'a> {
    /// An error at the bytes of a piece.
    pub(super) fn wrong_at(&self, bytes: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let length = self.text[bytes.clone()].chars().count();
        Diagnostic::error(message).at(diagnostic::Place::at_offset(self.file, self.text, bytes.start, length))
    }

    /// Bytes of the next piece; the end of the text if there is none.
    fn bytes(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, bytes)| bytes.clone())
    }

    /// An error at the next piece.
    pub(super) fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        self.wrong_at(self.bytes(), message)
    }

    /// An error at the piece that was read last.
    pub(super) fn wrong_before(&self, message: impl Into<String>) -> Diagnostic {
        let bytes = self.at.checked_sub(1).map_or(0..0, |at| self.tokens[at].1.clone());
        self.wrong_at(bytes, message)
    }

    /// An error at the next piece, which is not what is wanted here.
    pub(super) fn expected(&self, wanted: impl Display) -> Diagnostic {
        match self.peek() {
            (Some(_), text) => self.wrong(format!("expected {wanted}, found `{text}`")),
            (None, _) => self.wrong(format!("expected {wanted}, found the end of the text")),
        }
    }

    /// The next piece.
    pub(super) fn peek(&self) -> (Option<Token>, &'a str) {
        (self.tokens.get(self.at).map(|(token, _)| *token), &self.text[self.bytes()])
    }

    /// The next piece if it is of this kind.
    fn take(&mut self, kind: Token) -> Option<&'a str> {
        let (token, text) = self.peek();
        (token == Some(kind)).then(|| {
            self.at += 1;
            text
        })
    }

    /// True, and past it, if the next piece is this one.
    pub(super) fn is(&mut self, wanted: &str) -> bool {
        let (token, text) = self.peek();
        let is = text == wanted && token.is_some_and(|token| token != Token::String);
        self.at += usize::from(is);
        is
    }

    /// Past this piece.
    pub(super) fn mark(&mut self, wanted: &str) -> Read<()> {
        if self.is(wanted) { Ok(()) } else { Err(self.expected(format_args!("`{wanted}`"))) }
    }

    /// A word.
    pub(super) fn word(&mut self, wanted: &str) -> Read<&'a str> {
        self.take(Token::Word).ok_or_else(|| self.expected(wanted))
    }

    /// The number behind the letters of an entity, if the next piece is one.
    pub(super) fn entity_if(&mut self, letters: &str) -> Option<u32> {
        let (Some(Token::Word), text) = self.peek() else { return None };
        let number = entity_number(text, letters)?;
        self.at += 1;
        Some(number)
    }

    pub(super) fn entity(&mut self, letters: &str, wanted: &str) -> Read<u32> {
        self.entity_if(letters).ok_or_else(|| self.expected(format_args!("{wanted}, as `{letters}0`")))
    }

    /// The number of an entity that is declared here, which is that of its order.
    pub(super) fn declared(&mut self, letters: &str, wanted: &str, next: usize) -> Read<()> {
        let number = self.entity(letters, wanted)?;
        if number as usize == next {
            return Ok(());
        }
        Err(self.wrong_before(format!("the next is `{letters}{next}`: they are numbered in their order")))
    }

    /// A value: a number, or a name. Names have the numbers of the order in which they are met.
    pub(super) fn value(&mut self) -> Read<Value> {
        let (token, name) = self.peek();
        let is_number = self.entity_if("v");
        if is_number.is_none() && !(token == Some(Token::Word) && may_name_value(name)) {
            return Err(self.expected("a value, as `v0`"));
        }
        if let Some(number) = is_number {
            self.numbers_values = true;
            if let Some(other) = self.names.keys().min() {
                let message = format!("values of this function have names, as `{other}`, and not numbers");
                return Err(self.wrong_before(message));
            }
            return Ok(Value::from_u32(number));
        }
        if self.numbers_values {
            return Err(self.expected("a value, as `v0`"));
        }
        let (next, bytes) = (self.names.len() as u32, self.bytes());
        self.at += 1;
        Ok(Value::from_u32(self.names.entry(name).or_insert((next, bytes)).0))
    }

    /// True if the next piece is a value.
    fn is_value(&self) -> bool {
        let (token, text) = self.peek();
        token == Some(Token::Word) && (entity_number(text, "v").is_some() || may_name_value(text))
    }

    /// True if the next piece is a value that is defined here: its type comes behind it.
    pub(super) fn is_definition(&self) -> bool {
        let colon = self.tokens.get(self.at + 1).is_some_and(|(_, bytes)| &self.text[bytes.clone()] == ":");
        let (token, text) = self.peek();
        token == Some(Token::Word) && (entity_number(text, "v").is_some() || colon && may_name_value(text))
    }

    pub(super) fn function_id(&mut self) -> Read<FunctionId> {
        Ok(FunctionId::from_u32(self.entity("f", "a function")?))
    }

    pub(super) fn memory_id(&mut self) -> Read<MemoryId> {
        Ok(MemoryId::from_u32(self.entity("mem", "a memory")?))
    }

    pub(super) fn table_id(&mut self) -> Read<TableId> {
        Ok(TableId::from_u32(self.entity("tab", "a table")?))
    }

    pub(super) fn global_id(&mut self) -> Read<GlobalId> {
        Ok(GlobalId::from_u32(self.entity("g", "a global variable")?))
    }

    pub(super) fn data_id(&mut self) -> Read<DataId> {
        Ok(DataId::from_u32(self.entity("data", "a data segment")?))
    }

    pub(super) fn elements_id(&mut self) -> Read<ElementsId> {
        Ok(ElementsId::from_u32(self.entity("elem", "an element segment")?))
    }

    pub(super) fn signature_id(&mut self) -> Read<SignatureId> {
        Ok(SignatureId::from_u32(self.entity("sig", "a signature")?))
    }

    /// A number without a sign.
    pub(super) fn number<T: TryFrom<u64>>(&mut self, wanted: &str) -> Read<T> {
        let digits = self.take(Token::Number).ok_or_else(|| self.expected(wanted))?;
        let number = digits.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.wrong_before(format!("`{digits}` is not {wanted}, or is too large")))
    }

    pub(super) fn place(&mut self) -> Read<Place> {
        if !self.is("@") {
            return Ok(Place::default());
        }
        Ok(Place(self.number("a source place")?))
    }

    fn string(&mut self) -> Read<Option<Vec<u8>>> {
        let start = self.bytes().start;
        let Some(quoted) = self.take(Token::String) else { return Ok(None) };
        let wrong = |(at, message)| self.wrong_at(start + at..start + at + 1, message);
        unquoted(quoted).map(Some).map_err(wrong)
    }

    pub(super) fn name(&mut self) -> Read<Option<String>> {
        let Some(bytes) = self.string()? else { return Ok(None) };
        let name = String::from_utf8(bytes);
        name.map(Some).map_err(|_| self.wrong_before("a name is text in UTF-8"))
    }

    pub(super) fn type_named(&self, name: &str) -> Read<Type> {
        let types = [Type::Bool, Type::I32, Type::I64, Type::F32, Type::F64];
        let found = types.into_iter().find(|ty| ty.name() == name);
        found.ok_or_else(|| {
            self.wrong_before(format!("no type is called `{name}`"))
                .hint("types are bool, i32, i64, f32 and f64")
        })
    }

    pub(super) fn ty(&mut self) -> Read<Type> {
        let name = self.word("a type")?;
        self.type_named(name)
    }

    /// Items with commas between them, up to the closing mark.
    pub(super) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl Fn(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.mark(open)?;
        let mut items = Vec::new();
        if self.is(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.is(close) {
                return Ok(items);
            }
            if !self.is(",") {
                return Err(self.expected(format_args!("`,` or `{close}`")));
            }
        }
    }

    /// Values with commas between them, if one comes.
    pub(super) fn values(&mut self) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        if self.is_value() {
            values.push(self.value()?);
            while self.is(",") {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    pub(super) fn signature(&mut self) -> Read<Signature> {
        let parameters = self.list("(", ")", Self::ty)?;
        self.mark("->")?;
        Ok(Signature { parameters, results: self.list("(", ")", Self::ty)? })
    }

    /// A constant of a type.
    pub(super) fn constant(&mut self, ty: Type) -> Read<Constant> {
        let (token, text) = self.peek();
        if !matches!(token, Some(Token::Word | Token::Number)) {
            return Err(self.expected(format_args!("a constant of type {ty}")));
        }
        self.at += 1;
        let bits = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16).ok());
        let constant = match (ty, bits) {
            (Type::Bool, _) => text.parse().ok().map(Constant::Bool),
            (_, Some(bits)) => {
                let bits = bits.filter(|&bits| ty.bytes() == 8 || bits <= u64::from(u32::MAX));
                bits.map(|bits| Constant::from_bits(ty, bits))
            }
            (Type::I32, None) => {
                let value = text.parse::<i64>().ok();
                let value = value.filter(|value| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(value));
                value.map(|value| Constant::I32(value as u32))
            }
            (Type::I64, None) => {
                let value = text.parse::<i128>().ok();
                let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
                value.filter(|value| range.contains(value)).map(|value| Constant::I64(value as u64))
            }
            // A NaN is written as its bits.
            (Type::F32, None) => {
                let value = text.parse::<f32>().ok().filter(|value| !value.is_nan());
                value.map(|value| Constant::F32(value.to_bits()))
            }
            (Type::F64, None) => {
                let value = text.parse::<f64>().ok().filter(|value| !value.is_nan());
                value.map(|value| Constant::F64(value.to_bits()))
            }
        };
        constant.ok_or_else(|| self.wrong_before(format!("`{text}` is no constant of type {ty}")))
    }

    fn up_to(&mut self) -> Read<Option<u64>> {
        if self.is("to") { self.number("a limit").map(Some) } else { Ok(None) }
    }

    fn module(mut self) -> Read<Module> {
        let mut module = Module::default();
        while self.at < self.tokens.len() {
            self.item(&mut module)?;
        }
        Ok(module)
    }

    /// An item: what it is and the rest of it.
    fn item(&mut self, module: &mut Module) -> Read<()> {
        let word = self.word("what a module has")?;
        match word {
            "signature" => {
                self.declared("sig", "a signature", module.signatures.len())?;
                module.signatures.push(self.signature()?);
            }
            "memory" => {
                self.declared("mem", "a memory", module.memories.len())?;
                let space = match self.word("`device`, `local` or `private`")? {
                    "device" => Space::Device,
                    "local" => Space::Local,
                    "private" => Space::Private,
                    other => {
                        let what = format!("a memory is device, local or private, not `{other}`");
                        return Err(self.wrong_before(what));
                    }
                };
                let pages = self.number("a number of pages")?;
                let mut memory = Memory::new(space, pages, self.up_to()?);
                if self.is("pages") {
                    memory.page_bytes = self.number("bytes of a page")?;
                }
                module.memories.push(memory);
            }
            "table" => {
                self.declared("tab", "a table", module.tables.len())?;
                let places = self.number("a number of places")?;
                module.tables.push(Table { places, most_places: self.up_to()? });
            }
            "global" => {
                self.declared("g", "a global variable", module.globals.len())?;
                let name = self.name()?;
                let is_mutable = self.is("mutable");
                let ty = self.ty()?;
                module.globals.push(Global { name, initial: self.constant(ty)?, is_mutable });
            }
            "data" => {
                self.declared("data", "a data segment", module.data.len())?;
                let at_start =
                    if self.is("at") { Some((self.memory_id()?, self.number("an address")?)) } else { None };
                let mut bytes = Vec::new();
                while let Some(more) = self.string()? {
                    bytes.extend(more);
                }
                module.data.push(Data { bytes, at_start });
            }
            "elements" => {
                self.declared("elem", "an element segment", module.elements.len())?;
                let at_start =
                    if self.is("at") { Some((self.table_id()?, self.number("a place")?)) } else { None };
                let function = |parser: &mut Self| {
                    if parser.is("null") { Ok(None) } else { parser.function_id().map(Some) }
                };
                let functions = self.list("[", "]", function)?;
                module.elements.push(Elements { functions, at_start });
            }
            "export" => {
                let name = self.name()?.ok_or_else(|| self.expected("a name in quotation marks"))?;
                let exported = self.exported()?;
                module.exports.push((name, exported));
            }
            "start" => {
                if module.start.is_some() {
                    return Err(self.wrong_before("the start is given twice"));
                }
                module.start = Some(self.function_id()?);
            }
            "function" => {
                self.declared("f", "a function", module.functions.len())?;
                module.functions.push(self.function()?);
            }
            other => {
                let words = ITEMS.into_iter().chain(["start"]);
                return Err(self.unknown("a module has no", other, words));
            }
        }
        Ok(())
    }

    /// An error at the last word, with names near it.
    pub(super) fn unknown<'n>(
        &self,
        what: &str,
        word: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let error = self.wrong_before(format!("{what} `{word}`"));
        match nearest(word, names).as_slice() {
            [] => error,
            near => error.hint(format!("there is `{}`", near.join("`, `"))),
        }
    }

    fn exported(&mut self) -> Read<Exported> {
        // A function's letters begin no other entity's.
        if let Some(number) = self.entity_if("f") {
            return Ok(Exported::Function(FunctionId::from_u32(number)));
        }
        if let Some(number) = self.entity_if("mem") {
            return Ok(Exported::Memory(MemoryId::from_u32(number)));
        }
        if let Some(number) = self.entity_if("tab") {
            return Ok(Exported::Table(TableId::from_u32(number)));
        }
        if let Some(number) = self.entity_if("g") {
            return Ok(Exported::Global(GlobalId::from_u32(number)));
        }
        Err(self.expected("a function, memory, table or global variable"))
    }
}
