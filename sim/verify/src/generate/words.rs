//! Programs of random words, for faults: legal and illegal instructions in any order, at good and at wild addresses.
//!
//! They run with one wave, so they have no race, and their fault is the same on every machine. Nothing keeps them from
//! running for ever.

use super::Case;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::program::{Launch, assemble};
use wave_isa::table::TABLE;
use wave_isa::{Guard, Inst, Op, Role, WORD_BYTES};

/// Registers of a kernel.
const REGISTERS: u8 = 32;
/// The first registers hold addresses, and few instructions write them: a good one, one of each lane, a wild one, and one
/// that is no multiple of 4.
const ADDRESSES: [u8; 4] = [0, 1, 2, 3];
/// Which of them an access takes: of so many, the first with an address up to this one.
const SHARES: [(u32, u8); 4] = [(6, 0), (11, 1), (12, 2), (14, 3)];
/// Bytes of device memory, and of local memory.
const DEVICE_BYTES: usize = 4096;
const LOCAL_BYTES: u32 = 1024;
/// What every program begins with: r1 is 512 + 4 × the lane, p1 is true in lanes 0 and 1, p2 in all.
const START: &str = "mov_sr r4, sr_lane_id\nmov_imm r5, 2\nshl r6, r4, r5\niadd r1, r1, r6\nicmp_lt p1, r4, r5\nicmp_eq p2, r4, r4\n";
/// Instructions after the start.
const LENGTH: std::ops::RangeInclusive<u32> = 4..=40;

/// Control instructions, the frequent ones more than once.
const CONTROL: [Op; 16] = [
    Op::If,
    Op::If,
    Op::If,
    Op::Else,
    Op::EndIf,
    Op::EndIf,
    Op::Loop,
    Op::Loop,
    Op::Break,
    Op::Continue,
    Op::EndLoop,
    Op::Call,
    Op::Call,
    Op::Return,
    Op::Halt,
    Op::Barrier,
];

/// A program of random words for one wave of `width` lanes.
pub fn words(seed: u64, width: u32) -> Case {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let length = rng.random_range(LENGTH);
    let mut text = format!(".kernel k\n.registers {REGISTERS}\n.local_memory {LOCAL_BYTES}\n{START}");
    for _ in 0..length {
        for word in instruction(&mut rng, length) {
            text += &format!(".word 0x{word:08x}\n");
        }
    }
    text += ".end\n";
    let (program, _) = assemble(&text, "words.wave").expect("words assemble");
    let threads = if rng.random_range(0..3) == 0 { rng.random_range(1..=width) } else { width };
    let memory = (0..DEVICE_BYTES).map(|_| rng.random_range(0..=u8::MAX)).collect();
    let launch = Launch {
        kernel: 0,
        grid: [1, 1, 1],
        workgroup: [threads, 1, 1],
        registers: REGISTERS.into(),
        local_memory_bytes: LOCAL_BYTES,
        initial_registers: vec![(0, 256), (1, 512), (2, 0x7FFF_FFF0), (3, 513)],
    };
    Case { program, launch, memory }
}

/// The words of an instruction of a kernel of about so many.
fn instruction(rng: &mut Pcg64Mcg, length: u32) -> Vec<u32> {
    let inst = match rng.random_range(0..100) {
        0..3 => return vec![rng.random_range(0..=u32::MAX)],
        3..35 => random(rng, length, &|op| op.memory().is_some()),
        35..60 => {
            let op = CONTROL[rng.random_range(0..CONTROL.len())];
            random(rng, length, &|other| other == op)
        }
        _ => random(rng, length, &|op| op.memory().is_none() && !CONTROL.contains(&op)),
    };
    let mut words = inst.encode()[..inst.words() as usize].to_vec();
    if rng.random_range(0..40) == 0 {
        words[0] ^= 1 << rng.random_range(0..32);
    }
    words
}

/// A random instruction with such an operation.
fn random(rng: &mut Pcg64Mcg, length: u32, wanted: &dyn Fn(Op) -> bool) -> Inst {
    let those: Vec<Op> = TABLE.iter().map(|info| info.op).filter(|&op| wanted(op)).collect();
    let op = those[rng.random_range(0..those.len())];
    let mut inst = Inst::new(op);
    if !op.rejects_guard() && rng.random_range(0..3) == 0 {
        let predicate = rng.random_range(1..=3);
        inst.guard = Guard { predicate, negated: rng.random_range(0..4) == 0 };
    }
    let mut is_address = op.memory().is_some();
    for operand in op.info().operands {
        let value = match operand.role {
            Role::Src(_) if std::mem::take(&mut is_address) => {
                let share = rng.random_range(0..15);
                let of = SHARES.iter().find(|(below, _)| share < *below);
                of.map_or_else(
                    || rng.random_range(0..REGISTERS),
                    |&(_, register)| ADDRESSES[usize::from(register)],
                )
            }
            Role::Src(rows) => rng.random_range(0..=REGISTERS - rows),
            Role::Dst(rows) => {
                let first = if rng.random_range(0..30) == 0 { 0 } else { ADDRESSES.len() as u8 };
                rng.random_range(first..=REGISTERS - rows)
            }
            Role::DstOptional => rng.random_range(0..2) * rng.random_range(4..REGISTERS),
            Role::DstBallot => rng.random_range(4..REGISTERS - 1),
            Role::PredDst | Role::PredSrc => rng.random_range(0..4),
            Role::PredSrcNeg => rng.random_range(0..8),
            Role::Special => rng.random_range(0..20),
            Role::Scope => rng.random_range(0..4),
            Role::FragA | Role::FragB | Role::FragC => rng.random_range(0..8),
            Role::Imm => {
                inst.imm =
                    [rng.random_range(0..=u32::MAX), rng.random_range(0..1024)][rng.random_range(0..2)];
                continue;
            }
            Role::Label => {
                inst.imm = rng.random_range(0..length * 3 / 2) * WORD_BYTES;
                continue;
            }
        };
        inst.set_field(operand.field, value);
    }
    inst
}
