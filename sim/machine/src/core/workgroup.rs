//! Workgroups resident on a core: wave slots, special registers, barriers and their end.

use super::Core;
use super::wave::{Slot, SlotMask};
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use crate::config::Config;
use wave_capture::Capture;
use wave_isa::program::Launch;
use wave_isa::{MMA_DIM, MMA_FRAGMENTS, Special};

/// A workgroup slot of a core.
#[derive(Debug, Clone, Default, Capture)]
pub(crate) struct Workgroup {
    /// Position in the grid.
    pub id: [u32; 3],
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
pub struct Shape {
    /// The launch.
    pub launch: Launch,
    /// Waves of a workgroup.
    pub waves: u32,
    /// Threads of a workgroup.
    pub threads: u32,
    /// The machine has the matrix instructions.
    pub mma: bool,
}

impl Core {
    /// Takes the workgroups that arrive now and starts their waves.
    pub(super) fn start_workgroups(&mut self, now: Cycle) {
        while let Some(start) = self.links.starts.pop(now) {
            self.activity.progress = true;
            self.settle_residents(now);
            self.start_workgroup(now, start);
        }
    }

    fn start_workgroup(&mut self, now: Cycle, start: Start) {
        let index =
            self.workgroups.iter().position(|w| !w.resident).expect("the dispatcher counts workgroup slots");
        let mut slots = 0;
        for wave_id in 0..self.spec.shape.waves {
            let free = !self.waves.resident & self.spec.usable_slots;
            assert!(free != 0, "the dispatcher counts wave slots");
            let slot = free.trailing_zeros() as Slot;
            slots |= 1 << slot;
            self.waves.start(slot, self.spec.shape.lanes(wave_id, self.spec.width as u32), index, wave_id);
            self.touch(slot);
            self.tell_arrival(now, slot);
            if self.file.journal.is_kept() {
                self.file.journal.starts_wave(slot);
            }
            let rows = self.spec.rows_per_wave * self.spec.width;
            self.spec.shape.start_values(&mut self.file.registers[slot * rows..][..rows], self.spec.width);
            if !self.file.fragments.is_empty() {
                let words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * self.spec.width;
                self.file.fragments[slot * words..][..words].fill(0);
            }
        }
        self.local.poison(index);
        self.workgroups[index] = Workgroup { id: start.id, slots, resident: true, since: now };
    }

    /// Ends a wave whose lanes have all halted, in the cycle after the instruction that halted the last (R3).
    pub(super) fn end_wave(&mut self, now: Cycle, slot: Slot) {
        let bit: SlotMask = 1 << slot;
        let wave = &mut self.waves.waves[slot];
        wave.control.end();
        wave.buffer.clear(wave.last_word);
        self.waves.buffered &= !bit;
        self.waves.ended |= bit;
        self.waves.fetching &= !bit;
        self.waves.shadow &= !bit;
        self.latches.shadows.retain(|&(_, other)| other != slot);
        self.fetch.discard(slot);
        let wave = &self.waves.waves[slot];
        let (workgroup, in_flight) = (wave.workgroup, wave.in_flight);
        // A barrier waits for live waves only, so the end of this wave may release it.
        self.pass_barrier(now, workgroup);
        if in_flight == 0 {
            self.release_wave(now, slot);
        }
    }

    /// Frees the slot of a wave that has ended and has nothing in flight. The last slot ends the workgroup.
    pub(super) fn release_wave(&mut self, now: Cycle, slot: Slot) {
        let index = self.waves.waves[slot].workgroup;
        self.settle_residents(now);
        self.waves.release(slot);
        self.touch(slot);
        self.tell_end(now, slot);
        let workgroup = &mut self.workgroups[index];
        workgroup.slots &= !(1 << slot);
        if workgroup.slots == 0 {
            workgroup.resident = false;
            self.account.counters.workgroups += 1;
            self.links.done.push(now, ());
        }
    }

    /// Releases the barrier of a workgroup if all its live waves are at it since the cycle before (B4).
    pub(super) fn pass_barrier(&mut self, now: Cycle, workgroup: usize) {
        let live = self.workgroups[workgroup].slots & !self.waves.ended;
        if live == 0 || live & !self.waves.at_barrier != 0 {
            return;
        }
        self.account.counters.barriers += 1;
        self.waves.at_barrier &= !live;
        let mut rest = live;
        while rest != 0 {
            self.start_shadow(now - 1, rest.trailing_zeros() as Slot);
            rest &= rest - 1;
        }
    }

    /// Writes the lane values of a special register into `result`, for `mov_sr`.
    pub(super) fn special_row(&mut self, slot: Slot, code: u8) {
        let wave = &self.waves.waves[slot];
        let group = self.workgroups[wave.workgroup].id;
        self.spec.shape.special_row(code, group, wave.wave_id, &mut self.file.result[..self.spec.width]);
    }
}

impl Shape {
    /// A launch whose workgroups have so many waves.
    pub fn new(launch: &Launch, waves: u32, config: &Config) -> Shape {
        Shape {
            launch: launch.clone(),
            waves,
            threads: launch.threads() as u32,
            mma: config.capabilities.mma,
        }
    }

    /// The lanes of a wave on which a thread falls.
    pub fn lanes(&self, wave_id: u32, width: u32) -> u64 {
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
