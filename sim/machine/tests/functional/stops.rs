//! Runs that stop on the way: at a bound, at a nominal cycle, in front of an instruction; and go on from there.

use super::{kernel, tiny, word};
use std::sync::atomic::AtomicBool;
use wave_machine::config;
use wave_machine::functional::{Doing, Execution, ExecutionError, ExecutionStop, Limits, Report, Until};
use wave_machine::gpu::{Machine, RunOptions};
use wave_study::launch::{self, Job, Size};

/// Runs the first launch of a job in pieces that end at these nominal cycles, and returns device memory.
fn in_pieces(machine: &str, job: &Job, cycles: impl Iterator<Item = u64>) -> Vec<u8> {
    let config = config::load(machine).expect("a preset");
    let mut memory = job.memory.clone();
    let mut execution = Execution::new(&config, &job.program, &job.steps[0]).expect("it fits");
    let mut ends = Vec::new();
    for cycle in cycles {
        let until = Until::Cycle(cycle);
        match execution.advance(&mut memory, until, &Limits::default(), &mut |_| {}).expect("it goes on") {
            ExecutionStop::End => return memory,
            stop => ends.push(stop),
        }
        for (_, workgroup) in execution.residents() {
            for wave in workgroup.waves.iter() {
                assert!(wave.cycle <= cycle, "cycle {} of {cycle}", wave.cycle);
                assert!(wave.doing != Doing::Runs || wave.cycle == cycle, "cycle {} of {cycle}", wave.cycle);
            }
        }
    }
    assert!(ends.iter().all(|&stop| stop == ExecutionStop::Cycle));
    // It goes on from a copy as well as from the original.
    let mut other = (execution.clone(), memory.clone());
    execution.advance(&mut memory, Until::End, &Limits::default(), &mut |_| {}).expect("it ends");
    other.0.advance(&mut other.1, Until::End, &Limits::default(), &mut |_| {}).expect("it ends");
    assert!(other.1 == memory && other.0.report() == execution.report());
    memory
}

#[test]
fn a_run_in_pieces_has_the_same_results() {
    for name in ["vector_add", "reduction", "histogram", "sgemm", "mandelbrot", "softmax"] {
        let mut job = launch::load(name, Size::Small).expect("a kernel of the suite");
        job.steps.truncate(1);
        for machine in ["gpu", "tiny"] {
            let whole = in_pieces(machine, &job, std::iter::empty());
            assert!(in_pieces(machine, &job, (0..40).map(|n| 7 * n)) == whole, "{name} on {machine}");
            assert!(in_pieces(machine, &job, [1, 100, 1000].into_iter()) == whole, "{name} on {machine}");
        }
    }
}

/// In each nominal cycle every wave executes an instruction, on all places of the machine.
#[test]
fn a_nominal_cycle_is_an_instruction_of_every_resident_wave() {
    let kernel = kernel(
        "mov_imm r1, 1\nmov_imm r2, 2\nloop\niadd r3, r3, r1\nicmp_ge p1, r3, r2\nbreak p1\nendloop\nhalt",
        20,
        24,
    );
    let config = tiny();
    let mut execution = Execution::new(&config, &kernel.program, &kernel.launch).unwrap();
    let stop = execution.advance(&mut [0; 4096], Until::Cycle(3), &Limits::default(), &mut |_| {});
    assert_eq!(stop, Ok(ExecutionStop::Cycle));
    let residents: Vec<_> = execution.residents().collect();
    assert_eq!(residents.len(), 8, "four in each of two cores");
    assert_eq!(execution.started(), (8, 20));
    for (number, (place, workgroup)) in residents.into_iter().enumerate() {
        assert_eq!((place, workgroup.id), (number, [number as u32, 0, 0]));
        for wave in &workgroup.waves {
            // In front of the `iadd`: `mov_imm` has two words, `loop` one.
            assert_eq!((wave.word, wave.cycle, wave.doing), (5, 3, Doing::Runs));
            assert_eq!((wave.registers[8], wave.registers[16], wave.registers[24]), (1, 2, 0));
            assert_eq!(wave.control.frames().len(), 1);
        }
    }
}

