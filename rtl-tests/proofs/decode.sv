// Proves: the instructions that enter a wave's buffer are the words of its stream, one after another, cut as their
//   operations
//   say: each has its own words and pc, also when it straddles two groups, behind a redirect and in a slot used again
// Method: induction 1, bounded 8, quick
// Mutant: 118
// Mutant: decode.sv | straddling_q <= straddling_q & ~started; | straddling_q <= straddling_q;
// Mutant: 213
// Mutant: decode.sv | straddle_word_q[group_slot] <= group_words == 2 ? group_word[1] : group_word[0]; |
//   straddle_word_q[group_slot] <= group_word[0];

// One wave, any of them. Its groups follow one another, and no group passes the end of the code.
module prove_decode
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input logic   clk,
    input logic   rst_n,
    input pc_t    end_word,
    input slots_t started,
    input logic   redirect,
    input slot_t  redirect_slot,
    input logic   group_valid,
    input slot_t  group_slot,
    input pc_t    group_first,
    input logic   [1:0] group_words,
    input logic   [FETCH_WORDS-1:0][31:0] group_word,
    input slot_t  any_wave
);
  launch_t launch;
  logic    [1:0] pushes, push_valid;
  uop_t    push_uop[FETCH_WORDS];
  needs_t  push_needs[FETCH_WORDS];
  pc_t     end_q;
  always_comb begin
    launch = '0;
    launch.end_word = end_q;
    launch.registers = 9'd64;
  end
  decode dut (.*);

  function automatic logic long(input logic [31:0] word);
    op_info_t info;
    info = op_info(word[31:24], word[7:4]);
    return info.two_words;
  endfunction

  // The words of the stream that are not in an instruction yet: `have_q` of them, at most one, before `next_q`.
  slot_t wave_q;
  logic  have_q, have, running_q;
  logic  [31:0] word_q, word;
  pc_t   next_q;
  // What the group brings, word by word.
  logic  [1:0] many;
  logic  [1:0][31:0] first_word, second_word;
  logic  [1:0] two;
  pc_t   [1:0] at;
  always_comb begin
    many = '0;
    first_word = '0;
    second_word = '0;
    two = '0;
    at = '0;
    have = have_q;
    word = word_q;
    for (int i = 0; i < FETCH_WORDS; i++)
      if (i < int'(group_words)) begin
        if (have) begin
          first_word[many[0]] = word;
          second_word[many[0]] = group_word[i];
          two[many[0]] = 1'b1;
          at[many[0]] = group_first + pc_t'(i) - 1'b1;
          many = many + 1'b1;
          have = 1'b0;
        end else if (long(group_word[i]) && group_first + pc_t'(i) + 1'b1 != end_q) begin
          have = 1'b1;
          word = group_word[i];
        end else begin
          first_word[many[0]] = group_word[i];
          at[many[0]] = group_first + pc_t'(i);
          many = many + 1'b1;
        end
      end
  end
  logic mine;
  assign mine = group_valid && group_slot == wave_q;
  always_ff @(posedge clk) begin
    wave_q <= rst_n ? wave_q : any_wave;
    end_q <= rst_n ? end_q : end_word;
    // Where the next group begins, once one has come.
    running_q <= rst_n && (mine || running_q) && !started[wave_q] && !(redirect && redirect_slot == wave_q);
    if (mine) next_q <= group_first + pc_t'(group_words);
    have_q <= rst_n && !started[wave_q] && !(redirect && redirect_slot == wave_q) && (mine ? have : have_q);
    if (mine) word_q <= word;
  end
  logic known_q;                 // the wave has started
  always_ff @(posedge clk) known_q <= rst_n && (known_q || started[wave_q]);

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (!mine || known_q);
      assume (!mine || !running_q || group_first == next_q);
      assume (group_words <= 2);
      // No group passes the end, and that with no words is the end mark.
      assume (!mine || (32'(group_first) + 32'(group_words) <= 32'(end_q)
          && (group_words == 0) == (group_first == end_q)));
      // What is redirected drops its group of the cycle. A wave that starts has none on the way.
      assume (!(mine && (started[wave_q] || (redirect && redirect_slot == wave_q))));
      if (mine) begin
        assert ($countones(push_valid) == (group_words == 0 ? 1 : int'(many)) && push_valid != 2'b10);
        assert (group_words != 0 || push_uop[0].kind == KIND_END);
        for (int i = 0; i < FETCH_WORDS; i++)
          if (group_words != 0 && push_valid[i]) begin
            assert (push_uop[i].pc == at[i]);
            assert (push_uop[i].word0 == first_word[i]);
            assert (!two[i] || push_uop[i].word1 == second_word[i]);
            assert (push_uop[i].two_words == two[i]);
          end
      end
      assert (group_valid || push_valid == 0);
      // A word that waits is the first of two, and not the last of the code.
      assert (!have_q || (long(word_q) && running_q && next_q < end_q && next_q != 0));
      // What makes the induction go.
      assert (!known_q || dut.straddling_q[wave_q] == have_q);
      assert (!have_q || (known_q && dut.straddle_word_q[wave_q] == word_q));
      assert (!running_q || (known_q && next_q <= end_q));
      cover (mine && have_q && many == 2);
      cover (mine && have_q && group_words == 2 && have);
      cover (mine && group_words == 0);
      cover (redirect && redirect_slot == wave_q && have_q);
    end
endmodule
