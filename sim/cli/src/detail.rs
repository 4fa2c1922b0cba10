//! `--detail-from`: where a run passes to the machine with timing.

use super::place::{self, instruction_starts};
use super::values::{integer, integer32, launch_number};
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};

/// The flag.
pub(crate) const DETAIL_FROM: &str = "--detail-from";
/// What a place can be, for messages.
const FORMS: &str =
    "launch:2, cycle:10000, pc:0x48, line:23, k.wave:23, or launch:2 and one of the others: launch:2,pc:0x48";

/// Where detail begins, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetailFrom {
    /// Number of the launch, from 1 on, if one is named.
    pub(crate) launch: Option<u32>,
    /// The place in it; the beginning if none is named.
    pub(crate) place: Option<Named>,
}

/// A place in a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// The beginning of a nominal cycle.
    Cycle(u64),
    /// A byte offset in the code section.
    Pc(u32),
    /// A line of the source, in a file if one is named.
    Line(Option<String>, u32),
}

/// A place in a launch, with the instruction found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The beginning of a nominal cycle.
    Cycle(u64),
    /// The nominal cycle in which a wave first comes to the instruction at this byte offset in the code section.
    Pc(u32),
}

/// Reads a launch, a place, or both: `2`, `launch:2`, `cycle:100`, `pc:0x48`, `line:23`, `k.wave:23`, `launch:2,line:23`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn detail_from(text: &str) -> Result<DetailFrom, String> {
    let (launch, rest) = match text.strip_prefix("launch:") {
        None if text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(':') => {
            return Ok(DetailFrom { launch: Some(launch_number(text)?), place: None });
        }
        None => (None, text),
        Some(launch) => {
            let (number, rest) = launch.split_once(',').map_or((launch, None), |(n, rest)| (n, Some(rest)));
            let launch = Some(launch_number(number)?);
            let Some(rest) = rest else { return Ok(DetailFrom { launch, place: None }) };
            (launch, rest)
        }
    };
    let (kind, value) = rest.rsplit_once(':').ok_or_else(|| format!("expected {FORMS}"))?;
    let place = match kind {
        "cycle" => Named::Cycle(integer(value)?),
        "pc" => Named::Pc(integer32(value)?),
        "line" => Named::Line(None, integer32(value)?),
        _ if kind.split(',').next_back() == Some("launch") => {
            return Err("the launch comes first, and once: launch:2,cycle:10000".to_owned());
        }
        // Only a file has a name of its own.
        file if file.contains('.') => Named::Line(Some(file.to_owned()), integer32(value)?),
        other => return Err(format!("`{other}` is no kind of place; expected {FORMS}")),
    };
    Ok(DetailFrom { launch, place: Some(place) })
}

impl Named {
    /// Finds the place in a program of which these launches run.
    ///
    /// # Errors
    /// If there is no instruction there, or none of a kernel that is launched.
    pub(crate) fn find(&self, program: &Program, launches: &[Launch]) -> Result<Place, Diagnostic> {
        let pc = match self {
            Named::Cycle(cycle) => return Ok(Place::Cycle(*cycle)),
            Named::Pc(pc) => at_pc(*pc, program)?,
            Named::Line(file, line) => at_line(file.as_deref(), *line, program, launches)?,
        };
        let kernel = instruction_starts(program)[&pc];
        if launches.iter().any(|launch| launch.kernel == kernel) {
            return Ok(Place::Pc(pc));
        }
        let name = &program.kernels[kernel].name;
        let message =
            format!("{DETAIL_FROM}: {} is of kernel `{name}`, which no launch runs", place::at(program, pc));
        Err(Diagnostic::error(message))
    }
}

/// The pc, if an instruction begins there.
fn at_pc(pc: u32, program: &Program) -> Result<u32, Diagnostic> {
    let starts = instruction_starts(program);
    if starts.contains_key(&pc) {
        return Ok(pc);
    }
    let end = program.code.len() as u32 * WORD_BYTES;
    let error = Diagnostic::error(format!("{DETAIL_FROM}: no instruction begins at pc 0x{pc:x}"));
    Err(match starts.range(..pc).next_back() {
        Some((&before, _)) if pc < end => {
            error.hint(format!("one before it is {}", place::at(program, before)))
        }
        _ => error.hint(format!("the code ends at pc 0x{end:x}; `wave-sim dis --offsets` shows every pc")),
    })
}

/// The pc of the first instruction of a line, in a kernel that is launched if there is one.
fn at_line(file: Option<&str>, line: u32, program: &Program, launches: &[Launch]) -> Result<u32, Diagnostic> {
    let Some(source) = &program.source else {
        let message =
            format!("{DETAIL_FROM}: the kernel has no source lines: it was not assembled from text");
        return Err(Diagnostic::error(message)
            .hint("pc:0x48 names an instruction; `wave-sim dis --offsets` shows them"));
    };
    let name = place::file_name(source);
    if let Some(file) = file.filter(|file| !place::is_named(source, file)) {
        let message = format!("{DETAIL_FROM}: no code comes from `{file}`");
        return Err(Diagnostic::error(message).hint(format!("the source is `{name}`")));
    }
    let line_of = |pc: u32| place::line_number(source, pc);
    let starts = instruction_starts(program);
    let here = || starts.iter().filter(|(pc, _)| line_of(**pc) == line);
    let launched = here().find(|(_, kernel)| launches.iter().any(|launch| launch.kernel == **kernel));
    if let Some((&pc, _)) = launched.or_else(|| here().next()) {
        return Ok(pc);
    }
    let error =
        Diagnostic::error(format!("{DETAIL_FROM}: there is no instruction at line {line} of `{name}`"));
    let lines = || starts.keys().map(|&pc| line_of(pc));
    Err(match lines().filter(|&at| at > line).min() {
        Some(next) => error.hint(format!("the next one is at line {next}")),
        None => error.hint(format!("the last one is at line {}", lines().max().unwrap_or(0))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let named = |launch, place| Ok(DetailFrom { launch, place });
        assert_eq!(detail_from("3"), named(Some(3), None));
        assert_eq!(detail_from("0x10"), named(Some(16), None));
        assert_eq!(detail_from("launch:3"), named(Some(3), None));
        assert_eq!(detail_from("cycle:10_000"), named(None, Some(Named::Cycle(10_000))));
        assert_eq!(detail_from("pc:0x48"), named(None, Some(Named::Pc(0x48))));
        assert_eq!(detail_from("line:23"), named(None, Some(Named::Line(None, 23))));
        let line = Named::Line(Some("a:b/k.wave".to_owned()), 23);
        assert_eq!(detail_from("a:b/k.wave:23"), named(None, Some(line)));
        assert_eq!(detail_from("launch:2,cycle:5"), named(Some(2), Some(Named::Cycle(5))));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for (text, why) in [
            ("0", "the first launch is number 1"),
            ("launch:0", "the first launch is number 1"),
            ("launch:", "a number is missing"),
            ("cycle:-1", "negative"),
            ("cycle:x", "x"),
            ("pc:", "a number is missing"),
            ("pc:0x1_0000_0000", "does not fit 32 bits"),
            ("pc=4", "expected launch:2"),
            ("cycle:5,launch:2", "the launch comes first"),
            ("launch:2,launch:3", "the launch comes first"),
            ("launch:2,", "expected launch:2"),
            ("insts:5", "`insts` is no kind of place"),
            ("", "expected launch:2"),
            ("1.5", ""),
        ] {
            let error = detail_from(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
