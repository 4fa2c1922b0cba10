//! What the machine holds at this position: waves, registers, divergence, instructions in flight, launches.

use super::format::{Format, lanes, table};
use super::points::number;
use super::session::Session;
use super::{points, why};
use crate::place;
use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;
use wave_isa::{PREDICATES, WORD_BYTES};
use wave_machine::core::collector::Waiting;
use wave_machine::core::divergence::Frame;
use wave_machine::core::place::Place;
use wave_machine::core::view::{Flight, WaveView};
use wave_machine::core::wait::Wait;
use wave_machine::memory::Reject;
use wave_observe::numbers::{self, counted, integer};

/// Topics of `info`.
const TOPICS: [&str; 10] = [
    "breakpoints",
    "caches",
    "history",
    "launch",
    "output",
    "pipeline",
    "queues",
    "registers",
    "stack",
    "waves",
];

/// Most waves listed.
const MOST_WAVES: usize = 64;

/// `info`.
///
/// # Errors
/// If there is no such topic, or nothing to show of it.
pub(super) fn info(session: &mut Session, words: &[&str]) -> Result<String, Diagnostic> {
    let Some((topic, rest)) = words.split_first() else {
        return Err(Diagnostic::error("info about what?").hint(TOPICS.join(", ")));
    };
    let begun: Vec<&str> = TOPICS.into_iter().filter(|name| name.starts_with(topic)).collect();
    let topic = match begun.as_slice() {
        // As in gdb.
        _ if *topic == "b" || *topic == "watchpoints" => "breakpoints",
        _ if *topic == "threads" => "waves",
        _ if *topic == "frame" => "stack",
        [one] => one,
        _ => {
            let error = Diagnostic::error(format!("there is no topic `{topic}`"));
            let near = did_you_mean(topic, TOPICS.into_iter());
            let near = near.or_else(|| foreign(topic).map(str::to_owned));
            return Err(error.hint(near.unwrap_or_else(|| TOPICS.join(", "))));
        }
    };
    match topic {
        "breakpoints" => Ok(session.points.listing()),
        "caches" => super::memory::caches(session, rest),
        "history" => Ok(history(session)),
        "launch" => Ok(launch(session)),
        "output" => output(session),
        "pipeline" => pipeline(session),
        "queues" => super::memory::queues(session, rest),
        "registers" => {
            let (format, names) = formatted(rest);
            registers(session, &names, format)
        }
        "stack" => stack(session),
        _ => Ok(waves(session, MOST_WAVES)),
    }
}

/// What threads have printed so far.
fn output(session: &mut Session) -> Result<String, Diagnostic> {
    let Some(printed) = session.timeline.printed() else {
        return Err(Diagnostic::error("the kernels print nothing").hint("kernels in C can call printf()"));
    };
    Ok(match printed.text.as_str() {
        "" => "nothing so far\n".to_owned(),
        text if text.ends_with('\n') => text.to_owned(),
        text => format!("{text}\n"),
    })
}

/// What has the place of a topic of gdb.
fn foreign(topic: &str) -> Option<&'static str> {
    match topic {
        "locals" | "args" | "variables" => Some("a kernel has registers: `info registers`"),
        "line" | "source" | "symbol" => {
            Some("`list` shows the source, `print pc` the place of the chosen wave")
        }
        "program" | "inferiors" | "target" => Some("`info launch`"),
        _ => None,
    }
}

/// All waves, or the first of them.
pub(super) fn waves(session: &mut Session, most: usize) -> String {
    listing(session, most, &["active", "at", "waits for"], |session, view| {
        let at = place::at(&session.program, view.report.pc);
        vec![format!("0x{:x}", view.report.active), at, why::reason(view)]
    })
}

/// All waves, with what they wait for in one word: for a narrow place.
pub(super) fn short_waves(session: &mut Session) -> String {
    listing(session, usize::MAX, &["waits for", "at"], |session, view| {
        let why = view.wait.map_or("retirement", Wait::name);
        vec![why.to_owned(), place::at(&session.program, view.report.pc)]
    })
}

