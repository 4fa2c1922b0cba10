//! Mistakes in the translation that the comparison has to see.

use crate::meaning::{EXCHANGE, case_of, same, same_case};
use crate::operations;
use wave_machine::config;
use wave_ptx::Options;
use wave_verify::generate;

/// Parts of the PTX, what is written in their place, and where that is seen: a kernel of the suites, the one whose
/// lanes exchange values, the one that tries special values, or `*` for random programs.
const MUTANTS: &[(&str, &str, &str)] = &[
    // Lanes do not wait for one another before they read what others wrote.
    ("\tbar.warp.sync 0xffffffff;\n", "", "exchange"),
    ("\tbarrier.sync 0;\n", "", "transpose_padded"),
    // Lanes that are not active take part.
    ("@%on ", "", "mandelbrot"),
    ("or.pred %on, %on, %else0;", "mov.pred %on, %on;", "*"),
    ("or.pred %on, %on, %continued", "and.pred %on, %on, %continued", "*"),
    ("mov.pred %on, %broken", "mov.pred %on, %continued", "*"),
    // Arithmetic.
    ("0x7FC00000;", "0x7FC00001;", "grid"),
    ("selp.b32 %t1, 1,", "selp.b32 %t1, 2,", "grid"),
    ("sub.u32 %t0, 0, %r8;\n\t@%q0 mov", "mov.b32 %t0, %r8;\n\t@%q0 mov", "grid"),
    ("setp.neu.f32", "setp.num.f32", "grid"),
    ("max.f32", "min.f32", "grid"),
    ("and.b32 %t0, %r10, 31;\n\t@%on shl", "mov.b32 %t0, %r10;\n\t@%on shl", "grid"),
    ("0x7E00", "0x7E01", "grid"),
    ("0x7FC0;", "0x7FFF;", "grid"),
    ("0x7FF8000000000000", "0xFFF8000000000000", "grid"),
    ("cvt.rmi.f32.f32", "cvt.rzi.f32.f32", "grid"),
    ("selp.b32 %t0, %r8, 0,", "selp.b32 %t0, %r8, 1,", "grid"),
    ("shfl.sync.idx.b32", "shfl.sync.up.b32", "grid"),
    ("redux.sync.add", "redux.sync.max", "grid"),
    ("vote.sync.all.pred", "vote.sync.any.pred", "grid"),
    (", 32;\n\t@%on selp", ", 31;\n\t@%on selp", "grid"),
    ("@%q0 mov.b32 %r16", "@%on mov.b32 %r16", "grid"),
    ("red.relaxed.cta.shared.add", "red.relaxed.cta.shared.max", "histogram"),
    // Memory.
    ("wave_load_global_u32, (%d1)", "wave_load_global_u32, (%d0)", "*"),
    ("ld.global.u8 %byte, [%address+1]", "ld.global.u8 %byte, [%address+2]", "*"),
    ("shr.u32 %special3, %thread, 5", "shr.u32 %special3, %thread, 6", "reduction"),
    // Special functions.
    ("and.b32 %t, %x, 0x7FFFFF;", "and.b32 %t, %x, 0x3FFFFF;", "softmax"),
    ("add.u64 %kept, %kept, %w;", "", "softmax"),
];

#[test]
fn mistakes_are_seen() {
    let config = config::load("gpu").expect("a preset");
    let generated = generate::Options { wave_width: 32, ..generate::Options::of(&config) };
    let mut missed = Vec::new();
    for &(part, other, place) in MUTANTS {
        let applied = std::cell::Cell::new(false);
        let alter = |text: String| {
            applied.set(applied.get() || text.contains(part));
            text.replace(part, other)
        };
        let options = Options::default();
        let seen = match place {
            "exchange" => (0..20).any(|seed| {
                let case = case_of(EXCHANGE, 1, 32, vec![0; 128]);
                same_case(&case, &Options { lane_order: true, ..options }, seed, &alter).is_err()
            }),
            "grid" => same_case(&operations::grid(), &options, 1, &alter).is_err(),
            "*" => (0..100).any(|seed| {
                let case = generate::grow(seed, &generated).case();
                same_case(&case, &Options { lane_order: true, ..options }, seed, &alter).is_err()
            }),
            name => same(name, &options, &alter).is_err(),
        };
        if !seen || !applied.get() {
            missed.push((part, place, applied.get()));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
