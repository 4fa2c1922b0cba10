//! ptxas accepts the PTX of every kernel.

use crate::operations;
use crate::suites;
use wave_ptx::{Arch, Options, SpecialFunctions, translate};
use wave_testing::ptxas::{assemble, find as ptxas};

/// Options in every way, each at least once.
fn ways() -> Vec<Options> {
    let plain = Options::default();
    let mut ways = vec![
        plain,
        Options { check_bounds: true, lane_order: true, ..plain },
        Options {
            special: SpecialFunctions::Hardware,
            aligned: true,
            relaxed: true,
            threads: Some(64),
            times: true,
            ..plain
        },
    ];
    ways.extend(Arch::ALL.map(|arch| Options { arch, ..plain }));
    ways
}

#[test]
fn every_kernel_of_the_suites_is_accepted() {
    let Some(ptxas) = ptxas() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut accepted = 0;
    for (number, name) in suites::names().into_iter().enumerate() {
        let job = suites::job(name);
        // Every kernel as it is by default, and in turn in the other ways.
        let ways = ways();
        for options in [ways[0], ways[1 + number % (ways.len() - 1)]] {
            let text = translate(&job.program, &suites::kernels(&job), &options);
            let text = text.unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            assemble(&ptxas, folder.path(), &text, options.arch.name)
                .unwrap_or_else(|said| panic!("{name}, {options:?}: {said}"));
        }
        accepted += job.program.kernels.len();
    }
    assert!(accepted >= 70, "{accepted} kernels");
}

#[test]
fn every_instruction_is_accepted_in_every_way() {
    let Some(ptxas) = ptxas() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = operations::every_operation();
    for options in ways() {
        let text = translate(&program, &[0], &options).expect("it has an equivalent");
        assemble(&ptxas, folder.path(), &text, options.arch.name)
            .unwrap_or_else(|said| panic!("{options:?}: {said}"));
    }
}

#[test]
fn a_wrong_text_is_seen() {
    let Some(ptxas) = ptxas() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        translate(&operations::every_operation(), &[0], &Options::default()).expect("it has an equivalent");
    let wrong = text.replacen("fma.rn.f32", "fma.rn.f33", 1);
    assert_ne!(wrong, text);
    assert!(assemble(&ptxas, folder.path(), &wrong, "sm_90").is_err());
}
