//! `wave-sim new`: a folder with a kernel, its launch file, and commands to begin with; or the crate of a plug-in.

use super::Ended;
use super::files::NewFolder;
use super::terminal::Terminal;
use clap::{Args, ValueEnum};
use std::io;
use std::path::{Path, PathBuf};
use wave_compile::c;
use wave_files::reason;
use wave_isa::diagnostic::Diagnostic;

/// `wave-sim new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The folder; its name is that of the kernel's files. After the word `plugin`: that of a crate in Rust that adds a
    /// policy to the simulator
    #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
    pub names: Vec<PathBuf>,
    /// Language of the kernel
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "c")]
    pub lang: Language,
}

/// The language of a new kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// C; needs clang
    C,
    /// WGSL, the shader language of WebGPU
    Wgsl,
    /// WAVE assembly
    Wave,
    /// WebAssembly as text
    Wat,
    /// A whole program in CUDA C++, host and kernels; needs clang
    Cuda,
}

/// Files of a template. `{name}`, `{file}`, `{language}` and `{needs}` in them are replaced.
struct Template {
    extension: &'static str,
    language: &'static str,
    kernel: &'static str,
    /// The launch file; a program has none.
    launch: Option<&'static str>,
    /// The page of commands.
    page: &'static str,
}

macro_rules! template {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/new/", $file))
    };
}

const README: &str = template!("README.md");
const WITH_ARGUMENTS: &str = template!("arguments.ron");
const WITH_BINDINGS: &str = template!("bindings.ron");

impl Language {
    fn template(self) -> Template {
        let (extension, language, kernel, launch) = match self {
            Language::C => ("c", "C", template!("kernel.c"), Some(WITH_ARGUMENTS)),
            Language::Wgsl => ("wgsl", "WGSL", template!("kernel.wgsl"), Some(WITH_BINDINGS)),
            Language::Wave => ("wave", "WAVE assembly", template!("kernel.wave"), Some(WITH_ARGUMENTS)),
            Language::Wat => ("wat", "WebAssembly", template!("kernel.wat"), Some(WITH_ARGUMENTS)),
            Language::Cuda => ("cu", "CUDA C++", template!("program.cu"), None),
        };
        let page = if launch.is_some() { README } else { template!("program.md") };
        Template { extension, language, kernel, launch, page }
    }

    /// The sentence of the page about what has to be installed.
    fn needs(self) -> String {
        match self {
            Language::C | Language::Cuda => {
                format!(" The commands need clang {} or newer: `{}`.", c::OLDEST_CLANG, c::INSTALL)
            }
            Language::Wgsl | Language::Wave | Language::Wat => String::new(),
        }
    }
}

/// Makes the folder, complete or not at all.
///
/// # Errors
/// A name that cannot be one, something with that name, or a folder that cannot be written.
pub(crate) fn run(args: &NewArgs, terminal: &Terminal) -> Ended {
    let one = |error: Diagnostic| vec![error];
    let (path, files, next) = match &args.names[..] {
        [word] if word.as_os_str() == "plugin" => {
            let error = Diagnostic::error("a plug-in needs a name");
            return Err(one(
                error.hint("`wave-sim new plugin NAME`; a kernel of that name: `wave-sim new ./plugin`")
            ));
        }
        [path] => {
            let name = stem(path).map_err(one)?;
            let folder = path.display();
            let next = if args.lang == Language::Cuda {
                format!(
                    "`wave-sim nvcc {folder}/{name}.cu -o {folder}/{name} && wave-sim run -- {folder}/{name}` runs it"
                )
            } else {
                format!("`wave-sim {folder}/{name}.ron` runs it")
            };
            (path, files(name, args.lang), next)
        }
        [word, path] if word.as_os_str() == "plugin" => {
            let files = plugin_files(stem(path).map_err(one)?).map_err(one)?;
            let next =
                format!("`cargo test --manifest-path {}/Cargo.toml` builds and tests it", path.display());
            (path, files, next)
        }
        _ => {
            let error = Diagnostic::error("`new` makes one folder at a time");
            return Err(one(
                error.hint("`wave-sim new NAME` for a kernel, `wave-sim new plugin NAME` for a plug-in")
            ));
        }
    };
    let shown = path.display();
    // A link that leads nowhere is there, too.
    if path.symlink_metadata().is_ok() {
        let message = format!("`{shown}` is there already, and `new` overwrites nothing");
        return Err(one(Diagnostic::error(message).hint("choose another name")));
    }
    write(path, &files)
        .map_err(|error| one(Diagnostic::error(format!("cannot make `{shown}`: {}", reason(&error)))))?;
    let column = files.iter().map(|(file, _, _)| file.len()).max().unwrap_or(0);
    let mut text: String =
        files.iter().map(|(file, what, _)| format!("{shown}/{file:column$}  {what}\n")).collect();
    text += &format!("{next}\n");
    terminal.out(&text)
}

