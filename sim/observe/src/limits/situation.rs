//! Facts of a run that decide which advice applies. Every sentence of advice is made or checked here;
//! docs/explain.md lists them.

use super::account::{CodeWaits, Observed, Resource};
use super::cause::Cause;
use super::listing::{Instruction, listing};
use crate::figures::{self, Total, ratio};
use wave_isa::table::{AccessKind, Op, Space};
use wave_machine::config::{DivergenceMode, IssuePolicy};
use wave_machine::core::wait::Wait;
use wave_machine::gpu::occupancy::Limiter;

/// Utilization above which a part of the machine counts as full.
pub const BUSY: f64 = 0.7;
/// Fraction of usable wave slots above which occupancy counts as full.
const FULL: f64 = 0.95;
/// Lane utilization below which there is something to gain.
const FEW_LANES: f64 = 0.9;
/// Hit rate above which accesses count as reuse.
const REUSE: f64 = 0.1;

/// Whether a core can hold more waves, and what limits them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoreWaves {
    /// The grid is too small: more workgroups would fit.
    Grid,
    /// All wave slots of a core are in use; holds their number.
    Full(u32),
    /// A resource limits the workgroups.
    Resource(Limiter),
}

impl MoreWaves {
    fn of(observed: &Observed<'_>) -> MoreWaves {
        let (config, o) = (observed.config, observed.report.occupancy);
        let resident = o.workgroups * o.waves_per_workgroup;
        let groups = observed.watch.largest.as_ref().map_or(0, |launch| launch.workgroups());
        if groups < u64::from(o.workgroups) * u64::from(config.cores) {
            MoreWaves::Grid
        } else if f64::from(resident) >= FULL * f64::from(config.core.max_waves) {
            MoreWaves::Full(config.core.max_waves)
        } else {
            MoreWaves::Resource(o.limiter)
        }
    }

    /// How the kernel can give a core more waves. None if it cannot.
    pub fn how(&self) -> Option<&'static str> {
        match self {
            MoreWaves::Grid => Some("launch more workgroups: the grid leaves room on the cores"),
            MoreWaves::Full(_) => None,
            MoreWaves::Resource(Limiter::Registers) => {
                Some("use fewer registers, so that more workgroups fit")
            }
            MoreWaves::Resource(Limiter::LocalMemory) => {
                Some("use less local memory, so that more workgroups fit")
            }
            MoreWaves::Resource(Limiter::Workgroups) => {
                Some("use larger workgroups: a core has no further slot for one")
            }
            MoreWaves::Resource(Limiter::Waves) => {
                Some("use workgroups of a size that fills the wave slots of a core")
            }
        }
    }

    /// A sentence of advice, extended by more waves if those are possible.
    pub fn beside(&self, helps: &str) -> String {
        match (self, self.how()) {
            (_, Some(how)) => format!("{helps}, and so do more waves: {how}"),
            (MoreWaves::Full(slots), _) => {
                format!("{helps}; more waves do not fit, as all {slots} wave slots of a core are taken")
            }
            _ => helps.to_owned(),
        }
    }
}

/// Facts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    /// Whether more waves are possible.
    pub more_waves: MoreWaves,
    /// True if the grid has fewer workgroups than fit at once.
    pub(crate) small_grid: bool,
    /// True if more, smaller workgroups would fit on a core.
    smaller_workgroups: bool,
    /// Fraction of participating lanes.
    pub lanes: f64,
    /// True if waves have lanes without a thread.
    pub partial_waves: bool,
    /// True if loops, and branches, were executed.
    loops: bool,
    branches: bool,
    /// True if a load or store accesses at most 4 bytes per lane and a wider one exists.
    narrow: bool,
    /// True if multiplications and additions are separate instructions.
    unfused: bool,
    /// True if device instructions touch many more lines than consecutive addresses would.
    scattered: bool,
    /// True if local loads or stores, or local atomics, take many more passes than needed.
    conflicts: bool,
    contended: bool,
    /// True if loads of device memory, and of local memory, were executed.
    device_loads: bool,
    local_loads: bool,
    /// True if data is loaded repeatedly.
    reuse: bool,
    /// True if the L2 evicted lines.
    overflows: bool,
    /// True if operand-read waits are mostly for collectors, not banks.
    collectors: bool,
    /// Utilization of the resources.
    busy: Vec<(Resource, f64)>,
    /// What waves without a decoded instruction waited for.
    code: CodeWaits,
    /// True if the code fits into the instruction cache.
    code_fits: bool,
    /// True if lines or sectors were written back, releases included.
    writes_back: bool,
    launches: u64,
    divergence: DivergenceMode,
    policy: IssuePolicy,
}

