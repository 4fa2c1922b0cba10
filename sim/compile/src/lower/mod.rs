//! From a module to functions that the back end can select instructions for.
//!
//! Each pass is a file. Together they leave functions without global variables, `i64`, switches, trapping operations and
//! loops with two entries, and few calls between them; what cannot be brought there is refused by name.

mod bulk;
mod calls;
mod checks;
mod convert64;
mod divide;
mod doubles;
mod edit;
mod exits;
mod globals;
mod indirect;
mod inline;
pub mod instance;
mod irreducible;
mod library;
mod merge;
pub mod private;
mod record;
mod recursion;
mod residue;
mod runtime;
mod simplify;
mod switches;
#[cfg(test)]
mod tests;
mod unroll;
mod unused;
mod wide;

pub use inline::Inline;
pub use record::Traps;
pub(crate) use runtime::reached;
pub(crate) use simplify::opposite;
pub use unroll::Unroll;

use crate::error::{CompileError, Reason};
use crate::ir::dominance::Dominance;
use crate::ir::{
    Block, Constant, DataId, Function, FunctionId, GlobalId, Module, Operation, Place, Signature,
};
use crate::structure::Graph;
use std::borrow::Cow;

/// What the passes need to know.
#[derive(Debug, Clone, Default)]
pub struct LowerOptions {
    /// Values of global variables at the start of a thread, in place of those of the module. A stack pointer is one.
    pub globals: Vec<(GlobalId, Constant)>,
    /// Where traps are recorded, if they are not faults.
    pub traps: Option<Traps>,
    /// What a thread has of its own in device memory, beside the values that find no register.
    pub private: Option<private::Plan>,
    /// The machine has f64 instructions.
    pub f64_instructions: bool,
    /// Which calls are inlined.
    pub inline: Inline,
    /// Where data segments lie in device memory that are not copied at the start.
    pub data: Vec<(DataId, u32)>,
    /// Which loops are unrolled.
    pub unroll: Unroll,
}

/// A module in the form that the back end takes.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The module. Of its functions those in `order` are lowered; the others only trap.
    pub module: Module,
    /// The functions that a thread may reach, each behind those that it calls. The last is the one that it runs; it is
    /// not called, and the others have one return.
    pub order: Vec<FunctionId>,
}

impl Lowered {
    /// The function that a thread runs.
    pub fn entry(&self) -> &Function {
        &self.module.functions[*self.order.last().expect("a thread runs a function")]
    }
}

/// The module without indirect calls and without recursion in the functions that the entry reaches, and the entry, which
/// may be another one. Frames of recursion are in private memories of so many bytes.
///
/// # Errors
/// Indirect calls through a table that changes.
pub fn without_cycles(
    module: &Module,
    entry: FunctionId,
    frame_bytes: u32,
) -> Result<(Cow<'_, Module>, FunctionId), CompileError> {
    let reached = runtime::reached(module, entry);
    let blocks = reached.iter().flat_map(|&id| module.functions[id].blocks.values());
    let mut instructions = blocks.flat_map(|body| &body.instructions);
    let indirect = instructions.any(|one| matches!(one.operation, Operation::CallIndirect(..)));
    if !indirect && calls::bottom_up(module, entry).is_ok() {
        return Ok((Cow::Borrowed(module), entry));
    }
    let mut module = calls::copy_of(module, &reached);
    indirect::expand(&mut module, &reached)?;
    let entry = recursion::to_loops(&mut module, entry, frame_bytes);
    Ok((Cow::Owned(module), entry))
}

/// The functions that a thread runs, in the form that the back end takes.
///
/// # Errors
/// What this back end refuses.
pub fn lower(module: &Module, entry: FunctionId, options: &LowerOptions) -> Result<Lowered, CompileError> {
    let module = calls::copy_of(module, &calls::bottom_up(module, entry)?);
    let mut module = runtime::with_library(&module, entry, options)?.into_owned();
    let mut order = calls::bottom_up(&module, entry)?;
    // The passes treat the entry as a function that nobody calls.
    debug_assert!(
        order.iter().all(|&id| calls::callees(&module.functions[id]).all(|(callee, _)| callee != entry))
    );
    if let Some(plan) = &options.private {
        private::begin(&mut module.functions[entry], plan);
    }
    let initial: Vec<_> =
        options.globals.iter().map(|&(id, value)| (id, runtime::as_integer(value))).collect();
    globals::to_values(&mut module, &order, &initial);
    for &id in &order {
        let function = &mut module.functions[id];
        unused::drop_unreached(function);
        clean(function);
        checks::explicit(function, |_| true);
        divide::expand(function);
        convert64::expand(function);
        simplify::simplify(function);
        if let Some(traps) = options.traps {
            record::record(function, traps);
        }
    }
    inline::inline_calls(&mut module, &mut order, options.inline)?;
    exits::to_results(&mut module, &order);
    for &id in &order {
        let function = &mut module.functions[id];
        let mut function =
            std::mem::replace(function, Function::new(None, Signature::default(), function.at));
        let changed = to_words(&module, &mut function, id == entry, options);
        module.functions[id] = function;
        changed.map_err(|(place, reason)| CompileError::new(&module, id, place, reason))?;
    }
    Ok(Lowered { module, order })
}

/// Brings one function to values of a word and reducible control flow.
fn to_words(
    module: &Module,
    function: &mut Function,
    is_entry: bool,
    options: &LowerOptions,
) -> Result<(), (Place, Reason)> {
    clean(function);
    if unroll::unroll(module, function, options.unroll) {
        clean(function);
    }
    if let Some(plan) = &options.private {
        private::lower(module, function, plan);
        simplify::simplify(function);
    }
    wide::split(module, function)?;
    if !is_entry {
        calls::one_return(function);
    }
    switches::to_branches(function);
    unused::drop_unreached(function);
    irreducible::make_reducible(function);
    clean(function);
    if function.values.len() > MOST_VALUES {
        return Err((function.at, Reason::TooLarge(function.values.len())));
    }
    Ok(())
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
