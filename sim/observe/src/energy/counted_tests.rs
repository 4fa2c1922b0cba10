//! Every price of a model beside the counters that it multiplies, worked out a second time from docs/energy.md.

use super::*;
use wave_machine::config::{Config, load};
use wave_machine::memory::{HEADER_BYTES, L1Counters, MemoryCounters};
use wave_machine::stats::{CoreCounters, Declared};

/// A machine, for the prices that depend on its sizes.
struct Machine<'a> {
    config: &'a Config,
    prices: &'a Prices,
    mm2: f64,
}

impl Machine<'_> {
    /// Rule 2: a bit of an array.
    fn bit(&self, bytes: u32) -> f64 {
        self.prices.energy.array_8kib_pj_per_bit.value * (f64::from(bytes) / 8192.0).sqrt()
    }

    /// Rule 2: a bit of a memory whose price was measured at one size.
    fn measured(&self, price: &Price, kib: u32, bytes: u32) -> f64 {
        (price.value + self.bit(bytes) - self.bit(kib << 10)).max(0.0)
    }
}

/// A line of the model: its block, its name, its price in pJ, and the counters that it multiplies.
type Row = (Block, &'static str, fn(&Machine<'_>) -> f64, &'static [&'static str]);

/// Lines that every machine has.
const ROWS: &[Row] = &[
    (
        Block::FrontEnd,
        "decode and issue",
        |m| m.prices.energy.decode_pj.value,
        &["core.wave_instructions", "core.squashed_instructions"],
    ),
    (
        Block::FrontEnd,
        "instruction fetch",
        |m| m.bit(m.config.core.fetch.icache_bytes) * f64::from(m.config.core.fetch.words * 32),
        &["core.fetches"],
    ),
    (
        Block::FrontEnd,
        "instruction cache fill",
        |m| m.bit(m.config.core.fetch.icache_bytes) * f64::from(m.config.core.fetch.icache_line_bytes * 8),
        &["core.icache_misses"],
    ),
    (Block::Registers, "register reads", register, &["core.register_reads"]),
    (Block::Registers, "register writes", register, &["core.register_writes"]),
    (Block::Pipeline, "lanes", |m| m.prices.energy.lane_pj.value, &["core.lane_instructions"]),
    (Block::Integer, "int", |m| m.prices.energy.int_pj.value, &["core.int_lanes"]),
    (Block::Integer, "int_mul", |m| m.prices.energy.int_mul_pj.value, &["core.int_mul_lanes"]),
    (Block::Integer, "int_div", |m| m.prices.energy.int_div_pj.value, &["core.int_div_lanes"]),
    (Block::Integer, "convert", |m| m.prices.energy.convert_pj.value, &["core.convert_lanes"]),
    (Block::F16, "fp16", |m| m.prices.energy.fp16_pj.value, &["core.fp16_lanes"]),
    (Block::F32, "fp32", |m| m.prices.energy.fp32_pj.value, &["core.fp32_lanes"]),
    (Block::F32, "fp32_div", |m| m.prices.energy.fp32_div_pj.value, &["core.fp32_div_lanes"]),
    (Block::F64, "fp64", |m| m.prices.energy.fp64_pj.value, &["core.fp64_lanes"]),
    (Block::F64, "fp64_div", |m| m.prices.energy.fp64_div_pj.value, &["core.fp64_div_lanes"]),
    (Block::Special, "sfu", |m| m.prices.energy.sfu_pj.value, &["core.sfu_lanes"]),
    (Block::WaveOps, "wave", |m| m.prices.energy.wave_pj.value, &["core.wave_lanes"]),
    (Block::Matrix, "mma", |m| 64.0 * m.prices.energy.mma_fma_pj.value, &["core.mma_lanes"]),
    (Block::Local, "local addresses", |m| m.prices.energy.address_pj.value, &["core.local_memory_lanes"]),
    (
        Block::Local,
        "local words",
        |m| 32.0 * m.measured(&m.prices.energy.local_64kib_pj_per_bit, 64, m.config.core.local_memory_bytes),
        &["core.local_words"],
    ),
    (Block::L1, "addresses", |m| m.prices.energy.address_pj.value, &["core.device_memory_lanes"]),
    (
        Block::L1,
        "words",
        |m| 32.0 * m.measured(&m.prices.energy.l1_64kib_pj_per_bit, 64, m.config.core.l1.bytes),
        &["core.device_words"],
    ),
    (
        Block::L1,
        "fills",
        |m| m.bit(m.config.core.l1.bytes) * f64::from(m.config.core.l1.sector_bytes * 8),
        &["l1.requested_sectors"],
    ),
    (
        Block::L1,
        "write-backs",
        |m| m.bit(m.config.core.l1.bytes) * f64::from(m.config.core.l1.line_bytes * 8),
        &["l1.write_backs"],
    ),
    (
        Block::L2,
        "packets' data",
        |m| 8.0 * m.measured(&m.prices.energy.l2_128kib_pj_per_bit, 128, m.config.l2.slice_bytes),
        &[
            "interconnect.request_bytes",
            "interconnect.reply_bytes",
            "-interconnect.requests",
            "-interconnect.replies",
        ],
    ),
    (Block::Controllers, "data", |m| 8.0 * m.prices.energy.phy_pj_per_bit.value, MOVED),
    (
        Block::Dram,
        "activates",
        |m| device(m).activate_pj_per_row_kib.value * f64::from(m.config.dram.row_bytes) / 1024.0,
        &["dram.activates"],
    ),
    (Block::Dram, "reads", |m| 8.0 * device(m).data_pj_per_bit.value, &["dram.read_bytes"]),
    (Block::Dram, "writes", |m| 8.0 * device(m).data_pj_per_bit.value, &["dram.written_bytes"]),
    (Block::Dram, "refreshes", |m| device(m).refresh_pj.value, &["dram.refreshes"]),
    (
        Block::Dram,
        "standby",
        |m| device(m).standby_mw.value * f64::from(m.config.dram.channels) * nanoseconds(m),
        &["kernel.cycles"],
    ),
    (
        Block::Leakage,
        "leakage",
        |m| m.prices.energy.leakage_mw_per_mm2.value * m.mm2 * nanoseconds(m),
        &["kernel.cycles"],
    ),
];

