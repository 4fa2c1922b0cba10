//! The variants of a test: placement of its threads, fences and their scope, and whether flags are accessed
//! with atomics.

use super::test::{Action, Statement, Test};
use std::fmt;
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

/// Where a thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Core.
    pub core: usize,
    /// Workgroup of the core.
    pub workgroup: usize,
    /// Wave of the workgroup.
    pub wave: usize,
}

/// Places of all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// `one_wave`, `one_workgroup`, `one_core`, `apart`, or a form such as `A+B|C`: `|` separates cores, `~`
    /// workgroups of a core, `+` waves of a workgroup.
    pub name: String,
    /// One per thread. Only in `one_wave` several are equal; thread i is then lane i.
    pub places: Vec<Place>,
}

/// Which of the optional fences are present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// None.
    Unfenced,
    /// The releasing ones; `acq_rel` only releases.
    ReleaseOnly,
    /// The acquiring ones; `acq_rel` only acquires.
    AcquireOnly,
    /// All.
    Fenced,
}

impl Fences {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Fences::Unfenced => "unfenced",
            Fences::ReleaseOnly => "release_only",
            Fences::AcquireOnly => "acquire_only",
            Fences::Fenced => "fenced",
        }
    }
}

/// A way to run a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Where the threads run.
    pub placement: Placement,
    /// The fences present.
    pub fences: Fences,
    /// Flags are accessed with atomics.
    pub atomic: bool,
    /// Scope of fences and atomics without a scope in the file; `None` if there are none.
    pub scope: Option<Scope>,
}

/// The words that distinguish variants.
pub const WORDS: [&str; 14] = [
    "one_wave",
    "one_workgroup",
    "one_core",
    "apart",
    "plain",
    "atomic",
    "unfenced",
    "release_only",
    "acquire_only",
    "fenced",
    "wave",
    "workgroup",
    "device",
    "system",
];

/// True for one of [`WORDS`].
pub(crate) fn is_word(text: &str) -> bool {
    WORDS.contains(&text)
}

impl Variant {
    /// True if the variant has this placement, access, fence or scope.
    pub fn has(&self, word: &str) -> bool {
        self.words().contains(&word)
    }

    fn words(&self) -> [&str; 4] {
        let access = if self.atomic { "atomic" } else { "plain" };
        [&self.placement.name, access, self.fences.name(), self.scope.map_or("-", Scope::name)]
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(" "))
    }
}

/// Every variant of a test.
pub fn variants(test: &Test) -> Vec<Variant> {
    let mut found = Vec::new();
    let open = |wanted: fn(bool, bool) -> bool| {
        test.statements().any(|s| {
            matches!(s.action, Action::Fence { release, acquire, scope: None } if wanted(release, acquire))
        })
    };
    let (releases, acquires) = (open(|release, _| release), open(|_, acquire| acquire));
    let mut fences = vec![Fences::Unfenced];
    if releases && acquires {
        fences.extend([Fences::ReleaseOnly, Fences::AcquireOnly]);
    }
    if releases || acquires {
        fences.push(Fences::Fenced);
    }
    let flags = test.locations.iter().any(|l| l.flag);
    for placement in placements(test) {
        for atomic in [false, true].into_iter().take(1 + usize::from(flags)) {
            for &fences in &fences {
                let device_flags = atomic && test.locations.iter().any(|l| l.flag && !l.local);
                let atomics = test.statements().any(|s| {
                    matches!(s.action, Action::Atomic { location, scope: None, .. }
                        if !test.locations[location].local)
                });
                let scoped = device_flags || atomics || fences != Fences::Unfenced;
                let scopes = if scoped { Scope::ALL } else { &Scope::ALL[..1] };
                for &scope in scopes {
                    let scope = scoped.then_some(scope);
                    found.push(Variant { placement: placement.clone(), fences, atomic, scope });
                }
            }
        }
    }
    found
}

/// All ways to spread the threads over cores, workgroups and waves. For four threads on several cores, of
/// which one has several threads, only those with one workgroup per core.
fn placements(test: &Test) -> Vec<Placement> {
    let threads = test.threads.len();
    let mut found = vec![Placement {
        name: "one_wave".to_owned(),
        places: vec![Place { core: 0, workgroup: 0, wave: 0 }; threads],
    }];
    for cores in partitions(threads) {
        let count = cores.iter().max().map_or(0, |&last| last + 1);
        let alone = count == threads;
        let forms: &[char] = if alone {
            &['|']
        } else if threads < 4 || count == 1 {
            &['+', '~']
        } else {
            &['+']
        };
        for &form in forms {
            let mut taken = vec![0; count];
            let places = cores.iter().map(|&core| {
                let index = taken[core];
                taken[core] += 1;
                let (workgroup, wave) = if form == '+' { (0, index) } else { (index, 0) };
                Place { core, workgroup, wave }
            });
            let places = places.collect();
            let name = match (form, count) {
                ('|', _) if threads > 1 => "apart".to_owned(),
                ('+', 1) => "one_workgroup".to_owned(),
                ('~', 1) => "one_core".to_owned(),
                _ => groups(test, &cores, count, form),
            };
            found.push(Placement { name, places });
        }
    }
    found.retain(|placement| shares_local_memory(test, placement));
    found
}

/// Groups as text, such as `A+B|C`.
fn groups(test: &Test, cores: &[usize], count: usize, form: char) -> String {
    let group = |core: usize| {
        let names = test.threads.iter().zip(cores).filter(|(_, c)| **c == core);
        names.map(|(thread, _)| thread.name.to_string()).collect::<Vec<_>>().join(&form.to_string())
    };
    (0..count).map(group).collect::<Vec<_>>().join("|")
}

