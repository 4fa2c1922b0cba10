// Execution units behind one operand port, for the comparison of each with the simulator. GROUP chooses the units, so
// that a run evaluates only those it is about; 0 has every one.
module units_bench
  import wave_isa_pkg::*;
#(
    parameter int GROUP = 0,  // 0 all, 1 integer, convert and wave, 2 floating point, 3 division, 4 special functions
    parameter int LANES = 8,
    // As in configs/rtl.ron.
    parameter int INT_LATENCY = 2,
    parameter int INT_MUL_LATENCY = 3,
    parameter int CONVERT_LATENCY = 3,
    parameter int WAVE_LATENCY = 4,
    parameter int INT_DIV_LATENCY = 34,
    parameter int INT_DIV_PASSES = 33,
    parameter int FP32_DIV_LATENCY = 30,
    parameter int FP32_DIV_PASSES = 29,
    parameter int FP32_LATENCY = 4,
    parameter int FP16_LATENCY = 5,
    parameter int SFU_LATENCY = 6,
    parameter int SFU_LANES = 2
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid,
    input  logic [7:0]             op,
    input  class_e                 exec_class,
    input  logic [LANES-1:0]       mask,
    input  logic [LANES-1:0]       select,
    input  logic [31:0]            imm,
    input  logic [LANES-1:0][31:0] a,
    input  logic [LANES-1:0][31:0] b,
    input  logic [LANES-1:0][31:0] c,
    input  logic [LANES-1:0][31:0] e,
    output logic [8:0]             out_valid,  // by port
    output logic [8:0][LANES-1:0][31:0] out_row,
    output logic [8:0][LANES-1:0]  out_pred
);
  op_e the_op;
  assign the_op = op_e'(op);

  if (GROUP == 0 || GROUP == 1) begin : g_int
    unit_int #(.LANES(LANES), .LATENCY(INT_LATENCY)) u_int (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_INT), .op(the_op), .a, .b, .c, .e, .select, .imm,
        .out_valid(out_valid[0]), .out_row(out_row[0]), .out_pred(out_pred[0])
    );
    unit_int_mul #(.LANES(LANES), .LATENCY(INT_MUL_LATENCY)) u_int_mul (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_INT_MUL), .op(the_op), .a, .b, .c,
        .out_valid(out_valid[1]), .out_row(out_row[1])
    );
    assign out_pred[1] = '0;
    unit_convert #(.LANES(LANES), .LATENCY(CONVERT_LATENCY)) u_convert (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_CONVERT), .op(the_op), .a,
        .out_valid(out_valid[2]), .out_row(out_row[2])
    );
    assign out_pred[2] = '0;
    unit_wave #(.LANES(LANES), .LATENCY(WAVE_LATENCY)) u_wave (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_WAVE), .op(the_op), .a, .b, .mask, .select,
        .out_valid(out_valid[3]), .out_row(out_row[3]), .out_pred(out_pred[3])
    );
  end else begin : g_no_int
    assign {out_valid[3:0], out_row[3:0], out_pred[3:0]} = '0;
  end
  if (GROUP == 0 || GROUP == 2) begin : g_fp
    unit_fp #(.LANES(LANES), .LATENCY_FP32(FP32_LATENCY), .LATENCY_FP16(FP16_LATENCY)) u_fp (
        .clk, .rst_n, .valid_fp32(valid && exec_class == CLASS_FP32), .valid_fp16(valid && exec_class == CLASS_FP16),
        .op(the_op), .a, .b, .c,
        .out_valid_fp32(out_valid[4]), .out_row_fp32(out_row[4]), .out_pred_fp32(out_pred[4]),
        .out_valid_fp16(out_valid[5]), .out_row_fp16(out_row[5])
    );
    assign out_pred[5] = '0;
  end else begin : g_no_fp
    assign {out_valid[5:4], out_row[5:4], out_pred[5:4]} = '0;
  end
  if (GROUP == 0 || GROUP == 3) begin : g_div
    unit_int_div #(.LANES(LANES), .LATENCY(INT_DIV_LATENCY), .PASSES(INT_DIV_PASSES)) u_int_div (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_INT_DIV), .op(the_op), .a, .b,
        .out_valid(out_valid[6]), .out_row(out_row[6])
    );
    unit_fp_div #(.LANES(LANES), .LATENCY(FP32_DIV_LATENCY), .PASSES(FP32_DIV_PASSES)) u_fp_div (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_FP32_DIV), .op(the_op), .a, .b,
        .out_valid(out_valid[7]), .out_row(out_row[7])
    );
    assign out_pred[7:6] = '0;
  end else begin : g_no_div
    assign {out_valid[7:6], out_row[7:6], out_pred[7:6]} = '0;
  end
  if (GROUP == 0 || GROUP == 4) begin : g_sfu
    unit_sfu #(.LANES(LANES), .UNIT_LANES(SFU_LANES), .LATENCY(SFU_LATENCY)) u_sfu (
        .clk, .rst_n, .valid(valid && exec_class == CLASS_SFU), .op(the_op), .a,
        .out_valid(out_valid[8]), .out_row(out_row[8])
    );
    assign out_pred[8] = '0;
  end else begin : g_no_sfu
    assign {out_valid[8], out_row[8], out_pred[8]} = '0;
  end
endmodule
