// Classes fp32 and fp16: four and five stages, one operation per clock. Each class has its own result, because an fp32
// operation can end in the same clock as the fp16 operation before it.
module unit_fp
  import wave_isa_pkg::*;
#(
    parameter int LANES = 8,
    parameter int LATENCY_FP32 = 4,
    parameter int LATENCY_FP16 = 5
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid_fp32,
    input  logic                   valid_fp16,
    input  op_e                    op,
    input  logic [LANES-1:0][31:0] a,
    input  logic [LANES-1:0][31:0] b,
    input  logic [LANES-1:0][31:0] c,
    output logic                   out_valid_fp32,
    output logic [LANES-1:0][31:0] out_row_fp32,
    output logic [LANES-1:0]       out_pred_fp32,
    output logic                   out_valid_fp16,
    output logic [LANES-1:0][31:0] out_row_fp16
);
  if (LATENCY_FP32 < 4 || LATENCY_FP16 < 5) begin : g_check
    $error("unit_fp has 4 stages for fp32 and 5 for fp16");
  end

  logic [LANES-1:0][31:0] row32, row16;
  logic [LANES-1:0] pred;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    fp_lane lane (
        .clk, .op, .a(a[i]), .b(b[i]), .c(c[i]), .out32(row32[i]), .pred(pred[i]), .out16(row16[i])
    );
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY_FP32)) valid32 (.clk, .rst_n, .in(valid_fp32), .out(out_valid_fp32));
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY_FP16)) valid16 (.clk, .rst_n, .in(valid_fp16), .out(out_valid_fp16));
  unit_delay #(.WIDTH(33 * LANES), .CYCLES(LATENCY_FP32 - 4)) rest32 (
      .clk, .rst_n, .in({row32, pred}), .out({out_row_fp32, out_pred_fp32})
  );
  unit_delay #(.WIDTH(32 * LANES), .CYCLES(LATENCY_FP16 - 5)) rest16 (.clk, .rst_n, .in(row16), .out(out_row_fp16));
endmodule
