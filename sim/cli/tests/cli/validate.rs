//! `wave-sim validate`: published measurements beside simulated values.

use super::golden;
use super::scratch::Scratch;
use serde_json::Value;

/// A point of each quantity, for a small machine.
const FILE: &str = "\
# Invented values.
preset,gpu,No GPU
source,invented,Invented values,edition 1,2026-11-28,none
bound,latency,fit,median,0.05
bound,latency,fit,worst,0.2
bound,streams,judge,rank,0.9

point,load_latency,footprint_kib=2,20,cycles,0.1,invented,fit,quick
point,load_latency,footprint_kib=128,60,cycles,0.1,invented,fit
point,level_latency,level=local,16,cycles,0.1,invented,fit
point,level_latency,level=l2,56,cycles,0.1,invented,fit
point,level_latency,level=memory,110,cycles,0.1,invented,fit
point,l1_size,,65536,bytes,0.1,invented,fit
point,l1_bandwidth,footprint_kib=4 lane_bytes=4,300,GB/s,0.1,invented,fit
point,l2_bandwidth,footprint_kib=512,100,GB/s,0.1,invented,fit
point,stride_cycles,type=float stride=3,3,cycles,0.1,invented,fit
point,block_cycles,type=double width=4,8,cycles,0.1,invented,fit
point,stream,kernel=scale threads=32 blocks=1,10,GB/s,0.2,invented,judge
point,stream,kernel=triad threads=64 blocks=1,40,GB/s,0.2,invented,judge
point,stream,kernel=5pt threads=64 blocks=2,60,GB/s,0.2,invented,judge
point,small_kernel,elements=1024 threads=64,1.5,us,0.2,invented,judge
";

const MACHINE: &str = "(name: \"mine\", base: \"gpu.ron\", cores: 2, l2: (slice_bytes: 65536))";

fn scratch() -> Scratch {
    Scratch::with(&[("points.csv", FILE), ("mine.ron", MACHINE)])
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_report_has_every_point_by_topic() {
    let scratch = scratch();
    let ran = scratch.run("validate --config mine.ron --against points.csv --save out");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    golden::check("sim/cli/tests/golden/validate.txt", &ran.out);
    let csv = String::from_utf8(scratch.read("out/validate.csv")).unwrap();
    assert_eq!(csv.lines().count(), 15, "{csv}");
    assert!(
        csv.contains("mine,latency,fit,load_latency,2 KiB,20,21,1.05,cycles,0.1,true,Invented values,"),
        "{csv}"
    );
    let plot = String::from_utf8(scratch.read("out/mine.svg")).unwrap();
    assert_eq!(plot.matches("<title>").count(), 14);
    let page = String::from_utf8(scratch.read("out/mine.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Invented values: edition 1"), "{page}");
}

/// The same values, however many points run at the same time.
#[test]
fn threads_change_nothing() {
    let scratch = scratch();
    let of = |flags: &str| {
        scratch.out(&format!("validate --config mine.ron --against points.csv --format csv {flags}"))
    };
    assert_eq!(of("--threads 1"), of("--threads 3"));
}

#[test]
fn a_selection_runs_alone_and_json_has_it() {
    let scratch = scratch();
    let flags = "validate --config mine.ron --against points.csv --format json";
    let found = json(&scratch.out(&format!("{flags} --topic strides --topic sizes")));
    let points = found["validations"][0]["points"].as_array().unwrap();
    let topics: Vec<&str> = points.iter().map(|point| point["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["sizes", "strides", "strides"]);
    // Bounds are on other topics.
    assert_eq!(
        (&found["holds"], found["validations"][0]["bounds"].as_array().unwrap().len()),
        (&true.into(), 0)
    );
    let found = json(&scratch.out(&format!("{flags} --quick")));
    let points = found["validations"][0]["points"].as_array().unwrap();
    assert_eq!((points.len(), points[0]["simulated"].as_f64()), (1, Some(21.0)));
}

#[test]
fn a_machine_that_is_wrong_misses_a_bound() {
    let scratch = scratch();
    let flags = "validate --config mine.ron --against points.csv --topic latency";
    for (set, missed) in [
        ("core.l1.hit_latency_cycles=40", "worst error 125.0 %, at most 20.0 %: MISSED"),
        ("l2.hit_latency_cycles=100", "median error"),
    ] {
        let ran = scratch.run(&format!("{flags} --set {set}"));
        assert_eq!(ran.code, 1, "{set}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(missed) && ran.out.contains("MISSED"), "{set}: {}", ran.out);
    }
}

/// A machine that cannot run a kernel does not pass by leaving it out.
#[test]
fn a_point_that_cannot_run_is_no_success() {
    let scratch = scratch();
    let flags = "validate --config mine.ron --against points.csv --topic strides";
    let ran = scratch.run(&format!("{flags} --set core.max_workgroup_size=256"));
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let left_out = "left out: stride_cycles float stride 3: a generated kernel cannot run";
    assert!(ran.out.contains(left_out), "{}", ran.out);
    assert!(ran.out.contains("2 points did not run"), "{}", ran.out);
}

/// The bounds that the presets keep today on their quick points.
#[test]
fn presets_keep_their_bounds_on_quick_points() {
    let scratch = Scratch::new();
    let ran = scratch.run("validate --quick");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // The same presets with an L2 that answers late.
    let ran = scratch.run("validate --quick --config t4 --set l2.hit_latency_cycles=400");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
}

#[test]
fn wrong_input_has_its_message() {
    let scratch = scratch();
    scratch.write("broken.csv", FILE.replace("level_latency,level=l2", "level_latncy,level=l2").as_bytes());
    scratch.write("binary.csv", &[0xFF, 0xFE, 0]);
    scratch.write("few.csv", FILE.lines().take(8).collect::<Vec<_>>().join("\n").as_bytes());
    for (words, message, hint) in [
        ("validate --topic latencies", "there is no topic `latencies`", "`latency`"),
        ("validate --config tiny", "no published measurements for the configuration `tiny`", "--against"),
        ("validate --config mine.ron", "no published measurements for the configuration `mine`", "a100"),
        ("validate --config a10O", "a10O", "a100"),
        ("validate --against broken.csv", "there is no quantity `level_latncy`", "broken.csv:11:7"),
        ("validate --against point.csv", "cannot read `point.csv`", "`points.csv`"),
        ("validate --against binary.csv", "not text in UTF-8", ""),
        ("validate --against few.csv --topic streams", "no point of topic streams", "they have latency"),
        ("validate --config t4 --topic streams", "no point of topic streams", "they have latency"),
        ("validate --config t4 --save broken.csv", "`broken.csv` is no folder", ""),
        ("validate --config t4 --set cors=2", "cors", "`core`"),
        ("validate --threads many", "many", ""),
    ] {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}", ran.err);
        assert!(ran.err.contains(message) && ran.err.contains(hint), "{words}: {}", ran.err);
    }
}
