//! What may come after what: a graph over pairs of a word and what is active there.
//!
//! A shader has no blocks of its own. `call`, `if` and `for` make a region of words *active*; when the end of the one
//! that was made active last is reached, it ends, and the machine goes on elsewhere. So the same word may be followed by
//! different ones, and a node is a word together with the stack of what is active.

use super::instruction::{Instruction, Region, Test};
use crate::encoding::{Error, Fault};
use std::collections::HashMap;

/// Most regions active at once.
const MOST_ACTIVE: u32 = 32;
/// Most nodes.
const MOST_NODES: usize = 1 << 14;

/// What a node does. The numbers of words are those of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Computes, or does nothing; then the only next node.
    Compute(u16),
    /// Goes to the first next node if the test holds, else to the second.
    Choose(u16, Test),
    /// Begins a loop inside so many others, with an integer uniform.
    Begin(u16, u32, u8),
    /// The end of the body of a loop: again, or the second next node.
    Again(u16, u32),
    /// Puts back the `aL` of before a loop inside so many others.
    Leave(u16, u32),
    /// The end of the shader.
    Finish,
}

/// A node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) action: Action,
    pub(super) next: Vec<usize>,
}

/// What is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Active {
    /// The part of an `if` before its region: goes to the word behind the region at its end.
    If { start: u16, end: u16, to: u16 },
    /// A procedure: goes back.
    Call { start: u16, end: u16, back: u16 },
    /// A loop.
    Loop { start: u16, end: u16 },
}

/// A stack of what is active: its top, and what is below.
#[derive(Debug, Clone, Copy)]
struct Stack {
    top: Active,
    below: usize,
    /// How many there are, and how many of them are loops.
    height: u32,
    loops: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    At { stack: usize, word: u16 },
    Leave { from: u16, stack: usize, word: u16, depth: u32 },
    Finish,
}

struct Builder<'a> {
    code: &'a [Instruction],
    /// Values of boolean uniforms that are known.
    booleans: [Option<bool>; 16],
    /// The first is empty, and stands for itself.
    stacks: Vec<Stack>,
    stack_numbers: HashMap<(usize, Active), usize>,
    nodes: Vec<Node>,
    numbers: HashMap<Key, usize>,
    work: Vec<(usize, Key)>,
    /// The instruction that is looked at.
    at: u16,
}

/// The nodes that the entry reaches; it is the first.
pub(super) fn build(
    code: &[Instruction],
    entry: u16,
    booleans: [Option<bool>; 16],
    offset: impl Fn(u16) -> u64,
) -> Result<Vec<Node>, Error> {
    let empty = Stack { top: Active::Loop { start: 0, end: 0 }, below: 0, height: 0, loops: 0 };
    let mut builder = Builder {
        code,
        booleans,
        stacks: vec![empty],
        stack_numbers: HashMap::new(),
        nodes: Vec::new(),
        numbers: HashMap::new(),
        work: Vec::new(),
        at: entry,
    };
    builder.arrive(0, entry);
    while let Some((number, key)) = builder.work.pop() {
        let (action, next) = builder.visit(key).map_err(|error| error.at(offset(builder.at)))?;
        builder.nodes[number] = Node { action, next };
        if builder.nodes.len() > MOST_NODES {
            let message =
                format!("with its procedures called the shader has more than {MOST_NODES} instructions");
            return Err(Error::new(Fault::Refused, message).at(offset(builder.at)));
        }
    }
    Ok(builder.nodes)
}

