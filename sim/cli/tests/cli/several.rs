//! The suite, launch files, and several runs at once.

use super::scratch::{ADD, Scratch, without_host};

const OUTSIDE: &str = "\
.kernel outside
.registers 4
    mov_imm r0, 0x7ffffff0
    device_load_u32 r1, r0
.end
";

fn launch_file(expected: &str, steps: &str) -> String {
    format!(
        "(source: \"add.wave\",
  seed: 3,
  buffers: (
    x: (type: u32, length: 16, contents: integers(0, 1000)),
    y: (type: u32, length: 16),
  ),
  steps: [{steps}],
  expect: (y: (equals: each(\"{expected}\"))),
)"
    )
}

fn scratch() -> Scratch {
    let run = "run(grid: 1, arguments: [\"x\", \"y\", 5])";
    let twice = format!("{run}, run(grid: 1, arguments: [\"y\", \"y\", 2])");
    Scratch::with(&[
        ("add.wave", ADD),
        ("outside.wave", OUTSIDE),
        ("right.ron", &launch_file("x[i] + 5", run)),
        ("twice.ron", &launch_file("x[i] + 7", &twice)),
        ("wrong.ron", &launch_file("x[i] + 6", run)),
        ("no_f64.ron", "(base: \"tiny.ron\", capabilities: (f64: false))"),
    ])
}

/// Sorted names of the files in a folder.
fn listing(scratch: &Scratch, folder: &str) -> Vec<String> {
    let files = std::fs::read_dir(scratch.path(folder)).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Each kernel writes the same files as in a run of its own.
#[test]
fn files_of_several_kernels_are_those_of_each_alone() {
    let scratch = scratch();
    std::fs::create_dir_all(scratch.path("all/saxpy")).unwrap();
    std::fs::create_dir_all(scratch.path("all/right")).unwrap();
    let plain = "--config tiny --size small";
    let flags = "--config tiny --size small --from-cycle 60 --waves 0-1";
    let all = "--wvfi all/{kernel}.txt --kanata all/{kernel}.kanata --perfetto all/{kernel}.pftrace --vcd all/{kernel}.vcd \
               --fst all/{kernel}/waves.fst --report all/{kernel}.html";
    let table = scratch.out(&format!("saxpy right.ron {plain}"));
    assert_eq!(scratch.out(&format!("saxpy right.ron {flags} {all}")), table, "the table is the same");
    for (input, name) in [("saxpy", "saxpy"), ("right.ron", "right")] {
        scratch.out(&format!(
            "{input} {flags} --wvfi a.txt --kanata a.kanata --perfetto a.pftrace --vcd a.vcd --fst a.fst --report a.html"
        ));
        for end in [".txt", ".kanata", ".pftrace", ".vcd", "/waves.fst", ".html"] {
            let alone = format!("a.{}", &end[end.find('.').unwrap() + 1..]);
            let same = scratch.read(&format!("all/{name}{end}")) == scratch.read(&alone);
            assert!(same && !scratch.read(&alone).is_empty(), "{name}{end}");
        }
    }
    // For a single kernel, the placeholder also becomes its name.
    scratch.out("right.ron --config tiny --wvfi one-{kernel}.wvfi");
    assert!(scratch.path("one-right.wvfi").is_file());
    scratch.out("right.ron --config tiny --wvfi {kernel}-{kernel}.wvfi");
    assert!(scratch.path("right-right.wvfi").is_file());
}

#[test]
fn the_whole_suite_leaves_traces_and_reports() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("out")).unwrap();
    let ran =
        scratch.run("--config no_f64.ron --size small --wvfi out/{kernel}.wvfi --report out/{kernel}.html");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Kernels that the machine cannot run write no files.
    let suite = wave_study::launch::suite().filter(|name| *name != "dot_f64");
    let mut expected: Vec<String> =
        suite.flat_map(|name| [format!("{name}.html"), format!("{name}.wvfi")]).collect();
    expected.sort();
    assert_eq!(listing(&scratch, "out"), expected);
}

#[test]
fn names_of_files_that_several_kernels_would_share_are_refused_before_anything_runs() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("other")).unwrap();
    scratch.write("other/right.ron", &scratch.read("right.ron"));
    scratch.write("other/add.wave", ADD.as_bytes());
    for (arguments, says) in [
        (
            "saxpy right.ron --wvfi t/x.wvfi --report x",
            "--wvfi and --report: one file of this name, and 2 kernels are to run\n |\n = help: {kernel} stands for the \
             kernel's name: --wvfi 't/x-{kernel}.wvfi'",
        ),
        (
            "saxpy right.ron --fst {kernel}/x",
            "--fst: cannot write `saxpy/x`: no such folder\n |\n = help: there is no folder `saxpy`",
        ),
        (
            "right.ron other/right.ron --vcd {kernel}.vcd",
            "--vcd: `right.vcd` is the file of two kernels, `right` and `right`",
        ),
        ("right.ron saxpy --vcd x{kernel} --fst x{kernel}", "--vcd and --fst both write to `xright`"),
        ("right.ron --vcd right.x --fst {kernel}.x", "--vcd and --fst both write to `right.x`"),
    ] {
        let ran = scratch.run(&format!("{arguments} --config tiny"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments}: {}", ran.err);
        assert!(ran.err.contains(says), "{arguments}: {}", ran.err);
        assert_eq!(ran.err.matches("error: ").count(), 1, "{arguments}: {}", ran.err);
    }
    assert!(!scratch.path("right.vcd").exists());
}

