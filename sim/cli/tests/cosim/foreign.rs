//! A third-party core, attached as described in rtl-tests/README.md.

use crate::bench::{Case, root};
use crate::directed::kernel;
use std::path::PathBuf;
use std::process::Command;
use wave_verify::rtl::{self, Disagreement, Mode, Model};

/// `rtl-tests/example/tiny_core.sv` in the program of the test bench. `None` if the user skips the RTL tests.
fn tiny_core() -> Option<PathBuf> {
    if rtl::skipped() {
        return None;
    }
    let sources = ["example/tiny_core.sv", "bench/bench.cpp"];
    let model = Model {
        name: "tiny_core".to_owned(),
        top: "tiny_core".to_owned(),
        sources: sources.map(|file| rtl::directory().join(file)).to_vec(),
        includes: Vec::new(),
        arguments: ["-Wall", "--prefix", "Vwave_bench"].map(str::to_owned).to_vec(),
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
