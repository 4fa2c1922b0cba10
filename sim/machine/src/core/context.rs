//! Contexts: what belongs to a launch, whoever executes it.
//!
//! A core, the dispatcher and the load/store unit belong to the machine. The program, the grid, the registers and the
//! local memory of a workgroup belong to a context. Each workgroup, and each of its waves, names its context by a small
//! id; a stage finds the program of a wave by it.

use super::grid::{ContextId, Shape};
use super::occupancy::{LaunchError, Occupancy};
use super::slot::SlotMask;
use super::uop::{MicroOp, MicroOps};
use crate::config::Config;
use std::sync::Arc;
use wave_isa::program::{Launch, Program};

/// What belongs to a launch.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The launch, and what its workgroups have in common.
    pub(crate) shape: Shape,
    /// The decoded kernel, and where its code lies.
    pub(crate) ops: Arc<MicroOps>,
    /// Workgroups and waves that fit on a core.
    pub(crate) occupancy: Occupancy,
    /// Wave slots of a core for which there are registers.
    pub(crate) usable_slots: SlotMask,
}

impl Context {
    /// The context of a launch on a machine.
    ///
    /// # Errors
    /// If the launch cannot run on this machine.
    pub(crate) fn new(config: &Config, program: &Program, launch: &Launch) -> Result<Context, LaunchError> {
        let occupancy = Occupancy::of(config, launch)?;
        let ops = MicroOps::decode(program, &program.kernels[launch.kernel], launch.registers, config);
        let usable = occupancy.slots_per_scheduler * config.core.schedulers;
        Ok(Context {
            shape: Shape::new(launch, occupancy.waves_per_workgroup, config),
            ops: Arc::new(ops),
            occupancy,
            usable_slots: u64::MAX >> (64 - usable.min(config.core.max_waves)),
        })
    }

    /// The launch.
    pub(crate) fn launch(&self) -> &Launch {
        &self.shape.launch
    }

    /// Registers of a wave.
    pub(crate) fn rows_per_wave(&self) -> usize {
        self.shape.launch.registers as usize
    }
}

/// The contexts that a machine runs, by their ids. A launch runs alone today, so there is one.
#[derive(Debug, Clone)]
pub(crate) struct Contexts {
    list: Vec<Arc<Context>>,
    /// The programs again, at which the stages look for every instruction.
    programs: Vec<Arc<MicroOps>>,
}

impl Contexts {
    /// The context of a launch that runs alone.
    pub(crate) fn of_one(context: Context) -> Contexts {
        Contexts { programs: vec![Arc::clone(&context.ops)], list: vec![Arc::new(context)] }
    }

    /// The context with this id.
    #[inline]
    pub(crate) fn of(&self, id: ContextId) -> &Context {
        &self.list[usize::from(id)]
    }

    /// The micro-operation at a word of a context's kernel.
    #[inline]
    pub(crate) fn op(&self, id: ContextId, word: u32) -> &MicroOp {
        self.programs[usize::from(id)].get(word)
    }

    /// The contexts with their ids, in the order in which the dispatcher takes them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ContextId, &Arc<Context>)> {
        (0..).zip(&self.list)
    }

    /// The context that has all cores to itself.
    pub(crate) fn alone(&self) -> &Arc<Context> {
        &self.list[0]
    }

    /// Wave slots of a core that some context can use.
    pub(crate) fn usable_slots(&self) -> SlotMask {
        self.list.iter().fold(0, |slots, context| slots | context.usable_slots)
    }

    /// True if a context has this id.
    pub(crate) fn has(&self, id: ContextId) -> bool {
        usize::from(id) < self.list.len()
    }
}
