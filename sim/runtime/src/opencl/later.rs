//! Functions of OpenCL 2.0 to 3.0: refused by name.
//!
//! A program that was linked with one of them does not start if the library lacks it. `versions.txt` has the versions of
//! symbols that such a program asks for; functions that it does not name are of `OPENCL_1.0`.

use super::refused;
use crate::ffi::{Address, Out};

/// Functions that return an error code, or nothing.
macro_rules! codes {
    ($($called:literal #[$export:meta] $name:ident;)*) => { $(
        #[$export]
        pub(super) extern "C" fn $name() -> i32 {
            refused(concat!($called, " (OpenCL 2.0 or later)")) as i32
        }
    )* };
}

/// Functions that return an object, with the parameters before the one for the error code.
macro_rules! objects {
    ($($called:literal #[$export:meta] $name:ident($($parameter:ident)*);)*) => { $(
        #[$export]
        pub(super) extern "C" fn $name($($parameter: Address,)* error: Out<i32>) -> Address {
            _ = ($($parameter,)*);
            error.set(refused(concat!($called, " (OpenCL 2.0 or later)")) as i32);
            Address(0)
        }
    )* };
}

codes! {
    "clGetPipeInfo"
    #[unsafe(export_name = "wave_clGetPipeInfo")] get_pipe_info;
    "clSVMFree"
    #[unsafe(export_name = "wave_clSVMFree")] svm_free;
    "clEnqueueSVMFree"
    #[unsafe(export_name = "wave_clEnqueueSVMFree")] enqueue_svm_free;
    "clEnqueueSVMMemcpy"
    #[unsafe(export_name = "wave_clEnqueueSVMMemcpy")] enqueue_svm_memcpy;
    "clEnqueueSVMMemFill"
    #[unsafe(export_name = "wave_clEnqueueSVMMemFill")] enqueue_svm_mem_fill;
    "clEnqueueSVMMap"
    #[unsafe(export_name = "wave_clEnqueueSVMMap")] enqueue_svm_map;
    "clEnqueueSVMUnmap"
    #[unsafe(export_name = "wave_clEnqueueSVMUnmap")] enqueue_svm_unmap;
    "clSetKernelArgSVMPointer"
    #[unsafe(export_name = "wave_clSetKernelArgSVMPointer")] set_kernel_arg_svm_pointer;
    "clSetKernelExecInfo"
    #[unsafe(export_name = "wave_clSetKernelExecInfo")] set_kernel_exec_info;
    "clEnqueueSVMMigrateMem"
    #[unsafe(export_name = "wave_clEnqueueSVMMigrateMem")] enqueue_svm_migrate_mem;
    "clGetDeviceAndHostTimer"
    #[unsafe(export_name = "wave_clGetDeviceAndHostTimer")] get_device_and_host_timer;
    "clGetHostTimer"
    #[unsafe(export_name = "wave_clGetHostTimer")] get_host_timer;
    "clGetKernelSubGroupInfo"
    #[unsafe(export_name = "wave_clGetKernelSubGroupInfo")] get_kernel_sub_group_info;
    "clSetDefaultDeviceCommandQueue"
    #[unsafe(export_name = "wave_clSetDefaultDeviceCommandQueue")] set_default_device_command_queue;
    "clSetProgramReleaseCallback"
    #[unsafe(export_name = "wave_clSetProgramReleaseCallback")] set_program_release_callback;
    "clSetProgramSpecializationConstant"
    #[unsafe(export_name = "wave_clSetProgramSpecializationConstant")]
    set_program_specialization_constant;
    "clSetContextDestructorCallback"
    #[unsafe(export_name = "wave_clSetContextDestructorCallback")] set_context_destructor_callback;
}

objects! {
    "clCreatePipe"
    #[unsafe(export_name = "wave_clCreatePipe")] create_pipe(context flags packet count properties);
    "clCreateSamplerWithProperties"
    #[unsafe(export_name = "wave_clCreateSamplerWithProperties")]
    create_sampler_with_properties(context properties);
    "clCloneKernel"
    #[unsafe(export_name = "wave_clCloneKernel")] clone_kernel(kernel);
    "clCreateProgramWithIL"
    #[unsafe(export_name = "wave_clCreateProgramWithIL")]
    create_program_with_il(context code bytes);
    "clCreateBufferWithProperties"
    #[unsafe(export_name = "wave_clCreateBufferWithProperties")]
    create_buffer_with_properties(context properties flags bytes host);
    "clCreateImageWithProperties"
    #[unsafe(export_name = "wave_clCreateImageWithProperties")]
    create_image_with_properties(context properties flags format description host);
}

/// Memory that host and device share; this function has no place for an error code.
#[unsafe(export_name = "wave_clSVMAlloc")]
pub(super) extern "C" fn svm_alloc() -> Address {
    refused("clSVMAlloc (OpenCL 2.0 or later)");
    Address(0)
}
