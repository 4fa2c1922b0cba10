//! Parameters that have one of several names: policies, modes, shapes.
//!
//! The doc comments are their texts in `config explain`, in the schema and in the manual.

use super::declare::*;

choices! {
    /// What a wave does where its active mask is empty.
    pub enum DivergenceMode {
        /// Fetch and squash instruction by instruction.
        Walk = "walk",
        /// Jump to the matching else, endif or endloop.
        Jump = "jump",
    }

    /// How a scheduler picks among its ready waves.
    pub enum IssuePolicy open Scheduler {
        /// Loose round robin: the next ready wave after the one that issued last.
        Lrr = "lrr",
        /// Greedy then oldest: the wave that issued last, else the oldest.
        Gto = "gto",
        /// The wave that was dispatched first.
        Oldest = "oldest",
        /// Round robin over a small active set; a wave that waits for memory leaves it.
        TwoLevel = "two_level",
    }

    /// Shape of the interconnect.
    pub enum Topology {
        /// Every core has a way to every slice, which only their two ports limit.
        Crossbar = "crossbar",
        /// A router for each core and slice in a circle, slices spread evenly, with links both ways.
        Ring = "ring",
        /// A router for each core and slice in a grid, row by row, slices spread evenly, with links to the
        /// neighbours; along the row first.
        Mesh = "mesh",
        /// The links in `edges`.
        Edges = "edges",
    }

    /// Which of several packets goes first.
    pub enum Arbitration {
        /// Inputs in turn.
        RoundRobin = "round_robin",
        /// The packet that has been in the network longest.
        Oldest = "oldest",
    }

    /// Which core gets the next workgroup, among those with room.
    pub enum Dispatch open Dispatch {
        /// The next one in turn.
        RoundRobin = "round_robin",
        /// The one with the fewest workgroups; of several the next in turn.
        LeastLoaded = "least_loaded",
        /// The one that got the last, until it is full.
        Fill = "fill",
    }

    /// How far what a kernel has written is visible when the next launch starts.
    pub enum ReleaseScope {
        /// To all cores: L1s that write back have written back, and dirty lines stay in the L2.
        Device = "device",
        /// To the host too: dirty lines of the L2 are in memory.
        System = "system",
    }

    /// What a store does in the L1.
    pub enum WritePolicy {
        /// Goes on to the L2, and updates the line if it is there.
        WriteThrough = "write_through",
        /// Stays in the line, which is allocated without a fetch, until the line leaves or a fence releases it.
        WriteBack = "write_back",
    }

    /// Which line of a set leaves a cache.
    pub enum ReplacementPolicy open Replacement {
        /// The one that has not been used for longest.
        Lru = "lru",
        /// The one that a binary tree of bits points to, each away from the half that was used last.
        Plru = "plru",
        /// The one that came first, however often it was used since.
        Fifo = "fifo",
        /// Any, from a generator with a fixed seed for each cache.
        Random = "random",
    }

    /// Prefetchers of an L1.
    pub enum Prefetch open Prefetcher {
        /// Nothing.
        None = "none",
        /// The line behind one that misses.
        NextLine = "next_line",
    }

    /// Blocks between an L1 and its port to the interconnect.
    pub enum L1Path open Path {
        /// Nothing.
        None = "none",
    }

    /// Which bits of a line's number choose its place: a set, a slice or a bank.
    pub enum AddressHash {
        /// The lowest bits alone, so that strides of powers of two fall on few places.
        None = "none",
        /// All bits, by exclusive or.
        Xor = "xor",
    }

    /// Which request a memory channel serves first.
    pub enum DramPolicy {
        /// Oldest first.
        Fcfs = "fcfs",
        /// Oldest row hit first, then oldest.
        FrFcfs = "fr_fcfs",
    }
}
