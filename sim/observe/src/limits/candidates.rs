//! Machine changes that are worth a trial. Some have a formula over the account; others are only suggested by
//! a counter such as a hit rate, rejections or contention. Only this module makes candidates.

use super::account::{Account, Observed};
use super::cause::Cause;
use super::rules::{Change, Cost, limiting};
use crate::figures::ratio;
use crate::numbers::counted;
use crate::numbers::{integer, percent};
use wave_machine::config::{DramPolicy, IssuePolicy, WritePolicy};
use wave_machine::stats::SlotUse;

/// Fraction of a counter's upper bound that is assumed as the saving when candidates are ordered.
const LIKELY: f64 = 0.25;
/// Minimum weight of the widths on the path to memory, as a fraction of the run. The account uses averages
/// and may attribute bursts to the wrong cause.
const FLOOR: f64 = 0.01;
/// Smallest weight of a candidate, as a fraction of the run.
const WORTH_A_TRIAL: f64 = 0.001;

/// A machine change worth a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The cause that it reduces.
    pub cause: Cause,
    /// Settings in the form `key=value`.
    pub settings: Vec<String>,
    /// Predicted saving in cycles and the name of the formula. None if only a counter suggests the change.
    pub predicted: Option<(f64, &'static str)>,
    /// Reason for the trial.
    pub reason: String,
    /// Weight in cycles, for ordering.
    weight: f64,
}

/// A change suggested by a counter.
struct Suspect {
    cause: Cause,
    settings: Vec<String>,
    /// Upper bound of the saving in cycles.
    stake: f64,
    reason: String,
}

/// The candidates, largest weight first. Some may be invalid for this machine. `changes` are those with a
/// formula.
pub fn candidates(
    observed: &Observed<'_>,
    account: &Account,
    costs: &[Cost],
    changes: &[Change],
) -> Vec<Candidate> {
    let cycles = account.cycles.max(1.0);
    let cost = |cause: Cause| costs.iter().find(|cost| cost.cause == cause).map_or(0.0, |cost| cost.cycles);
    let mut candidates: Vec<Candidate> = Vec::new();
    for Change { cause, settings, predicted, formula } in changes {
        let share = cost(*cause) / cycles;
        let reason = format!("{}: {} of the run", cause.name(observed.config), percent(share));
        let candidate = Candidate {
            cause: *cause,
            settings: settings.clone(),
            predicted: Some((*predicted, formula)),
            reason,
            weight: *predicted,
        };
        match candidates.iter_mut().find(|other| other.settings == *settings) {
            Some(other) if other.weight < *predicted => *other = candidate,
            Some(_) => {}
            None => candidates.push(candidate),
        }
    }
    for Suspect { cause, settings, stake, reason } in suspects(observed, account, &cost) {
        let weight = stake * LIKELY;
        match candidates.iter_mut().find(|other| other.settings == settings) {
            Some(other) => {
                other.reason = reason;
                other.weight = other.weight.max(weight);
            }
            None => candidates.push(Candidate { cause, settings, predicted: None, reason, weight }),
        }
    }
    candidates.retain(|candidate| candidate.weight >= WORTH_A_TRIAL * cycles);
    candidates.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    candidates
}

/// Changes suggested by counters, bounded by the cost of their cause.
fn suspects(observed: &Observed<'_>, account: &Account, cost: &dyn Fn(Cause) -> f64) -> Vec<Suspect> {
    let mut found = Vec::new();
    capacities(observed, account, cost, &mut found);
    way_to_memory(observed, account, cost, &mut found);
    scheduling(observed, account, cost, &mut found);
    found
}

/// Where waves wait that the L1s do not serve.
const BEHIND_L1: [Cause; 5] = [Cause::LoadStore, Cause::Interconnect, Cause::L2, Cause::L3, Cause::Dram];

fn twice(key: &str, now: u32) -> String {
    format!("{key}={}", u64::from(now) * 2)
}

