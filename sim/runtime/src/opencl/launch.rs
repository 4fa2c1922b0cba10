//! Launches of kernels.

use super::command::{Command, Order, WaitList, enqueue};
use super::copy::order;
use super::error::ClError;
use super::kernel::{Kernel, Packed};
use super::memory::Buffer;
use super::program::{Code, Program};
use super::queue::Queue;
use super::{Done, State, check, refused};
use crate::connection::device;
use crate::ffi::{Address, In, Out};
use crate::protocol::{DeviceFacts, KernelFacts, Request};

const RANGE: u32 = 0x11f0;
const TASK: u32 = 0x11f1;

/// Most threads of a workgroup whose size the program leaves open.
const MOST_CHOSEN_THREADS: usize = 256;

/// An index space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IndexSpace {
    dimensions: usize,
    offset: [usize; 3],
    global: [usize; 3],
    /// Threads of a workgroup; `None` if the program leaves it open.
    local: Option<[usize; 3]>,
}

/// The values of the dimensions that there are, and 0 or 1 for the others.
fn padded(values: In<usize>, dimensions: usize, otherwise: usize) -> Option<[usize; 3]> {
    values.exists().then(|| {
        let value = |number| if number < dimensions { values.nth(number) } else { None };
        [0, 1, 2].map(|number| value(number).unwrap_or(otherwise))
    })
}

impl IndexSpace {
    fn new(dimensions: u32, offset: In<usize>, global: In<usize>, local: In<usize>) -> Done<IndexSpace> {
        let dimensions = dimensions as usize;
        check((1..=3).contains(&dimensions), ClError::InvalidWorkDimension)?;
        let global = padded(global, dimensions, 1).filter(|sizes| !sizes.contains(&0));
        let global = global.ok_or(ClError::InvalidGlobalWorkSize)?;
        let offset = padded(offset, dimensions, 0).unwrap_or([0; 3]);
        let ends = offset.iter().zip(&global).all(|(offset, size)| offset.checked_add(*size).is_some());
        check(ends, ClError::InvalidGlobalOffset)?;
        Ok(IndexSpace { dimensions, offset, global, local: padded(local, dimensions, 1) })
    }

    /// Workgroups, and threads of one.
    fn divided(&self, facts: &KernelFacts, device: &DeviceFacts) -> Done<([u32; 3], [u32; 3])> {
        let required = facts.required_threads.map(|count| count as usize);
        let most = facts.most_threads as usize;
        if required[0] > 0 {
            check(self.local == Some(required), ClError::InvalidWorkGroupSize)?;
        }
        let local = self.local.unwrap_or_else(|| chosen(self.global, most, device.wave_width as usize));
        let most_in_one = device.threads_per_workgroup as usize;
        check(local.iter().all(|&count| count <= most_in_one), ClError::InvalidWorkItemSize)?;
        check(!local.contains(&0), ClError::InvalidWorkGroupSize)?;
        let threads = local.iter().try_fold(1usize, |all, &count| all.checked_mul(count));
        check(threads.is_some_and(|threads| threads <= most), ClError::InvalidWorkGroupSize)?;
        let (mut grid, mut workgroup) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            check(self.global[axis].is_multiple_of(local[axis]), ClError::InvalidWorkGroupSize)?;
            let count = u32::try_from(self.global[axis] / local[axis]);
            grid[axis] = count.map_err(|_| ClError::InvalidGlobalWorkSize)?;
            workgroup[axis] = local[axis] as u32;
        }
        Ok((grid, workgroup))
    }

    /// Lines before a source that make its kernels see the offset and the number of dimensions; empty if there is nothing
    /// to tell.
    fn lines(&self, source: &str) -> String {
        let mut lines = String::new();
        if self.offset != [0; 3] {
            let [x, y, z] = self.offset;
            // The macro names the function that it stands for: it is not replaced within itself.
            lines += &format!(
                "static inline __attribute__((always_inline, unused)) size_t wave_offset(uint axis) {{\n\
                 return axis == 0 ? {x}ul : axis == 1 ? {y}ul : axis == 2 ? {z}ul : 0ul;\n}}\n\
                 #define get_global_id(axis) (get_global_id(axis) + wave_offset(axis))\n\
                 #define get_global_offset(axis) wave_offset(axis)\n"
            );
        }
        if self.dimensions < 3 && source.contains("get_work_dim") {
            lines += &format!("#define get_work_dim() {}u\n", self.dimensions);
        }
        lines
    }
}

