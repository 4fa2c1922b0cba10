//! The instructions that are taken: name, modifiers, types, operands, and what each is translated by.

/// Which operation an instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Abs,
    ActiveMask,
    Add,
    AddCarry,
    And,
    AsyncCopy,
    Atomic,
    Barrier,
    BarrierReduction,
    BitFieldExtract,
    BitFieldInsert,
    BitFind,
    BitMask,
    Branch,
    BranchTable,
    Call,
    ComplementOfTruth,
    Convert,
    ConvertAddress,
    CopySign,
    Cosine,
    CountLeadingZeros,
    CountOnes,
    DivideOrRemainder,
    DotProduct,
    Exit,
    Exp2,
    Fence,
    Fma,
    FragmentProduct,
    IsSpace,
    LaneMatch,
    Load,
    LoadFragment,
    LoadMatrix,
    Log2,
    Lookup3,
    MatrixProduct,
    MaxMin,
    Move,
    MoveMatrix,
    Multiply,
    MultiplyAdd,
    Negate,
    Not,
    Nothing,
    Or,
    Permute,
    Reciprocal,
    ReciprocalRoot,
    Reduction,
    Return,
    Reverse,
    Root,
    Select,
    SelectBySign,
    Set,
    SetPredicate,
    ShiftLeft,
    ShiftRight,
    ShiftTwo,
    Shuffle,
    SignExtend,
    Sine,
    Store,
    StoreFragment,
    StoreMatrix,
    Subtract,
    SumOfDifferences,
    Tanh,
    TestProperty,
    Trap,
    Vote,
    WarpBarrier,
    Xor,
}

/// How often types are written in the name of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// Not at all.
    Never,
    /// Once.
    Once,
    /// Twice: of the result, of the source.
    Twice,
    /// Four times: of the matrices D, A, B and C.
    FourTimes,
    /// Twice or four times: of D and C, or of D, A, B and C.
    TwiceOrFourTimes,
}

/// A row of the table. Instructions of one name may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// The name, up to the first modifier.
    pub(super) name: &'static str,
    pub(super) meaning: Meaning,
    /// Modifiers that it may have, without dots.
    pub(super) modifiers: &'static str,
    /// Types that it may have.
    pub(super) types: &'static str,
    pub(super) typed: Typed,
    /// Its operands: `d` a result, `p` a result with a second one behind `|`, `s` a source, `v` a source or a vector of
    /// them, `a` an address, `l` a label, `t` a table of labels, `n` a name or a list. Those behind `?` may be left out.
    pub(super) operands: &'static str,
}

const ROUNDINGS: &str = "rn rz rm rp ftz sat";
const INTEGERS: &str = "u16 u32 u64 s16 s32 s64";
const BITS: &str = "b16 b32 b64 pred";
const ACCESS: &str = "global const shared shared::cta local param param::entry param::func weak volatile relaxed acquire release \
    mmio cta cluster gpu sys ca cg cs lu cv wb wt nc v2 v4 v8 unified L1::evict_normal L1::evict_unchanged L1::evict_first \
    L1::evict_last L1::no_allocate L2::cache_hint L2::64B L2::128B L2::256B L2::evict_last L2::evict_normal L2::evict_first";
const ACCESSED: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 f16 bf16 f16x2 bf16x2";
const ATOMIC: &str = "global shared shared::cta relaxed acquire release acq_rel cta cluster gpu sys noftz L2::cache_hint \
    add sub min max inc dec and or xor exch cas";
const ATOMIC_TYPES: &str = "b16 b32 b64 u32 u64 s32 s64 f32 f64";
const COMPARISONS: &str = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
const MATRICES: &str = "sync aligned m8n8 x1 x2 x4 trans shared shared::cta";
const PRODUCTS: &str =
    "sync aligned m8n8k4 m8n8k16 m8n8k32 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 row col satfinite";
const COMPARED: &str = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64";

