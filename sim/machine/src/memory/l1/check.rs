//! What a state that is put back into an L1 has to satisfy.

use super::frames::WRITE_BACK;
use super::{L1, Response, ResponseKind};
use crate::memory::bounds::Bounds;
use crate::memory::message::Request;
use wave_capture::Misfit;

impl Response {
    /// The response to a write with this tag.
    pub(in crate::memory) fn to_write(tag: u32) -> Response {
        let kind = if tag & WRITE_BACK != 0 { ResponseKind::WrittenBack } else { ResponseKind::Stored };
        Response { owner: tag & !WRITE_BACK, kind }
    }
}

impl L1 {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        let taken = self.outgoing.len() + self.mshrs.pending_atomics();
        Misfit::in_range(taken <= self.spec.outgoing_capacity, "outgoing")
    }

    /// Requests that wait for the port.
    pub(crate) fn outgoing(&self) -> impl Iterator<Item = &Request> {
        self.outgoing.iter().map(|(_, request)| request)
    }

    /// The responses to come, as far as this L1 knows: those that are ready, those of accesses that wait for a line, and
    /// those of lines that it has yet to write back.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = Response> {
        let waiting = self.mshrs.all_waiters().flat_map(|waiter| {
            let of = |kind| Response { owner: waiter.owner, kind };
            match waiter.atomic {
                None => [Some(of(ResponseKind::Loaded)), None],
                // Its result is a write of its own.
                Some(_) => [Some(of(ResponseKind::AtomicOld)), Some(of(ResponseKind::Stored))],
            }
        });
        let back = |epoch: u32| Response { owner: epoch, kind: ResponseKind::WrittenBack };
        let dirty = self.dirty.of_epochs().into_iter().zip(0..);
        let dirty = dirty.flat_map(move |(lines, epoch)| (0..lines).map(move |_| back(epoch)));
        self.responses.iter().copied().chain(waiting.flatten()).chain(dirty)
    }

    /// Refuses what this L1 cannot hold. `requested` are the tags and sectors of its reads that are on their way behind
    /// its port.
    pub(crate) fn check(
        &self,
        bounds: &Bounds,
        requested: impl Iterator<Item = (u32, u8)>,
    ) -> Result<(), Misfit> {
        let holds = self
            .tags
            .all(|frame, line| bounds.may_hold(line, self.valid[frame.index()], self.dirty.of(frame)));
        Misfit::in_range(holds, "tags")?;
        let dirty = |frame| self.dirty.of(frame) == 0 || self.tags.line(frame).is_some();
        Misfit::agrees(self.tags.all_frames(dirty), "dirty")?;
        self.outgoing
            .iter()
            .try_for_each(|(at, request)| {
                Misfit::in_range(bounds.may_plan(*at), "cycle")?;
                bounds.request(request)
            })
            .map_err(|misfit| misfit.within("outgoing"))?;
        Misfit::in_range(bounds.may_plan(self.leaves_from), "leaves_from")?;
        Misfit::in_range(self.responses.may_be_taken(bounds), "responses")?;
        Misfit::in_range(self.rejected_since.is_none_or(|since| since <= bounds.now), "rejected_since")?;
        let reads = self.outgoing().filter(|request| request.kind == super::RequestKind::Read);
        let here = reads.map(|request| (request.tag, request.sectors));
        let answered = self.path.iter().flat_map(|path| path.answered());
        if let Some(path) = &self.path {
            path.check(bounds).map_err(|misfit| misfit.within("path"))?;
        }
        if let Some(prefetching) = &self.prefetching {
            prefetching.check(bounds).map_err(|misfit| misfit.within("prefetching"))?;
        }
        let here = here.chain(answered);
        self.mshrs.check(bounds, here.chain(requested)).map_err(|misfit| misfit.within("mshrs"))
    }
}
