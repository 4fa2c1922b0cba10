//! Each row of the table of constraints, and an independent checker of the command stream.

use super::timing::{Clock, Command, Timing};
use super::*;
use crate::config::Dram;
use crate::memory::cache::MshrId;
use crate::memory::dram::check::first_violation;
use crate::memory::geometry::LineNumber;
use crate::memory::l2::Slice;
use crate::memory::tests::{Client, Rig, addresses};
use crate::memory::transfer::{InFront, Transfer};
use crate::memory::{Access, Operation, message::MAX_LINE_BYTES};
use crate::registry::Requester;
use rand::{RngExt, SeedableRng};
use wave_isa::table::CacheHint;

/// Timing in which every constraint has another number. 16 banks in 4 groups: bank b is in group b / 4.
fn distinct() -> Dram {
    Dram {
        t_rcd: 14,
        t_rp: 15,
        t_ras: 33,
        t_cl: 16,
        t_cwl: 12,
        t_rrd_s: 4,
        t_rrd_l: 6,
        t_faw: 26,
        t_ccd_s: 5,
        t_ccd_l: 7,
        t_wtr_s: 3,
        t_wtr_l: 9,
        t_rtp: 8,
        t_wr: 17,
        t_rfc: 120,
        t_refi: 2000,
        bus_bits: 16,
        transfers_per_clock: 4,
        burst_bytes: 32,
        t_rc: 50,
        ..Config::example().dram
    }
}

/// After these commands (command, bank, clock) the next one is legal from its clock on, by the named rule.
type Case<'a> = (&'a str, &'a [(Command, usize, Clock)], (Command, usize, Clock));

/// The clocks were worked out by hand from `distinct`. Write data ends 12 + 4 clocks after its command.
const CASES: &[Case] = {
    use Command::*;
    &[
        ("t_rcd", &[(Activate, 0, 100)], (Read, 0, 114)),
        ("t_rcd", &[(Activate, 0, 100)], (Write, 0, 114)),
        ("t_ras", &[(Activate, 0, 100)], (Precharge, 0, 133)),
        ("t_ras", &[(Activate, 0, 100), (Activate, 5, 120)], (PrechargeAll, 0, 153)),
        ("t_rc", &[(Activate, 0, 100), (Precharge, 0, 133)], (Activate, 0, 150)),
        ("t_rc", &[(Activate, 3, 1960), (Precharge, 3, 1993)], (Refresh, 0, 2010)),
        ("t_rp", &[(Activate, 0, 100), (Precharge, 0, 140)], (Activate, 0, 155)),
        ("t_rp", &[(Activate, 9, 100), (PrechargeAll, 0, 140)], (Activate, 9, 155)),
        ("t_rp", &[(Activate, 3, 1900), (Precharge, 3, 1990)], (Refresh, 0, 2005)),
        ("t_rp", &[(Activate, 3, 1900), (PrechargeAll, 0, 1990)], (Refresh, 0, 2005)),
        ("t_rtp", &[(Activate, 0, 100), (Read, 0, 130)], (Precharge, 0, 138)),
        ("t_rtp", &[(Activate, 0, 100), (Read, 0, 130)], (PrechargeAll, 0, 138)),
        ("t_wr", &[(Activate, 0, 100), (Write, 0, 130)], (Precharge, 0, 163)),
        ("t_wr", &[(Activate, 0, 100), (Write, 0, 130)], (PrechargeAll, 0, 163)),
        ("t_rrd_l", &[(Activate, 0, 100)], (Activate, 3, 106)),
        ("t_rrd_s", &[(Activate, 0, 100)], (Activate, 4, 104)),
        // A window of four activates, not three, which moves on.
        (
            "t_faw",
            &[(Activate, 0, 100), (Activate, 4, 105), (Activate, 8, 110), (Activate, 12, 115)],
            (Activate, 1, 126),
        ),
        ("t_rrd_s", &[(Activate, 0, 100), (Activate, 4, 105), (Activate, 8, 110)], (Activate, 12, 114)),
        (
            "t_faw",
            &[
                (Activate, 0, 100),
                (Activate, 4, 110),
                (Activate, 8, 115),
                (Activate, 12, 120),
                (Activate, 1, 126),
            ],
            (Activate, 5, 136),
        ),
        ("t_ccd_l", &[(Activate, 0, 100), (Activate, 1, 110), (Read, 0, 200)], (Read, 1, 207)),
        ("t_ccd_s", &[(Activate, 0, 100), (Activate, 4, 110), (Read, 0, 200)], (Read, 4, 205)),
        ("t_ccd_l", &[(Activate, 0, 100), (Activate, 1, 110), (Write, 0, 200)], (Write, 1, 207)),
        ("t_ccd_s", &[(Activate, 0, 100), (Activate, 4, 110), (Write, 0, 200)], (Write, 4, 205)),
        ("t_wtr_l", &[(Activate, 0, 100), (Activate, 2, 110), (Write, 0, 200)], (Read, 2, 225)),
        ("t_wtr_s", &[(Activate, 0, 100), (Activate, 4, 110), (Write, 0, 200)], (Read, 4, 219)),
        // Read data ends 16 + 4 clocks after its command, the bus rests for two, and write data comes after
        // 12.
        ("the turnaround", &[(Activate, 0, 100), (Activate, 4, 110), (Read, 0, 200)], (Write, 4, 210)),
        ("t_rfc", &[(Refresh, 0, 2000)], (Activate, 7, 2120)),
    ]
};

