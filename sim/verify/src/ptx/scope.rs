//! Names of a function, and pieces of its text.

use super::code::Function;
use std::collections::HashMap;

/// Names of a function.
#[derive(Default)]
pub(super) struct Scope {
    pub function: Function,
    pub registers: HashMap<String, usize>,
    /// Bits of each register.
    pub widths: Vec<u32>,
    pub labels: HashMap<String, usize>,
    pub lists: HashMap<String, Vec<String>>,
}

impl Scope {
    pub(super) fn declare(&mut self, name: &str, bits: u32) -> usize {
        let number = self.function.registers;
        self.function.registers += 1;
        self.widths.push(bits);
        self.registers.insert(name.to_owned(), number);
        number
    }

    pub(super) fn register(&self, name: &str) -> Result<usize, String> {
        self.registers.get(name).copied().ok_or_else(|| format!("no register {name}"))
    }

    pub(super) fn label(&self, name: &str) -> Result<usize, String> {
        self.labels.get(name).copied().ok_or_else(|| format!("no label {name}"))
    }

    pub(super) fn list(&self, text: &str) -> Result<Vec<usize>, String> {
        let names = text.trim_start_matches('{').trim_end_matches('}').split(',');
        names.map(|name| self.register(name.trim())).collect()
    }
}

/// Holds the number of registers against the `.v2` or `.v4` of an access.
pub(super) fn vector(parts: &[&str], registers: usize) -> Result<(), String> {
    let stated = parts.iter().find_map(|part| part.strip_prefix('v')?.parse::<usize>().ok()).unwrap_or(1);
    if stated == registers { Ok(()) } else { Err(format!("{registers} registers for {stated}")) }
}

/// Operands between commas that no bracket encloses.
pub(super) fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        found.push(text[start..].trim());
    }
    found
}

/// A literal: an integer, or the bits of a float.
pub(super) fn constant(text: &str) -> Result<u64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let hexadecimal = ["0x", "0f", "0d"].iter().find_map(|prefix| digits.strip_prefix(prefix));
    let parsed = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let number = parsed.map_err(|_| format!("`{text}` is no operand"))?;
    Ok(if negative { number.wrapping_neg() } else { number })
}
