//! Private memory: random loads and stores of every width and alignment, in the interpreter and on the machine.

use crate::machine::{Size, compiled, listing, preset};
use cranelift_entity::EntityRef;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use std::fmt::Write as _;
use std::sync::Arc;
use wave_compile::Options;
use wave_compile::ir::interpret::{Instance, Launch, Limits, Workgroup};
use wave_compile::ir::{FunctionId, MemoryId, text};
use wave_isa::program;
use wave_machine::functional;

/// Bytes of private memory.
const BYTES: u32 = 128;

/// A value of the kernel: its number.
struct Writer {
    text: String,
    next: u32,
}

impl Writer {
    fn emit(&mut self, ty: &str, operation: &str) -> u32 {
        let value = self.next;
        self.next += 1;
        _ = writeln!(self.text, "    v{value}: {ty} = {operation}");
        value
    }
}

/// Accesses of memory: type in the text, and bytes.
const KINDS: [(&str, &str, u32); 13] = [
    ("i32", "", 4),
    ("i32", ".u8", 1),
    ("i32", ".s8", 1),
    ("i32", ".u16", 2),
    ("i32", ".s16", 2),
    ("i64", "", 8),
    ("i64", ".u8", 1),
    ("i64", ".s8", 1),
    ("i64", ".u16", 2),
    ("i64", ".s16", 2),
    ("i64", ".u32", 4),
    ("i64", ".s32", 4),
    ("f32", "", 4),
];

/// A kernel whose threads store and load at addresses of their own, in a loop, and leave a sum of what they found.
fn kernel(seed: u64) -> String {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut to = Writer { text: String::new(), next: 3 };
    // v1: a mix of everything so far; v2: turns left.
    let mut mix = 1;
    for _ in 0..random.random_range(4..20) {
        let (ty, bits, bytes) = KINDS[random.random_range(0..KINDS.len())];
        let unit = [1u32, 2, 4][random.random_range(0..3)];
        let offset = random.random_range(0..16 / unit) * unit;
        let address = if random.random_bool(0.3) {
            let address = random.random_range(0..=BYTES - bytes - offset);
            to.emit("i32", &format!("const.i32 {address}"))
        } else {
            // A multiple of the unit below 64.
            let shift = to.emit("i32", &format!("const.i32 {}", random.random_range(0..24)));
            let shifted = to.emit("i32", &format!("shr_u v{mix}, v{shift}"));
            let mask = to.emit("i32", &format!("const.i32 {}", 64 / unit - 1));
            let small = to.emit("i32", &format!("and v{shifted}, v{mask}"));
            let factor = to.emit("i32", &format!("const.i32 {unit}"));
            to.emit("i32", &format!("mul v{small}, v{factor}"))
        };
        let place = format!("mem0[v{address} + {offset}]");
        if random.random_bool(0.5) {
            let value = match ty {
                "i32" => mix,
                "i64" => {
                    let wide = to.emit("i64", &format!("i64_extend_s v{mix}"));
                    let factor = to.emit("i64", &format!("const.i64 {}", random.random::<i64>() | 1));
                    to.emit("i64", &format!("mul v{wide}, v{factor}"))
                }
                _ => to.emit("f32", &format!("reinterpret v{mix}")),
            };
            _ = writeln!(to.text, "    store.{ty}{} {place}, v{value}", bits.replace('s', "u"));
        } else {
            let value = to.emit(ty, &format!("load.{ty}{bits} {place}"));
            let words = match ty {
                "i32" => vec![value],
                "i64" => {
                    let half = to.emit("i64", "const.i64 32");
                    let high = to.emit("i64", &format!("shr_u v{value}, v{half}"));
                    [value, high].map(|value| to.emit("i32", &format!("i32_wrap v{value}"))).to_vec()
                }
                _ => vec![to.emit("i32", &format!("reinterpret v{value}"))],
            };
            for word in words {
                let factor = to.emit("i32", "const.i32 1103515245");
                let product = to.emit("i32", &format!("mul v{mix}, v{factor}"));
                mix = to.emit("i32", &format!("add v{product}, v{word}"));
            }
        }
    }
    let one = to.emit("i32", "const.i32 1");
    let left = to.emit("i32", &format!("sub v2, v{one}"));
    let zero = to.emit("i32", "const.i32 0");
    let more = to.emit("bool", &format!("ne v{left}, v{zero}"));
    let [lane, size, group, turns, product, thread, start, four, address] =
        std::array::from_fn(|number| to.next + number as u32);
    format!(
        "memory mem0 private {}\nmemory mem1 device 1\nfunction f0 (i32) -> () {{
b0(v0: i32):
    v{lane}: i32 = special sr_thread_id_x
    v{size}: i32 = special sr_workgroup_size_x
    v{group}: i32 = special sr_workgroup_id_x
    v{product}: i32 = mul v{group}, v{size}
    v{thread}: i32 = add v{product}, v{lane}
    v{start}: i32 = mul v{thread}, v0
    v{turns}: i32 = const.i32 3
    jump b1(v{start}, v{turns})
b1(v1: i32, v2: i32):
{}    branch v{more}, b1(v{mix}, v{left}), b2
b2:
    v{four}: i32 = const.i32 4
    v{address}: i32 = mul v{thread}, v{four}
    store.i32 mem1[v{address}], v{mix}
    exit
}}\n",
        BYTES / 16,
        to.text
    )
}