const MOVED: &[&str] = &["dram.read_bytes", "dram.written_bytes"];

/// Rule 4, for a crossbar.
const CROSSBAR: &[Row] = &[(
    Block::Interconnect,
    "crossbar",
    |m| 8.0 * m.prices.energy.wire_pj_per_bit_mm.value * m.mm2.sqrt() * 2.0 / 3.0,
    &["interconnect.request_bytes", "interconnect.reply_bytes"],
)];

/// Rule 4, for a mesh, in which each core and slice has a router.
const MESH: &[Row] = &[
    (
        Block::Interconnect,
        "links",
        |m| {
            let network = wave_machine::config::network::Network::new(m.config);
            8.0 * m.prices.energy.wire_pj_per_bit_mm.value * m.mm2.sqrt()
                / (network.graph.node_count() as f64).sqrt()
        },
        &["interconnect.link_bytes"],
    ),
    (Block::Interconnect, "buffers", |m| 8.0 * 2.0 * m.bit(8 << 10), &["interconnect.link_bytes"]),
];

/// Lines of a machine without an L3, and of one with it.
const NO_L3: &[Row] =
    &[(Block::L2, "fills and write-backs", |m| 8.0 * m.bit(m.config.l2.slice_bytes), MOVED)];
const L3: &[Row] = &[
    (Block::L2, "fills and write-backs", |m| sector(m) * m.bit(m.config.l2.slice_bytes), BEHIND_L2),
    (Block::L3, "lines of the L2", |m| sector(m) * m.bit(m.config.l3.bank_bytes), BEHIND_L2),
    (Block::L3, "fills and write-backs", |m| 8.0 * m.bit(m.config.l3.bank_bytes), MOVED),
];

const BEHIND_L2: &[&str] = &["l3.read_sectors", "l3.written_sectors"];

/// Bits of a sector.
fn sector(m: &Machine<'_>) -> f64 {
    f64::from(m.config.core.l1.sector_bytes * 8)
}

/// A register of a lane, in one of the banks.
fn register(m: &Machine<'_>) -> f64 {
    let core = &m.config.core;
    32.0 * m.bit(core.register_file_bytes / (core.schedulers * core.registers.banks))
}

fn device<'a>(m: &Machine<'a>) -> &'a Device {
    m.prices.device(&m.config.dram)
}

/// Of a cycle: a milliwatt is a picojoule a nanosecond.
fn nanoseconds(m: &Machine<'_>) -> f64 {
    1e3 / f64::from(m.config.core_clock_mhz)
}

