// Class sfu: UNIT_LANES lanes of six stages. The lanes of a wave enter in groups, one group per clock.
`include "bugs.svh"
module unit_sfu
  import wave_isa_pkg::*;
#(
    parameter int LANES = 8,
    parameter int UNIT_LANES = 2,
    parameter int LATENCY = 6
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid,
    input  op_e                    op,
    input  logic [LANES-1:0][31:0] a,
    output logic                   out_valid,  // LATENCY + LANES / UNIT_LANES - 1 clocks later
    output logic [LANES-1:0][31:0] out_row
);
  localparam int GROUPS = LANES / UNIT_LANES;
  if (LATENCY < 6 || GROUPS * UNIT_LANES != LANES) begin : g_check
    $error("unit_sfu has 6 stages and whole groups of lanes");
  end

  // The first group enters with `valid`, the others from `waiting`, which shifts by a group per clock.
  logic [LANES-1:0][31:0] waiting, entering;
  op_e waiting_op, entering_op;
  assign entering = valid ? a : waiting;
  assign entering_op = valid || `BUG(43) ? op : waiting_op;
  always_ff @(posedge clk) begin
    waiting <= entering >> (32 * UNIT_LANES);
    waiting_op <= entering_op;
  end

  // Results shift by a group per clock too.
  logic [UNIT_LANES-1:0][31:0] leaving;
  logic [LANES-1:0][31:0] row;
  for (genvar i = 0; i < UNIT_LANES; i++) begin : g_lane
    sfu_lane lane (.clk, .op(entering_op), .a(entering[i]), .result(leaving[i]));
  end
  if (GROUPS == 1) begin : g_whole
    assign row = leaving;
  end else begin : g_groups
    logic [LANES-UNIT_LANES-1:0][31:0] arrived;
    always_ff @(posedge clk) arrived <= row[LANES-1:UNIT_LANES];
    assign row = {leaving, arrived};
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY + GROUPS - 1)) valid_delay (.clk, .rst_n, .in(valid), .out(out_valid));
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(LATENCY - 6)) rest (.clk, .rst_n, .in(row), .out(out_row));
endmodule
