//! Panics made errors: of other people's parsers, and of a machine whose state came from a damaged file.

use std::any::Any;
use std::cell::Cell;
use std::panic::{UnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// This thread is in code whose panics are expected.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code whose panics must not end the program. Nothing is printed of a panic.
///
/// # Errors
/// The message of a panic.
pub fn guarded<T>(run: impl FnOnce() -> T + UnwindSafe) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    let result = catch_unwind(run);
    IS_GUARDED.set(before);
    result.map_err(|panic| message(&*panic))
}

/// True if this thread runs guarded code.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Prints nothing of a panic of this thread, if `is_guarded`: for a thread that works for a guarded one, which finds out
/// by itself.
pub fn inherit(is_guarded: bool) {
    IS_GUARDED.set(is_guarded);
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(guarded(|| 7), Ok(7));
        let place = 3;
        assert_eq!(guarded(|| panic!("no place {place}")), Err::<(), _>("no place 3".to_owned()));
        assert_eq!(guarded(|| guarded(|| panic!("inner")).is_err() && is_guarded()), Ok(true));
        assert!(!is_guarded());
    }
}
