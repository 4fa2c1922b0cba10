//! Comparisons.

use super::Wrong;
use super::translate::{Done, Translator};
use super::tree::{OperandKind, Statement};
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Compare, Convert, Half, Type, Value};

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
    "num", "nan",
];

/// The comparison of integers with this name.
fn of_integers(name: &str, is_signed: bool) -> Option<Compare> {
    Some(match (name, is_signed) {
        ("eq", _) => Compare::Eq,
        ("ne", _) => Compare::Ne,
        ("lt", true) => Compare::LtS,
        ("le", true) => Compare::LeS,
        ("gt", true) => Compare::GtS,
        ("ge", true) => Compare::GeS,
        ("lt" | "lo", false) => Compare::LtU,
        ("le" | "ls", false) => Compare::LeU,
        ("gt" | "hi", false) => Compare::GtU,
        ("ge" | "hs", false) => Compare::GeU,
        _ => return None,
    })
}

impl Translator<'_> {
    /// The truth of a comparison of two operands.
    fn compared(&mut self, s: &Statement, ty: PtxType) -> Done<Value> {
        let Some(name) = s.one_of(&COMPARISONS) else {
            return Err(Wrong::new(
                s.at.clone(),
                format!("`{}` needs a comparison, such as .lt", s.row.name),
            ));
        };
        let no =
            || Wrong::new(s.at.clone(), format!("`.{name}` does not compare numbers of type .{}", ty.name()));
        if ty.is_integer() {
            let [a, b] = [self.read_integer(&s.operands[1], ty)?, self.read_integer(&s.operands[2], ty)?];
            let compare = of_integers(name, ty.is_signed()).ok_or_else(no)?;
            return Ok(self.e.compare(compare, a, b));
        }
        let mut operands = [self.read(&s.operands[1], ty)?, self.read(&s.operands[2], ty)?];
        if ty.bits == 16 {
            operands = operands.map(|value| self.e.half(Half::Widen, &[value]));
        }
        if s.has("ftz") {
            operands = operands.map(|value| self.flush(value));
        }
        let [a, b] = operands;
        // Comparisons that a NaN makes true are the complements of others.
        let (compare, is_complement) = match name {
            "eq" => (Compare::FEq, false),
            "ne" => {
                // Not equal, and both are numbers.
                let [less, greater] =
                    [Compare::FLt, Compare::FGt].map(|compare| self.e.compare(compare, a, b));
                return Ok(self.e.binary(Binary::Or, less, greater));
            }
            "lt" => (Compare::FLt, false),
            "le" => (Compare::FLe, false),
            "gt" => (Compare::FGt, false),
            "ge" => (Compare::FGe, false),
            "equ" => {
                let [less, greater] =
                    [Compare::FLt, Compare::FGt].map(|compare| self.e.compare(compare, a, b));
                let any = self.e.binary(Binary::Or, less, greater);
                return Ok(self.e.not(any));
            }
            "neu" => (Compare::FNe, false),
            "ltu" => (Compare::FGe, true),
            "leu" => (Compare::FGt, true),
            "gtu" => (Compare::FLe, true),
            "geu" => (Compare::FLt, true),
            "num" | "nan" => {
                let [a, b] = [a, b].map(|value| self.e.compare(Compare::FEq, value, value));
                let numbers = self.e.binary(Binary::And, a, b);
                return Ok(if name == "num" { numbers } else { self.e.not(numbers) });
            }
            _ => return Err(no()),
        };
        let truth = self.e.compare(compare, a, b);
        Ok(if is_complement { self.e.not(truth) } else { truth })
    }

    /// A comparison, combined with a predicate where there is one.
    pub(super) fn comparison(&mut self, s: &Statement) -> Done {
        let is_set = s.row.name == "set";
        let ty = s.types[usize::from(is_set)];
        let truth = self.compared(s, ty)?;
        // The second result is the combination with the complement.
        let mut results = vec![truth];
        let both = match &s.operands[0].kind {
            OperandKind::Both(first, second) => {
                results.push(self.e.not(truth));
                Some((first, second))
            }
            _ => None,
        };
        let combine = s.one_of(&["and", "or", "xor"]);
        match (s.operands.get(3), combine) {
            (Some(operand), Some(combine)) => {
                let other = self.read(operand, PtxType::PRED)?;
                let binary = match combine {
                    "and" => Binary::And,
                    "or" => Binary::Or,
                    _ => Binary::Xor,
                };
                for result in &mut results {
                    *result = self.e.binary(binary, *result, other);
                }
            }
            (None, None) => {}
            _ => {
                let message =
                    format!("`{}` takes a third operand with .and, .or or .xor, and only then", s.row.name);
                return Err(Wrong::new(s.at.clone(), message));
            }
        }
        if is_set {
            return self.set_word(s, results[0]);
        }
        match both {
            Some((first, second)) => {
                self.write(first, results[0], PtxType::PRED)?;
                self.write(second, results[1], PtxType::PRED)
            }
            None => self.write(&s.operands[0], results[0], PtxType::PRED),
        }
    }

    /// A truth value as all ones, or as 1.0.
    fn set_word(&mut self, s: &Statement, truth: Value) -> Done {
        let ty = s.types[0];
        let value = match (ty.kind, ty.ir()) {
            (Kind::Float, Type::F32) => {
                let [one, zero] = [1.0, 0.0].map(|number| self.e.f32(number));
                self.e.select(truth, one, zero)
            }
            (Kind::Bits | Kind::Signed | Kind::Unsigned, _) if ty.bits <= 32 => {
                let word = self.e.convert(Convert::BoolToI32, truth);
                self.e.negate(word)
            }
            _ => return Err(Wrong::new(s.at.clone(), format!("`set` has no result of type .{}", ty.name()))),
        };
        self.write(&s.operands[0], value, ty)
    }
}
