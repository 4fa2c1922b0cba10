//! Random modules (`wasm-smith`), decoded as WebAssembly and, translated, as rWasm: results, traps, global variables and
//! memory are the same, bit by bit.

use super::encode::{Encoded, encode};
use super::suite::{cells, of_cell};
use arbitrary::Unstructured;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::sync::Arc;
use wasm_smith::{Config, Module};
use wave_compile::ir::interpret::{Instance, Limits, Linked};
use wave_compile::ir::{Constant, Exported, GlobalId, MemoryId, Trap, verify};
use wave_compile::{rwasm, wasm};

/// Bytes from which a module is made.
const SEED_BYTES: usize = 4096;
/// Turns of loops and calls that a module makes, in all, before it traps.
const TURNS: u32 = 20_000;

/// A module of what rWasm has.
fn module(random: &mut Pcg64) -> Option<Vec<u8>> {
    let mut seed = vec![0; SEED_BYTES];
    random.fill_bytes(&mut seed);
    let config = Config {
        allow_start_export: true,
        compact_imports_enabled: false,
        exceptions_enabled: false,
        export_everything: true,
        extended_const_enabled: false,
        gc_enabled: false,
        max_imports: 0,
        max_memories: 1,
        max_memory32_bytes: 1 << 20,
        max_table_elements: 1000,
        memory64_enabled: false,
        memory_max_size_required: true,
        min_funcs: 4,
        max_funcs: 12,
        reference_types_enabled: false,
        relaxed_simd_enabled: false,
        simd_enabled: false,
        tail_call_enabled: false,
        threads_enabled: false,
        wide_arithmetic_enabled: false,
        ..Config::default()
    };
    let mut module = Module::new(config, &mut Unstructured::new(&seed)).ok()?;
    module.ensure_termination(TURNS).ok()?;
    Some(module.to_bytes())
}

/// True for a bound of the interpreter, which the two meet at different places.
fn is_bound(trap: Option<Trap>) -> bool {
    matches!(trap, Some(Trap::OutOfFuel | Trap::StackExhausted))
}

/// What became of modules.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) modules: usize,
    pub(crate) calls: usize,
    pub(crate) traps: usize,
    pub(crate) memories: usize,
    left_out: BTreeMap<&'static str, usize>,
}

fn compare(seed: u64, counts: &mut Counts) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut leave_out = |why| *counts.left_out.entry(why).or_default() += 1;
    let Some(bytes) = module(&mut random) else { return leave_out("the generator made none") };
    let encoded = match encode(&bytes, None) {
        Ok(encoded) => encoded,
        Err(why) => return leave_out(why),
    };
    let name = format!("seed {seed}");
    let modules = Modules { name: &name, wasm: &bytes, rwasm: &encoded.module.bytes(), encoded: &encoded };
    if let Err(why) = modules.do_the_same(1, &mut random, counts) {
        *counts.left_out.entry(why).or_default() += 1;
    }
}

/// A module in both formats.
pub(crate) struct Modules<'a> {
    pub(crate) name: &'a str,
    pub(crate) wasm: &'a [u8],
    pub(crate) rwasm: &'a [u8],
    /// The numbers of its functions and global variables in rWasm.
    pub(crate) encoded: &'a Encoded,
}

impl Modules<'_> {
    /// Calls every function so many times in both: results, traps, global variables and memory are the same.
    ///
    /// # Errors
    /// Why the two cannot be compared to the end.
    pub(crate) fn do_the_same(
        &self,
        rounds: usize,
        random: &mut Pcg64,
        counts: &mut Counts,
    ) -> Result<(), &'static str> {
        let Modules { name, wasm, rwasm, encoded } = *self;
        let theirs = wasm::decode(wasm).unwrap_or_else(|error| panic!("{name}: {error}")).module;
        let ours = rwasm::decode(rwasm, &rwasm::RwasmOptions::default());
        let ours = ours.unwrap_or_else(|error| panic!("{name}: {error}")).module;
        verify::verify(&ours).unwrap_or_else(|error| panic!("{name}: {error}"));
        let limits = Limits { fuel: 10_000_000, depth: 2000, ..Limits::default() };
        let [ours, theirs] =
            [ours, theirs].map(|module| Instance::unstarted(Arc::new(module), Linked::default()));
        let started =
            [&ours, &theirs].map(|instance| instance.start(&limits).err().map(|trapped| trapped.trap));
        if started.into_iter().any(is_bound) {
            return Err("the start takes too long");
        }
        assert_eq!(started[0], started[1], "{name}: start");
        if started[0].is_some() {
            counts.traps += 1;
            return Ok(());
        }
        for (export, number, ty) in encoded.functions.iter().cycle().take(rounds * encoded.functions.len()) {
            let found = theirs.module().exports.iter().find(|(other, _)| other == export);
            let Some(&(_, Exported::Function(function))) = found else { panic!("{name}: `{export}`") };
            let signature = &theirs.module().functions[function].signature;
            let mut bits = || if random.random() { random.random_range(0..64) } else { random.random() };
            let arguments: Vec<Constant> =
                signature.parameters.iter().map(|&ty| Constant::from_bits(ty, bits())).collect();
            let wanted = theirs.call(function, &arguments, &limits).map_err(|trapped| trapped.trap);
            let function = wave_compile::ir::FunctionId::from_u32(*number);
            let cells = cells(ours.module(), function, &arguments);
            let has = ours.call(function, &cells, &limits).map_err(|trapped| trapped.trap);
            if is_bound(has.as_ref().err().copied()) || is_bound(wanted.as_ref().err().copied()) {
                // What was done until then differs.
                return Err("a call takes too long");
            }
            let has = has.map(|results| {
                let typed = results.into_iter().zip(ty.results()).map(|(cell, &ty)| of_cell(cell, ty));
                typed.collect::<Result<Vec<_>, _>>().unwrap_or_else(|error| panic!("{name}: {error}"))
            });
            assert_eq!(has, wanted, "{name}, `{export}` of {arguments:x?}");
            counts.calls += 1;
            counts.traps += usize::from(has.is_err());
        }
        for (export, number, ty) in &encoded.globals {
            let found = theirs.module().exports.iter().find(|(other, _)| other == export);
            let Some(&(_, Exported::Global(global))) = found else { panic!("{name}: `{export}`") };
            let has = of_cell(ours.global(GlobalId::from_u32(*number)).get(), *ty);
            assert_eq!(has, Ok(theirs.global(global).get()), "{name}: `{export}`");
        }
        if !theirs.module().memories.is_empty() && !ours.module().memories.is_empty() {
            let [ours, theirs] = [&ours, &theirs].map(|instance| {
                let memory = instance.memory(MemoryId::from_u32(0));
                memory.read(0, memory.pages() << 16).expect("all of it")
            });
            assert!(ours == theirs, "{name}: memory");
            counts.memories += 1;
        }
        counts.modules += 1;
        Ok(())
    }
}

fn campaign(modules: u64) {
    let mut counts = Counts::default();
    for seed in 0..modules {
        compare(seed, &mut counts);
    }
    println!("{modules} modules, no difference: {counts:#?}");
    assert!(counts.modules > 0 && counts.calls > 0 && counts.traps > 0 && counts.memories > 0, "{counts:?}");
}

#[test]
fn random_modules_do_the_same_as_webassembly() {
    campaign(400);
}

/// `cargo test -p wave-compile --test rwasm -- --ignored ten_thousand --nocapture`
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_modules_do_the_same_as_webassembly() {
    campaign(10_000);
}
