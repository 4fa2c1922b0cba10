//! Files that a test produces and the repository contains: generated documents and golden texts.
//!
//! `UPDATE=1 cargo test --workspace` writes all of them. Without it, a difference fails the test.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate is in a workspace")
}

/// Holds `text` against the file at `path`, relative to the root, or writes it there.
///
/// # Panics
/// If they differ, with the first line that does and the command that updates the file; if there is no such file, or no text.
pub fn check(path: &str, text: &str) {
    let file = root().join(path);
    assert!(!text.is_empty(), "there is nothing to hold {path} against");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().expect("a file has a folder")).expect("folder");
        return std::fs::write(&file, text).expect("the repository is writable");
    }
    let kept =
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}; UPDATE=1 writes it"));
    let kept = kept.replace("\r\n", "\n");
    if kept == text {
        return;
    }
    let same = kept.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
    panic!(
        "{path} is out of date from line {} on\n  kept: {}\n  now:  {}\n\
         `UPDATE=1 cargo test --workspace` brings it up to date; then look at the difference",
        same + 1,
        kept.lines().nth(same).unwrap_or("(end)"),
        text.lines().nth(same).unwrap_or("(end)"),
    );
}

/// Holds `text` against a part of the page at `path`, or writes it there: the lines between `<!-- NAME -->` and
/// `<!-- end of NAME -->`.
///
/// # Panics
/// As [`check`]; or if the page has no such part.
pub fn check_part(path: &str, name: &str, text: &str) {
    assert!(!text.is_empty(), "there is nothing to hold the {name} of {path} against");
    let page = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let part = page.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
    let (head, tail) = part.unwrap_or_else(|| panic!("{path} has no part between {begin}and {end}"));
    check(path, &format!("{head}{begin}{text}{end}{tail}"));
}

/// Holds `bytes` against the file at `path`, relative to the root, or writes it there.
///
/// # Panics
/// If they differ, with the command that updates the file; if there is no such file, or there are no bytes.
pub fn check_bytes(path: &str, bytes: &[u8]) {
    let file = root().join(path);
    assert!(!bytes.is_empty(), "there is nothing to hold {path} against");
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(&file, bytes).expect("the repository is writable");
    }
    let kept = std::fs::read(&file).unwrap_or_else(|error| panic!("{path}: {error}; UPDATE=1 writes it"));
    assert!(kept == bytes, "{path} is out of date; `UPDATE=1 cargo test --workspace` brings it up to date");
}

/// The cases of a folder, in order: `NAME.wave` gives `NAME.txt`. `others` are texts of other tests.
///
/// # Panics
/// If there are none, or if a text belongs to no case.
pub fn cases(folder: &str, others: &[&str]) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    let of_kind = |kind: &str| -> Vec<String> {
        let files = files.iter().filter(|file| file.extension().is_some_and(|e| e == kind));
        let mut names: Vec<String> =
            files.map(|file| file.file_stem().expect("a name").to_str().expect("UTF-8").to_owned()).collect();
        names.sort();
        names
    };
    let (cases, texts) = (of_kind("wave"), of_kind("txt"));
    assert!(!cases.is_empty(), "{folder} has no cases");
    let stray = texts.iter().find(|text| !cases.contains(text) && !others.contains(&text.as_str()));
    assert_eq!(stray, None, "no case of {folder} gives this text");
    cases
}
