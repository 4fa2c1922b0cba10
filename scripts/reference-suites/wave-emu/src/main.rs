//! Stands in for the reference emulator as a command: hands its arguments to the executable that `WAVE_SIM` names.

#![forbid(unsafe_code)]

use std::process::{exit, Command};

fn main() {
    let status = Command::new(wave_emu::executable()).args(std::env::args_os().skip(1)).status();
    match status {
        Ok(status) => exit(status.code().unwrap_or(3)),
        Err(error) => {
            eprintln!("wave-emu: {error}");
            exit(2);
        }
    }
}
