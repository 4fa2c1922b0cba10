// The FMA of a product that may be any number of 48 bits, for fp_fma.smt2: the module's multiplier is cut off, and
// `product` is
// in its place. With `multiplies` the addend is what a multiplication adds.
module prove_fp_fma
  import wave_fp_pkg::*;
(
    input  logic        clk,
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [31:0] c,
    input  logic        multiplies,
    input  logic [47:0] product,
    output logic [31:0] result
);
  fp_t addend;
  always_comb begin
    addend = unpack(c);
    if (multiplies) begin
      addend = FP_ZERO;
      addend.sign = a[31] ^ b[31];
    end
  end
  fp_fma dut (.clk, .a(unpack(a)), .b(unpack(b)), .c(addend), .result);
endmodule
