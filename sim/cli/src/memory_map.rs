//! Device memory of a run as a map: what lies where, and what must not meet.
//!
//! The stacks of threads and the variables of a program have no names on the command line. A buffer that lies over them
//! changes them, and they change it: wrong results without a message. So every range that a flag, a launch file or the
//! Python package names is looked up here.
//!
//! Reading does no harm but where the contents mean nothing: a dump may show a variable of the program, and several dumps
//! the same bytes.

use super::work::Work;
use std::ops::Range;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Pointer, Program};
use wave_observe::attribution::{Region, Regions};

/// A part of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its name, for messages and flags.
    pub name: String,
    /// The variable of a shader whose buffer it is.
    pub variable: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub range: Range<u64>,
}

impl Part {
    /// A part that no shader knows.
    pub(crate) fn new(name: impl Into<String>, kind: Kind, range: Range<u64>) -> Part {
        Part { name: name.into(), variable: None, kind, range }
    }
}

/// What lies in a part of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Constants and static variables of the program.
    Data,
    /// Memory of threads: stacks, spilled registers, the memory of instances.
    Private,
    /// A buffer of a launch file, or of a shader by its binding.
    Buffer,
    /// Contents that a flag or a program brings.
    Filled {
        /// They are zeros, which memory holds anyway.
        is_zero: bool,
    },
}

/// How messages name the memory of threads.
const PRIVATE: &str = "the private memory of the threads (their stacks)";

/// Everything that has a place in device memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryMap {
    parts: Vec<Part>,
}

impl MemoryMap {
    /// The map of a run whose launches have their private memory.
    pub(crate) fn of(work: &Work) -> MemoryMap {
        let module = work.program.module.as_ref();
        let file = module.map_or("", |module| module.file.as_str());
        let owned = module.into_iter().flat_map(|module| &module.own);
        let data = owned.map(|range| Part::new(format!("the data of `{file}`"), Kind::Data, range.clone()));
        let buffers = work.expected.iter().flat_map(|job| &job.buffers).map(|buffer| {
            let range = buffer.range().start as u64..buffer.range().end as u64;
            Part::new(&buffer.name, Kind::Buffer, range)
        });
        let bound = work.bound.iter().map(|bound| {
            let Region { name, start, end } = bound.region();
            let variable = bound.variable.clone();
            Part { variable, ..Part::new(name, Kind::Buffer, start..end) }
        });
        let private = work.steps.iter().filter_map(|launch| private(work, launch)).min_by_key(|r| r.start);
        let private = private.map(|range| Part::new(PRIVATE, Kind::Private, range));
        let filled = work.filled.iter().cloned();
        // A message names the first part that is met: that of the threads before all others.
        let parts = private.into_iter().chain(data).chain(buffers).chain(bound).chain(filled);
        MemoryMap { parts: parts.collect() }
    }