#[test]
fn each_constraint_blocks_until_the_clock_before_and_no_longer() {
    let refreshes: Case = ("t_rfc", &[(Command::Refresh, 0, 2000)], (Command::Refresh, 0, 2120));
    for (name, before, (command, bank, clock)) in CASES.iter().chain([&refreshes]) {
        let mut timing = Timing::new(&distinct());
        for &(command, bank, clock) in *before {
            timing.issue(command, bank, clock);
        }
        assert_eq!(timing.earliest(*command, *bank), *clock, "{name}");
    }
}

/// The same streams for the checker: it accepts the last command in its clock, and names the rule if the
/// command is a clock early.
#[test]
fn the_checker_objects_to_each_constraint_broken_by_one_clock() {
    let stream = |before: &[(Command, usize, Clock)], last: (Command, usize, Clock)| -> Vec<IssuedCommand> {
        let issued = |&(command, bank, clock): &(Command, usize, Clock)| IssuedCommand {
            clock,
            command,
            bank: bank as u16,
            row: 0,
        };
        before.iter().chain([&last]).map(issued).collect()
    };
    for &(name, before, (command, bank, clock)) in CASES {
        assert_eq!(first_violation(&distinct(), &stream(before, (command, bank, clock))), None, "{name}");
        let said = first_violation(&distinct(), &stream(before, (command, bank, clock - 1)));
        assert!(
            said.as_ref().is_some_and(|said| said.contains(&format!("breaks {name}"))),
            "{name}: {said:?}"
        );
    }
    use Command::*;
    type Stream<'a> = &'a [(Command, usize, Clock)];
    let wrong: &[(&str, Stream)] = &[
        ("one command a clock", &[(Activate, 0, 100), (Activate, 4, 100)]),
        ("activate of an open bank", &[(Activate, 0, 100), (Activate, 0, 200)]),
        ("precharge of a closed bank", &[(Precharge, 0, 100)]),
        ("column command to a closed bank", &[(Read, 0, 100)]),
        ("refresh with an open bank", &[(Activate, 0, 100), (Refresh, 0, 2000)]),
        ("t_refi", &[(Refresh, 0, 1999)]),
        ("t_refi", &[(Refresh, 0, 2200)]),
        ("t_refi", &[(Activate, 0, 2300)]),
    ];
    for (name, commands) in wrong {
        let (&last, before) = commands.split_last().unwrap();
        let said = first_violation(&distinct(), &stream(before, last)).unwrap_or_default();
        assert!(said.contains(name), "{name}: {said}");
    }
    // Commands may be closer together than the data that they move.
    let close = Dram { t_ccd_s: 2, ..distinct() };
    let reads = [(Activate, 0, 100), (Activate, 4, 110), (Read, 0, 200)];
    assert_eq!(first_violation(&close, &stream(&reads, (Read, 4, 204))), None);
    let said = first_violation(&close, &stream(&reads, (Read, 4, 203))).unwrap_or_default();
    assert!(said.contains("one burst on the data bus"), "{said}");
}