impl Situation {
    /// The facts of a watched run, from the busy cycles of its resources.
    pub fn of(observed: &Observed<'_>, bounds: &[(Resource, f64)], cycles: f64) -> Situation {
        let (config, report, watch) = (observed.config, observed.report, observed.watch);
        let all = listing(watch.program, watch.profiler.profiles());
        let ran: Vec<&Instruction> = all.iter().filter(|i| i.line.issues() > 0).collect();
        let executed = |op: Op| ran.iter().any(|i| i.op == Some(op));
        let scattered = |space: Space, atomics: bool| {
            let atomic = |i: &Instruction| matches!(i.op.and_then(Op::memory), Some(m) if matches!(m.kind, AccessKind::Atomic(_)));
            let counts = |i: &&&Instruction| i.accesses(space) && atomic(i) == atomics;
            ran.iter().filter(counts).any(|i| i.scattered(config).is_some())
        };
        let narrow = |i: &&Instruction| {
            let memory = i.op.and_then(Op::memory);
            memory.is_some_and(|m| m.bytes <= 4 && matches!(m.kind, AccessKind::Load | AccessKind::Store))
        };
        let o = report.occupancy;
        let threads = watch.largest.as_ref().map_or(0, |launch| launch.threads());
        let groups = watch.largest.as_ref().map_or(0, |launch| launch.workgroups());
        let stalls = &watch.stalls.waves;
        let (l1, l2) = (&report.l1, &report.memory.l2);
        let asked = l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses + l1.uncached_loads;
        let (lines, _) = observed.code_lines(config.core.fetch.icache_line_bytes);
        let line_bytes = config.core.fetch.icache_line_bytes;
        Situation {
            more_waves: MoreWaves::of(observed),
            small_grid: groups <= u64::from(o.workgroups) * u64::from(config.cores),
            smaller_workgroups: o.waves_per_workgroup > 1 && o.workgroups < config.core.max_workgroups,
            lanes: figures::SIMD_EFFICIENCY.of(&Total { config, report }) / 100.0,
            partial_waves: !threads.is_multiple_of(u64::from(config.core.wave_width)),
            loops: executed(Op::EndLoop),
            branches: executed(Op::If),
            narrow: ran.iter().any(narrow),
            unfused: executed(Op::FMul) && executed(Op::FAdd),
            scattered: scattered(Space::Device, false) || scattered(Space::Device, true),
            conflicts: scattered(Space::Local, false),
            contended: scattered(Space::Local, true),
            device_loads: report.core.device_loads > 0,
            local_loads: ran.iter().any(|i| i.accesses(Space::Local) && i.is_load()),
            reuse: ratio(l1.hits + l2.hits, asked + l1.stores) > REUSE,
            overflows: l2.evictions > 0,
            collectors: stalls[Wait::Collector.index()] > stalls[Wait::Operand.index()],
            busy: bounds.iter().map(|&(resource, busy)| (resource, busy / cycles.max(1.0))).collect(),
            code: observed.code_waits(),
            code_fits: lines as u64 * u64::from(line_bytes) <= u64::from(config.core.fetch.icache_bytes),
            writes_back: l1.write_backs + l2.released_sectors > 0,
            launches: watch.launches,
            divergence: config.core.divergence,
            policy: config.core.issue.policy,
        }
    }

    fn is_busy(&self, resource: Resource) -> bool {
        self.busy.iter().any(|&(of, share)| of == resource && share >= BUSY)
    }

