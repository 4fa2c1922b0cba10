//! Pointers that programs in C hand over. All unsafe code of this crate is here.
//!
//! The functions of CUDA and OpenCL trust their callers: a pointer is null or valid for what the documentation of the
//! function says. So do these types, which are pointers in the signatures of exported functions.

use std::ffi::{CStr, c_char, c_int, c_void};

/// Where a function puts a result.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// No place.
    pub(crate) fn none() -> Out<T> {
        Out(std::ptr::null_mut())
    }

    /// A place of a test.
    #[cfg(test)]
    pub(crate) fn to(place: &mut T) -> Out<T> {
        Out(place)
    }

    /// The place at an address.
    pub(crate) fn at(address: Address) -> Out<T> {
        Out(address.0 as *mut T)
    }

    /// True if there is a place.
    pub(crate) fn exists(self) -> bool {
        !self.0.is_null()
    }

    /// Puts the result there; false if there is no place.
    pub(crate) fn set(self, value: T) -> bool {
        if self.0.is_null() {
            return false;
        }
        // SAFETY: the caller of the exported function gives a valid place for a T, or null. It may not be aligned.
        unsafe { self.0.write_unaligned(value) };
        true
    }

    /// Puts the results there, one after the other.
    pub(crate) fn set_all(self, values: impl IntoIterator<Item = T>) -> bool {
        if self.0.is_null() {
            return false;
        }
        for (number, value) in values.into_iter().enumerate() {
            // SAFETY: as in `set`; the caller says how many there is room for.
            unsafe { self.0.add(number).write_unaligned(value) };
        }
        true
    }
}

/// A value, or several, that the caller has.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// No value.
    pub(crate) fn none() -> In<T> {
        In(std::ptr::null())
    }

    /// True if there is a value.
    pub(crate) fn exists(self) -> bool {
        !self.0.is_null()
    }

    /// The value; `None` if there is none.
    pub(crate) fn get(self) -> Option<T> {
        self.nth(0)
    }

    /// One of several values.
    pub(crate) fn nth(self, number: usize) -> Option<T> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the caller of the exported function gives valid values, as many as it says, or null.
        Some(unsafe { self.0.add(number).read_unaligned() })
    }

    /// The values at an address.
    pub(crate) fn at(address: Address) -> In<T> {
        In(address.0 as *const T)
    }
}

