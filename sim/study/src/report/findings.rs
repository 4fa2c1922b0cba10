//! Findings in words: the causes of [`Limits`](wave_observe::limits::Limits), each with evidence from the counters.

use super::facts::Facts;
use std::collections::BTreeSet;
use wave_isa::table::{Op, Space};
use wave_machine::config::IssuePolicy;
use wave_machine::core::probe::Level;
use wave_machine::stats::SlotUse;
use wave_observe::figures::{self, ratio};
use wave_observe::limits::Limiter;
use wave_observe::limits::account::{Observed, Resource};
use wave_observe::limits::cause::Cause;
use wave_observe::limits::listing::Instruction;
use wave_observe::limits::profile::Line;
use wave_observe::limits::situation::BUSY;
use wave_observe::numbers::{integer, percent, short};

/// Smallest fraction of the issue slots for which a use is mentioned.
const WORTH_TELLING: f64 = 0.05;

/// A limiter with evidence.
#[derive(Debug, Clone)]
pub(crate) struct Finding<'f> {
    /// The limiter.
    pub limiter: &'f Limiter,
    /// Evidence of its cause, one paragraph each.
    pub evidence: Vec<String>,
    /// Instructions to look at: link into the profile, and text.
    pub instructions: Vec<(String, String)>,
    /// Sections of the report that show it: link name and title.
    pub sections: Vec<(&'static str, &'static str)>,
}

/// The limiters of the run, largest cost first.
pub(crate) fn findings<'f>(facts: &'f Facts<'_>) -> Vec<Finding<'f>> {
    let mut findings: Vec<Finding<'f>> =
        facts.limits.limiters.iter().map(|limiter| finding(facts, limiter)).collect();
    // Text that applies to several findings appears only at the first.
    let mut said = BTreeSet::new();
    for finding in &mut findings {
        finding.evidence.retain(|text| said.insert(text.clone()));
    }
    findings
}

fn finding<'f>(facts: &'f Facts<'_>, limiter: &'f Limiter) -> Finding<'f> {
    let busy = ("busy", "How busy each part was");
    let hierarchy = ("memory", "Caches and memory");
    let waves = ("occupancy", "Occupancy");
    let stages = ("pipeline", "Pipeline");
    let (evidence, sections) = match limiter.cause {
        Cause::IssueSlots => (issue_slots(facts), vec![busy]),
        Cause::Squashed => (squashed(facts), vec![]),
        Cause::Operands => (operand(facts), vec![]),
        Cause::Unit(n) => (unit(facts, n), vec![busy]),
        Cause::WritePorts => (write_ports(facts), vec![]),
        Cause::Results(_) => (vec![occupancy(facts)], vec![waves, stages]),
        Cause::Local => (local(facts), vec![waves]),
        Cause::LoadStore => (load_store(facts), vec![hierarchy]),
        Cause::L1 => (memory(facts, &[Resource::L1]), vec![hierarchy, waves]),
        Cause::Interconnect => {
            let ports = [Resource::RequestPorts, Resource::ReplyPorts, Resource::Links];
            (memory(facts, &ports), vec![hierarchy, waves])
        }
        Cause::L2 => (memory(facts, &[Resource::L2]), vec![hierarchy, waves]),
        Cause::L3 => (memory(facts, &[Resource::L3]), vec![hierarchy, waves]),
        Cause::Dram => (memory(facts, &[Resource::Dram]), vec![hierarchy, waves]),
        Cause::Branch => (branch(facts), vec![stages]),
        Cause::Fetch => (fetch(facts), vec![stages]),
        Cause::Barrier => (barrier(facts), vec![waves]),
        Cause::WaveLimit => (wave_limit(facts), vec![waves]),
        Cause::Release => (vec![], vec![("time", "Over time")]),
    };
    let instructions = limiter.at(&facts.instructions);
    let instructions =
        instructions.map(|(i, words)| (i.anchor(), format!("{words}{}", met(facts, i)))).collect();
    Finding { limiter, evidence, instructions, sections }
}

