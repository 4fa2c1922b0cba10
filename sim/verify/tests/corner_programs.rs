//! Programs at the corners of the instruction set's rules, on the simulator, with and without timing, and on the
//! reference interpreter. Device memory, wave instructions and faults must agree on machines of every wave width, in
//! walk mode and in jump mode.

use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::{self, Config, DivergenceMode};
use wave_machine::functional::Limits;
use wave_machine::gpu::RunOptions;
use wave_verify::compare::{Difference, compare, execute, simulate};
use wave_verify::reference::Machine;

/// p1 is true in the lower half of the threads, p2 in odd threads, p3 in none. r1 is 1, r2 the thread, r3 is
/// 4 × the thread.
const START: &str = "mov_imm r1, 1
    mov_sr r2, sr_thread_id_x
    mov_sr r3, sr_workgroup_size_x
    shr r3, r3, r1
    ucmp_lt p1, r2, r3
    and r3, r2, r1
    icmp_eq p2, r3, r1
    icmp_ne p3, r1, r1
    iadd r3, r2, r2
    iadd r3, r3, r3
";

/// Each lane that gets here stores r10 and ends.
const END: &str = "device_store_u32 r3, r10\nhalt\n";

/// Bodies between start and end, and the code after the end.
const PROGRAMS: &[(&str, &str)] = &[
    // Divergence without faults.
    ("if p1\nmov_imm r10, 1\nelse\nmov_imm r10, 2\nelse\nmov_imm r10, 3\nendif", ""),
    (
        "if p3\nif p1\nelse\nbarrier\nhalt\nbreak p1\ncall f\nreturn\n.word 0xFFFFFFFF\nendif\nelse\nmov_imm r10, 1\nendif",
        "f: nop\nreturn",
    ),
    (
        "loop\niadd r10, r10, r1\nif p2\nbreak p1\niadd r10, r10, r1\nelse\n@p1 break !p2\nendif\nicmp_ge p3, r10, r2\nbreak p3\nendloop",
        "",
    ),
    (
        "loop\niadd r10, r10, r1\nucmp_ge p3, r10, r2\nbreak p3\nif p2\ncontinue p1\niadd r11, r11, r1\nendif\niadd r12, r12, r1\nendloop\nimad r10, r11, r2, r12",
        "",
    ),
    (
        "loop\nloop\nbreak p1\niadd r10, r10, r1\nbreak !p1\nendloop\niadd r11, r11, r1\nucmp_gt p3, r11, r2\nbreak p3\nendloop",
        "",
    ),
    ("if p1\n@p2 halt\nelse\nif p2\nreturn\nendif\nendif\nmov_imm r10, 5", ""),
    ("loop\n@p2 halt\niadd r10, r10, r1\nucmp_ge p3, r10, r2\nbreak p3\nendloop", ""),
    ("@p3 halt\n@p3 break p1\n@p3 continue p1\n@p3 barrier\n@!p3 barrier\nmov_imm r10, 1", ""),
    // Halts, and the end of the code, while lanes still wait at a construct.
    ("device_store_u32 r3, r2\nif p1\nhalt\nelse\nhalt\nendif", ""),
    ("device_store_u32 r3, r2\ncall f", "f: if p1\nhalt\nelse\nhalt\nendif\nnop\nreturn"),
    ("loop\ncall f\nendloop", "f: break p1\nbreak !p1\ndevice_store_u32 r3, r1\nif p1\nendif\nreturn"),
    ("device_store_u32 r3, r2\nif p1\nmov_imm r10, 7\ncall f\nendif", "f: device_store_u32 r3, r10"),
    ("call f", "f: mov_imm r10, 9\ndevice_store_u32 r3, r10\nif p3\nloop\nendif\nelse\nendloop"),
    // Calls: the deepest possible, one to the last word, and one into the middle of an instruction.
    (
        "call f\nmov_imm r10, 8",
        "f: call g\nreturn\ng: call h\nreturn\nh: call i\nreturn\ni: call j\nreturn\nj: call k\nreturn\nk: call l\nreturn\nl: call m\nreturn\nm: return",
    ),
    ("device_store_u32 r3, r2\n.word 0x3F000070, 0x68\n.word 0x41000010, 0x3F000090", ""),
    // Barriers that ended waves and halted lanes do not reach.
    ("if p1\nhalt\nendif\nbarrier\nbarrier\nmov_sr r10, sr_wave_id", ""),
    ("mov_sr r4, sr_wave_id\nicmp_ge p3, r4, r1\n@p3 halt\nbarrier\nmov_imm r10, 3", ""),
    (
        "local_store_u32 r3, r2\nbarrier\nmov_sr r4, sr_workgroup_size_x\nisub r4, r4, r1\nisub r4, r4, r2\niadd r4, r4, r4\niadd r4, r4, r4\nlocal_load_u32 r10, r4",
        "",
    ),
    // One fault per program.
    ("else", ""),
    ("if p1\nendloop", ""),
    ("loop\nbreak p1\nbreak !p1\nendif", ""),
    ("break p1", ""),
    ("@p2 continue p1", ""),
    ("call f", "f: call f"),
    ("call f", "f: loop\nreturn"),
    ("if p1\nbarrier\nendif", ""),
    ("if p1\n@p1 barrier\nendif", ""),
    ("@p3 dadd r62, r63, r0", ""),
    ("mov r64, r0", ""),
    (".word 0x3F000071, 0", ""),
    (".word 0x3F000070, 0x66", ""),
    (".word 0x3F000070, 0x10000", ""),
    (".word 0x4100FF20", ""),
    ("nop", ".word 0x04000000"),
    ("device_store_u32 r3, r2\ncall f", "f: .word 0x04000000"),
    ("mov_imm r4, 0xFFFFFFFE\ndevice_store_u16 r4, r4", ""),
    (
        "mov_imm r4, 4096\nisub r4, r4, r3\n@p2 device_load_u64 r6, r4\nisub r4, r4, r1\niadd r4, r4, r3\ndevice_load_u16 r6, r4",
        "",
    ),
    ("mov_imm r4, 1020\niadd r4, r4, r2\nlocal_store_u32 r4, r4", ""),
    ("local_atomic_add r4, r2, r2", ""),
    ("mov_imm r4, 4096\natomic_add r4, r4, .workgroup", ""),
    ("mov_imm r4, 970\nmov_imm r5, 16\nmma_load_b f0, r4, r5", ""),
];

