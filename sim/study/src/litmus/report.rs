//! Reports of litmus tests, as text, Markdown and JSON.

use super::campaign::{Campaign, TestReport, VariantReport};
use serde::Serialize;
use std::fmt::Write;
use wave_machine::config::config_hash;
use wave_observe::numbers::{counted, integer};

/// Version of the JSON document. It is raised when a key is removed or changes its meaning, not when one is
/// added.
pub(crate) const SCHEMA: u32 = 1;

/// `allowed` or `forbidden`.
fn label(allowed: bool) -> &'static str {
    if allowed { "allowed" } else { "forbidden" }
}

/// Every variant of a test with its outcomes: test, variant, outcome, count, label.
pub fn details(report: &TestReport) -> String {
    let mut text = format!("{}: {}\n", report.test.name, report.test.about);
    let names = report.variants.iter().map(|v| v.variant.to_string().len());
    let width = names.max().unwrap_or(0);
    for variant in &report.variants {
        for (outcome, count) in &variant.seen {
            let allowed = variant.allowed.contains(outcome);
            let weak = if report.test.is_weak(outcome) { " (weak)" } else { "" };
            // Writing to a string cannot fail.
            _ = writeln!(
                text,
                "  {:<width$}  {}  {count} × {}{weak}",
                variant.variant.to_string(),
                report.test.outcome_text(outcome),
                label(allowed),
            );
        }
    }
    text + &left_out(report)
}

fn left_out(report: &TestReport) -> String {
    match report.left_out {
        0 => String::new(),
        n => format!("  {} left out: the machine has no room for them\n", counted(n as u64, "variant")),
    }
}

/// The heading of the table of [`row`]s.
pub fn heading() -> String {
    row_of(["test", "variants", "runs", "allowed", "seen in", "times", "forbidden"])
}

/// A test in one line: the number of variants that allow its weak outcome, the number of those in which it
/// was seen, how often, and how often a forbidden outcome was seen.
pub fn row(report: &TestReport) -> String {
    let variants = &report.variants;
    let allowing = || variants.iter().filter(|v| v.allows_weak(&report.test));
    let weak: Vec<u64> = allowing().map(|v| v.weak_count(&report.test)).filter(|&count| count > 0).collect();
    row_of([
        &report.test.name,
        &variants.len().to_string(),
        &runs(variants).to_string(),
        &allowing().count().to_string(),
        &weak.len().to_string(),
        &weak.iter().sum::<u64>().to_string(),
        &variants.iter().flat_map(VariantReport::forbidden).map(|(_, count)| count).sum::<u64>().to_string(),
    ])
}

fn row_of(cells: [&str; 7]) -> String {
    let [name, variants, runs, allowed, seen, times, forbidden] = cells;
    format!("{name:<16} {variants:>8} {runs:>8} {allowed:>8} {seen:>8} {times:>8} {forbidden:>10}\n")
}

fn runs(variants: &[VariantReport]) -> u64 {
    variants.iter().flat_map(|v| &v.seen).map(|(_, count)| count).sum()
}

/// Complaints about a test's outcomes: a sentence for each forbidden outcome, and for each that should have
/// been seen.
pub fn complaints(report: &TestReport) -> Vec<String> {
    let test = &report.test;
    let forbidden = report.broken().flat_map(|v| {
        v.forbidden().map(|(outcome, count)| {
            let (name, variant, outcome) = (&test.name, &v.variant, test.outcome_text(outcome));
            format!(
                "`{name}`, {variant}: the forbidden outcome {outcome} was seen {}",
                counted(*count, "time")
            )
        })
    });
    let unseen = report.unseen().into_iter().map(|words| {
        format!("`{}`, {words}: the weak outcome is allowed and has to be seen, and was not", test.name)
    });
    forbidden.chain(unseen).collect()
}

/// The end of the tests in one line: whether the machine with this name keeps the memory model, and what was seen.
pub fn verdict(machine: &str, reports: &[TestReport]) -> String {
    let variants = || reports.iter().flat_map(|report| report.variants.iter().map(move |v| (report, v)));
    let sum = |count: &dyn Fn(&TestReport, &VariantReport) -> u64| -> u64 {
        variants().map(|(report, variant)| count(report, variant)).sum()
    };
    let forbidden = sum(&|_, variant| variant.forbidden().map(|(_, count)| count).sum());
    let weak = sum(&|report, variant| match variant.allows_weak(&report.test) {
        true => variant.weak_count(&report.test),
        false => 0,
    });
    let unseen: usize = reports.iter().map(|report| report.unseen().len()).sum();
    let found = match (forbidden, unseen) {
        (0, 0) => format!("{machine} keeps the memory model"),
        (0, _) => format!(
            "{machine} keeps the memory model, but misses {} that the tests expect",
            counted(unseen as u64, "weak outcome")
        ),
        _ => {
            let broken = reports.iter().filter(|report| report.broken().next().is_some());
            let names: Vec<&str> = broken.map(|report| report.test.name.as_str()).collect();
            format!("{machine} breaks the memory model in {}", names.join(", "))
        }
    };
    format!(
        "{found}: {} of {}, {} with a weak outcome that is allowed, {} with an outcome that is not\n",
        counted(sum(&|_, variant| variant.seen.iter().map(|(_, count)| count).sum()), "run"),
        counted(variants().count() as u64, "variant"),
        integer(weak),
        integer(forbidden),
    )
}

