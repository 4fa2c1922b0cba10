// Proves: after i steps, dividend × 2^i = 2 × quotient × divisor + rest, and the rest is less than twice the divisor:
//   so after
//   26 steps the quotient's 26 bits are those of the exact quotient, and something is below them exactly if a rest is
//   left
// Method: induction 1, bounded 30, quick
// Mutant: units/fp_div_lane.sv | fits = rest >= {1'b0, divisor}; | fits = rest > {1'b0, divisor};
// Mutant: units/fp_div_lane.sv | rest <= {fits ? trial : rest[23:0], 1'b0}; | rest <= {trial, 1'b0};

// quotient × divisor is kept beside the division, as in int_div_lane. What comes before and behind the steps is in
// fp_div_lane.smt2.
module prove_fp_div_lane (
    input logic clk,
    input logic rst_n,
    input logic start,
    input logic [31:0] a,
    input logic [31:0] b,
    input logic pass
);
  localparam int STEPS = 26;
  int steps_q;
  logic finish;
  logic [31:0] result;
  assign finish = steps_q == STEPS;
  fp_div_lane dut (.clk, .start, .finish, .a, .b, .pass, .result);

  logic [63:0] product_q, dividend_q;    // the dividend times 2^i
  logic [25:0] before_q;
  logic bit_q;
  always_ff @(posedge clk) begin
    product_q <= start ? '0 : {product_q[62:0], 1'b0} + (dut.fits ? 64'(dut.divisor) : '0);
    dividend_q <= start ? 64'(dut.x.significand << dut.zeros_x) : dividend_q << 1;
    before_q <= dut.quotient;
    bit_q <= dut.fits;
    steps_q <= !rst_n ? 100 : start ? 0 : steps_q < STEPS ? steps_q + 1 : 100;
  end
  // Not a number, infinity or zero: not divided.
  logic divides;
  assign divides = !dut.is_special;
  always_ff @(posedge clk)
    if (rst_n) begin
      assume (!start || steps_q >= STEPS);
      assume (steps_q >= 0);
      if (steps_q <= STEPS && divides) begin
        assert (dut.divisor[23]);
        assert (dividend_q == {product_q[62:0], 1'b0} + 64'(dut.rest));
        assert ({1'b0, dut.rest} < {1'b0, dut.divisor, 1'b0});
        assert (dividend_q >= 64'h80_0000 << steps_q && dividend_q < 64'h100_0000 << steps_q);
        // The bit that counts in the product is the quotient's.
        assert (steps_q < 1 || dut.quotient == {before_q[24:0], bit_q});
        // The first bit is at place 25 or 24: rounding finds 25 bits.
        assert (steps_q != 0 || product_q == 0);
        assert (steps_q != 1 || product_q == (dut.quotient[0] ? 64'(dut.divisor) : '0));
        assert (steps_q != 2 || dut.quotient[1:0] != 0);
        assert (steps_q < 2 || (dut.quotient >> (steps_q - 2)) % 4 != 0);
      end
      cover (finish && divides && dut.quotient == 26'h2AAAAAA);
      cover (finish && divides && dut.rest == 0 && b[31:23] == 9'd130);
    end
endmodule
