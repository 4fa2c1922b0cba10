//! `wave-sim config …`.

use super::args::{ConfigCommand, SetArgs};
use super::terminal::Terminal;
use super::{Ended, inputs};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config;
use wave_observe::energy::Prices;
use wave_observe::numbers::counted;
use wave_study::summary::energy;

/// Prints what is known of configurations.
///
/// # Errors
/// Whatever is wrong with a configuration, or a key that does not exist.
pub(crate) fn run(command: &ConfigCommand, terminal: &Terminal) -> Ended {
    match command {
        ConfigCommand::List => terminal.out(&config::list()),
        ConfigCommand::Show { config, set } => {
            let config = inputs::config(config.name(), set, terminal)?;
            terminal.out(&config::resolved(&config))
        }
        ConfigCommand::Explain { key } => terminal.out(&config::explain(key).map_err(|error| vec![error])?),
        ConfigCommand::Diff { words, flags } => {
            let named: Vec<&String> = flags.iter().chain(words).collect();
            let [a, b] = named[..] else {
                let count = counted(named.len() as u64, "configuration");
                let message = format!("`config diff` compares two configurations, found {count}");
                return Err(vec![Diagnostic::error(message).hint("wave-sim config diff gpu.ron t4.ron")]);
            };
            for name in [a, b] {
                inputs::config(name, &SetArgs { set: Vec::new() }, terminal)?;
            }
            terminal.out(&config::diff(a, b)?)
        }
        ConfigCommand::Dot { config, set } => {
            let config = inputs::config(config.name(), set, terminal)?;
            terminal.out(&config::dot(&config))
        }
        ConfigCommand::Area { config, prices, set } => {
            let prices = Prices::load(prices)?;
            let config = inputs::config(config.name(), set, terminal)?;
            terminal.out(&energy::area(&config, &prices))
        }
        ConfigCommand::Schema => terminal.out(&config::schema()),
    }
}
