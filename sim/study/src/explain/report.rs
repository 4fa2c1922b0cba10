//! Explanations as text, and as the table of docs/explain.md.

use super::{Explanation, Quality, Trial, helps};
use crate::columns::aligned;
use crate::sensitivity::Saving;
use crate::sensitivity::report::millimetres;
use std::fmt::Write;
use wave_machine::config::{Config, wrap};
use wave_observe::figures::of_which_release;
use wave_observe::limits::by_launch::Group;
use wave_observe::limits::listing::Instruction;
use wave_observe::limits::words::{flags, saved};
use wave_observe::limits::{Limiter, Limits};
use wave_observe::numbers::{counted, integer};

/// Width of the text in columns.
const WIDTH: usize = 100;
/// If the trials against a cause saved less than this fraction of its cost, it does not limit the run alone.
const LITTLE: f64 = 0.1;
/// Number of changes described in detail.
const TOLD: usize = 5;
/// A suggestion is among the best if fewer parameters save more.
const BEST: usize = 3;

/// Text of one kernel, in detail.
pub fn text(explanation: &Explanation, config: &Config) -> String {
    let Explanation { name, limits, .. } = explanation;
    let machine = crate::summary::text::machine(config);
    let release = explanation.report.as_ref().map_or_else(String::new, |r| of_which_release(r, integer));
    let mut text = format!("{name} takes {}{release} on {machine}", counted(limits.cycles, "cycle"));
    if let Some(remark) = limits.remark() {
        _ = writeln!(text, "\n{}", wrap(&remark, WIDTH).join("\n"));
    }
    let signs = explanation.signs(config);
    if !signs.is_empty() {
        _ = writeln!(text, "\nWhat stands out:");
    }
    for sign in &signs {
        paragraph(&mut text, &sign.text);
        for (_, words) in &sign.instructions {
            _ = writeln!(text, "   - {}", wrap(words, WIDTH).join("\n     "));
        }
    }
    helpers(&mut text, explanation);
    worth(&mut text, explanation);
    if !limits.limiters.is_empty() {
        _ = writeln!(text, "\nWhere the cycles go:");
    }
    for (n, limiter) in limits.limiters.iter().enumerate() {
        _ = writeln!(text, "\n{}. {}", n + 1, limits.title(limiter, config));
        kernel_side(&mut text, explanation, limiter, config);
        paragraph(&mut text, &machine_side(explanation, limiter));
    }
    if let Some(device) = limits.device_memory(config) {
        _ = writeln!(text, "\n{}", wrap(&device, WIDTH).join("\n"));
    }
    launches(&mut text, explanation, config);
    text
}

/// Lines of a paragraph with a hanging indent.
fn paragraph(text: &mut String, words: &str) {
    for (n, part) in wrap(words, WIDTH).into_iter().enumerate() {
        _ = writeln!(text, "   {}{part}", if n == 0 { "" } else { "  " });
    }
}

/// Trials by saving, and refuted predictions.
fn helpers(text: &mut String, explanation: &Explanation) {
    let Explanation { trials, limits, .. } = explanation;
    if trials.is_empty() {
        return;
    }
    let cycles = limits.cycles;
    let (help, rest): (Vec<&Trial>, Vec<&Trial>) =
        trials.iter().partition(|trial| helps(trial.saved, cycles));
    _ = match trials.len() {
        1 => writeln!(text, "\nWhat helps; one change of the machine was tried, in a run of its own:"),
        n => writeln!(
            text,
            "\nWhat helps, of {n} changes of the machine that were tried, each in a run of its own:"
        ),
    };
    if help.is_empty() {
        paragraph(text, "Nothing of it saved 0.5 % of the run.");
    }
    for (n, trial) in help.iter().take(TOLD).enumerate() {
        let expected = trial
            .candidate
            .predicted
            .map_or(String::new(), |(predicted, formula)| format!(" ({predicted:.0} predicted, {formula})"));
        _ = writeln!(text, "\n{}. {}", n + 1, flags(&trial.candidate.settings));
        let share = limits.percent(trial.saved as f64);
        let (cycles, reason) = (saved(trial.saved), &trial.candidate.reason);
        let area = millimetres(trial.area_mm2);
        let area = if area.is_empty() { area } else { format!(" Area: {area} mm².") };
        paragraph(text, &format!("The change {cycles}, {share:.1} %{expected}: {reason}.{area}"));
    }
    let briefly = |trial: &&Trial| {
        format!("{} {:.1} %", flags(&trial.candidate.settings), limits.percent(trial.saved as f64))
    };
    let mut list = |heading: &str, trials: Vec<String>| {
        if !trials.is_empty() {
            _ = writeln!(text, "\n{heading}");
            trials.iter().for_each(|words| paragraph(text, words));
        }
    };
    list("Less:", help.iter().skip(TOLD).map(briefly).collect());
    let refuted = |trial: &&Trial| {
        let (predicted, formula) = trial.candidate.predicted?;
        let measured = saved(trial.saved);
        trial.refuted(cycles).then(|| {
            format!(
                "{}: {predicted:.0} cycles predicted ({formula}); it {measured}",
                flags(&trial.candidate.settings)
            )
        })
    };
    list(
        "Refuted by its trial, which saved less than half of what was predicted:",
        trials.iter().filter_map(|trial| refuted(&trial)).collect(),
    );
    let quiet = rest.iter().filter(|trial| !trial.refuted(cycles));
    list("No help, less than 0.5 %:", quiet.map(|trial| flags(&trial.candidate.settings)).collect());
}

