//! Shifts, fields and other operations on bits.

use super::Wrong;
use super::translate::{Done, Translator};
use super::tree::Statement;
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};

impl Translator<'_> {
    pub(super) fn logic(&mut self, s: &Statement, binary: Binary) -> Done {
        let ty = s.types[0];
        let [a, b] = [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?];
        let value = self.e.binary(binary, a, b);
        self.write(&s.operands[0], value, ty)
    }

    pub(super) fn complement(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        if s.row.name == "cnot" {
            let a = self.read_integer(&s.operands[1], ty)?;
            let is_zero = self.e.compare_with(Compare::Eq, a, 0);
            let word = self.truth(is_zero);
            let value = if ty.bits == 64 { self.e.convert(Convert::ExtendU, word) } else { word };
            return self.write(&s.operands[0], value, ty);
        }
        let a = self.read(&s.operands[1], ty)?;
        let value = if ty.kind == Kind::Predicate { self.e.not(a) } else { self.e.complement(a) };
        self.write(&s.operands[0], value, ty)
    }

    /// Amounts of the width and more leave zeros, or copies of the sign.
    pub(super) fn shift(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let a = self.read_integer(&s.operands[1], ty)?;
        let amount = self.read_low(&s.operands[2], PtxType::U32)?;
        let binary = match (s.row.name == "shl", ty.is_signed()) {
            (true, _) => Binary::Shl,
            (false, true) => Binary::ShrS,
            (false, false) => Binary::ShrU,
        };
        let value = self.clamped_shift(binary, a, amount, ty.bits);
        self.write(&s.operands[0], value, ty)
    }

    /// A shift of a number of so many bits by any amount.
    pub(super) fn clamped_shift(&mut self, binary: Binary, a: Value, amount: Value, bits: u32) -> Value {
        let ty = self.e.ty(a);
        let width = 8 * ty.bytes();
        let wide = |this: &mut Self, amount: Value| {
            if ty == Type::I64 { this.e.convert(Convert::ExtendU, amount) } else { amount }
        };
        if binary == Binary::ShrS {
            let amount = self.e.with(Binary::MinU, amount, u64::from(width - 1));
            let amount = wide(self, amount);
            return self.e.binary(binary, a, amount);
        }
        let zero = self.e.zero(ty);
        if let Some(known) = self.e.known(amount) {
            if known >= u64::from(bits) {
                return zero;
            }
            let amount = wide(self, amount);
            return self.e.binary(binary, a, amount);
        }
        let is_all = self.e.most(amount) >= width;
        let by = wide(self, amount);
        let moved = self.e.binary(binary, a, by);
        if !is_all {
            return moved;
        }
        let is_inside = self.e.compare_with(Compare::LtU, amount, u64::from(width));
        self.e.select(is_inside, moved, zero)
    }

    /// The upper or lower word of two words that are shifted together.
    pub(super) fn funnel(&mut self, s: &Statement) -> Done {
        let [low, high] =
            [self.read(&s.operands[1], PtxType::U32)?, self.read(&s.operands[2], PtxType::U32)?];
        let amount = self.read(&s.operands[3], PtxType::U32)?;
        let amount = match s.one_of(&["clamp", "wrap"]) {
            Some("clamp") => self.e.with(Binary::MinU, amount, 32),
            Some(_) => self.e.with(Binary::And, amount, 31),
            None => return Err(Wrong::new(s.at.clone(), "`shf` needs .clamp or .wrap")),
        };
        let whole = self.e.whole([low, high]);
        let wide = self.e.convert(Convert::ExtendU, amount);
        let value = match s.one_of(&["l", "r"]) {
            Some("l") => {
                let moved = self.e.binary(Binary::Shl, whole, wide);
                self.e.halves(moved)[1]
            }
            Some(_) => {
                let moved = self.e.binary(Binary::ShrU, whole, wide);
                self.e.convert(Convert::Wrap, moved)
            }
            None => return Err(Wrong::new(s.at.clone(), "`shf` needs .l or .r")),
        };
        self.write(&s.operands[0], value, PtxType::B32)
    }

    /// Any operation on the bits of three words, by the table of its results.
    pub(super) fn lookup(&mut self, s: &Statement) -> Done {
        let mut inputs = [self.e.i32(0); 3];
        for (number, input) in inputs.iter_mut().enumerate() {
            *input = self.read(&s.operands[number + 1], PtxType::B32)?;
        }
        let table = self.read(&s.operands[4], PtxType::U32)?;
        let Some(table) = self.e.known(table) else {
            return Err(Wrong::new(
                s.operands[4].at.clone(),
                "the table of `lop3` is a number from 0 to 255",
            ));
        };
        let value = self.of_table(inputs, table as u8);
        self.write(&s.operands[0], value, PtxType::B32)
    }

    /// Bit `4a + 2b + c` of the table is the result for the bits a, b, c.
    fn of_table(&mut self, [a, b, c]: [Value; 3], table: u8) -> Value {
        // Where a is 0, and where it is 1: operations on b and c.
        let [without, with] = [table & 15, table >> 4].map(|table| self.of_two(b, c, table));
        if without == with {
            return without;
        }
        let zero = self.e.i32(0);
        let ones = self.e.i32(u32::MAX);
        if without == zero {
            return self.e.binary(Binary::And, a, with);
        }
        if with == ones {
            return self.e.binary(Binary::Or, a, without);
        }
        if table & 15 == !(table >> 4) & 15 {
            return self.e.binary(Binary::Xor, a, without);
        }
        if with == zero {
            let not = self.e.complement(a);
            return self.e.binary(Binary::And, not, without);
        }
        // a chooses: without ^ (a & (without ^ with)).
        let differs = self.of_two(b, c, (table & 15) ^ (table >> 4));
        let chosen = self.e.binary(Binary::And, a, differs);
        self.e.binary(Binary::Xor, without, chosen)
    }

    /// Bit `2b + c` of the table is the result for the bits b, c.
    fn of_two(&mut self, b: Value, c: Value, table: u8) -> Value {
        let (base, is_negated) = if table & 1 == 1 { (!table & 15, true) } else { (table, false) };
        let value = match base {
            0b0000 => self.e.i32(0),
            0b1000 => self.e.binary(Binary::And, b, c),
            0b0110 => self.e.binary(Binary::Xor, b, c),
            0b1110 => self.e.binary(Binary::Or, b, c),
            0b1100 => b,
            0b1010 => c,
            0b0100 => {
                let not = self.e.complement(c);
                self.e.binary(Binary::And, b, not)
            }
            _ => {
                let not = self.e.complement(b);
                self.e.binary(Binary::And, not, c)
            }
        };
        if is_negated { self.e.complement(value) } else { value }
    }

    /// Bytes of two words in any order.
    pub(super) fn permute(&mut self, s: &Statement) -> Done {
        let [a, b, selector] = [1, 2, 3].map(|number| self.read(&s.operands[number], PtxType::B32));
        let (a, b, selector) = (a?, b?, selector?);
        let whole = self.e.whole([a, b]);
        let known = self.e.known(selector).map(|bits| bits as u32);
        let mode = s.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
        let byte = |this: &mut Self, number: Value| {
            let bits = this.e.with(Binary::Shl, number, 3);
            let bits = this.e.convert(Convert::ExtendU, bits);
            let moved = this.e.binary(Binary::ShrU, whole, bits);
            let word = this.e.convert(Convert::Wrap, moved);
            this.e.with(Binary::And, word, 0xFF)
        };
        let mut value = self.e.i32(0);
        for place in 0..4u32 {
            let part = match mode {
                None => {
                    let (number, copies) = match known {
                        Some(bits) => {
                            let nibble = bits >> (4 * place) & 15;
                            (self.e.i32(nibble & 7), Some(nibble & 8 != 0))
                        }
                        None => {
                            let nibble = self.e.with(Binary::ShrU, selector, u64::from(4 * place));
                            (self.e.with(Binary::And, nibble, 7), None)
                        }
                    };
                    let plain = byte(self, number);
                    let sign = |this: &mut Self| {
                        let extended = this.e.unary(Unary::Extend8, plain);
                        let sign = this.e.with(Binary::ShrS, extended, 31);
                        this.e.with(Binary::And, sign, 0xFF)
                    };
                    match copies {
                        Some(false) => plain,
                        Some(true) => sign(self),
                        None => {
                            let bit = self.e.with(Binary::And, selector, u64::from(8u32 << (4 * place)));
                            let copies = self.e.compare_with(Compare::Ne, bit, 0);
                            let sign = sign(self);
                            self.e.select(copies, sign, plain)
                        }
                    }
                }
                Some(mode) => {
                    let low = self.e.with(Binary::And, selector, 3);
                    let number = match mode {
                        "f4e" => self.e.with(Binary::Add, low, u64::from(place)),
                        "b4e" => {
                            let less = self.e.with(Binary::Sub, low, u64::from(place));
                            self.e.with(Binary::And, less, 7)
                        }
                        "rc8" => low,
                        "ecl" => self.e.with(Binary::MaxU, low, u64::from(place)),
                        "ecr" => self.e.with(Binary::MinU, low, u64::from(place)),
                        _ => {
                            let half = self.e.with(Binary::And, selector, 1);
                            let half = self.e.with(Binary::Shl, half, 1);
                            self.e.with(Binary::Add, half, u64::from(place & 1))
                        }
                    };
                    byte(self, number)
                }
            };
            let part = self.e.with(Binary::Shl, part, u64::from(8 * place));
            value = self.e.binary(Binary::Or, value, part);
        }
        self.write(&s.operands[0], value, PtxType::B32)
    }

    /// A field of so many bits from a place on, without or with a sign.
    pub(super) fn extract(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let a = self.read(&s.operands[1], ty)?;
        let [place, length] = [self.byte_operand(s, 2)?, self.byte_operand(s, 3)?];
        let bits = ty.bits;
        let value = if ty.is_signed() {
            // To the top, and back with the sign: a field that ends past the top has that of the number.
            let end = self.e.binary(Binary::Add, place, length);
            let end = self.e.with(Binary::MinU, end, u64::from(bits));
            let top = self.e.i32(bits);
            let up = self.e.binary(Binary::Sub, top, end);
            let raised = self.clamped_shift(Binary::Shl, a, up, bits);
            // A field that begins past the top is the sign alone.
            let down = self.e.binary(Binary::Add, up, place);
            let value = self.clamped_shift(Binary::ShrS, raised, down, bits);
            let is_empty = self.e.compare_with(Compare::Eq, length, 0);
            let zero = self.e.zero(ty.ir());
            self.e.select(is_empty, zero, value)
        } else {
            let moved = self.clamped_shift(Binary::ShrU, a, place, bits);
            let mask = self.ones(length, ty);
            self.e.binary(Binary::And, moved, mask)
        };
        self.write(&s.operands[0], value, ty)
    }

    /// The low byte of an operand.
    fn byte_operand(&mut self, s: &Statement, number: usize) -> Done<Value> {
        let value = self.read_low(&s.operands[number], PtxType::U32)?;
        Ok(self.e.with(Binary::And, value, 0xFF))
    }

    /// So many ones from bit 0 on.
    fn ones(&mut self, count: Value, ty: PtxType) -> Value {
        let all = if ty.bits == 64 { self.e.i64(u64::MAX) } else { self.e.i32(u32::MAX) };
        let above = self.clamped_shift(Binary::Shl, all, count, ty.bits);
        self.e.complement(above)
    }

    pub(super) fn insert(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let [field, into] = [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?];
        let [place, length] = [self.byte_operand(s, 3)?, self.byte_operand(s, 4)?];
        let ones = self.ones(length, ty);
        let mask = self.clamped_shift(Binary::Shl, ones, place, ty.bits);
        let moved = self.clamped_shift(Binary::Shl, field, place, ty.bits);
        let new = self.e.binary(Binary::And, moved, mask);
        let others = self.e.complement(mask);
        let kept = self.e.binary(Binary::And, into, others);
        let value = self.e.binary(Binary::Or, kept, new);
        self.write(&s.operands[0], value, ty)
    }

    /// The place of the highest bit that is set, or that differs from the sign; all ones if there is none.
    pub(super) fn find(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let mut a = self.read(&s.operands[1], ty)?;
        if ty.is_signed() {
            let sign = self.e.with(Binary::ShrS, a, u64::from(ty.bits - 1));
            a = self.e.binary(Binary::Xor, a, sign);
        }
        let zeros = self.e.unary(Unary::Clz, a);
        let zeros = if ty.bits == 64 { self.e.convert(Convert::Wrap, zeros) } else { zeros };
        let value = if s.has("shiftamt") {
            let is_none = self.e.compare_with(Compare::Eq, zeros, u64::from(ty.bits));
            let ones = self.e.i32(u32::MAX);
            self.e.select(is_none, ones, zeros)
        } else {
            // Without a bit that is -1: all ones.
            let last = self.e.i32(ty.bits - 1);
            self.e.binary(Binary::Sub, last, zeros)
        };
        self.write(&s.operands[0], value, PtxType::U32)
    }

    /// A mask of so many ones from a place on.
    pub(super) fn bit_mask(&mut self, s: &Statement) -> Done {
        let [mut place, mut count] =
            [self.read(&s.operands[1], PtxType::U32)?, self.read(&s.operands[2], PtxType::U32)?];
        match s.one_of(&["clamp", "wrap"]) {
            Some("wrap") => {
                place = self.e.with(Binary::And, place, 31);
                count = self.e.with(Binary::And, count, 31);
            }
            Some(_) => {
                place = self.e.with(Binary::MinU, place, 32);
                count = self.e.with(Binary::MinU, count, 32);
            }
            None => return Err(Wrong::new(s.at.clone(), "`bmsk` needs .clamp or .wrap")),
        }
        let ones = self.ones(count, PtxType::B32);
        let value = self.clamped_shift(Binary::Shl, ones, place, 32);
        self.write(&s.operands[0], value, PtxType::B32)
    }

    /// The low bits of a word, extended with their sign or with zeros.
    pub(super) fn sign_extend(&mut self, s: &Statement) -> Done {
        let ty = s.types[0];
        let a = self.read(&s.operands[1], ty)?;
        let count = self.read(&s.operands[2], PtxType::U32)?;
        let count = match s.one_of(&["clamp", "wrap"]) {
            Some("wrap") => self.e.with(Binary::And, count, 31),
            Some(_) => self.e.with(Binary::MinU, count, 32),
            None => return Err(Wrong::new(s.at.clone(), "`szext` needs .clamp or .wrap")),
        };
        let width = self.e.i32(32);
        let up = self.e.binary(Binary::Sub, width, count);
        let raised = self.clamped_shift(Binary::Shl, a, up, 32);
        let down = if ty.is_signed() { Binary::ShrS } else { Binary::ShrU };
        let value = self.clamped_shift(down, raised, up, 32);
        self.write(&s.operands[0], value, ty)
    }
}
