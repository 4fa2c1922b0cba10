// Replacement in the L1: the order of use of its frames, and the frame for an arriving line.
`include "bugs.svh"
`include "events.svh"
module l1_replacement
  import l1_pkg::*;
(
    input  logic  clk,
    input  logic  rst_n,
    // The line of a reply takes its own frame, else an empty one, else the least recently used.
    input  set_t  reply_set,
    input  ways_t reply_named,       // frames of its set that have a tag
    input  ways_t reply_matches,     // and those that have its tag
    output way_t  victim,
    input  logic  install,
    input  logic  streaming,         // everyone who waits for it streams: it is the first to leave
    // An access that uses a frame, after the reply.
    input  set_t  set,
    input  way_t  way,
    input  logic  touches
);
  typedef logic [WAYS-1:0][WAYS-1:0] order_t;
  // older[i][j]: way i was used before way j. `unused` ways come before every use.
  order_t older_q[SETS];
  ways_t  unused_q[SETS];

  logic found_frame, found_empty, found_oldest;
  always_comb begin
    victim = '0;
    found_frame = 1'b0;
    found_empty = 1'b0;
    found_oldest = 1'b0;
    for (int w = 0; w < WAYS; w++)
      if (!found_frame && reply_matches[w] && !`BUG(241)) begin
        found_frame = 1'b1;
        victim = way_t'(w);
      end
    for (int w = 0; w < WAYS; w++)
      if (!found_frame && !found_empty && !reply_named[w] && !`BUG(242)) begin
        found_empty = 1'b1;
        victim = way_t'(w);
      end
    for (int w = 0; w < WAYS; w++)
      if (!found_frame && !found_empty && !found_oldest) begin
        // No way was used earlier.
        found_oldest = 1'b1;
        for (int o = 0; o < WAYS; o++) if (older_q[reply_set][o][w]) found_oldest = 1'b0;
        if (found_oldest) victim = way_t'(w);
      end
  end

  // The order of use after way w was used, or was made the next victim.
  function automatic order_t used_last(input order_t from, input way_t w);
    order_t o;
    o = from;
    o[w] = '0;
    for (int i = 0; i < WAYS; i++) if (way_t'(i) != w) o[i][w] = 1'b1;
    return o;
  endfunction
  function automatic order_t used_never(input order_t from, input ways_t never, input way_t w);
    order_t o;
    o = from;
    for (int i = 0; i < WAYS; i++) begin
      o[w][i] = !never[i] && way_t'(i) != w;
      o[i][w] = 1'b0;
    end
    return o;
  endfunction

  // Order of use in the set of the reply, and then in the set of the access.
  order_t reply_older, older;
  ways_t  reply_unused, unused;
  always_comb begin
    reply_older = older_q[reply_set];
    reply_unused = unused_q[reply_set];
    if (install && !found_frame && !(`BUG(243) && touches)) begin
      if (streaming && !`BUG(148)) begin
        reply_older = used_never(older_q[reply_set], unused_q[reply_set], victim);
        reply_unused[victim] = 1'b1;
      end else begin
        reply_older = used_last(older_q[reply_set], victim);
        reply_unused[victim] = 1'b0;
      end
    end
    older = reply_set == set ? reply_older : older_q[set];
    unused = reply_set == set ? reply_unused : unused_q[set];
    if (touches) begin
      older = used_last(older, way);
      unused[way] = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (install) begin
      older_q[reply_set] <= reply_older;
      unused_q[reply_set] <= reply_unused;
    end
    if (touches) begin
      older_q[set] <= older;
      unused_q[set] <= unused;
    end
    if (!rst_n)
      for (int s = 0; s < SETS; s++) begin
        older_q[s] <= '0;
        unused_q[s] <= '1;
      end
  end
  // What coverage counts.
  `EVENT(replaces_the_same_line, install && found_frame)
  `EVENT(replaces_nothing, install && found_empty)
  `EVENT(replaces_the_oldest, install && !found_frame && !found_empty)
  `EVENT(replaces_streaming, install && streaming)
  `EVENT(replaces_in_the_set_of_a_use, install && touches && reply_set == set)
endmodule