impl Builder<'_> {
    /// The node of a key; a new one is visited later.
    fn node(&mut self, key: Key) -> usize {
        let next = self.nodes.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.nodes.push(Node { action: Action::Finish, next: Vec::new() });
            self.work.push((number, key));
        }
        number
    }

    /// The node that a word is reached at. What ends there has ended, but for loops.
    fn arrive(&mut self, mut stack: usize, mut word: u16) -> usize {
        while stack != 0 {
            let Stack { top, below, .. } = self.stacks[stack];
            match top {
                Active::If { end, to, .. } if end == word => word = to,
                Active::Call { end, back, .. } if end == word => word = back,
                _ => break,
            }
            stack = below;
        }
        self.node(Key::At { stack, word })
    }

    /// The node that a word is reached at when loops have ended; the outermost of them is inside `depth` others.
    fn leave(&mut self, stack: usize, word: u16, depth: Option<u32>) -> usize {
        match depth {
            Some(depth) => self.node(Key::Leave { from: self.at, stack, word, depth }),
            None => self.arrive(stack, word),
        }
    }

    /// The stack with one more on top.
    fn push(&mut self, below: usize, top: Active) -> Result<usize, Error> {
        let Stack { height, loops, .. } = self.stacks[below];
        if height == MOST_ACTIVE {
            let message = format!("more than {MOST_ACTIVE} calls, ifs and loops are active here");
            return Err(Error::new(Fault::Refused, message)
                .hint("a jump that leaves a procedure does not end it, so such jumps pile up"));
        }
        let next = self.stacks.len();
        let number = *self.stack_numbers.entry((below, top)).or_insert(next);
        if number == next {
            let loops = loops + u32::from(matches!(top, Active::Loop { .. }));
            self.stacks.push(Stack { top, below, height: height + 1, loops });
        }
        Ok(number)
    }

    fn visit(&mut self, key: Key) -> Result<(Action, Vec<usize>), Error> {
        let (stack, word) = match key {
            Key::Finish => return Ok((Action::Finish, Vec::new())),
            Key::Leave { from, stack, word, depth } => {
                self.at = from;
                return Ok((Action::Leave(from, depth), vec![self.arrive(stack, word)]));
            }
            Key::At { stack, word } => (stack, word),
        };
        let Stack { top, below, loops, .. } = self.stacks[stack];
        if let Active::Loop { start, end } = top
            && stack != 0
            && end == word
        {
            // The instruction `for` stands before the body.
            self.at = start - 1;
            let depth = loops - 1;
            let next = vec![self.arrive(stack, start), self.leave(below, end, Some(depth))];
            return Ok((Action::Again(start - 1, depth), next));
        }
        let Some(instruction) = self.code.get(usize::from(word)) else {
            let message = format!("the shader goes on to word {word}, and has {}", self.code.len());
            return Err(Error::new(Fault::Invalid, message).hint("a shader ends with `end`"));
        };
        self.at = word;
        let after = word + 1;
        match *instruction {
            Instruction::Vector(_) | Instruction::Compare(..) | Instruction::Nop => {
                Ok((Action::Compute(word), vec![self.arrive(stack, after)]))
            }
            Instruction::End => Ok((Action::Compute(word), vec![self.node(Key::Finish)])),
            Instruction::Break(test) => self.choose(word, test, |builder, holds| match holds {
                true => builder.out_of_loop(stack),
                false => Ok(builder.arrive(stack, after)),
            }),
            Instruction::Call(test, region) => self.choose(word, test, |builder, holds| match holds {
                true => builder.call(stack, region, after),
                false => Ok(builder.arrive(stack, after)),
            }),
            Instruction::If(test, Region { start, count }) => {
                let top = Active::If { start: after, end: start, to: start + u16::from(count) };
                self.choose(word, Some(test), |builder, holds| {
                    let (stack, word) =
                        if holds { (builder.push(stack, top)?, after) } else { (stack, start) };
                    Ok(builder.arrive(stack, word))
                })
            }
            Instruction::Loop(uniform, last) => {
                let inside = self.push(stack, Active::Loop { start: after, end: last + 1 })?;
                Ok((Action::Begin(word, loops, uniform), vec![self.arrive(inside, after)]))
            }
            Instruction::Jump(test, target) => self.choose(word, Some(test), |builder, holds| match holds {
                true => Ok(builder.jump(stack, target)),
                false => Ok(builder.arrive(stack, after)),
            }),
        }
    }

    /// A choice between two nodes; one of them if the outcome is known.
    fn choose(
        &mut self,
        word: u16,
        test: Option<Test>,
        next: impl Fn(&mut Self, bool) -> Result<usize, Error>,
    ) -> Result<(Action, Vec<usize>), Error> {
        let known = match test {
            None => Some(true),
            Some(Test::Boolean(number, wanted)) => {
                self.booleans[usize::from(number)].map(|value| value == wanted)
            }
            Some(Test::Flags(..)) => None,
        };
        match (known, test) {
            (None, Some(test)) => {
                Ok((Action::Choose(word, test), vec![next(self, true)?, next(self, false)?]))
            }
            (known, _) => Ok((Action::Compute(word), vec![next(self, known != Some(false))?])),
        }
    }

    fn call(&mut self, stack: usize, region: Region, back: u16) -> Result<usize, Error> {
        let Region { start, count } = region;
        let mut at = stack;
        while at != 0 {
            if matches!(self.stacks[at].top, Active::Call { start: active, .. } if active == start) {
                let message = format!("the procedure at word {start} is called by itself");
                return Err(Error::new(Fault::Refused, message).hint("recursion is not taken"));
            }
            at = self.stacks[at].below;
        }
        let inside = self.push(stack, Active::Call { start, end: start + u16::from(count), back })?;
        Ok(self.arrive(inside, start))
    }

    /// Where `break` goes: behind the innermost loop of this procedure.
    fn out_of_loop(&mut self, stack: usize) -> Result<usize, Error> {
        let mut at = stack;
        while at != 0 {
            let Stack { top, below, loops, .. } = self.stacks[at];
            match top {
                Active::Loop { end, .. } => return Ok(self.leave(below, end, Some(loops - 1))),
                Active::If { .. } => at = below,
                Active::Call { .. } => break,
            }
        }
        Err(Error::new(Fault::Invalid, "a break stands in no loop of its procedure"))
    }

    /// Where a jump goes. The ifs and loops of this procedure end that it leaves.
    fn jump(&mut self, mut stack: usize, target: u16) -> usize {
        let mut depth = None;
        while stack != 0 {
            let Stack { top, below, loops, .. } = self.stacks[stack];
            match top {
                Active::If { start, end, .. } if !(start..=end).contains(&target) => {}
                Active::Loop { start, end } if !(start..=end).contains(&target) => depth = Some(loops - 1),
                _ => break,
            }
            stack = below;
        }
        self.leave(stack, target, depth)
    }
}
