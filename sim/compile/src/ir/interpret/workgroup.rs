//! All threads of a workgroup over the memories of one instance.
//!
//! Threads run in turn, some steps each, so a thread that waits for another one in a loop does not stop it.
//!
//! **Lanes that diverge.** A thread at a wave operation waits until every lane of its wave has ended, or waits at a
//! wave operation or a barrier. Lanes at the same instruction, called from the same places, are together. Of several
//! such groups at wave operations the one that is most behind goes on: the first in a weak topological order of the
//! blocks, the outermost frame first. So lanes in a loop go on while others wait behind it, and meet them there, as on
//! a machine that reconverges at post-dominators. The group alone takes part: for it the other lanes do not.
//!
//! A barrier opens when all threads that have not ended wait at one. The lanes of a wave must be at the same barrier
//! then, or the run fails, as a barrier in divergence is a fault of the machine.

use super::super::{Constant, FunctionId, GlobalId, MemoryId, Place, Space, Wave};
use super::instance::{Instance, Parts};
use super::order::weak_topological_order;
use super::storage::{GlobalCell, LinearMemory};
use super::thread::{Position, Registers, Stop, Thread};
use super::{Limits, Trapped, wave};
use cranelift_entity::EntityRef;
use std::collections::HashMap;
use std::rc::Rc;
use wave_isa::{MAX_WAVE_WIDTH, Special};

/// Steps of a thread before the next one has its turn.
const TURN_STEPS: u64 = 64;

/// What the threads of a workgroup run.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The function.
    pub function: FunctionId,
    /// Its arguments, the same in all threads.
    pub arguments: Vec<Constant>,
    /// Threads in each direction, at least 1.
    pub workgroup_size: [u32; 3],
    /// Which workgroup of the grid.
    pub workgroup_id: [u32; 3],
    /// Workgroups in each direction.
    pub grid_size: [u32; 3],
    /// Lanes of a wave: a power of two up to 64.
    pub wave_width: u32,
}

/// Why a workgroup did not run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A thread trapped.
    #[error("thread {thread}: {trapped}")]
    Trapped {
        /// The thread, by its number in the workgroup.
        thread: u32,
        /// Its trap.
        trapped: Trapped,
    },
    /// Lanes of one wave wait at different barriers.
    #[error("thread {thread} waits at the barrier {place}, and another lane of its wave elsewhere")]
    DivergentBarrier {
        /// A thread of that wave, by its number in the workgroup.
        thread: u32,
        /// Its function.
        function: FunctionId,
        /// Where it waits.
        place: Place,
    },
}

/// What a thread of the workgroup does.
enum State {
    Runs,
    Waits(Stop),
    Ended(Vec<Constant>),
}

/// A thread, what it sees, and what it does.
struct Member {
    thread: Thread,
    parts: Rc<Parts>,
    state: State,
}

/// A workgroup that runs a function.
pub struct Workgroup {
    members: Vec<Member>,
    width: usize,
    function: FunctionId,
    /// Places of the blocks of functions that lanes diverged in.
    orders: HashMap<FunctionId, Vec<u32>>,
}

impl Workgroup {
    /// A workgroup at its start, with limits for each of its threads. Its local memories, and the private
    /// memory of each thread, are new and zero; global variables are each thread's own, with the values of the instance; all else is the instance's. Memories do not
    /// grow.
    ///
    /// # Errors
    /// A thread that has no room for its first frame.
    ///
    /// # Panics
    /// If the arguments are not those of the function, or a number is out of the range that [`Launch`] says.
    pub fn new(instance: &Instance, launch: &Launch, limits: &Limits) -> Result<Workgroup, Fault> {
        let width = launch.wave_width;
        assert!(width.is_power_of_two() && width as usize <= MAX_WAVE_WIDTH, "a wave of {width} lanes");
        let [x, y, z] = launch.workgroup_size;
        let count = x.checked_mul(y).and_then(|area| area.checked_mul(z)).filter(|&count| count > 0);
        let count = count.expect("a workgroup has threads, fewer than 2^32");
        let module = instance.module();
        let is_local = |memory: &&super::super::Memory| memory.space == Space::Local;
        let local: Vec<_> = module.memories.values().filter(is_local).map(LinearMemory::new).collect();
        let mut shared = Registers::alone();
        shared.set(Special::WaveWidth, width);
        shared.set(Special::NumWaves, count.div_ceil(width));
        for (first, values) in [
            (Special::WorkgroupIdX, launch.workgroup_id),
            (Special::WorkgroupSizeX, launch.workgroup_size),
            (Special::GridSizeX, launch.grid_size),
        ] {
            set_three(&mut shared, first, values);
        }
        let mut members = Vec::new();
        for number in 0..count {
            let mut registers = shared;
            set_three(&mut registers, Special::ThreadIdX, [number % x, number / x % y, number / x / y]);
            registers.set(Special::WaveId, number / width);
            registers.set(Special::LaneId, number % width);
            let parts = instance.view(&local);
            let thread = Thread::new(&parts, launch.function, &launch.arguments, *limits, registers)
                .map_err(|trapped| Fault::Trapped { thread: number, trapped })?;
            members.push(Member { thread, parts, state: State::Runs });
        }
        Ok(Workgroup { members, width: width as usize, function: launch.function, orders: HashMap::new() })
    }

