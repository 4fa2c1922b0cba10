// Quotients and remainders, truncated towards zero; by 0 they are 0.
module divide_lanes
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic valid,
    input  op_e  op,
    input  row_t a,
    input  row_t b,
    output row_t row
);
  logic [31:0] dividend, divisor, quotient, remainder;
  always_comb begin
    row = '0;
    dividend = '0;
    divisor = '0;
    quotient = '0;
    remainder = '0;
    if (valid)
      for (int l = 0; l < LANES; l++) begin
        dividend = a[l][31] ? -a[l] : a[l];
        divisor = b[l][31] ? -b[l] : b[l];
        quotient = divisor == 0 ? '0 : dividend / divisor;
        remainder = divisor == 0 ? '0 : dividend % divisor;
        if (op == OP_IDIV) row[l] = a[l][31] != b[l][31] ? -quotient : quotient;
        else row[l] = a[l][31] ? -remainder : remainder;
      end
  end
endmodule
