// One lane of class int_mul: four 16-bit products, their sum, the addend. Three stages, one operation per clock.
`include "bugs.svh"
module int_mul_lane
  import wave_isa_pkg::*;
(
    input  logic        clk,
    input  op_e         op,
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [31:0] c,
    output logic [31:0] result
);
  logic [31:0] low, cross_a, cross_b, high;
  logic [31:0] addend_1, addend_2;
  logic [63:0] product;
  logic upper_1, upper_2;
  always_ff @(posedge clk) begin
    low <= a[15:0] * b[15:0];
    cross_a <= a[31:16] * b[15:0];
    cross_b <= a[15:0] * b[31:16];
    high <= a[31:16] * b[31:16];
    addend_1 <= op == OP_IMAD ? c : '0;
    upper_1 <= op == OP_IMUL_HI;

    product <= {high, low} + {16'd0, cross_a, 16'd0} + {16'd0, `BUG(22) ? 32'(cross_b[15:0]) : cross_b, 16'd0};
    addend_2 <= addend_1;
    upper_2 <= upper_1;

    result <= upper_2 ? product[63:32] : product[31:0] + addend_2;
  end
endmodule
