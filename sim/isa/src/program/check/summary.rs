//! Figures about a kernel.

use super::code::Code;
use super::divergence::Divergence;
use super::encoding::highest;
use super::graph::Graph;
use super::nesting::Depths;
use crate::table::{AccessKind, Space};
use crate::{ExecClass, Op};

/// Contents and needs of a kernel. Counts are of instructions in the code, not of executions.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// The kernel's name.
    pub kernel: String,
    /// Instructions, illegal ones included.
    pub instructions: u32,
    /// Words.
    pub words: u32,
    /// Blocks of the control-flow graph.
    pub blocks: u32,
    /// Functions that are called.
    pub functions: u32,
    /// `if` instructions.
    pub ifs: u32,
    /// `loop` instructions.
    pub loops: u32,
    /// Reachable `if` and `loop` that may diverge.
    pub divergent: u32,
    /// Most frames of the divergence stack, callers included. Recursive calls count once.
    pub max_nesting: u32,
    /// Most frames of the call stack. Recursive calls count once.
    pub max_call_depth: u32,
    /// Registers that a lane has.
    pub registers_declared: u32,
    /// One more than the highest register that an instruction names.
    pub registers_used: u32,
    /// Most registers that hold a value still needed.
    pub max_live_registers: u32,
    /// Where that is: a source line or a pc.
    pub max_live_at: Option<String>,
    /// Registers taken for launch arguments, because they are read and never written before.
    pub assumed_arguments: Vec<u8>,
    /// Registers that the launch, if it is known, does not set, and that are read before any instruction writes them.
    pub unset_registers: Vec<u8>,
    /// Local memory of a workgroup, bytes.
    pub local_memory_bytes: u32,
    /// Loads and stores of local memory, matrix tiles included.
    pub local_accesses: u32,
    /// Loads and stores of device memory.
    pub device_accesses: u32,
    /// Atomics on either memory.
    pub atomics: u32,
    /// Barriers.
    pub barriers: u32,
    /// Fences.
    pub fences: u32,
    /// Operations across the lanes of a wave.
    pub wave_operations: u32,
    /// It needs CAP_F64.
    pub uses_f64: bool,
    /// It needs CAP_MMA.
    pub uses_mma: bool,
}

impl Summary {
    /// Counts what the linear scan finds.
    pub(super) fn of(code: &Code) -> Summary {
        let mut summary = Summary {
            kernel: code.kernel.name.clone(),
            instructions: code.insts.len() as u32,
            words: code.kernel.code.len() as u32,
            registers_declared: code.registers,
            local_memory_bytes: code.kernel.local_memory_bytes,
            ..Summary::default()
        };
        for inst in code.structure.slots.iter().filter_map(|slot| slot.inst.ok()) {
            let used = highest(&inst, code).map_or(0, |register| u32::from(register) + 1);
            summary.registers_used = summary.registers_used.max(used);
            summary.uses_f64 |= inst.op.needs_f64();
            summary.uses_mma |= inst.op.needs_mma();
            let count = match inst.op {
                Op::If => &mut summary.ifs,
                Op::Loop => &mut summary.loops,
                Op::Barrier => &mut summary.barriers,
                Op::FenceAcquire | Op::FenceRelease | Op::FenceAcqRel => &mut summary.fences,
                op => match op.memory().map(|m| (m.kind, m.space)) {
                    Some((AccessKind::Atomic(_), _)) => &mut summary.atomics,
                    Some((_, Space::Local)) => &mut summary.local_accesses,
                    Some((_, Space::Device)) => &mut summary.device_accesses,
                    None if op.info().class == ExecClass::Wave => &mut summary.wave_operations,
                    None => continue,
                },
            };
            *count += 1;
        }
        summary
    }

    pub(super) fn count_flow(&mut self, graph: &Graph, depths: Depths) {
        self.blocks = graph.blocks.node_count() as u32;
        self.functions = graph.functions.len().saturating_sub(1) as u32;
        self.max_nesting = depths.nesting;
        self.max_call_depth = depths.calls;
    }

    pub(super) fn count_divergence(&mut self, code: &Code, divergence: &Divergence, reachable: &[bool]) {
        let constructs = code.structure.constructs.iter().enumerate();
        let parts = |c: usize| divergence.split[c].or(divergence.resumed[c]).is_some();
        self.divergent = constructs.filter(|&(c, x)| reachable[x.open] && parts(c)).count() as u32;
    }
}
