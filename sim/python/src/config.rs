//! Configurations.

use crate::errors::{Told, all_told, error};
use pyo3::prelude::*;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{self, PRESETS};
use wave_observe::energy::Prices;
use wave_study::summary::{Session, json};

/// A configuration of a machine.
#[pyclass(frozen, module = "wave_sim._wave_sim")]
pub(crate) struct Config {
    pub(crate) config: config::Config,
    /// Name or path; `None` for a text.
    from: Option<String>,
    /// What was set upon it.
    settings: Vec<String>,
}

/// The key of a setting.
fn key_of(setting: &str) -> &str {
    setting.split_once('=').map_or(setting, |(key, _)| key).trim()
}

#[pymethods]
impl Config {
    /// The configuration at a path, or the preset with this name, and warnings.
    #[staticmethod]
    fn load(py: Python<'_>, name: &str) -> PyResult<(Config, Vec<Told>)> {
        let loaded = config::load_with_warnings(name).map_err(|wrong| error(py, &wrong))?;
        let config = Config { config: loaded.0, from: Some(name.to_owned()), settings: Vec::new() };
        Ok((config, all_told(&loaded.1)))
    }

    /// The configuration in a text, and warnings; `file` names it in messages.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str, file: &str) -> PyResult<(Config, Vec<Told>)> {
        let loaded = config::from_text(file, text).map_err(|wrong| error(py, &wrong))?;
        let config = Config { config: loaded.0, from: None, settings: Vec::new() };
        Ok((config, all_told(&loaded.1)))
    }

    /// Names of the presets, the default first.
    #[staticmethod]
    fn presets() -> Vec<&'static str> {
        PRESETS.iter().map(|preset| preset.name()).collect()
    }

    /// This configuration with settings such as `core.l1.mshrs=64`, and new warnings.
    fn with_settings(&self, py: Python<'_>, words: Vec<String>) -> PyResult<(Config, Vec<Told>)> {
        // No parameter that `settable` finds: it stands for others.
        let is_part = |word: &String| matches!(key_of(word), "dram.part" | "part");
        let mut settings = self.settings.clone();
        settings.extend(words.iter().cloned());
        // A memory part has values of its own, below those of the file.
        let made = match &self.from {
            Some(name) if words.iter().any(is_part) => config::load_with_settings(name, &settings),
            _ => self.config.with(&words).map(|config| {
                let known = self.config.check();
                let warnings = config.check().into_iter().filter(|found| !known.contains(found)).collect();
                (config, warnings)
            }),
        };
        let (config, warnings) = made.map_err(|wrong| error(py, &wrong))?;
        Ok((Config { config, from: self.from.clone(), settings }, all_told(&warnings)))
    }

    /// The complete path of a parameter.
    fn path(&self, py: Python<'_>, key: &str) -> PyResult<String> {
        let found = self.config.settable(key).map_err(|wrong| {
            // It is no setting that is wrong, but a key.
            error(py, &[Diagnostic { place: None, ..wrong }])
        })?;
        Ok(found.path)
    }

    /// Every parameter: its path, and its value as written in a file.
    fn leaves(&self) -> Vec<(String, String)> {
        config::leaves(&self.config).into_iter().map(|leaf| (leaf.path, leaf.value)).collect()
    }

    /// The whole configuration as a text that can be loaded.
    fn text(&self) -> String {
        config::resolved(&self.config)
    }

    /// The document of a session without runs, with the area at these prices.
    fn document(&self, py: Python<'_>, prices: &str) -> PyResult<String> {
        let prices = Prices::load(prices).map_err(|wrong| error(py, &wrong))?;
        let session =
            Session { config: &self.config, untimed: false, prices: Some(prices), runs: Vec::new() };
        Ok(json::document(&session))
    }

    /// Hash of all parameters except name and description.
    #[getter]
    fn hash(&self) -> String {
        config::config_hash(&self.config)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.config.name
    }

    /// What was set: complete paths and values.
    #[getter]
    fn set(&self) -> Vec<String> {
        self.config.set.clone()
    }

    /// Name or path that it was loaded from; `None` for a text.
    #[getter]
    fn origin(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// The settings upon that, as they were given.
    #[getter]
    fn settings(&self) -> Vec<String> {
        self.settings.clone()
    }
}
