//! Movements in both directions against a run from the beginning, and the positions of conditions.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use wave_isa::program::assemble;
use wave_isa::table::Space;
use wave_machine::config::load_with_settings;
use wave_machine::memory::CacheLine;

/// Two waves a workgroup: each lane sums its thread's number in a loop, stores the sum, meets the others at a barrier, and
/// stores the sum again in the page of its workgroup.
const SOURCE: &str = "\
.kernel k
.registers 8
.local_memory 256
.workgroup_size 64, 1, 1
    mov_sr r0, sr_thread_id_x
    mov_imm r1, 4
    imul r1, r0, r1
    mov_imm r2, 0
    mov_imm r3, 5
    loop
        iadd r2, r2, r0
        mov_imm r4, 1
        isub r3, r3, r4
        mov_imm r4, 0
        icmp_eq p0, r3, r4
        break p0
    endloop
    local_store_u32 r1, r2
    barrier
    local_load_u32 r5, r1
    mov_sr r6, sr_workgroup_id_x
    mov_imm r7, 16384
    imad r1, r6, r7, r1
    device_store_u32 r1, r5
    halt
.end
";

/// Bytes of device memory: pages that snapshots share, of which each workgroup writes one, and one that is short.
const MEMORY: usize = 4 * 16384 + 100;

fn timeline_of(source: &str, launches: usize, history: usize) -> Timeline {
    let (program, _) = assemble(source, "k.wave").expect("it assembles");
    let launch = Launch::of(&program, 0, [3, 1, 1]);
    let (config, _) = load_with_settings("tiny", &[]).expect("a preset");
    let launches = vec![launch; launches];
    Timeline::new(config, program, vec![0; MEMORY], launches, &RunOptions::UNBOUNDED, history)
        .expect("it can run")
}

fn timeline(history: usize) -> Timeline {
    timeline_of(SOURCE, 2, history)
}

/// Writes of some bytes.
fn access(space: Space, workgroup: Option<[u32; 3]>, bytes: Range<u64>, lanes: u64) -> Condition {
    Condition::Access { space, workgroup, bytes, reads: false, writes: true, lanes }
}

const ALL: usize = 1 << 30;

fn on(_: Cycle) -> bool {
    true
}

/// A number for what the machine holds. Not of its snapshot: what a block plans has several forms.
fn state(timeline: &mut Timeline) -> u64 {
    let mut hasher = DefaultHasher::new();
    let machine = timeline.machine();
    let config = machine.config().clone();
    for view in machine.waves() {
        let (core, slot) = (view.report.core, view.report.slot);
        format!("{view:?}").hash(&mut hasher);
        (machine.registers(core, slot), machine.predicates(core, slot)).hash(&mut hasher);
        machine.local_memory(core, slot).hash(&mut hasher);
    }
    let mut lines: Vec<CacheLine> = (0..config.cores).flat_map(|core| machine.l1_lines(core)).collect();
    lines.extend((0..config.l2.slices as usize).flat_map(|slice| machine.l2_lines(slice)));
    lines.iter().for_each(|line| (line.address, line.valid, line.dirty, line.data).hash(&mut hasher));
    machine.memory().hash(&mut hasher);
    (machine.now(), machine.queues()).hash(&mut hasher);
    hasher.finish()
}

/// The states at all positions of a run cycle by cycle, and its memory at the end.
fn states() -> (Vec<u64>, Vec<u8>, Vec<KernelReport>) {
    let mut plain = timeline(ALL);
    let mut states = vec![state(&mut plain)];
    while plain.ending().is_none() {
        let to = plain.now() + 1;
        plain.seek(to, &mut on);
        states.push(state(&mut plain));
    }
    let reports = plain.reports().to_vec();
    (states, plain.machine.into_memory(), reports)
}

#[test]
fn random_movements_meet_the_states_of_a_plain_run() {
    let (states, memory, reports) = states();
    let last = states.len() as Cycle - 1;
    for seed in 0..6 {
        let mut random = Pcg32::seed_from_u64(seed);
        // With little room for snapshots most movements replay from the beginning.
        let mut timeline = timeline(if seed % 2 == 0 { ALL } else { 1 });
        let conditions = [
            Condition::Pc(10 * 4),
            access(Space::Local, Some([1, 0, 0]), 8..12, u64::MAX),
            access(Space::Device, None, 8..12, u64::MAX),
            Condition::Stall(20),
            Condition::Launch(None),
            Condition::Issues((0, 1)),
            Condition::HasIssued((1, 0)),
        ];
        for _ in 0..60 {
            let some: Vec<Condition> =
                conditions.iter().filter(|_| random.random_range(0..3) == 0).cloned().collect();
            let to = random.random_range(0..=last);
            match random.random_range(0..4) {
                0 => _ = timeline.seek(to, &mut on),
                1 => _ = timeline.forward(&some, to.max(timeline.now()), &mut on),
                2 => _ = timeline.backward(&some, to.min(timeline.now()), &mut on),
                _ => timeline.keep(),
            }
            let now = timeline.now();
            assert_eq!(state(&mut timeline), states[now as usize], "seed {seed}, cycle {now}");
        }
        timeline.seek(NEVER - 1, &mut on);
        assert_eq!(timeline.ending(), Some(&Ending::Done));
        assert_eq!(timeline.reports(), reports);
        assert_eq!(timeline.machine.into_memory(), memory);
    }
}