/// Sums of all threads: in the interpreter and on the machine.
fn both(text: &str, argument: u32, size: Size, config: &str, registers: u32) -> [Vec<u8>; 2] {
    let config = preset(config);
    let module = text::parse(text, "private").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    wave_compile::ir::verify::verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let bytes = (size.workgroups * size.threads * 4) as usize;
    let instance = Instance::new(Arc::new(module.clone())).expect("no segments");
    for workgroup in 0..size.workgroups {
        let launch = Launch {
            function: FunctionId::new(0),
            arguments: vec![wave_compile::ir::Constant::I32(argument)],
            workgroup_size: [size.threads, 1, 1],
            workgroup_id: [workgroup, 0, 0],
            grid_size: [size.workgroups, 1, 1],
            wave_width: config.core.wave_width,
        };
        Workgroup::new(&instance, &launch, &Limits::default()).unwrap().run().unwrap();
    }
    let expected = instance.memory(MemoryId::new(1)).read(0, bytes as u64).unwrap();

    let options = Options { registers, ..Options::default() };
    let compiled = compiled(&module, &config, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let private = compiled.program.kernels[0].private.expect("it has private memory");
    let mut launch = program::Launch::of(&compiled.program, 0, [size.workgroups, 1, 1]);
    launch.workgroup = [size.threads, 1, 1];
    let base = 4096;
    launch.initial_registers = vec![(0, argument), (private.register, base)];
    let waves = size.workgroups * size.threads.div_ceil(config.core.wave_width);
    let mut memory = vec![0; (base + waves * private.bytes_per_wave) as usize];
    functional::run(
        &config,
        &compiled.program,
        &launch,
        &mut memory,
        &functional::Limits::default(),
        &mut |_| {},
    )
    .unwrap_or_else(|error| panic!("{error:?}\n{text}{}", listing(&compiled)));
    [expected, memory[..bytes].to_vec()]
}

#[test]
fn loads_and_stores_of_every_alignment() {
    for seed in 0..300 {
        let text = kernel(seed);
        let (config, size) = match seed % 3 {
            0 => ("tiny", Size { workgroups: 3, threads: 20 }),
            1 => ("gpu", Size { workgroups: 2, threads: 40 }),
            _ => ("mi300x", Size { workgroups: 2, threads: 70 }),
        };
        // With few registers there are spilled values in front of the memory.
        let registers = if seed % 4 == 0 { 12 } else { 256 };
        let [expected, found] = both(&text, 0x9E37_79B1, size, config, registers);
        assert!(expected == found, "seed {seed}:\n{text}\n{expected:02x?}\n{found:02x?}");
    }
}

/// The lanes of a wave have neighbouring words, so an aligned access of all lanes is one access of the wave.
#[test]
fn an_aligned_access_is_one_instruction() {
    let text = "memory mem0 private 2\nfunction f0 (i32) -> () {\nb0(v0: i32):\n    v1: i32 = const.i32 2\n    \
                v2: i32 = shl v0, v1\n    v3: i32 = load.i32 mem0[v2 + 8]\n    store.i32 mem0[v2 + 4], v3\n    return\n}\n";
    let module = text::parse(text, "private").unwrap();
    let compiled = compiled(&module, &preset("gpu"), &Options::default()).unwrap();
    let listing = listing(&compiled);
    let count = |op: &str| listing.matches(op).count();
    assert_eq!([count("device_load_"), count("device_store_"), count("if ")], [1, 1, 0], "{listing}");
}
