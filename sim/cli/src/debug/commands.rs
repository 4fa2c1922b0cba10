//! The commands of the debugger: names as in gdb and rr, abbreviations, help.

use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Break,
    Watch,
    RWatch,
    AWatch,
    Delete,
    Disable,
    Enable,
    Continue,
    Step,
    Stepi,
    Launch,
    Goto,
    Run,
    ReverseContinue,
    ReverseStep,
    ReverseStepi,
    ReverseLaunch,
    Wave,
    Info,
    Print,
    Stack,
    Examine,
    List,
    Why,
    Help,
    Quit,
}

/// What there is to say about a command.
struct Row {
    verb: Verb,
    name: &'static str,
    /// Other names; an abbreviation that begins several names is one of the command that has it here.
    others: &'static [&'static str],
    usage: &'static str,
    help: &'static str,
}

const fn row(
    verb: Verb,
    name: &'static str,
    others: &'static [&'static str],
    usage: &'static str,
    help: &'static str,
) -> Row {
    Row { verb, name, others, usage, help }
}

/// The commands with a heading before each group.
const GROUPS: [(&str, &[Row]); 5] = [
    (
        "Forwards",
        &[
            row(Verb::Continue, "continue", &["c"], "", "to the next breakpoint, fault or end"),
            row(Verb::Step, "step", &["s"], "[N]", "N cycles"),
            row(
                Verb::Stepi,
                "stepi",
                &["si", "next", "n", "nexti", "ni"],
                "[N]",
                "N instructions of the chosen wave; a line of source is one",
            ),
            row(Verb::Launch, "launch", &["l"], "[N]", "to the beginning of the next launch, N times"),
            row(
                Verb::Goto,
                "goto",
                &["g", "seek"],
                "CYCLE|+N|-N|start|end",
                "to a cycle, in either direction; no breakpoint stops it",
            ),
            row(Verb::Run, "run", &["r"], "", "from the start to the first breakpoint"),
        ],
    ),
    (
        "Backwards",
        &[
            row(
                Verb::ReverseContinue,
                "reverse-continue",
                &["rc"],
                "",
                "to the last breakpoint or watched access before",
            ),
            row(Verb::ReverseStep, "reverse-step", &["rs"], "[N]", "N cycles"),
            row(
                Verb::ReverseStepi,
                "reverse-stepi",
                &["rsi", "reverse-next", "rn", "reverse-nexti", "rni"],
                "[N]",
                "to before the last N instructions of the chosen wave",
            ),
            row(
                Verb::ReverseLaunch,
                "reverse-launch",
                &["rl"],
                "[N]",
                "to the beginning of this launch, or of the one before",
            ),
        ],
    ),
    (
        "Breakpoints",
        &[
            row(
                Verb::Break,
                "break",
                &["b"],
                "LINE|FILE:LINE|KERNEL|*PC|cycle N|stall N|launch [N]|fault",
                "stop before an instruction issues, at a cycle, after a wave has not issued for N cycles, at a launch",
            ),
            row(
                Verb::Watch,
                "watch",
                &[],
                "[local] ADDRESS [BYTES] [lane N]",
                "stop before a write of one of these bytes (4); of local memory: of the chosen wave's workgroup",
            ),
            row(Verb::RWatch, "rwatch", &[], "[local] ADDRESS [BYTES] [lane N]", "the same for reads"),
            row(
                Verb::AWatch,
                "awatch",
                &[],
                "[local] ADDRESS [BYTES] [lane N]",
                "the same for reads and writes",
            ),
            row(Verb::Delete, "delete", &["d"], "[NUMBER]...", "delete breakpoints, or all"),
            row(Verb::Disable, "disable", &[], "[NUMBER]...", "they do not stop the run until enabled"),
            row(Verb::Enable, "enable", &[], "[NUMBER]...", "they stop it again"),
        ],
    ),
    (
        "Looking",
        &[
            row(
                Verb::Wave,
                "wave",
                &["w", "thread"],
                "[CORE:SLOT]",
                "choose a wave, or say which one is chosen",
            ),
            row(
                Verb::Info,
                "info",
                &["i"],
                "TOPIC",
                "breakpoints, caches ADDRESS, history, launch, pipeline, queues [NAME], registers [rN|pN]..., stack, waves",
            ),
            row(
                Verb::Print,
                "print",
                &["p"],
                "[/FORMAT] rN[[LANE]]|pN|pc",
                "a register, a predicate or the place of the chosen wave; formats as of x",
            ),
            row(
                Verb::Stack,
                "backtrace",
                &["bt", "where", "frame", "f"],
                "",
                "where the chosen wave is, and the ifs and loops around it with their lanes",
            ),
            row(
                Verb::Examine,
                "x",
                &[],
                "[/N][FORMAT] [local] ADDRESS",
                "N words of memory; formats x (hex), d (signed), u, f (f32), b (bytes)",
            ),
            row(Verb::List, "list", &[], "[LINE]", "source around the chosen wave or a line"),
            row(Verb::Why, "why", &[], "", "what the chosen wave waits for, since when, and who holds it"),
        ],
    ),
    (
        "Session",
        &[
            row(Verb::Help, "help", &["h", "?"], "[COMMAND]", "this list"),
            row(Verb::Quit, "quit", &["q", "exit"], "", "leave"),
        ],
    ),
];

