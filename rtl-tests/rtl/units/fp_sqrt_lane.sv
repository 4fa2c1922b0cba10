// Binary32 square root in one lane, one bit per clock. After `load`, `start` normalizes, 25 steps follow, and `finish`
// rounds.
`include "bugs.svh"
module fp_sqrt_lane
  import wave_fp_pkg::*;
(
    input  logic        clk,
    input  logic        start,
    input  logic        finish,
    input  logic [31:0] a,       // with start
    output logic [31:0] result   // after finish
);
  fp_t x;
  logic [4:0] zeros;
  logic [23:0] significand;
  logic [8:0] exponent;  // biased, plus 128
  logic special;
  logic [31:0] special_value;
  always_comb begin
    x = unpack(a);
    zeros = 5'(leading_zeros({x.significand, 8'd0}));
    significand = x.significand << zeros;
    exponent = 9'd128 + 9'(x.exponent) - 9'(zeros);
    special = x.is_nan || x.is_inf || x.significand == 0 || x.sign;
    special_value = a;  // 0, -0 or infinity
    if (x.is_nan || (x.sign && (x.significand != 0 || `BUG(32)))) special_value = NAN;
  end

  // The 50 bits of the radicand, two per step.
  logic [49:0] radicand;
  logic [24:0] root;
  logic [25:0] rest;
  logic [25:0] trial;
  logic fits;
  logic [7:0] result_exponent;
  logic is_special;
  logic [31:0] the_special;
  always_comb begin
    fits = {rest, radicand[49:48]} >= {1'b0, root, 2'b01};
    trial = {rest[23:0], radicand[49:48]} - {root[23:0], 2'b01};
  end
  always_ff @(posedge clk) begin
    if (start) begin
      // The bias is odd, so an even exponent field is an odd power of two.
      radicand <= exponent[0] ? {1'b0, significand, 25'd0} : {significand, 26'd0};
      result_exponent <= 8'((exponent - 9'd1) >> 1);
      root <= '0;
      rest <= '0;
      is_special <= special;
      the_special <= special_value;
    end else begin
      radicand <= radicand << 2;
      root <= {root[23:0], fits};
      rest <= fits ? trial : {rest[23:0], radicand[49:48]};
    end
    // Ties are impossible: the square of 25 bits that end in 1 has too many bits.
    if (finish)
      result <= is_special ? the_special
          : {1'b0, result_exponent - 8'd1, 23'd0} + 32'(root[24:1]) + 32'(root[0] && !`BUG(33));
  end
endmodule
