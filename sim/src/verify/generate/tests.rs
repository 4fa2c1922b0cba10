use super::*;
use crate::isa::table::TABLE;
use crate::verify::reference::{self, Machine, Order, Outcome, Stop};
use std::collections::BTreeMap;

fn machine(wave_width: u32) -> Machine {
    Machine { wave_width, f64: true, mma: true, divergence_depth: 32, call_depth: 8, local_poison: 0xA5 }
}

fn run(case: &Case, width: u32, order: Order) -> Result<(Outcome, Vec<u8>), Stop> {
    let mut memory = case.memory.clone();
    let options = reference::Options { order, max_instructions: 2_000_000, ..Default::default() };
    let outcome = reference::run(&case.program, &case.launch, &machine(width), &options, &mut memory)?;
    Ok((outcome, memory))
}

/// True if some order of waves gives another result than the usual one.
fn order_shows(case: &Case, width: u32, seed: u64) -> bool {
    let expected = run(case, width, Order::RoundRobin(u32::MAX));
    let orders = [Order::RoundRobin(1), Order::Random(seed), Order::Random(!seed)];
    orders.into_iter().any(|order| run(case, width, order) != expected)
}

#[test]
fn programs_end_and_their_result_does_not_depend_on_the_order_of_waves() {
    for seed in 0..120 {
        let case = grow(seed, &Options::default()).case();
        let result = run(&case, 8, Order::RoundRobin(u32::MAX));
        assert!(result.is_ok_and(|(_, memory)| memory != case.memory), "seed {seed}");
        assert!(!order_shows(&case, 8, seed), "seed {seed}, 8 lanes");
        assert!(!order_shows(&case, 64, seed), "seed {seed}, 64 lanes");
    }
}

/// Takes the barriers out, but for those in ifs.
fn without_barriers(nodes: &mut Vec<Node>) {
    let old = std::mem::take(nodes);
    for mut node in old {
        node.children().into_iter().for_each(without_barriers);
        match node {
            Node::Exchange(before, after) => {
                nodes.extend(before.into_iter().chain([after]).map(Node::Access))
            }
            Node::Barrier => {}
            node => nodes.push(node),
        }
    }
}

#[test]
fn the_order_of_waves_shows_a_missing_barrier() {
    let mut found = 0;
    for seed in 0..60 {
        let mut tree = grow(seed, &Options { max_threads: 64, ..Options::default() });
        tree.functions.iter_mut().for_each(without_barriers);
        found += u32::from(order_shows(&tree.case(), 8, seed));
    }
    assert!(found > 15, "only {found} of 60 programs without barriers depend on the order");
}

#[test]
fn every_instruction_is_executed() {
    let mut executed: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    for seed in 0..200 {
        let case = grow(seed, &Options::default()).case();
        let (outcome, _) = run(&case, 16, Order::RoundRobin(u32::MAX)).unwrap();
        for (key, count) in outcome.executed {
            *executed.entry(key).or_default() += count;
        }
    }
    for info in TABLE {
        let count = executed.get(&(info.opcode, info.modifier)).copied().unwrap_or(0);
        println!("{} {count}", info.mnemonic);
        assert!(count > 0, "{} is never executed", info.mnemonic);
    }
}
