//! The functions of the driver that are called.

use crate::Error;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

/// Results of the driver's functions.
pub(crate) const SUCCESS: c_int = 0;
pub(crate) const OUT_OF_MEMORY: c_int = 2;
pub(crate) const NOT_READY: c_int = 600;
/// Errors of a kernel that is running: illegal address, launch failed, assert, illegal instruction, misaligned address,
/// invalid address space, invalid pc; and a hardware stack error.
pub(crate) const FAULTS: [c_int; 8] = [700, 710, 714, 715, 716, 717, 718, 719];
/// The driver's own watchdog has ended a kernel.
pub(crate) const WATCHDOG: c_int = 702;

/// Names of the library: Linux, Windows.
const NAMES: [&str; 2] =
    if cfg!(windows) { ["nvcuda.dll", "nvcuda"] } else { ["libcuda.so.1", "libcuda.so"] };

/// A handle of the driver: context, module, function, event.
pub(crate) type Handle = *mut c_void;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),* $(,)?);)+) => {
        /// The driver, loaded. The functions stay valid as long as the library does, which is their owner's life.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "system" fn($($argument),*) -> c_int,)+
            /// Dropped last.
            _library: Library,
        }

        impl Functions {
            /// Finds every function in the library.
            fn of(library: Library) -> Result<Functions, Error> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the type is that of the function in CUDA's `cuda.h`. What is copied out is a plain
                        // pointer to a function, which is valid while the library is loaded.
                        *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }
                            .map_err(|_| Error::OldDriver { function: $symbol })?
                    },)+
                    _library: library,
                })
            }
        }
    };
}

// The suffixes `_v2` are those of `cuda.h`, which defines the plain names as macros for them.
functions! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    error_name = "cuGetErrorName"(c_int, *mut *const c_char);
    error_string = "cuGetErrorString"(c_int, *mut *const c_char);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device = "cuDeviceGet"(*mut c_int, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    device_memory = "cuDeviceTotalMem_v2"(*mut usize, c_int);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
    retain_context = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
    release_context = "cuDevicePrimaryCtxRelease_v2"(c_int);
    set_context = "cuCtxSetCurrent"(Handle);
    load_module = "cuModuleLoadDataEx"(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    unload_module = "cuModuleUnload"(Handle);
    function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
    function_attribute = "cuFuncGetAttribute"(*mut c_int, c_int, Handle);
    set_function_attribute = "cuFuncSetAttribute"(Handle, c_int, c_int);
    allocate = "cuMemAlloc_v2"(*mut u64, usize);
    free = "cuMemFree_v2"(u64);
    allocate_host = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    free_host = "cuMemFreeHost"(*mut c_void);
    host_address = "cuMemHostGetDevicePointer_v2"(*mut u64, *mut c_void, c_uint);
    copy_in = "cuMemcpyHtoD_v2"(u64, *const c_void, usize);
    copy_out = "cuMemcpyDtoH_v2"(*mut c_void, u64, usize);
    fill = "cuMemsetD8_v2"(u64, u8, usize);
    synchronize = "cuCtxSynchronize"();
    launch = "cuLaunchKernel"(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void,
    );
    create_event = "cuEventCreate"(*mut Handle, c_uint);
    destroy_event = "cuEventDestroy_v2"(Handle);
    record_event = "cuEventRecord"(Handle, Handle);
    query_event = "cuEventQuery"(Handle);
    elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
}

impl Functions {
    /// Loads the driver.
    ///
    /// # Errors
    /// There is none, or it lacks a function.
    pub(crate) fn load() -> Result<Functions, Error> {
        let mut why = String::new();
        for name in NAMES {
            // SAFETY: the initialisation routines of the driver's library are made to run in any program.
            match unsafe { Library::new(name) } {
                Ok(library) => return Functions::of(library),
                Err(error) => why = error.to_string(),
            }
        }
        Err(Error::NoDriver { tried: NAMES.to_vec(), why })
    }

    fn text(&self, of: unsafe extern "system" fn(c_int, *mut *const c_char) -> c_int, code: c_int) -> String {
        let mut text = ptr::null();
        // SAFETY: the driver writes null, or a pointer to a text of its own that ends with a zero and stays.
        unsafe {
            if of(code, &mut text) == SUCCESS && !text.is_null() {
                return CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
        format!("error {code}")
    }

    /// Name of an error.
    pub(crate) fn name(&self, code: c_int) -> String {
        self.text(self.error_name, code)
    }

    /// What an error means.
    pub(crate) fn words(&self, code: c_int) -> String {
        self.text(self.error_string, code)
    }

    /// An error if a function has returned one.
    pub(crate) fn check(&self, function: &'static str, code: c_int) -> Result<(), Error> {
        match code {
            SUCCESS => Ok(()),
            WATCHDOG => Err(Error::Watchdog),
            code if FAULTS.contains(&code) => Err(Error::Fault { name: self.name(code) }),
            code => Err(Error::Failed { function, name: self.name(code), words: self.words(code) }),
        }
    }
}
