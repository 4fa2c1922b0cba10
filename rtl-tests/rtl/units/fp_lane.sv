// One lane of the floating-point unit: an FMA for binary32 and the low half, and one for the high half.
`include "bugs.svh"
module fp_lane
  import wave_isa_pkg::*;
  import wave_fp_pkg::*;
(
    input  logic        clk,
    input  op_e         op,
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [31:0] c,
    output logic [31:0] out32,    // four clocks later
    output logic        pred,     // with it
    output logic [31:0] out16     // five clocks later
);
  typedef enum logic [1:0] {
    ADD,
    SUB,
    MUL,
    FMA
  } kind_e;

  format_e format;
  kind_e kind;
  logic both_halves, fract, arithmetic;
  always_comb begin
    case (op)
      OP_HADD, OP_HSUB, OP_HMUL, OP_HMA, OP_HADD2, OP_HMUL2, OP_HMA2: format = F16;
      OP_BADD, OP_BSUB, OP_BMUL, OP_BMA, OP_BADD2, OP_BMUL2, OP_BMA2: format = BF16;
      default: format = F32;
    endcase
    case (op)
      OP_FSUB, OP_HSUB, OP_BSUB: kind = SUB;
      OP_FMUL, OP_HMUL, OP_BMUL, OP_HMUL2, OP_BMUL2: kind = MUL;
      OP_FMA, OP_HMA, OP_BMA, OP_HMA2, OP_BMA2: kind = FMA;
      default: kind = ADD;
    endcase
    both_halves = op inside {OP_HADD2, OP_HMUL2, OP_HMA2, OP_BADD2, OP_BMUL2, OP_BMA2};
    fract = op == OP_FFRACT;
    arithmetic = op inside {OP_FADD, OP_FSUB, OP_FMUL, OP_FMA, OP_FFRACT};
  end

  // The operands of a * b + c.
  typedef struct packed {fp_t a, b, c;} operands_t;

  function automatic operands_t prepare(input kind_e k, input fp_t x, input fp_t y, input fp_t z);
    operands_t o;
    o.a = x;
    o.b = k inside {MUL, FMA} ? y : FP_ONE;
    o.c = k == FMA ? z : y;
    if (k == SUB) o.c.sign = !y.sign;
    if (k == MUL) begin
      // The addend has the product's sign, so that a product of 0 keeps it.
      o.c = FP_ZERO;
      o.c.sign = (x.sign ^ y.sign) && !`BUG(9);
    end
    return o;
  endfunction

  // a - floor(a) without a floor: the fraction of |a|, or 1 minus it.
  function automatic operands_t prepare_fract(input fp_t x);
    operands_t o;
    o = '{a: x, b: FP_ONE, c: FP_ZERO};
    if (x.exponent >= 8'd150) o.a.significand = '0;
    else if (x.exponent >= 8'd127) o.a.significand = x.significand & ~(24'hFF_FFFF << (8'd150 - x.exponent));
    o.a.sign = x.sign && o.a.significand != 0;
    if (o.a.sign) o.c = FP_ONE;
    o.a.is_nan = x.is_nan || x.is_inf;
    return o;
  endfunction

  // Stage 1: the operands, prepared. They come late, behind the choice of an instruction.
  fp_t low_a;
  operands_t low, high, low_1, high_1;
  op_e op_1;
  logic [31:0] a_1, b_1, c_1;
  always_comb begin
    low_a = unpack_as(format, a);
    low = fract ? prepare_fract(low_a)
        : prepare(kind, low_a, unpack_as(format, b), unpack_as(format, c));
    high = prepare(kind, unpack_as(format, a >> 16), unpack_as(format, b >> 16), unpack_as(format, c >> 16));
  end
  always_ff @(posedge clk) begin
    low_1 <= low;
    high_1 <= high;
    op_1 <= op;
    a_1 <= a;
    b_1 <= b;
    c_1 <= c;
  end

  // Stages 2 to 4.
  logic [31:0] low_sum, high_sum;
  fp_fma fma_low (.clk, .a(low_1.a), .b(low_1.b), .c(low_1.c), .result(low_sum));
  fp_fma fma_high (.clk, .a(high_1.a), .b(high_1.b), .c(high_1.c), .result(high_sum));

  logic [31:0] simple_result;
  logic simple_pred;
  fp_simple simple (.op(op_1), .a(a_1), .b(b_1), .c(c_1), .result(simple_result), .pred(simple_pred));

  // Data that bypasses the adders. The simple operations work in stage 2.
  typedef struct packed {
    logic        arithmetic;
    logic        fract;
    format_e     format;
    logic        both_halves;
  } beside_t;

  beside_t s1, s2, s3;
  logic [31:0] simple_2, simple_3;
  logic pred_2, pred_3;
  format_e format_4;
  logic both_halves_4;
  logic [31:0] low_rounded, high_rounded;
  always_ff @(posedge clk) begin
    s1 <= '{arithmetic: arithmetic, fract: fract, format: format, both_halves: both_halves};
    s2 <= s1;
    s3 <= s2;
    simple_2 <= simple_result;
    simple_3 <= simple_2;
    pred_2 <= simple_pred;
    pred_3 <= pred_2;
    format_4 <= s3.format;
    both_halves_4 <= s3.both_halves;
    // 1 minus a fraction can round to 1.
    if (!(`BUG(12) ? s2.arithmetic : s3.arithmetic)) out32 <= simple_3;
    else out32 <= s3.fract && low_sum == ONE && !`BUG(10) ? ONE - 32'd1 : low_sum;
    pred <= pred_3;
    low_rounded <= low_sum;
    high_rounded <= high_sum;
    case (format_4)
      F16: out16 <= {both_halves_4 ? round_to_f16(high_rounded) : 16'd0, round_to_f16(low_rounded)};
      default: out16 <= {both_halves_4 ? round_to_bf16(high_rounded) : 16'd0,
                         `BUG(11) ? low_rounded[31:16] : round_to_bf16(low_rounded)};
    endcase
  end
endmodule
