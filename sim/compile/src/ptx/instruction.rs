//! From the meaning of an instruction to what translates it; moves, choices and special registers.

use super::Wrong;
use super::layout::WORKSPACE_LOW;
use super::lexer::Span;
use super::table::Meaning;
use super::translate::{Done, Translator};
use super::tree::{Operand, OperandKind, Statement};
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Compare, Convert, Type, Value};
use wave_isa::Special;

impl<'a> Translator<'a> {
    /// Translates an instruction. Its guard is the caller's.
    pub(super) fn instruction(&mut self, s: &'a Statement) -> Done {
        use Meaning as M;
        match s.row.meaning {
            M::Add | M::Subtract => self.sum(s),
            M::Multiply => self.product(s),
            M::MultiplyAdd | M::Fma => self.product_and_sum(s),
            M::DivideOrRemainder => self.quotient(s),
            M::Abs | M::Negate => self.sign(s),
            M::MaxMin => self.extreme(s),
            M::SumOfDifferences => self.sum_of_differences(s),
            M::DotProduct => self.dot_product(s),
            M::AddCarry => self.carried(s),
            M::And => self.logic(s, Binary::And),
            M::Or => self.logic(s, Binary::Or),
            M::Xor => self.logic(s, Binary::Xor),
            M::Not | M::ComplementOfTruth => self.complement(s),
            M::ShiftLeft | M::ShiftRight => self.shift(s),
            M::ShiftTwo => self.funnel(s),
            M::Lookup3 => self.lookup(s),
            M::Permute => self.permute(s),
            M::BitFieldExtract => self.extract(s),
            M::BitFieldInsert => self.insert(s),
            M::BitFind => self.find(s),
            M::BitMask => self.bit_mask(s),
            M::SignExtend => self.sign_extend(s),
            M::Reverse | M::CountLeadingZeros | M::CountOnes => self.count(s),
            M::Reciprocal
            | M::Root
            | M::ReciprocalRoot
            | M::Sine
            | M::Cosine
            | M::Exp2
            | M::Log2
            | M::Tanh => self.function(s),
            M::CopySign => self.copy_sign(s),
            M::TestProperty => self.property(s),
            M::SetPredicate | M::Set => self.comparison(s),
            M::Select => self.choice(s),
            M::SelectBySign => self.choice_by_sign(s),
            M::Move => self.mov(s),
            M::Convert => self.conversion(s),
            M::ConvertAddress => self.convert_address(s),
            M::IsSpace => self.is_space(s),
            M::Load => self.load(s),
            M::Store => self.store(s),
            M::AsyncCopy => self.async_copy(s),
            M::Atomic => self.atomic(s),
            M::Fence => self.fence(s),
            M::Barrier => self.barrier(s),
            M::BarrierReduction => self.barrier_reduction(s),
            M::WarpBarrier => self.warp_barrier(s),
            M::Shuffle => self.shuffle(s),
            M::Vote => self.vote(s),
            M::LaneMatch => self.lane_match(s),
            M::ActiveMask => self.active_mask(s),
            M::Reduction => self.reduction(s),
            M::LoadMatrix => self.load_matrices(s),
            M::StoreMatrix => self.store_matrices(s),
            M::MoveMatrix => self.transpose_matrix(s),
            M::MatrixProduct => self.matrix_product(s),
            M::LoadFragment => self.load_fragment(s),
            M::StoreFragment => self.store_fragment(s),
            M::FragmentProduct => self.product_of_whole(s),
            M::Nothing => Ok(()),
            // They end blocks.
            M::Branch | M::BranchTable | M::Call | M::Exit | M::Return | M::Trap => Ok(()),
        }
    }

    fn choice(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let [a, b] = [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?];
        let condition = self.read(&s.operands[3], PtxType::PRED)?;
        let value = self.e.select(condition, a, b);
        self.write(&s.operands[0], value, ty)
    }

