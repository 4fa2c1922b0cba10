//! The network alone, between test ends: every packet comes out once, in order and in the right cycle.

use super::*;
use crate::clock::NEVER;
use crate::config::{Config, Edge, Topology};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

#[derive(Debug, Clone, PartialEq)]
struct Message {
    source: usize,
    destination: usize,
    number: u64,
    bytes: u32,
}

/// Sources whose messages are available from given cycles on, and destinations that pause.
struct TestEnds {
    port_bytes: u32,
    queues: Vec<VecDeque<(Cycle, Message)>>,
    /// Destination d accepts a packet in cycle t if (t / 8 + d) mod this is 0.
    open_every: Cycle,
    /// Cycle in which the last byte is there.
    delivered: Vec<(Cycle, usize, Message)>,
    counters: crate::memory::InterconnectCounters,
}

impl TestEnds {
    fn new(config: &Config, messages: impl IntoIterator<Item = (Cycle, Message)>) -> TestEnds {
        let mut queues = vec![VecDeque::new(); config.cores as usize];
        messages.into_iter().for_each(|(at, message)| queues[message.source].push_back((at, message)));
        let port_bytes = config.interconnect.port_bytes_per_cycle;
        TestEnds { port_bytes, queues, open_every: 1, delivered: Vec::new(), counters: Default::default() }
    }
}

impl Ends for TestEnds {
    type Packet = Message;

    fn head(&self, now: Cycle, source: usize) -> Head {
        match self.queues[source].front() {
            Some((at, message)) if *at <= now => Head::For(message.destination),
            Some((at, _)) => Head::From(*at),
            None => Head::None,
        }
    }

    fn take(&mut self, _: Cycle, source: usize) -> Option<ends::Taken<Message>> {
        let (_, packet) = self.queues[source].pop_front()?;
        let (destination, bytes) = (packet.destination, packet.bytes);
        Some(ends::Taken {
            packet,
            destination,
            bytes,
            slowest: Cycle::from(bytes.div_ceil(self.port_bytes)),
        })
    }

    fn room(&mut self, now: Cycle, destination: usize) -> Room {
        let open = |at: Cycle| (at / 8 + destination as Cycle).is_multiple_of(self.open_every);
        match (now..).find(|&at| open(at)) {
            Some(at) if at == now => Room::Now,
            Some(at) => Room::From(at),
            None => Room::Unknown,
        }
    }

    fn deliver(
        &mut self,
        now: Cycle,
        destination: usize,
        message: Message,
        bytes: u32,
        _: Cycle,
        rest: Cycle,
    ) {
        assert_eq!((destination, bytes), (message.destination, message.bytes));
        self.delivered.push((now + rest, destination, message));
    }

    fn counters(&mut self) -> &mut crate::memory::InterconnectCounters {
        &mut self.counters
    }
}

/// Simulates until nothing is left to do: every cycle, or only those in which something happens.
fn run(config: &Config, mut ends: TestEnds, skip: bool) -> (TestEnds, Fabric<Message>) {
    let mut fabric = Fabric::of_requests(config);
    for source in 0..ends.queues.len() {
        fabric.expect(source, 0);
    }
    // What is planned for cycle 0 is done in cycle 1.
    let mut now = 1;
    // Long after everything should have arrived.
    let total: usize = ends.queues.iter().map(VecDeque::len).sum();
    let end = 10_000 + 400 * total as Cycle;
    while now < end && fabric.next() != NEVER {
        if skip {
            now = now.max(fabric.next());
        }
        fabric.tick(now, !skip, &mut ends);
        now += 1;
    }
    (ends, fabric)
}

fn machine(cores: u32, slices: u32, topology: Topology) -> Config {
    let mut config = Config::example();
    config.cores = cores;
    config.l2.slices = slices;
    config.dram.channels = 1;
    config.interconnect.topology = topology;
    config.interconnect.link_latency_cycles = 3;
    config.interconnect.mesh_columns = 4;
    config
}

fn edge(from: &str, to: &str, both_ways: bool, latency_cycles: u32, bytes_per_cycle: u32) -> Edge {
    Edge { from: from.into(), to: to.into(), both_ways, latency_cycles, bytes_per_cycle, dateline: false }
}

