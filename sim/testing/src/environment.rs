//! Numbers that environment variables set for a test.

/// The number in a variable, or `default` if it is not set.
///
/// # Panics
/// If the variable is not a number: a typo must not make a check smaller than intended.
pub fn number(variable: &str, default: u64) -> u64 {
    let Some(text) = std::env::var_os(variable) else { return default };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{variable} is {text:?}: it must be a number"))
}

/// The amount of work, as [`number`].
///
/// # Panics
/// If it is 0.
pub fn count(variable: &str, default: u64) -> u64 {
    let count = number(variable, default);
    assert!(count > 0, "{variable} is 0: there is nothing to check");
    count
}