    /// The first value where the third one is at least 0, else the second.
    fn choice_by_sign(&mut self, s: &Statement) -> Done {
        let (ty, of) = (s.types[0], s.types[1]);
        let [a, b] = [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?];
        let mut c = self.read(&s.operands[3], of)?;
        let compare = if of.ir() == Type::F32 { Compare::FGe } else { Compare::GeS };
        if s.has("ftz") && of.ir() == Type::F32 {
            c = self.flush(c);
        }
        let condition = self.e.compare_with(compare, c, 0);
        let value = self.e.select(condition, a, b);
        self.write(&s.operands[0], value, ty)
    }

    fn mov(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        match (&s.operands[0].kind, &s.operands[1].kind) {
            (OperandKind::Vector(into), OperandKind::Vector(from)) if into.len() == from.len() => {
                let values = from.iter().map(|one| self.read(one, ty)).collect::<Done<Vec<_>>>()?;
                into.iter().zip(values).try_for_each(|(one, value)| self.write(one, value, ty))
            }
            (OperandKind::Vector(into), _) => self.unpack(s, into, ty),
            (_, OperandKind::Vector(from)) => {
                let value = self.pack(s, from, ty)?;
                self.write(&s.operands[0], value, ty)
            }
            _ => {
                let value = self.read(&s.operands[1], ty)?;
                self.write(&s.operands[0], value, ty)
            }
        }
    }

    /// The type of an element of a vector of bits.
    fn element(&self, s: &Statement, count: usize, ty: PtxType) -> Done<PtxType> {
        let bits = ty.bits / count.max(1) as u32;
        let is_whole = matches!((ty.bits, count), (64, 2 | 4 | 8) | (32, 2 | 4) | (16, 2));
        if !is_whole {
            let message = format!("`mov.{}` has no vector of {count} elements", ty.name());
            return Err(Wrong::new(s.at.clone(), message));
        }
        Ok(PtxType { kind: Kind::Bits, bits })
    }

    fn unpack(&mut self, s: &Statement, into: &[Operand], ty: PtxType) -> Done {
        let element = self.element(s, into.len(), ty)?;
        let bits = PtxType { kind: Kind::Bits, bits: ty.bits };
        let value = self.read(&s.operands[1], bits)?;
        let words = if ty.bits == 64 { self.e.halves(value).to_vec() } else { vec![value] };
        let per_word = 32 / element.bits.min(32);
        for (number, one) in into.iter().enumerate() {
            let (word, part) = (number as u32 / per_word, number as u32 % per_word);
            let value = self.e.with(Binary::ShrU, words[word as usize], u64::from(part * element.bits));
            self.write_extended(one, value, element)?;
        }
        Ok(())
    }

    fn pack(&mut self, s: &Statement, from: &[Operand], ty: PtxType) -> Done<Value> {
        let element = self.element(s, from.len(), ty)?;
        let per_word = 32 / element.bits.min(32);
        let mut words = Vec::new();
        for (number, one) in from.iter().enumerate() {
            let value = self.read_low(one, element)?;
            let value = self.extended(value, element);
            let part = number as u32 % per_word;
            if part == 0 {
                words.push(value);
                continue;
            }
            let moved = self.e.with(Binary::Shl, value, u64::from(part * element.bits));
            let last = words.pop().expect("the first element of a word came before");
            words.push(self.e.binary(Binary::Or, moved, last));
        }
        let value = match words[..] {
            [low, high] => self.e.whole([low, high]),
            _ => words[0],
        };
        Ok(match ty.ir() {
            Type::F32 | Type::F64 => self.e.reinterpret(value),
            _ => value,
        })
    }

