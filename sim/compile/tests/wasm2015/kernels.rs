//! Kernels: linear memory is device memory, and functions of `wave` are imported.

use super::encoder::{EXPORT, Expr, Function, IMPORT, Module, Segment, call, get, i32, load, op, set, store};
use std::sync::Arc;
use wave_compile::ir::{FunctionId, Type};
use wave_compile::wasm2015::decode;
use wave_compile::{Options, compile};
use wave_isa::program::Launch;
use wave_machine::config;
use wave_machine::gpu::{Machine, RunOptions};

const I: Type = Type::I32;
/// Threads of the workgroup.
const THREADS: u32 = 12;

/// Runs a kernel in one workgroup, with 4 KiB of device memory.
fn run(module: &Module) -> Vec<u32> {
    let decoded = decode(&module.encode()).unwrap_or_else(|error| panic!("{error}"));
    assert!(decoded.is_kernel);
    let compiled = compile(&decoded.module, FunctionId::from_u32(0), &Options::default());
    let program = Arc::new(compiled.unwrap_or_else(|error| panic!("{error}")).program);
    let mut memory = vec![0; 4096];
    for data in decoded.module.data.values() {
        let (_, address) = data.at_start.expect("segments are copied at the start");
        memory[address as usize..][..data.bytes.len()].copy_from_slice(&data.bytes);
    }
    let mut launch = Launch::of(&program, 0, [1, 1, 1]);
    launch.workgroup = [THREADS, 1, 1];
    let config = Arc::new(config::load("tiny").expect("a preset"));
    let mut machine = Machine::new(config, Arc::clone(&program), memory);
    let ran = machine.run(&launch, &RunOptions::UNBOUNDED, None, &mut |_| {});
    ran.unwrap_or_else(|error| panic!("{error:?}"));
    let words = machine.into_memory();
    words.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
}

#[test]
fn every_thread_of_a_kernel_sees_one_memory_in_bytes() {
    let mut module = Module { memory: Some((12, 13, true)), ..Module::default() };
    let signature = module.signature(&[], Some(I));
    let import = |name: &str| Function {
        name: Some(name.to_owned()),
        flags: IMPORT,
        signature,
        ..Function::default()
    };
    module.functions = vec![import("thread_id_x"), import("workgroup_size_x")];
    let table: Vec<u8> = (0..THREADS).flat_map(|number| (number * number).to_le_bytes()).collect();
    module.segments.push(Segment { address: 2048, bytes: table, is_loaded: true });
    // In 16 bytes for each thread: what the table has, the sizes, and what growing gives.
    let at = |number: i32| op("i32.add", &[op("i32.shl", &[get(0), i32(4)]), i32(number)]);
    let entry = load("i32.load", 2048, op("i32.shl", &[get(0), i32(2)]));
    let body: Vec<Expr> = vec![
        set(0, call(0, &[])),
        store("i32.store", 0, at(0), entry),
        store("i32.store", 4, at(0), op("memory_size", &[])),
        store("i32.store", 4, at(4), op("grow_memory", &[i32(1)])),
        store("i32.store", 0, at(12), call(1, &[])),
    ];
    let kernel = module.function("kernel", &[], None, [1, 0, 0, 0], body);
    module.functions[kernel as usize].flags |= EXPORT;
    let words = run(&module);
    for thread in 0..THREADS {
        let words = &words[4 * thread as usize..][..4];
        assert_eq!(words, [thread * thread, 4096, u32::MAX, THREADS], "thread {thread}");
    }
}
