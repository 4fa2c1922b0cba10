//! The control flow of an entry, with the functions that it calls in the place of the calls.

use super::Wrong;
use super::lexer::Span;
use super::library;
use super::table::Meaning;
use super::tree::{Function, OperandKind, RegisterId, StateSpace, Statement, Tree};
use super::types::PtxType;
use std::collections::HashMap;

/// Most items of an entry with all that it calls.
const MOST_ITEMS: usize = 1 << 20;
/// Most calls inside one another.
const DEEPEST: usize = 64;

/// A function in the place of one call, or the entry.
#[derive(Debug)]
pub(super) struct Frame {
    /// The number of the function in the module.
    pub(super) function: usize,
    /// The variable of its first register. The others follow, then the words of its parameters, then the carry.
    pub(super) first: u32,
    /// For each of its own variables in the space `.param`, the variable of its first word.
    pub(super) words: HashMap<usize, u32>,
    /// The carry of its extended additions.
    pub(super) carry: u32,
    /// The frame and the statement of the call.
    pub(super) caller: Option<(usize, usize)>,
}

/// What a block does, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A statement of a frame.
    Statement(usize, usize),
    /// The arguments of the call that the frame is for become its parameters.
    Enter(usize),
    /// The results of the frame become those of its call.
    Leave(usize),
}

/// How a block ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Jump(usize),
    /// To the first block where the register of the frame is true, or false if the flag is set.
    Branch(usize, RegisterId, bool, [usize; 2]),
    /// To the block of the number in the first operand of the statement.
    Table(usize, usize, Vec<usize>),
    Exit,
    Trap,
}

/// A block.
#[derive(Debug)]
pub(super) struct SourceBlock {
    pub(super) items: Vec<Item>,
    pub(super) end: End,
    /// Where its end comes from.
    pub(super) at: Span,
}

/// The control flow of an entry. The first block has no items, and nothing jumps to it.
#[derive(Debug, Default)]
pub(super) struct SourceGraph {
    pub(super) frames: Vec<Frame>,
    pub(super) blocks: Vec<SourceBlock>,
    /// Types of the variables: registers and words of all frames.
    pub(super) variables: Vec<PtxType>,
    items: usize,
}

impl SourceGraph {
    /// The control flow of an entry.
    pub(super) fn new(tree: &Tree, entry: usize) -> Result<SourceGraph, Wrong> {
        let mut graph = SourceGraph::default();
        let at = tree.functions[entry].at.clone();
        graph.block(at);
        let frame = graph.frame(tree, entry, None);
        let first = graph.expand(tree, frame, None)?;
        graph.blocks[0].end = End::Jump(first);
        Ok(graph)
    }

