//! Sharing between cores: a stale line stays stale until an invalidation or a hint ends that, and atomics are
//! atomic at their scope.

use super::*;
use crate::memory::dram::place_of;
use crate::memory::geometry::LineNumber;
use crate::memory::geometry::SliceHash;
use crate::registry::Requester;
use wave_isa::special::Scope;
use wave_isa::table::AtomicOp;

const X: u64 = 4096 + 8;

fn read_x(rig: &mut Rig, core: usize, hint: CacheHint) -> u32 {
    let (_, data) = rig.one(core, &load(X / 128 * 128, 1, hint));
    rig.drain();
    word_of(&data, (X % 128) as usize)
}

#[test]
fn a_line_stays_stale_until_it_is_invalidated() {
    let mut rig = Rig::new(&Config::example(), addresses(1 << 20));
    assert_eq!(read_x(&mut rig, 0, CacheHint::Cached), X as u32);
    rig.store_word(1, X, 99);
    assert_eq!(read_x(&mut rig, 0, CacheHint::Cached), X as u32, "the L1 is not coherent");
    assert_eq!(read_x(&mut rig, 1, CacheHint::Cached), 99);
    rig.l1s[0].invalidate();
    assert_eq!(read_x(&mut rig, 0, CacheHint::Cached), 99);
}

#[test]
fn an_uncached_load_sees_the_l2_and_leaves_no_older_copy() {
    let mut rig = Rig::new(&Config::example(), addresses(1 << 20));
    read_x(&mut rig, 0, CacheHint::Cached);
    rig.store_word(1, X, 99);
    assert_eq!(read_x(&mut rig, 0, CacheHint::Uncached), 99);
    assert_eq!(read_x(&mut rig, 0, CacheHint::Cached), 99, "loads of one core never go back in time");
}

#[test]
fn an_atomic_at_the_l2_leaves_no_older_copy() {
    let mut rig = Rig::new(&Config::example(), addresses(1 << 20));
    read_x(&mut rig, 0, CacheHint::Cached);
    rig.store_word(1, X, 50);
    let (line, byte_mask, data) = word(X, 1);
    let operation =
        Operation::Atomic { op: AtomicOp::Add, scope: Scope::System, byte_mask, data: &data, swap: 0 };
    let access = Access { operation, hint: CacheHint::Cached, line, by: Requester::NONE, owner: 0, epoch: 0 };
    assert_eq!(word_of(&rig.one(0, &access).1, 8), 50);
    assert_eq!(read_x(&mut rig, 0, CacheHint::Cached), 51);
}

#[test]
fn the_image_has_what_has_left_the_l2() {
    let mut config = Config::example();
    config.l2.slices = 1;
    config.dram.channels = 1;
    config.l2.slice_bytes = 2 * 128;
    config.l2.ways = 2;
    let mut rig = Rig::new(&config, addresses(1 << 20));
    rig.store_word(0, X, 99);
    rig.drain();
    assert_eq!(rig.system.memory()[X as usize], X as u8, "dirty in the L2");
    for line in [1 << 16, 2 << 16] {
        rig.load(0, line, 1);
        rig.drain();
    }
    assert_eq!(rig.system.memory()[X as usize], 99, "evicted");
    let counters = rig.system.counters();
    assert_eq!((counters.l2.write_backs, counters.dram.writes), (1, 1));
    rig.store_word(0, X, 98);
    rig.drain();
    rig.release();
    assert_eq!(rig.system.memory()[X as usize], 98, "released");
    assert_eq!(rig.system.counters().l2.released_sectors, 1);
    // A released line is clean: it leaves without a write.
    rig.load(0, 1 << 16, 1);
    rig.load(0, 2 << 16, 1);
    rig.drain();
    assert_eq!(rig.system.counters().l2.write_backs, 1);
}

/// Every core makes `rounds` atomics on one word. Returns the old values that each saw.
fn contend(rig: &mut Rig, rounds: u32, op: AtomicOp, scope: Scope, invalidate: bool) -> Vec<Vec<u32>> {
    let cores = rig.l1s.len();
    let mut made = vec![0; cores];
    let mut old = vec![Vec::new(); cores];
    let mut rejected = vec![0; cores];
    while old.iter().any(|seen| seen.len() < rounds as usize) {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if let Some(response) = l1.take(now)
                && response.kind == ResponseKind::AtomicOld
            {
                old[core].push(word_of(&response.data, (X % 128) as usize));
            }
            if invalidate && (now + core as u64).is_multiple_of(37) {
                l1.invalidate();
            }
            if made[core] < rounds {
                let value = if op == AtomicOp::Exchange { core as u32 * rounds + made[core] + 1 } else { 1 };
                let (line, byte_mask, data) = word(X, value);
                let operation = Operation::Atomic { op, scope, byte_mask, data: &data, swap: 0 };
                let access = Access {
                    operation,
                    hint: CacheHint::Cached,
                    line,
                    by: Requester::NONE,
                    owner: made[core],
                    epoch: 0,
                };
                match l1.access(now, &access) {
                    Ok(_) => made[core] += 1,
                    Err(_) => rejected[core] += 1,
                }
            }
            true
        });
    }
    rig.drain();
    old
}

