//! Why a run has stopped, in words.

use crate::place;
use wave_isa::program::Program;
use wave_isa::table::AccessKind;
use wave_study::timeline::{Cause, Hit, Stopped, Touch};

/// Most lanes of an access that are told.
const MOST_LANES: usize = 4;

/// True if the run stopped at its aim, the condition behind those of `points`, and at no breakpoint.
pub(super) fn is_only_aim(stopped: &Stopped, points: usize) -> bool {
    matches!(stopped, Stopped::Hit(hits) if hits.iter().all(|hit| hit.condition >= points))
}

/// What happened at a breakpoint, in a line or two.
pub(super) fn hit(hit: &Hit, number: u32, program: &Program) -> String {
    match &hit.cause {
        Cause::Reached => format!("breakpoint {number}: reached\n"),
        Cause::Issue { wave, pc } => {
            format!(
                "breakpoint {number}: wave {} is about to issue\n  {}\n",
                place::slot(*wave),
                place::at(program, *pc)
            )
        }
        Cause::Access { wave, pc, kind, writes, lanes } => {
            let head = format!("watchpoint {number}: wave {}", place::slot(*wave));
            let does = match (kind, writes) {
                (AccessKind::Atomic(_), _) => "is about to change",
                (_, true) => "is about to write",
                _ => "is about to read",
            };
            let told: Vec<String> = lanes.iter().take(MOST_LANES).map(touch).collect();
            let more = lanes.len().saturating_sub(MOST_LANES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{head} {does} {}{more}\n  {}\n", told.join(", "), place::at(program, *pc))
        }
        Cause::Stall { wave, since } => {
            format!("breakpoint {number}: wave {} has not issued since cycle {since}\n", place::slot(*wave))
        }
    }
}

/// What a lane does.
fn touch(touch: &Touch) -> String {
    let value = touch.value.map_or(String::new(), |value| format!(" with 0x{value:x}"));
    format!("0x{:x}{value} in lane {}", touch.address, touch.lane)
}
