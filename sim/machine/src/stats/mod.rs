//! Statistics: every counter is declared once, with its unit and its meaning.
//!
//! `counters!` turns a declaration into a plain struct of `u64` for the hot path and a
//! listing for reports and the manual. So name, unit and documentation of a counter stay together.

/// One declared statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    /// Name in reports, `group.name`.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// What it counts, one sentence.
    pub doc: &'static str,
}

/// More than any run counts, and little enough that all counts of a machine can be added.
pub(crate) const MOST: u64 = 1 << 50;

/// Declares a struct of `u64` counters: `name: "unit", "what it counts";`.
macro_rules! counters {
    ($(#[$meta:meta])* $group:literal $name:ident { $($field:ident: $unit:literal, $doc:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, wave_capture::Capture)]
        #[sound]
        pub struct $name { $(#[doc = $doc] pub $field: u64,)* }

        impl $name {
            /// Refuses counts from which a sum could overflow.
            fn sound(&self) -> Result<(), wave_capture::Misfit> {
                $(wave_capture::Misfit::in_range(self.$field <= $crate::stats::MOST, stringify!($field))?;)*
                Ok(())
            }

            /// True if nothing is less than in `before`.
            #[allow(dead_code, reason = "not every group is compared")]
            pub(crate) fn is_after(&self, before: &Self) -> bool {
                true $(&& self.$field >= before.$field)*
            }

            /// The declarations, in order.
            pub const DECLARED: &'static [$crate::stats::Declared] = &[$($crate::stats::Declared {
                name: concat!($group, ".", stringify!($field)),
                unit: $unit,
                doc: $doc,
            },)*];

            /// The values, in the order of [`Self::DECLARED`].
            pub fn values(&self) -> Vec<u64> {
                vec![$(self.$field),*]
            }

            /// The values, in the order of [`Self::DECLARED`], to be changed.
            pub fn values_mut(&mut self) -> Vec<&mut u64> {
                vec![$(&mut self.$field),*]
            }

            /// Adds this part of what `other` counted, each rounded.
            pub fn add_scaled(&mut self, other: &Self, part: f64) {
                $(self.$field += (other.$field as f64 * part).round() as u64;)*
            }

            /// What was counted since `before`.
            pub fn since(&self, before: &Self) -> Self {
                $name { $($field: self.$field - before.$field,)* }
            }
        }

        impl std::ops::AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $(self.$field += other.$field;)*
            }
        }
    };
}
pub(crate) use counters;

/// Declares [`SlotUse`] with the text of each reason.
macro_rules! slot_uses {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// The use of one issue slot in one cycle. Each slot of each cycle is charged to exactly one (rule
        /// I7).
        ///
        /// The order is the order of preference. An unused slot is charged to the first reason below `Issued`
        /// and `Squashed` that applies to any wave of the scheduler, so a stall names what the wave nearest
        /// to issuing waits for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, wave_capture::Capture)]
        #[repr(u8)]
        pub enum SlotUse { $(#[doc = $doc] $variant,)* }

        impl SlotUse {
            /// Every use; `use as usize` indexes it.
            pub const ALL: &'static [SlotUse] = &[$(SlotUse::$variant,)*];

            /// Number of uses.
            pub const COUNT: usize = SlotUse::ALL.len();

            /// The declaration.
            pub const fn declared(self) -> Declared {
                match self {
                    $(SlotUse::$variant => Declared {
                        name: concat!("issue.", $name),
                        unit: "issue slots",
                        doc: $doc,
                    },)*
                }
            }

            /// Name without its group.
            pub const fn name(self) -> &'static str {
                match self { $(SlotUse::$variant => $name,)* }
            }
        }
    };
}

slot_uses! {
    Issued "issued" "A wave instruction left the instruction buffer and takes effect in some lane.";
    Squashed "squashed" "A wave instruction left the instruction buffer with an empty effective mask.";
    Operand "operand" "The wave waits for a collector, or its collector for register banks.";
    Unit "unit" "The collector waits for a busy execution unit or for a write port at the result's cycle.";
    Lsu "lsu" "The collector waits for room in the load/store unit.";
    Scoreboard "scoreboard" "The wave's next instruction needs a result that an execution unit has not written back.";
    Memory "memory" "The wave's next instruction needs a load or atomic that has not returned.";
    Fence "fence" "The wave's next instruction is a fence, wait or barrier that waits for the wave's earlier accesses.";
    Branch "branch" "The wave is in the shadow of a control or synchronisation instruction.";
    Fetch "fetch" "The wave's instruction buffer is empty.";
    Barrier "barrier" "Every wave that has not issued is at a barrier.";
    WaveLimit "wave_limit" "The waves that could issue have issued in this cycle, or are not in the active set of two_level.";
    Empty "empty" "The scheduler has no wave.";
    Release "release" "The kernel has ended; its writes are made visible.";
}