#[test]
fn bursts_do_not_share_the_data_bus_even_if_t_ccd_allows_it() {
    let mut timing = Timing::new(&Dram { t_ccd_s: 2, t_ccd_l: 2, ..distinct() });
    timing.issue(Command::Read, 0, 100);
    assert_eq!(timing.earliest(Command::Read, 4), 104);
}

#[test]
fn a_bank_does_not_wait_for_commands_that_do_not_concern_it() {
    let mut timing = Timing::new(&distinct());
    timing.issue(Command::Activate, 0, 100);
    timing.issue(Command::Precharge, 4, 150);
    assert_eq!(timing.earliest(Command::Read, 1), 0);
    assert_eq!(timing.earliest(Command::Precharge, 8), 0);
    assert_eq!(timing.earliest(Command::Activate, 8), 104);
}

/// One channel behind an L2 that holds almost nothing, so that most accesses reach it.
fn machine(dram: Dram) -> Config {
    let mut config = Config::example();
    config.cores = 4;
    config.l2.slices = 2;
    config.l2.slice_bytes = 2048;
    config.l2.ways = 4;
    config.dram = Dram { channels: 1, ..dram };
    config
}

/// The commands of a channel under random reads and writes: runs of neighbours, random lines, and pauses.
fn commands(config: &Config, seed: u64) -> Vec<IssuedCommand> {
    let bytes = 4 << 20;
    let mut rig = Rig::new(config, addresses(bytes));
    rig.system.record_commands();
    let mut rng = rand_pcg::Pcg32::seed_from_u64(seed);
    let mut line = vec![0; config.cores as usize];
    while rig.now < 12_000 {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            l1.take(now);
            let pause = now / 700 % 3 == 2;
            if pause || rng.random_range(0..3) == 0 {
                return true;
            }
            if rng.random_range(0..4) == 0 {
                line[core] = rng.random_range(0..bytes as u64 / 128) * 128;
            } else {
                line[core] = (line[core] + 128) % bytes as u64;
            }
            let data = [0; MAX_LINE_BYTES];
            let store = Operation::Store { byte_mask: 0xFF << (32 * rng.random_range(0..4)), data: &data };
            let load = Operation::Load { sectors: rng.random_range(1..16) };
            // Phases with many writes and phases with few.
            let stores = if (now / 1000).is_multiple_of(2) { 2 } else { 8 };
            let operation = if rng.random_range(0..stores) == 0 { store } else { load };
            let access = Access {
                operation,
                hint: CacheHint::Uncached,
                line: line[core],
                by: Requester::NONE,
                owner: 0,
                epoch: 0,
            };
            let _ = l1.access(now, &access);
            true
        });
    }
    rig.system.commands(0).to_vec()
}

#[test]
fn the_command_stream_is_legal() {
    let mut hbm = distinct();
    (hbm.bus_bits, hbm.burst_bytes, hbm.t_ccd_s, hbm.t_ccd_l) = (64, 64, 2, 4);
    for dram in [distinct(), Config::example().dram, hbm] {
        for policy in [DramPolicy::FrFcfs, DramPolicy::Fcfs] {
            let config = machine(Dram { policy, ..dram });
            for seed in 0..3 {
                let stream = commands(&config, seed);
                assert!(stream.len() > 500, "{policy:?}: only {} commands", stream.len());
                if let Some(fault) = first_violation(&config.dram, &stream) {
                    panic!("{policy:?}, seed {seed}: {fault}");
                }
            }
        }
    }
}

