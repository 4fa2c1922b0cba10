//! A launch as a core sees it: the shape of its workgroups, and where each of them lies in the grid.

use super::slot::SlotMask;
use crate::clock::Cycle;
use crate::config::Config;
use wave_capture::Capture;
use wave_isa::program::Launch;
use wave_isa::{MMA_DIM, Special};

/// Number of a context among those of a machine.
pub(crate) type ContextId = u8;

/// A workgroup slot of a core.
#[derive(Debug, Clone, Default, Capture)]
pub(crate) struct Workgroup {
    /// Position in the grid.
    pub id: [u32; 3],
    /// Whose workgroup it is.
    pub context: ContextId,
    /// Wave slots that its waves still occupy.
    pub slots: SlotMask,
    /// True while it is resident.
    pub resident: bool,
    /// The cycle in which it has started.
    pub since: Cycle,
}

/// A workgroup on its way from the dispatcher to a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub struct Start {
    /// Position in the grid.
    pub id: [u32; 3],
    /// Whose workgroup it is.
    pub context: ContextId,
}

/// The position in a grid of the workgroup with this linear index.
pub(crate) fn position(index: u64, grid: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = grid.map(u64::from);
    [index % x, index / x % y, index / x / y].map(|n| n as u32)
}

/// The linear index of a workgroup: dispatchers start them in this order.
pub(crate) fn index_of([i, j, k]: [u32; 3], grid: [u32; 3]) -> u64 {
    let [x, y, _] = grid.map(u64::from);
    u64::from(i) + x * (u64::from(j) + y * u64::from(k))
}

/// What all workgroups of a launch have in common.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// The launch.
    pub launch: Launch,
    /// Waves of a workgroup.
    pub waves: u32,
    /// Threads of a workgroup.
    pub threads: u32,
    /// The machine has the matrix instructions.
    pub mma: bool,
}

impl Shape {
    /// A launch whose workgroups have so many waves.
    pub(crate) fn new(launch: &Launch, waves: u32, config: &Config) -> Shape {
        Shape {
            launch: launch.clone(),
            waves,
            threads: launch.threads() as u32,
            mma: config.capabilities.mma,
        }
    }

    /// The lanes of a wave on which a thread falls.
    pub(crate) fn lanes(&self, wave_id: u32, width: u32) -> u64 {
        u64::MAX >> (64 - (self.threads - wave_id * width).min(width))
    }

    /// Writes the register values with which a wave starts: rows of `width` lanes, concatenated.
    pub(crate) fn start_values(&self, registers: &mut [u32], width: usize) {
        registers.fill(0);
        for &(register, value) in &self.launch.initial_registers {
            registers[usize::from(register) * width..][..width].fill(value);
        }
    }

    /// Writes the lane values of a special register of a wave of the workgroup at `group`. `row` has as many lanes
    /// as the wave.
    ///
    /// # Panics
    /// If there is no special register with this code.
    pub(crate) fn special_row(&self, code: u8, group: [u32; 3], wave_id: u32, row: &mut [u32]) {
        let (size, grid) = (self.launch.workgroup, self.launch.grid);
        let width = row.len() as u32;
        let first = wave_id * width;
        let special = Special::from_code(code).expect("an illegal instruction does not execute");
        let uniform = match special {
            Special::ThreadIdX => return fill(row, |lane| (first + lane) % size[0]),
            Special::ThreadIdY => return fill(row, |lane| (first + lane) / size[0] % size[1]),
            Special::ThreadIdZ => return fill(row, |lane| (first + lane) / size[0] / size[1]),
            Special::LaneId => return fill(row, |lane| lane),
            Special::WaveId => wave_id,
            Special::WorkgroupIdX => group[0],
            Special::WorkgroupIdY => group[1],
            Special::WorkgroupIdZ => group[2],
            Special::WorkgroupSizeX => size[0],
            Special::WorkgroupSizeY => size[1],
            Special::WorkgroupSizeZ => size[2],
            Special::GridSizeX => grid[0],
            Special::GridSizeY => grid[1],
            Special::GridSizeZ => grid[2],
            Special::WaveWidth => width,
            Special::NumWaves => self.waves,
            Special::MmaSupported => u32::from(self.mma),
            Special::MmaM | Special::MmaN | Special::MmaK => {
                if self.mma {
                    MMA_DIM as u32
                } else {
                    0
                }
            }
        };
        row.fill(uniform);
    }
}

fn fill(row: &mut [u32], value: impl Fn(u32) -> u32) {
    for (lane, word) in row.iter_mut().enumerate() {
        *word = value(lane as u32);
    }
}
