//! A GPU: its memory, a module of kernels, launches with their time.

use crate::Error;
use crate::functions::{Functions, Handle};
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr;
use std::time::{Duration, Instant};

/// Results of the driver's functions.
const SUCCESS: c_int = 0;
const OUT_OF_MEMORY: c_int = 2;
const NOT_READY: c_int = 600;
/// Errors of a kernel that is running: illegal address, launch failed, assert, illegal instruction, misaligned address,
/// invalid address space, invalid pc; and a hardware stack error.
const FAULTS: [c_int; 8] = [700, 710, 714, 715, 716, 717, 718, 719];
/// The driver's own watchdog has ended a kernel.
const WATCHDOG: c_int = 702;

/// What the driver knows of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Attributes of a function, and options of the compiler, in `cuda.h`.
const FUNCTION_REGISTERS: c_int = 4;
const FUNCTION_SHARED_BYTES: c_int = 8;
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;
const LOG_BYTES: usize = 8192;
/// Memory of the host that the GPU reaches.
const HOST_MAPPED: c_uint = 2;
/// Marks of the list with the parameters of a launch.
const PARAMETERS: usize = 1;
const PARAMETERS_BYTES: usize = 2;

/// A kernel that reads zeros, past the L1.
pub const EVICT: &str = "\
.version 7.8
.target sm_80
.address_size 64

.visible .entry evict(
	.param .u64 p_address,
	.param .u64 p_bytes
)
{
	.reg .b32 %t<4>, %v<5>;
	.reg .b64 %d<5>;
	.reg .pred %q<2>;
	ld.param.u64 %d0, [p_address];
	cvta.to.global.u64 %d0, %d0;
	ld.param.u64 %d1, [p_bytes];
	mov.u32 %t0, %ctaid.x;
	mov.u32 %t1, %ntid.x;
	mov.u32 %t2, %tid.x;
	mad.lo.u32 %t0, %t0, %t1, %t2;
	mul.wide.u32 %d2, %t0, 16;
	mov.u32 %t3, %nctaid.x;
	mul.lo.u32 %t3, %t3, %t1;
	mul.wide.u32 %d3, %t3, 16;
	mov.b32 %v4, 0;
$again:
	setp.ge.u64 %q0, %d2, %d1;
	@%q0 bra $done;
	add.u64 %d4, %d0, %d2;
	ld.global.cg.v4.b32 {%v0, %v1, %v2, %v3}, [%d4];
	or.b32 %v4, %v4, %v0;
	or.b32 %v4, %v4, %v3;
	add.u64 %d2, %d2, %d3;
	bra $again;
$done:
	setp.ne.u32 %q1, %v4, 0;
	@%q1 st.global.b32 [%d0], %v4;
	ret;
}
";

/// A launch.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Name of the entry.
    pub entry: &'a str,
    /// CTAs, x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA, in one dimension.
    pub threads: u32,
    /// Dynamic shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// The parameters of the entry, one behind the other with the alignment of their types.
    pub parameters: &'a [u8],
    /// Time after which the kernel is given up.
    pub limit: Duration,
}

/// A GPU with a context, at most one module, and memory. What it has allocated goes back when it is dropped.
#[derive(Debug)]
pub struct Gpu {
    functions: Functions,
    device: c_int,
    context: Handle,
    events: [Handle; 2],
    module: Option<Handle>,
    /// The module of [`EVICT`].
    evictor: Option<Handle>,
    /// Start and bytes of what is allocated.
    allocated: Vec<(u64, u64)>,
    /// Words of the host that the GPU reaches.
    mailbox: Option<(*mut c_void, usize)>,
    properties: Properties,
    /// True once a kernel has not ended or has faulted.
    lost: bool,
}

impl Gpu {
    /// Opens the GPU with this number; the driver counts from 0.
    ///
    /// # Errors
    /// No driver, no such GPU, or one that cannot be used.
    pub fn open(number: u32) -> Result<Gpu, Error> {
        let functions = Functions::load()?;
        let of = |function, result| functions.check(function, result);
        // SAFETY: in all calls here, pointers are to locals that live through the call, of the types of `cuda.h`.
        unsafe {
            match (functions.init)(0) {
                // CUDA_ERROR_NO_DEVICE
                100 => return Err(Error::NoGpu),
                result => of("cuInit", result)?,
            }
            let (mut count, mut device, mut context) = (0, 0, ptr::null_mut());
            of("cuDeviceGetCount", (functions.device_count)(&mut count))?;
            let count = u32::try_from(count).unwrap_or(0);
            match count {
                0 => return Err(Error::NoGpu),
                count if number >= count => return Err(Error::NoSuchGpu { number, count }),
                _ => {}
            }
            of("cuDeviceGet", (functions.device)(&mut device, number as c_int))?;
            let properties = properties(&functions, device)?;
            of("cuDevicePrimaryCtxRetain", (functions.retain_context)(&mut context, device))?;
            let mut gpu = Gpu {
                functions,
                device,
                context,
                events: [ptr::null_mut(); 2],
                module: None,
                evictor: None,
                allocated: Vec::new(),
                mailbox: None,
                properties,
                lost: false,
            };
            gpu.check("cuCtxSetCurrent", (gpu.functions.set_context)(gpu.context))?;
            for event in 0..2 {
                let mut made = ptr::null_mut();
                gpu.check("cuEventCreate", (gpu.functions.create_event)(&mut made, 0))?;
                gpu.events[event] = made;
            }
            Ok(gpu)
        }
    }

