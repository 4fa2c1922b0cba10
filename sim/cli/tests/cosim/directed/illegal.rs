//! Slightly illegal words, each at the end of its own kernel.

use super::kernel;
use crate::bench::{Case, core};
use std::collections::BTreeSet;
use wave_isa::{Field, Op, OpInfo, Role, table::TABLE};
use wave_verify::rtl::Mode;

/// Registers of the kernels.
const REGISTERS: u32 = 32;

/// Bits of word 0 that select the operation: opcode and modifier.
const KEY: [u32; 12] = [4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31];

/// Illegal opcodes and modifiers that differ from a legal one in one bit.
fn keys() -> BTreeSet<u32> {
    let legal = |word: u32| Op::from_key((word >> 24) as u8, (word >> 4) as u8 & 15).is_some();
    let near = TABLE.iter().flat_map(|info| KEY.map(|bit| key(info) ^ 1 << bit));
    near.filter(|&word| !legal(word)).collect()
}

/// Word 0 of an operation whose operands are all 0.
pub(super) fn key(info: &OpInfo) -> u32 {
    u32::from(info.opcode) << 24 | u32::from(info.modifier) << 4
}

/// Operations with one field just out of range, some of each kind: a register past the last one (or with its
/// last row there), a missing predicate or special register, a reserved bit, a guard where none is allowed, a
/// call to outside the kernel.
fn fields() -> BTreeSet<[u32; 2]> {
    let mut words = BTreeSet::new();
    let mut met = BTreeSet::new();
    for info in TABLE.iter().filter(|info| !info.op.needs_f64() && !info.op.needs_mma()) {
        if info.op.rejects_guard() {
            words.extend([1, 2, 4].map(|guard| [key(info) | guard, 0]));
        }
        // One operation of each form.
        for operand in info.operands {
            if !met.insert((format!("{:?}", operand.field), format!("{:?}", operand.role))) {
                continue;
            }
            let bits = |from| (from..8).map(|bit| 1 << bit).collect::<Vec<u32>>();
            let past = |rows: u8| [&[REGISTERS + 1 - u32::from(rows)], bits(5).as_slice()].concat();
            let values = match operand.role {
                Role::PredDst | Role::PredSrc => bits(2),
                Role::PredSrcNeg => bits(3),
                Role::Special => vec![20, 24, 32, 64, 128],
                Role::Label => {
                    (0..32).map(|bit| 1 << bit).filter(|target| !matches!(target, 4 | 8)).collect()
                }
                Role::Dst(rows) | Role::Src(rows) => past(rows),
                Role::DstOptional | Role::DstBallot => past(1),
                _ => continue,
            };
            words.insert([key(info) | 8, 0]);
            if info.words() == 2 && !info.has_imm() {
                words.extend((2..8).map(|bit| [key(info), 1 << bit]));
            }
            words.extend(values.into_iter().map(|value| match operand.field {
                Field::Rd => [key(info) | value << 16, 0],
                Field::Rs1 => [key(info) | value << 8, 0],
                Field::Rs2 => [key(info), value << 24],
                Field::Rs3 => [key(info), value << 16],
                Field::Rs4 => [key(info), value << 8],
                _ => [key(info), value],
            }));
        }
    }
    words
}

/// All cases, by name: two instructions, then the illegal word.
pub(crate) fn cases() -> impl Iterator<Item = (String, Case)> {
    let missing = TABLE.iter().filter(|info| info.op.needs_f64() || info.op.needs_mma()).map(key);
    let words: BTreeSet<[u32; 2]> =
        keys().into_iter().chain(missing).map(|key| [key, 0]).chain(fields()).collect();
    words.into_iter().map(|[word0, word1]| {
        let mut case = Case::of(&kernel("mov_sr r2, sr_lane_id\nnop\nnop"), 8);
        let code = &mut case.program.code;
        code[1..3].copy_from_slice(&[word0, word1]);
        case.program.source = None;
        (format!("illegal word {word0:08x} {word1:08x}"), case)
    })
}

#[test]
fn illegal_words_end_both_sides_in_the_same_cycle() {
    let Some(core) = core() else { return };
    let mut count = 0;
    for (name, case) in cases() {
        match case.run_on(core, Mode::Cycle) {
            Ok(agreement) => assert!(agreement.fault, "{name} is legal"),
            Err(difference) => panic!("{name}: {difference}"),
        }
        count += 1;
    }
    println!("{count} illegal words");
    assert!(count > 1000);
}
