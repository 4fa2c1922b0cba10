//! Arguments and results of calls, and the words of parameters.

use super::Wrong;
use super::graph::parts_of_call;
use super::translate::{Done, Translator};
use super::tree::{Formal, Operand, OperandKind, VariableId};
use super::types::PtxType;
use crate::ir::{Binary, Type, Value};

impl Translator<'_> {
    /// The arguments of a call become parameters.
    pub(super) fn enter(&mut self, frame: usize) -> Done {
        let Some((caller, number)) = self.graph.frames[frame].caller else { return Ok(()) };
        let statement = self.graph.statement(self.tree, caller, number);
        self.frame = caller;
        self.e.at = self.place(&statement.at);
        let function = self.graph.function(self.tree, frame);
        let (_, _, arguments) = parts_of_call(statement);
        if arguments.len() != function.parameters.len() {
            let (takes, given) = (function.parameters.len(), arguments.len());
            let message = format!("`{}` takes {takes} arguments, and the call gives {given}", function.name);
            return Err(Wrong::new(statement.at.clone(), message));
        }
        for (argument, formal) in arguments.iter().zip(&function.parameters) {
            match formal {
                Formal::Register(id) => {
                    self.frame = caller;
                    let ty = function.registers[id.0 as usize].1;
                    let value = self.read(argument, ty)?;
                    self.set(self.graph.frames[frame].first + id.0, value);
                }
                Formal::Memory(own) => {
                    let from = self.words_of(caller, argument)?;
                    let into = self.graph.frames[frame].words[own];
                    let words = function.variables[*own].size().div_ceil(4) as u32;
                    match from {
                        Some((from, size)) if size == words => {
                            for word in 0..words {
                                let value = self.get(from + word);
                                self.set(into + word, value);
                            }
                        }
                        Some((_, size)) => {
                            let message = format!(
                                "`{}` takes an argument of {} bytes here, and the call gives {}",
                                function.name,
                                4 * words,
                                4 * size
                            );
                            return Err(Wrong::new(argument.at.clone(), message));
                        }
                        None => {
                            self.frame = caller;
                            let ty = function.variables[*own].ty;
                            let value = self.read(argument, ty)?;
                            self.set_words(into, 0, value, ty);
                        }
                    }
                    self.copy_parameter(frame, *own);
                }
            }
        }
        Ok(())
    }

    /// The results of a call become those that the caller names.
    pub(super) fn leave(&mut self, frame: usize) -> Done {
        let Some((caller, number)) = self.graph.frames[frame].caller else { return Ok(()) };
        let statement = self.graph.statement(self.tree, caller, number);
        self.frame = caller;
        self.e.at = self.place(&statement.at);
        let function = self.graph.function(self.tree, frame);
        let (results, _, _) = parts_of_call(statement);
        if results.len() > function.results.len() {
            let message = format!("`{}` gives {} results", function.name, function.results.len());
            return Err(Wrong::new(statement.at.clone(), message));
        }
        for (result, formal) in results.iter().zip(&function.results) {
            match formal {
                Formal::Register(id) => {
                    let ty = function.registers[id.0 as usize].1;
                    let value = self.get(self.graph.frames[frame].first + id.0);
                    self.frame = caller;
                    self.write(result, value, ty)?;
                }
                Formal::Memory(own) => {
                    let from = self.graph.frames[frame].words[own];
                    let variable = &function.variables[*own];
                    match self.words_of(caller, result)? {
                        Some((into, size)) => {
                            for word in 0..size.min(variable.size().div_ceil(4) as u32) {
                                let value = self.get(from + word);
                                self.set(into + word, value);
                            }
                        }
                        None => {
                            self.frame = frame;
                            let value = self.get_words(from, 0, variable.ty);
                            self.frame = caller;
                            self.write(result, value, variable.ty)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The first word of a parameter variable that a call names, and how many it has; `None` for a register or a number.
    pub(super) fn words_of(&self, frame: usize, operand: &Operand) -> Done<Option<(u32, u32)>> {
        match operand.kind {
            OperandKind::Variable(VariableId::Own(own), 0) => {
                let Some(&first) = self.graph.frames[frame].words.get(&own) else {
                    return Err(Wrong::new(
                        operand.at.clone(),
                        "a call passes variables in .param and registers",
                    ));
                };
                let variable = &self.graph.function(self.tree, frame).variables[own];
                Ok(Some((first, variable.size().div_ceil(4) as u32)))
            }
            _ => Ok(None),
        }
    }

    /// Sets a number of a parameter, at a byte that is a multiple of its size.
    pub(super) fn set_words(&mut self, first: u32, byte: u32, value: Value, ty: PtxType) {
        let word = first + byte / 4;
        match ty.bits {
            64 => {
                let bits = if self.e.ty(value) == Type::F64 { self.e.reinterpret(value) } else { value };
                let [low, high] = self.e.halves(bits);
                self.set(word, low);
                self.set(word + 1, high);
            }
            32 => {
                let bits = if self.e.ty(value) == Type::F32 { self.e.reinterpret(value) } else { value };
                self.set(word, bits);
            }
            bits => {
                let shift = 8 * (byte % 4);
                let mask = (1u32 << bits) - 1;
                let before = self.get(word);
                let kept = self.e.with(Binary::And, before, u64::from(!(mask << shift)));
                let new = self.e.with(Binary::And, value, u64::from(mask));
                let new = self.e.with(Binary::Shl, new, u64::from(shift));
                let all = self.e.binary(Binary::Or, kept, new);
                self.set(word, all);
            }
        }
    }

    /// A number of a parameter, at a byte that is a multiple of its size.
    pub(super) fn get_words(&mut self, first: u32, byte: u32, ty: PtxType) -> Value {
        let word = first + byte / 4;
        let low = self.get(word);
        match ty.bits {
            64 => {
                let high = self.get(word + 1);
                let whole = self.e.whole([low, high]);
                if ty.ir() == Type::F64 { self.e.reinterpret(whole) } else { whole }
            }
            32 if ty.ir() == Type::F32 => self.e.reinterpret(low),
            32 => low,
            bits => {
                let moved = self.e.with(Binary::ShrU, low, u64::from(8 * (byte % 4)));
                self.e.with(Binary::And, moved, (1 << bits) - 1)
            }
        }
    }
}
