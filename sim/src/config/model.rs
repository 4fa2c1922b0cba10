//! The validated configuration: what the blocks of the machine read. Every value here has been checked.

use crate::isa::ExecClass;

/// A whole GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Name of the machine.
    pub name: String,
    /// One paragraph on what it is and where its numbers come from.
    pub description: String,
    /// Optional instructions.
    pub capabilities: Capabilities,
    /// Number of cores.
    pub cores: u32,
    /// Core clock, for results in seconds.
    pub core_clock_mhz: u32,
    /// Device memory, bytes.
    pub device_memory_bytes: u64,
    /// One core; all are alike.
    pub core: Core,
    /// Dispatcher of workgroups.
    pub dispatcher: Dispatcher,
    /// Between the cores and the L2 slices.
    pub interconnect: Interconnect,
    /// Second-level cache.
    pub l2: L2,
    /// Memory channels.
    pub dram: Dram,
}

/// Optional instructions of the instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// CAP_F64: f64 arithmetic.
    pub f64: bool,
    /// CAP_MMA: matrix instructions.
    pub mma: bool,
}

/// One core.
#[derive(Debug, Clone, PartialEq)]
pub struct Core {
    /// Lanes of a wave, W: a power of two, up to 64.
    pub wave_width: u32,
    /// Most registers that a kernel may declare, up to 256.
    pub max_registers: u32,
    /// Register file, bytes, over all schedulers.
    pub register_file_bytes: u32,
    /// Local memory of the core, bytes, shared by its workgroups.
    pub local_memory_bytes: u32,
    /// Most threads of a workgroup.
    pub max_workgroup_size: u32,
    /// Most workgroups resident.
    pub max_workgroups: u32,
    /// Wave slots, up to 64; slot s belongs to scheduler s mod schedulers.
    pub max_waves: u32,
    /// Frames of a wave's divergence stack.
    pub divergence_depth: u32,
    /// Frames of a wave's call stack.
    pub call_depth: u32,
    /// What a wave does where no lane is active.
    pub divergence: DivergenceMode,
    /// Schedulers (partitions): each has its fetch arbiter, register banks, collectors and units.
    pub schedulers: u32,
    /// Cycles from the issue of a control or synchronisation instruction until its wave may issue
    /// again, at least 1.
    pub branch_latency_cycles: u32,
    /// Fetch and instruction cache.
    pub fetch: Fetch,
    /// Issue.
    pub issue: Issue,
    /// Register banks, collectors and write-back.
    pub registers: Registers,
    /// Execution units of each scheduler.
    pub units: Vec<Unit>,
    /// Load/store unit.
    pub lsu: Lsu,
    /// Local memory timing.
    pub local: Local,
    /// First-level data cache.
    pub l1: L1,
    /// Value of every byte of local memory when a workgroup starts; its contents are undefined by the
    /// instruction set.
    pub local_poison: u8,
}

/// What a wave does where its active mask is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivergenceMode {
    /// Fetch and squash instruction by instruction.
    Walk,
    /// Jump to the matching else, endif or endloop.
    Jump,
}

/// Fetch, instruction cache, decode and instruction buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// Words that one fetch delivers: the aligned group that holds the pc, from the pc on. 2 to 16.
    pub words: u32,
    /// Decoded instructions that a wave's buffer holds; at least `words`.
    pub buffer_entries: u32,
    /// Instruction cache, bytes.
    pub icache_bytes: u32,
    /// Line of the instruction cache, bytes.
    pub icache_line_bytes: u32,
    /// Ways of the instruction cache.
    pub icache_ways: u32,
    /// Cycles from a fetch's request to its words at the decoder, at least 1.
    pub icache_latency_cycles: u32,
    /// Lines that may be outstanding.
    pub icache_mshrs: u32,
}

/// How a scheduler picks among its ready waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssuePolicy {
    /// Loose round robin: the next ready wave after the one that issued last.
    Lrr,
    /// Greedy then oldest: the wave that issued last, else the oldest.
    Gto,
    /// The wave that was dispatched first.
    Oldest,
    /// Round robin over a small active set; a wave that waits for memory leaves it.
    TwoLevel,
}

/// Issue of one scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Policy.
    pub policy: IssuePolicy,
    /// Issue slots: instructions a cycle, each of another wave.
    pub width: u32,
    /// Waves in the active set of `two_level`.
    pub two_level_active: u32,
}

/// Register file of one scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Banks, a power of two; each reads one row and writes one row a cycle. Register r of wave slot s
    /// lies in bank (r + s / schedulers) mod banks.
    pub banks: u32,
    /// Operand collectors.
    pub collectors: u32,
    /// Rows that write-back may write a cycle, over all banks.
    pub write_ports: u32,
}

