//! Files of users: every input is read up to a limit, and every output is complete or not there.

pub mod output;
pub mod read;
pub mod temporary;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

/// The reason of an error, without the operating system's number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
