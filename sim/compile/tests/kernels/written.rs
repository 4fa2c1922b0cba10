//! Kernels written by hand in the text form.

use crate::machine::{Size, compiled, execute, interpret, listing, preset};
use wave_compile::Options;
use wave_compile::ir::{Constant, Module, Trap, text};

fn read(name: &str) -> Module {
    let path = format!("sim/compile/tests/kernels/cases/{name}.ir");
    let source =
        std::fs::read_to_string(wave_testing::golden::root().join(&path)).expect("the case is there");
    let module = text::parse(&source, &path).unwrap_or_else(|error| panic!("{}", error.render(false)));
    wave_compile::ir::verify::verify(&module).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    module
}

/// Runs a case in the interpreter and on two machines, and holds its assembly against the golden one.
fn hold(name: &str, arguments: &[Constant], size: Size) -> Vec<u8> {
    let module = read(name);
    let mut memory = Vec::new();
    for machine in ["tiny", "gpu"] {
        let config = preset(machine);
        let expected = interpret(&module, arguments, size, config.core.wave_width).expect("it ends");
        let compiled =
            compiled(&module, &config, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let found = execute(&module, &compiled, arguments, size, &config);
        let statistics = compiled.statistics;
        let head =
            format!("; {} instructions, {} registers\n", statistics.instructions, statistics.registers);
        if machine == "gpu" {
            let path = format!("sim/compile/tests/kernels/cases/{name}.wave");
            wave_testing::golden::check(&path, &(head + &listing(&compiled)));
        }
        assert_eq!(expected.0, found.0, "{name} on {machine}\n{}", listing(&compiled));
        assert!(expected.1 == found.1, "{name} on {machine}: memory differs\n{}", listing(&compiled));
        memory = found.1;
    }
    memory
}

fn word(memory: &[u8], address: usize) -> u32 {
    u32::from_le_bytes(memory[address..][..4].try_into().unwrap())
}

fn i32s(values: &[u32]) -> Vec<Constant> {
    values.iter().map(|&value| Constant::I32(value)).collect()
}

#[test]
fn saxpy() {
    let mut arguments = i32s(&[0, 4096]);
    arguments.push(Constant::F32(2.5f32.to_bits()));
    arguments.extend(i32s(&[500]));
    hold("saxpy", &arguments, Size { workgroups: 2, threads: 64 });
}

#[test]
fn mandelbrot() {
    let mut arguments = i32s(&[0, 20, 12]);
    arguments.extend([-2.0f32, -1.2, 0.15, 0.2].map(|value| Constant::F32(value.to_bits())));
    arguments.extend(i32s(&[60]));
    let memory = hold("mandelbrot", &arguments, Size { workgroups: 4, threads: 64 });
    let steps: Vec<u32> = (0..240).map(|pixel| word(&memory, 4 * pixel)).collect();
    assert!(steps.contains(&60) && steps.iter().any(|&steps| steps < 5), "{steps:?}");
}

#[test]
fn reduction() {
    let memory = hold("reduction", &i32s(&[0, 4096]), Size { workgroups: 2, threads: 64 });
    let sum = |workgroup: usize| {
        (0..64).map(|lane| word(&memory, 4 * (64 * workgroup + lane))).fold(0, u32::wrapping_add)
    };
    assert_eq!([word(&memory, 4096), word(&memory, 4100)], [sum(0), sum(1)]);
}

#[test]
fn histogram() {
    let memory = hold("histogram", &i32s(&[0, 8192, 500]), Size { workgroups: 2, threads: 64 });
    assert_eq!((0..16).map(|bin| word(&memory, 8192 + 4 * bin)).sum::<u32>(), 500);
}

#[test]
fn a_trap_is_named_with_its_place() {
    let module = read("divide");
    let config = preset("tiny");
    let compiled = compiled(&module, &config, &Options::default()).expect("it is supported");
    let size = Size { workgroups: 1, threads: 8 };
    for (arguments, trap) in [
        ([7u32, 2], None),
        ([7, 0], Some(Trap::DivideByZero)),
        ([0x8000_0000, u32::MAX], Some(Trap::IntegerOverflow)),
    ] {
        let found = execute(&module, &compiled, &i32s(&arguments), size, &config);
        assert_eq!(found.0, trap);
        assert_eq!(trap.is_none(), word(&found.1, 0) == 3);
    }
    assert!(compiled.traps.iter().all(|point| point.place.0 == 77), "{:?}", compiled.traps);
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for (body, expected) in [
        (
            "v0: i32 = const.i32 0\n    v1: i64 = const.i64 1\n    v2: i64 = atomic_add.i64 device mem0[v0], v1",
            "atomic access of 8 bytes",
        ),
        (
            "v0: i32 = const.i32 0\n    v1: i64 = const.i64 1
    v2: i64 = compare_exchange.i64 wave mem0[v0], v1, v1",
            "atomic access of 8 bytes",
        ),
    ] {
        let text = format!(
            "memory mem0 device 1\nfunction f0 \"kernel\" () -> () {{\nb0:\n    {body}\n    return\n}}\n"
        );
        let module = text::parse(&text, "t").unwrap_or_else(|error| panic!("{}", error.render(false)));
        let error = compiled(&module, &preset("tiny"), &Options::default()).expect_err(expected).to_string();
        assert!(error.starts_with("kernel, ") && error.contains(expected), "{error}");
    }
}
