//! Standard output and standard error. All that the program prints passes through here, or through a bar of
//! [`progress`](crate::progress) or the screen of the debugger: a terminal obeys nothing of it but our own colours.

use super::{Ended, Exit};
use std::ffi::OsString;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stderr, Write};
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::visible::{is_hidden, visible};

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

    /// Writes results to standard output, with escapes in place of characters that a terminal obeys.
    ///
    /// # Errors
    /// If standard output cannot be written, for example because the disk is full. A reader that has closed
    /// the pipe, such as `head`, ends the command without a message.
    pub(crate) fn out(&self, text: &str) -> Ended {
        let mut out = io::stdout().lock();
        match out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Vec::new()),
            Err(error) => {
                let message = format!("cannot write to standard output: {}", wave_files::reason(&error));
                Err(vec![Diagnostic::error(message)])
            }
            Ok(()) => Ok(Exit::Success),
        }
    }

    /// Writes to standard error, with escapes in place of characters that a terminal obeys. A failure is ignored: there
    /// is no one to tell.
    pub(crate) fn err(&self, text: &str) {
        styled(&visible(text));
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
        // A message is visible already, and its escape sequences are colours.
        styled(&text);
    }

    /// Prints what the parser of the command line says: an error to standard error; help and the version to standard
    /// output, where a closed pipe is not an error. `words` are those of the command line.
    pub(crate) fn usage(&self, error: &clap::Error, words: &[OsString]) {
        let is_quoted = words.iter().any(|word| word.to_string_lossy().contains(is_hidden));
        // Its colours cannot be told from what it quotes.
        if error.use_stderr() && is_quoted {
            self.err(&error.render().to_string());
        } else {
            _ = error.print();
        }
    }
}

/// Writes to standard error as it is.
fn styled(text: &str) {
    _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Standard error for those who write piece by piece, each piece whole characters.
#[derive(Debug)]
pub(crate) struct Pieces(BufWriter<Stderr>);

impl Pieces {
    pub(crate) fn new() -> Pieces {
        Pieces(BufWriter::new(io::stderr()))
    }
}

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.write_all(visible(&String::from_utf8_lossy(piece)).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
