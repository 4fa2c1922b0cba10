//! The memory hierarchy as a closed queueing network. Device memory instructions circulate between
//! computation and the stations that their accesses pass (L1, ports, L2, DRAM). The model shows how a
//! bottleneck moves: if one station becomes faster, accesses queue at the next.
//!
//! Solved by approximate mean value analysis (Y. Bard, 1979; P. Schweitzer, 1979): an arriving access sees (n
//! − 1) / n of the mean queue.

use super::account::{Account, FULL, Observed, Resource};
use wave_isa::ExecClass;

/// A resource that serves one access at a time per server.
#[derive(Debug, Clone, Copy)]
struct Station {
    resource: Resource,
    /// Service time in cycles per instruction.
    service: f64,
    /// Number of parallel servers. An access occupies one.
    servers: f64,
}

/// The network of a run. Its customers are device memory instructions, or waves (`of_issue`).
#[derive(Debug, Clone)]
pub(crate) struct Network {
    /// Number of customers.
    population: f64,
    /// Cycles per round that a customer spends outside the stations: pure latency, and other work of its
    /// wave.
    think: f64,
    stations: Vec<Station>,
}

/// A hypothetical change of the network.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// Latency falls by this many cycles.
    Latency(f64),
    /// The service time halves.
    Wider(Resource),
    /// The number of servers doubles.
    More(Resource),
    /// This fraction of the load disappears.
    Relieved(Resource, f64),
    /// The number of servers grows by this factor.
    Servers(Resource, f64),
    /// The population grows by this factor.
    Crowd(f64),
}

/// Iterations of the fixed point. Each reduces the error by a constant factor.
const ROUNDS: usize = 400;

/// Lower bound for the fraction of time that waves wait for memory; it keeps the round finite.
const LEAST: f64 = 0.02;

impl Network {
    /// The network of an observed run. None if the run has no device access that waits for a response.
    pub(crate) fn of(observed: &Observed<'_>, account: &Account) -> Option<Network> {
        let core = &observed.report.core;
        let instructions = (core.device_loads + core.device_stores + core.device_atomics) as f64;
        let latency = account.latency;
        if instructions == 0.0 || latency.total == 0.0 {
            return None;
        }
        let config = observed.config;
        let (cores, slices) = (observed.active_cores(), f64::from(config.l2.slices));
        let stations: Vec<Station> = [
            (Resource::L1, cores),
            (Resource::RequestPorts, cores.min(slices)),
            (Resource::L2, slices),
            (Resource::L3, f64::from(config.dram.channels)),
            (Resource::Dram, f64::from(config.dram.channels)),
            (Resource::ReplyPorts, cores.min(slices)),
        ]
        .map(|(resource, servers)| Station {
            resource,
            service: account.busy(resource) * servers / instructions,
            servers,
        })
        .into();
        let waits = account.device() + account.lsu[ExecClass::DeviceMemory as usize];
        let waiting = (waits * account.barrier_factor / account.cycles).clamp(LEAST, 1.0);
        // Little's law: a wave spends the fraction `waiting` of a round in the hierarchy, and the rest
        // elsewhere.
        let round = latency.total / waiting;
        let unloaded = latency.l1 + latency.unloaded_behind_l1();
        Some(Network {
            population: (instructions / account.cycles * round).max(1.0),
            think: round - latency.total + unloaded,
            stations,
        })
    }

    /// The network of issue slots and execution units of a scheduler, with its waves as customers. None if
    /// nothing issued.
    pub(crate) fn of_issue(observed: &Observed<'_>, account: &Account) -> Option<Network> {
        let (config, core) = (observed.config, &observed.report.core);
        let width = f64::from(config.core.issue.width);
        let issued = account.busy(Resource::Issue) * width;
        let waves = core.resident_wave_cycles as f64
            / (account.cycles * observed.schedulers() * (1.0 - observed.idle()));
        if issued < 1.0 || waves < 1.0 {
            return None;
        }
        let mut stations = vec![Station { resource: Resource::Issue, service: 1.0, servers: width }];
        stations.extend((0..config.core.units.len()).map(|n| {
            let unit = Resource::Unit(n);
            Station { resource: unit, service: account.busy(unit) / issued, servers: 1.0 }
        }));
        // Time at each station, queue included, at the observed throughput. The rest of a wave's round is
        // think time.
        let throughput = issued / account.cycles;
        let others = (waves - 1.0) / waves;
        let time = |s: &Station| {
            let load = others * throughput * s.service / s.servers;
            s.service / (1.0 - load).max(1.0 - FULL)
        };
        let think = (waves / throughput - stations.iter().map(time).sum::<f64>()).max(0.0);
        Some(Network { population: waves, think, stations })
    }

