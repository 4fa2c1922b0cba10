//! `wave-sim silicon`, with a rehearsal in the place of a GPU; and what it says where there is none.

use super::scratch::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Saxpy and a scan, measured on the machine of gpu.ron.
fn measured(scratch: &Scratch) -> Value {
    let out = scratch.out(
        "silicon saxpy wgsl/scan --size small --rehearse gpu.ron --repeats 2 --warm-up 0 --save m.json --format json",
    );
    json(&out)
}

#[test]
fn kernels_are_verified_and_measured_and_the_file_is_a_result() {
    let scratch = Scratch::new();
    let document = measured(&scratch);
    assert_eq!(json(&String::from_utf8(scratch.read("m.json")).unwrap()), document);
    assert_eq!(document["gpu"]["rehearsal_of"], "gpu");
    assert_eq!(document["gpu"]["date"], Value::Null, "a rehearsal has no day");
    for run in document["runs"].as_array().unwrap() {
        assert_eq!(
            (&run["outcome"], &run["bytes_apart"]),
            (&Value::from("verified"), &Value::from(0)),
            "{run}"
        );
        let cycles = run["times"]["cycles"]["median"].as_f64().unwrap();
        assert_eq!(run["total"]["statistics"]["kernel.cycles"].as_f64().unwrap(), cycles);
        assert_eq!(run["times"]["cycles"]["count"], 2);
    }
    // The clock is that of the simulator: the cycles are those of a run there, without what is before the first instruction,
    // which is fetched from memory, and after the last one.
    let alone = json(&scratch.out("saxpy --size small --config gpu.ron --format json"));
    let simulated = alone["runs"][0]["total"]["statistics"]["kernel.cycles"].as_f64().unwrap();
    let measured = document["runs"][0]["times"]["cycles"]["median"].as_f64().unwrap();
    assert!(measured < simulated && measured > 0.5 * simulated, "{measured} of {simulated}");
}

#[test]
fn a_comparison_has_the_gpu_as_a_column() {
    let scratch = Scratch::new();
    measured(&scratch);
    let text = scratch.out("compare saxpy --size small --hardware m.json --config t4.ron");
    let head =
        text.lines().find(|line| line.contains("rehearsal of gpu") && line.contains("t4")).unwrap_or("");
    assert!(!head.is_empty(), "{text}");
    assert!(text.contains("time in us"), "the clocks differ: {text}");
    let ran = scratch.run("compare saxpy --size small --hardware none.json");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("--hardware: cannot read `none.json`"), "{}", ran.err);
}

#[test]
fn a_correlation_with_the_machine_itself_is_near_one_and_a_planted_error_is_the_worst_case() {
    let scratch = Scratch::new();
    measured(&scratch);
    std::fs::create_dir(scratch.path("d")).unwrap();
    let words = "silicon correlate --from m.json --sizes small --config gpu.ron --format json";
    let found = json(&scratch.out(&format!("{words} --save d")));
    assert_eq!(found["figures"]["count"], 2);
    assert!(found["figures"]["mape"].as_f64().unwrap() < 1e-9, "{found}");
    for file in ["correlation.md", "correlation.json", "correlation.svg"] {
        assert!(scratch.path(&format!("d/{file}")).exists(), "{file}");
    }
    assert!(String::from_utf8(scratch.read("d/correlation.svg")).unwrap().contains("wgsl/scan: "));
    // A tenth of the cycles of one kernel.
    let mut document = json(&String::from_utf8(scratch.read("m.json")).unwrap());
    let median = &mut document["runs"][1]["times"]["cycles"]["median"];
    *median = Value::from(median.as_f64().unwrap() / 10.0);
    scratch.write("m.json", document.to_string().as_bytes());
    let text = scratch.out(&words.replace("--format json", ""));
    let worst = text.lines().find(|line| line.starts_with("worst: ")).unwrap();
    assert!(worst.starts_with("worst: wgsl/scan small is ") && worst.contains("times too slow"), "{text}");
    let open = scratch.out("silicon correlate saxpy --open --sizes small --config gpu.ron");
    assert!(open.contains("the column is open"), "{open}");
}

#[test]
fn a_fit_writes_a_configuration_that_runs() {
    let scratch = Scratch::new();
    scratch.write(
        "base.ron",
        b"(name: \"mine\", base: \"gpu.ron\", cores: 4, core: (l1: (hit_latency_cycles: 30))) // mine\n",
    );
    scratch.out("silicon measure latency --rehearse gpu.ron --repeats 1 --warm-up 0 --save m.json");
    let found = json(&scratch.out("silicon fit --base base.ron --from m.json -o fitted.ron --format json"));
    let fitted = found["fitted"].as_array().unwrap();
    let of =
        |key: &str| fitted.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("{key}: {found}"));
    assert_eq!(of("core.l1.hit_latency_cycles")["fitted"], 16);
    assert_eq!(of("cores")["fitted"], 16);
    let text = String::from_utf8(scratch.read("fitted.ron")).unwrap();
    assert!(
        text.contains("hit_latency_cycles: 16 /* fitted: was 30 */") && text.contains("// mine"),
        "{text}"
    );
    assert!(text.starts_with("// Fitted to no GPU: a rehearsal"), "{text}");
    scratch.out("saxpy --size small --config fitted.ron");
}

#[test]
fn wrong_input_has_a_message_with_a_hint() {
    let scratch = Scratch::with(&[("text.json", "{}")]);
    for (words, message) in [
        ("silicon saxpi --rehearse gpu", "`saxpi` is no file"),
        ("silicon saxpy --rehearse tiny", "waves of `tiny` have 8 lanes, and a warp has 32"),
        ("silicon saxpy --rehearse none", "none"),
        ("silicon saxpy --timeout never", "`never` is no number of seconds"),
        ("silicon saxpy --rehearse gpu --save no/file", "there is no folder `no`"),
        ("silicon fit --base gpu.ron --from text.json", "`text.json` is no measurement of a GPU"),
        ("silicon fit --base nothing.ron --from text.json", "nothing.ron"),
        ("silicon correlate --from missing.json", "cannot read `missing.json`"),
        ("silicon correlate --open --save text.json/plots", "`text.json` is no folder"),
        ("silicon measure latency --set cores=2", "--set changes the machine of --config"),
    ] {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}", ran.err);
        assert!(ran.err.contains(message), "{words}: {}", ran.err);
    }
}

#[test]
fn without_a_driver_every_command_says_so() {
    let scratch = Scratch::new();
    if scratch.run("silicon info").code == 0 {
        eprintln!("skipped: there is a GPU");
        return;
    }
    for words in [
        "silicon saxpy",
        "silicon measure",
        "silicon fit --base gpu.ron",
        "silicon correlate saxpy",
        "silicon info",
    ] {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}", ran.err);
        assert!(ran.err.contains("--rehearse CONFIG needs no GPU"), "{words}: {}", ran.err);
    }
    let ran = scratch.run("silicon info --rehearse h200.ron");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("132 at up to 1980 MHz") && ran.out.contains("4802 GB/s"), "{}", ran.out);
}
