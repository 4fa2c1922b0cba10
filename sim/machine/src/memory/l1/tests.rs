//! The L1 alone. The tests play the memory side.

use super::*;
use crate::clock::LinkRx;
use crate::clock::exchange;
use crate::config::WritePolicy;
use crate::memory::message::{LineData, MAX_LINE_BYTES, Reply, ReplyKind};
use crate::memory::port::core_port;
use crate::memory::tests::keep;
use crate::registry::Requester;
use std::collections::HashMap;
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

/// An L1, its port, and the memory side's end of the port.
pub(super) struct Bench {
    pub(super) l1: L1,
    pub(super) port: MemoryPort,
    memory: crate::memory::port::CorePort,
    pub(super) now: Cycle,
    /// The open epoch.
    pub(super) epoch: u8,
    /// Epochs that are being closed.
    pub(super) closing: u8,
    /// Values served, by owner.
    pub(super) served: HashMap<u32, LineData>,
}

/// A byte of the data of a write.
pub(super) fn byte(request: &Request, place: usize) -> u8 {
    request.values.as_ref().expect("a write brings values").data[place]
}

impl Bench {
    pub(super) fn new(change: impl FnOnce(&mut Config)) -> Bench {
        let mut config = Config::example();
        config.interconnect.latency_cycles = 1;
        change(&mut config);
        let (port, memory) = core_port(0, &config);
        Bench {
            l1: L1::new(&config, 0),
            port,
            memory,
            now: 100,
            epoch: 0,
            closing: 0,
            served: HashMap::new(),
        }
    }

    pub(super) fn access(
        &mut self,
        operation: Operation,
        hint: CacheHint,
        line: u64,
        owner: u32,
    ) -> Result<(), Reject> {
        let access = Access { operation, hint, line, by: Requester::NONE, owner, epoch: self.epoch };
        self.l1.access(self.now, &access, &mut keep(&mut self.served)).map(|_| ())
    }

    pub(super) fn load(&mut self, line: u64, sectors: u8, owner: u32) -> Result<(), Reject> {
        self.access(Operation::Load { sectors }, CacheHint::Cached, line, owner)
    }

    pub(super) fn store(&mut self, line: u64, byte_mask: u128, value: u8, owner: u32) -> Result<(), Reject> {
        let data = [value; MAX_LINE_BYTES];
        self.access(Operation::Store { byte_mask, data: &data }, CacheHint::Cached, line, owner)
    }

    pub(super) fn add(&mut self, scope: Scope, line: u64, owner: u32) -> Result<(), Reject> {
        let mut data = [0; MAX_LINE_BYTES];
        data[0] = 1;
        let operation = Operation::Atomic { op: AtomicOp::Add, scope, byte_mask: 0xF, data: &data, swap: 0 };
        self.access(operation, CacheHint::Cached, line, owner)
    }

    /// Ends the cycle: the L1 sends, and the next cycle begins.
    pub(super) fn tick(&mut self) {
        self.l1.tick(self.now, &mut self.port, self.closing, &mut |_| ());
        exchange(&mut self.port.requests, &mut self.memory.requests);
        exchange(&mut self.memory.replies, &mut self.port.replies);
        self.now += 1;
    }

    pub(super) fn ticks(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.tick());
    }

    /// Requests that have arrived at the memory side.
    pub(super) fn requests(&mut self) -> Vec<Request> {
        fn pop(link: &mut LinkRx<Request>, now: Cycle) -> Option<Request> {
            link.pop(now)
        }
        let now = self.now;
        std::iter::from_fn(|| pop(&mut self.memory.requests, now)).collect()
    }

    /// Replies to a read; every byte is `value`.
    pub(super) fn answer(&mut self, request: &Request, value: u8) -> bool {
        let kind = if request.byte_mask() == 0 { ReplyKind::Data } else { ReplyKind::WriteAck };
        let Request { tag, line, sectors, .. } = *request;
        let values = Some(Values::new(0, &[value; MAX_LINE_BYTES], 0));
        let reply = Reply { core: 0, tag, kind, line, sectors, values };
        self.l1.accept(self.now, &reply, &mut keep(&mut self.served))
    }

    /// Takes the response of this cycle: owner and first byte.
    pub(super) fn take(&mut self) -> Option<(u32, u8)> {
        let response = self.l1.take_response(self.now, true)?;
        Some((response.owner, self.served.get(&response.owner).map_or(0, |data| data[0])))
    }

    /// Makes a line present; every byte is `value`.
    pub(super) fn fill(&mut self, line: u64, sectors: u8, value: u8) {
        self.load(line, sectors, 0).unwrap();
        self.ticks(3);
        let request = self.requests().remove(0);
        assert!(self.answer(&request, value));
        self.tick();
        assert!(self.take().is_some());
        self.tick();
    }
}

