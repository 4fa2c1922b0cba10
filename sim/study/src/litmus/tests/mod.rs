//! The checker against a second machine and against published labels; the simulator against planted bugs; the
//! language against typing errors.

mod abstract_machine;
mod labels;
mod language;
mod machine;
mod mutants;

use super::variant::variants;
use super::{SUITE, Test, builtin, parse, variant::Variant};

/// A test of the suite.
fn test(name: &str) -> Test {
    parsed(builtin(name).unwrap_or_else(|| panic!("no test {name}")).text)
}

fn parsed(text: &str) -> Test {
    parse(text, "test.litmus").unwrap_or_else(|wrong| panic!("{}", wrong.render(false)))
}

/// The only variant of a test with all these words.
fn variant(test: &Test, words: &str) -> Variant {
    let words: Vec<&str> = words.split_whitespace().collect();
    let fitting: Vec<Variant> =
        variants(test).into_iter().filter(|v| words.iter().all(|word| v.has(word))).collect();
    assert_eq!(fitting.len(), 1, "{}: {words:?}", test.name);
    fitting.into_iter().next().unwrap()
}

#[test]
fn every_file_of_the_suite_is_the_test_it_is_named_for() {
    assert!(SUITE.len() >= 20);
    for builtin in SUITE {
        let test = parsed(builtin.text);
        assert_eq!(test.name, builtin.name);
        assert!(!test.about.is_empty() && !test.weak.is_empty(), "{}", test.name);
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../litmus")).unwrap().count();
    assert_eq!(files, SUITE.len(), "a file is not in the list");
}