macro_rules! plugin {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins/new/", $file))
    };
}

/// The files of the crate of a plug-in. It depends on the sources that this program was built from.
fn plugin_files(name: &str) -> Result<Vec<File>, Diagnostic> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let module = name.replace('-', "_");
    if !module.chars().all(plain) || !module.starts_with(|c: char| c.is_ascii_lowercase()) {
        let message = format!("`{name}` is no name for a plug-in");
        let hint = "lower-case letters, digits, `-` and `_`, such as `wave-sim new plugin my_scheduler`";
        return Err(Diagnostic::error(message).hint(hint));
    }
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !cli.is_dir() {
        let message =
            format!("a plug-in is built with the sources of wave-sim, and `{}` is not there", cli.display());
        return Err(Diagnostic::error(message)
            .hint("build wave-sim from a clone of its repository, and keep the clone"));
    }
    let capture = cli.with_file_name("capture");
    let filled = |text: &str| {
        text.replace("{crate}", name)
            .replace("{name}", &module)
            .replace("{cli}", &cli.display().to_string())
            .replace("{capture}", &capture.display().to_string())
    };
    let file = |file: String, what: &str, text: &str| (file, what.to_owned(), filled(text));
    Ok(vec![
        file("Cargo.toml".into(), "the crate, which depends on wave-sim", plugin!("Cargo.toml.txt")),
        file("src/main.rs".into(), "wave-sim with the plug-in", plugin!("main.rs.txt")),
        file(format!("src/{module}.rs"), "a warp scheduler, to be changed", plugin!("scheduler.rs.txt")),
        file("tests/runs.rs".into(), "a run with it", plugin!("tests.rs.txt")),
        file("README.md".into(), "five commands to begin with", plugin!("README.md.txt")),
    ])
}

/// A file of a folder: name, what it is, text.
type File = (String, String, String);

/// The files of the folder of a kernel.
fn files(name: &str, lang: Language) -> Vec<File> {
    let template = lang.template();
    let file = format!("{name}.{}", template.extension);
    let filled = |text: &str| {
        let text = text.replace("{name}", name).replace("{file}", &file);
        aligned(&text.replace("{language}", template.language).replace("{needs}", &lang.needs()))
    };
    let what = if template.launch.is_some() { "a kernel" } else { "a program" };
    let launch = template.launch.map(|launch| {
        (format!("{name}.ron"), "its data, its launch, the expected result".into(), filled(launch))
    });
    let kernel = (file.clone(), format!("{what} in {}", template.language), filled(template.kernel));
    let page = ("README.md".into(), "five commands to begin with".into(), filled(template.page));
    [kernel].into_iter().chain(launch).chain([page]).collect()
}

/// The text with the comments of its commands in one column.
fn aligned(text: &str) -> String {
    const SIGN: &str = " # ";
    let command = |line: &str| {
        let (command, _) = line.split_once(SIGN).filter(|_| line.starts_with("    wave-sim "))?;
        Some(command.trim_end().len())
    };
    let column = text.lines().filter_map(command).max().unwrap_or(0);
    let one = |line: &str| match (command(line), line.split_once(SIGN)) {
        (Some(length), Some((_, comment))) => format!("{:column$}{SIGN}{comment}\n", &line[..length]),
        _ => format!("{line}\n"),
    };
    text.lines().map(one).collect()
}

fn write(path: &Path, files: &[File]) -> io::Result<()> {
    std::fs::create_dir_all(wave_files::folder(path))?;
    let new = NewFolder::create(path)?;
    for (file, _, text) in files {
        let file = new.path().join(file);
        std::fs::create_dir_all(wave_files::folder(&file))?;
        std::fs::write(file, text)?;
    }
    new.persist()
}

/// The name of the files: the last part of the path, in letters that a shell leaves alone.
fn stem(path: &Path) -> Result<&str, Diagnostic> {
    let plain = |name: &&str| {
        name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) && !name.starts_with(['-', '.'])
    };
    path.file_name().and_then(|name| name.to_str()).filter(plain).ok_or_else(|| {
        let message = format!("`{}` is no name for a kernel", path.display());
        Diagnostic::error(message).hint("letters, digits, `-`, `_` and `.`, such as `wave-sim new hello`")
    })
}
