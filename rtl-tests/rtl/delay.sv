// Keeps a result for a fixed number of cycles, with as many places as results can be on their way.
module delay
  import wave_core_pkg::*;
#(
    parameter int LATENCY = 1
) (
    input  logic   clk,
    input  logic   rst_n,
    input  logic   valid,
    input  row_t   row,
    input  lanes_t pred,
    output row_t   row_out,
    output lanes_t pred_out
);
  localparam int PTR_BITS = LATENCY > 1 ? $clog2(LATENCY) : 1;
  logic [PTR_BITS-1:0] at_q;
  row_t   rows_q[LATENCY];
  lanes_t preds_q[LATENCY];
  assign row_out = rows_q[at_q];
  assign pred_out = preds_q[at_q];
  always_ff @(posedge clk) begin
    at_q <= int'(at_q) == LATENCY - 1 ? '0 : at_q + 1'b1;
    if (valid) begin
      rows_q[at_q] <= row;
      preds_q[at_q] <= pred;
    end
    if (!rst_n) at_q <= '0;
  end
endmodule
