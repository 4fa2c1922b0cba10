// Workgroups resident on the core (rules R1 to R3, B4): slots, barriers and their end.
`include "bugs.svh"
`include "events.svh"
module workgroup
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    // A workgroup arrives.
    input  logic    start_valid,
    input  logic [2:0][31:0] start_id,
    output slots_t  started,               // its waves
    output lanes_t  started_lanes[MAX_WAVES],
    output group_t  started_group,
    output slots_t  resident,              // after the arrival
    output slots_t  ended,                 // waves without live lanes, before stage resolve
    output slots_t  at_barrier,            // and waves at a barrier
    input  slots_t  drained,               // nothing in flight, before this cycle
    // Stage resolve: the wave in `slot` has reached a barrier in the cycle before, or ends.
    input  logic    reaches,
    input  logic    end_wave,
    input  slot_t   slot,
    output slots_t  passes,                // waves that a barrier lets go
    // Issue: the wave that reaches a barrier.
    input  slots_t  barrier,
    output logic [SLOT_BITS:0] done,       // workgroups whose last slot is free now
    output logic    empty,                 // no wave is left after this cycle
    // Of each slot, for special registers, local memory and the trace.
    output group_t  group_of[MAX_WAVES],
    output logic [SLOT_BITS-1:0] wave_id[MAX_WAVES],
    output logic [2:0][31:0] group_id[MAX_WORKGROUPS]
);
  slots_t resident_q, ended_q, at_barrier_q;
  logic [MAX_WORKGROUPS-1:0] group_resident_q;
  slots_t group_slots_q[MAX_WORKGROUPS];

  assign ended = ended_q;
  assign at_barrier = at_barrier_q;

  // Arrival: the workgroup takes the lowest free slots, wave 0 the lowest of them. So the free slots below a slot say
  // which wave takes it. They are counted in the cycle before, since much of the arrival's cycle depends on it.
  typedef logic [SLOT_BITS:0] waves_t;
  typedef logic [SLOT_BITS+LANE_BITS:0] threads_t;
  waves_t free_below_q[MAX_WAVES];
  logic [SLOT_BITS-1:0] start_wave[MAX_WAVES];
  logic group_found;
  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      started[w] = start_valid && !resident_q[w] && free_below_q[w] < waves_t'(launch.waves);
      start_wave[w] = started[w] ? (`BUG(203) ? SLOT_BITS'(w) : SLOT_BITS'(free_below_q[w])) : '0;
      for (int l = 0; l < LANES; l++)
        started_lanes[w][l] = started[w]
            && ({free_below_q[w], LANE_BITS'(unsigned'(l))} < threads_t'(launch.threads) || `BUG(127));
    end
    started_group = '0;
    group_found = 1'b0;
    for (int g = 0; g < MAX_WORKGROUPS; g++)
      if (!group_found && !group_resident_q[g]) begin
        started_group = group_t'(g);
        group_found = 1'b1;
      end
  end
  assign resident = resident_q | started;

  // The wave that ends, or that has reached the barrier, may be the last one that the others wait for.
  slots_t ended_d, live;
  always_comb begin
    ended_d = ended_q;
    if (end_wave) ended_d[slot] = 1'b1;
    live = group_slots_q[group_of[slot]] & resident_q & (`BUG(126) ? '1 : ~ended_d);
    passes = '0;
    if ((reaches || (end_wave && !`BUG(204))) && live != 0 && (live & ~at_barrier_q) == 0) passes = live;
  end

  // Slots free from the next cycle on: those of ended waves with nothing in flight.
  slots_t freed;
  assign freed = ended_d & (`BUG(128) ? '1 : drained);
  slots_t group_left[MAX_WORKGROUPS];
  logic [MAX_WORKGROUPS-1:0] group_over;
  always_comb begin
    done = '0;
    for (int g = 0; g < MAX_WORKGROUPS; g++) begin
      group_left[g] = group_slots_q[g] & ~freed;
      group_over[g] = group_resident_q[g] && group_left[g] == 0;
      if (group_over[g]) done = done + 1'b1;
    end
  end
  slots_t resident_left;
  assign resident_left = resident & ~freed;
  assign empty = resident_left == 0;

  always_ff @(posedge clk) begin
    resident_q <= resident_left;
    for (int w = 0; w < MAX_WAVES; w++)
      free_below_q[w] <= waves_t'($countones(~resident_left & ((slots_t'(1) << w) - slots_t'(1))));
    ended_q <= ended_d & ~freed;
    at_barrier_q <= (`BUG(206) && passes != 0 ? '0 : at_barrier_q & ~passes) | barrier;
    group_resident_q <= group_resident_q & ~group_over;
    for (int g = 0; g < MAX_WORKGROUPS; g++) group_slots_q[g] <= group_left[g];
    if (start_valid) begin
      group_resident_q[started_group] <= 1'b1;
      group_slots_q[started_group] <= started;
      group_id[started_group] <= start_id;
      if (`BUG(205)) for (int g = 0; g < MAX_WORKGROUPS; g++) group_id[g] <= start_id;
    end
    for (int w = 0; w < MAX_WAVES; w++)
      if (started[w]) begin
        group_of[w] <= started_group;
        wave_id[w] <= start_wave[w];
      end
    if (!rst_n) begin
      resident_q <= '0;
      for (int w = 0; w < MAX_WAVES; w++) free_below_q[w] <= waves_t'(unsigned'(w));
      ended_q <= '0;
      at_barrier_q <= '0;
      group_resident_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!start_valid || $countones(started) == int'(launch.waves))
      else $error("a workgroup comes that does not fit");
      for (int w = 0; w < MAX_WAVES; w++)
        assert (int'(free_below_q[w]) == $countones(~resident_q & ((slots_t'(1) << w) - slots_t'(1))))
        else $error("free slots are counted wrongly");
      assert (!start_valid || group_found) else $error("a workgroup comes without a workgroup slot");
      assert (!(reaches || end_wave) || resident_q[slot]) else $error("a wave acts that is not there");
      assert (!reaches || at_barrier_q[slot]) else $error("a wave has reached a barrier and is not at it");
      assert ((ended_q & ~resident_q) == 0) else $error("a free slot has a wave that has ended");
      assert ((at_barrier_q & ended_q & resident_q) == 0) else $error("a wave that has ended is at a barrier");
    end
  // What coverage counts.
  `EVENT(workgroup_arrives, start_valid)
  `EVENT(workgroup_arrives_behind_others, start_valid && resident_q[0])
  `EVENT(workgroup_arrives_as_one_ends, start_valid && done != 0)
  `EVENT(workgroup_of_several_waves, start_valid && $countones(started) > 1)
  `EVENT(workgroup_with_idle_lanes, start_valid && started_lanes[0] != '1)
  `EVENT(workgroups_end_together, done > 1)
  `EVENT(workgroup_slots_full, group_resident_q == '1)
  `EVENT(wave_slots_full, resident_q == '1)
  `EVENT(wave_ends_undrained, end_wave && !drained[slot])
  `EVENT(wave_ends_others_stay, end_wave && live != 0)
  `EVENT(barrier_passes_by_the_last, reaches && passes != 0)
  `EVENT(barrier_passes_by_an_end, end_wave && passes != 0)
  `EVENT(barrier_of_several, $countones(passes) > 1)
  `EVENT(barrier_waits, at_barrier_q != 0 && passes == 0)
endmodule