/// What the parameters save when they are halved and doubled, and where the first suggestion stands among them.
fn worth(text: &mut String, explanation: &Explanation) {
    let Some(sensitivity) = &explanation.sensitivity else { return };
    let savings = sensitivity.savings();
    let all = counted(sensitivity.parameters.len() as u64, "parameter");
    _ = writeln!(text, "\nOf {all}, each halved and doubled, these save most:");
    if savings.is_empty() {
        paragraph(text, "None saves 0.1 % of the run.");
    }
    let row = |saving: &Saving<'_>| {
        let saved = format!("{:.1} %", 100.0 * saving.saved);
        let area = millimetres(saving.area_mm2);
        let area = if area.is_empty() { area } else { format!("{area} mm²") };
        vec![format!("   {}", saving.setting()), saved, area]
    };
    let rows: Vec<Vec<String>> = savings.iter().take(TOLD).map(row).collect();
    aligned(&rows, |column| column > 0).iter().for_each(|line| _ = writeln!(text, "{line}"));
    if let Some(place) = explanation.place() {
        let words = match place - 1 {
            0 => "None of them saves more than the first suggestion above.".to_owned(),
            1 => "One saves more than the first suggestion above.".to_owned(),
            more => format!("{more} save more than the first suggestion above."),
        };
        paragraph(text, &words);
    }
}

/// Meaning of a limiter, where it occurs, and advice for the kernel.
fn kernel_side(text: &mut String, explanation: &Explanation, limiter: &Limiter, config: &Config) {
    paragraph(text, &limiter.meaning());
    let place = |(i, words): (&Instruction, String)| match i.scattered(config) {
        Some(lines) => format!("{words}, {lines}"),
        None => words,
    };
    let places: Vec<String> = limiter.at(&explanation.instructions).map(place).collect();
    if !places.is_empty() {
        paragraph(text, &format!("At {}.", places.join("; ")));
    }
    paragraph(text, &limiter.advice());
}

/// Machine changes against a limiter, with measured savings if tried, else predicted.
fn machine_side(explanation: &Explanation, limiter: &Limiter) -> String {
    let cycles = explanation.limits.cycles;
    let mut tried = explanation.against(limiter).peekable();
    match (tried.peek(), limiter.flags(), limiter.predicted()) {
        (Some(best), ..) if helps(best.saved, cycles) => format!(
            "In the machine: {}; when it was tried, it {}{}.",
            flags(&best.candidate.settings),
            saved(best.saved),
            match (best.saved as f64) < LITTLE * limiter.cycles {
                true => ", little of what is charged here: something else would take these cycles",
                false => "",
            }
        ),
        (Some(_), ..) => format!(
            "In the machine: of {} against it none saved 0.5 % of the run, so something else takes its place.",
            counted(tried.count() as u64, "change")
        ),
        (None, Some(flags), Some(predicted)) => {
            format!("In the machine: {flags} {predicted}; it was not tried.")
        }
        _ => "In the machine: no single parameter is known to help.".to_owned(),
    }
}

