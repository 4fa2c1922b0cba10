//! Placeholder until the hierarchy is merged: every access goes to a flat memory.
pub mod geometry;
pub mod l1;
pub mod message;
mod port;
use crate::clock::*;
use crate::config::Config;
use message::*;
pub use port::{CorePort, MemoryPort, core_port};
use std::collections::VecDeque;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryCounters;
impl MemoryCounters {
    pub fn since(&self, _: &Self) -> Self {
        MemoryCounters
    }
}

#[derive(Debug)]
pub struct MemorySystem {
    ports: Vec<CorePort>,
    data: Vec<u8>,
    wait: Vec<VecDeque<(Cycle, Reply)>>,
    line: usize,
}
impl MemorySystem {
    pub fn new(c: &Config, data: Vec<u8>, _code: &[u32]) -> Self {
        MemorySystem { ports: vec![], data, wait: vec![], line: c.core.l1.line_bytes as usize }
    }
    pub fn connect(&mut self, ports: Vec<CorePort>) {
        self.wait = ports.iter().map(|_| VecDeque::new()).collect();
        self.ports = ports;
    }
    pub fn run(&mut self, from: Cycle, to: Cycle) {
        for now in from..to {
            for (i, p) in self.ports.iter_mut().enumerate() {
                if let Some(r) = p.requests.pop(now) {
                    let mut d = [0; MAX_LINE_BYTES];
                    let mut kind = ReplyKind::Data;
                    if r.line < CODE_SPACE {
                        let at = r.line as usize;
                        let n = self.line.min(self.data.len() - at);
                        match r.kind {
                            RequestKind::Read => d[..n].copy_from_slice(&self.data[at..at + n]),
                            RequestKind::Write => {
                                kind = ReplyKind::WriteAck;
                                for b in 0..n {
                                    if r.byte_mask >> b & 1 == 1 {
                                        self.data[at + b] = r.data[b];
                                    }
                                }
                            }
                            RequestKind::Atomic(op) => {
                                kind = ReplyKind::AtomicOld;
                                apply_atomic(
                                    op,
                                    r.byte_mask,
                                    &r.data,
                                    r.swap,
                                    &mut self.data[at..at + n],
                                    &mut d[..n],
                                );
                            }
                        }
                    }
                    self.wait[i].push_back((
                        now + 40,
                        Reply { core: r.core, tag: r.tag, kind, line: r.line, sectors: r.sectors, data: d },
                    ));
                }
                if let Some((at, _)) = self.wait[i].front()
                    && *at <= now
                    && p.replies.ready(now)
                {
                    let (_, r) = self.wait[i].pop_front().unwrap();
                    p.replies.push(now, r);
                }
            }
        }
    }
    pub fn exchange(&mut self, core: usize, port: &mut MemoryPort) {
        port::exchange(port, &mut self.ports[core]);
    }
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let mut n = NEVER;
        for (i, p) in self.ports.iter().enumerate() {
            n = n.min(p.requests.next_arrival().unwrap_or(NEVER));
            n = n.min(self.wait[i].front().map_or(NEVER, |x| x.0));
        }
        if n == NEVER { n } else { n.max(now) }
    }
    pub fn flush(&mut self) {}
    pub fn counters(&self) -> MemoryCounters {
        MemoryCounters
    }
    pub fn memory(&self) -> &[u8] {
        &self.data
    }
    pub fn into_memory(self) -> Vec<u8> {
        self.data
    }
}
