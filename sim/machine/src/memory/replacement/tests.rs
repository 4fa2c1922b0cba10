//! Each policy against a model that is written another way, and the orders that the book describes.

use crate::config::ReplacementPolicy;
use crate::memory::geometry::LineNumber;
use crate::memory::tags::{Frame, Tags};
use crate::registry::Reference;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::ops::Range;

/// What has happened to a way, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Installed,
    Used,
    Demoted,
}

/// A set of a model: everything that has happened to its ways.
type History = Vec<(usize, Event)>;

/// A model: the way that leaves a full set, given its history and the ways that may leave.
type Model = fn(&History, usize, &[bool]) -> Option<usize>;

/// The allowed way whose last event that counts is earliest. `counts` tells the events that count from those of a
/// way, of which the first precedes all uses; ways without one precede all others, in their order.
fn earliest(
    history: &History,
    allowed: &[bool],
    counts: impl Fn(&[Event]) -> Option<usize>,
) -> Option<usize> {
    let place = |way: usize| {
        let (places, events): (Vec<usize>, Vec<Event>) =
            history.iter().enumerate().filter(|(_, (of, _))| *of == way).map(|(i, (_, e))| (i, *e)).unzip();
        counts(&events).map(|i| places[i])
    };
    let candidates = (0..allowed.len()).filter(|&way| allowed[way]);
    candidates.min_by_key(|&way| place(way).map_or(0, |place| place + 1))
}

/// The last event, if it is a use.
fn lru(history: &History, ways: usize, allowed: &[bool]) -> Option<usize> {
    assert_eq!(allowed.len(), ways);
    earliest(history, allowed, |events| {
        let last = events.iter().rposition(|&event| event != Event::Installed)?;
        (events[last] == Event::Used).then_some(last)
    })
}

/// The first use since the line came, or since it was demoted.
fn fifo(history: &History, ways: usize, allowed: &[bool]) -> Option<usize> {
    assert_eq!(allowed.len(), ways);
    earliest(history, allowed, |events| {
        let since = events.iter().rposition(|&event| event != Event::Used).map_or(0, |i| i + 1);
        (since < events.len()).then_some(since)
    })
}

/// Of two halves the one that was not used last, or the one in which a line was demoted since.
fn plru(history: &History, ways: usize, allowed: &[bool]) -> Option<usize> {
    fn below(history: &History, ways: Range<usize>, allowed: &[bool]) -> Option<usize> {
        if ways.len() == 1 {
            return allowed[ways.start].then_some(ways.start);
        }
        let middle = ways.start + ways.len() / 2;
        let (lower, upper) = (ways.start..middle, middle..ways.end);
        let last = history.iter().rev().find(|(way, event)| ways.contains(way) && *event != Event::Installed);
        let prefers_upper =
            last.is_some_and(|(way, event)| upper.contains(way) == (*event == Event::Demoted));
        let [first, second] = if prefers_upper { [upper, lower] } else { [lower, upper] };
        below(history, first, allowed).or_else(|| below(history, second, allowed))
    }
    below(history, 0..ways, allowed)
}

const LINES: u32 = 24;

/// Drives a cache of two sets as an L1 and an L2 do: searches, takes the victim, installs, uses and demotes. The model
/// knows the history only.
fn compare(replacement: ReplacementPolicy, ways: usize, model: Model) {
    let mut random = Pcg32::seed_from_u64(ways as u64);
    let mut tags = Tags::of_built_in(2 * 128 * ways as u32, 128, ways as u32, replacement);
    let mut sets: [(Vec<Option<u32>>, History); 2] = std::array::from_fn(|_| (vec![None; ways], Vec::new()));
    let (mut refused, mut demoted) = (0, 0);
    for step in 0..4000 {
        let line = random.random_range(0..LINES);
        let (frames, history) = &mut sets[line as usize % 2];
        let streaming = random.random_range(0..4) == 0;
        let way = match frames.iter().position(|&held| held == Some(line)) {
            Some(way) => way,
            None => {
                let none = random.random_range(0..6) == 0;
                let allowed: Vec<bool> = (0..ways).map(|_| random.random_range(0..4) > 0 && !none).collect();
                let empty = frames.iter().position(Option::is_none);
                let expected = empty.or_else(|| model(history, ways, &allowed));
                let set = line % 2 * ways as u32;
                let victim = tags.victim(line, |frame| allowed[(frame.0 - set) as usize]);
                assert_eq!(victim, expected.map(|way| Frame(set + way as u32)), "{replacement:?} {step}");
                let (Some(frame), Some(way)) = (victim, expected) else {
                    refused += 1;
                    continue;
                };
                tags.install(frame, LineNumber(line), Reference::none);
                frames[way] = Some(line);
                history.push((way, Event::Installed));
                // A slice demotes every new line, and an L1 a streaming one.
                if streaming || random.random() {
                    demoted += 1;
                    tags.demote(frame);
                    history.push((way, Event::Demoted));
                }
                way
            }
        };
        let frame = tags.find(line, LineNumber(line)).expect("it is there");
        if !streaming {
            tags.touch(frame, Reference::none);
            history.push((way, Event::Used));
        }
        if random.random_range(0..50) == 0 {
            tags.remove(frame);
            frames[way] = None;
        }
    }
    assert!(refused > 100 && demoted > 100, "{refused} {demoted}");
}

