//! Workgroups: special registers, barriers, atomics, wave operations, lanes that diverge.

use super::module;
use Constant::{I32, I64};
use std::sync::Arc;
use wave_compile::ir::interpret::{Fault, Instance, Launch, Limits, Workgroup};
use wave_compile::ir::random::{self, Shape};
use wave_compile::ir::{Constant, FunctionId, GlobalId, MemoryId, Place, Trap};

fn launch(threads: u32, wave_width: u32) -> Launch {
    Launch {
        function: FunctionId::from_u32(0),
        arguments: vec![],
        workgroup_size: [threads, 1, 1],
        workgroup_id: [0; 3],
        grid_size: [1; 3],
        wave_width,
    }
}

fn instance(text: &str) -> Instance {
    Instance::new(Arc::new(module(text))).unwrap()
}

/// What each thread of the first function gives.
fn run(text: &str, launch: &Launch) -> Result<Vec<Vec<Constant>>, Fault> {
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    Workgroup::new(&instance(text), launch, &limits)?.run()
}

/// The first result of each thread, an `i32`.
fn numbers(text: &str, threads: u32, wave_width: u32) -> Vec<u32> {
    let results = run(text, &launch(threads, wave_width)).unwrap();
    results.iter().map(|results| results[0].bits() as u32).collect()
}

#[test]
fn special_registers() {
    let names = [
        "thread_id_x",
        "thread_id_y",
        "thread_id_z",
        "wave_id",
        "lane_id",
        "workgroup_id_y",
        "workgroup_size_z",
        "grid_size_x",
        "wave_width",
        "num_waves",
    ];
    let read: String =
        names.iter().enumerate().map(|(i, name)| format!("v{i}: i32 = special sr_{name}\n")).collect();
    let all: Vec<String> = (0..names.len()).map(|i| format!("v{i}")).collect();
    let types = vec!["i32"; names.len()].join(", ");
    let text = format!("function f0 () -> ({types}) {{ b0: {read} return {} }}", all.join(", "));
    let launch =
        Launch { workgroup_size: [3, 2, 4], workgroup_id: [5, 6, 7], grid_size: [8, 9, 10], ..launch(1, 8) };
    let results = run(&text, &launch).unwrap();
    assert_eq!(results.len(), 24);
    for (number, results) in (0..).zip(results) {
        let wanted = [number % 3, number / 3 % 2, number / 6, number / 8, number % 8, 6, 4, 8, 8, 3];
        assert_eq!(results, wanted.map(I32));
    }
}

/// Each thread stores its number in local memory, and reads that of the next behind a barrier, over several waves.
#[test]
fn barriers_and_local_memory() {
    let text = "memory mem0 device 1 memory mem1 local 1
        function f0 () -> (i32) {
        b0: v0: i32 = special sr_thread_id_x v1: i32 = const.i32 4 v2: i32 = mul v0, v1 store.i32 mem1[v2], v0 barrier
            v3: i32 = load.i32 mem1[v2 + 4] return v3
        }";
    let results = numbers(text, 20, 8);
    assert_eq!(results, (1..20).chain([0]).collect::<Vec<u32>>());
    // The instance's own local memory is not that of the workgroup.
    let instance = instance(text);
    let mut workgroup = Workgroup::new(&instance, &launch(20, 8), &Limits::default()).unwrap();
    workgroup.run().unwrap();
    let local = MemoryId::from_u32(1);
    assert_eq!(workgroup.memory(local).read(4, 1), Ok(vec![1]));
    assert_eq!(instance.memory(local).read(4, 1), Ok(vec![0]));
}

/// Atomics, and a thread that waits for another one in a loop.
#[test]
fn atomics_and_waiting_for_another_thread() {
    let text = "memory mem0 device 1
        function f0 () -> (i32) {
        b0: v0: i32 = const.i32 0 v1: i32 = const.i32 1 v2: i32 = special sr_thread_id_x
            v3: i32 = special sr_workgroup_size_x jump b1
        b1: v4: i32 = load.i32 mem0[v0] v5: i32 = sub v3, v1 v6: i32 = sub v5, v2 v7: bool = eq v4, v6 branch v7, b2, b1
        b2: v8: i32 = atomic_add.i32 device mem0[v0], v1 return v8
        }";
    // The last thread comes first.
    assert_eq!(numbers(text, 12, 8), (0..12).rev().collect::<Vec<u32>>());
}

