//! What a state that is put back into a load/store unit has to satisfy.

use super::instruction::MAX_LOAD_ROWS;
use super::pattern::Pattern;
use super::{Head, Lsu, MemoryInstruction, Owner, acknowledges};
use crate::alu::MAX_SOURCE_ROWS;
use crate::clock::{Cycle, may_plan};
use crate::core::context::Contexts;
use crate::core::uop::{Kind, MicroOp};
use crate::core::wave::Waves;
use crate::memory::Response;
use wave_capture::Misfit;
use wave_isa::table::{AccessKind, Space};
use wave_isa::{MMA_FRAGMENTS, Op};

/// What the load/store unit has to know of its core.
pub(in crate::core) struct Around<'a> {
    pub(in crate::core) now: Cycle,
    /// Wave slots that have registers.
    pub(in crate::core) slots: usize,
    /// Whose instructions they are. Each has a context that is there.
    pub(in crate::core) waves: &'a Waves,
    pub(in crate::core) contexts: &'a Contexts,
}

impl Lsu {
    /// Refuses what the unit cannot hold.
    pub(in crate::core) fn check(&self, around: &Around) -> Result<(), Misfit> {
        let count = self.instructions.len();
        Misfit::in_range(count <= usize::from(u16::MAX), "instructions")?;
        Misfit::in_range(self.queue.len() <= self.queue_entries, "queue")?;
        Misfit::in_range(self.pending <= self.pending_entries, "pending")?;
        Misfit::in_range(self.returning <= self.return_entries, "returning")?;
        let on_the_way = || self.local_results.iter().chain(self.reading()).map(|(_, index)| index);
        let mut indices = self.free.iter().chain(&self.queue).chain(&self.returns).chain(on_the_way());
        Misfit::in_range(indices.all(|&index| usize::from(index) < count), "instructions")?;
        // An instruction is free, in the queue, on its way from local memory or the banks of the L1, or returns.
        let mut listed = vec![0; count];
        for &index in self.free.iter().chain(&self.queue).chain(&self.returns).chain(on_the_way()) {
            listed[usize::from(index)] += 1;
        }
        Misfit::agrees(listed.iter().all(|&times| times <= 1), "instructions")?;
        let is_free = |index: usize| self.free.contains(&(index as u16));
        for (index, instruction) in self.instructions.iter().enumerate().filter(|(index, _)| !is_free(*index))
        {
            let starts = self.queue.front() == Some(&(index as u16)) && self.head != Head::Idle;
            let waits = self.queue.contains(&(index as u16)) && !starts;
            self.check_instruction(instruction, waits, around)
                .map_err(|misfit| misfit.within(&format!("instructions.{index}")))?;
        }
        Misfit::agrees(self.head == Head::Idle || !self.queue.is_empty(), "head")?;
        let plans = match self.head {
            Head::Local(ends) => ends >= around.now && may_plan(around.now, ends),
            Head::Idle | Head::Device => true,
        };
        Misfit::in_range(plans, "head")?;
        if let (Head::Local(_) | Head::Device, Some(&index)) = (self.head, self.queue.front()) {
            let is_local = self.instructions[usize::from(index)].memory.space == Space::Local;
            Misfit::agrees(is_local == matches!(self.head, Head::Local(_)), "head")?;
        }
        if let Some(index) = self.sending {
            let sends = self.instructions.get(usize::from(index)).filter(|_| !is_free(usize::from(index)));
            let sends =
                sends.is_some_and(|it| it.memory.space == Space::Device && it.next_line < it.group_end);
            Misfit::agrees(sends, "sending")?;
        }
        let rows = self.returns.front().map(|&index| {
            let it = &self.instructions[usize::from(index)];
            around.waves.op(it.slot, it.word, around.contexts).rows.destination_rows
        });
        Misfit::in_range(self.return_row < rows.unwrap_or(1).max(1), "return_row")?;
        let mut returns = self.returns.iter().map(|&index| &self.instructions[usize::from(index)]);
        Misfit::agrees(returns.all(|it| it.returns), "returns")?;
        let mut local = self.local_results.iter().map(|&(at, _)| at).chain([self.local_result_at]);
        Misfit::in_range(local.all(|at| may_plan(around.now, at)), "local_results")?;
        let mut read = self.reading().map(|(_, index)| &self.instructions[usize::from(*index)]);
        Misfit::agrees(read.all(|it| it.returns), "banked")?;
        self.banked.as_ref().map_or(Ok(()), |banked| banked.check(around.now))
    }