#[test]
fn each_policy_agrees_with_its_model() {
    for &replacement in ReplacementPolicy::ALL {
        let (model, ways): (Model, &[usize]) = match replacement {
            ReplacementPolicy::Lru => (lru, &[1, 2, 3, 4, 8]),
            ReplacementPolicy::Plru => (plru, &[1, 2, 4, 8]),
            ReplacementPolicy::Fifo => (fifo, &[1, 2, 3, 4, 8]),
            // It does not depend on the history: see the next test.
            ReplacementPolicy::Random => continue,
            ReplacementPolicy::PlugIn(_) => unreachable!("none is built in"),
        };
        ways.iter().for_each(|&ways| compare(replacement, ways, model));
    }
}

/// The generator of the book, drawn once for each line that came.
#[test]
fn random_agrees_with_its_model() {
    for ways in [1, 2, 3, 8] {
        let mut model = Pcg32::seed_from_u64(0);
        let mut tags = Tags::of_built_in(128 * ways, 128, ways, ReplacementPolicy::Random);
        let mut others = Pcg32::seed_from_u64(7);
        for line in 0..2000 {
            let frame = tags.victim(0, |_| true).expect("a line may leave");
            tags.install(frame, LineNumber(line), Reference::none);
            let start = model.random_range(0..ways);
            if line + 1 < ways {
                assert_eq!(frame, Frame(line), "the empty ones first");
                continue;
            }
            let may_leave = |way: u32, pinned: u32| ways == 1 || way != pinned;
            let pinned = others.next_u32() % ways;
            let expected = (0..ways).map(|i| (start + i) % ways).find(|&way| may_leave(way, pinned));
            assert_eq!(tags.victim(0, |frame| may_leave(frame.0, pinned)), expected.map(Frame));
        }
    }
}

#[test]
fn the_least_recently_used_line_leaves() {
    let mut tags = full(ReplacementPolicy::Lru);
    tags.touch(tags.find(0, LineNumber(0)).unwrap(), Reference::none);
    assert_eq!(tags.line(tags.victim(0, |_| true).unwrap()), Some(LineNumber(1)));
    tags.demote(tags.find(0, LineNumber(3)).unwrap());
    let three = tags.find(0, LineNumber(3)).unwrap();
    assert_eq!(tags.victim(0, |_| true), Some(three));
    assert_eq!(tags.line(tags.victim(0, |f| f != three).unwrap()), Some(LineNumber(1)));
    assert_eq!(tags.victim(0, |_| false), None);
}

/// Fills a set of four ways with lines 0 to 3, in this order.
fn full(replacement: ReplacementPolicy) -> Tags {
    let mut tags = Tags::of_built_in(4 * 128, 128, 4, replacement);
    for line in 0..4 {
        let frame = tags.victim(0, |_| true).unwrap();
        tags.install(frame, LineNumber(line), Reference::none);
        tags.touch(frame, Reference::none);
    }
    tags
}

#[test]
fn the_line_that_came_first_leaves_however_often_it_is_used() {
    let mut tags = full(ReplacementPolicy::Fifo);
    for leaves in [0, 1, 2] {
        tags.touch(Frame(leaves), Reference::none);
        assert_eq!(tags.victim(0, |_| true), Some(Frame(leaves)));
        tags.install(Frame(leaves), LineNumber(10 + leaves), Reference::none);
        tags.touch(Frame(leaves), Reference::none);
    }
    assert_eq!(tags.victim(0, |frame| frame.0 < 3), Some(Frame(0)), "in the order in which they came again");
    // A streaming line takes no place in the order until another access uses it.
    tags.install(Frame(3), LineNumber(13), Reference::none);
    tags.demote(Frame(3));
    assert_eq!(tags.victim(0, |_| true), Some(Frame(3)));
    tags.touch(Frame(3), Reference::none);
    assert_eq!(tags.victim(0, |_| true), Some(Frame(0)));
}

#[test]
fn the_tree_of_pseudo_lru_turns_away_from_what_was_used() {
    let mut tags = full(ReplacementPolicy::Plru);
    let leaves = |tags: &Tags| tags.victim(0, |_| true).unwrap().0;
    // 3 was used last: the root points at the lower half, whose node points away from 1.
    assert_eq!(leaves(&tags), 0);
    tags.touch(Frame(0), Reference::none);
    assert_eq!(leaves(&tags), 2, "the half that 0 is not in, and there away from 3");
    // True LRU would choose 1 after 0 and 2.
    tags.touch(Frame(2), Reference::none);
    assert_eq!(leaves(&tags), 1);
    tags.touch(Frame(1), Reference::none);
    assert_eq!(leaves(&tags), 3, "of 3 and 0, unused since, the one whose half is older");
    tags.demote(Frame(2));
    assert_eq!(leaves(&tags), 2);
    assert_eq!(tags.victim(0, |f| f.0 < 2), Some(Frame(0)), "the other half, if it has to be");
    assert_eq!(tags.victim(0, |_| false), None);
}

#[test]
fn random_lines_leave_evenly_and_the_same_way_every_time() {
    let run = || {
        let mut tags = full(ReplacementPolicy::Random);
        let chosen = |line| {
            let frame = tags.victim(0, |_| true).unwrap();
            assert_eq!(tags.victim(0, |_| true), Some(frame), "looking changes nothing");
            tags.install(frame, LineNumber(line), Reference::none);
            tags.touch(frame, Reference::none);
            frame.0
        };
        (4..4004).map(chosen).collect::<Vec<u32>>()
    };
    let order = run();
    assert_eq!(order, run());
    for way in 0..4 {
        let share = order.iter().filter(|&&w| w == way).count();
        assert!((900..1100).contains(&share), "way {way}: {share} of 4000");
    }
    let tags = full(ReplacementPolicy::Random);
    assert_eq!(tags.victim(0, |f| f.0 == 2), Some(Frame(2)));
}
