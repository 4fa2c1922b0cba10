//! Breakpoints and watchpoints: what users write, and the conditions that it means.

use super::commands::{Verb, usage};
use crate::place;
use crate::values;
use std::collections::BTreeMap;
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Program;
use wave_isa::suggest::did_you_mean;
use wave_isa::table::Space;
use wave_study::launch::Buffer;
use wave_study::timeline::Condition;

/// A breakpoint or watchpoint.
#[derive(Debug)]
pub(super) struct Point {
    /// Its number.
    pub number: u32,
    /// What it stops at, in words.
    pub text: String,
    /// Any of these; none for faults, which stop every run.
    pub conditions: Vec<Condition>,
    /// Whether it stops the run.
    pub is_enabled: bool,
    /// How often it has.
    pub hits: u64,
}

/// All points of a session.
#[derive(Debug, Default)]
pub(super) struct Points {
    /// In the order of their numbers.
    pub all: Vec<Point>,
    last: u32,
}

/// What addresses and lines refer to.
pub(super) struct Names<'n> {
    /// The kernels.
    pub program: &'n Program,
    /// Buffers of the launch file.
    pub buffers: &'n [Buffer],
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Lanes of a wave.
    pub width: u32,
    /// Number of launches.
    pub launches: usize,
    /// Workgroup of the chosen wave, and the size of its local memory.
    pub local: Option<([u32; 3], u64)>,
}

impl Points {
    /// Adds a point and returns the line that announces it.
    pub(super) fn add(&mut self, text: String, conditions: Vec<Condition>) -> String {
        self.last += 1;
        let number = self.last;
        let line = format!("{number}: {text}\n");
        self.all.push(Point { number, text, conditions, is_enabled: true, hits: 0 });
        line
    }

    /// The conditions of all points that are enabled, and the number of the point of each.
    pub(super) fn conditions(&self) -> (Vec<Condition>, Vec<u32>) {
        let enabled = self.all.iter().filter(|point| point.is_enabled);
        let pairs = enabled.flat_map(|point| point.conditions.iter().map(|it| (it.clone(), point.number)));
        pairs.unzip()
    }

    /// The point of this number.
    pub(super) fn get(&mut self, number: u32) -> Option<&mut Point> {
        self.all.iter_mut().find(|point| point.number == number)
    }

    /// The numbers that a command names; all if it names none.
    ///
    /// # Errors
    /// If there is no such point.
    pub(super) fn named(&self, words: &[&str]) -> Result<Vec<u32>, Diagnostic> {
        if words.is_empty() {
            return Ok(self.all.iter().map(|point| point.number).collect());
        }
        let number = |word: &&str| {
            let found = self.all.iter().find(|point| point.number.to_string() == **word);
            found.map(|point| point.number).ok_or_else(|| {
                Diagnostic::error(format!("there is no breakpoint `{word}`"))
                    .hint("`info breakpoints` lists them")
            })
        };
        words.iter().map(number).collect()
    }

    /// A row for each point.
    pub(super) fn listing(&self) -> String {
        if self.all.is_empty() {
            return "no breakpoints\n".to_owned();
        }
        let line = |point: &Point| {
            let off = if point.is_enabled { "" } else { ", disabled" };
            let times = if point.hits == 1 { "once" } else { &format!("{} times", point.hits) };
            let hits = if point.hits == 0 { String::new() } else { format!(", reached {times}") };
            format!("{}: {}{hits}{off}\n", point.number, point.text)
        };
        self.all.iter().map(line).collect()
    }
}

/// What `break` with these words stops at.
///
/// # Errors
/// If there is no such place.
pub(super) fn breakpoint(words: &[&str], names: &Names<'_>) -> Result<(String, Vec<Condition>), Diagnostic> {
    match words {
        ["cycle", cycle] => {
            let cycle = number(cycle)?;
            Ok((format!("cycle {cycle}"), vec![Condition::Cycle(cycle)]))
        }
        ["stall", cycles] => {
            let cycles = number(cycles)?;
            Ok((format!("a wave that has not issued for {cycles} cycles"), vec![Condition::Stall(cycles)]))
        }
        ["fault"] => Ok(("a fault (every fault stops the run, with or without this)".to_owned(), Vec::new())),
        ["launch"] => Ok(("the beginning of a launch".to_owned(), vec![Condition::Launch(None)])),
        ["launch", launch] => {
            let index = number(launch)? as usize;
            if index == 0 || index > names.launches {
                let message = format!("there is no launch {index}");
                return Err(Diagnostic::error(message).hint(format!("launches are 1 to {}", names.launches)));
            }
            Ok((format!("the beginning of launch {index}"), vec![Condition::Launch(Some(index - 1))]))
        }
        [place] => match place.strip_prefix('*') {
            Some(pc) => at_pc(number(pc)?, names.program),
            None => at_source(place, names.program),
        },
        _ => Err(Diagnostic::error("break at what?").hint(usage(Verb::Break))),
    }
}

