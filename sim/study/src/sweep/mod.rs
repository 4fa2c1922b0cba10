//! Sweeps: kernels on many machines, from a plan to a table.

mod axis;
mod draft;
mod effects;
mod file;
mod key;
mod page;
mod plan;
mod sample;
mod store;
mod table;

pub use axis::{Axis, is_axis};
pub use draft::Draft;
pub use key::{Bounds, Digest, Subject, key, version};
pub use page::page;
pub use plan::{MOST_POINTS, Plan, Point};
pub use sample::Sampling;
pub use store::{Found, Store};
pub use table::{Heading, Row, State, Table};
