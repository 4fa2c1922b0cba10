//! The table of terms. A row states the name here, the meaning, and the names elsewhere in the order of
//! [`super::MODELS`].

use super::{Code, NOTHING, Term};

/// All terms, by subject: how a launch is divided, the machine, its memories, what happens in a run.
pub const TERMS: &[Term] = &[
    Term {
        here: "thread",
        meaning: "One execution of the kernel. It occupies one lane of a wave.",
        elsewhere: ["thread", "work-item", "work-item, thread", "invocation", "thread"],
        ..NOTHING
    },
    Term {
        here: "wave",
        meaning: "The threads that execute one instruction together, at most 64; a machine states how many.",
        elsewhere: ["warp", "sub-group", "wavefront", "subgroup", "SIMD-group"],
        keys: &[
            (
                "core.wave_width",
                &["warp_size", "warp_width", "wavefront_size", "wave_size", "subgroup_size", "simd_width"],
            ),
            (
                "core.max_waves",
                &[
                    "warps",
                    "max_warps",
                    "warps_per_sm",
                    "max_warps_per_sm",
                    "max_threads_per_sm",
                    "threads_per_sm",
                    "waves_per_cu",
                    "warp_slots",
                ],
            ),
        ],
        flags: &[(
            "wave-width",
            &["warp-size", "warp-width", "wavefront-size", "wave-size", "subgroup-size", "simd-width"],
        )],
        statistics: &["core.wave_instructions", "core.resident_wave_cycles"],
        ..NOTHING
    },
    Term {
        here: "lane",
        meaning: "The place of a thread in its wave. A lane has its own value of every register.",
        elsewhere: ["lane", "sub-group local id", "lane", "subgroup invocation", "SIMD lane"],
        also: &["thread in warp"],
        statistics: &["core.lane_instructions", "figure.simd_efficiency"],
        ..NOTHING
    },
    Term {
        here: "workgroup",
        meaning: "Threads that run on one core, share local memory and meet at barriers.",
        elsewhere: [
            "thread block, block, CTA",
            "work-group",
            "workgroup, thread block",
            "workgroup",
            "threadgroup",
        ],
        also: &["cooperative thread array", "group"],
        keys: &[
            (
                "core.max_workgroup_size",
                &[
                    "max_threads_per_block",
                    "max_block_size",
                    "max_work_group_size",
                    "block_size",
                    "block_dim",
                ],
            ),
            ("core.max_workgroups", &["max_blocks_per_sm", "blocks_per_sm", "max_ctas", "ctas_per_sm"]),
        ],
        flags: &[(
            "workgroup",
            &[
                "block",
                "block-size",
                "block-dim",
                "threads-per-block",
                "workgroup-size",
                "local-size",
                "local-work-size",
                "threadgroup",
                "threadgroup-size",
                "cta-size",
                "threads-per-workgroup",
            ],
        )],
        statistics: &["core.workgroups"],
    },
    Term {
        here: "grid",
        meaning: "All workgroups of a launch. `--grid` counts workgroups, as CUDA does; OpenCL counts work-items.",
        elsewhere: ["grid", "NDRange", "grid", "dispatch", "grid"],
        also: &["global work size"],
        flags: &[(
            "grid",
            &[
                "blocks",
                "num-blocks",
                "grid-dim",
                "grid-size",
                "workgroups",
                "num-workgroups",
                "global-size",
                "ctas",
            ],
        )],
        ..NOTHING
    },
    Term {
        here: "kernel",
        meaning: "A function that every thread of a launch executes. Its arguments are those of `--param`, in order.",
        elsewhere: [
            "kernel, __global__ function",
            "kernel",
            "kernel",
            "compute entry point, compute shader",
            "kernel function",
        ],
        also: &["shader", "kernel parameter"],
        flags: &[
            ("kernel", &["kernel-name", "entry-point", "function-name"]),
            ("param", &["args", "argument", "kernel-arg", "kernel-args", "params"]),
        ],
        statistics: &["kernel.cycles"],
        ..NOTHING
    },
    Term {
        here: "launch",
        meaning: "One run of a kernel over a grid: the flags of a kernel file, or a step of a launch file. Launches \
                  run one after the other; there are no streams and no launches from a kernel.",
        elsewhere: [
            "kernel launch, <<<…>>>",
            "clEnqueueNDRangeKernel",
            "hipLaunchKernelGGL",
            "dispatchWorkgroups, vkCmdDispatch",
            "dispatchThreadgroups",
        ],
        also: &["stream", "command queue", "dynamic parallelism", "graph"],
        ..NOTHING
    },
    Term {
        here: "binding",
        meaning: "A buffer of a shader, named by its group and number. A kernel in C takes a pointer instead.",
        elsewhere: ["", "kernel argument", "", "binding, descriptor", "buffer index"],
        also: &["bind group", "descriptor set"],
        flags: &[("bind", &["buffer", "descriptor", "binding"])],
        ..NOTHING
    },
    Term {
        here: "core",
        meaning: "What executes waves: schedulers, register file, units, local memory, an L1. A workgroup stays on one.",
        elsewhere: [
            "streaming multiprocessor, SM, multiprocessor",
            "compute unit",
            "compute unit, CU",
            "",
            "GPU core",
        ],
        also: &["WGP", "workgroup processor", "Xe core", "shader core", "TPC"],
        keys: &[(
            "cores",
            &[
                "sms",
                "num_sms",
                "sm_count",
                "multiprocessors",
                "compute_units",
                "num_cus",
                "cu_count",
                "gpu_cores",
                "num_cores",
                "n_cores",
            ],
        )],
        ..NOTHING
    },
    Term {
        here: "scheduler",
        meaning: "The part of a core that issues instructions of its waves. It has its own collectors, banks and units.",
        elsewhere: ["SM sub-partition, processing block, warp scheduler", "", "SIMD", "", ""],
        also: &["subcore", "partition"],
        keys: &[
            (
                "core.schedulers",
                &["warp_schedulers", "sub_partitions", "subcores", "simds_per_cu", "schedulers_per_sm"],
            ),
            (
                "core.issue.policy",
                &["scheduling_policy", "scheduler_policy", "gpgpu_scheduler", "warp_scheduler_policy"],
            ),
            ("core.issue.width", &["issue_width", "dispatch_units", "max_insn_issue_per_warp"]),
        ],
        statistics: &["figure.issue_utilization"],
        ..NOTHING
    },
    Term {
        here: "execution unit",
        meaning: "Lanes of arithmetic of one kind. `lanes` says how many enter a cycle, the classes how long they take.",
        elsewhere: ["CUDA core, FP32 unit, SFU", "processing element", "stream processor, VALU", "", "ALU"],
        also: &["functional unit", "ALU", "special function unit"],
        keys: &[(
            "core.units",
            &["cuda_cores", "fp32_units", "stream_processors", "alus", "sfus", "processing_elements"],
        )],
        ..NOTHING
    },
    Term {
        here: "matrix instruction",
        meaning: "A product of 4 × 4 fragments that each lane holds. A core has them if `capabilities.mma` is true.",
        elsewhere: [
            "tensor core, mma, wmma",
            "",
            "matrix core, MFMA",
            "cooperative matrix",
            "SIMD-group matrix",
        ],
        keys: &[("capabilities.mma", &["tensor_cores", "matrix_cores", "mfma"])],
        ..NOTHING
    },
    Term {
        here: "register",
        meaning: "A 32-bit value in each lane. There are no scalar registers: a value that all lanes share is in each.",
        elsewhere: ["register", "", "VGPR", "function variable", "register"],
        also: &["SGPR", "uniform register", "register pressure"],
        keys: &[
            (
                "core.register_file_bytes",
                &[
                    "register_file_size",
                    "registers_per_sm",
                    "regs_per_sm",
                    "vgprs",
                    "register_file",
                    "registers_per_core",
                ],
            ),
            ("core.max_registers", &["max_registers_per_thread", "maxrregcount", "registers_per_thread"]),
            ("core.registers.banks", &["register_banks", "num_reg_banks"]),
        ],
        flags: &[("registers", &["maxrregcount", "regs", "registers-per-thread"])],
        statistics: &["core.register_reads", "core.register_writes", "core.bank_conflicts"],
    },
    Term {
        here: "dispatcher",
        meaning: "What hands workgroups to cores that have room for them.",
        elsewhere: ["GigaThread engine, work distributor", "", "workgroup dispatcher, ACE", "", ""],
        also: &["block scheduler", "CTA scheduler"],
        keys: &[("dispatcher", &["work_distributor", "gigathread", "block_scheduler", "cta_scheduler"])],
        ..NOTHING
    },
    Term {
        here: "interconnect",
        meaning: "The network between cores and L2 slices: a crossbar, a ring, a mesh or a graph.",
        elsewhere: ["crossbar, XBAR", "", "Infinity Fabric", "", ""],
        also: &["NoC", "network on chip", "icnt"],
        keys: &[("interconnect", &["crossbar", "noc", "xbar", "icnt", "network"])],
        statistics: &["interconnect.requests", "interconnect.replies"],
        ..NOTHING
    },
    Term {
        here: "device memory",
        meaning: "The memory that all threads share. A pointer of a kernel is an address in it.",
        elsewhere: [
            "global memory, __device__",
            "global memory, __global",
            "global memory, VRAM",
            "storage buffer",
            "device address space",
        ],
        also: &["main memory", "framebuffer", "HBM", "GDDR", "video memory"],
        keys: &[(
            "device_memory_bytes",
            &[
                "global_memory",
                "global_mem_size",
                "global_memory_bytes",
                "vram",
                "memory_size",
                "device_memory",
            ],
        )],
        flags: &[("device-memory", &["global-memory", "memory", "memory-size", "vram"])],
        statistics: &["core.device_loads", "core.device_stores", "core.device_atomics"],
    },
    Term {
        here: "local memory",
        meaning: "The memory of a core that a workgroup shares. CUDA's own `local memory` is private memory here.",
        elsewhere: [
            "shared memory, __shared__",
            "local memory, __local",
            "LDS, local data share, shared memory",
            "workgroup variable, shared variable",
            "threadgroup memory",
        ],
        also: &["smem", "scratchpad", "scratchpad memory", "tile memory"],
        keys: &[
            (
                "core.local_memory_bytes",
                &[
                    "shared_memory",
                    "shared_memory_bytes",
                    "shared_memory_per_sm",
                    "shared_mem",
                    "shared_mem_size",
                    "smem",
                    "smem_bytes",
                    "lds",
                    "lds_bytes",
                    "lds_size",
                    "threadgroup_memory",
                    "local_memory_size",
                ],
            ),
            ("core.local.banks", &["shared_memory_banks", "shmem_num_banks", "lds_banks", "smem_banks"]),
            ("core.local.latency_cycles", &["shared_memory_latency", "smem_latency", "lds_latency"]),
        ],
        flags: &[(
            "local-memory",
            &[
                "shared-memory",
                "shared",
                "shared-mem",
                "smem",
                "lds",
                "dynamic-shared-memory",
                "threadgroup-memory",
            ],
        )],
        statistics: &["core.local_accesses", "core.local_passes"],
    },
    Term {
        here: "private memory",
        meaning: "The stack of a thread, for variables that no register holds. It lies in device memory.",
        elsewhere: [
            "local memory",
            "private memory, __private",
            "scratch memory",
            "private variable",
            "thread memory",
        ],
        also: &["stack", "spill", "register spilling"],
        flags: &[("stack-bytes", &["stack", "stack-size", "scratch-bytes", "private-memory"])],
        ..NOTHING
    },
    Term {
        here: "constant memory",
        meaning: "There is none, and no constant cache: constants lie in device memory, and the L1 caches them. The \
                  arguments of a kernel are in registers.",
        elsewhere: [
            "constant memory, __constant__",
            "constant memory, __constant",
            "constant memory, scalar cache",
            "uniform buffer",
            "constant address space",
        ],
        also: &["constant cache", "push constant", "read-only cache"],
        ..NOTHING
    },
    Term {
        here: "texture",
        meaning: "There are no textures, samplers and images: a kernel loads from device memory, and filters itself.",
        elsewhere: ["texture, surface", "image", "texture, image", "sampled image, storage image", "texture"],
        also: &["sampler", "texture unit", "texture cache"],
        ..NOTHING
    },
    Term {
        here: "virtual memory",
        meaning: "There is none: an address is one of device memory, without pages, a TLB or memory of the host.",
        elsewhere: [
            "unified memory, managed memory",
            "shared virtual memory",
            "managed memory",
            "",
            "shared storage mode",
        ],
        also: &["TLB", "page table", "zero-copy memory", "pinned memory"],
        ..NOTHING
    },
    Term {
        here: "L1",
        meaning: "The data cache of a core.",
        elsewhere: ["L1 cache, L1/TEX", "", "vector L1 cache, vL1D, TCP", "", ""],
        also: &["l1 data cache", "L1D"],
        keys: &[
            (
                "core.l1.bytes",
                &["l1_size", "l1_bytes", "l1_cache_size", "l1d_size", "l1_size_bytes", "cache_size"],
            ),
            ("core.l1.line_bytes", &["cache_line", "line_size", "cache_line_size", "cacheline_bytes"]),
            ("core.l1.ways", &["associativity", "l1_associativity", "assoc", "l1_assoc"]),
            ("core.l1.hit_latency_cycles", &["l1_latency", "l1_hit_latency"]),
        ],
        statistics: &["l1.hits", "l1.misses"],
        ..NOTHING
    },
    Term {
        here: "L2",
        meaning: "The cache that all cores share, in slices; each slice belongs to a memory channel.",
        elsewhere: ["L2 cache, LTS", "", "L2 cache, TCC", "", ""],
        also: &["last-level cache", "LLC", "system-level cache"],
        keys: &[
            ("l2.slice_bytes", &["l2_size", "l2_bytes", "l2_cache_size", "llc_size"]),
            ("l2.slices", &["l2_banks", "l2_partitions", "sub_partitions_per_channel"]),
            ("l2.hit_latency_cycles", &["l2_latency", "l2_hit_latency"]),
        ],
        statistics: &["l2.hits", "l2.misses"],
        ..NOTHING
    },
    Term {
        here: "L3",
        meaning: "A cache in front of the memory channels, with a bank for each. Most machines have none.",
        elsewhere: ["", "", "Infinity Cache, MALL", "", ""],
        also: &["memory-side cache"],
        keys: &[
            ("l3.bank_bytes", &["l3_size", "l3_bytes", "mall_size"]),
            ("l3.hit_latency_cycles", &["l3_latency", "l3_hit_latency"]),
        ],
        statistics: &["l3.hits", "l3.misses"],
        ..NOTHING
    },
    Term {
        here: "memory channel",
        meaning: "A part of device memory with a bus of its own; in HBM a pseudo channel.",
        elsewhere: ["memory partition, FB partition", "", "memory channel", "", ""],
        also: &["memory controller", "HBM stack", "pseudo channel"],
        keys: &[
            (
                "dram.channels",
                &["memory_channels", "memory_partitions", "memory_controllers", "num_channels", "n_mem"],
            ),
            (
                "dram.clock_mhz",
                &["memory_clock", "mem_clock", "dram_clock", "memory_clock_mhz", "frequency", "clock"],
            ),
            ("dram.bus_bits", &["bus_width", "memory_bus_width", "bus_width_bits"]),
        ],
        statistics: &["dram.reads", "dram.writes"],
        ..NOTHING
    },
    Term {
        here: "core clock",
        meaning: "The clock of cores, interconnect and L2. All cycles are its cycles.",
        elsewhere: ["SM clock, graphics clock", "device clock", "shader clock, SCLK", "", ""],
        also: &["boost clock", "frequency"],
        keys: &[("core_clock_mhz", &["sm_clock", "gpu_clock", "clock_rate", "frequency", "clock", "sclk"])],
        ..NOTHING
    },
    Term {
        here: "line access",
        meaning: "What the coalescer makes of the lanes of a load or store that touch one line.",
        elsewhere: ["memory transaction, sector request", "", "cache line request", "", ""],
        also: &["coalescing", "coalesced access", "uncoalesced access", "gld_transactions"],
        statistics: &["core.line_accesses"],
        ..NOTHING
    },
    Term {
        here: "bank conflict",
        meaning: "Lanes that need different words of one bank: the access takes a pass for each of these words.",
        elsewhere: [
            "shared memory bank conflict, bank conflict",
            "bank conflict",
            "LDS bank conflict",
            "",
            "",
        ],
        statistics: &["core.local_passes", "core.bank_conflicts"],
        ..NOTHING
    },
    Term {
        here: "barrier",
        meaning: "All threads of a workgroup wait for one another. Accesses before it are seen after it, in the workgroup.",
        elsewhere: [
            "__syncthreads, bar.sync",
            "work_group_barrier",
            "__syncthreads, s_barrier",
            "workgroupBarrier, controlBarrier",
            "threadgroup_barrier",
        ],
        statistics: &["core.barriers", "issue.barrier"],
        ..NOTHING
    },
    Term {
        here: "fence",
        meaning: "Orders the accesses of a thread, for the threads in a scope: wave, workgroup, device or system.",
        elsewhere: [
            "__threadfence, membar, fence",
            "atomic_work_item_fence",
            "__threadfence, s_waitcnt",
            "storageBarrier, memoryBarrier",
            "atomic_thread_fence",
        ],
        also: &["memory fence", "memory barrier", "memory scope", "thread scope"],
        statistics: &["core.fences", "issue.fence"],
        ..NOTHING
    },
    Term {
        here: "wave operation",
        meaning: "An exchange between the lanes of a wave: shuffles, ballots, reductions, prefix sums.",
        elsewhere: [
            "warp-level primitive, __shfl_sync, __ballot_sync",
            "sub-group function",
            "cross-lane operation, DPP",
            "subgroup operation",
            "SIMD-group function",
        ],
        also: &["warp shuffle", "shuffle", "ballot", "vote"],
        statistics: &["core.wave_lanes"],
        ..NOTHING
    },
    Term {
        here: "divergence",
        meaning: "Lanes of a wave that take different branches: the wave executes both, one after the other.",
        elsewhere: [
            "warp divergence, branch divergence",
            "",
            "divergence, EXEC mask",
            "non-uniform control flow",
            "",
        ],
        also: &["reconvergence", "SIMT stack", "thread divergence"],
        keys: &[
            ("core.divergence", &["reconvergence", "branch_divergence"]),
            ("core.divergence_depth", &["simt_stack_depth", "reconvergence_stack_depth"]),
        ],
        statistics: &["figure.simd_efficiency", "core.squashed_instructions"],
        ..NOTHING
    },
    Term {
        here: "occupancy",
        meaning: "Wave slots in use, of those of the machine. Registers, local memory and workgroup slots limit it.",
        elsewhere: ["achieved occupancy, occupancy", "", "occupancy", "", "occupancy"],
        also: &["theoretical occupancy", "sm__warps_active"],
        statistics: &["figure.occupancy"],
        ..NOTHING
    },
    Term {
        here: "issue slot",
        meaning: "A cycle of a scheduler. Each is charged to one use or to the reason that nothing issued.",
        elsewhere: ["issue slot, warp stall reason, warp state", "", "", "", ""],
        also: &["stall", "stall reason", "long scoreboard", "short scoreboard"],
        statistics: &["issue.issued", "issue.scoreboard", "issue.memory"],
        ..NOTHING
    },
    Term {
        here: "machine",
        meaning: "The GPU that is simulated: a configuration in RON, or a preset. `config list` names the presets.",
        elsewhere: [
            "device, compute capability",
            "device",
            "device, gfx target",
            "physical device, adapter",
            "device",
        ],
        also: &["GPU", "architecture"],
        flags: &[("config", &["gpu", "device", "arch", "machine", "gpu-config", "configuration"])],
        ..NOTHING
    },
];

