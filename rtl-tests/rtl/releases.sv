// Releases of device and system scope (rule B6): stores on their way to the L2 in two epochs, rounds, and requests to
// the L2.
`include "bugs.svh"
module releases
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    // Fences that are reached: at the head of their wave, accesses performed, at no barrier and in no shadow. In order:
    // because a shadow ends now; with the retirements of write-back; with that of the load/store unit; behind the
    // instruction that issues now; by the decoder.
    input  slots_t reached_shadow,
    input  slots_t reached_after,
    input  slots_t reached_late,
    input  slots_t renewed,         // its guard was still to be written, and something has retired: it is looked at anew
    input  slots_t system,
    input  slots_t reached_behind,
    input  logic   behind_system,
    input  slots_t reached_decoded,
    input  logic   decoded_system,
    input  logic   answer,          // the L2 has released what was asked
    input  logic   acknowledge,     // a store is acknowledged
    input  logic   acknowledge_epoch,
    input  logic   store,           // a store sets out, after write-back
    output logic   open,            // the epoch that it joins
    input  logic   issue,           // a fence issues
    input  slot_t  issue_slot,
    output slots_t passes,          // fences that need not wait
    output logic   ask,             // asks the L2 for a release
    input  logic   ask_taken,
    output logic   stores           // some store is not acknowledged, after this cycle
);
  typedef logic [15:0] number_t;
  typedef struct packed {
    number_t [1:0] pending;      // stores of each epoch
    logic          open;
    logic          to_ask;
    slots_t        round;        // fences that wait for the closed epoch
    slots_t        next;         // for the next round
    slots_t        granted;      // whose round is over
    slots_t        asked;        // that the present request to the L2 is for
    slots_t        to_be_asked;  // that the next one is for
    slots_t        answered;
    slots_t        passes;
  } state_t;
  state_t state_q, closed, early, late, state_d;

  // Reaches fences in the order of their slots. Only the first of those that begin a round or ask the L2 is treated in
  // another way than the rest, so all slots are looked at side by side.
  function automatic state_t reach(input state_t from, input slots_t reached, input slots_t is_system);
    state_t s;
    slots_t fences, waiting, ready, asking;
    s = from;
    fences = reached & ~from.passes & ~from.answered & ~from.asked & ~from.to_be_asked;
    waiting = from.pending != 0 ? fences & ~from.granted : '0;
    ready = fences & ~waiting;
    waiting = waiting & ~from.round & ~from.next;
    asking = ready & is_system;
    s.passes = from.passes | (reached & from.answered) | (ready & ~is_system);
    if (from.round == 0 && waiting != 0) begin
      s.open = !from.open;
      s.round = lowest(waiting);
    end
    s.next = from.next | (waiting & ~s.round);
    if (from.asked == 0 && asking != 0) begin
      s.to_ask = 1'b1;
      s.asked = lowest(asking);
    end
    s.to_be_asked = from.to_be_asked | (asking & ~s.asked);
    return s;
  endfunction

  always_comb begin
    closed = reach(state_q, reached_shadow, system);
    if (answer) begin
      closed.answered = closed.answered | closed.asked;
      closed.asked = closed.to_be_asked;
      closed.to_be_asked = '0;
      closed.to_ask = closed.asked != 0;
    end
    if (acknowledge) begin
      closed.pending[acknowledge_epoch] = closed.pending[acknowledge_epoch] - 1'b1;
      if (closed.round != 0 && (closed.pending[!closed.open] == 0 || `BUG(155))) begin
        closed.granted = closed.granted | closed.round;
        closed.round = closed.next;
        closed.next = '0;
        if (closed.round != 0) begin
          closed.open = !closed.open;
          // All stores made during the round may be acknowledged already.
          if (closed.pending[!closed.open] == 0) begin
            closed.granted = closed.granted | closed.round;
            closed.round = '0;
          end
        end
      end
    end
  end
  state_t looked_at;
  always_comb begin
    looked_at = closed;
    looked_at.passes = closed.passes & ~(renewed & reached_after);
  end
  assign early = reach(looked_at, reached_after, system);
  assign open = early.open;

  always_comb begin
    late = early;
    if (store) late.pending[early.open] = early.pending[early.open] + 1'b1;
    late = reach(late, reached_late, system);
  end
  assign passes = late.passes;
  assign stores = late.pending != 0;

  // A grant belongs to one fence: the next fence of the wave asks again.
  state_t issued;
  always_comb begin
    issued = late;
    if (issue) begin
      issued.granted[issue_slot] = `BUG(156) && late.granted[issue_slot];
      issued.answered[issue_slot] = 1'b0;
      issued.passes[issue_slot] = 1'b0;
    end
    issued = reach(issued, reached_behind, {MAX_WAVES{behind_system}});
    issued = reach(issued, reached_decoded, {MAX_WAVES{decoded_system}});
  end
  assign ask = issued.to_ask;
  always_comb begin
    state_d = issued;
    if (ask_taken) state_d.to_ask = 1'b0;
  end
  always_ff @(posedge clk) state_q <= rst_n ? state_d : '0;
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!acknowledge || state_q.pending[acknowledge_epoch] != 0)
      else $error("an acknowledgement of a store that is not on its way");
      assert (state_q.round != 0 || state_q.next == 0) else $error("fences wait for a round that does not begin");
      assert ((state_q.asked & state_q.to_be_asked) == 0) else $error("a fence asks twice");
    end
endmodule
