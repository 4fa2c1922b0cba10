// Responses to the load/store unit, which takes one a cycle (docs/memory.md, M12). Responses to hits are in the order
// of the accesses, those of replies in the order of arrival. The one that has been ready for longest goes first, a
// reply's before a hit's.
`include "bugs.svh"
`include "events.svh"
module l1_responses
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input  logic      clk,
    input  logic      rst_n,
    // The responses of a reply are ready in the next cycle.
    input  logic [MERGES-1:0] brings,
    input  response_t brought[MERGES],
    output fill_count_t fill_room,
    // The response of an access that hits is ready after the L1's latency.
    input  logic      answers,
    input  response_t answer,
    input  data_t     then_data,       // its line, a cycle later
    output logic      hit_room,
    output logic      response_valid,
    output response_t response
);
  localparam int READY = HITS + FILLS;
  typedef logic [$clog2(HITS)-1:0] hit_t;
  typedef logic [$clog2(HITS+1)-1:0] hit_count_t;
  typedef logic [$clog2(FILLS)-1:0] fill_t;
  typedef logic [$clog2(READY+1)-1:0] ready_count_t;
  response_t   hit_q[HITS];           // but for the data
  data_t       hit_data_q[HITS];
  hit_t        then_at_q;
  logic        then_answers_q;
  hit_t        hit_first_q, hit_next_q;
  hit_count_t  hit_count_q;
  response_t   fill_q[FILLS];
  fill_t       fill_first_q;
  fill_count_t fill_count_q;
  // Bit i: a hit becomes ready in i + 1 cycles.
  logic [L1_HIT_LATENCY_CYCLES-1:0] hit_soon_q, hit_soon;
  // What is ready, in the order in which it became ready: 1 is a hit.
  logic [READY-1:0] ready_q, ready_d;
  ready_count_t     ready_count_q, ready_count_d;

  logic takes_hit, takes_fill;
  assign response_valid = ready_count_q != 0;
  assign takes_hit = response_valid && ready_q[0];
  assign takes_fill = response_valid && !ready_q[0];
  always_comb begin
    response = takes_hit ? hit_q[hit_first_q] : fill_q[fill_first_q];
    if (takes_hit) response.data = hit_data_q[hit_first_q];
  end
  assign fill_room = fill_count_t'(FILLS) - fill_count_q + fill_count_t'(`BUG(237) && fill_count_q != 0);
  assign hit_room = int'(hit_count_q) != HITS || takes_hit;

  // The place behind `offset` others. Both are less than the entries.
  function automatic hit_t hit_after(input hit_t first);
    return int'(first) == HITS - 1 - int'(`BUG(236)) ? '0 : first + 1'b1;
  endfunction
  function automatic fill_t fill_at(input fill_t first, input fill_count_t offset);
    fill_count_t place;
    place = fill_count_t'(FILLS) - fill_count_t'(first);
    return offset >= place ? fill_t'(offset - place) : first + fill_t'(offset);
  endfunction

  always_comb begin
    hit_soon = hit_soon_q >> 1;
    if (answers) hit_soon[L1_HIT_LATENCY_CYCLES-1-int'(`BUG(152))] = 1'b1;
    ready_d = ready_q;
    ready_count_d = ready_count_q;
    if (response_valid) begin
      ready_d = ready_q >> 1;
      ready_count_d = ready_count_q - 1'b1;
    end
    if (`BUG(150) && hit_soon[0]) begin
      ready_d[ready_count_d] = 1'b1;
      ready_count_d = ready_count_d + 1'b1;
    end
    for (int m = 0; m < MERGES; m++)
      if (brings[m]) begin
        ready_d[ready_count_d] = 1'b0;
        ready_count_d = ready_count_d + 1'b1;
      end
    if (!`BUG(150) && hit_soon[0]) begin
      ready_d[ready_count_d] = 1'b1;
      ready_count_d = ready_count_d + 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    hit_soon_q <= hit_soon;
    ready_q <= ready_d;
    ready_count_q <= ready_count_d;
    for (int m = 0; m < MERGES; m++)
      if (brings[m]) fill_q[fill_at(fill_first_q, fill_count_q + fill_count_t'(m))] <= brought[m];
    fill_count_q <= fill_count_q + fill_count_t'($countones(brings)) - fill_count_t'(takes_fill);
    if (takes_fill) fill_first_q <= fill_at(fill_first_q, fill_count_t'(1));
    then_answers_q <= rst_n && answers;
    then_at_q <= hit_next_q;
    if (then_answers_q) hit_data_q[then_at_q] <= then_data;
    if (answers) begin
      hit_q[hit_next_q] <= answer;
      hit_next_q <= hit_after(hit_next_q);
    end
    hit_count_q <= hit_count_q + hit_count_t'(answers) - hit_count_t'(takes_hit);
    if (takes_hit) hit_first_q <= hit_after(hit_first_q);
    if (!rst_n) begin
      hit_soon_q <= '0;
      ready_count_q <= '0;
      hit_first_q <= '0;
      hit_next_q <= '0;
      hit_count_q <= '0;
      fill_first_q <= '0;
      fill_count_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (int'(fill_count_q) <= FILLS) else $error("more responses of replies than places");
      assert (int'(hit_count_q) <= HITS) else $error("more responses of hits than places");
      assert (int'(ready_count_q) <= int'(fill_count_q) + int'(hit_count_q))
      else $error("more responses are ready than there are");
    end
  // What coverage counts.
  `EVENT(responses_hits_full, int'(hit_count_q) == HITS)
  `EVENT(responses_fills_full, fill_room == 0)
  `EVENT(responses_meet, hit_soon[0] && brings != 0)
  `EVENT(responses_several_ready, ready_count_q > 1)
  `EVENT(responses_of_hits_in_a_row, takes_hit && then_answers_q)
endmodule
