//! Standard output and standard error.

use super::{Ended, Exit};
use std::io::{self, ErrorKind, IsTerminal, Write};
use wave_isa::diagnostic::{Diagnostic, Severity};

/// Where text goes, and whether it is coloured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// Colour messages.
    color: bool,
}

impl Terminal {
    /// Colours where standard error is a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    pub(crate) fn of_environment() -> Terminal {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Terminal { color: io::stderr().is_terminal() && !set("NO_COLOR") && !dumb }
    }

    /// True if standard output is a terminal whose cursor can be moved.
    pub(crate) fn can_be_drawn_on() -> bool {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        io::stdout().is_terminal() && (!dumb || cfg!(windows))
    }

    /// Writes results to standard output.
    ///
    /// # Errors
    /// If standard output cannot be written, for example because the disk is full. A reader that has closed
    /// the pipe, such as `head`, ends the command without a message.
    pub(crate) fn out(&self, text: &str) -> Ended {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Vec::new()),
            Err(error) => {
                let message = format!("cannot write to standard output: {}", reason(&error));
                Err(vec![Diagnostic::error(message)])
            }
            Ok(()) => Ok(Exit::Success),
        }
    }

    /// Writes to standard error. A failure is ignored: there is no one to tell.
    pub(crate) fn err(&self, text: &str) {
        _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Prints messages to standard error, and the number of errors if there are several.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        let mut text: String = diagnostics.iter().map(|d| d.render(self.color) + "\n\n").collect();
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        if errors > 1 {
            text += &format!("{errors} errors\n");
        } else if text.ends_with("\n\n") {
            text.pop();
        }
        self.err(&text);
    }
}

/// The reason of an error, without the operating system's number.
pub(crate) fn reason(error: &io::Error) -> String {
    wave_files::reason(error)
}