/// One execution unit of each scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Name in reports.
    pub name: String,
    /// Lanes that enter the unit a cycle.
    pub lanes: u32,
    /// The classes it executes.
    pub classes: Vec<ClassTiming>,
}

/// Timing of one class of instructions in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassTiming {
    /// The class.
    pub class: ExecClass,
    /// Cycles from the dispatch of the first lanes to their result at write-back, at least 1.
    pub latency_cycles: u32,
    /// Cycles that each group of lanes holds the unit's entry, at least 1. An instruction holds it for
    /// passes × ceil(W / lanes).
    pub passes: u32,
}

/// Load/store unit, shared by the core's schedulers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lsu {
    /// Wave instructions waiting for address generation.
    pub queue_entries: u32,
    /// Device-memory wave instructions whose requests are outstanding.
    pub pending_entries: u32,
}

/// Local memory of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    /// Banks of 32-bit words, a power of two.
    pub banks: u32,
    /// Cycles from the last pass of an access to its result at write-back, at least 1.
    pub latency_cycles: u32,
}

/// First-level data cache of a core: write-through, no allocation on a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct L1 {
    /// Capacity, bytes.
    pub bytes: u32,
    /// Line, bytes: 32, 64 or 128.
    pub line_bytes: u32,
    /// Sector, bytes: what a miss fetches. Divides the line, at least 16.
    pub sector_bytes: u32,
    /// Ways.
    pub ways: u32,
    /// Cycles from an access to a hit's data, at least 1.
    pub hit_latency_cycles: u32,
    /// Lines that may be outstanding.
    pub mshrs: u32,
    /// Accesses that one outstanding line can serve.
    pub mshr_merges: u32,
}

/// Hands workgroups to cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dispatcher {
    /// Workgroups handed out a cycle, over all cores.
    pub workgroups_per_cycle: u32,
    /// Cycles from the dispatcher to a core and back, each way, at least 1.
    pub latency_cycles: u32,
}

/// Crossbar between cores and L2 slices; separate networks for requests and replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interconnect {
    /// Cycles from a core's port to a slice's port and back, each way, at least 1.
    pub latency_cycles: u32,
    /// Bytes that a port carries a cycle.
    pub port_bytes_per_cycle: u32,
    /// Packets that wait at each port.
    pub queue_entries: u32,
}

/// Second-level cache: slices by address, write-back, with an atomics unit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct L2 {
    /// Slices, a power of two.
    pub slices: u32,
    /// Capacity of a slice, bytes.
    pub slice_bytes: u32,
    /// Ways.
    pub ways: u32,
    /// Cycles from a request at the slice to a hit's reply, at least 1.
    pub hit_latency_cycles: u32,
    /// Lines that may be outstanding in a slice.
    pub mshrs: u32,
    /// Accesses that one outstanding line can serve.
    pub mshr_merges: u32,
    /// Requests that wait at a slice.
    pub queue_entries: u32,
}

/// Which request a memory channel serves first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DramPolicy {
    /// Oldest first.
    Fcfs,
    /// Oldest row hit first, then oldest.
    FrFcfs,
}

/// Memory channels. Times are in memory clocks of `clock_mhz` and become core cycles at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dram {
    /// Channels; each L2 slice belongs to channel slice mod channels. Divides the slices.
    pub channels: u32,
    /// Banks of a channel, a power of two.
    pub banks: u32,
    /// Bank groups of a channel, a power of two up to `banks`.
    pub bank_groups: u32,
    /// Row of one bank, bytes, a power of two.
    pub row_bytes: u32,
    /// Memory command clock.
    pub clock_mhz: u32,
    /// Data of one burst, bytes: what one read or write command moves. A power of two.
    pub burst_bytes: u32,
    /// Clocks that a burst holds the data bus.
    pub burst_clocks: u32,
    /// Scheduling.
    pub policy: DramPolicy,
    /// Requests that wait in a channel.
    pub queue_entries: u32,
    /// Activate to read or write, same bank.
    pub t_rcd: u32,
    /// Precharge to activate, same bank.
    pub t_rp: u32,
    /// Activate to precharge, same bank.
    pub t_ras: u32,
    /// Read command to its data.
    pub t_cl: u32,
    /// Write command to its data.
    pub t_cwl: u32,
    /// Activate to activate, other bank group.
    pub t_rrd_s: u32,
    /// Activate to activate, same bank group.
    pub t_rrd_l: u32,
    /// Window in which at most four activates fall.
    pub t_faw: u32,
    /// Column command to column command, other bank group.
    pub t_ccd_s: u32,
    /// Column command to column command, same bank group.
    pub t_ccd_l: u32,
    /// End of write data to read command, other bank group.
    pub t_wtr_s: u32,
    /// End of write data to read command, same bank group.
    pub t_wtr_l: u32,
    /// Read to precharge, same bank.
    pub t_rtp: u32,
    /// End of write data to precharge, same bank.
    pub t_wr: u32,
    /// Refresh: clocks that it blocks the channel.
    pub t_rfc: u32,
    /// Clocks between refreshes.
    pub t_refi: u32,
}