    /// The value of a special register.
    pub(super) fn special(&mut self, name: &str, at: &Span) -> Done<Value> {
        let special = match name {
            "tid.x" => Special::ThreadIdX,
            "tid.y" => Special::ThreadIdY,
            "tid.z" => Special::ThreadIdZ,
            "ntid.x" => Special::WorkgroupSizeX,
            "ntid.y" => Special::WorkgroupSizeY,
            "ntid.z" => Special::WorkgroupSizeZ,
            "ctaid.x" => Special::WorkgroupIdX,
            "ctaid.y" => Special::WorkgroupIdY,
            "ctaid.z" => Special::WorkgroupIdZ,
            "nctaid.x" => Special::GridSizeX,
            "nctaid.y" => Special::GridSizeY,
            "nctaid.z" => Special::GridSizeZ,
            "warpid" => {
                self.needs_warps = true;
                Special::WaveId
            }
            "nwarpid" => {
                self.needs_warps = true;
                Special::NumWaves
            }
            "laneid" => {
                self.needs_warps = true;
                return Ok(self.e.special(Special::LaneId, Some(31)));
            }
            "lanemask_eq" | "lanemask_lt" | "lanemask_le" | "lanemask_gt" | "lanemask_ge" => {
                self.needs_warps = true;
                let lane = self.e.special(Special::LaneId, Some(31));
                let one = self.e.i32(1);
                let own = self.e.binary(Binary::Shl, one, lane);
                let below = self.e.with(Binary::Sub, own, 1);
                let up_to = self.e.binary(Binary::Or, own, below);
                return Ok(match name {
                    "lanemask_eq" => own,
                    "lanemask_lt" => below,
                    "lanemask_le" => up_to,
                    "lanemask_gt" => self.e.complement(up_to),
                    _ => self.e.complement(below),
                });
            }
            // The address of the workspace of a grid.
            "envreg1" => return Ok(self.e.i32(0)),
            WORKSPACE_LOW => {
                let address = self.device.workspace.expect("the layout has it where a kernel asks for it");
                return Ok(self.e.i32(address));
            }
            "tid.w" | "ctaid.w" => return Ok(self.e.i32(0)),
            "ntid.w" | "nctaid.w" => return Ok(self.e.i32(1)),
            // A grid of workgroups without clusters is one of clusters of one workgroup.
            "clusterid.x" => Special::WorkgroupIdX,
            "clusterid.y" => Special::WorkgroupIdY,
            "clusterid.z" => Special::WorkgroupIdZ,
            "nclusterid.x" => Special::GridSizeX,
            "nclusterid.y" => Special::GridSizeY,
            "nclusterid.z" => Special::GridSizeZ,
            "cluster_ctaid.x" | "cluster_ctaid.y" | "cluster_ctaid.z" | "cluster_ctarank" => {
                return Ok(self.e.i32(0));
            }
            "cluster_nctaid.x" | "cluster_nctaid.y" | "cluster_nctaid.z" | "cluster_nctarank" => {
                return Ok(self.e.i32(1));
            }
            "tid" | "ntid" | "ctaid" | "nctaid" => {
                return Err(Wrong::new(at.clone(), format!("`%{name}` is a vector: name .x, .y or .z")));
            }
            "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo" | "globaltimer_hi" => {
                return self.refused(
                    at,
                    format!("`%{name}` is not taken: kernels cannot read the time"),
                    "leave the measurement out: the report has the cycles of every line",
                );
            }
            "smid" | "nsmid" | "gridid" | "total_smem_size" | "dynamic_smem_size" | "aggr_smem_size" => {
                return self.refused(
                    at,
                    format!("`%{name}` is not taken: kernels cannot ask for it"),
                    "bring it as an argument of the kernel",
                );
            }
            _ => {
                let is_special = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                let what = if is_special {
                    "no register, and no special register that is taken"
                } else {
                    "no register"
                };
                return Err(Wrong::new(at.clone(), format!("`%{name}` is {what}"))
                    .hint("registers are declared with .reg, such as `.reg .b32 %r<4>;`"));
            }
        };
        Ok(self.e.special(special, None))
    }

    /// A truth value as the words of all threads that have it: 1 or 0.
    pub(super) fn truth(&mut self, value: Value) -> Value {
        self.e.convert(Convert::BoolToI32, value)
    }
}
