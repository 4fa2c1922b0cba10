//! Presets held to published measurements of real GPUs.
//!
//! A file in `configs/measured/` states what others have measured on a GPU ([`Published`]). For each quantity a kernel
//! here measures the same thing the same way on the simulated machine ([`simulate`]), and [`Validation`] compares the
//! two. docs/validate.md describes both.

mod bandwidth;
mod bench;
mod kernels;
mod latency;
mod page;
mod programs;
mod published;
mod quantity;
mod scatter;
pub mod statistics;
mod summary;
pub mod text;

#[cfg(test)]
mod tests;

pub use page::page;
pub use programs::{ProgramRuns, machine_of_programs};
pub use published::{ErrorBound, ErrorStatistic, PointUse, Published, PublishedPoint, PublishedSource};
pub use quantity::{
    ElementType, KernelCounter, Misnamed, PublishedQuantity, PublishedTopic, ServedBy, StreamKernel,
};
pub use scatter::svg;
pub use summary::{BoundVerdict, ErrorFigures, Held, Validation, ValidationSection};

use bench::Grid;
use kernels::Lanes;
use std::sync::atomic::AtomicBool;
use wave_machine::config::Config;

/// The simulated value of a quantity, in the unit of the published one; of a kernel of a program, out of `programs`. The
/// run ends with an error once `stop` is true.
///
/// # Errors
/// The reason why the machine cannot run the kernel, or has no run of the program.
pub fn simulate(
    config: &Config,
    quantity: &PublishedQuantity,
    programs: &ProgramRuns,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    match *quantity {
        PublishedQuantity::LoadLatency { footprint } => latency::over(config, footprint, stop),
        PublishedQuantity::LevelLatency { level } => latency::of_level(config, level, stop),
        PublishedQuantity::L1Size => latency::l1_size(config, stop),
        PublishedQuantity::L1Bandwidth { footprint, lane_bytes } => {
            bandwidth::l1(config, footprint, lane_bytes, stop)
        }
        PublishedQuantity::L2Bandwidth { footprint } => bandwidth::l2(config, footprint, stop),
        PublishedQuantity::StrideCycles { element, stride } => {
            bandwidth::strides(config, element, Lanes::Stride(stride), stop)
        }
        PublishedQuantity::BlockCycles { element, width } => {
            bandwidth::strides(config, element, Lanes::Rows(width), stop)
        }
        PublishedQuantity::Stream { kernel, threads, groups } => {
            bandwidth::streams(config, kernel, Grid::new(groups, threads), stop)
        }
        PublishedQuantity::SmallKernel { elements, threads } => {
            bandwidth::small_kernel(config, elements, threads, stop)
        }
        PublishedQuantity::Kernel { ref program, ref kernel, counter } => {
            programs.value(config, (program, kernel), counter)
        }
    }
}
