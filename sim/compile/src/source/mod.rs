//! Files in other formats than WAVE: which format a file has, and the module in it.

mod format;

pub use format::Format;

use crate::c::{self, CompileOptions};
use crate::ir::{Module, Place, text, verify::verify};
use crate::wasm::{self, SourceMap};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::not_text;

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct SourceOptions {
    /// Its format, if the file is not to tell.
    pub format: Option<Format>,
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
    /// What a compiler that was called on the way warns of.
    pub warnings: Vec<Diagnostic>,
    /// Lines of the source.
    lines: SourceMap,
    /// The text of the source, where it is no file.
    text: Option<String>,
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
        let as_text =
            || std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to(), &file));
        let source = match options.format.unwrap_or_else(|| Format::of(path, bytes)) {
            Format::Wave | Format::Wbin => return Ok(None),
            Format::Wasm if wasm::is_binary(bytes) => Source::of_wasm(file, bytes),
            Format::Wasm => Err(Diagnostic::error(format!(
                "`{file}` is not WebAssembly: it does not begin with the bytes 00 61 73 6d"
            ))
            .hint("its text form has the extension .wat")),
            Format::Wat => as_text()
                .and_then(|text| wasm::encode(&file, text))
                .and_then(|bytes| Source::of_wasm(file, &bytes)),
            Format::C => c::compile(path, &CompileOptions::default()).and_then(|built| {
                let source = Source::of_wasm(file, &built.wasm)?;
                Ok(Source { is_kernel: true, warnings: built.warnings, ..source })
            }),
            Format::Ir => as_text().and_then(|text| text::parse(text, &file)).and_then(|module| {
                let lines = SourceMap::default();
                Source { file, module, is_kernel: true, warnings: Vec::new(), lines, text: None }.verified()
            }),
        };
        source.map(Some).map_err(|error| vec![error])
    }

    fn of_wasm(file: String, bytes: &[u8]) -> Result<Source, Diagnostic> {
        let decoded = wasm::decode(bytes).map_err(|error| error.diagnostic(&file))?;
        let (module, is_kernel, lines) = (decoded.module, decoded.is_kernel, decoded.source);
        Source { file, module, is_kernel, warnings: Vec::new(), lines, text: None }.verified()
    }

    /// A module in WebAssembly that was compiled of a text before. `file` names the text.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn embedded(file: &str, wasm: &[u8], text: &str) -> Result<Source, Diagnostic> {
        let source = Source::of_wasm(file.to_owned(), wasm)?;
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
            let text = std::fs::read_to_string(&path).ok()?;
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
        [name.to_owned(), beside].into_iter().find(|path| path.is_file())
    }

    /// The file and line of a place, for messages.
    pub fn line(&self, place: Place) -> Option<String> {
        self.lines.line(place).map(|line| format!("{}:{}", line.file, line.line))
    }
}
