//! Local memory of a core: data of its resident workgroups, banks and conflict passes.

use super::pattern::{Pattern, Side};
use super::{MemoryInstruction, lanes_of};
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use crate::config::Config;
use crate::core::Core;
use crate::core::probe::Probe;
use crate::core::uop::MicroOps;
use crate::isa::table::{AccessKind, MemoryOp};
use crate::isa::{MMA_DIM, MMA_FRAGMENTS, Op};
use std::ops::RangeInclusive;

/// What an access wants of a bank.
#[derive(Debug, Clone, Copy, Default)]
struct Bank {
    /// The access that this is about; of another one it is void.
    access: u64,
    /// The first word that it touches here.
    first: u32,
    /// Words to serve, one a pass.
    passes: u32,
}

/// Banks at most.
const MAX_BANKS: usize = 256;

/// Local memory of a core. Each resident workgroup has its own part.
#[derive(Debug, Clone)]
pub struct LocalMemory {
    bytes: Vec<u8>,
    /// Bytes of one workgroup's part.
    part: usize,
    poison: u8,
    bank_mask: u32,
    /// log2 of the bytes of a bank's word.
    word_shift: u32,
    banks: Vec<Bank>,
    /// Accesses so far; the banks know by it what is theirs.
    access: u64,
    /// Distinct words of an access beside the first of each bank.
    conflicts: Vec<u32>,
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
            banks: vec![Bank::default(); banks as usize],
            access: 0,
            conflicts: Vec::new(),
        }
    }

    /// Gives a workgroup's part the contents that a new workgroup finds.
    pub fn poison(&mut self, workgroup: usize) {
        let poison = self.poison;
        self.part_mut(workgroup).fill(poison);
    }

    fn part_mut(&mut self, workgroup: usize) -> &mut [u8] {
        &mut self.bytes[workgroup * self.part..][..self.part]
    }

    /// Passes over the banks that an access needs: each bank serves one word a pass. Lanes that touch
    /// one word share its pass, but for atomics, which act one after the other. Addresses are those
    /// of the participating lanes; a word's bank is (address / `bank_bytes`) mod banks.
    pub fn passes(&mut self, addresses: &[u32], memory: MemoryOp) -> u32 {
        if matches!(memory.kind, AccessKind::Atomic(_)) {
            return self.passes_by_words(addresses, memory.bytes, true);
        }
        // What some lanes touch and others touch again costs nothing: in a tile, half of the lanes often do as the
        // other half.
        let mut lanes = addresses.len();
        while lanes.is_multiple_of(2) && addresses[..lanes / 2] == addresses[lanes / 2..lanes] {
            lanes /= 2;
        }
        let addresses = &addresses[..lanes];
        if u32::from(memory.bytes) == 1 << self.word_shift && self.conflict_free(addresses) {
            return 1;
        }
        self.passes_by_words(addresses, memory.bytes, false)
    }

    /// True if accesses of a bank's width are aligned and no two of them touch different words of a bank.
    fn conflict_free(&self, addresses: &[u32]) -> bool {
        let mut last = [0; MAX_BANKS];
        let word = |address: u32| address >> self.word_shift;
        let bank = |address: u32| (word(address) & self.bank_mask) as usize & (MAX_BANKS - 1);
        // Both without a branch: where two words meet in a bank, the second takes the place of the first.
        addresses.iter().for_each(|&address| last[bank(address)] = word(address));
        let differ = |differ, &address: &u32| differ | (last[bank(address)] << self.word_shift ^ address);
        addresses.iter().fold(0, differ) == 0
    }

    fn passes_by_words(&mut self, addresses: &[u32], bytes: u8, atomic: bool) -> u32 {
        self.access += 1;
        self.conflicts.clear();
        let mut longest = 1;
        let mut last = None;
        for &address in addresses {
            // Lanes that read one address are the usual case of a wide access.
            if last.replace(address) == Some(address) && !atomic {
                continue;
            }
            let last_byte = address + u32::from(bytes) - 1;
            for word in address >> self.word_shift..=last_byte >> self.word_shift {
                let bank = &mut self.banks[(word & self.bank_mask) as usize];
                if bank.access != self.access {
                    *bank = Bank { access: self.access, first: word, passes: 1 };
                } else if atomic {
                    bank.passes += 1;
                    longest = longest.max(bank.passes);
                } else if bank.first != word && !self.conflicts.contains(&word) {
                    self.conflicts.push(word);
                    bank.passes += 1;
                    longest = longest.max(bank.passes);
                }
            }
        }
        longest
    }

    /// [`passes`](Self::passes) of an access that touches every byte of a span: its words go round the banks.
    pub fn passes_of_span(&self, span: RangeInclusive<u64>) -> u32 {
        let words = (span.end() >> self.word_shift) - (span.start() >> self.word_shift) + 1;
        (words as u32).div_ceil(self.bank_mask + 1)
    }
}