/// Outcome of an instruction's memory accesses, in words.
fn met(facts: &Facts<'_>, i: &Instruction) -> String {
    let line = &i.line;
    let mut parts = Vec::new();
    if line.results > 0 && i.op.and_then(Op::memory).is_some() {
        let cycles = ratio(line.latency, line.results);
        parts.push(format!(
            "{} cycles from issue on average, {} at most",
            short(cycles),
            integer(line.longest)
        ));
    }
    if let Some((lines, least)) = i.lines_each().zip(i.least_lines(facts.config)) {
        let what = if line.local_accesses > 0 { "passes over the banks" } else { "lines" };
        let best =
            if lines > 1.5 * least { format!(" where {} would do", short(least)) } else { String::new() };
        parts.push(format!("{} {what} each{best}", short(lines)));
    }
    if let Some(hits) = hit_rate(line) {
        parts.push(format!("{} L1 hits", percent(hits)));
    }
    let width = u64::from(facts.config.core.wave_width);
    let lanes = ratio(line.lanes, line.issues() * width);
    if line.issues() > 0 && lanes < 0.9 && i.op.is_some_and(|op| op.memory().is_some()) {
        parts.push(format!("{} of the lanes take part", percent(lanes)));
    }
    if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) }
}

/// L1 hit rate of an instruction's cached loads and atomics.
pub(crate) fn hit_rate(line: &Line) -> Option<f64> {
    let l1 = &line.l1;
    let looked_up = l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses;
    (looked_up > 0).then(|| ratio(l1.hits, looked_up))
}

fn occupancy(facts: &Facts<'_>) -> String {
    let occupancy = figures::OCCUPANCY.of(&facts.total()) / 100.0;
    let o = &facts.report.occupancy;
    let room = o.workgroups * o.waves_per_workgroup;
    format!(
        "On average {} of the wave slots hold a wave; there is room for {room} of {} a core, limited by {}.",
        percent(occupancy),
        facts.config.core.max_waves,
        o.limiter
    )
}

fn issue_slots(facts: &Facts<'_>) -> Vec<String> {
    let lanes = figures::SIMD_EFFICIENCY.of(&facts.total()) / 100.0;
    let mut text = vec![format!(
        "In {} of the issue slots an instruction issued and took effect.",
        percent(facts.share(SlotUse::Issued))
    )];
    if lanes < 0.9 {
        let partial = facts.limits.situation.as_ref().is_some_and(|situation| situation.partial_waves);
        text.push(format!(
            "Only {} of the lanes take part in them, so that much of that work is half empty: {}.",
            percent(lanes),
            match partial {
                true =>
                    "use workgroups whose threads fill their waves, and let lanes of a wave go the same way",
                false => "let lanes of a wave go the same way",
            }
        ));
    }
    text
}

fn squashed(facts: &Facts<'_>) -> Vec<String> {
    let mode = facts.config.core.divergence;
    vec![format!(
        "Where no lane is active, a wave walks on to the end of the construct, or jumps there: this machine's \
         core.divergence is {}. Guards that are false in every lane cost a slot too.",
        match mode {
            wave_machine::config::DivergenceMode::Walk => "walk",
            wave_machine::config::DivergenceMode::Jump => "jump",
        }
    )]
}

fn operand(facts: &Facts<'_>) -> Vec<String> {
    let core = &facts.report.core;
    vec![format!(
        "{} operand rows had to wait a cycle for their register bank. A scheduler has {} banks, and register r of \
         wave slot s lies in bank (r + s / schedulers) mod banks: operands of one instruction should lie in \
         different ones. There are {} collectors.",
        integer(core.bank_conflicts),
        facts.config.core.registers.banks,
        facts.config.core.registers.collectors
    )]
}

fn unit(facts: &Facts<'_>, n: usize) -> Vec<String> {
    let Some(busy) = facts.busy_of(Resource::Unit(n)) else { return Vec::new() };
    let then = match busy.share >= BUSY {
        true => "that is what the kernel runs against".to_owned(),
        false => format!(
            "that is not full: a slot is charged so too in the cycle in which the oldest collector reads its last operand, \
             and where instructions for one unit follow each other while another is free. {}",
            more_waves(facts, "Instructions for different units in turn fill such slots")
        ),
    };
    vec![format!("The {} are in use {} of the time; {then}.", busy.name, percent(busy.share))]
}

fn write_ports(facts: &Facts<'_>) -> Vec<String> {
    let conflicts = facts.report.core.write_port_conflicts;
    vec![format!("In {} cycles a result waited for a register write port.", integer(conflicts))]
}

