//! Packets that compete for a port: who waits, for how long, and who must not wait.

use super::*;
use crate::memory::geometry::SliceHash;
use crate::memory::{Request, geometry::LineGeometry};

const SECTORS: u8 = 0xF;

/// The first `count` lines from `first` on that lie in a slice.
fn lines_of_slice(config: &Config, slice: usize, first: u64, count: usize) -> Vec<u64> {
    let (hash, geometry) = (SliceHash::new(config), LineGeometry::new(config));
    let all = (first / 128..).map(|i| i * 128);
    all.filter(|&line| hash.slice(geometry.number(line)) == slice).take(count).collect()
}

/// Makes lines present in the L2, but in no L1.
fn warm(rig: &mut Rig, lines: &[u64]) {
    for &line in lines {
        rig.load(0, line, SECTORS);
    }
    rig.drain();
    rig.l1s[0].invalidate();
}

/// All `loads` (core, line) are made in the same cycle. Returns the cycles that each takes.
fn together(rig: &mut Rig, loads: &[(usize, u64)]) -> Vec<Cycle> {
    let start = rig.now;
    let mut done = vec![None; loads.len()];
    while done.iter().any(Option::is_none) {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if let Some(response) = l1.take(now) {
                done[response.owner as usize] = Some(now - start);
            }
            let mine = loads.iter().enumerate().filter(|(_, load)| load.0 == core);
            // One access a cycle: a core with several makes them in successive cycles.
            if let Some((owner, &(_, line))) = mine.clone().nth((now - start) as usize) {
                let access = Access { owner: owner as u32, ..load(line, SECTORS, CacheHint::Cached) };
                l1.access(now, &access).unwrap();
            }
            true
        });
    }
    done.into_iter().map(Option::unwrap).collect()
}

/// Unloaded L2 hit of a whole line: 1 + 12 + 24 + 4 + 12 + 1.
const L2_HIT: Cycle = 54;

#[test]
fn two_cores_at_one_slice_wait_for_its_request_port_and_its_reply_port() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(1 << 20));
    let lines = lines_of_slice(&config, 3, 0, 2);
    warm(&mut rig, &lines);
    // The second request is served a cycle later; its reply of 5 cycles then waits for the first one.
    assert_eq!(together(&mut rig, &[(4, lines[0]), (9, lines[1])]), [L2_HIT, L2_HIT + 5]);
    // Two slices: no conflict.
    let other = lines_of_slice(&config, 4, 0, 1);
    warm(&mut rig, &other);
    rig.l1s.iter_mut().for_each(|l1| l1.invalidate());
    assert_eq!(together(&mut rig, &[(4, lines[0]), (9, other[0])]), [L2_HIT, L2_HIT]);
}

#[test]
fn replies_of_two_slices_wait_for_the_core_s_port() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(1 << 20));
    let lines = [lines_of_slice(&config, 3, 0, 1)[0], lines_of_slice(&config, 4, 0, 1)[0]];
    warm(&mut rig, &lines);
    // The second load is made a cycle later, and its reply is through 5 cycles after the first.
    assert_eq!(together(&mut rig, &[(4, lines[0]), (4, lines[1])]), [L2_HIT, L2_HIT + 5]);
}

#[test]
fn cores_at_one_slice_take_turns() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(4 << 20));
    let lines = lines_of_slice(&config, 0, 0, 64);
    warm(&mut rig, &lines);
    let mut seen = [0u32; 16];
    let end = rig.now + 8000;
    let mut next = [0; 16];
    while rig.now < end {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if l1.take(now).is_some() {
                seen[core] += 1;
            }
            let access = load(lines[next[core] % 64], SECTORS, CacheHint::Uncached);
            next[core] += usize::from(l1.access(now, &access).is_ok());
            true
        });
    }
    let (least, most) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
    // 8000 cycles at 5 a line over 16 cores.
    assert!(*least >= 95 && *most <= 105, "{seen:?}");
}

#[test]
fn slices_take_turns_at_a_core() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(4 << 20));
    let by_slice: Vec<_> = (0..8).map(|slice| lines_of_slice(&config, slice, 0, 8)).collect();
    warm(&mut rig, &by_slice.concat());
    let mut seen = [0u32; 8];
    let mut outstanding = [0u32; 8];
    let end = rig.now + 8000;
    while rig.now < end {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if core != 0 {
                return true;
            }
            if let Some(response) = l1.take(now) {
                seen[response.owner as usize] += 1;
                outstanding[response.owner as usize] -= 1;
            }
            // Keep every slice busy with four lines.
            let wanting = (0..8).min_by_key(|&slice| outstanding[slice]).unwrap();
            let line = by_slice[wanting][(now % 8) as usize];
            let access = Access { owner: wanting as u32, ..load(line, SECTORS, CacheHint::Uncached) };
            if outstanding[wanting] < 4 && l1.access(now, &access).is_ok() {
                outstanding[wanting] += 1;
            }
            true
        });
    }
    let (least, most) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
    assert!(*least >= 190 && *most <= 210, "{seen:?}");
}

#[test]
fn a_core_that_takes_no_replies_stops_at_its_credits_and_delays_others_only_at_a_full_port() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(1 << 20));
    let lines = lines_of_slice(&config, 0, 0, 48);
    let other = lines_of_slice(&config, 0, 1 << 16, 3);
    warm(&mut rig, &lines);
    warm(&mut rig, &other);
    let before = rig.system.counters().interconnect.replies;
    // Core 5 sends uncached reads and takes no replies. Its link holds 2 × 12 + 8 of them; the slice's port
    // has 8 more in view.
    let silent = |now: Cycle, core: usize, l1: &mut Client| {
        l1.take(now);
        core != 5
    };
    let mut sent = 0;
    let mut send = |rig: &mut Rig, until: usize| {
        while sent < until {
            assert!(rig.ports[5].ready(rig.now));
            let request = Request::read(0, lines[sent], 1, CacheHint::Cached);
            rig.ports[5].push(rig.now, request);
            sent += 1;
            rig.step(&mut { silent });
        }
        (0..20).for_each(|_| rig.step(&mut { silent }));
    };
    send(&mut rig, 39);
    assert_eq!(rig.system.counters().interconnect.replies, before + 32, "no credit, no reply");
    // The reply to core 2 passes the seven that wait.
    let start = rig.now;
    let ask = |rig: &mut Rig, line: u64| {
        let (start, mut done) = (rig.now, None);
        while rig.now < start + 200 {
            rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
                if core == 2 && now == start {
                    l1.access(now, &load(line, SECTORS, CacheHint::Cached)).unwrap();
                }
                if core == 2 && l1.take(now).is_some() {
                    done.get_or_insert(now - start);
                }
                core != 5
            });
        }
        done
    };
    assert_eq!(ask(&mut rig, other[0]), Some(L2_HIT));
    send(&mut rig, 40);
    assert_eq!(ask(&mut rig, other[1]), None, "the port's view is full");
    assert!(rig.now > start && !rig.system.is_idle());
    // When the core takes its replies again, everything goes on.
    let mut taken = 0;
    while taken < 40 {
        let until = rig.now + rig.quantum;
        for now in rig.now..until {
            if rig.ports[5].reply(now).is_some() {
                rig.ports[5].pop_reply(now);
                taken += 1;
            }
        }
        rig.step(&mut { silent });
    }
    assert_eq!(ask(&mut rig, other[2]), Some(L2_HIT));
    assert!(rig.system.is_idle());
}
