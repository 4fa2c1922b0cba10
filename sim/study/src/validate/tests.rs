//! Files, errors and kernels of the validation.

use super::statistics::median;
use super::*;
use wave_machine::config::{self, PRESETS};

/// A machine of a preset, with settings.
fn machine(preset: &str, settings: &[&str]) -> Config {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    config::load_with_settings(preset, &settings).unwrap().0
}

fn value(config: &Config, name: &str, parameters: &str) -> f64 {
    simulate(config, &PublishedQuantity::of(name, parameters).unwrap(), &ProgramRuns::default(), None)
        .unwrap()
}

const FILE: &str = "\
# a comment
preset,gpu,A GPU
source,somebody,Somebody's results,commit 1,2026-01-01,MIT
bound,latency,fit,median,0.25

point,level_latency,level=l1,20,cycles,0.1,somebody,fit,quick
point,level_latency,level=l2,80,cycles,0.1,somebody,fit
";

#[test]
fn a_file_has_sources_bounds_and_points() {
    let file = Published::parse("my.csv", FILE).unwrap();
    assert_eq!((file.preset.as_str(), file.gpu.as_str()), ("gpu", "A GPU"));
    assert_eq!(file.sources[0].licence, "MIT");
    assert_eq!((file.bounds[0].topic, file.bounds[0].value), (PublishedTopic::Latency, 0.25));
    let lines: Vec<(usize, f64, bool)> =
        file.points.iter().map(|point| (point.line, point.value, point.quick)).collect();
    assert_eq!(lines, [(6, 20.0, true), (7, 80.0, false)]);
    assert_eq!(file.points[0].quantity, PublishedQuantity::LevelLatency { level: ServedBy::L1 });
}

#[test]
fn a_wrong_line_is_named_with_its_field() {
    for (from, to, line, column, message, hint) in [
        (
            "level_latency,level=l1",
            "level_latncy,level=l1",
            6,
            7,
            "no quantity `level_latncy`",
            "`level_latency`",
        ),
        ("level=l1", "level=l4", 6, 21, "no level `l4`", "did you mean"),
        ("level=l1", "footprint_kib=4", 6, 21, "the parameter `level` is missing", "docs/validate.md"),
        ("level=l1", "level=l1 x=2", 6, 21, "has no parameter `x`", "docs/validate.md"),
        ("level=l1", "l1", 6, 21, "`l1` is no parameter `key=value`", "docs/validate.md"),
        ("20,cycles", "20,GB/s", 6, 33, "`level_latency` is not in `GB/s`", "cycles"),
        ("20,cycles", "fast,cycles", 6, 30, "`fast` is no number", "decimal"),
        ("20,cycles", "0,cycles", 6, 30, "a value is more than 0", "relative"),
        ("somebody,fit,quick", "somebdy,fit,quick", 6, 44, "no source `somebdy`", "`somebody`"),
        ("fit,quick", "fit,slow", 6, 57, "is not `slow`", "`quick`"),
        ("fit,quick", "fitted", 6, 53, "no use `fitted`", "`fit`"),
        ("latency,fit,median", "latencies,fit,median", 4, 7, "no topic `latencies`", "`latency`"),
        ("latency,fit,median", "latency,fit,middle", 4, 19, "no statistic `middle`", "median"),
        ("bound,", "bounds,", 4, 1, "does not begin with `bounds`", "`bound`"),
        (",2026-01-01,MIT", ",MIT", 3, 1, "the line has 5 fields", "source,NAME,TITLE"),
        ("level=l2,80", "level=l1,80", 7, 21, "line 6 has the same point", "leave one"),
        ("# a comment", "preset,t4,T4", 2, 1, "a second line `preset`", "one preset"),
    ] {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE, "{from}");
        let error = Published::parse("my.csv", &text).unwrap_err();
        let place = error.place.clone().unwrap();
        assert_eq!((place.line, place.column), (line, column), "{to}: {error:?}");
        assert!(error.message.contains(message), "{to}: {}", error.message);
        assert!(error.hint.as_deref().unwrap().contains(hint), "{to}: {error:?}");
    }
    for (cut, message) in [("preset", "has no line `preset,"), ("point", "has no line `point,")] {
        let text: String =
            FILE.lines().filter(|line| !line.starts_with(cut)).map(|line| format!("{line}\n")).collect();
        assert!(Published::parse("my.csv", &text).unwrap_err().message.contains(message));
    }
}

