// Products.
module multiply_lanes
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  op_e  op,
    input  row_t a,
    input  row_t b,
    input  row_t c,
    output row_t row
);
  logic [63:0] product;
  always_comb begin
    product = '0;
    for (int l = 0; l < LANES; l++) begin
      product = 64'(a[l]) * 64'(b[l]);
      unique case (op)
        OP_IMUL_HI: row[l] = product[63:32];
        OP_IMAD: row[l] = product[31:0] + c[l];
        default: row[l] = product[31:0];
      endcase
    end
  end
endmodule
