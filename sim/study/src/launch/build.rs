//! Builds a job from a launch file.

use super::buffer::{Buffer, Buffers};
use super::contents;
use super::expression::{Expression, FUNCTIONS, Failure, Value};
use super::file::{Expect, File, Named, Parameter, PicaFloat, Requirement, Tolerance as FileTolerance};
use super::host::Target;
use super::layout::{self, Layout};
use super::messages::{self, NOUN, Problem};
use super::scope::Names;
use super::shader;
use super::steps;
use super::suite::{self, Builtin};
use super::verification::{Check, Tolerance};
use super::{Job, Size};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use wave_compile::kernels::{self, Settings};
use wave_compile::pica::{Float, PicaOptions};
use wave_compile::source::{Format, SourceOptions, refusal};
use wave_files::read;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Program, read_file};
use wave_isa::ron_text::Source;
use wave_isa::suggest::did_you_mean;
use wave_machine::config::Capabilities;

/// The text of a launch file and its origin.
#[derive(Debug)]
pub(super) struct Origin {
    source: Source,
    builtin: Option<&'static Builtin>,
}

impl Origin {
    /// Finds a launch file by a name or path from the command line.
    pub(super) fn find(name: &str) -> Result<Origin, Vec<Diagnostic>> {
        if let Some(builtin) = suite::builtin(name) {
            let file = format!("{}.ron", builtin.name);
            let source = Source { file, text: builtin.launch.to_owned(), path: None };
            return Ok(Origin { source, builtin: Some(builtin) });
        }
        let path = Path::new(name);
        if path.is_dir() {
            return Err(vec![Diagnostic::error(format!("`{name}` is a directory, not a launch file"))]);
        }
        if path.exists() {
            let source = Source::read(path, NOUN.word).map_err(|error| vec![error])?;
            return Ok(Origin { source, builtin: None });
        }
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name);
        let hint = match suite::builtin(stem) {
            Some(builtin) => format!("the suite has `{}`: name it without a path", builtin.name),
            None => neighbour(path)
                .or_else(|| super::near_in_suite(name))
                .or_else(|| did_you_mean(stem, super::suite()))
                .unwrap_or_else(|| {
                    format!("the suite has {}", super::suite().collect::<Vec<_>>().join(", "))
                }),
        };
        let message = format!("there is no file `{name}`, and no launch file of the suite has that name");
        Err(vec![Diagnostic::error(message).hint(hint)])
    }

    /// A text that is not part of the suite.
    pub(super) fn of_text(file: &str, text: &str) -> Origin {
        let source = Source { file: file.to_owned(), text: text.to_owned(), path: None };
        Origin { source, builtin: None }
    }

    fn name(&self) -> String {
        Path::new(&self.source.file)
            .file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into_owned())
    }

    fn beside(&self, path: &str) -> PathBuf {
        Path::new(&self.source.file).parent().unwrap_or(Path::new("")).join(path)
    }

    /// A data file's bytes.
    fn data(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let path = self.beside(path);
        read::bytes(&path, layout::MAX_IMAGE_BYTES)
            .map_err(|error| Failure::new(format!("cannot read `{}`: {error}", path.display())))
    }

    /// The kernels, with warnings about them.
    fn program(&self, file: &File, names: &Names) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
        let located = |problems: Vec<Problem>| messages::located(&self.source, problems);
        let mut settings = settings(file, names).map_err(located)?;
        settings.source.c.flags = self.clang_flags(&file.clang);
        let (path, bytes) = match self.builtin.filter(|b| b.source_file == file.source) {
            Some(Builtin { source_file, source, module: Some(module), .. }) => {
                let module = wave_compile::source::Source::embedded(source_file, module, source);
                return kernels::program(&module.map_err(|error| vec![error])?, &settings);
            }
            Some(builtin) => (PathBuf::from(builtin.source_file), Cow::Borrowed(builtin.source.as_bytes())),
            None => {
                let path = self.beside(&file.source);
                let bytes = read_file(&path).map_err(|errors| self.blamed(file, errors))?;
                (path, Cow::Owned(bytes))
            }
        };
        let format = Format::known(&path, &bytes).ok_or_else(|| self.blamed(file, vec![no_kernel(&path)]))?;
        if !format.is_shader() {
            shader::refuse(file).map_err(located)?;
        }
        kernels::from_bytes(&path, &bytes, &settings).map_err(|errors| self.blamed(file, errors))
    }

    /// Flags of clang whose folders and files are relative to the launch file.
    fn clang_flags(&self, flags: &[String]) -> Vec<String> {
        const PATHS: [&str; 7] = ["-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-L"];
        let beside = |path: &str| self.beside(path).display().to_string();
        let mut is_path = false;
        let flag = |flag: &String| {
            if std::mem::replace(&mut is_path, PATHS.contains(&flag.as_str())) {
                return beside(flag);
            }
            let joined = PATHS.iter().filter_map(|name| Some((*name, flag.strip_prefix(name)?)));
            // The longest name that fits: -include is no -I.
            let longest = joined.max_by_key(|(name, _)| name.len());
            match longest.filter(|(_, path)| !path.is_empty()) {
                Some((name, path)) => format!("{name}{}", beside(path)),
                None => flag.clone(),
            }
        };
        flags.iter().map(flag).collect()
    }

    /// An error of a source that has no place there is one of the launch file.
    fn blamed(&self, file: &File, mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if let [error @ Diagnostic { place: None, .. }] = errors.as_mut_slice() {
            let path = shader::wrong_override(file, &error.message).unwrap_or_else(|| "source".to_owned());
            error.place = messages::place(&self.source, &path);
        }
        errors
    }
}