fn rows() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|(_, rows)| rows.iter())
}

/// Commands of gdb and rr that have no meaning here, and what does what they do.
const FOREIGN: [(&[&str], &str); 7] = [
    (
        &["finish", "reverse-finish", "up", "down"],
        "a kernel calls nothing; `backtrace` shows the ifs and loops around a wave",
    ),
    (&["until", "advance", "start"], "`break LINE` and `continue`, or `goto CYCLE`"),
    (&["tbreak", "hbreak", "catch"], "`break`, and `delete` once it was reached; a fault stops every run"),
    (
        &["set", "call", "jump", "kill", "return", "signal", "detach", "attach"],
        "the debugger looks and changes nothing; flags such as --set-reg say what a run begins with",
    ),
    (&["disassemble", "disas"], "`list` shows the source, or the instructions where there is none"),
    (&["display", "undisplay", "tui", "layout"], "the panes show it: start without -x and --commands"),
    (&["checkpoint", "restart", "record"], "every run is recorded: `goto CYCLE` goes anywhere in it"),
];

/// The command of a word: a name, an abbreviation, or the beginning of one name only.
///
/// # Errors
/// If there is none, or there are several.
pub(super) fn verb(word: &str) -> Result<Verb, Diagnostic> {
    let exact = rows().find(|row| row.name == word || row.others.contains(&word));
    if let Some(row) = exact {
        return Ok(row.verb);
    }
    let begun: Vec<&Row> = rows().filter(|row| row.name.starts_with(word)).collect();
    match begun.as_slice() {
        [one] => Ok(one.verb),
        [] => {
            let error = Diagnostic::error(format!("there is no command `{word}`"));
            if let Some((_, hint)) = FOREIGN.iter().find(|(names, _)| names.contains(&word)) {
                return Err(error.hint(*hint));
            }
            let near = did_you_mean(word, rows().map(|row| row.name));
            Err(error.hint(near.unwrap_or_else(|| "`help` lists the commands".to_owned())))
        }
        several => {
            let names: Vec<String> = several.iter().map(|row| format!("`{}`", row.name)).collect();
            let message = format!("`{word}` begins {} commands", several.len());
            Err(Diagnostic::error(message).hint(names.join(", ")))
        }
    }
}

/// How a command is written.
pub(super) fn usage(verb: Verb) -> String {
    rows().find(|row| row.verb == verb).map(|row| format!("{} {}", row.name, row.usage)).unwrap_or_default()
}

/// The list of all commands, or what there is to say about one.
pub(super) fn help(verb: Option<Verb>) -> String {
    let mut text = String::new();
    for (heading, rows) in GROUPS {
        let rows: Vec<&Row> = rows.iter().filter(|row| verb.is_none_or(|verb| verb == row.verb)).collect();
        if rows.is_empty() {
            continue;
        }
        if verb.is_none() {
            _ = writeln!(text, "{heading}:");
        }
        for row in rows {
            let others = match row.others {
                [] => String::new(),
                others => format!(" ({})", others.join(", ")),
            };
            let gap = if row.usage.is_empty() { "" } else { " " };
            _ = writeln!(text, "  {}{others}{gap}{}\n      {}", row.name, row.usage, row.help);
        }
    }
    if verb.is_none() {
        text += "A command may be cut short where only one begins so. An empty line repeats the last one.\n";
        text += "ADDRESS: a number, or a buffer of the launch file as out, out[5] or out+0x20.\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_abbreviations_and_beginnings() {
        assert_eq!(verb("rc").unwrap(), Verb::ReverseContinue);
        assert_eq!(verb("reverse-stepi").unwrap(), Verb::ReverseStepi);
        assert_eq!(verb("cont").unwrap(), Verb::Continue);
        assert_eq!(verb("step").unwrap(), Verb::Step);
        assert_eq!(verb("n").unwrap(), Verb::Stepi);
        assert_eq!(verb("bt").unwrap(), Verb::Stack);
        assert!(verb("finish").unwrap_err().hint.is_some_and(|hint| hint.contains("calls nothing")));
        assert!(verb("reverse").unwrap_err().message.contains("begins 4 commands"));
        let wrong = verb("contineu").unwrap_err();
        assert_eq!(wrong.hint.as_deref(), Some("did you mean `continue`?"));
    }

    #[test]
    fn no_two_commands_have_a_name_in_common() {
        let mut names: Vec<&str> =
            rows().flat_map(|row| row.others.iter().copied().chain([row.name])).collect();
        names.extend(FOREIGN.iter().flat_map(|(names, _)| names.iter().copied()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
