//! Progress bars, only on a terminal and only for runs that take some time.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use wave_isa::visible::visible;
use wave_machine::{functional, gpu};

/// Nothing is drawn before this time.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar that counts `what`, drawn only on a terminal and only after a while.
pub(crate) fn counting(what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
    let template = format!("{{elapsed_precise}}  {{pos}} of {{len}} {what}  {{wide_bar}}  {{msg}}");
    bar.with_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A bar that counts `what` up to `all` and says how much time is left; only on a terminal.
pub(crate) fn counting_down(what: &str, all: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr_with_hz(10));
    let template = format!("{{elapsed_precise}}  {{pos}} of {{len}} {what}  {{wide_bar}}  {{eta}} left");
    bar.with_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Shows the time spent waiting, and the reason; only on a terminal.
pub(crate) fn waiting(why: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{elapsed_precise}  {msg}");
    let bar =
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(why.to_owned());
    bar.enable_steady_tick(PATIENCE);
    bar
}

/// Shows what a bar is at, which may be a name out of a file.
pub(crate) fn tell(bar: &ProgressBar, text: &str) {
    bar.set_message(visible(text).into_owned());
}

/// A bar for the runs of a session, if there are several, and one for the workgroups of a launch.
#[derive(Debug)]
pub(crate) struct Progress {
    bars: MultiProgress,
    runs: Option<ProgressBar>,
    launch: ProgressBar,
    session_start: Instant,
    launch_start: Instant,
}

impl Progress {
    /// Bars for `runs` runs. Nothing is drawn if `shown` is false or standard error is no terminal.
    pub(crate) fn new(runs: usize, shown: bool) -> Progress {
        Progress::with("kernels", runs, shown)
    }

    /// Bars for `runs` items of this name, in plural.
    pub(crate) fn of(name: &str, runs: usize) -> Progress {
        Progress::with(name, runs, true)
    }

    fn with(name: &str, runs: usize, shown: bool) -> Progress {
        let target =
            if shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bars = MultiProgress::with_draw_target(target);
        let style = |template: &str| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
        };
        let suite = (runs > 1).then(|| {
            let style =
                style(&format!("{{elapsed_precise}}  {{pos}} of {{len}} {name}  {{wide_bar}}  {{msg}}"));
            bars.add(ProgressBar::new(runs as u64).with_style(style))
        });
        let launch = style("          {pos} of {len} workgroups  {wide_bar}  {msg}");
        Progress {
            launch: bars.add(ProgressBar::new(0).with_style(launch)),
            runs: suite,
            bars,
            session_start: Instant::now(),
            launch_start: Instant::now(),
        }
    }

    /// A run starts.
    pub(crate) fn start_run(&mut self, name: &str) {
        if let Some(runs) = &self.runs {
            tell(runs, name);
        }
    }

    /// A run has ended.
    pub(crate) fn end_run(&mut self) {
        if let Some(runs) = &self.runs {
            runs.inc(1);
        }
    }

    /// So many runs are done, whether they were needed or not.
    pub(crate) fn runs_done(&mut self, runs: usize) {
        if let Some(bar) = &self.runs {
            bar.set_position(runs as u64);
        }
    }

    /// A launch starts.
    pub(crate) fn start_launch(&mut self) {
        self.launch_start = Instant::now();
    }

    /// Updates the bar of the current launch.
    pub(crate) fn show(&self, now: gpu::Progress) {
        let workgroups = (now.workgroups, now.total_workgroups);
        self.show_launch(workgroups, now.instructions, || format!("{} cycles, ", now.cycles));
    }

    /// Updates the bar of the current launch, which has no timing.
    pub(crate) fn show_untimed(&self, now: functional::ExecutionProgress) {
        self.show_launch((now.workgroups, now.total_workgroups), now.instructions, String::new);
    }

    fn show_launch(&self, (done, all): (u64, u64), instructions: u64, cycles: impl Fn() -> String) {
        if self.session_start.elapsed() < PATIENCE {
            return;
        }
        let seconds = self.launch_start.elapsed().as_secs_f64().max(1e-3);
        let speed = instructions as f64 / seconds / 1e6;
        self.launch.set_length(all);
        self.launch.set_position(done);
        self.launch.set_message(format!("{}{speed:.1} M wave instructions/s", cycles()));
    }

    /// Calls `write`, which writes to standard error, with the bars hidden.
    pub(crate) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bars.suspend(write)
    }

    /// Removes the bars.
    pub(crate) fn finish(&self) {
        self.launch.finish_and_clear();
        if let Some(runs) = &self.runs {
            runs.finish_and_clear();
        }
    }
}
