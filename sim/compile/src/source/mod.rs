//! Files in other formats than WAVE: which format a file has, and the module in it.

mod foreign;
mod format;

pub use foreign::refusal;
pub use format::Format;

use crate::c::{self, CompileOptions, PtxLanguage};
use crate::encoding::{self, Listing, is_code};
use crate::ir::{FunctionId, Module, Place, Space, text, verify::verify};
use crate::pica::{self, PicaOptions};
use crate::ptx::{self, PtxKernel, PtxOptions, PtxParameter};
use crate::rwasm::{self, RwasmOptions};
use crate::shader::{self, ShaderKernel, ShaderOptions};
use crate::wasm::{self, ExportedKernel, SourceMap, UnknownImports};
use crate::wasm2015;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use wave_files::read::PROGRAM_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Binding, not_text, read_file};

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct SourceOptions {
    /// Its format, if the file is not to tell.
    pub format: Option<Format>,
    /// What becomes of functions that a module in WebAssembly imports and nobody provides.
    pub unknown_imports: UnknownImports,
    /// How rWasm is decoded.
    pub rwasm: RwasmOptions,
    /// How PICA200 shaders are decoded.
    pub pica: PicaOptions,
    /// The file is words of PICA200 code: where its descriptors are, and the word that it begins with.
    pub pica_code: Option<PicaCode>,
    /// How shaders in WGSL and SPIR-V are compiled.
    pub shader: ShaderOptions,
    /// How C and C++ are compiled.
    pub c: CompileOptions,
    /// How PTX is decoded, also where it was compiled of a source.
    pub ptx: PtxOptions,
}

/// What words of PICA200 code need beside themselves.
#[derive(Debug, Clone)]
pub struct PicaCode {
    /// A file with the words of the descriptors.
    pub descriptors: PathBuf,
    /// The word that the shader begins with.
    pub entry: u32,
}

/// A module from a file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, as the user gave it.
    pub file: String,
    /// What it holds; the verifier has accepted it.
    pub module: Module,
    /// True if it imports from the module `wave`: it is made to run as a kernel.
    pub is_kernel: bool,
    /// True if functions take and give cells of 64 bits that hold values of any type: the encoding has no types.
    pub has_cells: bool,
    /// What a compiler that was called on the way warns of.
    pub warnings: Vec<Diagnostic>,
    /// Lines of the source.
    lines: SourceMap,
    /// The text of the source, where it is no file.
    text: Option<String>,
    /// The module in its own assembly, where that is what users read.
    listing: Option<Listing>,
    /// Names of the parameters of functions, where the encoding has them.
    parameters: HashMap<FunctionId, Vec<String>>,
    /// Compute entry points, if it is a shader.
    shader: Vec<ShaderKernel>,
    /// Entries, if it is PTX.
    ptx: Vec<PtxKernel>,
    /// Variables in device memory, if it is PTX: name, address, bytes.
    variables: Vec<(String, u32, u64)>,
    /// Kernels that are not taken, and why.
    refused: Vec<(String, Diagnostic)>,
}

