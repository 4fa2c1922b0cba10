//! Reading a line of the text form.

use crate::trace::record::{
    DestinationKind, End, Header, How, Launched, MemoryKind, Record, Reports, STAGES, Stall, Wait,
};
use crate::trace::rows::{push_form, push_values};
use wave_machine::clock::Cycle;

/// Kinds of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// An empty line, or only a comment.
    Empty,
    /// The header: its version and fields.
    Header(&'a str),
    /// A launch: its fields.
    Launch(&'a str),
    /// A record, from its cycle on.
    Record(&'a str),
    /// The end, from how the run ended on.
    End(&'a str),
}

/// Describes what is wrong with a line.
type Malformed = String;

/// Determines the kind of a line.
///
/// # Errors
/// If a trace has no such line.
pub fn line(text: &str) -> Result<Line<'_>, Malformed> {
    let text = text.trim();
    if text.is_empty() || text.starts_with(';') {
        return Ok(Line::Empty);
    }
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    match first {
        "wvfi" => Ok(Line::Header(rest)),
        "launch" => Ok(Line::Launch(rest)),
        "end" => Ok(Line::End(rest)),
        _ if first.starts_with('@') => Ok(Line::Record(&text[1..])),
        _ => Err(format!("a line begins with `{first}`, not with launch, end or @CYCLE")),
    }
}

/// The words of a line. Blanks separate them, except in quotes or brackets; `;` ends the line.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(';') {
            return None;
        }
        let (mut quoted, mut escaped, mut bracket) = (false, false, false);
        let end = rest.find(|c: char| {
            let inside = quoted || bracket;
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '[' if !quoted => bracket = true,
                ']' if !quoted => bracket = false,
                _ => return !inside && (c.is_whitespace() || c == ';'),
            }
            false
        });
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

fn key_value(word: &str) -> Result<(&str, &str), Malformed> {
    word.split_once('=').ok_or_else(|| format!("`{word}` is no key=value"))
}

fn unknown<T>(key: &str) -> Result<T, Malformed> {
    Err(format!("there is no field `{key}` here"))
}

fn decimal<N: std::str::FromStr>(key: &str, text: &str) -> Result<N, Malformed> {
    text.parse().map_err(|_| format!("{key} is `{text}`, not a decimal number that fits"))
}

fn hexadecimal(key: &str, text: &str) -> Result<u64, Malformed> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    match u64::from_str_radix(digits, 16) {
        Ok(value) if !digits.starts_with('+') => Ok(value),
        _ => Err(format!("{key} is `{text}`, not a hexadecimal number of 64 bits")),
    }
}

fn word(key: &str, text: &str) -> Result<u32, Malformed> {
    let value = hexadecimal(key, text)?;
    u32::try_from(value).map_err(|_| format!("{key} is `{text}`, which does not fit 32 bits"))
}

fn three(key: &str, text: &str) -> Result<[u32; 3], Malformed> {
    let mut parts = text.split(',');
    let mut sizes = [0; 3];
    for size in &mut sizes {
        *size = decimal(key, parts.next().unwrap_or(""))?;
    }
    if parts.next().is_some() { Err(format!("{key} is `{text}`, not x,y,z")) } else { Ok(sizes) }
}

fn quoted(key: &str, text: &str) -> Result<String, Malformed> {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let inner = inner.ok_or_else(|| format!("{key} is {text}, which is not in double quotes"))?;
    let mut plain = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some(c @ ('"' | '\\')) => c,
                _ => return Err(format!("{key} has a \\ before something that needs none")),
            },
            c => c,
        });
    }
    Ok(plain)
}

