// Proves: after i steps, the first 2i bits of the radicand are root² + rest, and the rest is at most twice the root: so
//   after
//   25 steps the root is that of the radicand, cut off, and it ends in 0 if it is exact
// Method: induction 1, bounded 30, quick
// Mutant: units/fp_sqrt_lane.sv | fits = {rest, radicand[49:48]} >= {1'b0, root, 2'b01}; | fits = {rest,
//   radicand[49:48]} > {1'b0, root, 2'b01};
// Mutant: units/fp_sqrt_lane.sv | rest <= fits ? trial : {rest[23:0], radicand[49:48]}; | rest <= trial;

// root² is kept beside the root: with a 0 it is four times as great, and with a 1 it is (2r + 1)² = 4r² + 4r + 1. What
// comes
// before and behind the steps is in fp_sqrt_lane.smt2.
module prove_fp_sqrt_lane (
    input logic clk,
    input logic rst_n,
    input logic start,
    input logic [31:0] a
);
  localparam int STEPS = 25;
  int steps_q;
  logic finish;
  logic [31:0] result;
  assign finish = steps_q == STEPS;
  fp_sqrt_lane dut (.clk, .start, .finish, .a, .result);

  // The radicand as it was loaded; the bits of it that have been taken.
  logic [49:0] whole_q, square_q, taken;
  logic [24:0] before_q;
  logic bit_q;
  always_comb taken = steps_q >= STEPS ? whole_q : whole_q >> (2 * (STEPS - steps_q));
  always_ff @(posedge clk) begin
    whole_q <= !start ? whole_q : dut.exponent[0] ? {1'b0, dut.significand, 25'd0} : {dut.significand, 26'd0};
    square_q <= start ? '0 : {square_q[47:0], 2'b00} + (dut.fits ? {23'd0, dut.root, 2'b01} : '0);
    before_q <= dut.root;
    bit_q <= dut.fits;
    steps_q <= !rst_n ? 100 : start ? 0 : steps_q < STEPS ? steps_q + 1 : 100;
  end
  always_ff @(posedge clk)
    if (rst_n) begin
      assume (!start || steps_q >= STEPS);
      assume (steps_q >= 0);
      if (steps_q <= STEPS && !dut.is_special) begin
        assert (taken == square_q + 50'(dut.rest));
        assert (dut.rest <= {dut.root, 1'b0});
        assert (dut.radicand == whole_q << (2 * steps_q));
        // The bit that counts in the square is the root's.
        assert (steps_q == 0 ? dut.root == 0 && square_q == 0 : dut.root == {before_q[23:0], bit_q});
        assert (dut.root >> steps_q == 0);
        // The root has 25 bits.
        assert (whole_q[49:48] != 0 && (steps_q == 0 || dut.root >> (steps_q - 1) == 25'd1));
        // The square of an odd number is odd, and the radicand is even.
        assert (square_q[0] == dut.root[0] && whole_q[24:0] == 0);
        assert (steps_q != STEPS || !dut.root[0] || dut.rest != 0);
      end
      cover (finish && !dut.is_special && dut.rest == 0 && dut.root != 25'h1000000);
      cover (finish && !dut.is_special && dut.root[0]);
    end
endmodule
