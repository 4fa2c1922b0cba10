//! Where each wave of a core is and what it waits for: for runs that make no progress.

use super::Core;
use super::uop::{Kind, MicroOps};

/// One wave that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveReport {
    /// Core.
    pub core: u32,
    /// Wave slot.
    pub slot: usize,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Wave of the workgroup.
    pub wave: u32,
    /// Active lanes.
    pub active: u64,
    /// Byte offset in the code section of the instruction that it waits with.
    pub pc: u32,
    /// What it waits for, in words.
    pub waits_for: String,
}

impl Core {
    /// Every resident wave, in slot order.
    pub fn wave_reports(&self, ops: &MicroOps) -> Vec<WaveReport> {
        let slots = (0..self.waves.waves.len()).filter(|slot| self.waves.resident >> slot & 1 != 0);
        slots.map(|slot| self.wave_report(slot, ops)).collect()
    }

    fn wave_report(&self, slot: usize, ops: &MicroOps) -> WaveReport {
        let waves = &self.waves;
        let wave = &waves.waves[slot];
        let has = |mask: u64| mask >> slot & 1 != 0;
        let head = wave.buffer.front();
        let waits_for = if has(waves.ended) {
            format!("its {} instructions in flight; its lanes have halted", wave.in_flight)
        } else if has(waves.at_barrier) {
            let live = self.workgroups[wave.workgroup].slots & !waves.ended;
            let missing: Vec<String> = (0..64)
                .filter(|&s| (live & !waves.at_barrier) >> s & 1 != 0)
                .map(|s: usize| waves.waves[s].wave_id.to_string())
                .collect();
            format!("a barrier that wave {} of its workgroup has not reached", missing.join(", "))
        } else if has(waves.collecting) {
            "its operands".to_owned()
        } else if head.is_none() {
            "its next instruction to be fetched".to_owned()
        } else if has(waves.draining) {
            let stores = waves.releases.stores();
            format!(
                "{} accesses of its own and {stores} acknowledgements of its core's stores",
                wave.accesses
            )
        } else if !has(waves.hazard_free) {
            let what = if has(waves.memory_hazard) { "a load or atomic" } else { "an execution unit" };
            format!("a register or predicate that {what} has not written")
        } else {
            "its turn to issue".to_owned()
        };
        // A wave at a barrier waits with the barrier, which has left the buffer.
        let word = if has(waves.at_barrier) { wave.last_word } else { head.unwrap_or(wave.fetch_word) };
        debug_assert!(!has(waves.at_barrier) || ops.get(word).kind == Kind::Barrier);
        WaveReport {
            core: self.index,
            slot,
            workgroup: self.workgroups[wave.workgroup].id,
            wave: wave.wave_id,
            active: wave.control.active,
            pc: ops.pc(word),
            waits_for,
        }
    }
}
