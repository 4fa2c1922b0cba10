// Class fp32_div: a square-root engine followed by a divider, each with one bit per clock, which work on two operations
// at a time. frsqrt uses both. fdiv and frcp wait out the first; the root of fsqrt waits out the second.
`include "bugs.svh"
module unit_fp_div
  import wave_isa_pkg::*;
  import wave_fp_pkg::*;
#(
    parameter int LANES = 8,
    parameter int LATENCY = 30,
    parameter int PASSES = 29
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
  if (LATENCY < 30 || PASSES < 28) begin : g_check
    $error("unit_fp_div takes 28 clocks for a root, 28 for a quotient, and two more");
  end

  // Clocks since the operation reached each engine; 0 is idle. The first engine keeps it until the second takes it
  // over.
  typedef logic [$clog2(PASSES+1)-1:0] count_t;
  count_t root_count;
  logic [4:0] quotient_count;
  logic hand_over, done;
  assign hand_over = root_count == count_t'(PASSES);
  always_ff @(posedge clk)
    if (!rst_n) begin
      root_count <= '0;
      quotient_count <= '0;
      done <= 1'b0;
    end else begin
      if (valid) root_count <= count_t'(1);
      else if (root_count != 0) root_count <= hand_over ? '0 : root_count + count_t'(1);
      if (hand_over) quotient_count <= 5'd1;
      else if (quotient_count != 0) quotient_count <= quotient_count == 5'd28 ? '0 : quotient_count + 5'd1;
      done <= quotient_count == (`BUG(36) ? 5'd27 : 5'd28);
    end

  op_e root_op;
  logic [LANES-1:0][31:0] root_a, root_b, roots, quotient_a, quotient_b, row;
  logic pass;
  always_ff @(posedge clk) begin
    if (valid) begin
      root_op <= op;
      root_a <= a;
      root_b <= b;
    end
    if (hand_over) begin
      pass <= root_op == OP_FSQRT;
      for (int i = 0; i < LANES; i++) begin
        case (root_op)
          OP_FDIV: quotient_a[i] <= root_a[i];
          OP_FSQRT: quotient_a[i] <= roots[i];
          default: quotient_a[i] <= ONE;
        endcase
        case (root_op)
          OP_FDIV: quotient_b[i] <= root_b[i];
          OP_FRCP: quotient_b[i] <= root_a[i];
          default: quotient_b[i] <= roots[i];
        endcase
      end
    end
  end

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    fp_sqrt_lane root_engine (
        .clk, .start(root_count == count_t'(1)), .finish(root_count == count_t'(27)), .a(root_a[i]), .result(roots[i])
    );
    fp_div_lane divider (
        .clk, .start(quotient_count == 5'd1), .finish(quotient_count == 5'd28),
        .a(quotient_a[i]), .b(quotient_b[i]), .pass, .result(row[i])
    );
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY - 30)) valid_delay (.clk, .rst_n, .in(done), .out(out_valid));
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(LATENCY - 30)) rest (.clk, .rst_n, .in(row), .out(out_row));
endmodule