#[test]
fn a_request_leaves_in_the_cycle_after_the_access_and_a_reply_answers_in_the_cycle_after() {
    let mut bench = Bench::new(|_| {});
    bench.load(0, 1, 9).unwrap();
    bench.tick();
    assert_eq!(bench.l1.next_event(bench.now, &bench.port, 0), 101);
    bench.tick();
    // Sent in 101, over a link of one cycle.
    assert_eq!((bench.now, bench.requests().len()), (102, 1));
    let request = Request::read(0, 0, 1, CacheHint::Cached);
    assert_eq!(bench.l1.next_event(bench.now, &bench.port, 0), NEVER);
    assert!(bench.answer(&request, 7));
    assert_eq!(bench.take(), None);
    assert_eq!(bench.l1.next_event(bench.now, &bench.port, 0), 103);
    bench.tick();
    assert_eq!(bench.take(), Some((9, 7)));
    assert!(bench.l1.is_idle());
}

#[test]
fn hits_answer_one_a_cycle_and_a_reply_goes_before_a_hit() {
    let mut bench = Bench::new(|c| c.core.l1.hit_latency_cycles = 4);
    bench.fill(0, 1, 3);
    let start = bench.now;
    bench.load(0, 1, 1).unwrap(); // response at start + 4
    bench.tick();
    bench.load(0, 1, 2).unwrap(); // at start + 5
    bench.tick();
    bench.load(4096, 1, 3).unwrap();
    bench.ticks(2);
    assert_eq!(bench.now, start + 4);
    let request = bench.requests().remove(0);
    assert!(bench.answer(&request, 5)); // at start + 5
    assert_eq!(bench.take(), Some((1, 3)));
    assert_eq!(bench.take(), None, "one a cycle");
    bench.tick();
    assert_eq!(bench.take(), Some((3, 5)), "a reply before a hit of the same age");
    bench.tick();
    assert_eq!(bench.take(), Some((2, 3)));
    assert_eq!(bench.now, start + 6);
}

#[test]
fn accesses_join_an_outstanding_line_up_to_the_merge_limit() {
    let mut bench = Bench::new(|c| c.core.l1.mshr_merges = 3);
    bench.load(0, 1, 0).unwrap();
    bench.tick();
    bench.load(0, 1, 1).unwrap();
    bench.tick();
    bench.load(0, 3, 2).unwrap();
    bench.tick();
    assert_eq!(bench.load(0, 1, 3), Err(Reject::Merge));
    bench.ticks(2);
    let requests = bench.requests();
    assert_eq!(requests.iter().map(|r| r.sectors).collect::<Vec<_>>(), [1, 2], "each sector once");
    let (first, second) = (&requests[0], &requests[1]);
    assert!(bench.answer(first, 1));
    bench.tick();
    assert_eq!(bench.take(), Some((0, 1)));
    bench.tick();
    assert_eq!(bench.take(), Some((1, 1)));
    bench.tick();
    assert_eq!(bench.take(), None, "still waits for its second sector");
    assert!(bench.answer(second, 2));
    bench.tick();
    assert_eq!(bench.take(), Some((2, 1)));
    let counters = bench.l1.counters();
    assert_eq!((counters.misses, counters.mshr_hits, counters.sector_misses), (1, 1, 1));
    assert_eq!((counters.reservation_fails, counters.fails_merge), (1, 1));
}

