//! Generates the manual of all parameters, `docs/configuration.md`.

use super::declare::{Field, Kind, Section};
use super::docs::{kind_name, part_description, preset_config};
use super::model::Config;
use super::presets::{PARTS, PRESETS};
use super::rules::RULES;
use super::show::wrap;
use super::values::{Leaf, leaves};
use std::fmt::Write;
use wave_isa::ron_text::join;

const INTRODUCTION: &str = "\
# Configuration

<!-- Written by `UPDATE=1 cargo test --test generated_config`; do not edit. -->

A configuration is a file in RON, [Rusty Object Notation](https://github.com/ron-rs/ron): `( key: value, … )`,
nested where a key is a section, lists in `[ … ]`, comments after `//`. It only states what differs from its
base, the file or preset that `base` names, and otherwise `gpu.ron`:

```ron
(
    base: \"tiny.ron\",
    cores: 4,
    core: (
        issue: (policy: two_level, two_level_active: 8),
        l1: (bytes: 4096),
    ),
)
```

Sections are completed key by key; a list, such as `core.units`, replaces the list of the base as a whole, and
its items state all of their keys. Names of choices and classes are written without quotes. Integers may have
underscores, or be written as `0x…`. A number of bytes may have a unit of powers of 1024, `KiB`, `MiB` or `GiB`, and is
then in quotes: `l1: (bytes: \"64KiB\")`. `K`, `M` and `G` are short for these; `KB` and `MB` are refused.

`wave-sim --config NAME` takes a path, or the name of a preset with or without `.ron`. `--set KEY=VALUE` puts a value
in the place of the configuration's: `--set core.l1.bytes=64KiB`, `--set core.units[fp32].lanes=64`. A key may be the
end of a path if only one path ends so, as `l1.bytes` does. Of several that set one parameter, the last counts. Every
report names what was set.

On the command line, `wave-sim config list` shows the presets, `show NAME` a configuration with everything resolved,
`explain KEY` what a key means and its value in every preset, `diff A B` how two machines differ, `dot NAME` its
interconnect as a drawing for Graphviz, and `schema` the JSON schema for editors. The hash that results carry is the
same for two configurations exactly if all of their parameters but `name` and `description` are.

";

/// Columns of a line outside of tables.
const WIDTH: usize = 120;

const PARTS_INTRODUCTION: &str = "\
## Memory devices

`dram.part` takes the organisation and the timings of a memory device from a file of its own: one beside the
configuration, or a built-in one. What the section states itself goes before the part, and the part before the
base. How many channels there are, their queues and their policy belong to the machine. A part is a
configuration that states `description` and keys of `dram` only.

```ron
(
    dram: (part: \"hbm2e.ron\", channels: 8),
)
```

Channels and slices need not be powers of two: 384 bits of GDDR6 are 24 channels of 16 bits.

```ron
(
    l2: (slices: 24),
    dram: (part: \"gddr6.ron\", channels: 24),
)
```

| part | what it is |
|---|---|
";

/// The whole manual, in Markdown.
pub fn manual() -> String {
    let mut text = INTRODUCTION.to_owned();
    presets(&mut text);
    let defaults = leaves(&Config::example());
    text.push_str("## Parameters\n\nThe defaults are those of `gpu.ron`.\n");
    section(Config::SECTION, "", &defaults, &mut text);
    text.push_str("\n## Rules between parameters\n\n| parameters | rule |\n|---|---|\n");
    for rule in RULES {
        let keys: Vec<String> = rule.keys.iter().map(|key| format!("`{key}`")).collect();
        let _ = writeln!(text, "| {} | {} |", keys.join(", "), rule.law);
    }
    text
}

fn presets(text: &mut String) {
    text.push_str("## Presets\n\n| preset | cores | lanes | L2, KiB | what it is |\n|---|---|---|---|---|\n");
    for preset in PRESETS {
        let config = preset_config(preset);
        let l2_bytes = u64::from(config.l2.slices) * u64::from(config.l2.slice_bytes);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            preset.file,
            config.cores,
            config.core.wave_width,
            l2_bytes / 1024,
            config.description
        );
    }
    text.push_str("\nEach file says where its numbers come from and which of them are guesses.\n\n");
    text.push_str(PARTS_INTRODUCTION);
    for part in PARTS {
        let _ = writeln!(text, "| `{}` | {} |", part.file, part_description(part));
    }
    text.push('\n');
}

fn section(declared: &Section, path: &str, defaults: &[Leaf], text: &mut String) {
    let title = if path.is_empty() { "The top level".to_owned() } else { format!("`{path}`") };
    let _ = writeln!(text, "\n### {title}\n\n{}\n", wrap(declared.doc, WIDTH).join("\n"));
    let in_list = path.contains("[]");
    let default_column = if in_list { "" } else { " default |" };
    let _ = writeln!(
        text,
        "| key | value |{default_column} meaning |\n|---|---|{}---|",
        if in_list { "" } else { "---|" }
    );
    for field in declared.directives.iter().chain(declared.fields()) {
        let key = join(path, field.key);
        let default = defaults.iter().find(|leaf| leaf.key == key && field.kind_is_plain());
        let default = default.map_or_else(String::new, |leaf| format!("`{}`", leaf.value));
        let default = match (in_list, field.key) {
            (true, _) => String::new(),
            (false, "name" | "description") => " |".into(),
            _ => format!(" {default} |"),
        };
        let _ = writeln!(
            text,
            "| `{}` | {} |{default} {} |",
            field.key,
            value_column(field, path),
            field.doc.trim()
        );
    }
    for field in declared.fields() {
        if let Kind::Choice(choices) = field.kind {
            let _ = writeln!(text, "\n`{}` is one of\n", field.key);
            for (name, doc) in choices.names().iter().zip(choices.docs()) {
                let _ = writeln!(text, "- {}", wrap(&format!("`{name}`: {doc}"), WIDTH - 2).join("\n  "));
            }
        }
    }
    for field in declared.fields() {
        match field.kind {
            Kind::Section(inner) => section(inner, &join(path, field.key), defaults, text),
            Kind::List(inner) => section(inner, &format!("{}[]", join(path, field.key)), defaults, text),
            _ => {}
        }
    }
}

fn value_column(field: &Field, path: &str) -> String {
    match field.kind {
        Kind::Section(_) => format!("section `{}`", join(path, field.key)),
        Kind::List(_) => format!("list of `{}[]`", join(path, field.key)),
        Kind::Choice(_) => "a name, below".into(),
        _ => {
            let name = kind_name(field).to_lowercase();
            name.trim_start_matches("integer, ").trim_end_matches('.').replace("mhz", "MHz")
        }
    }
}

impl Field {
    /// True if the field is a parameter, not a section or list.
    fn kind_is_plain(&self) -> bool {
        !matches!(self.kind, Kind::Section(_) | Kind::List(_))
    }
}
