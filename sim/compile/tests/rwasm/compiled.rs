//! Files that the compiler of rWasm itself has made, of modules in WebAssembly beside them: the two do the same.
//!
//! The crate `rwasm` 0.30.0 of github.com/fluentlabs-xyz/rwasm, commit `c85d93b0`, made them with
//! `RwasmModule::default_config`, without an entry point.

use super::encode::encode;
use super::peer::{Counts, Modules};
use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use std::fs;
use std::path::Path;
use wave_compile::wasm;

/// Calls of each function.
const ROUNDS: usize = 60;

#[test]
fn files_of_the_compiler_do_the_same_as_webassembly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rwasm/compiled");
    let mut counts = Counts::default();
    let (mut files, mut negative) = (0, 0);
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|extension| extension != "wat") {
            continue;
        }
        files += 1;
        let name = path.file_name().expect("it has one").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("it can be read");
        let bytes = wasm::encode(&name, &text).expect("it is right");
        let compiled = fs::read(path.with_extension("rwasm")).expect("it was compiled");
        // A constant below zero, as the compiler writes it.
        negative +=
            compiled[24..].chunks_exact(9).filter(|word| word[0] == 0x3E && word[5..] == [0xFF; 4]).count();
        let encoded = encode(&bytes, None).expect("the encoding has all of it");
        let modules = Modules { name: &name, wasm: &bytes, rwasm: &compiled, encoded: &encoded };
        let mut random = Pcg64::seed_from_u64(files);
        modules.do_the_same(ROUNDS, &mut random, &mut counts).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    assert_eq!((files, counts.modules, counts.memories), (3, 3, 1), "{counts:?}");
    assert!(negative > 20 && counts.calls > 1000 && counts.traps > 50, "{negative} constants, {counts:?}");
}