impl Config {
    /// A mid-size machine with every feature on, for unit tests that need some valid configuration;
    /// `configs/gpu.ron` is the documented preset.
    pub fn example() -> Config {
        let class = |class, latency_cycles, passes| ClassTiming { class, latency_cycles, passes };
        use ExecClass::*;
        Config {
            name: "example".into(),
            description: String::new(),
            capabilities: Capabilities { f64: true, mma: true },
            cores: 16,
            core_clock_mhz: 1500,
            device_memory_bytes: 64 << 20,
            core: Core {
                wave_width: 32,
                max_registers: 256,
                register_file_bytes: 256 << 10,
                local_memory_bytes: 64 << 10,
                max_workgroup_size: 1024,
                max_workgroups: 16,
                max_waves: 32,
                divergence_depth: 32,
                call_depth: 8,
                divergence: DivergenceMode::Walk,
                schedulers: 4,
                branch_latency_cycles: 2,
                fetch: Fetch {
                    words: 4,
                    buffer_entries: 8,
                    icache_bytes: 16 << 10,
                    icache_line_bytes: 128,
                    icache_ways: 4,
                    icache_latency_cycles: 1,
                    icache_mshrs: 4,
                },
                issue: Issue { policy: IssuePolicy::Gto, width: 1, two_level_active: 4 },
                registers: Registers { banks: 4, collectors: 4, write_ports: 2 },
                units: vec![
                    Unit {
                        name: "int".into(),
                        lanes: 32,
                        classes: vec![
                            class(Int, 2, 1),
                            class(IntMul, 3, 1),
                            class(IntDiv, 16, 8),
                            class(Convert, 3, 1),
                        ],
                    },
                    Unit {
                        name: "fp32".into(),
                        lanes: 32,
                        classes: vec![class(Fp32, 3, 1), class(Fp16, 3, 1), class(Fp32Div, 16, 8)],
                    },
                    Unit {
                        name: "fp64".into(),
                        lanes: 8,
                        classes: vec![class(Fp64, 6, 1), class(Fp64Div, 30, 8)],
                    },
                    Unit { name: "sfu".into(), lanes: 8, classes: vec![class(Sfu, 6, 1)] },
                    Unit { name: "wave".into(), lanes: 32, classes: vec![class(Wave, 4, 1)] },
                    Unit { name: "mma".into(), lanes: 8, classes: vec![class(Mma, 8, 4)] },
                ],
                lsu: Lsu { queue_entries: 8, pending_entries: 32 },
                local: Local { banks: 32, latency_cycles: 12 },
                l1: L1 {
                    bytes: 64 << 10,
                    line_bytes: 128,
                    sector_bytes: 32,
                    ways: 8,
                    hit_latency_cycles: 16,
                    mshrs: 32,
                    mshr_merges: 8,
                },
                local_poison: 0,
            },
            dispatcher: Dispatcher { workgroups_per_cycle: 1, latency_cycles: 8 },
            interconnect: Interconnect { latency_cycles: 12, port_bytes_per_cycle: 32, queue_entries: 8 },
            l2: L2 {
                slices: 8,
                slice_bytes: 256 << 10,
                ways: 16,
                hit_latency_cycles: 24,
                mshrs: 32,
                mshr_merges: 8,
                queue_entries: 8,
            },
            dram: Dram {
                channels: 4,
                banks: 16,
                bank_groups: 4,
                row_bytes: 2048,
                clock_mhz: 1750,
                burst_bytes: 32,
                burst_clocks: 2,
                policy: DramPolicy::FrFcfs,
                queue_entries: 32,
                t_rcd: 24,
                t_rp: 24,
                t_ras: 52,
                t_cl: 24,
                t_cwl: 6,
                t_rrd_s: 7,
                t_rrd_l: 9,
                t_faw: 28,
                t_ccd_s: 2,
                t_ccd_l: 3,
                t_wtr_s: 9,
                t_wtr_l: 11,
                t_rtp: 2,
                t_wr: 24,
                t_rfc: 210,
                t_refi: 3333,
            },
        }
    }
}