#[test]
fn hits_pass_under_misses_and_misses_end_at_the_last_mshr() {
    let mut bench = Bench::new(|c| (c.core.l1.mshrs, c.core.l1.hit_latency_cycles) = (2, 1));
    bench.fill(0, 0xF, 9);
    for line in [1024, 2048] {
        bench.load(line, 1, 1).unwrap();
        bench.tick();
    }
    assert_eq!(bench.load(4096, 1, 1), Err(Reject::Mshr));
    assert_eq!(bench.load(0, 1, 2), Ok(()));
    bench.tick();
    assert_eq!(bench.take(), Some((2, 9)));
    assert_eq!(bench.load(4096, 1, 1), Err(Reject::Mshr));
    let request = bench.requests().remove(0);
    assert!(bench.answer(&request, 1));
    assert_eq!(bench.load(4096, 1, 1), Ok(()), "in the cycle of the reply");
    // A repeated rejection of the same access counts once; its waiting time is in cycles.
    assert_eq!((bench.l1.counters().reservation_fails, bench.l1.counters().fails_mshr), (2, 2));
    assert_eq!(bench.l1.counters().reservation_fail_cycles, 0);
}

#[test]
fn a_waiting_access_counts_its_cycles() {
    let mut bench = Bench::new(|c| c.core.l1.mshrs = 1);
    bench.load(0, 1, 0).unwrap();
    bench.tick();
    for _ in 0..3 {
        assert_eq!(bench.load(4096, 1, 1), Err(Reject::Mshr));
        bench.tick();
    }
    let request = bench.requests().remove(0);
    assert!(bench.answer(&request, 0));
    bench.load(4096, 1, 1).unwrap();
    assert_eq!(bench.l1.counters().reservation_fails, 1);
    assert_eq!(bench.l1.counters().reservation_fail_cycles, 3);
}

#[test]
fn a_store_during_a_miss_is_neither_lost_nor_overtaken() {
    let mut bench = Bench::new(|c| c.core.l1.hit_latency_cycles = 1);
    bench.load(0, 1, 1).unwrap();
    bench.tick();
    bench.store(0, 0xF, 50, 2).unwrap();
    bench.tick();
    bench.load(0, 1, 3).unwrap();
    bench.ticks(3);
    let requests = bench.requests();
    let kinds: Vec<_> = requests.iter().map(|r| r.byte_mask() != 0).collect();
    assert_eq!(kinds, [false, true, false], "the later load asks again, behind the store");
    assert!(bench.answer(&requests[0], 10));
    bench.tick();
    assert_eq!(bench.take(), Some((1, 10)));
    bench.load(0, 1, 4).unwrap();
    assert_eq!(bench.l1.counters().hits, 0, "the stale sector was not installed");
    bench.tick();
    assert!(bench.answer(&requests[1], 0) && bench.answer(&requests[2], 50));
    bench.tick();
    assert_eq!(bench.take().map(|(owner, _)| owner), Some(2));
    bench.tick();
    assert_eq!((bench.take(), bench.l1.counters().mshr_hits), (Some((3, 50)), 1));
    bench.tick();
    assert_eq!(bench.take(), Some((4, 50)));
    bench.load(0, 1, 5).unwrap();
    assert_eq!(bench.l1.counters().hits, 1);
}

#[test]
fn a_store_to_other_sectors_leaves_the_miss_as_it_is() {
    let mut bench = Bench::new(|_| {});
    bench.load(0, 1, 1).unwrap();
    bench.tick();
    bench.store(0, 0xF << 64, 50, 2).unwrap();
    bench.tick();
    bench.load(0, 1, 3).unwrap();
    assert_eq!(bench.l1.counters().mshr_hits, 1);
}

#[test]
fn an_atomic_hits_under_a_miss_of_other_sectors() {
    for policy in [WritePolicy::WriteThrough, WritePolicy::WriteBack] {
        let mut bench = Bench::new(|c| c.core.l1.write_policy = policy);
        bench.fill(0, 1, 5);
        bench.load(0, 2, 1).unwrap();
        bench.tick();
        let before = *bench.l1.counters();
        bench.add(Scope::Workgroup, 0, 2).unwrap();
        let hits = bench.l1.counters().since(&before).hits;
        assert_eq!(hits, 1, "{policy:?}: no atomic waits for the line, so nothing has to stay behind one");
        assert_eq!(bench.served[&2][0], 5, "the old word comes at once");
    }
}

#[test]
fn invalidation_keeps_what_is_outstanding_from_the_cache() {
    let mut bench = Bench::new(|c| c.core.l1.hit_latency_cycles = 1);
    bench.fill(4096, 1, 4);
    bench.load(0, 1, 1).unwrap();
    bench.tick();
    bench.l1.invalidate();
    bench.load(0, 1, 2).unwrap();
    bench.load(4096, 1, 3).unwrap();
    assert_eq!(bench.l1.counters().hits, 0);
    bench.ticks(4);
    let requests = bench.requests();
    assert_eq!(requests.len(), 3, "nothing joined the miss from before");
    assert!(bench.answer(&requests[0], 10));
    bench.tick();
    assert_eq!(bench.take(), Some((1, 10)));
    bench.load(0, 1, 4).unwrap();
    assert_eq!(bench.l1.counters().hits, 0);
}

