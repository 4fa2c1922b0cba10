//! The times that workgroups leave: when each began and ended, and on which multiprocessor.
//!
//! The first lane of each wave reads two clocks where its code begins and where it ends. `%clock64` counts the cycles of the
//! multiprocessor; those of several have nothing to do with one another. `%globaltimer` counts nanoseconds for the whole
//! GPU, in steps that can be as long as a microsecond. Atomics keep the earliest beginning and the latest end of the
//! workgroup. Nothing waits for them.

use wave_isa::program::Launch;

/// Bytes of the record of a workgroup.
pub const RECORD_BYTES: usize = 40;

/// Registers of the code below.
pub(crate) const REGISTERS: &str = "\t.reg .b64 %now, %instant, %times, %record;\n\
    \t.reg .b32 %place, %extent, %along;\n\t.reg .pred %first;\n";

/// Makes %times the address of the workgroup's record, and %first true in the first lane.
macro_rules! record {
    () => {
        "\tld.param.u64 %times, [p_times];\n\
         \tcvta.to.global.u64 %times, %times;\n\
         \tmov.u32 %place, %ctaid.z;\n\
         \tmov.u32 %extent, %nctaid.y;\n\
         \tmov.u32 %along, %ctaid.y;\n\
         \tmad.lo.u32 %place, %place, %extent, %along;\n\
         \tmov.u32 %extent, %nctaid.x;\n\
         \tmov.u32 %along, %ctaid.x;\n\
         \tmad.lo.u32 %place, %place, %extent, %along;\n\
         \tmul.wide.u32 %record, %place, 40;\n\
         \tadd.u64 %times, %times, %record;\n\
         \tmov.u32 %place, %tid.x;\n\
         \tand.b32 %place, %place, 31;\n\
         \tsetp.eq.u32 %first, %place, 0;\n"
    };
}

/// What a wave does first.
pub(crate) const BEGINNING: &str = concat!(
    "\tmov.u64 %now, %clock64;\n\tmov.u64 %instant, %globaltimer;\n",
    record!(),
    "\t@%first red.relaxed.gpu.global.min.u64 [%times], %now;\n\
     \t@%first red.relaxed.gpu.global.min.u64 [%times+16], %instant;\n\
     \tmov.u32 %place, %smid;\n\
     \t@%first st.relaxed.gpu.global.b32 [%times+32], %place;\n"
);

/// What a wave does last.
pub(crate) const END: &str = concat!(
    "\tmov.u64 %now, %clock64;\n\tmov.u64 %instant, %globaltimer;\n",
    record!(),
    "\t@%first red.relaxed.gpu.global.max.u64 [%times+8], %now;\n\
     \t@%first red.relaxed.gpu.global.max.u64 [%times+24], %instant;\n"
);

/// The times of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Cycles of the multiprocessor's clock, beginning and end.
    pub clock: [u64; 2],
    /// Nanoseconds, beginning and end.
    pub nanoseconds: [u64; 2],
    /// Number of the multiprocessor.
    pub multiprocessor: u32,
}

/// The records before a launch.
pub fn blank(launch: &Launch) -> Vec<u8> {
    let record: Vec<u8> =
        [u64::MAX, 0, u64::MAX, 0, u64::MAX].into_iter().flat_map(u64::to_le_bytes).collect();
    record.repeat(launch.workgroups() as usize)
}

/// The records after a launch, in the order of the grid. A workgroup that has left none is `None`.
pub fn read(records: &[u8]) -> Vec<Option<Times>> {
    let word = |record: &[u8], at: usize| u64::from_le_bytes(std::array::from_fn(|i| record[at + i]));
    let times = |record: &[u8]| {
        let times = Times {
            clock: [word(record, 0), word(record, 8)],
            nanoseconds: [word(record, 16), word(record, 24)],
            multiprocessor: word(record, 32) as u32,
        };
        let is_there = |[from, to]: [u64; 2]| from != u64::MAX && from <= to;
        (is_there(times.clock) && is_there(times.nanoseconds)).then_some(times)
    };
    records.chunks_exact(RECORD_BYTES).map(times).collect()
}