/// The message about a source of which nothing says that it is a kernel, or that it is in a language that is not read.
/// Nothing of it is read or quoted.
fn no_kernel(path: &Path) -> Diagnostic {
    if let Some(refusal) = refusal(path) {
        return refusal;
    }
    let message = format!("`{}` is no kernel: neither its contents nor its name say so", path.display());
    Diagnostic::error(message)
        .hint("the name of a kernel in text ends in .wave, .wat, .c, .cpp, .cu, .cl, .wgsl, .ptx, .pica or .ir; binary formats are \
               recognised")
}

/// How modules are compiled.
fn settings(file: &File, names: &Names) -> Result<Settings, Vec<Problem>> {
    let float = match file.pica_float {
        PicaFloat::F24 => Float::F24,
        PicaFloat::F32 => Float::F32,
    };
    let pica = PicaOptions { float, ..PicaOptions::default() };
    let shader = shader::options(file, names)?;
    Ok(Settings {
        source: SourceOptions { pica, shader, ..SourceOptions::default() },
        names: steps::kernels(file),
        stack_bytes: file.stack_bytes,
        heap_bytes: file.heap_bytes,
        f64_instructions: file.requires.contains(&Requirement::F64),
        ..Settings::default()
    })
}

/// Suggests launch files in the same folder with similar names.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".ron"))
        .collect();
    names.sort();
    did_you_mean(path.file_name()?.to_str()?, names.iter().map(String::as_str))
}

/// Computes everything that a launch file states.
pub(super) fn build(origin: &Origin, size: Size, seed: Option<u64>) -> Result<Job, Vec<Diagnostic>> {
    let file: File = messages::parse(&origin.source, NOUN)?;
    let located = |problems: Vec<Problem>| messages::located(&origin.source, problems);
    let seed = seed.unwrap_or(file.seed);
    let read = |path: &str| origin.data(path);

    check_names(&file).map_err(located)?;
    let mut names = parameters(&file.parameters, size).map_err(located)?;
    // Pipeline constants may depend on parameters, and so the program on the size.
    let (program, warnings) = origin.program(&file, &names)?;
    let structures = contents::structures(&file.structures, &names, seed).map_err(located)?;
    let data_end = program.module.as_ref().map_or(0, |module| module.data_end);
    let Layout { buffers, data, gaps, bytes } =
        layout::layout(&file.buffers, data_end, &names, &structures, &read).map_err(located)?;
    for buffer in &buffers {
        names.push(&buffer.name, Value::Int(i64::from(buffer.address)));
    }
    let mut memory = vec![0; bytes];
    if let Some(module) = &program.module {
        module.place_data(&mut memory).expect("buffers lie behind it");
    }
    contents::fill(&file.buffers, &buffers, data, &names, &structures, seed, &mut memory).map_err(located)?;
    let steps =
        steps::expand(&file.steps, file.entry.as_deref(), &program, &buffers, &mut names).map_err(located)?;
    let checks = checks(&file.expect, &Buffers { scope: &names, buffers: &buffers, memory: &memory }, &read)
        .map_err(located)?;

    let requires = Capabilities {
        f64: file.requires.contains(&Requirement::F64),
        mma: file.requires.contains(&Requirement::Mma),
    };
    let description = file.description;
    Ok(Job {
        name: origin.name(),
        description,
        program,
        memory,
        steps,
        buffers,
        requires,
        checks,
        warnings,
        gaps,
    })
}

