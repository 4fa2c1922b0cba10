//! CUDA: the runtime API (`libcudart`) and the driver API (`libcuda`).
//!
//! Everything happens in the order of the calls: a kernel has run when its launch returns, and streams are there for their
//! names. So a stream has nothing to wait for, and an event has happened when it is recorded. A pointer to device memory
//! is the address on the simulated machine. Functions are named after those of CUDA, whose documentation says what they
//! do; comments say what differs.

mod device;
mod driver;
mod error;
mod launch;
mod memory;
mod pool;
mod properties;
mod registration;
mod stream;
mod symbol;

use crate::connection::{call, lock, note};
use crate::ffi::Address;
use crate::protocol::{Failure, KernelFacts, Reply, Request};
use error::CudaError;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// The result of a function.
type Done<T = ()> = Result<T, CudaError>;

/// A module: what a fat binary or PTX holds.
#[derive(Debug)]
struct Module {
    /// Where its image lies in the process.
    image: Address,
    /// Its number in the simulator, once it is loaded.
    number: Option<u32>,
}

/// A kernel or a variable of a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Entity {
    /// The module, by its number here.
    module: usize,
    /// Its name there.
    name: String,
}

/// Memory that host and device share.
#[derive(Debug, Clone, Copy)]
struct Shared {
    /// The allocation on the device and the bytes of the mapping; `None` for a variable, which stays.
    made: Option<(u64, usize)>,
    /// Bytes that the program has asked for.
    bytes: usize,
    /// Kernels may find it through pointers in memory; otherwise through their arguments only.
    is_managed: bool,
}

/// An event.
#[derive(Debug, Clone, Copy)]
struct CudaEvent {
    /// The program may ask for its time.
    is_timed: bool,
    /// When it was recorded last.
    time: Option<u64>,
}

/// The state of this process in CUDA.
#[derive(Debug, Default)]
struct State {
    modules: Vec<Module>,
    /// Kernels by the address of their function in the host's code, or by a handle of the driver API.
    kernels: HashMap<Address, Entity>,
    /// Variables by the address of their shadow in the host's code.
    variables: HashMap<Address, Entity>,
    /// Managed variables that are not shared yet, and the pointers through which the host reaches them.
    managed_variables: Vec<(Entity, Address)>,
    /// Facts of kernels that were launched.
    facts: HashMap<Entity, Arc<KernelFacts>>,
    /// Shared memory by its address, which is the same on both sides.
    shared: BTreeMap<u64, Shared>,
    /// Pages that the host has of variables.
    pages: BTreeSet<u64>,
    /// Memory pools.
    pools: pool::Pools,
    /// Handles of streams.
    streams: BTreeSet<usize>,
    /// Events by handle.
    events: HashMap<usize, CudaEvent>,
    /// The number of the last handle.
    handles: usize,
    /// The error of a kernel that has failed: the device is not usable any more.
    lost: Option<CudaError>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// The error of the last call of this thread that has failed, as `cudaGetLastError` returns it.
    static LAST_ERROR: Cell<i32> = const { Cell::new(0) };
}

/// Does what a function is for.
fn done(act: impl FnOnce(&mut State) -> Done) -> Done {
    let mut state = lock(&STATE);
    act(state.get_or_insert_default())
}

/// Does what a function of the runtime API is for, and returns its error code.
fn runtime(act: impl FnOnce(&mut State) -> Done) -> i32 {
    let Err(error) = done(act) else { return 0 };
    LAST_ERROR.set(error as i32);
    error as i32
}

/// Does what a function of the driver API is for, and returns its error code, which has fewer values.
fn driver(act: impl FnOnce(&mut State) -> Done) -> i32 {
    use CudaError::{
        InvalidConfiguration, InvalidDeviceFunction, InvalidMemcpyDirection, InvalidPitchValue,
        InvalidSymbol, InvalidValue, NotFound,
    };
    match done(act) {
        Ok(()) => 0,
        Err(InvalidConfiguration | InvalidPitchValue | InvalidMemcpyDirection) => InvalidValue as i32,
        Err(InvalidSymbol | InvalidDeviceFunction) => NotFound as i32,
        Err(error) => error as i32,
    }
}

/// The code of the error by which the device was lost; 0 if it was not.
fn lost() -> i32 {
    lock(&STATE).as_ref().and_then(|state| state.lost).map_or(0, |error| error as i32)
}

/// An error if a condition that the caller has to keep does not hold.
fn check(holds: bool, otherwise: CudaError) -> Done {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// A result that has no place is an invalid argument.
fn given(is_set: bool) -> Done {
    check(is_set, CudaError::InvalidValue)
}

impl State {
    /// The error of the device, if it has one that stays.
    fn usable(&self) -> Done {
        self.lost.map_or(Ok(()), Err)
    }

    /// A new handle. None is 0, and none is a pointer.
    fn handle(&mut self) -> usize {
        self.handles += 1;
        0x100 + self.handles
    }

    /// Loads a module of these bytes.
    fn add_image(&mut self, bytes: Vec<u8>) -> Done<usize> {
        let name = format!("module {}", self.modules.len() + 1);
        let Reply::Module { module, .. } = call(&Request::Load { name }, &bytes)? else {
            return Err(CudaError::Unknown);
        };
        self.modules.push(Module { image: Address(0), number: Some(module) });
        Ok(self.modules.len() - 1)
    }

    /// Adds a module whose image lies at an address.
    fn add_module(&mut self, image: Address) -> usize {
        self.modules.push(Module { image, number: None });
        self.modules.len() - 1
    }

    /// The number of a module in the simulator, which loads it if it has not.
    fn loaded(&mut self, module: usize) -> Done<u32> {
        let found = self.modules.get_mut(module).ok_or(CudaError::InvalidHandle)?;
        if let Some(number) = found.number {
            return Ok(number);
        }
        let name = format!("module {}", module + 1);
        let image = registration::image(found.image).ok_or(CudaError::InvalidKernelImage)?;
        let reply = call(&Request::Load { name }, &image)?;
        let Reply::Module { module: number, .. } = reply else { return Err(CudaError::Unknown) };
        found.number = Some(number);
        Ok(number)
    }

    /// Facts of a kernel.
    fn facts(&mut self, kernel: &Entity) -> Done<Arc<KernelFacts>> {
        if let Some(facts) = self.facts.get(kernel) {
            return Ok(Arc::clone(facts));
        }
        let module = self.loaded(kernel.module)?;
        let reply = call(&Request::Kernel { module, name: kernel.name.clone() }, &[]);
        let Reply::Kernel { facts } = reply.map_err(|failure| match failure {
            Failure::NotFound => CudaError::InvalidDeviceFunction,
            other => other.into(),
        })?
        else {
            return Err(CudaError::Unknown);
        };
        let facts = Arc::new(facts);
        self.facts.insert(kernel.clone(), Arc::clone(&facts));
        Ok(facts)
    }

    /// Address and size of a variable in device memory.
    fn variable(&mut self, variable: &Entity) -> Done<(u64, u64)> {
        let module = self.loaded(variable.module)?;
        match call(&Request::Variable { module, name: variable.name.clone() }, &[])? {
            Reply::Variable { address, bytes } => Ok((address, bytes)),
            _ => Err(CudaError::Unknown),
        }
    }
}

/// Refuses something by name, for which no plan exists; the user is told once.
fn refused(what: &str) -> CudaError {
    note(&format!("{what} is not supported by the simulator"));
    CudaError::NotSupported
}