/// Each parameter matters in that traffic: with the model one clock short, the checker, which has the true
/// value, objects.
#[test]
fn a_model_that_is_one_clock_short_is_caught() {
    type Short = fn(&mut Dram);
    let mutants: &[(&str, Short)] = &[
        ("t_rcd", |d| d.t_rcd -= 1),
        ("t_rp", |d| d.t_rp -= 1),
        ("t_ras", |d| d.t_ras -= 1),
        ("t_rc", |d| d.t_rc -= 1),
        ("t_rrd_s", |d| d.t_rrd_s -= 1),
        ("t_rrd_l", |d| d.t_rrd_l -= 1),
        ("t_faw", |d| d.t_faw -= 1),
        ("t_ccd_s", |d| d.t_ccd_s -= 1),
        ("t_ccd_l", |d| d.t_ccd_l -= 1),
        ("t_wtr_s", |d| d.t_wtr_s -= 1),
        ("t_wtr_l", |d| d.t_wtr_l -= 1),
        ("t_rtp", |d| d.t_rtp -= 1),
        ("t_wr", |d| d.t_wr -= 1),
        ("t_rfc", |d| d.t_rfc -= 1),
        // A refresh is late by the time that it takes to close open rows, which hides a single clock;
        // `an_idle_channel_refreshes_on_time` is exact.
        ("t_refi", |d| d.t_refi -= 20),
        ("t_cwl", |d| d.t_cwl -= 1),
        ("t_cl", |d| d.t_cl -= 1),
    ];
    for (name, shorten) in mutants {
        let truth = distinct();
        let mut model = truth;
        shorten(&mut model);
        let stream = commands(&machine(model), 1);
        let fault = first_violation(&Dram { channels: 1, ..truth }, &stream);
        assert!(fault.is_some(), "{name} one clock short goes unnoticed");
    }
}

/// Core 0 loads a sector of each of these lines as fast as it can. Returns the lines in the order of their
/// arrival.
fn order_of_service(config: &Config, lines: &[u64]) -> (Vec<u64>, DramCounters) {
    let mut rig = Rig::new(config, addresses(4 << 20));
    let mut next = 0;
    let mut order = Vec::new();
    while order.len() < lines.len() {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if let Some(response) = l1.take(now) {
                order.push(lines[response.owner as usize]);
            }
            if core == 0 && next < lines.len() {
                let operation = Operation::Load { sectors: 1 };
                let owner = next as u32;
                let access = Access {
                    operation,
                    hint: CacheHint::Cached,
                    line: lines[next],
                    by: Requester::NONE,
                    owner,
                    epoch: 0,
                };
                next += usize::from(l1.access(now, &access).is_ok());
            }
            true
        });
    }
    (order, rig.system.counters().dram)
}

/// A machine with one slice and one channel, whose queues hold all that the tests send.
fn one_slice(policy: DramPolicy) -> Config {
    let mut config = machine(Dram { policy, t_refi: 0, ..distinct() });
    config.l2.slices = 1;
    config.l2.slice_bytes = 64 << 10;
    config.core.l1.mshrs = 256;
    config.l2.mshrs = 256;
    config.l2.queue_entries = 64;
    config
}

/// Addresses of the lines in a row of bank 0 of such a machine.
fn lines_of_row(config: &Config, row: u32) -> Vec<u64> {
    let place = place_of(config);
    let fits = |line: &u32| (place(0, *line).bank, place(0, *line).row) == (0, row);
    (0..1 << 15).filter(fits).map(|line| u64::from(line) * 128).collect()
}

#[test]
fn fr_fcfs_serves_row_hits_first_and_fcfs_does_not() {
    for (policy, order, rows) in
        [(DramPolicy::FrFcfs, [0, 2, 1, 3], (1, 2, 1)), (DramPolicy::Fcfs, [0, 1, 2, 3], (1, 0, 3))]
    {
        let config = one_slice(policy);
        let (zero, one) = (lines_of_row(&config, 0), lines_of_row(&config, 1));
        let lines = [zero[0], one[0], zero[1], one[1]];
        let (served, dram) = order_of_service(&config, &lines);
        assert_eq!(served, order.map(|i: usize| lines[i]), "{policy:?}");
        assert_eq!((dram.row_empties, dram.row_hits, dram.row_conflicts), rows, "{policy:?}");
    }
}