/// All positions of a condition, forwards and then backwards.
fn positions(timeline: &mut Timeline, condition: &Condition) -> Vec<Cycle> {
    let conditions = std::slice::from_ref(condition);
    let mut there: Vec<(Cycle, Vec<Hit>)> = Vec::new();
    timeline.seek(0, &mut on);
    while let Stopped::Hit(hits) = timeline.forward(conditions, NEVER - 1, &mut on) {
        assert_eq!(hits[0].position, timeline.now());
        there.push((timeline.now(), hits));
    }
    assert!(timeline.ending().is_some());
    let mut back = Vec::new();
    while let Stopped::Hit(hits) = timeline.backward(conditions, 0, &mut on) {
        back.push((timeline.now(), hits));
    }
    // The run begins with a launch: going forwards, no one arrives there.
    back.retain(|(cycle, _)| *cycle > 0);
    back.reverse();
    assert_eq!(there, back);
    there.into_iter().map(|(cycle, _)| cycle).collect()
}

#[test]
fn conditions_have_the_same_positions_in_both_directions() {
    let mut timeline = timeline(ALL);
    // Of two launches, workgroup 0's wave 0 stores to byte 8, by lane 2.
    let watch = |lanes| access(Space::Device, None, 8..9, lanes);
    let writes = positions(&mut timeline, &watch(u64::MAX));
    assert!(!writes.is_empty());
    assert_eq!(positions(&mut timeline, &watch(1 << 2)), writes);
    assert_eq!(positions(&mut timeline, &watch(1 << 3)), Vec::<Cycle>::new());
    // Each of the three workgroups of two launches writes it once in its own local memory.
    let local = |workgroup| access(Space::Local, workgroup, 8..9, u64::MAX);
    let of_one = positions(&mut timeline, &local(Some([1, 0, 0])));
    let of_all = positions(&mut timeline, &local(None));
    assert_eq!(of_one.len(), 2);
    assert!(of_all.len() > 2 && of_one.iter().all(|cycle| of_all.contains(cycle)));
    assert_eq!(positions(&mut timeline, &Condition::Launch(None)).len(), 1);
    assert_eq!(positions(&mut timeline, &Condition::Cycle(50)), [50]);
    let first = positions(&mut timeline, &Condition::Pc(0));
    assert!(first.len() > 1);
    let issues = positions(&mut timeline, &Condition::Issues((0, 0)));
    let issued: Vec<Cycle> = issues.iter().map(|cycle| cycle + 1).collect();
    assert_eq!(positions(&mut timeline, &Condition::HasIssued((0, 0))), issued);
    for cycles in [5, 10] {
        assert!(!positions(&mut timeline, &Condition::Stall(cycles)).is_empty());
    }
}

/// A wave alone: nothing at all happens in many of the cycles in which it waits.
const ALONE: &str = "\
.kernel k
.registers 8
.workgroup_size 8, 1, 1
    mov_imm r0, 7
    fdiv r1, r0, r0
    fdiv r1, r1, r1
    mov_imm r2, 0
    device_load_u32 r3, r2
    iadd r3, r3, r1
    halt
.end
";

#[test]
fn stalls_are_where_a_wave_has_not_issued_for_so_long() {
    for long in [5, 12, 20, 27] {
        assert!(stalls_of(&|| timeline(ALL), long) > 10 || long > 12);
        assert!(stalls_of(&|| timeline_of(ALONE, 1, ALL), long) > 0);
    }
}

