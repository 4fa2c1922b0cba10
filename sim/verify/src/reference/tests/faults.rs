use super::{Bench, Stop};
use wave_isa::program::FaultKind;
use wave_isa::table::Space;
use wave_isa::{DecodeError, Op};

/// Checks that a kernel with p1 in lanes 0 to 3 faults with this kind, at the marked line, in these lanes.
fn expect(body: &str, kind: FaultKind, lanes: u64) {
    let bench = Bench::with_lanes(0x0F, 0, body);
    let pc = bench.pc_of("<-");
    let fault = bench.fault();
    assert_eq!(fault.kind, kind, "{body}");
    assert_eq!((fault.pc, fault.lanes), (pc, lanes), "{body}");
    assert_eq!((fault.workgroup, fault.wave, fault.cycle), ([0; 3], 0, None));
}

#[test]
fn divergence_faults() {
    let underflow = FaultKind::DivergenceUnderflow;
    for text in ["else", "endif", "endloop", "break p1", "continue !p1", "@!p1 break p1"] {
        expect(&format!("{text} ; <-"), underflow, 0xFF);
    }
    Bench::with_lanes(0x0F, 0, "@p2 break p1").run();
    expect("loop\nendif ; <-", underflow, 0xFF);
    expect("loop\nelse ; <-", underflow, 0xFF);
    expect("if p1\nendloop ; <-", underflow, 0x0F);
    expect("loop\nbreak p1\nbreak !p1\nendif ; <-", underflow, 0);

    let ifs = "icmp_eq p3, r60, r60\n".to_owned() + &"if p3\n".repeat(31);
    expect(&format!("{ifs}loop\nif p3 ; <-"), FaultKind::DivergenceOverflow { depth: 32 }, 0xFF);
    Bench::with_lanes(0, 0, &format!("{ifs}loop")).run();
    // Without an active lane nothing is pushed.
    Bench::with_lanes(0, 0, &"if p1\n".repeat(50)).run();
}

#[test]
fn call_faults() {
    expect("again: iadd r1, r1, r61\ncall again ; <-", FaultKind::CallOverflow { depth: 8 }, 0xFF);
    expect("call sub\nhalt\nsub: if p1\nreturn ; <-", FaultKind::ReturnDepth, 0x0F);
    expect(
        "loop\ncall sub\nhalt\nsub: break p1\nbreak !p1\nendloop\nreturn ; <-",
        FaultKind::ReturnDepth,
        0xFF,
    );
    // Eight calls fit.
    let chain: String = (0..8).map(|n| format!("s{n}: call s{}\nreturn\n", n + 1)).collect();
    Bench::with_lanes(0, 0, &format!("call s1\nhalt\n{chain}s8: return")).run();
}

#[test]
fn barriers_in_divergence() {
    expect("if p1\nbarrier ; <-\nendif", FaultKind::BarrierInDivergence, 0x0F);
    expect("if p1\n@p1 barrier ; <-\nendif", FaultKind::BarrierInDivergence, 0x0F);
    // Neither a guard nor a halt makes it divergent.
    Bench::with_lanes(0x0F, 0, "@p1 barrier").run();
    Bench::with_lanes(0x0F, 0, "if p1\n@!p1 barrier\nendif").run();
    Bench::with_lanes(0x0F, 0, "if p1\nhalt\nelse\nbarrier\nendif").run();
    Bench::with_lanes(0xFF, 0, "if p1\nbarrier\nendif").run();
}