/// A text that ends with a zero.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// The text; `None` if there is none.
    pub(crate) fn read(self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the caller of the exported function gives a text that ends with a zero, or null.
        Some(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// An address in the process, or of device memory.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address(pub(crate) usize);

impl Address {
    /// As a number.
    pub(crate) fn value(self) -> u64 {
        self.0 as u64
    }

    /// The address so many bytes on.
    pub(crate) fn plus(self, bytes: usize) -> Address {
        Address(self.0.wrapping_add(bytes))
    }

    /// The bytes there.
    pub(crate) fn bytes<'a>(self, count: usize) -> &'a [u8] {
        if count == 0 || self.0 == 0 {
            return &[];
        }
        // SAFETY: the caller of the exported function gives so many bytes that it does not write meanwhile.
        unsafe { std::slice::from_raw_parts(self.0 as *const u8, count) }
    }

    /// The bytes there, to be written.
    pub(crate) fn bytes_mut<'a>(self, count: usize) -> &'a mut [u8] {
        if count == 0 || self.0 == 0 {
            return &mut [];
        }
        // SAFETY: the caller of the exported function gives so many bytes that it does not use meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.0 as *mut u8, count) }
    }

    /// The text there, up to its zero.
    pub(crate) fn text(self) -> Option<String> {
        Text(self.0 as *const c_char).read()
    }
}

/// A function without a result that takes one pointer.
pub(crate) type Callback = Option<unsafe extern "C" fn(*mut c_void)>;

/// Calls a function that the program has given.
pub(crate) fn call_back(function: Callback, argument: Address) {
    if let Some(function) = function {
        // SAFETY: the program gives a function that takes this argument.
        unsafe { function(argument.0 as *mut c_void) }
    }
}

/// A function that is told of a stream, an error code and an argument.
pub(crate) type StreamCallback = Option<unsafe extern "C" fn(Address, c_int, Address)>;

/// Calls a function that waits for a stream, which has no error.
pub(crate) fn call_stream_back(function: StreamCallback, stream: Address, argument: Address) {
    if let Some(function) = function {
        // SAFETY: the program gives a function that takes these arguments.
        unsafe { function(stream, 0, argument) }
    }
}

/// A function that is told of an object and an argument.
pub(crate) type ObjectCallback = Option<unsafe extern "C" fn(Address, Address)>;

/// Calls a function that waits for something to happen to an object.
pub(crate) fn call_object_back(function: ObjectCallback, object: Address, argument: Address) {
    if let Some(function) = function {
        // SAFETY: the program gives a function that takes these arguments.
        unsafe { function(object, argument) }
    }
}

/// Calls a function that waits for a status of an event.
pub(crate) fn call_event_back(function: StreamCallback, event: Address, status: i32, argument: Address) {
    if let Some(function) = function {
        // SAFETY: the program gives a function that takes these arguments.
        unsafe { function(event, status, argument) }
    }
}

/// The address of an exported function, for programs that call it through a pointer.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function(pub(crate) *const ());

// SAFETY: the address of a function is only read, and functions stay where they are.
unsafe impl Sync for Function {}

impl Function {
    /// As a pointer of the program.
    pub(crate) fn address(self) -> Address {
        Address(self.0 as usize)
    }
}

/// Memory of the process for the program, which begins with zeros and is freed with this value.
#[derive(Debug)]
pub(crate) struct HostMemory {
    at: usize,
    layout: std::alloc::Layout,
}

impl HostMemory {
    /// The alignment of the largest vector of OpenCL.
    const ALIGNMENT: usize = 128;

    /// Takes memory; `None` if there is not so much.
    pub(crate) fn new(bytes: usize) -> Option<HostMemory> {
        let layout = std::alloc::Layout::from_size_align(bytes.max(1), HostMemory::ALIGNMENT).ok()?;
        // SAFETY: the layout has a size other than 0.
        let at = unsafe { std::alloc::alloc_zeroed(layout) } as usize;
        (at != 0).then_some(HostMemory { at, layout })
    }

    /// Where it begins.
    pub(crate) fn address(&self) -> Address {
        Address(self.at)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: `new` has taken this memory with this layout.
        unsafe { std::alloc::dealloc(self.at as *mut u8, self.layout) };
    }
}

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        at: i64,
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, bytes: usize) -> c_int;
    static stdout: *mut c_void;
    fn fwrite(from: *const c_void, bytes: usize, count: usize, file: *mut c_void) -> usize;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Takes memory of the process at an address where nothing is yet; false if something is.
pub(crate) fn map_at(address: u64, bytes: usize) -> bool {
    const READ_WRITE: c_int = 3;
    const PRIVATE_ANONYMOUS_AT_FREE: c_int = 0x2 | 0x20 | 0x10_0000;
    let wanted = address as usize as *mut c_void;
    // SAFETY: with MAP_FIXED_NOREPLACE the mapping replaces nothing that is there.
    let got = unsafe { mmap(wanted, bytes, READ_WRITE, PRIVATE_ANONYMOUS_AT_FREE, -1, 0) };
    if got == wanted {
        return true;
    }
    if got as usize != usize::MAX {
        // SAFETY: an old kernel has put the mapping somewhere else, where nothing uses it.
        unsafe { munmap(got, bytes) };
    }
    false
}

/// Gives memory back that [`map_at`] has taken.
pub(crate) fn unmap(address: u64, bytes: usize) {
    // SAFETY: the mapping was made by `map_at`, and the program has given it back.
    unsafe { munmap(address as usize as *mut c_void, bytes) };
}

/// Prints a text where the program prints, in order with what it prints.
pub(crate) fn print(text: &str) {
    if !text.is_empty() {
        // SAFETY: the text has so many bytes, and C's library has opened its standard output.
        unsafe { fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
    }
}

/// The address of a function of this library, by the name under which programs call it.
pub(crate) fn function(name: &str) -> Option<Address> {
    const LAZY_AND_LOADED_ALREADY: c_int = 1 | 4;
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: both texts end with a zero; the library is loaded, because this is its code, and stays.
    let found = unsafe {
        let library = dlopen(c"libwave_runtime.so".as_ptr(), LAZY_AND_LOADED_ALREADY);
        if library.is_null() { std::ptr::null_mut() } else { dlsym(library, name.as_ptr()) }
    };
    (!found.is_null()).then_some(Address(found as usize))
}

/// `wave_missing` is what the library calls for functions of CUDA and OpenCL that it names but does not have.
#[unsafe(export_name = "wave_missing")]
extern "C" fn missing(name: Text) -> c_int {
    let name = name.read().unwrap_or_default();
    crate::connection::note(&format!("{name} is not available in the simulator, and returns an error"));
    const NOT_SUPPORTED: c_int = 801;
    NOT_SUPPORTED
}
