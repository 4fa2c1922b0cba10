//! What is written stays in the line until it leaves or is released, and allocates it if it is not there (M15a).

use super::{Policy, Write};

pub(super) struct WriteBack;

impl Policy for WriteBack {
    #[inline]
    fn write(_: bool) -> Write {
        Write::Line
    }
}
