//! A slice alone. The tests play the network and the memory channel.

use super::*;
use crate::memory::geometry::LineGeometry;
use crate::memory::message::{MAX_LINE_BYTES, Values};
use wave_isa::table::AtomicOp;
use wave_isa::table::CacheHint;

struct Bench {
    slice: Slice,
    image: Image,
    agenda: Agenda,
    geometry: LineGeometry,
    now: Cycle,
}

impl Bench {
    /// A slice with one set of two ways and a hit latency of 5, unless changed.
    fn new(change: impl FnOnce(&mut Config)) -> Bench {
        let mut config = Config::example();
        config.l2.slices = 1;
        config.dram.channels = 1;
        config.l2.slice_bytes = 256;
        config.l2.ways = 2;
        config.l2.hit_latency_cycles = 5;
        change(&mut config);
        let geometry = LineGeometry::new(&config);
        let memory = (0..64 << 10).map(|i| (i / 128) as u8).collect();
        Bench {
            slice: Slice::new(&config, 0, 0),
            image: Image::new(geometry, memory, &[]),
            agenda: Agenda::new([1]).0,
            geometry,
            now: 100,
        }
    }

    fn read(&mut self, tag: u32, line: u64, sectors: u8) {
        self.slice.accept(self.now, Request::read(tag, line, sectors, CacheHint::Cached), &mut self.agenda);
    }

    fn write(&mut self, tag: u32, line: u64, byte_mask: u128, value: u8) {
        let data = [value; MAX_LINE_BYTES];
        let values = Values::new(byte_mask, &data, 0);
        let request = Request::write(tag, line, values, CacheHint::Cached, self.geometry);
        self.slice.accept(self.now, request, &mut self.agenda);
    }

    fn add(&mut self, tag: u32, line: u64) {
        let mut data = [0; MAX_LINE_BYTES];
        data[0] = 1;
        self.slice.accept(
            self.now,
            Request::atomic(tag, line, AtomicOp::Add, Values::new(0xF, &data, 0), self.geometry),
            &mut self.agenda,
        );
    }

    fn tick(&mut self) {
        self.agenda.begin(self.now, false);
        self.slice.tick(self.now, &mut self.image, &mut self.agenda);
        self.now += 1;
    }

    fn ticks(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.tick());
    }

    /// Everything that the slice has sent to memory.
    fn transfers(&mut self) -> Vec<Transfer> {
        std::iter::from_fn(|| self.slice.take_transfer(&mut self.agenda)).collect()
    }

    /// Delivers a fetched line in this cycle.
    fn bring(&mut self, transfer: &Transfer) {
        self.slice.expect_fill(self.now, transfer.fetch.unwrap(), transfer.sectors, &mut self.agenda);
    }

    /// Replies made so far: first cycle in which each can go, tag, first byte; 0 if it brings none.
    fn replies(&mut self) -> Vec<(Cycle, u32, u8)> {
        let mut replies = Vec::new();
        while let Some(&(ready, _)) = self.slice.replies().front() {
            let reply = self.slice.take_reply(0, &mut self.agenda).unwrap();
            let brings = reply.packet_sectors() > 0;
            replies.push((ready, reply.tag, if brings { reply.data()[0] } else { 0 }));
        }
        replies
    }
}

#[test]
fn hits_reply_a_hit_latency_after_their_access_one_a_cycle() {
    let mut bench = Bench::new(|_| {});
    bench.write(1, 0, u128::MAX, 9);
    bench.read(2, 0, 1);
    bench.add(3, 0);
    bench.read(4, 0, 1);
    bench.ticks(4);
    assert_eq!(bench.replies(), [(105, 1, 0), (106, 2, 9), (107, 3, 9), (108, 4, 10)]);
}

