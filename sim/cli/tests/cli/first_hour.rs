//! The first hour of a user: the commands of README.md in an empty folder, and the folders that `wave-sim new` makes.

use super::golden;
use super::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A command line of a page, and what the comment behind it says that it needs.
struct Line {
    command: String,
    needs: Option<String>,
}

/// The commands of a page: indented lines that begin with `wave-sim`.
fn commands(page: &str) -> Vec<Line> {
    let lines = page
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with("wave-sim "));
    lines
        .map(|line| {
            let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
            let needs = comment.split_once("needs ").map(|(_, what)| what.trim_end_matches(')').to_owned());
            Line { command: command.trim_end().to_owned(), needs }
        })
        .collect()
}

/// How a command line ended.
struct Ended {
    code: Option<i32>,
    err: String,
}

/// Runs a line in a shell that finds `wave-sim` first, with nothing to read.
fn shell(folder: &Path, line: &str) -> Ended {
    let here = PathBuf::from(env!("CARGO_BIN_EXE_wave-sim"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = [here.parent().unwrap().to_owned()].into_iter().chain(std::env::split_paths(&paths));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    command.env("PATH", std::env::join_paths(paths).unwrap());
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), err }
}

/// True if a program that a line needs is on this host, and tests may use it.
fn is_here(needs: &str) -> bool {
    let is_set = |variable: &str| std::env::var_os(variable).is_some_and(|value| value == "1");
    let runs = |program: &str| {
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    match needs {
        "clang" => !wave_compile::c::skipped(),
        "Verilator" => !is_set("WAVE_SIM_SKIP_RTL") && runs("verilator"),
        // A measurement of all suites takes longer than a test may.
        "an NVIDIA GPU" => Scratch::new().run("silicon info").code == 0,
        other => panic!("README.md says that a command needs `{other}`: the test does not know it"),
    }
}

/// Each command works after those before it, or says in its line and in its message what it needs.
#[test]
fn the_commands_of_the_readme_run_in_an_empty_folder() {
    let page = std::fs::read_to_string(golden::root().join("README.md")).unwrap();
    let lines = commands(&page);
    assert!(lines.len() >= 24, "{} commands in README.md", lines.len());
    let scratch = Scratch::new();
    let mut wrong = Vec::new();
    for Line { command, needs } in &lines {
        let here = needs.as_deref().is_none_or(is_here);
        if needs.as_deref() == Some("an NVIDIA GPU") && here {
            eprintln!("skipped, for it takes long: {command}");
            continue;
        }
        let start = Instant::now();
        let ended = shell(&scratch.path("."), command);
        eprintln!("{:6.1} s  {command}", start.elapsed().as_secs_f64());
        let is_right = match ended.code {
            Some(0) => true,
            // The message names what is missing, as the line does.
            Some(2) => !here && needs.as_ref().is_some_and(|needs| says(&ended.err, needs)),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("`{command}` ends with {:?}:\n{}", ended.code, ended.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn says(message: &str, needs: &str) -> bool {
    let word = needs.rsplit(' ').next().unwrap_or(needs);
    message.to_lowercase().contains(&word.to_lowercase())
}

/// The languages of `wave-sim new`, from its help: none is left out.
fn languages() -> Vec<String> {
    let help = Scratch::new().out("new --help");
    let (_, rest) = help.split_once("Possible values:").expect("the help lists the languages");
    let lines = rest.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let found: Vec<String> = lines.filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect();
    assert!(found.len() >= 4 && found.contains(&"c".to_owned()), "{help}");
    found
}

#[test]
fn every_command_of_a_new_folder_works_there() {
    for language in languages() {
        let is_program = language == "cuda";
        if (language == "c" || is_program) && wave_compile::c::skipped() {
            eprintln!("skipped: {} is set", wave_compile::c::SKIP_VARIABLE);
            continue;
        }
        let scratch = Scratch::new();
        // The folder above it is made, too.
        let out = scratch.out(&format!("new some/hello-{language} --lang {language}"));
        let folder = scratch.path(&format!("some/hello-{language}"));
        let files: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files.len(), if is_program { 2 } else { 3 }, "{files:?}");
        assert!(files.iter().all(|file| out.contains(file.to_str().unwrap())), "{out}");
        let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(!page.contains(['{', '}']), "{page}");
        let lines = commands(&page);
        assert_eq!(lines.len(), 5, "{page}");
        let columns: Vec<_> = page.lines().filter_map(|line| line.find(" # ")).collect();
        assert!(columns.len() == 5 && columns.iter().all(|column| *column == columns[0]), "{page}");
        // The page of a program is typed in the folder above it.
        let typed_in = if is_program { scratch.path("some") } else { folder.clone() };
        for Line { command, .. } in &lines {
            let ended = shell(&typed_in, command);
            assert_eq!(ended.code, Some(0), "`{command}`: {}", ended.err);
        }
        if is_program {
            // The program notices a wrong kernel.
            let source = folder.join("hello-cuda.cu");
            let text = std::fs::read_to_string(&source).unwrap();
            std::fs::write(&source, text.replace("= a * x[i] + y[i]", "= a * x[i]")).unwrap();
            scratch.out("nvcc some/hello-cuda/hello-cuda.cu -o wrong");
            let ran = scratch.run("run -- ./wrong");
            assert_eq!((ran.code, ran.out.as_str()), (1, "FAILED: y[0] is 0\n"), "{}", ran.err);
            continue;
        }
        let result = scratch.out(&format!("some/hello-{language}/hello-{language}.ron --functional"));
        assert!(result.contains("verified: 20000 values"), "{result}");
        // The launch file notices a wrong kernel.
        let kernel = folder.join(format!("hello-{language}.{language}"));
        let text = std::fs::read_to_string(&kernel).unwrap();
        let spoilt =
            text.replace("fma(a,", "fma(2.0f * a,").replace("fma     r6, r2, r5", "fma     r6, r5, r5");
        let spoilt = spoilt.replace("(call $fma (local.get $a)", "(call $fma (f32.const 7)");
        let spoilt = spoilt.replace("fmaf(a,", "fmaf(7.0f,");
        assert_ne!(text, spoilt, "{language}");
        std::fs::write(&kernel, spoilt).unwrap();
        let ran =
            scratch.run(&format!("some/hello-{language}/hello-{language}.ron --functional --size small"));
        assert_eq!(ran.code, 1, "{language}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn new_overwrites_nothing_and_takes_plain_names_only() {
    let scratch = Scratch::with(&[("file", "kept")]);
    scratch.out("new hello --lang wave");
    let before = scratch.read("hello/hello.wave");
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", scratch.path("link")).unwrap();
    let taken: &[&str] = if cfg!(unix) { &["hello", "file", "link"] } else { &["hello", "file"] };
    for name in taken {
        let ran = scratch.run(&format!("new {name} --lang wgsl"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        assert!(ran.err.contains("is there already"), "{}", ran.err);
    }
    assert_eq!(scratch.read("hello/hello.wave"), before);
    assert_eq!(scratch.read("file"), b"kept");
    for name in ["..", "a/..", "-x", ".x", "a$b", "a;b", "file/x"] {
        let ran = scratch.run(&format!("new -- {name}"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}: {}", ran.out);
        assert!(ran.err.starts_with("error: "), "{name}: {}", ran.err);
    }
    let names: Vec<_> =
        std::fs::read_dir(scratch.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), taken.len(), "{names:?}");
}

/// A folder that a flag names for results is made; one that cannot be made is an error before the run.
#[test]
fn folders_for_results_are_made() {
    let scratch = Scratch::with(&[("file", "")]);
    scratch.out("measure latency --config tiny --save plots/latency");
    assert!(std::fs::read_dir(scratch.path("plots/latency")).unwrap().count() > 0);
    scratch.out("silicon correlate saxpy --sizes small --config gpu --open --save far/correlation");
    assert!(scratch.path("far/correlation/correlation.md").is_file());
    scratch.out("sweep saxpy --size small --set cores=1,2 --store far/store");
    assert!(scratch.path("far/store").is_dir());
    for words in ["measure latency --config tiny --save file/x", "silicon correlate saxpy --open --save file"]
    {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}");
        assert!(
            ran.err.contains("--save: cannot make the folder") && ran.err.contains("`file` is no folder"),
            "{}",
            ran.err
        );
    }
    // Without a GPU nothing is made.
    if scratch.run("silicon correlate saxpy --sizes small --save none").code != 0 {
        assert!(!scratch.path("none").exists());
    }
}
