//! Write policies: where the bytes go that an access writes (M15, M15a). Each policy is a file.

mod write_back;
mod write_through;

use crate::config::WritePolicy;

/// Where the bytes go that an access writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// Into the line. They are dirty: the L2 gets them when the line leaves or is released. A line that is not there
    /// comes into a frame, without a fetch.
    Line,
    /// To the L2, and into the line if it is there.
    Both,
}

/// What a policy decides. Uncached stores, and atomics of device and system scope, go to the L2 under any policy (M16,
/// M17), as do the results of atomics that had to wait for their line.
trait Policy {
    /// Where the bytes go of a store, or of an atomic of wave or workgroup scope. `present`: the line is in the cache,
    /// as it always is for an atomic.
    fn write(present: bool) -> Write;
}

/// Declares the policies: these types, each with a choice of the same name in [`WritePolicy`].
macro_rules! policies {
    ($($file:ident::$policy:ident),* $(,)?) => {
        impl WritePolicy {
            /// See [`Policy::write`].
            #[inline]
            pub(super) fn write(self, present: bool) -> Write {
                match self {
                    $(WritePolicy::$policy => $file::$policy::write(present)),*
                }
            }
        }
    };
}

policies! {
    write_through::WriteThrough,
    write_back::WriteBack,
}

impl WritePolicy {
    /// True if lines may have dirty bytes, which the L2 gets later.
    pub fn writes_back(self) -> bool {
        [false, true].iter().any(|&present| self.write(present) == Write::Line)
    }
}