macro_rules! rows {
    ($($name:literal $meaning:ident [$modifiers:expr] [$types:expr] $typed:ident $operands:literal;)*) => {
        &[$(Row {
            name: $name,
            meaning: Meaning::$meaning,
            modifiers: $modifiers,
            types: $types,
            typed: Typed::$typed,
            operands: $operands,
        },)*]
    };
}

/// Every row.
pub(super) static ROWS: &[Row] = rows! {
    // Integers and floating point.
    "add" Add [ROUNDINGS] ["u16 u32 u64 s16 s32 s64 f16 f16x2 f32 f64"] Once "d s s";
    "sub" Subtract [ROUNDINGS] ["u16 u32 u64 s16 s32 s64 f16 f16x2 f32 f64"] Once "d s s";
    "mul" Multiply ["rn rz rm rp ftz sat lo hi wide"] ["u16 u32 u64 s16 s32 s64 f16 f16x2 f32 f64"] Once "d s s";
    "mad" MultiplyAdd ["rn rz rm rp ftz sat lo hi wide"] ["u16 u32 u64 s16 s32 s64 f32 f64"] Once "d s s s";
    "mul24" Multiply ["lo hi"] ["u32 s32"] Once "d s s";
    "mad24" MultiplyAdd ["lo hi sat"] ["u32 s32"] Once "d s s s";
    "fma" Fma [ROUNDINGS] ["f16 f16x2 f32 f64"] Once "d s s s";
    "div" DivideOrRemainder ["rn rz rm rp ftz full approx"] ["u16 u32 u64 s16 s32 s64 f32 f64"] Once "d s s";
    "rem" DivideOrRemainder [""] [INTEGERS] Once "d s s";
    "abs" Abs ["ftz"] ["s16 s32 s64 f16 f32 f64"] Once "d s";
    "neg" Negate ["ftz"] ["s16 s32 s64 f16 f32 f64"] Once "d s";
    "min" MaxMin ["ftz NaN"] ["u16 u32 u64 s16 s32 s64 f32 f64"] Once "d s s ?s";
    "max" MaxMin ["ftz NaN"] ["u16 u32 u64 s16 s32 s64 f32 f64"] Once "d s s ?s";
    "sad" SumOfDifferences [""] [INTEGERS] Once "d s s s";
    "dp4a" DotProduct [""] ["u32 s32"] Twice "d s s s";
    "dp2a" DotProduct ["lo hi"] ["u32 s32"] Twice "d s s s";
    "addc" AddCarry ["cc"] ["u32 s32 u64 s64"] Once "d s s";
    "subc" AddCarry ["cc"] ["u32 s32 u64 s64"] Once "d s s";
    "madc" AddCarry ["lo hi cc"] ["u32 s32 u64 s64"] Once "d s s s";
    "rcp" Reciprocal ["rn rz rm rp approx ftz"] ["f32 f64"] Once "d s";
    "sqrt" Root ["rn rz rm rp approx ftz"] ["f32 f64"] Once "d s";
    "rsqrt" ReciprocalRoot ["approx ftz"] ["f32 f64"] Once "d s";
    "sin" Sine ["approx ftz"] ["f32"] Once "d s";
    "cos" Cosine ["approx ftz"] ["f32"] Once "d s";
    "ex2" Exp2 ["approx ftz"] ["f32"] Once "d s";
    "lg2" Log2 ["approx ftz"] ["f32"] Once "d s";
    "tanh" Tanh ["approx"] ["f32"] Once "d s";
    "copysign" CopySign [""] ["f32 f64"] Once "d s s";
    "testp" TestProperty ["finite infinite number notanumber normal subnormal"] ["f32 f64"] Once "d s";

    // Bits.
    "and" And [""] [BITS] Once "d s s";
    "or" Or [""] [BITS] Once "d s s";
    "xor" Xor [""] [BITS] Once "d s s";
    "not" Not [""] [BITS] Once "d s";
    "cnot" ComplementOfTruth [""] ["b16 b32 b64"] Once "d s";
    "shl" ShiftLeft [""] ["b16 b32 b64"] Once "d s s";
    "shr" ShiftRight [""] ["b16 b32 b64 u16 u32 u64 s16 s32 s64"] Once "d s s";
    "shf" ShiftTwo ["l r clamp wrap"] ["b32"] Once "d s s s";
    "lop3" Lookup3 [""] ["b32"] Once "d s s s s";
    "prmt" Permute ["f4e b4e rc8 ecl ecr rc16"] ["b32"] Once "d s s s";
    "bfe" BitFieldExtract [""] ["u32 u64 s32 s64"] Once "d s s s";
    "bfi" BitFieldInsert [""] ["b32 b64"] Once "d s s s s";
    "bfind" BitFind ["shiftamt"] ["u32 u64 s32 s64"] Once "d s";
    "bmsk" BitMask ["clamp wrap"] ["b32"] Once "d s s";
    "szext" SignExtend ["clamp wrap"] ["u32 s32"] Once "d s s";
    "brev" Reverse [""] ["b32 b64"] Once "d s";
    "clz" CountLeadingZeros [""] ["b32 b64"] Once "d s";
    "popc" CountOnes [""] ["b32 b64"] Once "d s";

    // Comparisons and choices.
    "setp" SetPredicate [COMPARISONS] [COMPARED] Once "p s s ?s";
    "set" Set [COMPARISONS] ["b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"] Twice "d s s ?s";
    "selp" Select [""] ["b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64"] Once "d s s s";
    "slct" SelectBySign ["ftz"] ["b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"] Twice "d s s s";

    // Moves and conversions.
    "mov" Move [""] ["b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64 pred f16x2 bf16 bf16x2"] Once "v v";
    "cvt" Convert ["rn rz rm rp rni rzi rmi rpi rna ftz sat relu satfinite"]
        ["u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64 bf16 f16x2 bf16x2 tf32"] Twice "d s ?s";
    "cvta" ConvertAddress ["to global const shared shared::cta local param param::entry"] ["u32 u64"] Once "d s";
    "isspacep" IsSpace ["global const shared shared::cta local param param::entry"] [""] Never "d s";

    // Memory.
    "ld" Load [ACCESS] [ACCESSED] Once "v a";
    "ldu" Load [ACCESS] [ACCESSED] Once "v a";
    "st" Store [ACCESS] [ACCESSED] Once "a v";
    "atom" Atomic [ATOMIC] [ATOMIC_TYPES] Once "d a s ?s";
    "red" Atomic [ATOMIC] [ATOMIC_TYPES] Once "a s";
    "cp" AsyncCopy ["async ca cg shared shared::cta global L2::64B L2::128B L2::256B"] [""] Never "a a s ?s";
    "prefetch" Nothing ["global local L1 L2 L2::evict_last L2::evict_normal"] [""] Never "a";
    "prefetchu" Nothing ["L1"] [""] Never "a";

    // Control flow.
    "bra" Branch ["uni"] [""] Never "l";
    "brx" BranchTable ["idx uni"] [""] Never "s t";
    "call" Call ["uni"] [""] Never "n ?n n n";
    "ret" Return ["uni"] [""] Never "";
    "exit" Exit [""] [""] Never "";
    "trap" Trap [""] [""] Never "";

    // Synchronisation.
    "bar" Barrier ["sync cta aligned"] [""] Never "s ?s";
    "barrier" Barrier ["sync cta aligned"] [""] Never "s ?s";
    "membar" Fence ["cta gl sys"] [""] Never "";
    "fence" Fence ["sc acq_rel acquire release cta cluster gpu sys"] [""] Never "";
    "nanosleep" Nothing [""] ["u32"] Once "s";

    // Operations of a warp.
    "shfl" Shuffle ["sync up down bfly idx"] ["b32"] Once "p s s s ?s";
    "vote" Vote ["sync all any uni ballot"] ["pred b32"] Once "d s ?s";
    "match" LaneMatch ["sync any all"] ["b32 b64"] Once "p s s";
    "activemask" ActiveMask [""] ["b32"] Once "d";
    "redux" Reduction ["sync add min max and or xor"] ["b32 u32 s32"] Once "d s s";

    // Matrices in the registers of a warp.
    "ldmatrix" LoadMatrix [MATRICES] ["b16"] Once "v a";
    "stmatrix" StoreMatrix [MATRICES] ["b16"] Once "a v";
    "movmatrix" MoveMatrix ["sync aligned m8n8 trans"] ["b16"] Once "d s";
    "mma" MatrixProduct [PRODUCTS] ["f16 bf16 tf32 f32 f64 s8 u8 s32"] FourTimes "v v v v";
};

