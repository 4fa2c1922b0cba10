//! Counters of the core whose values no cycle shows, counted by hand.

use crate::machine::*;
use wave_isa::ExecClass;

#[test]
fn rows_that_wait_for_their_bank() {
    for (body, waits) in [
        ("iadd r1, r2, r3", 0),
        ("iadd r1, r4, r8", 1),
        // Of four rows in one bank the second waits a cycle, the third two, the fourth three.
        ("bfi r1, r4, r8, r12, r16", 6),
    ] {
        let report = run(&machine(), &format!("{body}\n{body}\nhalt")).report;
        assert_eq!(report.core.bank_conflicts, 2 * waits, "{body}");
    }
}

#[test]
fn cycles_in_which_a_result_waits_for_a_write_port() {
    let mut config = machine();
    set_class(&mut config, ExecClass::Fp32, 3, 1);
    for (ports, waits) in [(2, 0), (1, 1)] {
        config.core.registers.write_ports = ports;
        let t = run(&config, "fadd r1, r2, r3\niadd r4, r2, r3\nhalt");
        assert_eq!(t.report.core.write_port_conflicts, waits, "{ports} ports");
    }
    // The result of a load waits while those of units take the port. Alone it is written at 9, like r12, whose bank
    // is another.
    let additions: String = (8..24).map(|n| format!("iadd r{n}, r2, r3\n")).collect();
    let [free, taken] = [4, 1].map(|ports| {
        config.core.registers.write_ports = ports;
        run(&config, &format!("a: local_load_u32 r5, r0\n{additions}halt"))
    });
    let delay = taken.after("a", "a", Retire) - free.after("a", "a", Retire);
    assert!(delay > 3, "{delay}");
    assert_eq!((free.report.core.write_port_conflicts, taken.report.core.write_port_conflicts), (0, delay));
}

#[test]
fn device_accesses_by_kind_and_divisions_by_zero() {
    let body = "device_load_u32 r1, r0\ndevice_load_u64 r6, r0\nwait\ndevice_store_u32 r0, r1\nwait\n\
                atomic_add r0, r1, .device\natomic_max r0, r1, .device\natomic_add r0, r1, .device\nwait\n\
                idiv r8, r1, r30\nidiv r9, r1, r31\nhalt";
    let core = bench(&machine()).with(31, 5).run(body).report.core;
    assert_eq!((core.device_loads, core.device_stores, core.device_atomics), (2, 1, 3));
    assert_eq!(core.divisions_by_zero, u64::from(WIDTH));
}

#[test]
fn lanes_that_take_part_in_an_instruction() {
    let lanes = |body: &str| run(&machine(), body).report.core.lane_instructions;
    let nothing = lanes("halt");
    assert_eq!(nothing, u64::from(WIDTH));
    assert_eq!(lanes("iadd r1, r2, r3\nhalt") - nothing, u64::from(WIDTH));
    // Of eight lanes, three have an id below 3. The guarded instruction has those; `halt` has all.
    let guarded = "mov_sr r1, sr_lane_id\nmov_imm r2, 3\nicmp_lt p1, r1, r2\n@p1 iadd r3, r1, r2\nhalt";
    assert_eq!(lanes(guarded) - nothing, 3 * u64::from(WIDTH) + 3);
}
