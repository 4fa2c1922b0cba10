//! Energy and area of a machine: what a run counts, times a table of prices.
//!
//! [`Prices`] are published energies and areas, each with its source and technology node, scaled to one node. [`Area`]
//! is what the blocks of a configuration take; [`Model`] is what each of its actions costs, and [`Energy`] what a run
//! costs, block by block. docs/energy.md has the rules and says what the figures are worth.

mod area;
mod declare;
mod error;
mod lines;
mod model;
mod prices;

pub use area::{Area, BlockArea};
pub use declare::{Price, Scaling};
pub use lines::{LineEnergy, Lines};
pub use model::{Activity, Block, Energy, Item, Model};
pub use prices::{Device, Prices};

#[cfg(test)]
mod counted_tests;
#[cfg(test)]
mod published_tests;
#[cfg(test)]
mod tests;
