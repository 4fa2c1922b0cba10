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
        pane(frame, place, &picture.panes[name as usize], desk.scrolls[name as usize], desk.focus == name);
    }
    output(frame, said, desk, true);
    command_line(frame, command, desk);
}

fn frame_of(title: &str, is_focus: bool) -> Block<'_> {
    let style = if is_focus { Style::new().fg(Color::Cyan) } else { Style::new().fg(Color::DarkGray) };
    let title = Span::styled(format!(" {title} "), Style::new().add_modifier(Modifier::BOLD));
    Block::bordered().border_style(style).title(title)
}

fn pane(frame: &mut Frame<'_>, area: Rect, text: &Text, scroll: usize, is_focus: bool) {
    let block = frame_of(&text.title, is_focus);
    let inside = block.inner(area);
    let height = usize::from(inside.height);
    let most = text.lines.len().saturating_sub(height);
    // The line that stands out is in the middle.
    let first = text.here.map_or(0, |here| here.saturating_sub(height / 2));
    let first = (first + scroll).min(most);
    let line = |(index, line): (usize, &String)| {
        let line = Line::from(line.clone());
        if text.here == Some(index) {
            line.style(Style::new().fg(Color::Black).bg(Color::Yellow))
        } else {
            line
        }
    };
    let shown: Vec<Line<'_>> = text.lines.iter().enumerate().skip(first).take(height).map(line).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// The end of what commands have said, or what lies so many lines before it.
fn output(frame: &mut Frame<'_>, area: Rect, desk: &Desk, is_framed: bool) {
    let block = if is_framed { frame_of("output", desk.focus == Pane::Output) } else { Block::new() };
    let height = usize::from(block.inner(area).height);
    let most = desk.output.len().saturating_sub(height);
    let first = most.saturating_sub(desk.scrolls[Pane::Output as usize]);
    let shown = desk.output.iter().skip(first).take(height);
    let line = |line: &String| {
        let style = if line.starts_with(PROMPT) {
            Style::new().add_modifier(Modifier::BOLD)
        } else if line.starts_with("error:") {
            Style::new().fg(Color::Red)
        } else {
            Style::new()
        };
        Line::styled(line.clone(), style)
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
