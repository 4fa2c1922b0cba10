//! The tables of the special functions, as a SystemVerilog package for the RTL.

use super::{EXP2, LOG2, SINE, TWO_OVER_PI};
use std::fmt::Write;

/// Contents of `rtl-tests/rtl/units/sfu_rom_pkg.sv`: the segments of the tables EXP2, LOG2 and SINE in this
/// order, and 2/π.
pub fn system_verilog() -> String {
    let mut text = String::from(
        "// Generated from the tables of the simulator (sim/isa/src/special_functions.rs); do not edit.\n\
         // `UPDATE=1 cargo test --test generated` writes it anew.\n\
         package sfu_rom_pkg;\n\n\
         \x20 // 64 zeros and the first 224 fraction bits of 2/pi: bit 287 - k weighs 2^(63 - k).\n",
    );
    let words: Vec<String> = TWO_OVER_PI.iter().map(|word| format!("{word:08X}")).collect();
    _ = writeln!(
        text,
        "  /* verilator lint_off UNUSEDPARAM */\n  localparam logic [287:0] TWO_OVER_PI = 288'h{};\n  /* verilator lint_on UNUSEDPARAM */",
        words.join("_")
    );
    text.push_str(
        "\n  // c0 + c1 t + c2 t^2, 30 fraction bits each.\n\
         \x20 typedef struct packed {\n\
         \x20   logic        [30:0] c0;\n\
         \x20   logic signed [24:0] c1;\n\
         \x20   logic signed [16:0] c2;\n\
         \x20 } segment_t;\n\n\
         \x20 // The segment of a table (0 EXP2, 1 LOG2, 2 SINE) and its index.\n\
         \x20 function automatic segment_t segment(input logic [8:0] index);\n\
         \x20   case (index)\n",
    );
    for (index, segment) in EXP2.iter().chain(&LOG2).chain(&SINE).enumerate() {
        let (c1, c2) = (segment.c1 & 0x1FF_FFFF, segment.c2 & 0x1_FFFF);
        _ = writeln!(
            text,
            "      9'd{index}: return '{{c0: 31'h{:08X}, c1: 25'h{c1:07X}, c2: 17'h{c2:05X}}};",
            segment.c0
        );
    }
    text.push_str("      default: return '0;\n    endcase\n  endfunction\n\nendpackage\n");
    text
}
