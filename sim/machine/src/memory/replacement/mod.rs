//! Replacement policies: which line of a full set leaves a cache (M23a). Each policy is a file.

mod fifo;
mod lru;
mod plru;
mod random;
mod registered;
#[cfg(test)]
mod tests;

use crate::config::{PlugIns, ReplacementPolicy};
use crate::registry::{CacheSetup, Reference};
use registered::Registered;
use std::ops::Range;
use wave_capture::Capture;

/// The cache whose policy is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachePlace<'a> {
    /// Parameters of plug-ins.
    pub(super) plugins: &'a PlugIns,
    /// 1 for an L1, 2 for a slice of the L2.
    pub(super) level: u8,
    /// Index of the core or of the slice.
    pub(super) index: u32,
    /// Bytes of a line.
    pub(super) line_bytes: u32,
}

impl CachePlace<'_> {
    /// The setup of a plug-in of this cache.
    pub(super) fn setup(
        &self,
        plug_in: &'static crate::registry::PlugIn,
        sets: usize,
        ways: usize,
    ) -> CacheSetup {
        let CachePlace { plugins, level, index, line_bytes } = *self;
        CacheSetup { values: plugins.of(plug_in), level, index, sets, ways, line_bytes }
    }
}

/// What a policy remembers of the frames of a cache. Frames are numbered set × ways + way.
pub(super) trait Policy: Capture {
    /// The policy of an empty cache.
    fn new(sets: usize, ways: usize) -> Self;

    /// The frame that leaves a full set, among those that `may_leave` allows. Asking changes nothing. `set` are
    /// the frames of the set.
    fn victim(&self, set: Range<usize>, may_leave: impl Fn(usize) -> bool) -> Option<usize>;

    /// A new line has come into a frame. [`used`](Self::used) or [`demoted`](Self::demoted) follows.
    fn installed(&mut self, frame: usize);

    /// A line was used by an access that is not streaming.
    fn used(&mut self, frame: usize);

    /// A line is to be the first that leaves its set.
    fn demoted(&mut self, frame: usize);
}

/// Declares the policy of a cache: one of these types, each with a choice of the same name in [`ReplacementPolicy`].
macro_rules! policies {
    ($($file:ident::$policy:ident),* $(,)?) => {
        /// The policy of one cache. Each call goes to it without a table of functions.
        #[derive(Debug, Capture)]
        pub(super) enum Order {
            $($policy($file::$policy),)*
            /// That of a plug-in, behind a table of functions.
            Registered(Registered),
        }

        impl Order {
            /// The policy of an empty cache.
            pub(super) fn new(chosen: ReplacementPolicy, place: &CachePlace<'_>, sets: usize, ways: usize) -> Order {
                match chosen {
                    $(ReplacementPolicy::$policy => Order::$policy($file::$policy::new(sets, ways)),)*
                    ReplacementPolicy::PlugIn(chosen) => {
                        let plug_in = chosen.plug_in();
                        Order::Registered(Registered::new(plug_in, &place.setup(plug_in, sets, ways)))
                    }
                }
            }

            /// See [`Policy::victim`].
            #[inline]
            pub(super) fn victim(
                &self,
                set: Range<usize>,
                may_leave: impl Fn(usize) -> bool,
            ) -> Option<usize> {
                match self {
                    $(Order::$policy(policy) => policy.victim(set, may_leave),)*
                    Order::Registered(policy) => policy.victim(set, &may_leave),
                }
            }

            /// See [`Policy::installed`]. `left`: another line was there.
            #[inline]
            pub(super) fn installed(&mut self, frame: usize, left: bool, by: impl FnOnce() -> Reference) {
                match self {
                    $(Order::$policy(policy) => policy.installed(frame),)*
                    Order::Registered(policy) => policy.installed(frame, left, &by()),
                }
            }

            /// See [`Policy::used`].
            #[inline]
            pub(super) fn used(&mut self, frame: usize, by: impl FnOnce() -> Reference) {
                match self {
                    $(Order::$policy(policy) => policy.used(frame),)*
                    Order::Registered(policy) => policy.used(frame, &by()),
                }
            }

            /// Values of the counters of a plug-in, if this is one's.
            pub(super) fn counters(&self) -> Option<(&'static crate::registry::PlugIn, Vec<u64>)> {
                if let Order::Registered(policy) = self { Some(policy.counters()) } else { None }
            }

            /// See [`Policy::demoted`].
            #[inline]
            pub(super) fn demoted(&mut self, frame: usize) {
                match self {
                    $(Order::$policy(policy) => policy.demoted(frame),)*
                    // It knows from the reference for which the line came.
                    Order::Registered(_) => {}
                }
            }
        }
    };
}

policies! {
    lru::Lru,
    plru::Plru,
    fifo::Fifo,
    random::Random,
}
