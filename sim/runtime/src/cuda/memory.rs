//! Device memory, memory that host and device share, and copies.

use super::{CudaError, Done, Shared, State, check, given, refused, runtime};
use crate::connection::{call, call_into, device, note, number};
use crate::ffi::{Address, Out, map_at, unmap};
use crate::protocol::Request;

/// Bytes of a page of the host.
const PAGE_BYTES: usize = 4096;

/// Rows of an allocation with a pitch begin at multiples of so many bytes.
const PITCH_BYTES: usize = 512;

/// `cudaMemcpyDefault`, the last of the directions.
const DIRECTION_DEFAULT: i32 = 4;

/// The error where the host has something at an address that it would share with the device.
fn taken(address: u64) -> CudaError {
    note(&format!(
        "memory that host and device share would lie at 0x{address:x}, where this program has something else: link it \
         as a position-independent executable"
    ));
    CudaError::MemoryAllocation
}

impl State {
    pub(super) fn allocate(&mut self, bytes: usize) -> Done<u64> {
        self.usable()?;
        check(bytes > 0, CudaError::InvalidValue)?;
        Ok(number(&Request::Allocate { bytes: bytes as u64 }, &[])?)
    }

    pub(super) fn release(&mut self, address: u64) -> Done {
        self.usable()?;
        call(&Request::Release { address }, &[]).map_err(|_| CudaError::InvalidValue)?;
        self.pools.release(address);
        Ok(())
    }

    /// Memory with one address for host and device. The host's copy counts between launches.
    pub(super) fn allocate_shared(&mut self, bytes: usize, is_managed: bool) -> Done<u64> {
        let mapped = bytes.max(1).next_multiple_of(PAGE_BYTES);
        // A page more than needed, so that the shared ones begin at the beginning of one.
        let start = self.allocate(mapped + PAGE_BYTES)?;
        let address = start.next_multiple_of(PAGE_BYTES as u64);
        if !map_at(address, mapped) {
            self.release(start)?;
            return Err(taken(address));
        }
        self.shared.insert(address, Shared { made: Some((start, mapped)), bytes, is_managed });
        Ok(address)
    }

    /// Gives memory back that [`allocate_shared`](Self::allocate_shared) has made; false if it has not.
    pub(super) fn release_shared(&mut self, address: u64) -> Done<bool> {
        self.usable()?;
        let Some((start, mapped)) = self.shared.get(&address).and_then(|shared| shared.made) else {
            return Ok(false);
        };
        self.shared.remove(&address);
        unmap(address, mapped);
        call(&Request::Release { address: start }, &[])?;
        Ok(true)
    }

    /// Gives the host the managed variables of a module, at the addresses that they have on the device.
    pub(super) fn share_variables(&mut self, module: usize) -> Done {
        let all = std::mem::take(&mut self.managed_variables);
        let (of_module, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(variable, _)| variable.module == module);
        self.managed_variables = others;
        for (variable, pointer) in of_module {
            let (address, bytes) = self.variable(&variable)?;
            let page = PAGE_BYTES as u64;
            let mut at = address / page * page;
            while at < address + bytes {
                // Variables may have a page in common.
                if self.pages.insert(at) && !map_at(at, PAGE_BYTES) {
                    return Err(taken(at));
                }
                at += page;
            }
            let (host, bytes) = (Address(address as usize), bytes as usize);
            call_into(&Request::Read { address, bytes: bytes as u64 }, &[], host.bytes_mut(bytes))?;
            self.shared.insert(address, Shared { made: None, bytes, is_managed: true });
            Out::at(pointer).set(host);
        }
        Ok(())
    }

    /// True if the host can use an address as it is.
    fn is_of_host(&self, address: Address) -> Done<bool> {
        if address.value() >= device()?.memory_bytes {
            return Ok(true);
        }
        Ok(self.shared_at(address).is_some())
    }

    /// The shared memory in which an address is.
    fn shared_at(&self, address: Address) -> Option<Shared> {
        let (&start, &shared) = self.shared.range(..=address.value()).next_back()?;
        (address.value() < start + shared.bytes as u64).then_some(shared)
    }

