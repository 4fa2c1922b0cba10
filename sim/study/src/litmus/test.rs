//! A litmus test in the form of its file.

use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

/// Most threads of a test. Each has a name of one letter, and every placement of them is tried.
pub(crate) const MAX_THREADS: usize = 4;

/// Most locations of a test: words of one sector.
pub(crate) const MAX_LOCATIONS: usize = 8;

/// Most registers of a thread.
pub(crate) const MAX_REGISTERS: usize = 16;

/// A small concurrent program with an outcome of interest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Name, such as `MP`.
    pub name: String,
    /// What it tests, in one or two sentences.
    pub about: String,
    /// The shared locations.
    pub locations: Vec<Location>,
    /// Threads, in the order of the file.
    pub threads: Vec<Thread>,
    /// Indices of locations whose final value is part of the outcome.
    pub observed: Vec<usize>,
    /// The outcome that a stronger memory would not show: all of these values hold.
    pub weak: Vec<(Observable, u32)>,
    /// Sets of words. For each set, the weak outcome has to be seen in one of the variants with all its
    /// words.
    pub seen: Vec<Vec<String>>,
}

/// A word of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Name.
    pub name: String,
    /// Initial value.
    pub initial: u32,
    /// In variants with atomic flags, loads and stores of this location are atomics.
    pub flag: bool,
    /// The location is in local memory.
    pub local: bool,
}

/// The program of one lane of some wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// One capital letter.
    pub name: char,
    /// Names of its registers, in the order of their assignment. Each is assigned once and is 0 before.
    pub registers: Vec<String>,
    /// Statements in order.
    pub body: Vec<Statement>,
}

/// A statement of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Condition under which it is executed.
    pub guard: Option<Guard>,
    /// What it does.
    pub action: Action,
}

/// A condition on a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Index of the register.
    pub register: usize,
    /// True for `=`, false for `!=`.
    pub equal: bool,
    /// The value to compare with.
    pub value: u32,
}

/// Kind of a statement. Registers and locations are indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A plain load.
    Load {
        /// Destination.
        register: usize,
        /// Location.
        location: usize,
        /// Cache hint.
        hint: CacheHint,
        /// Address dependency: the address is also computed from this register, without changing it.
        dependency: Option<usize>,
    },
    /// A plain store.
    Store {
        /// Location.
        location: usize,
        /// Value stored.
        value: Expression,
        /// Cache hint.
        hint: CacheHint,
        /// Address dependency: the address is also computed from this register, without changing it.
        dependency: Option<usize>,
    },
    /// An atomic.
    Atomic {
        /// Destination of the old value, if any.
        register: Option<usize>,
        /// Operation.
        op: AtomicOp,
        /// Location.
        location: usize,
        /// Operand, or the value that a compare-and-swap compares with.
        value: Expression,
        /// Value that a compare-and-swap stores.
        swap: Expression,
        /// Scope; `None` for the variant's scope.
        scope: Option<Scope>,
    },
    /// A fence.
    Fence {
        /// Orders earlier accesses before later ones, for others.
        release: bool,
        /// Orders what others have released before later accesses.
        acquire: bool,
        /// Scope. `None`: the fence exists only in some variants, with the variant's scope.
        scope: Option<Scope>,
    },
    /// A barrier of the workgroup.
    Barrier,
}

/// A sum or exclusive or of registers and numbers, evaluated from left to right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expression {
    /// The first term.
    pub first: Term,
    /// The others.
    pub rest: Vec<(Operator, Term)>,
}

/// A part of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// A number.
    Number(u32),
    /// A register, as an index.
    Register(usize),
}

impl Default for Term {
    fn default() -> Term {
        Term::Number(0)
    }
}

/// Operator between terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Wrapping sum.
    Add,
    /// Exclusive or.
    Xor,
}

impl From<u32> for Expression {
    fn from(number: u32) -> Expression {
        Expression { first: Term::Number(number), rest: Vec::new() }
    }
}

impl Expression {
    /// Its value with these registers.
    pub fn value(&self, registers: &[u32]) -> u32 {
        let value = |term: Term| match term {
            Term::Number(n) => n,
            Term::Register(r) => registers[r],
        };
        self.rest.iter().fold(value(self.first), |sum, &(operator, term)| match operator {
            Operator::Add => sum.wrapping_add(value(term)),
            Operator::Xor => sum ^ value(term),
        })
    }

    /// The registers in it.
    pub fn registers(&self) -> impl Iterator<Item = usize> + '_ {
        let terms = std::iter::once(self.first).chain(self.rest.iter().map(|&(_, term)| term));
        terms.filter_map(|term| match term {
            Term::Register(r) => Some(r),
            Term::Number(_) => None,
        })
    }
}

/// An element of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observable {
    /// The final value of a register.
    Register {
        /// Index of the thread.
        thread: usize,
        /// Index of the register.
        register: usize,
    },
    /// The final value of a location.
    Location(usize),
}

impl Test {
    /// The elements of an outcome, in the order in which outcomes list their values: the registers of each
    /// thread, then the observed locations.
    pub fn observables(&self) -> Vec<Observable> {
        let registers = self.threads.iter().enumerate().flat_map(|(thread, t)| {
            (0..t.registers.len()).map(move |register| Observable::Register { thread, register })
        });
        registers.chain(self.observed.iter().map(|&location| Observable::Location(location))).collect()
    }

    /// The name of an observable: `A.r0`, `x`.
    pub(crate) fn observable_name(&self, observable: Observable) -> String {
        match observable {
            Observable::Register { thread, register } => {
                let thread = &self.threads[thread];
                format!("{}.{}", thread.name, thread.registers[register])
            }
            Observable::Location(location) => self.locations[location].name.clone(),
        }
    }

    /// An outcome as text: `B.r0=1 B.r1=0`.
    pub(crate) fn outcome_text(&self, outcome: &[u32]) -> String {
        let named = self.observables().into_iter().map(|o| self.observable_name(o)).zip(outcome);
        named.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// True if this is the outcome of interest. Always false if the file names none.
    pub(crate) fn is_weak(&self, outcome: &[u32]) -> bool {
        let observables = self.observables();
        let holds = |&(wanted, value): &(Observable, u32)| {
            observables.iter().position(|&o| o == wanted).is_some_and(|i| outcome[i] == value)
        };
        !self.weak.is_empty() && self.weak.iter().all(holds)
    }

    /// The statements of all threads.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.threads.iter().flat_map(|thread| &thread.body)
    }

    /// Number of barriers in a thread.
    pub fn barriers(&self, thread: usize) -> usize {
        self.threads[thread].body.iter().filter(|s| s.action == Action::Barrier).count()
    }
}
