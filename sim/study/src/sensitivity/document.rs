//! What parameters are worth, as JSON that is written and read.

use super::{Effect, Parameter, Sensitivity};
use crate::results::Machine;
use crate::summary::json::{SCHEMA, pretty};
use serde::{Deserialize, Serialize};
use wave_isa::diagnostic::Diagnostic;

#[derive(Serialize, Deserialize)]
struct Document {
    schema: u32,
    wave_sim: String,
    config: Machine,
    kernel: String,
    cycles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    area_mm2: Option<f64>,
    parameters: Vec<ParameterJson>,
}

/// A parameter and its effects.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ParameterJson {
    key: String,
    value: u64,
    halved: Option<EffectJson>,
    doubled: Option<EffectJson>,
}

#[derive(Debug, Serialize, Deserialize)]
struct EffectJson {
    value: u64,
    cycles: Option<u64>,
    /// Cycles over those of the machine as it is, less 1.
    change: Option<f64>,
    /// By how much the area grows.
    area_mm2: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl ParameterJson {
    fn of(parameter: &Parameter, cycles: u64) -> ParameterJson {
        let [halved, doubled] = [0, 1].map(|number| {
            let effect = parameter.effects[number].as_ref()?;
            Some(EffectJson {
                value: effect.then,
                cycles: effect.cycles.as_ref().ok().copied(),
                change: parameter.change(number, cycles),
                area_mm2: effect.area_mm2,
                message: effect.cycles.as_ref().err().cloned(),
            })
        });
        ParameterJson { key: parameter.key.clone(), value: parameter.now, halved, doubled }
    }

    fn parameter(self) -> Parameter {
        let effect = |effect: EffectJson| Effect {
            then: effect.value,
            cycles: effect.cycles.ok_or(effect.message.unwrap_or_default()),
            area_mm2: effect.area_mm2,
        };
        Parameter {
            key: self.key,
            now: self.value,
            effects: [self.halved.map(effect), self.doubled.map(effect)],
        }
    }
}

impl Sensitivity {
    /// The parameters as they stand in a document.
    pub(crate) fn parameters_json(&self) -> Vec<ParameterJson> {
        self.parameters.iter().map(|parameter| ParameterJson::of(parameter, self.cycles)).collect()
    }

    /// The document of `wave-sim sensitivity --format json`.
    pub fn document(&self) -> String {
        pretty(&Document {
            schema: SCHEMA,
            wave_sim: env!("CARGO_PKG_VERSION").to_owned(),
            config: self.machine.clone(),
            kernel: self.kernel.clone(),
            cycles: self.cycles,
            area_mm2: self.area_mm2,
            parameters: self.parameters_json(),
        })
    }

    /// Reads such a document; `file` names it in messages.
    ///
    /// # Errors
    /// If it is no such document, or one of another version of the form.
    pub fn read(text: &str, file: &str) -> Result<Sensitivity, Diagnostic> {
        let hint = "wave-sim sensitivity KERNEL --format json > FILE writes one";
        let document: Document = serde_json::from_str(text).map_err(|error| {
            Diagnostic::error(format!("`{file}` is no result of wave-sim sensitivity: {error}")).hint(hint)
        })?;
        if document.schema != SCHEMA {
            let message =
                format!("`{file}` has form {} of results, and this wave-sim reads {SCHEMA}", document.schema);
            return Err(Diagnostic::error(message).hint("run it again with this version"));
        }
        Ok(Sensitivity {
            kernel: document.kernel,
            machine: document.config,
            cycles: document.cycles,
            area_mm2: document.area_mm2,
            parameters: document.parameters.into_iter().map(ParameterJson::parameter).collect(),
        })
    }
}
