//! Checks that crates and their modules follow the import order that ARCHITECTURE.md states, that the files which
//! documents link exist, and that the code for observers can be told from the rest.

mod core;
mod imports;
mod names;

use imports::Sources;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// A crate of the workspace.
struct Library {
    /// Its folder in `sim/`.
    name: String,
    /// Its modules, each before those that may import it.
    order: Vec<String>,
    sources: Sources,
}

/// The crates whose modules have an order, in the order of the crates. Read once.
static LIBRARIES: LazyLock<Vec<Library>> = LazyLock::new(|| {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    let libraries = lines.filter(|(_, modules)| modules.contains('→')).map(|(name, modules)| Library {
        name: name.to_owned(),
        order: modules.split('→').map(|module| module.trim().to_owned()).collect(),
        sources: Sources::of_crate(&folder(name).join("src/lib.rs")),
    });
    libraries.collect()
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of a crate.
fn folder(name: &str) -> PathBuf {
    root().join("sim").join(name)
}

/// Files below a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

/// Imports against the order, and names that it does not know.
fn against(order: &[String], sources: &Sources) -> Vec<String> {
    let place = |name: &str| order.iter().position(|module| module == name);
    let wrong = sources.imports.iter().filter(|import| match (place(&import.from), place(&import.to)) {
        (Some(from), Some(to)) => to > from,
        // What the root declares itself depends on no module.
        (Some(_), None) => !sources.of_root.contains(&import.to),
        _ => true,
    });
    wrong.map(|import| format!("{}: {} names crate::{}", import.place, import.from, import.to)).collect()
}

/// The imports of a module that has this text.
fn of_text(text: &str, module: &[&str]) -> Vec<String> {
    let mut sources = Sources::default();
    let module: Vec<String> = module.iter().map(|&name| name.to_owned()).collect();
    sources.text(text, Path::new("x.rs"), Path::new("nowhere"), &module);
    sources.imports.into_iter().map(|import| format!("{} {}", import.place, import.to)).collect()
}

#[test]
fn imports_go_one_way() {
    assert_eq!(LIBRARIES.len(), 8);
    for library in LIBRARIES.iter() {
        assert_eq!(against(&library.order, &library.sources), Vec::<String>::new());
    }
}

/// A crate depends on those before it only. Tests may use all of them.
#[test]
fn crates_depend_one_way() {
    let mut before = BTreeSet::from(["capture", "files", "driver", "runtime"]);
    for name in LIBRARIES.iter().map(|library| library.name.as_str()).chain(["cli", "python"]) {
        let text = fs::read_to_string(folder(name).join("Cargo.toml")).unwrap();
        let (_, rest) = text.split_once("[dependencies]").expect("dependencies");
        let rest = rest.split("\n[").next().unwrap();
        let ours = rest.lines().filter_map(|line| line.strip_prefix("wave-")?.split_once('.'));
        let ours: Vec<&str> = ours.map(|(dependency, _)| dependency).collect();
        assert!(ours.iter().all(|dependency| before.contains(dependency)), "{name} depends on {ours:?}");
        assert!(!ours.is_empty(), "{name} depends on {ours:?}");
        // Each is a wall of its own: the checks of the simulator do not see its studies.
        assert!(name != "verify" || !ours.contains(&"study"));
        // The package of the command line is `wave-sim`.
        before.insert(if name == "cli" { "sim" } else { name });
    }
}

/// Nothing is overlooked: all modules of the order import something or are imported, and every file that is no test was read.
#[test]
fn every_module_is_read() {
    let mut imports = 0;
    for Library { name, order, sources } in LIBRARIES.iter() {
        let source = folder(name).join("src");
        assert_eq!(sources.modules, order.iter().cloned().collect(), "modules of {name}");
        imports += sources.imports.len();
        let read: BTreeSet<_> = sources.files.iter().cloned().collect();
        let others = files(&source, "rs").into_iter().filter(|file| !read.contains(file));
        // Tests beside what they test.
        let is_test = |file: &Path| {
            let inside = file.strip_prefix(&source).expect("it is in there").to_string_lossy().into_owned();
            inside.contains("/tests/") || inside.ends_with("tests.rs")
        };
        let lost: Vec<_> = others.filter(|file| !is_test(file)).collect();
        assert!(lost.is_empty(), "no `mod` leads to {lost:?}");
    }
    assert!(imports > 500, "{imports} paths");
}

#[test]
fn the_check_sees_an_import_that_goes_back() {
    let machine = LIBRARIES.iter().find(|library| library.name == "machine").unwrap();
    let mut reversed = machine.order.clone();
    reversed.reverse();
    let wrong = against(&reversed, &machine.sources);
    assert!(wrong.iter().any(|w| w.ends_with("gpu names crate::core")), "{} of them", wrong.len());
    let mut sources = Sources::default();
    let planted = "#[cfg(test)]\nmod tests;\nuse crate::gpu::Machine;";
    sources.text(planted, Path::new("x.rs"), Path::new("nowhere"), &["config".to_owned()]);
    assert_eq!(against(&machine.order, &sources), ["x.rs:3: config names crate::gpu"]);
    sources.imports[0].to = "Unknown".to_owned();
    assert_eq!(against(&machine.order, &sources), ["x.rs:3: config names crate::Unknown"]);
}

#[test]
fn the_check_reads_every_form_of_a_path() {
    for (text, found) in [
        ("use crate::a;", &["x.rs:1 a"][..]),
        ("use crate::{a, b::{c, d}, e as f};", &["x.rs:1 a", "x.rs:1 b", "x.rs:1 e"]),
        ("use crate::{\n    self as all,\n};", &[]),
        ("use crate::*;", &["x.rs:1 *"]),
        ("use super::super::a::B;", &["x.rs:1 a"]),
        ("use super::{super::a, c};", &["x.rs:1 a", "x.rs:1 m"]),
        ("use super::c;", &["x.rs:1 m"]),
        ("fn f() { crate::a::g(crate::b::H) }", &["x.rs:1 a", "x.rs:1 b"]),
        ("fn f() { assert!(x == crate::a::Y); }", &["x.rs:1 a"]),
        ("mod inner { use super::super::super::a; }", &["x.rs:1 a"]),
        // The words of an item for tests are none, what comes after it are.
        ("#[cfg(test)]\nmod tests { use crate::a; }\nuse crate::b;", &["x.rs:3 b"]),
        ("#[cfg(test)]\nmod tests;\nuse crate::b;", &["x.rs:3 b"]),
        ("#[cfg(test)]\nuse crate::{a, c};\nuse crate::b;", &["x.rs:3 b"]),
        ("impl X { #[cfg(test)] fn f() { crate::a() } fn g() { crate::b::c() } }", &["x.rs:1 b"]),
        ("// use crate::a;\nconst T: &str = \"crate::a\"; /* crate::a */", &[]),
        ("use std::a::crate_::b; use a::b;", &[]),
    ] {
        assert_eq!(of_text(text, &["m", "n"]), found, "{text}");
    }
}

/// A document without what stands in code, which may look like a link.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// Relative links of a document, without the part of the page.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let relative = targets.filter(|target| !target.contains("://") && !target.contains(char::is_whitespace));
    relative.filter_map(|target| target.split('#').next()).filter(|file| !file.is_empty()).collect()
}

#[test]
fn every_file_that_a_document_links_exists() {
    let root = root().canonicalize().unwrap();
    let folders = ["docs", "rtl-tests", "traces"].map(|folder| files(&root.join(folder), "md"));
    let top = ["ARCHITECTURE.md", "CHANGELOG.md", "README.md"].map(|page| root.join(page));
    let mut seen = 0;
    let mut missing = Vec::new();
    for page in folders.into_iter().flatten().chain(top) {
        let text = without_code(&fs::read_to_string(&page).unwrap());
        for link in links(&text) {
            seen += 1;
            if !page.parent().unwrap().join(link).exists() {
                missing.push(format!("{} links {link}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 50, "only {seen} links");
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    assert!(links(&map).len() > 15, "the map links {:?}", links(&map));
    assert_eq!(links("[a](b.md#c) [d](https://e) [f](#g) x](h i) [j](../k)"), ["b.md", "../k"]);
}

/// The script stops if it leaves code for observers, so it has to know every way in which the machine asks for one.
#[test]
fn the_machine_without_code_for_observers_can_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3")
        .arg(root().join("scripts/without_observers.py"))
        .arg(folder.path())
        .output()
        .expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The files that write to the terminal, each with its words. What they print is made visible there; everything else goes
/// through them, so that no name out of a file reaches a terminal as it is.
const PRINTS: [(&str, &[&str]); 7] = [
    ("cli/src/terminal.rs", &["stdout()", "stderr()"]),
    ("cli/src/progress.rs", &["with_message(", "set_message("]),
    // The answers of a process that runs points go to the one that started it.
    ("cli/src/sweep/worker.rs", &["stdout()"]),
    // Only whether there is a terminal.
    ("cli/src/sweep/mod.rs", &["stderr()"]),
    ("study/build.rs", &["println!("]),
    ("cli/build.rs", &["println!("]),
    // In the process of a program, where no simulator is.
    ("runtime/src/connection.rs", &["println!("]),
];

#[test]
fn one_place_writes_to_the_terminal() {
    const WORDS: [&str; 7] =
        ["print!(", "println!(", "stdout()", "stderr()", "set_message(", "with_message(", "set_prefix("];
    let mut met = BTreeSet::new();
    for file in files(&root().join("sim"), "rs") {
        let name = file.strip_prefix(root().join("sim")).unwrap().to_string_lossy().replace('\\', "/");
        let others = ["/tests/", "/benches/", "/examples/", "testing/", "tests.rs"];
        if others.iter().any(|part| name.contains(part)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for word in WORDS.into_iter().filter(|word| code.contains(word)) {
            let is_allowed = PRINTS.iter().any(|(file, words)| *file == name && words.contains(&word));
            assert!(is_allowed, "{name} has {word}");
            met.insert((name.clone(), word));
        }
    }
    let wanted = PRINTS.iter().map(|(_, words)| words.len()).sum::<usize>();
    assert_eq!(met.len(), wanted, "{met:?}");
}

/// Pointers are the business of two places.
#[test]
fn unsafe_code_is_where_the_book_says() {
    let sources = files(&root().join("sim"), "rs").into_iter();
    let unsafe_ones = sources.filter(|file| {
        let text = fs::read_to_string(file).unwrap();
        ["unsafe {", "unsafe fn", "unsafe extern", "unsafe impl"].iter().any(|word| text.contains(word))
    });
    let place = |file: PathBuf| file.strip_prefix(root().join("sim")).unwrap().to_string_lossy().into_owned();
    let places: Vec<String> = unsafe_ones
        .map(place)
        .filter(|place| !place.contains("tests/") && !place.starts_with("kernels/"))
        .collect();
    assert!(places.len() >= 2, "{places:?}");
    for place in places {
        assert!(place.starts_with("driver/src/") || place == "runtime/src/ffi.rs", "{place}");
    }
}

/// `.cargo/config.toml` reaches every build: CMake 4 refuses a reference model of the tests without it.
#[test]
fn builds_tell_cmake_4_to_take_old_projects() {
    assert_eq!(option_env!("CMAKE_POLICY_VERSION_MINIMUM"), Some("3.5"));
}
