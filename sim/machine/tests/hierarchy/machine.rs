//! Machines built from keys and values, and runs on them.

use std::collections::BTreeMap;
use wave_isa::program::{Launch, assemble};
use wave_machine::config::{Config, from_text};
use wave_machine::gpu::{KernelReport, Machine, RunOptions};

/// Keys and values, as in a configuration file.
pub(crate) type Values<'a> = &'a [(&'a str, &'a str)];

/// A small machine with these values. Later values override earlier ones.
pub(crate) fn machine(values: &[Values]) -> Config {
    let mut tree: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, value) in values.iter().copied().flatten() {
        tree.insert(key, value);
    }
    let text = format!("(base: \"tiny.ron\", {})", section(&tree.into_iter().collect::<Vec<_>>()));
    let (config, _) = from_text("machine.ron", &text).unwrap_or_else(|errors| {
        panic!("{text}\n{}", errors.iter().map(|e| e.to_string()).collect::<String>())
    });
    config
}

/// Text of a section, from keys in order.
fn section(values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = values;
    while let Some((key, value)) = rest.first() {
        let Some((head, _)) = key.split_once('.') else {
            text += &format!("{key}: {value}, ");
            rest = &rest[1..];
            continue;
        };
        let inside = |key: &str| key.split_once('.').is_some_and(|(first, _)| first == head);
        let count = rest.iter().take_while(|(key, _)| inside(key)).count();
        let inner: Vec<_> =
            rest[..count].iter().map(|(key, value)| (&key[head.len() + 1..], *value)).collect();
        text += &format!("{head}: ({}), ", section(&inner));
        rest = &rest[count..];
    }
    text
}

/// A kernel and its launch.
pub(crate) struct Work {
    pub body: String,
    pub groups: u32,
    pub threads: u32,
}

/// Local memory of each workgroup.
const LOCAL_BYTES: u32 = 4096;

impl Work {
    /// Runs the kernel on memory with different words throughout. Returns the report and the final memory.
    pub(crate) fn run(&self, config: &Config) -> (KernelReport, Vec<u8>) {
        let text = format!(".kernel work\n.registers 64\n{}halt\n.end\n", self.body);
        let (program, _) = assemble(&text, "work.wave").unwrap_or_else(|errors| panic!("{}", errors[0]));
        let memory = (0..config.device_memory_bytes as u32 / 4)
            .flat_map(|i| i.wrapping_mul(0x9E37_79B9).to_le_bytes());
        let mut gpu = Machine::new(config.clone(), program.clone(), memory.collect());
        let launch = Launch {
            kernel: 0,
            grid: [self.groups, 1, 1],
            workgroup: [self.threads, 1, 1],
            registers: 64,
            local_memory_bytes: LOCAL_BYTES,
            initial_registers: Vec::new(),
        };
        let options = RunOptions { max_cycles: Some(2_000_000), ..RunOptions::UNBOUNDED };
        let report = gpu.run(&launch, &options, None, &mut |_| {}).unwrap_or_else(|e| panic!("{e:?}"));
        (report, gpu.into_memory())
    }
}
