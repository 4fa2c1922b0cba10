//! Random machines: settings on top of a preset, in the form that `--set` takes.

use rand::RngExt;
use rand_pcg::Pcg32;
use std::ops::RangeInclusive;
use wave_machine::config::{Config, ReplacementPolicy, WritePolicy, load};

/// A random machine.
pub struct Machine {
    /// It.
    pub config: Config,
    /// The preset that the settings change.
    pub base: &'static str,
    /// The settings, each as `KEY=VALUE`.
    pub settings: Vec<String>,
}

impl Machine {
    /// Command-line arguments for this machine.
    pub fn arguments(&self) -> String {
        let settings: String = self.settings.iter().map(|setting| format!(" --set {setting}")).collect();
        format!("--config {}{settings}", self.base)
    }
}

/// Settings under construction.
pub struct Draw<'r> {
    /// Source of the choices.
    pub random: &'r mut Pcg32,
    /// The machine that they change.
    base: Config,
    /// Line of the L1 as set so far, in bytes.
    l1_line: u32,
    settings: Vec<String>,
}

impl Draw<'_> {
    /// Adds a setting.
    pub fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.settings.push(format!("{key}={value}"));
    }

    /// Sets the line of the instruction cache if no section has, and the L1's is shorter than the base's.
    fn shorten_icache_line(&mut self) {
        let key = "core.fetch.icache_line_bytes";
        if self.l1_line < self.base.core.fetch.icache_line_bytes
            && !self.settings.iter().any(|setting| setting.starts_with(key))
        {
            self.set(key, self.l1_line);
        }
    }

    /// Sets a key to one of these values. Returns the value.
    pub fn of<T: Copy + std::fmt::Display>(&mut self, key: &str, values: &[T]) -> T {
        let value = values[self.random.random_range(0..values.len())];
        self.set(key, value);
        value
    }

    /// Sets a key to a value of the range. Returns the value.
    pub fn within(&mut self, key: &str, range: RangeInclusive<u32>) -> u32 {
        let value = self.random.random_range(range);
        self.set(key, value);
        value
    }
}

