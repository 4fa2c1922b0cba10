//! A GPU: a module of kernels, and launches with their time.

use crate::functions::{FAULTS, Functions, Handle, NOT_READY, SUCCESS, WATCHDOG};
use crate::{Error, Properties};
use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;
use std::time::{Duration, Instant};

/// Attributes of a function, and options of the compiler, in `cuda.h`.
const FUNCTION_REGISTERS: c_int = 4;
const FUNCTION_SHARED_BYTES: c_int = 8;
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;
const LOG_BYTES: usize = 8192;
/// Marks of the list with the parameters of a launch.
const PARAMETERS: usize = 1;
const PARAMETERS_BYTES: usize = 2;

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
    pub(crate) functions: Functions,
    device: c_int,
    context: Handle,
    events: [Handle; 2],
    module: Option<Handle>,
    /// The module of [`EVICT`](crate::EVICT).
    pub(crate) evictor: Option<Handle>,
    /// Start and bytes of what is allocated.
    pub(crate) allocated: Vec<(u64, u64)>,
    /// Words of the host that the GPU reaches.
    pub(crate) mailbox: Option<(*mut c_void, usize)>,
    pub(crate) properties: Properties,
    /// True once a kernel has not ended or has faulted.
    pub(crate) lost: bool,
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
            let properties = Properties::of(&functions, device)?;
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

    pub(crate) fn check(&mut self, function: &'static str, result: c_int) -> Result<(), Error> {
        let checked = self.functions.check(function, result);
        self.lost |= FAULTS.contains(&result) || result == WATCHDOG;
        checked
    }

    /// An error if a kernel has not ended or has faulted: the driver would wait for ever, or refuse.
    pub(crate) fn usable(&self) -> Result<(), Error> {
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

    pub(crate) fn compile(&mut self, text: &str) -> Result<Handle, Error> {
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

    pub(crate) fn function(&mut self, module: Handle, entry: &str) -> Result<Handle, Error> {
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

    pub(crate) fn start(
        &mut self,
        function: Handle,
        call: &Call<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<f64, Error> {
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
