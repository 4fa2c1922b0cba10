//! Operations on `f64` become operations on the bits, or calls of the library.
//!
//! A machine with f64 instructions has those of [`Double`]. All others are integer operations there too.

use super::edit::Editor;
use super::library::Imports;
use super::runtime::call;
use crate::ir::{Binary, Compare, Convert, Double, Instruction, Operation, Type, Unary, Value};
use cranelift_entity::PrimaryMap;

/// The sign bit.
const SIGN: u64 = 1 << 63;

/// What is needed for the replacement of an instruction.
pub(super) struct Doubles<'a, 'b> {
    pub(super) editor: &'a mut Editor<'b>,
    pub(super) imports: &'a mut Imports,
    /// Types of the values before any was changed.
    pub(super) types: &'a PrimaryMap<Value, Type>,
    /// The machine has f64 instructions.
    pub(super) has_instructions: bool,
}

impl Doubles<'_, '_> {
    /// The value in the place of the result of an instruction, if that computes with `f64`. What only moves them is
    /// left as it is.
    pub(super) fn replace(&mut self, instruction: &Instruction) -> Option<Value> {
        // Operands may be new values by now; an `f64` is an `i64` then.
        let is_double = self.types[*instruction.results.first()?] == Type::F64;
        Some(match &instruction.operation {
            Operation::Unary(unary, a) if is_double => self.unary(*unary, *a),
            Operation::Binary(binary, operands) if is_double => self.binary(*binary, *operands),
            Operation::Fma(operands) if is_double => {
                if self.has_instructions {
                    self.instruction(Double::Fma, operands)
                } else {
                    self.call("f64_fma", operands)
                }
            }
            Operation::Compare(compare, operands) if self.editor.ty(operands[0]) == Type::I64 => {
                return self.compare(*compare, *operands);
            }
            Operation::Convert(convert, a) => return self.convert(*convert, *a),
            _ => return None,
        })
    }

    fn call(&mut self, name: &'static str, operands: &[Value]) -> Value {
        call(self.editor, self.imports, name, operands)[0]
    }

    /// An instruction of the machine, on the halves of its operands.
    fn instruction(&mut self, double: Double, operands: &[Value]) -> Value {
        let editor = &mut *self.editor;
        let mut halves = Vec::new();
        for &operand in operands {
            if editor.ty(operand) == Type::F32 {
                halves.push(operand);
                continue;
            }
            halves.push(editor.convert(Convert::Wrap, operand));
            let high = editor.with(Binary::ShrU, operand, 32);
            halves.push(editor.convert(Convert::Wrap, high));
        }
        let (_, results) = double.types();
        let results: Vec<Value> = results.iter().map(|&ty| editor.function.value(ty)).collect();
        let operation = Operation::Double(double, halves);
        editor.keep(Instruction { operation, results: results.clone(), at: editor.at });
        let [low, high] = results[..] else { return results[0] };
        let [low, high] = [low, high].map(|half| editor.convert(Convert::ExtendU, half));
        let high = editor.with(Binary::Shl, high, 32);
        editor.binary(Binary::Or, high, low)
    }

    /// The instruction if the machine has it, else the function.
    fn either(&mut self, double: Double, name: &'static str, operands: &[Value]) -> Value {
        if self.has_instructions { self.instruction(double, operands) } else { self.call(name, operands) }
    }

    fn unary(&mut self, unary: Unary, a: Value) -> Value {
        let name = match unary {
            Unary::FNeg => return self.editor.with(Binary::Xor, a, SIGN),
            Unary::FAbs => return self.editor.with(Binary::And, a, !SIGN),
            Unary::FSqrt => return self.either(Double::Sqrt, "f64_sqrt", &[a]),
            Unary::FCeil => "f64_ceil",
            Unary::FFloor => "f64_floor",
            Unary::FTrunc => "f64_trunc",
            Unary::FNearest => "f64_nearest",
            other => unreachable!("{} takes no f64", other.name()),
        };
        self.call(name, &[a])
    }

    fn binary(&mut self, binary: Binary, [a, b]: [Value; 2]) -> Value {
        let name = match binary {
            Binary::FAdd => return self.either(Double::Add, "f64_add", &[a, b]),
            Binary::FSub if self.has_instructions => return self.instruction(Double::Sub, &[a, b]),
            Binary::FSub => {
                // Of a NaN the sign does not count.
                let minus = self.editor.with(Binary::Xor, b, SIGN);
                return self.call("f64_add", &[a, minus]);
            }
            Binary::FMul => return self.either(Double::Mul, "f64_mul", &[a, b]),
            Binary::FDiv => return self.either(Double::Div, "f64_div", &[a, b]),
            Binary::FCopysign => {
                let magnitude = self.editor.with(Binary::And, a, !SIGN);
                let sign = self.editor.with(Binary::And, b, SIGN);
                return self.editor.binary(Binary::Or, magnitude, sign);
            }
            Binary::FMin => "f64_min",
            Binary::FMax => "f64_max",
            Binary::FMinNumber => "f64_min_number",
            Binary::FMaxNumber => "f64_max_number",
            other => unreachable!("{} takes no f64", other.name()),
        };
        self.call(name, &[a, b])
    }

    fn compare(&mut self, compare: Compare, [a, b]: [Value; 2]) -> Option<Value> {
        Some(match compare {
            Compare::FEq => self.call("f64_eq", &[a, b]),
            Compare::FNe => {
                let equal = self.call("f64_eq", &[a, b]);
                self.editor.unary(Unary::Not, equal)
            }
            Compare::FLt => self.call("f64_lt", &[a, b]),
            Compare::FLe => self.call("f64_le", &[a, b]),
            Compare::FGt => self.call("f64_lt", &[b, a]),
            Compare::FGe => self.call("f64_le", &[b, a]),
            _ => return None,
        })
    }

    fn convert(&mut self, convert: Convert, a: Value) -> Option<Value> {
        let from = self.editor.ty(a);
        let name = match (convert, from) {
            (Convert::Reinterpret, Type::I64) => return Some(a),
            (Convert::Promote, _) if self.has_instructions => {
                return Some(self.instruction(Double::Promote, &[a]));
            }
            (Convert::Promote, _) => {
                let bits = self.editor.convert(Convert::Reinterpret, a);
                return Some(self.call("f64_promote", &[bits]));
            }
            (Convert::Demote, _) if self.has_instructions => {
                return Some(self.instruction(Double::Demote, &[a]));
            }
            (Convert::Demote, _) => {
                let bits = self.call("f64_demote", &[a]);
                return Some(self.editor.convert(Convert::Reinterpret, bits));
            }
            (Convert::TruncSatI32S, Type::I64) => "f64_to_i32",
            (Convert::TruncSatI32U, Type::I64) => "f64_to_u32",
            (Convert::TruncSatI64S, Type::I64) => "f64_to_i64",
            (Convert::TruncSatI64U, Type::I64) => "f64_to_u64",
            (Convert::F64S, Type::I32) => "f64_from_i32",
            (Convert::F64U, Type::I32) => "f64_from_u32",
            (Convert::F64S, _) => "f64_from_i64",
            (Convert::F64U, _) => "f64_from_u64",
            _ => return None,
        };
        Some(self.call(name, &[a]))
    }
}
