//! Runs the examples of the pages in docs/ and compares their output with the page.
//!
//! A fenced block marked `text NAME` is a file for the commands after it. A block marked `console` has
//! commands after `$ `, each followed by its output: standard output, then standard error without the line
//! about the host's speed. A line with only `…` stands for any number of lines. The files of sim/kernels/examples are
//! beside them.

use super::golden;
use super::scratch::{Scratch, without_host};

/// Pages with examples, and the smallest number of commands on each.
const PAGES: [(&str, usize); 17] = [
    ("docs/attribution.md", 1),
    ("docs/correlation.md", 5),
    ("docs/command-line.md", 10),
    ("docs/traces.md", 5),
    ("docs/compare.md", 4),
    ("docs/explain.md", 1),
    ("docs/debug.md", 3),
    ("docs/sweep.md", 2),
    ("docs/optimize.md", 1),
    ("docs/study.md", 4),
    ("docs/nanowasm.md", 2),
    ("docs/pica200.md", 3),
    ("docs/rwasm.md", 3),
    ("docs/sampling.md", 1),
    ("docs/silicon.md", 2),
    ("docs/wasm2015.md", 3),
    ("docs/wgsl.md", 5),
];

/// Most lines of output that a page shows. The rest is cut.
const SHOWN: usize = 48;

/// The same for pages whose commands call clang.
const PAGES_WITH_CLANG: [(&str, usize); 2] = [("docs/c.md", 4), ("docs/frontends.md", 5)];

fn output_of(scratch: &Scratch, command: &str) -> String {
    let (command, head) = match command.split_once(" | head -") {
        Some((command, n)) => (command, n.parse().unwrap()),
        None => (command, SHOWN),
    };
    let words = command.strip_prefix("wave-sim").unwrap_or_else(|| panic!("not wave-sim: {command}"));
    let ran = scratch.run(words);
    let all = ran.out + &without_host(&ran.err);
    let mut shown: String = all.lines().take(head).map(|line| format!("{line}\n")).collect();
    if all.lines().count() > SHOWN && head == SHOWN {
        shown.push_str("…\n");
    }
    shown
}

#[test]
fn the_examples_print_what_the_pages_say() {
    for (page, least) in PAGES {
        check(page, least);
    }
}

#[test]
fn the_examples_in_c_print_what_the_page_says() {
    if wave_compile::c::skipped() {
        eprintln!("skipped: {} is set", wave_compile::c::SKIP_VARIABLE);
        return;
    }
    for (page, least) in PAGES_WITH_CLANG {
        check(page, least);
    }
}

/// No other page has examples, because nothing would run them.
#[test]
fn every_page_with_examples_is_run() {
    let mut with = Vec::new();
    for folder in ["", "docs", "rtl-tests", "traces"] {
        for entry in std::fs::read_dir(golden::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "md")
                && std::fs::read_to_string(&path).unwrap().lines().any(|line| line == "```console")
            {
                with.push(path.strip_prefix(golden::root()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    with.sort();
    let mut run: Vec<&str> = PAGES.iter().chain(&PAGES_WITH_CLANG).map(|(page, _)| *page).collect();
    run.sort();
    assert_eq!(with, run);
}

fn check(name: &str, least: usize) {
    let path = golden::root().join(name);
    let page = std::fs::read_to_string(path).unwrap();
    let scratch = Scratch::new();
    for entry in std::fs::read_dir(golden::root().join("sim/kernels/examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            scratch.write(path.file_name().unwrap().to_str().unwrap(), &std::fs::read(&path).unwrap());
        }
    }
    let mut fresh = String::new();
    let mut lines = page.lines().peekable();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        fresh += &format!("{line}\n");
        let Some(fence) = line.strip_prefix("```").filter(|rest| !rest.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(name) = fence.strip_prefix("text ") {
            scratch.write(name, (block.join("\n") + "\n").as_bytes());
        }
        if fence == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                commands += 1;
                fresh += &format!("$ {command}\n{}", output_of(&scratch, command));
            }
        } else {
            block.iter().for_each(|line| fresh += &format!("{line}\n"));
        }
        fresh += "```\n";
    }
    assert!(commands >= least, "{name} has {commands} examples");
    golden::check(name, &fresh);
}
