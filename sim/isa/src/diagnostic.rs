//! Located messages about what a user wrote: assembly, configurations, launch files, kernels.

use crate::visible::visible;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;

/// Characters of a line of a message that are shown.
const LONGEST_LINE: usize = 500;
/// Characters of a line of a file that are marked.
const MOST_MARKED: u32 = 100;

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A remark; the input is accepted.
    Warning,
    /// The input is rejected.
    Error,
}

/// A place in a text file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    /// Path as the user gave it.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
    /// Number of marked characters, at least 1.
    pub length: u32,
    /// Text of the line.
    pub text: String,
}

impl Place {
    /// The place of `length` characters at byte `offset` of `text`.
    pub fn at_offset(file: &str, text: &str, offset: usize, length: usize) -> Place {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
        let line = text[..offset].matches('\n').count() as u32 + 1;
        let line_text = text[start..].lines().next().unwrap_or("").trim_end_matches('\r');
        Place {
            file: file.to_owned(),
            line,
            column: text[start..offset].chars().count() as u32 + 1,
            length: length.max(1) as u32,
            text: line_text.to_owned(),
        }
    }
}

/// A message with an optional place and hint.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// Its place.
    pub place: Option<Place>,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), place: None, hint: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }

    /// Adds a place.
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = Some(place);
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// Renders the message for people: several lines, without a newline at the end. Of what it quotes, no character
    /// reaches a terminal that the terminal would obey; with `color`, the escape sequences are those of the colours.
    pub fn render(&self, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let message = elided(&self.message);
        let title = level.primary_title(message.as_str());
        let mut group = match &self.place {
            None => Group::with_title(title),
            Some(place) => {
                // What is marked is shown whole, however long it is.
                let length = place.length.min(MOST_MARKED);
                let start = shown_of_column(&place.text, place.column);
                let end = shown_of_column(&place.text, place.column + length).max(start + 1);
                // A blank at the end gives a mark past the end of the line a character.
                let text = format!("{} ", visible(&place.text));
                let end = end.min(text.len());
                title.element(
                    Snippet::source(text)
                        .path(visible(&place.file).into_owned())
                        .line_start(place.line as usize)
                        .annotation(AnnotationKind::Primary.span(start.min(end)..end)),
                )
            }
        };
        let hint = self.hint.as_deref().map(elided);
        if let Some(hint) = &hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let rendered = renderer.render(&[group]);
        rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

/// A visible message whose lines have at most [`LONGEST_LINE`] characters: of longer ones, which quote what a user
/// wrote, the beginning and the end.
fn elided(message: &str) -> String {
    let line = |line: &str| match line.chars().count() {
        length if length > LONGEST_LINE => {
            let chars = || line.chars();
            let (head, tail) = (LONGEST_LINE / 2, LONGEST_LINE / 4);
            let head: String = chars().take(head).collect();
            let tail: String = chars().skip(length - tail).collect();
            format!("{head} … {tail}")
        }
        _ => line.to_owned(),
    };
    visible(message).split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The byte of the visible text at which the character of this column begins.
fn shown_of_column(text: &str, column: u32) -> usize {
    let skip = column.saturating_sub(1) as usize;
    let byte = text.char_indices().nth(skip).map_or(text.len(), |(byte, _)| byte);
    visible(&text[..byte]).len()
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}
