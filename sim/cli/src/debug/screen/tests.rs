//! The panes, drawn into memory: pictures of the book, small terminals, keys.

use super::draw::draw;
use super::picture::Picture;
use super::{Asks, Desk};
use crate::debug::session::{Reply, Session};
use crate::work::Work;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};
use std::fmt::Write;
use wave_isa::program::{Launch, Program, assemble};
use wave_isa::visible::is_hidden;
use wave_machine::config::Config;
use wave_machine::gpu::RunOptions;
use wave_testing::golden;

/// The first kernel of the chapter, with the flags that it is run with.
fn session() -> Session {
    session_of("smooth.wave", 4)
}

/// A kernel of the chapter, on so many workgroups.
fn session_of(file: &str, workgroups: u32) -> Session {
    let page = std::fs::read_to_string(golden::root().join("docs/debug.md")).expect("the chapter");
    let (_, rest) = page.split_once(&format!("```text {file}\n")).expect("its kernel");
    let (source, _) = rest.split_once("```").expect("the end of the kernel");
    let (program, _) = assemble(source, file).expect("it assembles");
    let mut launch = Launch::of(&program, 0, [workgroups, 1, 1]);
    launch.initial_registers = vec![(0, 0x1000), (1, 0x2000)];
    let mut memory = vec![0; 1 << 20];
    for value in 0..256u32 {
        let at = 0x1000 + 4 * value as usize;
        memory[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    session_with(program, launch, memory)
}

/// One launch of a program.
fn session_with(program: Program, launch: Launch, memory: Vec<u8>) -> Session {
    let name = program.kernels[0].name.clone();
    let work = Work {
        name,
        program,
        memory,
        used: 0,
        filled: Vec::new(),
        bound: Vec::new(),
        steps: vec![launch],
        warnings: Vec::new(),
        expected: None,
        data: None,
        instances: None,
    };
    Session::new(work, None, &Config::example(), &RunOptions::UNBOUNDED, 1 << 30).expect("it can run")
}

/// A desk on which commands were executed.
fn desk(session: &mut Session, commands: &[&str]) -> Desk {
    let mut desk = Desk::default();
    for command in commands {
        desk.say(&format!("(wave) {command}"));
        match session.execute(command, &mut |_| true) {
            Ok(Reply::Text(text)) => desk.say(&text),
            other => panic!("{command}: {other:?}"),
        }
    }
    desk
}

fn drawn(session: &mut Session, desk: &Desk, (width, height): (u16, u16)) -> Buffer {
    let mut picture = Picture::of(session);
    // How many snapshots there are depends on the speed of the host.
    picture.head.truncate(picture.head.find(" · ").unwrap_or(picture.head.len()));
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
    terminal.draw(|frame| draw(frame, &picture, desk)).expect("memory can be drawn on");
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let lines =
        buffer.content.chunks(width).map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    lines.map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The cells as a picture.
fn svg(buffer: &Buffer) -> String {
    const CELL: (usize, usize) = (8, 17);
    let (width, height) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (total_width, total_height) = (width * CELL.0 + 16, height * CELL.1 + 16);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total_width} {total_height}\" \
         width=\"{total_width}\" height=\"{total_height}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#16181d\"/>\n"
    );
    for (row, cells) in buffer.content.chunks(width).enumerate() {
        let mut column = 0;
        while column < width {
            // Cells of one look are one text.
            let look = |cell: &ratatui::buffer::Cell| (cell.fg, cell.bg, cell.modifier);
            let first = look(&cells[column]);
            let length = cells[column..].iter().take_while(|cell| look(cell) == first).count();
            let run: String = cells[column..column + length].iter().map(|cell| cell.symbol()).collect();
            let (mut fg, mut bg) = (colour(first.0, "#d5d9e0"), colour(first.1, ""));
            if first.2.contains(Modifier::REVERSED) {
                (fg, bg) = ("#16181d", "#9fb4d8");
            }
            let (x, y) = (8 + column * CELL.0, 8 + row * CELL.1);
            if !bg.is_empty() {
                let wide = length * CELL.0;
                _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{}\" fill=\"{bg}\"/>",
                    CELL.1
                );
            }
            let bold = if first.2.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
            for (at, part) in parts(&run) {
                let escaped = part.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                _ = writeln!(
                    svg,
                    "<text x=\"{}\" y=\"{}\" fill=\"{fg}\"{bold} textLength=\"{}\">{escaped}</text>",
                    x + at * CELL.0,
                    y + 13,
                    part.chars().count() * CELL.0
                );
            }
            column += length;
        }
    }
    svg + "</svg>\n"
}

