// a * b + c, rounded once to binary32. Three stages; the last one has no register.
//
// The sum is computed in a window of 78 bits. The product is at bits 50:3. The addend is where its exponent puts it, at
// most at bits 76:53. For an addend above that, the product is less than a quarter of its last bit, so its exact place
// does not matter. Below bit 0 only "not zero" counts: a product of at least 2^23 (one factor may be subnormal) keeps
// enough bits, and a smaller one is far below any addend.
`include "bugs.svh"
module fp_fma
  import wave_fp_pkg::*;
(
    input  logic        clk,
    input  fp_t         a,
    input  fp_t         b,
    input  fp_t         c,
    output logic [31:0] result  // of the operands two clocks ago
);
  // Stage 1: the product, the addend at its place in the window with what is below the window, the window's exponent,
  // special values.
  typedef struct packed {
    logic [47:0] product;
    logic [76:0] addend;
    logic        sticky;
    logic [9:0]  top;      // biased exponent of a number whose leading one is at bit 77
    logic        sign;     // of the product
    logic        subtract;
    logic        is_nan;
    logic        is_inf;
    logic        inf_sign;
  } align_t;

  align_t s1, s1_next;
  logic signed [10:0] distance;  // of the addend's bit 0 above the product's
  logic at_addend;
  logic [6:0] down;              // places of the addend, from bits 76:53 down
  logic [100:0] placed;
  logic inf_product;
  always_comb begin
    distance = 11'(c.exponent) - 11'(a.exponent) - 11'(b.exponent) + 11'sd150;
    s1_next.product = a.significand * b.significand;
    at_addend = distance > 11'sd50 || a.significand == 0 || b.significand == 0;
    if (at_addend) down = 7'd0;
    else if (distance < -11'sd27) down = 7'd77;
    else down = 7'(11'sd50 - distance);
    placed = {c.significand, 77'd0} >> down;
    s1_next.addend = placed[100:24];
    s1_next.sticky = placed[23:0] != 0 && !`BUG(2);
    s1_next.top = at_addend ? 10'(c.exponent) + 10'd1 : 10'(a.exponent) + 10'(b.exponent) - 10'd99;
    s1_next.sign = a.sign ^ b.sign;
    s1_next.subtract = a.sign ^ b.sign ^ c.sign;
    inf_product = a.is_inf || b.is_inf;
    s1_next.is_nan = a.is_nan || b.is_nan || c.is_nan
        || (a.is_inf && b.significand == 0) || (b.is_inf && a.significand == 0)
        || (inf_product && c.is_inf && s1_next.subtract && !`BUG(1));
    s1_next.is_inf = inf_product || c.is_inf;
    s1_next.inf_sign = inf_product ? s1_next.sign : c.sign;
  end
  always_ff @(posedge clk) s1 <= s1_next;

  // Stage 2: the sum's magnitude. Both differences are computed, and the one that is not negative is taken. In stage 3 the
  // leading one moves to bit 77, as far as the least exponent permits.
  typedef struct packed {
    logic [77:0] sum;
    logic [6:0]  shift;
    logic        sticky;
    logic        zero;     // the sum is
    logic [9:0]  top;
    logic        sign;
    logic        is_nan;
    logic        is_inf;
    logic        inf_sign;
  } norm_t;

  norm_t s2, s2_next;
  logic [78:0] difference;
  logic [77:0] opposite, sum;
  logic negative;
  logic [6:0] zeros;
  logic [6:0] shift;
  always_comb begin
    // What is below the window makes the addend greater. It is the carry into the difference.
    difference = 79'(({28'd0, s1.product, 3'd0, 1'b1} + {~{2'd0, s1.addend}, !s1.sticky}) >> 1);
    // An addend with bits below the window is smaller than the product.
    opposite = {1'd0, s1.addend} - {27'd0, s1.product, 3'd0};
    negative = s1.subtract && difference[78];
    if (!s1.subtract) sum = {27'd0, s1.product, 3'd0} + {1'd0, s1.addend};
    else sum = negative ? opposite : difference[77:0];
    // An exact difference of 0 is +0. A sum of zeros of the same sign keeps the sign.
    if (s1.subtract && difference == 0) s2_next.sign = `BUG(3) ? s1.sign : 1'b0;
    else s2_next.sign = s1.sign ^ negative;
    if (sum[77:46] != 0) zeros = 7'(leading_zeros(sum[77:46]));
    else if (sum[45:14] != 0) zeros = 7'd32 + 7'(leading_zeros(sum[45:14]));
    else zeros = 7'd64 + 7'(leading_zeros({sum[13:0], 18'd0}));
    shift = 7'(10'(zeros) < s1.top ? 10'(zeros) : s1.top - (`BUG(4) ? 10'd0 : 10'd1));
    s2_next.sum = sum;
    s2_next.shift = shift;
    s2_next.sticky = s1.sticky;
    s2_next.zero = sum == 0;
    s2_next.top = s1.top;
    s2_next.is_nan = s1.is_nan;
    s2_next.is_inf = s1.is_inf;
    s2_next.inf_sign = s1.inf_sign;
  end
  always_ff @(posedge clk) s2 <= s2_next;

  // Stage 3: shift, round and pack.
  logic [77:0] shifted;
  logic [9:0] field;             // of the exponent, but for the leading one, which adds 1
  logic up;
  logic [32:0] packed_bits;
  always_comb begin
    shifted = s2.sum << s2.shift;
    up = shifted[53] && (s2.sticky || shifted[52:0] != 0 || shifted[54] || `BUG(5));
    field = s2.zero ? 10'd0 : s2.top - 10'(s2.shift) - 10'd1;
    packed_bits = {field, 23'd0} + 33'(shifted[77:54]) + 33'(up);
    if (s2.is_nan) result = NAN;
    else if (s2.is_inf) result = {s2.inf_sign, INFINITY};
    else if (packed_bits[32:23] >= 10'd255) result = {s2.sign, `BUG(6) ? INFINITY - 31'd1 : INFINITY};
    else result = {s2.sign, packed_bits[30:0]};
  end
endmodule