/// Compares stalls with the last issues of all waves, looked at cycle by cycle and without any event. Returns how many
/// there are.
fn stalls_of(timeline: &dyn Fn() -> Timeline, long: Cycle) -> usize {
    let (mut plain, mut expected) = (timeline(), BTreeSet::new());
    while plain.ending().is_none() {
        let position = plain.now();
        let views = plain.machine().waves();
        // A wave that has halted does not stall, nor does one that has not begun.
        let live = views.iter().filter(|view| view.live != 0);
        let stalls = live.filter(|view| view.last_issue.is_some_and(|last| last + long + 1 == position));
        expected.extend(stalls.map(|view| (position, (view.report.core, view.report.slot))));
        plain.seek(position + 1, &mut on);
    }
    let (mut timeline, mut found) = (timeline(), BTreeSet::new());
    while let Stopped::Hit(hits) = timeline.forward(&[Condition::Stall(long)], NEVER - 1, &mut on) {
        assert!(!hits.is_empty());
        for hit in hits {
            let Cause::Stall { wave, since } = hit.cause else { panic!("{hit:?}") };
            assert_eq!(since + long + 1, hit.position);
            found.insert((hit.position, wave));
        }
    }
    assert_eq!(found, expected);
    let positions: BTreeSet<Cycle> = expected.iter().map(|(position, _)| *position).collect();
    assert_eq!(self::positions(&mut timeline, &Condition::Stall(long)), Vec::from_iter(positions));
    expected.len()
}

/// The reasons of a wave, looked at cycle by cycle, give the cycles since which it waits.
#[test]
fn a_wave_waits_since_the_first_cycle_with_its_reason() {
    let (mut plain, mut waits) = (timeline(ALL), Vec::new());
    while plain.ending().is_none() {
        waits.push(plain.machine().wave(0, 1).map(|view| (view.issued, view.last_issue, view.wait)));
        let next = plain.now() + 1;
        plain.seek(next, &mut on);
    }
    let mut timeline = timeline(ALL);
    let (mut long, mut cut) = (0, 0);
    for position in (1..waits.len()).step_by(7) {
        timeline.seek(position as Cycle, &mut on);
        let since = timeline.waits_since((0, 1), 1000);
        assert_eq!(timeline.now(), position as Cycle);
        let Some((_, last, _)) = waits[position] else {
            assert_eq!(since, None);
            continue;
        };
        if last == Some(position as Cycle - 1) {
            assert_eq!(since, None);
            continue;
        }
        // Position p shows what waited in cycle p - 1, in which the wave did not issue.
        let same = waits[..=position].iter().rev().take_while(|it| **it == waits[position]).count();
        let first = (position + 1 - same) as Cycle;
        let first = last.map_or(first, |last| first.max(last + 2));
        assert_eq!(since, Some((first - 1, false)), "position {position}");
        long += u32::from(same > 20);
        let short = timeline.waits_since((0, 1), 3);
        let expected =
            if position as Cycle - first > 3 { (position as Cycle - 4, true) } else { (first - 1, false) };
        assert_eq!(short, Some(expected), "position {position}");
        cut += u32::from(expected.1);
    }
    assert!(long > 0 && cut > 0);
}

#[test]
fn a_fault_ends_the_run_before_it_happens() {
    let source = SOURCE.replace("device_store_u32 r1, r5", "mov_imm r1, 70000\n    device_store_u32 r1, r5");
    let mut timeline = timeline_of(&source, 1, ALL);
    assert_eq!(timeline.forward(&[], NEVER - 1, &mut on), Stopped::End);
    let Some(Ending::Error(RunError::Fault(fault))) = timeline.ending() else { panic!("no fault") };
    assert_eq!(fault.cycle, Some(timeline.now()));
    let (pc, end) = (fault.pc, timeline.now());
    let waves = timeline.machine().waves();
    assert!(waves.iter().any(|view| view.in_flight.iter().any(|flight| flight.word * 4 == pc)), "{waves:?}");
    assert_eq!(timeline.forward(&[], NEVER - 1, &mut on), Stopped::End);
    assert_eq!(timeline.now(), end);
    assert!(matches!(timeline.backward(&[Condition::Pc(pc)], 0, &mut on), Stopped::Hit(_)));
    assert!(timeline.now() < end && timeline.ending().is_none());
}

#[test]
fn a_command_can_be_interrupted() {
    let mut timeline = timeline(ALL);
    assert_eq!(timeline.forward(&[], NEVER - 1, &mut |_| false), Stopped::Interrupted);
    let now = timeline.now();
    assert!(timeline.ending().is_none());
    assert_eq!(timeline.forward(&[], NEVER - 1, &mut on), Stopped::End);
    assert!(timeline.now() > now);
}

#[test]
fn snapshots_thin_out_with_their_distance() {
    let mut timeline = timeline(ALL);
    let bytes = timeline.history().1;
    timeline.ring = Ring::new(8 * bytes);
    for cycle in 0..200 {
        timeline.seek(cycle, &mut on);
        timeline.keep();
    }
    let (count, held) = timeline.history();
    // They share pages, so there are more than eight.
    assert!((9..=12).contains(&count) && held <= 8 * bytes, "{count}");
    let cycles: Vec<Cycle> = (0..200).filter(|&cycle| timeline.ring.has(cycle)).collect();
    assert_eq!((cycles[0], cycles[count - 1]), (0, 199));
    assert!(cycles[count - 1] - cycles[count - 2] < cycles[2] - cycles[1], "{cycles:?}");
}
