//! `wave-sim silicon`: kernels on a real GPU, and how close the simulator comes to it.

mod args;
mod correlate;
mod fit;
mod measure;
mod runs;

pub(crate) use args::{GpuArgs, SiliconArgs};
pub(crate) use runs::hardware;

use super::args::PtxSpecial;
use super::terminal::Terminal;
use super::{Ended, Exit, inputs, interrupt};
use args::{SiliconCommand, TranslationArgs};
use std::path::Path;
use std::time::Duration;
use wave_driver::Gpu;
use wave_files::read::DOCUMENT_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config;
use wave_observe::numbers::size;
use wave_ptx::{Options, SpecialFunctions};
use wave_silicon::device::{Device, diagnostic};
use wave_silicon::document::Document;
use wave_silicon::job::Repeats;
use wave_silicon::rehearsal::Rehearsal;
use wave_silicon::session::{Failure, Settings};

/// Runs a command of `wave-sim silicon`.
///
/// # Errors
/// Whatever is wrong with the input, or with the GPU.
pub(crate) fn run(args: &SiliconArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    match &args.command {
        None => runs::run(&args.run, terminal),
        Some(SiliconCommand::Measure(args)) => measure::run(args, terminal),
        Some(SiliconCommand::Fit(args)) => fit::run(args, terminal),
        Some(SiliconCommand::Correlate(args)) => correlate::run(args, terminal),
        Some(SiliconCommand::Info { gpu }) => info(gpu, terminal),
    }
}

/// Opens the GPU, or what stands for it.
fn open(args: &GpuArgs) -> Result<Box<dyn Device>, Vec<Diagnostic>> {
    match &args.rehearse {
        Some(name) => {
            let (config, _) = config::load_with_settings(name, &[])?;
            let rehearsal = Rehearsal::new(&config).map_err(|why| {
                vec![Diagnostic::error(format!("--rehearse: {why}")).hint("such as gpu.ron, or t4.ron")]
            })?;
            Ok(Box::new(rehearsal))
        }
        None => match Gpu::open(args.gpu) {
            Ok(gpu) => Ok(Box::new(gpu)),
            Err(error) => Err(vec![diagnostic(&error, limit(args))]),
        },
    }
}

fn limit(args: &GpuArgs) -> Duration {
    Duration::from_secs_f64(args.timeout)
}

fn repeats(args: &GpuArgs) -> Repeats {
    Repeats { warm_up: args.warm_up, measured: args.repeats }
}

/// How kernels are translated and launched.
fn settings(args: &GpuArgs, translation: &TranslationArgs) -> Settings {
    let options = Options {
        aligned: !translation.unaligned,
        check_bounds: translation.check_bounds,
        special: match translation.special {
            PtxSpecial::Exact => SpecialFunctions::Exact,
            PtxSpecial::Hardware => SpecialFunctions::Hardware,
        },
        ..Options::default()
    };
    Settings { options, limit: limit(args), cold: !args.warm }
}

/// A document for what is measured on a device.
fn document(device: &dyn Device) -> Document {
    Document::new(device.properties(), device.rehearses())
}

/// Reads a document.
fn read(file: &Path, flag: &str) -> Result<Document, Diagnostic> {
    let bytes = inputs::read(file, DOCUMENT_BYTES, flag)?;
    Document::read(&String::from_utf8_lossy(&bytes), &file.to_string_lossy())
}

/// A failure that ends the command. A fault of a kernel has an exit code of its own.
fn ended(failure: Failure, terminal: &Terminal) -> Ended {
    match failure {
        Failure::Input(wrong) => Err(wrong),
        Failure::Fault(why) => {
            terminal.diagnostics(&[why]);
            Ok(Exit::Fault)
        }
    }
}

/// `wave-sim silicon info`.
fn info(args: &GpuArgs, terminal: &Terminal) -> Ended {
    let device = open(args)?;
    let document = document(device.as_ref());
    let gpu = &document.gpu.properties;
    let rows = [
        ("GPU", document.heading()),
        ("compute capability", format!("{}.{}", gpu.capability.0, gpu.capability.1)),
        ("driver", format!("CUDA {}.{}", gpu.driver / 1000, gpu.driver % 1000 / 10)),
        ("multiprocessors", format!("{} at up to {} MHz", gpu.multiprocessors, gpu.clock_khz / 1000)),
        (
            "memory",
            format!(
                "{}, {} bits at up to {} MHz, {:.0} GB/s",
                size(gpu.memory_bytes),
                gpu.bus_bits,
                gpu.memory_clock_khz / 1000,
                2.0 * f64::from(gpu.memory_clock_khz) * f64::from(gpu.bus_bits) / 8e6
            ),
        ),
        ("L2", size(gpu.l2_bytes.into())),
        ("registers", format!("{} of a multiprocessor", gpu.registers)),
        ("shared memory", format!("{} of a multiprocessor", size(gpu.shared_bytes.into()))),
        ("threads", format!("{} of a multiprocessor, {} of a CTA", gpu.threads, gpu.cta_threads)),
        ("CTAs", format!("{} of a multiprocessor", gpu.ctas)),
    ];
    let text: String = rows.iter().map(|(name, value)| format!("{name:18}  {value}\n")).collect();
    terminal.out(&text)
}
