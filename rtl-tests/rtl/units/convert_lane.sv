// One lane of class convert: f32 to and from integers, f16 and bf16. Three stages, one operation per clock.
`include "bugs.svh"
module convert_lane
  import wave_isa_pkg::*;
  import wave_fp_pkg::*;
(
    input  logic        clk,
    input  op_e         op,
    input  logic [31:0] a,
    output logic [31:0] result
);
  // Stage 1: the magnitude that becomes f32, whose leading one is at bit 31 if the exponent is `exponent_1`. For an
  // integer result: the shifted significand.
  /* verilator lint_off UNUSEDSIGNAL */
  fp_t half, single;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [31:0] magnitude;
  logic [7:0] exponent, places;
  logic sign;
  always_comb begin
    half = unpack_f16(a[15:0]);
    single = unpack(a);
    sign = a[31];
    exponent = 8'd158;
    places = 8'd158 - single.exponent;
    case (op)
      OP_CVT_F32_I32: magnitude = a[31] ? -a : a;
      OP_CVT_F32_F16: begin
        magnitude = {half.significand, 8'd0};
        exponent = half.exponent;
        sign = half.sign;
      end
      OP_CVT_I32_F32, OP_CVT_U32_F32: magnitude = places[7:5] != 0 ? '0 : {single.significand, 8'd0} >> places[4:0];
      default: begin
        magnitude = a;
        sign = 1'b0;
      end
    endcase
  end

  op_e op_1, op_2;
  logic [31:0] a_1, magnitude_1, a_2, normalized_2;
  logic [7:0] exponent_1, exponent_2;
  logic sign_1, sign_2;
  always_ff @(posedge clk) begin
    op_1 <= op;
    a_1 <= a;
    magnitude_1 <= magnitude;
    exponent_1 <= exponent;
    sign_1 <= sign;
  end

  // Stage 2: normalize; saturate integers.
  logic [5:0] zeros;
  logic [31:0] integer_value;
  always_comb begin
    zeros = leading_zeros(magnitude_1);
    if (op_1 == OP_CVT_I32_F32) begin
      if (a_1[30:23] >= 8'd158) integer_value = sign_1 || `BUG(23) ? 32'h8000_0000 : 32'h7FFF_FFFF;
      else integer_value = sign_1 ? -magnitude_1 : magnitude_1;
    end else begin
      if (sign_1) integer_value = '0;
      else integer_value = a_1[30:23] >= 8'd159 - 8'(`BUG(250)) ? '1 : magnitude_1;
    end
    if (a_1[30:0] > INFINITY && !`BUG(249)) integer_value = '0;
  end
  always_ff @(posedge clk) begin
    op_2 <= op_1;
    sign_2 <= sign_1;
    exponent_2 <= zeros == 6'd32 ? 8'd0 : exponent_1 - 8'(zeros) - 8'd1;
    normalized_2 <= magnitude_1 << zeros;
    a_2 <= op_1 inside {OP_CVT_I32_F32, OP_CVT_U32_F32} ? integer_value : a_1;
  end

  // Stage 3: round.
  logic [30:0] rounded;
  always_comb
    rounded = {exponent_2, 23'd0} + 31'(normalized_2[31:8])
        + 31'(rounds_up(normalized_2[8], normalized_2[7], normalized_2[6:0] != 0 && !`BUG(248)));
  always_ff @(posedge clk)
    case (op_2)
      OP_CVT_F32_I32, OP_CVT_F32_U32: result <= {sign_2, rounded};
      OP_CVT_F32_F16:
      if (a_2[14:0] > 15'h7C00) result <= NAN;
      else if (a_2[14:0] == 15'h7C00) result <= {sign_2, INFINITY};
      else result <= {sign_2, rounded};
      OP_CVT_F16_F32: result <= {16'd0, round_to_f16(a_2)};
      OP_CVT_F32_BF16: result <= a_2[14:0] > INFINITY[30:16] && !`BUG(251) ? NAN : {a_2[15:0], 16'd0};
      OP_CVT_BF16_F32: result <= {16'd0, round_to_bf16(a_2)};
      default: result <= a_2;
    endcase
endmodule
