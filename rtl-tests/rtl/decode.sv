// Decode (rules D1, D2): splits the words of an arriving group into instructions. Each wave has a straddle latch.
`include "bugs.svh"
`include "events.svh"
module decode
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic                     clk,
    input  launch_t                  launch,
    input  slots_t                   started,      // straddle latches to clear: new waves
    input  logic                     redirect,     // stage resolve: a wave goes on elsewhere
    input  slot_t                    redirect_slot,
    // The group that arrives in this cycle and was not discarded.
    input  logic                     group_valid,
    input  slot_t                    group_slot,
    input  pc_t                      group_first,
    input  logic [1:0]               group_words,  // 0: the end of the code
    input  logic [FETCH_WORDS-1:0][31:0] group_word,
    // Instructions that the group brings if one arrives, whether or not it is discarded.
    output logic [1:0]               pushes,
    // Instructions that enter the wave's buffer.
    output logic [1:0]               push_valid,
    output uop_t                     push_uop[FETCH_WORDS],
    output needs_t                   push_needs[FETCH_WORDS]
);
  slots_t      straddling_q;
  logic [31:0] straddle_word_q[MAX_WAVES];

  logic        straddling, next_straddling;
  logic [1:0][31:0] word0, word1;
  logic [1:0]  truncated;
  pc_t         pc[2];
  logic [31:0] straddle_word;

  function automatic logic two_words(input logic [31:0] word);
    op_info_t info;
    info = op_info(word[31:24], word[7:4]);
    return info.two_words;
  endfunction

  // Whether the group counts is known late, so that it decides about nothing but the entry of what it brings.
  assign push_valid = group_valid ? pushes : '0;
  always_comb begin
    straddling = straddling_q[group_slot];
    straddle_word = straddle_word_q[group_slot];
    pushes = '0;
    word0 = '0;
    word1 = '0;
    truncated = '0;
    pc[0] = group_first;
    pc[1] = group_first;
    next_straddling = 1'b0;
    if (group_words == 0) pushes[0] = 1'b1;
    else if (straddling) begin
      // Word 0 completes an instruction; word 1 is another one.
      pushes[0] = 1'b1;
      word0[0] = straddle_word;
      word1[0] = group_word[0];
      pc[0] = `BUG(213) ? group_first : group_first - 1'b1;
      if (group_words == 2) begin
        word0[1] = group_word[1];
        pc[1] = group_first + 1'b1;
        truncated[1] = group_first + pc_t'(2) == launch.end_word && !`BUG(214);
        pushes[1] = !two_words(group_word[1]) || truncated[1];
        next_straddling = !pushes[1];
      end
    end else begin
      word0[0] = group_word[0];
      truncated[0] = group_first + 1'b1 == launch.end_word;
      if (two_words(group_word[0]) && !truncated[0]) begin
        word1[0] = group_word[1];
        pushes[0] = group_words == 2;
        next_straddling = group_words != 2;
      end else begin
        pushes[0] = 1'b1;
        if (group_words == 2) begin
          word0[1] = group_word[1];
          pc[1] = group_first + 1'b1;
          truncated[1] = group_first + pc_t'(2) == launch.end_word && !`BUG(214);
          pushes[1] = !two_words(group_word[1]) || truncated[1];
          next_straddling = !pushes[1];
        end
      end
    end
  end

  for (genvar i = 0; i < FETCH_WORDS; i++) begin : gen_decoder
    decoder u_decoder (
        .launch, .pc(pc[i]), .at_end(group_words == 0), .truncated(truncated[i]), .word0(word0[i]), .word1(word1[i]),
        .uop(push_uop[i]), .needs(push_needs[i]));
  end

  always_ff @(posedge clk) begin
    straddling_q <= straddling_q & ~started;
    if (redirect && !`BUG(118)) straddling_q[redirect_slot] <= 1'b0;
    if (group_valid) begin
      straddling_q[group_slot] <= next_straddling;
      straddle_word_q[group_slot] <= group_words == 2 ? group_word[1] : group_word[0];
    end
  end
  // What coverage counts.
  `EVENT(decode_two, push_valid == 2'd3)
  `EVENT(decode_first_half, group_valid && next_straddling)
  `EVENT(decode_second_half, group_valid && straddling)
  `EVENT(decode_halves_in_a_row, group_valid && straddling && next_straddling)
  `EVENT(decode_redirect_between_halves, redirect && straddling_q[redirect_slot])
  `EVENT(decode_cut_off, (push_valid & truncated) != 0)
  `EVENT(decode_illegal, push_valid[0] && push_uop[0].kind == KIND_ILLEGAL)
endmodule
