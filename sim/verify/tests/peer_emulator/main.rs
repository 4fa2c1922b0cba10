//! The published emulator of this instruction set (crates `wave-asm` and `wave-emu` 0.1.2) and our assembler
//! and reference interpreter, on the same assembly text: where they agree, and each point where the published
//! one deviates. `docs/deviations.md` lists the deviations; each of its titles is a test here.

mod agreement;
mod arithmetic;
mod control;
mod memory;

use std::panic::{AssertUnwindSafe, catch_unwind};
use wave_emu::{Emulator, EmulatorConfig};
use wave_isa::program::{Launch, assemble};
use wave_verify::reference::{self, Machine, Options};

/// A kernel text, its launch and its device memory, for both sides. The kernel has 32 registers and no other
/// directives; the launch gives the workgroup size.
struct Bench {
    text: String,
    groups: u32,
    threads: u32,
    wave_width: u32,
    local_bytes: u32,
    f64: bool,
    memory: Vec<u8>,
}

impl Bench {
    /// One workgroup of 8 threads in a wave of 8 lanes, 256 bytes of local and 256 bytes of device memory.
    fn new(body: &str) -> Bench {
        Bench {
            text: format!(".kernel test\n.registers 32\n{body}\n.end\n"),
            groups: 1,
            threads: 8,
            wave_width: 8,
            local_bytes: 256,
            f64: true,
            memory: vec![0; 256],
        }
    }

    /// A body after which each lane stores r10 at 4 × its thread index. r1 is the lane, r2 is 1, and p1 is
    /// true in lanes 0 to 3.
    fn per_lane(body: &str) -> Bench {
        Bench::new(&format!("{PER_LANE_START}{body}{PER_LANE_END}"))
    }

    /// Runs kernel `index` on the published emulator. Returns how it ended, and device memory.
    fn peer_kernel(&self, index: usize) -> (Result<(), String>, Vec<u8>) {
        let binary = match wave_asm::assemble(&self.text, "test.wave") {
            Ok(assembled) => assembled.binary,
            Err(error) => return (Err(error.to_string()), self.memory.clone()),
        };
        let mut emulator = Emulator::new(EmulatorConfig {
            grid_dim: [self.groups, 1, 1],
            workgroup_dim: [self.threads, 1, 1],
            register_count: 32,
            local_memory_size: self.local_bytes as usize,
            device_memory_size: self.memory.len(),
            wave_width: self.wave_width,
            trace_enabled: false,
            f64_enabled: self.f64,
            max_instructions: 100_000,
            initial_registers: Vec::new(),
        });
        let result = catch_unwind(AssertUnwindSafe(|| {
            emulator.load_binary(&binary)?;
            emulator.load_device_memory(0, &self.memory)?;
            emulator.run_kernel(index).map(|_| ())
        }));
        let result = match result {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("panic".to_owned()),
        };
        let memory = emulator.read_device_memory(0, self.memory.len()).expect("all of memory");
        (result, memory)
    }

    /// Runs a kernel on the reference interpreter of this project.
    fn ours_kernel(&self, kernel: usize) -> (Result<(), String>, Vec<u8>) {
        let mut memory = self.memory.clone();
        let program = match assemble(&self.text, "test.wave") {
            Ok((program, _)) => program,
            Err(problems) => return (Err(problems[0].message.clone()), memory),
        };
        let launch = Launch {
            kernel,
            grid: [self.groups, 1, 1],
            workgroup: [self.threads, 1, 1],
            registers: 32,
            local_memory_bytes: self.local_bytes,
            initial_registers: Vec::new(),
        };
        let machine = Machine {
            wave_width: self.wave_width,
            f64: self.f64,
            mma: false,
            divergence_depth: 32,
            call_depth: 8,
            local_poison: 0,
        };
        let options = Options { max_instructions: 100_000, ..Options::default() };
        let result = reference::run(&program, &launch, &machine, &options, &mut memory);
        (result.map(|_| ()).map_err(|stop| stop.to_string()), memory)
    }

    fn peer(&self) -> (Result<(), String>, Vec<u8>) {
        self.peer_kernel(0)
    }

    fn ours(&self) -> (Result<(), String>, Vec<u8>) {
        self.ours_kernel(0)
    }

    /// Runs both sides to their end. Returns the first 8 words of both memories, the published emulator's
    /// first.
    fn words(&self) -> ([u32; 8], [u32; 8]) {
        let [peer, ours] = [self.peer(), self.ours()].map(|(result, memory)| {
            assert_eq!(result, Ok(()), "{}", self.text);
            std::array::from_fn(|n| word(&memory, 4 * n))
        });
        (peer, ours)
    }

    /// Asserts that both sides end with the same memory.
    fn agree(&self) {
        let (peer, ours) = (self.peer(), self.ours());
        assert_eq!(peer.0, Ok(()), "{}", self.text);
        assert_eq!(peer, ours, "{}", self.text);
    }

    /// Asserts the words that the lanes store on the published emulator and on ours.
    #[track_caller]
    fn deviate(&self, peer: [u32; 8], ours: [u32; 8]) {
        assert_ne!(peer, ours);
        assert_eq!(self.words(), (peer, ours), "{}", self.text);
    }
}

const PER_LANE_START: &str = "mov_sr r1, sr_lane_id\nmov_imm r2, 1\nmov_imm r3, 4\nicmp_lt p1, r1, r3\n";
const PER_LANE_END: &str = "\nmov_sr r31, sr_thread_id_x\nmov_imm r30, 2\nshl r31, r31, r30
                            device_store_u32 r31, r10\nhalt";

fn word(memory: &[u8], address: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|n| memory[address + n]))
}
