//! Changes parameters in the text of a configuration, and leaves everything else as it is.

use wave_isa::ron_text::locate;
use wave_machine::config::{Config, resolved};

/// A parameter that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path, with items of lists by name: `core.units[fp32].lanes`.
    pub path: String,
    /// Its value now.
    pub from: u64,
    /// Its new value.
    pub to: u64,
}

impl Change {
    /// The word for `--set`.
    pub fn setting(&self) -> String {
        format!("{}={}", self.path, self.to)
    }
}

/// The text of a configuration with changed values. Behind each stands what it was. Comments stay, so that a comment which
/// gives a source is about the old value. `head` are lines in front of it. Where the text does not state a parameter itself,
/// because its base or a part of it does, the whole configuration is written, resolved and without comments.
pub fn edited(text: &str, config: &Config, changes: &[Change], name: &str, head: &[String]) -> String {
    let head: String = head.iter().map(|line| format!("// {line}\n")).collect();
    head + &in_place(text, config, changes, name).unwrap_or_else(|| {
        let words: Vec<String> = changes.iter().map(Change::setting).collect();
        let mut changed = config.with(&words).unwrap_or_else(|_| config.clone());
        changed.name = name.to_owned();
        resolved(&changed)
    })
}

/// The text with changed values; `None` if it does not state one of them.
fn in_place(text: &str, config: &Config, changes: &[Change], name: &str) -> Option<String> {
    let located = locate(text);
    let mut places = vec![(located.find("name")?.value.clone(), format!("{name:?}"))];
    for change in changes {
        let value = located.find(&numbered(config, &change.path)?)?.value.clone();
        places.push((
            value,
            format!(
                "{} /* fitted: was {} */",
                change.to,
                &text[located.find(&numbered(config, &change.path)?)?.value.clone()]
            ),
        ));
    }
    places.sort_by_key(|(place, _)| place.start);
    let mut edited = text.to_owned();
    for (place, value) in places.into_iter().rev() {
        edited.replace_range(place, &value);
    }
    Some(edited)
}

/// A path with items of lists by their numbers: `core.units[1].lanes`.
fn numbered(config: &Config, path: &str) -> Option<String> {
    let Some(rest) = path.strip_prefix("core.units[") else { return Some(path.to_owned()) };
    let (unit, rest) = rest.split_once(']')?;
    let number = config.core.units.iter().position(|one| one.name == unit)?;
    let rest = match rest.strip_prefix(".classes[") {
        Some(inner) => {
            let (class, inner) = inner.split_once(']')?;
            let is_it = |timing: &wave_machine::config::ClassTiming| class_name(timing.class) == class;
            let class = config.core.units[number].classes.iter().position(is_it)?;
            format!(".classes[{class}]{inner}")
        }
        None => rest.to_owned(),
    };
    Some(format!("core.units[{number}]{rest}"))
}

/// The name of a class in a configuration.
pub(crate) fn class_name(class: wave_isa::ExecClass) -> String {
    let mut name = String::new();
    for letter in format!("{class:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_machine::config::{from_text, load};

    #[test]
    fn comments_stay_and_values_change() {
        let text = "// A machine.\n(\n    name: \"a\", // its name\n    cores: 8, // [W]\n    core: (l1: (mshrs: 4)), // few\n)\n";
        let (config, _) = from_text("a.ron", text).unwrap();
        let changes = [
            Change { path: "cores".to_owned(), from: 8, to: 12 },
            Change { path: "core.l1.mshrs".to_owned(), from: 4, to: 9 },
        ];
        let edited = edited(text, &config, &changes, "a-fitted", &["Fitted.".to_owned()]);
        assert_eq!(
            edited,
            "// Fitted.\n// A machine.\n(\n    name: \"a-fitted\", // its name\n    cores: 12 /* fitted: was 8 */, // [W]\n    \
             core: (l1: (mshrs: 9 /* fitted: was 4 */)), // few\n)\n"
        );
        let (read, _) = from_text("b.ron", &edited).unwrap();
        assert_eq!((read.cores, read.core.l1.mshrs), (12, 9));
    }

    #[test]
    fn what_the_text_does_not_state_resolves_it() {
        let text = "(base: \"gpu.ron\", name: \"a\")";
        let (config, _) = from_text("a.ron", text).unwrap();
        let change =
            Change { path: "core.units[int].classes[int].latency_cycles".to_owned(), from: 4, to: 7 };
        let edited = edited(text, &config, std::slice::from_ref(&change), "b", &[]);
        let (read, _) = from_text("b.ron", &edited).unwrap();
        assert_eq!(
            read,
            Config {
                set: Vec::new(),
                ..config.with(&[change.setting()]).map(|c| Config { name: "b".to_owned(), ..c }).unwrap()
            }
        );
    }

    #[test]
    fn units_are_found_by_name() {
        let config = load("t4").unwrap();
        let path = |path: &str| numbered(&config, path);
        assert_eq!(path("core.units[fp32].lanes").as_deref(), Some("core.units[1].lanes"));
        assert_eq!(
            path("core.units[fp32].classes[int_mul].passes").as_deref(),
            Some("core.units[1].classes[1].passes")
        );
        assert_eq!(path("core.units[none].lanes"), None);
        assert_eq!(class_name(wave_isa::ExecClass::Fp32Div), "fp32_div");
    }
}
