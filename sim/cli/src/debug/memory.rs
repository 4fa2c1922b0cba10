//! Memory, caches and queues at this position.

use super::format::{Format, table};
use super::points::{address, number, outside};
use super::session::Session;
use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::number::runs;
use wave_isa::table::Space;
use wave_machine::memory::CacheLine;

/// Words on a line of `x`.
const PER_LINE: usize = 4;
/// Most words of one `x`, and most lines of `info queues`.
const MOST_WORDS: u64 = 4096;
const MOST_QUEUES: usize = 100;

/// `x`: words of device memory as the L2 and memory have them, or of the local memory of the chosen wave's workgroup.
///
/// # Errors
/// If they are not there.
pub(super) fn examine(session: &mut Session, options: &str, words: &[&str]) -> Result<String, Diagnostic> {
    let digits = options.find(|c: char| !c.is_ascii_digit()).unwrap_or(options.len());
    let (count, letter) = options.split_at(digits);
    let count = if count.is_empty() { 1 } else { number(count)? };
    let format = if letter.is_empty() { Format::Hex } else { Format::of(letter)? };
    if !(1..=MOST_WORDS).contains(&count) {
        return Err(Diagnostic::error(format!("{count} words; 1 to {MOST_WORDS} can be shown")));
    }
    let (space, place) = match words {
        ["local", place] => (Space::Local, place),
        [place] => (Space::Device, place),
        _ => {
            return Err(Diagnostic::error("x of which address?").hint("x/8x 0x100, x/4f out[2], x/4 local 0"));
        }
    };
    let start = address(place, &session.names(), space)?;
    let bytes = match space {
        Space::Device => {
            let bytes = device(session, start, 4 * count)?;
            session.address = Some(start);
            bytes
        }
        Space::Local => {
            let view = session.chosen()?;
            let all = session.timeline.machine().local_memory(view.report.core, view.report.slot);
            let end = start.saturating_add(4 * count);
            let part = all.get(start as usize..end as usize);
            part.ok_or_else(|| outside(start, 4 * count, all.len() as u64))?.to_vec()
        }
    };
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let cells: Vec<String> = words.iter().map(|&word| format.word(word)).collect();
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (line, chunk) in cells.chunks(PER_LINE).enumerate() {
        _ = write!(text, "0x{:08x}:", start + (line * PER_LINE * 4) as u64);
        chunk.iter().for_each(|cell| _ = write!(text, "  {cell:>width$}"));
        text.push('\n');
    }
    Ok(text)
}

/// Bytes of device memory as the L2 and memory have them.
///
/// # Errors
/// If they go past its end.
pub(super) fn device(session: &mut Session, start: u64, bytes: u64) -> Result<Vec<u8>, Diagnostic> {
    let size = session.device_bytes;
    let end =
        start.checked_add(bytes).filter(|&end| end <= size).ok_or_else(|| outside(start, bytes, size))?;
    let line_bytes = u64::from(session.timeline.machine().config().core.l1.line_bytes);
    let mut all = Vec::new();
    let mut line = start - start % line_bytes;
    while line < end {
        let data = session.timeline.machine().line(line);
        let from = start.saturating_sub(line);
        let to = line_bytes.min(end - line);
        all.extend(&data[from as usize..to as usize]);
        line += line_bytes;
    }
    Ok(all)
}

/// `info caches ADDRESS`: who holds the line.
pub(super) fn caches(session: &mut Session, words: &[&str]) -> Result<String, Diagnostic> {
    let [place] = words else {
        return Err(Diagnostic::error("info caches of which address?").hint("info caches 0x100"));
    };
    let at = address(place, &session.names(), Space::Device)?;
    let text = caches_at(session, at)?;
    session.address = Some(at);
    Ok(text)
}

/// Who holds the line of an address.
///
/// # Errors
/// If there is no such address.
pub(super) fn caches_at(session: &mut Session, at: u64) -> Result<String, Diagnostic> {
    // Shows the 16 bytes around it.
    let start = at - at % 16;
    let memory = device(session, start, 16.min(session.device_bytes.saturating_sub(start)))?;
    let machine = session.timeline.machine();
    let config = machine.config().clone();
    let line_bytes = u64::from(config.core.l1.line_bytes);
    let line = at - at % line_bytes;
    let offset = (start - line) as usize;
    let mut rows = vec![
        ["holder", "valid sectors", "dirty bytes", &format!("bytes from 0x{start:x}")]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut add = |holder: String, held: &CacheLine| {
        let shown = held.data.get(offset..offset + 16).unwrap_or_default();
        rows.push(vec![holder, format!("{:#b}", held.valid), dirty(held.dirty), hex(shown)]);
    };
    for core in 0..config.cores {
        let lines = machine.l1_lines(core);
        lines
            .iter()
            .filter(|held| held.address == line)
            .for_each(|held| add(format!("L1 of core {core}"), held));
    }
    for slice in 0..config.l2.slices {
        let lines = machine.l2_lines(slice as usize);
        lines
            .iter()
            .filter(|held| held.address == line)
            .for_each(|held| add(format!("L2 slice {slice}"), held));
    }
    rows.push(vec!["L2 or memory".to_owned(), String::new(), String::new(), hex(&memory)]);
    Ok(format!("line 0x{line:x} of {line_bytes} bytes\n{}", table(&rows)))
}

fn hex(bytes: &[u8]) -> String {
    let words: Vec<String> =
        bytes.chunks(4).map(|word| word.iter().map(|b| format!("{b:02x}")).collect()).collect();
    words.join(" ")
}

/// Ranges of dirty bytes.
fn dirty(mask: u128) -> String {
    let runs: Vec<String> = runs(mask).map(|(first, last)| format!("{first}-{last}")).collect();
    if runs.is_empty() { "none".to_owned() } else { runs.join(",") }
}

/// Queues, ports and tables that hold something, and how much.
pub(super) fn held(session: &mut Session) -> Vec<(String, u64)> {
    let machine = session.timeline.machine();
    let (names, values) = (machine.queue_names(), machine.queues());
    let all = names.iter().map(|signal| signal.path.join(".")).zip(values);
    all.filter(|(_, value)| *value != 0).collect()
}

/// `info queues`: what is not 0, of those whose name has the word.
///
/// # Errors
/// If no name has it.
pub(super) fn queues(session: &mut Session, words: &[&str]) -> Result<String, Diagnostic> {
    let wanted = words.first().copied().unwrap_or("");
    let names: Vec<String> =
        session.timeline.machine().queue_names().iter().map(|signal| signal.path.join(".")).collect();
    if !names.iter().any(|name| name.contains(wanted)) {
        let error = Diagnostic::error(format!("no queue has `{wanted}` in its name"));
        return Err(error.hint(format!("names are such as {}", names.first().map_or("", String::as_str))));
    }
    let mut held = held(session);
    held.retain(|(name, _)| name.contains(wanted));
    if held.is_empty() {
        return Ok("all are empty\n".to_owned());
    }
    let rows: Vec<Vec<String>> =
        held.iter().take(MOST_QUEUES).map(|(name, value)| vec![name.clone(), value.to_string()]).collect();
    let mut text = table(&rows);
    if held.len() > MOST_QUEUES {
        let more = held.len() - MOST_QUEUES;
        _ = writeln!(text, "… and {more} more; `info queues core0` shows those of core 0");
    }
    Ok(text)
}
