//! What a wave waits for, since when, and who holds it.

use super::look::where_it_is;
use super::session::Session;
use crate::place;
use std::fmt::Write;
use wave_isa::Scope;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::table::{AccessKind, MemoryOp};
use wave_machine::clock::Cycle;
use wave_machine::core::collector::Waiting;
use wave_machine::core::place::Place;
use wave_machine::core::report::WaitsFor;
use wave_machine::core::uop::{Kind, MicroOps};
use wave_machine::core::view::{Flight, WaveView};
use wave_machine::core::wait::Wait;
use wave_machine::memory::Holder;
use wave_observe::numbers::counted;

/// Most cycles that are looked at for when a wait began.
const MOST_CYCLES: Cycle = 4096;
/// Most lines of memory, and most other waves, that are told.
const MOST: usize = 4;

/// What a wave waits for, in a few words.
pub(super) fn reason(view: &WaveView) -> String {
    match (view.wait, &view.report.waits_for) {
        (Some(Wait::Branch), _) => "the shadow of its last instruction to end".to_owned(),
        (Some(Wait::Operand), _) => "the operand reads of its last instruction".to_owned(),
        (Some(Wait::Collector), _) => "a free operand collector".to_owned(),
        (Some(Wait::Turn), _) => "nothing but its turn".to_owned(),
        (_, &WaitsFor::Accesses { own, stores }) => {
            let core = view.report.core;
            let own = (own > 0).then(|| {
                if own == 1 {
                    "1 memory access of its own".to_owned()
                } else {
                    format!("{own} memory accesses of its own")
                }
            });
            let stores = (stores > 0).then(|| {
                format!("{} of core {core} that the L2 has not acknowledged", counted(stores, "store"))
            });
            let parts: Vec<String> = own.into_iter().chain(stores).collect();
            if parts.is_empty() {
                // A fault that has waited (I8) happens in this cycle.
                "its fence to be granted, or its fault".to_owned()
            } else {
                parts.join(" and ")
            }
        }
        (_, &WaitsFor::Flights(count)) => {
            format!("its {} in flight, since all its lanes have halted", counted(count, "instruction"))
        }
        (_, other) => other.to_string(),
    }
}

/// The answer for the chosen wave.
///
/// # Errors
/// If there is none.
pub(super) fn why(session: &mut Session) -> Result<String, Diagnostic> {
    let view = session.chosen()?;
    let now = session.timeline.now();
    let report = &view.report;
    let mut text = format!("{} is at {}\n", place::wave(report), place::at(&session.program, report.pc));
    let rival = (view.wait == Some(Wait::Turn)).then(|| rival(session, &view)).flatten();
    let waits = match (view.wait, &rival) {
        (Some(Wait::Turn), None) => format!("nothing holds it: it can issue in cycle {now}"),
        _ => format!("it waits for {}", reason(&view)),
    };
    let since = match session.timeline.waits_since((report.core, report.slot), MOST_CYCLES) {
        Some((cycle, goes_back)) if view.wait != Some(Wait::Turn) || rival.is_some() => {
            let longer = if goes_back { " or longer" } else { "" };
            format!(", since cycle {cycle}{longer} ({})", counted(now - cycle, "cycle"))
        }
        _ => String::new(),
    };
    _ = writeln!(text, "{waits}{since}");
    _ = match view.last_issue {
        Some(cycle) => writeln!(text, "it last issued in cycle {cycle}"),
        None => writeln!(text, "it has not issued yet"),
    };
    text.extend(rival);
    let ops = session.timeline.machine().micro_ops().cloned();
    let Some(ops) = ops else { return Ok(text) };
    match view.wait {
        Some(Wait::Barrier) => text += &missing(session, &view),
        Some(Wait::Memory | Wait::Scoreboard) => {
            for flight in view.in_flight.iter().filter(|flight| holds(&view, flight, &ops)) {
                text += &held(session, &view, flight);
            }
        }
        Some(Wait::Operand) => {
            view.in_flight.last().iter().for_each(|flight| text += &held(session, &view, flight));
        }
        Some(Wait::Fence) | None => {
            view.in_flight.iter().for_each(|flight| text += &held(session, &view, flight));
        }
        Some(Wait::Collector) => text += &collectors(session, &view),
        Some(Wait::Fetch) => {
            let missing = session.timeline.machine().missing_code(report.core, report.slot);
            text += &missing.map_or(String::new(), |(slice, holder)| {
                format!("  the instruction cache has missed: {}\n", of(slice, holder))
            });
        }
        _ => {}
    }
    Ok(text)
}

/// The other wave that the scheduler of a wave chose in the last cycle.
fn rival(session: &mut Session, view: &WaveView) -> Option<String> {
    let now = session.timeline.now();
    let all = neighbours(session, view);
    let chosen = all.iter().find(|other| other.last_issue.is_some_and(|cycle| cycle + 1 == now))?;
    let its = place::wave(&chosen.report);
    Some(format!("  scheduler {} chose {its} in cycle {}\n", view.scheduler, now - 1))
}

/// The other waves of a wave's scheduler.
fn neighbours(session: &mut Session, view: &WaveView) -> Vec<WaveView> {
    let mut all = session.timeline.machine().waves();
    all.retain(|other| {
        (other.report.core, other.scheduler) == (view.report.core, view.scheduler)
            && other.report.slot != view.report.slot
    });
    all
}

