//! Instructions of the representation, with what PTX has to know of floats.

use crate::emit;
use crate::ir::{Function, Value};
use fnv::FnvHashSet;
use std::ops::{Deref, DerefMut};

/// A function that is being made.
pub(super) struct Emitter {
    base: emit::Emitter,
    /// Floats that are no subnormal numbers.
    pub(super) flushed: FnvHashSet<Value>,
}

impl Deref for Emitter {
    type Target = emit::Emitter;

    fn deref(&self) -> &emit::Emitter {
        &self.base
    }
}

impl DerefMut for Emitter {
    fn deref_mut(&mut self) -> &mut emit::Emitter {
        &mut self.base
    }
}

impl Emitter {
    /// The function that was made.
    pub(super) fn finish(self) -> Function {
        self.base.function
    }

    pub(super) fn new(function: Function) -> Emitter {
        Emitter { base: emit::Emitter::new(function), flushed: FnvHashSet::default() }
    }

    /// One of two values. It is no subnormal number if neither is.
    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let value = self.base.select(condition, a, b);
        if self.flushed.contains(&a) && self.flushed.contains(&b) {
            self.flushed.insert(value);
        }
        value
    }
}
