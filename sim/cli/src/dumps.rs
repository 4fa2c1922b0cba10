//! The `--dump-…` flags: one for each element type and one for bytes, kept in the order of the command
//! line.

use super::address::{self, Span};
use super::values::element_text;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use std::fmt::Write;
use std::ops::Range;
use wave_study::launch::ElementType;

/// One dump of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dump {
    /// `--dump-memory START:END`
    Bytes(Span),
    /// `--dump-TYPE OFFSET:COUNT`
    Values(ElementType, Span),
}

/// All dumps, in the order of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dumps(pub Vec<Dump>);

/// The flag of an element type.
const fn flag(element: ElementType) -> &'static str {
    match element {
        ElementType::U8 => "dump-u8",
        ElementType::U16 => "dump-u16",
        ElementType::U32 => "dump-u32",
        ElementType::U64 => "dump-u64",
        ElementType::I8 => "dump-i8",
        ElementType::I16 => "dump-i16",
        ElementType::I32 => "dump-i32",
        ElementType::I64 => "dump-i64",
        ElementType::F16 => "dump-f16",
        ElementType::Bf16 => "dump-bf16",
        ElementType::F32 => "dump-f32",
        ElementType::F64 => "dump-f64",
    }
}

const BYTES_FLAG: &str = "dump-memory";

impl Args for Dumps {
    fn augment_args(command: clap::Command) -> clap::Command {
        let bytes = Arg::new(BYTES_FLAG)
            .long(BYTES_FLAG)
            .value_name("START:END|BUFFER")
            .value_parser(address::bytes)
            .action(ArgAction::Append)
            .help("Print bytes of device memory, after the run, as a hex dump");
        ElementType::ALL.into_iter().fold(command.arg(bytes), |command, element| {
            command.arg(
                Arg::new(flag(element))
                    .long(flag(element))
                    .value_name("OFFSET:COUNT|BUFFER[:COUNT]")
                    .value_parser(move |text: &str| address::elements(text, element))
                    .action(ArgAction::Append)
                    .help(format!("Print {} values of device memory, one a line", element.name())),
            )
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Dumps::augment_args(command)
    }
}

impl FromArgMatches for Dumps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Dumps, clap::Error> {
        let mut dumps = Dumps::default();
        dumps.update_from_arg_matches(matches)?;
        Ok(dumps)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let mut found: Vec<(usize, Dump)> = given(matches, BYTES_FLAG, Dump::Bytes);
        for element in ElementType::ALL {
            found.extend(given(matches, flag(element), |span| Dump::Values(element, span)));
        }
        found.sort_by_key(|(position, _)| *position);
        self.0 = found.into_iter().map(|(_, dump)| dump).collect();
        Ok(())
    }
}

/// The values of a flag with their positions on the command line.
fn given(matches: &ArgMatches, flag: &str, dump: impl Fn(Span) -> Dump) -> Vec<(usize, Dump)> {
    let positions = matches.indices_of(flag).into_iter().flatten();
    let values = matches.get_many::<Span>(flag).into_iter().flatten();
    positions.zip(values.map(|span| dump(span.clone()))).collect()
}

impl Dump {
    /// The flag, for messages.
    pub(crate) fn flag(&self) -> String {
        match self {
            Dump::Bytes(_) => format!("--{BYTES_FLAG}"),
            Dump::Values(element, _) => format!("--{}", flag(*element)),
        }
    }

    /// The bytes that it shows.
    pub(crate) fn span(&self) -> &Span {
        match self {
            Dump::Bytes(span) | Dump::Values(_, span) => span,
        }
    }

    /// The dump of some bytes as text. For bytes, lines as the reference emulator prints them: the address, sixteen bytes,
    /// and their ASCII characters.
    pub(crate) fn text(&self, range: &Range<u64>, memory: &[u8]) -> String {
        let data = &memory[range.start as usize..range.end as usize];
        let mut text = String::new();
        match self {
            Dump::Bytes(_) => {
                _ = writeln!(text, "Device memory 0x{:08x}-0x{:08x}:", range.start, range.end);
                for (line, bytes) in data.chunks(16).enumerate() {
                    hex_line(&mut text, range.start + 16 * line as u64, bytes);
                }
            }
            Dump::Values(element, _) => {
                for value in data.chunks_exact(element.bytes()) {
                    text.push_str(&element_text(*element, value));
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn hex_line(text: &mut String, address: u64, bytes: &[u8]) {
    _ = write!(text, "{address:08x}: ");
    for column in 0..16 {
        if column == 8 {
            text.push(' ');
        }
        match bytes.get(column) {
            Some(byte) => _ = write!(text, "{byte:02x} "),
            None => text.push_str("   "),
        }
    }
    let shown = |&byte: &u8| if byte.is_ascii_graphic() || byte == b' ' { byte as char } else { '.' };
    let characters: String = bytes.iter().map(shown).collect();
    _ = writeln!(text, " |{characters}|");
}
