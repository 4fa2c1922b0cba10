//! The launches of programs as text.

use wave_machine::config::Config;
use wave_study::summary::{Run, launches, text, untimed};

/// What the programs of a run have launched, and where their cycles went.
pub(super) fn table(runs: &[Run], config: &Config, functional: bool) -> String {
    let mut shown = String::new();
    for run in runs {
        if functional {
            shown += &untimed::report(run, config);
            continue;
        }
        if !run.steps.is_empty() {
            shown += &launches::rows(&run.steps, config);
            shown.push('\n');
        }
        shown += &text::without_launches(run, config);
    }
    if runs.is_empty() {
        shown += "no kernel was launched\n";
    }
    shown
}
