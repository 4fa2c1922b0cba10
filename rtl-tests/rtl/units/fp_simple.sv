// Binary32 operations without an adder: signs, minimum and maximum, rounding to integers, compares. Combinational.
`include "bugs.svh"
module fp_simple
  import wave_isa_pkg::*;
  import wave_fp_pkg::*;
(
    input  op_e         op,
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [31:0] c,
    output logic [31:0] result,
    output logic        pred
);
  logic nan_a, nan_b, zeros, below, equal;
  always_comb begin
    nan_a = a[30:0] > INFINITY;
    nan_b = b[30:0] > INFINITY;
    zeros = a[30:0] == 0 && b[30:0] == 0;
    equal = !nan_a && !nan_b && (a == b || (zeros && !`BUG(257)));
    below = !nan_a && !nan_b && !(zeros && !`BUG(7)) && ordered_below(a, b);
    case (op)
      OP_FCMP_EQ: pred = equal;
      OP_FCMP_NE: pred = !equal && !(`BUG(259) && (nan_a || nan_b));
      OP_FCMP_LT: pred = below;
      OP_FCMP_LE: pred = below || equal;
      OP_FCMP_GT: pred = !below && !equal && !nan_a && !nan_b;
      OP_FCMP_GE: pred = !below && !nan_a && !nan_b;
      OP_FCMP_ORD: pred = !nan_a && !nan_b;
      OP_FCMP_UNORD: pred = nan_a || nan_b;
      default: pred = 1'b0;
    endcase
  end

  // Rounding to an integer. There are 150 - exponent fraction bits below the integer bits, at most 24 here.
  logic [4:0] fraction_bits;
  logic [23:0] unit, fraction, half;
  logic [30:0] truncated, integral;
  logic away;
  always_comb begin
    // Below 1/2 the result is 0 or 1; between 1/2 and 1 the hidden bit is the first fraction bit.
    fraction_bits = a[30:23] >= 8'd127 ? 5'(8'd150 - a[30:23]) : 5'd24;
    unit = 24'd1 << fraction_bits;  // 0 below 1
    fraction = {a[30:23] != 0, a[22:0]} & (unit - 24'd1);
    half = 24'd1 << (fraction_bits - 5'd1);
    truncated = a[30:23] >= 8'd127 ? a[30:0] & ~{7'd0, unit - 24'd1} : '0;
    case (op)
      OP_FFLOOR: away = a[31] && fraction != 0;
      OP_FCEIL: away = !a[31] && fraction != 0;
      OP_FROUND:
      if (a[30:23] >= 8'd127)
        away = fraction > half || (fraction == half && (`BUG(8) || (a[30:0] & 31'(unit)) != 0));
      else away = a[30:0] > 31'h3F00_0000 - 31'(`BUG(256));
      default: away = 1'b0;
    endcase
    if (!away) integral = truncated;
    else if (a[30:23] >= 8'd127) integral = truncated + 31'(unit);
    else integral = ONE[30:0];
  end

  always_comb begin
    case (op)
      OP_FNEG: result = {!a[31], a[30:0]};
      OP_FABS: result = {1'b0, a[30:0]};
      OP_FMIN: result = extremum(1'b0, a, b);
      OP_FMAX: result = extremum(1'b1, a, b);
      OP_FCLAMP: result = `BUG(258) ? extremum(1'b1, extremum(1'b0, a, c), b) : extremum(1'b0, extremum(1'b1, a, b), c);
      OP_FSAT:
      if (a[31] || (nan_a && !`BUG(255))) result = '0;
      else result = a[30:0] > ONE[30:0] ? ONE : a;
      OP_FFLOOR, OP_FCEIL, OP_FROUND, OP_FTRUNC:
      if (nan_a) result = NAN;
      else if (a[30:23] >= 8'd150) result = a;
      else result = {a[31], integral};
      default: result = '0;
    endcase
  end
endmodule
