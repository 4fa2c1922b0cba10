//! Lines of C: what clang does not lose of them, and what the compiler keeps.

use crate::clang;
use std::path::Path;
use wave_compile::backend::{Options, compile};
use wave_compile::c::{self, CompileOptions};
use wave_compile::ir::Exported;
use wave_compile::source::{Source, SourceOptions};
use wave_isa::{ExecClass, Inst};
use wave_study::launch;
use wave_testing::golden::root;

/// Arithmetic instructions of the exported functions of a source, and those of them without a line.
fn arithmetic(path: &Path, sinks: bool) -> (usize, usize) {
    let options = CompileOptions { sinks, ..CompileOptions::default() };
    let built = c::compile(path, &options).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let source = Source::read(Path::new("k.wasm"), &built.wasm, &SourceOptions::default());
    let source = source.unwrap_or_else(|errors| panic!("{errors:?}")).expect("it is a module");
    let (mut all, mut lost) = (0, 0);
    for (_, exported) in &source.module.exports {
        let Exported::Function(function) = *exported else { continue };
        let Ok(compiled) = compile(&source.module, function, &Options::default()) else { continue };
        let code = &compiled.program.code;
        let mut word = 0;
        while word < code.len() {
            let inst = Inst::decode(&code[word..]).expect("the back end makes valid instructions");
            let class = inst.op.info().class;
            let is_memory = inst.op.memory().is_some();
            if !is_memory && !matches!(class, ExecClass::Control) {
                all += 1;
                lost += usize::from(source.line(compiled.places[word]).is_none());
            }
            word += inst.words() as usize;
        }
    }
    (all, lost)
}

/// A Sobel filter whose results only a branch takes, with an atomic in it.
#[test]
fn arithmetic_that_only_a_branch_takes_has_lines() {
    if !clang() {
        return;
    }
    let path = root().join("sim/compile/tests/c/lines/sobel.c");
    let (all, lost) = arithmetic(&path, false);
    assert!(all > 60 && lost * 10 <= all, "{lost} of {all} instructions have no line");
    // Else clang does not lose them, and the flag has no use.
    let (all, lost) = arithmetic(&path, true);
    assert!(lost * 3 > all, "{lost} of {all} instructions have no line");
}

#[test]
fn programs_of_the_suite_lose_fewer_lines_than_with_code_that_moves() {
    if !clang() {
        return;
    }
    let (mut kept, mut moved) = ((0, 0), (0, 0));
    for name in launch::c_suite() {
        let name = name.strip_prefix("c/").expect("it is in C");
        let path = root().join(format!("sim/kernels/c/{name}.c"));
        let (all, lost) = arithmetic(&path, false);
        assert!(all > 0 && lost * 3 < all, "{name}: {lost} of {all} instructions have no line");
        kept = (kept.0 + all, kept.1 + lost);
        let (all, lost) = arithmetic(&path, true);
        moved = (moved.0 + all, moved.1 + lost);
    }
    assert!(kept.0 > 1000 && kept.1 < moved.1, "{kept:?}, and {moved:?} with code that moves");
}