/// Caches that evict what is used again, and the room for instructions that are fetched ahead.
fn capacities(
    observed: &Observed<'_>,
    account: &Account,
    cost: &dyn Fn(Cause) -> f64,
    found: &mut Vec<Suspect>,
) {
    let (config, l1, memory) = (observed.config, &observed.report.l1, &observed.report.memory);
    let (l2, l3) = (&memory.l2, &memory.l3);
    let behind_l1: f64 = BEHIND_L1.into_iter().map(cost).sum();
    let looked_up = l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses;
    if l1.evictions > 0 {
        let hits = ratio(l1.hits, looked_up);
        found.push(Suspect {
            cause: Cause::L2,
            settings: vec![twice("core.l1.bytes", config.core.l1.bytes)],
            stake: behind_l1 * (1.0 - hits),
            reason: format!("the L1s hit {} and evicted {} lines", percent(hits), integer(l1.evictions)),
        });
    }
    if l2.evictions > 0 {
        let hits = ratio(l2.hits, l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses);
        found.push(Suspect {
            cause: Cause::Dram,
            settings: vec![twice("l2.slice_bytes", config.l2.slice_bytes)],
            stake: cost(Cause::Dram) * (1.0 - hits),
            reason: format!("the L2 hits {} and evicted {} lines", percent(hits), integer(l2.evictions)),
        });
    }
    if l3.evictions > 0 {
        let hits = ratio(l3.hits, l3.reads + l3.writes);
        found.push(Suspect {
            cause: Cause::Dram,
            settings: vec![twice("l3.bank_bytes", config.l3.bank_bytes)],
            stake: cost(Cause::Dram) * (1.0 - hits),
            reason: format!("the L3 hits {} and evicted {} lines", percent(hits), integer(l3.evictions)),
        });
    }
    let fetch = &config.core.fetch;
    let waits = account.of(SlotUse::Fetch);
    found.push(Suspect {
        cause: Cause::Fetch,
        settings: vec![twice("core.fetch.buffer_entries", fetch.buffer_entries)],
        stake: waits,
        reason: format!(
            "waves waited {} for instructions, and {} words at most are fetched ahead",
            percent(waits / account.cycles),
            fetch.buffer_entries
        ),
    });
    let (lines, _) = observed.code_lines(fetch.icache_line_bytes);
    let code = lines as u64 * u64::from(fetch.icache_line_bytes);
    if code > u64::from(fetch.icache_bytes) {
        found.push(Suspect {
            cause: Cause::Fetch,
            settings: vec![twice("core.fetch.icache_bytes", fetch.icache_bytes)],
            stake: waits,
            reason: format!(
                "{} bytes of code ran, and the instruction cache holds {}",
                integer(code),
                integer(fetch.icache_bytes.into())
            ),
        });
    }
}

