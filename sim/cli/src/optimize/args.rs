//! The flags of `wave-sim optimize`.

use super::Method;
use crate::args::Format;
use crate::sweep::PlanArgs;
use clap::Args;

/// `wave-sim optimize`.
#[derive(Debug, Args)]
pub(crate) struct OptimizeArgs {
    /// Kernels, and the parameters that are free: those with several values.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// What shall be small: cycles, time, energy, power, area, energy-delay, energy-delay2 or area-delay; of several runs, their
    /// geometric mean
    #[arg(long, value_name = "QUANTITY", default_value = "cycles")]
    pub minimize: String,
    /// What may not be larger in any run: area=400 (mm2), power=150 (W), time=20 (us), energy=50 (uJ), cycles=10000; may be
    /// repeated
    #[arg(long, value_name = "QUANTITY=VALUE")]
    pub at_most: Vec<String>,
    /// Points that run in each search
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub points: u32,
    /// How points are found
    #[arg(long, value_enum, value_name = "METHOD", default_value = "evolve")]
    pub method: Method,
    /// Where what is random in a search comes from
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 32))]
    pub seed: u64,
    /// Search so often, with seeds that follow one another
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Also search at random, with as many points, and say how both went
    #[arg(long)]
    pub against_random: bool,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
}
