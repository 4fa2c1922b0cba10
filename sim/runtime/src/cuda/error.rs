//! Error codes of CUDA, which its two APIs share.

use crate::protocol::Failure;

/// Declares codes with their names and descriptions. The numbers are those of `cudaError_t` and of `CUresult`; where only
/// one API has a name of its own, the other gets that one's.
macro_rules! codes {
    ($($code:ident = $number:literal, $runtime:literal, $driver:literal, $text:literal;)*) => {
        /// A code other than success.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        #[expect(dead_code, reason = "some codes are there for their names")]
        pub(super) enum CudaError { $($code = $number,)* }

        /// Number, name in the runtime API, name in the driver API, description.
        const CODES: &[(i32, &str, &str, &str)] = &[
            (0, "cudaSuccess\0", "CUDA_SUCCESS\0", "no error\0"),
            $(($number, concat!($runtime, "\0"), concat!($driver, "\0"), concat!($text, "\0")),)*
        ];
    };
}

codes! {
    InvalidValue = 1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument";
    MemoryAllocation = 2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory";
    Initialization = 3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED", "initialization error";
    InvalidConfiguration = 9, "cudaErrorInvalidConfiguration", "CUDA_ERROR_INVALID_VALUE", "invalid configuration argument";
    InvalidPitchValue = 12, "cudaErrorInvalidPitchValue", "CUDA_ERROR_INVALID_VALUE", "invalid pitch argument";
    InvalidSymbol = 13, "cudaErrorInvalidSymbol", "CUDA_ERROR_NOT_FOUND", "invalid device symbol";
    InvalidDevicePointer = 17, "cudaErrorInvalidDevicePointer", "CUDA_ERROR_INVALID_VALUE", "invalid device pointer";
    InvalidMemcpyDirection = 21, "cudaErrorInvalidMemcpyDirection", "CUDA_ERROR_INVALID_VALUE", "invalid copy direction for memcpy";
    InvalidDeviceFunction = 98, "cudaErrorInvalidDeviceFunction", "CUDA_ERROR_NOT_FOUND", "invalid device function";
    NoDevice = 100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected";
    InvalidDevice = 101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal";
    InvalidKernelImage = 200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid";
    NoKernelImage = 209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device";
    InvalidPtx = 218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed";
    FileNotFound = 301, "cudaErrorFileNotFound", "CUDA_ERROR_FILE_NOT_FOUND", "file not found";
    InvalidHandle = 400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle";
    NotFound = 500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found";
    NotReady = 600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "device not ready";
    IllegalAddress = 700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered";
    OutOfResources = 701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch";
    LaunchTimeout = 702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated";
    Assert = 710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered";
    HostMemoryAlreadyRegistered = 712, "cudaErrorHostMemoryAlreadyRegistered", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped";
    IllegalInstruction = 715, "cudaErrorIllegalInstruction", "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered";
    LaunchFailure = 719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure";
    CooperativeLaunchTooLarge = 720, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch";
    NotSupported = 801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "operation not supported";
    Unknown = 999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error";
}

impl From<Failure> for CudaError {
    fn from(failure: Failure) -> CudaError {
        match failure {
            Failure::NoSimulator => CudaError::NoDevice,
            Failure::OutOfMemory => CudaError::MemoryAllocation,
            Failure::InvalidValue => CudaError::InvalidValue,
            Failure::NotFound => CudaError::NotFound,
            Failure::NoCode => CudaError::NoKernelImage,
            Failure::InvalidCode => CudaError::InvalidPtx,
            Failure::InvalidConfiguration => CudaError::InvalidConfiguration,
            Failure::OutOfResources => CudaError::OutOfResources,
            Failure::IllegalAddress => CudaError::IllegalAddress,
            Failure::IllegalInstruction => CudaError::IllegalInstruction,
            Failure::Timeout => CudaError::LaunchTimeout,
            Failure::Trap | Failure::Lost => CudaError::LaunchFailure,
            Failure::Assertion => CudaError::Assert,
        }
    }
}

/// A row of the table. Texts end with a zero, because programs in C read them.
fn row(number: i32) -> Option<&'static (i32, &'static str, &'static str, &'static str)> {
    CODES.iter().find(|row| row.0 == number)
}

/// The name in the runtime API.
pub(super) fn runtime_name(number: i32) -> &'static str {
    row(number).map_or("unrecognized error code\0", |row| row.1)
}

/// The name in the driver API; `None` if there is no such code.
pub(super) fn driver_name(number: i32) -> Option<&'static str> {
    row(number).map(|row| row.2)
}

/// The description.
pub(super) fn description(number: i32) -> Option<&'static str> {
    row(number).map(|row| row.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_names() {
        assert_eq!(runtime_name(0), "cudaSuccess\0");
        assert_eq!(runtime_name(CudaError::IllegalAddress as i32), "cudaErrorIllegalAddress\0");
        assert_eq!(driver_name(700), Some("CUDA_ERROR_ILLEGAL_ADDRESS\0"));
        assert_eq!(description(2), Some("out of memory\0"));
        assert_eq!((driver_name(12345), runtime_name(12345)), (None, "unrecognized error code\0"));
        assert!(CODES.is_sorted_by_key(|row| row.0));
    }
}
