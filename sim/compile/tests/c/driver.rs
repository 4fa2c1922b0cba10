//! Sources to modules, and messages.

use crate::clang;
use std::path::{Path, PathBuf};
use wave_compile::c::{self, CompileOptions};
use wave_compile::ir::{Exported, Module, Operation, verify::verify};
use wave_compile::wasm;
use wave_testing::golden::root;

fn case(name: &str) -> PathBuf {
    root().join("sim/compile/tests/c/cases").join(name)
}

/// Compiles; warnings are errors.
fn build(path: &Path) -> Vec<u8> {
    let built = c::compile(path, &CompileOptions::default())
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(built.warnings.is_empty(), "{:?}", built.warnings);
    built.wasm
}

fn decoded(wasm: &[u8]) -> wasm::Decoded {
    let decoded = wasm::decode(wasm).unwrap_or_else(|error| panic!("{error}"));
    verify(&decoded.module).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(decoded.is_kernel);
    decoded
}

fn operations(module: &Module) -> impl Iterator<Item = &Operation> {
    let blocks = module.functions.values().flat_map(|function| function.blocks.values());
    blocks.flat_map(|block| block.instructions.iter().map(|instruction| &instruction.operation))
}

/// Writes a source into a folder of its own and compiles it.
fn compile_text(name: &str, text: &str, options: &CompileOptions) -> Result<c::Built, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("it can be written");
    let shown = path.display().to_string();
    c::compile(&path, options).map_err(|error| error.render(false).replace(&shown, name))
}

fn rejected(name: &str, text: &str) -> String {
    compile_text(name, text, &CompileOptions::default()).expect_err("it is wrong")
}

/// Writes a shell script that can be run.
fn script_of(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("it can be written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it can be set");
}

#[test]
fn the_header_compiles_and_says_what_a_kernel_needs() {
    if !clang() {
        return;
    }
    let decoded = decoded(&build(&case("header.c")));
    let kernels = wasm::kernels(&decoded.module);
    let [kernel] = &kernels[..] else { panic!("{kernels:?}") };
    assert_eq!(kernel.name, "everything");
    assert_eq!(kernel.local_memory_bytes, Some(4 * 9 * 4 + 8 * 8 + 2 * 16 + 16 * 4 + 8));
    assert_eq!(kernel.workgroup_size, Some([8, 4, 1]));
    let exports: Vec<&str> = decoded.module.exports.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        ["__heap_base", "__stack_pointer", "memory"].iter().all(|name| exports.contains(name)),
        "{exports:?}"
    );
    // Memory holds data only: the stack has no bytes.
    let value = |name: &str| match decoded.module.exports.iter().find(|(export, _)| export == name) {
        Some((_, Exported::Global(global))) => decoded.module.globals[*global].initial,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(value("__stack_pointer"), value("__heap_base"));
    // The linker puts functions of the library in.
    let called = |name: &str| decoded.module.functions.values().any(|f| f.name.as_deref() == Some(name));
    assert!(called("memcpy") && called("memset") && !called("memmove"));
    // A conversion to an integer saturates as the machine does, and traps nowhere.
    let traps =
        |operation: &Operation| matches!(operation, Operation::Convert(convert, _) if convert.traps());
    assert!(!operations(&decoded.module).any(traps));
}

#[test]
fn lines_are_those_of_the_source() {
    if !clang() {
        return;
    }
    let path = case("header.c");
    let text = std::fs::read_to_string(&path).expect("the case is there");
    let decoded = decoded(&build(&path));
    let kernel = wasm::kernels(&decoded.module)[0].function;
    let mut lines = Vec::new();
    for instruction in decoded.module.functions[kernel].blocks.values().flat_map(|block| &block.instructions)
    {
        let Some(line) = decoded.source.line(instruction.at).filter(|line| line.line > 0) else { continue };
        // What a helper of wave.h does is on the line that calls it.
        assert!(line.file.ends_with("cases/header.c"), "{line:?} for {instruction:?}");
        if matches!(instruction.operation, Operation::Barrier) {
            lines.push(text.lines().nth(line.line as usize - 1).expect("the line is there").trim());
        }
    }
    assert_eq!(lines, ["barrier();"]);
    let no_folder = decoded.source.files().iter().all(|file| !file.contains(".wave-sim-"));
    assert!(no_folder, "{:?}", decoded.source.files());
}

#[test]
fn cpp_is_compiled_too() {
    if !clang() {
        return;
    }
    let decoded = decoded(&build(&case("tile.cpp")));
    let kernels = wasm::kernels(&decoded.module);
    assert_eq!(kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>(), ["reverse"]);
    assert_eq!(kernels[0].local_memory_bytes, Some(64 * 4 + 4 * 8));
}

