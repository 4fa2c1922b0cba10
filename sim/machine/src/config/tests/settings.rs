//! What a command line puts in the place of a file's values.

use super::*;

fn with(words: &[&str]) -> Config {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    load_with_settings("gpu.ron", &words).unwrap_or_else(|found| panic!("{}", found[0])).0
}

fn refused(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    errors(load_with_settings("gpu.ron", &words)).join("\n")
}

/// Every end of every path that `config explain` knows sets the same parameter, and every other is refused by both.
#[test]
fn a_key_that_can_be_explained_can_be_set() {
    let mut short = 0;
    for leaf in leaves(&Config::example()).iter().filter(|leaf| !leaf.key.contains("[]")) {
        if leaf.key == "description" {
            continue;
        }
        let value = leaf.value.trim_matches('"');
        for (at, _) in leaf.key.match_indices('.').map(|(at, dot)| (at + dot.len(), dot)).chain([(0, "")]) {
            let key = &leaf.key[at..];
            let config = load_with_settings("gpu.ron", &[format!("{key}={value}")]);
            match explain(key) {
                Ok(text) => {
                    assert!(text.starts_with(&format!("{}\n", leaf.key)), "{key}: {text}");
                    assert_eq!(config.unwrap().0.set, [format!("{}={}", leaf.key, leaf.value)]);
                    short += usize::from(at > 0);
                }
                Err(error) => {
                    let found = config.unwrap_err();
                    assert_eq!((&found[0].message, &found[0].hint), (&error.message, &error.hint), "{key}");
                }
            }
        }
    }
    assert!(short > 80, "{short}");
    let config = with(&["l1.bytes=16384", "units[int].lanes=16", "units[int].classes[int_mul].passes=4"]);
    assert_eq!(config.core.l1.bytes, 16384);
    assert_eq!((config.core.units[0].lanes, config.core.units[0].classes[1].passes), (16, 4));
    assert_eq!(config.set[1..], ["core.units[int].lanes=16", "core.units[int].classes[int_mul].passes=4"]);
    // Which unit is not known.
    assert!(
        refused(&["classes[int_mul].passes=4"])
            .contains("`core.units` is a list: set a key of one of its items")
    );
}

#[test]
fn a_key_with_several_meanings_names_them() {
    let message = refused(&["mshrs=64"]);
    assert!(message.contains("several parameters are called `mshrs`"), "{message}");
    assert!(message.contains("one of `core.l1.mshrs`, `l2.mshrs`"), "{message}");
    assert!(refused(&["l1.mshr=64"]).contains("did you mean `core.l1.mshrs`?"));
}

#[test]
fn the_last_of_several_settings_counts() {
    let config = with(&["cores=2", "l1.mshrs=7", "cores=3", "core.l1.mshrs=9"]);
    assert_eq!((config.cores, config.core.l1.mshrs), (3, 9));
    assert_eq!(config.set, ["cores=3", "core.l1.mshrs=9"]);
    // What is wrong with an earlier one is still said.
    assert!(refused(&["cores=many", "cores=3"]).contains("`cores` is many"));
    let config = with(&["dram.part=hbm2e", "dram.part=lpddr5.ron", "dram.channels=2"]);
    let part = from_text("x.ron", "(dram: (part: \"lpddr5.ron\", channels: 2))").unwrap().0;
    assert_eq!(config.dram, part.dram);
    assert_eq!(config.set, ["dram.part=lpddr5.ron", "dram.channels=2"]);
    // A trial on top of a machine that has settings, as `explain` makes them.
    let trial = config.with(&["dram.channels=1".to_owned(), "cores=4".to_owned()]).unwrap();
    assert_eq!(trial.set, ["dram.part=lpddr5.ron", "dram.channels=1", "cores=4"]);
}

#[test]
fn settings_are_no_part_of_the_machine() {
    assert_eq!(with(&[]).set, [""; 0]);
    assert_eq!(config_hash(&with(&["cores=16"])), config_hash(&Config::example()));
    assert!(resolved(&with(&["cores=2"])).contains("// Set on the command line: cores=2.\n"));
    let shown = from_text("x.ron", &resolved(&with(&["cores=2"]))).unwrap().0;
    assert_eq!((shown.cores, shown.set), (2, Vec::new()));
}
