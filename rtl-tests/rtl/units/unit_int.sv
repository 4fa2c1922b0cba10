// Class int: moves, selection, add, logic, shifts, bit fields, compares. Two stages, one operation per clock.
module unit_int
  import wave_isa_pkg::*;
#(
    parameter int LANES = 8,
    parameter int LATENCY = 2
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid,
    input  op_e                    op,
    input  logic [LANES-1:0][31:0] a,
    input  logic [LANES-1:0][31:0] b,
    input  logic [LANES-1:0][31:0] c,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [LANES-1:0][31:0] e,       // of the width of bfi five bits count
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [LANES-1:0]       select,  // source predicate
    input  logic [31:0]            imm,
    output logic                   out_valid,
    output logic [LANES-1:0][31:0] out_row,
    output logic [LANES-1:0]       out_pred
);
  if (LATENCY < 2) begin : g_check
    $error("unit_int has 2 stages");
  end

  logic [LANES-1:0][31:0] row;
  logic [LANES-1:0] pred;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    int_lane lane (
        .clk, .op, .a(a[i]), .b(b[i]), .c(c[i]), .width(e[i][4:0]), .select(select[i]), .imm, .result(row[i]), .pred(pred[i])
    );
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY)) valid_delay (.clk, .rst_n, .in(valid), .out(out_valid));
  unit_delay #(.WIDTH(33 * LANES), .CYCLES(LATENCY - 2)) rest (.clk, .rst_n, .in({row, pred}), .out({out_row, out_pred}));
endmodule