#[test]
fn parameters_are_within_their_ranges() {
    for (name, parameters) in [
        ("load_latency", "footprint_kib=2.2"),
        ("l1_size", ""),
        ("l1_bandwidth", "footprint_kib=4 lane_bytes=16"),
        ("l2_bandwidth", "footprint_kib=1536"),
        ("stride_cycles", "type=double stride=0"),
        ("block_cycles", "width=32 type=float"),
        ("stream", "kernel=5pt threads=64 blocks=2"),
        ("small_kernel", "elements=4096 threads=64"),
        ("kernel_cycles", "program=hotspot kernel=calculate_temp"),
        ("kernel_counter", "program=hotspot kernel=calculate_temp counter=dram_reads"),
    ] {
        let quantity = PublishedQuantity::of(name, parameters).unwrap();
        assert_eq!(quantity.name(), name);
        assert!(PublishedTopic::ALL.contains(&quantity.topic()));
    }
    for (name, parameters) in [
        ("load_latency", "footprint_kib=0"),
        ("load_latency", "footprint_kib=nan"),
        ("load_latency", "footprint_kib=9e9"),
        ("l1_bandwidth", "footprint_kib=4 lane_bytes=8"),
        ("l1_bandwidth", "footprint_kib=4.5 lane_bytes=16"),
        ("l2_bandwidth", "footprint_kib=1000"),
        ("block_cycles", "type=float width=3"),
        ("stream", "kernel=copy threads=64 blocks=2"),
        ("stream", "kernel=scale threads=4096 blocks=2"),
        ("small_kernel", "elements=-1 threads=64"),
        ("kernel_cycles", "program=hotspot"),
        ("kernel_counter", "program=p kernel=k counter=cycles"),
        ("kernel_counter", "program=p kernel=k counter=dram"),
    ] {
        assert!(PublishedQuantity::of(name, parameters).is_err(), "{name} {parameters}");
    }
}

#[test]
fn built_in_measurements_are_about_presets_and_quick_ones_have_bounds() {
    for name in Published::presets() {
        assert!(PRESETS.iter().any(|preset| preset.name() == name), "{name}");
        let file = Published::of_preset(name).unwrap();
        assert_eq!(file.preset, name);
        assert!(file.points.iter().any(|point| point.quick), "{name}");
        // Quick points are part of the tests of the command, and so is a bound on them.
        for point in file.points.iter().filter(|point| point.quick) {
            let topic = point.quantity.topic();
            let about =
                |bound: &ErrorBound| bound.topic == topic && bound.purpose == point.purpose && bound.quick;
            assert!(file.bounds.iter().any(about), "{name} {}", topic.name());
        }
    }
    let error = Published::of_preset("a10").unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("did you mean `a100`?"));
}

/// The file's points with these simulated values.
fn held(simulated: &[Result<f64, String>], bounds: &str) -> Validation {
    let file = Published::parse("my.csv", &FILE.replace("bound,latency,fit,median,0.25\n", bounds)).unwrap();
    let points = file.points.clone();
    Validation::new(machine("gpu", &[]), file, points, simulated.to_vec(), false)
}

#[test]
fn errors_are_relative_and_bounds_hold_up_to_their_value() {
    let bounds = "bound,latency,fit,median,0.3\nbound,latency,fit,worst,0.5\nbound,latency,fit,mean,0.29\n";
    let found = held(&[Ok(21.0), Ok(40.0)], bounds);
    let figures = ErrorFigures::of(&found.of(PublishedTopic::Latency, PointUse::Fit)).unwrap();
    assert_eq!((figures.points, figures.within), (2, 1));
    assert!((figures.median - 0.275).abs() < 1e-12 && (figures.mean - 0.275).abs() < 1e-12);
    assert_eq!((figures.worst, figures.farthest, figures.rank), (0.5, 0.5, None));
    assert!(found.holds(), "{}", text::text(&found));
    assert_eq!(found.in_all(PointUse::Judge), None);
    let found = held(&[Ok(21.0), Ok(39.0)], bounds);
    let missed: Vec<bool> = found.verdicts().iter().map(|verdict| !verdict.holds()).collect();
    assert_eq!(missed, [false, true, false], "{}", text::text(&found));
    assert!(!found.holds() && text::text(&found).contains("MISSED"));
    // Quick bounds are about quick runs.
    assert!(held(&[Ok(1.0), Ok(1.0)], "bound,latency,fit,worst,0.1,quick\n").holds());
}

#[test]
fn a_rank_correlation_has_a_lower_bound() {
    let of = |values: [f64; 3]| {
        let third = "point,level_latency,level=memory,500,cycles,0.1,somebody,fit\n";
        let bounded = FILE.replace("median,0.25", "rank,0.9");
        let file = Published::parse("my.csv", &(bounded + third)).unwrap();
        let points = file.points.clone();
        let values = values.map(Ok).to_vec();
        Validation::new(machine("gpu", &[]), file, points, values, false)
    };
    assert!(of([20.0, 80.0, 100.0]).holds());
    assert!(!of([20.0, 100.0, 80.0]).holds());
}

#[test]
fn a_point_that_does_not_run_misses() {
    let found = held(&[Ok(20.0), Err("no room".to_owned())], "");
    assert!(!found.holds());
    let text = text::text(&found);
    assert!(text.contains("left out: level_latency l2: no room"), "{text}");
    assert!(text.contains("1 point did not run"), "{text}");
    assert!(text::csv(&[found]).unwrap().contains("no room"));
}

#[test]
fn plot_and_page_have_every_point() {
    let found = held(&[Ok(21.0), Ok(40.0)], "");
    let plot = svg(&found);
    assert_eq!(plot.matches("<title>").count(), 2);
    assert!(plot.contains("level_latency l2: 80.0 published, 40.0 simulated"), "{plot}");
    let page = page(&found);
    assert!(page.contains(&plot) && page.contains("Somebody's results") && page.contains("0.50"));
}