#[test]
fn accesses_outside_memory_fault_without_effect() {
    let outside = |space, address, bytes, size| FaultKind::OutOfBounds { space, address, bytes, size };
    let device = |address, bytes| outside(Space::Device, address, bytes, 1024);
    let local = |address, bytes| outside(Space::Local, address, bytes, 256);
    expect("mov_imm r1, 1024\ndevice_load_u8 r2, r1 ; <-", device(1024, 1), 0xFF);
    expect("mov_imm r1, 1021\ndevice_store_u32 r1, r2 ; <-", device(1021, 4), 0xFF);
    expect("mov_imm r1, -1\ndevice_load_u128 r4, r1 ; <-", device(0xFFFF_FFFF, 16), 0xFF);
    expect(
        "mov_imm r1, 1020\natomic_add r1, r1, .wave\niadd r1, r1, r61\niadd r1, r1, r61\niadd r1, r1, r61\niadd r1, r1, r61\natomic_add r1, r1, .wave ; <-",
        device(1024, 4),
        0xFF,
    );
    expect("mov_imm r1, 249\nlocal_load_u64 r2, r1 ; <-", local(249, 8), 0xFF);
    expect("mov_imm r1, 252\nlocal_load_u32 r2, r1\nlocal_store_u64 r1, r2 ; <-", local(252, 8), 0xFF);
    expect("mov_imm r1, 200\nmov_imm r2, 16\nmma_load_a f0, r1, r2 ; <-", local(248, 16), 0xFF);
    expect("mov_imm r1, 193\nmov_imm r2, 16\nmma_store_c r1, r2, f0 ; <-", local(241, 16), 0xFF);
    // Only guarded lanes count. The address is that of the lowest faulting lane.
    expect("mov_imm r1, 1018\niadd r1, r1, r60\n@p1 device_store_u32 r1, r61 ; <-", device(1021, 4), 0x08);

    let mut bench = Bench::with_lanes(0, 0, "mov_imm r1, 1020\niadd r1, r1, r60\ndevice_store_u32 r1, r1");
    let mut memory = std::mem::take(&mut bench.memory);
    let options = super::Options::default();
    let stop = super::run(&bench.program, &bench.launch, &bench.machine, &options, &mut memory);
    assert!(matches!(stop, Err(Stop::Fault(fault)) if fault.lanes == 0xFE));
    assert!(memory.iter().all(|&b| b == 0), "lane 0 stored although others fault");
}

#[test]
fn misaligned_atomics() {
    let misaligned = |space, address| FaultKind::MisalignedAtomic { space, address };
    expect("mov_imm r1, 6\natomic_or r2, r1, r1, .device ; <-", misaligned(Space::Device, 6), 0xFF);
    expect("mov_imm r1, 257\nlocal_atomic_cas r2, r1, r1, r1 ; <-", misaligned(Space::Local, 257), 0xFF);
    // Lanes 0, 4 are aligned; the others are not, and lane 1 is the lowest.
    expect("atomic_xor r60, r60 .device ; <-", misaligned(Space::Device, 1), 0xEE);
}

#[test]
fn illegal_instructions() {
    let illegal = |word0: u32, word1: u32, why| {
        expect(&format!(".word {word0:#x}, {word1:#x} ; <-"), FaultKind::IllegalInstruction(why), 0xFF);
    };
    illegal(0x0E00_0000, 0, DecodeError::Opcode(0x0E));
    illegal(0x42FF_FFFF, 0, DecodeError::Opcode(0x42));
    illegal(0x0000_0010, 0, DecodeError::Modifier(0, 1));
    illegal(0x2900_0060, 0, DecodeError::Modifier(0x29, 6));
    illegal(0x3F00_00F8, 0, DecodeError::ReservedBit);
    illegal(0x0000_0000, 0x80, DecodeError::ReservedBit);
    illegal(0x2800_0000 | 4 << 16, 0, DecodeError::Predicate(4));
    illegal(0x3F00_0800, 0, DecodeError::Predicate(8));
    illegal(0x4100_1420, 0, DecodeError::Special(20));
    illegal(0x4008_0030, 0, DecodeError::Fragment(8));
    illegal(0x3F00_0070, 2, DecodeError::CallTarget(2));
    illegal(0x3F00_0070, 0x1000, DecodeError::CallTarget(0x1000));
    for (word, op) in [
        (0x3F00_0001, Op::If),
        (0x3F00_0011, Op::Else),
        (0x3F00_0024, Op::EndIf),
        (0x3F00_0031, Op::Loop),
        (0x3F00_0061, Op::EndLoop),
        (0x3F00_0071, Op::Call),
        (0x3F00_0081, Op::Return),
    ] {
        illegal(word, 0, DecodeError::Guard(op));
    }
    // An immediate has no reserved bits, and unused fields are ignored.
    Bench::new(".word 0x41030010, 0xFFFFFFFF\n.word 0x3FAB12F0").run();
}

