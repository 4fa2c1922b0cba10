//! The clang that is installed: whether it will do, and a build with it.

use super::flags::{COMPILE, CPP, KEEP_LINES, LINK, Language, OURS, TARGET};
use super::library::{self, HEADERS, OUTPUT_BYTES, OWN_HEADERS, PRINT};
use super::{Built, CLANG_VARIABLE, CompileOptions, INSTALL, OLDEST_CLANG};
use crate::encoding::is_code;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, io};
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::Diagnostic;

/// A clang that runs.
#[derive(Debug)]
pub(super) struct Clang {
    pub(super) program: PathBuf,
    /// The first line of what it says of its version.
    pub(super) version: String,
}

impl Clang {
    /// The clang of the options, of the environment, or of the path. `kernels` need it.
    pub(super) fn find(options: &CompileOptions, kernels: &str) -> Result<Clang, Diagnostic> {
        let stated = options.clang.clone().or_else(|| std::env::var_os(CLANG_VARIABLE).map(PathBuf::from));
        let program = stated.unwrap_or_else(|| PathBuf::from("clang"));
        let name = program.display();
        let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(&program, kernels),
            _ => Diagnostic::error(format!("`{name}` does not run: {error}")).hint(how_to_install()),
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.lines().next().unwrap_or_default().to_owned();
        match number(&version) {
            Some(number) if number >= OLDEST_CLANG => Ok(Clang { program, version }),
            Some(number) => {
                let message = format!("`{name}` is clang {number}: {kernels} need {OLDEST_CLANG} or newer");
                Err(Diagnostic::error(message).hint(how_to_install()))
            }
            None => {
                let message = format!("`{name} --version` does not say that it is clang: `{version}`");
                Err(Diagnostic::error(message).hint(how_to_install()))
            }
        }
    }

    /// Compiles a source and links it with the parts of the library that it needs. What is in between lies in a folder of
    /// its own, which goes with the end of this function.
    pub(super) fn build(
        &self,
        source: &Path,
        language: Language,
        options: &CompileOptions,
    ) -> Result<Built, Diagnostic> {
        let name = source.display().to_string();
        let folder = TemporaryFolder::scratch();
        let folder = folder.map_err(|error| {
            Diagnostic::error(format!("cannot make a temporary folder to compile `{name}`: {error}"))
        })?;
        let at = |file: &str| folder.path().join(file);
        write(&at("wave.h"), &crate::wasm::c_header())?;
        HEADERS.iter().try_for_each(|(file, text)| write(&at(file), text))?;
        let step = Step { program: &self.program, name: "clang", folder: folder.path(), source: &name };
        // Named after the source, so that what the linker says names it.
        let stem = source.file_stem().unwrap_or(OsStr::new("kernel"));
        let mut object = at("").join(stem).into_os_string();
        object.push(".o");
        let object = PathBuf::from(object);

        let mut compile = step.command(&COMPILE);
        compile.args(OURS.map(|function| format!("-fno-builtin-{function}")));
        if language == Language::Cpp {
            compile.args(CPP);
        }
        // Debugging information names files as the user does, and ours without the folder of this run.
        compile.arg("-fdebug-compilation-dir=.");
        compile.arg(format!("-ffile-prefix-map={}=wave", folder.path().display()));
        compile.arg("-isystem").arg(folder.path()).args(&options.flags);
        if !options.sinks {
            compile.args(KEEP_LINES);
        }
        // A name that begins with a dash is no flag.
        compile.arg("-MD").arg("-MF").arg(at("read")).arg("-o").arg(&object).arg("--").arg(source);
        let compiled = step.run(&mut compile);
        let read = fs::read_to_string(at("read")).unwrap_or_default();
        let warnings = step.unquoted(compiled, &read)?;

        let mut objects = vec![object];
        step.add_library(&mut objects, &options.flags)?;
        let mut link = step.command(&LINK);
        link.arg("-o").arg(at("kernel.wasm")).args(&objects);
        step.run(&mut link)?;
        let wasm = fs::read(at("kernel.wasm"))
            .map_err(|error| Diagnostic::error(format!("clang made no module of `{name}`: {error}")))?;
        Ok(Built { wasm, warnings })
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    fs::write(path, text)
        .map_err(|error| Diagnostic::error(format!("cannot write to the temporary folder: {error}")))
}

/// A call of a compiler in a build.
pub(super) struct Step<'a> {
    pub(super) program: &'a Path,
    /// Name of the compiler, for messages.
    pub(super) name: &'static str,
    /// Where temporary files go.
    pub(super) folder: &'a Path,
    pub(super) source: &'a str,
}

