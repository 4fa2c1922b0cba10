//! The `wave-sim` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    wave_sim::main()
}
