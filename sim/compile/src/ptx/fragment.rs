//! `wmma`: whole matrices of a warp, from memory to registers, as a product, and back. PTX leaves open which lane holds
//! which element: here they lie as those of `mma`.

use super::Wrong;
use super::matrix::{Form, per_register, register_type};
use super::memory::Addressed;
use super::spaces::space_of;
use super::table::TENSOR;
use super::translate::{Done, Translator};
use super::tree::{Operand, Statement};
use super::types::PtxType;
use crate::ir::{Binary, Operation, Type, Value};

/// Shapes m, n, k with the types of A.
const FORMS: &[(&str, [u32; 3], &[&str])] = &[
    ("m16n16k16", [16, 16, 16], &["f16", "bf16", "s8", "u8"]),
    ("m32n8k16", [32, 8, 16], &["f16", "bf16", "s8", "u8"]),
    ("m8n32k16", [8, 32, 16], &["f16", "bf16", "s8", "u8"]),
    ("m16n16k8", [16, 16, 8], &["tf32"]),
    ("m8n8k4", [8, 8, 4], &["f64"]),
];

/// A part of a register that lies in memory without a gap: the block along the axis that the quads go over, the place
/// along the other axis, without the part of the lane.
#[derive(Debug, Clone, Copy)]
struct Part {
    quad_block: u32,
    place: u32,
}

/// How a matrix lies in registers and in memory.
#[derive(Debug, Clone, Copy)]
struct Lying {
    /// Registers that hold it, and those that the instruction names.
    used: u32,
    written: u32,
    ty: PtxType,
    /// Elements of a register.
    per_register: u32,
    /// Elements that a lane has one after another, in one or two registers.
    per_lane: u32,
    /// The elements of a lane lie one after another in memory.
    is_dense: bool,
    form: Form,
    /// The matrix is B.
    is_b: bool,
    /// The matrix is C or D.
    is_sum: bool,
}

impl Lying {
    /// Accesses for a register, and the bytes of each.
    fn pieces(self) -> (u32, u32) {
        if self.is_dense {
            (1, self.ty.bytes() * self.per_register)
        } else {
            (self.per_register, self.ty.bytes())
        }
    }

    /// The element of a register: its places on both axes.
    fn part(self, register: u32, element: u32) -> Part {
        if self.is_b {
            let (quad_block, block) = (register / self.form.k_blocks, register % self.form.k_blocks);
            return Part { quad_block, place: block * 4 * self.per_lane + element };
        }
        let of_lane = self.per_lane / self.per_register;
        let (chunk, within) = (register / of_lane, register % of_lane);
        let (block, quad_block) = (chunk / self.form.row_blocks, chunk % self.form.row_blocks);
        Part { quad_block, place: block * 4 * self.per_lane + within * self.per_register + element }
    }
}

/// The address of a matrix in memory.
#[derive(Debug, Clone, Copy)]
struct InMemory {
    stride: Value,
    lying: Lying,
}

impl<'a> Translator<'a> {
    fn whole_form(&self, s: &Statement, of: impl Fn(&str) -> Option<[PtxType; 4]>) -> Done<Form> {
        let form = FORMS.iter().find(|(shape, ..)| s.has(shape));
        let types = form.and_then(|(.., types)| types.iter().find_map(|ty| of(ty)));
        let (Some((_, shape, _)), Some(types)) = (form, types) else {
            let shape = s.modifiers.iter().find(|one| one.starts_with(['m']) && one.contains('k'));
            let (shape, ty) = (shape.map_or("", String::as_str), s.types.first().map_or("", |ty| ty.name()));
            let message = format!("`wmma` of the shape .{shape} with the type .{ty} is not taken");
            return Err(Wrong::new(s.at.clone(), message).hint(TENSOR));
        };
        Form::new(s, *shape, types)
    }

    /// How the matrix of a load or a store lies.
    fn lying(&self, s: &Statement) -> Done<Lying> {
        let ty = s.types[0];
        let Some(matrix) = s.one_of(&["a", "b", "c", "d"]) else {
            return Err(Wrong::new(s.at.clone(), "`wmma` needs the name of a matrix, such as .a"));
        };
        let is_sum = matches!(matrix, "c" | "d");
        let form = self.whole_form(s, |a| {
            let a = PtxType::from_name(a)?;
            if !is_sum {
                let sum = if a.bits == 64 {
                    "f64"
                } else if a.is_integer() {
                    "s32"
                } else {
                    "f32"
                };
                let sum = PtxType::from_name(sum)?;
                return (a == ty).then_some([sum, a, a, sum]);
            }
            let fits = match ty.name() {
                "f16" => a.name() == "f16",
                "f32" => !a.is_integer() && a.bits < 64,
                "s32" => a.is_integer(),
                _ => a == ty,
            };
            fits.then_some([ty, a, a, ty])
        })?;
        let is_row = match (s.has("row"), s.has("col")) {
            (true, false) => true,
            (false, true) => false,
            _ => return Err(Wrong::new(s.at.clone(), "`wmma` needs .row or .col")),
        };
        let used = form.registers(matrix);
        let written = if matches!(matrix, "a" | "b") && ty.name() == "f16" { 8 } else { used };
        let per_register = per_register(ty);
        let per_lane = if is_sum { 2 } else { per_register };
        let is_b = matrix == "b";
        Ok(Lying { used, written, ty, per_register, per_lane, is_dense: is_row != is_b, form, is_b, is_sum })
    }