/// A machine on top of `base`: `room` for the programs that are to run, then random settings. None if the
/// values contradict each other.
pub fn machine(
    random: &mut Pcg32,
    base: &'static str,
    room: &[&str],
    sections: &[fn(&mut Draw<'_>)],
) -> Option<Machine> {
    let config = load(base).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let settings = room.iter().map(|&setting| setting.to_owned()).collect();
    let mut draw = Draw { random, l1_line: config.core.l1.line_bytes, base: config, settings };
    sections.iter().for_each(|section| section(&mut draw));
    draw.shorten_icache_line();
    let Draw { base: config, settings, .. } = draw;
    // A warning says that some kernels do not fit.
    let config = config.with(&settings).ok().filter(|config| config.check().is_empty())?;
    Some(Machine { config, base, settings })
}

/// Settings of the memory hierarchy, from local memory and the L1s to the channels.
pub fn memory(draw: &mut Draw<'_>) {
    draw.within("cores", 1..=4);
    let line = draw.of("core.l1.line_bytes", &[32, 64, 128]);
    draw.l1_line = line;
    draw.of("core.l1.sector_bytes", &[16, 32, 64, 128]);
    let ways = draw.within("core.l1.ways", 1..=8);
    draw.of("core.l1.bytes", &[1, 2, 8, 32].map(|sets| line * ways * sets));
    draw.within("core.l1.hit_latency_cycles", 1..=40);
    let replacements: Vec<&str> = ReplacementPolicy::ALL.iter().map(|policy| policy.name()).collect();
    let write_policies: Vec<&str> = WritePolicy::ALL.iter().map(|policy| policy.name()).collect();
    draw.of("core.l1.replacement", &replacements);
    draw.of("core.l1.write_policy", &write_policies);
    draw.within("core.l1.mshrs", 1..=16);
    draw.within("core.l1.mshr_merges", 1..=8);
    draw.of("core.local.banks", &[1, 4, 8, 32]);
    draw.of("core.local.bank_bytes", &[4, 8]);
    draw.within("core.local.latency_cycles", 1..=30);
    draw.within("core.lsu.queue_entries", 1..=8);
    let pending = draw.within("core.lsu.pending_entries", 1..=32);
    // No draw of its own, so that the machines are what they were without this parameter.
    draw.set("core.lsu.extra_return_entries", [0, 1, 7, 56][pending as usize % 4]);
    draw.set("core.l1.prefetcher", ["none", "next_line"][pending as usize / 4 % 2]);
    draw.set("core.l1.prefetch_entries", [1, 16][pending as usize / 2 % 2]);
    draw.within("interconnect.latency_cycles", 1..=20);
    draw.within("interconnect.port_bytes_per_cycle", 1..=64);
    draw.within("interconnect.queue_entries", 1..=8);
    draw.of("interconnect.topology", &["crossbar", "ring", "mesh"]);
    draw.of("interconnect.arbitration", &["round_robin", "oldest"]);
    draw.within("interconnect.link_latency_cycles", 1..=5);
    draw.within("interconnect.link_bytes_per_cycle", 1..=64);
    draw.within("interconnect.link_credits", 1..=8);
    draw.within("interconnect.mesh_columns", 1..=4);
    draw.of("l2.slices", &[1, 2, 3, 4, 6, 8, 10, 12]);
    let ways = draw.within("l2.ways", 1..=8);
    draw.of("l2.slice_bytes", &[1, 4, 64].map(|sets| line * ways * sets));
    draw.within("l2.hit_latency_cycles", 1..=40);
    draw.of("l2.replacement", &replacements);
    draw.within("l2.mshrs", 1..=16);
    draw.within("l2.mshr_merges", 1..=8);
    draw.within("l2.queue_entries", 1..=8);
    draw.of("dram.channels", &[1, 2, 3, 4, 5, 6, 12]);
    draw.of("dram.banks", &[1, 4, 16]);
    draw.of("dram.bank_groups", &[1, 2, 4]);
    draw.of("dram.row_bytes", &[128, 1024, 4096]);
    draw.within("dram.clock_mhz", 200..=4000);
    draw.of("dram.burst_bytes", &[16, 32, 64]);
    let entries = draw.within("dram.queue_entries", 1..=32);
    draw.set("dram.overtake_limit", [64, 1, 4][entries as usize % 3]);
    draw.of("dram.policy", &["fr_fcfs", "fcfs"]);
    let (t_rcd, t_rp) = (draw.within("dram.t_rcd", 1..=40), draw.within("dram.t_rp", 1..=40));
    for timing in ["t_cl", "t_cwl", "t_rtp", "t_wr"] {
        draw.within(&format!("dram.{timing}"), 1..=40);
    }
    draw.of("dram.t_refi", &[0, 900, 4000]);
    let t_ras = draw.within("dram.t_ras", t_rcd..=t_rcd + 30);
    draw.set("dram.t_rc", t_ras + t_rp);
    // No draw of its own, so that the machines are what they were without this parameter.
    draw.set("dispatcher.release_scope", ["device", "system"][t_rp as usize % 2]);
}

/// Settings of the core, from the dispatcher to the execution units.
pub fn core(draw: &mut Draw<'_>) {
    draw.within("dispatcher.workgroups_per_cycle", 1..=3);
    draw.within("dispatcher.latency_cycles", 1..=20);
    let lanes = draw.of("core.wave_width", &[8, 16, 32, 64]);
    draw.of("core.register_file_bytes", &[65_536, 131_072, 262_144]);
    draw.of("core.max_waves", &[4, 8, 16, 32, 64]);
    draw.within("core.max_workgroups", 1..=8);
    draw.of("core.divergence", &["walk", "jump"]);
    draw.of("core.schedulers", &[1, 1, 2, 4]);
    draw.within("core.branch_latency_cycles", 1..=6);
    let words = draw.of("core.fetch.words", &[2, 4, 8, 16]);
    draw.within("core.fetch.buffer_entries", words..=words + 8);
    let longest = draw.l1_line;
    let line = draw.of("core.fetch.icache_line_bytes", &[16, 64, 256].map(|line: u32| line.min(longest)));
    let ways = draw.within("core.fetch.icache_ways", 1..=4);
    draw.of("core.fetch.icache_bytes", &[2, 8, 32].map(|sets| line * ways * sets));
    draw.within("core.fetch.icache_latency_cycles", 1..=4);
    draw.within("core.fetch.icache_mshrs", 1..=4);
    draw.within("core.fetch.prefetch_lines", 0..=3);
    draw.of("core.issue.policy", &["lrr", "gto", "oldest", "two_level"]);
    draw.of("core.issue.width", &[1, 1, 2, 3]);
    draw.within("core.issue.two_level_active", 1..=4);
    draw.of("core.registers.banks", &[1, 2, 4, 8]);
    draw.within("core.registers.collectors", 1..=6);
    draw.within("core.registers.write_ports", 1..=3);
    for unit in draw.base.core.units.clone() {
        let of_unit = format!("core.units[{}]", unit.name);
        draw.within(&format!("{of_unit}.lanes"), 1..=lanes);
        for class in unit.classes {
            let of_class = format!("{of_unit}.classes[{}]", class.class.name());
            draw.within(&format!("{of_class}.latency_cycles"), 1..=12);
            draw.of(&format!("{of_class}.passes"), &[1, 1, 1, 2, 5]);
        }
    }
}
