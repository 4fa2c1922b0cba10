//! What limits a kernel, in words: the uses that the lost issue slots were charged to, each with what the counters have
//! to say about its cause.

use super::facts::{Facts, Instruction};
use super::text::{integer, percent, ratio, short};
use crate::config::IssuePolicy;
use crate::core::probe::Level;
use crate::isa::table::{Op, Space};
use crate::observe::figures;
use crate::stats::SlotUse;

/// Uses with a smaller part of the issue slots are not spoken of.
const WORTH_TELLING: f64 = 0.05;
/// Nor are instructions with a smaller part of them than this.
const WORTH_NAMING: f64 = 0.005;
/// Findings at most.
const FINDINGS: usize = 4;
/// A part of the machine with more than this of its time in use has no room for more to speak of.
const BUSY: f64 = 0.7;

/// Something that costs time.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which use of issue slots.
    pub slot_use: SlotUse,
    /// The part of the issue slots that it has.
    pub share: f64,
    /// In one sentence.
    pub title: String,
    /// What is known of its cause, and what would change it; a paragraph each.
    pub text: Vec<String>,
    /// Instructions to look at: where they stand in the profile, and what they are.
    pub instructions: Vec<(String, String)>,
    /// Sections of the report that show it: name in links, title.
    pub sections: Vec<(&'static str, &'static str)>,
}

/// What limits the run, the costliest first; nothing if no slot was lost.
pub fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let lost = SlotUse::ALL.iter().filter(|u| !matches!(u, SlotUse::Issued | SlotUse::Squashed));
    let mut uses: Vec<SlotUse> = lost.copied().filter(|&u| facts.share(u) >= WORTH_TELLING).collect();
    if facts.share(SlotUse::Squashed) >= WORTH_TELLING {
        uses.push(SlotUse::Squashed);
    }
    if facts.share(SlotUse::Issued) >= BUSY {
        uses.push(SlotUse::Issued);
    }
    uses.sort_by_key(|&slot_use| std::cmp::Reverse(facts.report.slots[slot_use as usize]));
    uses.truncate(FINDINGS);
    uses.into_iter().map(|slot_use| finding(facts, slot_use)).collect()
}

fn finding(facts: &Facts<'_>, slot_use: SlotUse) -> Finding {
    let share = facts.share(slot_use);
    let of_slots = percent(share);
    let title = match slot_use {
        SlotUse::Issued => format!(
            "{of_slots} of the issue slots issue: the machine is busy with this kernel's instructions"
        ),
        SlotUse::Squashed => {
            format!("{of_slots} of the issue slots go to instructions that no lane takes part in")
        }
        SlotUse::Operand => {
            format!("{of_slots} of the issue slots wait for operands to be read from the register banks")
        }
        SlotUse::Unit => format!("{of_slots} of the issue slots wait for a busy execution unit"),
        SlotUse::Lsu => {
            format!("{of_slots} of the issue slots wait because the load/store unit takes no more")
        }
        SlotUse::Scoreboard => {
            format!("{of_slots} of the issue slots wait for the result of an earlier calculation")
        }
        SlotUse::Memory => format!("{of_slots} of the issue slots wait for loads or atomics to come back"),
        SlotUse::Fence => format!(
            "{of_slots} of the issue slots wait at fences, waits and barriers for accesses to be performed"
        ),
        SlotUse::Branch => format!(
            "{of_slots} of the issue slots wait behind branches, fences and barriers that have just issued"
        ),
        SlotUse::Fetch => format!("{of_slots} of the issue slots wait for instructions to be fetched"),
        SlotUse::Barrier => format!("{of_slots} of the issue slots wait for other waves to reach a barrier"),
        SlotUse::WaveLimit => format!("{of_slots} of the issue slots find no further wave that may issue"),
        SlotUse::Empty => format!("{of_slots} of the issue slots have no wave at all"),
    };
    let (mut text, sections) = match slot_use {
        SlotUse::Issued => (issued(facts), vec![("busy", "How busy each part was")]),
        SlotUse::Squashed => (squashed(facts), vec![]),
        SlotUse::Operand => (operand(facts), vec![]),
        SlotUse::Unit => (unit(facts), vec![("busy", "How busy each part was")]),
        SlotUse::Lsu => (lsu(facts), vec![("memory", "Caches and memory")]),
        SlotUse::Scoreboard => (scoreboard(facts), vec![("occupancy", "Occupancy"), ("pipeline", "Pipeline")]),
        SlotUse::Memory => (memory(facts), vec![("memory", "Caches and memory"), ("occupancy", "Occupancy")]),
        SlotUse::Fence => (vec!["A fence, wait or barrier does not issue before the wave's own loads are back and its stores performed; one that releases at device or system scope also waits until the L2 has acknowledged the stores of its core. Fewer of them, or a narrower scope where that is enough, wait less.".into()], vec![("memory", "Caches and memory")]),
        SlotUse::Branch => (branch(facts), vec![("pipeline", "Pipeline")]),
        SlotUse::Fetch => (fetch(facts), vec![("pipeline", "Pipeline")]),
        SlotUse::Barrier => (barrier(facts), vec![("occupancy", "Occupancy")]),
        SlotUse::WaveLimit => (wave_limit(facts), vec![("occupancy", "Occupancy")]),
        SlotUse::Empty => (empty(facts), vec![("occupancy", "Occupancy"), ("time", "Over time")]),
    };
    let empty = facts.share(SlotUse::Empty);
    if empty > 0.2 && slot_use != SlotUse::Empty {
        text.insert(
            0,
            format!(
                "That is {} of the slots of schedulers that have a wave.",
                percent(share / (1.0 - empty))
            ),
        );
    }
    let hot = match slot_use {
        SlotUse::Memory | SlotUse::Scoreboard => {
            let awaited = facts.awaited(slot_use == SlotUse::Memory);
            awaited.into_iter().take(3).map(|(i, slots)| (i, slots, "waiting for it costs")).collect()
        }
        _ => {
            let slots = |i: &Instruction| i.line.slots[slot_use as usize];
            let hottest = facts.hottest(slot_use, 3);
            hottest.into_iter().map(|i| (i, slots(i), "has")).collect::<Vec<_>>()
        }
    };
    let total = facts.slots();
    let instructions = hot
        .into_iter()
        .filter(|&(_, slots, _)| ratio(slots, total) >= WORTH_NAMING)
        .map(|(i, slots, costs)| {
            let share = percent(ratio(slots, total));
            (
                i.anchor(),
                format!("{} ({}): {costs} {share} of all issue slots{}", i.text, i.place(), met(facts, i)),
            )
        })
        .collect();
    Finding { slot_use, share, title, text, instructions, sections }
}

