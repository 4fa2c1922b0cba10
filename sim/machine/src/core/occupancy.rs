//! How many workgroups of a launch fit on a core, and what limits them.

use crate::config::Config;
use std::fmt;
use wave_capture::Capture;
use wave_isa::program::Launch;

/// The resource that limits the resident workgroups of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Capture)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// `core.max_workgroups`.
    Workgroups,
    /// `core.max_waves`.
    Waves,
    /// `core.register_file_bytes`.
    Registers,
    /// `core.local_memory_bytes`.
    LocalMemory,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiter::Workgroups => "workgroup slots",
            Limiter::Waves => "wave slots",
            Limiter::Registers => "registers",
            Limiter::LocalMemory => "local memory",
        })
    }
}

/// How a launch occupies a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub struct Occupancy {
    /// Workgroups resident at most.
    pub workgroups: u32,
    /// Waves of one workgroup.
    pub waves_per_workgroup: u32,
    /// Wave slots of each scheduler that its registers allow; at most `max_waves` / `schedulers` (rule R2).
    pub slots_per_scheduler: u32,
    /// What limits `workgroups`.
    pub limiter: Limiter,
}

/// Why a launch cannot run on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LaunchError {
    /// Names the resource, what the launch wants and what there is.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Workgroups of a launch that fit on a core by each resource alone; `u32::MAX` if the launch needs none of
/// it. The launch must have threads and registers.
pub fn limits(config: &Config, launch: &Launch) -> [(Limiter, u32); 4] {
    let core = &config.core;
    let waves = launch.waves_per_workgroup(core.wave_width) as u32;
    let row_bytes = core.wave_width * 4;
    let register_waves =
        core.register_file_bytes / core.schedulers / (launch.registers * row_bytes) * core.schedulers;
    let local = core.local_memory_bytes.checked_div(launch.local_memory_bytes);
    [
        (Limiter::Workgroups, core.max_workgroups),
        (Limiter::Waves, core.max_waves / waves),
        (Limiter::Registers, register_waves / waves),
        (Limiter::LocalMemory, local.unwrap_or(u32::MAX)),
    ]
}

impl Occupancy {
    /// Computes the occupancy of a launch. Each scheduler's share of the register file holds at most
    /// floor(share / (R × W × 4)) waves (isa section 8). Local memory, workgroup slots and wave slots limit
    /// the workgroups.
    ///
    /// # Errors
    /// If not even one workgroup fits, or a value of the launch is out of range.
    pub fn of(config: &Config, launch: &Launch) -> Result<Occupancy, LaunchError> {
        let core = &config.core;
        let refuse = |message: String, hint: &str| Err(LaunchError { message, hint: hint.to_owned() });
        if launch.grid.contains(&0) || launch.workgroup.contains(&0) {
            let (grid, workgroup) = (launch.grid, launch.workgroup);
            return refuse(
                format!("grid {grid:?} and workgroup {workgroup:?} need at least 1 in every dimension"),
                "give `.workgroup_size` in the kernel, or --workgroup X,Y,Z",
            );
        }
        let (threads, max_threads) = (launch.threads(), core.max_workgroup_size);
        if threads > u64::from(max_threads) {
            return refuse(
                format!(
                    "a workgroup of {threads} threads is larger than core.max_workgroup_size = {max_threads}"
                ),
                "make the workgroup smaller and the grid larger",
            );
        }
        let registers = launch.registers;
        if registers == 0 || registers > core.max_registers {
            return refuse(
                format!("{registers} registers a lane; this machine has 1 to {}", core.max_registers),
                "change `.registers` in the kernel, or --registers N",
            );
        }
        if let Some((r, _)) = launch.initial_registers.iter().find(|(r, _)| u32::from(*r) >= registers) {
            return refuse(
                format!("an initial value for r{r}, but the kernel has {registers} registers"),
                "raise `.registers` in the kernel, or set a lower register",
            );
        }
        let waves = launch.waves_per_workgroup(core.wave_width) as u32;
        if core.max_waves < waves {
            return refuse(
                format!("a workgroup of {waves} waves, and a core has {} wave slots", core.max_waves),
                "make the workgroup smaller and the grid larger",
            );
        }
        let row_bytes = core.wave_width * 4;
        let by_registers = core.register_file_bytes / core.schedulers / (registers * row_bytes);
        let register_waves = by_registers * core.schedulers;
        if register_waves < waves {
            return refuse(
                format!(
                    "a workgroup needs registers for {waves} waves of {registers} × {row_bytes} bytes, and the \
                     register file of {} bytes has room for {register_waves}",
                    core.register_file_bytes
                ),
                "use fewer registers or a smaller workgroup",
            );
        }
        let (local, local_size) = (launch.local_memory_bytes, core.local_memory_bytes);
        if local > local_size {
            return refuse(
                format!("a workgroup needs {local} bytes of local memory, and a core has {local_size}"),
                "use less `.local_memory`",
            );
        }
        let slots_per_scheduler = by_registers.min(core.max_waves / core.schedulers);
        let limits = limits(config, launch);
        // Of equal limits the first is named.
        let (limiter, workgroups) =
            limits.into_iter().reduce(|a, b| if b.1 < a.1 { b } else { a }).unwrap_or(limits[0]);
        Ok(Occupancy { workgroups, waves_per_workgroup: waves, slots_per_scheduler, limiter })
    }
}