/// A table of waves, with more columns behind the first ones.
fn listing(
    session: &mut Session,
    most: usize,
    heading: &[&str],
    more: impl Fn(&Session, &WaveView) -> Vec<String>,
) -> String {
    let views = session.timeline.machine().waves();
    if views.is_empty() {
        return "no wave is on the machine\n".to_owned();
    }
    let first = ["", "wave", "workgroup", ""];
    let mut rows = vec![first.iter().chain(heading).map(|word| (*word).to_owned()).collect::<Vec<_>>()];
    for view in views.iter().take(most) {
        let report = &view.report;
        let slot = (report.core, report.slot);
        let [x, y, z] = report.workgroup;
        let chosen = if session.wave == Some(slot) { "*" } else { "" }.to_owned();
        let mut row =
            vec![chosen, place::slot(slot), format!("{x},{y},{z}"), format!("wave {}", report.wave)];
        row.extend(more(session, view));
        rows.push(row);
    }
    let mut text = table(&rows);
    if views.len() > most {
        _ = writeln!(text, "… and {} more", views.len() - most);
    }
    text
}

/// Takes formats out of words; the last counts.
fn formatted<'w>(words: &[&'w str]) -> (Format, Vec<&'w str>) {
    let is_format = |word: &&&str| Format::of(word).is_ok();
    let format = words.iter().rev().find(is_format).and_then(|word| Format::of(word).ok());
    (format.unwrap_or_default(), words.iter().filter(|word| !is_format(word)).copied().collect())
}

/// Registers and predicates of the chosen wave: those that are named, or all.
///
/// # Errors
/// If no wave is chosen, or it has no such register.
pub(super) fn registers(session: &mut Session, named: &[&str], format: Format) -> Result<String, Diagnostic> {
    let view = session.chosen()?;
    let slot = (view.report.core, view.report.slot);
    if !named.is_empty() {
        return named.iter().map(|name| register(session, slot, name, Some(format))).collect();
    }
    let mut text = format!("{}, {}\n", place::wave(&view.report), masks(&view));
    let width = session.width();
    let rows = session.timeline.machine().registers(slot.0, slot.1);
    for (register, row) in rows.chunks_exact(width).enumerate() {
        text += &lanes(&format!("r{register}"), row, format);
    }
    for (predicate, mask) in session.timeline.machine().predicates(slot.0, slot.1).into_iter().enumerate() {
        text += &predicate_text(predicate, mask, width);
    }
    Ok(text)
}

fn masks(view: &WaveView) -> String {
    let (active, live) = (view.report.active, view.live);
    let live = if live == active { String::new() } else { format!(", live lanes {}", place::lanes(live)) };
    format!("active lanes {}{live}", place::lanes(active))
}

fn predicate_text(predicate: usize, mask: u64, width: usize) -> String {
    let all = u64::MAX >> (64 - width);
    let lanes = match mask & all {
        0 => "false in all lanes".to_owned(),
        mask if mask == all => "true in all lanes".to_owned(),
        mask => format!("true in lanes {}", place::lanes(mask)),
    };
    format!("{:<5} {lanes}\n", format!("p{predicate}"))
}

