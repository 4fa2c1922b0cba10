//! The launches of programs as text.

use super::device::{Done, Seconds};
use super::timeline::Spent;
use wave_machine::config::Config;
use wave_observe::numbers::{counted, percent, si};
use wave_study::summary::{launches, text, untimed};

/// The launches of the programs of a run, and where their cycles went.
pub(super) fn table(processes: &[Done], config: &Config, functional: bool) -> String {
    let mut shown = String::new();
    for Done { run, timeline, .. } in processes {
        if functional {
            shown += &untimed::report(run, config);
            continue;
        }
        if !run.steps.is_empty() {
            shown += &launches::rows(&run.steps, config);
            shown.push('\n');
        }
        shown += &text::without_launches(run, config);
        shown += &time(timeline.spent());
    }
    if processes.is_empty() {
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

/// Where the time of this host went, which differs from run to run.
pub(super) fn host(processes: &[Done], seconds: f64) -> String {
    let sum = |part: fn(&Seconds) -> f64| processes.iter().map(|done| part(&done.seconds)).sum::<f64>();
    let requests: u64 = processes.iter().map(|done| done.seconds.requests).sum();
    format!(
        "host: {}; seconds={seconds:.3} simulated={:.3} code={:.3} others={:.3}\n",
        counted(requests, "request"),
        sum(|of| of.simulated),
        sum(|of| of.code),
        sum(|of| of.others)
    )
}
