//! Operations across the lanes of a wave. All 32 threads of the warp are members, those of lanes that take no part too.

use super::Translation;
use crate::body::line;
use wave_isa::{Inst, Op};

impl Translation<'_> {
    /// Shuffles, votes, sums.
    pub(crate) fn wave_operation(&mut self, inst: &Inst, g: &str) {
        use Op::*;
        let (d, a, b) = (inst.rd, inst.rs1, inst.rs2);
        match inst.op {
            WaveShuffle => self.shuffle(&format!("%r{b}"), inst, g),
            WaveShuffleUp | WaveShuffleDown | WaveShuffleXor => {
                let operation = match inst.op {
                    WaveShuffleUp => "sub.u32",
                    WaveShuffleDown => "add.u32",
                    _ => "xor.b32",
                };
                let source = self.body.word();
                line!(self.body, "{operation} {source}, %lane, %r{b};");
                self.shuffle(&source, inst, g);
            }
            WaveBroadcast => {
                let (lowest, source) = (self.body.word(), self.body.word());
                line!(self.body, "vote.sync.ballot.b32 {lowest}, {g}, 0xffffffff;");
                line!(self.body, "brev.b32 {lowest}, {lowest};");
                line!(self.body, "clz.b32 {lowest}, {lowest};");
                line!(self.body, "and.b32 {lowest}, {lowest}, 31;");
                line!(self.body, "shfl.sync.idx.b32 {source}, %r{b}, {lowest}, 31, 0xffffffff;");
                self.shuffle(&source, inst, g);
            }
            WaveBallot => {
                let (q, t) = (self.body.predicate(), self.body.word());
                line!(self.body, "and.pred {q}, {g}, %p{a};");
                line!(self.body, "vote.sync.ballot.b32 {t}, {q}, 0xffffffff;");
                line!(self.body, "@{g} mov.b32 %r{d}, {t};");
            }
            WaveAny => {
                let (q, any) = (self.body.predicate(), self.body.predicate());
                line!(self.body, "and.pred {q}, {g}, %p{a};");
                line!(self.body, "vote.sync.any.pred {any}, {q}, 0xffffffff;");
                self.set_predicate(d, &any, g);
            }
            WaveAll => {
                let (q, all) = (self.body.predicate(), self.body.predicate());
                line!(self.body, "not.pred {q}, {g};");
                line!(self.body, "or.pred {q}, {q}, %p{a};");
                line!(self.body, "vote.sync.all.pred {all}, {q}, 0xffffffff;");
                self.set_predicate(d, &all, g);
            }
            WavePrefixSum => {
                let (own, sum, other) = (self.body.word(), self.body.word(), self.body.word());
                let q = self.body.predicate();
                line!(self.body, "selp.b32 {own}, %r{a}, 0, {g};");
                line!(self.body, "mov.b32 {sum}, {own};");
                for distance in [1, 2, 4, 8, 16] {
                    line!(self.body, "shfl.sync.up.b32 {other}|{q}, {sum}, {distance}, 0, 0xffffffff;");
                    line!(self.body, "@{q} add.u32 {sum}, {sum}, {other};");
                }
                line!(self.body, "@{g} sub.u32 %r{d}, {sum}, {own};");
            }
            WaveReduceAdd => self.reduce("add.u32", "0", inst, g),
            WaveReduceMin => self.reduce("min.u32", "0xFFFFFFFF", inst, g),
            WaveReduceMax => self.reduce("max.u32", "0", inst, g),
            WaveReduceAnd => self.reduce("and.b32", "0xFFFFFFFF", inst, g),
            WaveReduceOr => self.reduce("or.b32", "0", inst, g),
            WaveReduceXor => self.reduce("xor.b32", "0", inst, g),
            _ => unreachable!("the other classes have their own functions"),
        }
    }

    /// r\[a\] of the lane that `source` names, 0 where there is none.
    fn shuffle(&mut self, source: &str, inst: &Inst, g: &str) {
        let (t, lane, q) = (self.body.word(), self.body.word(), self.body.predicate());
        line!(self.body, "and.b32 {lane}, {source}, 31;");
        line!(self.body, "shfl.sync.idx.b32 {t}, %r{}, {lane}, 31, 0xffffffff;", inst.rs1);
        line!(self.body, "setp.lt.u32 {q}, {source}, 32;");
        line!(self.body, "@{g} selp.b32 %r{}, {t}, 0, {q};", inst.rd);
    }

    fn reduce(&mut self, operation: &str, identity: &str, inst: &Inst, g: &str) {
        let (value, t) = (self.body.word(), self.body.word());
        let (operation, ty) = operation.split_once('.').expect("an operation and its type");
        line!(self.body, "selp.b32 {value}, %r{}, {identity}, {g};", inst.rs1);
        line!(self.body, "redux.sync.{operation}.{ty} {t}, {value}, 0xffffffff;");
        line!(self.body, "@{g} mov.b32 %r{}, {t};", inst.rd);
    }

    fn set_predicate(&mut self, p: u8, value: &str, g: &str) {
        line!(self.body, "@{g} mov.pred %p{p}, {value};");
    }
}
