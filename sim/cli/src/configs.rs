//! `wave-sim config …`.

use super::args::{ConfigCommand, SetArgs};
use super::terminal::Terminal;
use super::{Ended, inputs};
use wave_machine::config;
use wave_observe::energy::Prices;
use wave_study::summary::energy;

/// Prints what is known of configurations.
///
/// # Errors
/// Whatever is wrong with a configuration, or a key that does not exist.
pub(crate) fn run(command: &ConfigCommand, terminal: &Terminal) -> Ended {
    match command {
        ConfigCommand::List => terminal.out(&config::list()),
        ConfigCommand::Show { config, set } => {
            let config = inputs::config(config, set, terminal)?;
            terminal.out(&config::resolved(&config))
        }
        ConfigCommand::Explain { key } => terminal.out(&config::explain(key).map_err(|error| vec![error])?),
        ConfigCommand::Diff { a, b } => {
            for name in [a, b] {
                inputs::config(name, &SetArgs { set: Vec::new() }, terminal)?;
            }
            terminal.out(&config::diff(a, b)?)
        }
        ConfigCommand::Dot { config, set } => {
            let config = inputs::config(config, set, terminal)?;
            terminal.out(&config::dot(&config))
        }
        ConfigCommand::Area { config, prices, set } => {
            let prices = Prices::load(prices)?;
            let config = inputs::config(config, set, terminal)?;
            terminal.out(&energy::area(&config, &prices))
        }
        ConfigCommand::Schema => terminal.out(&config::schema()),
    }
}