    /// Refuses an instruction that its word is not. `waits`: it is in the queue, and nothing is known of its addresses.
    fn check_instruction(&self, it: &MemoryInstruction, waits: bool, around: &Around) -> Result<(), Misfit> {
        let width = self.width;
        let lanes = u64::MAX >> (64 - width);
        Misfit::in_range(it.slot < around.slots, "slot")?;
        let context = around.contexts.of(around.waves.waves[it.slot].context);
        Misfit::in_range(it.word < context.ops.end(), "word")?;
        Misfit::in_range(it.mask != 0 && it.mask & !lanes == 0, "mask")?;
        Misfit::in_range(it.inputs.len() == MAX_SOURCE_ROWS * width, "inputs")?;
        Misfit::in_range(it.outputs.len() == MAX_LOAD_ROWS * width, "outputs")?;
        let op = context.ops.get(it.word);
        Misfit::agrees(is_of(it, op), "word")?;
        if waits {
            return Ok(());
        }
        let (size, is_local) = match it.memory.space {
            Space::Local => (u64::from(context.launch().local_memory_bytes), true),
            Space::Device => (self.device_bytes, false),
        };
        Misfit::in_range(it.check(size, width).is_ok(), "inputs")?;
        let found = Pattern::of(it.memory, it.mask, &it.inputs[..width]);
        Misfit::agrees(it.pattern == found || it.pattern == Pattern::default(), "pattern")?;
        if is_local {
            return Ok(());
        }
        let mut again = it.clone();
        again.find_lines(width, (self.line_bytes, self.sector_bytes));
        self.tag_banks.arrange(&mut again.lines);
        Misfit::agrees(again.lines == it.lines, "lines")?;
        Misfit::in_range(it.next_line <= it.lines.len(), "next_line")?;
        Misfit::in_range(it.group_end <= it.lines.len(), "group_end")?;
        Misfit::in_range(it.outstanding as usize <= it.next_line, "outstanding")
    }

    /// True if an access of this owner belongs to an instruction in the unit that waits for its values.
    fn is_known(&self, owner: Owner) -> bool {
        let it = self.instructions.get(owner.instruction());
        let is_free = self.free.iter().any(|&free| usize::from(free) == owner.instruction());
        let knows = |it: &MemoryInstruction| it.is_outside() && owner.line() < it.next_line;
        it.is_some_and(|it| !is_free && knows(it))
    }

    /// Refuses counts of accesses that are not those of the responses to come. Returns the acknowledgements among these,
    /// by epoch.
    pub(in crate::core) fn check_awaited(
        &self,
        awaited: impl Iterator<Item = Response>,
    ) -> Result<[u32; 2], Misfit> {
        let (mut outstanding, mut epochs) = (vec![0; self.instructions.len()], [0; 2]);
        for response in awaited {
            let owner = Owner(response.owner);
            if let Some(epoch) = acknowledges(response) {
                *epochs.get_mut(epoch).ok_or_else(|| Misfit::new("is no epoch"))? += 1;
            } else if !owner.has(Owner::POSTED) {
                Misfit::in_range(self.is_known(owner), "owner")?;
                outstanding[owner.instruction()] += 1;
            }
        }
        let (mut pending, mut returning) = (0, 0);
        for (index, (it, outstanding)) in self.instructions.iter().zip(outstanding).enumerate() {
            let index = index as u16;
            if self.free.contains(&index) {
                continue;
            }
            let starts = self.queue.front() == Some(&index) && self.head != Head::Idle;
            returning += u32::from(it.returns && (starts || !self.queue.contains(&index)));
            if it.is_outside() && (starts || !self.queue.contains(&index)) {
                Misfit::agrees(it.outstanding == outstanding, "outstanding")?;
                let is_over = self.returns.contains(&index);
                Misfit::agrees(is_over == (outstanding == 0 && it.next_line == it.lines.len()), "returns")?;
                pending += u32::from(it.next_line > 0 && !is_over);
            }
        }
        Misfit::agrees(self.pending == pending, "pending")?;
        Misfit::agrees(self.returning == returning, "returning")?;
        Ok(epochs)
    }

    /// The instructions in the unit: slot, and whether each returns values.
    pub(in crate::core) fn accesses(&self) -> impl Iterator<Item = (usize, bool)> {
        let used =
            self.instructions.iter().enumerate().filter(|(index, _)| !self.free.contains(&(*index as u16)));
        used.map(|(_, it)| (it.slot, it.returns))
    }
}

impl MemoryInstruction {
    /// True if it accesses device memory and returns values.
    fn is_outside(&self) -> bool {
        self.memory.space == Space::Device && self.returns
    }
}

/// True if an instruction is that of a micro-operation.
fn is_of(it: &MemoryInstruction, op: &MicroOp) -> bool {
    let Kind::Memory(memory) = op.kind else { return false };
    let fragment = if op.inst.op == Op::MmaStoreC { op.inst.rs2 } else { op.inst.rd };
    let is_tile = memory.kind == AccessKind::Tile;
    it.memory == memory
        && it.scope == op.inst.scope
        && it.returns == (op.rows.destination_rows > 0)
        && it.fragment == fragment
        && (!is_tile || usize::from(it.fragment) < MMA_FRAGMENTS)
}
