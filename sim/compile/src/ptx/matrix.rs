//! Matrices whose elements lie in the registers of a warp: loads, stores, transposition, products.
//!
//! A row of eight times 32 bits lies in a *quad*, four lanes one after another, and the eight quads have the rows 0 to 7. A
//! lane computes its own elements of a product: it takes the elements of its rows of A and of its columns of B from the lanes
//! that hold them, one shuffle each. Elements are unpacked in front of the shuffles, since each lane unpacks its own then
//! and not those of a row and two columns.

use super::Wrong;
use super::memory::Addressed;
use super::spaces::space_of;
use super::table::TENSOR;
use super::translate::{Done, Translator};
use super::tree::{Operand, OperandKind, Statement};
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Block, Convert, Half, Operation, Type, Value, Wave};
use std::collections::HashMap;
use wave_isa::Special;

/// Lanes of a quad.
const QUAD: u32 = 4;

/// Shapes m, n, k of the products, with the types of A.
const FORMS: &[(&str, [u32; 3], &[&str])] = &[
    ("m8n8k4", [8, 8, 4], &["f64"]),
    ("m8n8k16", [8, 8, 16], &["s8", "u8"]),
    ("m16n8k4", [16, 8, 4], &["tf32", "f64"]),
    ("m16n8k8", [16, 8, 8], &["f16", "bf16", "tf32", "f64"]),
    ("m16n8k16", [16, 8, 16], &["f16", "bf16", "s8", "u8", "f64"]),
    ("m16n8k32", [16, 8, 32], &["s8", "u8"]),
];

/// A product: its shape and its types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Rows of A, in eights.
    pub(super) row_blocks: u32,
    /// Columns of B, in eights.
    pub(super) column_blocks: u32,
    /// Registers of a row of A: in each, a lane holds elements that lie one after another.
    pub(super) k_blocks: u32,
    pub(super) a: PtxType,
    pub(super) b: PtxType,
    pub(super) c: PtxType,
    pub(super) d: PtxType,
}

impl Form {
    fn of(s: &Statement) -> Done<Form> {
        let &[d, a, b, c] = s.types.as_slice() else {
            return Err(Wrong::new(s.at.clone(), "`mma` takes four types"));
        };
        if !(s.has("sync") && s.has("aligned") && s.has("row") && s.has("col")) {
            return Err(Wrong::new(s.at.clone(), "`mma` is taken as `mma.sync.aligned` with .row.col"));
        }
        let form = FORMS.iter().find(|(shape, ..)| s.has(shape));
        let Some((_, [m, _, k], _)) = form.filter(|(.., types)| types.contains(&a.name())) else {
            let shape = s.modifiers.iter().find(|one| one.starts_with('m')).map_or("", String::as_str);
            let message = format!("`mma.{shape}` on numbers of type .{} is not taken", a.name());
            return Err(Wrong::new(s.at.clone(), message).hint(TENSOR));
        };
        Form::new(s, [*m, 8, *k], [d, a, b, c])
    }

    /// The form of a shape and of types, if they go together.
    pub(super) fn new(s: &Statement, [m, n, k]: [u32; 3], [d, a, b, c]: [PtxType; 4]) -> Done<Form> {
        let is_right = match a.name() {
            "s8" | "u8" => matches!(b.name(), "s8" | "u8") && c.name() == "s32" && d == c,
            "f16" => b == a && [c, d].iter().all(|ty| matches!(ty.name(), "f16" | "f32")),
            "f64" => b == a && c == a && d == a,
            _ => b == a && c == PtxType::F32 && d == c,
        };
        if !is_right {
            let (name, [d, a, b, c]) = (s.row.name, [d, a, b, c].map(PtxType::name));
            let message = format!("`{name}` does not have the types .{d}.{a}.{b}.{c} together");
            return Err(Wrong::new(s.at.clone(), message));
        }
        if s.has("satfinite") && d.name() != "s32" {
            return Err(Wrong::new(s.at.clone(), "`.satfinite` goes with the type .s32"));
        }
        let k_blocks = k / (QUAD * per_register(a));
        Ok(Form { row_blocks: m / 8, column_blocks: n / 8, k_blocks, a, b, c, d })
    }

