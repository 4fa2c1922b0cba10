//! The table of functions that every handle points to, for loaders of OpenCL (`cl_khr_icd`).
//!
//! The order is that of `cl_icd_dispatch` in Khronos's `cl_icd.h`. Loaders do not look whether a place is empty, so all
//! places to the end of OpenCL 3.0 have a function.

use super::{
    build, context, copy, device, event, image, kernel, later, launch, map, memory, platform, program, queue,
};
use crate::ffi::{Address, Function};

macro_rules! table {
    ($($name:ident = $module:ident::$function:ident,)*) => {
        /// Names, in the order of the table.
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// The functions.
        #[derive(Debug)]
        #[repr(transparent)]
        pub(super) struct Dispatch([Function; NAMES.len()]);

        pub(super) static DISPATCH: Dispatch =
            Dispatch([$(Function($module::$function as *const ())),*]);
    };
}

table! {
    clGetPlatformIDs = platform::get_platform_ids,
    clGetPlatformInfo = platform::get_platform_info,
    clGetDeviceIDs = device::get_device_ids,
    clGetDeviceInfo = device::get_device_info,
    clCreateContext = context::create_context,
    clCreateContextFromType = context::create_context_from_type,
    clRetainContext = context::retain_context,
    clReleaseContext = context::release_context,
    clGetContextInfo = context::get_context_info,
    clCreateCommandQueue = queue::create_command_queue,
    clRetainCommandQueue = queue::retain_command_queue,
    clReleaseCommandQueue = queue::release_command_queue,
    clGetCommandQueueInfo = queue::get_command_queue_info,
    clSetCommandQueueProperty = queue::set_command_queue_property,
    clCreateBuffer = memory::create_buffer,
    clCreateImage2D = image::create_image_2d,
    clCreateImage3D = image::create_image_3d,
    clRetainMemObject = memory::retain_mem_object,
    clReleaseMemObject = memory::release_mem_object,
    clGetSupportedImageFormats = image::get_supported_image_formats,
    clGetMemObjectInfo = memory::get_mem_object_info,
    clGetImageInfo = image::get_image_info,
    clCreateSampler = image::create_sampler,
    clRetainSampler = image::retain_sampler,
    clReleaseSampler = image::release_sampler,
    clGetSamplerInfo = image::get_sampler_info,
    clCreateProgramWithSource = program::create_program_with_source,
    clCreateProgramWithBinary = program::create_program_with_binary,
    clRetainProgram = program::retain_program,
    clReleaseProgram = program::release_program,
    clBuildProgram = build::build_program,
    clUnloadCompiler = platform::unload_compiler,
    clGetProgramInfo = program::get_program_info,
    clGetProgramBuildInfo = program::get_program_build_info,
    clCreateKernel = kernel::create_kernel,
    clCreateKernelsInProgram = kernel::create_kernels_in_program,
    clRetainKernel = kernel::retain_kernel,
    clReleaseKernel = kernel::release_kernel,
    clSetKernelArg = kernel::set_kernel_arg,
    clGetKernelInfo = kernel::get_kernel_info,
    clGetKernelWorkGroupInfo = kernel::get_kernel_work_group_info,
    clWaitForEvents = event::wait_for_events,
    clGetEventInfo = event::get_event_info,
    clRetainEvent = event::retain_event,
    clReleaseEvent = event::release_event,
    clGetEventProfilingInfo = event::get_event_profiling_info,
    clFlush = queue::flush,
    clFinish = queue::finish,
    clEnqueueReadBuffer = copy::enqueue_read_buffer,
    clEnqueueWriteBuffer = copy::enqueue_write_buffer,
    clEnqueueCopyBuffer = copy::enqueue_copy_buffer,
    clEnqueueReadImage = image::enqueue_read_image,
    clEnqueueWriteImage = image::enqueue_write_image,
    clEnqueueCopyImage = image::enqueue_copy_image,
    clEnqueueCopyImageToBuffer = image::enqueue_copy_image_to_buffer,
    clEnqueueCopyBufferToImage = image::enqueue_copy_buffer_to_image,
    clEnqueueMapBuffer = map::enqueue_map_buffer,
    clEnqueueMapImage = image::enqueue_map_image,
    clEnqueueUnmapMemObject = map::enqueue_unmap_mem_object,
    clEnqueueNDRangeKernel = launch::enqueue_nd_range_kernel,
    clEnqueueTask = launch::enqueue_task,
    clEnqueueNativeKernel = launch::enqueue_native_kernel,
    clEnqueueMarker = queue::enqueue_marker,
    clEnqueueWaitForEvents = queue::enqueue_wait_for_events,
    clEnqueueBarrier = queue::enqueue_barrier,
    clGetExtensionFunctionAddress = platform::get_extension_function_address,
    clCreateFromGLBuffer = platform::unsupported_object,
    clCreateFromGLTexture2D = platform::unsupported_object,
    clCreateFromGLTexture3D = platform::unsupported_object,
    clCreateFromGLRenderbuffer = platform::unsupported_object,
    clGetGLObjectInfo = platform::unsupported,
    clGetGLTextureInfo = platform::unsupported,
    clEnqueueAcquireGLObjects = platform::unsupported,
    clEnqueueReleaseGLObjects = platform::unsupported,
    clGetGLContextInfoKHR = platform::unsupported,
    clGetDeviceIDsFromD3D10KHR = platform::unsupported,
    clCreateFromD3D10BufferKHR = platform::unsupported_object,
    clCreateFromD3D10Texture2DKHR = platform::unsupported_object,
    clCreateFromD3D10Texture3DKHR = platform::unsupported_object,
    clEnqueueAcquireD3D10ObjectsKHR = platform::unsupported,
    clEnqueueReleaseD3D10ObjectsKHR = platform::unsupported,
    clSetEventCallback = event::set_event_callback,
    clCreateSubBuffer = memory::create_sub_buffer,
    clSetMemObjectDestructorCallback = memory::set_mem_object_destructor_callback,
    clCreateUserEvent = event::create_user_event,
    clSetUserEventStatus = event::set_user_event_status,
    clEnqueueReadBufferRect = copy::enqueue_read_buffer_rect,
    clEnqueueWriteBufferRect = copy::enqueue_write_buffer_rect,
    clEnqueueCopyBufferRect = copy::enqueue_copy_buffer_rect,
    clCreateSubDevicesEXT = platform::unsupported,
    clRetainDeviceEXT = platform::unsupported,
    clReleaseDeviceEXT = platform::unsupported,
    clCreateEventFromGLsyncKHR = platform::unsupported_object,
    clCreateSubDevices = device::create_sub_devices,
    clRetainDevice = device::retain_device,
    clReleaseDevice = device::release_device,
    clCreateImage = image::create_image,
    clCreateProgramWithBuiltInKernels = program::create_program_with_built_in_kernels,
    clCompileProgram = build::compile_program,
    clLinkProgram = build::link_program,
    clUnloadPlatformCompiler = platform::unload_platform_compiler,
    clGetKernelArgInfo = kernel::get_kernel_arg_info,
    clEnqueueFillBuffer = copy::enqueue_fill_buffer,
    clEnqueueFillImage = image::enqueue_fill_image,
    clEnqueueMigrateMemObjects = copy::enqueue_migrate_mem_objects,
    clEnqueueMarkerWithWaitList = queue::enqueue_marker_with_wait_list,
    clEnqueueBarrierWithWaitList = queue::enqueue_barrier_with_wait_list,
    clGetExtensionFunctionAddressForPlatform = platform::get_extension_function_address_for_platform,
    clCreateFromGLTexture = platform::unsupported_object,
    clGetDeviceIDsFromD3D11KHR = platform::unsupported,
    clCreateFromD3D11BufferKHR = platform::unsupported_object,
    clCreateFromD3D11Texture2DKHR = platform::unsupported_object,
    clCreateFromD3D11Texture3DKHR = platform::unsupported_object,
    clCreateFromDX9MediaSurfaceKHR = platform::unsupported_object,
    clEnqueueAcquireD3D11ObjectsKHR = platform::unsupported,
    clEnqueueReleaseD3D11ObjectsKHR = platform::unsupported,
    clGetDeviceIDsFromDX9MediaAdapterKHR = platform::unsupported,
    clEnqueueAcquireDX9MediaSurfacesKHR = platform::unsupported,
    clEnqueueReleaseDX9MediaSurfacesKHR = platform::unsupported,
    clCreateFromEGLImageKHR = platform::unsupported_object,
    clEnqueueAcquireEGLObjectsKHR = platform::unsupported,
    clEnqueueReleaseEGLObjectsKHR = platform::unsupported,
    clCreateEventFromEGLSyncKHR = platform::unsupported_object,
    clCreateCommandQueueWithProperties = queue::create_command_queue_with_properties,
    clCreatePipe = later::create_pipe,
    clGetPipeInfo = later::get_pipe_info,
    clSVMAlloc = later::svm_alloc,
    clSVMFree = later::svm_free,
    clEnqueueSVMFree = later::enqueue_svm_free,
    clEnqueueSVMMemcpy = later::enqueue_svm_memcpy,
    clEnqueueSVMMemFill = later::enqueue_svm_mem_fill,
    clEnqueueSVMMap = later::enqueue_svm_map,
    clEnqueueSVMUnmap = later::enqueue_svm_unmap,
    clCreateSamplerWithProperties = later::create_sampler_with_properties,
    clSetKernelArgSVMPointer = later::set_kernel_arg_svm_pointer,
    clSetKernelExecInfo = later::set_kernel_exec_info,
    clGetKernelSubGroupInfoKHR = platform::unsupported,
    clCloneKernel = later::clone_kernel,
    clCreateProgramWithIL = later::create_program_with_il,
    clEnqueueSVMMigrateMem = later::enqueue_svm_migrate_mem,
    clGetDeviceAndHostTimer = later::get_device_and_host_timer,
    clGetHostTimer = later::get_host_timer,
    clGetKernelSubGroupInfo = later::get_kernel_sub_group_info,
    clSetDefaultDeviceCommandQueue = later::set_default_device_command_queue,
    clSetProgramReleaseCallback = later::set_program_release_callback,
    clSetProgramSpecializationConstant = later::set_program_specialization_constant,
    clCreateBufferWithProperties = later::create_buffer_with_properties,
    clCreateImageWithProperties = later::create_image_with_properties,
    clSetContextDestructorCallback = later::set_context_destructor_callback,
}

