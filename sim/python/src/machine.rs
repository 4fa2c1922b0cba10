//! Machines that are stepped.

use crate::config::Config;
use crate::errors::{Told, all_told, error};
use crate::interrupt::interruptible;
use crate::observer::{Asked, Raised, observers};
use crate::run::{At, Finished, Given, Kernel, Part, at, given, parts, problem};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use wave_isa::diagnostic::Diagnostic;
use wave_sim::library::{Simulation, Task};
use wave_study::summary::statistics;

/// Cycles between two looks for signals.
const TURN: u64 = 4096;

/// Why a machine does not go on: the outcome in one word, the message, and the place of a fault.
type Unended = (&'static str, Option<Told>, Option<At>);

/// A machine that runs a kernel, at some cycle.
#[pyclass(frozen, module = "wave_sim._wave_sim")]
pub(crate) struct Machine {
    simulation: Mutex<Simulation>,
    /// The thread that has the simulation. It calls observers, which must not wait for themselves.
    user: Mutex<Option<ThreadId>>,
    /// What an observer has raised.
    raised: Raised,
    warnings: Vec<Told>,
}

/// A thread has the simulation of a machine.
struct Use<'m>(&'m Machine);

impl Use<'_> {
    fn of(machine: &Machine, thread: ThreadId) -> Use<'_> {
        machine.set_user(Some(thread));
        Use(machine)
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.0.set_user(None);
    }
}

impl Machine {
    fn user(&self) -> Option<ThreadId> {
        *self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_user(&self, user: Option<ThreadId>) {
        *self.user.lock().unwrap_or_else(PoisonError::into_inner) = user;
    }

    /// Calls `look` without the lock of the interpreter, for which a thread that has the simulation may wait.
    ///
    /// # Errors
    /// An observer calls this while the machine tells it of events.
    fn with<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&mut Simulation) -> R + Send) -> PyResult<R> {
        let own = thread::current().id();
        if self.user() == Some(own) {
            let message =
                "the machine is simulating, and an observer cannot use it before its method returns";
            return Err(PyRuntimeError::new_err(message));
        }
        Ok(py.detach(|| {
            let mut simulation = self.simulation.lock().unwrap_or_else(PoisonError::into_inner);
            let _use = Use::of(self, own);
            look(&mut simulation)
        }))
    }
}

#[pymethods]
impl Machine {
    #[new]
    fn new(
        py: Python<'_>,
        kernel: Kernel,
        config: &Bound<'_, Config>,
        words: Vec<String>,
        data: Vec<Given>,
        observing: Vec<Asked>,
    ) -> PyResult<Machine> {
        let (kernel, config, data) = (kernel.into(), &config.get().config, given(data));
        let raised = Raised::default();
        let made = interruptible(py, |_| {
            let task = Task::new(&kernel, config, &words, &data)?;
            let batches = observers(observing, task.config(), &raised);
            let task = task.watched_by(batches)?;
            let warnings = all_told(task.warnings());
            task.start().map(|simulation| (simulation, warnings))
        })?;
        let (simulation, warnings) = made.map_err(|wrong| error(py, &wrong))?;
        Ok(Machine { simulation: Mutex::new(simulation), user: Mutex::new(None), raised, warnings })
    }

    /// Simulates up to a cycle or to the end. Gives why it does not go on, if it does not.
    fn advance(&self, py: Python<'_>, until: u64) -> PyResult<Option<Unended>> {
        self.with(py, Simulation::go_on)?;
        loop {
            let turn = self.with(py, |simulation| {
                let to = until.min(simulation.now().saturating_add(TURN));
                let advanced = simulation.advance(to);
                let stops = advanced.map(|()| simulation.is_done() || simulation.now() >= until);
                if !matches!(stops, Ok(false)) {
                    simulation.give_rest();
                }
                stops
            })?;
            if let Some(error) = self.raised.take() {
                return Err(error);
            }
            match turn {
                Err(ended) => {
                    let place = ended.fault.as_deref().map(at);
                    return Ok(Some((ended.outcome.word(), problem(&ended.outcome), place)));
                }
                Ok(true) => return Ok(None),
                Ok(false) => py.check_signals()?,
            }
        }
    }

    /// The first cycle that has not been simulated.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |simulation| simulation.now())
    }

    /// True if all launches have ended.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |simulation| simulation.is_done())
    }

    /// Number of launches that have ended, and of all.
    #[getter]
    fn launches(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.with(py, |simulation| simulation.launches())
    }

    /// Named parts of device memory.
    #[getter]
    fn buffers(&self, py: Python<'_>) -> PyResult<Vec<Part>> {
        self.with(py, |simulation| parts(simulation.buffers()))
    }

    /// What there is to say about the kernel and the flags.
    #[getter]
    fn warnings(&self) -> Vec<Told> {
        self.warnings.clone()
    }

    /// What the launch that runs has counted so far.
    fn totals(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64)>> {
        let sample = self.with(py, Simulation::totals)?;
        let values = sample.as_ref().map(statistics::so_far).unwrap_or_default();
        Ok(values.into_iter().map(|(declared, value)| (declared.name, value)).collect())
    }

    /// A copy of bytes of device memory.
    fn read<'py>(&self, py: Python<'py>, address: usize, bytes: usize) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let read = self.with(py, |simulation| {
            let memory = simulation.memory();
            let range = address..address.saturating_add(bytes);
            memory.get(range).map(<[u8]>::to_vec).ok_or(memory.len())
        })?;
        match read {
            Ok(bytes) => Ok(PyArray1::from_vec(py, bytes)),
            Err(has) => {
                let message = format!(
                    "{bytes} bytes from address {address} go past the end of device memory, which has {has}"
                );
                Err(error(py, &[Diagnostic::error(message)]))
            }
        }
    }

    /// The run so far, with a copy of device memory.
    fn result(&self, py: Python<'_>) -> PyResult<Finished> {
        let finished = self.with(py, Simulation::result)?;
        Ok(Finished::new(py, finished, Vec::new()))
    }

    /// Writes a checkpoint.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |simulation| simulation.save(&path))?.map_err(|wrong| error(py, &wrong))
    }

    /// Goes to the state of a checkpoint of the same run.
    fn restore(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |simulation| simulation.restore(&path))?.map_err(|wrong| error(py, &wrong))
    }
}
