//! Workgroups that run without timing in the middle of a launch: results, counts, what the L2 holds, who may not be left
//! out.

use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::{self, Config};
use wave_machine::gpu::{Machine, RunError, RunOptions, Skip, Stop};
use wave_machine::stats::CoreCounters;

/// Each workgroup adds 1 to the word at 0 and to one of the words from 64 on, and stores its number at 4096 + 4 n.
const COUNT: &str = "
    mov_sr  r0, sr_workgroup_id_x
    mov_imm r1, 0
    mov_imm r2, 1
    atomic_add r3, r1, r2, .device
    mov_imm r4, 7
    and     r4, r0, r4
    mov_imm r5, 2
    shl     r4, r4, r5
    mov_imm r6, 64
    iadd    r4, r4, r6
    atomic_add r3, r4, r2, .device
    shl     r7, r0, r5
    mov_imm r6, 4096
    iadd    r7, r7, r6
    device_store_u32 r7, r0
";

const WORKGROUPS: u32 = 400;

fn machine(body: &str, config: &Config) -> (Machine, Launch) {
    let text = format!(".kernel k\n.registers 16\n.workgroup_size 1, 1, 1\n{body}\n.end\n");
    let (program, _): (Program, _) =
        assemble(&text, "k.wave").unwrap_or_else(|errors| panic!("{}", errors[0].render(false)));
    let launch = Launch::of(&program, 0, [WORKGROUPS, 1, 1]);
    (Machine::new(config.clone(), program, vec![0; 65536]), launch)
}

fn word(memory: &[u8], address: usize) -> u32 {
    u32::from_le_bytes(memory[address..][..4].try_into().unwrap())
}

/// Simulates until so many workgroups have ended.
fn until(machine: &mut Machine, workgroups: u64) {
    while machine.workgroups().unwrap().0 < workgroups {
        let next = machine.now() + 16;
        assert!(matches!(machine.advance(next, None), Ok(Stop::Cycle)));
    }
}

/// The end of a launch of [`COUNT`] of which `skipped` workgroups are left out behind the first `before`: counted
/// instructions and workgroups with timing and without, and memory.
fn with_skip(config: &Config, before: u64, skipped: u64) -> ([u64; 4], Vec<u8>) {
    let (mut machine, launch) = machine(COUNT, config);
    machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
    until(&mut machine, before);
    let Ok(Skip::Done(counted)) = machine.skip(skipped, &mut |_| true, &mut |_| {}) else {
        panic!("nobody waits")
    };
    let Ok(Stop::Ended(report)) = machine.advance(u64::MAX, None) else { panic!("it ends") };
    let counts = [
        report.core.wave_instructions,
        counted.wave_instructions,
        report.core.workgroups,
        counted.workgroups,
    ];
    (counts, machine.into_memory())
}

#[test]
fn every_workgroup_runs_once_and_all_see_what_the_others_have_written() {
    let write_back = |config: &mut Config| config.core.l1.write_policy = config::WritePolicy::WriteBack;
    let as_it_is = |_: &mut Config| {};
    for changed in [as_it_is as fn(&mut Config), write_back] {
        let mut config = config::load("tiny").expect("a preset");
        changed(&mut config);
        for (before, skipped) in [(0, 100), (37, 200), (100, 1), (200, u64::MAX)] {
            let ([timed, untimed, simulated, left_out], memory) = with_skip(&config, before, skipped);
            assert_eq!(simulated + left_out, u64::from(WORKGROUPS), "{before}, {skipped}");
            assert!(left_out > 0 && (skipped == u64::MAX || left_out == skipped));
            assert_eq!(timed + untimed, 15 * u64::from(WORKGROUPS));
            assert_eq!(untimed, 15 * left_out);
            // The words that all add to go from the L2 to memory and back, dirty.
            assert_eq!(word(&memory, 0), WORKGROUPS);
            for at in 0..8 {
                assert_eq!(word(&memory, 64 + 4 * at), WORKGROUPS / 8, "word {at}");
            }
            for n in 0..WORKGROUPS {
                assert_eq!(word(&memory, 4096 + 4 * n as usize), n);
            }
        }
    }
}

