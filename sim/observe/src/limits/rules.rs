//! From the account of a run to its causes with their costs, and to configuration changes with predicted
//! savings. Numbers such as E5 refer to the formulas of docs/explain.md.

use super::account::{Account, Observed, Resource};
use super::cause::Cause;
use super::network::{Change as Less, Network};
use wave_isa::ExecClass;
use wave_machine::config::{Config, DivergenceMode, IssuePolicy, ReleaseScope};
use wave_machine::core::timing::UnitTiming;
use wave_machine::core::wait::Wait;
use wave_machine::gpu::occupancy::{Limiter, Occupancy};
use wave_machine::stats::SlotUse;

/// A cause and its cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The cause.
    pub cause: Cause,
    /// Cost in cycles.
    pub cycles: f64,
}

/// A suggested change of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The cause that it reduces.
    pub cause: Cause,
    /// Settings in the form `key=value`.
    pub settings: Vec<String>,
    /// Cycles that it is predicted to save.
    pub predicted: f64,
    /// Name of the prediction formula in docs/explain.md.
    pub formula: &'static str,
}

/// The causes of the run with their costs, largest first.
pub(crate) fn costs(observed: &Observed<'_>, account: &Account) -> Vec<Cost> {
    let mut costs = Vec::new();
    let mut add = |cause: Cause, cycles: f64| costs.push(Cost { cause, cycles });
    add(Cause::IssueSlots, observed.cycles_of(observed.watch.stalls.passed_over as f64));
    add(Cause::Squashed, account.of(SlotUse::Squashed));
    add(Cause::Operands, account.of(SlotUse::Operand));
    for (unit, &cycles) in account.units.iter().enumerate() {
        add(Cause::Unit(unit), cycles);
    }
    add(Cause::WritePorts, account.ports);
    for &class in ExecClass::ALL.iter().filter(|&&class| !is_memory(class)) {
        add(Cause::Results(class), account.of_class(class));
    }
    let [local, device] = [ExecClass::LocalMemory, ExecClass::DeviceMemory].map(|c| account.lsu[c as usize]);
    add(Cause::Local, account.local() + local);
    let l = account.latency;
    let waits = account.device() / l.total.max(1.0);
    let full = device + waits * (l.lines + l.mshrs + l.merges + l.outgoing);
    let queues = l.ports + l.l2_queue + l.dram_queue;
    // The load/store unit fills up when something behind it is slow. It is charged with what a larger unit would
    // save, and the queues behind it with the rest.
    let own = match Network::of(observed, account) {
        Some(network) if queues > 0.0 => full.min(account.passed_on() * network.saving(&[Less::Crowd(2.0)])),
        _ => full,
    };
    let behind = |queue: f64| if queues > 0.0 { (full - own) * queue / queues } else { 0.0 };
    add(Cause::LoadStore, own);
    add(Cause::L1, waits * l.l1);
    add(Cause::Interconnect, waits * (l.wires + l.ports) + behind(l.ports));
    add(Cause::L2, waits * (l.l2 + l.l2_queue) + behind(l.l2_queue));
    add(Cause::L3, waits * l.l3);
    add(Cause::Dram, waits * (l.dram + l.dram_queue) + behind(l.dram_queue));
    add(Cause::Branch, account.of(SlotUse::Branch));
    add(Cause::Fetch, account.of(SlotUse::Fetch));
    add(Cause::Barrier, account.of(SlotUse::Barrier));
    add(Cause::WaveLimit, account.of(SlotUse::WaveLimit));
    add(Cause::Release, observed.report.release_cycles as f64);
    costs.retain(|cost| cost.cycles >= 0.5);
    costs.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
    costs
}

fn is_memory(class: ExecClass) -> bool {
    matches!(class, ExecClass::LocalMemory | ExecClass::DeviceMemory)
}

/// Collects changes and bounds their savings.
struct Rules<'a> {
    observed: &'a Observed<'a>,
    account: &'a Account,
    changes: Vec<Change>,
}

/// All changes that a formula exists for.
pub(crate) fn changes(observed: &Observed<'_>, account: &Account) -> Vec<Change> {
    let mut rules = Rules { observed, account, changes: Vec::new() };
    rules.issue();
    rules.units();
    rules.front();
    rules.local();
    rules.load_store();
    rules.hierarchy();
    rules.waves();
    rules.release();
    rules.changes
}

