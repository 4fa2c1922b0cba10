//! The core of the machine stays apart in stages: few methods that see all of it, no import in a circle, few wake-ups by hand.

use super::{files, folder};
use crate::imports::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Methods of `Core`, which see all of a core. A stage sees what it is given.
const METHODS: usize = 30;

/// Places that say by hand that something has to be looked at: see [`wake_ups`].
const WAKE_UPS: usize = 19;

fn core() -> PathBuf {
    folder("machine").join("src/core")
}

/// The code of the files of the core, without comments and tests, by their names.
fn sources() -> BTreeMap<String, String> {
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let name = file.strip_prefix(core()).unwrap().to_string_lossy().replace('\\', "/");
        (name, lines.collect::<Vec<_>>().join("\n"))
    };
    files(&core(), "rs").into_iter().map(read).collect()
}

/// The methods in blocks `impl Core` of a text.
fn methods(code: &str) -> usize {
    let blocks = code.split("\nimpl Core {").skip(1).map(|rest| rest.split("\n}").next().unwrap());
    let is_method = |line: &&str| {
        let item = line.strip_prefix("    ").filter(|item| !item.starts_with(' '));
        item.is_some_and(|item| item.starts_with("fn ") || item.starts_with("pub") && item.contains(" fn "))
    };
    blocks.map(|block| block.lines().filter(is_method).count()).sum()
}

/// Calls that make a scheduler look again, and writes of the cycle in which a core wakes. Waves do the former themselves when
/// their state changes (`wave.rs`), and latches are asked for the latter.
fn wake_ups(file: &str, code: &str) -> usize {
    const SAID: [&str; 5] = [".look_again(", ".wake =", ".have_room(", ".all_by(", ".have_read("];
    let by_waves = if file == "wave.rs" { code.matches("self.touch(").count() } else { 0 };
    SAID.iter().map(|words| code.matches(words).count()).sum::<usize>() + by_waves
}

#[test]
fn few_methods_see_all_of_a_core() {
    let found: usize = sources().values().map(|code| methods(code)).sum();
    assert!((15..=METHODS).contains(&found), "{found} methods of `Core`");
    assert_eq!(
        methods(
            "x\nimpl Core {\n    /// A\n    pub fn a() {\n        fn no() {}\n    }\n    fn b() {}\n}\nfn c() {}"
        ),
        2
    );
}

#[test]
fn few_wake_ups_are_by_hand() {
    let found: BTreeMap<_, _> = sources()
        .into_iter()
        .map(|(file, code)| (wake_ups(&file, &code), file))
        .filter(|(n, _)| *n > 0)
        .map(|(n, file)| (file, n))
        .collect();
    let all: usize = found.values().sum();
    assert!((5..=WAKE_UPS).contains(&all), "{all} wake-ups by hand: {found:?}");
}

/// Modules that import one another in a circle, and what each of them imports.
fn circle(imports: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut left: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in imports.iter().filter(|(from, to)| from != to) {
        left.entry(from.clone()).or_default().insert(to.clone());
    }
    loop {
        let open: BTreeSet<String> = left.keys().cloned().collect();
        left.values_mut().for_each(|to| to.retain(|module| open.contains(module)));
        let before = left.len();
        left.retain(|_, to| !to.is_empty());
        if left.len() == before {
            return left;
        }
    }
}

#[test]
fn no_module_of_the_core_imports_in_a_circle() {
    let sources = Sources::of_module(&core());
    let inside = |name: &String| sources.modules.contains(name);
    let imports = sources.imports.iter().filter(|import| inside(&import.to));
    let imports: Vec<_> = imports.map(|import| (import.from.clone(), import.to.clone())).collect();
    assert!(sources.modules.len() > 30 && imports.len() > 200, "{} imports", imports.len());
    assert_eq!(circle(&imports), BTreeMap::new());
    // The check sees one that leads back.
    let back = ("slot".to_owned(), "cycle".to_owned());
    let planted: Vec<_> = imports.into_iter().chain([back]).collect();
    assert!(circle(&planted).contains_key("slot"));
}
