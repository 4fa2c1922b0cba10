//! Plug-ins: policies and blocks that a program registers by name before it runs, with parameters and counters of their
//! own.
//!
//! A program fills a [`Registry`] and [installs](crate::config::install) it once. From then on the names are choices of
//! the configuration (`core.issue.policy: ccws`), the parameters a section of it (`plugins.ccws.base_score`), and the
//! counters statistics (`ccws.lost_locality`). The traits that a plug-in implements are in [`hooks`](self): they see
//! line addresses, words of the kernel, wave slots and outcomes, never the machine itself.
//!
//! Three rules keep a machine with plug-ins a value:
//!
//! - The state of a plug-in is captured: it derives [`Capture`](wave_capture::Capture).
//! - A plug-in decides from its state and from what its hooks are told, not from a clock, a random source of the host
//!   or shared memory.
//! - A hook that only asks (`&self`, or [`WarpScheduler::pick`] where nothing has changed) answers the same again.

mod declare;
mod hooks;
mod plugged;

pub use declare::{Counter, Parameter, PlugIn, Registry, Role, is_empty, registered, statistics};
pub(crate) use declare::{Maker, Sums, installed, put};
pub(crate) use hooks::Values;
pub use hooks::{
    CacheSet, CacheSetup, Choice, DispatchChoice, DispatchPolicy, DispatchSetup, L1Event, L1EventKind,
    L1Outcome, PathBlock, PathReply, PathRequest, PathSetup, Prefetcher, Reference, ReferenceKind,
    Replacement, Requester, SchedulerSetup, WarpScheduler,
};
pub(crate) use plugged::Plugged;
pub use plugged::calling;
