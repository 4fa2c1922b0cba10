//! A memory side that plays a script. The co-simulation uses it: the test bench of the SystemVerilog core
//! plays the same script.
//!
//! It takes one request a cycle, in order of arrival, and performs it at once on the image. The n-th reply is ready the
//! n-th latency of the script after its request was taken, but not before the replies ahead of it; if replies overtake
//! one another, not before those to its line. Of the replies that are ready, the oldest goes first. At most `in_service` requests are taken and not answered. A reply holds the
//! port for its bytes as in M6, and the links are those of M1 and M7.

use super::image::Image;
use super::message::{
    CODE_SPACE, MAX_LINE_BYTES, Reply, ReplyKind, Request, RequestKind, Values, apply_atomic,
};
use super::port::CorePorts;
use crate::clock::Cycle;
use crate::config::Config;
use crate::memory::geometry::LineGeometry;
use std::collections::VecDeque;
use wave_capture::Capture;

/// The script of a memory side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Address of the image's first byte, a multiple of a line. Memory reads as 0 below it, and keeps nothing that is
    /// stored there. So programs can work at the end of the address space with an image of a few kilobytes.
    pub first: u32,
    /// Cycles from taking a request to its reply, used in turn and from the start again after the last. At
    /// least one; each at least 1.
    pub latencies: Vec<u32>,
    /// Most requests that are taken and not answered.
    pub in_service: usize,
    /// Replies to different lines may overtake one another. Those to one line stay in order.
    pub overtakes: bool,
}

/// The scripted memory side of a machine with one core.
#[derive(Debug, Clone, Capture)]
pub(super) struct Scripted {
    #[spec]
    script: Script,
    next: usize,
    replies: VecDeque<(Cycle, Reply)>,
    port_free_at: Cycle,
    #[spec]
    port_bytes: u32,
    #[spec]
    geometry: LineGeometry,
}

impl Scripted {
    pub(super) fn new(script: Script, config: &Config) -> Scripted {
        Scripted {
            script,
            next: 0,
            replies: VecDeque::new(),
            port_free_at: 0,
            port_bytes: config.interconnect.port_bytes_per_cycle,
            geometry: LineGeometry::new(config),
        }
    }

    /// Address of the image's first byte.
    pub(super) fn first(&self) -> u64 {
        self.script.first.into()
    }

    /// The replies to come.
    pub(super) fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.replies.iter().map(|(_, reply)| reply)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.replies.is_empty()
    }

    /// Simulates one cycle.
    pub(super) fn tick(&mut self, now: Cycle, ports: &mut CorePorts, image: &mut Image) {
        if self.replies.len() < self.script.in_service
            && let Some(request) = ports.take_request(now, 0)
        {
            let latency = self.script.latencies[self.next % self.script.latencies.len()];
            self.next += 1;
            let ahead = |reply: &Reply| !self.script.overtakes || reply.line == request.line;
            let ahead = self.replies.iter().filter(|(_, reply)| ahead(reply)).map(|&(ready, _)| ready);
            let ready = ahead.fold(now + Cycle::from(latency), Cycle::max);
            self.replies.push_back((ready, self.perform(request, image)));
        }
        if let Some(oldest) = self.replies.iter().position(|&(ready, _)| ready <= now)
            && self.port_free_at <= now
            && ports.reply_ready(now, 0)
            && let Some((_, reply)) = self.replies.remove(oldest)
        {
            let bytes = reply.packet_bytes(self.geometry.sector_bytes());
            let cycles = Cycle::from(bytes.div_ceil(self.port_bytes));
            self.port_free_at = now + cycles;
            ports.send_reply(now, now + cycles - 1, 0, reply);
        }
    }

    fn perform(&self, request: Request, image: &mut Image) -> Reply {
        let Request { core, tag, line, sectors, .. } = request;
        let is_code = line & CODE_SPACE != 0;
        let place = if is_code { Some(line) } else { line.checked_sub(self.first()) };
        let place = place.map(|line| self.geometry.number(line));
        let mut bytes = place.map_or([0; MAX_LINE_BYTES], |number| image.read(number));
        let mut values = request.values.unwrap_or_default();
        let kind = match request.kind {
            RequestKind::Read => {
                values.data = bytes;
                ReplyKind::Data
            }
            RequestKind::Write => {
                place.inspect(|&number| image.write(number, &values.data, values.byte_mask));
                ReplyKind::WriteAck
            }
            RequestKind::Atomic(op) => {
                let Values { byte_mask, data, swap } = &mut *values;
                let written = apply_atomic(op, *byte_mask, data, *swap, &mut bytes);
                place.inspect(|&number| image.write(number, &bytes, written));
                ReplyKind::AtomicOld
            }
            RequestKind::Release => ReplyKind::Released,
        };
        Reply { core, tag, kind, line, sectors, values: Some(values) }
    }
}
