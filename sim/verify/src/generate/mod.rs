//! Random structured programs from a seed, on which the simulator and the reference interpreter must agree.
//!
//! A program is grown as a [`Tree`], never as raw words, so it ends: loops count down a register that nothing
//! else writes, and calls only go to functions further down. It has no race, so its result does not depend on
//! the order of waves and workgroups:
//!
//! - each lane writes bytes of its own, in device and in local memory; all lanes read the input region,
//!   which nothing writes;
//! - lanes read what other lanes of the workgroup wrote only between two barriers ([`Node::Exchange`]);
//! - words that lanes share see atomics of one commutative kind at one scope, whose old value is not
//!   returned; they are read between two barriers too. Atomics on a lane's own words are free.
//!
//! [`grow`] prefers what breaks pipelines: results used one to three instructions later, alternating one and
//! two words, guards that no lane or every lane passes, operands in one bank, overlapping register pairs,
//! special floats, misaligned addresses, operands that are special for an operation ([`special`]). The registers end in a checksum in device memory, and conditions
//! depend on them throughout, so a wrong value changes the path. With [`Options::pairs`] it also places any
//! instruction directly behind a barrier, a shadow, an outstanding write or a bank conflict.

mod access;
mod grow;
mod layout;
mod lower;
mod mutate;
mod pairs;
mod shrink;
mod special;
mod stored;
mod values;
mod words;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::ops::Range;
use wave_isa::program::{Launch, Program};
use wave_isa::{Inst, Op, Special};
use wave_machine::config::Config;

pub use grow::grow;
pub(crate) use layout::Region;
pub use mutate::mutate;
pub use shrink::shrink;
pub use words::words;

/// Features of the machine, and the size of the program. The default fits every machine that the instruction
/// set allows (its section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Use f64 instructions.
    pub f64: bool,
    /// Use matrix instructions.
    pub mma: bool,
    /// Most registers that a kernel may declare, at least 48.
    pub max_registers: u32,
    /// Schedulers of a core, among which the waves of a workgroup are distributed.
    pub schedulers: u32,
    /// Bytes of registers of each scheduler.
    pub register_bytes: u32,
    /// Most threads of a workgroup.
    pub max_threads: u32,
    /// Most waves of a workgroup.
    pub max_waves: u32,
    /// Lanes of a wave. Limits only the number of threads: a program runs on waves of any width.
    pub wave_width: u32,
    /// Approximate number of nodes of the tree.
    pub nodes: u32,
    /// Insert one instruction that faults when it is reached.
    pub fault: bool,
    /// Where device memory ends, or up to 255 bytes before; 0 if it begins at address 0.
    pub end: u32,
    /// Most open ifs and loops, and most calls within one another, of a program that comes close to both, or one past.
    pub deepest: Option<(u32, u32)>,
    /// One node in three is a pair: any instruction behind one that it may have to wait for.
    pub pairs: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            f64: true,
            mma: true,
            max_registers: 64,
            schedulers: 1,
            register_bytes: 16384,
            max_threads: 128,
            max_waves: 4,
            wave_width: 64,
            nodes: 60,
            fault: false,
            end: 0,
            deepest: None,
            pairs: false,
        }
    }
}

impl Options {
    /// Options for programs that use what a configuration offers.
    pub fn of(config: &Config) -> Options {
        let core = &config.core;
        Options {
            f64: config.capabilities.f64,
            mma: config.capabilities.mma,
            max_registers: core.max_registers,
            schedulers: core.schedulers,
            register_bytes: core.register_file_bytes / core.schedulers,
            max_threads: core.max_workgroup_size.min(128),
            max_waves: core.max_waves,
            wave_width: core.wave_width,
            ..Options::default()
        }
    }
}

/// A piece of a program. It lowers to a few instructions and can be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// An instruction on registers and predicates of the pool. `break` and `continue` occur only in a loop.
    Inst(#[serde(with = "stored::words")] Inst),
    /// A memory access at a computed address.
    Access(Access),
    /// Optionally an access, a barrier, an access, a barrier.
    Exchange(Option<Access>, Access),
    /// A barrier.
    Barrier,
    /// `if … else … endif`
    If {
        /// The condition of each lane.
        test: Test,
        /// For lanes in which it holds.
        then: Vec<Node>,
        /// For the other lanes.
        otherwise: Option<Vec<Node>>,
    },
    /// A counted loop.
    Loop {
        /// Number of iterations.
        trips: Trips,
        /// The counter register; nothing else in the function writes it.
        counter: u8,
        /// Predicate that ends the loop.
        predicate: u8,
        /// The body.
        body: Vec<Node>,
    },
    /// A call of [`Tree::functions`] by index.
    Call(usize),
    /// Raw words, for programs that must fault.
    Words(Vec<u32>),
}

