//! What the driver knows of a GPU.

use crate::Error;
use crate::functions::Functions;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, c_int};

/// What the driver knows of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// The newest CUDA that the driver supports: 1000 × major + 10 × minor.
    pub driver: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Highest clock of the multiprocessors, kHz.
    pub clock_khz: u32,
    /// Highest clock of the memory, kHz.
    pub memory_clock_khz: u32,
    /// Width of the bus to memory, bits.
    pub bus_bits: u32,
    /// L2, bytes.
    pub l2_bytes: u32,
    /// Registers of a multiprocessor.
    pub registers: u32,
    /// Shared memory of a multiprocessor, bytes.
    pub shared_bytes: u32,
    /// Most shared memory of a CTA, bytes.
    pub cta_shared_bytes: u32,
    /// Most threads of a multiprocessor.
    pub threads: u32,
    /// Most threads of a CTA.
    pub cta_threads: u32,
    /// Most CTAs of a multiprocessor.
    pub ctas: u32,
    /// True if the driver itself ends kernels that take long, as on a GPU with a display.
    pub has_watchdog: bool,
}

/// Attributes of a device in `cuda.h`.
mod attribute {
    pub(super) const CTA_THREADS: i32 = 1;
    pub(super) const CLOCK_KHZ: i32 = 13;
    pub(super) const MULTIPROCESSORS: i32 = 16;
    pub(super) const WATCHDOG: i32 = 17;
    pub(super) const MEMORY_CLOCK_KHZ: i32 = 36;
    pub(super) const BUS_BITS: i32 = 37;
    pub(super) const L2_BYTES: i32 = 38;
    pub(super) const THREADS: i32 = 39;
    pub(super) const MAJOR: i32 = 75;
    pub(super) const MINOR: i32 = 76;
    pub(super) const SHARED_BYTES: i32 = 81;
    pub(super) const REGISTERS: i32 = 82;
    pub(super) const CTA_SHARED_BYTES: i32 = 97;
    pub(super) const CTAS: i32 = 106;
}

impl Properties {
    /// Asks the driver.
    pub(crate) fn of(functions: &Functions, device: c_int) -> Result<Properties, Error> {
        let of = |which: c_int| -> Result<u32, Error> {
            let mut value = 0;
            // SAFETY: the pointer is to a local of the type that the function writes.
            let result = unsafe { (functions.device_attribute)(&mut value, which, device) };
            functions.check("cuDeviceGetAttribute", result)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let mut name = [0; 256];
        let (mut memory, mut driver) = (0, 0);
        // SAFETY: the name has as many bytes as stated, and the driver ends it with a zero; the others are locals of the
        // types that the functions write.
        let name = unsafe {
            functions.check(
                "cuDeviceGetName",
                (functions.device_name)(name.as_mut_ptr(), name.len() as c_int, device),
            )?;
            functions.check("cuDeviceTotalMem", (functions.device_memory)(&mut memory, device))?;
            functions.check("cuDriverGetVersion", (functions.driver_version)(&mut driver))?;
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
        };
        Ok(Properties {
            name,
            capability: (of(attribute::MAJOR)?, of(attribute::MINOR)?),
            driver: u32::try_from(driver).unwrap_or(0),
            memory_bytes: memory as u64,
            multiprocessors: of(attribute::MULTIPROCESSORS)?,
            clock_khz: of(attribute::CLOCK_KHZ)?,
            memory_clock_khz: of(attribute::MEMORY_CLOCK_KHZ)?,
            bus_bits: of(attribute::BUS_BITS)?,
            l2_bytes: of(attribute::L2_BYTES)?,
            registers: of(attribute::REGISTERS)?,
            shared_bytes: of(attribute::SHARED_BYTES)?,
            cta_shared_bytes: of(attribute::CTA_SHARED_BYTES)?,
            threads: of(attribute::THREADS)?,
            cta_threads: of(attribute::CTA_THREADS)?,
            ctas: of(attribute::CTAS)?,
            has_watchdog: of(attribute::WATCHDOG)? != 0,
        })
    }
}
