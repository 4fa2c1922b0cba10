// Issue (rules I1 to I6, B1): picks a wave, reads guard and predicates, executes control and synchronisation
// instructions at once, and sends all others to a collector. Holds the predicates and the shadows.
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
    // State of the waves after the earlier stages of this cycle.
    input  slots_t  started,
    input  slots_t  resident,
    input  slots_t  ended,
    input  slots_t  at_barrier,
    input  slots_t  buffered,
    input  slots_t  hazard_free,
    input  slots_t  needs_collector,
    input  slots_t  drains,
    input  slots_t  is_release,
    input  slots_t  release_passes,
    input  slots_t  collecting,        // an earlier instruction still reads operands
    input  logic    collector_free,
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
    output lanes_t  guard,
    output lanes_t  condition,
    output lanes_t  lanes,             // effective
    output logic    collect,
    // Control.
    output logic    step,
    output pc_t     call_target,
    output pc_t     next,
    input  logic    jump,
    input  logic    control_ended,
    input  logic    control_fault,
    input  fault_e  control_fault_kind,
    output logic    end_code,          // the end mark
    output logic    end_wave,
    output logic    redirect,
    // Synchronisation.
    output logic    barrier,
    input  slots_t  passes,            // waves that leave the barrier
    output logic    fence,
    output logic    invalidate,
    output slots_t  shadow,            // before this cycle's issue
    output slots_t  shadow_ends,
    output slots_t  shadow_after,      // and after it
    output logic    fault,
    output fault_e  fault_kind,
    output seq_t    seq
);
  localparam int SHADOW_BITS = $clog2(BRANCH_LATENCY_CYCLES + 1);
  lanes_t preds_q[MAX_WAVES][PREDICATES];
  logic   effective;
  slots_t shadow_q;
  logic [SHADOW_BITS-1:0] shadow_left_q[MAX_WAVES];
  slot_t  last_q;
  seq_t   issued_q[MAX_WAVES];

  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) shadow_ends[w] = shadow_q[w] && shadow_left_q[w] == 0;
  end
  assign shadow = shadow_q & ~shadow_ends;

  slots_t ready;
  always_comb begin
    ready = resident & buffered & hazard_free & ~(collecting | shadow | at_barrier | drains | ended);
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

  assign next = uop.pc + (uop.two_words ? pc_t'(2) : pc_t'(1));
  assign call_target = PC_BITS'((uop.word1 >> 2) - launch.base_word);
  assign step = valid && uop.kind == KIND_CONTROL;
  assign end_code = valid && uop.kind == KIND_END;
  assign end_wave = end_code || (step && control_ended);
  assign redirect = step && jump;
  assign barrier = valid && uop.kind == KIND_BARRIER && effective && active == live;
  assign fence = valid && uop.kind == KIND_FENCE;
  assign invalidate = fence && effective && uop.acquire && uop.scope inside {SCOPE_DEVICE, SCOPE_SYSTEM} && !`BUG(107);
  assign collect = valid && effective && uop.kind inside {KIND_COMPUTE, KIND_MEMORY};
  always_comb begin
    fault = step && control_fault;
    fault_kind = control_fault_kind;
    if (valid && uop.kind == KIND_ILLEGAL && active != 0) begin
      fault = 1'b1;
      fault_kind = FAULT_ILLEGAL;
    end
    if (valid && uop.kind == KIND_BARRIER && effective && active != live) begin
      fault = 1'b1;
      fault_kind = FAULT_BARRIER;
    end
  end

  slots_t shadow_starts;
  always_comb begin
    shadow_starts = passes;
    if ((step && !control_ended && !(`BUG(105) && !effective && active != 0))
        || (valid && effective && uop.kind inside {KIND_FENCE, KIND_WAIT} && !`BUG(106)))
      shadow_starts[slot] = 1'b1;
  end
  assign shadow_after = shadow | shadow_starts;

  always_ff @(posedge clk) begin
    shadow_q <= shadow_after & ~started;
    for (int w = 0; w < MAX_WAVES; w++) begin
      if (shadow_starts[w]) shadow_left_q[w] <= SHADOW_BITS'(BRANCH_LATENCY_CYCLES - 1 - int'(`BUG(101)));
      else shadow_left_q[w] <= shadow_left_q[w] - 1'b1;
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
      shadow_q <= '0;
      last_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!valid || (resident[slot] && !ended[slot])) else $error("a wave issues that is not there");
      assert (!valid || !(shadow[slot] || at_barrier[slot])) else $error("a wave issues in a shadow or at a barrier");
      assert (!collect || collector_free) else $error("a collector is taken that is not free");
    end
endmodule
