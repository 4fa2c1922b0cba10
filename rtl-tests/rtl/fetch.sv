// Fetch (rules F1 to F6): the arbiter over the waves, the instruction cache and its misses. A wave that stage resolve
// redirects or ends is in a shadow, or has fetched the end of the code. So the request of a cycle does not depend on it.
//
// The lines are in a memory with clocks, which is read in the cycle of the request. The words come in the next cycle, in
// which a group arrives at the earliest.
`include "bugs.svh"
`include "events.svh"
module fetch
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  launch_t  launch,
    // Inputs from earlier stages of the cycle.
    input  slots_t   started,
    input  logic     reply_valid,      // a line of code has come
    input  logic [30:0] reply_line,
    input  logic [LINE_BITS-1:0] reply_data,
    input  logic     drop,             // redirect or end of a wave, by stage resolve
    input  logic     redirect,
    input  slot_t    drop_slot,
    input  pc_t      redirect_target,
    // Waves that may fetch as far as other blocks know: resident, not ended, in no shadow, with room in their buffer.
    input  slots_t   willing,
    // To decode: the group that arrives in this cycle, and whether it is dropped.
    output logic     arrives,
    output logic     group_valid,
    output slot_t    group_slot,
    output pc_t      group_first,
    output logic [1:0] group_words,
    output logic [FETCH_WORDS-1:0][31:0] group_word,
    // To the memory port: the line to request.
    output logic     miss_valid,
    output logic [30:0] miss_line,
    input  logic     miss_taken,
    // For the trace: a group was requested.
    output logic     requested,
    output slot_t    requested_slot,
    output pc_t      requested_first
);
  localparam int LINE_WORDS = FETCH_ICACHE_LINE_BYTES / WORD_BYTES;
  localparam int LINE_WORD_BITS = $clog2(LINE_WORDS);
  localparam int WAYS = FETCH_ICACHE_WAYS;
  localparam int SETS = FETCH_ICACHE_BYTES / FETCH_ICACHE_LINE_BYTES / WAYS;
  localparam int SET_BITS = $clog2(SETS);
  localparam int WAY_BITS = $clog2(WAYS);
  localparam int GROUP_SHIFT = $clog2(FETCH_WORDS);
  typedef logic [30:0] line_t;
  typedef logic [WAY_BITS-1:0] way_t;

  // Tags. `rank` orders the ways of a set; 0 is the most recently used.
  logic  valid_q[SETS][WAYS];
  line_t tag_q[SETS][WAYS];
  way_t  rank_q[SETS][WAYS];

  // Lines being waited for, in the order of the first request.
  typedef struct packed {
    logic   valid;
    logic   sent;
    line_t  line;
    slots_t waves;
  } miss_t;
  miss_t [FETCH_ICACHE_MSHRS-1:0] miss_q, miss_sent, miss_replied, miss_d;

  // The word that each wave fetches next, in the kernel and in the code section.
  pc_t    fetch_word_q[MAX_WAVES];
  logic [31:0] address_q[MAX_WAVES];
  slots_t fetching_q, fetched_end_q;

  // Groups on their way, without their words; the next to arrive has index 0.
  typedef struct packed {
    logic       valid;
    slot_t      slot;
    pc_t        first;
    logic [1:0] words;
  } group_in_flight_t;
  group_in_flight_t flight_q[FETCH_ICACHE_LATENCY_CYCLES];
  group_in_flight_t request;

  // The oldest miss that is not sent.
  logic [FETCH_ICACHE_MSHRS-1:0] unsent, sends;
  always_comb begin
    miss_line = '0;
    for (int i = 0; i < FETCH_ICACHE_MSHRS; i++) unsent[i] = miss_q[i].valid && !miss_q[i].sent;
    sends = unsent & (~unsent + 1'b1);
    for (int i = 0; i < FETCH_ICACHE_MSHRS; i++) if (sends[i]) miss_line = miss_line | miss_q[i].line;
  end
  assign miss_valid = unsent != 0;
  always_comb begin
    miss_sent = miss_q;
    for (int i = 0; i < FETCH_ICACHE_MSHRS; i++) if (sends[i] && miss_taken) miss_sent[i].sent = 1'b1;
  end

  // A line arrives: waves that wait for it may request again. The last miss moves to the freed entry.
  slots_t woken;
  logic   reply_wanted;
  always_comb begin
    reply_wanted = 1'b0;
    miss_replied = miss_sent;
    woken = '0;
    if (reply_valid) begin
      for (int i = 0; i < FETCH_ICACHE_MSHRS; i++)
        if (miss_q[i].valid && miss_q[i].line == reply_line) begin
          reply_wanted = 1'b1;
          woken = miss_q[i].waves;
          for (int j = i; j < FETCH_ICACHE_MSHRS - 1; j++) miss_replied[j] = miss_sent[j+1];
          miss_replied[FETCH_ICACHE_MSHRS-1] = '0;
        end
    end
    if (drop) for (int i = 0; i < FETCH_ICACHE_MSHRS; i++) miss_replied[i].waves[drop_slot] = 1'b0;
  end

  // The frame for the arriving line: the least recently used one.
  logic [SET_BITS-1:0] fill_set;
  way_t fill_way;
  assign fill_set = SET_BITS'(reply_line);
  always_comb begin
    fill_way = '0;
    for (int w = 0; w < WAYS; w++) if (rank_q[fill_set][w] == (`BUG(114) ? '0 : way_t'(WAYS - 1))) fill_way = way_t'(w);
  end

  // The group that arrives, unless its wave was redirected.
  assign arrives = flight_q[0].valid;
  assign group_valid = arrives && !(drop && drop_slot == group_slot);
  assign group_slot = flight_q[0].slot;
  assign group_first = flight_q[0].first;
  assign group_words = flight_q[0].words;

  // The request of this cycle.
  slots_t candidates, fetching, fetched_end;
  always_comb begin
    fetching = fetching_q & ~woken;
    fetched_end = fetched_end_q;
    if (arrives) begin
      fetching[group_slot] = 1'b0;
      if (group_words == 0) fetched_end[group_slot] = 1'b1;
    end
    fetching = fetching & ~started;
    fetched_end = fetched_end & ~started;
  end
  assign candidates = willing & ~fetching & ~fetched_end;

  // Of each wave: its next group. Then one is chosen.
  pc_t    first_of[MAX_WAVES], left;
  logic [31:0] address_of[MAX_WAVES];
  logic [1:0] words_of[MAX_WAVES];
  always_comb begin
    left = '0;
    for (int w = 0; w < MAX_WAVES; w++) begin
      first_of[w] = started[w] ? '0 : fetch_word_q[w];
      address_of[w] = started[w] ? launch.base_word : address_q[w];
      left = launch.end_word - first_of[w];
      words_of[w] = 2'(FETCH_WORDS - int'(address_of[w][GROUP_SHIFT-1:0]));
      if (left < PC_BITS'(words_of[w]) && !`BUG(115)) words_of[w] = 2'(left);
    end
  end
  slots_t turn_q, in_turn, served, pick;  // turn_q: slots behind that of the last request
  slot_t  slot;
  logic   wanted;
  pc_t    first;
  logic [31:0] address;
  logic [1:0] words;
  line_t  line;
  logic [SET_BITS-1:0] set;
  logic   hit;
  way_t   hit_way;
  assign wanted = candidates != 0;
  assign in_turn = candidates & turn_q;
  // Waves whose line arrives come first. So each line that comes serves a wave, before another line replaces it.
  assign served = `BUG(163) ? '0 : candidates & woken;
  assign pick = served != 0 ? lowest(served) : in_turn != 0 ? lowest(in_turn) : lowest(candidates);
  numbers_t firsts, addresses, counts;
  always_comb
    for (int w = 0; w < MAX_WAVES; w++) begin
      firsts[w] = 32'(first_of[w]);
      addresses[w] = address_of[w];
      counts[w] = 32'(words_of[w]);
    end
  assign slot = slot_of(pick);
  assign first = pc_t'(number_of(pick, firsts));
  assign address = number_of(pick, addresses);
  assign words = 2'(number_of(pick, counts));
  assign line = 31'(address >> LINE_WORD_BITS);
  assign set = SET_BITS'(line);

  // A line that arrives in this cycle hits in this cycle.
  logic fill_here;
  assign fill_here = reply_valid && fill_set == set && !`BUG(116);
  always_comb begin
    hit = 1'b0;
    hit_way = '0;
    for (int w = 0; w < WAYS; w++)
      if (fill_here && way_t'(w) == fill_way ? line == reply_line : valid_q[set][w] && tag_q[set][w] == line) begin
        hit = 1'b1;
        hit_way = way_t'(w);
      end
  end
  // The words of a request, in the cycle after it. A line that arrives in the cycle of the request is not read, since it is
  // being written: the words are kept.
  typedef logic [LINE_WORDS-1:0][31:0] line_words_t;
  typedef logic [LINE_WORD_BITS-1:0] place_t;
  typedef logic [FETCH_WORDS-1:0][31:0] words_t;
  function automatic words_t words_at(input line_words_t of_line, input place_t at);
    place_t place;
    for (int i = 0; i < FETCH_WORDS; i++) begin
      place = at + place_t'(unsigned'(i));
      words_at[i] = of_line[place];
    end
  endfunction
  logic   arrives_now, then_arrived_q;
  place_t then_at_q;
  line_words_t read_line;
  words_t then_word, then_arrived_word_q;
  assign arrives_now = fill_here && hit_way == fill_way;
  sram #(.WORDS(SETS << WAY_BITS), .WIDTH(LINE_BITS)) u_lines (
      .clk, .rst_n, .read(wanted && hit && !arrives_now), .read_at({set, hit_way}), .read_word(read_line),
      .write(reply_valid), .write_at({fill_set, fill_way}), .write_mask(1'b1), .write_word(reply_data));
  always_ff @(posedge clk) begin
    then_arrived_q <= arrives_now;
    then_at_q <= place_t'(address);
    then_arrived_word_q <= words_at(reply_data, place_t'(address));
  end
  assign then_word = then_arrived_q ? then_arrived_word_q : words_at(read_line, then_at_q);
  if (FETCH_ICACHE_LATENCY_CYCLES == 1) begin : gen_word_now
    assign group_word = then_word;
  end else begin : gen_word_later
    words_t word_q[FETCH_ICACHE_LATENCY_CYCLES-1];
    always_ff @(posedge clk) begin
      for (int i = 0; i < FETCH_ICACHE_LATENCY_CYCLES - 2; i++) word_q[i] <= word_q[i+1];
      word_q[FETCH_ICACHE_LATENCY_CYCLES-2] <= then_word;
    end
    assign group_word = word_q[0];
  end

  // A miss joins that of its line or takes the first free entry. Whether the request hits is known last.
  typedef logic [FETCH_ICACHE_MSHRS-1:0] misses_t;
  misses_t same_line, free_misses, joins, takes;
  logic    misses, lost;
  always_comb begin
    for (int i = 0; i < FETCH_ICACHE_MSHRS; i++) begin
      same_line[i] = miss_replied[i].valid && miss_replied[i].line == line;
      free_misses[i] = !miss_replied[i].valid;
    end
    misses = wanted && words != 0 && !hit;
    lost = same_line == 0 && free_misses == 0;
    joins = misses ? same_line : '0;
    takes = misses && same_line == 0 ? free_misses & (~free_misses + 1'b1) : '0;
    miss_d = miss_replied;
    for (int i = 0; i < FETCH_ICACHE_MSHRS; i++) begin
      if (takes[i]) miss_d[i] = '{valid: 1'b1, sent: 1'b0, line: line, waves: pick};
      if (joins[i]) miss_d[i].waves = miss_replied[i].waves | pick;
    end
  end
  assign requested = wanted && (words == 0 || hit);
  assign requested_slot = slot;
  assign requested_first = first;

  always_comb begin
    request.valid = requested;
    request.slot = slot;
    request.first = first;
    request.words = words;
  end

  // Ranks after the fill and the use of this cycle.
  way_t fill_rank[WAYS];
  way_t use_rank[WAYS];
  always_comb begin
    for (int w = 0; w < WAYS; w++)
      fill_rank[w] = way_t'(w) == fill_way ? '0 : rank_q[fill_set][w] + way_t'(1);
    for (int w = 0; w < WAYS; w++) use_rank[w] = fill_here ? fill_rank[w] : rank_q[set][w];
    for (int w = 0; w < WAYS; w++) begin
      if (way_t'(w) != hit_way && (fill_here ? fill_rank[w] : rank_q[set][w])
          < (fill_here ? fill_rank[hit_way] : rank_q[set][hit_way]))
        use_rank[w] = use_rank[w] + way_t'(1);
    end
    use_rank[hit_way] = '0;
  end

  always_ff @(posedge clk) begin
    for (int i = 0; i < FETCH_ICACHE_LATENCY_CYCLES - 1; i++) begin
      flight_q[i] <= flight_q[i+1];
      if (drop && drop_slot == flight_q[i+1].slot) flight_q[i].valid <= 1'b0;
    end
    flight_q[FETCH_ICACHE_LATENCY_CYCLES-1] <= request;
    miss_q <= miss_d;
    fetching_q <= fetching;
    fetched_end_q <= fetched_end;
    for (int w = 0; w < MAX_WAVES; w++) begin
      if (started[w]) begin
        fetch_word_q[w] <= '0;
        address_q[w] <= launch.base_word;
      end
      if (redirect && drop_slot == slot_t'(w)) begin
        fetch_word_q[w] <= redirect_target;
        address_q[w] <= launch.base_word + 32'(redirect_target);
      end
      if (requested && pick[w]) begin
        fetch_word_q[w] <= first_of[w] + PC_BITS'(words_of[w]);
        address_q[w] <= address_of[w] + 32'(words_of[w]);
      end
    end
    if (wanted && (words == 0 || hit || !lost)) begin
      fetching_q <= fetching | pick;
      turn_q <= `BUG(117) ? {{MAX_WAVES-1{1'b1}}, 1'b0} : slots_behind(pick);
    end
    if (drop) begin
      fetching_q[drop_slot] <= 1'b0;
      fetched_end_q[drop_slot] <= 1'b0;
    end
    if (reply_valid) begin
      valid_q[fill_set][fill_way] <= 1'b1;
      tag_q[fill_set][fill_way] <= reply_line;
      for (int w = 0; w < WAYS; w++) rank_q[fill_set][w] <= fill_rank[w];
    end
    if (requested && words != 0) for (int w = 0; w < WAYS; w++) rank_q[set][w] <= use_rank[w];
    if (!rst_n) begin
      for (int i = 0; i < FETCH_ICACHE_LATENCY_CYCLES; i++) flight_q[i] <= '0;
      miss_q <= '0;
      fetching_q <= '0;
      fetched_end_q <= '0;
      turn_q <= {{MAX_WAVES-1{1'b1}}, 1'b0};
      for (int s = 0; s < SETS; s++)
        for (int w = 0; w < WAYS; w++) begin
          valid_q[s][w] <= 1'b0;
          rank_q[s][w] <= way_t'(w);
        end
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!requested || !fetching[slot]) else $error("a wave has two groups on their way");
      assert (!(wanted && drop && slot == drop_slot)) else $error("a wave fetches that is redirected or ends");
      assert (!reply_valid || reply_wanted) else $error("a line of code comes that nobody asked for");
      for (int i = 0; i < FETCH_ICACHE_MSHRS; i++)
        for (int j = 0; j < i; j++)
          assert (!(miss_q[i].valid && miss_q[j].valid && miss_q[i].line == miss_q[j].line))
          else $error("two misses of one line of code");
    end
  // What coverage counts.
  `EVENT(fetch_idle, !wanted)
  `EVENT(fetch_several_want, $countones(candidates) > 1)
  `EVENT(fetch_turn_wraps, wanted && in_turn == 0)
  `EVENT(fetch_serves_the_line_that_came, served != 0)
  `EVENT(fetch_two_words, requested && words == 2)
  `EVENT(fetch_one_word, requested && words == 1)
  `EVENT(fetch_end_of_code, requested && words == 0)
  `EVENT(fetch_miss_begins, takes != 0)
  `EVENT(fetch_miss_joins, joins != 0)
  `EVENT(fetch_miss_lost, misses && lost)
  `EVENT(fetch_misses_full, free_misses == 0)
  `EVENT(fetch_line_comes, reply_valid)
  `EVENT(fetch_line_hits_at_once, requested && arrives_now)
  `EVENT(fetch_line_for_nobody, reply_valid && woken == 0)
  `EVENT(fetch_line_for_several, $countones(woken) > 1)
  `EVENT(fetch_line_replaces, reply_valid && valid_q[fill_set][fill_way])
  `EVENT(fetch_line_beside_a_request, reply_valid && wanted && fill_set == set && !arrives_now)
  `EVENT(fetch_group_dropped, arrives && !group_valid)
  `EVENT(fetch_redirected_at_a_miss, drop && miss_q[0].valid && miss_q[0].waves[drop_slot])
  `EVENT(fetch_port_refuses, miss_valid && !miss_taken)
endmodule
