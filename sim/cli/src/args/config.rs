//! `wave-sim config …`, as clap sees it.

use super::{BUILT_IN_PRICES, DEFAULT_CONFIG, SetArgs};
use clap::{Args, Subcommand};

/// A machine, named by a word or by the flag that all other commands have.
#[derive(Debug, Args)]
pub(crate) struct NamedConfig {
    /// File or preset [default: gpu.ron]
    #[arg(value_name = "CONFIG", conflicts_with = "config")]
    word: Option<String>,
    /// The same, named by a flag
    #[arg(long, value_name = "CONFIG")]
    config: Option<String>,
}

impl NamedConfig {
    /// The file or preset.
    pub(crate) fn name(&self) -> &str {
        self.config.as_deref().or(self.word.as_deref()).unwrap_or(DEFAULT_CONFIG)
    }
}

/// `wave-sim config …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List the presets
    List,
    /// Print a configuration with every parameter resolved and explained
    Show {
        /// The machine.
        #[command(flatten)]
        config: NamedConfig,
        /// What differs from it.
        #[command(flatten)]
        set: SetArgs,
    },
    /// Say what a key means, its range, and its value in every preset
    Explain {
        /// Key, such as core.issue.width, or the end of one; or a word of docs/terms.md, such as warp [default: the top level]
        #[arg(default_value = "")]
        key: String,
    },
    /// Print the parameters in which two configurations differ
    Diff {
        /// Two files or presets
        #[arg(value_name = "CONFIG")]
        words: Vec<String>,
        /// The same, named by a flag; those of flags come first
        #[arg(long = "config", value_name = "CONFIG")]
        flags: Vec<String>,
    },
    /// Draw the blocks of the machine and the links between them in the language of Graphviz
    Dot {
        /// The machine.
        #[command(flatten)]
        config: NamedConfig,
        /// What differs from it.
        #[command(flatten)]
        set: SetArgs,
    },
    /// Estimate the area of a machine, by block
    Area {
        /// The machine.
        #[command(flatten)]
        config: NamedConfig,
        /// Prices: a file, or a technology node for the built-in ones, such as 7nm
        #[arg(long, value_name = "PRICES", default_value = BUILT_IN_PRICES)]
        prices: String,
        /// What differs from it.
        #[command(flatten)]
        set: SetArgs,
    },
    /// Print the JSON schema of configurations, for editors
    Schema,
}