impl Core {
    /// The last pass of a local access: values move, and the result is on its way.
    pub(super) fn perform_local<P: Probe>(&mut self, now: Cycle, index: u16, ops: &MicroOps, probe: &mut P) {
        let lsu = &mut self.lsu;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let workgroup = self.waves.waves[instruction.slot].workgroup;
        let bytes = self.local.part_mut(workgroup);
        let width = self.width;
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
                let rows = &mut self.fragments[fragment * FRAGMENT_ROWS * width..][..FRAGMENT_ROWS * width];
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
            let retired = instruction.retired();
            lsu.free.push(index);
            self.retire_access(now, retired, ops, probe);
        }
    }
}

fn load(instruction: &mut MemoryInstruction, memory: &[u8], width: usize) {
    if let Pattern::Consecutive { first } = instruction.pattern {
        let side = Side { words: instruction.words(), width, lanes: 0..width };
        return side.copy_from(&memory[first as usize..], &mut instruction.outputs);
    }
    let mask = instruction.mask;
    let (addresses, outputs) = (&instruction.inputs[..width], &mut instruction.outputs[..2 * width]);
    let (low, high) = outputs.split_at_mut(width);
    match instruction.memory.bytes {
        4 => {
            if let Pattern::Uniform { address } = instruction.pattern {
                return low.fill(u32::from_le_bytes(*at(memory, address)));
            }
            for_lanes(mask, width, |lane| low[lane] = u32::from_le_bytes(*at(memory, addresses[lane])));
        }
        8 => for_lanes(mask, width, |lane| {
            let value = u64::from_le_bytes(*at(memory, addresses[lane]));
            (low[lane], high[lane]) = (value as u32, (value >> 32) as u32);
        }),
        2 => for_lanes(mask, width, |lane| {
            low[lane] = u16::from_le_bytes(*at(memory, addresses[lane])).into();
        }),
        _ => for_lanes(mask, width, |lane| low[lane] = memory[addresses[lane] as usize].into()),
    }
}

fn store(instruction: &MemoryInstruction, memory: &mut [u8], width: usize) {
    let (addresses, values) = instruction.inputs.split_at(width);
    if let Pattern::Consecutive { first } = instruction.pattern {
        let side = Side { words: instruction.words(), width, lanes: 0..width };
        return side.copy_to(values, &mut memory[first as usize..]);
    }
    let (low, high) = values[..2 * width].split_at(width);
    let mask = instruction.mask;
    match instruction.memory.bytes {
        4 => for_lanes(mask, width, |lane| *at_mut(memory, addresses[lane]) = low[lane].to_le_bytes()),
        8 => for_lanes(mask, width, |lane| {
            let value = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            *at_mut(memory, addresses[lane]) = value.to_le_bytes();
        }),
        2 => for_lanes(mask, width, |lane| {
            *at_mut(memory, addresses[lane]) = (low[lane] as u16).to_le_bytes();
        }),
        _ => for_lanes(mask, width, |lane| memory[addresses[lane] as usize] = low[lane] as u8),
    }
}

/// Does something for each lane of a mask, lowest first.
#[inline(always)]
fn for_lanes(mask: u64, width: usize, act: impl FnMut(usize)) {
    if mask == u64::MAX >> (64 - width) {
        (0..width).for_each(act);
    } else {
        lanes_of(mask).for_each(act);
    }
}

/// Bytes of memory at an address that is known to be good.
#[inline(always)]
fn at<const N: usize>(memory: &[u8], address: u32) -> &[u8; N] {
    memory[address as usize..].first_chunk().expect("the address was checked")
}

/// The same, to write to.
#[inline(always)]
fn at_mut<const N: usize>(memory: &mut [u8], address: u32) -> &mut [u8; N] {
    memory[address as usize..].first_chunk_mut().expect("the address was checked")
}

fn atomic(instruction: &mut MemoryInstruction, memory: &mut [u8], width: usize) {
    let AccessKind::Atomic(op) = instruction.memory.kind else { return };
    for lane in lanes_of(instruction.mask) {
        let target = &mut memory[instruction.inputs[lane] as usize..][..4];
        let old = u32::from_le_bytes([target[0], target[1], target[2], target[3]]);
        let (operand, swap) = (instruction.inputs[width + lane], instruction.inputs[2 * width + lane]);
        target.copy_from_slice(&op.apply(old, operand, swap).to_le_bytes());
        instruction.outputs[lane] = old;
    }
}

/// Moves each lane's 4×4 tile between local memory and its fragment's rows.
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
