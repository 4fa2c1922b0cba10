//! A block of a plug-in between an L1 and its port.

use super::L1;
use crate::clock::{Cycle, NEVER};
use crate::config::{Config, L1Path};
use crate::memory::bounds::Bounds;
use crate::memory::message::{Reply, ReplyKind, Request, RequestKind};
use crate::registry::{Maker, PathBlock, PathRequest, PathSetup, PlugIn, Plugged};
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};
use wave_isa::table::CacheHint;

#[derive(Debug, Capture)]
pub(super) struct Path {
    block: Plugged<dyn PathBlock>,
    /// Its answers, each with the cycle in which the L1 may take it; in order.
    replies: VecDeque<(Cycle, Reply)>,
    #[spec]
    line_bytes: usize,
}

impl Path {
    /// The block that a configuration chooses for a core.
    pub(super) fn new(config: &Config, core: u32) -> Option<Box<Path>> {
        let L1Path::PlugIn(chosen) = config.core.l1.path else { return None };
        let plug_in = chosen.plug_in();
        let Maker::Path(make) = &plug_in.maker else {
            unreachable!("a configuration chooses among the plug-ins of a role");
        };
        let (line_bytes, sector_bytes) = (config.core.l1.line_bytes, config.core.l1.sector_bytes);
        let setup = PathSetup { values: config.plugins.of(plug_in), core, line_bytes, sector_bytes };
        let block = Plugged::new(plug_in, || make(&setup));
        Some(Box::new(Path { block, replies: VecDeque::new(), line_bytes: line_bytes as usize }))
    }

    /// Shows the block a request that leaves the L1. Returns it unless the block answers it.
    ///
    /// # Panics
    /// If the block answers what is no cached read, or at once, or with another number of bytes than a line has.
    pub(super) fn pass(&mut self, now: Cycle, mut request: Request) -> Option<Request> {
        let shown = match (request.kind, &request.values) {
            (RequestKind::Write, Some(values)) => {
                PathRequest::Write { bytes: values.byte_mask, data: &values.data[..self.line_bytes] }
            }
            (RequestKind::Atomic(_), Some(values)) => PathRequest::Atomic { bytes: values.byte_mask },
            _ => {
                PathRequest::Read { sectors: request.sectors, uncached: request.hint == CacheHint::Uncached }
            }
        };
        let may_answer = matches!(shown, PathRequest::Read { uncached: false, .. });
        let answer = self.block.tell(|block| {
            let answer = block.request(now, request.line, &shown)?;
            assert!(may_answer, "only a read that is not uncached can be answered");
            assert!(answer.latency > 0, "an answer takes at least a cycle");
            assert!(answer.data.len() == self.line_bytes, "an answer has the bytes of a line");
            Some(answer)
        });
        let Some(answer) = answer else { return Some(request) };
        let mut values = request.values.take().unwrap_or_default();
        values.data[..self.line_bytes].copy_from_slice(&answer.data);
        let Request { core, tag, line, sectors, .. } = request;
        let reply = Reply { core, tag, kind: ReplyKind::Data, line, sectors, values: Some(values) };
        let before = self.replies.back().map_or(0, |&(at, _)| at);
        self.replies.push_back((before.max(now + answer.latency), reply));
        None
    }

    pub(super) fn evicted(&mut self, now: Cycle, line: u64, sectors: u8, data: &[u8]) {
        self.block.tell(|block| block.evicted(now, line, sectors, data));
    }

    pub(super) fn installed(&mut self, now: Cycle, line: u64) {
        self.block.tell(|block| block.installed(now, line));
    }

    pub(super) fn invalidate(&mut self) {
        self.block.tell(|block| block.invalidate());
    }

    pub(super) fn plug_in_counters(&self) -> (&'static PlugIn, Vec<u64>) {
        (self.block.plug_in, self.block.ask(|block| block.counters()))
    }

    /// Tags and sectors of the reads that it has answered and whose answers the L1 has not taken.
    pub(super) fn answered(&self) -> impl Iterator<Item = (u32, u8)> {
        self.replies.iter().map(|(_, reply)| (reply.tag, reply.sectors))
    }

    /// Refuses what cannot be on its way in a cycle.
    pub(super) fn check(&self, bounds: &Bounds) -> Result<(), Misfit> {
        let planned = self.replies.iter().all(|&(at, _)| bounds.may_plan(at));
        Misfit::in_range(planned && self.replies.iter().is_sorted_by_key(|(at, _)| *at), "replies")?;
        let data =
            self.replies.iter().all(|(_, reply)| reply.kind == ReplyKind::Data && reply.values.is_some());
        Misfit::in_range(data, "replies")
    }
}

impl L1 {
    /// The cycle in which the next answer of the block on the path can be taken; [`NEVER`] if there is none.
    #[inline]
    pub(crate) fn next_path_reply(&self) -> Cycle {
        let path = self.path.as_ref();
        path.and_then(|path| path.replies.front()).map_or(NEVER, |&(at, _)| at)
    }

    /// Takes the next answer of the block on the path.
    pub(crate) fn take_path_reply(&mut self) -> Option<(Cycle, Reply)> {
        self.path.as_mut()?.replies.pop_front()
    }

    /// Puts an answer back for which there was no room.
    pub(crate) fn return_path_reply(&mut self, reply: (Cycle, Reply)) {
        if let Some(path) = &mut self.path {
            path.replies.push_front(reply);
        }
    }
}