/// Programs whose lanes access the same memory. They run with one wave, in which lanes act in lane order.
const ONE_WAVE: &[(&str, &str)] = &[
    (
        "device_store_u128 r2, r0\ndevice_store_u16 r1, r2\nmov_imm r5, 0\natomic_sub r6, r5, r2, .device\natomic_exchange r7, r5, r3, .system\natomic_cas r8, r5, r7, r2, .wave\nxor r10, r6, r7\nxor r10, r10, r8",
        "",
    ),
    (
        "mov_imm r4, 60\nlocal_store_u64 r2, r2\nlocal_store_u8 r1, r3\nmov_imm r5, 32\nlocal_atomic_max r6, r5, r2\n@p2 local_atomic_min r5, r1\nlocal_load_u64 r10, r1\nxor r10, r10, r11\nxor r10, r10, r6",
        "",
    ),
];

fn check(config: &Config, program: &Program, groups: u32, threads: u32) -> Result<(), Difference> {
    let launch = Launch {
        kernel: 0,
        grid: [groups, 1, 1],
        workgroup: [threads, 1, 1],
        registers: 64,
        local_memory_bytes: 1024,
        initial_registers: vec![(63, 0x1234_5678)],
    };
    let options = RunOptions { max_cycles: Some(1_000_000), ..RunOptions::UNBOUNDED };
    let machine = Machine::of(config);
    compare(program, &launch, &machine, &[0x5A; 4096], |program, launch, memory| {
        simulate(config, &options, program, launch, memory)
    })?;
    let limits = Limits { max_instructions: Some(1_000_000), ..Limits::default() };
    compare(program, &launch, &machine, &[0x5A; 4096], |program, launch, memory| {
        execute(config, &limits, program, launch, memory)
    })
}

#[test]
fn every_corner_is_the_same_on_every_machine() {
    let mut failures = Vec::new();
    for name in ["tiny", "rtl", "gpu", "mi300x"] {
        let mut config = config::load(name).expect("a preset");
        // Only the part of a large machine that the programs need.
        config.cores = config.cores.min(2);
        for divergence in [DivergenceMode::Walk, DivergenceMode::Jump] {
            config.core.divergence = divergence;
            let width = config.core.wave_width;
            let several = PROGRAMS.iter().map(|program| (program, 2, vec![1, width, 2 * width - 1]));
            let single = ONE_WAVE.iter().map(|program| (program, 1, vec![1, width - 3, width]));
            for ((body, rest), groups, sizes) in several.chain(single) {
                let text = format!(".kernel corner\n.registers 256\n{START}{body}\n{END}{rest}\n.end\n");
                let (program, _) =
                    assemble(&text, "corner.wave").unwrap_or_else(|e| panic!("{}", e[0].render(false)));
                for threads in sizes {
                    if let Err(difference) = check(&config, &program, groups, threads) {
                        failures.push(format!(
                            "{name}, {divergence:?}, {threads} threads: {difference}\n{body}\n…\n{rest}\n"
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
