//! Replacement policies: which line of a full set leaves a cache (M23a). Each policy is a file.

mod fifo;
mod lru;
mod plru;
mod random;
#[cfg(test)]
mod tests;

use crate::config::Replacement;
use std::ops::Range;
use wave_capture::Capture;

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

/// Declares the policy of a cache: one of these types, each with a choice of the same name in [`Replacement`].
macro_rules! policies {
    ($($file:ident::$policy:ident),* $(,)?) => {
        /// The policy of one cache. Each call goes to it without a table of functions.
        #[derive(Debug, Clone, Capture)]
        pub(super) enum Order {
            $($policy($file::$policy)),*
        }

        impl Order {
            /// The policy of an empty cache.
            pub(super) fn new(chosen: Replacement, sets: usize, ways: usize) -> Order {
                match chosen {
                    $(Replacement::$policy => Order::$policy($file::$policy::new(sets, ways))),*
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
                    $(Order::$policy(policy) => policy.victim(set, may_leave)),*
                }
            }

            /// See [`Policy::installed`].
            #[inline]
            pub(super) fn installed(&mut self, frame: usize) {
                match self {
                    $(Order::$policy(policy) => policy.installed(frame)),*
                }
            }

            /// See [`Policy::used`].
            #[inline]
            pub(super) fn used(&mut self, frame: usize) {
                match self {
                    $(Order::$policy(policy) => policy.used(frame)),*
                }
            }

            /// See [`Policy::demoted`].
            #[inline]
            pub(super) fn demoted(&mut self, frame: usize) {
                match self {
                    $(Order::$policy(policy) => policy.demoted(frame)),*
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
