//! The debugger in a terminal: panes of what the chosen wave and the machine do, and a command line.

mod draw;
mod picture;
#[cfg(test)]
mod tests;

use super::session::{Reply, Session};
use crate::{Ended, Exit, interrupt};
use draw::draw;
use picture::{Pane, Picture};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use wave_isa::visible::{is_hidden, visible};

/// Lines of output that are kept, and commands.
const MOST_OUTPUT: usize = 5000;
const MOST_COMMANDS: usize = 500;
/// Time between two pictures of a long command.
const REFRESH: Duration = Duration::from_millis(150);

/// What the user sees and types, beside the machine.
#[derive(Debug, Clone, Default)]
pub(super) struct Desk {
    /// What commands have said.
    output: VecDeque<String>,
    /// The line that is being typed, and the place of the cursor in it, in characters.
    line: Vec<char>,
    cursor: usize,
    /// Commands, oldest first, and which one is shown.
    commands: Vec<String>,
    shown: Option<usize>,
    /// The pane that the page keys move, and how far each is moved.
    focus: Pane,
    scrolls: [usize; Pane::COUNT],
    /// How many characters each pane leaves out on the left.
    shifts: [usize; Pane::COUNT],
    /// What runs, while a command does.
    runs: Option<String>,
}

/// What a key asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asks {
    Nothing,
    Execute(String),
    Leave,
}

/// Runs a session in the terminal.
///
/// # Errors
/// `None` if there is no terminal that can be drawn on; nothing has happened then.
pub(super) fn run(session: &mut Session) -> Option<Ended> {
    let mut terminal = ratatui::try_init().ok()?;
    interrupt::stop();
    let ended = converse(session, &mut terminal);
    ratatui::restore();
    interrupt::rest();
    Some(ended.map(|()| Exit::Success).map_err(|error| {
        let why = wave_files::reason(&error);
        vec![wave_isa::diagnostic::Diagnostic::error(format!("cannot use the terminal: {why}"))]
    }))
}

fn converse(session: &mut Session, terminal: &mut DefaultTerminal) -> io::Result<()> {
    let mut desk = Desk::default();
    desk.say("`help` lists the commands. Tab chooses a pane; Page Up, Page Down, Ctrl-Left and Ctrl-Right move it; Ctrl-D leaves.");
    desk.say(&session.here());
    loop {
        let picture = Picture::of(session);
        terminal.draw(|frame| draw(frame, &picture, &desk))?;
        // A signal does not end a read, so it is looked for now and then.
        while !event::poll(REFRESH)? {
            if interrupt::is_asked() {
                return Ok(());
            }
        }
        let asks = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => desk.key(key),
            Event::Paste(text) => {
                text.chars().filter(|&c| !c.is_control() && !is_hidden(c)).for_each(|c| desk.insert(c));
                Asks::Nothing
            }
            // After a resize everything is drawn anew.
            _ => Asks::Nothing,
        };
        match asks {
            Asks::Nothing => {}
            Asks::Leave => return Ok(()),
            Asks::Execute(command) => {
                if !desk.execute(session, &command, terminal, &picture)? {
                    return Ok(());
                }
            }
        }
        if interrupt::is_asked() {
            return Ok(());
        }
    }
}

impl Desk {
    /// Executes a command. Returns false if the session is over.
    fn execute(
        &mut self,
        session: &mut Session,
        command: &str,
        terminal: &mut DefaultTerminal,
        picture: &Picture,
    ) -> io::Result<bool> {
        self.say(&format!("(wave) {command}"));
        self.runs = Some(command.to_owned());
        let mut wrong = None;
        let mut last = Instant::now();
        let reply = session.execute(command, &mut |cycle| {
            if last.elapsed() < REFRESH {
                return !interrupt::is_asked();
            }
            last = Instant::now();
            self.runs = Some(format!("{command}: cycle {cycle}; Ctrl-C stops it"));
            let drawn = terminal.draw(|frame| draw(frame, picture, self));
            wrong = drawn.err().or(wrong.take());
            wrong.is_none() && !is_stopped() && !interrupt::is_asked()
        });
        self.runs = None;
        match reply {
            Ok(Reply::Text(text)) => self.say(&text),
            Ok(Reply::Quit) => return Ok(false),
            Err(error) => {
                self.say(&format!("error: {}", error.message));
                error.hint.iter().for_each(|hint| self.say(&format!("  help: {hint}")));
            }
        }
        wrong.map_or(Ok(true), Err)
    }

