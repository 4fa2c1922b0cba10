//! Runs of kernels.

use crate::config::Config;
use crate::errors::{Told, all_told, error, told};
use crate::interrupt::interruptible;
use crate::observer::{Asked, Raised, observers};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::atomic::Ordering;
use wave_isa::program::Fault;
use wave_sim::library::{self, Contents, Target, Task};
use wave_study::summary::Outcome;

/// A kernel: its path or name in the suite; or a name, an extension and what the file would hold.
#[derive(FromPyObject)]
pub(crate) enum Kernel {
    Named(String),
    Text(String, String, PyBackedBytes),
}

impl From<Kernel> for library::Kernel {
    fn from(kernel: Kernel) -> library::Kernel {
        match kernel {
            Kernel::Named(word) => library::Kernel::Named(word),
            Kernel::Text(name, extension, bytes) => {
                library::Kernel::Text { name, extension, bytes: bytes.to_vec() }
            }
        }
    }
}

/// Where data goes: a buffer, or an address.
#[derive(FromPyObject)]
enum Place {
    Address(u64),
    Buffer(String),
}

/// What goes there: so many zeros, or bytes.
#[derive(FromPyObject)]
enum Bytes {
    Zeros(u64),
    Bytes(PyBackedBytes),
}

/// Data for a kernel.
#[derive(FromPyObject)]
pub(crate) struct Given(Place, Bytes);

/// Data as a task takes it.
pub(crate) fn given(all: Vec<Given>) -> Vec<(Target, Contents)> {
    let one = |Given(place, bytes)| {
        let target = match place {
            Place::Address(address) => Target::Address(address),
            Place::Buffer(name) => Target::Buffer(name),
        };
        let contents = match bytes {
            Bytes::Zeros(bytes) => Contents::Zeros(bytes),
            Bytes::Bytes(bytes) => Contents::Bytes(bytes.to_vec()),
        };
        (target, contents)
    };
    all.into_iter().map(one).collect()
}

/// A run that has ended, one way or another.
#[pyclass(frozen, module = "wave_sim._wave_sim")]
pub(crate) struct Finished {
    /// What `--format json` prints.
    #[pyo3(get)]
    document: String,
    /// For instances of a module, what it prints of their calls.
    #[pyo3(get)]
    calls: Option<String>,
    /// How it ended, in one word.
    #[pyo3(get)]
    outcome: &'static str,
    /// Why it did not end.
    #[pyo3(get)]
    problem: Option<Told>,
    /// Where and when it faulted.
    #[pyo3(get)]
    fault: Option<At>,
    /// Device memory: a vector that the array has taken over.
    #[pyo3(get)]
    memory: Py<PyArray1<u8>>,
    /// Where that vector is in the memory of the process.
    #[pyo3(get)]
    address: usize,
    /// Named parts of it: first byte, byte behind the last, type of the elements.
    #[pyo3(get)]
    buffers: Vec<Part>,
    /// What there is to say about the kernel and the flags.
    #[pyo3(get)]
    warnings: Vec<Told>,
}

/// A named part of memory.
pub(crate) type Part = (String, usize, usize, Option<&'static str>);
/// A fault: workgroup, wave, lanes, pc, cycle.
pub(crate) type At = ([u32; 3], u32, u64, u32, Option<u64>);

/// Where and when a fault happened.
pub(crate) fn at(fault: &Fault) -> At {
    (fault.workgroup, fault.wave, fault.lanes, fault.pc, fault.cycle)
}

/// Buffers as the package takes them.
pub(crate) fn parts(buffers: &[library::Buffer]) -> Vec<Part> {
    let part = |buffer: &library::Buffer| {
        let element = buffer.element.map(|element| element.name());
        (buffer.name.clone(), buffer.range.start, buffer.range.end, element)
    };
    buffers.iter().map(part).collect()
}

/// The message of an outcome that is no end.
pub(crate) fn problem(outcome: &Outcome) -> Option<Told> {
    match outcome {
        Outcome::Fault(why) | Outcome::Stopped(why) => Some(told(why)),
        _ => None,
    }
}

impl Finished {
    /// A run with warnings.
    pub(crate) fn new(py: Python<'_>, finished: library::Finished, warnings: Vec<Told>) -> Finished {
        let library::Finished { document, calls, outcome, fault, memory, buffers } = finished;
        Finished {
            document,
            calls,
            outcome: outcome.word(),
            problem: problem(&outcome),
            fault: fault.as_deref().map(at),
            address: memory.as_ptr().addr(),
            memory: PyArray1::from_vec(py, memory).unbind(),
            buffers: parts(&buffers),
            warnings,
        }
    }
}

/// Runs a kernel to its end.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    kernel: Kernel,
    config: &Bound<'_, Config>,
    words: Vec<String>,
    data: Vec<Given>,
    observing: Vec<Asked>,
) -> PyResult<Finished> {
    let (kernel, config, data) = (kernel.into(), &config.get().config, given(data));
    let raised = Raised::default();
    let ran = interruptible(py, |stop| {
        let task = Task::new(&kernel, config, &words, &data)?;
        let batches = observers(observing, task.config(), &raised);
        let task = task.watched_by(batches)?;
        let warnings = all_told(task.warnings());
        // Nothing is given back if a signal has come meanwhile.
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        task.run(stop).map(|finished| Some((finished, warnings)))
    })?;
    if let Some(error) = raised.take() {
        return Err(error);
    }
    match ran {
        Ok(Some((finished, warnings))) => Ok(Finished::new(py, finished, warnings)),
        Ok(None) => Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(())),
        Err(wrong) => Err(error(py, &wrong)),
    }
}