#[test]
fn registers_past_the_declared_ones_are_illegal() {
    let past = |text: &str, last| {
        let kind = FaultKind::IllegalInstruction(DecodeError::Register { last, declared: 64 });
        expect(&format!("{text} ; <-"), kind, 0xFF);
    };
    past(".word 0x41400000", 64); // mov r64, r0
    past(".word 0x1F003F10", 64); // dsqrt r0, r63
    past(".word 0x383D0040", 64); // device_load_u128 r61, r0
    // A guard that no lane passes does not prevent the fault, but a branch that no lane takes does.
    past(".word 0x41400003", 64);
    Bench::with_lanes(0, 0, "if p1\n.word 0x41400000\nendif").run();
    // A ballot takes two registers if the wave has more than 32 lanes.
    Bench::new(".word 0x3E3F0050").run();
    let mut wide = Bench::new(".word 0x3E3F0050");
    wide.machine.wave_width = 64;
    let kind = FaultKind::IllegalInstruction(DecodeError::Register { last: 64, declared: 64 });
    assert_eq!(wide.fault().kind, kind);
    // An atomic without a result has no destination.
    let mut none = Bench::new("atomic_add r1, r2, .device");
    none.launch.registers = 3;
    none.run();
}

#[test]
fn capabilities_that_are_missing() {
    let bench = |text: &str| {
        let mut bench = Bench::new(text);
        (bench.machine.f64, bench.machine.mma) = (false, false);
        bench
    };
    let missing = |name| FaultKind::IllegalInstruction(DecodeError::Capability(name));
    for text in ["dadd r0, r2, r4", "dsqrt r0, r2", "cvt_f64_f32 r0, r2", "cvt_f32_f64 r0, r2"] {
        assert_eq!(bench(text).fault().kind, missing("CAP_F64"), "{text}");
    }
    for text in ["mma_load_a f0, r0, r1", "mma_compute f0, f0, f0"] {
        assert_eq!(bench(text).fault().kind, missing("CAP_MMA"), "{text}");
    }
    let ran = bench("mov_sr r1, sr_mma_supported\nmov_sr r2, sr_mma_m").run();
    assert_eq!((ran.r(0, 1), ran.r(0, 2)), (0, 0));
}

#[test]
fn a_kernel_that_ends_within_an_instruction() {
    let fault = Bench::new("nop\n.word 0x00000000").fault();
    assert_eq!(fault.kind, FaultKind::IllegalInstruction(DecodeError::Truncated));
    assert_eq!(fault.pc, 4);
}

#[test]
fn the_place_of_a_fault_names_workgroup_and_wave() {
    let mut bench = Bench::new(
        "mov_sr r1, sr_workgroup_id_y
         mov_sr r2, sr_wave_id
         imul r3, r1, r2
         mov_imm r4, 2
         icmp_eq p1, r3, r4
         if p1
         barrier
         .word 0xFF000000 ; <-
         endif
         mov_sr r5, sr_lane_id",
    );
    bench.launch.grid = [1, 3, 1];
    bench.launch.workgroup = [19, 1, 1];
    let pc = bench.pc_of("<-");
    let fault = bench.fault();
    assert_eq!((fault.workgroup, fault.wave, fault.lanes, fault.pc), ([0, 1, 0], 2, 0b111, pc));
}

#[test]
fn launches_that_make_no_sense() {
    let refused = |change: fn(&mut Bench)| {
        let mut bench = Bench::new("halt");
        change(&mut bench);
        assert!(matches!(bench.try_run(), Err(Stop::Launch(_))));
    };
    refused(|b| b.launch.kernel = 1);
    refused(|b| b.launch.grid[1] = 0);
    refused(|b| b.launch.workgroup[2] = 0);
    refused(|b| b.launch.registers = 257);
    refused(|b| b.launch.initial_registers = vec![(64, 0)]);
    refused(|b| b.machine.wave_width = 65);
    refused(|b| b.program.kernels[0].code.end = 99);
}
