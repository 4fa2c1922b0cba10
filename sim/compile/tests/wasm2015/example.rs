//! The examples of the book: a kernel that imports from `wave`, and functions for instances.

use super::encoder::*;
use wave_compile::ir::Type;
use wave_testing::golden;

/// y = a * x + y, one element a thread: parameters a, x, y, n.
fn saxpy() -> Module {
    let mut module = Module { memory: Some((16, 16, false)), ..Module::default() };
    let import = |module: &mut Module, name: &str| {
        let number = module.function(name, &[], Some(Type::I32), [0; 4], Vec::new());
        module.functions[number as usize].flags = IMPORT;
        number
    };
    let names = ["workgroup_id_x", "workgroup_size_x", "thread_id_x"];
    let [group, size, thread] = names.map(|name| import(&mut module, name));
    let element = |buffer: u32| op("i32.add", &[get(buffer), op("i32.shl", &[get(4), i32(2)])]);
    let index = op("i32.add", &[op("i32.mul", &[call(group, &[]), call(size, &[])]), call(thread, &[])]);
    let product = op("f32.mul", &[get(0), load("f32.load", 0, element(1))]);
    let sum = op("f32.add", &[product, load("f32.load", 0, element(2))]);
    let body = vec![
        set(4, index),
        op("if", &[op("i32.lt_u", &[get(4), get(3)]), store("f32.store", 0, element(2), sum)]),
    ];
    let parameters = [Type::F32, Type::I32, Type::I32, Type::I32];
    let saxpy = module.function("saxpy", &parameters, None, [1, 0, 0, 0], body);
    module.functions[saxpy as usize].flags = EXPORT;
    module
}

/// The greatest common divisor of two numbers, and a division that traps.
fn divisor() -> Module {
    let mut module = Module::default();
    let step = [
        br_if(1, nop(), op("i64.eq", &[get(1), i64(0)])),
        set(2, op("i64.rem_u", &[get(0), get(1)])),
        set(0, get(1)),
        set(1, get(2)),
        br(0, nop()),
    ];
    let body = vec![repeat(&step), get(0)];
    let gcd = module.function("gcd", &[Type::I64; 2], Some(Type::I64), [0, 1, 0, 0], body);
    let ratio = op("i32.div_s", &[get(0), get(1)]);
    let ratio = module.function("ratio", &[Type::I32; 2], Some(Type::I32), [0; 4], vec![ratio]);
    for number in [gcd, ratio] {
        module.functions[number as usize].flags = EXPORT;
    }
    module
}

#[test]
fn the_examples_are_current() {
    for (name, module) in [("saxpy", saxpy()), ("gcd", divisor())] {
        golden::check_bytes(&format!("sim/kernels/examples/{name}.wasm2015"), &module.encode());
    }
}
