//! A block of a plug-in in the machine.

use super::declare::PlugIn;
use std::cell::Cell;
use std::fmt;
use wave_capture::{Capture, CaptureDyn, Misfit, Reader, Writer};

thread_local! {
    /// The plug-in whose hook runs in this thread.
    static CALLING: Cell<Option<&'static PlugIn>> = const { Cell::new(None) };
}

/// The plug-in whose hook runs in this thread: the one to blame for a panic.
pub fn calling() -> Option<&'static PlugIn> {
    CALLING.get()
}

/// Names a plug-in as the one whose hook runs, until it is dropped.
struct Call(Option<&'static PlugIn>);

impl Call {
    fn to(plug_in: &'static PlugIn) -> Call {
        Call(CALLING.replace(Some(plug_in)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLING.set(self.0);
    }
}

/// A block that a plug-in has made, behind its trait.
pub(crate) struct Plugged<T: ?Sized> {
    pub(crate) plug_in: &'static PlugIn,
    block: Box<T>,
}

impl<T: ?Sized> Plugged<T> {
    /// Lets the plug-in make its block.
    pub(crate) fn new(plug_in: &'static PlugIn, make: impl FnOnce() -> Box<T>) -> Plugged<T> {
        let _call = Call::to(plug_in);
        Plugged { plug_in, block: make() }
    }

    /// Asks the block.
    #[inline]
    pub(crate) fn ask<R>(&self, hook: impl FnOnce(&T) -> R) -> R {
        let _call = Call::to(self.plug_in);
        hook(&self.block)
    }

    /// Tells the block.
    #[inline]
    pub(crate) fn tell<R>(&mut self, hook: impl FnOnce(&mut T) -> R) -> R {
        let _call = Call::to(self.plug_in);
        hook(&mut self.block)
    }
}

impl<T: ?Sized> fmt::Debug for Plugged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plugged").field(&self.plug_in.name()).finish()
    }
}

/// Which plug-in a block is of follows from the configuration. Its own layout is saved with it, because the layout of
/// the machine does not know it.
impl<T: CaptureDyn + ?Sized> Capture for Plugged<T> {
    fn save(&self, to: &mut Writer) {
        let _call = Call::to(self.plug_in);
        layout(&*self.block).save(to);
        self.block.save_dyn(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let _call = Call::to(self.plug_in);
        let mut saved = String::new();
        saved.restore(from)?;
        if saved != layout(&*self.block) {
            return Err(Misfit::new("is the state of another plug-in, or of another version of it")
                .within(self.plug_in.name()));
        }
        self.block.restore_dyn(from).map_err(|misfit| misfit.within(self.plug_in.name()))
    }

    fn blank() -> Option<Plugged<T>> {
        None
    }

    fn describe(to: &mut String) {
        to.push_str("plug-in");
    }
}

fn layout<T: CaptureDyn + ?Sized>(block: &T) -> String {
    let mut text = String::new();
    block.describe_dyn(&mut text);
    text
}
