//! Files generated from the declaration of the configuration are current. `UPDATE=1 cargo test -p wave-sim
//! --test generated_config` writes them.

use std::path::Path;

#[test]
fn the_manual_of_the_configuration_is_current() {
    check("docs/configuration.md", &wave_sim::config::manual());
}

/// Compares a file, given from the root of the repository, with what it should be.
fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("cannot write {file}: {e}"));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let line = found.lines().zip(text.lines()).take_while(|(a, b)| a == b).count() + 1;
    assert!(found == text, "{file} is not current from line {line} on; run this test with UPDATE=1");
}
