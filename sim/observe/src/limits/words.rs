//! Wording of limits, shared by the report and `wave-sim explain`.

use super::listing::Instruction;
use super::rules::Cost;
use super::situation::Situation;
use super::{Limiter, Limits, Place};
use crate::numbers::counted;
use wave_machine::config::Config;

/// Idle fraction that deserves a remark.
const MUCH_IDLE: f64 = 0.2;
/// Percentage of the run that deserves a line.
const WORTH_TELLING: f64 = 5.0;

/// A command-line word, quoted if a shell would change it.
fn quoted(word: &str) -> String {
    match word.contains(['[', ']', ' ', '*', '?']) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The flags that make settings.
pub fn flags(settings: &[String]) -> String {
    settings.iter().map(|s| format!("--set {}", quoted(s))).collect::<Vec<_>>().join(" ")
}

/// What a change saved: "saved 191 cycles", or "cost 3 cycles".
pub fn saved(cycles: i64) -> String {
    let word = if cycles < 0 { "cost" } else { "saved" };
    format!("{word} {}", counted(cycles.unsigned_abs(), "cycle"))
}

impl Limits {
    /// Part of the run, in percent.
    pub fn percent(&self, cycles: f64) -> f64 {
        100.0 * cycles / self.cycles.max(1) as f64
    }

    /// Remark about schedulers without waves; none if they have waves most of the time.
    pub fn remark(&self) -> Option<String> {
        (self.idle >= MUCH_IDLE).then(|| {
            format!(
                "An average scheduler has no wave for {:.0} % of the time: before the first, after the last, or \
                 throughout. {} What follows is about those with waves.",
                100.0 * self.idle,
                self.situation.as_ref().map_or("", Situation::empty)
            )
        })
    }

    /// Total cost of waiting for device memory, since each of its parts may rank below other causes. None if
    /// it is small.
    pub fn device_memory(&self, config: &Config) -> Option<String> {
        let sum: f64 = self.device.iter().map(|cost| cost.cycles).sum();
        let part = |cost: &Cost| format!("{} {:.0}", cost.cause.name(config), cost.cycles);
        let parts: Vec<String> = self.device.iter().map(part).collect();
        (self.percent(sum) >= WORTH_TELLING).then(|| {
            format!(
                "Device memory in all: {sum:.0} cycles, {:.0} %, of which {}.",
                self.percent(sum),
                parts.join(", ")
            )
        })
    }

    /// A limiter as a heading.
    pub fn title(&self, limiter: &Limiter, config: &Config) -> String {
        let Limiter { cause, cycles, .. } = limiter;
        format!("{}: {cycles:.0} cycles, {:.0} %", cause.name(config), self.percent(*cycles))
    }
}

impl Limiter {
    /// What it means.
    pub fn meaning(&self) -> String {
        format!("{}.", capital(self.cause.meaning()))
    }

    /// The instructions that it is met at, out of a listing.
    pub fn instructions<'i>(
        &self,
        listing: &'i [Instruction],
    ) -> impl Iterator<Item = (&Place, &'i Instruction)> {
        self.places.iter().filter_map(|place| {
            let there = |i: &&Instruction| (i.kernel, i.word) == (place.kernel, place.word);
            Some((place, listing.iter().find(there)?))
        })
    }

    /// The same, in words.
    pub fn at<'i>(&self, listing: &'i [Instruction]) -> impl Iterator<Item = (&'i Instruction, String)> {
        self.instructions(listing)
            .map(|(place, i)| (i, format!("{} ({}): {:.0} % of it", i.text, i.place(), 100.0 * place.share)))
    }

    /// What the author of the kernel can do.
    pub fn advice(&self) -> String {
        format!("In the kernel: {}.", self.advice)
    }

    /// The flags that make its change.
    pub fn flags(&self) -> Option<String> {
        Some(flags(&self.change.as_ref()?.settings))
    }

    /// What the change should save.
    pub fn predicted(&self) -> Option<String> {
        let change = self.change.as_ref()?;
        let cycles = change.predicted.round() as i64;
        let word = if cycles < 0 { "cost" } else { "save" };
        Some(format!("should {word} {} ({})", counted(cycles.unsigned_abs(), "cycle"), change.formula))
    }
}