/// What a kernel says, here in C with `wave.h`.
pub const CODE: &[Code] = &[
    Code {
        here: "`KERNEL void f(…)`",
        elsewhere: [
            "`__global__ void f(…)`",
            "`__kernel void f(…)`",
            "`__global__ void f(…)`",
            "`@compute @workgroup_size(…) fn f(…)`",
            "`kernel void f(…)`",
        ],
    },
    Code {
        here: "`thread_id_x()`",
        elsewhere: [
            "`threadIdx.x`",
            "`get_local_id(0)`",
            "`threadIdx.x`",
            "`local_invocation_id.x`",
            "`thread_position_in_threadgroup.x`",
        ],
    },
    Code {
        here: "`workgroup_id_x()`",
        elsewhere: [
            "`blockIdx.x`",
            "`get_group_id(0)`",
            "`blockIdx.x`",
            "`workgroup_id.x`",
            "`threadgroup_position_in_grid.x`",
        ],
    },
    Code {
        here: "`workgroup_size_x()`",
        elsewhere: [
            "`blockDim.x`",
            "`get_local_size(0)`",
            "`blockDim.x`",
            "the numbers of `@workgroup_size`",
            "`threads_per_threadgroup.x`",
        ],
    },
    Code {
        here: "`grid_size_x()`",
        elsewhere: [
            "`gridDim.x`",
            "`get_num_groups(0)`",
            "`gridDim.x`",
            "`num_workgroups.x`",
            "`threadgroups_per_grid.x`",
        ],
    },
    Code {
        here: "`global_id_x()`",
        elsewhere: [
            "`blockIdx.x * blockDim.x + threadIdx.x`",
            "`get_global_id(0)`",
            "`blockIdx.x * blockDim.x + threadIdx.x`",
            "`global_invocation_id.x`",
            "`thread_position_in_grid.x`",
        ],
    },
    Code {
        here: "`lane_id()`",
        elsewhere: [
            "`threadIdx.x % warpSize`, `%laneid`",
            "`get_sub_group_local_id()`",
            "`__lane_id()`",
            "`subgroup_invocation_id`",
            "`thread_index_in_simdgroup`",
        ],
    },
    Code {
        here: "`KERNEL_LOCAL_MEMORY(f, bytes)`, `LOCAL_MEMORY(type)`, `local_load()`, `local_store()`",
        elsewhere: ["`__shared__`", "`__local`", "`__shared__`", "`var<workgroup>`", "`threadgroup`"],
    },
    Code {
        here: "`barrier()`",
        elsewhere: [
            "`__syncthreads()`",
            "`barrier(CLK_LOCAL_MEM_FENCE)`",
            "`__syncthreads()`",
            "`workgroupBarrier()`",
            "`threadgroup_barrier(mem_flags::mem_threadgroup)`",
        ],
    },
    Code {
        here: "`atomic_add(pointer, value)`",
        elsewhere: [
            "`atomicAdd(pointer, value)`",
            "`atomic_add(pointer, value)`",
            "`atomicAdd(pointer, value)`",
            "`atomicAdd(pointer, value)`",
            "`atomic_fetch_add_explicit(pointer, value, memory_order_relaxed)`",
        ],
    },
    Code {
        here: "`wave_shuffle_xor(value, mask)`",
        elsewhere: [
            "`__shfl_xor_sync(all, value, mask)`",
            "`sub_group_shuffle_xor(value, mask)`",
            "`__shfl_xor(value, mask)`",
            "`subgroupShuffleXor(value, mask)`",
            "`simd_shuffle_xor(value, mask)`",
        ],
    },
    Code {
        here: "`wave_ballot(condition)`",
        elsewhere: [
            "`__ballot_sync(all, condition)`",
            "`sub_group_ballot(condition)`",
            "`__ballot(condition)`",
            "`subgroupBallot(condition)`",
            "`simd_ballot(condition)`",
        ],
    },
    Code {
        here: "`f<<<grid, block>>>(…)` has no form in C: `--grid`, `--workgroup`, `--param`, or a launch file",
        elsewhere: [
            "`f<<<grid, block>>>(…)`",
            "`clEnqueueNDRangeKernel(…)`",
            "`hipLaunchKernelGGL(f, grid, block, …)`",
            "`dispatchWorkgroups(…)`",
            "`dispatchThreadgroups(…)`",
        ],
    },
];