#[test]
fn global_variables_are_each_threads_own() {
    let text = "global g0 mutable i32 7
        signature sig0 () -> () table tab0 1 elements elem0 at tab0 0 [f1]
        function f0 () -> (i32) { b0: v0: i32 = const.i32 0 call_indirect tab0[v0] sig0() v1: i32 = global_get g0 return v1 }
        function f1 () -> () {
        b0: v0: i32 = global_get g0 v1: i32 = special sr_thread_id_x v2: i32 = add v0, v1 global_set g0, v2 return
        }";
    let instance = instance(text);
    let mut workgroup = Workgroup::new(&instance, &launch(3, 8), &Limits::default()).unwrap();
    let global = GlobalId::from_u32(0);
    workgroup.global(2, global).set(I32(20));
    assert_eq!(workgroup.run(), Ok(vec![vec![I32(7)], vec![I32(8)], vec![I32(22)]]));
    assert_eq!(workgroup.global(1, global).get(), I32(8));
    assert_eq!(instance.global(global).get(), I32(7));
}

/// A wave operation on values 10, 11, … with the thread's number as second operand.
fn wave(operation: &str, threads: u32) -> Vec<u32> {
    let second = if operation.starts_with("shuffle") || operation == "broadcast" { ", v3" } else { "" };
    numbers(
        &format!(
            "function f0 () -> (i32) {{
            b0: v0: i32 = special sr_lane_id v1: i32 = const.i32 10 v2: i32 = add v0, v1 v4: i32 = const.i32 3
                v5: i32 = mul v0, v4 v6: i32 = const.i32 2 v3: i32 = add v5, v6 v7: i32 = {operation}(v2{second}) return v7
            }}"
        ),
        threads,
        8,
    )
}

/// Lane i names lane 3i + 2, of 8 lanes.
#[test]
fn wave_operations() {
    assert_eq!(wave("shuffle", 8), [12, 15, 0, 0, 0, 0, 0, 0]);
    assert_eq!(wave("shuffle_up", 8), [0; 8]);
    assert_eq!(wave("shuffle_down", 8), [12, 16, 0, 0, 0, 0, 0, 0]);
    // i ^ (3i + 2): 2, 4, 10, 8, 10, 20, 18, 16.
    assert_eq!(wave("shuffle_xor", 8), [12, 14, 0, 0, 0, 0, 0, 0]);
    assert_eq!(wave("broadcast", 8), [12; 8]);
    assert_eq!(wave("prefix_sum", 8), [0, 10, 21, 33, 46, 60, 75, 91]);
    assert_eq!(wave("reduce_add", 8), [108; 8]);
    assert_eq!(wave("reduce_min", 8), [10; 8]);
    assert_eq!(wave("reduce_max", 8), [17; 8]);
    assert_eq!(wave("reduce_and", 8), [0; 8]);
    assert_eq!(wave("reduce_or", 8), [31; 8]);
    assert_eq!(wave("reduce_xor", 8), [(10..18).fold(0, |a, b| a ^ b); 8]);
    // Lanes of the last wave that have no thread do not take part.
    assert_eq!(wave("reduce_add", 11), [[108; 8].as_slice(), &[33; 3]].concat());
    assert_eq!(wave("shuffle_up", 11)[8..], [0; 3]);
}

#[test]
fn votes() {
    let text = "function f0 () -> (i64, bool, bool, bool) {
        b0: v0: i32 = special sr_lane_id v1: i32 = const.i32 2 v2: bool = gt_u v0, v1 v3: i64 = ballot(v2)
            v4: bool = any(v2) v5: bool = all(v2) v6: bool = le_u v0, v0 v7: bool = all(v6) return v3, v4, v5, v7
        }";
    for results in run(text, &launch(64, 64)).unwrap() {
        let wanted = [I64(u64::MAX << 3), Constant::Bool(true), Constant::Bool(false), Constant::Bool(true)];
        assert_eq!(results, wanted);
    }
}

/// Lanes on the two sides of a choice do not see one another, and meet behind it.
#[test]
fn lanes_diverge_in_a_choice_and_meet_behind_it() {
    let text = "function f0 () -> (i32, i32) {
        b0: v0: i32 = special sr_lane_id v1: i32 = const.i32 3 v2: i32 = const.i32 1 v3: bool = lt_u v0, v1 branch v3, b2, b1
        b1: v4: i32 = reduce_add(v2) jump b3(v4)
        b2: v5: i32 = reduce_add(v2) jump b3(v5)
        b3(v6: i32): v7: i32 = reduce_add(v2) return v6, v7
        }";
    let results = run(text, &launch(8, 8)).unwrap();
    for (lane, results) in results.into_iter().enumerate() {
        assert_eq!(results, [I32(if lane < 3 { 3 } else { 5 }), I32(8)]);
    }
}

