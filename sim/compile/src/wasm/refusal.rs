//! Instructions that validation lets pass because encodings need their features, and that are not taken.

use super::Error;
use super::features::refused;
use wasmparser::Operator;

/// Refuses an instruction on references, or one that waits for another thread.
pub(super) fn check(operator: &Operator<'_>) -> Result<(), Error> {
    use Operator as O;
    let what = match operator {
        O::RefNull { .. } => "ref.null (reference types)",
        O::RefIsNull => "ref.is_null (reference types)",
        O::RefFunc { .. } => "ref.func (reference types)",
        O::TableGet { .. } => "table.get (reference types)",
        O::TableSet { .. } => "table.set (reference types)",
        O::TableGrow { .. } => "table.grow (reference types)",
        O::TableSize { .. } => "table.size (reference types)",
        O::TableFill { .. } => "table.fill (reference types)",
        O::MemoryAtomicNotify { .. } => "memory.atomic.notify (waiting threads)",
        O::MemoryAtomicWait32 { .. } => "memory.atomic.wait32 (waiting threads)",
        O::MemoryAtomicWait64 { .. } => "memory.atomic.wait64 (waiting threads)",
        _ => return Ok(()),
    };
    Err(refused(what))
}