    /// Registers of A, B, and C or D.
    pub(super) fn registers(self, matrix: &str) -> u32 {
        let pairs = self.row_blocks * self.column_blocks;
        match matrix {
            "a" => self.row_blocks * self.k_blocks,
            "b" => self.column_blocks * self.k_blocks,
            "c" if self.c.bits == 16 => pairs,
            "d" if self.d.bits == 16 => pairs,
            _ => 2 * pairs,
        }
    }
}

/// Elements of A and B in a register.
pub(super) fn per_register(ty: PtxType) -> u32 {
    32 / ty.bits.min(32)
}

/// The type of the registers of A and B.
pub(super) fn register_type(ty: PtxType) -> PtxType {
    if ty.bits == 64 { ty } else { PtxType::B32 }
}

/// Elements that lanes have taken from one another for a product. The next product may have the same A or the same B.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    lanes: Option<(Block, HashMap<u32, Value>)>,
    fragments: [Option<Fragment>; 2],
}

/// A or B.
#[derive(Debug)]
struct Fragment {
    block: Block,
    registers: Vec<Value>,
    ty: PtxType,
    /// The elements of the own registers.
    own: HashMap<u32, Vec<Value>>,
    /// Elements of other lanes: register, element, lane.
    taken: HashMap<[u32; 3], Value>,
}

impl<'a> Translator<'a> {
    /// The lane of its own, and what is computed of it once in a block.
    fn lane_with(&mut self, number: u32, make: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        self.needs_warps = true;
        let block = self.e.block;
        if let Some((of, known)) = &self.gathered.lanes
            && *of == block
            && let Some(&value) = known.get(&number)
        {
            return value;
        }
        let lane = self.e.special(Special::LaneId, Some(31));
        let value = make(self, lane);
        match &mut self.gathered.lanes {
            Some((of, known)) if *of == block => _ = known.insert(number, value),
            lanes => *lanes = Some((block, HashMap::from([(number, value)]))),
        }
        value
    }

    /// The number of the quad: the row of a fragment, and the column of one of B.
    pub(super) fn quad(&mut self) -> Value {
        self.lane_with(0, |this, lane| this.e.with(Binary::ShrU, lane, 2))
    }

    /// The number of the lane in its quad.
    pub(super) fn in_quad(&mut self) -> Value {
        self.lane_with(1, |this, lane| this.e.with(Binary::And, lane, 3))
    }

    /// The lane of this number in the own quad.
    fn of_row(&mut self, number: u32) -> Value {
        let first = self.lane_with(2, |this, lane| this.e.with(Binary::And, lane, 28));
        self.lane_with(8 + number, |this, _| this.e.with(Binary::Or, first, u64::from(number)))
    }

    /// The lane of this number in the quad that has the first or the second column of C of this lane.
    fn of_column(&mut self, second: u32, number: u32) -> Value {
        let in_quad = self.in_quad();
        let first = self.lane_with(3, |this, _| this.e.with(Binary::Shl, in_quad, 3));
        let offset = QUAD * second + number;
        self.lane_with(16 + offset, |this, _| this.e.with(Binary::Or, first, u64::from(offset)))
    }

    fn of_lane(&mut self, value: Value, lane: Value) -> Value {
        self.needs_warps = true;
        match self.e.ty(value) {
            Type::F32 => {
                let bits = self.e.reinterpret(value);
                let taken = self.e.wave(Wave::Shuffle, &[bits, lane]);
                self.e.reinterpret(taken)
            }
            Type::F64 => {
                let bits = self.e.reinterpret(value);
                let halves = self.e.halves(bits).map(|half| self.e.wave(Wave::Shuffle, &[half, lane]));
                let whole = self.e.whole(halves);
                self.e.reinterpret(whole)
            }
            _ => self.e.wave(Wave::Shuffle, &[value, lane]),
        }
    }