/// Columns of the book's table: fences and their scope.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("no fences", &["unfenced"]),
    ("workgroup", &["fenced", "workgroup"]),
    ("device", &["fenced", "device"]),
    ("system", &["fenced", "system"]),
];

/// The tests as a table for the book. For each named placement and both kinds of flags: whether the weak
/// outcome is allowed, how often it was seen, and in how many runs.
pub fn markdown(reports: &[TestReport]) -> String {
    let mut text = String::from("| test | weak outcome | threads | flags |");
    COLUMNS.iter().for_each(|(name, _)| text += &format!(" {name} |"));
    text += "\n|---|---|---|---|";
    text += &"---|".repeat(COLUMNS.len());
    text.push('\n');
    for report in reports {
        for placement in ["one_wave", "one_workgroup", "one_core", "apart"] {
            for access in ["plain", "atomic"] {
                let cells: Vec<String> = COLUMNS
                    .iter()
                    .map(|(_, words)| cell(report, &[&[placement, access], *words].concat()))
                    .collect();
                if cells.iter().all(String::is_empty) {
                    continue;
                }
                let weak: Vec<String> = report
                    .test
                    .weak
                    .iter()
                    .map(|&(observable, value)| {
                        format!("{}={value}", report.test.observable_name(observable))
                    })
                    .collect();
                let name = &report.test.name;
                text += &format!(
                    "| {name} | `{}` | {placement} | {access} | {} |\n",
                    weak.join(" "),
                    cells.join(" | ")
                );
            }
        }
    }
    text
}

/// The label and counts of the variants with all these words. Without fences, all scopes together.
fn cell(report: &TestReport, words: &[&str]) -> String {
    let fitting: Vec<_> =
        report.variants.iter().filter(|v| words.iter().all(|word| v.variant.has(word))).collect();
    if fitting.is_empty() {
        return String::new();
    }
    let allowing = fitting.iter().filter(|v| v.allows_weak(&report.test)).count();
    let label = match allowing {
        0 => "forbidden",
        n if n == fitting.len() => "allowed",
        _ => "by scope",
    };
    let seen: u64 = fitting.iter().map(|v| v.weak_count(&report.test)).sum();
    let runs: u64 = fitting.iter().flat_map(|v| &v.seen).map(|(_, count)| count).sum();
    format!("{label}, {seen}/{runs}")
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    wave_sim: &'static str,
    config: &'a str,
    config_hash: String,
    config_set: &'a [String],
    runs: u32,
    seed: u64,
    tests: Vec<TestJson<'a>>,
}

#[derive(Serialize)]
struct TestJson<'a> {
    name: &'a str,
    about: &'a str,
    complaints: Vec<String>,
    variants_left_out: usize,
    observables: Vec<String>,
    variants: Vec<VariantJson<'a>>,
}

#[derive(Serialize)]
struct VariantJson<'a> {
    placement: &'a str,
    fences: &'static str,
    flags: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    allows_weak: bool,
    outcomes: Vec<OutcomeJson<'a>>,
}

#[derive(Serialize)]
struct OutcomeJson<'a> {
    values: &'a [u32],
    count: u64,
    label: &'static str,
    weak: bool,
}

/// The JSON document of several tests, with a newline at the end. docs/litmus.md describes it.
pub fn json(campaign: &Campaign<'_>, reports: &[TestReport]) -> String {
    let tests = reports.iter().map(|report| {
        let test = &report.test;
        TestJson {
            name: &test.name,
            about: &test.about,
            complaints: complaints(report),
            variants_left_out: report.left_out,
            observables: test.observables().into_iter().map(|o| test.observable_name(o)).collect(),
            variants: report.variants.iter().map(|v| variant_json(report, v)).collect(),
        }
    });
    let document = Document {
        schema: SCHEMA,
        wave_sim: env!("CARGO_PKG_VERSION"),
        config: &campaign.config.name,
        config_hash: config_hash(campaign.config),
        config_set: &campaign.config.set,
        runs: campaign.runs,
        seed: campaign.seed,
        tests: tests.collect(),
    };
    // Numbers, strings and structs always serialise.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn variant_json<'a>(report: &'a TestReport, v: &'a VariantReport) -> VariantJson<'a> {
    let outcomes = v.seen.iter().map(|(outcome, count)| OutcomeJson {
        values: outcome,
        count: *count,
        label: label(v.allowed.contains(outcome)),
        weak: report.test.is_weak(outcome),
    });
    VariantJson {
        placement: &v.variant.placement.name,
        fences: v.variant.fences.name(),
        flags: if v.variant.atomic { "atomic" } else { "plain" },
        scope: v.variant.scope.map(wave_isa::special::Scope::name),
        allows_weak: v.allows_weak(&report.test),
        outcomes: outcomes.collect(),
    }
}