/// Every counter of an activity, with its name.
fn counters(activity: &mut Activity) -> Vec<(&'static str, &mut u64)> {
    fn named<'a>(declared: &[Declared], values: Vec<&'a mut u64>) -> Vec<(&'static str, &'a mut u64)> {
        declared.iter().map(|counter| counter.name).zip(values).collect()
    }
    let Activity { cycles, core, l1, memory } = activity;
    let MemoryCounters { interconnect, l2, l3, dram } = memory;
    let mut all = vec![("kernel.cycles", cycles)];
    all.extend(named(CoreCounters::DECLARED, core.values_mut()));
    all.extend(named(L1Counters::DECLARED, l1.values_mut()));
    all.extend(named(wave_machine::memory::InterconnectCounters::DECLARED, interconnect.values_mut()));
    all.extend(named(wave_machine::memory::L2Counters::DECLARED, l2.values_mut()));
    all.extend(named(wave_machine::memory::L3Counters::DECLARED, l3.values_mut()));
    all.extend(named(wave_machine::memory::DramCounters::DECLARED, dram.values_mut()));
    all
}

fn check(config: &Config, network: &[Row], behind_l2: &[Row]) {
    let prices = Prices::built_in();
    let name = &config.name;
    let model = Model::new(config, prices);
    let machine = Machine { config, prices, mm2: model.area.total_mm2() };
    let rows: Vec<&Row> = ROWS.iter().chain(network).chain(behind_l2).collect();
    assert_eq!(model.items().len(), rows.len(), "{name}: a line of the model is not in this table");
    // Bytes of packets are never below those of their headers.
    let base = || {
        let mut activity = Activity::default();
        activity.memory.interconnect.request_bytes = 1 << 20;
        activity
    };
    for (block, item, price, counted) in rows.iter().copied() {
        let item = model.items().iter().find(|line| (line.block, line.name) == (*block, *item)).unwrap();
        let expected = price(&machine);
        assert!(
            (item.pj / expected - 1.0).abs() < 1e-9,
            "{name}: {}: {} pJ, not {expected}",
            item.name,
            item.pj
        );
        // One counter after the other: those that the line names count, and no other one does.
        let number = counters(&mut base()).len();
        let before = item.count(&base()).cast_signed();
        for at in 0..number {
            let mut activity = base();
            let mut all = counters(&mut activity);
            let counter = all[at].0;
            *all[at].1 += 1000;
            let more = item.count(&activity).cast_signed() - before;
            let less = format!("-{counter}");
            let expected = match counted {
                _ if counted.contains(&counter) => 1000,
                _ if counted.contains(&less.as_str()) => -1000 * i64::from(HEADER_BYTES),
                _ => 0,
            };
            assert_eq!(more, expected, "{name}: {} by {counter}", item.name);
        }
    }
    // The blocks, from the table alone.
    let mut activity = base();
    for (number, (_, value)) in counters(&mut activity).into_iter().enumerate() {
        *value += 1000 + 37 * number as u64;
    }
    let value = |name: &str| {
        let mut copy = activity;
        let all = counters(&mut copy);
        all.into_iter().find(|(counter, _)| *counter == name).map(|(_, value)| *value as f64).unwrap()
    };
    let energy = model.energy(&activity);
    for block in Block::ALL {
        let of_block: Vec<_> = rows.iter().filter(|row| row.0 == block).collect();
        if of_block.is_empty() {
            assert_eq!(energy.block(block), 0.0, "{name}: {}", block.name());
            continue;
        }
        let expected: f64 = of_block
            .into_iter()
            .map(|(_, _, price, counted)| {
                let count = |name: &&str| match name.strip_prefix('-') {
                    Some(name) => -value(name) * f64::from(HEADER_BYTES),
                    None => value(name),
                };
                price(&machine) * 1e-12 * counted.iter().map(count).sum::<f64>()
            })
            .sum();
        let found = energy.block(block);
        assert!((found / expected - 1.0).abs() < 1e-9, "{name}: {}: {found} J, not {expected}", block.name());
    }
}

#[test]
fn every_line_is_its_price_times_its_counters() {
    let config = load("gpu.ron").unwrap();
    check(&config, CROSSBAR, NO_L3);
    check(&load("tiny.ron").unwrap(), CROSSBAR, NO_L3);
    check(&config.with(&["interconnect.topology=mesh".to_owned()]).unwrap(), MESH, NO_L3);
    check(&config.with(&["l3.bank_bytes=1048576".to_owned()]).unwrap(), CROSSBAR, L3);
}
