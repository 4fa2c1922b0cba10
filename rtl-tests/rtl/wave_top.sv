// The machine: dispatcher and core. The test bench drives its launch and its memory port.
module wave_top
  import wave_core_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  launch_t  launch,
    input  logic [MAX_REGISTERS-1:0] initial_valid,
    input  logic [MAX_REGISTERS-1:0][31:0] initial_value,
    input  logic     credit,
    output logic     send,
    output request_t request,
    input  logic     reply_valid,
    input  reply_t   reply,
    output logic     reply_taken,
    output logic     over,             // the grid is done and every store acknowledged, with this cycle
    output trace_t   trace
);
  logic start_valid, finished, idle;
  logic [2:0][31:0] start_id;
  logic [SLOT_BITS:0] done;
  assign over = finished && idle;
  parameters u_parameters ();
  dispatcher u_dispatcher (.clk, .rst_n, .launch, .done, .start_valid, .start_id, .finished);
  wave_core u_core (
      .clk, .rst_n, .launch, .initial_valid, .initial_value, .start_valid, .start_id, .done, .idle, .credit, .send,
      .request, .reply_valid, .reply, .reply_taken, .trace);
endmodule