    /// A thread's own global variable.
    pub fn global(&self, thread: u32, global: GlobalId) -> &Rc<GlobalCell> {
        &self.members[thread as usize].parts.globals[global.index()]
    }

    /// A memory, as the workgroup sees it.
    pub fn memory(&self, memory: MemoryId) -> &Rc<LinearMemory> {
        &self.members[0].parts.memories[memory.index()]
    }

    /// Runs all threads to their end, and gives the results of each.
    ///
    /// # Errors
    /// The first trap, or lanes of a wave at different barriers.
    pub fn run(&mut self) -> Result<Vec<Vec<Constant>>, Fault> {
        loop {
            for first in (0..self.members.len()).step_by(self.width) {
                let lanes = first..(first + self.width).min(self.members.len());
                for number in lanes.clone() {
                    self.turn(number)?;
                }
                self.wave_operation(lanes);
            }
            let mut states = self.members.iter().map(|member| &member.state);
            if states.clone().any(|state| matches!(state, State::Runs)) {
                continue;
            }
            if !states.any(|state| matches!(state, State::Waits(_))) {
                let results = |member: &Member| match &member.state {
                    State::Ended(results) => results.clone(),
                    _ => unreachable!("all have ended"),
                };
                return Ok(self.members.iter().map(results).collect());
            }
            self.barrier()?;
        }
    }

    /// Gives a thread its turn.
    fn turn(&mut self, number: usize) -> Result<(), Fault> {
        let member = &mut self.members[number];
        if !matches!(member.state, State::Runs) {
            return Ok(());
        }
        let stop = member.thread.run(TURN_STEPS);
        member.state = match stop.map_err(|trapped| Fault::Trapped { thread: number as u32, trapped })? {
            Stop::Paused => State::Runs,
            Stop::Finished(results) => State::Ended(results),
            stop @ (Stop::Barrier | Stop::Wave(..)) => State::Waits(stop),
        };
        Ok(())
    }

    /// Lets the lanes of a wave do a wave operation, if none of them runs.
    fn wave_operation(&mut self, lanes: std::ops::Range<usize>) {
        if self.members[lanes.clone()].iter().any(|member| matches!(member.state, State::Runs)) {
            return;
        }
        let mut behind: Option<(Vec<(u32, Position)>, Wave)> = None;
        for number in lanes.clone() {
            if let State::Waits(Stop::Wave(operation, _)) = self.members[number].state {
                let place = self.place_in_order(number);
                if behind.as_ref().is_none_or(|(least, _)| is_behind(&place, least)) {
                    behind = Some((place, operation));
                }
            }
        }
        let Some((place, operation)) = behind else { return };
        let positions: Vec<Position> = place.into_iter().map(|(_, position)| position).collect();
        let mut operands = vec![None; self.width];
        for number in lanes.clone() {
            let member = &self.members[number];
            if let State::Waits(Stop::Wave(_, own)) = &member.state
                && member.thread.positions() == positions
            {
                operands[number - lanes.start] = Some(*own);
            }
        }
        let results = wave::apply(operation, &operands);
        for (lane, _) in operands.iter().enumerate().filter(|(_, operands)| operands.is_some()) {
            let member = &mut self.members[lanes.start + lane];
            member.thread.resume(Some(results[lane]));
            member.state = State::Runs;
        }
    }

    /// Where the frames of a thread are, each with the place of its block in the order of its function.
    fn place_in_order(&mut self, number: usize) -> Vec<(u32, Position)> {
        let thread = &self.members[number].thread;
        let mut places = Vec::new();
        for (depth, position) in thread.positions().into_iter().enumerate() {
            let function = thread.function_at(depth);
            let order =
                self.orders.entry(position.function).or_insert_with(|| weak_topological_order(function));
            places.push((order[position.block.index()], position));
        }
        places
    }

    /// Opens the barrier at which all threads wait that have not ended.
    fn barrier(&mut self) -> Result<(), Fault> {
        for (first, lanes) in self.members.chunks(self.width).enumerate() {
            let waits = |member: &&Member| matches!(member.state, State::Waits(_));
            let mut waiting = lanes.iter().filter(waits).map(|member| member.thread.positions());
            let Some(one) = waiting.next() else { continue };
            if waiting.any(|other| other != one) {
                let number = lanes.iter().position(|member| waits(&member)).unwrap_or(0);
                let (function, place) = lanes[number].thread.place();
                let thread = (first * self.width + number) as u32;
                return Err(Fault::DivergentBarrier {
                    thread,
                    function: function.unwrap_or(self.function),
                    place,
                });
            }
        }
        for member in &mut self.members {
            if let State::Waits(_) = member.state {
                member.thread.resume(None);
                member.state = State::Runs;
            }
        }
        Ok(())
    }
}

/// Sets three special registers in a row.
fn set_three(registers: &mut Registers, first: Special, values: [u32; 3]) {
    for (i, value) in values.into_iter().enumerate() {
        registers.set(Special::ALL[first as usize + i], value);
    }
}

/// True if frames are before others in the order of the blocks; a frame that has called is behind its callee.
fn is_behind(a: &[(u32, Position)], b: &[(u32, Position)]) -> bool {
    let key = |&(place, position): &(u32, Position)| (position.function, place, position.instruction);
    a.iter().map(key).lt(b.iter().map(key))
}
