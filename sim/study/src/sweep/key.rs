//! What a result is named by: everything that decides it.

use crate::launch::Job;
use std::fmt::{self, Debug, Write};
use std::sync::LazyLock;
use wave_isa::program::{Launch, Program};
use wave_machine::config::{Config, leaves};
use wave_machine::registry;

/// The simulator, to the sources that decide what a run measures.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("WAVE_SIM_SOURCES"));

/// [`VERSION`], and in a program with plug-ins what identifies the program: they decide what a run measures, too.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        if registry::is_empty() {
            return VERSION.to_owned();
        }
        // Without the file, results are those of no other process.
        let program = std::env::current_exe().and_then(std::fs::read);
        let digest =
            program.map_or_else(|_| format!("process {}", std::process::id()), |bytes| checksum_of(&bytes));
        format!("{VERSION}+{digest}")
    });
    &TEXT
}

/// Identifies a kernel, its data and its launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

/// Everything of a run but its machine.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The kernels.
    pub program: &'a Program,
    /// Device memory, from address 0; zeros at its end can be left out.
    pub memory: &'a [u8],
    /// Launches, in order.
    pub launches: &'a [Launch],
    /// What a launch file expects.
    pub expected: Option<&'a Job>,
    /// Bytes of device memory that the kernels may access.
    pub device_memory: u64,
}

/// Bounds of a run, which decide whether it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Cycles of a launch.
    pub max_cycles: Option<u64>,
    /// Wave instructions of a launch.
    pub max_instructions: Option<u64>,
}

struct Hasher(blake3::Hasher);

impl Write for Hasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

impl Hasher {
    fn new() -> Hasher {
        Hasher(blake3::Hasher::new())
    }

    /// Adds a part, and its length, so that no two lists of parts look alike.
    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.0.update(format!("{name} {}\n", bytes.len()).as_bytes());
        self.0.update(bytes);
    }

    /// Adds a value as its debug text, which has all its fields.
    fn debug(&mut self, name: &str, value: impl Debug) {
        // A hasher takes every text.
        _ = writeln!(self, "{name} {value:?}");
    }
}

impl Digest {
    /// Identifies what is not a kernel with its data, by the names and contents of its parts, in order.
    pub fn of_parts(parts: &[(&str, Vec<u8>)]) -> Digest {
        let mut hasher = Hasher::new();
        parts.iter().for_each(|(name, bytes)| hasher.bytes(name, bytes));
        Digest(hasher.0.finalize().into())
    }
}

impl Subject<'_> {
    /// Identifies it.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        let code: Vec<u8> = self.program.code.iter().flat_map(|word| word.to_le_bytes()).collect();
        hasher.bytes("code", &code);
        hasher.debug("kernels", &self.program.kernels);
        hasher.debug("module", &self.program.module);
        let used = self.memory.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        hasher.bytes("memory", &self.memory[..used]);
        hasher.debug("device memory", self.device_memory);
        hasher.debug("launches", self.launches);
        hasher.debug("expected", self.expected.map(Job::verdict));
        Digest(hasher.0.finalize().into())
    }
}

/// The name of a result: 32 hexadecimal digits.
pub fn key(config: &Config, subject: Digest, bounds: Bounds) -> String {
    let mut hasher = Hasher::new();
    hasher.debug("version", version());
    for leaf in leaves(config) {
        // What does not affect the machine.
        if !matches!(leaf.key.as_str(), "name" | "description") {
            hasher.debug(&leaf.path, &leaf.value);
        }
    }
    hasher.bytes("subject", &subject.0);
    hasher.debug("bounds", bounds);
    hasher.0.finalize().to_hex()[..32].to_owned()
}

/// A checksum of a text: 32 hexadecimal digits.
pub(super) fn checksum(text: &str) -> String {
    checksum_of(text.as_bytes())
}