#[test]
fn what_changes_a_line_keeps_behind_an_atomic_that_waits_for_it() {
    let mut bench = Bench::new(|_| {});
    bench.add(Scope::Workgroup, 0, 1).unwrap();
    bench.tick();
    assert_eq!(bench.store(0, 0xF, 1, 2), Err(Reject::Order));
    assert_eq!(bench.add(Scope::Device, 0, 2), Err(Reject::Order));
    bench.add(Scope::Wave, 0, 3).unwrap();
    bench.load(0, 1, 4).unwrap();
    bench.l1.invalidate();
    assert_eq!(bench.load(0, 1, 5), Err(Reject::Order), "would read before the atomics write");
    bench.ticks(2);
    let request = bench.requests().remove(0);
    assert!(bench.answer(&request, 0));
    for expected in [(1, 0), (3, 1), (4, 2)] {
        bench.tick();
        assert_eq!(bench.take(), Some(expected), "in order");
    }
    bench.ticks(2);
    let writes = bench.requests();
    assert_eq!(writes.iter().map(|w| (w.byte_mask(), byte(w, 0))).collect::<Vec<_>>(), [(0xF, 1), (0xF, 2)]);
    bench.load(0, 1, 5).unwrap();
}

#[test]
fn hints_bypass_and_demote() {
    // One set of two ways.
    let mut bench = Bench::new(|c| (c.core.l1.bytes, c.core.l1.ways) = (256, 2));
    bench.fill(0, 1, 1);
    let stream = Operation::Load { sectors: 1 };
    bench.access(stream, CacheHint::Streaming, 4096, 0).unwrap();
    bench.ticks(3);
    let request = bench.requests().remove(0);
    assert_eq!(request.hint, CacheHint::Streaming);
    assert!(bench.answer(&request, 2));
    bench.tick();
    bench.take();
    // The streaming line leaves although it came last.
    bench.fill(8192, 1, 3);
    let hits = bench.l1.counters().hits;
    bench.load(0, 1, 0).unwrap();
    assert_eq!(bench.l1.counters().hits, hits + 1);
    // Uncached: asks the L2 although the line is present, and drops it.
    bench.access(Operation::Load { sectors: 1 }, CacheHint::Uncached, 0, 0).unwrap();
    bench.load(0, 1, 0).unwrap();
    let counters = bench.l1.counters();
    assert_eq!((counters.hits, counters.uncached_loads), (hits + 1, 1));
}

#[test]
fn a_packet_holds_the_port_for_its_bytes() {
    let mut bench = Bench::new(|_| {});
    for owner in 0..3 {
        bench.store(owner * 128, u128::MAX, 1, owner as u32).unwrap();
    }
    // 8 + 128 bytes at 32 a cycle take 5 cycles each. The first leaves in 101 and is through in 105.
    let mut arrivals = Vec::new();
    while bench.now < 130 {
        bench.tick();
        let now = bench.now;
        arrivals.extend(bench.requests().iter().map(|_| now));
    }
    assert_eq!(arrivals, [106, 111, 116]);
}

#[test]
fn a_full_queue_of_responses_holds_replies_and_hits_back() {
    let mut bench = Bench::new(|c| {
        c.core.l1.mshr_merges = 1;
        c.core.l1.hit_latency_cycles = 1;
    });
    bench.fill(0, 1, 1);
    for i in 0..5 {
        assert_eq!(bench.load(0, 1, i), Ok(()));
        bench.tick();
    }
    assert_eq!(bench.load(0, 1, 9), Err(Reject::Responses));
    for owner in 0..3 {
        bench.store(owner * 128, 0xF, 1, owner as u32).unwrap();
        bench.ticks(3);
    }
    let requests = bench.requests();
    assert!(bench.answer(&requests[0], 0) && bench.answer(&requests[1], 0));
    assert!(!bench.answer(&requests[2], 0), "room for two");
    bench.tick();
    assert!(bench.take().is_some());
    assert_eq!(bench.load(0, 1, 9), Ok(()));
}
