//! What a kernel imports from the module `wave`: the one list from which the decoder, the header for C and the
//! documentation are made.

use super::{Error, Fault};
use crate::ir::{Binary, Order, Signature, Type, Unary, Wave};
use std::sync::LazyLock;
use wave_isa::table::AtomicOp;
use wave_isa::{Scope, Special};

/// What an imported function does, in a few operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reads a special register.
    Special(Special),
    /// Waits for all threads of the workgroup.
    Barrier,
    /// Orders accesses.
    Fence(Order, Scope),
    /// Loads from local memory: type, bytes, signed.
    LocalLoad(Type, u32, bool),
    /// Stores to local memory: type, bytes.
    LocalStore(Type, u32),
    /// An atomic on local memory.
    LocalAtomic(AtomicOp),
    /// An atomic on device memory.
    Atomic(AtomicOp, Scope),
    /// An operation on all lanes of the wave.
    Wave(Wave),
    /// An operation on one value.
    Unary(Unary),
    /// An operation on two values.
    Binary(Binary),
    /// `a * b + c`, rounded once.
    Fma(Type),
}

/// A function of the module `wave`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intrinsic {
    /// Its name.
    pub name: String,
    /// Names and types of its parameters.
    pub parameters: Vec<(&'static str, Type)>,
    /// Type of its result.
    pub result: Option<Type>,
    /// What it does.
    pub action: Action,
    /// What it does, in words: a sentence without a full stop.
    pub meaning: String,
}

/// All of them, in the order of the documentation.
pub fn intrinsics() -> &'static [Intrinsic] {
    static ALL: LazyLock<Vec<Intrinsic>> = LazyLock::new(list);
    &ALL
}

/// Special registers and their names here.
const SPECIALS: &[(&str, Special)] = &[
    ("thread_id_x", Special::ThreadIdX),
    ("thread_id_y", Special::ThreadIdY),
    ("thread_id_z", Special::ThreadIdZ),
    ("workgroup_id_x", Special::WorkgroupIdX),
    ("workgroup_id_y", Special::WorkgroupIdY),
    ("workgroup_id_z", Special::WorkgroupIdZ),
    ("workgroup_size_x", Special::WorkgroupSizeX),
    ("workgroup_size_y", Special::WorkgroupSizeY),
    ("workgroup_size_z", Special::WorkgroupSizeZ),
    ("grid_size_x", Special::GridSizeX),
    ("grid_size_y", Special::GridSizeY),
    ("grid_size_z", Special::GridSizeZ),
    ("lane_id", Special::LaneId),
    ("wave_id", Special::WaveId),
    ("wave_width", Special::WaveWidth),
    ("num_waves", Special::NumWaves),
];

/// What an atomic does, its name here and its meaning.
const ATOMICS: &[(&str, AtomicOp, &str)] = &[
    ("add", AtomicOp::Add, "adds"),
    ("sub", AtomicOp::Sub, "subtracts"),
    ("min", AtomicOp::Min, "takes the unsigned minimum"),
    ("max", AtomicOp::Max, "takes the unsigned maximum"),
    ("and", AtomicOp::And, "takes the bitwise and"),
    ("or", AtomicOp::Or, "takes the bitwise or"),
    ("xor", AtomicOp::Xor, "takes the bitwise exclusive or"),
    ("exchange", AtomicOp::Exchange, "exchanges"),
    ("cas", AtomicOp::Cas, "replaces if it is `expected`"),
];

/// Functions of one `f32`, with what they give.
const FLOATS: &[(&str, Unary, &str)] = &[
    ("sin", Unary::FSin, "sine of an angle in radians"),
    ("cos", Unary::FCos, "cosine of an angle in radians"),
    ("exp2", Unary::FExp2, "2 to this power"),
    ("log2", Unary::FLog2, "logarithm to base 2"),
    ("rsqrt", Unary::FRsqrt, "reciprocal square root"),
    ("rcp", Unary::FRcp, "reciprocal"),
];

