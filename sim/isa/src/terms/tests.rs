//! The table is complete, and its words are found in the ways that people spell them.

use super::*;
use std::collections::BTreeSet;

#[test]
fn words_are_found_in_each_spelling() {
    for (word, here) in [
        ("warp", "wave"),
        ("Warps", "wave"),
        ("wavefront", "wave"),
        ("sub-group", "wave"),
        ("subgroup", "wave"),
        ("thread_block", "workgroup"),
        ("CTA", "workgroup"),
        ("SM", "core"),
        ("SMs", "core"),
        ("compute unit", "core"),
        ("shared_memory", "local memory"),
        ("LDS", "local memory"),
        ("__constant__", "constant memory"),
        ("tensor cores", "matrix instruction"),
        ("NDRange", "grid"),
    ] {
        let found = find(word);
        assert_eq!(found.first().map(|term| term.here), Some(here), "{word}");
    }
    // The word means two things: the one here, and that of CUDA.
    let both: Vec<&str> = find("local memory").iter().map(|term| term.here).collect();
    assert_eq!(both, ["local memory", "private memory"]);
    for word in ["", "-", "banana", "s"] {
        assert!(find(word).is_empty(), "{word}");
    }
}

#[test]
fn hints_name_what_there_is_here() {
    let key = |word: &str| hint_of_key(word);
    assert_eq!(key("warp_size").as_deref(), Some("here: `core.wave_width`"));
    assert_eq!(key("core.warp_size").as_deref(), Some("here: `core.wave_width`"));
    assert_eq!(key("num_sms").as_deref(), Some("here: `cores`"));
    let cta = "`CTA` of CUDA is a workgroup here: `core.max_workgroup_size` or `core.max_workgroups`";
    assert_eq!(key("CTA").as_deref(), Some(cta));
    assert_eq!(key("frequency").as_deref(), Some("here: `dram.clock_mhz` or `core_clock_mhz`"));
    assert_eq!(key("banana"), None);
    let flag = |word: &str| hint_of_flag(word);
    assert_eq!(flag("--block-size").as_deref(), Some("here: `--workgroup`"));
    assert_eq!(flag("--shared-memory").as_deref(), Some("here: `--local-memory`"));
    assert_eq!(flag("--banana"), None);
    let word = hint_of_word("warp").unwrap();
    assert_eq!(word, "`warp` of CUDA is a wave here; `wave-sim config explain 'wave'` says more");
}

#[test]
fn a_name_is_chosen_among_those_of_a_section() {
    let of_run = ["kernel", "grid", "workgroup", "arguments"];
    assert_eq!(among("block", of_run.into_iter()), Some("workgroup"));
    assert_eq!(among("blocks", of_run.into_iter()), Some("grid"));
    assert_eq!(among("num_blocks", of_run.into_iter()), Some("grid"));
    assert_eq!(among("frequency", ["bus_bits", "clock_mhz"].into_iter()), Some("clock_mhz"));
    assert_eq!(among("banana", of_run.into_iter()), None);
    assert_eq!(among("warp_size", ["wave_width", "max_waves"].into_iter()), Some("wave_width"));
}

/// A word of another tool leads to one parameter or flag. A clock may be that of the cores or of the memory.
#[test]
fn no_alias_is_in_two_rows() {
    const OF_TWO: [&str; 2] = ["frequency", "clock"];
    let mut seen = BTreeSet::new();
    for part in [|term: &Term| term.keys, |term: &Term| term.flags] {
        seen.clear();
        for (_, others) in TERMS.iter().flat_map(part) {
            assert!(!others.is_empty());
            for other in *others {
                let is_new = seen.insert(letters(other));
                assert!(is_new || OF_TWO.contains(other), "`{other}` is an alias twice");
            }
        }
        assert!(seen.len() > 20, "{} aliases", seen.len());
    }
    let names: BTreeSet<&str> = TERMS.iter().map(|term| term.here).collect();
    assert_eq!(names.len(), TERMS.len());
    assert!(TERMS.len() >= 30);
    for term in TERMS {
        assert!(term.meaning.ends_with('.') && term.names().next().is_some(), "{}", term.here);
    }
}

#[test]
fn a_text_has_the_names_and_what_there_is_to_set() {
    let text = find("warp")[0].text();
    for part in ["wave\n", "CUDA          warp\n", "wavefront", "--wave-width", "core.wave_instructions"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        TERMS
            .iter()
            .flat_map(|term| term.text().lines().map(str::len).collect::<Vec<_>>())
            .all(|len| len <= 120)
    );
    assert!(of_key("core.wave_width").unwrap().elsewhere().starts_with("CUDA: warp; OpenCL: sub-group; "));
}
