//! Latencies and addresses by the formulas of the book, from the configuration alone. They are written
//! independently of the memory hierarchy's code, so that each can be checked against the other.

use petgraph::graph::NodeIndex;
use wave_machine::clock::Cycle;
use wave_machine::config::network::Network;
use wave_machine::config::routes::Routes;
use wave_machine::config::{AddressHash, Config, Topology};

/// Cycles from the issue of a memory instruction to its first access of the L1: operand read, dispatch to the
/// load/store unit, start at the head of an empty queue, and the access latch (rules O1, X1, L1).
pub(crate) const ISSUE_TO_ACCESS: Cycle = 4;
/// Cycles from the last response of a load to its first row, in whose cycle a wave that waits for it issues (rule W2).
pub(crate) const RESPONSE_TO_USE: Cycle = 1;

/// Cycles for which a packet with `payload` bytes holds a port (rule M6).
pub(crate) fn packet_cycles(config: &Config, payload: u32) -> Cycle {
    Cycle::from((8 + payload).div_ceil(config.interconnect.port_bytes_per_cycle))
}

/// Load-to-use latency of a hit in the L1: cycles from the load's issue until an instruction that needs the
/// value can issue.
pub(crate) fn l1_hit(config: &Config) -> Cycle {
    ISSUE_TO_ACCESS + Cycle::from(config.core.l1.hit_latency_cycles) + RESPONSE_TO_USE
}

/// Cycles of a sector in a bank of the L3 (rule M38): it holds the bank, and comes out a hit latency later.
pub(crate) fn in_l3(config: &Config) -> Cycle {
    let held = config.core.l1.sector_bytes.div_ceil(config.l3.bytes_per_cycle);
    Cycle::from(held - 1 + config.l3.hit_latency_cycles)
}

/// What the links between a core and a slice add to a packet's time, one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    /// Cycles of the hops.
    pub latency: Cycle,
    /// Bytes a cycle at the narrowest place, ports included.
    pub bytes_per_cycle: u32,
}

impl Way {
    /// Cycles of the bytes of a packet with `payload` bytes (M6, N3).
    pub(crate) fn packet_cycles(self, payload: u32) -> Cycle {
        Cycle::from((8 + payload).div_ceil(self.bytes_per_cycle))
    }
}

/// The routes between one core and every slice.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    there: Vec<Way>,
    back: Vec<Way>,
    /// The core's partition (M39).
    partition: u32,
}

impl Ways {
    /// The routes of a core through the interconnect (N2). A crossbar has no links.
    pub(crate) fn new(config: &Config, core: u32) -> Ways {
        let interconnect = &config.interconnect;
        let ports = Way { latency: 0, bytes_per_cycle: interconnect.port_bytes_per_cycle };
        let slices = config.l2.slices as usize;
        let partition = core * config.l2.partitions / config.cores;
        if interconnect.topology == Topology::Crossbar {
            return Ways { there: vec![ports; slices], back: vec![ports; slices], partition };
        }
        let network = Network::new(config);
        let walk = |routes: &Routes, to: usize, from: NodeIndex| {
            let links = routes.walk(&network, to, from).map(|channel| network.graph[channel.link]);
            links.fold(ports, |way, link| Way {
                latency: way.latency + Cycle::from(link.latency_cycles),
                bytes_per_cycle: way.bytes_per_cycle.min(link.bytes_per_cycle),
            })
        };
        let (requests, replies) = (Routes::of_requests(&network), Routes::of_replies(&network));
        let home = network.cores()[core as usize];
        Ways {
            there: (0..slices).map(|slice| walk(&requests, slice, home)).collect(),
            back: network.slices().iter().map(|&slice| walk(&replies, core as usize, slice)).collect(),
            partition,
        }
    }

    /// Cycles of the way to a slice of another partition and back, which all count before the slice (M39).
    fn between_partitions(&self, config: &Config, slice: u32) -> Cycle {
        let l2 = &config.l2;
        let is_near = slice * l2.partitions / l2.slices == self.partition;
        if is_near { 0 } else { 2 * Cycle::from(l2.partition_latency_cycles) }
    }

    /// Cycles from an access that misses in the L1 until its request is at the slice (M13, M6, M1, N3).
    pub(crate) fn to_slice(&self, config: &Config, slice: u32) -> Cycle {
        let way = self.there[slice as usize];
        let network = Cycle::from(config.interconnect.latency_cycles) + way.latency;
        1 + (way.packet_cycles(0) - 1) + network + self.between_partitions(config, slice)
    }

    /// Cycles from the slice's access until the response in the core, for a reply with `payload` bytes.
    pub(crate) fn back_from_slice(&self, config: &Config, slice: u32, payload: u32) -> Cycle {
        let way = self.back[slice as usize];
        Cycle::from(config.l2.hit_latency_cycles)
            + (way.packet_cycles(payload) - 1)
            + Cycle::from(config.interconnect.latency_cycles)
            + way.latency
            + 1
    }

    /// Load-to-use latency of a load of one sector that misses in the L1 and hits in this slice (M14).
    pub(crate) fn l2_hit(&self, config: &Config, slice: u32) -> Cycle {
        let sector = config.core.l1.sector_bytes;
        ISSUE_TO_ACCESS
            + self.to_slice(config, slice)
            + self.back_from_slice(config, slice, sector)
            + RESPONSE_TO_USE
    }
}

/// Slice of a line, and the line's number within it (M4).
pub(crate) fn slice(config: &Config, line: u64) -> (u32, u64) {
    if config.l2.slice_hash == AddressHash::None {
        let slices = u64::from(config.l2.slices);
        return ((line % slices) as u32, line / slices);
    }
    let bits = config.l2.slices.trailing_zeros();
    let odd = u64::from(config.l2.slices >> bits);
    let (quotient, remainder) = (line / odd, line % odd);
    let index = quotient >> bits;
    let mut group = 0;
    let mut rest = quotient;
    while bits > 0 && rest != 0 {
        group ^= rest % (1 << bits);
        rest >>= bits;
    }
    let turn = (index * 0x9E37_79B9 % (1 << 32) * odd) >> 32;
    ((group * odd + (remainder + turn) % odd) as u32, index)
}

/// Place of a line in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Channel.
    pub channel: u32,
    /// Bank group of the channel.
    pub group: u32,
    /// Bank of the group.
    pub bank: u32,
    /// Row of the bank.
    pub row: u64,
}

/// Place of a line in memory (M5).
pub(crate) fn place(config: &Config, line: u64) -> Place {
    let dram = &config.dram;
    let (slice, index) = slice(config, line);
    let slices = u64::from(config.l2.slices / dram.channels);
    let number = index * slices + u64::from(slice / dram.channels);
    let groups = u64::from(dram.bank_groups);
    let banks = u64::from(dram.banks / dram.bank_groups);
    let lines_of_row = u64::from(dram.row_bytes / config.core.l1.line_bytes);
    let row = number / groups / lines_of_row / banks;
    let low = if dram.bank_hash == AddressHash::Xor { row } else { 0 };
    let group = (number % groups) ^ (low % groups);
    let bank = (number / groups / lines_of_row % banks) ^ (low / groups % banks);
    Place { channel: slice % dram.channels, group: group as u32, bank: bank as u32, row }
}
