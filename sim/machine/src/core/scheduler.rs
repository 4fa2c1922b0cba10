//! One scheduler of a core and the state that it does not share (rule P2).

use super::collector::{Banks, Collector, Collectors, Waiting};
use super::slot::{Slot, SlotMask};
use super::spec::Spec;
use super::straight::Recent;
use super::timing::UnitTiming;
use super::write_ports::WritePorts;
use crate::clock::{Cycle, NEVER};
use crate::config::{Config, IssuePolicy};
use crate::registry::{Maker, Plugged, SchedulerSetup, WarpScheduler};
use crate::stats::SlotUse;
use wave_capture::Capture;

/// One scheduler of a core.
#[derive(Debug, Capture)]
pub(crate) struct Scheduler {
    /// Its wave slots.
    #[spec]
    pub slots: SlotMask,
    pub last_issued: Slot,
    /// Active set of the policy `two_level`.
    pub active_set: SlotMask,
    /// The policy of a plug-in.
    pub registered: Option<Plugged<dyn WarpScheduler>>,
    /// First cycle in which that policy may choose otherwise by itself; [`NEVER`](crate::clock::NEVER) if none.
    pub changes_at: Cycle,
    pub collectors: Collectors,
    pub banks: Banks,
    pub recent: Recent,
    /// Use to which empty issue slots are charged until the scheduler's state changes.
    pub waits_for: SlotUse,
    /// First cycle whose issue slots are not charged yet.
    pub charged_until: Cycle,
    /// Per unit, the first cycle in which it takes another instruction.
    #[fixed]
    pub unit_free_at: Vec<Cycle>,
    pub write_ports: WritePorts,
}

/// The warp scheduler that a configuration chooses, if it is one of a plug-in.
fn registered(
    config: &Config,
    core: u32,
    scheduler: u32,
    slots: SlotMask,
) -> Option<Plugged<dyn WarpScheduler>> {
    let IssuePolicy::PlugIn(chosen) = config.core.issue.policy else { return None };
    let plug_in = chosen.plug_in();
    let Maker::Scheduler(make) = &plug_in.maker else {
        unreachable!("a configuration chooses among the plug-ins of a role");
    };
    let l1 = &config.core.l1;
    let setup = SchedulerSetup {
        values: config.plugins.of(plug_in),
        core,
        scheduler,
        slots,
        wave_slots: config.core.max_waves as usize,
        l1_sets: (l1.bytes / l1.line_bytes / l1.ways).max(1),
        l1_ways: l1.ways,
        line_bytes: l1.line_bytes,
    };
    Some(Plugged::new(plug_in, || make(&setup)))
}

impl Scheduler {
    /// An idle scheduler, whose slots are charged from cycle `start` on. `number` counts those of the core.
    pub(super) fn new(config: &Config, spec: &Spec, number: usize, start: Cycle) -> Scheduler {
        let c = &config.core;
        let (schedulers, all) = (c.schedulers as usize, 0..c.max_waves as usize);
        let slots = all.filter(|slot| slot % schedulers == number).fold(0, |mask, slot| mask | 1 << slot);
        Scheduler {
            slots,
            last_issued: number,
            active_set: 0,
            registered: registered(config, spec.index, number as u32, slots),
            changes_at: NEVER,
            collectors: Collectors::new(c.registers.collectors, spec.width),
            banks: Banks::new(c.registers.banks),
            recent: Recent::default(),
            waits_for: SlotUse::Empty,
            charged_until: start,
            unit_free_at: vec![0; c.units.len()],
            write_ports: WritePorts::new(c.registers.write_ports, UnitTiming::horizon(&spec.units)),
        }
    }

    /// What the oldest instruction in the collectors waits for. `straight` is the number of collectors that
    /// [`Straight`](super::straight::Straight) occupies.
    pub(super) fn oldest_waits(&self, straight: usize, now: Cycle) -> Option<Waiting> {
        let first: Option<&Collector> = self.collectors.oldest();
        let waiting = first.map(|c| c.waiting);
        let Some(&(age, read)) = straight.checked_sub(1).map(|i| &self.recent[i]) else { return waiting };
        if first.is_some_and(|first| first.age < age) {
            return waiting;
        }
        Some(if read > now { Waiting::Banks(read) } else { Waiting::Unit(read + 1) })
    }
}
