//! Numbers that the environment sets for a test.

#![allow(dead_code, reason = "not every test asks for both")]

/// The number in a variable, or `default` where it is not set.
///
/// # Panics
/// If the variable holds something else: a slip there must not make a check smaller than it was meant.
pub fn number(variable: &str, default: u64) -> u64 {
    let Some(text) = std::env::var_os(variable) else { return default };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{variable} is {text:?}: it must be a number"))
}

/// How much there is to do, as [`number`].
///
/// # Panics
/// If it is nothing.
pub fn count(variable: &str, default: u64) -> u64 {
    let count = number(variable, default);
    assert!(count > 0, "{variable} is 0: there is nothing to check");
    count
}
