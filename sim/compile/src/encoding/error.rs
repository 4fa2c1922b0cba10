//! Why a module in some encoding is not taken.

use std::fmt;
use wave_isa::diagnostic::Diagnostic;

/// What kind of fault a module has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It is no module of its encoding: its text or its bytes are wrong, or it breaks a rule of validation.
    Invalid,
    /// It uses a feature that is not taken.
    Refused,
    /// Nobody provides what it imports.
    Unlinkable,
}

/// An error of the decoder, with its place in the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind of fault.
    pub fault: Fault,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// The byte of the module.
    pub offset: Option<u64>,
    /// The function: its name, or its number where it has none.
    pub function: Option<String>,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Error {
    /// An error without a place.
    pub(crate) fn new(fault: Fault, message: impl Into<String>) -> Error {
        Error { fault, message: message.into(), offset: None, function: None, hint: None }
    }

    /// A feature that is not taken.
    pub(crate) fn refused(what: impl fmt::Display) -> Error {
        Error::new(Fault::Refused, format!("this module uses {what}, which is not taken"))
    }

    /// Adds the byte of the module, if none is known yet.
    pub(crate) fn at(mut self, offset: u64) -> Error {
        self.offset.get_or_insert(offset);
        self
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The message as others are shown, for the file that the user named.
    pub fn diagnostic(&self, file: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error(format!("{file}: {self}"));
        match &self.hint {
            Some(hint) => diagnostic.hint(hint.clone()),
            None => diagnostic,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(offset) = self.offset {
            write!(f, ", at byte {offset:#x}")?;
        }
        if let Some(function) = &self.function {
            write!(f, ", in function {function}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