/// Reads a header from its version on. The version is checked first, because the rest may differ in other
/// versions.
///
/// # Errors
/// A description of what is wrong with it.
pub fn header(text: &str) -> Result<Header, Malformed> {
    let mut header = Header {
        wave_width: 0,
        config: String::new(),
        config_hash: 0,
        producer: String::new(),
        reports: Reports::from_bits(0).expect("no bits"),
    };
    for item in words(text).skip(1) {
        let (key, value) = key_value(item)?;
        match key {
            "wave_width" => header.wave_width = decimal(key, value)?,
            "config" => header.config = quoted(key, value)?,
            "config_hash" => header.config_hash = hexadecimal(key, value)?,
            "producer" => header.producer = quoted(key, value)?,
            "reports" => {
                let mut bits = 0;
                for name in value.split(',') {
                    let place = Reports::NAMES.iter().position(|n| *n == name);
                    bits |=
                        1 << place.ok_or_else(|| format!("there is nothing called `{name}` to report"))?;
                }
                header.reports = Reports::from_bits(bits).expect("bits of names");
            }
            _ => return unknown(key),
        }
    }
    match header.wave_width {
        1..=64 => Ok(header),
        width => Err(format!("wave_width is {width}, and a wave has 1 to 64 lanes")),
    }
}

/// Reads the fields of a launch.
///
/// # Errors
/// A description of what is wrong with it.
pub fn launch(text: &str) -> Result<Launched, Malformed> {
    let mut launch = Launched {
        kernel: String::new(),
        kernel_hash: 0,
        grid: [0; 3],
        workgroup: [0; 3],
        registers: 0,
        local_memory: 0,
        start: 0,
        base: 0,
        arguments: Vec::new(),
        code: Vec::new(),
    };
    for item in words(text) {
        let (key, value) = key_value(item)?;
        match key {
            "kernel" => launch.kernel = quoted(key, value)?,
            "kernel_hash" => launch.kernel_hash = hexadecimal(key, value)?,
            "grid" => launch.grid = three(key, value)?,
            "workgroup" => launch.workgroup = three(key, value)?,
            "registers" => launch.registers = decimal(key, value)?,
            "local_memory" => launch.local_memory = decimal(key, value)?,
            "start" => launch.start = decimal(key, value)?,
            "base" => launch.base = word(key, value)?,
            "arguments" => {
                for argument in value.split(',') {
                    let parts = argument.strip_prefix('r').and_then(|a| a.split_once(':'));
                    let (register, value) =
                        parts.ok_or_else(|| format!("`{argument}` is no argument such as r1:20"))?;
                    launch.arguments.push((decimal(key, register)?, word(key, value)?));
                }
            }
            "code" if value.is_empty() => {}
            "code" => launch.code = value.split(',').map(|w| word(key, w)).collect::<Result<_, _>>()?,
            _ => return unknown(key),
        }
    }
    Ok(launch)
}

/// Reads the end, from how the run ended on.
///
/// # Errors
/// A description of what is wrong with it.
pub fn end(text: &str) -> Result<End, Malformed> {
    let mut items = words(text);
    let how = items.next().unwrap_or("");
    let how = How::from_name(how).ok_or_else(|| format!("a run cannot end in way `{how}`"))?;
    let mut end = End { how, cycle: 0, records: 0, message: String::new() };
    for item in items {
        let (key, value) = key_value(item)?;
        match key {
            "cycle" => end.cycle = decimal(key, value)?,
            "records" => end.records = decimal(key, value)?,
            "message" => end.message = quoted(key, value)?,
            _ => return unknown(key),
        }
    }
    Ok(end)
}