counters! {
    /// Counters of one core.
    "core" CoreCounters {
        cycles: "cycles", "Cycles in which the core was clocked, from the launch until the next one could start.";
        wave_instructions: "wave instructions", "Wave instructions issued with at least one lane taking part, and control instructions that had an active lane.";
        squashed_instructions: "wave instructions", "Wave instructions that left the instruction buffer without effect.";
        lane_instructions: "lane instructions", "Lanes that took part, summed over the wave instructions.";
        taken_redirects: "redirects", "Control instructions that sent a wave to another pc than the next.";
        fetches: "fetch groups", "Groups of words requested from the instruction cache.";
        fetches_discarded: "fetch groups", "Groups of words dropped because the wave was redirected.";
        icache_hits: "fetch groups", "Requests that the instruction cache served.";
        icache_misses: "fetch groups", "Requests that had to wait for a line.";
        bank_conflicts: "row reads", "Operand rows that had to wait a cycle for their register bank.";
        write_port_conflicts: "cycles", "Cycles in which a result waited for a register write port.";
        local_accesses: "wave instructions", "Local memory instructions.";
        local_passes: "cycles", "Passes over the local memory banks; more than one an instruction are conflicts.";
        l1_passes: "cycles", "Passes of device memory loads over the banks of the L1; 0 where core.l1.banks is 0.";
        device_loads: "wave instructions", "Device memory loads.";
        device_stores: "wave instructions", "Device memory stores.";
        device_atomics: "wave instructions", "Device memory atomics.";
        line_accesses: "accesses", "L1 accesses that the coalescer made of device memory instructions.";
        barriers: "barriers", "Barriers that a whole workgroup passed.";
        fences: "wave instructions", "Fences.";
        divisions_by_zero: "lanes", "Lanes whose integer divisor was 0.";
        resident_wave_cycles: "wave cycles", "Waves resident, summed over cycles; divided by cycles × wave slots it is the occupancy.";
        workgroups: "workgroups", "Workgroups finished.";
        int_lanes: "lane instructions", "Part of lane_instructions: those of class int.";
        int_mul_lanes: "lane instructions", "Part of lane_instructions: those of class int_mul.";
        int_div_lanes: "lane instructions", "Part of lane_instructions: those of class int_div.";
        fp32_lanes: "lane instructions", "Part of lane_instructions: those of class fp32.";
        fp32_div_lanes: "lane instructions", "Part of lane_instructions: those of class fp32_div.";
        fp16_lanes: "lane instructions", "Part of lane_instructions: those of class fp16.";
        fp64_lanes: "lane instructions", "Part of lane_instructions: those of class fp64.";
        fp64_div_lanes: "lane instructions", "Part of lane_instructions: those of class fp64_div.";
        convert_lanes: "lane instructions", "Part of lane_instructions: those of class convert.";
        sfu_lanes: "lane instructions", "Part of lane_instructions: those of class sfu.";
        wave_lanes: "lane instructions", "Part of lane_instructions: those of class wave.";
        mma_lanes: "lane instructions", "Part of lane_instructions: those of class mma.";
        local_memory_lanes: "lane instructions", "Part of lane_instructions: those of class local_memory.";
        device_memory_lanes: "lane instructions", "Part of lane_instructions: those of class device_memory.";
        control_lanes: "lane instructions", "Part of lane_instructions: those of class control.";
        sync_lanes: "lane instructions", "Part of lane_instructions: those of class sync.";
        register_reads: "lane rows", "General registers that lanes read from the register banks, a register that an instruction names twice once (but by memory instructions).";
        register_writes: "lane rows", "General registers that lanes write.";
        local_words: "lane words", "Words of 32 bits that local memory instructions move to or from registers and fragments, lane by lane; shorter values take a word.";
        device_words: "lane words", "The same of device memory instructions.";
    }
}
