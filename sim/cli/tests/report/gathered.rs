//! The data gathered of a run for its report.

use wave_isa::Inst;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunOptions};
use wave_machine::stats::{CoreCounters, SlotUse};
use wave_observe::energy::{Activity, Energy, Lines, Model, Prices};
use wave_study::launch::Job;
use wave_study::report::scope::Scope;
use wave_study::report::{Collector, Gathered};

/// Collects the data of some launches, with idle cycles skipped or visited.
fn gather<'a>(
    config: &'a Config,
    program: &'a Program,
    steps: &[Launch],
    memory: &[u8],
    every_cycle: bool,
) -> Gathered<'a> {
    let mut memory = memory.to_vec();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = Machine::new(config.clone(), program.clone(), memory);
    let mut collector = Collector::new(config, program, Scope::WHOLE);
    let (_, captured) = collector.capture();
    for launch in steps {
        collector.start(launch, &mut gpu);
        let options = RunOptions { every_cycle, ..RunOptions::UNBOUNDED };
        let ended = gpu.run(launch, &options, Some(&mut collector), &mut |_| {});
        collector.end(ended.as_ref());
    }
    collector.finish(&mut gpu, &captured)
}

fn of_the_suite(name: &str) -> Job {
    wave_study::launch::load(name, wave_study::launch::Size::Small).unwrap()
}

/// An addition that needs the results of a division and of a load that starts later.
const BOTH: &str = "\
.kernel both
.registers 16
.workgroup_size 8, 1, 1
    fdiv r9, r1, r1
    device_load_u32 r4, r3
    iadd r6, r9, r4
    halt
.end
";

/// A wait for memory names a memory instruction, and a wait for a unit names another one.
#[test]
fn every_wait_for_a_result_names_whose() {
    let launch = |kernel: usize, program: &Program| Launch {
        kernel,
        grid: [1; 3],
        workgroup: program.kernels[kernel].workgroup_size,
        registers: 16,
        local_memory_bytes: 0,
        initial_registers: Vec::new(),
    };
    let config = wave_machine::config::load("tiny.ron").unwrap();
    let both = wave_isa::program::assemble(BOTH, "both.wave").unwrap().0;
    let mut runs = vec![("both", both.clone(), vec![launch(0, &both)], Vec::new())];
    for name in ["spmv", "hgemm", "compact"] {
        let Job { program, steps, memory, .. } = of_the_suite(name);
        runs.push((name, program, steps, memory));
    }
    for (name, program, steps, memory) in runs {
        let gathered = gather(&config, &program, &steps, &memory, false);
        for (profile, kernel) in gathered.profiles().iter().zip(&program.kernels) {
            let accesses = |word: u32| {
                let inst = Inst::decode(&program.code[(kernel.code.start + word) as usize..]);
                inst.unwrap().op.memory().is_some()
            };
            let waits = |memory: bool| -> u64 {
                profile
                    .waits
                    .iter()
                    .filter(|((_, whose), _)| accesses(*whose) == memory)
                    .map(|(_, n)| n)
                    .sum()
            };
            let charged = |slot_use: SlotUse| -> u64 {
                profile.lines.iter().map(|line| line.slots[slot_use as usize]).sum()
            };
            assert!(charged(SlotUse::Memory) > 0, "{name}");
            assert_eq!(waits(true), charged(SlotUse::Memory), "{name}");
            assert_eq!(waits(false), charged(SlotUse::Scoreboard), "{name}");
        }
    }
}

#[test]
fn what_is_gathered_is_the_same_with_every_cycle_visited() {
    let config = wave_machine::config::load("tiny.ron").unwrap();
    for name in ["scan", "bfs"] {
        let Job { program, steps, memory, .. } = of_the_suite(name);
        let [skipping, visiting] =
            [false, true].map(|every| gather(&config, &program, &steps, &memory, every));
        assert_eq!(skipping.profiles(), visiting.profiles(), "{name}");
        assert_eq!(skipping.cores(), visiting.cores(), "{name}");
        let (a, b) = (skipping.windows.windows(), visiting.windows.windows());
        assert!((129..=257).contains(&a.len()), "{name}: {} windows", a.len());
        assert_eq!(a, b, "{name}");
        assert_eq!(skipping.windows.total(), visiting.windows.total(), "{name}");
    }
}

/// Energy by instruction: every lane, register and sector is charged to an instruction, and nothing is charged twice.
#[test]
fn instructions_are_charged_with_all_that_cores_do() {
    let config = wave_machine::config::load("tiny.ron").unwrap();
    let prices = Prices::built_in();
    let model = Model::new(&config, prices);
    for name in ["spmv", "hgemm", "compact", "reduction"] {
        let Job { program, steps, memory, .. } = of_the_suite(name);
        let gathered = gather(&config, &program, &steps, &memory, false);
        let mut memory = memory;
        memory.resize(config.device_memory_bytes as usize, 0);
        let mut gpu = Machine::new(config.clone(), program.clone(), memory);
        let mut total = Activity::default();
        let mut of_launches = 0.0;
        for launch in &steps {
            let report = gpu.run(launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).unwrap();
            of_launches += Energy::of(&config, &report, prices).total_joules();
            total.cycles += report.cycles;
            total.core += &report.core;
            total.l1 += &report.l1;
            total.memory += &report.memory;
        }
        let lines = Lines::of(&model, (&config, &program), &total, gathered.profiles());
        for ((declared, of_lines), in_all) in
            CoreCounters::DECLARED.iter().zip(lines.counted.core.values()).zip(total.core.values())
        {
            let by_line = ["lane", "register_", "words", "wave_instructions", "squashed"];
            if by_line.iter().any(|part| declared.name.contains(part)) {
                assert_eq!(of_lines, in_all, "{name}: {}", declared.name);
            }
        }
        assert_eq!(lines.counted.l1.requested_sectors, total.l1.requested_sectors, "{name}");
        let whole = model.energy(&total).total_joules();
        let charged: f64 = lines.lines.iter().map(|line| line.joules()).sum();
        assert!(lines.rest_joules > 0.0 && charged > 0.0, "{name}: {charged} of {whole}");
        assert!((charged + lines.rest_joules - whole).abs() < 1e-9 * whole, "{name}");
        assert!((of_launches - whole).abs() < 1e-9 * whole, "{name}: launches sum to the run");
    }
}
