//! Programs in AssemblyScript with its default runtime: their calls are many and deeply nested. What they come to is what
//! Node.js says of the same module. The function `abort` that it imports is called by none of them.

use super::simulated::Simulator;
use std::sync::Arc;
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, verify};
use wave_compile::lower::instance::{DEFAULT_TABLE_PLACES, Ended, InstanceOptions, instances};
use wave_compile::wasm::{UnknownImports, decode_with};
use wave_compile::{Options, compile};

/// Function, arguments, result.
const CALLS: [(&str, &[u32], Constant); 4] = [
    ("words", &[7, 12], Constant::I32(1_497_855_851)),
    ("tree", &[7, 12], Constant::I32(5)),
    ("join", &[6], Constant::I32(68)),
    ("floats", &[5], Constant::F64(0x3FC3_84F4_33D6_5660)),
];

#[test]
fn the_default_runtime_fits_in_the_nesting_of_a_machine() {
    let bytes = include_bytes!("assemblyscript/words.wasm");
    let module = decode_with(bytes, UnknownImports::Trap).unwrap_or_else(|error| panic!("{error}")).module;
    verify::verify(&module).unwrap_or_else(|error| panic!("{error}"));
    let instance = Instance::new(Arc::new(module.clone())).expect("it starts");
    let mut deepest = 0;
    for (name, arguments, result) in CALLS {
        let found = module.exports.iter().find(|(export, _)| export == name);
        let Some(&(_, Exported::Function(function))) = found else { panic!("{name}") };
        let arguments: Vec<Constant> = arguments.iter().map(|&bits| Constant::I32(bits)).collect();
        assert_eq!(instance.call(function, &arguments, &Limits::default()), Ok(vec![result]), "{name}");

        let most_places = DEFAULT_TABLE_PLACES;
        let options =
            InstanceOptions { function, start: module.start, most_pages: 2, most_places, lanes: 64 };
        let instances = instances(&module, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let options = Options::of_instances(&instances);
        let compiled = compile(&instances.module, instances.entry, &options);
        let compiled = compiled.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(compiled.statistics.nesting <= options.nesting, "{name}: {:?}", compiled.statistics);
        deepest = deepest.max(compiled.statistics.nesting);

        let mut simulator = Simulator::of(&module).expect("segments fit");
        let start = module.start.expect("the runtime has one");
        for (function, arguments, result) in [(start, &[][..], vec![]), (function, &arguments, vec![result])]
        {
            let called = simulator.launch(&module, function, [arguments, arguments]);
            let of_both = called.ok().unwrap_or_else(|| panic!("{name} does not run"));
            assert_eq!(of_both, [(); 2].map(|()| (Ended::Returned, result.clone())), "{name}");
        }
    }
    // Else nothing here needs what is tested.
    assert!(deepest > 24, "{deepest}");
}
