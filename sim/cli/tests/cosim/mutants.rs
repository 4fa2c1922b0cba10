//! Each bug planted in the RTL (`BUG(n)` in its sources) is found by the program that rtl-tests/README.md
//! names.
//!
//! One executable of the small core contains all bugs, and `+bug=n` enables one. Bugs 101 and up are in the
//! core. The tests of the execution units find the others.

use crate::bench::{Case, SMALL_WAVES, executable, root};
use crate::campaign::{Mutants, Verdict};
use crate::rules;
use crate::suite::{broad_suite, illegal_suite, suite};
use std::path::Path;
use std::sync::LazyLock;
use wave_verify::rtl::{self, Disagreement, Mode, Variant};

/// Number of each bug in the sources, and its effect.
const BUGS: &[(u32, &str)] = &[
    (101, "a shadow is a cycle short"),
    (102, "the wave that issued last comes first again"),
    (103, "a negated guard is not negated"),
    (104, "issue does not see the predicate that is written in its cycle"),
    (105, "a control instruction whose guard leaves no lane has no shadow"),
    (106, "fence and wait have no shadow"),
    (107, "an acquire leaves the L1 as it is"),
    (108, "a wave that is ready alone issues without a free collector"),
    (109, "a destination is no hazard"),
    (110, "a guard is no hazard"),
    (111, "a barrier does not wait for the wave's accesses"),
    (112, "fetch wants room for one more instruction"),
    (113, "wait does not know of loads"),
    (114, "a line of code replaces the way that was used last"),
    (115, "the last group goes beyond the end of the code"),
    (116, "a request does not see the line that arrives in its cycle"),
    (117, "fetch takes its turn from slot 0 on"),
    (118, "a redirect keeps the first half of an instruction"),
    (119, "else forgets the lanes that finished the first side"),
    (120, "endif without else forgets the lanes of the other side"),
    (121, "continue leaves the loop"),
    (122, "lanes that continued once come back in each iteration"),
    (123, "the end of a construct that is walked over does not count"),
    (124, "the end of a loop forgets the loop around it"),
    (125, "return from another nesting depth is no fault"),
    (126, "a barrier waits for waves that have ended, while something of them is in flight"),
    (127, "surplus lanes of the last wave are active"),
    (128, "a slot is given away while something is in flight"),
    (129, "a bank reads two rows a cycle"),
    (130, "a register named twice is read twice"),
    (131, "a wave issues while it still reads operands"),
    (132, "special functions hold their unit a cycle less"),
    (133, "a write port is taken twice"),
    (134, "only the oldest collector may go to the load/store unit"),
    (135, "a load writes beside the result that has the port"),
    (136, "one pending entry less"),
    (137, "the part of an access beyond its line is forgotten"),
    (138, "the place of a finished access is free a cycle early"),
    (139, "local memory answers a cycle early"),
    (140, "a misaligned atomic is no fault"),
    (141, "lanes on one word of local memory take a pass each"),
    (142, "workgroups share one part of local memory"),
    (143, "local memory keeps what the last workgroup left"),
    (144, "an atomic packet holds several lanes of one word"),
    (145, "compare-and-swap stores what it compares with"),
    (146, "a store does not outdate the line that is on its way"),
    (147, "a hit is no use of its line"),
    (148, "a streamed line is the last to go"),
    (149, "an atomic of the L2 leaves the L1's copy"),
    (150, "of two responses that are ready, a hit's comes first"),
    (151, "an access passes the atomics on its line"),
    (152, "an L1 hit answers a cycle early"),
    (153, "a compare-and-swap that fails is written through"),
    (154, "one access less joins a miss"),
    (155, "a round of releases ends with its first acknowledgement"),
    (156, "what a fence was granted outlives it"),
    (157, "a long packet holds the port for one cycle"),
    (158, "the L1 comes before code at the port"),
    (159, "the dispatcher sees a workgroup's end a cycle late"),
    (160, "registers of an ended wave live on in the next one"),
    (161, "lanes that a first write leaves out keep what the slot had"),
    (162, "the last registers of a slot lie where the next slot's first ones do"),
    (163, "a wave whose line of code has come waits for its turn"),
    (170, "one return entry less"),
    (201, "the z of a workgroup counts a row late"),
    (202, "one workgroup less is resident than fits"),
    (203, "a wave's number is that of its slot"),
    (204, "a wave that ends lets nobody pass a barrier"),
    (205, "all workgroups have the id of the last one that came"),
    (206, "who passes a barrier takes along the waves at those of other workgroups"),
    (207, "predicates of an ended wave live on in the next one"),
    (208, "a condition is not negated"),
    (209, "a comparison clears the predicate of the lanes that it leaves out"),
    (210, "a fence that no lane executes invalidates the L1"),
    (211, "a barrier that some lanes do not reach is no fault"),
    (212, "an illegal instruction that no lane executes is a fault"),
    (213, "an instruction across two groups is at the word of its second half"),
    (214, "an instruction that the end of the code cuts off is waited for"),
    (215, "lanes that continue are lost if others come to the end of the loop"),
    (216, "a loop that no lane enters does not count as a construct"),
    (217, "an else in a construct that no lane enters turns lanes on"),
    (218, "a construct begins with the joined lanes of the one around it"),
    (219, "a return goes back to the call"),
    (220, "one construct less may be open"),
    (221, "one call less may be open"),
    (222, "a fence of system scope passes before the L2 has answered"),
    (223, "a store joins the epoch that a round has just closed"),
    (224, "a store that sets out in the cycle of an acknowledgement hides it"),
    (225, "the L2 is asked until it answers"),
    (226, "a packet without a byte is as long as one with bytes"),
    (227, "an atomic is as short as a read"),
    (229, "a load's row is written in all lanes"),
    (230, "the y of a thread counts the planes before it"),
    (231, "the number of waves is that of the resident workgroups"),
    (233, "an access loses the bits of its address from 16 on"),
    (234, "of two lanes that store to one byte, the first one wins"),
    (236, "the queue of hits has a place less than it counts"),
    (237, "a reply is taken while a place for its responses is missing"),
    (238, "who waits for a line gets it without the atomics before"),
    (239, "a line for which one streams counts as streamed"),
    (241, "a reply does not find the frame that its line has"),
    (242, "an empty frame is not preferred"),
    (243, "a hit in the cycle of a fill of its set forgets the fill"),
    (244, "a division holds its unit a cycle longer"),
    (245, "two instructions enter one unit at once"),
    (246, "two instructions that enter at once have their results at once"),
    (247, "special registers are those of the wave in slot 0"),
    (248, "an integer just above a tie rounds as a tie"),
    (249, "NaN converts to the largest integer"),
    (250, "a float from 2^31 on converts to the largest unsigned integer"),
    (251, "a bf16 NaN keeps its payload"),
    (252, "an arithmetic shift by 31 fills with zeros"),
    (253, "a shift by 32 or more gives 0"),
    (254, "the upper bound of a clamp is unsigned"),
    (255, "NaN saturates to 1"),
    (256, "0.5 rounds to 1"),
    (257, "zeros of two signs are not equal"),
    (258, "a clamp takes its lower bound last"),
    (259, "NaN is not unequal"),
    (260, "an instruction that waits for a load issues a cycle late"),
    (261, "a barrier waits for loads only"),
];

