//! A fit finds the machine that was measured, and nothing else.

use crate::small;
use wave_machine::config::{Config, from_text, resolved};
use wave_machine::gpu::RunOptions;
use wave_silicon::bench::simulate;
use wave_silicon::device::Device;
use wave_silicon::document::{Document, Figure, Microbenchmarks};
use wave_silicon::edit::{Change, edited};
use wave_silicon::fit::{Fit, fit};
use wave_silicon::micro::{self, Micro, Shape};
use wave_silicon::rehearsal::Rehearsal;
use wave_silicon::spread::Spread;

/// What would be measured on a machine; `alter` changes a figure.
fn document(truth: &Config, alter: impl Fn(&Micro, f64) -> f64) -> Document {
    let device = Rehearsal::new(truth).unwrap();
    let shape = Shape::of(device.properties());
    let mut document = Document::new(device.properties(), device.rehearses());
    let figures = micro::all(&shape)
        .into_iter()
        .filter(|micro| micro.says.is_some())
        .map(|micro| {
            let value = simulate(truth, &micro, &RunOptions::UNBOUNDED).unwrap_or_else(|why| panic!("{why}"));
            Figure {
                topic: micro.topic,
                name: micro.name.clone(),
                unit: micro.unit.to_owned(),
                value: Spread::of(&[alter(&micro, value)]).unwrap(),
            }
        })
        .collect();
    document.microbenchmarks = Some(Microbenchmarks { shape, figures });
    document
}

fn fitted(base: &Config, document: &Document) -> Fit {
    fit(base, document, &RunOptions::UNBOUNDED, &mut ()).unwrap()
}

fn changes(fit: &Fit) -> Vec<String> {
    fit.fitted.iter().map(|fitted| fitted.change.setting()).collect()
}

#[test]
fn a_fit_finds_the_machine_that_was_measured() {
    let truth = [
        "core.register_file_bytes=512KiB",
        "core.max_workgroups=24",
        "core_clock_mhz=1300",
        "core.units[fp32].classes[fp32].latency_cycles=9",
        "core.units[int].classes[int].latency_cycles=7",
        "core.local.latency_cycles=31",
        "core.local.banks=16",
        "core.l1.hit_latency_cycles=40",
        "l2.hit_latency_cycles=111",
        "core.branch_latency_cycles=9",
    ];
    let truth = small(&truth);
    let base = small(&[]);
    let found = fitted(&base, &document(&truth, |_, value| value));
    let of = |config: &Config| {
        let text = resolved(config);
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of(&found.config), of(&truth), "{:#?}", changes(&found));
    for row in &found.rows {
        let after = row.after.clone().unwrap();
        assert!((after - row.measured.median).abs() <= 0.01 * row.measured.median.abs(), "{row:?}");
    }
    // The file that is written is that machine.
    let changes: Vec<Change> = found.fitted.iter().map(|fitted| fitted.change.clone()).collect();
    let text = edited(&resolved(&base), &base, &changes, &truth.name, &[]);
    let (read, _) = from_text("fitted.ron", &text).unwrap();
    assert_eq!(of(&read), of(&truth));
}

#[test]
fn a_machine_that_is_right_stays_as_it_is() {
    let base = small(&[]);
    let found = fitted(&base, &document(&base, |_, value| value));
    assert_eq!(changes(&found), Vec::<String>::new());
    assert!(found.kept.len() > 10, "{:?}", found.kept);
}

#[test]
fn one_parameter_off_is_found_and_no_other_one_changes() {
    let base = small(&[]);
    for setting in
        ["core.units[int].classes[int_mul].latency_cycles=11", "core.units[sfu].classes[sfu].passes=3"]
    {
        let Ok(truth) = base.with(&[setting.to_owned()]) else { panic!("{setting}") };
        let truth = Config { set: Vec::new(), ..truth };
        let found = fitted(&base, &document(&truth, |_, value| value));
        assert_eq!(changes(&found), [setting]);
    }
}

#[test]
fn a_planted_error_in_a_figure_is_seen() {
    let base = small(&[]);
    let document =
        document(&base, |micro, value| if micro.name.starts_with("L1 over") { value + 5.0 } else { value });
    let found = fitted(&base, &document);
    let right = base.core.l1.hit_latency_cycles;
    assert_eq!(changes(&found), [format!("core.l1.hit_latency_cycles={}", right + 5)]);
    let figure = &found.fitted[0];
    assert!(figure.from.starts_with("L1 over"), "{figure:?}");
}

#[test]
fn a_document_without_figures_and_one_of_another_form_are_refused() {
    let base = small(&[]);
    let device = Rehearsal::new(&base).unwrap();
    let document = Document::new(device.properties(), device.rehearses());
    assert!(
        fit(&base, &document, &RunOptions::UNBOUNDED, &mut ()).unwrap_err().contains("no microbenchmarks")
    );
    let read = Document::read(&document.text(), "a.json").unwrap();
    assert_eq!(read, document);
    assert!(
        Document::read("{}", "a.json").unwrap_err().message.contains("`a.json` is no measurement of a GPU")
    );
    let other = document.text().replace("\"schema\": 1", "\"schema\": 9");
    assert!(Document::read(&other, "a.json").unwrap_err().message.contains("form 9"));
}
