// The dispatcher of a machine with one core (rule R1). It sends workgroups in the order of their linear index, at most
// one a cycle, while a workgroup slot is free.
`include "bugs.svh"
`include "events.svh"
module dispatcher
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    input  logic [SLOT_BITS:0] done,        // workgroups that end in this cycle, at the core
    output logic    start_valid,            // a workgroup arrives at the core
    output logic [2:0][31:0] start_id,
    output logic    finished                // every workgroup is done, with the messages of this cycle
);
  localparam int L = DISPATCHER_LATENCY_CYCLES;
  logic [31:0] next_q, free_q, finished_q;
  logic [2:0][31:0] id_q;
  logic begun_q;
  // Messages on their way to the core and back.
  logic start_q[L];
  logic [2:0][31:0] start_id_q[L];
  logic [SLOT_BITS:0] done_q[L];

  logic [31:0] free, next_finished;
  logic sends;
  assign free = (begun_q ? free_q : launch.resident - 32'(`BUG(202))) + 32'(done_q[0]);
  assign next_finished = finished_q + 32'(done_q[0]);
  assign sends = next_q < launch.workgroups && (`BUG(159) && begun_q ? free_q : free) != 0;
  assign finished = next_finished == launch.workgroups;
  assign start_valid = start_q[0];
  assign start_id = start_id_q[0];

  always_ff @(posedge clk) begin
    begun_q <= 1'b1;
    free_q <= free - 32'(sends);
    finished_q <= next_finished;
    if (sends) begin
      next_q <= next_q + 1;
      id_q[0] <= id_q[0] + 1 == launch.grid_size[0] ? '0 : id_q[0] + 1;
      if (id_q[0] + 1 == launch.grid_size[0]) begin
        id_q[1] <= id_q[1] + 1 == launch.grid_size[1] ? '0 : id_q[1] + 1;
        if (id_q[1] + 32'(!`BUG(201)) == launch.grid_size[1]) id_q[2] <= id_q[2] + 1;
      end
    end
    for (int i = 0; i < L - 1; i++) begin
      start_q[i] <= start_q[i+1];
      start_id_q[i] <= start_id_q[i+1];
      done_q[i] <= done_q[i+1];
    end
    start_q[L-1] <= sends;
    start_id_q[L-1] <= id_q;
    done_q[L-1] <= done;
    if (!rst_n) begin
      begun_q <= 1'b0;
      next_q <= '0;
      finished_q <= '0;
      id_q <= '0;
      for (int i = 0; i < L; i++) begin
        start_q[i] <= 1'b0;
        done_q[i] <= '0;
      end
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (finished_q <= next_q) else $error("more workgroups have ended than have begun");
      assert (!begun_q || free <= launch.resident) else $error("more workgroup slots are free than there are");
    end
  // What coverage counts.
  `EVENT(dispatcher_waits, next_q < launch.workgroups && free == 0)
  `EVENT(dispatcher_sends, sends)
  `EVENT(dispatcher_next_row, sends && id_q[0] + 1 == launch.grid_size[0])
  `EVENT(dispatcher_next_layer, sends && id_q[0] + 1 == launch.grid_size[0] && id_q[1] + 1 == launch.grid_size[1])
endmodule
