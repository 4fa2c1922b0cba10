//! Programs of random words, for faults: legal and illegal instructions in any order, at good and at wild addresses.
//!
//! They run with one wave, so they have no race, and their fault is the same on every machine. Nothing keeps them from
//! running for ever.

use super::Case;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::program::{Launch, Program, assemble};
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
/// What every program begins with: r1 is 512 + 4 × the lane, p1 is true in lanes 0 and 1, p2 in all, and p3 in all but the
/// first workgroup.
const START: &str = "mov_sr r4, sr_lane_id\nmov_imm r5, 2\nshl r6, r4, r5\niadd r1, r1, r6\nicmp_lt p1, r4, r5\n\
    icmp_eq p2, r4, r4\nmov_sr r7, sr_workgroup_id_x\nicmp_ne p3, r7, r8\n";
/// Instructions after the start.
const LENGTH: std::ops::RangeInclusive<u32> = 4..=40;

/// Control instructions, the frequent ones more than once.
const CONTROL: [Op; 19] = [
    Op::If,
    Op::If,
    Op::If,
    Op::If,
    Op::Else,
    Op::EndIf,
    Op::Loop,
    Op::Loop,
    Op::Break,
    Op::Continue,
    Op::EndLoop,
    Op::Call,
    Op::Call,
    Op::Return,
    Op::Return,
    Op::Halt,
    Op::Barrier,
    Op::Barrier,
    Op::Barrier,
];

/// A program of random words for one wave of `width` lanes.
pub fn words(seed: u64, width: u32) -> Case {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let length = rng.random_range(LENGTH);
    let start = program(&[]).code.len() as u32;
    let mut code = Vec::new();
    for _ in 0..length {
        let next = start + code.len() as u32;
        match rng.random_range(0..100) {
            // A subroutine, which perhaps returns out of a construct.
            0..3 => {
                let mut call = Inst::new(Op::Call);
                call.imm = (next + call.words()) * WORD_BYTES;
                put(&mut code, &call);
                (0..rng.random_range(0..3)).for_each(|_| construct(&mut rng, length, &mut code));
                put(&mut code, &Inst::new(Op::Return));
            }
            3..6 => (0..rng.random_range(2..5)).for_each(|_| construct(&mut rng, length, &mut code)),
            _ => instruction(&mut rng, length, &mut code),
        }
    }
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
    Case { program: program(&code), launch, memory }
}

/// The program whose kernel has these words behind its start.
fn program(code: &[u32]) -> Program {
    let mut text = format!(".kernel k\n.registers {REGISTERS}\n.local_memory {LOCAL_BYTES}\n{START}");
    code.iter().for_each(|word| text += &format!(".word 0x{word:08x}\n"));
    text += ".end\n";
    assemble(&text, "words.wave").expect("words assemble").0
}

fn put(code: &mut Vec<u32>, inst: &Inst) {
    code.extend(&inst.encode()[..inst.words() as usize]);
}

/// The beginning of an `if` or a loop.
fn construct(rng: &mut Pcg64Mcg, length: u32, code: &mut Vec<u32>) {
    put(code, &random(rng, length, &|op| matches!(op, Op::If | Op::Loop)));
}

/// An instruction of a kernel of about so many. It may be illegal.
fn instruction(rng: &mut Pcg64Mcg, length: u32, code: &mut Vec<u32>) {
    let inst = match rng.random_range(0..100) {
        0..3 => return code.push(rng.random_range(0..=u32::MAX)),
        3..35 => random(rng, length, &|op| op.memory().is_some()),
        35..60 => {
            let op = CONTROL[rng.random_range(0..CONTROL.len())];
            random(rng, length, &|other| other == op)
        }
        _ => random(rng, length, &|op| op.memory().is_none() && !CONTROL.contains(&op)),
    };
    let first = code.len();
    put(code, &inst);
    if rng.random_range(0..40) == 0 {
        code[first] ^= 1 << rng.random_range(0..32);
    }
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
                inst.imm = rng.random_range(0..length * 2) * WORD_BYTES;
                continue;
            }
        };
        inst.set_field(operand.field, value);
    }
    inst
}
