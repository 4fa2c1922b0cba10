//! `wave-sim new`: a folder with a kernel, its launch file, and commands to begin with.

use super::files::NewFolder;
use super::terminal::{Terminal, reason};
use super::{Ended, folders};
use clap::{Args, ValueEnum};
use std::io;
use std::path::{Path, PathBuf};
use wave_compile::c;
use wave_isa::diagnostic::Diagnostic;

/// `wave-sim new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The folder; its name is that of the kernel's files
    pub name: PathBuf,
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
}

/// Files of a template. `{name}`, `{file}`, `{language}` and `{needs}` in them are replaced.
struct Template {
    extension: &'static str,
    language: &'static str,
    kernel: &'static str,
    launch: &'static str,
}

macro_rules! template {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/new/", $file))
    };
}

/// The page of commands.
const README: &str = template!("README.md");
const WITH_ARGUMENTS: &str = template!("arguments.ron");
const WITH_BINDINGS: &str = template!("bindings.ron");

impl Language {
    fn template(self) -> Template {
        let (extension, language, kernel, launch) = match self {
            Language::C => ("c", "C", template!("kernel.c"), WITH_ARGUMENTS),
            Language::Wgsl => ("wgsl", "WGSL", template!("kernel.wgsl"), WITH_BINDINGS),
            Language::Wave => ("wave", "WAVE assembly", template!("kernel.wave"), WITH_ARGUMENTS),
            Language::Wat => ("wat", "WebAssembly", template!("kernel.wat"), WITH_ARGUMENTS),
        };
        Template { extension, language, kernel, launch }
    }

    /// The sentence of the page about what has to be installed.
    fn needs(self) -> String {
        match self {
            Language::C => {
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
    let name = stem(&args.name).map_err(one)?;
    let shown = args.name.display();
    // A link that leads nowhere is there, too.
    if args.name.symlink_metadata().is_ok() {
        let message = format!("`{shown}` is there already, and `new` overwrites nothing");
        return Err(one(Diagnostic::error(message).hint("choose another name")));
    }
    let files = files(name, args.lang);
    write(&args.name, &files)
        .map_err(|error| one(Diagnostic::error(format!("cannot make `{shown}`: {}", reason(&error)))))?;
    let column = files.iter().map(|(file, _, _)| file.len()).max().unwrap_or(0);
    let mut text: String =
        files.iter().map(|(file, what, _)| format!("{shown}/{file:column$}  {what}\n")).collect();
    text += &format!("`wave-sim {shown}/{name}.ron` runs it\n");
    terminal.out(&text)
}

/// The files of a folder: name, what it is, text.
fn files(name: &str, lang: Language) -> [(String, String, String); 3] {
    let template = lang.template();
    let file = format!("{name}.{}", template.extension);
    let filled = |text: &str| {
        let text = text.replace("{name}", name).replace("{file}", &file);
        aligned(&text.replace("{language}", template.language).replace("{needs}", &lang.needs()))
    };
    [
        (file.clone(), format!("a kernel in {}", template.language), filled(template.kernel)),
        (format!("{name}.ron"), "its data, its launch, the expected result".into(), filled(template.launch)),
        ("README.md".into(), "five commands to begin with".into(), filled(README)),
    ]
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

fn write(path: &Path, files: &[(String, String, String)]) -> io::Result<()> {
    folders::made(wave_files::folder(path))?;
    let new = NewFolder::create(path)?;
    for (file, _, text) in files {
        std::fs::write(new.path().join(file), text)?;
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
