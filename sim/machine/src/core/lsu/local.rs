//! Local memory of a core: the data of its resident workgroups, banks and conflict passes.

use super::pattern::{Side, copy_lanes, lanes_from};
use super::{MemoryInstruction, lanes_of};
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use crate::config::Config;
use crate::core::Core;
use crate::core::probe::Probe;
use crate::core::uop::MicroOps;
use wave_capture::Capture;
use wave_isa::table::{AccessKind, AtomicOp, MemoryOp};
use wave_isa::{MMA_DIM, MMA_FRAGMENTS, Op};

/// Most banks.
const MAX_BANKS: usize = 256;

/// Local memory of a core. Each resident workgroup has a part of its own.
#[derive(Debug, Clone, Capture)]
pub struct LocalMemory {
    bytes: Vec<u8>,
    /// Bytes of one workgroup's part.
    #[spec]
    part: usize,
    #[spec]
    poison: u8,
    #[spec]
    bank_mask: u32,
    /// log2 of the bytes of a bank's word.
    #[spec]
    word_shift: u32,
    /// Per bank, the word that the current pass serves. Only entries written in the current pass are read.
    #[scratch]
    served: [u32; MAX_BANKS],
    /// Words not served yet.
    #[scratch]
    waiting: Vec<u32>,
}

impl LocalMemory {
    /// Memory for `workgroups` parts of `part` bytes.
    pub fn new(config: &Config, workgroups: usize, part: u32) -> LocalMemory {
        let banks = config.core.local.banks;
        LocalMemory {
            bytes: vec![0; workgroups * part as usize],
            part: part as usize,
            poison: config.core.local_poison,
            bank_mask: banks - 1,
            word_shift: config.core.local.bank_bytes.trailing_zeros(),
            served: [0; MAX_BANKS],
            waiting: Vec::new(),
        }
    }

    /// Fills a workgroup's part with the poison that a new workgroup finds.
    pub fn poison(&mut self, workgroup: usize) {
        let poison = self.poison;
        self.part_mut(workgroup).fill(poison);
    }

    /// A workgroup's part.
    pub fn part_of(&self, workgroup: usize) -> &[u8] {
        &self.bytes[workgroup * self.part..][..self.part]
    }

    fn part_mut(&mut self, workgroup: usize) -> &mut [u8] {
        &mut self.bytes[workgroup * self.part..][..self.part]
    }

    /// Passes over the banks that an access needs (L2). Each bank serves one word a pass. Lanes that touch
    /// one word share its pass; atomics take a pass each. `addresses` are those of the participating lanes.
    pub fn passes(&mut self, addresses: &[u32], memory: MemoryOp) -> u32 {
        let atomic = matches!(memory.kind, AccessKind::Atomic(_));
        let words = |&address: &u32| {
            (address >> self.word_shift, (address + u32::from(memory.bytes) - 1) >> self.word_shift)
        };
        self.waiting.clear();
        if u32::from(memory.bytes) == 1 << self.word_shift
            && addresses.iter().fold(0, |low, address| low | address).trailing_zeros() >= self.word_shift
        {
            self.waiting.extend(addresses.iter().map(|address| address >> self.word_shift));
        } else {
            self.waiting.extend(addresses.iter().map(words).flat_map(|(first, last)| first..=last));
        }
        if atomic { self.most_of_a_bank() } else { self.passes_of_waiting() }
    }

    /// Passes over the banks until all waiting words are served.
    fn passes_of_waiting(&mut self) -> u32 {
        let bank = |word: u32| (word & self.bank_mask) as usize % MAX_BANKS;
        let mut passes = 0;
        while !self.waiting.is_empty() {
            passes += 1;
            // Branch-free: of several words in a bank the last in the list is served, for all lanes that want
            // it.
            for &word in &self.waiting {
                self.served[bank(word)] = word;
            }
            let mut left = 0;
            for i in 0..self.waiting.len() {
                let word = self.waiting[i];
                self.waiting[left] = word;
                left += usize::from(self.served[bank(word)] != word);
            }
            self.waiting.truncate(left);
        }
        passes
    }

