//! Memory channels from outside: against DRAMsim3, and the commands of whole runs against the checker.

mod dramsim3_agreement;
mod suite_commands;
