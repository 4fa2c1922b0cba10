//! Panics of the parser, made errors.

use std::cell::Cell;
use std::panic::{UnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// This thread is in code whose panics are expected.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of naga, which has panics for some modules that are wrong or rare: they must not end the program. `None`
/// after a panic; nothing is printed then.
pub(super) fn guarded<T>(run: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = catch_unwind(run);
    IS_GUARDED.set(false);
    result.ok()
}
