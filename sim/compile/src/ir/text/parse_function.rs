//! Reads functions: blocks, instructions, and how blocks end.

use super::super::{Block, BlockBody, Function, Instruction, Target, Terminator, Trap, Type, Value};
use super::lexer::Token;
use super::parse::{Parser, Read};
use cranelift_entity::{EntityRef, PrimaryMap};
use std::collections::BTreeMap;

/// Words that end a block.
const TERMINATORS: [&str; 6] = ["jump", "branch", "switch", "return", "exit", "trap"];

/// Values of a function as they are defined and used.
#[derive(Default)]
struct Values {
    /// Types of those that are defined.
    types: BTreeMap<Value, Type>,
}

impl Parser<'_> {
    /// What comes behind the number of a function.
    pub(super) fn function(&mut self) -> Read<Function> {
        let name = self.name()?;
        let signature = self.signature()?;
        let at = self.place()?;
        self.mark("{")?;
        self.names.clear();
        self.numbers_values = false;
        let first = self.at;
        let mut values = Values::default();
        if self.is("undefined") {
            self.define(&mut values)?;
            while self.is(",") {
                self.define(&mut values)?;
            }
        }
        let mut blocks = PrimaryMap::new();
        while !self.is("}") {
            let block = self.block(&mut values, blocks.len())?;
            blocks.push(block);
        }
        let types = values.types;
        let undefined =
            self.names.iter().filter(|(_, (number, _))| !types.contains_key(&Value::from_u32(*number)));
        if let Some((name, (_, bytes))) = undefined.min_by_key(|(_, (number, _))| *number) {
            return Err(self.wrong_at(bytes.clone(), format!("{name} is not defined in this function")));
        }
        // Numbers without a gap are as many as the largest and one.
        let mut next = 0;
        for value in types.keys() {
            if value.index() != next {
                let missing = Value::new(next);
                let message = format!("{missing} of this function is not defined");
                let error = self.wrong_at(self.tokens[first - 1].1.clone(), message);
                return Err(error.hint(format!("say `undefined {missing}: i32` if that is meant")));
            }
            next += 1;
        }
        if self.names.is_empty() {
            self.values_exist(first, next)?;
        }
        Ok(Function { name, signature, blocks, values: types.into_values().collect(), at })
    }

    /// Checks that the values which are named from piece `first` on are defined.
    fn values_exist(&self, first: usize, defined: usize) -> Read<()> {
        for (token, bytes) in &self.tokens[first..self.at] {
            let text = &self.text[bytes.clone()];
            let digits =
                text.strip_prefix('v').filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
            let number = digits.and_then(|digits| digits.parse::<u64>().ok());
            if *token == Token::Word && number.is_some_and(|number| number >= defined as u64) {
                return Err(self.wrong_at(bytes.clone(), format!("{text} is not defined in this function")));
            }
        }
        Ok(())
    }

    /// A value with its type, where it is defined.
    fn define(&mut self, values: &mut Values) -> Read<Value> {
        let value = self.value()?;
        self.mark(":")?;
        let ty = self.ty()?;
        match values.types.insert(value, ty) {
            Some(before) if before != ty => {
                Err(self.wrong_before(format!("{value} has the type {before} elsewhere")))
            }
            _ => Ok(value),
        }
    }

    fn block(&mut self, values: &mut Values, next: usize) -> Read<BlockBody> {
        self.declared("b", "a block or `}`", next)?;
        let mut parameters = Vec::new();
        if self.is("(") {
            loop {
                parameters.push(self.define(values)?);
                if !self.is(",") {
                    break;
                }
            }
            self.mark(")")?;
        }
        self.mark(":")?;
        let mut instructions = Vec::new();
        loop {
            if let (Some(Token::Word), word) = self.peek()
                && TERMINATORS.contains(&word)
            {
                self.at += 1;
                let terminator = self.terminator(word)?;
                return Ok(BlockBody { parameters, instructions, terminator, at: self.place()? });
            }
            let mut results = Vec::new();
            // A word that is a value begins the results.
            if self.is_definition() {
                results.push(self.define(values)?);
                while self.is(",") {
                    results.push(self.define(values)?);
                }
                self.mark("=")?;
            }
            let word = self.word("an instruction, or how the block ends")?;
            let operation = self.operation(word)?;
            instructions.push(Instruction { operation, results, at: self.place()? });
        }
    }

    fn target(&mut self) -> Read<Target> {
        let block = Block::from_u32(self.entity("b", "a block")?);
        let (_, text) = self.peek();
        let arguments = if text == "(" { self.list("(", ")", Self::value)? } else { Vec::new() };
        Ok(Target { block, arguments })
    }

    fn terminator(&mut self, word: &str) -> Read<Terminator> {
        Ok(match word {
            "jump" => Terminator::Jump(self.target()?),
            "branch" => {
                let value = self.value()?;
                self.mark(",")?;
                let first = self.target()?;
                self.mark(",")?;
                Terminator::Branch(value, [first, self.target()?])
            }
            "switch" => {
                let value = self.value()?;
                self.mark(",")?;
                Terminator::Switch(value, self.list("[", "]", Self::target)?)
            }
            "return" => Terminator::Return(self.values()?),
            "exit" => Terminator::Exit,
            _ => {
                let name =
                    self.name()?.ok_or_else(|| self.expected("the name of a trap in quotation marks"))?;
                let names = Trap::ALL.iter().map(|trap| trap.name());
                let trap = Trap::from_name(&name);
                Terminator::Trap(trap.ok_or_else(|| self.unknown("there is no trap", &name, names))?)
            }
        })
    }
}