#[test]
fn a_run_stops_in_front_of_an_instruction_each_time_that_a_wave_comes_to_it() {
    let kernel =
        kernel("mov_imm r1, 1\nnop\niadd r2, r2, r1\nmov_imm r3, 0\ndevice_store_u32 r3, r2\nhalt", 2, 16);
    let config = tiny();
    let mut execution = Execution::new(&config, &kernel.program, &kernel.launch).unwrap();
    let mut memory = [0; 4096];
    let mut advance = |until| execution.advance(&mut memory, until, &Limits::default(), &mut |_| {}).unwrap();
    // The `iadd` is the fourth word.
    let mut stops: Vec<ExecutionStop> = Vec::new();
    loop {
        match advance(Until::Pc(12)) {
            ExecutionStop::End => break,
            stop => stops.push(stop),
        }
    }
    let waves = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let expected = waves.map(|(group, wave)| ExecutionStop::Pc { workgroup: [group, 0, 0], wave });
    stops.sort_by_key(|stop| format!("{stop:?}"));
    assert_eq!(stops, expected);
    assert_eq!(word(&memory, 0), 1);
    // An instruction that no wave reaches, and an offset that is none.
    for pc in [4, 13, 0xFFFF_FFFC] {
        let mut execution = Execution::new(&config, &kernel.program, &kernel.launch).unwrap();
        assert_eq!(
            execution.advance(&mut memory, Until::Pc(pc), &Limits::default(), &mut |_| {}),
            Ok(ExecutionStop::End)
        );
    }
}

#[test]
fn the_bound_of_instructions_is_exact_and_a_run_goes_on_behind_it() {
    let kernel = kernel("mov_imm r1, 1\nloop\niadd r2, r2, r1\nendloop", 1, 8);
    let config = tiny();
    let mut execution = Execution::new(&config, &kernel.program, &kernel.launch).unwrap();
    for bound in [0, 1, 2, 1000, 1001, 5000] {
        let limits = Limits { max_instructions: Some(bound), ..Limits::default() };
        let Err(ExecutionError::InstructionLimit(at)) =
            execution.advance(&mut [0; 4096], Until::End, &limits, &mut |_| {})
        else {
            panic!("it ended")
        };
        assert_eq!((at.instructions, at.workgroups), (bound, (0, 1)));
    }
    assert_eq!(execution.report().counters.wave_instructions, 5000);
    // A kernel that needs no more than the bound ends.
    let short = super::kernel("nop\nnop\nhalt", 1, 8);
    let limits = Limits { max_instructions: Some(3), ..Limits::default() };
    let mut execution = Execution::new(&config, &short.program, &short.launch).unwrap();
    assert_eq!(execution.advance(&mut [0; 4096], Until::End, &limits, &mut |_| {}), Ok(ExecutionStop::End));
}

#[test]
fn a_flag_stops_a_run() {
    static STOP: AtomicBool = AtomicBool::new(true);
    let kernel = kernel("loop\niadd r2, r2, r1\nendloop", 1, 8);
    let mut execution = Execution::new(&tiny(), &kernel.program, &kernel.launch).unwrap();
    let limits = Limits { stop: Some(&STOP), ..Limits::default() };
    let ended = execution.advance(&mut [0; 4096], Until::End, &limits, &mut |_| {});
    assert!(matches!(ended, Err(ExecutionError::Interrupted(at)) if at.instructions < 100_000));
}

/// The end of the code is no instruction.
#[test]
fn code_that_ends_without_halt_counts_as_on_the_cores() {
    let kernel = kernel("mov_sr r1, sr_lane_id\nicmp_eq p1, r1, r2\n@p1 halt\n@p1 nop\nnop", 3, 20);
    let report = kernel.run(&tiny(), &mut [0; 4096]).unwrap();
    let mut machine = Machine::new(tiny(), kernel.program.clone(), vec![0; 4096]);
    let timed = machine.run(&kernel.launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).unwrap();
    assert_eq!(report.values(), Report { counters: timed.core }.values());
    assert_eq!(report.counters.squashed_instructions, 9);
}
