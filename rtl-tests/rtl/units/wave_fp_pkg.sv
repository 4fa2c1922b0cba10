// Binary32 in the execution units (docs/isa.md section 5): round to nearest even, subnormals kept, one canonical NaN.
/* verilator lint_off UNUSEDPARAM */
package wave_fp_pkg;

  localparam logic [31:0] NAN = 32'h7FC0_0000;
  localparam logic [31:0] ONE = 32'h3F80_0000;
  localparam logic [30:0] INFINITY = 31'h7F80_0000;
  localparam logic [15:0] F16_NAN = 16'h7E00;
  localparam logic [15:0] BF16_NAN = 16'h7FC0;

  // Formats of an operand or result.
  typedef enum logic [1:0] {
    F32,
    F16,
    BF16
  } format_e;

  // (-1)^sign * significand * 2^(exponent - 150). Subnormals have the exponent of the least normal number of their
  // format (1; 113 for f16) and no leading one.
  typedef struct packed {
    logic        sign;
    logic        is_nan;
    logic        is_inf;
    logic [7:0]  exponent;
    logic [23:0] significand;
  } fp_t;

  localparam fp_t FP_ONE = '{exponent: 8'd127, significand: 24'h80_0000, default: '0};
  localparam fp_t FP_ZERO = '{exponent: 8'd1, default: '0};

  function automatic fp_t unpack(input logic [31:0] a);
    fp_t x;
    x.sign = a[31];
    x.is_nan = a[30:0] > INFINITY;
    x.is_inf = a[30:0] == INFINITY;
    x.exponent = a[30:23] == 0 ? 8'd1 : a[30:23];
    x.significand = {a[30:23] != 0, a[22:0]};
    return x;
  endfunction

  function automatic fp_t unpack_f16(input logic [15:0] a);
    fp_t x;
    x.sign = a[15];
    x.is_nan = a[14:0] > 15'h7C00;
    x.is_inf = a[14:0] == 15'h7C00;
    x.exponent = a[14:10] == 0 ? 8'd113 : 8'd112 + 8'(a[14:10]);
    x.significand = {a[14:10] != 0, a[9:0], 13'd0};
    return x;
  endfunction

  // The value in the low bits of a.
  function automatic fp_t unpack_as(input format_e format, input logic [31:0] a);
    case (format)
      F16: return unpack_f16(a[15:0]);
      BF16: return unpack({a[15:0], 16'd0});
      default: return unpack(a);
    endcase
  endfunction

  // Leading zeros of 32 bits, 32 for 0.
  function automatic logic [5:0] leading_zeros(input logic [31:0] x);
    logic [31:0] v;
    logic [4:0] n;
    v = x;
    n = '0;
    if (v[31:16] == 0) begin n[4] = 1'b1; v = v << 16; end
    if (v[31:24] == 0) begin n[3] = 1'b1; v = v << 8; end
    if (v[31:28] == 0) begin n[2] = 1'b1; v = v << 4; end
    if (v[31:30] == 0) begin n[1] = 1'b1; v = v << 2; end
    if (!v[31]) n[0] = 1'b1;
    return x == 0 ? 6'd32 : {1'b0, n};
  endfunction

  // True if rounding to nearest even adds one. guard is the first dropped bit; sticky tells whether a lower one is set.
  function automatic logic rounds_up(input logic odd, input logic guard, input logic sticky);
    return guard && (sticky || odd);
  endfunction

  // f32 rounded to f16.
  function automatic logic [15:0] round_to_f16(input logic [31:0] a);
    logic [4:0] dropped;
    logic [39:0] shifted;
    logic [4:0] field;
    logic [14:0] rounded;
    // Normal numbers keep 11 bits; subnormals keep the bits above 2^-24.
    if (a[30:23] >= 8'd113) dropped = 5'd13;
    else if (a[30:23] > 8'd101) dropped = 5'(8'd126 - a[30:23]);
    else dropped = 5'd25;
    shifted = 40'({a[30:23] != 0, a[22:0], 25'd0} >> dropped);
    // The leading one and a carry add 1 to the exponent field.
    field = a[30:23] >= 8'd113 ? 5'(a[30:23] - 8'd113) : 5'd0;
    rounded = {field, 10'd0} + shifted[39:25] + 15'(rounds_up(shifted[25], shifted[24], shifted[23:0] != 0));
    if (a[30:0] > INFINITY) return F16_NAN;
    return {a[31], a[30:23] >= 8'd143 ? 15'h7C00 : rounded};
  endfunction

  // f32 rounded to bf16.
  function automatic logic [15:0] round_to_bf16(input logic [31:0] a);
    return a[30:0] > INFINITY ? BF16_NAN : a[31:16] + 16'(rounds_up(a[16], a[15], a[14:0] != 0));
  endfunction

  // a < b for numbers, with -0 below +0.
  function automatic logic ordered_below(input logic [31:0] a, input logic [31:0] b);
    case ({a[31], b[31]})
      2'b00: return a[30:0] < b[30:0];
      2'b01: return 1'b0;
      2'b10: return 1'b1;
      default: return b[30:0] < a[30:0];
    endcase
  endfunction

  // minimumNumber or maximumNumber of IEEE 754-2019.
  function automatic logic [31:0] extremum(input logic greatest, input logic [31:0] a, input logic [31:0] b);
    logic nan_a, nan_b;
    nan_a = a[30:0] > INFINITY;
    nan_b = b[30:0] > INFINITY;
    if (nan_a) return nan_b ? NAN : b;
    if (nan_b) return a;
    return ordered_below(a, b) != greatest ? a : b;
  endfunction

endpackage
/* verilator lint_on UNUSEDPARAM */
