//! Memory channels compared with DRAMsim3, and the commands of whole runs checked.

mod dramsim3_agreement;
mod suite_commands;
