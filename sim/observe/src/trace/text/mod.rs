//! The text form: a line for the header, each launch, each record and the end.

mod parse;

pub use parse::{Line, end, header, launch, line, record};

use super::record::{DestinationKind, End, Header, Launched, MemoryKind, Record, Reports, STAGES};
use super::rows::{Row, lanes};
use std::fmt::{self, Display, Write};
use wave_isa::Inst;
use wave_isa::program::dis::Labels;
use wave_isa::program::disassemble_inst;

/// First characters of a text file, followed by the version.
pub const MAGIC: &str = "wvfi ";

/// The line of a header.
pub(crate) fn put_header(out: &mut Vec<u8>, header: &Header) {
    let Header { wave_width, config, config_hash, producer, reports } = header;
    let (config, producer) = (Quoted(config), Quoted(producer));
    let mut line = format!(
        "{MAGIC}{} wave_width={wave_width} config={config} config_hash={config_hash:016x} producer={producer}",
        super::VERSION
    );
    let bits = reports.bits();
    let names = Reports::NAMES.iter().enumerate().filter(|(n, _)| bits >> n & 1 != 0);
    let names: Vec<&str> = names.map(|(_, &name)| name).collect();
    if !names.is_empty() {
        _ = write!(line, " reports={}", names.join(","));
    }
    line.push('\n');
    out.extend(line.bytes());
}

/// The line of a launch.
pub(crate) fn put_launch(out: &mut Vec<u8>, launch: &Launched) {
    let Launched { kernel_hash, grid, workgroup, registers, local_memory, start, base, .. } = launch;
    let mut line = format!(
        "launch kernel={} kernel_hash={kernel_hash:016x} grid={} workgroup={} registers={registers} \
         local_memory={local_memory} start={start} base=0x{base:x}",
        Quoted(&launch.kernel),
        Joined(grid),
        Joined(workgroup),
    );
    if !launch.arguments.is_empty() {
        let arguments: Vec<String> = launch.arguments.iter().map(|(r, v)| format!("r{r}:{v:x}")).collect();
        _ = write!(line, " arguments={}", arguments.join(","));
    }
    let code: Vec<String> = launch.code.iter().map(|word| format!("{word:08x}")).collect();
    _ = writeln!(line, " code={}", code.join(","));
    out.extend(line.bytes());
}

/// The line of the end.
pub(crate) fn put_end(out: &mut Vec<u8>, end: &End) {
    let mut line = format!("end {} cycle={} records={}", end.how.name(), end.cycle, end.records);
    if !end.message.is_empty() {
        _ = write!(line, " message={}", Quoted(&end.message));
    }
    line.push('\n');
    out.extend(line.bytes());
}

/// The line of a record, with the disassembled instruction as a comment.
pub(crate) fn put_record(out: &mut Vec<u8>, record: &Record, all_lanes: u64) {
    let line = format!("{} ; {}\n", Shown { record, all_lanes }, instruction(record));
    out.extend(line.bytes());
}

/// The disassembled instruction of a record.
pub fn instruction(record: &Record) -> String {
    match Inst::decode(&record.words[..usize::from(record.word_count)]) {
        _ if record.word_count == 0 => "(end of the code)".to_owned(),
        Ok(inst) => disassemble_inst(&inst, &Labels::new()),
        Err(why) => format!("({why})"),
    }
}

/// A text in quotes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

struct Joined<'a>(&'a [u32; 3]);

impl Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x},{y},{z}")
    }
}

/// Rows, displayed for the lanes of a mask.
pub struct Rows<'a> {
    /// The rows, concatenated.
    pub rows: &'a [u32],
    /// Lanes of a wave.
    pub width: usize,
    /// Lanes that participate.
    pub mask: u64,
}

impl Display for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, row) in self.rows.chunks_exact(self.width).enumerate() {
            if n > 0 {
                f.write_char(',')?;
            }
            match Row::of(row, self.mask) {
                Row::Uniform(value) => write!(f, "{value:x}*")?,
                Row::Steps { first, step } => write!(f, "{first:x}+{step:x}")?,
                Row::Words => {
                    f.write_char('[')?;
                    for (n, lane) in lanes(self.mask).enumerate() {
                        write!(f, "{}{:x}", if n > 0 { " " } else { "" }, row[lane])?;
                    }
                    f.write_char(']')?;
                }
            }
        }
        Ok(())
    }
}

/// A record, displayed as its line.
struct Shown<'a> {
    record: &'a Record,
    all_lanes: u64,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let r = self.record;
        let width = self.all_lanes.count_ones() as usize;
        let rows = |rows| Rows { rows, width, mask: r.effective };
        write!(
            f,
            "@{} core={} slot={} workgroup={} wave={} seq={} pc=0x{:x}",
            r.cycle,
            r.core,
            r.slot,
            Joined(&r.workgroup),
            r.wave,
            r.sequence,
            r.pc
        )?;
        match r.word_count {
            0 => {}
            1 => write!(f, " words={:08x}", r.words[0])?,
            _ => write!(f, " words={:08x},{:08x}", r.words[0], r.words[1])?,
        }
        write!(f, " active={:x} effective={:x}", r.active, r.effective)?;
        if r.ends {
            f.write_str(" ends")?;
        } else {
            write!(f, " next=0x{:x}", r.next_pc)?;
        }
        if r.open {
            f.write_str(" open")?;
        }
        for stage in STAGES {
            if r.stage(stage) != 0 {
                write!(f, " {}={}", stage.key(), r.stage(stage))?;
            }
        }
        if r.destination != DestinationKind::None {
            write!(f, " {}{}={}", r.destination.name(), r.index, rows(&r.values))?;
        }
        if r.memory != MemoryKind::None {
            let space = if r.device { "device" } else { "local" };
            write!(f, " memory={space}.{}.{} at={}", r.memory.name(), r.bytes, rows(&r.addresses))?;
            if !r.strides.is_empty() {
                write!(f, " strides={}", rows(&r.strides))?;
            }
            if !r.sent.is_empty() {
                write!(f, " sent={}", rows(&r.sent))?;
            }
        }
        for (n, stall) in r.stalls.iter().enumerate() {
            let key = if n == 0 { " stalls=" } else { "," };
            write!(f, "{key}{}:{}-{}", stall.reason.name(), stall.from, stall.to)?;
        }
        Ok(())
    }
}
