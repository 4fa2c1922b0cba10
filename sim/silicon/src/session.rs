//! Launches on a device, with their times.

use crate::device::{Device, arch, diagnostic};
use std::collections::HashMap;
use std::time::Duration;
use wave_driver::{Call, Error};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_ptx::{
    FaultKind, MOST_THREADS, Memory, Options, WAVE_WIDTH, entry_name, parameters, times, translate,
};

/// Most CTAs in y and in z.
const MOST_CTAS: u32 = 65_535;
/// Words of the fault record.
const FAULT_WORDS: usize = wave_ptx::FAULT_RECORD_BYTES / 4;

/// Why something has not been measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The input, or the device, is wrong.
    Input(Vec<Diagnostic>),
    /// The kernel faulted.
    Fault(Diagnostic),
}

impl From<Diagnostic> for Failure {
    fn from(wrong: Diagnostic) -> Failure {
        Failure::Input(vec![wrong])
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(wrong: Vec<Diagnostic>) -> Failure {
        Failure::Input(wrong)
    }
}

impl Failure {
    /// Its messages.
    pub fn messages(self) -> Vec<Diagnostic> {
        match self {
            Failure::Input(wrong) => wrong,
            Failure::Fault(why) => vec![why],
        }
    }
}

/// How kernels are translated and launched.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The translation, but for its target.
    pub options: Options,
    /// Time that a launch has.
    pub limit: Duration,
    /// Nothing of the data is in the L2 when a run begins, as on the simulator.
    pub cold: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let options = Options { aligned: true, times: true, ..Options::default() };
        Settings { options, limit: Duration::from_secs(10), cold: true }
    }
}

/// How long a launch took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchTime {
    /// Cycles of the multiprocessor that was busy longest: from the first instruction of its first workgroup to the last of its
    /// last.
    pub cycles: f64,
    /// Nanoseconds from the first instruction to the last one, on the whole GPU. The clock goes in steps.
    pub nanoseconds: f64,
    /// Nanoseconds seen from the host: with the launch.
    pub host_nanoseconds: f64,
    /// Cycles and nanoseconds of the same multiprocessor, whose quotient is the clock.
    pub clock: [f64; 2],
    /// Multiprocessors that had a workgroup.
    pub multiprocessors: u32,
}

/// A device with memory for kernels.
pub struct Session<'d> {
    device: &'d mut dyn Device,
    settings: Settings,
    stop: &'d dyn Fn() -> bool,
    /// Address and bytes of device memory, times, and zeros that are read to empty the L2.
    memory: Option<(u64, u64)>,
    times: Option<(u64, u64)>,
    scratch: Option<(u64, u64)>,
}