/// What the accesses of an instruction met.
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

/// Part of an instruction's cached loads and atomics that found everything in the L1.
pub fn hit_rate(line: &super::profile::Line) -> Option<f64> {
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

fn issued(facts: &Facts<'_>) -> Vec<String> {
    let lanes = figures::SIMD_EFFICIENCY.of(&facts.total()) / 100.0;
    let mut text = vec![
        "Fewer instructions make it faster, or more cores; nothing that waits is in the way.".to_owned(),
    ];
    if lanes < 0.9 {
        text.push(format!(
            "Only {} of the lanes take part in them, so much of that work is half empty: let lanes of a wave go the \
             same way.",
            percent(lanes)
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
            crate::config::DivergenceMode::Walk => "walk",
            crate::config::DivergenceMode::Jump => "jump",
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

fn unit(facts: &Facts<'_>) -> Vec<String> {
    let busiest = facts
        .busy()
        .into_iter()
        .filter(|busy| busy.name.ends_with(" units"))
        .max_by(|a, b| a.share.total_cmp(&b.share));
    let mut text = Vec::new();
    if let Some(busy) = busiest {
        let then = if busy.share >= BUSY {
            "Fewer of their instructions, more lanes a cycle in that unit, or other operations for the same result would \
             help."
        } else {
            "That is not full: a slot is charged so too in the cycle in which the oldest collector reads its last operand, \
             and where instructions for one unit follow each other while another is free. More waves, or instructions \
             for different units in turn, fill such slots."
        };
        text.push(format!("The busiest are the {}, {} of the time. {then}", busy.name, percent(busy.share)));
    }
    let conflicts = facts.report.core.write_port_conflicts;
    if conflicts > 0 {
        text.push(format!("In {} cycles a result waited for a register write port.", integer(conflicts)));
    }
    text
}

fn lsu(facts: &Facts<'_>) -> Vec<String> {
    let (report, config) = (&facts.report, facts.config);
    let core = &report.core;
    let mut text = vec![format!(
        "The load/store unit of a core makes one L1 access or one pass over the local memory banks a cycle, in order. \
         It was busy with them in {} of the cores' cycles.",
        percent(ratio(core.line_accesses + core.local_passes, report.cycles * u64::from(config.cores)))
    )];
    text.extend(scattered(facts));
    let local = facts.instructions.iter().filter(|i| i.accesses(Space::Local));
    let conflicts =
        local.filter(|i| i.lines_each().zip(i.least_lines(config)).is_some_and(|(n, least)| n > 1.5 * least));
    if conflicts.count() > 0 {
        text.push(
            "Some local memory instructions meet bank conflicts: lanes whose addresses differ by a multiple of all banks \
             together want the same one. Rows that are a word longer move them apart."
                .to_owned(),
        );
    }
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
    text.extend(memory_side(facts));
    text
}

fn scoreboard(facts: &Facts<'_>) -> Vec<String> {
    vec![
        "An instruction does not issue before what it reads is written. More work that does not depend on it between \
         the two hides the wait, as do more waves for the scheduler to choose from."
            .to_owned(),
        occupancy(facts),
    ]
}

/// Which part of the way to memory is full, if one is.
fn memory_side(facts: &Facts<'_>) -> Option<String> {
    let parts = ["L1 ports", "L2 request ports", "L2 reply ports", "interconnect links", "memory channels"];
    let busy = facts.busy().into_iter().filter(|busy| parts.contains(&busy.name.as_str()));
    let most = busy.max_by(|a, b| a.share.total_cmp(&b.share))?;
    (most.share >= BUSY).then(|| {
        format!(
            "The {} are in use {} of the time: the bandwidth there is what limits. Fewer bytes or lines, or more reuse \
             before that point, help; more waves do not.",
            most.name,
            percent(most.share)
        )
    })
}

fn memory(facts: &Facts<'_>) -> Vec<String> {
    let report = &facts.report;
    let mut text = Vec::new();
    let awaited = facts.awaited(true);
    let local: u64 = awaited.iter().filter(|(i, _)| i.accesses(Space::Local)).map(|(_, slots)| slots).sum();
    let all: u64 = awaited.iter().map(|(_, slots)| slots).sum();
    if 2 * local > all {
        text.push(format!(
            "Most of it is for local memory, where an access takes {} cycles and one more for each pass: {} passes each \
             on average.",
            facts.config.core.local.latency_cycles,
            short(ratio(report.core.local_passes, report.core.local_accesses))
        ));
        text.push(occupancy(facts));
        return text;
    }
    match memory_side(facts) {
        Some(full) => text.push(full),
        None => {
            text.push(format!(
                "No part of the way to memory is full (the memory channels are in use {} of the time), so it is the time \
                 that an access takes which limits. More waves, more loads under way in each before the first is \
                 needed, or data that is nearer hide or shorten it.",
                percent(facts.dram_busy())
            ));
            text.push(occupancy(facts));
        }
    }
    text.extend(scattered(facts));
    let l1_mshrs = u64::from(facts.config.core.l1.mshrs * facts.config.cores);
    let windows = &facts.windows;
    let (sum, looks) = windows.iter().fold((0, 0), |(sum, looks), window| {
        (sum + window.counts.levels[Level::L1Mshrs as usize], looks + window.counts.looks)
    });
    let full = ratio(sum, looks * l1_mshrs);
    if full > 0.8 {
        text.push(format!("{} of the L1s' MSHRs hold an outstanding line on average.", percent(full)));
    }
    text
}

/// How many lines device memory instructions touch, if neighbouring addresses would touch far fewer.
fn scattered(facts: &Facts<'_>) -> Option<String> {
    let device = facts.instructions.iter().filter(|i| i.accesses(Space::Device));
    let (lines, least) = device.fold((0.0, 0.0), |(lines, least), i| {
        let times = i.line.issues() as f64;
        let each = i.lines_each().zip(i.least_lines(facts.config)).unwrap_or_default();
        (lines + times * each.0, least + times * each.1)
    });
    (lines > 1.5 * least).then(|| {
        format!(
            "Device memory instructions touch {} times as many lines as they would if neighbouring lanes accessed \
             neighbouring addresses.",
            short(lines / least)
        )
    })
}

fn branch(facts: &Facts<'_>) -> Vec<String> {
    let core = &facts.report.core;
    vec![format!(
        "After a control or synchronisation instruction its wave may not issue for {} cycles; {} of them also sent the \
         wave elsewhere, so that it had to fetch anew. Longer loop bodies, unrolled, have fewer; other waves fill the \
         gap. {}",
        facts.config.core.branch_latency_cycles,
        integer(core.taken_redirects),
        occupancy(facts)
    )]
}

fn fetch(facts: &Facts<'_>) -> Vec<String> {
    let core = &facts.report.core;
    vec![format!(
        "{} of {} fetches missed the instruction cache, and {} groups were dropped because the wave went elsewhere. A \
         fetch delivers {} words at most, and a scheduler fetches for one wave a cycle.",
        integer(core.icache_misses),
        integer(core.icache_hits + core.icache_misses),
        integer(core.fetches_discarded),
        facts.config.core.fetch.words
    )]
}

fn barrier(facts: &Facts<'_>) -> Vec<String> {
    let o = &facts.report.occupancy;
    vec![format!(
        "The waves of a workgroup come to the barrier at different times, and there is not enough other work: {} of {} \
         fit on a core. Smaller workgroups, of which more fit, or work that is shared out evenly wait less.",
        crate::observe::counted(o.workgroups.into(), "workgroup"),
        crate::observe::counted(o.waves_per_workgroup.into(), "wave")
    )]
}

fn wave_limit(facts: &Facts<'_>) -> Vec<String> {
    let issue = &facts.config.core.issue;
    vec![match issue.policy {
        IssuePolicy::TwoLevel => format!(
            "With the policy two_level only {} waves of a scheduler may issue (core.issue.two_level_active).",
            issue.two_level_active
        ),
        _ => format!(
            "A scheduler has {} issue slots a cycle, each for another wave, and too few waves are there. {}",
            issue.width,
            occupancy(facts)
        ),
    }]
}

fn empty(facts: &Facts<'_>) -> Vec<String> {
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
    let idle = facts.gathered.cores.iter().filter(|slots| slots[SlotUse::Issued as usize] == 0).count();
    if idle > 0 {
        text.push(format!("{idle} of {} cores never issued an instruction.", config.cores));
    }
    let launches = facts.gathered.launches;
    if launches > 1 {
        text.push(format!(
            "There are {} launches, one after the other, and each begins and ends with an empty machine.",
            integer(launches)
        ));
    }
    text
}