/// Bugs that need more waves than the small core has. On the full core, the program of a rule finds them
/// (`rules::the_program_of_each_rule_finds_its_bugs`).
const OF_MANY_WAVES: &[u32] = &[170];

/// Maximum number of random programs per bug.
const SEEDS: u64 = 60;

#[test]
fn the_list_has_every_bug_of_the_sources() {
    let mut planted = Vec::new();
    for entry in std::fs::read_dir(rtl::directory().join("rtl")).expect("the sources") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|e| e == "sv") {
            let text = std::fs::read_to_string(&path).expect("a text");
            let numbers = text.split("`BUG(").skip(1).filter_map(|rest| rest.split(')').next());
            planted.extend(numbers.map(|number| number.parse::<u32>().expect("a number")));
        }
    }
    planted.sort_unstable();
    planted.dedup();
    let listed: Vec<u32> = BUGS.iter().map(|&(number, _)| number).collect();
    assert_eq!(planted, listed);
    assert!(OF_MANY_WAVES.iter().all(|&bug| rules::finds(bug)));
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn every_planted_bug_is_found() {
    let variant = Variant { bugs: true, waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(core) = executable(&variant) else { return };
    let cases = suite(&core, SEEDS, 0);
    let mut table = "| bug | what it does | found by | cycle | at |\n|---|---|---|---|---|\n".to_owned();
    let mut survivors = Vec::new();
    for &(number, what) in BUGS.iter().filter(|(number, _)| !OF_MANY_WAVES.contains(number)) {
        let argument = format!("+bug={number}");
        let found = cases.iter().find_map(|(name, case)| {
            let difference = case.run_with(&core, Mode::Cycle, &[&argument]).err()?;
            Some((name, difference))
        });
        let (name, cycle, stage) = match found {
            Some((name, Disagreement::Differs { cycle, stage, .. })) => (name, cycle.to_string(), stage),
            Some((name, Disagreement::Broken(what))) => {
                let assertion =
                    what.lines().find_map(|line| line.split_once("Assertion failed in ")?.1.split_once(": "));
                let what = assertion
                    .map_or("no sense in its records".into(), |(_, what)| format!("assertion: {what}"));
                (name, String::new(), &*what.leak())
            }
            Some((name, why)) => panic!("{number}, {name}: {why}"),
            None => {
                survivors.push(number);
                continue;
            }
        };
        table += &format!("| {number} | {what} | {name} | {cycle} | {stage} |\n");
    }
    println!("{table}");
    assert!(survivors.is_empty(), "bugs that nothing found: {survivors:?}");
    let readme = std::fs::read_to_string(root().join("rtl-tests/README.md")).expect("the README");
    assert!(readme.contains(&table), "rtl-tests/README.md has another table than this:\n{table}");
}

/// Number of long and short random programs per mutant.
const CAMPAIGN: (u64, u64) = (4, 30);

/// Random programs of medium length that run before all others. Most mutants are found by one of them.
const BEFORE_OTHERS: usize = 4;

/// Fraction of the random programs that a mutant has met after the second round. The first round has the
/// medium ones, the third the longest.
const SECOND_ROUND: f64 = 0.6;

/// The last round has the illegal words. It applies to the decoding modules only.
const ILLEGAL_ROUND: usize = 4;
const DECODES: [&str; 2] = ["decode", "decoder"];

/// The programs of rounds 1 to 3.
fn random_rounds(original: &Path) -> [Vec<(String, Case)>; 3] {
    let (random, mut cases): (Vec<_>, Vec<_>) = suite(original, CAMPAIGN.0, CAMPAIGN.1)
        .into_iter()
        .partition(|(name, _)| name.starts_with("short random"));
    let middle = random.len() / 2;
    for (i, program) in random.into_iter().enumerate() {
        let before = (middle..middle + BEFORE_OTHERS).contains(&i);
        cases.insert(if before { 0 } else { cases.len() }, program);
    }
    let longest = cases.split_off((cases.len() as f64 * SECOND_ROUND) as usize);
    let others = cases.split_off(BEFORE_OTHERS);
    [cases, others, longest]
}

#[test]
#[ignore = "run by scripts/rtl_mutants.py, which makes the mutants"]
fn campaign() {
    let mutants = Mutants::made();
    let variant = Variant { waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(original) = executable(&variant) else { return };
    // Programs that reach most of the core in few cycles come first.
    let broad = LazyLock::new(|| broad_suite(&original));
    let random = LazyLock::new(|| random_rounds(&original));
    let illegal = LazyLock::new(|| illegal_suite(&original));
    let programs = |round| match round {
        0 => &*broad,
        ILLEGAL_ROUND => &*illegal,
        _ => &random[round - 1],
    };
    let model = mutants.model(rtl::wave_core(&rtl::directory(), &variant).expect("the sources"));
    let core = rtl::build(&model, &root().join("target/rtl")).unwrap_or_else(|error| panic!("{error}"));
    let meets = |module: &str, round| round != ILLEGAL_ROUND || DECODES.contains(&module);
    mutants.run(0..ILLEGAL_ROUND + 1, meets, |number, round| {
        let argument = format!("+mutant={number}");
        for (name, case) in programs(round) {
            let run = |mode| case.run_with(&core, mode, &[&argument]);
            if run(Mode::Cycle).is_ok() {
                continue;
            }
            // A mutant whose results are right differs in its cycles only.
            let how = match run(Mode::Architectural) {
                Ok(_) => "cycle",
                Err(Disagreement::Broken(_)) => "crash",
                Err(difference) if difference.to_string().contains("it gives up in cycle") => "time-out",
                Err(_) => "architectural",
            };
            return Verdict::Killed(how, name.clone());
        }
        Verdict::Survived
    });
}
