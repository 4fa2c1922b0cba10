//! How many cells are on the stack at each instruction, and how many a function takes and gives.
//!
//! Neither is stored. Heights are counted from what is there when the function begins, so that its parameters lie below
//! 0. At a return that drops `d` and keeps `k` cells at height `h` nothing is left but results, so the function has
//! `d + k - h` parameters and `k` results. What stands behind a call waits until such a return of the callee is found.
//! A function of which none is found does not return: to return it would have to call one of which one is found.
//!
//! Functions that check the same signature are of one *class*, as are calls through it: what one of them says of its
//! parameters and results holds for all.

use super::code::{Code, MOST_CELLS};
use super::opcode::{Opcode, invalid};
use crate::encoding::Error;
use crate::wasm::operators::Simple;
use std::collections::HashMap;

/// Parameters and results, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arity {
    pub(super) parameters: u32,
    pub(super) results: u32,
}

/// What is known of all functions.
#[derive(Debug)]
pub(super) struct Shapes {
    /// Height before each instruction that is reached, for each function.
    pub(super) heights: Vec<Vec<Option<i32>>>,
    /// The class of each function.
    classes: Vec<usize>,
    /// The class of each signature that a function checks.
    signatures: HashMap<u32, usize>,
    /// Of each class, if its functions return.
    arities: Vec<Option<Arity>>,
    /// Cells below its beginning that the functions of a class use.
    used: Vec<u32>,
}

impl Shapes {
    /// Parameters and results of a function, and whether it returns. One that does not has the parameters that it uses.
    pub(super) fn of_function(&self, number: usize) -> (Arity, bool) {
        self.of_class(self.classes[number])
    }

    /// The same of a function that is called through a signature; `None` if no function has it.
    pub(super) fn of_signature(&self, signature: u32) -> Option<(Arity, bool)> {
        self.signatures.get(&signature).map(|&class| self.of_class(class))
    }

    fn of_class(&self, class: usize) -> (Arity, bool) {
        match self.arities[class] {
            Some(arity) => (arity, true),
            None => (Arity { parameters: self.used[class], results: 0 }, false),
        }
    }
}

/// An instruction of a function, and the height before it.
#[derive(Debug, Clone, Copy)]
struct Visit {
    function: usize,
    at: usize,
    height: i64,
}

struct Analysis<'a> {
    functions: &'a [Code<'a>],
    is_alone: bool,
    shapes: Shapes,
    work: Vec<Visit>,
    /// Calls of functions of a class of which no return is found yet, and the heights of their arguments.
    waiting: Vec<Vec<(Visit, i64)>>,
    /// Those that wait no longer, with the class.
    ready: Vec<(Visit, usize, i64)>,
    /// The deepest use of each function: cells below its beginning, and the instruction.
    deepest: Vec<(i64, usize)>,
}