/// Lane i goes round i + 1 times. Those that have left the loop wait behind it for the others, whichever way the blocks
/// are numbered, also in a loop around.
#[test]
fn lanes_that_leave_a_loop_wait_behind_it() {
    for (body, exit) in [("b2", "b3"), ("b3", "b2")] {
        let blocks = [
            format!("{body}: v6: i32 = reduce_add(v2) v7: i32 = add v5, v6 v8: i32 = add v4, v2 v9: bool = gt_u v8, v0
                branch v9, {exit}, b1(v8, v7)"),
            format!("{exit}: v10: i32 = reduce_add(v2) v11: i32 = add v12, v2 v13: bool = eq v11, v3 branch v13, b5, b4(v11)"),
        ];
        let [first, second] = if body == "b2" { [0, 1] } else { [1, 0] };
        let text = format!(
            "function f0 () -> (i32, i32) {{
            b0: v0: i32 = special sr_lane_id v1: i32 = const.i32 0 v2: i32 = const.i32 1 v3: i32 = const.i32 2 jump b4(v1)
            b1(v4: i32, v5: i32): jump {body}
            {} {}
            b4(v12: i32): jump b1(v1, v1)
            b5: return v7, v10
            }}",
            blocks[first], blocks[second]
        );
        let results = run(&text, &launch(8, 8)).unwrap();
        for (lane, results) in (0..8).zip(results) {
            // In round j, 8 - j lanes take part.
            assert_eq!(
                results,
                [I32((0..=lane).map(|round| 8 - round).sum()), I32(8)],
                "{body}, lane {lane}"
            );
        }
    }
}

/// The same function called from two places: those lanes are not together.
#[test]
fn lanes_in_calls_from_different_places_are_apart() {
    let text = "function f0 () -> (i32) {
        b0: v0: i32 = special sr_lane_id v1: i32 = const.i32 2 v2: bool = lt_u v0, v1 branch v2, b1, b2
        b1: v3: i32 = call f1() return v3
        b2: v4: i32 = call f1() return v4
        }
        function f1 () -> (i32) { b0: v0: i32 = const.i32 1 v1: i32 = reduce_add(v0) return v1 }";
    assert_eq!(numbers(text, 8, 8), [2, 2, 6, 6, 6, 6, 6, 6]);
}

#[test]
fn faults_say_which_thread() {
    let traps = "function f0 () -> () {
        b0: v0: i32 = special sr_thread_id_x v1: i32 = const.i32 5 v2: bool = eq v0, v1 branch v2, b1, b2
        b1: trap \"unreachable\" @9
        b2: barrier return
        }";
    let fault = run(traps, &launch(16, 8)).unwrap_err();
    assert!(
        matches!(fault, Fault::Trapped { thread: 5, trapped } if trapped.trap == Trap::Unreachable),
        "{fault:?}"
    );
    assert_eq!(fault.to_string(), "thread 5: unreachable in f0 at @9");
    let diverges = "function f0 () -> () {
        b0: v0: i32 = special sr_thread_id_x v1: i32 = const.i32 13 v2: bool = ge_u v0, v1 branch v2, b1, b2
        b1: barrier @9 jump b3
        b2: barrier @11 jump b3
        b3: return
        }";
    let fault = run(diverges, &launch(16, 8)).unwrap_err();
    assert_eq!(
        fault,
        Fault::DivergentBarrier { thread: 8, function: FunctionId::from_u32(0), place: Place(11) }
    );
    // Waves may be at different barriers; one that has ended holds up none.
    let text = diverges.replace("const.i32 13", "const.i32 8");
    assert!(run(&text, &launch(16, 8)).is_ok());
    let text = diverges.replace("const.i32 13", "const.i32 8").replace("b2: barrier @11", "b2:");
    assert!(run(&text, &launch(16, 8)).is_ok());
    // Memory has the size that it has.
    let grows = "memory mem0 device 1 function f0 () -> (i32) { b0: v0: i32 = const.i32 0 v1: i32 = memory_grow mem0, v0 return v1 }";
    assert_eq!(numbers(grows, 2, 8), [u32::MAX; 2]);
}

#[test]
fn random_kernels_end() {
    for seed in 0..60 {
        let shape = Shape { workgroup: true, irreducible: seed % 2 == 0, ..Shape::default() };
        let module = random::module(seed, &shape);
        let first = FunctionId::from_u32(0);
        let arguments = random::arguments(seed, &module, first);
        let instance = Instance::new(Arc::new(module)).unwrap();
        let launch = Launch { arguments, ..launch(20, 8) };
        let limits = Limits { fuel: 5_000_000, ..Limits::default() };
        let results = Workgroup::new(&instance, &launch, &limits).and_then(|mut workgroup| workgroup.run());
        assert_eq!(results.map(|results| results.len()), Ok(20), "seed {seed}");
    }
}
