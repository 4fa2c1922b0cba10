// Releases at device and system scope (rule B6): stores on their way to the L2 in two epochs, rounds, and requests to
// the L2.
module releases
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    // Fences at the head of their waves, from the start of the cycle on, that are reached: accesses performed, at no
    // barrier, in no shadow. `reached_before` as the last cycle left it, `reached_shadow` those whose shadow ends now,
    // `reached_after` with the retirements of write-back.
    input  slots_t reached_before,
    input  slots_t reached_shadow,
    input  slots_t reached_after,
    input  slots_t system,
    input  logic   answer,          // the L2 has released what was asked
    input  logic   acknowledge,     // a store is acknowledged
    input  logic   acknowledge_epoch,
    input  logic   store,           // a store sets out, after all that
    output logic   open,            // the epoch that it joins
    input  logic   issue,           // a fence issues
    input  slot_t  issue_slot,
    output slots_t passes,          // fences that need not wait
    output logic   ask,             // asks the L2 for a release
    input  logic   ask_taken,
    output logic   stores           // some store is not acknowledged, after this cycle
);
  typedef logic [15:0] number_t;
  number_t pending_q[2], pending[2];
  logic    open_q, to_ask_q, to_ask;
  slots_t  round_q, next_q, granted_q, asked_q, to_be_asked_q, answered_q, passes_q;
  slots_t  round, next_round, granted, asked, to_be_asked, answered, passing;

  // One fence is reached.
  logic   waits;
  slots_t now_reached;
  slots_t bit_of;
  always_comb begin
    pending[0] = pending_q[0];
    pending[1] = pending_q[1];
    open = open_q;
    round = round_q;
    next_round = next_q;
    granted = granted_q;
    asked = asked_q;
    to_be_asked = to_be_asked_q;
    answered = answered_q;
    passing = passes_q;
    to_ask = to_ask_q;
    waits = 1'b0;
    bit_of = '0;
    now_reached = '0;
    for (int phase = 0; phase < 3; phase++) begin
      if (phase == 2) begin
        if (answer) begin
          answered = answered | asked;
          asked = to_be_asked;
          to_be_asked = '0;
          to_ask = asked != 0;
        end
        if (acknowledge) begin
          pending[acknowledge_epoch] = pending[acknowledge_epoch] - 1'b1;
          if (round != 0 && pending[!open] == 0) begin
            granted = granted | round;
            round = next_round;
            next_round = '0;
            if (round != 0) begin
              open = !open;
              if (pending[!open] == 0) begin
                granted = granted | round;
                round = '0;
              end
            end
          end
        end
      end
      now_reached = phase == 0 ? reached_before : phase == 1 ? reached_shadow : reached_after;
      now_reached = now_reached & ~passing;
      for (int w = 0; w < MAX_WAVES; w++) begin
        if (now_reached[w]) begin
          bit_of = '0;
          bit_of[w] = 1'b1;
          if (answered[w]) passing[w] = 1'b1;
          else if (!asked[w] && !to_be_asked[w]) begin
            waits = !granted[w] && (pending[0] != 0 || pending[1] != 0);
            if (waits && !round[w] && !next_round[w]) begin
              if (round != 0) next_round[w] = 1'b1;
              else begin
                open = !open;
                round = bit_of;
              end
            end
            if (!waits) begin
              if (!system[w]) passing[w] = 1'b1;
              else if (asked == 0) begin
                asked = bit_of;
                to_ask = 1'b1;
              end else to_be_asked[w] = 1'b1;
            end
          end
        end
      end
    end
  end
  assign passes = passing;
  assign ask = to_ask;

  number_t pending_d[2];
  always_comb begin
    pending_d[0] = pending[0];
    pending_d[1] = pending[1];
    if (store) pending_d[open] = pending[open] + 1'b1;
  end
  assign stores = pending_d[0] != 0 || pending_d[1] != 0;

  always_ff @(posedge clk) begin
    pending_q[0] <= pending_d[0];
    pending_q[1] <= pending_d[1];
    open_q <= open;
    round_q <= round;
    next_q <= next_round;
    granted_q <= granted;
    asked_q <= asked;
    to_be_asked_q <= to_be_asked;
    answered_q <= answered;
    passes_q <= passing;
    to_ask_q <= to_ask && !ask_taken;
    if (issue) begin
      granted_q[issue_slot] <= 1'b0;
      answered_q[issue_slot] <= 1'b0;
      passes_q[issue_slot] <= 1'b0;
    end
    if (!rst_n) begin
      pending_q[0] <= '0;
      pending_q[1] <= '0;
      open_q <= 1'b0;
      round_q <= '0;
      next_q <= '0;
      granted_q <= '0;
      asked_q <= '0;
      to_be_asked_q <= '0;
      answered_q <= '0;
      passes_q <= '0;
      to_ask_q <= 1'b0;
    end
  end
endmodule
