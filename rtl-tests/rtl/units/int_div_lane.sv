// One lane of class int_div: restoring division of magnitudes, one bit per clock. After `load`, 32 steps follow, and
// `finish` sets the signs.
`include "bugs.svh"
module int_div_lane (
    input  logic        clk,
    input  logic        load,
    input  logic        finish,
    input  logic        remainder,  // with load
    input  logic [31:0] a,          // with load
    input  logic [31:0] b,          // with load
    output logic [31:0] result      // after finish
);
  logic [31:0] divisor, quotient, rest, trial_rest;
  logic [32:0] trial;
  logic negative_quotient, negative_rest, by_zero, want_rest;
  always_comb begin
    // The dividend leaves `quotient` at the top while the quotient enters at the bottom.
    trial_rest = {rest[30:0], quotient[31]};
    trial = {rest, quotient[31]} - {1'b0, divisor};
  end
  always_ff @(posedge clk) begin
    if (load) begin
      quotient <= a[31] ? -a : a;
      divisor <= b[31] ? -b : b;
      rest <= '0;
      negative_quotient <= a[31] ^ b[31];
      negative_rest <= a[31] ^ (`BUG(30) && b[31]);
      by_zero <= b == 0;
      want_rest <= remainder;
    end else begin
      quotient <= {quotient[30:0], !trial[32]};
      rest <= trial[32] ? trial_rest : trial[31:0];
    end
    if (finish) begin
      if (by_zero && !`BUG(31)) result <= '0;
      else if (want_rest) result <= negative_rest ? -rest : rest;
      else result <= negative_quotient ? -quotient : quotient;
    end
  end
endmodule