fn local(facts: &Facts<'_>) -> Vec<String> {
    let core = &facts.report.core;
    let mut text = vec![format!(
        "An access of local memory takes {} cycles, and one more for each pass over its banks beyond the first: {} passes \
         each on average.",
        facts.config.core.local.latency_cycles,
        short(ratio(core.local_passes, core.local_accesses))
    )];
    let conflicting = |i: &Instruction| {
        i.accesses(Space::Local)
            && i.lines_each().zip(i.least_lines(facts.config)).is_some_and(|(n, least)| n > 1.5 * least)
    };
    if facts.instructions.iter().any(conflicting) {
        text.push("Rows that are a word longer move the lanes of a bank conflict apart.".to_owned());
    }
    text.push(occupancy(facts));
    text
}

fn load_store(facts: &Facts<'_>) -> Vec<String> {
    let (report, config) = (&facts.report, facts.config);
    let core = &report.core;
    let mut text = vec![format!(
        "The load/store unit of a core makes one L1 access or one pass over the local memory banks a cycle, in order. \
         It was busy with them in {} of the cores' cycles.",
        percent(ratio(core.line_accesses + core.local_passes, report.cycles * u64::from(config.cores)))
    )];
    let l1 = &report.l1;
    if l1.reservation_fails > 0 {
        let why = [
            (l1.fails_mshr, "no MSHR was free"),
            (l1.fails_merge, "too many waited for the line already"),
            (l1.fails_outgoing, "the queue to the L2 was full"),
            (l1.fails_responses, "the queue of responses was full"),
            (l1.fails_order, "an atomic had to go first"),
        ];
        let (most, why) = why.into_iter().max_by_key(|&(n, _)| n).unwrap_or_default();
        let cycles = facts.report.cycles * u64::from(config.cores);
        text.push(format!(
            "The L1s rejected {} accesses at first, mostly ({}) because {why}; they were held up in {} of the cycles.",
            integer(l1.reservation_fails),
            integer(most),
            percent(ratio(l1.reservation_fail_cycles, cycles))
        ));
    }
    text
}

/// A sentence of advice, extended by more waves if those are possible.
fn more_waves(facts: &Facts<'_>, helps: &str) -> String {
    let situation = facts.limits.situation.as_ref();
    situation.map_or_else(|| helps.to_owned(), |situation| situation.more_waves.beside(helps))
}

/// Evidence of waits for a level of the memory hierarchy that consists of these resources.
fn memory(facts: &Facts<'_>, resources: &[Resource]) -> Vec<String> {
    let mut text = Vec::new();
    let parts = facts.busy().into_iter().filter(|busy| resources.contains(&busy.resource));
    if let Some(most) = parts.max_by(|a, b| a.share.total_cmp(&b.share)) {
        let then = match most.share >= BUSY {
            true => {
                "the bandwidth there is what limits. Fewer bytes or lines, or more reuse before that point, help; more \
                 waves do not"
                    .to_owned()
            }
            false => format!(
                "there is room, so it is the time that an access takes which limits, or accesses come in bursts. {}",
                more_waves(facts, "More loads under way in each wave before the first is needed hide it")
            ),
        };
        text.push(format!("The {} are in use {} of the time: {then}.", most.name, percent(most.share)));
    }
    let l1_mshrs = u64::from(facts.config.core.l1.mshrs * facts.config.cores);
    let (sum, looks) = facts.windows.iter().fold((0, 0), |(sum, looks), window| {
        (sum + window.counts.levels[Level::L1Mshrs as usize], looks + window.counts.looks)
    });
    let full = ratio(sum, looks * l1_mshrs);
    if full > 0.8 {
        text.push(format!("{} of the L1s' MSHRs hold an outstanding line on average.", percent(full)));
    }
    if facts.share(SlotUse::Fence) >= WORTH_TELLING {
        text.push(format!(
            "{} of the issue slots wait at a fence, wait or barrier, which does not issue before the wave's own loads are \
             back and its stores performed; one that releases at device or system scope also waits until the L2 has \
             acknowledged the stores of its core. {}",
            percent(facts.share(SlotUse::Fence)),
            match facts.report.core.fences > 0 {
                true => "Fewer of them, or a narrower scope where that is enough, wait less.",
                false => "There are no fences: fewer barriers, or loads that are back before them, wait less.",
            }
        ));
    }
    text.push(occupancy(facts));
    text
}