/// Rows of instructions whose names have a further word in them that changes their operands.
pub(super) static SPECIAL_ROWS: &[(&str, &str, Row)] = &[
    (
        "bar",
        "red",
        Row {
            name: "bar",
            meaning: Meaning::BarrierReduction,
            modifiers: "red popc and or cta aligned",
            types: "u32 pred",
            typed: Typed::Once,
            operands: "d s s ?s",
        },
    ),
    (
        "barrier",
        "red",
        Row {
            name: "barrier",
            meaning: Meaning::BarrierReduction,
            modifiers: "red popc and or cta aligned",
            types: "u32 pred",
            typed: Typed::Once,
            operands: "d s s ?s",
        },
    ),
    (
        "bar",
        "warp",
        Row {
            name: "bar",
            meaning: Meaning::WarpBarrier,
            modifiers: "warp sync",
            types: "",
            typed: Typed::Never,
            operands: "s",
        },
    ),
    (
        "cp",
        "commit_group",
        Row {
            name: "cp",
            meaning: Meaning::Nothing,
            modifiers: "async commit_group",
            types: "",
            typed: Typed::Never,
            operands: "",
        },
    ),
    (
        "cp",
        "wait_group",
        Row {
            name: "cp",
            meaning: Meaning::Nothing,
            modifiers: "async wait_group",
            types: "",
            typed: Typed::Never,
            operands: "s",
        },
    ),
    (
        "cp",
        "wait_all",
        Row {
            name: "cp",
            meaning: Meaning::Nothing,
            modifiers: "async wait_all",
            types: "",
            typed: Typed::Never,
            operands: "",
        },
    ),
    (
        "add",
        "cc",
        Row {
            name: "add",
            meaning: Meaning::AddCarry,
            modifiers: "cc",
            types: "u32 s32 u64 s64",
            typed: Typed::Once,
            operands: "d s s",
        },
    ),
    (
        "sub",
        "cc",
        Row {
            name: "sub",
            meaning: Meaning::AddCarry,
            modifiers: "cc",
            types: "u32 s32 u64 s64",
            typed: Typed::Once,
            operands: "d s s",
        },
    ),
    (
        "mad",
        "cc",
        Row {
            name: "mad",
            meaning: Meaning::AddCarry,
            modifiers: "lo hi cc",
            types: "u32 s32 u64 s64",
            typed: Typed::Once,
            operands: "d s s s",
        },
    ),
    (
        "wmma",
        "load",
        Row {
            name: "wmma",
            meaning: Meaning::LoadFragment,
            modifiers: "load a b c sync aligned row col m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 global shared shared::cta",
            types: "f16 bf16 tf32 f32 f64 s8 u8 s32",
            typed: Typed::Once,
            operands: "v a ?s",
        },
    ),
    (
        "wmma",
        "store",
        Row {
            name: "wmma",
            meaning: Meaning::StoreFragment,
            modifiers: "store d sync aligned row col m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 global shared shared::cta",
            types: "f16 f32 f64 s32",
            typed: Typed::Once,
            operands: "a v ?s",
        },
    ),
    (
        "wmma",
        "mma",
        Row {
            name: "wmma",
            meaning: Meaning::FragmentProduct,
            modifiers: "mma sync aligned row col m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 satfinite",
            types: "f16 bf16 tf32 f32 f64 s8 u8 s32",
            typed: Typed::TwiceOrFourTimes,
            operands: "v v v v",
        },
    ),
];

