// Responses to the load/store unit, which takes one a cycle (docs/memory.md, M12). Responses to hits are in the order
// of the accesses, those of replies in the order of arrival. The one that has been ready for longest goes first, a
// reply's before a hit's.
`include "bugs.svh"
module l1_responses
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input  logic      clk,
    input  logic      rst_n,
    // The responses of a reply are ready in the next cycle.
    input  logic [MERGES-1:0] brings,
    input  response_t brought[MERGES],
    output int        fill_room,
    // The response of an access that hits is ready after the L1's latency.
    input  logic      answers,
    input  response_t answer,
    output int        hit_room,
    output logic      response_valid,
    output response_t response
);
  localparam int HITS = L1_HIT_LATENCY_CYCLES + 4;
  localparam int HIT_BITS = $clog2(HITS);
  localparam int FILLS = 2 * MERGES;
  localparam int FILL_BITS = $clog2(FILLS);
  logic [31:0] now_q;
  response_t hit_q[HITS];
  logic [31:0] hit_ready_q[HITS];
  logic [HIT_BITS-1:0] hit_first_q;
  logic [HIT_BITS:0] hit_count_q;
  response_t fill_q[FILLS];
  logic [31:0] fill_ready_q[FILLS];
  logic [FILL_BITS-1:0] fill_first_q;
  logic [FILL_BITS:0] fill_count_q;

  logic hit_due, fill_due, takes_hit, takes_fill;
  assign hit_due = hit_count_q != 0 && hit_ready_q[hit_first_q] <= now_q;
  assign fill_due = fill_count_q != 0 && fill_ready_q[fill_first_q] <= now_q;
  assign takes_hit = hit_due
      && (!fill_due || hit_ready_q[hit_first_q] < fill_ready_q[fill_first_q] + 32'(`BUG(150)));
  assign takes_fill = fill_due && !takes_hit;
  assign response_valid = hit_due || fill_due;
  assign response = takes_hit ? hit_q[hit_first_q] : fill_q[fill_first_q];
  assign fill_room = FILLS - int'(fill_count_q);
  assign hit_room = HITS - int'(hit_count_q) + int'(takes_hit);

  function automatic logic [HIT_BITS-1:0] hit_at(input int offset);
    return HIT_BITS'((int'(hit_first_q) + offset) % HITS);
  endfunction
  function automatic logic [FILL_BITS-1:0] fill_at(input int offset);
    return FILL_BITS'((int'(fill_first_q) + offset) % FILLS);
  endfunction

  always_ff @(posedge clk) begin
    now_q <= now_q + 1;
    for (int m = 0; m < MERGES; m++)
      if (brings[m]) begin
        fill_q[fill_at(int'(fill_count_q) + m)] <= brought[m];
        fill_ready_q[fill_at(int'(fill_count_q) + m)] <= now_q + 1;
      end
    fill_count_q <= (FILL_BITS + 1)'(int'(fill_count_q) + $countones(brings) - int'(takes_fill));
    if (takes_fill) fill_first_q <= fill_at(1);
    if (answers) begin
      hit_q[hit_at(int'(hit_count_q))] <= answer;
      hit_ready_q[hit_at(int'(hit_count_q))] <= now_q + unsigned'(L1_HIT_LATENCY_CYCLES - int'(`BUG(152)));
    end
    hit_count_q <= (HIT_BITS + 1)'(int'(hit_count_q) + int'(answers) - int'(takes_hit));
    if (takes_hit) hit_first_q <= hit_at(1);
    if (!rst_n) begin
      now_q <= '0;
      hit_first_q <= '0;
      hit_count_q <= '0;
      fill_first_q <= '0;
      fill_count_q <= '0;
    end
  end
endmodule
