//! Launches of kernels.

use super::properties::{MOST_WORKGROUPS, most_threads};
use super::{CudaError, Done, Entity, State, check, given, runtime};
use crate::connection::{call, call_into};
use crate::ffi::{Address, Callback, In, Out, call_back, print};
use crate::protocol::{KernelFacts, Reply, Request};
use std::cell::RefCell;

/// Sizes in three dimensions: `dim3`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Dimensions {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) z: u32,
}

impl Dimensions {
    fn all(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// The sizes between `<<<` and `>>>`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Configuration {
    pub(super) grid: Dimensions,
    pub(super) block: Dimensions,
    pub(super) shared_bytes: usize,
}

/// The values for a kernel.
pub(super) enum Arguments {
    /// An address for each parameter.
    Each(In<Address>),
    /// One buffer, in which each value is aligned.
    Buffer(Vec<u8>),
}

impl Arguments {
    /// The values one after the other, without gaps.
    fn packed(&self, facts: &KernelFacts) -> Done<Vec<u8>> {
        let mut packed = Vec::new();
        let mut at = 0;
        for (number, parameter) in facts.parameters.iter().enumerate() {
            let bytes = parameter.bytes as usize;
            match self {
                Arguments::Each(addresses) => {
                    let value = addresses.nth(number).filter(|value| value.0 != 0);
                    packed.extend(value.ok_or(CudaError::InvalidValue)?.bytes(bytes));
                }
                Arguments::Buffer(buffer) => {
                    at = usize::next_multiple_of(at, parameter.alignment.max(1) as usize);
                    packed.extend(buffer.get(at..at + bytes).ok_or(CudaError::InvalidValue)?);
                    at += bytes;
                }
            }
        }
        Ok(packed)
    }
}

impl State {
    /// Runs a kernel to its end.
    pub(super) fn launch(&mut self, kernel: &Entity, with: Configuration, arguments: &Arguments) -> Done {
        self.usable()?;
        let facts = self.facts(kernel)?;
        let device = crate::connection::device()?;
        for (sizes, most) in [(with.grid.all(), MOST_WORKGROUPS), (with.block.all(), most_threads(&device))] {
            let holds = sizes.iter().zip(most).all(|(&size, most)| (1..=most).contains(&size));
            check(holds, CudaError::InvalidConfiguration)?;
        }
        let shared_bytes = u64::from(facts.local_bytes) + with.shared_bytes as u64;
        check(shared_bytes <= device.local_per_workgroup.into(), CudaError::InvalidValue)?;
        let packed = arguments.packed(&facts)?;
        let dynamic_local = u32::try_from(with.shared_bytes).map_err(|_| CudaError::InvalidConfiguration)?;
        let reached = self.reached(&packed);
        for &(address, bytes) in &reached {
            call(&Request::Write { address }, Address(address as usize).bytes(bytes))?;
        }
        let launched = call(
            &Request::Launch {
                module: self.loaded(kernel.module)?,
                name: kernel.name.clone(),
                grid: with.grid.all(),
                workgroup: with.block.all(),
                dynamic_local,
            },
            &packed,
        );
        match launched.map_err(CudaError::from) {
            Ok(Reply::Launched { printed, .. }) => {
                print(&printed);
                for (address, bytes) in reached {
                    let into = Address(address as usize).bytes_mut(bytes);
                    call_into(&Request::Read { address, bytes: bytes as u64 }, &[], into)?;
                }
                Ok(())
            }
            Ok(_) => Err(CudaError::Unknown),
            Err(error) => {
                let stays = [
                    CudaError::IllegalAddress,
                    CudaError::IllegalInstruction,
                    CudaError::LaunchTimeout,
                    CudaError::LaunchFailure,
                    CudaError::Assert,
                    CudaError::NoDevice,
                ];
                self.lost = stays.contains(&error).then_some(error);
                Err(error)
            }
        }
    }

    /// As [`launch`](Self::launch), for a grid whose workgroups wait for one another: all of them have to be on the device
    /// at once.
    pub(super) fn launch_cooperatively(
        &mut self,
        kernel: &Entity,
        with: Configuration,
        arguments: &Arguments,
    ) -> Done {
        let threads = with.block.all().iter().fold(1, |all: u32, &size| all.saturating_mul(size));
        let threads = i32::try_from(threads).map_err(|_| CudaError::InvalidConfiguration)?;
        let of_core = self.occupancy(kernel, threads, with.shared_bytes)?;
        let most = of_core as u64 * u64::from(crate::connection::device()?.cores);
        let workgroups = with.grid.all().iter().fold(1, |all: u64, &size| all.saturating_mul(size.into()));
        check(workgroups <= most, CudaError::CooperativeLaunchTooLarge)?;
        self.launch(kernel, with, arguments)
    }