/// `rN`, `rN[LANE]` or `pN` of a wave. Without a format one lane is written in several.
///
/// # Errors
/// If the wave has no such register or lane.
pub(super) fn register(
    session: &mut Session,
    slot: (u32, usize),
    name: &str,
    format: Option<Format>,
) -> Result<String, Diagnostic> {
    let width = session.width();
    let (bare, lane) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((bare, lane)) => (bare, Some(number(lane)? as usize)),
        None => (name, None),
    };
    if let Some(lane) = lane.filter(|&lane| lane >= width) {
        let error = Diagnostic::error(format!("a wave has no lane {lane}"));
        return Err(error.hint(format!("lanes are 0 to {}", width - 1)));
    }
    let machine = session.timeline.machine();
    if let Some(index) = bare.strip_prefix('p').and_then(|index| index.parse::<usize>().ok()) {
        let mask = machine.predicates(slot.0, slot.1).get(index).copied().ok_or_else(|| {
            let error = Diagnostic::error(format!("there is no predicate `{bare}`"));
            error.hint(format!("predicates are p0 to p{}", PREDICATES - 1))
        })?;
        return Ok(match lane {
            Some(lane) => format!("{name:<5} {}\n", mask >> lane & 1 != 0),
            None => predicate_text(index, mask, width),
        });
    }
    let rows = machine.registers(slot.0, slot.1);
    let index = bare.strip_prefix('r').and_then(|index| index.parse::<usize>().ok());
    let row = index.and_then(|index| rows.chunks_exact(width).nth(index)).ok_or_else(|| {
        let error = Diagnostic::error(format!("there is no register `{bare}`"));
        let last = (rows.len() / width).saturating_sub(1);
        let memory = if index.is_none() { "; `x ADDRESS` shows memory" } else { "" };
        error.hint(format!("the kernel has r0 to r{last} and p0 to p{}{memory}", PREDICATES - 1))
    })?;
    Ok(match (lane, format) {
        (Some(lane), Some(format)) => format!("{name:<5} {}\n", format.word(row[lane])),
        (Some(lane), None) => {
            let word = row[lane];
            let (signed, float) = (Format::Signed.word(word), Format::Float.word(word));
            format!("{name:<5} 0x{word:08x}  {signed}  {float}\n")
        }
        (None, format) => lanes(bare, row, format.unwrap_or_default()),
    })
}

/// The ifs and loops around the chosen wave, outermost first.
///
/// # Errors
/// If no wave is chosen.
pub(super) fn stack(session: &mut Session) -> Result<String, Diagnostic> {
    let view = session.chosen()?;
    let mut text = format!("{}, {}\n", place::wave(&view.report), masks(&view));
    if view.frames.is_empty() {
        text += "no if and no loop is open\n";
    }
    for (depth, frame) in view.frames.iter().enumerate() {
        _ = match *frame {
            Frame::If { otherwise, joined } => writeln!(
                text,
                "#{depth} if: lanes for the else side {}; lanes that wait at endif {}",
                place::lanes(otherwise),
                place::lanes(joined)
            ),
            Frame::Loop { head, broken, continued } => {
                let pc = (session.kernel_base() + head) * WORD_BYTES;
                writeln!(
                    text,
                    "#{depth} loop from {}: lanes that left {}; lanes that wait for the next iteration {}",
                    place::at(&session.program, pc),
                    place::lanes(broken),
                    place::lanes(continued)
                )
            }
        };
    }
    Ok(text)
}

/// The instructions of the chosen wave that are in flight, and the next.
///
/// # Errors
/// If no wave is chosen.
pub(super) fn pipeline(session: &mut Session) -> Result<String, Diagnostic> {
    let view = session.chosen()?;
    let mut text = format!("{}, {} issued\n", place::wave(&view.report), counted(view.issued, "instruction"));
    let mut rows = Vec::new();
    for flight in &view.in_flight {
        rows.push(vec![
            format!("#{}", flight.sequence),
            place::at(&session.program, session.pc(flight.word)),
            where_it_is(flight),
        ]);
    }
    rows.push(vec![
        "next".to_owned(),
        place::at(&session.program, view.report.pc),
        format!("waits for {}", why::reason(&view)),
    ]);
    text += &table(&rows);
    Ok(text)
}

