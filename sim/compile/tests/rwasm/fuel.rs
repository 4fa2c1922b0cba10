//! Fuel: counted only where it is asked for, for each instance.

use super::encode::encode;
use std::sync::Arc;
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, FunctionId, Module, Trap};
use wave_compile::rwasm::{RwasmOptions, decode};

/// A loop of so many turns as its argument says. Each call and each turn takes 3; the entry point takes none.
const COUNTS: &str = "(module (func (param i32) (result i32) (local i32)
    (loop (local.set 1 (i32.add (local.get 1) (local.get 0)))
        (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1)))";

fn module(fuel: Option<u64>) -> Module {
    let bytes = wave_compile::wasm::encode("counts.wat", COUNTS).expect("a module");
    let encoded = encode(&bytes, Some(3)).expect("rWasm has it");
    decode(&encoded.module.bytes(), &RwasmOptions { fuel, ..RwasmOptions::default() })
        .expect("it is right")
        .module
}

fn call(instance: &Instance, turns: u64) -> Result<u64, Trap> {
    let results = instance.call(FunctionId::from_u32(0), &[Constant::I64(turns)], &Limits::default());
    results.map(|results| results[0].bits()).map_err(|trapped| trapped.trap)
}

#[test]
fn fuel_runs_out_and_what_is_left_stays() {
    let module = module(Some(40));
    let exported = module.exports.iter().find(|(name, _)| name == "fuel");
    let Some(&(_, Exported::Global(fuel))) = exported else { panic!("the fuel is exported") };
    let instance = Instance::new(Arc::new(module)).expect("it starts");
    let left = || instance.global(fuel).get();
    assert_eq!(left(), Constant::I64(40));
    assert_eq!(call(&instance, 4), Ok(10));
    assert_eq!(left(), Constant::I64(40 - 3 * 5));
    assert_eq!(call(&instance, 8), Err(Trap::OutOfFuel));
    // 25 pay for 8, and 1 is not enough for another 3.
    assert_eq!(left(), Constant::I64(1));
    assert_eq!(call(&instance, 1), Err(Trap::OutOfFuel));
    assert_eq!(left(), Constant::I64(1));
}

#[test]
fn the_last_of_the_fuel_is_enough() {
    let instance = Instance::new(Arc::new(module(Some(15)))).expect("it starts");
    assert_eq!(call(&instance, 4), Ok(10));
    assert_eq!(call(&instance, 1), Err(Trap::OutOfFuel));
}

#[test]
fn without_a_bound_nothing_is_counted() {
    let module = module(None);
    assert_eq!(module.globals.len(), 0);
    assert!(module.exports.iter().all(|(name, _)| name != "fuel"));
    let instance = Instance::new(Arc::new(module)).expect("it starts");
    assert_eq!(call(&instance, 100_000), Ok(5_000_050_000 & 0xFFFF_FFFF));
}
