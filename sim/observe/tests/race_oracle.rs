//! The race detector compared with a brute-force happens-before: random traces, a graph with an edge for each
//! rule of docs/memory-model.md, and paths in that graph.

use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::{BTreeMap, BTreeSet};
use wave_isa::Scope;
use wave_observe::races::detector::{Access, Detector, LaneAccess, Pair};
use wave_observe::races::shadow::Kind;

const SCOPES: [Scope; 4] = [Scope::Wave, Scope::Workgroup, Scope::Device, Scope::System];
const WAVES_PER_WORKGROUP: u32 = 2;
const WAVES: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    Access { wave: u32, kind: Kind, scope: Scope, address: u32, local: bool },
    Fence { wave: u32, acquire: bool, release: bool, scope: Scope },
    Barrier { wave: u32 },
}

impl Event {
    fn wave(&self) -> u32 {
        match *self {
            Event::Access { wave, .. } | Event::Fence { wave, .. } | Event::Barrier { wave } => wave,
        }
    }
}

fn pick<T: Copy>(generator: &mut Pcg32, from: &[T]) -> T {
    from[generator.next_u32() as usize % from.len()]
}

/// A trace that a machine can produce: a wave at a barrier waits for the others of its workgroup. With
/// `careful`, plain accesses are rare, so that many traces have no race.
fn trace(generator: &mut Pcg32, careful: bool) -> Vec<Event> {
    let mut events = Vec::new();
    let mut waiting = BTreeSet::new();
    for _ in 0..4 + generator.next_u32() % 24 {
        let wave = generator.next_u32() % WAVES;
        if waiting.contains(&wave) {
            continue;
        }
        events.push(match generator.next_u32() % 10 {
            0..=2 => {
                let (acquire, release) = pick(generator, &[(true, false), (false, true), (true, true)]);
                Event::Fence { wave, acquire, release, scope: pick(generator, &SCOPES) }
            }
            3 => {
                waiting.insert(wave);
                Event::Barrier { wave }
            }
            roll => {
                let kind = if careful && roll > 4 {
                    Kind::Atomic
                } else {
                    pick(generator, &[Kind::Load, Kind::Store, Kind::Atomic])
                };
                // If `careful`, words 0 and 1 are flags.
                let word = if careful && kind == Kind::Atomic { 0 } else { 2 } + generator.next_u32() % 2;
                let local = generator.next_u32().is_multiple_of(4);
                let scope = if local { Scope::Workgroup } else { pick(generator, &SCOPES) };
                Event::Access { wave, kind, scope, address: 4 * word, local }
            }
        });
        for group in 0..WAVES / WAVES_PER_WORKGROUP {
            let members = group * WAVES_PER_WORKGROUP..(group + 1) * WAVES_PER_WORKGROUP;
            if members.clone().all(|wave| waiting.contains(&wave)) {
                waiting.retain(|wave| !members.contains(wave));
            }
        }
    }
    events
}

/// Messages passed along a chain of waves. Each hop uses its own word, with fences of random scope. Some
/// events are left out.
fn messages(generator: &mut Pcg32) -> Vec<Event> {
    let access = |wave, kind, scope, address| Event::Access { wave, kind, scope, address, local: false };
    let scope = |generator: &mut Pcg32| {
        pick(generator, &[Scope::Workgroup, Scope::Device, Scope::Device, Scope::System])
    };
    let (mut wave, flags) = (generator.next_u32() % WAVES, generator.next_u32().is_multiple_of(2));
    let mut events = vec![access(wave, Kind::Store, Scope::Wave, 64)];
    for hop in 0..1 + generator.next_u32() % 3 {
        let next = (wave + 1 + generator.next_u32() % (WAVES - 1)) % WAVES;
        let flag = if flags { 0 } else { 4 * hop };
        let (s, t) = (scope(generator), scope(generator));
        events.extend([
            Event::Fence { wave, acquire: false, release: true, scope: s },
            access(wave, Kind::Atomic, Scope::Device, flag),
            access(next, Kind::Atomic, Scope::Device, flag),
            Event::Fence { wave: next, acquire: true, release: false, scope: t },
            access(next, pick(generator, &[Kind::Load, Kind::Store]), Scope::Wave, 64),
        ]);
        wave = next;
    }
    events.retain(|_| !generator.next_u32().is_multiple_of(16));
    events
}