    /// The registers of an operand; one alone may stand without braces.
    pub(super) fn registers<'s>(
        &self,
        s: &Statement,
        operand: &'s Operand,
        count: u32,
    ) -> Done<&'s [Operand]> {
        let all = match &operand.kind {
            OperandKind::Vector(all) => all.as_slice(),
            _ => std::slice::from_ref(operand),
        };
        if all.len() == count as usize {
            return Ok(all);
        }
        let (name, given) = (s.row.name, all.len());
        let message = format!("this operand of `{name}` has {count} registers, and {given} are written");
        Err(Wrong::new(operand.at.clone(), message))
    }

    /// Reads the registers of A or of B; those of the last product stay known if they are the same.
    fn take_fragment(&mut self, number: usize, operands: &[Operand], ty: PtxType) -> Done {
        let of_register = register_type(ty);
        let registers = operands.iter().map(|one| self.read(one, of_register)).collect::<Done<Vec<_>>>()?;
        let block = self.e.block;
        let known = &mut self.gathered.fragments[number - 1];
        if !known.as_ref().is_some_and(|one| one.block == block && one.registers == registers && one.ty == ty)
        {
            let (own, taken) = (HashMap::new(), HashMap::new());
            *known = Some(Fragment { block, registers, ty, own, taken });
        }
        Ok(())
    }

    /// An element of A (0) or B (1) that another lane holds: in which of its registers, and which of that register.
    fn element_of(&mut self, fragment: usize, at: [u32; 3]) -> Value {
        let [register, element, source] = at;
        let known = self.gathered.fragments[fragment].as_ref().expect("the fragment has been read");
        if let Some(&value) = known.taken.get(&at) {
            return value;
        }
        let (ty, word) = (known.ty, known.registers[register as usize]);
        let own = match known.own.get(&register) {
            Some(own) => own[element as usize],
            None => {
                let own = self.elements_of(word, ty);
                let value = own[element as usize];
                let known = self.gathered.fragments[fragment].as_mut().expect("the fragment has been read");
                known.own.insert(register, own);
                value
            }
        };
        let lane = match fragment {
            0 => self.of_row(source),
            _ => self.of_column(source / QUAD, source % QUAD),
        };
        let value = self.of_lane(own, lane);
        let known = self.gathered.fragments[fragment].as_mut().expect("the fragment has been read");
        known.taken.insert(at, value);
        value
    }

    /// The elements of a register as numbers that products take.
    fn elements_of(&mut self, word: Value, ty: PtxType) -> Vec<Value> {
        match (ty.kind, ty.bits) {
            (Kind::Float, 16) => {
                let upper = self.e.with(Binary::ShrU, word, 16);
                [word, upper].map(|half| self.e.half(Half::Widen, &[half])).to_vec()
            }
            (Kind::Brain, _) => {
                let lower = self.e.with(Binary::Shl, word, 16);
                let upper = self.e.with(Binary::And, word, 0xFFFF_0000);
                [lower, upper].map(|bits| self.e.reinterpret(bits)).to_vec()
            }
            (Kind::Tensor, _) => {
                let kept = self.e.with(Binary::And, word, 0xFFFF_E000);
                vec![self.e.reinterpret(kept)]
            }
            (Kind::Signed | Kind::Unsigned, 8) => {
                (0..4).map(|number| self.byte_of(word, number, ty)).collect()
            }
            _ => vec![word],
        }
    }

    fn byte_of(&mut self, word: Value, number: u32, ty: PtxType) -> Value {
        if !ty.is_signed() {
            let moved = self.e.with(Binary::ShrU, word, u64::from(8 * number));
            return self.e.with(Binary::And, moved, 0xFF);
        }
        let up = self.e.with(Binary::Shl, word, u64::from(24 - 8 * number));
        self.e.with(Binary::ShrS, up, 24)
    }

    /// D = A B + C. The sum of an element goes over k in order, rounded after each product.
    pub(super) fn matrix_product(&mut self, s: &Statement) -> Done {
        let form = Form::of(s)?;
        let a = self.registers(s, &s.operands[1], form.registers("a"))?;
        let b = self.registers(s, &s.operands[2], form.registers("b"))?;
        self.product_of_fragments(s, form, [a, b])
    }

    /// D = A B + C of these registers of A and B.
    pub(super) fn product_of_fragments(
        &mut self,
        s: &Statement,
        form: Form,
        [a, b]: [&[Operand]; 2],
    ) -> Done {
        self.multiplies_matrices = true;
        self.take_fragment(1, a, form.a)?;
        self.take_fragment(2, b, form.b)?;
        let mut sums = self.accumulators(s, form)?;
        let per_register = per_register(form.a);
        let blocks =
            (0..form.column_blocks).flat_map(|column| (0..form.row_blocks).map(move |row| (column, row)));
        for ((column_block, row), sums) in blocks.zip(sums.chunks_exact_mut(2)) {
            for (column, sum) in (0..2).zip(sums) {
                let before = *sum;
                if s.has("satfinite") {
                    *sum = self.e.i32(0);
                }
                for block in 0..form.k_blocks {
                    for (lane, element) in
                        (0..QUAD).flat_map(|lane| (0..per_register).map(move |at| (lane, at)))
                    {
                        let a = self.element_of(0, [block * form.row_blocks + row, element, lane]);
                        let b_register = column_block * form.k_blocks + block;
                        let b = self.element_of(1, [b_register, element, QUAD * column + lane]);
                        *sum = if self.e.ty(a) == Type::I32 {
                            let product = self.e.binary(Binary::Mul, a, b);
                            self.e.binary(Binary::Add, *sum, product)
                        } else {
                            self.e.fma([a, b, *sum])
                        };
                    }
                }
                if s.has("satfinite") {
                    let wrapped = self.e.binary(Binary::Add, *sum, before);
                    *sum = self.saturated(*sum, before, wrapped, true);
                }
            }
        }
        self.write_product(s, form, &sums)
    }

    /// The elements of C: two in each row.
    fn accumulators(&mut self, s: &Statement, form: Form) -> Done<Vec<Value>> {
        let operands = self.registers(s, &s.operands[3], form.registers("c"))?;
        if form.c.bits != 16 {
            return operands.iter().map(|one| self.read(one, form.c)).collect();
        }
        let mut sums = Vec::new();
        for one in operands {
            let pair = self.read(one, PtxType::B32)?;
            sums.extend(self.elements_of(pair, form.c));
        }
        Ok(sums)
    }

    fn write_product(&mut self, s: &Statement, form: Form, sums: &[Value]) -> Done {
        let operands = self.registers(s, &s.operands[0], form.registers("d"))?;
        if form.d.bits != 16 {
            return operands.iter().zip(sums).try_for_each(|(one, &sum)| self.write(one, sum, form.d));
        }
        for (one, pair) in operands.iter().zip(sums.chunks_exact(2)) {
            let [low, high] = [pair[0], pair[1]].map(|sum| self.e.half(Half::Narrow, &[sum]));
            let word = self.joined(low, high);
            self.write(one, word, PtxType::B32)?;
        }
        Ok(())
    }

    /// A word of two numbers of 16 bits.
    pub(super) fn joined(&mut self, low: Value, high: Value) -> Value {
        let high = self.e.with(Binary::Shl, high, 16);
        self.e.binary(Binary::Or, high, low)
    }

    /// How many matrices an instruction loads or stores.
    fn matrices(&self, s: &Statement) -> Done<u32> {
        match (s.has("m8n8"), s.one_of(&["x1", "x2", "x4"])) {
            (true, Some("x1")) => Ok(1),
            (true, Some("x2")) => Ok(2),
            (true, Some(_)) => Ok(4),
            _ => Err(Wrong::new(s.at.clone(), format!("`{}` needs .m8n8 and .x1, .x2 or .x4", s.row.name))),
        }
    }

    /// The address that this lane gives, in memory of the workgroup, and what is added to it.
    fn row_address(&mut self, operand: &Operand, s: &Statement) -> Done<(Value, u32)> {
        match self.address(operand, space_of(s))? {
            Addressed::Memory(memory, base, offset) if memory == self.ids.local => Ok((base, offset)),
            Addressed::Generic(address, offset, _) => Ok((self.e.convert(Convert::Wrap, address), offset)),
            _ => Err(Wrong::new(operand.at.clone(), format!("`{}` takes an address in .shared", s.row.name))),
        }
    }

    /// The address of two elements of this lane in a row that another lane knows, or of one of them if the matrix is
    /// transposed: elements of a column lie in two rows.
    fn place_in_row(&mut self, row: Value, matrix: u32, transposed: Option<u32>) -> Value {
        let (source, place) = match transposed {
            None => {
                let quad = self.quad();
                let source = self.e.with(Binary::Or, quad, u64::from(8 * matrix));
                let in_quad = self.in_quad();
                (source, self.lane_with(4, |this, _| this.e.with(Binary::Shl, in_quad, 2)))
            }
            Some(half) => {
                let in_quad = self.in_quad();
                let twice = self.lane_with(5, |this, _| this.e.with(Binary::Shl, in_quad, 1));
                let source = self.e.with(Binary::Or, twice, u64::from(8 * matrix + half));
                let quad = self.quad();
                (source, self.lane_with(6, |this, _| this.e.with(Binary::Shl, quad, 1)))
            }
        };
        let row = self.of_lane(row, source);
        self.e.binary(Binary::Add, row, place)
    }

    /// Matrices of eight rows of eight numbers of 16 bits: the lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i.
    pub(super) fn load_matrices(&mut self, s: &'a Statement) -> Done {
        let count = self.matrices(s)?;
        let into = self.registers(s, &s.operands[0], count)?;
        let (row, offset) = self.row_address(&s.operands[1], s)?;
        let local = self.ids.local;
        let mut values = Vec::new();
        for matrix in 0..count {
            values.push(if s.has("trans") {
                let halves = [0, 1].map(|half| {
                    let place = self.place_in_row(row, matrix, Some(half));
                    let access = self.access(local, Type::I32, 2, false, offset);
                    self.e.load(access, place)
                });
                self.joined(halves[0], halves[1])
            } else {
                let place = self.place_in_row(row, matrix, None);
                let access = self.access(local, Type::I32, 4, false, offset);
                self.e.load(access, place)
            });
        }
        into.iter().zip(values).try_for_each(|(one, value)| self.write(one, value, PtxType::B32))
    }

    pub(super) fn store_matrices(&mut self, s: &'a Statement) -> Done {
        let count = self.matrices(s)?;
        let from = self.registers(s, &s.operands[1], count)?;
        let (row, offset) = self.row_address(&s.operands[0], s)?;
        let local = self.ids.local;
        for (matrix, one) in (0..count).zip(from) {
            let value = self.read(one, PtxType::B32)?;
            if !s.has("trans") {
                let place = self.place_in_row(row, matrix, None);
                let access = self.access(local, Type::I32, 4, false, offset);
                self.e.effect(Operation::Store(access, [place, value]));
                continue;
            }
            for half in 0..2 {
                let part = self.e.with(Binary::ShrU, value, u64::from(16 * half));
                let place = self.place_in_row(row, matrix, Some(half));
                let access = self.access(local, Type::I32, 2, false, offset);
                self.e.effect(Operation::Store(access, [place, part]));
            }
        }
        Ok(())
    }

    /// A matrix of eight times eight numbers of 16 bits, rows and columns exchanged.
    pub(super) fn transpose_matrix(&mut self, s: &Statement) -> Done {
        if !s.has("trans") {
            return Err(Wrong::new(s.at.clone(), "`movmatrix` needs .trans"));
        }
        let word = self.read(&s.operands[1], PtxType::B32)?;
        let quad = self.quad();
        // The column that becomes the row of this lane: which lane of a quad has it, and which half of the register.
        let lane = self.e.with(Binary::ShrU, quad, 1);
        let half = self.e.with(Binary::And, quad, 1);
        let by = self.e.with(Binary::Shl, half, 4);
        let halves = [0, 1].map(|second| {
            let first = self.of_column(second, 0);
            let source = self.e.binary(Binary::Or, first, lane);
            let taken = self.of_lane(word, source);
            let moved = self.e.binary(Binary::ShrU, taken, by);
            self.e.with(Binary::And, moved, 0xFFFF)
        });
        let value = self.joined(halves[0], halves[1]);
        self.write(&s.operands[0], value, PtxType::B32)
    }
}
