//! An L1 that writes back, alone.

use super::tests::{Bench, byte};
use super::*;
use crate::config::WritePolicy;
use crate::memory::RequestKind;
use crate::memory::message::MAX_LINE_BYTES;
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

fn bench(change: impl FnOnce(&mut Config)) -> Bench {
    Bench::new(|config| {
        config.core.l1.write_policy = WritePolicy::WriteBack;
        change(config);
    })
}

/// Bytes of sector 0 of a line of the example machine.
const SECTOR: u128 = (1 << 32) - 1;

#[test]
fn a_store_stays_and_is_seen_by_later_loads() {
    let mut bench = bench(|_| {});
    let hit = bench.l1.spec.hit_latency;
    bench.store(0, SECTOR, 7, 1).unwrap();
    assert_eq!(bench.l1.dirty_lines(), 1);
    bench.tick();
    // The whole sector is valid although nothing was fetched.
    bench.load(0, 1, 2).unwrap();
    bench.ticks(hit);
    assert_eq!(bench.take(), Some((2, 7)));
    assert!(bench.requests().is_empty(), "no store, no fetch");
    assert!(bench.l1.is_idle());
}

#[test]
fn what_is_fetched_goes_around_the_dirty_bytes_of_the_time_of_the_load() {
    let mut bench = bench(|_| {});
    bench.store(0, 0b1, 7, 1).unwrap();
    bench.tick();
    bench.load(0, 1, 2).unwrap();
    bench.tick();
    // A later store must neither show in the earlier load nor be lost.
    bench.store(0, 0b11, 8, 3).unwrap();
    bench.ticks(2);
    let request = bench.requests().remove(0);
    assert_eq!((request.kind, request.sectors), (RequestKind::Read, 1));
    assert!(bench.answer(&request, 5));
    bench.tick();
    assert_eq!(bench.take(), Some((2, 7)));
    assert_eq!(bench.served[&2][..3], [7, 5, 5]);
    bench.tick();
    bench.load(0, 1, 4).unwrap();
    bench.ticks(3);
    let request = bench.requests().remove(0);
    assert!(bench.answer(&request, 5));
    bench.tick();
    assert_eq!(bench.take(), Some((4, 8)));
    assert_eq!(bench.served[&4][..3], [8, 8, 5]);
}

#[test]
fn lines_of_a_closing_epoch_leave_one_a_cycle() {
    let mut bench = bench(|c| c.interconnect.queue_entries = 8);
    for line in 0..3 {
        bench.store(line * 128, 0b1, 7, 0).unwrap();
    }
    bench.epoch = 1;
    bench.store(3 * 128, 0b1, 7, 0).unwrap();
    // A line that is already dirty stays in its epoch.
    bench.store(0, 0b10, 9, 0).unwrap();
    assert_eq!(bench.l1.next_event(bench.now, &bench.port, 0), NEVER);
    assert_eq!(bench.l1.next_event(bench.now, &bench.port, 1), bench.now);
    bench.closing = 1;
    for left in [3, 2, 1, 1] {
        bench.tick();
        assert_eq!(bench.l1.dirty_lines(), left);
    }
    bench.ticks(20);
    let requests = bench.requests();
    let lines: Vec<(u64, u128)> = requests.iter().map(|r| (r.line, r.byte_mask())).collect();
    assert_eq!(lines, [(0, 0b11), (128, 0b1), (256, 0b1)]);
    assert_eq!([0, 1, 2].map(|i| byte(&requests[0], i)), [7, 9, 0]);
    for request in &requests {
        assert!(bench.answer(request, 0));
        bench.tick();
        let response = bench.l1.take_response(bench.now, true);
        assert_eq!(response, Some(Response { owner: 0, kind: ResponseKind::WrittenBack }));
        bench.tick();
    }
    bench.closing = 2;
    bench.ticks(4);
    assert_eq!(bench.requests()[0].line, 384);
    assert_eq!(bench.l1.counters().write_backs, 4);
}