    /// The largest number of waiting words in one bank.
    fn most_of_a_bank(&mut self) -> u32 {
        let banks = &mut self.served[..=self.bank_mask as usize];
        banks.fill(0);
        for &word in &self.waiting {
            banks[(word & self.bank_mask) as usize] += 1;
        }
        banks.iter().copied().fold(0, u32::max)
    }

    /// Bytes of a bank's word.
    pub fn bank_bytes(&self) -> u32 {
        1 << self.word_shift
    }
}

impl Core {
    /// The last pass of a local access: moves the values and schedules the result.
    pub(super) fn perform_local<P: Probe>(&mut self, now: Cycle, index: u16, ops: &MicroOps, probe: &mut P) {
        let lsu = &mut self.lsu;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let workgroup = self.waves.waves[instruction.slot].workgroup;
        let bytes = self.local.part_mut(workgroup);
        let width = self.spec.width;
        let has_result = match instruction.memory.kind {
            AccessKind::Load => {
                load(instruction, bytes, width);
                true
            }
            AccessKind::Store => {
                store(instruction, bytes, width);
                false
            }
            AccessKind::Atomic(_) => {
                atomic(instruction, bytes, width);
                instruction.returns
            }
            AccessKind::Tile => {
                let op = ops.get(instruction.word).inst.op;
                let kind = match op {
                    Op::MmaLoadA => 0,
                    Op::MmaLoadB => 1,
                    _ => 2,
                };
                let fragment =
                    (instruction.slot * 3 + kind) * MMA_FRAGMENTS + usize::from(instruction.fragment);
                let at = fragment * FRAGMENT_ROWS * width;
                let rows = &mut self.file.fragments[at..][..FRAGMENT_ROWS * width];
                if self.file.journal.is_kept() && op != Op::MmaStoreC {
                    let it = instruction.in_flight();
                    self.file.journal.overwrites_fragment(it, at, rows);
                    self.file.journal.is_written(it, now + lsu.local_latency);
                }
                tile(instruction, op == Op::MmaStoreC, bytes, rows, width);
                op != Op::MmaStoreC
            }
        };
        if has_result {
            if lsu.local_results.is_empty() {
                lsu.local_result_at = now + lsu.local_latency;
            }
            lsu.local_results.push_back((now + lsu.local_latency, index));
        } else {
            let retired = instruction.in_flight();
            lsu.free.push(index);
            self.retire_access(now, retired, ops, probe);
        }
    }
}

fn load(instruction: &mut MemoryInstruction, memory: &[u8], width: usize) {
    let MemoryInstruction { mask, pattern, ref inputs, ref mut outputs, .. } = *instruction;
    let (addresses, bytes) = (&inputs[..width], instruction.memory.bytes);
    if bytes < 4 {
        let low = &mut outputs[..width];
        return for_lanes(mask, |lane| {
            low[lane] = match bytes {
                2 => u16::from_le_bytes(*at(memory, addresses[lane])).into(),
                _ => memory[addresses[lane] as usize].into(),
            };
        });
    }
    let words = usize::from(bytes) / 4;
    // Lanes behind the first period get the values of that period.
    let period = if pattern.period > 0 { pattern.period as usize } else { width };
    let lanes = mask & lanes_from(0, period);
    copy_lanes((pattern, lanes), words, memory, |lane| addresses[lane] as usize, outputs, width);
    if period < width {
        for row in outputs.chunks_exact_mut(width).take(words) {
            let mut known = period;
            while known < width {
                row.copy_within(..known, known);
                known *= 2;
            }
        }
    }
}