    /// Advice for the author of the kernel against a cause.
    pub fn advice(&self, cause: Cause) -> String {
        let ports = [Resource::RequestPorts, Resource::ReplyPorts, Resource::Links];
        let mut parts: Vec<&str> = Vec::new();
        let mut add = |holds: bool, words: &'static str| {
            if holds {
                parts.push(words);
            }
        };
        match cause {
            Cause::IssueSlots => {
                let mut ways = Vec::new();
                for (holds, way) in [
                    (self.narrow, "wider loads and stores"),
                    (self.unfused, "fused multiply-adds"),
                    (self.loops, "addresses outside the loop"),
                ] {
                    if holds {
                        ways.push(way);
                    }
                }
                return match ways.is_empty() {
                    true => "do the same with fewer instructions".to_owned(),
                    false => format!("do the same with fewer instructions: {}", ways.join(", ")),
                };
            }
            Cause::Squashed => {
                add(
                    self.lanes < FEW_LANES,
                    "let the lanes of a wave take the same way: sort or group the work",
                );
                add(self.branches, "replace short branches by select");
                add(
                    self.lanes >= FEW_LANES && self.divergence == DivergenceMode::Walk,
                    "keep what a whole wave skips short, as this machine walks through it",
                );
            }
            Cause::Operands => {
                add(!self.collectors, "use registers that lie in different banks in one instruction");
                add(
                    self.collectors,
                    "mix instructions of different units, so that collectors are not held before a busy one",
                );
            }
            Cause::Unit(n) => {
                let busy = self.is_busy(Resource::Unit(n));
                add(
                    busy,
                    "use fewer or cheaper instructions of this kind, or spread the work over other units",
                );
                add(!busy, "let instructions of different units follow one another, as this one is not full");
            }
            Cause::WritePorts => add(true, "interleave instructions of different latencies less tightly"),
            Cause::Results(_) => {
                add(true, "put independent instructions between this one and the next that uses its result");
                add(self.loops, "unroll, or use several accumulators");
            }
            Cause::Local => {
                add(self.local_loads, "load earlier than the value is needed");
                add(self.conflicts, "pad rows so that the lanes of a wave hit different banks");
                add(self.contended, "keep copies of what atomics change, so that fewer lanes want one bank");
            }
            Cause::LoadStore => {
                add(
                    self.scattered,
                    "let neighbouring lanes access neighbouring addresses, so that one access serves many lanes",
                );
                add(
                    !self.scattered && self.narrow,
                    "bring more bytes with each instruction, so that fewer accesses are under way",
                );
                add(self.reuse, "keep values that are used again in registers or local memory");
                add(true, "spread accesses over the kernel instead of making them in a row");
            }
            Cause::L1 => {
                add(true, "load earlier");
                add(self.reuse, "keep values that are used again in registers or local memory");
            }
            Cause::Interconnect => {
                let full = ports.iter().any(|&port| self.is_busy(port));
                add(!full && self.device_loads, "load earlier than the value is needed");
                add(self.scattered, "move fewer lines: let neighbouring lanes access neighbouring addresses");
                add(self.reuse, "keep data that is used again in registers or local memory");
                add(full && !self.scattered && !self.reuse, "move fewer bytes: smaller types");
            }
            Cause::L2 => {
                add(
                    !self.is_busy(Resource::L2) && self.device_loads,
                    "load earlier than the value is needed",
                );
                add(self.reuse, "work on tiles that fit into the L1 or local memory");
                add(
                    self.is_busy(Resource::L2) && !self.reuse,
                    "ask for fewer lines: whole lines, smaller types",
                );
            }
            Cause::L3 => {
                add(
                    !self.is_busy(Resource::L3) && self.device_loads,
                    "load earlier than the value is needed",
                );
                add(self.reuse, "work on tiles that fit into the L2");
                add(self.is_busy(Resource::L3) && !self.reuse, "load less: whole lines, smaller types");
            }
            Cause::Dram => {
                add(
                    !self.is_busy(Resource::Dram) && self.device_loads,
                    "load earlier than the value is needed",
                );
                add(self.scattered, "use whole lines");
                add(
                    self.overflows && self.reuse,
                    "load each byte once: tiles that fit into the L2 or local memory",
                );
                add(true, "load less: smaller types, values computed anew");
            }
            Cause::Branch => {
                add(self.loops, "unroll loops");
                add(self.branches, "replace short branches by predicated instructions or select");
                add(!self.loops && !self.branches, "use fewer control and synchronisation instructions");
            }
            Cause::Fetch => return self.fetch(),
            Cause::Barrier => {
                add(true, "give the waves of a workgroup equal work between barriers");
                add(self.smaller_workgroups, "use smaller workgroups, of which more fit into a core");
            }
            Cause::Release => {
                add(self.writes_back, "write less, as the release writes it back");
                add(self.launches > 1, "do more in one launch, as each has a release at its end");
            }
            Cause::WaveLimit => {
                let how = self.more_waves.how();
                if let (Some(how), false) = (how, self.policy == IssuePolicy::TwoLevel) {
                    return how.to_owned();
                }
                add(
                    true,
                    "put independent instructions next to each other, so that a wave issues more often",
                );
            }
        }
        match parts.is_empty() {
            true => "nothing that is sure to help follows from the counters".to_owned(),
            false => parts.join("; "),
        }
    }

    /// Advice against empty instruction buffers, by the main reason of the waits.
    fn fetch(&self) -> String {
        let CodeWaits { line, redirect, group, queue } = self.code;
        let most = [line, redirect, group, queue].into_iter().fold(0.0, f64::max);
        let words = if most == queue {
            "lessen what the kernel's data costs on its way, as lines of code queue with it"
        } else if most == line && !self.code_fits {
            "make the loop body small enough for the instruction cache"
        } else if most == line {
            "give each core more work in a launch, or make the code shorter: it fits into the instruction cache, and each \
             of its lines has to come there once"
        } else if most == redirect {
            "branch less: unroll loops, use predicated instructions or select"
        } else {
            "do the same with fewer instructions, as the waves of a scheduler take turns in fetching"
        };
        words.to_owned()
    }

    /// Why schedulers have no wave, and how to give them waves.
    pub fn empty(&self) -> &'static str {
        match (self.small_grid, self.smaller_workgroups) {
            (true, true) => {
                "More workgroups, or as many threads in smaller ones, would keep more of the machine busy."
            }
            (true, false) => "More workgroups would keep more of the machine busy.",
            (false, _) => {
                "The grid is large enough: workgroups that take equally long, and fewer launches, would keep more of the \
                 machine busy."
            }
        }
    }
}
