//! Public types of the machine have names of their own: a name says which type is meant, wherever it stands.

use super::{files, folder};
use std::collections::BTreeMap;
use std::fs;

/// The public types that a text declares. Those of tests come after all others.
fn declared(text: &str) -> Vec<String> {
    const WORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let name = |line: &str| {
        let mut words = line.trim_start().strip_prefix("pub ")?.split_whitespace();
        let rest = words.next().filter(|word| WORDS.contains(word)).and_then(|_| words.next())?;
        // A macro declares `$name`.
        let name =
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty());
        name.map(str::to_owned)
    };
    code.lines().filter_map(name).collect()
}

/// The names that stand more than once, each with its files.
fn ambiguous(texts: &[(String, String)]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in texts {
        declared(text).into_iter().for_each(|name| found.entry(name).or_default().push(file.clone()));
    }
    found.retain(|_, files| files.len() > 1);
    found
}

#[test]
fn public_types_of_the_machine_have_names_of_their_own() {
    let source = folder("machine").join("src");
    let read = |file: std::path::PathBuf| {
        let name = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        (!name.contains("tests")).then(|| (name, fs::read_to_string(file).unwrap()))
    };
    let mut texts: Vec<_> = files(&source, "rs").into_iter().filter_map(read).collect();
    let all = texts.iter().map(|(_, text)| declared(text).len()).sum::<usize>();
    assert!(all > 150, "only {all} types");
    assert_eq!(ambiguous(&texts), BTreeMap::new());
    // The check sees one that is declared again, also inside a macro.
    texts.push(("x.rs".to_owned(), "m! {\n    pub enum Machine open M {\n}".to_owned()));
    assert_eq!(ambiguous(&texts)["Machine"].len(), 2);
    assert_eq!(
        declared(
            "pub fn struct_() {}\npub struct $name;\npub struct A<T>(T);\n    pub trait B: C {}\npub(crate) type D = u8;"
        ),
        ["A", "B"]
    );
}
