//! The launches of programs as text.

use super::device::Spent;
use wave_machine::config::Config;
use wave_observe::numbers::{percent, si};
use wave_study::summary::{Run, launches, text, untimed};

/// The launches of the programs of a run, and where their cycles went.
pub(super) fn table(runs: &[(Run, Spent)], config: &Config, functional: bool) -> String {
    let mut shown = String::new();
    for (run, spent) in runs {
        if functional {
            shown += &untimed::report(run, config);
            continue;
        }
        if !run.steps.is_empty() {
            shown += &launches::rows(&run.steps, config);
            shown.push('\n');
        }
        shown += &text::without_launches(run, config);
        shown += &time(*spent);
    }
    if runs.is_empty() {
        shown += "no kernel was launched\n";
    }
    shown
}

/// The simulated time of a process, if the host takes some.
fn time(spent: Spent) -> String {
    if spent.launches + spent.copies == 0.0 {
        return String::new();
    }
    let part = |of: f64| percent(of / spent.all());
    let Spent { kernels, launches, copies } = spent;
    format!(
        "  time         {}: kernels {}, launches {}, copies {}\n",
        si(spent.all() * 1e-9, "s"),
        part(kernels),
        part(launches),
        part(copies)
    )
}
