//! The registry: names, parameters, counters and constructors of plug-ins.

use super::hooks::{
    CacheSetup, DispatchPolicy, DispatchSetup, PathBlock, PathSetup, Prefetcher, Replacement, SchedulerSetup,
    WarpScheduler,
};
use crate::stats::Declared;
use std::any::Any;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The place that a plug-in takes in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Picks among the ready waves of a scheduler.
    Scheduler,
    /// Picks the line that leaves a full set of the L1 or of an L2 slice.
    Replacement,
    /// Asks the L1 for lines before a wave does.
    Prefetcher,
    /// Stands between an L1 and its port to the interconnect.
    Path,
    /// Picks the core that gets the next workgroup.
    Dispatch,
    /// Is told the events of a run.
    Observer,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 6] =
        [Role::Scheduler, Role::Replacement, Role::Prefetcher, Role::Path, Role::Dispatch, Role::Observer];

    /// A noun for plug-ins of this role, for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Role::Scheduler => "a warp scheduler",
            Role::Replacement => "a replacement policy",
            Role::Prefetcher => "a prefetcher",
            Role::Path => "a block between L1 and network",
            Role::Dispatch => "a dispatch policy",
            Role::Observer => "an observer",
        }
    }
}

/// A parameter of a plug-in: an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Key in the section of the plug-in.
    pub name: &'static str,
    /// Value where the configuration states none.
    pub default: u64,
    /// Least and largest value.
    pub range: RangeInclusive<u64>,
    /// Unit, such as `cycles`.
    pub unit: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// A statistic of a plug-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Name behind that of the plug-in.
    pub name: &'static str,
    /// Unit, such as `accesses`.
    pub unit: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

type Make<S, T> = Box<dyn Fn(&S) -> Box<T> + Send + Sync>;

/// How the blocks of a plug-in are made, one for each place in the machine.
pub(crate) enum Maker {
    Scheduler(Make<SchedulerSetup, dyn WarpScheduler>),
    Replacement(Make<CacheSetup, dyn Replacement>),
    Prefetcher(Make<CacheSetup, dyn Prefetcher>),
    Path(Make<PathSetup, dyn PathBlock>),
    Dispatch(Make<DispatchSetup, dyn DispatchPolicy>),
    /// The module that knows events knows the type of the constructor.
    Observer(Box<dyn Any + Send + Sync>),
}

/// A registered plug-in.
pub struct PlugIn {
    name: &'static str,
    role: Role,
    doc: &'static str,
    parameters: Vec<Parameter>,
    counters: Vec<Counter>,
    /// The counters with their full names.
    declared: Vec<Declared>,
    pub(crate) maker: Maker,
}

impl fmt::Debug for PlugIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlugIn").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

impl PlugIn {
    /// Describes it in one sentence, for `config explain` and the manual.
    pub fn doc(&mut self, doc: &'static str) -> &mut PlugIn {
        self.doc = doc;
        self
    }

    /// Adds a parameter.
    pub fn parameter(
        &mut self,
        name: &'static str,
        default: u64,
        range: RangeInclusive<u64>,
        unit: &'static str,
        doc: &'static str,
    ) -> &mut PlugIn {
        self.parameters.push(Parameter { name, default, range, unit, doc });
        self
    }

    /// Adds a counter. The blocks of the plug-in return the values in this order, and reports sum them over the machine.
    /// An observer is one for the whole machine.
    pub fn counter(&mut self, name: &'static str, unit: &'static str, doc: &'static str) -> &mut PlugIn {
        self.counters.push(Counter { name, unit, doc });
        self
    }

    /// Its name, which is unique among all plug-ins.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its place in the machine.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Its sentence.
    pub fn description(&self) -> &'static str {
        self.doc
    }

    /// Its parameters, in the order of their declaration.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Its counters, in the order of their declaration.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The statistics that its counters are: `ccws.lost_locality`.
    pub fn declared(&self) -> &[Declared] {
        &self.declared
    }
}

/// The plug-ins of a program.
#[derive(Debug, Default)]
pub struct Registry {
    plug_ins: Vec<PlugIn>,
}

impl Registry {
    /// A registry without plug-ins.
    pub fn new() -> Registry {
        Registry::default()
    }

    pub(crate) fn add(&mut self, name: &'static str, role: Role, maker: Maker) -> &mut PlugIn {
        let (parameters, counters, declared) = (Vec::new(), Vec::new(), Vec::new());
        self.plug_ins.push(PlugIn { name, role, doc: "", parameters, counters, declared, maker });
        let last = self.plug_ins.len() - 1;
        &mut self.plug_ins[last]
    }