    /// The function of a frame.
    pub(super) fn function<'t>(&self, tree: &'t Tree, frame: usize) -> &'t Function {
        &tree.functions[self.frames[frame].function]
    }

    /// A statement of a frame.
    pub(super) fn statement<'t>(&self, tree: &'t Tree, frame: usize, number: usize) -> &'t Statement {
        let body = self.function(tree, frame).body.as_ref().expect("a frame is of a function with a body");
        &body.statements[number]
    }

    /// The blocks in which a block may go on.
    pub(super) fn targets(&self, block: usize) -> Vec<usize> {
        match &self.blocks[block].end {
            End::Jump(to) => vec![*to],
            End::Branch(_, _, _, targets) => targets.to_vec(),
            End::Table(_, _, targets) => targets.clone(),
            End::Exit | End::Trap => Vec::new(),
        }
    }

    /// The blocks that the first one reaches, in reverse post-order.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::new();
        let mut work = vec![(0, self.targets(0))];
        seen[0] = true;
        while let Some((block, left)) = work.last_mut() {
            match left.pop() {
                Some(next) if !seen[next] => {
                    seen[next] = true;
                    work.push((next, self.targets(next)));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    work.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Where a reader looks for a statement: that of a function of the device library is the call.
    pub(super) fn shown(&self, tree: &Tree, frame: usize, at: &Span) -> Span {
        let (mut frame, mut at) = (frame, at.clone());
        while self.function(tree, frame).is_library
            && let Some((caller, number)) = self.frames[frame].caller
        {
            at = self.statement(tree, caller, number).at.clone();
            frame = caller;
        }
        at
    }

    fn block(&mut self, at: Span) -> usize {
        self.blocks.push(SourceBlock { items: Vec::new(), end: End::Exit, at });
        self.blocks.len() - 1
    }

    fn frame(&mut self, tree: &Tree, function: usize, caller: Option<(usize, usize)>) -> usize {
        let first = self.variables.len() as u32;
        let of = &tree.functions[function];
        self.variables.extend(of.registers.iter().map(|(_, ty)| *ty));
        let mut words = HashMap::new();
        let parameters = of.variables.iter().enumerate().filter(|(_, one)| one.space == StateSpace::Param);
        for (number, variable) in parameters {
            words.insert(number, self.variables.len() as u32);
            let count = variable.size().div_ceil(4) as usize;
            self.variables.extend(std::iter::repeat_n(PtxType::B32, count));
        }
        let carry = self.variables.len() as u32;
        self.variables.push(PtxType::B32);
        self.frames.push(Frame { function, first, words, carry, caller });
        self.frames.len() - 1
    }

    /// Adds the blocks of a frame. It goes on in the block `after` where it returns; an entry ends there.
    fn expand(&mut self, tree: &Tree, frame: usize, after: Option<usize>) -> Result<usize, Wrong> {
        let function = self.function(tree, frame);
        if let Some(wrong) = &function.wrong {
            return Err(wrong.clone());
        }
        let Some(body) = &function.body else {
            return Err(Wrong::new(function.at.clone(), format!("`{}` has no body", function.name)));
        };
        self.items += body.statements.len();
        if self.items > MOST_ITEMS {
            let message = format!("an entry has at most {MOST_ITEMS} instructions with those that it calls");
            return Err(Wrong::new(function.at.clone(), message));
        }
        // A statement begins a block if a label is in front of it, or a block ends before it.
        let mut begins = vec![false; body.statements.len() + 1];
        begins[0] = true;
        for &at in &body.labels {
            begins[at] = true;
        }
        for (number, statement) in body.statements.iter().enumerate() {
            begins[number + 1] |= ends_block(statement);
        }
        let mut block_of = vec![usize::MAX; body.statements.len() + 1];
        for number in (0..=body.statements.len()).filter(|&number| begins[number]) {
            let at = body.statements.get(number).map_or(function.at.clone(), |one| one.at.clone());
            block_of[number] = self.block(self.shown(tree, frame, &at));
        }
        // Past the end of the statements a function returns.
        let last = body.statements.len();
        if block_of[last] == usize::MAX {
            block_of[last] = self.block(self.shown(tree, frame, &function.at));
        }
        let finish = after.map_or(End::Exit, End::Jump);
        self.blocks[block_of[last]].end = finish.clone();
        let mut current = block_of[0];
        for (number, statement) in body.statements.iter().enumerate() {
            if begins[number] {
                current = block_of[number];
            }
            let next =
                if begins[number + 1] || number + 1 == last { Some(block_of[number + 1]) } else { None };
            self.blocks[current].at = self.shown(tree, frame, &statement.at);
            if !ends_block(statement) {
                self.blocks[current].items.push(Item::Statement(frame, number));
                if let Some(next) = next {
                    self.blocks[current].end = End::Jump(next);
                }
                continue;
            }
            let next = next.expect("a block begins after one that ends");
            let end = match statement.row.meaning {
                Meaning::Branch => match statement.operands[0].kind {
                    OperandKind::Label(label) => End::Jump(block_of[body.labels[label]]),
                    _ => return Err(Wrong::new(statement.at.clone(), "`bra` takes a label")),
                },
                Meaning::BranchTable => match statement.operands[1].kind {
                    OperandKind::Table(table) => {
                        let label = |&label: &usize| block_of[body.labels[label]];
                        let targets: Vec<usize> = body.tables[table].iter().map(label).collect();
                        if targets.is_empty() {
                            return Err(Wrong::new(statement.at.clone(), "this table has no label"));
                        }
                        End::Table(frame, number, targets)
                    }
                    _ => return Err(Wrong::new(statement.at.clone(), "`brx.idx` takes a table of labels")),
                },
                Meaning::Return => finish.clone(),
                Meaning::Exit => End::Exit,
                Meaning::Trap => End::Trap,
                _ => End::Jump(self.call(tree, frame, number, next)?),
            };
            self.blocks[current].end = match (statement.guard, end) {
                (None, end) => end,
                (Some((guard, is_negated)), end) => {
                    let target = match end {
                        End::Jump(to) => to,
                        end => {
                            let side = self.block(self.shown(tree, frame, &statement.at));
                            self.blocks[side].end = end;
                            side
                        }
                    };
                    End::Branch(frame, guard, is_negated, [target, next])
                }
            };
        }
        Ok(block_of[0])
    }

    /// The block of a call: the function that it names, in its place.
    fn call(&mut self, tree: &Tree, frame: usize, number: usize, next: usize) -> Result<usize, Wrong> {
        let statement = self.statement(tree, frame, number);
        let callee = callee(tree, statement)?;
        let mut depth = 0;
        let mut up = Some(frame);
        while let Some(other) = up {
            depth += 1;
            if self.frames[other].function == callee || depth > DEEPEST {
                let message =
                    format!("`{}` calls itself, directly or through others", tree.functions[callee].name);
                return Err(Wrong::new(statement.at.clone(), message)
                    .hint("write it as a loop: functions are put in the place of their calls"));
            }
            up = self.frames[other].caller.map(|(caller, _)| caller);
        }
        let of_callee = self.frame(tree, callee, Some((frame, number)));
        let at = self.shown(tree, frame, &statement.at);
        let [enter, leave] = [self.block(at.clone()), self.block(at)];
        self.blocks[enter].items.push(Item::Enter(of_callee));
        self.blocks[leave].items.push(Item::Leave(of_callee));
        self.blocks[leave].end = End::Jump(next);
        let first = self.expand(tree, of_callee, Some(leave))?;
        self.blocks[enter].end = End::Jump(first);
        Ok(enter)
    }
}

/// True if a block ends after a statement.
fn ends_block(statement: &Statement) -> bool {
    use Meaning::{Branch, BranchTable, Call, Exit, Return, Trap};
    matches!(statement.row.meaning, Branch | BranchTable | Call | Exit | Return | Trap)
}

/// The results, the name and the arguments of a call.
pub(super) fn parts_of_call(
    statement: &Statement,
) -> (&[super::tree::Operand], Option<&super::tree::Operand>, &[super::tree::Operand]) {
    let mut rest = statement.operands.as_slice();
    let mut results: &[super::tree::Operand] = &[];
    if let [first, others @ ..] = rest
        && let OperandKind::List(all) = &first.kind
    {
        (results, rest) = (all, others);
    }
    let Some((name, rest)) = rest.split_first() else { return (results, None, &[]) };
    match rest.first().map(|one| &one.kind) {
        Some(OperandKind::List(all)) => (results, Some(name), all),
        _ => (results, Some(name), &[]),
    }
}

/// The function that a call names.
fn callee(tree: &Tree, statement: &Statement) -> Result<usize, Wrong> {
    let (_, name, _) = parts_of_call(statement);
    let Some(name) = name else {
        return Err(Wrong::new(statement.at.clone(), "`call` takes the name of a function"));
    };
    let OperandKind::Name(text) = &name.kind else {
        return Err(Wrong::new(name.at.clone(), "calls through addresses are not taken")
            .hint("call a function by its name, or branch on a number"));
    };
    let position = |text: &str| tree.functions.iter().position(|function| function.name == *text);
    let found = position(text);
    let is_defined = |found: &usize| tree.functions[*found].body.is_some();
    let of_library = || library::named(text).and_then(position).filter(is_defined);
    match found.filter(is_defined).or_else(of_library).or(found) {
        Some(found) if tree.functions[found].body.is_some() => Ok(found),
        found => {
            let wrong = match found {
                Some(_) => format!("`{text}` is declared and nothing defines it"),
                None => format!("there is no function `{text}`"),
            };
            let hint = match text.as_str() {
                "malloc" | "free" => "memory is not allocated in kernels: give the kernel a buffer",
                _ if text.starts_with("__nv_") => {
                    "the device library of wave-sim lacks this function: link NVIDIA's libdevice into the module"
                }
                _ if text.starts_with("cudaLaunch") || text.starts_with("cudaGetParameterBuffer") => {
                    "launch the kernel from the host: a launch file may have several steps"
                }
                _ => "link the module that defines it, before it is run",
            };
            Err(Wrong::new(name.at.clone(), wrong).hint(hint))
        }
    }
}