/// An instruction that exists and is not taken.
pub(super) struct Refused {
    /// Its name and its first modifiers, as far as they tell it from others.
    pub(super) name: &'static str,
    /// What it does.
    pub(super) what: &'static str,
    /// What a user can do instead.
    pub(super) hint: &'static str,
}

const TEXTURE: &str = "read the data from global memory: the simulator has no texture units";
pub(super) const TENSOR: &str =
    "compile for sm_80, whose `mma.sync` on f16, bf16, tf32, f64, s8 and u8 is taken, or compute with fma";
const BULK: &str = "copy with ld and st: compile for sm_80 or older, whose code has no copy engine";
const CLUSTER: &str = "the simulator has no clusters of workgroups: compile for sm_80 or older";
const PARALLELISM: &str = "launch the kernel from the host: a launch file may have several steps";

/// Instructions that are refused by name.
pub(super) static REFUSED: &[Refused] = &[
    Refused { name: "tex", what: "a texture access", hint: TEXTURE },
    Refused { name: "tld4", what: "a texture access", hint: TEXTURE },
    Refused { name: "txq", what: "a texture query", hint: TEXTURE },
    Refused { name: "suld", what: "a surface access", hint: TEXTURE },
    Refused { name: "sust", what: "a surface access", hint: TEXTURE },
    Refused { name: "sured", what: "a surface access", hint: TEXTURE },
    Refused { name: "suq", what: "a surface query", hint: TEXTURE },
    Refused { name: "istypep", what: "a query of texture types", hint: TEXTURE },
    Refused { name: "wgmma", what: "a matrix operation of four warps", hint: TENSOR },
    Refused { name: "tcgen05", what: "a matrix operation of the fifth tensor cores", hint: TENSOR },
    Refused { name: "mma.sp", what: "a product with a sparse matrix", hint: TENSOR },
    Refused { name: "mma.sync.aligned.m8n8k128", what: "a product of matrices of bits", hint: TENSOR },
    Refused { name: "mma.sync.aligned.m16n8k128", what: "a product of matrices of bits", hint: TENSOR },
    Refused { name: "mma.sync.aligned.m16n8k256", what: "a product of matrices of bits", hint: TENSOR },
    Refused { name: "mbarrier", what: "a barrier object in memory", hint: BULK },
    Refused { name: "cp.async.bulk", what: "a bulk copy", hint: BULK },
    Refused { name: "cp.async.mbarrier", what: "a barrier object in memory", hint: BULK },
    Refused { name: "cp.reduce", what: "a bulk copy", hint: BULK },
    Refused { name: "tensormap", what: "a map of a bulk copy", hint: BULK },
    Refused { name: "barrier.cluster", what: "a barrier of a cluster", hint: CLUSTER },
    Refused { name: "mapa", what: "an address in a cluster", hint: CLUSTER },
    Refused { name: "getctarank", what: "a query of a cluster", hint: CLUSTER },
    Refused { name: "clusterlaunchcontrol", what: "a launch of a cluster", hint: CLUSTER },
    Refused { name: "multimem", what: "an access of several devices", hint: CLUSTER },
    Refused { name: "st.async", what: "a store to a cluster", hint: CLUSTER },
    Refused { name: "red.async", what: "a reduction in a cluster", hint: CLUSTER },
    Refused { name: "griddepcontrol", what: "a dependence between grids", hint: PARALLELISM },
    Refused {
        name: "bar.arrive",
        what: "a barrier that a part of the workgroup waits at",
        hint: "use `bar.sync`: a barrier is one that the whole workgroup waits at",
    },
    Refused {
        name: "barrier.arrive",
        what: "a barrier that a part of the workgroup waits at",
        hint: "use `barrier.sync`: a barrier is one that the whole workgroup waits at",
    },
    Refused {
        name: "elect",
        what: "the choice of a thread of a warp",
        hint: "choose one by %laneid and `activemask`",
    },
    Refused {
        name: "setmaxnreg",
        what: "a change of the number of registers",
        hint: "leave it out: it does not change results",
    },
    Refused {
        name: "alloca",
        what: "an array whose size is known at run time",
        hint: "give the array a fixed size",
    },
    Refused {
        name: "stacksave",
        what: "a stack whose size is known at run time",
        hint: "give arrays fixed sizes",
    },
    Refused {
        name: "stackrestore",
        what: "a stack whose size is known at run time",
        hint: "give arrays fixed sizes",
    },
    Refused {
        name: "brkpt",
        what: "a breakpoint",
        hint: "`wave-sim debug` has breakpoints of its own: leave it out",
    },
    Refused {
        name: "pmevent",
        what: "an event of the performance monitor",
        hint: "leave it out: reports have all counters",
    },
    Refused { name: "fns", what: "a search for a set bit", hint: "write it with `popc` and `bfind`" },
    Refused { name: "lg10", what: "an instruction that PTX does not have", hint: "use lg2 and a product" },
    Refused { name: "discard", what: "a hint that memory is not needed", hint: "leave it out" },
    Refused { name: "applypriority", what: "a hint for the cache", hint: "leave it out" },
    Refused { name: "createpolicy", what: "a policy of the cache", hint: "compile without cache hints" },
];

