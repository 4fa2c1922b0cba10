// Proves: responses come out in the order in which they became ready, a reply's before a hit's of the same cycle: those
//   of a
//   reply in the cycle after, a hit's L1_HIT_LATENCY_CYCLES after its access and with its line; one a cycle; none is
//   lost;
//   no queue overflows while no more come than the rooms say; the module's assertions. Of a response it looks at the
//   receiver
//   and at one byte, because all bits take the same way
// Method: induction 1 separately, bounded 12
// Mutant: 150
// Mutant: 152
// Mutant: l1_responses.sv | assign hit_room = int'(hit_count_q) != HITS || takes_hit; | assign hit_room = 1'b1;
// Mutant: l1_responses.sv | if (then_answers_q) hit_data_q[then_at_q] <= then_data; | if (then_answers_q && !takes_hit)
//   hit_data_q[then_at_q] <= then_data;
// Mutant: l1_responses.sv | if (takes_fill) fill_first_q <= fill_at(fill_first_q, fill_count_t'(1)); |
//   if (takes_fill) fill_first_q <= fill_at(fill_first_q, fill_count_t'(2));
module prove_l1_responses
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input logic      clk,
    input logic      rst_n,
    input logic      [1:0] brings_many,
    input response_t [MERGES-1:0] brought_of,
    input logic      answers,
    input response_t answer,
    input data_t     then_data
);
  logic [MERGES-1:0] brings;
  response_t brought[MERGES], response;
  fill_count_t fill_room;
  logic hit_room, response_valid;
  // A reply's responses are the first ones of the list.
  always_comb
    for (int m = 0; m < MERGES; m++) begin
      brings[m] = m < int'(brings_many);
      brought[m] = brought_of[m];
    end
  l1_responses dut (.*);

  // Hits on their way: bit i has been so for i + 1 cycles. Behind them a list of what is ready, oldest first; in
  // `is_hit_q`
  // the queue that it came from.
  localparam int LATENCY = L1_HIT_LATENCY_CYCLES;
  localparam int READY = HITS + FILLS;
  logic      [LATENCY-1:0] way_q;
  response_t [LATENCY-1:0] hit_q;
  response_t [READY-1:0] list_q, list;
  logic      [READY-1:0] is_hit_q, is_hit;
  int length_q, length, hits, fills, flying;
  response_t complete;
  always_comb begin
    list = list_q;
    is_hit = is_hit_q;
    length = length_q;
    hits = 0;
    fills = 0;
    for (int i = 0; i < READY; i++)
      if (i < length_q) begin
        if (is_hit_q[i]) hits = hits + 1;
        else fills = fills + 1;
      end
    flying = $countones(way_q[LATENCY-2:0]);
    if (length_q != 0) begin
      list = list >> $bits(response_t);
      is_hit = is_hit >> 1;
      length = length - 1;
    end
    for (int m = 0; m < MERGES; m++)
      if (brings[m]) begin
        for (int i = 0; i < READY; i++)
          if (i == length) begin
            list[i] = brought_of[m];
            is_hit[i] = 1'b0;
          end
        length = length + 1;
      end
    // The line comes a cycle after the access.
    complete = hit_q[LATENCY-2];
    if (LATENCY == 2) complete.data = then_data;
    if (way_q[LATENCY-2]) begin
      for (int i = 0; i < READY; i++)
        if (i == length) begin
          list[i] = complete;
          is_hit[i] = 1'b1;
        end
      length = length + 1;
    end
  end
  always_ff @(posedge clk) begin
    way_q <= rst_n ? LATENCY'({way_q, answers}) : '0;
    hit_q <= {hit_q[LATENCY-2:0], answer};
    if (LATENCY > 2) hit_q[1].data <= then_data;
    list_q <= list;
    is_hit_q <= is_hit;
    length_q <= rst_n ? length : 0;
  end

  // Places of the hits and fills before an entry of the list.
  function automatic int hit_place(input int ahead);
    hit_place = int'(dut.hit_first_q) + ahead;
    if (hit_place >= HITS) hit_place = hit_place - HITS;
  endfunction
  function automatic int fill_place(input int ahead);
    fill_place = int'(dut.fill_first_q) + ahead;
    if (fill_place >= FILLS) fill_place = fill_place - FILLS;
  endfunction
  int hits_before[READY+1], fills_before[READY+1], younger[LATENCY];
  always_comb begin
    hits_before[0] = 0;
    fills_before[0] = 0;
    for (int i = 0; i < READY; i++) begin
      hits_before[i+1] = hits_before[i] + int'(is_hit_q[i]);
      fills_before[i+1] = fills_before[i] + int'(!is_hit_q[i]);
    end
    younger[LATENCY-2] = hits;
    for (int i = LATENCY - 3; i >= 0; i--) younger[i] = younger[i+1] + int'(way_q[i+1]);
  end
  function automatic logic [OWNER_BITS+7:0] seen(input response_t r);
    return {r.owner, r.data[7:0]};
  endfunction

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (int'(brings_many) <= MERGES && int'(brings_many) <= int'(fill_room));
      assume (!answers || hit_room);
      assert (response_valid == (length_q != 0));
      assert (!response_valid || seen(response) == seen(list_q[0]));
      assert (int'(fill_room) == FILLS - fills && hits + flying <= HITS && length_q <= READY);
      // What makes the induction go.
      assert (length_q >= 0 && int'(dut.ready_count_q) == length_q);
      assert (int'(dut.hit_count_q) == hits + flying && int'(dut.fill_count_q) == fills);
      assert (int'(dut.hit_first_q) < HITS && int'(dut.fill_first_q) < FILLS);
      assert (int'(dut.hit_next_q) == hit_place(hits + flying) % HITS);
      assert (dut.then_answers_q == way_q[0]);
      assert (!way_q[0] || int'(dut.then_at_q) == hit_place(hits + flying - 1));
      assert (dut.hit_soon_q[0] == way_q[LATENCY-1] && dut.hit_soon_q[LATENCY-1] == way_q[0]);
      for (int i = 0; i < LATENCY; i++) assert (dut.hit_soon_q[i] == way_q[LATENCY-1-i]);
      for (int i = 0; i < READY; i++)
        if (i < length_q) begin
          assert (dut.ready_q[i] == is_hit_q[i]);
          if (is_hit_q[i]) begin
            assert (dut.hit_q[hit_place(hits_before[i])].owner == list_q[i].owner);
            assert (dut.hit_data_q[hit_place(hits_before[i])][7:0] == list_q[i].data[7:0]);
          end else assert (seen(dut.fill_q[fill_place(fills_before[i])]) == seen(list_q[i]));
        end
      for (int i = 0; i < LATENCY - 1; i++)
        if (way_q[i]) begin
          assert (dut.hit_q[hit_place(younger[i])].owner == hit_q[i].owner);
          assert (i == 0 || dut.hit_data_q[hit_place(younger[i])][7:0] == hit_q[i].data[7:0]);
        end
      cover (hits == 2 && fills == 3 && response_valid);
      cover (!hit_room && fills != 0);
    end
endmodule
