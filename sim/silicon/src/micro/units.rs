//! Execution units, barriers, loops, workgroups.

use super::{Figure, Kernel, Memory, Micro, OUT_BYTES, Says, Shape, Topic, four, kernel_text, rounds};
use wave_isa::ExecClass;
use wave_ptx::WAVE_WIDTH;

/// How often instructions are repeated in the two kernels.
const REPEATS: [u32; 2] = [16, 32];
/// Rounds of the loop around them.
const ROUNDS: u32 = 4;
/// Chains of a wave that do not depend on one another.
const CHAINS: u32 = 8;

/// Bits of f32 and f64.
const ONE: u32 = 0x3F80_0000;
const ONE_WIDE: u32 = 0x3FF0_0000;
/// 1 in f16.
const ONE_HALF: u32 = 0x3C00;

/// A class: an instruction that takes a result of the one before, with `{}` for the register; and start values of its
/// registers, of the chain, r1, r2 and r3. Of f64 a register stands for a pair.
struct Chain {
    class: ExecClass,
    name: &'static str,
    step: &'static [&'static str],
    start: u32,
    others: [u32; 3],
    wide: bool,
}

/// Integers add and change bits in turn, so that no two steps can become one.
const CHAINS_OF: [Chain; 11] = [
    Chain {
        class: ExecClass::Int,
        name: "int",
        step: &["iadd {}, {}, r1", "xor {}, {}, r2"],
        start: 1,
        others: [3, 5, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::IntMul,
        name: "int_mul",
        step: &["imad {}, {}, r1, r2"],
        start: 1,
        others: [3, 5, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::IntDiv,
        name: "int_div",
        step: &["idiv {}, {}, r1", "imod {}, {}, r2"],
        start: 0x7FFF_1234,
        others: [1, 0x7FFF_FFFF, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::Fp32,
        name: "fp32",
        step: &["fadd {}, {}, r1", "fmul {}, {}, r2"],
        start: ONE,
        others: [0, ONE, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::Fp32Div,
        name: "fp32_div",
        step: &["fdiv {}, {}, r1"],
        start: ONE,
        others: [ONE, 0, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::Fp16,
        name: "fp16",
        step: &["hadd {}, {}, r1", "hmul {}, {}, r2"],
        start: ONE_HALF,
        others: [0, ONE_HALF, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::Fp64,
        name: "fp64",
        step: &["dadd {}, {}, r2"],
        start: ONE_WIDE,
        others: [0, 0, 0],
        wide: true,
    },
    Chain {
        class: ExecClass::Fp64Div,
        name: "fp64_div",
        step: &["ddiv {}, {}, r2"],
        start: ONE_WIDE,
        others: [0, 0, ONE_WIDE],
        wide: true,
    },
    Chain {
        class: ExecClass::Convert,
        name: "convert",
        step: &["cvt_f32_i32 {}, {}", "cvt_i32_f32 {}, {}"],
        start: 77,
        others: [0, 0, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::Sfu,
        name: "sfu",
        step: &["fsin {}, {}"],
        start: ONE,
        others: [0, 0, 0],
        wide: false,
    },
    Chain {
        class: ExecClass::Wave,
        name: "wave",
        step: &["wave_shuffle {}, {}, r1"],
        start: 77,
        others: [1, 0, 0],
        wide: false,
    },
];

impl Chain {
    /// So many steps of so many chains, one after the other.
    fn steps(&self, chains: u32, repeats: u32) -> String {
        let mut text = String::new();
        for step in 0..repeats {
            for chain in 0..chains {
                let register = format!("r{}", Chain::register(chain));
                text += &self.step[step as usize % self.step.len()].replace("{}", &register);
                text.push('\n');
            }
        }
        text
    }

    /// The register, or the first of the pair, of a chain.
    fn register(chain: u32) -> u32 {
        10 + 2 * chain
    }

    /// A kernel of so many waves, each with so many chains.
    fn kernel(&self, chains: u32, repeats: u32, groups: u32, waves: u32) -> Kernel {
        let mut text = String::new();
        for chain in 0..chains {
            let register = Chain::register(chain) + u32::from(self.wide);
            // Each chain has a value of its own, or the compiler would join them.
            text += &format!("mov_imm r8, {chain}\niadd r{register}, r4, r8\n");
            if self.wide {
                text += &format!("mov_imm r{}, 0\n", register - 1);
            }
        }
        text += &rounds(&self.steps(chains, repeats));
        // All results are stored, in one place.
        for chain in 1..chains {
            text += &format!("xor r10, r10, r{}\n", Chain::register(chain));
        }
        if self.wide {
            text += "xor r10, r10, r11\n";
        }
        text += "mov_imm r9, 0\ndevice_store_u32 r9, r10\n";
        let [a, b, c] = self.others;
        let arguments = vec![ROUNDS, a, b, c, self.start];
        Kernel {
            text: kernel_text(&text),
            groups,
            threads: waves * WAVE_WIDTH,
            local_memory_bytes: 0,
            arguments,
        }
    }
}

/// Two kernels without data whose counts differ.
fn two(of: impl Fn(u32) -> Kernel, counts: [u32; 2]) -> [Kernel; 2] {
    counts.map(of)
}

/// All of them.
pub(super) fn all(shape: &Shape) -> Vec<Micro> {
    let memory = Memory::Zeros(OUT_BYTES);
    let more = f64::from((REPEATS[1] - REPEATS[0]) * ROUNDS);
    let mut all = Vec::new();
    let chains = || {
        let there =
            |chain: &&Chain| shape.f64 || !matches!(chain.class, ExecClass::Fp64 | ExecClass::Fp64Div);
        CHAINS_OF.iter().filter(there)
    };
    for chain in chains() {
        all.push(Micro {
            topic: Topic::Units,
            name: format!("{}, from one to the next", chain.name),
            kernels: four(two(|repeats| chain.kernel(1, repeats, 1, 1), REPEATS)),
            memory,
            figure: Figure::CyclesPer(more),
            says: Some(Says::ClassLatency(chain.class)),
            unit: "cycles",
        });
    }
    for chain in chains() {
        all.push(Micro {
            topic: Topic::Units,
            name: format!("{}, a core full of waves", chain.name),
            kernels: four(two(|repeats| chain.kernel(CHAINS, repeats, 1, shape.waves), REPEATS)),
            memory,
            figure: Figure::PerCycle(more * f64::from(CHAINS * shape.waves)),
            says: Some(Says::ClassPasses(chain.class)),
            unit: "instructions a cycle",
        });
    }
    let empty = |groups: u32, rounds_of: u32, body: &str, waves: u32, local: u32| Kernel {
        text: kernel_text(&format!("{}mov_imm r9, 0\ndevice_store_u32 r9, r10\n", rounds(body))),
        groups,
        threads: waves * WAVE_WIDTH,
        local_memory_bytes: local,
        arguments: vec![rounds_of],
    };
    let control = |name: &str, kernels: Vec<Kernel>, figure, says, unit| Micro {
        topic: Topic::Control,
        name: name.to_owned(),
        kernels,
        memory,
        figure,
        says,
        unit,
    };
    all.push(control(
        "a round of a loop",
        two(|count| empty(1, count, "iadd r10, r10, r30\n", 1, 0), [64, 128]).into(),
        Figure::CyclesPer(64.0),
        Some(Says::Key("core.branch_latency_cycles")),
        "cycles",
    ));
    let mut waves = vec![1, shape.waves];
    waves.dedup();
    for waves in waves {
        all.push(control(
            &format!("a barrier of {waves} waves"),
            four(two(|count| empty(1, 16, &"barrier\n".repeat(count as usize), waves, 0), [16, 32])),
            Figure::CyclesPer(256.0),
            None,
            "cycles",
        ));
    }
    all.push(control(
        "a workgroup on each core",
        two(|count| empty(count * shape.cores, 1, "", 1, 0), [32, 64]).into(),
        Figure::CyclesPer(32.0),
        None,
        "cycles",
    ));
    // Local memory for four workgroups: the fifth waits until one of them has ended. A GPU keeps a little for itself.
    let quarter = (shape.local_bytes / 4).saturating_sub(1024) & !255;
    for count in [4, 5] {
        let body = "iadd r10, r10, r30\n".repeat(64);
        all.push(control(
            &format!("{count} workgroups a core with a quarter of local memory each, against one"),
            two(|count| empty(count * shape.cores, 16, &body, 1, quarter), [1, count]).into(),
            Figure::Ratio,
            None,
            "times",
        ));
    }
    all
}