/// Where an instruction in flight is, in words.
pub(super) fn where_it_is(flight: &Flight) -> String {
    match flight.place {
        Place::Collector(Waiting::Banks(cycle)) => {
            format!("in a collector; its last operand is read in cycle {cycle}")
        }
        Place::Collector(Waiting::Unit(cycle)) => {
            format!("in a collector, its operands are read; its unit can take it in cycle {cycle}")
        }
        Place::Collector(Waiting::WritePort(_)) => "in a collector; waits for a write port".to_owned(),
        Place::Collector(Waiting::Lsu) => {
            "in a collector; the load/store unit is full or has taken another".to_owned()
        }
        Place::Unit(cycle) => format!("in its unit; retires in cycle {cycle}"),
        Place::Queue(0) => "first in the queue of the load/store unit".to_owned(),
        Place::Queue(before) => format!("in the queue of the load/store unit, behind {before}"),
        Place::LocalBanks(cycle) => {
            format!("in local memory; its last pass over the banks is in cycle {cycle}")
        }
        Place::DataBanks(cycle) => format!("reads the banks of the L1 up to cycle {cycle}"),
        Place::LocalResult(cycle) => format!("in local memory; its values come in cycle {cycle}"),
        Place::Lines { sent, lines, outstanding, lacks_entry, rejects } => {
            let mut text =
                format!("in device memory; {sent} of {} sent to the L1", counted(lines as u64, "line"));
            if outstanding > 0 {
                text += &format!(", {outstanding} not answered");
            }
            let full = lacks_entry.then_some("the load/store unit has as many loads outstanding as it can");
            let why = full.or(rejects.map(rejected));
            text + &why.map_or(String::new(), |why| format!("; the next one waits: {why}"))
        }
        Place::Return => "its values have come and are written".to_owned(),
    }
}

/// Why the L1 does not take a line access.
fn rejected(why: Reject) -> &'static str {
    match why {
        Reject::Mshr => "all MSHRs of the L1 are taken",
        Reject::Merge => "the MSHR of its line has no room for another access",
        Reject::Outgoing => "the L1's queue to the interconnect is full",
        Reject::Responses => "the L1's queue of responses is full",
        Reject::Order => "an atomic on its line is before it",
    }
}

fn launch(session: &mut Session) -> String {
    let now = session.timeline.now();
    let total = session.timeline.launches().len();
    let mut text = String::new();
    for (index, &start) in session.timeline.starts().iter().enumerate() {
        let launch = &session.timeline.launches()[index];
        let name = &session.program.kernels[launch.kernel].name;
        let [x, y, z] = launch.grid;
        let here = if session.timeline.launch() == Some(index) { "* " } else { "  " };
        let end = session.timeline.reports().get(index);
        let end = end.map_or(String::new(), |report| format!(", ends in cycle {}", start + report.cycles));
        _ = writeln!(
            text,
            "{here}launch {} of {total}: kernel `{name}`, grid {x},{y},{z}, {} threads a workgroup, begins in cycle {start}{end}",
            index + 1,
            launch.threads()
        );
    }
    if let Some((done, all)) = session.timeline.machine().workgroups() {
        _ = writeln!(text, "cycle {}: {done} of {} done", integer(now), counted(all, "workgroup"));
    }
    text
}

fn history(session: &mut Session) -> String {
    let (count, bytes) = session.timeline.history();
    format!("{}, {}\n", counted(count as u64, "snapshot"), numbers::bytes(bytes as u64))
}

/// `list`: source lines around a line, or around the chosen wave; instructions where there is no source.
///
/// # Errors
/// If no wave is chosen and no line given, or the source has no such line.
pub(super) fn list(session: &mut Session, words: &[&str]) -> Result<String, Diagnostic> {
    const AROUND: u32 = 5;
    let pc = session.chosen().ok().map(|view| view.report.pc);
    let program = session.program.clone();
    let Some(source) = &program.source else {
        let form = wave_isa::program::Listing { offsets: true, raw: false, directives: true, source: false };
        return Ok(wave_isa::program::listing(&program, form));
    };
    let here = pc.and_then(|pc| source.line_of_word(pc / WORD_BYTES)).map(|(line, _)| line);
    let last = source.text.lines().count() as u32;
    let middle = match words {
        [] => here.unwrap_or(1),
        [line, ..] => {
            let line = points::number(line)?;
            u32::try_from(line).ok().filter(|line| (1..=last).contains(line)).ok_or_else(|| {
                Diagnostic::error(format!("the source has no line {line}")).hint(format!("it has {last}"))
            })?
        }
    };
    let from = middle.saturating_sub(AROUND).max(1);
    let mut text = String::new();
    for (index, content) in
        source.text.lines().enumerate().skip(from as usize - 1).take(2 * AROUND as usize + 1)
    {
        let number = index as u32 + 1;
        let mark = if Some(number) == here { "->" } else { "  " };
        _ = writeln!(text, "{mark} {number:>4}  {content}");
    }
    Ok(text)
}
