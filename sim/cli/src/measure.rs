//! `wave-sim measure`.

use super::args::{Format, MeasureArgs, MeasureTopic};
use super::progress::Progress;
use super::terminal::Terminal;
use super::{Ended, Exit, files, folders, inputs, interrupt};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::gpu;
use wave_study::measure::{Listener, Section, Topic, text};
use wave_study::summary::json;

impl MeasureTopic {
    fn topic(self) -> Topic {
        match self {
            MeasureTopic::Latency => Topic::Latency,
            MeasureTopic::Bandwidth => Topic::Bandwidth,
            MeasureTopic::Atomics => Topic::Atomics,
            MeasureTopic::Dram => Topic::Dram,
        }
    }
}

/// Measures the requested topics and prints them. An unexpected value is a wrong result.
///
/// # Errors
/// Whatever is wrong with the configuration or the folder for plots, or a kernel that the machine cannot
/// run.
pub(crate) fn run(args: &MeasureArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let config = inputs::config(&args.config, &args.set, terminal)?;
    if let Some(folder) = &args.save {
        folders::check(folder, "--save")?;
    }
    let asked = |topic: &Topic| args.topics.is_empty() || args.topics.iter().any(|t| t.topic() == *topic);
    let topics: Vec<Topic> = Topic::ALL.into_iter().filter(asked).collect();
    let steps = topics.iter().map(|topic| topic.steps(&config)).sum();
    let mut bars = Bars { progress: Progress::of("runs", steps), started: false };
    let mut sections = Vec::new();
    let mut broken_off = None;
    for topic in topics {
        match topic.measure(&config, &mut bars) {
            Ok(section) => sections.push(section),
            Err(why) => {
                broken_off = Some(Diagnostic::error(format!("cannot measure {}: {why}", topic.name())));
                break;
            }
        }
    }
    bars.progress.finish();
    match broken_off {
        // Complete sections are still saved.
        Some(why) if interrupt::is_asked() => terminal.diagnostics(&[why]),
        Some(why) => return Err(vec![why]),
        None => {}
    }
    if let Some(folder) = &args.save {
        save(&sections, folder)?;
    }
    let text = match args.format {
        Format::Text => report(&sections, &config),
        Format::Json => json::measurements(&sections, &config),
    };
    terminal.out(&text)?;
    let exit = if sections.iter().all(Section::holds) { Exit::Success } else { Exit::WrongResult };
    Ok(if interrupt::is_asked() { Exit::Fault } else { exit })
}

fn save(sections: &[Section], folder: &Path) -> Result<(), Vec<Diagnostic>> {
    folders::make(folder, "--save")?;
    for plot in sections.iter().flat_map(|section| &section.plots) {
        files::write(&folder.join(format!("{}.svg", plot.name)), plot.svg().as_bytes(), "--save")?;
    }
    Ok(())
}

fn report(sections: &[Section], config: &Config) -> String {
    let tables: Vec<String> = sections.iter().map(text::section).collect();
    let figures = || sections.iter().flat_map(|section| &section.figures);
    let off = figures().filter(|figure| !figure.holds()).count();
    let compared = figures().filter(|figure| figure.expected.is_some()).count();
    let verdict = match off {
        0 => format!("{compared} figures are as expected"),
        1 => format!("1 of {compared} figures is not as expected"),
        off => format!("{off} of {compared} figures are not as expected"),
    };
    let machine = wave_study::summary::text::machine(config);
    format!("{machine}{}\n{verdict}\n", tables.join("\n"))
}

/// Bars for the runs of a measurement.
struct Bars {
    progress: Progress,
    started: bool,
}

impl Listener for Bars {
    fn starts(&mut self, what: &str) {
        if self.started {
            self.progress.end_run();
        }
        self.started = true;
        self.progress.start_run(what);
        self.progress.start_launch();
    }

    fn shows(&mut self, now: gpu::Progress) {
        self.progress.show(now);
    }

    fn stop(&self) -> Option<&'static AtomicBool> {
        Some(interrupt::stop())
    }
}