/// The rows of a name; the refusal, if it is not taken.
pub(super) fn find(name: &str, modifiers: &[&str]) -> Result<&'static Row, Option<&'static Refused>> {
    let whole = modifiers.iter().fold(name.to_owned(), |all, modifier| format!("{all}.{modifier}"));
    let is_prefix = |refused: &&Refused| {
        whole.strip_prefix(refused.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(refused) = REFUSED.iter().find(is_prefix) {
        return Err(Some(refused));
    }
    let special = SPECIAL_ROWS
        .iter()
        .find(|(of, word, _)| *of == name && modifiers.iter().any(|modifier| modifier == word));
    match special {
        Some((_, _, row)) => Ok(row),
        None => ROWS.iter().find(|row| row.name == name).ok_or(None),
    }
}

/// Names of all instructions that are taken, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::types::PtxType;

    #[test]
    fn every_row_has_types_that_exist_and_operands_that_are_known() {
        let all = ROWS.iter().chain(SPECIAL_ROWS.iter().map(|(_, _, row)| row));
        for row in all {
            assert!(row.types.split_whitespace().all(|ty| PtxType::from_name(ty).is_some()), "{}", row.name);
            assert_eq!(row.types.is_empty(), row.typed == Typed::Never, "{}", row.name);
            assert!(row.operands.chars().all(|letter| "dpsvaltn? ".contains(letter)), "{}", row.name);
            let clash =
                row.modifiers.split_whitespace().find(|modifier| PtxType::from_name(modifier).is_some());
            assert_eq!(clash, None, "{}", row.name);
        }
    }

    #[test]
    fn names_are_unique_and_none_is_refused_too() {
        for (number, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..number].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(REFUSED.iter().all(|refused| refused.name != row.name), "{}", row.name);
        }
        assert!(matches!(find("tex", &["2d", "v4"]), Err(Some(refused)) if refused.name == "tex"));
        assert!(matches!(find("texture", &[]), Err(None)));
        assert!(find("cp", &["async", "ca"]).is_ok_and(|row| row.meaning == Meaning::AsyncCopy));
        assert!(matches!(find("cp", &["async", "bulk"]), Err(Some(_))));
    }
}
