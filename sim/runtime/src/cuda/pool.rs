//! Memory pools: allocations in the order of a stream. A pool holds nothing in reserve: what a program frees is free.

use super::{CudaError, Done, State, check, given, runtime};
use crate::ffi::{Address, In, Out};
use std::collections::BTreeMap;

/// The handle of the pool that is there from the beginning.
const DEFAULT_POOL: usize = 0xff;

/// Attributes of a pool by their numbers in CUDA, from 1 on: three switches of the reuse of memory, the bytes below which
/// memory is kept, and what is reserved and used, now and at most.
const ATTRIBUTES: usize = 8;
const LAST_SWITCH: usize = 3;
const RESERVED: usize = 5;
const MOST_RESERVED: usize = 6;
const USED: usize = 7;
const MOST_USED: usize = 8;

/// A pool: its attributes, the first at 0.
#[derive(Debug, Clone, Copy)]
struct Pool([u64; ATTRIBUTES]);

impl Default for Pool {
    fn default() -> Self {
        let mut attributes = [0; ATTRIBUTES];
        // Memory may be used again in each way.
        attributes[..LAST_SWITCH].fill(1);
        Pool(attributes)
    }
}

impl Pool {
    /// Notes that so many bytes are in use.
    fn use_bytes(&mut self, bytes: u64) {
        for (now, most) in [(RESERVED, MOST_RESERVED), (USED, MOST_USED)] {
            self.0[now - 1] = bytes;
            self.0[most - 1] = self.0[most - 1].max(bytes);
        }
    }
}

/// All pools.
#[derive(Debug)]
pub(super) struct Pools {
    pools: BTreeMap<usize, Pool>,
    /// The pool of `cudaMallocAsync`.
    current: usize,
    /// Pool and bytes of allocations, by their addresses.
    allocations: BTreeMap<u64, (usize, u64)>,
}

impl Default for Pools {
    fn default() -> Self {
        let pools = BTreeMap::from([(DEFAULT_POOL, Pool::default())]);
        Pools { pools, current: DEFAULT_POOL, allocations: BTreeMap::new() }
    }
}

impl Pools {
    fn find(&mut self, handle: Address) -> Done<&mut Pool> {
        self.pools.get_mut(&handle.0).ok_or(CudaError::InvalidValue)
    }

    /// Notes that an allocation is free, if it is one of a pool.
    pub(super) fn release(&mut self, address: u64) {
        let Some((handle, bytes)) = self.allocations.remove(&address) else { return };
        if let Some(pool) = self.pools.get_mut(&handle) {
            pool.use_bytes(pool.0[USED - 1] - bytes);
        }
    }
}

impl State {
    /// Allocates from a pool.
    fn allocate_from(&mut self, pool: usize, bytes: usize) -> Done<u64> {
        self.pools.find(Address(pool))?;
        if bytes == 0 {
            return Ok(0);
        }
        let made = self.allocate(bytes)?;
        self.pools.allocations.insert(made, (pool, bytes as u64));
        let pool = self.pools.find(Address(pool))?;
        pool.use_bytes(pool.0[USED - 1] + bytes as u64);
        Ok(made)
    }
}