    /// Appends to the output.
    fn say(&mut self, text: &str) {
        self.output.extend(visible(text).lines().map(str::to_owned));
        let surplus = self.output.len().saturating_sub(MOST_OUTPUT);
        self.output.drain(..surplus);
        self.scrolls[Pane::Output as usize] = 0;
    }

    fn insert(&mut self, c: char) {
        self.line.insert(self.cursor, c);
        self.cursor += 1;
    }

    fn key(&mut self, key: KeyEvent) -> Asks {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_sideways =
            key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Char('d') if control && self.line.is_empty() => return Asks::Leave,
            KeyCode::Char('c') if control => self.set_line(""),
            KeyCode::Char('u') if control => self.set_line(""),
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.line.len(),
            KeyCode::Char(c) if !control => self.insert(c),
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.line.len() => _ = self.line.remove(self.cursor),
            KeyCode::Left if is_sideways => self.shift(false),
            KeyCode::Right if is_sideways => self.shift(true),
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.line.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.line.len(),
            KeyCode::Up => self.recall(-1),
            KeyCode::Down => self.recall(1),
            KeyCode::Tab => self.focus = self.focus.next(),
            KeyCode::PageUp | KeyCode::PageDown => self.scroll(key.code == KeyCode::PageUp),
            KeyCode::Enter => return self.enter(),
            _ => {}
        }
        Asks::Nothing
    }

    /// The typed command; the last one if the line is empty.
    fn enter(&mut self) -> Asks {
        let typed: String = self.line.iter().collect();
        self.set_line("");
        self.shown = None;
        let command = match typed.trim() {
            "" => self.commands.last().cloned().unwrap_or_default(),
            typed => typed.to_owned(),
        };
        if command.is_empty() {
            return Asks::Nothing;
        }
        if self.commands.last() != Some(&command) {
            self.commands.push(command.clone());
            let surplus = self.commands.len().saturating_sub(MOST_COMMANDS);
            self.commands.drain(..surplus);
        }
        Asks::Execute(command)
    }

    /// Shows an earlier or a later command.
    fn recall(&mut self, step: isize) {
        let at = self.shown.unwrap_or(self.commands.len());
        let to = at.saturating_add_signed(step).min(self.commands.len());
        self.shown = (to < self.commands.len()).then_some(to);
        let line = self.commands.get(to).cloned().unwrap_or_default();
        self.set_line(&line);
    }

    fn set_line(&mut self, line: &str) {
        self.line = line.chars().collect();
        self.cursor = self.line.len();
    }

    /// Moves the text of the chosen pane sideways.
    fn shift(&mut self, right: bool) {
        const STEP: usize = 10;
        let shift = &mut self.shifts[self.focus as usize];
        *shift = if right { *shift + STEP } else { shift.saturating_sub(STEP) };
    }

    /// Moves the chosen pane: towards the beginning of its text, or its end. Output shows its end by itself.
    fn scroll(&mut self, up: bool) {
        const STEP: usize = 5;
        let scroll = &mut self.scrolls[self.focus as usize];
        let away = up == (self.focus == Pane::Output);
        *scroll = if away { *scroll + STEP } else { scroll.saturating_sub(STEP) };
    }
}

/// True if the user has asked to stop a command. Other keys that were pressed while it runs are lost.
fn is_stopped() -> bool {
    while event::poll(Duration::ZERO).unwrap_or(false) {
        if let Ok(Event::Key(key)) = event::read()
            && (key.code == KeyCode::Esc
                || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL))
        {
            return true;
        }
    }
    false
}
