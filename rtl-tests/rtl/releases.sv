// Releases of device and system scope (rule B6): stores on their way to the L2 in two epochs, rounds, and requests to
// the L2. What a cycle decides follows from registers: from what was acknowledged, answered and issued before it.
`include "bugs.svh"
`include "events.svh"
module releases
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    // Fences that are reached: at the head of their wave, accesses performed, at no barrier and in no shadow.
    input  slots_t reached,
    input  slots_t system,          // of these, those of scope system
    input  logic   issued,          // a fence has issued in the cycle before
    input  slot_t  issued_slot,
    input  logic   answer,          // the L2 has released what was asked
    input  logic   acknowledge,     // a store is acknowledged
    input  logic   acknowledge_epoch,
    input  logic   store,           // a store sets out
    output logic   open,            // the epoch that it joins
    output slots_t passes,          // fences that need not wait
    output logic   ask,             // asks the L2 for a release
    input  logic   ask_taken,
    output logic   stores           // some store is not acknowledged, after this cycle
);
  typedef logic [15:0] number_t;
  number_t [1:0] pending_q, pending_d;           // stores of each epoch
  logic   open_q, to_ask_q, answered_now_q;      // the last: the answer came in the cycle before
  slots_t round_q, next_q;                       // fences that wait for the closed epoch, and for the next round
  slots_t granted_q;                             // whose round is over
  slots_t asked_q, to_be_asked_q, answered_q;    // by the present request to the L2, by the next one, by one before

  // A grant belongs to one fence: the next fence of the wave asks again.
  slots_t left;
  always_comb begin
    left = '1;
    if (issued) left[issued_slot] = 1'b0;
  end

  // Epochs without a store. The round is over with its last acknowledgement; all stores made during it may be
  // acknowledged already, and then the next one is over, too.
  logic [1:0] none;
  logic   closed_over, next_over, both_over, begins, open_after;
  slots_t round_after, next_after, granted, round_d, next_d;
  assign none = {pending_q[1] == 0, pending_q[0] == 0};
  assign both_over = none == 2'b11;
  assign closed_over = round_q != 0 && (none[!open_q] || (`BUG(155) && acknowledge));
  assign next_over = closed_over && next_q != 0 && none[open_q];
  always_comb begin
    granted = (granted_q & (`BUG(156) ? '1 : left)) | (closed_over ? round_q : '0) | (next_over ? next_q : '0);
    round_after = closed_over ? (next_over ? '0 : next_q) : round_q;
    next_after = closed_over ? '0 : next_q;
    open_after = open_q ^ (closed_over && next_q != 0);
  end

  // The answer of the L2 is for all that it was asked for.
  slots_t answered, asked_after;
  assign answered = (answered_q & left) | (answered_now_q ? asked_q : '0);
  assign asked_after = answered_now_q ? '0 : asked_q;

  // Fences that are reached. Those that find stores on their way wait for a round, and may begin it; those of scope
  // system then ask the L2.
  slots_t fences, waiting, joining, ready, asking;
  logic   asks;
  always_comb begin
    fences = reached & ~(answered | asked_after | to_be_asked_q);
    waiting = both_over ? '0 : fences & ~granted;
    ready = fences & ~waiting;
    asking = to_be_asked_q | (ready & system);
    passes = (ready & (`BUG(222) ? '1 : ~system)) | (reached & answered);
    joining = waiting & ~(round_after | next_after);
    begins = round_after == 0 && joining != 0;
    round_d = begins ? joining : round_after;
    next_d = begins ? next_after : next_after | joining;
    asks = asked_after == 0 && asking != 0;
  end
  assign open = open_after ^ (begins && !`BUG(223));
  assign ask = to_ask_q || asks;

  always_comb begin
    pending_d = pending_q;
    if (acknowledge) pending_d[acknowledge_epoch] = pending_q[acknowledge_epoch] - 1'b1;
    if (store) pending_d[open] = (`BUG(224) ? pending_q[open] : pending_d[open]) + 1'b1;
  end
  assign stores = pending_d != 0;

  always_ff @(posedge clk) begin
    pending_q <= pending_d;
    open_q <= open;
    round_q <= round_d;
    next_q <= next_d;
    granted_q <= granted;
    answered_q <= answered;
    asked_q <= asks ? asking : asked_after;
    to_be_asked_q <= asks ? '0 : asking;
    to_ask_q <= ask && !(ask_taken && !`BUG(225));
    answered_now_q <= answer;
    if (!rst_n) begin
      pending_q <= '0;
      open_q <= 1'b0;
      round_q <= '0;
      next_q <= '0;
      granted_q <= '0;
      answered_q <= '0;
      asked_q <= '0;
      to_be_asked_q <= '0;
      to_ask_q <= 1'b0;
      answered_now_q <= 1'b0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!acknowledge || pending_q[acknowledge_epoch] != 0)
      else $error("an acknowledgement of a store that is not on its way");
      assert (!answer || (asked_q != 0 && !to_ask_q)) else $error("the L2 answers what was not asked");
      assert (round_q != 0 || next_q == 0) else $error("fences wait for a round that does not begin");
      assert (round_q != 0 || none[!open_q]) else $error("a closed epoch has stores and no round");
      assert ((asked_q & to_be_asked_q) == 0) else $error("a fence asks twice");
    end
  // What coverage counts.
  `EVENT(release_begins, begins)
  `EVENT(release_passes_at_once, passes != 0 && both_over)
  `EVENT(release_round_over, closed_over)
  `EVENT(release_rounds_over_together, next_over)
  `EVENT(release_waits_for_the_next_round, next_q != 0)
  `EVENT(release_of_several, $countones(round_q) > 1)
  `EVENT(release_asks, asks)
  `EVENT(release_asks_again, asking != 0 && asked_after != 0)
  `EVENT(release_answered, answer)
  `EVENT(release_granted_beside_others, granted != 0 && fences != granted)
  `EVENT(release_store_in_a_round, store && round_q != 0)
  `EVENT(release_store_as_a_round_begins, store && begins)
  `EVENT(release_acknowledged_as_stored, store && acknowledge)
  `EVENT(release_acknowledged_in_the_other_epoch, acknowledge && acknowledge_epoch != open_q)
  `EVENT(release_stores_many, pending_q[0] > 8 || pending_q[1] > 8)
endmodule
