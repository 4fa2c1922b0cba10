// Proves: a barrier lets a wave go exactly when all live waves of its workgroup are at it, all of them at once, and
//   never later
//   than in the cycle in which the last one has reached it or ends; an arriving workgroup takes free slots, as many as
//   it has
//   waves, in order, with exactly its threads; a slot is free only when its wave has ended and drained; workgroups'
//   slots
//   do not overlap; the module's assertions
// Method: induction 1, bounded 12, quick
// Mutant: 126
// Mutant: 127
// Mutant: 128
// Mutant: workgroup.sv | (live & ~at_barrier_q) == 0) passes = live; | (live & ~at_barrier_q) == 0) passes =
//   group_slots_q[group_of[slot]];
// Mutant: 204
// Mutant: workgroup.sv | '0 : at_barrier_q & ~passes) | '0 : at_barrier_q)
module prove_workgroup
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input logic    clk,
    input logic    rst_n,
    input logic    [31:0] threads,
    input logic    start_valid,
    input logic    [2:0][31:0] start_id,
    input slots_t  drained,
    input logic    end_wave,
    input slot_t   end_slot,
    input slots_t  barrier
);
  launch_t launch;
  slots_t started, resident, ended, at_barrier, passes;
  lanes_t started_lanes[MAX_WAVES];
  group_t started_group;
  logic   [SLOT_BITS:0] done;
  logic   empty, reaches_q;
  slot_t  slot, reached_slot_q;
  group_t group_of[MAX_WAVES];
  logic   [SLOT_BITS-1:0] wave_id[MAX_WAVES];
  logic   [2:0][31:0] group_id[MAX_WORKGROUPS];
  assign slot = reaches_q ? reached_slot_q : end_slot;
  workgroup dut (.*, .reaches(reaches_q));

  // Threads of a workgroup; its waves follow.
  logic [31:0] threads_q;
  always_comb begin
    launch = '0;
    launch.threads = threads_q;
    launch.waves = (threads_q + LANES - 1) / LANES;
  end

  // Waves that have started and not left, and that have ended; the sets of each workgroup; waves at the barrier.
  slots_t there_q, over_q, over, at_q, live[MAX_WORKGROUPS], leaving;
  slots_t members_q[MAX_WORKGROUPS];
  always_comb begin
    over = over_q;
    if (end_wave) over[slot] = 1'b1;
    for (int g = 0; g < MAX_WORKGROUPS; g++) live[g] = members_q[g] & there_q & ~over;
    leaving = over & drained;
  end
  always_ff @(posedge clk) begin
    if (!rst_n) threads_q <= threads;
    reaches_q <= rst_n && barrier != 0;
    reached_slot_q <= slot_of(barrier);
    over_q <= rst_n ? over & ~leaving : '0;
    there_q <= rst_n ? (there_q | started) & ~leaving : '0;
    at_q <= rst_n ? (at_q & ~passes) | barrier : '0;
    for (int g = 0; g < MAX_WORKGROUPS; g++)
      members_q[g] <= !rst_n ? '0 : (start_valid && started_group == group_t'(g) ? started : members_q[g] & ~leaving);
  end

  int free, count;
  slots_t taken;
  logic group_free;
  always_comb begin
    free = $countones(~there_q);
    count = 0;
    group_free = 1'b0;
    for (int w = 0; w < MAX_WAVES; w++) count = count + $countones(started_lanes[w]);
    for (int g = 0; g < MAX_WORKGROUPS; g++) if (members_q[g] == 0) group_free = 1'b1;
  end

  always_ff @(posedge clk)
    if (rst_n) begin
      // The dispatcher knows what fits. A wave that acts is there and has not ended; what issues does so a cycle before
      // it acts,
      // and neither at a barrier nor while its wave acts.
      assume (threads_q != 0 && threads_q <= MAX_WAVES * LANES);
      assume (!start_valid || (free >= int'(launch.waves) && group_free));
      assume (!(end_wave && reaches_q));
      assume (!end_wave || (there_q[slot] && !over_q[slot] && !at_q[slot]));
      assume (barrier == 0 || ($countones(barrier) == 1
          && (barrier & (there_q | started) & ~(over | at_q)) == barrier));

      for (int g = 0; g < MAX_WORKGROUPS; g++) begin
        assert ((passes & members_q[g]) == 0 || (passes & members_q[g]) == live[g]);
        assert ((passes & members_q[g]) == 0 || (live[g] & ~at_q) == 0);
        // None waits for nothing.
        assert (live[g] == 0 || (live[g] & ~at_q) != 0 || (passes & members_q[g]) == live[g]);
        for (int h = 0; h < g; h++) assert ((members_q[g] & members_q[h]) == 0);
        assert (dut.group_resident_q[g] == (members_q[g] != 0) && (members_q[g] & ~there_q) == 0);
        assert (!dut.group_resident_q[g] || dut.group_slots_q[g] == members_q[g]);
      end
      assert ((passes & ~at_q) == 0);
      assert (!start_valid || ((started & there_q) == 0 && $countones(started) == int'(launch.waves)
          && count == int'(threads_q)));
      assert (start_valid || started == 0);
      assert (!start_valid || members_q[started_group] == 0);
      for (int w = 0; w < MAX_WAVES; w++) begin
        // The lowest slots in the order of waves; only the last wave has fewer threads than lanes.
        assert (!started[w] || started_lanes[w] == '1 || (started_lanes[w] & (started_lanes[w] + 1'b1)) == 0);
        assert (!started[w] || started_lanes[w] == '1 || int'(dut.start_wave[w]) == int'(launch.waves) - 1);
        assert (!started[w] || started_lanes[w] != 0);
        if (w > 0) assert (!(started[w] && !there_q[w-1]) || started[w-1]);
        assert (!there_q[w] || members_q[group_of[w]][w]);
      end
      // What makes the induction go.
      assert (dut.resident_q == there_q && dut.ended_q == over_q && dut.at_barrier_q == at_q);
      assert ((over_q & ~there_q) == 0 && (at_q & (over_q | ~there_q)) == 0);
      assert (!reaches_q || (at_q[slot] && there_q[slot]));
      // All live waves are at the barrier only in the cycle in which they leave it.
      cover (passes == 4'b0101 && end_wave);
      cover (reaches_q && passes == 4'b1010 && there_q == '1);
      cover (start_valid && there_q == 4'b0010 && started == 4'b0101);
      cover (done == 1 && empty);
    end
endmodule
