// Proves: workgroups arrive in the order of their linear index, each once: the first is (0, 0, 0), and each has the
//   index that
//   follows that of the one before; one sets out whenever a slot is free; no more are resident than fit; it is finished
//   exactly when all have arrived and ended
// Method: induction 1, bounded 12
// Mutant: 159
// Mutant: 201
// Mutant: dispatcher.sv | free_q <= free - 32'(sends); | free_q <= free;
// Mutant: dispatcher.sv | assign finished = next_finished == launch.workgroups; | assign finished = finished_q + 1 ==
//   launch.workgroups;
module prove_dispatcher
  import wave_core_pkg::*;
(
    input logic    clk,
    input logic    rst_n,
    input logic    [2:0][31:0] grid_size,
    input logic    [31:0] workgroups,
    input logic    [31:0] fit,
    input logic    [SLOT_BITS:0] done
);
  launch_t launch;
  logic start_valid, finished;
  logic [2:0][31:0] start_id;
  dispatcher dut (.clk, .rst_n, .launch, .done, .start_valid, .start_id, .finished);

  // The numbers of the launch do not change while it runs.
  logic [2:0][31:0] size_q;
  logic [31:0] groups_q, fit_q;
  always_comb begin
    launch = '0;
    launch.grid_size = size_q;
    launch.workgroups = groups_q;
    launch.resident = fit_q;
  end
  always_ff @(posedge clk)
    if (!rst_n) begin
      size_q <= grid_size;
      groups_q <= workgroups;
      fit_q <= fit;
    end

  // Workgroups that have arrived, and of these, that have ended; messages of the cycle before.
  logic [31:0] arrived_q, ended_q, expected;
  logic [2:0][31:0] next_q;
  logic [SLOT_BITS:0] done_q;
  logic running_q;
  always_ff @(posedge clk) begin
    running_q <= rst_n;
    done_q <= rst_n ? done : '0;
    arrived_q <= rst_n ? arrived_q + 32'(start_valid) : '0;
    ended_q <= rst_n ? ended_q + 32'(done) : '0;
    if (start_valid) begin
      next_q[0] <= next_q[0] + 1;
      if (next_q[0] == size_q[0] - 1) begin
        next_q[0] <= '0;
        next_q[1] <= next_q[1] + 1;
        if (next_q[1] == size_q[1] - 1) begin
          next_q[1] <= '0;
          next_q[2] <= next_q[2] + 1;
        end
      end
    end
    if (!rst_n) next_q <= '0;
  end
  // Workgroups that have been sent and whose end the dispatcher has not heard of.
  logic [31:0] sent, out;
  assign sent = arrived_q + 32'(start_valid);
  assign out = sent - (ended_q - 32'(done_q));

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (size_q[0] != 0 && size_q[1] != 0 && size_q[2] != 0 && groups_q != '1 && fit_q != 0 && fit_q < 32'd1000);
      // What ends has arrived.
      assume (32'(done) <= arrived_q - ended_q);
      assert (!start_valid || start_id == next_q);
      assert (sent <= groups_q && out <= fit_q);
      assert (finished == (ended_q == groups_q));
      // What makes the induction go.
      assert (ended_q <= arrived_q && 32'(done_q) <= ended_q && arrived_q <= groups_q);
      assert (dut.begun_q == (dut.begun_q && running_q) && dut.next_q == sent
          && dut.finished_q == ended_q - 32'(done_q));
      assert (dut.begun_q ? dut.free_q == fit_q - out : sent == 0 && out == 0 && ended_q == 0);
      assert (dut.done_q[0] == done_q);
      assert (dut.id_q == (start_valid ? after(next_q) : next_q));
      // One sets out unless all have, or all slots are taken.
      assert (dut.sends == (sent < groups_q && out - 32'(done_q) < fit_q));
      cover (finished && groups_q == 3);
      cover (start_valid && start_id[2] == 1 && size_q[1] == 2);
      cover (out == 1 && done_q == 1);
    end

  function automatic logic [2:0][31:0] after(input logic [2:0][31:0] id);
    after = id;
    after[0] = id[0] + 1 == size_q[0] ? '0 : id[0] + 1;
    if (id[0] + 1 == size_q[0]) begin
      after[1] = id[1] + 1 == size_q[1] ? '0 : id[1] + 1;
      if (id[1] + 1 == size_q[1]) after[2] = id[2] + 1;
    end
  endfunction
endmodule
