//! What the memory side holds at the end of a cycle, for those who draw it: values, with what each is called.
//!
//! Each block has a table of its [`Field`]s, from which both names and values are made, in one order.

use super::crossbar;
use super::dram::{self, Channel};
use super::fabric;
use super::l1::{self, L1};
use super::l2::{self, Slice};
use super::port::MemoryPort;
use crate::clock::Cycle;
use crate::config::network::Network;
use crate::config::{Config, Topology};

/// A value of the machine over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Blocks from the outermost, then its name.
    pub path: Vec<String>,
    /// Bits.
    pub bits: u32,
}

/// A value that a block of this kind has: its name, its bits, and the value at the end of a cycle.
pub(super) struct Field<T: 'static>(pub(super) &'static str, pub(super) u32, pub(super) fn(&T, Cycle) -> u64);

/// Bits of a number of entries.
pub(super) const COUNT: u32 = 16;

/// What is kept from one look to the next.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The values, in the order of the signals: first those of cores, then those of the memory side.
    pub values: Vec<u64>,
    /// Bursts of each channel up to the last look: read and written.
    pub(super) bursts: Vec<[u64; 2]>,
}

/// Names of fields under a path, in their order.
fn names<T>(path: &[&str], fields: &[Field<T>]) -> Vec<Signal> {
    fields.iter().map(|&Field(name, bits, _)| signal(path, name, bits)).collect()
}

fn signal(path: &[&str], name: &str, bits: u32) -> Signal {
    Signal { path: path.iter().chain([&name]).map(|&part| part.to_owned()).collect(), bits }
}

/// The values of a core's L1 and port, as [`look_at_core`] gives them.
pub fn signals_of_core(core: &str) -> Vec<Signal> {
    [names(&[core, "l1"], &l1::FIELDS), names(&[core, "port"], &MemoryPort::FIELDS)].concat()
}

/// The values of a core's L1 and port at the end of a cycle.
pub fn look_at_core(cycle: Cycle, l1: &L1, port: &MemoryPort, values: &mut Vec<u64>) {
    values.extend(l1::FIELDS.iter().map(|Field(_, _, of)| of(l1, cycle)));
    values.extend(MemoryPort::FIELDS.iter().map(|Field(_, _, of)| of(port, cycle)));
}

/// The values of the memory side, as [`MemorySystem::look`](super::MemorySystem::look) gives them.
pub fn signals(config: &Config) -> Vec<Signal> {
    let mut all = Vec::new();
    for (network, ends, count) in [("requests", "slice", config.l2.slices), ("replies", "core", config.cores)]
    {
        let path = |block: &str| ["network".to_owned(), network.to_owned(), block.to_owned()];
        let mut add = |block: &str, names: &[(&str, u32)]| {
            let path = path(block);
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            all.extend(names.iter().map(|&(name, bits)| signal(&path, name, bits)));
        };
        for i in 0..count {
            add(&format!("{ends}{i}"), &crossbar::PORT);
        }
        if config.interconnect.topology != Topology::Crossbar {
            let graph = Network::new(config);
            for link in graph.graph.edge_indices() {
                add(&scope(&graph.link_name(link)), &fabric::LINK);
            }
        }
    }
    for i in 0..config.l2.slices {
        all.extend(names(&["l2", &format!("slice{i}")], &l2::FIELDS));
    }
    for i in 0..config.dram.channels {
        let channel = format!("channel{i}");
        let path = ["dram", channel.as_str()];
        all.extend(names(&path, &dram::FIELDS));
        all.extend(dram::BURSTS.iter().map(|&(name, bits)| signal(&path, name, bits)));
        all.extend((0..config.dram.banks).map(|bank| signal(&path, &format!("row{bank}"), dram::ROW_BITS)));
    }
    all
}

/// "core0 → slice1" as a name in a waveform.
fn scope(link: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    link.replace(" → ", "_to_").chars().map(word).collect()
}

/// The values of slices and channels at the end of a cycle.
pub(super) fn look_at_slices(cycle: Cycle, slices: &[Slice], values: &mut Vec<u64>) {
    values.extend(
        slices.iter().flat_map(|slice| l2::FIELDS.iter().map(move |Field(_, _, of)| of(slice, cycle))),
    );
}

/// The same of channels, which have caught up with the refreshes of idle ones.
pub(super) fn look_at_channels(cycle: Cycle, channels: &[Channel], state: &mut State) {
    if state.bursts.is_empty() {
        state.bursts = channels.iter().map(Channel::bursts).collect();
    }
    for (channel, before) in channels.iter().zip(&mut state.bursts) {
        state.values.extend(dram::FIELDS.iter().map(|Field(_, _, of)| of(channel, cycle)));
        let bursts = channel.bursts();
        state.values.extend(bursts.iter().zip(*before).map(|(now, before)| now - before));
        *before = bursts;
        state.values.extend(channel.rows());
    }
}