    /// Throughput in instructions per cycle.
    fn throughput(&self) -> f64 {
        let others = (self.population - 1.0) / self.population;
        let mut queues = vec![self.population / self.stations.len() as f64; self.stations.len()];
        let mut throughput = 0.0;
        for _ in 0..ROUNDS {
            let times: Vec<f64> = self
                .stations
                .iter()
                .zip(&queues)
                .map(|(s, queue)| s.service * (1.0 + others * queue / s.servers))
                .collect();
            throughput = self.population / (self.think + times.iter().sum::<f64>()).max(1e-9);
            queues.iter_mut().zip(times).for_each(|(queue, time)| *queue = throughput * time);
        }
        throughput
    }

    /// Fraction of the run's cycles that these changes together save.
    pub(crate) fn saving(&self, changes: &[Change]) -> f64 {
        let mut changed = self.clone();
        for &change in changes {
            let mut at = |resource: Resource, act: &dyn Fn(&mut Station)| {
                changed.stations.iter_mut().filter(|s| s.resource == resource).for_each(act);
            };
            match change {
                Change::Wider(resource) => at(resource, &|s| s.service /= 2.0),
                Change::More(resource) => at(resource, &|s| s.servers *= 2.0),
                Change::Relieved(resource, part) => at(resource, &|s| s.service *= 1.0 - part),
                Change::Servers(resource, times) => at(resource, &|s| s.servers *= times),
                Change::Crowd(times) => changed.population *= times,
                Change::Latency(cycles) => changed.think = (changed.think - cycles).max(0.0),
            }
        }
        (1.0 - self.throughput() / changed.throughput()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(population: f64, think: f64, services: &[f64]) -> Network {
        let resources = [Resource::L1, Resource::L2, Resource::Dram];
        let stations = services
            .iter()
            .zip(resources)
            .map(|(&service, resource)| Station { resource, service, servers: 1.0 })
            .collect();
        Network { population, think, stations }
    }

    #[test]
    fn one_alone_takes_the_sum_and_many_the_slowest() {
        let alone = network(1.0, 10.0, &[2.0, 3.0, 5.0]);
        assert!((alone.throughput() - 1.0 / 20.0).abs() < 1e-9);
        let many = network(500.0, 10.0, &[2.0, 3.0, 5.0]);
        assert!((many.throughput() - 1.0 / 5.0).abs() < 1e-3, "{}", many.throughput());
    }

    #[test]
    fn the_approximation_is_near_exact_mean_value_analysis() {
        // The exact recursion for single-server stations (Reiser and Lavenberg, 1980).
        let exact = |population: usize, think: f64, services: &[f64]| {
            let mut queues = vec![0.0; services.len()];
            let mut throughput = 0.0;
            for n in 1..=population {
                let times: Vec<f64> = services.iter().zip(&queues).map(|(s, q)| s * (1.0 + q)).collect();
                throughput = n as f64 / (think + times.iter().sum::<f64>());
                queues = times.iter().map(|t| throughput * t).collect();
            }
            throughput
        };
        for population in [1, 2, 5, 20, 100] {
            for think in [0.0, 7.0, 300.0] {
                let services = [2.0, 3.5, 4.0];
                let near = network(population as f64, think, &services).throughput();
                let exact = exact(population, think, &services);
                assert!((near / exact - 1.0).abs() < 0.08, "{population} {think}: {near} for {exact}");
            }
        }
    }

    #[test]
    fn where_a_station_is_full_more_that_go_round_save_nothing() {
        let crowded = network(100.0, 10.0, &[1.0, 4.0, 8.0]);
        assert!(crowded.saving(&[Change::Crowd(2.0)]) < 0.01);
        let alone = network(1.0, 100.0, &[1.0, 4.0, 8.0]);
        let twice = alone.saving(&[Change::Crowd(2.0)]);
        assert!((0.4..0.5).contains(&twice), "{twice}");
    }

    #[test]
    fn what_is_not_the_bottleneck_helps_little() {
        let network = network(100.0, 10.0, &[1.0, 4.0, 8.0]);
        assert!(network.saving(&[Change::Wider(Resource::L2)]) < 0.01);
        assert!(network.saving(&[Change::Latency(10.0)]) < 0.01);
        let half = network.saving(&[Change::More(Resource::Dram)]);
        assert!((half - 0.5).abs() < 0.1, "{half}");
    }
}
