//! Golden traces in `traces/`. `UPDATE=1 cargo test --test traces` rewrites them.

use super::golden;
use super::record::{Traced, read};
use wave_isa::program::{Launch, Program, load};
use wave_machine::config::{self, Config};
use wave_observe::trace::{Form, Window};
use wave_verify::generate::{Options, grow};
use wave_verify::reference::Machine;
use wave_verify::replay::{Loads, replay};

/// Kernels, each with its number of workgroups and the check of its loads. The atomics of `memory` return
/// values that depend on the order of its waves.
const KERNELS: [(&str, u32, Loads); 3] =
    [("branches", 2, Loads::Checked), ("memory", 1, Loads::Taken), ("arithmetic", 1, Loads::Checked)];

fn work(name: &str, workgroups: u32) -> (Config, Program, Launch, Vec<u8>) {
    let config = config::load("rtl.ron").unwrap();
    let program = load(&golden::root().join(format!("traces/{name}.wave"))).unwrap();
    let kernel = &program.kernels[0];
    let launch = Launch {
        kernel: 0,
        grid: [workgroups, 1, 1],
        workgroup: kernel.workgroup_size,
        registers: kernel.registers,
        local_memory_bytes: kernel.local_memory_bytes,
        initial_registers: vec![(0, 0x400)],
    };
    let memory = (0..config.device_memory_bytes).map(|at| (at * 7 + at / 256) as u8).collect();
    (config, program, launch, memory)
}

#[test]
fn traces_of_small_kernels_are_as_before() {
    for (name, workgroups, _) in KERNELS {
        let (config, program, launch, memory) = work(name, workgroups);
        let text = Traced { form: Form::Text, ..Traced::new(&config, &program, &[launch], &memory) }.bytes();
        golden::check(&format!("traces/{name}.txt"), &String::from_utf8(text).unwrap());
    }
}

#[test]
fn both_forms_hold_the_same_and_visiting_every_cycle_does_not_show() {
    for (name, workgroups, _) in KERNELS {
        let (config, program, launch, memory) = work(name, workgroups);
        let steps = [launch.clone(), launch];
        let run = Traced::new(&config, &program, &steps, &memory);
        let binary = run.bytes();
        let stepping = Traced { every_cycle: true, ..run }.bytes();
        assert!(binary == stepping, "{name}");
        let text = Traced { form: Form::Text, ..run }.bytes();
        assert_eq!(read(&binary), read(&text), "{name}");
    }
}

/// When one core faults, other cores have simulated further, and the binary form is written before the fault
/// is known.
#[test]
fn both_forms_hold_the_same_of_a_fault_and_of_a_window() {
    let mut faults = 0;
    for seed in 0..10 {
        let mut config = config::load("tiny").unwrap();
        config.cores = 4;
        let case = grow(seed, &Options { fault: true, ..Options::of(&config) }).case();
        let steps = [case.launch.clone()];
        let written = |form, window| {
            Traced { form, ..Traced::new(&config, &case.program, &steps, &case.memory) }.window(window)
        };
        let (_, all) = read(&written(Form::Text, Window::ALL));
        let last = all[0].1.last().map_or(0, |record| record.cycle);
        faults += usize::from(all[0].1.iter().any(|record| record.open));
        for cycles in [0..u64::MAX, last / 3..last * 2 / 3, last..u64::MAX, 0..last] {
            for waves in [vec![], vec![(0..2, 1..2)]] {
                let window = Window { cycles: cycles.clone(), waves };
                let (binary, text) = (written(Form::Binary, window.clone()), written(Form::Text, window));
                assert_eq!(read(&binary), read(&text), "seed {seed}, {cycles:?}");
            }
        }
    }
    assert!(faults > 3, "{faults}");
}

#[test]
fn the_interpreter_agrees_with_them() {
    for (name, workgroups, loads) in KERNELS {
        let (config, program, launch, mut memory) = work(name, workgroups);
        let (header, launches) = read(&Traced::new(&config, &program, &[launch], &memory).bytes());
        let [(launched, records)] = launches.as_slice() else { panic!("one launch") };
        let checked = replay(&header, launched, records, &Machine::of(&config), loads, &mut memory)
            .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        assert!(checked >= if name == "arithmetic" { 1 } else { 40 }, "{name}: {checked}");
    }
}