fn checksum_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{Size, load_with_seed};
    use std::collections::{BTreeSet, HashSet};
    use wave_machine::config::{Form, PRESETS, Settable, config_hash, load};

    fn of(job: &Job) -> Digest {
        let Job { program, memory, steps, .. } = job;
        let device_memory = 1 << 24;
        Subject { program, memory, launches: steps, expected: Some(job), device_memory }.digest()
    }

    #[test]
    fn everything_that_decides_a_result_changes_its_name() {
        let job = || load_with_seed("saxpy", Size::Small, None).unwrap();
        let digest = |change: fn(&mut Job)| {
            let mut job = job();
            change(&mut job);
            of(&job)
        };
        let same = of(&job());
        let others = [
            digest(|job| job.program.code[0] ^= 1),
            digest(|job| job.program.kernels[0].registers += 1),
            digest(|job| *job.memory.last_mut().unwrap() ^= 1),
            digest(|job| job.steps[0].grid[0] += 1),
            digest(|job| job.steps[0].initial_registers[0].1 += 1),
            digest(|job| job.checks[0].expected[0] += 1.0),
            digest(|job| job.checks.clear()),
            of(&load_with_seed("saxpy", Size::Small, Some(2)).unwrap()),
            of(&load_with_seed("saxpy", Size::Full, None).unwrap()),
            of(&load_with_seed("scan", Size::Small, None).unwrap()),
        ];
        assert_eq!(same, of(&job()));
        let all: HashSet<Digest> = others.into_iter().chain([same]).collect();
        assert_eq!(all.len(), others.len() + 1);
        // Neither its name nor zeros behind its data.
        assert_eq!(same, digest(|job| job.name.push('x')));
        assert_eq!(same, digest(|job| job.memory.extend([0; 100])));
    }

    /// Words that may change a parameter: whichever the machine takes.
    fn other_values(form: Form, now: &str) -> Vec<String> {
        match form {
            Form::Boolean => vec![(now != "true").to_string()],
            Form::Choice(names) => names.iter().map(|&name| name.to_owned()).collect(),
            Form::Text => vec![format!("{}x", now.trim_matches('"'))],
            Form::Integer(_) => {
                let now: u64 = now.parse().unwrap();
                let all = [
                    now * 2,
                    now / 2,
                    now + 1,
                    now.saturating_sub(1),
                    now * 4,
                    now / 4,
                    now + 64,
                    0,
                    1,
                    2,
                    8,
                    64,
                ];
                all.iter().map(u64::to_string).collect()
            }
        }
    }

    /// Every parameter of every preset, one that is added later included.
    #[test]
    fn every_parameter_of_the_machine_is_in_the_name_of_a_result() {
        let digest = of(&load_with_seed("saxpy", Size::Small, None).unwrap());
        let none = Bounds::default();
        let (mut seen, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for preset in PRESETS {
            let config = load(preset.file).unwrap();
            let same = key(&config, digest, none);
            for leaf in leaves(&config) {
                let is_prose = ["name", "description"].contains(&leaf.key.as_str());
                seen.insert(leaf.key.clone());
                if changed.contains(&leaf.key) {
                    continue;
                }
                let Ok(Settable { form, .. }) = config.settable(&leaf.path) else { continue };
                let words = other_values(form, &leaf.value);
                let others = words.iter().filter(|&word| *word != leaf.value);
                let mut others =
                    others.filter_map(|word| config.with(&[format!("{}={word}", leaf.path)]).ok());
                let Some(other) = others.find(|other| leaves(other) != leaves(&config)) else { continue };
                let is_same = key(&other, digest, none) == same;
                assert_eq!(is_same, is_prose, "{} of {}", leaf.path, preset.file);
                let hash = config_hash(&other) == config_hash(&config);
                assert_eq!(hash, is_prose, "{} of {}", leaf.path, preset.file);
                changed.insert(leaf.key);
            }
        }
        let left: Vec<&String> = seen.difference(&changed).collect();
        assert!(changed.len() > 90, "{}", changed.len());
        assert!(left.iter().all(|key| NOT_ALONE.contains(&key.as_str())), "{left:?}");
        for key in NOT_ALONE {
            assert!(seen.contains(key), "{key} is no parameter of any preset");
        }
        // Two units that take the classes of one another.
        let config = Config::example();
        let mut other = config.clone();
        let (first, others) = other.core.units.split_at_mut(1);
        std::mem::swap(&mut first[0].classes[0].class, &mut others[0].classes[0].class);
        assert_ne!(key(&other, digest, none), key(&config, digest, none));
        assert_ne!(config_hash(&other), config_hash(&config));
    }

    /// Parameters that no single setting changes: each class has one unit, and the path of an L1 one built-in choice.
    const NOT_ALONE: [&str; 2] = ["core.units[].classes[].class", "core.l1.path"];

    #[test]
    fn so_does_the_machine_but_not_its_name() {
        let digest = of(&load_with_seed("saxpy", Size::Small, None).unwrap());
        let config = Config::example();
        let none = Bounds::default();
        let same = key(&config, digest, none);
        assert_eq!(same.len(), 32);
        let named = Config { name: "other".to_owned(), ..config.clone() };
        assert_eq!(same, key(&named, digest, none));
        for setting in ["cores=8", "core.l1.bytes=32KiB", "core.units[fp32].lanes=16", "dram.t_rcd=25"] {
            let other = config.with(&[setting.to_owned()]).unwrap();
            assert_ne!(same, key(&other, digest, none), "{setting}");
        }
        assert_ne!(same, key(&config, digest, Bounds { max_cycles: Some(1), ..none }));
        assert_ne!(same, key(&config, digest, Bounds { max_instructions: Some(1), ..none }));
    }
}