fn at_pc(pc: u64, program: &Program) -> Result<(String, Vec<Condition>), Diagnostic> {
    let starts = place::instruction_starts(program);
    let found = u32::try_from(pc).ok().filter(|pc| starts.contains_key(pc));
    let Some(pc) = found else {
        let before = starts.keys().rev().find(|&&start| u64::from(start) < pc);
        let hint = before.map_or(String::new(), |start| format!("the one before begins at 0x{start:x}"));
        return Err(Diagnostic::error(format!("no instruction begins at pc 0x{pc:x}")).hint(hint));
    };
    Ok((place::at(program, pc), vec![Condition::Pc(pc)]))
}

/// `LINE`, `FILE:LINE` or the name of a kernel.
fn at_source(text: &str, program: &Program) -> Result<(String, Vec<Condition>), Diagnostic> {
    if let Some(kernel) = program.kernel_named(text) {
        return Ok(at_pcs(program, &[program.kernels[kernel].code.start * WORD_BYTES]));
    }
    let (file, line) = match text.rsplit_once(':') {
        Some((file, line)) => (Some(file), line),
        None => (None, text),
    };
    let Ok(line) = values::integer(line) else {
        let error = Diagnostic::error(format!("`{text}` is no line and no kernel"));
        let near = did_you_mean(text, program.kernels.iter().map(|kernel| kernel.name.as_str()));
        return Err(error.hint(near.unwrap_or_else(|| usage(Verb::Break))));
    };
    let Some(source) = &program.source else {
        let error = Diagnostic::error("the kernel has no source lines: it was not assembled from text");
        return Err(error.hint("break *PC stops at an instruction; `list` shows them with their pc"));
    };
    if let Some(file) = file.filter(|file| !place::is_named(source, file)) {
        let message = format!("no code comes from `{file}`");
        return Err(Diagnostic::error(message).hint(format!("the source is `{}`", place::file_name(source))));
    }
    // The first instruction of the line in each kernel; of the next line with one, if it has none.
    let line_of = |pc: u32| place::line_number(source, pc);
    let starts = place::instruction_starts(program);
    let next = starts.keys().map(|&pc| u64::from(line_of(pc))).filter(|&at| at >= line.max(1)).min();
    let Some(next) = next else {
        let message = format!("there is no instruction at line {line} or behind it");
        let last = starts.keys().map(|&pc| line_of(pc)).max().unwrap_or(0);
        return Err(Diagnostic::error(message).hint(format!("the last one is at line {last}")));
    };
    let mut first: BTreeMap<usize, u32> = BTreeMap::new();
    for (&pc, &kernel) in starts.iter().filter(|(pc, _)| u64::from(line_of(**pc)) == next) {
        first.entry(kernel).or_insert(pc);
    }
    let pcs: Vec<u32> = first.into_values().collect();
    let (text, conditions) = at_pcs(program, &pcs);
    let note = if next == line { String::new() } else { format!(" (line {line} has no instruction)") };
    Ok((text + &note, conditions))
}

fn at_pcs(program: &Program, pcs: &[u32]) -> (String, Vec<Condition>) {
    let places: Vec<String> = pcs.iter().map(|&pc| place::at(program, pc)).collect();
    (places.join(" and "), pcs.iter().map(|&pc| Condition::Pc(pc)).collect())
}