#[test]
fn what_is_not_accepted_has_not_happened() {
    let config = config::load("tiny").expect("a preset");
    let (mut machine, launch) = machine(COUNT, &config);
    let (mut alone, _) = self::machine(COUNT, &config);
    for machine in [&mut machine, &mut alone] {
        machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
        until(machine, 37);
    }
    let mut counted = 0;
    let mut refuses = |counters: &CoreCounters| {
        counted = counters.workgroups;
        false
    };
    assert_eq!(machine.skip(200, &mut refuses, &mut |_| {}).unwrap(), Skip::Refused);
    assert_eq!(counted, 200);
    let [refused, alone] = [machine, alone].map(|mut machine| {
        let Ok(Stop::Ended(report)) = machine.advance(u64::MAX, None) else { panic!("it ends") };
        (report, machine.into_memory())
    });
    assert_eq!(refused.0, alone.0);
    assert!(refused.1 == alone.1, "another memory");
}

#[test]
fn the_l2_holds_what_was_left_out() {
    let config = config::load("tiny").expect("a preset");
    let (mut machine, launch) = machine(COUNT, &config);
    machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
    until(&mut machine, 10);
    machine.skip(300, &mut |_| true, &mut |_| {}).unwrap();
    // Workgroups from 64 on store a whole line. None of them was simulated.
    let lines = |machine: &Machine, slice| machine.l2_lines(slice);
    let found: Vec<_> = (0..config.l2.slices as usize).flat_map(|slice| lines(&machine, slice)).collect();
    let line = found.iter().find(|line| line.address == 4096 + 256).expect("the line is in the L2");
    let core = &config.core;
    let sectors = core.l1.line_bytes / core.l1.sector_bytes;
    let whole = (u128::MAX >> (128 - core.l1.line_bytes), u8::MAX >> (8 - sectors));
    assert_eq!((line.dirty, line.valid), whole);
    assert_eq!(word(&line.data, 4 * 5), 64 + 5);
}

#[test]
fn workgroups_that_wait_for_others_are_not_left_out() {
    // Workgroup n waits until the word at 0 is n, and makes it n + 1.
    let in_order = "
        mov_sr  r0, sr_workgroup_id_x
        mov_imm r1, 0
        mov_imm r2, 1
        loop
            atomic_add r3, r1, r1, .device
            icmp_eq p1, r3, r0
            break   p1
        endloop
        atomic_add r3, r1, r2, .device
    ";
    let config = config::load("tiny").expect("a preset");
    let (mut machine, launch) = machine(in_order, &config);
    machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
    until(&mut machine, 10);
    let now = machine.now();
    assert_eq!(machine.skip(100, &mut |_| true, &mut |_| {}).unwrap(), Skip::Waits);
    assert_eq!(machine.now(), now);
    // What they have done meanwhile is taken back, and the launch goes on.
    assert!(matches!(machine.advance(u64::MAX, None), Ok(Stop::Ended(_))));
    assert_eq!(word(&machine.into_memory(), 0), WORKGROUPS);
}

#[test]
fn a_fault_of_a_workgroup_that_is_left_out_has_no_cycle() {
    let fails = "
        mov_sr  r0, sr_workgroup_id_x
        mov_imm r1, 200
        icmp_eq p1, r0, r1
        mov_imm r2, 0x7ffffff0
        @p1 device_load_u32 r3, r2
    ";
    let config = config::load("tiny").expect("a preset");
    let (mut machine, launch) = machine(fails, &config);
    machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
    until(&mut machine, 10);
    let Err(RunError::Fault(fault)) = machine.skip(300, &mut |_| true, &mut |_| {}) else {
        panic!("workgroup 200 fails")
    };
    assert_eq!((fault.workgroup, fault.cycle), ([200, 0, 0], None));
}