    /// The shared memory that a kernel with these arguments can reach.
    pub(super) fn reached(&self, arguments: &[u8]) -> Vec<(u64, usize)> {
        let reaches = |start: u64, bytes: usize| {
            let is_inside = |value: &[u8]| {
                value
                    .try_into()
                    .is_ok_and(|value| (start..start + bytes as u64).contains(&u64::from_le_bytes(value)))
            };
            arguments.windows(8).any(is_inside)
        };
        let all = self.shared.iter().map(|(&start, shared)| (start, shared));
        all.filter(|(start, shared)| shared.is_managed || reaches(*start, shared.bytes))
            .map(|(start, shared)| (start, shared.bytes))
            .collect()
    }

    /// Copies memory, whoever has it. The direction that a program states is not needed, but has to be one.
    pub(super) fn copy(&mut self, to: Address, from: Address, bytes: usize, direction: i32) -> Done {
        self.usable()?;
        check((0..=DIRECTION_DEFAULT).contains(&direction), CudaError::InvalidMemcpyDirection)?;
        if bytes == 0 {
            return Ok(());
        }
        check(to.0 != 0 && from.0 != 0, CudaError::InvalidValue)?;
        // What a program says of addresses that both sides could have is true.
        let [to_host, from_host] = match direction {
            0 => [true, true],
            1 => [self.is_of_host(to)?, true],
            2 => [true, self.is_of_host(from)?],
            _ => [self.is_of_host(to)?, self.is_of_host(from)?],
        };
        match (to_host, from_host) {
            // The ranges may be parts of one buffer.
            (true, true) => to.bytes_mut(bytes).copy_from_slice(&Vec::from(from.bytes(bytes))),
            (false, true) => _ = call(&Request::Write { address: to.value() }, from.bytes(bytes))?,
            (true, false) => {
                let read = Request::Read { address: from.value(), bytes: bytes as u64 };
                call_into(&read, &[], to.bytes_mut(bytes))?;
            }
            (false, false) => {
                let copy = Request::Copy { to: to.value(), from: from.value(), bytes: bytes as u64 };
                call(&copy, &[])?;
            }
        }
        Ok(())
    }

    /// Copies rows of `width` bytes.
    fn copy_rows(
        &mut self,
        (to, to_pitch): (Address, usize),
        (from, from_pitch): (Address, usize),
        (width, height): (usize, usize),
        direction: i32,
    ) -> Done {
        check(width <= to_pitch && width <= from_pitch, CudaError::InvalidPitchValue)?;
        for row in 0..height {
            self.copy(to.plus(row * to_pitch), from.plus(row * from_pitch), width, direction)?;
        }
        Ok(())
    }

    /// Fills memory with a pattern.
    pub(super) fn fill(&mut self, address: Address, pattern: &[u8], count: usize) -> Done {
        self.usable()?;
        let bytes = count.checked_mul(pattern.len()).ok_or(CudaError::InvalidValue)?;
        if bytes == 0 {
            return Ok(());
        }
        if self.is_of_host(address)? {
            address
                .bytes_mut(bytes)
                .chunks_mut(pattern.len())
                .for_each(|place| place.copy_from_slice(pattern));
            return Ok(());
        }
        call(&Request::Fill { address: address.value(), bytes: bytes as u64 }, pattern)?;
        Ok(())
    }
}

