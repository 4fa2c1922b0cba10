//! The retirement trace WVFI: records, their two forms, and the observer that makes them from a run.
//!
//! `traces/format.md` defines the format. [`record`] is the contents of a file, [`binary`] and [`text`] are
//! its two forms, [`reader`] and [`writer`] stream them. [`recorder`] makes records from the events of a run
//! and hands them to a [`sink`], through a [`trigger`] if there is one. [`diff`](mod@diff) compares two
//! traces, [`summary`] counts one, [`view`] writes the files of pipeline viewers.

pub(crate) mod binary;
pub mod diff;
pub(crate) mod reader;
pub mod record;
pub mod recorder;
pub mod rows;
pub(crate) mod sink;
pub mod summary;
pub mod text;
pub(crate) mod trigger;
pub mod view;
pub(crate) mod writer;

pub use reader::{Item, Reader, TraceError};
pub use record::{End, Header, How, Launched, Record};
pub use recorder::Recorder;
pub use sink::{Sink, Window};
pub use trigger::{Trigger, When};
pub use writer::{Form, Writer};

/// The version of the format that this program writes and reads.
pub const VERSION: u16 = 1;