impl Step<'_> {
    fn command(&self, flags: &[&str]) -> Command {
        let mut command = self.plain(&TARGET);
        command.args(flags);
        command
    }

    /// A command without a target.
    pub(super) fn plain(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        // Files that the compiler makes on its way go into our folder too.
        command.stdin(Stdio::null()).env("TMPDIR", self.folder).args(flags);
        command
    }

    /// Adds objects of the library until they define all that it has and the others need.
    fn add_library(&self, objects: &mut Vec<PathBuf>, flags: &[String]) -> Result<(), Diagnostic> {
        // Its headers must not be seen by the source of the user.
        let folder = self.folder.join("library");
        let made = fs::create_dir(&folder);
        made.map_err(|error| Diagnostic::error(format!("cannot write to the temporary folder: {error}")))?;
        OWN_HEADERS.iter().try_for_each(|(file, text)| write(&folder.join(file), text))?;
        let mut next = 0;
        while let Some(object) = objects.get(next) {
            next += 1;
            let needed = library::undefined(&fs::read(object).unwrap_or_default());
            for (file, text) in library::sources_of(&needed) {
                let object = folder.join(file).with_extension("o");
                if objects.contains(&object) {
                    continue;
                }
                let source = folder.join(file);
                write(&source, text)?;
                let mut compile = self.command(&COMPILE);
                // It must not find its own loops in itself.
                compile.args(["-g0", "-fno-builtin"]).arg("-isystem").arg(self.folder);
                if file == PRINT {
                    compile.args(output_bytes(flags));
                }
                self.run(compile.arg("-o").arg(&object).arg(&source))?;
                objects.push(object);
            }
        }
        Ok(())
    }

    /// Runs it; gives warnings.
    pub(super) fn run(&self, command: &mut Command) -> Result<Vec<Diagnostic>, Diagnostic> {
        let (program, compiler) = (self.program.display(), self.name);
        let output = command.output();
        let output =
            output.map_err(|error| Diagnostic::error(format!("`{program}` does not run: {error}")))?;
        let said = self.said(&output);
        if output.status.success() {
            let warning = || Diagnostic::warning(format!("{compiler} says of `{}`:\n{said}", self.source));
            return Ok(if said.is_empty() { Vec::new() } else { vec![warning()] });
        }
        if said.contains("wasm-ld") && (said.contains("doesn't exist") || said.contains("unable to execute"))
        {
            let message = format!("`{program}` has no linker for WebAssembly: `wasm-ld` is missing");
            return Err(Diagnostic::error(message).hint(how_to_install()));
        }
        let error = Diagnostic::error(format!("{compiler} rejects `{}`:\n{said}", self.source));
        Err(if said.contains("undefined symbol") {
            error.hint("the C library has only part of the standard's: docs/c.md lists its headers")
        } else if said.contains("noderef") {
            error.hint("local memory is read with local_load() and written with local_store()")
        } else {
            error
        })
    }

    /// What clang said, unless it may quote a file that is no source text: a source may include any file. `read` are the
    /// files that clang read, as a rule of a makefile.
    pub(super) fn unquoted(
        &self,
        said: Result<Vec<Diagnostic>, Diagnostic>,
        read: &str,
    ) -> Result<Vec<Diagnostic>, Diagnostic> {
        let files =
            read.split_once(": ").map_or("", |(_, files)| files).replace("\\\n", " ").replace("\\ ", "\0");
        let mut files = files.split_whitespace().map(|file| file.replace('\0', " "));
        let Some(foreign) =
            files.find(|file| file != self.source && !is_code(Path::new(file)) && !is_standard(file))
        else {
            return said;
        };
        let (name, compiler) = (self.source, self.name);
        match said {
            Ok(warnings) if warnings.is_empty() => Ok(warnings),
            Ok(_) => Ok(vec![Diagnostic::warning(format!(
                "{compiler} warns of `{name}`, which includes `{foreign}`: that is no source text, so nothing is quoted"
            ))]),
            Err(_) => {
                Err(Diagnostic::error(format!("{compiler} rejects `{name}`, which includes `{foreign}`"))
                    .hint("that file has no extension of a language, so nothing of it is quoted"))
            }
        }
    }

    /// What clang and the linker said, without our folder.
    fn said(&self, output: &Output) -> String {
        let text = String::from_utf8_lossy(&output.stderr);
        let folder = format!("{}/", self.folder.display());
        text.replace(&folder, "").trim_end().to_owned()
    }
}

/// True for a header of the standard library of C++: these have no extension.
fn is_standard(file: &str) -> bool {
    let is_folder = |folder: &str| file.contains(folder);
    file.starts_with("/usr/")
        && ["/include/c++/", "/include/cuda_wrappers/"].iter().any(|folder| is_folder(folder))
}

/// The flags of the user that say how large the buffer is of what threads print.
fn output_bytes(flags: &[String]) -> Vec<&String> {
    let defines = format!("-D{OUTPUT_BYTES}=");
    flags.iter().filter(|flag| flag.starts_with(&defines)).collect()
}

fn missing(program: &Path, kernels: &str) -> Diagnostic {
    let message = format!("{kernels} need clang, and there is no `{}`", program.display());
    Diagnostic::error(message).hint(how_to_install())
}

fn how_to_install() -> String {
    format!("on Debian or Ubuntu: {INSTALL}; {CLANG_VARIABLE} names another clang")
}

/// The main number of `... clang version 14.0.6 ...`.
fn number(version: &str) -> Option<u32> {
    let rest = version.split("clang version ").nth(1)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn versions_are_read() {
        assert_eq!(number("Debian clang version 14.0.6"), Some(14));
        assert_eq!(number("clang version 9.0.1-12 "), Some(9));
        assert_eq!(number("Apple clang version 15.0.0 (clang-1500.3.9.4)"), Some(15));
        assert_eq!(number("gcc (Debian 12.2.0-14) 12.2.0"), None);
        assert_eq!(number(""), None);
    }
}