impl<'d> Session<'d> {
    /// A session on a device; `stop` ends it. The target of the translation is that of the device.
    ///
    /// # Errors
    /// The device is too old.
    pub fn new(
        device: &'d mut dyn Device,
        settings: &Settings,
        stop: &'d dyn Fn() -> bool,
    ) -> Result<Session<'d>, Failure> {
        let arch = arch(device.properties())?;
        let settings = Settings { options: Options { arch, times: true, ..settings.options }, ..*settings };
        Ok(Session { device, settings, stop, memory: None, times: None, scratch: None })
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        self.device
    }

    /// Changes how the next kernels are translated, but for their target.
    pub fn translate_with(&mut self, options: Options) {
        self.settings.options = Options { arch: self.settings.options.arch, times: true, ..options };
    }

    /// How kernels are translated.
    pub fn options(&self) -> Options {
        self.settings.options
    }

    fn failed(&self, error: &Error) -> Failure {
        let wrong = diagnostic(error, self.settings.limit);
        if matches!(error, Error::Fault { .. }) { Failure::Fault(wrong) } else { wrong.into() }
    }

    /// Translates the kernels that some launches use, and loads them.
    ///
    /// # Errors
    /// What has no equivalent, or is refused.
    pub fn load(&mut self, program: &Program, launches: &[Launch]) -> Result<(), Failure> {
        let mut kernels: Vec<usize> = launches.iter().map(|launch| launch.kernel).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let threads = launches.iter().map(|launch| launch.threads()).max().unwrap_or(0);
        if threads > MOST_THREADS.into() {
            let message = format!("a workgroup has {threads} threads, and a CTA has at most {MOST_THREADS}");
            return Err(Diagnostic::error(message).hint("launch smaller workgroups").into());
        }
        let options = Options { threads: Some(threads as u32), ..self.settings.options };
        let text = translate(program, &kernels, &options)?;
        self.device.load(&text, program).map_err(|error| self.failed(&error))
    }

    /// Memory of at least so many bytes, in place of what is there.
    fn room(&mut self, has: Option<(u64, u64)>, bytes: u64) -> Result<(u64, u64), Failure> {
        match has {
            Some(has) if has.1 >= bytes => Ok(has),
            has => {
                if let Some((address, _)) = has {
                    self.device.free(address);
                }
                let address = self.device.allocate(bytes).map_err(|error| self.failed(&error))?;
                Ok((address, bytes))
            }
        }
    }

    /// Puts device memory into the state in which a run begins.
    ///
    /// # Errors
    /// There is not so much memory.
    pub fn begin(&mut self, contents: &[u8]) -> Result<(), Failure> {
        let bytes = contents.len() as u64;
        // A launch is told the exact size, and what lies behind it belongs to nothing.
        let has = self.memory.take();
        let (address, size) = self.room(has, bytes)?;
        self.memory = Some((address, size));
        self.device.write(address, contents).map_err(|error| self.failed(&error))?;
        if self.settings.cold {
            let wanted = 2 * u64::from(self.device.properties().l2_bytes).max(1 << 16);
            let scratch = match self.scratch {
                Some(scratch) => scratch,
                None => {
                    let scratch = self.room(None, wanted)?;
                    self.device.fill(scratch.0, 0, scratch.1).map_err(|error| self.failed(&error))?;
                    scratch
                }
            };
            self.scratch = Some(scratch);
            // Reading leaves nothing that the L2 would have to write back while a kernel is measured.
            self.device.evict(scratch.0, scratch.1).map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    /// True if the device cannot be used any more, after a fault or a kernel without end.
    pub fn is_lost(&mut self) -> bool {
        self.memory.is_some_and(|(address, _)| self.device.read(address, &mut []).is_err())
    }

    /// The first bytes of device memory.
    ///
    /// # Errors
    /// A launch before has failed.
    pub fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        let mut copy = vec![0; bytes];
        let (address, _) = self.memory.unwrap_or((0, 0));
        self.device.read(address, &mut copy).map_err(|error| self.failed(&error))?;
        Ok(copy)
    }

    /// Launches a kernel of what is loaded, on a device memory of so many bytes, and waits for it.
    ///
    /// # Errors
    /// The launch is refused, the kernel faults, or it does not end in time.
    pub fn launch(&mut self, program: &Program, launch: &Launch, bytes: u64) -> Result<LaunchTime, Failure> {
        let kernel = &program.kernels[launch.kernel];
        self.fits(launch)?;
        let blank = times::blank(launch);
        let has = self.times.take();
        let records = self.room(has, blank.len() as u64)?;
        self.times = Some(records);
        self.device.write(records.0, &blank).map_err(|error| self.failed(&error))?;
        let fault = match self.settings.options.check_bounds {
            true => self.device.mailbox(FAULT_WORDS).map_err(|error| self.failed(&error))?,
            false => 0,
        };
        let start = self.memory.map_or(0, |memory| memory.0);
        let memory = Memory { start, bytes, fault, times: Some(records.0) };
        let parameters = parameters(launch, kernel.registers, &memory);
        let entry = entry_name(&kernel.name);
        let call = Call {
            entry: &entry,
            grid: launch.grid,
            threads: (launch.threads() as u32).next_multiple_of(WAVE_WIDTH),
            shared_bytes: launch.local_memory_bytes,
            parameters: &parameters,
            limit: self.settings.limit,
        };
        let milliseconds = self.device.launch(&call, launch, self.stop).map_err(|error| {
            // Without checks, what is in the mailbox is that of an earlier launch.
            let leaves_record = fault != 0 && matches!(error, Error::Fault { .. });
            match leaves_record.then(|| fault_message(program, launch, &self.device.mail())).flatten() {
                Some(fault) => Failure::Fault(fault),
                None => self.failed(&error),
            }
        })?;
        let mut after = vec![0; blank.len()];
        self.device.read(records.0, &mut after).map_err(|error| self.failed(&error))?;
        time(&after, milliseconds).map_err(|why| {
            let message = format!("kernel `{}`: {why}", kernel.name);
            Diagnostic::error(message).hint("the figures of this GPU cannot be relied on").into()
        })
    }

    /// An error if no CTA of the device is like a workgroup of a launch.
    fn fits(&self, launch: &Launch) -> Result<(), Failure> {
        let properties = self.device.properties();
        let most = properties.cta_shared_bytes;
        let message = if launch.grid[1] > MOST_CTAS || launch.grid[2] > MOST_CTAS {
            format!(
                "the grid has {:?} workgroups, and CUDA has at most {MOST_CTAS} in y and in z",
                launch.grid
            )
        } else if launch.local_memory_bytes > most {
            format!(
                "a workgroup has {} bytes of local memory, and a CTA of `{}` has at most {most}",
                launch.local_memory_bytes, properties.name
            )
        } else if launch.threads() > properties.cta_threads.into() {
            format!(
                "a workgroup has {} threads, and a CTA of `{}` has at most {}",
                launch.threads(),
                properties.name,
                properties.cta_threads
            )
        } else {
            return Ok(());
        };
        Err(Diagnostic::error(message).hint("launch it in another shape").into())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        for (address, _) in [self.memory, self.times, self.scratch].into_iter().flatten() {
            self.device.free(address);
        }
    }
}

