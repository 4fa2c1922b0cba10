//! Objects, their handles, and their references.
//!
//! A handle is the address of a [`Handle`], as loaders want it. The object itself lies in [`State`], so that a wrong handle
//! is an error code and no crash. An object lives as long as the program or another object has a reference to it.

use super::context::Context;
use super::error::ClError;
use super::event::Event;
use super::icd::{DISPATCH, Dispatch};
use super::kernel::Kernel;
use super::memory::Buffer;
use super::program::Program;
use super::queue::Queue;
use super::{Done, Notice, State, check};
use crate::connection::call;
use crate::ffi::Address;
use crate::protocol::Request;

/// The memory that a handle points to. Loaders call functions through its first word.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Handle {
    dispatch: &'static Dispatch,
}

impl Handle {
    pub(super) const fn new() -> Handle {
        Handle { dispatch: &DISPATCH }
    }

    /// The handle as programs have it.
    pub(super) fn address(&'static self) -> Address {
        Address(std::ptr::from_ref(self) as usize)
    }
}

/// Handles of objects that are gone wait until there are so many, so that a handle that is used too long is found out.
const HANDLES_BEFORE_REUSE: usize = 4096;

/// An object.
#[derive(Debug)]
pub(super) enum Object {
    Context(Context),
    Queue(Queue),
    Buffer(Buffer),
    Program(Program),
    Kernel(Kernel),
    Event(Event),
}

/// An object with its references.
#[derive(Debug)]
pub(super) struct Entry {
    /// References of the program.
    references: u32,
    /// References of other objects and of commands.
    held: u32,
    object: Object,
}

/// A kind of object.
pub(super) trait Kind: Sized {
    /// The error for a handle of something else.
    const WRONG: ClError;
    fn wrap(self) -> Object;
    fn of(object: &Object) -> Option<&Self>;
    fn of_mut(object: &mut Object) -> Option<&mut Self>;
}

macro_rules! kinds {
    ($($kind:ident: $wrong:ident;)*) => { $(
        impl Kind for $kind {
            const WRONG: ClError = ClError::$wrong;

            fn wrap(self) -> Object {
                Object::$kind(self)
            }

            fn of(object: &Object) -> Option<&Self> {
                if let Object::$kind(found) = object { Some(found) } else { None }
            }

            fn of_mut(object: &mut Object) -> Option<&mut Self> {
                if let Object::$kind(found) = object { Some(found) } else { None }
            }
        }
    )* };
}
kinds! {
    Context: InvalidContext;
    Queue: InvalidCommandQueue;
    Buffer: InvalidMemObject;
    Program: InvalidProgram;
    Kernel: InvalidKernel;
    Event: InvalidEvent;
}

impl State {
    /// Adds an object to which the program has one reference.
    pub(super) fn add<K: Kind>(&mut self, object: K) -> Address {
        let free =
            if self.free_handles.len() > HANDLES_BEFORE_REUSE { self.free_handles.pop_front() } else { None };
        let handle = free.unwrap_or_else(|| Box::leak(Box::new(Handle::new())).address());
        self.objects.insert(handle, Entry { references: 1, held: 0, object: object.wrap() });
        handle
    }

    pub(super) fn get<K: Kind>(&self, handle: Address) -> Done<&K> {
        self.objects.get(&handle).and_then(|entry| K::of(&entry.object)).ok_or(K::WRONG)
    }

    pub(super) fn get_mut<K: Kind>(&mut self, handle: Address) -> Done<&mut K> {
        self.objects.get_mut(&handle).and_then(|entry| K::of_mut(&mut entry.object)).ok_or(K::WRONG)
    }

    /// References that the program has to an object.
    pub(super) fn references(&self, handle: Address) -> u32 {
        self.objects.get(&handle).map_or(0, |entry| entry.references)
    }

    /// Objects of a kind, with their handles.
    pub(super) fn all<'a, K: Kind + 'a>(&'a self) -> impl Iterator<Item = (Address, &'a K)> {
        self.objects.iter().filter_map(|(&handle, entry)| Some((handle, K::of(&entry.object)?)))
    }

    /// Adds a reference of the program.
    pub(super) fn retain<K: Kind>(&mut self, handle: Address) -> Done {
        self.get::<K>(handle)?;
        if let Some(entry) = self.objects.get_mut(&handle) {
            entry.references += 1;
        }
        Ok(())
    }

    /// Gives a reference of the program back.
    pub(super) fn release<K: Kind>(&mut self, handle: Address) -> Done {
        self.get::<K>(handle)?;
        check(self.references(handle) > 0, K::WRONG)?;
        if let Some(entry) = self.objects.get_mut(&handle) {
            entry.references -= 1;
        }
        self.end_if_unused(handle);
        Ok(())
    }

    /// Adds a reference of another object.
    pub(super) fn hold(&mut self, handle: Address) {
        if let Some(entry) = self.objects.get_mut(&handle) {
            entry.held += 1;
        }
    }

    /// Gives a reference of another object back.
    pub(super) fn let_go(&mut self, handle: Address) {
        if let Some(entry) = self.objects.get_mut(&handle) {
            entry.held = entry.held.saturating_sub(1);
        }
        self.end_if_unused(handle);
    }

    fn end_if_unused(&mut self, handle: Address) {
        if !self.objects.get(&handle).is_some_and(|entry| entry.references == 0 && entry.held == 0) {
            return;
        }
        let Some(entry) = self.objects.remove(&handle) else { return };
        self.free_handles.push_back(handle);
        match entry.object {
            Object::Context(_) => {}
            Object::Queue(queue) => self.let_go(queue.context),
            Object::Buffer(mut buffer) => {
                let told = std::mem::take(&mut buffer.told_at_end).into_iter().rev();
                let told = told.map(|(function, argument)| Notice::Object(function, handle, argument));
                self.notices.extend(told);
                match buffer.parent {
                    Some((parent, _)) => self.let_go(parent),
                    // A device that is lost has nothing to free.
                    None => _ = call(&Request::Release { address: buffer.address }, &[]),
                }
                self.let_go(buffer.context);
            }
            Object::Program(program) => self.let_go(program.context),
            Object::Kernel(kernel) => self.let_go(kernel.program),
            Object::Event(event) => {
                if let Some(queue) = event.queue {
                    self.let_go(queue);
                }
                self.let_go(event.context);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_lives_as_long_as_something_refers_to_it() {
        let mut state = State::default();
        let context = state.add(Context { properties: Vec::new() });
        let queue = state.add(Queue { context, properties: 0 });
        state.hold(context);
        assert_eq!(state.release::<Context>(context), Ok(()));
        assert_eq!(state.release::<Context>(context), Err(ClError::InvalidContext));
        assert!(state.get::<Context>(context).is_ok());
        assert_eq!(state.retain::<Context>(queue), Err(ClError::InvalidContext));
        assert_eq!(state.retain::<Queue>(queue), Ok(()));
        assert_eq!((state.release::<Queue>(queue), state.references(queue)), (Ok(()), 1));
        assert_eq!(state.release::<Queue>(queue), Ok(()));
        assert_eq!(state.get::<Queue>(queue).err(), Some(ClError::InvalidCommandQueue));
        assert_eq!(state.get::<Context>(context).err(), Some(ClError::InvalidContext));
        // A stale handle does not mean the next object.
        assert_ne!(state.add(Context { properties: Vec::new() }), context);
    }
}