    /// The kernel of a function of the host's code.
    pub(super) fn kernel(&self, function: Address) -> Done<Entity> {
        self.kernels.get(&function).cloned().ok_or(CudaError::InvalidDeviceFunction)
    }
}

thread_local! {
    /// Configurations of launches that this thread prepares.
    static PREPARED: RefCell<Vec<(Configuration, Address)>> = const { RefCell::new(Vec::new()) };
}

#[unsafe(export_name = "wave___cudaPushCallConfiguration")]
extern "C" fn push_call_configuration(
    grid: Dimensions,
    block: Dimensions,
    shared_bytes: usize,
    stream: Address,
) -> u32 {
    PREPARED.with_borrow_mut(|all| all.push((Configuration { grid, block, shared_bytes }, stream)));
    0
}

#[unsafe(export_name = "wave___cudaPopCallConfiguration")]
extern "C" fn pop_call_configuration(
    grid: Out<Dimensions>,
    block: Out<Dimensions>,
    shared_bytes: Out<usize>,
    stream: Out<Address>,
) -> i32 {
    runtime(|_| {
        let (with, on) = PREPARED.with_borrow_mut(Vec::pop).ok_or(CudaError::InvalidConfiguration)?;
        given(
            grid.set(with.grid)
                && block.set(with.block)
                && shared_bytes.set(with.shared_bytes)
                && stream.set(on),
        )
    })
}

#[unsafe(export_name = "wave_cudaLaunchKernel")]
extern "C" fn launch_kernel(
    function: Address,
    grid: Dimensions,
    block: Dimensions,
    arguments: In<Address>,
    shared_bytes: usize,
    _stream: Address,
) -> i32 {
    runtime(|state| {
        let kernel = state.kernel(function)?;
        state.launch(&kernel, Configuration { grid, block, shared_bytes }, &Arguments::Each(arguments))
    })
}

#[unsafe(export_name = "wave_cudaLaunchCooperativeKernel")]
extern "C" fn launch_cooperative_kernel(
    function: Address,
    grid: Dimensions,
    block: Dimensions,
    arguments: In<Address>,
    shared_bytes: usize,
    _stream: Address,
) -> i32 {
    runtime(|state| {
        let kernel = state.kernel(function)?;
        let with = Configuration { grid, block, shared_bytes };
        state.launch_cooperatively(&kernel, with, &Arguments::Each(arguments))
    })
}

/// The launch of programs of CUDA 13; the kernel is the handle that `__cudaGetKernel` gives.
#[unsafe(export_name = "wave___cudaLaunchKernel")]
extern "C" fn launch_kernel_13(
    kernel: Address,
    grid: Dimensions,
    block: Dimensions,
    arguments: In<Address>,
    shared_bytes: usize,
    stream: Address,
) -> i32 {
    launch_kernel(kernel, grid, block, arguments, shared_bytes, stream)
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LaunchConfiguration {
    grid: Dimensions,
    block: Dimensions,
    shared_bytes: usize,
    stream: Address,
    attributes: Address,
    attribute_count: u32,
}

/// `cudaLaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: i32,
    padding: i32,
    value: [i32; 16],
}

/// Most attributes of a launch are about how it runs, not about what it does; those of clusters are refused by the compiler
/// of the kernel.
#[unsafe(export_name = "wave_cudaLaunchKernelExC")]
extern "C" fn launch_kernel_with(
    with: In<LaunchConfiguration>,
    function: Address,
    arguments: In<Address>,
) -> i32 {
    runtime(|state| {
        let LaunchConfiguration { grid, block, shared_bytes, attributes, attribute_count, .. } =
            with.get().ok_or(CudaError::InvalidValue)?;
        let kernel = state.kernel(function)?;
        let with = Configuration { grid, block, shared_bytes };
        let attributes = In::<Attribute>::at(attributes);
        const COOPERATIVE: i32 = 2;
        let is_cooperative = (0..attribute_count as usize)
            .filter_map(|number| attributes.nth(number))
            .any(|attribute| attribute.id == COOPERATIVE && attribute.value[0] != 0);
        let arguments = Arguments::Each(arguments);
        match is_cooperative {
            true => state.launch_cooperatively(&kernel, with, &arguments),
            false => state.launch(&kernel, with, &arguments),
        }
    })
}

#[unsafe(export_name = "wave_cudaLaunchHostFunc")]
extern "C" fn launch_host_function(stream: Address, function: Callback, argument: Address) -> i32 {
    let code = runtime(|state| state.usable().and_then(|()| state.stream(stream)));
    if code == 0 {
        call_back(function, argument);
    }
    code
}

#[unsafe(export_name = "wave_cudaFuncSetCacheConfig")]
extern "C" fn set_cache_configuration(function: Address, _: i32) -> i32 {
    runtime(|state| state.kernel(function).map(drop))
}

#[unsafe(export_name = "wave_cudaFuncSetSharedMemConfig")]
extern "C" fn set_shared_memory_configuration(function: Address, _: i32) -> i32 {
    runtime(|state| state.kernel(function).map(drop))
}

/// A launch may ask for all local memory that a core has, without an attribute.
#[unsafe(export_name = "wave_cudaFuncSetAttribute")]
extern "C" fn set_attribute(function: Address, attribute: i32, value: i32) -> i32 {
    const MOST_DYNAMIC_SHARED_BYTES: i32 = 8;
    runtime(|state| {
        let kernel = state.kernel(function)?;
        if attribute == MOST_DYNAMIC_SHARED_BYTES {
            let facts = state.facts(&kernel)?;
            let most = crate::connection::device()?.local_per_workgroup.saturating_sub(facts.local_bytes);
            check(u32::try_from(value).is_ok_and(|value| value <= most), CudaError::InvalidValue)?;
        }
        Ok(())
    })
}

/// `cudaFuncAttributes`, as far as all versions have it.
#[repr(C)]
struct FunctionAttributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    most_threads: i32,
    registers: i32,
    ptx_version: i32,
    binary_version: i32,
    cache_mode: i32,
    most_dynamic_shared_bytes: i32,
    preferred_carve_out: i32,
}