/// The time of a launch from the records of its workgroups.
///
/// # Errors
/// A workgroup has left none.
fn time(records: &[u8], milliseconds: f64) -> Result<LaunchTime, String> {
    let records = times::read(records);
    let all = records.len();
    let records: Vec<times::Times> = records.into_iter().flatten().collect();
    if records.len() < all || records.is_empty() {
        return Err(format!("{} of {all} workgroups have left no times", all - records.len()));
    }
    // The clocks of multiprocessors have nothing to do with one another.
    let mut spans: HashMap<u32, times::Times> = HashMap::new();
    for record in &records {
        let span = spans.entry(record.multiprocessor).or_insert(*record);
        for (span, record) in [(&mut span.clock, record.clock), (&mut span.nanoseconds, record.nanoseconds)] {
            *span = [span[0].min(record[0]), span[1].max(record[1])];
        }
    }
    let length = |[from, to]: [u64; 2]| (to - from) as f64;
    let longest = spans.values().max_by_key(|span| span.clock[1] - span.clock[0]).ok_or("no workgroup")?;
    let first = records.iter().map(|record| record.nanoseconds[0]).min().unwrap_or(0);
    let last = records.iter().map(|record| record.nanoseconds[1]).max().unwrap_or(0);
    Ok(LaunchTime {
        cycles: length(longest.clock),
        nanoseconds: length([first, last]),
        host_nanoseconds: milliseconds * 1e6,
        clock: [length(longest.clock), length(longest.nanoseconds)],
        multiprocessors: spans.len() as u32,
    })
}

/// The message about a fault that has left its record.
fn fault_message(program: &Program, launch: &Launch, record: &[u32]) -> Option<Diagnostic> {
    let &[2, kind, pc, x, y, z, wave, lanes, address] = record else { return None };
    let what = match kind {
        kind if kind == FaultKind::IllegalInstruction as u32 => "an illegal instruction".to_owned(),
        kind if kind == FaultKind::DeviceOutOfBounds as u32 => {
            format!("an access at device address {address:#x} is outside of its memory")
        }
        kind if kind == FaultKind::LocalOutOfBounds as u32 => {
            format!("an access at local address {address:#x} is outside of its memory")
        }
        kind if kind == FaultKind::MisalignedAtomic as u32 => {
            format!("an atomic at address {address:#x}, which is no multiple of 4")
        }
        _ => "a barrier that not all lanes reach".to_owned(),
    };
    let name = &program.kernels[launch.kernel].name;
    Some(Diagnostic::error(format!(
        "kernel `{name}` on the GPU: {what} (workgroup {x},{y},{z}, wave {wave}, lanes {lanes:#010x}, pc {pc:#x})"
    )))
}
