//! A call of a function of an instance, as a flag states it.

use wave_isa::program::Argument;

/// `NAME[=VALUE,...]`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceCall {
    /// Name of the function.
    pub function: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

/// Reads a call of a function of an instance: `NAME[=VALUE,...]`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn call(text: &str) -> Result<InstanceCall, String> {
    let (function, values) = text.split_once('=').map_or((text, None), |(name, values)| (name, Some(values)));
    if function.is_empty() {
        return Err("the name of the function is missing".to_owned());
    }
    let values = values.filter(|values| !values.is_empty()).into_iter();
    let arguments: Result<_, String> = values.flat_map(|values| values.split(',')).map(str::parse).collect();
    Ok(InstanceCall { function: function.to_owned(), arguments: arguments? })
}