/// Limits of each launch, if there are several.
fn launches(text: &mut String, explanation: &Explanation, config: &Config) {
    let Explanation { launches, limits, .. } = explanation;
    if launches.len() < 2 {
        return;
    }
    let groups = explanation.groups();
    _ = writeln!(text, "\nBy launch, of {}:\n", launches.len());
    let title = |limits: &Limits, limiter: Option<&Limiter>| match limiter {
        Some(limiter) => {
            format!("{}, {:.0} %", limiter.cause.name(config), limits.percent(limiter.cycles))
        }
        None => "-".to_owned(),
    };
    let row = |group: &Group| {
        let longest = &launches[group.longest];
        let best = explanation.best_of_launch(group.longest).map_or("-".to_owned(), |trial| {
            let saved = trial.by_launch[group.longest] as f64;
            format!("{}: {:.1} %", flags(&trial.candidate.settings), longest.limits.percent(saved))
        });
        let each = match group.range {
            (least, most) if least == most => most.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        vec![
            group.spans(),
            each,
            format!("{:.1} %", limits.percent(group.cycles as f64)),
            title(&longest.limits, longest.top()),
            best,
        ]
    };
    let heading = ["launch", "cycles each", "of the run", "limited by", "what saved most of it"];
    let heading = heading.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = [heading].into_iter().chain(groups.iter().map(row)).collect();
    for line in aligned(&rows, |column| matches!(column, 1 | 2)) {
        _ = writeln!(text, "   {line}");
    }
    for group in &groups {
        let Some((one, top)) = group.differs(launches, limits) else { continue };
        let which = match group.launches.len() {
            1 => format!("Launch {}", group.spans()),
            _ => format!("Launches {}, of which {} is the longest", group.spans(), group.longest + 1),
        };
        _ = writeln!(text, "\n{which}: {}", one.limits.title(top, config));
        kernel_side(text, explanation, top, config);
    }
}

/// Row of a kernel: most expensive cause, first suggested change with its result, and best change.
const HEADING: [&str; 10] = [
    "kernel",
    "limited by",
    "cost",
    "first by prediction",
    "predicted",
    "saved",
    "rank",
    "first suggestion",
    "saved",
    // Only where that was measured.
    "place",
];
/// Numeric columns.
const NUMBERS: [usize; 6] = [2, 4, 5, 6, 8, 9];

/// The heading and a row for each kernel. The last column is there if places were measured.
fn rows(explanations: &[Explanation], config: &Config, code: &str) -> Vec<Vec<String>> {
    let none = || "-".to_owned();
    let row = |e: &Explanation| {
        let share = |x: f64| format!("{:.1} %", e.limits.percent(x));
        let change = |settings: &[String]| format!("{code}{}{code}", settings.join(" "));
        let top = e.limits.limiters.first();
        let predicted = e.trials.iter().filter_map(|t| Some((t, t.candidate.predicted?.0)));
        let expected = predicted.reduce(|a, b| if b.1 > a.1 { b } else { a });
        let rank = |trial: &Trial| 1 + e.trials.iter().filter(|other| other.saved > trial.saved).count();
        let best = e.trials.first();
        vec![
            e.name.clone(),
            top.map_or_else(none, |limiter| limiter.cause.name(config)),
            top.map_or_else(none, |limiter| share(limiter.cycles)),
            expected.map_or_else(none, |(trial, _)| change(&trial.candidate.settings)),
            expected.map_or_else(none, |(_, predicted)| share(predicted)),
            expected.map_or_else(none, |(trial, _)| share(trial.saved as f64)),
            expected.map_or_else(none, |(trial, _)| format!("{} of {}", rank(trial), e.trials.len())),
            best.map_or_else(none, |trial| change(&trial.candidate.settings)),
            best.map_or_else(none, |trial| share(trial.saved as f64)),
            e.place().map_or_else(none, |place| place.to_string()),
        ]
    };
    let heading = HEADING.map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<String>> = [heading].into_iter().chain(explanations.iter().map(row)).collect();
    if explanations.iter().all(|e| e.sensitivity.is_none()) {
        rows.iter_mut().for_each(|row| row.truncate(HEADING.len() - 1));
    }
    rows
}

/// How good the suggestions are: against their trials, and against all parameters if these were tried.
fn quality(explanations: &[Explanation]) -> String {
    let mut text = Quality::of(explanations).to_string();
    let measured = explanations.iter().filter(|e| e.sensitivity.is_some()).count();
    if measured > 0 {
        let best = explanations.iter().filter_map(Explanation::place).filter(|&place| place <= BEST).count();
        _ = writeln!(
            text,
            "With every parameter halved and doubled, fewer than {BEST} save more than the first suggestion: in {best} of \
             {measured} kernels"
        );
    }
    text
}

/// Table of several kernels, one row each, and the accuracy of the predictions.
pub fn table(explanations: &[Explanation], config: &Config) -> String {
    let mut text = crate::summary::text::machine(config);
    for line in aligned(&rows(explanations, config, ""), |column| NUMBERS.contains(&column)) {
        _ = writeln!(text, "{line}");
    }
    text + "\n" + &quality(explanations)
}

/// The table of docs/explain.md.
pub fn markdown(explanations: &[Explanation], config: &Config) -> String {
    let rows = rows(explanations, config, "`");
    let marks: String =
        (0..rows[0].len()).map(|n| if NUMBERS.contains(&n) { "--:|" } else { "---|" }).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        _ = writeln!(text, "| {} |", row.join(" | "));
        if number == 0 {
            _ = writeln!(text, "|{marks}");
        }
    }
    let quality = quality(explanations);
    let lines = quality.lines().flat_map(|line| wrap(line, 120)).collect::<Vec<_>>();
    format!("{text}\n{}\n", lines.join("\n"))
}
