//! The declaration, the structs, the presets and every listing agree.

use super::super::declare::Kind;
use super::super::keys::declared;
use super::super::values::leaves;
use super::*;
use std::collections::BTreeSet;
use wave_isa::ExecClass;
use wave_isa::ron_text::locate;

#[test]
fn every_preset_loads_without_a_warning_under_both_of_its_names() {
    for preset in PRESETS {
        let (config, warnings) = load_with_warnings(preset.file).unwrap_or_else(|e| panic!("{e:#?}"));
        assert_eq!(warnings, [], "{}", preset.file);
        assert_eq!(load(preset.name()).unwrap(), config);
        assert_eq!(config.name, preset.name());
        assert!(!config.description.is_empty());
    }
}

#[test]
fn every_file_in_configs_is_a_preset() {
    let files: BTreeSet<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".ron"))
        .collect();
    assert_eq!(files, PRESETS.iter().map(|p| p.file.to_owned()).collect());
}

#[test]
fn the_default_preset_states_every_parameter() {
    let located = locate(PRESETS[0].text);
    for row in declared().iter().filter(|row| {
        !row.key.contains("[]") && !["base", "dram.part", "plugins"].contains(&row.key.as_str())
    }) {
        assert!(located.find(&row.key).is_some(), "gpu.ron does not state {}", row.key);
    }
}

/// `Debug` is derived from the structs alone, so it does not depend on the declaration's walks.
#[test]
fn listings_have_every_field_of_the_structs_with_its_value() {
    for preset in PRESETS {
        let config = load(preset.file).unwrap();
        let debug = format!("{:?}", Config { description: String::new(), ..config.clone() });
        let values: Vec<String> = debug
            .split([',', '{', '[', '}', ']'])
            .filter_map(|part| part.rsplit_once(": ").map(|(key, value)| (key.trim(), value.trim())))
            .filter(|(_, value)| !value.is_empty() && !value.starts_with(char::is_uppercase))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let listed: Vec<String> = leaves(&Config { description: String::new(), ..config.clone() })
            .iter()
            .filter(|leaf| {
                leaf.value.starts_with(|c: char| !c.is_alphabetic()) || leaf.value.parse::<bool>().is_ok()
            })
            .map(|leaf| format!("{}={}", leaf.key.rsplit('.').next().unwrap(), leaf.value))
            .collect();
        assert!(values.len() > 80, "{debug}");
        assert_eq!(values, listed);
    }
}

#[test]
fn every_parameter_is_in_show_explain_schema_and_manual() {
    let shown = show("gpu.ron").unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let manual = manual();
    for row in declared() {
        let (section, key) = row.key.rsplit_once('.').unwrap_or(("", &row.key));
        if !["base", "part"].contains(&key) {
            assert!(shown.contains(&format!("{key}: ")), "show lacks {}", row.key);
        }
        let explained = explain(&row.key).unwrap_or_else(|e| panic!("{e}"));
        assert!(explained.starts_with(&format!("{}\n", row.key)), "{explained}");
        let pointer: String = row
            .key
            .split('.')
            .map(|part| match part.strip_suffix("[]") {
                Some(list) => format!("/properties/{list}/items"),
                None => format!("/properties/{part}"),
            })
            .collect();
        let property = schema.pointer(&pointer).unwrap_or_else(|| panic!("the schema lacks {}", row.key));
        assert!(property["description"].is_string(), "{}", row.key);
        let chapter =
            if section.is_empty() { "### The top level".into() } else { format!("### `{section}`") };
        let chapter = manual.split_once(&chapter).unwrap_or_else(|| panic!("the manual lacks {section}")).1;
        let chapter = chapter.split("### ").next().unwrap();
        assert!(chapter.contains(&format!("| `{key}` |")), "the manual lacks {}", row.key);
    }
}

#[test]
fn every_parameter_is_documented_and_every_integer_has_a_range() {
    for row in declared() {
        assert!(row.field.doc.trim().ends_with('.'), "{}: {}", row.key, row.field.doc);
        match row.field.kind {
            Kind::Integer => {
                let limits = row.field.limits.unwrap_or_else(|| panic!("{} has no range", row.key));
                assert!(limits.allows(limits.min) && limits.allows(limits.max), "{}: {limits}", row.key);
            }
            Kind::Choice(choices) => assert_eq!(choices.names().len(), choices.docs().len()),
            _ => assert_eq!(row.field.limits, None),
        }
    }
}