#[test]
fn row_hits_cannot_starve_another_row_for_ever() {
    let mut config = one_slice(DramPolicy::FrFcfs);
    config.dram.row_bytes = 32 << 10;
    // 200 hits to row 0, with one request for row 1 among the first.
    let mut lines: Vec<u64> = lines_of_row(&config, 0)[..200].to_vec();
    let stranger = lines_of_row(&config, 1)[0];
    lines.insert(2, stranger);
    for limit in [64, 1, 10] {
        config.dram.overtake_limit = limit;
        let (served, _) = order_of_service(&config, &lines);
        // Two requests are older; then come those that may overtake it.
        let place = served.iter().position(|&line| line == stranger);
        assert_eq!(place, Some(2 + limit as usize));
    }
}

#[test]
fn an_idle_channel_refreshes_on_time() {
    let config = machine(distinct());
    let mut rig = Rig::new(&config, addresses(1 << 20));
    rig.system.record_commands();
    rig.load(0, 0, 1);
    for _ in 0..1000 {
        rig.step(&mut |_: Cycle, _: usize, _: &mut Client| true);
    }
    let clocks = rig.now * 7 / 6;
    assert_eq!(rig.system.next_event(rig.now), crate::clock::NEVER, "refreshes are no event");
    assert_eq!(rig.system.counters().dram.refreshes, clocks / 2000);
    let refreshes: Vec<_> = rig.system.commands(0).iter().filter(|c| c.command == Command::Refresh).collect();
    // The first has to close a row first.
    let times: Vec<_> = refreshes.iter().map(|c| c.clock).collect();
    assert_eq!(times[..3], [2000 + 15, 4000, 6000]);
}

/// Commands of a channel with one slice for these transfers, sent together: line, sectors, read or write.
fn issued_for(transfers: &[(u32, u8, Command)]) -> Vec<Command> {
    issued_on(&one_slice(DramPolicy::FrFcfs), transfers)
}

/// The same for a machine with one slice.
fn issued_on(config: &Config, transfers: &[(u32, u8, Command)]) -> Vec<Command> {
    let mut channel = Channel::new(config, 2);
    let mut slices = [Slice::new(config, 0, 0)];
    let mut agenda = Agenda::new([3]).0;
    channel.record_commands();
    for &(line, sectors, command) in transfers {
        let fetch = (command == Command::Read).then(MshrId::for_test);
        let line_number = LineNumber(line);
        let transfer =
            Transfer { line: line_number, slice: 0, index: line, sectors, whole: 0, fetch, epoch: 0 };
        slices[0].send_for_test(transfer);
    }
    let mut in_front = InFront { slices: &mut slices, banks: &mut [] };
    (0..4000).for_each(|now| channel.tick((now, now + 1), 0, &mut in_front, &mut agenda));
    channel.commands().iter().map(|issued| issued.command).collect()
}

#[test]
fn the_accesses_to_a_line_keep_their_order() {
    use Command::{Activate, Read, Write};
    // After a read, the next read may go earlier than a write, because the bus turns round. So a read would
    // overtake the write in front of it if it could.
    let (another, same) = (8, 4);
    let transfers = |last| [(0, 1, Read), (4, 1, Write), (last, 1, Read)];
    assert_eq!(issued_for(&transfers(another)), [Activate, Read, Read, Write]);
    assert_eq!(issued_for(&transfers(same)), [Activate, Read, Write, Read]);
}

#[test]
fn a_row_that_is_wanted_stays_open() {
    use Command::{Activate, Precharge, Read, Write};
    // tRTP is two clocks shorter than the turnaround for the write, so the row could be closed before it.
    let other_row = (lines_of_row(&one_slice(DramPolicy::FrFcfs), 1)[0] / 128) as u32;
    let issued = issued_for(&[(0, 0xF, Read), (4, 1, Write), (other_row, 1, Read)]);
    assert_eq!(issued, [Activate, Read, Read, Read, Read, Write, Precharge, Activate, Read]);
}

