//! What is written goes to the L2 at once, and updates the line if it is there: no allocation (M15).

use super::{Policy, Write};

pub(super) struct WriteThrough;

impl Policy for WriteThrough {
    #[inline]
    fn write(_: bool) -> Write {
        Write::Both
    }
}
