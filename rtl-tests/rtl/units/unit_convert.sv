// Class convert: f32 to and from integers, f16 and bf16. Three stages, one operation per clock.
module unit_convert
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
    output logic                   out_valid,
    output logic [LANES-1:0][31:0] out_row
);
  if (LATENCY < 3) begin : g_check
    $error("unit_convert has 3 stages");
  end

  logic [LANES-1:0][31:0] row;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    convert_lane lane (.clk, .op, .a(a[i]), .result(row[i]));
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY)) valid_delay (.clk, .rst_n, .in(valid), .out(out_valid));
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(LATENCY - 3)) rest (.clk, .rst_n, .in(row), .out(out_row));
endmodule
