// Integer operations of one cycle, compares, select and moves, lane by lane.
module integer_lanes
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  op_e    op,
    input  logic [31:0] imm,
    input  lanes_t condition,
    input  row_t   a,
    input  row_t   b,
    input  row_t   c,
    input  row_t   e,
    output row_t   row,
    output lanes_t pred
);
  function automatic logic [31:0] ones(input logic [4:0] width);
    return (32'd1 << width) - 32'd1;
  endfunction
  function automatic logic [31:0] leading_zeros(input logic [31:0] x);
    logic [31:0] n;
    n = 32'hFFFF_FFFF;
    for (int i = 0; i < 32; i++) if (x[i]) n = 32'(31 - i);
    return n;
  endfunction
  function automatic logic [31:0] reversed(input logic [31:0] x);
    logic [31:0] r;
    for (int i = 0; i < 32; i++) r[i] = x[31-i];
    return r;
  endfunction

  logic signed [31:0] sa, sb, sc, low;
  logic [31:0] field;
  always_comb begin
    row = '0;
    pred = '0;
    sa = '0;
    sb = '0;
    sc = '0;
    low = '0;
    field = '0;
    for (int l = 0; l < LANES; l++) begin
      sa = a[l];
      sb = b[l];
      sc = c[l];
      unique case (op)
        OP_IADD: row[l] = a[l] + b[l];
        OP_ISUB: row[l] = a[l] - b[l];
        OP_INEG: row[l] = -a[l];
        OP_IABS: row[l] = sa < 0 ? -a[l] : a[l];
        OP_IMIN: row[l] = sa < sb ? a[l] : b[l];
        OP_IMAX: row[l] = sa > sb ? a[l] : b[l];
        OP_ICLAMP: begin
          low = sa > sb ? sa : sb;
          row[l] = low < sc ? low : sc;
        end
        OP_UMIN: row[l] = a[l] < b[l] ? a[l] : b[l];
        OP_UMAX: row[l] = a[l] > b[l] ? a[l] : b[l];
        OP_AND: row[l] = a[l] & b[l];
        OP_OR: row[l] = a[l] | b[l];
        OP_XOR: row[l] = a[l] ^ b[l];
        OP_NOT: row[l] = ~a[l];
        OP_SHL: row[l] = a[l] << b[l][4:0];
        OP_SHR: row[l] = a[l] >> b[l][4:0];
        OP_SAR: row[l] = sa >>> b[l][4:0];
        OP_BITCOUNT: row[l] = 32'($countones(a[l]));
        OP_BITFIND: row[l] = leading_zeros(a[l]);
        OP_BITREV: row[l] = reversed(a[l]);
        OP_BFE: row[l] = (a[l] >> b[l][4:0]) & ones(c[l][4:0]);
        OP_BFI: begin
          field = ones(e[l][4:0]) << c[l][4:0];
          row[l] = (a[l] & ~field) | ((b[l] << c[l][4:0]) & field);
        end
        OP_ICMP_EQ, OP_UCMP_EQ: pred[l] = a[l] == b[l];
        OP_ICMP_NE, OP_UCMP_NE: pred[l] = a[l] != b[l];
        OP_ICMP_LT: pred[l] = sa < sb;
        OP_ICMP_LE: pred[l] = sa <= sb;
        OP_ICMP_GT: pred[l] = sa > sb;
        OP_ICMP_GE: pred[l] = sa >= sb;
        OP_UCMP_LT: pred[l] = a[l] < b[l];
        OP_UCMP_LE: pred[l] = a[l] <= b[l];
        OP_UCMP_GT: pred[l] = a[l] > b[l];
        OP_UCMP_GE: pred[l] = a[l] >= b[l];
        OP_SELECT: row[l] = condition[l] ? b[l] : c[l];
        OP_MOV, OP_MOV_SR: row[l] = a[l];
        OP_MOV_IMM: row[l] = imm;
        default: ;
      endcase
    end
  end
endmodule
