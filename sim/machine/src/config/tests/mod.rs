//! Tests of the configuration's internals. Tests of its messages are in `sim/machine/tests/config_messages.rs`.

mod declaration;
mod files;
mod fuzz;
mod interconnect;
mod rules;
mod settings;
mod sizes;

use super::*;
use wave_isa::diagnostic::Diagnostic;

/// A file that states these parameters: `(core: (issue: (width: 2)))` for `core.issue.width`.
fn stating(values: &[(&str, &str)]) -> String {
    // Keys of the same section are grouped, so that no section appears twice.
    fn section(values: &[(Vec<&str>, &str)]) -> String {
        let mut text = String::new();
        let mut done: Vec<&str> = Vec::new();
        for (path, value) in values {
            let key = path[0];
            if done.contains(&key) {
                continue;
            }
            done.push(key);
            if path.len() == 1 {
                text += &format!("{key}: {value}, ");
            } else {
                let inner: Vec<_> =
                    values.iter().filter(|(p, _)| p[0] == key).map(|(p, v)| (p[1..].to_vec(), *v)).collect();
                text += &format!("{key}: {}, ", section(&inner));
            }
        }
        format!("({text})")
    }
    section(&values.iter().map(|(path, value)| (path.split('.').collect(), *value)).collect::<Vec<_>>())
}

fn errors(result: Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>>) -> Vec<String> {
    result.err().unwrap_or_default().iter().map(Diagnostic::to_string).collect()
}