/// Checks that every name can be used in expressions and is unique.
fn check_names(file: &File) -> Result<(), Vec<Problem>> {
    let parameters = file.parameters.0.iter().map(|(n, _)| ("parameters", n));
    let buffers = file.buffers.0.iter().map(|(n, _)| ("buffers", n));
    let structures = file.structures.0.iter().map(|(n, _)| ("structures", n));
    let mut problems = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (section, name) in parameters.chain(structures).chain(buffers) {
        let path = format!("{section}.{name}");
        if let Some(message) = unusable_name(name) {
            problems.push(Problem::new(&path, message));
        } else if seen.contains(&name.as_str()) {
            problems.push(Problem::new(&path, format!("`{name}` already stands for something else")));
        }
        seen.push(name);
    }
    let mut expected: Vec<&str> = Vec::new();
    for (name, _) in &file.expect.0 {
        if expected.contains(&name.as_str()) {
            problems.push(Problem::new(&format!("expect.{name}"), format!("`{name}` is expected twice")));
        }
        expected.push(name);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The reason why expressions could not use this name.
pub(super) fn unusable_name(name: &str) -> Option<String> {
    if name == "i" {
        Some("`i` is the index of elements".to_owned())
    } else if FUNCTIONS.iter().any(|(function, ..)| *function == name) {
        Some(format!("`{name}` is a function"))
    } else if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        Some(format!("`{name}` is no name: letters, digits and `_`"))
    } else {
        None
    }
}

fn parameters(parameters: &Named<Parameter>, size: Size) -> Result<Names, Vec<Problem>> {
    let mut names = Names::default();
    for (name, Parameter { full, small }) in &parameters.0 {
        let expression = match size {
            Size::Full => full,
            Size::Small => small,
        };
        let value = names
            .number(expression)
            .map_err(|failure| vec![Problem::of(format!("parameters.{name}"), failure)])?;
        names.push(name, value);
    }
    Ok(names)
}

fn checks(
    expect: &Named<Expect>,
    buffers: &Buffers<'_>,
    read: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
) -> Result<Vec<Check>, Vec<Problem>> {
    let mut checks = Vec::new();
    let mut problems = Vec::new();
    for (name, expect) in &expect.0 {
        match check(name, expect, buffers, read) {
            Ok(check) => checks.push(check),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(checks) } else { Err(problems) }
}

fn check(
    name: &str,
    expect: &Expect,
    buffers: &Buffers<'_>,
    read: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
) -> Result<Check, Problem> {
    let path = format!("expect.{name}");
    let Some(&Buffer { element, address, length, .. }) = buffers.buffers.iter().find(|b| b.name == name)
    else {
        let names = buffers.buffers.iter().map(|b| b.name.as_str());
        return Err(Problem::of(path, Failure::unknown(format!("there is no buffer `{name}`"), name, names)));
    };
    let expected = expect
        .equals
        .expected(Target { element, length }, buffers, read)
        .map_err(|failure| Problem::of(format!("{path}.equals"), failure))?;
    let tolerance = tolerance(&expect.tolerance, buffers.scope)
        .map_err(|failure| Problem::of(format!("{path}.tolerance"), failure))?;
    Ok(Check { buffer: name.to_owned(), element, address, expected, tolerance, any_order: expect.any_order })
}

fn tolerance(stated: &FileTolerance, names: &Names) -> Result<Tolerance, Failure> {
    let bound = |expression: &Expression| match names.number(expression)?.as_f64() {
        bound if bound >= 0.0 => Ok(bound),
        bound => Err(Failure::new(format!("a tolerance is at least 0, not {bound}"))),
    };
    Ok(match stated {
        FileTolerance::Exact => Tolerance::Exact,
        FileTolerance::Absolute(x) => Tolerance::Close { absolute: bound(x)?, relative: 0.0 },
        FileTolerance::Relative(x) => Tolerance::Close { absolute: 0.0, relative: bound(x)? },
        FileTolerance::Close { absolute, relative } => {
            Tolerance::Close { absolute: bound(absolute)?, relative: bound(relative)? }
        }
        FileTolerance::Ulp(x) => Tolerance::Ulp(bound(x)?),
    })
}
