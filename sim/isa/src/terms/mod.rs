//! The words of other GPU models: what CUDA, OpenCL, HIP, Vulkan and Metal call the things that have a name here.
//!
//! One table serves the page `docs/terms.md`, `config explain`, and the hints of messages about unknown names.

mod page;
mod table;
#[cfg(test)]
mod tests;

pub use page::page;
pub use table::{CODE, TERMS};

/// A thing that several GPU models name, each in its own way.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// Its name here; for a thing that wave-sim does not have, a common name of it.
    pub here: &'static str,
    /// What it is; for a thing that wave-sim does not have, what takes its place.
    pub meaning: &'static str,
    /// Names elsewhere, in the order of [`MODELS`], with commas between several; empty where a model has none.
    pub elsewhere: [&'static str; MODELS.len()],
    /// More words that people look for, which no column shows.
    pub also: &'static [&'static str],
    /// Parameters of the configuration, each with the names that other tools give it.
    pub keys: &'static [Alias],
    /// Flags of the command line, each with the names that other tools give it.
    pub flags: &'static [Alias],
    /// Statistics that count it.
    pub statistics: &'static [&'static str],
}

/// A name here, and its names in other tools.
pub type Alias = (&'static str, &'static [&'static str]);

/// The GPU models of the table.
pub const MODELS: [&str; 5] = ["CUDA", "OpenCL", "HIP, AMD", "WGSL, Vulkan", "Metal"];

/// A thing in the source of a kernel: here in C, elsewhere in the order of [`MODELS`].
#[derive(Debug, Clone, Copy)]
pub struct Code {
    /// In C with `wave.h`.
    pub here: &'static str,
    /// In the other languages.
    pub elsewhere: [&'static str; MODELS.len()],
}

/// A term without keys, flags and statistics, as a base for rows of the table.
const NOTHING: Term = Term {
    here: "",
    meaning: "",
    elsewhere: [""; MODELS.len()],
    also: &[],
    keys: &[],
    flags: &[],
    statistics: &[],
};

/// A word without what spelling varies in: case, blanks, hyphens, underscores.
fn letters(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The letters of a word without its plural.
fn spelling(word: &str) -> String {
    let letters = letters(word);
    // `SMs` is `SM`; `class` is no plural.
    match letters.strip_suffix('s') {
        Some(one) if !one.ends_with('s') && one.len() > 1 => one.to_owned(),
        _ => letters,
    }
}

impl Term {
    /// The models in which it has a name, with the name.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        MODELS.into_iter().zip(self.elsewhere).filter(|(_, name)| !name.is_empty())
    }

    /// True if `word` is one of its names, here or elsewhere.
    fn has_name(&self, word: &str) -> bool {
        let wanted = spelling(word);
        let elsewhere = self.elsewhere.iter().flat_map(|names| names.split(", "));
        let aliases = self.keys.iter().chain(self.flags).flat_map(|(_, others)| others.iter().copied());
        elsewhere
            .chain([self.here])
            .chain(self.also.iter().copied())
            .chain(aliases)
            .any(|name| spelling(name) == wanted)
    }

    /// The models that call it `word`, with `and` between the last two: `CUDA and HIP, AMD`.
    fn models_of(&self, word: &str) -> Vec<&'static str> {
        let wanted = spelling(word);
        let with = self.names().filter(|(_, names)| names.split(", ").any(|name| spelling(name) == wanted));
        with.map(|(model, _)| model).collect()
    }
}

/// The terms with a name, best first: a name here before a name elsewhere.
pub fn find(word: &str) -> Vec<&'static Term> {
    if spelling(word).is_empty() {
        return Vec::new();
    }
    let mut found: Vec<&Term> = TERMS.iter().filter(|term| term.has_name(word)).collect();
    found.sort_by_key(|term| spelling(term.here) != spelling(word));
    found
}

/// The term to which a parameter or section belongs.
pub fn of_key(key: &str) -> Option<&'static Term> {
    let has_key = |term: &&Term| term.keys.iter().any(|(known, _)| *known == key);
    TERMS.iter().find(has_key).or_else(|| TERMS.iter().find(|term| term.here == key))
}

/// A hint about a parameter that is unknown here and has a name in another tool: `here: core.wave_width`.
pub fn hint_of_key(word: &str) -> Option<String> {
    hint(word, |term| term.keys, "")
}

