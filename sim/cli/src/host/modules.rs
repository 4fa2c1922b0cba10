//! The modules of a program: PTX, whose kernels are compiled when the program first asks for them.

use super::fat_binary::Image;
use std::collections::HashMap;
use std::path::Path;
use wave_compile::c::CompileOptions;
use wave_compile::kernels::{Settings, program};
use wave_compile::ptx::{PtxOptions, PtxParameter};
use wave_compile::source::{Format, Source, SourceOptions};
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Output, Program};
use wave_machine::config::Config;
use wave_runtime::protocol::Failure;

/// The compute capability of the device, times 10, as `wave_runtime` reports it.
const CAPABILITY: u32 = 75;

/// The failure of a request: the code, and the messages.
pub(super) type Failed = (Failure, Vec<Diagnostic>);

/// A kernel, compiled.
#[derive(Debug)]
pub(super) struct Kernel {
    /// Its number in the program of all kernels.
    pub(super) number: usize,
    /// Its parameters, as the host hands over their values.
    pub(super) parameters: Vec<PtxParameter>,
    /// Where its threads leave what they print.
    pub(super) output: Output,
}

/// The PTX of one compilation unit.
#[derive(Debug)]
struct Unit {
    source: Source,
    kernels: Vec<String>,
}

/// A module.
#[derive(Debug)]
struct Module {
    name: String,
    units: Vec<Unit>,
    /// Kernels that were asked for, with the most registers that they may have.
    kernels: HashMap<(String, Option<u32>), Result<Kernel, Failed>>,
}

/// All modules of a program, and the program of the kernels that are compiled.
#[derive(Debug, Default)]
pub(super) struct Modules {
    modules: Vec<Module>,
    linked: Program,
    /// The remarks on the first kernel that has some.
    remarks: Vec<Diagnostic>,
}

/// A variable of a module with contents: address and bytes.
pub(super) type Contents = Vec<(u32, Vec<u8>)>;

impl Modules {
    /// The program of all kernels that are compiled.
    pub(super) fn program(&self) -> &Program {
        &self.linked
    }

