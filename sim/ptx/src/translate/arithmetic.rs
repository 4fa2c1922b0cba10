//! Arithmetic of a lane: integers, floating point of every width, comparisons, conversions, moves.
//!
//! A NaN that PTX computes is 0x7FFFFFFF, that of WAVE 0x7FC00000: a result that is a NaN is replaced, at the latest
//! where something reads its bits ([`crate::floats`]). All roundings are
//! stated (`.rn`), so that no product and sum become one operation.

use super::Translation;
use crate::body::line;
use wave_isa::{Inst, MMA_DIM, Op, Special};

/// The canonical NaN of f32.
const NAN: &str = "0x7FC00000";

/// How f16 and bf16 become f32 and back.
#[derive(Clone, Copy)]
enum Narrow {
    F16,
    Bf16,
}

impl Translation<'_> {
    /// What computes registers or predicates of a lane from its own.
    pub(crate) fn compute(&mut self, inst: &Inst, g: &str) {
        use Op::*;
        let (d, a, b, c, e) = (inst.rd, inst.rs1, inst.rs2, inst.rs3, inst.rs4);
        match inst.op {
            IAdd => self.two("add.u32", inst, g),
            ISub => self.two("sub.u32", inst, g),
            IMul => self.two("mul.lo.u32", inst, g),
            IMulHi => self.two("mul.hi.u32", inst, g),
            IMad => line!(self.body, "@{g} mad.lo.u32 %r{d}, %r{a}, %r{b}, %r{c};"),
            IDiv | IMod => self.divide(inst, g),
            INeg => line!(self.body, "@{g} neg.s32 %r{d}, %r{a};"),
            IAbs => {
                let t = self.body.word();
                line!(self.body, "sub.u32 {t}, 0, %r{a};");
                line!(self.body, "@{g} max.s32 %r{d}, %r{a}, {t};");
            }
            IMin => self.two("min.s32", inst, g),
            IMax => self.two("max.s32", inst, g),
            IClamp => {
                let t = self.body.word();
                line!(self.body, "max.s32 {t}, %r{a}, %r{b};");
                line!(self.body, "@{g} min.s32 %r{d}, {t}, %r{c};");
            }
            UMin => self.two("min.u32", inst, g),
            UMax => self.two("max.u32", inst, g),
            And => self.two("and.b32", inst, g),
            Or => self.two("or.b32", inst, g),
            Xor => self.two("xor.b32", inst, g),
            Not => line!(self.body, "@{g} not.b32 %r{d}, %r{a};"),
            Shl => self.shift("shl.b32", inst, g),
            Shr => self.shift("shr.u32", inst, g),
            Sar => self.shift("shr.s32", inst, g),
            BitCount => line!(self.body, "@{g} popc.b32 %r{d}, %r{a};"),
            BitFind => {
                let (t, q) = (self.body.word(), self.body.predicate());
                line!(self.body, "clz.b32 {t}, %r{a};");
                line!(self.body, "setp.eq.u32 {q}, {t}, 32;");
                line!(self.body, "@{g} selp.b32 %r{d}, 0xFFFFFFFF, {t}, {q};");
            }
            BitRev => line!(self.body, "@{g} brev.b32 %r{d}, %r{a};"),
            Bfe => {
                let (shift, mask) = (self.body.word(), self.mask(c));
                line!(self.body, "and.b32 {shift}, %r{b}, 31;");
                line!(self.body, "shr.u32 {shift}, %r{a}, {shift};");
                line!(self.body, "@{g} and.b32 %r{d}, {shift}, {mask};");
            }
            Bfi => {
                let (place, mask, field, rest) =
                    (self.body.word(), self.mask(e), self.body.word(), self.body.word());
                line!(self.body, "and.b32 {place}, %r{c}, 31;");
                line!(self.body, "shl.b32 {mask}, {mask}, {place};");
                line!(self.body, "shl.b32 {field}, %r{b}, {place};");
                line!(self.body, "and.b32 {field}, {field}, {mask};");
                line!(self.body, "not.b32 {mask}, {mask};");
                line!(self.body, "and.b32 {rest}, %r{a}, {mask};");
                line!(self.body, "@{g} or.b32 %r{d}, {rest}, {field};");
            }
            ICmpEq | ICmpNe | ICmpLt | ICmpLe | ICmpGt | ICmpGe | UCmpEq | UCmpNe | UCmpLt | UCmpLe
            | UCmpGt | UCmpGe | FCmpEq | FCmpNe | FCmpLt | FCmpLe | FCmpGt | FCmpGe | FCmpOrd | FCmpUnord => {
                line!(self.body, "@{g} setp.{} %p{d}, %r{a}, %r{b};", comparison(inst.op));
            }
            Select => line!(self.body, "@{g} selp.b32 %r{d}, %r{b}, %r{c}, %p{a};"),
            Mov => line!(self.body, "@{g} mov.b32 %r{d}, %r{a};"),
            MovImm => line!(self.body, "@{g} mov.b32 %r{d}, {:#x};", inst.imm),
            MovSr => self.special_register(inst, g),
            Nop => {}
            FAdd | FSub | FMul | FDiv | FMin | FMax => {
                let t = self.body.word();
                let operation = single(inst.op);
                line!(self.body, "{operation}.f32 {t}, %r{a}, %r{b};");
                self.float_result(inst, &t, g);
            }
            Fma => {
                let t = self.body.word();
                line!(self.body, "fma.rn.f32 {t}, %r{a}, %r{b}, %r{c};");
                self.float_result(inst, &t, g);
            }
            FNeg => line!(self.body, "@{g} xor.b32 %r{d}, %r{a}, 0x80000000;"),
            FAbs => line!(self.body, "@{g} and.b32 %r{d}, %r{a}, 0x7FFFFFFF;"),
            FClamp => {
                let t = self.body.word();
                line!(self.body, "max.f32 {t}, %r{a}, %r{b};");
                line!(self.body, "min.f32 {t}, {t}, %r{c};");
                self.float_result(inst, &t, g);
            }
            FSqrt => self.one("sqrt.rn.f32", inst, g),
            FRsqrt => {
                let t = self.body.word();
                line!(self.body, "sqrt.rn.f32 {t}, %r{a};");
                line!(self.body, "rcp.rn.f32 {t}, {t};");
                self.float_result(inst, &t, g);
            }
            FRcp => self.one("rcp.rn.f32", inst, g),
            FFloor => self.one("cvt.rmi.f32.f32", inst, g),
            FCeil => self.one("cvt.rpi.f32.f32", inst, g),
            FRound => self.one("cvt.rni.f32.f32", inst, g),
            FTrunc => self.one("cvt.rzi.f32.f32", inst, g),
            FFract => {
                let (t, least, q) = (self.body.word(), self.body.word(), self.body.predicate());
                line!(self.body, "cvt.rmi.f32.f32 {t}, %r{a};");
                line!(self.body, "sub.rn.f32 {t}, %r{a}, {t};");
                line!(self.body, "setp.nan.f32 {q}, {t}, {t};");
                // The minimum of a NaN and a number is the number, so the NaN is put in behind it.
                line!(self.body, "min.f32 {least}, {t}, 0f3F7FFFFF;");
                line!(self.body, "@{g} selp.b32 %r{d}, {NAN}, {least}, {q};");
            }
            FSat => {
                // The maximum is +0 for a NaN and for -0.
                let t = self.body.word();
                line!(self.body, "max.f32 {t}, %r{a}, 0f00000000;");
                line!(self.body, "@{g} min.f32 %r{d}, {t}, 0f3F800000;");
            }
            HAdd | HSub | HMul | HMa => self.narrow(inst, g, Narrow::F16, false),
            HAdd2 | HMul2 | HMa2 => self.narrow(inst, g, Narrow::F16, true),
            BAdd | BSub | BMul | BMa => self.narrow(inst, g, Narrow::Bf16, false),
            BAdd2 | BMul2 | BMa2 => self.narrow(inst, g, Narrow::Bf16, true),
            DAdd | DSub | DMul | DDiv | DMa | DSqrt => self.double(inst, g),
            CvtF32I32 => line!(self.body, "@{g} cvt.rn.f32.s32 %r{d}, %r{a};"),
            CvtF32U32 => line!(self.body, "@{g} cvt.rn.f32.u32 %r{d}, %r{a};"),
            CvtI32F32 => line!(self.body, "@{g} cvt.rzi.s32.f32 %r{d}, %r{a};"),
            CvtU32F32 => line!(self.body, "@{g} cvt.rzi.u32.f32 %r{d}, %r{a};"),
            CvtF32F16 | CvtF32Bf16 => {
                let narrow = if inst.op == CvtF32F16 { Narrow::F16 } else { Narrow::Bf16 };
                let t = self.widened(&format!("%r{a}"), narrow, false);
                self.float_result(inst, &t, g);
            }
            CvtF16F32 | CvtBf16F32 => {
                let narrow = if inst.op == CvtF16F32 { Narrow::F16 } else { Narrow::Bf16 };
                let h = self.narrowed(&format!("%r{a}"), narrow);
                line!(self.body, "@{g} cvt.u32.u16 %r{d}, {h};");
            }
            CvtF32F64 => {
                let (wide, t) = (self.pair(a), self.body.word());
                line!(self.body, "cvt.rn.f32.f64 {t}, {wide};");
                self.float_result(inst, &t, g);
            }
            CvtF64F32 => {
                let t = self.body.wide();
                line!(self.body, "cvt.f64.f32 {t}, %r{a};");
                self.double_result(inst, &t, g);
            }
            _ => unreachable!("the other classes have their own functions"),
        }
    }

    /// Replaces a NaN in an f32 register by that of WAVE.
    pub(crate) fn canonical(&mut self, t: &str) {
        let q = self.body.predicate();
        line!(self.body, "setp.nan.f32 {q}, {t}, {t};");
        line!(self.body, "@{q} mov.b32 {t}, {NAN};");
    }

    /// `mma_compute`: the products of a lane's own fragments, with two roundings a step.
    pub(crate) fn matrix_product(&mut self, inst: &Inst, g: &str) {
        let (fa, fb, fc) = (inst.rd, inst.rs1, inst.rs2);
        self.fragments.extend([('a', fa), ('b', fb), ('c', fc)]);
        let (product, sum) = (self.body.word(), self.body.word());
        let q = self.body.predicate();
        for i in 0..MMA_DIM {
            for j in 0..MMA_DIM {
                let c = format!("%mc{fc}_{}", i * MMA_DIM + j);
                line!(self.body, "mov.b32 {sum}, {c};");
                for k in 0..MMA_DIM {
                    let (a, b) = (i * MMA_DIM + k, k * MMA_DIM + j);
                    line!(self.body, "mul.rn.f32 {product}, %ma{fa}_{a}, %mb{fb}_{b};");
                    line!(self.body, "add.rn.f32 {sum}, {sum}, {product};");
                }
                // A NaN stays one in the steps that follow: once is enough.
                line!(self.body, "setp.nan.f32 {q}, {sum}, {sum};");
                line!(self.body, "@{q} mov.b32 {sum}, {NAN};");
                line!(self.body, "@{g} mov.b32 {c}, {sum};");
            }
        }
    }

    fn two(&mut self, operation: &str, inst: &Inst, g: &str) {
        line!(self.body, "@{g} {operation} %r{}, %r{}, %r{};", inst.rd, inst.rs1, inst.rs2);
    }

    fn one(&mut self, operation: &str, inst: &Inst, g: &str) {
        let t = self.body.word();
        line!(self.body, "{operation} {t}, %r{};", inst.rs1);
        self.float_result(inst, &t, g);
    }

    fn float_result(&mut self, inst: &Inst, t: &str, g: &str) {
        if !self.floats[usize::from(inst.rd)] {
            self.canonical(t);
        }
        line!(self.body, "@{g} mov.b32 %r{}, {t};", inst.rd);
    }

    fn shift(&mut self, operation: &str, inst: &Inst, g: &str) {
        let t = self.body.word();
        line!(self.body, "and.b32 {t}, %r{}, 31;", inst.rs2);
        line!(self.body, "@{g} {operation} %r{}, %r{}, {t};", inst.rd, inst.rs1);
    }

    /// As many ones as the low five bits of a register say.
    fn mask(&mut self, width: u8) -> String {
        let t = self.body.word();
        line!(self.body, "and.b32 {t}, %r{width}, 31;");
        line!(self.body, "shl.b32 {t}, 1, {t};");
        line!(self.body, "sub.u32 {t}, {t}, 1;");
        t
    }

    /// Divisions by 0 and -1 are taken out: PTX leaves the first open, and the quotient of INT_MIN by the second.
    fn divide(&mut self, inst: &Inst, g: &str) {
        let (d, a, b) = (inst.rd, inst.rs1, inst.rs2);
        let (t, divisor) = (self.body.word(), self.body.word());
        let (zero, minus, special) = (self.body.predicate(), self.body.predicate(), self.body.predicate());
        line!(self.body, "setp.eq.s32 {zero}, %r{b}, 0;");
        line!(self.body, "setp.eq.s32 {minus}, %r{b}, -1;");
        line!(self.body, "or.pred {special}, {zero}, {minus};");
        line!(self.body, "selp.b32 {divisor}, 1, %r{b}, {special};");
        if inst.op == Op::IDiv {
            line!(self.body, "div.s32 {t}, %r{a}, {divisor};");
            line!(self.body, "@{minus} sub.u32 {t}, 0, %r{a};");
            line!(self.body, "@{zero} mov.b32 {t}, 0;");
        } else {
            line!(self.body, "rem.s32 {t}, %r{a}, {divisor};");
        }
        line!(self.body, "@{g} mov.b32 %r{d}, {t};");
    }

    /// The f16 or bf16 in a half of a word, as f32.
    fn widened(&mut self, word: &str, narrow: Narrow, is_high: bool) -> String {
        let t = self.body.word();
        match (narrow, is_high) {
            (Narrow::Bf16, false) => line!(self.body, "shl.b32 {t}, {word}, 16;"),
            (Narrow::Bf16, true) => line!(self.body, "and.b32 {t}, {word}, 0xFFFF0000;"),
            (Narrow::F16, _) => {
                let (low, high) = (self.body.half(), self.body.half());
                line!(self.body, "mov.b32 {{{low}, {high}}}, {word};");
                line!(self.body, "cvt.f32.f16 {t}, {};", if is_high { high } else { low });
            }
        }
        t
    }

    /// An f32 rounded to f16 or bf16.
    fn narrowed(&mut self, word: &str, narrow: Narrow) -> String {
        let (h, q) = (self.body.half(), self.body.predicate());
        let (ty, nan) = match narrow {
            Narrow::F16 => ("f16", "0x7E00"),
            Narrow::Bf16 => ("bf16", "0x7FC0"),
        };
        line!(self.body, "cvt.rn.{ty}.f32 {h}, {word};");
        line!(self.body, "setp.nan.f32 {q}, {word}, {word};");
        line!(self.body, "@{q} mov.b16 {h}, {nan};");
        h
    }

    /// f16 and bf16: widened to f32, computed there, and rounded once more.
    fn narrow(&mut self, inst: &Inst, g: &str, narrow: Narrow, is_packed: bool) {
        use Op::*;
        let operation = match inst.op {
            HAdd | HAdd2 | BAdd | BAdd2 => "add",
            HSub | BSub => "sub",
            HMul | HMul2 | BMul | BMul2 => "mul",
            _ => "fma",
        };
        let sources: Vec<String> = inst.sources().map(|(register, _)| format!("%r{register}")).collect();
        let mut halves = Vec::new();
        for is_high in [false, true].into_iter().take(if is_packed { 2 } else { 1 }) {
            let wide: Vec<String> =
                sources.iter().map(|source| self.widened(source, narrow, is_high)).collect();
            let t = self.body.word();
            line!(self.body, "{operation}.rn.f32 {t}, {};", wide.join(", "));
            halves.push(self.narrowed(&t, narrow));
        }
        match halves.as_slice() {
            [low, high] => line!(self.body, "@{g} mov.b32 %r{}, {{{low}, {high}}};", inst.rd),
            _ => line!(self.body, "@{g} cvt.u32.u16 %r{}, {};", inst.rd, halves[0]),
        }
    }

    /// The 64 bits of two registers.
    fn pair(&mut self, low: u8) -> String {
        let t = self.body.wide();
        line!(self.body, "mov.b64 {t}, {{%r{low}, %r{}}};", low + 1);
        t
    }

    fn double(&mut self, inst: &Inst, g: &str) {
        let operation = match inst.op {
            Op::DAdd => "add",
            Op::DSub => "sub",
            Op::DMul => "mul",
            Op::DDiv => "div",
            Op::DMa => "fma",
            _ => "sqrt",
        };
        let registers: Vec<u8> = inst.sources().map(|(register, _)| register).collect();
        let sources: Vec<String> = registers.into_iter().map(|register| self.pair(register)).collect();
        let t = self.body.wide();
        line!(self.body, "{operation}.rn.f64 {t}, {};", sources.join(", "));
        self.double_result(inst, &t, g);
    }

    fn double_result(&mut self, inst: &Inst, t: &str, g: &str) {
        let (q, d) = (self.body.predicate(), inst.rd);
        line!(self.body, "setp.nan.f64 {q}, {t}, {t};");
        line!(self.body, "@{q} mov.b64 {t}, 0x7FF8000000000000;");
        line!(self.body, "@{g} mov.b64 {{%r{d}, %r{}}}, {t};", d + 1);
    }

    fn special_register(&mut self, inst: &Inst, g: &str) {
        let (d, code) = (inst.rd, inst.rs1);
        let value = match Special::from_code(code).expect("the instruction is legal") {
            Special::LaneId => "%lane",
            Special::WaveWidth => "32",
            Special::MmaSupported => "1",
            Special::MmaM | Special::MmaN | Special::MmaK => "4",
            _ => {
                self.specials.insert(code);
                return line!(self.body, "@{g} mov.b32 %r{d}, %special{code};");
            }
        };
        line!(self.body, "@{g} mov.b32 %r{d}, {value};");
    }
}

fn single(op: Op) -> &'static str {
    match op {
        Op::FAdd => "add.rn",
        Op::FSub => "sub.rn",
        Op::FMul => "mul.rn",
        Op::FDiv => "div.rn",
        Op::FMin => "min",
        _ => "max",
    }
}

/// What `setp` compares, and as what.
fn comparison(op: Op) -> &'static str {
    use Op::*;
    match op {
        ICmpEq => "eq.s32",
        ICmpNe => "ne.s32",
        ICmpLt => "lt.s32",
        ICmpLe => "le.s32",
        ICmpGt => "gt.s32",
        ICmpGe => "ge.s32",
        UCmpEq => "eq.u32",
        UCmpNe => "ne.u32",
        UCmpLt => "lt.u32",
        UCmpLe => "le.u32",
        UCmpGt => "gt.u32",
        UCmpGe => "ge.u32",
        FCmpEq => "eq.f32",
        // True on a NaN.
        FCmpNe => "neu.f32",
        FCmpLt => "lt.f32",
        FCmpLe => "le.f32",
        FCmpGt => "gt.f32",
        FCmpGe => "ge.f32",
        FCmpOrd => "num.f32",
        _ => "nan.f32",
    }
}
