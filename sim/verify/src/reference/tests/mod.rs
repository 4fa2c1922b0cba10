//! Expectations derived by hand from the text of the instruction set.

mod arithmetic;
mod control;
mod faults;
mod memory;
mod waves;

use super::{FinalWave, Machine, Options, Order, Stop, run};
use wave_isa::program::{Fault, Launch, Program, assemble};

/// A kernel and its environment: one workgroup of 8 threads in a wave of 8 lanes, 64 registers, 256 bytes of
/// local memory and 1024 of device memory, unless a test says otherwise.
struct Bench {
    program: Program,
    launch: Launch,
    machine: Machine,
    order: Order,
    memory: Vec<u8>,
}

/// Result of a run.
struct Ran {
    instructions: u64,
    waves: Vec<FinalWave>,
    memory: Vec<u8>,
}

impl Bench {
    fn new(body: &str) -> Bench {
        let text = format!(".kernel test\n.registers 64\n{body}\n.end\n");
        let (program, _) = match assemble(&text, "test.wave") {
            Ok(assembled) => assembled,
            Err(problems) => panic!("{}", problems[0].render(false)),
        };
        Bench {
            program,
            launch: Launch {
                kernel: 0,
                grid: [1, 1, 1],
                workgroup: [8, 1, 1],
                registers: 64,
                local_memory_bytes: 256,
                initial_registers: Vec::new(),
            },
            machine: Machine {
                wave_width: 8,
                f64: true,
                mma: true,
                divergence_depth: 32,
                call_depth: 8,
                local_poison: 0xCD,
            },
            order: Order::RoundRobin(u32::MAX),
            memory: vec![0; 1024],
        }
    }

    /// A kernel with the lane number in r60, and p1 and p2 true in the lanes of `p1` and `p2`. Its 12
    /// instructions count.
    fn with_lanes(p1: u32, p2: u32, body: &str) -> Bench {
        Bench::new(&format!(
            "mov_sr r60, sr_lane_id
             mov_imm r61, 1
             mov_imm r62, {p1}
             shr r62, r62, r60
             and r62, r62, r61
             icmp_eq p1, r62, r61
             mov_imm r62, {p2}
             shr r62, r62, r60
             and r62, r62, r61
             icmp_eq p2, r62, r61
             mov_imm r62, 0
             nop
             {body}"
        ))
    }

    fn registers(mut self, values: &[(u8, u32)]) -> Bench {
        self.launch.initial_registers = values.to_vec();
        self
    }

    fn try_run(mut self) -> Result<Ran, Stop> {
        let options = Options { max_instructions: 20_000, order: self.order, keep_state: true };
        let outcome = run(&self.program, &self.launch, &self.machine, &options, &mut self.memory)?;
        Ok(Ran { instructions: outcome.instructions, waves: outcome.waves, memory: self.memory })
    }

    fn run(self) -> Ran {
        self.try_run().unwrap_or_else(|stop| panic!("{stop}"))
    }

    fn fault(self) -> Fault {
        match self.try_run() {
            Err(Stop::Fault(fault)) => fault,
            Err(stop) => panic!("{stop}"),
            Ok(_) => panic!("no fault"),
        }
    }

    /// Byte offset of the instruction in the line with `marker` in a comment.
    fn pc_of(&self, marker: &str) -> u32 {
        let source = self.program.source.as_ref().expect("from text");
        let line = source.text.lines().position(|l| l.contains(marker)).expect("a marked line") as u32 + 1;
        4 * source.lines.iter().position(|&l| l == line).expect("an instruction") as u32
    }
}

impl Ran {
    /// Register `r` of a lane of the first wave.
    fn r(&self, lane: usize, r: usize) -> u32 {
        self.waves[0].lanes[lane].registers[r]
    }

    /// Register `r` of every lane of the first wave.
    fn row(&self, r: usize) -> Vec<u32> {
        self.waves[0].lanes.iter().map(|l| l.registers[r]).collect()
    }

    /// The lanes of the first wave in which predicate `p` is true.
    fn mask(&self, p: usize) -> u64 {
        self.waves[0].lanes.iter().enumerate().map(|(n, l)| u64::from(l.predicates[p]) << n).sum()
    }

    /// A word of device memory.
    fn word(&self, address: usize) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|n| self.memory[address + n]))
    }
}
