//! Draws a picture and the desk on a terminal.

use super::Desk;
use super::picture::{Pane, Picture, Text};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

/// The smallest terminal on which panes are drawn.
const LEAST: (u16, u16) = (80, 24);
const PROMPT: &str = "(wave) ";

/// Draws all of it; on a terminal that is too small only what it needs.
pub(super) fn draw(frame: &mut Frame<'_>, picture: &Picture, desk: &Desk) {
    let area = frame.area();
    let (width, height) = (area.width, area.height);
    if width < LEAST.0 || height < LEAST.1 {
        let (least_width, least_height) = LEAST;
        let text = [
            format!("The terminal has {width} × {height} characters."),
            format!("The panes need {least_width} × {least_height}: make it larger."),
            "Commands work all the same.".to_owned(),
        ];
        let lines: Vec<Line<'_>> = text.into_iter().map(Line::from).collect();
        frame.render_widget(Paragraph::new(lines), area);
        if height > 4 {
            let rest = Rect { y: area.y + 3, height: height - 4, ..area };
            output(frame, rest, desk, false);
        }
        return command_line(
            frame,
            Rect { y: area.bottom().saturating_sub(1), height: height.min(1), ..area },
            desk,
        );
    }
    let rows = [
        Constraint::Length(1),
        Constraint::Fill(5),
        Constraint::Fill(4),
        Constraint::Fill(3),
        Constraint::Length(1),
    ];
    let [head, upper, lower, bottom, command] = Layout::vertical(rows).areas(area);
    let halves = [Constraint::Percentage(45), Constraint::Percentage(55)];
    let [source, waves] = Layout::horizontal(halves).areas(upper);
    let [left, registers] = Layout::horizontal(halves).areas(lower);
    let [said, caches] =
        Layout::horizontal([Constraint::Percentage(60), Constraint::Percentage(40)]).areas(bottom);
    let bar = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(format!(" {}", picture.head)).style(bar), head);
    let places = [
        (Pane::Source, source),
        (Pane::Pipeline, left),
        (Pane::Waves, waves),
        (Pane::Registers, registers),
        (Pane::Caches, caches),
    ];
    for (name, place) in places {
        let at = (desk.scrolls[name as usize], desk.shifts[name as usize]);
        pane(frame, place, &picture.panes[name as usize], at, desk.focus == name);
    }
    output(frame, said, desk, true);
    command_line(frame, command, desk);
}

fn frame_of(title: &str, is_focus: bool) -> Block<'_> {
    let style = if is_focus { Style::new().fg(Color::Cyan) } else { Style::new().fg(Color::DarkGray) };
    let title = Span::styled(format!(" {title} "), Style::new().add_modifier(Modifier::BOLD));
    Block::bordered().border_style(style).title(title)
}

/// A line in parts of at most so many characters, cut at blanks where there are some. Those behind the first are indented.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut rest: Vec<char> = line.chars().collect();
    let blanks = rest.iter().take_while(|c| **c == ' ').count() + 2;
    let indent = if blanks + 8 > width { 0 } else { blanks };
    let mut parts = Vec::new();
    while rest.len() > width.max(1) {
        let blank = rest[..=width.max(1)].iter().rposition(|c| *c == ' ');
        let cut = blank.filter(|&at| at > indent).unwrap_or(width.max(1));
        let behind = rest.split_off(cut);
        parts.push(rest.into_iter().collect());
        let behind = behind.into_iter().skip_while(|c| *c == ' ');
        rest = std::iter::repeat_n(' ', indent).chain(behind).collect();
    }
    parts.push(rest.into_iter().collect());
    parts
}

/// A pane with its text, moved down by so many lines and left by so many characters.
fn pane(frame: &mut Frame<'_>, area: Rect, text: &Text, (scroll, shift): (usize, usize), is_focus: bool) {
    let block = frame_of(&text.title, is_focus);
    let inside = block.inner(area);
    let height = usize::from(inside.height);
    let folded;
    let all: &[String] = if text.is_wrapped {
        folded =
            text.lines.iter().flat_map(|line| wrapped(line, inside.width.into())).collect::<Vec<String>>();
        &folded
    } else {
        &text.lines
    };
    let most = all.len().saturating_sub(height);
    // The line that stands out is in the middle.
    let first = text.here.map_or(0, |here| here.saturating_sub(height / 2));
    let first = (first + scroll).min(most);
    let line = |(index, line): (usize, &String)| {
        let line = Line::from(line.chars().skip(shift).collect::<String>());
        if text.here == Some(index) {
            line.style(Style::new().fg(Color::Black).bg(Color::Yellow))
        } else {
            line
        }
    };
    let shown: Vec<Line<'_>> = all.iter().enumerate().skip(first).take(height).map(line).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// The end of what commands have said, or what lies so many lines before it.
fn output(frame: &mut Frame<'_>, area: Rect, desk: &Desk, is_framed: bool) {
    let block = if is_framed { frame_of("output", desk.focus == Pane::Output) } else { Block::new() };
    let (height, width) = (usize::from(block.inner(area).height), usize::from(block.inner(area).width));
    // From the end on, as many lines as can be seen.
    let scroll = desk.scrolls[Pane::Output as usize];
    let mut shown: Vec<(String, &String)> = Vec::new();
    for said in desk.output.iter().rev() {
        shown.extend(wrapped(said, width).into_iter().rev().map(|part| (part, said)));
        if shown.len() >= height + scroll {
            break;
        }
    }
    let first = shown.len().saturating_sub(height).min(scroll);
    let shown = shown.into_iter().skip(first).take(height).rev();
    let line = |(part, line): (String, &String)| {
        let style = if line.starts_with(PROMPT) {
            Style::new().add_modifier(Modifier::BOLD)
        } else if line.starts_with("error:") {
            Style::new().fg(Color::Red)
        } else {
            Style::new()
        };
        Line::styled(part, style)
    };
    let lines: Vec<Line<'_>> = shown.map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn command_line(frame: &mut Frame<'_>, area: Rect, desk: &Desk) {
    if area.height == 0 {
        return;
    }
    if let Some(runs) = &desk.runs {
        return frame.render_widget(Paragraph::new(runs.as_str()), area);
    }
    // The end of a line that is too long stays in sight.
    let room = usize::from(area.width).saturating_sub(PROMPT.len() + 1);
    let first = desk.cursor.saturating_sub(room);
    let shown: String = desk.line.iter().skip(first).take(room).collect();
    frame.render_widget(Paragraph::new(format!("{PROMPT}{shown}")), area);
    let x = area.x + (PROMPT.len() + desk.cursor - first).min(usize::from(area.width) - 1) as u16;
    frame.set_cursor_position(Position::new(x, area.y));
}
