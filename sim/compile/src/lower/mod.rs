//! From a module to one function that the back end can select instructions for.
//!
//! Each pass is a file. Together they leave a function without calls, global variables, `i64`, switches, trapping
//! operations and loops with two entries; what cannot be brought there is refused by name.

mod checks;
mod convert64;
mod divide;
mod doubles;
mod edit;
mod globals;
mod inline;
mod irreducible;
mod library;
mod merge;
pub mod private;
mod residue;
mod runtime;
mod simplify;
mod switches;
#[cfg(test)]
mod tests;
mod unused;
mod wide;

pub(crate) use simplify::opposite;

use crate::error::{CompileError, Reason};
use crate::ir::dominance::Dominance;
use crate::ir::{Block, Constant, Function, FunctionId, GlobalId, Module};
use crate::structure::Graph;

/// What the passes need to know.
#[derive(Debug, Clone, Default)]
pub struct LowerOptions {
    /// Values of global variables at the start of a thread, in place of those of the module. A stack pointer is one.
    pub globals: Vec<(GlobalId, Constant)>,
    /// What a thread has of its own in device memory. The function gets the hidden argument then.
    pub private: Option<private::Plan>,
    /// The machine has f64 instructions.
    pub f64_instructions: bool,
}

/// The function that a thread runs, in the form that the back end takes.
///
/// # Errors
/// What this back end refuses.
pub fn lower(module: &Module, entry: FunctionId, options: &LowerOptions) -> Result<Function, CompileError> {
    let wrong = |reason: Reason| CompileError::new(module, entry, Default::default(), reason);
    let module = &*runtime::with_library(module, entry, options);
    let mut function = inline::inline_all(module, entry)?;
    unused::drop_unreached(&mut function);
    if let Some(plan) = &options.private {
        private::begin(&mut function, plan);
    }
    let initial: Vec<_> =
        options.globals.iter().map(|&(id, value)| (id, runtime::as_integer(value))).collect();
    globals::to_values(module, &mut function, &initial);
    clean(&mut function);
    checks::explicit(&mut function, |_| true);
    divide::expand(&mut function);
    convert64::expand(&mut function);
    simplify::simplify(&mut function);
    if let Some(plan) = &options.private {
        private::lower(module, &mut function, plan);
        simplify::simplify(&mut function);
    }
    wide::split(module, &mut function)
        .map_err(|(place, reason)| CompileError::new(module, entry, place, reason))?;
    switches::to_branches(&mut function);
    unused::drop_unreached(&mut function);
    irreducible::make_reducible(&mut function);
    clean(&mut function);
    if function.values.len() > MOST_VALUES {
        return Err(wrong(Reason::TooLarge(function.values.len())));
    }
    Ok(function)
}

/// Most values of a function after the passes: a bound on the time of the back end.
const MOST_VALUES: usize = 1 << 20;

/// Simplifies until little is left to do.
fn clean(function: &mut Function) {
    for _ in 0..4 {
        simplify::simplify(function);
        let merged = merge::merge(function);
        unused::drop_unused(function);
        if !merged {
            break;
        }
    }
}

/// The blocks that the entry reaches, each before those that it dominates.
fn order(function: &Function) -> Vec<Block> {
    Graph::new(function).order
}

/// The dominator tree.
fn dominance(function: &Function) -> Dominance {
    Dominance::new(function)
}