/// A hint about a flag that is unknown here and has a name in another tool. Leading hyphens do not count.
pub fn hint_of_flag(word: &str) -> Option<String> {
    hint(word.trim_start_matches('-'), |term| term.flags, "--")
}

/// The one of `names` that another tool calls `word`: of `block`, `workgroup`.
pub fn among<'a>(word: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let wanted = letters(word);
    let of = |here: &str| {
        let last = spelling(here.rsplit('.').next().unwrap_or(here));
        names.clone().find(|name| spelling(name) == last)
    };
    let aliases = || TERMS.iter().flat_map(|term| term.keys.iter().chain(term.flags));
    let of_alias = aliases().filter(|(_, others)| others.iter().any(|other| letters(other) == wanted));
    of_alias
        .map(|alias| alias.0)
        .find_map(of)
        .or_else(|| find(word).into_iter().find_map(|term| of(term.here)))
}

/// A hint about a word that is the name of a thing, not of a parameter or a flag.
pub fn hint_of_word(word: &str) -> Option<String> {
    let term = *find(word).first()?;
    Some(format!("{}; `wave-sim config explain '{}'` says more", called(word, term), term.here))
}

fn hint(word: &str, aliases: impl Fn(&Term) -> &'static [Alias], prefix: &str) -> Option<String> {
    // The last part of a path: `core.warp_size` is `warp_size`.
    let name = word.rsplit('.').next().unwrap_or(word);
    // `--blocks` is a count, and `--block` a size.
    let wanted = letters(name);
    let quoted =
        |names: Vec<&str>| names.iter().map(|n| format!("`{prefix}{n}`")).collect::<Vec<_>>().join(" or ");
    let is_alias = |alias: &&Alias| alias.1.iter().any(|other| letters(other) == wanted);
    let of_aliases: Vec<&str> =
        TERMS.iter().flat_map(&aliases).filter(is_alias).map(|alias| alias.0).collect();
    if !of_aliases.is_empty() {
        return Some(format!("here: {}", quoted(of_aliases)));
    }
    let term = find(name).into_iter().find(|term| !aliases(term).is_empty())?;
    let names = aliases(term).iter().map(|alias| alias.0).collect();
    Some(format!("{}: {}", called(name, term), quoted(names)))
}

/// `a warp (CUDA) is a wave here`.
fn called(word: &str, term: &Term) -> String {
    if spelling(word) == spelling(term.here) {
        return format!("docs/terms.md has `{}`", term.here);
    }
    match term.models_of(word).as_slice() {
        [] => format!("`{word}` is {} here", with_article(term.here)),
        models => format!("`{word}` of {} is {} here", models.join(" and "), with_article(term.here)),
    }
}

/// `a wave`; `local memory` has no article.
fn with_article(name: &str) -> String {
    let counted = !name.ends_with("memory") && !name.ends_with("occupancy") && !name.ends_with("divergence");
    match name.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'L') if counted => format!("an {name}"),
        _ if counted => format!("a {name}"),
        _ => name.to_owned(),
    }
}

impl Term {
    /// The names elsewhere in one line: `CUDA: warp; OpenCL: sub-group`.
    pub fn elsewhere(&self) -> String {
        self.names().map(|(model, names)| format!("{model}: {names}")).collect::<Vec<_>>().join("; ")
    }

    /// The term as text: meaning, a line for each model, flags and statistics. The parameters are left to those who know
    /// what they mean.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.here);
        for line in wrapped(self.meaning) {
            text += &format!("    {line}\n");
        }
        for (model, names) in self.names() {
            text += &format!("    {model:<14}{names}\n");
        }
        let rows = [
            ("flags", self.flags.iter().map(|(flag, _)| format!("--{flag}")).collect::<Vec<_>>()),
            ("statistics", self.statistics.iter().map(|&name| name.to_owned()).collect()),
        ];
        for (what, names) in rows.into_iter().filter(|(_, names)| !names.is_empty()) {
            text += &format!("    {what:<14}{}\n", names.join(", "));
        }
        text
    }
}

/// Lines of at most 92 columns.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 92;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
        } else {
            *last += if last.is_empty() { "" } else { " " };
            *last += word;
        }
    }
    lines
}
