//! The policy of a plug-in.

use crate::registry::{CacheSet, CacheSetup, Maker, PlugIn, Plugged, Reference, Replacement};
use std::ops::Range;
use wave_capture::Capture;

#[derive(Debug, Capture)]
pub(in crate::memory) struct Registered {
    policy: Plugged<dyn Replacement>,
    /// Frames whose line has come and was not yet used by the reference that it came for.
    #[fixed]
    fresh: Vec<bool>,
}

impl Registered {
    /// The policy of an empty cache.
    pub(super) fn new(plug_in: &'static PlugIn, setup: &CacheSetup) -> Registered {
        let Maker::Replacement(make) = &plug_in.maker else {
            unreachable!("a configuration chooses among the plug-ins of a role");
        };
        Registered {
            policy: Plugged::new(plug_in, || make(setup)),
            fresh: vec![false; setup.sets * setup.ways],
        }
    }

    /// See [`Policy::victim`](super::Policy::victim).
    ///
    /// # Panics
    /// If the plug-in names a frame that may not leave.
    pub(super) fn victim(&self, frames: Range<usize>, may_leave: &dyn Fn(usize) -> bool) -> Option<usize> {
        let set = CacheSet { frames: frames.clone(), may_leave };
        self.policy.ask(|policy| {
            let victim = policy.victim(&set);
            if let Some(frame) = victim {
                let is_one = frames.contains(&frame) && may_leave(frame);
                assert!(is_one, "frame {frame} is no candidate of the set {frames:?}");
            }
            victim
        })
    }

    /// A new line has come into a frame; `left`, for another.
    pub(super) fn installed(&mut self, frame: usize, left: bool, by: &Reference) {
        // A streaming reference does not use its line.
        self.fresh[frame] = !by.streaming;
        self.policy.tell(|policy| {
            if left {
                policy.evicted(frame);
            }
            policy.installed(frame, by);
        });
    }

    /// A line was used.
    pub(super) fn used(&mut self, frame: usize, by: &Reference) {
        if !std::mem::take(&mut self.fresh[frame]) {
            self.policy.tell(|policy| policy.hit(frame, by));
        }
    }

    /// Values of its counters.
    pub(super) fn counters(&self) -> (&'static PlugIn, Vec<u64>) {
        (self.policy.plug_in, self.policy.ask(|policy| policy.counters()))
    }
}