#[test]
fn a_write_never_waits_for_memory_and_its_bytes_survive_a_fetch() {
    let mut bench = Bench::new(|_| {});
    bench.write(1, 128, 0b10, 9);
    bench.tick();
    assert_eq!(bench.replies(), [(105, 1, 0)]);
    assert_eq!(bench.transfers(), [], "no fetch for a write");
    // A read of the sector fetches it, and sees the byte.
    bench.read(2, 128, 1);
    bench.tick();
    let fetch = bench.transfers();
    assert_eq!(fetch.len(), 1);
    bench.ticks(10);
    bench.bring(&fetch[0]);
    bench.tick();
    let ready = bench.slice.replies().front().unwrap().0;
    let reply = bench.slice.take_reply(0, &mut bench.agenda).unwrap();
    assert_eq!((ready, &reply.data()[..3]), (112 + 5, &[1, 9, 1][..]), "served in the cycle of the fill");
    // A completely written sector can be read without a fetch.
    bench.replies();
    bench.write(3, 128, 0xFFFF_FFFF << 32, 8);
    bench.read(4, 128, 0b10);
    bench.ticks(2);
    assert_eq!((bench.transfers(), bench.replies().len()), (vec![], 2));
}

#[test]
fn waiters_are_served_in_order_one_a_cycle_before_new_requests() {
    let mut bench = Bench::new(|_| {});
    bench.read(1, 128, 1);
    bench.add(2, 128);
    bench.write(3, 128, 1, 50);
    bench.read(4, 128, 1);
    bench.ticks(4);
    let fetch = bench.transfers();
    assert_eq!((fetch.len(), bench.replies().len()), (1, 0));
    bench.write(5, 0, u128::MAX, 1);
    bench.bring(&fetch[0]);
    bench.ticks(5);
    let expected = [(109, 1, 1), (110, 2, 1), (111, 3, 0), (112, 4, 50), (113, 5, 0)];
    assert_eq!(bench.replies(), expected);
    let counters = bench.slice.counters();
    assert_eq!((counters.misses, counters.mshr_hits), (2, 3));
}

#[test]
fn reads_of_sectors_that_are_there_pass_under_a_miss_unless_something_must_keep_its_order() {
    let mut bench = Bench::new(|_| {});
    bench.write(1, 0, 0xFFFF_FFFF, 7);
    bench.read(2, 0, 0b10);
    bench.read(3, 0, 0b01);
    bench.ticks(3);
    assert_eq!(bench.replies(), [(105, 1, 0), (107, 3, 7)]);
    bench.write(4, 0, 1, 8);
    bench.read(5, 0, 0b01);
    bench.ticks(2);
    assert_eq!(bench.replies(), [], "the write waits behind the read, the read behind the write");
    let fetch = bench.transfers();
    bench.bring(&fetch[0]);
    bench.ticks(3);
    assert_eq!(bench.replies(), [(110, 2, 0), (111, 4, 0), (112, 5, 8)]);
}

#[test]
fn an_outstanding_line_fetches_further_sectors_at_once() {
    let mut bench = Bench::new(|_| {});
    bench.read(1, 128, 0b0001);
    bench.read(2, 128, 0b0110);
    bench.ticks(2);
    let fetches = bench.transfers();
    assert_eq!(fetches.iter().map(|f| f.sectors).collect::<Vec<_>>(), [0b0001, 0b0110]);
    bench.bring(&fetches[1]);
    bench.tick();
    assert_eq!(bench.replies(), [], "the first waiter comes first");
    bench.bring(&fetches[0]);
    bench.ticks(2);
    assert_eq!(bench.replies().len(), 2);
}

#[test]
fn a_burst_that_is_longer_than_a_sector_brings_its_neighbours() {
    let mut bench = Bench::new(|c| c.dram.burst_bytes = 64);
    bench.read(1, 128, 0b0010);
    bench.tick();
    let fetch = bench.transfers();
    assert_eq!(fetch[0].sectors, 0b0011);
    bench.bring(&fetch[0]);
    bench.read(2, 128, 0b0001);
    bench.ticks(2);
    assert_eq!((bench.transfers(), bench.replies().len()), (vec![], 2));
}

