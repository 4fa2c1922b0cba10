//! Observers in Python: they get events in batches, as arrays of NumPy.
//!
//! The lock of the interpreter is held only while a batch is handed over. An exception ends the run, and is raised where
//! the run was started.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use wave_isa::program::Program;
use wave_machine::config::Config;
use wave_observe::batches::{Batch, Batches, Column, LaunchStart, Receiver, Stream, code_of};

/// An observer: names of the streams that it wants, rows of a batch, and the function to call with the name of a stream
/// or `launch`, the number of the launch, and the values by name.
#[derive(FromPyObject)]
pub(crate) struct Asked(Vec<String>, usize, Py<PyAny>);

/// The exception that an observer has raised.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception, if there is one that has not been taken.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The observers of a run on a machine.
pub(crate) fn observers(asked: Vec<Asked>, config: &Config, raised: &Raised) -> Vec<Batches> {
    let one = |Asked(names, rows, tell): Asked| {
        let is_named = |stream: &Stream| names.iter().any(|name| name == stream.name());
        let streams: Vec<Stream> = Stream::ALL.into_iter().filter(is_named).collect();
        let told = Told { tell, raised: raised.clone(), code: BTreeMap::new() };
        Batches::new(config, &streams, rows, Box::new(told))
    };
    asked.into_iter().map(one).collect()
}

/// The one who calls the function.
struct Told {
    tell: Py<PyAny>,
    raised: Raised,
    /// The instructions of kernels, by their index.
    code: BTreeMap<usize, Py<PyDict>>,
}

impl Told {
    /// Calls the function with values that are made with the lock of the interpreter.
    fn tell(
        &mut self,
        name: &str,
        launch: usize,
        values: impl for<'py> FnOnce(&mut Told, Python<'py>, &Bound<'py, PyDict>) -> PyResult<()>,
    ) -> ControlFlow<()> {
        let told = Python::attach(|py| {
            let all = PyDict::new(py);
            values(self, py, &all)?;
            self.tell.call1(py, (name, launch, all)).map(drop)
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised.put(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Receiver for Told {
    fn launch(&mut self, program: &Program, launch: &LaunchStart) -> ControlFlow<()> {
        self.tell("launch", launch.number, |told, py, values| {
            if let Entry::Vacant(entry) = told.code.entry(launch.index) {
                let code = PyDict::new(py);
                for line in code_of(program, launch.index) {
                    code.set_item(line.pc, (line.text, line.line))?;
                }
                entry.insert(code.unbind());
            }
            values.set_item("kernel", &launch.kernel)?;
            values.set_item("grid", launch.grid.map(u64::from).into_pyobject(py)?)?;
            values.set_item("workgroup", launch.workgroup.map(u64::from).into_pyobject(py)?)?;
            values.set_item("cycle", launch.cycle)?;
            values.set_item("code", &told.code[&launch.index])
        })
    }

    fn batch(&mut self, batch: Batch) -> ControlFlow<()> {
        let Batch { stream, launch, columns } = batch;
        self.tell(stream.name(), launch, |_, py, values| {
            for (name, column) in columns {
                match column {
                    Column::Bool(column) => values.set_item(name, PyArray1::from_vec(py, column))?,
                    Column::U8(column) => values.set_item(name, PyArray1::from_vec(py, column))?,
                    Column::U32(column) => values.set_item(name, PyArray1::from_vec(py, column))?,
                    Column::U64(column) => values.set_item(name, PyArray1::from_vec(py, column))?,
                }
            }
            Ok(())
        })
    }
}
