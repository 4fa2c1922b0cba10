// Issue (rules I1 to I6, B1): picks a wave, reads guard and predicates, sends control and synchronisation instructions
// to stage resolve of the next cycle, and all others to a collector. Holds the predicates and the shadows.
`include "bugs.svh"
module issue
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
#(
    parameter int PRED_PORTS = 3
) (
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    // State of the waves after the earlier stages of this cycle. What acts in stage resolve of this cycle keeps its wave
    // out by its shadow.
    input  slots_t  started,
    input  slots_t  at_barrier,
    input  slots_t  buffered,
    input  slots_t  hazard_free,
    input  slots_t  needs_collector,
    input  slots_t  drains,
    input  slots_t  is_release,
    input  slots_t  release_passes,
    input  slots_t  collecting,        // an earlier instruction still reads operands
    input  logic    collector_free,
    // Stage resolve: waves that leave the barrier, and the wave that ends.
    input  slots_t  passes,
    input  slots_t  ending,
    // Predicates that write-back writes in this cycle.
    input  logic    pred_write[PRED_PORTS],
    input  slot_t   pred_slot[PRED_PORTS],
    input  logic [1:0] pred_index[PRED_PORTS],
    input  lanes_t  pred_mask[PRED_PORTS],
    input  lanes_t  pred_value[PRED_PORTS],
    // The instruction of the chosen wave, and its lanes.
    output logic    valid,
    output slot_t   slot,
    input  uop_t    uop,
    input  lanes_t  active,
    input  lanes_t  live,
    output lanes_t  condition,
    output lanes_t  lanes,             // effective
    output logic    collect,
    output logic    barrier,           // the wave reaches a barrier
    output pc_t     next,              // the word behind the instruction
    output act_t    acts,              // what issued in the cycle before and acts now
    output slots_t  shadow,            // in this cycle
    output logic    fault,
    output fault_e  fault_kind,
    output seq_t    seq
);
  localparam int SHADOW_BITS = $clog2(BRANCH_LATENCY_CYCLES);
  typedef logic [SHADOW_BITS-1:0] shadow_t;
  lanes_t preds_q[MAX_WAVES][PREDICATES];
  logic   effective;
  lanes_t guard;
  shadow_t shadow_left_q[MAX_WAVES];     // cycles, this one included
  slot_t  last_q;
  seq_t   issued_q[MAX_WAVES];
  act_t   acts_q;

  slots_t in_shadow;
  always_comb for (int w = 0; w < MAX_WAVES; w++) in_shadow[w] = shadow_left_q[w] != 0;
  // Waves that leave the barrier now are at it for the issue of this cycle.
  assign shadow = in_shadow | passes;

  slots_t ready;
  always_comb begin
    ready = buffered & hazard_free & ~(collecting | in_shadow | at_barrier | drains);
    ready = ready & ~(is_release & ~release_passes);
    if (!collector_free && !(`BUG(108) && $countones(ready) == 1)) ready = ready & ~needs_collector;
  end
  assign valid = ready != 0;
  assign slot = next_in_turn(ready, `BUG(102) ? last_q - 1'b1 : last_q);
  assign seq = issued_q[slot];

  // Predicates including the writes of this cycle. At most one instruction writes a predicate of a wave (rule I5).
  lanes_t written, guard_mask, guard_value, condition_mask, condition_value;
  always_comb begin
    written = '0;
    guard_mask = '0;
    guard_value = '0;
    condition_mask = '0;
    condition_value = '0;
    for (int p = 0; p < PRED_PORTS; p++) begin
      written = {LANES{pred_write[p] && pred_slot[p] == slot && !`BUG(104)}} & pred_mask[p];
      guard_mask = guard_mask | (written & {LANES{pred_index[p] == uop.guard_pred}});
      guard_value = guard_value | (written & {LANES{pred_index[p] == uop.guard_pred}} & pred_value[p]);
      condition_mask = condition_mask | (written & {LANES{pred_index[p] == uop.ps}});
      condition_value = condition_value | (written & {LANES{pred_index[p] == uop.ps}} & pred_value[p]);
    end
    guard = (preds_q[slot][uop.guard_pred] & ~guard_mask) | guard_value;
    condition = (preds_q[slot][uop.ps] & ~condition_mask) | condition_value;
    guard = uop.guarded ? guard ^ {LANES{uop.guard_neg && !`BUG(103)}} : '1;
    condition = uop.has_ps ? condition ^ {LANES{uop.ps_neg}} : '1;
  end
  assign lanes = guard & active;
  assign effective = lanes != 0;

  assign barrier = valid && uop.kind == KIND_BARRIER && effective && active == live;
  assign collect = valid && effective && uop.kind inside {KIND_COMPUTE, KIND_MEMORY};
  always_comb begin
    fault = 1'b0;
    fault_kind = FAULT_ILLEGAL;
    if (valid && uop.kind == KIND_ILLEGAL && active != 0) fault = 1'b1;
    if (valid && uop.kind == KIND_BARRIER && effective && active != live) begin
      fault = 1'b1;
      fault_kind = FAULT_BARRIER;
    end
  end

  // Whether a control instruction ends its wave is not known yet, so each of them has its shadow.
  logic shadow_starts;
  assign shadow_starts = valid
      && ((uop.kind == KIND_CONTROL && !(`BUG(105) && !effective && active != 0))
          || (effective && uop.kind inside {KIND_FENCE, KIND_WAIT} && !`BUG(106)));

  act_t acts_d;
  always_comb begin
    acts_d.slot = slot;
    acts_d.control = valid && uop.kind == KIND_CONTROL;
    acts_d.end_mark = valid && uop.kind == KIND_END;
    acts_d.barrier = barrier;
    acts_d.fence = valid && uop.kind == KIND_FENCE;
    acts_d.invalidate = acts_d.fence && effective && uop.acquire && uop.scope inside {SCOPE_DEVICE, SCOPE_SYSTEM}
        && !`BUG(107);
    acts_d.op = uop.op;
    acts_d.guard = guard;
    acts_d.condition = condition;
    acts_d.next = uop.pc + (uop.two_words ? pc_t'(2) : pc_t'(1));
    acts_d.target = PC_BITS'((uop.word1 >> 2) - launch.base_word);
  end
  assign acts = acts_q;
  assign next = acts_d.next;

  always_ff @(posedge clk) begin
    acts_q <= acts_d;
    for (int w = 0; w < MAX_WAVES; w++) begin
      if (in_shadow[w]) shadow_left_q[w] <= shadow_left_q[w] - 1'b1;
      // The shadow of the barrier began with the issue of the cycle before.
      if (passes[w]) shadow_left_q[w] <= shadow_t'(BRANCH_LATENCY_CYCLES - 2);
      if (shadow_starts && slot == slot_t'(w))
        shadow_left_q[w] <= shadow_t'(BRANCH_LATENCY_CYCLES - 1 - int'(`BUG(101)));
      if (ending[w]) shadow_left_q[w] <= '0;
    end
    if (valid) begin
      last_q <= slot;
      issued_q[slot] <= issued_q[slot] + 1'b1;
    end
    for (int p = 0; p < PRED_PORTS; p++)
      if (pred_write[p])
        preds_q[pred_slot[p]][pred_index[p]] <=
            (preds_q[pred_slot[p]][pred_index[p]] & ~pred_mask[p]) | (pred_value[p] & pred_mask[p]);
    for (int w = 0; w < MAX_WAVES; w++)
      if (started[w]) begin
        issued_q[w] <= '0;
        for (int p = 0; p < PREDICATES; p++) preds_q[w][p] <= '0;
      end
    if (!rst_n) begin
      for (int w = 0; w < MAX_WAVES; w++) shadow_left_q[w] <= '0;
      last_q <= '0;
      acts_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!valid || !(shadow[slot] || at_barrier[slot])) else $error("a wave issues in a shadow or at a barrier");
      assert (!valid || !ending[slot]) else $error("a wave issues that has ended");
      assert (!(valid && slot == acts.slot && (acts.control || acts.barrier)))
      else $error("a wave issues while its last instruction acts");
      assert (!collect || collector_free) else $error("a collector is taken that is not free");
    end
endmodule