#[test]
fn the_same_source_gives_the_same_bytes_and_flags_win() {
    if !clang() {
        return;
    }
    let path = case("header.c");
    let first = build(&path);
    assert!(first == build(&path), "another folder gives another module");
    let options = CompileOptions { flags: vec!["-O0".to_owned()], ..CompileOptions::default() };
    let unoptimised = c::compile(&path, &options).expect("it is right").wasm;
    assert!(unoptimised != first);
    // What is stated is found without optimisation too.
    let kernels = wasm::kernels(&decoded(&unoptimised).module);
    assert_eq!((kernels.len(), kernels[0].workgroup_size), (1, Some([8, 4, 1])), "{kernels:?}");
}

#[test]
fn errors_are_those_of_clang_with_their_places() {
    if !clang() {
        return;
    }
    let error = rejected("k.c", "#include <wave.h>\nKERNEL void k(float *x)\n{\n    x[0] = y;\n}\n");
    assert!(error.contains("k.c:4:12: error: use of undeclared identifier 'y'"), "{error}");
    assert!(error.contains("    x[0] = y;") && error.contains('^'), "{error}");
    let error = rejected("k.c", "#include <wave.h>\nvoid f(void);\nKERNEL void k(void) { f(); }\n");
    assert!(
        error.contains("undefined symbol: f") && error.contains("k.o") && error.contains("C library"),
        "{error}"
    );
    assert!(!error.contains(".wave-sim-"), "{error}");
    let error = rejected("k.c", "#include <wave.h>\nKERNEL void k(LOCAL float *x, float *y) { *y = *x; }\n");
    assert!(error.contains("noderef") && error.contains("local_load()"), "{error}");
    let error = rejected("k.f90", "end\n");
    assert!(error.contains("neither C nor C++") && error.contains(".cpp"), "{error}");
    let missing =
        c::compile(Path::new("no/such.c"), &CompileOptions::default()).expect_err("it is not there");
    assert!(missing.message.contains("no/such.c"), "{missing:?}");
    let warned = compile_text(
        "k.c",
        "#include <wave.h>\n#warning look here\nKERNEL void k(float *x) { x[0] = 1; }\n",
        &CompileOptions::default(),
    )
    .expect("a warning is no error");
    assert!(warned.warnings[0].message.contains("look here"), "{:?}", warned.warnings);
}

#[test]
fn a_clang_that_will_not_do_is_named() {
    let source = "#include <wave.h>\nKERNEL void k(void) {}\n";
    let with = |clang: PathBuf| {
        let options = CompileOptions { clang: Some(clang), ..CompileOptions::default() };
        compile_text("k.c", source, &options).expect_err("it will not do")
    };
    let error = with("/no/such/clang".into());
    assert!(error.contains("there is no `/no/such/clang`") && error.contains(c::INSTALL), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    for (says, expected) in [
        ("clang version 9.0.1", "is clang 9: kernels in C need 14 or newer"),
        ("gcc 12", "does not say that it is clang"),
    ] {
        let script = folder.path().join("clang");
        script_of(&script, &format!("echo '{says}'"));
        let error = with(script);
        assert!(error.contains(expected) && error.contains(c::INSTALL), "{error}");
    }
}

/// Nothing stays in the folder for temporary files, whether it goes well or not.
#[test]
fn nothing_is_left_behind() {
    if !clang() {
        return;
    }
    // A clang that notes the folder that it is given.
    let folder = tempfile::tempdir().expect("a folder");
    let (script, noted) = (folder.path().join("clang"), folder.path().join("noted"));
    script_of(&script, &format!("echo $TMPDIR >>{}\nexec clang \"$@\"", noted.display()));
    let options = CompileOptions { clang: Some(script), ..CompileOptions::default() };
    for text in [
        "#include <wave.h>\nKERNEL void left(void) {}\n",
        "void left(void);\nvoid f(void) { left(); }\n",
        "{",
    ] {
        _ = compile_text("k.c", text, &options);
    }
    let noted = std::fs::read_to_string(noted).expect("it was called");
    let folders: Vec<&str> = noted.lines().filter(|line| line.contains(".wave-sim-")).collect();
    // Two that are compiled and linked, and one that is not linked.
    assert_eq!(folders.len(), 5, "{noted}");
    assert!(folders.iter().all(|folder| !Path::new(folder).exists()), "{noted}");
}