/// Two clusters joined by a wide link, with slices in both.
fn clusters() -> Config {
    let mut config = machine(4, 2, Topology::Edges);
    config.interconnect.edges = vec![
        edge("core0", "west", true, 1, 32),
        edge("core1", "west", true, 2, 32),
        edge("core2", "east", true, 1, 16),
        edge("core3", "east", true, 1, 32),
        edge("west", "east", true, 7, 64),
        edge("west", "slice0", true, 2, 32),
        edge("east", "slice1", true, 3, 8),
    ];
    config
}

fn checked(config: Config) -> Config {
    assert!(config.check().is_empty(), "{:?}", config.check());
    config
}

fn machines() -> Vec<Config> {
    let all = [
        machine(5, 4, Topology::Ring),
        machine(1, 1, Topology::Ring),
        machine(6, 2, Topology::Mesh),
        machine(9, 4, Topology::Mesh),
        machine(2, 1, Topology::Mesh),
        clusters(),
    ];
    all.map(checked).into()
}

fn random(config: &Config, seed: u64, count: u64) -> Vec<(Cycle, Message)> {
    let mut rng = Pcg32::seed_from_u64(seed);
    let mut at = vec![0; config.cores as usize];
    let mut one = |number| {
        let source = rng.random_range(0..config.cores as usize);
        let burst = rng.random_range(0..8) != 0;
        at[source] += if burst { 0 } else { rng.random_range(0..60) };
        let destination = rng.random_range(0..config.l2.slices as usize);
        let bytes = 8 + 32 * rng.random_range(0..=4);
        (at[source], Message { source, destination, number, bytes })
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn every_message_arrives_once_and_in_order_with_one_credit_and_skipping_changes_nothing() {
    for (m, base) in machines().into_iter().enumerate() {
        for (seed, arbitration) in [(1, Arbitration::RoundRobin), (2, Arbitration::Oldest)] {
            for (credits, open_every) in [(1, 1), (1, 5), (3, 2)] {
                let mut config = base.clone();
                config.interconnect.link_credits = credits;
                config.interconnect.arbitration = arbitration;
                let messages = random(&config, seed, 1500);
                let ends = || TestEnds { open_every, ..TestEnds::new(&config, messages.clone()) };
                let (seen, fabric) = run(&config, ends(), true);
                assert!(fabric.is_empty(), "machine {m}: {} of 1500 arrived", seen.delivered.len());
                let mut numbers: Vec<_> =
                    seen.delivered.iter().map(|(_, _, message)| message.number).collect();
                numbers.sort_unstable();
                assert!(numbers.iter().copied().eq(0..1500), "machine {m}");
                let mut last = std::collections::HashMap::new();
                for (_, _, message) in &seen.delivered {
                    let before = last.insert((message.source, message.destination), message.number);
                    assert!(before < Some(message.number), "machine {m}: {message:?} after {before:?}");
                }
                let (every_cycle, other) = run(&config, ends(), false);
                let mut pairs = seen.delivered.iter().zip(&every_cycle.delivered);
                let different = pairs.find(|(one, other)| one != other);
                assert!(different.is_none(), "machine {m}, seed {seed}, credits {credits}: {different:?}");
                assert_eq!(seen.counters, every_cycle.counters);
                assert!(fabric.links().eq(other.links()));
                assert!(
                    seen.counters.link_stall_cycles > 0 || base.cores == 1,
                    "machine {m} is never loaded"
                );
            }
        }
    }
}

/// The ring carries this traffic, but deadlocks without its dateline. So the check of the dependencies is
/// needed.
#[test]
fn a_ring_without_a_dateline_is_refused_and_would_deadlock() {
    let ring = |dateline: usize| {
        let mut config = machine(8, 8, Topology::Edges);
        config.interconnect.link_credits = 1;
        let name =
            |i: usize| if i.is_multiple_of(2) { format!("core{}", i / 2) } else { format!("slice{}", i / 2) };
        config.interconnect.edges = (0..16)
            .map(|i| Edge { dateline: i == dateline, ..edge(&name(i), &name((i + 1) % 16), false, 1, 32) })
            .collect();
        config
    };
    let messages = |config: &Config| random(config, 3, 2000);
    let good = checked(ring(9));
    let (ends, fabric) = run(&good, TestEnds::new(&good, messages(&good)), true);
    assert!(fabric.is_empty() && ends.delivered.len() == 2000);

    let bad = ring(99);
    let said = bad.check();
    assert_eq!(said.len(), 2, "requests and replies: {said:?}");
    assert!(said[0].message.contains("requests can wait for one another for ever: "), "{}", said[0].message);
    let (ends, fabric) = run(&bad, TestEnds::new(&bad, messages(&bad)), true);
    assert!(!fabric.is_empty() && ends.delivered.len() < 2000);
}

/// Cycles that a single message takes.
fn alone(config: &Config, source: usize, destination: usize, bytes: u32) -> Cycle {
    let message = Message { source, destination, number: 0, bytes };
    let (ends, _) = run(config, TestEnds::new(config, [(5, message)]), true);
    ends.delivered[0].0 - 5
}

#[test]
fn alone_a_message_takes_the_hops_of_the_shortest_way() {
    // Five cores and four slices in a ring: floor((p + 1) 4 / 9) grows at 2, 4, 6 and 8.
    let config = machine(5, 4, Topology::Ring);
    let (cores, slices) = ([0, 1, 3, 5, 7], [2, 4, 6, 8]);
    for (c, core) in cores.into_iter().enumerate() {
        for (s, slice) in slices.into_iter().enumerate() {
            let there = (slice + 9 - core) % 9;
            assert_eq!(alone(&config, c, s, 8), 3 * there.min(9 - there), "core {c} to slice {s}");
        }
    }
    // Nine cores and four slices in rows of four: slices at places 3, 6, 9 and 12.
    let config = machine(9, 4, Topology::Mesh);
    let (cores, slices) = ([0, 1, 2, 4, 5, 7, 8, 10, 11], [3, 6, 9, 12u64]);
    for (c, core) in cores.into_iter().enumerate() {
        for (s, &slice) in slices.iter().enumerate() {
            let way = (core % 4u64).abs_diff(slice % 4) + (core / 4).abs_diff(slice / 4);
            assert_eq!(alone(&config, c, s, 8), 3 * way, "core {c} to slice {s}");
        }
    }
}

#[test]
fn the_bytes_cost_their_time_once_at_the_narrowest_link() {
    // 136 bytes: 5 cycles at the port of 32 bytes a cycle, which are over when the message sets out.
    let config = clusters();
    assert_eq!(alone(&config, 0, 0, 136), 1 + 2);
    assert_eq!(alone(&config, 1, 0, 136), 2 + 2);
    // 9 at 16 bytes a cycle, 17 at 8.
    assert_eq!(alone(&config, 2, 0, 136), 1 + 7 + 2 + (9 - 5));
    assert_eq!(alone(&config, 2, 1, 136), 1 + 3 + (17 - 5));
    assert_eq!(alone(&config, 0, 1, 136), 1 + 7 + 3 + (17 - 5));
    assert_eq!(alone(&config, 3, 0, 8), 1 + 7 + 2);
}

/// Cycles between messages over all flows, when every source always has more to send, and the messages of
/// each flow.
fn saturated(config: &Config, flows: &[(usize, usize)], bytes: u32) -> (f64, Vec<u64>) {
    let message = |number: u64| {
        let (source, destination) = flows[number as usize % flows.len()];
        (0, Message { source, destination, number, bytes })
    };
    let (ends, _) = run(config, TestEnds::new(config, (0..4000).map(message)), true);
    // Only while all flows are active: after the start, and before the first flow ends.
    let seen = &ends.delivered[200..2000];
    let mut shares = vec![0; config.cores as usize];
    seen.iter().for_each(|(_, _, message)| shares[message.source] += 1);
    ((seen[seen.len() - 1].0 - seen[0].0) as f64 / (seen.len() - 1) as f64, shares)
}

#[test]
fn saturated_a_flow_gets_what_its_narrowest_place_or_its_credits_allow() {
    for topology in [Topology::Ring, Topology::Mesh] {
        let cases: [(u32, u32, u32, u32); 7] = [
            (1, 1, 32, 8),
            (3, 1, 32, 8),
            (3, 4, 32, 8),
            (3, 6, 32, 8),
            (3, 9, 8, 40),
            (5, 3, 32, 136),
            (2, 8, 64, 136),
        ];
        for (latency, credits, link_bytes, bytes) in cases {
            let mut config = machine(5, 4, topology);
            config.interconnect.link_latency_cycles = latency;
            config.interconnect.link_credits = credits;
            config.interconnect.link_bytes_per_cycle = link_bytes;
            let (port, link) = (bytes.div_ceil(32), bytes.div_ceil(link_bytes));
            // As many messages as there are credits in each round trip of a credit.
            let round = f64::from(2 * latency) / f64::from(credits);
            let expected = f64::from(port.max(link)).max(round);
            // A packet that leaves through a narrow link is gone with its last byte. Its credit is back after
            // the latency and the cycles by which its bytes were late.
            let late = f64::from(link.saturating_sub(port)) / f64::from(credits);
            let expected = expected.max(round + late);
            let (cycles, _) = saturated(&config, &[(0, 2)], bytes);
            assert!(
                (cycles - expected).abs() < 0.01 * expected,
                "{topology:?} {latency} {credits} {link_bytes} {bytes}: {cycles}, not {expected}"
            );
        }
    }
}

#[test]
fn flows_that_share_a_link_or_a_port_share_its_bandwidth() {
    // Cores 0 and 1 are at places 0 and 1 of the ring, slice 0 at 2: both take the link from 1 to 2.
    let config = machine(5, 4, Topology::Ring);
    let (cycles, shares) = saturated(&config, &[(0, 0), (1, 0)], 136);
    assert!((cycles - 5.0).abs() < 0.05, "{cycles}");
    assert!(shares[0].abs_diff(shares[1]) <= 2, "{shares:?}");
    // The flows come from both sides and share only the port of slice 1, at place 4.
    let (cycles, shares) = saturated(&config, &[(2, 1), (3, 1)], 136);
    assert!((cycles - 5.0).abs() < 0.05, "{cycles}");
    assert!(shares[2].abs_diff(shares[3]) <= 2, "{shares:?}");
    // Nothing is shared: twice the rate.
    let (cycles, _) = saturated(&config, &[(0, 3), (1, 0)], 136);
    assert!((cycles - 2.5).abs() < 0.05, "{cycles}");
    // Three cores in a row send to one slice: the router next to it gives its own core half of the link, in
    // turn.
    let mut config = machine(6, 2, Topology::Ring);
    config.interconnect.link_credits = 4;
    let (_, shares) = saturated(&config, &[(0, 0), (1, 0), (2, 0)], 136);
    let share = |core: usize| shares[core] as f64 / 1800.0;
    assert!((share(2) - 0.5).abs() < 0.02 && (share(0) - 0.25).abs() < 0.02, "{shares:?}");
}

#[test]
fn the_arbitration_decides_who_takes_a_link_that_two_want() {
    // Cores 0 and 1 are at places 0 and 1 of the ring. The message of core 0 requests the link from place 1
    // in the same cycle as a message of core 1.
    for (arbitration, first) in [(Arbitration::RoundRobin, 1), (Arbitration::Oldest, 0)] {
        let mut config = machine(6, 2, Topology::Ring);
        config.interconnect.arbitration = arbitration;
        let message = |source| Message { source, destination: 0, number: 0, bytes: 136 };
        let (ends, _) = run(&config, TestEnds::new(&config, [(10, message(0)), (13, message(1))]), true);
        let times: Vec<_> = ends.delivered.iter().map(|(at, _, message)| (*at, message.source)).collect();
        // Two hops from place 1 to slice 0 at place 3; the other is five cycles behind.
        assert_eq!(times, [(13 + 6, first), (13 + 6 + 5, 1 - first)], "{arbitration:?}");
    }
}

#[test]
fn links_count_what_they_carry() {
    let config = clusters();
    let message = |number| (0, Message { source: 0, destination: 1, number, bytes: 136 });
    let (ends, fabric) = run(&config, TestEnds::new(&config, (0..10).map(message)), true);
    let used: Vec<_> = fabric.links().enumerate().filter(|(_, link)| link.packets > 0).collect();
    // Links there and back alternate: core0 to west, west to east, east to slice1.
    let (numbers, links): (Vec<usize>, Vec<&LinkCounters>) = used.into_iter().unzip();
    assert_eq!(numbers, [0, 8, 12]);
    assert!(links.iter().all(|link| (link.packets, link.bytes) == (10, 1360)));
    assert_eq!(links.iter().map(|link| link.busy_cycles).collect::<Vec<_>>(), [50, 30, 170]);
    assert_eq!((ends.counters.hops, ends.counters.link_busy_cycles), (30, 250));
    // The first two never stall: the last link takes a message in 17 cycles, one comes every 5, and there is
    // room for eight.
    assert_eq!((links[0].stall_cycles, links[1].stall_cycles), (0, 0));
    let waits: u64 = (0..10).map(|i| i * 12).sum();
    assert!(links[2].stall_cycles < waits && links[2].stall_cycles > 0, "{}", links[2].stall_cycles);
}
