//! Every operation of lane arithmetic without timing, in waves of 32 lanes: a loop of 32 of them, with and without a guard
//! that half of the lanes pass. An operation that the compiler has not put into the host's vector instructions shows as
//! many times slower than its like; the tests cannot see it, because they are built in another profile.

use crate::run::{Timed, fastest, launch_of};
use std::time::Instant;
use wave_isa::operand::Role;
use wave_isa::table::TABLE;
use wave_isa::{ExecClass, Op};
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, Limits};

const TURNS: usize = 3;
const WORKGROUPS: u32 = 16;
const ROUNDS: u32 = 64;

/// Assembly of an operation on registers that the kernel has filled; `None` if it is no lane arithmetic.
fn text(op: Op, index: u32) -> Option<String> {
    // `nop` and `barrier` have no operands.
    if op.info().class == ExecClass::Control || op.memory().is_some() || op.info().operands.is_empty() {
        return None;
    }
    let mut source = 4;
    let operand = |role| {
        Some(match role {
            Role::Dst(_) | Role::DstBallot => format!("r{}", 16 + 2 * (index % 4)),
            Role::Src(_) => {
                source += 2;
                format!("r{}", source - 2)
            }
            Role::PredDst => "p2".to_owned(),
            Role::PredSrc | Role::PredSrcNeg => "p1".to_owned(),
            Role::Imm => "1.5".to_owned(),
            _ => return None,
        })
    };
    let operands = op.info().operands.iter().map(|operand| operand.role).map(operand);
    let operands: Vec<String> = operands.collect::<Option<_>>()?;
    Some(format!("{} {}", op.info().mnemonic, operands.join(", ")))
}

/// A loop of this operation, in all lanes or, `guarded`, in every other one. None if there is no such operation.
fn kernel(op: Op, guarded: bool) -> Option<String> {
    let guard = if guarded { "@p1 " } else { "" };
    let body: Option<String> =
        (0..32).map(|index| Some(format!("        {guard}{}\n", text(op, index)?))).collect();
    Some(format!(
        "\
.kernel operation
.registers 24
.workgroup_size 256, 1, 1
    mov_sr  r4, sr_thread_id_x
    mov_imm r1, 1
    and     r2, r4, r1
    icmp_eq p1, r2, r1
    cvt_f32_u32 r4, r4
    mov     r5, r4
    mov     r6, r4
    mov     r7, r4
    mov     r8, r4
    mov     r9, r4
    mov     r10, r4
    mov     r11, r4
    mov_imm r2, 0
    loop
        ucmp_ge p0, r2, r3
        break   p0
{}        iadd    r2, r2, r1
    endloop
    halt
.end
",
        body?
    ))
}

fn rate(config: &Config, text: &str) -> f64 {
    let (program, launch) = launch_of(text, WORKGROUPS, &[(3, ROUNDS)]);
    let run = || {
        let start = Instant::now();
        let limits = Limits::default();
        let report = functional::run(config, &program, &launch, &mut [0; 4096], &limits, &mut |_| ())
            .expect("it ends");
        let seconds = start.elapsed().as_secs_f64();
        Timed { seconds, instructions: report.counters.wave_instructions, cycles: 0, bytes: 0 }
    };
    fastest(TURNS, run).rate()
}

pub(crate) fn part() {
    let mut config = config::load("gpu").expect("a preset");
    config.capabilities.f64 = true;
    let of = |op, guarded| kernel(op, guarded).map(|text| rate(&config, &text));
    let moves = of(Op::Mov, false).expect("a move is lane arithmetic");
    println!("| operation | M/s | times as long as mov | with a guard |");
    println!("|---|---|---|---|");
    let mut count = 0;
    for op in TABLE.iter().map(|row| row.op) {
        let (Some(plain), Some(guarded)) = (of(op, false), of(op, true)) else { continue };
        let (plain_ratio, guarded_ratio) = (moves / plain, moves / guarded);
        println!("| {} | {plain:.1} | {plain_ratio:.1} | {guarded_ratio:.1} |", op.info().mnemonic);
        count += 1;
    }
    assert!(count > 100, "{count} operations are not all");
}