    /// Buffers that flags can name.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| matches!(part.kind, Kind::Buffer))
    }

    /// What observers tell apart: buffers, all that a module has in device memory, and private memory.
    pub(crate) fn regions(&self, data_end: u64) -> Regions {
        let data = Region { name: "(data)".to_owned(), start: 0, end: data_end };
        let region = |part: &Part| {
            let name = match part.kind {
                Kind::Buffer => part.name.clone(),
                Kind::Private => "(private)".to_owned(),
                Kind::Data | Kind::Filled { .. } => return None,
            };
            Some(Region { name, start: part.range.start, end: part.range.end })
        };
        Regions::new(self.parts.iter().filter_map(region).chain([data]).collect())
    }

    /// Finds contents that lie over one another, over the program's data or over private memory. Zeros may be anywhere
    /// in filled memory, and contents inside earlier ones, as a patch of them.
    ///
    /// # Errors
    /// One message for each pair, with both ranges.
    pub(crate) fn check_filled(&self) -> Result<(), Vec<Diagnostic>> {
        let filled = |part: &&Part| matches!(part.kind, Kind::Filled { .. });
        let mut wrong = Vec::new();
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| filled(part)) {
            for other in &self.parts[..number] {
                let is_fine = match other.kind {
                    Kind::Filled { is_zero } => {
                        is_zero
                            || part.kind == Kind::Filled { is_zero: true }
                            || contains(&other.range, &part.range) && part.range != other.range
                    }
                    Kind::Data | Kind::Private | Kind::Buffer => false,
                };
                if !is_fine && meets(&part.range, &other.range) {
                    wrong.push(self.meeting(&part.name, &part.range, other));
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Finds what is wrong with bytes that a flag shows or saves: private memory has no meaning after a run, and a range
    /// that is partly data of the program is no buffer.
    pub(crate) fn check_read(&self, flag: &str, range: &Range<u64>) -> Option<Diagnostic> {
        let harms = |part: &&Part| {
            meets(range, &part.range)
                && match part.kind {
                    Kind::Private => true,
                    Kind::Data => !contains(&part.range, range),
                    Kind::Buffer | Kind::Filled { .. } => false,
                }
        };
        self.parts.iter().find(harms).map(|part| self.meeting(flag, range, part))
    }

    /// The message about two parts that meet.
    fn meeting(&self, name: &str, range: &Range<u64>, other: &Part) -> Diagnostic {
        let other_name = &other.name;
        let message =
            format!("{name} covers {}, and meets {other_name}, {}", shown(range), shown(&other.range));
        let error = Diagnostic::error(message);
        match other.kind {
            Kind::Private => error.hint(self.below(other)),
            Kind::Data => error.hint(self.above()),
            Kind::Buffer => error.hint("choose an address behind it"),
            Kind::Filled { .. } if contains(range, &other.range) => {
                error.hint("the later one would leave nothing of the earlier one")
            }
            Kind::Filled { .. } => error.hint("contents may lie inside earlier ones, but not half over them"),
        }
    }

    fn below(&self, private: &Part) -> String {
        format!(
            "it lies at the top of device memory: stay below 0x{:x}, lower --stack-bytes, or raise --device-memory; \
             `wave-sim debug` shows stacks",
            private.range.start
        )
    }

    fn above(&self) -> String {
        let data = self.parts.iter().filter(|part| part.kind == Kind::Data);
        let end = data.map(|part| part.range.end).max().unwrap_or(0);
        format!("buffers go behind it: from 0x{:x} on", end.next_multiple_of(256))
    }

    /// Finds pointers among the arguments of the launches that point into private memory, and those through which the
    /// kernel would write into the program's data.
    ///
    /// # Errors
    /// One message for each argument.
    pub(crate) fn check_pointers(&self, work: &Work) -> Result<(), Vec<Diagnostic>> {
        let mut wrong: Vec<Diagnostic> = Vec::new();
        for launch in &work.steps {
            let kernel = &work.program.kernels[launch.kernel];
            let private = private(work, launch);
            for (number, pointer, address) in pointers(&work.program, launch) {
                if address > u64::from(u32::MAX) {
                    let message = format!(
                        "argument {} of kernel `{}` is the address 0x{address:x}, and addresses of device memory have 32 bits",
                        number + 1,
                        kernel.name
                    );
                    wrong.push(Diagnostic::error(message).hint("device memory begins at address 0"));
                    continue;
                }
                let private = private.iter().map(|range| (PRIVATE, range));
                let data =
                    self.parts.iter().filter(|part| part.kind == Kind::Data && pointer == Pointer::Written);
                let data = data.map(|part| (part.name.as_str(), &part.range));
                let Some((name, range)) = private.chain(data).find(|(_, range)| range.contains(&address))
                else {
                    continue;
                };
                let message = format!(
                    "argument {} of kernel `{}` is the address 0x{address:x}, and points into {name}, {}",
                    number + 1,
                    kernel.name,
                    shown(range)
                );
                let part = self.parts.iter().find(|part| part.range == *range);
                let hint = match part {
                    Some(part) if part.kind == Kind::Private => self.below(part),
                    _ if name == PRIVATE => {
                        format!("stay below 0x{:x}, or raise --device-memory", range.start)
                    }
                    _ => self.above(),
                };
                let error = Diagnostic::error(message).hint(hint);
                if !wrong.contains(&error) {
                    wrong.push(error);
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

/// The private memory of a launch. It ends where device memory ends.
fn private(work: &Work, launch: &Launch) -> Option<Range<u64>> {
    let register = work.program.kernels[launch.kernel].private.as_ref()?.register;
    let start = value(launch, register)?;
    let top = (work.memory.len() as u64).min(1 << 32);
    Some(u64::from(start)..top).filter(|range| range.start < range.end)
}

/// The start value of a register.
fn value(launch: &Launch, register: u8) -> Option<u32> {
    launch.initial_registers.iter().rfind(|(at, _)| *at == register).map(|&(_, value)| value)
}

/// The pointers among the arguments of a launch: the number of each, what it is for, and the address.
fn pointers(program: &Program, launch: &Launch) -> Vec<(usize, Pointer, u64)> {
    let parameters = program.kernels[launch.kernel].parameters.iter().flatten().enumerate();
    let mut register = 0;
    let mut found = Vec::new();
    for (number, parameter) in parameters {
        let first = u8::try_from(register).ok();
        register += parameter.ty.registers();
        if let (Some(pointer), Some(address)) = (parameter.pointer, first.and_then(|at| value(launch, at))) {
            // The upper half of one of 64 bits has to be 0: device memory has addresses of 32.
            let high = first
                .filter(|_| parameter.ty.registers() == 2)
                .and_then(|at| value(launch, at + 1))
                .unwrap_or(0);
            found.push((number, pointer, u64::from(high) << 32 | u64::from(address)));
        }
    }
    found
}

fn meets(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

fn contains(outer: &Range<u64>, inner: &Range<u64>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// A range for readers, as `--dump-memory` takes it.
pub(crate) fn shown(range: &Range<u64>) -> String {
    format!("0x{:x} to 0x{:x}", range.start, range.end)
}
