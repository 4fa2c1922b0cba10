//! What the panes show of the machine at one position, as text.

use crate::debug::format::Format;
use crate::debug::session::Session;
use crate::debug::{look, memory};
use crate::place;
use wave_isa::WORD_BYTES;
use wave_isa::program::Listing;
use wave_isa::visible::visible;
use wave_observe::numbers::{self, counted};

/// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pane {
    Source,
    Pipeline,
    Waves,
    Registers,
    Caches,
    #[default]
    Output,
}

impl Pane {
    /// Number of panes.
    pub(super) const COUNT: usize = 6;

    const ALL: [Pane; Pane::COUNT] =
        [Pane::Source, Pane::Pipeline, Pane::Waves, Pane::Registers, Pane::Caches, Pane::Output];

    /// The next in the order of the Tab key.
    pub(super) fn next(self) -> Pane {
        Pane::ALL[(self as usize + 1) % Pane::COUNT]
    }
}

/// The lines of a pane.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    /// Heading.
    pub title: String,
    /// Lines.
    pub lines: Vec<String>,
    /// The line that stands out, and that has to be in sight.
    pub here: Option<usize>,
    /// Lines that are too long are continued, not cut.
    pub is_wrapped: bool,
}

/// What the panes show.
#[derive(Debug, Clone, Default)]
pub(super) struct Picture {
    /// The top line.
    pub head: String,
    /// By [`Pane`]; that of the output is empty.
    pub panes: [Text; Pane::COUNT],
}

impl Picture {
    /// The picture of a session now.
    pub(super) fn of(session: &mut Session) -> Picture {
        let mut picture = Picture { head: head(session), ..Picture::default() };
        picture.panes[Pane::Source as usize] = source(session);
        picture.panes[Pane::Pipeline as usize] = pipeline(session);
        picture.panes[Pane::Waves as usize] = waves(session);
        picture.panes[Pane::Registers as usize] = registers(session);
        picture.panes[Pane::Caches as usize] = caches(session);
        // Names and source lines come out of files.
        let texts = picture.panes.iter_mut().flat_map(|pane| pane.lines.iter_mut().chain([&mut pane.title]));
        for text in texts.chain([&mut picture.head]) {
            *text = visible(text).into_owned();
        }
        picture
    }
}

fn head(session: &mut Session) -> String {
    let here = session.here();
    let first = here.lines().next().unwrap_or("").trim_end_matches(" at").to_owned();
    let (count, bytes) = session.timeline.history();
    let end = if session.timeline.ending().is_some() { ", the end of the run" } else { "" };
    format!("{first}{end} · {}, {}", counted(count as u64, "snapshot"), numbers::bytes(bytes as u64))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn failed(title: &str, error: wave_isa::diagnostic::Diagnostic) -> Text {
    Text { title: title.to_owned(), lines: vec![error.message], here: None, is_wrapped: true }
}

fn source(session: &mut Session) -> Text {
    let pc = session.chosen().ok().map(|view| view.report.pc);
    let program = session.program.clone();
    match &program.source {
        Some(source) => {
            let line =
                pc.and_then(|pc| source.line_of_word(pc / WORD_BYTES)).map(|(line, _)| line as usize - 1);
            let numbered =
                source.text.lines().enumerate().map(|(index, line)| format!("{:>4} {line}", index + 1));
            Text {
                title: place::file_name(source).to_owned(),
                lines: numbered.collect(),
                here: line,
                ..Text::default()
            }
        }
        None => {
            let form = Listing { offsets: true, raw: false, directives: true, source: false };
            let lines = lines(&wave_isa::program::listing(&program, form));
            let at = pc.map(|pc| format!("0x{pc:04X}: "));
            let here = at.and_then(|at| lines.iter().position(|line| line.starts_with(&at)));
            Text { title: "code".to_owned(), lines, here, ..Text::default() }
        }
    }
}

fn pipeline(session: &mut Session) -> Text {
    match look::pipeline(session) {
        Ok(text) => {
            let mut all = lines(&text);
            let title = format!("pipeline of {}", all.remove(0));
            Text { title, lines: all, here: None, is_wrapped: true }
        }
        Err(error) => failed("pipeline", error),
    }
}

fn waves(session: &mut Session) -> Text {
    // All of them: the pane moves to the chosen one.
    let lines = lines(&look::short_waves(session));
    let here = lines.iter().position(|line| line.starts_with('*'));
    Text { title: "waves".to_owned(), lines, here, ..Text::default() }
}

fn registers(session: &mut Session) -> Text {
    match look::registers(session, &[], Format::Hex) {
        Ok(text) => {
            let mut all = lines(&text);
            let title = all.remove(0);
            let title = title.split_once("), ").map_or("registers".to_owned(), |(_, mask)| mask.to_owned());
            Text { title: format!("lanes and registers: {title}"), lines: all, ..Text::default() }
        }
        Err(error) => failed("lanes and registers", error),
    }
}

/// The line of the address that was last looked at, and the queues of the chosen wave's core and of the memory side.
fn caches(session: &mut Session) -> Text {
    let mut all = Vec::new();
    if let Some(address) = session.address {
        match memory::caches_at(session, address) {
            Ok(text) => all.extend(lines(&text)),
            Err(error) => all.push(error.message),
        }
    }
    let core = session.wave.map(|(core, _)| core).unwrap_or(0);
    let held = memory::held(session);
    let is_near = |name: &str| !name.starts_with("core") || name.starts_with(&format!("core{core}."));
    let near = held.iter().filter(|(name, _)| is_near(name));
    all.extend(near.map(|(name, value)| format!("{name} {value}")));
    if all.is_empty() {
        all.push("all queues are empty; `info caches ADDRESS` shows a line here".to_owned());
    }
    Text { title: format!("caches and queues, core {core} and memory side"), lines: all, ..Text::default() }
}
