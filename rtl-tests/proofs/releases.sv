// Proves: no fence of a wave passes while a store is on its way that had set out before the fence was reached; one of
//   system
//   scope passes only when the L2 has answered a request that left when no such store was on its way; the module's
//   assertions
// Method: induction 1, bounded 16, quick
// Mutant: 155
// Mutant: 156
// Mutant: releases.sv | waiting = both_over ? '0 : fences & ~granted; | waiting = none[open_q] ? '0 : fences &
//   ~granted;
// Mutant: releases.sv | begins = round_after == 0 && joining != 0; | begins = joining != 0;
// Mutant: releases.sv | answered = (answered_q & left) | answered = answered_q

// One store and one wave, any of them. Acknowledgements tell apart the stores of an epoch only by their number, so that
// of
// the chosen store is one of those that the environment gives.
module prove_releases
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input logic   clk,
    input logic   rst_n,
    input slots_t reached,
    input slots_t system,
    input logic   issues,                // a fence issues in this cycle
    input slot_t  issues_slot,
    input logic   answer,
    input logic   acknowledge,
    input logic   acknowledge_epoch,
    input logic   store,
    input logic   ask_taken,
    input slot_t  any_wave,
    input logic   choose,                // the store that sets out is the chosen one
    input logic   acknowledge_chosen
);
  logic open, ask, stores, issued_q;
  slot_t issued_slot_q, wave_q;
  slots_t passes;
  releases dut (
      .clk, .rst_n, .reached, .system, .issued(issued_q), .issued_slot(issued_slot_q), .answer, .acknowledge,
      .acknowledge_epoch, .store, .open, .passes, .ask, .ask_taken, .stores);

  // The fences that have been reached and have not issued; scopes of system.
  slots_t waiting_q, system_q, issuing, issued_before;
  always_comb begin
    issuing = '0;
    if (issues) issuing[issues_slot] = 1'b1;
    issued_before = '0;
    if (issued_q) issued_before[issued_slot_q] = 1'b1;
  end
  // The chosen store is on its way, in its epoch. `old_q`: and the wave's fence was reached after it had set out.
  logic out_q, epoch_q, old_q, old, fresh;
  assign fresh = reached[wave_q] && !waiting_q[wave_q];
  assign old = fresh ? out_q : old_q;
  // The request to the L2 that is in service; it left behind the wave's older stores; it was answered.
  logic service_q, covers_q, covered_q;

  always_ff @(posedge clk) begin
    wave_q <= rst_n ? wave_q : any_wave;
    issued_q <= rst_n && issues;
    issued_slot_q <= issues_slot;
    waiting_q <= rst_n ? reached & ~issuing : '0;
    system_q <= system;
    out_q <= rst_n && ((out_q && !acknowledge_chosen) || (store && choose));
    if (store && choose) epoch_q <= open;
    old_q <= rst_n && old && reached[wave_q] && !acknowledge_chosen;
    service_q <= rst_n && ((service_q && !answer) || ask_taken);
    covers_q <= rst_n && reached[wave_q] && !issuing[wave_q] && (ask_taken ? !old : covers_q);
    covered_q <= rst_n && reached[wave_q] && !issuing[wave_q] && (covered_q || (answer && covers_q));
  end

  always_ff @(posedge clk)
    if (rst_n) begin
      // A fence stays until it issues, which it does when it may pass. Other fences issue, too.
      assume ((waiting_q & ~reached) == 0 && (waiting_q & (system ^ system_q)) == 0);
      assume ((system & ~reached) == 0);
      assume (!issues || !reached[issues_slot] || passes[issues_slot]);
      assume (!acknowledge || dut.pending_q[acknowledge_epoch] != 0);
      assume (!store || stores_of(open) < 16'hFFFF);
      assume (!ask_taken || (ask && !service_q));
      assume (!answer || service_q);
      assume (!choose || (store && !out_q));
      // The chosen store is among those of its epoch, and the last to be acknowledged, or one before.
      assume (!acknowledge_chosen || (out_q && acknowledge && acknowledge_epoch == epoch_q));
      assume (!(out_q && acknowledge && acknowledge_epoch == epoch_q && !acknowledge_chosen)
          || dut.pending_q[epoch_q] > 1);

      assert (!(passes[wave_q] && reached[wave_q] && old));
      assert (!(passes[wave_q] && reached[wave_q] && system[wave_q]) || covered_q);

      // What makes the induction go.
      assert (!out_q || dut.pending_q[epoch_q] != 0);
      assert (!old_q || (out_q && waiting_q[wave_q]));
      assert (!old_q || dut.next_q[wave_q] || (dut.round_q[wave_q] && epoch_q == !dut.open_q));
      assert (!old_q || !(dut.granted_q[wave_q] || dut.asked_q[wave_q] || dut.to_be_asked_q[wave_q]
          || dut.answered_q[wave_q]));
      assert ((dut.round_q & dut.next_q) == 0 && (dut.granted_q & (dut.round_q | dut.next_q)) == 0);
      assert (((dut.round_q | dut.next_q | dut.asked_q | dut.to_be_asked_q) & ~waiting_q) == 0);
      assert (((dut.granted_q | dut.answered_q) & ~(waiting_q | issued_before)) == 0);
      assert (((dut.asked_q | dut.to_be_asked_q | dut.answered_q) & (dut.round_q | dut.next_q)) == 0);
      assert ((dut.answered_q & (dut.asked_q | dut.to_be_asked_q) & ~issued_before) == 0);
      assert ((waiting_q & issued_before) == 0);
      assert (!dut.asked_q[wave_q] || dut.to_ask_q || dut.answered_now_q || covers_q);
      assert (!(dut.asked_q[wave_q] && dut.answered_now_q) || covered_q);
      assert (!dut.answered_q[wave_q] || issued_before[wave_q] || covered_q);
      assert (service_q == (dut.asked_q != 0 && !dut.to_ask_q && !dut.answered_now_q));
      assert (!dut.to_ask_q || (dut.asked_q != 0 && !dut.answered_now_q));
      assert (!dut.answered_now_q || dut.asked_q != 0);
      cover (passes[wave_q] && system[wave_q]);
      cover (passes[wave_q] && waiting_q[wave_q] && out_q);
      cover (old_q && dut.next_q[wave_q] && store);
    end

  function automatic logic [15:0] stores_of(input logic epoch);
    return dut.pending_q[epoch];
  endfunction
endmodule
