//! Accesses to neighbouring words, which become wide ones: random sequences over few words, with two bases that may be
//! near each other.

use crate::machine::{Size, compiled, execute, interpret, listing, preset};
use rand::{RngExt, SeedableRng};
use std::fmt::Write;
use wave_compile::Options;
use wave_compile::ir::{Constant, Module, text};
use wave_testing::environment;

/// A kernel without branches: loads and stores at `base + 4 k` and `base + distance + 4 k` in device and local memory,
/// where base belongs to the thread and the distance is an argument. The sum of what was loaded goes to memory.
fn kernel(seed: u64) -> (Module, String) {
    let mut random = rand_pcg::Pcg32::seed_from_u64(seed);
    let mut text =
        "memory mem0 device 1\nmemory mem1 local 1\nfunction f0 \"k\" (i32) -> () {\nb0(v0: i32):\n"
            .to_owned();
    text += "    v1: i32 = special sr_thread_id_x\n    v2: i32 = const.i32 128\n    v3: i32 = mul v1, v2\n";
    text += "    v4: i32 = add v3, v0\n    v5: i32 = const.i32 64\n    v6: i32 = add v3, v5\n    v7: i32 = add v6, v1\n";
    // Local memory holds what nobody has written until then.
    for word in 0..16 {
        _ = writeln!(text, "    store.i32 mem1[v3 + {}], v7", 4 * word);
    }
    let mut next = 8;
    let mut values = vec![1, 7];
    for _ in 0..random.random_range(2..40) {
        let memory = ["mem0", "mem0", "mem1"][random.random_range(0..3)];
        let base = if memory == "mem0" { [3, 4, 6][random.random_range(0..3)] } else { 3 };
        let offset = 4 * random.random_range(0..8) + if random.random_bool(0.1) { 2 } else { 0 };
        let value = values[random.random_range(0..values.len())];
        match random.random_range(0..10) {
            0..5 => {
                _ = writeln!(text, "    v{next}: i32 = load.i32 {memory}[v{base} + {offset}]");
                values.push(next);
                next += 1;
            }
            5..8 => _ = writeln!(text, "    store.i32 {memory}[v{base} + {offset}], v{value}"),
            8 => {
                let other = values[random.random_range(0..values.len())];
                _ = writeln!(text, "    v{next}: i32 = add v{value}, v{other}");
                values.push(next);
                next += 1;
            }
            _ => _ = writeln!(text, "    store.i32.u8 {memory}[v{base} + {offset}], v{value}"),
        }
    }
    let mut sum = 1;
    for value in values {
        _ = writeln!(text, "    v{next}: i32 = xor v{sum}, v{value}");
        sum = next;
        next += 1;
    }
    _ = writeln!(text, "    store.i32 mem0[v3 + 120], v{sum}\n    return\n}}");
    let module =
        text::parse(&text, "random.ir").unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)));
    (module, text)
}

#[test]
fn random_accesses_of_neighbouring_words() {
    let size = Size { workgroups: 1, threads: 24 };
    let machines = ["tiny", "gpu"].map(preset);
    let (mut wide_loads, mut wide_stores, mut copies) = (0, 0, 0);
    let cases = environment::count("CASES", 300);
    for seed in 0..cases {
        let (module, text) = kernel(seed);
        let config = &machines[seed as usize % 2];
        let compiled =
            compiled(&module, config, &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let code = listing(&compiled);
        wide_loads += code.matches("load_u64").count() + code.matches("load_u128").count();
        wide_stores += code.matches("store_u64").count() + code.matches("store_u128").count();
        copies += code.matches(" mov r").count();
        let arguments = [Constant::I32([0, 4, 8, 12, 2, 32][seed as usize % 6])];
        let expected = interpret(&module, &arguments, size, config.core.wave_width).expect("it ends");
        let found = execute(&module, &compiled, &arguments, size, config);
        assert!(expected == found, "seed {seed}\n{text}\n{code}");
    }
    println!("{cases} kernels: {wide_loads} wide loads, {wide_stores} wide stores, {copies} copies");
    assert!(
        wide_loads > cases as usize / 4 && wide_stores > cases as usize / 20,
        "{wide_loads} and {wide_stores}"
    );
}