fn branch(facts: &Facts<'_>) -> Vec<String> {
    let core = &facts.report.core;
    vec![format!(
        "After a control or synchronisation instruction its wave may not issue for {} cycles; {} of them also sent the \
         wave elsewhere, so that it had to fetch anew. {}",
        facts.config.core.branch_latency_cycles,
        integer(core.taken_redirects),
        occupancy(facts)
    )]
}

fn fetch(facts: &Facts<'_>) -> Vec<String> {
    let core = &facts.report.core;
    let watch = &facts.gathered.watch;
    let waits = Observed { config: facts.config, report: &facts.report, watch }.code_waits();
    let mut parts = [
        (waits.line, "lines of code come from the L2 or from memory"),
        (
            waits.queue,
            "lines of code queue with the kernel's data on their way from the L2: what costs the data time costs it here too",
        ),
        (waits.redirect, "waves went elsewhere and fetch anew"),
        (waits.group, "groups come from the instruction cache"),
    ];
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [(share, most), ..] = parts;
    let most = format!("For {} of that time, {most}.", percent(share));
    vec![
        most,
        format!(
            "{} of {} fetches missed the instruction cache, and {} groups were dropped because the wave went elsewhere. A \
         fetch delivers {} words at most, and a scheduler fetches for one wave a cycle.",
            integer(core.icache_misses),
            integer(core.icache_hits + core.icache_misses),
            integer(core.fetches_discarded),
            facts.config.core.fetch.words
        ),
    ]
}

fn barrier(facts: &Facts<'_>) -> Vec<String> {
    let o = &facts.report.occupancy;
    vec![format!(
        "The waves of a workgroup come to the barrier at different times, and there is not enough other work: {} of {} \
         fit on a core.",
        wave_observe::numbers::counted(o.workgroups.into(), "workgroup"),
        wave_observe::numbers::counted(o.waves_per_workgroup.into(), "wave")
    )]
}

fn wave_limit(facts: &Facts<'_>) -> Vec<String> {
    let issue = &facts.config.core.issue;
    vec![match issue.policy {
        IssuePolicy::TwoLevel => format!(
            "With the policy two_level only {} waves of a scheduler may issue (core.issue.two_level_active).",
            issue.two_level_active
        ),
        IssuePolicy::PlugIn(chosen) => format!(
            "The plug-in {} lets none of its ready waves issue, or there are too few of them. {}",
            chosen.name(),
            occupancy(facts)
        ),
        _ => format!(
            "A scheduler has {} issue slots a cycle, each for another wave, and too few of its waves are ready. {}",
            issue.width,
            occupancy(facts)
        ),
    }]
}

/// Why schedulers have no wave, if significant.
pub(crate) fn empty(facts: &Facts<'_>) -> Vec<String> {
    let (config, report) = (facts.config, &facts.report);
    let mut text = Vec::new();
    let o = &report.occupancy;
    if let Some(launch) = facts.launch {
        let (groups, room) = (launch.workgroups(), u64::from(o.workgroups) * u64::from(config.cores));
        let waves = groups * u64::from(o.waves_per_workgroup);
        let schedulers = u64::from(config.cores * config.core.schedulers);
        if waves < schedulers {
            text.push(format!(
                "The grid is too small for the machine: {} waves for {} schedulers. Launch more, smaller pieces of \
                 work at once.",
                integer(waves),
                integer(schedulers)
            ));
        } else if groups <= room {
            text.push(format!(
                "The whole grid of {} workgroups is resident at once (there is room for {}), so schedulers are empty \
                 before the first waves arrive and as soon as theirs are done.",
                integer(groups),
                integer(room)
            ));
        } else {
            text.push(format!(
                "The grid has {} workgroups and the machine room for {}: {} rounds, of which the last may be partly \
                 empty.",
                integer(groups),
                integer(room),
                short(ratio(groups, room))
            ));
        }
    }
    let idle = facts.gathered.cores().iter().filter(|slots| slots[SlotUse::Issued as usize] == 0).count();
    if idle > 0 {
        text.push(format!("{idle} of {} cores never issued an instruction.", config.cores));
    }
    let launches = facts.gathered.watch.launches;
    if launches > 1 {
        text.push(format!(
            "There are {} launches, one after the other, and each begins and ends with an empty machine.",
            integer(launches)
        ));
    }
    text
}