/// Local memory, widths, queues and outstanding accesses between the L1s and memory.
fn way_to_memory(
    observed: &Observed<'_>,
    account: &Account,
    cost: &dyn Fn(Cause) -> f64,
    found: &mut Vec<Suspect>,
) {
    let (config, report) = (observed.config, observed.report);
    let (l1, memory) = (&report.l1, &report.memory);
    let (l2, dram) = (&memory.l2, &memory.dram);
    let core = &report.core;
    if core.local_passes > core.local_accesses {
        let conflicts = 1.0 - ratio(core.local_accesses, core.local_passes);
        found.push(Suspect {
            cause: Cause::Local,
            settings: vec![twice("core.local.banks", config.core.local.banks)],
            stake: cost(Cause::Local) * conflicts,
            reason: format!("{} of the passes over the local memory banks are conflicts", percent(conflicts)),
        });
    }
    let floor = FLOOR / LIKELY * account.cycles;
    if memory.interconnect.requests > 0 {
        found.push(Suspect {
            cause: Cause::Interconnect,
            settings: vec![twice(
                "interconnect.port_bytes_per_cycle",
                config.interconnect.port_bytes_per_cycle,
            )],
            stake: cost(Cause::Interconnect).max(floor),
            reason: format!(
                "{} packets went to the L2 and {} came back",
                integer(memory.interconnect.requests),
                integer(memory.interconnect.replies)
            ),
        });
    }
    let (slices, busy) = (config.l2.slices, memory.interconnect.request_port_busy_cycles);
    if config.cores > slices {
        found.push(Suspect {
            cause: Cause::L2,
            settings: vec![
                twice("l2.slices", slices),
                format!("l2.slice_bytes={}", config.l2.slice_bytes / 2),
            ],
            stake: cost(Cause::Interconnect) + cost(Cause::L2),
            reason: format!(
                "{} cores share the ports of {slices} slices, which were held {} of the time",
                config.cores,
                percent(busy as f64 / (account.cycles * f64::from(slices)))
            ),
        });
    }
    if dram.requests > 0 {
        let all = dram.row_hits + dram.row_empties + dram.row_conflicts;
        let conflicts = ratio(dram.row_conflicts, all);
        found.push(Suspect {
            cause: Cause::Dram,
            settings: vec![twice("dram.clock_mhz", config.dram.clock_mhz)],
            stake: cost(Cause::Dram).max(floor),
            reason: format!(
                "memory served {} requests, and its latencies are in its clocks",
                integer(dram.requests)
            ),
        });
        let channels = config.dram.channels * 2;
        if channels <= config.l2.slices {
            found.push(Suspect {
                cause: Cause::Dram,
                settings: vec![twice("dram.channels", config.dram.channels)],
                stake: cost(Cause::Dram).max(floor),
                reason: format!("memory served {} requests", integer(dram.requests)),
            });
        }
        if config.dram.policy == DramPolicy::FrFcfs {
            found.push(Suspect {
                cause: Cause::Dram,
                settings: vec![twice("dram.queue_entries", config.dram.queue_entries)],
                stake: cost(Cause::Dram) * conflicts,
                reason: format!("{} of the memory requests met another open row", percent(conflicts)),
            });
        }
    }
    if l2.reservation_fails > 0 {
        let held = l2.reservation_fail_cycles as f64 / f64::from(config.l2.slices);
        found.push(Suspect {
            cause: Cause::L2,
            settings: vec![
                twice("l2.mshrs", config.l2.mshrs),
                twice("l2.mshr_merges", config.l2.mshr_merges),
            ],
            stake: held
                .min(cost(Cause::L2) + cost(Cause::L3) + cost(Cause::Dram) + cost(Cause::Interconnect)),
            reason: format!("{} accesses could not start at once in the L2", integer(l2.reservation_fails)),
        });
    }
    if l1.stores > 0 {
        let stores = ratio(l1.stores, report.core.line_accesses);
        let (value, now) = match config.core.l1.write_policy {
            WritePolicy::WriteThrough => ("write_back", "sends each of them to the L2"),
            WritePolicy::WriteBack => ("write_through", "keeps them until their lines leave"),
        };
        let behind: f64 = BEHIND_L1.into_iter().map(cost).sum();
        found.push(Suspect {
            cause: Cause::Interconnect,
            settings: vec![format!("core.l1.write_policy={value}")],
            stake: behind * stores,
            reason: format!("{} of the L1 accesses are stores, and the L1 {now}", percent(stores)),
        });
    }
    let lsu: f64 = account.lsu.iter().sum();
    found.push(Suspect {
        cause: Cause::LoadStore,
        settings: vec![twice("core.lsu.queue_entries", config.core.lsu.queue_entries)],
        stake: lsu,
        reason: format!("instructions waited {} for the load/store unit", percent(lsu / account.cycles)),
    });
}

/// Number of waves, and choice among ready waves.
fn scheduling(
    observed: &Observed<'_>,
    account: &Account,
    cost: &dyn Fn(Cause) -> f64,
    found: &mut Vec<Suspect>,
) {
    let (config, core) = (observed.config, &observed.config.core);
    let o = observed.report.occupancy;
    let groups = observed.watch.largest.as_ref().map_or(0, |launch| launch.workgroups());
    if groups > u64::from(o.workgroups) * u64::from(config.cores) {
        let (key, now) = limiting(config, o.limiter);
        found.push(Suspect {
            cause: Cause::Barrier,
            settings: vec![twice(key, now)],
            // Additional waves may hide everything that is not issue.
            stake: account.cycles - account.of(SlotUse::Issued) - account.of(SlotUse::Squashed),
            reason: format!(
                "{} admit {} of {} on a core with {} wave slots",
                o.limiter,
                counted(o.workgroups.into(), "workgroup"),
                counted(o.waves_per_workgroup.into(), "wave"),
                core.max_waves
            ),
        });
    }
    let passed_over = cost(Cause::IssueSlots);
    let reason =
        format!("a ready wave was passed over in {} of the cycles", percent(passed_over / account.cycles));
    let mut add = |settings: String, stake: f64| {
        let (cause, reason) = (Cause::IssueSlots, reason.clone());
        found.push(Suspect { cause, settings: vec![settings], stake, reason });
    };
    add(twice("core.schedulers", core.schedulers), passed_over);
    for (policy, name) in
        [(IssuePolicy::Lrr, "lrr"), (IssuePolicy::Gto, "gto"), (IssuePolicy::Oldest, "oldest")]
    {
        if policy != core.issue.policy {
            add(format!("core.issue.policy={name}"), passed_over / 2.0);
        }
    }
}
