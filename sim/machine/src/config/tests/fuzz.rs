//! The loader on random texts. `PROPTEST_CASES` sets their number.

use super::super::model::raw;
use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;
use wave_isa::ron_text::{locate, parse};

/// Loads a text and checks the properties of every text.
fn holds(text: &str) {
    let result = from_text("fuzz.ron", text);
    if parse::<raw::Config>(text).is_ok() {
        assert!(locate(text).complete, "the scanner cannot follow what ron reads:\n{text}");
    }
    match result {
        Ok((config, _)) => {
            assert!(config.check().iter().all(|d| d.severity == wave_isa::diagnostic::Severity::Warning));
            let (again, _) = from_text("shown.ron", &resolved(&config)).unwrap();
            assert_eq!(again, config);
        }
        Err(found) => {
            assert!(!found.is_empty());
            for diagnostic in found {
                let rendered = diagnostic.render(false);
                assert!(rendered.starts_with("error: ") || rendered.starts_with("warning: "), "{rendered}");
                if let Some(place) = &diagnostic.place
                    && place.file == "fuzz.ron"
                {
                    let line = text.lines().nth(place.line as usize - 1).unwrap_or("");
                    assert_eq!(place.text, line.trim_end_matches('\r'), "{text}");
                    assert!(place.column as usize <= line.chars().count() + 1, "{text}");
                }
            }
        }
    }
}

/// Valid and invalid pieces of texts.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    " ",
    "\n",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "#",
    "#![enable(unwrap_newtypes)]",
    "r#\"",
    "\"#",
    "b\"",
    "r\"",
    "br#\"",
    "Some(",
    "None",
    "true",
    "gto",
    "int_mul",
    "0",
    "1",
    "32",
    "-1",
    "1.5",
    "0x10",
    "1e9",
    "1_0",
    "16u32",
    "inf",
    "NaN",
    "99999999999999999999",
    "name",
    "base",
    "cores",
    "core",
    "issue",
    "width",
    "units",
    "classes",
    "class",
    "lanes",
    "Config",
    "Core",
    "Unit",
    "r#cores",
    "\\",
    "\\u{41}",
    "é",
    "\u{2028}",
    "🜁",
    "\"x\"",
    "\"gpu.ron\"",
    "cores: 4",
    "core: (",
    "units: [",
    "(name: \"a\", lanes: 4, classes: [])",
    "\r\n",
    "\t",
    "..",
    "::",
    "=",
    ";",
    "<",
    "'a'",
    "b'a'",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

/// A preset, resolved or as written, with pieces removed, doubled, swapped or inserted.
fn mutated() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<u32>(), 0..60usize, prop::sample::select(PIECES), 0..5u8), 1..6);
    (0..PRESETS.len(), any::<bool>(), edits).prop_map(|(preset, resolve, edits)| {
        static RESOLVED: LazyLock<Vec<String>> =
            LazyLock::new(|| PRESETS.iter().map(|p| show(p.file).unwrap()).collect());
        let mut text = if resolve { RESOLVED[preset].clone() } else { PRESETS[preset].text.to_owned() };
        for (at, length, piece, kind) in edits {
            let start = text.floor_char_boundary(at as usize % (text.len() + 1));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            let cut = text[start..end].to_owned();
            match kind {
                0 => text.replace_range(start..end, ""),
                1 => text.replace_range(start..end, piece),
                2 => text.insert_str(start, piece),
                3 => text.insert_str(start, &cut),
                // Replaces a number by another: the text stays valid RON, so the checks run.
                _ => {
                    let digits = text[start..].find(|c: char| c.is_ascii_digit()).map(|i| start + i);
                    if let Some(digits) = digits {
                        let end = text[digits..]
                            .find(|c: char| !c.is_ascii_digit())
                            .map_or(text.len(), |i| digits + i);
                        text.replace_range(digits..end, &(u64::from(at) >> (length % 32)).to_string());
                    }
                }
            }
        }
        text
    })
}

/// A file of known keys with arbitrary values.
fn stated() -> impl Strategy<Value = String> {
    let keys: Vec<String> = super::super::keys::declared()
        .into_iter()
        .map(|row| row.key)
        .filter(|key| !key.contains("[]"))
        .collect();
    let value = prop_oneof![
        4 => (0..40u32, any::<bool>()).prop_map(|(bit, less)| ((1u64 << bit) - u64::from(less)).to_string()),
        1 => prop::sample::select(PIECES).prop_map(str::to_owned),
    ];
    prop::collection::vec((prop::sample::select(keys), value), 0..6).prop_map(|values| {
        let values: Vec<(&str, &str)> = values.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        // A section and one of its keys cannot both be stated.
        let clash = |key: &str| values.iter().any(|(other, _)| other.starts_with(&format!("{key}.")));
        stating(&values.iter().copied().filter(|(key, _)| !clash(key)).collect::<Vec<_>>())
    })
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "(?s).{0,200}") {
        holds(&text);
    }

    #[test]
    fn pieces_of_ron_never_panic(text in soup()) {
        holds(&text);
    }

    #[test]
    fn mutated_presets_never_panic(text in mutated()) {
        holds(&text);
    }

    #[test]
    fn arbitrary_values_never_panic(text in stated()) {
        holds(&text);
    }

    #[test]
    fn any_name_survives_being_shown(name in any::<String>()) {
        let config = Config { name: name.clone(), description: name, ..Config::example() };
        prop_assert_eq!(from_text("shown.ron", &resolved(&config)).unwrap().0, config);
    }

    #[test]
    fn arbitrary_paths_and_keys_never_panic(name in ".{0,40}") {
        if let Err(found) = load(&name) {
            prop_assert!(!found[0].render(true).is_empty());
        }
        let _ = explain(&name);
    }
}