    /// Elements between one row or column and the next: those of one if the text does not say.
    fn stride(&mut self, operand: Option<&Operand>, lying: Lying) -> Done<Value> {
        if let Some(operand) = operand {
            return self.read_low(operand, PtxType::U32);
        }
        let form = lying.form;
        let [m, n, k] =
            [8 * form.row_blocks, 8 * form.column_blocks, 4 * form.k_blocks * per_register(form.a)];
        let of_quads = if lying.is_b { n } else { m };
        let across = if lying.is_sum { n } else { k };
        Ok(self.e.i32(if lying.is_dense { across } else { of_quads }))
    }

    /// The address of an element of this lane, and what is added to it.
    fn place_of(&mut self, base: Value, InMemory { stride, lying }: InMemory, part: Part) -> (Value, u32) {
        let bytes = lying.ty.bytes();
        let (quad, in_quad) = (self.quad(), self.in_quad());
        let along = self.e.with(Binary::Mul, in_quad, u64::from(lying.per_lane));
        let (strided, along_part) = if lying.is_dense { (quad, along) } else { (along, quad) };
        let (strided_part, offset) = if lying.is_dense {
            (8 * part.quad_block, part.place)
        } else {
            (part.place, 8 * part.quad_block)
        };
        let line = self.e.with(Binary::Add, strided, u64::from(strided_part));
        let line = self.e.binary(Binary::Mul, line, stride);
        let index = self.e.binary(Binary::Add, line, along_part);
        let at = self.e.with(Binary::Mul, index, u64::from(bytes));
        (self.e.binary(Binary::Add, base, at), offset * bytes)
    }

    pub(super) fn load_fragment(&mut self, s: &'a Statement) -> Done {
        let lying = self.lying(s)?;
        let into = self.registers(s, &s.operands[0], lying.written)?;
        let addressed = self.address(&s.operands[1], space_of(s))?;
        if matches!(addressed, Addressed::Words(..)) {
            return Err(Wrong::new(s.operands[1].at.clone(), "`wmma` loads from memory"));
        }
        let stride = self.stride(s.operands.get(2), lying)?;
        let word = if lying.ty.bits == 64 { Type::F64 } else { Type::I32 };
        let matrix = InMemory { stride, lying };
        let types = vec![word; lying.used as usize];
        let values = self.in_each(addressed, &types, &mut |this, memory, base, offset| {
            let (pieces, bytes) = lying.pieces();
            let mut values = Vec::new();
            for register in 0..lying.used {
                let mut whole = None;
                for piece in 0..pieces {
                    let (place, more) = this.place_of(base, matrix, lying.part(register, piece));
                    let access = this.access(memory, word, bytes, false, offset + more);
                    let value = this.e.load(access, place);
                    whole = Some(match whole {
                        None => value,
                        Some(before) => {
                            let moved = this.e.with(Binary::Shl, value, u64::from(piece * lying.ty.bits));
                            this.e.binary(Binary::Or, moved, before)
                        }
                    });
                }
                values.extend(whole);
            }
            Ok(values)
        })?;
        let of_register = register_type(lying.ty);
        for (number, one) in into.iter().enumerate() {
            let value = match values.get(number) {
                Some(&value) => value,
                None => self.e.i32(0),
            };
            self.write(one, value, of_register)?;
        }
        Ok(())
    }

    pub(super) fn store_fragment(&mut self, s: &'a Statement) -> Done {
        let lying = self.lying(s)?;
        let from = self.registers(s, &s.operands[1], lying.written)?;
        let addressed = self.address(&s.operands[0], space_of(s))?;
        if matches!(addressed, Addressed::Words(..)) {
            return Err(Wrong::new(s.operands[0].at.clone(), "`wmma` stores to memory"));
        }
        let of_register = register_type(lying.ty);
        let values = from.iter().map(|one| self.read(one, of_register)).collect::<Done<Vec<_>>>()?;
        let stride = self.stride(s.operands.get(2), lying)?;
        let matrix = InMemory { stride, lying };
        self.in_each(addressed, &[], &mut |this, memory, base, offset| {
            let (pieces, bytes) = lying.pieces();
            for (register, &value) in (0..lying.used).zip(&values) {
                for piece in 0..pieces {
                    let part = match piece {
                        0 => value,
                        _ => this.e.with(Binary::ShrU, value, u64::from(piece * lying.ty.bits)),
                    };
                    let (place, more) = this.place_of(base, matrix, lying.part(register, piece));
                    let access = this.access(memory, this.e.ty(part), bytes, false, offset + more);
                    this.e.effect(Operation::Store(access, [place, part]));
                }
            }
            Ok(Vec::new())
        })?;
        Ok(())
    }

    pub(super) fn product_of_whole(&mut self, s: &Statement) -> Done {
        let types = match *s.types.as_slice() {
            [d, c] => {
                let half = PtxType::from_name("f16").unwrap_or(PtxType::F32);
                [d, half, half, c]
            }
            [d, a, b, c] => [d, a, b, c],
            _ => return Err(Wrong::new(s.at.clone(), "`wmma.mma` takes two or four types")),
        };
        let form = self.whole_form(s, |a| (types[1].name() == a).then_some(types))?;
        let written = |matrix: &str| if form.a.name() == "f16" { 8 } else { form.registers(matrix) };
        let a = self.registers(s, &s.operands[1], written("a"))?;
        let b = self.registers(s, &s.operands[2], written("b"))?;
        let (a, b) = (&a[..form.registers("a") as usize], &b[..form.registers("b") as usize]);
        self.product_of_fragments(s, form, [a, b])
    }
}