fn group(wave: u32) -> u32 {
    wave / WAVES_PER_WORKGROUP
}

/// Rule S2: scope inclusion.
fn include(a: u32, a_scope: Scope, b: u32, b_scope: Scope) -> bool {
    match a_scope.min(b_scope) {
        Scope::Wave => a == b,
        Scope::Workgroup => group(a) == group(b),
        Scope::Device | Scope::System => true,
    }
}

/// Racing pairs by the memory model, in the execution where each read reads the last write of the trace. With
/// `distrust`, rule H2 applies only to atomics on words without a race so far, as in the detector.
fn races(events: &[Event], distrust: bool) -> BTreeSet<(usize, usize)> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = events.iter().map(|_| graph.add_node(())).collect();
    let place = |e: &Event| match *e {
        Event::Access { wave, address, local, .. } => Some((local.then(|| group(wave)), address)),
        _ => None,
    };
    // Rule H1.
    for (i, event) in events.iter().enumerate() {
        if let Some(before) = (0..i).rev().find(|&j| events[j].wave() == event.wave()) {
            graph.add_edge(nodes[before], nodes[i], ());
        }
    }
    // Rule H3: the n-th barriers of a workgroup's waves. Edges lead from each to the successors of the
    // others.
    let number = |i: usize| {
        (0..i).filter(|&j| matches!(events[j], Event::Barrier { wave } if wave == events[i].wave())).count()
    };
    for i in 0..events.len() {
        for j in 0..events.len() {
            let (Event::Barrier { wave: a }, Event::Barrier { wave: b }) = (events[i], events[j]) else {
                continue;
            };
            if a != b
                && group(a) == group(b)
                && number(i) == number(j)
                && let Some(next) = (j + 1..events.len()).find(|&k| events[k].wave() == b)
            {
                graph.add_edge(nodes[i], nodes[next], ());
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut raced = BTreeSet::new();
    // By location: the writes whose release sequence the next read reads from.
    let mut heads: BTreeMap<(Option<u32>, u32), Vec<usize>> = BTreeMap::new();
    for i in 0..events.len() {
        let (Event::Access { wave, kind, scope, .. }, Some(here)) = (events[i], place(&events[i])) else {
            continue;
        };
        for j in 0..i {
            let Event::Access { wave: other, kind: other_kind, scope: other_scope, .. } = events[j] else {
                continue;
            };
            let atomics = kind == Kind::Atomic && other_kind == Kind::Atomic;
            let exempt = atomics && include(wave, scope, other, other_scope);
            let reads = kind == Kind::Load && other_kind == Kind::Load;
            if place(&events[j]) == Some(here)
                && wave != other
                && !reads
                && !exempt
                && !has_path_connecting(&graph, nodes[j], nodes[i], None)
            {
                found.insert((j, i));
                if distrust {
                    raced.insert(here);
                }
            }
        }
        let trusted = !distrust || kind == Kind::Atomic && !raced.contains(&here);
        // Rule H2: from every release fence before a head to every acquire fence after this read.
        if kind != Kind::Store && trusted {
            for &head in heads.get(&here).into_iter().flatten() {
                for f in 0..head {
                    for g in i + 1..events.len() {
                        let (
                            Event::Fence { wave: a, release: true, scope: s, .. },
                            Event::Fence { wave: b, acquire: true, scope: t, .. },
                        ) = (events[f], events[g])
                        else {
                            continue;
                        };
                        let program_order = a == events[head].wave() && b == wave;
                        if program_order && a != b && include(a, s, b, t) {
                            graph.add_edge(nodes[f], nodes[g], ());
                        }
                    }
                }
            }
        }
        match kind {
            Kind::Load => {}
            Kind::Store if distrust => drop(heads.insert(here, Vec::new())),
            Kind::Store => drop(heads.insert(here, vec![i])),
            Kind::Atomic => heads.entry(here).or_default().push(i),
        }
        if raced.contains(&here) {
            heads.remove(&here);
        }
    }
    found
}

/// Races found by the detector. The pc of an access is its position in the trace.
fn detected(events: &[Event]) -> BTreeSet<(usize, usize)> {
    let [few, many] = [WAVES as usize * 8, 0].map(|few| detect(events, few));
    // The way in which the accesses to a word are stored must not matter: same pairs in the same order, with
    // the same counts and places.
    assert_eq!(few, many, "{events:#?}");
    few.iter().map(|pair| (pair.first.pc as usize, pair.second.pc as usize)).collect()
}

/// Races found by a detector that keeps at most this many accesses to a word in a list.
fn detect(events: &[Event], few: usize) -> Vec<Pair> {
    let mut detector = Detector::new(WAVES_PER_WORKGROUP, 1 << 20).with_few(few);
    for (i, event) in events.iter().enumerate() {
        match *event {
            Event::Fence { wave, acquire, release, scope } => detector.fence(wave, acquire, release, scope),
            Event::Barrier { wave } => detector.barrier(wave),
            Event::Access { wave, kind, scope, address, local } => {
                let at_l2 = kind == Kind::Atomic && !local && scope >= Scope::Device;
                let access =
                    Access { wave, core: 0, pc: i as u32, kind, scope, at_l2, may_fail: false, local };
                detector.access(&access, std::iter::once(LaneAccess { lane: 0, address, bytes: 4 }));
                if at_l2 {
                    detector.performed(0, address / 4, true);
                }
            }
        }
    }
    detector.pairs().copied().collect()
}

fn seconds(pairs: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    pairs.iter().map(|&(_, second)| second).collect()
}

#[test]
fn detector_and_brute_force_agree() {
    let mut generator = Pcg32::seed_from_u64(7);
    let (mut clean, mut racy, mut ordered) = (0, 0, 0);
    for round in 0..30_000 {
        let events = match round % 3 {
            0 => messages(&mut generator),
            part => trace(&mut generator, part == 1),
        };
        let (found, model, exact) = (detected(&events), races(&events, false), races(&events, true));
        // Each reported pair is a race, and each access that races with an earlier one is reported. Not all
        // pairs of an access are kept: an earlier access is dropped if it happens before another one that
        // stands for it.
        assert!(found.is_subset(&exact), "{events:#?}\n{found:?}\n{exact:?}");
        assert_eq!(seconds(&found), seconds(&exact), "{events:#?}\n{found:?}\n{exact:?}");
        // A race is reported exactly if the trace has one by the model, and the first report is the first
        // race of the model.
        assert_eq!(found.is_empty(), model.is_empty(), "{events:#?}\n{found:?}\n{model:?}");
        assert_eq!(seconds(&found).first(), seconds(&model).first(), "{events:#?}\n{found:?}\n{model:?}");
        let unfenced: Vec<Event> =
            events.iter().copied().filter(|e| matches!(e, Event::Access { .. })).collect();
        ordered += usize::from(found.is_empty() && !races(&unfenced, false).is_empty());
        *(if found.is_empty() { &mut clean } else { &mut racy }) += 1;
    }
    assert!(clean > 1000 && racy > 1000 && ordered > 2000, "{clean} {racy} {ordered}");
}

/// Work of the check for two rounds in which each of `waves` waves of 32 lanes accesses the same word.
fn cost(waves: u32, kind: Kind, scope: Scope) -> u64 {
    let mut detector = Detector::new(WAVES_PER_WORKGROUP, 1 << 24);
    let at_l2 = kind == Kind::Atomic;
    for pc in 0..2 {
        for wave in 0..waves {
            let access =
                Access { wave, core: wave % 16, pc, kind, scope, at_l2, may_fail: false, local: false };
            detector.access(&access, (0..32).map(|lane| LaneAccess { lane, address: 64, bytes: 4 }));
            for _ in 0..if at_l2 { 32 } else { 0 } {
                detector.performed(wave % 16, 16, true);
            }
        }
    }
    assert_eq!((detector.races, detector.left_out()), (0, 0));
    detector.looked_at()
}

#[test]
fn many_waves_at_one_word_cost_in_proportion_to_their_number() {
    for (kind, scope) in [(Kind::Load, Scope::Wave), (Kind::Atomic, Scope::Device)] {
        let [some, more] = [1000, 8000].map(|waves| cost(waves, kind, scope));
        assert!(some >= 1000, "{kind:?}: {some} for 1000 waves: something is looked at");
        assert!(more <= 9 * some, "{kind:?}: {some} for 1000 waves, {more} for 8000");
    }
}