/// Rule M27a: reads go first until so many writes wait, which then go until few are left.
#[test]
fn writes_wait_until_they_are_drained() {
    use Command::{Activate, Read, Write};
    // One row. The lines come one a cycle, much faster than their bursts go.
    let lines = [Write, Read, Write, Read, Write, Read, Write, Read, Write, Read];
    let transfers: Vec<_> = lines.iter().zip(0..).map(|(&command, i)| (4 * i, 1, command)).collect();
    let order = |drain_high, drain_low| {
        let mut config = one_slice(DramPolicy::FrFcfs);
        (config.dram.drain_high, config.dram.drain_low) = (drain_high, drain_low);
        let issued = issued_on(&config, &transfers);
        assert_eq!(issued[0], Activate);
        issued[1..].iter().map(|command| if *command == Read { 'r' } else { 'w' }).collect::<String>()
    };
    // All are there when the row is open. Then writes go first from the 5th on, the 3rd on or never.
    assert_eq!(order(5, 4), "wrrrrrwwww");
    assert_eq!(order(5, 0), "wwwwwrrrrr");
    assert_eq!(order(3, 1), "wwwwrrrrrw");
    assert_eq!(order(64, 1), "rrrrrwwwww");
}

/// Rule M27a under traffic: requests for a few lines, many of them the same, in rows of a few banks. Each burst is served,
/// whoever waits for whom.
#[test]
fn where_directions_take_turns_every_request_is_served() {
    use Command::{Read, Write};
    let mut random = rand_pcg::Pcg32::seed_from_u64(3);
    for _ in 0..60 {
        let transfers: Vec<_> = (0..24)
            .map(|_| {
                let place = 4 * random.random_range(0..3_u32) + random.random_range(0..2_u32);
                let line = 256 * random.random_range(0..3_u32) + place;
                let command = if random.random_range(0..2) == 0 { Read } else { Write };
                (line, 1 << random.random_range(0..4_u32), command)
            })
            .collect();
        let mut config = one_slice(DramPolicy::FrFcfs);
        (config.dram.drain_high, config.dram.drain_low) = (6, 1);
        let issued = issued_on(&config, &transfers);
        let columns = issued.iter().filter(|&&command| command == Read || command == Write);
        assert_eq!(columns.count(), transfers.len(), "{transfers:?}");
    }
}

/// Rule M27a: reads and writes of two rows of a bank, mixed. The rows are open once for each direction and turn.
#[test]
fn in_its_turn_a_direction_closes_rows_of_the_other() {
    use Command::{Activate, Read, Write};
    let rows = [0, 1].map(|row| lines_of_row(&one_slice(DramPolicy::FrFcfs), row));
    let line = |row: usize, number: usize| (rows[row][number] / 128) as u32;
    // Reads lie in one row, writes in the other.
    let transfers: Vec<_> =
        (0..4).flat_map(|number| [(line(0, number), 1, Read), (line(1, number), 1, Write)]).collect();
    let mut config = one_slice(DramPolicy::FrFcfs);
    (config.dram.drain_high, config.dram.drain_low) = (3, 0);
    let issued = issued_on(&config, &transfers);
    let activates = issued.iter().filter(|&&command| command == Activate).count();
    let turns: Vec<_> = issued.iter().filter(|&&command| command == Read || command == Write).collect();
    let turned = turns.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(turned <= 2 && activates <= 3, "{issued:?}");
}

#[test]
fn slices_of_a_channel_take_turns() {
    let config = machine(Dram { channels: 1, ..distinct() });
    let mut channel = Channel::new(&config, 2);
    let mut slices = [Slice::new(&config, 0, 0), Slice::new(&config, 1, 1)];
    let mut agenda = Agenda::new([3]).0;
    for line in 0..3 {
        for (number, slice) in slices.iter_mut().enumerate() {
            slice.send_for_test(Transfer {
                line: LineNumber(line),
                slice: number as u16,
                index: line,
                sectors: 1,
                whole: 1,
                fetch: None,
                epoch: 0,
            });
        }
    }
    let mut in_front = InFront { slices: &mut slices, banks: &mut [] };
    // One a cycle; nothing has left the queue by then.
    (0..6).for_each(|now| channel.tick((now, now + 1), 0, &mut in_front, &mut agenda));
    assert_eq!(channel.queue.entries().map(|entry| entry.slice).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
}
