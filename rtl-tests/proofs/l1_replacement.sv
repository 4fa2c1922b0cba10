// Proves: the victim is the frame that has the line, else an empty frame, else the frame whose last use is furthest
//   back, where
//   a streaming line counts as never used
// Method: induction 1, bounded 10, quick
// Mutant: 148
// Mutant: l1_replacement.sv | o[w][i] = !never[i] && way_t'(i) != w; | o[w][i] = way_t'(i) != w;
// Mutant: l1_replacement.sv | unused = reply_set == set ? reply_unused : unused_q[set]; | unused = unused_q[set];
// Mutant: l1_replacement.sv | if (!found_frame && !found_empty && !reply_named[w] && | if (!found_empty &&
//   !reply_named[w] &&

// The time of the last use of each frame of one set, which may be any set. Time does not run over.
module prove_l1_replacement
  import l1_pkg::*;
(
    input logic  clk,
    input logic  rst_n,
    input set_t  reply_set,
    input ways_t reply_named,
    input ways_t reply_matches,
    input logic  install,
    input logic  streaming,
    input set_t  set,
    input way_t  way,
    input logic  touches,
    input set_t  any_set
);
  way_t victim;
  l1_replacement dut (.clk, .rst_n, .reply_set, .reply_named, .reply_matches, .victim, .install, .streaming, .set,
      .way, .touches);

  typedef logic [15:0] time_t;
  set_t  chosen_q;
  time_t now_q;
  time_t [WAYS-1:0] used_q, used;
  way_t  oldest, expected;
  logic  none_named;
  always_comb begin
    // The lowest of those used first.
    oldest = '0;
    for (int w = WAYS - 1; w >= 0; w--) begin
      logic first;
      first = 1'b1;
      for (int o = 0; o < WAYS; o++) if (used_q[o] < used_q[w]) first = 1'b0;
      if (first) oldest = way_t'(w);
    end
    expected = oldest;
    for (int w = WAYS - 1; w >= 0; w--) if (!reply_named[w]) expected = way_t'(w);
    if (reply_matches != 0) for (int w = WAYS - 1; w >= 0; w--) if (reply_matches[w]) expected = way_t'(w);
    used = used_q;
    if (install && reply_set == chosen_q && reply_matches == 0) used[expected] = streaming ? '0 : now_q;
    if (touches && set == chosen_q) used[way] = now_q + 1'b1;
  end
  always_ff @(posedge clk) begin
    chosen_q <= rst_n ? chosen_q : any_set;
    now_q <= rst_n ? now_q + 16'd2 : 16'd2;
    used_q <= rst_n ? used : '0;
  end

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (now_q < 16'hFF00);
      assert (reply_set != chosen_q || victim == expected);
      // What makes the induction go: the matrix is the order of the times, and 0 is no use.
      for (int w = 0; w < WAYS; w++) begin
        assert (used_q[w] < now_q);
        assert (dut.unused_q[chosen_q][w] == (used_q[w] == 0));
        for (int o = 0; o < WAYS; o++) assert (dut.older_q[chosen_q][o][w] == (used_q[o] < used_q[w]));
      end
      cover (reply_set == chosen_q && reply_matches == 0 && (&reply_named) && victim == way_t'(1));
      cover (reply_set == chosen_q && install && streaming && touches && set == chosen_q && reply_matches == 0);
    end
endmodule
