//! The instruction set as a SystemVerilog package: the contents of `rtl-tests/rtl/wave_isa_pkg.sv`.

use super::operand::{Field, Role};
use super::special::{Scope, Special};
use super::table::{ExecClass, OpInfo, TABLE};
use super::{PREDICATES, WORD_BYTES};
use std::fmt::Write;

/// The whole package. `op_info` decodes the (opcode, modifier) key of word0; operations are numbered in the order of
/// the opcode table.
pub fn system_verilog() -> String {
    let mut text = format!(
        "// Generated from the opcode table of the simulator (sim/isa/src/rows.rs); do not edit.\n\
         // `UPDATE=1 cargo test --test generated` writes it anew.\n\n\
         /* verilator lint_off UNUSEDPARAM */\n\
         package wave_isa_pkg;\n\n\
         \x20 localparam int WORD_BYTES = {WORD_BYTES};\n\
         \x20 localparam int PREDICATES = {PREDICATES};\n\n\
         \x20 // An operation: one for each legal (opcode, modifier).\n\
         \x20 typedef enum logic [7:0] {{\n"
    );
    for info in TABLE {
        _ = writeln!(text, "    {} = 8'd{},", constant("OP", info.mnemonic), info.op as u8);
    }
    text.push_str("    OP_ILLEGAL = 8'd255\n  } op_e;\n\n  // The kind of execution resource that an operation needs.\n");
    enumeration(
        &mut text,
        "class_e",
        4,
        ExecClass::ALL.iter().map(|c| (constant("CLASS", c.name()), *c as u8)),
    );
    text.push_str("  // How far a fence or an atomic reaches.\n");
    enumeration(&mut text, "scope_e", 2, Scope::ALL.iter().map(|s| (constant("SCOPE", s.name()), *s as u8)));
    text.push_str("  // Special registers, by the rs1 field of mov_sr.\n");
    for special in Special::ALL {
        let name = special.name().to_uppercase();
        _ = writeln!(text, "  localparam logic [7:0] {name} = 8'd{};", *special as u8);
    }
    _ = writeln!(text, "  localparam logic [7:0] SPECIAL_REGISTERS = 8'd{};\n", Special::ALL.len());
    text.push_str(
        "  // A row of the opcode table. Rows of registers are consecutive; 0 means that the field is not a register.\n\
         \x20 typedef struct packed {\n\
         \x20   op_e        op;\n\
         \x20   class_e     exec_class;\n\
         \x20   logic       two_words;    // word1 follows\n\
         \x20   logic       has_imm;      // word1 is a literal or a label\n\
         \x20   logic       has_scope;    // word1[1:0] is a scope\n\
         \x20   logic       no_guard;     // a guard makes it illegal\n\
         \x20   logic       needs_f64;\n\
         \x20   logic       needs_mma;\n\
         \x20   logic [2:0] dst_rows;     // rd: registers written\n\
         \x20   logic       dst_optional; // rd = 0: nothing is written\n\
         \x20   logic       dst_pred;     // rd: predicate written\n\
         \x20   logic [2:0] a_rows;       // rs1: registers read\n\
         \x20   logic [2:0] b_rows;       // rs2\n\
         \x20   logic [2:0] c_rows;       // rs3\n\
         \x20   logic [2:0] e_rows;       // rs4\n\
         \x20   logic       src_pred;     // rs1: predicate read\n\
         \x20   logic       src_pred_neg; // rs1[2] negates it\n\
         \x20   logic       src_special;  // rs1: special register\n\
         \x20 } op_info_t;\n\n\
         \x20 localparam op_info_t NO_OP_INFO = '{op: OP_ILLEGAL, exec_class: CLASS_CONTROL, default: '0};\n\n\
         \x20 function automatic op_info_t op_info(input logic [7:0] opcode, input logic [3:0] modifier);\n\
         \x20   op_info_t i;\n\
         \x20   i = NO_OP_INFO;\n\
         \x20   case ({opcode, modifier})\n",
    );
    for info in TABLE {
        _ = writeln!(text, "      {{8'h{:02X}, 4'd{}}}: {}", info.opcode, info.modifier, assignments(info));
    }
    text.push_str("      default: ;\n    endcase\n    return i;\n  endfunction\n\nendpackage\n/* verilator lint_on UNUSEDPARAM */\n");
    text
}

/// `device_load_u8.uncached` as an identifier.
fn constant(prefix: &str, name: &str) -> String {
    format!("{prefix}_{}", name.replace('.', "_").to_uppercase())
}

fn enumeration(text: &mut String, name: &str, bits: u32, rows: impl Iterator<Item = (String, u8)>) {
    let rows: Vec<String> =
        rows.map(|(constant, value)| format!("    {constant} = {bits}'d{value}")).collect();
    _ = write!(text, "  typedef enum logic [{}:0] {{\n{}\n  }} {name};\n\n", bits - 1, rows.join(",\n"));
}

/// The statement that fills in the row of an instruction.
fn assignments(info: &OpInfo) -> String {
    let mut fields = vec![
        format!("i.op = {};", constant("OP", info.mnemonic)),
        format!("i.exec_class = {};", constant("CLASS", info.class.name())),
    ];
    let mut set = |name: &str, rows: u8| fields.push(format!("i.{name} = {rows};").replace("= 0;", "= '0;"));
    for (name, on) in [
        ("two_words", info.words() == 2),
        ("has_imm", info.has_imm()),
        ("no_guard", info.op.rejects_guard()),
        ("needs_f64", info.op.needs_f64()),
        ("needs_mma", info.op.needs_mma()),
    ] {
        if on {
            set(name, 1);
        }
    }
    for operand in info.operands {
        let rows = operand.rows();
        match (operand.role, operand.field) {
            (Role::Scope, _) => set("has_scope", 1),
            (Role::DstOptional, _) => {
                set("dst_rows", rows);
                set("dst_optional", 1);
            }
            (Role::Dst(_) | Role::DstBallot, _) => set("dst_rows", rows),
            (Role::PredDst, _) => set("dst_pred", 1),
            (Role::PredSrc, _) => set("src_pred", 1),
            (Role::PredSrcNeg, _) => {
                set("src_pred", 1);
                set("src_pred_neg", 1);
            }
            (Role::Special, _) => set("src_special", 1),
            (Role::Src(_), Field::Rs1) => set("a_rows", rows),
            (Role::Src(_), Field::Rs2) => set("b_rows", rows),
            (Role::Src(_), Field::Rs3) => set("c_rows", rows),
            (Role::Src(_), Field::Rs4) => set("e_rows", rows),
            // Immediates are covered by `has_imm`; fragments, and the address that a tile store reads from
            // rd, by `needs_mma`.
            _ => {}
        }
    }
    let width = |statement: &String| match statement.split_once("_rows = ") {
        Some((name, rows)) => format!("{name}_rows = 3'd{rows}"),
        None => statement.replace("= 1;", "= 1'b1;"),
    };
    format!("begin {} end", fields.iter().map(width).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_opcode_table_has_a_number_and_a_case() {
        let text = system_verilog();
        for info in TABLE {
            assert_eq!(text.matches(&format!(" = 8'd{},\n", info.op as u8)).count(), 1, "{}", info.mnemonic);
            let case = format!("{{8'h{:02X}, 4'd{}}}: begin", info.opcode, info.modifier);
            assert_eq!(text.matches(&case).count(), 1, "{}", info.mnemonic);
        }
    }
}
