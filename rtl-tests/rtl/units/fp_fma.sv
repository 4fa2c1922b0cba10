// a * b + c, rounded once to binary32. Four stages; the last one has no register.
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
    output logic [31:0] result  // of the operands three clocks ago
);
  // Stage 1: product, position of the addend, exponent of the window, special values.
  typedef struct packed {
    logic [47:0] product;
    logic [23:0] addend;
    logic [6:0]  shift;    // of the addend, from bits 76:53 down
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
  logic inf_product;
  always_comb begin
    distance = 11'(c.exponent) - 11'(a.exponent) - 11'(b.exponent) + 11'sd150;
    s1_next.product = a.significand * b.significand;
    at_addend = distance > 11'sd50 || s1_next.product == 0;
    s1_next.addend = c.significand;
    if (at_addend) s1_next.shift = 7'd0;
    else if (distance < -11'sd27) s1_next.shift = 7'd77;
    else s1_next.shift = 7'(11'sd50 - distance);
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

  // Stage 2: the sum's magnitude.
  typedef struct packed {
    logic [77:0] sum;
    logic        sticky;
    logic [9:0]  top;
    logic        sign;
    logic        is_nan;
    logic        is_inf;
    logic        inf_sign;
  } sum_t;

  sum_t s2, s2_next;
  logic [100:0] placed;
  logic [78:0] difference;
  logic negative;
  always_comb begin
    placed = {s1.addend, 77'd0} >> s1.shift;
    s2_next.sticky = placed[23:0] != 0 && !`BUG(2);
    difference = {28'd0, s1.product, 3'd0} - {2'd0, placed[100:24]} - 79'(s2_next.sticky);
    // An addend with bits below the window is smaller than the product.
    negative = s1.subtract && difference[78];
    if (!s1.subtract) s2_next.sum = {27'd0, s1.product, 3'd0} + {1'd0, placed[100:24]};
    else s2_next.sum = negative ? -difference[77:0] : difference[77:0];
    s2_next.top = s1.top;
    // An exact difference of 0 is +0. A sum of zeros of the same sign keeps the sign.
    if (s1.subtract && difference == 0) s2_next.sign = `BUG(3) ? s1.sign : 1'b0;
    else s2_next.sign = s1.sign ^ negative;
    s2_next.is_nan = s1.is_nan;
    s2_next.is_inf = s1.is_inf;
    s2_next.inf_sign = s1.inf_sign;
  end
  always_ff @(posedge clk) s2 <= s2_next;

  // Stage 3: the leading one moves to bit 77, as far as the least exponent permits.
  typedef struct packed {
    logic [23:0] kept;
    logic        guard;
    logic        sticky;
    logic [9:0]  field;    // the exponent field but for the leading one of kept, which adds 1
    logic        sign;
    logic        is_nan;
    logic        is_inf;
    logic        inf_sign;
  } norm_t;

  norm_t s3, s3_next;
  logic [6:0] zeros;
  logic [9:0] shift;
  logic [77:0] shifted;
  always_comb begin
    if (s2.sum[77:46] != 0) zeros = 7'(leading_zeros(s2.sum[77:46]));
    else if (s2.sum[45:14] != 0) zeros = 7'd32 + 7'(leading_zeros(s2.sum[45:14]));
    else zeros = 7'd64 + 7'(leading_zeros({s2.sum[13:0], 18'd0}));
    shift = 10'(zeros) < s2.top ? 10'(zeros) : s2.top - (`BUG(4) ? 10'd0 : 10'd1);
    shifted = s2.sum << shift[6:0];
    s3_next.kept = shifted[77:54];
    s3_next.guard = shifted[53];
    s3_next.sticky = s2.sticky || shifted[52:0] != 0;
    s3_next.field = s2.sum == 0 ? 10'd0 : s2.top - shift - 10'd1;
    s3_next.sign = s2.sign;
    s3_next.is_nan = s2.is_nan;
    s3_next.is_inf = s2.is_inf;
    s3_next.inf_sign = s2.inf_sign;
  end
  always_ff @(posedge clk) s3 <= s3_next;

  // Stage 4: round and pack.
  logic up;
  logic [32:0] packed_bits;
  always_comb begin
    up = s3.guard && (s3.sticky || s3.kept[0] || `BUG(5));
    packed_bits = {s3.field, 23'd0} + 33'(s3.kept) + 33'(up);
    if (s3.is_nan) result = NAN;
    else if (s3.is_inf) result = {s3.inf_sign, INFINITY};
    else if (packed_bits[32:23] >= 10'd255) result = {s3.sign, `BUG(6) ? INFINITY - 31'd1 : INFINITY};
    else result = {s3.sign, packed_bits[30:0]};
  end
endmodule
