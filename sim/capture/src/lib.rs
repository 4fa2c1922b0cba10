//! Saves the state of a simulated block and puts it back.
//!
//! A block of the machine has a *specification*, which follows from the configuration and the launch, and a
//! *state*, which the simulation changes. `#[derive(Capture)]` saves the state, field by field; fields marked
//! `#[spec]` are the specification. A field whose type cannot be captured does not compile. The state is put
//! back into a block that was built from the same specification.
//!
//! ```
//! use wave_capture::{Capture, Reader, Writer};
//!
//! #[derive(Capture)]
//! struct Queue {
//!     #[spec]
//!     capacity: usize,
//!     entries: Vec<u32>,
//! }
//!
//! let queue = Queue { capacity: 4, entries: vec![7, 8] };
//! let mut saved = Writer::default();
//! queue.save(&mut saved);
//!
//! let mut other = Queue { capacity: 4, entries: Vec::new() };
//! other.restore(&mut Reader::new(saved.bytes())).unwrap();
//! assert_eq!((other.capacity, other.entries), (4, vec![7, 8]));
//! ```
//!
//! Saved state may come from a damaged file. Two attributes say what a restored block has to satisfy:
//!
//! - A field with `#[fixed]` is a list whose length is specification: a saved list of another length is refused.
//! - A type with `#[sound]` has a method `fn sound(&self) -> Result<(), Misfit>`, which is called after its fields are
//!   restored. It refuses a state that no run reaches and that the block cannot go on from.
//!
//! A block whose type has a specification is always fixed: a list of such blocks keeps its length, and an `Option` of
//! one stays present or absent.

// The macro names this crate from outside, also in the tests below.
extern crate self as wave_capture;

mod containers;
mod numbers;

pub use wave_capture_derive::Capture;

/// True if the field `Type.field` is left out as if it were `#[scratch]`. A build with the feature `mutants` leaves
/// out the field that the variable `WAVE_CAPTURE_OMIT` names, to see that a test finds it; any other build leaves out
/// none.
#[doc(hidden)]
#[inline(always)]
pub fn is_omitted(field: &str) -> bool {
    #[cfg(feature = "mutants")]
    {
        static OMITTED: std::sync::LazyLock<Option<String>> =
            std::sync::LazyLock::new(|| std::env::var("WAVE_CAPTURE_OMIT").ok());
        OMITTED.as_deref() == Some(field)
    }
    #[cfg(not(feature = "mutants"))]
    {
        _ = field;
        false
    }
}

/// State that can be saved and put back.
pub trait Capture: Sized {
    /// Appends the state to `to`.
    fn save(&self, to: &mut Writer);

    /// Replaces the state by one that [`save`](Capture::save) wrote for the same specification.
    ///
    /// # Errors
    /// If `from` ends too soon or holds something that does not fit. The state is then undefined, but valid in
    /// the sense of Rust.
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit>;

    /// A value to restore into where there is none; `None` if the type has a specification, which cannot be made
    /// up. So a list of blocks keeps its length, and a list of values does not.
    fn blank() -> Option<Self>;

    /// As [`restore`](Capture::restore), of a list whose length is specification.
    ///
    /// # Errors
    /// As [`restore`](Capture::restore), and if the length differs.
    fn restore_fixed(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.restore(from)
    }

    /// Describes what [`save`](Capture::save) writes: names and types of all fields, in order. A state can be put back
    /// by another program if this is the same there.
    fn describe(to: &mut String);

    /// Saves a list without its length.
    fn save_all(all: &[Self], to: &mut Writer) {
        all.iter().for_each(|one| one.save(to));
    }

    /// Restores a list of known length.
    ///
    /// # Errors
    /// As [`restore`](Capture::restore).
    fn restore_all(all: &mut [Self], from: &mut Reader<'_>) -> Result<(), Misfit> {
        for (place, one) in all.iter_mut().enumerate() {
            one.restore(from).map_err(|misfit| misfit.within(&place.to_string()))?;
        }
        Ok(())
    }
}

/// [`Capture`] behind a trait object: what can be asked of a block whose type is not known. Every type that captures
/// its state has it.
pub trait CaptureDyn {
    /// See [`Capture::save`].
    fn save_dyn(&self, to: &mut Writer);

    /// See [`Capture::restore`].
    ///
    /// # Errors
    /// As [`Capture::restore`].
    fn restore_dyn(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit>;

    /// See [`Capture::describe`].
    fn describe_dyn(&self, to: &mut String);
}

impl<T: Capture> CaptureDyn for T {
    fn save_dyn(&self, to: &mut Writer) {
        self.save(to);
    }

    fn restore_dyn(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.restore(from)
    }

    fn describe_dyn(&self, to: &mut String) {
        T::describe(to);
    }
}

/// Saved state under construction.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty one with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Writer {
        Writer { bytes: Vec::with_capacity(bytes) }
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes what was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends the number of a variant.
    #[inline]
    pub fn tag(&mut self, tag: u16) {
        self.put(&tag.to_le_bytes());
    }

    /// Appends a length.
    #[inline]
    pub fn length(&mut self, length: usize) {
        self.put(&(length as u64).to_le_bytes());
    }
}

/// Reads saved state.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// From the first byte on.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// If there are not so many.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Misfit> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| Misfit::new("ends too soon"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes as many bytes as an array has.
    ///
    /// # Errors
    /// If there are not so many.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Misfit> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| Misfit::new("ends too soon"))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Takes the number of a variant.
    ///
    /// # Errors
    /// If there is none.
    #[inline]
    pub fn tag(&mut self) -> Result<u16, Misfit> {
        self.array().map(u16::from_le_bytes)
    }

    /// Takes a length. Every element takes at least a byte, so no length exceeds the number of bytes left.
    ///
    /// # Errors
    /// If there is none, or it is too large.
    #[inline]
    pub fn length(&mut self) -> Result<usize, Misfit> {
        let length = u64::from_le_bytes(self.array()?);
        let length = usize::try_from(length).ok().filter(|&length| length <= self.rest.len());
        length.ok_or_else(|| Misfit::new("states a length that it does not have"))
    }

    /// True if nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Saved state that does not fit, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {why}")]
pub struct Misfit {
    /// Names of the fields that lead to the place, from the outermost on, separated by dots.
    pub path: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Misfit {
    /// A misfit of the value itself.
    #[cold]
    pub fn new(why: &'static str) -> Misfit {
        Misfit { path: String::new(), why }
    }

    /// Refuses a value that no run reaches; `field` says where it is.
    ///
    /// # Errors
    /// Unless `holds`.
    #[inline]
    pub fn in_range(holds: bool, field: &str) -> Result<(), Misfit> {
        if holds { Ok(()) } else { Err(Misfit::new("is out of range").within(field)) }
    }

    /// Refuses a value that contradicts others of the state; `field` says where it is.
    ///
    /// # Errors
    /// Unless `holds`.
    #[inline]
    pub fn agrees(holds: bool, field: &str) -> Result<(), Misfit> {
        if holds {
            Ok(())
        } else {
            Err(Misfit::new("does not agree with the rest of the state").within(field))
        }
    }

    /// The same, seen from the value around it.
    #[cold]
    pub fn within(mut self, field: &str) -> Misfit {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.path = format!("{field}{dot}{}", self.path);
        self
    }
}

#[cfg(test)]
mod tests;
