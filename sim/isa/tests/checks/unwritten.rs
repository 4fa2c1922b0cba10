//! The analysis of unwritten registers compared with execution: initial values of registers without a warning
//! make no difference.

use crate::structured::{ARGUMENTS, Kinds, POOL, REGISTERS, cases, lower, programs, run};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use wave_isa::program::Launch;
use wave_isa::program::check::{CheckOptions, check};
use wave_verify::reference::Order;

#[test]
fn what_nothing_reads_unwritten_makes_no_difference() {
    let mut runner = TestRunner::new_with_rng(
        Config {
            cases: cases(800),
            failure_persistence: None,
            max_local_rejects: 1_000_000,
            ..Config::default()
        },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    // The analysis does not follow reads of non-participating lanes.
    let strategy = programs(Kinds { exchange: false, barriers: false, halts: true });
    let (complaints, silent, real) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let result = runner.run(&strategy, |(bodies, workgroup)| {
        let (program, launch) = lower(&bodies, workgroup);
        let options = CheckOptions { wave_width: 8, ..CheckOptions::default() }.for_launch(&launch);
        let report = check(&program, 0, &options);
        let complained = |register: u8| {
            let [never, sometimes] = ["is", "may be"].map(|how| format!(": r{register} {how} read"));
            let about = |d: &str| d.contains(&never) || d.contains(&sometimes);
            report.diagnostics.iter().any(|d| about(&d.message))
        };
        let free: Vec<u8> = (ARGUMENTS.len() as u8..REGISTERS as u8).filter(|&r| !complained(r)).collect();
        let poisoned = |registers: &[u8]| {
            let poison = registers.iter().map(|&r| (r, 0x9E37_79B9 ^ u32::from(r) << 13));
            let initial_registers = ARGUMENTS.into_iter().chain(poison).collect();
            let launch = Launch { initial_registers, ..launch.clone() };
            run(&program, &launch, Order::RoundRobin(u32::MAX)).map_err(|stop| stop.to_string())
        };
        let expected = poisoned(&[]);
        prop_assert_eq!(&poisoned(&free), &expected, "{:#?}", report.diagnostics);
        let pool = free.iter().filter(|&&r| r < POOL).count() as u32;
        silent.set(silent.get() + pool);
        complaints.set(complaints.get() + u32::from(POOL) - 2 - pool);
        let rest: Vec<u8> = (2..POOL).filter(|&r| complained(r)).collect();
        real.set(real.get() + u32::from(!rest.is_empty() && poisoned(&rest) != expected));
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    let (complaints, silent, real) = (complaints.get(), silent.get(), real.get());
    println!("{complaints} complaints, {silent} registers without, {real} programs with a real difference");
    assert!(complaints > 2000 && silent > 500 && real > 300);
}