#[unsafe(export_name = "wave_cudaFuncGetAttributes")]
extern "C" fn get_attributes(attributes: Out<FunctionAttributes>, function: Address) -> i32 {
    runtime(|state| {
        let kernel = state.kernel(function)?;
        let facts = state.facts(&kernel)?;
        let device = crate::connection::device()?;
        given(attributes.set(FunctionAttributes {
            shared_bytes: facts.local_bytes as usize,
            constant_bytes: 0,
            local_bytes: facts.private_bytes as usize,
            most_threads: facts.most_threads as i32,
            registers: facts.registers as i32,
            ptx_version: super::properties::COMPUTE.0 * 10 + super::properties::COMPUTE.1,
            binary_version: super::properties::COMPUTE.0 * 10 + super::properties::COMPUTE.1,
            cache_mode: 0,
            most_dynamic_shared_bytes: device.local_per_workgroup.saturating_sub(facts.local_bytes) as i32,
            preferred_carve_out: -1,
        }))
    })
}

impl State {
    /// Workgroups of a kernel that a core holds at once.
    pub(super) fn occupancy(&mut self, kernel: &Entity, threads: i32, shared_bytes: usize) -> Done<i32> {
        let facts = self.facts(kernel)?;
        let device = crate::connection::device()?;
        let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0);
        let threads = threads.ok_or(CudaError::InvalidValue)?;
        if threads > facts.most_threads {
            return Ok(0);
        }
        let waves = threads.div_ceil(device.wave_width.max(1));
        let registers = u64::from(facts.registers) * u64::from(waves) * u64::from(device.wave_width);
        let local = u64::from(facts.local_bytes) + shared_bytes as u64;
        let by = |all: u32, of_one: u64| u64::from(all).checked_div(of_one).unwrap_or(u64::MAX);
        let most = by(device.waves_per_core, waves.into())
            .min(by(device.registers_per_core, registers))
            .min(by(device.local_per_core, local))
            .min(device.workgroups_per_core.into());
        Ok(most as i32)
    }
}

#[unsafe(export_name = "wave_cudaOccupancyMaxActiveBlocksPerMultiprocessor")]
extern "C" fn occupancy(blocks: Out<i32>, function: Address, threads: i32, shared_bytes: usize) -> i32 {
    runtime(|state| {
        let kernel = state.kernel(function)?;
        let most = state.occupancy(&kernel, threads, shared_bytes)?;
        given(blocks.set(most))
    })
}

#[unsafe(export_name = "wave_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")]
extern "C" fn occupancy_with_flags(
    blocks: Out<i32>,
    function: Address,
    threads: i32,
    shared_bytes: usize,
    _flags: u32,
) -> i32 {
    occupancy(blocks, function, threads, shared_bytes)
}