/// A size of a workgroup that divides the index space: whole waves if that is possible.
fn chosen(global: [usize; 3], most: usize, wave: usize) -> [usize; 3] {
    let mut left = most.clamp(1, MOST_CHOSEN_THREADS);
    let mut local = [1; 3];
    for axis in 0..3 {
        let divisors = (1..=left.min(global[axis])).rev().filter(|&size| global[axis].is_multiple_of(size));
        let divisors: Vec<_> = divisors.collect();
        let whole = divisors.iter().find(|&&size| axis == 0 && size.is_multiple_of(wave.max(1)));
        local[axis] = whole.or(divisors.first()).copied().unwrap_or(1);
        left /= local[axis];
    }
    local
}

impl State {
    /// The module whose kernels have an index space's offset and dimensions.
    fn module(&mut self, program: Address, space: &IndexSpace) -> Done<u32> {
        let found = self.get::<Program>(program)?;
        let module = found.executable()?.module;
        match &found.code {
            Code::Source(source) => {
                let lines = space.lines(source);
                if lines.is_empty() { Ok(module) } else { self.variant(program, &lines) }
            }
            Code::Ptx(_) if space.offset == [0; 3] => Ok(module),
            Code::Ptx(_) => {
                refused("a global offset for a kernel in PTX");
                Err(ClError::InvalidGlobalOffset)
            }
        }
    }

    /// The launch of a kernel.
    fn launch(
        &mut self,
        queue: Address,
        kernel: Address,
        space: &IndexSpace,
        kind: u32,
        waits: WaitList,
    ) -> Done<Order> {
        let context = self.get::<Queue>(queue)?.context;
        let found = self.get::<Kernel>(kernel)?;
        check(found.context == context, ClError::InvalidContext)?;
        let (program, name, facts) = (found.program, found.name.clone(), found.facts.clone());
        self.get::<Program>(program)?.executable()?;
        let Packed { bytes, dynamic_local, buffers } =
            found.packed(|buffer| Ok(self.get::<Buffer>(buffer)?.address))?;
        let device = device()?;
        let (grid, workgroup) = space.divided(&facts, &device)?;
        let waits = self.waits(waits, queue)?;
        let local = dynamic_local.saturating_add(facts.local_bytes.into());
        check(local <= device.local_per_workgroup.into(), ClError::OutOfResources)?;
        let module = self.module(program, space)?;
        let request = Request::Launch { module, name, grid, workgroup, dynamic_local: dynamic_local as u32 };
        Ok(order(queue, kind, Command::Launch { request, arguments: bytes }, &buffers, waits))
    }
}

/// An offset is part of the code: the program is compiled once more for each. A kernel that asks for the number of
/// dimensions (`get_work_dim`) is compiled for each as well.
#[unsafe(export_name = "wave_clEnqueueNDRangeKernel")]
pub(super) extern "C" fn enqueue_nd_range_kernel(
    queue: Address,
    kernel: Address,
    dimensions: u32,
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    enqueue(event, |state| {
        state.get::<Queue>(queue)?;
        state.get::<Kernel>(kernel)?;
        let space = IndexSpace::new(dimensions, offset, global, local)?;
        state.launch(queue, kernel, &space, RANGE, WaitList(count, list))
    })
}

#[unsafe(export_name = "wave_clEnqueueTask")]
pub(super) extern "C" fn enqueue_task(
    queue: Address,
    kernel: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    let space = IndexSpace { dimensions: 1, offset: [0; 3], global: [1; 3], local: Some([1; 3]) };
    enqueue(event, |state| state.launch(queue, kernel, &space, TASK, WaitList(count, list)))
}