/// Functions of two values of one type that are an instruction each.
const PAIRS: &[(&str, Type, Binary, &str)] = &[
    ("fmin", Type::F32, Binary::FMinNumber, "the smaller of two numbers; of a number and a NaN, the number"),
    ("fmax", Type::F32, Binary::FMaxNumber, "the larger of two numbers; of a number and a NaN, the number"),
    ("imin", Type::I32, Binary::MinS, "the smaller of two signed integers"),
    ("imax", Type::I32, Binary::MaxS, "the larger of two signed integers"),
    ("umin", Type::I32, Binary::MinU, "the smaller of two unsigned integers"),
    ("umax", Type::I32, Binary::MaxU, "the larger of two unsigned integers"),
    ("umul_high", Type::I32, Binary::MulHigh, "the high half of the product of two unsigned integers"),
];

/// Loads and stores: suffix, type, bytes, signed.
const WIDTHS: &[(&str, Type, u32, bool)] = &[
    ("i32", Type::I32, 4, false),
    ("i64", Type::I64, 8, false),
    ("f32", Type::F32, 4, false),
    ("f64", Type::F64, 8, false),
    ("i8", Type::I32, 1, true),
    ("u8", Type::I32, 1, false),
    ("i16", Type::I32, 2, true),
    ("u16", Type::I32, 2, false),
];

