// The execution units of a scheduler. Inputs of cycle t give the result of their class in cycle t + its latency, as
// `wave_core_pkg` has it. Units: 0 int, 1 div, 2 fp32, 3 sfu.
module units
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    input  logic   valid[CLASSES],
    input  op_e    op[4],
    input  logic [31:0] imm[4],
    /* verilator lint_off UNUSEDSIGNAL */
    input  lanes_t mask[4],
    /* verilator lint_on UNUSEDSIGNAL */
    input  lanes_t condition[4],
    input  row_t   operand[4][4],
    input  logic   special,
    input  row_t   special_row,
    output row_t   row[CLASSES],
    output lanes_t pred[CLASSES]
);
  row_t integer_row, multiply_row, divide_row;
  lanes_t integer_pred;
  integer_lanes u_integer (
      .op(op[0]), .imm(imm[0]), .condition(condition[0]), .a(special ? special_row : operand[0][0]),
      .b(operand[0][1]), .c(operand[0][2]), .e(operand[0][3]), .row(integer_row), .pred(integer_pred));
  multiply_lanes u_multiply (.op(op[0]), .a(operand[0][0]), .b(operand[0][1]), .c(operand[0][2]), .row(multiply_row));
  divide_lanes u_divide (
      .valid(valid[CLASS_INT_DIV]), .op(op[1]), .a(operand[1][0]), .b(operand[1][1]), .row(divide_row));

  delay #(.LATENCY(INT_RESULT)) u_integer_delay (
      .clk, .rst_n, .valid(valid[CLASS_INT]), .row(integer_row), .pred(integer_pred), .row_out(row[CLASS_INT]),
      .pred_out(pred[CLASS_INT]));
  delay #(.LATENCY(INT_MUL_RESULT)) u_multiply_delay (
      .clk, .rst_n, .valid(valid[CLASS_INT_MUL]), .row(multiply_row), .pred('0), .row_out(row[CLASS_INT_MUL]),
      .pred_out(pred[CLASS_INT_MUL]));
  delay #(.LATENCY(INT_DIV_RESULT)) u_divide_delay (
      .clk, .rst_n, .valid(valid[CLASS_INT_DIV]), .row(divide_row), .pred('0), .row_out(row[CLASS_INT_DIV]),
      .pred_out(pred[CLASS_INT_DIV]));

  // Not there yet.
  for (genvar c = 0; c < CLASSES; c++) begin : gen_absent
    if (c != int'(CLASS_INT) && c != int'(CLASS_INT_MUL) && c != int'(CLASS_INT_DIV)) begin : gen_zero
      assign row[c] = '0;
      assign pred[c] = '0;
    end
  end
endmodule
