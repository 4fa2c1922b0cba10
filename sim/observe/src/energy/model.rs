//! What each action of a machine costs, and what a run costs.

use super::area::{Area, MMA_FMAS, crossbar_mm, hop_mm};
use super::declare::Price;
use super::prices::Prices;
use wave_machine::clock::Cycle;
use wave_machine::config::network::Network;
use wave_machine::config::{Config, Topology};
use wave_machine::gpu::KernelReport;
use wave_machine::memory::{HEADER_BYTES, L1Counters, MemoryCounters};
use wave_machine::stats::CoreCounters;

/// Bits of a register of a lane.
const WORD_BITS: f64 = 32.0;

const KIB: f64 = 1024.0;

/// A block of the machine, for sums of energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Block {
    /// Fetch, decode and issue.
    FrontEnd,
    /// Register banks.
    Registers,
    /// Pipeline registers, clock and collectors of the lanes.
    Pipeline,
    /// Integer units and conversions.
    Integer,
    /// f16 and bf16.
    F16,
    /// f32.
    F32,
    /// f64.
    F64,
    /// Special functions.
    Special,
    /// Operations across lanes.
    WaveOps,
    /// Matrix units.
    Matrix,
    /// Local memory.
    Local,
    /// L1 and addresses of device memory accesses.
    L1,
    /// Between cores and L2 slices.
    Interconnect,
    /// L2 slices.
    L2,
    /// L3.
    L3,
    /// Memory controllers and the chip's side of the memory interface.
    Controllers,
    /// Memory devices: commands, data, refresh and standby.
    Dram,
    /// Leakage of the chip.
    Leakage,
}

impl Block {
    /// Every block, in the order of reports.
    pub const ALL: [Block; 18] = [
        Block::FrontEnd,
        Block::Registers,
        Block::Pipeline,
        Block::Integer,
        Block::F16,
        Block::F32,
        Block::F64,
        Block::Special,
        Block::WaveOps,
        Block::Matrix,
        Block::Local,
        Block::L1,
        Block::Interconnect,
        Block::L2,
        Block::L3,
        Block::Controllers,
        Block::Dram,
        Block::Leakage,
    ];

    /// Name in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Block::FrontEnd => "front_end",
            Block::Registers => "register_file",
            Block::Pipeline => "pipeline",
            Block::Integer => "int",
            Block::F16 => "fp16",
            Block::F32 => "fp32",
            Block::F64 => "fp64",
            Block::Special => "sfu",
            Block::WaveOps => "wave",
            Block::Matrix => "mma",
            Block::Local => "local_memory",
            Block::L1 => "l1",
            Block::Interconnect => "interconnect",
            Block::L2 => "l2",
            Block::L3 => "l3",
            Block::Controllers => "memory_controllers",
            Block::Dram => "dram",
            Block::Leakage => "leakage",
        }
    }
}

/// What is counted of a run, or of a part of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Cycles.
    pub cycles: Cycle,
    /// The cores.
    pub core: CoreCounters,
    /// The L1 caches.
    pub l1: L1Counters,
    /// The memory side.
    pub memory: MemoryCounters,
}

impl From<&KernelReport> for Activity {
    fn from(report: &KernelReport) -> Activity {
        Activity { cycles: report.cycles, core: report.core, l1: report.l1, memory: report.memory }
    }
}

/// One kind of action of a machine.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Its block.
    pub block: Block,
    /// Name.
    pub name: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// Price of one, in pJ, on this machine.
    pub pj: f64,
    /// Factor within which the true price should lie.
    pub uncertainty: f64,
    count: fn(&Activity) -> u64,
}

impl Item {
    /// How often it happened.
    pub fn count(&self, activity: &Activity) -> u64 {
        (self.count)(activity)
    }
}

/// What the actions of a machine cost.
#[derive(Debug, Clone)]
pub struct Model {
    /// Area of the machine.
    pub area: Area,
    items: Vec<Item>,
    seconds_per_cycle: f64,
}

/// A price of an action, in pJ: a price of the table and how much of it.
struct Cost<'p> {
    price: &'p Price,
    amount: f64,
    /// What is added to the price, in pJ a unit of `amount`.
    beyond: f64,
}

impl Model {
    /// The model of a machine with these prices.
    pub fn new(config: &Config, prices: &Prices) -> Model {
        let area = Area::of(config, prices);
        let items = items(config, prices, &area);
        Model { area, items, seconds_per_cycle: 1e-6 / f64::from(config.core_clock_mhz) }
    }

    /// Every kind of action, in the order of blocks.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The energy of what was counted.
    pub fn energy(&self, activity: &Activity) -> Energy {
        let mut joules = [0.0; Block::ALL.len()];
        let mut bounds = (0.0, 0.0);
        for item in &self.items {
            let energy = item.count(activity) as f64 * item.pj * 1e-12;
            joules[item.block as usize] += energy;
            bounds.0 += energy / item.uncertainty;
            bounds.1 += energy * item.uncertainty;
        }
        Energy { joules, bounds, seconds: activity.cycles as f64 * self.seconds_per_cycle }
    }
}

