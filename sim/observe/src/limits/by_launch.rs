//! Watches a run as a whole and each launch separately, because launches may have different limits that an
//! average hides.

use super::account::Observed;
use super::watch::Watch;
use super::{Limiter, Limits};
use wave_isa::program::{Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, Observer, Wants};
use wave_machine::gpu::{KernelReport, RunError};

/// Smallest percentage of the cycles for which a launch gets its own text.
const MATTERS: f64 = 10.0;

/// Watches a run and each of its launches.
#[derive(Debug)]
pub struct ByLaunch<'a> {
    config: &'a Config,
    /// The whole run.
    pub all: Watch<'a>,
    /// The current launch. None if the run has only one launch.
    one: Option<Watch<'a>>,
    launch: Option<Launch>,
    /// Limits of each completed launch, in order. Empty if there is only one.
    pub launches: Vec<LaunchLimits>,
}

/// Limits of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchLimits {
    /// The launch.
    pub launch: Launch,
    /// Its limits.
    pub limits: Limits,
}

impl LaunchLimits {
    /// The most expensive cause.
    pub fn top(&self) -> Option<&Limiter> {
        self.limits.limiters.first()
    }
}

impl<'a> ByLaunch<'a> {
    /// A watch for `launches` launches of a program.
    pub fn new(config: &'a Config, program: &'a Program, launches: usize) -> ByLaunch<'a> {
        let one = (launches > 1).then(|| Watch::new(config, program));
        ByLaunch { config, all: Watch::new(config, program), one, launch: None, launches: Vec::new() }
    }

    /// For so many launches.
    #[must_use]
    pub fn each_of(self, launches: usize) -> ByLaunch<'a> {
        ByLaunch::new(self.config, self.all.program, launches)
    }

    /// Kernels are added to the program: it begins as the one before.
    pub fn extend(&mut self, program: &'a Program) {
        self.all.extend(program);
        self.one.iter_mut().for_each(|one| one.extend(program));
    }

    /// Called when a launch begins in machine cycle `start`.
    pub fn start(&mut self, launch: &Launch, start: Cycle) {
        self.all.start(launch, start);
        if let Some(one) = &mut self.one {
            one.restart(start, false);
            one.start(launch, start);
            self.launch = Some(launch.clone());
        }
    }

    /// Called when the launch ends, or fails.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        self.all.end(ended);
        let (Some(one), Some(launch)) = (&mut self.one, self.launch.take()) else { return };
        one.end(ended);
        if let Ok(report) = ended {
            let limits = Limits::of(&Observed { config: self.config, report, watch: one });
            self.launches.push(LaunchLimits { launch, limits });
        }
    }

    fn each(&mut self, tell: impl Fn(&mut Watch<'a>)) {
        tell(&mut self.all);
        self.one.iter_mut().for_each(tell);
    }
}

impl Observer for ByLaunch<'_> {
    fn wants(&self) -> Wants {
        self.all.wants()
    }

    fn event(&mut self, event: &Event<'_>) {
        self.each(|watch| watch.event(event));
    }
}

/// A group of similar launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Their numbers from 0, in order.
    pub launches: Vec<usize>,
    /// Sum of their cycles.
    pub cycles: Cycle,
    /// Cycles of the shortest and the longest.
    pub range: (Cycle, Cycle),
    /// The longest launch.
    pub longest: usize,
}

/// Groups launches with the same kernel, grid, workgroup size, most expensive cause and `key`, none of which
/// takes more than twice as long as another. Groups are in the order of their first launches.
pub fn groups<K: PartialEq>(launches: &[LaunchLimits], key: impl Fn(usize) -> K) -> Vec<Group> {
    let alike = |n: usize| {
        let LaunchLimits { launch, .. } = &launches[n];
        let top = launches[n].top().map(|limiter| limiter.cause);
        (launch.kernel, launch.grid, launch.workgroup, top, key(n))
    };
    let mut groups: Vec<Group> = Vec::new();
    for (n, one) in launches.iter().enumerate() {
        let cycles = one.limits.cycles;
        let near = |(least, most): (Cycle, Cycle)| most.max(cycles) <= 2 * least.min(cycles);
        match groups.iter_mut().find(|group| near(group.range) && alike(group.launches[0]) == alike(n)) {
            Some(group) => {
                group.launches.push(n);
                group.cycles += cycles;
                if cycles > group.range.1 {
                    group.longest = n;
                }
                group.range = (group.range.0.min(cycles), group.range.1.max(cycles));
            }
            None => groups.push(Group { launches: vec![n], cycles, range: (cycles, cycles), longest: n }),
        }
    }
    groups
}

impl Group {
    /// Its longest launch and the limit of that launch, if the group takes a tenth of the run's cycles or
    /// more and the run has another limit.
    pub fn differs<'l>(
        &self,
        launches: &'l [LaunchLimits],
        run: &Limits,
    ) -> Option<(&'l LaunchLimits, &'l Limiter)> {
        let one = launches.get(self.longest)?;
        let top = one.top()?;
        let of_run = run.limiters.first().map(|limiter| limiter.cause);
        let matters = run.percent(self.cycles as f64) >= MATTERS && Some(top.cause) != of_run;
        matters.then_some((one, top))
    }

    /// Its launches counted from 1, as in `1 to 4, 8`.
    pub fn spans(&self) -> String {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for &n in &self.launches {
            match spans.last_mut() {
                Some((_, last)) if *last + 1 == n => *last = n,
                _ => spans.push((n, n)),
            }
        }
        let span = |&(first, last): &(usize, usize)| match last - first {
            0 => format!("{}", first + 1),
            1 => format!("{}, {}", first + 1, last + 1),
            _ => format!("{} to {}", first + 1, last + 1),
        };
        spans.iter().map(span).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_count() {
        let group = |launches: &[usize]| Group {
            launches: launches.to_vec(),
            cycles: 0,
            range: (0, 0),
            longest: launches[0],
        };
        assert_eq!(group(&[0]).spans(), "1");
        assert_eq!(group(&[0, 1, 3, 4, 5, 9]).spans(), "1, 2, 4 to 6, 10");
    }
}