#[test]
fn adds_at_the_l2_are_atomic_over_all_cores() {
    let mut rig = Rig::new(&Config::example(), vec![0; 1 << 20]);
    let mut all = contend(&mut rig, 100, AtomicOp::Add, Scope::Device, false).concat();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..1600), "each old value once");
}

#[test]
fn exchanges_at_the_l2_form_one_chain() {
    let mut rig = Rig::new(&Config::example(), vec![0; 1 << 20]);
    let mut all = contend(&mut rig, 50, AtomicOp::Exchange, Scope::Device, false).concat();
    rig.release();
    let last = u32::from_le_bytes(rig.system.memory()[X as usize..][..4].try_into().unwrap());
    all.push(last);
    all.sort_unstable();
    // The initial value, and each value written, was read once or is what remains.
    assert!(all.iter().copied().eq(0..=16 * 50));
}

#[test]
fn atomics_in_the_l1_are_atomic_within_the_core_whatever_invalidates_it() {
    for invalidate in [false, true] {
        let mut config = Config::example();
        config.cores = 1;
        let mut rig = Rig::new(&config, vec![0; 1 << 20]);
        let old = contend(&mut rig, 500, AtomicOp::Add, Scope::Workgroup, invalidate);
        assert!(old[0].iter().copied().eq(0..500), "invalidate {invalidate}: {:?}", old[0]);
        rig.release();
        assert_eq!(rig.system.memory()[X as usize..][..2], [244, 1]);
    }
}

#[test]
fn a_release_takes_as_long_as_its_writes() {
    let mut config = Config::example();
    config.cores = 1;
    (config.core_clock_mhz, config.dram.clock_mhz) = (1000, 1000);
    config.dram.t_refi = 0;
    let d = config.dram;
    // One line: sent in the first cycle, seen by the channel in the next; activate, write, data.
    let one = Cycle::from(1 + d.t_rcd + d.t_cwl + d.burst_clocks());
    for lines in [0, 1, 2, 9] {
        let mut rig = Rig::new(&config, vec![0; 1 << 20]);
        rig.drain();
        // The first sectors of lines in one slice, bank and row: one burst each.
        let hash = SliceHash::new(&config);
        let place = place_of(&config);
        let row = |line: u32| {
            let number = LineNumber(line);
            (hash.slice(number) == 0).then(|| place(0, hash.within_slice(number))).map(|p| (p.bank, p.row))
        };
        for line in (0..8192).filter(|&line| row(line) == row(0)).take(lines as usize) {
            rig.store_word(0, u64::from(line) * 128, 7);
            rig.drain();
        }
        let took = rig.release();
        let apart = u64::from(d.t_ccd_l.max(d.burst_clocks()));
        let expected = if lines == 0 { 1 } else { one + 1 + (lines - 1) * apart };
        assert_eq!(took, expected, "{lines} lines");
        assert_eq!(rig.system.counters().l2.released_sectors, lines);
        // Nothing is dirty now.
        assert_eq!(rig.release(), 1);
    }
}

#[test]
fn code_is_read_through_the_same_ports() {
    let config = Config::example();
    let (mut system, mut ports) = MemorySystem::new(&config, vec![0; 4096], &[0x1234_5678, 0x9ABC_DEF0]);
    let request =
        crate::memory::Request::read(1 << 31 | 3, crate::memory::message::CODE_SPACE, 1, CacheHint::Cached);
    assert!(ports[2].ready(0));
    ports[2].push(0, request);
    let mut now = 0;
    loop {
        ports.iter_mut().for_each(|port| system.exchange(port));
        if let Some(reply) = ports[2].reply(now + 11) {
            assert_eq!((reply.tag, reply.core), (1 << 31 | 3, 2));
            assert_eq!((word_of(reply.data(), 0), word_of(reply.data(), 4)), (0x1234_5678, 0x9ABC_DEF0));
            break;
        }
        system.run(now, now + 12);
        now += 12;
        assert!(now < 1000);
    }
}
