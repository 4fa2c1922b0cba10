//! Files that a test produces and the repository contains: generated documents and golden texts.
//!
//! `UPDATE=1 cargo test -p wave-sim` writes all of them. Without it, a difference fails the test.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a workspace").to_owned()
}

/// Holds `text` against the file at `path`, relative to the root, or writes it there.
///
/// # Panics
/// If they differ, with the first line that does and the command that updates the file.
pub fn check(path: &str, text: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().expect("a file has a folder")).expect("folder");
        return std::fs::write(&file, text).expect("the repository is writable");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    if kept == text {
        return;
    }
    let same = kept.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
    panic!(
        "{path} is out of date from line {} on\n  kept: {}\n  now:  {}\n\
         `UPDATE=1 cargo test -p wave-sim` brings it up to date; then look at the difference",
        same + 1,
        kept.lines().nth(same).unwrap_or("(end)"),
        text.lines().nth(same).unwrap_or("(end)"),
    );
}
