//! Registration before `main`, by code that compilers add to a program: fat binaries, kernels, variables.

use super::{CudaError, Entity, given, runtime};
use crate::ffi::{Address, In, Out, Text};

/// The structure that a program hands over as a fat binary: `__fatBinC_Wrapper_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: Address,
    others: Address,
}

/// The magic number of a wrapper.
const WRAPPER_MAGIC: u32 = 0x466243b1;
/// The magic number of a fat binary.
const BINARY_MAGIC: u32 = 0xba55_ed50;

/// The head of a fat binary: `fatBinaryHeader`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    magic: u32,
    version: u16,
    /// Bytes of this head.
    head: u16,
    /// Bytes behind it.
    rest: u64,
}

/// The bytes of the image that lies at an address: a fat binary, in its wrapper or not, or the text of PTX. `None` if it
/// is something else.
pub(super) fn image(at: Address) -> Option<Vec<u8>> {
    let magic = In::<u32>::at(at).get()?;
    if magic == WRAPPER_MAGIC {
        return wrapped(In::<Wrapper>::at(at).get()?);
    }
    if magic == BINARY_MAGIC {
        let head = In::<Head>::at(at).get()?;
        let bytes = usize::from(head.head).checked_add(usize::try_from(head.rest).ok()?)?;
        return Some(at.bytes(bytes).to_vec());
    }
    const ELF: u32 = 0x464c_457f;
    if magic == ELF {
        // Code of a GPU, whose length its own tables tell: the simulator says that it is no PTX.
        return Some(at.bytes(64).to_vec());
    }
    at.text().map(String::into_bytes)
}

/// The fat binary of a wrapper, or those of the objects that were linked.
fn wrapped(wrapper: Wrapper) -> Option<Vec<u8>> {
    const LINKED: u32 = 2;
    let mut bytes = image(wrapper.data)?;
    if wrapper.version == LINKED {
        let others = In::<Address>::at(wrapper.others);
        let others = (0..).map_while(|number| others.nth(number).filter(|other| other.0 != 0));
        for other in others.collect::<Vec<_>>() {
            bytes.extend(image(other)?);
        }
    }
    Some(bytes)
}

/// The handle of a module is the address of its image, which compilers keep and give back.
fn handle(module: usize) -> Address {
    Address(module + 1)
}

fn module(handle: Address) -> usize {
    handle.0.wrapping_sub(1)
}

#[unsafe(export_name = "wave___cudaRegisterFatBinary")]
extern "C" fn register_fat_binary(image: Address) -> Address {
    let mut made = Address(0);
    runtime(|state| {
        made = handle(state.add_module(image));
        Ok(())
    });
    made
}

#[unsafe(export_name = "wave___cudaRegisterFatBinaryEnd")]
extern "C" fn register_fat_binary_end(_: Address) {}

#[unsafe(export_name = "wave___cudaUnregisterFatBinary")]
extern "C" fn unregister_fat_binary(_: Address) {}

/// Before the first use of a managed variable of a module.
#[unsafe(export_name = "wave___cudaInitModule")]
extern "C" fn init_module(of: Address) -> u8 {
    let code = runtime(|state| state.share_variables(module(of)));
    u8::from(code == 0)
}

#[unsafe(export_name = "wave___cudaRegisterFunction")]
extern "C" fn register_function(
    of: Address,
    function: Address,
    _device_function: Address,
    name: Text,
    _thread_limit: i32,
    _thread: Address,
    _block: Address,
    _block_size: Address,
    _grid_size: Address,
    _warp_size: Address,
) {
    runtime(|state| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        state.kernels.insert(function, Entity { module: module(of), name });
        Ok(())
    });
}

#[unsafe(export_name = "wave___cudaRegisterVar")]
extern "C" fn register_variable(
    of: Address,
    variable: Address,
    _device_address: Address,
    name: Text,
    _is_external: i32,
    _bytes: usize,
    _is_constant: i32,
    _is_global: i32,
) {
    runtime(|state| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        state.variables.insert(variable, Entity { module: module(of), name });
        Ok(())
    });
}

/// The host reaches a managed variable through a pointer, which is set before its first use.
#[unsafe(export_name = "wave___cudaRegisterManagedVar")]
extern "C" fn register_managed_variable(
    of: Address,
    pointer: Address,
    shadow: Address,
    name: Text,
    _is_external: i32,
    _bytes: usize,
    _is_constant: i32,
    _is_global: i32,
) {
    runtime(|state| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        let variable = Entity { module: module(of), name };
        state.variables.insert(shadow, variable.clone());
        state.managed_variables.push((variable, pointer));
        Ok(())
    });
}

/// The handle of a kernel, for [`launch`](super::launch) of CUDA 13: the address of its function serves.
#[unsafe(export_name = "wave___cudaGetKernel")]
extern "C" fn get_kernel(kernel: Out<Address>, function: Address) -> i32 {
    runtime(|_| given(kernel.set(function)))
}

#[unsafe(export_name = "wave_cudaGetFuncBySymbol")]
extern "C" fn get_function_by_symbol(made: Out<Address>, function: Address) -> i32 {
    get_kernel(made, function)
}

#[unsafe(export_name = "wave_cudaGetKernel")]
extern "C" fn get_kernel_of_function(made: Out<Address>, function: Address) -> i32 {
    get_kernel(made, function)
}
