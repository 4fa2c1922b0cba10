// One lane of class int: moves, selection, add, logic, shifts, bit fields, compares. Two stages, one operation per
// clock.
`include "bugs.svh"
module int_lane
  import wave_isa_pkg::*;
  import wave_fp_pkg::leading_zeros;
(
    input  logic        clk,
    input  op_e         op,
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [31:0] c,
    input  logic [4:0]  width,
    input  logic        select,
    input  logic [31:0] imm,
    output logic [31:0] result,
    output logic        pred
);
  function automatic logic [31:0] reverse(input logic [31:0] x);
    for (int i = 0; i < 32; i++) reverse[i] = x[31-i];
  endfunction

  // A mask of the low n bits.
  function automatic logic [31:0] low_bits(input logic [4:0] n);
    return (32'd1 << n) - 32'd1;
  endfunction

  // Stage 1. `value` is the result or its first part; `other` is what stage 2 combines it with.
  logic below_signed, below_unsigned, equal, is_unsigned, below;
  logic [31:0] shifted_left, shifted_right, value, other;
  logic sign_fill, flag;
  logic [4:0] left;
  always_comb begin
    equal = a == b;
    below_signed = $signed(a) < $signed(b);
    below_unsigned = a < b;
    is_unsigned = op inside {OP_UMIN, OP_UMAX, OP_UCMP_LT, OP_UCMP_LE, OP_UCMP_GT, OP_UCMP_GE};
    below = is_unsigned || `BUG(20) ? below_unsigned : below_signed;
    left = op == OP_BFI ? c[4:0] : b[4:0];
    shifted_left = (op == OP_BFI ? b : a) << left;
    sign_fill = op == OP_SAR && a[31] && !(`BUG(252) && b[4:0] == 5'd31);
    shifted_right = 32'($signed({sign_fill, a}) >>> b[4:0]);
    other = '0;
    case (op)
      OP_IADD: value = a + b;
      OP_ISUB: value = a - b;
      OP_INEG: value = -a;
      OP_IABS: value = a[31] ? -a : a;
      OP_IMIN, OP_UMIN: value = below ? a : b;
      OP_IMAX, OP_UMAX: value = below ? b : a;
      OP_ICLAMP: begin
        value = below ? b : a;
        other = c;
      end
      OP_AND: value = a & b;
      OP_OR: value = a | b;
      OP_XOR: value = a ^ b;
      OP_NOT: value = ~a;
      OP_SHL: value = `BUG(253) && b[31:5] != 0 ? '0 : shifted_left;
      OP_SHR, OP_SAR: value = shifted_right;
      OP_BITREV: value = reverse(a);
      OP_BFE: begin
        value = shifted_right;
        other = low_bits(c[4:0]);
      end
      OP_BFI: begin
        value = shifted_left;
        other = low_bits(width) << c[4:0];
      end
      OP_SELECT: value = select ? b : c;
      OP_MOV_IMM: value = imm;
      // bitcount and bitfind are computed in stage 2. The row of mov_sr comes from elsewhere.
      default: value = a;
    endcase
    case (op)
      OP_ICMP_EQ, OP_UCMP_EQ: flag = equal;
      OP_ICMP_NE, OP_UCMP_NE: flag = !equal;
      OP_ICMP_LT, OP_UCMP_LT: flag = below;
      OP_ICMP_LE, OP_UCMP_LE: flag = below || equal;
      OP_ICMP_GT, OP_UCMP_GT: flag = !below && !equal;
      OP_ICMP_GE, OP_UCMP_GE: flag = !below;
      default: flag = 1'b0;
    endcase
  end

  op_e op_1;
  logic [31:0] value_1, other_1, base_1;
  logic flag_1;
  always_ff @(posedge clk) begin
    op_1 <= op;
    value_1 <= value;
    other_1 <= other;
    base_1 <= a;
    flag_1 <= flag;
  end

  // Stage 2.
  logic [31:0] count;
  always_comb begin
    count = '0;
    for (int i = 0; i < 32; i++) count += 32'(value_1[i]);
  end
  always_ff @(posedge clk) begin
    case (op_1)
      OP_ICLAMP: result <= (`BUG(254) ? value_1 < other_1 : $signed(value_1) < $signed(other_1)) ? value_1 : other_1;
      OP_BITCOUNT: result <= count;
      OP_BITFIND: result <= value_1 == 0 && !`BUG(21) ? '1 : 32'(leading_zeros(value_1));
      OP_BFE: result <= value_1 & other_1;
      OP_BFI: result <= (value_1 & other_1) | (base_1 & ~other_1);
      default: result <= value_1;
    endcase
    pred <= flag_1;
  end
endmodule