    /// Remarks on kernels, once for all of them.
    pub(super) fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Loads the image of a module. `place` allocates device memory for its variables, whose contents are returned.
    ///
    /// # Errors
    /// The module has no PTX, or PTX that is wrong.
    pub(super) fn load(
        &mut self,
        name: &str,
        bytes: &[u8],
        place: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<(u32, Contents), Failed> {
        let wrong =
            |message: String| (Failure::InvalidCode, vec![Diagnostic::error(format!("{name}: {message}"))]);
        let image = Image::read(bytes, CAPABILITY).map_err(wrong)?;
        if image.ptx.is_empty() {
            let has = match image.architectures.first() {
                None => "it is empty".to_owned(),
                Some(0) => "it has code for one GPU only".to_owned(),
                Some(architecture) => format!("it has code for sm_{architecture} only"),
            };
            let message = format!("{name} has no PTX to run: {has}");
            let hint = "compile the program with PTX in it: nvcc -gencode arch=compute_75,code=compute_75";
            return Err((Failure::NoCode, vec![Diagnostic::error(message).hint(hint)]));
        }
        let mut units = Vec::new();
        let mut contents = Contents::new();
        for (number, (_, text)) in image.ptx.iter().enumerate() {
            let file =
                if image.ptx.len() == 1 { name.to_owned() } else { format!("{name}, part {}", number + 1) };
            let options = SourceOptions { format: Some(Format::Ptx), ..SourceOptions::default() };
            let unit = unit(Path::new(&file), text.as_bytes(), options, place)?;
            contents.extend(data(&unit.source));
            units.push(unit);
        }
        self.modules.push(Module { name: name.to_owned(), units, kernels: HashMap::new() });
        Ok((self.modules.len() as u32 - 1, contents))
    }

    /// Compiles a source and loads it. Returns also what the compiler says.
    ///
    /// # Errors
    /// The messages of the compiler.
    pub(super) fn compile(
        &mut self,
        (source, language): (&[u8], &str),
        flags: Vec<String>,
        place: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<(u32, Contents, String), Failed> {
        let unwritten = |error: std::io::Error| {
            let message = format!("the source of a program cannot be written for its compiler: {error}");
            (Failure::InvalidCode, vec![Diagnostic::error(message)])
        };
        let folder = TemporaryFolder::scratch().map_err(unwritten)?;
        let path = folder.path().join(format!("program.{language}"));
        std::fs::write(&path, source).map_err(unwritten)?;
        let options = SourceOptions {
            c: CompileOptions { flags, ..CompileOptions::default() },
            ..SourceOptions::default()
        };
        let unit = unit(&path, source, options, place)?;
        let log = unit.source.warnings.iter().map(|warning| warning.render(false)).collect();
        let contents = data(&unit.source);
        let name = format!("program {}", self.modules.len() + 1);
        self.modules.push(Module { name, units: vec![unit], kernels: HashMap::new() });
        Ok((self.modules.len() as u32 - 1, contents, log))
    }

    /// Names of the kernels of a module.
    pub(super) fn kernels(&self, module: u32) -> Vec<String> {
        let units = self.modules.get(module as usize).into_iter().flat_map(|module| &module.units);
        units.flat_map(|unit| unit.kernels.iter().cloned()).collect()
    }

    /// Address and bytes of a variable.
    pub(super) fn variable(&self, module: u32, name: &str) -> Option<(u64, u64)> {
        let units = &self.modules.get(module as usize)?.units;
        let mut all = units.iter().flat_map(|unit| unit.source.variables());
        all.find(|variable| variable.0 == name).map(|&(_, address, bytes)| (address.into(), bytes))
    }

    /// A kernel, which is compiled if it has not been, perhaps with fewer registers than it would like.
    ///
    /// # Errors
    /// There is none of this name, or what in it is not supported.
    pub(super) fn kernel(
        &mut self,
        (module, name): (u32, &str),
        registers: Option<u32>,
        config: &Config,
    ) -> Result<&Kernel, Failed> {
        let (linked, remarks) = (&mut self.linked, &mut self.remarks);
        let found = self.modules.get_mut(module as usize).ok_or((Failure::NotFound, Vec::new()))?;
        let Module { name: of, units, kernels } = found;
        let made = kernels.entry((name.to_owned(), registers)).or_insert_with(|| {
            let unit = units.iter().find(|unit| unit.kernels.iter().any(|kernel| kernel == name));
            let Some(unit) = unit else {
                let message = format!("{of} has no kernel `{name}`");
                return Err((Failure::NotFound, vec![Diagnostic::error(message)]));
            };
            let settings = Settings {
                names: vec![name.to_owned()],
                registers,
                f64_instructions: config.capabilities.f64,
                ..Settings::default()
            };
            let (program, warnings) =
                program(&unit.source, &settings).map_err(|wrong| (Failure::InvalidCode, wrong))?;
            if remarks.is_empty() {
                remarks.extend(warnings.into_iter().skip(unit.source.warnings.len()));
            }
            let parameters = unit.source.declared(name).unwrap_or_default().to_vec();
            let output = program.module.as_ref().map_or_else(Output::default, |module| module.output);
            Ok(Kernel { number: linked.append(&program), parameters, output })
        });
        made.as_ref().map_err(Clone::clone)
    }
}

/// Reads a module and gives its variables a place.
fn unit(
    path: &Path,
    bytes: &[u8],
    options: SourceOptions,
    place: &mut dyn FnMut(u64) -> Option<u64>,
) -> Result<Unit, Failed> {
    let read = |options: &SourceOptions| {
        let source = Source::read(path, bytes, options).map_err(|wrong| (Failure::InvalidCode, wrong))?;
        source.ok_or_else(|| {
            let message = format!("`{}` is no module in PTX", path.display());
            (Failure::InvalidCode, vec![Diagnostic::error(message)])
        })
    };
    // Where the variables lie is known once it is known how much they take.
    let mut source = read(&options)?;
    let first = PtxOptions::default().first_variable;
    let bytes = source.device_bytes().saturating_sub(first.into());
    if bytes > 0 {
        let full = || {
            let message = format!(
                "device memory has no room for the {bytes} bytes of variables of `{}`",
                path.display()
            );
            (
                Failure::OutOfMemory,
                vec![Diagnostic::error(message).hint("--device-memory BYTES gives the machine more")],
            )
        };
        let first_variable = place(bytes).and_then(|address| u32::try_from(address).ok()).ok_or_else(full)?;
        source = read(&SourceOptions { ptx: PtxOptions { first_variable }, ..options })?;
    }
    let kernels = source.kernel_names();
    Ok(Unit { source, kernels })
}

/// The contents of a module's variables at the start.
fn data(source: &Source) -> Contents {
    let segments = source.module.data.values();
    segments.filter_map(|data| Some((data.at_start?.1, data.bytes.clone()))).collect()
}
