//! Memory of a GPU, and words of the host that it reaches.

use crate::functions::OUT_OF_MEMORY;
use crate::{Error, Gpu};
use std::ffi::c_uint;
use std::ptr;

/// Memory of the host that the GPU reaches.
const HOST_MAPPED: c_uint = 2;

impl Gpu {
    /// Allocates memory. The address is a multiple of 256.
    ///
    /// # Errors
    /// There is not so much.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, Error> {
        self.usable()?;
        let (mut address, size) = (0, usize::try_from(bytes.max(1)).unwrap_or(usize::MAX));
        // SAFETY: the pointer is to a local of the type that the function writes.
        match unsafe { (self.functions.allocate)(&mut address, size) } {
            OUT_OF_MEMORY => Err(Error::OutOfMemory { bytes }),
            result => {
                self.check("cuMemAlloc", result)?;
                self.allocated.push((address, bytes));
                Ok(address)
            }
        }
    }

    /// Gives memory back. An address that was not allocated is ignored.
    pub fn free(&mut self, address: u64) {
        if let Some(at) = self.allocated.iter().position(|&(start, _)| start == address)
            && !self.lost
        {
            self.allocated.remove(at);
            // SAFETY: the address was allocated, and is given back once.
            _ = unsafe { (self.functions.free)(address) };
        }
    }

    /// An error if bytes are not inside one allocation.
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> Result<(), Error> {
        let inside = |&(start, size): &(u64, u64)| {
            address.checked_sub(start).and_then(|at| at.checked_add(bytes)).is_some_and(|end| end <= size)
        };
        match self.allocated.iter().any(inside) {
            true => Ok(()),
            false => Err(Error::NoLaunch { why: format!("{bytes} bytes at {address:#x} are not allocated") }),
        }
    }

    /// Copies bytes to the GPU.
    ///
    /// # Errors
    /// The place is not allocated.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.usable()?;
        self.holds(address, bytes.len() as u64)?;
        // SAFETY: source and destination have as many bytes: see `holds`.
        let result = unsafe { (self.functions.copy_in)(address, bytes.as_ptr().cast(), bytes.len()) };
        self.check("cuMemcpyHtoD", result)
    }

    /// Copies bytes from the GPU.
    ///
    /// # Errors
    /// The place is not allocated.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.usable()?;
        self.holds(address, bytes.len() as u64)?;
        // SAFETY: source and destination have as many bytes: see `holds`.
        let result = unsafe { (self.functions.copy_out)(bytes.as_mut_ptr().cast(), address, bytes.len()) };
        self.check("cuMemcpyDtoH", result)
    }

    /// Sets bytes on the GPU.
    ///
    /// # Errors
    /// The place is not allocated.
    pub fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Error> {
        self.usable()?;
        self.holds(address, bytes)?;
        // SAFETY: the destination has as many bytes: see `holds`.
        let result = unsafe { (self.functions.fill)(address, byte, bytes as usize) };
        self.check("cuMemsetD8", result)?;
        // SAFETY: the context is current.
        let result = unsafe { (self.functions.synchronize)() };
        self.check("cuCtxSynchronize", result)
    }

    /// Words of the host, zeros at first, that kernels reach at the address that comes back. A kernel that faults takes all
    /// memory of the GPU with it, but not these.
    ///
    /// # Errors
    /// The driver has none.
    pub fn mailbox(&mut self, words: usize) -> Result<u64, Error> {
        self.usable()?;
        if self.mailbox.is_none() {
            let mut place = ptr::null_mut();
            // SAFETY: the pointer is to a local of the type that the function writes.
            let result = unsafe { (self.functions.allocate_host)(&mut place, 4 * words, HOST_MAPPED) };
            self.check("cuMemHostAlloc", result)?;
            self.mailbox = Some((place, words));
        }
        let (place, words) = self.mailbox.unwrap_or((ptr::null_mut(), 0));
        for word in 0..words {
            // SAFETY: the place has so many words, page-aligned, and no kernel runs.
            unsafe { place.cast::<u32>().add(word).write_volatile(0) };
        }
        let mut address = 0;
        // SAFETY: the place was allocated as mapped memory.
        let result = unsafe { (self.functions.host_address)(&mut address, place, 0) };
        self.check("cuMemHostGetDevicePointer", result)?;
        Ok(address)
    }

    /// The words of the mailbox; also after a fault.
    pub fn mail(&self) -> Vec<u32> {
        let Some((place, words)) = self.mailbox else { return Vec::new() };
        // SAFETY: the place has so many words. A kernel that still runs may write them, hence the volatile reads.
        (0..words).map(|word| unsafe { place.cast::<u32>().add(word).read_volatile() }).collect()
    }
}