/// The parts of a text between two blanks or more, with their places: viewers make one blank of several.
fn parts(text: &str) -> Vec<(usize, String)> {
    let mut parts: Vec<(usize, String)> = Vec::new();
    for (at, c) in text.chars().enumerate().filter(|(_, c)| *c != ' ') {
        match parts.last_mut() {
            Some((start, part)) if *start + part.chars().count() + 1 >= at => {
                if *start + part.chars().count() < at {
                    part.push(' ');
                }
                part.push(c);
            }
            _ => parts.push((at, c.to_string())),
        }
    }
    parts
}

fn colour(colour: Color, plain: &'static str) -> &'static str {
    match colour {
        Color::Reset => plain,
        Color::Black => "#16181d",
        Color::Yellow => "#e2c25f",
        Color::Cyan => "#6fc3d3",
        Color::DarkGray => "#565c68",
        Color::Red => "#ef7a7a",
        other => panic!("{other:?} has no place in the picture"),
    }
}

const SIZE: (u16, u16) = (150, 44);

#[test]
fn the_book_shows_the_write_of_the_wrong_sum() {
    let mut session = session();
    let commands = ["goto end", "x/4u 0x20f0", "watch 0x20fc", "reverse-continue", "info caches 0x20fc"];
    let desk = desk(&mut session, &commands);
    let buffer = drawn(&mut session, &desk, SIZE);
    let text = text(&buffer);
    for part in [
        "is about to write 0x20fc",
        "smooth.wave",
        "lanes and registers",
        "L2 or memory",
        "pipeline of wave 0:1",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    golden::check("docs/debug-write.svg", &svg(&buffer));
}

#[test]
fn the_book_shows_who_holds_a_barrier() {
    let mut session = session_of("share.wave", 1);
    let desk = desk(&mut session, &["break stall 60", "run", "wave 0:1", "why"]);
    let buffer = drawn(&mut session, &desk, SIZE);
    let text = text(&buffer);
    for part in [
        "wave 0 of its workgroup has not reached",
        "barrier",
        "memory",
        "wave 0:0 (workgroup 0,0,0 wave 0) is at",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    golden::check("docs/debug-barrier.svg", &svg(&buffer));
}

/// The layout at usual sizes, and where there is no room for it.
#[test]
fn the_panes_have_their_places_at_usual_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60), (79, 24), (60, 12)] {
        let mut session = session();
        let desk = desk(&mut session, &["break 31", "run", "info caches 0x1000", "why"]);
        let text = text(&drawn(&mut session, &desk, (width, height)));
        golden::check(&format!("sim/cli/tests/golden/screen/{width}x{height}.txt"), &text);
    }
}

/// Every size is drawn, down to a single character, and says what is amiss where it can.
#[test]
fn terminals_of_any_size_are_drawn() {
    let mut session = session();
    let desk = desk(&mut session, &["step 100"]);
    for width in [1, 2, 10, 40, 79, 80, 81, 200] {
        for height in [1, 2, 3, 5, 23, 24, 25, 80] {
            let text = text(&drawn(&mut session, &desk, (width, height)));
            let is_small = width < 80 || height < 24;
            assert!(is_small || text.contains("waves"), "{text}");
            if is_small && width >= 40 && height >= 3 {
                assert!(text.contains(&format!("The terminal has {width} × {height} characters.")), "{text}");
            }
        }
    }
}