/// What `watch`, `rwatch` or `awatch` with these words stops at.
///
/// # Errors
/// If the address is outside of device memory, or a word means nothing.
pub(super) fn watchpoint(
    verb: Verb,
    words: &[&str],
    names: &Names<'_>,
) -> Result<(String, Vec<Condition>), Diagnostic> {
    let (space, words) = match words {
        ["local", rest @ ..] => (Space::Local, rest),
        all => (Space::Device, all),
    };
    let (words, lane) = match words {
        [rest @ .., "lane", lane] => (rest, Some(number(lane)?)),
        all => (all, None),
    };
    let (start, length) = match words {
        [at] => (address(at, names, space)?, 4),
        [at, length] => (address(at, names, space)?, number(length)?),
        _ => return Err(Diagnostic::error("watch which address?").hint(usage(verb))),
    };
    if length == 0 {
        return Err(Diagnostic::error("a watchpoint has one byte at least"));
    }
    if let Some(lane) = lane.filter(|&lane| lane >= u64::from(names.width)) {
        let hint = format!("lanes are 0 to {}", names.width - 1);
        return Err(Diagnostic::error(format!("a wave has no lane {lane}")).hint(hint));
    }
    let bytes = start..start.saturating_add(length);
    let (memory, workgroup, size) = match (space, names.local) {
        (Space::Device, _) => ("device memory".to_owned(), None, names.device_bytes),
        (Space::Local, Some((workgroup, size))) => {
            let [x, y, z] = workgroup;
            (format!("local memory of workgroup {x},{y},{z}"), Some(workgroup), size)
        }
        (Space::Local, None) => {
            let hint = "`wave CORE:SLOT` chooses a wave; its workgroup's local memory is watched";
            return Err(Diagnostic::error("no wave is chosen, so no workgroup is").hint(hint));
        }
    };
    if bytes.end > size {
        return Err(outside(start, length, size));
    }
    let (reads, writes) = (verb != Verb::Watch, verb != Verb::RWatch);
    let what = match (reads, writes) {
        (false, _) => "writes of",
        (_, false) => "reads of",
        _ => "reads and writes of",
    };
    let by = lane.map_or(String::new(), |lane| format!(" by lane {lane}"));
    let last = bytes.end - 1;
    let text = format!("{what} {memory} 0x{start:x} to 0x{last:x}{by}");
    let lanes = lane.map_or(u64::MAX, |lane| 1 << lane);
    Ok((text, vec![Condition::Access { space, workgroup, bytes, reads, writes, lanes }]))
}

/// The error about an address past the end of memory.
pub(super) fn outside(start: u64, bytes: u64, size: u64) -> Diagnostic {
    let message = format!("{bytes} bytes from 0x{start:x} go past the end of memory");
    Diagnostic::error(message).hint(format!("it has 0x{size:x} bytes"))
}

/// An address: a number; in device memory also a buffer, as `out`, `out[5]`, `out+0x20`.
///
/// # Errors
/// If it is neither.
pub(super) fn address(text: &str, names: &Names<'_>, space: Space) -> Result<u64, Diagnostic> {
    if let Ok(address) = values::integer(text) {
        return Ok(address);
    }
    let wrong = || {
        let error = Diagnostic::error(format!("`{text}` is no address"));
        let is_register = text.strip_prefix('$').unwrap_or(text).strip_prefix(['r', 'p']);
        if is_register.is_some_and(|index| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit())) {
            return error.hint(
                "a register has none; `print` shows it, and `reverse-stepi` goes to before it was written",
            );
        }
        let near = did_you_mean(text, names.buffers.iter().map(|buffer| buffer.name.as_str()));
        let hint = match (names.buffers, space) {
            ([], _) | (_, Space::Local) => "a number, such as 0x100".to_owned(),
            (all, _) => {
                let all: Vec<&str> = all.iter().map(|buffer| buffer.name.as_str()).collect();
                format!("a number, or a buffer: {}", all.join(", "))
            }
        };
        error.hint(near.unwrap_or(hint))
    };
    let end = text.find(['[', '+']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let found = names.buffers.iter().find(|buffer| buffer.name == name && space == Space::Device);
    let buffer = found.ok_or_else(wrong)?;
    let offset = match rest.strip_prefix('[') {
        Some(index) => {
            let index = number(index.strip_suffix(']').ok_or_else(wrong)?)?;
            if index >= buffer.length as u64 {
                let message = format!("`{name}` has no element {index}");
                return Err(Diagnostic::error(message).hint(format!("it has {}", buffer.length)));
            }
            index * buffer.element.bytes() as u64
        }
        None if rest.is_empty() => 0,
        None => number(&rest[1..])?,
    };
    Ok(u64::from(buffer.address).saturating_add(offset))
}

/// A number that a user wrote.
///
/// # Errors
/// What is wrong with it.
pub(super) fn number(text: &str) -> Result<u64, Diagnostic> {
    values::integer(text).map_err(Diagnostic::error)
}
