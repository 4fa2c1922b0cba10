//! The memory of the host that a machine takes is what [`Footprint`] says before it is made.
//!
//! Machines are made and run for some cycles under an allocator that counts. The estimate may be off by a quarter of what
//! they took, and by a few MiB.

use peak_alloc::PeakAlloc;
use wave_isa::program::{Launch, assemble};
use wave_machine::config::{self, Config};
use wave_machine::gpu::{Footprint, Machine, RunOptions};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Share of the measured bytes, and bytes, by which the estimate may be off.
const TOLERANCE: f64 = 0.25;
const SLACK: f64 = (4 << 20) as f64;
const DEVICE_MEMORY: usize = 16 << 20;
const WORKGROUP: u32 = 64;

/// A kernel whose workgroups fill the register files and the local memories of a machine: the estimate counts all of both.
fn kernel(config: &Config) -> String {
    let core = &config.core;
    let waves = WORKGROUP.div_ceil(core.wave_width);
    let registers = (core.register_file_bytes / (4 * core.wave_width * core.max_waves)).clamp(4, 256);
    let local_memory = core.local_memory_bytes / core.max_workgroups.min(core.max_waves / waves) / 4 * 4;
    format!(
        "\
.kernel k
.registers {registers}
.local_memory {local_memory}
.workgroup_size {WORKGROUP}, 1, 1
    mov_sr  r0, sr_thread_id_x
    mov_imm r1, 2
    shl     r2, r0, r1
    device_load_u32 r3, r2
    device_store_u32 r2, r3
    halt
.end
"
    )
}

/// Bytes that a machine has held at most, and those that were estimated.
fn measure(name: &str, settings: &[&str]) -> (f64, f64) {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let (config, _) = config::load_with_settings(name, &settings).unwrap_or_else(|e| panic!("{}", e[0]));
    let estimate = Footprint::of(&config, DEVICE_MEMORY as u64, false).bytes();
    let (program, _) = assemble(&kernel(&config), "k.wave").unwrap();
    let launch = Launch::of(&program, 0, [16_000, 1, 1]);
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let mut machine = Machine::new(config, program, vec![0; DEVICE_MEMORY]);
    machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
    machine.advance(1_000, None).unwrap();
    ((HEAP.peak_usage() - before) as f64, estimate as f64)
}

#[test]
fn machines_take_the_memory_that_was_estimated() {
    let machines: [(&str, &[&str]); 9] = [
        ("tiny", &[]),
        ("rtl", &[]),
        ("gpu", &[]),
        ("t4", &[]),
        ("m-series", &[]),
        ("large", &[]),
        ("h200", &[]),
        ("gpu", &["cores=512"]),
        ("gpu", &["interconnect.topology=mesh"]),
    ];
    let off: Vec<String> = machines
        .iter()
        .filter_map(|(name, settings)| {
            let (measured, estimate) = measure(name, settings);
            let message = format!("{name} {settings:?}: {measured} bytes measured, {estimate} estimated");
            println!("{message}");
            ((estimate - measured).abs() > TOLERANCE * measured + SLACK).then_some(message)
        })
        .collect();
    assert!(off.is_empty(), "{off:#?}");
}
