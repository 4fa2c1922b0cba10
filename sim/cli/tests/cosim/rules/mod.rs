//! A program for each numbered rule of docs/pipeline.md, run on the RTL and the simulator. Each program must
//! exercise its rule: it must differ if a parameter of the rule is changed in the simulator alone, or if a
//! bug is planted in the RTL.

mod execute;
mod front;
mod issue;
mod memory;

use crate::bench::{Case, executable, root};
use crate::directed::kernel;
use wave_isa::ExecClass;
use wave_machine::config::{ClassTiming, Config, Unit};
use wave_testing::golden;
use wave_verify::rtl::{Disagreement, Mode, Variant};

/// A parameter changed on one side: its name, the change, and the first stage that must differ.
type Change = (&'static str, fn(&mut Config), &'static str);

/// A rule, the program that exercises it, and the evidence.
struct Rule {
    name: &'static str,
    /// Description of the program.
    what: &'static str,
    lines: fn() -> String,
    threads: u32,
    grid: [u32; 3],
    change: Option<Change>,
    bugs: &'static [u32],
}

/// Rules that do not apply to the machine of `rtl.ron`, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("P2", "the RTL has one scheduler"),
    ("I7", "an account of the simulator; the RTL counts nothing"),
    ("F4a", "the RTL has no prefetch"),
    ("L9", "the L1 of the RTL has no banks"),
];

/// A line, repeated `n` times.
fn times(n: usize, line: &str) -> String {
    vec![line; n].join("\n")
}

const fn rule(
    name: &'static str,
    what: &'static str,
    lines: fn() -> String,
    change: Option<Change>,
    bugs: &'static [u32],
) -> Rule {
    Rule { name, what, lines, threads: 8, grid: [1, 1, 1], change, bugs }
}

impl Rule {
    const fn threads(self, threads: u32) -> Rule {
        Rule { threads, ..self }
    }

    const fn grid(self, x: u32) -> Rule {
        Rule { grid: [x, 1, 1], ..self }
    }

    fn case(&self) -> Case {
        Case::of(&kernel(&(self.lines)()), self.threads).grid(self.grid)
    }
}

fn unit(config: &mut Config, class: ExecClass) -> &mut Unit {
    let units = &mut config.core.units;
    units.iter_mut().find(|u| u.classes.iter().any(|c| c.class == class)).expect("a unit of the class")
}

fn class(config: &mut Config, class: ExecClass) -> &mut ClassTiming {
    let unit = unit(config, class);
    unit.classes.iter_mut().find(|c| c.class == class).expect("the class")
}

/// All rules, in the order of docs/pipeline.md.
fn rules() -> impl Iterator<Item = &'static Rule> {
    [front::RULES, issue::RULES, execute::RULES, memory::RULES].into_iter().flatten()
}

/// The programs whose workgroups have at most `threads` threads.
pub(crate) fn cases(threads: u32) -> impl Iterator<Item = (String, Case)> {
    let fit = rules().filter(move |rule| rule.threads <= threads);
    fit.map(|rule| (format!("rule {}", rule.name), rule.case()))
}

/// True if the program of a rule finds this planted bug on the full core.
pub(crate) fn finds(bug: u32) -> bool {
    rules().any(|rule| rule.bugs.contains(&bug))
}

/// Names of the rules in docs/pipeline.md.
fn numbered() -> Vec<String> {
    let book = std::fs::read_to_string(root().join("docs/pipeline.md")).expect("the book");
    let names =
        book.lines().filter_map(|line| line.strip_prefix("**")?.split_once(". ").map(|(name, _)| name));
    names.map(str::to_owned).collect()
}

#[test]
fn every_rule_of_the_book_has_a_program() {
    let book = numbered();
    assert!(book.len() > 35, "{book:?}");
    let known: Vec<&str> = rules().map(|r| r.name).chain(ELSEWHERE.iter().map(|r| r.0)).collect();
    for rule in &book {
        assert!(known.contains(&rule.as_str()), "{rule} has no program");
    }
    for name in known {
        assert!(book.iter().any(|rule| rule == name), "{name} is no rule");
    }
    for rule in rules() {
        assert!(
            rule.change.is_some() || !rule.bugs.is_empty(),
            "nothing shows that {} is exercised",
            rule.name
        );
    }
}

#[test]
fn the_program_of_each_rule_agrees() {
    for rule in rules() {
        println!("{}", rule.name);
        rule.case().agrees();
    }
}

#[test]
fn a_rule_with_another_parameter_on_one_side_differs_at_its_stage() {
    let Some(core) = crate::bench::core() else { return };
    let mut wrong = String::new();
    for rule in rules() {
        let Some((parameter, change, stage)) = rule.change else { continue };
        let mut case = rule.case();
        change(&mut case.config);
        match case.run_on(core, Mode::Cycle) {
            Err(Disagreement::Differs { stage: moved, .. }) if moved == stage => {}
            other => wrong += &format!("{}, {parameter}: {stage} expected, and not {other:?}\n", rule.name),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn the_program_of_each_rule_finds_its_bugs() {
    let variant = Variant { bugs: true, ..Variant::default() };
    let Some(core) = executable(&variant) else { return };
    let mut survivors = Vec::new();
    for rule in rules() {
        let mut case = rule.case();
        let agreement = case.run_on(&core, Mode::Cycle).unwrap_or_else(|why| panic!("{}: {why}", rule.name));
        case.max_cycles = 2 * agreement.cycles as u32 + 20_000;
        for bug in rule.bugs {
            if case.run_with(&core, Mode::Cycle, &[&format!("+bug={bug}")]).is_ok() {
                survivors.push((rule.name, bug));
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:?}");
}

/// The table of docs/cosim.md.
fn table() -> String {
    let mut text = "| rule | program | what shows that it exercises the rule |\n|---|---|---|\n".to_owned();
    for rule in rules() {
        let change = rule.change.map(|(name, _, stage)| format!("`{name}` on one side: {stage}"));
        let bugs = rule.bugs.iter().map(|bug| format!("planted bug {bug}"));
        let shows: Vec<String> = change.into_iter().chain(bugs).collect();
        text += &format!("| {} | {} | {} |\n", rule.name, rule.what, shows.join("; "));
    }
    for (name, why) in ELSEWHERE {
        text += &format!("| {name} | none: {why} | |\n");
    }
    text
}

#[test]
fn the_table_of_the_book_is_current() {
    golden::check_part("docs/cosim.md", "the rules", &table());
}
