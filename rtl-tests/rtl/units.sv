// The execution units of a scheduler. Inputs in cycle t give the result of their class in cycle t + its latency, as
// stated in `wave_core_pkg`. Units: 0 int, 1 div, 2 fp32, 3 sfu.
module units
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    input  logic   valid[CLASSES],
    input  op_e    op[4],
    input  logic [31:0] imm[4],
    input  lanes_t mask[4],
    input  lanes_t condition[4],
    input  row_t   operand[4][4],
    input  logic   special,          // mov_sr; its row comes two cycles later
    input  row_t   special_row,
    output logic   due[CLASSES],
    output row_t   row[CLASSES],
    output lanes_t pred[CLASSES]
);
  row_t int_row, special_due_row;
  logic special_due;
  unit_int #(.LANES(LANES), .LATENCY(INT_RESULT)) u_int (
      .clk, .rst_n, .valid(valid[CLASS_INT]), .op(op[0]), .a(operand[0][0]), .b(operand[0][1]), .c(operand[0][2]),
      .e(operand[0][3]), .select(condition[0]), .imm(imm[0]), .out_valid(due[CLASS_INT]), .out_row(int_row),
      .out_pred(pred[CLASS_INT]));
  unit_delay #(.WIDTH(1), .CYCLES(INT_RESULT)) u_special (.clk, .rst_n, .in(special), .out(special_due));
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(INT_RESULT - 2)) u_special_row (
      .clk, .rst_n, .in(special_row), .out(special_due_row));
  assign row[CLASS_INT] = special_due ? special_due_row : int_row;
  unit_int_mul #(.LANES(LANES), .LATENCY(INT_MUL_RESULT)) u_int_mul (
      .clk, .rst_n, .valid(valid[CLASS_INT_MUL]), .op(op[0]), .a(operand[0][0]), .b(operand[0][1]),
      .c(operand[0][2]), .out_valid(due[CLASS_INT_MUL]), .out_row(row[CLASS_INT_MUL]));
  unit_convert #(.LANES(LANES), .LATENCY(CONVERT_RESULT)) u_convert (
      .clk, .rst_n, .valid(valid[CLASS_CONVERT]), .op(op[0]), .a(operand[0][0]), .out_valid(due[CLASS_CONVERT]),
      .out_row(row[CLASS_CONVERT]));
  unit_wave #(.LANES(LANES), .LATENCY(WAVE_RESULT)) u_wave (
      .clk, .rst_n, .valid(valid[CLASS_WAVE]), .op(op[0]), .a(operand[0][0]), .b(operand[0][1]), .mask(mask[0]),
      .select(condition[0]), .out_valid(due[CLASS_WAVE]), .out_row(row[CLASS_WAVE]), .out_pred(pred[CLASS_WAVE]));
  unit_int_div #(
      .LANES(LANES), .LATENCY(INT_DIV_LATENCY_CYCLES), .PASSES(interval_of(INT_DIV_PASSES, UNIT_DIV_LANES))
  ) u_int_div (
      .clk, .rst_n, .valid(valid[CLASS_INT_DIV]), .op(op[1]), .a(operand[1][0]), .b(operand[1][1]),
      .out_valid(due[CLASS_INT_DIV]), .out_row(row[CLASS_INT_DIV]));
  unit_fp_div #(
      .LANES(LANES), .LATENCY(FP32_DIV_LATENCY_CYCLES), .PASSES(interval_of(FP32_DIV_PASSES, UNIT_DIV_LANES))
  ) u_fp_div (
      .clk, .rst_n, .valid(valid[CLASS_FP32_DIV]), .op(op[1]), .a(operand[1][0]), .b(operand[1][1]),
      .out_valid(due[CLASS_FP32_DIV]), .out_row(row[CLASS_FP32_DIV]));
  unit_fp #(.LANES(LANES), .LATENCY_FP32(FP32_RESULT), .LATENCY_FP16(FP16_RESULT)) u_fp (
      .clk, .rst_n, .valid_fp32(valid[CLASS_FP32]), .valid_fp16(valid[CLASS_FP16]), .op(op[2]), .a(operand[2][0]),
      .b(operand[2][1]), .c(operand[2][2]), .out_valid_fp32(due[CLASS_FP32]), .out_row_fp32(row[CLASS_FP32]),
      .out_pred_fp32(pred[CLASS_FP32]), .out_valid_fp16(due[CLASS_FP16]), .out_row_fp16(row[CLASS_FP16]));
  // The unit adds a clock for each group of lanes after the first.
  localparam int SFU_GROUPS = LANES / UNIT_SFU_LANES;
  unit_sfu #(.LANES(LANES), .UNIT_LANES(UNIT_SFU_LANES), .LATENCY(SFU_RESULT - SFU_GROUPS + 1)) u_sfu (
      .clk, .rst_n, .valid(valid[CLASS_SFU]), .op(op[3]), .a(operand[3][0]), .out_valid(due[CLASS_SFU]),
      .out_row(row[CLASS_SFU]));

  // This machine has no f64. Only three classes write predicates.
  for (genvar c = 0; c < CLASSES; c++) begin : gen_class
    if (c == int'(CLASS_FP64) || c == int'(CLASS_FP64_DIV)) begin : gen_absent
      assign due[c] = 1'b0;
      assign row[c] = '0;
    end
    if (c != int'(CLASS_INT) && c != int'(CLASS_WAVE) && c != int'(CLASS_FP32)) begin : gen_no_pred
      assign pred[c] = '0;
    end
  end
endmodule
