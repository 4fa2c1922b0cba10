//! Checks that modules follow the import order that ARCHITECTURE.md states, and that the files which documents link exist.

mod imports;

use imports::Sources;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The library, read once.
static SOURCES: LazyLock<Sources> = LazyLock::new(|| Sources::of_crate(&source().join("lib.rs")));

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn order() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let line = text.lines().find(|l| l.starts_with("    isa → ")).expect("the order of the modules");
    line.split('→').map(|name| name.trim().to_owned()).collect()
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
        // An item of the root leads anywhere.
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
    assert_eq!(against(&order(), &SOURCES), Vec::<String>::new());
}

/// Nothing is overlooked: all modules of the order import something or are imported, and every file that is no test was read.
#[test]
fn every_module_is_read() {
    let named: BTreeSet<&str> =
        SOURCES.imports.iter().flat_map(|import| [import.from.as_str(), import.to.as_str()]).collect();
    assert_eq!(named, order().iter().map(String::as_str).collect());
    assert!(SOURCES.imports.len() > 1000, "{} paths", SOURCES.imports.len());
    let read: BTreeSet<_> = SOURCES.files.iter().cloned().collect();
    let others: Vec<_> = files(&source(), "rs").into_iter().filter(|file| !read.contains(file)).collect();
    // Tests beside what they test, and the command, which only calls the library.
    let is_test = |file: &Path| {
        let inside = file.strip_prefix(source()).expect("it is in there").to_string_lossy().into_owned();
        inside == "main.rs" || inside.contains("/tests/") || inside.ends_with("tests.rs")
    };
    let lost: Vec<_> = others.iter().filter(|file| !is_test(file)).collect();
    assert!(lost.is_empty(), "no `mod` leads to {lost:?}");
}

#[test]
fn the_check_sees_an_import_that_goes_back() {
    let mut reversed = order();
    reversed.reverse();
    let wrong = against(&reversed, &SOURCES);
    assert!(wrong.iter().any(|w| w.ends_with("config names crate::isa")), "{} of them", wrong.len());
    let mut sources = Sources::default();
    let planted = "#[cfg(test)]\nmod tests;\nuse crate::cli::Args;";
    sources.text(planted, Path::new("x.rs"), Path::new("nowhere"), &["isa".to_owned()]);
    assert_eq!(against(&order(), &sources), ["x.rs:3: isa names crate::cli"]);
    sources.imports[0].to = "Unknown".to_owned();
    assert_eq!(against(&order(), &sources), ["x.rs:3: isa names crate::Unknown"]);
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
        let text = fs::read_to_string(&page).unwrap();
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
