//! The built-in configurations: the files in `configs/`, compiled in so that they need no path.

/// A built-in configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// File name, with `.ron`.
    pub file: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

impl Preset {
    /// Name without `.ron`.
    pub fn name(&self) -> &'static str {
        self.file.trim_end_matches(".ron")
    }
}

macro_rules! presets {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(Preset {
            file: $file,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/", $folder, $file)),
        }),+]
    };
}

/// All presets, the default first.
pub const PRESETS: &[Preset] = presets![
    "": "gpu.ron", "tiny.ron", "large.ron", "t4.ron", "v100.ron", "a100.ron", "h200.ron", "mi300x.ron", "m-series.ron", "rtl.ron",
];

/// Memory devices that `dram.part` can name. Each file states the device's values under `dram`.
pub const PARTS: &[Preset] =
    presets!["parts/": "gddr6.ron", "hbm2.ron", "hbm2e.ron", "hbm3e.ron", "lpddr5.ron"];

/// The preset with this name, with or without `.ron`.
pub(super) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.file == name || p.name() == name)
}

/// The memory device with this name, with or without `.ron`.
pub(super) fn part(name: &str) -> Option<&'static Preset> {
    PARTS.iter().find(|p| p.file == name || p.name() == name)
}

/// The preset that supplies every value that a configuration omits. It states all parameters.
pub(crate) fn default_preset() -> &'static Preset {
    &PRESETS[0]
}
