// Issue (rules I1 to I6, I8, B1): picks a wave, reads guard and predicates, sends control and synchronisation
// instructions to stage resolve of the next cycle, and all others to a collector. Holds the predicates, the shadows, and
// the faults that wait for accesses.
//
// Guards, effective lanes and what follows from them are computed for every wave, beside the choice of one. The choice is
// a set of one wave, and selects among them.
`include "bugs.svh"
`include "events.svh"
module issue
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    // State of the waves after the earlier stages of this cycle. What acts in stage resolve of this cycle keeps its wave
    // out by its shadow.
    input  slots_t  started,
    input  slots_t  at_barrier,
    input  next_t   next[MAX_WAVES],   // instructions
    input  slots_t  buffered,
    input  slots_t  hazard_free,
    input  slots_t  drains,
    input  slots_t  release_passes,
    input  slots_t  collecting,        // an earlier instruction still reads operands
    input  logic    collector_free,
    input  slots_t  performed,         // no access was outstanding before this cycle
    // Stage resolve: waves that leave the barrier, and the wave that ends.
    input  slots_t  passes,
    input  slots_t  ending,
    // Predicates that write-back writes in this cycle.
    input  logic    pred_write[PRED_PORTS],
    input  slot_t   pred_slot[PRED_PORTS],
    input  logic [1:0] pred_index[PRED_PORTS],
    input  lanes_t  pred_mask[PRED_PORTS],
    input  lanes_t  pred_value[PRED_PORTS],
    input  lanes_t  active[MAX_WAVES],
    input  lanes_t  live[MAX_WAVES],
    input  slots_t  in_call,           // a return goes back to a call
    // The control instruction that acts now faults.
    input  logic    control_fault,
    input  fault_e  control_fault_kind,
    // The chosen wave, its instruction and its lanes.
    output logic    valid,
    output slots_t  pick,
    output slot_t   slot,
    input  uop_t    uop,
    output lanes_t  issue_active,
    output lanes_t  condition,
    output lanes_t  lanes,             // effective
    output slots_t  collects,          // it goes to a collector
    output slots_t  reaches,           // it reaches a barrier
    output pc_t     behind,            // the word behind the instruction
    output act_t    acts,              // what issued in the cycle before and acts now
    output slots_t  in_shadow,         // in this cycle, but for
    output slots_t  shadow,            // those that leave the barrier now
    output logic    fault,
    output fault_e  fault_kind,
    output slot_t   fault_slot,
    output pc_t     fault_pc,
    output logic    fault_waits,       // that of the chosen wave
    output seq_t    seq
);
  localparam int SHADOW_BITS = $clog2(BRANCH_LATENCY_CYCLES);
  typedef logic [SHADOW_BITS-1:0] shadow_t;
  typedef lanes_t [PREDICATES-1:0] preds_t;
  preds_t  preds_q[MAX_WAVES];
  shadow_t shadow_left_q[MAX_WAVES];     // cycles, this one included
  slots_t  turn_q;                       // slots behind that of the last issue
  seq_t    issued_q[MAX_WAVES];
  act_t    acts_q;
  // Waves whose last instruction faults, once their accesses are performed (rule I8): its kind, and its word.
  slots_t  faulting_q;
  fault_e  faulting_kind_q[MAX_WAVES];
  pc_t     last_pc_q[MAX_WAVES];

  // The shadow of what faults does not end.
  always_comb for (int w = 0; w < MAX_WAVES; w++) in_shadow[w] = shadow_left_q[w] != 0 || faulting_q[w];
  // Waves that leave the barrier now are at it for the issue of this cycle, and for releases.
  assign shadow = in_shadow | passes;

  // The choice. The first three conditions come from registers; hazards, collectors and operand read are late.
  slots_t early, ready, first_choice;
  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      early[w] = buffered[w] && !(in_shadow[w] || at_barrier[w] || drains[w]) && (!next[w].releases || release_passes[w]);
      ready[w] = early[w] && hazard_free[w] && !collecting[w] && (collector_free || !next[w].collector);
    end
    if (`BUG(108) && !collector_free && $onehot(early & hazard_free & ~collecting))
      ready = early & hazard_free & ~collecting;
  end
  assign first_choice = ready & turn_q;
  assign valid = ready != 0;
  assign pick = first_choice != 0 ? lowest(first_choice) : lowest(ready);
  assign slot = slot_of(pick);
  // The slots behind the chosen one come first in the next cycle.
  slots_t behind_pick;
  assign behind_pick = slots_behind(pick);

  // Predicates with the writes of this cycle. At most one instruction writes a predicate of a wave (rule I5).
  preds_t preds[MAX_WAVES], read[MAX_WAVES];
  always_comb
    for (int w = 0; w < MAX_WAVES; w++) begin
      preds[w] = preds_q[w];
      for (int p = 0; p < PRED_PORTS; p++)
        for (int i = 0; i < PREDICATES; i++)
          if (pred_write[p] && pred_slot[p] == slot_t'(w) && pred_index[p] == 2'(unsigned'(i)))
            preds[w][i] = (`BUG(209) ? '0 : preds_q[w][i] & ~pred_mask[p]) | (pred_value[p] & pred_mask[p]);
      read[w] = `BUG(104) ? preds_q[w] : preds[w];
    end

  // Of each wave, what its next instruction does if it issues.
  lanes_t guarded[MAX_WAVES], conditional[MAX_WAVES], effective[MAX_WAVES];
  numbers_t guards, conditions, effectives, actives, kinds, seqs;
  slots_t squashed, collectable, at_a_barrier, together, shadowing, illegal, last_lanes, invalidating;
  always_comb
    for (int w = 0; w < MAX_WAVES; w++) begin
      guarded[w] = next[w].guarded ? read[w][next[w].guard_pred] ^ {LANES{next[w].guard_neg && !`BUG(103)}} : '1;
      conditional[w] = next[w].has_ps ? read[w][next[w].ps] ^ {LANES{next[w].ps_neg && !`BUG(208)}} : '1;
      effective[w] = guarded[w] & active[w];
      squashed[w] = effective[w] == 0;
      collectable[w] = next[w].collector && !squashed[w];
      together[w] = active[w] == live[w];
      at_a_barrier[w] = next[w].kind == KIND_BARRIER && !squashed[w];
      // What halts the last lanes ends the wave. No lane of the wave changes until it acts.
      last_lanes[w] = (next[w].halts && !squashed[w] && (live[w] & ~effective[w]) == 0)
          || (next[w].returns && !in_call[w] && active[w] != 0 && together[w]);
      illegal[w] = next[w].kind == KIND_ILLEGAL && (active[w] != 0 || `BUG(212));
      // Whether a control instruction ends its wave is not known yet, so each of them has its shadow.
      shadowing[w] = (next[w].kind == KIND_CONTROL && !(`BUG(105) && squashed[w] && active[w] != 0))
          || (!squashed[w] && next[w].kind inside {KIND_FENCE, KIND_WAIT} && !`BUG(106));
    end

  always_comb
    for (int w = 0; w < MAX_WAVES; w++) begin
      guards[w] = 32'(guarded[w]);
      conditions[w] = 32'(conditional[w]);
      effectives[w] = 32'(effective[w]);
      actives[w] = 32'(active[w]);
      kinds[w] = 32'(next[w].kind);
      seqs[w] = 32'(issued_q[w]);
      invalidating[w] = next[w].invalidates && (!squashed[w] || `BUG(210));
    end
  lanes_t guard;
  kind_e  kind;
  assign guard = lanes_t'(number_of(pick, guards));
  assign condition = lanes_t'(number_of(pick, conditions));
  assign lanes = lanes_t'(number_of(pick, effectives));
  assign issue_active = lanes_t'(number_of(pick, actives));
  assign kind = kind_e'(number_of(pick, kinds));
  assign seq = seq_t'(number_of(pick, seqs));
  assign collects = pick & collectable;
  assign reaches = pick & at_a_barrier & together;

  // Faults (rule I8). A barrier has waited for the accesses of its wave anyway. Whether a control instruction faults is
  // known a cycle after its issue: then its fault waits, or it has happened in the cycle of its issue.
  slots_t   waiting, due, faults_now;
  numbers_t waiting_kinds, last_pcs;
  always_comb begin
    waiting = faulting_q;
    for (int w = 0; w < MAX_WAVES; w++) begin
      waiting_kinds[w] = 32'(faulting_kind_q[w]);
      last_pcs[w] = 32'(last_pc_q[w]);
    end
    if (control_fault && acts_q.accessing) begin
      waiting[acts_q.slot] = 1'b1;
      waiting_kinds[acts_q.slot] = 32'(control_fault_kind);
    end
    due = lowest(waiting & performed);
    faults_now = pick & ((illegal & (performed | {MAX_WAVES{`BUG(262)}}))
        | (`BUG(211) ? '0 : at_a_barrier & ~together));
  end
  assign fault_waits = (pick & illegal & ~performed) != 0 && !`BUG(262);
  assign fault = due != 0 || faults_now != 0;
  assign fault_kind = due != 0 ? fault_e'(number_of(due, waiting_kinds)) : kind == KIND_BARRIER ? FAULT_BARRIER : FAULT_ILLEGAL;
  assign fault_slot = due != 0 ? slot_of(due) : slot;
  assign fault_pc = due != 0 ? pc_t'(number_of(due, last_pcs)) : uop.pc;

  act_t acts_d;
  always_comb begin
    acts_d.slot = slot;
    acts_d.control = valid && kind == KIND_CONTROL;
    acts_d.ends = (pick & last_lanes) != 0;
    acts_d.end_mark = valid && kind == KIND_END;
    acts_d.barrier = reaches != 0;
    acts_d.fence = valid && kind == KIND_FENCE;
    acts_d.invalidate = (pick & invalidating) != 0 && !`BUG(107);
    acts_d.accessing = (pick & ~performed) != 0 && !`BUG(263);
    acts_d.op = uop.op;
    acts_d.guard = guard;
    acts_d.condition = condition;
    acts_d.next = uop.pc + (uop.two_words ? pc_t'(2) : pc_t'(1));
    acts_d.target = PC_BITS'((uop.word1 >> 2) - launch.base_word);
  end
  assign acts = acts_q;
  assign behind = acts_d.next;

  always_ff @(posedge clk) begin
    acts_q <= acts_d;
    for (int w = 0; w < MAX_WAVES; w++) begin
      if (shadow_left_q[w] != 0) shadow_left_q[w] <= shadow_left_q[w] - 1'b1;
      // The shadow of the barrier began with the issue of the cycle before.
      if (passes[w]) shadow_left_q[w] <= shadow_t'(BRANCH_LATENCY_CYCLES - 2);
      if (pick[w] && shadowing[w])
        shadow_left_q[w] <= shadow_t'(BRANCH_LATENCY_CYCLES - 1 - int'(`BUG(101)));
      if (ending[w]) shadow_left_q[w] <= '0;
      if (pick[w]) begin
        issued_q[w] <= issued_q[w] + 1'b1;
        last_pc_q[w] <= uop.pc;
      end
      faulting_q[w] <= waiting[w] || (pick[w] && fault_waits);
      faulting_kind_q[w] <= waiting[w] ? fault_e'(waiting_kinds[w]) : FAULT_ILLEGAL;
      preds_q[w] <= preds[w];
      if (started[w]) begin
        issued_q[w] <= '0;
        if (!`BUG(207)) preds_q[w] <= '0;
      end
    end
    if (valid) turn_q <= `BUG(102) ? behind_pick | pick : behind_pick;
    if (!rst_n) begin
      for (int w = 0; w < MAX_WAVES; w++) shadow_left_q[w] <= '0;
      turn_q <= `BUG(102) ? '1 : {{MAX_WAVES-1{1'b1}}, 1'b0};
      faulting_q <= '0;
      acts_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert ($onehot0(pick) && (pick & ~ready) == 0) else $error("several waves issue, or one that is not ready");
      assert ((pick & (shadow | at_barrier)) == 0) else $error("a wave issues in a shadow or at a barrier");
      assert ((pick & ending) == 0) else $error("a wave issues that has ended");
      assert (!(valid && slot == acts.slot && (acts.control || acts.barrier)))
      else $error("a wave issues while its last instruction acts");
      assert (collects == 0 || collector_free) else $error("a collector is taken that is not free");
      assert ((pick & waiting) == 0) else $error("a wave issues behind a fault");
    end
  // What coverage counts.
  `EVENT(issue_idle, buffered == 0)
  `EVENT(issue_held, !valid && buffered != 0)
  `EVENT(issue_several_ready, $countones(ready) > 1)
  `EVENT(issue_turn_wraps, valid && first_choice == 0)
  `EVENT(issue_squashed, (pick & squashed) != 0)
  `EVENT(issue_some_lanes, valid && lanes != 0 && lanes != issue_active)
  `EVENT(issue_no_lane_active, valid && issue_active == 0)
  `EVENT(issue_no_collector, (early & hazard_free & ~collecting) != 0 && !collector_free)
  `EVENT(issue_behind_operands, (early & hazard_free & collecting) != 0)
  `EVENT(issue_predicate_of_this_cycle, valid && uop.guarded && ((pred_write[0] && pred_slot[0] == slot) || (pred_write[1] && pred_slot[1] == slot) || (pred_write[2] && pred_slot[2] == slot)))
  `EVENT(issue_predicates_together, (pred_write[0] && pred_write[1]) || (pred_write[0] && pred_write[2]) || (pred_write[1] && pred_write[2]))
  `EVENT(issue_control, valid && kind == KIND_CONTROL)
  `EVENT(issue_barrier, valid && kind == KIND_BARRIER)
  `EVENT(issue_fence, valid && kind == KIND_FENCE)
  `EVENT(issue_wait, valid && kind == KIND_WAIT)
  `EVENT(issue_nop, valid && kind == KIND_NOP)
  `EVENT(issue_end_of_code, valid && kind == KIND_END)
  `EVENT(issue_last_lanes, (pick & last_lanes) != 0)
  `EVENT(issue_acquires, (pick & invalidating) != 0)
  `EVENT(issue_fault, faults_now != 0)
  `EVENT(issue_fault_waits, fault_waits)
  `EVENT(issue_fault_of_control_waits, control_fault && acts_q.accessing)
  `EVENT(issue_fault_has_waited, due != 0)
  `EVENT(shadow_of_several, $countones(in_shadow) > 1)
  `EVENT(shadow_cut_by_an_end, (in_shadow & ending) != 0)
endmodule