/// The kinds of actions of a machine with their prices.
fn items(config: &Config, prices: &Prices, area: &Area) -> Vec<Item> {
    let (core, price) = (&config.core, &prices.energy);
    let side = area.total_mm2().sqrt();
    let array = |bytes: f64| price.array_8kib_pj_per_bit.value * (bytes / (8.0 * KIB)).sqrt();
    // A measured price of a memory of one size: only its array grows with the size.
    let sized = |price, measured: f64, bytes: f64| Cost {
        price,
        amount: 1.0,
        beyond: array(bytes) - array(measured),
    };
    let simple = |price, amount: f64| Cost { price, amount, beyond: 0.0 };
    let arrays =
        |bytes: f64, bits: f64| simple(&price.array_8kib_pj_per_bit, bits * (bytes / (8.0 * KIB)).sqrt());
    let bits = |cost: Cost<'_>, bits: f64| {
        let Cost { price, amount, beyond } = cost;
        let pj = ((price.value + beyond) * amount * bits).max(0.0);
        (pj, price.factor())
    };
    let mut items = Vec::new();
    let mut add = |block, name, unit, (pj, uncertainty): (f64, f64), count: fn(&Activity) -> u64| {
        items.push(Item { block, name, unit, pj, uncertainty, count });
    };

    let of = |price: &Price| (price.value, price.factor());
    add(Block::FrontEnd, "decode and issue", "wave instructions", of(&price.decode_pj), |a| {
        a.core.wave_instructions + a.core.squashed_instructions
    });
    let icache = f64::from(core.fetch.icache_bytes);
    let group = arrays(icache, f64::from(core.fetch.words) * WORD_BITS);
    add(Block::FrontEnd, "instruction fetch", "fetch groups", bits(group, 1.0), |a| a.core.fetches);
    let line = arrays(icache, f64::from(core.fetch.icache_line_bytes) * 8.0);
    add(Block::FrontEnd, "instruction cache fill", "fetch groups", bits(line, 1.0), |a| a.core.icache_misses);

    let bank = f64::from(core.register_file_bytes) / f64::from(core.schedulers * core.registers.banks);
    let register = bits(arrays(bank, WORD_BITS), 1.0);
    add(Block::Registers, "register reads", "lane rows", register, |a| a.core.register_reads);
    add(Block::Registers, "register writes", "lane rows", register, |a| a.core.register_writes);
    add(Block::Pipeline, "lanes", "lane instructions", of(&price.lane_pj), |a| a.core.lane_instructions);

    let lanes = "lane instructions";
    add(Block::Integer, "int", lanes, of(&price.int_pj), |a| a.core.int_lanes);
    add(Block::Integer, "int_mul", lanes, of(&price.int_mul_pj), |a| a.core.int_mul_lanes);
    add(Block::Integer, "int_div", lanes, of(&price.int_div_pj), |a| a.core.int_div_lanes);
    add(Block::Integer, "convert", lanes, of(&price.convert_pj), |a| a.core.convert_lanes);
    add(Block::F16, "fp16", lanes, of(&price.fp16_pj), |a| a.core.fp16_lanes);
    add(Block::F32, "fp32", lanes, of(&price.fp32_pj), |a| a.core.fp32_lanes);
    add(Block::F32, "fp32_div", lanes, of(&price.fp32_div_pj), |a| a.core.fp32_div_lanes);
    add(Block::F64, "fp64", lanes, of(&price.fp64_pj), |a| a.core.fp64_lanes);
    add(Block::F64, "fp64_div", lanes, of(&price.fp64_div_pj), |a| a.core.fp64_div_lanes);
    add(Block::Special, "sfu", lanes, of(&price.sfu_pj), |a| a.core.sfu_lanes);
    add(Block::WaveOps, "wave", lanes, of(&price.wave_pj), |a| a.core.wave_lanes);
    let mma = bits(simple(&price.mma_fma_pj, MMA_FMAS), 1.0);
    add(Block::Matrix, "mma", lanes, mma, |a| a.core.mma_lanes);

    add(Block::Local, "local addresses", lanes, of(&price.address_pj), |a| a.core.local_memory_lanes);
    let local = sized(&price.local_64kib_pj_per_bit, 64.0 * KIB, f64::from(core.local_memory_bytes));
    add(Block::Local, "local words", "lane words", bits(local, WORD_BITS), |a| a.core.local_words);

    add(Block::L1, "addresses", lanes, of(&price.address_pj), |a| a.core.device_memory_lanes);
    let l1_bytes = f64::from(core.l1.bytes);
    let l1 = sized(&price.l1_64kib_pj_per_bit, 64.0 * KIB, l1_bytes);
    add(Block::L1, "words", "lane words", bits(l1, WORD_BITS), |a| a.core.device_words);
    let sector = arrays(l1_bytes, f64::from(core.l1.sector_bytes) * 8.0);
    add(Block::L1, "fills", "sectors", bits(sector, 1.0), |a| a.l1.requested_sectors);
    let line = arrays(l1_bytes, f64::from(core.l1.line_bytes) * 8.0);
    add(Block::L1, "write-backs", "lines", bits(line, 1.0), |a| a.l1.write_backs);

    let packets = |a: &Activity| a.memory.interconnect.request_bytes + a.memory.interconnect.reply_bytes;
    match config.interconnect.topology {
        Topology::Crossbar => {
            let way = bits(simple(&price.wire_pj_per_bit_mm, crossbar_mm(side)), 8.0);
            add(Block::Interconnect, "crossbar", "bytes", way, packets);
        }
        _ => {
            let hop = hop_mm(Network::new(config).graph.node_count(), side);
            let wire = bits(simple(&price.wire_pj_per_bit_mm, hop), 8.0);
            add(Block::Interconnect, "links", "bytes", wire, |a| a.memory.interconnect.link_bytes);
            // A packet is written into the buffer behind a link, and read from it.
            let buffer = bits(arrays(8.0 * KIB, 2.0), 8.0);
            add(Block::Interconnect, "buffers", "bytes", buffer, |a| a.memory.interconnect.link_bytes);
        }
    }
    let slice = f64::from(config.l2.slice_bytes);
    let l2 = sized(&price.l2_128kib_pj_per_bit, 128.0 * KIB, slice);
    add(Block::L2, "packets' data", "bytes", bits(l2, 8.0), |a| {
        let network = &a.memory.interconnect;
        let headers = u64::from(HEADER_BYTES) * (network.requests + network.replies);
        // At the end of a window a packet may be counted whose bytes are not yet.
        (network.request_bytes + network.reply_bytes).saturating_sub(headers)
    });
    let moved = |a: &Activity| a.memory.dram.read_bytes + a.memory.dram.written_bytes;
    if !config.l3.is_there() {
        add(Block::L2, "fills and write-backs", "bytes", bits(arrays(slice, 1.0), 8.0), moved);
    } else {
        let sector_bits = f64::from(core.l1.sector_bytes) * 8.0;
        let behind = |a: &Activity| a.memory.l3.read_sectors + a.memory.l3.written_sectors;
        add(Block::L2, "fills and write-backs", "sectors", bits(arrays(slice, sector_bits), 1.0), behind);
        let bank = f64::from(config.l3.bank_bytes);
        add(Block::L3, "lines of the L2", "sectors", bits(arrays(bank, sector_bits), 1.0), behind);
        add(Block::L3, "fills and write-backs", "bytes", bits(arrays(bank, 1.0), 8.0), moved);
    }

    add(Block::Controllers, "data", "bytes", bits(simple(&price.phy_pj_per_bit, 1.0), 8.0), moved);
    let device = prices.device(&config.dram);
    let row = bits(simple(&device.activate_pj_per_row_kib, f64::from(config.dram.row_bytes) / KIB), 1.0);
    add(Block::Dram, "activates", "commands", row, |a| a.memory.dram.activates);
    let data = bits(simple(&device.data_pj_per_bit, 1.0), 8.0);
    add(Block::Dram, "reads", "bytes", data, |a| a.memory.dram.read_bytes);
    add(Block::Dram, "writes", "bytes", data, |a| a.memory.dram.written_bytes);
    add(Block::Dram, "refreshes", "commands", of(&device.refresh_pj), |a| a.memory.dram.refreshes);
    // mW × µs is nJ: with the clock in MHz, pJ a cycle are mW / MHz × 1000.
    let a_cycle = 1000.0 / f64::from(config.core_clock_mhz);
    let standby = bits(simple(&device.standby_mw, f64::from(config.dram.channels) * a_cycle), 1.0);
    add(Block::Dram, "standby", "cycles", standby, |a| a.cycles);
    let leakage = bits(simple(&price.leakage_mw_per_mm2, area.total_mm2() * a_cycle), 1.0);
    add(Block::Leakage, "leakage", "cycles", leakage, |a| a.cycles);
    items
}

/// Energy of a run, or of a part of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    joules: [f64; Block::ALL.len()],
    bounds: (f64, f64),
    seconds: f64,
}

impl Energy {
    /// The energy of a run on a machine with these prices. For many runs on one machine, [`Model::energy`].
    pub fn of(config: &Config, report: &KernelReport, prices: &Prices) -> Energy {
        Model::new(config, prices).energy(&Activity::from(report))
    }

    /// The sum of the blocks, in joules.
    pub fn total_joules(&self) -> f64 {
        self.joules.iter().sum()
    }

    /// The least and the most that the sum should be, in joules, where every price errs the same way.
    pub fn bounds_joules(&self) -> (f64, f64) {
        self.bounds
    }

    /// Energy of a block, in joules.
    pub fn block(&self, block: Block) -> f64 {
        self.joules[block as usize]
    }

    /// Name and joules of every block, in the order of [`Block::ALL`].
    pub fn blocks(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        Block::ALL.iter().map(|&block| (block.name(), self.block(block)))
    }

    /// Simulated time, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Mean power in watts; 0 if no time has passed.
    pub fn watts(&self) -> f64 {
        if self.seconds > 0.0 { self.total_joules() / self.seconds } else { 0.0 }
    }
}