    /// What the driver knows of it.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    fn check(&mut self, function: &'static str, result: c_int) -> Result<(), Error> {
        let checked = self.functions.check(function, result);
        self.lost |= FAULTS.contains(&result) || result == WATCHDOG;
        checked
    }

    /// An error if a kernel has not ended or has faulted: the driver would wait for ever, or refuse.
    fn usable(&self) -> Result<(), Error> {
        match self.lost {
            true => Err(Error::Fault { name: "an earlier kernel has not ended".to_owned() }),
            false => Ok(()),
        }
    }

    /// Compiles and loads PTX, in place of what was loaded before.
    ///
    /// # Errors
    /// The driver refuses it, with what its compiler says.
    pub fn load(&mut self, text: &str) -> Result<(), Error> {
        self.usable()?;
        if let Some(module) = self.module.take() {
            self.unload(module);
        }
        self.module = Some(self.compile(text)?);
        Ok(())
    }

    fn compile(&mut self, text: &str) -> Result<Handle, Error> {
        let text = CString::new(text).map_err(|_| Error::Refused { log: "it has a zero byte".to_owned() })?;
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        // The second value is a number in the place of a pointer.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut module = ptr::null_mut();
        // SAFETY: the text ends with a zero; options and values are two each; the log has as many bytes as they say. All of
        // them outlive the call.
        let result = unsafe {
            (self.functions.load_module)(
                &mut module,
                text.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let length = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..length]).into_owned();
        match result {
            SUCCESS => Ok(module),
            // Invalid image or PTX, or one that this driver is too old for.
            200 | 209 | 218 | 222 => {
                let name = self.functions.name(result);
                let log = if log.is_empty() { name } else { format!("{name}: {log}") };
                Err(Error::Refused { log })
            }
            result => self.check("cuModuleLoadDataEx", result).map(|()| module),
        }
    }

    fn unload(&mut self, module: Handle) {
        // SAFETY: the module was loaded, and whoever calls this has given it up; no kernel of it runs, as every launch is
        // waited for.
        _ = unsafe { (self.functions.unload_module)(module) };
    }

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
    fn holds(&self, address: u64, bytes: u64) -> Result<(), Error> {
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

    /// Reads bytes, all of them zeros. If they are more than the L2 holds, nothing else is in it then, and nothing that it
    /// would have to write back.
    ///
    /// # Errors
    /// The place is not allocated.
    pub fn evict(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        self.usable()?;
        self.holds(address, bytes)?;
        let module = match self.evictor {
            Some(module) => module,
            None => self.compile(EVICT)?,
        };
        self.evictor = Some(module);
        let parameters: Vec<u8> = [address, bytes].into_iter().flat_map(u64::to_le_bytes).collect();
        let call = Call {
            entry: "evict",
            grid: [4 * self.properties.multiprocessors.max(1), 1, 1],
            threads: 512,
            shared_bytes: 0,
            parameters: &parameters,
            limit: Duration::from_secs(10),
        };
        let function = self.function(module, call.entry)?;
        self.start(function, &call, &|| false).map(drop)
    }

    fn function(&mut self, module: Handle, entry: &str) -> Result<Handle, Error> {
        let none = |why: &str| Error::NoLaunch { why: format!("`{entry}`: {why}") };
        let name = CString::new(entry).map_err(|_| none("its name has a zero byte"))?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a zero.
        match unsafe { (self.functions.function)(&mut function, module, name.as_ptr()) } {
            // CUDA_ERROR_NOT_FOUND
            500 => Err(none("there is no such entry")),
            result => self.check("cuModuleGetFunction", result).map(|()| function),
        }
    }

    /// Registers of a thread, as the driver has compiled an entry.
    pub fn registers(&mut self, entry: &str) -> Option<u32> {
        let function = self.function(self.module?, entry).ok()?;
        let mut registers = 0;
        // SAFETY: the function belongs to the loaded module.
        let result =
            unsafe { (self.functions.function_attribute)(&mut registers, FUNCTION_REGISTERS, function) };
        (result == SUCCESS).then_some(registers.try_into().ok()?)
    }

    /// Runs a kernel to its end. Gives the milliseconds between an event before it and one behind it.
    ///
    /// # Errors
    /// The launch is refused, the kernel faults, it does not end within the limit, or `stop` says so. After the last three the
    /// GPU cannot be used any more.
    pub fn launch(&mut self, call: &Call<'_>, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
        self.usable()?;
        let none = Error::NoLaunch { why: "no module is loaded".to_owned() };
        let function = self.function(self.module.ok_or(none)?, call.entry)?;
        self.start(function, call, stop)
    }

    fn start(&mut self, function: Handle, call: &Call<'_>, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
        if call.shared_bytes > 48 << 10 {
            // SAFETY: the function belongs to the loaded module.
            let result = unsafe {
                (self.functions.set_function_attribute)(
                    function,
                    FUNCTION_SHARED_BYTES,
                    call.shared_bytes as c_int,
                )
            };
            self.check("cuFuncSetAttribute", result)?;
        }
        let mut parameters = call.parameters.to_vec();
        let mut bytes = parameters.len();
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(PARAMETERS),
            parameters.as_mut_ptr().cast(),
            ptr::without_provenance_mut(PARAMETERS_BYTES),
            ptr::from_mut(&mut bytes).cast(),
            ptr::null_mut(),
        ];
        let [x, y, z] = call.grid;
        let none: Handle = ptr::null_mut();
        // SAFETY: events and function are of this context; the list of parameters ends with null, and what it points to
        // outlives the call, which copies it. The kernel reaches memory only by the addresses in the parameters; what it
        // does outside of allocations is a fault of the GPU, not of this process.
        unsafe {
            self.check("cuEventRecord", (self.functions.record_event)(self.events[0], none))?;
            let result = (self.functions.launch)(
                function,
                x,
                y,
                z,
                call.threads,
                1,
                1,
                call.shared_bytes,
                none,
                ptr::null_mut(),
                extra.as_mut_ptr(),
            );
            match result {
                SUCCESS => {}
                // Invalid value, out of resources.
                1 | 701 => return Err(Error::NoLaunch { why: self.functions.words(result) }),
                result => self.check("cuLaunchKernel", result)?,
            }
            self.check("cuEventRecord", (self.functions.record_event)(self.events[1], none))?;
        }
        self.wait(call.limit, stop)?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are recorded and have happened.
        let result = unsafe { (self.functions.elapsed)(&mut milliseconds, self.events[0], self.events[1]) };
        self.check("cuEventElapsedTime", result)?;
        Ok(f64::from(milliseconds))
    }

    /// Waits for the second event.
    fn wait(&mut self, limit: Duration, stop: &dyn Fn() -> bool) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            // SAFETY: the event is of this context.
            match unsafe { (self.functions.query_event)(self.events[1]) } {
                NOT_READY => {}
                result => return self.check("the kernel", result),
            }
            let waited = start.elapsed();
            if waited > limit || stop() {
                self.lost = true;
                return Err(match waited > limit {
                    true => Error::TimedOut { seconds: limit.as_secs_f64() },
                    false => Error::Interrupted,
                });
            }
            // Short kernels are not slept past.
            std::thread::sleep(if waited.as_millis() < 5 {
                Duration::ZERO
            } else {
                Duration::from_micros(200)
            });
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // After a fault the driver refuses all of this, and it would wait for a kernel that does not end: the end of the process
        // frees everything then.
        if self.lost {
            return;
        }
        for module in [self.module.take(), self.evictor.take()].into_iter().flatten() {
            self.unload(module);
        }
        // SAFETY: each was made in this context, and is given back once; no kernel runs.
        unsafe {
            for (address, _) in std::mem::take(&mut self.allocated) {
                _ = (self.functions.free)(address);
            }
            if let Some((place, _)) = self.mailbox.take() {
                _ = (self.functions.free_host)(place);
            }
            for event in self.events.into_iter().filter(|event| !event.is_null()) {
                _ = (self.functions.destroy_event)(event);
            }
            _ = (self.functions.release_context)(self.device);
        }
    }
}

impl Functions {
    fn text(
        &self,
        of: unsafe extern "system" fn(c_int, *mut *const std::ffi::c_char) -> c_int,
        code: c_int,
    ) -> String {
        let mut text = ptr::null();
        // SAFETY: the driver writes null, or a pointer to a text of its own that ends with a zero and stays.
        unsafe {
            if of(code, &mut text) == SUCCESS && !text.is_null() {
                return CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
        format!("error {code}")
    }

    fn name(&self, code: c_int) -> String {
        self.text(self.error_name, code)
    }

    fn words(&self, code: c_int) -> String {
        self.text(self.error_string, code)
    }

    fn check(&self, function: &'static str, code: c_int) -> Result<(), Error> {
        match code {
            SUCCESS => Ok(()),
            WATCHDOG => Err(Error::Watchdog),
            code if FAULTS.contains(&code) => Err(Error::Fault { name: self.name(code) }),
            code => Err(Error::Failed { function, name: self.name(code), words: self.words(code) }),
        }
    }
}

fn properties(functions: &Functions, device: c_int) -> Result<Properties, Error> {
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