#[test]
fn what_passes_the_l1_by_comes_behind_the_dirty_bytes() {
    let kinds = |bench: &mut Bench| -> Vec<RequestKind> {
        bench.ticks(20);
        bench.requests().iter().map(|r| r.kind).collect()
    };
    let mut atomic = bench(|_| {});
    atomic.store(0, 0b1, 7, 1).unwrap();
    atomic.add(Scope::Device, 0, 2).unwrap();
    assert_eq!(kinds(&mut atomic), [RequestKind::Write, RequestKind::Atomic(AtomicOp::Add)]);
    let mut uncached = bench(|_| {});
    uncached.store(0, 0b1, 7, 1).unwrap();
    uncached.access(Operation::Load { sectors: 1 }, CacheHint::Uncached, 0, 2).unwrap();
    assert_eq!(kinds(&mut uncached), [RequestKind::Write, RequestKind::Read]);
    let mut store = bench(|_| {});
    store.store(0, 0b1, 7, 1).unwrap();
    let data = [3; MAX_LINE_BYTES];
    store.access(Operation::Store { byte_mask: 0b1, data: &data }, CacheHint::Uncached, 0, 2).unwrap();
    store.ticks(20);
    let bytes: Vec<u8> = store.requests().iter().map(|r| byte(r, 0)).collect();
    assert_eq!((bytes, store.l1.dirty_lines()), (vec![7, 3], 0));
    // A workgroup atomic whose sector is not valid: dirty bytes, its fetch, its result.
    let mut local = bench(|_| {});
    local.store(0, 0b1, 7, 1).unwrap();
    local.add(Scope::Workgroup, 0, 2).unwrap();
    local.ticks(20);
    let requests = local.requests();
    assert_eq!(requests.iter().map(|r| r.kind).collect::<Vec<_>>(), [RequestKind::Write, RequestKind::Read]);
    assert!(local.answer(&requests[1], 7));
    assert_eq!(kinds(&mut local), [RequestKind::Write]);
    assert_eq!(local.l1.dirty_lines(), 0);
    // An atomic whose sectors are valid stays in the L1.
    local.take();
    local.tick();
    local.add(Scope::Workgroup, 0, 3).unwrap();
    assert_eq!(local.l1.dirty_lines(), 1);
    assert!(kinds(&mut local).is_empty());
}

#[test]
fn a_reply_does_not_wait_for_a_dirty_line_to_leave() {
    let mut bench = bench(|c| {
        c.core.l1.bytes = 128;
        c.core.l1.ways = 1;
        c.interconnect.queue_entries = 3;
        c.interconnect.port_bytes_per_cycle = 1;
    });
    bench.load(0, 1, 1).unwrap();
    bench.ticks(20);
    let request = bench.requests().remove(0);
    bench.store(128, 0b1, 7, 2).unwrap();
    // Fill the queue: no room for the write of line 1.
    for line in 8..11 {
        bench.load(line * 128, 1, 3).unwrap();
    }
    assert!(bench.answer(&request, 5));
    bench.tick();
    assert_eq!(bench.take(), Some((1, 5)));
    assert_eq!((bench.l1.dirty_lines(), bench.l1.counters().evictions), (1, 0));
    // A store that needs the frame waits.
    assert_eq!(bench.store(256, 0b1, 7, 4), Err(Reject::Outgoing));
    bench.ticks(200);
    bench.store(256, 0b1, 7, 4).unwrap();
    assert_eq!((bench.l1.dirty_lines(), bench.l1.counters().evictions), (1, 1));
}

#[test]
fn an_acquire_keeps_the_dirty_bytes_and_nothing_else() {
    let mut bench = bench(|_| {});
    bench.fill(0, 0b11, 3);
    bench.store(0, SECTOR, 7, 1).unwrap();
    bench.fill(128, 1, 3);
    bench.l1.invalidate();
    assert_eq!(bench.l1.counters().invalidated_lines, 2);
    bench.load(0, 1, 2).unwrap();
    assert_eq!(bench.l1.counters().hits, 1);
    bench.load(0, 2, 2).unwrap();
    bench.load(128, 1, 2).unwrap();
    assert_eq!((bench.l1.counters().hits, bench.l1.dirty_lines()), (1, 1));
}