/// Finds heights, parameters and results. The last function is the entry point, which has no parameters, and gives what
/// it leaves only if it is alone.
pub(super) fn analyse(functions: &[Code<'_>], is_alone: bool) -> Result<Shapes, Error> {
    let mut signatures = HashMap::new();
    let mut count = 0;
    let mut new_class = || {
        count += 1;
        count - 1
    };
    let entry = functions.len() - 1;
    let classes: Vec<usize> = functions
        .iter()
        .map(|code| match code.check {
            Some((signature, _)) if code.number != entry => {
                *signatures.entry(signature).or_insert_with(&mut new_class)
            }
            _ => new_class(),
        })
        .collect();
    let mut analysis = Analysis {
        functions,
        is_alone,
        shapes: Shapes {
            heights: functions.iter().map(|code| vec![None; code.words.len()]).collect(),
            classes,
            signatures,
            arities: vec![None; count],
            used: vec![0; count],
        },
        work: Vec::new(),
        waiting: vec![Vec::new(); count],
        ready: Vec::new(),
        deepest: vec![(0, 0); functions.len()],
    };
    for function in 0..functions.len() {
        analysis.go(Visit { function, at: 0, height: 0 })?;
    }
    analysis.run()?;
    analysis.uses()?;
    Ok(analysis.shapes)
}

impl Analysis<'_> {
    fn error(&self, visit: Visit, message: String) -> Error {
        let code = &self.functions[visit.function];
        let offset = code.words.get(visit.at).or(code.words.last()).map_or(0, |word| word.offset);
        code.located(invalid(message, offset))
    }

    fn run(&mut self) -> Result<(), Error> {
        loop {
            if let Some(visit) = self.work.pop() {
                self.step(visit)?;
            } else if let Some((visit, class, height)) = self.ready.pop() {
                self.call(visit, class, height)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Goes on at an instruction.
    fn go(&mut self, visit: Visit) -> Result<(), Error> {
        let Visit { function, at, height } = visit;
        let Some(known) = self.shapes.heights[function].get_mut(at) else {
            let before = Visit { at: at.saturating_sub(1), ..visit };
            return Err(
                self.error(before, "control runs past the last instruction of the function".to_owned())
            );
        };
        match *known {
            Some(known) if i64::from(known) == height => return Ok(()),
            Some(known) => {
                let message = format!("instruction {at} is reached with {height} cells and with {known}");
                return Err(self.error(visit, message));
            }
            None => *known = Some(height as i32),
        }
        if height > MOST_CELLS.into() {
            return Err(self.error(visit, format!("more than {MOST_CELLS} cells on the stack")));
        }
        self.work.push(visit);
        Ok(())
    }

    /// Notes that an instruction uses a cell at this height.
    fn uses_cell(&mut self, visit: Visit, height: i64) -> Result<(), Error> {
        let deepest = &mut self.deepest[visit.function];
        if -height > deepest.0 {
            *deepest = (-height, visit.at);
        }
        if -height > MOST_CELLS.into() {
            let message = format!("a cell {} below the beginning of the function", -height);
            return Err(self.error(visit, message));
        }
        Ok(())
    }

    /// Takes cells from the stack; the height behind.
    fn pop(&mut self, visit: Visit, count: u32) -> Result<i64, Error> {
        let height = visit.height - i64::from(count);
        self.uses_cell(visit, height)?;
        Ok(height)
    }

    /// Keeps cells on top, and removes some under them; the height behind.
    fn adjust(&mut self, visit: Visit, height: i64, (drop, keep): (u32, u32)) -> Result<i64, Error> {
        self.uses_cell(visit, height - i64::from(keep) - i64::from(drop))?;
        Ok(height - i64::from(drop))
    }

    /// Looks at an instruction, and goes on behind it.
    fn step(&mut self, visit: Visit) -> Result<(), Error> {
        let Visit { function, at, height } = visit;
        let functions = self.functions;
        let code = &functions[function];
        let word = &code.words[at];
        let depth = i64::from(word.word());
        let to = |at: usize, height: i64| Visit { function, at, height };
        let next = code.next(at);
        match word.opcode {
            // A call of a host function traps.
            Opcode::Unreachable | Opcode::Call | Opcode::ReturnCall => Ok(()),
            Opcode::LocalGet | Opcode::LocalTee => {
                self.uses_cell(visit, height - depth)?;
                self.go(to(next, height + i64::from(word.opcode == Opcode::LocalGet)))
            }
            Opcode::LocalSet => {
                let height = self.pop(visit, 1)?;
                self.uses_cell(visit, height - depth)?;
                self.go(to(next, height))
            }
            Opcode::Br => self.go(to(code.target(at), height)),
            Opcode::BrIfEqz | Opcode::BrIfNez => {
                let height = self.pop(visit, 1)?;
                self.go(to(code.target(at), height))?;
                self.go(to(next, height))
            }
            Opcode::BrAdjust => {
                let height = self.adjust(visit, height, code.words[at + 1].drop_keep())?;
                self.go(to(code.target(at), height))
            }
            Opcode::BrAdjustIfNez => {
                let height = self.pop(visit, 1)?;
                let adjusted = self.adjust(visit, height, code.words[at + 1].drop_keep())?;
                self.go(to(code.target(at), adjusted))?;
                self.go(to(next, height))
            }
            Opcode::BrTable => {
                let height = self.pop(visit, 1)?;
                code.table(at).try_for_each(|entry| self.go(to(entry, height)))
            }
            Opcode::Return => self.leave(visit, height, word.drop_keep()),
            Opcode::ReturnIfNez => {
                let height = self.pop(visit, 1)?;
                self.leave(visit, height, word.drop_keep())?;
                self.go(to(next, height))
            }
            Opcode::CallInternal | Opcode::ReturnCallInternal => {
                let height = self.arguments(visit, height)?;
                self.call(visit, self.shapes.classes[word.word() as usize], height)
            }
            Opcode::CallIndirect | Opcode::ReturnCallIndirect => {
                let height = self.pop(visit, 1)?;
                let height = self.arguments(visit, height)?;
                match self.shapes.signatures.get(&word.word()) {
                    Some(&class) => self.call(visit, class, height),
                    // No function has the signature, so the call traps.
                    None => Ok(()),
                }
            }
            opcode => {
                let (pops, pushes) = effect(opcode, || word.simple());
                let height = self.pop(visit, pops)?;
                self.go(to(next, height + i64::from(pushes)))
            }
        }
    }

    /// The height of the arguments of a call: a tail call removes what is under them.
    fn arguments(&mut self, visit: Visit, height: i64) -> Result<i64, Error> {
        let words = self.functions[visit.function].words;
        match words[visit.at].opcode {
            Opcode::CallInternal | Opcode::CallIndirect => Ok(height),
            _ => self.adjust(visit, height, words[visit.at + 1].drop_keep()),
        }
    }

    /// Looks at a call, with the arguments on top at this height. A tail call returns what its callee does.
    fn call(&mut self, visit: Visit, class: usize, height: i64) -> Result<(), Error> {
        let Some(Arity { parameters, results }) = self.shapes.arities[class] else {
            self.waiting[class].push((visit, height));
            return Ok(());
        };
        let height = height - i64::from(parameters);
        self.uses_cell(visit, height)?;
        let code = &self.functions[visit.function];
        let behind = height + i64::from(results);
        if matches!(code.words[visit.at].opcode, Opcode::ReturnCallInternal | Opcode::ReturnCallIndirect) {
            return self.leave(visit, behind, (0, results));
        }
        self.go(Visit { at: code.next(visit.at), height: behind, ..visit })
    }

    /// Looks at a return at this height.
    fn leave(&mut self, visit: Visit, height: i64, (drop, keep): (u32, u32)) -> Result<(), Error> {
        let height = self.adjust(visit, height, (drop, keep))?;
        let is_entry = visit.function == self.functions.len() - 1;
        let left = if self.is_alone { height } else { 0 };
        let (parameters, results) =
            if is_entry { (0, left) } else { (i64::from(keep) - height, keep.into()) };
        if parameters < 0 {
            let message =
                format!("the function returns with {} cells that are none of its results", -parameters);
            return Err(self.error(visit, message));
        }
        if parameters.max(results) > MOST_CELLS.into() {
            return Err(self.error(visit, format!("more than {MOST_CELLS} parameters or results")));
        }
        let arity = Arity { parameters: parameters as u32, results: results as u32 };
        let class = self.shapes.classes[visit.function];
        match self.shapes.arities[class] {
            None => {
                self.shapes.arities[class] = Some(arity);
                let waiting = std::mem::take(&mut self.waiting[class]).into_iter();
                self.ready.extend(waiting.map(|(visit, height)| (visit, class, height)));
                Ok(())
            }
            Some(known) if known == arity => Ok(()),
            Some(known) => {
                let message = format!(
                    "the function takes {parameters} cells and returns {results} here, but {} and {} elsewhere, \
                     or in a function with the same signature",
                    known.parameters, known.results
                );
                Err(self.error(visit, message))
            }
        }
    }

    /// Finds what the functions use that do not return, and holds the others against their parameters.
    fn uses(&mut self) -> Result<(), Error> {
        let mut classes: Vec<usize> = Vec::new();
        for (number, &(depth, at)) in self.deepest.iter().enumerate() {
            let class = self.shapes.classes[number];
            match self.shapes.arities[class] {
                Some(arity) if depth > arity.parameters.into() => {
                    let message = format!("a cell below the {} parameters of the function", arity.parameters);
                    return Err(self.error(Visit { function: number, at, height: 0 }, message));
                }
                Some(_) => {}
                None => {
                    let used = &mut self.shapes.used[class];
                    *used = (*used).max(depth as u32);
                    classes.push(class);
                }
            }
        }
        // A call that does not return hands on what its callee uses.
        while let Some(class) = classes.pop() {
            let used = i64::from(self.shapes.used[class]);
            for (visit, height) in self.waiting[class].clone() {
                let depth = used - height;
                let own = self.shapes.classes[visit.function];
                let has = match self.shapes.arities[own] {
                    Some(arity) => arity.parameters,
                    None => MOST_CELLS,
                };
                if depth > has.into() {
                    let message = "the call takes cells below those of the function".to_owned();
                    return Err(self.error(visit, message));
                }
                if self.shapes.arities[own].is_none() && depth > self.shapes.used[own].into() {
                    self.shapes.used[own] = depth as u32;
                    classes.push(own);
                }
            }
        }
        let entry = self.functions.len() - 1;
        if self.shapes.used[self.shapes.classes[entry]] > 0 {
            let message =
                "the entry point uses cells below its beginning, and it has no parameters".to_owned();
            return Err(self.error(Visit { function: entry, at: self.deepest[entry].1, height: 0 }, message));
        }
        Ok(())
    }
}

/// Cells that an instruction pops and pushes which goes on behind it.
fn effect(opcode: Opcode, simple: impl FnOnce() -> Option<Simple>) -> (u32, u32) {
    match opcode {
        Opcode::ConsumeFuel | Opcode::SignatureCheck | Opcode::DataDrop | Opcode::ElemDrop => (0, 0),
        Opcode::GlobalGet | Opcode::MemorySize | Opcode::TableSize => (0, 1),
        _ if (Opcode::RefFunc..=Opcode::F64Const).contains(&opcode) => (0, 1),
        Opcode::Drop | Opcode::GlobalSet => (1, 0),
        Opcode::MemoryGrow | Opcode::TableGet => (1, 1),
        Opcode::TableGrow => (2, 1),
        Opcode::TableSet => (2, 0),
        Opcode::Select => (3, 1),
        _ if (Opcode::MemorySize..=Opcode::RefFunc).contains(&opcode) => (3, 0),
        _ => match simple() {
            Some(Simple::Unary(_) | Simple::Convert(_) | Simple::IsZero | Simple::Load(..)) => (1, 1),
            Some(Simple::Binary(_) | Simple::Compare(_)) => (2, 1),
            Some(Simple::Store(..)) => (2, 0),
            _ => unreachable!("jumps and calls are looked at before"),
        },
    }
}
