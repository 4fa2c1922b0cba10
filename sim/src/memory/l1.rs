//! Placeholder.
use super::MemoryPort;
use super::message::*;
use crate::clock::*;
use crate::config::Config;
use crate::isa::Scope;
use crate::isa::table::{AtomicOp, CacheHint};
use std::collections::VecDeque;
#[derive(Debug)]
pub struct Access<'a> {
    pub kind: AccessKind<'a>,
    pub hint: CacheHint,
    pub line: u64,
    pub owner: u32,
}
#[derive(Debug)]
pub enum AccessKind<'a> {
    Load { sectors: u8 },
    Store { byte_mask: u128, data: &'a LineData },
    Atomic { op: AtomicOp, scope: Scope, byte_mask: u128, data: &'a LineData, swap: u32 },
}
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResponseKind {
    Loaded,
    Stored,
    AtomicOld,
}
pub struct Response<'a> {
    pub owner: u32,
    pub kind: ResponseKind,
    pub line: u64,
    pub data: &'a [u8],
}
#[derive(Debug)]
pub struct Reject;
#[derive(Debug, Clone)]
pub struct L1 {
    out: VecDeque<Reply>,
    owners: Vec<u32>,
    free: Vec<u32>,
    g: super::geometry::LineGeometry,
}
impl L1 {
    pub fn new(c: &Config) -> L1 {
        L1 { out: VecDeque::new(), owners: vec![], free: vec![], g: super::geometry::LineGeometry::new(c) }
    }
    pub fn access(&mut self, now: Cycle, a: &Access, port: &mut MemoryPort) -> Result<(), Reject> {
        if !port.ready(now) {
            return Err(Reject);
        }
        let tag = self.free.pop().unwrap_or_else(|| {
            self.owners.push(0);
            self.owners.len() as u32 - 1
        });
        self.owners[tag as usize] = a.owner;
        port.push(
            now,
            match a.kind {
                AccessKind::Load { sectors } => Request::read(tag, a.line, sectors, a.hint),
                AccessKind::Store { byte_mask, data } => {
                    Request::write(tag, a.line, byte_mask, data, a.hint, self.g)
                }
                AccessKind::Atomic { op, byte_mask, data, swap, .. } => {
                    Request::atomic(tag, a.line, op, byte_mask, data, swap, self.g)
                }
            },
        );
        Ok(())
    }
    pub fn tick(&mut self, now: Cycle, port: &mut MemoryPort) -> bool {
        if let Some(r) = port.reply(now) {
            self.out.push_back(r.clone());
            port.pop_reply(now);
            true
        } else {
            false
        }
    }
    pub fn response(&self, _now: Cycle) -> Option<Response<'_>> {
        self.out.front().map(|r| Response {
            owner: self.owners[r.tag as usize],
            kind: match r.kind {
                ReplyKind::Data => ResponseKind::Loaded,
                ReplyKind::WriteAck => ResponseKind::Stored,
                ReplyKind::AtomicOld => ResponseKind::AtomicOld,
            },
            line: r.line,
            data: &r.data,
        })
    }
    pub fn pop_response(&mut self) {
        if let Some(r) = self.out.pop_front() {
            self.free.push(r.tag);
        }
    }
    pub fn invalidate(&mut self, _now: Cycle) {}
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if self.out.is_empty() { NEVER } else { now + 1 }
    }
    pub fn wants_link(&self) -> bool {
        false
    }
}
