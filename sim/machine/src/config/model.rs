//! The parameters of a machine, each declared once: its key, type, range, unit and sentence of
//! documentation. The structs are the validated form that the blocks of the machine read; every value in
//! a [`Config`] that [`load`](super::load) returns has been checked.
//!
//! A field's doc comment is its text in `config explain`, in the schema and in the manual.

pub use super::choices::*;
use super::declare::*;
pub use super::plugins::PlugIns;
use wave_isa::ExecClass;

/// Longest delay that a configuration may state, in cycles.
const MAX_LATENCY: u64 = 10_000;
/// Longest DRAM timing that a configuration may state, in memory clocks.
const MAX_CLOCKS: u64 = 100_000;
/// Most entries of a queue, buffer or table.
const MAX_ENTRIES: u64 = 4096;
/// Least device memory of a machine, in bytes.
pub const LEAST_DEVICE_MEMORY: u64 = 4096;

sections! {
    /// A whole GPU.
    #[derive(Debug, Clone, PartialEq)]
    #[directive(
        /// The configuration that this file differs from: a file beside this one, or a preset. Without it
        /// the base is gpu.ron.
        base: String
    )]
    #[beside(
        /// What a command line states in place of the files: `core.l1.mshrs=64`. Every report names it.
        set: Vec<String>
    )]
    pub struct Config {
        /// Name of the machine; where a file gives none, the file's name.
        pub name: String,
        /// One paragraph on what it is and where its numbers come from; not taken from the base.
        pub description: String,
        /// Optional instructions.
        pub capabilities: Capabilities,
        /// Number of cores.
        #[limits(range(1, 1024).of("cores"))]
        pub cores: u32,
        /// Core clock, for results in seconds and for the ratio to the memory clock.
        #[limits(range(1, 10_000).of("MHz"))]
        pub core_clock_mhz: u32,
        /// Device memory; a multiple of the line of the L1.
        #[limits(range(LEAST_DEVICE_MEMORY, 1 << 32).of("bytes"))]
        pub device_memory_bytes: u64,
        /// One core; all are alike.
        pub core: CoreParameters,
        /// Dispatcher of workgroups.
        pub dispatcher: Dispatcher,
        /// Between the cores and the L2 slices.
        pub interconnect: Interconnect,
        /// Second-level cache.
        pub l2: L2,
        /// Third-level cache, if there is one.
        pub l3: L3,
        /// Memory channels.
        pub dram: Dram,
        /// Parameters of plug-ins: a section for each one that a program registers and that has any.
        pub plugins: PlugIns,
    }

    /// Optional instructions of the instruction set.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Capabilities {
        /// CAP_F64: f64 arithmetic.
        pub f64: bool,
        /// CAP_MMA: matrix instructions.
        pub mma: bool,
    }

    /// One core, all of them alike: its limits, and the blocks inside it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CoreParameters as "Core" {
        /// Lanes of a wave, W. Below 8, the least that the instruction set asks for, gives a warning.
        #[limits(power_of_two(1, 64).of("lanes"))]
        pub wave_width: u32,
        /// Most registers that a kernel may declare. If one wave with all of them does not fit in a scheduler's
        /// share of the register file, there is a warning, and a launch that does not fit is refused.
        #[limits(range(64, 256).of("registers of a lane"))]
        pub max_registers: u32,
        /// Register file, over all schedulers. It bounds the resident waves: each takes its kernel's
        /// registers × wave_width × 4 bytes.
        #[limits(range(16 << 10, 64 << 20).of("bytes"))]
        pub register_file_bytes: u32,
        /// Local memory of the core, shared by its workgroups.
        #[limits(range(16 << 10, 64 << 20).of("bytes"))]
        pub local_memory_bytes: u32,
        /// Most threads of a workgroup. If its waves do not fit in max_waves, there is a warning, and a launch
        /// that does not fit is refused.
        #[limits(range(256, 4096).of("threads"))]
        pub max_workgroup_size: u32,
        /// Most workgroups resident in the core.
        #[limits(range(1, 64).of("workgroups"))]
        pub max_workgroups: u32,
        /// Wave slots; slot s belongs to scheduler s mod schedulers, so they are a multiple of schedulers.
        #[limits(range(4, 64).of("waves"))]
        pub max_waves: u32,
        /// Frames of a wave's divergence stack.
        #[limits(range(32, MAX_ENTRIES).of("frames"))]
        pub divergence_depth: u32,
        /// Frames of a wave's call stack.
        #[limits(range(8, MAX_ENTRIES).of("frames"))]
        pub call_depth: u32,
        /// What a wave does where no lane is active.
        pub divergence: DivergenceMode,
        /// Schedulers (partitions): each has its fetch arbiter, register banks, collectors and units.
        #[limits(range(1, 16).of("schedulers"))]
        pub schedulers: u32,
        /// Cycles from the issue of a control or synchronisation instruction until its wave may issue
        /// again.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub branch_latency_cycles: u32,
        /// Fetch and instruction cache.
        pub fetch: Fetch,
        /// Issue.
        pub issue: Issue,
        /// Register banks, collectors and write-back.
        pub registers: Registers,
        /// Execution units of each scheduler. Every class but local_memory, device_memory, control and
        /// sync is served by exactly one of them; the f64 and mma classes may be left out where the
        /// capability is off.
        pub units: Vec<Unit>,
        /// Load/store unit.
        pub lsu: Lsu,
        /// Local memory timing.
        pub local: Local,
        /// First-level data cache.
        pub l1: L1Parameters,
        /// Value of every byte of local memory when a workgroup starts; its contents are undefined by the
        /// instruction set.
        #[limits(range(0, 255))]
        pub local_poison: u8,
    }

    /// Fetch, instruction cache, decode and instruction buffers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Fetch {
        /// Words that one fetch delivers: the aligned group that holds the pc, from the pc on.
        #[limits(power_of_two(2, 16).of("words"))]
        pub words: u32,
        /// Decoded instructions that a wave's buffer holds; at least `words`.
        #[limits(range(2, 256).of("instructions"))]
        pub buffer_entries: u32,
        /// Instruction cache. Its sets (bytes / line / ways) are a power of two.
        #[limits(range(128, 16 << 20).of("bytes"))]
        pub icache_bytes: u32,
        /// Line of the instruction cache; holds at least one fetch, and is at most a line of the L1.
        #[limits(power_of_two(16, 128).of("bytes"))]
        pub icache_line_bytes: u32,
        /// Ways of the instruction cache.
        #[limits(range(1, 256).of("ways"))]
        pub icache_ways: u32,
        /// Cycles from a fetch's request to its words at the decoder.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub icache_latency_cycles: u32,
        /// Lines that may be outstanding.
        #[limits(range(1, MAX_ENTRIES).of("lines"))]
        pub icache_mshrs: u32,
        /// Lines behind that of a fetch which are requested too, if an entry for a miss is free.
        #[limits(range(0, 16).of("lines"))]
        pub prefetch_lines: u32,
    }

    /// Issue of one scheduler.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Issue {
        /// How the scheduler picks among its ready waves.
        pub policy: IssuePolicy,
        /// Issue slots: instructions a cycle, each of another wave.
        #[limits(range(1, 8).of("instructions a cycle"))]
        pub width: u32,
        /// Waves in the active set of `two_level`; the other policies ignore it.
        #[limits(range(1, 64).of("waves"))]
        pub two_level_active: u32,
    }

    /// Register file of one scheduler.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Registers {
        /// Banks; each reads one row and writes one row a cycle. Register r of wave slot s lies in bank
        /// (r + s / schedulers) mod banks.
        #[limits(power_of_two(1, 32).of("banks"))]
        pub banks: u32,
        /// Operand collectors: instructions that may gather their operands at once.
        #[limits(range(1, 255).of("collectors"))]
        pub collectors: u32,
        /// Rows that write-back may write a cycle, over all banks; at most one a bank.
        #[limits(range(1, 64).of("rows a cycle"))]
        pub write_ports: u32,
    }

    /// One execution unit of each scheduler.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Unit {
        /// Name in reports, unlike that of any other unit.
        pub name: String,
        /// Lanes that enter the unit a cycle; a wave takes wave_width / lanes cycles, rounded up.
        #[limits(range(1, 64).of("lanes a cycle"))]
        pub lanes: u32,
        /// The classes it executes.
        pub classes: Vec<ClassTiming>,
    }

    /// Timing of one class of instructions in its unit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ClassTiming {
        /// The class of instructions.
        pub class: ExecClass,
        /// Cycles from the dispatch of the first lanes to their result at write-back.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub latency_cycles: u32,
        /// Cycles that each group of lanes holds the unit's entry. An instruction holds it for
        /// passes × ceil(wave_width / lanes).
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub passes: u32,
    }

    /// Load/store unit, shared by the core's schedulers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lsu {
        /// Wave instructions waiting for address generation.
        #[limits(range(1, MAX_ENTRIES).of("wave instructions"))]
        pub queue_entries: u32,
        /// Device-memory wave instructions whose requests are outstanding.
        #[limits(range(1, MAX_ENTRIES).of("wave instructions"))]
        pub pending_entries: u32,
        /// Return entries beyond pending_entries. A load, of local memory too, has one from its start until its last
        /// row is written, so they bound the complete loads that wait for write ports.
        #[limits(range(0, MAX_ENTRIES).of("wave instructions"))]
        pub extra_return_entries: u32,
    }

    /// Local memory of a core.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Local {
        /// Banks.
        #[limits(power_of_two(1, 256).of("banks"))]
        pub banks: u32,
        /// Bytes of a bank's word; a pass serves one of each bank. 8 lets lanes with 64-bit values have a pass
        /// of all banks for half of them.
        #[limits(power_of_two(4, 8).of("bytes"))]
        pub bank_bytes: u32,
        /// Cycles from the last pass of an access to its result at write-back.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub latency_cycles: u32,
    }

    /// First-level data cache of a core.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct L1Parameters as "L1" {
        /// Capacity. Its sets (bytes / line / ways) are a power of two.
        #[limits(range(256, 64 << 20).of("bytes"))]
        pub bytes: u32,
        /// Line; the L2 has the same.
        #[limits(power_of_two(32, 128).of("bytes"))]
        pub line_bytes: u32,
        /// Sector: what a miss fetches; at most a line.
        #[limits(power_of_two(16, 128).of("bytes"))]
        pub sector_bytes: u32,
        /// Ways.
        #[limits(range(1, 1024).of("ways"))]
        pub ways: u32,
        /// The L1 and local memory share one array of `bytes`: as many ways as the workgroups of a launch need for their
        /// local memory, at most `local_memory_bytes`, hold no lines in that launch.
        pub unified: bool,
        /// Which bits of a line's number choose its set.
        pub set_hash: AddressHash,
        /// Which line leaves for a new one. `plru` needs ways that are a power of two.
        pub replacement: ReplacementPolicy,
        /// What a store does. Atomics and uncached accesses are as their scope and hint say.
        pub write_policy: WritePolicy,
        /// Prefetcher: it requests lines before a wave does.
        pub prefetcher: Prefetch,
        /// Lines that may wait to be prefetched; without a prefetcher none do.
        #[limits(range(1, MAX_ENTRIES).of("lines"))]
        pub prefetch_entries: u32,
        /// Block between the L1 and its port to the interconnect.
        pub path: L1Path,
        /// Banks of the tags: in a cycle the L1 looks up one line of each, all of one wave instruction, and the core takes
        /// as many responses. All bits of a line's number, by exclusive or, choose its bank.
        #[limits(power_of_two(1, 16).of("banks"))]
        pub tag_banks: u32,
        /// Banks of the data, each of which gives a load 4 bytes a cycle: words of a load that lie in one bank come one
        /// after the other. 0 for data that never hold a load up.
        #[limits(range(0, 256).of("banks"))]
        pub banks: u32,
        /// Cycles from an access to a hit's data.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub hit_latency_cycles: u32,
        /// Lines that may be outstanding.
        #[limits(range(1, MAX_ENTRIES).of("lines"))]
        pub mshrs: u32,
        /// Accesses that one outstanding line can serve.
        #[limits(range(1, MAX_ENTRIES).of("accesses"))]
        pub mshr_merges: u32,
    }

    /// Hands workgroups to cores.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Dispatcher {
        /// Which core gets the next workgroup.
        pub policy: Dispatch,
        /// Workgroups handed out a cycle, over all cores.
        #[limits(range(1, 1024).of("workgroups a cycle"))]
        pub workgroups_per_cycle: u32,
        /// Cycles from the launch of a kernel until the first workgroups go to the cores: what a GPU's front end and driver
        /// need between two kernels.
        #[limits(range(0, 1_000_000).of("cycles"))]
        pub launch_cycles: u32,
        /// Cycles from the dispatcher to a core and back, each way.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub latency_cycles: u32,
        /// Scope of the release at the end of a kernel. After the last launch of a run the host reads the right bytes
        /// with either.
        pub release_scope: ReleaseScope,
    }

    /// Between cores and L2 slices: a port of each core, and separate networks for requests and replies,
    /// alike in everything.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Interconnect {
        /// Cycles from a core's port to the network and back, each way.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub latency_cycles: u32,
        /// Bytes that a port carries a cycle.
        #[limits(range(1, 1024).of("bytes a cycle"))]
        pub port_bytes_per_cycle: u32,
        /// Packets that wait at each port.
        #[limits(range(1, MAX_ENTRIES).of("packets"))]
        pub queue_entries: u32,
        /// Shape of the network. All but the crossbar have links, over which packets hop from router to
        /// router.
        pub topology: Topology,
        /// Which packet takes a link, a slice's port or a core's port for which several wait; the crossbar
        /// always takes turns.
        pub arbitration: Arbitration,
        /// Cycles of a hop in a ring or mesh, router and wire.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub link_latency_cycles: u32,
        /// Bytes that a link of a ring or mesh carries a cycle, each way.
        #[limits(range(1, 1024).of("bytes a cycle"))]
        pub link_bytes_per_cycle: u32,
        /// Packets of each virtual channel of a link that are on the link or wait at its end; the other
        /// topologies than the crossbar. A credit takes the link's latency back.
        #[limits(range(1, MAX_ENTRIES).of("packets"))]
        pub link_credits: u32,
        /// Columns of the mesh.
        #[limits(range(1, 64).of("columns"))]
        pub mesh_columns: u32,
        /// Links of the topology edges.
        pub edges: Vec<Edge>,
    }

    /// A link of the topology `edges`, or one each way. Ends are `core0`, `slice0` and so on, which also
    /// pass on what is not for them, and routers of any other name.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Edge {
        /// Where it begins.
        pub from: String,
        /// Where it ends.
        pub to: String,
        /// True if there is a link back, too.
        pub both_ways: bool,
        /// Cycles of the hop, router and wire. Routes are those with the least sum.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub latency_cycles: u32,
        /// Bytes that it carries a cycle.
        #[limits(range(1, 1024).of("bytes a cycle"))]
        pub bytes_per_cycle: u32,
        /// True if packets go on in the next virtual channel from here on, which breaks a cycle of links
        /// that could wait for one another.
        pub dateline: bool,
    }

    /// Second-level cache: slices by address, write-back, with an atomics unit each. Lines and sectors
    /// are as in the L1.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct L2 {
        /// Slices; a multiple of the memory channels.
        #[limits(range(1, 256).of("slices"))]
        pub slices: u32,
        /// Which bits of a line's number choose its slice.
        pub slice_hash: AddressHash,
        /// Partitions. Slices and cores are divided evenly among them, in their order.
        #[limits(range(1, 16).of("partitions"))]
        pub partitions: u32,
        /// Cycles that a packet between a core and a slice of another partition takes longer, each way.
        #[limits(range(0, MAX_LATENCY).of("cycles"))]
        pub partition_latency_cycles: u32,
        /// Capacity of a slice. Its sets (bytes / line / ways) are a power of two.
        #[limits(range(256, 64 << 20).of("bytes"))]
        pub slice_bytes: u32,
        /// Ways.
        #[limits(range(1, 1024).of("ways"))]
        pub ways: u32,
        /// Which bits of a line's number in its slice choose its set.
        pub set_hash: AddressHash,
        /// Which line leaves for a new one. `plru` needs ways that are a power of two.
        pub replacement: ReplacementPolicy,
        /// Cycles from a request at the slice to a hit's reply.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub hit_latency_cycles: u32,
        /// Lines that may be outstanding in a slice.
        #[limits(range(1, MAX_ENTRIES).of("lines"))]
        pub mshrs: u32,
        /// Accesses that one outstanding line can serve.
        #[limits(range(1, MAX_ENTRIES).of("accesses"))]
        pub mshr_merges: u32,
        /// Requests that wait at a slice.
        #[limits(range(1, MAX_ENTRIES).of("requests"))]
        pub queue_entries: u32,
    }

    /// Third-level cache on the memory's side: a write-back bank in front of each memory channel, which holds lines of all
    /// cores. Lines and sectors are as in the L1.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct L3 {
        /// Capacity of a bank; 0 for a machine without this cache. Its sets (bytes / line / ways) are a power of two.
        #[limits(range(0, 64 << 20).of("bytes"))]
        pub bank_bytes: u32,
        /// Ways.
        #[limits(range(1, 1024).of("ways"))]
        pub ways: u32,
        /// Which line leaves for a new one. `plru` needs ways that are a power of two.
        pub replacement: ReplacementPolicy,
        /// Cycles from an access in the bank to a hit's first bytes at its slice of the L2.
        #[limits(range(1, MAX_LATENCY).of("cycles"))]
        pub hit_latency_cycles: u32,
        /// Bytes that a bank reads or writes a cycle.
        #[limits(range(1, 1024).of("bytes a cycle"))]
        pub bytes_per_cycle: u32,
        /// Lines that may be outstanding in a bank.
        #[limits(range(1, MAX_ENTRIES).of("lines"))]
        pub mshrs: u32,
        /// Accesses that one outstanding line can serve.
        #[limits(range(1, MAX_ENTRIES).of("accesses"))]
        pub mshr_merges: u32,
        /// Lines that wait at a bank, to be read or written.
        #[limits(range(1, MAX_ENTRIES).of("lines"))]
        pub queue_entries: u32,
    }

    /// Memory channels. Times are in memory clocks of `clock_mhz` and become core cycles at run time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[directive(
        /// The memory device whose numbers these are: a file beside this one, or a built-in part. What the
        /// section states itself goes before.
        part: String
    )]
    pub struct Dram {
        /// Channels; each L2 slice belongs to channel slice mod channels. Divides the slices.
        #[limits(range(1, 256).of("channels"))]
        pub channels: u32,
        /// Cycles of the core clock between a channel and its slices, or its bank of the L3, each way, beside the times of
        /// the memory device.
        #[limits(range(0, MAX_LATENCY).of("cycles"))]
        pub latency_cycles: u32,
        /// Which bits of a line's number in its channel choose bank group and bank.
        pub bank_hash: AddressHash,
        /// Banks of a channel.
        #[limits(power_of_two(1, 64).of("banks"))]
        pub banks: u32,
        /// Bank groups of a channel, up to `banks`.
        #[limits(power_of_two(1, 64).of("bank groups"))]
        pub bank_groups: u32,
        /// Row of one bank; holds at least one line of the L2.
        #[limits(power_of_two(64, 64 << 10).of("bytes"))]
        pub row_bytes: u32,
        /// Memory command clock.
        #[limits(range(1, 10_000).of("MHz"))]
        pub clock_mhz: u32,
        /// Data pins of a channel. With them, burst_bytes × 8 / (bus_bits × transfers_per_clock) is the
        /// clocks that a burst holds the data bus.
        #[limits(power_of_two(4, 1024).of("bits"))]
        pub bus_bits: u32,
        /// Bits that each data pin moves in a memory clock.
        #[limits(power_of_two(1, 16).of("transfers a clock"))]
        pub transfers_per_clock: u32,
        /// Data of one burst: what one read or write command moves. At most a line of the L2.
        #[limits(power_of_two(8, 128).of("bytes"))]
        pub burst_bytes: u32,
        /// Which request the channel serves first.
        pub policy: DramPolicy,
        /// Under `fr_fcfs`, bursts of younger requests after which the oldest request is served alone. No request
        /// waits for ever.
        #[limits(range(1, MAX_ENTRIES).of("bursts"))]
        pub overtake_limit: u32,
        /// Requests that wait in a channel.
        #[limits(range(1, MAX_ENTRIES).of("requests"))]
        pub queue_entries: u32,
        /// Under `fr_fcfs`, writes in the queue from which on they go before reads, down to `drain_low`; until then reads go
        /// before writes. 0: both go in the order of the policy.
        #[limits(range(0, MAX_ENTRIES).of("writes"))]
        pub drain_high: u32,
        /// Writes in the queue at which reads go before writes again.
        #[limits(range(0, MAX_ENTRIES).of("writes"))]
        pub drain_low: u32,
        /// Activate to read or write, same bank.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rcd: u32,
        /// Precharge to activate, same bank.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rp: u32,
        /// Activate to precharge, same bank.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_ras: u32,
        /// Activate to activate, same bank.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rc: u32,
        /// Read command to its data.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_cl: u32,
        /// Write command to its data.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_cwl: u32,
        /// Activate to activate, other bank group.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rrd_s: u32,
        /// Activate to activate, same bank group.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rrd_l: u32,
        /// Window in which at most four activates fall.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_faw: u32,
        /// Column command to column command, other bank group.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_ccd_s: u32,
        /// Column command to column command, same bank group.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_ccd_l: u32,
        /// End of write data to read command, other bank group.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_wtr_s: u32,
        /// End of write data to read command, same bank group.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_wtr_l: u32,
        /// Read to precharge, same bank.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rtp: u32,
        /// End of write data to precharge, same bank.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_wr: u32,
        /// Refresh: clocks that it blocks the channel.
        #[limits(range(1, MAX_CLOCKS).of("memory clocks"))]
        pub t_rfc: u32,
        /// Clocks between refreshes; 0 for none.
        #[limits(range(0, MAX_CLOCKS).of("memory clocks"))]
        pub t_refi: u32,
    }
}

impl L1Parameters {
    /// Ways that hold lines while workgroups have so many bytes of local memory on a core: all, or those of a unified array
    /// (M10a) that are left.
    pub fn ways_beside(&self, local_bytes: u32) -> u32 {
        if !self.unified {
            return self.ways;
        }
        self.ways.saturating_sub(local_bytes.div_ceil(self.bytes / self.ways))
    }
}

impl L3 {
    /// True if the machine has this cache.
    pub fn is_there(&self) -> bool {
        self.bank_bytes > 0
    }

    /// Banks of the machine: one for each memory channel, or none.
    pub fn banks(&self, dram: &Dram) -> u32 {
        if self.is_there() { dram.channels } else { 0 }
    }
}

impl Dram {
    /// Memory clocks that a burst holds the data bus: burst bits / (bus bits × transfers a clock).
    pub fn burst_clocks(&self) -> u32 {
        self.burst_bytes * 8 / (self.bus_bits * self.transfers_per_clock).max(1)
    }
}