#[test]
fn every_choice_is_read_by_its_documented_name() {
    for row in declared() {
        let Kind::Choice(choices) = row.field.kind else { continue };
        let names = choices.names();
        for &name in names.iter().filter(|_| !row.key.contains("[]")) {
            // The topology `edges` needs links.
            let edge = "[(from: \"core0\", to: \"slice0\", both_ways: true, latency_cycles: 1, bytes_per_cycle: 8, \
                        dateline: false)]";
            let one_each =
                [("cores", "1"), ("l2.slices", "1"), ("dram.channels", "1"), ("interconnect.edges", edge)];
            let mut values = vec![(row.key.as_str(), name)];
            values.extend(one_each.iter().filter(|_| name == "edges"));
            let (config, _) = from_text("x.ron", &stating(&values)).unwrap();
            let leaf = leaves(&config).into_iter().find(|leaf| leaf.key == row.key).unwrap();
            assert_eq!(leaf.value, name);
        }
    }
    for &class in ExecClass::ALL {
        assert_eq!(ron::from_str::<ExecClass>(class.name()).unwrap(), class);
    }
}

#[test]
fn what_is_shown_loads_as_the_same_machine() {
    for preset in PRESETS {
        let config = load(preset.file).unwrap();
        let text = show(preset.file).unwrap();
        let (again, warnings) = from_text("shown.ron", &text).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(again, config);
        assert_eq!(config_hash(&again), config_hash(&config));
        assert_eq!(resolved(&again), text);
    }
}

#[test]
fn the_hash_tells_every_parameter_apart_and_ignores_prose() {
    let mut hashes = BTreeSet::from([config_hash(&Config::example())]);
    let mut changed = 0;
    for leaf in leaves(&Config::example()) {
        let row = declared().into_iter().find(|row| row.key == leaf.key).unwrap();
        if leaf.key.contains("[]") {
            continue;
        }
        let other = match (row.field.kind, row.field.limits) {
            (Kind::Integer, Some(limits)) => {
                let value: u64 = leaf.value.parse().unwrap();
                let larger = if limits.power_of_two { value * 2 } else { value + 1 };
                if limits.allows(larger) { larger } else { value / 2 }.to_string()
            }
            (Kind::Bool, _) => (leaf.value == "false").to_string(),
            (Kind::Choice(choices), _) => {
                let other = choices.names().iter().find(|&&n| n != leaf.value);
                // Without plug-ins, nothing else can stand on the path of an L1.
                assert!(other.is_some() || leaf.key == "core.l1.path", "{}", leaf.key);
                let Some(other) = other else { continue };
                (*other).to_owned()
            }
            _ => "\"other\"".into(),
        };
        // The value may violate a rule, but the hash must still differ.
        let raw = ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
            .from_str::<model::raw::Config>(&stating(&[(&leaf.key, &other)]))
            .unwrap();
        let default = ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
            .from_str::<model::raw::Config>(PRESETS[0].text)
            .unwrap();
        use super::super::declare::Parameter;
        let config = Config::resolve(Config::merge(raw, default), "", &mut Vec::new()).unwrap();
        assert_ne!(config, Config::example(), "{}", leaf.key);
        let new = hashes.insert(config_hash(&config));
        assert_eq!(new, !matches!(leaf.key.as_str(), "name" | "description"), "{}", leaf.key);
        changed += 1;
    }
    assert!(changed > 70);
}

#[test]
fn a_hash_stays_the_same_for_good() {
    // Pins the hash function and the traversal together. It may change only with the parameters of gpu.ron.
    assert_eq!(config_hash(&Config::example()), "e4494d9b9d0c0608");
}

#[test]
fn a_difference_names_units_and_classes() {
    let text = diff("gpu.ron", "t4.ron").unwrap();
    let row = |key: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.split(' ').next() == Some(key));
        line.unwrap_or_else(|| panic!("{key} in {text}")).split_whitespace().skip(1).collect()
    };
    assert_eq!(row("cores"), ["16", "40"]);
    assert_eq!(row("core.units[fp32].lanes"), ["32", "16"]);
    assert_eq!(row("core.units[fp32].classes[int_mul].passes"), ["-", "1"]);
    assert!(!text.contains("core.wave_width"));
    assert_eq!(diff("tiny", "tiny.ron").unwrap().lines().count(), 1);
}

#[test]
fn explain_finds_ends_of_paths_and_the_nearest_name() {
    assert!(explain("issue.width").unwrap().starts_with("core.issue.width\n"));
    assert!(explain("core.units[int].lanes").unwrap().starts_with("core.units[].lanes\n"));
    assert!(explain("").unwrap().contains("core_clock_mhz"));
    assert!(explain("core.l1").unwrap().contains("core.l1.mshr_merges"));
    let hint = |key: &str| explain(key).unwrap_err().hint.unwrap();
    assert_eq!(hint("core.isue.width"), "did you mean `core.issue.width`?");
    assert_eq!(hint("collectrs"), "did you mean `core.registers.collectors`?");
    assert_eq!(hint("policy"), "one of `core.issue.policy`, `dispatcher.policy`, `dram.policy`");
}
