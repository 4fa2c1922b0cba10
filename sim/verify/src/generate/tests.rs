use super::*;
use crate::reference::{self, Machine, Order, Outcome, Stop};
use fnv::FnvHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;
use wave_isa::DecodeError;
use wave_isa::program::{FaultKind, assemble, disassemble};
use wave_isa::table::{Space, TABLE};

fn machine(wave_width: u32) -> Machine {
    Machine { wave_width, f64: true, mma: true, divergence_depth: 32, call_depth: 8, local_poison: 0xA5 }
}

fn run(case: &Case, width: u32, order: Order) -> Result<(Outcome, Vec<u8>), Stop> {
    let mut memory = case.memory.clone();
    let options = reference::Options { order, max_instructions: 2_000_000, ..Default::default() };
    let outcome = reference::run(&case.program, &case.launch, &machine(width), &options, &mut memory)?;
    Ok((outcome, memory))
}

/// True if some order of waves gives a result different from the usual one.
fn order_shows(case: &Case, width: u32, seed: u64) -> bool {
    let expected = run(case, width, Order::RoundRobin(u32::MAX));
    let orders = [Order::RoundRobin(1), Order::Random(seed), Order::Random(!seed)];
    orders.into_iter().any(|order| run(case, width, order) != expected)
}

#[test]
fn programs_end_and_their_result_does_not_depend_on_the_order_of_waves() {
    for seed in 0..60 {
        let case = grow(seed, &Options::default()).case();
        let result = run(&case, 8, Order::RoundRobin(u32::MAX));
        assert!(result.is_ok_and(|(_, memory)| memory != case.memory), "seed {seed}");
        assert!(!order_shows(&case, 8, seed), "seed {seed}, 8 lanes");
        assert!(!order_shows(&case, 64, seed), "seed {seed}, 64 lanes");
    }
}

#[test]
fn changed_programs_end_and_have_no_race_either() {
    let options = Options { max_threads: 64, nodes: 20, ..Options::default() };
    let mut changed = 0;
    for seed in 0..40 {
        let (first, mate) = (grow(seed, &options), grow(!seed, &options));
        let mut tree = first.clone();
        for step in 0..10 {
            tree = mutate(&tree, if step % 2 == 0 { &first } else { &mate }, seed << 8 | step, &options);
        }
        let result = run(&tree.case(), 8, Order::RoundRobin(u32::MAX));
        assert!(result.is_ok(), "seed {seed}: {result:?}");
        assert!(!order_shows(&tree.case(), 8, seed), "seed {seed}");
        changed += u32::from(tree != first);
    }
    assert_eq!(changed, 40);
}

#[test]
fn stored_trees_read_back() {
    for seed in 0..200 {
        let tree = grow(seed, &Options { fault: seed % 5 == 0, ..Options::default() });
        let text = ron::to_string(&tree).unwrap();
        assert_eq!(ron::from_str::<Tree>(&text).unwrap(), tree, "seed {seed}");
    }
}

/// Removes the barriers, except those inside of ifs.
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

#[test]
fn programs_print_as_assembly_that_assembles_to_the_same_words() {
    for seed in 0..20 {
        let program = grow(seed, &Options { fault: seed % 2 == 1, ..Options::default() }).case().program;
        let text = disassemble(&program);
        // To the assembler, a register past the declared ones is an error.
        let Ok((again, _)) = assemble(&text, "random.wave") else {
            assert!(seed % 2 == 1, "{text}");
            continue;
        };
        assert_eq!(again.code, program.code, "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_program_everywhere() {
    // FNV-1a of the code and the memory; changes only when the generator does.
    let case = grow(1, &Options::default()).case();
    let mut hasher = FnvHasher::default();
    case.program.code.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
    hasher.write(&case.memory);
    let hash = hasher.finish();
    assert_eq!(hash, 0x1D53_E635_FA0E_B12A, "{hash:#x}");
}

#[test]
fn programs_that_are_to_fault_meet_every_kind_of_fault() {
    let mut kinds = Vec::new();
    for seed in 0..150 {
        let case = grow(seed, &Options { fault: true, nodes: 30, ..Options::default() }).case();
        match run(&case, 8, Order::RoundRobin(u32::MAX)) {
            Ok(_) => {}
            Err(Stop::Fault(fault)) => kinds.push(std::mem::discriminant(&fault.kind)),
            Err(stop) => panic!("seed {seed}: {stop}"),
        }
    }
    assert!(kinds.len() > 90, "only {} of 150 programs fault", kinds.len());
    let (space, address) = (Space::Device, 0);
    for kind in [
        FaultKind::IllegalInstruction(DecodeError::Truncated),
        FaultKind::OutOfBounds { space, address, bytes: 1, size: 1 },
        FaultKind::MisalignedAtomic { space, address },
        FaultKind::DivergenceUnderflow,
        FaultKind::DivergenceOverflow { depth: 1 },
        FaultKind::CallOverflow { depth: 1 },
        FaultKind::ReturnDepth,
        FaultKind::BarrierInDivergence,
    ] {
        assert!(kinds.contains(&std::mem::discriminant(&kind)), "{kind:?} does not occur");
    }
}

/// The case with every `from` replaced by `to`, an operation with the same operands: a planted bug.
fn with_bug(case: &Case, from: Op, to: Op) -> Case {
    let mut bad = case.clone();
    let code = &mut bad.program.code;
    let mut at = 0;
    while at < code.len() {
        let inst = Inst::decode(&code[at..]);
        if let Ok(inst) = inst
            && inst.op == from
        {
            code[at] = Inst { op: to, ..inst }.encode()[0];
        }
        at += inst.map_or(1, |i| i.words()) as usize;
    }
    bad
}

#[test]
fn shrinking_leaves_little_but_the_bug() {
    let order = Order::RoundRobin(u32::MAX);
    let mut sizes = Vec::new();
    for (from, to) in [(Op::IMulHi, Op::IMul), (Op::FMin, Op::FMax), (Op::LocalLoadU16, Op::LocalLoadU8)] {
        let mut fails = |case: &Case| {
            run(case, 8, order).map(|r| r.1) != run(&with_bug(case, from, to), 8, order).map(|r| r.1)
        };
        let tree = (0..).map(|seed| grow(seed, &Options::default())).find(|tree| fails(&tree.case()));
        let tree = tree.expect("some seed shows the bug");
        let small = shrink(&tree, &mut fails);
        let case = small.case();
        assert!(fails(&case));
        assert_eq!((small.grid, small.threads()), ([1, 1, 1], 1), "{}", disassemble(&case.program));
        sizes.push((tree.case().program.code.len(), case.program.code.len()));
        assert!(case.program.code.len() < 60, "{}", disassemble(&case.program));
        println!("{}", disassemble(&case.program));
    }
    println!("{sizes:?}");
}