/// docs/measure.md has the formulas: 4 + hit + 1, and the way to the L2 and back.
#[test]
fn latencies_are_those_of_the_machine() {
    let of = |settings: &[&str]| {
        let config = machine("gpu", settings);
        ["level=l1", "level=l2", "level=local"].map(|level| value(&config, "level_latency", level))
    };
    let [l1, l2, local] = of(&[]);
    assert_eq!([l1, local], [21.0, 16.0]);
    assert!((l2 - 56.0).abs() < 1.0, "{l2}");
    let [slower, slower_l2, _] = of(&["core.l1.hit_latency_cycles=26", "l2.hit_latency_cycles=74"]);
    assert_eq!(slower - l1, 10.0);
    assert!((slower_l2 - l2 - 50.0).abs() < 1.0, "{slower_l2}");
}

#[test]
fn a_chase_meets_each_level_in_its_footprint() {
    let config = machine("gpu", &["cores=2"]);
    let bytes = u64::from(config.l2.slices) * u64::from(config.l2.slice_bytes);
    let over = |kib: u64| value(&config, "load_latency", &format!("footprint_kib={kib}"));
    assert_eq!(over(4), 21.0);
    let l2 = value(&config, "level_latency", "level=l2");
    // Beyond the lines that one lane warms.
    assert!(bytes > 1 << 20, "{bytes}");
    for kib in [256, 768] {
        assert!((over(kib) - l2).abs() < 2.0, "{kib}: {} {l2}", over(kib));
    }
    let memory = value(&config, "level_latency", "level=memory");
    let beyond = over((4 * bytes) >> 10);
    assert!(memory > l2 + 20.0 && (beyond / memory - 1.0).abs() < 0.05, "{memory} {beyond}");
}

#[test]
fn the_size_of_the_l1_is_found() {
    for kib in [16, 32] {
        let config = machine("gpu", &[&format!("core.l1.bytes={}", kib << 10), "core.l1.ways=8"]);
        // A line too many costs one set of many its hits, and the bisection does not see that.
        let found = value(&config, "l1_size", "") / f64::from(kib << 10);
        assert!((1.0..1.01).contains(&found), "{kib} KiB: {found}");
    }
}

#[test]
fn a_stride_of_lines_takes_a_line_each() {
    let config = machine("gpu", &["cores=1"]);
    let stride = |stride: u32| value(&config, "stride_cycles", &format!("type=float stride={stride}"));
    let (unit, lines) = (stride(1), stride(32));
    assert!(unit < 2.5 && (lines - 32.0).abs() < 1.5, "{unit} {lines}");
    // The rows are a multiple of all sets apart: without a hash they share one set, and miss.
    let hashed = machine("gpu", &["cores=1", "core.l1.set_hash=xor"]);
    let block = value(&hashed, "block_cycles", "type=float width=1");
    assert!((block - 32.0).abs() < 1.5, "{block}");
}

#[test]
fn streams_that_wait_for_latency_go_with_their_threads() {
    let config = machine("gpu", &["cores=4"]);
    let scale = |threads: u32, groups: u32| {
        value(&config, "stream", &format!("kernel=scale threads={threads} blocks={groups}"))
    };
    let (one, two, wide) = (scale(32, 1), scale(32, 2), scale(64, 1));
    assert!((two / one - 2.0).abs() < 0.3, "{one} {two}");
    assert!((wide / one - 2.0).abs() < 0.3, "{one} {wide}");
    // 32 threads a core that load and store 8 bytes each, once per latency of memory at the most.
    let bound = 4.0 * 32.0 * 16.0 / value(&config, "level_latency", "level=memory") * 1.5;
    assert!(one < bound, "{one} {bound}");
}

#[test]
fn bandwidths_are_within_the_ports() {
    let config = machine("gpu", &["cores=4"]);
    let ghz = f64::from(config.core_clock_mhz) / 1000.0;
    let l1 = value(&config, "l1_bandwidth", "footprint_kib=8 lane_bytes=4");
    let rows = 4.0 * f64::from(4 * config.core.wave_width);
    assert!(l1 < 1.01 * rows * ghz && l1 > 0.4 * rows * ghz, "{l1} of {}", rows * ghz);
    let l2 = value(&config, "l2_bandwidth", "footprint_kib=1024");
    let ports = 4.0 * f64::from(config.interconnect.port_bytes_per_cycle);
    assert!(l2 < 1.01 * ports * ghz && l2 > 0.3 * ports * ghz, "{l2} of {}", ports * ghz);
}

#[test]
fn a_small_kernel_takes_as_long_as_its_launch_and_more() {
    let config = machine("gpu", &["cores=4"]);
    let of = |elements: u32| value(&config, "small_kernel", &format!("elements={elements} threads=64"));
    let (one, many) = (of(64), of(16384));
    assert!(one > 0.0 && many > 2.0 * one, "{one} {many}");
    assert_eq!(median(&[one, many]).unwrap(), f64::midpoint(one, many));
}