    /// Registers a warp scheduler. `make` is called for each scheduler of each core.
    pub fn scheduler<T: WarpScheduler + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn(&SchedulerSetup) -> T + Send + Sync + 'static,
    ) -> &mut PlugIn {
        self.add(name, Role::Scheduler, Maker::Scheduler(Box::new(move |setup| Box::new(make(setup)))))
    }

    /// Registers a replacement policy. `make` is called for each cache that chooses it.
    pub fn replacement<T: Replacement + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn(&CacheSetup) -> T + Send + Sync + 'static,
    ) -> &mut PlugIn {
        self.add(name, Role::Replacement, Maker::Replacement(Box::new(move |setup| Box::new(make(setup)))))
    }

    /// Registers a prefetcher of the L1. `make` is called for each core.
    pub fn prefetcher<T: Prefetcher + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn(&CacheSetup) -> T + Send + Sync + 'static,
    ) -> &mut PlugIn {
        self.add(name, Role::Prefetcher, Maker::Prefetcher(Box::new(move |setup| Box::new(make(setup)))))
    }

    /// Registers a block between an L1 and its port to the interconnect. `make` is called for each core.
    pub fn path<T: PathBlock + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn(&PathSetup) -> T + Send + Sync + 'static,
    ) -> &mut PlugIn {
        self.add(name, Role::Path, Maker::Path(Box::new(move |setup| Box::new(make(setup)))))
    }

    /// Registers a policy of the dispatcher. `make` is called once for each launch.
    pub fn dispatch<T: DispatchPolicy + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn(&DispatchSetup) -> T + Send + Sync + 'static,
    ) -> &mut PlugIn {
        self.add(name, Role::Dispatch, Maker::Dispatch(Box::new(move |setup| Box::new(make(setup)))))
    }

    /// The plug-ins, in the order of their registration.
    pub fn plug_ins(&self) -> &[PlugIn] {
        &self.plug_ins
    }

    /// The plug-ins of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &PlugIn> {
        self.plug_ins.iter().filter(move |plug_in| plug_in.role == role)
    }

    /// The faults of the registry: invalid names, names given twice or that `is_taken`, defaults out of range.
    pub(crate) fn faults(&self, is_taken: impl Fn(Role, &str) -> bool) -> Vec<String> {
        let mut faults = Vec::new();
        for (index, plug_in) in self.plug_ins.iter().enumerate() {
            let PlugIn { name, role, .. } = plug_in;
            let noun = role.noun();
            if !is_name(name) {
                faults.push(format!("{noun} is registered as {name:?}, which is no name"));
            }
            if let Some(other) = self.plug_ins[..index].iter().find(|other| other.name == *name) {
                let other = other.role.noun();
                faults.push(format!("`{name}` is registered twice: as {other} and as {noun}"));
            }
            if is_taken(*role, name) {
                faults.push(format!("`{name}` is registered as {noun}, and a built-in one has that name"));
            }
            let names = plug_in.parameters.iter().map(|p| ("parameter", p.name));
            let names: Vec<_> = names.chain(plug_in.counters.iter().map(|c| ("counter", c.name))).collect();
            for (place, (kind, word)) in names.iter().enumerate() {
                if !is_name(word) {
                    faults.push(format!("`{name}` has a {kind} {word:?}, which is no name"));
                }
                if names[..place].contains(&(kind, word)) {
                    faults.push(format!("`{name}` has two {kind}s `{word}`"));
                }
            }
            for Parameter { name: key, default, range, .. } in &plug_in.parameters {
                if !range.contains(default) {
                    let (least, most) = (range.start(), range.end());
                    faults.push(format!(
                        "`{name}.{key}` is {default} by default, which is not from {least} to {most}"
                    ));
                }
            }
        }
        faults
    }

    /// Completes what is derived from the declarations.
    fn close(mut self) -> Registry {
        for plug_in in &mut self.plug_ins {
            let name = plug_in.name;
            let declared = |counter: &Counter| Declared {
                name: format!("{name}.{}", counter.name).leak(),
                unit: counter.unit,
                doc: counter.doc,
            };
            plug_in.declared = plug_in.counters.iter().map(declared).collect();
        }
        self
    }
}

/// True for a name that a configuration can hold: lower-case letters, digits and underscores, a letter first.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

static INSTALLED: OnceLock<Registry> = OnceLock::new();

/// The plug-ins of this process.
pub(crate) fn installed() -> &'static Registry {
    INSTALLED.get_or_init(Registry::new)
}

/// The plug-ins of this process.
pub fn registered() -> &'static [PlugIn] {
    installed().plug_ins()
}

/// The statistics of all plug-ins of this process, in the order of [`KernelReport::plug_ins`](crate::gpu::KernelReport).
pub fn statistics() -> Vec<Declared> {
    installed().plug_ins.iter().flat_map(|plug_in| plug_in.declared.iter().copied()).collect()
}

/// Sums of the counters of all plug-ins, in the order of [`statistics`].
#[derive(Debug)]
pub(crate) struct Sums(Vec<(&'static str, Vec<u64>)>);

impl Sums {
    /// Zeros.
    pub(crate) fn new() -> Sums {
        let zeros = |plug_in: &'static PlugIn| (plug_in.name, vec![0; plug_in.counters.len()]);
        Sums(installed().plug_ins.iter().map(zeros).collect())
    }

    /// Adds the counters of one block.
    ///
    /// # Panics
    /// If the block has another number of counters than its plug-in declares.
    pub(crate) fn add(&mut self, plug_in: &'static PlugIn, values: &[u64]) {
        let (name, declared) = (plug_in.name, plug_in.counters.len());
        let given = values.len();
        assert!(
            given == declared,
            "the plug-in `{name}` declares {declared} counters, and a block of it has {given}"
        );
        for (_, sums) in self.0.iter_mut().filter(|(other, _)| *other == name) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }

    /// The sums.
    pub(crate) fn values(self) -> Vec<u64> {
        self.0.into_iter().flat_map(|(_, sums)| sums).collect()
    }
}

/// True if this process has no plug-ins.
pub fn is_empty() -> bool {
    installed().plug_ins.is_empty()
}

/// Makes a registry that of this process. False if it has one already, or has looked for one.
pub(crate) fn put(registry: Registry) -> bool {
    INSTALLED.set(registry.close()).is_ok()
}
