//! Area of a machine by block.

use super::prices::Prices;
use wave_isa::ExecClass;
use wave_machine::config::network::Network;
use wave_machine::config::{Config, Topology};

const UM2_PER_MM2: f64 = 1e6;

/// Bits of a tag with its state, of a line of 128 bytes in memory of 4 GiB: 25 of the line's number and 7 of state.
const TAG_BITS: f64 = 32.0;

/// Multiply-adds of a lane in a matrix instruction, fragments of 4 by 4 by 4. A lane of the unit does them in as many
/// passes as the configuration says.
pub(super) const MMA_FMAS: f64 = 64.0;

/// The area of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockArea {
    /// Name of the block.
    pub name: &'static str,
    /// Its area over the whole machine, in mm².
    pub mm2: f64,
    /// Factor within which the true value should lie.
    pub uncertainty: f64,
}

/// Area of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Area {
    blocks: Vec<BlockArea>,
}

impl Area {
    /// The area of a machine with these prices.
    pub fn of(config: &Config, prices: &Prices) -> Area {
        let core = &config.core;
        let price = &prices.area;
        let (cores, schedulers) = (f64::from(config.cores), f64::from(core.schedulers));
        let array = |bits: f64| bits * price.sram_um2_per_bit.value / UM2_PER_MM2;
        let cache =
            |bytes: u32, line: u32| f64::from(bytes) * 8.0 + f64::from(bytes) / f64::from(line) * TAG_BITS;
        let sram = price.sram_um2_per_bit.factor();
        let mut blocks = vec![
            block("front end", cores * schedulers * price.scheduler_mm2.value, price.scheduler_mm2.factor()),
            block(
                "instruction caches",
                cores * array(cache(core.fetch.icache_bytes, core.fetch.icache_line_bytes)),
                sram,
            ),
            block("register files", cores * array(f64::from(core.register_file_bytes) * 8.0), sram),
        ];
        blocks.extend(units(config, prices));
        // Local memory of a unified L1 is a part of its array.
        let local = if core.l1.unified { 0.0 } else { f64::from(core.local_memory_bytes) * 8.0 };
        blocks.push(block("local memory", cores * array(local), sram));
        blocks.push(block("L1", cores * array(cache(core.l1.bytes, core.l1.line_bytes)), sram));
        let l2 = f64::from(config.l2.slices) * array(cache(config.l2.slice_bytes, core.l1.line_bytes));
        blocks.push(block("L2", l2, sram));
        if config.l3.is_there() {
            let banks = f64::from(config.l3.banks(&config.dram));
            let l3 = banks * array(cache(config.l3.bank_bytes, core.l1.line_bytes));
            blocks.push(block("L3", l3, sram));
        }
        let device = prices.device(&config.dram);
        let pins = f64::from(config.dram.channels) * f64::from(config.dram.bus_bits);
        let interface = pins * device.phy_mm2_per_pin.value;
        blocks.push(block("memory controllers", interface, device.phy_mm2_per_pin.factor()));
        let side = blocks.iter().map(|b| b.mm2).sum::<f64>().sqrt();
        blocks.push(block("interconnect", interconnect(config, prices, side), price.wire_pitch_um.factor()));
        Area { blocks }
    }

    /// The blocks, in a fixed order.
    pub fn blocks(&self) -> &[BlockArea] {
        &self.blocks
    }

    /// The sum of the blocks, in mm².
    pub fn total_mm2(&self) -> f64 {
        self.blocks.iter().map(|block| block.mm2).sum()
    }

    /// The least and the most that the sum should be, in mm², where every block errs the same way.
    pub fn bounds_mm2(&self) -> (f64, f64) {
        let least = self.blocks.iter().map(|block| block.mm2 / block.uncertainty).sum();
        (least, self.blocks.iter().map(|block| block.mm2 * block.uncertainty).sum())
    }
}

fn block(name: &'static str, mm2: f64, uncertainty: f64) -> BlockArea {
    BlockArea { name, mm2, uncertainty }
}

/// Execution units, by kind.
fn units(config: &Config, prices: &Prices) -> Vec<BlockArea> {
    let price = &prices.area;
    let mut blocks: Vec<BlockArea> = Vec::new();
    let everywhere = f64::from(config.cores) * f64::from(config.core.schedulers);
    for unit in &config.core.units {
        for timing in &unit.classes {
            let (name, each, count) = match timing.class {
                ExecClass::Int => ("integer units", &price.int_um2, 1.0),
                ExecClass::IntMul => ("integer units", &price.int_mul_um2, 1.0),
                ExecClass::IntDiv => ("integer units", &price.int_div_um2, 1.0),
                ExecClass::Convert => ("f32 units", &price.convert_um2, 1.0),
                ExecClass::Fp32 => ("f32 units", &price.fp32_um2, 1.0),
                ExecClass::Fp32Div => ("f32 units", &price.fp32_div_um2, 1.0),
                ExecClass::Fp16 => ("f16 units", &price.fp16_um2, 1.0),
                ExecClass::Fp64 => ("f64 units", &price.fp64_um2, 1.0),
                ExecClass::Fp64Div => ("f64 units", &price.fp64_div_um2, 1.0),
                ExecClass::Sfu => ("special functions", &price.sfu_um2, 1.0),
                ExecClass::Wave => ("wave operations", &price.wave_um2, 1.0),
                ExecClass::Mma => ("matrix units", &price.mma_fma_um2, MMA_FMAS / f64::from(timing.passes)),
                ExecClass::LocalMemory | ExecClass::DeviceMemory | ExecClass::Control | ExecClass::Sync => {
                    continue;
                }
            };
            let mm2 = everywhere * f64::from(unit.lanes) * each.value * count / UM2_PER_MM2;
            match blocks.iter_mut().find(|block| block.name == name) {
                // The larger part decides how sure the sum is.
                Some(block) => {
                    let of_larger = if mm2 > block.mm2 { each.factor() } else { block.uncertainty };
                    (block.mm2, block.uncertainty) = (block.mm2 + mm2, of_larger);
                }
                None => blocks.push(BlockArea { name, mm2, uncertainty: each.factor() }),
            }
        }
    }
    blocks
}

/// Area of the interconnect of a chip with a side of `side` mm: of a crossbar the square that its wires cross in, of
/// links their wires. Requests and replies have a network each.
fn interconnect(config: &Config, prices: &Prices, side: f64) -> f64 {
    let pitch = prices.area.wire_pitch_um.value / 1000.0;
    let network = &config.interconnect;
    let port = f64::from(network.port_bytes_per_cycle) * 8.0 * pitch;
    let one_way = match network.topology {
        Topology::Crossbar => f64::from(config.cores) * port * f64::from(config.l2.slices) * port,
        _ => {
            let link = f64::from(network.link_bytes_per_cycle) * 8.0 * pitch;
            let graph = Network::new(config).graph;
            graph.edge_count() as f64 * link * hop_mm(graph.node_count(), side)
        }
    };
    2.0 * one_way
}

/// Length of a link in mm, of a network whose nodes lie in a square over a chip with a side of `side` mm.
pub(super) fn hop_mm(nodes: usize, side: f64) -> f64 {
    side / (nodes.max(1) as f64).sqrt()
}

/// Mean way in mm between a core and a slice through a crossbar, along the axes: of two random places in a square,
/// two thirds of its side.
pub(super) fn crossbar_mm(side: f64) -> f64 {
    side * 2.0 / 3.0
}
