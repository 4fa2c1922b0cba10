//! Constructs and branches: blocks, loops, `if` and `else`, and the labels that branches name.

use super::{Operand, Translator};
use crate::ir::{Block, Target, Terminator, Type};
use crate::wasm::locals::Origin;
use crate::wasm::{Error, module};
use wasmparser::BlockType;

/// What a label belongs to.
#[derive(Debug)]
pub(super) enum Kind {
    Function,
    Block,
    Loop,
    /// The block of the `else`, until that has come, and the operands that it begins with.
    If(Option<(Block, Vec<Operand>)>),
}

/// A construct that is open.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// Where its label leads: at once for a loop, when the first branch goes there for others.
    pub(super) label: Option<Block>,
    /// Where variables come from at its label.
    pub(super) origin: Origin,
    pub(super) parameters: Vec<Type>,
    pub(super) results: Vec<Type>,
    /// Operands below it.
    pub(super) height: usize,
}

impl Translator<'_> {
    /// Ends the block that is being filled.
    pub(super) fn terminate(&mut self, terminator: Terminator) {
        if let Some(block) = self.block.take() {
            let body = &mut self.function.blocks[block];
            body.terminator = terminator;
            body.at = self.at;
        }
    }

    /// A new block, with where its variables come from.
    pub(super) fn new_block(&mut self, parameters: &[Type], origin: Origin) -> Block {
        let block = self.function.block(parameters);
        self.locals.set_origin(block, origin);
        block
    }

    /// The block of a label, and the number of operands that it takes.
    pub(super) fn label(&mut self, frame: usize) -> (Block, usize) {
        let Frame { kind, label, origin, parameters, results, .. } = &self.frames[frame];
        let types = if matches!(kind, Kind::Loop) { parameters.clone() } else { results.clone() };
        let block = match *label {
            Some(block) => block,
            None => {
                let origin = *origin;
                let block = self.new_block(&types, origin);
                self.frames[frame].label = Some(block);
                block
            }
        };
        (block, types.len())
    }

    /// The target of a branch. Leaves the operands where they are.
    pub(super) fn target(&mut self, depth: u32) -> Target {
        let (block, count) = self.label(self.frames.len() - 1 - depth as usize);
        Target { block, arguments: self.settle(count) }
    }

    pub(super) fn branch(&mut self, depth: u32) {
        let frame = self.frames.len() - 1 - depth as usize;
        if frame == 0 && self.frames[0].label.is_none() {
            return self.leave();
        }
        let target = self.target(depth);
        self.terminate(Terminator::Jump(target));
    }

    /// Returns.
    pub(super) fn leave(&mut self) {
        let values = self.settle(self.frames[0].results.len());
        self.terminate(Terminator::Return(values));
    }

    /// Parameters and results of a block.
    pub(super) fn block_type(&self, ty: BlockType) -> Result<(Vec<Type>, Vec<Type>), Error> {
        Ok(match ty {
            BlockType::Empty => (Vec::new(), Vec::new()),
            BlockType::Type(ty) => (Vec::new(), vec![module::value_type(ty)?]),
            BlockType::FuncType(index) => {
                let signature = self.index.signature(index)?;
                (signature.parameters.clone(), signature.results.clone())
            }
        })
    }

    /// Opens a construct. Its parameters stay on the stack.
    pub(super) fn open(&mut self, ty: BlockType, kind: fn() -> Kind) -> Result<usize, Error> {
        let (parameters, results) = self.block_type(ty)?;
        let construct = self.construct;
        self.construct += 1;
        let height = self.operands.len() - parameters.len();
        let origin = match self.block {
            Some(from) => Origin::Join { from, start: self.at.0, end: self.scan.ends[construct] },
            None => Origin::Entry,
        };
        self.frames.push(Frame { kind: kind(), label: None, origin, parameters, results, height });
        Ok(construct)
    }

    pub(super) fn open_loop(&mut self, ty: BlockType) -> Result<(), Error> {
        self.open(ty, || Kind::Loop)?;
        let (header, count) = self.label(self.frames.len() - 1);
        let arguments = self.settle(count);
        self.terminate(Terminator::Jump(Target { block: header, arguments }));
        self.operands.truncate(self.operands.len() - count);
        for index in 0..count {
            self.push(self.function.blocks[header].parameters[index]);
        }
        self.block = Some(header);
        Ok(())
    }

    pub(super) fn open_if(&mut self, ty: BlockType) -> Result<(), Error> {
        let condition = self.pop_condition();
        let construct = self.open(ty, || Kind::If(None))?;
        let Some(from) = self.block else { return Ok(()) };
        let count = self.frames.last().map_or(0, |frame| frame.parameters.len());
        let arguments = self.settle(count);
        let then = self.new_block(&[], Origin::Single(from));
        let otherwise = if self.scan.has_else[construct] {
            let block = self.new_block(&[], Origin::Single(from));
            let operands = self.operands[self.operands.len() - count..].to_vec();
            if let Some(frame) = self.frames.last_mut() {
                frame.kind = Kind::If(Some((block, operands)));
            }
            Target { block, arguments: Vec::new() }
        } else {
            let (block, _) = self.label(self.frames.len() - 1);
            Target { block, arguments }
        };
        let then_target = Target { block: then, arguments: Vec::new() };
        self.terminate(Terminator::Branch(condition, [then_target, otherwise]));
        self.block = Some(then);
        Ok(())
    }

    pub(super) fn begin_else(&mut self) {
        if self.block.is_some() {
            let target = self.target(0);
            self.terminate(Terminator::Jump(target));
        }
        if let Some(frame) = self.frames.last_mut()
            && let Kind::If(otherwise) = &mut frame.kind
            && let Some((block, operands)) = otherwise.take()
        {
            self.operands.truncate(frame.height);
            self.operands.extend(operands);
            self.block = Some(block);
        }
    }

    pub(super) fn end(&mut self) {
        if self.block.is_some() {
            let frame = self.frames.len() - 1;
            let is_loop = matches!(self.frames[frame].kind, Kind::Loop);
            if frame == 0 {
                match self.frames[0].label {
                    Some(_) => self.branch(0),
                    None => self.leave(),
                }
            } else if !is_loop && self.frames[frame].label.is_some() {
                self.branch(0);
            }
        }
        let Some(frame) = self.frames.pop() else { return };
        let joined = frame.label.filter(|_| !matches!(frame.kind, Kind::Loop));
        if let Some(block) = joined {
            self.operands.truncate(frame.height);
            for index in 0..frame.results.len() {
                self.push(self.function.blocks[block].parameters[index]);
            }
            self.block = Some(block);
            if matches!(frame.kind, Kind::Function) {
                let values = self.pop_many(frame.results.len());
                self.terminate(Terminator::Return(values));
            }
        }
    }

    /// Branches by a number, which it pops; past the end with the last.
    pub(crate) fn switch(&mut self, depths: &[u32]) {
        let place = self.pop();
        let targets = depths.iter().map(|&depth| self.target(depth)).collect();
        self.terminate(Terminator::Switch(place, targets));
    }

    /// True if control comes here. Where it does not, operators are passed over.
    pub(crate) fn is_reached(&self) -> bool {
        self.block.is_some()
    }

    /// Operands on the stack.
    pub(crate) fn height(&self) -> usize {
        self.operands.len()
    }

    /// Constructs that are open, the function one of them.
    pub(crate) fn constructs(&self) -> usize {
        self.frames.len()
    }

    /// Puts an operand back that was taken.
    pub(crate) fn push_operand(&mut self, operand: Operand) {
        self.operands.push(operand);
    }

    pub(super) fn branch_if(&mut self, depth: u32) {
        let condition = self.pop_condition();
        let Some(from) = self.block else { return };
        let taken = self.target(depth);
        let next = self.new_block(&[], Origin::Single(from));
        let targets = [taken, Target { block: next, arguments: Vec::new() }];
        self.terminate(Terminator::Branch(condition, targets));
        self.block = Some(next);
    }
}