/// The waves that have not reached a barrier.
fn missing(session: &mut Session, view: &WaveView) -> String {
    let WaitsFor::Barrier(missing) = &view.report.waits_for else { return String::new() };
    let report = &view.report;
    let all = session.timeline.machine().waves();
    let is_missing = |other: &&WaveView| {
        let other = &other.report;
        (other.core, other.workgroup) == (report.core, report.workgroup) && missing.contains(&other.wave)
    };
    let mut text = String::new();
    for other in all.iter().filter(is_missing) {
        let at = place::at(&session.program, other.report.pc);
        _ = writeln!(text, "  {} is at {at} and waits for {}", place::wave(&other.report), reason(other));
    }
    text
}

/// The instructions in the operand collectors of a wave's scheduler.
fn collectors(session: &mut Session, view: &WaveView) -> String {
    let mut text = String::new();
    let others = neighbours(session, view);
    for its in others.iter().chain([view]) {
        for flight in its.in_flight.iter().filter(|flight| matches!(flight.place, Place::Collector(_))) {
            let at = place::at(&session.program, session.pc(flight.word));
            _ = writeln!(
                text,
                "  {} has #{} {at}: {}",
                place::wave(&its.report),
                flight.sequence,
                where_it_is(flight)
            );
        }
    }
    text
}

/// An instruction that holds a wave up, where it is, and who holds it there.
fn held(session: &mut Session, view: &WaveView, flight: &Flight) -> String {
    let at = place::at(&session.program, session.pc(flight.word));
    let mut text = format!("  held by #{} {at}: {}\n", flight.sequence, where_it_is(flight));
    let Some(ops) = session.timeline.machine().micro_ops().cloned() else { return text };
    let op = ops.get(flight.word);
    match flight.place {
        Place::Collector(Waiting::Unit(free))
            if op.kind == Kind::Compute && free > session.timeline.now() =>
        {
            text += &in_unit(session, view, flight.unit);
        }
        Place::Lines { outstanding, .. } if outstanding > 0 => {
            let (core, slot) = (view.report.core, view.report.slot);
            let lines = session.timeline.machine().missing_lines(core, slot, flight.sequence);
            for &(line, slice, holder) in lines.iter().take(MOST) {
                _ = writeln!(text, "    line 0x{line:x}: {}", of(slice, holder));
            }
            if lines.len() > MOST {
                _ = writeln!(text, "    and {} more", lines.len() - MOST);
            }
            let hits = (outstanding as usize).saturating_sub(lines.len());
            if hits > 0 {
                let is_atomic = matches!(op.kind, Kind::Memory(MemoryOp { kind: AccessKind::Atomic(_), .. }));
                let who = if is_atomic && op.inst.scope >= Scope::Device { "L2 performs" } else { "L1 has" };
                _ = writeln!(text, "    the {who} {}, and answers", counted(hits as u64, "line"));
            }
        }
        _ => {}
    }
    text
}

/// What the other instructions in an execution unit of a wave's scheduler are.
fn in_unit(session: &mut Session, view: &WaveView, unit: usize) -> String {
    let mut all = neighbours(session, view);
    all.push(view.clone());
    let mut text = String::new();
    for its in &all {
        let is_in = |it: &&Flight| it.unit == unit && matches!(it.place, Place::Unit(_));
        for flight in its.in_flight.iter().filter(is_in) {
            let at = place::at(&session.program, session.pc(flight.word));
            _ = writeln!(text, "    its unit has {at} of {}", place::wave(&its.report));
        }
    }
    text
}

/// Who holds a request for a line.
fn of(slice: usize, holder: Holder) -> String {
    match holder {
        Holder::Network => format!("between the core and L2 slice {slice}, or in the slice's pipeline"),
        Holder::SliceQueue { before } => format!("in the queue of L2 slice {slice}, behind {before}"),
        Holder::SliceMiss => format!("L2 slice {slice} has missed, and its transfer waits for room"),
        Holder::BankQueue { bank, before } => {
            format!("L2 slice {slice} has missed; in the queue of L3 bank {bank}, behind {before}")
        }
        Holder::BankMiss { bank } => {
            format!("L2 slice {slice} and L3 bank {bank} have missed, and the bank's transfer waits for room")
        }
        Holder::BankData { bank } => format!("L2 slice {slice} has missed; L3 bank {bank} sends it"),
        Holder::ChannelQueue { channel, bank, before } => {
            format!(
                "L2 slice {slice} has missed; in the queue of DRAM channel {channel}, bank {bank}, behind {before}"
            )
        }
        Holder::Channel => format!("L2 slice {slice} has missed; its DRAM channel sends it"),
        Holder::SliceData => format!("L2 slice {slice} has it from DRAM"),
    }
}

/// True if the wave's next instruction needs what an instruction in flight has not written, or would overwrite it.
fn holds(view: &WaveView, flight: &Flight, ops: &MicroOps) -> bool {
    let (next, held) = (ops.get(view.word.min(ops.end())), ops.get(flight.word));
    next.hazards.intersects(&held.writes)
        || next.predicate_hazards & held.predicate_write != 0
        || next.fragment_hazards & held.fragment_locks != 0
}
