//! What an access would do: decided here from what the L1 shows, without changing anything; done in `execute.rs`.

use super::mshr::MshrId;
use super::write_policy::Write;
use super::{Access, Operation, Reject};
use crate::config::WritePolicy;
use crate::memory::tags::Frame;
use wave_isa::special::Scope;
use wave_isa::table::CacheHint;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// A load takes its value from this frame (M11).
    Hit(Frame),
    /// An atomic is performed in this frame (M16).
    Perform {
        /// The line's frame.
        frame: Frame,
        /// Where its result goes.
        to: Write,
        /// The line's dirty bytes go to the L2 before.
        write_back: bool,
        /// This miss becomes stale.
        stale: Option<MshrId>,
    },
    /// A load or an atomic waits for its line (M13).
    Wait(Wait),
    /// The L2 performs it: a store that goes on to the L2, an atomic of device or system scope, an uncached access.
    /// An uncached load takes a free MSHR.
    Pass {
        /// The line's frame, if the line is in the cache.
        frame: Option<Frame>,
        /// The line's dirty bytes go to the L2 before (M15a).
        write_back: bool,
        /// The line loses the sectors (M16, M17). Otherwise it takes the bytes of the store, too (M15).
        drop: bool,
        /// This miss becomes stale.
        stale: Option<MshrId>,
    },
    /// A store stays in this frame (M15a).
    Stay {
        /// The line's frame, or the one that it comes into.
        frame: Frame,
        /// The line comes into the frame. The one that is there leaves.
        replace: bool,
        /// This miss becomes stale.
        stale: Option<MshrId>,
    },
}

/// How an access waits for its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    /// The miss that it joins. Without one it takes a free MSHR.
    pub(super) miss: Option<MshrId>,
    /// The line's frame, if the line is in the cache.
    pub(super) frame: Option<Frame>,
    /// Sectors that it requests; none if all are there or on their way.
    pub(super) request: u8,
    /// The line's dirty bytes go to the L2 before.
    pub(super) write_back: bool,
}

/// What the L1 shows of the line of an access and of its queues.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    /// The line's frame, if the line is in the cache.
    pub(super) frame: Option<Frame>,
    /// Valid sectors of the line.
    pub(super) valid: u8,
    /// The line has dirty bytes.
    pub(super) dirty: bool,
    /// The outstanding miss that accesses to the line join or stay behind.
    pub(super) miss: Option<Miss>,
    /// An MSHR is free.
    pub(super) free_mshr: bool,
    /// Places in the queue to the interconnect.
    pub(super) places: usize,
    /// There is room for the response to a hit.
    pub(super) room_for_hit: bool,
}

/// What the MSHRs show of an outstanding miss.
#[derive(Debug, Clone, Copy)]
pub(super) struct Miss {
    pub(super) id: MshrId,
    /// Accesses may join it: it is not stale.
    pub(super) current: bool,
    /// Atomics are among the accesses that wait for it.
    pub(super) atomics: bool,
    /// There is no room for another access.
    pub(super) full: bool,
    /// Sectors that are on their way, or are held for the accesses that wait.
    pub(super) sectors: u8,
}

/// The lines of a set that may leave the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// All.
    Any,
    /// Those without dirty bytes.
    Clean,
}

impl Leaves {
    /// The lines that may leave while the queue to the interconnect has so many places: a dirty line needs one for its
    /// bytes (M15a).
    #[inline]
    pub(super) fn with(places: usize) -> Leaves {
        if places > 0 { Leaves::Any } else { Leaves::Clean }
    }
}

/// The plan of an access. `sectors` are those that it touches; a store seldom asks. `victim` says which frame would
/// take a line that is not there: the next victim among the lines that may leave, if there is one.
///
/// # Errors
/// What speaks against the access now. Of several reasons the first counts, in this order: [`Reject::Order`],
/// [`Reject::Merge`] or [`Reject::Mshr`], [`Reject::Outgoing`], [`Reject::Responses`] (M10).
#[inline]
pub(super) fn plan(
    policy: WritePolicy,
    access: &Access,
    sectors: impl Fn() -> u8,
    view: &View,
    victim: impl FnOnce(Leaves) -> Option<Frame>,
) -> Result<Plan, Reject> {
    let uncached = access.hint == CacheHint::Uncached;
    match access.operation {
        Operation::Load { .. } if uncached => uncached_load(view, sectors()),
        Operation::Load { .. } => load(view, sectors()),
        Operation::Store { .. } if uncached => pass(view, sectors, true),
        Operation::Store { .. } => match policy.write(view.frame.is_some()) {
            Write::Line => stay(view, sectors, victim),
            Write::Both => pass(view, sectors, false),
        },
        Operation::Atomic { scope: Scope::Device | Scope::System, .. } => pass(view, sectors, true),
        Operation::Atomic { .. } => atomic(view, sectors(), policy.write(true)),
    }
}