#[unsafe(export_name = "wave_cudaMalloc")]
extern "C" fn malloc(address: Out<u64>, bytes: usize) -> i32 {
    runtime(|state| {
        let made = if bytes == 0 { 0 } else { state.allocate(bytes)? };
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cudaMallocPitch")]
extern "C" fn malloc_pitch(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize) -> i32 {
    runtime(|state| {
        let row = width.next_multiple_of(PITCH_BYTES);
        let made = state.allocate(row.saturating_mul(height))?;
        given(address.set(made) && pitch.set(row))
    })
}

#[unsafe(export_name = "wave_cudaMallocManaged")]
extern "C" fn malloc_managed(address: Out<u64>, bytes: usize, _flags: u32) -> i32 {
    runtime(|state| {
        check(bytes > 0, CudaError::InvalidValue)?;
        let made = state.allocate_shared(bytes, true)?;
        given(address.set(made))
    })
}

/// Memory of the host that a kernel may access too.
#[unsafe(export_name = "wave_cudaHostAlloc")]
extern "C" fn host_alloc(address: Out<u64>, bytes: usize, _flags: u32) -> i32 {
    runtime(|state| {
        let made = if bytes == 0 { 0 } else { state.allocate_shared(bytes, false)? };
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cudaMallocHost")]
extern "C" fn malloc_host(address: Out<u64>, bytes: usize) -> i32 {
    host_alloc(address, bytes, 0)
}

#[unsafe(export_name = "wave_cudaFreeHost")]
extern "C" fn free_host(address: Address) -> i32 {
    free(address)
}

#[unsafe(export_name = "wave_cudaFree")]
extern "C" fn free(address: Address) -> i32 {
    runtime(|state| {
        if address.0 == 0 || state.release_shared(address.value())? {
            return Ok(());
        }
        state.release(address.value())
    })
}

#[unsafe(export_name = "wave_cudaFreeAsync")]
extern "C" fn free_in_order(address: Address, _stream: Address) -> i32 {
    free(address)
}

#[unsafe(export_name = "wave_cudaHostGetDevicePointer")]
extern "C" fn host_get_device_pointer(device: Out<u64>, host: Address, _flags: u32) -> i32 {
    runtime(|state| {
        check(state.shared_at(host).is_some(), CudaError::InvalidValue)?;
        given(device.set(host.value()))
    })
}

/// Copies work from any memory, so registering has nothing to do. A kernel cannot access memory that the program has
/// allocated by itself.
#[unsafe(export_name = "wave_cudaHostRegister")]
extern "C" fn host_register(address: Address, _bytes: usize, flags: u32) -> i32 {
    const MAPPED: u32 = 2;
    runtime(|_| {
        check(address.0 != 0, CudaError::InvalidValue)?;
        if flags & MAPPED != 0 {
            return Err(refused("cudaHostRegister with cudaHostRegisterMapped"));
        }
        Ok(())
    })
}

#[unsafe(export_name = "wave_cudaHostUnregister")]
extern "C" fn host_unregister(_: Address) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaMemGetInfo")]
extern "C" fn memory_info(free: Out<usize>, total: Out<usize>) -> i32 {
    runtime(|state| {
        state.usable()?;
        let now = number(&Request::Free {}, &[])?;
        given(free.set(now as usize) && total.set(device()?.memory_bytes as usize))
    })
}

#[unsafe(export_name = "wave_cudaMemcpy")]
extern "C" fn memcpy(to: Address, from: Address, bytes: usize, direction: i32) -> i32 {
    runtime(|state| state.copy(to, from, bytes, direction))
}

#[unsafe(export_name = "wave_cudaMemcpyAsync")]
extern "C" fn memcpy_in_order(
    to: Address,
    from: Address,
    bytes: usize,
    direction: i32,
    _stream: Address,
) -> i32 {
    memcpy(to, from, bytes, direction)
}

#[unsafe(export_name = "wave_cudaMemcpy2D")]
extern "C" fn memcpy_2d(
    to: Address,
    to_pitch: usize,
    from: Address,
    from_pitch: usize,
    width: usize,
    height: usize,
    direction: i32,
) -> i32 {
    runtime(|state| state.copy_rows((to, to_pitch), (from, from_pitch), (width, height), direction))
}

#[unsafe(export_name = "wave_cudaMemcpy2DAsync")]
extern "C" fn memcpy_2d_in_order(
    to: Address,
    to_pitch: usize,
    from: Address,
    from_pitch: usize,
    width: usize,
    height: usize,
    direction: i32,
    _stream: Address,
) -> i32 {
    memcpy_2d(to, to_pitch, from, from_pitch, width, height, direction)
}

#[unsafe(export_name = "wave_cudaMemset")]
extern "C" fn memset(address: Address, value: i32, bytes: usize) -> i32 {
    runtime(|state| state.fill(address, &[value as u8], bytes))
}

#[unsafe(export_name = "wave_cudaMemsetAsync")]
extern "C" fn memset_in_order(address: Address, value: i32, bytes: usize, _stream: Address) -> i32 {
    memset(address, value, bytes)
}

#[unsafe(export_name = "wave_cudaMemset2D")]
extern "C" fn memset_2d(address: Address, pitch: usize, value: i32, width: usize, height: usize) -> i32 {
    runtime(|state| {
        check(width <= pitch, CudaError::InvalidPitchValue)?;
        (0..height).try_for_each(|row| state.fill(address.plus(row * pitch), &[value as u8], width))
    })
}

#[unsafe(export_name = "wave_cudaMemset2DAsync")]
extern "C" fn memset_2d_in_order(
    address: Address,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    _stream: Address,
) -> i32 {
    memset_2d(address, pitch, value, width, height)
}

/// Shared memory is where it is.
#[unsafe(export_name = "wave_cudaMemPrefetchAsync")]
extern "C" fn prefetch(_address: Address, _bytes: usize, _device: i32, _stream: Address) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaMemAdvise")]
extern "C" fn advise(_address: Address, _bytes: usize, _advice: i32, _device: i32) -> i32 {
    0
}

/// `cudaPointerAttributes`, as all versions since 11 have it.
#[repr(C)]
struct PointerAttributes {
    kind: i32,
    device: i32,
    device_pointer: u64,
    host_pointer: u64,
}

#[unsafe(export_name = "wave_cudaPointerGetAttributes")]
extern "C" fn pointer_attributes(attributes: Out<PointerAttributes>, address: Address) -> i32 {
    const UNREGISTERED: i32 = 0;
    const HOST: i32 = 1;
    const DEVICE: i32 = 2;
    const MANAGED: i32 = 3;
    runtime(|state| {
        let value = address.value();
        let is_of_device = value < device()?.memory_bytes;
        let (kind, device_pointer, host_pointer) = match state.shared_at(address) {
            Some(shared) => (if shared.is_managed { MANAGED } else { HOST }, value, value),
            None if is_of_device => (DEVICE, value, 0),
            None => (UNREGISTERED, 0, value),
        };
        let device = if kind == UNREGISTERED { -1 } else { 0 };
        given(attributes.set(PointerAttributes { kind, device, device_pointer, host_pointer }))
    })
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Pitched {
    address: Address,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    width: usize,
    height: usize,
    depth: usize,
}

#[unsafe(export_name = "wave_cudaMalloc3D")]
extern "C" fn malloc_3d(made: Out<Pitched>, extent: Extent) -> i32 {
    runtime(|state| {
        let pitch = extent.width.next_multiple_of(PITCH_BYTES);
        let bytes = pitch.saturating_mul(extent.height).saturating_mul(extent.depth);
        let address = Address(state.allocate(bytes)? as usize);
        given(made.set(Pitched { address, pitch, width: extent.width, height: extent.height }))
    })
}

#[unsafe(export_name = "wave_cudaMemset3D")]
extern "C" fn memset_3d(at: Pitched, value: i32, extent: Extent) -> i32 {
    runtime(|state| {
        for slice in 0..extent.depth {
            for row in 0..extent.height {
                let place = at.address.plus((slice * at.height + row) * at.pitch);
                state.fill(place, &[value as u8], extent.width)?;
            }
        }
        Ok(())
    })
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy3d {
    from_array: Address,
    from_place: Extent,
    from: Pitched,
    to_array: Address,
    to_place: Extent,
    to: Pitched,
    extent: Extent,
    direction: i32,
}

#[unsafe(export_name = "wave_cudaMemcpy3D")]
extern "C" fn memcpy_3d(what: crate::ffi::In<Copy3d>) -> i32 {
    runtime(|state| {
        let what = what.get().ok_or(CudaError::InvalidValue)?;
        if what.from_array.0 != 0 || what.to_array.0 != 0 {
            return Err(refused("cudaMemcpy3D of arrays"));
        }
        let place = |of: Pitched, first: Extent, slice: usize| {
            let row = (first.depth + slice) * of.height + first.height;
            of.address.plus(row * of.pitch + first.width)
        };
        for slice in 0..what.extent.depth {
            state.copy_rows(
                (place(what.to, what.to_place, slice), what.to.pitch),
                (place(what.from, what.from_place, slice), what.from.pitch),
                (what.extent.width, what.extent.height),
                what.direction,
            )?;
        }
        Ok(())
    })
}

#[unsafe(export_name = "wave_cudaMemcpy3DAsync")]
extern "C" fn memcpy_3d_in_order(what: crate::ffi::In<Copy3d>, _stream: Address) -> i32 {
    memcpy_3d(what)
}

#[unsafe(export_name = "wave_cudaMemset3DAsync")]
extern "C" fn memset_3d_in_order(at: Pitched, value: i32, extent: Extent, _stream: Address) -> i32 {
    memset_3d(at, value, extent)
}

#[unsafe(export_name = "wave_cudaHostGetFlags")]
extern "C" fn host_get_flags(flags: Out<u32>, address: Address) -> i32 {
    const MAPPED: u32 = 2;
    runtime(|state| {
        check(state.shared_at(address).is_some(), CudaError::InvalidValue)?;
        given(flags.set(MAPPED))
    })
}
