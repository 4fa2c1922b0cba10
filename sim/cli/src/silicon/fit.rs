//! `wave-sim silicon fit`: parameters from microbenchmarks.

use super::super::args::{Format, SetArgs};
use super::super::progress::Progress;
use super::super::terminal::Terminal;
use super::super::{Ended, Exit, files, inputs, interrupt};
use super::args::SiliconFitArgs;
use super::measure::{measured, number};
use super::runs::columns;
use super::{ended, read};
use std::path::Path;
use wave_files::read::RON_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, PRESETS};
use wave_machine::gpu::RunOptions;
use wave_silicon::document::Document;
use wave_silicon::edit::{Change, edited};
use wave_silicon::fit::{self, Fit};

/// Fits a machine and says what changes.
///
/// # Errors
/// Whatever is wrong with the input or the GPU.
pub(super) fn run(args: &SiliconFitArgs, terminal: &Terminal) -> Ended {
    let base = inputs::config(&args.base, &SetArgs { set: Vec::new() }, terminal)?;
    if args.output.as_deref() == Some(Path::new(&args.base)) {
        let message = format!("`{}` would be overwritten", args.base);
        return Err(vec![Diagnostic::error(message).hint("name another file with --output")]);
    }
    if let Some(wrong) = args.output.as_deref().and_then(|file| files::cannot_write(file, "--output")) {
        return Err(vec![wrong]);
    }
    let document = match &args.from {
        Some(file) => read(file, "--from").map_err(|error| vec![error])?,
        None => match measured(&args.gpu, &|_| true) {
            Ok(document) => document,
            Err(failure) => return ended(failure, terminal),
        },
    };
    let mut bars = Bars(Progress::of("figures", 0));
    let options =
        RunOptions { stop: Some(interrupt::stop()), max_cycles: Some(MOST_CYCLES), ..RunOptions::UNBOUNDED };
    let found = fit::fit(&base, &document, &options, &mut bars);
    bars.0.finish();
    let fit = found.map_err(|why| {
        let from =
            args.from.as_ref().map_or("what was measured".to_owned(), |file| format!("`{}`", file.display()));
        vec![
            Diagnostic::error(format!("cannot fit to {from}: {why}"))
                .hint("`wave-sim silicon measure --save FILE` writes what a fit needs"),
        ]
    })?;
    if let Some(output) = &args.output {
        let changes: Vec<Change> = fit.fitted.iter().map(|fitted| fitted.change.clone()).collect();
        let name =
            output.file_stem().map_or_else(|| base.name.clone(), |stem| stem.to_string_lossy().into_owned());
        let head = [
            format!("Fitted to {} by `wave-sim silicon fit --base {}`.", document.heading(), args.base),
            "A mark of a source behind a fitted value is about the value that it had.".to_owned(),
            String::new(),
        ];
        let text = edited(&source(&args.base)?, &base, &changes, &name, &head);
        files::write(output, text.as_bytes(), "--output")?;
    }
    terminal.out(&match args.format {
        Format::Text => text(&fit, &document, &base),
        Format::Json => json(&fit, &document, &base),
    })?;
    Ok(Exit::Success)
}

/// A bound for the kernels of a fit: a machine with a latency of thousands of cycles is tried too.
const MOST_CYCLES: u64 = 1 << 28;

/// The text of a configuration: of a file, or of a preset.
fn source(name: &str) -> Result<String, Vec<Diagnostic>> {
    let path = Path::new(name);
    if path.exists() {
        let bytes = inputs::read(path, RON_BYTES, "--base").map_err(|error| vec![error])?;
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let preset = PRESETS.iter().find(|preset| preset.file == name || preset.name() == name);
    Ok(preset.map_or_else(String::new, |preset| preset.text.to_owned()))
}

struct Bars(Progress);

impl fit::Listener for Bars {
    fn starts(&mut self, what: &str) {
        self.0.start_run(what);
    }

    fn stops(&self) -> bool {
        interrupt::is_asked()
    }
}

fn text(fit: &Fit, document: &Document, base: &Config) -> String {
    let mut text = format!("{}\nfit of {}\n\n", document.heading(), base.name);
    let header = ["parameter", "before", "fitted", "measured", "simulated", "now", "from"];
    let mut rows = vec![header.map(str::to_owned)];
    for fitted in &fit.fitted {
        let values = fitted.values.map(|values| values.map(number)).unwrap_or_default();
        let [measured, before, after] = values;
        rows.push([
            fitted.change.path.clone(),
            fitted.change.from.to_string(),
            fitted.change.to.to_string(),
            measured,
            before,
            after,
            fitted.from.clone(),
        ]);
    }
    if fit.fitted.is_empty() {
        text += "Nothing changes.\n";
    } else {
        text += &columns(&rows, |column| (1..6).contains(&column));
    }
    if !fit.kept.is_empty() {
        let kept: Vec<&str> = fit.kept.iter().map(|(path, _)| path.as_str()).collect();
        text += &format!("\nRight already: {}\n", kept.join(", "));
    }
    if !fit.left.is_empty() {
        text += "\nLeft as it is:\n";
        for (path, why) in &fit.left {
            text += &format!("  {path}: {why}\n");
        }
    }
    let mut rows = vec![["all figures", "measured", "", "before", "now", "unit"].map(str::to_owned)];
    for row in &fit.rows {
        let of = |value: &Result<f64, String>| value.as_ref().map_or("-".to_owned(), |value| number(*value));
        rows.push([
            row.name.clone(),
            number(row.measured.median),
            format!("± {:.1} %", row.measured.percent()),
            of(&row.before),
            of(&row.after),
            row.unit.clone(),
        ]);
    }
    text + "\n" + &columns(&rows, |column| (1..5).contains(&column))
}

fn json(fit: &Fit, document: &Document, base: &Config) -> String {
    let fitted: Vec<serde_json::Value> = fit
        .fitted
        .iter()
        .map(|fitted| {
            let [measured, before, after] =
                fitted.values.map_or([None; 3], |values| values.map(Some));
            serde_json::json!({
                "key": fitted.change.path, "before": fitted.change.from, "fitted": fitted.change.to,
                "from": fitted.from, "measured": measured, "simulated_before": before, "simulated_after": after,
            })
        })
        .collect();
    let figures: Vec<serde_json::Value> = fit
        .rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "name": row.name, "unit": row.unit, "measured": row.measured, "key": row.key,
                "before": row.before.as_ref().ok(), "after": row.after.as_ref().ok(),
            })
        })
        .collect();
    let left: Vec<serde_json::Value> =
        fit.left.iter().map(|(key, why)| serde_json::json!({ "key": key, "why": why })).collect();
    let document = serde_json::json!({
        "schema": 1,
        "wave_sim": env!("CARGO_PKG_VERSION"),
        "gpu": document.gpu,
        "base": base.name,
        "fitted": fitted,
        "kept": fit.kept.iter().map(|(key, _)| key).collect::<Vec<_>>(),
        "left": left,
        "figures": figures,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
