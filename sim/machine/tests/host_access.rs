//! A host between launches: it changes device memory that the caches hold, and adds kernels.

use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunOptions};

/// A kernel that adds a number to the word at byte 0.
fn adds(name: &str, number: u32) -> Program {
    let text = format!(
        ".kernel {name}\n.registers 4\n.workgroup_size 1, 1, 1\nmov_imm r0, 0\ndevice_load_u32 r1, r0\n\
         mov_imm r2, {number}\niadd r1, r1, r2\ndevice_store_u32 r0, r1\nhalt\n.end\n"
    );
    assemble(&text, "k.wave").expect("a program").0
}

fn run(machine: &mut Machine, kernel: usize) -> u64 {
    let launch = Launch::of(&machine.program().clone(), kernel, [1, 1, 1]);
    machine.run(&launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).expect("it ends").cycles
}

fn word(machine: &mut Machine) -> u32 {
    u32::from_le_bytes(machine.memory()[..4].try_into().expect("a word"))
}

#[test]
fn a_kernel_sees_what_the_host_has_written_over_lines_of_the_caches() {
    let mut machine = Machine::new(Config::example(), adds("a", 1), vec![0; 4096]);
    let first = run(&mut machine, 0);
    assert_eq!(word(&mut machine), 1);
    // The line is dirty in the L2.
    let before = machine.with_memory(|memory| std::mem::replace(&mut memory[0], 40));
    assert_eq!((before, word(&mut machine)), (1, 40));
    let second = run(&mut machine, 0);
    assert_eq!(word(&mut machine), 41);
    assert!(second < first, "the L2 has the line still: {first}, {second}");
}

#[test]
fn caches_are_emptied_and_nothing_is_lost() {
    for banks in [0, 65_536] {
        let mut config = Config::example();
        config.l3.bank_bytes = banks;
        let mut machine = Machine::new(config, adds("a", 1), vec![0; 4096]);
        let first = run(&mut machine, 0);
        let warm = run(&mut machine, 0);
        machine.empty_caches();
        let cold = run(&mut machine, 0);
        assert_eq!(word(&mut machine), 3);
        assert!(warm < cold && cold.abs_diff(first) < 100, "{first}, {warm}, {cold}");
    }
}

#[test]
fn added_kernels_run_beside_the_old_ones_and_the_caches_stay() {
    let mut linked = adds("a", 1);
    let mut machine = Machine::new(Config::example(), linked.clone(), vec![0; 4096]);
    run(&mut machine, 0);
    let again = run(&mut machine, 0);
    assert_eq!(linked.append(&adds("b", 10)), 1);
    machine.extend(linked);
    let added = run(&mut machine, 1);
    assert_eq!(word(&mut machine), 12);
    // The old kernel is where it was, with its code in the L2. That of the new one lies in the same line.
    assert_eq!((run(&mut machine, 0), added), (again, again));
    assert_eq!(word(&mut machine), 13);
}

#[test]
#[should_panic(expected = "the old code stays where it is")]
fn a_program_that_begins_with_other_code_is_refused() {
    let mut machine = Machine::new(Config::example(), adds("a", 1), vec![0; 4096]);
    machine.extend(adds("b", 2));
}
