//! A tool of one's own in fifty lines: runs a kernel cycle by cycle and prints the wave instructions per cycle of
//! every thousand cycles.
//!
//!     cargo run --release --example ipc [CONFIG]

use wave_isa::program::{Launch, assemble};
use wave_machine::config;
use wave_machine::gpu::{Machine, RunOptions, Stop};

/// y = a x + y; r0 and r1 have the addresses of x and y, r2 has a, r3 the number of elements.
const KERNEL: &str = include_str!("../../kernels/saxpy.wave");
const ELEMENTS: u32 = 1 << 16;

fn main() {
    let name = std::env::args().nth(1).unwrap_or("gpu.ron".to_owned());
    let config = config::load(&name).unwrap_or_else(|errors| {
        eprintln!("{}", errors[0]);
        std::process::exit(2)
    });
    let (program, _warnings) = assemble(KERNEL, "saxpy.wave").expect("the kernel is right");
    let mut launch = Launch::of(&program, 0, [32, 1, 1]);
    launch.initial_registers = vec![(0, 0), (1, 4 * ELEMENTS), (2, 3.0_f32.to_bits()), (3, ELEMENTS)];

    let mut machine = Machine::new(config, program, vec![0; 8 * ELEMENTS as usize]);
    machine.begin(&launch, &RunOptions::UNBOUNDED).expect("the kernel fits");
    let mut before = 0;
    let report = loop {
        match machine.advance(machine.now() + 1, None).expect("the kernel runs to its end") {
            Stop::Ended(report) => break report,
            _ if !machine.now().is_multiple_of(1000) => {}
            _ => {
                let issued = machine.totals().map_or(0, |totals| totals.core.wave_instructions);
                println!("cycle {:6}: IPC {:.3}", machine.now(), (issued - before) as f64 / 1000.0);
                before = issued;
            }
        }
    };
    println!("{} cycles, {} wave instructions", report.cycles, report.core.wave_instructions);
}