#[unsafe(export_name = "wave_cudaMallocAsync")]
extern "C" fn malloc_in_order(address: Out<u64>, bytes: usize, _stream: Address) -> i32 {
    runtime(|state| {
        let made = state.allocate_from(state.pools.current, bytes)?;
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cudaMallocFromPoolAsync")]
extern "C" fn malloc_from_pool(address: Out<u64>, bytes: usize, pool: Address, _stream: Address) -> i32 {
    runtime(|state| {
        let made = state.allocate_from(pool.0, bytes)?;
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cudaDeviceGetDefaultMemPool")]
extern "C" fn default_pool(pool: Out<Address>, device: i32) -> i32 {
    runtime(|_| {
        check(device == 0, CudaError::InvalidDevice)?;
        given(pool.set(Address(DEFAULT_POOL)))
    })
}

#[unsafe(export_name = "wave_cudaDeviceGetMemPool")]
extern "C" fn current_pool(pool: Out<Address>, device: i32) -> i32 {
    runtime(|state| {
        check(device == 0, CudaError::InvalidDevice)?;
        given(pool.set(Address(state.pools.current)))
    })
}

#[unsafe(export_name = "wave_cudaDeviceSetMemPool")]
extern "C" fn set_current_pool(device: i32, pool: Address) -> i32 {
    runtime(|state| {
        check(device == 0, CudaError::InvalidDevice)?;
        state.pools.find(pool)?;
        state.pools.current = pool.0;
        Ok(())
    })
}

/// There is one device, so all properties mean the same pool.
#[unsafe(export_name = "wave_cudaMemPoolCreate")]
extern "C" fn create_pool(pool: Out<Address>, properties: Address) -> i32 {
    runtime(|state| {
        check(properties.0 != 0, CudaError::InvalidValue)?;
        let handle = state.handle();
        state.pools.pools.insert(handle, Pool::default());
        given(pool.set(Address(handle)))
    })
}

/// What was allocated from the pool stays until it is freed.
#[unsafe(export_name = "wave_cudaMemPoolDestroy")]
extern "C" fn destroy_pool(pool: Address) -> i32 {
    runtime(|state| {
        check(pool.0 != DEFAULT_POOL, CudaError::InvalidValue)?;
        state.pools.find(pool)?;
        state.pools.pools.remove(&pool.0);
        if state.pools.current == pool.0 {
            state.pools.current = DEFAULT_POOL;
        }
        Ok(())
    })
}

/// The place of an attribute.
fn place(attribute: i32) -> Done<usize> {
    let number = usize::try_from(attribute).ok().filter(|number| (1..=ATTRIBUTES).contains(number));
    number.map(|number| number - 1).ok_or(CudaError::InvalidValue)
}

#[unsafe(export_name = "wave_cudaMemPoolGetAttribute")]
extern "C" fn get_attribute(pool: Address, attribute: i32, value: Address) -> i32 {
    runtime(|state| {
        let place = place(attribute)?;
        let found = state.pools.find(pool)?.0[place];
        // Switches are of type int, sizes of 64 bits.
        given(match place < LAST_SWITCH {
            true => Out::<i32>::at(value).set(found as i32),
            false => Out::<u64>::at(value).set(found),
        })
    })
}

#[unsafe(export_name = "wave_cudaMemPoolSetAttribute")]
extern "C" fn set_attribute(pool: Address, attribute: i32, value: Address) -> i32 {
    runtime(|state| {
        let place = place(attribute)?;
        let value = match place < LAST_SWITCH {
            true => In::<i32>::at(value).get().map(|value| u64::from(value != 0)),
            false => In::<u64>::at(value).get(),
        };
        let value = value.ok_or(CudaError::InvalidValue)?;
        let attributes = &mut state.pools.find(pool)?.0;
        match place + 1 {
            // What is in use now is not for a program to say.
            RESERVED | USED => return Err(CudaError::InvalidValue),
            // A highest value can be set back, to what is in use.
            MOST_RESERVED | MOST_USED => {
                check(value == 0, CudaError::InvalidValue)?;
                attributes[place] = attributes[place - 1];
            }
            _ => attributes[place] = value,
        }
        Ok(())
    })
}

/// Nothing is held in reserve.
#[unsafe(export_name = "wave_cudaMemPoolTrimTo")]
extern "C" fn trim_pool(pool: Address, _bytes_to_keep: usize) -> i32 {
    runtime(|state| state.pools.find(pool).map(drop))
}

/// The one device has access to everything.
#[unsafe(export_name = "wave_cudaMemPoolSetAccess")]
extern "C" fn set_access(pool: Address, _access: Address, _count: usize) -> i32 {
    trim_pool(pool, 0)
}

#[unsafe(export_name = "wave_cudaMemPoolGetAccess")]
extern "C" fn get_access(flags: Out<i32>, pool: Address, _location: Address) -> i32 {
    const READ_AND_WRITE: i32 = 3;
    runtime(|state| {
        state.pools.find(pool)?;
        given(flags.set(READ_AND_WRITE))
    })
}
