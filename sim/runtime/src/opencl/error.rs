//! Error codes of OpenCL.

use crate::protocol::Failure;

/// A code other than `CL_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum ClError {
    DeviceNotFound = -1,
    DeviceNotAvailable = -2,
    MemObjectAllocationFailure = -4,
    OutOfResources = -5,
    OutOfHostMemory = -6,
    ProfilingInfoNotAvailable = -7,
    MemCopyOverlap = -8,
    BuildProgramFailure = -11,
    MisalignedSubBufferOffset = -13,
    ExecStatusErrorForEventsInWaitList = -14,
    CompileProgramFailure = -15,
    LinkProgramFailure = -17,
    KernelArgInfoNotAvailable = -19,
    InvalidValue = -30,
    InvalidDeviceType = -31,
    InvalidPlatform = -32,
    InvalidDevice = -33,
    InvalidContext = -34,
    InvalidQueueProperties = -35,
    InvalidCommandQueue = -36,
    InvalidHostPtr = -37,
    InvalidMemObject = -38,
    InvalidSampler = -41,
    InvalidBinary = -42,
    InvalidBuildOptions = -43,
    InvalidProgram = -44,
    InvalidProgramExecutable = -45,
    InvalidKernelName = -46,
    InvalidKernelDefinition = -47,
    InvalidKernel = -48,
    InvalidArgIndex = -49,
    InvalidArgValue = -50,
    InvalidArgSize = -51,
    InvalidKernelArgs = -52,
    InvalidWorkDimension = -53,
    InvalidWorkGroupSize = -54,
    InvalidWorkItemSize = -55,
    InvalidGlobalOffset = -56,
    InvalidEventWaitList = -57,
    InvalidEvent = -58,
    InvalidOperation = -59,
    InvalidBufferSize = -61,
    InvalidGlobalWorkSize = -63,
    InvalidProperty = -64,
    InvalidCompilerOptions = -66,
    InvalidLinkerOptions = -67,
    /// `CL_PLATFORM_NOT_FOUND_KHR` of the extension `cl_khr_icd`.
    PlatformNotFound = -1001,
}

impl From<Failure> for ClError {
    /// A kernel that fails is `CL_OUT_OF_RESOURCES`, as on GPUs: OpenCL has no code for a wrong address.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoSimulator => ClError::DeviceNotAvailable,
            Failure::OutOfMemory => ClError::MemObjectAllocationFailure,
            Failure::InvalidValue => ClError::InvalidValue,
            Failure::NotFound => ClError::InvalidKernelName,
            Failure::NoCode => ClError::InvalidBinary,
            Failure::InvalidCode => ClError::BuildProgramFailure,
            Failure::InvalidConfiguration => ClError::InvalidWorkGroupSize,
            Failure::OutOfResources
            | Failure::IllegalAddress
            | Failure::IllegalInstruction
            | Failure::Trap
            | Failure::Assertion
            | Failure::Timeout
            | Failure::Lost => ClError::OutOfResources,
        }
    }
}
