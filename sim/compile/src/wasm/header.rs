//! The header for C and C++, made from the list of functions and from a text with what makes them convenient.

use super::intrinsics::{Action, Intrinsic, intrinsics};
use crate::ir::Type;
use std::fmt::Write;

/// What stands before the functions.
const BEGIN: &str = "\
/* wave.h: kernels for WAVE in C and C++. `wave-sim header` prints it; do not edit.

   For those who build modules themselves:
   clang --target=wasm32 -mcpu=mvp -mmutable-globals -msign-ext -mnontrapping-fptoint -matomics -O2 -g
     -nostdlib -nostdlibinc -fno-builtin -fno-delete-null-pointer-checks -fvisibility=hidden -Wl,--no-entry
     -Wl,--export-dynamic -Wl,--export=__heap_base -Wl,--export=__stack_pointer -o kernel.wasm kernel.c */
#ifndef WAVE_H
#define WAVE_H

#ifdef __cplusplus
extern \"C\" {
#endif

#define WAVE_IMPORT(name) __attribute__((import_module(\"wave\"), import_name(name)))
/* They give the same result for the same arguments. */
#define WAVE_CONST __attribute__((const))
/* They read memory and do nothing else. */
#define WAVE_PURE __attribute__((pure))
/* The lanes of a wave meet in them: they stay where the source has them. */
#define WAVE_TOGETHER __attribute__((convergent))

";

/// What stands behind them.
const BETWEEN: &str = "
#ifdef __cplusplus
}
#endif

";

/// The text that wraps them.
const HELPERS: &str = include_str!("helpers.h");

/// The text of `wave.h`: each function of the module `wave`, with `wave_` before its name, and helpers.
pub fn c_header() -> String {
    let mut text = BEGIN.to_owned();
    for intrinsic in intrinsics() {
        let Intrinsic { name, parameters, result, meaning, action } = intrinsic;
        let parameters: Vec<String> =
            parameters.iter().map(|(name, ty)| format!("{} {name}", c_type(*ty))).collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let result = result.map_or("void", c_type);
        let attribute = attribute(*action);
        let declaration = format!("WAVE_IMPORT(\"{name}\") {attribute}{result} wave_{name}({parameters});");
        _ = writeln!(text, "/* {meaning} */\n{declaration}");
    }
    text.push_str(BETWEEN);
    text.push_str(HELPERS);
    text.push_str("\n#endif\n");
    text
}

/// What the C compiler may do with a call, so that it neither repeats nor moves what it must not.
fn attribute(action: Action) -> &'static str {
    match action {
        Action::Special(_) | Action::Unary(_) | Action::Binary(_) | Action::Fma(_) => "WAVE_CONST ",
        Action::LocalLoad(..) => "WAVE_PURE ",
        Action::Barrier | Action::Wave(_) => "WAVE_TOGETHER ",
        Action::Fence(..) | Action::LocalStore(..) | Action::LocalAtomic(_) | Action::Atomic(..) => "",
    }
}

fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool | Type::I32 => "unsigned",
        Type::I64 => "unsigned long long",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}
