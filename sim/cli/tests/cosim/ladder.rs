//! The ladder of rtl-tests/ladder: kernels for a core that can do little yet. Each needs a few instructions more than those
//! before it, and all fit the small core.

use crate::bench::{Case, config, root, script, small_config};
use std::collections::BTreeSet;
use wave_isa::Inst;
use wave_study::launch::{self, Job, Size};
use wave_testing::golden;
use wave_verify::reference::{self, Machine, Options};
use wave_verify::rtl::{Beginning, End};

/// The rungs in order: name and job.
fn rungs() -> Vec<(String, Job)> {
    let names = golden::cases("rtl-tests/ladder", &[]);
    assert!(names.len() >= 16, "{names:?}");
    let load = |name: String| {
        let path = root().join(format!("rtl-tests/ladder/{name}.ron"));
        let job =
            launch::load(&path.to_string_lossy(), Size::Small).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        (name, job)
    };
    names.into_iter().map(load).collect()
}

fn case(job: &Job) -> Case {
    assert_eq!(job.steps.len(), 1, "{}", job.name);
    Case {
        program: job.program.clone(),
        launch: job.steps[0].clone(),
        memory: job.memory.clone(),
        script: script(1, 2, 12),
        beginning: Beginning::default(),
        config: small_config(),
        max_cycles: 100_000,
    }
}

/// Names of the instructions of a kernel, in their order.
fn instructions(job: &Job) -> Vec<&'static str> {
    let code = &job.program.code;
    let mut names = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let inst = Inst::decode(&code[at..(at + 2).min(code.len())]).expect("an instruction");
        names.push(inst.op.info().mnemonic);
        at += inst.words() as usize;
    }
    names
}

#[test]
fn every_rung_agrees_in_both_modes() {
    for (_, job) in rungs() {
        Case { config: config(), ..case(&job) }.agrees();
    }
}

/// What a rung computes on the small machine is right: for its launch file, and for the reference interpreter.
#[test]
fn every_rung_has_the_result_of_the_reference() {
    let config = small_config();
    for (name, job) in rungs() {
        let case = case(&job);
        let mut expected = job.memory.clone();
        reference::run(
            &case.program,
            &case.launch,
            &Machine::of(&config),
            &Options::default(),
            &mut expected,
        )
        .unwrap_or_else(|stop| panic!("{name}: {stop}"));
        let End::Over(_, memory) = case.cosim(&[]).simulate(None).expect("it runs") else {
            panic!("{name} does not end");
        };
        assert_eq!(memory, expected, "{name}");
        assert_ne!(memory, job.memory, "{name} stores nothing");
        let verification = job.verify(&memory);
        assert!(!matches!(verification, launch::Verification::Failed { .. }), "{name}: {verification}");
    }
}

#[test]
fn the_page_says_what_each_rung_adds() {
    let mut known = BTreeSet::new();
    let mut table = "| rung | what it does | instructions that are new |\n|---|---|---|\n".to_owned();
    for (name, job) in rungs() {
        let mut new = instructions(&job);
        new.retain(|name| known.insert(*name));
        assert!(!new.is_empty() && new.len() <= 16, "{name}: {new:?}");
        let new: Vec<String> = new.iter().map(|name| format!("`{name}`")).collect();
        let what = &job.description;
        table += &format!("| {name} | {what} | {} |\n", new.join(", "));
    }
    golden::check_part("rtl-tests/README.md", "the ladder", &table);
}
