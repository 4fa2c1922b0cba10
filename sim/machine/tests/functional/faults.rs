//! Faults are those of the cores, but for the cycle.

use super::{kernel, tiny};
use wave_isa::program::Fault;
use wave_machine::functional::ExecutionError;
use wave_machine::gpu::{self, Machine, RunOptions};

/// Bodies of one wave that fault, so that no order of waves decides which.
const FAULTS: &[&str] = &[
    ".word 0xFFFFFFFF",
    "@p1 mov r20, r1",
    "mov r20, r1",
    "endif",
    "if p1\nendloop",
    "break p1",
    "call f\nhalt\nf: call f",
    "call f\nhalt\nf: loop\nreturn",
    "mov_sr r1, sr_lane_id\nicmp_ne p1, r1, r2\nif p1\nbarrier\nendif",
    "mov_sr r1, sr_lane_id\nmov_imm r2, 4078\nmov_imm r3, 4\nimad r1, r1, r3, r2\ndevice_load_u32 r4, r1",
    "mov_imm r1, 4094\ndevice_store_u32 r1, r1",
    "mov_imm r1, 4096\ndevice_store_u8 r1, r1",
    "mov_imm r1, 0xFFFFFFFF\ndevice_store_u16 r1, r1",
    "mov_sr r1, sr_lane_id\nmov_imm r2, 1\nand r2, r1, r2\nicmp_ne p1, r2, r3\nmov_imm r4, 254\nimad r5, r1, r4, r1\n@p1 local_load_u16 r6, r5",
    "mov_sr r1, sr_lane_id\nlocal_atomic_add r1, r1",
    "mov_imm r1, 4097\natomic_add r2, r1, r1, .device",
    "mov_sr r1, sr_lane_id\nmov_imm r2, 60\nimul r1, r1, r2\nmov_imm r3, 16\nmma_load_a f0, r1, r3",
    // The first of two in program order counts, though the second one issues before the first access starts.
    "mov_imm r1, 0xFFFFFFFF\ndevice_load_u32 r4, r1\n.word 0xFFFFFFFF",
    "mov_imm r1, 0xFFFFFFFF\ndevice_store_u32 r1, r1\nendif",
    "mov_imm r1, 0xFFFFFFFF\nlocal_load_u32 r4, r1\ncall f\nf: call f",
    "mov_imm r1, 1\nlocal_atomic_add r1, r1\nbreak p1\n.word 0xFFFFFFFF",
    "mov_imm r1, 0xFFFFFFFF\nlocal_load_u32 r4, r2\nlocal_load_u32 r4, r1\nendloop",
    "device_load_u32 r4, r2\nlocal_load_u32 r5, r2\n.word 0xFFFFFFFF",
    "mov_imm r1, 0xFFFFFFFF\nloop\ndevice_load_u32 r4, r1\nreturn\n.word 0xFFFFFFFF",
    "mov_imm r1, 0xFFFFFFFF\nif p1\n.word 0xFFFFFFFF\nelse\ndevice_load_u32 r4, r1\nendif\nelse",
];

fn on_the_cores(kernel: &super::Kernel, memory: Vec<u8>) -> Fault {
    let mut config = tiny();
    config.capabilities.mma = true;
    let mut gpu = Machine::new(config.clone(), kernel.program.clone(), memory);
    match gpu.run(&kernel.launch, &RunOptions::UNBOUNDED, None, &mut |_| {}) {
        Err(gpu::RunError::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_fault_is_that_of_the_cores() {
    let mut config = tiny();
    config.capabilities.mma = true;
    for body in FAULTS {
        for threads in [5, 8] {
            let kernel = kernel(body, 1, threads);
            let mut memory = vec![0x11; 4096];
            let Err(ExecutionError::Fault(fault)) = kernel.run(&config, &mut memory) else {
                panic!("{body}")
            };
            let expected = on_the_cores(&kernel, vec![0x11; 4096]);
            assert!(expected.cycle.is_some());
            assert_eq!(*fault, Fault { cycle: None, ..expected }, "{body}, {threads} threads");
            assert!(memory.iter().all(|&byte| byte == 0x11), "{body}: no lane has an effect");
        }
    }
}

#[test]
fn the_workgroup_and_the_wave_are_named() {
    let body = "
        mov_sr r1, sr_workgroup_id_x
        mov_sr r2, sr_wave_id
        mov_imm r3, 2
        mov_imm r4, 1
        icmp_eq p1, r1, r3
        icmp_eq p2, r2, r4
        mov_imm r5, 4096
        if p1
            @p2 device_load_u32 r6, r5
        endif";
    let Err(ExecutionError::Fault(fault)) = kernel(body, 4, 20).run(&tiny(), &mut [0; 4096]) else {
        panic!()
    };
    assert_eq!((fault.workgroup, fault.wave, fault.lanes), ([2, 0, 0], 1, 0xFF));
}

#[test]
fn a_launch_that_does_not_fit_is_refused_as_by_the_cores() {
    let kernel = kernel("halt", 1, 100_000);
    let Err(ExecutionError::Launch(refused)) = kernel.run(&tiny(), &mut [0; 4096]) else { panic!("it ran") };
    let config = tiny();
    let mut gpu = Machine::new(config.clone(), kernel.program.clone(), vec![0; 4096]);
    let on_the_cores = gpu.run(&kernel.launch, &RunOptions::UNBOUNDED, None, &mut |_| {});
    assert_eq!(on_the_cores, Err(gpu::RunError::Launch(refused)));
}