impl Source {
    /// Reads a module; `None` if the file is a WAVE program.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn read(
        path: &Path,
        bytes: &[u8],
        options: &SourceOptions,
    ) -> Result<Option<Source>, Vec<Diagnostic>> {
        let file = path.display().to_string();
        let unknown = options.unknown_imports;
        let as_text =
            || std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to(), &file));
        let format = options.format.unwrap_or_else(|| Format::of(path, bytes));
        // Assembly is what a text is whose name says nothing: the name of another language says something.
        if options.format.is_none()
            && format == Format::Wave
            && let Some(refusal) = foreign::refusal(path)
        {
            return Err(vec![refusal]);
        }
        if !format.has_compiler()
            && let Some(flag) = options.c.flags.first()
        {
            let message = format!(
                "`{flag}` is for kernels in C, CUDA and OpenCL, and `{file}` is {}",
                format.description()
            );
            return Err(vec![
                Diagnostic::error(message).hint("flags after `--` go to clang; others stand before it"),
            ]);
        }
        if format != Format::Cu
            && let Some(nvcc) = &options.c.nvcc
        {
            let message =
                format!("`{}` compiles CUDA C++, and `{file}` is {}", nvcc.display(), format.description());
            return Err(vec![Diagnostic::error(message).hint("leave --cuda-compiler out")]);
        }
        let compiled = |language| {
            let built = c::compile_to_ptx(path, language, &options.c)?;
            let source = Source::of_ptx(file.clone(), ptx::decode_compiled(&built.ptx, &file, options.ptx)?)?;
            Ok(Source { warnings: built.warnings, ..source })
        };
        let source = match format {
            Format::Wave | Format::Wbin => return Ok(None),
            Format::Wasm if wasm::is_binary(bytes) => Source::of_wasm(file, bytes, unknown),
            Format::Wasm => Err(Diagnostic::error(format!(
                "`{file}` is not WebAssembly: it does not begin with the bytes 00 61 73 6d"
            ))
            .hint("its text form has the extension .wat")),
            Format::Wat => as_text()
                .and_then(|text| wasm::encode(&file, text))
                .and_then(|bytes| Source::of_wasm(file, &bytes, unknown)),
            Format::C => c::compile(path, &options.c).and_then(|built| {
                let source = Source::of_wasm(file, &built.wasm, unknown)?;
                Ok(Source { is_kernel: true, warnings: built.warnings, ..source })
            }),
            Format::Wasm2015 => Source::of_wasm2015(file, bytes),
            Format::Rwasm => Source::of_rwasm(file, bytes, options),
            Format::Pica => {
                let text = as_text().map_err(|error| vec![error])?;
                let decoded = pica::decode_text(text, &file, &options.pica)?;
                Source::of_pica(file, decoded)
            }
            Format::Shbin => Source::of_shbin(file, bytes, options),
            Format::Wgsl => as_text().and_then(|text| {
                let decoded = shader::decode_wgsl(text, &file, &options.shader)?;
                Source::of_shader(file.clone(), decoded)
            }),
            Format::Spv => {
                let decoded =
                    shader::decode_spirv(bytes, &file, &options.shader).map_err(|error| vec![error])?;
                Source::of_shader(file, decoded)
            }
            Format::Ptx => as_text()
                .and_then(|text| Source::of_ptx(file.clone(), ptx::decode(text, &file, options.ptx)?)),
            Format::Cu => compiled(PtxLanguage::Cuda),
            Format::Cl => compiled(PtxLanguage::OpenCl),
            Format::Ir => as_text()
                .and_then(|text| text::parse(text, &file))
                .and_then(|module| Source { is_kernel: true, ..Source::new(file, module) }.verified()),
        };
        source.map(Some).map_err(|error| vec![error])
    }

    fn of_wasm(file: String, bytes: &[u8], unknown: UnknownImports) -> Result<Source, Diagnostic> {
        let decoded = wasm::decode_with(bytes, unknown).map_err(|error| error.diagnostic(&file))?;
        let (is_kernel, lines) = (decoded.is_kernel, decoded.source);
        Source { is_kernel, lines, ..Source::new(file, decoded.module) }.verified()
    }

    fn of_wasm2015(file: String, bytes: &[u8]) -> Result<Source, Diagnostic> {
        let decoded =
            wasm2015::decode(bytes).map_err(|error| read_as(&file, "WebAssembly of 2015", &error))?;
        let listed = Source::listed(file, decoded.module, decoded.listing);
        Source { is_kernel: decoded.is_kernel, ..listed }.verified()
    }

    fn of_rwasm(file: String, bytes: &[u8], options: &SourceOptions) -> Result<Source, Diagnostic> {
        let decoded =
            rwasm::decode(bytes, &options.rwasm).map_err(|error| read_as(&file, "rWasm", &error))?;
        Source { has_cells: true, ..Source::listed(file, decoded.module, decoded.listing) }.verified()
    }

    /// Words of code, or a container.
    fn of_shbin(file: String, bytes: &[u8], options: &SourceOptions) -> Result<Source, Diagnostic> {
        let decoded = match &options.pica_code {
            None => pica::decode(bytes, &options.pica),
            Some(code) => {
                let descriptors = read_file(&code.descriptors).map_err(|mut errors| errors.remove(0))?;
                let [words, descriptors] =
                    [(bytes, &file), (&descriptors, &code.descriptors.display().to_string())]
                        .map(|(bytes, file)| words(bytes, file));
                pica::decode_code(&words?, &descriptors?, code.entry, &options.pica)
            }
        };
        Source::of_pica(file.clone(), decoded.map_err(|error| read_as(&file, "PICA200", &error))?)
    }

    fn of_pica(file: String, decoded: pica::Decoded) -> Result<Source, Diagnostic> {
        let parameters =
            decoded.kernels.into_iter().map(|kernel| (kernel.function, kernel.parameters)).collect();
        let listed = Source::listed(file, decoded.module, decoded.listing);
        Source { is_kernel: true, parameters, ..listed }.verified()
    }

    fn of_shader(file: String, decoded: shader::Decoded) -> Result<Source, Diagnostic> {
        let parameters = |kernel: &ShaderKernel| (kernel.kernel.function, kernel.parameters.clone());
        let parameters = decoded.kernels.iter().map(parameters).collect();
        let source = Source::new(file, decoded.module);
        let listing = decoded.listing;
        Source { is_kernel: true, parameters, listing, shader: decoded.kernels, ..source }.verified()
    }

    fn of_ptx(file: String, decoded: ptx::Decoded) -> Result<Source, Diagnostic> {
        let parameters = |kernel: &PtxKernel| (kernel.kernel.function, kernel.parameters.clone());
        let parameters = decoded.kernels.iter().map(parameters).collect();
        let source = Source::new(file, decoded.module);
        // Lines of the source where it is there, those of the PTX otherwise.
        let is_there = decoded.lines.files().iter().any(|file| source.found(file).is_some());
        let listing = decoded.listing.filter(|_| !is_there);
        let (ptx, refused, lines) = (decoded.kernels, decoded.refused, decoded.lines);
        let variables = decoded.variables;
        Source { is_kernel: true, parameters, ptx, variables, refused, lines, listing, ..source }.verified()
    }

    /// The end of what the module has in device memory, bytes.
    pub fn device_bytes(&self) -> u64 {
        let memories = self.module.memories.values().filter(|memory| memory.space == Space::Device);
        memories.map(|memory| memory.bytes()).max().unwrap_or(0)
    }

    /// The variables of PTX in device memory: name, address, bytes.
    pub fn variables(&self) -> &[(String, u32, u64)] {
        &self.variables
    }

    /// The parameters of a kernel in PTX, as hosts hand over their values.
    pub fn declared(&self, kernel: &str) -> Option<&[PtxParameter]> {
        let found = self.ptx.iter().find(|one| one.kernel.name == kernel);
        found.map(|one| one.declared.as_slice())
    }

    /// Names of the kernels, also of those that are not taken.
    pub fn kernel_names(&self) -> Vec<String> {
        let refused = self.refused.iter().map(|(name, _)| name.clone());
        self.kernels().into_iter().map(|kernel| kernel.name).chain(refused).collect()
    }

    /// Kernels that are not taken, and why.
    pub(crate) fn refused(&self) -> &[(String, Diagnostic)] {
        &self.refused
    }

    /// True if a kernel is right with waves of [`ptx::WARP_THREADS`] lanes only.
    pub(crate) fn needs_warps(&self, function: FunctionId) -> bool {
        self.ptx.iter().any(|kernel| kernel.kernel.function == function && kernel.needs_warps)
    }

    /// True if a kernel multiplies matrices by the arithmetic of its lanes, where PTX has a tensor unit.
    pub(crate) fn multiplies_matrices(&self, function: FunctionId) -> bool {
        self.ptx.iter().any(|kernel| kernel.kernel.function == function && kernel.multiplies_matrices)
    }

    /// True if it came as PTX, whose compilers have unrolled loops.
    pub(crate) fn is_ptx(&self) -> bool {
        !self.ptx.is_empty()
    }

    /// The kernels that the module exports, and what they state.
    pub(crate) fn kernels(&self) -> Vec<ExportedKernel> {
        match (self.shader.as_slice(), self.ptx.as_slice()) {
            ([], []) if self.refused.is_empty() => wasm::kernels(&self.module),
            ([], entries) => entries.iter().map(|kernel| kernel.kernel.clone()).collect(),
            (of_shader, _) => of_shader.iter().map(|kernel| kernel.kernel.clone()).collect(),
        }
    }

    /// The buffers that a kernel of a shader accesses.
    pub(crate) fn bindings(&self, function: FunctionId) -> &[Binding] {
        let kernel = self.shader.iter().find(|kernel| kernel.kernel.function == function);
        kernel.map_or(&[], |kernel| &kernel.bindings)
    }

    /// The name of a parameter of a function.
    pub(crate) fn parameter(&self, function: FunctionId, number: usize) -> Option<&str> {
        self.parameters.get(&function)?.get(number).map(String::as_str)
    }

    fn new(file: String, module: Module) -> Source {
        Source {
            file,
            module,
            is_kernel: false,
            has_cells: false,
            warnings: Vec::new(),
            lines: SourceMap::default(),
            text: None,
            listing: None,
            parameters: HashMap::new(),
            shader: Vec::new(),
            ptx: Vec::new(),
            variables: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn listed(file: String, module: Module, listing: Listing) -> Source {
        Source { listing: Some(listing), ..Source::new(file, module) }
    }

    /// A module in WebAssembly that was compiled of a text before. `file` names the text.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn embedded(file: &str, wasm: &[u8], text: &str) -> Result<Source, Diagnostic> {
        let source = Source::of_wasm(file.to_owned(), wasm, UnknownImports::Refused)?;
        Ok(Source { is_kernel: true, text: Some(text.to_owned()), ..source })
    }

    fn verified(self) -> Result<Source, Diagnostic> {
        match verify(&self.module) {
            Ok(()) => Ok(self),
            Err(error) => Err(Diagnostic::error(format!("{}: {error}", self.file))),
        }
    }

    /// The text in which most of these places are, and the line of each; 0 for a place in no line of it. Code of a
    /// function of another file, such as a header, has the line of the call that it was inlined for. `None` if no
    /// text is known, or none can be read.
    pub fn lines(&self, places: &[Place]) -> Option<wave_isa::program::SourceMap> {
        if let Some(listing) = &self.listing {
            let lines = places.iter().map(|&place| listing.line(place).unwrap_or(0)).collect();
            return Some(wave_isa::program::SourceMap {
                file: self.file.clone(),
                text: listing.text().to_owned(),
                lines,
            });
        }
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for &place in places {
            let mut files: Vec<&str> = self.lines.lines(place).map(|line| line.file).collect();
            files.sort_unstable();
            files.dedup();
            files.into_iter().for_each(|file| *counts.entry(file).or_default() += 1);
        }
        let mut files: Vec<(&str, usize)> = counts.into_iter().collect();
        files.sort_by_key(|&(file, count)| (std::cmp::Reverse(count), file));
        let (file, path, text) = files.into_iter().find_map(|(file, _)| {
            if let Some(text) = self.text.as_ref().filter(|_| file == self.file) {
                return Some((file, PathBuf::from(file), text.clone()));
            }
            let path = self.found(file)?;
            let text = wave_files::read::regular_text(&path, PROGRAM_BYTES).ok()?;
            Some((file, path, text))
        })?;
        let line = |&place: &Place| self.lines.line_in(place, file).map_or(0, |line| line.line);
        let lines = places.iter().map(line).collect();
        Some(wave_isa::program::SourceMap { file: path.display().to_string(), text, lines })
    }

    /// A file of the debugging information: there, or beside the module, under its name.
    fn found(&self, file: &str) -> Option<PathBuf> {
        let name = Path::new(file);
        let beside = Path::new(&self.file).parent()?.join(name.file_name()?);
        is_code(name).then_some([name.to_owned(), beside])?.into_iter().find(|path| path.is_file())
    }

    /// The file and line of a place, for messages. A line of the module in its own assembly comes with its text.
    pub fn line(&self, place: Place) -> Option<String> {
        if let Some(listing) = &self.listing {
            let line = listing.line(place)?;
            let text = listing.text().lines().nth(line as usize - 1)?;
            return Some(format!("{}:{line} ({})", self.file, text.trim()));
        }
        self.lines.line(place).map(|line| format!("{}:{}", line.file, line.line))
    }
}

/// The words of 32 bits that a file holds, low bytes first.
fn words(bytes: &[u8], file: &str) -> Result<Vec<u32>, Diagnostic> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || words.is_empty() {
        let message =
            format!("`{file}` has {} bytes, which are no words of PICA200: they have 4 bytes", bytes.len());
        return Err(Diagnostic::error(message));
    }
    Ok(words.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

/// The message about a file in a format that it may not be in.
fn read_as(file: &str, format: &str, error: &encoding::Error) -> Diagnostic {
    error.diagnostic(&format!("{file}, read as {format}"))
}
