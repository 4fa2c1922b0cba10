//! `wave-sim nvcc`: CUDA programs with clang alone, by the command line of NVIDIA's compiler.
//!
//! Makefiles of programs call `nvcc`; with `NVCC="wave-sim nvcc"` they call this. Flags are those of nvcc that programs use.
//! Flags that choose a GPU are ignored, because a program has PTX.

use super::host::library::CUDART;
use super::terminal::Terminal;
use super::{Ended, Exit};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use wave_compile::c::host::{compile_object, link};
use wave_compile::c::{CompileOptions, PtxLanguage, compile_to_ptx};
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::Diagnostic;

/// The kind of file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Product {
    Program,
    Objects,
    Ptx,
}

/// A command line.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    product: Product,
    output: Option<PathBuf>,
    sources: Vec<PathBuf>,
    /// Objects and archives.
    objects: Vec<PathBuf>,
    /// For clang, both halves.
    flags: Vec<String>,
    /// For kernels.
    device_flags: Vec<String>,
    /// For the linker.
    link_flags: Vec<String>,
}

/// Flags with a value that say something of a GPU, of NVIDIA's tools or of files in between.
const IGNORED_WITH_VALUE: [&str; 19] = [
    "-arch",
    "--gpu-architecture",
    "-code",
    "--gpu-code",
    "-gencode",
    "--generate-code",
    "-Xptxas",
    "--ptxas-options",
    "-Xnvlink",
    "--nvlink-options",
    "-Xfatbin",
    "-maxrregcount",
    "--maxrregcount",
    "-ccbin",
    "--compiler-bindir",
    "-cudart",
    "--cudart",
    "-keep-dir",
    "-t",
];

/// Such flags without a value.
const IGNORED: [&str; 17] = [
    "-m64",
    "--machine=64",
    "-lineinfo",
    "--generate-line-info",
    "-extended-lambda",
    "--extended-lambda",
    "--expt-extended-lambda",
    "-expt-extended-lambda",
    "--expt-relaxed-constexpr",
    "-expt-relaxed-constexpr",
    "-keep",
    "--keep",
    "-lcudart",
    "-lcudart_static",
    "-lcuda",
    "-lcudadevrt",
    "--source-in-ptx",
];

/// Flags with a value that go on to clang.
const PASSED_WITH_VALUE: [&str; 10] =
    ["-I", "-D", "-U", "-include", "-isystem", "--include-path", "--define-macro", "-MF", "-MT", "-MQ"];

impl Line {
    fn parse(words: &[OsString]) -> Result<Line, Diagnostic> {
        let mut line = Line {
            product: Product::Program,
            output: None,
            sources: Vec::new(),
            objects: Vec::new(),
            flags: Vec::new(),
            device_flags: Vec::new(),
            link_flags: Vec::new(),
        };
        let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            let mut value = |flag: &str| {
                words.next().ok_or_else(|| Diagnostic::error(format!("nvcc: {flag} needs a value")))
            };
            let (flag, after) =
                word.split_once('=').map_or((word.as_str(), None), |(flag, after)| (flag, Some(after)));
            match word.as_str() {
                "-c" | "--compile" => line.product = Product::Objects,
                "-ptx" | "--ptx" => line.product = Product::Ptx,
                "-o" | "--output-file" => line.output = Some(value(&word)?.into()),
                "-use_fast_math" | "--use_fast_math" => line.device_flags.push("-ffast-math".to_owned()),
                "-G" | "--device-debug" => line.flags.push("-g".to_owned()),
                "-L" | "-l" => {
                    let library = value(&word)?;
                    line.link_flags.push(format!("{word}{library}"));
                }
                "-std" | "--std" => {
                    let standard = value(&word)?;
                    line.flags.push(format!("-std={standard}"));
                }
                "-Xcompiler" | "--compiler-options" => {
                    let options = value(&word)?;
                    line.add_host(&options);
                }
                "-Xlinker" | "--linker-options" => {
                    let options = value(&word)?;
                    line.link_flags.push(format!("-Wl,{options}"));
                }
                word if IGNORED.contains(&word) => {}
                word if IGNORED_WITH_VALUE.contains(&word) => _ = value(word)?,
                word if PASSED_WITH_VALUE.contains(&word) => {
                    let short = match word {
                        "--include-path" => "-I",
                        "--define-macro" => "-D",
                        other => other,
                    };
                    line.flags.extend([short.to_owned(), value(word)?]);
                }
                _ if after.is_some() && IGNORED_WITH_VALUE.contains(&flag) => {}
                _ if matches!(flag, "-Xcompiler" | "--compiler-options") => {
                    line.add_host(after.unwrap_or(""))
                }
                "-rdc=false" | "--relocatable-device-code=false" => {}
                "-dc" | "--device-c" | "-rdc=true" | "--relocatable-device-code=true" | "-dlink" => {
                    let message = format!("nvcc: {word}: kernels and what they call are in one source");
                    return Err(Diagnostic::error(message).hint(
                        "include the source of the other functions, or compile with NVIDIA's compiler",
                    ));
                }
                "-pthread" | "-shared" | "-rdynamic" => line.link_flags.push(word),
                word if word.starts_with("-l") || word.starts_with("-L") || word.starts_with("-Wl,") => {
                    line.link_flags.push(word.to_owned());
                }
                word if word.starts_with('-') => line.flags.push(word.to_owned()),
                word => {
                    let path = PathBuf::from(word);
                    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
                    match extension {
                        "cu" | "c" | "cpp" | "cc" | "cxx" | "C" => line.sources.push(path),
                        "o" | "a" | "so" => line.objects.push(path),
                        _ => {
                            let message =
                                format!("nvcc: `{word}` is no source and no object by its extension");
                            return Err(
                                Diagnostic::error(message).hint("sources are .cu, .c, .cpp, .cc, .cxx")
                            );
                        }
                    }
                }
            }
        }
        line.check()
    }

    /// Flags of the host's compiler: `-Xcompiler "-O3,-fopenmp"`.
    fn add_host(&mut self, options: &str) {
        for option in options.split([',', ' ']).filter(|option| !option.is_empty()) {
            // Of OpenMP clang needs a library that may be missing, and the pragmas change no result.
            if option == "-fopenmp" {
                self.flags.push("-Wno-unknown-pragmas".to_owned());
            } else {
                self.flags.push(option.to_owned());
            }
        }
    }

    fn check(self) -> Result<Line, Diagnostic> {
        if self.sources.is_empty() && (self.objects.is_empty() || self.product != Product::Program) {
            return Err(Diagnostic::error("nvcc: no source is named").hint("wave-sim nvcc -O2 app.cu -o app"));
        }
        if self.output.is_some() && self.product != Product::Program && self.sources.len() > 1 {
            return Err(Diagnostic::error("nvcc: -o names one file, and several are made"));
        }
        Ok(self)
    }

    /// The file that is made of a source.
    fn made(&self, source: &Path, extension: &str) -> PathBuf {
        let name = || format!("{}.{extension}", source.file_stem().unwrap_or_default().display());
        self.output.clone().unwrap_or_else(|| name().into())
    }
}