fn store(instruction: &MemoryInstruction, memory: &mut [u8], width: usize) {
    let (addresses, values) = instruction.inputs.split_at(width);
    let MemoryInstruction { mask, pattern, .. } = *instruction;
    if pattern.joined != 0 && pattern.in_runs {
        let words = instruction.words();
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let run = pattern.run(lane);
            rest &= !lanes_from(lane, run.lanes);
            // Where lanes write to one place, the highest wins.
            let after = lane + run.lanes;
            let lanes = if run.same { after - 1..after } else { lane..after };
            Side { words, width, lanes }.copy_to(values, &mut memory[addresses[lane] as usize..]);
        }
        return;
    }
    let (low, high) = values[..2 * width].split_at(width);
    match instruction.memory.bytes {
        4 => for_lanes(mask, |lane| *at_mut(memory, addresses[lane]) = low[lane].to_le_bytes()),
        8 => for_lanes(mask, |lane| {
            let value = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            *at_mut(memory, addresses[lane]) = value.to_le_bytes();
        }),
        2 => for_lanes(mask, |lane| {
            *at_mut(memory, addresses[lane]) = (low[lane] as u16).to_le_bytes();
        }),
        _ => for_lanes(mask, |lane| memory[addresses[lane] as usize] = low[lane] as u8),
    }
}

/// Calls `act` for each lane of a mask, lowest first.
#[inline(always)]
fn for_lanes(mask: u64, act: impl FnMut(usize)) {
    if mask & mask.wrapping_add(1) == 0 {
        (0..mask.trailing_ones() as usize).for_each(act);
    } else {
        lanes_of(mask).for_each(act);
    }
}

/// Bytes of memory at an address that has passed the check.
#[inline(always)]
fn at<const N: usize>(memory: &[u8], address: u32) -> &[u8; N] {
    memory[address as usize..].first_chunk().expect("the address was checked")
}

/// [`at`] for writing.
#[inline(always)]
fn at_mut<const N: usize>(memory: &mut [u8], address: u32) -> &mut [u8; N] {
    memory[address as usize..].first_chunk_mut().expect("the address was checked")
}

fn atomic(instruction: &mut MemoryInstruction, memory: &mut [u8], width: usize) {
    let AccessKind::Atomic(op) = instruction.memory.kind else { return };
    let MemoryInstruction { mask, ref inputs, ref mut outputs, .. } = *instruction;
    let (addresses, operands) = inputs.split_at(width);
    let (operands, swaps) = operands[..2 * width].split_at(width);
    let old = &mut outputs[..width];
    if op == AtomicOp::Add {
        // A loop of its own: addition is the most frequent atomic, and a lane takes only a few host
        // instructions.
        for lane in lanes_of(mask) {
            let word = at_mut(memory, addresses[lane]);
            old[lane] = u32::from_le_bytes(*word);
            *word = old[lane].wrapping_add(operands[lane]).to_le_bytes();
        }
        return;
    }
    for lane in lanes_of(mask) {
        let word = at_mut(memory, addresses[lane]);
        old[lane] = u32::from_le_bytes(*word);
        *word = op.apply(old[lane], operands[lane], swaps[lane]).to_le_bytes();
    }
}

/// Copies each lane's 4×4 tile between local memory and the rows of its fragment.
fn tile(instruction: &MemoryInstruction, store: bool, memory: &mut [u8], fragment: &mut [u32], width: usize) {
    for lane in lanes_of(instruction.mask) {
        let (base, stride) = (instruction.inputs[lane], instruction.inputs[width + lane]);
        for element in 0..FRAGMENT_ROWS {
            let (i, j) = (element / MMA_DIM, element % MMA_DIM);
            let address = base.wrapping_add(stride.wrapping_mul(i as u32)) as usize + 4 * j;
            let word = &mut memory[address..][..4];
            let value = &mut fragment[element * width + lane];
            if store {
                word.copy_from_slice(&value.to_le_bytes());
            } else {
                *value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            }
        }
    }
}