impl Rules<'_> {
    /// Adds a change that saves `cycles` of a scheduler's waiting and halves the load on the `eased`
    /// resources.
    fn add(
        &mut self,
        formula: &'static str,
        cause: Cause,
        cycles: f64,
        eased: &[Resource],
        settings: &[(&str, u64)],
    ) {
        let settings = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        self.add_stated(formula, cause, cycles, eased, settings);
    }

    fn add_stated(
        &mut self,
        formula: &'static str,
        cause: Cause,
        cycles: f64,
        eased: &[Resource],
        settings: Vec<String>,
    ) {
        let predicted = (cycles * self.account.barrier_factor).min(self.account.most(eased));
        if predicted >= 0.5 {
            self.changes.push(Change { cause, settings, predicted, formula });
        }
    }

    /// E16: the release at the end. Without the L2 a release takes the way to the cores and back, at most.
    fn release(&mut self) {
        let (config, report) = (self.observed.config, self.observed.report);
        if config.dispatcher.release_scope == ReleaseScope::System {
            let launches = self.observed.watch.launches.max(1) as f64;
            let least = launches * 2.0 * f64::from(config.dispatcher.latency_cycles);
            let predicted = report.release_cycles as f64 - least;
            if predicted >= 0.5 {
                let settings = vec![format!("dispatcher.release_scope={}", ReleaseScope::Device.name())];
                self.changes.push(Change { cause: Cause::Release, settings, predicted, formula: "E16" });
            }
        }
    }

    /// E1, E2, E14: issue slots, operand read, divergence.
    fn issue(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let core = &observed.config.core;
        let width = u64::from(core.issue.width);
        let passed = observed.cycles_of((observed.watch.stalls.passed_over * width) as f64);
        // A wave that is passed over does not always delay the run: it catches up when a slot is free.
        let wider = [Less::Servers(Resource::Issue, (width + 1) as f64 / width as f64)];
        let gain = Network::of_issue(observed, account)
            .map_or(0.0, |network| account.passed_on() * network.saving(&wider));
        let merged = (passed / (width + 1) as f64).min(gain);
        self.add("E1", Cause::IssueSlots, merged, &[Resource::Issue], &[("core.issue.width", width + 1)]);

        let reasons = [Wait::Operand, Wait::Collector];
        let operand = account.of(SlotUse::Operand);
        let banks = operand * account.share(observed, Wait::Operand, &reasons);
        let key = ("core.registers.banks", u64::from(core.registers.banks) * 2);
        self.add("E2", Cause::Operands, banks / 2.0, &[], &[key]);
        let collectors = operand * account.share(observed, Wait::Collector, &reasons);
        let key = ("core.registers.collectors", u64::from(core.registers.collectors) * 2);
        self.add("E2", Cause::Operands, collectors / 2.0, &[], &[key]);

        if core.divergence == DivergenceMode::Walk {
            let squashed = account.of(SlotUse::Squashed) / 2.0;
            let settings = vec!["core.divergence=jump".to_owned()];
            self.add_stated("E14", Cause::Squashed, squashed, &[Resource::Issue], settings);
        }
    }

    /// E3 to E5: execution units.
    fn units(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let core = &observed.config.core;
        let timings = UnitTiming::table(observed.config);
        for (n, unit) in core.units.iter().enumerate() {
            let waits = account.units[n];
            let eased = [Resource::Unit(n)];
            let busy = |class: ExecClass| account.executed[class as usize] * timings[class as usize].interval;
            let Some(busiest) = unit.classes.iter().max_by_key(|timing| busy(timing.class)) else { continue };
            if unit.lanes < core.wave_width {
                let key = format!("core.units[{}].lanes", unit.name);
                self.add("E3", Cause::Unit(n), waits / 2.0, &eased, &[(&key, u64::from(unit.lanes) * 2)]);
            } else if busiest.passes > 1 {
                let key = class_key(&unit.name, busiest.class, "passes");
                let passes = u64::from(busiest.passes.div_ceil(2));
                self.add("E3", Cause::Unit(n), waits / 2.0, &eased, &[(&key, passes)]);
            }
            for timing in unit.classes.iter().filter(|t| t.latency_cycles > 1) {
                let (now, then) = (f64::from(timing.latency_cycles), f64::from(timing.latency_cycles / 2));
                // Distance between the issues of producer and consumer: issue, operand read, dispatch and
                // latency, less the slot of the consumer itself.
                let distance = timings[timing.class as usize].interval as f64 + now;
                let waits = account.of_class(timing.class);
                let key = class_key(&unit.name, timing.class, "latency_cycles");
                let saved = waits * (now - then) / distance;
                let settings = [(key.as_str(), then as u64)];
                self.add("E5", Cause::Results(timing.class), saved, &[], &settings);
            }
        }
        let key = ("core.registers.write_ports", u64::from(core.registers.write_ports) * 2);
        self.add("E4", Cause::WritePorts, account.ports / 2.0, &[], &[key]);
    }

    /// E6, E7: control and fetch.
    fn front(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let (core, fetch) = (&observed.config.core, observed.config.core.fetch);
        let halved = |n: u32| u64::from(n / 2);
        let latency = core.branch_latency_cycles;
        if latency > 1 {
            let saved = account.of(SlotUse::Branch) * f64::from(latency - latency / 2) / f64::from(latency);
            self.add("E6", Cause::Branch, saved, &[], &[("core.branch_latency_cycles", halved(latency))]);
        }
        let waits = observed.code_waits();
        let fetching = account.of(SlotUse::Fetch);
        let words = u64::from(fetch.words) * 2;
        let entries = words.max(u64::from(fetch.buffer_entries) * 2);
        let settings = [("core.fetch.words", words), ("core.fetch.buffer_entries", entries)];
        self.add("E7", Cause::Fetch, fetching * waits.group / 2.0, &[], &settings);
        if fetch.icache_latency_cycles > 1 {
            let key = ("core.fetch.icache_latency_cycles", halved(fetch.icache_latency_cycles));
            self.add("E7", Cause::Fetch, fetching * (waits.redirect + waits.group) / 2.0, &[], &[key]);
        }
        // Doubling the line length reduces the number of lines, unless the code fits in one. A line comes
        // with one request, so it cannot be longer than an L1 line.
        let longer = fetch.icache_line_bytes * 2;
        if longer <= observed.config.core.l1.line_bytes {
            let (lines, then) = observed.code_lines(fetch.icache_line_bytes);
            let fewer = (lines - then) as f64 / lines.max(1) as f64;
            let key = ("core.fetch.icache_line_bytes", u64::from(longer));
            self.add("E7", Cause::Fetch, fetching * (waits.line + waits.queue) * fewer, &[], &[key]);
        }
    }

    /// E8: local memory.
    fn local(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let (local, core) = (observed.config.core.local, &observed.report.core);
        let waits = account.local();
        let total = account.local_latency.max(1.0);
        let halved = local.latency_cycles / 2;
        if halved > 0 {
            let saved = waits * f64::from(local.latency_cycles - halved) / total;
            let key = ("core.local.latency_cycles", u64::from(halved));
            self.add("E8", Cause::Local, saved, &[], &[key]);
        }
        // Passes after the first are bank conflicts. Doubling the banks removes half of them.
        let conflicts = core.local_passes.saturating_sub(core.local_accesses) as f64;
        let share = conflicts / core.local_passes.max(1) as f64;
        let lsu = account.lsu[ExecClass::LocalMemory as usize];
        let per_access = core.local_passes as f64 / core.local_accesses.max(1) as f64;
        let saved = (lsu + waits * (per_access / total).min(1.0)) * share / 2.0;
        let key = ("core.local.banks", u64::from(local.banks) * 2);
        self.add("E8", Cause::Local, saved, &[Resource::LocalBanks], &[key]);
    }

    /// E9: resources that keep the load/store unit full.
    fn load_store(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let (config, l) = (observed.config, account.latency);
        let full = account.lsu[ExecClass::DeviceMemory as usize];
        let waits = account.device() / l.total.max(1.0);
        let core = &observed.report.core;
        let instructions = (core.device_loads + core.device_stores + core.device_atomics) as f64;
        // Little's law: device instructions in flight per core.
        let pending = instructions * l.total / (observed.active_cores() * account.cycles);
        let (entries, l1) = (config.core.lsu.pending_entries, config.core.l1);
        let blocked = l.mshrs + l.merges + l.outgoing + l.lines;
        let share = |part: f64| if blocked > 0.0 { part / blocked } else { 0.0 };
        let is_full = (pending / f64::from(entries)).min(1.0);
        let entries = u64::from(entries) * 2;
        // More accesses in flight help only as far as the resources behind have capacity for them.
        let gain = self.gain_of_crowd(2.0);
        let saved = (full * is_full / 2.0).min(gain);
        self.add("E9", Cause::LoadStore, saved, &[], &[("core.lsu.pending_entries", entries)]);
        let rest = full * (1.0 - is_full);
        for (part, key, now) in [
            (l.mshrs, "core.l1.mshrs", l1.mshrs),
            (l.merges, "core.l1.mshr_merges", l1.mshr_merges),
            (l.outgoing, "interconnect.queue_entries", config.interconnect.queue_entries),
        ] {
            let saved = ((rest * share(part) + waits * part) / 2.0).min(gain);
            self.add("E9", Cause::LoadStore, saved, &[], &[(key, u64::from(now) * 2)]);
        }
    }

    /// Cycles saved if the number of device accesses in flight grows by this factor, by the queueing network.
    /// Infinite if there is no network.
    fn gain_of_crowd(&self, times: f64) -> f64 {
        let network = Network::of(self.observed, self.account);
        let crowd = [Less::Crowd(times)];
        network.map_or(f64::INFINITY, |network| self.account.passed_on() * network.saving(&crowd))
    }

    /// E10 to E12: latencies, widths and sizes from the L1 to memory, by the queueing network.
    fn hierarchy(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let (config, l) = (observed.config, account.latency);
        let network = Network::of(observed, account);
        // The network models the whole run, barriers included.
        let cycles = account.passed_on();
        // Instruction lines use the same path, except for the L1.
        let waits = observed.code_waits();
        let code = account.of(SlotUse::Fetch) * waits.line / observed.code_line_latency();
        let queues = l.ports + l.l2_queue + l.dram_queue;
        let queued = account.of(SlotUse::Fetch) * waits.queue / queues.max(1.0);
        let (wires, l2) = (config.interconnect.latency_cycles, config.l2.hit_latency_cycles);
        let l3 = config.l3.hit_latency_cycles;
        for (cause, part, key, now, of_code) in [
            (Cause::L1, l.l1, "core.l1.hit_latency_cycles", config.core.l1.hit_latency_cycles, 0.0),
            (Cause::Interconnect, l.wires, "interconnect.latency_cycles", wires, 2.0 * code),
            (Cause::L2, l.l2, "l2.hit_latency_cycles", l2, code),
            (Cause::L3, l.l3, "l3.hit_latency_cycles", l3, 0.0),
        ] {
            if now > 1 {
                let less = f64::from(now - now / 2);
                let sooner = [Less::Latency(part * less / f64::from(now))];
                let data = network.as_ref().map_or(0.0, |network| cycles * network.saving(&sooner));
                let setting = [(key, u64::from(now / 2))];
                self.add("E10", cause, data + of_code * less, &[], &setting);
                if of_code > 0.0 {
                    self.add("E10", Cause::Fetch, data + of_code * less, &[], &setting);
                }
            }
        }
        let Some(network) = network else { return };
        let ports = [Resource::RequestPorts, Resource::ReplyPorts];
        let port =
            ("interconnect.port_bytes_per_cycle", u64::from(config.interconnect.port_bytes_per_cycle) * 2);
        // Instruction lines wait half as long in the same queues.
        let saved = cycles * network.saving(&ports.map(Less::Wider)) + queued * l.ports / 2.0;
        self.add("E11", Cause::Interconnect, saved, &ports, &[port]);
        let (slices, channels) = (u64::from(config.l2.slices) * 2, u64::from(config.dram.channels) * 2);
        let smaller = ("l2.slice_bytes", u64::from(config.l2.slice_bytes / 2));
        let mut more = vec![Less::More(Resource::L2)];
        let mut eased = vec![Resource::L2];
        if observed.active_cores() > f64::from(config.l2.slices) {
            more.extend(ports.map(Less::More));
            eased.extend(ports);
        }
        let saved = cycles * network.saving(&more) + queued * l.l2_queue / 2.0;
        self.add("E11", Cause::L2, saved, &eased, &[("l2.slices", slices), smaller]);
        if channels <= u64::from(config.l2.slices) {
            let saved = cycles * network.saving(&[Less::More(Resource::Dram)]) + queued * l.dram_queue / 2.0;
            self.add("E11", Cause::Dram, saved, &[Resource::Dram], &[("dram.channels", channels)]);
        } else {
            more.push(Less::More(Resource::Dram));
            eased.push(Resource::Dram);
            let settings = [("dram.channels", channels), ("l2.slices", slices), smaller];
            let saved = cycles * network.saving(&more) + queued * (l.l2_queue + l.dram_queue) / 2.0;
            self.add("E11", Cause::Dram, saved, &eased, &settings);
        }
        // A larger cache takes over accesses of the next level.
        let shadows = &observed.watch.shadows;
        let (l1_size, l2_size) = (u64::from(config.core.l1.bytes) * 2, u64::from(config.l2.slice_bytes) * 2);
        let gain = shadows.l1_gain();
        let behind = [Resource::L2, Resource::Dram, Resource::ReplyPorts, Resource::RequestPorts];
        let mut fewer = vec![Less::Latency(l.unloaded_behind_l1() * gain)];
        fewer.extend(behind.map(|resource| Less::Relieved(resource, gain)));
        let saved = cycles * network.saving(&fewer);
        self.add("E12", Cause::L2, saved, &behind, &[("core.l1.bytes", l1_size)]);
        let gain = shadows.l2_gain();
        let fewer = [
            Less::Latency((l.l3 + l.dram) * gain),
            Less::Relieved(Resource::L3, gain),
            Less::Relieved(Resource::Dram, gain),
        ];
        let saved = cycles * network.saving(&fewer);
        self.add("E12", Cause::Dram, saved, &[Resource::Dram], &[("l2.slice_bytes", l2_size)]);
    }

    /// E13, E15: number of waves.
    fn waves(&mut self) {
        let (observed, account) = (self.observed, self.account);
        let (config, occupancy) = (observed.config, observed.report.occupancy);
        let core = &config.core;
        let workgroups = observed.report.core.workgroups as f64 / observed.watch.launches.max(1) as f64;
        let resident = f64::from(occupancy.workgroups) * observed.cores();
        if workgroups > resident {
            let (key, now) = limiting(config, occupancy.limiter);
            let setting = [(key, u64::from(now) * 2)];
            // Doubling one limit can run into another limit, and the grid may not have enough workgroups.
            let more = self.occupancy_with(&setting).min(workgroups / resident);
            let hidden = 1.0 - 1.0 / more;
            let uses = [SlotUse::Memory, SlotUse::Scoreboard, SlotUse::Branch, SlotUse::Fence];
            // All waves wait for an instruction line at the same time, so more waves do not hide it.
            let code = observed.code_waits();
            let fetching = account.of(SlotUse::Fetch) * (code.redirect + code.group);
            let device = account.device();
            let others = uses.iter().map(|&u| account.of(u)).sum::<f64>() + fetching - device;
            let issue = Network::of_issue(observed, account);
            let room = issue.map_or(0.0, |issue| account.passed_on() * issue.saving(&[Less::Crowd(more)]));
            let saved = (others * hidden).min(room) + (device * hidden).min(self.gain_of_crowd(more));
            self.add("E13", self.largest_wait(), saved, &[], &setting);
        }
        if core.issue.policy == IssuePolicy::TwoLevel {
            let key = ("core.issue.two_level_active", u64::from(core.issue.two_level_active) * 2);
            self.add("E15", Cause::WaveLimit, account.of(SlotUse::WaveLimit) / 2.0, &[], &[key]);
        }
    }

    /// Factor by which the number of workgroups per core changes with this setting; 1 if unknown.
    fn occupancy_with(&self, setting: &[(&str, u64)]) -> f64 {
        let settings: Vec<String> = setting.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let Some(launch) = &self.observed.watch.largest else { return 1.0 };
        let fit =
            |config: &Config| Occupancy::of(config, launch).ok().map(|o| f64::from(o.workgroups.max(1)));
        let then = self.observed.config.with(&settings).ok();
        then.and_then(|then| Some(fit(&then)? / fit(self.observed.config)?)).unwrap_or(1.0)
    }

    /// The largest cost that additional waves can hide.
    fn largest_wait(&self) -> Cause {
        let hidden = |cause: &Cause| {
            !matches!(cause, Cause::IssueSlots | Cause::Unit(_) | Cause::Barrier | Cause::Squashed)
        };
        let costs = costs(self.observed, self.account);
        costs.iter().map(|cost| cost.cause).find(hidden).unwrap_or(Cause::Dram)
    }
}

/// The parameter that admits no more workgroups to a core, and its value.
pub(crate) fn limiting(config: &Config, limiter: Limiter) -> (&'static str, u32) {
    let core = &config.core;
    match limiter {
        Limiter::Workgroups => ("core.max_workgroups", core.max_workgroups),
        Limiter::Waves => ("core.max_waves", core.max_waves),
        Limiter::Registers => ("core.register_file_bytes", core.register_file_bytes),
        Limiter::LocalMemory => ("core.local_memory_bytes", core.local_memory_bytes),
    }
}

fn class_key(unit: &str, class: ExecClass, key: &str) -> String {
    format!("core.units[{unit}].classes[{}].{key}", class.name())
}