/// Compiles and links.
///
/// # Errors
/// Wrong words, and errors of clang in the sources.
pub(crate) fn run(words: &[OsString], terminal: &Terminal) -> Ended {
    let one = |error: Diagnostic| vec![error];
    let line = Line::parse(words).map_err(one)?;
    if CUDART.is_empty() {
        return Err(vec![Diagnostic::error("`wave-sim nvcc` is there for Linux on x86-64 and arm64 only")]);
    }
    let flags = (line.flags.as_slice(), line.device_flags.as_slice());
    if line.product == Product::Ptx {
        for source in &line.sources {
            let all = line.flags.iter().chain(&line.device_flags).cloned().collect();
            let options = CompileOptions { flags: all, ..CompileOptions::default() };
            let built = compile_to_ptx(source, PtxLanguage::Cuda, &options).map_err(one)?;
            terminal.diagnostics(&built.warnings);
            super::files::write(&line.made(source, "ptx"), built.ptx.as_bytes(), "nvcc")?;
        }
        return Ok(Exit::Success);
    }
    let folder = TemporaryFolder::scratch()
        .map_err(|error| vec![Diagnostic::error(format!("cannot make a temporary folder: {error}"))])?;
    let mut objects = Vec::new();
    for (number, source) in line.sources.iter().enumerate() {
        let object = match line.product {
            Product::Objects => line.made(source, "o"),
            _ => folder.path().join(format!("{number}.o")),
        };
        terminal.diagnostics(&compile_object(source, &object, flags).map_err(one)?);
        objects.push(object);
    }
    if line.product == Product::Program {
        objects.extend(line.objects.iter().cloned());
        let program = line.output.clone().unwrap_or_else(|| PathBuf::from("a.out"));
        link(&objects, &program, CUDART, &line.link_flags).map_err(one)?;
    }
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Line, Diagnostic> {
        Line::parse(&words.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_of_makefiles_are_understood() {
        let line = parse(
            "-O3 -arch sm_70 -gencode=arch=compute_60,code=sm_60 -use_fast_math -I../common -DSIZE=4 -Xcompiler \
             -fopenmp,-Wall --ptxas-options=-v -std=c++14 main.cu util.cpp lib.o -L/opt/lib -lm -lcudart -o main",
        );
        let line = line.expect("a command line");
        assert_eq!(line.sources, [PathBuf::from("main.cu"), PathBuf::from("util.cpp")]);
        assert_eq!(line.objects, [PathBuf::from("lib.o")]);
        let flags = ["-O3", "-I../common", "-DSIZE=4", "-Wno-unknown-pragmas", "-Wall", "-std=c++14"];
        assert_eq!(line.flags, flags);
        assert_eq!(
            (line.device_flags, line.link_flags),
            (vec!["-ffast-math".to_owned()], vec!["-L/opt/lib".to_owned(), "-lm".to_owned()])
        );
        assert_eq!((line.output, line.product), (Some(PathBuf::from("main")), Product::Program));
        let objects = parse("-c src/a.b.cu").expect("a command line");
        assert_eq!(objects.made(&objects.sources[0], "o"), PathBuf::from("a.b.o"));
    }

    #[test]
    fn wrong_command_lines_are_refused() {
        let message = |words: &str| parse(words).expect_err("an error").message;
        assert_eq!(message("-O3"), "nvcc: no source is named");
        assert_eq!(message("a.cu -o"), "nvcc: -o needs a value");
        assert_eq!(message("a.txt"), "nvcc: `a.txt` is no source and no object by its extension");
        assert_eq!(message("-c a.cu b.cu -o x.o"), "nvcc: -o names one file, and several are made");
        assert!(message("-rdc=true a.cu").contains("in one source"));
    }
}