/// The address of a function that loaders and programs ask for by name: one of the extension `cl_khr_icd`, or of the table.
pub(super) fn function(name: &str) -> Option<Address> {
    if name == "clIcdGetPlatformIDsKHR" {
        return Some(Function(platform::icd_get_platform_ids as *const ()).address());
    }
    let number = NAMES.iter().position(|other| *other == name)?;
    let Dispatch(functions) = &DISPATCH;
    let found = functions[number];
    let is_there =
        ![platform::unsupported as *const (), platform::unsupported_object as *const ()].contains(&found.0);
    is_there.then(|| found.address())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_where_loaders_call_them() {
        // Offsets of members in words, as the C compiler says them for Khronos's header.
        let places = [
            ("clGetPlatformIDs", 0),
            ("clCreateBuffer", 14),
            ("clCreateImage3D", 16),
            ("clBuildProgram", 30),
            ("clSetKernelArg", 38),
            ("clFinish", 47),
            ("clEnqueueNDRangeKernel", 59),
            ("clGetExtensionFunctionAddress", 65),
            ("clSetEventCallback", 81),
            ("clCreateSubBuffer", 82),
            ("clEnqueueCopyBufferRect", 88),
            ("clCreateSubDevices", 93),
            ("clGetKernelArgInfo", 101),
            ("clEnqueueFillBuffer", 102),
            ("clEnqueueBarrierWithWaitList", 106),
            ("clGetExtensionFunctionAddressForPlatform", 107),
            ("clCreateCommandQueueWithProperties", 123),
            ("clSetContextDestructorCallback", 148),
        ];
        for (name, place) in places {
            assert_eq!(NAMES.iter().position(|other| *other == name), Some(place), "{name}");
        }
        assert_eq!(NAMES.len(), 149);
    }

    #[test]
    fn functions_are_found_by_name() {
        assert!(function("clIcdGetPlatformIDsKHR").is_some() && function("clEnqueueTask").is_some());
        assert_eq!(
            (function("clCreateFromGLBuffer"), function("clGetGLContextInfoKHR"), function("x")),
            (None, None, None)
        );
    }
}