/// All set partitions of `things` things, as the block number of each thing. Blocks are numbered by their
/// first thing.
fn partitions(things: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for _ in 0..things {
        found = found
            .into_iter()
            .flat_map(|blocks: Vec<usize>| {
                let next = blocks.iter().max().map_or(0, |&last| last + 1);
                (0..=next).map(move |block| [blocks.as_slice(), &[block]].concat())
            })
            .collect();
    }
    found
}

/// True if all threads that access a word of local memory are in one workgroup.
fn shares_local_memory(test: &Test, placement: &Placement) -> bool {
    let mut homes = vec![None; test.locations.len()];
    test.threads.iter().zip(&placement.places).all(|(thread, place)| {
        thread.body.iter().filter_map(|s| s.action.location()).filter(|&l| test.locations[l].local).all(|l| {
            let home = (place.core, place.workgroup);
            *homes[l].get_or_insert(home) == home
        })
    })
}

/// A variant made concrete: the program and place of each thread, with every scope given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario<'t> {
    /// The test: names, locations, observables.
    pub test: &'t Test,
    /// One per thread of the test.
    pub threads: Vec<Placed>,
}

/// A thread and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The place.
    pub place: Place,
    /// Its statements. Every fence and atomic has its scope.
    pub body: Vec<Statement>,
    /// Position of each statement in its wave's program order. If threads are lanes of one wave, their
    /// statements alternate, and a barrier is one instruction for all of them.
    pub steps: Vec<usize>,
}

impl<'t> Scenario<'t> {
    /// The scenario of a variant.
    pub fn new(test: &'t Test, variant: &Variant) -> Scenario<'t> {
        let resolve = |s: &Statement| {
            let action = action(test, &s.action, variant)?;
            Some(Statement { guard: s.guard, action })
        };
        let bodies = test.threads.iter().map(|t| t.body.iter().filter_map(resolve).collect());
        let mut threads: Vec<Placed> = bodies
            .zip(&variant.placement.places)
            .map(|(body, &place): (Vec<_>, _)| Placed { place, steps: (0..body.len()).collect(), body })
            .collect();
        if variant.has("one_wave") {
            interleave(&mut threads);
        }
        Scenario { test, threads }
    }
}

/// The action in a variant; `None` if it is absent there.
fn action(test: &Test, action: &Action, variant: &Variant) -> Option<Action> {
    let scope = variant.scope;
    Some(match action {
        Action::Fence { release, acquire, scope: None } => {
            let release = *release && matches!(variant.fences, Fences::ReleaseOnly | Fences::Fenced);
            let acquire = *acquire && matches!(variant.fences, Fences::AcquireOnly | Fences::Fenced);
            if !release && !acquire {
                return None;
            }
            Action::Fence { release, acquire, scope }
        }
        // The instruction set has no atomic load or store: an `or` with 0 and an exchange stand for them.
        Action::Load { register, location, .. } if variant.atomic && test.locations[*location].flag => {
            let (op, location) = (AtomicOp::Or, *location);
            let (value, swap) = (0.into(), 0.into());
            Action::Atomic { register: Some(*register), op, location, value, swap, scope }
        }
        Action::Store { location, value, .. } if variant.atomic && test.locations[*location].flag => {
            let (op, location) = (AtomicOp::Exchange, *location);
            Action::Atomic { register: None, op, location, value: value.clone(), swap: 0.into(), scope }
        }
        Action::Atomic { register, op, location, value, swap, scope: own } => {
            let (value, swap) = (value.clone(), swap.clone());
            Action::Atomic {
                register: *register,
                op: *op,
                location: *location,
                value,
                swap,
                scope: own.or(scope),
            }
        }
        other => other.clone(),
    })
    .map(|action| match action {
        // Local atomics have no scope field: they act at workgroup scope.
        Action::Atomic { location, register, op, value, swap, .. } if test.locations[location].local => {
            Action::Atomic { location, register, op, value, swap, scope: Some(Scope::Workgroup) }
        }
        other => other,
    })
}

/// Orders the statements of lanes of one wave: one of each in turn up to their next barrier, which they
/// execute together.
fn interleave(threads: &mut [Placed]) {
    let mut step = 0;
    let mut done = vec![0; threads.len()];
    while threads.iter().zip(&done).any(|(t, &n)| n < t.body.len()) {
        let before = step;
        for (thread, done) in threads.iter_mut().zip(&mut done) {
            if thread.body.get(*done).is_some_and(|s| s.action != Action::Barrier) {
                thread.steps[*done] = step;
                *done += 1;
                step += 1;
            }
        }
        if step == before {
            for (thread, done) in threads.iter_mut().zip(&mut done) {
                if let Some(barrier) = thread.steps.get_mut(*done) {
                    *barrier = step;
                    *done += 1;
                }
            }
            step += 1;
        }
    }
}

impl Action {
    /// The location that it accesses, if any.
    pub fn location(&self) -> Option<usize> {
        match *self {
            Action::Load { location, .. }
            | Action::Store { location, .. }
            | Action::Atomic { location, .. } => Some(location),
            Action::Fence { .. } | Action::Barrier => None,
        }
    }

    /// The cache hint of a plain access.
    pub fn hint(&self) -> CacheHint {
        match *self {
            Action::Load { hint, .. } | Action::Store { hint, .. } => hint,
            _ => CacheHint::Cached,
        }
    }
}
