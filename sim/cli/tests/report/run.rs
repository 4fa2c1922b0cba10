//! Runs that write a report.

use super::page::Page;
use super::scratch::Scratch;
use serde_json::Value;

/// A report, and the JSON output of the same run.
pub(crate) struct Reported {
    pub scratch: Scratch,
    pub page: Page,
    pub bytes: Vec<u8>,
    pub json: Value,
}

/// Runs a command with `--report` and `--format json`, which must succeed.
pub(crate) fn report(arguments: &str) -> Reported {
    report_in(Scratch::new(), arguments)
}

pub(crate) fn report_in(scratch: Scratch, arguments: &str) -> Reported {
    let out = scratch.out(&format!("{arguments} --report r.html --format json"));
    let bytes = scratch.read("r.html");
    Reported { page: Page::of(&bytes), bytes, json: serde_json::from_str(&out).unwrap(), scratch }
}

impl Reported {
    /// A statistic in the JSON output.
    pub(crate) fn statistic(&self, name: &str) -> u64 {
        self.json["runs"][0]["total"]["statistics"][name].as_u64().unwrap_or_else(|| panic!("{name}"))
    }
}
