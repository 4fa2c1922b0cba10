//! The stage that takes a reply of the memory side: a line of code, the answer to a release, or what the L1 has asked for.

use super::fetch::{Fetch, ICACHE_TAG};
use super::lsu::Lsu;
use super::shared::Shared;
use crate::clock::Cycle;
use crate::memory::{L1, MemoryPort, ReplyKind};

/// The stage that takes a reply.
pub(super) struct Receive<'c> {
    pub shared: &'c mut Shared,
    /// Gets lines of code.
    pub fetch: &'c mut Fetch,
    /// Gets all other lines.
    pub l1: &'c mut L1,
    /// Gets the values of a line that the L1 takes.
    pub lsu: &'c mut Lsu,
    pub port: &'c mut MemoryPort,
}

impl Receive<'_> {
    /// Takes one reply if one has arrived. True if it has taken one.
    #[inline]
    pub(super) fn tick(&mut self, now: Cycle) -> bool {
        if self.l1.next_path_reply() <= now && self.take_path_reply(now) {
            return true;
        }
        self.port.next_reply().is_some_and(|at| at <= now) && self.take_reply(now)
    }

    /// Hands the L1 an answer of the block between it and the port. False if it has no room.
    fn take_path_reply(&mut self, now: Cycle) -> bool {
        let Some((at, reply)) = self.l1.take_path_reply() else { return false };
        let lsu = &mut *self.lsu;
        if !self.l1.accept(now, &reply, &mut |owner, line| lsu.take_values(owner, line)) {
            self.l1.return_path_reply((at, reply));
            return false;
        }
        self.l1.recycle(reply);
        true
    }

    /// Hands the arrived reply to its receiver: the instruction cache, the releases or the L1. False if the L1 has no room.
    fn take_reply(&mut self, now: Cycle) -> bool {
        let Some(reply) = self.port.reply(now) else { return false };
        let lsu = &mut *self.lsu;
        let waves = &mut self.shared.waves;
        if reply.tag & ICACHE_TAG != 0 {
            waves.fetching &= !self.fetch.filled(reply.tag);
        } else if reply.kind == ReplyKind::Released {
            waves.releases.answer();
        } else if !self.l1.accept(now, reply, &mut |owner, line| lsu.take_values(owner, line)) {
            return false;
        }
        if let Some(reply) = self.port.pop_reply(now) {
            self.l1.recycle(reply);
        }
        true
    }
}
