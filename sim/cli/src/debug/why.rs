//! What a wave waits for, since when, and who holds it.

use super::look::where_it_is;
use super::place;
use super::session::Session;
use std::fmt::Write;
use std::sync::Arc;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::core::report::WaitsFor;
use wave_machine::core::uop::MicroOps;
use wave_machine::core::view::{Flight, WaveView};
use wave_observe::numbers::counted;

/// The answer for the chosen wave.
///
/// # Errors
/// If there is none.
pub(super) fn why(session: &mut Session) -> Result<String, Diagnostic> {
    let view = session.chosen()?;
    let now = session.timeline.now();
    let program = session.program.clone();
    let report = &view.report;
    let mut text = format!("{} is at {}\n", place::wave(report), place::at(&program, report.pc));
    _ = writeln!(text, "it waits for {}", report.waits_for);
    _ = match view.last_issue {
        Some(cycle) => {
            let cycles = counted(now - 1 - cycle, "cycle");
            writeln!(text, "it last issued in cycle {cycle}, {cycles} before the last one")
        }
        None => writeln!(text, "it has not issued yet"),
    };
    match &report.waits_for {
        WaitsFor::Barrier(missing) => {
            let all = session.timeline.machine().waves();
            let same = |other: &&WaveView| {
                let other = &other.report;
                (other.core, other.workgroup) == (report.core, report.workgroup)
                    && missing.contains(&other.wave)
            };
            for other in all.iter().filter(same) {
                _ = writeln!(
                    text,
                    "  {} is at {} and waits for {}",
                    place::wave(&other.report),
                    place::at(&program, other.report.pc),
                    other.report.waits_for
                );
            }
        }
        WaitsFor::Result { .. } => {
            let Some(ops) = session.timeline.machine().micro_ops().cloned() else { return Ok(text) };
            for flight in view.in_flight.iter().filter(|flight| holds(&view, flight, &ops)) {
                text += &held(session, flight);
            }
        }
        WaitsFor::Operands => {
            view.in_flight.last().iter().for_each(|flight| text += &held(session, flight));
        }
        WaitsFor::Flights(_) | WaitsFor::Accesses { .. } => {
            view.in_flight.iter().for_each(|flight| text += &held(session, flight));
        }
        WaitsFor::Turn => {
            let all = session.timeline.machine().waves();
            let just = |other: &&WaveView| {
                other.report.core == report.core && other.last_issue.is_some_and(|cycle| cycle + 1 == now)
            };
            for other in all.iter().filter(just) {
                _ = writeln!(text, "  {} issued in the last cycle", place::wave(&other.report));
            }
        }
        WaitsFor::Fetch => {}
    }
    Ok(text)
}

fn held(session: &Session, flight: &Flight) -> String {
    let at = place::at(&session.program, session.pc(flight.word));
    format!("  held by #{} {at}: {}\n", flight.sequence, where_it_is(flight))
}

/// True if the wave's next instruction needs what an instruction in flight has not written, or would overwrite it.
fn holds(view: &WaveView, flight: &Flight, ops: &Arc<MicroOps>) -> bool {
    let (next, held) = (ops.get(view.word.min(ops.end())), ops.get(flight.word));
    next.hazards.intersects(&held.writes)
        || next.predicate_hazards & held.predicate_write != 0
        || next.fragment_hazards & held.fragment_locks != 0
}
