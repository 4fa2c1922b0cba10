//! What each parameter of the machine is worth to the kernel, as `wave-sim sensitivity` has measured it.

use super::chart::{bar, scroll};
use super::facts::Facts;
use crate::sensitivity::report::{for_each_mm2, millimetres};
use crate::sensitivity::{NOTHING, Parameter, Sensitivity};
use maud::{Markup, html};
use wave_machine::config::config_hash;
use wave_observe::numbers::{integer, short};

/// Most rows of a table.
const LISTED: usize = 20;

/// The section.
pub(super) fn section(facts: &Facts<'_>, sensitivity: &Sensitivity) -> Markup {
    let cycles = sensitivity.cycles;
    let own = facts.run.total().map(|total| total.cycles);
    let is_same = sensitivity.machine.hash == config_hash(facts.config) && own == Some(cycles);
    let with_effect: Vec<&Parameter> =
        sensitivity.parameters.iter().filter(|parameter| parameter.weight(cycles) >= NOTHING).collect();
    let largest = with_effect.first().map_or(1.0, |parameter| parameter.weight(cycles));
    html! {
        p {
            "Each of " (sensitivity.parameters.len()) " parameters was halved and doubled, and the kernel ran again; "
            (with_effect.len()) " change the cycles by at least 0.1 %."
            @if !is_same {
                strong { " This was measured on another run: " } code { (sensitivity.kernel) } " with "
                (integer(cycles)) " cycles, on " code { (sensitivity.machine.name) } ", configuration "
                code { (sensitivity.machine.hash) } "."
            }
        }
        (effects(&with_effect, cycles, largest))
        (for_area(sensitivity))
    }
}

fn effects(parameters: &[&Parameter], cycles: u64, largest: f64) -> Markup {
    scroll(
        "Effects of parameters",
        html! { table.beside {
            caption {
                "Cycles when a parameter is halved and when it is doubled, the largest effect first"
                @if parameters.len() > LISTED { "; " (parameters.len() - LISTED) " smaller ones are not shown" }
            }
            thead { tr {
                th scope="col" { "parameter" } th scope="col" { "value" } th scope="col" { "halved" } th scope="col" { "cycles" }
                th scope="col" { "doubled" } th scope="col" { "cycles" }
            } }
            tbody { @for parameter in parameters.iter().take(LISTED) { tr {
                th scope="row" { code { (parameter.key) } }
                td.number { (parameter.now) }
                @for number in 0..2 {
                    @let change = parameter.change(number, cycles);
                    td.number { @if let Some(effect) = &parameter.effects[number] { (effect.then) } }
                    td.number { @if let Some(change) = change {
                        (format!("{:+.1} %", 100.0 * change))
                        (bar(change.abs() / largest, if change > 0.0 { "limit" } else { "good" }))
                    } @else { "–" } }
                }
            } } }
        } },
    )
}

fn for_area(sensitivity: &Sensitivity) -> Markup {
    let savings = sensitivity.savings_for_area();
    let Some(area) = sensitivity.area_mm2.filter(|_| !savings.is_empty()) else { return html! {} };
    let largest = savings.iter().map(|saving| saving.saved).fold(0.0, f64::max);
    scroll(
        "Savings for area",
        html! { table.beside {
            caption {
                "What saves most for its area; the machine has about " (short(area)) " mm². Shorter latencies and faster clocks have \
                 no price in area"
            }
            thead { tr {
                th scope="col" { "setting" } th scope="col" { "saves" } th scope="col" { "mm²" } th scope="col" { "for each mm²" }
            } }
            tbody { @for saving in savings.iter().take(LISTED) { tr {
                th scope="row" { code { (saving.setting()) } }
                td.number { (format!("{:.1} %", 100.0 * saving.saved)) (bar(saving.saved / largest, "good")) }
                td.number { (millimetres(saving.area_mm2)) }
                td.number { (for_each_mm2(saving)) }
            } } }
        } },
    )
}