/// The device runs no functions of the host (`CL_EXEC_NATIVE_KERNEL`).
#[unsafe(export_name = "wave_clEnqueueNativeKernel")]
pub(super) extern "C" fn enqueue_native_kernel(_queue: Address) -> i32 {
    refused("clEnqueueNativeKernel") as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(global: [usize; 3], local: Option<[usize; 3]>) -> IndexSpace {
        IndexSpace { dimensions: 3, offset: [0; 3], global, local }
    }

    #[test]
    fn an_index_space_is_whole_workgroups() {
        let mut facts = KernelFacts { most_threads: 512, ..Default::default() };
        let device = DeviceFacts { threads_per_workgroup: 1024, wave_width: 32, ..Default::default() };
        let divided = |facts: &KernelFacts, global, local| space(global, local).divided(facts, &device);
        assert_eq!(divided(&facts, [64, 6, 1], Some([16, 2, 1])), Ok(([4, 3, 1], [16, 2, 1])));
        let wrong = Err(ClError::InvalidWorkGroupSize);
        assert_eq!(divided(&facts, [64, 6, 1], Some([16, 4, 1])), wrong);
        assert_eq!(divided(&facts, [1024, 1, 1], Some([1024, 1, 1])), wrong);
        assert_eq!(divided(&facts, [64, 1, 1], Some([0, 1, 1])), wrong);
        assert_eq!(divided(&facts, [4096, 1, 1], Some([2048, 1, 1])), Err(ClError::InvalidWorkItemSize));
        assert_eq!(divided(&facts, [1 << 40, 1, 1], Some([1; 3])), Err(ClError::InvalidGlobalWorkSize));
        facts.required_threads = [8, 8, 1];
        assert_eq!(
            (divided(&facts, [8, 8, 1], None), divided(&facts, [8, 8, 1], Some([8, 4, 1]))),
            (wrong, wrong)
        );
        assert_eq!(divided(&facts, [8, 16, 1], Some([8, 8, 1])), Ok(([1, 2, 1], [8, 8, 1])));
    }

    #[test]
    fn a_size_is_chosen_that_divides() {
        assert_eq!(chosen([4096, 1, 1], 1024, 32), [256, 1, 1]);
        assert_eq!(chosen([16, 1024, 1], 1024, 32), [16, 16, 1]);
        assert_eq!(chosen([96, 2, 3], 1024, 32), [96, 2, 1]);
        assert_eq!(chosen([1000, 7, 1], 1024, 32), [250, 1, 1]);
        assert_eq!(chosen([1009, 1, 1], 64, 32), [1, 1, 1]);
        assert_eq!(chosen([1, 1, 1], 0, 0), [1, 1, 1]);
    }

    #[test]
    fn an_index_space_that_makes_no_sense_is_an_error() {
        let sizes = [8usize, 0, 4];
        let at = In::at(Address(sizes.as_ptr() as usize));
        let error = |dimensions, global| IndexSpace::new(dimensions, In::none(), global, In::none()).err();
        assert_eq!([error(0, at), error(4, at)], [Some(ClError::InvalidWorkDimension); 2]);
        assert_eq!(error(2, at), Some(ClError::InvalidGlobalWorkSize));
        assert_eq!(error(1, In::none()), Some(ClError::InvalidGlobalWorkSize));
        let found = IndexSpace::new(1, at, at, In::none()).expect("one dimension");
        assert_eq!((found.offset, found.global), ([8, 0, 0], [8, 1, 1]));
    }

    #[test]
    fn an_offset_and_the_dimensions_are_lines_before_the_source() {
        let mut of = space([8, 1, 1], None);
        assert_eq!(of.lines("get_work_dim()"), "");
        of.dimensions = 2;
        assert_eq!(
            (of.lines("x"), of.lines("get_work_dim()")),
            (String::new(), "#define get_work_dim() 2u\n".to_owned())
        );
        of.offset = [5, 0, 0];
        assert!(of.lines("x").contains("axis == 0 ? 5ul"));
    }
}