/// The condition of an `if`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Test {
    /// A predicate of each lane.
    Predicate {
        /// Index.
        predicate: u8,
        /// Negated.
        negated: bool,
    },
    /// The lowest bit of a special register that is the same in the whole workgroup, so that the body may
    /// contain a barrier.
    Uniform {
        /// The special register.
        #[serde(with = "stored::special")]
        special: Special,
        /// Pool register for the value.
        temp: u8,
        /// Predicate for the result.
        predicate: u8,
    },
}

/// Number of iterations of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trips {
    /// The same for all lanes.
    Fixed(u32),
    /// `register & mask`, separately for each lane.
    Data {
        /// Pool register.
        register: u8,
        /// Limit.
        mask: u32,
    },
}

/// A load, store, atomic or matrix tile at `region + offset + (r[index] & mask)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The instruction. Its address operand, and the stride of a tile, are set when lowering.
    #[serde(with = "stored::words")]
    pub inst: Inst,
    /// The region.
    pub region: Region,
    /// Constant part of the address within the region.
    pub offset: u32,
    /// Register, possibly a reserved one, that varies the address.
    pub index: u8,
    /// Mask of its bits that count.
    pub mask: u32,
    /// Two distinct pool registers, for the address and for the stride of a tile.
    pub(crate) temps: [u8; 2],
    /// Bytes between the rows of a matrix tile.
    pub stride: u32,
}

/// How the kernel ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// `halt`
    Halt,
    /// `return` at call depth 0
    Return,
    /// Past the last word; only in a kernel without functions.
    RunOff,
}

/// What the checksum at the end covers besides the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checksum {
    /// These predicates.
    pub predicates: Vec<u8>,
    /// The lane's own local memory.
    pub local: bool,
    /// These C fragments.
    pub fragments: Vec<u8>,
}

/// A program as a tree, with its launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Registers declared.
    pub registers: u32,
    /// First of the `layout::RESERVED` registers, which random instructions do not touch.
    pub reserved: u8,
    /// Runs of registers that random instructions use.
    pub pool: Vec<Range<u16>>,
    /// Bytes of device memory of each lane.
    pub own_bytes: u32,
    /// Address at which device memory begins. The case's image is what lies from there on.
    pub first: u32,
    /// Workgroups.
    pub grid: [u32; 3],
    /// Threads of a workgroup.
    pub workgroup: [u32; 3],
    /// Seed of the contents of device memory.
    pub(crate) memory_seed: u64,
    /// End with a checksum in device memory.
    pub(crate) checksum: Option<Checksum>,
    /// How the kernel ends.
    pub ending: Ending,
    /// The kernel's body, then the functions that it calls.
    pub functions: Vec<Vec<Node>>,
}

/// A program ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// One kernel.
    pub program: Program,
    /// Its launch.
    pub launch: Launch,
    /// All of device memory.
    pub memory: Vec<u8>,
}

impl Tree {
    /// The program, launch and memory of the tree.
    pub fn case(&self) -> Case {
        let layout = layout::Layout::of(self);
        Case {
            program: lower::program(self, &layout),
            launch: Launch {
                kernel: 0,
                grid: self.grid,
                workgroup: self.workgroup,
                registers: self.registers,
                local_memory_bytes: layout.local_bytes,
                initial_registers: Vec::new(),
            },
            memory: values::memory(self.memory_seed, layout.device_bytes),
        }
    }

    /// Threads of a workgroup.
    pub fn threads(&self) -> u32 {
        self.workgroup.iter().product()
    }
}

impl Node {
    /// The lists of nodes inside of this one.
    fn children(&mut self) -> Vec<&mut Vec<Node>> {
        match self {
            Node::If { then, otherwise, .. } => std::iter::once(then).chain(otherwise).collect(),
            Node::Loop { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// True for a `break` or `continue`, which are only allowed in a loop.
    fn leaves_loop(&self) -> bool {
        matches!(self, Node::Inst(inst) if matches!(inst.op, Op::Break | Op::Continue))
    }
}
