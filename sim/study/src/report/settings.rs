//! The configuration: differences from the nearest preset, and all values.

use super::facts::Facts;
use maud::{Markup, html};
use wave_machine::config::{config_hash, leaves, meaning, nearest_preset};

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let config = facts.config;
    let (preset, differences) = nearest_preset(config);
    html! {
        p { (config.description) }
        @if !config.set.is_empty() {
            p.set {
                "Set on the command line: "
                @for (i, setting) in config.set.iter().enumerate() {
                    @if i > 0 { ", " }
                    code { (setting) }
                }
                "."
            }
        }
        @if differences.is_empty() {
            p { "The machine is that of the preset " code { (preset) } ", in every parameter. Its hash is " code { (config_hash(config)) } "." }
        } @else {
            p {
                "Of the presets, " code { (preset) } " is the nearest; the machine differs from it in "
                (wave_observe::numbers::counted(differences.len() as u64, "parameter")) ". Its hash is " code { (config_hash(config)) } "."
            }
            div.scroll tabindex="0" role="region" aria-label="Differences from the preset" {
                table.differences {
                    caption { "Differences from " (preset) }
                    thead { tr {
                        th scope="col" { "parameter" } th scope="col" { (preset) } th scope="col" { "this machine" }
                    } }
                    tbody { @for [path, theirs, ours] in &differences {
                        tr { th scope="row" { code { (path) } } td { (theirs) } td { strong { (ours) } } }
                    } }
                }
            }
        }
        details.data {
            summary { "Every parameter" }
            div.scroll tabindex="0" role="region" aria-label="Every parameter" {
                table.parameters {
                    caption { "Every parameter of the machine" }
                    thead { tr {
                        th scope="col" { "parameter" } th scope="col" { "value" } th scope="col" { "meaning" }
                    } }
                    tbody { @for leaf in leaves(config).iter().filter(|leaf| leaf.key != "description") {
                        tr { th scope="row" { code { (leaf.path) } } td { (leaf.value) } td { (meaning(&leaf.key)) } }
                    } }
                }
            }
        }
    }
}
