//! The suite in CUDA C++: as PTX, verified on the host.

use crate::machine::rendered;
use std::path::Path;
use wave_machine::config::Config;
use wave_machine::functional;
use wave_study::launch::{self, Size};

#[test]
fn every_kernel_gives_what_the_host_computes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/cuda");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of the suite")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .collect();
    files.sort();
    let names: Vec<String> = files
        .iter()
        .map(|file| format!("cuda/{}", file.file_stem().expect("a name").to_string_lossy()))
        .collect();
    let mut suite: Vec<&str> = launch::cuda_suite().collect();
    suite.sort_unstable();
    assert_eq!(names, suite);
    for file in files {
        let name = file.display().to_string();
        let job =
            launch::load(&name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", rendered(&errors)));
        let mut config = Config::example();
        config.core.wave_width = 32;
        config.capabilities.f64 = true;
        config.device_memory_bytes = 1 << 24;
        let mut memory = job.memory.clone();
        memory.resize(config.device_memory_bytes as usize, 0);
        for step in &job.steps {
            let mut step = step.clone();
            let bytes = memory.len() as u64;
            step.place_private(&job.program, 32, bytes, job.memory.len() as u64).expect("it fits");
            functional::run(
                &config,
                &job.program,
                &step,
                &mut memory,
                &functional::Limits::default(),
                &mut |_| {},
            )
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        }
        let verification = job.verify(&memory);
        assert!(verification.is_ok(), "{name}: {verification:?}");
    }
}
