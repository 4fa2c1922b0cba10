//! The instructions that compute.

use super::instruction::{Address, Destination, Register, Relation, Source, Vector};
use super::opcode::Op;
use super::translate::{ADDRESS, FLAGS, LOOP_ADDRESS, OUTPUTS, REGISTER_BYTES, Translator};
use crate::ir::{Binary, Compare, Constant, Convert, Operation, Type, Unary, Value};

/// The greatest value of the second component of `litp`.
const LIT_BOUND: f32 = 127.996_09;

/// A source, before a component is taken of it.
enum Operand {
    Temporary(u32),
    Values([Value; 4]),
}

impl Translator<'_> {
    /// A source. What has to be loaded of it is loaded.
    fn operand(&mut self, source: &Source) -> Operand {
        match (source.register, source.address) {
            (Register::Input(number), _) => Operand::Values(self.inputs[&number]),
            (Register::Temporary(number), _) => Operand::Temporary(4 * u32::from(number)),
            (Register::Uniform(number), None) => Operand::Values(self.uniform(number)),
            (Register::Uniform(number), Some(address)) => Operand::Values(self.indexed(number, address)),
        }
    }

    fn uniform(&mut self, number: u8) -> [Value; 4] {
        if let Some(bits) = self.shader.constants.floats.get(&number) {
            return bits.map(|bits| self.emitter.constant(Constant::F32(bits)));
        }
        if let Some(&values) = self.uniforms.get(&number).or(self.loaded.get(&number)) {
            return values;
        }
        let values = self.load(self.parameters[1], u32::from(number) * REGISTER_BYTES);
        let values = values.map(|value| self.emitter.read(value));
        self.loaded.insert(number, values);
        values
    }

    /// A uniform whose number is computed, modulo 128; what is not there is 1.
    fn indexed(&mut self, number: u8, address: Address) -> [Value; 4] {
        let variable = match address {
            Address::X => ADDRESS,
            Address::Y => ADDRESS + 1,
            Address::Loop => LOOP_ADDRESS,
        };
        let added = self.get(variable);
        let emitter = &mut self.emitter;
        let (number, wrap) = (emitter.integer(number.into()), emitter.integer(127));
        let sum = emitter.binary(Binary::Add, added, number);
        let index = emitter.binary(Binary::And, sum, wrap);
        let (last, four, end) = (emitter.integer(95), emitter.integer(4), emitter.integer(96));
        let there = emitter.binary(Binary::MinU, index, last);
        let offset = emitter.binary(Binary::Shl, there, four);
        let address = emitter.binary(Binary::Add, self.parameters[1], offset);
        let mut values = self.load(address, 0).map(|value| self.emitter.read(value));
        let emitter = &mut self.emitter;
        let is_there = emitter.compare(Compare::LtU, index, end);
        let one = emitter.number(1.0);
        values = values.map(|value| emitter.select(is_there, value, one));
        for (&known, bits) in &self.shader.constants.floats {
            let known = emitter.integer(known.into());
            let is_known = emitter.compare(Compare::Eq, index, known);
            for (value, &bits) in values.iter_mut().zip(bits) {
                let literal = emitter.constant(Constant::F32(bits));
                *value = emitter.select(is_known, literal, *value);
            }
        }
        values
    }

    /// A component of a source, as the instruction takes it.
    fn component(&mut self, operand: &Operand, source: &Source, component: usize) -> Value {
        let which = source.swizzle[component];
        let value = match operand {
            Operand::Temporary(first) => self.get(first + u32::from(which)),
            Operand::Values(values) => values[usize::from(which)],
        };
        if source.negated { self.emitter.negate(value) } else { value }
    }

    /// Sets the flags.
    pub(super) fn cmp(&mut self, relations: [Relation; 2], sources: &[Source; 2]) {
        let operands = [self.operand(&sources[0]), self.operand(&sources[1])];
        let flags = [0, 1].map(|component| {
            let [a, b] = [0, 1].map(|n| self.component(&operands[n], &sources[n], component));
            let compare = match relations[component] {
                Relation::Eq => Compare::FEq,
                Relation::Ne => Compare::FNe,
                Relation::Lt => Compare::FLt,
                Relation::Le => Compare::FLe,
                Relation::Gt => Compare::FGt,
                Relation::Ge => Compare::FGe,
            };
            self.emitter.compare(compare, a, b)
        });
        self.set(FLAGS, flags[0]);
        self.set(FLAGS + 1, flags[1]);
    }

    /// Computes, and writes the components that are enabled.
    pub(super) fn vector(&mut self, vector: &Vector) {
        let operands: Vec<Operand> = vector.sources.iter().map(|source| self.operand(source)).collect();
        let results = self.results(vector, &operands);
        let first = match vector.destination {
            _ if vector.op == Op::Mova => ADDRESS,
            Destination::Output(number) => OUTPUTS + 4 * u32::from(number),
            Destination::Temporary(number) => 4 * u32::from(number),
        };
        for (result, component) in results.into_iter().zip(first..) {
            if let Some(value) = result {
                self.set(component, value);
            }
        }
    }

    /// What is written to each component.
    fn results(&mut self, vector: &Vector, operands: &[Operand]) -> [Option<Value>; 4] {
        let mut source = |translator: &mut Self, number: usize, component: usize| {
            translator.component(&operands[number], &vector.sources[number], component)
        };
        if vector.op == Op::Litp {
            return self.lit(vector, &operands[0]);
        }
        let by_component = self.shader.early && matches!(vector.op, Op::Rcp | Op::Rsq);
        let is_scalar =
            matches!(vector.op, Op::Dp3 | Op::Dp4 | Op::Dph | Op::Ex2 | Op::Lg2 | Op::Rcp | Op::Rsq);
        if is_scalar && !by_component {
            if vector.mask == [false; 4] {
                return [None; 4];
            }
            let value = match vector.op {
                Op::Dp3 => self.dot(3, false, &mut source),
                Op::Dp4 => self.dot(4, false, &mut source),
                Op::Dph => self.dot(3, true, &mut source),
                _ => {
                    let a = source(self, 0, 0);
                    self.function(vector.op, a)
                }
            };
            return vector.mask.map(|enabled| enabled.then_some(value));
        }
        [0, 1, 2, 3].map(|component| {
            if !vector.mask[component] || vector.op == Op::Mova && component > 1 {
                return None;
            }
            if vector.op == Op::Dst {
                return Some(match component {
                    0 => self.emitter.number(1.0),
                    1 => {
                        let (a, b) = (source(self, 0, 1), source(self, 1, 1));
                        self.emitter.mul(a, b)
                    }
                    2 => source(self, 0, 2),
                    _ => source(self, 1, 3),
                });
            }
            let values: Vec<Value> =
                (0..operands.len()).map(|number| source(self, number, component)).collect();
            Some(self.one(vector.op, &values))
        })
    }

    /// A dot product of so many components, and the last one of the second source, if that is asked for.
    fn dot(
        &mut self,
        count: usize,
        with_last: bool,
        source: &mut impl FnMut(&mut Self, usize, usize) -> Value,
    ) -> Value {
        let mut sum = None;
        for component in 0..count {
            let (a, b) = (source(self, 0, component), source(self, 1, component));
            let product = self.emitter.mul(a, b);
            sum = Some(match sum {
                None => self.emitter.add_zero(product),
                Some(sum) => self.emitter.add(sum, product),
            });
        }
        let sum = sum.expect("a dot product has components");
        if !with_last {
            return sum;
        }
        let last = source(self, 1, 3);
        self.emitter.add(sum, last)
    }

    /// A function of one number.
    fn function(&mut self, op: Op, a: Value) -> Value {
        let emitter = &mut self.emitter;
        match op {
            Op::Ex2 => emitter.special(Unary::FExp2, a),
            Op::Lg2 => emitter.special(Unary::FLog2, a),
            Op::Rcp => emitter.reciprocal(a),
            _ => emitter.reciprocal_root(a),
        }
    }

    /// One component of an operation by components.
    fn one(&mut self, op: Op, values: &[Value]) -> Value {
        let emitter = &mut self.emitter;
        match (op, values) {
            (Op::Add, &[a, b]) => emitter.add(a, b),
            (Op::Mul, &[a, b]) => emitter.mul(a, b),
            (Op::Max, &[a, b]) => emitter.choose(Compare::FGt, a, b),
            (Op::Min, &[a, b]) => emitter.choose(Compare::FLt, a, b),
            (Op::Sge | Op::Slt, &[a, b]) => {
                let compare = if op == Op::Sge { Compare::FGe } else { Compare::FLt };
                let holds = emitter.compare(compare, a, b);
                let (one, zero) = (emitter.number(1.0), emitter.number(0.0));
                emitter.select(holds, one, zero)
            }
            (Op::Mad, &[a, b, c]) => {
                let product = emitter.mul(a, b);
                emitter.add(product, c)
            }
            (Op::Flr, &[a]) => emitter.unary(Unary::FFloor, a),
            (Op::Mova, &[a]) => emitter.emit(Operation::Convert(Convert::TruncSatI32S, a), Type::I32),
            (Op::Rcp | Op::Rsq, &[a]) => self.function(op, a),
            _ => values[0],
        }
    }

    /// The first step of lighting: components within their bounds, and flags for x and w.
    fn lit(&mut self, vector: &Vector, operand: &Operand) -> [Option<Value>; 4] {
        let [x, y, w] = [0, 1, 3].map(|component| self.component(operand, &vector.sources[0], component));
        let emitter = &mut self.emitter;
        let zero = emitter.number(0.0);
        let flags = [x, w].map(|value| emitter.compare(Compare::FGe, value, zero));
        let (bound, below) = (emitter.number(LIT_BOUND), emitter.number(-LIT_BOUND));
        let high = emitter.choose(Compare::FLt, y, bound);
        let y = emitter.choose(Compare::FGt, high, below);
        let [x, w] = [x, w].map(|value| emitter.choose(Compare::FGt, value, zero));
        self.set(FLAGS, flags[0]);
        self.set(FLAGS + 1, flags[1]);
        let mut results = [x, y, zero, w].map(Some);
        for (result, enabled) in results.iter_mut().zip(vector.mask) {
            *result = result.filter(|_| enabled);
        }
        results
    }
}