/// Reads a record from its cycle on into `record`, which must be clear.
///
/// # Errors
/// A description of what is wrong with it.
pub fn record(text: &str, all_lanes: u64, record: &mut Record) -> Result<(), Malformed> {
    let mut items = words(text);
    record.cycle = decimal("@", items.next().unwrap_or(""))?;
    // Rows need the mask, which may come later in the line.
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for item in items {
        match item {
            "ends" => record.ends = true,
            "open" => record.open = true,
            _ => {
                let (key, value) = key_value(item)?;
                if !field(record, key, value)? {
                    rows.push((key, value));
                }
            }
        }
    }
    if (record.active | record.effective) & !all_lanes != 0 {
        return Err(format!("a mask has lanes past the {} of a wave", all_lanes.count_ones()));
    }
    let (width, mask) = (all_lanes.count_ones() as usize, record.effective);
    for (key, value) in rows {
        let target = match key {
            "at" => &mut record.addresses,
            "strides" => &mut record.strides,
            "sent" => &mut record.sent,
            _ => {
                let (kind, index) = key.split_at_checked(1).unwrap_or(("", ""));
                let kind = DestinationKind::from_name(kind).filter(|_| key != "none");
                let (Some(kind), Ok(index)) = (kind, index.parse()) else { return unknown(key) };
                if record.destination != DestinationKind::None {
                    return Err(format!("`{key}` is a second destination"));
                }
                (record.destination, record.index) = (kind, index);
                &mut record.values
            }
        };
        push_rows(key, value, target, width, mask)?;
    }
    Ok(())
}

/// Reads a field that is not a row. False if there is none of this name.
fn field(record: &mut Record, key: &str, value: &str) -> Result<bool, Malformed> {
    if let Some(stage) = STAGES.into_iter().find(|stage| stage.key() == key) {
        record.stages[stage] = decimal(key, value)?;
        return Ok(true);
    }
    match key {
        "core" => record.core = decimal(key, value)?,
        "slot" => record.slot = decimal(key, value)?,
        "workgroup" => record.workgroup = three(key, value)?,
        "wave" => record.wave = decimal(key, value)?,
        "seq" => record.sequence = decimal(key, value)?,
        "pc" => record.pc = word(key, value)?,
        "next" => record.next_pc = word(key, value)?,
        "active" => record.active = hexadecimal(key, value)?,
        "effective" => record.effective = hexadecimal(key, value)?,
        "words" => {
            for (n, text) in value.split(',').enumerate() {
                *record.words.get_mut(n).ok_or("an instruction has two words at most")? = word(key, text)?;
                record.word_count = n as u8 + 1;
            }
        }
        "memory" => {
            let wrong = || format!("memory is `{value}`, not one such as device.load.4");
            let mut parts = value.split('.');
            record.device = match parts.next() {
                Some("device") => true,
                Some("local") => false,
                _ => return Err(wrong()),
            };
            let kind = parts.next().and_then(MemoryKind::from_name).filter(|k| *k != MemoryKind::None);
            record.memory = kind.ok_or_else(wrong)?;
            record.bytes = parts.next().and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
        }
        "stalls" => {
            for text in value.split(',') {
                record
                    .stalls
                    .push(stall(text).ok_or_else(|| format!("`{text}` is no stall such as fetch:3-5"))?);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn stall(text: &str) -> Option<Stall> {
    let (reason, cycles) = text.split_once(':')?;
    let (from, to) = cycles.split_once('-')?;
    let (from, to): (Cycle, Cycle) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to).then_some(Stall { reason: Wait::from_name(reason)?, from, to })
}

fn push_rows(key: &str, text: &str, rows: &mut Vec<u32>, width: usize, mask: u64) -> Result<(), Malformed> {
    for row in text.split(',').filter(|_| !text.is_empty()) {
        if let Some(values) = row.strip_prefix('[').and_then(|row| row.strip_suffix(']')) {
            let values: Vec<u32> =
                values.split_whitespace().map(|value| word(key, value)).collect::<Result<_, _>>()?;
            if values.len() != mask.count_ones() as usize {
                let lanes = mask.count_ones();
                return Err(format!("{key} has {} values, and {lanes} lanes take part", values.len()));
            }
            push_values(rows, width, mask, values.into_iter());
        } else if let Some(value) = row.strip_suffix('*') {
            push_form(rows, width, mask, word(key, value)?, 0);
        } else if let Some((first, step)) = row.split_once('+') {
            push_form(rows, width, mask, word(key, first)?, word(key, step)?);
        } else {
            return Err(format!("{key} has `{row}`, which is no row: [v v v], v* or v+step"));
        }
    }
    Ok(())
}
