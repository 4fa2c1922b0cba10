//! A memory side whose replies to different lines overtake one another.

use super::{kernel, kernels};
use crate::bench::{Case, script};
use wave_machine::memory::Script;

fn overtaking(case: Case, seed: u32, from: u32, to: u32) -> Case {
    Case { script: Script { overtakes: true, ..script(seed, from, to) }, ..case }
}

#[test]
fn directed_kernels_agree_when_replies_overtake_one_another() {
    for (place, (name, lines)) in kernels().enumerate() {
        println!("{name}");
        let text = kernel(lines);
        overtaking(Case::of(&text, 61), place as u32, 1, 90).agrees();
        overtaking(Case::of(&text, 24).grid([3, 2, 2]), place as u32, 1, 20).agrees();
    }
}

/// Loads of several lines, each in a latency of its own.
fn loads() -> Case {
    let loads: Vec<String> = (0..6)
        .map(|i| format!("mov_imm r{}, {}\ndevice_load_u32 r{}, r{}\n", 2 + i, 64 * i, 10 + i, 2 + i))
        .collect();
    Case::of(&kernel(&loads.concat()), 8)
}

/// Lines of code come with the latencies, too: an early one is not held up by a late line of data.
#[test]
fn replies_do_overtake_one_another() {
    let slow = |overtakes| {
        let latencies = vec![3, 3, 400, 3, 3, 3];
        Case { script: Script { latencies, overtakes, ..script(1, 2, 12) }, ..loads() }
    };
    let (in_order, out_of_order) = (slow(false).agrees(), slow(true).agrees());
    if !wave_verify::rtl::skipped() {
        assert_ne!(in_order, out_of_order);
    }
}

/// Accesses to one line come back in order, whatever they are.
#[test]
fn replies_to_one_line_stay_in_order() {
    let text = "mov_imm r2, 128\ndevice_load_u32.uncached r3, r2\natomic_add r4, r2, r1, .device\n\
                device_load_u32.uncached r5, r2\ndevice_store_u32 r2, r1\natomic_exchange r6, r2, r2, .system\n\
                device_load_u32 r7, r2\nfence_release .system\ndevice_load_u32.uncached r8, r2";
    for seed in 0..4 {
        overtaking(Case::of(&kernel(text), 32), seed, 1, 60).agrees();
    }
}