#[test]
fn the_least_recently_used_line_leaves_and_dirty_bytes_go_to_memory() {
    let mut bench = Bench::new(|_| {});
    bench.write(1, 0, 0xF0, 9);
    bench.write(2, 128, u128::MAX, 9);
    bench.ticks(2);
    bench.write(3, 0, 1, 9);
    bench.read(4, 256, 1);
    bench.ticks(2);
    let transfers = bench.transfers();
    assert_eq!(transfers.len(), 2, "a write-back and a fetch");
    assert_eq!((transfers[0].line, transfers[0].sectors), (LineNumber(1), 0xF));
    assert_eq!((transfers[1].line, transfers[1].sectors), (LineNumber(2), 1));
    assert_eq!(bench.image.memory()[128..256], [9; 128]);
    assert_eq!(bench.image.memory()[0..16], [0; 16], "the other line stays");
}

#[test]
fn a_streaming_line_is_the_first_to_leave() {
    let mut bench = Bench::new(|_| {});
    bench.write(1, 0, u128::MAX, 9);
    bench.tick();
    bench.slice.accept(bench.now, Request::read(2, 128, 1, CacheHint::Streaming), &mut bench.agenda);
    bench.tick();
    let fetch = bench.transfers();
    bench.bring(&fetch[0]);
    bench.tick();
    bench.read(3, 256, 1);
    bench.tick();
    let transfers = bench.transfers();
    assert_eq!(transfers.len(), 1, "the streaming line left, which is clean");
    assert_eq!(transfers[0].line, LineNumber(2));
}

#[test]
fn a_shortage_holds_up_the_queue_and_is_counted_once() {
    // Both ways outstanding: no frame for a third line.
    let mut bench = Bench::new(|_| {});
    bench.read(1, 0, 1);
    bench.read(2, 128, 1);
    bench.read(3, 256, 1);
    bench.write(4, 0, u128::MAX, 1);
    bench.ticks(10);
    let fetches = bench.transfers();
    assert_eq!((fetches.len(), bench.slice.has_room()), (2, true));
    assert_eq!(bench.slice.counters().reservation_fails, 1);
    bench.bring(&fetches[0]);
    bench.ticks(2);
    assert_eq!(bench.transfers().len(), 1, "the frame of the first line");
    assert_eq!(bench.slice.counters().reservation_fails, 1);
    // Stalled from 102 on; started in 111, after the waiter.
    assert_eq!(bench.slice.counters().reservation_fail_cycles, 9);
    for (mshrs, merges) in [(1, 8), (8, 1)] {
        let mut bench = Bench::new(|c| (c.l2.mshrs, c.l2.mshr_merges) = (mshrs, merges));
        bench.read(1, 0, 1);
        bench.read(2, if mshrs == 1 { 128 } else { 0 }, 1);
        bench.ticks(5);
        assert_eq!(bench.slice.counters().reservation_fails, 1, "{mshrs} MSHRs, {merges} merges");
    }
}

#[test]
fn sectors_for_which_nothing_waits_any_more_end_their_miss() {
    let mut bench = Bench::new(|_| {});
    bench.read(1, 0, 0b0001);
    bench.write(2, 0, 0xFFFF_FFFF << 64, 9);
    bench.read(3, 0, 0b0100);
    bench.ticks(3);
    let fetches = bench.transfers();
    assert_eq!((fetches[0].sectors, fetches[1].sectors), (0b0001, 0b0100));
    bench.bring(&fetches[0]);
    // The write has written all that the last read wants.
    bench.ticks(3);
    assert_eq!(bench.replies().len(), 3);
    bench.bring(&fetches[1]);
    bench.tick();
    assert_eq!(bench.slice.mshrs_in_use(), 0);
    bench.write(4, 0, 0xF, 7);
    bench.tick();
    assert_eq!(bench.replies().len(), 1);
}

#[test]
fn replies_that_are_not_taken_stop_the_slice() {
    let mut bench = Bench::new(|c| c.l2.queue_entries = 32);
    for tag in 0..20 {
        bench.write(tag, 0, 1, tag as u8);
    }
    bench.ticks(30);
    // The replies of one hit latency, and the queue of the port.
    assert_eq!(bench.slice.replies().len(), 5 + 8);
    bench.slice.take_reply(0, &mut bench.agenda);
    bench.tick();
    assert_eq!(bench.slice.replies().len(), 5 + 8);
}
