// One lane of the special functions, with the names and steps of docs/special-functions.md. Six stages.
`include "bugs.svh"
module sfu_lane
  import wave_isa_pkg::*;
  import wave_fp_pkg::*;
  import sfu_rom_pkg::*;
(
    input  logic        clk,
    input  op_e         op,
    input  logic [31:0] a,
    output logic [31:0] result  // six clocks later
);
  typedef enum logic [1:0] {
    EXP2,
    LOG2,
    SINE
  } table_e;

  // Values passed through every stage.
  typedef struct packed {
    table_e      function_table;
    logic        sign;           // of the result, but for the logarithm's
    logic        special;        // the result is special_value
    logic [31:0] special_value;
  } common_t;

  // Stage 1: special values; shifts by the exponent.
  /* verilator lint_off UNUSEDSIGNAL */
  fp_t x;
  /* verilator lint_on UNUSEDSIGNAL */
  common_t c1, c1_next;
  logic [37:0] magnitude, magnitude_1;    // fexp2: |a|, Q.30
  logic [4:0] zeros;
  logic [22:0] normalized;                // flog2: fraction
  logic [22:0] f_1;
  logic signed [9:0] power, power_1;
  logic above_1, negative_1, cosine_1;
  logic [95:0] window, window_1;          // of 2/pi
  logic [23:0] m_1;
  always_comb begin
    x = unpack(a);
    magnitude = {x.significand, 14'd0} >> (x.exponent > 8'd134 ? 8'd0 : x.exponent < 8'd71 ? 8'd63 : 8'd134 - x.exponent);
    zeros = 5'(leading_zeros({x.significand, 8'd0}));
    normalized = 23'(x.significand << zeros);
    power = 10'(x.exponent) - 10'(zeros) - 10'sd127 + 10'(normalized[22]);
    window = 96'((TWO_OVER_PI << (x.exponent - 8'd88)) >> 192);
    c1_next.sign = 1'b0;
    c1_next.special = 1'b1;
    c1_next.special_value = NAN;
    case (op)
      OP_FEXP2: begin
        c1_next.function_table = EXP2;
        if (!x.is_nan) begin
          c1_next.special_value = x.sign ? '0 : {1'b0, INFINITY};
          c1_next.special = x.exponent > 8'd134;
        end
      end
      OP_FLOG2: begin
        c1_next.function_table = LOG2;
        if (x.significand == 0) c1_next.special_value = {1'b1, INFINITY};
        else if (a == {1'b0, INFINITY}) c1_next.special_value = a;
        else c1_next.special = x.is_nan || x.sign;
      end
      default: begin
        c1_next.function_table = SINE;
        c1_next.sign = op == OP_FSIN && x.sign && !`BUG(40);
        if (x.exponent < 8'd115) c1_next.special_value = op == OP_FSIN ? a : ONE;
        else c1_next.special = x.exponent == 8'd255;
      end
    endcase
  end
  always_ff @(posedge clk) begin
    c1 <= c1_next;
    magnitude_1 <= magnitude;
    negative_1 <= x.sign;
    f_1 <= normalized;
    above_1 <= normalized[22];
    power_1 <= power;
    window_1 <= window;
    m_1 <= x.significand;
    cosine_1 <= op == OP_FCOS;
  end

  // Stage 2: the signed x of fexp2 and its range; |a| * 2/pi modulo 4.
  common_t c2, c2_next;
  logic signed [38:0] x_fixed, x_fixed_2;
  logic [95:30] turns, turns_2;
  logic [22:0] f_2;
  logic signed [9:0] power_2;
  logic above_2, cosine_2;
  always_comb begin
    x_fixed = negative_1 ? -$signed({1'b0, magnitude_1}) : $signed({1'b0, magnitude_1});
    c2_next = c1;
    if (c1.function_table == EXP2 && (x_fixed >= 39'sd128 <<< 30 || x_fixed <= -(39'sd150 <<< 30)))
      c2_next.special = 1'b1;
    turns = 66'((96'(m_1) * window_1) >> 30);
  end
  always_ff @(posedge clk) begin
    c2 <= c2_next;
    x_fixed_2 <= x_fixed;
    turns_2 <= turns;
    f_2 <= f_1;
    power_2 <= power_1;
    above_2 <= above_1;
    cosine_2 <= cosine_1;
  end

  // Stage 3: the argument of the interpolation, its row of the table, and the product that the quadratic begins with.
  common_t c3, c3_next;
  logic [1:0] quadrant;
  logic [63:0] u;
  logic [29:0] argument;
  logic [4:0] u_zeros;
  logic [31:0] top;
  logic [22:0] t_3;
  segment_t segment_2;
  logic signed [40:0] curve;
  logic signed [24:0] c1_3, curve_3;
  logic [30:0] c0_3;
  logic [31:0] factor_3;              // of the quotient
  logic signed [9:0] exponent_3;      // fexp2 and flog2: power; fsin and fcos: -z
  logic above_3;
  always_comb begin
    quadrant = turns_2[95:94] + 2'(cosine_2);
    u = turns_2[93:30] ^ {64{quadrant[0] && !`BUG(41)}};
    u_zeros = 5'(leading_zeros(u[63:32]));
    top = 32'((u << u_zeros) >> 32);
    c3_next = c2;
    c3_next.sign = c2.sign ^ (c2.function_table == SINE && quadrant[1]);
    case (c2.function_table)
      EXP2: argument = x_fixed_2[29:0];
      LOG2: argument = {f_2, 7'd0};
      default: argument = u[63:34];
    endcase
    segment_2 = segment({c2.function_table, argument[29:23]});
    curve = 41'(segment_2.c2) * $signed({18'd0, argument[22:0]});
  end
  always_ff @(posedge clk) begin
    c3 <= c3_next;
    t_3 <= argument[22:0];
    c0_3 <= segment_2.c0;
    c1_3 <= segment_2.c1;
    curve_3 <= 25'(curve >>> 23);
    above_3 <= above_2;
    case (c2.function_table)
      EXP2: begin
        factor_3 <= '0;
        exponent_3 <= 10'(x_fixed_2 >>> 30);
      end
      LOG2: begin
        factor_3 <= above_2 ? 32'h80_0000 - 32'(f_2) : 32'(f_2) << 1;
        exponent_3 <= power_2;
      end
      default: begin
        factor_3 <= top;
        exponent_3 <= -10'(u_zeros);
      end
    endcase
  end

  // Stage 4: the quadratic.
  common_t c4;
  logic signed [48:0] rise;
  logic signed [24:0] slope;
  logic [30:0] quotient, quotient_4;
  logic [31:0] factor_4;
  logic signed [9:0] exponent_4;
  logic above_4;
  always_comb begin
    slope = c1_3 + curve_3;
    rise = 49'(slope) * $signed({26'd0, t_3});
    quotient = c0_3 + $unsigned(31'(rise >>> 23));
  end
  always_ff @(posedge clk) begin
    c4 <= c3;
    quotient_4 <= quotient;
    factor_4 <= factor_3;
    exponent_4 <= exponent_3;
    above_4 <= above_3;
  end

  // Stage 5: the product, or the sum for the logarithm; its magnitude in 63 bits.
  logic sign_5, sign_5_next, special_5, special_5_next;
  logic [31:0] special_value_5, special_value_5_next;
  logic [62:0] product, significand, significand_5;
  logic signed [63:0] sum;
  logic signed [9:0] leading, leading_5;
  always_comb begin
    product = 63'(factor_4) * 63'(quotient_4);
    sum = 64'(exponent_4) <<< 54;
    sum = above_4 ? sum - $signed({1'b0, product}) : sum + $signed({1'b0, product});
    sign_5_next = c4.sign;
    special_5_next = c4.special;
    special_value_5_next = c4.special_value;
    case (c4.function_table)
      EXP2: begin
        significand = {quotient_4, 32'd0};
        leading = exponent_4;
      end
      LOG2: begin
        significand = 63'(sum[63] ? -sum : sum);
        leading = 10'sd8;
        sign_5_next = sum[63];
        if (sum == 0) begin
          special_5_next = 1'b1;
          if (!c4.special) special_value_5_next = '0;
        end
      end
      default: begin
        significand = product;
        leading = exponent_4;
      end
    endcase
  end
  always_ff @(posedge clk) begin
    sign_5 <= sign_5_next;
    special_5 <= special_5_next;
    special_value_5 <= special_value_5_next;
    significand_5 <= significand;
    leading_5 <= leading;
  end

  // Stage 6: the leading one moves to bit 62; final rounding.
  logic [5:0] shift;
  logic [62:0] shifted;
  logic signed [9:0] weight;
  logic [5:0] dropped;
  logic [63:0] below;
  logic [24:0] kept;
  logic [7:0] field;
  always_comb begin
    shift = significand_5[62:31] != 0 ? leading_zeros(significand_5[62:31])
        : 6'd32 + leading_zeros({significand_5[30:0], 1'b0});
    shifted = significand_5 << shift;
    weight = leading_5 - $signed(10'(shift));
    dropped = weight >= -10'sd126 || `BUG(42) ? 6'd39 : 6'(-10'sd87 - weight);
    field = weight >= -10'sd126 ? 8'(weight + 10'sd126) : 8'd0;
    kept = 25'(shifted >> dropped);
    below = {shifted, 1'b0} << (6'd63 - dropped);  // the dropped bits, the first at bit 63
  end
  always_ff @(posedge clk)
    if (special_5) result <= special_value_5;
    else result <= {sign_5, {field, 23'd0} + 31'(kept) + 31'(rounds_up(kept[0], below[63], below[62:0] != 0))};
endmodule
