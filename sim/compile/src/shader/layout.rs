//! Types of a shader: how many scalars a value of them has, and where these lie in memory.

use crate::ir::Type;
use naga::proc::{Alignment, IndexableLength, Layouter};
use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, TypeInner, VectorSize};

/// The types of a module.
pub(super) struct Layout<'a> {
    pub(super) module: &'a Module,
    layouter: Layouter,
}

/// A scalar of a composite type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    /// Bytes from the beginning.
    pub(super) offset: u32,
    pub(super) scalar: Scalar,
    /// It and the next one are halves of an aligned word.
    pub(super) begins_word: bool,
}

/// A component of a composite type.
pub(super) struct Component {
    pub(super) ty: TypeInner,
    /// Bytes from the beginning to the component of number 0, and from one to the next.
    pub(super) bytes: u32,
    /// As `bytes`, counted in scalars.
    pub(super) scalars: usize,
}

impl<'a> Layout<'a> {
    /// Lays out the types of a module that is valid.
    pub(super) fn new(module: &'a Module) -> Layout<'a> {
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).expect("the validator has laid them out");
        Layout { module, layouter }
    }

    pub(super) fn inner(&self, ty: Handle<naga::Type>) -> &'a TypeInner {
        &self.module.types[ty].inner
    }

    /// Bytes and alignment of a type.
    pub(super) fn size_of(&self, ty: Handle<naga::Type>) -> (u32, u32) {
        let layout = self.layouter[ty];
        (layout.size, layout.alignment * 1)
    }

    /// Number of scalars of a value.
    pub(super) fn count(&self, ty: &TypeInner) -> usize {
        match ty {
            TypeInner::Vector { size, .. } => *size as usize,
            TypeInner::Matrix { columns, rows, .. } => *columns as usize * *rows as usize,
            TypeInner::Array { base, size, .. } => {
                self.count(self.inner(*base)) * self.array_length(*size).unwrap_or(0) as usize
            }
            TypeInner::Struct { members, .. } => {
                members.iter().map(|member| self.count(self.inner(member.ty))).sum()
            }
            _ => 1,
        }
    }

    /// The scalars of a value in order, with their places in memory.
    pub(super) fn leaves(&self, ty: &TypeInner) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.add_leaves(ty, 0, &mut leaves);
        leaves
    }

    fn add_leaves(&self, ty: &TypeInner, at: u32, leaves: &mut Vec<Leaf>) {
        match ty {
            &TypeInner::Scalar(scalar) | &TypeInner::Atomic(scalar) => {
                leaves.push(Leaf { offset: at, scalar, begins_word: false });
            }
            &TypeInner::Vector { size, scalar } => {
                for number in 0..size as u32 {
                    let pairs = scalar.width == 2 && number % 2 == 0 && number + 1 < size as u32;
                    let offset = at + number * u32::from(scalar.width);
                    leaves.push(Leaf { offset, scalar, begins_word: pairs });
                }
            }
            TypeInner::Struct { members, .. } => {
                for member in members {
                    self.add_leaves(self.inner(member.ty), at + member.offset, leaves);
                }
            }
            _ => {
                let (length, component) = (self.length(ty).unwrap_or(0), self.component(ty, 0));
                for number in 0..length {
                    self.add_leaves(&component.ty, at + number * component.bytes, leaves);
                }
            }
        }
    }

    /// Number of components of a type that is indexed; `None` for an array whose binding says it.
    pub(super) fn length(&self, ty: &TypeInner) -> Option<u32> {
        match ty {
            TypeInner::Vector { size, .. } => Some(*size as u32),
            TypeInner::Matrix { columns, .. } => Some(*columns as u32),
            TypeInner::Array { size, .. } => self.array_length(*size),
            TypeInner::Struct { members, .. } => Some(members.len() as u32),
            _ => Some(0),
        }
    }

    /// Elements of an array, but for one whose length the buffer says.
    fn array_length(&self, size: ArraySize) -> Option<u32> {
        match size.resolve(self.module.to_ctx()) {
            Ok(IndexableLength::Known(length)) => Some(length),
            _ => None,
        }
    }

    /// A component of a composite type. All those of an array, a vector or a matrix are alike, and `number` only counts
    /// for structures, where the distances are those from the beginning.
    pub(super) fn component(&self, ty: &TypeInner, number: u32) -> Component {
        match ty {
            &TypeInner::Vector { scalar, .. } => {
                Component { ty: TypeInner::Scalar(scalar), bytes: scalar.width.into(), scalars: 1 }
            }
            &TypeInner::Matrix { rows, scalar, .. } => Component {
                ty: TypeInner::Vector { size: rows, scalar },
                bytes: column_bytes(rows, scalar),
                scalars: rows as usize,
            },
            &TypeInner::Array { base, stride, .. } => {
                let ty = self.inner(base).clone();
                Component { scalars: self.count(&ty), ty, bytes: stride }
            }
            TypeInner::Struct { members, .. } => {
                let before = members[..number as usize].iter();
                let member = &members[number as usize];
                Component {
                    scalars: before.map(|member| self.count(self.inner(member.ty))).sum(),
                    ty: self.inner(member.ty).clone(),
                    bytes: member.offset,
                }
            }
            other => unreachable!("{other:?} has no components"),
        }
    }

    /// Types of the scalars of a value.
    pub(super) fn types(&self, ty: &TypeInner) -> Vec<Type> {
        self.leaves(ty).iter().map(|leaf| scalar_type(leaf.scalar)).collect()
    }
}

/// Bytes from one column of a matrix to the next.
fn column_bytes(rows: VectorSize, scalar: Scalar) -> u32 {
    Alignment::from(rows) * u32::from(scalar.width)
}

/// The type in which a scalar is computed. Numbers of 16 bits are in the low halves of words: those with a sign extended
/// with it, the others with zeros.
pub(super) fn scalar_type(scalar: Scalar) -> Type {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Type::Bool,
        (ScalarKind::Float, 8) => Type::F64,
        (ScalarKind::Float, 4) => Type::F32,
        (_, 8) => Type::I64,
        _ => Type::I32,
    }
}
