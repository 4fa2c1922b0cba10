//! Expressions: each becomes the scalars of its value, or a pointer.

use super::places::{Length, Location, Pointer, RunTime, To};
use super::{Evaluated, Frame, Translator, Wrong};
use crate::ir::{Binary, Constant, Value};
use naga::{Expression, Handle, Literal, TypeInner};
use wave_isa::Special;

impl<'a> Translator<'a> {
    /// The type of an expression of a function.
    pub(super) fn ty(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> TypeInner {
        frame.info[handle].ty.inner_with(&self.module.types).clone()
    }

    /// The value or pointer of an expression.
    pub(super) fn evaluated(
        &mut self,
        frame: &Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Evaluated, Wrong> {
        match frame.values.get(&handle) {
            Some(evaluated) => Ok(evaluated.clone()),
            // Those that no statement evaluates are the same at any time.
            None => self.expression(frame, handle),
        }
    }

    /// The scalars of an expression.
    pub(super) fn values(
        &mut self,
        frame: &Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Vec<Value>, Wrong> {
        match self.evaluated(frame, handle)? {
            Evaluated::Values(values) => Ok(values),
            Evaluated::Pointer(_) => unreachable!("the validator has seen a value"),
        }
    }

    pub(super) fn scalar(&mut self, frame: &Frame<'a>, handle: Handle<Expression>) -> Result<Value, Wrong> {
        Ok(self.values(frame, handle)?[0])
    }

    pub(super) fn pointer(
        &mut self,
        frame: &Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Pointer, Wrong> {
        match self.evaluated(frame, handle)? {
            Evaluated::Pointer(pointer) => Ok(pointer),
            Evaluated::Values(_) => unreachable!("the validator has seen a pointer"),
        }
    }

    /// Evaluates an expression now.
    pub(super) fn expression(
        &mut self,
        frame: &Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Evaluated, Wrong> {
        let values = match &frame.function.expressions[handle] {
            Expression::Literal(literal) => vec![self.literal(*literal)],
            Expression::Constant(constant) => {
                let constant = &self.module.constants[*constant];
                self.check_size(self.layout.inner(constant.ty))?;
                self.global(constant.init)
            }
            Expression::ZeroValue(ty) => {
                self.check_size(self.layout.inner(*ty))?;
                self.zeros(*ty)
            }
            Expression::Compose { components, .. } => {
                let mut values = Vec::new();
                for &component in components {
                    values.extend(self.values(frame, component)?);
                }
                values
            }
            &Expression::Access { base, index } => return self.access(frame, base, index),
            &Expression::AccessIndex { base, index } => match self.evaluated(frame, base)? {
                Evaluated::Pointer(pointer) => {
                    return Ok(Evaluated::Pointer(match self.layout.length(&pointer.ty) {
                        Some(_) => self.component(&pointer, index),
                        // The binding says how many there are.
                        None => {
                            let index = self.e.i32(index);
                            self.element(&pointer, index)?
                        }
                    }));
                }
                Evaluated::Values(values) => self.part(&self.ty(frame, base), &values, index),
            },
            &Expression::Splat { size, value } => vec![self.scalar(frame, value)?; size as usize],
            &Expression::Swizzle { size, vector, pattern } => {
                let values = self.values(frame, vector)?;
                pattern[..size as usize].iter().map(|&component| values[component as usize]).collect()
            }
            &Expression::FunctionArgument(number) => return Ok(frame.arguments[number as usize].clone()),
            Expression::GlobalVariable(global) => {
                let Some(pointer) = self.globals.get(global) else {
                    return Err(self.refused("a variable that no launch can bring"));
                };
                return Ok(Evaluated::Pointer(pointer.clone()));
            }
            Expression::LocalVariable(local) => return Ok(Evaluated::Pointer(frame.locals[local].clone())),
            &Expression::Load { pointer } => {
                let pointer = self.pointer(frame, pointer)?;
                self.load(&pointer)?
            }
            &Expression::Unary { op, expr } => {
                let (ty, values) = (self.ty(frame, expr), self.values(frame, expr)?);
                self.unary(op, &ty, &values)?
            }
            &Expression::Binary { op, left, right } => {
                let types = [left, right].map(|side| self.ty(frame, side));
                let [left, right] = [self.values(frame, left)?, self.values(frame, right)?];
                self.binary(op, [&types[0], &types[1]], [&left, &right])?
            }
            &Expression::Select { condition, accept, reject } => {
                let condition = self.values(frame, condition)?;
                let [accept, reject] = [self.values(frame, accept)?, self.values(frame, reject)?];
                let sides = accept.into_iter().zip(reject).enumerate();
                let of = |number: usize| condition[if condition.len() == 1 { 0 } else { number }];
                sides.map(|(number, (a, b))| self.e.select(of(number), a, b)).collect()
            }
            &Expression::Relational { fun, argument } => {
                let (ty, values) = (self.ty(frame, argument), self.values(frame, argument)?);
                self.relational(fun, &ty, &values)
            }
            &Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let given: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                let types: Vec<TypeInner> = given.iter().map(|&one| self.ty(frame, one)).collect();
                let values: Result<Vec<_>, Wrong> =
                    given.iter().map(|&one| self.values(frame, one)).collect();
                self.math(fun, &types, &values?)?
            }
            &Expression::As { expr, kind, convert } => {
                let (ty, values) = (self.ty(frame, expr), self.values(frame, expr)?);
                self.converted(&ty, &values, kind, convert, self.layout.count(&self.ty(frame, handle)))?
            }
            &Expression::ArrayLength(pointer) => {
                let pointer = self.pointer(frame, pointer)?;
                let To::Memory(location) = pointer.to else { unreachable!("it is in a buffer") };
                let stride = self.layout.component(&pointer.ty, 0).bytes;
                vec![self.run_time_length(location, stride).length]
            }
            Expression::Override(_) => unreachable!("pipeline constants have their values"),
            other => {
                let what = name(other);
                return Err(self.refused_at(frame.function.expressions.get_span(handle), what.to_owned()));
            }
        };
        Ok(Evaluated::Values(values))
    }

    fn access(
        &mut self,
        frame: &Frame<'a>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Result<Evaluated, Wrong> {
        let index = self.scalar(frame, index)?;
        Ok(match self.evaluated(frame, base)? {
            Evaluated::Pointer(pointer) => Evaluated::Pointer(self.element(&pointer, index)?),
            Evaluated::Values(values) => {
                let ty = self.ty(frame, base);
                Evaluated::Values(self.chosen(&ty, &values, index)?)
            }
        })
    }

    /// The component of this number of a value.
    pub(super) fn part(&self, ty: &TypeInner, values: &[Value], number: u32) -> Vec<Value> {
        let component = self.layout.component(ty, number);
        let first = match ty {
            TypeInner::Struct { .. } => component.scalars,
            _ => component.scalars * number as usize,
        };
        values[first..first + self.layout.count(&component.ty)].to_vec()
    }

    /// The component of a value that an index chooses.
    fn chosen(&mut self, ty: &TypeInner, values: &[Value], index: Value) -> Result<Vec<Value>, Wrong> {
        let length = self.layout.length(ty).expect("a value has a size");
        if let Some(number) = self.e.known_i32(index) {
            return Ok(self.part(ty, values, number.min(length - 1)));
        }
        let index = self.checked(index, Length::Known(length));
        if length > MOST_CHOSEN {
            return self.looked_up(ty, values, index);
        }
        let mut chosen = self.part(ty, values, length - 1);
        for number in (0..length - 1).rev() {
            let here = self.e.compare_with(crate::ir::Compare::Eq, index, number.into());
            let part = self.part(ty, values, number);
            chosen = part.into_iter().zip(chosen).map(|(a, b)| self.e.select(here, a, b)).collect();
        }
        Ok(chosen)
    }

    /// A component of an array that is put into memory first: where all of it is known, into the data of the program.
    fn looked_up(&mut self, ty: &TypeInner, values: &[Value], index: Value) -> Result<Vec<Value>, Wrong> {
        let component = self.layout.component(ty, 0);
        let location = self.table(ty, values)?;
        let distance = self.e.with(Binary::Mul, index, component.bytes.into());
        let base = self.e.binary(Binary::Add, distance, location.base);
        let to = To::Memory(Location { base, is_constant: false, ..location });
        self.load(&Pointer { ty: component.ty, to })
    }

    fn literal(&mut self, literal: Literal) -> Value {
        self.e.constant(match literal {
            Literal::F64(number) => Constant::F64(number.to_bits()),
            Literal::F32(number) => Constant::F32(number.to_bits()),
            Literal::F16(number) => Constant::I32(number.to_bits().into()),
            Literal::U16(number) => Constant::I32(number.into()),
            Literal::I16(number) => Constant::I32(i32::from(number) as u32),
            Literal::U32(number) => Constant::I32(number),
            Literal::I32(number) => Constant::I32(number as u32),
            Literal::U64(number) => Constant::I64(number),
            Literal::I64(number) => Constant::I64(number as u64),
            Literal::Bool(truth) => Constant::Bool(truth),
            Literal::AbstractInt(_) | Literal::AbstractFloat(_) => unreachable!("types are known by now"),
        })
    }

    fn zeros(&mut self, ty: Handle<naga::Type>) -> Vec<Value> {
        super::places::zeros(&mut self.e, self.layout, self.layout.inner(ty))
    }

    /// The scalars of a constant expression of the module.
    pub(super) fn global(&mut self, handle: Handle<Expression>) -> Vec<Value> {
        match &self.module.global_expressions[handle] {
            Expression::Literal(literal) => vec![self.literal(*literal)],
            Expression::Constant(constant) => self.global(self.module.constants[*constant].init),
            Expression::ZeroValue(ty) => self.zeros(*ty),
            Expression::Compose { components, .. } => {
                components.iter().flat_map(|&component| self.global(component)).collect()
            }
            Expression::Splat { size, value } => {
                let value = self.global(*value);
                value.repeat(*size as usize)
            }
            other => unreachable!("the constant evaluator leaves no {other:?}"),
        }
    }

    /// The length of an array at the end of a buffer.
    pub(super) fn run_time_length(&mut self, location: Location, stride: u32) -> RunTime {
        let global = location.global.expect("only a buffer has such an array");
        let key = (global, location.offset, stride);
        if let Some(&known) = self.lengths.get(&key) {
            return known;
        }
        let bytes = self.buffer_bytes[&global];
        let length = self.e.at_entry(|e| {
            let room = e.with(Binary::Sub, bytes, location.offset.into());
            let length = e.with(Binary::DivU, room, stride.into());
            RunTime { length, last: e.with(Binary::Sub, length, 1) }
        });
        self.lengths.insert(key, length);
        length
    }

    /// A built-in input of the entry point.
    pub(super) fn built_in(&mut self, built_in: naga::BuiltIn, size: [u32; 3]) -> Option<Vec<Value>> {
        use naga::BuiltIn as B;
        let threads = size.iter().product::<u32>();
        let row = |first: Special| (0..3).map(move |axis| Special::ALL[first as usize + axis]);
        Some(match built_in {
            B::LocalInvocationId => {
                row(Special::ThreadIdX).zip(size).map(|(special, size)| self.id(special, size)).collect()
            }
            B::WorkGroupId => {
                row(Special::WorkgroupIdX).map(|special| self.e.special(special, None)).collect()
            }
            B::NumWorkGroups => {
                row(Special::GridSizeX).map(|special| self.e.special(special, None)).collect()
            }
            B::WorkGroupSize => size.map(|size| self.e.i32(size)).to_vec(),
            B::GlobalInvocationId => row(Special::ThreadIdX)
                .zip(row(Special::WorkgroupIdX))
                .zip(size)
                .map(|((thread, group), size)| {
                    let (thread, group) = (self.id(thread, size), self.e.special(group, None));
                    self.e.at_entry(|e| {
                        let first = e.with(Binary::Mul, group, size.into());
                        e.binary(Binary::Add, first, thread)
                    })
                })
                .collect(),
            B::LocalInvocationIndex => {
                let [x, y, z] = [Special::ThreadIdX, Special::ThreadIdY, Special::ThreadIdZ];
                let [x, y, z] =
                    [(x, size[0]), (y, size[1]), (z, size[2])].map(|(id, size)| self.id(id, size));
                let index = self.e.at_entry(|e| {
                    let planes = e.with(Binary::Mul, z, size[1].into());
                    let rows = e.binary(Binary::Add, planes, y);
                    let rows = e.with(Binary::Mul, rows, size[0].into());
                    e.binary(Binary::Add, rows, x)
                });
                vec![index]
            }
            B::NumSubgroups => vec![self.e.special(Special::NumWaves, Some(threads))],
            B::SubgroupId => vec![self.e.special(Special::WaveId, Some(threads - 1))],
            B::SubgroupSize => vec![self.e.special(Special::WaveWidth, Some(64))],
            B::SubgroupInvocationId => vec![self.e.special(Special::LaneId, Some(63))],
            _ => return None,
        })
    }

    /// The number of a thread along an axis with so many threads.
    fn id(&mut self, special: Special, size: u32) -> Value {
        if size == 1 {
            return self.e.i32(0);
        }
        self.e.special(special, Some(size - 1))
    }
}

/// Most components of a value that are chosen among by selections.
const MOST_CHOSEN: u32 = 8;

/// What users call an expression that is not taken.
fn name(expression: &Expression) -> &'static str {
    match expression {
        Expression::ImageSample { .. } | Expression::ImageLoad { .. } | Expression::ImageQuery { .. } => {
            "a texture"
        }
        Expression::Derivative { .. } => "a derivative: it belongs to the fragment stage",
        Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
            "cooperative matrices"
        }
        Expression::RayQueryVertexPositions { .. }
        | Expression::RayQueryProceedResult
        | Expression::RayQueryGetIntersection { .. } => "ray queries",
        _ => "this expression",
    }
}
