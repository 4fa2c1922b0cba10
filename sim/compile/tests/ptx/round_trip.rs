//! The suites in WAVE assembly and in WGSL, translated to PTX and read again: the same results.

use crate::machine::{config, program, rendered};
use wave_isa::program::Launch;
use wave_machine::functional;
use wave_ptx::{Memory, Options, parameters, translate};
use wave_study::launch::{self, Size};

/// Runs a launch file by way of PTX. `None` if its kernels have no PTX.
fn there_and_back(name: &str) -> Option<Result<(), String>> {
    let job =
        launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", rendered(&errors)));
    let mut config = config();
    config.capabilities.f64 = true;
    let kernels: Vec<usize> = (0..job.program.kernels.len()).collect();
    let text = translate(&job.program, &kernels, &Options::default()).ok()?;
    let read = match program(&text) {
        Ok((read, _)) => read,
        Err(errors) => return Some(Err(rendered(&errors))),
    };
    let module = read.module.as_ref().expect("what is compiled has a module");
    // The tables of the translation come first, then the memory of the original.
    let start = module.data_end.next_multiple_of(256) as usize;
    let mut memory = vec![0; start + job.memory.len() + (32 << 20)];
    module.place_data(&mut memory).expect("it fits");
    memory[start..start + job.memory.len()].copy_from_slice(&job.memory);
    let original_bytes = memory.len() - start;
    config.device_memory_bytes = memory.len() as u64;
    for step in &job.steps {
        let kernel = &job.program.kernels[step.kernel];
        let mut original = step.clone();
        let used = job.memory.len() as u64;
        original.place_private(&job.program, 32, original_bytes as u64, used).expect("it fits");
        let given = Memory { start: start as u64, bytes: original_bytes as u64, fault: 0, times: None };
        let words = parameters(&original, kernel.registers, &given);
        let words =
            words.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let number =
            read.kernel_named(&wave_ptx::entry_name(&kernel.name)).expect("an entry for each kernel");
        let mut launch = Launch { kernel: number, ..original.clone() };
        launch.registers = read.kernels[number].registers;
        // Threads lie in a row there, whole warps of them.
        launch.workgroup = [(launch.threads() as u32).next_multiple_of(32), 1, 1];
        launch.initial_registers = (0..=u8::MAX).zip(words).collect();
        let bytes = memory.len() as u64;
        if let Err(error) = launch.place_private(&read, 32, bytes, (start + job.memory.len()) as u64) {
            return Some(Err(error.render(false)));
        }
        let limits = functional::Limits::default();
        if let Err(error) = functional::run(&config, &read, &launch, &mut memory, &limits, &mut |_| {}) {
            return Some(Err(format!("{error:?}")));
        }
    }
    let verification = job.verify(&memory[start..]);
    Some(if verification.is_ok() { Ok(()) } else { Err(format!("{verification:?}")) })
}

#[test]
fn suites_give_the_same_by_way_of_ptx() {
    // It takes minutes: its registers do not suffice, and most of its time goes into spilled values.
    let is_quick = |name: &&str| *name != "wgsl/attention";
    let all = launch::suite().chain(launch::wgsl_suite()).chain(launch::c_suite());
    let names: Vec<&str> = all.filter(is_quick).collect();
    let (mut equal, mut without, mut wrong) = (0, Vec::new(), Vec::new());
    for name in names {
        match there_and_back(name) {
            Some(Ok(())) => equal += 1,
            Some(Err(why)) => wrong.push(format!("{name}: {}", why.chars().take(600).collect::<String>())),
            None => without.push(name),
        }
    }
    println!("{equal} equal; without PTX: {without:?}");
    assert!(wrong.is_empty(), "{equal} equal, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(equal >= 60, "{equal} equal; without PTX: {without:?}");
}
