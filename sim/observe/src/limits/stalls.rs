//! Sums of what waves waited for that no counter of the machine has.

use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe;
use wave_machine::core::slot::SlotMask;
use wave_machine::core::wait::Wait;

/// Sums over the cores of a run.
#[derive(Debug, Clone)]
pub struct Stalls {
    cores: Vec<Core>,
    /// Wave slots of each scheduler, as masks.
    schedulers: Vec<SlotMask>,
    /// Wave cycles by [`Wait::index`], the reason why the wave's next instruction had not issued.
    pub waves: [u64; Wait::AT_ISSUE],
    /// Core cycles with at least one resident wave.
    pub active: u64,
    /// Scheduler cycles with a ready wave that was passed over in favour of another.
    pub passed_over: u64,
}

/// The last report of a core.
#[derive(Debug, Clone, Default)]
struct Core {
    waves: [SlotMask; Wait::AT_ISSUE],
    since: Cycle,
    /// True if a wave has issued since then.
    issued: bool,
}

impl Stalls {
    /// Empty sums for runs on this machine.
    pub fn new(config: &Config) -> Stalls {
        let (slots, schedulers) = (config.core.max_waves as usize, config.core.schedulers as usize);
        let of =
            |scheduler: usize| (scheduler..slots).step_by(schedulers).fold(0, |mask, slot| mask | 1 << slot);
        Stalls {
            cores: vec![Core::default(); config.cores as usize],
            schedulers: (0..schedulers).map(of).collect(),
            waves: [0; Wait::AT_ISSUE],
            active: 0,
            passed_over: 0,
        }
    }

    /// Called when a launch begins.
    pub fn start(&mut self, cycle: Cycle) {
        self.cores.fill(Core { since: cycle, ..Core::default() });
    }

    /// Resets the sums.
    pub fn restart(&mut self) {
        (self.waves, self.active, self.passed_over) = ([0; Wait::AT_ISSUE], 0, 0);
    }

    /// Counts everything before `cycle`.
    pub fn settle(&mut self, cycle: Cycle) {
        for core in 0..self.cores.len() {
            let waves = self.cores[core].waves;
            self.report(&probe::Stalls { cycle, core: core as u32, waves: &waves });
        }
    }

    /// Called when a wave of `core` issues.
    pub fn issued(&mut self, core: u32) {
        self.cores[core as usize].issued = true;
    }

    /// Called when a core reports its waiting waves. Counts the time since its last report.
    pub fn report(&mut self, report: &probe::Stalls<'_>) {
        let &probe::Stalls { cycle, core, waves } = report;
        let before = &mut self.cores[core as usize];
        let lasted = cycle.saturating_sub(before.since);
        for (sum, waves) in self.waves.iter_mut().zip(before.waves) {
            *sum += lasted * u64::from(waves.count_ones());
        }
        if before.issued || before.waves.iter().any(|&waves| waves != 0) {
            self.active += lasted;
        }
        let turn = before.waves[Wait::Turn.index()];
        if turn != 0 {
            let with_turn = self.schedulers.iter().filter(|&&slots| slots & turn != 0).count() as u64;
            self.passed_over += with_turn * lasted;
        }
        *before = Core { waves: *waves, since: cycle, issued: false };
    }
}
