//! `wave-sim config …`.

use super::args::ConfigCommand;
use super::terminal::Terminal;
use super::{Ended, inputs};
use crate::config;

/// Prints what is known of configurations.
///
/// # Errors
/// Whatever is wrong with a configuration, or a key that does not exist.
pub fn run(command: &ConfigCommand, terminal: &Terminal) -> Ended {
    match command {
        ConfigCommand::List => terminal.out(&config::list()),
        ConfigCommand::Show { config } => {
            let config = inputs::config(config, terminal)?;
            terminal.out(&config::resolved(&config))
        }
        ConfigCommand::Explain { key } => terminal.out(&config::explain(key).map_err(|error| vec![error])?),
        ConfigCommand::Diff { a, b } => {
            for name in [a, b] {
                inputs::config(name, terminal)?;
            }
            terminal.out(&config::diff(a, b)?)
        }
        ConfigCommand::Dot { config } => {
            let config = inputs::config(config, terminal)?;
            terminal.out(&config::dot(&config))
        }
        ConfigCommand::Schema => terminal.out(&config::schema()),
    }
}
