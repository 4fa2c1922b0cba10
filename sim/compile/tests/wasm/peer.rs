//! Random modules (`wasm-smith`) in another engine (`wasmi`), and in the interpreter or as instances on the simulator:
//! results, traps, global variables and memory are the same, bit by bit.

use super::nans::canonical;
use super::simulated::{NoLaunch, Simulator, missing};
use arbitrary::Unstructured;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::sync::Arc;
use wasm_smith::{Config, Module};
use wasmi::{Engine, Linker, Store, TrapCode, Val};
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, Trap, verify};
use wave_compile::lower::instance::Ended;
use wave_compile::wasm::decode;

/// Bytes from which a module is made.
const SEED_BYTES: usize = 4096;
/// Fuel of a call, in the units of either engine.
const FUEL: u64 = 100_000;

/// A module of what is taken. NaNs that are computed are canonical in it, whatever the engine gives.
fn module(random: &mut Pcg64) -> Option<Vec<u8>> {
    let mut seed = vec![0; SEED_BYTES];
    random.fill_bytes(&mut seed);
    let config = Config {
        canonicalize_nans: true,
        compact_imports_enabled: false,
        exceptions_enabled: false,
        export_everything: true,
        extended_const_enabled: false,
        gc_enabled: false,
        max_imports: 0,
        max_memory32_bytes: 1 << 20,
        max_table_elements: 1000,
        memory64_enabled: false,
        memory_max_size_required: true,
        min_funcs: 1,
        reference_types_enabled: false,
        relaxed_simd_enabled: false,
        simd_enabled: false,
        tail_call_enabled: false,
        threads_enabled: false,
        wide_arithmetic_enabled: false,
        ..Config::default()
    };
    Module::new(config, &mut Unstructured::new(&seed)).ok().map(|module| canonical(&module.to_bytes()))
}

/// What came of a call: results, a trap, or nothing that can be compared because a bound of an engine was met.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Results(Vec<u64>),
    Trap(String),
    Bound,
}

fn ours(result: Result<Vec<Constant>, Trap>) -> Outcome {
    match result {
        Ok(results) => Outcome::Results(results.into_iter().map(Constant::bits).collect()),
        Err(Trap::OutOfFuel | Trap::StackExhausted) => Outcome::Bound,
        Err(trap) => Outcome::Trap(trap.name().to_owned()),
    }
}

fn theirs(result: Result<Vec<Val>, wasmi::Error>) -> Outcome {
    let error = match result {
        Ok(values) => return Outcome::Results(values.iter().map(bits).collect()),
        Err(error) => error,
    };
    let trap = match error.as_trap_code() {
        Some(TrapCode::UnreachableCodeReached) => Trap::Unreachable,
        Some(TrapCode::MemoryOutOfBounds) => Trap::MemoryOutOfBounds,
        Some(TrapCode::TableOutOfBounds) => return Outcome::Trap("table".to_owned()),
        Some(TrapCode::IndirectCallToNull) => Trap::UninitialisedElement,
        Some(TrapCode::IntegerDivisionByZero) => Trap::DivideByZero,
        Some(TrapCode::IntegerOverflow) => Trap::IntegerOverflow,
        Some(TrapCode::BadConversionToInteger) => Trap::InvalidConversion,
        Some(TrapCode::BadSignature) => Trap::SignatureMismatch,
        _ => return Outcome::Bound,
    };
    Outcome::Trap(trap.name().to_owned())
}

/// Tables out of bounds have two names here and one there.
fn is_same(ours: &Outcome, theirs: &Outcome) -> bool {
    let is_table =
        |name: &str| name == Trap::TableOutOfBounds.name() || name == Trap::UndefinedElement.name();
    match (ours, theirs) {
        (Outcome::Trap(ours), Outcome::Trap(theirs)) if theirs == "table" => is_table(ours),
        _ => ours == theirs,
    }
}

fn bits(value: &Val) -> u64 {
    match value {
        Val::I32(value) => u64::from(*value as u32),
        Val::I64(value) => *value as u64,
        Val::F32(value) => u64::from(value.to_bits()),
        Val::F64(value) => value.to_bits(),
        _ => panic!("no such value is made"),
    }
}

fn val(constant: Constant) -> Val {
    match constant {
        Constant::Bool(_) => panic!("WebAssembly has no truth values"),
        Constant::I32(bits) => Val::I32(bits as i32),
        Constant::I64(bits) => Val::I64(bits as i64),
        Constant::F32(bits) => Val::F32(wasmi::F32::from_bits(bits)),
        Constant::F64(bits) => Val::F64(wasmi::F64::from_bits(bits)),
    }
}