/// A trigger fires in one kernel and not in another. The other kernel then has no file.
#[test]
fn a_kernel_that_the_window_leaves_out_has_no_file() {
    let scratch = scratch();
    let ran = scratch.run("outside.wave right.ron --config tiny --trigger fault --wvfi {kernel}.txt");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("warning: `right`: --trigger: fault has not happened"), "{}", ran.err);
    assert!(scratch.path("outside.txt").is_file() && !scratch.path("right.txt").exists());
    assert!(!ran.err.contains("no file was written"), "{}", ran.err);
    let none = scratch.run("saxpy right.ron --size small --config tiny --trigger fault --wvfi {kernel}.txt");
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.out.contains("verified") && none.err.contains("error: no file was written"), "{}", none.err);
}

/// Rows of a table: the first word, and the words after the numbers.
fn results(out: &str) -> Vec<(String, String)> {
    let rows = out.lines().skip(2).take_while(|line| !line.is_empty() && !line.starts_with("PERF"));
    rows.map(|row| {
        let name = row.split_whitespace().next().unwrap_or_default().to_owned();
        (name, row.rsplit("  ").next().unwrap_or_default().to_owned())
    })
    .collect()
}

#[test]
fn a_configuration_alone_runs_the_suite_and_verifies_it() {
    let scratch = scratch();
    let ran = scratch.run("--config tiny.ron --size small");
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.starts_with("tiny (config "), "{}", ran.out);
    let suite: Vec<&str> = wave_study::launch::suite().collect();
    let results = results(&ran.out);
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, suite);
    for (name, result) in &results {
        assert_eq!(result, "verified", "{name}");
    }
    let perf = ran.out.lines().last().unwrap();
    assert!(perf.starts_with(&format!("PERF: kernels={} cycles=", suite.len())), "{perf}");
    assert_eq!(without_host(&ran.err), "");
}

#[test]
fn what_the_machine_lacks_is_skipped_in_the_suite_and_refused_by_name() {
    let scratch = scratch();
    let ran = scratch.run("--config no_f64.ron --size small");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let row = ran.out.lines().find(|line| line.starts_with("dot_f64")).unwrap();
    assert!(row.ends_with("skipped: the machine has no CAP_F64"), "{row}");
    let ran = scratch.run("dot_f64 --config no_f64.ron");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.starts_with("error: `dot_f64` cannot run: the machine has no CAP_F64"), "{}", ran.err);
}

