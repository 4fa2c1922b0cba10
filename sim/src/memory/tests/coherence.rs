//! What is shared between cores: stale lines are really stale, invalidation and the hints end that, and
//! atomics are atomic at their scope.

use super::*;
use crate::isa::special::Scope;
use crate::isa::table::AtomicOp;

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
    let access = Access { operation, hint: CacheHint::Cached, line, owner: 0 };
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
    rig.system.flush();
    assert_eq!(rig.system.memory()[X as usize], 98, "flushed");
    assert_eq!(rig.system.counters().l2.flushed_sectors, 1);
    // A line that was flushed is clean: it leaves without a write.
    rig.load(0, 1 << 16, 1);
    rig.load(0, 2 << 16, 1);
    rig.drain();
    assert_eq!(rig.system.counters().l2.write_backs, 1);
}

#[test]
fn the_host_sees_and_changes_memory_between_launches() {
    let mut rig = Rig::new(&Config::example(), addresses(1 << 20));
    rig.store_word(0, X, 77);
    read_x(&mut rig, 1, CacheHint::Cached);
    let memory = rig.system.host_memory();
    assert_eq!(memory[X as usize], 77);
    memory[X as usize] = 78;
    rig.l1s.iter_mut().for_each(L1::invalidate);
    assert_eq!(read_x(&mut rig, 1, CacheHint::Cached), 78);
}

/// Every core makes `rounds` atomics on one word; the old values that each saw.
fn contend(rig: &mut Rig, rounds: u32, op: AtomicOp, scope: Scope, invalidate: bool) -> Vec<Vec<u32>> {
    let cores = rig.l1s.len();
    let mut made = vec![0; cores];
    let mut old = vec![Vec::new(); cores];
    let mut rejected = vec![0; cores];
    while old.iter().any(|seen| seen.len() < rounds as usize) {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut L1| {
            if let Some(response) = l1.response(now) {
                if response.kind == ResponseKind::AtomicOld {
                    old[core].push(word_of(response.data, (X % 128) as usize));
                }
                l1.pop_response(now);
            }
            if invalidate && (now + core as u64).is_multiple_of(37) {
                l1.invalidate();
            }
            if made[core] < rounds {
                let value = if op == AtomicOp::Exchange { core as u32 * rounds + made[core] + 1 } else { 1 };
                let (line, byte_mask, data) = word(X, value);
                let operation = Operation::Atomic { op, scope, byte_mask, data: &data, swap: 0 };
                let access = Access { operation, hint: CacheHint::Cached, line, owner: 0 };
                match l1.access(now, &access) {
                    Ok(()) => made[core] += 1,
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
    rig.system.flush();
    let last = u32::from_le_bytes(rig.system.memory()[X as usize..][..4].try_into().unwrap());
    all.push(last);
    all.sort_unstable();
    // What was there first, and each value written, was read once or is what remains.
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
        rig.system.flush();
        assert_eq!(rig.system.memory()[X as usize..][..2], [244, 1]);
    }
}

#[test]
fn code_is_read_through_the_same_ports() {
    let config = Config::example();
    let (mut system, mut ports) = MemorySystem::new(&config, vec![0; 4096], &[0x1234_5678, 0x9ABC_DEF0]);
    let request = crate::memory::Request::read(1 << 31 | 3, crate::memory::CODE_SPACE, 1, CacheHint::Cached);
    assert!(ports[2].ready(0));
    ports[2].push(0, request);
    let mut now = 0;
    loop {
        ports.iter_mut().for_each(|port| system.exchange(port));
        if let Some(reply) = ports[2].reply(now + 11) {
            assert_eq!((reply.tag, reply.core), (1 << 31 | 3, 2));
            assert_eq!((word_of(&reply.data, 0), word_of(&reply.data, 4)), (0x1234_5678, 0x9ABC_DEF0));
            break;
        }
        system.run(now, now + 12);
        now += 12;
        assert!(now < 1000);
    }
}
