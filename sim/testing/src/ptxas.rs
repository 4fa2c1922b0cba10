//! ptxas, the assembler of PTX.

use crate::golden::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable that skips what needs ptxas if it is 1.
const SKIP: &str = "WAVE_SIM_SKIP_PTXAS";

/// ptxas, unless it is not wanted.
///
/// # Panics
/// If there is none.
pub fn find() -> Option<PathBuf> {
    if std::env::var(SKIP).is_ok_and(|value| value == "1") {
        eprintln!("{SKIP}=1: no PTX is assembled");
        return None;
    }
    let output = Command::new("python3").arg("scripts/ptxas.py").current_dir(root()).output();
    let output = output.unwrap_or_else(|error| panic!("python3: {error}; {SKIP}=1 goes without"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{SKIP}=1 goes without");
    Some(String::from_utf8(output.stdout).expect("a path").trim().into())
}

/// Assembles a text for a target, such as `sm_90`, in a folder.
///
/// # Errors
/// What ptxas says, if it refuses it or warns.
///
/// # Panics
/// If the folder is not writable or ptxas does not start.
pub fn assemble(ptxas: &Path, folder: &Path, text: &str, arch: &str) -> Result<(), String> {
    let (input, output) = (folder.join("k.ptx"), folder.join("k.cubin"));
    std::fs::write(&input, text).expect("the folder is writable");
    let run = Command::new(ptxas).arg(format!("-arch={arch}")).arg(&input).arg("-o").arg(&output).output();
    let run = run.expect("ptxas starts");
    let said = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if run.status.success() && said.is_empty() && output.exists() { Ok(()) } else { Err(said) }
}
