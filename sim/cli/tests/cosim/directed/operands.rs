//! Every operation of the execution units on operands that are likely to matter: special values, ties, numbers
//! that cancel.

use crate::bench::Case;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::table::TABLE;
use wave_isa::{ExecClass, Field, Op, OpInfo, Role};
use wave_testing::operands::{Kind, kind};

/// Threads, which fill all slots of the small core. Each has other operands.
const THREADS: u32 = 32;

/// First register of the operands, and registers of the results.
const OPERANDS: u32 = 8;
const RESULTS: std::ops::Range<u32> = 12..48;

/// Kernels: name, operations, sets of operands for each thread.
type Kernel = (&'static str, fn(&OpInfo) -> bool, u32);
const KERNELS: &[Kernel] = &[
    ("integers", |info| kind(info.op) == Kind::Integer && is_fast(info), 30),
    ("single precision", |info| kind(info.op) == Kind::Single && is_fast(info), 30),
    ("half precision", |info| kind(info.op) == Kind::Half && is_fast(info), 30),
    ("bfloat", |info| kind(info.op) == Kind::Bfloat && is_fast(info), 30),
    ("special functions", |info| info.class == ExecClass::Sfu, 60),
    ("special functions at length", |info| matches!(info.op, Op::FExp2 | Op::FLog2), 400),
    ("division of integers", |info| info.class == ExecClass::IntDiv, 20),
    ("division and roots", |info| info.class == ExecClass::Fp32Div, 40),
    ("multiplication and addition", |info| ADDERS.contains(&info.op), 100),
];

/// Operations of the adders, whose faults show for few operands.
const ADDERS: [Op; 6] = [Op::FAdd, Op::FSub, Op::FMul, Op::Fma, Op::FFract, Op::FRound];

/// An operation of a pipelined unit.
fn is_fast(info: &OpInfo) -> bool {
    use ExecClass::{Convert, Fp16, Fp32, Int, IntMul, Wave};
    matches!(info.class, Int | IntMul | Convert | Wave | Fp32 | Fp16)
}

/// The operation as a line, or None if it takes more than registers, predicates and a number.
fn line(info: &OpInfo, result: u32, rng: &mut Pcg64Mcg) -> Option<String> {
    let mut operands = Vec::new();
    for operand in info.operands {
        operands.push(match operand.role {
            Role::Dst(1) | Role::DstOptional | Role::DstBallot => format!("r{result}"),
            Role::Src(1) => match operand.field {
                Field::Rs1 => format!("r{OPERANDS}"),
                Field::Rs2 => format!("r{}", OPERANDS + 1),
                Field::Rs3 => format!("r{}", OPERANDS + 2),
                _ => format!("r{}", OPERANDS + 3),
            },
            Role::PredDst | Role::PredSrc | Role::PredSrcNeg => format!("p{}", rng.random_range(1..4)),
            Role::Imm => format!("{:#x}", rng.next_u32()),
            _ => return None,
        });
    }
    // Operations among the lanes of a wave know which of them take part. A predicate shows in the lanes that take part.
    let guards = match info.class {
        ExecClass::Wave => ["@p1 ", "@!p2 ", ""],
        _ if info.operands.first().is_some_and(|operand| operand.role == Role::PredDst) => [""; 3],
        _ => ["", "", "@p1 "],
    };
    Some(format!("{}{} {}\n", guards[rng.random_range(0..3)], info.mnemonic, operands.join(", ")))
}

/// A set of operands: special ones, such as matter to the class, or random ones.
fn tuple(kind: Kind, class: ExecClass, rng: &mut Pcg64Mcg) -> [u32; 4] {
    let single = |value: f64| (value as f32).to_bits();
    match (rng.random_range(0..9), class) {
        (0, _) => [kind.special()[rng.random_range(0..kind.special().len())]; 4],
        (1..3, _) => {
            let special = kind.special();
            [(); 4].map(|()| {
                let mut pick = || special[rng.random_range(0..special.len())];
                let (low, high) = (pick(), pick());
                if kind.high_half() == 0 { low } else { low | high << kind.high_half() }
            })
        }
        // Zeros and the numbers beside them, of either sign.
        (3, _) => [(); 4].map(|()| rng.random_range(0..2) | rng.random_range(0..2) << 31),
        // A product exactly between two numbers, and an addend far below it.
        (4, ExecClass::Fp32) => {
            let factor = |odd: u32| 0x3F80_0000 | (odd << 1 | 1) << 11;
            let [a, b] = [(); 2].map(|()| factor(rng.random_range(0..1 << 10)));
            [a, b, rng.random_range(0..63 << 23) | rng.random_range(0..2) << 31, 0]
        }
        // Near multiples of pi/2, and where the exponential has a result.
        (4, ExecClass::Sfu) => {
            [single(f64::from(rng.random_range(1..700u32)) * std::f64::consts::FRAC_PI_2); 4]
        }
        (5, ExecClass::Sfu) => [(); 4].map(|()| single(rng.random_range(-152.0..130.0))),
        // Quotients below the least normal number, of which some are ties.
        (4, ExecClass::Fp32Div) => {
            [rng.random_range(1..64), 0x4000_0000 + 0x80_0000 * rng.random_range(0..5), 0, 0]
        }
        (5, ExecClass::Fp32Div) => {
            let fractions = [(); 2].map(|()| rng.next_u32() & 0x7f_ffff);
            [
                fractions[0] + 0x80_0000 * rng.random_range(0..24),
                fractions[1] + 0x80_0000 * rng.random_range(127..150),
                0,
                0,
            ]
        }
        _ => kind.random_tuple(rng),
    }
}

/// Each thread loads a set of operands, performs all operations on it, and goes on with the next set.
fn case(operations: fn(&OpInfo) -> bool, sets: u32) -> Case {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    let infos: Vec<&OpInfo> = TABLE.iter().filter(|info| operations(info)).collect();
    let mut results = RESULTS.cycle();
    let lines: String = infos.iter().filter_map(|info| line(info, results.next()?, &mut rng)).collect();
    let stride = 16 * THREADS;
    let text = format!(
        ".kernel k\n.registers 48\n.local_memory 64
        mov_sr r2, sr_thread_id_x
        mov_imm r3, 16
        imul r2, r2, r3
        mov_imm r3, {stride}
        mov_imm r4, {}
        loop
          device_load_u128 r{OPERANDS}, r2
          iadd r2, r2, r3
          {lines}
          ucmp_ge p0, r2, r4
          break p0
        endloop
        halt\n.end\n",
        stride * sets
    );
    let (format, class) = (kind(infos[0].op), infos[0].class);
    let memory = (0..THREADS * sets).flat_map(|_| tuple(format, class, &mut rng));
    Case { memory: memory.flat_map(u32::to_le_bytes).collect(), ..Case::of(&text, THREADS) }
}

/// All cases, by name.
pub(crate) fn cases() -> impl Iterator<Item = (String, Case)> {
    KERNELS.iter().map(|&(name, operations, sets)| (format!("operands: {name}"), case(operations, sets)))
}

#[test]
fn every_operation_agrees_on_operands_that_matter() {
    for (name, case) in cases() {
        println!("{name}: {} cycles", case.agrees().cycles);
    }
}
