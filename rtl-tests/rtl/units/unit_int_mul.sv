// Class int_mul: four 16-bit products, their sum, the addend. Three stages, one operation per clock.
module unit_int_mul
  import wave_isa_pkg::*;
#(
    parameter int LANES = 8,
    parameter int LATENCY = 3
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid,
    input  op_e                    op,
    input  logic [LANES-1:0][31:0] a,
    input  logic [LANES-1:0][31:0] b,
    input  logic [LANES-1:0][31:0] c,
    output logic                   out_valid,
    output logic [LANES-1:0][31:0] out_row
);
  if (LATENCY < 3) begin : g_check
    $error("unit_int_mul has 3 stages");
  end

  logic [LANES-1:0][31:0] row;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    int_mul_lane lane (.clk, .op, .a(a[i]), .b(b[i]), .c(c[i]), .result(row[i]));
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY)) valid_delay (.clk, .rst_n, .in(valid), .out(out_valid));
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(LATENCY - 3)) rest (.clk, .rst_n, .in(row), .out(out_row));
endmodule
