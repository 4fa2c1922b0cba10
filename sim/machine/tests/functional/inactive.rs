//! Regions that no lane executes: they cost no time, and count as on the cores.

use super::{kernel, tiny};
use std::time::Instant;
use wave_machine::config::{Config, DivergenceMode};
use wave_machine::functional::{Execution, ExecutionStop, Limits, Report, Until};
use wave_machine::gpu::{Machine, RunOptions};

/// A machine that walks.
fn walking() -> Config {
    let mut config = tiny();
    config.core.divergence = DivergenceMode::Walk;
    config
}

/// So many rounds. No lane takes the outer `if`, which has so many instructions, a loop and another `if` inside.
fn skipping(rounds: u32, instructions: usize) -> super::Kernel {
    let inside = "iadd r4, r4, r1\n".repeat(instructions / 2);
    let body = format!(
        "mov_imm r1, 1\nmov_imm r2, {rounds}\nmov_imm r7, 0\nloop\n\
         iadd r3, r3, r1\nicmp_gt p1, r3, r2\nbreak p1\nicmp_eq p2, r3, r7\n\
         if p2\n{inside}loop\nif p2\nmov_imm r5, 7\nelse\nnop\nendif\nbreak p2\nendloop\n{inside}\
         else\niadd r6, r6, r1\nendif\nendloop\nhalt"
    );
    kernel(&body, 2, 12)
}

#[test]
fn counts_are_those_of_the_cores_that_walk_and_that_jump() {
    for (divergence, squashed) in [(DivergenceMode::Walk, true), (DivergenceMode::Jump, false)] {
        let mut config = tiny();
        config.core.divergence = divergence;
        let kernel = skipping(10, 40);
        let report = kernel.run(&config, &mut [0; 4096]).unwrap();
        let mut machine = Machine::new(config, kernel.program.clone(), vec![0; 4096]);
        let timed = machine.run(&kernel.launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).unwrap();
        assert_eq!(report.values(), Report { counters: timed.core }.values(), "{divergence:?}");
        assert_eq!(report.counters.squashed_instructions > 4 * 10 * 40, squashed);
    }
}

/// A run to a nominal cycle stands there, also in the midst of a region.
#[test]
fn a_nominal_cycle_may_lie_in_a_region() {
    let (config, kernel) = (walking(), skipping(3, 20));
    let begin = || Execution::new(&config, &kernel.program, &kernel.launch).unwrap();
    let advance = |execution: &mut Execution, cycle| {
        execution.advance(&mut [0; 4096], Until::Cycle(cycle), &Limits::default(), &mut |_| {}).unwrap()
    };
    let (mut slow, mut inside) = (begin(), 0);
    for cycle in 1.. {
        let stop = advance(&mut slow, cycle);
        let mut fast = begin();
        assert_eq!(advance(&mut fast, cycle), stop);
        assert_eq!(fast.report(), slow.report(), "cycle {cycle}");
        for ((_, fast), (_, slow)) in fast.residents().zip(slow.residents()) {
            for (fast, slow) in fast.waves.iter().zip(&slow.waves) {
                assert_eq!((fast.word, fast.cycle), (slow.word, slow.cycle), "cycle {cycle}");
                assert_eq!((&fast.control, &fast.registers), (&slow.control, &slow.registers), "{cycle}");
                inside += usize::from(fast.control.live != 0 && fast.control.active == 0);
            }
        }
        if stop == ExecutionStop::End {
            break;
        }
    }
    assert!(inside > 100, "{inside} waves in a region");
}

/// Two thousand million squashed instructions, more than a minute if each were executed.
#[test]
fn a_region_takes_no_time() {
    let (rounds, instructions) = (100_000, 5_000);
    let start = Instant::now();
    let kernel = skipping(rounds, instructions);
    let limits = Limits::default();
    let mut execution = Execution::new(&walking(), &kernel.program, &kernel.launch).unwrap();
    execution.advance(&mut [0; 4096], Until::End, &limits, &mut |_| {}).unwrap();
    let counters = execution.report().counters;
    assert!(counters.squashed_instructions > 4 * u64::from(rounds) * instructions as u64, "{counters:?}");
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}
