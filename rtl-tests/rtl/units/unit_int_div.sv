// Class int_div: 32 steps and the signs; one operation per PASSES clocks.
module unit_int_div
  import wave_isa_pkg::*;
#(
    parameter int LANES = 8,
    parameter int LATENCY = 34,
    parameter int PASSES = 33
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid,
    input  op_e                    op,
    input  logic [LANES-1:0][31:0] a,
    input  logic [LANES-1:0][31:0] b,
    output logic                   out_valid,  // LATENCY + PASSES - 1 clocks later
    output logic [LANES-1:0][31:0] out_row
);
  if (LATENCY < 34 || PASSES < 33) begin : g_check
    $error("unit_int_div takes 33 clocks and a last one");
  end

  // Clocks since valid, up to the clock for the signs; 0 is idle.
  logic [5:0] count;
  logic finish, done;
  assign finish = count == 6'd33;
  always_ff @(posedge clk)
    if (!rst_n) begin
      count <= '0;
      done <= 1'b0;
    end else begin
      if (valid) count <= 6'd1;
      else if (count != 0) count <= finish ? 6'd0 : count + 6'd1;
      done <= finish;
    end

  logic [LANES-1:0][31:0] row;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    int_div_lane lane (
        .clk, .load(valid), .finish, .remainder(op == OP_IMOD), .a(a[i]), .b(b[i]), .result(row[i])
    );
  end

  // The next result is at least PASSES clocks away, so its register holds this one until then.
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY - 34 + PASSES - 1)) valid_delay (.clk, .rst_n, .in(done), .out(out_valid));
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(LATENCY - 34)) rest (.clk, .rst_n, .in(row), .out(out_row));
endmodule
