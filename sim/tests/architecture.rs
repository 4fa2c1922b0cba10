//! Checks that modules follow the import order that ARCHITECTURE.md states.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn order() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let line = text.lines().find(|l| l.starts_with("    isa → ")).expect("the order of the modules");
    line.split('→').map(|name| name.trim().to_owned()).collect()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

/// The modules that a source text names as `crate::module` outside its tests, comments aside.
fn imports(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().take_while(|l| !l.starts_with("#[cfg(test)]")) {
        let code = line.split("//").next().unwrap_or("");
        for (at, _) in code.match_indices("crate::") {
            let name: String =
                code[at + 7..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            found.insert(name);
        }
    }
    found
}

fn backward_imports(order: &[String]) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in files(&source) {
        let inside = file.strip_prefix(&source).unwrap().to_string_lossy().into_owned();
        let module = inside.split(['/', '.']).next().unwrap().to_owned();
        // Test files sit beside what they test and may look anywhere.
        if ["lib", "main"].contains(&module.as_str()) || inside.contains("tests") {
            continue;
        }
        let place = |name: &str| order.iter().position(|m| m == name);
        let mine = place(&module).unwrap_or_else(|| panic!("{module} is not in ARCHITECTURE.md"));
        for name in imports(&fs::read_to_string(&file).unwrap()) {
            if place(&name).is_some_and(|theirs| theirs > mine) {
                wrong.push(format!("{inside} imports crate::{name}"));
            }
        }
    }
    wrong
}

#[test]
fn imports_go_one_way() {
    assert_eq!(backward_imports(&order()), Vec::<String>::new());
}

#[test]
fn the_check_sees_an_import_that_goes_back() {
    let mut reversed = order();
    reversed.reverse();
    assert!(backward_imports(&reversed).iter().any(|w| w.contains("crate::isa")));
}

#[test]
fn every_page_that_the_map_links_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (at, _) in text.match_indices("](docs/") {
        let page = text[at + 2..].split(')').next().unwrap();
        assert!(root().join(page).exists(), "{page} is missing");
    }
}
