//! Signals of the memory side: what its blocks hold at the end of a cycle, with names, for waveforms.
//!
//! Each block has a table of `Field`s. Names and values both come from it, in the same order.

use super::crossbar;
use super::dram::{self, Channel};
use super::fabric;
use super::l1::{self, L1};
use super::l2::{self, Slice};
use super::l3::{self, Bank};
use super::port::MemoryPort;
use crate::clock::Cycle;
use crate::config::network::Network;
use crate::config::{Config, Topology};

/// A named value that changes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Enclosing blocks from the outermost, then the signal's name.
    pub path: Vec<String>,
    /// Width in bits.
    pub bits: u32,
}

/// A signal of a kind of block: its name, its width in bits, and its value at the end of a cycle.
pub(super) struct Field<T: 'static>(pub(super) &'static str, pub(super) u32, pub(super) fn(&T, Cycle) -> u64);

/// Width of signals that count entries.
pub(super) const COUNT: u32 = 16;

/// The values of one look, and what the next look needs.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Signal values: first those of the cores, then those of the memory side.
    pub values: Vec<u64>,
    /// Per channel, bursts read and written up to the last look.
    pub(super) bursts: Vec<[u64; 2]>,
}

/// Signals of some fields under a path, in their order.
fn names<T>(path: &[&str], fields: &[Field<T>]) -> Vec<Signal> {
    fields.iter().map(|&Field(name, bits, _)| signal(path, name, bits)).collect()
}

fn signal(path: &[&str], name: &str, bits: u32) -> Signal {
    Signal { path: path.iter().chain([&name]).map(|&part| part.to_owned()).collect(), bits }
}

/// Signals of a core's L1 and port, in the order of [`look_at_core`].
pub(crate) fn signals_of_core(core: &str) -> Vec<Signal> {
    [names(&[core, "l1"], &l1::FIELDS), names(&[core, "port"], &MemoryPort::FIELDS)].concat()
}

/// Appends the values of a core's L1 and port at the end of a cycle.
pub(crate) fn look_at_core(cycle: Cycle, l1: &L1, port: &MemoryPort, values: &mut Vec<u64>) {
    values.extend(l1::FIELDS.iter().map(|Field(_, _, of)| of(l1, cycle)));
    values.extend(MemoryPort::FIELDS.iter().map(|Field(_, _, of)| of(port, cycle)));
}

/// Signals of the memory side, in the order of [`MemorySystem::look`](super::MemorySystem::look).
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
    for i in 0..config.l3.banks(&config.dram) {
        all.extend(names(&["l3", &format!("bank{i}")], &l3::FIELDS));
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

/// "core0 → slice1" as a scope name of a waveform.
fn scope(link: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    link.replace(" → ", "_to_").chars().map(word).collect()
}

/// Appends the values of the slices at the end of a cycle.
pub(super) fn look_at_slices(cycle: Cycle, slices: &[Slice], values: &mut Vec<u64>) {
    values.extend(
        slices.iter().flat_map(|slice| l2::FIELDS.iter().map(move |Field(_, _, of)| of(slice, cycle))),
    );
}

/// Appends the values of the banks at the end of a cycle.
pub(super) fn look_at_banks(cycle: Cycle, banks: &[Bank], values: &mut Vec<u64>) {
    values
        .extend(banks.iter().flat_map(|bank| l3::FIELDS.iter().map(move |Field(_, _, of)| of(bank, cycle))));
}

/// Appends the values of the channels, which must have caught up with the refreshes of idle ones.
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