/// A load hits if all its sectors are there and no atomic waits for the line. Else it waits.
#[inline]
fn load(view: &View, sectors: u8) -> Result<Plan, Reject> {
    match view.hit(sectors) {
        Some(_) if !view.room_for_hit => Err(Reject::Responses),
        Some(frame) => Ok(Plan::Hit(frame)),
        None => wait(view, sectors, 0, false),
    }
}

/// An atomic of wave or workgroup scope is performed in its line, like a hit, or waits for it.
#[inline]
fn atomic(view: &View, sectors: u8, to: Write) -> Result<Plan, Reject> {
    let Some(frame) = view.hit(sectors) else {
        // It reserves a place for its result, so that a reply never waits for room there (M16). The result is written
        // through, and the line must not keep older dirty bytes.
        return wait(view, sectors, 1, view.dirty);
    };
    let write_back = to != Write::Line && view.dirty;
    let result = usize::from(to != Write::Line);
    if view.places < result + usize::from(write_back) {
        return Err(Reject::Outgoing);
    }
    if !view.room_for_hit {
        return Err(Reject::Responses);
    }
    Ok(Plan::Perform { frame, to, write_back, stale: view.stale(|| sectors)? })
}

/// An access that does not hit waits for its line. It needs `reserved` places in the queue beside that of its request
/// and that of the line's dirty bytes, if these go before.
#[inline]
fn wait(view: &View, sectors: u8, reserved: usize, write_back: bool) -> Result<Plan, Reject> {
    let coming = match view.miss {
        Some(miss) if !miss.current => return Err(Reject::Order),
        Some(miss) if miss.full => return Err(Reject::Merge),
        Some(miss) => miss.sectors,
        None if !view.free_mshr => return Err(Reject::Mshr),
        None => 0,
    };
    let request = sectors & !view.valid & !coming;
    if view.places < reserved + usize::from(write_back) + usize::from(request != 0) {
        return Err(Reject::Outgoing);
    }
    let miss = view.miss.map(|miss| miss.id);
    Ok(Plan::Wait(Wait { miss, frame: view.frame, request, write_back }))
}

/// An uncached load asks the L2, whatever the L1 has.
fn uncached_load(view: &View, sectors: u8) -> Result<Plan, Reject> {
    view.stale(|| sectors)?;
    if !view.free_mshr {
        return Err(Reject::Mshr);
    }
    pass(view, || sectors, true)
}

/// The L2 performs an access, behind the line's dirty bytes.
#[inline]
fn pass(view: &View, sectors: impl Fn() -> u8, drop: bool) -> Result<Plan, Reject> {
    let stale = view.stale(sectors)?;
    if view.places < 1 + usize::from(view.dirty) {
        return Err(Reject::Outgoing);
    }
    Ok(Plan::Pass { frame: view.frame, write_back: view.dirty, drop, stale })
}

/// A store stays in its line, which comes into a frame without a fetch if it is not there.
#[inline]
fn stay(
    view: &View,
    sectors: impl Fn() -> u8,
    victim: impl FnOnce(Leaves) -> Option<Frame>,
) -> Result<Plan, Reject> {
    let stale = view.stale(sectors)?;
    let frame = view.frame.or_else(|| victim(Leaves::with(view.places))).ok_or(Reject::Outgoing)?;
    Ok(Plan::Stay { frame, replace: view.frame.is_none(), stale })
}

impl View {
    /// The frame if it has all sectors of the access, and the access need not stay behind an atomic.
    #[inline]
    fn hit(&self, sectors: u8) -> Option<Frame> {
        let behind_atomic = self.miss.is_some_and(|miss| miss.atomics);
        self.frame.filter(|_| sectors & !self.valid == 0 && !behind_atomic)
    }

    /// The miss that an access makes stale which changes sectors of the line, or which must see what the L2 has of
    /// them: one that carries any of these sectors (M15). Such an access must not pass an atomic that waits for the
    /// line (M16).
    #[inline]
    fn stale(&self, sectors: impl Fn() -> u8) -> Result<Option<MshrId>, Reject> {
        match self.miss {
            Some(miss) if miss.atomics => Err(Reject::Order),
            Some(miss) if miss.sectors & sectors() != 0 => Ok(Some(miss.id)),
            _ => Ok(None),
        }
    }
}