/// Compares one module; the number of calls that were compared, or `None` if it was not taken.
fn compare(seed: u64) -> Option<usize> {
    let mut random = Pcg64::seed_from_u64(seed);
    let bytes = module(&mut random)?;
    let decoded = decode(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    verify::verify(&decoded.module).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let module = Arc::new(decoded.module);
    let limits = Limits { fuel: FUEL, depth: 200, ..Limits::default() };
    let mine = Instance::unstarted(Arc::clone(&module), wave_compile::ir::interpret::Linked::default());
    let started = ours(mine.start(&limits).map(|()| Vec::new()).map_err(|trapped| trapped.trap));

    let mut config = wasmi::Config::default();
    config.consume_fuel(true);
    let engine = Engine::new(&config);
    let peer = wasmi::Module::new(&engine, &bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let mut store = Store::new(&engine, ());
    store.set_fuel(FUEL).expect("fuel is on");
    let instance = Linker::<()>::new(&engine).instantiate_and_start(&mut store, &peer);
    let peer_started = match &instance {
        Ok(_) => Outcome::Results(Vec::new()),
        Err(_) if matches!(started, Outcome::Trap(_)) => return Some(0),
        Err(_) => Outcome::Bound,
    };
    if started == Outcome::Bound || peer_started == Outcome::Bound {
        return Some(0);
    }
    assert_eq!(started, peer_started, "seed {seed}: start");
    let instance = instance.expect("it has started");
    let mut calls = 0;
    for (name, exported) in &module.exports {
        let Exported::Function(function) = *exported else { continue };
        let signature = &module.functions[function].signature;
        let arguments: Vec<Constant> = signature
            .parameters
            .iter()
            .map(|&ty| {
                Constant::from_bits(
                    ty,
                    if random.random() { random.random_range(0..64) } else { random.random() },
                )
            })
            .collect();
        let has = ours(mine.call(function, &arguments, &limits).map_err(|trapped| trapped.trap));
        store.set_fuel(FUEL).expect("fuel is on");
        let peer = instance.get_func(&store, name).expect("it has the export");
        let inputs: Vec<Val> = arguments.iter().map(|&argument| val(argument)).collect();
        let mut outputs = vec![Val::I32(0); signature.results.len()];
        let wanted = peer.call(&mut store, &inputs, &mut outputs).map(|()| outputs);
        let wanted = theirs(wanted);
        if has == Outcome::Bound || wanted == Outcome::Bound {
            // What was done until then differs.
            return Some(calls);
        }
        assert!(is_same(&has, &wanted), "seed {seed}, `{name}` of {arguments:x?}: {has:x?}, not {wanted:x?}");
        calls += 1;
    }
    for (name, exported) in &module.exports {
        match *exported {
            Exported::Global(global) => {
                let peer = instance.get_global(&store, name).expect("it has the export").get(&store);
                assert_eq!(mine.global(global).get().bits(), bits(&peer), "seed {seed}: `{name}`");
            }
            Exported::Memory(memory) => {
                let peer = instance.get_memory(&store, name).expect("it has the export");
                let mine = mine.memory(memory);
                let has = mine.read(0, mine.pages() << 16).expect("all of it");
                assert!(has == peer.data(&store), "seed {seed}: `{name}`");
            }
            _ => {}
        }
    }
    Some(calls)
}

fn campaign(modules: u64) {
    let mut compared = 0;
    let mut calls = 0;
    for seed in 0..modules {
        if let Some(more) = compare(seed) {
            compared += usize::from(more > 0);
            calls += more;
        }
    }
    println!("{modules} modules, {compared} with calls that were compared, {calls} calls");
    assert!(compared > 0);
}

#[test]
fn random_modules_do_the_same_in_another_engine() {
    campaign(300);
}

/// `cargo test -p wave-compile --test wasm -- --ignored ten_thousand --nocapture`
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_modules_do_the_same_in_another_engine() {
    campaign(10_000);
}

/// A module in the other engine.
struct Peer {
    store: Store<()>,
    instance: wasmi::Instance,
}

impl Peer {
    /// The module after its start, or what its start came to.
    fn new(bytes: &[u8]) -> Result<Peer, Outcome> {
        let mut config = wasmi::Config::default();
        config.consume_fuel(true);
        let engine = Engine::new(&config);
        let module = wasmi::Module::new(&engine, bytes).expect("a valid module");
        let mut store = Store::new(&engine, ());
        store.set_fuel(FUEL).expect("fuel is on");
        match Linker::<()>::new(&engine).instantiate_and_start(&mut store, &module) {
            Ok(instance) => Ok(Peer { store, instance }),
            Err(error) => Err(theirs(Err(error))),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Constant], results: usize) -> Outcome {
        self.store.set_fuel(FUEL).expect("fuel is on");
        let function = self.instance.get_func(&self.store, name).expect("it has the export");
        let inputs: Vec<Val> = arguments.iter().map(|&argument| val(argument)).collect();
        let mut outputs = vec![Val::I32(0); results];
        theirs(function.call(&mut self.store, &inputs, &mut outputs).map(|()| outputs))
    }
}

/// Counts of a campaign on the simulator.
#[derive(Debug, Default)]
struct Simulated {
    modules: usize,
    calls: usize,
    traps: usize,
    launches: u64,
    cycles: u64,
    /// Why modules were left out, or their calls from one on.
    left_out: BTreeMap<String, usize>,
}

/// Compares a module: the lanes of a wave have two kinds of instances, each called with arguments of its own, and for
/// each there is one in the other engine.
fn simulate(seed: u64, counts: &mut Simulated) {
    let mut random = Pcg64::seed_from_u64(seed);
    let Some(bytes) = module(&mut random) else { return };
    let module = decode(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}")).module;
    let mut leave_out = |reason: &str| *counts.left_out.entry(reason.to_owned()).or_default() += 1;
    let mut peers = match [Peer::new(&bytes), Peer::new(&bytes)] {
        [Ok(first), Ok(second)] => [first, second],
        [Err(Outcome::Bound), _] => return leave_out("the start takes too long"),
        // What a trap of the start leaves, nobody sees.
        _ => return leave_out("the start traps"),
    };
    let mut simulator = Simulator::of(&module).unwrap_or_else(|trap| panic!("seed {seed}: {trap}"));
    if let Some(start) = module.start {
        match simulator.launch(&module, start, [&[], &[]]) {
            Ok([(Ended::Returned, _), (Ended::Returned, _)]) => {}
            Ok(other) => panic!("seed {seed}: the start ended as {other:x?}"),
            Err(NoLaunch::Compile(error)) => return leave_out(&missing(&error)),
            Err(NoLaunch::Wrong(what)) => panic!("seed {seed}: {what}"),
        }
    }
    let mut calls = 0;
    for (name, exported) in &module.exports {
        let Exported::Function(function) = *exported else { continue };
        let signature = &module.functions[function].signature;
        let arguments: [Vec<Constant>; 2] = std::array::from_fn(|_| {
            let mut bits = || if random.random() { random.random_range(0..64) } else { random.random() };
            signature.parameters.iter().map(|&ty| Constant::from_bits(ty, bits())).collect()
        });
        let wanted: Vec<Outcome> = peers
            .iter_mut()
            .zip(&arguments)
            .map(|(peer, arguments)| peer.call(name, arguments, signature.results.len()))
            .collect();
        if wanted.contains(&Outcome::Bound) {
            // What was done until then differs.
            leave_out("a call takes too long in the other engine");
            break;
        }
        let found = match simulator.launch(&module, function, [&arguments[0], &arguments[1]]) {
            Ok(found) => found,
            Err(NoLaunch::Compile(error)) => {
                leave_out(&missing(&error));
                break;
            }
            Err(NoLaunch::Wrong(what)) => panic!("seed {seed}, `{name}` of {arguments:x?}: {what}"),
        };
        for ((ended, results), wanted) in found.into_iter().zip(&wanted) {
            let has = match ended {
                Ended::Returned => ours(Ok(results)),
                Ended::Trapped(trap, _) => ours(Err(trap)),
                Ended::Not => Outcome::Bound,
            };
            assert!(
                is_same(&has, wanted),
                "seed {seed}, `{name}` of {arguments:x?}: {has:x?}, not {wanted:x?}"
            );
            counts.traps += usize::from(matches!(has, Outcome::Trap(_)));
        }
        calls += 1;
    }
    if calls == 0 {
        return;
    }
    counts.modules += 1;
    counts.calls += calls;
    counts.launches += simulator.launches;
    counts.cycles += simulator.cycles;
    // A call that only one engine made has changed what is there.
    let is_whole =
        calls == module.exports.iter().filter(|(_, it)| matches!(it, Exported::Function(_))).count();
    for (state, peer) in simulator.states().iter().zip(&peers).filter(|_| is_whole) {
        for (name, exported) in &module.exports {
            match *exported {
                Exported::Global(global) => {
                    let there = peer.instance.get_global(&peer.store, name).expect("it has the export");
                    assert_eq!(
                        state.globals[global].bits(),
                        bits(&there.get(&peer.store)),
                        "seed {seed}: `{name}`"
                    );
                }
                Exported::Memory(memory) => {
                    let there = peer.instance.get_memory(&peer.store, name).expect("it has the export");
                    assert!(state.memories[memory] == there.data(&peer.store), "seed {seed}: `{name}`");
                }
                _ => {}
            }
        }
    }
}

fn simulated_campaign(modules: u64) {
    let mut counts = Simulated::default();
    for seed in 0..modules {
        simulate(seed, &mut counts);
    }
    println!("{modules} modules on the simulator, no difference: {counts:#?}");
    assert!(counts.modules > 0 && counts.calls > 0);
}

#[test]
fn random_modules_do_the_same_on_the_simulator() {
    simulated_campaign(40);
}

/// `cargo test -p wave-compile --test wasm -- --ignored ten_thousand_random_modules_on_the_simulator --nocapture`
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_modules_on_the_simulator() {
    simulated_campaign(10_000);
}