fn list() -> Vec<Intrinsic> {
    let mut all = Vec::new();
    let mut add = |name: String, parameters: &[(&'static str, Type)], result, action, meaning: String| {
        all.push(Intrinsic { name, parameters: parameters.to_vec(), result, action, meaning });
    };
    const I32: Type = Type::I32;
    const ADDRESS: (&str, Type) = ("address", I32);
    for &(name, special) in SPECIALS {
        add(name.to_owned(), &[], Some(I32), Action::Special(special), special.meaning().to_owned());
    }
    let meaning = "waits for all threads of the workgroup".to_owned();
    add("barrier".to_owned(), &[], None, Action::Barrier, meaning);
    for &order in Order::ALL {
        for &scope in Scope::ALL {
            let name = format!("fence_{}_{}", order.name(), scope.name());
            let meaning = format!("orders accesses ({}) for the {}", order.name(), scope.name());
            add(name, &[], None, Action::Fence(order, scope), meaning);
        }
    }
    for &(suffix, ty, bytes, signed) in WIDTHS {
        let meaning = format!("loads {bytes} bytes from local memory");
        let action = Action::LocalLoad(ty, bytes, signed);
        add(format!("local_load_{suffix}"), &[ADDRESS], Some(ty), action, meaning);
    }
    for &(suffix, ty, bytes, _) in WIDTHS.iter().filter(|(suffix, ..)| !suffix.starts_with('u')) {
        let meaning = format!("stores {bytes} bytes to local memory");
        let action = Action::LocalStore(ty, bytes);
        add(format!("local_store_{suffix}"), &[ADDRESS, ("value", ty)], None, action, meaning);
    }
    for &(name, op, meaning) in ATOMICS {
        let parameters: &[_] = match op {
            AtomicOp::Cas => &[ADDRESS, ("expected", I32), ("value", I32)],
            _ => &[ADDRESS, ("value", I32)],
        };
        let text = format!("{meaning} at once in local memory; gives the old value");
        add(format!("local_atomic_{name}"), parameters, Some(I32), Action::LocalAtomic(op), text);
        for &scope in Scope::ALL {
            let text = format!("{meaning} at once for the {}; gives the old value", scope.name());
            let name = format!("atomic_{name}_{}", scope.name());
            add(name, parameters, Some(I32), Action::Atomic(op, scope), text);
        }
    }
    for &wave in Wave::ALL {
        let (parameters, meaning): (&[_], _) = match wave {
            Wave::Shuffle => (&[("value", I32), ("lane", I32)], "the value in a lane"),
            Wave::ShuffleUp => (&[("value", I32), ("lanes", I32)], "the value so many lanes below"),
            Wave::ShuffleDown => (&[("value", I32), ("lanes", I32)], "the value so many lanes above"),
            Wave::ShuffleXor => {
                (&[("value", I32), ("bits", I32)], "the value in the lane whose number differs in these bits")
            }
            Wave::Broadcast => {
                (&[("value", I32), ("lane", I32)], "the value in the lane that the lowest lane names")
            }
            Wave::Ballot => (&[("condition", I32)], "bit i is 1 if the condition of lane i is not 0"),
            Wave::Any => (&[("condition", I32)], "1 if a condition is not 0"),
            Wave::All => (&[("condition", I32)], "1 if no condition is 0"),
            Wave::PrefixSum => (&[("value", I32)], "sum over the lanes below"),
            Wave::ReduceAdd => (&[("value", I32)], "sum"),
            Wave::ReduceMin => (&[("value", I32)], "unsigned minimum"),
            Wave::ReduceMax => (&[("value", I32)], "unsigned maximum"),
            Wave::ReduceAnd => (&[("value", I32)], "bitwise and"),
            Wave::ReduceOr => (&[("value", I32)], "bitwise or"),
            Wave::ReduceXor => (&[("value", I32)], "bitwise exclusive or"),
        };
        let result = if wave == Wave::Ballot { Type::I64 } else { I32 };
        add(wave.name().to_owned(), parameters, Some(result), Action::Wave(wave), meaning.to_owned());
    }
    for &(name, unary, meaning) in FLOATS {
        let action = Action::Unary(unary);
        add(name.to_owned(), &[("x", Type::F32)], Some(Type::F32), action, meaning.to_owned());
    }
    for &(name, ty, binary, meaning) in PAIRS {
        let action = Action::Binary(binary);
        add(name.to_owned(), &[("a", ty), ("b", ty)], Some(ty), action, meaning.to_owned());
    }
    for (name, ty) in [("fma", Type::F32), ("fma_f64", Type::F64)] {
        let meaning = "a * b + c, rounded once".to_owned();
        add(name.to_owned(), &[("a", ty), ("b", ty), ("c", ty)], Some(ty), Action::Fma(ty), meaning);
    }
    all
}

/// The function that a module imports under this name, with this signature.
///
/// # Errors
/// There is none, or its signature is another one.
pub(crate) fn import(name: &str, has: &Signature) -> Result<&'static Intrinsic, Error> {
    let all = intrinsics();
    let Some(intrinsic) = all.iter().find(|intrinsic| intrinsic.name == name) else {
        let message = format!("there is no function `wave.{name}` (unknown import)");
        let names = all.iter().map(|intrinsic| intrinsic.name.as_str());
        let near = wave_isa::suggest::did_you_mean(name, names.clone());
        let hint = near.unwrap_or_else(|| format!("there is: {}", names.collect::<Vec<_>>().join(", ")));
        return Err(Error::new(Fault::Unlinkable, message).hint(hint));
    };
    let wanted = Signature {
        parameters: intrinsic.parameters.iter().map(|&(_, ty)| ty).collect(),
        results: intrinsic.result.into_iter().collect(),
    };
    if *has != wanted {
        let message = format!("`wave.{name}` is imported as {}, but it is {}", text(has), text(&wanted));
        return Err(Error::new(Fault::Unlinkable, message));
    }
    Ok(intrinsic)
}

/// A signature for messages.
pub(super) fn text(signature: &Signature) -> String {
    let names = |types: &[Type]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
    format!("({}) -> ({})", names(&signature.parameters), names(&signature.results))
}

impl Action {
    /// True if it accesses local memory.
    pub(crate) const fn is_local(self) -> bool {
        matches!(self, Action::LocalLoad(..) | Action::LocalStore(..) | Action::LocalAtomic(_))
    }
}