/// What `why` says is read to its end on the smallest screen.
#[test]
fn long_lines_of_output_are_continued() {
    let mut session = session();
    let desk = desk(&mut session, &["break 31", "run", "step 2", "why"]);
    let text = text(&drawn(&mut session, &desk, (80, 24)));
    let output = &text[text.find("output").expect("the pane")..];
    assert!(output.contains("in cycle"), "{text}");
    let said = desk.output.iter().next_back().expect("an answer");
    let last = said.split_whitespace().next_back().expect("a word");
    assert!(output.contains(last), "no {last:?} in:\n{text}");
}

#[test]
fn panes_move_sideways() {
    let mut session = session();
    let mut desk = desk(&mut session, &["step 100"]);
    desk.focus = super::picture::Pane::Waves;
    let key = |code| KeyEvent::new(code, KeyModifiers::CONTROL);
    let before = text(&drawn(&mut session, &desk, (80, 24)));
    (0..3).for_each(|_| _ = desk.key(key(KeyCode::Right)));
    let after = text(&drawn(&mut session, &desk, (80, 24)));
    assert!(after != before, "{after}");
    (0..9).for_each(|_| _ = desk.key(key(KeyCode::Left)));
    assert_eq!(text(&drawn(&mut session, &desk, (80, 24))), before);
}

#[test]
fn keys_edit_the_line_and_bring_commands_back() {
    let mut desk = Desk::default();
    let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
    let typed = |desk: &mut Desk, text: &str| text.chars().for_each(|c| _ = desk.key(key(KeyCode::Char(c))));
    typed(&mut desk, "stp");
    desk.key(key(KeyCode::Left));
    typed(&mut desk, "e");
    desk.key(key(KeyCode::Backspace));
    typed(&mut desk, "e");
    assert_eq!(desk.key(key(KeyCode::Enter)), Asks::Execute("step".to_owned()));
    assert_eq!(desk.key(key(KeyCode::Enter)), Asks::Execute("step".to_owned()));
    typed(&mut desk, "why");
    assert_eq!(desk.key(key(KeyCode::Enter)), Asks::Execute("why".to_owned()));
    (0..5).for_each(|_| _ = desk.key(key(KeyCode::Up)));
    desk.key(key(KeyCode::Down));
    assert_eq!(desk.line.iter().collect::<String>(), "why");
    assert_eq!(desk.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Asks::Nothing);
    assert_eq!(desk.key(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL)), Asks::Leave);
}

/// What a file holds cannot move the cursor or clear the screen.
#[test]
fn what_a_terminal_obeys_is_shown_as_escapes() {
    let source = ".kernel k\n.workgroup_size 8, 1, 1\n    nop ; \u{1b}[2J\u{9b}31m\u{202e}\n    halt\n.end\n";
    let (program, _) = assemble(source, "\u{1b}]0;title\u{7}.wave").expect("it assembles");
    let launch = Launch::of(&program, 0, [1, 1, 1]);
    let mut session = session_with(program, launch, vec![0; 1 << 16]);
    let desk = desk(&mut session, &["list"]);
    let picture = Picture::of(&mut session);
    let panes = picture.panes.iter().flat_map(|pane| pane.lines.iter().chain([&pane.title]));
    let all: Vec<&String> = panes.chain([&picture.head]).chain(&desk.output).collect();
    assert!(all.iter().all(|text| !text.contains(is_hidden)), "{all:?}");
    for shown in ["\\u001b[2J\\u009b31m\\u202e", "\\u001b]0;title\\u0007.wave"] {
        assert!(all.iter().any(|text| text.contains(shown)), "{shown}: {all:?}");
    }
}
