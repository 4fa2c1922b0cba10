//! Prefetches of an L1 alone (M34).

use super::tests::Bench;
use super::*;
use crate::config::Prefetch;

fn bench(change: impl FnOnce(&mut Config)) -> Bench {
    Bench::new(|config| {
        config.core.l1.prefetcher = Prefetch::NextLine;
        change(config);
    })
}

fn requested(bench: &mut Bench) -> Vec<(u64, u8)> {
    bench.requests().iter().map(|request| (request.line, request.sectors)).collect()
}

#[test]
fn a_miss_asks_for_the_line_behind_in_the_next_cycle_without_an_access() {
    let mut bench = bench(|_| {});
    bench.load(0, 1, 0).unwrap();
    bench.tick();
    assert_eq!(bench.l1.prefetches_from(), bench.now);
    // The tags serve one line a cycle, and this access is before.
    bench.load(4096, 1, 1).unwrap();
    bench.tick();
    assert_eq!(bench.l1.counters().prefetches, 0);
    bench.tick();
    assert_eq!(bench.l1.counters().prefetches, 1);
    bench.ticks(6);
    // A whole line each; 4096 has asked for its next one too.
    assert_eq!(requested(&mut bench), [(0, 1), (4096, 1), (128, 0xF), (4096 + 128, 0xF)]);
    assert_eq!(bench.l1.prefetches_from(), NEVER);
}

#[test]
fn a_prefetched_line_is_a_hit_and_one_under_way_is_joined() {
    let mut bench = bench(|_| {});
    bench.load(0, 1, 0).unwrap();
    bench.ticks(5);
    let requests = bench.requests();
    assert!(bench.answer(&requests[0], 1));
    // Under way: the access joins.
    bench.load(128, 2, 1).unwrap();
    bench.ticks(2);
    assert!(bench.answer(&requests[1], 2));
    bench.ticks(2);
    // There: a hit, which is not the first use.
    bench.load(128, 4, 2).unwrap();
    let counters = bench.l1.counters();
    assert_eq!(
        (counters.prefetch_late, counters.prefetch_hits, counters.mshr_hits, counters.hits),
        (1, 0, 1, 1)
    );
    assert!(bench.requests().is_empty());

    let mut bench = self::bench(|_| {});
    bench.load(0, 1, 0).unwrap();
    bench.ticks(5);
    let requests = bench.requests();
    assert!(requests.iter().all(|request| bench.answer(request, 3)));
    bench.ticks(2);
    bench.load(128, 1, 1).unwrap();
    bench.tick();
    bench.load(128, 1, 2).unwrap();
    assert_eq!((bench.l1.counters().prefetch_hits, bench.l1.counters().hits), (1, 2));
}

#[test]
fn the_last_mshr_is_for_accesses_and_what_is_there_is_not_asked_for() {
    let mut bench = bench(|c| c.core.l1.mshrs = 2);
    bench.load(0, 1, 0).unwrap();
    bench.ticks(5);
    assert_eq!(requested(&mut bench), [(0, 1)], "one MSHR is left");
    assert_eq!(bench.l1.prefetches_from(), bench.now, "it is tried again");

    let mut bench = self::bench(|_| {});
    bench.fill(128, 0xF, 1);
    bench.ticks(4);
    bench.requests();
    bench.load(0, 1, 0).unwrap();
    bench.ticks(4);
    assert_eq!(requested(&mut bench), [(0, 1)]);
    assert_eq!(bench.l1.counters().prefetch_dropped, 1);
}

#[test]
fn an_invalidation_makes_a_prefetch_stale_and_memory_has_an_end() {
    let mut bench = bench(|_| {});
    bench.load(0, 1, 0).unwrap();
    bench.ticks(5);
    let requests = bench.requests();
    bench.l1.invalidate();
    assert!(requests.iter().all(|request| bench.answer(request, 3)));
    bench.ticks(2);
    bench.load(128, 1, 1).unwrap();
    assert_eq!(bench.l1.counters().hits, 0, "it has installed nothing");

    let mut bench = self::bench(|_| {});
    bench.l1.set_memory_bytes(4096);
    bench.load(4096 - 128, 1, 0).unwrap();
    bench.ticks(5);
    assert_eq!((bench.l1.counters().prefetches, bench.l1.counters().prefetch_dropped), (0, 1));
}

#[test]
fn a_full_queue_drops_what_is_asked_for() {
    for (entries, dropped) in [(1, 1), (2, 0)] {
        let mut bench = bench(|c| c.core.l1.prefetch_entries = entries);
        bench.load(0, 1, 0).unwrap();
        bench.tick();
        // The line behind that of the first access waits still.
        bench.load(4096, 1, 1).unwrap();
        assert_eq!(bench.l1.counters().prefetch_dropped, dropped, "{entries} entries");
    }
}
