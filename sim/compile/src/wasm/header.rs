//! The header for C, made from the list of functions.

use super::intrinsics::{Intrinsic, intrinsics};
use crate::ir::Type;
use std::fmt::Write;

/// What stands before the functions.
const BEGIN: &str = "\
/* wave.h: the functions of the module `wave`. Generated; do not edit. */
#ifndef WAVE_H
#define WAVE_H

#ifdef __cplusplus
extern \"C\" {
#endif

#define WAVE_IMPORT(name) __attribute__((import_module(\"wave\"), import_name(name)))
/* A kernel: the linker keeps it, and exports it under its name. */
#define WAVE_KERNEL(name) __attribute__((export_name(#name))) void name

";

/// What stands behind them.
const END: &str = "
#ifdef __cplusplus
}
#endif
#endif
";

/// The text of `wave.h`: each function of the module `wave`, with `wave_` before its name.
pub fn c_header() -> String {
    let mut text = BEGIN.to_owned();
    for intrinsic in intrinsics() {
        let Intrinsic { name, parameters, result, meaning, .. } = intrinsic;
        let parameters: Vec<String> =
            parameters.iter().map(|(name, ty)| format!("{} {name}", c_type(*ty))).collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let result = result.map_or("void", c_type);
        let declaration = format!("WAVE_IMPORT(\"{name}\") {result} wave_{name}({parameters});");
        _ = writeln!(text, "/* {meaning} */\n{declaration}");
    }
    text.push_str(END);
    text
}

fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool | Type::I32 => "unsigned",
        Type::I64 => "unsigned long long",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}
