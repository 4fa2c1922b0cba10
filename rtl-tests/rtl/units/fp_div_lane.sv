// Binary32 quotient in one lane, one bit per clock. After the operands arrive, `start` normalizes, 26 steps follow, and
// `finish` rounds.
`include "bugs.svh"
module fp_div_lane
  import wave_fp_pkg::*;
(
    input  logic        clk,
    input  logic        start,
    input  logic        finish,
    input  logic [31:0] a,       // with start
    input  logic [31:0] b,       // with start
    input  logic        pass,    // with start: the result is a
    output logic [31:0] result   // after finish
);
  fp_t x, y;
  logic [4:0] zeros_x, zeros_y;
  logic signed [10:0] difference;
  logic x_zero, y_zero, sign, special;
  logic [31:0] special_value;
  always_comb begin
    x = unpack(a);
    y = unpack(b);
    zeros_x = 5'(leading_zeros({x.significand, 8'd0}));
    zeros_y = 5'(leading_zeros({y.significand, 8'd0}));
    difference = 11'(x.exponent) - 11'(zeros_x) - 11'(y.exponent) + 11'(zeros_y) + 11'sd127;
    x_zero = x.significand == 0;
    y_zero = y.significand == 0;
    sign = x.sign ^ y.sign;
    special = 1'b1;
    special_value = a;
    if (!pass) begin
      if (x.is_nan || y.is_nan || (x.is_inf && y.is_inf) || (x_zero && y_zero && !`BUG(34))) special_value = NAN;
      else if (x.is_inf || y_zero) special_value = {sign, INFINITY};
      else if (x_zero || y.is_inf) special_value = {sign, 31'd0};
      else special = 1'b0;
    end
  end

  logic [23:0] divisor;
  logic [24:0] rest;
  logic [23:0] trial;
  logic fits;
  logic [25:0] quotient;  // first bit: 1
  logic signed [10:0] exponent;
  logic the_sign, is_special;
  logic [31:0] the_special;
  always_comb begin
    fits = rest >= {1'b0, divisor};
    trial = rest[23:0] - divisor;
  end
  always_ff @(posedge clk) begin
    if (start) begin
      divisor <= y.significand << zeros_y;
      rest <= {1'b0, x.significand << zeros_x};
      exponent <= difference;
      the_sign <= sign;
      is_special <= special;
      the_special <= special_value;
    end else begin
      quotient <= {quotient[24:0], fits};
      rest <= {fits ? trial : rest[23:0], 1'b0};
    end
  end

  // The quotient of two numbers from 1 to 2 lies between 1/2 and 2.
  logic [26:0] normalized;  // with what is below as its last bit
  logic signed [10:0] leading;
  logic [4:0] shift;
  logic [52:0] shifted;
  logic [9:0] field;
  logic [32:0] packed_bits;
  always_comb begin
    normalized = quotient[25] ? {quotient, rest != 0} : {quotient[24:0], 1'b0, rest != 0};
    if (`BUG(35)) normalized[0] = 1'b0;
    leading = quotient[25] ? exponent : exponent - 11'sd1;
    field = leading >= 11'sd1 ? 10'(leading - 11'sd1) : 10'd0;
    if (leading >= 11'sd1) shift = 5'd0;
    else shift = leading < -11'sd25 ? 5'd26 : 5'(11'sd1 - leading);
    shifted = {normalized, 26'd0} >> shift;
    packed_bits = {field, 23'd0} + 33'(shifted[52:29])
        + 33'(rounds_up(shifted[29], shifted[28], shifted[27:0] != 0));
  end
  always_ff @(posedge clk)
    if (finish) begin
      if (is_special) result <= the_special;
      else if (packed_bits[32:23] >= 10'd255) result <= {the_sign, INFINITY};
      else result <= {the_sign, packed_bits[30:0]};
    end
endmodule
