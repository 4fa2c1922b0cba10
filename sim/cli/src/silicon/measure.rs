//! `wave-sim silicon measure`: microbenchmarks on the GPU, and on the simulator beside it.

use super::super::args::Format;
use super::super::progress::Progress;
use super::super::terminal::Terminal;
use super::super::{Ended, Exit, files, inputs, interrupt};
use super::args::{GpuArgs, SiliconMeasureArgs};
use super::runs::columns;
use super::{document, ended, open, repeats};
use std::time::Duration;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::gpu::RunOptions;
use wave_ptx::{Options, SpecialFunctions};
use wave_silicon::bench;
use wave_silicon::document::{Document, Figure, Microbenchmarks};
use wave_silicon::micro::{self, Shape, Topic};
use wave_silicon::session::{Failure, Session, Settings};

/// Measures the requested topics.
///
/// # Errors
/// Whatever is wrong with the input or the GPU.
pub(super) fn run(args: &SiliconMeasureArgs, terminal: &Terminal) -> Ended {
    if args.config.is_none() && !args.set.set.is_empty() {
        return Err(vec![Diagnostic::error("--set changes the machine of --config, and there is none")]);
    }
    let config = args.config.as_deref().map(|name| inputs::config(name, &args.set, terminal)).transpose()?;
    if let Some(wrong) = args.save.as_deref().and_then(|file| files::cannot_write(file, "--save")) {
        return Err(vec![wrong]);
    }
    let asked = |topic: Topic| args.topics.is_empty() || args.topics.iter().any(|t| t.topic() == topic);
    let document = match measured(&args.gpu, &asked) {
        Ok(document) => document,
        Err(failure) => return ended(failure, terminal),
    };
    if let Some(file) = &args.save {
        files::write(file, document.text().as_bytes(), "--save")?;
    }
    terminal.out(&match args.format {
        Format::Text => text(&document, config.as_ref()),
        Format::Json => document.text(),
    })?;
    Ok(if interrupt::is_asked() { Exit::Fault } else { Exit::Success })
}

/// Runs the microbenchmarks of some topics on the GPU.
///
/// # Errors
/// There is no GPU, or it does not run one of them.
pub(super) fn measured(args: &GpuArgs, asked: &dyn Fn(Topic) -> bool) -> Result<Document, Failure> {
    let mut device = open(args)?;
    let mut document = document(device.as_ref());
    let shape = Shape::of(device.properties());
    let micros: Vec<_> = micro::all(&shape).into_iter().filter(|micro| asked(micro.topic)).collect();
    let stop = || interrupt::is_asked();
    // A special function is the hardware's: the exact algorithm is a hundred other instructions.
    let options = Options { aligned: true, special: SpecialFunctions::Hardware, ..Options::default() };
    let limit = Duration::from_secs_f64(args.timeout);
    let mut session = Session::new(device.as_mut(), &Settings { options, limit, cold: !args.warm }, &stop)?;
    let mut figures = Vec::new();
    let mut progress = Progress::of("microbenchmarks", micros.len());
    for micro in &micros {
        progress.start_run(&micro.name);
        let value = bench::measure(&mut session, micro, repeats(args));
        progress.end_run();
        let value = value.inspect_err(|_| progress.finish())?;
        figures.push(Figure {
            topic: micro.topic,
            name: micro.name.clone(),
            unit: micro.unit.to_owned(),
            value,
        });
    }
    progress.finish();
    document.microbenchmarks = Some(Microbenchmarks { shape, figures });
    Ok(document)
}

/// The table.
fn text(document: &Document, config: Option<&Config>) -> String {
    let Some(measured) = &document.microbenchmarks else { return String::new() };
    let micros = micro::all(&measured.shape);
    let mut text = document.heading() + "\n";
    for topic in Topic::ALL {
        let figures: Vec<&Figure> = measured.figures.iter().filter(|figure| figure.topic == topic).collect();
        if figures.is_empty() {
            continue;
        }
        let mut rows = vec![[
            topic.name().to_owned(),
            "measured".to_owned(),
            String::new(),
            config.map_or(String::new(), |config| config.name.clone()),
            "unit".to_owned(),
        ]];
        for figure in figures {
            let simulated = config.map_or(String::new(), |config| {
                let micro = micros.iter().find(|micro| micro.name == figure.name);
                let options = RunOptions { stop: Some(interrupt::stop()), ..RunOptions::UNBOUNDED };
                match micro.map(|micro| bench::simulate(config, micro, &options)) {
                    Some(Ok(value)) => number(value),
                    _ => "-".to_owned(),
                }
            });
            rows.push([
                figure.name.clone(),
                number(figure.value.median),
                format!("± {:.1} %", figure.value.percent()),
                simulated,
                figure.unit.clone(),
            ]);
        }
        text += "\n";
        text += &columns(&rows, |column| (1..4).contains(&column));
    }
    text
}

/// A number with its significant digits.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}
