//! A third-party core, attached as described in rtl-tests/README.md.

use crate::bench::{Case, root};
use crate::directed::kernel;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use wave_verify::rtl::{self, Disagreement, Mode, Model};

/// `rtl-tests/example/tiny_core.sv` in the program of the test bench. `None` if the user skips the RTL tests.
fn tiny_core() -> Option<PathBuf> {
    tiny_core_with(&[])
}

/// With further arguments of Verilator.
fn tiny_core_with(more: &[&str]) -> Option<PathBuf> {
    if rtl::skipped() {
        return None;
    }
    let sources = ["example/tiny_core.sv", "bench/bench.cpp"];
    let model = Model {
        name: ["tiny_core", more.join("").trim_start_matches('-')].join(if more.is_empty() {
            ""
        } else {
            "-"
        }),
        top: "tiny_core".to_owned(),
        sources: sources.map(|file| rtl::directory().join(file)).to_vec(),
        includes: Vec::new(),
        arguments: [&["-Wall", "--prefix", "Vwave_bench"], more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect(),
    };
    Some(rtl::build(&model, &root().join("target/rtl")).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_core_of_another_kind_does_what_the_simulator_does() {
    let Some(core) = tiny_core() else { return };
    let wave_sim = |mode: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        command.args(["cosim", "transpose_naive", "--no-bundle", "--mode", mode, "--core"]).arg(&core);
        command.output().expect("the program runs")
    };
    let architectural = wave_sim("architectural");
    let said = String::from_utf8_lossy(&architectural.stdout);
    assert!(architectural.status.success() && said.contains("agrees"), "{said}");
    // Its timing differs.
    assert_eq!(wave_sim("cycle").status.code(), Some(1));
}

#[test]
fn what_it_cannot_do_is_found() {
    let Some(core) = tiny_core() else { return };
    let run = |lines: &str| Case::of(&kernel(lines), 29).run_on(&core, Mode::Architectural);
    run("mov_sr r2, sr_thread_id_x\niadd r3, r2, r0\n@p1 iadd r3, r3, r3").expect("it knows these");
    match run("mov_imm r2, 5\nisub r3, r2, r2") {
        Err(Disagreement::Differs { report, .. }) => {
            assert!(report.contains("isub r3, r2, r2: an illegal instruction"), "{report}")
        }
        other => panic!("{other:?}"),
    }
    // It supports aligned loads only.
    match run("mov_imm r2, 6\ndevice_load_u32 r3, r2") {
        Err(Disagreement::Differs { report, .. }) => assert!(report.contains("device_load_u32"), "{report}"),
        other => panic!("{other:?}"),
    }
}

/// A signal of the waveform of a bundle: its changes, as cycle and value.
fn changes(file: &Path, signal: &str) -> Vec<(u64, u64)> {
    let mut wave = wellen::simple::read(file).expect("a waveform");
    let hierarchy = wave.hierarchy();
    let named = |v: &wellen::VarRef| hierarchy[*v].full_name(hierarchy).ends_with(signal);
    let signal = hierarchy.all_vars().find(named).map(|v| hierarchy[v].signal_ref()).expect("the signal");
    wave.load_signals(&[signal]);
    let times = wave.time_table();
    let changes = wave.get_signal(signal).expect("the signal").iter_changes();
    let number = |text: Option<String>| u64::from_str_radix(&text.unwrap_or_default(), 2).expect("bits");
    changes.map(|(at, value)| (times[at as usize], number(value.to_bit_string()))).collect()
}

/// The program goes on when the window of the waveform ends.
#[test]
fn the_waveform_of_a_bundle_is_complete() {
    let Some(core) = tiny_core_with(&["--trace-fst"]) else { return };
    let directory = tempfile::tempdir().expect("a folder");
    let bundle = directory.path().join("failure");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.args(["cosim", "transpose_naive", "--core"]).arg(&core).arg("--bundle").arg(&bundle);
    let output = command.output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(bundle.join("README.md")).expect("the page");
    let (_, window) = page.split_once("| waveform of the other side, from cycle 0 to ").expect("its line");
    let until: u64 = window.split(';').next().and_then(|end| end.parse().ok()).expect("a number");
    let sequence = changes(&bundle.join("other.fst"), "tiny_core.pc");
    let (first, last) = (sequence.first().expect("a value").0, sequence.last().expect("a value").0);
    assert!(
        sequence.len() > 3 && first == 0 && (until - 30..=until).contains(&last),
        "{until}: {sequence:?}"
    );
    let files: Vec<_> = std::fs::read_dir(&bundle)
        .expect("the folder")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("a name"))
        .collect();
    assert!(files.iter().all(|name| !name.ends_with(".hier")), "{files:?}");
}

/// A core that hangs leaves half a waveform, which is not kept.
#[test]
fn half_a_waveform_is_not_kept() {
    let directory = tempfile::tempdir().expect("a folder");
    let core = directory.path().join("core.sh");
    let lines = "#!/bin/sh\nfor word in \"$@\"; do case \"$word\" in\n+fst+*) file=${word#+fst+*+*+}; echo half >$file; echo >$file.hier; \
                 exec sleep 100;;\nesac; done\nexit 1\n";
    std::fs::write(&core, lines).expect("a file");
    std::fs::set_permissions(&core, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let bundle = directory.path().join("failure");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.args(["cosim", "saxpy", "--timeout", "1", "--core"]).arg(&core).arg("--bundle").arg(&bundle);
    assert_eq!(command.output().expect("the program runs").status.code(), Some(1));
    assert!(!bundle.join("other.fst").exists() && !bundle.join("other.fst.hier").exists());
    let page = std::fs::read_to_string(bundle.join("README.md")).expect("the page");
    assert!(page.contains("no waveform: the other side does not come to its end"), "{page}");
}