#[test]
fn a_launch_file_verifies_its_result() {
    let scratch = scratch();
    assert!(scratch.out("right.ron --config tiny").contains("result       verified: 16 values"));
    let ran = scratch.run("wrong.ron --config tiny");
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("result       wrong: 16 of 16 values\n               y[0]: expected "),
        "{}",
        ran.out
    );
    let seeded = scratch.out("right.ron --config tiny --seed 4 --dump-u32 0:1");
    assert_ne!(seeded, scratch.out("right.ron --config tiny --dump-u32 0:1"), "another seed, other data");
}

#[test]
fn the_launches_of_a_file_are_listed_and_added_up() {
    let scratch = scratch();
    let out = scratch.out("twice.ron --config tiny");
    assert!(out.contains("launches     2, one after the other"), "{out}");
    let json = scratch.out("twice.ron --config tiny --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let run = &json["runs"][0];
    let launches = run["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 2);
    assert_eq!(run["verification"], serde_json::json!({ "compared": 16, "wrong": 0 }));
    for (name, total) in run["total"]["statistics"].as_object().unwrap() {
        let sum: u64 = launches.iter().map(|launch| launch["statistics"][name].as_u64().unwrap()).sum();
        assert_eq!(total, sum, "{name}");
    }
    let trace = scratch.run("twice.ron --config tiny --trace");
    assert_eq!(trace.err.matches("# kernel add grid 1,1,1\n").count(), 2);
}

#[test]
fn one_failure_does_not_stop_the_others_and_the_worst_code_wins() {
    let scratch = scratch();
    for (inputs, code, last) in [
        ("right.ron add.wave", 0, "ended"),
        ("wrong.ron right.ron", 1, "verified"),
        ("dot_f64 wrong.ron", 2, "failed"),
        ("outside.wave dot_f64 wrong.ron right.ron", 3, "verified"),
    ] {
        let ran = scratch.run(&format!("{inputs} --config no_f64.ron"));
        assert_eq!(ran.code, code, "{inputs}: {}", ran.err);
        let results = results(&ran.out);
        assert_eq!(results.len(), inputs.split(' ').count(), "{}", ran.out);
        assert_eq!(results.last().unwrap().1, last, "{}", ran.out);
    }
    let ran = scratch.run("outside.wave wrong.ron --config tiny");
    assert!(ran.err.contains("error: kernel `outside`: an access of 4 bytes"), "{}", ran.err);
    assert!(ran.err.contains("error: `wrong`: wrong: 16 of 16 values"), "{}", ran.err);
    assert!(ran.out.contains("PERF: kernels=1 "), "{}", ran.out);
}

#[test]
fn several_runs_have_their_statistics_and_one_document() {
    let scratch = scratch();
    let out = scratch.out("right.ron twice.ron --config tiny --stats");
    assert_eq!(out.lines().filter(|line| line.starts_with("kernel.cycles ")).count(), 2);
    let json = scratch.out("right.ron twice.ron --config tiny --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let names: Vec<&str> =
        json["runs"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["right", "twice"]);
}

#[test]
fn a_suite_kernel_runs_by_name_from_anywhere() {
    let scratch = scratch();
    let ran = scratch.run("vector_add --size small --config tiny");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("vector_add on tiny (config "), "{}", ran.out);
    assert!(ran.out.contains("result       verified: "), "{}", ran.out);
}

#[test]
fn the_suites_in_c_and_wgsl_run_as_a_whole_and_one_by_one() {
    let scratch = Scratch::new();
    let c: Vec<&str> = wave_study::launch::c_suite().collect();
    let wgsl: Vec<&str> = wave_study::launch::wgsl_suite().collect();
    for (suite, names, one, misspelt) in
        [("c", c, "c/lz4", "c/lz5"), ("wgsl", wgsl, "wgsl/convolution", "wgsl/convolutoin")]
    {
        let table = scratch.out(&format!("--suite {suite} --size small"));
        let verified = table.lines().filter(|line| line.trim_end().ends_with("verified")).count();
        assert_eq!(verified, names.len(), "{table}");
        assert!(scratch.out(&format!("{one} --size small")).contains("result       verified"));
        assert_eq!(scratch.run(&format!("--suite {suite} saxpy")).code, 2);
        let refused = scratch.run(misspelt);
        assert!(refused.err.contains(&format!("did you mean `{one}`?")), "{}", refused.err);
    }
}
