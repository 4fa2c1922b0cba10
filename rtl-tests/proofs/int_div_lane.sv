// Proves: after each step of a division, quotient × divisor + rest is the part of the dividend that has been taken, and
//   the rest
//   is less than the divisor; after 32 steps the result is the truncated quotient, or the remainder with the dividend's
//   sign;
//   by 0 it is 0
// Method: induction 1, bounded 36, quick
// Mutant: 30
// Mutant: 31
// Mutant: units/int_div_lane.sv | trial = {rest, quotient[31]} - {1'b0, divisor}; | trial = {rest, quotient[30]} -
//   {1'b0, divisor};
// Mutant: units/int_div_lane.sv | negative_quotient <= a[31] ^ b[31]; | negative_quotient <= a[31];

// Products of two unknowns are beyond the solver, so quotient × divisor is kept beside the division: with each bit it
// doubles,
// and with a 1 the divisor is added. That is (2q + bit) × d = 2 × (q × d) + bit × d.
module prove_int_div_lane (
    input logic clk,
    input logic rst_n,
    input logic load,
    input logic remainder,
    input logic [31:0] a,
    input logic [31:0] b
);
  // The steps since the operands came; `finish` comes with step 32.
  int steps_q;
  logic finish, done_q, want_q;
  logic [31:0] a_q, b_q, dividend, divisor, result;
  assign finish = steps_q == 32;
  int_div_lane dut (.clk, .load, .finish, .remainder, .a, .b, .result);

  function automatic logic [31:0] magnitude(input logic [31:0] x);
    return x[31] ? -x : x;
  endfunction
  assign dividend = magnitude(a_q);
  assign divisor = magnitude(b_q);

  // The product, and bits of the dividend that have been taken. The quotient is in the low bits, one for each step.
  logic [63:0] product_q;
  logic [31:0] before_q;
  logic bit_q;
  logic [31:0] taken, low;
  always_comb begin
    taken = steps_q >= 32 ? dividend : dividend >> (32 - steps_q);
    low = steps_q >= 32 ? '1 : (32'd1 << steps_q) - 1;
  end
  always_ff @(posedge clk) begin
    if (load) begin
      a_q <= a;
      b_q <= b;
      want_q <= remainder;
      product_q <= '0;
    end else product_q <= {product_q[62:0], 1'b0} + (dut.trial[32] ? '0 : 64'(divisor));
    before_q <= dut.quotient;
    bit_q <= !dut.trial[32];
    steps_q <= !rst_n ? 100 : load ? 0 : steps_q < 32 ? steps_q + 1 : 100;
    done_q <= rst_n && finish;
  end

  // What the result has to be, from quotient and rest of magnitudes.
  logic [31:0] quotient_q, rest_q, a_then_q, b_then_q;
  logic want_then_q;
  always_ff @(posedge clk)
    if (finish) begin
      quotient_q <= dut.quotient;
      rest_q <= dut.rest;
    end

  always_ff @(posedge clk)
    if (rst_n) begin
      // The unit gives no operation sooner.
      assume (!load || steps_q >= 32);
      assume (steps_q >= 0);
      if (steps_q <= 32 && b_q != 0) begin
        assert (product_q + 64'(dut.rest) == 64'(taken));
        assert (dut.rest < divisor);
      end
      // The bit that counts in the product is the quotient's.
      assert (steps_q < 1 || steps_q > 32 || dut.quotient == {before_q[30:0], bit_q});
      if (steps_q <= 32) begin
        assert (dut.divisor == divisor && dut.by_zero == (b_q == 0) && dut.want_rest == want_q);
        assert (dut.negative_quotient == (a_q[31] ^ b_q[31]) && dut.negative_rest == a_q[31]);
        // Above the quotient's bits are the dividend's that have not been taken.
        assert (steps_q >= 32 || (dut.quotient & ~low) == (dividend << steps_q));
      end
      cover (done_q && a_then_q == 32'd7 && b_then_q == 32'd2 && result == 32'd3 && !want_then_q);
      cover (done_q && a_then_q == -32'd7 && b_then_q == 32'd2 && result == -32'd1 && want_then_q);
    end
  // The result comes a cycle after step 32, when other operands may have come.
  always_ff @(posedge clk) begin
    a_then_q <= a_q;
    b_then_q <= b_q;
    want_then_q <= want_q;
    if (rst_n && done_q) begin
      assert (b_then_q != 0 || result == 0);
      assert (b_then_q == 0 || want_then_q || result == (a_then_q[31] ^ b_then_q[31] ? -quotient_q : quotient_q));
      assert (b_then_q == 0 || !want_then_q || result == (a_then_q[31] ? -rest_q : rest_q));
    end
  end
endmodule
