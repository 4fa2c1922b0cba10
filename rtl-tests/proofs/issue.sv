// Proves: in each cycle one wave issues if any may, and else none; it is in no shadow, at no barrier, has no hazard,
//   drains
//   nothing, reads no operands, and has a collector if it needs one; a wave that may issue in every cycle does so
//   within as
//   many cycles as there are waves (round robin); guards are read with the writes of the cycle; sequence numbers count
//   what
//   issues; a fault at issue waits for the accesses of its wave, in a shadow that does not end, and then happens at once;
//   the module's assertions
// Method: induction 1, bounded 10, quick
// Mutant: 101
// Mutant: 102
// Mutant: 103
// Mutant: 104
// Mutant: 105
// Mutant: 106
// Mutant: 108
// Mutant: 262
// Mutant: 263
// Mutant: issue.sv | assign behind_pick = slots_behind(pick); | assign behind_pick = pick;
// Mutant: issue.sv | && (!next[w].releases || release_passes[w]); | ;
module prove_issue
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input logic    clk,
    input logic    rst_n,
    input slots_t  started,
    input next_t   [MAX_WAVES-1:0] next_of,
    input slots_t  buffered,
    input slots_t  hazard_free,
    input slots_t  drains,
    input slots_t  release_passes,
    input slots_t  collecting,
    input logic    collector_free,
    input slots_t  performed,
    input logic    control_faults,
    input fault_e  control_fault_kind,
    input slots_t  passes,
    input logic    [PRED_PORTS-1:0] writes,
    input slot_t   [PRED_PORTS-1:0] write_slot,
    input logic    [PRED_PORTS-1:0][1:0] write_index,
    input lanes_t  [PRED_PORTS-1:0] write_mask,
    input lanes_t  [PRED_PORTS-1:0] write_value,
    input lanes_t  [MAX_WAVES-1:0] active_of,
    input lanes_t  [MAX_WAVES-1:0] live_of,
    input slots_t  in_call,
    input uop_t    uop,
    input slot_t   any_wave,
    input logic    [1:0] any_pred
);
  launch_t launch;
  next_t   next[MAX_WAVES];
  logic    pred_write[PRED_PORTS];
  slot_t   pred_slot[PRED_PORTS];
  logic    [1:0] pred_index[PRED_PORTS];
  lanes_t  pred_mask[PRED_PORTS], pred_value[PRED_PORTS];
  lanes_t  active[MAX_WAVES], live[MAX_WAVES], issue_active, condition, lanes;
  logic    valid, fault, fault_waits, control_fault;
  slots_t  pick, collects, reaches, in_shadow, shadow, at_barrier, ending;
  slot_t   slot, fault_slot;
  pc_t     behind, fault_pc;
  act_t    acts;
  fault_e  fault_kind;
  seq_t    seq;
  always_comb begin
    launch = '0;
    for (int w = 0; w < MAX_WAVES; w++) begin
      next[w] = next_of[w];
      active[w] = active_of[w];
      live[w] = live_of[w];
    end
    for (int p = 0; p < PRED_PORTS; p++) begin
      pred_write[p] = writes[p];
      pred_slot[p] = write_slot[p];
      pred_index[p] = write_index[p];
      pred_mask[p] = write_mask[p];
      pred_value[p] = write_value[p];
    end
    ending = '0;
    ending[acts.slot] = acts.end_mark || acts.ends;
    control_fault = control_faults && acts.control;
  end
  issue dut (.*);

  // Waves at a barrier, and those whose last instruction is a control instruction, fence or wait of the cycle before.
  slots_t at_barrier_q, control_q, sync_q, control, sync, may;
  // Waves whose fault waits; the accesses of the wave whose control instruction acts, at its issue.
  slots_t faulting_q, faulting;
  logic   accessing_q;
  assign at_barrier = at_barrier_q;
  // Of one wave, any of them: a predicate, any of them, and with the writes of this cycle.
  slot_t  wave_q;
  logic   [1:0] pred_q;
  lanes_t value_q, value;
  logic   doubly;
  seq_t   count_q;
  // The wave that issued last; how long the chosen wave has been kept waiting.
  slot_t  last_q;
  int     waited_q;
  slot_t  distance;
  next_t  its;
  always_comb begin
    its = next_of[wave_q];
    control = '0;
    sync = '0;
    for (int w = 0; w < MAX_WAVES; w++) begin
      may[w] = buffered[w] && hazard_free[w] && !drains[w] && !collecting[w] && !at_barrier_q[w] && !control_q[w]
          && !sync_q[w] && !faulting_q[w]
          && !(next_of[w].collector && !collector_free) && !(next_of[w].releases && !release_passes[w]);
      control[w] = pick[w] && next_of[w].kind == KIND_CONTROL;
      sync[w] = pick[w] && next_of[w].kind inside {KIND_FENCE, KIND_WAIT} && lanes != 0;
    end
    // Those of before, and the control instruction that acts.
    faulting = faulting_q;
    if (control_fault && accessing_q) faulting[acts.slot] = 1'b1;
    value = value_q;
    doubly = 1'b0;
    for (int p = 0; p < PRED_PORTS; p++)
      if (writes[p] && write_slot[p] == wave_q && write_index[p] == pred_q) begin
        for (int l = 0; l < LANES; l++) if (write_mask[p][l]) value[l] = write_value[p][l];
        for (int o = 0; o < p; o++)
          if (writes[o] && write_slot[o] == wave_q && write_index[o] == pred_q) doubly = 1'b1;
      end
    // Waves that come before it.
    distance = wave_q - last_q - 1'b1;
  end
  always_ff @(posedge clk) begin
    wave_q <= rst_n ? wave_q : any_wave;
    pred_q <= rst_n ? pred_q : any_pred;
    at_barrier_q <= rst_n ? (at_barrier_q & ~passes) | reaches : '0;
    control_q <= rst_n ? control : '0;
    sync_q <= rst_n ? sync : '0;
    faulting_q <= '0;
    if (rst_n)
      for (int w = 0; w < MAX_WAVES; w++)
        faulting_q[w] <= faulting[w]
            || (pick[w] && next_of[w].kind == KIND_ILLEGAL && active_of[w] != 0 && !performed[w]);
    accessing_q <= rst_n && valid && !performed[slot];
    value_q <= started[wave_q] ? '0 : value;
    if (started[wave_q]) count_q <= '0;
    else if (pick[wave_q]) count_q <= count_q + 1'b1;
    if (!rst_n) last_q <= '0;
    else if (valid) last_q <= slot;
    waited_q <= rst_n && may[wave_q] && !pick[wave_q] ? waited_q + 1 : 0;
  end
  // The chosen wave has started, so that its predicates and its count are known.
  logic known_q;
  always_ff @(posedge clk) known_q <= rst_n && (known_q || started[wave_q]);

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (!doubly);
      assume ((passes & ~at_barrier_q) == 0);
      // Behind the end mark nothing is buffered. Slots without a wave have nothing either.
      assume (!(acts.end_mark && buffered[acts.slot]));
      assume (!buffered[wave_q] || known_q);
      for (int w = 0; w < MAX_WAVES; w++) begin
        // What the decoder says about kinds (proof of decoder).
        assume (next_of[w].collector == (next_of[w].kind inside {KIND_COMPUTE, KIND_MEMORY}));
        assume (!(next_of[w].halts || next_of[w].returns) || next_of[w].kind == KIND_CONTROL);
        assume (!(started[w] && buffered[w]));
      end

      assert ($countones(pick) == (may == 0 ? 0 : 1) && (pick & ~may) == 0 && valid == (may != 0));
      assert (!valid || pick[slot]);
      assert (waited_q < MAX_WAVES);
      assert (!pick[wave_q] || issue_active == active_of[wave_q]);
      assert (!pick[wave_q] || !its.guarded || its.guard_pred != pred_q
          || lanes == (active_of[wave_q] & (its.guard_neg ? ~value : value)));
      assert (!pick[wave_q] || its.guarded || lanes == active_of[wave_q]);
      assert (!pick[wave_q] || !its.has_ps || its.ps != pred_q || condition == (its.ps_neg ? ~value : value));
      assert (!pick[wave_q] || seq == count_q);
      assert (!pick[wave_q] || collects[wave_q] == (its.collector && lanes != 0));
      // A fault that waits happens as soon as it may, in the lowest slot. Else an illegal instruction or a barrier faults.
      assert (!((faulting & performed) != 0) || (fault && faulting[fault_slot] && performed[fault_slot]
          && ((faulting & performed) & ((slots_t'(1) << fault_slot) - 1'b1)) == 0));
      assert ((faulting & performed) != 0 || fault == (valid
          && ((next_of[slot].kind == KIND_ILLEGAL && active_of[slot] != 0 && performed[slot])
              || (next_of[slot].kind == KIND_BARRIER && lanes != 0 && active_of[slot] != live_of[slot]))));
      assert (!control_fault || acts.accessing == accessing_q);
      // What makes the induction go.
      assert (dut.turn_q == slots_behind(slots_t'(1) << last_q));
      assert (waited_q >= 0 && waited_q + int'(distance) < MAX_WAVES);
      assert (in_shadow == (control_q | sync_q | faulting_q));
      assert (dut.faulting_q == faulting_q);
      assert (!acts.control || acts.accessing == accessing_q);
      // The shadow of what waits has no other end.
      assert ((faulting_q & sync_q) == 0);
      assert (!known_q || (dut.preds_q[wave_q][pred_q] == value_q && dut.issued_q[wave_q] == count_q));
      assert (!acts.control || control_q[acts.slot]);
      assert (!acts.ends || acts.control);
      assert (!acts.barrier || at_barrier_q[acts.slot]);
      cover (waited_q == MAX_WAVES - 1 && pick[wave_q]);
      cover (pick[wave_q] && its.guarded && its.guard_pred == pred_q && lanes == 8'h5A && value_q == 0);
      cover (acts.ends && valid);
      cover (reaches[wave_q] && passes != 0);
      cover (faulting_q[wave_q] && performed[wave_q] && fault_slot == wave_q);
    end
endmodule
